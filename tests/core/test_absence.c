/* absence: what is said of servers that do not answer, from the words of old and new drivers. */
#include "server/connect.h"
#include "test.h"

#include <mongoc/mongoc.h>
#include <stdint.h>
#include <string.h>

static void says(const char *driver, const char *expected) {
    address_t address;
    bson_error_t error;
    err_t err;
    char text[600];
    assert_true(address_parse(&address, "mongodb://joe:s3cret@a:1/b.c", &err));
    bson_set_error(&error, MONGOC_ERROR_SERVER_SELECTION, MONGOC_ERROR_SERVER_SELECTION_FAILURE, "%s",
                   driver);
    absence_describe(&address, NULL, &error, text, sizeof text);
    assert_string_equal(text, expected);
    address_free(&address);
}

TEST(reasons) {
    says("No suitable servers found (`serverSelectionTryOnce` set): [Failed to connect to target host: a:1]",
         "no answer from a:1 [Failed to connect to target host: a:1]");
    says("No suitable servers found (`serverSelectionTryOnce` set): [Failed to connect to target host: a:1]. "
         "Topology type: Unknown",
         "no answer from a:1 [Failed to connect to target host: a:1]");
    says(
        "No servers: [connection closed calling hello on 'a:1'] [refused by [::1]:2]. Topology type: Unknown",
        "no answer from a:1 [connection closed calling hello on 'a:1'] [refused by [::1]:2]");
    says("No servers: [joe:s3cret was cut o", "no answer from a:1 [joe:*** was cut o");
    says("No suitable servers found. Topology type: Unknown", "no answer from a:1");
    says("", "no answer from a:1");
}

static bool ends(const char *uri, const char *driver, const char *expected) {
    address_t address;
    bson_error_t error;
    err_t err = {.text = ""};
    assert_true(address_parse(&address, uri, &err));
    mongoc_client_t *client = mongoc_client_new_from_uri(address.uri);
    bson_set_error(&error, MONGOC_ERROR_SERVER_SELECTION, MONGOC_ERROR_SERVER_SELECTION_FAILURE, "%s",
                   driver);
    const bool is_final = absence_is_final(&address, client, &error, 3, &err);
    if (is_final)
        assert_string_equal(err.text, expected);
    mongoc_client_destroy(client);
    address_free(&address);
    return is_final;
}

/* A web server, or any other, at the port: waiting is useless. */
TEST(other_protocol) {
    static const char *const said =
        "what answers at 127.0.0.1:1 does not speak MongoDB's protocol: correct the "
        "host and the port in the URI";
    const char *uri = "mongodb://127.0.0.1:1/b.c";
    assert_true(ends(uri, "No servers: [Failed to read 1347703876 bytes: socket error or timeout]", said));
    assert_true(ends(uri, "No servers: [Invalid reply from server.]. Topology type: Single", said));
    assert_false(ends(uri, "No servers: [Failed to read 300 bytes: socket error or timeout]", NULL));
    assert_false(ends("mongodb://127.0.0.1:1,127.0.0.1:2/b.c",
                      "No servers: [Failed to read 1347703876 bytes: socket error or timeout] [refused]",
                      NULL));
}

/* Who has given a certificate is not told to give one: what is behind the server may be away. */
TEST(closed_behind_tls) {
    static const char *const said =
        "the server at 127.0.0.1:1 closes the connection after the TLS handshake: it may ask for a client "
        "certificate; add tlsCertificateKeyFile=FILE to the URI";
    const char *words = "No servers: [Failed to read 4 bytes: socket error or timeout]";
    assert_true(ends("mongodb://127.0.0.1:1/b.c?tls=true", words, said));
    assert_false(ends("mongodb://127.0.0.1:1/b.c?tls=true&tlsCertificateKeyFile=/no/such.pem", words, NULL));
}

/* One of two hosts has a certificate of another authority; of the other one nothing is known yet. */
TEST(untrusted) {
    static const char *const one = "No servers: [TLS handshake failed: certificate verify failed: a:1]",
                             *const both =
                                 "No servers: [TLS handshake failed: certificate verify failed: a:1] "
                                 "[TLS handshake failed: certificate verify failed: b:1]";
    static const char *const begins = "the certificate of ";
    char said[700];
    snprintf(said, sizeof said,
             "%sa:1,b:1 is not trusted here: name the file of the authority that signed it with "
             "tlsCAFile=FILE in the URI, and the host as the certificate does %s",
             begins, strchr(both, '['));
    assert_false(ends("mongodb://a:1,b:1/b.c?tls=true", one, NULL));
    assert_true(ends("mongodb://a:1,b:1/b.c?tls=true", both, said));
    snprintf(said, sizeof said,
             "%sa:1 is not trusted here: name the file of the authority that signed it with "
             "tlsCAFile=FILE in the URI, and the host as the certificate does %s",
             begins, strchr(one, '['));
    assert_true(ends("mongodb://a:1/b.c?tls=true", one, said));
}
