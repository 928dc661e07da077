/* Which sign divides the records of a text into fields, and which quote encloses them.
 *
 * Each delimiter with each way of quoting is weighed by one measure: how many records have as many fields, and how many of
 * these look like fields (weigh). The best one has to explain its rivals: another delimiter that divides as many records
 * may stand only in quotes, in numbers, dates and times, or in front of blanks, as in a text (explains). Colons and blanks
 * stand in many texts, and so divide only where the user says so; where nothing else divides, they are a question. */
#include "format/guess/structure/guess_structure.h"
#include "base/chars.h"
#include "format/cut/delimiter.h"
#include "format/guess/column/guess_name.h"
#include "format/guess/structure/guess_study.h"
#include "format/guess/structure/guess_text.h"
#include "format/values/blanks.h"
#include "format/values/digits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    LOOK_AT = 256 * 1024, /* bytes */
    CELLS_OF = 100,       /* as many records are looked at cell by cell */
    FEW_FIELDS = 3,       /* words with commas between them may be one text if there are no more */
};
static const double least_score = 0.25;

/* ---- their names ---- */

const char *const guess_delimiter_words[] = {",", ";", "|", ":", "::", "tab", "\\x01", "blanks", "none"};
const char guess_delimiter_signs[GUESS_DELIMITERS] = {
    ',', ';', '|', ':', GUESS_TWO_COLONS, '\t', '\x01', ' ', '\n'};
_Static_assert(sizeof guess_delimiter_words / sizeof *guess_delimiter_words == GUESS_DELIMITERS,
               "each has a sign");

const char *guess_delimiter_word(char delimiter) {
    const char *sign = memchr(guess_delimiter_signs, delimiter, GUESS_DELIMITERS);
    return sign ? guess_delimiter_words[sign - guess_delimiter_signs] : NULL;
}

/* As a shell takes it after --with delimiter=, and a sentence without. */
static const char *name_delimiter(char out[8], char delimiter) {
    const char *word = guess_delimiter_word(delimiter), *quote = *word >= 'a' && *word <= 'z' ? "" : "'";
    snprintf(out, 8, "%s%s%s", quote, word, quote);
    return out;
}

/* ---- the measure ---- */

static const char delimiters[] = {',', ';', '\t', '|', '\x01'};
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
    for (size_t i = 0; i < sizeof delimiters; i++)
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

/* Without the blanks around it. */
static bool is_typed(const span_t *span) {
    const uint8_t *text = span->text;
    size_t length = span->length;
    blanks_trim(&text, &length);
    return guess_is_typed(text, length);
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
                other[j] |= !is_typed(span);
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
    if (found->columns < 2)
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
                   (found->titles || found->odd_header ? 0.85 : 1);
    return true;
}

/* Does the first line that holds it divide, which is what divides most others, and not within a number or quotes? Then it
 * is no mark of numbers there, either. What stands before may be a title. */
