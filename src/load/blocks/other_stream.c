#include "load/blocks/other_stream.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

/* wrong: what the stream is not. first: what to do, up to "this one another name". */
static bool refuse(const load_file_t *file, const char *wrong, const char *first, err_t *err) {
    const char *name = file->input->name;
    char *quoted = shell_quoted(name, err);
    if (!quoted)
        return false;
    err_set(err, STATUS_INPUT,
            "--input-name %.300s: another stream was loaded by this name before: %s. %s the new stream "
            "another name; or remove the documents of the old one by `tipple forget%.1000s --delete`, and "
            "run the same command again",
            name, wrong, first, quoted);
    free(quoted);
    return false;
}

bool other_stream_refuse(const load_file_t *file, const char *what, uint64_t from, uint64_t to, err_t *err) {
    char wrong[200];
    if (to)
        snprintf(wrong, sizeof wrong, "%s between byte %llu and %llu", what, (unsigned long long)from,
                 (unsigned long long)to);
    else
        snprintf(wrong, sizeof wrong, "%s at byte %llu", what, (unsigned long long)from);
    return refuse(file, wrong, "Give", err);
}

bool other_stream_refuse_shorter(const load_file_t *file, uint64_t end, err_t *err) {
    char wrong[200];
    snprintf(wrong, sizeof wrong,
             "the new one ends at byte %llu, before the end of what was loaded of the old one",
             (unsigned long long)end);
    return refuse(file, wrong, "If it broke off, run the same command again, with all of it; else give", err);
}
