/* Do all inputs fit the format, before anything is written? The same answers as a feeder's; many files. The sentences are in
 * tests/cli/cases/parse-wrong-headers.case. */
#include "base/log.h"
#include "format/record/dialect.h"
#include "format/schema/schema.h"
#include "input/cutter.h"
#include "input/manifest.h"
#include "input_lab.h"
#include "load/plan/inputs.h"
#include "test.h"

static const char FORMAT[] = "format: t\nrecord: {delimiter: [','], header: yes}\n"
                             "fields:\n  - {name: a}\n  - {name: b}\n  - {name: c, optional: yes}\n";
static schema_t *schema_of(const char *text) {
    err_t err = {.text = ""};
    schema_t *schema = schema_parse(text, strlen(text), "t.yaml", &err);
    if (!schema)
        fail_msg("%s", err.text);
    return schema;
}

static void build(manifest_t *manifest, const char *const *names) {
    err_t err = {.text = ""};
    size_t count = 0;
    while (names[count])
        count++;
    if (!manifest_build(manifest, (char *const *)names, count, NULL, &err))
        fail_msg("%s", err.text);
}

/* What a feeder says of the same file: of the first cut. */
static bool feeder_takes(const schema_t *schema, const input_file_t *file, uint64_t max_record, err_t *err) {
    pool_t *pool = pool_new(64 << 20, CUTTER_BUFFER);
    source_t *source = source_open(file, err);
    cutter_t *cutter = source ? cutter_new(source, pool, max_record, err) : NULL;
    cut_t cut;
    dialect_t dialect;
    int got = cutter ? cutter_next(cutter, &cut, err) : -1;
    bool ok = got == 0 ||
              (got > 0 && dialect_sniff(schema, cut.buffer.bytes, cut.length, file->name, &dialect, err));
    if (got > 0)
        pool_give(pool, &cut.buffer);
    cutter_destroy(cutter);
    source_close(source);
    pool_destroy(pool);
    return ok;
}

/* Headers that begin, or end, around the first window, the sizes that are read at once, and the longest
 * record. */
TEST(says_what_a_feeder_says) {
    static const size_t places[] = {0,
                                    1,
                                    509,
                                    2048,
                                    CUTTER_WINDOW - 1,
                                    CUTTER_WINDOW,
                                    CUTTER_WINDOW + 1,
                                    CUTTER_BUFFER,
                                    CUTTER_BUFFER + 5};
    static const size_t lengths[] = {
        3,     509, CUTTER_WINDOW - 1, CUTTER_WINDOW, CUTTER_BUFFER - 1, CUTTER_BUFFER, CUTTER_BUFFER + 1,
        300001};
    static const char *const ends[] = {"", "\n", "\n1,2\n"}, *const heads[] = {"a,b", "x,b"};
    static char lines[CUTTER_BUFFER + 5], letters[300002];
    memset(lines, '\n', sizeof lines);
    memset(letters, 'z', sizeof letters);
    schema_t *schema = schema_of(FORMAT);
    enum { STEP = TEST_SHARE > 5 ? TEST_SHARE : 5 };
    size_t refused = 0, taken = 0;
    log_set_level(LOG_SILENT); /* of columns that are left out */
    for (size_t p = 0; p < sizeof places / sizeof *places; p++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            for (size_t kind = (p + l) % STEP; kind < 12; kind += STEP) {
                bytes_t text = {0};
                bytes_add(&text, lines, places[p]);
                bytes_add(&text, heads[kind % 2], 3);
                if (lengths[l] > 3)
                    bytes_add(&text, ",", 1);
                if (lengths[l] > 4)
                    bytes_add(&text, letters, lengths[l] - 4);
                bytes_add(&text, ends[kind / 2 % 3], strlen(ends[kind / 2 % 3]));
                lab_write_all("f", text);
                manifest_t manifest;
                misfits_t misfits = {.items = NULL};
                err_t err = {.text = ""}, said = {.text = ""};
                const uint64_t max_record = kind < 6 ? 1 : 300000;
                build(&manifest, (const char *[]){"f", NULL});
                const bool fits = feeder_takes(schema, &manifest.files[0], max_record, &said);
                assert_true(check_inputs_find(schema, &manifest, max_record, &misfits, NULL, &err));
                if ((misfits.count == 0) != fits ||
                    (!fits && strcmp(misfits.items[0].reason, said.text) != 0))
                    fail_msg("header of %zu bytes at %zu, kind %zu: the feeder says '%s', the check '%s'",
                             lengths[l], places[p], kind, said.text,
                             misfits.count ? misfits.items[0].reason : "");
                fits ? taken++ : refused++;
                misfits_free(&misfits);
                manifest_free(&manifest);
            }
    log_set_level(LOG_NORMAL);
    assert_true(refused > 100 / STEP && taken > 100 / STEP);
    schema_destroy(schema);
}

/* With several threads, in the order of the inputs; and the sentence has the first twenty of them. */
TEST(many) {
    schema_t *schema = schema_of(FORMAT);
    manifest_t manifest;
    misfits_t skipped = {.items = NULL};
    err_t err = {.text = ""};
    char name[32], expected[4000] = "nothing was written";
    mkdir("d", 0755);
    for (int i = 0; i < 300; i++) {
        sprintf(name, "d/%04d", i);
        lab_say(name, i % 10 == 7 ? "a,c\n" : "a,b\n");
        if (i % 10 == 7 && i < 200)
            sprintf(expected + strlen(expected), "\n  d/%04d:1: no column 'b' (has: a,c)", i);
    }
    strcat(expected, "\n  ... and 10 more");
    build(&manifest, (const char *[]){"d", NULL});
    assert_false(check_inputs(schema, &manifest, NULL, false, &skipped, &err));
    assert_int_equal(err.status, STATUS_INPUT);
    assert_non_null(strstr(err.text, "30 of 300 files"));
    assert_non_null(strstr(err.text, expected));
    assert_int_equal(skipped.count, 0);
    assert_int_equal(manifest.count, 300);

    hearing_t heard;
    hear_begin(&heard);
    assert_true(check_inputs(schema, &manifest, NULL, true, &skipped, &err));
    hear_end(&heard);
    assert_non_null(strstr(heard.text, "are skipped\n  d/0007:1: "));
    assert_int_equal(times(heard.text, "no column"), 20);
    assert_int_equal(skipped.count, 30);
    assert_int_equal(manifest.count, 270);
    for (size_t i = 0, n = 0; i < 300; i++) {
        sprintf(name, "d/%04zu", i);
        assert_string_equal(i % 10 == 7 ? skipped.items[i / 10].name : manifest.files[n++].name, name);
    }
    misfits_free(&skipped);
    manifest_free(&manifest);
    schema_destroy(schema);
}

TEST_EACH(lab_open, lab_close);
