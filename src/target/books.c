#include "target/books.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 5000 };

/* voffs have 53 bits; extents are counted in MiB */
static const uint64_t MOST_UNITS = (1ull << POSITION_OFFSET_BITS) / POSITION_EXTENT_UNIT;

catalog_file_t *books_new_file(catalog_t *catalog, err_t *err) {
    if (catalog->owned_count == catalog->owned_room) {
        size_t room = catalog->owned_room ? catalog->owned_room * 2 : 64;
        catalog_file_t **larger = realloc(catalog->owned, room * sizeof(catalog_file_t *));
        if (!larger) {
            err_memory(err, room * sizeof(catalog_file_t *));
            return NULL;
        }
        catalog->owned = larger;
        catalog->owned_room = room;
    }
    catalog_file_t *file = calloc(1, sizeof *file);
    if (!file)
        err_memory(err, sizeof *file);
    else
        catalog->owned[catalog->owned_count++] = file;
    return file;
}

bool books_add_extent(catalog_file_t *file, extent_t extent, err_t *err) {
    size_t bytes = (file->extent_count + 1) * sizeof extent;
    extent_t *larger = realloc(file->extents, bytes);
    if (!larger)
        return err_memory(err, bytes);
    file->extents = larger;
    file->extents[file->extent_count++] = extent;
    return true;
}

char *books_name(const char *name) {
    size_t length = strlen(name);
    if (bson_utf8_validate(name, length, false))
        return strdup(name);
    char *spelled = malloc(length * 4 + 1), *to = spelled;
    for (const unsigned char *c = (const unsigned char *)name; to && *c; c++)
        to += *c < 0x80 ? sprintf(to, "%c", *c) : sprintf(to, "\\x%02X", *c);
    return spelled;
}

/* ---- documents ---- */

static uint64_t whole(const bson_iter_t *iter) {
    int64_t value = bson_iter_as_int64(iter);
    return value > 0 ? (uint64_t)value : 0;
}

static bool read_extent(const bson_iter_t *entry, catalog_file_t *file, err_t *err) {
    extent_t extent = {0};
    bson_iter_t field;
    for (bool ok = bson_iter_recurse(entry, &field); ok && bson_iter_next(&field);) {
        const char *key = bson_iter_key(&field);
        if (strcmp(key, "base") == 0)
            extent.base = whole(&field);
        else if (strcmp(key, "start") == 0)
            extent.start = whole(&field);
        else if (strcmp(key, "length") == 0)
            extent.length = whole(&field);
    }
    return books_add_extent(file, extent, err);
}

static bool read_run(const bson_iter_t *entry, catalog_file_t *file, err_t *err) {
    bson_iter_t ends;
    if (!bson_iter_recurse(entry, &ends) || !bson_iter_next(&ends))
        return true;
    uint64_t from = whole(&ends);
    return !bson_iter_next(&ends) || runs_add(&file->done, from, whole(&ends)) || err_memory(err, 64);
}

static bool read_array(const bson_iter_t *array, catalog_file_t *file,
                       bool (*read_entry)(const bson_iter_t *, catalog_file_t *, err_t *), err_t *err) {
    bson_iter_t entry;
    bool ok = bson_iter_recurse(array, &entry);
    while (ok && bson_iter_next(&entry))
        if (!read_entry(&entry, file, err))
            return false;
    return true;
}

