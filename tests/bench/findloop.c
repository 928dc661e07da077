/* findloop: what asking costs without a runner: that many threads, each with a client of the driver's own pool,
 * that find documents by _id in a loop, and nothing else: no clock, no counting.
 *
 *     findloop URI DATABASE COLLECTION THREADS FINDS
 *
 * Draws a thousand _ids first; each thread makes FINDS of them. Exit status 1 if a find fails or finds
 * nothing. */
#include <mongoc/mongoc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { DRAWN = 1000 };

static mongoc_client_pool_t *pool;
static const char *database, *name;
static bson_t *filters[DRAWN];
static size_t filter_count;
static unsigned long finds;

static _Noreturn void die(const char *words) {
    fprintf(stderr, "findloop: %s\n", words);
    exit(1);
}

static void draw(mongoc_collection_t *collection) {
    bson_t *pipeline = BCON_NEW("0", "{", "$sample", "{", "size", BCON_INT32(DRAWN), "}", "}", "1", "{",
                                "$project", "{", "_id", BCON_INT32(1), "}", "}");
    mongoc_cursor_t *cursor =
        mongoc_collection_aggregate(collection, MONGOC_QUERY_NONE, pipeline, NULL, NULL);
    const bson_t *document;
    while (filter_count < DRAWN && mongoc_cursor_next(cursor, &document))
        filters[filter_count++] = bson_copy(document);
    if (!filter_count)
        die("there is nothing to find");
    mongoc_cursor_destroy(cursor);
    bson_destroy(pipeline);
}

static void *ask(void *number) {
    mongoc_client_t *client = mongoc_client_pool_pop(pool);
    mongoc_collection_t *collection = mongoc_client_get_collection(client, database, name);
    uint64_t chance = (uint64_t)(uintptr_t)number + 1;
    bson_t options = BSON_INITIALIZER;
    for (unsigned long i = 0; i < finds; i++) {
        const bson_t *document;
        chance = chance * UINT64_C(6364136223846793005) + 1442695040888963407u;
        mongoc_cursor_t *cursor = mongoc_collection_find_with_opts(
            collection, filters[(chance >> 33) % filter_count], &options, NULL);
        if (!mongoc_cursor_next(cursor, &document))
            die("a find found nothing");
        while (mongoc_cursor_next(cursor, &document))
            ;
        mongoc_cursor_destroy(cursor);
    }
    mongoc_collection_destroy(collection);
    mongoc_client_pool_push(pool, client);
    return NULL;
}

int main(int argc, char **argv) {
    enum { MOST = 256 };
    pthread_t threads[MOST];
    if (argc != 6 || atoi(argv[4]) < 1 || atoi(argv[4]) > MOST)
        die("findloop URI DATABASE COLLECTION THREADS FINDS");
    size_t count = (size_t)atoi(argv[4]);
    database = argv[2];
    name = argv[3];
    finds = strtoul(argv[5], NULL, 10);
    mongoc_init();
    mongoc_uri_t *uri = mongoc_uri_new(argv[1]);
    if (!uri)
        die("not a URI");
    pool = mongoc_client_pool_new(uri);
    mongoc_client_pool_max_size(pool, (uint32_t)count + 1);
    mongoc_client_t *client = mongoc_client_pool_pop(pool);
    mongoc_collection_t *collection = mongoc_client_get_collection(client, database, name);
    draw(collection);
    mongoc_collection_destroy(collection);
    mongoc_client_pool_push(pool, client);
    for (size_t i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, ask, (void *)i) != 0)
            die("no thread");
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
