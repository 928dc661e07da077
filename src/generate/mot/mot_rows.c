#include "base/numbers.h"
#include "format/values/calendar.h"
#include "generate/generate.h"
#include "generate/mot/mot_fleet.h"
#include "generate/shared/digits.h"
#include "generate/shared/whole.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TEST_IDS = 1999999000, /* the largest ids that were published lie just below these */
    VEHICLE_IDS = 1499999000,
    MOST_ROWS = 1000000000, /* their ids are unique and stay below the largest that was published */
    FAILED_MOST = 1024,
    OPENS = 8 * 60, /* minutes: from eight o'clock, for ten hours */
    OPEN_MINUTES = 600,
};

/* A vehicle at its test: all that a retest has in common with the test before it. */
typedef struct {
    uint32_t id, mileage;
    uint16_t kind, first_year, first_day; /* the day of the year, from 0 */
    uint8_t colour, area;
} car_t;

typedef struct {
    const mot_release_t *release;
    uint64_t rows, row, key;
    uint32_t test_key, vehicle_key, vehicles;
    unsigned day; /* of the year, from 0 */
    mot_cell_t test_date;
    date_t days[2][MOT_DAYS]; /* of a common and a leap year */
    /* vehicles that failed and have not come back */
    uint32_t failed_in, failed_out;
    car_t failed[FAILED_MOST];
    mot_fleet_t fleet;
    odd_plan_t odd;
} mot_rows_t;

/* ---- columns ---- */

#define NAME(column, name) name,
static const char *const column_names[MOT_COLUMNS] = {MOT_COLUMN_NAMES(NAME)};

/* MOT_COLUMNS: there is none. */
static unsigned column_of(const char *name) {
    unsigned column = 0;
    while (column < MOT_COLUMNS && strcmp(column_names[column], name) != 0)
        column++;
    return column;
}

static char *put_header(const mot_release_t *release, char *to) {
    for (unsigned column = 0; column < (release->completed ? MOT_COLUMNS : COMPLETED); column++) {
        to = stpcpy(to, column_names[column]);
        *to++ = release->delimiter;
    }
    to[-1] = '\n';
    return to;
}

/* ---- setting up ---- */

static void enter_day(mot_rows_t *rows) {
    char text[32];
    const date_t *date = &rows->days[rows->release->year % 4 == 0][rows->day];
    snprintf(text, sizeof text, "%d-%02u-%02u", (int)rows->release->year, date->month, date->day);
    rows->test_date = mot_cell(rows->release, DATE, text);
}

static bool check(const generate_t *what, err_t *err) {
    return mot_release_find(what->release, err);
}

static char *begin(void *maker, const generate_t *what, char *to, err_t *err) {
    mot_rows_t *rows = maker;
    const mot_release_t *release = mot_release_find(what->release, err);
    uint64_t keys = chance_bits(what->seed, (uint64_t)release->year);
    rows->release = release;
    rows->rows = what->count;
    rows->key = chance_bits(keys, 1);
    rows->test_key = (uint32_t)chance_bits(keys, 2);
    rows->vehicle_key = (uint32_t)chance_bits(keys, 3);
    odd_init(&rows->odd, chance_bits(keys, 4));
    for (unsigned day = 0; day < MOT_DAYS; day++) {
        calendar_date(11323 + day, &rows->days[0][day]); /* 2001 */
        calendar_date(10957 + day, &rows->days[1][day]); /* 2000 */
    }
    enter_day(rows);
    if (!mot_fleet_init(&rows->fleet, release, &rows->odd, err))
        return NULL;
    return release->oldest ? to : put_header(release, to);
}

static void end(void *maker) {
    free(((mot_rows_t *)maker)->fleet.file.text);
}

/* ---- drawing: 128 random bits a row ---- */

typedef struct {
    uint64_t a, b;
} draw_t;

static inline draw_t draw_row(const mot_rows_t *rows) {
    return (draw_t){chance_bits(rows->key, 2 * rows->row), chance_bits(rows->key, 2 * rows->row + 1)};
}

