/* address: URIs taken apart, and passwords never shown. */
#include "base/conceal.h"
#include "server/server_inner.h"
#include "test.h"

#include <mongoc/mongoc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TEST(good) {
    static const struct {
        const char *uri, *database, *collection, *hosts;
    } cases[] = {
        {"mongodb://127.0.0.1:27017/mot.results", "mot", "results", "127.0.0.1:27017"},
        {"mongodb://127.0.0.1/mot.results?replicaSet=rs", "mot", "results", "127.0.0.1:27017"},
        {"mongodb://a:1,b:2/mot.results.2013", "mot", "results.2013", "a:1,b:2"},
        {"mongodb://joe:secret@h/mot.results", "mot", "results", "h:27017"},
        {"mongodb://joe:p%40ss%2Fw%3Frd@h/mot.results", "mot", "results", "h:27017"},
        {"mongodb://h/m%C3%B6t.r%20s", "m\xc3\xb6t", "r s", "h:27017"},
        {"MONGODB://h/mot.results", NULL, NULL, NULL},
        {"mongodb://%2Ftmp%2Fmongodb.sock/mot.results", "mot", "results", "/tmp/mongodb.sock"},
        {"mongodb://[::1]:27018/mot.results", "mot", "results", "[::1]:27018"},
        {"mongodb://h/mot.c%26w%3D1", "mot", "c&w=1", "h:27017"},
        {"mongodb://h/mot.r?tlsCertificateKeyFilePassword=a%3Bb", "mot", "r", "h:27017"},
        {"mongodb://h/mot.r?authMechanism=MONGODB-X509&tls=true", "mot", "r", "h:27017"},
        {"mongodb://h/mot.r?authMechanism=MONGODB-X509&tlsCertificateKeyFile=x", "mot", "r", "h:27017"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_t err = {0};
        address_t address;
        bool ok = address_parse(&address, cases[i].uri, &err);
        if (!cases[i].database) {
            assert_false(ok);
            continue;
        }
        if (!ok)
            fail_msg("%s: %s", cases[i].uri, err.text);
        assert_string_equal(address.database, cases[i].database);
        assert_string_equal(address.collection, cases[i].collection);
        assert_string_equal(address.hosts, cases[i].hosts);
        assert_int_equal(strlen(address.name), strlen(cases[i].database) + 1 + strlen(cases[i].collection));
        address_free(&address);
    }
}

TEST(login) {
    err_t err = {0};
    address_t address;
    assert_true(address_parse(&address, "mongodb://joe:se%20cret@h/mot.results", &err));
    assert_string_equal(mongoc_uri_get_auth_source(address.uri), "admin");
    assert_string_equal(mongoc_uri_get_password(address.uri), "se cret");
    address_free(&address);
    assert_true(address_parse(&address, "mongodb://joe:x@h/mot.results?authSource=other", &err));
    assert_string_equal(mongoc_uri_get_auth_source(address.uri), "other");
    address_free(&address);
}

