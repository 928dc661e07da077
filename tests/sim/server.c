/* server: what a message does when it is executed, and what happens to servers. The catalog is kept by a
 * majority, always: what was executed stays. The collection is where things get lost. */
#include "format/record/record_id.h"
#include "sim.h"

#include <stdio.h>

/* ---- documents ---- */

void server_begin(world_t *world) {
    server_t *server = &world->server;
    server->incarnation = 1;
}

uint8_t server_shard_of(const server_t *server, int64_t id, uint32_t document) {
    if (server->topology != KIND_SHARDED)
        return 0;
    const document_parts_t parts = document_parts(document);
    const uint32_t value = server->by_id
                               ? (uint32_t)(id >> 60) + (uint32_t)id / 131072
                               : parts.start + parts.length + parts.variant + parts.format + parts.fix;
    return (uint8_t)((value ^ server->flipped) & 1);
}

/* Of one shard; an orphan, too. */
static stored_t *find(documents_stored_t *documents, int64_t id, uint32_t shard) {
    for (uint32_t i = 0; i < documents->count; i++)
        if (documents->at[i].id == id && documents->at[i].shard == shard)
            return &documents->at[i];
    return NULL;
}

void server_commit(world_t *world, uint32_t shard) {
    documents_stored_t *documents = &world->server.documents;
    for (uint32_t i = 0; i < documents->count; i++)
        if (documents->at[i].shard == shard) {
            documents->at[i].committed = true;
            documents->at[i].old = 0;
        }
}

/* What was not committed is lost, from some moment on. */
static void lose_uncommitted(world_t *world, uint32_t shard) {
    documents_stored_t *documents = &world->server.documents;
    uint32_t open = 0, kept = 0;
    for (uint32_t i = 0; i < documents->count; i++)
        open += documents->at[i].shard == shard && !documents->at[i].committed;
    uint32_t stays = open ? choose(world->choices, CHOICE_DETAIL, open + 1) : 0;
    for (uint32_t i = 0; i < documents->count; i++) {
        stored_t *one = &documents->at[i];
        if (one->shard == shard && !one->committed) {
            if (stays) {
                stays--;
                one->committed = true;
            } else if (one->old) {
                one->document = one->old;
                one->old = 0;
                one->committed = true;
            } else {
                TRACE(world, "  document %x is lost", one->document);
                world->dirty = true;
                continue;
            }
        }
        documents->at[kept++] = *one;
    }
    documents->count = kept;
    world->dirty = true;
}

void server_fail_over(world_t *world, uint32_t shard) {
    server_t *server = &world->server;
    TRACE(world, "the primary of shard %u is another one now", shard);
    if (!server->stale[shard].active && chance(world->choices, CHOICE_DETAIL, 500)) {
        server->stale[shard].active = true;
        server->stale[shard].documents = server->documents;
    } else {
        server->stale[shard].active = false;
    }
    lose_uncommitted(world, shard);
}

void server_crash(world_t *world) {
    TRACE(world, "the server is killed and started again");
    world->server.incarnation++;
    lose_uncommitted(world, 0);
}

/* Everything moves to the other shard; what was there may be left as orphans. */
void server_migrate(world_t *world) {
    server_t *server = &world->server;
    documents_stored_t *documents = &server->documents;
    const bool leaves = chance(world->choices, CHOICE_DETAIL, 500);
    TRACE(world, "chunks move%s", leaves ? ", orphans stay" : "");
    uint32_t kept = 0;
    for (uint32_t i = 0; i < documents->count; i++)
        if (!documents->at[i].orphan)
            documents->at[kept++] = documents->at[i];
    documents->count = kept;
    server->flipped = !server->flipped;
    for (uint32_t i = 0; i < kept; i++) {
        stored_t *one = &documents->at[i];
        if (leaves && documents->count < SIM_DOCUMENTS) {
            documents->at[documents->count] = *one;
            documents->at[documents->count++].orphan = true;
        }
        one->shard ^= 1;
        one->committed = true;
    }
    server->stale[0].active = server->stale[1].active = false;
    world->dirty = true;
}

