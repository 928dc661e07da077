#include "target/books.h"
#include "target/position.h"
#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANEW                                                                                                 \
    "load into another collection, or start over with --drop, which drops the collection and its books"

static catalog_t *new_catalog(server_t *server, mongoc_client_t *client, const place_t *place, err_t *err) {
    catalog_t *catalog = calloc(1, sizeof *catalog);
    if (!catalog) {
        err_memory(err, sizeof *catalog);
        return NULL;
    }
    catalog->server = server;
    catalog->client = client;
    catalog->place = *place;
    snprintf(catalog->files, sizeof catalog->files, "%s.tipple.files", server_collection(server));
    return catalog;
}

void catalog_close(catalog_t *catalog) {
    if (!catalog)
        return;
    for (size_t i = 0; i < catalog->owned_count; i++) {
        catalog_file_t *file = catalog->owned[i];
        free(file->path);
        free(file->extents);
        for (size_t j = 0; j < file->part_count; j++)
            runs_free(&file->parts[j].done);
        free(file->parts);
        free(file);
    }
    free(catalog->owned);
    free(catalog->filter);
    free(catalog);
}

void catalog_own(catalog_t *catalog, const bson_oid_t *load) {
    bson_oid_copy(load, &catalog->owner);
}

const char *catalog_filter(const catalog_t *catalog) {
    return catalog->filter ? catalog->filter : "";
}

static bool run(catalog_t *catalog, const bson_t *command, bool writes, bson_t *reply, err_t *err) {
    return server_command(catalog->server, catalog->client, server_database(catalog->server), command, writes,
                          reply, err);
}

/* ---- the header ---- */

/* A damaged or foreign document gives an empty text. */
static const char *text(const bson_t *header, const char *field) {
    bson_iter_t iter;
    return bson_iter_init_find(&iter, header, field) && BSON_ITER_HOLDS_UTF8(&iter)
               ? bson_iter_utf8(&iter, NULL)
               : "";
}

static int64_t number(const bson_t *header, const char *field) {
    bson_iter_t iter;
    return bson_iter_init_find(&iter, header, field) ? bson_iter_as_int64(&iter) : -1;
}

static bool same_uuid(const bson_t *header, const place_t *place) {
    bson_iter_t iter;
    bson_subtype_t subtype;
    uint32_t length = 0;
    const uint8_t *uuid = NULL;
    if (bson_iter_init_find(&iter, header, "uuid") && BSON_ITER_HOLDS_BINARY(&iter))
        bson_iter_binary(&iter, &subtype, &length, &uuid);
    return length == sizeof place->uuid && memcmp(uuid, place->uuid, length) == 0;
}

static bool check_filter(const char *name, const char *then, const char *now, err_t *err) {
    if (strcmp(then, now) == 0)
        return true;
    if (!then[0])
        return err_set(err, STATUS_USAGE, "%s was loaded without --filter: leave it out, or %s", name, ANEW);
    return err_set(err, STATUS_USAGE, "%s was loaded with --filter '%s'%s%s%s: give the same one, or %s",
                   name, then, now[0] ? ", not '" : "", now, now[0] ? "'" : "", ANEW);
}

static bool check_header(catalog_t *catalog, const bson_t *header, const catalog_settings_t *settings,
                         err_t *err) {
    const char *name = server_namespace(catalog->server), *format = text(header, "format");
    int64_t extent = number(header, "nextExtent"), ordinal = number(header, "nextOrdinal");
    if (extent < 0 || ordinal < 0)
        return err_set(err, STATUS_USAGE, "the books of %s (%s.%s) are damaged: %s", name,
                       server_database(catalog->server), catalog->files, ANEW);
    catalog->next_extent = (uint64_t)extent;
    catalog->next_ordinal = (uint64_t)ordinal;
    if (number(header, "laneRule") != POSITION_LANE_RULE)
        return err_set(err, STATUS_USAGE,
                       "%s was loaded by another version of tipple, which gave its records other _ids: "
                       "use that version, or %s",
                       name, ANEW);
    free(catalog->filter);
    if (!(catalog->filter = strdup(text(header, "filter"))))
        return err_memory(err, header->len);
    if (!settings)
        return true;
    if (!catalog->place.exists)
        return err_set(err, STATUS_USAGE,
                       "%s is gone, but the books of its loads are still there (%s.%s): start over with "
                       "--drop",
                       name, server_database(catalog->server), catalog->files);
    bool same = same_uuid(header, &catalog->place);
    if (!same && settings->restored)
        log_warn("%s is not the collection that its books describe: it was dropped and made again, or "
                 "restored, since they were written",
                 name);
    else if (!same)
        return err_set(err, STATUS_USAGE,
                       "%s is not the collection that its books describe: it was dropped and made again, "
                       "or restored, since they were written; %s",
                       name, ANEW);
    if (settings->format && strcmp(format, settings->format) != 0)
        return err_set(err, STATUS_USAGE, "%s was loaded with --format %s, not %s: give the same one, or %s",
                       name, format, settings->format, ANEW);
    if (settings->format_digest && strcmp(text(header, "digest"), settings->format_digest) != 0)
        return err_set(err, STATUS_USAGE,
                       "the format '%s' has changed since %s was loaded: the same record would now make "
                       "another document; use the old format file, or %s",
                       format, name, ANEW);
    return !settings->filter || check_filter(name, text(header, "filter"), settings->filter, err);
}

