#include "generate/mot/mot_release.h"

#include <stddef.h>

/* Only the first comma model and the scooter's wheel are known from published rows; the other comma models
 * are made in the same manner, so that rows of 15, 16 and 17 fields come out where they are not quoted. */
const mot_special_t mot_specials[] = {
    {SPECIAL_COMMAS, "LAND ROVER", "SERIES 1, 80 INCH", 4, FUEL_PE, 1997, 1948, 1953},
    {SPECIAL_COMMAS, "FIAT", "DUCATO 15, AUTO-SLEEPER", 4, FUEL_DI, 2287, 2002, 2011},
    {SPECIAL_COMMAS, "VOLKSWAGEN", "T4, CAMPER, LWB", 4, FUEL_DI, 2461, 1996, 2003},
    {SPECIAL_COMMAS, "MERCEDES-BENZ", "308D, AUTO, SLEEPER, LHD", 4, FUEL_DI, 2299, 1990, 1995},
    {SPECIAL_QUOTE, "PEUGEOT", "STREETZONE 50 2T 12\"", 1, FUEL_PE, 49, 2014, 2016},
    {SPECIAL_PIPES, "TOYOTA", "Estima ||", 4, FUEL_PE, 2362, 2000, 2005},
    {SPECIAL_LATIN_1, "RENAULT", "MEGANE COUP\xC9", 4, FUEL_PE, 1598, 1996, 2008},
    {SPECIAL_STEAM, "UNCLASSIFIED", "UNCLASSIFIED", 4, FUEL_ST, 0, 1894, 1899},
    {SPECIAL_CLASS_0, "FORD", "UNCLASSIFIED", 0, FUEL_PE, 0, 1990, 2001},
    {SPECIAL_CLASS_0, "LOTUS", "UNCLASSIFIED", 0, FUEL_PE, 0, 1990, 2001},
    {SPECIAL_CLASS_0, "VAUXHALL", "UNCLASSIFIED", 0, FUEL_DI, 0, 1990, 2001},
    {SPECIAL_NO_MAKE, "", "UNCLASSIFIED", 4, FUEL_PE, 1598, 1990, 2015},
    {SPECIAL_TESTER, "DVSA", "DVSA", 4, FUEL_OT, 999, 2018, 2018},
    {0},
};

static const mot_outcome_t old_outcomes[] = {
    {"N", "P", 52900, false}, {"N", "F", 21600, false}, {"N", "PRS", 5100, false}, {"N", "ABA", 300, false},
    {"N", "ABR", 150, false}, {"F", "P", 1900, true},   {"F", "F", 400, true},     {"PR", "P", 13600, true},
    {"PR", "F", 250, true},   {"PL", "P", 2900, true},  {"PL", "F", 100, true},    {"PM", "P", 700, true},
    {"RF", "R", 0, false},    {"N", "ABO", 0, false},   {NULL, NULL, 0, false},
};

static const mot_outcome_t new_outcomes[] = {
    {"NT", "P", 55100, false}, {"NT", "F", 22900, false}, {"NT", "PRS", 4150, false},
    {"NT", "ABA", 260, false}, {"NT", "ABR", 210, false}, {"RT", "P", 16780, true},
    {"RT", "F", 540, true},    {"RT", "PRS", 30, true},   {"RT", "ABA", 30, true},
    {"NT", "ABRVE", 0, false}, {"NT", "R", 0, false},     {"ES", "P", 0, false},
    {"EI", "F", 0, false},     {"PL", "P", 0, true},      {"PV", "P", 0, true},
    {NULL, NULL, 0, false},
};
enum { OLD_RF = 12, OLD_ABO = 13, NEW_ABRVE = 9, NEW_R, NEW_ES, NEW_EI, NEW_PL, NEW_PV };

/* Published shares: 1 in 100 first used on the filler date, engine size absent in 1-2 % of rows with the
 * electric ones, 300 comma models in the 39 million rows of 2017, 4 appeals in 3.4 million rows, 633 test
 * entries in 40.4 million, 180 headers in 66.9 million. The others are not known and small, mostly 1 in
 * 100,000. */
