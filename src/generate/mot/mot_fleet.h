/* mot_fleet: how the published generations of MOT result files differ, and how their fields are written; the vehicles of a
 * year, ready to be drawn: of every model with every engine as many as it has tests in that year; and the cells that rows
 * are put together from. What vehicles are like is in the data file mot. */
#ifndef TIPPLE_GENERATE_MOT_MOT_FLEET_H
#define TIPPLE_GENERATE_MOT_MOT_FLEET_H

#include "generate/shared/facts.h"
#include "generate/shared/odd.h"

typedef enum { QUOTING_NONE, QUOTING_NEEDED, QUOTING_TEXT } mot_quoting_t;

typedef struct {
    const char *name;
    int32_t year;
    char delimiter;
    mot_quoting_t quoting;
    bool oldest;    /* no header, codes of its own, NULL for absent dates */
    bool completed; /* a column more */
} mot_release_t;

enum { MOT_RELEASES = 8 };
extern const mot_release_t mot_releases[MOT_RELEASES]; /* oldest first */
#define MOT_USUAL_RELEASE "2023"

/* NULL is the usual one. NULL with a sentence: there is none of that name. */
const mot_release_t *mot_release_find(const char *name, err_t *err);

/* clang-format off */
#define MOT_COLUMN_NAMES(X)                                                                                          \
    X(TEST, "test_id") X(VEHICLE, "vehicle_id") X(DATE, "test_date") X(CLASS, "test_class_id") X(TYPE, "test_type")  \
    X(RESULT, "test_result") X(MILES, "test_mileage") X(AREA, "postcode_area") X(MAKE, "make") X(MODEL, "model")     \
    X(COLOUR, "colour") X(FUEL, "fuel_type") X(CC, "cylinder_capacity") X(FIRST_USE, "first_use_date")               \
    X(COMPLETED, "completed_date")
/* clang-format on */

#define MOT_COLUMN(column, name) column,
typedef enum { MOT_COLUMN_NAMES(MOT_COLUMN) MOT_COLUMNS } mot_column_t;

/* With its delimiter. */
typedef struct {
    char text[47];
    uint8_t length;
} mot_cell_t;

/* A text of the data file as the release writes it: _ is a blank, % a pipe, ~ the letter E with an acute accent in
 * Latin-1, NULL an absent date. */
mot_cell_t mot_cell(const mot_release_t *release, mot_column_t column, const char *text);

enum { MOT_KINDS = 1024, MOT_CLASSES = 8, MOT_OUTCOMES = 16, MOT_COLOURS = 32, MOT_AREAS = 128 };
enum { MOT_AGES = 61, MOT_DAYS = 366, MOT_SPREAD_POINTS = 33 };
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

enum { DIESEL, ELECTRIC, TESTS, DRIVEN, MILEAGE, FIRST_USES, MONTHS, WEEKDAYS, MOT_LISTS };

typedef struct {
    const mot_release_t *release;
    facts_t file;
    int64_t lists[MOT_LISTS][MOT_AGES]; /* as the data file has them: see there */
    size_t kinds;
    mot_kind_t kind[MOT_KINDS];
    int64_t weights[MOT_KINDS * MOT_AGES]; /* of a kind, by age */
    mot_outcome_t outcome[MOT_OUTCOMES];
    mot_cell_t class[MOT_CLASSES], colour[MOT_COLOURS], area[MOT_AREAS];
    int64_t day_ends[MOT_DAYS]; /* shares of the tests of the year until the end of each of its days */
    /* what is drawn at each step */
    uint16_t vehicle_at[MOT_VEHICLES]; /* kind * MOT_AGES + age */
    uint16_t colour_at[MOT_STEPS], area_at[MOT_STEPS], outcome_at[MOT_STEPS], first_day_at[MOT_STEPS];
} mot_fleet_t;

/* Into zeroes, with the oddities of rows added to the plan. False: there is no memory for it. */
bool mot_fleet_init(mot_fleet_t *fleet, const mot_release_t *release, odd_plan_t *odd, err_t *err);

#endif
