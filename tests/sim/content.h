/* content: what is in the inputs of a simulated world, without bytes. A text is a row of records, each some
 * units long; a content is one state that an input was in: as it was at first, grown, cut off, edited,
 * damaged. A document is one number, in which the place, the length and the variant of its record can be
 * read. */
#ifndef TIPPLE_SIM_CONTENT_H
#define TIPPLE_SIM_CONTENT_H

#include "catalog/store/entry.h"

enum { CONTENT_RECORDS = 14, CONTENT_STATES = 12, CONTENT_HOSTS = 2 };

typedef enum { INPUT_FILE, INPUT_PACKED, INPUT_PIPE } content_kind_t;
typedef enum { RECORD_GOOD, RECORD_BAD, RECORD_FILTERED, RECORD_REFUSED } record_kind_t;

/* [start, start + length) in units. whole: how long it will be when it is not cut off. */
typedef struct {
    uint8_t start, length, whole, variant;
    record_kind_t kind;
} record_t;

typedef struct {
    record_t records[CONTENT_RECORDS];
    uint32_t count;
    bool torn;       /* the last one has no line end */
    bool damaged;    /* compressed: found out at the end only */
    uint32_t origin; /* damaged: the state that it was before */
    uint64_t size;
    int64_t modified_ns;
    char digest[33];
} content_t;

typedef struct {
    uint32_t number;
    content_kind_t kind;
    bool named;      /* pipes may have no name */
    uint32_t pieces; /* of a plain file; each but the last has piece_blocks blocks */
    uint64_t unit;   /* bytes */
    content_t states[CONTENT_STATES];
    uint32_t count;
    uint32_t now[CONTENT_HOSTS]; /* which state each host has */
    uint32_t odd;                /* which records are not good; 0: all are; from CONTENT_ODDER on: more */
    bool only_grew;              /* so far */
    int64_t clock;               /* of modifications */
} input_t;

enum { PIECE_BLOCKS = 2, CONTENT_ODDER = 200 };

/* What a record at this place is, in every state. */
record_kind_t content_kind(const input_t *input, uint32_t start);
uint64_t content_offset(const input_t *input, const record_t *record);
uint64_t content_block(const input_t *input, const record_t *record);
/* The first block after the text. */
uint64_t content_end_block(const content_t *content);
/* Size and digest from the records; the modification time is a new one. */
void content_seal(input_t *input, content_t *content);
/* The digest that it would have if it ended after `size` bytes. */
void content_digest_at(const input_t *input, const content_t *content, uint64_t size, char digest[33]);

/* A record's document: never 0, 24 bits. In the bits above is which fix of the record it is. */
uint32_t document_of(const input_t *input, const record_t *record, uint32_t format);
typedef struct {
    uint32_t fix, input, format, start, length, variant;
} document_parts_t;
document_parts_t document_parts(uint32_t document);
/* Can a state of the input make it? */
bool content_makes(const input_t *input, uint32_t document);
/* Could any state make something at this place? */
const record_t *content_at(const content_t *content, uint32_t start);

/* Of the bytes of one record, wherever it is, as a reject's; and of some of a block. */
uint64_t content_record_hash(const record_t *record);
uint64_t content_block_hash(const input_t *input, const content_t *content, uint32_t from, uint32_t to);

#endif
