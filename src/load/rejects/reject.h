/* reject: records that make no document, or whose document the server refused. They are counted, reported, and written to a
 * reject file (reject_write.h), in which a user can fix them; too many of them end the load. One rejects_t serves a whole load, and
 * any thread may add to it. */
#ifndef TIPPLE_LOAD_REJECTS_REJECT_H
#define TIPPLE_LOAD_REJECTS_REJECT_H

#include "load/rejects/reject_write.h"

typedef struct rejects rejects_t;

typedef struct {
    reject_target_t file;
    bool write;                  /* false: only count and report */
    const char *format;          /* the argument of --format; or NULL */
    const active_piece_t *first; /* the input at whose beginning a wrong format is noticed; or NULL */
    uint64_t most;               /* more rejects than this end the load; */
    double most_percent;         /* or more than this share of the records, where >= 0; 100: no limit */
    uint64_t to_come;            /* the first value for rejects_to_come */
} reject_options_t;

enum { REJECT_USUAL_MOST = 1000 }; /* without --max-rejects */

/* True if the user expects many rejects: then the first records are no sign of a wrong format. Takes the two limits of
 * reject_options_t. */
bool rejects_may_be_many(uint64_t most, double most_percent);

rejects_t *rejects_new(const reject_options_t *options, err_t *err);
/* Frees the rejects. again: the load starts over and will reject the same records, so what was written since the last flush is
 * removed from the file. */
void rejects_free(rejects_t *rejects, bool again);

/* Counts, reports and writes one reject. False: too many (status 3), or it cannot be written (status 8). */
bool rejects_add(rejects_t *rejects, const reject_t *reject, err_t *err);

/* Notes how many records were read, and bytes of text, for limits that are shares. */
void rejects_looked_at(rejects_t *rejects, uint64_t records, uint64_t text_bytes);
/* Sets how much text is still to come; UINT64_MAX: unknown. */
void rejects_to_come(rejects_t *rejects, uint64_t text_bytes);
/* Adds records of the same inputs that other loads finished, and how many of them were rejected. */
void rejects_of_others(rejects_t *rejects, uint64_t records, uint64_t rejected);
/* Notes that a record made a document, or that documents of these inputs are in the collection: from now on rejects are no sign
 * of a wrong format. */
void rejects_format_fits(rejects_t *rejects);

/* At the end: false if the share of rejects is too large. */
bool rejects_check(rejects_t *rejects, err_t *err);
bool rejects_flush(rejects_t *rejects, err_t *err);
/* Returns the number of rejects. */
uint64_t rejects_count(const rejects_t *rejects);
/* Returns the file that holds the rejects: another than the wanted one if that belongs to another load. NULL: no file, or no
 * rejects. */
const char *rejects_path(const rejects_t *rejects);

#endif
