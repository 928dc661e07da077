/* cutter: texts cut into stretches of whole records: every byte once, in order, each record with the window
 * that its first byte lies in. The source is one of the test's own: a text in memory that may fail at any
 * byte. */
#include "input/source.h"

#include <string.h>

struct source {
    const uint8_t *text;
    size_t size, at;
    bool fails; /* where the text ends, a fault is reported instead of the end */
    size_t reads;
};

static ssize_t read_memory(struct source *source, void *buffer, size_t size, err_t *err) {
    size_t left = source->size - source->at, take = size < left ? size : left;
    source->reads++;
    if (!take && size && source->fails) {
        err_set(err, STATUS_INPUT, "made up: broken at %zu", source->at);
        return -1;
    }
    memcpy(buffer, source->text + source->at, take);
    source->at += take;
    return (ssize_t)take;
}

static bool skip_memory(struct source *source, uint64_t offset, err_t *err) {
    (void)err;
    source->at = offset;
    return true;
}

static bool unread_memory(struct source *source, const uint8_t *text, size_t length, err_t *err) {
    (void)text, (void)err;
    source->at -= length;
    return true;
}

static const char *name_memory(const struct source *source) {
    (void)source;
    return "x";
}

static bool utf16_memory(const struct source *source) {
    (void)source;
    return false;
}

#define source_name     name_memory
#define source_read     read_memory
#define source_skip_to  skip_memory
#define source_unread   unread_memory
#define source_is_utf16 utf16_memory
#include "input/cutter.c"
#undef source_name
#undef source_read
#undef source_skip_to
#undef source_unread
#undef source_is_utf16

#include "format_lab.h"
#include "test.h"

enum { W = CUTTER_WINDOW };

typedef struct {
    uint64_t from, to; /* of whole records handed out */
    uint64_t oversize;
    bool broken, last;
} got_t;

typedef struct {
    got_t *cuts;
    size_t count;
    bool faulty;
    err_t err;
} result_t;

/* Cuts a text, and checks what holds for every cut. */
static result_t cut_up(const grown_t *text, bool fails, uint64_t max_record, size_t budget) {
    struct source source = {.text = text->at, .size = text->size, .fails = fails};
    pool_t *pool = pool_new(budget, CUTTER_BUFFER);
    result_t result = {.err = {.text = ""}};
    cutter_t *cutter = cutter_new(&source, pool, max_record, &result.err);
    LAB_MUST(pool && cutter);
    uint64_t at = 0, line = 1;
    for (;;) {
        cut_t cut;
        memset(&cut, 0xA5, sizeof cut);
        int got = cutter_next(cutter, &cut, &result.err);
        if (got <= 0) {
            result.faulty = got < 0;
            break;
        }
        assert_true(cut.offset == at);
        assert_true(cut.length || cut.oversize.length);
        assert_true(cut.first_line == line);
        assert_true(cut.next_offset == cut.offset + cut.length + cut.oversize.length);
        assert_true(cut.next_offset <= text->size);
        assert_true(cut.buffer.capacity >= cut.length + cut.oversize.kept);
        assert_memory_equal(cut.buffer.bytes, text->at + at, cut.length + cut.oversize.kept);
        assert_true(cut.oversize.kept <= cut.oversize.length);
        assert_true(!cut.oversize.length || cut.oversize.kept > 0);
        for (uint64_t i = cut.offset; i < cut.next_offset; i++)
            line += text->at[i] == '\n';
        unsigned sum = 0; /* the slack can be read */
        for (int i = 0; i < POOL_SLACK; i++)
            sum += cut.buffer.bytes[cut.length + (size_t)i] + *(cut.buffer.bytes - 1 - i);
        assert_uint_in_range(sum, 0, 2 * 255 * POOL_SLACK);
        result.cuts = realloc(result.cuts, (result.count + 1) * sizeof *result.cuts);
        LAB_MUST(result.cuts);
        result.cuts[result.count++] =
            (got_t){cut.offset, cut.offset + cut.length, cut.oversize.length, cut.broken, cut.last};
        at = cut.next_offset;
        pool_give(pool, &cut.buffer);
    }
    cut_t more;
    err_t again = {.text = ""};
    assert_int_equal(cutter_next(cutter, &more, &again), result.faulty ? -1 : 0); /* the end stays the end */
    cutter_destroy(cutter);
    pool_destroy(pool);
    return result;
}

