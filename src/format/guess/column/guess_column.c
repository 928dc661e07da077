#include "format/guess/column/guess_column.h"
#include "base/chars.h"
#include "format/values/blanks.h"
#include "format/values/calendar.h"
#include "format/values/pattern.h"

#include <pthread.h>
#include <string.h>

/* The first seven are those of the type datetime (schema_read.c); of the others an earlier one is preferred. */
static const date_pattern_t patterns[] = {
    {"YYYY-MM-DD", ORDER_ISO, '-', false},
    {"YYYY-MM-DDThh:mm:ssZ", ORDER_ISO, '-', false},
    {"YYYY-MM-DD hh:mm:ss", ORDER_ISO, '-', false},
    {"YYYY-MM-DDThh:mm:ss", ORDER_ISO, '-', false},
    {"YYYY-MM-DDThh:mm:ss.SSSZ", ORDER_ISO, '-', false},
    {"YYYY-MM-DD hh:mm:ss.SSS", ORDER_ISO, '-', false},
    {"YYYY-MM-DDThh:mm:ss.SSS", ORDER_ISO, '-', false},
    {"YYYY-MM-DD hh:mm", ORDER_SURE, '-', false},
    {"YYYY-MM-DDThh:mm", ORDER_SURE, '-', false},
    {"YYYY-MM-DD hh:mm:ss.SSSSSS", ORDER_SURE, '-', false},
    {"YYYY-MM-DDThh:mm:ss.SSSSSS", ORDER_SURE, '-', false},
    {"YYYY-MM-DDThh:mm:ss.SSSSSSZ", ORDER_SURE, '-', false},
    {"YYYY-MM-DDThh:mm:ssZZ", ORDER_SURE, '-', false},
    {"YYYY-MM-DD hh:mm:ssZZ", ORDER_SURE, '-', false},
    {"YYYY-MM-DD hh:mm:ss ZZ", ORDER_SURE, '-', false},
    {"YYYY-MM-DDThh:mm:ss.SSSZZ", ORDER_SURE, '-', false},
    {"YYYY-MM-DDThh:mm:ss.SSSSSSZZ", ORDER_SURE, '-', false},
    /* UTC, said in the text */
    {"YYYY-MM-DD hh:mm:ss+00", ORDER_SURE, '-', false},
    {"YYYY-MM-DD hh:mm:ss UTC", ORDER_SURE, '-', false},
    {"YYYY/MM/DD", ORDER_SURE, '/', false},
    {"YYYY/MM/DD hh:mm", ORDER_SURE, '/', false},
    {"YYYY/MM/DD hh:mm:ss", ORDER_SURE, '/', false},
    {"YYYY.MM.DD", ORDER_SURE, '.', false},
    {"YYYYMMDD", ORDER_SURE, 0, true},
    {"YYYYMMDDhhmmss", ORDER_SURE, 0, true},
    /* nobody writes the month first here */
    {"DD.MM.YYYY", ORDER_DMY, '.', false},
    {"DD.MM.YYYY hh:mm", ORDER_DMY, '.', false},
    {"DD.MM.YYYY hh:mm:ss", ORDER_DMY, '.', false},
    {"D.M.YYYY", ORDER_DMY, '.', false},
    {"DD MON YYYY", ORDER_SURE, ' ', false},
    {"DD-MON-YYYY", ORDER_SURE, ' ', false},
    {"D MON YYYY", ORDER_SURE, ' ', false},
    {"DD-MON-YY", ORDER_SURE, ' ', false},
    {"MON D, YYYY", ORDER_SURE, ' ', false},
    {"MONTH D, YYYY", ORDER_SURE, ' ', false},
    {"DD/MON/YYYY:hh:mm:ss ZZ", ORDER_SURE, ' ', false},
    {"DD/MM/YYYY", ORDER_DMY, '/', false},
    {"MM/DD/YYYY", ORDER_MDY, '/', false},
    {"DD/MM/YYYY hh:mm", ORDER_DMY, '/', false},
    {"MM/DD/YYYY hh:mm", ORDER_MDY, '/', false},
    {"DD/MM/YYYY hh:mm:ss", ORDER_DMY, '/', false},
    {"MM/DD/YYYY hh:mm:ss", ORDER_MDY, '/', false},
    {"DD/MM/YYYY hh:mm:ss A", ORDER_DMY, '/', false},
    {"MM/DD/YYYY hh:mm:ss A", ORDER_MDY, '/', false},
    {"DD-MM-YYYY", ORDER_DMY, '-', false},
    {"MM-DD-YYYY", ORDER_MDY, '-', false},
    {"DD-MM-YYYY hh:mm", ORDER_DMY, '-', false},
    {"MM-DD-YYYY hh:mm", ORDER_MDY, '-', false},
    {"DD-MM-YYYY hh:mm:ss", ORDER_DMY, '-', false},
    {"MM-DD-YYYY hh:mm:ss", ORDER_MDY, '-', false},
    {"D/M/YYYY", ORDER_DMY, '/', false},
    {"M/D/YYYY", ORDER_MDY, '/', false},
    {"D/M/YYYY h:mm", ORDER_DMY, '/', false},
    {"M/D/YYYY h:mm", ORDER_MDY, '/', false},
    {"D/M/YYYY h:mm:ss", ORDER_DMY, '/', false},
    {"M/D/YYYY h:mm:ss", ORDER_MDY, '/', false},
    {"D/M/YYYY h:mm A", ORDER_DMY, '/', false},
    {"M/D/YYYY h:mm A", ORDER_MDY, '/', false},
    {"D/M/YYYY h:mm:ss A", ORDER_DMY, '/', false},
    {"M/D/YYYY h:mm:ss A", ORDER_MDY, '/', false},
    {"DD/MM/YY", ORDER_DMY, '/', false},
    {"MM/DD/YY", ORDER_MDY, '/', false},
    {"YY/MM/DD", ORDER_YMD, '/', false},
    {"DD/MM/YY hh:mm", ORDER_DMY, '/', false},
    {"MM/DD/YY hh:mm", ORDER_MDY, '/', false},
    {"YY/MM/DD hh:mm", ORDER_YMD, '/', false},
    {"DD/MM/YY hh:mm:ss", ORDER_DMY, '/', false},
    {"MM/DD/YY hh:mm:ss", ORDER_MDY, '/', false},
    {"YY/MM/DD hh:mm:ss", ORDER_YMD, '/', false},
    {"DD.MM.YY", ORDER_DMY, '.', false}, /* with a year of two digits it may be that which is first */
    {"YY.MM.DD", ORDER_YMD, '.', false},
    {"DD-MM-YY", ORDER_DMY, '-', false},
    {"MM-DD-YY", ORDER_MDY, '-', false},
    {"YY-MM-DD", ORDER_YMD, '-', false},
    {"DD-MM-YY hh:mm", ORDER_DMY, '-', false},
    {"MM-DD-YY hh:mm", ORDER_MDY, '-', false},
    {"YY-MM-DD hh:mm", ORDER_YMD, '-', false},
    {"DD-MM-YY hh:mm:ss", ORDER_DMY, '-', false},
    {"MM-DD-YY hh:mm:ss", ORDER_MDY, '-', false},
    {"YY-MM-DD hh:mm:ss", ORDER_YMD, '-', false},
    {"D/M/YY", ORDER_DMY, '/', false},
    {"M/D/YY", ORDER_MDY, '/', false},
    {"D/M/YY h:mm", ORDER_DMY, '/', false},
    {"M/D/YY h:mm", ORDER_MDY, '/', false},
    {"D/M/YY h:mm:ss", ORDER_DMY, '/', false},
    {"M/D/YY h:mm:ss", ORDER_MDY, '/', false},
    {"D/M/YY h:mm A", ORDER_DMY, '/', false},
    {"M/D/YY h:mm A", ORDER_MDY, '/', false},
    {"D/M/YY h:mm:ss A", ORDER_DMY, '/', false},
    {"M/D/YY h:mm:ss A", ORDER_MDY, '/', false},
};
enum { PATTERNS = sizeof patterns / sizeof *patterns, LEAST_DIGITS = 3 /* 1/2/2003 has more */ };
_Static_assert((int)PATTERNS <= (int)GUESS_MOST_PATTERNS, "a bit for each");

