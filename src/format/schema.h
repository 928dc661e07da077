/* schema: a format file, read and checked. Every mistake is reported with line, column and what was expected.
 * A schema is read-only once made and is shared by all threads.
 *
 *     format: mot                                    # its name
 *     about: one line for `tipple formats`
 *     record:
 *       columns: ["|", ",", "\t"]                    # delimiters to choose from, per file
 *       quote: '"'                                   # or none
 *       escape: [double, backslash]                  # how a quote is written inside quotes
 *       header: [test_id, TESTID]                    # a line that starts with one of these; or yes, or no
 *       encoding: latin1                             # what text is that is not UTF-8; binary if left out
 *     surplus: {into: model, left: 9}                # too many fields: the 10th takes what is too much
 *     fields:
 *       - {name: testId, key: t, type: int, column: [test_id, TESTID], absent: ["", "NULL"]}
 *     layouts:                                       # columns of files without a header; all fields if left
 * out
 *       - [testId, vehicleId, ...]
 *
 * or, for a built-in format under longer keys:
 *
 *     format: mot-long
 *     like: mot
 *     keys: names                                    # each field's name is its key
 */
#ifndef TIPPLE_FORMAT_SCHEMA_H
#define TIPPLE_FORMAT_SCHEMA_H

#include "base/err.h"
#include "base/ytree.h"

#include <stdint.h>

enum { SCHEMA_MOST_FIELDS = 256, SCHEMA_MOST_DELIMITERS = 8, SCHEMA_MOST_LAYOUTS = 16 };

typedef enum {
    TYPE_TEXT,   /* as it stands */
    TYPE_CODE,   /* text without the blanks around it */
    TYPE_INT,    /* int32, or int64 where it must */
    TYPE_LONG,   /* always int64 */
    TYPE_NUMBER, /* double */
    TYPE_DATE,   /* BSON date by the patterns of `as` */
} field_type_t;

typedef struct {
    const char *text;
    size_t length;
} text_t;

typedef struct {
    const text_t *items;
    size_t count;
} texts_t;

typedef struct {
    const char *name; /* for people, and in --filter */
    const char *key;  /* in the document; dots make subdocuments */
    field_type_t type;
    texts_t columns;   /* its names in a header */
    texts_t absent;    /* fillers: a field whose text is one of them is left out */
    texts_t as;        /* date patterns: YYYY MM DD hh mm ss SSS, anything else stands for itself */
    int divide;        /* numbers: by this power of ten's exponent: 10 -> 1 */
    bool optional;     /* a header may lack it */
    const ynode_t *at; /* where it stands in the file */
} field_t;

typedef enum { HEADER_WORDS, HEADER_YES, HEADER_NO } header_t;

typedef struct {
    const uint16_t *fields; /* indexes into schema->fields */
    size_t count;
} layout_t;

typedef struct {
    const char *name, *about;
    char delimiters[SCHEMA_MOST_DELIMITERS];
    size_t delimiter_count;
    char quote; /* 0: none */
    bool escape_double, escape_backslash;
    header_t header;
    texts_t header_words;
    bool latin1;
    int surplus_field; /* -1: none */
    size_t surplus_left;
    field_t *fields;
    size_t field_count;
    layout_t layouts[SCHEMA_MOST_LAYOUTS];
    size_t layout_count;
    char digest[33];      /* of what the file means, so that a comment changes nothing */
    ytree_t *tree, *like; /* own all texts: the file's, and the built-in one's that it is like */
    void *owned;
} schema_t;

/* name is used in messages. */
schema_t *schema_parse(const char *text, size_t length, const char *name, err_t *err);
void schema_destroy(schema_t *schema);

/* A field by its name or its key, or NULL. */
const field_t *schema_field(const schema_t *schema, const char *name);

const char *schema_type_name(field_type_t type);

#endif
