#include "format/guess/structure/guess_structure.h"
#include "base/chars.h"
#include "format/cut/delimiter.h"
#include "format/guess/structure/guess_study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    LOOK_AT = 256 * 1024, /* bytes */
    CELLS_OF = 100,       /* so many records are looked at cell by cell */
};

static const char delimiters[] = {',', ';', '\t', '|', '\x01', ':'};
static const way_t quotings[] = {
    {.quote = '"'}, {.quote = '"', .backslash = true}, {.quote = 0}, {.quote = '\''}};
/* One is better than the next where nothing else tells. */
static const double quoting_weight[] = {1.0, 0.995, 0.99, 0.985};

/* How much a field looks like one: 0 to 1. */
static double cleanness(const study_t *study, const span_t *span, const uint8_t *raw, size_t *odd) {
    const char quote = study->schema.quote;
    if (quote && span->raw_length >= 2 && span->length + 2 <= span->raw_length && raw[0] == (uint8_t)quote)
        return 1; /* in quotes that end where the field does */
    const bool begins = span->length && (raw[0] == '"' || raw[0] == '\'');
    if ((begins && raw[0] == (uint8_t)quote) ||
        (begins && span->length > 1 && raw[span->length - 1] == raw[0]))
        ++*odd;
    if (guess_is_typed(span->text, span->length))
        return 1;
    for (size_t i = 0; i < sizeof delimiters - 1; i++) /* a colon is in many texts */
        if (memchr(span->text, delimiters[i], span->length))
            return 0.3;
    return 0.8;
}

static bool may_divide(uint8_t byte) {
    return delimiter_is_blank(byte) || memchr(delimiters, byte, sizeof delimiters);
}

/* Has it a quote that opens a text, at its begin or behind what divides, and is not closed? */
static bool opens_text(const span_t *span, char quote) {
    const uint8_t *last = span->length ? memrchr(span->text, '"', span->length) : NULL;
    size_t quotes = 0, blanks = 0;
    for (size_t i = 0; i < span->length; i++)
        quotes += span->text[i] == '"';
    while (quote && blanks < span->length && delimiter_is_blank(span->text[blanks]))
        blanks++; /* a quote behind them is told: see guess_is_behind_blank */
    return quotes % 2 && (last == span->text || may_divide(last[-1])) &&
           (!quote || last > span->text + blanks) &&
           !(last + 1 < span->text + span->length && may_divide(last[1]));
}

/* Is its first quote one that closes a text? */
static bool closes_text(const span_t *span) {
    const uint8_t *first = span->length ? memchr(span->text, '"', span->length) : NULL;
    return first && first > span->text && (first + 1 == span->text + span->length || may_divide(first[1]));
}

/* "11:31:05":Kay: behind a text that is enclosed another delimiter follows. */
static bool has_other_behind(const span_t *span) {
    const uint8_t *second =
        span->length && *span->text == '"' ? memchr(span->text + 1, '"', span->length - 1) : NULL;
    return second && second + 1 < span->text + span->length &&
           memchr(delimiters, second[1], sizeof delimiters);
}

/* A delimiter within a text that is enclosed, but not as this way encloses texts, divides it. */
static bool tears_enclosed(const split_t *split, const way_t *way) {
    bool open = false;
    for (size_t i = 0; i < split->count && way->quote != '\''; i++) {
        const span_t *span = &split->spans[i];
        const bool enclosed = span->raw_length != span->length;
        if ((open && !enclosed && closes_text(span)) || (!way->quote && has_other_behind(span)))
            return true;
        if (!open || enclosed || (span->length && memchr(span->text, '"', span->length)))
            open = !enclosed && opens_text(span, way->quote);
    }
    return false;
}

