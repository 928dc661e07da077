/* The catalog's parts: begun, claimed by a load, and written down as far as they are done. */
#include "base/clock.h"
#include "target/books.h"

#include <stdio.h>
#include <stdlib.h>

enum { STARTS = 100000 };

static bool start_some(catalog_t *catalog, catalog_file_t **files, size_t count, err_t *err) {
    bson_t statement = BSON_INITIALIZER, inner, query, range, ordinals;
    uint32_t at = 0;
    BSON_APPEND_DOCUMENT_BEGIN(&statement, "0", &inner);
    BSON_APPEND_DOCUMENT_BEGIN(&inner, "q", &query);
    BSON_APPEND_DOCUMENT_BEGIN(&query, "_id", &range);
    BSON_APPEND_ARRAY_BEGIN(&range, "$in", &ordinals);
    for (size_t i = 0; i < count; i++) {
        char text[16];
        const char *key;
        if (files[i]->started)
            continue;
        bson_uint32_to_string(at++, &key, text, sizeof text);
        BSON_APPEND_INT64(&ordinals, key, (int64_t)files[i]->ordinal);
        files[i]->started = true;
    }
    bson_append_array_end(&range, &ordinals);
    bson_append_document_end(&query, &range);
    bson_append_document_end(&inner, &query);
    /* the first start of all is the one that counts */
    BCON_APPEND(&inner, "u", "{", "$min", "{", "started", BCON_DATE_TIME(clock_wall_ms()), "}", "}", "multi",
                BCON_BOOL(true));
    bson_append_document_end(&statement, &inner);
    bool ok = !at || books_update(catalog, &statement, at, err);
    bson_destroy(&statement);
    return ok;
}

bool catalog_start(catalog_t *catalog, catalog_file_t **files, size_t count, err_t *err) {
    for (size_t from = 0; !catalog->read_only && from < count; from += STARTS)
        if (!start_some(catalog, files + from, count - from < STARTS ? count - from : STARTS, err))
            return false;
    return true;
}

/* ---- whose a part is ---- */

static bool is_nobody(const bson_oid_t *load) {
    static const bson_oid_t nobody;
    return bson_oid_equal(load, &nobody);
}

/* {"parts.3.load": ...} */
static const char *owner_field(const piece_t *piece, char name[BOOKS_PREFIX + 8]) {
    char prefix[BOOKS_PREFIX];
    books_prefix(piece->file, piece->part, prefix);
    snprintf(name, BOOKS_PREFIX + 8, "%sload", prefix);
    return name;
}

static catalog_part_t *part_of(const piece_t *piece) {
    return &piece->file->parts[piece->part];
}

/* How the books have these parts now; of *books the caller frees the array. */
static bool read_pieces(catalog_t *catalog, const piece_t *pieces, size_t count, book_t **books,
                        size_t *book_count, err_t *err) {
    bson_t ordinals = BSON_INITIALIZER;
    for (size_t i = 0; i < count; i++) {
        char text[16];
        const char *key;
        bson_uint32_to_string((uint32_t)i, &key, text, sizeof text);
        BSON_APPEND_INT64(&ordinals, key, (int64_t)pieces[i].file->ordinal);
    }
    bool ok = books_read_some(catalog, &ordinals, books, book_count, err);
    bson_destroy(&ordinals);
    return ok;
}

static const catalog_part_t *find_piece(const book_t *books, size_t count, const piece_t *piece) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (books[middle].file->ordinal < piece->file->ordinal)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < count && books[low].file->ordinal == piece->file->ordinal &&
                 books[low].file->part_count == piece->file->part_count;
    return found ? &books[low].file->parts[piece->part] : NULL;
}

static bool copy_progress(catalog_part_t *to, const catalog_part_t *from, err_t *err) {
    runs_free(&to->done);
    for (size_t i = 0; i < from->done.count; i++)
        if (!runs_add(&to->done, from->done.runs[i].from, from->done.runs[i].to))
            return err_memory(err, sizeof(run_t));
    to->counts = from->counts;
    to->complete = from->complete;
    to->suspect = from->suspect;
    to->owner = from->owner;
    return true;
}

static bool look_again(catalog_t *catalog, const piece_t *pieces, size_t count, err_t *err) {
    book_t *books;
    size_t book_count;
    bool ok = read_pieces(catalog, pieces, count, &books, &book_count, err);
    for (size_t i = 0; ok && i < count; i++) {
        const catalog_part_t *now = find_piece(books, book_count, &pieces[i]);
        ok = now ? copy_progress(part_of(&pieces[i]), now, err) : books_vanished(catalog, err);
    }
    free(books);
    return ok;
}

bool catalog_look_again(catalog_t *catalog, const piece_t *pieces, size_t count, err_t *err) {
    bool ok = true;
    for (size_t from = 0; ok && from < count; from += BOOKS_STATEMENTS)
        ok = look_again(catalog, pieces + from,
                        count - from < BOOKS_STATEMENTS ? count - from : BOOKS_STATEMENTS, err);
    return ok;
}

