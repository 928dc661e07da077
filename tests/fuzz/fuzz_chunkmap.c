/* Chunk maps: what a cluster says of a collection and its chunks, as it should be but for a few places, makes a map or is
 * refused. It makes one just where every key lies in one chunk; and then the map finds what a search through all chunks
 * finds, by an order of values that is written down here a second time. */
#include "odd_driver.h"
#include "server/chunks.h"
#include "server/cluster.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 12, FIELDS = 3 };

/* ---- the order of values ---- */

/* Of those that have one, as the server's manual lists them; 0: none of those. */
static int plain_rank(bson_type_t type) {
    static const bson_type_t rising[] = {BSON_TYPE_MINKEY,    BSON_TYPE_NULL,     BSON_TYPE_DOUBLE,
                                         BSON_TYPE_UTF8,      BSON_TYPE_DOCUMENT, BSON_TYPE_ARRAY,
                                         BSON_TYPE_BINARY,    BSON_TYPE_OID,      BSON_TYPE_BOOL,
                                         BSON_TYPE_DATE_TIME, BSON_TYPE_MAXKEY};
    if (type == BSON_TYPE_INT32 || type == BSON_TYPE_INT64)
        type = BSON_TYPE_DOUBLE;
    for (size_t i = 0; i < sizeof rising / sizeof *rising; i++)
        if (rising[i] == type)
            return 1 + (int)i;
    return 0;
}

static bool plain_is_clear(const bson_t *document, int depth) {
    bson_iter_t at;
    bson_t inner;
    uint32_t length;
    const uint8_t *bytes;
    bool clear = bson_iter_init(&at, document) && depth <= 200;
    while (clear && bson_iter_next(&at)) {
        if (BSON_ITER_HOLDS_DOCUMENT(&at))
            bson_iter_document(&at, &length, &bytes);
        else if (BSON_ITER_HOLDS_ARRAY(&at))
            bson_iter_array(&at, &length, &bytes);
        else {
            clear = plain_rank(bson_iter_type(&at)) > 0;
            continue;
        }
        clear = bson_init_static(&inner, bytes, length) && plain_is_clear(&inner, depth + 1);
    }
    return clear && !at.err_off;
}

static int sign(long double difference) {
    return difference < 0 ? -1 : difference > 0;
}

static int plain_order(const bson_t *a, const bson_t *b, bool names);

/* long double holds every int64 and every double. */
static int plain_numbers(const bson_iter_t *a, const bson_iter_t *b) {
    _Static_assert(sizeof(long double) > sizeof(double), "holds more than a double");
    const long double x = BSON_ITER_HOLDS_DOUBLE(a) ? (long double)bson_iter_double(a)
                                                    : (long double)bson_iter_as_int64(a),
                      y = BSON_ITER_HOLDS_DOUBLE(b) ? (long double)bson_iter_double(b)
                                                    : (long double)bson_iter_as_int64(b);
    if (x != x || y != y)
        return (y != y) - (x != x);
    return x < y ? -1 : x > y;
}

static int plain_bytes(const void *a, uint32_t a_length, const void *b, uint32_t b_length) {
    const int first = memcmp(a, b, a_length < b_length ? a_length : b_length);
    return first ? sign(first) : sign((long double)a_length - b_length);
}

static int plain_values(const bson_iter_t *a, const bson_iter_t *b) {
    const int by_rank = sign(plain_rank(bson_iter_type(a)) - plain_rank(bson_iter_type(b)));
    uint32_t a_length, b_length;
    const uint8_t *a_bytes, *b_bytes;
    bson_subtype_t a_kind, b_kind;
    bson_t x, y;
    if (by_rank)
        return by_rank;
    switch (bson_iter_type(a)) {
    case BSON_TYPE_DOUBLE:
    case BSON_TYPE_INT32:
    case BSON_TYPE_INT64:
        return plain_numbers(a, b);
    case BSON_TYPE_UTF8: {
        const char *one = bson_iter_utf8(a, &a_length), *other = bson_iter_utf8(b, &b_length);
        return plain_bytes(one, a_length, other, b_length);
    }
    case BSON_TYPE_DOCUMENT:
        bson_iter_document(a, &a_length, &a_bytes);
        bson_iter_document(b, &b_length, &b_bytes);
        LAB_MUST(bson_init_static(&x, a_bytes, a_length) && bson_init_static(&y, b_bytes, b_length));
        return plain_order(&x, &y, true);
    case BSON_TYPE_ARRAY:
        bson_iter_array(a, &a_length, &a_bytes);
        bson_iter_array(b, &b_length, &b_bytes);
        LAB_MUST(bson_init_static(&x, a_bytes, a_length) && bson_init_static(&y, b_bytes, b_length));
        return plain_order(&x, &y, false);
    case BSON_TYPE_BINARY:
        bson_iter_binary(a, &a_kind, &a_length, &a_bytes);
        bson_iter_binary(b, &b_kind, &b_length, &b_bytes);
        return a_length != b_length ? sign((long double)a_length - b_length)
               : a_kind != b_kind   ? sign((int)a_kind - (int)b_kind)
                                    : plain_bytes(a_bytes, a_length, b_bytes, b_length);
    case BSON_TYPE_OID:
        return plain_bytes(bson_iter_oid(a)->bytes, 12, bson_iter_oid(b)->bytes, 12);
    case BSON_TYPE_BOOL:
        return (int)bson_iter_bool(a) - (int)bson_iter_bool(b);
    case BSON_TYPE_DATE_TIME:
        return sign((long double)bson_iter_date_time(a) - (long double)bson_iter_date_time(b));
    default:
        return 0;
    }
}

