/* Finds the sign that divides the records of a text into fields, the quote that encloses them, and the first record: the
 * candidates, their measure, and the question. See guess_inner.h. */
#include "base/chars.h"
#include "format/cut/split.h"
#include "format/guess/guess_inner.h"
#include "format/values/values.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    LOOK_AT = 256 * 1024, /* bytes */
    FORMS_IN = 64 * 1024, /* of them: a wide delimiter is tried if it stands here */
    MOST_RECORDS = 500,
    FIRST_RECORDS = 400, /* of a text with \" in it: the others are those with \" */
    CELLS_OF = 100,      /* records whose cells count */
    MOST_BEFORE = 30,    /* lines before the header that do not begin with # */
    BELOW = 100,         /* records that are compared with lines above them */
};

/* ---- the names of delimiters ---- */

const char *const guess_delimiter_words[GUESS_DELIMITERS] = {
    ",", ";", "|", ":", "::", "tab", "\\x01", "blanks", "none"};
const char guess_delimiter_signs[GUESS_DELIMITERS] = {',',  ';',    '|', ':', GUESS_TWO_COLONS,
                                                      '\t', '\x01', ' ', '\n'};

const char *guess_delimiter_word(char delimiter) {
    const char *sign = memchr(guess_delimiter_signs, delimiter, GUESS_DELIMITERS);
    return sign ? guess_delimiter_words[sign - guess_delimiter_signs] : NULL;
}

static char sign_of(const way_t *way) {
    return way->blanks ? ' ' : strcmp(way->wide, "::") == 0 ? GUESS_TWO_COLONS : way->delimiter;
}

/* ---- a text, and its beginning as one way cuts it ---- */

typedef struct {
    const uint8_t *text, *end;
    bool last; /* the text ends here */
    guess_options_t said;
    char sign; /* the delimiter by --with or the line sep=; ' ': blanks; '\n': none divides; 0: not said */
    schema_t schema;
    split_t split;
    bool failed;  /* memory was short */
    bool escapes; /* the text holds \" */
    size_t count;
    struct {
        uint16_t fields; /* 0: a quote is odd */
        bool hash;       /* the record begins with # */
        size_t at, length;
    } records[MOST_RECORDS];
    /* of each line, the columns of which it holds the last text: above values; above numbers or dates */
    size_t heads[MOST_BEFORE + 1], typed_heads[MOST_BEFORE + 1];
} study_t;

static void split(study_t *study, size_t record) {
    if (split_record(&study->split, &study->schema, study->schema.delimiters[0],
                     study->text + study->records[record].at, study->records[record].length))
        return;
    study->split.count = 0;
    study->failed = true;
}

static bool holds_escape(const uint8_t *at, const uint8_t *end, char quote) {
    while ((at = memchr(at, '\\', (size_t)(end - at))) && ++at < end)
        if (*at == (uint8_t)quote)
            return true;
    return false;
}

/* Cuts the first records. Few may have an escape, and show which one it is: \" may also end a text (a path of Windows). */
static void cut(study_t *study, const way_t *way) {
    const uint8_t *at = study->text;
    const bool rest = study->escapes && way->quote == '"';
    dialect_line_t line;
    guess_schema(&study->schema, way);
    study->count = 0;
    while (study->count < MOST_RECORDS && guess_next(&study->schema, &at, study->end, study->last, &line)) {
        const bool escapes = rest && holds_escape(line.text, line.text + line.length, '"');
        if (rest && !escapes && study->count >= FIRST_RECORDS)
            continue;
        study->schema.guessed = escapes; /* other odd quotes are weighed here, and rejected later */
        study->records[study->count].hash = line.text[0] == '#';
        study->records[study->count].at = (size_t)(line.text - study->text);
        study->records[study->count].length = line.length;
        split(study, study->count);
        study->records[study->count++].fields =
            split_is_sound(&study->split) ? (uint16_t)study->split.count : 0;
    }
}

