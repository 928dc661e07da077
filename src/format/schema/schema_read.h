/* schema_read: how a format file is read, for the files of this room alone.
 *
 * A format file is a tree of maps. Each sort of map is a part, and fills one struct: the file, its record and its surplus
 * fill a schema_t, a field fills a field_t, and so on. Each key of a part is a row: where the key may stand, what its value
 * is, which member takes the value, and what is said when the value is wrong. schema_read_map walks over the rows of a part
 * in their order, so a row may rely on the values of rows before it; what a part's keys must agree on is checked by the
 * part's `finish`.
 *
 * A function that reads returns false with a sentence in reader->err. Where more mistakes can be looked for, TRY notes the
 * sentence and goes on; it is false only after a failure that is no mistake of the file, such as of memory. */
#ifndef TIPPLE_FORMAT_SCHEMA_SCHEMA_READ_H
#define TIPPLE_FORMAT_SCHEMA_SCHEMA_READ_H

#include "base/text.h"
#include "format/schema/schema.h"

/* A file, a record and a field are four parts each, one a kind of records, in the order of record_kind_t. */
typedef enum {
    PART_FILE = 0,
    PART_RECORD = PART_FILE + RECORD_KINDS,
    PART_FIELD = PART_RECORD + RECORD_KINDS,
    PART_SURPLUS = PART_FIELD + RECORD_KINDS,
    PART_MADE,
    PART_TAIL,
    PART_SECTION,
    PARTS
} part_t;

typedef struct {
    schema_t *schema;
    const yaml_tree_t *tree; /* the file */
    const yaml_item_t *map;  /* the one that is read now */
    const yaml_item_t *made; /* in a map of `make`: the key that is made */
    err_t *err;
    err_t mistakes; /* noted so far, one a line */
    size_t mistake_count;
    bool broken[SCHEMA_MOST_FIELDS]; /* fields of the schema with a mistake: their types are not known */
} reader_t;

/* Notes the mistake in reader->err. False: it is none. */
bool schema_go_on(reader_t *reader);

#define TRY(part)         ((part) || schema_go_on(reader))
#define COMPLAIN(at, ...) yaml_tree_complain(reader->tree, at, reader->err, __VA_ARGS__)

typedef struct row row_t;

/* Reads the value of a row's key. into: the struct of the part. */
typedef bool read_fn(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row);

/* How a member holds its value. */
typedef enum { FORM_BYTES, FORM_STRING, FORM_TEXT, FORM_TEXTS } form_t;

struct row {
    uint32_t parts;  /* bits: where the key may stand */
    const char *key; /* NULL: a value that follows from other keys, and is here for the digest alone */
    read_fn *read;
    uint16_t at, size; /* the member */
    uint16_t count_at; /* of a list: its counter */
    form_t form;
    part_t items;        /* of a list of maps: their part; of fields and records that of the first kind */
    const char *tag;     /* in the digest; NULL: the value does not decide which document a record becomes */
    bool first;          /* after a mistake in this key the rest of its map cannot be read */
    int32_t least, most; /* of numbers, and of how many texts there are */
    const char *const *words; /* the words that are known, up to a NULL */
    const char *expected;     /* the sentence about another value */
    const char *missing;      /* the sentence where the key is not there; NULL: it need not be */
    const char *instead;      /* the key that may stand in its place, though not with it */
    uint32_t types;           /* bits: the types of fields that the key goes with; 0: all */
    const char *goes;         /* these in words; of `type`: what is said of another type */
    const char *only;         /* what is said of the key in maps of other kinds of records */
    const char *is;           /* its line in docs/format-keys.md */
};
extern const row_t schema_rows[]; /* up to one without parts */

typedef struct {
    const char *title; /* in docs/format-keys.md; NULL: it has no table there */
    const char *a_map; /* what is expected where there is no map */
    /* Checks what the keys of the index-th struct must agree on, if they have no mistakes. May be NULL. */
    bool (*finish)(reader_t *reader, void *items, size_t index);
    const char *a_list,
        *things;        /* of a list of maps: what is expected where there is none, and what the maps are */
    size_t least, most; /* how many there may be */
    size_t size, at;    /* of the struct, and in it the member for the map's place; 0: it has none */
} part_row_t;
extern const part_row_t schema_parts[PARTS];

/* Bits of types: of numbers, and of those that may have a fraction. */
#define NUMBERS   (1u << TYPE_INT | 1u << TYPE_LONG | FRACTIONS)
#define FRACTIONS (1u << TYPE_NUMBER | 1u << TYPE_DECIMAL)

/* Sentences that two checks of a part say. */
#define CONSTANT_EXPECTED  "'value' was expected: a text of at most 1000 bytes"
#define LIST_WITH_SECTIONS "'list' goes with sections: a plain key for their identifiers"
#define MADE_EXPECTED      "a key and 'from' were expected, such as {name: join, from: [first, last]}"

/* The part for this kind of records. */
static inline part_t schema_part(const schema_t *schema, part_t part) {
    return part + (part < PART_SURPLUS ? (part_t)schema->kind : 0);
}

/* ---- schema_read.c ---- */

bool schema_has_key(part_t part, const char *key);

/* The value of a key in the map that is read now; NULL: it is not there, or it is the key that is made. */
const yaml_item_t *schema_item(const reader_t *reader, const char *key);

/* Reads a map into the index-th of some structs. */
bool schema_read_map(reader_t *reader, const yaml_item_t *map, part_t part, void *items, size_t index);

/* Reads a list of maps. A map with a mistake is left out, unless it is a field whose key is known: other keys may name it. */
read_fn schema_read_list;

bool schema_want(reader_t *reader, const yaml_item_t *node, yaml_item_kind_t kind, const char *expected);

/* Reads a scalar or a list of scalars. */
bool schema_texts(reader_t *reader, const yaml_item_t *node, texts_t *texts);

bool schema_text_among(const schema_text_t *text, const schema_text_t *others, size_t count);

/* The index of the field with the name in a scalar. */
bool schema_named(reader_t *reader, const yaml_item_t *node, int *index);

/* ---- schema_check.c ---- */

/* Checks what all fields of a record must agree on. */
bool schema_check_fields(reader_t *reader);

bool schema_add_layout(reader_t *reader, const uint16_t *fields, size_t count, const yaml_item_t *at);

/* Reads the key that is made, and how. */
bool schema_start_made(reader_t *reader, make_t *made);

/* Is the key made of texts that are put together? */
bool schema_made_of_texts(const make_t *made);

/* The words for how a key is made, at most SCHEMA_MOST_MADE. Returns how many there are. */
size_t schema_made_words(const char *words[]);

#endif
