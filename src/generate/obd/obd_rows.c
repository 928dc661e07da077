#include "base/numbers.h"
#include "format/values/calendar.h"
#include "generate/generate.h"
#include "generate/obd/obd_drive.h"
#include "generate/shared/digits.h"
#include "generate/shared/whole.h"

#include <string.h>

enum {
    CARS = 40,
    CAR_IDS = 900000,
    FIRST_CAR_ID = 100000,
    FIRST_DAY = 16440,      /* 2015-01-05, counted from 1970 */
    MOST_ROWS = 1000000000, /* so many take the fleet a working life */
};

#define NAME(id, name, places, value)   "," name
#define PLACES(id, name, places, value) places,
static const uint8_t decimal_places[] = {OBD_VALUES(PLACES)};

/* Each car drives twice a day; where one trip ends, its next begins. */
typedef struct {
    uint64_t key;
    uint32_t trip; /* the one under way, from 1 */
    uint32_t car_id[CARS];
    obd_car_t car[CARS];
    obd_drive_t drive;
    date_t date;
    uint32_t start, milliseconds; /* of the day, of each second */
} obd_rows_t;

/* ---- trips ---- */

/* Warm in July, cold in January; warmer in the evening; a day is like the one before it. */
static int32_t ambient_of(const obd_rows_t *rows, uint64_t day, bool evening) {
    uint64_t weather_key = chance_bits(rows->key, 2);
    int32_t weather = 0, season = whole_sine((int32_t)((day + FIRST_DAY - 110) % 1461 * 36000 * 4 / 1461));
    for (uint64_t before = 0; before < 4; before++)
        weather += (int32_t)(chance_bits(weather_key, day + 4 - before) % 2500);
    return 10000 + season * 9 / 10 + weather - 5000 + (evening ? 4000 : 0);
}

static void next_trip(obd_rows_t *rows) {
    uint64_t number = rows->trip++, day = number / CARS / 2;
    bool evening = number / CARS % 2;
    uint64_t key = chance_bits(chance_bits(rows->key, 1), number), bits = chance_bits(key, 1);
    rows->start = (evening ? 59400 : 23400) + (uint32_t)(bits % 5400);
    rows->milliseconds = (uint32_t)(bits >> 32) % 1000;
    calendar_date((int64_t)day + FIRST_DAY, &rows->date);
    obd_drive_start(&rows->drive, &rows->car[number % CARS], key, ambient_of(rows, day, evening));
}

static char *begin(void *maker, const generate_t *what, char *to, err_t *err) {
    obd_rows_t *rows = maker;
    (void)err;
    rows->key = chance_bits(what->seed, 1996);
    uint64_t cars = chance_bits(rows->key, 0);
    for (uint32_t i = 0; i < CARS; i++) {
        rows->car_id[i] = FIRST_CAR_ID + whole_scatter(i, (uint32_t)cars, CAR_IDS);
        obd_car_init(&rows->car[i], chance_bits(cars, i));
    }
    next_trip(rows);
    return stpcpy(to, "timestamp,vehicleId,tripId" OBD_VALUES(NAME) "\n");
}

/* ---- text ---- */

/* As short as it can be: 12.5, 12. */
static char *put_value(char *to, int32_t value, unsigned places) {
    static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
    uint32_t number = (uint32_t)(value < 0 ? -value : value), rest = number % powers[places];
    *to = '-';
    to = digits_put(to + (value < 0), number / powers[places]);
    if (!rest)
        return to;
    *to++ = '.';
    to = digits_put_last(to, rest, places);
    while (to[-1] == '0')
        to--;
    return to;
}

/* 2015-01-05T23:59:59.123Z, car and trip */
static char *put_trip(const obd_rows_t *rows, int32_t second, char *to) {
    to = digits_put_date(to, rows->date.year, &rows->date);
    to = digits_put_clock(to, rows->start + (uint32_t)second);
    *to++ = '.';
    to = stpcpy(digits_put_last(to, rows->milliseconds, 3), "Z,");
    to = digits_put(to, rows->car_id[(rows->trip - 1) % CARS]);
    *to++ = ',';
    return digits_put(to, rows->trip);
}

static char *put_row(void *maker, char *to) {
    obd_rows_t *rows = maker;
    int32_t values[OBD_VALUE_COUNT];
    while (!obd_drive_step(&rows->drive, values))
        next_trip(rows);
    to = put_trip(rows, values[OBD_TRIP_TIME], to);
    for (unsigned i = 0; i < OBD_VALUE_COUNT; i++) {
        *to++ = ',';
        to = put_value(to, values[i], decimal_places[i]);
    }
    *to++ = '\n';
    return to;
}

const generate_kind_t generate_obd = {"obd",     "rows",         sizeof(obd_rows_t),
                                      MOST_ROWS, .begin = begin, .put_row = put_row};
