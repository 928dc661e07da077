/* generate: files of made-up records, for trying things out at any size: in the shape of published ones (MOT,
 * ISD), and of those that the studies of car sensors and of a petabyte were made with.
 *
 * The bytes follow from the kind, the seed and the numbers asked for alone: the same on every machine and
 * with every compiler. Files of MOT and ISD carry the oddities of the published ones in their real share: one
 * at a random place in every so many records, so that a long enough file holds every kind: 2 million rows of
 * MOT, a million weather records. */
#ifndef TIPPLE_GENERATE_GENERATE_H
#define TIPPLE_GENERATE_GENERATE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- MOT results: rows in the manner of a release of the files ---- */

typedef struct {
    uint64_t rows;
    uint64_t seed;
    const char *release; /* NULL: that of 2023 */
    bool gzip;
} generate_mot_t;

/* The largest number of rows: their ids are unique and stay below the largest that was published. */
enum { GENERATE_MOT_MOST_ROWS = 1000000000 };

/* Can it be done? STATUS_USAGE: unknown release, too many rows. */
bool generate_mot_check(const generate_mot_t *what, err_t *err);

/* Writes the file to a descriptor, blocking or not; *bytes is what was written, also after a failure. Fails
 * with STATUS_USAGE (nothing written: unknown release, too many rows), STATUS_HOST (memory, disk full, the
 * reader of a pipe gone: SIGPIPE must be ignored, as stop_install does), STATUS_INTERRUPTED or
 * STATUS_TERMINATED. */
bool generate_mot(const generate_mot_t *what, int fd, uint64_t *bytes, err_t *err);

/* ---- ISD weather: the records of a network of stations of all times ---- */

typedef struct {
    uint64_t records;
    uint64_t seed;
    uint64_t stations; /* 0: GENERATE_ISD_STATIONS, or one for each record when these are fewer */
    bool gzip;
} generate_isd_t;

enum { GENERATE_ISD_STATIONS = 100 };

/* STATUS_USAGE: more stations than records or than there are ids, more records than stations send in their
 * years. */
bool generate_isd_check(const generate_isd_t *what, err_t *err);

/* All stations one after the other in one file; as generate_mot. */
bool generate_isd(const generate_isd_t *what, int fd, uint64_t *bytes, err_t *err);

/* A file for each year of each station, named as they are published (010010-99999-2014, or .gz), in a
 * directory that is made when it is not there. Files that are there are overwritten. */
bool generate_isd_files(const generate_isd_t *what, const char *directory, uint64_t *files, uint64_t *bytes,
                        err_t *err);

/* ---- car sensors: the trips of a fleet, second by second ---- */

typedef struct {
    uint64_t rows; /* a file of fewer is the head of one of more */
    uint64_t seed;
    bool gzip;
} generate_obd_t;

/* So many take the fleet a working life. */
enum { GENERATE_OBD_MOST_ROWS = 1000000000 };

/* STATUS_USAGE: too many rows. */
bool generate_obd_check(const generate_obd_t *what, err_t *err);

/* As generate_mot. */
bool generate_obd(const generate_obd_t *what, int fd, uint64_t *bytes, err_t *err);

/* ---- random texts and skewed numbers by id, as the petabyte study and the YCSB have them ---- */

typedef struct {
    uint64_t documents, first; /* ids from `first` on; what a row says follows from the seed and its id */
    uint64_t seed;
    uint64_t text_bytes; /* of each of the eight; 0: GENERATE_YCSB_TEXT_BYTES, for documents of a kilobyte */
    bool gzip;
} generate_ycsb_t;

enum { GENERATE_YCSB_TEXT_BYTES = 100, GENERATE_YCSB_MOST_TEXT_BYTES = 100000 };

/* STATUS_USAGE: ids above 2^63 - 1, longer texts. */
bool generate_ycsb_check(const generate_ycsb_t *what, err_t *err);

/* As generate_mot. */
bool generate_ycsb(const generate_ycsb_t *what, int fd, uint64_t *bytes, err_t *err);

#endif
