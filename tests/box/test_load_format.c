/* The format of a load by the library: given by options as on the command line, or given as one that is open; with a server
 * of this process. What was loaded so is loaded on and verified by what the command calls. */
#include "load/spec/load_result.h"
#include "push_lab.h"
#include "test.h"
#include "verify/verify.h"

/* Dates in one of two orders, a number in one of two spellings, a dot in a name, and a value that is no number. */
static const char odd[] = "n,d,a.b,z,v\n1,03/04/24,x,7,\"1,234\"\n2,05/06/24,y,?,\"5,678\"\n";
static const char plain[] = "n,w\n1,a\n2,b\n", other[] = "n,w\nx,1\ny,2\n";

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_true(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void fails(bool ok, const tipple_error_t *error, int status, const char *says) {
    if (ok || error->status != status || !strstr(error->text, says))
        fail_msg("%d (expected %d): %s", error->status, status, error->text);
}

static void run(tipple_load_t *load, uint64_t loaded) {
    tipple_error_t error;
    if (!tipple_load_run(load, &error))
        fail_msg("%s", error.text);
    push_check(load, loaded, 0, 0);
    tipple_load_destroy(load);
}

static tipple_format_t *guessed(const char *text) {
    tipple_error_t error;
    tipple_format_t *format = tipple_format_guess(text, strlen(text), &error);
    if (!format)
        fail_msg("%s", error.text);
    return format;
}

/* Closed again: a load keeps nothing of it. */
static void give(tipple_load_t *load, tipple_format_t *format) {
    tipple_error_t error;
    assert_non_null(format);
    if (!tipple_load_set_format(load, format, &error))
        fail_msg("%s", error.text);
    tipple_format_close(format);
}

/* As `tipple load` of this file does, and `tipple verify` of it. */
static void load_and_verify_by_command(const lab_t *lab, const char *format, char *path, uint64_t loaded) {
    load_spec_t spec;
    load_result_t result;
    verify_spec_t verify;
    verify_result_t verified = {.files = 0};
    err_t err;
    load_spec_init(&spec);
    spec.uri = lab->uri;
    spec.format = format;
    spec.inputs = &path;
    spec.input_count = 1;
    spec.threads = 2;
    if (!load_run(&spec, &result, &err))
        fail_msg("%s", err.text);
    assert_int_equal(result.counts.of[FATE_LOADED], loaded);
    load_result_free(&result);
    verify_spec_init(&verify);
    verify.load.uri = lab->uri;
    verify.load.format = format;
    verify.load.inputs = &path;
    verify.load.input_count = 1;
    if (!verify_run(&verify, &verified, &err))
        fail_msg("%s", err.text);
    verify_free_result(&verified);
}

/* ---- by options ---- */

LAB_TEST(by_options, lab_open(lab)) {
    tipple_error_t error;
    write_text("odd.csv", odd);
    tipple_load_t *load = push_load(lab->uri, "input", "./odd.csv", NULL);
    fails(tipple_load_run(load, &error), &error, 5, "--with dates");
    tipple_load_destroy(load);
    load = push_load(lab->uri, "input", "./odd.csv", "type", "z:code:int", "type", "n:text", "with",
                     "dates=mdy", "with", "decimal=,", "with", "nested=yes", "with", "header=1",
                     "on-bad-value", "null", "with", "encoding=utf-8", NULL);
    run(load, 2);
    assert_int_equal(box_count(lab->box, TARGET,
                               "{\"n\": \"1\", \"d\": {\"$date\": \"2024-03-04T00:00:00Z\"}, \"a\": {\"b\": "
                               "\"x\"}, \"code\": 7, \"v\": 1.234}"),
                     1);
    assert_int_equal(box_count(lab->box, TARGET, "{\"n\": \"2\", \"code\": null}"), 1);
    load_and_verify_by_command(lab, NULL, "./odd.csv", 0);
    load = push_load(lab->uri, "input", "./odd.csv", "on-bad-value", "reject", NULL);
    run(load, 0); /* all of it was loaded, and keeps its own */
    assert_int_equal(box_count(lab->box, TARGET, "{\"n\": \"2\", \"code\": null}"), 1);
}

/* Of what is pushed, too; a line without a header, in latin1. */
LAB_TEST(told_of_pushed, lab_open(lab)) {
    tipple_error_t error;
    tipple_load_t *load =
        push_load(lab->uri, "input-name", "x", "with", "header=no", "with", "encoding=latin1", NULL);
    assert_true(tipple_load_push(load, "caf\xe9,b\nd,e\n", 11, &error));
    push_finish(load, 0);
    push_check(load, 2, 0, 0);
    assert_int_equal(box_count(lab->box, TARGET, "{\"column_1\": \"caf\xc3\xa9\"}"), 1);
    tipple_load_destroy(load);
}

/* A word that is none is refused at once, and what was set before stands. */
LAB_TEST(wrong_words, lab_open(lab)) {
    static const struct {
        const char *name, *good, *bad, *says;
    } rows[] = {{"with", "dates=mdy", "dates=myd", "is not one of dmy, mdy, ymd"},
                {"with", "decimal=,", "decimal=;", "is not one of ., ,"},
                {"with", "header=yes", "header=perhaps", "is not one of yes"},
                {"with", "encoding=utf-8", "encoding=ebcdic", "is not one of utf-8"},
                {"on-bad-value", "null", "forget", "is not one of text, null"},
                {"with", "nested=yes", "nested=true", "is not one of no, yes"},
                {"with", "nested=yes", "nested", "needs a value"},
                {"append", "false", "perhaps", "neither true nor false"},
                {"type", "z:code:int", "z:inn", "'inn' is not a type"},
                {"type", "n:text", "n", "--type"}};
    tipple_error_t error;
    write_text("odd.csv", odd);
    tipple_load_t *load = push_load(lab->uri, "input", "./odd.csv", NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(tipple_load_set(load, rows[i].name, rows[i].good, &error));
        fails(tipple_load_set(load, rows[i].name, rows[i].bad, &error), &error, 1, rows[i].says);
    }
    run(load, 2);
    assert_int_equal(box_count(lab->box, TARGET, "{\"n\": \"1\", \"a\": {\"b\": \"x\"}, \"v\": 1.234}"), 1);
    assert_int_equal(box_count(lab->box, TARGET, "{\"n\": \"2\", \"code\": null}"), 1);
}

/* They are for guessing: with a format only on-bad-value means anything. Nothing has begun then. */
LAB_TEST(told_beside_a_format, lab_open(lab)) {
    static const char *const rows[][2] = {{"with", "dates=dmy"},  {"with", "decimal=,"},
                                          {"with", "header=no"},  {"with", "encoding=utf-8"},
                                          {"with", "nested=yes"}, {"type", "n:text"}};
    tipple_error_t error;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tipple_load_t *load =
            push_load(lab->uri, "format", "./rows.yaml", "input-name", "x", rows[i][0], rows[i][1], NULL);
        fails(tipple_load_push(load, plain, strlen(plain), &error), &error, 1, "is for guessing");
        give(load, guessed(plain));
        fails(tipple_load_finish(load, &error), &error, 1, "--format guessed says all");
        assert_null(tipple_load_result(load));
        tipple_load_destroy(load);
        load = push_load(lab->uri, "input-name", "x", rows[i][0], rows[i][1], NULL);
        fails(tipple_load_push_document(load, "\5\0\0\0", 5, &error), &error, 1, "--format bson says all");
        tipple_load_destroy(load);
    }
    tipple_load_t *load =
        push_load(lab->uri, "format", "./rows.yaml", "input-name", "x", "on-bad-value", "null", NULL);
    assert_true(tipple_load_push(load, "n,w\nx,a\n", 8, &error));
    push_finish(load, 0);
    assert_int_equal(box_count(lab->box, TARGET, "{\"n\": null, \"w\": \"a\"}"), 1);
    tipple_load_destroy(load);
}