/* Records by their line ends; each in the cut of the window of its first byte; nothing else in a cut. */
static void expect_windows(const grown_t *text, const result_t *result) {
    uint64_t at = 0, to = 0;
    for (size_t i = 0; i < result->count; i++) {
        const got_t *cut = &result->cuts[i];
        uint64_t window = cut->from / W;
        assert_true(cut->from == to);
        for (at = cut->from; at < cut->to;) {
            if (at / W != window)
                fail_msg("the record at %llu is in the cut at %llu", (unsigned long long)at,
                         (unsigned long long)cut->from);
            const uint8_t *end = memchr(text->at + at, '\n', text->size - at);
            at = end ? (uint64_t)(end - text->at) + 1 : text->size;
        }
        assert_true(at == cut->to); /* whole records */
        to = cut->to + cut->oversize;
        /* and all records of that window */
        if (!cut->broken && to < text->size && to / W == window)
            fail_msg("the record at %llu is not in the cut at %llu", (unsigned long long)to,
                     (unsigned long long)cut->from);
        assert_int_equal(cut->last, i + 1 == result->count && !result->faulty);
    }
}

static void add_record(grown_t *text, size_t length, bool end) {
    char *record = malloc(length + 1);
    LAB_MUST(record);
    memset(record, 'r', length);
    record[length] = '\n';
    grown_add(text, record, length + end);
    free(record);
}

static void expect_whole(const grown_t *text) {
    result_t result = cut_up(text, false, 16 << 20, 4 * CUTTER_BUFFER);
    assert_false(result.faulty);
    expect_windows(text, &result);
    uint64_t to = result.count ? result.cuts[result.count - 1].to : 0;
    assert_true(to == text->size);
    free(result.cuts);
}

TEST(small) {
    static const char *const texts[] = {"", "\n", "a", "a\n", "a\nb", "\n\n\n", "a\r\nb\r\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        grown_t text = {0};
        grown_text(&text, texts[i]);
        expect_whole(&text);
        result_t result = cut_up(&text, false, 1, 1);
        assert_int_equal(result.count, texts[i][0] ? 1 : 0);
        free(result.cuts);
        grown_free(&text);
    }
}

/* Record ends and text ends at and around the ends of windows and buffers. */
TEST(edges) {
    static const size_t places[] = {W, 2 * W, CUTTER_BUFFER, W + CUTTER_BUFFER, 2 * CUTTER_BUFFER, 3 * W};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        for (size_t around = 0; around < 5; around++) {
            size_t first = places[i] + around - 3; /* this record's line end is around the place */
            for (int more = 0; more < 4; more++) {
                grown_t text = {0};
                add_record(&text, 10, true);
                add_record(&text, first - 11, more > 0);
                if (more > 1)
                    add_record(&text, 5, more > 2);
                expect_whole(&text);
                grown_free(&text);
            }
        }
    }
}

static void random_records(uint64_t *seed, size_t least, grown_t *text) {
    uint64_t kind = lab_chance(seed, 4);
    while (text->size < least) {
        size_t length = lab_chance(seed, kind ? 200 : 3000);
        if (lab_chance(seed, 2000) == 0)
            length = lab_chance(seed, kind == 2 ? 900000 : 100000);
        if (lab_chance(seed, 50) == 0)
            length = 0;
        add_record(text, length, true);
    }
    if (lab_chance(seed, 2))
        add_record(text, lab_chance(seed, 300), false);
}

TEST(random) {
    uint64_t seed = 13;
    for (int round = 0; round < 60 / TEST_SHARE; round++) {
        grown_t text = {0};
        random_records(&seed, lab_chance(&seed, 2000000), &text);
        expect_whole(&text);
        grown_free(&text);
    }
}

/* A record that is longer than any may be is skipped, reported with its first bytes, and costs no memory of its
 * size. */
TEST(oversize) {
    static const size_t limits[] = {1, 300000, 1 << 20};
    static const size_t fronts[] = {0, 11, W - 1, W, W + 100, 2 * W - 5};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        size_t longest = limits[i] > CUTTER_BUFFER ? limits[i] : CUTTER_BUFFER;
        for (size_t j = 0; j < sizeof fronts / sizeof *fronts; j++) {
            for (int kind = 0; kind < 6; kind++) {
                if ((i + j + (size_t)kind) % TEST_SHARE)
                    continue;
                static const size_t overs[] = {1, 2, 700000};
                size_t over = overs[kind % 3];
                bool end = kind < 3;
                grown_t text = {0};
                for (size_t at = 0; at + 100 < fronts[j]; at += 100)
                    add_record(&text, 99, true);
                if (fronts[j])
                    add_record(&text, fronts[j] - text.size - 1, true);
                add_record(&text, longest + over, end);
                if (end) {
                    add_record(&text, 7, true);
                    add_record(&text, W, true);
                    add_record(&text, 9, false);
                }
                result_t result = cut_up(&text, false, limits[i], 2 * longest);
                assert_false(result.faulty);
                expect_windows(&text, &result);
                uint64_t skipped = 0, handed = 0;
                for (size_t k = 0; k < result.count; k++) {
                    skipped += result.cuts[k].oversize;
                    handed += result.cuts[k].to - result.cuts[k].from;
                    if (result.cuts[k].oversize)
                        assert_true(result.cuts[k].to == fronts[j]);
                }
                if (skipped != longest + over + end)
                    fail_msg("%llu bytes are skipped of a record of %zu after %zu others, the limit is %zu",
                             (unsigned long long)skipped, longest + over, fronts[j], limits[i]);
                assert_true(handed + skipped == text.size);
                free(result.cuts);
                grown_free(&text);
            }
        }
    }
}