/* names: those of inner documents count; of one value the type comes first. */
static int plain_order(const bson_t *a, const bson_t *b, bool names) {
    bson_iter_t x, y;
    LAB_MUST(bson_iter_init(&x, a) && bson_iter_init(&y, b));
    for (;;) {
        const bool more_x = bson_iter_next(&x), more_y = bson_iter_next(&y);
        if (!more_x || !more_y)
            return (int)more_x - (int)more_y;
        const int by_rank = plain_rank(bson_iter_type(&x)) - plain_rank(bson_iter_type(&y)),
                  by_name = names ? strcmp(bson_iter_key(&x), bson_iter_key(&y)) : 0;
        const int order = by_rank ? by_rank : by_name ? by_name : plain_values(&x, &y);
        if (order)
            return sign(order);
    }
}

static int by_order(const void *a, const void *b) {
    return plain_order(*(bson_t *const *)a, *(bson_t *const *)b, false);
}

/* ---- what the cluster says ---- */

static struct {
    bson_t *collection; /* that was said last */
    bson_t *chunks[MOST * 3];
    size_t count, fields;
} said;

static void forget_chunks(void) {
    for (size_t i = 0; i < said.count; i++)
        bson_destroy(said.chunks[i]);
    said.count = 0;
}

static void forget(void) {
    forget_chunks();
    bson_destroy(said.collection);
    said.collection = NULL;
}

static bson_t *make_bound(odd_t *odd, int end) {
    bson_t *bound = bson_new();
    for (size_t i = 0; i < said.fields; i++) {
        char name[24];
        snprintf(name, sizeof name, "k%zu", i);
        if (end)
            (end < 0 ? bson_append_minkey : bson_append_maxkey)(bound, name, -1);
        else
            odd_value(odd, bound, name, 0);
    }
    return bound;
}

/* Bounds in their order, mostly, and a chunk between each two; then a few places are changed. */
static void make_chunks(odd_t *odd) {
    static const char *const shards[] = {"s0", "s1", "s2", "", "a shard of a longer name"};
    bson_t *bounds[MOST + 1];
    const size_t count = 1 + odd_below(odd, MOST);
    forget_chunks();
    for (size_t i = 0; i <= count; i++)
        bounds[i] = make_bound(odd, i == 0 ? -1 : i == count ? 1 : 0);
    bool clear = true;
    for (size_t i = 0; i <= count; i++)
        clear = clear && plain_is_clear(bounds[i], 0);
    if (clear && odd_byte(odd) < 240)
        qsort(bounds, count + 1, sizeof *bounds, by_order);
    for (size_t i = 0; i < count; i++) {
        bson_t chunk = BSON_INITIALIZER, list = BSON_INITIALIZER;
        bson_iter_t at;
        const char *shard = shards[odd_below(odd, 5)];
        const uint32_t seconds = odd_byte(odd);
        BSON_APPEND_DOCUMENT(&chunk, "min", bounds[i]);
        BSON_APPEND_DOCUMENT(&chunk, "max", bounds[i + 1]);
        BSON_APPEND_UTF8(&chunk, "shard", shard);
        BSON_APPEND_TIMESTAMP(&chunk, "lastmod", seconds, (uint32_t)i);
        BSON_APPEND_DOCUMENT(&list, "0", &chunk);
        bson_t changed = BSON_INITIALIZER, one;
        uint32_t length;
        const uint8_t *bytes;
        odd_copy(odd, &list, true, &changed);
        for (bool more = bson_iter_init(&at, &changed); more && bson_iter_next(&at);)
            if (BSON_ITER_HOLDS_DOCUMENT(&at) && said.count < sizeof said.chunks / sizeof *said.chunks) {
                bson_iter_document(&at, &length, &bytes);
                LAB_MUST(bson_init_static(&one, bytes, length));
                said.chunks[said.count++] = bson_copy(&one);
            }
        bson_destroy(&changed);
        bson_destroy(&list);
        bson_destroy(&chunk);
    }
    for (size_t i = 0; i <= count; i++)
        bson_destroy(bounds[i]);
}

