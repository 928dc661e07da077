#include "load/spec/load_spec.h"
#include "base/numbers.h"
#include "base/text.h"
#include "format/json/json.h"
#include "format/schema/schema.h"
#include "load/rejects/reject.h"
#include "load/spec/load_result.h"
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

static const char *load_spec_bad_value(const load_spec_t *spec) {
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

char *uri_target(const char *uri) {
    address_t address;
    err_t ignored;
    if (!uri || !address_parse(&address, uri, &ignored))
        return NULL;
    char *target = address.name;
    address.name = NULL;
    address_free(&address);
    return target;
}

/* ---- what came of a load ---- */

void misfits_free(misfits_t *misfits) {
    for (size_t i = 0; i < misfits->count; i++) {
        free(misfits->items[i].name);
        free(misfits->items[i].reason);
    }
    free(misfits->items);
    *misfits = (misfits_t){.items = NULL};
}

void load_result_free(load_result_t *result) {
    misfits_free(&result->skipped);
    free(result->guessed);
    result->guessed = NULL;
    for (size_t i = 0; i < result->bad_field_count; i++)
        free(result->bad_fields[i].places);
    free(result->bad_fields);
    free(result->ambiguous_first);
    for (size_t i = 0; i < result->column_count; i++) {
        free(result->columns[i].name);
        free(result->columns[i].file);
    }
    free(result->columns);
    result->columns = NULL;
    result->column_count = result->column_room = 0;
    result->bad_fields = NULL;
    result->ambiguous_first = NULL;
    result->bad_field_count = result->bad_field_room = 0;
}