/* A record of just the limit is none of those. */
TEST(just_not_oversize) {
    static const size_t limits[] = {CUTTER_BUFFER, 300000, 1 << 20};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        for (size_t front = 0; front < 3; front++) {
            for (int end = 0; end < 2; end++) {
                grown_t text = {0};
                if (front)
                    add_record(&text, front * 100000, true);
                add_record(&text, limits[i], end);
                result_t result = cut_up(&text, false, limits[i], 4 << 20);
                for (size_t k = 0; k < result.count; k++)
                    assert_true(result.cuts[k].oversize == 0);
                expect_windows(&text, &result);
                free(result.cuts);
                grown_free(&text);
            }
        }
    }
}

/* A fault: everything whole before it is cut, then it is reported, and every time again; a cut that may lack
 * records of its window says so. */
TEST(faults) {
    uint64_t seed = 14;
    for (int round = 0; round < 80; round++) {
        grown_t text = {0};
        random_records(&seed, lab_chance(&seed, round % 2 ? 1000 : 1200000), &text);
        size_t good = lab_chance(&seed, text.size + 1);
        if (round % 5 == 0) /* just after a line end, or at the end of a window */
            for (good = lab_chance(&seed, 3) ? good
                        : W < text.size      ? W
                                             : good;
                 good && text.at[good - 1] != '\n';)
                good--;
        grown_t cut = {0};
        grown_add(&cut, text.at, good);
        result_t result = cut_up(&cut, true, 16 << 20, 4 * CUTTER_BUFFER);
        assert_true(result.faulty);
        assert_int_equal(result.err.status, STATUS_INPUT);
        assert_non_null(strstr(result.err.text, "made up: broken at"));
        expect_windows(&cut, &result);
        while (good && text.at[good - 1] != '\n') /* what a fault cut off is no record */
            good--;
        uint64_t to = 0;
        for (size_t i = 0; i < result.count; i++) {
            const got_t *one = &result.cuts[i];
            to = one->to;
            /* whole records reach to the end of the window, or the cut is called broken */
            if (!one->broken && one->to < (one->from / W + 1) * W)
                fail_msg("the cut at %llu lacks records and does not say so", (unsigned long long)one->from);
        }
        if (to != good)
            fail_msg("records up to %zu were good, up to %llu were handed out", good, (unsigned long long)to);
        free(result.cuts);
        grown_free(&cut);
        grown_free(&text);
    }
}

/* A cutter holds no buffer while it waits for one: one buffer is enough for two cutters in turn. */
TEST(two_share_one_buffer) {
    grown_t text = {0};
    uint64_t seed = 15, sizes[2] = {0, 0};
    random_records(&seed, 1500000, &text);
    struct source sources[2] = {{.text = text.at, .size = text.size}, {.text = text.at, .size = text.size}};
    err_t err;
    pool_t *pool = pool_new(1, CUTTER_BUFFER);
    cutter_t *cutters[2] = {cutter_new(&sources[0], pool, 1 << 20, &err),
                            cutter_new(&sources[1], pool, 1 << 20, &err)};
    for (int open = 3; open;) {
        for (int i = 0; i < 2; i++) {
            cut_t cut;
            if (!(open & 1 << i))
                continue;
            if (cutter_next(cutters[i], &cut, &err) <= 0) {
                open &= ~(1 << i);
                cutter_destroy(cutters[i]);
                continue;
            }
            sizes[i] += cut.length;
            pool_give(pool, &cut.buffer);
        }
    }
    assert_true(sizes[0] == text.size && sizes[1] == text.size);
    pool_destroy(pool);
    grown_free(&text);
}

/* ---- quoted fields with line ends ---- */

typedef struct {
    schema_t *schema;
    dialect_t dialect;
    grown_t text;
    uint64_t *ends, count; /* where records end, as the text was put together */
} quoted_t;

static quoted_t quoted_new(void) {
    quoted_t quoted = {
        .schema = lab_schema("format: x\nrecord: {delimiter: \",\"}\nfields: [{name: a}, {name: b}]\n")};
    err_t err;
    LAB_MUST(dialect_sniff(quoted.schema, (const uint8_t *)"a,b\n", 4, "x", &quoted.dialect, &err));
    return quoted;
}

