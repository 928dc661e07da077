/* What the writer reads from replies of servers that say what no server should: nothing is believed of them. */
#include "box/box.h"
#include "load/deliver/deliver.h"
#include "server/send.h"
#include "test.h"

#include <stdio.h>

enum { DOCUMENTS = 2 };

/* Sends two documents to a box that answers with this. */
static void send_two(const char *answer, outcome_t outcomes[DOCUMENTS], char words[WIRE_WORDS]) {
    static const uint8_t empty[] = {5, 0, 0, 0, 0, 5, 0, 0, 0, 0};
    static const uint32_t starts[] = {0, 5, 10};
    const documents_t documents = {.bytes = empty, .starts = starts, .count = DOCUMENTS};
    const message_t message = {.all = &documents, .count = DOCUMENTS};
    const write_error_t *errors[DOCUMENTS];
    char uri[BOX_URI];
    reply_t reply;
    err_t err;
    box_t *box = box_start(BOX_STANDALONE);
    box_fault(box, &(box_fault_t){.command = "insert", .reply = answer});
    server_t *server = server_connect(
        &(server_options_t){.uri = box_uri(box, "d.c", uri), .patience_ns = 5000000000, .connections = 1},
        &err);
    assert_non_null(server);
    writer_t *writer = writer_new(server, NULL, &err);
    assert_non_null(writer);
    const wire_t *wire = writer_wire(writer);
    wire->begin(wire->context);
    assert_true(wire->insert(wire->context, &message, &reply, &err));
    outcome_judge(&reply, DOCUMENTS, outcomes, errors);
    snprintf(words, WIRE_WORDS, "%s", reply.error_count ? reply.errors[0].words : "");
    writer_destroy(writer);
    server_destroy(server);
    box_stop(box);
}

TEST(what_is_believed) {
    enum { YES = OUTCOME_STORED, NO = OUTCOME_REFUSED, WHO_KNOWS = OUTCOME_IN_DOUBT };
    static const struct {
        const char *reply;
        unsigned outcomes[DOCUMENTS];
    } cases[] = {
        {"{\"ok\": 1, \"n\": 2}", {YES, YES}},
        {"{\"ok\": 1, \"n\": 1, \"writeErrors\": [{\"index\": 1, \"code\": 121}]}", {YES, NO}},
        {"{\"ok\": 1, \"n\": 1, \"writeErrors\": [{\"index\": -1, \"code\": 121}]}", {WHO_KNOWS, WHO_KNOWS}},
        {"{\"ok\": 1, \"n\": 1, \"writeErrors\": [{\"code\": 121}]}", {WHO_KNOWS, WHO_KNOWS}},
        {"{\"ok\": 1, \"n\": 1, \"writeErrors\": [5]}", {WHO_KNOWS, WHO_KNOWS}},
        {"{\"ok\": 1, \"n\": 2.0}", {WHO_KNOWS, WHO_KNOWS}},
        {"{\"ok\": 1, \"n\": {\"$numberLong\": \"-2\"}}", {WHO_KNOWS, WHO_KNOWS}},
        {"{\"ok\": 1, \"n\": {\"$numberLong\": \"4294967298\"}}", {WHO_KNOWS, WHO_KNOWS}},
        {"{\"ok\": 1}", {WHO_KNOWS, WHO_KNOWS}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        outcome_t outcomes[DOCUMENTS];
        char words[WIRE_WORDS];
        send_two(cases[i].reply, outcomes, words);
        for (size_t j = 0; j < DOCUMENTS; j++)
            if (outcomes[j] != cases[i].outcomes[j])
                fail_msg("%s: document %zu: %u", cases[i].reply, j, (unsigned)outcomes[j]);
    }
}

TEST(words) {
    outcome_t outcomes[DOCUMENTS];
    char words[WIRE_WORDS];
    send_two("{\"ok\": 1, \"n\": 1, \"writeErrors\": [{\"index\": 1, \"code\": 121, \"errmsg\": \"it "
             "is\\ntoo long\"}]}",
             outcomes, words);
    assert_string_equal(words, "it is too long");
    send_two("{\"ok\": 1, \"n\": 1, \"writeErrors\": [{\"index\": 1, \"code\": 121}]}", outcomes, words);
    assert_non_null(strstr(words, "error code, 121"));
}
