/* result: what --json prints of a command's result, against JSON that was written by hand. */
#include "cli/print/result.c"
#include "stdout_lab.h"
#include "test.h"

#include <string.h>

static void prints(bson_t *result, const char *expected) {
    listen();
    result_print("try", 7, result);
    heard(expected);
    bson_reinit(result);
}

#define BEGINS "{ \"schema\" : 1, \"command\" : \"try\", \"status\" : 7"

TEST(fields) {
    bson_t result = BSON_INITIALIZER;
    prints(&result, BEGINS " }\n");
    result_put(&result, AS_COUNT("most", INT64_MAX), AS_COUNT("id", -3), AS_FLAG("yes", 1 == 1),
               AS_TEXT("none", NULL), AS_TEXT("empty", ""));
    prints(&result, BEGINS ", \"most\" : 9223372036854775807, \"id\" : -3, \"yes\" : true, \"none\" : null, "
                           "\"empty\" : \"\" }\n");
}

/* A number with digits behind the point stays a fraction, and one without stays whole. */
TEST(numbers) {
    bson_t result = BSON_INITIALIZER;
    result_put(&result, AS_NUMBER("a", 2.5000004, 6), AS_NUMBER("b", 2, 6), AS_NUMBER("c", 148643.7, 0),
               AS_NUMBER("d", NAN, 3), AS_NUMBER("e", INFINITY, 0), AS_NUMBER("f", -0.00004, 3),
               AS_NUMBER("g", 1e300, 6), AS_SECONDS("h", 1345502123));
    prints(&result, BEGINS ", \"a\" : 2.5, \"b\" : 2.0, \"c\" : 148644, \"d\" : null, \"e\" : null, "
                           "\"f\" : -0.0, \"g\" : 1e+300, \"h\" : 1.345502 }\n");
    result_put(&result, AS_FIGURE("a", 100000), AS_FIGURE("b", 1.0 / 3), AS_FIGURE("c", 12345678901.0),
               AS_FIGURE("d", 1.23456789012e-7), AS_FIGURE("e", -INFINITY), AS_FIGURE("f", 1e40));
    prints(&result, BEGINS ", \"a\" : 100000, \"b\" : 0.3333333333, \"c\" : 12345678900, "
                           "\"d\" : 1.23456789e-07, \"e\" : null, \"f\" : 1e+40 }\n");
    assert_true(isnan(result_rate(3, 0)));
    assert_true(result_rate(3, 1500000000) == 2);
}

/* No secret, no control character, no byte that is not UTF-8. */
TEST(texts) {
    bson_t result = BSON_INITIALIZER;
    result_put(&result, AS_TEXT("of", "a\"\x1b\xC2\x9B\xFF\n mongodb://joe:s3cret@h"));
    prints(&result, BEGINS ", \"of\" : \"a\\\"\\u001b\\u009b\xEF\xBF\xBD\\n mongodb://joe:***@h\" }\n");
}

static void put_odd(bson_t *to, const void *numbers, size_t at) {
    const int number = ((const int *)numbers)[at];
    if (number % 2)
        result_put(to, AS_COUNT("is", number));
}

TEST(inner) {
    static const int numbers[] = {1, 2, 3, 5};
    bson_t result = BSON_INITIALIZER, item;
    result_put(&result, AS_LIST("odd", 3, put_odd, numbers), AS_LIST("none", 0, put_odd, NULL),
               AS_INNER("first", put_odd, numbers, 0), AS_INNER("second", put_odd, numbers, 1));
    assert_true(result_item(&result, "odd", 1, &item) && bson_read_number(&item, "is") == 3);
    assert_false(result_item(&result, "odd", 2, &item) || result_item(&result, "no", 0, &item));
    prints(&result, BEGINS ", \"odd\" : [ { \"is\" : 1 }, { \"is\" : 3 } ], \"none\" : [  ], "
                           "\"first\" : { \"is\" : 1 }, \"second\" : null }\n");
    result_items(&result, 3, put_odd, numbers);
    result_items(&result, 4, put_odd, numbers);
    assert_int_equal(bson_count_keys(&result), 5);
    assert_true(bson_read_number(&result, "4.is") == 5);
    bson_destroy(&result);
}
