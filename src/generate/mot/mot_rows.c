#include "generate/generate.h"
#include "base/numbers/chance.h"
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
};

/* Columns; DATE to TYPE, AREA, and COLOUR to CC have a cell in each row. */
enum { TEST, VEHICLE, DATE, CLASS, TYPE, RESULT, MILES, AREA, MAKE, MODEL };
enum { COLOUR = MODEL + 1, FUEL, CC, FIRST_USE, COMPLETED, COLUMNS };

static const char *const columns[COLUMNS] = {
    "test_id",     "vehicle_id",   "test_date",         "test_class_id",  "test_type",
    "test_result", "test_mileage", "postcode_area",     "make",           "model",
    "colour",      "fuel_type",    "cylinder_capacity", "first_use_date", "completed_date"};

/* A vehicle at its test: all that a retest has in common with the test before it. */
typedef struct {
    uint32_t id, mileage;
    uint16_t kind, first_day; /* of the year, from 0 */
    uint8_t first_year;       /* since MOT_FIRST_YEAR */
    uint8_t colour, area;
} car_t;

typedef struct {
    car_t car;
    const mot_chunk_t *cell[COLUMNS]; /* NULL: as the car has it */
    const mot_name_t *name;
} row_t;

typedef struct {
    const mot_release_t *release;
    uint64_t rows, row, key;
    uint32_t test_key, vehicle_key, vehicles;
    bool header_due;
    int32_t day; /* of the year, from 0 */
    uint64_t day_ends[366];
    mot_chunk_t test_date;
    /* vehicles that failed and have not come back */
    uint32_t failed_in, failed_out;
    car_t failed[FAILED_MOST];
    mot_fleet_t fleet;
    odd_plan_t odd;
} mot_rows_t;

/* ---- setting up ---- */

static void enter_day(mot_rows_t *rows) {
    rows->test_date = mot_date_of(rows->release, rows->release->year, rows->day);
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
    uint64_t keys = chance_bits(what->seed, (uint64_t)release->year), count = what->count;
    *rows = (mot_rows_t){
        .release = release, .rows = count, .header_due = release->header, .key = chance_bits(keys, 1)};
    rows->test_key = (uint32_t)chance_bits(keys, 2);
    rows->vehicle_key = (uint32_t)chance_bits(keys, 3);
    odd_init(&rows->odd, chance_bits(keys, 4));
    if (!mot_fleet_init(&rows->fleet, release, &rows->odd, err))
        return destroy(rows), NULL;
    const uint64_t *sums = rows->fleet.tests_until, sum = sums[365]; /* of the year */
    for (unsigned day = 0; day < 366; day++)
        rows->day_ends[day] = (count * sums[day] + sum - 1) / sum;
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
        .when_due = a >> 6 & 1,
        .day = a >> 7 & (MOT_DAY_STEPS - 1),
        .due = a >> 17 & 31,
        .second = (unsigned)((a >> 22 & 1023) * 60 >> 10),
        .colour = b & (MOT_COLOUR_STEPS - 1),
        .area = b >> 10 & (MOT_STEPS - 1),
        .outcome = b >> 22 & (MOT_STEPS - 1),
        .mileage = b >> 34 & (MOT_MILEAGE_STEPS - 1),
        .miles = b >> 42 & 4095,
        .minute = (unsigned)((b >> 54) * MOT_OPEN_MINUTES >> 10),
    };
}

static inline uint32_t new_vehicle(mot_rows_t *rows) {
    const uint32_t taken = TESTER_ID - 1;
    uint32_t number = rows->vehicles++;
    if (__builtin_expect(number == taken, 0))
        number = rows->vehicles++;
    return chance_scatter(number, rows->vehicle_key, VEHICLE_IDS, taken) + 1;
}

static inline car_t new_car(mot_rows_t *rows, const draw_t *draw) {
    const mot_fleet_t *fleet = &rows->fleet;
    unsigned kind = fleet->vehicle[draw->vehicle].kind, age = fleet->vehicle[draw->vehicle].age;
    unsigned miles_a_year = fleet->kind[kind].miles_a_year * fleet->mileage_at[draw->mileage] / 256u;
    /* half of the tests are made when they fall due, in the month before the anniversary of first use */
    unsigned due = (unsigned)rows->day + draw->due;
    due -= due >= 365 ? 365 : 0;
    return (car_t){
        .id = new_vehicle(rows),
        .mileage = miles_a_year * (unsigned)fleet->driven[age] / 64 + draw->miles,
        .kind = (uint16_t)kind,
        .first_day = draw->when_due ? (uint16_t)due : fleet->first_day_at[draw->day],
        .first_year = (uint8_t)((unsigned)rows->release->year - age - MOT_FIRST_YEAR),
        .colour = fleet->colour_at[draw->colour],
        .area = fleet->area_at[draw->area],
    };
}

