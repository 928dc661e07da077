/* The made-up MOT files: the same bytes for the same wish, one line a row, and sentences for what goes wrong.
 * What the rows say is checked by tests/oracle/mot_rows_check.py; the digests below pin files that it has
 * passed. */
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

TEST(makes_the_pinned_files) {
    static const struct {
        const char *release;
        uint64_t digest;
    } pinned[] = {
        {"2013", UINT64_C(0x47e6b9ba6af73665)},       {"2016", UINT64_C(0x6807be70c4ac23c6)},
        {"2017-first", UINT64_C(0x1940a963a15151d5)}, {"2017", UINT64_C(0xdf271c88d25269c7)},
        {"2020", UINT64_C(0x2c763581b064926e)},       {"2021", UINT64_C(0x35f820859af31c68)},
        {"2023", UINT64_C(0x09ac2cd03b213295)},       {"2024", UINT64_C(0x560e3dd6345df205)},
    };
    bool same = true;
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++) {
        const generate_t what = {.count = 10000, .seed = 1, .release = pinned[i].release};
        same &= lab_pinned(&generate_mot, &what, pinned[i].digest);
    }
    assert_true(same);
}

TEST(differs_by_seed_and_release) {
    file_t one = made(1000, 1, NULL), two = made(1000, 2, NULL), named = made(1000, 1, MOT_USUAL_RELEASE);
    lab_same(one, named);
    assert_false(one.size == two.size && memcmp(one.text, two.text, one.size) == 0);
    free(one.text);
    free(two.text);
    free(named.text);
}

TEST(writes_one_line_a_row) {
    static const uint64_t sizes[] = {0, 1, 2, 3, 1000, 30011};
    for (const mot_release_t *release = mot_releases; release < mot_releases + MOT_RELEASES; release++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            file_t file = made(sizes[i], 99, release->name);
            assert_int_equal(lab_lines(file), sizes[i] + !release->oldest);
            if (file.size)
                assert_int_equal(file.text[file.size - 1], '\n');
            bool header = file.size > 7 && memcmp(file.text, "test_id", 7) == 0;
            assert_int_equal(header, !release->oldest);
            if (header)
                assert_int_equal(file.text[7], release->delimiter);
            free(file.text);
        }
    }
}

TEST(repeats_the_header_of_2024) {
    file_t file = made(400000, 5, "2024");
    assert_int_equal(lab_lines(file), 400000 + 2);
    free(file.text);
}

static int by_value(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

TEST(gives_every_test_its_own_id) {
    enum { ROWS = 200000 };
    file_t file = made(ROWS, 3, "2013");
    uint32_t *ids = calloc(ROWS, sizeof *ids);
    assert_non_null(ids);
    const char *at = file.text;
    for (size_t i = 0; i < ROWS; i++) {
        ids[i] = (uint32_t)strtoul(at, NULL, 10);
        at = strchr(at, '\n') + 1;
    }
    qsort(ids, ROWS, sizeof *ids, by_value);
    assert_true(ids[0] > 0);
    for (size_t i = 1; i < ROWS; i++)
        assert_true(ids[i - 1] < ids[i]);
    free(ids);
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

TEST(names_the_nearest_release) {
    lab_fails(&generate_mot, &(generate_t){.count = 1, .release = "2017first"}, -1, STATUS_USAGE,
              "did you mean '2017-first'?");
    lab_fails(&generate_mot, &(generate_t){.count = 1, .release = "latest"}, -1, STATUS_USAGE,
              "2013, 2016, 2017-first, 2017, 2020, 2021, 2023, 2024");
    lab_fails(&generate_mot, &(generate_t){.count = UINT64_MAX}, -1, STATUS_USAGE, "at most");
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