void server_drop(world_t *world) {
    server_t *server = &world->server;
    server->exists = false;
    server->documents.count = 0;
    server->stale[0].active = server->stale[1].active = false;
    memset(server->uuid, 0, sizeof server->uuid);
    world->drops++;
    world->claim_count = world->answered_count = 0;
    world->dirty = true;
}

/* Somebody restores a copy of some time ago, under another UUID: what came later is not there. */
void server_restore(world_t *world) {
    server_t *server = &world->server;
    documents_stored_t documents = server->documents;
    documents.count = choose(world->choices, CHOICE_DETAIL, documents.count + 1);
    TRACE(world, "the collection becomes what it was when it had %u documents", documents.count);
    server_drop(world);
    server->documents = documents;
    server->exists = true;
    server->uuid[0] = (uint8_t)++server->uuids;
    server_commit(world, 0);
    server_commit(world, 1);
}

/* Somebody removes some documents, and the catalog does not know. */
void server_empty(world_t *world) {
    documents_stored_t *documents = &world->server.documents;
    const uint32_t from = choose(world->choices, CHOICE_DETAIL, documents->count + 1);
    uint32_t kept = from;
    for (uint32_t i = from; i < documents->count; i++)
        if (chance(world->choices, CHOICE_DETAIL, 500))
            documents->at[kept++] = documents->at[i];
    TRACE(world, "somebody removes %u documents", documents->count - kept);
    documents->count = kept;
    world->server.stale[0].active = world->server.stale[1].active = false; /* they know of it */
    world->emptied = world->steps;
    world->claim_count = world->answered_count = 0;
}

void server_clean(world_t *world) {
    loads_t *loads = &world->server.loads;
    size_t kept = 0;
    for (size_t i = 0; i < loads->count; i++) {
        bool runs = false;
        for (uint32_t j = 0; j < world->load_count; j++)
            runs |=
                world->loads[j].state == LOAD_RUNS && load_id_equal(&world->loads[j].id, &loads->loads[i].id);
        if (runs)
            loads->loads[kept++] = loads->loads[i];
    }
    loads->count = kept;
    TRACE(world, "loads that are gone are not listed any more");
}

static bool is_this_collection(const server_t *server, const packet_t *message) {
    return server->exists && memcmp(server->uuid, message->uuid, STORE_UUID) == 0;
}

/* Is the piece another load's by now? Its former owner does not know, and is dead for everybody else. */
static bool is_taken_over(const server_t *server, const packet_t *message) {
    for (size_t i = 0; i < server->entries.count; i++) {
        const entry_t *entry = &server->entries.entries[i];
        if (entry->ordinal == message->ordinal && message->piece < entry->piece_count)
            return entry->removed || entry->pieces[message->piece].epoch != message->epoch;
    }
    return true;
}

static int insert_one(world_t *world, const packet_t *message, int64_t id, uint32_t document, uint32_t *shard,
                      bool *is_stale) {
    server_t *server = &world->server;
    const document_parts_t parts = document_parts(document);
    const input_t *input = &world->inputs[parts.input];
    *shard = server_shard_of(server, id, document);
    for (uint32_t i = 0; i < input->count; i++) {
        const record_t *record = content_at(&input->states[i], parts.start);
        if (record && record->kind == RECORD_REFUSED && !parts.fix)
            return 121;
    }
    if (server->pass_code && (parts.start & 1))
        return (int)server->pass_code;
    documents_stored_t *documents = &server->documents;
    if (server->stale[*shard].active && chance(world->choices, CHOICE_DETAIL, 400)) {
        documents = &server->stale[*shard].documents;
        *is_stale = true;
    }
    if (find(documents, id, *shard) || chance(world->choices, CHOICE_FAULT, world->rates.stray_duplicate))
        return 11000;
    if (documents->count == SIM_DOCUMENTS) {
        sim_fail(world, "documents", "there are more documents than a world has room for");
        return 0;
    }
    const sim_load_t *sender = &world->loads[message->slot];
    const bool late =
        sender->run != message->run || sender->state != LOAD_RUNS || is_taken_over(server, message);
    documents->at[documents->count++] =
        (stored_t){.id = id, .document = document, .shard = (uint8_t)*shard, .late = late, .at = world->now};
    check_insert(world, message, id, document);
    if (parts.fix && !*is_stale)
        check_fix(world, message, id, document, late);
    world->dirty = true;
    return 0;
}

