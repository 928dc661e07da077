#include "format/guess/column/guess_range.h"
#include "format/guess/column/guess_value.h"
#include "format/values/blanks.h"

enum {
    YEAR_LEAST = 1800,
    YEAR_MOST = 2200,
    FAR = 10,      /* so many times as large as the largest of a few is no chance, */
    FAR_MANY = 3,  /* nor this, */
    MANY_ROWS = 5, /* where there are more */
};

typedef struct {
    double size;
    bool fraction, year, unsure;
} figure_t;

static double size_of(const style_t *style, const uint8_t *text, size_t length) {
    double size = 0, unit = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == (uint8_t)style->decimal) {
            unit = 1;
        } else if (text[i] >= '0' && text[i] <= '9') {
            size = size * 10 + (text[i] - '0');
            unit *= 10;
        }
    }
    return unit > 0 ? size / unit : size;
}

/* A number in any style. */
static bool read_figure(const uint8_t *text, size_t length, figure_t *figure) {
    bool any = false;
    number_t number;
    *figure = (figure_t){.size = 0};
    uint8_t read = 0;
    for (size_t i = 0; i < STYLES; i++) {
        const style_t *style = &guess_styles[i];
        if ((read >> i & 1) || !guess_number(style, text, length, &number))
            continue;
        read |= guess_alike(i, &number);
        const figure_t other = {.size = size_of(style, text, length), .fraction = number.fraction};
        if (any && other.fraction != figure->fraction)
            figure->unsure = true;
        else
            *figure = (figure_t){other.size, other.fraction, false, figure->unsure};
        any = true;
    }
    size_t digits = length;
    blanks_trim(&text, &digits);
    figure->year =
        any && digits == 4 && !figure->fraction && figure->size >= YEAR_LEAST && figure->size <= YEAR_MOST;
    return any;
}

void guess_range_add(range_t *range, const uint8_t *text, size_t length) {
    figure_t figure;
    if (!length || guess_is_null(text, length))
        return;
    range->values++;
    if (!read_figure(text, length, &figure))
        return;
    range->numbers++;
    range->fractions += figure.fraction;
    range->years += figure.year;
    range->unsure += figure.unsure;
    range->most = figure.size > range->most ? figure.size : range->most;
}

bool guess_range_is_unlike(const range_t *range, const uint8_t *text, size_t length) {
    figure_t figure;
    if (!range->values || !read_figure(text, length, &figure))
        return false;
    if (!range->numbers)
        return !figure.fraction;
    if (figure.year && !range->years)
        return true;
    if (figure.unsure || range->unsure)
        return false;
    const uint64_t of_its_kind = figure.fraction ? range->fractions : range->numbers - range->fractions;
    const double far = range->values < MANY_ROWS ? FAR : FAR_MANY;
    return figure.size > 0 &&
           (!of_its_kind || figure.size > far * range->most); /* 0 is 0 among fractions, too */
}

bool guess_range_has_few_years(const range_t *range) {
    return 2 * range->numbers > range->values && 2 * range->years < range->numbers;
}

double guess_range_size(const uint8_t *text, size_t length) {
    figure_t figure;
    return read_figure(text, length, &figure) ? figure.size : -1;
}
