#include "cli/options/guess_rows.h"

#include <string.h>

bool guess_rows_dates(void *options, const char *text, err_t *err) {
    static const char *const words[] = {"dmy", "mdy"};
    const int chosen = cli_choose("dates", text, words, 2, err);
    ((guess_options_t *)options)->dates = chosen == 1 ? GUESS_MDY : GUESS_DMY;
    return chosen >= 0;
}

bool guess_rows_header(void *options, const char *text, err_t *err) {
    static const char *const words[] = {"yes", "no"};
    const int chosen = cli_choose("header", text, words, 2, err);
    ((guess_options_t *)options)->header = chosen == 1 ? GUESS_NO_HEADER : GUESS_HEADER;
    return chosen >= 0;
}

bool guess_rows_decimal(void *options, const char *text, err_t *err) {
    static const char *const words[] = {".", ","};
    const int chosen = cli_choose("decimal", text, words, 2, err);
    ((guess_options_t *)options)->decimal = chosen == 1 ? ',' : '.';
    return chosen >= 0;
}

bool guess_rows_check(const guess_options_t *options, const char *format, err_t *err) {
    const char *given = options->dates     ? "dates"
                        : options->header  ? "header"
                        : options->decimal ? "decimal"
                        : options->nested  ? "nested"
                                           : NULL;
    return !format || !given ||
           err_set(err, STATUS_USAGE, "--%s is for guessing, and --format %s says all: leave one of them out",
                   given, format);
}
