/* Blocks of a collection whose `_id`s are the data's own: the documents of their records are asked for by these, some
 * hundred at a time.
 *
 *     verifier_expect_by_id ...   each document; at last, and whenever there are enough of them:
 *     verifier_ask_by_id          asks for their `_id`s, and then judges each, in their order
 * */
#include "base/document.h"
#include "base/text.h"
#include "format/types.h"
#include "load/threads/loader.h"
#include "verify/verifier_inner.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { MOST = 1000, MOST_BYTES = 4 << 20, SLOTS = 4096, NONE = UINT32_MAX };

/* The place of a record. */
typedef struct {
    int64_t id; /* that the place would give */
    uint64_t offset, end, line, identity;
    const char *why;
    bool open; /* a fix that does not seem to be loaded */
} place_t;

/* A document that is expected, and what was found under its `_id`. */
typedef struct {
    place_t place;
    uint64_t hash;    /* of its `_id` */
    uint64_t content; /* the hash of a long document, of which only the `_id` is kept; else 0 */
    size_t start;     /* of what is kept: the document, or {_id} of a long one */
    uint32_t kept;    /* its length */
    uint32_t length;  /* of the document */
    uint32_t next;    /* of the same slot */
    bool same;        /* the document is there */
    uint32_t others;  /* how many others have its `_id` */
    uint8_t *other;   /* the first of them */
    uint32_t other_length;
} expected_t;

struct by_id {
    uint8_t *bytes; /* what is kept, back to back */
    size_t used, room;
    expected_t wanted[MOST];
    uint32_t count;
    uint32_t slots[SLOTS];
};

by_id_t *by_id_new(err_t *err) {
    by_id_t *by_id = calloc(1, sizeof *by_id);
    if (!by_id)
        err_memory(err, sizeof *by_id);
    else
        by_id_clear(by_id);
    return by_id;
}

void by_id_free(by_id_t *by_id) {
    if (!by_id)
        return;
    by_id_clear(by_id);
    free(by_id->bytes);
    free(by_id);
}

void by_id_clear(by_id_t *by_id) {
    for (uint32_t i = 0; i < by_id->count; i++)
        free(by_id->wanted[i].other);
    by_id->count = 0;
    by_id->used = 0;
    for (size_t i = 0; i < SLOTS; i++)
        by_id->slots[i] = NONE;
}

/* ---- asking ---- */

/* A long document is asked for at once: to describe it, it is made again from the record at hand. */
static bool is_full(const by_id_t *by_id) {
    return by_id->count == MOST || by_id->used >= MOST_BYTES || by_id->wanted[by_id->count - 1].content;
}

static bool add(by_id_t *by_id, const place_t *place, const uint8_t *document, uint32_t length, err_t *err) {
    expected_t *wanted = &by_id->wanted[by_id->count];
    uint32_t kept = length;
    bson_iter_t id; /* the first element */
    if (length > MOST_BYTES && bson_iter_init_from_data(&id, document, length) && element_next(&id))
        kept = id.next_off + 1;
    if (!GROW(by_id->bytes, by_id->room, by_id->used + kept, err))
        return false;
    uint8_t *end = mempcpy(by_id->bytes + by_id->used, document, kept);
    bsonw_int32(end - kept, (int32_t)kept);
    end[-1] = 0;
    *wanted = (expected_t){.place = *place,
                           .hash = id_hash(document, length),
                           .content = kept < length ? XXH3_64bits(document, length) : 0,
                           .start = by_id->used,
                           .kept = kept,
                           .length = length};
    uint32_t *slot = &by_id->slots[wanted->hash % SLOTS];
    wanted->next = *slot;
    *slot = by_id->count++;
    by_id->used += kept;
    return true;
}

static bool is_same(const by_id_t *by_id, const expected_t *wanted, const uint8_t *stored, uint32_t length) {
    if (wanted->length != length)
        return false;
    return wanted->content ? XXH3_64bits(stored, length) == wanted->content
                           : memcmp(by_id->bytes + wanted->start, stored, length) == 0;
}

