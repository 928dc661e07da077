#include "format/guess/column/guess_most.h"

static void add_number(most_t *most, size_t at, const number_t *number) {
    const uint8_t bit = (uint8_t)(1u << at);
    most->of_style[at]++;
    most->fraction |= number->fraction ? bit : 0;
    most->grouped |= number->grouped ? bit : 0;
    most->wide |= number->wide ? bit : 0;
    most->lossy |= number->lossy ? bit : 0;
    most->huge |= number->huge ? bit : 0;
}

static void add_numbers(most_t *most, const uint8_t *text, size_t length) {
    bool point = false, comma = false;
    for (size_t i = 0; i < STYLES; i++) {
        number_t number;
        if (!guess_number(&guess_styles[i], text, length, &number))
            continue;
        add_number(most, i, &number);
        point |= guess_styles[i].decimal == '.';
        comma |= guess_styles[i].decimal == ',';
    }
    most->of_point += point && !comma;
    most->of_comma += comma && !point;
}

static void add_date(most_t *most, const uint8_t *text, size_t length) {
    const date_set_t iso = guess_dates(GUESS_ISO, text, length);
    most->of_iso += iso != 0;
    most->iso_seen |= iso;
    for (date_set_t left = guess_dates(~GUESS_ISO, text, length); left; left &= left - 1)
        most->of_date[guess_first_date(left)]++;
}

void guess_most_add(most_t *most, const uint8_t *text, size_t length) {
    bool second;
    if (!length || guess_is_null(text, length))
        return;
    add_numbers(most, text, length);
    for (uint32_t left = guess_pair(text, length, &second); left; left &= left - 1)
        most->of_pair[__builtin_ctz(left)]++;
    add_date(most, text, length);
}

/* The greatest of them. */
static uint64_t most_of(const uint64_t *counts, size_t count) {
    uint64_t most = 0;
    for (size_t i = 0; i < count; i++)
        most = counts[i] > most ? counts[i] : most;
    return most;
}

/* A bit for each that is the greatest. None: all are 0. */
static date_set_t which_are(const uint64_t *counts, size_t count) {
    const uint64_t most = most_of(counts, count);
    date_set_t which = 0;
    for (size_t i = 0; most && i < count; i++)
        which |= counts[i] == most ? (date_set_t)1 << i : 0;
    return which;
}

void guess_most_take_numbers(const most_t *most, char decimal, column_t *column) {
    uint64_t counts[STYLES];
    const bool said = decimal && most->of_point && most->of_comma;
    for (size_t i = 0; i < STYLES; i++)
        counts[i] = said && guess_styles[i].decimal != decimal ? 0 : most->of_style[i];
    const uint8_t styles = (uint8_t)which_are(counts, STYLES);
    if (!styles)
        return;
    column->styles = styles;
    column->fraction = most->fraction;
    column->grouped = most->grouped;
    column->wide = most->wide;
    column->lossy = most->lossy;
    column->huge = most->huge;
}

void guess_most_take_dates(const most_t *most, column_t *column) {
    const uint64_t by_pattern = most_of(most->of_date, GUESS_MOST_PATTERNS);
    column->iso = most->of_iso && most->of_iso >= by_pattern;
    column->iso_seen = column->iso ? most->iso_seen : 0;
    column->dates = column->iso ? 0 : which_are(most->of_date, GUESS_MOST_PATTERNS);
}

void guess_most_take_booleans(const most_t *most, column_t *column) {
    column->pairs = (uint32_t)which_are(most->of_pair, PAIRS);
}
