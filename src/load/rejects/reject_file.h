/* reject_file: reads reject files as people and kills have left them. A file is opened once, its text is mapped, and one pass over
 * it makes the list of its entries, which serves all who ask: what their heads say, and hashes of what stands below. Records stay in
 * the file, so an open file takes no more memory than its heads, its longest entry, and pages that the kernel can take back.
 *
 *     # tipple rejects ...
 *     # of catalog 655b0f1e2a00000000000007                            the own id of the collection's catalog
 *     # marked #@1f2e3d4c
 *     #@1f2e3d4c offset=4711 line=57 length=83 hash=... ... -- ...    an entry's head
 *     the record                                                      all up to the next head belongs to it
 *     #@1f2e3d4c torn -- ...                                          a note: the entry above was cut off
 *
 * The mark is drawn at random once a file, so no record can look like a head. Files are only appended to, and incomplete
 * writes are taken back (reject_write.c). What a kill cut off stays, and is recognised: a head by its missing words for people; a
 * record by the note that the next load wrote below it, or, at the end of the file, by a missing line end and fewer bytes than
 * the head says. If nothing of the last record is there, it counts as deleted by a user: a kill right after its head looks
 * the same.
 *
 * Invariants: entries ascend by `at` and do not overlap; after it was opened a reject_file_t is constant, and any thread may read
 * it. A user may change the file meanwhile: reject_file_holds notices that before a record is read again. */
#ifndef TIPPLE_LOAD_REJECTS_REJECT_FILE_H
#define TIPPLE_LOAD_REJECTS_REJECT_FILE_H

#include "base/err.h"
#include "catalog/store/store.h"
#include "format/record/dialect.h"
#include "load/rejects/fix_item.h"

#include <stdint.h>
#include <sys/stat.h>

/* Before the words for people in a head; and the word of a note. */
#define REJECT_FOR_PEOPLE  " -- "
#define REJECT_TORN        "torn"
#define REJECT_FIRST_WORDS MAGIC_REJECT_WORDS /* every reject file begins with these */

enum { REJECT_MARK = 16 };

/* Which words a head has. */
enum {
    REJECT_HAS_OFFSET = 1 << 0,
    REJECT_HAS_LINE = 1 << 1,
    REJECT_HAS_LENGTH = 1 << 2,
    REJECT_HAS_KEPT = 1 << 3,
    REJECT_HAS_HASH = 1 << 4,
    REJECT_HAS_OF = 1 << 5,
    REJECT_HAS_DIALECT = 1 << 6,
    REJECT_HAS_ORDINAL = 1 << 7,
};

typedef struct {
    size_t at, end;    /* the entry in the text */
    size_t record;     /* where its record begins, */
    size_t length;     /* and the length of that as it is now, without a line end; 0: it was deleted */
    uint64_t now;      /* a hash of these bytes */
    uint64_t at_line;  /* of the head, from 1 */
    uint32_t has;      /* the words of the head: */
    const char *input; /* as the catalog calls it; NULL: the head does not say */
    uint64_t ordinal;  /* of the input there; UINT64_MAX: unknown */
    uint64_t offset;   /* of the record in its input, */
    uint64_t line;     /* and its line there; 0: unknown */
    uint64_t whole;    /* the length of the whole record, */
    uint64_t kept;     /* of which the file had these first bytes */
    uint64_t hash;     /* of the bytes that the file had, */
    uint64_t of;       /* and of those that were first rejected, before anybody edited them */
    uint64_t dialect;  /* by which the record was rejected; 0: unknown */
    bool untouched;    /* the record is as it was written */
    /* the entry was cut off by a kill, or may have been: the file ends with less than the head says; */
    bool torn;
    bool cut_off; /* so what is there of its record is no fix of it */
} reject_entry_t;

typedef struct {
    const char *path; /* borrowed */
    const char *text; /* mapped */
    size_t size, mapped;
    size_t cut;              /* bytes of a torn mark follow text[size] */
    char mark[REJECT_MARK];  /* "#@1f2e3d4c "; "" when the file announces none */
    char catalog[STORE_OWN]; /* the catalog's own id; "" when the file does not say */
    size_t first;            /* where the first entry may be */
    uint64_t first_line;
    struct stat opened;
    reject_entry_t *entries;
    size_t count, room;
} reject_file_t;

/* Opens a file. What is no regular file is read as empty. False with errno: it cannot be read. */
bool reject_file_open(reject_file_t *file, const char *path);
/* Opens only the first bytes of any file, to see what it is: no entries. */
bool reject_file_open_head(reject_file_t *file, const char *path);
void reject_file_close(reject_file_t *file); /* zeroed is allowed */

/* True if it is a user's own file, not even the beginning of a reject file. */
bool reject_file_is_other(const reject_file_t *file);
/* Says that the entry is not needed in memory now; if it is needed later, it is read again. */
void reject_file_pass(const reject_file_t *file, const reject_entry_t *entry);

/* ---- which rejects a file has ---- */

/* The inputs that a catalog has or had, by ordinal. */
typedef struct {
    const standing_input_t *inputs; /* NULL: they are not known */
    size_t count;
} reject_inputs_t;

/* Returns the ordinal, or UINT64_MAX if the input was forgotten or dropped, or is not known: then only its name identifies it. */
uint64_t reject_inputs_ordinal(const reject_inputs_t *inputs, uint64_t ordinal);

/* A set of rejects. An input that is gone is known by its name; then the reject may be of any input of that name from an ordinal
 * on, since others have entries of their own. */
typedef struct {
    void *places; /* a tree (tsearch) */
    size_t count;
} reject_known_t; /* zeroed: an empty set */

bool reject_known_add(reject_known_t *known, const reject_identity_t *identity, uint64_t from, err_t *err);
bool reject_known_has(const reject_known_t *known, const reject_identity_t *identity);
void reject_known_free(reject_known_t *known); /* leaves an empty set */

/* Adds all whole entries of a file, by their heads, whatever a user has made of the records. Heads of old files that lack a part of
 * the identity are passed over. as_read: also the identities by which a load reads unedited entries. */
bool reject_file_known(const reject_file_t *file, const reject_inputs_t *inputs, bool as_read,
                       reject_known_t *known, err_t *err);

/* ---- for --retry: records as a user has fixed them ---- */

/* Opens a file for --retry: without entries that were cut off and then written again. Status 1, with the line, if it is no reject
 * file, not in order, or two files in one. */
bool reject_file_open_fixed(reject_file_t *file, const char *path, err_t *err);

typedef struct {
    const reject_entry_t *entry;
    dialect_t dialect;
    const uint8_t *bytes; /* the record as it is now, without a line end; empty: the user has left it out */
    size_t length;
    uint8_t *row; /* holds the bytes if the file has them as Extended JSON; else NULL; to be freed */
    /* why no document is made of the record, whatever it looks like; NULL: one may be */
    const char *refusal;
} retry_t;

/* Reads the record of an entry. Status 1 if the head was damaged, or more than one record stands below it. `row` is to be freed
 * whatever it returns. */
bool reject_file_record(const reject_file_t *file, const reject_entry_t *entry, const schema_t *schema,
                        retry_t *retry, err_t *err);

/* False if the file was changed so that the entry's record is not there any more as it was. */
bool reject_file_holds(const reject_file_t *file, const reject_entry_t *entry);

#endif