static pattern_t compiled[PATTERNS];
static date_set_t known;

static void compile(void) {
    for (size_t i = 0; i < PATTERNS; i++)
        if (!pattern_compile(patterns[i].text, strlen(patterns[i].text), &compiled[i]))
            known |= (date_set_t)1 << i;
}

size_t guess_pattern_count(void) {
    return PATTERNS;
}

const date_pattern_t *guess_pattern(size_t at) {
    return &patterns[at];
}

/* Eight digits that are a day of these years are hardly anything else. */
static bool is_of_our_time(int64_t ms) {
    const int64_t day = 86400000;
    return ms >= -25567 * day && ms < 47482 * day; /* 1900 to 2099 */
}

date_set_t guess_dates(date_set_t among, const uint8_t *text, size_t length) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    date_set_t found = 0;
    uint8_t padded[PATTERN_LONGEST + 16] = {0}; /* it is read a little past its end */
    pthread_once(&once, compile);
    size_t digits = 0;
    if (length < 6 || length >= PATTERN_LONGEST)
        return 0;
    for (size_t i = 0; i < length; i++)
        digits += text[i] >= '0' && text[i] <= '9';
    if (digits < LEAST_DIGITS)
        return 0;
    memcpy(padded, text, length);
    for (date_set_t left = among & known; left; left &= left - 1) {
        const size_t i = guess_first_date(left);
        int64_t ms;
        if (pattern_read(&compiled[i], padded, length, &ms) && (!patterns[i].digits || is_of_our_time(ms)))
            found |= (date_set_t)1 << i;
    }
    return found;
}