static void make_collection(odd_t *odd) {
    static const char *const keys[] = {"{\"_id\": 1}", "{\"a\": 1, \"b.c\": \"hashed\"}",
                                       "{\"a\": \"hashed\", \"b.c\": 1, \"_id\": 1}"};
    bson_t whole = BSON_INITIALIZER, *key = odd_json(keys[said.fields - 1]);
    bson_copy_to_excluding_noinit(odd_sample(odd_documents, "collections"), &whole, "key", NULL);
    if (odd_byte(odd) == 255) /* more fields than any key may have */
        for (size_t i = 0; i < 40; i++) {
            char name[16];
            snprintf(name, sizeof name, "k%zu", i);
            BSON_APPEND_INT32(key, name, 1);
        }
    BSON_APPEND_DOCUMENT(&whole, "key", key);
    bson_destroy(said.collection);
    said.collection = bson_new();
    odd_copy(odd, &whole, false, said.collection);
    bson_destroy(&whole);
    bson_destroy(key);
}

static bool find(odd_t *odd, const char *collection, const bson_t *options, bson_t ***documents,
                 size_t *count) {
    const bool chunks = strcmp(collection, "chunks") == 0;
    if (!chunks && strcmp(collection, "collections") != 0)
        return false;
    *documents = calloc(sizeof said.chunks / sizeof *said.chunks, sizeof **documents);
    LAB_MUST(*documents);
    *count = 0;
    if (!chunks) {
        make_collection(odd);
        (*documents)[(*count)++] = bson_copy(said.collection);
    } else if (options && bson_has_field(options, "limit")) {
        bson_t *newest = bson_new();
        const uint32_t moved =
            odd_byte(odd) < 192 ? 0 : odd_byte(odd); /* now and then another chunk has moved */
        BSON_APPEND_TIMESTAMP(newest, "lastmod", 9, moved);
        (*documents)[(*count)++] = newest;
    } else {
        make_chunks(odd);
        for (; *count < said.count; ++*count)
            (*documents)[*count] = bson_copy(said.chunks[*count]);
    }
    return true;
}

/* ---- does every key lie in one chunk? ---- */

static bool part(const bson_t *chunk, const char *name, bson_t *bound) {
    bson_iter_t at;
    uint32_t length;
    const uint8_t *bytes;
    if (!bson_iter_init_find(&at, chunk, name) || !BSON_ITER_HOLDS_DOCUMENT(&at))
        return false;
    bson_iter_document(&at, &length, &bytes);
    return bson_init_static(bound, bytes, length);
}

static bool all_are(const bson_t *bound, bson_type_t type) {
    bson_iter_t at;
    LAB_MUST(bson_iter_init(&at, bound));
    while (bson_iter_next(&at))
        if (bson_iter_type(&at) != type)
            return false;
    return true;
}

static bool is_whole(void) {
    bson_t min, max, before;
    bson_iter_t at;
    for (size_t i = 0; i < said.count; i++) {
        const bson_t *chunk = said.chunks[i];
        if (!part(chunk, "min", &min) || !part(chunk, "max", &max) || !plain_is_clear(&min, 0) ||
            !plain_is_clear(&max, 0) || plain_order(&min, &max, false) >= 0 ||
            !bson_iter_init_find(&at, chunk, "shard") || !BSON_ITER_HOLDS_UTF8(&at))
            return false;
        if (bson_count_keys(&min) != said.fields || bson_count_keys(&max) != said.fields)
            return false;
        if (i ? !part(said.chunks[i - 1], "max", &before) || plain_order(&before, &min, false) != 0
              : !all_are(&min, BSON_TYPE_MINKEY))
            return false;
    }
    return said.count && part(said.chunks[said.count - 1], "max", &before) &&
           all_are(&before, BSON_TYPE_MAXKEY);
}

/* The number of the one chunk that the key lies in: the last one has the greatest key, too. */
static size_t plain_find(const bson_t *key) {
    bson_t min, max;
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < said.count; i++) {
        LAB_MUST(part(said.chunks[i], "min", &min) && part(said.chunks[i], "max", &max));
        if (plain_order(&min, key, false) <= 0 &&
            (i + 1 == said.count || plain_order(key, &max, false) < 0)) {
            LAB_MUST(found == SIZE_MAX);
            found = i;
        }
    }
    LAB_MUST(found != SIZE_MAX);
    return found;
}

