/* mot_fleet: the vehicles of a year, ready to be drawn: of every model with every engine as many as it has tests in that
 * year; and the cells that rows are put together from. What vehicles are like is in the data file mot. */
#ifndef TIPPLE_GENERATE_MOT_MOT_FLEET_H
#define TIPPLE_GENERATE_MOT_MOT_FLEET_H

#include "generate/mot/mot_release.h"
#include "generate/shared/facts.h"
#include "generate/shared/odd.h"

enum { MOT_KINDS = 1024, MOT_CLASSES = 8, MOT_OUTCOMES = 16, MOT_COLOURS = 32, MOT_AREAS = 128 };
enum { MOT_AGES = 61, MOT_FUEL_YEARS = 35, MOT_DAYS = 366, MOT_SPREAD_POINTS = 33 };
/* In so many steps of equal probability each thing is drawn. */
enum { MOT_VEHICLES = 1 << 16, MOT_STEPS = 4096, MOT_MILEAGE_STEPS = 256 };

/* A model with one of its engines. */
typedef struct {
    mot_cell_t make, model, fuel, cc;
    int32_t test_class, miles_a_year;
} mot_kind_t;

typedef struct {
    mot_cell_t type, result;
    bool retest, failure;
} mot_outcome_t;

typedef struct {
    const mot_release_t *release;
    facts_t file;
    int64_t diesel[MOT_FUEL_YEARS], electric[MOT_FUEL_YEARS]; /* percent, from 1990 on */
    int64_t tests[MOT_AGES], driven[MOT_AGES], mileage[MOT_SPREAD_POINTS];
    int64_t first_use[12], months[12], weekdays[7];
    size_t kinds;
    mot_kind_t kind[MOT_KINDS];
    int64_t weights[MOT_KINDS * MOT_AGES]; /* of a kind, by age */
    mot_outcome_t outcome[MOT_OUTCOMES];
    mot_cell_t class[MOT_CLASSES], colour[MOT_COLOURS], area[MOT_AREAS];
    int64_t test_days[MOT_DAYS]; /* shares of the days of the year */
    /* what is drawn at each step */
    uint16_t vehicle_at[MOT_VEHICLES]; /* kind * MOT_AGES + age */
    uint16_t colour_at[MOT_STEPS], area_at[MOT_STEPS], outcome_at[MOT_STEPS], first_day_at[MOT_STEPS];
    uint16_t mileage_at[MOT_MILEAGE_STEPS];
} mot_fleet_t;

/* Into zeroes, with the oddities of rows added to the plan. False: there is no memory for it. */
bool mot_fleet_init(mot_fleet_t *fleet, const mot_release_t *release, odd_plan_t *odd, err_t *err);

#endif
