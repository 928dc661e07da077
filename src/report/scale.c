#include "report/scale.h"
#include "base/numbers.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers ---- */

static const double LARGEST = 1e18;

/* A number with three significant digits. */
static void three_digits(char out[SCALE_TEXT], double value, const char *suffix) {
    const double size = fabs(value) >= 0.0005 ? fabs(value) : 0;
    snprintf(out, SCALE_TEXT, "%.*f%s",
             size >= 99.95 || size == 0 ? 0
             : size >= 9.995            ? 1
             : size >= 0.9995           ? 2
                                        : 3,
             value, suffix);
}

static void print_count(char out[SCALE_TEXT], double value) {
    char digits[UNITS_MAX];
    if (fabs(value) < LARGEST && value == floor(value))
        snprintf(out, SCALE_TEXT, "%s%s", value < 0 ? "−" : "", units_count(digits, (uint64_t)fabs(value)));
    else if (fabs(value) >= 1000 && fabs(value) < LARGEST)
        snprintf(out, SCALE_TEXT, "%s%s", value < 0 ? "−" : "",
                 units_count(digits, (uint64_t)(fabs(value) + 0.5)));
    else if (fabs(value) < LARGEST)
        three_digits(out, value, "");
    else
        snprintf(out, SCALE_TEXT, "%.3g", value);
}

/* Adds "/s" if the unit has it. */
static void print_scaled(char out[SCALE_TEXT], double value, bool bytes, const char *suffix) {
    char text[UNITS_MAX];
    const double size = fabs(value) < LARGEST ? fabs(value) : LARGEST;
    snprintf(out, SCALE_TEXT, "%s%s%s", value < 0 ? "−" : "",
             bytes ? units_size(text, (uint64_t)size) : units_rate(text, size), suffix);
}

static void print_time(char out[SCALE_TEXT], double seconds) {
    char text[UNITS_MAX];
    if (fabs(seconds) < 0.01)
        three_digits(out, seconds * 1e3, " ms");
    else
        snprintf(out, SCALE_TEXT, "%s%s", seconds < 0 ? "−" : "", units_seconds(text, fabs(seconds)));
}

static bool is_rate(const char *unit) {
    const size_t length = strlen(unit);
    return length > 2 && strcmp(unit + length - 2, "/s") == 0;
}

static bool is(const char *unit, const char *other) {
    return strcmp(unit, other) == 0;
}

const char *scale_value(char out[SCALE_TEXT], double value, const char *unit) {
    if (isnan(value))
        snprintf(out, SCALE_TEXT, "–");
    else if (is(unit, "bytes") || is(unit, "bytes/s"))
        print_scaled(out, value, true, is_rate(unit) ? "/s" : "");
    else if (is_rate(unit) && fabs(value) < 999.5 && value != floor(value))
        three_digits(out, value, "/s");
    else if (is_rate(unit))
        print_scaled(out, value, false, "/s");
    else if (is(unit, "s"))
        print_time(out, value);
    else if (is(unit, "ms") && fabs(value) >= 999.5)
        print_time(out, value / 1e3);
    else if (is(unit, "ms"))
        three_digits(out, value, " ms");
    else if (is(unit, "us"))
        three_digits(out, value, " µs");
    else if (is(unit, "%"))
        snprintf(out, SCALE_TEXT, "%.*f %%", fabs(value) >= 99.95 || value == 0 ? 0 : 1, value);
    else if (is(unit, "cores"))
        snprintf(out, SCALE_TEXT, "%.2f", value);
    else
        print_count(out, value);
    return out;
}

const char *scale_word(const char *unit) {
    static const char *const printed[] = {"", "bytes", "s", "ms", "us", "%", "cores"};
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++)
        if (is(unit, printed[i]) || is_rate(unit))
            return "";
    return unit;
}

/* ---- on axes: ticks are round numbers, so all their digits are kept ---- */

static const char *const count_names[] = {"k", "M", "G", "T", NULL};
static const char *const byte_names[] = {" kB", " MB", " GB", " TB", " PB", NULL};

static void shorten(char out[SCALE_TEXT], double value, const char *const *names) {
    value /= 1000;
    while (fabs(value) >= 999.9995 && names[1]) {
        value /= 1000;
        names++;
    }
    snprintf(out, SCALE_TEXT, "%.6g%s", value, *names);
}

/* "0", "0.5 s", "20 s", "1:30", "2 h", "2 h 30" */
static void print_clock(char out[SCALE_TEXT], double seconds) {
    const long whole = fabs(seconds) < 1e9 ? (long)(seconds + 0.5) : 0;
    if (seconds == 0)
        snprintf(out, SCALE_TEXT, "0");
    else if (fabs(seconds) < 0.9995)
        snprintf(out, SCALE_TEXT, "%.6g ms", seconds * 1e3);
    else if (seconds < 60 || seconds >= 1e9)
        snprintf(out, SCALE_TEXT, "%.6g s", seconds);
    else if (seconds < 3600)
        snprintf(out, SCALE_TEXT, "%ld:%02ld", whole / 60, whole % 60);
    else if (whole / 60 % 60)
        snprintf(out, SCALE_TEXT, "%ld h %02ld", whole / 3600, whole / 60 % 60);
    else
        snprintf(out, SCALE_TEXT, "%ld h", whole / 3600);
}

