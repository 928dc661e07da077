/* What tests of loads believe of a server: commands, and what their replies must hold. The same rows hold for whoever
 * answers at TIPPLE_TEST_URI: a mongod, a router, and the server of tests/box. They are true of MongoDB 6.0; a comment
 * says where other versions differ.
 *
 * A row is two documents of JSON without their braces, in which names have no quotes and texts have single ones, with
 * the words
 *     @uuid      the UUID of the collection c, or of the last one that had this name
 *     @cursor    the cursor that was given last
 *     @database  the database of the test
 * A reply must hold the fields of the row and may hold others. It is ok if the row has no code. Fields of its cursor
 * count as its own; documents in batches are exactly as in the row, except for lists of collections and indexes. '-' is a
 * field that must not be there, '+' one that must be there, '~words' a text that contains these words. Numbers are
 * compared by value.
 * needs: standalone replset cluster; boxes: standalone replset cluster */
#include "live_lab.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers" /* rows end where the rest is 0 */

enum { STANDALONE = 1, SET = 2, ROUTER = 4, MEMBERS = STANDALONE | SET, REPLICATED = SET | ROUTER };

typedef struct {
    const char *command, *reply; /* NULL: it is ok */
    unsigned only;               /* kinds of servers; 0: all */
    const char *in;              /* a database other than that of the test */
} row_t; /* without ':' it is the title of the rows after it, which begin with nothing in the database */

static unsigned kind;
static uint32_t server;            /* that gets all commands: routers do not know each other's cursors */
static char cursor[40], uuid[100]; /* JSON */

/* ---- from rows to documents ---- */

static void add_word(FILE *json, const char *word, int length) {
    if (word[length] == ':')
        fprintf(json, "\"%.*s\"", length, word);
    else if (strncmp(word, "@uuid", 5) == 0)
        fputs(uuid, json);
    else if (strncmp(word, "@cursor", 7) == 0)
        fputs(cursor, json);
    else
        fprintf(json, "%.*s", length, word);
}

static bson_t *parse(const char *row) {
    static const char of_words[] = "@$._0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char *text;
    size_t length;
    bson_error_t error;
    bool quoted = false;
    FILE *json = open_memstream(&text, &length);
    assert_non_null(json);
    fputc('{', json);
    for (const char *at = row; *at;) {
        const size_t word = strspn(at, of_words);
        if (quoted && strncmp(at, "@database", 9) == 0) {
            fputs(database, json);
            at += 9;
        } else if (word && !quoted) {
            add_word(json, at, (int)word);
            at += word;
        } else {
            quoted ^= *at == '\'';
            fputc(*at == '\'' ? '"' : *at, json);
            at++;
        }
    }
    fputc('}', json);
    fclose(json);
    bson_t *document = bson_new_from_json((const uint8_t *)text, -1, &error);
    if (!document)
        fail_msg("%s: %s", text, error.message);
    free(text);
    return document;
}

/* ---- is the reply as it must be? ---- */

static bool whole_batches;

static bool same_value(const bson_iter_t *a, const bson_iter_t *b) {
    if (BSON_ITER_HOLDS_NUMBER(a) && BSON_ITER_HOLDS_NUMBER(b))
        return bson_iter_as_double(a) == bson_iter_as_double(b);
    bson_t x = BSON_INITIALIZER, y = BSON_INITIALIZER;
    bson_append_iter(&x, "", 0, a);
    bson_append_iter(&y, "", 0, b);
    const bool same = bson_equal(&x, &y);
    bson_destroy(&x);
    bson_destroy(&y);
    return same;
}

/* wholly: documents have no further fields, and theirs are in the same order. */
static bool holds(bson_iter_t wanted, bson_iter_t there, bool wholly) {
    const char *text = BSON_ITER_HOLDS_UTF8(&wanted) ? bson_iter_utf8(&wanted, NULL) : "";
    bson_iter_t want, have;
    if (strcmp(text, "+") == 0)
        return true;
    if (*text == '~')
        return BSON_ITER_HOLDS_UTF8(&there) && strstr(bson_iter_utf8(&there, NULL), text + 1);
    if (!BSON_ITER_HOLDS_DOCUMENT(&wanted) && !BSON_ITER_HOLDS_ARRAY(&wanted))
        return same_value(&wanted, &there);
    if (bson_iter_type(&wanted) != bson_iter_type(&there))
        return false;
    wholly |= whole_batches && strstr(bson_iter_key(&wanted), "Batch");
    const bool in_order = wholly || BSON_ITER_HOLDS_ARRAY(&wanted);
    bson_iter_recurse(&wanted, &want);
    bson_iter_recurse(&there, &have);
    while (bson_iter_next(&want)) {
        const char *key = bson_iter_key(&want);
        const bool found = in_order ? bson_iter_next(&have) && strcmp(bson_iter_key(&have), key) == 0
                                    : bson_iter_recurse(&there, &have) && bson_iter_find(&have, key);
        if (BSON_ITER_HOLDS_UTF8(&want) && strcmp(bson_iter_utf8(&want, NULL), "-") == 0
                ? found
                : !found || !holds(want, have, wholly))
            return false;
    }
    return !in_order || !bson_iter_next(&have);
}

/* ---- a row ---- */

/* The reply, with the fields of its cursor. */
static bson_t *ask(const char *in, const bson_t *command) {
    bson_t *whole = bson_new(), reply, fields;
    bson_error_t error = {.message = ""};
    bson_iter_t iter;
    uint32_t length;
    const uint8_t *bytes;
    mongoc_client_command_simple_with_server_id(client, in, command, NULL, server, &reply, &error);
    if (bson_empty(&reply))
        fail_msg("%s", error.message);
    bson_concat(whole, &reply);
    if (bson_iter_init_find(&iter, &reply, "cursor")) {
        bson_iter_document(&iter, &length, &bytes);
        assert_true(bson_init_static(&fields, bytes, length));
        bson_concat(whole, &fields);
        if (bson_iter_init_find(&iter, &fields, "id") && bson_iter_as_int64(&iter))
            snprintf(cursor, sizeof cursor, "{\"$numberLong\": \"%lld\"}",
                     (long long)bson_iter_as_int64(&iter));
    }
    bson_destroy(&reply);
    return whole;
}

