#include "generate/obd/obd_drive.h"
#include "base/numbers.h"
#include "generate/shared/whole.h"

#include <stdlib.h>

enum {
    SHORTEST_TRIP = 300,
    LONGEST_TRIP = 2100,
    PARKING_TIME = 45, /* before the end of a trip the car comes to a stand */
    GEARS = 6,
    FAR_AWAY = 2500000, /* 10^-7 degrees: from there it turns homewards */
    CORNER_TIME = 6,
    SEA_LEVEL = 1013, /* 1/10 kPa */
};

/* Takes eight bits: evenly from -most to most. */
static int32_t noise(uint64_t *bits, int32_t most) {
    int32_t byte = (int32_t)(*bits & 255);
    *bits >>= 8;
    return (byte * 2 - 255) * most / 255;
}

static int32_t between(uint64_t *bits, int32_t least, int32_t most) {
    int32_t part = (int32_t)(*bits & 0xfff);
    *bits >>= 12;
    return least + (int32_t)((int64_t)(most - least) * part / 0xfff);
}

/* ---- a car, and the beginning of a trip ---- */

/* One draw a statement: initialisers in braces have no order. */
void obd_car_init(obd_car_t *car, uint64_t key) {
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

void obd_drive_start(obd_drive_t *drive, obd_car_t *car, uint64_t key, int32_t ambient) {
    uint64_t bits = chance_bits(key, 0);
    int32_t filled = between(&bits, 940, 1000);
    if (car->fuel_ul < (int64_t)car->tank_ml * 200)
        car->fuel_ul = (int64_t)car->tank_ml * filled;
    *drive = (obd_drive_t){
        .car = car,
        .key = key,
        .rpm_quarters = car->idle_rpm * 4,
        .load = 220,
        .ambient = ambient,
        .coolant = ambient + 1500,
        .oil = ambient + 1000,
        .intake_air = ambient + 2000,
        .catalyst = ambient,
        .lambda_wanted = 950,
        .lambda = 950,
        .oxygen = 100,
        .voltage = 14350,
        .accuracy = 80,
    };
    drive->seconds = between(&bits, SHORTEST_TRIP, LONGEST_TRIP);
    drive->segment_left = between(&bits, 4, 25);
    drive->goes_far = bits & 1;
}

/* ---- the road ---- */

/* Town at both ends of a trip, and all through those that do not go far. */
static void next_segment(obd_drive_t *drive) {
    uint64_t bits = chance_bits(drive->key, 4 * (uint64_t)drive->second + 7);
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

static void go(obd_drive_t *drive, uint64_t *bits) {
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

/* To the right of where it goes is home? */
static bool home_is_right(const obd_car_t *car) {
    int64_t east =
        (int64_t)(car->home_longitude - car->longitude) * whole_cosine(car->latitude / 100000) / 10000;
    int64_t north = car->home_latitude - car->latitude;
    return east * whole_cosine(car->heading) > north * whole_sine(car->heading);
}

/* Corners where it is slow enough, else gentle curves; no faster round them than tyres hold. */
static void steer(obd_drive_t *drive, uint64_t *bits) {
    obd_car_t *car = drive->car;
    bool far_away = abs(car->latitude - car->home_latitude) > FAR_AWAY ||
                    abs(car->longitude - car->home_longitude) > FAR_AWAY;
    bool right = far_away ? home_is_right(car) : *bits & 1;
    bool corner = (*bits >> 1 & 31) == 0 && drive->speed > 2000 && drive->speed < 14000;
    *bits >>= 8;
    if (drive->corner_left) {
        drive->corner_left--;
    } else if (corner) {
        drive->corner_left = CORNER_TIME;
        drive->corner_turn = right ? 1400 : -1400;
    }
    drive->curve += noise(bits, 60) - drive->curve / 8 + (far_away ? right ? 12 : -12 : 0);
    int32_t most = drive->speed < 1000 ? drive->speed : whole_clamp(17000000 / drive->speed, 0, 1500);
    drive->turn = whole_clamp(drive->corner_left ? drive->corner_turn : drive->curve, -most, most);
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

static void shift(obd_drive_t *drive, uint64_t *bits) {
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

static void pull(obd_drive_t *drive, uint64_t *bits) {
    int64_t speed = drive->speed, mass = drive->car->mass_kg, rpm = drive->rpm_quarters / 4;
    int64_t lifting = drive->acceleration + (int64_t)drive->slope * 981 / 1000;
    int64_t force = mass * lifting / 1000 + mass * 12 / 100 + speed * speed * 38 / 100000000;
    int64_t most_w = drive->car->cc * rpm * 10472 / 1000000;
    drive->power_w = (int32_t)(force * speed / 1000);
    drive->overrun = drive->power_w < -500 && rpm > 1150;
    int32_t load =
        drive->overrun
            ? 40
            : whole_clamp(180 + ((int64_t)whole_larger(drive->power_w, 0) + 400) * 800 / most_w, 150, 985);
    drive->load = whole_clamp(drive->load + (load - drive->load) * 2 / 3 + noise(bits, 10), 20, 995);
}

static void burn(obd_drive_t *drive, uint64_t *bits) {
    int64_t rpm = drive->rpm_quarters / 4;
    drive->lambda_wanted = drive->overrun           ? 1999
                           : drive->load > 880      ? 880
                           : drive->coolant < 40000 ? 950
                                                    : 1000;
    drive->lambda = whole_clamp(
        drive->lambda + (drive->lambda_wanted - drive->lambda) * 2 / 3 + noise(bits, 9), 700, 1999);
    drive->air_flow = (int32_t)(rpm * drive->car->cc * drive->load * 106 / 120000000);
    drive->fuel_rate = drive->overrun ? 0 : (int32_t)((int64_t)drive->air_flow * 329 / drive->lambda_wanted);
    drive->car->fuel_ul -= (int64_t)drive->fuel_rate * 100 / 36;
    drive->short_trim = whole_clamp(drive->short_trim * 3 / 4 + noise(bits, 25), -250, 250);
    int32_t oxygen = drive->overrun ? 40 : drive->lambda_wanted < 1000 ? 840 : 680;
    drive->oxygen = whole_clamp(drive->oxygen + (oxygen - drive->oxygen) / 3 + noise(bits, 25), 0, 1275);
    int32_t purge = drive->coolant < 70000 ? 0 : 100 + drive->load / 2;
    drive->purge =
        whole_clamp(drive->purge + (purge - drive->purge) / 8 + (purge ? noise(bits, 15) : 0), 0, 1000);
}

/* It is colder further up. */
static int32_t outside(const obd_drive_t *drive) {
    return drive->ambient - (drive->car->altitude_mm - drive->car->home_altitude_mm) / 1000 * 65 / 10;
}

static void warm(obd_drive_t *drive, uint64_t *bits) {
    int32_t in_traffic = (int32_t)(INT64_C(176000000) / (8000 + drive->speed));
    int32_t catalyst = drive->overrun ? 380000 : 330000 + drive->load * 400;
    drive->coolant +=
        (int32_t)((int64_t)(92000 - drive->coolant) * (drive->fuel_rate + 30) / 60000) + noise(bits, 120);
    drive->oil += (drive->coolant + 4000 + drive->load * 10 - drive->oil) / 150;
    drive->intake_air += (outside(drive) + 3000 + in_traffic - drive->intake_air) / 40;
    drive->catalyst += (catalyst - drive->catalyst) / 40;
    drive->voltage += (14150 - drive->load / 4 - drive->voltage) / 10 + noise(bits, 25);
    drive->accuracy = whole_clamp(drive->accuracy + (35 - drive->accuracy) / 10 + noise(bits, 5), 15, 200);
}

/* ---- what the sensors say ---- */

/* In the order of the columns, each of which may take random bits. */
static void tell(const obd_drive_t *drive, uint64_t *bits, int32_t values[OBD_VALUE_COUNT]) {
    const obd_car_t *car = drive->car;
    int32_t rpm = drive->rpm_quarters / 4, load = drive->load;
    int32_t barometer = SEA_LEVEL - (int32_t)((int64_t)car->altitude_mm * 117 / 1000000);
    int32_t ahead = drive->acceleration + drive->slope * 981 / 1000;
    int32_t aside = (int32_t)((int64_t)drive->speed * drive->turn * 314 / 1800000);
    int32_t timing = drive->overrun ? 320 : 80 + rpm / 15 - load / 6;
    bool feels = drive->speed > 0;
    int32_t shaking = feels ? 12 : 2;
#define VALUE(id, name, places, value) values[OBD_##id] = value;
    OBD_VALUES(VALUE)
#undef VALUE
}

bool obd_drive_step(obd_drive_t *drive, int32_t values[OBD_VALUE_COUNT]) {
    if (drive->second == drive->seconds)
        return false;
    uint64_t place = 4 * (uint64_t)drive->second;
    uint64_t road = chance_bits(drive->key, place + 4), engine = chance_bits(drive->key, place + 5);
    uint64_t rest = chance_bits(drive->key, place + 6); /* the next one is for segments of the road */
    go(drive, &road);
    steer(drive, &road);
    shift(drive, &engine);
    pull(drive, &engine);
    burn(drive, &engine);
    warm(drive, &rest);
    tell(drive, &rest, values);
    drive->second++;
    return true;
}
