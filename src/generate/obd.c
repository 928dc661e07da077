/* obd: the readings of a fleet of cars' sensors, second by second, one trip after the other.
 *
 * A row follows from one drive, so its values belong together and change as smoothly as a car does:
 *
 *      road -> speed -> gear -> revolutions \
 *                \-> force -> power ------- load -> air -> fuel -> heat
 *                 \-> turn -> position
 *
 * Each car drives twice a day; where one trip ends, its next begins. Temperatures are in 1/1000 degrees, shares and volts in
 * 1/1000, places in 10^-7 degrees, angles in 1/100 degrees. */
#include "generate/draw.h"
#include "generate/generate.h"

#include <stdlib.h>
#include <string.h>

enum {
    CARS = 40,
    CAR_IDS = 900000,
    FIRST_CAR_ID = 100000,
    FIRST_DAY = 16440,      /* 2015-01-05, counted from 1970 */
    MOST_ROWS = 1000000000, /* which take the fleet a working life */
    SHORTEST_TRIP = 300,
    LONGEST_TRIP = 2100,
    PARKING_TIME = 45, /* before the end of a trip the car stops */
    GEARS = 6,
    FAR_AWAY = 2500000, /* from there the car turns homewards */
    SEA_LEVEL = 1013,   /* 1/10 kPa */
};

/* What a row says after its time, car and trip: the column's name, its decimal places, and how its value follows from the
 * drive, in the last of these places. A value may take random bits. */
/* clang-format off */
#define OBD_VALUES(X)                                                                                                \
    X("tripTimeSeconds", 0, drive->second)                                                                           \
    X("tripDistanceKilometres", 3, (int32_t)(drive->distance_mm / 1000))                                             \
    X("gpsLatitudeDegrees", 6, whole_rounded(car->latitude, 10))                                                     \
    X("gpsLongitudeDegrees", 6, whole_rounded(car->longitude, 10))                                                   \
    X("gpsAltitudeMetres", 1, whole_rounded(car->altitude_mm, 100))                                                  \
    X("gpsBearingDegrees", 1, car->heading / 10)                                                                     \
    X("gpsSpeedKilometresPerHour", 1, moves ? whole_larger(0, drive->speed * 36 / 1000 + noise(bits, 6)) : 0)        \
    X("gpsHorizontalAccuracyMetres", 1, drive->accuracy)                                                             \
    X("engineRevolutionsPerMinute", 2, drive->rpm_quarters * 25)                                                     \
    X("vehicleSpeedKilometresPerHour", 0, whole_rounded(drive->speed * 36, 10000))                                   \
    X("calculatedEngineLoadPercent", 1, load)                                                                        \
    X("absoluteEngineLoadPercent", 1, load * 9 / 10)                                                                 \
    X("engineCoolantTemperatureCelsius", 0, whole_rounded(drive->coolant, 1000))                                     \
    X("engineOilTemperatureCelsius", 0, whole_rounded(drive->oil, 1000))                                             \
    X("intakeAirTemperatureCelsius", 0, whole_rounded(drive->intake_air, 1000))                                      \
    X("ambientAirTemperatureCelsius", 0, whole_rounded(outside(drive), 1000))                                        \
    X("catalystTemperatureCelsius", 1, whole_rounded(drive->catalyst, 100))                                          \
    X("intakeManifoldPressureKilopascals", 0, barometer * (180 + load * 8 / 10) / 10000)                             \
    X("barometricPressureKilopascals", 0, whole_rounded(barometer, 10))                                              \
    X("fuelRailPressureKilopascals", 0, 4000 + load * 9 + rpm / 2)                                                   \
    X("massAirFlowGramsPerSecond", 2, drive->air_flow)                                                               \
    X("absoluteThrottlePositionPercent", 1, whole_clamp(130 + (load - 150) * 3 / 4, 110, 1000))                      \
    X("commandedThrottleActuatorPercent", 1, whole_clamp(20 + (load - 150) * 3 / 4, 0, 1000))                        \
    X("acceleratorPedalPositionPercent", 1, drive->power_w > 0 ? whole_clamp((load - 200) * 7 / 6, 0, 1000) : 0)     \
    X("ignitionTimingAdvanceDegrees", 1, (drive->overrun ? 320 : 80 + rpm / 15 - load / 6) / 5 * 5)                  \
    X("shortTermFuelTrimPercent", 1, drive->overrun ? 0 : noise(bits, 60))                                           \
    X("longTermFuelTrimPercent", 1, car->long_trim + load / 100)                                                     \
    X("commandedEquivalenceRatioLambda", 3, drive->lambda_wanted)                                                    \
    X("measuredEquivalenceRatioLambda", 3, whole_clamp(drive->lambda_wanted + noise(bits, 9), 700, 1999))            \
    X("oxygenSensorBehindCatalystVolts", 3, oxygen + noise(bits, 40))                                                \
    X("commandedEvaporativePurgePercent", 1, drive->coolant < 70000 ? 0 : 100 + load / 2 + noise(bits, 20))          \
    X("engineFuelRateLitresPerHour", 2, drive->fuel_rate)                                                            \
    X("fuelTankLevelPercent", 1, (int32_t)(car->fuel_ul / car->tank_ml))                                             \
    X("controlModuleVoltageVolts", 2, whole_rounded(14150 - load / 4 + noise(bits, 60), 10))                         \
    X("longitudinalAccelerationMetresPerSecondSquared", 2, ahead / 10 + noise(bits, moves ? 12 : 2))                 \
    X("lateralAccelerationMetresPerSecondSquared", 2, aside / 10 + noise(bits, moves ? 12 : 2))                      \
    X("verticalAccelerationMetresPerSecondSquared", 2, 981 + noise(bits, 2 + drive->speed / 250))