static void quoted_free(quoted_t *quoted) {
    grown_free(&quoted->text);
    free(quoted->ends);
    schema_destroy(quoted->schema);
}

/* One more record, of about that many bytes and lines of that many. */
static void quoted_add(quoted_t *quoted, size_t length, size_t line) {
    grown_text(&quoted->text, "7,\"");
    for (size_t i = 0; i < length; i++)
        grown_add(&quoted->text, i % line ? "t" : "\n", 1);
    grown_text(&quoted->text, "\"\n");
    quoted->ends = realloc(quoted->ends, (quoted->count + 1) * sizeof *quoted->ends);
    LAB_MUST(quoted->ends);
    quoted->ends[quoted->count++] = quoted->text.size;
}

/* The first record's end at or after this byte. */
static uint64_t quoted_end(const quoted_t *quoted, uint64_t at) {
    uint64_t i = 0;
    while (quoted->ends[i] < at && i + 1 < quoted->count)
        i++;
    return quoted->ends[i];
}

static cutter_t *quoted_cutter(const quoted_t *quoted, struct source *source, pool_t *pool) {
    err_t err;
    *source = (struct source){.text = quoted->text.at, .size = quoted->text.size};
    cutter_t *cutter = cutter_new(source, pool, 1, &err);
    LAB_MUST(cutter);
    cutter_read_as(cutter, quoted->schema, &quoted->dialect);
    return cutter;
}

TEST(quoted_windows) {
    quoted_t quoted = quoted_new();
    uint64_t seed = 5;
    while (quoted.text.size < 12 * W)
        quoted_add(&quoted, lab_chance(&seed, 40) ? lab_chance(&seed, 3000) : lab_chance(&seed, 3 * W),
                   1 + lab_chance(&seed, 90));
    for (uint64_t from = 0; from < 10; from += 3) {
        struct source source;
        cut_t cut;
        err_t err;
        pool_t *pool = pool_new(4 * CUTTER_BUFFER, CUTTER_BUFFER);
        cutter_t *cutter = quoted_cutter(&quoted, &source, pool);
        const uint64_t middle = quoted_end(&quoted, from * W / 2 + 1);
        uint64_t at = from ? middle : 0, lines = 1;
        assert_true(cutter_start_at(cutter, at, 0, &err)); /* a record begins there */
        assert_true(cutter_seek(cutter, from, UINT64_MAX, &err));
        at = from ? quoted_end(&quoted, from * W) : 0;
        assert_true(cutter_offset(cutter) == at);
        for (uint64_t i = from ? middle : 0; i < at; i++)
            lines += quoted.text.at[i] == '\n';
        bool last = false;
        while (cutter_next(cutter, &cut, &err) > 0) {
            assert_true(cut.offset == at && cut.first_line == lines && !last);
            at = quoted_end(&quoted, (at / W + 1) * W);
            assert_true(cut.next_offset == at && !cut.oversize.length);
            assert_memory_equal(cut.buffer.bytes, quoted.text.at + cut.offset, cut.length);
            for (uint64_t i = cut.offset; i < at; i++)
                lines += quoted.text.at[i] == '\n';
            last = cut.last;
            pool_give(pool, &cut.buffer);
        }
        assert_true(at == quoted.text.size && last);
        cutter_destroy(cutter);
        pool_destroy(pool);
    }
    quoted_free(&quoted);
}

/* A file that ends within quotes is cut into windows as any other, and is reported from the open quote on: its lines may be one
 * record one day. */
TEST(quoted_open) {
    quoted_t quoted = quoted_new();
    while (quoted.text.size < 2 * W)
        quoted_add(&quoted, 1000, 60);
    const uint64_t open = quoted.text.size;
    grown_text(&quoted.text, "8,\"never closed\n");
    for (int i = 0; i < 100000; i++)
        grown_text(&quoted.text, "9,a line\n");
    grown_text(&quoted.text, "9,the last");
    struct source source;
    cut_t cut = {.length = 0};
    err_t err;
    pool_t *pool = pool_new(4 * CUTTER_BUFFER, CUTTER_BUFFER);
    cutter_t *cutter = quoted_cutter(&quoted, &source, pool);
    uint64_t at = 0, count = 0;
    while (cutter_next(cutter, &cut, &err) > 0) {
        assert_true(cut.offset == at);
        at = cut.next_offset;
        count++;
        assert_true(cut.last == (at == quoted.text.size));
        assert_true(cut.open == (at > open));
        assert_true(cut.last || (at / W > cut.offset / W && at % W < 1100));
        assert_memory_equal(cut.buffer.bytes, quoted.text.at + cut.offset, cut.length);
        pool_give(pool, &cut.buffer);
    }
    assert_true(at == quoted.text.size);
    assert_int_equal(count, (quoted.text.size + W - 1) / W);
    cutter_destroy(cutter);
    pool_destroy(pool);
    quoted_free(&quoted);
}

