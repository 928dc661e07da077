#include "cli/options/load_rows.h"
#include "base/numbers/units.h"

#include <stdlib.h>
#include <string.h>

bool load_rows_max_rejects(void *load_spec, const char *text, err_t *err) {
    load_spec_t *const spec = load_spec;
    if (strchr(text, '%')) {
        char *end;
        const double percent = strtod(text, &end);
        if (end == text || strcmp(end, "%") != 0 || !(percent >= 0 && percent <= 100))
            return err_set(err, STATUS_USAGE, "--max-rejects: '%s' is not a share; write it like 0.1%%",
                           text);
        spec->max_rejects_percent = percent;
        return true;
    }
    spec->max_rejects_percent = -1;
    return units_parse_count(text, &spec->max_rejects) ||
           err_set(err, STATUS_USAGE,
                   "--max-rejects: '%s' is neither a number nor a share; write it like 1000 or 0.1%%", text);
}

bool load_rows_compressor(void *load_spec, const char *text, err_t *err) {
    static const char *const known[] = {"none", "snappy", "zlib", "zstd"};
    const int chosen = cli_choose("compressor", text, known, sizeof known / sizeof *known, err);
    if (chosen >= 0)
        ((load_spec_t *)load_spec)->compressor = known[chosen];
    return chosen >= 0;
}