static inline unsigned part(uint64_t bits, unsigned from, unsigned count) {
    return (unsigned)(bits >> from & ((1u << count) - 1));
}

static inline const mot_outcome_t *draw_outcome(const mot_fleet_t *fleet, draw_t draw) {
    return &fleet->outcome[fleet->outcome_at[part(draw.b, 24, 12)]];
}

/* In 256ths of its kind's average: between two quantiles. */
static inline unsigned mileage_at(const mot_fleet_t *fleet, unsigned step) {
    enum { PARTS = MOT_MILEAGE_STEPS / (MOT_SPREAD_POINTS - 1) };
    const int64_t *from = &fleet->lists[MILEAGE][step / PARTS];
    return (unsigned)(from[0] * (PARTS - step % PARTS) + from[1] * (step % PARTS)) / PARTS;
}

static inline car_t new_car(mot_rows_t *rows, draw_t draw) {
    const mot_fleet_t *fleet = &rows->fleet;
    unsigned vehicle = fleet->vehicle_at[part(draw.a, 48, 16)];
    unsigned kind = vehicle / MOT_AGES, age = vehicle % MOT_AGES;
    unsigned miles_a_year =
        (unsigned)fleet->kind[kind].miles_a_year * mileage_at(fleet, part(draw.b, 36, 8)) / 256u;
    /* half of the tests are made when they fall due, in the month before the anniversary of first use */
    bool when_due = part(draw.a, 4, 1);
    unsigned due = (rows->day + part(draw.a, 17, 5)) % 365;
    return (car_t){
        .id = whole_scatter(rows->vehicles++, rows->vehicle_key, VEHICLE_IDS) + 1,
        .mileage = miles_a_year * (unsigned)fleet->lists[DRIVEN][age] / 64 + part(draw.a, 32, 12),
        .kind = (uint16_t)kind,
        .first_day = when_due ? (uint16_t)due : fleet->first_day_at[part(draw.a, 5, 12)],
        .first_year = (uint16_t)((unsigned)rows->release->year - age),
        .colour = (uint8_t)fleet->colour_at[part(draw.b, 0, 12)],
        .area = (uint8_t)fleet->area_at[part(draw.b, 12, 12)],
    };
}

/* ---- writing: copies of fixed size that may write past a field's end, where the next field comes ---- */

static inline char *put_cell(char *to, const mot_cell_t *cell) {
    memcpy(to, cell->text, 16);
    if (cell->length > 16)
        memcpy(to + 16, cell->text + 16, sizeof cell->text - 16);
    return to + cell->length;
}

static inline char *put_number(char *to, uint32_t number, char delimiter) {
    to = digits_put_long(to, number);
    *to++ = delimiter;
    return to;
}

static inline char *put_first_use(const mot_rows_t *rows, const car_t *car, char *to) {
    const date_t *date = &rows->days[car->first_year % 4 == 0][car->first_day];
    bool quoted = rows->release->quoting == QUOTING_TEXT;
    *to = '"';
    to = digits_put_date(to + quoted, car->first_year, date);
    *to = '"';
    to[quoted] = rows->release->delimiter;
    return to + quoted + 1;
}

/* "2024-05-06T08:30:15.000Z" */
static char *put_completed(const mot_rows_t *rows, draw_t draw, char *to) {
    unsigned minute = OPENS + part(draw.b, 54, 10) * OPEN_MINUTES / 1024;
    to = put_cell(to, &rows->test_date) - 1;
    to = digits_put_clock(to, minute * 60 + part(draw.a, 22, 10) * 60 / 1024);
    to = stpcpy(to, ".000Z");
    *to++ = rows->release->delimiter;
    return to;
}

