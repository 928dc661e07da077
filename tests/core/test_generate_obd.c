/* The trips of a fleet: what one drive keeps to, the same bytes for the same wish. What the rows say is
 * checked by tests/oracle/test_obd_rows.py; the digests below pin files that it has passed. */
#include "base/numbers.h"
#include "generate/generate.h"
#include "generate/obd/obd_drive.h"
#include "generate/shared/whole.h"
#include "generate_lab.h"
#include "test.h"

#include <math.h>

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
