/* Hashes and order of values, against what a real server makes of them: TIPPLE_TEST_URI names it. It is given
 * the values as the documents of an aggregation. 6.0 has all that is asked for.  needs: standalone */
#include "base/document.h"
#include "live_lab.h"
#include "server/chunks.h"

enum { BATCH = 500, TYPES = 256, RANDOM = 2000, MOST = 4000, LONG_TEXT = 10000 };

/* ---- values: documents {i: number, v: value} ---- */

typedef struct {
    bson_t *documents[MOST];
    size_t count;
} values_t;

static bson_t *next(values_t *values) {
    assert_true(values->count < MOST);
    bson_t *document = bson_new();
    BSON_APPEND_INT32(document, "i", (int32_t)values->count);
    return values->documents[values->count++] = document;
}

static values_t *new_values(void) {
    values_t *values = calloc(1, sizeof *values);
    assert_non_null(values);
    return values;
}

static void free_values(values_t *values) {
    for (size_t i = 0; i < values->count; i++)
        bson_destroy(values->documents[i]);
    free(values);
}

static bson_iter_t value_of(const values_t *values, size_t number) {
    bson_iter_t at;
    assert_true(bson_iter_init_find(&at, values->documents[number], "v"));
    return at;
}

static char *text_of(const values_t *values, size_t number) {
    char *text = bson_as_canonical_extended_json(values->documents[number], NULL);
    assert_non_null(text);
    if (strlen(text) > 300)
        memcpy(text + 300, "...", 4);
    return text;
}

/* ---- the server ---- */

static void run(const char *in, const bson_t *command, bson_t *reply) {
    bson_error_t error;
    if (!mongoc_client_command_simple(client, in, command, NULL, reply, &error))
        fail_msg("the server refused: %s", error.message);
}

static const char HASH[] = "[{\"$project\": {\"i\": 1, \"n\": {\"$toHashedIndexKey\": \"$v\"}}}]";
static const char RANK[] =
    "[{\"$setWindowFields\": {\"sortBy\": {\"v\": 1}, \"output\": {\"n\": {\"$rank\": {}}}}},"
    " {\"$project\": {\"i\": 1, \"n\": 1}}]";

/* $literal, or text that begins with a dollar would be a field. */
static void append_documents(bson_t *pipeline, const values_t *values, size_t from, size_t count) {
    bson_t stage, documents, inner;
    BSON_APPEND_DOCUMENT_BEGIN(pipeline, "0", &stage);
    BSON_APPEND_ARRAY_UNSAFE_BEGIN(&stage, "$documents", &documents);
    for (size_t i = 0; i < count; i++) {
        char key[16];
        snprintf(key, sizeof key, "%zu", i);
        BSON_APPEND_DOCUMENT_BEGIN(&documents, key, &inner);
        BSON_APPEND_DOCUMENT(&inner, "$literal", values->documents[from + i]);
        bson_append_document_end(&documents, &inner);
    }
    bson_append_array_end(&stage, &documents);
    bson_append_document_end(pipeline, &stage);
}

/* What the stages make of some of the values: a number `n` for each. */
static void ask(const values_t *values, size_t from, size_t count, const char *stages, int64_t *answers) {
    bson_error_t error;
    bson_t command = BSON_INITIALIZER, pipeline, reply,
           *more = bson_new_from_json((const uint8_t *)stages, -1, &error);
    bson_iter_t at, inner;
    assert_non_null(more);
    BSON_APPEND_INT32(&command, "aggregate", 1);
    BSON_APPEND_ARRAY_UNSAFE_BEGIN(&command, "pipeline", &pipeline);
    append_documents(&pipeline, values, from, count);
    assert_true(bson_iter_init(&at, more));
    for (int number = 1; bson_iter_next(&at); number++) {
        char key[16];
        snprintf(key, sizeof key, "%d", number);
        bson_append_iter(&pipeline, key, -1, &at);
    }
    bson_append_array_end(&command, &pipeline);
    BCON_APPEND(&command, "cursor", "{", "batchSize", BCON_INT32(BATCH + 1), "}");
    run("admin", &command, &reply);
    assert_true(bson_iter_init(&at, &reply) && bson_iter_find_descendant(&at, "cursor.firstBatch", &inner));
    assert_true(bson_iter_recurse(&inner, &at));
    size_t answered = 0;
    for (; bson_iter_next(&at); answered++) {
        assert_true(bson_iter_recurse(&at, &inner) && bson_iter_find(&inner, "i"));
        size_t number = (size_t)bson_iter_as_int64(&inner) - from;
        assert_true(number < count);
        assert_true(bson_iter_recurse(&at, &inner) && bson_iter_find(&inner, "n"));
        answers[number] = bson_iter_as_int64(&inner);
    }
    assert_int_equal(answered, count);
    bson_destroy(&reply);
    bson_destroy(&command);
    bson_destroy(more);
}

