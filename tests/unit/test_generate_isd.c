/* The made-up weather records: pictures by hand-written expectations, the same bytes for the same wish, and
 * sentences for what goes wrong. What the records say is checked by tests/oracle/test_isd_rows.py; the
 * digests below pin records that it has passed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/stop.h"
#include "generate/generate.h"
#include "generate/isd/isd_picture.h"
#include "generate/isd/isd_station.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>
#include <zlib.h>

/* ---- pictures ---- */

static isd_scene_t scene_of_a_day(void) {
    isd_scene_t scene = {.key = 42};
    int32_t *n = scene.number;
    n[ISD_N_temp] = -12;
    n[ISD_N_dew] = ISD_MISSING;
    n[ISD_N_wet] = 7;
    n[ISD_N_alt] = 10180;
    n[ISD_N_change24] = -345;
    n[ISD_N_hour] = 6;
    n[ISD_N_knots] = 12345;
    scene.text[ISD_T_wxus] = isd_text(" -RA BR");
    return scene;
}

static isd_pictures_t *pictures;

static int make_pictures(void **state) {
    (void)state;
    err_t err;
    return (pictures = isd_pictures_new(&err)) ? 0 : -1;
}

static int drop_pictures(void **state) {
    (void)state;
    free(pictures);
    return 0;
}

static const char *put(isd_scene_t *scene, const char *picture) {
    static char text[4096];
    err_t err = {.text = ""};
    isd_picture_t made;
    if (!isd_picture_read(pictures, picture, '1', &made, &err))
        fail_msg("%s: %s", picture, err.text);
    *isd_picture_put(pictures, made, scene, text) = '\0';
    return text;
}

static void fills_in_what_is_told(void **state) {
    (void)state;
    static const struct {
        const char *picture, *text;
    } cases[] = {
        {"", ""},
        {"ADD/ 'x' ?=;$", "ADD/ 'x' ?=;$"},
        {"{temp:+5}", "-0012"},
        {"{wet:+5}|{wet:4}", "+0007|0007"},
        {"{dew:+5}{dew:4}{dew:s4}{dew:m2}{dew:b6}{dew:/3}", "+99999999//////"
                                                            " 99999"
                                                            "///"},
        {"{temp:s4}{wet:s4}", "10120007"},
        {"{temp/C:m2}/{wet:m2}", "M01/07"},
        {"{temp:b6}{wet:b6}", "-00012 00007"},
        {"{temp:-4}{wet:-4}", "-0120007"},
        {"{alt/I:4}{temp/F:3}{temp/x:+5}{knots/k:3}{knots/T:4}{dew/F:3}", "3006030-012034523459"
                                                                          "99"},
        {"{knots:8}{knots:3}", "00012345345"},
        {"a{$wxus}b", "a -RA BRb"},
        {"{8..8:2}", "08"},
        {"{-8..-8:+3}", "-08"},
        {"{a*3|b*0}{c*0|d}", "ad"},
        {"{dew:+5}{~1}", "+99999"},
        {"{temp:+5?1024}{~5}{~}", "+999999"},
        {"{#Q}x{#Q}y{#R}", "Q01xQ02yR01"},
        /* one condition, its other part, and nothing */
        {"[wet?A|B][dew?A|B][calm?A|B][!calm?A|B]", "ABBA"},
        {"[hour=6?A|B][!hour=6?A|B][hour<6?A|B][hour<7?A|B][hour>5?A|B][temp<0?A][dew<0?A][dew>0?A]",
         "ABBAAA"},
        {"[wet&hour=6?A|B][wet&hour=5?A|B][calm&wet?A|B][~1024?A|B][~0?A|B]", "ABBAB"},
        {"[wet?x[calm?1|2]y|z[wet?3]]w", "x2yw"},
        {"[calm?x[calm?1|2]y|z[wet?3]]w", "z3w"},
        /* a remark has its length in front; two of them stand side by side */
        {"^SYNab {wet:2}^", "SYN005ab 07"},
        {"^MET^^AWY[wet?{$wxus}]?^", "MET000AWY008 -RA BR?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        isd_scene_t scene = scene_of_a_day();
        const char *text = put(&scene, cases[i].picture);
        if (strcmp(text, cases[i].text) != 0)
            fail_msg("'%s' became '%s', not '%s'", cases[i].picture, text, cases[i].text);
    }
}

static void fills_in_long_texts(void **state) {
    (void)state;
    char picture[1001];
    memset(picture, 'x', 1000);
    picture[1000] = '\0';
    isd_scene_t scene = scene_of_a_day();
    assert_string_equal(put(&scene, picture), picture);
}

/* 4,000 draws of 16 bits lie within 4 standard deviations of their share. */
static void draws_by_share(void **state) {
    (void)state;
    isd_scene_t scene = scene_of_a_day();
    err_t err;
    unsigned b = 0, missing = 0, chance = 0, low = 0, high = 0;
    isd_picture_t picture;
    assert_true(isd_picture_read(pictures, "{a*3|b}{temp:+5?512}[~256?y|n]{3..5:1}", '1', &picture, &err));
    for (unsigned i = 0; i < 4000; i++) {
        char text[64 + ISD_PICTURE_SLACK];
        assert_int_equal(isd_picture_put(pictures, picture, &scene, text) - text, 8);
        b += text[0] == 'b';
        missing += memcmp(text + 1, "+9999", 5) == 0;
        chance += text[6] == 'y';
        low += text[7] == '3';
        high += text[7] == '5';
        assert_in_range(text[7], '3', '5');
    }
    assert_in_range(b, 890, 1110);
    assert_in_range(missing, 1873, 2127);
    assert_in_range(chance, 890, 1110);
    assert_in_range(low, 1213, 1453);
    assert_in_range(high, 1213, 1453);
}

static void refuses_what_is_no_picture(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "{temp",      "{temp}",    "{temp:}",  "{temp:+}",     "{temp:12}", "{heat death:3}",
        "{$smell}",   "{5:3}",     "{5..3:1}", "{temp:+5?3x}", "[calm",     "[calm?A",
        "[cold?A]",   "[calm?A|B", "^MET",     "^ME",          "{~8}",      "{a|0123456789abcdefg}",
        "{temp/Z:2}", "{temp:2?3",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        err_t err = {.text = ""};
        isd_picture_t picture;
        if (isd_picture_read(pictures, wrong[i], '1', &picture, &err))
            fail_msg("'%s' is taken for a picture", wrong[i]);
        assert_non_null(strstr(err.text, "picture"));
    }
}

