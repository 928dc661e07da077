/* delimited: records of a delimited format into BSON documents, block by block. The record path: no
 * allocation, no libc conversion, one pass of SIMD for the field bounds and one over the fields. A
 * delimited_t belongs to one thread; the schema and the dialect are shared. */
#ifndef TIPPLE_FORMAT_DELIMITED_H
#define TIPPLE_FORMAT_DELIMITED_H

#include "format/dialect.h"

typedef struct delimited delimited_t;

delimited_t *delimited_new(const schema_t *schema); /* NULL: out of memory */
void delimited_destroy(delimited_t *reader);

/* What the document does not carry and a writer needs to give the same bytes back. */
typedef struct {
    uint8_t spelling[SCHEMA_MOST_FIELDS]; /* by field: which filler of `absent`, or pattern of `as` */
    bool quoted, backslash;
    uint8_t line_end; /* bytes behind the record: 0, 1 (LF) or 2 (CRLF) */
} shape_t;

typedef enum {
    PARSED_END, /* the block holds no more records */
    PARSED_DOCUMENT,
    PARSED_REJECT, /* no document can be made of it: column, field, reason say why */
    PARSED_HEADER, /* a header line */
    PARSED_BLANK,  /* an empty line */
    PARSED_FULL,   /* not enough room in `out` (`needed` bytes): call again with more */
    PARSED_MEMORY, /* out of memory */
} parsed_t;

typedef struct {
    uint32_t offset, length; /* in the block's text; length without the line end */
    uint32_t line;           /* in the block, from 0 */
    uint8_t line_end;        /* its bytes: 0 (the last line of a file), 1 or 2 */
    uint32_t document_length;
    uint32_t needed;
    uint32_t column;    /* of a reject: byte in the line, from 1 */
    const char *field;  /* of a reject: its name, or NULL */
    const char *reason; /* of a reject; lives until the next call */
} record_t;

/* text[0, length) holds whole records; POOL_SLACK bytes before and behind it can be read. file_start: it is
 * the start of its file. id_base: with_id documents start with {_id: id_base + the record's offset in the
 * text}. */
void delimited_begin(delimited_t *reader, const dialect_t *dialect, const uint8_t *text, uint32_t length,
                     bool file_start, bool with_id, int64_t id_base);

/* The next record. shape may be NULL; asking for it goes the slow way. */
parsed_t delimited_next(delimited_t *reader, uint8_t *out, size_t room, record_t *record, shape_t *shape);

/* Values kept as text because they were no number or date, by field, since delimited_new. */
const uint64_t *delimited_odd(const delimited_t *reader);

#endif
