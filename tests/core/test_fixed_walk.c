/* fixed_walk: what stands behind the fixed part, from left to right, and where a gap begins and ends. */
#include "base/clock.h"
#include "format/engine/fixed_walk.h"
#include "format_lab.h"
#include "test.h"

/* A record is one character; sections of 1, 2 and 3 characters; entries of 2, of 1 and as many as they say.
 */
static const char yaml[] =
    "format: x\nrecord: {fixed: 1}\nfields: [{name: a, width: 1}]\ntail:\n"
    "  - {marker: \"<\", name: first, repeat: [{name: k, width: 1, is: \"[a-c]\"}, {name: v, width: 1}]}\n"
    "  - {marker: ADD, sections: yes}\n"
    "  - {marker: \"--\", name: last, repeat: [{name: k, width: 1, is: \"[a-c-]\"}, {name: t, lengthWidth: "
    "1}]}\n"
    "  - {marker: \"-\", name: any, repeat: [{name: v, width: 2}]}\n"
    "sections:\n"
    "  - {ids: AA1-AA4, name: s, fields: [{name: x, width: 1}]}\n"
    "  - {ids: AB1, name: t, fields: [{name: x, width: 2}]}\n"
    "  - {ids: AC1, name: u, fields: [{name: x, width: 3}]}\n"
    "  - {ids: AC2, name: v, fields: [{name: x, width: 1}]}\n";

typedef struct {
    schema_t *schema;
    program_t program;
    fixed_walk_t walk;
} walker_t;

static walker_t walker_of(const char *text) {
    walker_t walker = {.schema = lab_schema(text)};
    LAB_MUST(program_compile(walker.schema, NULL, &walker.program));
    return walker;
}

static void walker_end(walker_t *walker) {
    fixed_walk_free(&walker->walk);
    program_free(&walker->program);
    schema_destroy(walker->schema);
}

TEST(walks) {
    static const struct {
        const char *record, *sections; /* their identifiers */
        uint32_t from[4], to[4], gap, gap_end;
        bool apart, disorder;
    } cases[] = {
        {.record = "x"},
        {.record = "x<a1b2", .from = {2}, .to = {6}},
        {.record = "xADDAA1xAB1xx", .sections = "AA1AB1", .from = {0, 4}, .to = {0, 13}},
        {.record = "x<a1ADDAA1x--b2..-yz", .sections = "AA1", .from = {2, 7, 13, 18}, .to = {4, 11, 17, 20}},
        /* the order of identifiers, and whether those of one section stand side by side */
        {.record = "xADDAA1xAA1x", .sections = "AA1AA1", .from = {0, 4}, .to = {0, 12}, .disorder = true},
        {.record = "xADDAA2xAA1x", .sections = "AA2AA1", .from = {0, 4}, .to = {0, 12}, .disorder = true},
        {.record = "xADDAA1xAB1xxAA2x",
         .sections = "AA1AB1AA2",
         .from = {0, 4},
         .to = {0, 17},
         .disorder = true,
         .apart = true},
        {.record = "xADDAA9xAB2xx", .sections = "AA9AB2", .from = {0, 4}, .to = {0, 13}},
        /* gaps, of which those in a part's midst and at its end belong to its place: to the end, where
           nothing behind explains itself */
        {.record = "x?", .gap = 1, .gap_end = 2},
        {.record = "x<", .gap = 1, .gap_end = 2},
        {.record = "x<d1", .gap = 1, .gap_end = 4},
        {.record = "x<a1b", .from = {2}, .to = {5}, .gap = 4, .gap_end = 5},
        {.record = "xAA1x", .gap = 1, .gap_end = 5}, /* before a marker there is no part */
        {.record = "xADDAA1xAC3x", .sections = "AA1", .from = {0, 4}, .to = {0, 12}, .gap = 8, .gap_end = 12},
        {.record = "xADDAC1xx", .gap = 1, .gap_end = 9},
        {.record = "x--a3..", .from = {0, 0, 0, 2}, .to = {0, 0, 0, 7}, .gap = 6, .gap_end = 7},
        /* to the nearest place from which everything does, in the same part */
        {.record = "xADDAA1xAC3xAA2x",
         .sections = "AA1AA2",
         .from = {0, 4},
         .to = {0, 16},
         .gap = 8,
         .gap_end = 12},
        {.record = "x<a1?b2", .from = {2}, .to = {7}, .gap = 4, .gap_end = 5},
        {.record = "x--a0?b1-", .from = {0, 0, 3}, .to = {0, 0, 9}, .gap = 5, .gap_end = 6},
        /* not at one that leads to another gap */
        {.record = "x<a1?b2c?d1c1", .from = {2}, .to = {13}, .gap = 4, .gap_end = 11},
        {.record = "x<a1?b2?", .from = {2}, .to = {8}, .gap = 4, .gap_end = 8},
        /* or at a later marker */
        {.record = "x?ADDAA1x", .sections = "AA1", .from = {0, 5}, .to = {0, 9}, .gap = 1, .gap_end = 2},
        {.record = "x<a1?--b0", .from = {2, 0, 7}, .to = {5, 0, 9}, .gap = 4, .gap_end = 5},
        /* a marker opens its part, and all of it belongs to the gap */
        {.record = "xADD?AA1x", .sections = "AA1", .from = {0, 5}, .to = {0, 9}, .gap = 1, .gap_end = 5},
        {.record = "xADDADDAA1x", .sections = "AA1", .from = {0, 7}, .to = {0, 11}, .gap = 1, .gap_end = 7},
        {.record = "xADD<a1", .gap = 1, .gap_end = 7}, /* what comes before cannot come behind */
        {.record = "x<?a1", .from = {3}, .to = {5}, .gap = 1, .gap_end = 3},
        {.record = "x<ADDAA1x", .sections = "AA1", .from = {0, 5}, .to = {0, 9}, .gap = 1, .gap_end = 2},
        /* a marker is one only with an entry behind it: `--` without is `-`, or an entry of it */
        {.record = "x--yz", .from = {0, 0, 0, 2}, .to = {0, 0, 0, 5}, .gap = 4, .gap_end = 5},
        {.record = "x--y", .from = {0, 0, 0, 2}, .to = {0, 0, 0, 4}},
    };
    walker_t walker = walker_of(yaml);
    const fixed_walk_t *walk = &walker.walk;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        slack_t slack = slack_new(cases[i].record, strlen(cases[i].record));
        assert_true(fixed_walk(&walker.program, slack.text, (uint32_t)slack.length, &walker.walk));
        char found[64] = "";
        for (size_t j = 0; j < walk->section_count; j++)
            strncat(found, cases[i].record + walk->sections[j].at, 3);
        bool same = walk->gap == cases[i].gap && walk->gap_end == cases[i].gap_end &&
                    strcmp(found, cases[i].sections ? cases[i].sections : "") == 0 &&
                    walk->ascending == !cases[i].disorder && walk->together == !cases[i].apart;
        for (size_t j = 0; j < 4; j++)
            same &= walk->parts[j].from == walk->parts[j].to
                        ? cases[i].from[j] == cases[i].to[j]
                        : walk->parts[j].from == cases[i].from[j] && walk->parts[j].to == cases[i].to[j];
        if (!same) {
            for (size_t j = 0; j < 4; j++)
                print_error("part %zu: %u to %u\n", j, walk->parts[j].from, walk->parts[j].to);
            fail_msg("%s: sections %s, gap %u to %u, ascending %d, together %d", cases[i].record, found,
                     walk->gap, walk->gap_end, walk->ascending, walk->together);
        }
        slack_free(&slack);
    }
    walker_end(&walker);
}

