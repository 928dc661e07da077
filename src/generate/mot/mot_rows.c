#include "generate/mot/mot_rows.h"
#include "base/numbers/chance.h"
#include "generate/write/digits.h"
#include "generate/mot/mot_odd.h"

#include <stdlib.h>
#include <string.h>

/* The largest ids that were published lie just below these. */
#define TEST_IDS    1999999000u
#define VEHICLE_IDS 1499999000u

enum {
    COLOUR_STEPS = 1024,
    AREA_STEPS = 4096,
    OUTCOME_STEPS = 4096,
    DAY_STEPS = 1024,
    MILEAGE_STEPS = 256,
    FAILED_MOST = 1024,
};

struct mot_rows {
    const mot_release_t *release;
    uint64_t rows, row, key;
    uint32_t test_key, vehicle_key, vehicles;
    bool header_due;

    unsigned day; /* of the year, from 0 */
    uint64_t day_ends[366];
    mot_chunk_t test_date, completed_date;

    /* vehicles that failed and have not come back */
    uint32_t failed_in, failed_out;
    mot_car_t failed[FAILED_MOST];

    uint8_t colour_at[COLOUR_STEPS], area_at[AREA_STEPS], outcome_at[OUTCOME_STEPS];
    uint16_t first_day_at[DAY_STEPS], mileage_at[MILEAGE_STEPS];
    bool is_retest[MOT_OUTCOMES], is_failure[MOT_OUTCOMES];
    mot_form_t form;
    mot_fleet_t fleet;
    mot_odd_plan_t odd;
};

/* ---- setting up ---- */

/* The entry that covers each of equal steps, by its share. */
static void spread(uint8_t *at, size_t steps, const uint64_t *shares, size_t count) {
    uint64_t sum = 0, below = 0;
    for (size_t i = 0; i < count; i++)
        sum += shares[i];
    size_t step = 0;
    for (size_t i = 0; i < count; i++) {
        below += shares[i];
        while (step < steps && (2 * step + 1) * sum < below * 2 * steps)
            at[step++] = (uint8_t)i;
    }
}

static void init_shares(mot_rows_t *rows) {
    uint64_t shares[MOT_AREAS];
    size_t count;
    uint64_t later = rows->release->year - 2013u;
    for (count = 0; mot_colours[count].text; count++)
        shares[count] = mot_colours[count].share_2013 * (11 - later) + mot_colours[count].share_2023 * later;
    spread(rows->colour_at, COLOUR_STEPS, shares, count);
    for (count = 0; mot_areas[count].text; count++)
        shares[count] = mot_areas[count].share;
    spread(rows->area_at, AREA_STEPS, shares, count);
    const mot_outcome_t *outcomes = rows->release->outcomes;
    for (count = 0; outcomes[count].type; count++) {
        shares[count] = outcomes[count].share;
        rows->is_retest[count] = outcomes[count].retest;
        rows->is_failure[count] = strcmp(outcomes[count].result, "F") == 0;
    }
    spread(rows->outcome_at, OUTCOME_STEPS, shares, count);
}

static void init_mileages(mot_rows_t *rows) {
    const unsigned steps = MILEAGE_STEPS / (MOT_SPREAD_POINTS - 1);
    for (unsigned i = 0; i < MILEAGE_STEPS; i++) {
        unsigned at = i / steps, part = i % steps;
        unsigned mileage = mot_mileage_spread[at] * (steps - part) + mot_mileage_spread[at + 1] * part;
        rows->mileage_at[i] = (uint16_t)(mileage / steps);
    }
}

/* 0 is Monday; every 400 years are a whole number of weeks. */
static unsigned weekday_of_new_year(unsigned year) {
    unsigned past = year - 1;
    return (past + past / 4 - past / 100 + past / 400) % 7;
}

static void init_days(mot_rows_t *rows) {
    static const uint8_t lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    unsigned year = rows->release->year, weekday = weekday_of_new_year(year), days = 0;
    uint64_t tests[366], sum = 0, first_uses[365];
    for (unsigned month = 0; month < 12; month++) {
        unsigned length = lengths[month] + (month == 1 && mot_is_leap(year) ? 1u : 0u);
        for (unsigned day = 0; day < length; day++, days++)
            tests[days] = sum += (uint64_t)mot_test_months[month] * mot_test_weekdays[(weekday + days) % 7];
    }
    for (unsigned day = 0; day < days; day++)
        rows->day_ends[day] = (rows->rows * tests[day] + sum - 1) / sum;
    days = 0;
    sum = 0;
    for (unsigned month = 0; month < 12; month++)
        for (unsigned day = 0; day < lengths[month]; day++)
            first_uses[days++] = sum += mot_first_use_months[month];
    for (unsigned step = 0, day = 0; step < DAY_STEPS; step++) {
        while (first_uses[day] * 2 * DAY_STEPS <= sum * (2 * step + 1))
            day++;
        rows->first_day_at[step] = (uint16_t)day;
    }
}

