#include "base/numbers.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- units ---- */

typedef struct {
    const char *suffix;
    double factor;
} unit_t;

bool units_number(const char *text, double *number, const char **end) {
    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        return false;
    *end = text + number_read(text, strlen(text), number);
    return *end != text && isfinite(*number);
}

bool units_parse_percent(const char *text, double *percent) {
    const char *end;
    return units_number(text, percent, &end) && strcmp(end, "%") == 0;
}

/* bytes: "k", "kb" and "kib" are the same. */
static bool is_unit(const char *text, const char *suffix, bool bytes) {
    const size_t length = strlen(suffix);
    const char *rest = text + length;
    return strncasecmp(text, suffix, length) == 0 &&
           (!*rest || (bytes && (strcasecmp(rest, "b") == 0 || (length && strcasecmp(rest, "ib") == 0))));
}

static bool parse_scaled(const char *text, const unit_t *unit, bool bytes, double *value) {
    const double limit = 9.0e18;
    const char *end;
    double number;
    if (!units_number(text, &number, &end))
        return false;
    while (*end == ' ' && end[1])
        end++;
    while (unit->suffix && !is_unit(end, unit->suffix, bytes))
        unit++;
    *value = number * unit->factor;
    return unit->suffix && *value < limit;
}

bool units_parse_size(const char *text, uint64_t *bytes) {
    static const unit_t sizes[] = {{"", 1},       {"k", 0x1p10}, {"m", 0x1p20},
                                   {"g", 0x1p30}, {"t", 0x1p40}, {NULL, 0}};
    double value;
    if (!parse_scaled(text, sizes, true, &value))
        return false;
    *bytes = (uint64_t)value;
    return true;
}

bool units_parse_count(const char *text, uint64_t *count) {
    static const unit_t counts[] = {{"", 1}, {"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {"b", 1e9}, {NULL, 0}};
    double value;
    /* plain digits are read exactly, also above what a double holds */
    if (text[0] && text[strspn(text, "0123456789")] == '\0') {
        errno = 0;
        *count = strtoull(text, NULL, 10);
        return errno == 0;
    }
    if (!parse_scaled(text, counts, false, &value) || value != floor(value))
        return false;
    *count = (uint64_t)value;
    return true;
}

bool units_parse_time(const char *text, int64_t *ns) {
    static const unit_t times[] = {{"", 1e9},     {"s", 1e9},    {"ms", 1e6},    {"us", 1e3}, {"m", 60e9},
                                   {"min", 60e9}, {"h", 3600e9}, {"d", 86400e9}, {NULL, 0}};
    double value;
    if (!parse_scaled(text, times, false, &value))
        return false;
    *ns = (int64_t)value;
    return true;
}

bool units_parse_rate(const char *text, uint64_t *per_second, bool *bytes) {
    char amount[UNITS_MAX];
    size_t length = strlen(text);
    if (length > 2 && strcasecmp(text + length - 2, "/s") == 0)
        length -= 2;
    if (!length || length >= sizeof amount)
        return false;
    memcpy(amount, text, length);
    amount[length] = '\0';
    *bytes = amount[length - 1] == 'b' || amount[length - 1] == 'B';
    return *bytes ? units_parse_size(amount, per_second) : units_parse_count(amount, per_second);
}

const char *units_count(char out[UNITS_MAX], uint64_t count) {
    char digits[UNITS_MAX];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    char *to = out;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return out;
}

static const char *scaled(char out[UNITS_MAX], double value, const char *const *names, const char *gap) {
    int step = 0;
    while (value >= 999.5 && names[step + 1]) {
        value /= 1000;
        step++;
    }
    int decimals = step == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(out, UNITS_MAX, "%.*f%s%s", decimals, value, gap, names[step]);
    return out;
}

const char *units_size(char out[UNITS_MAX], double bytes) {
    static const char *const names[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB", NULL};
    if (isnan(bytes))
        return strcpy(out, "-");
    if (bytes < 1e21)
        return scaled(out, bytes > 0 ? round(bytes) : 0, names, " ");
    snprintf(out, UNITS_MAX, "%.3g EB", bytes / 1e18);
    return out;
}

const char *units_rate(char out[UNITS_MAX], double per_second) {
    static const char *const names[] = {"", "k", "M", "G", NULL};
    return scaled(out, per_second, names, "");
}

/* A few milliseconds are printed with three digits. */
static int decimals_of(double ms) {
    return ms >= 9.995 || ms < 0.0005 || ms == round(ms) ? 0 : ms >= 0.9995 ? 2 : 3;
}

const char *units_time(char out[UNITS_MAX], double seconds) {
    if (isnan(seconds))
        snprintf(out, UNITS_MAX, "-");
    else if (fabs(seconds) > 9e9)
        snprintf(out, UNITS_MAX, "%smore than 285 years", seconds < 0 ? "minus " : "");
    else if (seconds < 0.9995)
        snprintf(out, UNITS_MAX, "%.*f ms", decimals_of(seconds * 1e3), seconds * 1e3);
    else if (seconds < 99.95)
        snprintf(out, UNITS_MAX, "%.1f s", seconds);
    else if (seconds < 3600)
        snprintf(out, UNITS_MAX, "%d:%02d", (int)seconds / 60, (int)seconds % 60);
    else
        snprintf(out, UNITS_MAX, "%.0f h %02d min", floor(seconds / 3600), (int)fmod(seconds / 60, 60));
    return out;
}
