/* check: what must be true, seen from outside. It knows everything, and nothing of how the program decides.
 */
#include "format/record/record_id.h"
#include "sim.h"

#include <stdarg.h>
#include <stdio.h>

void sim_fail(world_t *world, const char *what, const char *format, ...) {
    if (world->failed)
        return;
    va_list args;
    va_start(args, format);
    world->failed = true;
    snprintf(world->what, sizeof world->what, "%s", what);
    vsnprintf(world->why, sizeof world->why, format, args);
    va_end(args);
    TRACE(world, "WRONG: %s: %s", what, world->why);
}

void sim_trace(const world_t *world, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const actor_t *actor = world->current;
    char who[32] = "world";
    if (actor)
        snprintf(who, sizeof who, "load %u %s", actor->load->id.bytes[0], actor->name);
    printf("%7.2f  %-16s ", (double)world->now / SIM_TICK, who);
    vprintf(format, args);
    printf("\n");
    va_end(args);
}

/* ---- what is there ---- */

static const input_t *input_of_path(const world_t *world, const char *path) {
    const char *last = strrchr(path, '/');
    return &world->inputs[(last ? last[6] : path[5]) - '0'];
}

static const entry_t *find_entry(const world_t *world, uint32_t ordinal) {
    const entries_t *entries = &world->server.entries;
    for (size_t i = 0; i < entries->count; i++)
        if (entries->entries[i].ordinal == ordinal)
            return &entries->entries[i];
    return NULL;
}

/* The entry that has its number; NULL: none has. */
static const entry_t *entry_of(const world_t *world, const stored_t *one) {
    const entries_t *entries = &world->server.entries;
    const uint64_t number = record_id_voff(one->id);
    for (size_t i = 0; i < entries->count; i++)
        for (size_t j = 0; j < entries->entries[i].extent_count; j++) {
            const extent_t *extent = &entries->entries[i].extents[j];
            if (number >= extent->base && number - extent->base < extent->length)
                return &entries->entries[i];
        }
    return NULL;
}

/* A document of this record, in this state or in a later one in which it is longer, where it belongs. */
static const stored_t *find_document(const world_t *world, const entry_t *entry, const input_t *input,
                                     const record_t *record, uint32_t format) {
    const uint64_t offset = content_offset(input, record);
    uint64_t number;
    if (!entry_number(entry, offset, &number))
        return NULL;
    const int64_t id = record_id_make(record_id_lane(entry->ordinal, offset), number);
    const documents_stored_t *documents = &world->server.documents;
    for (uint32_t i = 0; i < documents->count; i++) {
        const stored_t *one = &documents->at[i];
        const document_parts_t parts = document_parts(one->document);
        if (one->id == id && !one->orphan && parts.input == input->number && parts.format == format &&
            !parts.fix && parts.start == record->start && parts.length >= record->length &&
            parts.variant == record->variant && (one->committed || world->server.topology == KIND_STANDALONE))
            return one;
    }
    return NULL;
}

/* Not by the production code, which may be wrong. */
static bool is_known(const fix_mark_t *fixes, size_t count, uint64_t offset, uint64_t hash) {
    for (size_t i = 0; i < count; i++)
        if (fixes[i].offset == offset && fixes[i].hash == hash)
            return true;
    return false;
}

/* Of the record with this hash, at this place? */
static bool is_known_of(const fix_mark_t *fixes, size_t count, uint64_t offset, uint64_t of, uint64_t hash) {
    for (size_t i = 0; i < count; i++)
        if (fixes[i].offset == offset && fixes[i].of == of && fixes[i].hash == hash)
            return true;
    return false;
}

/* of: the hash of the record that was rejected. */
static const fix_mark_t *answer_of(const entry_t *entry, uint64_t offset, uint64_t of) {
    for (size_t i = 0; i < entry->fix_count; i++)
        if (entry->fixes[i].offset == offset && entry->fixes[i].of == of && entry->fixes[i].confirmed)
            return &entry->fixes[i];
    return NULL;
}

static bool has_any_fix(const entry_t *entry, uint64_t offset) {
    for (size_t i = 0; i < entry->fix_count; i++)
        if (entry->fixes[i].offset == offset)
            return true;
    return false;
}

/* A document that a person's fix of the record at this place has made, and that the catalog knows. With before: it was
 * stored before this moment. */
static const stored_t *find_fix(const world_t *world, const entry_t *entry, uint64_t offset, int64_t before) {
    uint64_t number;
    if (!world->retries || !entry_number(entry, offset, &number))
        return NULL;
    const int64_t id = record_id_make(record_id_lane(entry->ordinal, offset), number);
    const documents_stored_t *documents = &world->server.documents;
    for (uint32_t i = 0; i < documents->count; i++) {
        const stored_t *one = &documents->at[i];
        if (one->id == id && !one->orphan && one->at < before && document_parts(one->document).fix &&
            (one->committed || world->server.topology == KIND_STANDALONE) &&
            is_known(entry->fixes, entry->fix_count, offset, sim_bson_hash(id, one->document)))
            return one;
    }
    return NULL;
}

