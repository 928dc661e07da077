/* reject: records that make no document, or whose document the server refused. They are counted, reported, and written to a
 * reject file (reject_file.h), in which a user can fix them. One rejects_t serves a whole load: it has a lock, and any
 * thread may add to it. */
#ifndef TIPPLE_LOAD_REJECTS_REJECT_H
#define TIPPLE_LOAD_REJECTS_REJECT_H

#include "load/blocks/block.h"
#include "load/rejects/fix_item.h"

typedef struct rejects rejects_t;

typedef struct {
    const char *path;
    const char *retried; /* the reject file that the records come from, which stays as it is; or NULL */
    bool write;          /* false: only count and report */
    const char *format;  /* the argument of --format; or NULL */
    const char *again;   /* retry_options, for the comment in the file; or NULL */
    const char *catalog; /* the own id of the collection's catalog; "": unknown */
    const reject_inputs_t *inputs; /* of that catalog; or NULL */
    const schema_t *schema;
    const load_file_t *first; /* the input at whose beginning a wrong format is noticed; or NULL */
    uint64_t most;            /* more rejects than this end the load; */
    double most_percent;      /* or more than this share of the records, where >= 0; 100: no limit */
    uint64_t to_come;         /* the first value for rejects_to_come */
} reject_options_t;

enum { REJECT_USUAL_MOST = 1000 }; /* without --max-rejects */

/* True if a reject file is there or can be made. False also for a user's own file, to which nothing may be added. */
bool rejects_may_use(const char *path, err_t *err);

rejects_t *rejects_new(const reject_options_t *options, err_t *err);
/* Frees the rejects. again: the load starts over and will reject the same records, so what was written since the last flush is
 * removed from the file. */
void rejects_free(rejects_t *rejects, bool again);

typedef struct {
    const load_file_t *file;
    uint64_t offset, line; /* line: 0 if unknown */
    uint32_t column;       /* 0: the whole line */
    const char *field;     /* or NULL */
    const char *reason;
    const uint8_t *bytes;
    uint64_t length; /* of the record; the first `kept` of its bytes are here */
    uint64_t kept;
    /* the hash of the bytes that were first rejected, if a user has edited them since; 0: these bytes */
    uint64_t of;
} reject_t;

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
uint64_t rejects_count(rejects_t *rejects);
/* Returns the file that holds the rejects: another than the wanted one if that belongs to another load. NULL: no file, or no
 * rejects. */
const char *rejects_path(const rejects_t *rejects);

/* ---- reject_known: a set of identities of rejected records; one thread at a time ---- */

typedef struct {
    reject_identity_t is;
    uint64_t from; /* only for inputs from this ordinal on: others have an entry of their own */
} reject_known_place_t;

typedef struct {
    reject_known_place_t *places; /* a hash table; a free place has no `is.input` */
    size_t count, room;
    char **names; /* owned: the identities' inputs point to them */
    size_t name_count, name_room;
} reject_known_t; /* zeroed: an empty set */

/* Adds an identity, and copies its input's name. False: out of memory. */
bool reject_known_add(reject_known_t *known, const reject_identity_t *identity);
/* The same for an entry whose input is gone: it may be of any input of that name from this ordinal on. */
bool reject_known_add_gone(reject_known_t *known, const reject_identity_t *identity, uint64_t from);
bool reject_known_has(const reject_known_t *known, const reject_identity_t *identity);
/* True if the set has an entry of this input, or one that may be of it. */
bool reject_known_has_of(const reject_known_t *known, const reject_identity_t *identity);
void reject_known_free(reject_known_t *known); /* leaves an empty set */

#endif
