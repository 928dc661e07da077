/* What else may divide the lines of a text than what seems to, or be a part of its values. */
#include "format/guess/column/guess_name.h"
#include "format/guess/structure/guess_study.h"
#include "format/values/blanks.h"
#include "format/values/digits.h"

#include <string.h>

enum {
    LOOK_AT = 100,   /* records */
    SOME_BLANKS = 4, /* behind one in so many commas: these may be of a text */
    FEW_FIELDS = 3,  /* of so many at most words with commas between them may be one text */
};

/* ---- two delimiters ---- */

/* How the fields of one look to the other. */
typedef struct {
    size_t mixed; /* hold the other sign, and are no number in which it is a mark */
    bool prose;   /* the other sign has a blank behind it in each of those */
    size_t columns;
    size_t clean; /* of these, those that hold the other sign nowhere; */
    size_t shows; /* those that are of numbers, dates or the like */
    bool hides;   /* the other sign would make such a column of parts of another one; */
    bool mixes;   /* and other columns, too, of the same one: not as a list of numbers */
    bool tab;     /* it is a tab, which hardly any text holds */
} side_t;

typedef struct {
    bool typed, text; /* some of them are */
} parts_t;

static parts_t look_at_parts(const span_t *span, char sign) {
    const uint8_t *at = span->text, *const end = at + span->length;
    parts_t parts = {.typed = false};
    for (const uint8_t *next; at <= end; at = next + 1) {
        next = at < end ? memchr(at, sign, (size_t)(end - at)) : NULL;
        next = next ? next : end;
        const value_is_t is = guess_classify(at, (size_t)(next - at));
        parts.typed |= is == IS_TYPED;
        parts.text |= is != IS_TYPED && is != IS_NOTHING;
    }
    return parts;
}

static bool is_before_blanks(const span_t *span, char sign) {
    for (size_t i = 0; i < span->length; i++)
        if (span->text[i] == (uint8_t)sign && (i + 1 == span->length || span->text[i + 1] != ' '))
            return false;
    return true;
}

typedef struct {
    uint32_t values, typed; /* but for the first row */
    uint32_t parts, both;   /* of which the other sign makes a number or the like; and a text beside it */
    bool mixed, mixed_name; /* a value, the first row's one holds the other sign */
} sides_t;

static void look_at_field(const span_t *span, char sign, bool first, sides_t *column, side_t *side) {
    const bool in_quotes = span->raw_length > span->length,
               holds = !in_quotes && span->length && memchr(span->text, sign, span->length);
    const uint8_t *text = span->text;
    size_t length = span->length;
    blanks_trim(&text, &length);
    const value_is_t is = guess_classify(text, length);
    if (holds && is != IS_TYPED) {
        side->mixed++;
        side->prose &= is_before_blanks(span, sign);
        column->mixed = true;
        column->mixed_name |= first;
    }
    if (first || is == IS_NOTHING)
        return;
    column->values++;
    column->typed += is == IS_TYPED;
    const parts_t parts = holds ? look_at_parts(span, sign) : (parts_t){.typed = false};
    column->parts += parts.typed;
    column->both += parts.typed && parts.text;
}

static bool look_at_side(study_t *study, const structure_t *found, char sign, side_t *side, err_t *err) {
    static _Thread_local sides_t columns[SCHEMA_MOST_FIELDS];
    size_t looked = 0;
    memset(columns, 0, sizeof columns);
    *side = (side_t){.prose = true, .columns = found->columns, .tab = found->way.delimiter == '\t'};
    if (!guess_cut_all(study, &found->way, err))
        return false;
    for (size_t i = 0; i < study->count && looked < LOOK_AT; i++) {
        if (study->records[i].fields != found->columns)
            continue;
        if (!guess_split(study, found->way.delimiter, i, err))
            return false;
        for (size_t j = 0; j < study->split.count && j < SCHEMA_MOST_FIELDS; j++)
            look_at_field(&study->split.spans[j], sign, !looked && study->count > 1, &columns[j], side);
        looked++;
    }
    for (size_t j = 0; j < found->columns && j < SCHEMA_MOST_FIELDS; j++) {
        const sides_t *column = &columns[j];
        const bool typed = column->values && column->typed == column->values && !column->mixed_name;
        side->clean += !column->mixed;
        side->shows += typed;
        side->hides |= !typed && column->values && column->parts == column->values;
        side->mixes |= !typed && column->values && column->both == column->values;
    }
    return true;
}