static const reject_mark_t *mark_of(const entry_t *entry, uint64_t offset) {
    for (size_t i = 0; i < entry->piece_count; i++)
        for (size_t j = 0; j < entry->pieces[i].reject_count; j++)
            if (entry->pieces[i].rejects[j].offset == offset)
                return &entry->pieces[i].rejects[j];
    return NULL;
}

static bool is_marked(const entry_t *entry, uint64_t offset) {
    return mark_of(entry, offset) != NULL;
}

/* ---- no record twice ---- */

/* Of an input that was taken out of the catalog: check_tombstones looks after these. */
static bool is_at_nobodys_place(const world_t *world, const stored_t *one) {
    const entry_t *entry = world->burial_count ? entry_of(world, one) : NULL;
    return entry && entry->removed;
}

/* Extents of real inputs are whole MiB; in here they end where the text does, and what lies behind that in the same block
 * is not read back. */
static bool is_split(const world_t *world, const stored_t *one) {
    const document_parts_t parts = document_parts(one->document);
    const entry_t *entry = entry_of(world, one);
    const uint64_t begin =
        parts.start * world->inputs[parts.input].unit / LEDGER_BLOCK_BYTES * LEDGER_BLOCK_BYTES;
    for (size_t i = 1; entry && i < entry->extent_count; i++)
        if (entry->extents[i].start > begin && entry->extents[i].start < begin + LEDGER_BLOCK_BYTES)
            return true;
    return false;
}

static void check_doubles(world_t *world) {
    const server_t *server = &world->server;
    const documents_stored_t *documents = &server->documents;
    for (uint32_t i = 0; i < documents->count; i++) {
        const stored_t *one = &documents->at[i];
        const document_parts_t parts = document_parts(one->document);
        const input_t *input = &world->inputs[parts.input];
        if (one->orphan || !input->named || is_at_nobodys_place(world, one))
            continue;
        for (uint32_t j = i + 1; j < documents->count; j++) {
            const stored_t *other = &documents->at[j];
            const document_parts_t others = document_parts(other->document);
            if (other->orphan || others.input != parts.input || others.start != parts.start ||
                is_at_nobodys_place(world, other))
                continue;
            /* not promised: another content of the same place, which comes after its sender's death, on
             * another shard */
            if (!server->by_id && one->document != other->document &&
                (one->late || other->late || is_split(world, one)))
                continue;
            sim_fail(world, "twice",
                     "a record of input %u at %u is there twice: %x and %x, _ids %lld and %lld", parts.input,
                     parts.start, one->document, other->document, (long long)one->id, (long long)other->id);
            return;
        }
    }
}

static const burial_t *find_burial(const world_t *world, uint32_t ordinal) {
    for (uint32_t i = 0; i < world->burial_count; i++)
        if (world->burials[i].ordinal == ordinal)
            return &world->burials[i];
    return NULL;
}

/* ---- what was said stays true ---- */

static void check_claims(world_t *world) {
    for (uint32_t i = 0; i < world->claim_count; i++) {
        const claim_t *claim = &world->claims[i];
        const input_t *input = &world->inputs[claim->input];
        const entry_t *entry = find_entry(world, claim->ordinal);
        if (!entry) {
            sim_fail(world, "truth", "entry %u of input %u, which was loaded, is gone", claim->ordinal,
                     claim->input);
            return;
        }
        for (uint32_t j = 0; j < claim->content->count; j++) {
            const record_t *record = &claim->content->records[j];
            if (record->kind == RECORD_FILTERED)
                continue;
            if (record->kind == RECORD_GOOD && find_document(world, entry, input, record, claim->format))
                continue;
            if (claim->rejected >> j & 1 || find_fix(world, entry, content_offset(input, record), INT64_MAX))
                continue;
            sim_fail(world, "truth",
                     "slot %u, run %u said %d, but the record of input %u at %u is not there%s", claim->slot,
                     claim->run, claim->rejected ? 2 : 0, claim->input, record->start,
                     record->kind == RECORD_GOOD ? "" : " (it is a reject)");
            return;
        }
    }
}

/* Those of this load's inputs that nobody has fixed, as it knows them. */
static bool is_open(const entry_t *entry, uint64_t offset) {
    const reject_mark_t *mark = mark_of(entry, offset);
    const fix_mark_t *answer = mark ? answer_of(entry, offset, mark->hash) : NULL;
    for (size_t i = 0; mark && i < entry->piece_count; i++)
        for (size_t j = 0; j < entry->pieces[i].reject_count; j++)
            if (entry->pieces[i].rejects[j].offset == offset &&
                (!answer ||
                 (answer->hash != FIX_NOTHING && answer->generation < entry->pieces[i].generation)))
                return true;
    return false;
}

