#include "base/numbers/chance.h"
#include "format/values/calendar.h"
#include "generate/generate.h"
#include "generate/mot/mot_fleet.h"
#include "generate/shared/digits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest ids that were published lie just below these. */
#define TEST_IDS    1999999000u
#define VEHICLE_IDS 1499999000u

enum {
    MOST_ROWS = 1000000000, /* their ids are unique and stay below the largest that was published */
    FAILED_MOST = 1024,
    TESTER_ID = 223981155, /* the vehicle of the test entries of 2021 */
    OPENS = 8,             /* o'clock; and it is open for so many minutes */
    OPEN_MINUTES = 600,
};

/* A vehicle at its test: all that a retest has in common with the test before it. */
typedef struct {
    uint32_t id, mileage;
    uint16_t kind, first_year, first_day; /* the day of the year, from 0 */
    uint8_t colour, area;
} car_t;

/* A row: where it has no cell, the car says what the column holds. */
typedef struct {
    car_t car;
    const mot_cell_t *cell[MOT_COLUMNS];
} row_t;

typedef struct {
    const mot_release_t *release;
    uint64_t rows, row, key;
    uint32_t test_key, vehicle_key, vehicles;
    bool header_due;
    unsigned day; /* of the year, from 0 */
    uint64_t day_ends[MOT_DAYS];
    mot_cell_t test_date;
    date_t days[2][MOT_DAYS]; /* of a common and a leap year */
    /* vehicles that failed and have not come back */
    uint32_t failed_in, failed_out;
    car_t failed[FAILED_MOST];
    mot_fleet_t fleet;
    odd_plan_t odd;
} mot_rows_t;

/* ---- setting up ---- */

static void enter_day(mot_rows_t *rows) {
    char text[32];
    const date_t *date = &rows->days[rows->release->year % 4 == 0][rows->day];
    snprintf(text, sizeof text, "%d-%02u-%02u", (int)rows->release->year, date->month, date->day);
    rows->test_date = mot_cell(rows->release, DATE, text);
}

static void destroy(void *maker) {
    mot_rows_t *rows = maker;
    if (rows)
        free(rows->fleet.file.text);
    free(rows);
}

static bool check(const generate_t *what, err_t *err) {
    if (!mot_release_find(what->release, err))
        return false;
    return what->count <= MOST_ROWS ||
           err_set(err, STATUS_USAGE,
                   "--rows %llu: at most %d rows have ids of their own; make several files",
                   (unsigned long long)what->count, MOST_ROWS);
}

static void *begin(const generate_t *what, err_t *err) {
    const mot_release_t *release = mot_release_find(what->release, err);
    mot_rows_t *rows = calloc(1, sizeof *rows);
    if (!rows)
        return err_memory(err, sizeof *rows), NULL;
    uint64_t keys = chance_bits(what->seed, (uint64_t)release->year), sum = 0, until = 0;
    rows->release = release;
    rows->rows = what->count;
    rows->header_due = release->header;
    rows->key = chance_bits(keys, 1);
    rows->test_key = (uint32_t)chance_bits(keys, 2);
    rows->vehicle_key = (uint32_t)chance_bits(keys, 3);
    odd_init(&rows->odd, chance_bits(keys, 4));
    if (!mot_fleet_init(&rows->fleet, release, &rows->odd, err))
        return destroy(rows), NULL;
    for (unsigned day = 0; day < MOT_DAYS; day++) {
        sum += (uint64_t)rows->fleet.test_days[day];
        calendar_date(11323 + day, &rows->days[0][day]); /* 2001 */
        calendar_date(10957 + day, &rows->days[1][day]); /* 2000 */
    }
    for (unsigned day = 0; day < MOT_DAYS; day++) {
        until += (uint64_t)rows->fleet.test_days[day];
        rows->day_ends[day] = (what->count * until + sum - 1) / sum;
    }
    enter_day(rows);
    return rows;
}

/* ---- drawing: 128 random bits a row, taken apart here and nowhere else ---- */

typedef struct {
    unsigned vehicle, due, day, second, colour, area, outcome, mileage, miles, minute;
    bool when_due;
} draw_t;