static inline char *put_test(const mot_rows_t *rows, const car_t *car, const mot_outcome_t *outcome,
                             draw_t draw, char *to) {
    const mot_fleet_t *fleet = &rows->fleet;
    const mot_kind_t *kind = &fleet->kind[car->kind];
    char delimiter = rows->release->delimiter;
    to = put_number(to, whole_scatter((uint32_t)rows->row, rows->test_key, TEST_IDS) + 1, delimiter);
    to = put_number(to, car->id, delimiter);
    to = put_cell(to, &rows->test_date);
    to = put_cell(to, &fleet->class[kind->test_class]);
    to = put_cell(to, &outcome->type);
    to = put_cell(to, &outcome->result);
    to = put_number(to, car->mileage, delimiter);
    to = put_cell(to, &fleet->area[car->area]);
    to = put_cell(to, &kind->make);
    to = put_cell(to, &kind->model);
    to = put_cell(to, &fleet->colour[car->colour]);
    to = put_cell(to, &kind->fuel);
    to = put_cell(to, &kind->cc);
    to = put_first_use(rows, car, to);
    if (rows->release->completed)
        to = put_completed(rows, draw, to);
    to[-1] = '\n';
    return to;
}

static char *put_usual_row(mot_rows_t *rows, char *to) {
    draw_t draw = draw_row(rows);
    const mot_outcome_t *outcome = draw_outcome(&rows->fleet, draw);
    car_t car;
    if (outcome->retest && rows->failed_out != rows->failed_in) {
        car = rows->failed[rows->failed_out++ % FAILED_MOST];
        car.mileage += part(draw.a, 32, 4);
    } else {
        car = new_car(rows, draw);
    }
    if (outcome->failure && rows->failed_in - rows->failed_out < FAILED_MOST)
        rows->failed[rows->failed_in++ % FAILED_MOST] = car;
    return put_test(rows, &car, outcome, draw, to);
}

/* ---- odd rows ---- */

typedef struct {
    const mot_release_t *release;
    mot_cell_t cell[MOT_COLUMNS];
    bool header;
} odd_row_t;

/* What a column is to hold. */
static bool change(void *of, char asks, const char *place, const char *text) {
    odd_row_t *row = of;
    unsigned column = column_of(place);
    mot_cell_t cell = mot_cell(row->release, column, text);
    if (column == MOT_COLUMNS)
        row->header = true;
    else if (asks)
        return row->cell[column].length != cell.length;
    else
        row->cell[column] = cell;
    return true;
}

/* Always of a vehicle of its own: what is odd about it must not look like a change from test to test. */
static __attribute__((noinline)) char *put_odd_row(mot_rows_t *rows, char *to) {
    draw_t draw = draw_row(rows);
    car_t car = new_car(rows, draw);
    odd_row_t odd = {.release = rows->release};
    const char *end = put_test(rows, &car, draw_outcome(&rows->fleet, draw), draw, to), *from = to;
    unsigned columns = 0;
    for (; from < end; from += odd.cell[columns++].length) {
        mot_cell_t *cell = &odd.cell[columns];
        cell->length = (uint8_t)(strcspn(from, (char[]){rows->release->delimiter, '\n', '\0'}) + 1);
        memcpy(cell->text, from, cell->length);
        cell->text[cell->length - 1] = rows->release->delimiter;
    }
    odd_apply(&rows->odd, change, &odd);
    if (odd.header)
        to = put_header(rows->release, to);
    for (unsigned column = 0; column < columns; column++)
        to = put_cell(to, &odd.cell[column]);
    to[-1] = '\n';
    return to;
}

static char *put_row(void *maker, char *to) {
    mot_rows_t *rows = maker;
    const int64_t *ends = rows->fleet.day_ends;
    for (; rows->row * (uint64_t)ends[MOT_DAYS - 1] >= rows->rows * (uint64_t)ends[rows->day];
         enter_day(rows))
        rows->day++;
    to = rows->row == rows->odd.next ? put_odd_row(rows, to) : put_usual_row(rows, to);
    rows->row++;
    return to;
}

const generate_kind_t generate_mot = {"mot", "rows", sizeof(mot_rows_t), MOST_ROWS, check, begin, put_row,
                                      end,   NULL};