/* clang-format on */

/* A car, and what it keeps from trip to trip. */
typedef struct {
    uint32_t id;
    int32_t mass_kg, cc, final_permille, idle_rpm, long_trim, tank_ml;
    int32_t home_latitude, home_longitude, home_altitude_mm;
    int32_t latitude, longitude, altitude_mm;
    int32_t heading; /* clockwise from north */
    int64_t fuel_ul;
} car_t;

/* A trip. */
typedef struct {
    car_t *car;
    uint64_t key;
    int32_t second, seconds; /* the one to come, and how many there are */
    bool goes_far;

    int32_t segment_left, segment_speed; /* how long the speed is to be had, and the speed */
    int32_t speed, acceleration;         /* mm/s */
    int64_t distance_mm;
    int32_t curve, turn, slope; /* angles a second; 1/10000 */

    int32_t gear, rpm_quarters, load, power_w;
    bool overrun;                /* the car drives the engine: no fuel */
    int32_t air_flow, fuel_rate; /* 1/100 g/s, 1/100 l/h */
    int32_t ambient, coolant, oil, intake_air, catalyst;
    int32_t lambda_wanted, accuracy;
} drive_t;

typedef struct {
    uint64_t key;
    uint32_t trip; /* the one under way, from 1 */
    car_t car[CARS];
    drive_t drive;
    date_t date;
    uint32_t start, milliseconds; /* of the day, of each second */
} obd_t;

/* Takes eight bits: evenly from -most to most. */
static int32_t noise(uint64_t *bits, int32_t most) {
    int32_t byte = (int32_t)(*bits & 255);
    *bits >>= 8;
    return (byte * 2 - 255) * most / 255;
}

/* Takes twelve bits. */
static int32_t between(uint64_t *bits, int32_t least, int32_t most) {
    int32_t part = (int32_t)(*bits & 0xfff);
    *bits >>= 12;
    return least + (int32_t)((int64_t)(most - least) * part / 0xfff);
}

/* ---- the road ---- */

/* Town at both ends of a trip, and all through those that do not go far. */
static void next_segment(drive_t *drive) {
    uint64_t bits = chance_bits(drive->key, 5 * (uint64_t)drive->second + 7);
    static const uint8_t town[8] = {0, 30, 50, 50, 60, 0, 40, 70};
    static const uint8_t land[8] = {80, 100, 100, 120, 130, 90, 70, 110};
    int32_t eighth = drive->second * 8 / drive->seconds;
    bool in_town = !drive->goes_far || eighth == 0 || eighth == 7;
    int32_t kmh = in_town ? town[bits & 7] : land[bits & 7];
    bits >>= 3;
    drive->segment_speed = kmh * 2500 / 9;
    drive->segment_left = !kmh      ? between(&bits, 5, 45)
                          : in_town ? between(&bits, 12, 60)
                                    : between(&bits, 40, 240);
}