static inline draw_t draw_row(const mot_rows_t *rows) {
    uint64_t a = chance_bits(rows->key, 2 * rows->row), b = chance_bits(rows->key, 2 * rows->row + 1);
    return (draw_t){
        .vehicle = (unsigned)(a >> 48),
        .when_due = a >> 4 & 1,
        .day = a >> 5 & (MOT_STEPS - 1),
        .due = a >> 17 & 31,
        .second = (unsigned)((a >> 22 & 1023) * 60 >> 10),
        .miles = a >> 32 & 4095,
        .colour = b & (MOT_STEPS - 1),
        .area = b >> 12 & (MOT_STEPS - 1),
        .outcome = b >> 24 & (MOT_STEPS - 1),
        .mileage = b >> 36 & (MOT_MILEAGE_STEPS - 1),
        .minute = (unsigned)((b >> 54) * OPEN_MINUTES >> 10),
    };
}

static uint32_t new_vehicle(mot_rows_t *rows) {
    const uint32_t taken = TESTER_ID - 1;
    uint32_t number = rows->vehicles++;
    if (number == taken)
        number = rows->vehicles++;
    return chance_scatter(number, rows->vehicle_key, VEHICLE_IDS, taken) + 1;
}

static inline car_t new_car(mot_rows_t *rows, const draw_t *draw) {
    const mot_fleet_t *fleet = &rows->fleet;
    unsigned kind = fleet->vehicle_at[draw->vehicle] / MOT_AGES,
             age = fleet->vehicle_at[draw->vehicle] % MOT_AGES;
    unsigned miles_a_year =
        (unsigned)fleet->kind[kind].miles_a_year * fleet->mileage_at[draw->mileage] / 256u;
    /* half of the tests are made when they fall due, in the month before the anniversary of first use */
    unsigned due = (rows->day + draw->due) % 365;
    return (car_t){
        .id = new_vehicle(rows),
        .mileage = miles_a_year * (unsigned)fleet->driven[age] / 64 + draw->miles,
        .kind = (uint16_t)kind,
        .first_day = draw->when_due ? (uint16_t)due : fleet->first_day_at[draw->day],
        .first_year = (uint16_t)((unsigned)rows->release->year - age),
        .colour = (uint8_t)fleet->colour_at[draw->colour],
        .area = (uint8_t)fleet->area_at[draw->area],
    };
}

static inline row_t row_of(const mot_rows_t *rows, car_t car, const mot_outcome_t *outcome) {
    const mot_fleet_t *fleet = &rows->fleet;
    const mot_kind_t *kind = &fleet->kind[car.kind];
    return (row_t){.car = car,
                   .cell = {[DATE] = &rows->test_date,
                            [CLASS] = &fleet->class[kind->test_class],
                            [TYPE] = &outcome->type,
                            [RESULT] = &outcome->result,
                            [AREA] = &fleet->area[car.area],
                            [MAKE] = &kind->make,
                            [MODEL] = &kind->model,
                            [COLOUR] = &fleet->colour[car.colour],
                            [FUEL] = &kind->fuel,
                            [CC] = &kind->cc}};
}

/* ---- writing: copies of fixed size that may write past a field's end, where the next field comes ---- */

static inline char *put_cell(char *to, const mot_cell_t *cell) {
    memcpy(to, cell->text, 16);
    if (cell->length > 16)
        memcpy(to + 16, cell->text + 16, sizeof cell->text - 16);
    return to + cell->length;
}

static inline char *put_id(char *to, uint32_t id) { /* below 2 * 10^9 */
    if (id < 100000000)
        return digits_put(to, id);
    return digits_put_last(digits_put(to, id / 100000000), id % 100000000, 8);
}

static inline char *put_date(char *to, unsigned year, unsigned month, unsigned day) {
    to = digits_put_last(to, year, 4);
    *to++ = '-';
    to = digits_put_last(to, month, 2);
    *to++ = '-';
    return digits_put_last(to, day, 2);
}

static inline char *put_first_use(const mot_rows_t *rows, const car_t *car, char *to) {
    const date_t *date = &rows->days[car->first_year % 4 == 0][car->first_day];
    bool quoted = rows->release->quoting == QUOTING_TEXT;
    *to = '"';
    to = put_date(to + quoted, car->first_year, date->month, date->day);
    *to = '"';
    return to + quoted;
}

