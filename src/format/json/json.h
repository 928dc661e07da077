/* json: objects of JSON become BSON documents.
 *
 * What everything here revolves around is json_value_t: a place in the text and a place in the document, which move on together.
 * A text is read once, from the bracket that opens an object to the bracket that closes it, and the document is complete when
 * the bracket is reached: there is no tree, and no second pass. Invariants:
 *
 * - The text ends at `end`, and the bytes after it may be read (POOL_SLACK), so the end is noticed after one key and one value
 *   at most, which are short: whoever goes on from a value, into an object or an array, or over digits, blanks or letters asks
 *   json_ended.
 * - What is written up to `limit` has room, and JSON_MARGIN bytes after it, so that not every byte is asked for: each member of
 *   an object asks once, and so does whatever has a length of its own.
 * - A function that reads returns what follows, or NULL: then the failure and its sentence are written, and every caller
 *   returns NULL.
 * - Keys of all objects of a document are in one hash table, by the number of their object: a key that is there twice is a
 *   reject. The table is not emptied between documents: objects have new numbers in each.
 * - A value for whose key a format has a type is converted as soon as it is written (json.c), in its place.
 *
 * What is read: JSON (RFC 8259), Extended JSON of MongoDB (canonical, relaxed, and the older forms of mongoexport), and the
 * spellings of the mongo shell as values: ISODate("..."), NumberLong(1), NaN. Nothing is changed silently:
 *
 * - A whole number is an int32, or an int64, if it fits. One that fits in neither is a double if that prints as the same digits;
 *   otherwise a reject. -0 is the double -0.
 * - A number with a point or an exponent is the nearest double.
 * - A key that is there twice in one object is a reject. So is what is not UTF-8.
 * - An object is read as a typed value ({"$oid": "..."}) by its first key. One of those words with anything else than what
 *   belongs to it is a reject; but $regex, $options and $type are also operators of queries, and where they are not the old
 *   form of a regular expression or of binary data, the object is an ordinary one. So is always the document itself.
 *
 * Records: where an object ends, so does its record, with what stands around it. Only where none can be read does json_span
 * (src/format/cut) say where the record ends and the next one begins. Both agree on every object that can be read.
 *
 * Chapters: json.c (records, and whole texts), json_value.c (objects, arrays, keys, texts, numbers), json_typed.c
 * (Extended JSON, the shell), json.c (types that a format gives). A json_value_t belongs to one thread;
 * json_document may be called by any. */
#ifndef TIPPLE_FORMAT_JSON_JSON_H
#define TIPPLE_FORMAT_JSON_JSON_H

#include "base/err.h"
#include "format/record/record.h"

#include <bson/bson.h>

enum {
    JSON_MARGIN = 256,                  /* what a reader takes of the room after the document */
    JSON_TIMES = 8,                     /* bytes that a byte of text becomes, at most: see most_needed */
    JSON_AROUND = 64 + 2 * JSON_MARGIN, /* and what is around them */
};

typedef struct json_value json_value_t; /* values_new (types.h) makes one, and values_free frees it */

/* A text as one value, with blanks around it. It takes JSON_TIMES bytes for each byte of the text, and JSON_AROUND, of `out` at
 * most. Returns the value's end; NULL: it is none that a server stores, or memory is out (values_failed in types.h). */
uint8_t *json_value_alone(json_value_t *json, const uint8_t *text, size_t length, uint8_t *out,
                          uint8_t *type);

/* A text as one document, for bson_destroy. NULL: it is none, and err says why, as a part of a sentence, with status 1; or out of
 * memory. placed: and at which byte. */
bson_t *json_document(const char *text, bool placed, err_t *err);

/* ---- records, block by block: used through `records` ---- */

/* Values that do not fit a type of the schema are noted in `bad`. in: the text at hand, which belongs to the caller; the reader moves
 * on in it. NULL: out of memory. */
json_value_t *json_new(const schema_t *schema, bad_values_t *bad, record_text_t *in);

/* As records_next. A reject's line and column are those of its mistake. */
parsed_t json_next(json_value_t *json, uint8_t *out, size_t room, record_t *record);

#endif
