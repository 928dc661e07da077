/* load_lab: what tests of loads into a box share: small files of rows, and production's own load, verify and forget. */
#ifndef TIPPLE_TESTS_LOAD_LAB_H
#define TIPPLE_TESTS_LOAD_LAB_H

#include "base/log.h"
#include "box/box.h"
#include "heard.h"
#include "load/forget/forget.h"
#include "load/spec/load_result.h"
#include "test.h"
#include "verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LAB_UNUSED __attribute__((unused))
#define LAB_TARGET "d.c"
#define LAB_FILES  "d.c.tipple.files"
#define LAB_LOADS  "d.c.tipple.loads"

/* ---- files ---- */

static void lab_write(const char *name, const char *text) {
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

/* n,w: a row says its number and "wN" */
LAB_UNUSED static void lab_write_rows(const char *name, int from, int to) {
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs("n,w\n", file);
    for (int i = from; i < to; i++)
        fprintf(file, "%d,w%d\n", i, i);
    assert_int_equal(fclose(file), 0);
}

/* The same, where "wN" is 500 bytes long: some blocks of few documents. */
LAB_UNUSED static void lab_write_wide_rows(const char *name, int from, int to) {
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs("n,w\n", file);
    for (int i = from; i < to; i++)
        fprintf(file, "%d,w%-499dx\n", i, i);
    assert_int_equal(fclose(file), 0);
}

static void lab_write_format(void) {
    lab_write("rows.yaml",
              "format: rows\nabout: numbers and words\nrecord: {delimiter: [\",\"], header: yes}\n"
              "fields:\n  - {name: n, type: int}\n  - {name: w}\n");
}

LAB_UNUSED static char *lab_read(const char *name) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    if (getdelim(&text, &size, '\0', file) < 0)
        *text = '\0';
    fclose(file);
    return text;
}

/* The first such text of a small file, by one that is no shorter. */
LAB_UNUSED static void lab_replace(const char *name, const char *from, const char *to) {
    char text[4096] = "";
    FILE *file = fopen(name, "r+");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    const char *at = strstr(text, from);
    assert_non_null(at);
    rewind(file);
    fprintf(file, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    fclose(file);
}

/* ---- a box, and what is done to it ---- */

typedef struct {
    box_t *box;
    char uri[BOX_URI];
    load_spec_t load;
    load_result_t loaded;
    verify_spec_t verify;
    verify_result_t verified;
    forget_outcome_t outcomes[8]; /* of the last forget */
    err_t err;
    const char *said; /* on stderr, by the last load, verify or forget */
    ear_t ear;
} lab_t;

/* In a folder of its own files: nothing of an earlier test is left. */
static void lab_open(lab_t *lab, box_kind_t kind) {
    assert_int_equal(system("rm -rf ../load_lab/*"), 0);
    *lab = (lab_t){.box = box_start(kind)};
    box_uri(lab->box, LAB_TARGET, lab->uri);
    load_spec_init(&lab->load);
    verify_spec_init(&lab->verify);
    lab->load.uri = lab->verify.load.uri = lab->uri;
    lab->load.format = lab->verify.load.format = "./rows.yaml";
    lab->load.threads = lab->verify.load.threads = 2;
    lab->load.patience_ns = lab->verify.load.patience_ns = INT64_C(60000000000);
    lab->load.rejects = "c.rejects";
    lab_write_format();
}

static void lab_close(lab_t *lab) {
    load_result_free(&lab->loaded);
    verify_free_result(&lab->verified);
    box_stop(lab->box);
}

#define LAB_TEST(name, open) TEST_WITH_LAB(name, open, lab_close(lab))

/* Of these inputs, up to NULL: the exit status, and lab->loaded, lab->err, lab->said. */
#define lab_load(lab, ...) lab_load_all(lab, (char *[]){__VA_ARGS__, NULL})
static status_t lab_load_all(lab_t *lab, char **inputs) {
    load_result_free(&lab->loaded);
    lab->load.inputs = inputs;
    for (lab->load.input_count = 0; inputs[lab->load.input_count];)
        lab->load.input_count++;
    listen_to(&lab->ear, STDERR_FILENO);
    const bool ok = load_run(&lab->load, &lab->loaded, &lab->err);
    lab->said = heard(&lab->ear);
    assert_true(ok == (lab->err.status == STATUS_OK || lab->err.status == STATUS_SOME_REJECTED));
    return lab->err.status;
}

/* With this text on stdin. */
LAB_UNUSED static status_t lab_load_stream(lab_t *lab, const char *text, char **inputs) {
    int ends[2];
    const int saved = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, strlen(text)), (ssize_t)strlen(text));
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    const status_t status = lab_load_all(lab, inputs);
    dup2(saved, STDIN_FILENO);
    close(saved);
    return status;
}

LAB_UNUSED static status_t lab_retry(lab_t *lab, const char *name) {
    lab->load.retry = name;
    const status_t status = lab_load(lab, NULL);
    lab->load.retry = NULL;
    return status;
}

#define lab_verify(lab, ...) lab_verify_all(lab, (char *[]){__VA_ARGS__, NULL})
LAB_UNUSED static status_t lab_verify_all(lab_t *lab, char **inputs) {
    verify_free_result(&lab->verified);
    lab->verify.load.inputs = inputs;
    for (lab->verify.load.input_count = 0; inputs[lab->verify.load.input_count];)
        lab->verify.load.input_count++;
    listen_to(&lab->ear, STDERR_FILENO);
    const bool ok = verify_run(&lab->verify, &lab->verified, &lab->err);
    lab->said = heard(&lab->ear);
    assert_true(ok == (lab->err.status == STATUS_OK));
    return lab->err.status;
}

