#include "format/guess/guess_inner.h"
#include "format/record/delimiter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOOK_AT = 256 * 1024, /* bytes, and */
    MOST_RECORDS = 500,   /* records */
    MOST_BEFORE = 30,     /* lines before the header */
    CELLS_OF = 100,       /* so many records are looked at cell by cell */
};

static const char delimiters[] = {',', ';', '\t', '|', ':'};
static const way_t quotings[] = {
    {.quote = '"'}, {.quote = '"', .backslash = true}, {.quote = 0}, {.quote = '\''}};
/* One is better than the next where nothing else tells. */
static const double quoting_weight[] = {1.0, 0.995, 0.99, 0.985};

/* One text, as one way cuts it. */
typedef struct {
    const uint8_t *text, *end;
    bool last;
    schema_t schema;
    split_t split;
    size_t count;
    struct {
        uint16_t fields; /* 0: a quote that is never closed */
        bool hash;       /* begins with # */
        size_t at, length;
    } records[MOST_RECORDS];
} study_t;

static bool cut_all(study_t *study, const way_t *way, err_t *err) {
    const uint8_t *at = study->text;
    guess_line_t line;
    guess_schema(&study->schema, way);
    study->count = 0;
    while (study->count < MOST_RECORDS && guess_next(&study->schema, &at, study->end, study->last, &line)) {
        if (!split_record(&study->split, &study->schema, way->delimiter, line.text, line.length))
            return err_memory(err, line.length);
        study->records[study->count].fields = study->split.open ? 0 : (uint16_t)study->split.count;
        study->records[study->count].hash = line.text[0] == '#';
        study->records[study->count].at = (size_t)(line.text - study->text);
        study->records[study->count++].length = line.length;
    }
    return true;
}

