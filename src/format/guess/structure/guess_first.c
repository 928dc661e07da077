/* Where the records of a text begin: behind lines that are none, and which of those are comments. */
#include "format/guess/column/guess_value.h"
#include "format/guess/structure/guess_study.h"

#include <string.h>

enum { MOST_BEFORE = 30 /* lines before the header that do not begin with # */ };

static size_t lines_before(const study_t *study, size_t offset) {
    size_t lines = 0;
    for (size_t i = 0; i < offset; i++)
        lines += study->text[i] == '\n';
    return lines;
}

/* Of the records behind the first one: do all, or any, end in a delimiter, and so in an empty field? */
static void count_empty_ends(const study_t *study, const structure_t *found, bool *all, bool *any) {
    *all = study->count > 1;
    *any = false;
    for (size_t i = 1; i < study->count; i++) {
        const uint8_t *record = study->text + study->records[i].at;
        if (study->records[i].fields != found->columns)
            continue;
        const bool empty = record[study->records[i].length - 1] == (uint8_t)found->way.delimiter;
        *all &= empty;
        *any |= empty;
    }
}

static bool begins_quoted(const study_t *study, const structure_t *found, size_t record) {
    return study->count > record && found->way.quote &&
           study->text[study->records[record].at] == (uint8_t)found->way.quote;
}

/* Its first record has a field less or more than the others: names without the one of the row's number, or a last
 * delimiter that only some lines have. */
static bool is_odd_header(study_t *study, structure_t *found, err_t *err) {
    const size_t fields = study->records[0].fields, most = found->columns;
    const way_t *way = &found->way;
    if (study->records[0].hash || (fields + 1 != most && fields != most + 1))
        return false;
    bool all, any;
    count_empty_ends(study, found, &all, &any);
    found->ends_empty = fields + 1 == most && all;
    if (most < 3 && !found->ends_empty)
        return false;
    if (!guess_split(study, way->delimiter, 0, err))
        return false;
    bool quoted = true;
    for (size_t i = 0; i < fields; i++) {
        const span_t *span = &study->split.spans[i];
        quoted &= span->raw_length != span->length;
        const bool last = fields == most + 1 && i + 1 == fields;
        bool second; /* "n" may be a name */
        if (last ? span->length != 0
                 : guess_is_typed(span->text, span->length) && !guess_pair(span->text, span->length, &second))
            return false;
    }
    found->row_names = fields + 1 == most && !found->ends_empty;
    /* where some rows end so, and others not, it may be the last column that has no name */
    found->unsure_names =
        found->row_names && (any || (way->delimiter != '\t' && !(quoted && begins_quoted(study, found, 1))));
    return true;
}

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

/* The last line before the records, which begins with #, names their columns. */
static bool is_hash_header(const study_t *study, const structure_t *found, const hashes_t *hashes,
                           size_t first) {
    if (!first || !study->records[first - 1].hash || study->records[first - 1].fields != found->columns)
        return false;
    const uint8_t *line = study->text + study->records[first - 1].at;
    return hashes->fitting == 1 && hashes->others == hashes->first_others &&
           (found->columns > 2 || line[1] != ' ');
}

/* The first line of those before the records that is left when those to skip are gone: all after it are comments. */
static size_t first_comment(const study_t *study, size_t first) {
    while (first && study->records[first - 1].hash)
        first--;
    return first;
}

/* One with a first field at most, as spreadsheets save a title. */
static bool has_but_first(const study_t *study, const structure_t *found, size_t record) {
    const char delimiter = found->way.delimiter;
    const uint8_t *text = study->text + study->records[record].at;
    size_t length = study->records[record].length, ends = 0;
    for (; length && text[length - 1] == (uint8_t)delimiter; length--)
        ends++;
    return found->columns > 2 && !found->way.blanks && !found->way.wide[0] && ends + 1 == found->columns;
}

/* How many of its fields are filled, and how many of those are numbers or dates; false: out of memory. */
static bool count_fields(study_t *study, const structure_t *found, size_t record, size_t *filled,
                         size_t *typed) {
    const uint8_t *text = study->text + study->records[record].at;
    *filled = *typed = 0;
    if (!split_record(&study->split, &study->schema, found->way.delimiter, text,
                      study->records[record].length))
        return false;
    for (size_t i = 0; i < study->split.count; i++) {
        const span_t *span = &study->split.spans[i];
        *filled += span->length > 0;
        *typed += span->length && guess_is_typed(span->text, span->length);
    }
    return true;
}

