/* reject_read: reads the records of a reject file, as a person has fixed them, for --retry. It changes nothing. */
#ifndef TIPPLE_LOAD_REJECTS_REJECT_READ_H
#define TIPPLE_LOAD_REJECTS_REJECT_READ_H

#include "base/err.h"
#include "catalog/store/store.h"
#include "format/record/dialect.h"
#include "load/rejects/reject_file.h"

/* What an entry says of its record. */
typedef struct {
    const char *path;        /* of the file that the record came from; as long as `take` runs */
    char catalog[STORE_OWN]; /* the own id of the one that the file is of; "": it does not say */
    uint64_t offset;
    uint64_t ordinal; /* of its input in the catalog; UINT64_MAX: not known */
    uint64_t dialect; /* hash of the dialect that its line spells */
    uint64_t read_by; /* the same of the one that the record was rejected by; 0: not known */
    uint64_t at_line; /* of the entry in the reject file */
    uint64_t hash;    /* of the bytes that were rejected first, before anybody edited them */
    bool has_hash;
    bool cut_off;   /* by a kill, it seems, and not written again: the beginning of a record */
    bool untouched; /* the bytes are those that were rejected */
} reject_head_t;

typedef struct {
    reject_head_t head;
    dialect_t dialect;
    const reject_file_t *file;
    size_t at;            /* where the entry begins in its text */
    const uint8_t *bytes; /* the record as it is now, no line end; nothing: the user has left it out */
    size_t length;
    uint8_t *row;  /* which the bytes are in, where its text has them as Extended JSON; or NULL */
    uint64_t line; /* of the record in its file; 0: not known */
    /* why no document is made of it, although it may look like a record; NULL: one may be */
    const char *refusal;
} retry_t;

/* Calls take for each entry, or only for the one that begins at `only`: if the file was changed since, this may be another one,
 * or none. only 0: all, since a file begins with comments. Status 1 where the file cannot be read, is no reject file, or an entry's line
 * was damaged or several lines stand below it (which is said with its line). */
typedef bool retry_fn(void *context, const retry_t *retry, err_t *err);
bool rejects_read(const char *path, size_t only, const schema_t *schema, retry_fn *take, void *context,
                  err_t *err);

#endif
