/* json_inner: what the chapters of src/format/json share; json.h says how they work. */
#ifndef TIPPLE_FORMAT_JSON_JSON_INNER_H
#define TIPPLE_FORMAT_JSON_JSON_INNER_H

#include "format/json/json.h"
#include "format/record/bsonw.h"
#include "format/types.h"

/* ---- keys (json_value.c) ---- */

typedef struct {
    uint32_t object, hash; /* object 0: the slot is empty */
    uint32_t key;          /* where it is in the document, with a NUL after it */
} json_key_t;

typedef struct {
    json_key_t *slots;
    uint32_t mask, used, most; /* the table grows when more than `most` slots are used */
    uint32_t first;            /* the first object of the document at hand: slots of earlier ones are empty */
    uint32_t next;             /* the number of the next object */
    uint64_t seed;             /* so that nobody can write keys that all have one hash */
} json_keys_t;

/* ---- types of a format (json_fields.c) ---- */

/* One part of a field's name: the names of all fields are a tree. */
typedef struct json_node json_node_t;
struct json_node {
    const char *part;
    size_t length;
    json_node_t *first, *next; /* its first child, its next sibling */
    const field_t *field;      /* whose values are here; NULL: they are below */
    field_t plain;             /* the field as numbers of JSON are written: without its marks */
    uint32_t misfits;          /* values of the document at hand that do not fit */
};

typedef struct {
    const schema_t *schema;
    json_node_t root;
    char reason[VALUE_MISFIT]; /* the first value that makes it a reject; empty: none */
    size_t count;
    json_node_t nodes[];
} json_fields_t;

json_fields_t *json_fields_new(const schema_t *schema); /* for free(); NULL: out of memory */

/* Forgets the last document. */
void json_fields_begin(json_fields_t *fields);

/* Notes what did not fit in the document of this record. */
void json_fields_note(const json_fields_t *fields, bad_values_t *bad, const record_t *record);

/* NULL: no field is there or below. */
json_node_t *json_child(const json_node_t *node, const char *part, size_t length);

/* Gives the value that was just written, in this element, the type of its field. item: of an array, where one that has no value
 * keeps its place. False: out of memory. */
bool json_convert(json_value_t *json, json_node_t *node, uint8_t *element, bool item);

/* ---- the reader ---- */

struct json_value {
    json_fields_t *fields; /* NULL: values have the types that they are written with */
    json_node_t *node; /* of the value at hand; NULL: neither the value nor what is below it has a field */
    const uint8_t *text, *end;
    uint8_t *start, *out, *limit;
    int level;
    uint32_t lines; /* line ends that were read */
    bool slashes;   /* a regular expression between slashes was read */
    bool has_own_id;
    const int64_t *id; /* NULL: the document does not begin with one */
    uint8_t *own_id;   /* the element _id of the text, which takes the place of ours at the end */
    json_keys_t keys;
    const uint8_t *typed; /* the first piece of the typed value at hand, in the text, */
    uint8_t made;         /* and its type */
    uint8_t *moved;       /* a piece of the document that changes its place */
    size_t moved_room;
    uint8_t *copy; /* a text that is one value */
    size_t copy_room;
    bool failed; /* memory was out for such a text */

    json_read_t failure;
    const uint8_t *place;
    char reason[320];
    char field[200];
    size_t field_from; /* it grows from its end: the innermost key is known first */
};

static inline bool json_ended(const json_value_t *json, const uint8_t *at) {
    return __builtin_expect(at >= json->end, 0);
}

/* Goes over blanks. */
const uint8_t *json_blanks(json_value_t *json, const uint8_t *at);

/* ---- failures ---- */

/* Only the first sentence of a text counts. What lies after the end of the text has a sentence of its own. */
const uint8_t *json_reject(json_value_t *json, const uint8_t *at, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* The text ends before the document does. */
const uint8_t *json_too_short(json_value_t *json) __attribute__((cold));

const uint8_t *json_memory(json_value_t *json) __attribute__((cold));

/* There is no room for what ends at `end`: or the document is too large. */
const uint8_t *json_full(json_value_t *json, const uint8_t *end) __attribute__((cold));

const uint8_t *json_reject_utf8(json_value_t *json, const uint8_t *at) __attribute__((cold));

/* ---- values ---- */

/* The arguments of a call, after its parenthesis: written at json->out as an array. */
const uint8_t *json_arguments(json_value_t *json, const uint8_t *at);

/* ---- typed values (json_typed.c) ---- */

typedef struct json_word json_word_t;

/* Does an object with this first key become a typed value? NULL: no. */
const json_word_t *json_word(const uint8_t *key);

/* The object that was written at `begin` becomes the value, or stays an object. json->typed: its first value, in the text. */
bool json_typed(json_value_t *json, const json_word_t *word, uint8_t *begin, uint8_t *type);

/* A value as the mongo shell spells it: anything that JSON has no value for. */
const uint8_t *json_shell(json_value_t *json, const uint8_t *at, uint8_t *type);

#endif