/* ---- given ---- */

/* One that was guessed is kept with the collection: what comes later reads the same, and needs none. */
LAB_TEST(given_guess, lab_open(lab)) {
    tipple_error_t error;
    write_text("a.csv", other);
    write_text("b.csv", plain);
    tipple_load_t *load = push_load(lab->uri, "input", "./b.csv", NULL);
    give(load, guessed(other)); /* n is a text by it, and by a guess of b.csv it is a number */
    run(load, 2);
    assert_int_equal(box_count(lab->box, TARGET, "{\"n\": \"1\", \"w\": \"a\"}"), 1);
    load_and_verify_by_command(lab, NULL, "./b.csv", 0);
    load_and_verify_by_command(lab, NULL, "./a.csv", 2);
    load = push_load(lab->uri, "input-name", "more", NULL);
    give(load, guessed(other));
    assert_true(tipple_load_push(load, plain, strlen(plain), &error));
    push_finish(load, 0);
    push_check(load, 2, 0, 0);
    assert_string_equal(tipple_load_result(load)->format, "guessed");
    fails(tipple_load_set_format(load, NULL, &error), &error, 1, "has begun");
    tipple_load_destroy(load);
    load = push_load(lab->uri, "input", "./b.csv", NULL);
    give(load, guessed(plain));
    fails(tipple_load_run(load, &error), &error, 1, "is not the format");
    tipple_load_destroy(load);
    load = push_load(lab->uri, "input", "./b.csv", "drop", "true", NULL);
    give(load, guessed(plain));
    run(load, 2);
    load = push_load(lab->uri, "input", "./b.csv", "drop", "true", "append", "true", NULL);
    fails(tipple_load_run(load, &error), &error, 1, "--append keeps the documents");
    tipple_load_destroy(load);
    assert_int_equal(box_count(lab->box, TARGET, "{\"n\": 1, \"w\": \"a\"}"), 1);
}

