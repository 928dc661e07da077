/* Finds the sign that divides the records of a text into fields, and the quote that encloses them: the candidates, their
 * measure, and the question. See guess_structure.h. */
#include "format/guess/structure/guess_structure.h"
#include "base/chars.h"
#include "format/cut/delimiter.h"
#include "format/guess/column/guess_name.h"
#include "format/guess/structure/guess_study.h"
#include "format/values/blanks.h"
#include "format/values/digits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    LOOK_AT = 256 * 1024, /* bytes */
    FORMS_IN = 64 * 1024, /* of them: a wide delimiter or an escape is tried if it stands here */
    CELLS_OF = 100,       /* records whose cells count */
    FEW_FIELDS = 3,       /* up to this number of words with commas between them may be one text */
    SELDOM = 10,          /* one record in this number may hold quotes that a delimiter tears */
};
static const double least_score = 0.25;

/* ---- the names of delimiters ---- */

const char *const guess_delimiter_words[] = {",", ";", "|", ":", "::", "tab", "\\x01", "blanks", "none"};
const char guess_delimiter_signs[GUESS_DELIMITERS] = {',',  ';',    '|', ':', GUESS_TWO_COLONS,
                                                      '\t', '\x01', ' ', '\n'};
_Static_assert(sizeof guess_delimiter_words / sizeof *guess_delimiter_words == GUESS_DELIMITERS,
               "each has a sign");

const char *guess_delimiter_word(char delimiter) {
    const char *sign = memchr(guess_delimiter_signs, delimiter, GUESS_DELIMITERS);
    return sign ? guess_delimiter_words[sign - guess_delimiter_signs] : NULL;
}

/* The delimiter as a shell takes it after --with delimiter=, and as a sentence names it. */
static const char *name_delimiter(char out[8], char delimiter) {
    const char *word = guess_delimiter_word(delimiter), *quote = *word >= 'a' && *word <= 'z' ? "" : "'";
    snprintf(out, 8, "%s%s%s", quote, word, quote);
    return out;
}

char guess_way_sign(const way_t *way) {
    return way->blanks ? ' ' : strcmp(way->wide, "::") == 0 ? GUESS_TWO_COLONS : way->delimiter;
}

/* ---- the figures of a candidate ---- */

/* One colon and two colons divide only if the user says so. */
static const char delimiters[] = {',', ';', '\t', '|', '\x01', ':', GUESS_TWO_COLONS};
enum { SURE = 5, COLON = 5, CANDIDATES = sizeof delimiters };

typedef struct {
    structure_t is;
    double score;
    size_t fitting;        /* records with the usual number of fields */
    size_t records, cells; /* those of them whose cells count (CELLS_OF), and their cells */
    double clean;          /* sum over the cells: how much each looks like a value */
    size_t odd;            /* cells with a quote at one end, or with one that encloses nothing */
    size_t torn;           /* records with a text in quotes that a delimiter divides */
    size_t enclosing;      /* records with a text in quotes */
    size_t of_lines;       /* records over several lines */
    bool needs_quotes;     /* a text in quotes needs them */
    bool two_quotes;       /* ' encloses fields, and " others */
    bool padded;           /* a blank follows a text in quotes, which then enclose nothing */
    uint8_t holds, bare;   /* signs in cells, a bit for each of `delimiters`: see guess_structure.h */
    size_t tabs, escaped;  /* records with a tab within a cell; with a backslash in front of a delimiter */
    span_t tab, backslash; /* the first such cells */
    size_t named;          /* 1: the first record has names of columns only */
    size_t signs, before_blanks; /* delimiters; those before a blank */
    size_t links, numbers;       /* records that as a whole are a link; a number or a date */
    size_t decimals;             /* digits after the last delimiter of each record; SIZE_MAX: they differ */
    bool fractions;              /* a record has a minus sign, or a zero after its delimiter */
    bool divides;                /* the first record with several fields is no number */
    size_t seconds, cut;    /* records with a delimiter between seconds and their fraction; between digits */
    size_t numbered, plain; /* records with a digit; with digits and blanks only */
    size_t gaps;            /* records with two blanks in a row */
    size_t blanks;          /* in each record; 0: they differ, or there are none */
} candidate_t;

