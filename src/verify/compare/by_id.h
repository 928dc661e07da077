/* by_id: compares documents with those in the collection by their own `_id`s, some hundred at a time. It knows nothing of
 * files: what is expected goes in, what was found comes out. Belongs to one thread.
 *
 *     by_id_expect ...   each document; at last, and whenever there are enough of them:
 *     by_id_ask          asks for their `_id`s
 *     by_id_tell         what became of each, in their order
 */
#ifndef TIPPLE_VERIFY_COMPARE_BY_ID_H
#define TIPPLE_VERIFY_COMPARE_BY_ID_H

#include "load/read_back/snapshot_read.h"

typedef struct by_id by_id_t;

by_id_t *by_id_new(err_t *err);
void by_id_free(by_id_t *by_id); /* NULL is allowed */
void by_id_clear(by_id_t *by_id);

/* tag: a number of the caller's. After a long document, which is known by its hash, by_id is full. */
bool by_id_expect(by_id_t *by_id, size_t tag, const uint8_t *document, uint32_t length, err_t *err);
/* Are there so many that they are to be asked for? */
bool by_id_is_full(const by_id_t *by_id);

/* Asks. False: with snapshot_read_again it is worth another try, else err. *seen, *bytes: documents that came. */
bool by_id_ask(by_id_t *by_id, snapshot_read_t *target, uint64_t *seen, uint64_t *bytes, err_t *err);

typedef struct {
    size_t tag;
    uint64_t hash;     /* of its `_id` */
    const uint8_t *id; /* a document that begins with its `_id` */
    uint32_t id_length;
    const uint8_t *expected; /* NULL: it is long, and only its `_id` is kept */
    uint32_t expected_length;
    bool same;       /* the document is there */
    uint32_t others; /* so many others have its `_id` */
    uint8_t *other;
    uint32_t other_length; /* the first of them */
} by_id_found_t;

size_t by_id_count(const by_id_t *by_id);
by_id_found_t by_id_found(const by_id_t *by_id, size_t at);

#endif
