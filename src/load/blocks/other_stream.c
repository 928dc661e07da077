#include "load/blocks/other_stream.h"
#include "base/shell_word.h"

#include <stdlib.h>

/* " NAME", for a shell. */
static char *quoted_name(const load_file_t *file, err_t *err) {
    text_t word = {.length = 0};
    shell_quote_word(&word, file->input->name);
    return text_take(&word, err);
}

bool other_stream_refuse(const load_file_t *file, const char *what, uint64_t at, err_t *err) {
    char *word = quoted_name(file, err);
    if (!word)
        return false;
    err_set(err, STATUS_INPUT,
            "--input-name %.300s is the name of what was loaded before, and %s byte %llu. Give this one "
            "another name; or remove the documents of the other one by `tipple forget%.1000s --delete`, and "
            "run the same command again",
            file->input->name, what, (unsigned long long)at, word);
    free(word);
    return false;
}

bool other_stream_refuse_shorter(const load_file_t *file, uint64_t end, err_t *err) {
    char *word = quoted_name(file, err);
    if (!word)
        return false;
    err_set(err, STATUS_INPUT,
            "--input-name %.300s is the name of what was loaded before, and this stream ends at byte %llu, "
            "before what there is of that one. If it broke off, run the same command again, with all of it; "
            "else give this one another name; or remove the documents of the other one by `tipple forget"
            "%.1000s --delete`, and run the same command again",
            file->input->name, (unsigned long long)end, word);
    free(word);
    return false;
}