static void find_uuid(void) {
    bson_t *command = parse("listCollections: 1, filter: {name: 'c'}"), *reply = ask(database, command);
    bson_iter_t iter, found;
    bson_subtype_t type;
    uint32_t length;
    const uint8_t *bytes;
    if (bson_iter_init(&iter, reply) && bson_iter_find_descendant(&iter, "firstBatch.0.info.uuid", &found)) {
        bson_iter_binary(&found, &type, &length, &bytes);
        bson_t *alone = BCON_NEW("", BCON_BIN(type, bytes, length));
        char *text = bson_as_canonical_extended_json(alone, NULL); /* { "" : { ... } } */
        snprintf(uuid, sizeof uuid, "%.*s", (int)strlen(text) - 9, text + 7);
        bson_free(text);
        bson_destroy(alone);
    }
    bson_destroy(reply);
    bson_destroy(command);
}

static bool run_row(const row_t *row) {
    bson_iter_t want, have, code;
    const char *must = row->reply ? row->reply : "";
    if (strstr(row->command, "@uuid") || strstr(must, "@uuid"))
        find_uuid();
    bson_t *command = parse(row->command), *wanted = parse(must),
           *reply = ask(row->in ? row->in : database, command);
    const bool fails = bson_iter_init_find(&code, wanted, "code") && BSON_ITER_HOLDS_NUMBER(&code);
    BSON_APPEND_INT32(wanted, "ok", !fails);
    bson_t *both = BCON_NEW("wanted", BCON_DOCUMENT(wanted), "reply", BCON_DOCUMENT(reply));
    whole_batches = strncmp(row->command, "list", 4) != 0;
    const bool ok = bson_iter_init_find(&want, both, "wanted") && bson_iter_init_find(&have, both, "reply") &&
                    holds(want, have, false);
    char *text = bson_as_relaxed_extended_json(reply, NULL);
    if (!ok)
        print_error("%s\n    must give %s\n    and gives %s\n", row->command, must, text);
    bson_free(text);
    bson_destroy(both);
    bson_destroy(reply);
    bson_destroy(wanted);
    bson_destroy(command);
    return ok;
}

/* ---- the rows ---- */

/* clang-format off */

#define OTHER_UUID "{$binary: {base64: 'AAECAwQFBgcICQoLDA0ODw==', subType: '04'}}"

#define CHUNKS(...)                                                                                                   \
    {"find: 'chunks', filter: {uuid: @uuid}, sort: {min: 1}, projection: {_id: 0, min: 1, max: 1, shard: 1}",          \
     "firstBatch: [" __VA_ARGS__ "]", .in = "config"}

