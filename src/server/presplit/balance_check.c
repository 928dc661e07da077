#include "server/presplit/balance_check.h"
#include "base/document.h"
#include "format/record/record_id.h"
#include "server/chunks/keyorder.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A share may be this much larger than an even one: a smaller difference is not worth a person's time. */
#define MOST_SURPLUS 1.25

/* ---- looking ---- */

/* weights[i]: the share of the coming documents that belongs to shard i of the map. */
static void weigh(const chunkmap_t *map, const shardkey_t *key, double *weights) {
    for (size_t i = 0; i < chunkmap_shards(map); i++)
        weights[i] = key->id_first ? 0 : (double)chunkmap_chunks_of(map, i);
    for (uint32_t lane = 0; key->id_first && lane < RECORD_ID_LANES; lane++) {
        bson_t *from = shardkey_from(key, record_id_make(lane, 0));
        weights[chunkmap_find(map, from)]++;
        bson_destroy(from);
    }
}

static bool is_among(const shard_names_t *shards, const char *name) {
    for (size_t i = 0; i < shards->count; i++)
        if (strcmp(shards->names[i], name) == 0)
            return true;
    return false;
}

balance_check_t balance_check_of(const chunkmap_t *map, const shardkey_t *key, const shard_names_t *shards) {
    double weights[CHUNKMAP_MOST_SHARDS], sum = 0;
    size_t most = 0;
    balance_check_t evenness = {.shards = shards->count, .known = key->id_first};
    weigh(map, key, weights);
    for (size_t i = 0; i < chunkmap_shards(map); i++) {
        sum += weights[i];
        const bool stays = is_among(shards, chunkmap_shard_name(map, i));
        evenness.owners += stays && weights[i] > 0;
        if (!stays && chunkmap_chunks_of(map, i))
            snprintf(evenness.leaving, sizeof evenness.leaving, "%s", chunkmap_shard_name(map, i));
        most = weights[i] > weights[most] ? i : most;
    }
    evenness.most = sum > 0 ? weights[most] / sum : 1;
    snprintf(evenness.name, sizeof evenness.name, "%s", chunkmap_shard_name(map, most));
    evenness.even = evenness.owners >= shards->count &&
                    (!evenness.known || evenness.most * (double)shards->count <= MOST_SURPLUS);
    return evenness;
}

/* ---- what a person may do ---- */

typedef struct {
    const chunkmap_t *map;
    const shard_names_t *shards;
    /* the owner of each lane, as an index of `shards`; SIZE_MAX: another shard */
    size_t owner[RECORD_ID_LANES];
} lanes_t;

static void find_owners(lanes_t *lanes) {
    for (uint32_t lane = 0; lane < RECORD_ID_LANES; lane++) {
        const char *name =
            chunkmap_shard_name(lanes->map, chunkmap_find_whole(lanes->map, record_id_make(lane, 0)));
        lanes->owner[lane] = SIZE_MAX;
        for (size_t i = 0; i < lanes->shards->count; i++)
            if (strcmp(lanes->shards->names[i], name) == 0)
                lanes->owner[lane] = i;
    }
}

/* The shard that already has most of these lanes, among those that have no range yet. */
static size_t choose(const lanes_t *lanes, uint32_t from, uint32_t to, const bool *taken) {
    size_t chosen = SIZE_MAX, most = 0;
    for (size_t i = 0; i < lanes->shards->count; i++) {
        size_t has = 1;
        for (uint32_t lane = from; lane < to; lane++)
            has += lanes->owner[lane] == i;
        if (!taken[i] && has > most) {
            most = has;
            chosen = i;
        }
    }
    return chosen;
}

static void append_bound(text_t *out, const bson_t *bound) {
    bson_iter_t at;
    const bool any = bson_iter_init(&at, bound) && bson_iter_next(&at);
    if (any && (BSON_ITER_HOLDS_INT64(&at) || BSON_ITER_HOLDS_INT32(&at)))
        text_print(out, "{_id: NumberLong(\"%" PRId64 "\")}", bson_iter_as_int64(&at));
    else if (any && (BSON_ITER_HOLDS_MINKEY(&at) || BSON_ITER_HOLDS_MAXKEY(&at)))
        text_append(out, BSON_ITER_HOLDS_MINKEY(&at) ? "{_id: MinKey}" : "{_id: MaxKey}");
    else
        ejson_append_for_shell(out, bound);
}

