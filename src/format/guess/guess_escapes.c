/* How quotes are escaped inside quotes, by all records of the sample that hold a backslash: most files have few of them,
 * and perhaps none at their beginning. */
#include "format/guess/guess_inner.h"

#include <string.h>

static const char *const refused =
    "%.1000s: in some of its quoted texts a backslash stands before a quote that goes on, and in some before "
    "the quote that ends them: both cannot be read at once. Give --format with escape: double, backslash or "
    "backslashes; records that it cannot read are rejected";

static escape_t found_escape(const guess_t *guess) {
    const way_t *way = &guess->structure.way;
    return way->backslashes ? ESCAPE_BACKSLASHES : way->backslash ? ESCAPE_BACKSLASH : ESCAPE_DOUBLE;
}

static void set_escape(way_t *way, escape_t escape) {
    way->backslash = escape != ESCAPE_DOUBLE;
    way->backslashes = escape == ESCAPE_BACKSLASHES;
}

/* Has the record all columns? */
static bool fits(const guess_t *guess) {
    return guess->split->count == guess->structure.columns && split_is_sound(guess->split);
}

/* And is each of its fields that begins with a quote in quotes? */
static bool reads_well(const guess_t *guess) {
    const split_t *split = guess->split;
    if (!fits(guess))
        return false;
    for (size_t i = 0; i < split->count; i++) {
        const span_t *span = &split->spans[i];
        if (span->length && span->length == span->raw_length &&
            span->text[0] == (uint8_t)guess->structure.way.quote)
            return false;
    }
    return true;
}

typedef struct {
    bool fits, well;
    size_t length;
} reading_t;

/* The record as it would be read so. */
static bool read_as(guess_t *guess, escape_t escape, const guess_text_t *from, reading_t *reading,
                    err_t *err) {
    way_t way = guess->structure.way;
    schema_t schema;
    const uint8_t *at = from->at;
    guess_line_t line;
    *reading = (reading_t){.well = false};
    set_escape(&way, escape);
    guess_schema(&schema, &way);
    schema.comment = guess->schema->comment;
    if (!guess_next(&schema, &at, from->end, from->last, &line)) /* its quotes end nowhere in the sample */
        return true;
    if (!split_record(guess->split, &schema, way.delimiter, line.text, line.length))
        return err_memory(err, line.length);
    *reading = (reading_t){.fits = fits(guess), .well = reads_well(guess), .length = line.length};
    return true;
}

static bool reads_alike(const reading_t *one, const reading_t *other) {
    return one->fits == other->fits && one->well == other->well && one->length == other->length;
}

static void use(guess_t *guess, escape_t escape) {
    set_escape(&guess->structure.way, escape);
    guess->schema->escape_backslash = guess->structure.way.backslash;
    guess->schema->escape_backslashes = guess->structure.way.backslashes;
}

bool guess_escapes_look(guess_t *guess, const guess_text_t *from, bool *again, err_t *err) {
    guess_escapes_t *escapes = &guess->escapes;
    const escape_t now = found_escape(guess);
    reading_t readings[ESCAPES];
    escape_t better = ESCAPES;
    bool lost = false;
    *again = false;
    for (int i = 0; i < ESCAPES; i++)
        if (!read_as(guess, (escape_t)i, from, &readings[i], err))
            return false;
    for (int i = ESCAPES; i-- > 0;) {
        const bool gains = readings[i].well && !readings[now].well;
        lost |= gains && escapes->impossible[i];
        /* what was read before this record has to be the same */
        escapes->impossible[i] |= !gains && !reads_alike(&readings[i], &readings[now]);
        if (gains && !escapes->impossible[i])
            better = (escape_t)i;
    }
    if (better == ESCAPES) {
        escapes->conflict |= lost;
        return true;
    }
    escapes->impossible[now] = *again = true;
    use(guess, better);
    const bool fitted = !guess->first_misfits;
    if (!guess_cut_first(guess, err))
        return false;
    escapes->conflict |= fitted && guess->first_misfits;
    return true;
}

bool guess_find_escapes(const guess_t *guess, err_t *err) {
    return !guess->escapes.conflict || err_set(err, STATUS_INPUT, refused, guess->name);
}
