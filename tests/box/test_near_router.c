/* One of several routers is tried first. When it does not answer, it is left alone for a while, and the others do its
 * work. */
#include "box/box.h"
#include "server/send.h"
#include "test.h"

static server_t *connect_to(box_t *box) {
    char uri[BOX_URI];
    err_t err;
    server_t *server = server_connect(
        &(server_options_t){.uri = box_uri(box, "d.c", uri), .patience_ns = 5000000000, .connections = 1},
        &err);
    if (!server)
        fail_msg("%s", err.text);
    return server;
}

/* A batch of one document. Returns how often it was sent. */
static int send_one(writer_t *writer, int id) {
    bson_t *document = BCON_NEW("_id", BCON_INT32(id));
    const uint32_t starts[] = {0, document->len};
    const documents_t documents = {.bytes = bson_get_data(document), .starts = starts, .count = 1};
    const message_t message = {.all = &documents, .count = 1};
    const wire_t *wire = writer_wire(writer);
    reply_t reply = {.kind = REPLY_LOST};
    bool stale;
    err_t err;
    int times = 0;
    assert_true(writer_begin_batch(writer, (straight_t){.server = NULL}, &err));
    wire->begin(wire->context);
    while (reply.kind != REPLY_GIVEN) {
        assert_true(!times || wire->again(wire->context, &(trouble_t){.reply = &reply}, &err));
        assert_true(wire->insert(wire->context, &message, &reply, &err));
        times++;
    }
    assert_int_equal(reply.inserted, 1);
    writer_end_batch(writer, &stale);
    bson_destroy(document);
    return times;
}

TEST(left_alone) {
    err_t err;
    box_t *home = box_start(BOX_ROUTER), *near = box_start(BOX_ROUTER);
    server_t *server = connect_to(home), *near_server = connect_to(near);
    writer_t *writer = writer_new(server, near_server, &err);
    assert_non_null(writer);
    assert_int_equal(send_one(writer, 1), 1);
    assert_int_equal(box_count(near, "d.c", NULL), 1);
    box_fault(near, &(box_fault_t){.command = "insert", .times = 100});
    assert_int_equal(send_one(writer, 2), 2);
    assert_int_equal(send_one(writer, 3), 1);
    assert_int_equal(box_count(home, "d.c", NULL), 2);
    assert_int_equal(box_asked(near, "insert", "c"), 2);
    writer_destroy(writer);
    server_destroy(near_server);
    server_destroy(server);
    box_stop(near);
    box_stop(home);
}
