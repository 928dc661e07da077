/* mot_rows: the rows of a made-up file of MOT results, a buffer at a time. One thread per mot_rows_t. */
#ifndef TIPPLE_GENERATE_MOT_MOT_ROWS_H
#define TIPPLE_GENERATE_MOT_MOT_ROWS_H

#include "generate/mot/mot_release.h"

typedef struct mot_rows mot_rows_t;

/* Room for a header, a row, and what its copies write past the end. */
enum { MOT_ROWS_LEAST_ROOM = 2048 };

/* Of the release of that name. NULL with a sentence: there is none, or memory is short. */
mot_rows_t *mot_rows_new(const char *release, uint64_t count, uint64_t seed, err_t *err);
void mot_rows_destroy(void *rows);

/* Writes whole lines, as many as fit, and returns their bytes; 0 at the end of the file. */
size_t mot_rows_fill(void *rows, char *to, size_t room);

#endif