/* What somebody else removes is not asked for, but by a load with --reload-missing. */
static bool knows_what_is_missing(const world_t *world, const sim_load_t *load) {
    return !world->emptied || (load->rate == SIM_RATE_OF_AGAIN && load->began > world->emptied);
}

/* A load that says 0 or 2 has asked for all of its inputs after its last write, or that write has completed them. */
static void check_asked(world_t *world, const sim_load_t *load, uint32_t ordinal) {
    const burial_t *burial = find_burial(world, ordinal);
    if (burial && burial->buried < load->wrote)
        sim_fail(world, "status", "load %u said %d, but its entry %u was removed before its last write",
                 load->id.bytes[0], load->status, ordinal);
}

uint64_t check_open_rejects(const sim_load_t *load) {
    uint64_t open = 0;
    for (size_t i = 0; i < load->ledger.input_count; i++)
        open += entry_open_rejects(&load->ledger.inputs[i].entry);
    return open;
}

void check_said(world_t *world, sim_load_t *load) {
    uint64_t open = 0;
    /* what was dropped while or after the load asked for the last time is not its lie (it asks by two
     * commands) */
    if (load->drops_seen_before != world->drops || load->command.unsafe ||
        !knows_what_is_missing(world, load))
        return;
    for (uint32_t i = 0; i < load->command.input_count && world->claim_count < SIM_CLAIMS; i++) {
        if (load->seen[i]->damaged)
            continue; /* nobody who reads that to its end says 0, and who does not has not seen it */
        /* what was forgotten since the load asked for the last time is not its lie */
        const entry_t *entry = find_entry(world, load->ledger.inputs[i].entry.ordinal);
        if (!entry || entry->removed) {
            check_asked(world, load, load->ledger.inputs[i].entry.ordinal);
            continue;
        }
        claim_t *claim = &world->claims[world->claim_count++];
        *claim = (claim_t){.input = load->command.inputs[i],
                           .format = load->command.format,
                           .ordinal = entry->ordinal,
                           .content = load->seen[i],
                           .slot = load->slot,
                           .run = load->run};
        for (uint32_t j = 0; j < claim->content->count; j++) {
            const uint64_t offset = content_offset(&world->inputs[claim->input], &claim->content->records[j]);
            if (is_marked(&load->ledger.inputs[i].entry, offset))
                claim->rejected |= 1u << j;
            if (load->status == STATUS_OK && is_open(&load->ledger.inputs[i].entry, offset))
                sim_fail(world, "status", "a load with rejects said 0");
            const reject_mark_t *mark = mark_of(&load->ledger.inputs[i].entry, offset);
            const fix_mark_t *answer =
                mark ? answer_of(&load->ledger.inputs[i].entry, offset, mark->hash) : NULL;
            if (claim->rejected >> j & 1 && !is_open(&load->ledger.inputs[i].entry, offset) && answer &&
                answer->hash != FIX_NOTHING && !find_fix(world, entry, offset, INT64_MAX))
                sim_fail(world, "status",
                         "a load counts a record of input %u at %u as fixed, but no fix is there",
                         claim->input, claim->content->records[j].start);
        }
    }
    for (size_t i = 0; i < load->ledger.input_count; i++) {
        const entry_t *entry = &load->ledger.inputs[i].entry;
        for (size_t j = 0; j < entry->piece_count; j++)
            for (size_t k = 0; k < entry->pieces[j].reject_count; k++)
                open += is_open(entry, entry->pieces[j].rejects[k].offset);
    }
    if (check_open_rejects(load) != open)
        sim_fail(world, "status", "a load counts %llu open rejects, but there are %llu",
                 (unsigned long long)check_open_rejects(load), (unsigned long long)open);
    world->dirty = true;
    for (size_t i = 0; i < load->ledger.input_count; i++) {
        const ledger_input_t *input = &load->ledger.inputs[i];
        for (size_t j = 0; j < input->entry.piece_count; j++) {
            const counts_t counts = piece_counts(&input->entry.pieces[j]);
            if (counts.read != counts.of[FATE_LOADED] + counts.of[FATE_THERE] + counts.of[FATE_REJECTED] +
                                   counts.of[FATE_FILTERED])
                sim_fail(world, "counts", "read %llu is not the sum", (unsigned long long)counts.read);
        }
    }
}

/* ---- done runs name what is there ---- */

/* The hash of the blocks [from, to) in a content; false: they are not blocks of it. */
static bool hash_of(const input_t *input, const content_t *content, uint64_t from, uint64_t to, bool in_parts,
                    uint64_t *hash, uint32_t *first, uint32_t *last) {
    *hash = 0;
    *first = *last = UINT32_MAX;
    for (uint32_t i = 0; i < content->count;) {
        const uint64_t block = content_block(input, &content->records[i]);
        uint32_t end = i + 1;
        while (end < content->count && content_block(input, &content->records[end]) == block)
            end++;
        if (block >= from && block < to) {
            if (*first == UINT32_MAX)
                *first = i;
            *last = end;
            if (in_parts && end == content->count && content->torn && end - i > 1)
                *hash += content_block_hash(input, content, i, end - 1) +
                         content_block_hash(input, content, end - 1, end);
            else
                *hash += content_block_hash(input, content, i, end);
        }
        i = end;
    }
    return *first != UINT32_MAX;
}