/* What all texts of a column may have in common, so that a header's name shows. */
enum {
    SHAPE_DIGIT = 1,       /* a digit somewhere */
    SHAPE_FIRST_DIGIT = 2, /* the first byte is one */
    SHAPE_FIRST_UPPER = 4,
    SHAPE_ALL_UPPER = 8,
    SHAPE_AT = 16,
    SHAPE_BLANK = 32,
    SHAPE_SLASH = 64,
    SHAPE_FIRST_LOWER = 128,
};
_Static_assert((int)GUESS_SHAPE_AT == SHAPE_AT, "the same bit");

static uint32_t shape_of(const uint8_t *text, size_t length) {
    bool upper = false, lower = false;
    uint32_t shape = 0;
    for (size_t i = 0; i < length; i++) {
        const uint8_t byte = text[i];
        upper |= byte >= 'A' && byte <= 'Z';
        lower |= byte >= 'a' && byte <= 'z';
        shape |= byte >= '0' && byte <= '9' ? SHAPE_DIGIT : 0;
        shape |= byte == '@' ? SHAPE_AT : 0;
        shape |= byte == ' ' ? SHAPE_BLANK : 0;
        shape |= byte == '/' ? SHAPE_SLASH : 0;
    }
    shape |= length && text[0] >= '0' && text[0] <= '9' ? SHAPE_FIRST_DIGIT : 0;
    shape |= length && text[0] >= 'A' && text[0] <= 'Z' ? SHAPE_FIRST_UPPER : 0;
    shape |= length && text[0] >= 'a' && text[0] <= 'z' ? SHAPE_FIRST_LOWER : 0;
    shape |= upper && !lower ? SHAPE_ALL_UPPER : 0;
    return shape;
}

void guess_column_begin(column_t *column) {
    *column = (column_t){.styles = 0xFF,
                         .pairs = (1u << PAIRS) - 1,
                         .iso = true,
                         .dates = ~(date_set_t)0 & ~GUESS_ISO,
                         .objectid = true,
                         .uuid = true,
                         .typed = true,
                         .shape = ~0u};
}

/* null_count: it has none like it. */
static size_t find_null(const column_t *column, const uint8_t *text, size_t length) {
    size_t at = 0;
    while (at < column->null_count &&
           (column->nulls[at].length != length || memcmp(column->nulls[at].bytes, text, length) != 0))
        at++;
    return at;
}

static void put_null(column_t *column, const uint8_t *text, size_t length) {
    column->nulls[column->null_count].length = (uint8_t)length;
    memcpy(column->nulls[column->null_count++].bytes, text, length);
}

static void add_null(column_t *column, const uint8_t *text, size_t length) {
    if (find_null(column, text, length) < column->null_count)
        return;
    if (column->null_count == GUESS_MOST_NULLS || length > GUESS_NULL_ROOM)
        column->many_nulls = true;
    else
        put_null(column, text, length);
}

