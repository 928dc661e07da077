/* Hashed keys: the numbers that a server (6.0.5) gave for these values ($toHashedIndexKey), and keys of documents that are
 * made of them. tests/live/keys_test.c asks a server for many more. */
#include "json_lab.h"
#include "server/chunks.h"
#include "test.h"

#include <stdlib.h>

static const struct {
    const char *document;
    int64_t hash;
} values[] = {
    {"{\"x\": 42}", -944302157085130861},
    {"{\"x\": {\"$numberLong\": \"42\"}}", -944302157085130861},
    {"{\"x\": {\"$numberDouble\": \"42.9\"}}", -944302157085130861}, /* numbers hash as whole ones */
    {"{\"x\": 0}", 4854801880128277513},
    {"{\"x\": {\"$numberDouble\": \"-0.5\"}}", 4854801880128277513},
    {"{\"x\": {\"$numberDouble\": \"NaN\"}}", 4854801880128277513},
    {"{\"x\": {\"$numberDouble\": \"1e19\"}}", 921523596458303250},
    {"{\"x\": {\"$numberDouble\": \"-1e19\"}}", 4532067210535695462},
    {"{\"x\": {\"$numberDouble\": \"9223372036854775808.0\"}}",
     4532067210535695462}, /* the server's own slip */
    {"{\"x\": \"\"}", 2049396243249673340},
    {"{\"x\": \"BMW\"}", 8262430432553605110},
    {"{\"x\": \"a text that is longer than the sixty-three bytes that are remembered\"}",
     2235928662617993039},
    {"{\"x\": true}", 6405873908747105701},
    {"{\"x\": null}", 2338878944348059895},
    {"{\"y\": 1}", 2338878944348059895}, /* no x: like null */
    {"{\"x\": {}}", 7980500913326740417},
    {"{\"x\": {\"a\": 1, \"b\": \"x\"}}", -9120163015462966597},
};
enum { VALUES = sizeof values / sizeof *values };

static bool hash_in(hashed_t *hashed, bson_t *document, int64_t *hash) {
    bson_iter_t at;
    if (!bson_has_field(document, "x"))
        BSON_APPEND_NULL(document, "x");
    const bool ok = bson_iter_init_find(&at, document, "x") && hashed_value(hashed, &at, hash);
    bson_destroy(document);
    return ok;
}

static bool hash_of(hashed_t *hashed, const char *text, int64_t *hash) {
    return hash_in(hashed, lab_json(text), hash);
}

/* The last value is remembered; whatever came before, a value has its own hash. */
TEST(hashes) {
    hashed_t *hashed = hashed_new();
    for (size_t before = 0; before < VALUES; before++)
        for (size_t i = 0; i < VALUES; i++) {
            int64_t hash = 0;
            assert_true(hash_of(hashed, values[before].document, &hash));
            assert_true(hash_of(hashed, values[i].document, &hash));
            if (hash != values[i].hash)
                fail_msg("%s after %s: %lld", values[i].document, values[before].document, (long long)hash);
        }
    hashed_destroy(hashed);
}

/* A server refuses documents with an array there, whatever is in it. */
TEST(arrays_have_none) {
    hashed_t *hashed = hashed_new();
    int64_t hash = 0;
    assert_false(hash_of(hashed, "{\"x\": []}", &hash));
    assert_false(hash_of(hashed, "{\"x\": [42]}", &hash));
    hashed_destroy(hashed);
}

/* Of what a server hashes in a way of its own: at the top or within a document. */
TEST(types_without_a_hash) {
    static const char *const none[] = {
        "{\"x\": {\"$undefined\": true}}", "{\"x\": {\"u\": {\"$undefined\": true}, \"n\": 1}}",
        "{\"x\": {\"$numberDecimal\": \"1\"}}", "{\"x\": {\"a\": {\"$numberDecimal\": \"1\"}}}"};
    hashed_t *hashed = hashed_new();
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        int64_t hash = 0;
        if (hash_of(hashed, none[i], &hash))
            fail_msg("a hash: %s", none[i]);
    }
    /* libbson's reader of JSON makes nothing of some of these, now and then */
    bson_t scope = BSON_INITIALIZER;
    int64_t hash = 0;
    assert_false(hash_in(hashed, BCON_NEW("x", BCON_CODEWSCOPE("f", &scope)), &hash));
    assert_false(
        hash_in(hashed, BCON_NEW("x", "{", "a", "[", BCON_CODEWSCOPE("f", &scope), "]", "}"), &hash));
    BSON_APPEND_INT32(&scope, "y", 1);
    assert_false(hash_in(hashed, BCON_NEW("x", BCON_CODEWSCOPE("f", &scope)), &hash));
    bson_destroy(&scope);
    hashed_destroy(hashed);
}