static void go(drive_t *drive, uint64_t *bits) {
    if (!drive->segment_left)
        next_segment(drive);
    drive->segment_left--;
    bool stops = drive->seconds - drive->second <= PARKING_TIME || !drive->segment_speed;
    int32_t before = drive->speed, target = stops ? 0 : drive->segment_speed;
    int32_t wanted = whole_clamp((target - before) / 4, -2400, 1900 - before / 30);
    int32_t speed = before + drive->acceleration + (wanted - drive->acceleration) / 2 + noise(bits, 100);
    drive->speed = stops && speed < 250 ? 0 : whole_larger(speed, 0);
    drive->acceleration = drive->speed - before;
    drive->distance_mm += drive->speed;
}

/* 1 to the right, -1 to the left: where home is for a car that is far away, else at random. */
static int32_t side_of(const car_t *car, uint64_t bits) {
    int64_t east = car->home_longitude - car->longitude, north = car->home_latitude - car->latitude;
    if (llabs(east) <= FAR_AWAY && llabs(north) <= FAR_AWAY)
        return bits & 1 ? 1 : -1;
    east = east * whole_cosine(car->latitude / 100000) / 10000;
    return east * whole_cosine(car->heading) > north * whole_sine(car->heading) ? 1 : -1;
}

/* Corners where it is slow enough, else gentle curves; no faster round them than tyres hold. */
static void steer(drive_t *drive, uint64_t *bits) {
    car_t *car = drive->car;
    int32_t side = side_of(car, *bits);
    bool corner = (*bits >> 1 & 31) == 0 && drive->speed > 2000 && drive->speed < 14000;
    *bits >>= 8;
    drive->curve += noise(bits, 60) - drive->curve / 8 + side * (corner ? 1400 : 6);
    int32_t most = drive->speed < 1000 ? drive->speed : whole_clamp(17000000 / drive->speed, 0, 1500);
    drive->turn = whole_clamp(drive->curve, -most, most);
    car->heading = (car->heading + drive->turn + 36000) % 36000;

    /* 1 mm is 0.0898 * 10^-7 degrees of latitude */
    int64_t north = (int64_t)drive->speed * whole_cosine(car->heading),
            east = (int64_t)drive->speed * whole_sine(car->heading);
    car->latitude += (int32_t)(north * 898 / 100000000);
    car->longitude += (int32_t)(east * 898 / 10000 / whole_cosine(car->latitude / 100000));

    int32_t back = (car->home_altitude_mm - car->altitude_mm) / 20000;
    if (drive->speed)
        drive->slope = whole_clamp(drive->slope * 31 / 32 + noise(bits, 80) + back, -800, 800);
    car->altitude_mm += (int32_t)((int64_t)drive->speed * drive->slope / 10000);
}

/* ---- the engine ---- */

static void shift(drive_t *drive, uint64_t *bits) {
    static const int32_t from[GEARS] = {0, 5000, 9000, 14000, 19500, 25000};
    static const int32_t rpm_at_1000[GEARS] = {450, 248, 164, 120, 95, 80};
    while (drive->gear < GEARS - 1 && drive->speed > from[drive->gear + 1])
        drive->gear++;
    while (drive->gear > 0 && drive->speed < from[drive->gear] * 85 / 100)
        drive->gear--;
    int32_t idle = drive->car->idle_rpm + whole_larger(0, 60000 - drive->coolant) / 150;
    int64_t driven = (int64_t)drive->speed * rpm_at_1000[drive->gear] * drive->car->final_permille / 1000000;
    int32_t wanted = 4 * whole_larger(idle, (int32_t)driven);
    drive->rpm_quarters += (wanted - drive->rpm_quarters) * 3 / 4 + noise(bits, 40);
}

static void pull(drive_t *drive, uint64_t *bits) {
    int64_t speed = drive->speed, mass = drive->car->mass_kg, rpm = drive->rpm_quarters / 4;
    int64_t lifting = drive->acceleration + (int64_t)drive->slope * 981 / 1000;
    int64_t force = mass * lifting / 1000 + mass * 12 / 100 + speed * speed * 38 / 100000000;
    int64_t most_w = drive->car->cc * rpm * 10472 / 1000000;
    drive->power_w = (int32_t)(force * speed / 1000);
    drive->overrun = drive->power_w < -500 && rpm > 1150;
    int64_t wanted = 180 + ((int64_t)whole_larger(drive->power_w, 0) + 400) * 800 / most_w;
    int32_t load = drive->overrun ? 40 : whole_clamp(wanted, 150, 985);
    drive->load = whole_clamp(drive->load + (load - drive->load) * 2 / 3 + noise(bits, 10), 20, 995);
}

