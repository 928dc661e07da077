/* Colons stand in many texts, and divide few: where nothing tells that they do, it is asked. */
#include "format/guess/structure/guess_structure.h"
#include "format/guess/structure/guess_study.h"

#include <ctype.h>
#include <string.h>

/* ---- colons that are a part of a text ---- */

/* Is the colon here that of a time? alone: of one that has nothing else beside it, unlike u10:10:110. */
static bool is_of_time(const uint8_t *text, size_t length, size_t at, bool alone) {
    if (!at || !isdigit(text[at - 1]) || text[at + 1] < '0' || text[at + 1] > '5' || !isdigit(text[at + 2]))
        return false;
    size_t from = at - 1, to = at + 3;
    from -= from && isdigit(text[from - 1]);
    if (to + 2 < length && text[to] == ':' && text[to + 1] <= '5' && isdigit(text[to + 1]) &&
        isdigit(text[to + 2]))
        to += 3;
    const bool begins = !from || !(isalnum(text[from - 1]) || text[from - 1] == ':') ||
                        (text[from - 1] == 'T' && from > 1 && isdigit(text[from - 2]));
    return !alone || (begins && (to == length || !(isdigit(text[to]) || text[to] == ':')));
}

/* http://, 12:30: not in quotes, where these count. */
static bool has_other_colon(const uint8_t *text, size_t length, char quote, bool alone) {
    bool quoted = false;
    for (size_t i = 0; i < length; i++) {
        quoted ^= quote && text[i] == (uint8_t)quote;
        if (text[i] != ':' || quoted || i + 2 >= length)
            continue;
        if (memcmp(text + i + 1, "//", 2) == 0 || is_of_time(text, length, i, alone))
            return true;
    }
    return false;
}

/* Times and links hold colons that divide nothing. */
static bool has_other_colons(const study_t *study, bool alone) {
    size_t others = 0, hashes = 0;
    for (size_t i = 0; i < study->count; i++) {
        hashes += study->records[i].hash; /* comments hold any text */
        others +=
            !study->records[i].hash && has_other_colon(study->text + study->records[i].at,
                                                       study->records[i].length, study->schema.quote, alone);
    }
    return others * 2 > study->count - hashes;
}

/* 12:30:00, 00:1a:2b:3c:4d:5e, fe80::1, 10.0.0.1:80 */
static bool is_of_addresses(const study_t *study) {
    size_t addresses = 0, lines = 0;
    for (size_t i = 0; i < study->count; i++) {
        const uint8_t *text = study->text + study->records[i].at;
        const size_t length = study->records[i].length;
        size_t pairs = 0, at = 0;
        if (study->records[i].hash)
            continue;
        lines++;
        for (; at < length && strchr("0123456789abcdefABCDEF:.[]%/", text[at]); at++)
            pairs += at && text[at] == ':' && text[at - 1] == ':';
        addresses += at == length && pairs < 2;
    }
    return addresses * 2 > lines;
}

bool guess_are_colons_of_texts(const study_t *study, const way_t *way) {
    return (guess_way_sign(way) != GUESS_TWO_COLONS && has_other_colons(study, false)) ||
           is_of_addresses(study);
}

/* ---- what tells that they divide ---- */

/* What the fields of a column are, but for the first one, which may be its name. */
typedef struct {
    bool name; /* the first one is like a name */
    size_t values, typed, links, times;
    const uint8_t *first; /* in the text, with its quotes */
    uint32_t length;
    bool differ;
} colons_t;

/* Of the lines that a way divides into as many columns as most. */
typedef struct {
    size_t columns, lines;
    bool even;    /* these are all lines, but for comments */
    bool quoted;  /* all their fields are in quotes */
    bool named;   /* names stand above a column of numbers or the like */
    bool numbers; /* a column is of those, and not the same in all lines; */
    bool first;   /* so is the first one */
    bool links;   /* a column is of links, */
    bool behind;  /* which is not the first one */
    bool times;
    bool in_first; /* the first column holds colons; */
    bool in_words; /* beside blanks */
    bool pairs;    /* in most lines words stand beside a number that colons divide, as in 1:0.5 2:0.7 */
} told_t;

/* 12:30, 07:05:09.25, and no group of an address, as in fe80::12:30ab */
static bool is_clock(const span_t *span) {
    static const char form[] = "##:##:##.";
    size_t at = 0;
    for (; at < span->length && at < sizeof form - 1; at++)
        if (form[at] == '#' ? !isdigit(span->text[at]) : span->text[at] != (uint8_t)form[at])
            return false;
    for (; at < span->length; at++)
        if (!isdigit(span->text[at]))
            return false;
    return (span->length == 5 || span->length == 8 || span->length > sizeof form - 1) &&
           span->text[0] < '3' && span->text[3] < '6';
}

