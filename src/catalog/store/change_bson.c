#include "catalog/store/change_bson.h"
#include "catalog/store/entry_bson.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

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

/* Everything that the first change believes, the others believe too. */
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
    /* once: late, it must not say again that documents remain */
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

/* What is written together: the whole piece, so that all of its fields are of the same moment. */
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

/* Does what entry_add_fix (or entry_reopen_fix) does, without reading the entry. */
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
        /* it stays noted if a command that does not know of it confirms FIX_NOTHING */
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

/* One change, or the same change for all that are alike. */
static void append_same(const entry_change_t *change, size_t alike, bson_t *to) {
    bson_t set = BSON_INITIALIZER;
    append_query(change, alike, to);
    append_set(change, &set);
    BCON_APPEND(to, "u", "{", "$set", BCON_DOCUMENT(&set), "}");
    bson_destroy(&set);
}

/* ---- many in one statement ---- */

/* Only the owner and the epoch of a piece change: a take of an input whose progress counts, or giving it back. */
static bool is_plain_take(const entry_change_t *change) {
    return change->sets_owner && !change->progress;
}

/* The progress of an input that has one piece, and one version if that ends; nothing but a checkpoint asks for `only_piece`. */
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

/* How many bytes a piece takes at most, roughly. */
static size_t bytes_of(const piece_t *piece) {
    return 512 + piece->reject_count * sizeof *piece->rejects + piece->done.count * 64;
}

/* How many changes have ascending ordinals so close together that a list may have an item for every ordinal from the
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
            /* an ordinal that is not among the changes */
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

/* Each entry finds its own piece in a list: one statement for all of them, which the server plans once. */
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

size_t change_bson_statement(const entry_change_t *changes, size_t count, bson_t *to) {
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