/* The first record behind a spreadsheet's title ("Sales report,,") and rows of nothing: names, and numbers or dates below. 0:
 * there is no title, or nothing tells. */
static size_t behind_title(study_t *study, const structure_t *found) {
    size_t names = 0, filled, typed;
    while (names < study->count && study->records[names].fields == found->columns &&
           has_but_first(study, found, names))
        names++;
    if (!names || names > MOST_BEFORE || names + 1 >= study->count ||
        study->records[names].fields != found->columns ||
        !count_fields(study, found, names, &filled, &typed) || filled < found->columns || typed)
        return 0;
    return count_fields(study, found, names + 1, &filled, &typed) && typed ? names : 0;
}

/* A column whose values below this record are all numbers or dates. */
static bool has_typed_below(study_t *study, const structure_t *found, size_t record) {
    size_t values[SCHEMA_MOST_FIELDS] = {0}, typed[SCHEMA_MOST_FIELDS] = {0};
    for (size_t i = record + 1; i < study->count; i++) {
        if (study->records[i].fields != found->columns)
            continue;
        if (!split_record(&study->split, &study->schema, found->way.delimiter,
                          study->text + study->records[i].at, study->records[i].length))
            return false;
        for (size_t j = 0; j < study->split.count && j < SCHEMA_MOST_FIELDS; j++) {
            const span_t *span = &study->split.spans[j];
            values[j] += span->length > 0;
            typed[j] += span->length && guess_is_typed(span->text, span->length);
        }
    }
    for (size_t j = 0; j < found->columns && j < SCHEMA_MOST_FIELDS; j++)
        if (values[j] > 1 && values[j] == typed[j])
            return true;
    return false;
}

/* A record of names behind others that have an empty field: those may be a title. An empty field in front is that of the
 * row's name. 0: none. */
static size_t names_behind(study_t *study, const structure_t *found) {
    size_t names = 0, filled, typed;
    for (; names < study->count && names <= MOST_BEFORE; names++) {
        if (study->records[names].fields != found->columns ||
            !count_fields(study, found, names, &filled, &typed))
            return 0;
        if (filled == found->columns)
            return names && !typed && has_typed_below(study, found, names) ? names : 0;
        if (filled + 1 == found->columns && !study->split.spans[0].length)
            return 0;
    }
    return 0;
}

/* Lines before the header that do not begin with #. */
static size_t count_titles(const study_t *study, size_t before) {
    size_t count = 0;
    for (size_t i = 0; i < before; i++)
        count += !study->records[i].hash;
    return count;
}

size_t guess_find_first(study_t *study, structure_t *found, size_t *of, err_t *err) {
    const hashes_t hashes = count_hashes(study, found->columns);
    bool comments = hashes.others > 0;
    size_t first = 0, fitting = 0, passed = 0;
    while (first < study->count &&
           (study->records[first].fields != found->columns || (comments && study->records[first].hash)))
        first++;
    if (first == study->count)
        first = 0;
    if (!first)
        first = behind_title(study, found);
    const size_t names = first ? 0 : names_behind(study, found);
    found->unsure_names_at = names ? 1 + lines_before(study, study->records[names].at) : 0;
    if (comments && is_hash_header(study, found, &hashes, first)) {
        comments = false;
        first--;
    }
    if (first == 1 && is_odd_header(study, found, err)) {
        found->odd_header = true;
        first = 0;
    }
    for (size_t i = first; i < study->count; i++) {
        const bool comment = comments && study->records[i].hash;
        fitting += !comment && (study->records[i].fields == found->columns || (found->odd_header && i == 0));
        passed += comment;
    }
    const size_t before = comments ? first_comment(study, first) : first;
    found->comment = comments ? '#' : 0;
    found->unsure_comment = comments && !hashes.first_others && hashes.fitting > hashes.others;
    found->first = study->records[first].at;
    found->skip = before ? lines_before(study, study->records[before].at) : 0;
    *of = study->count - first - passed;
    found->titles = count_titles(study, before);
    return found->titles > MOST_BEFORE ? 0 : fitting;
}
