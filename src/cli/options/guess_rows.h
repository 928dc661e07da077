/* guess_rows: option rows of commands that guess a format, for what the text does not tell. */
#ifndef TIPPLE_CLI_OPTIONS_GUESS_ROWS_H
#define TIPPLE_CLI_OPTIONS_GUESS_ROWS_H

#include "cli/options/cli.h"
#include "format/guess/guess_options.h"

#define GUESS_ROW(values, member, option, word, function, words)                                             \
    {                                                                                                        \
        .name = (option), .group = GROUP_GUESS, .argument = (word), .kind = OPTION_CUSTOM,                   \
        .offset = offsetof(values, member), .custom = (function), .help = (words)                            \
    }

/* member, types: a guess_options_t and a texts_list_t in the command's struct. */
#define GUESS_ROWS(values, member, types)                                                                    \
    GUESS_ROW(values, member, "header", "yes|no|LINE", guess_options_header,                                 \
              "Does the first line name the columns? Or which one, if others stand before it?"),             \
        GUESS_ROW(values, member, "dates", "dmy|mdy|ymd", guess_options_dates,                               \
                  "The order in dates such as 03/04/24, if the file does not tell: dmy, mdy or ymd."),       \
        GUESS_ROW(values, member, "decimal", "MARK", guess_options_decimal,                                  \
                  "The decimal mark, . or , for numbers such as 1,234 if the file "                          \
                  "does not tell."),                                                                         \
        GUESS_ROW(                                                                                           \
            values, member, "delimiter", "SIGN", guess_options_delimiter,                                    \
            "What divides the columns, if the file does not tell: , ; | : :: tab, \\x01, blanks, or none "   \
            "where a line is one column."),                                                                  \
        GUESS_ROW(values, member, "quote", "double|single|none", guess_options_enclosed,                     \
                  "What encloses values that need it, if the file does not tell: \", ' or nothing."),        \
        GUESS_ROW(values, member, "encoding", "NAME", guess_options_encoding,                                \
                  "The encoding, if the file does not tell: utf-8, windows-1252, latin1, "                   \
                  "utf-8-or-windows-1252 or utf-8-or-latin1 (each value is UTF-8 where it can be)."),        \
        {.name = "nested",                                                                                   \
         .kind = OPTION_FLAG,                                                                                \
         .offset = offsetof(values, member) + offsetof(guess_options_t, nested),                             \
         .help = "Dots in names of columns make subdocuments."},                                             \
    {                                                                                                        \
        .name = "type", .letter = 't', .argument = "SPEC", .kind = OPTION_LIST,                              \
        .offset = offsetof(values, types),                                                                   \
        .help = "What the column NAME is, if it is not as guessed: NAME:TYPE, NAME:TYPE(PATTERN), "          \
                "NAME:KEY:TYPE, "                                                                            \
                "or NAME:KEY: with a colon at its end. KEY: the key under which it is stored; of JSON, "     \
                "NAME:TYPE says of which type "                                                              \
                "the values of a key are. May be given several times."                                       \
    }

#define GUESS_ROW_BAD_VALUE(values, member)                                                                  \
    {                                                                                                        \
        .name = "on-bad-value", .group = GROUP_MISFITS, .argument = "WHAT", .offers = "text null reject",    \
        .kind = OPTION_CUSTOM, .offset = offsetof(values, member), .custom = guess_options_bad_value,        \
        .help = "What becomes of a value that does not fit its column's type: text (kept as text, as "       \
                "without this option), null, or reject (its record is a reject)."                            \
    }

#endif
