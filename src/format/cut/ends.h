/* ends: where records end in a text whose quoted fields may contain line ends (`multiline: yes`); of JSON
 * and BSON, json_span and bson_span say it.
 *
 *     7,"a line          A field is quoted if its first byte is the quote, and its closing quote is followed by a
 *     and another",x     delimiter, a line end or the end of the text.
 *     8,5" pipe,y        A quote elsewhere is an ordinary character.
 *     8,"odd" one,y      So are both quotes if something else follows the second one in the same line.
 *     9,"never closed    If it follows in another line, or if there is no second one, the quote is never closed: the
 *     10,next,z          record ends with its line, and is a reject. The next line is a record.
 *
 * Where a record ends depends on the text from its own first byte on, and on nothing else: not on where a text is cut, nor
 * on options. The closing quote must be within ENDS_MOST bytes of the record: no larger record makes a document. */
#ifndef TIPPLE_FORMAT_CUT_ENDS_H
#define TIPPLE_FORMAT_CUT_ENDS_H

#include "format/cut/bson_span.h"
#include "format/cut/json_span.h"
#include "format/cut/scan.h"
#include "format/schema/schema.h"

enum { ENDS_MOST = 16 << 20, ENDS_PERHAPS = '(' };

typedef enum {
    QUOTE_CLOSED,
    QUOTE_ODD,  /* something else follows the second quote */
    QUOTE_OPEN, /* there is no second quote */
    QUOTE_MORE, /* the text ends too early to tell */
} quote_end_t;

/* Is the field that begins with a quote at record[at] quoted? CLOSED: *end is after its closing quote. ODD: *end is the
 * second quote. Else *end is not set. whole: nothing follows record[0, length). bare: it is one record without its line
 * end. backslash: a quote after a backslash is an ordinary one. escapes, used_backslash: of CLOSED, whether the field
 * may hold anything escaped, and by a backslash. */
typedef struct {
    bool whole, bare, backslash;
    bool escapes, used_backslash;
} quote_t;
quote_end_t ends_quote(const schema_t *schema, char delimiter, const uint8_t *record, size_t length,
                       size_t at, quote_t *quote, size_t *end);

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
    scan_quotes_t quotes;
    json_span_t json; /* the next record, where it is JSON; */
    uint8_t
        bracket; /* and the last [ or ] around those before it; 0: none; ENDS_PERHAPS: a [, and then a line that may be
                         one of many: if another line begins with {, that was no array */
    bool array; /* the text is an array, whose last bracket has to be known */
    bool lies;  /* what should be a document of BSON there is none: no record is found any more */
} ends_t;

ends_t ends_begin(const schema_t *schema, char delimiter);

/* Finds record ends until one is at `from` or after it. True: that one is ends->record. False: there is none, as far as is
 * certain without more text; ends->record is the last one that is certain. The text begins as in the call before, and may
 * be longer; all: there will be no more of it. */
bool ends_on(ends_t *ends, const uint8_t *text, size_t length, bool all, size_t from);

/* The text is over: the last [ or ] around its records, or ENDS_PERHAPS; 0: there is none in it. last: its last byte that is no blank. A text
 * that begins with an array and does not end behind a ] was cut off, which is a fault to be told by ends_say_cut_off. */
uint8_t ends_bracket(const ends_t *ends, uint8_t last);
void ends_say_cut_off(const char *name, const char *within,
                      err_t *err); /* ", in the object of line 3", or "" */

/* The last byte of a text that is no blank; 0: none. */
uint8_t ends_last_byte(const uint8_t *text, size_t length);

/* How many lines end in text[0, length); of BSON, documents. */
uint64_t ends_lines(const schema_t *schema, const uint8_t *text, size_t length);

/* Scans text[from, to) as scan_fn does, for quoted fields that may contain line ends: appends only the ends that are
 * outside of quotes. text[0, length) are whole records, and 64 bytes after it can be read. At `from` the record goes on that
 * begins at `record`. Returns where the next call has to go on: at `to` or after it; or before `from`, if the record has
 * turned out to end there. */
uint32_t ends_scan(const schema_t *schema, char delimiter, const uint8_t *text, uint32_t length,
                   uint32_t record, uint32_t from, uint32_t to, scan_t *scan);

#endif
