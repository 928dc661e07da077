/* What the writer reads from replies of servers that say what no server should: nothing is believed of them. */
#include "load/deliver/outcome.h"
#include "odd_driver.h"
#include "server/send/writer.h"
#include "test.h"

enum { DOCUMENTS = 2 };

static odd_t nothing_odd;
static const char *answer;

static bool insert(size_t count, bson_t *reply, bson_error_t *error) {
    (void)count, (void)error;
    bson_t *document = odd_json(answer);
    bson_copy_to(document, reply);
    bson_destroy(document);
    return !strstr(answer, "writeErrors");
}

static void send_two(outcome_t outcomes[DOCUMENTS], char words[WIRE_WORDS]) {
    static const uint8_t empty[] = {5, 0, 0, 0, 0, 5, 0, 0, 0, 0};
    static const uint32_t starts[] = {0, 5, 10};
    const documents_t documents = {.bytes = empty, .starts = starts, .count = DOCUMENTS};
    const message_t message = {.all = &documents, .count = DOCUMENTS};
    const write_error_t *errors[DOCUMENTS];
    reply_t reply;
    err_t err;
    odd_begin(&nothing_odd);
    odd_server.insert = insert;
    server_t *server = odd_connect(&err);
    assert_non_null(server);
    writer_t *writer = writer_new(server, NULL, &err);
    assert_non_null(writer);
    const wire_t *wire = writer_wire(writer);
    wire->begin(wire->context);
    assert_true(wire->insert(wire->context, &message, &reply, &err));
    outcome_judge(&reply, DOCUMENTS, NULL, outcomes, errors);
    snprintf(words, WIRE_WORDS, "%s", reply.error_count ? reply.errors[0].words : "");
    writer_destroy(writer);
    server_destroy(server);
    odd_end();
}

TEST(what_is_believed) {
    enum { YES = OUTCOME_STORED, NO = OUTCOME_REFUSED, WHO_KNOWS = OUTCOME_IN_DOUBT };
    static const struct {
        const char *reply;
        unsigned outcomes[DOCUMENTS];
    } cases[] = {
        {"{\"insertedCount\": 2}", {YES, YES}},
        {"{\"insertedCount\": 1, \"writeErrors\": [{\"index\": 1, \"code\": 121}]}", {YES, NO}},
        {"{\"insertedCount\": 1, \"writeErrors\": [{\"index\": {\"$numberLong\": \"4294967297\"}, \"code\": "
         "121}]}",
         {WHO_KNOWS, WHO_KNOWS}},
        {"{\"insertedCount\": 1, \"writeErrors\": [{\"index\": -1, \"code\": 121}]}", {WHO_KNOWS, WHO_KNOWS}},
        {"{\"insertedCount\": 1, \"writeErrors\": [{\"code\": 121}]}", {WHO_KNOWS, WHO_KNOWS}},
        {"{\"insertedCount\": 1, \"writeErrors\": [5]}", {WHO_KNOWS, WHO_KNOWS}},
        {"{\"insertedCount\": 2.0}", {WHO_KNOWS, WHO_KNOWS}},
        {"{\"insertedCount\": {\"$numberLong\": \"-2\"}}", {WHO_KNOWS, WHO_KNOWS}},
        {"{\"insertedCount\": {\"$numberLong\": \"4294967298\"}}", {WHO_KNOWS, WHO_KNOWS}},
        {"{\"ok\": 1}", {WHO_KNOWS, WHO_KNOWS}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        outcome_t outcomes[DOCUMENTS];
        char words[WIRE_WORDS];
        answer = cases[i].reply;
        send_two(outcomes, words);
        for (size_t j = 0; j < DOCUMENTS; j++)
            if (outcomes[j] != cases[i].outcomes[j])
                fail_msg("%s: document %zu: %u", answer, j, (unsigned)outcomes[j]);
    }
}

TEST(words) {
    outcome_t outcomes[DOCUMENTS];
    char words[WIRE_WORDS];
    answer = "{\"insertedCount\": 1, \"writeErrors\": [{\"index\": 1, \"code\": 121, \"errmsg\": \"it "
             "is\\ntoo long\"}]}";
    send_two(outcomes, words);
    assert_string_equal(words, "it is too long");
    answer = "{\"insertedCount\": 1, \"writeErrors\": [{\"index\": 1, \"code\": 121}]}";
    send_two(outcomes, words);
    assert_non_null(strstr(words, "error code, 121"));
}
