/* batch: its parts say which documents are of which block. */
#include "load/blocks/block.h"
#include "test.h"

#include <bson/bson.h>
#include <string.h>

enum { BLOCKS = 3, MOST = 20 };

static void add(batch_t *batch, block_t *block, int64_t id) {
    err_t err;
    bson_t document = BSON_INITIALIZER;
    BSON_APPEND_INT64(&document, "_id", id);
    assert_true(batch_reserve(batch, document.len, 1 << 20, &err));
    memcpy(batch->bytes + batch->used, bson_get_data(&document), document.len);
    assert_true(batch_add(batch, block, (uint32_t)id * 10, document.len, &err));
    bson_destroy(&document);
}

TEST(parts) {
    static const char *const orders[] = {"aaabbbccc", "abcabcabc", "a", "aab", "abbbca"};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        const char *order = orders[i];
        const uint32_t count = (uint32_t)strlen(order);
        block_t blocks[BLOCKS] = {{.next = NULL}};
        batch_t batch;
        err_t err;
        assert_true(batch_init(&batch, MOST, &err));
        for (uint32_t j = 0; j < count; j++)
            add(&batch, &blocks[order[j] - 'a'], j);
        uint32_t in_parts = 0;
        for (size_t part = 0; part < batch.part_count; part++)
            for (uint32_t j = 0; j < batch.parts[part].count; j++, in_parts++) {
                assert_ptr_equal(batch.parts[part].block, &blocks[order[in_parts] - 'a']);
                assert_int_equal(batch.offsets[in_parts], in_parts * 10);
            }
        assert_int_equal(in_parts, count);
        assert_int_equal(batch.count, count);
        batch_free(&batch);
    }
}
