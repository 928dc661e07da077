/* What servers answer: a hostile or a newer one may say anything. Nothing crashes, what is refused has a sentence, and a
 * document counts as stored only where the reply, read here a second time, leaves no doubt of it. */
#include "base/document.h"
#include "load/deliver/deliver.h"
#include "odd_driver.h"
#include "query/suite/request.h"
#include "query/watch/watch.h"
#include "server/bson_read.h"
#include "server/cluster.h"
#include "server/collection.h"
#include "server/send.h"
#include "server/server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 6 };

/* ---- replies to messages of documents ---- */

static struct {
    bson_t reply;
    bool ok;
} answer;

/* As the driver says it: {insertedCount, writeErrors: [{index, code, errmsg, keyPattern}], writeConcernErrors: [...]} */
static bool insert(size_t count, bson_t *reply, bson_error_t *error) {
    static const int codes[] = {11000, 121, 2, 91, 361, 14031, 999, 13388};
    odd_t *odd = odd_server.odd;
    bson_t honest = BSON_INITIALIZER, errors = BSON_INITIALIZER, concerns = BSON_INITIALIZER;
    size_t failed = 0;
    for (size_t i = 0; i < count; i++) {
        char key[24];
        if (odd_byte(odd) < 192)
            continue;
        const int code = codes[odd_below(odd, 8)];
        const char *field = odd_byte(odd) & 1 ? "_id" : "k";
        snprintf(key, sizeof key, "%zu", failed++);
        bson_t *entry = BCON_NEW("index", BCON_INT32((int32_t)i), "code", BCON_INT32(code), "errmsg",
                                 BCON_UTF8("no good"), "keyPattern", "{", field, BCON_INT32(1), "}");
        BSON_APPEND_DOCUMENT(&errors, key, entry);
        bson_destroy(entry);
    }
    if (odd_byte(odd) >= 224) {
        bson_t *entry =
            BCON_NEW("code", BCON_INT32(64), "errmsg", BCON_UTF8("waiting for replication timed out"));
        BSON_APPEND_DOCUMENT(&concerns, "0", entry);
        bson_destroy(entry);
    }
    BSON_APPEND_INT32(&honest, "insertedCount", (int32_t)(count - failed));
    BSON_APPEND_ARRAY(&honest, "writeErrors", &errors);
    if (!bson_empty(&concerns))
        BSON_APPEND_ARRAY(&honest, "writeConcernErrors", &concerns);
    bson_init(reply);
    odd_copy(odd, &honest, false, reply);
    answer.ok = !odd_fails(odd, error) && !failed && bson_empty(&concerns);
    bson_destroy(&answer.reply);
    bson_copy_to(reply, &answer.reply);
    bson_destroy(&honest);
    bson_destroy(&errors);
    bson_destroy(&concerns);
    return answer.ok;
}

/* The entries of a list in the last reply; a list that is none has none. */
static bool entries(const char *name, bson_iter_t *list) {
    bson_iter_t at;
    return bson_iter_init_find(&at, &answer.reply, name) &&
           (BSON_ITER_HOLDS_ARRAY(&at) || BSON_ITER_HOLDS_DOCUMENT(&at)) && bson_iter_recurse(&at, list);
}

/* What the reply proves: which of `count` documents are stored. */
static void plain_judge(uint32_t count, bool *stored) {
    bson_iter_t list, field;
    size_t errors = 0, concerns = 0;
    bool named[MOST] = {false}, clear = true;
    if (entries("writeErrors", &list))
        for (; bson_iter_next(&list); errors++) {
            int64_t index = -1;
            if (BSON_ITER_HOLDS_DOCUMENT(&list) && bson_iter_recurse(&list, &field))
                while (bson_iter_next(&field))
                    if (strcmp(bson_iter_key(&field), "index") == 0)
                        index = BSON_ITER_HOLDS_INT32(&field) || BSON_ITER_HOLDS_INT64(&field)
                                    ? bson_iter_as_int64(&field)
                                    : -1;
            clear = clear && index >= 0 && index < count && !named[index];
            if (clear)
                named[index] = true;
        }
    if (entries("writeConcernErrors", &list))
        while (bson_iter_next(&list))
            concerns++;
    const bool counted = bson_iter_init_find(&field, &answer.reply, "insertedCount") &&
                         (BSON_ITER_HOLDS_INT32(&field) || BSON_ITER_HOLDS_INT64(&field)) &&
                         bson_iter_as_int64(&field) == (int64_t)count - (int64_t)errors;
    for (uint32_t i = 0; i < count; i++)
        stored[i] = clear && counted && !concerns && !named[i] && (answer.ok || errors);
}

