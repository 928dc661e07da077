/* The catalog of a server in which someone, or something, has written what tipple does not write: it is refused by a
 * sentence, and reading it comes to an end. */
#include "box/box.h"
#include "catalog/store/store_mongo.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

static struct {
    box_t *box;
    server_t *server;
    mongoc_client_t *client;
    store_t *store;
    char reply[2000];
} lab;

static int set_up(void **state) {
    char uri[BOX_URI];
    err_t err;
    (void)state;
    lab.box = box_start(BOX_STANDALONE);
    const server_options_t options = {
        .uri = box_uri(lab.box, "d.c", uri), .patience_ns = 5000000000, .connections = 1};
    lab.server = server_connect(&options, &err);
    lab.client = lab.server ? server_take(lab.server, &err) : NULL;
    return !lab.client || !(lab.store = store_mongo_open(lab.server, lab.client, &err));
}

static int tear_down(TEST_UNUSED void **state) {
    store_mongo_close(lab.store);
    server_give(lab.server, lab.client);
    server_destroy(lab.server);
    box_stop(lab.box);
    return 0;
}

TEST_EACH(set_up, tear_down);

/* What is found next in a collection of the catalog: up to NULL. */
static void find(const char *collection, const char *const *said) {
    size_t length =
        (size_t)sprintf(lab.reply, "{\"ok\": 1, \"cursor\": {\"id\": 0, \"ns\": \"d.c\", \"firstBatch\": [");
    for (const char *const *at = said; *at; at++)
        length += (size_t)sprintf(lab.reply + length, "%s%s", at > said ? ", " : "", *at);
    sprintf(lab.reply + length, "]}}");
    box_fault(lab.box, &(box_fault_t){.command = "find", .collection = collection, .reply = lab.reply});
}

#define ENTRY_OF(id, more) "{\"_id\": " id ", \"key\": \"k\", \"path\": \"p\", " more "}"
#define VERSION            "\"versions\": [{\"size\": 9, \"modified\": 1}]"
#define VERSIONS           "\"version\": 1, " VERSION ", "
#define EXTENTS            "\"extents\": [{\"base\": 0, \"start\": 0, \"length\": 9}], "
#define PIECE_OF(more)     EXTENTS "\"pieces\": [{\"from\": 0, \"owner\": null, \"epoch\": 0" more "}]"
#define PIECE              PIECE_OF("")
#define ENTRY(id)          ENTRY_OF(id, VERSIONS PIECE)