static void append_move(text_t *out, const server_t *server, const bson_t *from, const bson_t *to,
                        const char *shard) {
    text_append(out, "db.adminCommand({moveRange: ");
    ejson_append_text(out, server_namespace(server));
    text_append(out, ", min: ");
    append_bound(out, from);
    text_append(out, ", max: ");
    append_bound(out, to);
    text_append(out, ", toShard: ");
    ejson_append_text(out, shard);
    text_append(out, "})\n");
}

/* What other shards have of this range: one command a chunk, as a server moves no range that lies in two. *chunk: the first
 * one that may be in the range, then the last one. */
static void append_range(text_t *out, const server_t *server, const chunkmap_t *map, size_t *chunk,
                         const bson_t *from, const bson_t *to, const char *shard) {
    for (;; ++*chunk) {
        const bson_t *min = chunkmap_bound(map, *chunk),
                     *max = *chunk + 1 < chunkmap_chunks(map) ? chunkmap_bound(map, *chunk + 1) : NULL,
                     *first = keyorder_documents(min, from) > 0 ? min : from,
                     *end = max && keyorder_documents(max, to) < 0 ? max : to;
        if (keyorder_documents(first, end) < 0 && strcmp(chunkmap_owner(map, *chunk), shard) != 0)
            append_move(out, server, first, end, shard);
        if (end == to)
            return;
    }
}

static bson_t *bound_at(const shardkey_t *key, uint32_t lane) {
    return lane && lane < RECORD_ID_LANES ? shardkey_from(key, record_id_make(lane, 0))
                                          : shardkey_end(key, lane > 0);
}

static void append_moves(text_t *out, const server_t *server, const shardkey_t *key, const lanes_t *lanes) {
    bool taken[CHUNKMAP_MOST_SHARDS] = {false};
    size_t count = lanes->shards->count, chunk = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t first = (uint32_t)(i * RECORD_ID_LANES / count),
                       end = (uint32_t)((i + 1) * RECORD_ID_LANES / count);
        const size_t shard = choose(lanes, first, end, taken);
        bson_t *from = bound_at(key, first), *to = bound_at(key, end);
        taken[shard] = true;
        append_range(out, server, lanes->map, &chunk, from, to, lanes->shards->names[shard]);
        bson_destroy(from);
        bson_destroy(to);
    }
}

void balance_check_commands(const server_t *server, const chunkmap_t *map, const shardkey_t *key,
                            const shard_names_t *shards, text_t *out) {
    lanes_t lanes = {.map = map, .shards = shards};
    if (key->is_id && chunkmap_chunks(map) && server_facts(server)->major >= 6 && shards->count &&
        shards->count <= RECORD_ID_LANES) {
        find_owners(&lanes);
        append_moves(out, server, key, &lanes);
    } else {
        text_append(out, "sh.enableBalancing(");
        ejson_append_text(out, server_namespace(server));
        text_append(out, ")\nsh.startBalancer()\n");
    }
}

/* ---- what can be done at once ---- */

static bool run(server_t *server, mongoc_client_t *client, bson_t *command, err_t *err) {
    bool ok = server_command(server, client, "admin", command, false, NULL, err);
    bson_destroy(command);
    return ok;
}

bool balance_check_split(server_t *server, mongoc_client_t *client, const shardkey_t *key,
                         const shard_names_t *shards, bson_t *const *bounds, size_t count, err_t *err) {
    const char *name = server_namespace(server);
    bson_t *least = shardkey_end(key, false), *greatest = shardkey_end(key, true);
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = run(server, client, BCON_NEW("split", BCON_UTF8(name), "middle", BCON_DOCUMENT(bounds[i])), err);
    for (size_t i = 0; ok && i <= count; i++)
        ok = run(
            server, client,
            BCON_NEW("moveChunk", BCON_UTF8(name), "bounds", "[", BCON_DOCUMENT(i ? bounds[i - 1] : least),
                     BCON_DOCUMENT(i < count ? bounds[i] : greatest), "]", "to", BCON_UTF8(shards->names[i])),
            err);
    bson_destroy(least);
    bson_destroy(greatest);
    return ok;
}
