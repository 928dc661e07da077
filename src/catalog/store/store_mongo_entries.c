/* Entries in MongoDB: reading them, adding new ones, and changes of entries as statements of an update command. A
 * document that a change could not believe, because tipple has not written it like this, is refused when it is read. */
#include "base/text.h"
#include "catalog/store/entry_bson.h"
#include "catalog/store/store_mongo_inner.h"
#include "server/server_errors.h"

#include <bson/bson.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

/* How many ordinals, statements and bytes, roughly, one command has at most. */
enum { ASKED = 20000, STATEMENTS = 1000, COMMAND_BYTES = 8 << 20 };

/* ---- reading ---- */

/* Appends the filter for the next of these ordinals: those from `from` on, as many as one command should hold.
 * *asked_to: the last of them + 1. */
static void append_ordinals(const uint32_t *among, size_t count, uint64_t from, bson_t *filter,
                            uint64_t *asked_to, bool *all) {
    bson_t inner, list;
    char text[16];
    size_t at = 0, added = 0;
    while (at < count && among[at] < from)
        at++;
    BSON_APPEND_DOCUMENT_BEGIN(filter, "_id", &inner);
    BSON_APPEND_ARRAY_UNSAFE_BEGIN(&inner, "$in", &list);
    for (; at < count && added < ASKED; at++, added++) {
        BSON_APPEND_INT64(&list, entry_index_key(added, text), among[at]);
        *asked_to = (uint64_t)among[at] + 1;
    }
    bson_append_array_end(&inner, &list);
    bson_append_document_end(filter, &inner);
    *all = at == count;
}

static bool refuse_entry(const store_mongo_t *mongo, uint64_t ordinal, const char *field, err_t *err) {
    char what[100];
    snprintf(what, sizeof what, "the field '%s' of its entry with the _id %" PRIu64, field, ordinal);
    return store_mongo_damaged(mongo, err, what, "remove that entry and ");
}

/* Reads the next entry. Its ordinal must be higher than the one before, or reading all entries would never end. */
static bool read_entry(const store_mongo_t *mongo, const bson_t *document, uint64_t *from, entries_t *entries,
                       err_t *err) {
    bson_iter_t id;
    uint64_t ordinal;
    const char *odd;
    if (!bson_iter_init_find(&id, document, "_id") || !entry_whole(&id, UINT32_MAX, &ordinal) ||
        ordinal < *from)
        return store_mongo_damaged(mongo, err, "the _id of an entry", "remove that entry and ");
    entry_t *entry = entries_add(entries, err);
    *from = ordinal + 1;
    return entry && entry_from_bson(document, entry, &odd, err) &&
           (!*odd || refuse_entry(mongo, ordinal, odd, err));
}

bool store_mongo_read_entries(store_t *store, uint64_t *from, const uint32_t *among, size_t among_count,
                              entries_t *entries, bool *more, err_t *err) {
    store_mongo_t *mongo = store_mongo_of(store);
    bson_t filter = BSON_INITIALIZER, reply, document;
    bson_iter_t documents;
    uint64_t asked_to = *from;
    bool all = true;
    if (among)
        append_ordinals(among, among_count, *from, &filter, &asked_to, &all);
    else
        BCON_APPEND(&filter, "_id", "{", "$gte", BCON_INT64((int64_t)*from), "}");
    /* each page is a command of its own, so an election in between does no harm; a first batch has 101 documents unless
     * more are asked for, and at most 16 MB */
    bson_t *find = BCON_NEW("find", BCON_UTF8(mongo->files), "filter", BCON_DOCUMENT(&filter), "sort", "{",
                            "_id", BCON_INT32(1), "}", "limit", BCON_INT32(STORE_MONGO_PAGE), "batchSize",
                            BCON_INT32(STORE_MONGO_PAGE), "singleBatch", BCON_BOOL(true));
    bool ok = store_mongo_find(mongo, find, &reply, &documents, err);
    size_t count = 0;
    for (; store_mongo_next(mongo, &documents, &document, &ok, err); count++)
        ok = read_entry(mongo, &document, from, entries, err);
    if (!count) /* none of the ordinals that were asked for is there */
        *from = asked_to;
    *more = count > 0 || !all;
    bson_destroy(&reply);
    bson_destroy(&filter);
    return ok;
}