TEST(entries) {
    static const struct {
        const char *said[4];
        bool good;
    } cases[] = {
        {{ENTRY("1"), ENTRY("{\"$numberLong\": \"7\"}"), ENTRY("8.0")}, true},
        {{ENTRY("0"), ENTRY("{\"$numberLong\": \"4294967295\"}")}, true},
        {{"{\"_id\": {\"$numberLong\": \"4294967296\"}}"}, false}, /* as 32 bits, 0: read again and again */
        {{"{\"_id\": {\"$numberDouble\": \"Infinity\"}}"}, false},
        {{"{\"_id\": {\"$numberDouble\": \"NaN\"}}"}, false},
        {{"{\"_id\": 1.5}"}, false},
        {{"{\"_id\": -1}"}, false},
        {{"{\"_id\": \"1\"}"}, false},
        {{"{\"path\": \"x\"}"}, false},
        {{ENTRY("7"), ENTRY("7")}, false},
        {{ENTRY("7"), ENTRY("6")}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        entries_t entries = {0};
        err_t err = {.text = ""};
        find("c.tipple.files", cases[i].said);
        if (store_read_all(lab.store, NULL, 0, &entries, &err) != cases[i].good)
            fail_msg("%s: %s", cases[i].said[0], err.text);
        if (!cases[i].good)
            assert_non_null(
                strstr(err.text, "the catalog of d.c is damaged: the _id of an entry (in c.tipple.files)"));
        entries_free(&entries);
    }
}

TEST(fields_of_entries) {
    static const struct {
        const char *said[2], *field;
    } cases[] = {
        {{"{\"_id\": 1, \"path\": \"p\", " VERSIONS PIECE "}"}, "key"},
        {{ENTRY_OF("1", "\"version\": 1, \"versions\": [{\"size\": 9}], " PIECE)}, "modified"},
        {{ENTRY_OF("1", PIECE)}, "versions"},
        {{ENTRY_OF("1", VERSION ", " PIECE)}, "version"},
        {{ENTRY_OF("1", "\"version\": 2, " VERSION ", " PIECE)}, "version"},
        {{ENTRY_OF("1", "\"version\": 1, " VERSION)}, "extents"},
        {{ENTRY_OF("1", VERSIONS EXTENTS "\"pieces\": [5]")}, "pieces"},
        {{ENTRY_OF("1", VERSIONS EXTENTS "\"pieces\": [{\"from\": 0, \"epoch\": 0}]")}, "owner"},
        {{ENTRY_OF("1", VERSIONS EXTENTS "\"pieces\": [{\"from\": 0, \"owner\": null}]")}, "epoch"},
        {{ENTRY_OF("1", VERSIONS EXTENTS "\"pieces\": [{\"from\": 0, \"owner\": null, \"epoch\": -1}]")},
         "epoch"},
        {{ENTRY_OF("1", "\"version\": 1, " VERSION ", \"removed\": 1, " PIECE)}, "removed"},
        {{ENTRY_OF("1", VERSIONS EXTENTS "\"pieces\": []")}, "pieces"},
        {{ENTRY_OF("1", VERSIONS PIECE_OF(", \"rejects\": 2"))}, "rejects"},
        {{ENTRY_OF("1", VERSIONS PIECE_OF(
                            ", \"rejects\": {\"$binary\": {\"base64\": \"AQ==\", \"subType\": \"00\"}}"))},
         "rejects"},
        {{ENTRY_OF("1", "\"version\": 1, " VERSION
                        ", \"pieces\": [{\"from\": 0, \"owner\": null, \"epoch\": 0}]")},
         "extents"},
        {{ENTRY_OF("1", "\"version\": 1, " VERSION ", \"extents\": [], \"pieces\": []")}, "extents"},
        {{ENTRY_OF("1", "\"version\": 1, " VERSION ", \"extents\": [{\"base\": 0, \"start\": 0}], "
                        "\"pieces\": []")},
         "length"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        entries_t entries = {0};
        err_t err = {.text = ""};
        char expected[100];
        find("c.tipple.files", cases[i].said);
        snprintf(expected, sizeof expected, "the field '%s' of its entry", cases[i].field);
        assert_false(store_read_all(lab.store, NULL, 0, &entries, &err));
        if (!strstr(err.text, expected))
            fail_msg("%s: %s: %s", expected, cases[i].said[0], err.text);
        entries_free(&entries);
    }
}

#define HEADER_OF(more) "{\"_id\": \"catalog\", \"layout\": 3, \"laneRule\": 1" more "}"
#define NUMBERS         ", \"generation\": 1, \"nextExtent\": 5, \"nextOrdinal\": 6"

TEST(header) {
    static const struct {
        const char *said[2], *field; /* NULL: it is read */
    } cases[] = {
        {{HEADER_OF(NUMBERS)}, NULL},
        {{HEADER_OF(", \"generation\": 1.0, \"nextExtent\": 5, \"nextOrdinal\": 6, \"drops\": 3, "
                    "\"dropping\": null")},
         NULL},
        {{HEADER_OF(", \"generation\": 1.5, \"nextExtent\": 5, \"nextOrdinal\": 6")}, "generation"},
        {{HEADER_OF(
             ", \"generation\": {\"$numberLong\": \"4294967297\"}, \"nextExtent\": 5, \"nextOrdinal\": 6")},
         "generation"},
        {{HEADER_OF(", \"generation\": 1, \"nextExtent\": -5, \"nextOrdinal\": 6")}, "nextExtent"},
        {{HEADER_OF(", \"generation\": 1, \"nextExtent\": 5")}, "nextOrdinal"},
        {{HEADER_OF(NUMBERS ", \"drops\": \"many\"")}, "drops"},
        {{HEADER_OF(NUMBERS ", \"dropping\": 5")}, "dropping"},
        {{HEADER_OF(NUMBERS ", \"format\": 5")}, "format"},
        {{HEADER_OF(NUMBERS ", \"leaseMs\": {\"$numberDouble\": \"Infinity\"}")}, "leaseMs"},
        {{"{\"_id\": \"catalog\"}"}, "layout"},
        {{"{\"_id\": \"catalog\", \"layout\": 4, \"generation\": \"of another layout\"}"}, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        catalog_header_t header;
        bool found;
        char expected[200];
        err_t err = {.text = ""};
        find("c.tipple.files", cases[i].said);
        if (store_read_header(lab.store, &header, &found, &err) != !cases[i].field)
            fail_msg("%s: %s", cases[i].said[0], err.text);
        snprintf(expected, sizeof expected, "the field '%s' of its header (in c.tipple.files)",
                 cases[i].field);
        assert_true(cases[i].field ? strstr(err.text, expected) != NULL : found);
        catalog_header_free(&header);
    }
}

TEST(loads) {
    static const struct {
        const char *said[4];
        bool good;
    } cases[] = {
        {{"{\"_id\": {\"$oid\": \"64a000000000000000000001\"}}",
          "{\"_id\": {\"$oid\": \"64a000000000000000000002\"}}"},
         true},
        {{"{\"_id\": {\"$oid\": \"64a000000000000000000001\"}}",
          "{\"_id\": {\"$oid\": \"64a000000000000000000001\"}}"},
         false},
        {{"{\"_id\": 5}"}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        loads_t loads = {0};
        err_t err = {.text = ""};
        find("c.tipple.loads", cases[i].said);
        assert_true(lab.store->read_loads(lab.store, &loads, &err) == cases[i].good);
        assert_true(cases[i].good || strstr(err.text, "not asked for"));
        loads_free(&loads);
    }
}
