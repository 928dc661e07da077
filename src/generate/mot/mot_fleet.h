/* mot_fleet: the vehicles of a year, ready to be drawn: every model with every engine as a kind, weighted by the tests
 * it has in that year; and the fields that rows are put together from, each with its delimiter. What vehicles are like
 * is in the data file mot. */
#ifndef TIPPLE_GENERATE_MOT_MOT_FLEET_H
#define TIPPLE_GENERATE_MOT_MOT_FLEET_H

#include "generate/mot/mot_release.h"
#include "generate/shared/facts.h"
#include "generate/shared/odd.h"

enum {
    MOT_KINDS = 2048,
    MOT_MODELS = 512,
    MOT_AGES = 64,
    MOT_OLDEST_AGE = 60,
    MOT_FIRST_YEAR = 1900,
    MOT_YEARS = 128,
    MOT_FUEL_YEARS = 35, /* from 1990 on */
    MOT_SPREAD_POINTS = 33,
    MOT_CLASSES = 8,
    MOT_OUTCOMES = 16,
    MOT_COLOURS = 32,
    MOT_AREAS = 128,
    MOT_STEPS = 4096,
    MOT_COLOUR_STEPS = 1024,
    MOT_DAY_STEPS = 1024,
    MOT_MILEAGE_STEPS = 256,
    MOT_OPEN_MINUTES = 600, /* from 8:00 on */
};

typedef struct {
    mot_chunk_t fuel, cc;
    uint16_t model, miles_a_year;
    uint8_t test_class;
} mot_kind_t;

/* A slot of the alias method: below the threshold its own kind, else the other one. */
typedef struct {
    uint32_t threshold;
    uint16_t other;
} mot_slot_t;

typedef struct {
    mot_chunk_t text; /* type and result */
    bool retest, failure;
} mot_outcome_t;

typedef struct {
    const mot_release_t *release;
    facts_t file;
    int32_t diesel[MOT_FUEL_YEARS], electric[MOT_FUEL_YEARS]; /* percent */
    int32_t tests[MOT_OLDEST_AGE + 1], driven[MOT_OLDEST_AGE + 1], mileage[MOT_SPREAD_POINTS];
    int32_t first_use[12], months[12], weekdays[7];
    size_t kinds, models;
    mot_kind_t kind[MOT_KINDS];
    mot_slot_t slots[MOT_KINDS];
    uint64_t weights[MOT_KINDS];
    mot_name_t name[MOT_MODELS];
    mot_outcome_t outcome[MOT_OUTCOMES];
    mot_chunk_t class[MOT_CLASSES], colour[MOT_COLOURS], area[MOT_AREAS];
    /* what is drawn, at equal steps of probability */
    uint8_t ages[MOT_KINDS][MOT_AGES], colour_at[MOT_COLOUR_STEPS], area_at[MOT_STEPS], outcome_at[MOT_STEPS];
    uint16_t first_day_at[MOT_DAY_STEPS], mileage_at[MOT_MILEAGE_STEPS];
    uint64_t tests_until[366]; /* the end of each day of the year, in shares */
    /* a date of first use: its year, and its day of a common or a leap year */
    char year[MOT_YEARS][8], day[2][366][8];
    uint8_t year_length, day_length;
    bool is_leap[MOT_YEARS];
    char minute[MOT_OPEN_MINUTES][8]; /* "08:30:" */
} mot_fleet_t;

/* Into zeroes, with the oddities of rows added to the plan. False: there is no memory for it. */
bool mot_fleet_init(mot_fleet_t *fleet, const mot_release_t *release, odd_plan_t *odd, err_t *err);

/* The kind for 32 random bits. */
static inline unsigned mot_fleet_draw(const mot_fleet_t *fleet, uint32_t random) {
    uint64_t place = (uint64_t)random * fleet->kinds;
    unsigned slot = (unsigned)(place >> 32);
    const mot_slot_t *at = &fleet->slots[slot];
    return (uint32_t)place < at->threshold ? slot : at->other;
}

#endif
