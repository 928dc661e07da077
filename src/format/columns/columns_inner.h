/* columns_inner: the tree of columns, which the chapters of this room share: plan.c makes it, encode.c points it into a batch and
 * walks it, and columns.c reads the stream.
 *
 * A column is found by the plan alone, never by what an array says of itself. Invariants:
 *
 * - Of a bound column, the values [offset, offset + length of its array) may be read in `valid` and in `values`. An index that
 *   comes from within an array (an offset of a list, an index of a dictionary) is compared with the length before it is used.
 * - A place counts from the beginning of the buffers: it is an index and the offset of the array. What a struct, a sparse union
 *   or a fixed-size list is made of is found by the place of these, as Arrow says: their offset counts for it, too.
 * - Whatever has a length of its own (keys, texts) is compared with what is left up to `limit`; all else is shorter than
 *   COLUMN_SLACK, and is written after `limit`, too. */
#ifndef TIPPLE_FORMAT_COLUMNS_COLUMNS_INNER_H
#define TIPPLE_FORMAT_COLUMNS_COLUMNS_INNER_H

#include "format/columns/columns.h"

#include <bson/bson.h>

enum {
    COLUMN_SLACK =
        1024, /* bytes at most of a value of fixed size, and of the ends of all documents it is in */
    COLUMN_LEVELS = 170, /* of columns in each other: a server stores documents of 180 levels */
    COLUMN_CODES = 128,  /* type ids of unions */
    COLUMN_ROOM = COLUMNS_PIECE + COLUMNS_MOST_DOCUMENT + 2 * COLUMN_SLACK,
    KEY_SHORT = 16,
    VIEW = 16, /* bytes of a view, where other texts have the width of an offset */
};

/* The kind of a value: the type of BSON that stores it, or one of these. Without KIND_OTHER, a kind is the type of its element. */
enum {
    KIND_OTHER = 32,
    KIND_CLOCK = KIND_OTHER | BSON_TYPE_UTF8, /* a time of day, which becomes a text */
    KIND_MAP = KIND_OTHER | BSON_TYPE_DOCUMENT,
    /* whose value is one of another column's: */
    KIND_DICTIONARY = 2 * KIND_OTHER,
    KIND_RUNS,
    KIND_UNION,
};

/* A row of the table of types. */
typedef struct {
    const char *format; /* with a ':' at its end: more follows */
    uint8_t kind;
    uint8_t buffers; /* how many; of views this and more */
    uint8_t width;   /* bytes of a value, or of an offset; 0: of fixed size; VIEW */
    /* of a moment: milliseconds in its unit, or, below 0, parts of one; of a clock: parts of a second */
    int64_t scale;
} type_t;

typedef struct {
    const uint8_t *bytes;
    uint64_t length;
    bool padded; /* KEY_SHORT bytes may be read */
} bytes_t;

typedef struct column {
    uint8_t kind;
    const type_t *type;    /* of its buffers: of a dictionary, that of its indexes */
    bytes_t key;           /* the end of the path of its sum */
    columns_sum_t *sum;    /* what adds no name to the path shares that of the column around it */
    uint8_t bson, subtype; /* of its element; of binary data */
    uint8_t width;         /* as the type's, but of decimals */
    bool is_unsigned;
    bool is_entry;           /* it is made of the keys and values of a map, whose nulls are kept */
    int64_t size;            /* of a fixed-size value or list; of a decimal: its scale */
    struct column *children; /* the one of a dictionary is what its indexes point into */
    size_t child_count;
    char *extension; /* as in a sum, which gets both when the first rows are asked for */
    bool unzoned;

    /* of the array that it is bound to: */
    const struct ArrowArray *array;
    int64_t offset;
    const uint8_t *valid;  /* NULL: no value is null */
    const uint8_t *values; /* or offsets, views, indexes, type ids */
    /* of texts and bytes; of views and of list views the sizes; of dense unions the offsets */
    const uint8_t *data;
    int64_t most; /* bytes in `data`, or items in the child: an offset is not larger */

    uint8_t codes[COLUMN_CODES]; /* of a union: the number of the field of each type id, from 1; 0: none */
} column_t;

struct frame {
    struct ArrowArrayStream stream;
    columns_sums_t *sums;
    column_t root;
    struct ArrowArray batch;
    int64_t at; /* the row of the batch that is next */
    bool begun, ended;
    bytes_t *keys; /* of the map at hand */
    size_t key_room;
    size_t given;         /* bytes of the last piece */
    uint8_t *head;        /* the type of the element at hand */
    const uint8_t *limit; /* up to which the document at hand has room, with COLUMN_SLACK bytes after it */
    err_t err;            /* its status is 0 until the stream has failed */
    uint8_t buffer[COLUMN_ROOM];
};

/* ---- plan.c ---- */

/* Makes the tree of a schema. False: frame->err has the column, or memory is out; what is there is to be freed all the same. */
bool tree_make(frame_t *frame, const struct ArrowSchema *schema);
void tree_free(column_t *root);

/* ---- encode.c ---- */

/* Points the tree into the batch at hand. False: frame->err has the column whose array is broken. */
bool encode_bind(frame_t *frame);

/* Writes the document of the row at hand. NULL: frame->err says why. */
uint8_t *encode_row(frame_t *frame, uint8_t *out);

#endif