/* Of a column: the number of texts [0] and of values of a type [1]; those of them in quotes. */
typedef struct {
    uint16_t values[2], quoted[2];
} seen_t;

static bool begins_link(const uint8_t *text, size_t length) {
    size_t at = 0;
    while (at < length && ((text[at] | 0x20) >= 'a' && (text[at] | 0x20) <= 'z'))
        at++;
    return at && length - at > 3 && memcmp(text + at, "://", 3) == 0;
}

/* A link or a path of Windows whose first colon is its only one: https://x, but not x::y. */
static bool is_link(const uint8_t *text, size_t length) {
    const uint8_t *colon = memchr(text, ':', length);
    const bool path = colon == text + 1 && length > 2 && (text[2] == '\\' || text[2] == '/');
    return (path || begins_link(text, length)) &&
           !memchr(colon + 1, ':', (size_t)(text + length - colon - 1));
}

/* fe80::1 and 00:1a:2b, of hexadecimal digits and colons; or 9:30 and 12:30:05, where two digits follow each colon. */
static bool is_time(const uint8_t *text, size_t length) {
    bool hex = true, time = true, digit = false;
    for (size_t i = 0; i < length; i++) {
        const bool one = digits_is_one(text[i]);
        digit |= one;
        hex &=
            one || text[i] == ':' || text[i] == '.' || ((text[i] | 0x20) >= 'a' && (text[i] | 0x20) <= 'f');
        time &= text[i] != ':' ||
                (i && i + 2 < length && digits_is_one(text[i - 1]) && digits_is_one(text[i + 1]) &&
                 digits_is_one(text[i + 2]) && (i + 3 == length || !digits_is_one(text[i + 3])));
    }
    return digit && (hex || time);
}

/* 10:00:00,007 */
static bool has_seconds(const uint8_t *text, size_t length, size_t at) {
    return at >= 3 && at + 3 < length && text[at - 3] == ':' && digits_is_one(text[at - 2]) &&
           digits_is_one(text[at - 1]) && digits_is_one(text[at + 1]) && digits_is_one(text[at + 2]) &&
           digits_is_one(text[at + 3]) && (at + 4 == length || !digits_is_one(text[at + 4]));
}

/* True if a blank follows each such sign, as in a text. */
static bool is_prose(const span_t *span, char sign) {
    for (size_t i = 0; i < span->length; i++)
        if (span->text[i] == (uint8_t)sign && (i + 1 == span->length || span->text[i + 1] != ' '))
            return false;
    return true;
}

/* Notes the signs of other candidates in a cell without quotes. True if it holds one other than a colon, also in a number or a
 * date. */
static bool note_signs(candidate_t *found, const span_t *span, bool typed) {
    bool any = false;
    for (size_t i = 0; i <= COLON; i++) {
        if (!memchr(span->text, delimiters[i], span->length))
            continue;
        any |= i < COLON;
        if (typed || (i == COLON && (is_link(span->text, span->length) || is_time(span->text, span->length))))
            continue;
        found->holds = (uint8_t)(found->holds | 1u << i);
        found->bare = (uint8_t)(found->bare | !is_prose(span, delimiters[i]) << i);
    }
    return any;
}

static void look_at_cell(candidate_t *found, const span_t *span, const uint8_t *raw, seen_t *column) {
    const char quote = found->is.way.quote;
    const bool enclosed = span->raw_length >= span->length + 2 && quote && raw[0] == (uint8_t)quote;
    const uint8_t *text = span->text;
    size_t length = span->length;
    blanks_trim(&text, &length);
    const bool typed = guess_is_typed(text, length);
    const uint8_t last = span->length ? span->text[span->length - 1] : 0;
    found->cells++;
    if (span->length && column) {
        column->values[typed]++;
        column->quoted[typed] += enclosed;
    }
    found->two_quotes |= quote == '\'' && span->length > 1 && span->text[0] == '"' && last == '"';
    if (enclosed) { /* the quotes end where the field does */
        found->clean += 1;
        found->needs_quotes |= memchr(span->text, found->is.way.delimiter, span->length) ||
                               memchr(span->text, '\n', span->length) ||
                               memchr(span->text, quote, span->length);
        return;
    }
    const bool begins = span->length && (raw[0] == '"' || raw[0] == '\'');
    found->odd += begins && (raw[0] == (uint8_t)quote || (span->length > 1 && last == raw[0]));
    found->padded |=
        begins && length > 2 && length < span->length && text == span->text && text[0] == text[length - 1];
    const bool others = span->length && note_signs(found, span, typed);
    found->clean += typed ? 1 : others ? 0.3 : 0.8;
}