static void enter_day(mot_rows_t *rows) {
    const mot_release_t *release = rows->release;
    rows->test_date = mot_date_chunk(release, release->year, rows->day);
    rows->completed_date = rows->test_date;
    rows->completed_date.text[rows->completed_date.length - 1] = 'T';
}

mot_rows_t *mot_rows_new(const mot_release_t *release, uint64_t count, uint64_t seed) {
    mot_rows_t *rows = calloc(1, sizeof *rows);
    if (!rows)
        return NULL;
    rows->release = release;
    rows->rows = count;
    rows->header_due = release->header;
    uint64_t keys = chance_bits(seed, release->year);
    rows->key = chance_bits(keys, 1);
    rows->test_key = (uint32_t)chance_bits(keys, 2);
    rows->vehicle_key = (uint32_t)chance_bits(keys, 3);
    if (!mot_fleet_init(&rows->fleet, release)) {
        free(rows);
        return NULL;
    }
    mot_form_init(&rows->form, release);
    mot_odd_init(&rows->odd, &rows->form, &rows->fleet, chance_bits(keys, 4));
    init_shares(rows);
    init_mileages(rows);
    init_days(rows);
    enter_day(rows);
    return rows;
}

void mot_rows_destroy(mot_rows_t *rows) {
    if (!rows)
        return;
    mot_fleet_clear(&rows->fleet);
    free(rows);
}

/* ---- printing ---- */

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

/* ---- drawing: 128 random bits a row, taken apart here and nowhere else ---- */

typedef struct {
    uint32_t kind;
    unsigned age, due, day, second, colour, area, outcome, mileage, miles, minute;
    bool when_due;
} draw_t;

static inline draw_t draw_row(const mot_rows_t *rows) {
    uint64_t a = chance_bits(rows->key, 2 * rows->row), b = chance_bits(rows->key, 2 * rows->row + 1);
    return (draw_t){
        .kind = (uint32_t)(a >> 32),
        .age = a % MOT_AGES,
        .when_due = a >> 6 & 1,
        .day = a >> 7 & (DAY_STEPS - 1),
        .due = a >> 17 & 31,
        .second = (unsigned)((a >> 22 & 1023) * 60 >> 10),
        .colour = b & (COLOUR_STEPS - 1),
        .area = b >> 10 & (AREA_STEPS - 1),
        .outcome = b >> 22 & (OUTCOME_STEPS - 1),
        .mileage = b >> 34 & (MILEAGE_STEPS - 1),
        .miles = b >> 42 & 4095,
        .minute = (unsigned)((b >> 54) * MOT_OPEN_MINUTES >> 10),
    };
}

static inline uint32_t new_vehicle(mot_rows_t *rows) {
    const uint32_t taken = MOT_TESTER_ID - 1;
    uint32_t number = rows->vehicles++;
    if (__builtin_expect(number == taken, 0))
        number = rows->vehicles++;
    return chance_scatter(number, rows->vehicle_key, VEHICLE_IDS, taken) + 1;
}

static inline mot_car_t new_car(mot_rows_t *rows, const draw_t *draw) {
    unsigned kind = mot_fleet_draw(&rows->fleet, draw->kind);
    unsigned age = rows->fleet.ages[kind][draw->age];
    unsigned miles_a_year = rows->fleet.kind[kind].miles_a_year * rows->mileage_at[draw->mileage] / 256u;
    /* half of the tests are made when they fall due, in the month before the anniversary of first use */
    unsigned due = rows->day + draw->due;
    due -= due >= 365 ? 365 : 0;
    return (mot_car_t){
        .id = new_vehicle(rows),
        .mileage = miles_a_year * mot_driven_at_age[age] / 64 + draw->miles,
        .kind = (uint16_t)kind,
        .first_day = draw->when_due ? (uint16_t)due : rows->first_day_at[draw->day],
        .first_year = (uint8_t)(rows->release->year - age - MOT_FIRST_YEAR),
        .colour = rows->colour_at[draw->colour],
        .area = rows->area_at[draw->area],
    };
}

