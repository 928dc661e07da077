/* indexes: which stored index serves a suite. What a server lists is written as MongoDB 6.0 lists it. */
#include "query/query.h"
#include "test.h"

#include <string.h>

static bson_t *from(const char *json) {
    bson_error_t error;
    bson_t *document = bson_new_from_json((const uint8_t *)json, -1, &error);
    if (!document)
        fail_msg("%s: %s", json, error.message);
    return document;
}

#define ENGLISH(strength)                                                                                    \
    "{\"locale\": \"en\", \"caseLevel\": false, \"caseFirst\": \"off\", \"strength\": " #strength            \
    ", \"numericOrdering\": false, \"alternate\": \"non-ignorable\", \"maxVariable\": \"punct\", "           \
    "\"normalization\": false, \"backwards\": false, \"version\": \"57.1\"}"

TEST(serves) {
    static const struct {
        const char *wanted, *stored;
        bool collated, serves;
    } cases[] = {
        {"{}", "{\"v\": 2}", false, true},
        {"{}", "{\"sparse\": true}", false, false},
        {"{\"sparse\": true}", "{}", false, false},
        {"{\"sparse\": true}", "{\"sparse\": true}", false, true},
        {"{}", "{\"hidden\": true}", false, false},
        {"{\"unique\": true}", "{}", false, false},
        {"{\"unique\": true}", "{\"unique\": true}", false, true},
        /* these answer the same */
        {"{}", "{\"unique\": true}", false, true},
        {"{}", "{\"unique\": true, \"clustered\": true}", false, true},
        {"{}", "{\"expireAfterSeconds\": 5}", false, true},
        {"{}", "{\"partialFilterExpression\": {\"x\": {\"$gt\": 5}}}", false, false},
        {"{\"partialFilterExpression\": {\"x\": {\"$gt\": 5}}}",
         "{\"partialFilterExpression\": {\"x\": {\"$gt\": 5}}}", false, true},
        {"{\"partialFilterExpression\": {\"x\": {\"$gt\": 5}}}",
         "{\"partialFilterExpression\": {\"x\": {\"$gt\": 6}}}", false, false},
        {"{}", "{\"collation\": " ENGLISH(3) "}", false, false},
        {"{}", "{\"collation\": " ENGLISH(3) "}", true, true},
        {"{}", "{}", true, false},
        {"{\"collation\": {\"locale\": \"simple\"}}", "{}", true, true},
        {"{\"collation\": {\"locale\": \"simple\"}}", "{\"collation\": " ENGLISH(3) "}", true, false},
        {"{\"collation\": {\"locale\": \"en\"}}", "{\"collation\": " ENGLISH(3) "}", false, true},
        {"{\"collation\": {\"locale\": \"en\", \"strength\": 2}}", "{\"collation\": " ENGLISH(2) "}", false,
         true},
        {"{\"collation\": {\"locale\": \"en\", \"strength\": 2}}", "{\"collation\": " ENGLISH(3) "}", false,
         false},
        {"{\"collation\": {\"locale\": \"en\"}}", "{}", false, false},
        /* other keys */
        {"{}", "{\"key\": {\"a\": -1}}", false, false},
        {"{}", "{\"key\": {\"a\": 1, \"b\": 1}}", false, false},
        {"{\"key\": {\"a\": \"text\"}, \"name\": \"a_text\"}",
         "{\"key\": {\"_fts\": \"text\", \"_ftsx\": 1}, \"name\": \"a_text\", \"weights\": {\"a\": 1}}",
         false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bson_t *documents[] = {from(cases[i].wanted), from(cases[i].stored)};
        index_spec_t wanted;
        err_t err;
        for (size_t j = 0; j < 2; j++) {
            if (!bson_has_field(documents[j], "key"))
                BCON_APPEND(documents[j], "key", "{", "a", BCON_INT32(1), "}");
            if (!bson_has_field(documents[j], "name"))
                BSON_APPEND_UTF8(documents[j], "name", j ? "other" : "a_1");
        }
        assert_true(collection_take_index(documents[0], &wanted, &err));
        if (indexes_serves(&wanted, documents[1], cases[i].collated) != cases[i].serves)
            fail_msg("case %zu", i);
        collection_free_index(&wanted);
        bson_destroy(documents[0]);
        bson_destroy(documents[1]);
    }
}
