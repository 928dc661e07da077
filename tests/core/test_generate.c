/* Generated files of all kinds: the same bytes for the same wish, one line a row; and the MOT files. What the rows say is
 * checked by tests/oracle; the digests below pin files that have passed there. */
#include "generate/mot/mot_fleet.h"
#include "generate_lab.h"
#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

static file_t made(uint64_t rows, uint64_t seed, const char *release) {
    return lab_made(&generate_mot, &(generate_t){.count = rows, .seed = seed, .release = release});
}

TEST(has_the_releases_it_names) {
    bool has_usual = false;
    for (size_t i = 0; i < MOT_RELEASES; i++) {
        const generate_t what = {.count = 1, .release = mot_releases[i].name};
        err_t err;
        assert_true(generate_mot.check(&what, &err));
        has_usual |= strcmp(mot_releases[i].name, MOT_USUAL_RELEASE) == 0;
    }
    assert_true(has_usual);
}

/* The same bytes for the same wish, which the oracles have passed; and one line a row, one by one or as a whole. */
TEST(makes_the_pinned_files) {
    static const struct {
        const generate_kind_t *kind;
        generate_t what;
        size_t lines;
        uint64_t digest;
    } pinned[] = {
        {&generate_mot, {.count = 10000, .seed = 1, .release = "2013"}, 10000, UINT64_C(0x47e6b9ba6af73665)},
        {&generate_mot, {.count = 10000, .seed = 1, .release = "2016"}, 10001, UINT64_C(0x6807be70c4ac23c6)},
        {&generate_mot,
         {.count = 10000, .seed = 1, .release = "2017-first"},
         10001,
         UINT64_C(0x1940a963a15151d5)},
        {&generate_mot, {.count = 10000, .seed = 1, .release = "2017"}, 10001, UINT64_C(0xdf271c88d25269c7)},
        {&generate_mot, {.count = 10000, .seed = 1, .release = "2020"}, 10001, UINT64_C(0x2c763581b064926e)},
        {&generate_mot, {.count = 10000, .seed = 1, .release = "2021"}, 10001, UINT64_C(0x35f820859af31c68)},
        {&generate_mot, {.count = 10000, .seed = 1, .release = "2023"}, 10001, UINT64_C(0x09ac2cd03b213295)},
        {&generate_mot, {.count = 10000, .seed = 1, .release = "2024"}, 10001, UINT64_C(0x560e3dd6345df205)},
        {&generate_isd, {.count = 1, .stations = 1, .seed = 1}, 1, UINT64_C(0x199a82dd778d6382)},
        {&generate_isd, {.count = 20000, .stations = 0, .seed = 1}, 20000, UINT64_C(0x9a70198dd0230cb7)},
        {&generate_isd, {.count = 20000, .stations = 7, .seed = 2}, 20000, UINT64_C(0x772b61efd837c725)},
        {&generate_isd, {.count = 150000, .stations = 16, .seed = 3}, 150000, UINT64_C(0x9ae091c16d682347)},
        {&generate_isd,
         {.count = 5000, .stations = 5000, .seed = UINT64_MAX},
         5000,
         UINT64_C(0xbf1e1cddade3830e)},
        {&generate_obd, {.count = 0, .seed = 1}, 1, UINT64_C(0xe08424d0a3b14989)},
        {&generate_obd, {.count = 100000, .seed = 1}, 100001, UINT64_C(0x7c06270577c29719)},
        {&generate_obd, {.count = 3000, .seed = UINT64_MAX}, 3001, UINT64_C(0x341fa98a55f0cb9a)},
        {&generate_ycsb, {.count = 0, .seed = 1}, 0, UINT64_C(0x2d06800538d394c2)},
        {&generate_ycsb, {.count = 5000, .seed = 1}, 5000, UINT64_C(0xeead3f47ab314e8c)},
        {&generate_ycsb,
         {.count = 5000, .seed = UINT64_MAX, .first = 99998000, .text_bytes = 1},
         5000,
         UINT64_C(0x37f45b0aeeb16704)},
        {&generate_ycsb,
         {.count = 3, .seed = 2, .first = INT64_MAX - 2, .text_bytes = 100000},
         3,
         UINT64_C(0xb62945618fcb0430)},
        {&generate_ycsb, {.count = 40, .seed = 1, .study = true}, 40, UINT64_C(0x8723bbad8b20159e)},
    };
    bool same = true;
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++) {
        generate_t what = pinned[i].what;
        if (TEST_SHARE > 1 && what.count > 5000)
            continue;
        same &= lab_pinned(pinned[i].kind, &what, pinned[i].digest);
        file_t file = lab_made(pinned[i].kind, &what);
        assert_int_equal(lab_lines(file), pinned[i].lines);
        assert_true(!file.size || file.text[file.size - 1] == '\n');
        what.seed ^= 6;
        file_t other = lab_made(pinned[i].kind, &what);
        assert_true(what.count < 3 || other.size != file.size ||
                    memcmp(other.text, file.text, file.size) != 0);
        free(other.text);
        free(file.text);
    }
    assert_true(same);
}

