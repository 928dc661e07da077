/* feeder: files into blocks, with a queue and a pool and nobody else: no server, no catalog. */
#include "base/grow.h"
#include "format/schema/schema_parse.h"
#include "input_lab.h"
#include "load/threads/feeder.h"

static const char format[] =
    "format: f\nrecord: {delimiter: \",\", header: no}\nfields: [{name: a}, {name: b}]\n";

typedef struct {
    manifest_t manifest;
    schema_t *schema;
    pipeline_t pipeline;
    load_file_t file;
    feeder_options_t options;
    feeder_t *feeder;
    bytes_t text; /* of the blocks, in their order */
    size_t blocks;
} lab_t;

/* Blocks [from, to) of the file "in", with so much memory. */
static void begin(lab_t *lab, uint64_t from, uint64_t to, uint64_t memory) {
    err_t err = {.text = ""};
    *lab = (lab_t){.schema = schema_parse(format, strlen(format), "lab.yaml", &err)};
    assert_non_null(lab->schema);
    assert_true(lab_manifest(&lab->manifest, &err, "in"));
    assert_true(pipeline_open(&lab->pipeline, memory, 32, &err));
    lab->file = (load_file_t){.input = &lab->manifest.files[0], .from = from, .to = to};
    lab->options = (feeder_options_t){.schema = lab->schema,
                                      .files = &lab->file,
                                      .file_count = 1,
                                      .pipeline = &lab->pipeline,
                                      .threads = 1,
                                      .max_record = 1 << 20,
                                      .limit = UINT64_MAX};
    lab->feeder = feeder_start(&lab->options, &err);
    assert_non_null(lab->feeder);
}

/* The next blocks, until `count` of them have come or there are no more. */
static void take(lab_t *lab, size_t count) {
    while (count && !queue_ended(lab->pipeline.queue)) {
        block_t *block = queue_pop(lab->pipeline.queue, 1000000, 0, 1);
        while (block) {
            block_t *next = block->next;
            bytes_add(&lab->text, block->buffer.bytes, block->length);
            pipeline_free_block(&lab->pipeline, block);
            lab->blocks++;
            count -= count > 0;
            block = next;
        }
    }
}

static bool end(lab_t *lab, err_t *err) {
    take(lab, SIZE_MAX);
    const bool ok = feeder_join(lab->feeder, err);
    pipeline_free(&lab->pipeline);
    schema_destroy(lab->schema);
    manifest_free(&lab->manifest);
    return ok;
}

static bytes_t rows(size_t size) {
    bytes_t text = {0};
    char line[64];
    for (size_t i = 0; text.size < size; i++)
        bytes_add(&text, line, (size_t)snprintf(line, sizeof line, "%zu,%0*d\n", i, (int)(i % 40), 7));
    return text;
}

/* All pieces together are the file, whichever records cross their borders. */
static void pieces_are_the_file(void **state) {
    (void)state;
    bytes_t text = rows(3 << 20), found = {0};
    const uint64_t borders[] = {0, 1, 4, 7, UINT64_MAX};
    lab_write("in", text.at, text.size);
    for (size_t i = 0; i + 1 < COUNT(borders); i++) {
        lab_t lab;
        err_t err = {.text = ""};
        begin(&lab, borders[i], borders[i + 1], 64 << 20);
        if (!end(&lab, &err))
            fail_msg("%s", err.text);
        assert_int_equal(lab.file.blocks, borders[i + 1] == UINT64_MAX ? 13 : borders[i + 1]);
        assert_true(!lab.text.size || lab.text.at[lab.text.size - 1] == '\n');
        bytes_add_all(&found, lab.text);
    }
    assert_int_equal(found.size, text.size);
    assert_memory_equal(found.at, text.at, text.size);
    free(found.at);
    free(text.at);
}

/* A piece that ends before its file does: what was read of it may be of two versions, and is not done. */
static void notices_a_change_within_a_piece(void **state) {
    (void)state;
    bytes_t text = rows(3 << 20);
    for (int change = 0; change < 2; change++) {
        lab_t lab;
        err_t err = {.text = ""};
        lab_write("in", text.at, text.size);
        begin(&lab, 0, 6,
              600 * 1024); /* room for two blocks: it has not read on to the end of the piece yet */
        take(&lab, 1);
        const int fd = open("in", O_WRONLY);
        assert_true(fd >= 0);
        if (change)
            assert_int_equal(pwrite(fd, "9", 1, 2 << 20), 1);
        close(fd);
        const bool ok = end(&lab, &err);
        assert_int_equal(ok, !change);
        if (change) {
            assert_int_equal(err.status, STATUS_INPUT);
            assert_non_null(strstr(err.text, "in: changed while it was read"));
        }
        free(lab.text.at);
    }
    free(text.at);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(pieces_are_the_file),
                                       cmocka_unit_test(notices_a_change_within_a_piece)};
    return cmocka_run_group_tests(tests, lab_open, lab_close);
}
