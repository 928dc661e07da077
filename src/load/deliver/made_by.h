/* made_by: which record of this load has made a document? A table of the hashes of documents, with their places; when it
 * is full, newer ones take the room of older ones. So it may know nothing, and is never wrong. Any thread may use it. */
#ifndef TIPPLE_LOAD_DELIVER_MADE_BY_H
#define TIPPLE_LOAD_DELIVER_MADE_BY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct made_by made_by_t;

typedef struct {
    const void *file; /* the caller's */
    uint64_t line;    /* 0: not known */
    uint64_t offset;  /* of the record in the file */
} made_place_t;

/* bytes: at most so many, which it uses only as they are needed. NULL: out of memory. */
made_by_t *made_by_new(size_t bytes);
void made_by_free(made_by_t *made); /* NULL is allowed */

void made_by_note(made_by_t *made, uint64_t hash, const made_place_t *place);
bool made_by_find(const made_by_t *made, uint64_t hash, made_place_t *place);

#endif
