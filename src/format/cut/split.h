/* split: splits one record into its fields with full checks: quotes, escapes, surplus fields. Used for rows that have
 * any of those, for headers, and to check what emit writes. */
#ifndef TIPPLE_FORMAT_CUT_SPLIT_H
#define TIPPLE_FORMAT_CUT_SPLIT_H

#include "format/schema/schema.h"

enum { SPLIT_MOST = 4096 };

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
    bool too_many;  /* more than SPLIT_MOST fields: count stopped there */
    size_t open;    /* the place, from 1, of a quote that is never closed, where that is a mistake; 0: none */
    size_t
        torn; /* the same of a quote that is closed in the middle of a field: behind a delimiter; where the format is
                     * guessed, in any: quotes in it may be escaped otherwise than in what was looked at */
    uint8_t *scratch; /* unescaped text; grows; owned by the split */
    size_t scratch_room;
} split_t;

/* Splits record[0, length) (without its line end). A field is quoted if its first byte is the quote and it is closed
 * before a delimiter or the end. Inside it, a doubled quote is a quote, and so (if the format has it) is a quote after
 * a backslash. If no proper end is found this way, a backslash counts as an ordinary character (see ends.h); if none is found then
 * either, the field is not quoted. False: out of memory. */
bool split_record(split_t *split, const schema_t *schema, char delimiter, const uint8_t *record,
                  size_t length);

/* The same of a record whose fields were found to end at text + ends[0, count), faster: quotes: how many it has. False: they are
 * not all around whole fields, or doubled within those, so that split_record must say what the fields are. */
bool split_at_ends(split_t *split, const schema_t *schema, const uint8_t *text, const uint8_t *record,
                   const uint32_t *ends, size_t count, uint32_t quotes);
void split_free(split_t *split);

/* Does the record end with a backslash that is not escaped by one? */
bool split_ends_escaped(const uint8_t *record, size_t length);

/* Does a field of the record hold what has to be in quotes: a delimiter, a quote, or a line end? Not the latter where it is the
 * only field: then each line looks like a record. */
bool split_needs_quotes(const split_t *split, const schema_t *schema, char delimiter, const span_t *span);

/* The first field that is in quotes, and does not need them; NULL: there is none. `""` tells no text from nothing. */
const span_t *split_find_needless(const split_t *split, const schema_t *schema, char delimiter);

/* Are the fields what was meant, as far as quotes tell? */
static inline bool split_is_sound(const split_t *split) {
    return !split->open && !split->torn;
}

/* For too many fields: the surplus field gets everything between `left` fields from the left and `right` fields from
 * the right, with the delimiters. Afterwards count == left + 1 + right. */
void split_merge(split_t *split, const uint8_t *record, size_t left, size_t right);

#endif