static const row_t rows[] = {
    {"inserts"},
    {"insert: 'c', documents: [{_id: 1}, {a: 1, _id: 2}]", "n: 2, writeErrors: '-'"},
    {"find: 'c', sort: {_id: 1}", "firstBatch: [{_id: 1}, {_id: 2, a: 1}], id: 0, ns: '@database.c'"},
    {"insert: 'c', documents: [{_id: 1}, {_id: 3}]",
     "n: 0, writeErrors: [{index: 0, code: 11000, keyPattern: {_id: 1}, keyValue: {_id: 1}, "
     "errmsg: '~E11000 duplicate key error collection: @database.c index: _id_'}]"},
    {"insert: 'c', documents: [{_id: 1}, {_id: 3}, {_id: 3}, {_id: 1.0}, {_id: 4}], ordered: false",
     "n: 2, writeErrors: [{index: 0, code: 11000}, {index: 2, keyValue: {_id: 3}}, {index: 3}]"},
    {"insert: 'c', documents: [{a: 1}]", "n: 1"},
    {"count: 'c', query: {_id: {$exists: true}}", "n: 5"},
    {"insert: 'c', documents: [{_id: [1]}]", "n: 0, writeErrors: [{index: 0, code: 53}]"},
    {"insert: 'c', documents: []", "code: 16"},
    {"insert: 'c', documents: [{_id: {a: 1}}, {_id: {a: 2}}, {_id: null}, {_id: null}, {_id: 'x'}], ordered: false",
     "n: 4, writeErrors: [{index: 3, keyValue: {_id: null}}]"},

    {"updates"},
    {"insert: 'c', documents: [{_id: 1, a: 1}, {_id: 2, a: 1}, {_id: 3, a: 2}]", "n: 3"},
    {"update: 'c', updates: [{q: {a: 1}, u: {$set: {a: 1}}, multi: true}]",
     "n: 2, nModified: 0, upserted: '-', writeErrors: '-'"},
    {"update: 'c', updates: [{q: {a: 1}, u: {$set: {b: 1}}, multi: true}]", "n: 2, nModified: 2"},
    {"update: 'c', updates: [{q: {a: 1}, u: {$set: {b: 2}}}]", "n: 1, nModified: 1"},
    {"update: 'c', updates: [{q: {_id: 3}, u: {$set: {a: 2.0}}}]", "n: 1, nModified: 1"}, /* another type */
    {"update: 'c', updates: [{q: {_id: 3}, u: {$max: {a: 1}}}, {q: {_id: 3}, u: {$max: {a: 3}}}]",
     "n: 2, nModified: 1"},
    {"update: 'c', updates: [{q: {_id: 3}, u: {$unset: {x: 1}}}, {q: {_id: 3}, u: {$setOnInsert: {x: 1}}}]",
     "n: 2, nModified: 0"},
    {"update: 'c', updates: [{q: {_id: 3}, u: {$unset: {a: 1}, $set: {'l': [1], 'm.n': 5}}}]", "n: 1, nModified: 1"},
    {"update: 'c', updates: [{q: {_id: 3}, u: {$set: {'l.2': 1}}}]", "n: 1, nModified: 1"},
    {"find: 'c', filter: {_id: 3}", "firstBatch: [{_id: 3, l: [1, null, 1], m: {n: 5}}]"},
    /* a replacement keeps the _id; without one it counts as a change in any case */
    {"update: 'c', updates: [{q: {_id: 3}, u: {a: 1}}, {q: {_id: 3}, u: {a: 1}}]", "n: 2, nModified: 2"},
    {"update: 'c', updates: [{q: {_id: 3}, u: {_id: 3, a: 1}}]", "n: 1, nModified: 0"},
    {"find: 'c', filter: {_id: 3}", "firstBatch: [{_id: 3, a: 1}]"},
    {"update: 'c', updates: [{q: {}, u: {a: 1}, multi: true}]", "n: 0, writeErrors: [{index: 0, code: 9}]"},
    {"update: 'c', updates: [{q: {_id: 1}, u: {_id: 2}}]", "n: 0, nModified: 0, writeErrors: [{index: 0, code: 66}]"},
    {"update: 'c', updates: [{q: {_id: 1}, u: {$set: {_id: 9}}}, {q: {_id: 2}, u: {$set: {w: 1}}}]",
     "n: 0, nModified: 0, writeErrors: [{index: 0, code: 66}]"},
    {"update: 'c', updates: [{q: {_id: 1}, u: {$set: {_id: 9}}}, {q: {_id: 2}, u: {$set: {w: 1}}}], ordered: false",
     "n: 1, nModified: 1, writeErrors: [{index: 0, code: 66}]"},
    {"update: 'c', updates: [{q: {_id: 2}, u: [{$set: {z: '$a', 'y.x': {$literal: '$a'}}}]}]", "n: 1, nModified: 1"},
    {"update: 'c', updates: [{q: {_id: 2}, u: [{$set: {z: '$a'}}]}]", "n: 1, nModified: 0"},
    {"find: 'c', filter: {_id: 2}", "firstBatch: [{_id: 2, a: 1, b: 1, w: 1, z: 1, y: {x: '$a'}}]"},
    {"update: 'c', updates: [{q: {_id: 2}, u: {$currentDate: {now: true}}}]", "n: 1, nModified: 1"},
    {"count: 'c', query: {now: {$gt: {$date: {$numberLong: '1577836800000'}}}}", "n: 1"},
    {"update: 'c', updates: []", "code: 16"},
    {"update: 'nowhere', updates: [{q: {_id: 1}, u: {$set: {a: 1}}}]", "n: 0, nModified: 0"},
    {"listCollections: 1, filter: {name: 'nowhere'}", "firstBatch: []"},

    {"upserts"},
    {"update: 'c', updates: [{q: {_id: 1}, u: {$set: {b: 1}}, upsert: true}, {q: {_id: 1}, u: {$set: {b: 2}}, "
     "upsert: true}, {q: {x: 5, y: {$gt: 3}}, u: {$set: {b: 1}}, upsert: true}]",
     "n: 3, nModified: 1, upserted: [{index: 0, _id: 1}, {index: 2, _id: '+'}]"},
    {"count: 'c', query: {x: 5, y: {$exists: false}, b: 1}", "n: 1"},
    {"update: 'c', updates: [{q: {_id: 2, 'a.b': 1}, u: {$set: {'a.c': 1}, $setOnInsert: {d: 1}}, upsert: true}]",
     "n: 1, nModified: 0, upserted: [{index: 0, _id: 2}]"},
    {"update: 'c', updates: [{q: {_id: 3}, u: {b: 1}, upsert: true}]", "upserted: [{index: 0, _id: 3}]"},
    {"update: 'c', updates: [{q: {_id: 4}, u: [{$set: {b: 1}}], upsert: true}]", "upserted: [{index: 0, _id: 4}]"},
    {"find: 'c', filter: {_id: {$in: [1, 2, 3, 4]}}, sort: {_id: 1}",
     "firstBatch: [{_id: 1, b: 2}, {_id: 2, a: {b: 1, c: 1}, d: 1}, {_id: 3, b: 1}, {_id: 4, b: 1}]"},
    {"update: 'c', updates: [{q: {_id: 1, z: 1}, u: {$set: {b: 1}}, upsert: true}]",
     "n: 0, nModified: 0, upserted: '-', writeErrors: [{index: 0, code: 11000, keyPattern: {_id: 1}, "
     "keyValue: {_id: 1}}]"},
    {"update: 'c', updates: [{q: {_id: 9}, u: {_id: 8, b: 1}, upsert: true}]",
     "n: 0, writeErrors: [{index: 0, code: 66}]"},
    {"update: 'new', updates: [{q: {_id: 1}, u: {$set: {b: 1}}, upsert: true}]",
     "n: 1, upserted: [{index: 0, _id: 1}]"},

    {"deletes"},
    {"insert: 'c', documents: [{_id: 1, a: 1}, {_id: 2, a: 1}, {_id: 3, a: 1}, {_id: 4}]", "n: 4"},
    {"delete: 'c', deletes: [{q: {a: 1}, limit: 1}]", "n: 1, writeErrors: '-'"},
    {"delete: 'c', deletes: [{q: {a: 1}, limit: 0}, {q: {a: 7}, limit: 0}, {q: {_id: 4}, limit: 1}]", "n: 3"},
    {"delete: 'nowhere', deletes: [{q: {}, limit: 0}]", "n: 0"},
    {"count: 'c'", "n: 0"},
    {"delete: 'c', deletes: []", "code: 16"},

    /* Another collection of the same name: statements of a write fail one by one, other commands as a whole. Servers
     * before 6.0 do not know the field. */
    {"other collections"},
    {"insert: 'c', documents: [{_id: 1}]", "n: 1"},
    {"insert: 'c', documents: [{_id: 2}], collectionUUID: @uuid", "n: 1"},
    {"insert: 'c', documents: [{_id: 3}, {_id: 4}], collectionUUID: " OTHER_UUID,
     "n: 0, code: '-', writeErrors: [{index: 0, code: 361, db: '@database', collectionUUID: '+', "
     "expectedCollection: 'c'}]"},
    {"insert: 'c', documents: [{_id: 3}, {_id: 4}], ordered: false, collectionUUID: " OTHER_UUID,
     "n: 0, writeErrors: [{index: 0, code: 361}, {index: 1, code: 361}]"},
    {"insert: 'nowhere', documents: [{_id: 1}], collectionUUID: " OTHER_UUID, "n: 0, writeErrors: [{code: 361}]"},
    {"listCollections: 1, filter: {name: 'nowhere'}", "firstBatch: []"},
    {"update: 'c', updates: [{q: {_id: 1}, u: {$set: {a: 1}}}], collectionUUID: " OTHER_UUID,
     "n: 0, nModified: 0, writeErrors: [{index: 0, code: 361}]"},
    {"delete: 'c', deletes: [{q: {_id: 1}, limit: 1}], collectionUUID: " OTHER_UUID,
     "n: 0, writeErrors: [{index: 0, code: 361}]"},
    {"drop: 'c', collectionUUID: " OTHER_UUID, "code: 361"},
    {"drop: 'nowhere', collectionUUID: @uuid", "code: 361"},
    {"drop: 'c', collectionUUID: @uuid"},
    {"drop: 'c'", "code: 26", .only = MEMBERS},
    {"drop: 'c'", .only = ROUTER},

    {"reads"},
    {"insert: 'c', documents: [{_id: 1, a: 3}, {_id: 2, a: 2}, {_id: 3, a: 1}, {_id: 4, b: {c: 1, d: 2}}, {_id: 5, "
     "a: 5}]",
     "n: 5"},
    {"find: 'c', batchSize: 2, sort: {_id: 1}, projection: {_id: 1}",
     "firstBatch: [{_id: 1}, {_id: 2}], id: '+', ns: '@database.c'"},
    {"getMore: @cursor, collection: 'c', batchSize: 1", "nextBatch: [{_id: 3}], id: '+'"},
    {"getMore: @cursor, collection: 'c'", "nextBatch: [{_id: 4}, {_id: 5}], id: 0"},
    {"getMore: @cursor, collection: 'c'", "code: 43"},
    {"find: 'c', batchSize: 0", "firstBatch: [], id: '+'"},
    {"killCursors: 'c', cursors: [@cursor]", "cursorsKilled: [@cursor]"},
    {"getMore: @cursor, collection: 'c'", "code: 43", .only = MEMBERS}, /* the lab's router keeps the cursor */
    {"find: 'c', batchSize: 2, singleBatch: true, sort: {_id: -1}, projection: {_id: 1}",
     "firstBatch: [{_id: 5}, {_id: 4}], id: 0"},
    {"find: 'c', limit: 2, sort: {a: 1}", "firstBatch: [{_id: 4, b: {c: 1, d: 2}}, {_id: 3, a: 1}], id: 0"},
    {"find: 'c', filter: {a: {$gt: 2}}, projection: {_id: 0, a: 1}, sort: {a: -1}", "firstBatch: [{a: 5}, {a: 3}]"},
    {"find: 'nowhere'", "firstBatch: [], id: 0"},
    {"count: 'c', query: {a: {$lt: 3}}", "n: 2"},
    {"count: 'nowhere'", "n: 0"},
    {"aggregate: 'c', pipeline: [{$match: {a: {$gte: 2}}}, {$count: 'n'}], cursor: {}", "firstBatch: [{n: 3}], id: 0"},
    {"aggregate: 'c', pipeline: [{$match: {a: 9}}, {$count: 'n'}], cursor: {}", "firstBatch: []"},
    {"aggregate: 'c', pipeline: [{$group: {_id: null, s: {$sum: '$a'}, n: {$sum: 1}, "
     "b: {$sum: {$bsonSize: '$$ROOT'}}}}], cursor: {}",
     "firstBatch: [{_id: null, s: 11, n: 5, b: 120}]"},
    {"aggregate: 'c', pipeline: [{$match: {_id: 4}}, {$project: {_id: 0, x: '$b.c', y: {$subtract: ['$b.d', 5]}}}], "
     "cursor: {}",
     "firstBatch: [{x: 1, y: -3}]"},

    {"conditions"},
    {"insert: 'c', documents: [{_id: 1, a: null}, {_id: 2}, {_id: 3, a: 1}, {_id: 4, a: 'x'}, {_id: 5, a: [1, 2]}, "
     "{_id: 6, a: [{b: 1}, {b: 5}]}, {_id: 7, a: {b: 1}}, {_id: 8, a: true}, {_id: 9, a: {$numberLong: '7'}}, "
     "{_id: 10, a: {$numberDouble: 'NaN'}}]",
     "n: 10"},
    {"count: 'c', query: {a: null}", "n: 2"},
    {"count: 'c', query: {a: {$exists: false}}", "n: 1"},
    {"count: 'c', query: {a: 1}", "n: 2"},
    {"count: 'c', query: {a: 1.0}", "n: 2"},
    {"count: 'c', query: {a: {$ne: 1}}", "n: 8"},
    {"count: 'c', query: {a: {$gt: 0}}", "n: 3"},
    {"count: 'c', query: {a: {$lt: 'y'}}", "n: 1"},
    {"count: 'c', query: {a: {$not: {$gt: 0}}}", "n: 7"},
    {"count: 'c', query: {a: {$in: [1, 'x', null]}}", "n: 5"},
    {"count: 'c', query: {a: {$size: 2}}", "n: 2"},
    {"count: 'c', query: {a: {$type: 'long'}}", "n: 1"},
    {"count: 'c', query: {'a.b': 1}", "n: 2"},
    {"count: 'c', query: {'a.0': 1}", "n: 1"},
    {"count: 'c', query: {'a.b': {$gt: 1, $lt: 5}}", "n: 1"},
    {"count: 'c', query: {a: {$elemMatch: {b: {$gt: 1}}}}", "n: 1"},
    {"count: 'c', query: {a: {b: 1}}", "n: 2"},
    {"count: 'c', query: {$or: [{a: 1}, {_id: 2}]}", "n: 3"},
    {"count: 'c', query: {$and: [{a: 1}, {_id: {$lt: 5}}]}", "n: 1"},
    {"count: 'c', query: {$expr: {$eq: ['$a', 1]}}", "n: 1"},
    {"count: 'c', query: {a: {$numberDouble: 'NaN'}}", "n: 1"},
    {"count: 'c', query: {a: {$lte: {$numberDouble: 'NaN'}}}", "n: 1"},

    {"order"},
    {"insert: 'c', documents: [{_id: 1, a: true}, {_id: 2, a: {$oid: '64a000000000000000000001'}}, {_id: 3, "
     "a: {b: 1}}, {_id: 4, a: 'x'}, {_id: 5, a: {$numberDouble: '1.5'}}, {_id: 6, a: 1}, {_id: 7}, {_id: 8, "
     "a: {$minKey: 1}}, {_id: 9, a: {$maxKey: 1}}, {_id: 10, a: {$date: {$numberLong: '5'}}}, {_id: 11, "
     "a: {$binary: {base64: 'AA==', subType: '00'}}}, {_id: 12, a: {$numberDouble: 'NaN'}}, {_id: 13, "
     "a: {$timestamp: {t: 1, i: 1}}}, {_id: 14, a: {b: 'x'}}, {_id: 15, a: 'X'}]",
     "n: 15"},
    {"find: 'c', sort: {a: 1}, projection: {_id: 1}",
     "firstBatch: [{_id: 8}, {_id: 7}, {_id: 12}, {_id: 6}, {_id: 5}, {_id: 15}, {_id: 4}, {_id: 3}, {_id: 14}, "
     "{_id: 11}, {_id: 2}, {_id: 1}, {_id: 10}, {_id: 13}, {_id: 9}]"},

    {"read concerns"},
    {"insert: 'c', documents: [{_id: 1}], readConcern: {level: 'local'}", "n: 1"},
    {"insert: 'c', documents: [{_id: 2}], readConcern: {level: 'majority'}", "code: 72"},
    {"listCollections: 1, readConcern: {level: 'majority'}", "code: 72"},
    {"find: 'c', readConcern: {}", "firstBatch: [{_id: 1}], atClusterTime: '-'"},
    {"find: 'c', readConcern: {level: 'local'}", "firstBatch: [{_id: 1}], atClusterTime: '-'"},
    {"find: 'c', readConcern: {level: 'majority'}", "firstBatch: [{_id: 1}], atClusterTime: '-'"},
    {"find: 'c', readConcern: {level: 'linearizable'}", "code: 123", .only = STANDALONE},
    {"find: 'c', readConcern: {level: 'linearizable'}", "firstBatch: [{_id: 1}]", .only = REPLICATED},
    {"find: 'c', readConcern: {level: 'snapshot'}", "code: 123", .only = STANDALONE},
    {"find: 'c', readConcern: {level: 'snapshot'}", "firstBatch: [{_id: 1}], atClusterTime: '+'", .only = REPLICATED},
    {"find: 'c', readConcern: {level: 'odd'}", "code: 9"},
    {"aggregate: 'c', pipeline: [], cursor: {}, readConcern: {level: 'majority'}", "firstBatch: [{_id: 1}]"},
    {"count: 'c', readConcern: {level: 'majority'}", "n: 1"},
    {"count: 'c', readConcern: {level: 'snapshot'}", "code: 72", .only = MEMBERS},

    /* A set of one member, and shards of one. A write whose concern cannot be met is done all the same, where a server
     * could have more members. */
    {"write concerns"},
    {"insert: 'c', documents: [{_id: 1}], writeConcern: {w: 1}", "n: 1, writeConcernError: '-'"},
    {"insert: 'c', documents: [{_id: 2}], writeConcern: {w: 'majority', j: true, wtimeout: 60000}",
     "n: 1, writeConcernError: '-'"},
    {"insert: 'c', documents: [{_id: 3}], writeConcern: {w: 0}", "writeErrors: '-'"},
    {"insert: 'c', documents: [{_id: 3}], writeConcern: {w: 0}", "writeErrors: '-'"},
    {"insert: 'c', documents: [{_id: 4}], writeConcern: {w: 2}", "code: 2", .only = STANDALONE},
    {"insert: 'c', documents: [{_id: 4}], writeConcern: {w: 2}",
     "n: 1, code: '-', writeConcernError: {code: 100, errmsg: '~Not enough data-bearing nodes'}", .only = REPLICATED},
    {"insert: 'c', documents: [{_id: 4}], writeConcern: {w: 2}",
     "n: 0, writeErrors: [{code: 11000}], writeConcernError: {code: 100}", .only = SET},
    {"insert: 'c', documents: [{_id: 5}], writeConcern: {w: 'tag'}", "code: 2", .only = STANDALONE},
    {"insert: 'c', documents: [{_id: 5}], writeConcern: {w: 'tag'}",
     "n: 1, writeConcernError: {code: 79}", .only = REPLICATED},
    {"insert: 'c', documents: [{_id: 6}], writeConcern: {w: 51}", "code: 9"},
    {"insert: 'c', documents: [{_id: 6}], writeConcern: {w: -1}", "code: 9"},
    {"update: 'c', updates: [{q: {_id: 1}, u: {$set: {a: 1}}}], writeConcern: {w: 3}",
     "n: 1, nModified: 1, writeConcernError: {code: 100}", .only = REPLICATED},
    {"delete: 'c', deletes: [{q: {_id: 1}, limit: 1}], writeConcern: {w: 2}",
     "n: 1, writeConcernError: {code: 100}", .only = REPLICATED},
    {"create: 'd', writeConcern: {w: 2}", "writeConcernError: {code: 100}", .only = REPLICATED},
    {"count: 'c'", "n: 3", .only = STANDALONE},
    {"count: 'c'", "n: 4", .only = REPLICATED},
    {"find: 'c', writeConcern: {w: 1}", "code: 72"},
    {"count: 'c', writeConcern: {w: 1}", "code: 72", .only = MEMBERS},

    {"validators"},
    {"create: 'c', validator: {k: {$ne: 'x'}}"},
    {"insert: 'c', documents: [{_id: 1, k: 'x'}, {_id: 2, k: 'y'}, {_id: 3}], ordered: false",
     "n: 2, writeErrors: [{index: 0, code: 121, errmsg: 'Document failed validation'}]"},
    {"update: 'c', updates: [{q: {_id: 2}, u: {$set: {k: 'x'}}}]",
     "n: 0, nModified: 0, writeErrors: [{index: 0, code: 121}]"},
    {"update: 'c', updates: [{q: {_id: 5}, u: {$set: {k: 'x'}}, upsert: true}]",
     "n: 0, upserted: '-', writeErrors: [{code: 121}]"},
    {"update: 'c', updates: [{q: {_id: 3}, u: {$set: {k: 'z'}}}]", "nModified: 1"},
    {"listCollections: 1, filter: {name: 'c'}", "firstBatch: [{name: 'c', options: {validator: {k: {$ne: 'x'}}}}]"},

    {"unique indexes"},
    {"createIndexes: 'c', indexes: [{key: {k: 1}, name: 'k_1', unique: true}]"},
    {"insert: 'c', documents: [{_id: 1, k: 1}, {_id: 2, k: 1.0}, {_id: 3}, {_id: 4, k: null}, {_id: 5, k: 'x'}, "
     "{_id: 6, k: {a: 1}}, {_id: 7, k: {a: 1.0}}, {_id: 8, k: 'X'}, {_id: 5, k: 1}], ordered: false",
     "n: 5, writeErrors: [{index: 1, code: 11000, keyPattern: {k: 1}, keyValue: {k: 1}, errmsg: '~index: k_1'}, "
     "{index: 3, code: 11000, keyValue: {k: null}}, {index: 6, code: 11000, keyValue: {k: {a: 1}}}, {index: 8, "
     "keyPattern: {_id: 1}}]"},
    {"update: 'c', updates: [{q: {_id: 5}, u: {$set: {k: 1}}}]",
     "n: 0, nModified: 0, writeErrors: [{index: 0, code: 11000, keyPattern: {k: 1}, keyValue: {k: 1}}]"},
    {"update: 'c', updates: [{q: {_id: 5}, u: {$set: {k: 'x'}}}]", "n: 1, nModified: 0"},
    {"update: 'c', updates: [{q: {_id: 50}, u: {$set: {k: 1}}, upsert: true}]",
     "n: 0, upserted: '-', writeErrors: [{code: 11000}]"},
    {"delete: 'c', deletes: [{q: {_id: 1}, limit: 1}]", "n: 1"},
    {"insert: 'c', documents: [{_id: 9, k: 1}]", "n: 1"},
    {"createIndexes: 'two', indexes: [{key: {a: 1, b: -1}, name: 'ab', unique: true}]"},
    {"insert: 'two', documents: [{_id: 1, a: 1, b: 1}, {_id: 2, a: 1, b: 1}, {_id: 3, a: 1}, {_id: 4, a: 1, b: null}, "
     "{_id: 5}, {_id: 6, a: null}, {_id: 7, a: 1, b: 2}], ordered: false",
     "n: 4, writeErrors: [{index: 1, keyPattern: {a: 1, b: -1}, keyValue: {a: 1, b: 1}}, {index: 3, keyValue: {a: 1, "
     "b: null}}, {index: 5, keyValue: {a: null, b: null}}]"},
    {"createIndexes: 'some', indexes: [{key: {'o.p': 1}, name: 'o', unique: true, "
     "partialFilterExpression: {'o.p': {$exists: true}}}]",
    },
    {"insert: 'some', documents: [{_id: 1}, {_id: 2}, {_id: 3, o: {p: 1}}, {_id: 4, o: {p: 1}}], ordered: false",
     "n: 3, writeErrors: [{index: 3, code: 11000, keyPattern: {'o.p': 1}, keyValue: {'o.p': 1}}]"},

    {"indexes"},
    {"insert: 'c', documents: [{_id: 1, a: 1}, {_id: 2, a: 1}]", "n: 2"},
    {"createIndexes: 'c', indexes: [{key: {b: 1}, name: 'b_1'}, {key: {a: 1}, name: 'a_1', unique: true}]",
     "code: 11000"},
    {"listIndexes: 'c'", "firstBatch: [{v: 2, key: {_id: 1}, name: '_id_', unique: '-'}], id: 0"},
    {"createIndexes: 'c', indexes: [{key: {b: 1}, name: 'b_1'}, {key: {c: 1}, name: 'c', unique: true, "
     "partialFilterExpression: {c: 1}}]",
    },
    {"createIndexes: 'c', indexes: [{key: {b: 1}, name: 'b_1'}]"},
    {"createIndexes: 'c', indexes: [{key: {b: 1}, name: 'b_1', unique: true}]", "code: 86"},
    {"createIndexes: 'c', indexes: [{key: {d: 1}, name: 'b_1'}]", "code: 86"},
    {"createIndexes: 'c', indexes: [{key: {b: 1}, name: 'other'}]", "code: 85"},
    {"listIndexes: 'c', cursor: {batchSize: 100}",
     "firstBatch: [{name: '_id_'}, {v: 2, key: {b: 1}, name: 'b_1', unique: '-'}, {v: 2, key: {c: 1}, name: 'c', "
     "unique: true, partialFilterExpression: {c: 1}}]"},
    {"listIndexes: 'nowhere'", "code: 26"},
    {"createIndexes: 'new', indexes: [{key: {a: 1}, name: 'a_1'}]"},
    {"listCollections: 1, filter: {name: 'new'}", "firstBatch: [{name: 'new'}]"},

    /* Of texts that are equal in either case; indexes have it, too, except for those that say otherwise. */
    {"collations"},
    {"create: 'c', collation: {locale: 'en', strength: 2}"},
    {"listCollections: 1, filter: {name: 'c'}", "firstBatch: [{options: {collation: {locale: 'en', strength: 2}}}]"},
    {"insert: 'c', documents: [{_id: 'a', k: 'x'}, {_id: 'A'}, {_id: 'b', k: 'X'}, {_id: 'B'}], ordered: false",
     "n: 2, writeErrors: [{index: 1, code: 11000, keyPattern: {_id: 1}}, {index: 3, code: 11000}]"},
    {"find: 'c', filter: {_id: {$in: ['B', 'A']}}, sort: {_id: 1}",
     "firstBatch: [{_id: 'a', k: 'x'}, {_id: 'b', k: 'X'}]"},
    {"count: 'c', query: {k: 'x'}", "n: 2"},
    {"createIndexes: 'c', indexes: [{key: {k: 1}, name: 'k', unique: true}]", "code: 11000"},
    {"createIndexes: 'c', indexes: [{key: {k: 1}, name: 'k', unique: true, collation: {locale: 'simple'}}]"},
    {"insert: 'c', documents: [{_id: 'c', k: 'x'}, {_id: 'd', k: 'Y'}, {_id: 'e', k: 'y'}], ordered: false",
     "n: 2, writeErrors: [{index: 0, keyPattern: {k: 1}, keyValue: {k: 'x'}}]"},
    {"update: 'c', updates: [{q: {_id: 'B'}, u: {$set: {w: 1}}}]", "n: 1, nModified: 1"},
    {"createIndexes: 'c', indexes: [{key: {w: 1}, name: 'w'}]"},
    {"listIndexes: 'c'",
     "firstBatch: [{name: '_id_', collation: {locale: 'en'}}, {name: 'k', collation: '-'}, {name: 'w', "
     "collation: {locale: 'en', strength: 2}}]"},
    {"delete: 'c', deletes: [{q: {_id: 'D'}, limit: 1}]", "n: 1"},
    {"create: 'simple', collation: {locale: 'simple'}"},
    {"insert: 'simple', documents: [{_id: 'a'}, {_id: 'A'}]", "n: 2"},
    {"createIndexes: 'simple', indexes: [{key: {k: 1}, name: 'k', unique: true, collation: {locale: 'en', "
     "strength: 2}, partialFilterExpression: {k: {$exists: true}}}]",
    },
    {"insert: 'simple', documents: [{_id: 'b', k: 'x'}, {_id: 'c', k: 'X'}]",
     "n: 1, writeErrors: [{code: 11000, keyPattern: {k: 1}}]"},
    {"count: 'simple', query: {k: 'X'}", "n: 0"},

    {"collections"},
    {"create: 'c', clusteredIndex: {key: {_id: 1}, unique: true}"}, /* since 5.3 */
    {"create: 'c'", "code: 48"},
    {"listIndexes: 'c'", "firstBatch: [{name: '_id_', key: {_id: 1}, unique: true, clustered: true}]"},
    {"insert: 'c', documents: [{_id: 1}, {_id: 1}]",
     "n: 1, writeErrors: [{index: 1, code: 11000, keyPattern: {_id: 1}, keyValue: {_id: 1}}]"},
    {"listCollections: 1, filter: {name: 'c'}",
     "firstBatch: [{name: 'c', type: 'collection', options: {clusteredIndex: {key: {_id: 1}, unique: true}}, "
     "info: {uuid: '+'}}]"},
    {"create: 'plain', storageEngine: {wiredTiger: {configString: 'block_compressor=zstd'}}"},
    {"listCollections: 1, filter: {name: 'plain'}",
     "firstBatch: [{options: {storageEngine: {wiredTiger: {configString: 'block_compressor=zstd'}}}}]"},
    {"aggregate: 'c', pipeline: [{$collStats: {storageStats: {}}}, {$project: {_id: 0, "
     "made: '$storageStats.wiredTiger.creationString'}}], cursor: {}",
     "firstBatch: [{made: '~block_compressor=snappy,'}]"},
    {"ping: 1"},
    {"buildInfo: 1", "version: '+'"},
    {"connectionStatus: 1, showPrivileges: true"},
    {"hostInfo: 1", "system: {numCores: '+'}", .in = "admin", .only = MEMBERS},
    {"serverStatus: 1", "opcounters: {update: '+'}", .in = "admin", .only = MEMBERS},
    {"dbStats: 1", "fsUsedSize: '+', fsTotalSize: '+'", .only = MEMBERS},
    {"dbStats: 1", "fsTotalSize: '-', raw: '+'", .only = ROUTER}, /* of each shard, by "s0/a:1,b:2" */
    {"hello: 1",
     "isWritablePrimary: true, setName: '-', msg: '-', maxBsonObjectSize: 16777216, topologyVersion: {processId: '+'}",
     .only = STANDALONE},
    {"hello: 1",
     "isWritablePrimary: true, setName: '+', primary: '+', me: '+', hosts: '+', secondary: false", .only = SET},
    {"hello: 1", "isWritablePrimary: true, setName: '-', msg: 'isdbgrid', maxWriteBatchSize: 100000", .only = ROUTER},
    {"dropDatabase: 1"},
    {"listIndexes: 'c'", "code: 26"},

    /* Zones come first, and become chunks of an empty collection. */
    {"routers", .only = ROUTER},
    {"listShards: 1", "shards: [{_id: 's0', host: '~s0/', state: 1}, {_id: 's1', host: '~s1/', state: 1}]"},
    {"addShardToZone: 's0', zone: '@database.0'"},
    {"addShardToZone: 's1', zone: '@database.1'"},
    {"find: 'shards', filter: {tags: '@database.1'}, projection: {_id: 1}",
     "firstBatch: [{_id: 's1'}]", .in = "config"},
    {"updateZoneKeyRange: '@database.c', min: {k: {$minKey: 1}}, max: {k: 5}, zone: '@database.0'"},
    {"updateZoneKeyRange: '@database.c', min: {k: 5}, max: {k: {$maxKey: 1}}, zone: '@database.1'"},
    {"find: 'tags', filter: {ns: '@database.c'}, sort: {min: 1}",
     "firstBatch: [{_id: '+', ns: '@database.c', min: {k: {$minKey: 1}}, max: {k: 5}, tag: '@database.0'}, {_id: '+', "
     "ns: '@database.c', min: {k: 5}, max: {k: {$maxKey: 1}}, tag: '@database.1'}]", .in = "config"},
    {"shardCollection: '@database.c', key: {k: 1}"},
    {"find: 'collections', filter: {_id: '@database.c'}, projection: {_id: 1, key: 1, uuid: 1}",
     "firstBatch: [{_id: '@database.c', uuid: @uuid, key: {k: 1}}]", .in = "config"},
    CHUNKS("{min: {k: {$minKey: 1}}, max: {k: 5}, shard: 's0'}, {min: {k: 5}, max: {k: {$maxKey: 1}}, shard: 's1'}"),
    {"split: '@database.c', middle: {k: 50}"},
    {"moveChunk: '@database.c', bounds: [{k: 50}, {k: {$maxKey: 1}}], to: 's0'"},
    CHUNKS("{min: {k: {$minKey: 1}}, max: {k: 5}, shard: 's0'}, {min: {k: 5}, max: {k: 50}, shard: 's1'}, "
           "{min: {k: 50}, max: {k: {$maxKey: 1}}, shard: 's0'}"),
    {"insert: 'c', documents: [{_id: 1, k: 1}, {_id: 2, k: 7}, {_id: 3, k: 70}, {_id: 3, k: 70}], ordered: false",
     "n: 3, writeErrors: [{index: 3, code: 11000}]"},
    {"find: 'c', filter: {_id: {$gte: 2}}, sort: {_id: 1}", "firstBatch: [{_id: 2, k: 7}, {_id: 3, k: 70}]"},
    {"removeShardFromZone: 's0', zone: '@database.0'", "code: 163"}, /* it has a range */
    {"updateZoneKeyRange: '@database.c', min: {k: {$minKey: 1}}, max: {k: 5}, zone: null"},
    {"removeShardFromZone: 's0', zone: '@database.0'"},
    {"find: 'tags', filter: {ns: '@database.c'}, projection: {_id: 0, tag: 1}",
     "firstBatch: [{tag: '@database.1'}]", .in = "config"},
    {"drop: 'c'"},
    {"find: 'collections', filter: {_id: '@database.c'}", "firstBatch: []", .in = "config"},
    CHUNKS(""),
    {"find: 'tags', filter: {ns: '@database.c'}", "firstBatch: []", .in = "config"},
    {"removeShardFromZone: 's1', zone: '@database.1'"},
    {"find: 'shards', filter: {tags: {$in: ['@database.0', '@database.1']}}", "firstBatch: []", .in = "config"},
};
/* clang-format on */

/* ---- all of them ---- */

enum { ROWS = sizeof rows / sizeof *rows };

static bool is_title(const row_t *row) {
    return !strchr(row->command, ':');
}

static unsigned kind_of_server(void) {
    mongoc_server_description_t *description = mongoc_client_select_server(client, true, NULL, NULL);
    assert_non_null(description);
    server = mongoc_server_description_id(description);
    mongoc_server_description_destroy(description);
    bson_t *command = parse("hello: 1"), *reply = ask("admin", command);
    const unsigned found = bson_has_field(reply, "setName") ? SET
                           : bson_has_field(reply, "msg")   ? ROUTER
                                                            : STANDALONE;
    bson_destroy(reply);
    bson_destroy(command);
    return found;
}

TEST(contract) {
    static const row_t drop = {"dropDatabase: 1"};
    bool applies = false, ok = true;
    kind = kind_of_server();
    for (const row_t *row = rows; row < rows + ROWS; row++)
        if (is_title(row)) {
            applies = !row->only || row->only & kind;
            ok &= run_row(&drop);
        } else if (applies && (!row->only || row->only & kind)) {
            ok &= run_row(row);
        }
    assert_true(ok);
}
