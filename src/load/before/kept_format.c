#include "load/before/kept_format.h"
#include "catalog/store/store_mongo.h"
#include "format/guess/guess_options.h"
#include "format/schema/schema.h"

#include <stdio.h>

bool kept_format(store_t *store, const char *name, bool must, schema_t **schema, char **text, err_t *err) {
    catalog_header_t header = {0};
    bool found;
    *schema = NULL;
    *text = NULL;
    if (!store->read_header(store, &header, &found, err))
        return false;
    bool ok = true;
    if (found && header.format_text) {
        *schema = schema_parse_guessed(header.format_text, "the format in the catalog", err);
        ok = *schema != NULL;
        if (ok) {
            *text = header.format_text;
            header.format_text = NULL;
        }
    } else if (found && header.format) {
        ok = err_set(
            err, STATUS_USAGE,
            "--format is missing: %s was loaded with --format %s: give the same one; one of your own by the "
            "path of its file, such as --format ./my.yaml",
            name, header.format);
    } else if (must) {
        ok = err_set(err, STATUS_USAGE,
                     "%s has no catalog, so no load has filled it, and there is nothing to load again into; "
                     "check --uri",
                     name);
    }
    catalog_header_free(&header);
    return ok;
}

static bool find_kept(const server_options_t *target, const guess_options_t *options, schema_t **schema,
                      char **text, err_t *err) {
    char whose[320];
    server_t *server = server_connect(target, err);
    mongoc_client_t *client = server ? server_take(server, err) : NULL;
    store_t *store = client ? store_mongo_open(server, client, err) : NULL;
    bool ok = store && kept_format(store, server_namespace(server), false, schema, text, err);
    if (ok && *schema) {
        snprintf(whose, sizeof whose, "the format that was kept when %s was first loaded",
                 server_namespace(server));
        ok = guess_options_agree(options, *text, whose, err) &&
             (!options->bad_value_given || schema_set_bad_value(*schema, options->bad_value, err));
    }
    store_mongo_close(store);
    if (client)
        server_give(server, client);
    server_destroy(server);
    return ok;
}

schema_t *kept_format_or_guess(const server_options_t *target, const guess_options_t *options,
                               manifest_t *manifest, char **text, err_t *err) {
    guessed_t guessed = {.yaml = NULL};
    schema_t *schema = NULL;
    *text = NULL;
    if (!find_kept(target, options, &schema, text, err)) {
        schema_destroy(schema);
        return NULL;
    }
    if (schema)
        return schema;
    schema = guess_inputs_open(manifest, options, &guessed, err);
    *text = guessed.yaml;
    guessed.yaml = NULL;
    guessed_free(&guessed);
    return schema;
}

bool kept_format_hold(const catalog_header_t *header, const char *name, schema_t *schema, bool fixes,
                      err_t *err) {
    if (!header->format_text || schema->guessed)
        return true;
    schema_t *kept = schema_parse_guessed(header->format_text, "the format in the catalog", err);
    if (!kept)
        return false;
    const char *more = schema->any_lines && !kept->any_lines           ? "without 'multiline: yes'"
                       : kept->quoted_needed && !schema->quoted_needed ? "with 'quoted: needed'"
                                                                       : NULL;
    schema->guessed = true;
    schema_destroy(kept);
    return !more || fixes ||
           err_set(err, STATUS_USAGE,
                   "%s was loaded %s: give this --format with --retry, for the records that were "
                   "rejected, or load all anew with --drop",
                   name, more);
}
