/* mot_tables: what British vehicles are like, as data: models with their engines and years, colours, postcode
 * areas, and how the age, the day and the mileage of a test are spread. Numbers are shares, rounded from
 * published registration and test counts; only their proportions matter. */
#ifndef TIPPLE_GENERATE_MOT_MOT_TABLES_H
#define TIPPLE_GENERATE_MOT_MOT_TABLES_H

#include <stdint.h>

typedef enum {
    FUEL_PE, /* petrol */
    FUEL_DI, /* diesel */
    FUEL_HY, /* hybrid electric */
    FUEL_ED, /* electric diesel */
    FUEL_EL, /* electric: no cylinder capacity */
    FUEL_LP, /* the rest are rare, and put into rows as oddities */
    FUEL_GB,
    FUEL_ST,
    FUEL_OT,
    FUEL_GA,
    FUEL_CN,
    FUEL_LN,
    FUEL_GD,
    FUEL_FC,
    FUELS
} mot_fuel_t;

enum { MOT_ENGINES = 9, MOT_OLDEST_AGE = 60, MOT_SPREAD_POINTS = 33 };

typedef struct {
    mot_fuel_t fuel;
    uint16_t cc, share; /* share of the model's sales in a year in which it was sold */
    uint16_t from, to;
} mot_engine_t;

typedef struct {
    const char *make, *model;
    uint8_t test_class;
    uint16_t sold; /* hundreds a year, on average */
    uint16_t from, to;
    mot_engine_t engines[MOT_ENGINES]; /* up to the first with no share */
} mot_model_t;

typedef struct {
    const char *text;
    uint16_t share_2013, share_2023; /* years between lie between */
} mot_colour_t;

typedef struct {
    const char *text;
    uint16_t share;
} mot_share_t;

extern const mot_model_t mot_models[]; /* up to the first without a make */
extern const mot_colour_t mot_colours[];
extern const mot_share_t mot_areas[];

/* Two letters of the newer files, one of the 12-03 files (of which only P and D are known for certain). */
extern const char *const mot_fuel_codes[FUELS], *const mot_fuel_codes_old[FUELS];

/* How petrol, diesel and the electric kinds moved within a model's sales: percent, by year of first use from
 * 1990 to 2024; earlier years are as 1990. */
enum { MOT_FUEL_YEAR_FIRST = 1990, MOT_FUEL_YEAR_LAST = 2024 };
extern const uint16_t mot_diesel_percent[MOT_FUEL_YEAR_LAST - MOT_FUEL_YEAR_FIRST + 1];
extern const uint16_t mot_electric_percent[MOT_FUEL_YEAR_LAST - MOT_FUEL_YEAR_FIRST + 1];

/* Tests of vehicles of that age, relative to those sold in their year. */
extern const uint16_t mot_tests_at_age[MOT_OLDEST_AGE + 1];

/* Years of a new vehicle's driving that a vehicle of that age has behind it, in 64ths. */
extern const uint16_t mot_driven_at_age[MOT_OLDEST_AGE + 1];

/* Quantiles of a vehicle's mileage against the average of its kind, in 256ths, at equal steps. */
extern const uint16_t mot_mileage_spread[MOT_SPREAD_POINTS];

extern const uint16_t mot_first_use_months[12];
extern const uint16_t mot_test_months[12];
extern const uint16_t mot_test_weekdays[7]; /* from Monday */

#endif