static bool compare(by_id_t *by_id, expected_t *wanted, const uint8_t *stored, uint32_t length, err_t *err) {
    if (!wanted->same && is_same(by_id, wanted, stored, length)) {
        wanted->same = true;
        return true;
    }
    if (!wanted->others++) {
        if (!(wanted->other = malloc(length)))
            return err_memory(err, length);
        memcpy(wanted->other, stored, length);
        wanted->other_length = length;
    }
    return true;
}

static bool take_stored(by_id_t *by_id, const uint8_t *stored, uint32_t length, err_t *err) {
    const uint64_t hash = id_hash(stored, length);
    for (uint32_t at = by_id->slots[hash % SLOTS]; at != NONE; at = by_id->wanted[at].next) {
        if (by_id->wanted[at].hash == hash && !compare(by_id, &by_id->wanted[at], stored, length, err))
            return false;
    }
    return true;
}

static bool is_missing(const expected_t *wanted) {
    return !wanted->same && !wanted->others;
}

static void append_id(const by_id_t *by_id, uint32_t at, uint32_t index, bson_t *to) {
    const expected_t *wanted = &by_id->wanted[at];
    char text[16];
    const char *key;
    bson_t document;
    bson_iter_t id;
    bson_uint32_to_string(index, &key, text, sizeof text);
    if (bson_init_static(&document, by_id->bytes + wanted->start, wanted->kept) &&
        element_of(&document, "_id", &id))
        element_append(to, key, &id);
}

/* Asks for those of [from, to) that are missing, in one question. only: every document that comes belongs to this
 * one. */
static bool ask(by_id_t *by_id, snapshot_read_t *target, uint32_t from, uint32_t to, expected_t *only,
                uint64_t *seen, uint64_t *bytes, err_t *err) {
    bson_t filter = BSON_INITIALIZER, id, list;
    const uint8_t *stored;
    uint32_t length;
    int got;
    uint32_t count = 0;
    bool ok = true;
    BSON_APPEND_DOCUMENT_BEGIN(&filter, "_id", &id);
    BSON_APPEND_ARRAY_UNSAFE_BEGIN(&id, "$in", &list);
    for (uint32_t i = from; i < to; i++)
        if (is_missing(&by_id->wanted[i]))
            append_id(by_id, i, count++, &list);
    bson_append_array_end(&id, &list);
    bson_append_document_end(&filter, &id);
    snapshot_read_begin_filter(target, &filter);
    bson_destroy(&filter);
    while (ok && (got = snapshot_read_next(target, &stored, &length, err)) > 0) {
        ++*seen;
        *bytes += length;
        ok = only ? compare(by_id, only, stored, length, err) : take_stored(by_id, stored, length, err);
    }
    return ok && got == 0;
}

/* *any: the server has documents under the `_id`s of those that are missing, although their hashes differ: {a: 1} and
 * {a: 1.0} are one `_id`, and with a collation "a" and "A" are. */
static bool ask_for_others(by_id_t *by_id, snapshot_read_t *target, bool *any, err_t *err) {
    expected_t all = {.next = NONE};
    uint64_t again = 0, again_bytes = 0; /* not counted: these documents were seen already */
    const bool ok = ask(by_id, target, 0, by_id->count, &all, &again, &again_bytes, err);
    *any = all.others;
    free(all.other);
    return ok;
}

/* Asks for all. False: with snapshot_read_again it is worth another try, else err. *seen, *bytes: documents that
 * came. */