/* ---- checks ---- */

/* Each value twice: the second time the hash is remembered. */
static void check_hashes(const values_t *values) {
    hashed_t *hashed = hashed_new();
    bson_t *null = BCON_NEW("v", BCON_NULL);
    assert_non_null(hashed);
    for (size_t from = 0; from < values->count; from += BATCH) {
        int64_t answers[BATCH], hash;
        size_t count = values->count - from < BATCH ? values->count - from : BATCH;
        ask(values, from, count, HASH, answers);
        for (size_t i = 0; i < 2 * count; i++) {
            bson_iter_t at;
            if (!element_of(values->documents[from + i / 2], "v",
                            &at)) /* a missing value is hashed like null */
                assert_true(element_of(null, "v", &at));
            if (!hashed_value(hashed, &at, &hash))
                fail_msg("no hash: %s", text_of(values, from + i / 2));
            if (hash != answers[i / 2])
                fail_msg("%lld instead of %lld: %s", (long long)hash, (long long)answers[i / 2],
                         text_of(values, from + i / 2));
        }
    }
    bson_destroy(null);
    hashed_destroy(hashed);
}

typedef int order_t(const bson_value_t *a, const bson_value_t *b);

/* Each value of a batch with each other one. Equal values have the same rank. */
static void check_order(const values_t *values, order_t *order) {
    for (size_t from = 0; from < values->count; from += BATCH) {
        int64_t ranks[BATCH];
        size_t count = values->count - from < BATCH ? values->count - from : BATCH;
        ask(values, from, count, RANK, ranks);
        for (size_t i = 0; i < count * count; i++) {
            size_t a = i / count, b = i % count;
            bson_iter_t at_a = value_of(values, from + a), at_b = value_of(values, from + b);
            int found = order(bson_iter_value(&at_a), bson_iter_value(&at_b)),
                wanted = (ranks[a] > ranks[b]) - (ranks[a] < ranks[b]);
            if ((found > 0) - (found < 0) != wanted)
                fail_msg("%d instead of %d: %s and %s", found, wanted, text_of(values, from + a),
                         text_of(values, from + b));
        }
    }
}

/* ---- values that have a point ---- */

/* Arrays in JSON, with ' for "; 0 is an int32, 0.0 a double. */
static const char numbers[] =
    "[0, 1, -1, 7, 42, -42, 2147483647, -2147483648, 2147483648, {'$numberLong': '0'}, {'$numberLong': '1'},"
    " {'$numberLong': '-1'}, {'$numberLong': '42'}, 4611686018427387904, 9007199254740991, 9007199254740992,"
    " 9007199254740993, 9223372036854775806, 9223372036854775807, -9223372036854775807, -9223372036854775808,"
    " 0.0, -0.0, 1.0, -1.0, 0.1, 0.5, -0.5, 41.9, 42.0, 42.9, -42.9, 1e10, 5e-324, -5e-324, 1e300, -1e300,"
    " 9007199254740992.0, 9007199254740994.0, 4611686018427387904.0, -4611686018427387904.0,"
    " 9223372036854774784.0, 9223372036854775808.0, 9223372036854777856.0, 18446744073709551616.0,"
    " -9223372036854774784.0, -9223372036854775808.0, -9223372036854777856.0, -18446744073709551616.0,"
    " {'$numberDouble': 'NaN'}, {'$numberDouble': 'Infinity'}, {'$numberDouble': '-Infinity'}]";