/* ---- a change as a statement ---- */

enum { NAME = 96, MOST_TAKES = 5000, MOST_PROGRESS = 1000, WIDEST_GAP = 8, MOST_BYTES = 4 << 20 };

/* "pieces.3.owner" */
static const char *piece_field(const entry_change_t *change, const char *field, char name[NAME]) {
    snprintf(name, NAME, "pieces.%u.%s", change->piece, field);
    return name;
}

/* {pieces: {$not: {$elemMatch: {owner: {$ne: OWNER}}}}} */
static void append_owns_all(bson_t *query, const load_id_t *owner) {
    bson_t other = BSON_INITIALIZER;
    entry_append_owner(&other, "$ne", owner);
    BCON_APPEND(query, "pieces", "{", "$not", "{", "$elemMatch", "{", "owner", BCON_DOCUMENT(&other), "}",
                "}", "}");
    bson_destroy(&other);
}

/* The other changes believe the same as the first one. */
static void append_query(const entry_change_t *change, size_t alike, bson_t *to) {
    bson_t query, inner, list;
    char name[NAME], text[16];
    BSON_APPEND_DOCUMENT_BEGIN(to, "q", &query);
    if (alike > 1) {
        BSON_APPEND_DOCUMENT_BEGIN(&query, "_id", &inner);
        BSON_APPEND_ARRAY_UNSAFE_BEGIN(&inner, "$in", &list);
        for (size_t i = 0; i < alike; i++)
            entry_append_number(&list, entry_index_key(i, text), change[i].ordinal);
        bson_append_array_end(&inner, &list);
        bson_append_document_end(&query, &inner);
    } else {
        entry_append_number(&query, "_id", change->ordinal);
    }
    /* only once: a late one must not say again that documents remain */
    if (change->removes || change->adds_name)
        BCON_APPEND(&query, "removed", "{", "$ne", BCON_BOOL(true), "}");
    if (change->sets_remains)
        BSON_APPEND_BOOL(&query, "removed", true);
    if (!change->sets_remains && !change->adds_name) {
        entry_append_owner(&query, piece_field(change, "owner", name), &change->owner);
        entry_append_number(&query, piece_field(change, "epoch", name), change->epoch);
    }
    if (change->only_piece)
        BCON_APPEND(&query, "pieces", "{", "$size", BCON_INT32(1), "}");
    if (change->owns_all)
        append_owns_all(&query, &change->owner);
    if (change->version)
        entry_append_number(&query, "version", change->version);
    if (change->no_extent_yet) {
        snprintf(name, sizeof name, "extents.%zu", change->extent_at);
        BCON_APPEND(&query, name, "{", "$exists", BCON_BOOL(false), "}");
    }
    bson_append_document_end(to, &query);
}

static void append_progress(const entry_change_t *change, const char *key, bson_t *to) {
    entry_append_piece(to, key, change->progress, change->sets_owner ? &change->new_owner : &change->owner,
                       change->sets_owner ? change->new_epoch : change->epoch);
}

/* Sets the whole piece at once, so that all of its fields are of the same moment; or only its owner. */
static void append_set_piece(const entry_change_t *change, bson_t *set) {
    char name[NAME];
    if (change->progress) {
        snprintf(name, sizeof name, "pieces.%u", change->piece);
        append_progress(change, name, set);
    } else if (change->sets_owner) {
        entry_append_owner(set, piece_field(change, "owner", name), &change->new_owner);
        entry_append_number(set, piece_field(change, "epoch", name), change->new_epoch);
        if (change->new_generation)
            entry_append_number(set, piece_field(change, "generation", name), change->new_generation);
    }
}

