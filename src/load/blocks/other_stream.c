#include "load/blocks/other_stream.h"

#include <stdio.h>

/* wrong: what the stream is not. besides: what else may be done. */
static bool refuse(const load_file_t *file, const char *wrong, const char *besides, err_t *err) {
    return err_set(err, STATUS_INPUT,
                   "--input-name %.300s: another stream was loaded by this name before: %s. To load this one "
                   "in its place, take the old one out by `%.2000s`, and run the same command again; %sor "
                   "give the new stream another name",
                   file->input->name, wrong, file->forget, besides);
}

bool other_stream_refuse(const load_file_t *file, const char *what, uint64_t from, uint64_t to, err_t *err) {
    char wrong[200];
    if (to)
        snprintf(wrong, sizeof wrong, "%s between byte %llu and %llu", what, (unsigned long long)from,
                 (unsigned long long)to);
    else
        snprintf(wrong, sizeof wrong, "%s at byte %llu", what, (unsigned long long)from);
    return refuse(file, wrong, "", err);
}

bool other_stream_refuse_shorter(const load_file_t *file, uint64_t end, err_t *err) {
    char wrong[200];
    snprintf(wrong, sizeof wrong,
             "the new one ends at byte %llu, before the end of what was loaded of the old one",
             (unsigned long long)end);
    return refuse(file, wrong, "if it broke off, run the same command again with all of it; ", err);
}
