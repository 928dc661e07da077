/* The trips of a fleet: what one drive keeps to, the same bytes for the same wish. What the rows say is
 * checked by tests/oracle/test_obd_rows.py; the digests below pin files that it has passed. */
#include "base/numbers/chance.h"
#include "generate/generate.h"
#include "generate/obd/obd_drive.h"
#include "generate/shared/whole.h"
#include "generate_lab.h"
#include "test.h"

#include <math.h>

static file_t made(generate_t what) {
    return lab_made(&generate_obd, &what);
}

/* ---- a drive ---- */

TEST(knows_the_sine) {
    for (int32_t angle = -72000; angle <= 72000; angle++)
        assert_true(fabs(whole_sine(angle) - 10000 * sin(angle / 18000.0 * acos(-1))) < 18);
    assert_int_equal(whole_sine(9000), 10000);
    assert_int_equal(whole_sine(-9000), -10000);
    assert_int_equal(whole_sine(36000), 0);
}

static bool within(int32_t value, int32_t least, int32_t most) {
    return least <= value && value <= most;
}

/* Hundreds of trips of the same car: what it keeps from one to the next must not run away. */
TEST(drives_and_stops) {
    for (uint64_t seed = 0; seed < 4; seed++) {
        obd_car_t car;
        obd_drive_t drive;
        int32_t now[OBD_VALUE_COUNT], before[OBD_VALUE_COUNT];
        obd_car_init(&car, chance_bits(seed, 77));
        for (uint64_t trip = 0; trip < 250; trip++) {
            int32_t latitude = car.latitude, longitude = car.longitude, seconds = 0;
            obd_drive_start(&drive, &car, chance_bits(seed, trip), 10000);
            for (; obd_drive_step(&drive, now); seconds++) {
                assert_int_equal(now[OBD_TRIP_TIME], seconds);
                assert_true(seconds || (now[OBD_SPEED] == 0 && now[OBD_TRIP_DISTANCE] == 0));
                assert_true(seconds || (car.latitude == latitude && car.longitude == longitude));
                assert_true(!seconds || within(now[OBD_SPEED] - before[OBD_SPEED], -12, 12));
                assert_true(within(now[OBD_SPEED], 0, 140) && within(now[OBD_RPM], 60000, 400000));
                assert_true(within(now[OBD_LOAD], 20, 1000) && within(now[OBD_FUEL_LEVEL], 50, 1000));
                assert_true(within(now[OBD_COOLANT], 8, 98) && within(now[OBD_ALTITUDE], -500, 10000));
                assert_true(within(now[OBD_BEARING], 0, 3599) && within(now[OBD_LAMBDA], 700, 1999));
                assert_true(within(car.latitude - car.home_latitude, -15000000, 15000000));
                assert_true(within(car.longitude - car.home_longitude, -15000000, 15000000));
                memcpy(before, now, sizeof before);
            }
            assert_int_equal(before[OBD_SPEED], 0); /* it is parked */
            assert_true(within(seconds, 300, 2100) && seconds == drive.seconds);
            assert_false(obd_drive_step(&drive, now));
        }
    }
}

/* ---- rows ---- */

TEST(makes_the_pinned_files) {
    static const struct {
        generate_t what;
        uint64_t digest;
    } pinned[] = {
        {{.count = 0, .seed = 1}, UINT64_C(0xe08424d0a3b14989)},
        {{.count = 100000, .seed = 1}, UINT64_C(0x7c06270577c29719)},
        {{.count = 3000, .seed = UINT64_MAX}, UINT64_C(0x341fa98a55f0cb9a)},
    };
    bool same = true;
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++)
        same &= lab_pinned(&generate_obd, &pinned[i].what, pinned[i].digest);
    assert_true(same);
}

TEST(differs_by_seed) {
    file_t one = made((generate_t){.count = 9, .seed = 1}), two = made((generate_t){.count = 9, .seed = 2});
    assert_string_not_equal(one.text, two.text);
    free(one.text);
    free(two.text);
}

TEST(writes_one_line_a_row) {
    static const uint64_t sizes[] = {0, 1, 2, 2000, 30011};
    file_t before = {NULL, 0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        file_t file = made((generate_t){.count = sizes[i], .seed = 3});
        assert_int_equal(lab_lines(file), sizes[i] + 1);
        assert_int_equal(file.text[file.size - 1], '\n');
        assert_int_equal(strncmp(file.text, "timestamp,vehicleId,tripId,", 27), 0);
        if (before.text)
            lab_head(before, file);
        free(before.text);
        before = file;
    }
    free(before.text);
}

/* Longer than what is written at once; within the room that a row may take. */
TEST(goes_row_by_row) {
    static const generate_t what[] = {{.count = 3000, .seed = 4}};
    for (size_t i = 0; i < sizeof what / sizeof *what; i++) {
        file_t whole = made(what[i]);
        lab_row_by_row(&generate_obd, &what[i], whole);
        free(whole.text);
    }
}

TEST(packs_the_same_bytes) {
    file_t plain = made((generate_t){.count = 5000, .seed = 1});
    file_t compressed = made((generate_t){.count = 5000, .seed = 1, .gzip = true});
    lab_packed(compressed, plain);
    free(plain.text);
    free(compressed.text);
}

TEST(refuses_what_cannot_be) {
    lab_fails(&generate_obd, &(generate_t){.count = 1000000001}, -1, STATUS_USAGE, "at most 1000000000 rows");
    lab_fails(&generate_obd, &(generate_t){.count = 1}, -1, STATUS_HOST, "could not be written");
}
