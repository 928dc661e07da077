#include "load/spec/load_spec.h"
#include "base/numbers.h"
#include "base/text.h"
#include "format/format.h"
#include "format/json/json.h"
#include "format/schema/schema.h"
#include "load/rejects/reject.h"
#include "server/server.h"

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

char *retry_options(const load_spec_t *spec, const char *namespace, err_t *err) {
    text_t line = {.length = 0};
    char *uri = address_to_paste(spec->uri, namespace, err);
    if (!uri)
        return NULL;
    shell_quote_option(&line, "--format", spec->format);
    shell_quote_option(&line, "--on-bad-value", load_spec_bad_value(spec));
    for (size_t i = 0; i < spec->filter_count; i++)
        shell_quote_option(&line, "--filter", spec->filters[i]);
    shell_quote_option(&line, "--uri", uri);
    free(uri);
    return text_take(&line, err);
}
