/* schema_read: how a format file is read, for the files of this room alone.
 *
 * A format file is a tree of maps. Each sort of map is a part, and fills one struct: the file, its record and its surplus
 * fill a schema_t, a field fills a field_t, and so on. Each key of a part is a row: where the key may stand, what its value
 * is, which member takes the value, and which other keys it needs or excludes. Sentences about a key are composed of its row.
 * schema_read_map walks over the rows of a part in their order, so a row may rely on the values of rows before it; what a
 * part's keys must agree on besides is checked by the part's `finish`.
 *
 * A function that reads returns false if its value cannot be used: a mistake was noted, or memory is out. All other values
 * are read in either case, so that all mistakes of a file are found at once. */
#ifndef TIPPLE_FORMAT_SCHEMA_SCHEMA_READ_H
#define TIPPLE_FORMAT_SCHEMA_SCHEMA_READ_H

#include "base/text.h"
#include "format/schema/schema.h"

/* The first four are four parts each, one a kind of records, in the order of record_kind_t. */
typedef enum {
    PART_FILE = 0,
    PART_RECORD = PART_FILE + RECORD_KINDS,
    PART_FIELD = PART_RECORD + RECORD_KINDS,
    PART_MADE = PART_FIELD + RECORD_KINDS,
    PART_SURPLUS = PART_MADE + RECORD_KINDS,
    PART_TAIL,
    PART_ENTRY, /* a field of `repeat` in the tail */
    PART_SECTION,
    PART_PIECE, /* a field of a section */
    PARTS
} part_t;

typedef struct {
    schema_t *schema;
    const yaml_item_t *map;  /* the one that is read now */
    const yaml_item_t *made; /* in a map of `make`: the key that is made */
    err_t *err;              /* of a failure that is no mistake of the file: memory is out */
    err_t mistake, mistakes; /* the last one; those noted so far, one a line */
    size_t mistake_count;
} reader_t;

/* Notes reader->mistake unless all is well. Returns `ok`. */
bool schema_note(reader_t *reader, bool ok);

#define COMPLAIN(at, ...)                                                                                    \
    schema_note(reader, yaml_tree_complain(reader->schema->tree, at, &reader->mistake, __VA_ARGS__))

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
    part_t items;        /* of a list of maps: their part; of parts by kind that of the first kind */
    const char *tag;     /* in the digest; NULL: the value does not decide which document a record becomes */
    bool any;            /* the value may be a list or a map */
    bool first;          /* after a mistake in this key the rest of its map cannot be read */
    bool needed;         /* a map without the key, and without `instead`, is a mistake */
    int32_t least, most; /* of numbers, of the bytes of a text, and of how many texts there are */
    const char *const *words; /* the words that are known */
    uint32_t types; /* bits: the types of fields that the key goes with, or that `type` can be; 0: all */
    uint32_t makes; /* bits: the kinds of made keys that the key goes with; 0: all */
    const char *needs, *instead; /* the key that must be there, and the one that must not */
    const char *only;            /* what is said of the key in maps of other kinds of records */
    const char *is;              /* its value, in sentences and in docs/format-keys.md */
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

/* Bits of made keys: of those that are texts put together, and of those that have a type. */
#define MAKES_TEXT  (1u << MAKE_FIRST | 1u << MAKE_JOIN)
#define MAKES_TYPED (MAKES_TEXT | 1u << MAKE_CONSTANT | 1u << MAKE_PATH)

/* The part for this kind of records. */
static inline part_t schema_part(const schema_t *schema, part_t part) {
    return part + (part < PART_SURPLUS ? (part_t)schema->kind : 0);
}

/* Words in a sentence: "int, long or number". */
typedef struct {
    char text[160];
} words_t;

/* ---- schema_read.c ---- */

bool schema_has_key(part_t part, const char *key);

/* The value of a key in the map that is read now; NULL: it is not there, or it is the key that is made. */
const yaml_item_t *schema_item(const reader_t *reader, const char *key);

/* Says what the row's value must be. Returns false. */
bool schema_must_be(reader_t *reader, const yaml_item_t *node, const row_t *row);

words_t schema_either(const char *const *words, size_t count);

/* Complains of a word that was removed: see schema_gone. False: it was never known. */
bool schema_is_gone(reader_t *reader, const yaml_item_t *at, const char *key, const char *word);

/* Reads a map into the index-th of some structs. */
bool schema_read_map(reader_t *reader, const yaml_item_t *map, part_t part, void *items, size_t index);

/* Reads a list of maps. A map with a mistake is left out, unless it is a field whose key is known: other keys may name it. */
read_fn schema_read_list;

/* Zeroed memory that lives as long as the schema. NULL: out of memory. */
void *schema_room(reader_t *reader, size_t bytes);

/* Reads a scalar or a list of scalars. */
bool schema_texts(reader_t *reader, const yaml_item_t *node, texts_t *texts);

bool schema_text_among(const schema_text_t *text, const schema_text_t *others, size_t count);

/* The index of the field with the name in a scalar. */
bool schema_named(reader_t *reader, const yaml_item_t *node, int *index);

/* ---- schema_rows.c ---- */

/* The words of these types. */
words_t schema_type_words(uint32_t types);

/* ---- schema_check.c ---- */

/* Checks what all fields of a record must agree on. */
bool schema_check_fields(reader_t *reader);

/* Checks that no name is twice in a list of fields, and no key in the way of another one; the second function, at the top
 * of documents. */
bool schema_check_names(reader_t *reader, const field_t *fields, size_t count);
bool schema_check_top(reader_t *reader);

bool schema_add_layout(reader_t *reader, const uint16_t *fields, size_t count, const yaml_item_t *at);

/* Reads the key that is made, and how. */
bool schema_start_made(reader_t *reader, make_t *made);

/* The words for how a key is made of such records, by these kinds of making. */
words_t schema_made_words(record_kind_t kind, uint32_t makes);

#endif
