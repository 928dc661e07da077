/* The columns of a bound collection change by one conditional write of its header each (HEADER_WIDEN). The list only grows, except for what
 * was left out of an input that is forgotten. */
#include "catalog/catalog.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Writes the header's columns (without those that stay left out of no input besides `but`), and these after them. *changed false: another load
 * was first. */
static bool write_columns(store_t *store, const catalog_header_t *header, const char *but,
                          const char *format_text, const header_column_t *columns, size_t count,
                          bool *changed, err_t *err) {
    header_column_t *list = calloc(header->column_count + count + 1, sizeof *list);
    header_change_t change = {.kind = HEADER_WIDEN,
                              .format_digest = header->format_digest,
                              .widened = header->widened,
                              .drops = header->drops,
                              .format_text = format_text,
                              .columns = list,
                              .knows_columns = header->knows_columns};
    if (!list)
        return err_memory(err, (header->column_count + count) * sizeof *list);
    for (size_t i = 0; i < header->column_count; i++)
        if (!but || *header->columns[i].type || header->columns[i].others ||
            strcmp(header->columns[i].by, but) != 0)
            list[change.column_count++] = header->columns[i];
    for (size_t i = 0; i < count; i++)
        list[change.column_count++] = columns[i];
    *changed = but && change.column_count == header->column_count; /* there is nothing to do */
    const bool ok = *changed || store->change_header(store, &change, changed, err);
    free(list);
    return ok;
}

bool catalog_widen(store_t *store, const catalog_settings_t *settings, err_t *err) {
    catalog_header_t header = {0};
    bool found, changed = false;
    bool ok = store->read_header(store, &header, &found, err);
    const char *text = settings->format_text ? settings->format_text : header.format_text ? NULL : "";
    if (ok && found && header.format_digest && header.widened == settings->widened &&
        strcmp(header.format_digest, settings->format_digest) == 0)
        ok = write_columns(store, &header, NULL, text, settings->added, settings->added_count, &changed, err);
    catalog_header_free(&header);
    return ok && (changed || catalog_refuse_lost(settings, err));
}

/* The column of this name, which came, or stays left out; NULL: none. */
static header_column_t *find(const catalog_header_t *header, const char *name, bool came) {
    for (size_t i = 0; i < header->column_count; i++)
        if ((*header->columns[i].type != 0) == came && strcasecmp(header->columns[i].name, name) == 0)
            return &header->columns[i];
    return NULL;
}

/* One try. The first input of a column is named, and of others only that there are some. */
static bool leave_out(store_t *store, const catalog_settings_t *settings, const header_column_t *columns,
                      size_t count, bool *done, err_t *err) {
    catalog_header_t header = {0};
    header_column_t *missing = calloc(count + 1, sizeof *missing);
    size_t missing_count = 0;
    bool found, ok = missing ? store->read_header(store, &header, &found, err) : err_memory(err, count);
    *done = true;
    for (size_t i = 0; ok && i < count; i++) {
        header_column_t *one = find(&header, columns[i].name, false);
        const bool other = one && !one->others && strcmp(one->by, columns[i].by) != 0;
        if (find(&header, columns[i].name, true))
            ok = err_set(err, STATUS_USAGE,
                         "%s: another load has added its column '%s' to %s meanwhile: give a format that has "
                         "it, or none",
                         columns[i].by, columns[i].name, settings->name);
        if (other)
            one->others = true;
        if (!one)
            missing[missing_count++] = columns[i];
        *done &= one && !other;
    }
    if (ok && !*done && header.format_digest)
        ok = write_columns(store, &header, NULL, NULL, missing, missing_count, done, err);
    catalog_header_free(&header);
    free(missing);
    return ok;
}

bool catalog_leave_out(store_t *store, const catalog_settings_t *settings, const header_column_t *columns,
                       size_t count, err_t *err) {
    for (bool done = false; !done;)
        if (!leave_out(store, settings, columns, count, &done, err))
            return false;
    return true;
}

bool catalog_forget_columns(store_t *store, const char *input, err_t *err) {
    for (bool done = false; !done;) {
        catalog_header_t header = {0};
        bool found, ok = store->read_header(store, &header, &found, err);
        done = ok && !header.format_digest;
        ok = ok && (done || write_columns(store, &header, input, NULL, NULL, 0, &done, err));
        catalog_header_free(&header);
        if (!ok)
            return false;
    }
    return true;
}
