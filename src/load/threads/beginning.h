/* beginning: how the text of a piece is read: by which dialect, and, where quoted fields may contain line ends, from which
 * byte on. Both follow from the file's text from its first byte on; what one feeder has found others need not find again. */
#ifndef TIPPLE_LOAD_THREADS_BEGINNING_H
#define TIPPLE_LOAD_THREADS_BEGINNING_H

#include "format/record/first_line.h"
#include "input/cutter.h"
#include "load/blocks/block.h"

#include <pthread.h>

typedef struct {
    const schema_t *schema;
    dialect_shelf_t *shelf;
    pool_t *pool;
    uint64_t max_record;
    load_file_t
        *files; /* all of the feeders' pieces: those of one input are neighbours, in the order of its text */
    pthread_mutex_t *lock;  /* shared by the feeders, of first_record */
    first_line_t first;     /* of the file whose dialect this is, which follows from it: */
    const dialect_t *known; /* one feeder's own */
} beginning_t;

/* Before the cutter's first cut: finds the dialect, and moves the cutter to the piece's first record. False: err; status 5
 * if the file does not fit, or has changed. */
bool beginning_read(beginning_t *beginning, load_file_t *file, cutter_t *cutter, err_t *err);

/* The dialect of a file, of which a cutter is not at the beginning. */
bool beginning_find_dialect(beginning_t *beginning, load_file_t *file, err_t *err);

/* Moves the cutter to the first record that begins in this window of the file or after it, in any piece. */
bool beginning_seek(beginning_t *beginning, load_file_t *file, cutter_t *cutter, uint64_t window, err_t *err);

/* The piece was cut to its end: where the next one's first record begins. */
void beginning_note_end(beginning_t *beginning, load_file_t *file, uint64_t end);

#endif
