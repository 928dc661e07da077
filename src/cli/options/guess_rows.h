/* guess_rows: option rows of commands that guess a format, for what the text does not tell. */
#ifndef TIPPLE_CLI_OPTIONS_GUESS_ROWS_H
#define TIPPLE_CLI_OPTIONS_GUESS_ROWS_H

#include "cli/options/cli.h"
#include "format/guess/guess.h"

#define GUESS_ROW(values, member, option, word, function, words)                                             \
    {                                                                                                        \
        .name = (option), .argument = (word), .kind = OPTION_CUSTOM, .offset = offsetof(values, member),     \
        .custom = (function), .help = (words)                                                                \
    }

/* member: a guess_options_t in the command's struct. */
#define GUESS_ROWS(values, member)                                                                           \
    GUESS_ROW(values, member, "header", "yes|no", guess_rows_header,                                         \
              "For a guessed format: does the first line name the columns?"),                                \
        GUESS_ROW(                                                                                           \
            values, member, "dates", "ORDER", guess_rows_dates,                                              \
            "For a guessed format: dmy or mdy, for dates such as 03/04/2024 if the file does not tell."),    \
        GUESS_ROW(values, member, "decimal", "MARK", guess_rows_decimal,                                     \
                  "For a guessed format: the decimal mark, . or , for numbers such as 1,234 if the file "    \
                  "does not tell."),                                                                         \
    {                                                                                                        \
        .name = "nested", .kind = OPTION_FLAG,                                                               \
        .offset = offsetof(values, member) + offsetof(guess_options_t, nested),                              \
        .help = "For a guessed format: dots in names of columns make subdocuments."                          \
    }

bool guess_rows_dates(void *options, const char *text, err_t *err);
bool guess_rows_header(void *options, const char *text, err_t *err);
bool guess_rows_decimal(void *options, const char *text, err_t *err);

/* They say nothing to a format that is given. */
bool guess_rows_check(const guess_options_t *options, const char *format, err_t *err);

#endif