/* Of the records with as many fields as it has columns. */
static bool look_at_cells(study_t *study, structure_t *found, double *clean, double *odd, err_t *err) {
    static _Thread_local bool has[SCHEMA_MOST_FIELDS], other[SCHEMA_MOST_FIELDS];
    const way_t *way = &found->way;
    size_t cells = 0, looked = 0, odds = 0;
    memset(has, 0, sizeof has);
    memset(other, 0, sizeof other);
    found->typed = 0;
    *clean = 0;
    for (size_t i = 0; i < study->count && looked < CELLS_OF; i++) {
        const uint8_t *record = study->text + study->records[i].at;
        if (study->records[i].fields != found->columns)
            continue;
        looked++;
        if (!guess_split(study, way->delimiter, i, err))
            return false;
        found->tears |= tears_enclosed(&study->split, way);
        bool encloses = false;
        for (size_t j = 0; j < study->split.count && j < SCHEMA_MOST_FIELDS; j++, cells++) {
            const span_t *span = &study->split.spans[j];
            *clean += cleanness(study, span, record + span->at, &odds);
            encloses |= span->length && span->raw_length != span->length;
            if (span->length && (i > 0 || study->count == 1)) { /* the first ones may be names */
                has[j] = true;
                other[j] |= !guess_is_typed(span->text, span->length);
            }
            if (!found->behind_blank.length && guess_is_behind_blank(span, way->quote))
                found->behind_blank = *span;
            found->two_quotes |= way->quote == '\'' && span->length > 1 && span->text[0] == '"' &&
                                 span->text[span->length - 1] == '"';
        }
        found->enclosing += encloses;
    }
    for (size_t j = 0; j < found->columns && j < SCHEMA_MOST_FIELDS; j++)
        found->typed += has[j] && !other[j];
    *clean /= (double)(cells ? cells : 1);
    *odd = (double)odds / (double)(cells ? cells : 1);
    return true;
}

/* An apostrophe may stand around a word, too. It is the quote if a value in it needs quotes, or if most texts of a column
 * are in it, or most of its other values. *are: so it is. */
static bool find_apostrophes(study_t *study, const structure_t *found, bool *are, err_t *err) {
    static _Thread_local uint16_t values[SCHEMA_MOST_FIELDS][2], quoted[SCHEMA_MOST_FIELDS][2];
    const char quote = found->way.quote;
    memset(values, 0, sizeof values);
    memset(quoted, 0, sizeof quoted);
    *are = false;
    for (size_t i = 0; i < study->count; i++) {
        const uint8_t *record = study->text + study->records[i].at;
        if (study->records[i].fields != found->columns)
            continue;
        if (!guess_split(study, found->way.delimiter, i, err))
            return false;
        for (size_t j = 0; j < study->split.count && j < SCHEMA_MOST_FIELDS; j++) {
            const span_t *span = &study->split.spans[j];
            const bool in_quotes = span->raw_length >= span->length + 2 && record[span->at] == (uint8_t)quote;
            if (in_quotes &&
                (memchr(span->text, found->way.delimiter, span->length) ||
                 memchr(span->text, '\n', span->length) || memchr(span->text, quote, span->length))) {
                *are = true;
                return true;
            }
            if (!span->length || (i == 0 && study->count > 1)) /* names are often without */
                continue;
            const bool typed = guess_is_typed(span->text, span->length);
            values[j][typed]++;
            quoted[j][typed] += in_quotes;
        }
    }
    for (size_t j = 0; j < found->columns && j < SCHEMA_MOST_FIELDS; j++)
        *are |= quoted[j][0] * 2 > values[j][0] || quoted[j][1] * 2 > values[j][1];
    return true;
}

bool guess_tells_more(const structure_t *lines, const structure_t *quoted) {
    return lines->typed && lines->typed >= quoted->typed;
}

/* Do most of the records with as many fields as it has columns go over several lines, in quotes? */
static bool are_of_lines(const study_t *study, const structure_t *found) {
    size_t records = 0, of_lines = 0;
    for (size_t i = 0; found->way.quote && i < study->count; i++)
        if (study->records[i].fields == found->columns) {
            records++;
            of_lines += memchr(study->text + study->records[i].at, '\n', study->records[i].length) != NULL;
        }
    return of_lines * 2 > records;
}

/* How good this way is, in found->score; 0: it divides nothing. */
static bool weigh(study_t *study, const way_t *way, double weight, structure_t *found, err_t *err) {
    double clean = 0, odd = 0;
    size_t of;
    *found = (structure_t){.way = *way};
    if (!guess_cut_all(study, way, err))
        return false;
    found->columns = guess_usual_fields(study);
    if (found->columns < 2 ||
        (way->delimiter == ':' && !study->delimiter && guess_are_colons_of_texts(study, way)))
        return true;
    *err = (err_t){.status = STATUS_OK};
    const size_t fitting = guess_find_first(study, found, &of, err);
    if (err->status != STATUS_OK || !look_at_cells(study, found, &clean, &odd, err))
        return false;
    bool are = true;
    if (way->quote == '\'' && !study->quote && !find_apostrophes(study, found, &are, err))
        return false;
    const double share = (double)fitting / (double)(of ? of : 1);
    if (!are || (found->tears && !study->quote) || share < 0.6 || (fitting < 2 && found->skip))
        return true;
    found->fitting = fitting;
    found->even = share == 1;
    found->sound = found->even && odd == 0;
    found->of_lines = are_of_lines(study, found);
    found->score = share * share * (0.2 + 0.8 * clean) * (1 - 0.8 * odd) * weight *
                   (found->titles || found->odd_header ? 0.85 : 1) *
                   (way->delimiter != ':' ? 1
                    : found->columns > 2  ? 0.95
                                          : 0.7);
    return true;
}