/* Smith\ before a comma: the only backslash of the cell is its last character, and no path such as C:\. */
static bool ends_escaped(const span_t *span) {
    const uint8_t *first = span->length ? memchr(span->text, '\\', span->length) : NULL;
    return first && span->raw_length == span->length && first + 1 == span->text + span->length &&
           (first == span->text || first[-1] != ':');
}

/* True if a tab stands inside the cell. At its edge a tab is a blank like others. */
static bool has_tab(const span_t *span) {
    const uint8_t *text = span->text;
    size_t length = span->length;
    blanks_trim(&text, &length);
    return length && span->raw_length == span->length && memchr(text, '\t', length);
}

static bool is_name(const span_t *span) {
    const uint8_t *text = span->text;
    size_t length = span->length;
    blanks_trim(&text, &length);
    return guess_is_column_word((const char *)text, length);
}

/* Counts what shows that the sign of a record may be a part of one value. */
static void look_at_record(candidate_t *found, const uint8_t *text, size_t length) {
    const char sign = found->is.way.delimiter;
    bool seconds = false, cut = false, quoted = false;
    size_t blanks = 0, digits = 0, decimals = 0, last = length;
    for (size_t i = 0; i < length; i++) {
        quoted ^= text[i] == '"';
        blanks += text[i] == ' ' && !quoted;
        digits += digits_is_one(text[i]);
        if (text[i] != (uint8_t)sign)
            continue;
        last = i;
        found->signs++;
        found->fractions |= *text == '-' || (i + 1 < length && text[i + 1] == '0');
        found->before_blanks += i + 1 < length && text[i + 1] == ' ';
        seconds |= has_seconds(text, length, i);
        cut |= i && i + 1 < length && digits_is_one(text[i - 1]) && digits_is_one(text[i + 1]);
    }
    found->blanks = !found->records || found->blanks == blanks ? blanks : 0;
    while (last + decimals + 1 < length && digits_is_one(text[last + decimals + 1]))
        decimals++;
    found->decimals = !found->records || found->decimals == decimals ? decimals : SIZE_MAX;
    found->seconds += seconds;
    found->cut += cut;
    found->numbered += digits > 0;
    found->plain += digits + blanks == length;
    found->gaps += memmem(text, length, "  ", 2) != NULL;
    found->links += begins_link(text, length) && !blanks && !memchr(text, '"', length);
    found->numbers += found->is.columns <= FEW_FIELDS && guess_is_typed(text, length);
    found->of_lines += memchr(text, '\n', length) != NULL;
}

/* Sums up the cells of the records with the usual number of fields. */
static bool look_at_cells(study_t *study, candidate_t *found, err_t *err) {
    static _Thread_local seen_t columns[SCHEMA_MOST_FIELDS];
    const way_t *way = &found->is.way;
    bool apostrophes = false;
    memset(columns, 0, sizeof columns);
    for (size_t i = 0; i < study->count && found->records < CELLS_OF; i++) {
        const uint8_t *record = study->text + study->records[i].at;
        if (study->records[i].fields != found->is.columns)
            continue;
        if (!guess_split(study, way->delimiter, i, err))
            return false;
        look_at_record(found, record, study->records[i].length);
        bool encloses = false, named = true, tab = false, escaped = false;
        for (size_t j = 0; j < study->split.count && j < SCHEMA_MOST_FIELDS; j++) {
            const span_t *span = &study->split.spans[j];
            const bool before = j + 1 < study->split.count;
            look_at_cell(found, span, record + span->at,
                         i > 0 || study->count == 1 ? &columns[j] : NULL); /* the first ones may be names */
            encloses |= span->length && span->raw_length != span->length;
            named = named && !found->records && is_name(span);
            if (!tab && has_tab(span))
                found->tab = found->tabs ? found->tab : *span;
            tab = tab || has_tab(span);
            if (!escaped && before && ends_escaped(span))
                found->backslash = found->escaped ? found->backslash : *span;
            escaped = escaped || (before && ends_escaped(span));
        }
        found->named += named;
        found->enclosing += encloses;
        found->tabs += tab;
        found->escaped += escaped;
        found->torn += way->quote != '\'' && split_find_torn(&study->split, '"', way->quote != 0) > 0;
        found->records++;
    }
    for (size_t j = 0; j < found->is.columns && j < SCHEMA_MOST_FIELDS; j++) {
        const seen_t *seen = &columns[j];
        found->is.typed += seen->values[1] && !seen->values[0];
        apostrophes |= seen->quoted[0] * 2 > seen->values[0] || seen->quoted[1] * 2 > seen->values[1];
    }
    /* apostrophes may also stand around a word: they are quotes if a value needs them, or if most values of a column have them */
    found->needs_quotes |= apostrophes;
    return true;
}