/* "2024-05-06T08:30:15.000Z" */
static char *put_completed(const mot_rows_t *rows, const draw_t *draw, char *to) {
    const unsigned parts[] = {OPENS + draw->minute / 60, draw->minute % 60, draw->second};
    to = put_cell(to, &rows->test_date) - 1;
    for (unsigned i = 0; i < 3; i++) {
        *to++ = "T::"[i];
        to = digits_put_last(to, parts[i], 2);
    }
    return stpcpy(to, ".000Z");
}

static inline char *put_row(const mot_rows_t *rows, const row_t *row, const draw_t *draw, char *to) {
    unsigned columns = rows->release->completed ? MOT_COLUMNS : COMPLETED;
    for (unsigned column = TEST; column < columns; column++) {
        if (row->cell[column]) {
            to = put_cell(to, row->cell[column]);
            continue;
        }
        if (column == TEST)
            to = put_id(to, chance_scatter((uint32_t)rows->row, rows->test_key, TEST_IDS, UINT32_MAX) + 1);
        else if (column == VEHICLE)
            to = put_id(to, row->car.id);
        else if (column == MILES)
            to = digits_put(to, row->car.mileage);
        else
            to = column == FIRST_USE ? put_first_use(rows, &row->car, to) : put_completed(rows, draw, to);
        *to++ = rows->release->delimiter;
    }
    to[-1] = '\n';
    return to;
}

static char *usual_row(mot_rows_t *rows, char *to) {
    draw_t draw = draw_row(rows);
    const mot_outcome_t *outcome = &rows->fleet.outcome[rows->fleet.outcome_at[draw.outcome]];
    car_t car;
    if (outcome->retest && rows->failed_out != rows->failed_in) {
        car = rows->failed[rows->failed_out++ % FAILED_MOST];
        car.mileage += draw.miles % 16;
    } else {
        car = new_car(rows, &draw);
    }
    if (outcome->failure && rows->failed_in - rows->failed_out < FAILED_MOST)
        rows->failed[rows->failed_in++ % FAILED_MOST] = car;
    row_t row = row_of(rows, car, outcome);
    return put_row(rows, &row, &draw, to);
}

/* ---- odd rows ---- */

typedef struct {
    const mot_release_t *release;
    row_t row;
    mot_cell_t own[MOT_COLUMNS];
    bool header;
} odd_row_t;

/* What the columns are to hold; false: one must not hold that, and does. */
static bool change(void *of, odd_t *odd) {
    odd_row_t *row = of;
    char place[ODD_WORD], text[ODD_WORD];
    for (const char *at = odd->text; odd_change(odd, &at, place, text);) {
        bool asks = *place == '!';
        unsigned column = mot_column_of(place + asks);
        row->header |= column == MOT_COLUMNS;
        if (column == MOT_COLUMNS)
            continue;
        mot_cell_t cell = mot_cell(row->release, column, text);
        if (asks && row->row.cell[column]->length == cell.length)
            return false;
        if (asks)
            continue;
        row->own[column] = cell;
        row->row.cell[column] = &row->own[column];
    }
    return true;
}

/* Always of a vehicle of its own: what is odd about it must not look like a change from test to test. */
static __attribute__((noinline)) char *put_odd_row(mot_rows_t *rows, char *to) {
    draw_t draw = draw_row(rows);
    odd_row_t odd = {.release = rows->release};
    odd.row = row_of(rows, new_car(rows, &draw), &rows->fleet.outcome[rows->fleet.outcome_at[draw.outcome]]);
    odd_apply(&rows->odd, change, &odd);
    if (odd.header)
        to = mot_put_header(rows->release, to);
    return put_row(rows, &odd.row, &draw, to);
}

static size_t fill(void *maker, char *to, size_t room) {
    mot_rows_t *rows = maker;
    char *start = to, *last = to + room - GENERATE_LEAST_ROOM;
    if (rows->header_due)
        to = mot_put_header(rows->release, to);
    rows->header_due = false;
    for (; rows->row < rows->rows && to <= last; rows->row++) {
        for (; rows->row >= rows->day_ends[rows->day]; enter_day(rows))
            rows->day++;
        to = rows->row == rows->odd.next ? put_odd_row(rows, to) : usual_row(rows, to);
    }
    return (size_t)(to - start);
}

const generate_kind_t generate_mot = {
    .name = "mot", .unit = "rows", .check = check, .begin = begin, .fill = fill, .end = destroy};