static void insert(world_t *world, packet_t *message) {
    server_t *server = &world->server;
    message->code = is_this_collection(server, message) ? 0 : CODE_OTHER_COLLECTION;
    message->incarnation = server->incarnation;
    message->concern_failed = false;
    if (message->code)
        return;
    check_right(world, message);
    bool wrote[SIM_SHARDS] = {false}, any = false, is_stale = false;
    for (size_t i = 0; i < message->count; i++) {
        uint32_t shard;
        bool stale = false;
        message->codes[i] =
            insert_one(world, message, message->ids[i], message->documents[i], &shard, &stale);
        wrote[shard] |= !message->codes[i] && !stale;
        any |= !message->codes[i];
        is_stale |= stale && !message->codes[i];
        TRACE(world, "  _id %lld document %x: %d%s", (long long)message->ids[i], message->documents[i],
              message->codes[i], stale ? " (on a stale primary)" : "");
    }
    if (server->topology == KIND_STANDALONE)
        return; /* the journal comes later */
    /* a write concern that failed is hidden by routers where nothing was inserted */
    for (uint32_t i = 0; i < SIM_SHARDS; i++)
        if (wrote[i]) {
            if (chance(world->choices, CHOICE_FAULT, world->rates.commit_late))
                message->concern_failed = message->safe;
            else
                server_commit(world, i);
        }
    if (is_stale)
        message->concern_failed = message->safe;
    if (any && chance(world->choices, CHOICE_FAULT, world->rates.concern))
        message->concern_failed = true;
}

static void replace(world_t *world, packet_t *message) {
    documents_stored_t *documents = &world->server.documents;
    message->changed = 0;
    message->incarnation = world->server.incarnation;
    message->code = is_this_collection(&world->server, message) ? 0 : CODE_OTHER_COLLECTION;
    for (uint32_t i = 0; !message->code && i < documents->count; i++) {
        stored_t *one = &documents->at[i];
        if (one->id != message->ids[0] || one->document != message->old || one->orphan)
            continue;
        TRACE(world, "  _id %lld: %x becomes %x", (long long)one->id, message->old, message->documents[0]);
        one->old = one->committed ? one->document : one->old;
        one->document = message->documents[0];
        one->committed = false;
        message->changed = 1;
        world->dirty = true;
        if (world->server.topology != KIND_STANDALONE)
            server_commit(world, one->shard);
        return;
    }
}

static bool is_asked(const packet_t *message, const stored_t *one) {
    bool asked = message->by_range && one->id >= message->from_id && one->id <= message->to_id;
    for (size_t j = 0; !message->by_range && j < message->count; j++)
        asked |= one->id == message->ids[j];
    return asked;
}

static void add_found(packet_t *message, documents_stored_t *documents, bool majority, int only_shard) {
    for (uint32_t i = 0; i < documents->count; i++) {
        stored_t *one = &documents->at[i];
        if (!is_asked(message, one) || one->orphan || (only_shard >= 0 && one->shard != only_shard))
            continue;
        stored_t seen = *one;
        if (majority && !one->committed) {
            if (!one->old) {
                one->late = true; /* as good as a message that is still on its way */
                continue;
            }
            seen.document = one->old;
        }
        if (message->found_count < message->found_room)
            message->found[message->found_count++] = seen;
    }
}