/* ---- the measure ---- */

static const way_t quotings[] = {{.quote = '"'},
                                 {.quote = '"', .backslash = true},
                                 {.quote = 0},
                                 {.quote = '\''},
                                 {.quote = '\'', .backslash = true}};
/* Each is better than the next if nothing else decides. */
static const double quoting_weight[] = {1.0, 0.995, 0.99, 0.985, 0.98};
/* A wide delimiter is better than its sign alone with empty fields, if it divides all records and the sign stands nowhere else. */
static const double wide_weight = 1.1;

static uint8_t bit_of(char sign) {
    const char *at = memchr(delimiters, sign, sizeof delimiters);
    return (uint8_t)(at ? 1u << (at - delimiters) : 0);
}

/* Cuts the text by this way and sums it up in *found. score 0: not this way. none: the delimiter stands nowhere in the text,
 * which is one column. */
static bool weigh(study_t *study, const way_t *way, double weight, bool none, candidate_t *found,
                  err_t *err) {
    size_t of;
    *found = (candidate_t){.is.way = *way};
    if (!guess_cut_all(study, way, err))
        return false;
    found->is.columns = guess_usual_fields(study);
    if (!found->is.columns || (found->is.columns < 2 && !none))
        return true;
    size_t divided = 0;
    while (divided < study->count && study->records[divided].fields == 1)
        divided++;
    found->divides = divided < study->count && !guess_is_typed(study->text + study->records[divided].at,
                                                               study->records[divided].length);
    *err = (err_t){.status = STATUS_OK};
    found->fitting = guess_find_first(study, &found->is, &of, err);
    if (err->status != STATUS_OK)
        return false;
    const double share = (double)found->fitting / (double)(of ? of : 1);
    found->is.even = share == 1;
    if (share < 0.6 || (found->fitting < 2 && found->is.skip) || (none && found->is.skip))
        return true;
    if (!look_at_cells(study, found, err))
        return false;
    const double cells = (double)(found->cells ? found->cells : 1), clean = found->clean / cells;
    const bool torn = found->torn * SELDOM > found->records, said = study->quote;
    if ((way->quote == '\'' && !said && !found->needs_quotes) || (torn && !said) ||
        (none && clean < 0.7 && study->delimiter != '\n'))
        return true;
    if (way->wide[0] && way->wide[1] != ' ' && found->is.even && !(found->holds & bit_of(way->delimiter)))
        weight *= wide_weight;
    found->score = share * share * (0.2 + 0.8 * clean) * (1 - 0.8 * (double)found->odd / cells) * weight *
                   (found->is.titles || found->is.odd_header ? 0.85 : 1);
    return true;
}

bool guess_tells_more(const structure_t *lines, const structure_t *quoted) {
    return lines->typed && lines->typed >= quoted->typed;
}

/* Takes a way if it is better than the best one so far. */
static bool try_way(study_t *study, const way_t *way, double weight, bool none, candidate_t *best,
                    err_t *err) {
    candidate_t found;
    if (!weigh(study, way, weight, none, &found, err))
        return false;
    /* without quotes, lines of a text in quotes may be cleaner than the records that hold the text */
    const bool sound = best->is.even && !best->odd,
               tears = !way->quote && ((sound && found.is.columns == best->is.columns) ||
                                       (best->is.way.quote && best->of_lines * 2 > best->records &&
                                        !guess_tells_more(&found.is, &best->is)));
    if (found.score > best->score && !tears)
        *best = found;
    return true;
}

