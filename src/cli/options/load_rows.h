/* load_rows: option rows of commands that load as `tipple load` does, or read what it has loaded: the same
 * names and bounds in all of them. values: the command's struct; member: where in it. */
#ifndef TIPPLE_CLI_OPTIONS_LOAD_ROWS_H
#define TIPPLE_CLI_OPTIONS_LOAD_ROWS_H

#include "cli/options/cli.h"
#include "load/before/copies.h"
#include "load/load.h"
#include "load/spec/limits.h"

/* For a struct with uri_file. */
#define LOAD_ROW_URI_FILE(values)                                                                            \
    {                                                                                                        \
        .name = "uri-file", .argument = "FILE", .kind = OPTION_TEXT, .offset = offsetof(values, uri_file),   \
        .help = "Read the URI from a file of one line, so that no password is on the command line."          \
    }
#define LOAD_ROW_FORMAT(values, member)                                                                      \
    {                                                                                                        \
        .name = "format", .group = GROUP_INPUT, .letter = 'f', .argument = "NAME",                           \
        .offers = "@formats @files", .kind = OPTION_TEXT, .offset = offsetof(values, member),                \
        .environment = "TIPPLE_FORMAT",                                                                      \
        .help = "How to read the input: a name from `tipple formats`, or a format file of your own such as " \
                "./my.yaml."                                                                                 \
    }
#define LOAD_ROW_SIZE(values, option, member, smallest, largest, words)                                      \
    {                                                                                                        \
        .name = option, .argument = "SIZE", .kind = OPTION_SIZE, .offset = offsetof(values, member),         \
        .least = smallest, .most = largest, .help = words                                                    \
    }
#define LOAD_ROW_BATCH_BYTES(values, member, words)                                                          \
    LOAD_ROW_SIZE(values, "batch-bytes", member, LIMITS_LEAST_BATCH_BYTES, LIMITS_MOST_BATCH_BYTES, words)
#define LOAD_ROW_MEMORY(values, member, words)                                                               \
    LOAD_ROW_SIZE(values, "memory", member, LIMITS_LEAST_MEMORY, LIMITS_MOST_MEMORY, words)
#define LOAD_ROW_MAX_RECORD(values, member, words)                                                           \
    LOAD_ROW_SIZE(values, "max-record", member, 1, LIMITS_MOST_RECORD, words)
#define LOAD_ROW_COPIES(values, member, words)                                                               \
    {                                                                                                        \
        .name = "copies", .argument = "N", .kind = OPTION_COUNT32, .offset = offsetof(values, member),       \
        .least = 1, .most = COPIES_MOST, .help = (words)                                                     \
    }
/* What stands behind --max-rejects and --compressor: for rows whose offset is that of a load_spec_t. */
bool load_rows_max_rejects(void *load_spec, const char *text, err_t *err);
bool load_rows_compressor(void *load_spec, const char *text, err_t *err);

#endif
