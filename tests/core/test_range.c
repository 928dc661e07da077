/* range: what the collection holds of a block, against its records. */
#include "load/read_back/range.h"
#include "test.h"

#include <bson/bson.h>
#include <stdlib.h>
#include <xxhash.h>

enum { ACCEPTED_WORD = 'u' };

/* A document of this `_id` and letter; of another program's for '-'. */
static bson_t *document_of(int64_t id, char letter) {
    bson_t *document = bson_new();
    if (letter == '-')
        BSON_APPEND_DOUBLE(document, "_id", (double)id);
    else
        BSON_APPEND_INT64(document, "_id", id);
    bson_append_utf8(document, "x", 1, &letter, 1);
    return document;
}

static bool accepts(void *context, uint64_t hash) {
    const int64_t *id = context;
    bson_t *document = document_of(*id, ACCEPTED_WORD);
    const bool is = XXH3_64bits(bson_get_data(document), document->len) == hash;
    bson_destroy(document);
    return is;
}

TEST(looked_up) {
    static const struct {
        const char *stored; /* `_id` and letter of each document */
        const char *asked;  /* of each record; '.': it makes no document */
        const char *found;  /* N, S, O or A for each record */
        int64_t known, stray;
    } rows[] = {
        {"", "1a2b", "NN", -1, -1},       {"1a2b", "1a2b", "SS", -1, -1},
        {"1a2x", "1a2b", "SO", -1, -1},   {"1a2u", "1a2b", "SA", -1, -1},
        {"1a2b2x", "1a2b", "SS", -1, -1}, {"1a2x2b", "1a2b", "SS", -1, -1}, /* on two shards */
        {"2x2u", "1a2b", "NA", -1, -1},   {"2u2x", "1a2b", "NA", -1, -1},
        {"1a", "1.2b", "ON", -1, -1},     {"1u", "1.2b", "AN", -1, -1},
        {"1a2b3c", "1a3c", "SS", -1, 2},  {"1a2b3c", "2b", "S", -1, 1},
        {"1a2b3c", "1a", "S", -1, 2},     {"1a2b", "1a", "S", 2, -1},
        {"1a2b3c", "1a", "S", 2, 3},      {"1-1a2-", "1a2b", "SN", -1, -1},
    };
    static const char names[] = {[READ_BACK_NOTHING] = 'N',
                                 [READ_BACK_SAME] = 'S',
                                 [READ_BACK_OTHER] = 'O',
                                 [READ_BACK_ACCEPTED] = 'A'};
    int64_t id;
    read_back_t range = {.accepts = accepts, .context = &id};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        err_t err;
        read_back_clear(&range);
        for (const char *at = rows[i].stored; *at; at += 2) {
            bson_t *document = document_of(at[0] - '0', at[1]);
            assert_true(read_back_keep(&range, bson_get_data(document), document->len, &err));
            bson_destroy(document);
        }
        const char *found = rows[i].found;
        for (const char *at = rows[i].asked; *at; at += 2) {
            id = at[0] - '0';
            bson_t *document = document_of(id, at[1]);
            assert_int_equal(names[read_back_look(&range, id, at[1] == '.' ? NULL : bson_get_data(document),
                                                  document->len)],
                             *found++);
            bson_destroy(document);
        }
        read_back_end(&range, rows[i].known);
        assert_int_equal(range.strayed ? range.stray : -1, rows[i].stray);
    }
    free(range.bytes);
}
