/* mot_release: how the published generations of MOT result files differ, as data. */
#ifndef TIPPLE_GENERATE_MOT_MOT_RELEASE_H
#define TIPPLE_GENERATE_MOT_MOT_RELEASE_H

#include "generate/mot/mot_tables.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    ODD_NONE, /* ends a list */
    ODD_HEADER_AGAIN,
    ODD_OUTCOME, /* detail: which of the release's rare outcomes */
    ODD_SPECIAL, /* detail: a mot_special_kind_t */
    ODD_EMPTY_MILEAGE,
    ODD_ZERO_MILEAGE,
    ODD_FILLER_MILEAGE,
    ODD_HUGE_MILEAGE,
    ODD_EMPTY_CC,
    ODD_FILLER_CC,
    ODD_HUGE_CC,
    ODD_RARE_FUEL,
    ODD_STRAY_AREA,
    ODD_FIRST_USE_1971,
    ODD_FIRST_USE_ABSENT,
    ODD_FIRST_USE_AHEAD,
    ODD_FIRST_USE_YEAR_4,
    ODD_TEST_DATE_ABSENT,
    ODD_PADDED_CLASS,
    ODD_COMPLETED_ABSENT,
} mot_odd_t;

typedef struct {
    mot_odd_t kind;
    uint32_t every; /* one in so many rows */
    uint8_t detail;
} mot_oddity_t;

/* Vehicles that are not drawn but written down: their text is what makes them odd. */
typedef enum {
    SPECIAL_COMMAS,
    SPECIAL_QUOTE,
    SPECIAL_PIPES,
    SPECIAL_LATIN_1,
    SPECIAL_STEAM,
    SPECIAL_CLASS_0,
    SPECIAL_NO_MAKE,
    SPECIAL_TESTER,
    SPECIALS
} mot_special_kind_t;

typedef struct {
    mot_special_kind_t kind;
    const char *make, *model;
    uint8_t test_class;
    mot_fuel_t fuel;
    uint16_t cc, from, to;
} mot_special_t;

extern const mot_special_t mot_specials[]; /* grouped by kind, up to the first without a model */

typedef struct {
    const char *type, *result;
    uint32_t share; /* of all rows; 0: rare, put in as an oddity */
    bool retest;    /* of a vehicle that failed a short while before */
} mot_outcome_t;

enum { MOT_ODDITY_LISTS = 5 };

typedef enum { QUOTING_NONE, QUOTING_NEEDED, QUOTING_TEXT } mot_quoting_t;

typedef struct {
    const char *name;
    uint16_t year;
    char delimiter;
    mot_quoting_t quoting;
    bool header, old_codes, completed;
    const char *absent_date;
    const mot_outcome_t *outcomes;                  /* the rare ones last; up to the first without a type */
    const mot_oddity_t *oddities[MOT_ODDITY_LISTS]; /* up to NULL; what changes the most comes last */
} mot_release_t;

extern const mot_release_t mot_releases[]; /* oldest first, up to the first without a name */
#define MOT_USUAL_RELEASE "2023"

#endif