TEST(hashed_keys_of_documents) {
    hashed_t *hashed = hashed_new();
    shardkey_t key;
    err_t err;
    if (!shardkey_parse("x:hashed", &key, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < VALUES; i++) {
        bson_iter_t at;
        bson_t *document = lab_json(values[i].document), made = BSON_INITIALIZER;
        assert_true(shardkey_of(&key, hashed, bson_get_data(document), document->len, &made));
        assert_true(bson_iter_init_find(&at, &made, "x") && BSON_ITER_HOLDS_INT64(&at));
        assert_true(bson_iter_int64(&at) == values[i].hash);
        bson_destroy(&made);
        bson_destroy(document);
    }
    shardkey_free(&key);
    hashed_destroy(hashed);
}

/* Where libbson stops, the next field may still be there; where nobody knows what follows, there is no key. */
TEST(keys_behind_odd_bytes) {
#define ROW(bytes) bytes, sizeof bytes - 1
#define HEADLESS   "\5b\0\3\0\0\0\2xyz"
    static const struct {
        const char *key, *bytes;
        uint32_t length;
        const char *as; /* the document that has the same key; NULL: it has none that is clear */
    } cases[] = {
        {"k", ROW("\x17\0\0\0" HEADLESS "\x10k\0\7\0\0\0\0"), "{\"k\": 7}"},
        {"k:hashed", ROW("\x17\0\0\0" HEADLESS "\x10k\0\7\0\0\0\0"), "{\"k\": 7}"},
        {"d.k", ROW("\x1F\0\0\0\3d\0\x17\0\0\0" HEADLESS "\x10k\0\7\0\0\0\0\0"), "{\"d\": {\"k\": 7}}"},
        {"k", ROW("\x10\0\0\0" HEADLESS "\0"), "{}"},
        {"k", ROW("\x17\0\0\0\5b\0\3\0\0\0\2xyz\x55k\0\7\0\0\0\0"), NULL},
        {"k:hashed", ROW("\x17\0\0\0\5b\0\3\0\0\0\2xyz\x55k\0\7\0\0\0\0"), NULL},
        {"b", ROW("\x10\0\0\0" HEADLESS "\0"), NULL}, /* its order is not clear */
        {"b", ROW("\x13\0\0\0\5b\0\6\0\0\0\2\2\0\0\0xy\0"), NULL},
        {"d", ROW("\x18\0\0\0\3d\0\x10\0\0\0" HEADLESS "\0\0"), NULL},
        {"b", ROW("\x10\0\0\0\5b\0\3\0\0\0\0xyz\0"),
         "{\"b\": {\"$binary\": {\"base64\": \"eHl6\", \"subType\": \"00\"}}}"},
    };
    hashed_t *hashed = hashed_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        shardkey_t key;
        err_t err;
        bson_t found = BSON_INITIALIZER, wanted = BSON_INITIALIZER;
        assert_true(shardkey_parse(cases[i].key, &key, &err));
        const bool clear =
            shardkey_of(&key, hashed, (const uint8_t *)cases[i].bytes, cases[i].length, &found);
        if (clear != (cases[i].as != NULL))
            fail_msg("case %zu: %s", i, clear ? "it has a key" : "it has none");
        if (clear) {
            bson_t *same = lab_json(cases[i].as);
            assert_true(shardkey_of(&key, hashed, bson_get_data(same), same->len, &wanted));
            if (!bson_equal(&found, &wanted))
                fail_msg("case %zu: another key", i);
            bson_destroy(same);
        }
        bson_destroy(&found);
        bson_destroy(&wanted);
        shardkey_free(&key);
    }
    hashed_destroy(hashed);
}
