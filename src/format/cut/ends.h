/* ends: where the records of a text end, and the fields of delimited ones, 64 bytes at a time.
 *
 * What the bytes are comes from masks.h. A delimited record in which anything is not plainly right is given to split.h, which
 * knows the rules of quotes; of JSON and BSON, json_span and bson_span say where a record ends. Where a record ends depends on the
 * text from its own first byte on, and on nothing else: not on where a text is cut, nor on options.
 *
 *     12|3||4\n   ends  2  4  5  7      (offsets of delimiters and line ends)
 *                 rows  4               (ends that belong to rows up to here)
 *
 * ends_t is for who cuts texts into blocks (only where quoted fields may contain line ends, and of JSON and BSON; otherwise each
 * line is a record), scan_t for who reads the records of one block. Each belongs to one thread. */
#ifndef TIPPLE_FORMAT_CUT_ENDS_H
#define TIPPLE_FORMAT_CUT_ENDS_H

#include "format/cut/bson.h"
#include "format/cut/json_span.h"
#include "format/cut/split.h"
#include "format/schema/schema.h"

enum { ENDS_PERHAPS = '(' };

/* Between two bytes of a text, what the bytes before say; each is 0 or 1, but inside 0 or all bits. */
typedef struct {
    uint64_t inside;    /* of quotes */
    uint64_t starts;    /* a field begins */
    uint64_t closed;    /* a closing quote was the last byte, */
    uint64_t backslash; /* or a backslash */
} ends_quotes_t;

/* The length of the record that begins at text[0], with its line end; 0: the text ends before it does. whole: nothing
 * follows the text, so that its last record may have no line end. */
size_t ends_find(const schema_t *schema, char delimiter, const uint8_t *text, size_t length, bool whole);

/* The records of one text, one after the other. */
typedef struct {
    const schema_t *schema;
    char delimiter;
    size_t record; /* an offset: here the last record that was found ends, and the next one begins */
    size_t at;     /* so far the text was looked at, 64 bytes at a time */
    bool odd;      /* the next record must be looked at byte by byte, when there is more text */
    ends_quotes_t quotes;
    json_span_t json; /* the next record, where it is JSON; */
    /* and the last [ or ] around those before it; 0: none; ENDS_PERHAPS: a [, and then a line that may be one of many: if
     * another line begins with {, that was no array */
    uint8_t bracket;
    bool array; /* the text is an array, whose last bracket has to be known */
    bool lies;  /* what should be a document of BSON there is none: no record is found any more */
} ends_t;

ends_t ends_begin(const schema_t *schema, char delimiter);

/* Finds record ends until one is at `from` or after it. True: that one is ends->record. False: there is none, as far as is
 * certain without more text; ends->record is the last one that is certain. The text begins as in the call before, and may
 * be longer; all: there will be no more of it. */
bool ends_on(ends_t *ends, const uint8_t *text, size_t length, bool all, size_t from);

/* The text is over: the last [ or ] around its records, or ENDS_PERHAPS; 0: there is none in it. last: its last byte that is no
 * blank. A text that begins with an array and does not end after a ] was cut off, which is a fault that ends_say_cut_off reports. */
uint8_t ends_bracket(const ends_t *ends, uint8_t last);
void ends_say_cut_off(const char *name, err_t *err);

/* The last byte of a text that is no blank; 0: none. */
uint8_t ends_last_byte(const uint8_t *text, size_t length);

/* How many lines end in text[0, length); of BSON, the documents of a text that begins with one. */
uint64_t ends_lines(const schema_t *schema, const uint8_t *text, size_t length);

typedef struct {
    uint32_t *ends; /* room for every byte of the text, and SCAN_SLACK more */
    uint32_t *rows;
    uint32_t *row_quotes; /* how many quote characters there are from the start to each row's end */
    size_t end_count, row_count;
    uint32_t quote_count;
    bool high;   /* a byte above 0x7F was seen */
    bool quotes; /* the quote character was seen */
    ends_quotes_t state;
} scan_t;

enum { SCAN_SLACK = 16 };

/* Scans text[from, to) and appends to scan. text[0, length) are whole records, and 64 bytes after it can be read. At `from` the
 * record goes on that begins at `record`. Where quoted fields may contain line ends, only the ends that are outside of quotes are
 * appended; else all. Returns where the next call has to go on: at `to` or after it; or before `from`, if the record has turned
 * out to end there. A record that needs all checks gets an odd number of quotes. */
uint32_t ends_scan(const schema_t *schema, char delimiter, const uint8_t *text, uint32_t length,
                   uint32_t record, uint32_t from, uint32_t to, scan_t *scan);

#endif
