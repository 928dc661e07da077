#include "format/guess/column/guess_joint.h"

/* What stands around the sign, up to another sign or the word's edge. */
typedef struct {
    const uint8_t *before, *behind;
    size_t before_count, behind_count;
} parts_t;

static parts_t find_parts(const uint8_t *word, size_t length, size_t at) {
    size_t from = at, to = at + 1;
    while (from && guess_is_letter(word[from - 1]))
        from--;
    while (to < length && guess_is_letter(word[to]))
        to++;
    return (parts_t){word + from, word + at + 1, at - from, to - at - 1};
}

static bool is_small(uint8_t letter) {
    return letter == guess_small(letter);
}

/* Of ASCII; y may be a vowel. */
static bool is_consonant(uint8_t letter) {
    return letter < 0x80 && guess_is_letter(letter) && !guess_is_among(guess_small(letter), "aeiouy");
}

static bool is_one_of(const uint8_t *text, size_t length, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strlen(words[i]) == length && memcmp(words[i], text, length) == 0)
            return true;
    return false;
}

/* What English has behind its apostrophe; int’l; not Isra‘l. */
static bool is_ending(const parts_t *parts) {
    static const char *const endings[] = {"s", "t", "d", "m", "ll", "ve", "re", "l"};
    const bool apostrophe = parts->behind[-1] == 0x92;
    return is_one_of(parts->behind, parts->behind_count, endings,
                     sizeof endings / sizeof *endings - !apostrophe);
}

/* Garc’a, Rodr’guez, Mart’n, K‘r: no vowel behind it as in l’été, qu’on and O’Brien, or no more than this, nor c’h. */
static bool is_odd_apostrophe(const parts_t *parts) {
    const uint8_t first = *parts->behind, last = parts->before[parts->before_count - 1];
    if (!is_small(first) || is_ending(parts))
        return false;
    if (is_consonant(first) && first != 'h')
        return parts->before_count > 1 || (is_consonant(last) && !guess_is_among(guess_small(last), "mn"));
    return parts->behind_count == 1 && parts->before_count > 1 && is_consonant(last);
}

/* Espa–a, ni–o, Mu–oz: a dash joins words. */
static bool is_odd_dash(const parts_t *parts) {
    enum { SHORT = 2 };
    return is_small(*parts->behind) && (parts->before_count <= SHORT || parts->behind_count <= SHORT);
}

/* Le—n, G—mez: so does a long one, also I—a. */
static bool is_odd_long_dash(const parts_t *parts) {
    return is_small(*parts->behind) && ((parts->before_count == 1 && is_consonant(*parts->before)) ||
                                        (parts->behind_count == 1 && is_consonant(*parts->behind)));
}

/* M laga, alem n, S nchez: no word begins so, or is a lone consonant. */
static bool is_odd_blank(const parts_t *parts) {
    const uint8_t first = *parts->behind, second = parts->behind_count > 1 ? parts->behind[1] : 0;
    if (!is_small(first))
        return false;
    return (parts->before_count == 1 && is_consonant(*parts->before)) ||
           (parts->behind_count == 1 && is_consonant(first)) ||
           (guess_is_among(first, "nrlm") && is_consonant(second) && !guess_is_among(second, "hlgn"));
}

bool guess_is_odd_joint(const uint8_t *word, size_t length, size_t at) {
    const parts_t parts = find_parts(word, length, at);
    switch (word[at]) {
    case 0x91:
    case 0x92:
        return is_odd_apostrophe(&parts);
    case 0x96:
        return is_odd_dash(&parts);
    case 0x97:
        return is_odd_long_dash(&parts);
    default:
        return word[at] == 0xA0 && is_odd_blank(&parts);
    }
}