static const char texts[] =
    "['A', 'AB', 'a', 'aa', 'FORD', ' ', '0', '\x7f', '\xc3\xa9', 'e\xcc\x81', 'CITRO\xc3\x8bN',"
    " '\xe6\x97\xa5\xe6\x9c\xac', '\xf0\x9f\x9a\x97', '$v', '$$ROOT', 'a.b']";

static const char others[] =
    "[null, false, true, {'$minKey': 1}, {'$maxKey': 1}, {'$date': {'$numberLong': '0'}},"
    " {'$date': {'$numberLong': '-1'}}, {'$date': {'$numberLong': '1388642400000'}},"
    " {'$date': {'$numberLong': '-62135596800000'}}, {'$date': {'$numberLong': '253402300799999'}},"
    " {'$date': {'$numberLong': '9223372036854775807'}}, {'$date': {'$numberLong': '-9223372036854775808'}},"
    " {'$oid': '000000000000000000000000'}, {'$oid': '5553a998e4b02cf7151190b8'},"
    " {'$oid': '5553a998e4b02cf7151190b9'}, {'$oid': 'ffffffffffffffffffffffff'}]";

static const char documents[] =
    "[{}, {'': 1}, {'a': null}, {'a': 1}, {'a': {'$numberLong': '1'}}, {'a': 1.0}, {'a': 1.5}, {'a': '1'},"
    " {'a': {'$numberDouble': 'NaN'}}, {'ab': 1}, {'a': 1, 'b': 2}, {'b': 2, 'a': 1}, {'a': {}, 'b': {}},"
    " {'a': 1, 'b': {'$minKey': 1}}, {'a': {'b': {}}}, {'a': {'b': {'c': 3.5}}}, {'a': []},"
    " {'a': [1, 2.5, 'x']}, {'a': [[], [null]]}, {'a': [{'b': 1}, {'b': {'$numberLong': '1'}}]},"
    " {'value': -3.7, 'quality': '1'}, {'type': 'Point', 'coordinates': [22.817, 78.25]}]";

/* Two values at least of each type there is. */
static const char *const of_every_type[] = {
    "[0, 7, {'$numberLong': '-7'}, {'$numberLong': '9007199254740993'}, 0.5, -1e300, '', 'FORD', {}]",
    "[{'a': 1}, {'a': {'b': 'x'}}, true, false, null, {'$minKey': 1}, {'$maxKey': 1}]",
    "[{'$date': {'$numberLong': '0'}}, {'$date': {'$numberLong': '-1'}}, {'$timestamp': {'t': 0, 'i': 1}}]",
    "[{'$timestamp': {'t': 4294967295, 'i': 4294967295}}, {'$oid': '000000000000000000000000'}]",
    "[{'$oid': '5553a998e4b02cf7151190b8'}, {'$binary': {'base64': '', 'subType': '00'}}]",
    ("[{'$binary': {'base64': 'YWJjZA==', 'subType': '02'}}, {'$binary': {'base64': 'YWJj', 'subType': "
     "'80'}}]"),
    "[{'$regularExpression': {'pattern': '', 'options': ''}}, {'$symbol': ''}, {'$symbol': 'FORD'}]",
    "[{'$regularExpression': {'pattern': '^a', 'options': 'im'}}, {'$undefined': true}]",
    "[{'$numberDecimal': '0'}, {'$numberDecimal': '7'}, {'$numberDecimal': '1E+40'}]",
    "[{'$code': ''}, {'$code': 'f()'}]",
    "[{'$code': '', '$scope': {}}]",
    "[{'$code': 'f', '$scope': {'x': 1}}]",
    "[{'$code': 'f', '$scope': {'x': {'y': 's'}}}]"};

static void add_json(values_t *values, const char *text) {
    char json[4000];
    bson_error_t error;
    bson_iter_t at, inner;
    assert_true(snprintf(json, sizeof json, "{\"v\": %s}", text) < (int)sizeof json);
    for (char *quote = json; (quote = strchr(quote, '\''));)
        *quote = '"';
    bson_t *wrapped = bson_new_from_json((const uint8_t *)json, -1, &error);
    if (!wrapped || !bson_iter_init_find(&at, wrapped, "v") || !bson_iter_recurse(&at, &inner))
        fail_msg("%s: %s", text, error.message);
    while (bson_iter_next(&inner))
        bson_append_iter(next(values), "v", 1, &inner);
    bson_destroy(wrapped);
}