static void judge(const reply_t *reply, uint32_t count) {
    outcome_t outcomes[MOST];
    const write_error_t *errors[MOST];
    bool stored[MOST];
    const verdict_t verdict = outcome_judge(reply, count, outcomes, errors);
    plain_judge(count, stored);
    bool doubt = false, certain = true;
    for (uint32_t i = 0; i < count; i++) {
        LAB_MUST(outcomes[i] != OUTCOME_STORED || stored[i]);
        LAB_MUST((outcomes[i] != OUTCOME_REFUSED && outcomes[i] != OUTCOME_DUPLICATE) || errors[i]);
        doubt = doubt || outcomes[i] == OUTCOME_IN_DOUBT;
        certain = certain && stored[i];
    }
    LAB_MUST(doubt == (verdict.next != OUTCOME_SETTLED));
    LAB_MUST(!outcome_is_clean(reply, count) || certain);
}

static const wire_t *wire; /* to the odd server */

/* Patience for as many tries as are drawn. */
static bool again(void *context, const trouble_t *trouble, err_t *err) {
    return odd_below(odd_server.odd, 4) || wire->again(context, trouble, err);
}

/* {_id: i, a: 1}, each */
static void try_delivery(odd_t *odd, server_t *server) {
    uint8_t bytes[MOST * 64];
    uint32_t starts[MOST + 1] = {0}, count = 1 + (uint32_t)odd_below(odd, MOST);
    err_t err = {.text = ""};
    for (uint32_t i = 0; i < count; i++) {
        bson_t *document = BCON_NEW("_id", BCON_INT64(i), "a", BCON_INT32(1));
        memcpy(bytes + starts[i], bson_get_data(document), document->len);
        starts[i + 1] = starts[i] + document->len;
        bson_destroy(document);
    }
    const documents_t documents = {.bytes = bytes, .starts = starts, .count = count};
    writer_t *writer = writer_new(server, NULL, &err);
    LAB_MUST(writer);
    wire = writer_wire(writer);
    const message_t message = {.all = &documents, .count = count};
    reply_t reply;
    delivered_t delivered;
    wire->begin(wire->context);
    LAB_MUST(wire->insert(wire->context, &message, &reply, &err));
    judge(&reply, count);
    wire_t patient = *wire;
    patient.again = again;
    deliver_t *deliverer = deliver_new(&patient, &(deliver_owner_t){.context = NULL}, &err);
    LAB_MUST(deliverer);
    const bool whole = deliver(deliverer, &documents, &delivered, &err);
    LAB_MUST(whole ? delivered.stored + delivered.count == count
                   : delivered.stored + delivered.count <= count);
    if (whole)
        for (size_t i = 0; i < delivered.count; i++)
            LAB_MUST(delivered.exceptions[i].index < count &&
                     (!i || delivered.exceptions[i - 1].index < delivered.exceptions[i].index) &&
                     (delivered.exceptions[i].fate != FATE_REJECTED || delivered.exceptions[i].reason[0]));
    else
        LAB_MUST(err.text[0]);
    deliver_free(deliverer);
    writer_destroy(writer);
}

/* ---- replies to commands ---- */

static void try_cores(mongoc_client_t *client) {
    (void)server_load_cores(client);
}

static void try_place(server_t *server, mongoc_client_t *client) {
    bson_t *asked = BCON_NEW("clusteredIndex", BCON_BOOL(true), "collation", "{", "locale", "de", "}");
    const collection_options_t options = {.options = asked, .compressor = "zstd"};
    collection_t place;
    err_t err = {.text = ""};
    LAB_MUST(collection_look(server, client, &place, &err) || err.text[0]);
    LAB_MUST(collection_make(server, client, &options, &place, &err) || err.text[0]);
    err.text[0] = '\0';
    LAB_MUST(collection_is_whole(server, client, &err) || err.text[0]);
    bson_destroy(asked);
}

static void try_watch(server_t *server, mongoc_client_t *client) {
    watch_storage_t storage;
    err_t err = {.text = ""};
    LAB_MUST(watch_storage(server, client, "c", &storage, &err) || err.text[0]);
}

static void try_members(server_t *server, mongoc_client_t *client) {
    err_t err = {.text = ""};
    watch_sum_t sum = {.seconds = 0};
    watch_t *watch = watch_open(server, client, &err);
    LAB_MUST(watch || err.text[0]);
    if (!watch)
        return;
    watch_start(watch);
    watch_stop(watch, &sum);
    LAB_MUST(sum.seconds > 0 && !(sum.servers < 0) && !(sum.figures.examined < 0));
    watch_close(watch);
}

