/* json_value: one JSON object, cut out of its file, straight to one BSON document: one pass, no tree.
 *
 * It reads JSON (RFC 8259), extended JSON of MongoDB (canonical, relaxed, and the old forms of mongoexport), and the
 * spellings of the mongo shell as values: ISODate("..."), NumberLong(1), /a/i, NaN. Nothing is changed silently:
 *
 * - A whole number is an int32, or an int64, if it fits. One that fits in neither is a double if that is the same
 *   number or prints as the same digits; otherwise a reject. -0 is the double -0.
 * - A number with a point or an exponent is the nearest double.
 * - A key that is there twice in one object is a reject. So is what is not UTF-8.
 * - An object is read as a typed value ({"$oid": "..."}) by its first key. One of those words with anything else than
 *   what belongs to it is a reject; but $regex, $options and $type are also operators of queries, and where they are
 *   not the old form of a regular expression or of binary data, they are ordinary keys. The document itself, and the
 *   scope of code, are never typed values.
 *
 * One thread at a time. */
#ifndef TIPPLE_FORMAT_JSON_JSON_VALUE_H
#define TIPPLE_FORMAT_JSON_JSON_VALUE_H

#include "format/json/json_types.h"

json_value_t *json_value_new(void); /* NULL: out of memory */
void json_value_destroy(json_value_t *json);

typedef struct {
    uint32_t length;    /* of the document */
    size_t needed;      /* of FULL: with this room it is not FULL again */
    size_t at;          /* of a reject: the byte in the text, from 0 */
    const char *reason; /* of a reject; valid until the next call */
    const char
        *field;  /* of a reject: where it is in the document, "a.b.0", or NULL; valid until the next call */
    bool own_id; /* the text has an _id of its own */
} json_result_t;

/* The text may have blanks around the object; POOL_SLACK bytes before and after it may be read. add_id: the document
 * begins with {_id: id}; an _id of the text's own is put there instead. Without add_id everything keeps its order. */
json_read_t json_value_read(json_value_t *json, const uint8_t *text, size_t length, uint8_t *out, size_t room,
                            bool add_id, int64_t id, json_result_t *result);

#endif
