/* json_inner: what the chapters of src/format/json share; json.h says how they work. */
#ifndef TIPPLE_FORMAT_JSON_JSON_INNER_H
#define TIPPLE_FORMAT_JSON_JSON_INNER_H

#include "format/json/json.h"
#include "format/types.h"

enum {
    JSON_MOST_LEVELS = 180,             /* of objects and arrays in each other: what a server stores */
    JSON_MOST_BYTES = 16 * 1024 * 1024, /* of a document */
};

/* ---- keys (json_value.c) ---- */

typedef struct {
    uint64_t object; /* 0: the slot is empty */
    uint32_t hash;
    uint32_t key; /* where it is in the document, with a NUL after it */
} json_key_t;

typedef struct {
    json_key_t *slots;
    uint32_t mask, used; /* the table grows when more than half of it is used */
    uint64_t first;      /* the first object of the document at hand: slots of earlier ones are empty */
    uint64_t next;       /* the number of the next object */
    uint64_t seed;       /* so that nobody can write keys that all have one hash */
} json_keys_t;

/* ---- types of a format (json.c) ---- */

/* A place in documents where a field has its values, or below which one has: the beginning of its key, up to a dot or its end. */
typedef struct {
    const field_t *field; /* one of those that are there or below; NULL: there is none */
    size_t length;
} json_place_t;

/* The place of a key below another place. */
json_place_t json_below(const schema_t *schema, json_place_t place, const char *key);

/* Gives the value that was just written, in this element, the type of its field. item: of an array, where one that has no value
 * keeps its place. False: out of memory. */
bool json_convert(json_value_t *json, const field_t *field, uint8_t *element, bool item);

/* ---- the reader ---- */

typedef struct json_word json_word_t; /* a kind of typed values */

struct json_value {
    const schema_t *schema; /* of records; NULL: they are single values or documents */
    record_text_t *in;

    json_place_t root;         /* field NULL: values have the types that they are written with */
    json_place_t below;        /* the place of the value at hand */
    bad_values_t *bad;         /* takes what does not fit */
    record_t record;           /* where the document at hand is */
    char misfit[VALUE_MISFIT]; /* the first value that makes it a reject; empty: none */

    const uint8_t *text, *end;
    uint8_t *start, *out, *limit;
    int level;
    uint32_t lines; /* line ends that were read */
    bool has_own_id;
    const int64_t *id; /* NULL: the document does not begin with one */
    uint8_t *own_id;   /* the element _id of the text, which takes the place of ours at the end */
    json_keys_t keys;
    const json_word_t *word; /* of the typed value at hand, */
    const uint8_t *typed;    /* its first piece, in the text, */
    uint8_t made;            /* and its type */
    uint8_t *moved;          /* a piece of the document that changes its place */
    size_t moved_room;
    uint8_t *copy; /* a text that is one value */
    size_t copy_room;
    bool failed; /* memory was out for such a text */

    parsed_t failure;     /* a reject, or not enough room, or out of memory */
    size_t needed;        /* with this room there is enough */
    const uint8_t *place; /* where a reject is; after a document: where it ends */
    char reason[320];     /* of a reject */
};

/* Reads the object whose bracket is text[0], whatever follows it; whole: the text may have blanks around its object, and holds
 * nothing else. POOL_SLACK bytes before and after the text may be read. id: the document begins with {_id: *id}; an _id of the
 * text's own is put there instead. NULL: everything keeps its order. The document is from json->start to json->out. */
parsed_t json_value_read(json_value_t *json, const uint8_t *text, size_t length, bool whole, uint8_t *out,
                         size_t room, const int64_t *id);

static inline bool json_ended(const json_value_t *json, const uint8_t *at) {
    return __builtin_expect(at >= json->end, 0);
}

/* Goes over blanks. */
const uint8_t *json_blanks(json_value_t *json, const uint8_t *at);

/* What lies after the end of the text has a sentence of its own. Returns NULL, as json_memory does. */
const uint8_t *json_reject(json_value_t *json, const uint8_t *at, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
const uint8_t *json_memory(json_value_t *json) __attribute__((cold));

/* The arguments of a call, after its parenthesis: written at json->out as an array. */
const uint8_t *json_arguments(json_value_t *json, const uint8_t *at);

/* ---- typed values (json_typed.c) ---- */

/* Does an object with this first key become a typed value? NULL: no. */
const json_word_t *json_word(const uint8_t *key);

/* The object that was written at `begin` becomes the value, or stays an object. json->typed: its first value, in the text. */
bool json_typed(json_value_t *json, const json_word_t *word, uint8_t *begin, uint8_t *type);

/* A value as the mongo shell spells it: anything that JSON has no value for. */
const uint8_t *json_shell(json_value_t *json, const uint8_t *at, uint8_t *type);

#endif