static uint32_t format_of(const world_t *world) {
    return world->server.header.format_digest && strcmp(world->server.header.format_digest, "two") == 0;
}

static bool check_run(world_t *world, const input_t *input, const entry_t *entry, const piece_t *piece,
                      uint64_t from, uint64_t to, uint64_t hash, bool tail, uint64_t *read) {
    for (uint32_t i = input->count; i-- > 0;) {
        const content_t *content = &input->states[i];
        uint64_t its_hash;
        uint32_t first, last;
        if (!hash_of(input, content, from, to, tail, &its_hash, &first, &last) || its_hash != hash)
            continue;
        for (uint32_t j = first; j < last; j++) {
            const record_t *record = &content->records[j];
            ++*read;
            if (record->kind == RECORD_FILTERED || is_marked(entry, content_offset(input, record)) ||
                find_fix(world, entry, content_offset(input, record), INT64_MAX) ||
                (record->kind == RECORD_GOOD && find_document(world, entry, input, record, format_of(world))))
                continue;
            sim_fail(world, "done",
                     "entry %u says that blocks [%llu, %llu) are done, but the record at %u is not there",
                     entry->ordinal, (unsigned long long)from, (unsigned long long)to, record->start);
            return false;
        }
        return true;
    }
    if (!piece->modified_ns)
        return true; /* of two copies that differ, which the catalog knows */
    sim_fail(world, "hash", "entry %u: the hash of blocks [%llu, %llu) is that of no content", entry->ordinal,
             (unsigned long long)from, (unsigned long long)to);
    return false;
}

/* Only what cannot be loaded is a reject: the one that reads it says so, and nobody else's mistake makes it one. But what
 * an old primary shows of a record that was corrected since is another document, if the version is not known any more
 * that had cut it off. */
static void check_rejects(world_t *world, const input_t *input, const piece_t *piece) {
    for (size_t i = 0; i < piece->reject_count && input->only_grew && !world->showed_replaced; i++) {
        bool may_be = false;
        for (uint32_t j = 0; j < input->count; j++) {
            const record_t *record =
                content_at(&input->states[j], (uint32_t)(piece->rejects[i].offset / input->unit));
            may_be |= record && record->kind != RECORD_GOOD;
        }
        if (!may_be)
            sim_fail(world, "reject", "a good record of input %u at %llu is a reject", input->number,
                     (unsigned long long)(piece->rejects[i].offset / input->unit));
    }
}

static void check_piece(world_t *world, const input_t *input, const entry_t *entry, const piece_t *piece) {
    uint64_t read = 0;
    for (size_t i = 0; i < piece->done.count; i++) {
        const done_run_t *run = &piece->done.runs[i];
        if (!check_run(world, input, entry, piece, run->from, run->to, run->hash, false, &read))
            return;
    }
    if (read != piece->counts.read && piece->modified_ns) {
        sim_fail(world, "counts", "entry %u: %llu records are done, %llu were counted", entry->ordinal,
                 (unsigned long long)read, (unsigned long long)piece->counts.read);
        return;
    }
    check_rejects(world, input, piece);
    const tail_t *tail = &piece->tail;
    read = 0;
    if (piece->complete && tail->from < tail->to && done_runs_find(&piece->done, tail->from)) {
        sim_fail(world, "counts", "entry %u: its last block is counted twice", entry->ordinal);
        return;
    }
    if (piece->complete && tail->from != tail->to &&
        !check_run(world, input, entry, piece, tail->from, tail->to, tail->hash, true, &read))
        return;
    const counts_t counts = piece_counts(piece);
    const bool is_grown =
        piece->to == UINT64_MAX && piece->complete < entry->version; /* and not done again */
    if (counts.read !=
        counts.of[FATE_LOADED] + counts.of[FATE_THERE] + counts.of[FATE_REJECTED] + counts.of[FATE_FILTERED])
        sim_fail(world, "counts", "entry %u: read %llu is not the sum", entry->ordinal,
                 (unsigned long long)counts.read);
    if (counts.of[FATE_REJECTED] != piece->reject_count && !world->failed && piece->complete && !is_grown &&
        load_id_is_nobody(&piece->owner)) /* else those of the tail are noted before they are counted */
        sim_fail(world, "counts", "entry %u: %llu rejects, %zu are noted", entry->ordinal,
                 (unsigned long long)counts.of[FATE_REJECTED], piece->reject_count);
}

static bool is_usual(const server_t *server) {
    return server->exists && server->has_header && memcmp(server->header.uuid, server->uuid, STORE_UUID) == 0;
}