static void is_owner(const chunkmap_t *map, size_t shard, size_t chunk) {
    bson_iter_t at;
    LAB_MUST(bson_iter_init_find(&at, said.chunks[chunk], "shard") && shard < chunkmap_shards(map));
    LAB_MUST(strcmp(bson_iter_utf8(&at, NULL), chunkmap_shard_name(map, shard)) == 0);
}

static void try_whole(const chunkmap_t *map, int64_t first, int64_t last) {
    bson_t *one = BCON_NEW("k", BCON_INT64(first)), *other = BCON_NEW("k", BCON_INT64(last));
    const size_t chunk = plain_find(one);
    size_t shard;
    is_owner(map, chunkmap_find(map, one), chunk);
    LAB_MUST(chunkmap_find_range(map, first, last, &shard) == (chunk == plain_find(other)));
    is_owner(map, shard, chunk);
    bson_destroy(one);
    bson_destroy(other);
}

static void try_keys(odd_t *odd, const chunkmap_t *map) {
    bson_t bound;
    for (size_t i = 0; i < said.count; i++) {
        LAB_MUST(part(said.chunks[i], "min", &bound));
        is_owner(map, chunkmap_find(map, &bound), i);
    }
    while (odd->left) {
        bson_t *key = make_bound(odd, 0);
        if (plain_is_clear(key, 0))
            is_owner(map, chunkmap_find(map, key), plain_find(key));
        bson_destroy(key);
        if (said.fields == 1) {
            const int64_t first = odd_number(odd), last = odd_number(odd);
            try_whole(map, first < last ? first : last, first < last ? last : first);
        }
    }
}

static void try_map(odd_t *odd, route_t *route) {
    chunkmap_t *map = route_map(route);
    size_t chunks = 0;
    LAB_MUST(map);
    for (size_t i = 0; i < chunkmap_shards(map); i++)
        chunks += chunkmap_chunks_of(map, i);
    LAB_MUST(chunks == said.count);
    try_keys(odd, map);
    for (size_t i = 0; i < chunkmap_shards(map); i++) {
        bson_t version = BSON_INITIALIZER;
        route_version(route, map, i, &version);
        bson_destroy(&version);
    }
    chunkmap_free(map);
}

/* ---- the rest of what is told of a cluster's settings ---- */

static void try_evenness(server_t *server, const route_t *route, const chunkmap_t *map) {
    config_list_t shards;
    err_t err = {.text = ""};
    if (!cluster_shards(server, server_take(server, &err), &shards, &err))
        return;
    const evenness_t evenness = cluster_evenness(map, route_key(route), &shards);
    LAB_MUST(evenness.owners <= evenness.shards && evenness.most >= 0 && evenness.most <= 1);
    config_free(&shards);
}

static void try_settings(server_t *server, mongoc_client_t *client) {
    zones_t zones;
    restored_t restored;
    err_t err = {.text = ""};
    LAB_MUST(zones_read(server, client, &zones, &err) || err.text[0]);
    zones_free(&zones);
    LAB_MUST(cluster_restore(server, client, NULL, &restored, &err) || err.text[0]);
}

static void try_server(odd_t *odd, server_t *server) {
    err_t err = {.text = ""};
    mongoc_client_t *client = server_take(server, &err);
    route_t *route;
    said.fields = 1 + odd_below(odd, FIELDS);
    const route_read_t read = route_open(server, client, &route, &err);
    bson_t key;
    if (said.collection && part(said.collection, "key", &key))
        said.fields = bson_count_keys(&key);
    if (read == ROUTE_READ) {
        LAB_MUST(route_key(route)->count == said.fields && is_whole());
        chunkmap_t *map = route_map(route);
        try_evenness(server, route, map);
        chunkmap_free(map);
        if (said.fields <= FIELDS)
            try_map(odd, route);
        LAB_MUST(route_refresh(route, client, &err) || err.text[0]);
    } else {
        LAB_MUST(!route && (read == ROUTE_UNSHARDED || err.text[0]));
        LAB_MUST(read != ROUTE_UNCLEAR || !is_whole());
    }
    route_close(route);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    odd_t odd = {data, size};
    err_t err;
    odd_begin(&odd);
    odd_server.find = NULL;
    server_t *server = odd_connect(&err);
    if (server) {
        mongoc_client_t *client = server_take(server, &err);
        if (odd_below(&odd, 4) == 3)
            try_settings(server, client);
        odd_server.find = find;
        try_server(&odd, server);
    }
    server_destroy(server);
    forget();
    odd_end();
    return 0;
}
