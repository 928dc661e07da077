/* dialect: how one file writes its format: which delimiter, which columns, with a header or without.
 *
 * It is found once for each file, from its first bytes, and is read-only afterwards. The first line that is not skipped, blank
 * or a comment decides whether a file fits its format: as a header it names the columns, which are resolved into field numbers
 * here and nowhere else. Without a header the first lines are compared with the layouts of the format. A file whose header does
 * not fit is refused; records that do not fit are rejected one by one by their reader.
 *
 * Any thread may call these functions; a split_t belongs to one. */
#ifndef TIPPLE_FORMAT_RECORD_DIALECT_H
#define TIPPLE_FORMAT_RECORD_DIALECT_H

#include "base/text.h"
#include "format/record/record.h"

enum {
    DIALECT_NO_FIELD = 0xFFFF,
    DIALECT_SAMPLE_LINES =
        64, /* without a header it is found from one of this number of lines that are not blank */
};

typedef struct {
    /* of the format, the delimiter and the columns: what makes a record a document. Never 0. It is written into files and the
     * catalog, and a program is compiled once for each hash. */
    uint64_t hash;
    char delimiter;
    bool header; /* the file begins with a header */
    uint16_t columns;
    uint16_t field_of[SCHEMA_MOST_FIELDS * 2 + 1]; /* by column; DIALECT_NO_FIELD: the column is not loaded */
    uint16_t column_of[SCHEMA_MOST_FIELDS]; /* by field; DIALECT_NO_FIELD: the file has no such column */
    int surplus_column;                     /* -1: none */
    bool array;                             /* of JSON: the file is one array, which has to be closed */
    /* what becomes of values that do not fit: not in the hash, and the format's, or the input's */
    bad_value_t bad_value;
    size_t header_length; /* recognises the header line in the middle of the file, by */
    uint64_t header_hash; /* its length, its XXH3-64, */
    uint8_t header_first; /* and its first byte */
} dialect_t;

/* Where the first line begins that may be the header or a record: after a byte-order mark and the lines that the format
 * skips; `length` where not all of these are in the text. */
size_t dialect_begin(const schema_t *schema, const uint8_t *text, size_t length);

/* Finds the dialect from the file's first bytes (whole lines; with or without a BOM). If a header does not fit the
 * format, this fails with status 5 and says which column is missing. A file without a header always gets a dialect. Of a text
 * that was read before, the caller ignores the sentence. */
bool dialect_sniff(const schema_t *schema, const uint8_t *text, size_t length, const char *name,
                   dialect_t *dialect, err_t *err);

/* The dialect of the file that one thread has read before by the same format, and that file's text up to the end of its header.
 * Most files of a load begin with the same header, and naming its columns takes longer than reading a small file. */
typedef struct {
    dialect_t dialect;
    uint8_t text[4096];
    size_t length; /* 0: there is none */
} dialect_before_t;

typedef struct {
    const uint8_t *text;
    size_t length; /* of its whole lines */
    size_t begun;  /* after them: the first bytes of a line that is too long to be read here */
    bool more;     /* the file continues after all that */
    bool utf16;    /* it was UTF-16, before whoever reads it has made UTF-8 of it */
    bool quiet;    /* no warning names the columns that are left out */
    /* or NULL; gets the names of columns that the format does not know, each with a NUL, if none is missing */
    text_t *unknown;
    dialect_before_t *before; /* or NULL */
} dialect_head_t;

/* The same from a file's beginning. If the line that names the columns is not there, and the format does not define everything,
 * the file is refused. */
bool dialect_sniff_head(const schema_t *schema, const dialect_head_t *head, const char *name,
                        dialect_t *dialect, err_t *err);

/* Can a file of this format be refused because of its first line? */
bool dialect_may_refuse(const schema_t *schema);

/* The first line that is not skipped, blank or a comment, [*begins, *ends). False: its end, or all of it, is not in the text.
 * whole: the text ends with a whole record, or with its file. */
bool dialect_first_line(const schema_t *schema, const uint8_t *text, size_t length, bool whole,
                        size_t *begins, size_t *ends);

/* A line, or a record of several lines. */
typedef struct {
    const uint8_t *text;
    size_t length; /* without its end */
    bool ended;    /* its end is in the text, */
    bool whole;    /* or nothing follows the text */
} dialect_line_t;

/* The next line that is neither blank nor a comment; *at moves past it. False: the text ends. whole: nothing follows the text. */
bool dialect_next_line(const schema_t *schema, char delimiter, const uint8_t **at, const uint8_t *end,
                       bool whole, dialect_line_t *line);

/* Appends it as a line for the reject file, and reads it back: "delimiter=7c columns=0,1,2,-,3" (fields by number). */
void dialect_print(const dialect_t *dialect, text_t *out);
bool dialect_read(const schema_t *schema, const char *line, dialect_t *dialect);

/* What a line (not the first one, without its end) is in a file of this dialect. PARSED_DOCUMENT: a record. PARSED_HEADER: it names
 * the columns that the file is read by, in their order, with its delimiter. PARSED_OTHER_HEADER: it names other columns, so the
 * lines after it would be read wrongly. PARSED_REJECT: it begins like a header, but is neither a header nor a record. Or
 * PARSED_MEMORY. *reason: what is wrong with the line. */
struct split; /* see split.h; the caller's, used for many lines */
parsed_t dialect_line(const schema_t *schema, const dialect_t *dialect, struct split *split,
                      const uint8_t *line, size_t length, const char **reason);

/* True for a line that some programs write below the names of columns, again on each page: `--;----;-`, `==== ====`, `___`. Its
 * fields hold nothing but - = _ + and blanks, three signs in all that are no +, and two of them next to each other. A lone - is
 * a value that is missing, and + or +++ a mark. */
bool dialect_is_underline(const schema_t *schema, char delimiter, const uint8_t *line, size_t length);

/* Rejects a record (its `text`) that may be something else: one of several lines that look like records (`lines`: it has
 * several, and the format does not allow any); and of a guessed format, one that no guess can describe. PARSED_DOCUMENT: there is
 * no doubt. Or PARSED_MEMORY. */
parsed_t dialect_doubt(const schema_t *schema, const dialect_t *dialect, struct split *split,
                       const uint8_t *text, bool lines, record_t *record);

#endif