static bool ask_server(by_id_t *by_id, snapshot_read_t *target, uint64_t *seen, uint64_t *bytes, err_t *err) {
    uint64_t again = 0, again_bytes = 0;
    uint32_t missing = 0;
    bool any = true;
    if (by_id->count && !ask(by_id, target, 0, by_id->count, NULL, seen, bytes, err))
        return false;
    for (uint32_t i = 0; i < by_id->count; i++)
        missing += is_missing(&by_id->wanted[i]);
    if (missing > 1 && !ask_for_others(by_id, target, &any, err))
        return false;
    for (uint32_t i = 0; missing && any && i < by_id->count; i++) {
        expected_t *wanted = &by_id->wanted[i];
        if (is_missing(wanted) && !ask(by_id, target, i, i + 1, wanted, &again, &again_bytes, err))
            return false;
    }
    return true;
}

/* ---- places ---- */

static const entry_t *entry_of(const verifier_t *verifier) {
    const inspection_t *inspection = verifier->inspection;
    return &inspection->entries->wanted[verifier->block->piece - inspection->pieces].entry;
}

static place_t place_of(const verifier_t *verifier) {
    const block_t *block = verifier->block;
    const record_t *record = &verifier->record;
    const uint64_t offset = verifier->window_offset + (uint64_t)(verifier->record_id - verifier->first_id);
    return (place_t){.id = verifier->record_id,
                     .offset = offset,
                     .end = offset + record->length + record->line_end,
                     .line = block->first_line + record->line,
                     .identity = account_identity(block, record),
                     .why = verifier->why,
                     .open = verifier->at_fix && verifier->at_fix->open};
}

static difference_t difference_at(const verifier_t *verifier, difference_kind_t kind, const place_t *place) {
    const block_t *block = verifier->block;
    return (difference_t){.kind = kind,
                          .file = (size_t)(block->piece - verifier->inspection->pieces),
                          .name = block->piece->input->name,
                          .offset = place->offset,
                          .end = place->end,
                          .line = place->line,
                          .last_line = place->line,
                          .records = 1,
                          .id = place->id,
                          .last_id = place->id};
}

/* True if the user has fixed the record: its document has an `_id` that is not known here, and is looked for at the end
 * among all documents, if these are read. */
static bool was_fixed(const verifier_t *verifier, const place_t *place) {
    return verifier->block->piece->fix_count &&
           entry_fixes(entry_of(verifier), place->offset, place->identity, 0).answer &&
           standing_awaits_fix(entry_of(verifier), place->offset, place->identity);
}

static bool await_fix(verifier_t *verifier, const place_t *place, err_t *err) {
    if (!verifier->inspection->whole) {
        verifier->look.unsought++;
        return true;
    }
    const entry_t *entry = entry_of(verifier);
    const awaited_fix_t fix = {.hash = entry_fixes(entry, place->offset, place->identity, 0).answer->hash,
                               .missing = difference_at(verifier, DIFFERENCE_MISSING, place)};
    if (!verified_ids_await(&verifier->block_ids, &fix, err))
        return false;
    verifier->look.expected++;
    verifier->look.fixed++;
    return true;
}

/* ---- what was found ---- */

/* True if the record is a known reject: another record with the same `_id` was first. */
static bool is_known_reject(const verifier_t *verifier, const place_t *place) {
    uint64_t of;
    return standing_of_reject(entry_of(verifier), place->offset, &place->identity, &of) == STANDING_OPEN;
}

static bool describe(verifier_t *verifier, difference_t *difference, const expected_t *wanted, err_t *err) {
    const uint8_t *kept = verifier->by_id->bytes + wanted->start;
    const char *why = wanted->place.why;
    return difference_name_id_of(difference, kept, wanted->kept, err) &&
           (!wanted->others || verifier_describe(verifier, difference, wanted->content ? NULL : kept,
                                                 wanted->length, wanted->other, wanted->other_length, err)) &&
           (!why || difference_say_why(difference, why, err));
}

static bool report(verifier_t *verifier, difference_kind_t kind, const expected_t *wanted, err_t *err) {
    difference_t difference = difference_at(verifier, kind, &wanted->place);
    if (!differences_wants(verifier->found, &difference) || describe(verifier, &difference, wanted, err))
        return differences_add(verifier->found, &difference, err);
    difference_free(&difference);
    return false;
}

