/* beginning: before a piece is cut: by which dialect is it read, and where does its first record begin? Where quoted fields
 * may contain line ends, only the text of the file from its beginning on tells that. What one feeder finds, it leaves to
 * the others. A beginning_t belongs to one feeder. */
#ifndef TIPPLE_LOAD_FEED_BEGINNING_H
#define TIPPLE_LOAD_FEED_BEGINNING_H

#include "format/record/dialect.h"
#include "input/cutter.h"
#include "load/blocks/block.h"

#include <pthread.h>

typedef struct {
    const schema_t *schema;
    dialect_shelf_t *shelf;
    pool_t *pool;
    uint64_t max_record;
    load_file_t *files; /* of all feeders; pieces of one input are neighbours, in the order of its text */
    size_t file_count;
    pthread_mutex_t *lock;  /* guards first_record of all files */
    first_line_t first;     /* the first line of the last file whose dialect was found, */
    const dialect_t *known; /* and that dialect: a file that begins with the same line has it, too */
} beginning_t;

/* Before the cutter's first cut: finds the dialect, and moves the cutter to the piece's first record. False: err; status 5
 * if the file does not fit, or has changed. */
bool beginning_read(beginning_t *beginning, load_file_t *file, cutter_t *cutter, err_t *err);

/* Moves the cutter to the first record that begins in this window or after it: with `multiline` in any piece, else in this
 * one. */
bool beginning_seek(beginning_t *beginning, load_file_t *file, cutter_t *cutter, uint64_t window, err_t *err);

/* Notes that the records of this piece, all of which the cutter has cut, end at this byte, where the first one of the next
 * piece begins. */
void beginning_note_end(beginning_t *beginning, load_file_t *file, const cutter_t *cutter, uint64_t end);

#endif
