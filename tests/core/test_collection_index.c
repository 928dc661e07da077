/* place: the text of --index. */
#include "server/collection.h"
#include "test.h"

#include <string.h>

/* Also in JSON, as a server lists it, where it has no other spelling. */
TEST(good) {
    static const struct {
        const char *text, *listed; /* NULL: the text */
    } cases[] = {
        {"d:1", "{ \"key\" : { \"d\" : 1 }, \"name\" : \"d_1\" }"},
        {"d:1,k:-1", "{ \"key\" : { \"d\" : 1, \"k\" : -1 }, \"name\" : \"d_1_k_-1\" }"},
        {"st:hashed", "{ \"key\" : { \"st\" : \"hashed\" }, \"name\" : \"st_hashed\" }"},
        {"position:2dsphere,ts:1",
         "{ \"key\" : { \"position\" : \"2dsphere\", \"ts\" : 1 }, \"name\" : \"position_2dsphere_ts_1\" }"},
        {"wind.speed.rate:-1",
         "{ \"key\" : { \"wind.speed.rate\" : -1 }, \"name\" : \"wind.speed.rate_-1\" }"},
        {"a:b:1", "{ \"key\" : { \"a:b\" : 1 }, \"name\" : \"a:b_1\" }"},
        {"xy:2d", "{ \"key\" : { \"xy\" : \"2d\" }, \"name\" : \"xy_2d\" }"},
        {"o:text", "{ \"key\" : { \"o\" : \"text\" }, \"name\" : \"o_text\" }"},
        {"_id:1", "{ \"key\" : { \"_id\" : 1 }, \"name\" : \"_id_1\" }"},
        {"email:1;unique", "{ \"key\" : { \"email\" : 1 }, \"name\" : \"email_1\", \"unique\" : true }"},
        {"email:1;unique;sparse;name=mail",
         "{ \"key\" : { \"email\" : 1 }, \"name\" : \"mail\", \"unique\" : true, \"sparse\" : true }"},
        {"{ \"key\" : { \"d\" : 1, \"k\" : -1 }, \"name\" : \"d_1_k_-1\" }", NULL},
        {"{ \"key\" : { \"a,b\" : 1 }, \"name\" : \"a;unique\", \"unique\" : true, \"hidden\" : true }",
         NULL},
        {"{ \"key\" : { \"_fts\" : \"text\", \"_ftsx\" : 1 }, \"name\" : \"k\", \"weights\" : { \"k\" : 1 } "
         "}",
         NULL},
        {"{ \"key\" : { \"$**\" : 1 }, \"name\" : \"$**_1\", \"collation\" : { \"locale\" : \"fr\" } }",
         NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_t err = {0};
        index_spec_t spec;
        bson_t whole = BSON_INITIALIZER;
        if (!collection_parse_index(cases[i].text, &spec, &err))
            fail_msg("%s: %s", cases[i].text, err.text);
        BSON_APPEND_DOCUMENT(&whole, "key", &spec.keys);
        BSON_APPEND_UTF8(&whole, "name", spec.name);
        bson_concat(&whole, &spec.options);
        char *json = bson_as_relaxed_extended_json(&whole, NULL);
        assert_string_equal(json, cases[i].listed ? cases[i].listed : cases[i].text);
        bson_free(json);
        bson_destroy(&whole);
        collection_free_index(&spec);
    }
}

TEST(bad) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{\"key\": {\"d\": 1}}", "a name of 1 to"},
        {"{\"name\": \"d_1\"}", "it has a key"},
        {"{d:1", "no JSON"},
        {"", "'' should be"},
        {"d", "'d' should be FIELD:1"},
        {"d:", "'d:' should be"},
        {":1", "':1' should be"},
        {"d:2", "'d:2' should be"},
        {"d:up", "'d:up' should be"},
        {"d:1,", "'' should be"},
        {",d:1", "'' should be"},
        {"d:1,,k:1", "'' should be"},
        {"d:1,d:-1", "'d:-1' should be"},
        {"$d:1", "'$d:1' should be"},
        {"d.:1", "'d.:1' should be"},
        {".d:1", "'.d:1' should be"},
        {"a..b:1", "'a..b:1' should be"},
        {"st:hash", "did you mean 'hashed'?"},
        {"p:2dspere", "did you mean '2dsphere'?"},
        {"d:\xff", "UTF-8"},
        {"d:1;", "'' is not one of"},
        {"d:1;uniqe", "did you mean 'unique'?"},
        {"d:1;name=", "its name would have 0 bytes"},
        {"d:1;expire=5", "in JSON"},
        {"d;unique", "'d' should be FIELD:1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_t err = {0};
        index_spec_t spec;
        if (collection_parse_index(cases[i].text, &spec, &err))
            fail_msg("'%s' was taken for an index", cases[i].text);
        assert_int_equal(err.status, STATUS_USAGE);
        if (!strstr(err.text, cases[i].says))
            fail_msg("'%s': '%s' is not in: %s", cases[i].text, cases[i].says, err.text);
    }
}