static inline __attribute__((always_inline)) row_t row_of(const mot_rows_t *rows, car_t car,
                                                          unsigned outcome) {
    const mot_fleet_t *fleet = &rows->fleet;
    const mot_kind_t *kind = &fleet->kind[car.kind];
    return (row_t){.car = car,
                   .name = &fleet->name[kind->model],
                   .cell = {[DATE] = &rows->test_date,
                            [CLASS] = &fleet->class[kind->test_class],
                            [TYPE] = &fleet->outcome[outcome].text,
                            [AREA] = &fleet->area[car.area],
                            [COLOUR] = &fleet->colour[car.colour],
                            [FUEL] = &kind->fuel,
                            [CC] = &kind->cc}};
}

/* ---- writing: copies of fixed size that may write past a field's end, where the next field comes ---- */

static inline char *put_chunk(char *to, const mot_chunk_t *chunk) {
    memcpy(to, chunk, sizeof *chunk);
    return to + chunk->length;
}

static inline char *put_name(char *to, const mot_name_t *name) {
    memcpy(to, name, 32);
    if (__builtin_expect(name->length > 32, 0))
        memcpy(to + 32, (const char *)name + 32, 32);
    return to + name->length;
}

static inline char *put_id(char *to, uint32_t id) { /* below 2 * 10^9 */
    uint32_t above = id / 100000000;
    if (__builtin_expect(above == 0, 0))
        return digits_put(to, id);
    *to = '1';
    to += above >= 10;
    *to++ = (char)('0' + above % 10);
    return digits_put_last(to, id % 100000000, 8);
}

static inline char *put_first_use(const mot_fleet_t *fleet, const car_t *car, char *to) {
    memcpy(to, fleet->year[car->first_year], 8);
    to += fleet->year_length;
    memcpy(to, fleet->day[fleet->is_leap[car->first_year]][car->first_day], 8);
    return to + fleet->day_length;
}

/* "2024-05-06T08:30:15.000Z" */
static inline char *put_completed(const mot_rows_t *rows, const draw_t *draw, char *to) {
    to = put_chunk(to, &rows->test_date) - 1;
    *to++ = 'T';
    memcpy(to, rows->fleet.minute[draw->minute], 8);
    to[6] = (char)('0' + draw->second / 10);
    to[7] = (char)('0' + draw->second % 10);
    memcpy(to + 8, ".000Z", 5);
    return to + 14;
}

static inline __attribute__((always_inline)) char *put_row(const mot_rows_t *rows, const row_t *row,
                                                           const draw_t *draw, bool odd, char *to) {
    char delimiter = rows->release->delimiter;
    to = put_id(to, chance_scatter((uint32_t)rows->row, rows->test_key, TEST_IDS, UINT32_MAX) + 1);
    *to++ = delimiter;
    to = put_id(to, row->car.id);
    *to++ = delimiter;
    for (unsigned column = DATE; column <= TYPE; column++)
        to = put_chunk(to, row->cell[column]);
    if (odd && row->cell[MILES]) {
        to = put_chunk(to, row->cell[MILES]);
    } else {
        to = digits_put(to, row->car.mileage);
        *to++ = delimiter;
    }
    to = put_name(put_chunk(to, row->cell[AREA]), row->name);
    for (unsigned column = COLOUR; column <= CC; column++)
        to = put_chunk(to, row->cell[column]);
    to = odd && row->cell[FIRST_USE] ? put_chunk(to, row->cell[FIRST_USE])
                                     : put_first_use(&rows->fleet, &row->car, to);
    if (rows->release->completed)
        to =
            odd && row->cell[COMPLETED] ? put_chunk(to, row->cell[COMPLETED]) : put_completed(rows, draw, to);
    to[-1] = '\n';
    return to;
}

static inline char *usual_row(mot_rows_t *rows, char *to) {
    draw_t draw = draw_row(rows);
    unsigned drawn = rows->fleet.outcome_at[draw.outcome];
    const mot_outcome_t *outcome = &rows->fleet.outcome[drawn];
    bool comes_back = outcome->retest && rows->failed_out != rows->failed_in;
    car_t car;
    if (comes_back) {
        car = rows->failed[rows->failed_out++ % FAILED_MOST];
        car.mileage += draw.miles % 16;
    } else {
        car = new_car(rows, &draw);
    }
    if (outcome->failure && rows->failed_in - rows->failed_out < FAILED_MOST)
        rows->failed[rows->failed_in++ % FAILED_MOST] = car;
    row_t row = row_of(rows, car, drawn);
    return put_row(rows, &row, &draw, false, to);
}