static void add_text(values_t *values, const char *text, size_t length) {
    bson_append_utf8(next(values), "v", 1, text, (int)length);
}

static void add_texts(values_t *values) {
    static const char with_nul[] = "a\0b\0\0c";
    for (size_t length = 0; length < sizeof with_nul; length++)
        add_text(values, with_nul, length);
    char *text = malloc(LONG_TEXT + 1);
    assert_non_null(text);
    memset(text, 'x', LONG_TEXT + 1);
    for (size_t length = 45; length < 75; length++) /* MD5 pads, and what is remembered ends, in there */
        add_text(values, text, length);
    add_text(values, text, LONG_TEXT);
    add_text(values, text, LONG_TEXT + 1);
    text[LONG_TEXT - 1] = 'y';
    add_text(values, text, LONG_TEXT);
    free(text);
}

static const bson_subtype_t subtypes[] = {BSON_SUBTYPE_BINARY, BSON_SUBTYPE_FUNCTION, BSON_SUBTYPE_UUID,
                                          BSON_SUBTYPE_MD5, BSON_SUBTYPE_USER};
enum { SUBTYPES = sizeof subtypes / sizeof *subtypes };

static void add_binaries(values_t *values) {
    static const uint8_t bytes[] = {0, 0xff, 0x80, 'a', 0, 0};
    for (size_t i = 0; i < SUBTYPES; i++)
        for (uint32_t length = 0; length <= sizeof bytes; length++)
            BSON_APPEND_BINARY(next(values), "v", subtypes[i], bytes, length);
}

/* Binary data of subtype 2 without its inner length, alone and within a document. */
static void add_headless(values_t *values) {
    static const uint8_t bytes[] = "\x23\0\0\0\5v\0\3\0\0\0\2xyz\3v\0\x10\0\0\0\5v\0\3\0\0\0\2xyz\0";
    bson_t both;
    bson_iter_t at;
    assert_true(bson_init_static(&both, bytes, sizeof bytes));
    for (assert_true(bson_iter_init(&at, &both)); element_next(&at);)
        assert_true(element_append(next(values), "v", &at));
}

static void add_all(values_t *values) {
    add_json(values, numbers);
    add_json(values, texts);
    add_json(values, others);
    add_json(values, documents);
    add_texts(values);
    add_binaries(values);
}

/* ---- values at random, the same in each run ---- */

static uint64_t seed = 20;

static uint64_t draw(uint64_t below) {
    uint64_t bits = seed += 0x9e3779b97f4a7c15;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    bits ^= bits >> 31;
    return below ? bits % below : bits;
}

static int64_t draw_whole(void) {
    uint64_t shift = draw(64); /* of any size */
    return (int64_t)draw(0) >> shift;
}

static double draw_double(void) {
    uint64_t bits = draw(0);
    double number, sign = draw(2) ? 1 : -1;
    memcpy(&number, &bits, sizeof number);
    switch (draw(4)) {
    case 0:
        return (double)draw_whole();
    case 1:
        return (double)draw_whole() / 4;
    case 2:
        return 0x1p63 * (1 + (double)((int64_t)draw(5) - 2) * 0x1p-52) * sign;
    default:
        return number;
    }
}

static int draw_text(char text[200]) {
    static const char *const pieces[] = {
        "a", "b", "ab", "Z", "$", ".", " ", "\xc3\x8b", "\xe6\x97\xa5", "\xf0\x9f\x9a\x97"};
    int length = 0;
    for (uint64_t left = draw(2) ? draw(4) : draw(40); left; left--) {
        const char *piece = pieces[draw(sizeof pieces / sizeof *pieces)];
        size_t size = draw(40) ? strlen(piece) : 1;
        memcpy(text + length, size < strlen(piece) ? "" : piece, size);
        length += (int)size;
    }
    return length;
}

static void append_drawn(bson_t *document, const char *key, int depth);