/* A later record may have replaced it: that is judged at the end. */
static bool note_found(verifier_t *verifier, last_found_t what, const expected_t *wanted, err_t *err) {
    last_wins_t *last = &verifier->block_last;
    const difference_kind_t kind = what == LAST_MISSING ? DIFFERENCE_MISSING : DIFFERENCE_CHANGED;
    difference_t difference = difference_at(verifier, kind, &wanted->place);
    const bool detail =
        what != LAST_EQUAL && verifier->last.detail_count + last->detail_count < LAST_MOST_DETAILS;
    const last_record_t record = {.hash = wanted->hash,
                                  .offset = wanted->place.offset,
                                  .file = (uint32_t)difference.file,
                                  .found = what};
    if (!detail || describe(verifier, &difference, wanted, err))
        return last_wins_note(last, &record, detail ? &difference : NULL, err);
    difference_free(&difference);
    return false;
}

/* Counts a known reject: another document has its `_id`, or the server has refused it. Whether the document under its
 * `_id` is right is judged by another record, if by any. */
static bool take_reject(verifier_t *verifier, const place_t *place, err_t *err) {
    const bool fixed = was_fixed(verifier, place);
    verifier->look.expected--;
    verifier->look.rejected += !fixed;
    verifier->look.left_out +=
        entry_fixes(entry_of(verifier), place->offset, place->identity, 0).state == FIX_LEFT_OUT;
    return !fixed || await_fix(verifier, place, err);
}

static bool take_found(verifier_t *verifier, const expected_t *wanted, err_t *err) {
    const place_t *place = &wanted->place;
    const existing_t existing = verifier->inspection->existing;
    verifier->look.same += wanted->same;
    const bool rejected =
        !wanted->same && !place->why && is_known_reject(verifier, place); /* why: it was fixed */
    if (rejected && (wanted->others || was_fixed(verifier, place)))
        return take_reject(verifier, place, err);
    if (!wanted->same && place->open) {
        verifier_count_unloaded(verifier);
        return true;
    }
    if ((wanted->same || wanted->others) &&
        !verified_ids_note(&verifier->block_ids,
                           wanted->same ? wanted->hash : id_hash(wanted->other, wanted->other_length), err))
        return false;
    if (wanted->same && existing == EXISTING_REPLACE && !note_found(verifier, LAST_EQUAL, wanted, err))
        return false;
    if (wanted->same)
        return !wanted->others || report(verifier, DIFFERENCE_DUPLICATED, wanted, err);
    if (existing == EXISTING_REPLACE)
        return note_found(verifier, wanted->others ? LAST_CHANGED : LAST_MISSING, wanted, err);
    if (!wanted->others || existing != EXISTING_KEEP)
        return report(verifier, wanted->others ? DIFFERENCE_CHANGED : DIFFERENCE_MISSING, wanted, err);
    verifier->look.expected--;
    verifier->look.kept++;
    return true;
}

bool verifier_ask_by_id(verifier_t *verifier, err_t *err) {
    by_id_t *by_id = verifier->by_id;
    bool ok = ask_server(by_id, verifier->target, &verifier->look.seen, &verifier->look.stored_bytes, err);
    for (uint32_t i = 0; ok && i < by_id->count; i++)
        ok = take_found(verifier, &by_id->wanted[i], err);
    by_id_clear(by_id);
    return ok;
}

/* ---- what is expected ---- */

bool verifier_expect_by_id(verifier_t *verifier, const uint8_t *document, uint32_t length, err_t *err) {
    const place_t place = place_of(verifier);
    if (!add(verifier->by_id, &place, document, length, err))
        return false;
    verifier_let_go(verifier); /* by_id has what it needs */
    return !is_full(verifier->by_id) || verifier_ask_by_id(verifier, err);
}

bool verifier_expect_fix(verifier_t *verifier, err_t *err) {
    const place_t place = place_of(verifier);
    return !was_fixed(verifier, &place) || await_fix(verifier, &place, err);
}
