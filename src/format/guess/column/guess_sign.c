#include "format/guess/column/guess_sign.h"

/* Quotes, dashes, … ¡ ¿ · ´ and odd blanks, which stand beside other signs. */
#define PUNCTUATION "\x82\x84\x85\x8B\x91\x92\x93\x94\x96\x97\x9B\xA0\xA1\xAB\xAD\xB4\xB7\xBB\xBF"
/* ¢ ° ± × ÷ */
#define ANYWHERE "\xA2\xB0\xB1\xD7\xF7"
/* à å è é ó ö ø, which are words, or letters for what is measured (Ø, Å) */
#define ALONE "\xE0\xE5\xE8\xE9\xF3\xF6\xF8"
/* à á ä å ç é í ó ö ø ú ü, beside one letter of ASCII: là, år, Öl, sí; not Kè (Kč), tê (tę) and æm (µm) */
#define IN_TWO "\xE0\xE1\xE4\xE5\xE7\xE9\xED\xF3\xF6\xF8\xFA\xFC"

enum {
    BEFORE_MARK = 2,  /* letters before º, as in Nº, */
    BEHIND_MICRO = 4, /* and fewer behind µ, as in µmol */
};

typedef struct {
    const uint8_t *word;
    size_t length;
    uint8_t before, after;
} run_t;

static bool is_digit(uint8_t byte) {
    return byte >= '0' && byte <= '9';
}

/* at: -1 and the length are beside it. */
static uint8_t byte_at(const run_t *run, size_t at) {
    return at == SIZE_MAX ? run->before : at < run->length ? run->word[at] : run->after;
}

/* How many letters stand in front of, or from, this place. */
static size_t letters_before(const run_t *run, size_t at) {
    size_t count = 0;
    while (count < at && guess_is_letter(run->word[at - count - 1]))
        count++;
    return count;
}

static size_t letters_from(const run_t *run, size_t at) {
    size_t count = 0;
    while (at + count < run->length && guess_is_letter(run->word[at + count]))
        count++;
    return count;
}

/* ¡C and øC are degrees in other encodings. */
static bool is_degree(const run_t *run, size_t at) {
    return letters_from(run, at + 1) == 1 && guess_is_among(run->word[at + 1], "CF");
}

static guess_word_t look_at_sign(const run_t *run, size_t at) {
    const uint8_t byte = run->word[at], before = byte_at(run, at - 1), next = byte_at(run, at + 1);
    const bool behind = guess_is_letter(before), in_front = guess_is_letter(next);
    const size_t letters = letters_before(run, at);
    bool usual;
    switch (byte) {
    case 0xA4: /* ¤, which is € elsewhere */
        return WORD_ODD;
    case 0xA1:
        if (is_degree(run, at))
            return WORD_ODD;
        /* fall through */
    case 0xBF: /* ¡ ¿ */
        usual = !behind && (in_front || guess_is_among(next, PUNCTUATION) || is_digit(next) || next == ' ');
        break;
    case 0xAB: /* «, which is ½ elsewhere */
        usual = !is_digit(before) || in_front;
        break;
    case 0x82:
    case 0x84: /* „ ‚ */
        usual = !behind;
        break;
    case 0x86:
    case 0x87: /* † ‡, which are å and ç elsewhere */
        usual = !behind && !in_front;
        break;
    case 0x89:
    case 0x95: /* ‰ • */
        usual = !behind;
        break;
    case 0x99: /* ™, which is Ö elsewhere */
        if (in_front && !behind)
            return WORD_ODD;
        usual = !in_front;
        break;
    case 0x80:
    case 0xA3:
    case 0xA5: /* € £ ¥ */
        usual = !in_front || is_digit(before);
        break;
    case 0xA7: /* § */
        usual = !behind;
        break;
    case 0xA9:
    case 0xAE: /* © ® */
        usual = !in_front;
        break;
    case 0xAA: /* ª: not Legoª, which is ™ elsewhere */
        usual = !in_front && letters <= BEFORE_MARK;
        break;
    case 0xBA: /* º */
        usual = letters <= BEFORE_MARK && (!in_front || is_degree(run, at));
        break;
    case 0xB2: /* ² */
        usual = !in_front || before == 'm';
        break;
    case 0xB3: /* ³, which is ł elsewhere: m³, ft³, in³, yd³; not z³ */
        if (before == 'z')
            return WORD_ODD;
        usual = (!in_front || before == 'm') && (letters < 2 || guess_is_among(before, "mtnd"));
        break;
    case 0xB5: /* µ */
        usual = letters_from(run, at + 1) < BEHIND_MICRO;
        break;
    case 0xBC:
    case 0xBD:
    case 0xBE: /* ¼ ½ ¾ */
        usual = !behind && (!in_front || is_digit(before));
        break;
    default:
        usual = guess_is_among(byte, PUNCTUATION ANYWHERE);
    }
    return usual ? WORD_PLAIN : WORD_UNSURE;
}

/* Bytes that are one character in Chinese and Korean: two that are no punctuation; not §§. */
static bool is_pair(const run_t *run, size_t at) {
    const uint8_t byte = run->word[at], next = at + 1 < run->length ? run->word[at + 1] : 0;
    return byte >= 0x80 && next >= 0x80 && (byte != 0xA7 || next != 0xA7) &&
           !guess_is_among(byte, PUNCTUATION) && !guess_is_among(next, PUNCTUATION);
}

/* One letter or two, some of them above 7f. */
static guess_word_t look_at_letters(const run_t *run, size_t at, const uint8_t letters[2], size_t count) {
    const uint8_t first = guess_small(letters[0]), second = count > 1 ? guess_small(letters[1]) : 0;
    if (count == 1)
        return guess_is_among(first, ALONE) && !(letters[0] == 0xF8 && is_digit(byte_at(run, at - 1)))
                   ? WORD_PLAIN
                   : WORD_UNSURE;
    if (letters[0] == 0xF8 && is_degree(run, at))
        return WORD_ODD;
    const uint8_t plain = first < 0x80 ? first : second, other = first < 0x80 ? second : first;
    const bool italian = second == 0xEC && first == 's', french = second == 0xF9 && first == 'o'; /* sì, où */
    return plain < 0x80 && (guess_is_among(other, IN_TWO) || italian || french) ? WORD_PLAIN : WORD_UNSURE;
}

guess_word_t guess_sign(const uint8_t *word, size_t length, uint8_t before, uint8_t after) {
    const run_t run = {word, length, before, after};
    guess_word_t worst = WORD_PLAIN;
    uint8_t letters[2] = {0, 0};
    size_t count = 0, first = 0;
    bool wide = false;
    for (size_t i = 0; i < length; i++) {
        const bool letter = guess_is_letter(word[i]);
        const guess_word_t is = word[i] < 0x80 || letter ? WORD_PLAIN : look_at_sign(&run, i);
        worst = is > worst ? is : worst;
        worst = worst == WORD_PLAIN && is_pair(&run, i) ? WORD_UNSURE : worst;
        wide |= letter && word[i] >= 0x80;
        if (letter && count < 2)
            letters[count] = word[i];
        first = letter && !count ? i : first;
        count += letter;
    }
    if (!wide || worst == WORD_ODD || count > 2)
        return worst;
    const guess_word_t is = look_at_letters(&run, first, letters, count);
    return is > worst ? is : worst;
}