static void check_done(world_t *world) {
    const server_t *server = &world->server;
    if (!is_usual(server) || world->emptied)
        return;
    for (size_t i = 0; i < server->entries.count && !world->failed; i++) {
        const entry_t *entry = &server->entries.entries[i];
        const input_t *input = input_of_path(world, entry->path);
        for (size_t j = 0; j < entry->piece_count && !entry->removed; j++) {
            const piece_t *piece = &entry->pieces[j];
            if (piece->from != (j ? entry->pieces[j - 1].to : 0) ||
                (j + 1 == entry->piece_count) != (piece->to == UINT64_MAX))
                sim_fail(world, "pieces", "entry %u: its pieces are not its whole", entry->ordinal);
            if (piece->generation == server->header.generation && !piece->unsafe && !world->failed)
                check_piece(world, input, entry, piece);
        }
    }
}

/* ---- inputs that were removed ---- */

/* It is taken out of the catalog: by somebody who owns all of it, and with all of its documents, or when it has none. */
void check_burial(world_t *world, const entry_t *entry, const entry_change_t *change) {
    const documents_stored_t *documents = &world->server.documents;
    for (size_t i = 0; i < entry->piece_count; i++)
        for (uint32_t j = 0; j < world->load_count; j++) {
            const sim_load_t *load = &world->loads[j];
            if (load->state == LOAD_RUNS && !load->disturbed && !load_id_equal(&load->id, &change->owner) &&
                load_id_equal(&load->id, &entry->pieces[i].owner))
                sim_fail(world, "burial", "entry %u is removed while load %u works on it", entry->ordinal,
                         load->id.bytes[0]);
        }
    for (uint32_t i = 0; !change->remains && i < documents->count; i++)
        if (!documents->at[i].orphan && !documents->at[i].late && entry_of(world, &documents->at[i]) == entry)
            sim_fail(world, "burial", "entry %u is forgotten, but it has documents", entry->ordinal);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < world->claim_count; i++)
        if (world->claims[i].ordinal != entry->ordinal)
            world->claims[kept++] = world->claims[i];
    world->claim_count = kept;
    kept = 0;
    for (uint32_t i = 0; i < world->answered_count; i++)
        if (world->answered[i].ordinal != entry->ordinal)
            world->answered[kept++] = world->answered[i];
    world->answered_count = kept;
    if (!find_burial(world, entry->ordinal) && world->burial_count < SIM_BURIALS)
        world->burials[world->burial_count++] = (burial_t){.ordinal = entry->ordinal,
                                                           .buried = world->steps,
                                                           .noted = world->steps,
                                                           .at = world->now,
                                                           .documents = change->remains};
}

/* Documents are only removed where nobody misses them. */
void check_removed(world_t *world, const stored_t *one) {
    const entry_t *entry = entry_of(world, one);
    if (entry && !entry->removed)
        sim_fail(world, "removed", "document %x of entry %u is removed, which is in the catalog",
                 one->document, entry->ordinal);
}

/* A removal that has ended left nothing, but what came late: after its sender's death, and more than a lease after the
 * input was taken out of the catalog (of the shortest by which one may have counted). */
static void check_tombstones(world_t *world) {
    const documents_stored_t *documents = &world->server.documents;
    for (uint32_t i = 0; i < documents->count; i++) {
        const stored_t *one = &documents->at[i];
        const entry_t *entry = one->orphan ? NULL : entry_of(world, one);
        const burial_t *burial =
            entry && entry->removed && !entry->remains ? find_burial(world, entry->ordinal) : NULL;
        if (!burial)
            continue;
        if (!one->late)
            sim_fail(world, "left", "document %x of entry %u is there after its removal", one->document,
                     entry->ordinal);
        else if (burial->documents && !world->jumps && one->at < burial->at + SIM_LEASE * 4 / 5)
            sim_fail(world, "left",
                     "document %x came in time for the removal of entry %u, and is still there",
                     one->document, entry->ordinal);
    }
}

/* ---- what a person has fixed ---- */

/* Only what is rejected, or was until it was fixed: by its place and its bytes. */
void check_counts(world_t *world, const entry_t *entry, const rejected_t *rejected) {
    bool any = false;
    for (size_t i = 0; i < entry->piece_count; i++)
        for (size_t j = 0; j < entry->pieces[i].reject_count; j++) {
            const reject_mark_t *mark = &entry->pieces[i].rejects[j];
            if (mark->offset != rejected->offset)
                continue;
            any = true;
            if (mark->hash != rejected->hash)
                sim_fail(world, "standing",
                         "another record of entry %u at %u is rejected than the one that counts",
                         entry->ordinal, rejected->record.start);
        }
    if (!any && !answer_of(entry, rejected->offset, rejected->hash) && !has_any_fix(entry, rejected->offset))
        sim_fail(world, "standing", "no record of entry %u at %u is rejected, but its fix counts",
                 entry->ordinal, rejected->record.start);
}