bool books_read_document(catalog_t *catalog, const bson_t *document, book_t *book, err_t *err) {
    *book = (book_t){.file = books_new_file(catalog, err)};
    catalog_file_t *file = book->file;
    if (!file)
        return false;
    const struct {
        const char *key;
        uint64_t *to;
    } numbers[] = {{"size", &book->size},
                   {"read", &file->counts.read},
                   {"loaded", &file->counts.loaded},
                   {"already", &file->counts.already_there},
                   {"rejected", &file->counts.rejected},
                   {"filtered", &file->counts.filtered}};
    bson_iter_t iter;
    bool ok = bson_iter_init(&iter, document);
    while (ok && bson_iter_next(&iter)) {
        const char *key = bson_iter_key(&iter);
        bool text = BSON_ITER_HOLDS_UTF8(&iter);
        if (strcmp(key, "_id") == 0)
            file->ordinal = (uint32_t)bson_iter_as_int64(&iter);
        else if (strcmp(key, "path") == 0 && text)
            ok = (file->path = strdup(bson_iter_utf8(&iter, NULL))) || err_memory(err, 1);
        else if (strcmp(key, "digest") == 0 && text)
            snprintf(book->digest, sizeof book->digest, "%s", bson_iter_utf8(&iter, NULL));
        else if (strcmp(key, "started") == 0)
            book->started = true;
        else if (strcmp(key, "complete") == 0)
            file->complete = bson_iter_as_bool(&iter);
        else if (strcmp(key, "suspect") == 0)
            file->suspect = bson_iter_as_bool(&iter);
        else if (strcmp(key, "extents") == 0)
            ok = read_array(&iter, file, read_extent, err);
        else if (strcmp(key, "done") == 0)
            ok = read_array(&iter, file, read_run, err);
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            if (strcmp(key, numbers[i].key) == 0)
                *numbers[i].to = whole(&iter);
    }
    file->started = book->started;
    file->doubtful = book->started && !file->complete && !file->suspect;
    if (ok && !file->path)
        ok = (file->path = strdup("")) || err_memory(err, 1);
    return ok;
}

void books_append_extent(bson_t *to, const char *key, const extent_t *extent) {
    bson_t inner;
    BSON_APPEND_DOCUMENT_BEGIN(to, key, &inner);
    BSON_APPEND_INT64(&inner, "base", (int64_t)extent->base);
    BSON_APPEND_INT64(&inner, "start", (int64_t)extent->start);
    BSON_APPEND_INT64(&inner, "length", (int64_t)extent->length);
    bson_append_document_end(to, &inner);
}

void books_append_progress(bson_t *to, const catalog_file_t *file, bool complete, uint64_t blocks) {
    bson_t done, run;
    BSON_APPEND_ARRAY_BEGIN(to, "done", &done);
    for (size_t i = 0; i < file->done.count; i++) {
        char text[16];
        const char *key;
        bson_uint32_to_string((uint32_t)i, &key, text, sizeof text);
        BSON_APPEND_ARRAY_BEGIN(&done, key, &run);
        BSON_APPEND_INT64(&run, "0", (int64_t)file->done.runs[i].from);
        BSON_APPEND_INT64(&run, "1", (int64_t)file->done.runs[i].to);
        bson_append_array_end(&done, &run);
    }
    bson_append_array_end(to, &done);
    BSON_APPEND_BOOL(to, "complete", complete);
    BSON_APPEND_BOOL(to, "suspect", file->suspect && !complete);
    if (complete)
        BSON_APPEND_INT64(to, "blocks", (int64_t)blocks);
    BSON_APPEND_INT64(to, "read", (int64_t)file->counts.read);
    BSON_APPEND_INT64(to, "loaded", (int64_t)file->counts.loaded);
    BSON_APPEND_INT64(to, "already", (int64_t)file->counts.already_there);
    BSON_APPEND_INT64(to, "rejected", (int64_t)file->counts.rejected);
    BSON_APPEND_INT64(to, "filtered", (int64_t)file->counts.filtered);
}

/* ---- reading and writing ---- */

/* One page: the files behind `last`. A page is a command of its own, so that an election between two does no
 * harm. */
static bool read_page(catalog_t *catalog, int64_t last, book_t **books, size_t *count, size_t *room,
                      err_t *err) {
    bson_t reply, document;
    bson_iter_t iter, batch;
    bson_t *find =
        BCON_NEW("find", BCON_UTF8(catalog->files), "filter", "{", "_id", "{", "$gt", BCON_INT64(last), "}",
                 "}", "sort", "{", "_id", BCON_INT32(1), "}", "limit", BCON_INT32(PAGE), "singleBatch",
                 BCON_BOOL(true), "readConcern", "{", "level", BCON_UTF8("majority"), "}");
    bool ok = server_command(catalog->server, catalog->client, server_database(catalog->server), find, false,
                             &reply, err);
    bson_destroy(find);
    bool any = ok && bson_iter_init(&iter, &reply) &&
               bson_iter_find_descendant(&iter, "cursor.firstBatch", &batch) &&
               bson_iter_recurse(&batch, &iter);
    while (ok && any && bson_iter_next(&iter)) {
        uint32_t length;
        const uint8_t *data;
        bson_iter_document(&iter, &length, &data);
        if (*count == *room) {
            size_t more = *room ? *room * 2 : 256;
            book_t *larger = realloc(*books, more * sizeof **books);
            if (!larger) {
                ok = err_memory(err, more * sizeof **books);
                break;
            }
            *books = larger;
            *room = more;
        }
        ok = bson_init_static(&document, data, length) &&
             books_read_document(catalog, &document, &(*books)[*count], err);
        *count += ok;
    }
    bson_destroy(&reply);
    return ok;
}