static bool is_divided(study_t *study, const structure_t *best, bool *divided, err_t *err) {
    const way_t way = {.delimiter = best->way.delimiter, .quote = '"'};
    *divided = false;
    if (best->columns < 2)
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

/* The delimiter is longer where every second field is empty, or the same sign: || and |~|. */
static bool widen(study_t *study, structure_t *best, err_t *err) {
    const char delimiter = best->way.delimiter;
    size_t middle = 0, looked = 0;
    uint8_t sign = 0;
    structure_t found;
    way_t way = best->way;
    /* a sheet may have an empty column in its middle */
    const size_t least = delimiter == ',' || delimiter == '\t' ? 5 : 3;
    if (way.wide[0] || way.blanks || best->columns < least || best->columns % 2 == 0)
        return true;
    if (!guess_cut_all(study, &way, err))
        return false;
    for (size_t i = 0; i < study->count; i++) {
        if (study->records[i].fields != best->columns)
            continue;
        if (!guess_split(study, delimiter, i, err))
            return false;
        const span_t *spans = study->split.spans;
        if (!looked++ && (middle = spans[1].length) == 1)
            sign = spans[1].text[0];
        for (size_t j = 1; j < study->split.count; j += 2)
            if (spans[j].raw_length != middle || (middle && spans[j].text[0] != sign))
                return true;
    }
    if (looked < 2 || middle > 1 || (middle && !strchr("~^", sign)))
        return true;
    snprintf(way.wide, sizeof way.wide, middle ? "%c%c%c" : "%c%c", delimiter,
             middle ? (char)sign : delimiter, delimiter);
    if (!weigh(study, &way, 1, &found, err))
        return false;
    *best = found.score > least_score ? found : *best;
    return true;
}

/* The best way with this delimiter: alone, and with a blank after it where quotes stand after that. */
static bool weigh_delimiter(study_t *study, char sign, structure_t *best, err_t *err) {
    const size_t length = (size_t)(study->end - study->text);
    for (size_t j = 0; j < sizeof quotings / sizeof *quotings; j++) {
        way_t way = quotings[j];
        if (!may_enclose(study, way.quote))
            continue;
        way.delimiter = sign == GUESS_TWO_COLONS ? ':' : sign;
        way.blanks = sign == ' ';
        if (sign == GUESS_TWO_COLONS)
            memcpy(way.wide, "::", 3);
        if (!try_way(study, &way, quoting_weight[j], best, err))
            return false;
        const char before[] = {sign, ' ', way.quote};
        if (!memchr(delimiters, sign, sizeof delimiters) || !way.quote ||
            !memmem(study->text, length, before, 3))
            continue;
        memcpy(way.wide, before, 2);
        if (!try_way(study, &way, quoting_weight[j], best, err))
            return false;
    }
    return true;
}

/* ---- rivals ---- */

static bool refuse_two(const structure_t *one, const structure_t *other, const char *name, err_t *err) {
    char first[8], second[8];
    name_delimiter(first, guess_way_sign(&one->way));
    name_delimiter(second, guess_way_sign(&other->way));
    return err_set(err, STATUS_INPUT,
                   "%.1000s: %s divides its lines into %zu columns, and %s into %zu: either may be right; "
                   "say which by --with delimiter=%s or --with delimiter=%s",
                   name, first, one->columns, second, other->columns, first, second);
}

char guess_way_sign(const way_t *way) {
    return way->blanks ? ' ' : strcmp(way->wide, "::") == 0 ? GUESS_TWO_COLONS : way->delimiter;
}

/* https://x, but not x::y */
static bool begins_link(const uint8_t *text, size_t length) {
    size_t at = 0;
    while (at < length && ((text[at] | 0x20) >= 'a' && (text[at] | 0x20) <= 'z'))
        at++;
    return at && length - at > 3 && memcmp(text + at, "://", 3) == 0;
}

/* A link or a path of Windows, whose first colon is its only one. */
static bool is_link(const uint8_t *text, size_t length) {
    const uint8_t *colon = memchr(text, ':', length);
    const bool path = colon == text + 1 && length > 2 && (text[2] == '\\' || text[2] == '/');
    return (path || begins_link(text, length)) &&
           !memchr(colon + 1, ':', (size_t)(text + length - colon - 1));
}

/* 12:30, 12:30:00.5, fe80::1, 00:1a:2b: of digits as hex has them, and colons. */
static bool is_time(const uint8_t *text, size_t length) {
    bool digit = false;
    for (size_t i = 0; i < length; i++) {
        digit |= digits_is_one(text[i]);
        if (!digits_is_one(text[i]) && text[i] != ':' && text[i] != '.' &&
            ((text[i] | 0x20) < 'a' || (text[i] | 0x20) > 'f'))
            return false;
    }
    return digit;
}

/* Is the sign a part of the value? */
static bool is_explained(const span_t *span, char sign) {
    return span->raw_length > span->length || !span->length || !memchr(span->text, sign, span->length) ||
           is_typed(span) ||
           (sign == ':' && (is_link(span->text, span->length) || is_time(span->text, span->length)));
}

/* Is a blank after each such sign, as in a text? */
static bool is_prose(const span_t *span, char sign) {
    for (size_t i = 0; i < span->length; i++)
        if (span->text[i] == (uint8_t)sign && (i + 1 == span->length || span->text[i + 1] != ' '))
            return false;
    return true;
}

/* Does each of the fields that hold the sign hold it as a part of its value? *in_text: or, if not, of a text. */
static bool explains(study_t *study, const structure_t *found, char sign, bool *is, bool *in_text,
                     err_t *err) {
    *is = *in_text = true;
    if (!guess_cut_all(study, &found->way, err))
        return false;
    for (size_t i = 0, looked = 0; i < study->count && looked < CELLS_OF; i++) {
        if (study->records[i].fields != found->columns)
            continue;
        looked++;
        if (!guess_split(study, found->way.delimiter, i, err))
            return false;
        for (size_t j = 0; j < study->split.count; j++) {
            const span_t *span = &study->split.spans[j];
            const bool part = is_explained(span, sign);
            *is &= part;
            *in_text &= part || is_prose(span, sign);
        }
    }
    return true;
}

/* Does it divide as many lines as the best one? */
static bool is_rival(const structure_t *best, const structure_t *other) {
    return other->columns > 1 && other->score > 0 && other->fitting >= best->fitting &&
           other->titles <= best->titles && !other->odd_header;
}

/* Of two that divide the same lines one must explain the other. better: -1 the one, 1 the other, 0 nothing tells. */
static bool compare(study_t *study, const structure_t *one, const structure_t *other, int *better,
                    err_t *err) {
    bool is[2], in_text[2];
    if (!explains(study, one, guess_way_sign(&other->way) == GUESS_TWO_COLONS ? ':' : other->way.delimiter,
                  &is[0], &in_text[0], err) ||
        !explains(study, other, one->way.delimiter, &is[1], &in_text[1], err))
        return false;
    /* a sign of a text makes no columns of numbers or dates */
    is[0] |= in_text[0] && !other->typed;
    is[1] |= in_text[1] && !one->typed;
    *better = is[0] == is[1] ? 0 : is[0] ? -1 : 1;
    return true;
}

static bool choose_of_rivals(study_t *study, const structure_t *found, size_t count, const char *name,
                             structure_t *best, err_t *err) {
    for (size_t i = 0; i < count; i++) {
        const bool doubtful = !memchr(delimiters, guess_way_sign(&found[i].way), sizeof delimiters);
        int better;
        if (found[i].way.delimiter == best->way.delimiter)
            continue;
        if (!is_rival(best, &found[i]) || (doubtful && found[i].columns < best->columns && best->typed)) {
            if (!doubtful && found[i].score > 0.98 * best->score && best->score > least_score)
                return refuse_two(best, &found[i], name, err);
            continue;
        }
        if (!compare(study, best, &found[i], &better, err))
            return false;
        if (!better || (doubtful && better > 0))
            return refuse_two(best, &found[i], name, err);
        *best = better > 0 ? found[i] : *best;
    }
    return true;
}

/* ---- what is asked where nothing divides, or what divides may be a part of the values ---- */

static bool ask(const char *name, err_t *err, const char *what, const char *options) {
    return err_set(err, STATUS_INPUT, "%.1000s: %s; say which by %s", name, what, options);
}

typedef struct {
    size_t lines, even, digits,
        gaps;            /* but the first one; with as many words; with a digit; with two blanks in a row */
    size_t first, words; /* of the first line, and of the second one */
    bool typed, plain;   /* each of the others is one value of a type; of digits and blanks only */
} words_t;

static void count_words(const uint8_t *text, size_t length, bool first, words_t *words) {
    const size_t count = guess_count_words(text, length, true);
    size_t digits = 0;
    if (first) {
        words->first = count;
        return;
    }
    for (size_t i = 0; i < length; i++)
        digits += digits_is_one(text[i]);
    words->words = words->lines++ ? words->words : count;
    words->even += count == words->words;
    words->digits += digits > 0;
    words->gaps += memmem(text, length, "  ", 2) != NULL;
    words->typed &= guess_is_typed(text, length);
    words->plain &= digits + count - 1 == length;
}

/* Where no delimiter divides: do blanks, or places? */
static bool check_blanks(study_t *study, const char *name, err_t *err) {
    const way_t way = {.delimiter = '\n'};
    words_t words = {.typed = true, .plain = true};
    bool first = true;
    if (!guess_cut_all(study, &way, err))
        return false;
    for (size_t i = 0; i < study->count; i++) {
        if (!study->records[i].hash)
            count_words(study->text + study->records[i].at, study->records[i].length, first, &words);
        first &= study->records[i].hash;
    }
    const bool even = words.words > 1 && words.even == words.lines && words.digits == words.lines;
    if (words.typed ? !words.plain || !even || words.first != words.words : !words.lines)
        return true;
    if (words.gaps * 2 > words.lines)
        return ask(name, err,
                   "its lines have several blanks in a row: they may be a table, whose columns blanks divide",
                   "--with delimiter=blanks, or --with delimiter=none, or by a --format of fixed width");
    return !even || ask(name, err, "each of its lines has as many words: blanks may divide them into columns",
                        "--with delimiter=blanks or --with delimiter=none");
}

/* Do colons? */
static bool check_colons(study_t *study, const structure_t *best, const char *name, err_t *err) {
    static const char colons[] = {GUESS_TWO_COLONS, ':'};
    for (size_t i = 0; i < sizeof colons; i++) {
        structure_t found = {.score = 0};
        bool is, in_text;
        char sign[8], what[120], options[80];
        if (!weigh_delimiter(study, colons[i], &found, err) ||
            !explains(study, best, ':', &is, &in_text, err))
            return false;
        if (found.columns < 2 || !found.even || found.skip || is)
            continue;
        name_delimiter(sign, colons[i]);
        snprintf(what, sizeof what,
                 "%s may divide each of its lines into %zu columns, or be a part of one value", sign,
                 found.columns);
        snprintf(options, sizeof options, "--with delimiter=%s or --with delimiter=none", sign);
        return ask(name, err, what, options);
    }
    return true;
}

typedef struct {
    size_t records, links, seconds, numbers, cut, tabs, escaped;
    size_t decimals; /* digits after the last comma of each line; SIZE_MAX: not as many */
    bool signed_;    /* a number has a minus sign, or a zero after its comma */
    bool named;      /* all fields of the first record are words that name columns */
    size_t signs, before_blanks;
    size_t words;          /* in each line; 0: not as many */
    span_t tab, backslash; /* the first such field */
} within_t;

/* Not at its edge, where it is a blank like others. */
static bool has_tab(const span_t *span) {
    const uint8_t *text = span->text;
    size_t length = span->length;
    for (; length && delimiter_is_blank(*text); length--)
        text++;
    while (length && delimiter_is_blank(text[length - 1]))
        length--;
    return length && span->raw_length == span->length && memchr(text, '\t', length);
}

/* Smith\ in front of a comma: not \, which is text, nor C:\ or C:\temp\, which are paths. */
static bool ends_escaped(const span_t *span) {
    const uint8_t *first = span->length ? memchr(span->text, '\\', span->length) : NULL;
    return first && span->raw_length == span->length && first + 1 == span->text + span->length &&
           (first == span->text || first[-1] != ':');
}

/* 10:00:00,007 */
static bool has_seconds(const uint8_t *text, size_t length, size_t at) {
    return at >= 3 && at + 3 < length && text[at - 3] == ':' && digits_is_one(text[at - 2]) &&
           digits_is_one(text[at - 1]) && digits_is_one(text[at + 1]) && digits_is_one(text[at + 2]) &&
           digits_is_one(text[at + 3]) && (at + 4 == length || !digits_is_one(text[at + 4]));
}

static bool is_name(const span_t *span) {
    const uint8_t *text = span->text;
    size_t length = span->length;
    blanks_trim(&text, &length);
    return guess_is_column_word((const char *)text, length);
}

static bool look_within(study_t *study, size_t record, within_t *within, err_t *err) {
    const uint8_t *text = study->text + study->records[record].at;
    const size_t length = study->records[record].length, words = guess_count_words(text, length, true);
    const char sign = study->schema.delimiters[0];
    bool seconds = false, cut = false, tabs = false, escaped = false, names = true;
    size_t last = 0;
    if (!guess_split(study, sign, record, err))
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] != (uint8_t)sign)
            continue;
        within->signs++;
        last = i;
        within->signed_ |= *text == '-' || (i + 1 < length && text[i + 1] == '0');
        within->before_blanks += i + 1 < length && text[i + 1] == ' ';
        seconds |= has_seconds(text, length, i);
        cut |= i && i + 1 < length && digits_is_one(text[i - 1]) && digits_is_one(text[i + 1]);
    }
    for (size_t j = 0; j < study->split.count; j++) {
        const span_t *span = &study->split.spans[j];
        names &= is_name(span);
        if (!tabs && has_tab(span))
            within->tab = within->tabs ? within->tab : *span;
        tabs |= has_tab(span);
        if (!escaped && j + 1 < study->split.count && ends_escaped(span))
            within->backslash = within->escaped ? within->backslash : *span;
        escaped |= j + 1 < study->split.count && ends_escaped(span);
    }
    within->words = !within->records || within->words == words ? words : 0;
    size_t decimals = 0;
    while (last + decimals + 1 < length && digits_is_one(text[last + decimals + 1]))
        decimals++;
    within->decimals = !within->records || within->decimals == decimals ? decimals : SIZE_MAX;
    within->named |= !within->records && names;
    within->records++;
    within->links += begins_link(text, length) && !memchr(text, ' ', length) && !memchr(text, '"', length);
    within->numbers += guess_is_typed(text, length);
    within->seconds += seconds;
    within->cut += cut;
    within->tabs += tabs;
    within->escaped += escaped;
    return true;
}

