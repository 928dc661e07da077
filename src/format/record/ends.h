/* ends: where records end in a text whose quoted fields may contain line ends (`multiline: yes`).
 *
 *     7,"a line          a field is quoted if its first byte is the quote, and its closing quote is followed by a
 *     and another",x     delimiter, a line end or the end of the text
 *     8,5" pipe,y        not at the beginning: an ordinary character, and so is a quote at the beginning if something
 *                        else follows its closing quote in the same line
 *     9,"never closed    otherwise the record ends with this line, and is a reject: the lines after it are records
 *
 * What a record is depends on the text from its first byte on, and on nothing else: not on where a text is cut, nor on
 * options. A closing quote is looked for within ENDS_MOST bytes of the record: no larger one makes a document. */
#ifndef TIPPLE_FORMAT_RECORD_ENDS_H
#define TIPPLE_FORMAT_RECORD_ENDS_H

#include "format/record/scan.h"
#include "format/schema/schema.h"

enum { ENDS_MOST = 16 << 20 };

typedef enum {
    QUOTE_CLOSED,
    QUOTE_ODD,  /* something else follows what would close it */
    QUOTE_OPEN, /* nothing closes it */
    QUOTE_MORE, /* the text ends too early to tell */
} quote_end_t;

/* What ends the quoted field that begins at record[at]? CLOSED: *end is after its closing quote. ODD: *end is the quote
 * that does not close it. whole: nothing follows record[0, length); bare: it is one record without its line end.
 * backslash: a quote after a backslash is an ordinary one. */
typedef struct {
    bool whole, bare, backslash;
    bool escapes, used_backslash; /* what was found */
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
    size_t record; /* where the last record that was found ends: here the next one begins */
    size_t at;     /* all before it is known */
    bool odd;      /* the record at hand needs a closer look, and more text */
    scan_quotes_t quotes;
} ends_t;

ends_t ends_begin(const schema_t *schema, char delimiter);

/* Goes on to the first record end that is `from` or more, and that no later text can change; true: it is ends->record.
 * False: ends->record is the last one. The text is the same one as before, or longer; all: there will be no more. */
bool ends_on(ends_t *ends, const uint8_t *text, size_t length, bool all, size_t from);

/* Scans text[from, to) as scan_fn does, for quoted fields that may contain line ends: appends only the ends that are
 * outside of quotes. text[0, length) are whole records, and 64 bytes after it can be read; `record`: the first byte of the one that continues at `from`.
 * Returns how far it scanned: `to` or more, or less than `from` if the record at hand ended before it after all. */
uint32_t ends_scan(const schema_t *schema, char delimiter, const uint8_t *text, uint32_t length,
                   uint32_t record, uint32_t from, uint32_t to, scan_t *scan);

#endif
