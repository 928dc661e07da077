/* reject: the records that no document could be made of, or that the server refused: each in a file that a
 * person can fix and load again. Any thread may add.
 *
 *     # tipple rejects ...                                                          (a comment for the
 * person)
 *     #@1f2e3d4c offset=4711 line=57 length=83 field=- delimiter=7c columns=... file=a.txt -- a.txt:57:12: it
 * has 13 fields ... the record's bytes, to be fixed
 *
 * See reject_file.h for the file itself. */
#ifndef TIPPLE_LOAD_REJECT_H
#define TIPPLE_LOAD_REJECT_H

#include "load/block.h"

typedef struct rejects rejects_t;

typedef struct {
    const char *path;
    bool write;                  /* false: only count and tell */
    const char *format, *target; /* for the comment */
    const schema_t *schema;
    uint64_t most;       /* more than this many end the load; */
    double most_percent; /* or more than this share of the records read, where >= 0 */
} reject_options_t;

/* Nothing is there, or a reject file. False: somebody's own file, which nothing may be added to. */
bool rejects_may_use(const char *path, err_t *err);

rejects_t *rejects_new(const reject_options_t *options, err_t *err);
void rejects_free(rejects_t *rejects);

typedef struct {
    const load_file_t *file;
    uint64_t offset, line;
    uint32_t column;   /* 0: the whole line */
    const char *field; /* or NULL */
    const char *reason;
    const uint8_t *bytes;
    uint64_t length; /* of the record; `kept` of its bytes are there */
    uint64_t kept;
} reject_t;

/* False: this one was too many (status 3) or could not be written (status 8). */
bool rejects_add(rejects_t *rejects, const reject_t *reject, err_t *err);

/* Records of a block were looked at: for the limits that are shares. documents: some could be made. */
void rejects_looked_at(rejects_t *rejects, uint64_t records, bool documents);

/* At the end: is the share too large? */
bool rejects_check(rejects_t *rejects, err_t *err);
bool rejects_flush(rejects_t *rejects, err_t *err);
uint64_t rejects_count(rejects_t *rejects);
const char *rejects_path(const rejects_t *rejects);

/* --- reading a fixed file
 * ------------------------------------------------------------------------------------ */

typedef struct {
    char path[4096]; /* of the file that the record came from */
    uint64_t offset;
    dialect_t dialect;
    const uint8_t *bytes; /* the record as it is now, no line end; nothing: left out by the person */
    size_t length;
    uint64_t line;    /* of the record in its file */
    uint64_t at_line; /* of the entry in the reject file */
} retry_t;

/* Calls take for each entry. Status 1 where the file cannot be read, is no reject file, or an entry's line
 * was damaged (which is said with its line). */
typedef bool retry_fn(void *context, const retry_t *retry, err_t *err);
bool rejects_read(const char *path, const schema_t *schema, retry_fn *take, void *context, err_t *err);

#endif
