#include "cli/options/load_rows.h"
#include "base/choose.h"

#include <string.h>

bool load_rows_max_rejects(void *load_spec, const char *text, err_t *err) {
    return load_spec_max_rejects(load_spec, text) ||
           err_set(err, STATUS_USAGE, "--max-rejects: '%s' is %s 0.1%%", text,
                   strchr(text, '%') ? "not a share; write it like"
                                     : "neither a number nor a share; write it like 1000 or");
}

bool load_rows_compressor(void *load_spec, const char *text, err_t *err) {
    static const char *const known[] = {"none", "snappy", "zlib", "zstd"};
    const int chosen = choose_word("compressor", text, known, sizeof known / sizeof *known, err);
    if (chosen >= 0)
        ((load_spec_t *)load_spec)->compressor = known[chosen];
    return chosen >= 0;
}
