/* Rows of Arrow that a program pushes into a load, with a server of this process. */
#include "arrow_lab.h"
#include "load_lab.h"
#include "test.h"
#include "tipple/tipple.h"

enum { ROWS = 3000, PIECES = 3 };

/* n: the row's number; big: the same, but one row has 2^63. In batches of some rows. */
typedef struct {
    int64_t numbers[ROWS];
    uint64_t bigs[ROWS];
    arrow_part_t columns[PIECES][2], batches[PIECES];
} table_t;

static void make(table_t *frame, int first, int second, int large) {
    const int ends[] = {0, first, second, ROWS};
    for (int i = 0; i < ROWS; i++) {
        frame->numbers[i] = i;
        frame->bigs[i] = i == large ? UINT64_C(1) << 63 : (uint64_t)i;
    }
    for (int i = 0; i < PIECES; i++) {
        const int from = ends[i], count = ends[i + 1] - from;
        frame->columns[i][0] = (arrow_part_t)ARROW_PART("l", "n", count, 0, ARROW_NONE,
                                                        {frame->numbers + from, (size_t)count * 8});
        frame->columns[i][1] = (arrow_part_t)ARROW_PART("L", "big", count, 0, ARROW_NONE,
                                                        {frame->bigs + from, (size_t)count * 8});
        frame->batches[i] = (arrow_part_t){
            .format = "+s", .length = count, .count = 1, .child_count = 2, .children = frame->columns[i]};
    }
}

/* Options by pairs: name, value, ..., NULL. */
static tipple_load_t *begin(const lab_t *lab, ...) {
    tipple_error_t error;
    tipple_load_t *load = tipple_load_new(lab->uri, &error);
    va_list words;
    va_start(words, lab);
    for (const char *name; (name = va_arg(words, const char *));)
        assert_true(tipple_load_set(load, name, va_arg(words, const char *), &error));
    va_end(words);
    assert_true(tipple_load_set(load, "rejects", "c.rejects", &error));
    assert_true(tipple_load_set(load, "threads", "2", &error));
    return load;
}

/* The status of pushing a whole frame. */
static int push(tipple_load_t *load, const table_t *frame, size_t batches, const char *fails,
                tipple_error_t *error) {
    arrow_source_t source = {.batches = frame->batches, .count = batches, .fails = fails};
    struct ArrowArrayStream stream = arrow_stream(&source);
    error->status = 0;
    tipple_load_push_arrow(load, &stream, error);
    assert_int_equal(source.released, 1);
    return error->status;
}

static void check(tipple_load_t *load, int status, uint64_t loaded, uint64_t rejected) {
    tipple_error_t error;
    tipple_load_finish(load, &error);
    if (error.status != status)
        fail_msg("%d: %s", error.status, error.text);
    assert_int_equal(tipple_load_result(load)->loaded, loaded);
    assert_int_equal(tipple_load_result(load)->rejected, rejected);
}

/* What a verify of these bytes finds. */
static status_t verify(lab_t *lab, const table_t *frame, const char *bad) {
    arrow_source_t source = {.batches = frame->batches, .count = PIECES};
    struct ArrowArrayStream stream = arrow_stream(&source);
    tipple_error_t error;
    const void *bytes;
    size_t length;
    FILE *file = fopen("rows.bson", "w");
    tipple_arrow_t *rows = tipple_arrow_open(&stream, &error);
    assert_false(tipple_arrow_set(rows, "null", "keep", &error));
    assert_false(tipple_arrow_set(rows, "nulls", "kept", &error));
    assert_true(tipple_arrow_set(rows, "on-bad-value", bad, &error));
    while (tipple_arrow_next(rows, &bytes, &length, &error) > 0)
        fwrite(bytes, 1, length, file);
    assert_false(tipple_arrow_set(rows, "nulls", "keep", &error));
    tipple_arrow_close(rows);
    fclose(file);
    lab->verify.load.format = "arrow1";
    lab->verify.load.input_name = "numbers";
    const int saved = dup(STDIN_FILENO);
    assert_non_null(freopen("rows.bson", "r", stdin));
    const status_t status = lab_verify(lab, "-");
    assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
    close(saved);
    return status;
}

/* The same rows in other batches are the same input: nothing is loaded twice. Verify takes the bytes. */
LAB_TEST(again, lab_open(lab, BOX_STANDALONE)) {
    static table_t frame;
    tipple_error_t error;
    for (int round = 0; round < 2; round++) {
        make(&frame, round ? 1 : 1000, round ? 2 : 1000, -1);
        tipple_load_t *load = begin(lab, "input-name", "numbers", NULL);
        assert_int_equal(push(load, &frame, PIECES, NULL, &error), 0);
        check(load, 0, round ? 0 : ROWS, 0);
        assert_int_equal(tipple_load_result(load)->records_skipped, round ? ROWS : 0);
        assert_string_equal(tipple_load_result(load)->format, "arrow1");
        assert_string_equal(tipple_load_result(load)->input_name, "numbers");
        tipple_load_destroy(load);
    }
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), ROWS);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"n\": 77, \"big\": 77}"), 1);
    assert_status(lab, verify(lab, &frame, "text"), STATUS_OK);
    assert_int_equal(lab->verified.counts.same, ROWS);
}