/* What is cut at and after the place where the first window ends. */
static void expect_cuts(const quoted_t *quoted, size_t count, const got_t *wanted) {
    struct source source;
    cut_t cut = {.length = 0};
    err_t err;
    pool_t *pool = pool_new(4 * CUTTER_BUFFER, CUTTER_BUFFER);
    cutter_t *cutter = quoted_cutter(quoted, &source, pool);
    uint64_t line = 1, at = 0;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(cutter_next(cutter, &cut, &err), 1);
        assert_int_equal(cut.offset, wanted[i].from);
        assert_int_equal(cut.offset + cut.length, wanted[i].to);
        assert_int_equal(cut.oversize.length, wanted[i].oversize);
        for (; at < cut.offset; at++)
            line += quoted->text.at[at] == '\n';
        assert_int_equal(cut.first_line, line);
        pool_give(pool, &cut.buffer);
    }
    assert_int_equal(cut.next_offset, quoted->text.size);
    assert_int_equal(cutter_next(cutter, &cut, &err), 0);
    cutter_destroy(cutter);
    pool_destroy(pool);
}

/* A quoted name after a byte-order mark is in quotes, too: here up to a quote that would be taken for a closing one, where
 * the first window ends. */
TEST(quoted_mark) {
    quoted_t quoted = quoted_new();
    grown_text(&quoted.text, "\xEF\xBB\xBF\"a\n\",b\n");
    while (quoted.text.size < W - 3)
        grown_text(&quoted.text, quoted.text.size % 2 ? "t\n" : "\n");
    grown_text(&quoted.text, "7,\"\nafter\",8\n");
    const uint64_t end = quoted.text.size;
    grown_text(&quoted.text, "9,10\n");
    const got_t wanted[] = {{.from = 0, .to = end}, {.from = end, .to = quoted.text.size}};
    expect_cuts(&quoted, 2, wanted);
    quoted_free(&quoted);
}

/* A quote that nothing closes does not take the records after it along, whatever follows them. */
TEST(quoted_never_and_oversize) {
    quoted_t quoted = quoted_new();
    grown_text(&quoted.text, "8,\"never closed\n9,a line\n");
    const uint64_t start = quoted.text.size, large = (17 << 20) + 1;
    add_record(&quoted.text, large - 1, true);
    const uint64_t after = quoted.text.size;
    grown_text(&quoted.text, "9,\"a\nb\"\n");
    const got_t wanted[] = {{.from = 0, .to = start, .oversize = large}, {.from = after, .to = after + 8}};
    expect_cuts(&quoted, 2, wanted);
    quoted_free(&quoted);
}

/* What was looked at, or read after a cut, is of the place where it was read: a seek forgets it. */
TEST(seek_after_look) {
    grown_t text = {0};
    uint64_t seed = 3;
    schema_t *schema = lab_schema("format: x\nrecord: {delimiter: \",\"}\nfields: [{name: a}]\n");
    random_records(&seed, 9 * W, &text);
    for (int cuts = 0; cuts < 3; cuts++)
        for (int by_offset = 0; by_offset < 2; by_offset++) {
            struct source source = {.text = text.at, .size = text.size};
            err_t err;
            cut_t cut;
            dialect_head_t head;
            pool_t *pool = pool_new(4 * CUTTER_BUFFER, CUTTER_BUFFER);
            cutter_t *cutter = cutter_new(&source, pool, 1 << 20, &err);
            if (!cuts)
                assert_true(cutter_look(cutter, schema, &head, &err));
            for (int i = 0; i < cuts; i++) {
                assert_int_equal(cutter_next(cutter, &cut, &err), 1);
                pool_give(pool, &cut.buffer);
            }
            const uint8_t *end = memchr(text.at + 6 * W - 1, '\n', text.size - 6 * W);
            uint64_t at = (uint64_t)(end - text.at) + 1;
            assert_true(by_offset ? cutter_start_at(cutter, at, 0, &err)
                                  : cutter_seek(cutter, 6, UINT64_MAX, &err));
            while (cutter_next(cutter, &cut, &err) > 0) {
                assert_true(cut.offset == at);
                assert_memory_equal(cut.buffer.bytes, text.at + at, cut.length);
                at = cut.next_offset;
                pool_give(pool, &cut.buffer);
            }
            assert_true(at == text.size);
            cutter_destroy(cutter);
            pool_destroy(pool);
        }
    schema_destroy(schema);
    grown_free(&text);
}

/* ---- JSON ---- */

typedef struct {
    struct source source;
    schema_t *schema;
    dialect_t dialect;
    pool_t *pool;
    cutter_t *cutter;
} json_lab_t;