static isd_world_t *world;

static int make_world(void **state) {
    err_t err;
    static odd_plan_t odd;
    odd_init(&odd, 1);
    world = calloc(1, sizeof *world);
    return world && make_pictures(state) == 0 && isd_world_init(world, &odd, &err) ? 0 : -1;
}

static int drop_world(void **state) {
    isd_world_clear(world);
    free(world);
    return drop_pictures(state);
}

/* The widths are measured; that they are the documented ones is for the oracle to see. */
static void has_sections_of_their_width(void **state) {
    (void)state;
    unsigned identifiers = 0;
    assert_int_equal(world->sections, 91);
    for (const isd_section_t *section = world->section; section < world->section + world->sections;
         section++) {
        isd_scene_t scene = scene_of_a_day();
        char text[4096];
        for (int i = 0; i < ISD_NUMBER_COUNT; i++)
            scene.number[i] = i % 7 ? i % 9 : ISD_MISSING;
        scene.text[ISD_T_au] = isd_text("0000101");
        for (unsigned i = 0; i < 300; i++)
            if (isd_picture_put(world->pictures, section->picture, &scene, text) - text != section->width)
                fail_msg("%s", section->id);
        if (section > world->section)
            assert_true(strcmp(section[-1].id, section->id) < 0);
        assert_ptr_equal(isd_section_of(world, section->id), section);
        identifiers += section->members;
    }
    assert_int_equal(identifiers, 203);
    assert_int_equal(isd_section_of(world, "MD1")->width, 11);
    assert_string_equal(isd_section_of(world, "AW6")->id, "AW1");
    assert_string_equal(isd_section_of(world, "CN3")->id, "CN3");
    assert_string_equal(isd_section_of(world, "CO7")->id, "CO2");
    assert_null(isd_section_of(world, "ZZ1"));
}

/* Pieces that are not there would be missing in silence. */
static void knows_every_report(void **state) {
    (void)state;
    size_t reports = 0;
    for (const isd_kind_t *kind = world->kind; kind < world->kind + world->kinds; kind++) {
        assert_int_equal(kind->first, reports);
        assert_true(kind->reports > 0 && kind->share > 0 && kind->first_year <= kind->last_year);
        reports += kind->reports;
    }
    assert_int_equal(world->kinds, 15);
    assert_int_equal(world->reports, reports);
    for (size_t i = 0; i < reports; i++)
        assert_true(world->report[i].parts[0] && world->report[i].hours && world->report[i].minutes);
}

/* ---- stations ---- */

static int by_text(const void *a, const void *b) {
    return memcmp(a, b, 11);
}

