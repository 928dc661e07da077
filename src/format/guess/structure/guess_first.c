/* Finds where the records of a text begin, and which lines are comments.
 *
 * The first record is the first line with as many fields as most lines have. Three kinds of lines are exceptions:
 *
 * - Titles with as many fields ("Sales report,,", as spreadsheets save them). Names follow them if columns of numbers or
 *   dates below reject the line of names (find_names).
 * - A first line with a field less or more than the records: a header without a name for the row numbers, or without the
 *   last delimiter of the rows (is_odd_header).
 * - Lines that begin with #: comments, unless most of them have as many fields as the records. */
#include "base/chars.h"
#include "format/guess/column/guess_column.h"
#include "format/guess/column/guess_name.h"
#include "format/guess/structure/guess_study.h"

#include <string.h>

enum {
    MOST_BEFORE = 30, /* lines before the header that do not begin with # */
    MOST_NAMES = 3,   /* lines of names, one below the other */
    BELOW = 100,      /* records below a line that are compared with it */
};

static size_t line_of(const study_t *study, size_t record) {
    return lines_count(study->text, study->records[record].at);
}

/* yes, no, Y and n do not count: they may be names, too. */
static bool is_number_or_date(const span_t *span) {
    bool second;
    return span->length && !guess_pair(span->text, span->length, &second) &&
           guess_is_typed(span->text, span->length);
}

/* True if the first record has a field less or more than the others, and names most of them. */
static bool is_odd_header(study_t *study, structure_t *found, err_t *err) {
    const size_t fields = study->records[0].fields, most = found->columns;
    bool all = true, any = false, quoted = true; /* all, or any, of the others end in an empty field */
    if (study->records[0].hash || (fields + 1 != most && fields != most + 1))
        return false;
    for (size_t i = 1; i < study->count; i++) {
        const uint8_t *end = study->text + study->records[i].at + study->records[i].length;
        const bool fits = study->records[i].fields == most,
                   empty = fits && end[-1] == (uint8_t)found->way.delimiter;
        all &= empty || !fits;
        any |= empty;
    }
    found->ends_empty = fields + 1 == most && all && study->count > 1;
    if ((most < 3 && !found->ends_empty) || !guess_split(study, found->way.delimiter, 0, err))
        return false;
    for (size_t i = 0; i < fields; i++) {
        const span_t *span = &study->split.spans[i];
        quoted &= span->raw_length != span->length;
        if (fields == most + 1 && i + 1 == fields ? span->length > 0
                                                  : !span->length || is_number_or_date(span))
            return false;
    }
    found->row_names = fields + 1 == most && !found->ends_empty;
    /* The last column may be the one without a name, if only some records end so; or a text without quotes was divided. */
    const bool begins_quoted = study->count > 1 && found->way.quote &&
                               study->text[study->records[1].at] == (uint8_t)found->way.quote;
    found->unsure_names =
        found->row_names && (any || (found->way.delimiter != '\t' && !(quoted && begins_quoted)));
    return true;
}

/* ---- lines that begin with # ---- */

/* Lines that begin with #, by whether they have as many fields as records. */
typedef struct {
    size_t fitting, others, first_others; /* of the others, those before the first record */
} hashes_t;

static hashes_t count_hashes(const study_t *study, size_t columns) {
    hashes_t hashes = {0, 0, 0};
    bool before = true;
    for (size_t i = 0; i < study->count; i++) {
        const bool fits = study->records[i].fields == columns, hash = study->records[i].hash;
        before = before && (hash || !fits);
        hashes.fitting += hash && fits;
        hashes.others += hash && !fits;
        hashes.first_others += hash && !fits && before;
    }
    return hashes;
}

/* True if the last line before the records begins with # and names their columns. */
static bool is_hash_header(const study_t *study, const structure_t *found, const hashes_t *hashes,
                           size_t first) {
    if (!first || !study->records[first - 1].hash || study->records[first - 1].fields != found->columns)
        return false;
    const uint8_t *line = study->text + study->records[first - 1].at;
    return hashes->fitting == 1 && hashes->others == hashes->first_others &&
           (found->columns > 2 || line[1] != ' ');
}

/* ---- titles ---- */

/* A line, and the columns below it that hold only numbers and dates. */
typedef struct {
    size_t filled, last; /* fields that are not empty; the number of fields up to the last of them */
    size_t typed, known; /* numbers and dates; words that often name a column */
    size_t below;        /* columns that hold only numbers and dates below the line */
    bool corner;         /* only the first field is empty */
    bool fits, text;     /* the line has a number or a date in one of these columns; a text in one */
} line_t;