static void json_open(json_lab_t *lab, const grown_t *text, size_t buffers) {
    err_t err;
    lab->schema = lab_schema("format: x\nrecord: {json: yes}\n");
    lab->source = (struct source){.text = text->at, .size = text->size};
    lab->pool = pool_new(buffers * CUTTER_BUFFER, CUTTER_BUFFER);
    lab->cutter = cutter_new(&lab->source, lab->pool, 1, &err);
    LAB_MUST(lab->pool && lab->cutter);
    LAB_MUST(cutter_begin(lab->cutter, lab->schema, "x", &lab->dialect, &err));
}

static void json_close(json_lab_t *lab) {
    cutter_destroy(lab->cutter);
    schema_destroy(lab->schema);
    pool_destroy(lab->pool);
}

/* An object of about that many bytes, over several lines, with what looks like the end of one in its texts. */
static void add_object(grown_t *text, size_t length, bool pretty) {
    grown_text(text, pretty ? "{\n  \"a\": [\n    {\n" : "{\"a\": [{");
    for (size_t i = 0; i < length / 16; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s\"k%zu\": \"}]\\\"\"%s", i ? "," : "", i, pretty ? "\n" : "");
        grown_text(text, name);
    }
    grown_text(text, pretty ? "    }\n  ]\n}" : "}]}");
}

/* Every object goes whole into the window in which it begins, in one array (also on one line) and one after the other. */
TEST(json_windows) {
    for (int way = 0; way < 6; way++) {
        const bool array = way & 1, pretty = way == 2 || way == 3, one_line = way == 5;
        grown_t text = {0};
        uint64_t ends[3000];
        size_t count = 0;
        uint64_t seed = 404 + (uint64_t)way;
        grown_text(&text, array ? "[" : "");
        while (text.size < 5 * W) {
            if (count)
                grown_text(&text, one_line ? "," : array ? ",\n" : pretty ? "\n" : way ? "" : "\n");
            if (count)
                ends[count - 1] = text.size;
            add_object(&text, lab_chance(&seed, 40) ? 20 + lab_chance(&seed, 3000) : W + 50000, pretty);
            ends[count++] = text.size;
        }
        grown_text(&text, array ? "]\n" : "\n");
        ends[count - 1] = text.size;
        json_lab_t lab;
        cut_t cut = {.length = 0};
        err_t err;
        json_open(&lab, &text, 16);
        uint64_t at = 0, line = 1, line_at = 0;
        size_t next = 0;
        assert_true(lab.dialect.array == array);
        while (cutter_next(lab.cutter, &cut, &err) > 0) {
            assert_true(cut.offset == at && !cut.oversize.length && !cut.broken);
            assert_memory_equal(cut.buffer.bytes, text.at + cut.offset, cut.length);
            assert_int_equal(cut.first_line, line);
            assert_int_equal(cut.in_line, at - line_at);
            while (ends[next] < (at / W + 1) * W && next + 1 < count)
                next++;
            assert_int_equal(cut.next_offset, ends[next]);
            for (; at < cut.next_offset; at++) {
                line += text.at[at] == '\n';
                line_at = text.at[at] == '\n' ? at + 1 : line_at;
            }
            pool_give(lab.pool, &cut.buffer);
        }
        assert_true(at == text.size && cut.length == 0);
        json_close(&lab);
        grown_free(&text);
    }
}

/* An object that is longer than allowed is passed over, and nothing within it is taken for another one. */
static void json_oversize(bool pretty, size_t broken_at) {
    grown_t text = {0};
    grown_text(&text, "{\"a\": 1}\n");
    const uint64_t begin = text.size;
    add_object(&text, 40 << 20, pretty);
    if (broken_at) /* a line end within quotes */
        *(uint8_t *)memmem(text.at + begin + broken_at, 64, "}]", 2) = '\n';
    grown_text(&text, "\n");
    const uint64_t end = text.size;
    grown_text(&text, "{\"a\": 2}\n");
    json_lab_t lab;
    cut_t cut = {.length = 0};
    err_t err;
    json_open(&lab, &text, 200);
    assert_int_equal(cutter_next(lab.cutter, &cut, &err), 1);
    assert_int_equal(cut.length, begin);
    assert_int_equal(cut.oversize.length, end - begin);
    pool_give(lab.pool, &cut.buffer);
    assert_int_equal(cutter_next(lab.cutter, &cut, &err), 1);
    assert_true(cut.offset == end && cut.length == text.size - end && cut.last);
    uint64_t lines = 1;
    for (uint64_t i = 0; i < end; i++)
        lines += text.at[i] == '\n';
    assert_int_equal(cut.first_line, lines);
    pool_give(lab.pool, &cut.buffer);
    assert_int_equal(cutter_next(lab.cutter, &cut, &err), 0);
    json_close(&lab);
    grown_free(&text);
}

