/* ejson_print_concealed: secrets in the values of documents. Each text becomes what it would become alone, and nothing else
 * changes, whatever stands next to it. */
#include "base/document.h"
#include "base/text.h"
#include "test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void shows(const char *json, const char *expected) {
    bson_error_t error;
    bson_t *document = bson_new_from_json((const uint8_t *)json, -1, &error);
    if (!document)
        fail_msg("%s: %s", json, error.message);
    char *shown = ejson_print_concealed(document, NULL);
    assert_string_equal(shown, expected);
    free(shown);
    bson_destroy(document);
}

TEST(values) {
    shows("{\"_id\": 1, \"link\": {\"url\": \"docker://nginx:latest\"}, \"mail\": \"ann@example.org\"}",
          "{ \"_id\" : 1, \"link\" : { \"url\" : \"docker://nginx:***\" }, \"mail\" : \"ann@example.org\" }");
    shows("{\"a\": [\"mongodb://joe:s3cret@h\", 5, [\"x\"]], \"http://joe:s3cret@h\": true}",
          "{ \"a\" : [ \"mongodb://joe:***@h\", 5, [ \"x\" ] ], \"http://joe:***@h\" : true }");
    shows("{\"a\": {\"$regularExpression\": {\"pattern\": \"//joe:s3cret@h\", \"options\": \"i\"}}}",
          "{ \"a\" : { \"$regularExpression\" : { \"pattern\" : \"//joe:***@h\", \"options\" : \"i\" } } }");
    shows("{\"a\": {\"$code\": \"//joe:s3cret@h\"}, \"b\": {\"$symbol\": \"//joe:s3cret@h\"}}",
          "{ \"a\" : { \"$code\" : \"//joe:***@h\" }, \"b\" : { \"$symbol\" : \"//joe:***@h\" } }");
    shows("{\"a\": {\"$code\": \"//j:s3cret@h\", \"$scope\": {\"b\": \"//j:s3cret@h\"}}}",
          "{ \"a\" : { \"$code\" : \"//j:***@h\", \"$scope\" : { \"b\" : \"//j:***@h\" } } }");
    shows("{\"a\": \"x\\u0000//joe:s3cret@h\\u0000\"}", "{ \"a\" : \"x\\u0000//joe:***@h\\u0000\" }");
    shows("{}", "{ }");
}

/* Texts by chance, of what secrets and JSON are made of: read again, the JSON has each text as it would be alone. */
TEST(each_alone) {
    static const char *const pieces[] = {"mongodb:",  "//", "joe", ":",  "s3cret", "@",   "h",
                                         "1234",      " ",  "\"",  "\\", ",",      "}",   "]",
                                         "password=", "?",  "&",   "\n", "\x1b",   "***", "\xC3\xA9"};
    enum { ROUNDS = 3000, TEXTS = 4 };
    srand(17);
    for (int round = 0; round < ROUNDS; round++) {
        bson_t document = BSON_INITIALIZER, list, inner;
        text_t texts[TEXTS] = {{.length = 0}};
        for (int i = 0; i < TEXTS; i++) {
            text_append(&texts[i], "");
            for (int left = rand() % 9; left; left--)
                text_append(&texts[i], pieces[(size_t)rand() % (sizeof pieces / sizeof *pieces)]);
        }
        BSON_APPEND_UTF8(&document, "a", texts[0].bytes);
        BSON_APPEND_ARRAY_UNSAFE_BEGIN(&document, "b", &list);
        BSON_APPEND_UTF8(&list, "0", texts[1].bytes);
        BSON_APPEND_DOCUMENT_BEGIN(&list, "1", &inner);
        BSON_APPEND_UTF8(&inner, "c", texts[2].bytes);
        bson_append_document_end(&list, &inner);
        bson_append_array_end(&document, &list);
        BSON_APPEND_UTF8(&document, "d", texts[3].bytes);
        char *json = ejson_print_concealed(&document, NULL);
        bson_t *read = bson_new_from_json((const uint8_t *)json, -1, NULL);
        if (!read)
            fail_msg("no JSON: %s", json);
        static const char *const paths[TEXTS] = {"a", "b.0", "b.1.c", "d"};
        for (int i = 0; i < TEXTS; i++) {
            bson_iter_t top, at;
            char *alone = text_concealed(texts[i].bytes);
            assert_true(bson_iter_init(&top, read) && bson_iter_find_descendant(&top, paths[i], &at));
            assert_string_equal(bson_iter_utf8(&at, NULL), alone);
            free(alone);
            text_free(&texts[i]);
        }
        bson_destroy(read);
        bson_destroy(&document);
        free(json);
    }
}

/* As deep as a server accepts, and deeper than there is a stack for. */
TEST(depth) {
    static const int depths[] = {200, 2000};
    for (int i = 0; i < 2; i++) {
        bson_t *document = BCON_NEW("a", BCON_UTF8("//j:s3cret@h"));
        for (int depth = 1; depth < depths[i]; depth++) {
            bson_t *outer = bson_new();
            BSON_APPEND_DOCUMENT(outer, "a", document);
            bson_destroy(document);
            document = outer;
        }
        char *shown = ejson_print_concealed(document, NULL);
        assert_true((shown != NULL) == (i == 0));
        assert_true(i || !strstr(shown, "s3cret"));
        free(shown);
        bson_destroy(document);
    }
}
