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

/* What a row says behind its time, car and trip: name of the column, decimal places. */
#define OBD_VALUES(X)                                                                                        \
    X(TRIP_TIME, "tripTimeSeconds", 0)                                                                       \
    X(TRIP_DISTANCE, "tripDistanceKilometres", 3)                                                            \
    X(LATITUDE, "gpsLatitudeDegrees", 6)                                                                     \
    X(LONGITUDE, "gpsLongitudeDegrees", 6)                                                                   \
    X(ALTITUDE, "gpsAltitudeMetres", 1)                                                                      \
    X(BEARING, "gpsBearingDegrees", 1)                                                                       \
    X(GPS_SPEED, "gpsSpeedKilometresPerHour", 1)                                                             \
    X(ACCURACY, "gpsHorizontalAccuracyMetres", 1)                                                            \
    X(RPM, "engineRevolutionsPerMinute", 2)                                                                  \
    X(SPEED, "vehicleSpeedKilometresPerHour", 0)                                                             \
    X(LOAD, "calculatedEngineLoadPercent", 1)                                                                \
    X(ABSOLUTE_LOAD, "absoluteEngineLoadPercent", 1)                                                         \
    X(COOLANT, "engineCoolantTemperatureCelsius", 0)                                                         \
    X(OIL, "engineOilTemperatureCelsius", 0)                                                                 \
    X(INTAKE_AIR, "intakeAirTemperatureCelsius", 0)                                                          \
    X(AMBIENT_AIR, "ambientAirTemperatureCelsius", 0)                                                        \
    X(CATALYST, "catalystTemperatureCelsius", 1)                                                             \
    X(MANIFOLD, "intakeManifoldPressureKilopascals", 0)                                                      \
    X(BAROMETER, "barometricPressureKilopascals", 0)                                                         \
    X(FUEL_RAIL, "fuelRailPressureKilopascals", 0)                                                           \
    X(AIR_FLOW, "massAirFlowGramsPerSecond", 2)                                                              \
    X(THROTTLE, "absoluteThrottlePositionPercent", 1)                                                        \
    X(THROTTLE_WANTED, "commandedThrottleActuatorPercent", 1)                                                \
    X(PEDAL, "acceleratorPedalPositionPercent", 1)                                                           \
    X(TIMING, "ignitionTimingAdvanceDegrees", 1)                                                             \
    X(SHORT_TRIM, "shortTermFuelTrimPercent", 1)                                                             \
    X(LONG_TRIM, "longTermFuelTrimPercent", 1)                                                               \
    X(LAMBDA_WANTED, "commandedEquivalenceRatioLambda", 3)                                                   \
    X(LAMBDA, "measuredEquivalenceRatioLambda", 3)                                                           \
    X(OXYGEN, "oxygenSensorBehindCatalystVolts", 3)                                                          \
    X(PURGE, "commandedEvaporativePurgePercent", 1)                                                          \
    X(FUEL_RATE, "engineFuelRateLitresPerHour", 2)                                                           \
    X(FUEL_LEVEL, "fuelTankLevelPercent", 1)                                                                 \
    X(VOLTAGE, "controlModuleVoltageVolts", 2)                                                               \
    X(AHEAD, "longitudinalAccelerationMetresPerSecondSquared", 2)                                            \
    X(ASIDE, "lateralAccelerationMetresPerSecondSquared", 2)                                                 \
    X(UPWARDS, "verticalAccelerationMetresPerSecondSquared", 2)

typedef enum {
#define OBD_VALUE(id, name, places) OBD_##id,
    OBD_VALUES(OBD_VALUE)
#undef OBD_VALUE
        OBD_VALUE_COUNT
} obd_value_t;

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

/* Of 1/100 degrees, in 1/10000. */
int32_t obd_sine(int32_t angle);

#endif