/* What an old primary does not know yet is as good as a message that is still on its way. */
static void hide_newer(world_t *world, const packet_t *message, documents_stored_t *old, uint32_t shard) {
    documents_stored_t *documents = &world->server.documents;
    for (uint32_t i = 0; i < documents->count; i++) {
        stored_t *one = &documents->at[i];
        const stored_t *seen = find(old, one->id, shard);
        if (one->shard == shard && is_asked(message, one) && !(seen && seen->committed))
            one->late = true;
        if (one->shard == shard && is_asked(message, one) && seen && seen->document != one->document)
            world->showed_replaced = true;
    }
}

static void fetch(world_t *world, packet_t *message) {
    server_t *server = &world->server;
    message->found_count = 0;
    message->incarnation = server->incarnation;
    message->code = is_this_collection(server, message) ? 0 : CODE_OTHER_COLLECTION;
    if (message->code)
        return;
    if (server->topology == KIND_STANDALONE) {
        add_found(message, &server->documents, false, -1);
        return;
    }
    for (int shard = 0; shard < SIM_SHARDS; shard++) {
        const bool stale = server->stale[shard].active && chance(world->choices, CHOICE_DETAIL, 300);
        if (stale)
            hide_newer(world, message, &server->stale[shard].documents, (uint32_t)shard);
        add_found(message, stale ? &server->stale[shard].documents : &server->documents, true, shard);
    }
}

/* ---- removing ---- */

static bool has_number(const packet_t *message, const stored_t *one) {
    const uint64_t number = record_id_voff(one->id);
    return !one->orphan && number >= message->from_number && number < message->to_number;
}

static void remove_documents(world_t *world, packet_t *message) {
    static const uint8_t any[STORE_UUID];
    documents_stored_t *documents = &world->server.documents;
    const bool names = memcmp(message->uuid, any, STORE_UUID) != 0;
    uint32_t kept = 0, removed = 0;
    message->code = names && !is_this_collection(&world->server, message) ? CODE_OTHER_COLLECTION : 0;
    for (uint32_t i = 0; !message->code && i < documents->count; i++) {
        const stored_t *one = &documents->at[i];
        if (!has_number(message, one) || (message->most && removed == message->most)) {
            documents->at[kept++] = *one;
            continue;
        }
        TRACE(world, "  document %x is removed", one->document);
        check_removed(world, one);
        removed++;
    }
    if (!message->code)
        documents->count = kept;
    world->dirty = true;
}

static void look_for_documents(world_t *world, packet_t *message) {
    const documents_stored_t *documents = &world->server.documents;
    message->flag = false;
    for (uint32_t i = 0; i < documents->count; i++)
        message->flag |= has_number(message, &documents->at[i]);
}

/* ---- the catalog ---- */

static void copy_header(catalog_header_t *to, const catalog_header_t *from) {
    *to = *from;
    to->format = from->format ? strdup(from->format) : NULL;
    to->format_digest = from->format_digest ? strdup(from->format_digest) : NULL;
    to->filter = from->filter ? strdup(from->filter) : NULL;
}

static bool header_matches(const catalog_header_t *header, const header_change_t *change) {
    switch (change->kind) {
    case HEADER_TAKE_NUMBERS:
        return header->generation == change->generation && header->next_extent == change->next_extent &&
               header->next_ordinal == change->next_ordinal;
    case HEADER_BIND:
        return header->generation == change->generation && !header->format &&
               load_id_is_nobody(&header->dropping);
    case HEADER_WIDEN:
        return header->widened == change->widened && load_id_is_nobody(&header->dropping);
    case HEADER_BEGIN_DROP:
        return load_id_equal(&header->dropping, &change->dropping) && header->drops == change->drops;
    case HEADER_CANCEL_DROP:
        return load_id_equal(&header->dropping, &change->by);
    case HEADER_END_DROP:
        return load_id_equal(&header->dropping, &change->by) && header->next_ordinal == change->next_ordinal;
    case HEADER_NEW_UUID:
        return header->generation == change->generation && load_id_is_nobody(&header->dropping) &&
               !(change->unbound && header->format);
    case HEADER_BEGIN_REPLACING:
        return load_id_equal(&header->replacing, &change->replacing) && load_id_is_nobody(&header->dropping);
    case HEADER_END_REPLACING:
        return load_id_equal(&header->replacing, &change->by);
    case HEADER_APPEND:
        return header->generation == change->generation && load_id_is_nobody(&header->dropping);
    case HEADER_SYNC:
        return true;
    }
    return false;
}