static void gives_every_station_its_own_ids(void **state) {
    (void)state;
    static const uint32_t sizes[] = {1, 2, 3, 7, 100, 13000, ISD_MOST_STATIONS};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        isd_network_t network;
        char(*ids)[11] = calloc(sizes[i], sizeof *ids);
        uint32_t of_kind[ISD_KINDS] = {0}, shares = 0;
        assert_non_null(ids);
        isd_network_init(&network, world, sizes[i], 99 + i);
        for (uint32_t s = 0; s < sizes[i]; s++) {
            isd_station_t station;
            isd_scene_t scene = {.key = 0};
            isd_station_init(&station, &network, s, &scene);
            memcpy(ids[s], station.ids, 11);
            of_kind[station.kind - world->kind]++;
            assert_in_range(station.climate.latitude + 90000, 0, 180000);
            assert_in_range(station.climate.longitude + 180000, 0, 360000);
        }
        qsort(ids, sizes[i], sizeof *ids, by_text);
        for (uint32_t s = 1; s < sizes[i]; s++)
            assert_true(memcmp(ids[s - 1], ids[s], 11) < 0);
        for (size_t k = 0; k < world->kinds; k++)
            shares += (uint32_t)world->kind[k].share;
        for (size_t k = 0; k < world->kinds; k++) { /* each kind has its share, to within one station */
            uint64_t exact = (uint64_t)sizes[i] * (uint64_t)world->kind[k].share;
            assert_in_range(of_kind[k] + 1, exact / shares, exact / shares + 3);
        }
        free(ids);
    }
}

/* ---- files ---- */

typedef struct {
    char *text;
    size_t size;
} file_t;

static file_t read_whole(int fd) {
    file_t file = {.size = 0};
    off_t size = lseek(fd, 0, SEEK_END);
    assert_true(size >= 0);
    assert_non_null(file.text = malloc((size_t)size + 1));
    file.size = (size_t)size;
    assert_int_equal(pread(fd, file.text, file.size, 0), size);
    return file;
}

static file_t made(generate_t what) {
    int fd = memfd_create("records", MFD_CLOEXEC);
    assert_true(fd >= 0);
    uint64_t bytes;
    err_t err = {.text = ""};
    if (!generate_file(&generate_isd, &what, fd, &bytes, &err))
        fail_msg("%s", err.text);
    file_t file = read_whole(fd);
    close(fd);
    assert_int_equal(file.size, bytes);
    return file;
}

static void makes_the_pinned_files(void **state) {
    (void)state;
    static const struct {
        uint64_t records, stations, seed, digest;
    } pinned[] = {
        {1, 1, 1, UINT64_C(0x106cfd8f43433b45)},
        {20000, 0, 1, UINT64_C(0x3fb08cc03f44565e)},
        {20000, 7, 2, UINT64_C(0x5452a51bea694749)},
        {150000, 16, 3, UINT64_C(0xcaafe9bf62c27cfc)},
        {5000, 5000, UINT64_MAX, UINT64_C(0x409123b98ce29a33)},
    };
    bool same = true;
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++) {
        generate_t what = {
            .count = pinned[i].records, .seed = pinned[i].seed, .stations = pinned[i].stations};
        file_t once = made(what), again = made(what);
        assert_int_equal(once.size, again.size);
        assert_memory_equal(once.text, again.text, once.size);
        uint64_t digest = XXH3_64bits(once.text, once.size);
        if (digest != pinned[i].digest) {
            print_error("%zu: UINT64_C(0x%016llx)\n", i, (unsigned long long)digest);
            same = false;
        }
        free(once.text);
        free(again.text);
    }
    assert_true(same);
}

static void writes_one_line_a_record(void **state) {
    (void)state;
    static const uint64_t sizes[][2] = {{0, 0}, {1, 0}, {3, 3}, {99, 0}, {1000, 999}, {30011, 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        file_t file = made((generate_t){.count = sizes[i][0], .stations = sizes[i][1], .seed = 8});
        size_t lines = 0;
        for (size_t at = 0; at < file.size; at++)
            lines += file.text[at] == '\n';
        assert_int_equal(lines, sizes[i][0]);
        assert_true(!file.size || file.text[file.size - 1] == '\n');
        free(file.text);
    }
}

static void packs_the_same_bytes(void **state) {
    (void)state;
    generate_t what = {.count = 4000, .seed = 4};
    file_t plain = made(what);
    what.gzip = true;
    file_t compressed = made(what);
    assert_true(compressed.size < plain.size / 2);
    char *text = malloc(plain.size + 1);
    assert_non_null(text);
    z_stream stream = {.next_in = (Bytef *)compressed.text,
                       .avail_in = (uInt)compressed.size,
                       .next_out = (Bytef *)text,
                       .avail_out = (uInt)plain.size + 1};
    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.total_out, plain.size);
    assert_memory_equal(text, plain.text, plain.size);
    inflateEnd(&stream);
    free(text);
    free(plain.text);
    free(compressed.text);
}