static void try_cluster(server_t *server, mongoc_client_t *client) {
    static const uint8_t uuid[16] = {7};
    balancing_t balancing;
    restored_t restored;
    zones_t zones;
    route_t *route;
    char hex[25];
    err_t err = {.text = ""};
    LAB_MUST(balancing_read(server, client, &balancing, &err) || err.text[0]);
    bool held;
    LAB_MUST(balancing_hold(server, client, uuid, &held, &err) || err.text[0]);
    LAB_MUST(cluster_restore(server, client, held ? uuid : NULL, &restored, &err) || err.text[0]);
    LAB_MUST(server_process(server, client, hex, &err) ? strlen(hex) == 24 : err.text[0] != '\0');
    err.text[0] = '\0';
    LAB_MUST(zones_read(server, client, &zones, &err) || err.text[0]);
    zones_free(&zones);
    const route_read_t read = route_open(server, client, &route, &err);
    LAB_MUST(read == ROUTE_READ ? route != NULL : !route && (read == ROUTE_UNSHARDED || err.text[0]));
    LAB_MUST(!route || route_refresh(route, client, &err) || err.text[0]);
    route_close(route);
}

/* Of errors: what they mean does not depend on whether there is a reply, and there is a sentence for each. */
static void try_errors(odd_t *odd, const server_t *server) {
    bson_error_t error = {.domain = 0};
    err_t err = {.text = ""};
    bson_t *reply = odd_document(odd, odd_replies, "find");
    (void)server_code(reply);
    if (odd_fails(odd, &error)) {
        LAB_MUST(refusal_of(&error, reply) <= CODE_OF_DOCUMENT);
        LAB_MUST(!refusal_explain(server_address(server), &error, reply, "do this", &err) && err.text[0] &&
                 err.status != STATUS_OK);
        const code_row_t row = code_row((int)error.code);
        LAB_MUST(row.class == CODE_UNKNOWN || row.class == code_class((int)error.code, error.message));
    }
    bson_destroy(reply);
}

/* Documents that are an answer: numbers of them add up, what is printed can be read again, and what is the same has the
 * same digest. */
static void try_answers(odd_t *odd) {
    bson_t answers = BSON_INITIALIZER, result = BSON_INITIALIZER;
    accumulate_t sums;
    char one[EXPECTED_DIGEST], other[EXPECTED_DIGEST];
    const uint8_t way = odd_byte(odd);
    accumulate_begin(&sums, way & 1 ? "a" : "a.k1", way & 2);
    for (size_t i = 0, count = odd_below(odd, 6); i < count; i++) {
        char key[24];
        bson_t *document = bson_new();
        snprintf(key, sizeof key, "%zu", i);
        odd_value(odd, document, "a", 0);
        odd_value(odd, document, "b", 0);
        accumulate_take(&sums, document);
        BSON_APPEND_DOCUMENT(&answers, key, document);
        bson_destroy(document);
    }
    accumulate_result(&sums, &result);
    LAB_MUST(bson_validate(&result, BSON_VALIDATE_NONE, NULL));
    bson_t *copy = bson_copy(&answers);
    expected_digest(&answers, one);
    expected_digest(copy, other);
    LAB_MUST(strlen(one) == EXPECTED_DIGEST - 1 && strcmp(one, other) == 0);
    size_t length;
    char *json = ejson_print(&answers, odd_byte(odd) & 1, &length);
    LAB_MUST(!json || strlen(json) == length);
    bson_free(json);
    bson_destroy(copy);
    bson_destroy(&answers);
    bson_destroy(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    odd_t odd = {data, size};
    err_t err;
    odd_begin(&odd);
    odd_server.insert = insert;
    bson_init(&answer.reply);
    server_t *server = odd_connect(&err);
    mongoc_client_t *client = server ? server_take(server, &err) : NULL;
    for (int round = 0; server && round < 4 && (odd.left || !round); round++)
        switch (odd_below(&odd, 8)) {
        case 0:
        case 1:
            try_delivery(&odd, server);
            break;
        case 2:
            try_cores(client);
            break;
        case 3:
            try_place(server, client);
            break;
        case 4:
            try_watch(server, client);
            break;
        case 5:
            try_members(server, client);
            break;
        case 6:
            try_cluster(server, client);
            break;
        default:
            try_errors(&odd, server);
            try_answers(&odd);
        }
    server_destroy(server);
    bson_destroy(&answer.reply);
    odd_end();
    return 0;
}
