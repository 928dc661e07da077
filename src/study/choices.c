#include "study/choices.h"
#include "server/chunks/sharding.h"
#include "server/collection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    LEAST_THREADS = 8,
    MOST_THREADS = 32,
    MOST_CLUSTER_THREADS = 64,
    THREADS_A_CPU = 4,
    THREADS_A_SHARD = 4
};

void choices_fill(choice_lists_t *lists, const load_spec_t *load, size_t shards) {
    static const uint32_t batches[] = {100, 300, 1000, 3000};
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t most = cpus * THREADS_A_CPU < LEAST_THREADS  ? LEAST_THREADS
                    : cpus * THREADS_A_CPU > MOST_THREADS ? MOST_THREADS
                                                          : (uint32_t)cpus * THREADS_A_CPU;
    const uint32_t wanted = shards * THREADS_A_SHARD > MOST_CLUSTER_THREADS
                                ? MOST_CLUSTER_THREADS
                                : (uint32_t)shards * THREADS_A_SHARD;
    most = most > wanted ? most : wanted;
    if (!lists->thread_count)
        for (uint32_t threads = 1; threads <= most; threads *= 2)
            lists->threads[lists->thread_count++] = threads;
    if (!lists->batch_count) {
        memcpy(lists->batches, batches, sizeof batches);
        lists->batch_count = sizeof batches / sizeof *batches;
    }
    if (!lists->clustered_count)
        lists->clustered[lists->clustered_count++] = load->clustered;
    if (!lists->direct_count)
        lists->direct[lists->direct_count++] = load->direct;
    if (!lists->compressor_count)
        lists->compressors[lists->compressor_count++] = load->compressor;
    if (!lists->wire_count)
        lists->wires[lists->wire_count++] = NULL;
    if (!lists->concern_count)
        lists->concerns[lists->concern_count++] = NULL;
    if (!lists->router_count)
        lists->routers[lists->router_count++] = 0;
}

static size_t hosts_of(const char *uri) {
    const char *authority = strstr(uri, "://") + 3;
    size_t count = 1;
    for (const char *at = authority; *at && *at != '/'; at++)
        count += *at == ',';
    return count;
}

bool choices_check(const choice_lists_t *lists, const char *uri, server_kind_t kind, err_t *err) {
    const size_t settings = lists->thread_count * lists->batch_count * lists->clustered_count *
                            lists->direct_count * lists->compressor_count * lists->wire_count *
                            lists->router_count * lists->concern_count;
    const bool cluster = kind == SERVER_ROUTER;
    bool direct = false;
    for (size_t i = 0; i < lists->direct_count; i++)
        direct = direct || lists->direct[i];
    if ((direct || lists->routers[0]) && !cluster)
        return err_set(err, STATUS_USAGE, "%s goes with a sharded cluster; this target is none",
                       direct ? "--direct" : "--routers");
    if (lists->concerns[0] && kind == SERVER_STANDALONE)
        return err_set(
            err, STATUS_USAGE,
            "--write-concern goes with a replica set or a cluster; on a standalone there is nobody "
            "else to confirm a write");
    if (lists->routers[0] && strncasecmp(uri, "mongodb+srv:", 12) == 0)
        return err_set(err, STATUS_USAGE,
                       "--routers needs a URI that names the routers; mongodb+srv:// does not");
    for (size_t i = 0; lists->routers[0] && i < lists->router_count; i++)
        if (lists->routers[i] > hosts_of(uri))
            return err_set(err, STATUS_USAGE, "--routers: the URI names %zu, not %u", hosts_of(uri),
                           lists->routers[i]);
    return settings <= CHOICES_MOST_CELLS ||
           err_set(err, STATUS_USAGE,
                   "these lists make %zu combinations, which nobody would wait for; %d are allowed", settings,
                   CHOICES_MOST_CELLS);
}

/* Takes the last digit off a number whose digits go up to `base`. */
static size_t digit(size_t *number, size_t base) {
    const size_t last = *number % base;
    *number /= base;
    return last;
}