bool books_read_files(catalog_t *catalog, book_t **books, size_t *count, err_t *err) {
    size_t room = 0, before;
    *books = NULL;
    *count = 0;
    do {
        before = *count;
        int64_t last = before ? (int64_t)(*books)[before - 1].file->ordinal : -1;
        if (!read_page(catalog, last, books, count, &room, err)) {
            free(*books);
            *books = NULL;
            return false;
        }
    } while (*count > before);
    return true;
}

static bool vanished(const catalog_t *catalog, err_t *err) {
    return err_set(err, STATUS_SERVER,
                   "the books of %s (%s.%s) were removed or changed by somebody while it was loaded: "
                   "start over with --drop",
                   server_namespace(catalog->server), server_database(catalog->server), catalog->files);
}

/* An update that was counted twice, because its reply was lost, leaves a hole: harmless. */
bool books_take(catalog_t *catalog, uint64_t extent_units, uint64_t ordinals, uint64_t *first_unit,
                uint64_t *first_ordinal, err_t *err) {
    bool fits = extent_units <= MOST_UNITS && ordinals <= UINT32_MAX;
    bool found = false, ok = true;
    if (fits && !catalog->read_only) {
        bson_t reply;
        bson_iter_t iter, value;
        bson_t *command = BCON_NEW(
            "findAndModify", BCON_UTF8(catalog->files), "query", "{", "_id", BCON_UTF8(BOOKS_HEADER),
            "nextExtent", "{", "$lte", BCON_INT64((int64_t)(MOST_UNITS - extent_units)), "}", "nextOrdinal",
            "{", "$lte", BCON_INT64((int64_t)(UINT32_MAX - ordinals)), "}", "}", "update", "{", "$inc", "{",
            "nextExtent", BCON_INT64((int64_t)extent_units), "nextOrdinal", BCON_INT64((int64_t)ordinals),
            "}", "}", "fields", "{", "nextExtent", BCON_INT32(1), "nextOrdinal", BCON_INT32(1), "}");
        ok = server_command(catalog->server, catalog->client, server_database(catalog->server), command, true,
                            &reply, err);
        bson_destroy(command);
        if (ok && bson_iter_init(&iter, &reply) &&
            bson_iter_find_descendant(&iter, "value.nextExtent", &value)) {
            found = true;
            catalog->next_extent = whole(&value);
            if (bson_iter_init(&iter, &reply) &&
                bson_iter_find_descendant(&iter, "value.nextOrdinal", &value))
                catalog->next_ordinal = whole(&value);
        }
        bson_destroy(&reply);
    } else if (fits) {
        found = catalog->next_extent <= MOST_UNITS - extent_units &&
                catalog->next_ordinal <= UINT32_MAX - ordinals;
    }
    if (!ok)
        return false;
    if (!found)
        return err_set(err, STATUS_USAGE,
                       "%s has no more room for positions: its files may have 8 PiB of text together, a "
                       "gzip counting as 1,032 times its size (or its books were removed); load into "
                       "another collection",
                       server_namespace(catalog->server));
    *first_unit = catalog->next_extent;
    *first_ordinal = catalog->next_ordinal;
    catalog->next_extent += extent_units;
    catalog->next_ordinal += ordinals;
    return true;
}

bool books_update(catalog_t *catalog, const bson_t *statements, uint64_t expected, err_t *err) {
    bson_t command = BSON_INITIALIZER, reply;
    bson_iter_t iter;
    BSON_APPEND_UTF8(&command, "update", catalog->files);
    BSON_APPEND_ARRAY(&command, "updates", statements);
    bool ok = server_command(catalog->server, catalog->client, server_database(catalog->server), &command,
                             true, &reply, err);
    bson_destroy(&command);
    if (ok && (!bson_iter_init_find(&iter, &reply, "n") || whole(&iter) != expected))
        ok = vanished(catalog, err);
    bson_destroy(&reply);
    return ok;
}