uint32_t guess_column_find_null(const column_t *column, const char *word) {
    const size_t at = find_null(column, (const uint8_t *)word, strlen(word));
    return at < column->null_count ? 1u << at : 0;
}

uint32_t guess_column_take_null(column_t *column, const char *word) {
    const uint32_t found = guess_column_find_null(column, word);
    if (!found && column->null_count < GUESS_MOST_NULLS + GUESS_OTHER_NULLS)
        put_null(column, (const uint8_t *)word, strlen(word));
    return found ? found : guess_column_find_null(column, word);
}

static void add_number(column_t *column, const uint8_t *text, size_t length) {
    for (uint8_t left = column->styles; left;) {
        const size_t i = (size_t)__builtin_ctz(left);
        number_t number;
        if (!guess_number(&guess_styles[i], text, length, &number)) {
            column->styles &= (uint8_t) ~(1u << i);
            left &= (uint8_t)(left - 1);
            continue;
        }
        const uint8_t bits = guess_alike(i, &number) & left;
        column->fraction |= number.fraction ? bits : 0;
        column->grouped |= number.grouped ? bits : 0;
        column->wide |= number.wide ? bits : 0;
        column->lossy |= number.lossy ? bits : 0;
        column->huge |= number.huge ? bits : 0;
        left &= (uint8_t)~bits;
    }
}

static void add_typed(column_t *column, const uint8_t *text, size_t length) {
    bool second = false;
    if (column->styles)
        add_number(column, text, length);
    if (column->pairs) {
        column->pairs &= guess_pair(text, length, &second);
        column->yes |= !second;
        column->no |= second;
    }
    if (column->iso) {
        const date_set_t seen = guess_dates(GUESS_ISO, text, length);
        column->iso = seen != 0;
        column->iso_seen |= seen;
    }
    if (column->dates)
        column->dates = guess_dates(column->dates, text, length);
    column->objectid = column->objectid && guess_is_objectid(text, length, &column->hex_letters);
    column->uuid = column->uuid && guess_is_uuid(text, length);
    column->typed =
        column->styles || column->pairs || column->iso || column->dates || column->objectid || column->uuid;
}

static void note_length(column_t *column, const uint8_t *text, size_t length) {
    size_t trimmed = length;
    blanks_trim(&text, &trimmed);
    column->same_length = !column->values || column->same_length == length ? length : SIZE_MAX;
    column->same_trimmed = !column->values || column->same_trimmed == trimmed ? trimmed : SIZE_MAX;
}

void guess_column_add(column_t *column, const uint8_t *text, size_t length) {
    if (!length) {
        column->blank++;
        return;
    }
    column->trailed += text[length - 1] == ' ';
    if (guess_is_null(text, length)) {
        add_null(column, text, length);
        return;
    }
    if (column->typed)
        add_typed(column, text, length);
    note_length(column, text, length);
    column->values++;
    if (column->shape)
        column->shape &= shape_of(text, length);
    column->led += text[0] == ' ';
}

bool guess_kind_is_number(kind_t kind) {
    return kind == KIND_INT || kind == KIND_LONG || kind == KIND_NUMBER || kind == KIND_DECIMAL;
}

/* 601 234 567, 212.555.123: where all values have three or four whole groups, they name something rather than count it. */
static bool are_dialled(const column_t *column, size_t at) {
    const style_t *style = &guess_styles[at];
    return (column->grouped >> at & 1) && !(column->fraction >> at & 1) &&
           (style->thousands == '.' || style->thousands == ' ') &&
           (column->same_trimmed == 11 || column->same_trimmed == 15);
}

/* In this style. False: no type of ours holds it. */
static bool decide_number(const column_t *column, size_t style, decision_t *is) {
    const uint8_t bit = (uint8_t)(1u << style);
    if (!(column->styles & bit) || are_dialled(column, style))
        return false;
    is->style = style;
    is->kind = !(column->fraction & bit) && !(column->wide & bit) ? KIND_INT
               : !(column->lossy & bit)                           ? KIND_NUMBER
               : !(column->huge & bit)                            ? KIND_DECIMAL
                                                                  : KIND_TEXT;
    return is->kind != KIND_TEXT;
}

