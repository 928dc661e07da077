/* feeder: files into blocks, with a queue and a pool and nobody else: no server, no catalog. */
#include "base/clock.h"
#include "base/text.h"
#include "format/schema/schema.h"
#include "input/cutter.h"
#include "input_lab.h"
#include "load/feed/feeder.h"
#include "test.h"

static const char format[] =
    "format: f\nrecord: {delimiter: \",\", header: no}\nfields: [{name: a}, {name: b}]\n";

typedef struct {
    manifest_t manifest;
    schema_t *schema;
    pipeline_t pipeline;
    feeder_options_t options;
    feeder_t *feeder;
    bytes_t text; /* of the blocks, in their order */
    size_t blocks;
    uint8_t *places; /* or: each where it is in the file */
} lab_t;

/* These pieces of the file "in", with so much memory; about `limit` records of them. */
static void prepare(lab_t *lab, const char *text, active_piece_t *files, size_t count, uint32_t threads,
                    uint64_t memory, uint64_t limit) {
    err_t err = {.text = ""};
    *lab = (lab_t){.schema = schema_parse(text, strlen(text), "lab.yaml", &err)};
    assert_non_null(lab->schema);
    assert_true(lab_manifest(&lab->manifest, &err, "in"));
    assert_true(pipeline_open(&lab->pipeline, memory, 32, &err));
    for (size_t i = 0; i < count; i++)
        files[i].input = &lab->manifest.files[0];
    lab->options = (feeder_options_t){.schema = lab->schema,
                                      .pieces = files,
                                      .piece_count = count,
                                      .pipeline = &lab->pipeline,
                                      .threads = threads,
                                      .limit = limit,
                                      .limit_is_about = true};
}

static void begin_format(lab_t *lab, const char *text, active_piece_t *pieces, size_t count, uint32_t threads,
                         uint64_t memory, uint64_t limit) {
    err_t err;
    prepare(lab, text, pieces, count, threads, memory, limit);
    lab->feeder = feeder_start(&lab->options, &err);
    assert_non_null(lab->feeder);
}

static void begin_all(lab_t *lab, active_piece_t *pieces, size_t count, uint32_t threads, uint64_t memory) {
    begin_format(lab, format, pieces, count, threads, memory, UINT64_MAX);
}

/* Blocks [from, to) of it. */
static void begin(lab_t *lab, active_piece_t *piece, uint64_t from, uint64_t to, uint64_t memory) {
    *piece = (active_piece_t){.from = from, .to = to};
    begin_all(lab, piece, 1, 1, memory);
}

static size_t first_after(const size_t *starts, size_t at) {
    while (*starts < at)
        starts++;
    return *starts;
}

/* The next blocks, until `count` of them have come or there are no more. */
static void take(lab_t *lab, size_t count) {
    while (count && !queue_ended(lab->pipeline.queue)) {
        block_t *block = queue_pop(lab->pipeline.queue, 1000000, 0, 1);
        while (block) {
            block_t *next = block->next;
            if (lab->places)
                memcpy(lab->places + block->offset, block->buffer.bytes, block->length);
            bytes_add(&lab->text, block->buffer.bytes, block->length);
            pipeline_free_block(&lab->pipeline, block);
            lab->blocks++;
            count -= count > 0;
            block = next;
        }
    }
}

static void end_lab(lab_t *lab) {
    pipeline_free(&lab->pipeline);
    schema_destroy(lab->schema);
    manifest_free(&lab->manifest);
}

