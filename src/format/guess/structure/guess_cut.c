/* Cuts a text by one way: its beginning for the search (guess_cut_all), its records one by one (guess_next), and from a record
 * in its middle on (guess_middle). */
#include "format/cut/delimiter.h"
#include "format/cut/ends.h"
#include "format/guess/column/guess_column.h"
#include "format/guess/structure/guess_study.h"

#include <string.h>

enum {
    TRIED_LINES = 200, /* to find the first record of a piece */
    IN_A_ROW = 10,     /* records that have to fit from there on */
};

void guess_schema(schema_t *schema, const way_t *way) {
    memset(schema, 0, sizeof *schema);
    schema->delimiters[0] = way->delimiter;
    schema->delimiter_count = 1;
    schema->blanks = way->blanks;
    if (way->wide[0])
        schema->wide = way_delimiter(way);
    schema->quote = way->quote;
    schema->guessed = true;
    schema->escape_double = true;
    schema->escape_backslash = way->backslash;
    schema->escape_backslashes = way->backslashes;
    schema->multiline = way->quote != 0;
    schema->surplus_field = -1;
}

bool guess_line(const schema_t *schema, const uint8_t **at, const uint8_t *end, bool last,
                guess_line_t *line) {
    while (*at < end) {
        const size_t length = ends_find(schema, schema->delimiters[0], *at, (size_t)(end - *at), last);
        if (!length)
            return false;
        line->text = *at;
        line->length = length - ((*at)[length - 1] == '\n');
        *at += length;
        if (line->length && line->text[line->length - 1] == '\r')
            line->length--;
        if (line->length)
            return true;
    }
    return false;
}

bool guess_next(const schema_t *schema, const uint8_t **at, const uint8_t *end, bool last,
                guess_line_t *line) {
    while (guess_line(schema, at, end, last, line))
        if (!schema_is_comment(schema, line->text[0]))
            return true;
    return false;
}

/* ---- the beginning, for the search ---- */

bool guess_cut_all(study_t *study, const way_t *way, err_t *err) {
    const uint8_t *at = study->text;
    guess_line_t line;
    guess_schema(&study->schema, way);
    study->schema.guessed = false; /* odd quotes are weighed here, and rejected later */
    study->count = 0;
    while (study->count < GUESS_MOST_RECORDS &&
           guess_next(&study->schema, &at, study->end, study->last, &line)) {
        if (!split_record(&study->split, &study->schema, way->delimiter, line.text, line.length))
            return err_memory(err, line.length);
        study->records[study->count].fields =
            split_is_sound(&study->split) ? (uint16_t)study->split.count : 0;
        study->records[study->count].hash = line.text[0] == '#';
        study->records[study->count].at = (size_t)(line.text - study->text);
        study->records[study->count++].length = line.length;
    }
    return true;
}

bool guess_split(study_t *study, char delimiter, size_t record, err_t *err) {
    const uint8_t *text = study->text + study->records[record].at;
    const size_t length = study->records[record].length;
    return split_record(&study->split, &study->schema, delimiter, text, length) || err_memory(err, length);
}

size_t guess_usual_fields(const study_t *study) {
    static _Thread_local uint16_t seen[SPLIT_MOST + 1];
    size_t best = 0, most = 0;
    bool all_hashes = true;
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < study->count; i++)
        all_hashes &= study->records[i].hash;
    for (size_t i = 0; i < study->count; i++)
        if (all_hashes || !study->records[i].hash)
            seen[study->records[i].fields]++;
    for (size_t i = 1; i <= SPLIT_MOST; i++)
        if (seen[i] && seen[i] >= most) {
            most = seen[i];
            best = i;
        }
    return best;
}

value_is_t guess_classify(const uint8_t *text, size_t length) {
    value_t value;
    guess_read(&value, text, length);
    return value.nothing ? IS_NOTHING : guess_is_of_type(&value) ? IS_TYPED : IS_TEXT;
}

bool guess_is_typed(const uint8_t *text, size_t length) {
    return guess_classify(text, length) != IS_TEXT;
}

/* ---- the middle: lines of a text in quotes may look like records. Its quotes show that they are none: an opening quote stands
 * after a delimiter, and a closing one before a delimiter ---- */

static bool ends_line(const uint8_t *at, const uint8_t *end) {
    return *at == '\n' || (*at == '\r' && at + 1 < end && at[1] == '\n');
}

static bool divides(const way_t *way, uint8_t character) {
    return character == (uint8_t)way->delimiter || (way->blanks && delimiter_is_blank(character));
}

/* The place after the first quote that surely closes a field; NULL: a quote opens a field before it, or none is sure. */
static const uint8_t *find_closed(const way_t *way, const uint8_t *text, const uint8_t *end) {
    const size_t wide = strlen(way->wide);
    const uint8_t last = (uint8_t)(wide ? way->wide[wide - 1] : way->delimiter);
    const uint8_t *at = text, *begin;
    while ((begin = memchr(at, way->quote, (size_t)(end - at)))) {
        for (at = begin; at < end && *at == (uint8_t)way->quote;)
            at++;
        if (at == end)
            break;
        const bool after = begin == text || begin[-1] == '\n' || begin[-1] == last || divides(way, begin[-1]),
                   before = ends_line(at, end) || divides(way, *at);
        if (after == before || (at - begin) % 2 == 0 || (begin > text && begin[-1] == '\\'))
            continue;
        return before ? at : NULL;
    }
    return NULL;
}

/* The end of the record. at: the end of one of its fields. */
static const uint8_t *end_of_record(const schema_t *schema, const uint8_t *at, const uint8_t *end) {
    guess_line_t line;
    if (ends_line(at, end))
        return (const uint8_t *)memchr(at, '\n', (size_t)(end - at)) + 1;
    at++;
    return guess_next(schema, &at, end, false, &line) ? at : end;
}

/* True if a record begins here, and all after it fit (IN_A_ROW, or fewer at the end). */
static bool fits_from(const structure_t *structure, const schema_t *schema, split_t *split, const uint8_t *at,
                      const uint8_t *end) {
    guess_line_t line;
    size_t fitting = 0;
    while (fitting < IN_A_ROW && guess_next(schema, &at, end, false, &line)) {
        if (!split_record(split, schema, structure->way.delimiter, line.text, line.length) ||
            !split_is_sound(split) || split->count != structure->columns)
            return false;
        fitting++;
    }
    return fitting > 0;
}

const uint8_t *guess_middle(const structure_t *structure, const schema_t *schema, split_t *split,
                            const uint8_t *text, const uint8_t *end) {
    const way_t *way = &structure->way;
    const uint8_t *at = text, *closed = way->quote ? find_closed(way, text, end) : NULL;
    if (closed)
        at = end_of_record(schema, closed, end);
    for (size_t i = 0; i < TRIED_LINES && at < end; i++) {
        if (fits_from(structure, schema, split, at, end))
            return at;
        const uint8_t *feed = memchr(at, '\n', (size_t)(end - at));
        at = feed ? feed + 1 : end;
    }
    return NULL;
}