/* Does the first line that holds it divide, which is what divides most others, and not within a number or quotes? Then it
 * is no mark of numbers there, either. What stands before may be a title. */
static bool is_divided(study_t *study, const structure_t *best, bool *divided, err_t *err) {
    const way_t way = {.delimiter = best->way.delimiter, .quote = '"'};
    *divided = best->columns > 1 && guess_way_sign(&best->way) == GUESS_TWO_COLONS;
    if (best->columns < 2 || way.delimiter == ':')
        return true;
    if (!guess_cut_all(study, &way, err))
        return false;
    for (size_t i = 0; i < study->count && !*divided; i++) {
        const uint8_t *text = study->text + study->records[i].at;
        const size_t length = study->records[i].length;
        if (study->records[i].fields == 1)
            continue;
        if (guess_is_typed(text, length))
            break;
        *divided = true;
    }
    return true;
}

/* Is it as a person says? */
static bool may_enclose(const study_t *study, char quote) {
    return !study->quote || *study->quote == quote;
}

/* One column: no delimiter is anywhere but in numbers, and in quotes. */
static bool weigh_single(study_t *study, structure_t *best, err_t *err) {
    static const char unused[] = {'\t', '|', ';', ',', '\x01', '\x02'};
    const bool said = study->delimiter == '\n';
    bool divided = false;
    if (!said && !is_divided(study, best, &divided, err))
        return false;
    if (divided)
        return true;
    for (size_t i = 0; i < sizeof unused; i++) {
        structure_t single = {.way = quotings[0], .columns = 1};
        double clean = 0, odd = 0;
        size_t of;
        if (memchr(study->text, unused[i], (size_t)(study->end - study->text)))
            continue;
        single.way.delimiter = unused[i];
        for (size_t j = 0; j < sizeof quotings / sizeof *quotings; j++) {
            /* an apostrophe stands around a word, too */
            if (!may_enclose(study, quotings[j].quote) || (!study->quote && quotings[j].quote == '\''))
                continue;
            single.way.quote = quotings[j].quote;
            single.way.backslash = quotings[j].backslash;
            if (!guess_cut_all(study, &single.way, err))
                return false;
            const size_t fitting = guess_find_first(study, &single, &of, err);
            if (single.skip || !look_at_cells(study, &single, &clean, &odd, err))
                continue;
            single.score =
                (double)fitting / (double)(of ? of : 1) * clean * (1 - 0.8 * odd) * 0.9 * quoting_weight[j];
            if ((said || clean >= 0.7) && single.score > best->score)
                *best = single;
        }
        break;
    }
    best->score = said && best->columns ? 1 : best->score;
    return true;
}

/* The same with the delimiter as long as it is; nothing where that divides worse. */
static bool widen(study_t *study, structure_t *best, err_t *err) {
    structure_t found;
    way_t way = best->way;
    *err = (err_t){.status = STATUS_OK};
    if (way.wide[0] || !guess_is_widened(study, best, way.wide, err))
        return err->status == STATUS_OK;
    if (!weigh(study, &way, 1, &found, err))
        return false;
    if (found.score > 0.25)
        *best = found;
    return true;
}

static bool weigh_as_blanks(study_t *study, structure_t *best, err_t *err) {
    structure_t of_blanks = {.score = 0.25};
    way_t way = {.delimiter = ' ', .quote = study->quote ? *study->quote : '"', .blanks = true};
    for (int backslash = 0; backslash <= (way.quote == '"'); backslash++) {
        structure_t found;
        way.backslash = backslash;
        if (!weigh(study, &way, quoting_weight[backslash], &found, err))
            return false;
        if (found.score > of_blanks.score)
            *best = of_blanks = found;
    }
    return true;
}

/* Is there no other delimiter, and do blanks divide all lines evenly? */
static bool weigh_blanks(study_t *study, structure_t *best, err_t *err) {
    return (best->score > 0.25 && best->columns > 1) ||
           !guess_is_aligned(study, &best->unsure_blanks, &best->even_words, err) ||
           weigh_as_blanks(study, best, err);
}