/* A fix is in the catalog before it is in the collection. */
void check_fix(world_t *world, const packet_t *message, int64_t id, uint32_t document, bool late) {
    const entry_t *entry = find_entry(world, message->ordinal);
    const uint64_t offset =
        document_parts(document).start * world->inputs[document_parts(document).input].unit;
    if ((world->server.by_id || !late) && entry && !entry->removed &&
        !is_known(entry->fixes, entry->fix_count, offset, sim_bson_hash(id, document)))
        sim_fail(world, "fix", "a fix was sent that the catalog does not know");
}

/* Not promised: a message that comes after its sender's death may bring another fix of a record to another shard, and
 * one of both is not known then. */
static bool is_beside_late(const server_t *server, const stored_t *one) {
    bool late = one->late;
    for (uint32_t i = 0; i < server->documents.count; i++)
        late |= server->documents.at[i].id == one->id && server->documents.at[i].late;
    return late && !server->by_id;
}

/* What is there is known, and what answers a reject is there. */
static void check_fixes(world_t *world) {
    const server_t *server = &world->server;
    const documents_stored_t *documents = &server->documents;
    if (!is_usual(server))
        return;
    for (uint32_t i = 0; i < documents->count; i++) {
        const stored_t *one = &documents->at[i];
        const document_parts_t parts = document_parts(one->document);
        const entry_t *entry = parts.fix && !one->orphan ? entry_of(world, one) : NULL;
        if (entry && !entry->removed && !is_beside_late(server, one) &&
            !is_known(entry->fixes, entry->fix_count, parts.start * world->inputs[parts.input].unit,
                      sim_bson_hash(one->id, one->document)))
            sim_fail(world, "fix", "a fix of entry %u at %u is there that the catalog does not know",
                     entry->ordinal, parts.start);
    }
    for (size_t i = 0; i < server->entries.count && !world->emptied; i++) {
        const entry_t *entry = &server->entries.entries[i];
        for (size_t j = 0; j < entry->fix_count && !entry->removed; j++)
            if (entry->fixes[j].confirmed && entry->fixes[j].generation == server->header.generation &&
                entry->fixes[j].hash != FIX_NOTHING &&
                !find_fix(world, entry, entry->fixes[j].offset, INT64_MAX))
                sim_fail(world, "answer", "entry %u has a confirmed fix at %llu, which is not there",
                         entry->ordinal, (unsigned long long)entry->fixes[j].offset);
    }
}

static void check_retried(world_t *world) {
    for (uint32_t i = 0; i < world->answered_count; i++) {
        const answered_t *said = &world->answered[i];
        const entry_t *entry = find_entry(world, said->ordinal);
        const stored_t *there = entry ? find_fix(world, entry, said->offset, INT64_MAX) : NULL;
        /* who has asked an old primary, and did not find it, says that it is gone: then --retry finds it again */
        if (there && there->late)
            continue;
        const reject_mark_t *mark = entry ? mark_of(entry, said->offset) : NULL;
        if (!entry || !answer_of(entry, said->offset, said->of) ||
            (mark && mark->hash == said->of && is_open(entry, said->offset)))
            sim_fail(world, "answered",
                     "slot %u, run %u said that the reject of entry %u at %llu is fixed, but it is open",
                     said->slot, said->run, said->ordinal, (unsigned long long)said->offset);
        else if (said->document && !there)
            sim_fail(world, "answered",
                     "slot %u, run %u said that the fix of entry %u at %llu is there, but it is not",
                     said->slot, said->run, said->ordinal, (unsigned long long)said->offset);
    }
}

/* A load has read this record's block back, and rejects it: not where a fix is that it knows. */
void check_rejected_again(world_t *world, const task_t *task, uint32_t ordinal, uint64_t offset,
                          uint64_t of) {
    const entry_t *entry = find_entry(world, ordinal);
    const stored_t *one = entry && !entry->removed ? find_fix(world, entry, offset, task->began_at) : NULL;
    if (task->epoch > 1 && one && !one->late && world->server.by_id &&
        is_known_of(task->fixes, task->fix_count, offset, of, sim_bson_hash(one->id, one->document)))
        sim_fail(world, "rejected again", "a record of entry %u at %llu, which was fixed, is rejected again",
                 ordinal, (unsigned long long)offset);
}

/* A --retry has ended with 0 or 2. says: that this record is fixed now (document), or left out. */
void check_answered(world_t *world, const sim_load_t *load, const entry_t *entry, uint64_t offset,
                    uint64_t of, bool says, bool document) {
    const entry_t *now = find_entry(world, entry->ordinal);
    if (!now || now->removed || !is_usual(&world->server) || load->drops_seen_before != world->drops)
        return;
    const stored_t *there = find_fix(world, now, offset, load->began_at);
    if (world->calm && !answer_of(now, offset, of) && there &&
        is_known_of(now->fixes, now->fix_count, offset, of, sim_bson_hash(there->id, there->document)))
        sim_fail(world, "answered",
                 "the fix of entry %u at %llu was there before load %u, which has not confirmed it",
                 now->ordinal, (unsigned long long)offset, load->id.bytes[0]);
    if (says && !world->emptied && world->answered_count < SIM_ANSWERED)
        world->answered[world->answered_count++] =
            (answered_t){now->ordinal, offset, of, document, load->slot, load->run};
    world->dirty = true;
}

