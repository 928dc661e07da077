/* reject_file: reads reject files as people and kills have left them. A file is mapped, and never changed: it takes no more
 * memory than its longest entry, and pages that the kernel can take back. A reject_file_t belongs to one thread.
 *
 *     # tipple rejects ...
 *     # of catalog 655b0f1e2a00000000000007                            the own id of the collection's catalog
 *     # marked #@1f2e3d4c
 *     #@1f2e3d4c offset=4711 line=57 length=83 hash=... ... -- ...    an entry's head
 *     the record                                                      all up to the next head belongs to it
 *     #@1f2e3d4c torn -- ...                                          a note: the entry above was cut off
 *
 * The mark is drawn at random once a file, so no record can look like a head. Files are only appended to, and incomplete
 * writes are taken back (reject.c). What a kill cut off stays, and is recognised: a head by its missing words for people; a
 * record by the note that the next load wrote below it, or, at the end of the file, by a missing line end and fewer bytes than
 * the head says. If nothing of the last record is there, it counts as deleted by a user: a kill right after its head looks
 * the same. */
#ifndef TIPPLE_LOAD_REJECTS_REJECT_FILE_H
#define TIPPLE_LOAD_REJECTS_REJECT_FILE_H

#include "base/err.h"
#include "catalog/store/store.h"
#include "format/record/dialect.h"
#include "load/rejects/reject.h"

#include <stdint.h>

enum { REJECT_MARK = 16, REJECT_NOTE = 160 };

extern const char reject_first_words[]; /* every reject file begins with these */

typedef struct {
    const char *text; /* the file, mapped */
    size_t size, mapped;
    size_t cut;              /* bytes of a torn mark follow text[size] */
    char mark[REJECT_MARK];  /* "#@1f2e3d4c "; "" when the file announces none */
    char catalog[STORE_OWN]; /* the catalog's own id; "" when the file does not say */
    size_t first;            /* where the first entry may be */
    uint64_t first_line;
} reject_file_t;

/* Opens a file. What is no regular file is read as empty. False with errno: it cannot be read. */
bool reject_file_open(reject_file_t *file, const char *path);

/* Opens only the first bytes of any file, to see what it is. */
bool reject_file_open_head(reject_file_t *file, const char *path);
void reject_file_close(reject_file_t *file);

/* Says that text[from, to) is not needed in memory now; if it is needed later, it is read again. */
void reject_file_pass(const reject_file_t *file, size_t from, size_t to);

/* True if it is a user's own file, not even the beginning of a reject file. */
bool reject_file_is_other(const reject_file_t *file);

/* Writes into `out` what must come before the next entry, so that it can be read whatever a kill has left: mostly nothing.
 * Returns its length. */
size_t reject_file_resume(const reject_file_t *file, char out[REJECT_NOTE]);

typedef struct {
    char *head;            /* the head's line, NUL-terminated, owned: reject_entry_free */
    const uint8_t *record; /* without the end of its last line */
    /* of the record, without a carriage return at its end, which an editor may have added */
    size_t length;
    size_t raw_length; /* with the carriage return */
    size_t at, behind; /* the entry's beginning and end in the text */
    uint64_t line;     /* of the head, from 1 */
    bool noted_torn;   /* the record was cut off by a kill, as a later load has noted */
    /* noted_torn, or it may have been cut off: the file ends with less than the head says */
    bool torn;
} reject_entry_t;

/* Reads the entry at or after *at, passing over torn heads, and moves both on. 0: none; -1: out of memory. */
int reject_file_next(const reject_file_t *file, size_t *at, uint64_t *line, reject_entry_t *entry);
void reject_entry_free(reject_entry_t *entry);

/* Reads a number of the head, such as "offset". False: it is not there. */
/* Returns a word of the head as it is written, and its length; NULL: it is not there. */

/* Adds the identities of all whole entries, by their heads, whatever a user has made of the records. Heads of old files that
 * lack a part of the identity are passed over. as_read: also adds the identity by which a load reads an unedited entry. False:
 * out of memory. */
bool reject_file_known(const reject_file_t *file, const reject_inputs_t *inputs, bool as_read,
                       reject_known_t *known);

/* Writes a word of a head, such as an identity's input: blanks and control characters become %20 and the like. */
void reject_print_word(const char *text, char *out, size_t room);

/* ---- rejects_read: the records of a reject file as a user has fixed them, for --retry ---- */

/* What an entry says of its record. */
typedef struct {
    const char *path;        /* of the input that the record came from; valid while `take` runs */
    char catalog[STORE_OWN]; /* the own id of the file's catalog; "": the file does not say */
    uint64_t offset;
    uint64_t ordinal; /* of its input in the catalog; UINT64_MAX: unknown */
    uint64_t dialect; /* hash of the dialect that its head spells */
    uint64_t read_by; /* hash of the dialect by which the record was rejected; 0: unknown */
    uint64_t at_line; /* of the entry in the reject file */
    uint64_t hash;    /* of the bytes that were first rejected, before anybody edited them */
    bool has_hash;
    bool cut_off;   /* probably by a kill, and not written again: the beginning of a record */
    bool untouched; /* the bytes are those that were rejected */
} reject_head_t;

typedef struct {
    reject_head_t head;
    dialect_t dialect;
    const reject_file_t *file;
    size_t at;            /* where the entry begins in the file's text */
    const uint8_t *bytes; /* the record as it is now, without a line end; empty: the user has left it out */
    size_t length;
    uint8_t *row;  /* holds the bytes if the file has them as Extended JSON; else NULL */
    uint64_t line; /* of the record in its input; 0: unknown */
    /* why no document is made of the record, whatever it looks like; NULL: one may be */
    const char *refusal;
} retry_t;

/* Calls take for each entry; with `only` for the one that begins there (if the file was changed since, this may be another one,
 * or none). False also if the file cannot be read, or, with status 1 and the line, if it is no reject file, a head was damaged,
 * or more than one record stands below it. */
typedef bool retry_fn(void *context, const retry_t *retry, err_t *err);
bool rejects_read(const char *path, size_t only, const schema_t *schema, retry_fn *take, void *context,
                  err_t *err);

#endif