/* How many fields most records have; of equals, the larger number. Comments do not count, where there is anything else. */
static size_t usual_fields(const study_t *study) {
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

static size_t lines_before(const study_t *study, size_t offset) {
    size_t lines = 0;
    for (size_t i = 0; i < offset; i++)
        lines += study->text[i] == '\n';
    return lines;
}

static bool is_typed(const uint8_t *text, size_t length) {
    column_t column;
    guess_column_begin(&column);
    guess_column_add(&column, text, length);
    if (!column.values)
        return true; /* nothing, or a null value */
    return column.styles || column.iso || column.dates || column.objectid || column.uuid || column.pairs;
}

/* How much a field looks like one: 0 to 1. */
static double cleanness(const study_t *study, const span_t *span, const uint8_t *raw, size_t *odd) {
    const char quote = study->schema.quote;
    if (quote && span->raw_length >= 2 && span->length + 2 <= span->raw_length && raw[0] == (uint8_t)quote)
        return 1; /* in quotes that end where the field does */
    const bool begins = span->length && (raw[0] == '"' || raw[0] == '\'');
    if ((begins && raw[0] == (uint8_t)quote) ||
        (begins && span->length > 1 && raw[span->length - 1] == raw[0]))
        ++*odd;
    if (is_typed(span->text, span->length))
        return 1;
    for (size_t i = 0; i < sizeof delimiters - 1; i++) /* a colon is in many texts */
        if (memchr(span->text, delimiters[i], span->length))
            return 0.3;
    return 0.8;
}

/* Of the records with so many fields. */
static bool look_at_cells(study_t *study, const way_t *way, size_t fields, double *clean, double *odd,
                          err_t *err) {
    size_t cells = 0, looked = 0, odds = 0;
    *clean = 0;
    for (size_t i = 0; i < study->count && looked < CELLS_OF; i++) {
        const uint8_t *record = study->text + study->records[i].at;
        if (study->records[i].fields != fields)
            continue;
        looked++;
        if (!split_record(&study->split, &study->schema, way->delimiter, record, study->records[i].length))
            return err_memory(err, study->records[i].length);
        for (size_t j = 0; j < study->split.count && j < SCHEMA_MOST_FIELDS; j++, cells++)
            *clean += cleanness(study, &study->split.spans[j], record + study->split.spans[j].at, &odds);
    }
    *clean /= (double)(cells ? cells : 1);
    *odd = (double)odds / (double)(cells ? cells : 1);
    return true;
}

/* Times and addresses hold colons that divide nothing. */
static bool has_other_colons(const study_t *study) {
    size_t others = 0;
    for (size_t i = 0; i < study->count; i++) {
        const uint8_t *text = study->text + study->records[i].at;
        const size_t length = study->records[i].length;
        bool other = memmem(text, length, "://", 3) != NULL;
        for (size_t j = 1; j + 2 < length && !other; j++)
            other = text[j] == ':' && text[j - 1] >= '0' && text[j - 1] <= '9' && text[j + 1] >= '0' &&
                    text[j + 1] <= '5' && text[j + 2] >= '0' && text[j + 2] <= '9';
        others += other;
    }
    return others * 2 > study->count;
}

/* Its first record has a field less or more than the others: names without the one of the row's number, or a last
 * delimiter that only some lines have. */
static bool is_odd_header(study_t *study, structure_t *found, err_t *err) {
    const size_t fields = study->records[0].fields, most = found->columns;
    const uint8_t *record = study->text + study->records[0].at;
    const way_t *way = &found->way;
    if (most < 3 || study->records[0].hash || (fields + 1 != most && fields != most + 1))
        return false;
    if (!split_record(&study->split, &study->schema, way->delimiter, record, study->records[0].length)) {
        err_memory(err, study->records[0].length);
        return false;
    }
    for (size_t i = 0; i < fields; i++) {
        const span_t *span = &study->split.spans[i];
        const bool last = fields == most + 1 && i + 1 == fields;
        bool second; /* "n" may be a name */
        if (last ? span->length != 0
                 : is_typed(span->text, span->length) && !guess_pair(span->text, span->length, &second))
            return false;
    }
    if (fields + 1 != most)
        return true;
    found->row_names = false;
    for (size_t i = 1; i < study->count; i++) {
        const uint8_t *other = study->text + study->records[i].at;
        if (study->records[i].fields == most &&
            other[study->records[i].length - 1] != (uint8_t)way->delimiter)
            found->row_names = true;
    }
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

/* Which lines come before the records, and which are comments. Returns how many records fit. */
static size_t find_first(study_t *study, structure_t *found, size_t *of, err_t *err) {
    const hashes_t hashes = count_hashes(study, found->columns);
    bool comments = hashes.others > 0;
    size_t first = 0, fitting = 0, passed = 0;
    while (first < study->count &&
           (study->records[first].fields != found->columns || (comments && study->records[first].hash)))
        first++;
    if (first == study->count)
        first = 0;
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
    return before > MOST_BEFORE ? 0 : fitting;
}

/* How good this way is, in found->score; 0: it divides nothing. */
static bool weigh(study_t *study, const way_t *way, double weight, structure_t *found, err_t *err) {
    double clean = 0, odd = 0;
    size_t of;
    *found = (structure_t){.way = *way};
    if (!cut_all(study, way, err))
        return false;
    found->columns = usual_fields(study);
    if (found->columns < 2 || (way->delimiter == ':' && has_other_colons(study)))
        return true;
    *err = (err_t){.status = STATUS_OK};
    const size_t fitting = find_first(study, found, &of, err);
    if (err->status != STATUS_OK || !look_at_cells(study, way, found->columns, &clean, &odd, err))
        return false;
    const double share = (double)fitting / (double)(of ? of : 1);
    if (share < 0.6 || (fitting < 2 && found->skip))
        return true;
    found->score = share * share * (0.2 + 0.8 * clean) * (1 - 0.8 * odd) * weight *
                   (found->skip || found->odd_header ? 0.85 : 1) *
                   (way->delimiter != ':' ? 1
                    : found->columns > 2  ? 0.95
                                          : 0.7);
    return true;
}

/* One column: no delimiter is anywhere but in numbers, and in quotes. */
static bool weigh_single(study_t *study, structure_t *best, err_t *err) {
    static const char unused[] = {'\t', '|', ';', ','};
    for (size_t i = 0; i < sizeof unused; i++) {
        structure_t single = {.way = quotings[0], .columns = 1};
        double clean, odd;
        size_t of;
        if (memchr(study->text, unused[i], (size_t)(study->end - study->text)))
            continue;
        single.way.delimiter = unused[i];
        for (size_t j = 0; j < sizeof quotings / sizeof *quotings - 1; j++) {
            single.way.quote = quotings[j].quote;
            single.way.backslash = quotings[j].backslash;
            if (!cut_all(study, &single.way, err))
                return false;
            const size_t fitting = find_first(study, &single, &of, err);
            if (single.skip || !look_at_cells(study, &single.way, 1, &clean, &odd, err))
                continue;
            single.score =
                (double)fitting / (double)(of ? of : 1) * clean * (1 - 0.8 * odd) * 0.9 * quoting_weight[j];
            if (clean >= 0.7 && single.score > best->score)
                *best = single;
        }
        break;
    }
    return true;
}

/* Columns that are aligned by blanks: as many words in each line, most of them numbers, or several blanks in a row. */
static bool is_aligned(study_t *study, err_t *err) {
    const way_t way = {.delimiter = '\n'};
    size_t usual = 0, same = 0, words_in_all = 0, numbers = 0, wide = 0;
    if (!cut_all(study, &way, err))
        return false;
    for (size_t i = 0; i < study->count; i++) {
        const uint8_t *text = study->text + study->records[i].at;
        const size_t length = study->records[i].length;
        size_t words = 0;
        bool gap = false;
        for (size_t at = 0; at < length;) {
            size_t from = at;
            while (at < length && delimiter_is_blank(text[at]))
                at++;
            gap |= from && at < length && at - from > 1;
            from = at;
            while (at < length && !delimiter_is_blank(text[at]))
                at++;
            words += at > from;
            numbers += at > from && is_typed(text + from, at - from);
        }
        if (i < 2) /* the names above may be of several words */
            usual = words;
        same += i && words == usual;
        words_in_all += words;
        wide += gap;
    }
    return study->count > 1 && usual >= 3 && same * 20 >= (study->count - 1) * 19 &&
           (numbers * 2 >= words_in_all || wide * 2 > study->count);
}

/* Is every second field of all records empty, or the same sign? Then the delimiter is that long: *wide. */
static bool is_widened(study_t *study, const structure_t *found, char wide[4], err_t *err) {
    const char delimiter = found->way.delimiter;
    size_t looked = 0, middle = 0;
    uint8_t sign = 0;
    if (found->columns < 3 || found->columns % 2 == 0 || !cut_all(study, &found->way, err))
        return false;
    for (size_t i = 0; i < study->count; i++) {
        const uint8_t *record = study->text + study->records[i].at;
        if (study->records[i].fields != found->columns)
            continue;
        if (!split_record(&study->split, &study->schema, delimiter, record, study->records[i].length))
            return false;
        const span_t *spans = study->split.spans;
        if (!looked++ && (middle = spans[1].length) == 1)
            sign = spans[1].text[0];
        for (size_t j = 1; j < study->split.count; j += 2)
            if (spans[j].raw_length != middle || (middle && spans[j].text[0] != sign))
                return false;
    }
    if (looked < 2 || middle > 1 || (middle && !strchr("~^", sign)))
        return false;
    snprintf(wide, 4, middle ? "%c%c%c" : "%c%c", delimiter, middle ? (char)sign : delimiter, delimiter);
    return true;
}

/* The same with the delimiter as long as it is; nothing where that divides worse. */
static bool widen(study_t *study, structure_t *best, err_t *err) {
    structure_t found;
    way_t way = best->way;
    *err = (err_t){.status = STATUS_OK};
    if (!is_widened(study, best, way.wide, err))
        return err->status == STATUS_OK;
    if (!weigh(study, &way, 1, &found, err))
        return false;
    if (found.score > 0.25)
        *best = found;
    return true;
}

/* Is there no other delimiter, and do blanks divide all lines evenly? */
static bool weigh_blanks(study_t *study, structure_t *best, err_t *err) {
    structure_t found;
    const way_t way = {.delimiter = ' ', .quote = '"', .blanks = true};
    if ((best->score > 0.25 && best->columns > 1) || !is_aligned(study, err))
        return true;
    if (!weigh(study, &way, 1, &found, err))
        return false;
    if (found.score > 0.25)
        *best = found;
    return true;
}

enum { WIDEST_LINE = 1000, NAMED_PLACES = 20 };

/* Where columns begin that are cut by position: behind blanks that all lines have at the same places. Returns how many do. */
static size_t find_places(const study_t *study, size_t places[NAMED_PLACES]) {
    static _Thread_local bool used[WIDEST_LINE];
    size_t count = 0, widest = 0;
    memset(used, 0, sizeof used);
    for (size_t i = 0; i < study->count; i++)
        for (size_t j = 0; j < study->records[i].length && j < WIDEST_LINE; j++) {
            used[j] |= study->text[study->records[i].at + j] != ' ';
            widest = j + 1 > widest ? j + 1 : widest;
        }
    for (size_t j = 0; j < widest && count < NAMED_PLACES; j++)
        if (used[j] && (!j || !used[j - 1]))
            places[count++] = j + 1;
    return count;
}

/* Blanks within values: only a person knows the widths. */
static bool refuse_by_width(const study_t *study, const char *name, err_t *err) {
    enum { LEAST_LINES = 3 };
    size_t places[NAMED_PLACES];
    char shown[NAMED_PLACES * 8] = "";
    size_t gaps = 0;
    const size_t count = find_places(study, places);
    for (size_t i = 0; i < study->count; i++)
        gaps += memmem(study->text + study->records[i].at, study->records[i].length, "  ", 2) != NULL;
    if (study->count < LEAST_LINES || count < 2 || gaps * 2 < study->count)
        return true;
    for (size_t i = 0, used = 0; i < count; i++)
        used += (size_t)snprintf(shown + used, sizeof shown - used, i ? ", %zu" : "%zu", places[i]);
    return err_set(err, STATUS_INPUT,
                   "%.1000s: no delimiter divides its lines, but all have blanks at the same places: columns "
                   "of fixed width, "
                   "which seem to begin at bytes %s; give a --format of fixed width, such as 'record: "
                   "{fixed: N}' with N the "
                   "bytes of a line, and fields such as {name: a, width: %zu, type: trimmed}",
                   name, shown, places[1] - 1);
}

static bool refuse_undivided(const char *name, err_t *err) {
    return err_set(err, STATUS_INPUT,
                   "%.1000s: no delimiter (of , ; tab | : || and blanks) divides its lines evenly, so its "
                   "format cannot be guessed; "
                   "give --format",
                   name);
}

static bool refuse_structure(study_t *study, const structure_t *best, const char *name, err_t *err) {
    if ((best->score <= 0.25 || best->columns == 1) && !refuse_by_width(study, name, err))
        return false;
    if (best->score <= 0.25)
        return refuse_undivided(name, err);
    if (best->columns > SCHEMA_MOST_FIELDS)
        return err_set(err, STATUS_INPUT, "%.1000s: has %zu columns; a format has %d fields at most", name,
                       best->columns, SCHEMA_MOST_FIELDS);
    if (best->skip > SCHEMA_MOST_SKIPPED)
        return err_set(err, STATUS_INPUT,
                       "%.1000s: %zu lines stand before its header; at most %d can be skipped", name,
                       best->skip, SCHEMA_MOST_SKIPPED);
    if (best->unsure_comment)
        return err_set(err, STATUS_INPUT,
                       "%.1000s: of its lines that begin with '#', some have as many fields as its records, "
                       "and some have "
                       "not: all may be comments, or none; give a --format with comment: \"#\", or without",
                       name);
    return true;
}

static void name_delimiter(char out[8], char delimiter) {
    if (delimiter == '\t')
        snprintf(out, 8, "tab");
    else
        snprintf(out, 8, "'%c'", delimiter);
}

static bool refuse_two(const structure_t *one, const structure_t *other, const char *name, err_t *err) {
    char first[8], second[8];
    name_delimiter(first, one->way.delimiter);
    name_delimiter(second, other->way.delimiter);
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: %s divides its lines into %zu columns, and %s into %zu: both are equally good; give "
        "--format",
        name, first, one->columns, second, other->columns);
}

static bool choose(study_t *study, const char *name, structure_t *best, err_t *err) {
    structure_t second = {.score = 0};
    *best = (structure_t){.score = 0};
    for (size_t i = 0; i < sizeof delimiters; i++) {
        structure_t of_this = {.score = 0};
        for (size_t j = 0; j < sizeof quotings / sizeof *quotings; j++) {
            structure_t found;
            way_t way = quotings[j];
            way.delimiter = delimiters[i];
            if (!weigh(study, &way, quoting_weight[j], &found, err))
                return false;
            if (found.score > of_this.score)
                of_this = found;
        }
        if (of_this.score > best->score) {
            second = *best;
            *best = of_this;
        } else if (of_this.score > second.score) {
            second = of_this;
        }
    }
    if (!weigh_single(study, best, err))
        return false;
    if (best->columns > 1 && second.score > 0.98 * best->score && best->score > 0.25)
        return refuse_two(best, &second, name, err);
    if (!widen(study, best, err) || !weigh_blanks(study, best, err))
        return false;
    return refuse_structure(study, best, name, err);
}

bool guess_find_structure(structure_t *structure, const char *name, const uint8_t *text, size_t length,
                          bool whole, err_t *err) {
    study_t *study = calloc(1, sizeof *study);
    if (!study)
        return err_memory(err, sizeof *study);
    study->text = text;
    study->last = whole && length <= LOOK_AT;
    study->end = text + (length < LOOK_AT ? length : LOOK_AT);
    bool ok = choose(study, name, structure, err);
    split_free(&study->split);
    free(study);
    return ok;
}