TEST(json_oversize) {
    json_oversize(false, 0);
    json_oversize(true, 0);
    json_oversize(true, 100);      /* it is broken, which is seen at once, */
    json_oversize(true, 30 << 20); /* or after more of it than is held */
}

/* An array that is not closed was cut off: in one line, which is longer than what is looked at first, or has as many blanks at its end or before it. */
TEST(json_one_line) {
    for (int way = 0; way < 14; way++) {
        const bool closed = way & 1, blanks = way >= 2 && way < 4, late = way >= 6;
        grown_t text = {0};
        if (late) /* with a mark, or lines */
            grown_text(&text, way < 8 ? "\xEF\xBB\xBF" : way < 10 ? "\x1E" : "");
        for (size_t i = 0; late && i < CUTTER_BUFFER / 8 + 9; i++)
            grown_text(&text, way < 12 ? "\n        " : "         ");
        grown_text(&text, "[{\"a\":1}");
        for (size_t i = 0; i < CUTTER_BUFFER / 8 + 9; i++)
            grown_text(&text, blanks ? "         " : ",{\"b\":22}");
        grown_text(&text, closed ? "]" : way == 4 ? ",{\"b\":" : "");
        json_lab_t lab;
        cut_t cut = {.length = 0};
        err_t err;
        json_open(&lab, &text, 8);
        assert_true(lab.dialect.array != late);
        int got;
        while ((got = cutter_next(lab.cutter, &cut, &err)) > 0) {
            assert_true(cut.last != cut.broken || !cut.last);
            pool_give(lab.pool, &cut.buffer);
        }
        assert_int_equal(got, closed ? 0 : -1);
        json_close(&lab);
        grown_free(&text);
    }
}

/* Where an array is broken, or holds what is no object, its ] counts all the same; and where it is cut off, an object that
 * has ended is read. */