/* Does what entry_add_fix or entry_reopen_fix does, without reading the entry. */
static void append_fix(const fix_mark_t *fix, bool reopens, bson_t *set) {
    char name[NAME], hash[17];
    const int used = snprintf(name, sizeof name, "fixes.%" PRIu64 "-%016" PRIx64, fix->offset, fix->of);
    char *suffix = name + used;
    const size_t room = sizeof name - (size_t)used;
    if (reopens) {
        snprintf(suffix, room, ".confirmed");
        BSON_APPEND_BOOL(set, name, false);
    } else if (!fix->confirmed) {
        snprintf(suffix, room, ".noted.%016" PRIx64, fix->hash);
        BSON_APPEND_BOOL(set, name, true);
    } else if (fix->hash == FIX_NOTHING) {
        snprintf(suffix, room, ".hash");
        entry_append_number(set, name, fix->hash);
        snprintf(suffix, room, ".confirmed");
        BSON_APPEND_BOOL(set, name, true);
    } else {
        /* it stays noted if another command, which does not know of it, confirms FIX_NOTHING */
        snprintf(hash, sizeof hash, "%016" PRIx64, fix->hash);
        BCON_APPEND(set, name, "{", "hash", BCON_INT64((int64_t)fix->hash), "confirmed", BCON_BOOL(true),
                    "generation", BCON_INT64(fix->generation), "noted", "{", hash, BCON_BOOL(true), "}", "}");
    }
}

static void append_set(const entry_change_t *change, bson_t *set) {
    char name[NAME];
    append_set_piece(change, set);
    if (change->new_version) {
        entry_append_number(set, "version", change->version + 1);
        snprintf(name, sizeof name, "versions.%u", change->slot);
        entry_append_version(set, name, change->version + 1, change->slot, change->new_version);
        BSON_APPEND_UTF8(set, "key", change->new_key);
    }
    if (change->torn) {
        snprintf(name, sizeof name, "versions.%u.torn", change->slot);
        entry_append_torn(set, name, change->torn);
    }
    for (uint32_t i = 0; i < change->uncompletes; i++) {
        snprintf(name, sizeof name, "versions.%u.completed", i);
        BSON_APPEND_INT64(set, name, 0);
    }
    if (change->sets_completed) {
        snprintf(name, sizeof name, "versions.%u.completed", change->slot);
        BSON_APPEND_INT64(set, name, change->completed_ns);
    }
    if (change->sets_outgrown)
        entry_append_number(set, "outgrown", change->version);
    if (change->extent) {
        snprintf(name, sizeof name, "extents.%zu", change->extent_at);
        entry_append_extent(set, name, change->extent);
    }
    if (change->removes)
        BSON_APPEND_BOOL(set, "removed", true);
    if (change->removes || change->sets_remains)
        BSON_APPEND_BOOL(set, "remains", change->remains);
    if (change->removes) {
        snprintf(name, sizeof name, "removed/%u", change->ordinal);
        BSON_APPEND_UTF8(set, "key", name);
        entry_append_number(set, "heirs", change->heirs);
    }
    if (change->adds_name) {
        snprintf(name, sizeof name, "names.%016" PRIx64,
                 (uint64_t)XXH3_64bits(change->adds_name, strlen(change->adds_name)));
        BSON_APPEND_UTF8(set, name, change->adds_name);
    }
    for (size_t i = 0; i < change->fix_count; i++)
        append_fix(&change->fixes[i], change->reopens, set);
}

/* One change, or the same change for all entries that are alike. */
static void append_same(const entry_change_t *change, size_t alike, bson_t *to) {
    bson_t set = BSON_INITIALIZER;
    append_query(change, alike, to);
    append_set(change, &set);
    BCON_APPEND(to, "u", "{", "$set", BCON_DOCUMENT(&set), "}");
    bson_destroy(&set);
}

/* ---- many changes in one statement: a statement costs the server more than the change itself ---- */

/* True if only the owner and the epoch of a piece change: a take of an input whose progress counts, or giving it
 * back. */
static bool is_plain_take(const entry_change_t *change) {
    return change->sets_owner && !change->progress;
}

/* True for the progress of an input that has one piece, and one version if that ends. Only a checkpoint sets
 * `only_piece`. */