/* 1,234 is one number with a decimal comma, and another one with a comma for thousands. */
static void doubt_decimal(const column_t *column, decision_t *is) {
    const style_t *style = &guess_styles[is->style];
    for (size_t i = 0; i < STYLES; i++) {
        const style_t *other = &guess_styles[i];
        if (other->thousands != style->decimal || !(column->styles >> i & 1) || !(column->grouped >> i & 1) ||
            !(column->fraction >> is->style & 1))
            continue;
        is->unsure_decimal = true;
        is->either_way |= (column->fraction >> i & 1) != 0;
    }
}

static bool decide_any_number(const column_t *column, decision_t *is) {
    for (size_t i = 0; i < STYLES; i++)
        if (decide_number(column, i, is)) {
            doubt_decimal(column, is);
            return true;
        }
    return false;
}

static bool decide_date(const column_t *column, decision_t *is) {
    if (column->iso) {
        is->kind = column->iso_seen == 1 ? KIND_DAY : KIND_DATETIME;
        return true;
    }
    if (!column->dates)
        return false;
    is->kind = KIND_DATE;
    is->pattern = guess_first_date(column->dates);
    for (date_set_t left = column->dates; left; left &= left - 1)
        is->orders |= (uint8_t)(1u << guess_pattern(guess_first_date(left))->order);
    if (is->orders >> ORDER_SURE & 1)
        is->orders = 1u << ORDER_SURE;
    return true;
}

static bool decide_pair(const column_t *column, decision_t *is) {
    enum { SURE_ALONE = 3 }; /* true or false; of the other words both must be there */
    if (!column->pairs)
        return false;
    is->pair = (size_t)__builtin_ctz(column->pairs);
    if (is->pair >= SURE_ALONE && !(column->yes && column->no))
        return false;
    is->kind = KIND_BOOLEAN;
    return true;
}

static bool is_of_digits(const column_t *column) {
    return column->dates && guess_pattern(guess_first_date(column->dates))->digits;
}

static void decide_text(const column_t *column, decision_t *is) {
    is->kind = column->values && !column->kept_blank &&
                       (column->led == column->values || (column->trailed && column->same_length != SIZE_MAX))
                   ? KIND_TRIMMED
                   : KIND_TEXT;
}

decision_t guess_column_decide(const column_t *column) {
    const uint32_t nulls = (1u << column->null_count) - 1;
    decision_t is = {.kind = KIND_TEXT, .nulls = nulls};
    const bool typed = column->values && column->typed && !column->many_nulls;
    if (typed && ((is_of_digits(column) && decide_date(column, &is)) || decide_pair(column, &is) ||
                  decide_any_number(column, &is) || decide_date(column, &is)))
        return is;
    is = (decision_t){.kind = KIND_TEXT};
    if (typed && column->objectid && column->hex_letters)
        is.kind = KIND_OBJECTID;
    else if (typed && column->uuid)
        is.kind = KIND_UUID;
    else
        decide_text(column, &is);
    is.nulls = is.kind == KIND_OBJECTID || is.kind == KIND_UUID ? nulls : 0;
    return is;
}

decision_t guess_column_in_style(const column_t *column, size_t style, const decision_t *is) {
    decision_t other = *is;
    other.style = style;
    decide_number(column, style, &other);
    return other;
}

/* Of numbers the style is that of all values, if they have one in common; of dates the pattern. */
static void take_shape(const column_t *column, kind_t kind, decision_t *is) {
    if (guess_kind_is_number(kind) && column->styles) {
        is->style = (size_t)__builtin_ctz(column->styles);
        doubt_decimal(column, is);
    }
    if (kind == KIND_BOOLEAN && column->pairs)
        is->pair = (size_t)__builtin_ctz(column->pairs);
    if ((kind == KIND_DAY || kind == KIND_DATETIME) && !column->iso && column->values)
        decide_date(column, is);
}

decision_t guess_column_as(const column_t *column, kind_t kind) {
    decision_t is = {.kind = kind, .nulls = (1u << column->null_count) - 1};
    take_shape(column, kind, &is);
    if (kind == KIND_TEXT || kind == KIND_TRIMMED)
        is.nulls = 0;
    if (kind == KIND_JSON) /* a value of it */
        is.nulls &= ~guess_column_find_null(column, "null");
    return is;
}