static void burn(drive_t *drive) {
    int64_t rpm = drive->rpm_quarters / 4;
    int32_t usual = drive->load > 880 ? 880 : drive->coolant < 40000 ? 950 : 1000;
    drive->lambda_wanted = drive->overrun ? 1999 : usual;
    drive->air_flow = (int32_t)(rpm * drive->car->cc * drive->load * 106 / 120000000);
    drive->fuel_rate = drive->overrun ? 0 : (int32_t)((int64_t)drive->air_flow * 329 / drive->lambda_wanted);
    drive->car->fuel_ul -= (int64_t)drive->fuel_rate * 100 / 36;
}

/* It is colder further up. */
static int32_t outside(const drive_t *drive) {
    return drive->ambient - (drive->car->altitude_mm - drive->car->home_altitude_mm) / 1000 * 65 / 10;
}

static void warm(drive_t *drive, uint64_t *bits) {
    int32_t in_traffic = (int32_t)(INT64_C(176000000) / (8000 + drive->speed));
    int32_t catalyst = drive->overrun ? 380000 : 330000 + drive->load * 400;
    int64_t heating = (int64_t)(92000 - drive->coolant) * (drive->fuel_rate + 30) / 60000;
    drive->coolant += (int32_t)heating + noise(bits, 120);
    drive->oil += (drive->coolant + 4000 + drive->load * 10 - drive->oil) / 150;
    drive->intake_air += (outside(drive) + 3000 + in_traffic - drive->intake_air) / 40;
    drive->catalyst += (catalyst - drive->catalyst) / 40;
    drive->accuracy = whole_clamp(drive->accuracy + (35 - drive->accuracy) / 10 + noise(bits, 5), 15, 200);
}

/* ---- cars and trips ---- */

/* One draw a statement: initialisers in braces have no order. */
static void init_car(car_t *car, uint64_t key) {
    uint64_t a = chance_bits(key, 0), b = chance_bits(key, 1);
    int32_t size = between(&a, 0, 1000);
    car->mass_kg = 1050 + size * 9 / 10;
    car->cc = 1000 + size * 15 / 10;
    car->tank_ml = 40000 + size * 30;
    car->final_permille = between(&a, 900, 1100);
    car->idle_rpm = between(&a, 720, 860);
    car->long_trim = between(&a, -60, 70);
    car->fuel_ul = (int64_t)car->tank_ml * between(&a, 250, 1000);
    car->latitude = car->home_latitude = between(&b, 480000, 530000) * 1000 + (int32_t)(key % 1000);
    car->longitude = car->home_longitude = between(&b, 75000, 120000) * 1000 + (int32_t)(key >> 10 & 511);
    car->altitude_mm = car->home_altitude_mm = between(&b, 150, 500) * 1000;
    car->heading = between(&b, 0, 35999);
}

/* Warm in July, cold in January; warmer in the evening; a day is like the one before it. */
static int32_t ambient_of(const obd_t *obd, uint64_t day, bool evening) {
    uint64_t key = chance_bits(obd->key, 2);
    int32_t weather = 0, season = whole_sine((int32_t)((day + FIRST_DAY - 110) % 1461 * 36000 * 4 / 1461));
    for (uint64_t before = 0; before < 4; before++)
        weather += (int32_t)(chance_bits(key, day + 4 - before) % 2500);
    return 10000 + season * 9 / 10 + weather - 5000 + (evening ? 4000 : 0);
}