static bool is_plain_progress(const entry_change_t *change) {
    return change->only_piece && !change->torn && !change->sets_outgrown &&
           (!change->sets_completed || change->version == 1);
}

static bool believe_the_same(const entry_change_t *a, const entry_change_t *b) {
    return a->piece == b->piece && a->epoch == b->epoch && a->version == b->version &&
           a->only_piece == b->only_piece && load_id_equal(&a->owner, &b->owner);
}

static size_t count_takes(const entry_change_t *changes, size_t count) {
    size_t alike = 1;
    while (alike < count && alike < MOST_TAKES && is_plain_take(&changes[alike]) &&
           believe_the_same(changes, &changes[alike]) && changes[alike].new_epoch == changes->new_epoch &&
           changes[alike].new_generation == changes->new_generation &&
           load_id_equal(&changes[alike].new_owner, &changes->new_owner))
        alike++;
    return alike;
}

/* Roughly how many bytes a piece takes at most. */
static size_t bytes_of(const piece_t *piece) {
    return 512 + piece->reject_count * sizeof *piece->rejects + piece->done.count * 64;
}

/* How many changes have ascending ordinals so close together that one list can have an item for every ordinal from the
 * first to the last. */
static size_t count_progress(const entry_change_t *changes, size_t count) {
    size_t alike = 1, bytes = bytes_of(changes->progress);
    for (; alike < count && alike < MOST_PROGRESS; alike++) {
        const entry_change_t *next = &changes[alike], *last = next - 1;
        if (!is_plain_progress(next) || !believe_the_same(changes, next) ||
            next->sets_completed != changes->sets_completed || next->sets_owner != changes->sets_owner ||
            next->ordinal <= last->ordinal || next->ordinal - last->ordinal > WIDEST_GAP)
            break;
        bytes += bytes_of(next->progress);
        if (bytes > MOST_BYTES)
            break;
    }
    return alike;
}

typedef void append_item_fn(const entry_change_t *change, const char *key, bson_t *to);

static void append_completed(const entry_change_t *change, const char *key, bson_t *to) {
    bson_append_int64(to, key, -1, change->completed_ns);
}

/* {$arrayElemAt: [{$literal: [<item of the first>, ..., <item of the last>]}, {$subtract: ["$_id", <first>]}]} */
static void append_own_item(const entry_change_t *changes, size_t alike, append_item_fn *append_item,
                            const char *key, bson_t *to) {
    bson_t list = BSON_INITIALIZER;
    char text[16];
    for (size_t i = 0, at = 0; i < alike; i++) {
        for (; at < changes[i].ordinal - changes->ordinal; at++)
            /* an ordinal that does not change */
            bson_append_null(&list, entry_index_key(at, text), -1);
        append_item(&changes[i], entry_index_key(at++, text), &list);
    }
    BCON_APPEND(to, key, "{", "$arrayElemAt", "[", "{", "$literal", BCON_ARRAY(&list), "}", "{", "$subtract",
                "[", BCON_UTF8("$_id"), BCON_INT64(changes->ordinal), "]", "}", "]", "}");
    bson_destroy(&list);
}

/* [{$mergeObjects: [{$arrayElemAt: ["$versions", 0]}, {completed: <its own>}]}] */
static void append_own_completed(const entry_change_t *changes, size_t alike, bson_t *set) {
    bson_t completed = BSON_INITIALIZER;
    append_own_item(changes, alike, append_completed, "completed", &completed);
    BCON_APPEND(set, "versions", "[", "{", "$mergeObjects", "[", "{", "$arrayElemAt", "[",
                BCON_UTF8("$versions"), BCON_INT32(0), "]", "}", BCON_DOCUMENT(&completed), "]", "}", "]");
    bson_destroy(&completed);
}

