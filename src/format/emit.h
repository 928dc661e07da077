/* emit: converts documents back to the records of their format. The reverse of records.h.
 *
 * The operations of a format's program (engine/program.h) are a tree of keys in the order of its documents, with those of
 * sections and of the tail's parts after those of the record. A document is converted in two steps:
 *
 *  1. One pass over its elements. The elements and the operations are walked together: the search for an element's
 *     operation begins after that of the element before it, so a document whose elements are in the format's order
 *     costs one comparison an element. Values are noted by field; each section and each entry of the tail becomes a piece of
 *     text, field by field.
 *  2. The record is put together: the fields of its fixed part and its pieces in their order, with markers and the gap
 *     (engine/fixed.c) between them; or its columns in the file's order, each with the value of its field or a null value, in
 *     quotes where it needs them.
 *
 * A value has one spelling, and no other is tried. Instead, each record is read back, and only a record that makes the
 * same document, byte for byte, is given out. So the two steps need not notice everything that is odd about a
 * document: whatever they write for it is refused. Records of fixed width come back byte for byte. Delimited records do so
 * where they were written the usual way, with the help of their shape (record.h); otherwise they have the same values.
 *
 * An emit_t belongs to one thread; the schema is shared. */
#ifndef TIPPLE_FORMAT_EMIT_H
#define TIPPLE_FORMAT_EMIT_H

#include "format/records.h"

#include <bson/bson.h>

typedef struct emit emit_t;

emit_t *emit_new(const schema_t *schema); /* NULL: out of memory */
void emit_destroy(emit_t *emit);

/* False, with the sentence (status 1): the documents of this format do not hold all that its records say. */
bool emit_possible(const schema_t *schema, err_t *err);

/* Gives the record of a document, which has no _id, in a file's dialect, without its line end; valid until the next call. shape:
 * of the record that has made the document. False, with the sentence: no record makes this document. */
bool emit_record(emit_t *emit, const dialect_t *dialect, const bson_t *document, const shape_t *shape,
                 const uint8_t **record, size_t *length, err_t *err);

#endif