/* *found tells whether there is a header; it was checked then. *others: files without a header. */
static bool read_header(catalog_t *catalog, const catalog_settings_t *settings, bool *found, bool *others,
                        err_t *err) {
    bson_t reply, header;
    bson_iter_t iter, entry;
    /* numbers sort before strings: a descending _id finds the header first, and a file where it is missing */
    bson_t *find = BCON_NEW("find", BCON_UTF8(catalog->files), "sort", "{", "_id", BCON_INT32(-1), "}",
                            "limit", BCON_INT32(1), "singleBatch", BCON_BOOL(true), "readConcern", "{",
                            "level", BCON_UTF8("majority"), "}");
    bool ok = run(catalog, find, false, &reply, err);
    bson_destroy(find);
    *found = *others = false;
    if (ok && bson_iter_init(&iter, &reply) &&
        bson_iter_find_descendant(&iter, "cursor.firstBatch.0", &entry) && BSON_ITER_HOLDS_DOCUMENT(&entry)) {
        uint32_t length;
        const uint8_t *data;
        bson_iter_document(&entry, &length, &data);
        ok = bson_init_static(&header, data, length);
        *found = ok && strcmp(text(&header, "_id"), BOOKS_HEADER) == 0;
        *others = !*found;
        if (*found)
            ok = check_header(catalog, &header, settings, err);
    }
    bson_destroy(&reply);
    return ok;
}

/* Files that two loaders register at the same moment are kept apart by the server. */
static bool make_index(catalog_t *catalog, err_t *err) {
    bson_t *command =
        BCON_NEW("createIndexes", BCON_UTF8(catalog->files), "indexes", "[", "{", "key", "{", "key",
                 BCON_INT32(1), "}", "name", BCON_UTF8("key"), "unique", BCON_BOOL(true), "}", "]");
    bool ok = run(catalog, command, true, NULL, err);
    bson_destroy(command);
    return ok;
}

/* May lose a race against another loader: then its header is read again, and checked. */
static bool write_header(catalog_t *catalog, const catalog_settings_t *settings, err_t *err) {
    bson_t command = BSON_INITIALIZER, documents, header, reply;
    BSON_APPEND_UTF8(&command, "insert", catalog->files);
    BSON_APPEND_ARRAY_BEGIN(&command, "documents", &documents);
    BSON_APPEND_DOCUMENT_BEGIN(&documents, "0", &header);
    BSON_APPEND_UTF8(&header, "_id", BOOKS_HEADER);
    BSON_APPEND_UTF8(&header, "key", BOOKS_HEADER);
    BSON_APPEND_BINARY(&header, "uuid", BSON_SUBTYPE_UUID, catalog->place.uuid, sizeof catalog->place.uuid);
    BSON_APPEND_UTF8(&header, "format", settings->format);
    BSON_APPEND_UTF8(&header, "digest", settings->format_digest);
    BSON_APPEND_INT32(&header, "laneRule", POSITION_LANE_RULE);
    BSON_APPEND_UTF8(&header, "filter", settings->filter ? settings->filter : "");
    BSON_APPEND_INT64(&header, "nextExtent", 0);
    BSON_APPEND_INT64(&header, "nextOrdinal", 0);
    BSON_APPEND_DATE_TIME(&header, "created", clock_wall_ms());
    bson_append_document_end(&documents, &header);
    bson_append_array_end(&command, &documents);
    bool ok = run(catalog, &command, true, &reply, err) || server_code(&reply) == BOOKS_DUPLICATE_KEY;
    bson_destroy(&reply);
    bson_destroy(&command);
    return ok;
}

static bool refuse_data(const catalog_t *catalog, err_t *err) {
    return err_set(err, STATUS_USAGE,
                   "%s holds documents that tipple did not load (there are no books of it, %s.%s): %s",
                   server_namespace(catalog->server), server_database(catalog->server), catalog->files, ANEW);
}

static bool refuse_rest(const catalog_t *catalog, err_t *err) {
    return err_set(err, STATUS_USAGE,
                   "the books of %s (%s.%s) are damaged: they have files, but no '%s' document; %s",
                   server_namespace(catalog->server), server_database(catalog->server), catalog->files,
                   BOOKS_HEADER, ANEW);
}