/* File by file it is the same records; a buffer's end does not show. */
static void goes_file_by_file(void **state) {
    (void)state;
    enum { ROOM = GENERATE_LEAST_ROOM + 5000 };
    err_t err;
    const generate_t what = {.count = 40000, .stations = 4, .seed = 6};
    file_t whole = made(what);
    void *rows = generate_isd.begin(&what, &err);
    char *buffer = malloc(ROOM), name[GENERATE_NAME_SIZE], last[GENERATE_NAME_SIZE] = "";
    size_t at = 0, files = 0;
    assert_non_null(rows);
    assert_non_null(buffer);
    for (; generate_isd.next_file(rows, name); files++) {
        size_t begun = at, count;
        assert_int_equal(strlen(name), 17);
        assert_true(strcmp(name, last) != 0);
        memcpy(last, name, sizeof last);
        for (; (count = generate_isd.fill(rows, buffer, ROOM)); at += count) {
            assert_true(count <= whole.size - at);
            assert_memory_equal(buffer, whole.text + at, count);
        }
        assert_true(at > begun);
    }
    assert_int_equal(at, whole.size);
    assert_in_range(files, 4, 60);
    generate_isd.end(rows);
    free(buffer);
    free(whole.text);
}

static void fails(const generate_t *what, int fd, status_t status, const char *part) {
    uint64_t bytes = 77;
    err_t err = {.text = ""};
    assert_false(generate_file(&generate_isd, what, fd, &bytes, &err));
    assert_int_equal(err.status, status);
    if (!strstr(err.text, part))
        fail_msg("'%s' is not in: %s", part, err.text);
    assert_int_equal(bytes, 0);
}

static void says_what_cannot_be_made(void **state) {
    (void)state;
    fails(&(generate_t){.count = 5, .stations = 6}, -1, STATUS_USAGE, "6 stations cannot send 5 records");
    fails(&(generate_t){.count = UINT64_MAX, .stations = 100001}, -1, STATUS_USAGE,
          "at most 100,000 stations");
    fails(&(generate_t){.count = 150001, .stations = 1}, -1, STATUS_USAGE, "say --stations 2 or more");
    fails(&(generate_t){.count = 15000001}, -1, STATUS_USAGE, "say --stations 101 or more");
    fails(&(generate_t){.count = UINT64_MAX}, -1, STATUS_USAGE, "make several files");
    err_t err;
    assert_true(generate_isd.check(&(generate_t){.count = 15000000}, &err));
    assert_true(generate_isd.check(&(generate_t){.count = 150000, .stations = 1}, &err));
}

static void says_that_it_cannot_write(void **state) {
    (void)state;
    generate_t what = {.count = 10};
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (full >= 0) {
        fails(&what, full, STATUS_HOST, "fewer --records");
        close(full);
    }
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    signal(SIGPIPE, SIG_IGN);
    fails(&what, ends[1], STATUS_READER_GONE, "went away");
    close(ends[1]);
    fails(&what, -1, STATUS_HOST, "could not be written");
    what.gzip = true;
    fails(&what, -1, STATUS_HOST, "could not be written");
    uint64_t files, bytes;
    err_t err = {.text = ""};
    assert_false(generate_files(&generate_isd, &what, "/dev/null/none", &files, &bytes, &err));
    assert_int_equal(err.status, STATUS_HOST);
    assert_non_null(strstr(err.text, "/dev/null/none"));
    assert_int_equal(files, 0);
}

/* In a process of its own: the flag of the signal stays up. */
static void ends_at_a_signal(void **state) {
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        stop_install();
        raise(SIGINT);
        uint64_t bytes;
        err_t err;
        bool ok = generate_file(&generate_isd, &(generate_t){.count = 10}, STDOUT_FILENO, &bytes, &err);
        _exit(!ok && err.status == STATUS_INTERRUPTED && bytes == 0 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_in_what_is_told),
        cmocka_unit_test(fills_in_long_texts),
        cmocka_unit_test(draws_by_share),
        cmocka_unit_test(refuses_what_is_no_picture),
        cmocka_unit_test(has_sections_of_their_width),
        cmocka_unit_test(knows_every_report),
        cmocka_unit_test(gives_every_station_its_own_ids),
        cmocka_unit_test(makes_the_pinned_files),
        cmocka_unit_test(writes_one_line_a_record),
        cmocka_unit_test(packs_the_same_bytes),
        cmocka_unit_test(goes_file_by_file),
        cmocka_unit_test(says_what_cannot_be_made),
        cmocka_unit_test(says_that_it_cannot_write),
        cmocka_unit_test(ends_at_a_signal),
    };
    return cmocka_run_group_tests(tests, make_world, drop_world);
}