static bool look_at_line(study_t *study, const structure_t *found, size_t record, line_t *line, err_t *err) {
    static _Thread_local size_t values[SCHEMA_MOST_FIELDS], typed[SCHEMA_MOST_FIELDS];
    *line = (line_t){.filled = 0};
    memset(values, 0, sizeof values);
    memset(typed, 0, sizeof typed);
    for (size_t i = record + 1; i < study->count && i <= record + BELOW; i++) {
        if (study->records[i].fields != found->columns)
            continue;
        if (!guess_split(study, found->way.delimiter, i, err))
            return false;
        for (size_t j = 0; j < study->split.count && j < SCHEMA_MOST_FIELDS; j++) {
            values[j] += study->split.spans[j].length > 0;
            typed[j] += is_number_or_date(&study->split.spans[j]);
        }
    }
    if (!guess_split(study, found->way.delimiter, record, err))
        return false;
    for (size_t j = 0; j < study->split.count && j < SCHEMA_MOST_FIELDS; j++) {
        const span_t *span = &study->split.spans[j];
        const bool below = values[j] > 1 && values[j] == typed[j], is_typed = is_number_or_date(span);
        line->below += below;
        line->filled += span->length > 0;
        line->last = span->length ? j + 1 : line->last;
        line->typed += is_typed;
        line->known += guess_is_known_word((const char *)span->text, span->length);
        line->fits |= below && is_typed;
        line->text |= below && guess_classify(span->text, span->length) == IS_TEXT &&
                      !guess_means_nothing((const char *)span->text, span->length);
    }
    line->corner = line->filled + 1 == found->columns && !study->split.spans[0].length;
    return true;
}

/* Finds the line of names after titles with as many fields: the first line with text above columns of numbers or dates.
 * 0: none. *unsure: the lines before it may be records or names. */
static size_t find_names(study_t *study, const structure_t *found, bool *unsure, err_t *err) {
    size_t names = 0, most = 0;
    bool titles = true;
    line_t line = {.filled = 0};
    *unsure = false;
    for (; names + 1 < study->count && names <= MOST_BEFORE; names++) {
        if (study->records[names].fields != found->columns || (names > MOST_NAMES && !titles) ||
            !look_at_line(study, found, names, &line, err) || line.typed > line.filled / 2)
            return 0;
        if (line.last > 1 && (line.below ? line.text && !line.fits : names && titles))
            break;
        if (line.corner) /* the corner of a table: the line is no title */
            return 0;
        most = line.filled > most ? line.filled : most;
        titles &= line.last <= 1;
    }
    const bool whole = line.filled > 1 && line.filled == line.last && !line.typed;
    if (!names || names > MOST_BEFORE || names + 1 >= study->count || !whole)
        return 0;
    /* several lines of names, or records that lack a value */
    *unsure = most >= line.filled ? line.below > 1 : line.below < 2 && !(line.below && line.known);
    return line.below == 1 && most >= line.filled ? 0 : names;
}

/* ---- all of it ---- */

size_t guess_find_first(study_t *study, structure_t *found, size_t *of, err_t *err) {
    const hashes_t hashes = count_hashes(study, found->columns);
    bool comments = hashes.others > 0, unsure = false;
    size_t first = 0, fitting = 0, passed = 0;
    while (first < study->count &&
           (study->records[first].fields != found->columns || (comments && study->records[first].hash)))
        first++;
    first = first < study->count ? first : 0;
    const size_t names = first ? 0 : find_names(study, found, &unsure, err);
    found->unsure_names_at = unsure ? 1 + line_of(study, names) : 0;
    found->named = names && !unsure;
    first = found->named ? names : first;
    if (comments && is_hash_header(study, found, &hashes, first)) {
        comments = false;
        first--;
    }
    found->odd_header = first == 1 && is_odd_header(study, found, err);
    first = found->odd_header ? 0 : first;
    for (size_t i = first; i < study->count; i++) {
        const bool comment = comments && study->records[i].hash;
        fitting += !comment && (study->records[i].fields == found->columns || (found->odd_header && i == 0));
        passed += comment;
    }
    size_t before = first; /* lines to skip; comments right before the records are left out */
    while (comments && before && study->records[before - 1].hash)
        before--;
    found->titles = found->wider = 0;
    for (size_t i = 0; i < before; i++) {
        found->titles += !study->records[i].hash;
        found->wider += !study->records[i].hash && study->records[i].fields > found->columns;
    }
    found->before = first ? study->records[first - 1].fields : 0;
    found->comment = comments ? '#' : 0;
    found->unsure_comment = comments && !hashes.first_others && hashes.fitting > hashes.others;
    found->first = study->records[first].at;
    found->skip = before ? line_of(study, before) : 0;
    *of = study->count - first - passed;
    return found->titles > MOST_BEFORE ? 0 : fitting;
}