/* The engine is cold, and the tank is filled where it is nearly empty. */
static void next_trip(obd_t *obd) {
    uint64_t number = obd->trip++, day = number / CARS / 2,
             key = chance_bits(chance_bits(obd->key, 1), number);
    uint64_t bits = chance_bits(key, 0), times = chance_bits(key, 1);
    bool evening = number / CARS % 2;
    car_t *car = &obd->car[number % CARS];
    drive_t *drive = &obd->drive;
    obd->start = (evening ? 59400 : 23400) + (uint32_t)(times % 5400);
    obd->milliseconds = (uint32_t)(times >> 32) % 1000;
    calendar_date((int64_t)day + FIRST_DAY, &obd->date);
    int32_t filled = between(&bits, 940, 1000);
    if (car->fuel_ul < (int64_t)car->tank_ml * 200)
        car->fuel_ul = (int64_t)car->tank_ml * filled;
    *drive = (drive_t){.car = car, .key = key, .rpm_quarters = car->idle_rpm * 4};
    drive->load = 220;
    drive->accuracy = 80;
    drive->ambient = drive->catalyst = ambient_of(obd, day, evening);
    drive->coolant = drive->oil = drive->intake_air = drive->ambient + 1500;
    drive->seconds = between(&bits, SHORTEST_TRIP, LONGEST_TRIP);
    drive->segment_left = between(&bits, 4, 25);
    drive->goes_far = bits & 1;
}

#define NAME(name, places, value) "," name

static char *begin(void *maker, const generate_t *what, char *to, err_t *err) {
    obd_t *obd = maker;
    (void)err;
    obd->key = chance_bits(what->seed, 1996);
    uint64_t cars = chance_bits(obd->key, 0);
    for (uint32_t i = 0; i < CARS; i++) {
        obd->car[i].id = FIRST_CAR_ID + whole_scatter(i, (uint32_t)cars, CAR_IDS);
        init_car(&obd->car[i], chance_bits(cars, i));
    }
    next_trip(obd);
    return stpcpy(to, "timestamp,vehicleId,tripId" OBD_VALUES(NAME) "\n");
}

/* ---- rows ---- */

/* After a comma, as short as it can be: 12.5, 12. */
static char *put_value(char *to, int32_t value, unsigned places) {
    static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
    uint32_t number = (uint32_t)abs(value), rest = number % powers[places];
    *to++ = ',';
    *to = '-';
    to = digits_put(to + (value < 0), number / powers[places], 0);
    if (!rest)
        return to;
    *to++ = '.';
    to = digits_put(to, rest, places);
    while (to[-1] == '0')
        to--;
    return to;
}

/* 2015-01-05T23:59:59.123Z, car and trip */
static char *put_trip(const obd_t *obd, char *to) {
    to = digits_put_date(to, obd->date.year, &obd->date);
    to = digits_put_clock(to, obd->start + (uint32_t)obd->drive.second);
    *to++ = '.';
    to = stpcpy(digits_put(to, obd->milliseconds, 3), "Z,");
    to = digits_put(to, obd->drive.car->id, 0);
    *to++ = ',';
    return digits_put(to, obd->trip, 0);
}

#define PUT(name, places, value) to = put_value(to, value, places);

static char *put_values(const drive_t *drive, uint64_t *bits, char *to) {
    const car_t *car = drive->car;
    const int32_t rpm = drive->rpm_quarters / 4, load = drive->load;
    const int32_t barometer = SEA_LEVEL - (int32_t)((int64_t)car->altitude_mm * 117 / 1000000);
    const int32_t ahead = drive->acceleration + drive->slope * 981 / 1000;
    const int32_t aside = (int32_t)((int64_t)drive->speed * drive->turn * 314 / 1800000);
    const int32_t oxygen = drive->overrun ? 40 : drive->lambda_wanted < 1000 ? 840 : 680;
    const bool moves = drive->speed > 0;
    OBD_VALUES(PUT)
    return to;
}

static char *put_row(void *maker, char *to) {
    obd_t *obd = maker;
    drive_t *drive = &obd->drive;
    if (drive->second == drive->seconds)
        next_trip(obd);
    uint64_t place = 5 * (uint64_t)drive->second; /* the third one after it is for segments of the road */
    uint64_t road = chance_bits(drive->key, place + 4), engine = chance_bits(drive->key, place + 5);
    uint64_t rest = chance_bits(drive->key, place + 6), sensors = chance_bits(drive->key, place + 8);
    go(drive, &road);
    steer(drive, &road);
    shift(drive, &engine);
    pull(drive, &engine);
    burn(drive);
    warm(drive, &rest);
    to = put_values(drive, &sensors, put_trip(obd, to));
    drive->second++;
    *to++ = '\n';
    return to;
}

const generate_kind_t generate_obd = {"obd",     "rows",         sizeof(obd_t),
                                      MOST_ROWS, .begin = begin, .put_row = put_row};