static bool open_books(catalog_t *catalog, const catalog_settings_t *settings, err_t *err) {
    bool found, others;
    if (!read_header(catalog, settings, &found, &others, err))
        return false;
    if (!found) {
        if (others)
            return refuse_rest(catalog, err);
        if (!catalog->place.empty)
            return refuse_data(catalog, err);
        if (!make_index(catalog, err) || !write_header(catalog, settings, err))
            return false;
        /* once more: the header that counts may be another loader's */
        if (!read_header(catalog, settings, &found, &others, err))
            return false;
        if (!found)
            return refuse_rest(catalog, err);
    }
    return server_facts(catalog->server)->kind != SERVER_STANDALONE ||
           server_process(catalog->server, catalog->client, catalog->process, err);
}

catalog_t *catalog_open(server_t *server, mongoc_client_t *client, const place_t *place,
                        const catalog_settings_t *settings, err_t *err) {
    catalog_t *catalog = new_catalog(server, client, place, err);
    if (catalog)
        catalog->starts = settings->starts;
    if (catalog && open_books(catalog, settings, err))
        return catalog;
    catalog_close(catalog);
    return NULL;
}

bool catalog_peek(server_t *server, mongoc_client_t *client, const place_t *place,
                  const catalog_settings_t *settings, catalog_t **catalog, err_t *err) {
    bool found, others;
    *catalog = new_catalog(server, client, place, err);
    if (!*catalog)
        return false;
    (*catalog)->read_only = true;
    bool ok = read_header(*catalog, settings, &found, &others, err);
    if (ok && others)
        ok = refuse_rest(*catalog, err);
    if (ok && !found && settings && place->exists && !place->empty)
        ok = refuse_data(*catalog, err);
    if (!ok || !found) {
        catalog_close(*catalog);
        *catalog = NULL;
    }
    return ok;
}

/* ---- durability ---- */

static bool check_identity(catalog_t *catalog, err_t *err) {
    place_t now;
    if (!place_identity(catalog->server, catalog->client, &now, err))
        return false;
    if (now.exists && memcmp(now.uuid, catalog->place.uuid, sizeof now.uuid) == 0)
        return true;
    return err_set(err, STATUS_SERVER, "%s was dropped%s while it was loaded: start over with --drop",
                   server_namespace(catalog->server), now.exists ? " and made again" : "");
}

static bool check_process(catalog_t *catalog, err_t *err) {
    char process[25];
    if (!server_process(catalog->server, catalog->client, process, err))
        return false;
    if (strcmp(process, catalog->process) == 0)
        return true;
    /* from now on, the new process is the one that must last */
    memcpy(catalog->process, process, sizeof process);
    return err_set(err, STATUS_SERVER,
                   "the server at %s was restarted: what it had acknowledged a moment ago may be lost; "
                   "run the same command again, which sends that once more",
                   server_where(catalog->server));
}

bool catalog_barrier(catalog_t *catalog, err_t *err) {
    if (catalog->read_only)
        return true;
    /* an insert into a collection that was dropped makes a new one, and nobody is told */
    if (!check_identity(catalog, err))
        return false;
    if (server_facts(catalog->server)->kind != SERVER_STANDALONE)
        return true;
    bson_t *statement = BCON_NEW("0", "{", "q", "{", "_id", BCON_UTF8(BOOKS_HEADER), "}", "u", "{",
                                 "$currentDate", "{", "synced", BCON_BOOL(true), "}", "}", "}");
    bool ok = books_update(catalog, statement, 1, err);
    bson_destroy(statement);
    return ok && check_process(catalog, err);
}

/* ---- back from an _id ---- */

bool catalog_where(catalog_t *catalog, int64_t id, where_t *where, err_t *err) {
    *where = (where_t){0};
    if (id < 0)
        return true;
    uint64_t voff = position_voff(id);
    bson_t reply, document;
    bson_iter_t iter, first;
    /* the extent with the highest base that is not behind the voff; extents never overlap */
    bson_t *command =
        BCON_NEW("aggregate", BCON_UTF8(catalog->files), "pipeline", "[", "{", "$match", "{", "extents.base",
                 "{", "$lte", BCON_INT64((int64_t)voff), "}", "}", "}", "{", "$unwind", BCON_UTF8("$extents"),
                 "}", "{", "$match", "{", "extents.base", "{", "$lte", BCON_INT64((int64_t)voff), "}", "}",
                 "}", "{", "$sort", "{", "extents.base", BCON_INT32(-1), "}", "}", "{", "$limit",
                 BCON_INT32(1), "}", "{", "$project", "{", "path", BCON_INT32(1), "extents", "[",
                 BCON_UTF8("$extents"), "]", "}", "}", "]", "cursor", "{", "}");
    bool ok = run(catalog, command, false, &reply, err);
    bson_destroy(command);
    if (ok && bson_iter_init(&iter, &reply) &&
        bson_iter_find_descendant(&iter, "cursor.firstBatch.0", &first) && BSON_ITER_HOLDS_DOCUMENT(&first)) {
        uint32_t length;
        const uint8_t *data;
        book_t book;
        bson_iter_document(&first, &length, &data);
        ok = bson_init_static(&document, data, length) && books_read_document(catalog, &document, &book, err);
        const extent_t *extent = ok && book.file->extent_count ? book.file->extents : NULL;
        if (extent && voff - extent->base < extent->length) {
            where->found = true;
            where->ordinal = book.file->ordinal;
            where->offset = extent->start + (voff - extent->base);
            where->lane_fits = position_lane(where->ordinal, where->offset) == position_lane_of(id);
            snprintf(where->path, sizeof where->path, "%s", book.file->path);
        }
    }
    bson_destroy(&reply);
    return ok;
}