/* ---- a row; without a swap the compiler drops every question about one ---- */

static inline __attribute__((always_inline)) char *put_row(const mot_rows_t *rows, const mot_car_t *car,
                                                           unsigned outcome, const draw_t *draw,
                                                           const mot_swap_t *swap, char *to) {
    const mot_form_t *form = &rows->form;
    const mot_kind_t *kind = &rows->fleet.kind[car->kind];
    char delimiter = rows->release->delimiter;
    to = put_id(to, chance_scatter((uint32_t)rows->row, rows->test_key, TEST_IDS, UINT32_MAX) + 1);
    *to++ = delimiter;
    to = put_id(to, car->id);
    *to++ = delimiter;
    to = put_chunk(to, swap && swap->test_date.length ? &swap->test_date : &rows->test_date);
    to = put_chunk(to, swap ? &swap->verdict : &form->verdict[kind->test_class][outcome]);
    if (!swap || !swap->no_mileage)
        to = digits_put(to, car->mileage);
    *to++ = delimiter;
    to = put_chunk(to, swap && swap->area.length ? &swap->area : &form->area[car->area]);
    to = put_name(to, swap && swap->name ? swap->name : &rows->fleet.name[kind->name]);
    to = put_chunk(to, &form->colour[car->colour]);
    to = put_chunk(to, swap && swap->engine.length ? &swap->engine : &kind->engine);
    if (swap && (swap->first_use.length || swap->no_first_use)) {
        to = put_chunk(to, &swap->first_use);
    } else {
        memcpy(to, form->year[car->first_year], 8);
        to += form->year_length;
        memcpy(to, form->day[mot_is_leap(car->first_year + MOT_FIRST_YEAR)][car->first_day], 8);
        to += form->day_length;
    }
    if (rows->release->completed && !(swap && swap->no_completed)) {
        to = put_chunk(to, &rows->completed_date);
        memcpy(to, form->minute[draw->minute], 8);
        to[6] = (char)('0' + draw->second / 10);
        to[7] = (char)('0' + draw->second % 10);
        memcpy(to + 8, ".000Z", 5);
        to += 13;
    }
    *to++ = '\n';
    return to;
}

static inline char *plain_row(mot_rows_t *rows, char *to) {
    draw_t draw = draw_row(rows);
    unsigned outcome = rows->outcome_at[draw.outcome];
    mot_car_t car;
    if (rows->is_retest[outcome] && rows->failed_out != rows->failed_in) {
        car = rows->failed[rows->failed_out++ % FAILED_MOST];
        car.mileage += draw.miles % 16;
    } else {
        car = new_car(rows, &draw);
    }
    if (rows->is_failure[outcome] && rows->failed_in - rows->failed_out < FAILED_MOST)
        rows->failed[rows->failed_in++ % FAILED_MOST] = car;
    return put_row(rows, &car, outcome, &draw, NULL, to);
}

static char *put_header(const mot_rows_t *rows, char *to) {
    memcpy(to, rows->form.header, rows->form.header_length);
    return to + rows->form.header_length;
}

/* An odd row is always of a vehicle of its own: what is odd about it must not look like a change from test to
 * test. */
static __attribute__((noinline)) char *odd_row(mot_rows_t *rows, char *to) {
    draw_t draw = draw_row(rows);
    unsigned outcome = rows->outcome_at[draw.outcome];
    mot_car_t car = new_car(rows, &draw);
    mot_swap_t swap;
    mot_odd_apply(&rows->odd, rows->day, outcome, &car, &swap);
    if (swap.header)
        to = put_header(rows, to);
    return put_row(rows, &car, outcome, &draw, &swap, to);
}

size_t mot_rows_fill(mot_rows_t *rows, char *to, size_t room) {
    char *start = to, *last = to + room - MOT_ROWS_LEAST_ROOM;
    if (rows->header_due) {
        to = put_header(rows, to);
        rows->header_due = false;
    }
    while (rows->row < rows->rows && to <= last) {
        while (rows->row >= rows->day_ends[rows->day]) {
            rows->day++;
            enter_day(rows);
        }
        uint64_t until = rows->day_ends[rows->day];
        if (rows->odd.next < until)
            until = rows->odd.next;
        for (; rows->row < until && to <= last; rows->row++)
            to = plain_row(rows, to);
        if (rows->row == rows->odd.next && rows->row < rows->day_ends[rows->day] && to <= last) {
            to = odd_row(rows, to);
            rows->row++;
        }
    }
    return (size_t)(to - start);
}
