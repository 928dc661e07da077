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

static bool read_runs(const bson_iter_t *array, runs_t *done, err_t *err) {
    bson_iter_t entry, ends;
    for (bool ok = bson_iter_recurse(array, &entry); ok && bson_iter_next(&entry);) {
        if (!bson_iter_recurse(&entry, &ends) || !bson_iter_next(&ends))
            continue;
        uint64_t from = whole(&ends);
        if (bson_iter_next(&ends) && !runs_add(done, from, whole(&ends)))
            return err_memory(err, sizeof(run_t));
    }
    return true;
}

/* A field of a part, whether it stands in the file's document or in one of `parts`. */
static bool read_part_field(const bson_iter_t *field, catalog_part_t *part, err_t *err) {
    const char *key = bson_iter_key(field);
    const struct {
        const char *key;
        uint64_t *to;
    } numbers[] = {{"from", &part->from},
                   {"read", &part->counts.read},
                   {"loaded", &part->counts.loaded},
                   {"already", &part->counts.already_there},
                   {"rejected", &part->counts.rejected},
                   {"filtered", &part->counts.filtered}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(key, numbers[i].key) == 0)
            *numbers[i].to = whole(field);
    if (strcmp(key, "load") == 0 && BSON_ITER_HOLDS_OID(field))
        bson_oid_copy(bson_iter_oid(field), &part->owner);
    else if (strcmp(key, "complete") == 0)
        part->complete = bson_iter_as_bool(field);
    else if (strcmp(key, "suspect") == 0)
        part->suspect = bson_iter_as_bool(field);
    return strcmp(key, "done") != 0 || read_runs(field, &part->done, err);
}

static size_t count_entries(const bson_iter_t *array) {
    bson_iter_t entry;
    size_t count = 0;
    for (bool ok = bson_iter_recurse(array, &entry); ok && bson_iter_next(&entry);)
        count++;
    return count;
}

static bool read_parts(const bson_iter_t *array, catalog_file_t *file, err_t *err) {
    bson_iter_t entry, field;
    size_t count = count_entries(array);
    if (!books_make_parts(file, count ? count : 1, 0, err))
        return false;
    bson_iter_recurse(array, &entry);
    for (size_t i = 0; i < count && bson_iter_next(&entry); i++)
        for (bool ok = bson_iter_recurse(&entry, &field); ok && bson_iter_next(&field);)
            if (!read_part_field(&field, &file->parts[i], err))
                return false;
    for (size_t i = 0; i + 1 < file->part_count; i++)
        file->parts[i].to = file->parts[i + 1].from;
    return true;
}

static bool read_extents(const bson_iter_t *array, catalog_file_t *file, err_t *err) {
    bson_iter_t entry;
    for (bool ok = bson_iter_recurse(array, &entry); ok && bson_iter_next(&entry);)
        if (!read_extent(&entry, file, err))
            return false;
    return true;
}

bool books_make_parts(catalog_file_t *file, size_t count, uint64_t windows, err_t *err) {
    catalog_part_t *parts = calloc(count, sizeof *parts);
    if (!parts)
        return err_memory(err, count * sizeof *parts);
    for (size_t i = 0; i < count; i++)
        parts[i] = (catalog_part_t){.from = i * windows, .to = (i + 1) * windows};
    parts[count - 1].to = UINT64_MAX;
    free(file->parts);
    file->parts = parts;
    file->part_count = count;
    return true;
}

void books_prefix(const catalog_file_t *file, size_t part, char prefix[BOOKS_PREFIX]) {
    if (file->part_count > 1)
        snprintf(prefix, BOOKS_PREFIX, "parts.%zu.", part);
    else
        prefix[0] = '\0';
}

bool catalog_is_complete(const catalog_file_t *file) {
    for (size_t i = 0; i < file->part_count; i++)
        if (!file->parts[i].complete)
            return false;
    return true;
}

bool books_read_document(catalog_t *catalog, const bson_t *document, book_t *book, err_t *err) {
    *book = (book_t){.file = books_new_file(catalog, err)};
    catalog_file_t *file = book->file;
    if (!file || !books_make_parts(file, 1, 0, err))
        return false;
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
        else if (strcmp(key, "size") == 0)
            book->size = whole(&iter);
        else if (strcmp(key, "started") == 0)
            book->started = true;
        else if (strcmp(key, "extents") == 0)
            ok = read_extents(&iter, file, err);
        else if (strcmp(key, "parts") == 0)
            ok = read_parts(&iter, file, err);
        else if (file->part_count == 1)
            ok = read_part_field(&iter, &file->parts[0], err);
    }
    file->started = book->started;
    for (size_t i = 0; i < file->part_count; i++)
        file->parts[i].doubtful = book->started && !file->parts[i].complete && !file->parts[i].suspect;
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