const char *scale_short(char out[SCALE_TEXT], double value, const char *unit) {
    if (isnan(value))
        snprintf(out, SCALE_TEXT, "–");
    else if (is(unit, "s") || (is(unit, "ms") && fabs(value) >= 1000))
        print_clock(out, is(unit, "s") ? value : value / 1e3);
    else if (is(unit, "ms") || is(unit, "us") || is(unit, "%") || is(unit, "cores"))
        snprintf(out, SCALE_TEXT, "%.6g%s", value,
                 is(unit, "ms")   ? " ms"
                 : is(unit, "us") ? " µs"
                 : is(unit, "%")  ? " %"
                                  : "");
    else if (fabs(value) < 1000)
        snprintf(out, SCALE_TEXT, "%.6g%s", value, strncmp(unit, "bytes", 5) == 0 && value != 0 ? " B" : "");
    else if (strncmp(unit, "bytes", 5) == 0)
        shorten(out, value, byte_names);
    else
        shorten(out, value, count_names);
    return out;
}

/* ---- axes ---- */

/* The smallest step of 1, 2 or 5 times a power of ten (or a step of a clock) that makes at most `most` ticks. */
static double step_of(double span, size_t most, bool time) {
    static const double clock_steps[] = {1,   2,   5,    10,   15,   20,   30,    60,    120,   300,
                                         600, 900, 1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400};
    if (time && span > (double)most)
        for (size_t i = 0; i < sizeof clock_steps / sizeof *clock_steps; i++)
            if (span / clock_steps[i] <= (double)most)
                return clock_steps[i];
    const double power = pow(10, floor(log10(span / (double)most)));
    for (int i = 0; i < 4; i++)
        if (span / (power * (double[]){1, 2, 5, 10}[i]) <= (double)most * (1 + 1e-9))
            return power * (double[]){1, 2, 5, 10}[i];
    return power * 20;
}

/* An axis without length, or without an end, is given one. */
static void repair(double *low, double *high) {
    if (!isfinite(*low))
        *low = 0;
    if (!isfinite(*high) || *high <= *low)
        *high = *low + (*low == 0 ? 1 : fabs(*low));
}

static void put_ticks(scale_t *scale, double step) {
    for (double number = ceil(scale->low / step - 1e-9); scale->count < SCALE_MOST_TICKS; number++) {
        const double tick = number == 0 ? 0 : number * step; /* not -0 */
        if (tick > scale->high + step * 1e-9)
            break;
        scale->ticks[scale->count++] = tick;
    }
}

scale_t scale_exact(double low, double high, size_t most, const char *unit) {
    repair(&low, &high);
    scale_t scale = {.low = low, .high = high};
    put_ticks(&scale, step_of(high - low, most, is(unit, "s")));
    return scale;
}

scale_t scale_linear(double low, double high, size_t most, const char *unit) {
    repair(&low, &high);
    const double step = step_of(high - low, most, is(unit, "s"));
    scale_t scale = {.low = floor(low / step + 1e-9) * step, .high = ceil(high / step - 1e-9) * step};
    put_ticks(&scale, step);
    return scale;
}

static void put_log_ticks(scale_t *scale, const double *parts, int last) {
    const int from = (int)floor(log10(scale->low) + 1e-9), to = (int)ceil(log10(scale->high) - 1e-9);
    const int every = (to - from) / SCALE_MOST_TICKS + 1;
    scale->count = 0;
    for (int power = from; power <= to; power += every)
        for (int i = 0; i <= last; i++) {
            const double tick = parts[i] * pow(10, power);
            if (tick < scale->low * (1 - 1e-9) || tick > scale->high * (1 + 1e-9))
                continue;
            if (scale->count == SCALE_MOST_TICKS)
                return;
            scale->ticks[scale->count++] = tick;
        }
}

scale_t scale_log(double low, double high, size_t most) {
    static const double by_three[] = {1, 2, 5}, by_two[] = {1, 3};
    if (!(low > 0) || !isfinite(low))
        low = high > 0 && isfinite(high) ? high / 1000 : 1;
    repair(&low, &high);
    scale_t scale = {.low = low, .high = high, .log = true};
    put_log_ticks(&scale, by_three, 2);
    if (scale.count > most)
        put_log_ticks(&scale, by_two, 1);
    if (scale.count > most)
        put_log_ticks(&scale, by_two, 0);
    return scale;
}

double scale_place(const scale_t *scale, double value) {
    const double place = scale->log ? (log(value) - log(scale->low)) / (log(scale->high) - log(scale->low))
                                    : (value - scale->low) / (scale->high - scale->low);
    return place > 0 ? place < 1 ? place : 1 : 0;
}
