/* reject: records that could not be loaded, written down for a person and read back after fixing: every byte
 * of them, whatever they look like. */
#include "format/schema/schema.h"
#include "format_lab.h"
#include "heard.h"
#include "load/rejects/reject.h"
#include "load/rejects/reject_file.h"
#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

static schema_t *schema;
static dialect_t dialect;
static ear_t ear;

static int set_up(TEST_UNUSED void **state) {
    err_t err;
    return !(schema = format_open("mot-item", &err)) ||
           !dialect_sniff(schema, (const uint8_t *)"1|2|A|7|\n", 9, "a.txt", &dialect, &err);
}

static int each_set_up(TEST_UNUSED void **state) {
    unlink("r");
    unlink("r.2");
    unlink("r.3");
    return 0;
}

static int tear_down(TEST_UNUSED void **state) {
    schema_destroy(schema);
    return 0;
}

static void hear(void) {
    listen_to(&ear, STDERR_FILENO);
}

static reject_options_t options_for(const char *path) {
    return (reject_options_t){.file = {.path = path,
                                       .again = " --format mot-item --filter 'a\n==1' --uri mot.items",
                                       .schema = schema},
                              .write = true,
                              .format = "mot-item",
                              .most = 1000,
                              .most_percent = -1};
}

static rejects_t *open_rejects(reject_options_t options) {
    err_t err = {.text = ""};
    rejects_t *rejects = rejects_new(&options, &err);
    if (!rejects)
        fail_msg("%s", err.text);
    return rejects;
}

static bool add(rejects_t *rejects, const char *name, uint64_t offset, const void *bytes, size_t length,
                const char *reason, err_t *err) {
    input_file_t input = {.name = (char *)name};
    active_piece_t piece = {.input = &input, .dialect = &dialect};
    reject_t reject = {.piece = &piece,
                       .offset = offset,
                       .line = offset / 10 + 1,
                       .column = 3,
                       .reason = reason,
                       .bytes = bytes,
                       .length = length,
                       .kept = length};
    return rejects_add(rejects, &reject, err);
}

static void put(rejects_t *rejects, const char *name, uint64_t offset, const char *record) {
    err_t err = {.text = ""};
    if (!add(rejects, name, offset, record, strlen(record), "no good", &err))
        fail_msg("%s", err.text);
}

static void close_rejects(rejects_t *rejects) {
    err_t err = {.text = ""};
    if (!rejects_flush(rejects, &err))
        fail_msg("%s", err.text);
    rejects_free(rejects, false);
}

/* ---- reading back ---- */

typedef struct {
    char path[4096];
    uint64_t offset, line, at_line;
    size_t length;
    uint8_t *bytes;
    char delimiter;
    uint16_t columns;
    bool cut_off;
} kept_t;

typedef struct {
    kept_t *entries;
    size_t count;
} kept_all_t;

static void take(kept_all_t *all, const retry_t *retry) {
    all->entries = realloc(all->entries, (all->count + 1) * sizeof *all->entries);
    LAB_MUST(all->entries);
    kept_t *entry = &all->entries[all->count++];
    strcpy(entry->path, retry->entry->input);
    entry->offset = retry->entry->offset;
    entry->line = retry->entry->line;
    entry->at_line = retry->entry->at_line;
    entry->length = retry->length;
    entry->bytes = malloc(retry->length + 1);
    LAB_MUST(entry->bytes);
    memcpy(entry->bytes, retry->bytes, retry->length);
    entry->delimiter = retry->dialect.delimiter;
    entry->columns = retry->dialect.columns;
    entry->cut_off = retry->entry->cut_off;
}

static void drop(kept_all_t *all) {
    for (size_t i = 0; i < all->count; i++)
        free(all->entries[i].bytes);
    free(all->entries);
    *all = (kept_all_t){0};
}

/* False: it is refused. */
static bool read_file(const schema_t *of, kept_all_t *all, err_t *err) {
    reject_file_t file;
    if (!reject_file_open_fixed(&file, "r", err))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < file.count; i++) {
        retry_t retry;
        if ((ok = reject_file_record(&file, &file.entries[i], of, &retry, err)))
            take(all, &retry);
        free(retry.row);
    }
    reject_file_close(&file);
    return ok;
}

static kept_all_t read_back(const schema_t *of) {
    kept_all_t all = {0};
    err_t err = {.text = ""};
    if (!read_file(of, &all, &err))
        fail_msg("%s", err.text);
    return all;
}

