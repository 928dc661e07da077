/* mot_fleet: the vehicles of a year, ready to be drawn: of every model with every engine as many as it has tests in that
 * year; and the fields that rows are put together from, each with its delimiter. What vehicles are like
 * is in the data file mot. */
#ifndef TIPPLE_GENERATE_MOT_MOT_FLEET_H
#define TIPPLE_GENERATE_MOT_MOT_FLEET_H

#include "generate/mot/mot_release.h"
#include "generate/shared/facts.h"
#include "generate/shared/odd.h"

enum { MOT_KINDS = 1024, MOT_MODELS = 512, MOT_CLASSES = 8, MOT_OUTCOMES = 16, MOT_COLOURS = 32 };
enum { MOT_AREAS = 128, MOT_OLDEST_AGE = 60, MOT_FIRST_YEAR = 1900, MOT_YEARS = 128 };
enum { MOT_FUEL_YEARS = 35, MOT_SPREAD_POINTS = 33 };
enum { MOT_VEHICLES = 1 << 16, MOT_STEPS = 4096, MOT_COLOUR_STEPS = 1024, MOT_DAY_STEPS = 1024 };
enum { MOT_MILEAGE_STEPS = 256, MOT_OPEN_MINUTES = 600 }; /* from 8:00 on */

typedef struct {
    mot_chunk_t fuel, cc;
    uint16_t model, miles_a_year;
    uint8_t test_class;
} mot_kind_t;

/* One of the vehicles of a year, each as frequent as the others. */
typedef struct {
    uint16_t kind;
    uint8_t age;
} mot_vehicle_t;

typedef struct {
    mot_chunk_t text; /* type and result */
    bool retest, failure;
} mot_outcome_t;

typedef struct {
    const mot_release_t *release;
    facts_t file;
    int32_t diesel[MOT_FUEL_YEARS], electric[MOT_FUEL_YEARS]; /* percent, from 1990 on */
    int32_t tests[MOT_OLDEST_AGE + 1], driven[MOT_OLDEST_AGE + 1], mileage[MOT_SPREAD_POINTS];
    int32_t first_use[12], months[12], weekdays[7];
    size_t kinds, models;
    mot_kind_t kind[MOT_KINDS];
    int64_t weights[MOT_KINDS][MOT_OLDEST_AGE + 1]; /* of a kind, by age */
    mot_name_t name[MOT_MODELS];
    mot_outcome_t outcome[MOT_OUTCOMES];
    mot_chunk_t class[MOT_CLASSES], colour[MOT_COLOURS], area[MOT_AREAS];
    /* what is drawn, at equal steps of probability */
    mot_vehicle_t vehicle[MOT_VEHICLES];
    uint8_t colour_at[MOT_COLOUR_STEPS], area_at[MOT_STEPS], outcome_at[MOT_STEPS];
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

#endif