/* True if this quoting reads the text in another way than those before it. */
static bool is_another(const study_t *study, const way_t *way) {
    const size_t length = (size_t)(study->end - study->text);
    const char escaped[] = {'\\', way->quote};
    if (way->backslash && !memmem(study->text, length < FORMS_IN ? length : FORMS_IN, escaped, 2))
        return false;
    return study->quote ? *study->quote == way->quote
                        : way->quote == '"' || memchr(study->text, way->quote ? '\'' : '"', length);
}

/* Finds the best way with this sign: alone, doubled, with another sign in its middle (|~|), or with a blank after it before
 * quotes. */
static bool weigh_sign(study_t *study, char sign, bool none, candidate_t *best, err_t *err) {
    static const char *const middles[] = {"", "~", "^"};
    const size_t whole = (size_t)(study->end - study->text), length = whole < FORMS_IN ? whole : FORMS_IN;
    const char first = sign == GUESS_TWO_COLONS ? ':' : sign;
    *best = (candidate_t){.score = 0};
    for (size_t j = 0;
         (none || sign == ' ' || memchr(study->text, first, whole)) && j < sizeof quotings / sizeof *quotings;
         j++) {
        way_t way = quotings[j];
        if (!is_another(study, &way) || (none && !study->quote && way.quote == '\''))
            continue;
        way.delimiter = first;
        way.blanks = sign == ' ';
        if (sign == GUESS_TWO_COLONS)
            memcpy(way.wide, "::", 3);
        if (!try_way(study, &way, none ? 0.9 * quoting_weight[j] : quoting_weight[j], none, best, err))
            return false;
        if (none || !memchr(delimiters, sign, SURE))
            continue;
        const char before[] = {sign, ' ', way.quote};
        memcpy(way.wide, before, 2);
        if (way.quote && memmem(study->text, length, before, 3) &&
            !try_way(study, &way, quoting_weight[j], none, best, err))
            return false;
        for (size_t k = 0; k < sizeof middles / sizeof *middles; k++) {
            candidate_t found;
            snprintf(way.wide, sizeof way.wide, "%c%s%c", sign, middles[k], sign);
            if (!memmem(study->text, length, way.wide, strlen(way.wide)))
                continue;
            if (!weigh(study, &way, quoting_weight[j], false, &found, err))
                return false;
            /* ,, and two tabs may be an empty column of a sheet */
            if (found.score > best->score && found.fitting > 1 &&
                (found.is.columns > 2 || (sign != ',' && sign != '\t')))
                *best = found;
        }
    }
    return true;
}

/* Weighs the text as one column, by a delimiter that stands nowhere in it. */
static bool weigh_none(study_t *study, candidate_t *best, err_t *err) {
    static const char unused[] = {'\t', '|', ';', ',', '\x01', '\x02'};
    *best = (candidate_t){.score = 0};
    for (size_t i = 0; i < sizeof unused; i++)
        if (!memchr(study->text, unused[i], (size_t)(study->end - study->text)))
            return weigh_sign(study, unused[i], true, best, err);
    return true;
}

/* ---- the question ---- */

/* Asks, with both readings and the option for each. columns: the number by the other sign; 0: not known. Returns false. */
static bool ask(const char *name, const candidate_t *one, char other, size_t columns, const char *why,
                err_t *err) {
    char first[8], second[8], count[24] = "", reading[80] = "be a part of their values";
    name_delimiter(first, guess_way_sign(&one->is.way));
    name_delimiter(second, other);
    if (other != '\n')
        snprintf(reading, sizeof reading, columns ? "%s into %zu" : "%s may", second, columns);
    if (one->is.columns)
        snprintf(count, sizeof count, "%zu ", one->is.columns);
    return err_set(err, STATUS_INPUT,
                   "%.1000s: %s may divide its lines into %scolumns, or %s%s; say which by --with "
                   "delimiter=%s or --with delimiter=%s",
                   name, first, count, reading, why, first, second);
}

/* True if each cell that holds the sign of the other candidate holds it as a part of a value or of a text. A sign of a text
 * makes no columns of numbers or dates. */
