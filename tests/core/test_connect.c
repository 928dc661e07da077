/* connect: what is said of servers that do not answer, from the words of old and new drivers. */
#include "server/server_inner.h"
#include "test.h"

#include <mongoc/mongoc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void says(const char *driver, const char *expected, const char *hint) {
    address_t address;
    bson_error_t error;
    err_t err;
    assert_true(address_parse(&address, "mongodb://joe:s3cret@q7:1/b.c", &err));
    bson_set_error(&error, MONGOC_ERROR_SERVER_SELECTION, MONGOC_ERROR_SERVER_SELECTION_FAILURE, "%s",
                   driver);
    const char *help = connect_describe(&address, NULL, &error);
    assert_string_equal(error.message, expected);
    if (!strstr(help, hint))
        fail_msg("%s: %s", driver, help);
    address_free(&address);
}

TEST(reasons) {
    says("No suitable servers found (`serverSelectionTryOnce` set): [Failed to connect to target host: q7:1]",
         "no answer from q7:1 [Failed to connect to target host: q7:1]", "the server runs");
    says(
        "No suitable servers found (`serverSelectionTryOnce` set): [Failed to connect to target host: q7:1]. "
        "Topology type: Unknown",
        "no answer from q7:1 [Failed to connect to target host: q7:1]", "the server runs");
    says("No servers: [connection closed calling hello on 'q7:1'] [refused by [::1]:2]. Topology type: "
         "Unknown",
         "no answer from q7:1 [connection closed calling hello on 'q7:1'] [refused by [::1]:2]", "tls=true");
    says("No servers: [Failed to resolve 'q7']", "no answer from q7:1 [Failed to resolve 'q7']",
         "name of the host, or make it known here; if the replica set names its members so");
    says("No servers: [joe:s3cret was cut o", "no answer from q7:1 [joe:*** was cut o", "the server runs");
    says("No suitable servers found. Topology type: Unknown", "no answer from q7:1", "the server runs");
    says("", "no answer from q7:1", "the server runs");
}

/* Is it useless to wait after that many tries? *said: the decisive part of what is said then. */
static bool ends(const char *uri, const char *driver, uint32_t tries, const char *said) {
    address_t address;
    bson_error_t error;
    err_t err = {.text = ""};
    assert_true(address_parse(&address, uri, &err));
    mongoc_client_t *client = mongoc_client_new_from_uri(address.uri);
    bson_set_error(&error, MONGOC_ERROR_SERVER_SELECTION, MONGOC_ERROR_SERVER_SELECTION_FAILURE, "%s",
                   driver);
    const bool hopeless = connect_is_hopeless(&address, client, &error, tries, &err);
    if (hopeless && !strstr(err.text, said))
        fail_msg("%s: %s", driver, err.text);
    assert_true(!hopeless || err.status == STATUS_USAGE);
    mongoc_client_destroy(client);
    address_free(&address);
    return hopeless;
}

/* A web server, or any other, at the port: waiting is useless. */
TEST(other_protocol) {
    static const char *const http = "No servers: [Failed to read 1347703876 bytes: socket error or timeout]",
                             *const reply = "No servers: [Invalid reply from server.]. Topology type: Single";
    const char *uri = "mongodb://127.0.0.1:1/b.c";
    assert_true(ends(uri, http, 10, "protocol"));
    assert_true(ends(uri, reply, 10, "protocol"));
    assert_false(ends(uri, http, 9, NULL));
    assert_false(ends("mongodb://127.0.0.1:1,127.0.0.1:2/b.c", http, 10, NULL));
}

/* A connection that is closed may be one to a proxy whose server starts only now: it is waited for. */
TEST(closed) {
    const char *words = "No servers: [Failed to read 4 bytes: socket error or timeout]";
    assert_false(ends("mongodb://127.0.0.1:1/b.c?tls=true", words, 100, NULL));
    assert_false(ends("mongodb://127.0.0.1:1/b.c", words, 100, NULL));
}

/* One of two hosts has a certificate of another authority; of the other one nothing is known yet. */
TEST(untrusted) {
    static const char *const one = "No servers: [TLS handshake failed: certificate verify failed: a:1]",
                             *const both =
                                 "No servers: [TLS handshake failed: certificate verify failed: a:1] "
                                 "[TLS handshake failed: certificate verify failed: b:1]";
    assert_false(ends("mongodb://a:1,b:1/b.c?tls=true", one, 3, NULL));
    assert_true(ends("mongodb://a:1,b:1/b.c?tls=true", both, 1, "not trusted here"));
    assert_true(ends("mongodb://a:1/b.c?tls=true", one, 1, "tlsCAFile=FILE"));
}