/* The number of fields that most records have; if two numbers are as frequent, the larger. Lines that begin with # do not
 * count. */
static size_t usual_fields(const study_t *study) {
    static _Thread_local uint16_t seen[SPLIT_MOST + 1];
    size_t best = 0;
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < study->count; i++)
        seen[study->records[i].fields] += !study->records[i].hash;
    for (size_t i = 1; i <= SPLIT_MOST; i++)
        best = seen[i] && (!best || seen[i] >= seen[best]) ? i : best;
    return best;
}

/* ---- the first record ----
 *
 * The first record is the first line with as many fields as most lines have. Four kinds of lines are exceptions:
 *
 * - Titles with as many fields ("Sales report,,", as spreadsheets save them): they fill one field at most. After them stands
 *   the line of names (find_names).
 * - Groups above their members ("Travel,,Other" above "Air,Rail,"): the last line of names is the header (find_members).
 * - A first line with a field less than the records: a header without a name for the row numbers (is_odd_header).
 * - Lines that begin with #: comments, unless all of them have as many fields as the records. */

/* yes, no, Y and n do not count: they may be names, too. */
bool guess_is_number_or_date(const span_t *span) {
    bool second;
    return span->length && !guess_pair(span->text, span->length, &second) &&
           guess_is_typed(span->text, span->length);
}

/* True for a value that names no column: a number, a date, or digits and signs without letters (1 234, 5 %, £7). */
static bool is_value(const span_t *span) {
    bool digit = false, letter = false;
    for (size_t i = 0; i < span->length; i++) {
        const uint8_t byte = span->text[i];
        digit |= digits_is_one(byte);
        letter |= isalpha(byte) || (byte > 0xC2 && byte != 0xE2); /* C2 and E2 begin signs, such as £ and € */
    }
    return (digit && !letter) || guess_is_number_or_date(span);
}

/* True if the first record has a field less than the others, and names most of them. */
static bool is_odd_header(study_t *study, structure_t *found) {
    const char sign = found->way.delimiter;
    bool quoted = study->count > 1 && found->way.quote &&
                  study->text[study->records[1].at] == (uint8_t)found->way.quote,
         all = true, any = false; /* of the others end in an empty field */
    if (study->records[0].hash || study->records[0].fields + 1u != found->columns)
        return false;
    for (size_t i = 1; i < study->count; i++) {
        const uint8_t *end = study->text + study->records[i].at + study->records[i].length;
        const bool fits = study->records[i].fields == found->columns,
                   empty = fits && end[-1] == (uint8_t)sign;
        all &= empty || !fits;
        any |= empty;
    }
    found->ends_empty = all && any;
    if (found->columns < 3)
        return false;
    split(study, 0);
    for (size_t i = 0; i < study->split.count; i++) {
        const span_t *span = &study->split.spans[i];
        quoted &= span->raw_length != span->length;
        if (!span->length || guess_is_number_or_date(span))
            return false;
    }
    /* The last column may be the one without a name, if some records end so; or a text without quotes was divided. */
    found->unsure_names = any || (sign != '\t' && !quoted);
    return true;
}

/* Notes which of the first lines hold the text above the values of a column: two follow it, and two follow no other text there
 * (study->heads). In a file of several tables they follow others, too. False: no line does. */
