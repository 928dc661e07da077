/* bounds: _ids of every kind are cut so that each is in exactly one range, and into ranges of equal work. */
#include "format/record/record_id.h"
#include "query/split/bounds.h"
#include "server/bson_read.h"
#include "server/chunks/keyorder.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    bson_t *ids; /* {"0": {_id: ...}, ...}, ascending */
    uint32_t count;
    bson_iter_t at; /* the one that was asked for last: they are asked for in order */
    uint32_t number;
    bool asked;
} ids_t;

static void start(ids_t *ids) {
    *ids = (ids_t){.ids = bson_new()};
}

static bson_t *begin(ids_t *ids, bson_t *document) {
    char digits[16];
    const char *key;
    bson_uint32_to_string(ids->count++, &key, digits, sizeof digits);
    bson_append_document_begin(ids->ids, key, -1, document);
    ids->asked = false;
    return document;
}

static void end(ids_t *ids, bson_t *document) {
    bson_append_document_end(ids->ids, document);
}

static void add_int64(ids_t *ids, int64_t id) {
    bson_t document;
    bson_append_int64(begin(ids, &document), "_id", -1, id);
    end(ids, &document);
}

static void add_double(ids_t *ids, double id) {
    bson_t document;
    bson_append_double(begin(ids, &document), "_id", -1, id);
    end(ids, &document);
}

static void add_text(ids_t *ids, const char *id) {
    bson_t document;
    bson_append_utf8(begin(ids, &document), "_id", -1, id, -1);
    end(ids, &document);
}

/* Borrowed; empty where there is none. */
static void document_at(ids_t *ids, uint32_t number, bson_t *document) {
    static const uint8_t empty[] = {5, 0, 0, 0, 0};
    if (number >= ids->count) {
        assert_true(bson_init_static(document, empty, sizeof empty));
        return;
    }
    if (!ids->asked || number < ids->number) {
        assert_true(bson_iter_init(&ids->at, ids->ids) && bson_iter_next(&ids->at));
        ids->number = 0;
    }
    for (ids->asked = true; ids->number < number; ids->number++)
        assert_true(bson_iter_next(&ids->at));
    assert_true(bson_read_document(&ids->at, document));
}

/* From the ends and a sample: every `step`th of them. */
static void choose(bounds_t *bounds, ids_t *ids, uint32_t step, uint32_t ranges) {
    bson_t least, greatest;
    ids_t sampled;
    document_at(ids, 0, &least);
    document_at(ids, ids->count ? ids->count - 1 : 0, &greatest);
    bson_iter_t sample;
    start(&sampled);
    for (uint32_t i = step / 2; i < ids->count; i += step) {
        bson_t document, copy;
        document_at(ids, i, &document);
        begin(&sampled, &copy);
        bson_concat(&copy, &document);
        end(&sampled, &copy);
    }
    bson_iter_init(&sample, sampled.ids);
    bounds_choose(bounds, &least, &greatest, &sample, ranges);
    assert_true(!ids->count || bounds->ranges == 1 || bounds_hold(bounds, &least, &greatest));
    bson_destroy(sampled.ids);
}

/* How many _ids are in each range, by the order of a server; each in exactly one. */
static void count(const bounds_t *bounds, ids_t *ids, uint32_t *counts) {
    memset(counts, 0, bounds->ranges * sizeof *counts);
    for (uint32_t i = 0; i < ids->count; i++) {
        bson_t document;
        bson_iter_t id, bound;
        uint32_t in = 0;
        document_at(ids, i, &document);
        assert_true(bson_iter_init_find(&id, &document, "_id"));
        for (uint32_t range = 0; range < bounds->ranges; range++) {
            bool above = !bounds_at(bounds, range, &bound) ||
                         keyorder_values(bson_iter_value(&id), bson_iter_value(&bound)) >= 0;
            bool below = !bounds_at(bounds, range + 1, &bound) ||
                         keyorder_values(bson_iter_value(&id), bson_iter_value(&bound)) < 0;
            counts[range] += above && below;
            in += above && below;
        }
        assert_int_equal(in, 1);
    }
}

static void whole(ids_t *ids, const char *why) {
    bounds_t bounds;
    choose(&bounds, ids, 1, 4);
    assert_int_equal(bounds.ranges, 1);
    assert_non_null(strstr(bounds.why, why));
    bounds_free(&bounds);
    bounds_free(&bounds);
}

/* _ids of a load: of so many blocks, each of its lane. */
static void load(ids_t *ids, uint32_t blocks, uint32_t first, uint32_t each) {
    start(ids);
    for (uint32_t lane = 0; lane < RECORD_ID_LANES; lane++)
        for (uint32_t block = 0; block < blocks; block++)
            for (uint32_t i = 0; record_id_lane(first + block, 0) == lane && i < each; i++)
                add_int64(ids, record_id_make(lane, (uint64_t)block * RECORD_ID_BLOCK_BYTES + i * 90));
}

