/* reject_file: the text of a reject file, entry by entry.
 *
 *     # tipple rejects ...
 *     # marked #@1f2e3d4c
 *     #@1f2e3d4c offset=4711 line=57 length=83 ...                     an entry's head
 *     the record                                                      what belongs to it: all up to the next
 * head
 *
 * The mark is drawn at random once a file, so that no record can look like a head. */
#ifndef TIPPLE_LOAD_REJECT_FILE_H
#define TIPPLE_LOAD_REJECT_FILE_H

#include "base/err.h"

#include <stdint.h>

enum { REJECT_MARK = 16 };

typedef struct {
    char *text; /* owned */
    size_t size;
    char mark[REJECT_MARK]; /* "#@1f2e3d4c "; "" when the file announces none */
    size_t first;           /* where the first entry may stand */
    uint64_t first_line;
} reject_file_t;

/* False with errno: it cannot be read. What is no regular file is taken as empty. */
bool reject_file_open(reject_file_t *file, const char *path);

/* Its first bytes, to see what it is: it may be any file. */
bool reject_file_open_head(reject_file_t *file, const char *path);
void reject_file_close(reject_file_t *file);

typedef struct {
    char *head;            /* the entry's line, NUL-terminated, owned: reject_entry_free */
    const uint8_t *record; /* without the last line's end */
    size_t length;
    size_t at, behind; /* in the text */
    uint64_t line;     /* of the head, from 1 */
    bool torn;         /* the file ends in the middle of it: a kill, not a person */
} reject_entry_t;

/* The entry at or behind *at; moves both on. 0: none; -1: out of memory. */
int reject_file_next(const reject_file_t *file, size_t *at, uint64_t *line, reject_entry_t *entry);
void reject_entry_free(reject_entry_t *entry);

/* A number of the head, such as "offset"; false when it is not there. */
bool reject_entry_number(const reject_entry_t *entry, const char *name, uint64_t *value);
/* A word of the head as it stands; NULL when it is not there. Its length goes to *length. */
const char *reject_entry_word(const reject_entry_t *entry, const char *name, size_t *length);

/* Words of a head hold no blanks and no control characters: those are written as %20. */
void reject_print_word(const char *text, char *out, size_t room);
bool reject_read_word(const char *text, size_t length, char *out, size_t room);

#endif
