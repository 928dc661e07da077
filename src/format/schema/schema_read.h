/* schema_read: how a format file is read, for the files of this room alone.
 *
 * A format file is a tree of maps. Each sort of map is a part, and fills one struct: the file, its record and its surplus
 * fill a schema_t, a field fills a field_t, and so on. Each key of a part is a row: where the key may stand, what its value
 * is, which member takes the value, and which key it excludes. Sentences about a key are composed of its row.
 * schema_read_map and schema_read_list walk over the rows of a part in their order, so a row may rely on the values of rows
 * before it; what a part's keys must agree on besides is checked by `finish`. The first mistake ends it.
 *
 * A function that reads returns false if its value cannot be used. If it has no sentence of its own, the walk says what the
 * row's value must be. */
#ifndef TIPPLE_FORMAT_SCHEMA_SCHEMA_READ_H
#define TIPPLE_FORMAT_SCHEMA_SCHEMA_READ_H

#include "base/text.h"
#include "format/schema/schema.h"

/* Parts, as bits. */
enum {
    IN_FILE = 1,
    IN_RECORD = 2,
    IN_FIELD = 4,
    IN_MADE = 8,
    IN_SURPLUS = 16,
    IN_TAIL = 32,
    IN_ENTRY = 64, /* a field of `repeat` in the tail */
    IN_SECTION = 128,
    IN_PIECE = 256, /* a field of a section */
};

/* Kinds of records, as bits. */
enum {
    DELIMITED = 1 << RECORDS_DELIMITED,
    FIXED = 1 << RECORDS_FIXED,
    JSON = 1 << RECORDS_JSON,
    BSON = 1 << RECORDS_BSON,
    ANY_KIND = DELIMITED | FIXED | JSON | BSON,
};

typedef struct row row_t;

/* name: "" if nothing but the key counts. */
typedef struct {
    const char *name, *key;
    const yaml_item_t *at;
} named_t;

/* The names and keys of a document so far; from `first` on, those of the list at hand. */
typedef struct {
    named_t items[2 * (SCHEMA_MOST_FIELDS + SCHEMA_MOST_MADE + SCHEMA_MOST_SECTIONS)];
    size_t first, count;
} names_t;

typedef struct {
    schema_t *schema;
    names_t *names;
    const row_t *row;       /* that is read now, */
    const yaml_item_t *map; /* in this map, */
    void *into;             /* for this struct; in a list, one of zeros stands before the first */
    err_t *err;
} reader_t;

#define COMPLAIN(at, ...) yaml_tree_complain(reader->schema->tree, at, reader->err, __VA_ARGS__)

/* Reads the value of the row's key. */
typedef bool read_fn(reader_t *reader, const yaml_item_t *node);

/* Checks the struct that was read. */
typedef bool finish_fn(reader_t *reader);

/* How a member holds its value. */
typedef enum { FORM_BYTES, FORM_STRING, FORM_TEXT, FORM_TEXTS } form_t;

struct row {
    uint16_t parts, kinds; /* where the key may stand */
    const char *key;       /* NULL: a value that follows from other keys, and is here for the digest alone */
    read_fn *read;
    uint16_t at, size; /* the member; of a list of maps, the list and the size of an item, */
    uint16_t count_at; /* and its counter */
    form_t form;
    uint16_t items;    /* of maps: their part */
    finish_fn *finish; /* of maps; may be NULL */
    const char *tag;   /* in the digest; NULL: the value does not decide which document a record becomes */
    bool any;          /* the value may be a list or a map */
    bool needed;       /* a map without the key, and without `instead`, is a mistake */
    int32_t least,
        most; /* of numbers, of the bytes of a text, and of how many items there are; most 0: any */
    const char *const *words; /* the words that are known */
    uint32_t types;      /* bits: the types of fields that the key goes with, or that `type` can be; 0: all */
    uint32_t makes;      /* bits: the kinds of made keys that the key goes with; 0: all */
    const char *instead; /* the key that it does not go with */
    const char *is;      /* its value, in sentences and in docs/format-file.md */
};
extern const row_t schema_rows[]; /* the last row has no parts */

static inline bool schema_row_is_in(const row_t *row, uint32_t part, record_kind_t kind) {
    return row->parts & part && row->kinds >> kind & 1;
}

/* Bits of types: of numbers, and of those that may have a fraction. */
#define NUMBERS   (1u << TYPE_INT | 1u << TYPE_LONG | FRACTIONS)
#define FRACTIONS (1u << TYPE_NUMBER | 1u << TYPE_DECIMAL)

/* Bits of made keys: of those that are texts put together, and of those that have a type. */
#define MAKES_TEXT  (1u << MAKE_FIRST | 1u << MAKE_JOIN)
#define MAKES_TYPED (MAKES_TEXT | 1u << MAKE_CONSTANT | 1u << MAKE_PATH)

/* ---- schema_rows.c ---- */

bool schema_text_among(const schema_text_t *text, const texts_t *others);

/* ---- schema_read.c ---- */

/* The value of a key in the map that is read now; NULL: it is not there. */
const yaml_item_t *schema_item(const reader_t *reader, const char *key);

read_fn schema_read_map, schema_read_list, schema_read_type;
finish_fn schema_finish_file, schema_finish_record, schema_finish_field, schema_finish_made,
    schema_finish_tail;

/* Notes a name and its key, which go with those before them in the same document or list. */
bool schema_name(reader_t *reader, const char *name, const char *key, const yaml_item_t *at);

words_t schema_made_words(record_kind_t kind, uint32_t makes);

#endif
