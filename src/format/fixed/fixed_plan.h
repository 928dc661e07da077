/* fixed_plan: a schema of fixed width as small operations in the order of the document; sections are found by their
 * identifier. Read-only after it is made. */
#ifndef TIPPLE_FORMAT_FIXED_FIXED_PLAN_H
#define TIPPLE_FORMAT_FIXED_FIXED_PLAN_H

#include "format/schema/schema.h"

typedef enum {
    FIXED_CHARACTER, /* text one byte wide: the usual field */
    FIXED_TEXT,
    FIXED_CODE,
    FIXED_INT,
    FIXED_NUMBER,
    FIXED_COUNTED, /* a length, then that many bytes */
    FIXED_LENGTH,
    FIXED_OPEN,  /* begins a subdocument */
    FIXED_CLOSE, /* ends it; removes it if it is empty */
    FIXED_FIRST,
    FIXED_UTC,
    FIXED_POINT,
} fixed_code_t;

enum { FIXED_HEAD = 32, FIXED_DEPTH = 60, FIXED_NO_SECTION = 255 };

/* Has the size of one cache line. */
typedef struct {
    uint8_t head[FIXED_HEAD];  /* BSON type, key, NUL: always copied as FIXED_HEAD bytes */
    uint64_t null_bytes, mask; /* of the first 8 bytes; without a null value, no masked text equals it */
    uint8_t code, sign;
    uint8_t head_size; /* more than FIXED_HEAD: the bytes are in `rests` */
    uint8_t shift;     /* for numbers: moves the digits to the end of a word */
    uint16_t offset, width;
    uint16_t unless; /* left out if one of these keys was made */
    int8_t divide;   /* by this power of ten */
    uint8_t made;    /* the index of the key that it makes */
    uint32_t rest;   /* the index of what is rarely needed */
} fixed_op_t;
_Static_assert(sizeof(fixed_op_t) == 64, "an operation fills a cache line");

typedef struct {
    const field_t *field;
    const uint8_t *long_head;
} fixed_rest_t;

typedef struct {
    const fixed_op_t *ops, *end;
    uint32_t worst; /* bytes that the ops write, without counted text */
} fixed_ops_t;

typedef struct {
    fixed_ops_t ops;
    const section_t *section;
    uint8_t head[128]; /* type, key, NUL of an array */
    uint8_t head_size;
    bool several; /* more than one identifier: always an array, with ids */
    uint32_t width, worst;
} fixed_section_t;

/* What a text must look like to be an entry. */
typedef struct {
    uint16_t offset;
    const byteset_t *set;
} fixed_check_t;

typedef struct {
    fixed_ops_t ops;
    const fixed_check_t *checks;
    size_t check_count;
    uint32_t width;                         /* without the counted text */
    uint16_t counted_offset, counted_width; /* where its length is; width 0: it has none */
    uint8_t head[128];                      /* type, key, NUL of the array */
    uint8_t head_size;
} fixed_part_t;

typedef struct {
    const schema_t *schema;
    const fixed_rest_t *rests;
    fixed_ops_t record;
    fixed_section_t *sections;
    fixed_part_t parts[SCHEMA_MOST_PARTS];
    uint8_t section_of[26 * 26 * 10]; /* by identifier; FIXED_NO_SECTION */
    void *owned[4];
} fixed_plan_t;

/* Sets how the characters of a number are read. */
static inline void fixed_plan_number(fixed_op_t *op, const field_t *field) {
    op->sign = (uint8_t)field->sign;
    op->divide = (int8_t)field->divide;
    op->shift = (uint8_t)(8 * (8 - (field->width - (field->sign == SIGN_ALWAYS))));
}

bool fixed_plan_compile(const schema_t *schema, fixed_plan_t *plan); /* false: out of memory */
void fixed_plan_free(fixed_plan_t *plan);

/* The section of an identifier (SCHEMA_ID bytes), listed or of the same family; FIXED_NO_SECTION: none. */
static inline uint8_t fixed_plan_section(const fixed_plan_t *plan, const uint8_t *id) {
    uint32_t first = (uint32_t)id[0] - 'A', second = (uint32_t)id[1] - 'A', digit = (uint32_t)id[2] - '0';
    return first < 26 && second < 26 && digit < 10 ? plan->section_of[(first * 26 + second) * 10 + digit]
                                                   : FIXED_NO_SECTION;
}

#endif
