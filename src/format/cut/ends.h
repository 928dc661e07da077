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

#include "format/cut/split.h"
#include "format/schema/schema.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- json_span ----
 *
 * Where the records of a JSON text end. A record is an object with what stands around it: one a line, one
 * after the other, or the elements of an array; nobody has to know which.
 *
 *     {"a": 1}            blanks, commas and the brackets of an array around an object belong to no object: those before
 *     {"a": 2} {"a": 3}   it, and those after it up to the end of its line, are read with it.
 *     [{"a": 4}, {"a":    A line with nothing else is a blank one, and so are more blanks than anybody writes.
 *       5}]
 *     {"a": 6,            Not an object: a line end within quotes, a bracket that closes another one, a { or [ where none
 *     {"a": 7}            can be. It ends before the next line that begins with { in the same column; if there is none,
 *                         with the text.
 *     {"a": "x            A line that begins with { where the line before it ends with } begins a record, whatever comes
 *     }                   before: in no object does a } stand directly before a {. So the middle of a text of such lines
 *     {"a": 7}            can be cut without the text before it (json_span_divides).
 *     oops                What is neither is a record up to the end of its line, or up to a comma that a { follows; where
 *                         it opens a bracket that its line does not close, it ends as what is not an object.
 *     {"a": 8},           Neither is an array that is an element of another one: its [ follows a comma or a [. The record
 *     [{"a": 9}],         begins with that comma, so the one before ends before it.
 *
 * Where a record ends depends on the text from its own first byte on, and on nothing else. */

enum {
    JSON_SPAN_LEVELS = 256, /* no server stores an object with deeper brackets */
    /* A record ends after more blanks in a row: they are no part of a value, and may be any number. After what is not an
     * object, no record begins after more of them in a line. A [ after more of them is no element. */
    JSON_SPAN_BLANKS = 32 * 1024,
};
#define JSON_SPAN_GONE (SIZE_MAX / 2)

/* How far one record was read; begins as {0}. */
typedef struct {
    size_t at;
    uint8_t open[JSON_SPAN_LEVELS]; /* the brackets around, from the outermost */
    uint32_t depth;
    uint32_t indent; /* blanks before its object */
    size_t escaped;  /* one more than the byte that a backslash makes plain; 0: none */
    size_t object;   /* where that begins; JSON_SPAN_GONE: before the text that is there */
    bool quoted;     /* within quotes */
    uint8_t bracket; /* the last [ or ] that belongs to no object; 0: none */
    uint8_t before;  /* the last byte that is no blank; */
    size_t mark;     /* what follows that, outside the object */
    enum { SPAN_BEFORE, SPAN_OBJECT, SPAN_AFTER, SPAN_BROKEN, SPAN_OTHER } phase;
} json_span_t;

/* The length of the record that begins at text[0]; 0: the text ends before it does, and the next call goes on there, with
 * the same text and more of it. whole: nothing follows the text. */
size_t json_span_find(json_span_t *span, const uint8_t *text, size_t length, bool whole);

/* Is text[at - 1] a line end after an object? */
bool json_span_ends_line(const uint8_t *text, size_t at);

/* Does text[at - 1] end a record, and text[at] begin one, whatever comes before? text[at] is there. */
static inline bool json_span_divides(const uint8_t *text, size_t at) {
    return text[at] == '{' && json_span_ends_line(text, at);
}

/* The length of the record whose object ends before text[at]; nothing follows the text. */
size_t json_span_after(const uint8_t *text, size_t length, size_t at);

/* The record is too long to be kept: after json_span_find, which has not found its end in text[0, length), the text may be
 * forgotten, except for its last bytes, fewer than JSON_SPAN_BLANKS + 8. The next call gets those and what follows them, and so on.
 * Returns how many there are. */
size_t json_span_forget(json_span_t *span, size_t length);

/* The text is over, and `last` is its last byte that is no blank: the last [ or ] around its records. Where quotes are open,
 * or brackets do not fit, a ] at the end is the best guess. */
uint8_t json_span_bracket(const json_span_t *span, uint8_t last);

static inline bool json_span_is_blank(uint8_t byte) {
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

/* The first byte of a text that is no blank, after a byte order mark and the byte before each text of a sequence (RFC 7464);
 * `length` if there is none. */
size_t json_span_begins(const uint8_t *text, size_t length);

/* Does this byte belong to no object? */
static inline bool json_span_is_around(uint8_t byte) {
    return json_span_is_blank(byte) || byte == ',' || byte == '[' || byte == ']' || byte == 0x1E;
}

/* ---- bson ----
 *
 * The documents of a BSON text: how long each is, whether its elements fit into each other, and where it ends. */

enum {
    BSON_LENGTH_LEAST = 5,
    BSON_LENGTH_MOST = (16 << 20) + (16 << 10), /* what a server sends and stores for itself */
};

static inline uint32_t bson_length(const uint8_t *text) {
    return text[0] | (uint32_t)text[1] << 8 | (uint32_t)text[2] << 16 | (uint32_t)text[3] << 24;
}

/* True if this is a valid size of a document. */
static inline bool bson_length_may_be(uint32_t length) {
    return length >= BSON_LENGTH_LEAST && length <= BSON_LENGTH_MOST;
}

/* ---- bson_walk ----
 *
 * Do the elements of a BSON document fit into each other? A server refuses a whole message for one document of
 * which that is not true, so each document is walked before it is sent. Servers store keys and texts that are not UTF-8 as they
 * are, so these are checked only where the format asks for it. */

enum { BSON_WALK_LEVELS = 180 }; /* of documents and arrays in each other: what a server stores */

typedef struct {
    uint32_t own_id, own_id_end; /* its element `_id`; 0: it has none */
    /* its element Timestamp(0, 0), which a server replaces by the time of day where it is not the `_id`; 0: none */
    uint32_t replaced;
    uint32_t symbol;   /* its first element that is a symbol, also within other documents; 0: none */
    uint32_t at;       /* of a broken one: the byte */
    const char *fault; /* and what is wrong there */
} bson_walk_t;

/* document[0, length) begins with its length, of which the caller has made sure. utf8: keys and texts must be UTF-8. False: it
 * is broken. */
bool bson_walk(const uint8_t *document, uint32_t length, bool utf8, bson_walk_t *walk);

/* Is it the type of an element? */
bool bson_walk_knows(uint8_t type);

/* ---- bson_span ----
 *
 * Where the documents of a BSON text end. Each begins with its own length (int32, little endian) and ends with a
 * zero byte; a length that says something else leaves nobody to know where the next document begins. */

/* The length of the document that begins at text[0]; 0: the text ends before it does, or (*lies) it is none. */
size_t bson_span_find(const uint8_t *text, size_t length, bool *lies);

/* How many documents end in text[0, length), which goes on where the last call's text ended; begins as {0}. */
typedef struct {
    uint32_t left; /* bytes of the document at hand, when its length is known */
    uint32_t have;
    uint8_t head[4];
} bson_span_counter_t;
uint64_t bson_span_count(bson_span_counter_t *counter, const uint8_t *text, size_t length);

/* Does a file that begins with this text look like BSON? The text may end within its first document. */
bool bson_span_begins(const uint8_t *text, size_t length);

/* ---- the ends of records of all kinds ---- */

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