static bool refuse_within(const within_t *within, const structure_t *found, bool tabs, const char *name,
                          err_t *err) {
    const span_t *span = tabs ? &within->tab : &within->backslash;
    char shown[200], sign[8];
    guess_shown(shown, sizeof shown, (const char *)span->text, span->length);
    name_delimiter(sign, guess_way_sign(&found->way));
    if (tabs)
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: %s divides its lines into %zu columns, but most of them have tabs, too ('%s'), "
            "which may divide them, if not evenly: say --with delimiter=%s if that is right, else give a "
            "--format",
            name, sign, found->columns, shown, sign);
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: in most of its records a backslash stands in front of %s ('%s'), as databases write one "
        "that is a part of the text, and outside of quotes no format reads that: write the file "
        "anew with such texts in quotes; or say --with delimiter=%s if it divides there, too",
        name, sign, shown, sign);
}

/* Commas and semicolons that may be a part of the values, and what may divide besides. */
static bool check_within(study_t *study, const structure_t *found, const char *name, err_t *err) {
    const char sign = found->way.delimiter;
    const bool mark = (sign == ',' || sign == ';') && !found->way.wide[0];
    within_t within = {.records = 0};
    char what[200], options[80];
    if (found->columns < 2 || found->way.blanks)
        return true;
    if (!guess_cut_all(study, &found->way, err))
        return false;
    for (size_t i = 0; i < study->count && within.records < CELLS_OF; i++)
        if (study->records[i].fields == found->columns && !look_within(study, i, &within, err))
            return false;
    const size_t records = within.records;
    snprintf(options, sizeof options, "--with delimiter='%c' or --with delimiter=none", sign);
    if (mark && within.links == records) {
        snprintf(what, sizeof what,
                 "its lines are links: '%c' may divide them into %zu columns, or be a part of them", sign,
                 found->columns);
        return ask(name, err, what, options);
    }
    if (mark && within.numbers == records &&
        (within.signed_ || within.decimals == 2 || within.decimals == 3)) {
        snprintf(what, sizeof what, "each of its lines may be one number with a comma in it, or %zu columns",
                 found->columns);
        return ask(name, err, what, options);
    }
    if (sign == ',' && within.seconds + 1 >= records && within.seconds)
        return ask(name, err,
                   "the comma after the seconds of its times may be their decimal mark, or divide columns",
                   "--with delimiter=, if it divides; else make it a dot "
                   "(sed -E 's/(:[0-9]{2}),([0-9]{3})/\\1.\\2/' FILE > NEW), and give NEW");
    if (mark && within.before_blanks * 4 >= within.signs && !found->typed && !found->enclosing &&
        found->columns <= FEW_FIELDS && !study->named && !within.named) {
        snprintf(
            what, sizeof what,
            "a blank follows its '%c', which make no column of numbers: they may divide its lines into %zu "
            "columns, or be a part of their text",
            sign, found->columns);
        return ask(name, err, what, options);
    }
    if (mark && within.cut == records && within.words > (sign == ';') + 1u && !within.before_blanks &&
        found->columns <= FEW_FIELDS) {
        snprintf(what, sizeof what,
                 "'%c' divides its lines into %zu columns, and blanks may divide them, too", sign,
                 found->columns);
        snprintf(options, sizeof options, "--with delimiter='%c' or --with delimiter=blanks", sign);
        return ask(name, err, what, options);
    }
    if (sign != '\t' && sign != '\x01' && 2 * within.tabs > records)
        return refuse_within(&within, found, true, name, err);
    return 2 * within.escaped <= records || sign == '\x01' || refuse_within(&within, found, false, name, err);
}

