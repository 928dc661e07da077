#include "cli/options/apart.h"

#include <string.h>

static bool is_among(const char *words, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = words; *at;) {
        const size_t word = strcspn(at, " ");
        if (word == length && strncmp(at, name, length) == 0)
            return true;
        at += word + strspn(at + word, " ");
    }
    return false;
}

static bool is_said(const cli_rows_t *rows, const bool *said, const char *name) {
    for (size_t i = 0; i < rows->count; i++)
        if (said[i] && strcmp(rows->rows[i].option->name, name) == 0)
            return true;
    return false;
}

bool apart_check(const command_t *command, const cli_rows_t *rows, const bool *said, err_t *err) {
    for (const apart_t *row = command->apart; row && row->option; row++) {
        if (!is_said(rows, said, row->option))
            continue;
        for (size_t i = 0; i < rows->count; i++) {
            const char *name = rows->rows[i].option->name;
            if (said[i] && is_among(row->others, name))
                return err_set(err, STATUS_USAGE, "--%s %s: leave it or --%s out", row->option, row->reason,
                               name);
        }
    }
    return true;
}
