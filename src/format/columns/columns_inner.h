/* columns_inner: the tree of columns, which the chapters of this room share: plan.c makes it, bind.c points it into a batch,
 * encode.c walks it, and columns.c reads the stream.
 *
 * A column is found by the plan alone, never by what an array says of itself. Invariants:
 *
 * - Of a bound column, the values [0, length) may be read, at `offset` and after it in `valid` and in `values`. An index that
 *   comes from within an array (an offset of a list, an index of a dictionary) is compared with `length` before it is used.
 * - An index is that of a value, from 0: whoever reads a buffer adds `offset`. What a struct, a sparse union or a fixed-size list
 *   is made of is found by the place in the buffers of these, as Arrow says: their offset counts for it, too.
 * - Whatever has a length of its own (keys, texts) is compared with what is left up to `limit`; all else is shorter than
 *   COLUMN_SLACK, and is written after `limit`, too. */
#ifndef TIPPLE_FORMAT_COLUMNS_COLUMNS_INNER_H
#define TIPPLE_FORMAT_COLUMNS_COLUMNS_INNER_H

#include "format/columns/columns.h"

enum {
    COLUMN_SLACK =
        1024, /* bytes that a value of fixed size, and the ends of all documents that it is in, take at most */
    COLUMN_LEVELS = 170, /* of columns in each other: a server stores documents of 180 levels */
    COLUMN_CODES = 128,  /* type ids of unions */
    VIEW = 255,          /* as the width of an offset: the value is a view, */
    VIEW_BYTES = 16,     /* which has this number of bytes */
};

typedef enum {
    KIND_NULL,
    KIND_BOOLEAN,
    KIND_WHOLE, /* int32 or int64 */
    KIND_LARGE, /* uint64, which may not fit */
    KIND_NUMBER,
    KIND_DECIMAL,
    KIND_TEXT,
    KIND_BYTES,
    KIND_FIXED,  /* bytes of one length; also the identifiers of extensions */
    KIND_MOMENT, /* a date */
    KIND_CLOCK,  /* a time of day, which becomes a text */
    KIND_LIST,
    KIND_FIXED_LIST,
    KIND_STRUCT,
    KIND_MAP,
    /* whose value is one of another column's: */
    KIND_DICTIONARY,
    KIND_RUNS,
    KIND_SPARSE,
    KIND_DENSE,
} kind_t;

/* A row of the table of types. */
typedef struct {
    const char *format; /* with a ':' or a comma at its end: more follows */
    kind_t kind;
    uint8_t bson;     /* the type of its element */
    uint8_t buffers;  /* how many; of views this and more */
    uint8_t width;    /* bytes of a value, or of an offset; VIEW */
    uint8_t children; /* how many; ANY_CHILDREN */
    bool is_unsigned; /* of whole numbers */
    int64_t
        scale; /* of a moment: milliseconds in its unit, or, below 0, parts of one; of a clock: parts of a second */
} type_t;

enum { ANY_CHILDREN = 255 };

typedef struct {
    const uint8_t *bytes;
    size_t length; /* without a zero */
    bool padded;   /* KEY_SHORT bytes may be read */
} column_key_t;

enum { KEY_SHORT = 16 };

typedef struct column {
    kind_t kind;
    const type_t *type;      /* of its buffers: of a dictionary, that of its indexes */
    column_key_t key;        /* owned */
    columns_sum_t sum;       /* also its path; owned */
    uint8_t bson;            /* as the type's, but of identifiers */
    uint8_t subtype;         /* of binary data */
    uint8_t width;           /* of the value, and of decimals */
    int64_t size;            /* of a fixed-size value or list; of a decimal: its scale */
    bool keeps_nulls;        /* of the entries of a map */
    struct column *children; /* the one of a dictionary is what its indexes point into */
    size_t child_count;
    int8_t *codes; /* of a union: the field of each type id; -1: none */

    /* of the array that it is bound to: */
    int64_t length, offset;
    const uint8_t *valid;  /* NULL: no value is null */
    const uint8_t *values; /* or offsets, views, indexes, type ids */
    const uint8_t
        *data; /* of texts and bytes; of views and of list views the sizes; of dense unions the offsets */
    int64_t data_end; /* of texts and bytes: the last of the offsets, so that they are not read beyond */
    const void *const *views; /* the buffers of views, */
    int64_t view_count;
    int64_t run; /* the one that was used last */
} column_t;

typedef struct {
    const uint8_t *bytes;
    uint64_t length;
} bytes_t;

struct frame {
    struct ArrowArrayStream stream;
    columns_how_t how;
    column_t root;
    struct ArrowArray batch;
    int64_t at;    /* the row of the batch that is next */
    uint64_t rows; /* those before the batch, with those of earlier streams */
    bool ended;
    bytes_t *keys; /* of the map at hand */
    size_t key_room;
    uint8_t *buffer;
    size_t given;         /* bytes of the last piece */
    const uint8_t *limit; /* up to which the document at hand has room, with COLUMN_SLACK bytes after it */
    enum { WELL, TOO_LARGE, FAILED } state; /* why encode.c returned NULL */
    err_t err;                              /* of FAILED */
};

/* ---- plan.c ---- */

/* Makes the tree of a schema. False: status 5 with the column, or out of memory; what is there is to be freed all the same. */
bool tree_make(const struct ArrowSchema *schema, column_t *root, err_t *err);
void tree_free(column_t *root);

/* ---- bind.c ---- */

/* Points the tree into a batch. `needed` values must be there. Returns NULL, or the column whose array is broken. */
const column_t *bind_array(column_t *column, const struct ArrowArray *array, int64_t needed);

static inline bool bind_is_valid(const column_t *column, int64_t index) {
    const int64_t at = column->offset + index;
    return !column->valid || (column->valid[at >> 3] >> (at & 7) & 1);
}

/* One of the offsets, sizes or indexes of a buffer. */
static inline int64_t place_at(const uint8_t *buffer, int64_t at, uint8_t width) {
    int32_t narrow;
    int64_t wide;
    if (width == 8) {
        memcpy(&wide, buffer + at * 8, sizeof wide);
        return wide;
    }
    memcpy(&narrow, buffer + at * 4, sizeof narrow);
    return narrow;
}

/* One of the whole numbers that its buffer holds. */
static inline int64_t bind_whole(const column_t *column, int64_t index) {
    const int64_t at = column->offset + index;
    const uint8_t *const value = column->values + at * column->width;
    int16_t number16;
    int32_t number32;
    int64_t number64;
    switch (column->width) {
    case 1:
        return column->type->is_unsigned ? *value : (int8_t)*value;
    case 2:
        memcpy(&number16, value, sizeof number16);
        return column->type->is_unsigned ? (uint16_t)number16 : number16;
    case 4:
        memcpy(&number32, value, sizeof number32);
        return column->type->is_unsigned ? (int64_t)(uint32_t)number32 : number32;
    default:
        memcpy(&number64, value, sizeof number64);
        return number64;
    }
}

/* ---- encode.c ---- */

/* Writes the document of the row at hand. NULL: frame->err says why. */
uint8_t *encode_row(frame_t *frame, uint8_t *out);

/* frame->err becomes the sentence of a broken array. Always NULL. */
void *encode_broken(frame_t *frame, const column_t *column);

#endif