static void change_header(world_t *world, packet_t *message) {
    catalog_header_t *header = &world->server.header;
    const header_change_t *change = message->header_change;
    message->flag = world->server.has_header && header_matches(header, change);
    if (!message->flag)
        return;
    switch (change->kind) {
    case HEADER_TAKE_NUMBERS:
        header->next_extent += change->extents;
        header->next_ordinal += change->ordinals;
        break;
    case HEADER_BIND:
        header->format = strdup(change->format);
        header->format_digest = strdup(change->format_digest);
        header->filter = strdup(change->filter);
        break;
    case HEADER_WIDEN:
        header->widened++;
        break;
    case HEADER_BEGIN_DROP:
        header->dropping = change->by;
        header->drops++;
        break;
    case HEADER_CANCEL_DROP:
        header->dropping = (load_id_t){{0}};
        break;
    case HEADER_END_DROP:
        catalog_header_free(&(catalog_header_t){
            .format = header->format, .format_digest = header->format_digest, .filter = header->filter});
        header->format = header->format_digest = header->filter = NULL;
        header->appends = false;
        header->replacing = (load_id_t){{0}};
        header->dropping = (load_id_t){{0}};
        header->generation = change->generation;
        header->first_ordinal = change->next_ordinal;
        memcpy(header->uuid, change->uuid, STORE_UUID);
        break;
    case HEADER_NEW_UUID:
        check_new_uuid(world, message);
        memcpy(header->uuid, change->uuid, STORE_UUID);
        header->generation++;
        break;
    case HEADER_BEGIN_REPLACING:
        header->replacing = change->by;
        break;
    case HEADER_END_REPLACING:
        header->replacing = (load_id_t){{0}};
        break;
    case HEADER_APPEND:
        header->appends = true;
        break;
    case HEADER_SYNC:
        break;
    }
    TRACE(world, "  header: extents %llu ordinals %llu format %s generation %u%s",
          (unsigned long long)header->next_extent, (unsigned long long)header->next_ordinal,
          header->format_digest ? header->format_digest : "none", header->generation,
          load_id_is_nobody(&header->dropping) ? "" : ", dropping");
    world->dirty = true;
}

static entry_t *find_entry(server_t *server, uint32_t ordinal) {
    for (size_t i = 0; i < server->entries.count; i++)
        if (server->entries.entries[i].ordinal == ordinal)
            return &server->entries.entries[i];
    return NULL;
}

static bool owns_all(const entry_t *entry, const load_id_t *owner) {
    for (size_t i = 0; i < entry->piece_count; i++)
        if (!load_id_equal(&entry->pieces[i].owner, owner))
            return false;
    return true;
}

static bool change_matches(const entry_t *entry, const entry_change_t *change) {
    if (change->sets_remains || change->adds_name)
        return entry->removed == change->sets_remains;
    if (change->removes && entry->removed)
        return false;
    if (change->piece >= entry->piece_count)
        return false;
    const piece_t *piece = &entry->pieces[change->piece];
    return load_id_equal(&piece->owner, &change->owner) && piece->epoch == change->epoch &&
           (!change->version || entry->version == change->version) &&
           (!change->only_piece || entry->piece_count == 1) &&
           (!change->owns_all || owns_all(entry, &change->owner)) &&
           (!change->no_extent_yet || entry->extent_count <= change->extent_at);
}

static void set_remains(world_t *world, entry_t *entry, bool remains) {
    if (remains && !entry->remains)
        check_noted(world, entry);
    entry->remains = remains;
}

