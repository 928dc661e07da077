/* dialect: how one file spells its format: which delimiter, which columns, header or not. Found once a file
 * from its first bytes, read-only afterwards. */
#ifndef TIPPLE_FORMAT_RECORD_DIALECT_H
#define TIPPLE_FORMAT_RECORD_DIALECT_H

#include "format/schema/schema.h"

enum { DIALECT_NO_FIELD = 0xFFFF };

typedef struct {
    uint64_t serial; /* no other dialect of this process has it: plans are compiled once a dialect */
    char delimiter;
    bool header; /* the file starts with one */
    uint16_t columns;
    uint16_t field_of[SCHEMA_MOST_FIELDS * 2]; /* by column; DIALECT_NO_FIELD: a column that is not loaded */
    uint16_t column_of[SCHEMA_MOST_FIELDS];    /* by field; DIALECT_NO_FIELD: the file has no such column */
    int surplus_column;                        /* -1: none */
    uint8_t line_end;                          /* bytes of the first line's end: 1 LF, 2 CRLF */
    size_t header_length;                      /* the header line, to know it again in the middle: */
    uint64_t header_hash;                      /* its length, its XXH3-64, */
    uint8_t header_first;                      /* and its first byte */
} dialect_t;

/* Bytes of a byte-order mark at the start of a file: 0 or 3. */
size_t dialect_bom(const uint8_t *text, size_t length);

/* Looks at the file's first bytes (whole lines; the BOM may be there or not). A header that does not fit the
 * format is an error (status 5) that says which column is missing; files without a header always get a
 * dialect: records that do not fit are rejected one by one. */
bool dialect_sniff(const schema_t *schema, const uint8_t *text, size_t length, const char *name,
                   dialect_t *dialect, err_t *err);

typedef struct {
    const uint8_t *text;
    size_t length; /* of its whole lines */
    size_t begun;  /* behind them: the first bytes of a line that is too long to be looked at */
    bool more;     /* the file goes on behind all that */
} dialect_head_t;

/* The same of a file's beginning, which need not have the line that tells the columns. Where it has not, and the
 * format does not say all, the file is refused (status 5). */
bool dialect_sniff_head(const schema_t *schema, const dialect_head_t *head, const char *name,
                        dialect_t *dialect, err_t *err);

/* Would these first bytes be refused? The same answer and the same sentence as from dialect_sniff, without a
 * dialect and without a word about columns that are left out. */
bool dialect_fits(const schema_t *schema, const uint8_t *text, size_t length, const char *name, err_t *err);

/* Can a file of this format be refused for its first line at all? */
bool dialect_may_refuse(const schema_t *schema);

/* The first line that is not blank, [*begins, *ends), which alone decides whether a file fits. False: its
 * end, or all of it, is not there yet. */
bool dialect_first_line(const uint8_t *text, size_t length, size_t *begins, size_t *ends);

/* Does the dialect follow from the first line alone, and was there nothing to be said of it? */
bool dialect_is_of_first_line(const dialect_t *dialect);

/* Dialects by what they say: thousands of files of one kind share one, and so its plan. Any thread may call.
 */
typedef struct dialect_shelf dialect_shelf_t;
dialect_shelf_t *dialect_shelf_new(void);
void dialect_shelf_destroy(dialect_shelf_t *shelf);
/* The shelf's own copy, as long as the shelf lives; NULL: out of memory. */
const dialect_t *dialect_shelf_keep(dialect_shelf_t *shelf, const dialect_t *dialect);

/* One line for the reject file, and back: "delimiter=7c columns=0,1,2,-,3" (fields by their number). */
size_t dialect_print(const schema_t *schema, const dialect_t *dialect, char *out, size_t room);
bool dialect_read(const schema_t *schema, const char *line, dialect_t *dialect);

/* What a line (not the first one, without its end) is in a file of this dialect. */
typedef enum {
    DIALECT_RECORD,
    DIALECT_HEADER,       /* names the columns that the file is read by, in their order, with its delimiter */
    DIALECT_OTHER_HEADER, /* names others: by the file's dialect, the lines behind it would be read wrongly */
    DIALECT_ODD_LINE,     /* begins as a header does, and is none: no record either */
    DIALECT_MEMORY,       /* out of memory */
} dialect_line_t;
struct split; /* split.h: the caller's, for many lines */
dialect_line_t dialect_line(const schema_t *schema, const dialect_t *dialect, struct split *split,
                            const uint8_t *line, size_t length);

#endif
