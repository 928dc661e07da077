/* The catalog's files: found or registered, extended. */
#include "base/clock.h"
#include "base/log.h"
#include "base/stop.h"
#include "base/units.h"
#include "target/books.h"
#include "target/room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NOTES = 3, RACES = 100, RACE_PAUSE_MS = 20 };

/* A large plain file is divided into parts of so many windows (64 MiB), or larger ones where they would be
 * too many for one document. */
enum { PART_WINDOWS = 256, MOST_PARTS = 256 };

/* ---- where a record stands ---- */

bool catalog_voff(const catalog_file_t *file, uint64_t offset, uint64_t *voff) {
    for (size_t i = file->extent_count; i-- > 0;) {
        const extent_t *extent = &file->extents[i];
        if (offset >= extent->start && offset - extent->start < extent->length) {
            *voff = extent->base + (offset - extent->start);
            return true;
        }
    }
    return false;
}

bool catalog_extend(catalog_t *catalog, catalog_file_t *file, uint64_t offset, err_t *err) {
    uint64_t voff, unit, ordinal, end = 0;
    if (catalog_voff(file, offset, &voff))
        return true;
    for (size_t i = 0; i < file->extent_count; i++)
        if (file->extents[i].start + file->extents[i].length > end)
            end = file->extents[i].start + file->extents[i].length;
    uint64_t pieces = (offset - end) / POSITION_STREAM_PIECE + 1;
    if (!books_take(catalog, pieces * (POSITION_STREAM_PIECE / POSITION_EXTENT_UNIT), 0, &unit, &ordinal,
                    err))
        return false;
    extent_t extent = {
        .base = unit * POSITION_EXTENT_UNIT, .start = end, .length = pieces * POSITION_STREAM_PIECE};
    if (!catalog->read_only) {
        char place[32];
        bson_t statement = BSON_INITIALIZER, inner, update, set;
        snprintf(place, sizeof place, "extents.%zu", file->extent_count);
        BSON_APPEND_DOCUMENT_BEGIN(&statement, "0", &inner);
        BCON_APPEND(&inner, "q", "{", "_id", BCON_INT64((int64_t)file->ordinal), "}");
        BSON_APPEND_DOCUMENT_BEGIN(&inner, "u", &update);
        BSON_APPEND_DOCUMENT_BEGIN(&update, "$set", &set);
        books_append_extent(&set, place, &extent);
        bson_append_document_end(&update, &set);
        bson_append_document_end(&inner, &update);
        bson_append_document_end(&statement, &inner);
        bool ok = books_update(catalog, &statement, 1, err);
        bson_destroy(&statement);
        if (!ok)
            return false;
    }
    return books_add_extent(file, extent, err);
}

/* ---- which file is which ---- */

typedef struct {
    const input_file_t *input;
    char *name;       /* as in the books */
    const char *base; /* its last part */
    char digest[33];
    book_t *book;  /* its place in the books, once known */
    uint32_t copy; /* how many of the same content, size and base name came before it */
    bool grown;    /* longer than in the books, which have to be told */
} wanted_t;

typedef struct {
    catalog_t *catalog;
    wanted_t *wanted;
    size_t count;
    book_t *books;
    size_t book_count;
    book_t **by_path, **by_content; /* the books that have an identity */
    size_t identity_count;
} matching_t;