static bool find_texts(study_t *study, const structure_t *found) {
    static _Thread_local struct {
        size_t text, values, typed; /* the line from 1 of the last text, and what follows it */
        size_t head, typed_head;    /* that of the text above the first two values */
        size_t heads;               /* texts above two values */
    } columns[SPLIT_MOST];
    memset(study->heads, 0, sizeof study->heads);
    memset(study->typed_heads, 0, sizeof study->typed_heads);
    memset(columns, 0, found->columns * sizeof *columns);
    for (size_t i = 0; i < study->count && i <= BELOW; i++) {
        split(study, i);
        for (size_t j = 0; study->records[i].fields == found->columns && j < study->split.count; j++) {
            const span_t *span = &study->split.spans[j];
            const bool nothing = guess_is_null(span->text, span->length), value = !nothing && is_value(span),
                       text = !nothing && !value;
            columns[j].text = text ? i + 1 : columns[j].text;
            columns[j].values = text ? 0 : columns[j].values + value;
            columns[j].typed = text ? 0 : columns[j].typed + guess_is_number_or_date(span);
            if (value && columns[j].values == 2) {
                columns[j].heads++;
                columns[j].head = columns[j].text;
                columns[j].typed_head = columns[j].typed == 2;
            }
        }
    }
    bool any = false;
    for (size_t j = 0; j < found->columns; j++) {
        const size_t head = columns[j].heads == 1 ? columns[j].head : 0;
        if (!head || head > MOST_BEFORE + 1)
            continue;
        any = true;
        study->heads[head - 1]++;
        study->typed_heads[head - 1] += columns[j].typed_head && columns[j].text == head;
    }
    return any;
}

/* What the fields of a line show. */
typedef struct {
    size_t filled, values; /* those that are not empty; those of them that name no column */
    bool full;             /* it names the first columns, without a gap */
} filling_t;

static filling_t filling_of(study_t *study, size_t record) {
    filling_t shape = {0};
    size_t last = 0;
    split(study, record);
    for (size_t j = 0; j < study->split.count; j++) {
        const span_t *span = &study->split.spans[j];
        shape.filled += span->length > 0;
        last = span->length ? j + 1 : last;
        shape.values += is_value(span);
    }
    shape.full = shape.filled > 1 && shape.filled == last && !shape.values;
    return shape;
}

/* Finds the last line of names that begin in line `first`: groups, and below them their members. A name begins a group if the next
 * column has none. A line of members names the group's first column, and columns without a name after it. */
static size_t find_members(study_t *study, const structure_t *found, size_t first) {
    static _Thread_local bool named[SPLIT_MOST + 1];
    size_t last = first;
    memset(named, 0, sizeof named);
    for (size_t i = first; i < study->count && i <= MOST_BEFORE; i++) {
        const filling_t shape = filling_of(study, i);
        bool fits = !shape.values && study->records[i].fields == found->columns, joins = false,
             head = i == first || shape.full;
        for (size_t j = 0; j < study->split.count; j++) {
            const bool filled = study->split.spans[j].length;
            head = named[j] ? filled : head;
            joins |= filled && !named[j];
            fits &= !filled || (named[j] ? !named[j + 1] : head);
        }
        if (!fits || (shape.filled && !joins))
            break;
        for (size_t j = 0; j < study->split.count; j++)
            named[j] |= study->split.spans[j].length > 0;
        named[found->columns] = true;
        last = joins ? i : last;
    }
    return last;
}

/* Finds the line of names after titles with as many fields, or the last of several lines of names, which begin in line *begin; 0:
 * there is none. `named`: values below show that it is one. unsure: it, or a line before it, may be a record. */
static size_t find_names(study_t *study, structure_t *found, size_t *begin) {
    bool titles = true; /* so are all lines above */
    const bool any = find_texts(study, found);
    for (size_t i = 0; i + 1 < study->count && i <= MOST_BEFORE; i++) {
        const filling_t shape = filling_of(study, i);
        const bool title = shape.filled < 2 && !shape.values, heads = study->heads[i];
        const size_t last = titles && !title ? find_members(study, found, i) : i;
        if (study->records[i].fields != found->columns || 2 * shape.values > shape.filled)
            return 0;
        /* a record may have one text above values */
        found->named = last > i && study->heads[last] > 1;
        *begin = i;
        if (found->named)
            return last;
        if (heads || (!any && shape.full)) {
            found->named = i && shape.full && titles && study->typed_heads[i];
            found->unsure = i && shape.full && !(titles && (heads || found->columns > 2));
            return shape.full ? i : 0;
        }
        titles &= title;
    }
    return 0;
}

