/* generate: files of made-up records of any size, to try tipple with: in the shape of published ones (MOT, ISD), and of
 * those that the studies of car sensors and of a petabyte used.
 *
 * A kind of records is a generate_kind_t and a file of this room: mot.c, isd.c and obd.c, which are drawn by rows (see
 * rows.h), and ycsb.c. Records follow from shares and ranges (files below src/builtin/generate), and from what happened before: a
 * vehicle that failed its test comes back, the weather of a station goes on from hour to hour, a car drives. A maker belongs
 * to one thread and holds the state of its file: the next row follows from the seed, the numbers asked for and the rows
 * before it; a document of ycsb follows from the seed and its _id alone. The kinds share draw.h.
 *
 *     generate_t --begin--> maker --put_row, put_row...--> text --(gzip)--> descriptor, file, or files of a directory
 *
 * The bytes follow from the kind, the seed and the numbers asked for alone: the same on every machine and with every
 * compiler. Files of MOT and ISD have the oddities of the published ones in their real share: most of them at a random
 * place in every N records, rare sections and parts of weather records by chance. A long enough file holds all of
 * them: 2 million rows of MOT, a million weather records. */
#ifndef TIPPLE_GENERATE_GENERATE_H
#define TIPPLE_GENERATE_GENERATE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is asked for. 0 and NULL stand for the usual value, except in count: 0 records are none. */
typedef struct {
    uint64_t count, seed;
    bool gzip;
    const char *output; /* a file to write instead of the descriptor */
    /* isd: for a file for each year of each station; it is created if it does not exist */
    const char *directory;
    const char *release; /* mot: the release to imitate; usually that of 2023 */
    uint64_t stations;   /* isd: usually GENERATE_ISD_STATIONS, or one for each record when these are fewer */
    uint64_t first;      /* ycsb: ids from here on */
    uint64_t text_bytes; /* ycsb: of each text; usually 100, for documents of a kilobyte */
    bool study;          /* ycsb: documents as long as those of the petabyte study */
} generate_t;

enum { GENERATE_ISD_STATIONS = 100, GENERATE_LONGEST_TEXT = 100000 };

/* A kind of records, and what makes them. */
typedef struct {
    const char *name, *unit; /* "mot", "rows" */
    size_t size;             /* of a maker */
    uint64_t most;           /* records of one file */
    /* Refuses what this kind cannot make; see generate_check. NULL: nothing more to refuse. */
    bool (*check)(const generate_t *what, err_t *err);
    /* Begins a maker, which is all zeros, for what has been checked. Writes the line above all rows, if there is one, and
     * returns its end; NULL with a sentence: memory is short. */
    char *(*begin)(void *maker, const generate_t *what, char *to, err_t *err);
    /* Writes the next row, with headers before it, and returns the end. It may write anywhere into the GENERATE_ROOM bytes
     * at `to`. Called once for each row that was asked for. */
    char *(*put_row)(void *maker, char *to);
    void (*end)(void *maker); /* frees what it holds, also after a failure; NULL: it holds nothing */
    void (*name_file)(const void *maker,
                      char *name); /* of the row put last, in a directory; NULL: no kind of that sort */
} generate_kind_t;

enum { GENERATE_ROOM = 1 << 20, GENERATE_NAME_SIZE = 24 };

/* A file of obd or ycsb with fewer records is the head of one with more. */
extern const generate_kind_t generate_mot, generate_isd, generate_obd, generate_ycsb;

typedef struct {
    uint64_t files, bytes; /* bytes before they are packed */
} generate_made_t;

/* Checks what is asked for, before anything is opened. False: STATUS_USAGE. */
bool generate_check(const generate_kind_t *kind, const generate_t *what, err_t *err);

/* Writes everything into a descriptor, blocking or not; into a file; or into files of a directory, named as published ones are,
 * 010010-99999-2014, or .gz. Existing files are overwritten. *made is what was written, also after a failure.
 * What is asked for has been checked. Fails with STATUS_HOST (memory, disk full), STATUS_READER_GONE (of a
 * pipe: SIGPIPE must be ignored, as stop_install does), STATUS_INTERRUPTED or STATUS_TERMINATED. */
bool generate_write(const generate_kind_t *kind, const generate_t *what, int fd, generate_made_t *made,
                    err_t *err);

#endif
