/* reject_read: reads the records of a reject file, as a person has fixed them, for --retry. It changes nothing. */
#ifndef TIPPLE_LOAD_REJECTS_REJECT_READ_H
#define TIPPLE_LOAD_REJECTS_REJECT_READ_H

#include "base/err.h"
#include "format/record/dialect.h"

typedef struct {
    char path[4096];     /* of the file that the record came from */
    const char *catalog; /* the own id of the one that the file is of; "": it does not say */
    uint64_t offset;
    dialect_t dialect;
    uint64_t ordinal;     /* of its input in the catalog; UINT64_MAX: not known */
    uint64_t read_by;     /* hash of the dialect that the record was rejected by; 0: not known */
    const uint8_t *bytes; /* the record as it is now, no line end; nothing: left out by the person */
    size_t length;
    uint64_t line;    /* of the record in its file */
    uint64_t at_line; /* of the entry in the reject file */
    bool has_hash;
    uint64_t hash;  /* of the bytes that were rejected first, before anybody edited them */
    bool cut_off;   /* by a kill, it seems, and not written again: the beginning of a record */
    bool untouched; /* the bytes are those that were rejected */
    /* why no document is made of it, although it may look like a record; NULL: one may be */
    const char *refusal;
} retry_t;

/* Calls take for each entry. Status 1 where the file cannot be read, is no reject file, or an entry's line
 * was damaged or several lines stand below it (which is said with its line). */
typedef bool retry_fn(void *context, const retry_t *retry, err_t *err);
bool rejects_read(const char *path, const schema_t *schema, retry_fn *take, void *context, err_t *err);

#endif
