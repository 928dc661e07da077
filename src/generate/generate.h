/* generate: files of made-up records in the shape of the published ones, for trying things out at any size.
 *
 * The bytes follow from the release, the seed and the number of rows alone: the same on every machine and
 * with every compiler. Each release carries the oddities of its generation of files in their real share: one
 * at a random place in every so many rows, so that a file of 2 million rows holds every kind. */
#ifndef TIPPLE_GENERATE_GENERATE_H
#define TIPPLE_GENERATE_GENERATE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t rows;
    uint64_t seed;
    const char *release; /* NULL: generate_mot_default */
} generate_mot_t;

/* The largest number of rows: their ids are unique and stay below the largest that was published. */
enum { GENERATE_MOT_MOST_ROWS = 1000000000 };

extern const char *const generate_mot_releases[]; /* oldest first, NULL-terminated */
extern const char *const generate_mot_default;

/* Can it be done? STATUS_USAGE: unknown release, too many rows. */
bool generate_mot_check(const generate_mot_t *what, err_t *err);

/* Writes the file to a descriptor, blocking or not; *bytes is what was written, also after a failure. Fails
 * with STATUS_USAGE (nothing written: unknown release, too many rows), STATUS_HOST (memory, disk full, the
 * reader of a pipe gone: SIGPIPE must be ignored, as stop_install does), STATUS_INTERRUPTED or
 * STATUS_TERMINATED. */
bool generate_mot(const generate_mot_t *what, int fd, uint64_t *bytes, err_t *err);

#endif