/* Takes a way if it is better than the best one so far. */
static bool try_way(study_t *study, const way_t *way, double weight, structure_t *best, err_t *err) {
    structure_t found;
    if (!weigh(study, way, weight, &found, err))
        return false;
    /* a text of many lines may have cleaner ones than the records that hold it */
    const bool tears = !way->quote && ((best->sound && found.columns == best->columns) ||
                                       (best->of_lines && !guess_tells_more(&found, best)));
    if (found.score > best->score && !tears)
        *best = found;
    return true;
}

/* Two colons, where one alone divides nothing since the fields hold others, as links and times do. */
static bool try_two_colons(study_t *study, way_t way, double weight, structure_t *best, err_t *err) {
    const bool said = study->delimiter == GUESS_TWO_COLONS;
    structure_t found = *best;
    bool are = said;
    memcpy(way.wide, "::", 3);
    if (!try_way(study, &way, weight, &found, err))
        return false;
    if (!said && found.score > best->score && !guess_are_two_colons(study, &found, &are, err))
        return false;
    *best = are ? found : *best;
    return true;
}

/* The best way with this delimiter, alone and with a blank behind it, where quotes stand behind that; and of colons two. */
static bool weigh_quotings(study_t *study, char delimiter, structure_t *best, err_t *err) {
    const size_t length = (size_t)(study->end - study->text);
    const bool two = study->delimiter == GUESS_TWO_COLONS;
    for (size_t j = 0; j < sizeof quotings / sizeof *quotings; j++) {
        const double weight = quoting_weight[j];
        way_t way = quotings[j];
        if (!may_enclose(study, way.quote))
            continue;
        way.delimiter = delimiter;
        if (!two && !try_way(study, &way, weight, best, err))
            return false;
        const char before[] = {delimiter, ' ', way.quote};
        if (!two && way.quote && memmem(study->text, length, before, 3)) {
            way_t wide = way;
            memcpy(wide.wide, before, 2);
            if (!try_way(study, &wide, weight, best, err))
                return false;
        }
        if (delimiter == ':' && (best->score == 0 || guess_way_sign(&best->way) == GUESS_TWO_COLONS) &&
            memmem(study->text, length, "::", 2) && !try_two_colons(study, way, weight, best, err))
            return false;
    }
    return true;
}

/* Does it divide the same lines as the best one, or more? A colon stands in many texts that something else divides, if not so
 * often; or as often, and texts in quotes do not begin behind it that are none to the other one, as in 75,198:"Hal". */
static bool is_rival(const structure_t *best, const structure_t *other) {
    const bool fewer = other->columns < best->columns ||
                       (other->columns == best->columns && other->enclosing <= best->enclosing);
    return other->columns > 1 && other->score > 0 && !(other->way.delimiter == ':' && fewer) &&
           other->fitting >= best->fitting && other->titles <= best->titles && !other->odd_header;
}

/* Of two that divide the same lines one must be surely right. */
static bool choose_of_rivals(study_t *study, const structure_t *found, const char *name, structure_t *best,
                             err_t *err) {
    for (size_t i = 0; i < sizeof delimiters; i++) {
        int better;
        *err = (err_t){.status = STATUS_OK};
        if (found[i].way.delimiter == best->way.delimiter)
            continue;
        if (!is_rival(best, &found[i])) {
            if (found[i].score > 0.98 * best->score && best->score > 0.25)
                return guess_refuse_two(best, &found[i], name, err);
            continue;
        }
        if (!guess_compare_rivals(study, best, &found[i], &better, err))
            return false;
        if (found[i].way.delimiter == ':' && !guess_compare_colons(study, &found[i], &better, err))
            return false;
        if (!better)
            return guess_refuse_two(best, &found[i], name, err);
        *best = better > 0 ? found[i] : *best;
    }
    return true;
}

/* told: the delimiter; 0: nothing tells it. */
static bool choose_one(study_t *study, char told, const char *name, structure_t *best, err_t *err) {
    structure_t found[sizeof delimiters] = {{.score = 0}};
    for (size_t i = 0; i < sizeof delimiters; i++) {
        if (told && told != delimiters[i])
            continue;
        if (!weigh_quotings(study, delimiters[i], &found[i], err))
            return false;
        if (found[i].score > best->score)
            *best = found[i];
    }
    if (!told && !weigh_single(study, best, err))
        return false;
    return (best->columns < 2 || choose_of_rivals(study, found, name, best, err)) &&
           widen(study, best, err) && (told || weigh_blanks(study, best, err));
}