TEST(lanes) {
    static const uint32_t sizes[] = {100, 480, 1024};
    uint32_t counts[64];
    for (size_t i = 0; i < 3; i++) {
        ids_t ids;
        load(&ids, sizes[i], 17, 20);
        for (uint32_t ranges = 2; ranges <= 16; ranges++) {
            bounds_t bounds;
            choose(&bounds, &ids, ids.count / 1000 + 1, ranges);
            assert_true(bounds.lanes);
            assert_int_equal(bounds.ranges, ranges);
            count(&bounds, &ids, counts);
            for (uint32_t range = 0; range < ranges; range++)
                assert_true(fabs(counts[range] - ids.count * 1.0 / ranges) < 40 + ids.count * 0.1 / ranges);
            bounds_free(&bounds);
        }
        bson_destroy(ids.ids);
    }
}

TEST(samples) {
    uint32_t counts[64];
    ids_t kinds[3];
    for (size_t i = 0; i < 3; i++)
        start(&kinds[i]);
    for (int i = 0; i < 5000; i++) {
        char text[16];
        snprintf(text, sizeof text, "%06d", i * i / 100);
        add_int64(&kinds[0], i); /* of one lane */
        add_double(&kinds[1], i * 1.5 - 4000);
        add_text(&kinds[2], text);
    }
    add_int64(&kinds[0], INT64_MAX); /* beside one of the last */
    for (size_t i = 0; i < 3; i++) {
        for (uint32_t ranges = 2; ranges <= 64; ranges = ranges * 2 + 1) {
            bounds_t bounds;
            choose(&bounds, &kinds[i], 5, ranges);
            assert_false(bounds.lanes);
            assert_int_equal(bounds.ranges, ranges);
            count(&bounds, &kinds[i], counts);
            for (uint32_t range = 0; i < 2 && range < ranges; range++)
                assert_true(fabs(counts[range] - 5000.0 / ranges) <= 10);
            bounds_free(&bounds);
        }
        bson_destroy(kinds[i].ids);
    }
}

TEST(few) {
    ids_t ids;
    bounds_t bounds;
    uint32_t counts[5];
    start(&ids);
    whole(&ids, "is empty");
    add_text(&ids, "a");
    whole(&ids, "too few documents");
    add_text(&ids, "b");
    add_text(&ids, "c");
    choose(&bounds, &ids, 1, 5);
    assert_int_equal(bounds.ranges, 3);
    count(&bounds, &ids, counts);
    assert_true(counts[0] == 1 && counts[1] == 1 && counts[2] == 1);
    bounds_free(&bounds);
    bson_destroy(ids.ids);
    /* three in four lanes do not show that all lanes have as many */
    start(&ids);
    for (uint32_t lane = 0; lane < 3; lane++)
        add_int64(&ids, record_id_make(lane * RECORD_ID_LANES / 4, 0));
    choose(&bounds, &ids, 1, 2);
    assert_int_equal(bounds.ranges, 2);
    assert_false(bounds.lanes);
    bounds_free(&bounds);
    bson_destroy(ids.ids);
}

TEST(types) {
    static const struct {
        bson_type_t least, greatest;
        const char *why;
    } cases[] = {
        {BSON_TYPE_INT64, BSON_TYPE_UTF8, "of several types"},
        {BSON_TYPE_NULL, BSON_TYPE_INT64, "of several types"},
        {BSON_TYPE_BOOL, BSON_TYPE_BOOL, "has no ranges"},
        {BSON_TYPE_NULL, BSON_TYPE_NULL, "has no ranges"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ids_t ids;
        start(&ids);
        for (int k = 0; k < 2; k++) {
            bson_t document;
            bson_value_t value = {.value_type = k ? cases[i].greatest : cases[i].least};
            if (value.value_type == BSON_TYPE_UTF8)
                value.value.v_utf8.str = "";
            bson_append_value(begin(&ids, &document), "_id", -1, &value);
            end(&ids, &document);
        }
        whole(&ids, cases[i].why);
        bson_destroy(ids.ids);
    }
    ids_t ids;
    start(&ids);
    add_double(&ids, NAN);
    add_double(&ids, 1);
    whole(&ids, "(NaN)");
    bson_destroy(ids.ids);
}

/* After the cuts were made, something else came. */
TEST(later) {
    ids_t ids, others;
    bounds_t bounds;
    bson_t none = BSON_INITIALIZER, first, nan, number, text;
    start(&ids);
    start(&others);
    for (int i = 0; i < 100; i++)
        add_int64(&ids, i);
    add_double(&others, NAN);
    add_double(&others, -1.5);
    add_text(&others, "x");
    choose(&bounds, &ids, 1, 4);
    document_at(&ids, 0, &first);
    document_at(&others, 0, &nan);
    document_at(&others, 1, &number);
    document_at(&others, 2, &text);
    assert_true(bounds_hold(&bounds, &first, &number));
    assert_true(bounds_hold(&bounds, &number, &first));
    assert_true(bounds_hold(&bounds, &none, &none));
    assert_false(bounds_hold(&bounds, &nan, &first));
    assert_false(bounds_hold(&bounds, &first, &text));
    assert_false(bounds_hold(&bounds, &text, &text));
    bounds_free(&bounds);
    bson_destroy(ids.ids);
    bson_destroy(others.ids);
}
