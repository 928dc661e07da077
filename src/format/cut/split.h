/* split: one record of delimited text: where its fields are, and where it ends. The rules about quotes stand here, and nowhere
 * else.
 *
 *     7,"a line          A field is quoted if its first byte is the quote, and its closing quote is followed by a
 *     and another",x     delimiter, a line end or the end of the text. Inside it, a doubled quote is a quote, and so (if the
 *     8,5" pipe,y        format has it) is a quote after a backslash.
 *     8,"odd" one,y      A quote elsewhere is an ordinary character. So are both quotes if something else follows the
 *     9,"never closed    second one in the same line; but first a backslash counts as an ordinary character. If something else
 *     10,next,z          follows in another line, or if there is no second one, the quote is never closed: the record ends with
 *                        its line, and is a reject. The next line is a record.
 *
 * One walk over the fields decides all of this (split.c): split_end asks it for the end of the record, split_record for the
 * spans. split_at_ends is the fast way where a scan (ends.h) has found the ends of the fields; it says nothing else than the
 * walk, or it refuses. A split_t belongs to one thread. */
#ifndef TIPPLE_FORMAT_CUT_SPLIT_H
#define TIPPLE_FORMAT_CUT_SPLIT_H

#include "format/schema/schema.h"

#include <string.h>

enum {
    /* A record with this number of fields may have more: they were not looked for. No dialect has as many columns. */
    SPLIT_MOST = 2 * SCHEMA_MOST_FIELDS + 1,
    /* The closing quote must be within this number of bytes of the record: no larger record makes a document. */
    ENDS_MOST = 16 << 20,
};

typedef struct {
    const uint8_t *text; /* points into the record, or into scratch if it was unescaped */
    uint32_t length;
    uint32_t at;         /* the field's first byte in the record, with the quote */
    uint32_t raw_length; /* with quotes and escapes */
} span_t;

typedef struct split {
    span_t spans[SPLIT_MOST];
    size_t count;
    bool quoted;    /* a field was in quotes */
    bool backslash; /* a quote was escaped by a backslash */
    size_t open;    /* the place, from 1, of a quote that is never closed, where that is a mistake; 0: none */
    /* the same of a quote that is closed in the middle of a field: after a delimiter; where the format is guessed, in any:
     * quotes in it may be escaped otherwise than in the sample. There also the first quote of split_find_torn */
    size_t torn;
    uint8_t *scratch; /* unescaped text; grows; owned by the split */
    size_t scratch_room;
} split_t;

/* The length of the record that begins at text[0], with its line end; 0: the text ends before it does. whole: nothing
 * follows the text, so that its last record may have no line end. Only where quoted fields may contain line ends. */
size_t split_end(const schema_t *schema, char delimiter, const uint8_t *text, size_t length, bool whole);

/* Splits record[0, length) (without its line end). A field whose quote has no proper end is not quoted. False: out of
 * memory. */
bool split_record(split_t *split, const schema_t *schema, char delimiter, const uint8_t *record,
                  size_t length);

/* Does the same as split_record, faster, with a record whose fields were found to end at text + ends[0, count), with this number
 * of quotes. False: not all quotes are around whole fields, or doubled within those, or there are backslashes, so that
 * split_record must say what the fields are. */
bool split_at_ends(split_t *split, const schema_t *schema, const uint8_t *text, const uint8_t *record,
                   const uint32_t *ends, size_t count, uint32_t quotes);
void split_free(split_t *split);

/* How many backslashes the text ends with. */
size_t split_backslashes(const uint8_t *text, size_t length);

/* True if the text of a field has to be in quotes: it holds a delimiter, a quote, or a line end. The latter only if the record has
 * several fields: otherwise each line looks like a record. */
bool split_needs_quotes(const schema_t *schema, char delimiter, bool several, const uint8_t *text,
                        size_t length);

/* The first field that is in quotes, and does not need them; NULL: there is none. `""` may be text or nothing. */
const span_t *split_find_needless(const split_t *split, const schema_t *schema, char delimiter);

/* The place, from 1, of a quote that opens a text within a field, where another field closes it: `5,x"Table, round",7`, in
 * which a delimiter is missing. 0: there is none. encloses: quotes enclose fields, and one after blanks opens nothing. */
size_t split_find_torn(const split_t *split, char quote, bool encloses);

/* Are the fields what was meant, as far as quotes show? */
static inline bool split_is_sound(const split_t *split) {
    return !split->open && !split->torn;
}

/* For too many fields: the surplus field gets everything between `left` fields from the left and `right` fields from
 * the right, with the delimiters. Afterwards count == left + 1 + right. */
void split_merge(split_t *split, const uint8_t *record, size_t left, size_t right);

/* Finds a record of several lines that may be several records: many exports of tables write quotes as ordinary characters
 * ("Rome, and lines later Brave"), and read with quotes, whole records would vanish in a field, unnoticed. The record holds a
 * line end in quotes; its own line end is left out. *torn: if its first and last line look like records, and nearly all between
 * them do, where the field with several lines begins, from 1; else 0. Overwrites split. False: out of memory. */
bool split_torn_lines(split_t *split, const schema_t *schema, char delimiter, size_t columns,
                      const uint8_t *record, size_t length, uint32_t *torn);

/* ---- delimiter ----
 *
 * Where fields are divided. Mostly one character; of a format whose delimiter is longer, or is any number of blanks,
 * `delimiter` is the first character of it, and the schema has the rest. */

static inline bool delimiter_is_blank(uint8_t byte) {
    return byte == ' ' || byte == '\t';
}

/* How many bytes at text[at] are one; 0: none. */
static inline size_t delimiter_at(const schema_t *schema, char delimiter, const uint8_t *text, size_t length,
                                  size_t at) {
    if (__builtin_expect(!schema_is_wide(schema), 1))
        return at < length && text[at] == (uint8_t)delimiter;
    size_t end = at;
    while (schema->blanks && end < length && delimiter_is_blank(text[end]))
        end++;
    const size_t wide = schema->wide.length;
    return schema->blanks ? end - at
                          : (length - at >= wide && memcmp(text + at, schema->wide.text, wide) == 0) * wide;
}

/* The first one at `from` or after it; NULL: there is none. */
const uint8_t *delimiter_find_wide(const schema_t *schema, const uint8_t *text, size_t length, size_t from);

static inline const uint8_t *delimiter_find(const schema_t *schema, char delimiter, const uint8_t *text,
                                            size_t length, size_t from) {
    return __builtin_expect(!schema_is_wide(schema), 1) ? memchr(text + from, delimiter, length - from)
                                                        : delimiter_find_wide(schema, text, length, from);
}

#endif
