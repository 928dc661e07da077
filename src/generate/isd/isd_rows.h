/* isd_rows: the records of a made-up network of weather stations, one station after the other, each in order
 * of time, a buffer at a time. One thread per isd_rows_t. */
#ifndef TIPPLE_GENERATE_ISD_ISD_ROWS_H
#define TIPPLE_GENERATE_ISD_ISD_ROWS_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

typedef struct isd_rows isd_rows_t;

/* Room for a record with whatever may be odd about it. */
enum { ISD_ROWS_LEAST_ROOM = 16384, ISD_ROWS_MOST_A_STATION = 150000 };

/* NULL with a sentence when memory is short. There must be enough records for the stations, and no more than
 * a station's most. */
isd_rows_t *isd_rows_new(uint64_t records, uint32_t stations, uint64_t seed, err_t *err);
void isd_rows_destroy(void *rows);

/* Writes whole lines, as many as fit, and returns their bytes; 0 at the end. */
size_t isd_rows_fill(void *rows, char *to, size_t room);

/* The same file by file: a station's year is a file. Goes on to the next one, naming it as it is published,
 * 010010-99999-2014; false after the last. From then on isd_rows_fill returns 0 at the end of each. */
enum { ISD_ROWS_NAME_SIZE = 24 };
bool isd_rows_next_file(isd_rows_t *rows, char name[ISD_ROWS_NAME_SIZE]);

#endif
