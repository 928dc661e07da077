/* obd: the readings of a fleet of cars' sensors, second by second, one trip after the other. Each car drives twice a day;
 * where one trip ends, its next begins. A row follows from one drive, so its values belong together and change as smoothly
 * as a car does: the rows of obd say how. */
#include "generate/generate.h"
#include "generate/rows.h"

#include <string.h>

enum { CARS = 40, MOST_ROWS = 1000000000 /* which take the fleet a working life */ };

/* What the rows take from here: the number of a car, what all ids begin from, the trip, the second of it. And what they give: how long
 * the trip takes. */
enum { NUMBER = 1, START, TRIP, SECOND, SECONDS };
static const char *const names[] = {"number", "start", "trip", "second", "seconds", NULL};

typedef struct {
    rows_t rows;
    uint64_t trip;                /* the one under way, from 1 */
    double car[CARS][ROWS_NAMES]; /* of those that do not drive */
} obd_t;

static void next_trip(obd_t *obd) {
    double *value = obd->rows.value;
    if (obd->trip)
        memcpy(obd->car[(obd->trip - 1) % CARS], value, sizeof *obd->car);
    memcpy(value, obd->car[obd->trip % CARS], sizeof *obd->car);
    value[TRIP] = (double)++obd->trip;
    value[SECOND] = 0;
    rows_run(&obd->rows, rows_block(&obd->rows, "trip"), NULL);
}

static char *begin(void *maker, const generate_t *what, char *to, err_t *err) {
    obd_t *obd = maker;
    rows_t *rows = &obd->rows;
    if (!rows_read(rows, "obd", names, err))
        return NULL;
    rows->random = chance_bits(what->seed, 1996);
    const double start = (double)(chance_next(&rows->random) % 1000000);
    for (unsigned i = 0; i < CARS; i++) {
        rows->value[NUMBER] = i;
        rows->value[START] = start;
        rows_run(rows, rows_block(rows, "car"), NULL);
        memcpy(obd->car[i], rows->value, sizeof *obd->car);
    }
    next_trip(obd);
    return rows_header(rows, rows->format->field_count, ',', to);
}

static char *put_row(void *maker, char *to) {
    obd_t *obd = maker;
    double *value = obd->rows.value;
    if (value[SECOND] == value[SECONDS])
        next_trip(obd);
    to = rows_run(&obd->rows, rows_block(&obd->rows, "row"), to);
    value[SECOND]++;
    *to++ = '\n';
    return to;
}

const generate_kind_t generate_obd = {"obd", "rows",  sizeof(obd_t), MOST_ROWS, NULL,
                                      begin, put_row, rows_end,      NULL};
