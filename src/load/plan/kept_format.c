#include "load/plan/kept_format.h"
#include "catalog/catalog.h"
#include "catalog/store/store_mongo.h"
#include "format/guess/guess_options.h"
#include "format/schema/schema.h"

#include <stdio.h>
#include <string.h>

/* Headers must have the columns that make the `_id`s. */
static void need_id(schema_t *schema, const char *fields) {
    char path[SCHEMA_WIDEST];
    for (const char *at = fields; at && *at; at += strcspn(at, ","), at += *at == ',') {
        snprintf(path, sizeof path, "%.*s", (int)strcspn(at, ","), at);
        schema_need(schema, path);
    }
}

static bool take_left_out(const catalog_header_t *header, schema_t *schema, err_t *err) {
    schema_text_t *items = schema_own(schema, (header->column_count + 1) * sizeof *items, err);
    schema->left_out = (texts_t){items, 0};
    for (size_t i = 0; items && i < header->column_count; i++) {
        const header_column_t *column = &header->columns[i];
        char *name = *column->type ? NULL : schema_own(schema, strlen(column->name) + 1, err);
        if (name)
            items[schema->left_out.count++] =
                (schema_text_t){strcpy(name, column->name), strlen(column->name)};
    }
    return items;
}

bool kept_format(store_t *store, const char *name, bool must, schema_t **schema, char **text,
                 uint64_t *widened, err_t *err) {
    catalog_header_t header = {0};
    bool found;
    *schema = NULL;
    *text = NULL;
    if (!store_read_header(store, &header, &found, err))
        return false;
    bool ok = true;
    if (found && header.format_text) {
        *schema = schema_parse_guessed(header.format_text, "the format in the catalog", err);
        ok = *schema && take_left_out(&header, *schema, err);
        *widened = header.widened;
        if (ok) {
            need_id(*schema, header.id);
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

bool kept_format_agrees(schema_t *schema, const char *text, const guess_options_t *options, const char *whose,
                        const char *name, err_t *err) {
    char kept[320];
    snprintf(kept, sizeof kept, "the format that was kept when %s was first loaded", name);
    return guess_options_agree(options, schema, text, whose ? whose : kept, err) &&
           (!options->bad_value_given || schema_set_bad_value(schema, options->bad_value, err));
}

static bool find_kept(const server_options_t *target, const guess_options_t *options, schema_t **schema,
                      char **text, err_t *err) {
    uint64_t widened;
    server_t *server = server_connect(target, err);
    mongoc_client_t *client = server ? server_take(server, err) : NULL;
    store_t *store = client ? store_mongo_open(server, client, err) : NULL;
    const bool ok =
        store && kept_format(store, server_namespace(server), false, schema, text, &widened, err) &&
        (!*schema || kept_format_agrees(*schema, *text, options, NULL, server_namespace(server), err));
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
    char with[sizeof schema->digest], without[sizeof schema->digest];
    if (schema->field_count > kept->field_count || !schema_digest_of(schema, schema->field_count, with) ||
        !schema_digest_of(kept, schema->field_count, without) || strcmp(with, without) != 0) {
        schema_destroy(kept);
        return err_set(
            err, STATUS_USAGE,
            "%s was loaded with a format that was guessed, and this --format has other columns at its end: "
            "leave --format out, and new columns are added",
            name);
    }
    if (kept->field_count <= schema->field_count)
        schema_destroy(kept);
    else if (!schema_extend(schema, kept, err))
        return false;
    return !more || fixes ||
           err_set(err, STATUS_USAGE,
                   "%s was loaded %s: give this --format with --retry, for the records that were "
                   "rejected, or load all anew with --drop",
                   name, more);
}

/* ---- columns that come and go ---- */

static bool is_column_of(const field_t *field, const char *name) {
    for (size_t i = 0; i < field->columns.count; i++)
        if (encoding_same(ENCODING_NONE, field->columns.items[i].text, field->columns.items[i].length,
                          (const uint8_t *)name, strlen(name), true))
            return true;
    return false;
}

/* No file whose documents lack the column may be there. */
static bool check_left_out(const catalog_header_t *header, const char *name, const field_t *field,
                           err_t *err) {
    if (!header->knows_columns)
        return err_set(
            err, STATUS_USAGE,
            "%s was first loaded by an earlier version of tipple, which did not note the columns that it "
            "left "
            "out: so its format gets no new field '%s'. Use the old format file, load into another "
            "collection, or start over with --drop",
            name, field->name);
    for (size_t i = 0; i < header->column_count; i++) {
        const header_column_t *column = &header->columns[i];
        if (*column->type || !is_column_of(field, column->name))
            continue;
        err_set(err, STATUS_INPUT,
                "the format has a field for the column '%s', which was left out when %s%s loaded into %s: ",
                column->name, column->by, column->others ? " and other files were" : " was", name);
        return column->others
                   ? err_add(err, "use the format without the field, or start over with --drop")
                   : err_add(err,
                             "take that file out (tipple forget --delete %s), and load it again, or "
                             "use the format without the field",
                             column->by);
    }
    return true;
}

/* The fields of a --format after those that the collection was bound with: first those that came, in the order of their rows. */
static bool check_added(const catalog_header_t *header, const char *name, schema_t *schema, err_t *err) {
    char digest[sizeof schema->digest];
    size_t at = 0;
    while (at < schema->field_count && !schema->fields[at].added)
        at++;
    for (size_t i = 0; i < header->column_count; i++) {
        const header_column_t *column = &header->columns[i];
        if (!*column->type)
            continue;
        if (at == schema->field_count || !schema_digest_of(schema, ++at, digest) ||
            strcmp(digest, column->digest) != 0)
            return err_set(err, STATUS_USAGE,
                           "the format of %s has got the column '%s' (%s) with %s, and this --format has "
                           "not, or reads it "
                           "otherwise: append the same field to its file",
                           name, column->name, column->type, column->by);
    }
    for (; at < schema->field_count; at++)
        if (!check_left_out(header, name, &schema->fields[at], err))
            return false;
    return true;
}

bool kept_columns(const catalog_header_t *header, const char *name, schema_t *schema, err_t *err) {
    const bool same = header->format_digest && schema_bind(schema, header->format_digest);
    return take_left_out(header, schema, err) &&
           (!same || header->format_text || check_added(header, name, schema, err));
}
