#include "format/guess/column/guess_word.h"
#include "format/guess/column/guess_joint.h"

#include <stdbool.h>
#include <string.h>

/* guess_sign: signs and words of two letters at most, if they are windows-1252: such as it has anywhere, or such as other
 * encodings would give? */

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

/* Of a run as guess_word has it: WORD_PLAIN, WORD_UNSURE or WORD_ODD. */
static guess_word_t guess_sign(const uint8_t *word, size_t length, uint8_t before, uint8_t after) {
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

#define NOT_ICELANDIC /* nor Faroese */                                                                      \
    "\xE0\xE2\xE3\xE4\xE5\xE7\xE8\xEA\xEB\xEC\xEE\xEF\xF1\xF2\xF5\xF9\xFB\xFC\xDF"

#define CAMEL "\xC4\xC5\xC9\xD6\xD8\xDC" /* as in istÜberfällig */

enum {
    RUN_SHORT = 3,
    RUN_LONG = 4,
    SHORT = 2,      /* letters that tell little */
    LONG_ENOUGH = 3 /* for a sign at its end to be no sign of its own, as in m³ */
};

/* Letters that stand for others in Turkish, Baltic and Central European encodings, in small, where no language of Western
 * Europe has them: behind one of `before` and in front of one of `after`. "": anything, _: the word's edge, *: a vowel with
 * an accent, ^: all but these. */
static const struct {
    uint8_t letter;
    const char *before, *after;
} nowhere[] = {
    {0x8E, "_", "bcdfghkpqstxz"},                    /* Ž: not Žpfel */
    {0x9A, "_", "bdfgqsxz"},                         /* š: not šbung */
    {0x9A, "bcdfghjkmptvwz", "bcdfghjklmnprstvwxz"}, /* nor Kšln */
    {0x9C, "aeioy", ""},                             /* œ: not Raœl */
    {0x9C, "", "_r"},                                /* nor Perœ, Nœria */
    {0x9C, "_s", "ls"},                              /* nor œltimo, Jesœs */
    {0xE0, "", "*j"},                                /* à */
    {0xE1, "aeo", "e"},                              /* á: not Straáe */
    {0xE1, "ao", "_"},                               /* nor groá */
    {0xE2, "", "djkz"},                              /* â */
    {0xE3, "", "^_eios"},                            /* ã: not Sãrata */
    {0xE6, "aou", "_"},                              /* æ: not Bihaæ */
    {0xE6, "i", "_i"},                               /* nor Kovaèeviæ */
    {0xE8, "", "*aeiouj"},                           /* è: not Kranjèar */
    {0xE8, "e*", "_"},                               /* nor Klepáè */
    {0xEA, "*jk", ""},                               /* ê */
    {0xEA, "", "*bk"},                               /* nor Dêbica */
    {0xEC, "", "^_n"},                               /* ì: not Tìšín */
    {0xEE, "", "bdgkvz"},                            /* î: not Lîvâni */
    {0xEF, "^aeiou*", ""},                           /* ï: not Ïáblice */
    {0xF0, "_kn", ""},                               /* ð: not Ðiauliai */
    {0xF1, "", "^*aeiouyh"},                         /* ñ: not Gdañsk */
    {0xF2, "", "*aeiouk"},                           /* ò: not Vodòany */
    {0xF2, "a*", "_"},                               /* nor Kriváò */
    {0xF5, "dyz", "^e"},                             /* õ: not Gyõr */
    {0xF5, "*", ""},                                 /* nor ñõ */
    {0xF5, "", "_afz"},                              /* nor Mezõ */
    {0xF8, "*", ""},                                 /* ø: not Záøí */
    {0xF8, "", "*z"},                                /* nor Dvoøák */
    {0xF9, "", "^_"},                                /* ù: not Dvùr */
    {0xFB, "ijz", ""},                               /* û: not Jûrmala */
    {0xFB, "", "bdgkz"},                             /* nor Tûz */
    {0xFD, "*cqxyz", ""},                            /* ý: not Yýlmaz */
    {0xFD, "", "cqxz"},                              /* nor Aýz */
    {0xFE, "", "_bcdfghklmnpqstz"},                  /* þ: not Beþiktaþ */
};

static bool is_ascii_letter(uint8_t byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/* Š Œ Ž Ÿ š œ ž are letters, too. */
bool guess_is_letter(uint8_t byte) {
    return is_ascii_letter(byte) || (byte >= 0xC0 && byte != 0xD7 && byte != 0xF7) ||
           guess_is_among(byte, "\x8A\x8C\x8E\x9F\x9A\x9C\x9E");
}

static bool is_capital(uint8_t byte) {
    return byte >= 0x80 && byte <= 0xDE && guess_is_letter(byte) && !guess_is_among(byte, "\x9A\x9C\x9E");
}

static bool is_small(uint8_t byte) {
    return byte >= 'a' && byte <= 'z';
}

uint8_t guess_small(uint8_t byte) {
    return guess_is_letter(byte) && (byte < 0x80 || (byte >= 0xC0 && byte <= 0xDE)) ? byte | 0x20 : byte;
}

/* How `nowhere` writes a neighbour; 0: an edge, or a sign. */
static char neighbour(uint8_t byte) {
    return !guess_is_letter(byte) ? '_'
           : byte < 0x80          ? (char)guess_small(byte)
           : guess_is_among(
                 guess_small(byte),
                 "\xE0\xE1\xE2\xE3\xE8\xE9\xEA\xEB\xEC\xED\xEE\xEF\xF1\xF2\xF3\xF4\xF9\xFA\xFB\xFD\x9A")
               ? '*'
               : '.';
}

static bool is_one_of(const char *set, char sign) {
    return !*set || (*set == '^' ? !strchr(set + 1, sign) : strchr(set, sign) != NULL);
}

static bool is_nowhere(uint8_t letter, uint8_t before, uint8_t after) {
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++)
        if (nowhere[i].letter == guess_small(letter) && is_one_of(nowhere[i].before, neighbour(before)) &&
            is_one_of(nowhere[i].after, neighbour(after)))
            return true;
    return false;
}

/* A sign that is a letter elsewhere; dashes, … ’ ‘ · ´ × ÷ and odd blanks stand between letters, too, and so do ² and ³ in kWh/m²a. */
static bool is_odd_sign(uint8_t byte, uint8_t before, uint8_t after, size_t length) {
    if (before == 'm' && is_ascii_letter(after) && (byte == 0xB2 || (byte == 0xB3 && length == LONG_ENOUGH)))
        return false;
    if (guess_is_letter(before) && guess_is_letter(after))
        return !guess_is_among(byte, "\x85\x91\x92\x96\x97\xA0\xAD\xB4\xB7\xD7\xF7");
    if (!after)
        return length > LONG_ENOUGH && is_small(before) &&
               guess_is_among(byte, "\x82\x84\x88\x95\x98\xA1\xA2\xA3\xA4\xA6\xAF\xB8\xBC\xBD\xBE\xBF");
    return !before && is_small(after) && length >= LONG_ENOUGH &&
           guess_is_among(byte, "\x80\x83\x86\x87\x99\xA6\xA8\xAA\xAC\xAF");
}

static bool has_odd_place(const uint8_t *word, size_t length) {
    for (size_t i = 0; i < length; i++) {
        const uint8_t byte = word[i], before = i ? word[i - 1] : 0, after = i + 1 < length ? word[i + 1] : 0;
        if (byte < 0x80)
            continue;
        const bool odd =
            !guess_is_letter(byte)
                ? is_odd_sign(byte, before, after, length) ||
                      (guess_is_letter(before) && guess_is_letter(after) &&
                       guess_is_odd_joint(word, length, i))
                : (is_capital(byte) && i > 1 && is_small(before) /* hÉireann */ &&
                   !(is_small(after) && guess_is_among(byte, CAMEL))) ||
                      (before && is_small(after) && guess_is_among(byte, "\x8A\x8C\x8E\xC6")) /* pŠre, nÆo */
                      || (byte == 0x9F && is_small(after)) || is_nowhere(byte, before, after);
        if (odd)
            return true;
    }
    return false;
}

static bool has_any(const uint8_t *word, size_t length, const char *letters) {
    for (size_t i = 0; i < length; i++)
        if (word[i] >= 0x80 && guess_is_among(guess_small(word[i]), letters))
            return true;
    return false;
}

/* õ not in front of e, as Estonian and Hungarian have it, and Portuguese has not. */
static bool has_lone_o(const uint8_t *word, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (guess_small(word[i]) == 0xF5 && (i + 1 == length || guess_small(word[i + 1]) != 'e'))
            return true;
    return false;
}

/* How many bytes from C0 stand in a row, but for signs between them. */
static size_t longest_run(const uint8_t *word, size_t length) {
    size_t run = 0, longest = 0;
    for (size_t i = 0; i < length; i++) {
        run = word[i] >= 0xC0 ? run + 1 : word[i] > 0xA0 ? run : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/* Bytes of three kinds at least. */
static bool is_varied(const uint8_t *word, size_t length) {
    uint8_t two = word[0];
    for (size_t i = 0; i < length; i++) {
        if (two == word[0])
            two = word[i];
        else if (word[i] != word[0] && word[i] != two)
            return true;
    }
    return false;
}

guess_word_t guess_word(const uint8_t *word, size_t length, uint8_t before, uint8_t after) {
    size_t letters = 0, plain = 0, same = 0;
    for (size_t i = 0; i < length; i++) {
        plain += is_ascii_letter(word[i]);
        letters += guess_is_letter(word[i]);
        same += word[i] == word[0]; /* a line of one sign is no word */
    }
    if (plain == length || (same == length && length > SHORT))
        return WORD_PLAIN;
    const size_t run = longest_run(word, length);
    if (run >= RUN_LONG)
        return WORD_ODD;
    if (!plain && (run == RUN_SHORT || (length >= RUN_LONG && is_varied(word, length))))
        return WORD_SHORT;
    const bool acute = has_any(word, length, "\xE1\xE9\xED\xF3\xFA\xE6"),
               thorn = has_any(word, length, "\xF0\xFE\xFD");
    const bool tilde = has_lone_o(word, length);
    if (has_odd_place(word, length) || (thorn && has_any(word, length, NOT_ICELANDIC)) || (acute && tilde))
        return WORD_ODD;
    if (letters == plain || letters <= SHORT)
        return guess_sign(word, length, before, after);
    return acute                           ? WORD_ACUTE
           : thorn                         ? WORD_THORN
           : has_any(word, length, "\xE4") ? WORD_UMLAUT
           : tilde                         ? WORD_TILDE
                                           : WORD_WESTERN;
}
