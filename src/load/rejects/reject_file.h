/* reject_file: the text of a reject file, entry by entry, as people and kills have left it. It is never
 * changed while it is read: it is mapped, and takes no more memory than its longest entry, and pages that the kernel can
 * take back.
 *
 *     # tipple rejects ...
 *     # of catalog 655b0f1e2a00000000000007                            the own id of the collection's catalog
 *     # marked #@1f2e3d4c
 *     #@1f2e3d4c offset=4711 line=57 length=83 hash=... ... -- ...    an entry's head
 *     the record                                                      all up to the next head belongs to it
 *     #@1f2e3d4c torn -- ...                                          a note: the entry above was cut off
 *
 * The mark is drawn at random once a file, so that no record can look like a head. A file is only ever
 * appended to, and what a write could not complete is taken back (reject_store). So what a kill cut off stays there, and
 * is recognised: of a head by its missing words for people, of a record by the note that the next load has written
 * below it, or by the end of the file: no line end, and fewer bytes than the head says. A record of which nothing is
 * there, at the end, is taken for one that a person has deleted: a kill right behind its head cannot be told from that. */
#ifndef TIPPLE_LOAD_REJECTS_REJECT_FILE_H
#define TIPPLE_LOAD_REJECTS_REJECT_FILE_H

#include "base/err.h"
#include "catalog/store/store.h"
#include "load/rejects/reject_known.h"

#include <stdint.h>

enum { REJECT_MARK = 16, REJECT_NOTE = 160 };

extern const char reject_first_words[]; /* of every reject file */

typedef struct {
    const char *text; /* the file, mapped */
    size_t size, mapped;
    size_t cut;              /* a torn mark behind the last entry: so many bytes follow text[size] */
    char mark[REJECT_MARK];  /* "#@1f2e3d4c "; "" when the file announces none */
    char catalog[STORE_OWN]; /* its own id; "" when the file does not say */
    size_t first;            /* where the first entry may be */
    uint64_t first_line;
} reject_file_t;

/* False with errno: it cannot be read. What is no regular file is read as empty. */
bool reject_file_open(reject_file_t *file, const char *path);

/* Its first bytes, to see what it is: it may be any file. */
bool reject_file_open_head(reject_file_t *file, const char *path);
void reject_file_close(reject_file_t *file);

/* text[from, to) was read, and is not needed in memory now: what is needed of it later is read again. */
void reject_file_pass(const reject_file_t *file, size_t from, size_t to);

/* Somebody's own file, not even the beginning of a reject file. */
bool reject_file_is_other(const reject_file_t *file);

/* What has to be written first, so that the next entry can be read whatever a kill has left: mostly nothing.
 * The number of bytes. */
size_t reject_file_resume(const reject_file_t *file, char out[REJECT_NOTE]);

/* Does a head begin there, or a note, in the text up to `end`? */
bool reject_file_is_head(const reject_file_t *file, const char *at, const char *end);

typedef struct {
    char *head;            /* the entry's line, NUL-terminated, owned: reject_entry_free */
    const uint8_t *record; /* without the last line's end */
    size_t length;         /* of it, without a carriage return at its end, which an editor may have added */
    size_t raw_length;     /* with it */
    size_t at, behind;     /* in the text */
    uint64_t line;         /* of the head, from 1 */
    bool noted_torn;       /* the record was cut off by a kill, as a later load has noted */
    bool torn;             /* so, or it may have been: the file ends with less than the head says */
} reject_entry_t;

/* The entry at or after *at, but for torn heads; moves both on. 0: none; -1: out of memory. */
int reject_file_next(const reject_file_t *file, size_t *at, uint64_t *line, reject_entry_t *entry);
void reject_entry_free(reject_entry_t *entry);

/* Where in text[from, to), which begins with a line, a second file is announced that somebody has put behind this one;
 * `to`: nowhere. */
size_t reject_file_joined(const reject_file_t *file, size_t from, size_t to);

/* The line of a head that stands above the mark. False: there is none. */
bool reject_file_head_above(const reject_file_t *file, uint64_t *line);

/* A number of the head, such as "offset"; false when it is not there. */
bool reject_entry_number(const reject_entry_t *entry, const char *name, uint64_t *value);
/* A hash of the head, 16 hexadecimal digits; false when it is not there. */
bool reject_entry_hash(const reject_entry_t *entry, const char *name, uint64_t *hash);
/* A word of the head as it is written; NULL when it is not there. Its length goes to *length. */
const char *reject_entry_word(const reject_entry_t *entry, const char *name, size_t *length);

/* The identities of all entries that are whole, by their heads: whatever a person has made of their records.
 * Entries of old files, whose heads do not say all of it, are not known. as_read: also by what a load reads of an entry
 * that nobody has edited. False: out of memory. */
bool reject_file_known(const reject_file_t *file, const reject_inputs_t *inputs, bool as_read,
                       reject_known_t *known);
/* known: of a file, without inputs. */
bool reject_entry_is_known(const reject_entry_t *entry, const reject_known_t *known);

/* Words of a head hold no blanks and no control characters: those are written as %20. An identity's input is
 * such a word. */
void reject_print_word(const char *text, char *out, size_t room);
bool reject_read_word(const char *text, size_t length, char *out, size_t room);

#endif