/* One statement for all of them, which the server plans once: each entry finds its own piece in a list. */
static void append_each_its_own(const entry_change_t *changes, size_t alike, bson_t *to) {
    bson_t set = BSON_INITIALIZER, pieces;
    append_query(changes, alike, to);
    BSON_APPEND_ARRAY_UNSAFE_BEGIN(&set, "pieces", &pieces);
    append_own_item(changes, alike, append_progress, "0", &pieces);
    bson_append_array_end(&set, &pieces);
    if (changes->sets_completed)
        append_own_completed(changes, alike, &set);
    BCON_APPEND(to, "u", "[", "{", "$set", BCON_DOCUMENT(&set), "}", "]");
    bson_destroy(&set);
}

/* Appends one statement {q, u, multi} for the first of these changes and for those after it that are alike. Returns how
 * many changes the statement makes, at least one. */
static size_t append_statement(const entry_change_t *changes, size_t count, bson_t *to) {
    const bool progress = is_plain_progress(changes);
    const size_t alike = progress                 ? count_progress(changes, count)
                         : is_plain_take(changes) ? count_takes(changes, count)
                                                  : 1;
    if (progress && alike > 1)
        append_each_its_own(changes, alike, to);
    else
        append_same(changes, alike, to);
    if (alike > 1)
        BSON_APPEND_BOOL(to, "multi", true);
    return alike;
}

/* ---- writing ---- */

bool store_mongo_add_entries(store_t *store, const entry_t *const *entries, size_t count, uint64_t *added,
                             err_t *err) {
    store_mongo_t *mongo = store_mongo_of(store);
    bool ok = !count || store_mongo_prepare(store, err); /* another load may have made the header */
    *added = 0;
    for (size_t at = 0; ok && *added == at && at < count;) {
        bson_t command = BSON_INITIALIZER, documents, document, reply;
        char text[16];
        BSON_APPEND_UTF8(&command, "insert", mongo->files);
        BSON_APPEND_BOOL(&command, "ordered", true);
        BSON_APPEND_ARRAY_UNSAFE_BEGIN(&command, "documents", &documents);
        for (size_t i = 0; at < count && i < STATEMENTS && documents.len < COMMAND_BYTES; i++, at++) {
            BSON_APPEND_DOCUMENT_BEGIN(&documents, entry_index_key(i, text), &document);
            entry_to_bson(entries[at], &document);
            bson_append_document_end(&documents, &document);
        }
        bson_append_array_end(&command, &documents);
        const bool all = store_mongo_run(mongo, &command, true, &reply, err);
        ok = all || server_code(&reply) == CODE_DUPLICATE_KEY;
        *added += all ? store_mongo_number(&reply, "n") : 0;
        bson_destroy(&reply);
        bson_destroy(&command);
    }
    return ok;
}

bool store_mongo_change_entries(store_t *store, const entry_change_t *changes, size_t count,
                                uint64_t *changed, err_t *err) {
    bool ok = true;
    *changed = 0;
    for (size_t at = 0; ok && at < count;) {
        bson_t statements = BSON_INITIALIZER, statement;
        uint64_t matched;
        size_t fixes = 0;
        char text[16];
        for (size_t i = 0; at < count && i < STATEMENTS && statements.len < COMMAND_BYTES; i++) {
            fixes += changes[at].fix_count;
            if (i && fixes > STORE_MOST_FIXES)
                break;
            BSON_APPEND_DOCUMENT_BEGIN(&statements, entry_index_key(i, text), &statement);
            at += append_statement(changes + at, count - at, &statement);
            bson_append_document_end(&statements, &statement);
        }
        ok = store_mongo_update(store_mongo_of(store), store_mongo_of(store)->files, &statements, &matched,
                                err);
        *changed += matched;
        bson_destroy(&statements);
    }
    return ok;
}

bool store_mongo_remove_entries(store_t *store, uint64_t below, err_t *err) {
    store_mongo_t *mongo = store_mongo_of(store);
    bson_t *command = BCON_NEW("delete", BCON_UTF8(mongo->files), "deletes", "[", "{", "q", "{", "_id", "{",
                               "$lt", BCON_INT64((int64_t)below), "}", "}", "limit", BCON_INT32(0), "}", "]");
    bool ok = store_mongo_run(mongo, command, true, NULL, err);
    bson_destroy(command);
    return ok;
}
