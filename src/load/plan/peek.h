/* peek: the beginnings of inputs, before a load writes anything.
 *
 * Each input is opened once for all who want to know how it begins: manifest_build identifies it then (several files at a time,
 * in some threads), and keeps its head, at most INPUT_HEAD_MOST bytes of its text, decompressed. Whoever reads a beginning opens
 * a source with a kit that only looks (source_kit_t.looks): it gives out the head, and opens the input only for more than that.
 *
 *     who asks                               what for                        how much
 *     format.c, guess_inputs                 a sample to guess from          1.5 MiB of one input, 32 KiB or more of 63
 *     format.c, guess_inputs_bring_id        its own `_id`                   the first document of 8 inputs
 *     inputs.c, check_inputs                 its header                      the first line; in several threads
 *     inputs.c, sample_take                  shard keys                      places in 32 inputs
 *     peek_try                               does the format make anything?  the first window of 32 inputs
 *     peek_records                           has it any record?              the first record
 *
 * Invariants:
 * - Heads are text as a source gives it out. So a text of UTF-16 or of another encoding, or whose lines end with CR, has none;
 *   nor has a stream, a collection in an archive of mongodump, or what is damaged near its beginning.
 * - All heads together take at most a 16th of --memory. Inputs beyond that are opened again.
 * - Heads never change. The main thread forgets them when the inputs are registered, except for small files among the first,
 *   whose heads are all of their text (manifest_forget_heads): these are loaded as they were identified. From then on, an
 *   input that is opened is read, and must still be the file that was identified.
 *
 * A peek_t shows the records of beginnings. It belongs to one thread. */
#ifndef TIPPLE_LOAD_PLAN_PEEK_H
#define TIPPLE_LOAD_PLAN_PEEK_H

#include "format/records.h"
#include "input/manifest.h"

enum { PEEK_MEMORY_SHARE = 16 };

typedef struct peek peek_t;

/* NULL: out of memory. The schema stays the caller's. with_ids: documents get the `_id`s that it makes of their fields. */
peek_t *peek_new(const schema_t *schema, bool with_ids, err_t *err);
void peek_free(peek_t *peek);

/* A record that makes a document, or is a reject: not a header, a blank line, or a comment. */
typedef struct {
    parsed_t parsed;
    const record_t *record;  /* NULL: it is longer than a record may be */
    const uint8_t *document; /* of PARSED_DOCUMENT: record->document_length bytes */
} peeked_t;

/* False: that is enough. */
typedef bool peek_see_fn(void *context, const peeked_t *peeked);

typedef enum {
    PEEK_ENDED,
    PEEK_ENOUGH,
    PEEK_FAULT, /* and *err: it cannot be read, does not fit the format, or is damaged; or memory is out (STATUS_HOST) */
} peek_end_t;

/* Shows the records of a text at hand, which has POOL_SLACK readable bytes before and after it. */
peek_end_t peek_text(peek_t *peek, const dialect_t *dialect, const uint8_t *text, size_t length,
                     bool file_start, peek_see_fn *see, void *context, err_t *err);

/* Shows the records of an input that is not a stream: all of them, or those of its first window. Of a damaged input these are
 * the records of the good parts. */
peek_end_t peek_input(peek_t *peek, const input_file_t *file, bool all, peek_see_fn *see, void *context,
                      err_t *err);

/* False if the input surely has no record: it is empty, or only a header. No stream. */
bool peek_records(peek_t *peek, const input_file_t *file);

/* Tries the first records of some inputs; no streams, which can be read only once. limit: how many records the load takes;
 * UINT64_MAX: all. nothing: what did not happen, for the sentence. False: all records that were tried are rejects, or an input
 * is damaged before one makes a document (status 5); or out of memory. */
bool peek_try(const schema_t *schema, const manifest_t *manifest, uint64_t limit, const char *nothing,
              err_t *err);

#endif
