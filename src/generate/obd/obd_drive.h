/* obd_drive: a car under way, second by second: what its sensors say follows from one drive, so values belong
 * together and change as smoothly as a car does. Whole numbers only: the same on every machine.
 *
 *      road -> speed -> gear -> revolutions \
 *                \-> force -> power ------- load -> air -> fuel -> heat
 *                 \-> turn -> position */
#ifndef TIPPLE_GENERATE_OBD_OBD_DRIVE_H
#define TIPPLE_GENERATE_OBD_OBD_DRIVE_H

#include <stdbool.h>
#include <stdint.h>

/* What a row says behind its time, car and trip: the column's name, its decimal places, and how its value follows from the
 * drive, in the last of these places. */
/* clang-format off */
#define OBD_VALUES(X)                                                                                                \
    X(TRIP_TIME, "tripTimeSeconds", 0, drive->second)                                                                \
    X(TRIP_DISTANCE, "tripDistanceKilometres", 3, (int32_t)(drive->distance_mm / 1000))                              \
    X(LATITUDE, "gpsLatitudeDegrees", 6, whole_rounded(car->latitude, 10))                                           \
    X(LONGITUDE, "gpsLongitudeDegrees", 6, whole_rounded(car->longitude, 10))                                        \
    X(ALTITUDE, "gpsAltitudeMetres", 1, whole_rounded(car->altitude_mm, 100))                                        \
    X(BEARING, "gpsBearingDegrees", 1, car->heading / 10)                                                            \
    X(GPS_SPEED, "gpsSpeedKilometresPerHour", 1, feels ? whole_larger(0, drive->speed * 36 / 1000 + noise(bits, 6)) : 0)\
    X(ACCURACY, "gpsHorizontalAccuracyMetres", 1, drive->accuracy)                                                   \
    X(RPM, "engineRevolutionsPerMinute", 2, drive->rpm_quarters * 25)                                                \
    X(SPEED, "vehicleSpeedKilometresPerHour", 0, whole_rounded(drive->speed * 36, 10000))                            \
    X(LOAD, "calculatedEngineLoadPercent", 1, load)                                                                  \
    X(ABSOLUTE_LOAD, "absoluteEngineLoadPercent", 1, load * 9 / 10)                                                  \
    X(COOLANT, "engineCoolantTemperatureCelsius", 0, whole_rounded(drive->coolant, 1000))                            \
    X(OIL, "engineOilTemperatureCelsius", 0, whole_rounded(drive->oil, 1000))                                        \
    X(INTAKE_AIR, "intakeAirTemperatureCelsius", 0, whole_rounded(drive->intake_air, 1000))                          \
    X(AMBIENT_AIR, "ambientAirTemperatureCelsius", 0, whole_rounded(outside(drive), 1000))                           \
    X(CATALYST, "catalystTemperatureCelsius", 1, whole_rounded(drive->catalyst, 100))                                \
    X(MANIFOLD, "intakeManifoldPressureKilopascals", 0, barometer * (180 + load * 8 / 10) / 10000)                   \
    X(BAROMETER, "barometricPressureKilopascals", 0, whole_rounded(barometer, 10))                                   \
    X(FUEL_RAIL, "fuelRailPressureKilopascals", 0, 4000 + load * 9 + rpm / 2)                                        \
    X(AIR_FLOW, "massAirFlowGramsPerSecond", 2, drive->air_flow)                                                     \
    X(THROTTLE, "absoluteThrottlePositionPercent", 1, whole_clamp(130 + (load - 150) * 3 / 4, 110, 1000))            \
    X(THROTTLE_WANTED, "commandedThrottleActuatorPercent", 1, whole_clamp(20 + (load - 150) * 3 / 4, 0, 1000))       \
    X(PEDAL, "acceleratorPedalPositionPercent", 1, drive->power_w > 0 ? whole_clamp((load - 200) * 7 / 6, 0, 1000) : 0)\
    X(TIMING, "ignitionTimingAdvanceDegrees", 1, timing / 5 * 5)                                                     \
    X(SHORT_TRIM, "shortTermFuelTrimPercent", 1, drive->overrun ? 0 : drive->short_trim)                             \
    X(LONG_TRIM, "longTermFuelTrimPercent", 1, car->long_trim + load / 100)                                          \
    X(LAMBDA_WANTED, "commandedEquivalenceRatioLambda", 3, drive->lambda_wanted)                                     \
    X(LAMBDA, "measuredEquivalenceRatioLambda", 3, drive->lambda)                                                    \
    X(OXYGEN, "oxygenSensorBehindCatalystVolts", 3, drive->oxygen)                                                   \
    X(PURGE, "commandedEvaporativePurgePercent", 1, drive->purge)                                                    \
    X(FUEL_RATE, "engineFuelRateLitresPerHour", 2, drive->fuel_rate)                                                 \
    X(FUEL_LEVEL, "fuelTankLevelPercent", 1, (int32_t)(car->fuel_ul / car->tank_ml))                                 \
    X(VOLTAGE, "controlModuleVoltageVolts", 2, whole_rounded(drive->voltage, 10))                                    \
    X(AHEAD, "longitudinalAccelerationMetresPerSecondSquared", 2, ahead / 10 + noise(bits, shaking))                 \
    X(ASIDE, "lateralAccelerationMetresPerSecondSquared", 2, aside / 10 + noise(bits, shaking))                      \
    X(UPWARDS, "verticalAccelerationMetresPerSecondSquared", 2, 981 + noise(bits, 2 + drive->speed / 250))
/* clang-format on */

#define OBD_VALUE_ID(id, name, places, value) OBD_##id,
enum { OBD_VALUES(OBD_VALUE_ID) OBD_VALUE_COUNT };

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
