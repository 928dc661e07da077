#include "format/guess/column/guess_value.h"
#include "format/values/blanks.h"
#include "format/values/convert.h"
#include "format/values/hex.h"

#include <stdlib.h>
#include <string.h>

enum { DOUBLE_DIGITS = 15, DOUBLE_MOST = 17, DIGITS_ROOM = 64 };

/* The usual ones first. Every other one has a point. */
const style_t guess_styles[STYLES] = {{'.', 0},   {',', 0},   {'.', ','},  {',', '.'},
                                      {'.', ' '}, {',', ' '}, {'.', '\''}, {',', '\''}};

static bool is_digit(uint8_t byte) {
    return byte >= '0' && byte <= '9';
}

typedef struct {
    char digits[DIGITS_ROOM]; /* of the whole part, then of the fraction */
    size_t whole, fraction;
} digits_t;

/* 192.168.100.101: four groups up to 255 are more likely an address than more than a billion of something. */
static bool is_address(const uint8_t *text, size_t length) {
    unsigned groups = 1, group = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '.') {
            groups++;
            group = 0;
        } else if (!is_digit(text[i]) || (group = group * 10 + text[i] - '0') > 255) {
            return false;
        }
    }
    return groups == 4;
}

/* The whole part from text[*at] on. */
static bool read_whole(const style_t *style, const uint8_t *text, size_t length, size_t *at, digits_t *digits,
                       bool *grouped) {
    size_t group = 0;
    bool first = true;
    *grouped = false;
    for (; *at < length; ++*at) {
        if (is_digit(text[*at])) {
            if (digits->whole == DIGITS_ROOM - 2)
                return false;
            digits->digits[digits->whole++] = (char)text[*at];
            group++;
        } else if (style->thousands && text[*at] == (uint8_t)style->thousands) {
            if (first ? !group || group > 3 : group != 3)
                return false;
            *grouped = true;
            first = false;
            group = 0;
        } else {
            break;
        }
    }
    if (*grouped && group != 3)
        return false;
    return digits->whole < 2 || digits->digits[0] != '0';
}

static bool prints_back(bool minus, const digits_t *digits) {
    char text[DIGITS_ROOM + 8];
    uint8_t printed[48], wanted[DIGITS_ROOM + 8];
    size_t used = 0;
    double value;
    if (minus)
        text[used++] = '-';
    if (!digits->whole)
        text[used++] = '0';
    memcpy(text + used, digits->digits, digits->whole);
    used += digits->whole;
    if (digits->fraction) {
        text[used++] = '.';
        memcpy(text + used, digits->digits + digits->whole, digits->fraction);
        used += digits->fraction;
    }
    memset(text + used, 0, 8);
    memcpy(wanted, text, used);
    return convert_number((const uint8_t *)text, used, 0, &value) &&
           convert_print_number(value, 0, printed) == used && memcmp(printed, wanted, used) == 0;
}

bool guess_number(const style_t *style, const uint8_t *text, size_t length, number_t *number) {
    digits_t digits;
    size_t at = 0, significant;
    digits.whole = digits.fraction = 0;
    *number = (number_t){.fraction = false};
    blanks_trim(&text, &length);
    if (!length || !is_digit(text[length - 1]))
        return false;
    const bool minus = at < length && text[at] == '-';
    at += minus;
    if (!read_whole(style, text, length, &at, &digits, &number->grouped) ||
        (style->thousands == '.' && is_address(text, length)))
        return false;
    if (at < length && text[at] == (uint8_t)style->decimal) {
        number->fraction = true;
        if (++at == length)
            return false;
        for (; at < length && is_digit(text[at]) && digits.whole + digits.fraction < DIGITS_ROOM - 1; at++)
            digits.digits[digits.whole + digits.fraction++] = (char)text[at];
    }
    if (at < length || (!digits.whole && !digits.fraction))
        return false;
    const size_t written = digits.whole + digits.fraction;
    while (digits.fraction && digits.digits[digits.whole + digits.fraction - 1] == '0')
        digits.fraction--;
    significant = digits.whole + digits.fraction;
    for (size_t i = 0; i < digits.whole + digits.fraction && digits.digits[i] == '0'; i++)
        significant--;
    number->wide = digits.whole > 18;
    if (digits.whole == 19 && !number->fraction) {
        char copy[24];
        int64_t value;
        const size_t used = (size_t)minus;
        copy[0] = '-';
        memcpy(copy + used, digits.digits, digits.whole);
        memset(copy + used + digits.whole, 0, sizeof copy - used - digits.whole);
        number->wide = !convert_int((const uint8_t *)copy, used + digits.whole, &value);
    }
    if (minus && !significant)
        number->wide = true; /* no int has this sign */
    /* a decimal keeps the zeros at its end */
    number->huge = significant + (written - digits.whole - digits.fraction) > DECIMAL_DIGITS;
    number->lossy =
        significant > DOUBLE_MOST || (significant > DOUBLE_DIGITS && !prints_back(minus, &digits));
    return true;
}

uint8_t guess_alike(size_t style, const number_t *number) {
    return (uint8_t)(number->grouped ? 1u << style : number->fraction ? 0x55u << (style & 1) : 0xFF);
}

const char *const guess_pairs[PAIRS][2] = {
    {"true", "false"}, {"True", "False"}, {"TRUE", "FALSE"}, {"yes", "no"}, {"Yes", "No"},
    {"YES", "NO"},     {"t", "f"},        {"T", "F"},        {"y", "n"},    {"Y", "N"}};

uint32_t guess_pair(const uint8_t *text, size_t length, bool *second) {
    if (!length || length > 5)
        return 0;
    for (size_t i = 0; i < PAIRS; i++)
        for (size_t j = 0; j < 2; j++)
            if (*guess_pairs[i][j] == (char)*text && strlen(guess_pairs[i][j]) == length &&
                memcmp(guess_pairs[i][j], text, length) == 0) {
                *second = j;
                return 1u << i;
            }
    return 0;
}

bool guess_is_objectid(const uint8_t *text, size_t length, bool *letters) {
    uint8_t value[HEX_OBJECTID];
    bool capital;
    if (length != 2 * sizeof value || !hex_read(text, length, value, &capital) || capital)
        return false;
    for (size_t i = 0; i < length; i++)
        *letters |= text[i] >= 'a';
    return true;
}

bool guess_is_uuid(const uint8_t *text, size_t length) {
    uint8_t value[HEX_UUID];
    bool capital;
    return hex_read_uuid(text, length, value, &capital);
}

const char *const guess_null_words[] = {"NULL", "null", "None", "Null", "\\N", "NA",
                                        "N/A",  "n/a",  "#N/A", "NaN",  "nan", NULL};

bool guess_is_null(const uint8_t *text, size_t length) {
    while (length && text[length - 1] == ' ')
        length--;
    while (length && *text == ' ')
        text++, length--;
    if (!length)
        return true;
    if (length > 4 || (is_digit(*text) || *text == '-'))
        return false;
    for (const char *const *word = guess_null_words; *word; word++)
        if (**word == (char)*text && strlen(*word) == length && memcmp(*word, text, length) == 0)
            return true;
    return false;
}
