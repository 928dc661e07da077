/* reject: the records of which no document could be made, or which the server refused. They are counted, reported, and
 * written to a file, in which a person can fix them. Any thread may add one.
 *
 * What the file is made of: reject_file.h; how it is read by --retry: reject_read.h. */
#ifndef TIPPLE_LOAD_REJECTS_REJECT_H
#define TIPPLE_LOAD_REJECTS_REJECT_H

#include "load/blocks/block.h"
#include "load/rejects/reject_identity.h"

typedef struct rejects rejects_t;

typedef struct {
    const char *path;
    const char *retried; /* the reject file that the records come from: it stays as it is; or NULL */
    bool write;          /* false: only count and tell */
    const char *format;  /* of --format; or NULL */
    const char *again;   /* for the comment: retry_options; or NULL */
    const char *catalog; /* the own id of the collection's catalog; "": unknown */
    const reject_inputs_t *inputs; /* of that catalog; or NULL */
    const schema_t *schema;
    const load_file_t *first; /* the input at whose beginning a wrong format is noticed; or NULL */
    uint64_t most;            /* more than this many end the load; */
    double most_percent;      /* or more than this share of the records, where >= 0; 100: no limit */
    uint64_t to_come;         /* as rejects_to_come, to begin with */
} reject_options_t;

enum { REJECT_USUAL_MOST = 1000 }; /* of a load that is not told */

/* Nothing is there, or a reject file. False: somebody's own file, which nothing may be added to. */
bool rejects_may_use(const char *path, err_t *err);

rejects_t *rejects_new(const reject_options_t *options, err_t *err);
/* again: the load begins again, and rejects again what it has rejected since the last flush: that is taken back. */
void rejects_free(rejects_t *rejects, bool again);

typedef struct {
    const load_file_t *file;
    uint64_t offset, line; /* line: 0 if nobody knows it */
    uint32_t column;       /* 0: the whole line */
    const char *field;     /* or NULL */
    const char *reason;
    const uint8_t *bytes;
    uint64_t length; /* of the record; `kept` of its bytes are there */
    uint64_t kept;
    /* the hash of the bytes that were rejected first, where a person has edited them since; 0: of these */
    uint64_t of;
} reject_t;

/* False: this one was too many (status 3) or could not be written (status 8). */
bool rejects_add(rejects_t *rejects, const reject_t *reject, err_t *err);

/* Records were looked at, of so many bytes of text: for the limits that are shares. */
void rejects_looked_at(rejects_t *rejects, uint64_t records, uint64_t text_bytes);
/* So much text is to come, as far as is known; UINT64_MAX: nobody knows yet. */
void rejects_to_come(rejects_t *rejects, uint64_t text_bytes);
/* So were these of the same inputs, by an earlier load or another one, and so many of them are rejects. */
void rejects_of_others(rejects_t *rejects, uint64_t records, uint64_t rejected);
/* A document could be made of a record, or documents of these inputs are in the collection already: from now on rejects
 * are no sign of a wrong format. */
void rejects_format_fits(rejects_t *rejects);

/* At the end: is the share too large? */
bool rejects_check(rejects_t *rejects, err_t *err);
bool rejects_flush(rejects_t *rejects, err_t *err);
/* Those that are kept: in the file, where one is written. */
uint64_t rejects_count(rejects_t *rejects);
/* The file that holds them: not the one that was asked for where that is another load's; NULL: there is none, or it holds
 * none of them. */
const char *rejects_path(const rejects_t *rejects);

#endif