#define lab_forget(lab, documents, ...) lab_forget_all(lab, documents, (char *[]){__VA_ARGS__, NULL})
LAB_UNUSED static status_t lab_forget_all(lab_t *lab, bool documents, char **inputs) {
    forget_spec_t spec = {
        .uri = lab->uri, .inputs = inputs, .documents = documents, .patience_ns = lab->load.patience_ns};
    while (inputs[spec.input_count])
        spec.input_count++;
    forgotten_t *forgotten = calloc(spec.input_count, sizeof *forgotten);
    listen_to(&lab->ear, STDERR_FILENO);
    lab->err = (err_t){.status = STATUS_OK};
    const bool ok = forget_run(&spec, forgotten, &lab->err);
    lab->said = heard(&lab->ear);
    for (size_t i = 0; i < spec.input_count; i++) {
        lab->outcomes[i] = forgotten[i].outcome;
        free(forgotten[i].name);
    }
    free(forgotten);
    assert_true(ok == (lab->err.status == STATUS_OK));
    return lab->err.status;
}

/* Everything that waits for a lease waits that long from now on. */
LAB_UNUSED static void lab_shorten_lease(lab_t *lab) {
    box_update(lab->box, LAB_FILES, "{\"_id\": \"catalog\"}", "{\"$set\": {\"leaseMs\": 150}}");
}

/* Another load, on another host: when its last sign of life was seen, what it does now and then, and its end. */
#define LAB_OTHER "{\"$oid\": \"64a000000000000000000001\"}"
LAB_UNUSED static void lab_other_load(lab_t *lab, const char *seen) {
    char load[300];
    snprintf(load, sizeof load,
             "{\"_id\": " LAB_OTHER ", \"beat\": 5, \"host\": \"elsewhere\", \"process\": 7, "
             "\"started\": {\"$date\": \"2020-01-01T00:00:00Z\"}, \"seen\": {\"$date\": \"%s\"}}",
             seen);
    box_insert(lab->box, LAB_LOADS, load);
}

LAB_UNUSED static void lab_other_beats(void *context) {
    lab_t *lab = context;
    static int beats = 100;
    char update[80];
    snprintf(update, sizeof update, "{\"$set\": {\"beat\": %d}}", beats++);
    box_update(lab->box, LAB_LOADS, "{\"host\": \"elsewhere\"}", update);
}

LAB_UNUSED static void lab_other_ends(void *context) {
    lab_t *lab = context;
    box_update(lab->box, LAB_LOADS, "{\"host\": \"elsewhere\"}", "{\"$set\": {\"ended\": true}}");
}

/* As a load leaves the catalog that was killed before it wrote down what it had sent of an input, and is known to be
 * dead. */
LAB_UNUSED static void lab_forget_progress(lab_t *lab, const char *path) {
    char filter[200];
    snprintf(filter, sizeof filter, "{\"path\": \"%s\"}", path);
    box_update(lab->box, LAB_FILES, filter,
               "{\"$set\": {\"pieces\": [{\"from\": 0, \"owner\": null, \"epoch\": 1, \"generation\": 1}], "
               "\"versions.0.completed\": 0}}");
}

LAB_UNUSED static int64_t lab_number(bson_t *document, const char *path) {
    bson_iter_t iter, found;
    if (!bson_iter_init(&iter, document) || !bson_iter_find_descendant(&iter, path, &found))
        fail_msg("there is no %s", path);
    return bson_iter_as_int64(&found);
}

/* In a folder of its own, since each test removes what the one before has left. */
static int lab_begin(TEST_UNUSED void **state) {
    mkdir("load_lab", 0700);
    return chdir("load_lab");
}

static int lab_end(TEST_UNUSED void **state) {
    return chdir("..");
}

TEST_GROUP(lab_begin, lab_end);

/* ---- what is expected ---- */

/* The counts of the last load, and that they add up. */
#define assert_counts(lab, read_, loaded_, there_, rejected_)                                                \
    do {                                                                                                     \
        const counts_t *counts_ = &(lab)->loaded.counts;                                                     \
        assert_int_equal(counts_->read, read_);                                                              \
        assert_int_equal(counts_->of[FATE_LOADED], loaded_);                                                 \
        assert_int_equal(counts_->of[FATE_THERE], there_);                                                   \
        assert_int_equal(counts_->of[FATE_REJECTED], rejected_);                                             \
        assert_int_equal(counts_->read, counts_->of[FATE_LOADED] + counts_->of[FATE_THERE] +                 \
                                            counts_->of[FATE_REJECTED] + counts_->of[FATE_FILTERED]);        \
    } while (0)

#define assert_status(lab, call, expected)                                                                   \
    do {                                                                                                     \
        if ((call) != (expected))                                                                            \
            fail_msg("status %d: %s", (int)(lab)->err.status, (lab)->err.text);                              \
    } while (0)

/* The last such command was as the filter says. */
#define assert_asked(lab, command, collection, filter)                                                       \
    do {                                                                                                     \
        if (!box_last_was((lab)->box, command, collection, filter))                                          \
            fail_msg("the last %s of %s was not %s", command, collection, filter);                           \
    } while (0)

#define assert_says(text, words)                                                                             \
    do {                                                                                                     \
        if (!strstr(text, words))                                                                            \
            fail_msg("'%s' is not in: %s", words, text);                                                     \
    } while (0)

#endif
