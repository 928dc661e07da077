/* json_document: a text in memory as one document, whatever its length; and the sentence where it is none. */
#include "format/json/json_document.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static void becomes(const char *text, const char *expected) {
    err_t err;
    bson_t *document = json_document(text, true, &err);
    if (!document)
        fail_msg("%s: %s", text, err.text);
    char *printed = bson_as_canonical_extended_json(document, NULL);
    assert_string_equal(printed, expected);
    bson_free(printed);
    bson_destroy(document);
}

static void refused(const char *text, const char *why) {
    err_t err;
    assert_null(json_document(text, true, &err));
    assert_int_equal(err.status, STATUS_USAGE);
    assert_non_null(strstr(err.text, why));
}

TEST(documents) {
    becomes("{\"a\": {\"$numberInt\": \"5\"}}\n", "{ \"a\" : { \"$numberInt\" : \"5\" } }");
    becomes(" {\"a\": {\"$type\": [\"int\", \"long\"]}}",
            "{ \"a\" : { \"$type\" : [ \"int\", \"long\" ] } }");
    becomes("{\"a\": {\"$regex\": \"^x\", \"$ne\": \"y\"}}",
            "{ \"a\" : { \"$regex\" : \"^x\", \"$ne\" : \"y\" } }");
}

TEST(none) {
    refused("{\"a\": ", "at byte 6");
    refused("{\"o\": {\"v\": {\"$oid\": \"7\"}}}", "at byte 22");
}

/* Each byte of a text may become several of BSON. */
TEST(long) {
    enum { ITEMS = 100000 };
    char *text = malloc(3 * ITEMS + 10);
    size_t length = (size_t)sprintf(text, "{\"a\":[0");
    for (int i = 1; i < ITEMS; i++)
        length += (size_t)sprintf(text + length, ",0");
    strcpy(text + length, "]}");
    err_t err;
    bson_iter_t at, item;
    int count = 0;
    bson_t *document = json_document(text, true, &err);
    assert_non_null(document);
    assert_true(bson_iter_init_find(&at, document, "a") && bson_iter_recurse(&at, &item));
    while (bson_iter_next(&item))
        count++;
    assert_int_equal(count, ITEMS);
    bson_destroy(document);
    free(text);
}