/* The catalog says that documents of a removed input may be there. */
void check_noted(world_t *world, const entry_t *entry) {
    for (uint32_t i = 0; i < world->burial_count; i++)
        if (world->burials[i].ordinal == entry->ordinal)
            world->burials[i].noted = world->steps;
}

/* Documents of removed inputs that the catalog knew of when the command last read it are gone when that has ended well. */
void check_finished(world_t *world, const sim_load_t *load) {
    for (uint32_t i = 0; i < world->burial_count; i++) {
        const entry_t *entry = find_entry(world, world->burials[i].ordinal);
        if (entry && entry->remains && world->burials[i].noted < load->registered)
            sim_fail(world, "remains",
                     "load %u ended well, but documents of entry %u, which was removed before, are there",
                     load->id.bytes[0], entry->ordinal);
    }
}

void check_now(world_t *world) {
    world->dirty = false;
    check_doubles(world);
    if (!world->failed)
        check_claims(world);
    if (!world->failed)
        check_done(world);
    if (!world->failed && world->burial_count)
        check_tombstones(world);
    if (!world->failed && world->retries) {
        check_fixes(world);
        check_retried(world);
    }
}

/* ---- single events ---- */

/* What was acknowledged by one member only is not proven by a load that does nothing of that kind. And nobody undoes what
 * was done for the collection as it is now. */
void check_progress(world_t *world, const packet_t *message, const entry_t *before,
                    const entry_change_t *change) {
    if (change->progress && change->progress->unsafe && !world->commands[message->slot].unsafe)
        sim_fail(world, "unsafe", "load %u, without --unsafe, goes by what --unsafe has done of entry %u",
                 message->load.bytes[0], change->ordinal);
    if (change->progress && change->progress->generation < before->pieces[change->piece].generation)
        sim_fail(world, "generation", "load %u undoes what was done of entry %u for a newer collection",
                 message->load.bytes[0], change->ordinal);
}

/* The entry of a load that is alive, and works on it, is not taken away. (A forget that began right before the drop finds
 * nothing that it could do any more.) */
void check_gone(world_t *world, const entry_t *entry) {
    for (size_t i = 0; i < entry->piece_count; i++)
        for (uint32_t j = 0; j < world->load_count; j++) {
            const sim_load_t *load = &world->loads[j];
            if (load->state == LOAD_RUNS && !load->disturbed && !load->command.forget &&
                load_id_equal(&load->id, &entry->pieces[i].owner))
                sim_fail(world, "gone", "entry %u is removed by a drop while load %u works on it",
                         entry->ordinal, load->id.bytes[0]);
        }
}

/* Who sends something had taken the piece. */
void check_right(world_t *world, const packet_t *message) {
    for (uint32_t i = 0; i < world->grant_count && i < SIM_GRANTS; i++) {
        const grant_t *grant = &world->grants[i];
        if (grant->ordinal == message->ordinal && grant->piece == message->piece &&
            grant->epoch == message->epoch && load_id_equal(&grant->load, &message->load))
            return;
    }
    if (world->grant_count <= SIM_GRANTS)
        sim_fail(world, "right", "load %u sends something of entry %u that it never took",
                 message->load.bytes[0], message->ordinal);
}

static void grant(world_t *world, grant_t grant) {
    world->grants[world->grant_count++ % SIM_GRANTS] = grant;
}

/* A new input, of which some pieces may be taken by who registers it, and by nobody else. */
void check_added(world_t *world, const packet_t *message, const entry_t *entry) {
    for (uint32_t i = 0; i < entry->piece_count; i++) {
        const piece_t *piece = &entry->pieces[i];
        const bool is_taken = !load_id_is_nobody(&piece->owner);
        if (piece->epoch != is_taken || (is_taken && !load_id_equal(&piece->owner, &message->load)))
            sim_fail(world, "added", "entry %u is registered with an owner %u and epoch %u", entry->ordinal,
                     piece->owner.bytes[0], piece->epoch);
        if (is_taken)
            grant(world, (grant_t){entry->ordinal, i, piece->epoch, piece->owner});
    }
}