static void append_inner(bson_t *document, const char *key, bool array, int depth) {
    static const char *const names[] = {"a", "b", "ab", "", "\xc3\x8b", "Z"};
    static const char *const indexes[] = {"0", "1", "2"};
    bson_t inner = BSON_INITIALIZER;
    for (size_t i = 0, count = draw(4); i < count; i++)
        append_drawn(&inner, array ? indexes[i] : names[2 * i + draw(2)], depth + 1);
    if (array)
        BSON_APPEND_ARRAY(document, key, &inner);
    else
        BSON_APPEND_DOCUMENT(document, key, &inner);
    bson_destroy(&inner);
}

/* Numbers, text and dates most often: keys are made of them. */
static void append_drawn(bson_t *document, const char *key, int depth) {
    static const char kinds[] = "iiilllffffttttzzobnydddaa"; /* `a`, an array, is no key itself */
    char text[200];
    int length = draw_text(text);
    bson_oid_t oid = {.bytes = {[11] = (uint8_t)draw(0)}};
    switch (kinds[draw(depth < 3 ? sizeof kinds - 1 : sizeof kinds - 6)]) {
    case 'i':
        BSON_APPEND_INT32(document, key, (int32_t)draw_whole());
        break;
    case 'l':
        BSON_APPEND_INT64(document, key, draw_whole());
        break;
    case 'f':
        BSON_APPEND_DOUBLE(document, key, draw_double());
        break;
    case 't':
        bson_append_utf8(document, key, -1, text, length);
        break;
    case 'z':
        BSON_APPEND_DATE_TIME(document, key, draw_whole());
        break;
    case 'o':
        BSON_APPEND_OID(document, key, &oid);
        break;
    case 'y':
        BSON_APPEND_BINARY(document, key, subtypes[draw(SUBTYPES)], (const uint8_t *)text, (uint32_t)length);
        break;
    case 'b':
        BSON_APPEND_BOOL(document, key, draw(2));
        break;
    case 'n':
        BSON_APPEND_NULL(document, key);
        break;
    case 'd':
        append_inner(document, key, false, depth);
        break;
    case 'a':
        append_inner(document, key, depth > 0, depth);
        break;
    }
}

/* ---- tests ---- */

TEST(hashes) {
    values_t *values = new_values();
    add_all(values);
    add_headless(values);
    next(values); /* a missing value */
    assert_true(values->count <= BATCH);
    check_hashes(values);
    free_values(values);
}

TEST(hashes_at_random) {
    values_t *values = new_values();
    while (values->count < RANDOM)
        append_drawn(next(values), "v", 0);
    check_hashes(values);
    free_values(values);
}

/* A value alone, and within documents and arrays. */
static void add_nested(values_t *values, const bson_iter_t *value) {
    bson_t inner, array, document;
    bson_append_iter(next(values), "v", 1, value);
    BSON_APPEND_DOCUMENT_BEGIN(next(values), "v", &inner);
    bson_append_iter(&inner, "a", 1, value);
    BSON_APPEND_INT32(&inner, "b", (int32_t)values->count);
    bson_append_document_end(values->documents[values->count - 1], &inner);
    BSON_APPEND_DOCUMENT_BEGIN(next(values), "v", &inner);
    BSON_APPEND_ARRAY_UNSAFE_BEGIN(&inner, "a", &array);
    bson_append_iter(&array, "0", 1, value);
    BSON_APPEND_DOCUMENT_BEGIN(&array, "1", &document);
    bson_append_iter(&document, "", 0, value);
    bson_append_document_end(&array, &document);
    bson_append_array_end(&inner, &array);
    bson_append_document_end(values->documents[values->count - 1], &inner);
}

/* A hash that is not the server's would send a document to a wrong shard: a type has the server's, alone and within
 * others, or none. */