static const mot_oddity_t common[] = {
    {ODD_FIRST_USE_1971, 100, 0},
    {ODD_EMPTY_CC, 150, 0},
    {ODD_EMPTY_MILEAGE, 300, 0},
    {ODD_RARE_FUEL, 400, 0},
    {ODD_FIRST_USE_ABSENT, 2000, 0},
    {ODD_ZERO_MILEAGE, 3000, 0},
    {ODD_HUGE_MILEAGE, 5000, 0},
    {ODD_HUGE_CC, 10000, 0},
    {ODD_FILLER_MILEAGE, 50000, 0},
    {ODD_FILLER_CC, 50000, 0},
    {ODD_STRAY_AREA, 100000, 0},
    {ODD_FIRST_USE_AHEAD, 100000, 0},
    {ODD_SPECIAL, 100000, SPECIAL_STEAM},
    {ODD_SPECIAL, 130000, SPECIAL_COMMAS},
    {ODD_NONE, 0, 0},
};

static const mot_oddity_t new_codes[] = {
    {ODD_OUTCOME, 20000, NEW_ABRVE},
    {ODD_OUTCOME, 40000, NEW_R},
    {ODD_OUTCOME, 840000, NEW_ES},
    {ODD_OUTCOME, 1000000, NEW_EI},
    {ODD_NONE, 0, 0},
};

/* not seen any more in 2021 */
static const mot_oddity_t partial_retests[] = {
    {ODD_OUTCOME, 100000, NEW_PL},
    {ODD_OUTCOME, 100000, NEW_PV},
    {ODD_NONE, 0, 0},
};

static const mot_oddity_t only_2013[] = {
    {ODD_OUTCOME, 20000, OLD_RF},      {ODD_OUTCOME, 100000, OLD_ABO},         {ODD_PADDED_CLASS, 1000, 0},
    {ODD_TEST_DATE_ABSENT, 100000, 0}, {ODD_SPECIAL, 100000, SPECIAL_LATIN_1}, {ODD_NONE, 0, 0},
};

static const mot_oddity_t only_2016[] = {
    {ODD_SPECIAL, 100000, SPECIAL_PIPES},
    {ODD_SPECIAL, 100000, SPECIAL_CLASS_0},
    {ODD_NONE, 0, 0},
};

static const mot_oddity_t only_2020[] = {
    {ODD_SPECIAL, 100000, SPECIAL_QUOTE},
    {ODD_NONE, 0, 0},
};

static const mot_oddity_t only_2021[] = {
    {ODD_FIRST_USE_YEAR_4, 100000, 0},
    {ODD_SPECIAL, 63800, SPECIAL_TESTER},
    {ODD_SPECIAL, 100000, SPECIAL_NO_MAKE},
    {ODD_NONE, 0, 0},
};

/* with the common ones, mileage is absent in 1 row of 100 */
static const mot_oddity_t only_2024[] = {
    {ODD_HEADER_AGAIN, 371000, 0},
    {ODD_EMPTY_MILEAGE, 150, 0},
    {ODD_COMPLETED_ABSENT, 100000, 0},
    {ODD_SPECIAL, 100000, SPECIAL_QUOTE},
    {ODD_NONE, 0, 0},
};

#define OLD .absent_date = "NULL", .old_codes = true, .outcomes = old_outcomes
#define NEW .absent_date = "", .header = true, .outcomes = new_outcomes

const mot_release_t mot_releases[] = {
    {"2013", 2013, '|', QUOTING_NONE, OLD, .oddities = {common, only_2013}},
    {"2016", 2016, '|', QUOTING_NONE, NEW, .oddities = {common, new_codes, partial_retests, only_2016}},
    {"2017-first", 2017, ',', QUOTING_NONE, NEW, .oddities = {common, new_codes, partial_retests}},
    {"2017", 2017, '|', QUOTING_NONE, NEW, .oddities = {common, new_codes, partial_retests}},
    {"2020", 2020, ',', QUOTING_NEEDED, NEW, .oddities = {common, new_codes, partial_retests, only_2020}},
    {"2021", 2021, ',', QUOTING_TEXT, NEW, .oddities = {common, new_codes, only_2021}},
    {"2023", 2023, '|', QUOTING_NONE, NEW, .oddities = {common, new_codes}},
    {"2024", 2024, ',', QUOTING_NEEDED, NEW, .completed = true, .oddities = {common, new_codes, only_2024}},
    {.name = NULL},
};
