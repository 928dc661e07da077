/* Colons stand in many texts, and divide few. */
#include "format/guess/structure/guess_structure.h"
#include "format/guess/structure/guess_study.h"

#include <string.h>

/* http://, 12:30: not in quotes, where these count. */
static bool has_other_colon(const uint8_t *text, size_t length, char quote) {
    bool quoted = false;
    for (size_t i = 0; i < length; i++) {
        quoted ^= quote && text[i] == (uint8_t)quote;
        if (text[i] != ':' || quoted || i + 2 >= length)
            continue;
        if ((text[i + 1] == '/' && text[i + 2] == '/') ||
            (i && text[i - 1] >= '0' && text[i - 1] <= '9' && text[i + 1] >= '0' && text[i + 1] <= '5' &&
             text[i + 2] >= '0' && text[i + 2] <= '9'))
            return true;
    }
    return false;
}

/* Times and addresses hold colons that divide nothing. */
static bool has_other_colons(const study_t *study) {
    size_t others = 0, hashes = 0;
    for (size_t i = 0; i < study->count; i++) {
        hashes += study->records[i].hash; /* comments hold any text */
        others += !study->records[i].hash && has_other_colon(study->text + study->records[i].at,
                                                             study->records[i].length, study->schema.quote);
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
    return (guess_way_sign(way) != GUESS_TWO_COLONS && has_other_colons(study)) || is_of_addresses(study);
}

bool guess_names_numbers(study_t *study, const structure_t *found, bool *are, err_t *err) {
    static _Thread_local bool typed[SCHEMA_MOST_FIELDS];
    size_t looked = 0;
    *are = false;
    if (!guess_cut_all(study, &found->way, err))
        return false;
    for (size_t i = 0; i < study->count; i++) {
        if (study->records[i].fields != found->columns)
            continue;
        if (!guess_split(study, found->way.delimiter, i, err))
            return false;
        const bool first = !looked++;
        for (size_t j = 0; j < study->split.count && j < SCHEMA_MOST_FIELDS; j++) {
            const bool is =
                guess_classify(study->split.spans[j].text, study->split.spans[j].length) == IS_TYPED;
            typed[j] = first ? !is : typed[j] && is;
        }
    }
    for (size_t j = 0; looked > 1 && j < found->columns && j < SCHEMA_MOST_FIELDS; j++)
        *are |= typed[j];
    return true;
}

/* What the fields of a column are, but for the first one. */
typedef struct {
    size_t values, typed, links, times;
    const uint8_t *first; /* in the text, with its quotes */
    uint32_t length;
    bool differ;
} colons_t;

/* 12:30, 07:05:09.25, and no group of an address, as in fe80::12:30ab */
static bool is_clock(const span_t *span) {
    static const char form[] = "##:##:##.";
    size_t at = 0;
    for (; at < span->length && at < sizeof form - 1; at++)
        if (form[at] == '#' ? span->text[at] < '0' || span->text[at] > '9'
                            : span->text[at] != (uint8_t)form[at])
            return false;
    for (; at < span->length; at++)
        if (span->text[at] < '0' || span->text[at] > '9')
            return false;
    return (span->length == 5 || span->length == 8 || span->length > sizeof form - 1) &&
           span->text[0] < '3' && span->text[3] < '6';
}

bool guess_are_two_colons(study_t *study, const structure_t *found, bool *are, err_t *err) {
    static _Thread_local colons_t columns[SCHEMA_MOST_FIELDS];
    size_t looked = 0, others = 0;
    memset(columns, 0, sizeof columns);
    *are = false;
    if (!guess_cut_all(study, &found->way, err))
        return false;
    if (10 * found->fitting < 9 * study->count) /* names have any number of them */
        return true;
    for (size_t i = 0; i < study->count; i++) {
        if (study->records[i].fields != found->columns)
            continue;
        if (!guess_split(study, found->way.delimiter, i, err))
            return false;
        const span_t *spans = study->split.spans;
        for (size_t j = 0; looked && j < study->split.count && j < SCHEMA_MOST_FIELDS; j++) {
            colons_t *column = &columns[j];
            const value_is_t is = guess_classify(spans[j].text, spans[j].length);
            column->values += is != IS_NOTHING;
            column->typed += is != IS_TEXT;
            column->links += j && guess_begins_link(spans[j].text, spans[j].length);
            column->times += is_clock(&spans[j]);
            const uint8_t *text = study->text + study->records[i].at + spans[j].at;
            column->first = column->first ? column->first : text;
            column->length = column->first == text ? spans[j].raw_length : column->length;
            column->differ |=
                spans[j].raw_length != column->length || memcmp(text, column->first, column->length) != 0;
        }
        others += looked && spans->length && memchr(spans->text, ':', spans->length) != NULL;
        looked++; /* the first one may be names */
    }
    for (size_t j = 0; looked > 1 && j < found->columns && j < SCHEMA_MOST_FIELDS; j++) {
        const colons_t *column = &columns[j];
        /* many addresses begin with 2001:: */
        const bool typed =
            2 * column->values >= looked && column->typed + 1 == looked && (column->differ || looked < 4);
        /* 12:30 std::string::5 is a text */
        *are |= 2 * column->links >= looked || (typed && (!j || (found->columns > 2 && !others))) ||
                (2 * column->times >= looked && found->columns > 2);
    }
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
