/* obd: the readings of a fleet of cars' sensors, second by second, one trip after the other. Each car drives twice a day;
 * where one trip ends, its next begins. A row follows from one drive, so its values belong together and change as smoothly
 * as a car does: the rules obd say how. */
#include "generate/generate.h"
#include "generate/rules.h"

#include <string.h>

enum { CARS = 40, MOST_ROWS = 1000000000 /* which take the fleet a working life */ };

/* What the rules take from here: the number of a car, what all ids begin from, the trip, the second of it. And what they give:
 * how long the trip takes. */
enum { NUMBER, START, TRIP, SECOND, SECONDS };
static const char *const names[] = {"number", "start", "trip", "second", "seconds", NULL};

typedef struct {
    uint64_t trip;                  /* the one under way, from 1 */
    double car[CARS][RULES_VALUES]; /* of those that do not drive */
    rules_t rules;
} obd_t;

static void next_trip(obd_t *obd) {
    double *value = obd->rules.value;
    if (obd->trip)
        memcpy(obd->car[(obd->trip - 1) % CARS], value, sizeof obd->rules.own);
    memcpy(value, obd->car[obd->trip % CARS], sizeof obd->rules.own);
    value[TRIP] = (double)++obd->trip;
    value[SECOND] = 0;
    rules_run(&obd->rules, rules_block(&obd->rules, "trip"), NULL);
}

static char *begin(void *maker, const generate_t *what, char *to, err_t *err) {
    obd_t *obd = maker;
    rules_t *rules = &obd->rules;
    if (!rules_read(rules, "obd", names, err))
        return NULL;
    rules->random = chance_bits(what->seed, 1996);
    const double start = (double)(chance_next(&rules->random) % 1000000);
    for (unsigned i = 0; i < CARS; i++) {
        rules->value[NUMBER] = i;
        rules->value[START] = start;
        rules_run(rules, rules_block(rules, "car"), NULL);
        memcpy(obd->car[i], rules->value, sizeof rules->own);
    }
    next_trip(obd);
    for (size_t i = 0; i < rules->format->field_count; i++) {
        to = stpcpy(to, rules->format->fields[i].name);
        *to++ = ',';
    }
    to[-1] = '\n';
    return to;
}

static char *put_row(void *maker, char *to) {
    obd_t *obd = maker;
    double *value = obd->rules.value;
    if (value[SECOND] == value[SECONDS])
        next_trip(obd);
    to = rules_run(&obd->rules, rules_block(&obd->rules, "row"), to);
    value[SECOND]++;
    *to++ = '\n';
    return to;
}

static void end(void *maker) {
    rules_end(&((obd_t *)maker)->rules);
}

const generate_kind_t generate_obd = {"obd", "rows",  sizeof(obd_t), MOST_ROWS, NULL,
                                      begin, put_row, end,           NULL};