/* Or a group of an address. */
static bool is_of_number(const uint8_t *from, const uint8_t *to) {
    for (const uint8_t *at = from; at < to; at++)
        if (!isxdigit(*at) && *at != '.' && *at != '+' && *at != '-')
            return false;
    return from < to;
}

/* Of several words: is the one beside a colon a number? */
static bool is_in_pairs(const span_t *span, bool first, bool last) {
    const uint8_t *text = span->text, *end = text + span->length,
                  *blank = span->length ? memchr(text, ' ', span->length) : NULL;
    return blank && ((!first && is_of_number(text, blank)) ||
                     (!last && is_of_number((const uint8_t *)memrchr(text, ' ', span->length) + 1, end)));
}

/* Of letters, and what else names have behind the first one. */
static bool is_like_name(const span_t *span) {
    for (size_t i = 0; i < span->length; i++) {
        const uint8_t byte = span->text[i];
        if (!isalpha(byte) && byte < 0x80 && (!i || !byte || !(isdigit(byte) || strchr(" _-.()", byte))))
            return false;
    }
    return span->length > 0;
}

static void add_line(const study_t *study, size_t record, bool first, colons_t *columns) {
    const span_t *spans = study->split.spans;
    for (size_t j = 0; j < study->split.count && j < SCHEMA_MOST_FIELDS; j++) {
        colons_t *column = &columns[j];
        const value_is_t is = guess_classify(spans[j].text, spans[j].length);
        if (first) {
            column->name = is != IS_TYPED && is_like_name(&spans[j]);
            continue;
        }
        column->values += is != IS_NOTHING;
        column->typed += is != IS_TEXT;
        column->links += guess_begins_link(spans[j].text, spans[j].length);
        column->times += is_clock(&spans[j]);
        const uint8_t *text = study->text + study->records[record].at + spans[j].at;
        column->first = column->first ? column->first : text;
        column->length = column->first == text ? spans[j].raw_length : column->length;
        column->differ |=
            spans[j].raw_length != column->length || memcmp(text, column->first, column->length) != 0;
    }
}

static bool look(study_t *study, const way_t *way, told_t *told, err_t *err) {
    static _Thread_local colons_t columns[SCHEMA_MOST_FIELDS];
    size_t pairs = 0, hashes = 0;
    memset(columns, 0, sizeof columns);
    if (!guess_cut_all(study, way, err))
        return false;
    for (size_t i = 0; i < study->count; i++)
        hashes += study->records[i].hash;
    *told = (told_t){.columns = guess_usual_fields(study), .even = true, .quoted = true};
    for (size_t i = 0; i < study->count; i++) {
        const bool comment = study->records[i].hash && hashes < study->count;
        told->even &= comment || study->records[i].fields == told->columns;
        if (study->records[i].fields != told->columns)
            continue;
        if (!guess_split(study, way->delimiter, i, err))
            return false;
        const span_t *spans = study->split.spans;
        const bool first = !told->lines++;
        add_line(study, i, first, columns);
        bool pair = false;
        for (size_t j = 0; j < study->split.count; j++) {
            pair |= is_in_pairs(&spans[j], !j, j + 1 == study->split.count);
            told->quoted &= spans[j].raw_length > spans[j].length;
        }
        pairs += pair;
        if (!first && spans->length && memchr(spans->text, ':', spans->length)) {
            told->in_first = true;
            told->in_words |= memchr(spans->text, ' ', spans->length) != NULL;
        }
    }
    const size_t rows = told->lines - (told->lines > 0);
    bool names = true;
    for (size_t j = 0; rows && j < told->columns && j < SCHEMA_MOST_FIELDS; j++) {
        const colons_t *column = &columns[j];
        const bool typed = column->typed == rows;
        /* many addresses begin with 2001:: */
        const bool numbers = typed && 2 * column->values > rows && (column->differ || rows < 3);
        told->named |= typed && column->values;
        names &= column->name;
        told->numbers |= numbers;
        told->first |= numbers && !j;
        told->links |= 2 * column->links > rows;
        told->behind |= 2 * column->links > rows && j;
        told->times |= 2 * column->times > rows;
    }
    told->named &= names;
    told->pairs = 2 * pairs > told->lines;
    return true;
}

bool guess_are_two_colons(study_t *study, const structure_t *found, bool *are, err_t *err) {
    told_t told;
    if (!look(study, &found->way, &told, err))
        return false;
    /* names have any number of them; 12:30 std::string::5 is a text */
    *are =
        10 * found->fitting >= 9 * study->count &&
        (told.first || told.behind || (told.columns > 2 && (told.times || (told.numbers && !told.in_first))));
    return true;
}