TEST(json_ends) {
    static const struct {
        const char *text;
        size_t end;
        bool cut_off;
    } rows[] = {
        {"[{\"a\":1},{\"a\":\"x},{\"a\":2}]\n", 27, false},
        {"[{\"a\":1},{\"a\":\"x},{\"a\":2}\n", 9, true},
        {"[{\"a\":1},{\"a\":[1}]", 18, false},
        {"[[1,2],[3,4]]\n", 14, false},
        {"[[1,2],[3,4]]", 13, false},
        {"[[1,2],[3,4]\n", 13, true},
        {"[[1,2],[3,4]", 0, true},
        {"[1,\"x},2] \n", 11, false},
        {"[1,\"x},2] ", 10, false},
        {"[{},[{}]]", 9, false},
        {"[{},[{}]", 3, true},
        {"[{},[{}]\n", 9, true},
        {"[{},\n[{}],\n{}", 13, true},
        {"[{\"a\":1},{\"a\":2}", 16, true},
        {"[{\"a\":1},{\"a\":2},\n", 18, true},
        {"[{\"a\":1},{\"a\":2", 9, true},
        {"[\n", 0, true},
        {"[{}]\n[{}]", 9, false},
        {"[{}]\n[{}", 8, true},
        {"[{}]\n[{},\n{}\n", 13, true},
        {"[{}]\n{}", 7, false},
        {"[{}]\n[", 5, true},
        {"{}\n[{},{}]\n", 11, false}, /* an array that begins after objects */
        {"{}\n[{},{}]", 10, false},
        {"{}\n[{},{}", 9, true},
        {"{}\n[{},{\"a", 7, true},
        {"{}\n[{},\n{}\n", 11, true},
        {"{} [{}", 6, true},
        {"{}\n[", 3, true},
        {"{}\n[{}]\n[{}\n", 12, true},
        {"{}\n[{}]\n{}", 10, false},
        {"{}\n[{},\n{}\n{}\n", 14,
         false}, /* objects in lines of their own: whatever was open before is none */
        {"{}\n[{},\n{}\n{\n\n\n\n\n\n\n\n\n\n}\n", 24, false},
        {"{}\n[{},\n{}\n,{}\n", 15, true},
        {"[{},\n{}\n{}\n", 11, true},
        {"{}\n[oops\n{}\n", 12, false}, /* a line that is no array */
        {"{}\n[1,2]\n{}\n", 12, false},
        {"\xEF\xBB\xBF[{}", 6, true},
        {"\xEF\xBB\xBF[[{}]]", 9, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        grown_t text = {0};
        grown_text(&text, rows[i].text);
        json_lab_t lab;
        cut_t cut = {.length = 0};
        err_t err;
        json_open(&lab, &text, 4);
        int got;
        uint64_t at = 0;
        while ((got = cutter_next(lab.cutter, &cut, &err)) > 0) {
            at = cut.next_offset;
            assert_true(cut.last != cut.broken && cut.broken == rows[i].cut_off);
            pool_give(lab.pool, &cut.buffer);
        }
        if (at != rows[i].end || (got < 0) != rows[i].cut_off)
            fail_msg("%s: read up to %zu, %d", rows[i].text, (size_t)at, got);
        json_close(&lab);
        grown_free(&text);
    }
}

/* ---- BSON ---- */

static void add_document(grown_t *text, size_t length) {
    bson_t document = BSON_INITIALIZER;
    char *words = malloc(length + 1);
    LAB_MUST(words);
    memset(words, '\n', length);
    bson_append_utf8(&document, "k", 1, words, (int)length);
    grown_add(text, bson_get_data(&document), document.len);
    bson_destroy(&document);
    free(words);
}

/* How much of a text is cut up to its end or its fault. */
static uint64_t cut_bson(const grown_t *text, bool fails, bool *last, err_t *err) {
    struct source source = {.text = text->at, .size = text->size, .fails = fails};
    schema_t *schema = lab_schema("format: x\nrecord: {bson: yes}\n");
    pool_t *pool = pool_new(64 * CUTTER_BUFFER, CUTTER_BUFFER);
    cutter_t *cutter = cutter_new(&source, pool, 1, err);
    dialect_t dialect;
    cut_t cut;
    uint64_t at = 0;
    int got;
    LAB_MUST(cutter && cutter_begin(cutter, schema, "x", &dialect, err));
    *last = false;
    while ((got = cutter_next(cutter, &cut, err)) > 0) {
        assert_true(cut.offset == at && !cut.oversize.length && cut.length);
        assert_memory_equal(cut.buffer.bytes, text->at + at, cut.length);
        assert_int_equal(cut.first_line, 1 + bson_span_count(&(bson_span_counter_t){0}, text->at, at));
        /* all documents that begin in its window, and no others */
        for (uint64_t document = at; document < cut.next_offset;) {
            assert_true(document / W == at / W);
            document += bson_length(text->at + document);
            assert_true(document <= cut.next_offset);
        }
        at = cut.next_offset;
        *last = cut.last;
        pool_give(pool, &cut.buffer);
    }
    if (got == 0)
        err->text[0] = '\0';
    cutter_destroy(cutter);
    pool_destroy(pool);
    schema_destroy(schema);
    return at;
}

/* Where no byte is a line end, too, what stands before a fault is read. */
TEST(bson_before_fault) {
    grown_t text = {.at = (uint8_t *)"\14\0\0\0\20a\0\2\0\0\0\0", .size = 12};
    bool last;
    err_t err;
    assert_int_equal(text.size, cut_bson(&text, true, &last, &err));
    assert_true(err.text[0] && !last);
}

TEST(bson_windows) {
    uint64_t seed = 11;
    for (int round = 0; round < 8; round++) {
        grown_t text = {0};
        bool last;
        err_t err;
        while (text.size < 4 * W)
            add_document(&text, lab_chance(&seed, 300) ? lab_chance(&seed, 3000) : lab_chance(&seed, 3 * W));
        assert_int_equal(text.size, cut_bson(&text, false, &last, &err));
        assert_true(last && !err.text[0]);
        assert_int_equal(text.size, cut_bson(&text, true, &last, &err));
        assert_true(!last && strstr(err.text, "made up"));
        grown_free(&text);
    }
}

/* Around the borders of windows and buffers: documents before what is none are cut, and it is reported where it is. */
TEST(bson_lies) {
    static const size_t places[] = {
        100, W - 40, W - 14, W - 3, W, W + 1, CUTTER_BUFFER - 3, CUTTER_BUFFER, CUTTER_BUFFER + 9, 3 * W};
    static const struct {
        const char *bytes;
        size_t length;
    } lies[] = {
        {"\5\0", 2},
        {"\5\0\0\0", 4},
        {"\xFF\xFF\xFF\xFF and more than that", 22},
        {"\4\0\0\0\0", 5},
        {"\0\0\0\x7F", 4},
        {"\xE8\3\0\0\2k", 6},
        {"\6\0\0\0\0\1\5\0\0\0\0", 11},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (size_t j = 0; j < sizeof lies / sizeof *lies; j++) {
            grown_t text = {0};
            bool last;
            err_t err;
            char place[60];
            while (text.size + 200 < places[i])
                add_document(&text, 50);
            if (places[i] >= text.size + 13)
                add_document(&text, places[i] - text.size - 13);
            const size_t good = text.size;
            grown_add(&text, lies[j].bytes, lies[j].length);
            assert_int_equal(good, cut_bson(&text, false, &last, &err));
            snprintf(place, sizeof place, "at byte %zu begins no whole document", good);
            if (last || !strstr(err.text, place))
                fail_msg("at %zu: %s", good, err.text);
            grown_free(&text);
        }
}
