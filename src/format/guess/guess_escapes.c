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

/* What stands behind backslashes in a quoted field. */
static void count_behind(guess_escapes_t *escapes, const uint8_t *raw, size_t length) {
    const uint8_t *at = raw, *const end = raw + length;
    while ((at = memchr(at, '\\', (size_t)(end - at))) && at + 1 < end) {
        escapes->pairs += at[1] == '\\';
        escapes->alone += at[1] != '\\' && at[1] != *raw;
        at += 2;
    }
}

/* Has the record all columns, and is each of its fields that begins with a quote in quotes? */
static bool reads_well(const guess_t *guess) {
    const split_t *split = guess->split;
    if (split->count != guess->structure.columns || !split_is_sound(split))
        return false;
    for (size_t i = 0; i < split->count; i++) {
        const span_t *span = &split->spans[i];
        if (span->length && span->length == span->raw_length &&
            span->text[0] == (uint8_t)guess->structure.way.quote)
            return false;
    }
    return true;
}

bool guess_escapes_look(guess_t *guess, const uint8_t *record, const uint8_t *end, bool last, err_t *err) {
    guess_escapes_t *escapes = &guess->escapes;
    const escape_t base = found_escape(guess);
    bool well[ESCAPES];
    for (int i = 0; i < ESCAPES; i++) {
        way_t way = guess->structure.way;
        schema_t schema;
        const uint8_t *at = record;
        guess_line_t line;
        set_escape(&way, (escape_t)i);
        guess_schema(&schema, &way);
        schema.comment = guess->schema->comment;
        well[i] = false;
        if (!guess_next(&schema, &at, end, last, &line)) /* its quotes end nowhere in the sample */
            continue;
        if (!split_record(guess->split, &schema, way.delimiter, line.text, line.length))
            return err_memory(err, line.length);
        well[i] = reads_well(guess);
        for (size_t j = 0; i == ESCAPE_BACKSLASHES && well[i] && j < guess->split->count; j++) {
            const span_t *span = &guess->split->spans[j];
            if (span->length != span->raw_length)
                count_behind(escapes, line.text + span->at, span->raw_length);
        }
    }
    for (int i = 0; i < ESCAPES; i++) {
        escapes->better[i] += well[i] && !well[base];
        escapes->worse[i] += well[base] && !well[i];
    }
    return true;
}

static bool is_better(const guess_escapes_t *escapes, escape_t escape) {
    return escapes->better[escape] && !escapes->worse[escape];
}

static escape_t decide(const guess_t *guess) {
    const guess_escapes_t *escapes = &guess->escapes;
    const bool paired = escapes->pairs && !escapes->alone;
    const uint64_t one = escapes->better[ESCAPE_BACKSLASH], two = escapes->better[ESCAPE_BACKSLASHES];
    if (found_escape(guess) == ESCAPE_BACKSLASH)
        return is_better(escapes, ESCAPE_BACKSLASHES) || (paired && !escapes->worse[ESCAPE_BACKSLASHES])
                   ? ESCAPE_BACKSLASHES
                   : ESCAPE_BACKSLASH;
    if (is_better(escapes, ESCAPE_BACKSLASHES) &&
        (paired || two > one || !is_better(escapes, ESCAPE_BACKSLASH)))
        return ESCAPE_BACKSLASHES;
    return is_better(escapes, ESCAPE_BACKSLASH) ? ESCAPE_BACKSLASH : ESCAPE_DOUBLE;
}

escape_t guess_escapes_so_far(const guess_t *guess) {
    return decide(guess);
}

bool guess_find_escapes(guess_t *guess, err_t *err) {
    const escape_t escape = decide(guess), before = found_escape(guess);
    const guess_escapes_t *escapes = &guess->escapes;
    if (escape == ESCAPE_DOUBLE && (escapes->better[ESCAPE_BACKSLASH] || escapes->better[ESCAPE_BACKSLASHES]))
        return err_set(err, STATUS_INPUT, refused, guess->name);
    set_escape(&guess->structure.way, escape);
    guess->schema->escape_backslash = guess->structure.way.backslash;
    guess->schema->escape_backslashes = guess->structure.way.backslashes;
    if (escape != before)
        guess->misfits -= guess->misfits < escapes->better[escape] ? guess->misfits : escapes->better[escape];
    return true;
}
