/* mot_fleet: the vehicles of a year, ready to be drawn: every model with every engine as a kind, weighted by
 * the tests it has in that year. */
#ifndef TIPPLE_GENERATE_MOT_MOT_FLEET_H
#define TIPPLE_GENERATE_MOT_MOT_FLEET_H

#include "generate/mot/mot_form.h"

typedef struct {
    mot_chunk_t engine; /* fuel and cylinder capacity as they stand in a row */
    uint16_t name;
    uint16_t miles_a_year;
    uint16_t cc;
    uint8_t test_class;
    uint8_t fuel;
} mot_kind_t;

/* A slot of the alias method: below the threshold its own kind, else the other one. */
typedef struct {
    uint32_t threshold;
    uint16_t other;
} mot_slot_t;

enum { MOT_AGES = 64 };

typedef struct {
    size_t kinds;
    mot_slot_t *slots;
    mot_kind_t *kind;
    uint8_t (*ages)[MOT_AGES]; /* of each kind: its age at equal steps of probability */
    mot_name_t *name;          /* make and model as they stand in a row */
} mot_fleet_t;

/* A vehicle at its test: all that a retest has in common with the test before it. */
typedef struct {
    uint32_t id, mileage;
    uint16_t kind;
    uint16_t first_day; /* of the year, from 0 */
    uint8_t first_year; /* since MOT_FIRST_YEAR */
    uint8_t colour, area;
} mot_car_t;

/* False when memory is short; then there is nothing to clear. */
bool mot_fleet_init(mot_fleet_t *fleet, const mot_release_t *release);
void mot_fleet_clear(mot_fleet_t *fleet);

/* The kind for 32 random bits. */
static inline unsigned mot_fleet_draw(const mot_fleet_t *fleet, uint32_t random) {
    uint64_t place = (uint64_t)random * fleet->kinds;
    unsigned slot = (unsigned)(place >> 32);
    const mot_slot_t *at = &fleet->slots[slot];
    return (uint32_t)place < at->threshold ? slot : at->other;
}

#endif