/* A load that failed in the middle is completed by the same format, and by none. */
TEST(given_and_resumed) {
    enum { ROWS = 500 };
    for (int again = 0; again < 2; again++) {
        lab_t lab;
        tipple_error_t error;
        size_t length;
        lab_open(&lab);
        char *text = push_rows(0, ROWS, &length);
        box_fault(lab.box, &(box_fault_t){.command = "insert",
                                          .collection = "c",
                                          .after = 2,
                                          .times = UINT32_MAX,
                                          .reply = BOX_ERROR(13, "not yours")});
        tipple_load_t *load = push_load(lab.uri, "input-name", "x", "batch", "50", "threads", "1", NULL);
        give(load, guessed(other));
        push_pieces(load, text, length, 100, &error);
        push_finish(load, 4);
        tipple_load_destroy(load);
        box_end_faults(lab.box);
        const size_t there = box_count(lab.box, TARGET, NULL);
        assert_true(there && there < ROWS);
        load = push_load(lab.uri, "input-name", "x", NULL);
        if (again)
            give(load, guessed(other));
        assert_int_equal(push_pieces(load, text, length, 100, &error), 0);
        push_finish(load, 0);
        push_check(load, ROWS - there, there, 0);
        tipple_load_destroy(load);
        assert_int_equal(box_count(lab.box, TARGET, NULL), ROWS);
        assert_int_equal(box_count(lab.box, TARGET, "{\"n\": \"77\"}"), 1);
        free(text);
        box_stop(lab.box);
    }
}

/* One that was opened is as the option `format`, and whichever comes last counts. */
LAB_TEST(given_by_name, lab_open(lab)) {
    tipple_error_t error;
    write_text("b.csv", plain);
    tipple_load_t *load = push_load(lab->uri, "input", "./b.csv", "format", "mot", NULL);
    give(load, guessed(other));
    give(load, tipple_format_open("./rows.yaml", &error));
    run(load, 2);
    assert_int_equal(box_count(lab->box, TARGET, "{\"n\": 1, \"w\": \"a\"}"), 1);
    load_and_verify_by_command(lab, "./rows.yaml", "./b.csv", 0);
    load = push_load(lab->uri, "input", "./b.csv", NULL);
    give(load, guessed(other));
    assert_true(tipple_load_set(load, "format", "./rows.yaml", &error));
    run(load, 0);
    load = push_load(lab->uri, NULL);
    fails(tipple_load_set_format(load, NULL, &error), &error, 1, "the format is NULL");
    fails(tipple_load_set_format(NULL, NULL, &error), &error, 1, "the load is NULL");
    assert_false(tipple_load_set_format(load, NULL, NULL));
    tipple_load_destroy(load);
}

/* Of documents: a guess of BSON is one, a guess of text is none. */
LAB_TEST(given_for_documents, lab_open(lab)) {
    static const char document[] = "\x0c\0\0\0\x10"
                                   "n\0\7\0\0\0";
    tipple_error_t error;
    tipple_load_t *load = push_load(lab->uri, "input-name", "x", NULL);
    give(load, guessed(plain));
    fails(tipple_load_push_document(load, document, sizeof document, &error), &error, 1,
          "not of BSON documents");
    tipple_format_t *format = tipple_format_guess(document, sizeof document, &error);
    if (!format)
        fail_msg("%s", error.text);
    give(load, format);
    assert_true(tipple_load_push_document(load, document, sizeof document, &error));
    push_finish(load, 0);
    push_check(load, 1, 0, 0);
    assert_int_equal(box_count(lab->box, TARGET, "{\"n\": 7}"), 1);
    tipple_load_destroy(load);
}
