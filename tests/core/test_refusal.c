/* server: what errors mean for a load. */
#include "server/server.h"
#include "test.h"

#include <string.h>

static refusal_t of(uint32_t domain, uint32_t code, const char *words) {
    bson_error_t error;
    bson_set_error(&error, domain, code, "%s", words);
    return refusal_of(&error, NULL);
}

TEST(codes) {
    static const struct {
        uint32_t code;
        refusal_t refusal;
    } cases[] = {
        {6, REFUSAL_GONE},      {7, REFUSAL_GONE},      {64, REFUSAL_GONE},     {89, REFUSAL_GONE},
        {91, REFUSAL_GONE},     {189, REFUSAL_GONE},    {262, REFUSAL_GONE},    {9001, REFUSAL_GONE},
        {10107, REFUSAL_GONE},  {11600, REFUSAL_GONE},  {11602, REFUSAL_GONE},  {13388, REFUSAL_GONE},
        {13435, REFUSAL_GONE},  {13436, REFUSAL_GONE},  {10058, REFUSAL_GONE},  {13, REFUSAL_AUTH},
        {18, REFUSAL_AUTH},     {11, REFUSAL_AUTH},     {14031, REFUSAL_STATE}, {371, REFUSAL_STATE},
        {20, REFUSAL_STATE},    {166, REFUSAL_STATE},   {100, REFUSAL_STATE},   {11000, REFUSAL_OTHER},
        {121, REFUSAL_OTHER},   {17280, REFUSAL_OTHER}, {10334, REFUSAL_OTHER}, {2, REFUSAL_OTHER},
        {16755, REFUSAL_OTHER}, {53, REFUSAL_OTHER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (of(MONGOC_ERROR_SERVER, cases[i].code, "") != cases[i].refusal)
            fail_msg("code %u", cases[i].code);
}

TEST(driver) {
    assert_int_equal(of(MONGOC_ERROR_STREAM, MONGOC_ERROR_STREAM_SOCKET, ""), REFUSAL_GONE);
    assert_int_equal(of(MONGOC_ERROR_PROTOCOL, MONGOC_ERROR_PROTOCOL_INVALID_REPLY, ""), REFUSAL_GONE);
    assert_int_equal(of(MONGOC_ERROR_PROTOCOL, MONGOC_ERROR_PROTOCOL_BAD_WIRE_VERSION, ""), REFUSAL_OTHER);
    assert_int_equal(of(MONGOC_ERROR_SERVER_SELECTION, 13053, "No suitable servers found"), REFUSAL_GONE);
    assert_int_equal(of(MONGOC_ERROR_SERVER_SELECTION, 13053, "[Authentication failed.]"), REFUSAL_AUTH);
    assert_int_equal(of(MONGOC_ERROR_CLIENT, MONGOC_ERROR_CLIENT_AUTHENTICATE, "no"), REFUSAL_AUTH);
    assert_int_equal(of(MONGOC_ERROR_CLIENT, MONGOC_ERROR_CLIENT_AUTHENTICATE,
                        "Failed to send \"saslStart\" command with database \"admin\": Broken pipe"),
                     REFUSAL_GONE);
    assert_int_equal(of(MONGOC_ERROR_CLIENT, MONGOC_ERROR_CLIENT_AUTHENTICATE,
                        "The server is in quiesce mode and will shut down"),
                     REFUSAL_GONE);
    assert_int_equal(of(MONGOC_ERROR_COMMAND, MONGOC_ERROR_COMMAND_INVALID_ARG, "no"), REFUSAL_OTHER);
    assert_int_equal(of(MONGOC_ERROR_WRITE_CONCERN, 4711, "who knows"), REFUSAL_GONE);
    assert_int_equal(of(MONGOC_ERROR_WRITE_CONCERN, 100, "Not enough data-bearing nodes"), REFUSAL_STATE);
    assert_int_equal(of(0, 0, ""), REFUSAL_GONE);
}

TEST(words) {
    assert_int_equal(of(MONGOC_ERROR_SERVER, 8, "28: No space left on device"), REFUSAL_STATE);
    assert_int_equal(of(MONGOC_ERROR_SERVER, 0, "not master"), REFUSAL_GONE);
    assert_int_equal(of(MONGOC_ERROR_SERVER, 1, "something else"), REFUSAL_OTHER);
    bson_t *reply = BCON_NEW("errorLabels", "[", BCON_UTF8("RetryableWriteError"), "]");
    bson_error_t error;
    bson_set_error(&error, MONGOC_ERROR_SERVER, 4711, "new in some release");
    assert_int_equal(refusal_of(&error, reply), REFUSAL_GONE);
    bson_destroy(reply);
}

static void refused(const char *doing, const char *role) {
    address_t address;
    bson_error_t error;
    err_t err;
    assert_true(address_parse(&address, "mongodb://ldr:pw@h/d.c", &err));
    bson_set_error(&error, MONGOC_ERROR_SERVER, 13, "not authorized");
    assert_false(refusal_explain(&address, &error, NULL, doing, &err));
    assert_int_equal(err.status, STATUS_USAGE);
    assert_non_null(strstr(err.text, role));
    address_free(&address);
}

/* The role that is missing is named. */
TEST(roles) {
    refused("run 'drop' on d.c", "the role readWrite on the database d");
    static const char *const readings[] = {
        "look at the collection", "list the indexes",       "draw the parameters of the query 'q'",
        "run 'find' on d.c",      "run 'count' on d.c",     "run 'listIndexes' on d.c",
        "sample the _ids",        "see whether ranges pay", "read d.c"};
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++)
        refused(readings[i], "the role read on the database d");
    refused("insert into d.c", "the role readWrite on the database d");
    refused("run 'createIndexes' on d.c", "the role readWrite on the database d");
    refused("run 'shardCollection' on admin.d.c", "the role clusterManager");
    refused("run 'addShardToZone' on admin.s0", "the role clusterManager");
    refused("run 'update' on config.collections", "the role clusterManager");
    refused("read the config database", "the role clusterMonitor");
}