/* It makes as many columns of numbers or dates, and keeps as many of its columns whole, one of which more; and the other one mixes
 * them with texts, as the comma does in "7;Ann;Berlin, 10115;3,5". */
static bool divides_better(const side_t *one, const side_t *other) {
    const size_t ones = one->clean * other->columns, others = other->clean * one->columns;
    return other->mixes && one->shows >= other->shows && ones >= others &&
           (one->shows > other->shows || ones > others);
}

/* The other sign has a blank behind it, as in a text. It may still be the one that divides, if it makes columns of numbers or dates,
 * as in "a;b, 2024-01-02, 5", and the one is no tab, which hardly any text holds. */
static bool is_of_text(const side_t *one, const side_t *other) {
    return one->prose && !other->prose && (!other->shows || one->tab || divides_better(one, other));
}

/* Does the one tell more than the other? Its fields hold the other sign in numbers only, or as in a text; or it makes columns of
 * numbers or dates, and the other one none but those. */
static bool is_surely(const side_t *one, const side_t *other) {
    return other->mixed && (!one->mixed || is_of_text(one, other) ||
                            (one->shows && !one->hides && other->hides && one->prose == other->prose));
}

bool guess_compare_rivals(study_t *study, const structure_t *one, const structure_t *other, int *better,
                          err_t *err) {
    side_t sides[2];
    if (!look_at_side(study, one, other->way.delimiter, &sides[0], err) ||
        !look_at_side(study, other, one->way.delimiter, &sides[1], err))
        return false;
    const bool neither = !sides[0].mixed && !sides[1].mixed; /* all in quotes, or marks of numbers */
    *better = neither || is_surely(&sides[0], &sides[1]) ? -1 : is_surely(&sides[1], &sides[0]) ? 1 : 0;
    return true;
}

/* ---- commas ---- */

/* What all records that a comma, or a semicolon, divides have in common, but for the first one, which may name the columns. */
typedef struct {
    size_t records, quoted;
    size_t names;                /* of the first record, such as many files have */
    size_t signs, before_blanks; /* commas; those with a blank behind */
    bool seconds;                /* 10:00:00,007 */
    bool first_like;             /* the first record is as all others are in this: */
    size_t words;                /* so many, between blanks; 0: not the same in all */
    size_t cut[FEW_FIELDS];      /* by field, the first ones: the comma behind it is in a word of digits; */
    size_t hidden[FEW_FIELDS];   /* a number stands in it between blanks; */
    size_t typed[SCHEMA_MOST_FIELDS]; /* of all columns: numbers and the like */
} commas_t;

/* 10:00:00,007 somewhere. */
static bool has_seconds(const uint8_t *text, size_t length) {
    static const char form[] = "dd:dd,ddd";
    enum { FORM = sizeof form - 1 };
    for (size_t i = 0; i + FORM <= length; i++) {
        size_t same = 0;
        while (same < FORM &&
               (form[same] == 'd' ? digits_is_one(text[i + same]) : text[i + same] == (uint8_t)form[same]))
            same++;
        if (same == FORM && (i + FORM == length || !digits_is_one(text[i + FORM])))
            return true;
    }
    return false;
}

/* 10, -5, 07, 1.5 */
static bool is_of_digits(const uint8_t *from, const uint8_t *to) {
    from += from < to && *from == '-';
    const uint8_t *at = from;
    while (at < to && (digits_is_one(*at) || ((*at == '.' || *at == '\'') && at > from)))
        at++;
    return at == to && from < to;
}

/* Is the comma behind this field one between digits, and is there a blank in the word's field on either side: "a1.jpg 10,20",
 * "1,5 2"? */
static bool is_in_word(const span_t *span) {
    const span_t *next = span + 1;
    if (!span->length || !next->length)
        return false;
    const uint8_t *blank = memrchr(span->text, ' ', span->length),
                  *first = memchr(next->text, ' ', next->length), *from = blank ? blank + 1 : span->text,
                  *to = first ? first : next->text + next->length;
    return ((blank && blank > span->text) || (first && first + 1 < next->text + next->length)) &&
           is_of_digits(from, span->text + span->length) && is_of_digits(next->text, to);
}

/* With a blank before it, perhaps. */
static bool is_name(const span_t *span) {
    const bool blank = span->length && *span->text == ' ';
    return guess_is_column_word((const char *)span->text + blank, span->length - blank);
}

