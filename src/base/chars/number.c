#include "base/chars/number.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t plain; /* 0 if memory was out */

static void make_plain(void) {
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* For this thread. Returns the locale that it had; the caller restores that with uselocale. */
static locale_t use_plain(void) {
    pthread_once(&once, make_plain);
    return plain ? uselocale(plain) : (locale_t)0;
}

static void put_back(locale_t locale) {
    if (locale)
        uselocale(locale);
}

double number_read(const char *text, char **end) {
    const locale_t before = use_plain();
    const double number = strtod(text, end);
    put_back(before);
    return number;
}

long double number_read_long(const char *text) {
    const locale_t before = use_plain();
    const long double number = strtold(text, NULL);
    put_back(before);
    return number;
}

int number_print_digits(char *out, size_t room, int digits, double number) {
    const locale_t before = use_plain();
    const int length = snprintf(out, room, "%.*e", digits, number);
    put_back(before);
    return length;
}

/* Below a power of two doubles lie twice as close: with 16 digits the nearest number may not read back, but the next
 * one above it does. */
static bool print_above(char out[NUMBER_ROOM], double number) {
    char digits[NUMBER_ROOM];
    int exponent;
    if (fabs(frexp(number, &exponent)) != 0.5)
        return false;
    snprintf(digits, sizeof digits, "%.15e", number);
    char *at = strchr(digits, 'e') - 1;
    for (; *at == '9' || *at == '.'; at--)
        if (*at == '9')
            *at = '0';
    if (*at < '0' || *at > '8')
        return false; /* all are nines: no power of two */
    ++*at;
    snprintf(out, NUMBER_ROOM, "%.16Lg", strtold(digits, NULL)); /* these digits as %g spells them */
    return strtod(out, NULL) == number;
}

char *number_print(char out[NUMBER_ROOM], double number) {
    /* fewer than 15 digits show as zeros at the end, which %g leaves out; but the smallest doubles have fewer */
    const locale_t before = use_plain();
    int digits = number != 0 && fabs(number) < DBL_MIN ? 1 : 15;
    do {
        if (digits == 17 && print_above(out, number))
            break;
        snprintf(out, NUMBER_ROOM, "%.*g", digits, number);
    } while (digits++ < 17 && strtod(out, NULL) != number && !isnan(number));
    put_back(before);
    return out;
}
