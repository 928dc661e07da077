/* cutter: a source cut into stretches of whole records, one 256 KiB window at a time.
 *
 *     window     |           w           |          w+1          |
 *     records  ---a--|----b----|---c-------|--d--|-------e---------|--
 *     cut w          b, c (first byte inside the window)
 *     cut w+1                               d, e
 *
 * A record ends with '\n', or with the file. A cutter belongs to one thread. */
#ifndef TIPPLE_INPUT_CUTTER_H
#define TIPPLE_INPUT_CUTTER_H

#include "base/threads/pool.h"
#include "input/source.h"

#define CUTTER_WINDOW (256 * 1024)

/* A pool for cutters should keep buffers of this size. */
#define CUTTER_BUFFER (CUTTER_WINDOW + 16 * 1024)

typedef struct {
    buffer_t buffer;      /* the caller's to give back to the pool */
    uint32_t length;      /* of the whole records in it */
    uint64_t offset;      /* of the first one in the file */
    uint64_t first_line;  /* from 1, counted from the record at lines_from on */
    uint64_t lines_from;  /* 0, unless the cutter was sent to another place */
    uint64_t next_offset; /* where the next cut starts */
    bool last;            /* nothing comes behind it */
    bool broken;          /* the input is faulty behind it, and may have been within its last window */
    struct {              /* a record behind the others that is longer than any record may be */
        uint64_t length;  /* 0: none */
        uint32_t kept;    /* its first bytes, at buffer.bytes + length: for people */
        uint32_t held;    /* so many of its bytes are there: more than the longest record has */
        uint64_t hash;    /* XXH3 of the others and all of it */
    } oversize;
} cut_t;

typedef struct cutter cutter_t;

/* source stays the caller's. max_record: longer ones are skipped (records within a window are never split, so
 * the least that matters is a window). */
cutter_t *cutter_new(source_t *source, pool_t *pool, uint64_t max_record, err_t *err);
void cutter_destroy(cutter_t *cutter);

/* Goes on with the first record that begins in this window or behind it; forward only. Costs nothing where
 * the source can seek. Nobody asks for records from the window `before` on: where none begins before it, there are no
 * more. False: a fault of the source. */
bool cutter_seek(cutter_t *cutter, uint64_t window, uint64_t before, err_t *err);

/* 1: a cut; 0: the end, or the pool was closed; -1: a fault, after everything before it was cut. */
int cutter_next(cutter_t *cutter, cut_t *cut, err_t *err);

#endif
