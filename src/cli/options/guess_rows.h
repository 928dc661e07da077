/* guess_rows: option rows of commands that guess a format, for what the text does not tell. */
#ifndef TIPPLE_CLI_OPTIONS_GUESS_ROWS_H
#define TIPPLE_CLI_OPTIONS_GUESS_ROWS_H

#include "cli/options/cli.h"
#include "format/guess/guess.h"

#define GUESS_ROWS_DATES(function)                                                                           \
    {                                                                                                        \
        .name = "dates", .argument = "ORDER", .kind = OPTION_CUSTOM, .custom = (function),                   \
        .help = "For a guessed format: dmy or mdy, for dates such as 03/04/2024 if the file does not tell."  \
    }
#define GUESS_ROWS_HEADER(function)                                                                          \
    {                                                                                                        \
        .name = "header", .argument = "yes|no", .kind = OPTION_CUSTOM, .custom = (function),                 \
        .help = "For a guessed format: does the first line name the columns?"                                \
    }
#define GUESS_ROWS_DECIMAL(function)                                                                         \
    {                                                                                                        \
        .name = "decimal", .argument = "MARK", .kind = OPTION_CUSTOM, .custom = (function),                  \
        .help =                                                                                              \
            "For a guessed format: the decimal mark, . or , for numbers such as 1,234 if the file does not " \
            "tell."                                                                                          \
    }
#define GUESS_ROWS_NESTED(values, member)                                                                    \
    {                                                                                                        \
        .name = "nested", .kind = OPTION_FLAG, .offset = offsetof(values, member),                           \
        .help = "For a guessed format: dots in names of columns make subdocuments."                          \
    }

bool guess_rows_dates(const char *text, guess_options_t *options, err_t *err);
bool guess_rows_header(const char *text, guess_options_t *options, err_t *err);
bool guess_rows_decimal(const char *text, guess_options_t *options, err_t *err);

/* They say nothing to a format that is given. */
bool guess_rows_check(const guess_options_t *options, const char *format, err_t *err);

#endif