/* Where a marker stands where an entry could, it is one when an entry stands behind it; the first entry
 * behind a marker is one whatever it looks like. */
TEST(precedence) {
    walker_t walker = walker_of("format: x\nrecord: {fixed: 1}\nfields: [{name: a, width: 1}]\ntail:\n"
                                "  - {marker: a, name: p, repeat: [{name: v, width: 1}]}\n"
                                "  - {marker: b, name: q, repeat: [{name: v, width: 2}]}\n");
    static const struct {
        const char *record;
        uint32_t p_to, q_to, gap;
    } cases[] = {
        {"xa1b22", 3, 6, 0}, {"xab", 3, 0, 0},   /* the first entry, though it looks like a marker */
        {"xabb22", 3, 6, 0}, {"xa1b2", 5, 0, 0}, /* nothing whole stands behind that b: an entry of one
                                                    character */
        {"xa1b", 4, 0, 0},   {"xb11b2", 0, 6, 0}, {"xb1", 0, 0, 1}, {"xaa", 3, 0, 0}, {"xa", 0, 0, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        slack_t slack = slack_new(cases[i].record, strlen(cases[i].record));
        assert_true(fixed_walk(&walker.program, slack.text, (uint32_t)slack.length, &walker.walk));
        const fixed_walk_t *walk = &walker.walk;
        bool p = walk->parts[0].from != walk->parts[0].to, q = walk->parts[1].from != walk->parts[1].to;
        if ((p ? walk->parts[0].to : 0) != cases[i].p_to || (q ? walk->parts[1].to : 0) != cases[i].q_to ||
            walk->gap != cases[i].gap)
            fail_msg("%s: p to %u, q to %u, gap %u to %u", cases[i].record, walk->parts[0].to,
                     walk->parts[1].to, walk->gap, walk->gap_end);
        slack_free(&slack);
    }
    walker_end(&walker);
}

/* A record is walked in a time that grows as it does, whatever it holds, and its worst size does not
 * overflow. */
TEST(hostile) {
    static const char *const pieces[] = {"<a1", "<",  "ADDAA1x", "AA1xAB1xx",  "ADD", "--a0",     "a9..",
                                         "-",   "--", "AA1x?",   "ADDAA1xAC3", "a1?", "AA2xAA1x", "?"};
    static const char *const starts[] = {"x", "x<a1", "xADDAA1x", "x--a0"};
    enum { LONG = (1 << 20) / TEST_SHARE };
    uint8_t *text = malloc(LONG);
    LAB_MUST(text);
    walker_t walker = walker_of(yaml);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        for (size_t j = 0; j < sizeof starts / sizeof *starts; j++) {
            size_t piece = strlen(pieces[i]), at = strlen(starts[j]);
            memcpy(text, starts[j], at);
            for (; at < LONG; at += piece)
                memcpy(text + at, pieces[i], piece < LONG - at ? piece : LONG - at);
            slack_t slack = slack_new(text, LONG);
            int64_t before = clock_now_ns();
            assert_true(fixed_walk(&walker.program, slack.text, LONG, &walker.walk));
            if (clock_now_ns() - before > 10000000000)
                fail_msg("%s%s... took %lld ms", starts[j], pieces[i],
                         (long long)((clock_now_ns() - before) / 1000000));
            assert_true(walker.walk.gap_end <= LONG);
            slack_free(&slack);
        }
    free(text);
    walker_end(&walker);
}
