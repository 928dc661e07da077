/* Do all inputs fit the format, before anything is written? Each kind of file, and the same answers as a
 * feeder's. */
#include "base/log.h"
#include "format/record/dialect.h"
#include "format/schema/schema.h"
#include "input/cutter.h"
#include "input/manifest.h"
#include "input_lab.h"
#include "load/before/check_inputs.h"
#include "test.h"

static const char FORMAT[] = "format: t\nrecord: {delimiter: [','], header: yes}\n"
                             "fields:\n  - {name: a}\n  - {name: b}\n  - {name: c, optional: yes}\n";
static const char WORDS[] = "format: w\nrecord: {delimiter: [',', ';'], header: [id]}\n"
                            "fields:\n  - {name: id}\n  - {name: v}\n";
static const char NONE[] =
    "format: n\nrecord: {delimiter: [','], header: no}\nfields:\n  - {name: a}\n  - {name: b}\n";

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

/* The reasons, a line each. */
static void expect_misfits(const char *format, const char *const *names, const char *reasons) {
    schema_t *schema = schema_of(format);
    manifest_t manifest;
    misfits_t misfits = {NULL, 0};
    err_t err = {.text = ""};
    char found[16384] = "";
    build(&manifest, names);
    if (!check_inputs_find(schema, &manifest, 1, &misfits, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < misfits.count; i++) {
        assert_string_equal(misfits.items[i].name, manifest.files[misfits.items[i].input].name);
        sprintf(found + strlen(found), "%.600s\n", misfits.items[i].reason);
    }
    assert_string_equal(found, reasons);
    misfits_free(&misfits);
    manifest_free(&manifest);
    schema_destroy(schema);
}

#define EXPECT(format, reasons, ...) expect_misfits(format, (const char *[]){__VA_ARGS__, NULL}, reasons)

TEST(first_lines) {
    lab_say("good", "a,b\n1,2\n");
    lab_say("turned",
            "\n\r\n\xEF\xBB\xBF b , A\n1,2\n"); /* a mark that is not at the beginning is a letter */
    lab_say("mark", "\xEF\xBB\xBF\r\nb ,c, A\r\n1,2,3\r\n");
    lab_say("empty", "");
    lab_say("blank", "\n\n\n");
    lab_say("open", "a,b");
    lab_say("other", "x,y\n1,2\n");
    lab_say("open-other", "x,y");
    lab_say("semicolons", "A;B\n1;2\n");
    lab_say("twice", "a,b,a\n");
    lab_say("bell", "a\a\x1b[2J,c\n");
    lab_say("wide", "1,2,3,4,5,6,7,8,9,10,11,12,13,14\n");
    lab_say("macintosh", "a,b\r1,2\r3,4\r");
    EXPECT(FORMAT, "", "good", "mark", "empty", "blank", "open", "macintosh");
    EXPECT(FORMAT,
           "other:1: no column 'a' (has: x,y)\n"
           "open-other:1: no column 'a' (has: x,y)\n"
           "turned:3: no column 'b' (has: \xEF\xBB\xBF b , A)\n"
           "semicolons:1: no column 'a' (has: A;B - another delimiter?)\n"
           "twice:1:5: the header names the column 'a' twice\n"
           "bell:1: no column 'a' (has: a\\x07\\x1b[2J,c)\n"
           "wide:1: no column 'a' (has: 1,2,3,4,5,6,7,8,9,10,11,12,...)\n",
           "good", "other", "empty", "open-other", "turned", "semicolons", "twice", "bell", "wide");
}

/* A header that may be missing refuses only where there is one; without headers nothing is refused. */
TEST(headers_that_may_be_missing) {
    lab_say("with", "id;v\n1;2\n");
    lab_say("without", "1,2\n");
    lab_say("half", "id,w\n1,2\n");
    EXPECT(WORDS, "half:1: no column 'v' (has: id,w)\n", "with", "without", "half");
    EXPECT(NONE, "", "with", "without", "half");
}

TEST(compressed) {
    static const char good[] = "a,b\n1,2\n", bad[] = "x,y\n1,2\n";
    const member_spec_t members[] = {{"1.csv", good, 8, 8, 0, false, 0, 0},
                                     {"2.csv", bad, 8, 8, 0, false, 0, 0},
                                     {"3.csv", bad, 8, 0, 0, false, 0, 0},
                                     {"4.csv", bad, 8, 93, 0, false, 0, 0}};
    lab_write_all("good.gz", lab_gzip(good, 8));
    lab_write_all("bad.gz", lab_gzip(bad, 8));
    lab_write_all("bad.zst", lab_zstd(bad, 8, false));
    lab_write_all("z.zip", lab_zip(members, 4, (zip_spec_t){0}));
    EXPECT(FORMAT,
           "bad.gz:1: no column 'a' (has: x,y)\n"
           "bad.zst:1: no column 'a' (has: x,y)\n"
           "z.zip!2.csv:1: no column 'a' (has: x,y)\n"
           "z.zip!3.csv:1: no column 'a' (has: x,y)\n"
           "z.zip!4.csv:1: no column 'a' (has: x,y)\n",
           "good.gz", "bad.gz", "bad.zst", "z.zip");
}

/* What cannot be decompressed at all fits no format, not even one without headers; what is whole as far as
 * its first line fits. */
TEST(damaged) {
    bytes_t compressed = lab_gzip("a,b\n1,2\n", 8), twice = lab_gzip(compressed.at, compressed.size);
    lab_write("twice.gz", twice.at, twice.size);
    lab_write("cut.gz", compressed.at, 12);
    compressed.at[compressed.size - 5] ^= 1; /* of the length; the text is whole */
    lab_write("late.gz", compressed.at, compressed.size);
    free(compressed.at);
    free(twice.at);
    const char *names[] = {"twice.gz", "cut.gz", "late.gz", NULL};
    for (int i = 0; i < 2; i++) {
        schema_t *schema = schema_of(i ? NONE : FORMAT);
        manifest_t manifest;
        misfits_t misfits = {NULL, 0};
        err_t err;
        build(&manifest, names);
        assert_true(check_inputs_find(schema, &manifest, 1, &misfits, &err));
        assert_int_equal(misfits.count, 2);
        assert_string_equal(misfits.items[0].name, "twice.gz");
        assert_non_null(strstr(misfits.items[0].reason, "gzip"));
        assert_string_equal(misfits.items[1].name, "cut.gz");
        assert_non_null(strstr(misfits.items[1].reason, "ends in the middle"));
        misfits_free(&misfits);
        manifest_free(&manifest);
        schema_destroy(schema);
    }
}

/* After the manifest was built. */
TEST(gone_meanwhile) {
    schema_t *schema = schema_of(FORMAT);
    manifest_t manifest;
    misfits_t misfits = {NULL, 0};
    err_t err;
    lab_say("one", "a,b\n");
    lab_say("two", "a,b\n");
    lab_say("three", "a,b\n");
    build(&manifest, (const char *[]){"one", "two", "three", NULL});
    unlink("one");
    lab_say("three", "a,b\n1,2\n");
    assert_true(check_inputs_find(schema, &manifest, 1, &misfits, &err));
    assert_int_equal(misfits.count, 2);
    assert_non_null(strstr(misfits.items[0].reason, "one: there is no"));
    assert_non_null(strstr(misfits.items[1].reason, "three: changed while"));
    misfits_free(&misfits);
    manifest_free(&manifest);
    schema_destroy(schema);
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
                misfits_t misfits = {NULL, 0};
                err_t err = {.text = ""}, said = {.text = ""};
                const uint64_t max_record = kind < 6 ? 1 : 300000;
                build(&manifest, (const char *[]){"f", NULL});
                const bool fits = feeder_takes(schema, &manifest.files[0], max_record, &said);
                assert_true(check_inputs_find(schema, &manifest, max_record, &misfits, &err));
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
    misfits_t skipped = {NULL, 0};
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
    assert_false(check_inputs(schema, &manifest, false, &skipped, &err));
    assert_int_equal(err.status, STATUS_INPUT);
    assert_non_null(strstr(err.text, "30 of 300 files"));
    assert_non_null(strstr(err.text, expected));
    assert_int_equal(skipped.count, 0);
    assert_int_equal(manifest.count, 300);

    hearing_t heard;
    hear_begin(&heard);
    assert_true(check_inputs(schema, &manifest, true, &skipped, &err));
    hear_end(&heard);
    assert_non_null(strstr(heard.text, "and are skipped\n  d/0007:1: "));
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

/* Nobody waits for a pipe that has no writer. */
TEST(streams_are_left_alone) {
    assert_int_equal(mkfifo("pipe", 0600), 0);
    lab_say("x.csv", "x,y\n");
    EXPECT(FORMAT, "x.csv:1: no column 'a' (has: x,y)\n", "pipe", "x.csv");
}

TEST_EACH(lab_open, lab_close);