TEST(every_type) {
    static const bson_type_t without[] = {BSON_TYPE_UNDEFINED, BSON_TYPE_REGEX,     BSON_TYPE_DBPOINTER,
                                          BSON_TYPE_CODE,      BSON_TYPE_SYMBOL,    BSON_TYPE_CODEWSCOPE,
                                          BSON_TYPE_TIMESTAMP, BSON_TYPE_DECIMAL128};
    bool refused[TYPES] = {false}, seen[TYPES] = {false};
    values_t *plain = new_values(), *values = new_values();
    hashed_t *hashed = hashed_new();
    int64_t hash;
    assert_non_null(hashed);
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        refused[without[i]] = true;
    for (size_t i = 0; i < sizeof of_every_type / sizeof *of_every_type; i++)
        add_json(plain, of_every_type[i]);
    for (int i = 0; i < 2; i++) /* libbson 1.23 reads those of JSON by bytes that it has not set */
        bson_append_dbpointer(next(plain), "v", 1, i ? "a.b" : "c", &(bson_oid_t){{(uint8_t)(0x55 * i)}});
    for (size_t i = 0; i < plain->count; i++) {
        const bson_iter_t at = value_of(plain, i);
        const bson_type_t type = bson_iter_type(&at);
        seen[(uint8_t)type] = true;
        values_t *const where = refused[(uint8_t)type] ? new_values() : values;
        add_nested(where, &at);
        for (size_t n = 0; where != values && n < where->count; n++) {
            const bson_iter_t none = value_of(where, n);
            if (hashed_value(hashed, &none, &hash))
                fail_msg("a hash: %s", text_of(where, n));
        }
        if (where != values)
            free_values(where);
    }
    for (int type = BSON_TYPE_DOUBLE; type <= BSON_TYPE_DECIMAL128; type++)
        assert_true(seen[type] || type == BSON_TYPE_ARRAY);
    assert_true(seen[BSON_TYPE_MAXKEY] && seen[BSON_TYPE_MINKEY]);
    assert_true(values->count <= BATCH);
    check_hashes(values);
    hashed_destroy(hashed);
    free_values(values);
    free_values(plain);
}

/* A server takes no array under a hashed key or index, and there is no hash of it. */
TEST(arrays) {
    bson_t reply, *index = BCON_NEW("createIndexes", "docs", "indexes", "[", "{", "key", "{", "v", "hashed",
                                    "}", "name", "v", "}", "]");
    values_t *values = new_values();
    hashed_t *hashed = hashed_new();
    assert_non_null(hashed);
    run(database, index, &reply);
    bson_destroy(&reply);
    add_json(values, "[[], [1], [[]]]");
    for (size_t i = 0; i < values->count; i++) {
        int64_t hash;
        bson_iter_t at = value_of(values, i), failed;
        assert_false(hashed_value(hashed, &at, &hash));
        bson_t *insert =
            BCON_NEW("insert", "docs", "documents", "[", BCON_DOCUMENT(values->documents[i]), "]");
        run(database, insert, &reply);
        if (!bson_iter_init_find(&failed, &reply, "writeErrors"))
            fail_msg("the server took %s", text_of(values, i));
        bson_destroy(&reply);
        bson_destroy(insert);
    }
    hashed_destroy(hashed);
    free_values(values);
    bson_destroy(index);
}

TEST(order) {
    values_t *values = new_values();
    add_all(values);
    assert_true(values->count <= BATCH);
    check_order(values, keyorder_values);
    free_values(values);
}

TEST(order_at_random) {
    values_t *values = new_values();
    while (values->count < RANDOM)
        append_drawn(next(values), "v", 0);
    check_order(values, keyorder_values);
    free_values(values);
}

static int order_keys(const bson_value_t *a, const bson_value_t *b) {
    bson_t key_a, key_b;
    assert_true(bson_init_static(&key_a, a->value.v_doc.data, a->value.v_doc.data_len));
    assert_true(bson_init_static(&key_b, b->value.v_doc.data, b->value.v_doc.data_len));
    return keyorder_documents(&key_a, &key_b);
}

/* Keys of several fields, many of them equal in the first ones, some shorter than others. */
TEST(order_of_keys) {
    static const char *const names[] = {"a", "b", "c"};
    values_t *few = new_values(), *values = new_values();
    for (int i = 0; i < 6; i++)
        append_drawn(next(few), "v", 0);
    while (values->count < RANDOM) {
        bson_t key;
        BSON_APPEND_DOCUMENT_BEGIN(next(values), "v", &key);
        for (size_t i = 0, count = 1 + draw(3); i < count; i++) {
            bson_iter_t at = value_of(few, draw(6));
            bson_append_iter(&key, names[i], 1, &at);
        }
        bson_append_document_end(values->documents[values->count - 1], &key);
    }
    check_order(values, order_keys);
    free_values(values);
    free_values(few);
}
