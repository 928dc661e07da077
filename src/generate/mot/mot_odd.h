/* mot_odd: which rows are odd, and how. Every kind of oddity has one appointment in every so many rows, at a
 * random place among them: its share is exact, a file long enough has every kind, and the rows between cost
 * nothing. */
#ifndef TIPPLE_GENERATE_MOT_MOT_ODD_H
#define TIPPLE_GENERATE_MOT_MOT_ODD_H

#include "generate/mot/mot_fleet.h"

enum { MOT_ODDITIES = 32, MOT_TESTER_ID = 223981155 }; /* the vehicle of the test entries of 2021 */

typedef struct {
    mot_oddity_t oddity;
    uint64_t group, next;
} mot_appointment_t;

typedef struct {
    const mot_form_t *form;
    const mot_fleet_t *fleet;
    uint64_t key;
    uint64_t next; /* the next odd row */
    size_t appointments;
    mot_appointment_t appointment[MOT_ODDITIES];
} mot_odd_plan_t;

/* What an odd row has instead of its car's fields; a length of 0 is nothing. */
typedef struct {
    mot_chunk_t test_date, verdict, area, engine, first_use;
    const mot_name_t *name;
    bool no_mileage, no_first_use, no_completed, header;
} mot_swap_t;

void mot_odd_init(mot_odd_plan_t *plan, const mot_form_t *form, const mot_fleet_t *fleet, uint64_t key);

/* For the row plan->next: changes the car, says what to swap, and goes on to the next odd row. `day` is the
 * day of the test's year. */
void mot_odd_apply(mot_odd_plan_t *plan, unsigned day, unsigned outcome, mot_car_t *car, mot_swap_t *swap);

#endif
