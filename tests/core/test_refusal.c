/* server: what errors mean for a load. */
#include "server/server.h"
#include "test.h"

#include <string.h>

static code_class_t of(uint32_t domain, uint32_t code, const char *words) {
    bson_error_t error;
    bson_set_error(&error, domain, code, "%s", words);
    return refusal_of(&error, NULL);
}

TEST(codes) {
    static const struct {
        uint32_t code;
        code_class_t refusal;
    } cases[] = {
        {6, CODE_PASSING},       {7, CODE_PASSING},         {64, CODE_PASSING},
        {89, CODE_PASSING},      {91, CODE_PASSING},        {189, CODE_PASSING},
        {262, CODE_PASSING},     {9001, CODE_PASSING},      {10107, CODE_PASSING},
        {11600, CODE_PASSING},   {11602, CODE_PASSING},     {13388, CODE_PASSING},
        {13435, CODE_PASSING},   {13436, CODE_PASSING},     {10058, CODE_PASSING},
        {13, CODE_NOT_ALLOWED},  {18, CODE_NOT_ALLOWED},    {11, CODE_NOT_ALLOWED},
        {14031, CODE_STATE},     {371, CODE_STATE},         {20, CODE_STATE},
        {166, CODE_STATE},       {100, CODE_STATE},         {11000, CODE_UNKNOWN},
        {121, CODE_OF_DOCUMENT}, {17280, CODE_OF_DOCUMENT}, {10334, CODE_OF_DOCUMENT},
        {2, CODE_OF_DOCUMENT},   {16755, CODE_OF_DOCUMENT}, {53, CODE_OF_DOCUMENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (of(MONGOC_ERROR_SERVER, cases[i].code, "") != cases[i].refusal)
            fail_msg("code %u", cases[i].code);
}

TEST(driver) {
    assert_int_equal(of(MONGOC_ERROR_STREAM, MONGOC_ERROR_STREAM_SOCKET, ""), CODE_PASSING);
    assert_int_equal(of(MONGOC_ERROR_PROTOCOL, MONGOC_ERROR_PROTOCOL_INVALID_REPLY, ""), CODE_PASSING);
    assert_int_equal(of(MONGOC_ERROR_PROTOCOL, MONGOC_ERROR_PROTOCOL_BAD_WIRE_VERSION, ""), CODE_UNKNOWN);
    assert_int_equal(of(MONGOC_ERROR_SERVER_SELECTION, 13053, "No suitable servers found"), CODE_PASSING);
    assert_int_equal(of(MONGOC_ERROR_SERVER_SELECTION, 13053, "[Authentication failed.]"), CODE_NOT_ALLOWED);
    assert_int_equal(of(MONGOC_ERROR_CLIENT, MONGOC_ERROR_CLIENT_AUTHENTICATE, "no"), CODE_NOT_ALLOWED);
    assert_int_equal(of(MONGOC_ERROR_CLIENT, MONGOC_ERROR_CLIENT_AUTHENTICATE,
                        "Failed to send \"saslStart\" command with database \"admin\": Broken pipe"),
                     CODE_PASSING);
    assert_int_equal(of(MONGOC_ERROR_CLIENT, MONGOC_ERROR_CLIENT_AUTHENTICATE,
                        "The server is in quiesce mode and will shut down"),
                     CODE_PASSING);
    assert_int_equal(of(MONGOC_ERROR_COMMAND, MONGOC_ERROR_COMMAND_INVALID_ARG, "no"), CODE_UNKNOWN);
    assert_int_equal(of(MONGOC_ERROR_WRITE_CONCERN, 4711, "who knows"), CODE_PASSING);
    assert_int_equal(of(MONGOC_ERROR_WRITE_CONCERN, 100, "Not enough data-bearing nodes"), CODE_STATE);
    assert_int_equal(of(0, 0, ""), CODE_PASSING);
}

TEST(words) {
    assert_int_equal(of(MONGOC_ERROR_SERVER, 8, "28: No space left on device"), CODE_STATE);
    assert_int_equal(of(MONGOC_ERROR_SERVER, 1, "something else"), CODE_UNKNOWN);
    bson_t *reply = BCON_NEW("errorLabels", "[", BCON_UTF8("RetryableWriteError"), "]");
    bson_error_t error;
    bson_set_error(&error, MONGOC_ERROR_SERVER, 4711, "new in some release");
    assert_int_equal(refusal_of(&error, reply), CODE_PASSING);
    bson_destroy(reply);
}

/* The roles that may be missing are named. */
TEST(roles) {
    address_t address;
    bson_error_t error;
    err_t err;
    assert_true(address_parse(&address, "mongodb://ldr:pw@h/d.c", &err));
    bson_set_error(&error, MONGOC_ERROR_SERVER, 13, "not authorized on d to execute command {insert: 'c'}");
    assert_false(refusal_explain(&address, &error, NULL, "insert into d.c", &err));
    assert_int_equal(err.status, STATUS_USAGE);
    assert_non_null(strstr(err.text, "'ldr' may not"));
    assert_non_null(strstr(err.text, "(not authorized on d)"));
    address_free(&address);
}
