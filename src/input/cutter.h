/* cutter: cuts a source into pieces of whole records, one 256 KiB window at a time.
 *
 *     window     |           w           |          w+1          |
 *     records  ---a--|----b----|---c-------|--d--|-------e---------|--
 *     cut w          b, c (first byte inside the window)
 *     cut w+1                               d, e
 *
 * A record ends with '\n', or with the file; or as ends.h says, where quoted fields may contain line ends, and of JSON and BSON.
 * Of a file that ends within quotes, all cuts from the one with the open quote on are open: if the file grows, their lines may
 * turn out to be one record. A cutter belongs to one thread. */
#ifndef TIPPLE_INPUT_CUTTER_H
#define TIPPLE_INPUT_CUTTER_H

#include "base/threads.h"
#include "format/record/dialect.h"
#include "input/source.h"

/* A pool for cutters should keep buffers of CUTTER_BUFFER bytes. The text of a record that is longer than CUTTER_RECORD is
 * skipped, and the record is a reject. */
enum { CUTTER_WINDOW = 256 << 10, CUTTER_BUFFER = CUTTER_WINDOW + (16 << 10), CUTTER_RECORD = 16 << 20 };
#define CUTTER_TOO_LONG "the record is longer than 16 MiB"

typedef struct {
    buffer_t buffer;      /* the caller gives it back to the pool */
    uint32_t length;      /* of the whole records in it */
    uint64_t offset;      /* of the first one in the file */
    uint64_t first_line;  /* from 1, counted from the record at lines_from */
    uint64_t lines_from;  /* 0, unless cutter_seek was used */
    uint64_t in_line;     /* bytes of the first one's line before it, as far as is known: of JSON */
    uint64_t next_offset; /* where the next cut starts */
    bool last;            /* nothing follows it */
    bool open;            /* its records may be others when the file has grown */
    bool broken;          /* after it the input is faulty; the fault may already be in its last window */
    struct {              /* a record after the others that is longer than allowed */
        uint64_t length;  /* 0: none */
        uint32_t kept;    /* its first bytes, at buffer.bytes + length: to show to people */
        uint32_t held;    /* how many of its bytes are there: more than the longest allowed record has */
        uint64_t hash;    /* XXH3 of the other records and all of this one */
    } oversize;
} cut_t;

typedef struct cutter cutter_t;

/* The source stays the caller's. longest: longer records are skipped (records within a window are never split, so values
 * below a window have no effect). */
cutter_t *cutter_new(source_t *source, pool_t *pool, uint64_t longest, err_t *err);
void cutter_destroy(cutter_t *cutter);

/* The beginning of the text, before the first cut: to find its dialect. It stays valid until then. False: memory, or a
 * fault of the source before its first byte or, where the schema's records have lines, before its first line's end. */
bool cutter_look(cutter_t *cutter, const schema_t *schema, dialect_head_t *head, err_t *err);

/* Cuts records of this dialect, both of which stay the caller's: before the first cut. */
void cutter_read_as(cutter_t *cutter, const schema_t *schema, const dialect_t *dialect);

/* Both at once: finds the dialect of the text, and reads as it says. name: for messages. */
bool cutter_begin(cutter_t *cutter, const schema_t *schema, const char *name, dialect_t *dialect, err_t *err);

/* Continues with the record that begins at this byte; before the first cut. The source can seek. bracket: what cutter_bracket
 * was there. */
bool cutter_start_at(cutter_t *cutter, uint64_t offset, uint8_t bracket, err_t *err);

/* Continues with the first record that begins in this window or after it; forward only. Costs nothing if the source can
 * seek and each line is a record; else the text before it is read. Records from the window `before` on are not needed: if no
 * record begins before it, there are no more. False: a fault of the source. */
bool cutter_seek(cutter_t *cutter, uint64_t window, uint64_t before, err_t *err);

/* Where the next record begins. */
uint64_t cutter_offset(const cutter_t *cutter);

/* Of JSON: the last [ or ] that belongs to no object, of all that was cut; 0: none. */
uint8_t cutter_bracket(const cutter_t *cutter);

/* 1: a cut; 0: the end, or the pool was closed; -1: a fault; everything before it was given out. */
int cutter_next(cutter_t *cutter, cut_t *cut, err_t *err);

#endif