/* Finds the first record, and whether lines that begin with # are comments. Returns how many of *of records have the usual
 * number of fields. */
static size_t find_first(study_t *study, structure_t *found, size_t *of) {
    size_t first = 0, fitting = 0, passed = 0, names = 0;
    bool comments = false;
    for (size_t i = 0; i < study->count; i++)
        comments |= study->records[i].hash && study->records[i].fields != found->columns;
    while (first < study->count &&
           (study->records[first].fields != found->columns || (comments && study->records[first].hash)))
        first++;
    first = first < study->count ? first : 0;
    if (!first && study->said.header != GUESS_NO_HEADER && !study->said.header_line)
        first = find_names(study, found, &names);
    if (found->unsure && study->said.header == GUESS_HEADER)
        first = names = found->unsure = 0; /* the user says that the first line names the columns */
    found->odd_header = first == 1 && is_odd_header(study, found);
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
    found->first = study->records[first].at;
    found->names = found->named ? study->records[names].at : found->first;
    found->skip = before ? lines_count(study->text, study->records[before].at) : 0;
    *of = study->count - first - passed;
    return found->titles > MOST_BEFORE ? 0 : fitting;
}

/* ---- the figures of a candidate ---- */

/* A colon divides only if the user says so. */
static const char delimiters[] = {',', ';', '\t', '|', '\x01', ':'};
enum { COLON = 5, CANDIDATES = sizeof delimiters };

typedef struct {
    structure_t is;
    double score;
    size_t fitting;        /* records with the usual number of fields */
    size_t records, cells; /* those of them whose cells count (CELLS_OF), and their cells */
    double clean;          /* sum over the cells: how much each looks like a value */
    size_t odd;            /* cells with a quote at one end, or with one that encloses nothing */
    /* a text in quotes needs them, or most values of a column are in quotes; else apostrophes may stand around a word */
    bool quoted;
    uint8_t holds; /* signs in cells, a bit for each of `delimiters`: see guess_inner.h */
    /* records: over several lines; that may be one value; with a delimiter before a blank; with two blanks in a row; with a tab,
     * or a backslash in front of a delimiter; with a text in quotes that a delimiter divides; with a digit */
    size_t of_lines, whole, prose, gaps, strange, torn, numbered;
} candidate_t;

/* Of a column: the number of texts [0] and of values of a type [1]; those of them in quotes. */
typedef struct {
    uint16_t values[2], quoted[2];
} seen_t;

/* Notes the signs of other candidates in a cell without quotes: none in a number or a date, and no colon that is a part of a time
 * or an address (9:30, fe80::1, 00:1a:2b), a path or a link. True if it holds one other than a colon, also in a number. */
