/* Changes of a bound collection's columns: each is one conditional write of the header (HEADER_WIDEN) with the whole
 * list. */
#include "base/clock.h"
#include "catalog/catalog.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The header's columns, as they will be. */
typedef struct {
    const catalog_header_t *header; /* as it was read */
    header_column_t *columns;
    size_t count;
    const char *format_text; /* as in header_change_t */
    bool changed;
} list_t;

typedef bool edit_t(void *context, list_t *list, err_t *err);

/* Reads the list, lets `edit` change it, and writes it, until the write was made or no change is needed. more: how many
 * columns `edit` may add. */
static bool change_columns(store_t *store, edit_t *edit, void *context, size_t more, err_t *err) {
    for (bool done = false; !done;) {
        catalog_header_t header = {0};
        bool found, ok = store_read_header(store, &header, &found, err);
        list_t list = {&header, .columns = calloc(header.column_count + more + 1, sizeof *list.columns)};
        ok = ok && (list.columns || err_memory(err, more * sizeof *list.columns));
        for (; ok && list.count < header.column_count; list.count++)
            list.columns[list.count] = header.columns[list.count];
        ok = ok && edit(context, &list, err);
        const header_change_t change = {.kind = HEADER_WIDEN,
                                        .format_digest = header.format_digest,
                                        .widened = header.widened,
                                        .drops = header.drops,
                                        .format_text = list.format_text,
                                        .columns = list.columns,
                                        .column_count = list.count,
                                        .knows_columns = header.knows_columns};
        done = !list.changed || !header.format_digest;
        ok = ok && (done || store->change_header(store, &change, &done, err));
        catalog_header_free(&header);
        free(list.columns);
        if (!ok)
            return false;
    }
    return true;
}

static bool add(void *context, list_t *list, err_t *err) {
    const catalog_settings_t *settings = context;
    const catalog_header_t *header = list->header;
    if (!header->format_digest || header->widened != settings->widened ||
        strcmp(header->format_digest, settings->format_digest) != 0)
        return catalog_refuse_lost(settings, err);
    for (size_t i = 0; i < settings->added_count; i++)
        list->columns[list->count++] = settings->added[i];
    list->format_text = settings->format_text ? settings->format_text : header->format_text ? NULL : "";
    list->changed = true;
    return true;
}

bool catalog_widen(store_t *store, const catalog_settings_t *settings, err_t *err) {
    return change_columns(store, add, (void *)settings, settings->added_count, err);
}

typedef struct {
    const char *collection, *input;
    const text_t *names;
    bool several;
} leaving_out_t;

/* A row names the column's first input; of others it says only that there are some. */
static bool leave_out(void *context, list_t *list, err_t *err) {
    leaving_out_t *what = context;
    what->several = true;
    for (const char *name = NULL; (name = text_next(what->names, name));) {
        header_column_t *one = list->columns, *const end = list->columns + list->count;
        while (one < end && strcasecmp(one->name, name) != 0)
            one++;
        if (one == end)
            list->columns[list->count++] =
                (header_column_t){name, what->input, "", "", false, clock_wall_ms()};
        else if (*one->type)
            return err_set(
                err, STATUS_USAGE,
                "%s: another load has added its column '%s' to %s meanwhile: give a format that has "
                "it, or none",
                what->input, name, what->collection);
        const bool other = strcmp(one->by, what->input) != 0 && !one->others;
        one->others |= other;
        list->changed |= one == end || other;
        what->several &= one->others;
    }
    return true;
}

bool catalog_leave_out(store_t *store, const catalog_settings_t *settings, const text_t *names,
                       const char *input, bool *several, err_t *err) {
    leaving_out_t what = {.collection = settings->name, .input = input, .names = names};
    const bool ok = change_columns(store, leave_out, &what, names->length, err);
    *several = what.several;
    return ok;
}

static bool forget(void *context, list_t *list, err_t *err) {
    (void)err;
    list->count = 0;
    for (size_t i = 0; i < list->header->column_count; i++) {
        const header_column_t *column = &list->columns[i];
        if (*column->type || column->others || strcmp(column->by, context) != 0)
            list->columns[list->count++] = *column;
    }
    list->changed = list->count < list->header->column_count;
    return true;
}

bool catalog_forget_columns(store_t *store, const char *input, err_t *err) {
    return change_columns(store, forget, (void *)input, 0, err);
}
