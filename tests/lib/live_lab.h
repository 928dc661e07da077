/* live_lab: what live tests in C share: a client of the server at TIPPLE_TEST_URI, and a database of this process. The
 * database is dropped at the end. */
#ifndef TIPPLE_TESTS_LIVE_LAB_H
#define TIPPLE_TESTS_LIVE_LAB_H

#include "test.h"

#include <mongoc/mongoc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static mongoc_client_t *client;
static char database[64];

static int live_begin(void **state) {
    (void)state;
    const char *uri = getenv("TIPPLE_TEST_URI");
    snprintf(database, sizeof database, "tipple_live_%d", (int)getpid());
    return !uri || !(client = mongoc_client_new(uri));
}

static int live_end(void **state) {
    (void)state;
    bson_t *drop = BCON_NEW("dropDatabase", BCON_INT32(1));
    const bool ok = mongoc_client_command_simple(client, database, drop, NULL, NULL, NULL);
    bson_destroy(drop);
    mongoc_client_destroy(client);
    return !ok;
}

TEST_GROUP(live_begin, live_end);

/* The server's URI with a collection of the database. */
TEST_UNUSED static const char *live_uri(char uri[600], const char *collection) {
    const char *given = getenv("TIPPLE_TEST_URI"), *query = strchr(given, '?');
    size_t length = query ? (size_t)(query - given) : strlen(given);
    const char *hosts = strstr(given, "://"), *slash = hosts ? strchr(hosts + 3, '/') : NULL;
    if (slash && slash < given + length)
        length = (size_t)(slash - given);
    snprintf(uri, 600, "%.*s/%s.%s?%s", (int)length, given, database, collection, query ? query + 1 : "");
    return uri;
}

#endif
