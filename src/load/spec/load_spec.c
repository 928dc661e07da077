#include "load/spec/load_spec.h"
#include "base/numbers.h"
#include "format/format.h"
#include "format/json/json.h"
#include "format/schema/schema.h"
#include "load/rejects/reject.h"

#include <stdlib.h>
#include <string.h>

void load_spec_init(load_spec_t *spec) {
    *spec = (load_spec_t){.format = NULL,
                          .batch = LOAD_BATCH,
                          .batch_bytes = 2 << 20,
                          .memory = 256ull << 20,
                          .limit = UINT64_MAX,
                          .max_rejects = REJECT_USUAL_MOST,
                          .max_rejects_percent = -1,
                          .patience_ns = 30000000000};
}

const char *load_spec_clustered(const load_spec_t *spec) {
    bson_iter_t at;
    err_t ignored;
    bson_t *create = spec->create ? json_document(spec->create, true, &ignored) : NULL;
    const char *said = !create || !bson_iter_init_find(&at, create, "clusteredIndex") ? NULL
                       : bson_iter_as_bool(&at)                                       ? "yes"
                                                                                      : "no";
    if (create)
        bson_destroy(create);
    return said;
}

schema_t *load_spec_open_format(const load_spec_t *spec, err_t *err) {
    return spec->format ? format_open(spec->format, err)
                        : schema_parse_guessed(spec->guessed, "the format that was guessed", err);
}

const char *load_spec_bad_value(const load_spec_t *spec) {
    return spec->format && spec->guess.bad_value_given ? schema_bad_values[spec->guess.bad_value] : NULL;
}

bool load_spec_max_rejects(load_spec_t *spec, const char *text) {
    spec->max_rejects_given = true;
    if (!strchr(text, '%')) {
        if (!units_parse_count(text, &spec->max_rejects))
            return false;
        spec->max_rejects_percent = -1;
        return true;
    }
    double percent;
    if (!units_parse_percent(text, &percent) || percent > 100)
        return false;
    spec->max_rejects_percent = percent;
    return true;
}
