/* program: a format of delimited or fixed-width records, compiled to operations in the order of the document.
 *
 * An operation writes one element, or opens or closes a subdocument. It has the head of its element ready (BSON type,
 * key, NUL) and knows where the text of its value is. encode.h carries operations out; kinds of records differ only in
 * who supplies the texts:
 *
 *     12|3||4      delimited: by column, between the ends that a scan has found, or in spans of a record that was split
 *     0123+0250    fixed: by offset; each section and each entry after the fixed part has operations of its own
 *
 *     INT a, OPEN s, INT b, TEXT c, CLOSE      {a: 12, s: {b: 3}}
 *
 * The operations of the record, then those of each part and section stand one after the other, so all of them are a tree
 * of keys: what opens something says how many operations that spans. emit.c walks this tree back.
 *
 * An operation fills one cache line; what it needs rarely is in `rests`, by the same index. Keys that are made from
 * fields come first, because documents are looked up by them, or where `document:` of the format names them. The fields
 * of one subdocument are kept together. A document takes at most `bytes` of its operations, plus `times` the length of its
 * record (of fixed width: of what follows the fixed part) and `file_times` the length of its file's name: the caller
 * reserves this once, and nothing below checks for room.
 * A program is read-only after it is compiled. */
#ifndef TIPPLE_FORMAT_ENGINE_PROGRAM_H
#define TIPPLE_FORMAT_ENGINE_PROGRAM_H

#include "format/record/dialect.h"

typedef enum {
    OP_VALUE, /* by the field's type */
    OP_TEXT,
    OP_TRIMMED,
    /* of delimited records: */
    OP_INT,
    OP_NUMBER,
    OP_ISO_DATE, /* exactly YYYY-MM-DD: converted fast */
    /* of records of fixed width: */
    OP_WHOLE,
    OP_SCALED,  /* a double */
    OP_COUNTED, /* a length, then that many bytes */
    OP_LENGTH,  /* of what follows the fixed part: written only if it is wrong */
    /* of no single text: */
    OP_OPEN,  /* begins a subdocument */
    OP_CLOSE, /* ends it; removes it if it is empty */
    OP_MADE,  /* a key that `make:` of the format makes */
    OP_LIST,  /* of what follows the fixed part: begins the operations of list `at`; no record's operation */
} op_code_t;

/* Flags of an operation: which null values its field has (the empty text, the word NULL, others, which are compared with
 * the list), and how numbers are written. */
enum {
    NULLS_EMPTY = 1,
    NULLS_WORD = 2,
    NULLS_OTHER = 4,
    OP_IS_EXACT =
        8, /* what a number would not keep does not fit; a trimmed text in quotes keeps its blanks */
    OP_IS_LONG = 16, /* always 64 bits */
};

enum { OP_HEAD = 32, OP_SHORT_HEAD = 16, PROGRAM_DEPTH = 60, MADE_MOST = 96, NO_SECTION = 255 };

typedef struct {
    uint8_t head[OP_HEAD]; /* BSON type, key, NUL: copied as a whole */
    uint64_t null_bytes,
        null_mask; /* the first 8 bytes of the null value as they lie in memory; without one, nothing equals them */
    uint8_t code;
    uint8_t head_size; /* more than OP_HEAD: the whole key is in the rest */
    uint8_t flags;
    uint8_t sign, shift; /* by offset: how the characters of a number are read, see op_set_number */
    int8_t divide;       /* by this power of ten */
    uint16_t at;         /* the column, or the offset */
    uint16_t width;
    uint16_t unless; /* left out if one of these keys was made: bits by number */
    uint32_t span;   /* from here to the next key at its level: 1, or more for what opens something */
} op_t;
_Static_assert(sizeof(op_t) == 64, "an operation fills a cache line");

typedef struct {
    const field_t *field; /* of its value; of what is made, its own */
    const make_t *made;   /* or NULL */
    const char *key;      /* of op->head_size - 2 bytes, which has no end there */
    uint32_t counted;     /* the field's number in bad_values */
} op_rest_t;

typedef struct {
    const op_t *first, *end;
    size_t bytes;
} ops_t;

/* A section, or the entries of a part. */
typedef struct {
    const tail_list_t *of, *part; /* both are the same, or `of` is a section of the part */
    const op_t *head;             /* of an array */
    ops_t ops;
} program_list_t;

static inline bool list_has_sections(const program_list_t *list) {
    return list->of != list->part;
}

typedef struct {
    const schema_t *schema;
    op_t *ops;
    op_rest_t *rests;
    ops_t record;
    const op_t *end; /* of all operations */
    size_t times, file_times;
    bool simple; /* columns in their order, short heads, no subdocuments, no null values to look up */
    program_list_t *lists;            /* first the sections, by their number, then the parts */
    uint8_t section_of[26 * 26 * 10]; /* by identifier; NO_SECTION */
} program_t;

/* dialect: of delimited records, else NULL. False: out of memory. */
bool program_compile(const schema_t *schema, const dialect_t *dialect, program_t *program);
void program_free(program_t *program);

/* The keys made from a field that take the field's place where they can be made: bits by number. */
uint16_t program_replaced_by(const schema_t *schema, const field_t *field);

static inline const op_rest_t *op_rest(const program_t *program, const op_t *op) {
    return &program->rests[op - program->record.first];
}

/* Sets how the characters of a number of fixed width are read. */
static inline void op_set_number(op_t *op, const field_t *field) {
    op->sign = (uint8_t)field->sign;
    op->divide = (int8_t)field->divide;
    op->shift = (uint8_t)(8 * (8 - (field->width - (field->sign == SIGN_ALWAYS))));
}

/* The section of an identifier (SCHEMA_ID bytes), listed or of the same family; NO_SECTION: none. */
static inline uint8_t program_section(const program_t *program, const uint8_t *id) {
    uint32_t first = (uint32_t)id[0] - 'A', second = (uint32_t)id[1] - 'A', digit = (uint32_t)id[2] - '0';
    return first < 26 && second < 26 && digit < 10 ? program->section_of[(first * 26 + second) * 10 + digit]
                                                   : NO_SECTION;
}

/* ---- readers ----
 *
 * The two kinds of records that the engine makes documents of, block by block. Used through `records`. A reader
 * belongs to one thread; the schema and the dialect are shared. Functions are as those of records.h with the same ending.
 *
 * delimited: no allocation and no libc conversion for usual values; one pass finds the fields, 64 bytes at a time, and one
 * goes over the fields. fixed: records of fixed width, with all that follows their fixed part. */

typedef struct delimited delimited_t;
typedef struct fixed fixed_t;

/* Values that do not fit are noted in `bad`. in: the text at hand, which belongs to the caller; the reader moves on in it. NULL:
 * out of memory. */
delimited_t *delimited_new(const schema_t *schema, bad_values_t *bad, record_text_t *in);
void delimited_destroy(delimited_t *reader);
void delimited_begin(delimited_t *reader, const dialect_t *dialect);
parsed_t delimited_next(delimited_t *reader, uint8_t *out, size_t room, record_t *record, shape_t *shape);

fixed_t *fixed_new(const schema_t *schema, bad_values_t *bad, record_text_t *in);
void fixed_destroy(fixed_t *fixed);
parsed_t fixed_next(fixed_t *fixed, uint8_t *out, size_t room, record_t *record, shape_t *shape);

#endif
