/* batch: documents of blocks that are lost are left out, and the others stay what they are. */
#include "load/blocks/block.h"
#include "test.h"

#include <bson/bson.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 3, MOST = 20 };

static uint32_t dropped;

static void drop(void *context, block_t *block) {
    dropped |= 1u << (block - (block_t *)context);
}

static uint32_t add(batch_t *batch, block_t *block, int64_t id) {
    err_t err;
    bson_t document = BSON_INITIALIZER;
    BSON_APPEND_INT64(&document, "_id", id);
    BSON_APPEND_UTF8(&document, "x", &"abcdefg"[id % 7]);
    assert_true(batch_reserve(batch, document.len, 1 << 20, &err));
    memcpy(batch->bytes + batch->used, bson_get_data(&document), document.len);
    assert_true(batch_add(batch, block, (uint32_t)id * 10, document.len, &err));
    const uint32_t length = document.len;
    bson_destroy(&document);
    return length;
}

/* order: the block of each document; lost: which are. */
static void check(const char *order, const char *lost) {
    active_piece_t piece = {.epoch = 1};
    block_t blocks[BLOCKS];
    batch_t batch;
    err_t err;
    int64_t kept[MOST];
    uint32_t lengths[MOST], count = 0, lost_count = 0;
    assert_true(batch_init(&batch, MOST, &err));
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = (block_t){.piece = &piece, .epoch = 1};
    for (int64_t i = 0; order[i]; i++) {
        const uint32_t length = add(&batch, &blocks[order[i] - 'a'], i);
        if (strchr(lost, order[i])) {
            lost_count++;
            continue;
        }
        lengths[count] = length;
        kept[count++] = i;
    }
    for (const char *at = lost; *at; at++)
        blocks[*at - 'a'].epoch = 2;
    dropped = 0;
    batch_drop_lost(&batch, drop, blocks);
    assert_int_equal(batch.count, count);
    batch.starts[batch.count] = (uint32_t)batch.used; /* as before it is sent */
    uint32_t in_parts = 0;
    for (size_t i = 0; i < batch.part_count; i++)
        for (uint32_t j = 0; j < batch.parts[i].count; j++, in_parts++)
            assert_ptr_equal(batch.parts[i].block, &blocks[order[kept[in_parts]] - 'a']);
    assert_int_equal(in_parts, count);
    for (uint32_t i = 0; i < count; i++) {
        bson_t document;
        bson_iter_t id;
        assert_int_equal(batch.offsets[i], kept[i] * 10);
        assert_int_equal(batch.starts[i + 1] - batch.starts[i], lengths[i]);
        assert_true(bson_init_static(&document, batch.bytes + batch.starts[i], lengths[i]));
        assert_true(bson_iter_init_find(&id, &document, "_id"));
        assert_int_equal(bson_iter_int64(&id), kept[i]);
    }
    for (int i = 0; i < BLOCKS; i++) {
        const bool is_lost = strchr(lost, 'a' + i) != NULL, was_there = strchr(order, 'a' + i) != NULL;
        assert_int_equal(dropped >> i & 1, is_lost && was_there);
        assert_true(!is_lost || blocks[i].pending == 0);
    }
    if (lost_count < strlen(order))
        add(&batch, &blocks[0], 100); /* it goes on as before */
    batch_free(&batch);
}

TEST(lost) {
    static const char *const orders[] = {"aaabbbccc", "abcabcabc", "a", "aab", "abbbca"}, *const losts[] = {
                                                                                              "",   "a",
                                                                                              "b",  "c",
                                                                                              "ab", "bc",
                                                                                              "ac", "abc"};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        for (size_t j = 0; j < sizeof losts / sizeof *losts; j++)
            check(orders[i], losts[j]);
}

/* A load that ends may have settled the first blocks of a batch. */
TEST(settled_stay) {
    active_piece_t piece = {.epoch = 1};
    block_t blocks[2] = {{.piece = &piece, .epoch = 1}, {.piece = &piece, .epoch = 2}};
    batch_t batch;
    err_t err;
    assert_true(batch_init(&batch, MOST, &err));
    add(&batch, &blocks[0], 1);
    add(&batch, &blocks[1], 2);
    batch.parts[0].block = NULL;
    batch_drop_lost(&batch, drop, blocks);
    assert_int_equal(batch.count, 1);
    assert_int_equal(batch.offsets[0], 10);
    batch_free(&batch);
}