TEST(too_long) {
    char text[400] = "";
    for (int i = 0; i < 30; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%sfield%02d:1", i ? "," : "", i);
    err_t err = {0};
    index_spec_t spec;
    assert_false(collection_parse_index(text, &spec, &err));
    assert_int_equal(err.status, STATUS_USAGE);
    assert_non_null(strstr(err.text, "its name would have 299 bytes"));
    assert_non_null(strstr(err.text, ";name=NAME"));
    strcat(text, ";name=short");
    assert_true(collection_parse_index(text, &spec, &err));
    assert_string_equal(spec.name, "short");
    collection_free_index(&spec);
}

/* Of a name that is too long the whole length is returned. */
TEST(name) {
    char field[130], name[COLLECTION_INDEX_NAME];
    bson_t *keys = BCON_NEW("d", BCON_INT32(1), "k", BCON_DOUBLE(-1), "p", "2dsphere");
    assert_int_equal(collection_name_index(keys, name), 19);
    assert_string_equal(name, "d_1_k_-1_p_2dsphere");
    bson_destroy(keys);
    memset(field, 'a', 126);
    strcpy(field + 126, "\xc3\xa4");
    keys = BCON_NEW(field, BCON_INT32(1));
    assert_int_equal(collection_name_index(keys, name), 130);
    bson_destroy(keys);
}

static index_spec_t listed(const char *json) {
    bson_error_t problem;
    err_t err;
    index_spec_t spec = {0};
    bson_t *index = bson_new_from_json((const uint8_t *)json, -1, &problem);
    if (!index || !collection_take_index(index, &spec, &err))
        fail_msg("%s", json);
    bson_destroy(index);
    return spec;
}

#define TEXT "{\"key\": {\"a\": 1, \"_fts\": \"text\", \"_ftsx\": 1}, \"name\": \"x\", \"weights\": "

/* One of --index, and one as a server lists it. */
TEST(same) {
    static const struct {
        const char *asked, *listed;
        bool same;
    } cases[] = {
        {"n:1", "{\"v\": 2, \"key\": {\"n\": 1}, \"name\": \"x\"}", true},
        {"n:1", "{\"key\": {\"n\": {\"$numberDouble\": \"1.0\"}}, \"name\": \"x\"}", true},
        {"n:1", "{\"key\": {\"n\": {\"$numberLong\": \"1\"}}, \"name\": \"x\"}", true},
        {"n:1;unique", "{\"key\": {\"n\": 1}, \"name\": \"x\"}", false},
        {"n:1", "{\"key\": {\"n\": 1}, \"name\": \"x\", \"unique\": true}", false},
        {"n:1", "{\"key\": {\"n\": 1}, \"name\": \"x\", \"hidden\": true}", false},
        {"n:1;unique", "{\"key\": {\"n\": 1}, \"name\": \"x\", \"unique\": true}", true},
        {"n:1", "{\"key\": {\"n\": -1}, \"name\": \"x\"}", false},
        {"n:1", "{\"key\": {\"m\": 1}, \"name\": \"x\"}", false},
        {"n:1", "{\"key\": {\"n\": 1, \"m\": 1}, \"name\": \"x\"}", false},
        {"n:1,m:1", "{\"key\": {\"m\": 1, \"n\": 1}, \"name\": \"x\"}", false},
        {"n:hashed", "{\"key\": {\"n\": \"hashed\"}, \"name\": \"x\"}", true},
        {"n:hashed", "{\"key\": {\"n\": 1}, \"name\": \"x\"}", false},
        {"p:2dsphere", "{\"key\": {\"p\": \"2dsphere\"}, \"name\": \"x\", \"2dsphereIndexVersion\": 3}",
         true},
        {"a:1,t:text;name=x", TEXT "{\"t\": 1}, \"textIndexVersion\": 3}", true},
        {"a:1,t:text", TEXT "{\"t\": 1}}", false},
        {"{\"key\": {\"a\": 1, \"_fts\": \"text\", \"_ftsx\": 1}, \"name\": \"x\", \"weights\": {\"t\": 2}}",
         TEXT "{\"t\": 1}}", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_t err;
        index_spec_t asked, other = listed(cases[i].listed);
        assert_true(collection_parse_index(cases[i].asked, &asked, &err));
        if (collection_same_index(&asked, &other, false) != cases[i].same ||
            collection_same_index(&other, &asked, false) != cases[i].same)
            fail_msg("case %zu", i);
        collection_free_index(&asked);
        collection_free_index(&other);
    }
}

/* A collection gives its collation to an index that does not say otherwise. */
TEST(same_but_collation) {
    err_t err;
    index_spec_t asked,
        other = listed("{\"key\": {\"n\": 1}, \"name\": \"x\", \"collation\": {\"locale\": \"de\"}}");
    assert_true(collection_parse_index("n:1", &asked, &err));
    assert_false(collection_same_index(&asked, &other, false));
    assert_true(collection_same_index(&asked, &other, true));
    collection_free_index(&asked);
    collection_free_index(&other);
}

TEST(keep_uncollated) {
    static const struct {
        const char *listed, *options;
    } cases[] = {
        {"{\"key\": {\"n\": 1}, \"name\": \"x\"}", "{ \"collation\" : { \"locale\" : \"simple\" } }"},
        {"{\"key\": {\"_id\": \"hashed\"}, \"name\": \"x\"}",
         "{ \"collation\" : { \"locale\" : \"simple\" } }"},
        {"{\"key\": {\"_id\": 1}, \"name\": \"x\"}", "{ }"},
        {"{\"key\": {\"n\": 1}, \"name\": \"x\", \"collation\": {\"locale\": \"de\"}}",
         "{ \"collation\" : { \"locale\" : \"de\" } }"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        index_spec_t spec = listed(cases[i].listed);
        collection_keep_uncollated(&spec);
        char *options = bson_as_relaxed_extended_json(&spec.options, NULL);
        assert_string_equal(options, cases[i].options);
        bson_free(options);
        collection_free_index(&spec);
    }
}