/* Other rows under a name that is used, and another policy, are a changed input: nothing is lost by it. */
LAB_TEST(another_frame, lab_open(lab, BOX_STANDALONE)) {
    static table_t frame;
    tipple_error_t error;
    make(&frame, 1000, 2000, -1);
    tipple_load_t *load = begin(lab, "input-name", "numbers", NULL);
    assert_int_equal(push(load, &frame, PIECES, NULL, &error), 0);
    check(load, 0, ROWS, 0);
    tipple_load_destroy(load);
    frame.numbers[10] = 11;
    load = begin(lab, "input-name", "numbers", NULL);
    push(load, &frame, PIECES, NULL, &error);
    check(load, 5, 0, 0);
    tipple_load_destroy(load);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"n\": 10}"), 1);
}

/* Without a name one is drawn, by which the load is completed after its producer has failed. */
LAB_TEST(a_producer_fails, lab_open(lab, BOX_STANDALONE)) {
    static table_t frame;
    tipple_error_t error;
    char name[40];
    make(&frame, 1000, 2000, -1);
    tipple_load_t *load = begin(lab, NULL);
    assert_int_equal(push(load, &frame, 1, "the disk is on fire", &error), 5);
    assert_non_null(strstr(error.text, ": the disk is on fire"));
    assert_int_equal(push(load, &frame, PIECES, NULL, &error), 5);
    assert_false(tipple_load_finish(load, &error));
    assert_int_equal(error.status, 5);
    assert_non_null(strstr(tipple_load_result(load)->sentence, "fire"));
    strcpy(name, tipple_load_result(load)->input_name);
    assert_int_equal(strlen(name), strlen("frame-") + 16);
    assert_int_equal(strspn(name + strlen("frame-"), "0123456789"), 16);
    const uint64_t before = tipple_load_result(load)->loaded;
    tipple_load_destroy(load);
    load = begin(lab, "input-name", name, NULL);
    assert_int_equal(push(load, &frame, PIECES, NULL, &error), 0);
    tipple_load_finish(load, &error);
    assert_int_equal(error.status, 0);
    assert_true(tipple_load_result(load)->loaded >= ROWS - before - 1000);
    tipple_load_destroy(load);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), ROWS);
}

static void hear(void *said, int level, const char *line) {
    if (strlen(said) + strlen(line) < 4000 && level == 2)
        strcat(strcat(said, line), "\n");
}

/* What does not fit is kept as text, and said once, with its place among all rows. */
LAB_TEST(kept_as_text, lab_open(lab, BOX_STANDALONE)) {
    static table_t frame;
    static char said[4096];
    tipple_error_t error;
    make(&frame, 1000, 2000, 2500);
    tipple_load_t *load = begin(lab, "input-name", "numbers", NULL);
    assert_true(tipple_load_on_log(load, hear, said, &error));
    for (int i = 0; i < 2; i++)
        assert_int_equal(push(load, &frame, PIECES, NULL, &error), 0);
    check(load, 0, 2 * ROWS, 0);
    assert_non_null(strstr(said, "numbers: column 'big': 2 values "));
    assert_non_null(strstr(said, "row 2501\n"));
    assert_null(strstr(strstr(said, "'big'") + 1, "'big'"));
    const char *json = tipple_load_json(load);
    assert_non_null(strstr(json, "\"values_kept_as_text\" : 2,"));
    assert_non_null(strstr(json, "{ \"field\" : \"big\", \"values\" : 2, \"first\" : \"numbers:2501\" }"));
    tipple_load_destroy(load);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"big\": \"9223372036854775808\"}"), 2);
}