bool choices_combine(const choice_lists_t *lists, choice_t **choices, size_t *choice_count,
                     matrix_setting_t **settings, size_t *cell_count, err_t *err) {
    const size_t count = lists->clustered_count * lists->direct_count * lists->compressor_count *
                         lists->wire_count * lists->router_count * lists->concern_count;
    const size_t a_choice = lists->thread_count * lists->batch_count;
    *choice_count = *cell_count = 0;
    *choices = calloc(count + 1, sizeof **choices);
    *settings = calloc(count * a_choice + 1, sizeof **settings);
    if (!*choices || !*settings)
        return err_memory(err, count * a_choice * sizeof **settings);
    for (size_t i = 0; i < count; i++) {
        size_t rest = i;
        choice_t *choice = &(*choices)[(*choice_count)++];
        choice->routers = lists->routers[digit(&rest, lists->router_count)];
        choice->direct = lists->direct[digit(&rest, lists->direct_count)];
        choice->wire = lists->wires[digit(&rest, lists->wire_count)];
        choice->concern = lists->concerns[digit(&rest, lists->concern_count)];
        choice->compressor = lists->compressors[digit(&rest, lists->compressor_count)];
        choice->clustered = lists->clustered[digit(&rest, lists->clustered_count)];
        for (size_t j = 0; j < a_choice; j++)
            (*settings)[(*cell_count)++] =
                (matrix_setting_t){.threads = lists->threads[j / lists->batch_count],
                                   .batch = lists->batches[j % lists->batch_count],
                                   .choice = (uint32_t)i};
    }
    return true;
}

bool choice_is_unsafe(const choice_t *choice) {
    return choice->concern && strcmp(choice->concern, "majority") != 0;
}

const char *choice_uri_concern(const choice_t *choice) {
    return choice_is_unsafe(choice) ? choice->concern : NULL;
}

const char *choice_name(const choice_lists_t *lists, const choice_t *choice, char out[CHOICE_NAME]) {
    char routers[32];
    snprintf(routers, sizeof routers, "%u router%s", choice->routers, choice->routers == 1 ? "" : "s");
    const struct {
        size_t count;
        const char *before, *word;
    } parts[] = {
        {lists->clustered_count, "", choice->clustered == CLUSTERED_NO ? "plain" : "clustered"},
        {lists->compressor_count, "blocks ", choice->compressor ? choice->compressor : "as the server likes"},
        {lists->concern_count, "w ", choice->concern ? choice->concern : "as a load's own"},
        {lists->wire_count, "wire ", choice->wire ? choice->wire : "as the URI says"},
        {lists->direct_count, "", choice->direct ? "direct" : "through routers"},
        {lists->router_count, "", routers},
    };
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].count > 1 && used < CHOICE_NAME)
            used += (size_t)snprintf(out + used, CHOICE_NAME - used, "%s%s%s", used ? ", " : "",
                                     parts[i].before, parts[i].word);
    return out;
}

/* ---- the settings of the target ---- */

/* Writes {st: "hashed", ts: 1} as "st:hashed,ts". */
static void spell_key(const shardkey_t *key, char out[512]) {
    size_t used = 0;
    for (size_t i = 0; i < key->count && used < 512; i++)
        used += (size_t)snprintf(out + used, 512 - used, "%s%s%s", i ? "," : "", key->fields[i].path,
                                 key->fields[i].hashed ? ":hashed" : "");
}

static bool look_at_key(server_t *server, mongoc_client_t *client, load_spec_t *load, char key[512],
                        err_t *err) {
    sharding_t sharding;
    const bool ok = sharding_read(server, client, NULL, &sharding, err);
    if (ok && sharding.sharded)
        spell_key(&sharding.key, key);
    else if (ok && !sharding.hidden)
        snprintf(key, 512, "none");
    if (ok && !sharding.hidden)
        load->shard_key = key;
    sharding_free(&sharding);
    return ok;
}

static const char *known_compressor(const char *name) {
    static const char *const names[] = {"none", "snappy", "zlib", "zstd"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return names[i];
    return NULL; /* the server's default */
}

bool choices_like_target(const char *uri, int64_t patience_ns, load_spec_t *load, char key[512], err_t *err) {
    server_options_t options = {.uri = uri, .patience_ns = patience_ns, .connections = 2};
    server_t *server = server_connect(&options, err);
    mongoc_client_t *client = server ? server_take(server, err) : NULL;
    collection_t place;
    bool ok = client && collection_look(server, client, &place, err);
    if (ok && place.exists && load->clustered == CLUSTERED_DEFAULT)
        load->clustered = place.clustered ? CLUSTERED_YES : CLUSTERED_NO;
    if (ok && place.exists && !load->compressor)
        load->compressor = known_compressor(place.compressor);
    /* a load shards an empty collection that is not sharded yet */
    if (ok && place.exists && !load->shard_key && server_facts(server)->kind == SERVER_ROUTER) {
        ok = look_at_key(server, client, load, key, err);
        if (ok && load->shard_key && place.empty && strcmp(load->shard_key, "none") == 0)
            load->shard_key = NULL;
    }
    if (client)
        server_give(server, client);
    server_destroy(server);
    return ok;
}