static bool choose(study_t *study, char told, const char *name, structure_t *best, err_t *err) {
    *best = (structure_t){.score = 0};
    if (!guess_check_hashes(study, name, err) || (!told && !guess_check_fields(study, name, err)))
        return false;
    told = told == GUESS_TWO_COLONS ? ':' : told;
    const bool ok = told == ' '    ? weigh_as_blanks(study, best, err)
                    : told == '\n' ? weigh_single(study, best, err)
                                   : choose_one(study, told, name, best, err);
    return ok && guess_refuse_structure(study, best, name, err);
}

/* A spreadsheet's first line that is no record: it tells the delimiter. Returns its length with its line end; 0: it is none. */
static size_t find_told(const uint8_t *text, size_t length, char *told) {
    static const char *const forms[] = {"sep=%", "\"sep=%\""};
    const uint8_t *feed = memchr(text, '\n', length);
    size_t line = feed ? (size_t)(feed - text) : 0;
    line -= line && text[line - 1] == '\r';
    for (size_t i = 0; i < 2; i++) {
        const char *form = forms[i], *sign = strchr(form, '%');
        const size_t at = (size_t)(sign - form);
        if (line != strlen(form) || strncasecmp((const char *)text, form, at) != 0 ||
            memcmp(text + at + 1, sign + 1, line - at - 1) != 0 ||
            !memchr(delimiters, text[at], sizeof delimiters))
            continue;
        *told = (char)text[at];
        return (size_t)(feed - text) + 1;
    }
    return 0;
}

/* Where line `number` begins; NULL: there is none. */
static const uint8_t *find_line(const uint8_t *text, size_t length, uint32_t number) {
    const uint8_t *end = text + length;
    for (uint32_t line = 1; text && line < number; line++)
        text = (text = memchr(text, '\n', (size_t)(end - text))) ? text + 1 : NULL;
    return text && text < end ? text : NULL;
}

/* Does its first line end within what is looked at, of a text of which more follows? */
static bool ends_line(const study_t *study, const char *name, err_t *err) {
    const size_t length = (size_t)(study->end - study->text);
    return length < LOOK_AT || memchr(study->text, '\n', length) ||
           err_set(
               err, STATUS_INPUT,
               "%.1000s: its first line is longer than the %d bytes (256 KiB) in which a guess looks for the "
               "columns; give --format, or, if its records end with something else than a line end, make "
               "lines of them first",
               name, LOOK_AT);
}

bool guess_find_structure(structure_t *structure, const char *name, const uint8_t *text, size_t length,
                          bool whole, const structure_said_t *said, err_t *err) {
    char told = 0;
    const size_t told_length = find_told(text, length, &told);
    const uint8_t *header = find_line(text, length, said->header_line), *first = text + told_length;
    if (said->header_line > 1 + (told_length > 0)) {
        if (!header)
            return err_set(err, STATUS_INPUT,
                           "%.1000s: --with header=%u: there is no such line in its first %zu bytes", name,
                           said->header_line, length);
        if (said->header_line > SCHEMA_MOST_SKIPPED + 1)
            return err_set(err, STATUS_INPUT,
                           "%.1000s: --with header=%u: at most %d lines can stand before it; take them out "
                           "(sed 1,%ud FILE > NEW), and give that",
                           name, said->header_line, SCHEMA_MOST_SKIPPED, said->header_line - 1);
        first = header;
    }
    study_t *study = calloc(1, sizeof *study);
    if (!study)
        return err_memory(err, sizeof *study);
    const size_t before = (size_t)(first - text);
    study->text = first;
    study->quote = said->quote;
    study->delimiter = said->delimiter ? said->delimiter : told;
    study->named = said->header_line > 0;
    study->lines_before = lines_count(text, before);
    study->last = whole && length - before <= LOOK_AT;
    study->end = study->last || length - before < LOOK_AT ? text + length : first + LOOK_AT;
    const bool ok =
        (study->last || ends_line(study, name, err)) && choose(study, study->delimiter, name, structure, err);
    structure->told = study->lines_before;
    structure->skip += structure->told;
    structure->unsure_names_at += structure->unsure_names_at ? structure->told : 0;
    structure->first += before;
    split_free(&study->split);
    free(study);
    return ok;
}