static bool explains(const candidate_t *one, const candidate_t *other) {
    const uint8_t bit = bit_of(other->is.way.delimiter);
    return !(one->holds & bit) || (!(one->bare & bit) && !other->is.typed);
}

/* True if the other candidate divides as many lines as the best one. */
static bool is_rival(const candidate_t *best, const candidate_t *other) {
    return other->is.columns > 1 && other->score > 0 && other->fitting >= best->fitting &&
           other->is.titles <= best->is.titles && !other->is.odd_header;
}

/* Asks if of two candidates that divide the same lines neither explains the other, or each does. */
static bool choose_of_rivals(const candidate_t *found, const char *name, candidate_t *best, err_t *err) {
    for (size_t i = 0; i < CANDIDATES; i++) {
        const candidate_t *other = &found[i];
        const bool doubtful = i >= COLON;
        bool differ = true, better = false;
        if (other->is.way.delimiter == best->is.way.delimiter)
            continue;
        if (is_rival(best, other) && !(doubtful && other->is.columns < best->is.columns && best->is.typed)) {
            better = explains(other, best);
            differ = better != explains(best, other) && !(doubtful && better);
        } else if (!doubtful && best->score > least_score) {
            differ = other->score <= 0.98 * best->score;
        }
        if (!differ)
            return ask(name, best, guess_way_sign(&other->is.way), other->is.columns, "", err);
        *best = better ? *other : *best;
    }
    return true;
}

/* Asks about a text that no delimiter divides, if colons, blanks or places may. */
static bool check_undivided(study_t *study, const candidate_t *found, const candidate_t *none,
                            const char *name, err_t *err) {
    candidate_t blanks;
    for (size_t i = 0; i < 2; i++) /* numbers with the same number of decimals each are no question */
        if (none->is.typed && found[i].score > least_score && found[i].decimals == SIZE_MAX &&
            !found[i].fractions && !found[i].is.skip)
            return ask(name, &found[i], '\n', 0, " (each of its lines may be one number)", err);
    for (size_t i = CANDIDATES; i-- > COLON;)
        if (found[i].is.columns > 1 && found[i].is.even && !found[i].is.skip && none->holds & bit_of(':'))
            return ask(name, &found[i], '\n', 0, "", err);
    if (!weigh_sign(study, ' ', false, &blanks, err))
        return false;
    blanks.is.way.blanks = true;
    if (none->gaps * 2 > none->records)
        return ask(name, &blanks, '\n', 0,
                   " (several of them stand in a row, as in a table; for columns of fixed width give a "
                   "--format)",
                   err);
    const bool likely = none->is.typed ? none->plain + 1 >= none->records && !blanks.is.skip
                                       : blanks.numbered + 1 >= blanks.records;
    return blanks.score <= least_score || !blanks.is.even || !likely || ask(name, &blanks, '\n', 0, "", err);
}