static bool note_signs(candidate_t *found, const span_t *span, bool typed) {
    bool any = false;
    for (size_t i = 0; i < span->length; i++) {
        const char *sign = isalnum(span->text[i]) ? NULL : memchr(delimiters, span->text[i], CANDIDATES);
        if (!sign)
            continue;
        const uint8_t before = i ? span->text[i - 1] : 0,
                      after = i + 1 < span->length ? span->text[i + 1] : 0;
        const bool part = after == '/' || after == '\\' ||
                          ((isxdigit(before) || before == ':') && (isxdigit(after) || after == ':'));
        any |= *sign != ':';
        if (!typed && !(*sign == ':' && part))
            found->holds = (uint8_t)(found->holds | 1u << (sign - delimiters));
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
    found->cells++;
    if (span->length && column) {
        column->values[typed]++;
        column->quoted[typed] += enclosed;
    }
    if (enclosed) { /* the quotes end where the field does */
        found->clean += 1;
        found->quoted |= memchr(span->text, found->is.way.delimiter, span->length) ||
                         memchr(span->text, '\n', span->length) || memchr(span->text, quote, span->length);
        return;
    }
    const bool begins = span->length > 1 && (raw[0] == '"' || raw[0] == '\'');
    found->odd += begins && (raw[0] == (uint8_t)quote || text[length - 1] == raw[0]);
    const bool others = span->length && note_signs(found, span, typed);
    found->clean += typed ? 1 : others ? CELL_WITH_SIGNS : CELL_OF_TEXT;
}

/* Counts what shows that the sign of a record may be a part of one value: a link, a number, or a text with numbers in it. */
static void look_at_record(candidate_t *found, const uint8_t *text, size_t length) {
    const uint8_t sign = (uint8_t)found->is.way.delimiter, *const last = memrchr(text, sign, length),
                  *const end = text + length, *const link = memmem(text, length, "://", 3);
    const char prose[] = {(char)sign, ' '}, escaped[] = {'\\', (char)sign};
    size_t blanks = 0;
    bool cuts = false, quoted = false, tab = false, digit = false;
    for (size_t i = 0; i < length; i++) {
        quoted ^= text[i] == '"';
        blanks += text[i] == ' ' && !quoted;
        tab |= text[i] == '\t' && !quoted;
        digit |= digits_is_one(text[i]);
        cuts |= text[i] == sign && i && i + 1 < length && digits_is_one(text[i - 1]) &&
                digits_is_one(text[i + 1]);
    }
    size_t decimals = 0; /* digits after the last delimiter */
    while (last && last + 1 + decimals < end && digits_is_one(last[1 + decimals]))
        decimals++;
    const bool number = (decimals == 2 || decimals == 3) && guess_is_typed(text, length);
    found->whole += link && link - text <= LINK
                        ? !blanks && !memchr(text, '"', length)
                        : found->is.columns <= FEW_FIELDS && (number || (cuts && blanks > (sign == ';')));
    found->numbered += digit;
    found->prose += memmem(text, length, prose, 2) != NULL;
    found->gaps += memmem(text, length, "  ", 2) != NULL;
    found->of_lines += memchr(text, '\n', length) != NULL;
    found->strange += sign != '\t' && sign != '\x01' && (tab || memmem(text, length, escaped, 2));
}

/* Sums up the cells of the records with the usual number of fields. */
static void look_at_cells(study_t *study, candidate_t *found) {
    static _Thread_local seen_t columns[SCHEMA_MOST_FIELDS];
    const way_t *way = &found->is.way;
    memset(columns, 0, sizeof columns);
    for (size_t i = 0; i < study->count && found->records < CELLS_OF; i++) {
        const uint8_t *record = study->text + study->records[i].at;
        if (study->records[i].fields != found->is.columns)
            continue;
        split(study, i);
        look_at_record(found, record, study->records[i].length);
        for (size_t j = 0; j < study->split.count && j < SCHEMA_MOST_FIELDS;
             j++) /* the first ones may be names */
            look_at_cell(found, &study->split.spans[j], record + study->split.spans[j].at,
                         i > 0 || study->count == 1 ? &columns[j] : NULL);
        found->torn += way->quote != '\'' && split_find_torn(&study->split, '"', way->quote != 0) > 0;
        found->records++;
    }
    for (size_t j = 0; j < found->is.columns && j < SCHEMA_MOST_FIELDS; j++) {
        const seen_t *seen = &columns[j];
        found->is.typed += seen->values[1] && !seen->values[0];
        found->quoted |= seen->quoted[0] * 2 > seen->values[0] || seen->quoted[1] * 2 > seen->values[1];
    }
}

/* ---- the measure ---- */

/* Each is better than the next if nothing else decides. */
static const way_t quotings[] = {{.quote = '"'},
                                 {.quote = '"', .backslash = true},
                                 {.quote = '"', .backslash = true, .backslashes = true},
                                 {.quote = 0},
                                 {.quote = '\''},
                                 {.quote = '\'', .backslash = true}};

/* Cuts the text by this way and sums it up. score 0: not this way. none: the delimiter stands nowhere in the text, which is one
 * column. */
static candidate_t weigh(study_t *study, const way_t *way, bool none) {
    double weight = none ? UNDIVIDED : 1;
    size_t of;
    candidate_t found = {.is.way = *way};
    cut(study, way);
    found.is.columns = usual_fields(study);
    if (!found.is.columns || (found.is.columns < 2 && !none))
        return found;
    found.fitting = find_first(study, &found.is, &of);
    const double share = (double)found.fitting / (double)(of ? of : 1);
    found.is.even = share == 1;
    if (share < (way->backslash ? LEAST_SHARE_ESCAPED : LEAST_SHARE) ||
        (found.fitting < 2 && found.is.skip) || (none && found.is.skip))
        return found;
    look_at_cells(study, &found);
    const double cells = (double)(found.cells ? found.cells : 1), clean = found.clean / cells;
    const bool torn = found.torn * TORN_IN > found.records;
    if (((torn || (way->quote == '\'' && !found.quoted)) && !study->said.quote) ||
        (none && clean < LEAST_CLEAN_UNDIVIDED && study->sign != '\n'))
        return found;
    /* a wide delimiter is better than its sign with empty fields, if it divides all */
    if (way->wide[0] && way->wide[1] != ' ' && found.is.even)
        weight *= WIDE;
    found.score = share * share * (1 - CLEAN + CLEAN * clean) * (1 - ODD * (double)found.odd / cells) *
                  weight * (found.is.titles || found.is.odd_header ? TITLES : 1);
    return found;
}

/* True if the lines, without quotes, only look cleaner because they tear texts of several lines in quotes. */
static bool tears(const candidate_t *lines, const candidate_t *quoted) {
    const bool sound = quoted->is.even && !quoted->odd;
    return !lines->is.way.quote && ((sound && lines->is.columns == quoted->is.columns) ||
                                    (quoted->is.way.quote && quoted->of_lines * 2 > quoted->records));
}

/* True if this quoting reads the text in another way than those before it. */
static bool is_another(const study_t *study, const way_t *way) {
    static const char signs[] = {0, '"', '\'', 0}; /* by the words of --with quote */
    const uint8_t said = study->said.quote;
    const size_t length = (size_t)(study->end - study->text);
    if (way->backslash && !holds_escape(study->text, study->end, way->quote))
        return false;
    return said ? signs[said] == way->quote
                : way->quote == '"' || memchr(study->text, way->quote ? '\'' : '"', length);
}

/* A delimiter that stands nowhere in the text; 0: there is none. */
static char find_unused(const study_t *study) {
    static const char signs[] = "\t|;,\x01\x02";
    const char *sign = signs;
    while (*sign && memchr(study->text, *sign, (size_t)(study->end - study->text)))
        sign++;
    return *sign;
}

/* Finds the best way with this sign: alone, with a blank after it before quotes, doubled, or doubled with ~ in its middle. '\n':
 * the text is one column. */
static candidate_t weigh_sign(study_t *study, char sign) {
    static const char *const forms[] = {"", "%c ", "%c%c", "%c~%c"};
    const size_t whole = (size_t)(study->end - study->text), length = whole < FORMS_IN ? whole : FORMS_IN;
    const bool colons = sign == GUESS_TWO_COLONS, none = sign == '\n', wide = !none && sign != ' ';
    const char first = colons ? ':' : none ? find_unused(study) : sign;
    candidate_t best = {.score = 0};
    for (size_t j = 0; first && j < COUNT(quotings); j++) {
        way_t way = quotings[j];
        const bool sound = best.score > 0 && best.is.even && !best.is.skip && !best.odd; /* needs no escape */
        if (!is_another(study, &way) || (way.backslash && sound))
            continue;
        way.delimiter = first;
        way.blanks = sign == ' ';
        for (size_t k = colons ? 2 : 0; k < (colons ? 3 : wide ? COUNT(forms) : 1); k++) {
            char begins[] = {first, ' ', way.quote};
            snprintf(way.wide, sizeof way.wide, forms[k], first, first);
            if (k == 1 ? !way.quote || !memmem(study->text, length, begins, 3)
                       : k && !memmem(study->text, length, way.wide, strlen(way.wide)))
                continue;
            if (k == 2 && (first == ',' || first == '\t')) /* an empty column of a sheet */
                continue;
            const candidate_t found = weigh(study, &way, none);
            const bool joins =
                none && way.quote == '\'' && found.of_lines; /* lines of texts with apostrophes */
            if (found.score > best.score && !tears(&found, &best) && !joins && (k < 2 || found.fitting > 1))
                best = found;
        }
    }
    return best;
}

/* ---- the question ---- */

/* Asks, with both readings and the option for each. columns: the number by the other sign; 0: not known. Returns false. */
static bool ask(const char *name, const candidate_t *one, char other, size_t columns, const char *why,
                err_t *err) {
    const char *first = guess_delimiter_word(sign_of(&one->is.way)), *second = guess_delimiter_word(other);
    char reading[80] = "be a part of their values", count[24] = "";
    if (other != '\n')
        snprintf(reading, sizeof reading, "'%s' into %zu", second, columns);
    if (one->is.columns)
        snprintf(count, sizeof count, "%zu ", one->is.columns);
    return err_set(err, STATUS_INPUT,
                   "%.1000s: '%s' may divide its lines into %scolumns, or %s%s; say which by --with "
                   "delimiter='%s' or --with delimiter='%s'",
                   name, first, count, reading, why, first, second);
}

/* Asks about another candidate that divides as many lines as the best one, if cells of the best one hold its sign, or its own
 * cells do not hold that of the best one. */
static bool check_rivals(const candidate_t *found, const char *name, const candidate_t *best, err_t *err) {
    const char *const sign = memchr(delimiters, best->is.way.delimiter, CANDIDATES);
    for (size_t i = 0; i < CANDIDATES; i++) {
        const structure_t *is = &found[i].is;
        if (is->way.delimiter != best->is.way.delimiter && is->columns > 1 && found[i].score > 0 &&
            found[i].fitting >= best->fitting && is->titles <= best->is.titles &&
            (best->holds >> i & 1 || !(found[i].holds >> (sign - delimiters) & 1)))
            return ask(name, best, sign_of(&is->way), is->columns, "", err);
    }
    return true;
}

/* Asks about a text that no delimiter divides, if marks of numbers, colons or blanks may. */
static bool check_undivided(study_t *study, const candidate_t *found, const candidate_t *none,
                            const char *name, err_t *err) {
    const candidate_t *colon = &found[COLON];
    if (colon->is.columns > 1 && colon->is.even && !colon->is.skip && none->holds >> COLON & 1)
        return ask(name, colon, '\n', 0, "", err);
    candidate_t blanks = weigh_sign(study, ' ');
    blanks.is.way.blanks = true;
    const bool likely = none->is.typed ? !blanks.is.skip : blanks.numbered + 1 >= blanks.records;
    return !(none->gaps * 2 > none->records || (blanks.score > LEAST_SCORE && blanks.is.even && likely)) ||
           ask(name, &blanks, '\n', 0, " (for columns of fixed width give a --format)", err);
}

/* Asks about a text that a delimiter divides, if the delimiter may be a part of the values, or another sign may divide. */
static bool check_divided(const study_t *study, const candidate_t *best, const char *name, err_t *err) {
    const char sign = best->is.way.delimiter;
    const bool mark = (sign == ',' || sign == ';') && !best->is.way.wide[0];
    const char *why = NULL;
    if (mark && best->whole == best->records)
        why = " (each of its lines may be a link, a number, or a text with one)";
    else if (mark && best->is.columns <= FEW_FIELDS && best->prose * 4 >= best->records && !best->is.typed &&
             !best->quoted && !study->said.header_line)
        why = " (a blank follows it, as in a text)";
    else if (2 * best->strange > best->records)
        why = " (most of its lines have a tab, or a backslash in front of it)";
    return !why || ask(name, best, '\n', 0, why, err);
}

/* ---- all of it ---- */

static bool choose(study_t *study, const char *name, structure_t *structure, err_t *err) {
    candidate_t found[CANDIDATES], none = {.score = 0}, best = {.score = 0};
    const char said = study->sign;
    for (size_t i = 0; !said && i < CANDIDATES; i++) {
        found[i] = weigh_sign(study, delimiters[i]);
        if (i != COLON && found[i].score > best.score)
            best = found[i];
    }
    if (said)
        best = weigh_sign(study, said);
    else
        none = weigh_sign(study, '\n');
    if (none.score > best.score) {
        if (best.score > LEAST_SCORE && !best.is.skip)
            return ask(name, &best, '\n', 0, " (some of its lines have no such columns)", err);
        best = none;
    }
    if (said == '\n' && best.is.columns)
        best.score = 1;
    if (!said && !(best.score > LEAST_SCORE && best.is.columns > 1
                       ? check_rivals(found, name, &best, err) && check_divided(study, &best, name, err)
                       : check_undivided(study, found, &none, name, err)))
        return false;
    *structure = best.is;
    structure->unsure_quotes = best.is.way.quote != '"' && (best.odd || study->escapes);
    if (best.score <= LEAST_SCORE)
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: no delimiter (of , ; tab | || \\x01 if none is given) divides its lines evenly; "
            "give --format, or --with delimiter=blanks, another sign, or of one column none",
            name);
    if (best.is.columns > SCHEMA_MOST_FIELDS)
        return err_set(err, STATUS_INPUT, "%.1000s: has %zu columns; a format has %d fields at most", name,
                       best.is.columns, SCHEMA_MOST_FIELDS);
    return true;
}

