/* indexes: which index of the same key will do for a suite. What a server lists is written as MongoDB 6.0 lists it. */
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

TEST(differ) {
    static const struct {
        const char *wanted, *stored, *usual, *differs;
    } cases[] = {
        {"{}", "{}", NULL, NULL},
        {"{}", "{\"sparse\": true}", NULL, "it is sparse"},
        {"{\"sparse\": true}", "{}", NULL, "it is not sparse"},
        {"{\"sparse\": true}", "{\"sparse\": {\"$numberDouble\": \"1\"}}", NULL, NULL},
        {"{\"sparse\": false}", "{}", NULL, NULL},
        {"{}", "{\"hidden\": true}", NULL, "it is hidden"},
        {"{\"unique\": true}", "{}", NULL, "it is not unique"},
        {"{\"unique\": true}", "{\"name\": \"_id_\"}", NULL, NULL},
        {"{\"unique\": true}", "{\"name\": \"_id_1\"}", NULL, "it is not unique"},
        {"{}", "{\"unique\": true}", NULL, NULL}, /* it answers the same */
        {"{}", "{\"partialFilterExpression\": {\"x\": {\"$gt\": 5}}}", NULL, "its partialFilterExpression"},
        {"{\"partialFilterExpression\": {\"x\": {\"$gt\": 5}}}",
         "{\"partialFilterExpression\": {\"x\": {\"$gt\": {\"$numberDouble\": \"5\"}}}}", NULL, NULL},
        {"{\"partialFilterExpression\": {\"x\": {\"$gt\": 5}}}",
         "{\"partialFilterExpression\": {\"x\": {\"$gt\": {\"$numberDouble\": \"5.5\"}}}}", NULL,
         "its partialFilterExpression"},
        {"{\"partialFilterExpression\": {\"x\": {\"$gt\": 5}}}", "{}", NULL, "its partialFilterExpression"},
        {"{}", "{\"collation\": " ENGLISH(3) "}", NULL, "its collation"},
        {"{}", "{\"collation\": " ENGLISH(3) "}", ENGLISH(3), NULL},
        {"{}", "{}", ENGLISH(3), "its collation"},
        {"{\"collation\": {\"locale\": \"simple\"}}", "{}", ENGLISH(3), NULL},
        {"{\"collation\": {\"locale\": \"simple\"}}", "{\"collation\": " ENGLISH(3) "}", ENGLISH(3),
         "its collation"},
        {"{\"collation\": {\"locale\": \"en\"}}", "{\"collation\": " ENGLISH(3) "}", NULL, NULL},
        {"{\"collation\": {\"locale\": \"en\"}}", "{\"collation\": " ENGLISH(2) "}", NULL, "its collation"},
        {"{\"collation\": {\"locale\": \"en\", \"strength\": 2}}", "{\"collation\": " ENGLISH(2) "}", NULL,
         NULL},
        {"{\"collation\": {\"locale\": \"de\"}}", "{\"collation\": " ENGLISH(3) "}", NULL, "its collation"},
        {"{\"collation\": {\"locale\": \"en\"}}", "{}", NULL, "its collation"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bson_t *wanted = from(cases[i].wanted), *stored = from(cases[i].stored),
               *usual = cases[i].usual ? from(cases[i].usual) : NULL;
        const char *differs = indexes_differ(wanted, stored, usual);
        if (!differs != !cases[i].differs || (differs && !strstr(differs, cases[i].differs)))
            fail_msg("case %zu: %s", i, differs ? differs : "it will do");
        bson_destroy(wanted);
        bson_destroy(stored);
        bson_destroy(usual);
    }
}