TEST(bad) {
    static const struct {
        const char *uri, *says; /* words, with a | between them */
    } cases[] = {
        {"", "not a MongoDB URI"},
        {"mot.results", "not a MongoDB URI"},
        {"http://h/mot.results", "not a MongoDB URI"},
        {"mongodb://h:27017", "its path is '/'"},
        {"mongodb://h:27017/", "its path is '/'"},
        {"mongodb://h/mot", "its path is '/mot'"},
        {"mongodb://h/mot.", "its path is '/mot.'"},
        {"mongodb://h/.results", "its path is '/.results'"},
        {"mongodb://h/admin.results", "the server's own"},
        {"mongodb://h/local.results", "the server's own"},
        {"mongodb://h/m t.results", "holds a blank"},
        {"mongodb://h/mot.r?opensesame=1", "option 1 after the ?|none that the driver"},
        {"mongodb://h/mot.r?w=1&uuidRepresentation=standard", "option 2 after the ?|none that the driver"},
        {"mongodb://h/mot.r?proxyPassword=opensesame", "option 1 after the ?|none that the driver"},
        {"mongodb://h/mot.r?auto_encryption=x", "option 1 after the ?|none that the driver"},
        {"mongodb://h/mot.r?x2-1=x", "options are OPTION=VALUE"},
        {"mongodb://h/m.r?tlsCertificateKeyFilePassword=a&tsl=b", "option 2 after the ?|none that the"},
        {"mongodb://h/mot.system.users", "the server's own collections"},
        {"mongodb://h/mot.system", "the server's own"},
        {"mongodb://h/mot.results.tipple.files", "a load's catalog"},
        {"mongodb://h/mot.results.tipple.loads", "a load's catalog"},
        {"mongodb://h/mot.results.tipple.drill.tipple.files", "a load's catalog"},
        {"mongodb://h/mot.%zz", "percent-encoded"},
        {"mongodb://h/mot.%ff", "UTF-8"},
        {"mongodb://h:port/mot.results", "not valid"},
        {"mongodb:///mot.results", "not valid"},
        {"mongodb://h/mot.results?tls=maybe", "its option tls cannot be used"},
        {"mongodb://h/mot.results?w=1&tls=true;x=1", "are separated by &"},
        {"mongodb://h,k/mot.results?directConnection=true", "directConnection"},
        {"mongodb://h/mot.results?tls=true&tlsInsecure=true&tlsAllowInvalidHostnames=true", "its option tls"},
        {"mongodb://h/mot.results?w=1&tls", "options are OPTION=VALUE"},
        {"mongodb://h/mot.results?w%3D1", "option 1 after the ?|OPTION=VALUE"},
        {"mongodb://h/mot.results?appName=a b", "holds a blank"},
        {"mongodb://h/m.r?tls=perhaps&readPreferenceTags=a:b&readPreference=nearest", "its option tls"},
        {"mongodb://h/mot.results?tls=perhaps&tlsInsecure=perhaps", "its option tls"},
        {"mongodb://h/mot.results&w=1", "holds a '&': options come after a ?"},
        {"mongodb://h/mot.results;w=1", "a ';': in a name"},
        {"mongodb://h/mot.w=1", "is written %3D"},
        {"mongodb://h/mot.results ", "holds a blank"},
        {"mongodb://h/mot.results\t", "holds a blank"},
        {"mongodb://h/mot.results?w=1\n", "holds a blank"},
        {"mongodb://h?replicaSet=rs", "cannot be taken apart"},
        {"mongodb://h/mot.results?authMechanism=MONGODB-X509", "needs TLS"},
        {"mongodb://h/mot.results?authMechanism=MONGODB-X509&tls=false", "needs TLS: add tls=true"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_t err = {0};
        address_t address;
        if (address_parse(&address, cases[i].uri, &err))
            fail_msg("'%s' was taken", cases[i].uri);
        assert_int_equal(err.status, STATUS_USAGE);
        const char *says = cases[i].says, *bar = strchrnul(says, '|');
        if (!memmem(err.text, strlen(err.text), says, (size_t)(bar - says)) ||
            !strstr(err.text, bar + !!*bar))
            fail_msg("%s: '%s' is not in: %s", cases[i].uri, cases[i].says, err.text);
    }
}

/* Kerberos and LDAP where the driver was built without SASL; nothing else needs it. */
TEST(without_sasl) {
    static const struct {
        const char *options;
        bool needs;
    } cases[] = {{"?authMechanism=GSSAPI&authSource=$external", true},
                 {"?authMechanism=gssapi", true},
                 {"?authMechanism=PLAIN", true},
                 {"?authMechanism=SCRAM-SHA-256", false},
                 {"", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[100];
        err_t err = {0};
        snprintf(text, sizeof text, "mongodb://joe:x@h/%s", cases[i].options);
        mongoc_uri_t *uri = mongoc_uri_new(text);
        assert_non_null(uri);
        assert_true(address_fits_sasl(uri, true, &err));
        assert_int_equal(address_fits_sasl(uri, false, &err), !cases[i].needs);
        if (cases[i].needs) {
            assert_int_equal(err.status, STATUS_USAGE);
            assert_non_null(strstr(err.text, "pip install ."));
        }
        mongoc_uri_destroy(uri);
    }
}

/* Whatever is wrong with a URI, no piece of its password is in the sentence. */
TEST(no_password_is_shown) {
    static const char *const passwords[] = {"hunter2",   "hun/ter2",   "hun@ter2",  "hun?ter2",    "hun#ter2",
                                            "hun:ter2",  "hun%zter2",  "hun[ter2",  "hun%40ter2",  "hun ter2",
                                            "hun&ter2=", "h/u@n?ter2", "hun\\ter2", "hun\xffter2", "%"};
    static const char *const rests[] = {"h/mot.results",
                                        "h/mot",
                                        "h",
                                        "h/m$t.results",
                                        "h:port/mot.r",
                                        "h/mot.results?tls=maybe",
                                        "h/mot.results?w=-7",
                                        "h/mot.r?x@y=1",
                                        "",
                                        "h/mot.r?authMechanism=ter2&tlsCertificateKeyFilePassword=ter2",
                                        "h/mot.r?tlsCertificateKeyFilePassword%3Dhunter2",
                                        "h/mot.r?hunter2",
                                        "h/mot.r?hunter2=1",
                                        "h/mot.r?w=1&tls=hunter2",
                                        "h/mot.r?AWS_SESSION_TOKEN:hunter2",
                                        "h/mot.r&pwd=hunter2"};
    for (size_t i = 0; i < sizeof passwords / sizeof *passwords; i++) {
        for (size_t j = 0; j < sizeof rests / sizeof *rests; j++) {
            char uri[300];
            err_t err = {0};
            address_t address;
            snprintf(uri, sizeof uri, "mongodb://joe:%s@%s", passwords[i], rests[j]);
            if (address_parse(&address, uri, &err)) {
                char text[200];
                snprintf(text, sizeof text, "could not log in with %s at h",
                         mongoc_uri_get_password(address.uri));
                conceal_known(text);
                assert_null(strstr(text, "ter2"));
                assert_null(strstr(address.hosts, "ter2"));
                address_free(&address);
            } else {
                assert_int_equal(err.status, STATUS_USAGE);
                if (strstr(err.text, "ter2") || strstr(err.text, "hun"))
                    fail_msg("%s gives it away: %s", uri, err.text);
            }
        }
    }
}

TEST(conceal) {
    err_t err = {0};
    address_t address;
    char text[100] = "secret, se%63ret and secret";
    assert_true(address_parse(
        &address, "mongodb://joe:se%63ret@h/mot.results?tlsCertificateKeyFilePassword=opensesame", &err));
    conceal_known(text);
    assert_string_equal(text, "***, *** and ***");
    strcpy(text, "opensesame");
    conceal_known(text);
    assert_string_equal(text, "***");
    address_free(&address);
    /* properties of a login, and the password of a key */
    assert_true(
        address_parse(&address,
                      "mongodb://h/mot.r?authMechanismProperties=SERVICE_NAME:first&gssapiServiceName="
                      "second&tlsCertificateKeyFilePassword=third&canonicalizeHostname=false",
                      &err));
    strcpy(text, "SERVICE_NAME:first, second and third");
    conceal_known(text);
    assert_string_equal(text, "***, second and ***");
    address_free(&address);
    /* two letters replaced wherever they stand would spell themselves out */
    assert_true(address_parse(&address, "mongodb://joe:at@h/mot.results", &err));
    strcpy(text, "what is that");
    conceal_known(text);
    assert_string_equal(text, "what is that");
    err_set(&err, STATUS_USAGE, "what is mongodb://joe:at@h");
    assert_string_equal(err.text, "what is mongodb://joe:***@h");
    address_free(&address);
}

static int warnings;

static void count_warning(mongoc_log_level_t level, const char *domain, const char *words, void *context) {
    (void)level, (void)domain, (void)context;
    warnings += strstr(words, "nsupported URI option") != NULL;
}

/* What the driver in use would ignore is refused, and nothing else is. */
TEST(options) {
    static const char options[] =
        "appName=x authMechanismProperties=A:b authSource=x canonicalizeHostname=true compressors=zlib "
        "connectTimeoutMS=1 directConnection=true gssapiServiceName=x heartbeatFrequencyMS=1000 j=true "
        "journal=true loadBalanced=true localThresholdMS=1 maxConnecting=1 maxIdleTimeMS=1 maxPoolSize=1 "
        "minPoolSize=1 proxyHost=x proxyPort=1 readConcernLevel=majority readPreference=nearest "
        "readPreference=nearest&readPreferenceTags=a:b readPreference=nearest&maxStalenessSeconds=120 "
        "replicaSet=x retryReads=true retryWrites=true safe=true serverMonitoringMode=auto "
        "serverSelectionTimeoutMS=1 serverSelectionTryOnce=true slaveOk=true socketCheckIntervalMS=1 "
        "socketTimeoutMS=1 ssl=true sslAllowInvalidCertificates=true sslAllowInvalidHostnames=true "
        "sslCertificateAuthorityFile=x sslClientCertificateKeyFile=x sslClientCertificateKeyPassword=x "
        "timeoutMS=1 tls=true TLS=true tlsAllowInvalidCertificates=true tlsAllowInvalidHostnames=true "
        "tlsCAFile=x tlsCertificateKeyFile=x tlsCertificateKeyFilePassword=x "
        "tlsDisableCertificateRevocationCheck=true tlsDisableOCSPEndpointCheck=true tlsInsecure=true "
        "tsl=true uuidRepresentation=standard w=1 waitQueueMultiple=1 waitQueueTimeoutMS=1 wtimeout=1 "
        "wTimeoutMS=1 zlibCompressionLevel=1";
    mongoc_log_set_handler(count_warning, NULL);
    char copy[sizeof options], *rest = copy;
    memcpy(copy, options, sizeof options);
    for (char *option; (option = strsep(&rest, " "));) {
        char uri[200];
        address_t address;
        err_t err = {0};
        snprintf(uri, sizeof uri, "mongodb://h/?%s", option);
        warnings = 0;
        mongoc_uri_t *parsed = mongoc_uri_new(uri);
        if (!parsed) /* an option that only older drivers took */
            continue;
        mongoc_uri_destroy(parsed);
        snprintf(uri, sizeof uri, "mongodb://h/mot.r?%s", option);
        const bool ok = address_parse(&address, uri, &err);
        if (ok == (warnings > 0))
            fail_msg("%s: %s", option, ok ? "it is taken, and means nothing" : err.text);
        if (ok)
            address_free(&address);
        else
            assert_non_null(strstr(err.text, mongoc_get_version()));
    }
    mongoc_log_set_handler(mongoc_log_default_handler, NULL);
}

TEST(of_hosts) {
    err_t err = {0};
    address_t address, narrowed;
    assert_true(address_parse(&address,
                              "mongodb://joe:se%40cret@r1:1,r2:2/mot.results?tls=true&tlsCAFile=/ca.pem"
                              "&directConnection=false&w=1&authSource=users&appName=me&compressors=zlib"
                              "&connectTimeoutMS=1234&authMechanism=SCRAM-SHA-256",
                              &err));
    assert_true(address_of_hosts(&address, "a:1,b:2", "s0", &narrowed, &err));
    assert_string_equal(narrowed.hosts, "a:1,b:2");
    assert_string_equal(narrowed.name, "mot.results");
    assert_string_equal(narrowed.database, "mot");
    assert_string_equal(narrowed.collection, "results");
    assert_string_equal(mongoc_uri_get_username(narrowed.uri), "joe");
    assert_string_equal(mongoc_uri_get_password(narrowed.uri), "se@cret");
    assert_string_equal(mongoc_uri_get_auth_source(narrowed.uri), "users");
    assert_string_equal(mongoc_uri_get_auth_mechanism(narrowed.uri), "SCRAM-SHA-256");
    assert_string_equal(mongoc_uri_get_replica_set(narrowed.uri), "s0");
    assert_string_equal(mongoc_uri_get_appname(narrowed.uri), "me");
    assert_true(mongoc_uri_get_tls(narrowed.uri));
    assert_string_equal(mongoc_uri_get_option_as_utf8(narrowed.uri, "tlscafile", ""), "/ca.pem");
    assert_int_equal(mongoc_uri_get_option_as_int32(narrowed.uri, "connecttimeoutms", 0), 1234);
    assert_false(mongoc_uri_has_option(narrowed.uri, "directconnection"));
    assert_int_equal(mongoc_write_concern_get_w(mongoc_uri_get_write_concern(narrowed.uri)), 1);
    bson_iter_t at;
    assert_true(bson_iter_init_find(&at, mongoc_uri_get_compressors(narrowed.uri), "zlib"));
    char text[] = "se@cret";
    conceal_known(text);
    assert_string_equal(text, "***");
    address_free(&narrowed);
    /* without a user, and as a router */
    address_free(&address);
    assert_true(address_parse(&address, "mongodb://r1:1,r2:2/mot.results?replicaSet=old", &err));
    assert_true(address_of_hosts(&address, "r2:2", NULL, &narrowed, &err));
    assert_null(mongoc_uri_get_username(narrowed.uri));
    assert_null(mongoc_uri_get_replica_set(narrowed.uri));
    address_free(&narrowed);
    assert_false(address_of_hosts(&address, "r2:99999999", NULL, &narrowed, &err));
    assert_non_null(strstr(err.text, "r2:99999999"));
    address_free(&address);
}

TEST(without_collection) {
    static const struct {
        const char *uri, *database, *with; /* the collection a.b c */
    } cases[] = {
        {"mongodb://h", "", "mongodb://h/a.b%20c"},
        {"mongodb://h/", "", "mongodb://h/a.b%20c"},
        {"mongodb://joe:p%40ss@h,i:2/?w=1&tls=true", "", "mongodb://joe:p%40ss@h,i:2/a.b%20c?w=1&tls=true"},
        {"mongodb://h/shop?w=1", "shop", "mongodb://h/a.b%20c?w=1"},
        {"mongodb://h/m%C3%B6t", "m\xc3\xb6t", "mongodb://h/a.b%20c"},
        {"mongodb://h/shop.orders", NULL, NULL},
        {"mongodb://h/shop.", NULL, NULL},
        {"mongodb://h/shop%2Eorders", NULL, NULL},
        {"mongodb://h/%", NULL, NULL},
        {"http://h/", NULL, NULL},
        {"", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_t err;
        char *database = address_of_database(cases[i].uri);
        if (!cases[i].database) {
            assert_null(database);
            continue;
        }
        assert_string_equal(database, cases[i].database);
        char *with = address_with_collection(cases[i].uri, "a.b c", &err);
        assert_string_equal(with, cases[i].with);
        address_t address;
        assert_true(address_parse(&address, with, &err));
        assert_string_equal(address.name, "a.b c");
        address_free(&address);
        free(with);
        free(database);
    }
}

/* A command that a user pastes has the whole URI, unless something in it is secret. */
TEST(to_paste) {
    static const char *const cases[][2] = {
        {"mongodb://a:1,b:2/shop.bad?replicaSet=r&tls=true",
         "mongodb://a:1,b:2/shop.bad?replicaSet=r&tls=true"},
        {"mongodb://joe:s3cret@a:1/shop.bad", ".../shop.bad"},
        {"mongodb://a/shop.bad?tls=true&tlsCertificateKeyFilePassword=s3cret", ".../shop.bad"},
        {"mongodb://a/shop.other", ".../shop.bad"},
        {NULL, ".../shop.bad"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_t err;
        char *shown = address_to_paste(cases[i][0], "shop.bad", &err);
        assert_string_equal(shown, cases[i][1]);
        free(shown);
    }
}