/* One that is not there is made by a real server, and is nothing that anybody reads. */
static version_t *in_slot(entry_t *entry, uint32_t slot) {
    static version_t none;
    for (size_t i = 0; i < entry->version_count; i++)
        if (entry->versions[i].slot == slot)
            return &entry->versions[i];
    return &none;
}

static void apply(world_t *world, entry_t *entry, const entry_change_t *change) {
    err_t err;
    piece_t *piece = &entry->pieces[change->piece];
    if (change->sets_owner && !load_id_is_nobody(&change->new_owner))
        check_take(world, change, piece);
    if (change->progress) {
        piece_t copy = {0};
        piece_copy(&copy, change->progress, &err);
        copy.from = piece->from;
        copy.to = piece->to;
        copy.owner = piece->owner;
        copy.epoch = piece->epoch;
        piece_free(piece);
        *piece = copy;
    }
    if (change->sets_owner) {
        piece->owner = change->new_owner;
        piece->epoch = change->new_epoch;
        if (!change->progress && change->new_generation)
            piece->generation = change->new_generation;
    }
    if (change->new_version) {
        entry_put_version(entry, change->new_version, change->slot, &err);
        free(entry->key);
        entry->key = strdup(change->new_key);
    }
    if (change->torn)
        in_slot(entry, change->slot)->torn = *change->torn;
    if (change->sets_outgrown)
        entry->outgrown = change->version;
    for (uint32_t i = 0; i < change->uncompletes; i++)
        in_slot(entry, i)->completed_ns = 0;
    if (change->sets_completed)
        in_slot(entry, change->slot)->completed_ns = change->completed_ns;
    if (change->extent) {
        if (change->extent_at != entry->extent_count) {
            sim_fail(world, "extents", "an extent was written as number %zu of %zu", change->extent_at,
                     entry->extent_count);
            return;
        }
        entry_add_extent(entry, *change->extent, &err);
    }
    if (change->removes) {
        check_burial(world, entry, change);
        char key[40];
        snprintf(key, sizeof key, "removed/%u", entry->ordinal);
        free(entry->key);
        entry->key = strdup(key);
        entry->removed = true;
        entry->heirs = change->heirs;
    }
    if (change->adds_name && !entry_has_name(entry, change->adds_name))
        entry_add_name(entry, change->adds_name, &err);
    if (change->removes || change->sets_remains)
        set_remains(world, entry, change->remains);
    for (size_t i = 0; i < change->fix_count; i++)
        if (change->reopens)
            entry_reopen_fix(entry, &change->fixes[i]);
        else
            entry_add_fix(entry, change->fixes[i], &err);
    TRACE(world, "  entry %u piece %u: owner %u epoch %u version %u complete %u, %zu runs, %zu rejects%s%s%s",
          entry->ordinal, change->piece, piece->owner.bytes[0], piece->epoch, entry->version, piece->complete,
          piece->done.count, piece->reject_count, change->torn ? ", torn" : "",
          change->extent ? ", another extent" : "",
          entry->remains   ? ", removed, documents remain"
          : entry->removed ? ", removed"
                           : "");
}

bool server_has_executed(const packet_t *message) {
    return (message->kind != MESSAGE_CHANGE_ENTRIES && message->kind != MESSAGE_ADD_ENTRIES) ||
           message->at >= message->count;
}

/* Does the server execute other commands before it goes on with this one? */
static bool others_come_between(world_t *world, const packet_t *message) {
    if (server_has_executed(message) || !chance(world->choices, CHOICE_SWITCH, world->rates.between))
        return false;
    TRACE(world, "  %zu of %zu are executed, and other commands come between", message->at, message->count);
    return true;
}

/* Each in a statement of its own. */
static void change_entries(world_t *world, packet_t *message) {
    if (!message->at)
        message->changed = 0;
    world->dirty = true;
    while (!server_has_executed(message)) {
        const entry_change_t *change = &message->changes[message->at++];
        entry_t *entry = find_entry(&world->server, change->ordinal);
        if (entry && change_matches(entry, change)) {
            message->changed++;
            check_progress(world, message, entry, change);
            apply(world, entry, change);
        }
        if (others_come_between(world, message))
            return;
    }
}

