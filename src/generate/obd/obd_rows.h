/* obd_rows: the rows of a fleet's trips, one trip after the other, a buffer at a time. Each car drives twice
 * a day; where one trip ends, its next begins. One thread per obd_rows_t. */
#ifndef TIPPLE_GENERATE_OBD_OBD_ROWS_H
#define TIPPLE_GENERATE_OBD_OBD_ROWS_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

typedef struct obd_rows obd_rows_t;

/* Room for the header, a row, and what its copies write past the end. */
enum { OBD_ROWS_LEAST_ROOM = 4096 };

/* NULL when memory is short. */
obd_rows_t *obd_rows_new(uint64_t rows, uint64_t seed, err_t *err);
void obd_rows_destroy(void *rows);

/* Writes whole lines, as many as fit, and returns their bytes; 0 at the end of the file. */
size_t obd_rows_fill(void *rows, char *to, size_t room);

#endif