/* Asks about a text that a delimiter divides, if the delimiter may be a part of the values, or another sign may divide. */
static bool check_divided(const study_t *study, const candidate_t *best, const char *name, err_t *err) {
    const char sign = best->is.way.delimiter;
    const bool mark = (sign == ',' || sign == ';') && !best->is.way.wide[0],
               few = mark && best->is.columns <= FEW_FIELDS;
    const size_t records = best->records;
    const span_t *cell = 2 * best->tabs > records ? &best->tab : &best->backslash;
    const struct {
        bool is, shows;
        char other;
        const char *why;
    } rows[] = {
        {mark && best->links == records, false, '\n', "its lines are links"},
        {mark && best->numbers == records && (best->fractions || best->decimals == 2 || best->decimals == 3),
         false, '\n', "each of its lines may be one number"},
        {sign == ',' && best->seconds == records, false, '\n', "it stands after the seconds of times"},
        {few && best->before_blanks * 4 >= best->signs && !best->is.typed && !best->enclosing &&
             !study->named && !best->named,
         false, '\n', "a blank follows it, as in a text"},
        {few && best->cut == records && best->blanks > (sign == ';') && !best->before_blanks, false, ' ',
         "each of its lines has as many"},
        {sign != '\t' && sign != '\x01' && 2 * best->tabs > records, true, '\t',
         "most of its lines have tabs"},
        {sign != '\x01' && 2 * best->escaped > records, true, '\n',
         "a backslash stands in front of it, as databases write one within a text, which only a text in "
         "quotes may hold here"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char why[300], shown[200] = "";
        if (!rows[i].is)
            continue;
        if (rows[i].shows)
            guess_shown(shown, sizeof shown, (const char *)cell->text, cell->length);
        snprintf(why, sizeof why, rows[i].shows ? " (%s: '%s')" : " (%s)", rows[i].why, shown);
        return ask(name, best, rows[i].other, 0, why, err);
    }
    return true;
}

static bool is_of_hashes(const study_t *study) {
    bool all = study->count == GUESS_MOST_RECORDS;
    for (size_t i = 0; i < study->count; i++)
        all &= study->records[i].hash;
    return all;
}

/* Refuses a structure that no format can describe. */
static bool check_structure(const study_t *study, const candidate_t *best, const char *name, err_t *err) {
    char sign[8];
    if (is_of_hashes(study))
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: its first %d lines begin with '#', as comments do, and in no more lines a guess "
            "looks for the columns: take them out (grep -v '^##' FILE > NEW), and give that",
            name, GUESS_MOST_RECORDS);
    if (best->score <= least_score)
        return study->delimiter
                   ? err_set(err, STATUS_INPUT,
                             "%.1000s: --with delimiter=%s divides most of its lines into one field, or each "
                             "into another number of fields; give another one, or --format",
                             name, name_delimiter(sign, study->delimiter))
                   : err_set(err, STATUS_INPUT,
                             "%.1000s: no delimiter (of , ; tab | || and \\x01) divides its lines evenly, so "
                             "its format cannot be guessed; give --format, or --with delimiter=blanks or "
                             "another sign, or of one column none",
                             name);
    if (best->is.columns > SCHEMA_MOST_FIELDS)
        return err_set(err, STATUS_INPUT, "%.1000s: has %zu columns; a format has %d fields at most", name,
                       best->is.columns, SCHEMA_MOST_FIELDS);
    if (best->is.skip > SCHEMA_MOST_SKIPPED)
        return err_set(err, STATUS_INPUT,
                       "%.1000s: %zu lines stand before its header; at most %d can be skipped", name,
                       best->is.skip, SCHEMA_MOST_SKIPPED);
    if (best->two_quotes && !study->quote)
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: some of its fields are enclosed in ' and some in \", and only one of them can be "
            "the quote character: say which by --with quote=single or --with quote=double",
            name);
    if (best->padded && !best->is.way.quote && !study->quote)
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: a blank follows some of its texts in quotes, which then enclose nothing: take "
            "those blanks out, or give --with quote=none if the quotes are a part of the texts",
            name);
    return !best->is.unsure_comment ||
           err_set(
               err, STATUS_INPUT,
               "%.1000s: of its lines that begin with '#', some have as many fields as its records, and some "
               "have not: all may be comments, or none; give a --format with comment: \"#\", or without",
               name);
}

/* ---- all of it ---- */

static bool choose(study_t *study, const char *name, structure_t *structure, err_t *err) {
    candidate_t found[CANDIDATES], none = {.score = 0}, best = {.score = 0};
    const char said = study->delimiter;
    for (size_t i = 0; !said && i < CANDIDATES; i++) {
        if (!weigh_sign(study, delimiters[i], false, &found[i], err))
            return false;
        if (i < COLON && found[i].score > best.score)
            best = found[i];
    }
    if (said && said != '\n') {
        if (!weigh_sign(study, said, false, &best, err))
            return false;
    } else if (!weigh_none(study, &none, err)) {
        return false;
    }
    best = none.score > best.score && !best.divides ? none : best;
    if (said == '\n' && best.is.columns)
        best.score = 1;
    if (!said && !(best.score > least_score && best.is.columns > 1
                       ? choose_of_rivals(found, name, &best, err) && check_divided(study, &best, name, err)
                       : check_undivided(study, found, &none, name, err)))
        return false;
    *structure = best.is;
    return check_structure(study, &best, name, err);
}

/* Reads a first line sep=; of a spreadsheet, which names the delimiter. Returns its length with its line end; 0: it is none. */
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

/* Refuses a text whose first line is longer than what is read here. */
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