bool guess_is_behind_blank(const span_t *span, char quote) {
    const uint8_t *text = span->text, *const end = span->text + span->length;
    while (text < end && delimiter_is_blank(*text))
        text++;
    size_t length = (size_t)(end - text);
    while (length && delimiter_is_blank(text[length - 1]))
        length--;
    if (!quote || text == span->text || !length || span->length != span->raw_length ||
        *text != (uint8_t)quote)
        return false;
    const uint8_t *second = memchr(text + 1, quote, length - 1);
    return !second || second == text + length - 1;
}

bool guess_refuse_behind_blank(const char *name, const uint8_t *text, size_t length, err_t *err) {
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: some of its quotes stand after a blank ('%.*s'): there a quote is an ordinary "
        "character, so that the value would keep it, or be divided within the quotes. Remove these "
        "blanks; or give a --format, if that is meant",
        name, length < 60 ? (int)length : 60, (const char *)text);
}

static bool is_of_hashes(const study_t *study) {
    bool all = study->count == GUESS_MOST_RECORDS;
    for (size_t i = 0; i < study->count; i++)
        all &= study->records[i].hash;
    return all;
}

static bool check_structure(study_t *study, const structure_t *best, const char *name, err_t *err) {
    char sign[8];
    if (is_of_hashes(study))
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: its first %d lines begin with '#', as comments do, and in no more lines a guess "
            "looks for the columns: take them out (grep -v '^##' FILE > NEW), and give that",
            name, GUESS_MOST_RECORDS);
    if (study->delimiter && best->score <= least_score)
        return err_set(err, STATUS_INPUT,
                       "%.1000s: --with delimiter=%s divides most of its lines into one field, or each into "
                       "another number "
                       "of fields; give another one, or --format",
                       name, name_delimiter(sign, study->delimiter));
    if (!study->delimiter && (best->score <= least_score || best->columns == 1) &&
        (!check_colons(study, best, name, err) || !check_blanks(study, name, err)))
        return false;
    if (best->score <= least_score)
        return err_set(err, STATUS_INPUT,
                       "%.1000s: no delimiter (of , ; tab | || and \\x01) divides its lines evenly, so its "
                       "format cannot be guessed; give --format, or --with delimiter=blanks or another sign, "
                       "or of one column none",
                       name);
    if (!study->delimiter && !check_within(study, best, name, err))
        return false;
    if (best->columns > SCHEMA_MOST_FIELDS)
        return err_set(err, STATUS_INPUT, "%.1000s: has %zu columns; a format has %d fields at most", name,
                       best->columns, SCHEMA_MOST_FIELDS);
    if (best->skip > SCHEMA_MOST_SKIPPED)
        return err_set(err, STATUS_INPUT,
                       "%.1000s: %zu lines stand before its header; at most %d can be skipped", name,
                       best->skip, SCHEMA_MOST_SKIPPED);
    if (best->two_quotes && !study->quote)
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: some of its fields are enclosed in ' and some in \", and only one of them can be "
            "the quote character: say which by --with quote=single or --with quote=double",
            name);
    if (best->behind_blank.length)
        return guess_refuse_behind_blank(name, best->behind_blank.text, best->behind_blank.length, err);
    return !best->unsure_comment ||
           err_set(
               err, STATUS_INPUT,
               "%.1000s: of its lines that begin with '#', some have as many fields as its records, and some "
               "have not: all may be comments, or none; give a --format with comment: \"#\", or without",
               name);
}