static char *put_header(const mot_rows_t *rows, char *to) {
    for (size_t i = 0; i < (rows->release->completed ? COLUMNS : COMPLETED); i++) {
        to = stpcpy(to, columns[i]);
        *to++ = rows->release->delimiter;
    }
    to[-1] = '\n';
    return to;
}

/* ---- odd rows ---- */

typedef struct {
    const mot_rows_t *rows;
    row_t row;
    mot_chunk_t own[COLUMNS];
    mot_name_t name;
    char make[ODD_WORD], model[ODD_WORD];
    bool header;
} odd_row_t;

/* What a column is to hold; false: it must not hold that, and does. */
static bool change_column(odd_row_t *odd, const char *place, char *text) {
    const mot_release_t *release = odd->rows->release;
    bool asks = *place == '!';
    unsigned column = TEST;
    while (column < COLUMNS && strcmp(columns[column], place + asks) != 0)
        column++;
    for (char *letter = text; *letter; letter++)
        *letter = *letter == '_' ? ' ' : *letter == '%' ? '|' : *letter == '~' ? '\xC9' : *letter;
    text = strcmp(text, "NULL") == 0 ? strcpy(text, release->absent_date) : text;
    bool bare = column == CLASS || column == MILES || column == CC;
    mot_field_t field = bare ? MOT_NUMBER : column == FUEL ? MOT_FUEL : MOT_TEXT;
    if (column == MAKE || column == MODEL) {
        strcpy(column == MAKE ? odd->make : odd->model, text);
        return true;
    }
    mot_chunk_t chunk = mot_chunk_of(release, text, field);
    if (asks)
        return !odd->row.cell[column] || odd->row.cell[column]->length != chunk.length;
    if (column == COLUMNS)
        odd->header = true;
    else if (column == VEHICLE)
        odd->row.car.id = (uint32_t)strtoul(text, NULL, 10);
    else if (column == RESULT) { /* behind the type, which is odd, too */
        memcpy(odd->own[TYPE].text + odd->own[TYPE].length, chunk.text, chunk.length);
        odd->own[TYPE].length = (uint8_t)(odd->own[TYPE].length + chunk.length);
    } else {
        odd->own[column] = chunk;
        odd->row.cell[column] = &odd->own[column];
    }
    return true;
}

static bool change(void *of, odd_t *odd) {
    odd_row_t *row = of;
    char place[ODD_WORD], text[ODD_WORD];
    for (const char *at = odd->text; odd_change(odd, &at, place, text);)
        if (!change_column(row, place, text))
            return false;
    if (*row->model) {
        row->name = mot_name_of(row->rows->release, row->make, row->model);
        row->row.name = &row->name;
    }
    return true;
}

/* Always of a vehicle of its own: what is odd about it must not look like a change from test to test. */
static __attribute__((noinline)) char *put_odd_row(mot_rows_t *rows, char *to) {
    draw_t draw = draw_row(rows);
    odd_row_t odd;
    odd.rows = rows;
    odd.row = row_of(rows, new_car(rows, &draw), rows->fleet.outcome_at[draw.outcome]);
    odd.header = false;
    odd.make[0] = odd.model[0] = 0;
    odd_apply(&rows->odd, change, &odd);
    if (odd.header)
        to = put_header(rows, to);
    return put_row(rows, &odd.row, &draw, true, to);
}

static size_t fill(void *maker, char *to, size_t room) {
    mot_rows_t *rows = maker;
    char *start = to, *last = to + room - GENERATE_LEAST_ROOM;
    if (rows->header_due)
        to = put_header(rows, to);
    rows->header_due = false;
    while (rows->row < rows->rows && to <= last) {
        for (; rows->row >= rows->day_ends[rows->day]; enter_day(rows))
            rows->day++;
        uint64_t until = rows->day_ends[rows->day];
        if (rows->odd.next < until)
            until = rows->odd.next;
        for (; rows->row < until && to <= last; rows->row++)
            to = usual_row(rows, to);
        if (rows->row == rows->odd.next && rows->row < rows->day_ends[rows->day] && to <= last) {
            to = put_odd_row(rows, to);
            rows->row++;
        }
    }
    return (size_t)(to - start);
}

const generate_kind_t generate_mot = {
    .name = "mot", .unit = "rows", .check = check, .begin = begin, .fill = fill, .end = destroy};