static bool add_record(study_t *study, size_t at, commas_t *commas, err_t *err) {
    const uint8_t *text = study->text + study->records[at].at;
    const size_t length = study->records[at].length, words = guess_count_words(text, length, true);
    const bool first = !commas->records++;
    const char sign = study->schema.delimiters[0];
    if (!guess_split(study, sign, at, err))
        return false;
    commas->words = first || commas->words == words ? words : 0;
    commas->quoted += memchr(text, '"', length) != NULL;
    for (size_t i = 0; i < length; i++)
        if (text[i] == (uint8_t)sign) {
            commas->signs++;
            commas->before_blanks += i + 1 < length && text[i + 1] == ' ';
        }
    const bool seconds = has_seconds(text, length);
    if (first)
        commas->first_like = seconds;
    else
        commas->seconds &= seconds;
    for (size_t j = 0; j < study->split.count && j < SCHEMA_MOST_FIELDS; j++) {
        const span_t *span = &study->split.spans[j];
        const bool typed = guess_classify(span->text, span->length) == IS_TYPED;
        commas->typed[j] += typed;
        commas->names += first && is_name(span);
        if (j < FEW_FIELDS)
            commas->hidden[j] += !typed && look_at_parts(span, ' ').typed;
        if (j + 1 < study->split.count && j < FEW_FIELDS)
            commas->cut[j] += is_in_word(span);
    }
    return true;
}

static bool refuse_words(const structure_t *found, const char *name, err_t *err) {
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: its commas have a blank behind them, and make no column of numbers: they may "
        "divide its lines into %zu columns, or be a part of their text; say which by --with delimiter=, "
        "or --with delimiter=none",
        name, found->columns);
}

static bool refuse_seconds(const char *name, err_t *err) {
    return err_set(err, STATUS_INPUT,
                   "%.1000s: the comma behind the seconds of its times may be their decimal mark, or divide "
                   "columns. Make it a dot if it is a mark "
                   "(sed -E 's/(:[0-9]{2}),([0-9]{3})/\\1.\\2/' FILE > NEW), and give that; else say "
                   "--with delimiter=,",
                   name);
}

static bool refuse_blanks(const study_t *study, const structure_t *found, const char *name, err_t *err) {
    const char sign = found->way.delimiter;
    const uint8_t *text = study->text + study->records[0].at;
    const int shown = study->records[0].length < 60 ? (int)study->records[0].length : 60;
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: '%c' divides its lines into %zu columns, and blanks may divide them, too ('%.*s'): "
        "say which by --with delimiter='%c' or --with delimiter=blanks",
        name, sign, found->columns, shown, (const char *)text, sign);
}

bool guess_check_commas(study_t *study, const structure_t *found, const char *name, err_t *err) {
    static _Thread_local commas_t commas;
    const char sign = found->way.delimiter;
    if ((sign != ',' && sign != ';') || found->way.wide[0] || found->columns < 2)
        return true;
    if (!guess_cut_all(study, &found->way, err))
        return false;
    memset(&commas, 0, sizeof commas);
    commas.seconds = true;
    for (size_t i = 0; i < study->count && commas.records < LOOK_AT; i++)
        if (study->records[i].fields == found->columns && !add_record(study, i, &commas, err))
            return false;
    const size_t rows = commas.records - (commas.records > 1); /* the first one may be names */
    bool typed = false;
    for (size_t j = 0; j < found->columns && j < SCHEMA_MOST_FIELDS; j++)
        typed |= commas.typed[j] >= rows;
    if (sign == ',' && commas.seconds && (rows > 1 || commas.first_like) && rows)
        return refuse_seconds(name, err);
    if (sign == ',' && SOME_BLANKS * commas.before_blanks >= commas.signs && !commas.quoted && !typed &&
        found->columns <= FEW_FIELDS && !study->named && commas.names < found->columns)
        return refuse_words(found, name, err);
    bool cut = false;
    for (size_t j = 0; j < FEW_FIELDS && j + 1 < found->columns; j++)
        cut |= commas.cut[j] == commas.records;
    for (size_t j = 0; !typed && j < FEW_FIELDS; j++)
        cut |= commas.hidden[j] == commas.records;
    return !cut || commas.words < (sign == ',' ? 2 : 3) || commas.before_blanks || found->skip ||
           refuse_blanks(study, found, name, err);
}