static void add_entries(world_t *world, packet_t *message) {
    server_t *server = &world->server;
    err_t err;
    if (!message->at)
        message->changed = 0;
    while (!server_has_executed(message)) {
        const entry_t *entry = message->add[message->at++];
        bool there = false;
        size_t at = 0;
        for (size_t j = 0; j < server->entries.count; j++) {
            const entry_t *other = &server->entries.entries[j];
            there |= other->ordinal == entry->ordinal ||
                     (!other->removed && strcmp(other->key, entry->key) == 0) ||
                     (entry->follows && other->follows && strcmp(other->follows, entry->follows) == 0);
            at += other->ordinal < entry->ordinal;
        }
        TRACE(world, "  entry %u of %s%s", entry->ordinal, entry->path, there ? " is there already" : "");
        if (there) { /* the first error ends the command */
            message->at = message->count;
            return;
        }
        message->changed++;
        entries_add(&server->entries, &err);
        entry_t *list = server->entries.entries;
        memmove(&list[at + 1], &list[at], (server->entries.count - 1 - at) * sizeof *list);
        list[at] = (entry_t){0};
        entry_copy(&list[at], entry, &err);
        check_added(world, message, entry);
        if (others_come_between(world, message))
            return;
    }
}

static void read_entries(world_t *world, packet_t *message) {
    server_t *server = &world->server;
    err_t err;
    /* a reply holds some of them, at least one */
    uint32_t room = world->small ? 100 : 1 + choose(world->choices, CHOICE_DETAIL, 3);
    *message->more = false;
    for (size_t i = 1; i < message->among_count; i++)
        if (message->among[i - 1] >= message->among[i])
            sim_fail(world, "contract", "entries are not asked for in ascending order");
    for (size_t i = 0; i < server->entries.count; i++) {
        const entry_t *entry = &server->entries.entries[i];
        bool wanted = entry->ordinal >= *message->from && message->among == NULL;
        for (size_t j = 0; j < message->among_count; j++)
            wanted |= entry->ordinal >= *message->from && message->among[j] == entry->ordinal;
        if (!wanted)
            continue;
        if (!room--) {
            *message->from = entry->ordinal;
            *message->more = true;
            return;
        }
        entry_copy(entries_add(message->entries, &err), entry, &err);
    }
}

static void remove_entries(world_t *world, uint64_t below) {
    entries_t *entries = &world->server.entries;
    size_t kept = 0;
    for (size_t i = 0; i < entries->count; i++)
        if (entries->entries[i].ordinal < below) {
            check_gone(world, &entries->entries[i]);
            entry_free(&entries->entries[i]);
        } else
            entries->entries[kept++] = entries->entries[i];
    entries->count = kept;
    if (!world->server
             .exists) /* it was dropped before, by somebody, and what was said since is of no document */
        world->claim_count = world->answered_count = 0;
}

/* ---- the loads ---- */

static load_seen_t *find_load(server_t *server, const load_id_t *id) {
    for (size_t i = 0; i < server->loads.count; i++)
        if (load_id_equal(&server->loads.loads[i].id, id))
            return &server->loads.loads[i];
    return NULL;
}

/* Is it new? One that is executed twice is no sign of life. */
static bool enroll(world_t *world, const packet_t *message) {
    loads_t *loads = &world->server.loads;
    if (find_load(&world->server, &message->load))
        return false;
    if (loads->count == loads->room) {
        loads->room = loads->room ? 2 * loads->room : 8;
        loads->loads = realloc(loads->loads, loads->room * sizeof *loads->loads);
    }
    loads->loads[loads->count++] = (load_seen_t){.id = message->load, .beat = 1, .host = "h"};
    return true;
}

