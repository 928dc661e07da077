#include "format/values/numeral.h"
#include "format/values/blanks.h"
#include "format/values/digits.h"

enum { GROUP = 3 };

/* How many digits are at the start. */
static size_t digits_at(const uint8_t *at, const uint8_t *end) {
    size_t count = 0;
    while (at + count < end && digits_is_one(at[count]))
        count++;
    return count;
}

/* The digits before the fraction, without marks. NULL: a mark is where none can be. */
static const uint8_t *read_groups(const numeral_t *numeral, const uint8_t *at, const uint8_t *end,
                                  uint8_t **out) {
    size_t count = digits_at(at, end);
    const bool marked = numeral->mark && at + count < end && at[count] == (uint8_t)numeral->mark;
    if (marked && (!count || count > GROUP || *at == '0')) /* nobody writes 125 as 0.125 */
        return NULL;
    for (;;) {
        for (; count; count--)
            *(*out)++ = *at++;
        if (!marked || at == end || *at != (uint8_t)numeral->mark)
            return at;
        count = digits_at(++at, end);
        if (count != GROUP)
            return NULL;
    }
}

bool numeral_read(const numeral_t *numeral, const uint8_t *text, size_t length, uint8_t out[NUMERAL_LONGEST],
                  size_t *size) {
    uint8_t *to = out;
    if (length > NUMERAL_LONGEST)
        return false;
    blanks_trim(&text, &length);
    const uint8_t *at = text, *end = text + length;
    if (at < end && (*at == '-' || *at == '+'))
        *to++ = *at++;
    if (!(at = read_groups(numeral, at, end, &to)))
        return false;
    if (at < end && *at == (uint8_t)numeral->point) {
        *to++ = '.';
        at++;
    }
    for (; at < end; at++) {
        if (*at == '.' || *at == ' ')
            return false;
        *to++ = *at;
    }
    *size = (size_t)(to - out);
    return true;
}

size_t numeral_write(const numeral_t *numeral, const uint8_t *plain, size_t length, uint8_t *out) {
    const uint8_t *at = plain, *end = plain + length;
    uint8_t *to = out;
    if (at < end && *at == '-')
        *to++ = *at++;
    for (size_t left = digits_at(at, end); left; left--) {
        *to++ = *at++;
        if (numeral->mark && left > 1 && (left - 1) % GROUP == 0)
            *to++ = (uint8_t)numeral->mark;
    }
    for (; at < end; at++)
        *to++ = *at == '.' ? (uint8_t)numeral->point : *at;
    return (size_t)(to - out);
}