static void print_digest(char out[33], const uint64_t digest[2]) {
    snprintf(out, 33, "%016llx%016llx", (unsigned long long)digest[0], (unsigned long long)digest[1]);
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int compare_content(const char *base, uint64_t size, const char *digest, const book_t *book) {
    int order = strcmp(digest, book->digest);
    if (order == 0)
        order = (size > book->size) - (size < book->size);
    return order ? order : strcmp(base, last_part(book->file->path));
}

/* Among equals, the lower ordinal first. */
static int order_by_path(const void *a, const void *b) {
    const book_t *left = *(book_t *const *)a, *right = *(book_t *const *)b;
    int order = strcmp(left->file->path, right->file->path);
    return order
               ? order
               : (left->file->ordinal > right->file->ordinal) - (left->file->ordinal < right->file->ordinal);
}

static int order_by_content(const void *a, const void *b) {
    const book_t *left = *(book_t *const *)a, *right = *(book_t *const *)b;
    int order = compare_content(last_part(left->file->path), left->size, left->digest, right);
    return order
               ? order
               : (left->file->ordinal > right->file->ordinal) - (left->file->ordinal < right->file->ordinal);
}

/* The first of the sorted books that is not before the wanted one. */
static size_t first_by_path(const matching_t *m, const wanted_t *wanted) {
    size_t low = 0, high = m->identity_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(m->by_path[middle]->file->path, wanted->name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t first_by_content(const matching_t *m, const wanted_t *wanted) {
    size_t low = 0, high = m->identity_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare_content(wanted->base, wanted->input->disk_bytes, wanted->digest, m->by_content[middle]) >
            0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool same_content(const wanted_t *wanted, const book_t *book) {
    return wanted->input->disk_bytes == book->size && strcmp(wanted->digest, book->digest) == 0;
}

static void take(wanted_t *wanted, book_t *book) {
    wanted->book = book;
    book->taken = true;
}

static void match_in_place(matching_t *m, wanted_t *wanted) {
    for (size_t i = first_by_path(m, wanted); i < m->identity_count; i++) {
        book_t *book = m->by_path[i];
        if (strcmp(book->file->path, wanted->name) != 0)
            return;
        if (!book->taken && same_content(wanted, book)) {
            take(wanted, book);
            return;
        }
    }
}

/* The same file under another folder; copy counts the equal ones that other files of this load took. */
static void match_moved(matching_t *m, wanted_t *wanted) {
    for (size_t i = first_by_content(m, wanted); i < m->identity_count; i++) {
        book_t *book = m->by_content[i];
        if (compare_content(wanted->base, wanted->input->disk_bytes, wanted->digest, book) != 0)
            return;
        if (!book->taken) {
            take(wanted, book);
            return;
        }
        wanted->copy++;
    }
}

/* A file that was cut off when it was read (a download that was not yet over, say), and starts with the same
 * bytes now: the records of the books are still the first ones. Only where not all of it was loaded. */
static bool match_grown(matching_t *m, wanted_t *wanted, err_t *err) {
    for (size_t i = first_by_path(m, wanted); i < m->identity_count; i++) {
        book_t *book = m->by_path[i];
        char then[33];
        uint64_t digest[2];
        if (strcmp(book->file->path, wanted->name) != 0)
            return true;
        if (book->taken || catalog_is_complete(book->file) || book->size >= wanted->input->disk_bytes ||
            wanted->input->kind == INPUT_ZIP_MEMBER || wanted->input->archive)
            continue;
        if (!manifest_digest_at(wanted->input, book->size, digest, err))
            return false;
        print_digest(then, digest);
        if (strcmp(then, book->digest) == 0) {
            take(wanted, book);
            wanted->grown = true;
            return true;
        }
    }
    return true;
}

/* A file that was read before and has another content now: its records would get the _ids of the old ones. */
static bool check_unchanged(const matching_t *m, const wanted_t *wanted, err_t *err) {
    for (size_t i = first_by_path(m, wanted); i < m->identity_count; i++) {
        const book_t *book = m->by_path[i];
        if (strcmp(book->file->path, wanted->name) != 0)
            return true;
        if (!book->started)
            continue;
        char then[UNITS_MAX], now[UNITS_MAX], what[120];
        if (book->size == wanted->input->disk_bytes)
            snprintf(what, sizeof what, "it has the same size, but other content");
        else
            snprintf(what, sizeof what, "it had %s bytes, and has %s now", units_count(then, book->size),
                     units_count(now, wanted->input->disk_bytes));
        return err_set(err, STATUS_USAGE,
                       "%s has changed since it was loaded into %s: %s; load it under another name, into "
                       "another collection, or start over with --drop",
                       wanted->name, server_namespace(m->catalog->server), what);
    }
    return true;
}

static int order_wanted(const void *a, const void *b) {
    const wanted_t *left = *(wanted_t *const *)a, *right = *(wanted_t *const *)b;
    int order = strcmp(left->digest, right->digest);
    if (order == 0)
        order = (left->input->disk_bytes > right->input->disk_bytes) -
                (left->input->disk_bytes < right->input->disk_bytes);
    if (order == 0)
        order = strcmp(left->base, right->base);
    return order ? order : (left > right) - (left < right);
}

/* New files that equal each other are told apart by a number, too. */
static bool number_copies(matching_t *m, err_t *err) {
    wanted_t **fresh = malloc((m->count + 1) * sizeof *fresh);
    size_t count = 0;
    if (!fresh)
        return err_memory(err, m->count * sizeof *fresh);
    for (size_t i = 0; i < m->count; i++)
        if (m->wanted[i].digest[0] && !m->wanted[i].book)
            fresh[count++] = &m->wanted[i];
    qsort(fresh, count, sizeof *fresh, order_wanted);
    for (size_t i = 1; i < count; i++) {
        const wanted_t *before = fresh[i - 1];
        if (strcmp(before->digest, fresh[i]->digest) == 0 &&
            before->input->disk_bytes == fresh[i]->input->disk_bytes &&
            strcmp(before->base, fresh[i]->base) == 0)
            fresh[i]->copy = before->copy + 1;
    }
    free(fresh);
    return true;
}

static bool sort_books(matching_t *m, err_t *err) {
    size_t bytes = (m->book_count + 1) * sizeof(book_t *);
    free(m->by_path);
    free(m->by_content);
    m->by_path = malloc(bytes);
    m->by_content = malloc(bytes);
    m->identity_count = 0;
    if (!m->by_path || !m->by_content)
        return err_memory(err, bytes);
    for (size_t i = 0; i < m->book_count; i++)
        if (m->books[i].digest[0])
            m->by_path[m->identity_count++] = &m->books[i];
    memcpy(m->by_content, m->by_path, m->identity_count * sizeof(book_t *));
    qsort(m->by_path, m->identity_count, sizeof(book_t *), order_by_path);
    qsort(m->by_content, m->identity_count, sizeof(book_t *), order_by_content);
    return true;
}

static bool match_all(matching_t *m, err_t *err) {
    if (!sort_books(m, err))
        return false;
    for (size_t i = 0; i < m->count; i++) {
        m->wanted[i].book = NULL;
        m->wanted[i].copy = 0;
        m->wanted[i].grown = false;
        if (m->wanted[i].digest[0])
            match_in_place(m, &m->wanted[i]);
    }
    for (size_t i = 0; i < m->count; i++) {
        wanted_t *wanted = &m->wanted[i];
        if (!wanted->digest[0] || wanted->book)
            continue;
        match_moved(m, wanted);
        if (!wanted->book && !match_grown(m, wanted, err))
            return false;
        if (!wanted->book && !check_unchanged(m, wanted, err))
            return false;
    }
    return number_copies(m, err);
}

/* Notes about files whose names are not those of the books, a few at most. */
static void tell(const matching_t *m) {
    size_t moved = 0, copies = 0;
    for (size_t i = 0; i < m->count; i++) {
        const wanted_t *wanted = &m->wanted[i];
        if (wanted->book && strcmp(wanted->book->file->path, wanted->name) != 0 && moved++ < NOTES)
            log_note("%s is the file that was loaded as %s (same name, size and content)", wanted->name,
                     wanted->book->file->path);
        if (!wanted->book && wanted->copy && copies++ < NOTES)
            log_note("%s has the name, size and content of another file in the books: both are loaded",
                     wanted->name);
    }
    if (moved > NOTES)
        log_note("... and %zu more files that were loaded from other folders", moved - NOTES);
    if (copies > NOTES)
        log_note("... and %zu more files that have an equal one", copies - NOTES);
}

/* ---- new files ---- */

static void print_key(char *out, size_t room, const wanted_t *wanted, uint32_t ordinal) {
    if (wanted->digest[0])
        snprintf(out, room, "%llu/%s/%u/%.255s", (unsigned long long)wanted->input->disk_bytes,
                 wanted->digest, wanted->copy, wanted->base);
    else
        snprintf(out, room, "new/%u", ordinal);
}

static void append_parts(bson_t *document, const catalog_file_t *file) {
    bson_t parts, part;
    BSON_APPEND_ARRAY_BEGIN(document, "parts", &parts);
    for (size_t i = 0; i < file->part_count; i++) {
        char text[16];
        const char *key;
        bson_uint32_to_string((uint32_t)i, &key, text, sizeof text);
        BSON_APPEND_DOCUMENT_BEGIN(&parts, key, &part);
        BSON_APPEND_INT64(&part, "from", (int64_t)file->parts[i].from);
        books_append_progress(&part, "", &file->parts[i], false, 0);
        bson_append_document_end(&parts, &part);
    }
    bson_append_array_end(document, &parts);
}

static void append_file(bson_t *documents, uint32_t at, const wanted_t *wanted, const catalog_file_t *file) {
    static const char *const kinds[] = {"plain", "gzip", "zstd", "zip", "stream"};
    char text[16], unique[512];
    const char *key;
    bson_t document, extents;
    bson_uint32_to_string(at, &key, text, sizeof text);
    BSON_APPEND_DOCUMENT_BEGIN(documents, key, &document);
    BSON_APPEND_INT64(&document, "_id", (int64_t)file->ordinal);
    print_key(unique, sizeof unique, wanted, file->ordinal);
    BSON_APPEND_UTF8(&document, "key", unique);
    BSON_APPEND_UTF8(&document, "path", wanted->name);
    BSON_APPEND_UTF8(&document, "kind", kinds[wanted->input->kind]);
    BSON_APPEND_INT64(&document, "size", (int64_t)wanted->input->disk_bytes);
    if (wanted->digest[0])
        BSON_APPEND_UTF8(&document, "digest", wanted->digest);
    BSON_APPEND_ARRAY_BEGIN(&document, "extents", &extents);
    books_append_extent(&extents, "0", &file->extents[0]);
    bson_append_array_end(&document, &extents);
    BSON_APPEND_DATE_TIME(&document, "registered", clock_wall_ms());
    if (file->started)
        BSON_APPEND_DATE_TIME(&document, "started", clock_wall_ms());
    if (file->part_count > 1)
        append_parts(&document, file);
    else
        books_append_progress(&document, "", &file->parts[0], false, 0);
    bson_append_document_end(documents, &document);
}

/* One command; *lost is set when another loader registered one of these files first. */
static bool insert_files(matching_t *m, size_t *from, catalog_file_t **files, bool *lost, err_t *err) {
    catalog_t *catalog = m->catalog;
    bson_t command = BSON_INITIALIZER, documents, reply;
    uint32_t at = 0;
    BSON_APPEND_UTF8(&command, "insert", catalog->files);
    BSON_APPEND_BOOL(&command, "ordered", false);
    BSON_APPEND_ARRAY_BEGIN(&command, "documents", &documents);
    for (; *from < m->count && at < BOOKS_STATEMENTS && documents.len < BOOKS_COMMAND_BYTES; ++*from)
        if (!m->wanted[*from].book)
            append_file(&documents, at++, &m->wanted[*from], files[*from]);
    bson_append_array_end(&command, &documents);
    bool ok = true;
    if (at) {
        ok = server_command(catalog->server, catalog->client, server_database(catalog->server), &command,
                            true, &reply, err);
        *lost = !ok && server_code(&reply) == BOOKS_DUPLICATE_KEY;
        bson_destroy(&reply);
    }
    bson_destroy(&command);
    return ok || *lost;
}

static bool make_parts(catalog_file_t *file, const input_file_t *input, err_t *err) {
    uint64_t windows = input->text_bound / POSITION_BLOCK_BYTES + 1;
    uint64_t count = windows / PART_WINDOWS;
    if (input->kind != INPUT_PLAIN || input_is_in_stream(input) || count < 2)
        return books_make_parts(file, 1, 0, err);
    count = count < MOST_PARTS ? count : MOST_PARTS;
    return books_make_parts(file, count, (windows + count - 1) / count, err);
}

/* Ordinals and extents for all new files by one command, then their documents. A stop in between leaves
 * holes. */
static bool register_new(matching_t *m, catalog_file_t **files, bool *lost, err_t *err) {
    uint64_t units = 0, numbers = 0, unit, ordinal;
    *lost = false;
    for (size_t i = 0; i < m->count; i++) {
        if (m->wanted[i].book)
            continue;
        uint64_t more = room_units(m->wanted[i].input);
        units = units + more < units ? UINT64_MAX : units + more;
        numbers += room_ordinals(m->wanted[i].input);
    }
    if (!numbers)
        return true;
    if (!books_take(m->catalog, units, numbers, &unit, &ordinal, err))
        return false;
    for (size_t i = 0; i < m->count; i++) {
        const wanted_t *wanted = &m->wanted[i];
        if (wanted->book)
            continue;
        catalog_file_t *file = files[i] = books_new_file(m->catalog, err);
        uint64_t length = room_units(wanted->input) * POSITION_EXTENT_UNIT;
        if (!file ||
            !books_add_extent(file, (extent_t){.base = unit * POSITION_EXTENT_UNIT, .length = length}, err))
            return false;
        if (!(file->path = strdup(wanted->name)))
            return err_memory(err, strlen(wanted->name));
        if (!make_parts(file, wanted->input, err))
            return false;
        file->ordinal = (uint32_t)ordinal;
        ordinal += room_ordinals(wanted->input);
        file->started = m->catalog->starts;
        unit += length / POSITION_EXTENT_UNIT;
    }
    for (size_t from = 0; !m->catalog->read_only && from < m->count && !*lost;)
        if (!insert_files(m, &from, files, lost, err))
            return false;
    return true;
}

/* The last block of a whole part may have ended in the middle of a record; of a part that is not whole it is
 * not done. */
static void begin_last_part_again(catalog_file_t *file) {
    catalog_part_t *last = &file->parts[file->part_count - 1];
    if (last->complete) {
        runs_free(&last->done);
        last->counts = (counts_t){0};
    }
    last->complete = false;
    for (size_t i = 0; i < file->part_count; i++)
        file->parts[i].doubtful = !file->parts[i].complete;
}

/* The books follow a file that has grown: its size and digest, and room for what was added. A record that was
 * cut in two then has another document now: what is there is compared, like all that was begun before. */
static bool follow_growth(matching_t *m, const wanted_t *wanted, err_t *err) {
    catalog_t *catalog = m->catalog;
    catalog_file_t *file = wanted->book->file;
    uint64_t end = 0, unit, ordinal, units = room_units(wanted->input);
    for (size_t i = 0; i < file->extent_count; i++)
        if (file->extents[i].start + file->extents[i].length > end)
            end = file->extents[i].start + file->extents[i].length;
    extent_t extent = {.start = end};
    if (units * POSITION_EXTENT_UNIT > end) {
        extent.length = units * POSITION_EXTENT_UNIT - end;
        if (!books_take(catalog, extent.length / POSITION_EXTENT_UNIT, 0, &unit, &ordinal, err))
            return false;
        extent.base = unit * POSITION_EXTENT_UNIT;
    }
    char unique[512], place[32], prefix[BOOKS_PREFIX];
    bson_t statement = BSON_INITIALIZER, inner, update, set;
    print_key(unique, sizeof unique, wanted, file->ordinal);
    BSON_APPEND_DOCUMENT_BEGIN(&statement, "0", &inner);
    BCON_APPEND(&inner, "q", "{", "_id", BCON_INT64((int64_t)file->ordinal), "}");
    BSON_APPEND_DOCUMENT_BEGIN(&inner, "u", &update);
    BSON_APPEND_DOCUMENT_BEGIN(&update, "$set", &set);
    BSON_APPEND_UTF8(&set, "key", unique);
    BSON_APPEND_INT64(&set, "size", (int64_t)wanted->input->disk_bytes);
    BSON_APPEND_UTF8(&set, "digest", wanted->digest);
    begin_last_part_again(file);
    books_prefix(file, file->part_count - 1, prefix);
    books_append_progress(&set, prefix, &file->parts[file->part_count - 1], false, 0);
    snprintf(place, sizeof place, "extents.%zu", file->extent_count);
    if (extent.length)
        books_append_extent(&set, place, &extent);
    bson_append_document_end(&update, &set);
    bson_append_document_end(&inner, &update);
    bson_append_document_end(&statement, &inner);
    bool ok = catalog->read_only || books_update(catalog, &statement, 1, err);
    bson_destroy(&statement);
    log_note("%s has grown since it was loaded in part: what was added is %s", wanted->name,
             catalog->read_only ? "not loaded yet" : "loaded now");
    return ok && (!extent.length || books_add_extent(file, extent, err));
}

/* Books that tell of documents, and a collection without any: somebody emptied it. */
static bool check_not_emptied(const matching_t *m, err_t *err) {
    catalog_t *catalog = m->catalog;
    uint64_t loaded = 0;
    for (size_t i = 0; i < m->book_count; i++)
        for (size_t j = 0; j < m->books[i].file->part_count; j++)
            loaded += m->books[i].file->parts[j].counts.loaded;
    if (!loaded || !catalog->place.empty)
        return true;
    /* another loader may have filled it since it was looked at */
    if (!place_look(catalog->server, catalog->client, &catalog->place, err))
        return false;
    char count[UNITS_MAX];
    return !catalog->place.empty ||
           err_set(err, STATUS_USAGE,
                   "%s is empty, but its books say that %s documents were loaded: somebody removed them; "
                   "start over with --drop",
                   server_namespace(catalog->server), units_count(count, loaded));
}

static bool prepare(matching_t *m, const manifest_t *manifest, err_t *err) {
    m->count = manifest->count;
    m->wanted = calloc(manifest->count + 1, sizeof *m->wanted);
    if (!m->wanted)
        return err_memory(err, manifest->count * sizeof *m->wanted);
    for (size_t i = 0; i < m->count; i++) {
        const input_file_t *input = &manifest->files[i];
        wanted_t *wanted = &m->wanted[i];
        wanted->input = input;
        if (!(wanted->name = books_name(input->name)))
            return err_memory(err, strlen(input->name));
        wanted->base = last_part(wanted->name);
        if (input->has_identity)
            print_digest(wanted->digest, input->digest);
    }
    return true;
}

static bool register_all(matching_t *m, catalog_file_t **files, err_t *err) {
    bool lost = true;
    for (int race = 0; lost && race < RACES && !stop_signal(); race++) {
        struct timespec pause = {.tv_nsec = RACE_PAUSE_MS * 1000000};
        if (race)
            nanosleep(&pause, NULL);
        free(m->books);
        if (!books_read_files(m->catalog, &m->books, &m->book_count, err) || !check_not_emptied(m, err) ||
            !match_all(m, err) || !register_new(m, files, &lost, err))
            return false;
    }
    if (lost && stop_signal())
        return err_set(err, (status_t)(128 + stop_signal()), "interrupted; nothing was loaded yet");
    if (lost)
        return err_set(err, STATUS_SERVER,
                       "other loaders of %s registered the same files again and again: run the same "
                       "command again",
                       server_namespace(m->catalog->server));
    for (size_t i = 0; i < m->count; i++) {
        if (m->wanted[i].book)
            files[i] = m->wanted[i].book->file;
        if (m->wanted[i].grown && !follow_growth(m, &m->wanted[i], err))
            return false;
    }
    tell(m);
    return true;
}

bool catalog_register(catalog_t *catalog, const manifest_t *manifest, catalog_file_t **files, err_t *err) {
    matching_t m = {.catalog = catalog};
    bool ok = prepare(&m, manifest, err) && register_all(&m, files, err);
    for (size_t i = 0; m.wanted && i < m.count; i++)
        free(m.wanted[i].name);
    free(m.wanted);
    free(m.books);
    free(m.by_path);
    free(m.by_content);
    return ok;
}
