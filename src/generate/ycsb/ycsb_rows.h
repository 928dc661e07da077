/* ycsb_rows: rows of an id, random texts and Zipf-distributed numbers, a buffer at a time. What a row says
 * follows from the seed and its id alone, so any rows can be made without those before them; a longer text
 * begins like a shorter one. One thread per ycsb_rows_t. */
#ifndef TIPPLE_GENERATE_YCSB_YCSB_ROWS_H
#define TIPPLE_GENERATE_YCSB_YCSB_ROWS_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

typedef struct ycsb_rows ycsb_rows_t;

enum { YCSB_TEXTS = 8, YCSB_NUMBERS = 8 };

/* Room for the header or a row with texts of so many bytes, and what its copies write past the end. */
#define YCSB_ROWS_LEAST_ROOM(text_bytes) (512 + YCSB_TEXTS * ((size_t)(text_bytes) + 1))

/* Ids from `first` on; NULL when memory is short. */
ycsb_rows_t *ycsb_rows_new(uint64_t first, uint64_t documents, uint64_t text_bytes, uint64_t seed,
                           err_t *err);
void ycsb_rows_destroy(void *rows);

/* Writes whole lines, as many as fit, and returns their bytes; 0 at the end of the file. */
size_t ycsb_rows_fill(void *rows, char *to, size_t room);

#endif