catalog_file_t *catalog_find(catalog_t *catalog, const char *path, err_t *err) {
    *err = (err_t){0};
    char *name = books_name(path);
    if (!name) {
        err_memory(err, strlen(path));
        return NULL;
    }
    book_t book = {0};
    bson_t reply, document;
    bson_iter_t iter, first;
    /* inputs without identity are new each time: the newest of a name is meant */
    bson_t *find = BCON_NEW("find", BCON_UTF8(catalog->files), "filter", "{", "path", BCON_UTF8(name), "}",
                            "sort", "{", "_id", BCON_INT32(-1), "}", "limit", BCON_INT32(1), "singleBatch",
                            BCON_BOOL(true), "readConcern", "{", "level", BCON_UTF8("majority"), "}");
    bool ok = run(catalog, find, false, &reply, err);
    bson_destroy(find);
    free(name);
    if (ok && bson_iter_init(&iter, &reply) &&
        bson_iter_find_descendant(&iter, "cursor.firstBatch.0", &first) && BSON_ITER_HOLDS_DOCUMENT(&first)) {
        uint32_t length;
        const uint8_t *data;
        bson_iter_document(&first, &length, &data);
        ok = bson_init_static(&document, data, length) && books_read_document(catalog, &document, &book, err);
    }
    bson_destroy(&reply);
    return ok ? book.file : NULL;
}

bool catalog_summary(server_t *server, mongoc_client_t *client, catalog_summary_t *summary, err_t *err) {
    char books[512];
    bson_t reply;
    bson_iter_t at, value;
    *summary = (catalog_summary_t){.files = 0};
    snprintf(books, sizeof books, "%s.tipple.files", server_collection(server));
    bson_t *command = BCON_NEW(
        "aggregate", BCON_UTF8(books), "pipeline", "[", "{", "$match", "{", "_id", "{", "$type",
        BCON_UTF8("number"), "}", "}", "}", "{", "$group", "{", "_id", BCON_NULL, "files", "{", "$sum",
        BCON_INT64(1), "}", "complete", "{", "$sum", "{", "$cond", "[", "{", "$and", "[", "{", "$ifNull", "[",
        BCON_UTF8("$complete"), BCON_BOOL(true), "]", "}", "{", "$allElementsTrue", "[", "{", "$ifNull", "[",
        BCON_UTF8("$parts.complete"), "[", "]", "]", "}", "]", "}", "]", "}", BCON_INT64(1), BCON_INT64(0),
        "]", "}", "}", "loaded", "{", "$sum", "{", "$add", "[", "{", "$ifNull", "[", BCON_UTF8("$loaded"),
        BCON_INT64(0), "]", "}", "{", "$sum", BCON_UTF8("$parts.loaded"), "}", "]", "}", "}", "rejected", "{",
        "$sum", "{", "$add", "[", "{", "$ifNull", "[", BCON_UTF8("$rejected"), BCON_INT64(0), "]", "}", "{",
        "$sum", BCON_UTF8("$parts.rejected"), "}", "]", "}", "}", "}", "}", "]", "cursor", "{", "}");
    const struct {
        const char *path;
        uint64_t *number;
    } numbers[] = {{"cursor.firstBatch.0.files", &summary->files},
                   {"cursor.firstBatch.0.complete", &summary->complete},
                   {"cursor.firstBatch.0.loaded", &summary->loaded},
                   {"cursor.firstBatch.0.rejected", &summary->rejected}};
    bool ok = server_command(server, client, server_database(server), command, false, &reply, err);
    bson_destroy(command);
    for (size_t i = 0; ok && i < sizeof numbers / sizeof *numbers; i++)
        if (bson_iter_init(&at, &reply) && bson_iter_find_descendant(&at, numbers[i].path, &value))
            *numbers[i].number = (uint64_t)bson_iter_as_int64(&value);
    bson_destroy(&reply);
    return ok;
}
