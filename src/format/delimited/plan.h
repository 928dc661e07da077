/* plan: a schema and a dialect as a flat list of small operations, in the order of the document. */
#ifndef TIPPLE_FORMAT_DELIMITED_PLAN_H
#define TIPPLE_FORMAT_DELIMITED_PLAN_H

#include "format/record/dialect.h"

typedef enum {
    OP_TEXT,
    OP_TRIMMED,
    OP_INT,
    OP_LONG,
    OP_NUMBER,
    OP_ISO_DATE, /* exactly YYYY-MM-DD: converted fast */
    OP_DATE,
    OP_VALUE, /* of any type: see types.h */
    OP_EXACT, /* OP_INT and OP_LONG where zeros in front and plus signs do not fit */
    OP_EXACT_LONG,
    OP_OPEN,  /* begins a subdocument */
    OP_CLOSE, /* ends it; removes it if it is empty */
    OP_FIRST, /* a key made of the first fields that are there */
    OP_JOIN,  /* or of all of them */
    OP_POINT, /* a key made of two numbers */
    OP_CONSTANT,
    OP_FILE, /* the name of the input */
} op_code_t;

enum { NULLS_EMPTY = 1, NULLS_WORD = 2, NULLS_OTHER = 4, PLAN_HEAD = 16, PLAN_DEPTH = 60 };

typedef struct {
    uint8_t head[PLAN_HEAD]; /* BSON type, key, NUL: always copied as PLAN_HEAD bytes */
    uint8_t code;
    uint8_t head_size;  /* more than PLAN_HEAD: the bytes are in long_head */
    uint8_t null_kinds; /* NULLS_EMPTY, NULLS_WORD (the word NULL), NULLS_OTHER (compare with the list) */
    int8_t divide;
    uint16_t column, field;
    const uint8_t *long_head;
    const texts_t *nulls;
    bool exact;             /* of OP_TRIMMED: not in quotes */
    uint32_t constant_size; /* of the whole element, which is at long_head */
} op_t;

typedef struct {
    op_t *ops;
    size_t count;
    bool simple; /* columns in their order, short keys, no subdocuments, no null values to look up */
    /* a document takes at most this many bytes, plus `worst_times` the bytes of its record */
    size_t worst_bytes;
    size_t worst_times;
    size_t file_times; /* and so many times the name of its file */
    void *owned;
} plan_t;

bool plan_compile(const schema_t *schema, const dialect_t *dialect, plan_t *plan); /* false: out of memory */
void plan_free(plan_t *plan);

#endif