bool catalog_adopt(catalog_t *catalog, const piece_t *pieces, size_t count, err_t *err) {
    for (size_t from = 0, to; !catalog->read_only && from < count; from = to) {
        bson_t statements = BSON_INITIALIZER, statement, update, set;
        for (to = from; to < count && to - from < BOOKS_STATEMENTS; to++) {
            char text[16], name[BOOKS_PREFIX + 8];
            const char *key;
            bson_uint32_to_string((uint32_t)(to - from), &key, text, sizeof text);
            BSON_APPEND_DOCUMENT_BEGIN(&statements, key, &statement);
            BCON_APPEND(&statement, "q", "{", "_id", BCON_INT64((int64_t)pieces[to].file->ordinal), "}");
            BSON_APPEND_DOCUMENT_BEGIN(&statement, "u", &update);
            BSON_APPEND_DOCUMENT_BEGIN(&update, "$set", &set);
            BSON_APPEND_OID(&set, owner_field(&pieces[to], name), &catalog->owner);
            bson_append_document_end(&update, &set);
            bson_append_document_end(&statement, &update);
            bson_append_document_end(&statements, &statement);
        }
        bool ok = books_update(catalog, &statements, to - from, err);
        bson_destroy(&statements);
        if (!ok)
            return false;
    }
    return catalog_look_again(catalog, pieces, count, err);
}

/* ---- how far they are ---- */

/* Only where it is still ours, or nobody's. */
static void append_checkpoint(const catalog_t *catalog, bson_t *statements, uint32_t at,
                              const checkpoint_t *changed) {
    const piece_t *piece = &changed->piece;
    char text[16], name[BOOKS_PREFIX + 8], prefix[BOOKS_PREFIX];
    const char *key;
    bson_t statement, query, owner, owners, update, set;
    const bool owned = !is_nobody(&catalog->owner);
    bson_uint32_to_string(at, &key, text, sizeof text);
    books_prefix(piece->file, piece->part, prefix);
    BSON_APPEND_DOCUMENT_BEGIN(statements, key, &statement);
    BSON_APPEND_DOCUMENT_BEGIN(&statement, "q", &query);
    BSON_APPEND_INT64(&query, "_id", (int64_t)piece->file->ordinal);
    if (owned) {
        BSON_APPEND_DOCUMENT_BEGIN(&query, owner_field(piece, name), &owner);
        BSON_APPEND_ARRAY_BEGIN(&owner, "$in", &owners);
        BSON_APPEND_OID(&owners, "0", &catalog->owner);
        BSON_APPEND_NULL(&owners, "1");
        bson_append_array_end(&owner, &owners);
        bson_append_document_end(&query, &owner);
    }
    bson_append_document_end(&statement, &query);
    BSON_APPEND_DOCUMENT_BEGIN(&statement, "u", &update);
    BSON_APPEND_DOCUMENT_BEGIN(&update, "$set", &set);
    if (owned)
        BSON_APPEND_OID(&set, owner_field(piece, name), &catalog->owner);
    books_append_progress(&set, prefix, part_of(piece), changed->complete, changed->blocks);
    bson_append_document_end(&update, &set);
    bson_append_document_end(&statement, &update);
    bson_append_document_end(statements, &statement);
}

static bool find_lost(catalog_t *catalog, const piece_t *pieces, size_t count, size_t *lost, err_t *err) {
    book_t *books;
    size_t book_count;
    bool ok = read_pieces(catalog, pieces, count, &books, &book_count, err);
    for (size_t i = 0; ok && i < count; i++) {
        const catalog_part_t *now = find_piece(books, book_count, &pieces[i]);
        if (!now)
            ok = books_vanished(catalog, err);
        else if (!is_nobody(&now->owner) && !bson_oid_equal(&now->owner, &catalog->owner)) {
            part_of(&pieces[i])->lost = true;
            ++*lost;
        }
    }
    free(books);
    return ok;
}

bool catalog_find_lost(catalog_t *catalog, const piece_t *pieces, size_t count, err_t *err) {
    bool ok = true;
    size_t lost = 0;
    for (size_t from = 0; ok && from < count; from += BOOKS_STATEMENTS)
        ok = find_lost(catalog, pieces + from,
                       count - from < BOOKS_STATEMENTS ? count - from : BOOKS_STATEMENTS, &lost, err);
    return ok;
}

/* Some did not match: those of them that are another load's are lost. */
static bool settle_unmatched(catalog_t *catalog, const checkpoint_t *changed, size_t count, err_t *err) {
    piece_t *pieces = malloc(count * sizeof *pieces);
    size_t lost = 0;
    if (!pieces)
        return err_memory(err, count * sizeof *pieces);
    for (size_t i = 0; i < count; i++)
        pieces[i] = changed[i].piece;
    bool ok = find_lost(catalog, pieces, count, &lost, err);
    free(pieces);
    return ok && (lost || books_vanished(catalog, err));
}

bool catalog_checkpoint(catalog_t *catalog, const checkpoint_t *changed, size_t count, err_t *err) {
    for (size_t from = 0, to; !catalog->read_only && from < count; from = to) {
        bson_t statements = BSON_INITIALIZER;
        uint64_t matched;
        for (to = from; to < count && to - from < BOOKS_STATEMENTS && statements.len < BOOKS_COMMAND_BYTES;
             to++)
            append_checkpoint(catalog, &statements, (uint32_t)(to - from), &changed[to]);
        bool ok = books_try_update(catalog, &statements, &matched, err);
        bson_destroy(&statements);
        ok = ok && (matched == to - from || settle_unmatched(catalog, changed + from, to - from, err));
        if (!ok)
            return false;
        for (size_t i = from; i < to; i++)
            if (!part_of(&changed[i].piece)->lost)
                part_of(&changed[i].piece)->complete = changed[i].complete;
    }
    return true;
}
