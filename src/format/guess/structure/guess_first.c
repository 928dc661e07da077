/* Where the records of a text begin: behind lines that are none, and which of those are comments. */
#include "format/guess/column/guess_name.h"
#include "format/guess/column/guess_column.h"
#include "format/guess/structure/guess_study.h"

#include <string.h>

enum {
    MOST_BEFORE = 30, /* lines before the header that do not begin with # */
    MOST_NAMES = 3,   /* lines of names, one below the other, */
    BELOW = 100,      /* and records below them that are looked at */
};

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

/* yes, no, Y, n: these may be names, too. */
static bool is_pair(const span_t *span) {
    bool second;
    return guess_pair(span->text, span->length, &second) != 0;
}

static bool is_number_or_date(const span_t *span) {
    return span->length && !is_pair(span) && guess_is_typed(span->text, span->length);
}

/* What the fields of a record are. */
typedef struct {
    size_t filled, last; /* how many are not empty; after which one all are */
    size_t typed, known; /* numbers and dates; words that often name a column */
    bool first;          /* the first one is not empty */
} fields_t;

static bool look_at_fields(study_t *study, const structure_t *found, size_t record, fields_t *fields,
                           err_t *err) {
    *fields = (fields_t){.filled = 0};
    if (!guess_split(study, found->way.delimiter, record, err))
        return false;
    for (size_t i = 0; i < study->split.count; i++) {
        const span_t *span = &study->split.spans[i];
        fields->filled += span->length > 0;
        fields->first |= !i && span->length;
        fields->last = span->length ? i + 1 : fields->last;
        fields->typed += is_number_or_date(span);
        fields->known += guess_is_known_word((const char *)span->text, span->length);
    }
    return true;
}

/* Which columns hold numbers or dates only, below this record? Returns how many. */
static size_t find_typed_below(study_t *study, const structure_t *found, size_t record, bool *columns,
                               err_t *err) {
    static _Thread_local size_t values[SCHEMA_MOST_FIELDS], typed[SCHEMA_MOST_FIELDS];
    size_t count = 0;
    memset(values, 0, sizeof values);
    memset(typed, 0, sizeof typed);
    for (size_t i = record + 1; i < study->count && i <= record + BELOW; i++) {
        if (study->records[i].fields != found->columns)
            continue;
        if (!guess_split(study, found->way.delimiter, i, err))
            return 0;
        for (size_t j = 0; j < study->split.count && j < SCHEMA_MOST_FIELDS; j++) {
            const span_t *span = &study->split.spans[j];
            values[j] += span->length > 0;
            typed[j] += is_number_or_date(span);
        }
    }
    for (size_t j = 0; j < found->columns && j < SCHEMA_MOST_FIELDS; j++) {
        columns[j] = values[j] > 1 && values[j] == typed[j];
        count += columns[j];
    }
    return count;
}

/* Has the record no number or date where the columns below hold one, and a text in some of them? */
static bool is_rejected(study_t *study, const structure_t *found, size_t record, const bool *columns,
                        err_t *err) {
    bool text = false;
    if (study->records[record].fields != found->columns ||
        !guess_split(study, found->way.delimiter, record, err))
        return false;
    for (size_t j = 0; j < study->split.count && j < SCHEMA_MOST_FIELDS; j++) {
        const span_t *span = &study->split.spans[j];
        if (!columns[j] || !span->length || is_pair(span))
            continue;
        if (guess_is_typed(span->text, span->length))
            return false;
        text |= !guess_means_nothing((const char *)span->text, span->length);
    }
    return text;
}

/* The record of names after lines that have as many fields, as spreadsheets save titles ("Sales report,,"): the first one that
 * columns of numbers or dates below it reject. What stands before it has empty fields. 0: there is none. *unsure: nothing
 * says whether what stands before it is a record. */
static size_t find_names(study_t *study, const structure_t *found, bool *unsure, err_t *err) {
    static _Thread_local bool columns[SCHEMA_MOST_FIELDS];
    size_t names = 0, typed = 0, most = 0;
    bool titles = true;
    fields_t fields = {.filled = 0};
    *unsure = false;
    for (; names + 1 < study->count && names <= MOST_BEFORE; names++) {
        if (!look_at_fields(study, found, names, &fields, err) ||
            study->records[names].fields != found->columns || fields.typed > fields.filled / 2)
            return 0;
        typed = fields.last > 1 ? find_typed_below(study, found, names, columns, err) : 0;
        if (typed ? is_rejected(study, found, names, columns, err) : names && titles && fields.last > 1)
            break;
        if (fields.filled + 1 == found->columns && !fields.first) /* the corner of a table */
            return 0;
        most = fields.filled > most ? fields.filled : most;
        titles &= fields.last <= 1;
        if (!titles && names == MOST_NAMES)
            return 0;
    }
    const bool whole = fields.filled > 1 && fields.filled == fields.last && !fields.typed;
    if (!names || names > MOST_BEFORE || names + 1 >= study->count || !whole)
        return 0;
    /* several lines of names, or records that lack a value? */
    *unsure = most >= fields.filled ? typed > 1 : typed < 2 && !(typed && fields.known);
    return typed == 1 && most >= fields.filled ? 0 : names;
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
    bool unsure = false;
    const size_t names = first ? 0 : find_names(study, found, &unsure, err);
    found->unsure_names_at = unsure ? 1 + lines_before(study, study->records[names].at) : 0;
    first = names && !unsure ? names : first;
    found->named = names && !unsure;
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