void books_append_progress(bson_t *to, const char *prefix, const catalog_part_t *part, bool complete,
                           uint64_t blocks) {
    char name[BOOKS_PREFIX + 16];
    bson_t done, run;
#define NAME(text) (snprintf(name, sizeof name, "%s%s", prefix, text), name)
    BSON_APPEND_ARRAY_BEGIN(to, NAME("done"), &done);
    for (size_t i = 0; i < part->done.count; i++) {
        char text[16];
        const char *key;
        bson_uint32_to_string((uint32_t)i, &key, text, sizeof text);
        BSON_APPEND_ARRAY_BEGIN(&done, key, &run);
        BSON_APPEND_INT64(&run, "0", (int64_t)part->done.runs[i].from);
        BSON_APPEND_INT64(&run, "1", (int64_t)part->done.runs[i].to);
        bson_append_array_end(&done, &run);
    }
    bson_append_array_end(to, &done);
    BSON_APPEND_BOOL(to, NAME("complete"), complete);
    BSON_APPEND_BOOL(to, NAME("suspect"), part->suspect && !complete);
    if (complete)
        BSON_APPEND_INT64(to, NAME("blocks"), (int64_t)blocks);
    BSON_APPEND_INT64(to, NAME("read"), (int64_t)part->counts.read);
    BSON_APPEND_INT64(to, NAME("loaded"), (int64_t)part->counts.loaded);
    BSON_APPEND_INT64(to, NAME("already"), (int64_t)part->counts.already_there);
    BSON_APPEND_INT64(to, NAME("rejected"), (int64_t)part->counts.rejected);
    BSON_APPEND_INT64(to, NAME("filtered"), (int64_t)part->counts.filtered);
#undef NAME
}

/* ---- reading and writing ---- */

/* One page: the first files that the condition on `_id` allows. A page is a command of its own, so that an
 * election between two does no harm. */
static bool read_page(catalog_t *catalog, const bson_t *condition, book_t **books, size_t *count,
                      size_t *room, err_t *err) {
    bson_t reply, document;
    bson_iter_t iter, batch;
    bson_t *find =
        BCON_NEW("find", BCON_UTF8(catalog->files), "filter", "{", "_id", BCON_DOCUMENT(condition), "}",
                 "sort", "{", "_id", BCON_INT32(1), "}", "limit", BCON_INT32(PAGE), "singleBatch",
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
        bson_t *behind = BCON_NEW("$gt", BCON_INT64(last));
        bool ok = read_page(catalog, behind, books, count, &room, err);
        bson_destroy(behind);
        if (!ok) {
            free(*books);
            *books = NULL;
            return false;
        }
    } while (*count > before);
    return true;
}

bool books_read_some(catalog_t *catalog, const bson_t *ordinals, book_t **books, size_t *count, err_t *err) {
    size_t room = 0;
    *books = NULL;
    *count = 0;
    bson_t *among = BCON_NEW("$in", BCON_ARRAY(ordinals));
    bool ok = read_page(catalog, among, books, count, &room, err);
    bson_destroy(among);
    if (ok)
        return true;
    free(*books);
    *books = NULL;
    return false;
}

bool books_vanished(const catalog_t *catalog, err_t *err) {
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

bool books_try_update(catalog_t *catalog, const bson_t *statements, uint64_t *matched, err_t *err) {
    bson_t command = BSON_INITIALIZER, reply;
    bson_iter_t iter;
    BSON_APPEND_UTF8(&command, "update", catalog->files);
    BSON_APPEND_ARRAY(&command, "updates", statements);
    bool ok = server_command(catalog->server, catalog->client, server_database(catalog->server), &command,
                             true, &reply, err);
    bson_destroy(&command);
    *matched = ok && bson_iter_init_find(&iter, &reply, "n") ? whole(&iter) : 0;
    bson_destroy(&reply);
    return ok;
}

bool books_update(catalog_t *catalog, const bson_t *statements, uint64_t expected, err_t *err) {
    uint64_t matched;
    return books_try_update(catalog, statements, &matched, err) &&
           (matched == expected || books_vanished(catalog, err));
}
