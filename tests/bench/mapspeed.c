/* mapspeed: how long it takes to plan where documents go on a cluster of many shards, without the cluster:
 * the bounds of even ranges, the map of chunks made of them, and the shards of many keys.
 *
 *     mapspeed SHARDS KEYS
 *
 * For {_id: 1}, whose ranges follow from the number of shards alone, and for a compound key, whose ranges are
 * cut from a sample as large as a load takes at most. Prints one line of JSON. */
#include "format/record/record_id.h"
#include "server/chunks.h"
#include "server/cluster.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SAMPLE = 32 * 16 * 64, MOST_KEYS = 10000000 };

typedef struct {
    double plan, find; /* seconds of CPU */
    size_t busy;       /* shards that any of the keys belongs to */
} speed_t;

static double cpu_seconds(void) {
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at); /* whatever else runs here */
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static _Noreturn void die(const char *why) {
    fprintf(stderr, "mapspeed: %s\n", why);
    exit(1);
}

static void *need(void *memory) {
    if (!memory)
        die("out of memory");
    return memory;
}

/* The same numbers in every run. */
static uint64_t next_number(uint64_t *state) {
    *state += 0x9e3779b97f4a7c15u;
    uint64_t mixed = (*state ^ *state >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    return mixed ^ mixed >> 31;
}

static void make_compound(bson_t *key, uint64_t *state) {
    static const char *const makes[] = {"AUDI", "BMW",  "CITROEN", "FIAT",    "FORD",   "HONDA",   "MAZDA",
                                        "MINI", "OPEL", "PEUGEOT", "RENAULT", "TOYOTA", "VAUXHALL"};
    const uint64_t number = next_number(state);
    BSON_APPEND_UTF8(key, "k", makes[number % (sizeof makes / sizeof *makes)]);
    BSON_APPEND_INT32(key, "m", (int32_t)(number >> 32) & 0x3ffff);
}

static chunkmap_t *make_map(const shardkey_t *key, bson_t *const *bounds, size_t count) {
    chunkmap_t *map = need(chunkmap_new(NULL));
    bson_t least = BSON_INITIALIZER;
    for (size_t i = 0; i < key->count; i++)
        bson_append_minkey(&least, key->fields[i].path, -1);
    for (size_t i = 0; i <= count; i++) {
        char name[32];
        snprintf(name, sizeof name, "shard%03zu", i);
        if (!chunkmap_add(map, i ? bounds[i - 1] : &least, name, i))
            die("the bounds do not rise");
    }
    bson_destroy(&least);
    return map;
}

/* Does the map have all shards, and do the keys reach them? */
static size_t count_busy(const size_t *found, size_t shards) {
    size_t busy = 0;
    for (size_t i = 0; i < shards; i++)
        busy += found[i] > 0;
    return busy;
}

/* _ids as they come: block by block of a file. */
static void find_ids(const chunkmap_t *map, size_t keys, size_t *found) {
    for (size_t i = 0; i < keys; i++) {
        const int64_t id = record_id_make(record_id_lane(0, i * 86), i * 86);
        size_t shard;
        if (chunkmap_find_range(map, id, id, &shard))
            found[shard]++;
    }
}

static void find_compound(const chunkmap_t *map, size_t keys, size_t *found, bson_t *given) {
    for (size_t i = 0; i < keys; i++)
        found[chunkmap_find(map, &given[i % SAMPLE])]++;
}

static speed_t measure(const char *text, size_t shards, size_t keys) {
    shardkey_t key;
    err_t err;
    speed_t speed;
    uint64_t state = 1;
    size_t count = shards - 1, *found = need(calloc(shards, sizeof *found));
    if (!shardkey_parse(text, &key, &err))
        die(err.text);
    bson_t **bounds = need(calloc(shards, sizeof *bounds)), **sample = need(calloc(SAMPLE, sizeof *sample));
    bson_t *given = need(calloc(SAMPLE, sizeof *given));
    for (size_t i = 0; i < SAMPLE; i++) {
        make_compound(sample[i] = bson_new(), &state);
        bson_init(&given[i]);
        make_compound(&given[i], &state);
    }

    double start = cpu_seconds();
    if (!cluster_bounds(&key, shards, bounds))
        count = cluster_sample_bounds(sample, SAMPLE, shards, bounds);
    chunkmap_t *map = make_map(&key, bounds, count);
    speed.plan = cpu_seconds() - start;
    if (chunkmap_shards(map) != shards)
        die("not every shard has a range");

    start = cpu_seconds();
    if (key.is_id)
        find_ids(map, keys, found);
    else
        find_compound(map, keys, found, given);
    speed.find = cpu_seconds() - start;
    speed.busy = count_busy(found, shards);

    for (size_t i = 0; i < SAMPLE; i++) {
        bson_destroy(sample[i]);
        bson_destroy(&given[i]);
    }
    for (size_t i = 0; i < count; i++)
        bson_destroy(bounds[i]);
    chunkmap_free(map);
    shardkey_free(&key);
    free(sample);
    free(given);
    free(bounds);
    free(found);
    return speed;
}

int main(int argc, char **argv) {
    static const char *const specs[] = {"_id", "k,m"};
    const size_t shards = argc == 3 ? strtoul(argv[1], NULL, 10) : 0,
                 keys = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (shards < 2 || shards > CHUNKMAP_MOST_SHARDS || keys < 1 || keys > MOST_KEYS)
        die("mapspeed SHARDS KEYS");
    printf("{\"shards\":%zu,\"keys\":%zu", shards, keys);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        const speed_t speed = measure(specs[i], shards, keys);
        printf(",\"%s\":{\"plan_cpu_seconds\":%.9f,\"find_cpu_seconds\":%.9f,\"busy_shards\":%zu}", specs[i],
               speed.plan, speed.find, speed.busy);
    }
    printf("}\n");
    return 0;
}
