#include "base/numbers/chance.h"
#include "format/values/calendar.h"
#include "generate/generate.h"
#include "generate/obd/obd_drive.h"
#include "generate/shared/whole.h"
#include "generate/shared/digits.h"

#include <stdlib.h>
#include <string.h>

enum {
    CARS = 40,
    CAR_IDS = 900000,
    FIRST_CAR_ID = 100000,
    FIRST_DAY = 16440,      /* 2015-01-05, counted from 1970 */
    MOST_ROWS = 1000000000, /* so many take the fleet a working life */
};

typedef struct {
    const char *name;
    uint32_t parts; /* of one: 1000 for three decimal places */
    unsigned places;
} column_t;

static const column_t columns[OBD_VALUE_COUNT] = {
#define COLUMN(id, name, places, value)                                                                      \
    {name, places == 0 ? 1 : places == 1 ? 10 : places == 2 ? 100 : places == 3 ? 1000 : 1000000, places},
    OBD_VALUES(COLUMN)
#undef COLUMN
};

/* Each car drives twice a day; where one trip ends, its next begins. */
typedef struct {
    uint64_t left, key;
    bool header_due;
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

static bool check(const generate_t *what, err_t *err) {
    return what->count <= MOST_ROWS ||
           err_set(err, STATUS_USAGE,
                   "--rows %llu: one file has %d rows at most; make several files with seeds of their own",
                   (unsigned long long)what->count, MOST_ROWS);
}

static void *begin(const generate_t *what, err_t *err) {
    obd_rows_t *rows = calloc(1, sizeof *rows);
    if (!rows)
        return err_memory(err, sizeof *rows), NULL;
    rows->left = what->count;
    rows->key = chance_bits(what->seed, 1996);
    rows->header_due = true;
    uint64_t cars = chance_bits(rows->key, 0);
    for (uint32_t i = 0; i < CARS; i++) {
        rows->car_id[i] = FIRST_CAR_ID + chance_scatter(i, (uint32_t)cars, CAR_IDS, UINT32_MAX);
        obd_car_init(&rows->car[i], chance_bits(cars, i));
    }
    next_trip(rows);
    return rows;
}

/* ---- text ---- */

static char *put_header(char *to) {
    to = stpcpy(to, "timestamp,vehicleId,tripId");
    for (const column_t *column = columns; column < columns + OBD_VALUE_COUNT; column++) {
        *to++ = ',';
        to = stpcpy(to, column->name);
    }
    *to++ = '\n';
    return to;
}

/* As short as it can be: 12.5, 12. */
static char *put_value(char *to, int32_t value, const column_t *column) {
    uint32_t number = (uint32_t)value;
    if (value < 0) {
        *to++ = '-';
        number = 0 - number;
    }
    if (!column->places)
        return digits_put(to, number);
    to = digits_put(to, number / column->parts);
    uint32_t rest = number % column->parts;
    if (!rest)
        return to;
    *to++ = '.';
    to = digits_put_last(to, rest, column->places);
    while (to[-1] == '0')
        to--;
    return to;
}

/* YYYY-MM-DDTHH:MM:SS.mmmZ */
static char *put_time(const obd_rows_t *rows, uint32_t second, char *to) {
    uint32_t clock = rows->start + second;
    const uint32_t parts[] = {rows->date.month, rows->date.day, clock / 3600, clock / 60 % 60, clock % 60};
    to = digits_put_last(to, rows->date.year, 4);
    for (unsigned i = 0; i < 5; i++) {
        *to++ = "--T::"[i];
        to = digits_put_last(to, parts[i], 2);
    }
    *to++ = '.';
    to = digits_put_last(to, rows->milliseconds, 3);
    *to++ = 'Z';
    return to;
}

static char *put_row(obd_rows_t *rows, char *to) {
    int32_t values[OBD_VALUE_COUNT];
    while (!obd_drive_step(&rows->drive, values))
        next_trip(rows);
    to = put_time(rows, (uint32_t)values[OBD_TRIP_TIME], to);
    *to++ = ',';
    to = digits_put(to, rows->car_id[(rows->trip - 1) % CARS]);
    *to++ = ',';
    to = digits_put(to, rows->trip);
    for (unsigned i = 0; i < OBD_VALUE_COUNT; i++) {
        *to++ = ',';
        to = put_value(to, values[i], &columns[i]);
    }
    *to++ = '\n';
    return to;
}

static size_t fill(void *maker, char *to, size_t room) {
    obd_rows_t *rows = maker;
    char *start = to, *last = to + room - GENERATE_LEAST_ROOM;
    if (rows->header_due)
        to = put_header(to);
    rows->header_due = false;
    for (; rows->left && to <= last; rows->left--)
        to = put_row(rows, to);
    return (size_t)(to - start);
}

const generate_kind_t generate_obd = {
    .name = "obd", .unit = "rows", .check = check, .begin = begin, .fill = fill, .end = free};
