/* answer: what comes back of a request. One thread. */
#ifndef TIPPLE_QUERY_SUITE_ANSWER_H
#define TIPPLE_QUERY_SUITE_ANSWER_H

#include "server/command_cursor.h"

/* What came back. Zeroed before; `keep` may be set. The documents kept grow only to `most_bytes`. */
typedef struct {
    bool keep;
    size_t most_bytes;
    bson_t *documents; /* keep: {"0": ..., ...} */
    bool more;         /* some were not kept */
    uint64_t count, bytes;
} answer_t;

/* Zeroes it; with `keep` false the answer only counts. */
void answer_begin(answer_t *answer, bool keep);
void answer_take(answer_t *answer, const bson_t *document);
void answer_drop(answer_t *answer); /* keeps the count, and no document any more */
void answer_end(answer_t *answer);

/* Takes all documents of the cursor, and ends it. False: error holds what the driver or the server said, and what was taken is
 * no answer. */
bool answer_read(answer_t *answer, command_cursor_t *cursor, bson_error_t *error);

/* Has a signal asked to stop while the server still has batches of this answer? They may never end. What has come is no
 * answer then, and error says so. */
bool answer_cut_off(const command_cursor_t *cursor, bson_error_t *error);

#endif