bool guess_compare_colons(study_t *study, const structure_t *found, int *better, err_t *err) {
    char wide[4];
    if (guess_way_sign(&found->way) == GUESS_TWO_COLONS)
        *better = *better ? *better : 1;
    else
        *better = guess_is_widened(study, found, wide, err) ? 1 : *better > 0 ? 0 : *better;
    return err->status == STATUS_OK;
}

/* ---- what is asked ---- */

static bool refuse(const way_t *way, size_t columns, const char *name, err_t *err) {
    const char sign = guess_way_sign(way);
    char shown[8];
    guess_name_delimiter(shown, sign);
    return err_set(err, STATUS_INPUT,
                   "%.1000s: %s may divide its lines into %zu columns, or be a part of their text, as in "
                   "host:port; say which by --with delimiter=%s or --with delimiter=none",
                   name, shown, columns, guess_delimiter_word(sign));
}

/* Does another sign divide all lines, too? *other: that one. False: err. */
static bool find_other(study_t *study, const structure_t *best, structure_t *other, err_t *err) {
    static const char signs[] = {'\t', '|', ';', ','};
    for (size_t i = 0; i < sizeof signs && !other->columns; i++) {
        told_t told;
        way_t way = {.delimiter = signs[i], .quote = best->way.quote, .backslash = best->way.backslash};
        if (!look(study, &way, &told, err))
            return false;
        if (told.even && told.columns > 1)
            *other = (structure_t){.way = way, .columns = told.columns};
    }
    return true;
}

/* A colon, or two, divide: is it sure that they do? */
static bool check_divided(study_t *study, const structure_t *best, const way_t *two, const char *name,
                          err_t *err) {
    const bool wide = best->way.wide[0];
    structure_t other = {.columns = 0};
    told_t told, twice = {.even = false};
    if (!look(study, &best->way, &told, err) || (!wide && !look(study, two, &twice, err)))
        return false;
    if (told.quoted && told.columns > 2)
        return true;
    const bool are_two = twice.even && (twice.columns > 2 || (twice.columns == 2 && twice.first));
    if (!are_two && (told.named || (wide ? told.columns > 2 && (told.numbers || told.links || told.times)
                                         : told.columns > 3 && told.numbers && !told.pairs)))
        return true;
    if (are_two)
        other = (structure_t){.way = *two, .columns = twice.columns};
    else if (!find_other(study, best, &other, err))
        return false;
    return other.columns ? guess_refuse_two(best, &other, name, err)
                         : refuse(&best->way, best->columns, name, err);
}

/* Nothing divides: may colons do? */
static bool check_undivided(study_t *study, const way_t *one, const way_t *two, const char *name,
                            err_t *err) {
    told_t told;
    if (!look(study, two, &told, err))
        return false;
    if (is_of_addresses(study))
        return true;
    if (told.even && told.columns > 2 && !told.in_words && (told.numbers || told.links || told.times))
        return refuse(two, told.columns, name, err);
    if (!look(study, one, &told, err))
        return false;
    return !told.even || told.columns < 2 || !told.numbers || has_other_colons(study, true) ||
           refuse(one, told.columns, name, err);
}

/* Do colons stand on both sides of what divides a line, and none between: u1:x:1000:1000:Ann Lee,Room 7,:/home/u1:/bin/sh? */
static bool are_around(const study_t *study, size_t record, char sign) {
    const uint8_t *text = study->text + study->records[record].at;
    const size_t length = study->records[record].length;
    const uint8_t *first = memchr(text, sign, length), *last = memrchr(text, sign, length);
    return !first ||
           (memchr(text, ':', (size_t)(first - text)) && memchr(last, ':', (size_t)(text + length - last)) &&
            !memchr(first, ':', (size_t)(last - first)));
}

/* Another sign divides, and colons seem to be those of times: may they divide, and it stand in one of their columns? */
static bool check_beside(study_t *study, const structure_t *best, const way_t *one, const char *name,
                         err_t *err) {
    told_t told;
    if (!look(study, one, &told, err))
        return false;
    bool around = told.even && told.columns > 3 && told.numbers && !told.pairs;
    for (size_t i = 0; i < study->count && around; i++)
        around = are_around(study, i, best->way.delimiter);
    const structure_t other = {.way = *one, .columns = told.columns};
    return !around || has_other_colons(study, true) || guess_refuse_two(best, &other, name, err);
}

bool guess_check_colons(study_t *study, const structure_t *best, const char *name, err_t *err) {
    way_t one = {.delimiter = ':', .quote = best->way.quote, .backslash = best->way.backslash}, two = one;
    memcpy(two.wide, "::", 3);
    if (best->columns < 2 || best->score <= 0.25)
        return check_undivided(study, &one, &two, name, err);
    return best->way.delimiter == ':' ? check_divided(study, best, &two, name, err)
                                      : check_beside(study, best, &one, name, err);
}