/* Where line `number` begins; NULL: there is none. */
static const uint8_t *find_line(const uint8_t *text, const uint8_t *end, uint32_t number) {
    for (uint32_t line = 1; text && line < number; line++)
        text = (text = memchr(text, '\n', (size_t)(end - text))) ? text + 1 : NULL;
    return text && text < end ? text : NULL;
}

bool guess_find_structure(structure_t *structure, const char *name, const uint8_t *text, size_t length,
                          bool whole, const guess_options_t *said, err_t *err) {
    const uint8_t *const end = text + length, *const at = text + lines_bom(text, length);
    const bool given = end - at > 6 && strncasecmp((const char *)at, "sep=", 4) == 0 &&
                       (at[5] == '\n' || at[5] == '\r') && memchr(delimiters, at[4], CANDIDATES);
    const uint8_t *first = find_line(at, end, given && said->header_line < 2 ? 2 : said->header_line);
    if (!first || said->header_line > SCHEMA_MOST_SKIPPED + 1)
        return err_set(err, STATUS_INPUT,
                       "%.1000s: --with header=%u: its beginning has no such line, or more than %d before it",
                       name, said->header_line, SCHEMA_MOST_SKIPPED);
    study_t *study = calloc(1, sizeof *study);
    if (!study)
        return err_memory(err, sizeof *study);
    *structure = (structure_t){.columns = 0};
    study->text = first;
    study->said = *said;
    study->sign = said->delimiter ? guess_delimiter_signs[said->delimiter - 1] : given ? (char)at[4] : 0;
    study->last = whole && end - first <= LOOK_AT;
    study->end = end - first <= LOOK_AT ? end : first + LOOK_AT;
    study->escapes = holds_escape(first, study->end, '"');
    bool ok = choose(study, name, structure, err);
    structure->given = lines_count(text, (size_t)(first - text));
    structure->skip += structure->given;
    structure->first += (size_t)(first - text);
    structure->names += (size_t)(first - text);
    ok = study->failed ? err_memory(err, study->split.scratch_room) : ok;
    split_free(&study->split);
    free(study);
    return ok;
}