/* Is it raised? */
static bool beat(world_t *world, const packet_t *message) {
    load_seen_t *load = find_load(&world->server, &message->load);
    const bool raises = load && !load->ended && message->number > load->beat;
    if (raises)
        load->beat = message->number;
    return raises;
}

static void copy_loads(const loads_t *from, loads_t *to) {
    to->loads = malloc((from->count + 1) * sizeof *to->loads);
    to->count = to->room = from->count;
    if (from->count)
        memcpy(to->loads, from->loads, from->count * sizeof *to->loads);
}

static void note_beat(world_t *world, const packet_t *message) {
    sim_load_t *load = &world->loads[message->slot];
    if (load->run == message->run)
        load->last_beat = world->now;
}

void server_execute(world_t *world, packet_t *message) {
    server_t *server = &world->server;
    load_seen_t *load;
    sim_load_t *sender = &world->loads[message->slot];
    if (sender->run == message->run &&
        (message->kind == MESSAGE_READ_HEADER || message->kind == MESSAGE_READ_ENTRIES ||
         message->kind == MESSAGE_READ_LOADS || message->kind == MESSAGE_COLLECTION)) {
        sender->drops_seen_before = sender->drops_seen;
        sender->drops_seen = world->drops;
    }
    message->incarnation = server->incarnation;
    switch (message->kind) {
    case MESSAGE_READ_HEADER:
        message->flag = server->has_header;
        *message->header = (catalog_header_t){0};
        if (server->has_header)
            copy_header(message->header, &server->header);
        break;
    case MESSAGE_MAKE_HEADER:
        if (!server->has_header)
            copy_header(&server->header, message->header);
        server->has_header = true;
        break;
    case MESSAGE_CHANGE_HEADER:
        change_header(world, message);
        break;
    case MESSAGE_READ_ENTRIES:
        read_entries(world, message);
        break;
    case MESSAGE_ADD_ENTRIES:
        add_entries(world, message);
        break;
    case MESSAGE_CHANGE_ENTRIES:
        change_entries(world, message);
        break;
    case MESSAGE_REMOVE_ENTRIES:
        remove_entries(world, message->number);
        break;
    case MESSAGE_READ_LOADS:
        copy_loads(&server->loads, message->loads);
        break;
    case MESSAGE_ENROLL:
        if (enroll(world, message))
            note_beat(world, message);
        break;
    case MESSAGE_BEAT:
        if (beat(world, message))
            note_beat(world, message);
        break;
    case MESSAGE_END:
        if ((load = find_load(server, &message->load)))
            load->ended = true;
        if (sender->run == message->run)
            sender->disturbed = true; /* it has said so itself */
        break;
    case MESSAGE_COLLECTION:
        memcpy(message->uuid, server->uuid, STORE_UUID);
        message->flag = server->documents.count > 0;
        break;
    case MESSAGE_CREATE:
        if (!server->exists) {
            server->exists = true;
            server->uuid[0] = (uint8_t)++server->uuids;
        }
        break;
    case MESSAGE_DROP:
        if (is_this_collection(server, message)) {
            TRACE(world, "  the collection is dropped");
            check_drop(world, message);
            server_drop(world);
        }
        break;
    case MESSAGE_INSERT:
        insert(world, message);
        break;
    case MESSAGE_REPLACE:
        replace(world, message);
        break;
    case MESSAGE_FETCH:
        fetch(world, message);
        break;
    case MESSAGE_REMOVE:
        remove_documents(world, message);
        break;
    case MESSAGE_LOOK:
        look_for_documents(world, message);
        break;
    case MESSAGE_KINDS:
        break;
    }
    /* a standalone's journal is one: what is journaled last brings everything before with it */
    const bool journaled = message->kind == MESSAGE_CHANGE_HEADER ||
                           message->kind == MESSAGE_CHANGE_ENTRIES || message->kind == MESSAGE_ADD_ENTRIES ||
                           message->kind == MESSAGE_MAKE_HEADER;
    if (server->topology == KIND_STANDALONE && journaled)
        server_commit(world, 0); /* a standalone's journal */
}
