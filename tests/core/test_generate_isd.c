/* The made-up weather records: lines by hand-written expectations. What the records say, and the shares that are drawn, are
 * checked by tests/oracle/test_isd_rows.py. */
#include "generate/isd/isd_lines.h"
#include "generate_lab.h"
#include "test.h"

#include <stdio.h>

/* ---- lines ---- */

static isd_lines_t *world;

static int make_world(TEST_UNUSED void **state) {
    static odd_plan_t odd;
    err_t err;
    odd_init(&odd, 1);
    return (world = calloc(1, sizeof *world)) && isd_lines_open(world, &odd, &err) ? 0 : -1;
}

static int drop_world(TEST_UNUSED void **state) {
    isd_lines_close(world);
    free(world);
    return 0;
}

static isd_scene_t scene_of_a_day(void) {
    isd_scene_t scene = {.call = {'K', 'D', 'S', 'M', ' '}};
    int32_t *value = scene.value;
    value[ISD_temp] = -12;
    value[ISD_base1] = ISD_MISSING;
    value[ISD_wet] = 7;
    value[ISD_alt] = 10180;
    value[ISD_hour] = 6;
    value[ISD_depth] = 12345;
    value[ISD_okta1] = 2;
    value[ISD_okta2] = 4;
    value[ISD_layers] = 2;
    return scene;
}

/* What these lines, one after the other, write, with the world's sections and qualities. */
static const char *put(const char *lines) {
    static char text[ISD_ROOM];
    isd_lines_t *all = world;
    static uint64_t chance = 42;
    isd_scene_t scene = scene_of_a_day();
    char *copy = strdup(lines), *rest = copy;
    isd_span_t span = {(uint16_t)all->line_count, 0};
    assert_non_null(copy);
    size_t fields = all->field_count;
    for (char *line; (line = strsep(&rest, "\n"));)
        isd_lines_add(all, line);
    if (*all->wrong)
        fail_msg("%s: not %s", lines, all->wrong);
    span.count = (uint16_t)(all->line_count - span.first);
    scene.chance = chance++;
    *isd_lines_put(all, span, '1', &scene, text) = '\0';
    all->line_count = span.first;
    all->field_count = fields;
    free(copy);
    return text;
}

TEST(writes_what_the_lines_say) {
    static const struct {
        const char *lines, *text;
    } cases[] = {
        {"head: A_B 12:30 RMK /// =", "A B12:30RMK///="},
        {"head: temp:+5 wet:+5 wet:4 temp:-4 wet:-4", "-0012+00070007-0120007"},
        {"head: base1:+5 q base1:4 q5", "+9999999999"},
        {"head: temp:s4 wet:s4 temp/C:m2 wet:m2", "10120007M0107"},
        {"head: alt/I:4 temp/F:3 temp/W:+5 depth:3 call", "3006030-0010345KDSM "},
        {"head: 8..8:2 -8..-8:+3 a*3|b*0 c*0|d", "08-08ad"},
        {"head: temp:+5?100% q", "+99999"},
        /* conditions, and what is said instead */
        {"head: A\n+ if wet: B\n+ if calm: C\n+ if !calm: D\n+ if 0%: E\n+ if 100%: F", "ABDF"},
        {"head: A\n+ if hour=6 temp<0: B\n+ if hour=5: C\n+ if temp>0: D\n+ if layers>=2: E", "ABE"},
        {"head: A\n+ if calm: B\n+ else wet: C\n+ else: D\n+ else: E", "AC"},
        {"head: A\n+ if wet: B\n+ else: C\n+ if wet: D", "ABD"},
        /* parts have their markers, remarks their lengths; nothing goes on that has not begun */
        {"head: A\nAW1: 10 1\nAX1 if calm: B\n+: C\nSYN: X_Y\n+ if wet: Z\nMET: B\nQ01: C\nQNN: D",
         "AADDAW1101REMSYN004X YZMET001BEQDQ01CQNND"},
        {"GA1-3 if layers>=#: okta#:2 9", "ADDGA1029GA2049"},
        {"HL1,MV1 if calm", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = put(cases[i].lines);
        if (strcmp(text, cases[i].text) != 0)
            fail_msg("'%s' became '%s', not '%s'", cases[i].lines, text, cases[i].text);
    }
}

/* ---- the data files ---- */

/* How often a line of this name is in the reports. */
static unsigned lines_of(const char *name) {
    unsigned count = 0;
    for (size_t i = 0; i < world->line_count; i++)
        count += strcmp(world->lines[i].name, name) == 0;
    return count;
}

/* Every section is in a report, in the width that its format says. */
TEST(has_sections_of_their_width) {
    unsigned identifiers = 0;
    for (size_t s = 0; s < world->format->section_count; s++) {
        const section_t *section = &world->format->sections[s];
        for (size_t i = 0; i < section->id_count; i++) {
            char name[4] = "";
            memcpy(name, section->ids[i].first, 3);
            for (; name[2] <= section->ids[i].last_digit; name[2]++, identifiers++) {
                assert_uint_in_range(lines_of(name), 1, 99);
                for (unsigned often = 0; often < 100; often++) {
                    const char *text = put(name);
                    assert_int_equal(strlen(text), strlen("ADDAA1") + section->width);
                    assert_memory_equal(text + 3, name, 3);
                }
            }
        }
    }
    assert_int_equal(identifiers, 203);
}

/* ---- stations ---- */

static int by_text(const void *a, const void *b) {
    return memcmp(a, b, 11);
}

TEST(gives_every_station_its_own_ids) {
    static const uint32_t sizes[] = {1, 2, 3, 7, 100, 13000, ISD_MOST_STATIONS};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char(*ids)[11] = calloc(sizes[i], sizeof *ids);
        uint32_t of_kind[ISD_KINDS] = {0}, shares = 0;
        assert_non_null(ids);
        for (uint32_t s = 0; s < sizes[i]; s++) {
            isd_station_t station = isd_station_of(world->kinds, world->kind_count, s, sizes[i], 99 + i);
            memcpy(ids[s], station.ids, 11);
            of_kind[station.kind - world->kinds]++;
            assert_uint_in_range(station.latitude + 90000, 0, 180000);
            assert_uint_in_range(station.longitude + 180000, 0, 360000);
        }
        qsort(ids, sizes[i], sizeof *ids, by_text);
        for (uint32_t s = 1; s < sizes[i]; s++)
            assert_true(memcmp(ids[s - 1], ids[s], 11) < 0);
        for (size_t k = 0; k < world->kind_count; k++)
            shares += (uint32_t)world->kinds[k].share;
        for (size_t k = 0; k < world->kind_count; k++) { /* each kind has its share, to within one station */
            uint64_t exact = (uint64_t)sizes[i] * (uint64_t)world->kinds[k].share;
            assert_uint_in_range(of_kind[k] + 1, exact / shares, exact / shares + 3);
        }
        free(ids);
    }
}

TEST_GROUP(make_world, drop_world);