static void expect_entry(const kept_t *entry, const char *path, uint64_t offset, const void *bytes,
                         size_t length) {
    assert_string_equal(entry->path, path);
    assert_int_equal(entry->offset, offset);
    assert_int_equal(entry->line, offset / 10 + 1);
    if (entry->length != length || memcmp(entry->bytes, bytes, length) != 0)
        fail_msg("'%.*s' comes back as '%.*s'", (int)length, (const char *)bytes, (int)entry->length,
                 (const char *)entry->bytes);
}

static char *whole_file_of(const char *path) {
    static char text[1 << 16];
    FILE *file = fopen(path, "r");
    LAB_MUST(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    return text;
}

static char *whole_file(void) {
    return whole_file_of("r");
}

static void write_file(const char *text, size_t length) {
    FILE *file = fopen("r", "w");
    LAB_MUST(file && fwrite(text, 1, length, file) == length && fclose(file) == 0);
}

static size_t times(const char *text, const char *word) {
    size_t count = 0;
    for (; (text = strstr(text, word)); text += strlen(word))
        count++;
    return count;
}

typedef struct {
    uint64_t offset;
    const char *record;
} given_t;

/* A load with these rejects of a.txt. Each is written at once, and not onto the disk: tests do so thousands of times. */
static void run(const given_t *rejected, size_t count) {
    hear();
    rejects_t *rejects = open_rejects(options_for("r"));
    for (size_t i = 0; i < count; i++)
        put(rejects, "a.txt", rejected[i].offset, rejected[i].record);
    rejects_free(rejects, false);
    heard(&ear);
}

/* ---- tests ---- */

/* The file holds these entries of a.txt, and no others. */
static void expect(const given_t *expected, size_t count) {
    kept_all_t all = read_back(schema);
    assert_int_equal(all.count, count);
    for (size_t i = 0; i < count; i++)
        expect_entry(&all.entries[i], "a.txt", expected[i].offset, expected[i].record,
                     strlen(expected[i].record));
    drop(&all);
}

TEST(there_and_back) {
    rejects_t *rejects = open_rejects(options_for("r"));
    err_t err = {.text = ""};
    assert_null(rejects_path(rejects));      /* it holds none yet */
    assert_int_equal(access("r", F_OK), -1); /* no file before the first reject */
    hear();
    assert_true(add(rejects, "data/a.txt", 4711, "1|2|A", 5, "it has 3 fields where 5 were expected", &err));
    assert_true(add(rejects, "b.zip!c d.csv", 0, "rubbish", 7, "it has 1 field where 5 were expected", &err));
    const char *said = heard(&ear);
    assert_non_null(strstr(said, "rejected data/a.txt:472:3 "));
    assert_non_null(strstr(said, "4711"));
    assert_non_null(strstr(said, "it has 3 fields"));
    assert_int_equal(rejects_count(rejects), 2);
    assert_true(rejects_check(rejects, &err));
    close_rejects(rejects);
    char *text = whole_file();
    assert_int_equal(text[0], '#'); /* words for a person first */
    assert_non_null(strstr(text, "--retry r"));
    assert_non_null(
        strstr(text, "#   tipple load --format mot-item --filter 'a ==1' --uri mot.items --retry r\n"));
    assert_non_null(strstr(text, " -- data/a.txt:472:3: it has 3 fields where 5 were expected\n1|2|A\n"));
    assert_non_null(strstr(text, " field=- delimiter=7c columns=0,1,2,3,7 "));
    assert_non_null(strstr(text, "offset=4711 line=472 length=5 hash="));
    kept_all_t all = read_back(schema);
    assert_int_equal(all.count, 2);
    expect_entry(&all.entries[0], "data/a.txt", 4711, "1|2|A", 5);
    expect_entry(&all.entries[1], "b.zip!c d.csv", 0, "rubbish", 7);
    assert_int_equal(all.entries[0].delimiter, '|');
    assert_int_equal(all.entries[0].columns, 5);
    /* each entry knows its own line in this file */
    size_t line = 1;
    for (const char *at = text; !(at[0] == '#' && at[1] == '@'); at = strchr(at, '\n') + 1)
        line++;
    assert_int_equal(all.entries[0].at_line, line);
    assert_int_equal(all.entries[1].at_line, line + 2);
    drop(&all);
    rejects_free(NULL, false);
}

/* Whatever a record, its input's name and its reason look like, each comes back as it was, and is known again. */
TEST(texts_like_entries) {
    static const char *const texts[] = {
        "#@01234567 offset=1 line=1 length=3 field=- delimiter=7c columns=testId file=a.txt -- made up",
        "# marked #@01234567 ",
        "# tipple rejects: fix the line",
        "#@",
        "#",
        " ",
        "\t",
        "100%s %n",
        "%20",
        "x file=y offset=9.txt",
        "m\xc3\xb6t.txt",
        "a.txt -- a.txt:1:1: x",
        "dup key: { _id: \"a\nb\" }", /* a server's reason may have several lines */
        "\r\n",
        "one\n#@00000000 two",
    };
    enum { TEXTS = sizeof texts / sizeof *texts };
    err_t err = {.text = ""};
    for (int time = 0; time < 2; time++) {
        rejects_t *rejects = open_rejects(options_for("r"));
        hear();
        for (size_t i = 0; i < TEXTS; i++) {
            const bool one_line = !strpbrk(texts[i], "\r\n");
            const char *name = one_line ? texts[i] : "a.txt", *record = one_line ? texts[i] : "plain";
            assert_true(add(rejects, name, 100 * i, record, strlen(record), texts[i], &err));
        }
        heard(&ear);
        close_rejects(rejects);
    }
    kept_all_t all = read_back(schema);
    assert_int_equal(all.count, TEXTS);
    for (size_t i = 0; i < TEXTS; i++)
        expect_entry(&all.entries[i], strpbrk(texts[i], "\r\n") ? "a.txt" : texts[i], 100 * i,
                     strpbrk(texts[i], "\r\n") ? "plain" : texts[i],
                     strlen(strpbrk(texts[i], "\r\n") ? "plain" : texts[i]));
    drop(&all);
}

/* Nor does a record make a later run believe that another record was written already. */
TEST(records_like_known_ones) {
    static const char fake[] =
        "#@01234567 offset=500 line=1 length=3 field=- delimiter=7c columns=testId file=a.txt -- made up";
    for (size_t others = 0; others < 2; others++) { /* it stands last in the file, or not */
        unlink("r");
        run((given_t[]){{0, fake}, {100, "other"}}, 1 + others);
        run((given_t[]){{500, "real"}}, 1);
        expect(others ? (given_t[]){{0, fake}, {100, "other"}, {500, "real"}}
                      : (given_t[]){{0, fake}, {500, "real"}},
               2 + others);
    }
}

TEST(any_bytes) {
    uint8_t every[256];
    size_t length = 0;
    for (unsigned i = 0; i < 256; i++)
        if (i != '\n' && i != '\r')
            every[length++] = (uint8_t)i;
    uint8_t *large = malloc(1 << 20);
    assert_non_null(large);
    for (size_t i = 0; i < 1 << 20; i++)
        large[i] = every[i * 7 % length];
    rejects_t *rejects = open_rejects(options_for("r"));
    err_t err = {.text = ""};
    hear();
    assert_true(add(rejects, "a.txt", 0, every, length, "no good", &err));
    assert_true(add(rejects, "a.txt", 10, "\0\0", 2, "no good", &err));
    assert_true(add(rejects, "a.txt", 20, large, 1 << 20, "no good", &err));
    put(rejects, "a.txt", 30, "behind");
    heard(&ear);
    close_rejects(rejects);
    kept_all_t all = read_back(schema);
    assert_int_equal(all.count, 4);
    expect_entry(&all.entries[0], "a.txt", 0, every, length);
    expect_entry(&all.entries[1], "a.txt", 10, "\0\0", 2);
    expect_entry(&all.entries[2], "a.txt", 20, large, 1 << 20);
    expect_entry(&all.entries[3], "a.txt", 30, "behind", 6);
    drop(&all);
    free(large);
}

/* Replaces the first of a word in the file. */
static void fix(const char *from, const char *to) {
    char *text = strdup(whole_file()), *at = strstr(text, from);
    LAB_MUST(at);
    grown_t fixed = {0};
    grown_add(&fixed, text, (size_t)(at - text));
    grown_text(&fixed, to);
    grown_text(&fixed, at + strlen(from));
    write_file((const char *)fixed.at, fixed.size);
    grown_free(&fixed);
    free(text);
}

/* As records of a file that a kill may cut anywhere in: short ones, and such that look like marks and notes.
 */
static const given_t given[] = {{10, "1|2|A"}, {20, "# two"}, {30, "#"}, {40, "three|3|A"}};
enum { GIVEN = sizeof given / sizeof *given };

static void add_given(void) {
    run(given, GIVEN);
}

/* Each of them is there, once, whatever else is. */
static void expect_given(size_t cut) {
    kept_all_t all = read_back(schema);
    for (size_t i = 0; i < GIVEN; i++) {
        size_t found = 0;
        for (size_t j = 0; j < all.count; j++)
            found += !all.entries[j].cut_off && all.entries[j].offset == given[i].offset &&
                     all.entries[j].length == strlen(given[i].record) &&
                     memcmp(all.entries[j].bytes, given[i].record, all.entries[j].length) == 0;
        if (found != 1)
            fail_msg("record %zu is there %zu times after a cut at byte %zu:\n%s", i, found, cut,
                     whole_file());
    }
    size_t empty = 0; /* cut right behind its head, an entry looks like one that a person left out */
    for (size_t j = 0; j < all.count; j++)
        empty += !all.entries[j].length;
    for (size_t j = 0; j < all.count; j++)
        if (empty > 1 || all.entries[j].cut_off || all.count - empty != GIVEN)
            fail_msg("%zu entries after a cut at byte %zu:\n%s", all.count, cut, whole_file());
    drop(&all);
}

/* Nothing of what was there was changed. */
static void expect_appended(const char *before, size_t length) {
    if (strlen(whole_file()) < length || memcmp(whole_file(), before, length) != 0)
        fail_msg("the file does not begin with its first %zu bytes any more:\n%s", length, whole_file());
}

/* Killed at any byte: the next run leaves every record there, once, and takes no byte away. */
TEST(torn_anywhere) {
    add_given();
    char *text = strdup(whole_file());
    for (size_t cut = 0; cut <= strlen(text); cut++) {
        write_file(text, cut);
        add_given();
        expect_appended(text, cut);
        expect_given(cut);
        char *once = strdup(whole_file());
        add_given(); /* and the one after it has nothing to add */
        assert_string_equal(once, whole_file());
        free(once);
    }
    free(text);
}

/* Given to --retry as the kill has left it: what is there of the last record is no fix of it. */
TEST(torn_and_read) {
    add_given();
    char *text = strdup(whole_file());
    const char *record = given[GIVEN - 1].record;
    const size_t length = strlen(text), begins = length - 1 - strlen(record);
    for (size_t cut = begins - 1; cut <= length; cut++) {
        write_file(text, cut);
        kept_all_t all = read_back(schema);
        assert_int_equal(all.count, cut < begins - 1 ? GIVEN - 1 : GIVEN);
        for (size_t i = 0; i + 1 < all.count; i++)
            assert_false(all.entries[i].cut_off);
        const kept_t *last = &all.entries[GIVEN - 1];
        assert_int_equal(last->cut_off, cut > begins && cut < length - 1);
        assert_int_equal(last->length, cut > begins ? (cut < length ? cut : length - 1) - begins : 0);
        drop(&all);
    }
    /* a person ends the line */
    write_file(text, length - 3);
    FILE *file = fopen("r", "a");
    LAB_MUST(file);
    fputs("\n", file);
    fclose(file);
    kept_all_t all = read_back(schema);
    assert_false(all.entries[GIVEN - 1].cut_off);
    drop(&all);
    free(text);
}

/* In a record, not in a head. */
static bool is_in_record(const char *text, size_t at) {
    const char *before = at ? memrchr(text, '\n', at) : NULL;
    return before && before + 1 < text + at && strncmp(before + 1, "#@", 2) != 0;
}

/* Killed again while it goes on, at any byte of what it adds. One place is left out: a record that is shorter
 * than it was and has a line end is what a person makes of it, and a line end alone is never written. */
TEST(torn_twice) {
    add_given();
    char *text = strdup(whole_file());
    const size_t length = strlen(text);
    for (size_t cut = length * 2 / 5; cut <= length;
         cut += 31) { /* two entries, and the note that is written first */
        write_file(text, cut);
        add_given();
        char *second = strdup(whole_file());
        for (size_t again = cut; again <= strlen(second) && again < cut + 120; again += 3) {
            if (again == cut + 1 && second[cut] == '\n' && is_in_record(text, cut))
                continue;
            write_file(second, again);
            add_given();
            expect_appended(second, again);
            expect_given(again);
        }
        free(second);
    }
    free(text);
}

/* ---- two loads, and edited files ---- */

static size_t count_in(const char *path, const char *input) {
    char *kept = strdup(whole_file_of(path));
    size_t found = 0;
    char word[100];
    snprintf(word, sizeof word, " file=%s ", input);
    found = times(kept, word);
    free(kept);
    return found;
}

/* The file belongs to one at a time; a name is free again when its load has ended. */
TEST(two_writers) {
    hear();
    rejects_t *first = open_rejects(options_for("r")), *second = open_rejects(options_for("r")),
              *third = open_rejects(options_for("r"));
    for (uint64_t i = 0; i < 90; i++) {
        put(first, "a.txt", i, "one");
        put(second, "b.txt", i, "two");
        if (i < 40)
            put(third, "c.txt", i, "three");
        if (i == 40)
            close_rejects(third);
    }
    const char *said = heard(&ear);
    assert_int_equal(times(said, "kept in r.2"), 1);
    assert_int_equal(times(said, "kept in r.3"), 1);
    assert_string_equal(rejects_path(first), "r");
    assert_string_equal(rejects_path(second), "r.2");
    close_rejects(first);
    assert_int_equal(count_in("r", "a.txt"), 90);
    assert_int_equal(count_in("r", "b.txt"), 0);
    assert_int_equal(count_in("r.2", "b.txt"), 90);
    assert_int_equal(count_in("r.2", "a.txt"), 0);
    assert_int_equal(count_in("r.3", "c.txt"), 40);
    /* the first name is free */
    hear();
    first = open_rejects(options_for("r"));
    put(first, "c.txt", 7, "three");
    heard(&ear);
    assert_string_equal(rejects_path(first), "r");
    close_rejects(first);
    close_rejects(second);
}

/* The next free name may be somebody's own file. */
TEST(numbered_name_of_others) {
    FILE *file = fopen("r.2", "w");
    LAB_MUST(file && fputs("my notes\n", file) >= 0 && fclose(file) == 0);
    hear();
    rejects_t *first = open_rejects(options_for("r")), *second = open_rejects(options_for("r"));
    put(first, "a.txt", 1, "one");
    put(second, "a.txt", 2, "two");
    heard(&ear);
    assert_string_equal(rejects_path(second), "r.3");
    close_rejects(first);
    close_rejects(second);
    assert_string_equal(whole_file_of("r.2"), "my notes\n");
}

/* The same place with other bytes is another entry; an edited one is still the one that its head says. */
TEST(same_place) {
    static const struct {
        const char *edited; /* what a person makes of the record "march|bad|x" */
        const char *rejected;
        size_t entries; /* afterwards */
    } cases[] = {
        {"march|bad|x", "march|bad|x", 1}, {"march|bad|x", "april|BAD|x", 2},
        {"march|bad", "march|bad|x", 1},   {"march|bad|x|1", "march|bad|x", 1},
        {"april|BAD|x", "april|BAD|x", 2}, {"", "march|bad|x", 1},
        {"march|bad", "march|bad", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unlink("r");
        run((given_t[]){{10, "march|bad|x"}, {99, "the last one"}}, 2);
        char line[40];
        snprintf(line, sizeof line, "\n%s%s", cases[i].edited, *cases[i].edited ? "\n" : "");
        fix("\nmarch|bad|x\n", line);
        char *text = strdup(whole_file());
        run((given_t[]){{10, cases[i].rejected}, {99, "the last one"}}, 2);
        expect_appended(text, strlen(text));
        if (count_in("r", "a.txt") != cases[i].entries + 1)
            fail_msg("case %zu:\n%s", i, whole_file());
        free(text);
    }
}

/* A number, and a share of what this load and others have looked at. */
TEST(limits) {
    static const struct {
        uint64_t most;
        double most_percent;
        uint64_t looked_at, others_looked_at, others_rejected, added, taken;
        bool fine; /* in the end */
    } rows[] = {
        {3, -1, 50, 0, 0, 3, 3, true},
        {3, -1, 50, 0, 0, 9, 3, false},
        {0, -1, 50, 0, 0, 0, 0, true},
        {0, -1, 50, 0, 0, 1, 0, false},
        {0, 1, 20000, 0, 0, 200, 200, true},
        {0, 1, 20000, 0, 0, 201, 200, false},
        {0, 10, 100, 0, 0, 10, 10, true},
        {0, 10, 100, 0, 0, 11, 11, false}, /* a share of few records is looked at in the end */
        {0, 10, 20, 980, 89, 11, 11, true},
        {0, 10, 20, 980, 90, 11, 11, false},
        {0, 10, 100, 100, 30, 0, 0, false}, /* as if it had not been interrupted */
        {0, 0, 100, 0, 0, 0, 0, true},
        {0, 100, 10000, 0, 0, 10001, 10001, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        err_t err = {.text = ""};
        reject_options_t options = options_for("r");
        options.write = i < 4; /* then the one too many is kept as well */
        options.most = rows[i].most;
        options.most_percent = rows[i].most_percent;
        rejects_t *rejects = open_rejects(options);
        hear();
        rejects_looked_at(rejects, rows[i].looked_at, 0);
        rejects_format_fits(rejects);
        rejects_of_others(rejects, rows[i].others_looked_at, rows[i].others_rejected);
        uint64_t taken = 0;
        while (taken < rows[i].added && add(rejects, "a.txt", taken, "x", 1, "no good", &err))
            taken++;
        if (taken != rows[i].taken || rejects_check(rejects, &err) != rows[i].fine)
            fail_msg("row %zu: %d are taken: %s", i, (int)taken, err.text);
        assert_true(rows[i].fine || err.status == STATUS_TOO_MANY_REJECTED);
        assert_int_equal(rejects_count(rejects), taken + (taken < rows[i].added));
        assert_true((rejects_path(rejects) != NULL) == (options.write && rows[i].added > 0));
        rejects_free(rejects, false);
        heard(&ear);
        unlink("r");
    }
}

/* What was looked at first does not say all: what is still to come counts as it was before. */
TEST(share_of_what_is_to_come) {
    err_t err = {.text = ""};
    reject_options_t options = options_for("r");
    options.write = false;
    options.most_percent = 10;
    options.to_come = UINT64_MAX;
    hear();
    for (int is_known = 0; is_known < 3; is_known++) {
        uint64_t added = 0;
        rejects_t *rejects = open_rejects(options);
        rejects_looked_at(rejects, is_known == 2 ? 200 : 20000, 1 << 20); /* 2: too few to say anything */
        rejects_format_fits(rejects);
        if (is_known)
            rejects_to_come(rejects, 4 << 20);
        while (added < 15000 && add(rejects, "a.txt", added, "x", 1, "no good", &err))
            added++;
        assert_int_equal(added, is_known == 1 ? 10000 : 15000);
        rejects_free(rejects, false);
    }
    heard(&ear);
}

/* A record of which only the first bytes are there says so. */
TEST(kept_in_part) {
    err_t err = {.text = ""};
    input_file_t input = {.name = "a.txt"};
    active_piece_t piece = {.input = &input, .dialect = &dialect};
    rejects_t *rejects = open_rejects(options_for("r"));
    reject_t reject = {.piece = &piece,
                       .offset = 5,
                       .line = 1,
                       .field = "model",
                       .reason = "it is too long",
                       .bytes = (const uint8_t *)"the first",
                       .length = 20000000,
                       .kept = 9};
    hear();
    assert_true(rejects_add(rejects, &reject, &err));
    heard(&ear);
    close_rejects(rejects);
    assert_non_null(strstr(whole_file(), "length=20000000 kept=9 hash="));
    assert_non_null(strstr(whole_file(), "first bytes"));
    kept_all_t all = read_back(schema);
    assert_int_equal(all.count, 1);
    assert_int_equal(all.entries[0].length, 9);
    drop(&all);
}

/* A person at the file while a load writes it: what follows would be in no file that has a name. */
TEST(taken_away) {
    enum { REMOVED, REPLACED, CUT_OFF, WAYS };
    for (int way = 0; way < WAYS; way++) {
        err_t err = {.text = ""};
        rejects_t *rejects = open_rejects(options_for("r"));
        hear();
        assert_true(add(rejects, "a.txt", 0, "x", 1, "no good", &err) && rejects_flush(rejects, &err));
        if (way == REPLACED)
            LAB_MUST(rename("r", "r.2") == 0 && close(open("r", O_WRONLY | O_CREAT, 0666)) == 0);
        else
            LAB_MUST(way == REMOVED ? unlink("r") == 0 : truncate("r", 20) == 0);
        put(rejects, "a.txt", 10, "y");
        if (way == CUT_OFF)
            LAB_MUST(truncate("r", 20) == 0);
        for (int i = 0; i < 2; i++) {
            assert_false(rejects_flush(rejects, &err));
            assert_int_equal(err.status, STATUS_HOST);
            assert_non_null(strstr(err.text, "the reject file r was removed"));
        }
        heard(&ear);
        rejects_free(rejects, false);
        unlink("r");
        unlink("r.2");
    }
}

TEST(no_file) {
    err_t err = {.text = ""};
    LAB_MUST(mkfifo("r", 0666) == 0);
    assert_false(rejects_may_use("r", &err));
    assert_int_equal(err.status, STATUS_USAGE);
    assert_non_null(strstr(err.text, "is a pipe"));
    assert_false(rejects_may_use("/dev/null", &err));
    assert_int_equal(err.status, STATUS_USAGE);
    assert_non_null(strstr(err.text, "is a device"));
    assert_false(rejects_may_use("/", &err));
    assert_non_null(strstr(err.text, "is a folder"));
}

typedef struct {
    rejects_t *rejects;
    char name[20];
    bool ok;
} adder_t;

static void *add_many(void *context) {
    adder_t *adder = context;
    err_t err;
    adder->ok = true;
    for (uint64_t i = 0; i < 200; i++) {
        char record[100];
        int length = snprintf(record, sizeof record, "%s record %llu, and so on and so on", adder->name,
                              (unsigned long long)i);
        rejects_looked_at(adder->rejects, 1, 0);
        rejects_format_fits(adder->rejects);
        adder->ok &= add(adder->rejects, adder->name, i * 10, record, (size_t)length, "no good", &err);
    }
    return NULL;
}

TEST(threads) {
    pthread_t threads[4];
    adder_t adders[4];
    rejects_t *rejects = open_rejects(options_for("r"));
    hear();
    for (int i = 0; i < 4; i++) {
        adders[i].rejects = rejects;
        snprintf(adders[i].name, sizeof adders[i].name, "file %d", i);
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, &adders[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    heard(&ear);
    assert_int_equal(rejects_count(rejects), 800);
    close_rejects(rejects);
    kept_all_t all = read_back(schema);
    assert_int_equal(all.count, 800);
    uint64_t next[4] = {0};
    for (size_t i = 0; i < all.count; i++) {
        const kept_t *entry = &all.entries[i];
        char record[100];
        int file = entry->path[5] - '0';
        assert_uint_in_range(file, 0, 3);
        int length = snprintf(record, sizeof record, "file %d record %llu, and so on and so on", file,
                              (unsigned long long)next[file]);
        expect_entry(entry, adders[file].name, 10 * next[file]++, record, (size_t)length);
    }
    for (int i = 0; i < 4; i++)
        assert_true(adders[i].ok && next[i] == 200);
    drop(&all);
}

/* ---- fixing ---- */

static void make_two(void) {
    run((given_t[]){{10, "one"}, {20, "two"}}, 2);
}

TEST(fixing) {
    static const struct {
        const char *from, *to;
        given_t entries[2];
    } rows[] = {
        {"\none\n", "\n1|2|A|7|\n", {{10, "1|2|A|7|"}, {20, "two"}}},
        {"\n1|2|A|7|\n", "\n", {{10, ""}, {20, "two"}}}, /* left out: its line was deleted */
        {"\ntwo\n", "\ntwo", {{10, ""}, {20, "two"}}},   /* an editor that writes no last line end */
        {"\ntwo", "\n2|3|F|1|D\r\n", {{10, ""}, {20, "2|3|F|1|D"}}}, /* and one that writes CRLF */
    };
    make_two();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fix(rows[i].from, rows[i].to);
        expect(rows[i].entries, 2);
    }
}

/* The whole file with CRLF. */
TEST(fixed_on_another_system) {
    make_two();
    char *text = strdup(whole_file());
    grown_t crlf = {0};
    for (const char *at = text; *at; at++) {
        if (*at == '\n')
            grown_text(&crlf, "\r");
        grown_add(&crlf, at, 1);
    }
    write_file((const char *)crlf.at, crlf.size);
    expect((given_t[]){{10, "one"}, {20, "two"}}, 2);
    grown_free(&crlf);
    free(text);
}

static void expect_refusal(status_t status, const char *says) {
    kept_all_t all = {0};
    err_t err = {.text = ""};
    if (read_file(schema, &all, &err))
        fail_msg("this was taken:\n%s", whole_file());
    assert_int_equal(err.status, status);
    if (!strstr(err.text, says))
        fail_msg("%s does not say %s", err.text, says);
    drop(&all);
}

TEST(damaged) {
    static const char *const damages[][2] = {
        {" offset=10 ", " offset=ten "},        {" offset=10 ", " "},         {" line=2 ", " line=x "},
        {"delimiter=7c", "delimiter=x"},        {"columns=0,", "columns=O,"}, {" file=a.txt ", " "},
        {" delimiter=7c columns=", " columns="}};
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        unlink("r");
        make_two();
        size_t line = 1;
        for (const char *at = whole_file(); !(at[0] == '#' && at[1] == '@'); at = strchr(at, '\n') + 1)
            line++;
        char place[20];
        snprintf(place, sizeof place, "r:%zu: ", line);
        fix(damages[i][0], damages[i][1]);
        expect_refusal(STATUS_USAGE, place);
    }
}

static void join(const char *first, const char *second, size_t at_line) {
    grown_t both = {0};
    char says[100];
    grown_text(&both, first);
    grown_text(&both, second);
    write_file((const char *)both.at, both.size);
    snprintf(says, sizeof says, "r:%zu: a second reject file", at_line);
    expect_refusal(STATUS_USAGE, says);
    grown_free(&both);
}

/* cat A B, whatever the first one's end is like. */
TEST(joined) {
    make_two();
    char *first = strdup(whole_file());
    const size_t lines = times(first, "\n");
    size_t above = 1;
    for (const char *at = first; strncmp(at, "# marked", 8) != 0; at = strchr(at, '\n') + 1)
        above++;
    unlink("r");
    make_two();
    char *second = strdup(whole_file());
    join(first, second, lines + above);
    join(first, first, lines + above);
    first[strlen(first) - 1] = '\0'; /* no last line end */
    join(first, second, lines + above - 1);
    first[strlen(first) - strlen("two")] = '\0'; /* its last record is left out */
    join(first, second, lines + above - 1);
    *(strchr(strstr(first, "# marked"), '\n') + 1) = '\0'; /* no entries */
    join(first, second, 2 * above);
    free(first);
    free(second);
}

/* A file that was opened is noticed to have changed before its records are read again; what is added to it changes none. */
TEST(changed_since) {
    enum { APPENDED, EDITED, CUT_OFF, REPLACED, WAYS };
    for (int way = 0; way < WAYS; way++) {
        err_t err = {.text = ""};
        reject_file_t file;
        unlink("r");
        char two[1 << 14] = "two"; /* more than a page: what is cut off cannot be read at all */
        if (way == CUT_OFF)
            memset(two, '2', sizeof two - 1);
        run((given_t[]){{10, "one"}, {20, two}}, 2);
        assert_true(reject_file_open_fixed(&file, "r", &err));
        assert_int_equal(file.count, 2);
        if (way == APPENDED)
            run((given_t[]){{30, "three"}}, 1);
        else if (way == CUT_OFF)
            LAB_MUST(truncate("r", 20) == 0);
        else if (way == REPLACED)
            LAB_MUST(rename("r", "r.2") == 0 && system("cp r.2 r") == 0);
        else
            fix("\ntwo\n", "\n2|3\n"); /* as many bytes, in place */
        assert_true(reject_file_holds(&file, &file.entries[1]) == (way == APPENDED));
        assert_true(reject_file_holds(&file, &file.entries[0]) == (way <= EDITED));
        reject_file_close(&file);
    }
}

TEST(no_reject_file) {
    write_file("", 0);
    expect_refusal(STATUS_USAGE, "not a reject file");
    write_file("1|2|A|7|\n1|2|A|7|\n", 18);
    expect_refusal(STATUS_USAGE, "not a reject file");
    write_file("#@01234567 offset=1 line=1 length=1 delimiter=7c columns=testId file=a.txt -- x\nx\n", 81);
    expect_refusal(STATUS_USAGE, "not a reject file");
}

TEST_GROUP(set_up, tear_down);

TEST_EACH(each_set_up, NULL);
