/* obd_drive: a car under way, second by second: what its sensors say follows from one drive, so values belong
 * together and change as smoothly as a car does. Whole numbers only: the same on every machine.
 *
 *      road -> speed -> gear -> revolutions \
 *                \-> force -> power ------- load -> air -> fuel -> heat
 *                 \-> turn -> position */
#ifndef TIPPLE_GENERATE_OBD_OBD_DRIVE_H
#define TIPPLE_GENERATE_OBD_OBD_DRIVE_H

#include "generate/obd/obd_columns.h"

#include <stdbool.h>
#include <stdint.h>

/* A car, and what it keeps from trip to trip. */
typedef struct {
    int32_t mass_kg, cc, final_permille, idle_rpm, long_trim, tank_ml;
    int32_t home_latitude, home_longitude; /* 10^-7 degrees */
    int32_t home_altitude_mm;
    int32_t latitude, longitude, altitude_mm;
    int32_t heading; /* 1/100 degrees, clockwise from north */
    int64_t fuel_ul;
} obd_car_t;

/* A trip. Temperatures in 1/1000 degrees, shares in 1/1000, volts in 1/1000. */
typedef struct {
    obd_car_t *car;
    uint64_t key;
    int32_t second, seconds; /* the one to come, and how many there are */
    bool goes_far;

    int32_t segment_left, segment_speed; /* the speed to have, and how long */
    int32_t speed, acceleration;         /* mm/s */
    int64_t distance_mm;
    int32_t corner_left, corner_turn, curve, slope; /* 1/100 degrees a second; 1/10000 */
    int32_t turn;

    int32_t gear, rpm_quarters, load, power_w;
    bool overrun;                /* the car drives the engine: no fuel */
    int32_t air_flow, fuel_rate; /* 1/100 g/s, 1/100 l/h */
    int32_t ambient, coolant, oil, intake_air, catalyst;
    int32_t lambda_wanted, lambda, oxygen, short_trim, purge, voltage, accuracy;
} obd_drive_t;

void obd_car_init(obd_car_t *car, uint64_t key);

/* The engine is cold, and the tank is filled where it is nearly empty. */
void obd_drive_start(obd_drive_t *drive, obd_car_t *car, uint64_t key, int32_t ambient);

/* Goes on for a second and tells what the sensors say then. False: the trip was over. */
bool obd_drive_step(obd_drive_t *drive, int32_t values[OBD_VALUE_COUNT]);

#endif