/* ---- all of it ---- */

static bool choose(study_t *study, const char *name, structure_t *best, err_t *err) {
    static const char all[] = {',', ';', '\t', '|', '\x01', GUESS_TWO_COLONS, ':'};
    structure_t found[sizeof all] = {{.score = 0}};
    const char said = study->delimiter;
    *best = (structure_t){.score = said == ' ' ? least_score : 0};
    if (said && said != '\n') {
        if (!weigh_delimiter(study, said, best, err))
            return false;
    } else if (!said) {
        for (size_t i = 0; i < sizeof all; i++) {
            if (!weigh_delimiter(study, all[i], &found[i], err))
                return false;
            if (i < sizeof delimiters && found[i].score > best->score)
                *best = found[i];
        }
    }
    if ((!said || said == '\n') && !weigh_single(study, best, err))
        return false;
    if (best->columns > 1 && !said && !choose_of_rivals(study, found, sizeof all, name, best, err))
        return false;
    return widen(study, best, err) && check_structure(study, best, name, err);
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
    const bool ok = (study->last || ends_line(study, name, err)) && choose(study, name, structure, err);
    structure->told = study->lines_before;
    structure->skip += structure->told;
    structure->unsure_names_at += structure->unsure_names_at ? structure->told : 0;
    structure->first += before;
    split_free(&study->split);
    free(study);
    return ok;
}