static bool end(lab_t *lab, err_t *err) {
    take(lab, SIZE_MAX);
    const bool ok = feeder_join(lab->feeder, err);
    end_lab(lab);
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
TEST(pieces_are_the_file) {
    bytes_t text = rows(3 << 20), found = {0};
    const uint64_t borders[] = {0, 1, 4, 7, UINT64_MAX};
    lab_write("in", text.at, text.size);
    for (size_t i = 0; i + 1 < COUNT(borders); i++) {
        lab_t lab;
        err_t err = {.text = ""};
        active_piece_t piece;
        begin(&lab, &piece, borders[i], borders[i + 1], 64 << 20);
        if (!end(&lab, &err))
            fail_msg("%s", err.text);
        assert_int_equal(piece.blocks, borders[i + 1] == UINT64_MAX ? 13 : borders[i + 1]);
        assert_true(!lab.text.size || lab.text.at[lab.text.size - 1] == '\n');
        bytes_add_all(&found, lab.text);
    }
    assert_int_equal(found.size, text.size);
    assert_memory_equal(found.at, text.at, text.size);
    free(found.at);
    free(text.at);
}

/* The same, where only the text from its first byte on shows where records begin; by one feeder and by several, which
 * find it for each other, and beginning with any piece. */
TEST(quoted_pieces_are_the_file) {
    enum { PIECES = 4 };
    bytes_t text = {0};
    char line[64];
    size_t *starts = calloc(1 << 20, sizeof *starts); /* of records */
    assert_non_null(starts);
    for (size_t i = 0; text.size < (3 << 20); i++) {
        starts[i] = text.size;
        bytes_add(&text, line, (size_t)snprintf(line, sizeof line, "%zu,\"", i));
        for (size_t j = i % 997 ? i % 20 : 30000; j > 0; j--)
            bytes_add(&text, "1,2\n", 4); /* would be a record */
        bytes_add(&text, "\"\n", 2);
    }
    lab_write("in", text.at, text.size);
    const uint64_t borders[] = {0, 1, 4, 7, UINT64_MAX};
    for (uint32_t threads = 1; threads <= 3; threads++)
        for (size_t first = 0; first < PIECES; first++) {
            lab_t lab;
            err_t err = {.text = ""};
            const size_t from = first_after(starts, borders[first] * CUTTER_WINDOW);
            active_piece_t pieces[PIECES + 1] = {{0}};
            for (size_t i = 0; i < PIECES; i++)
                pieces[i] = (active_piece_t){.from = borders[i], .to = borders[i + 1]};
            begin_all(&lab, pieces + first, PIECES - first, threads, 64 << 20);
            assert_non_null(lab.places = calloc(1, text.size));
            uint8_t *places = lab.places;
            if (!end(&lab, &err))
                fail_msg("%s", err.text);
            assert_int_equal(lab.text.size, text.size - from);
            assert_memory_equal(places + from, text.at + from, text.size - from);
            free(places);
            free(lab.text.at);
        }
    free(starts);
    free(text.at);
}

/* What is done is passed over wherever it lies, and what is not is read from its own place: also where only the text
 * before a block shows where its records begin. */
TEST(passes_over_what_is_done) {
    const done_run_t runs[] = {{1, 7, 0}, {8, 14, 0}, {15, 21, 0}};
    bytes_t text = {0}, wanted = {0};
    char line[64];
    for (size_t i = 0; text.size < 6 << 20; i++)
        bytes_add(&text, line, (size_t)snprintf(line, sizeof line, "%zu,\"%0*d\n,\"\n", i, (int)(i % 40), 7));
    lab_write("in", text.at, text.size);
    lab_t all;
    err_t err = {.text = ""};
    active_piece_t whole;
    begin(&all, &whole, 0, UINT64_MAX, 64 << 20);
    while (!queue_ended(all.pipeline.queue)) {
        const size_t before = all.text.size, number = all.blocks;
        take(&all, 1);
        if (number == 0 || number == 7 || number == 14 || number > 20)
            bytes_add(&wanted, all.text.at + before, all.text.size - before);
    }
    assert_true(end(&all, &err));
    assert_int_equal(all.blocks, 24);

    lab_t lab;
    active_piece_t piece = {.to = UINT64_MAX,
                            .done_before = {.runs = (done_run_t *)runs, .count = COUNT(runs)}};
    begin_all(&lab, &piece, 1, 1, 64 << 20);
    if (!end(&lab, &err))
        fail_msg("%s", err.text);
    assert_int_equal(lab.blocks, 24 - 18);
    assert_int_equal(lab.text.size, wanted.size);
    assert_memory_equal(lab.text.at, wanted.at, wanted.size);
    free(all.text.at);
    free(lab.text.at);
    free(wanted.at);
    free(text.at);
}

/* A piece that ends before its file does: what was read of it may be of two versions, and is not done. */
TEST(notices_a_change_within_a_piece) {
    bytes_t text = rows(3 << 20);
    for (int change = 0; change < 2; change++) {
        lab_t lab;
        err_t err = {.text = ""};
        lab_write("in", text.at, text.size);
        active_piece_t piece;
        begin(&lab, &piece, 0, 6,
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
            assert_non_null(strstr(err.text, "in: changed while"));
        }
        free(lab.text.at);
    }
    free(text.at);
}

/* Never more records than the limit, where it need not be kept exactly either: many objects of JSON may be in a line. */
TEST(limits_objects_in_one_line) {
    enum { LIMIT = 1000 };
    bytes_t text = {0};
    err_t err = {.text = ""};
    lab_t lab;
    active_piece_t piece = {.to = UINT64_MAX};
    bytes_add(&text, "[", 1);
    while (text.size < (3 << 20))
        bytes_add(&text, "{\"a\": 1}, ", 10);
    bytes_add(&text, "{}]\n", 4);
    lab_write("in", text.at, text.size);
    begin_format(&lab, "format: f\nrecord: {json: yes}\n", &piece, 1, 1, 64 << 20, LIMIT);
    if (!end(&lab, &err))
        fail_msg("%s", err.text);
    size_t objects = 0;
    for (size_t i = 0; i < lab.text.size; i++)
        objects += lab.text.at[i] == '{';
    assert_int_equal(objects, LIMIT);
    free(lab.text.at);
    free(text.at);
}

/* Pieces are read in the order in which they were given, those of a stream when the last of them has come. */
TEST(given) {
    enum { BLOCKS = 3 };
    static char text[BLOCKS * CUTTER_WINDOW];
    static const uint64_t order[BLOCKS] = {2, 0, 1};
    active_piece_t pieces[BLOCKS];
    lab_t lab;
    err_t err = {.text = ""};
    memset(text, '\n', sizeof text);
    lab_write("in", text, sizeof text);
    for (uint64_t i = 0; i < BLOCKS; i++)
        pieces[i] = (active_piece_t){.from = i, .to = i + 1};
    prepare(&lab, format, pieces, BLOCKS, 1, 64 << 20, UINT64_MAX);
    lab.options.by_pieces = true;
    lab.feeder = feeder_start(&lab.options, &err);
    assert_non_null(lab.feeder);
    feeder_give(lab.feeder, &pieces[2], true);
    assert_true(feeder_is_idle(lab.feeder));
    feeder_give(lab.feeder, &pieces[0], false);
    feeder_give(lab.feeder, &pieces[1], false);
    for (size_t i = 0; i < BLOCKS; i++) {
        block_t *block = queue_pop(lab.pipeline.queue, 10000000000, 0, 1);
        assert_non_null(block);
        assert_int_equal(block->from, order[i]);
        pipeline_free_block(&lab.pipeline, block);
    }
    for (const int64_t until = clock_now_ns() + 10000000000; !feeder_is_idle(lab.feeder);)
        assert_true(clock_now_ns() < until);
    assert_true(feeder_join(lab.feeder, &err));
    end_lab(&lab);
}

TEST_GROUP(lab_open, lab_close);