/* Rows one by one, longer than what is written at once; and compressed. */
TEST(goes_row_by_row) {
    static const struct {
        const generate_kind_t *kind;
        generate_t what;
    } rows[] = {
        {&generate_mot, {.count = 3000, .seed = 4}},
        {&generate_obd, {.count = 5000, .seed = 4}},
        {&generate_ycsb, {.count = 300, .first = 50, .seed = 7, .text_bytes = 33}},
        {&generate_ycsb, {.count = 9, .text_bytes = 100000}},
        {&generate_ycsb, {.count = 9, .study = true}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        generate_t what = rows[i].what;
        file_t whole = lab_made(rows[i].kind, &what);
        lab_row_by_row(rows[i].kind, &what, whole);
        what.gzip = true;
        file_t compressed = lab_made(rows[i].kind, &what);
        lab_packed(compressed, whole);
        free(compressed.text);
        free(whole.text);
    }
}

TEST(repeats_the_header_of_2024) {
    file_t file = made(400000, 5, "2024");
    assert_int_equal(lab_lines(file), 400000 + 2);
    free(file.text);
}

/* What the data file says fits where it is kept; every kind of outcome and of vehicle has its steps. */
TEST(has_room_for_every_name) {
    for (const mot_release_t *release = mot_releases; release < mot_releases + MOT_RELEASES; release++) {
        mot_fleet_t *fleet = calloc(1, sizeof *fleet);
        static odd_plan_t odd;
        err_t err;
        assert_non_null(fleet);
        odd_init(&odd, 1);
        assert_true(mot_fleet_init(fleet, release, &odd, &err));
        assert_uint_in_range(fleet->kinds, 400, MOT_KINDS - 2);
        assert_uint_in_range(odd.count, 15, ODD_MOST - 1);
        for (const mot_kind_t *kind = fleet->kind; kind < fleet->kind + fleet->kinds; kind++) {
            const mot_cell_t *cells[] = {&kind->make, &kind->model, &kind->fuel, &kind->cc};
            for (size_t i = 0; i < 4; i++) {
                assert_uint_in_range(cells[i]->length, 1, sizeof cells[i]->text);
                assert_int_equal(cells[i]->text[cells[i]->length - 1], release->delimiter);
            }
            assert_true(kind->test_class < MOT_CLASSES && kind->miles_a_year > 1000);
        }
        for (size_t i = 0; i < MOT_STEPS; i++)
            assert_true(fleet->area[fleet->area_at[i]].length && fleet->colour[fleet->colour_at[i]].length &&
                        fleet->outcome[fleet->outcome_at[i]].type.length);
        assert_int_equal(fleet->day_ends[365] > fleet->day_ends[364], release->year % 4 == 0);
        free(fleet->file.text);
        free(fleet);
    }
}

TEST(says_that_it_cannot_write) {
    generate_t what = {.count = 10};
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (full >= 0) {
        lab_fails(&generate_mot, &what, full, STATUS_HOST, "is full");
        close(full);
    }
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    signal(SIGPIPE, SIG_IGN);
    lab_fails(&generate_mot, &what, ends[1], STATUS_READER_GONE, "went away");
    close(ends[1]);
    lab_fails(&generate_mot, &what, -1, STATUS_HOST, "could not be written");
}

static file_t read_whole(int fd) {
    file_t file = {.size = 0};
    size_t room = 0;
    for (;;) {
        if (room - file.size < 65536)
            assert_non_null(file.text = realloc(file.text, room = 2 * room + 131072));
        ssize_t n = read(fd, file.text + file.size, room - file.size);
        assert_true(n >= 0);
        if (!n)
            return file;
        file.size += (size_t)n;
    }
}

static void *drain(void *fd) {
    static file_t file;
    file = read_whole(*(int *)fd);
    return &file;
}

TEST(waits_for_a_slow_reader) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    pthread_t reader;
    assert_int_equal(pthread_create(&reader, NULL, drain, &ends[0]), 0);
    generate_t what = {.count = 50000, .seed = 8};
    generate_made_t written;
    err_t err;
    assert_true(generate_write(&generate_mot, &what, ends[1], &written, &err));
    close(ends[1]);
    void *got;
    pthread_join(reader, &got);
    close(ends[0]);
    file_t wanted = made(50000, 8, NULL), file = *(file_t *)got;
    lab_same(wanted, file);
    free(wanted.text);
    free(file.text);
}

TEST(ends_at_a_signal) {
    lab_ends_at_a_signal(&generate_mot, SIGTERM, STATUS_TERMINATED);
}