/* A row that is rejected keeps its place and its number; the reject file has it as Extended JSON, which a retry takes. */
LAB_TEST(rejected, lab_open(lab, BOX_STANDALONE)) {
    static const char row[] =
        "{ \"n\" : { \"$numberLong\" : \"2500\" }, \"big\" : { \"$symbol\" : \"9223372036854775808\" } }\n";
    static table_t frame;
    tipple_error_t error;
    make(&frame, 1000, 2000, 2500);
    for (int round = 0; round < 2; round++) {
        tipple_load_t *load = begin(lab, "input-name", "numbers", "on-bad-value", "reject", NULL);
        assert_int_equal(push(load, &frame, PIECES, NULL, &error), 0);
        check(load, 2, round ? 0 : ROWS - 1, round ? 0 : 1);
        tipple_load_destroy(load);
    }
    char *rejects = lab_read("c.rejects");
    assert_non_null(strstr(rejects, " line=2501 "));
    assert_non_null(strstr(rejects, row));
    assert_null(strstr(strstr(rejects, row) + 1, row));
    free(rejects);
    lab->load.format = "arrow1";
    assert_int_equal(rename("c.rejects", "kept.rejects"), 0);
    assert_status(lab, lab_retry(lab, "kept.rejects"), STATUS_SOME_REJECTED); /* it is as it was */
    lab_replace("kept.rejects", "{ \"$symbol\" : \"9223372036854775808\" }",
                "no JSON                                  ");
    assert_status(lab, lab_retry(lab, "kept.rejects"), STATUS_SOME_REJECTED);
    lab_replace("kept.rejects", "no JSON", "5.5    ");
    assert_status(lab, lab_retry(lab, "kept.rejects"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"n\": 2500, \"big\": 5.5}"), 1);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), ROWS);
    assert_status(lab, lab_retry(lab, "kept.rejects"), STATUS_OK);
    assert_status(lab, verify(lab, &frame, "reject"), STATUS_OK);
    assert_int_equal(lab->verified.counts.fixed, 1);
}

/* The load ends at a value that does not fit, where it is asked to. */
LAB_TEST(stops, lab_open(lab, BOX_STANDALONE)) {
    static table_t frame;
    tipple_error_t error;
    make(&frame, 1000, 2000, -1);
    tipple_load_t *load = begin(lab, "input-name", "numbers", "on-bad-value", "stop", NULL);
    assert_int_equal(push(load, &frame, PIECES, NULL, &error), 0);
    frame.bigs[2500] = UINT64_C(1) << 63;
    assert_int_equal(push(load, &frame, PIECES, NULL, &error), 5);
    assert_non_null(strstr(error.text, "column 'big', row 5501"));
    tipple_load_destroy(load);
}

/* What is wrong before the first row is said, and nothing happens. */
LAB_TEST(refused, lab_open(lab, BOX_STANDALONE)) {
    static table_t frame;
    tipple_error_t error;
    make(&frame, 1000, 2000, -1);
    const arrow_part_t interval = {.format = "tiD", .name = "for", .count = 2},
                       batch = {.format = "+s", .count = 1, .child_count = 1, .children = &interval};
    arrow_source_t source = {.batches = &batch, .count = 1};
    struct ArrowArrayStream stream = arrow_stream(&source);
    tipple_load_t *load = begin(lab, NULL);
    assert_false(tipple_load_push_arrow(load, NULL, &error));
    assert_false(tipple_load_push_arrow(load, &stream, &error));
    assert_int_equal(error.status, 5);
    assert_false(tipple_load_push_arrow(load, &stream, &error)); /* it was released */
    assert_non_null(strstr(error.text, "read already"));
    assert_int_equal(push(load, &frame, PIECES, NULL, &error), 0);
    assert_false(tipple_load_push(load, "n\n", 2, &error));
    assert_int_equal(error.status, 1);
    check(load, 0, ROWS, 0);
    tipple_load_destroy(load);
    load = begin(lab, "format", "./rows.yaml", "input-name", "rows", NULL);
    assert_int_equal(push(load, &frame, PIECES, NULL, &error), 1);
    assert_non_null(strstr(error.text, "arrow1"));
    tipple_load_destroy(load);
    load = begin(lab, "format", "./rows.yaml", "input-name", "rows", "on-bad-value", "stop", NULL);
    assert_false(tipple_load_push(load, "n,w\n", 4, &error));
    assert_int_equal(error.status, 1);
    tipple_load_destroy(load);
}

/* A column `_id` is the document's own one. */
LAB_TEST(own_id, lab_open(lab, BOX_STANDALONE)) {
    static const int64_t ids[] = {7, 8, 9};
    static const uint8_t valid[] = {6};
    const arrow_part_t columns[] = {ARROW_PART("l", "_id", 3, 1, {valid, 1}, {ids, sizeof ids})},
                       batch = {
                           .format = "+s", .length = 3, .count = 1, .child_count = 1, .children = columns};
    arrow_source_t source = {.batches = &batch, .count = 1};
    struct ArrowArrayStream stream = arrow_stream(&source);
    tipple_error_t error;
    tipple_load_t *load = begin(lab, NULL);
    assert_true(tipple_load_push_arrow(load, &stream, &error));
    check(load, 0, 3, 0);
    tipple_load_destroy(load);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"_id\": {\"$in\": [8, 9]}}"), 2);
}