/* An owner that is alive, and whose beats were never late, keeps its pieces. */
void check_take(world_t *world, const entry_change_t *change, const piece_t *before) {
    if (change->new_epoch <= before->epoch)
        sim_fail(world, "epoch", "a take did not raise the epoch");
    grant(world, (grant_t){change->ordinal, change->piece, change->new_epoch, change->new_owner});
    if (load_id_is_nobody(&before->owner) || load_id_equal(&before->owner, &change->new_owner))
        return;
    for (uint32_t i = 0; i < world->load_count; i++) {
        const sim_load_t *load = &world->loads[i];
        if (load->state == LOAD_RUNS && load_id_equal(&load->id, &before->owner) && !load->disturbed)
            sim_fail(world, "take-over", "a piece was taken from load %u, which is alive", load->id.bytes[0]);
    }
}

/* Only a person can say that another collection is the one that was loaded. */
void check_new_uuid(world_t *world, const packet_t *message) {
    const catalog_header_t *header = &world->server.header;
    static const uint8_t none[STORE_UUID];
    const entries_t *entries = &world->server.entries;
    bool loaded = false;
    for (size_t i = 0; i < entries->count; i++)
        for (size_t j = 0; j < entries->entries[i].piece_count; j++) {
            const piece_t *piece = &entries->entries[i].pieces[j];
            loaded |= piece->generation == header->generation && (piece->complete || piece->done.count);
        }
    if (header->format && loaded && memcmp(header->uuid, none, STORE_UUID) != 0 &&
        !world->commands[message->slot].same_collection)
        sim_fail(world, "uuid", "another collection is taken for the one that was loaded");
}

/* A record that was cut off is in the catalog before it is in the collection. */
static bool is_noted(const input_t *input, const entry_t *entry, uint32_t start, uint32_t length) {
    bool torn = false, whole = false;
    for (uint32_t i = 0; i < input->count; i++) {
        const content_t *content = &input->states[i];
        const record_t *record = content_at(content, start);
        if (!record || record->length != length)
            continue;
        const bool cut = content->torn && record == &content->records[content->count - 1];
        torn |= cut;
        whole |= !cut;
    }
    for (uint32_t i = 0; i < entry->version_count; i++)
        if (entry->versions[i].torn.length && entry->versions[i].torn.offset == start * input->unit)
            return true;
    return !torn || whole;
}

/* Nobody drops what a load that is alive works on. */
void check_drop(world_t *world, const packet_t *message) {
    if (load_id_is_nobody(&world->server.header.dropping))
        sim_fail(world, "drop", "load %u drops the collection, but no drop is under way any more",
                 message->load.bytes[0]);
    for (uint32_t i = 0; i < world->load_count; i++) {
        const sim_load_t *load = &world->loads[i];
        if (load->state == LOAD_RUNS && load->opened && !load->disturbed &&
            !load_id_equal(&load->id, &message->load) &&
            memcmp(load->settings.uuid, world->server.uuid, STORE_UUID) == 0)
            sim_fail(world, "drop", "the collection is dropped while load %u works on it", load->id.bytes[0]);
    }
}

void check_insert(world_t *world, const packet_t *message, int64_t id, uint32_t document) {
    const document_parts_t parts = document_parts(document);
    const input_t *input = &world->inputs[parts.input];
    const entries_t *entries = &world->server.entries;
    const char *digest = world->server.header.format_digest;
    (void)message;
    if (!parts.fix && !content_makes(input, document)) {
        sim_fail(world, "made up", "document %x is of no record", document);
        return;
    }
    if (!digest || strcmp(digest, parts.format ? "two" : "one") != 0) {
        sim_fail(world, "format", "a document of another format than the collection's was stored");
        return;
    }
    for (size_t i = 0; i < entries->count; i++) {
        const entry_t *entry = &entries->entries[i];
        const uint64_t offset = parts.start * input->unit;
        uint64_t number;
        if (input_of_path(world, entry->path) == input && entry_number(entry, offset, &number) &&
            record_id_make(record_id_lane(entry->ordinal, offset), number) == id) {
            if (!parts.fix && !is_noted(input, entry, parts.start, parts.length))
                sim_fail(world, "torn", "a record that is cut off was sent before the catalog says so");
            return;
        }
    }
    sim_fail(world, "place", "_id %lld is in no extent of input %u", (long long)id, parts.input);
}

/* Two entries never have the same numbers. */
static void check_extents(world_t *world) {
    const entries_t *entries = &world->server.entries;
    for (size_t i = 0; i < entries->count; i++)
        for (size_t j = 0; j < entries->entries[i].extent_count; j++)
            for (size_t k = i; k < entries->count; k++)
                for (size_t l = k == i ? j + 1 : 0; l < entries->entries[k].extent_count; l++) {
                    const extent_t *a = &entries->entries[i].extents[j], *b = &entries->entries[k].extents[l];
                    if (a->base < b->base + b->length && b->base < a->base + a->length)
                        sim_fail(world, "extents", "entries %u and %u have the same numbers",
                                 entries->entries[i].ordinal, entries->entries[k].ordinal);
                }
}

void check_end(world_t *world) {
    check_now(world);
    if (!world->failed)
        check_extents(world);
}
