#include "format/guess/guess_inner.h"
#include "format/values/values.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    readings_t reads;
    uint32_t any[ANYS];
    bool nothing; /* a null word, or blanks: it has no readings */
} value_t;

/* ---- numbers ---- */

enum {
    NUMBER_MOST = 80, /* bytes of its text */
    SHORT_DIGITS = 15,
};

static const field_type_t number_types[NUMBER_TYPES] = {TYPE_INT, TYPE_NUMBER, TYPE_DECIMAL};

/* The types that read the text by this mark without losing anything, a bit for each. */
static unsigned read_by_mark(bool comma, bool fraction, bool grouped, const char *text, size_t length) {
    const numeral_t numeral = {comma ? ',' : '.', grouped ? comma ? '.' : ',' : 0};
    uint8_t out[TYPES_VALUE + 32], plain[NUMERAL_LONGEST], bson;
    struct in_addr address;
    unsigned types = 0;
    size_t size;
    const char *const mark = grouped ? strchr(text, numeral.mark) : NULL;
    if (mark && strspn(mark + 1, "0123456789") != 3)
        return 0; /* the usual case, of decimals */
    if (grouped && (!numeral_read(&numeral, (const uint8_t *)text, length, plain, &size) ||
                    inet_pton(AF_INET, text, &address) == 1))
        return 0; /* 192.168.100.101 is more likely an address than more than a billion of something */
    for (unsigned i = fraction; i < NUMBER_TYPES; i++) {
        const field_t field = {.type = number_types[i],
                               .point = grouped || (comma && fraction) ? numeral.point : 0,
                               .thousands = numeral.mark,
                               .exact = true};
        if (i == NUMBER_TYPES - 1 && types) /* a decimal has room for each int and double */
            return types | 1u << i;
        if (value_read(&(value_text_t){.field = &field, .text = (const uint8_t *)text, .length = length},
                       &bson, out))
            types |= 1u << i;
    }
    return types;
}

static void read_number(value_t *value, const uint8_t *text, size_t length) {
    char padded[NUMBER_MOST + 8] = "";
    const size_t sign = *text == '-';
    bool plain = length - sign <= SHORT_DIGITS && (text[sign] != '0' || length == 1);
    if (length > NUMBER_MOST || !digits_is_one(text[length - 1]))
        return;
    for (size_t i = sign; i < length; i++) {
        const bool digit = digits_is_one(text[i]),
                   signs = i > sign && (text[i] == '-' || text[i] == '+') && (text[i - 1] | 0x20) == 'e';
        if (!digit && !signs && text[i] != '.' && text[i] != ',' && (text[i] | 0x20) != 'e')
            return;
        plain &= digit;
    }
    if (plain) {
        value->reads.numbers = POINTS | COMMAS;
        return;
    }
    memcpy(padded, text, length);
    for (unsigned comma = 0; comma < 2; comma++) {
        const bool fraction = strchr(padded, comma ? ',' : '.'), grouped = strchr(padded, comma ? '.' : ',');
        const unsigned types = read_by_mark(comma, fraction, grouped, padded, length),
                       mark = 1u << (comma ? MARK_COMMA : MARK_POINT);
        value->reads.numbers |= (uint8_t)(types << NUMBER_TYPES * comma);
        value->any[ANY_FRACTION] |= types && fraction ? mark : 0;
        value->any[ANY_GROUPED] |= types && grouped ? mark : 0;
    }
}

/* ---- dates ---- */

/* The parts of patterns. Of the parts that read a text the first one is preferred; the first day is the one of the type
 * datetime. With dots the month is never first; a year of two digits may be. */
static const char *const days[] = {
    "YYYY-MM-DD",    "YYYY/MM/DD",  "YYYY.MM.DD", "YYYYMMDD",   "YYYYMMDDhhmmss", "DD.MM.YYYY", "D.M.YYYY",
    "DD MON YYYY",   "DD-MON-YYYY", "D MON YYYY", "D-MON-YYYY", "DD-MON-YY",      "D-MON-YY",   "MON D, YYYY",
    "MONTH D, YYYY", "DD/MON/YYYY", "DD/MM/YYYY", "MM/DD/YYYY", "DD-MM-YYYY",     "MM-DD-YYYY", "D/M/YYYY",
    "M/D/YYYY",      "DD/MM/YY",    "MM/DD/YY",   "YY/MM/DD",   "DD.MM.YY",       "YY.MM.DD",   "DD-MM-YY",
    "MM-DD-YY",      "YY-MM-DD",    "D/M/YY",     "M/D/YY"};
static const char *const between[] = {"", " ", "T", ":", ", "};
static const char *const times[][3] = {{"", "hh:mm", "hh:mm:ss"},
                                       {"hh:mm:ss.SSS", "hh:mm:ss.S", "hh:mm:ss.SS"},
                                       {"hh:mm:ss.SSSSSS", "hh:mm:ss.SSSSSSS", "hh:mm:ss.SSSSSSSSS"},
                                       {"hh:mm:ss.SSSuuu", "hh:mm:ss.SSSuuuu", "hh:mm:ss.SSSuuuuuu"},
                                       {"h:mm", "h:mm:ss", "hh:mm A"},
                                       {"hh:mm:ss A", "h:mm A", "h:mm:ss A"}};
static const char *const zones[] = {"", "Z", "ZZ", " ZZ", " UTC", "+00"};
enum {
    DAYS = sizeof days / sizeof *days,
    TIMES = sizeof times / sizeof **times,
    ZONES = sizeof zones / sizeof *zones,
    NONE = 1, /* the first one of between, times and zones */
    FULL_TIMES = 0x3FFE,
    HALF_TIMES = 0x3C000,
    ALL_ZONES = 0x3E,
    LETTER_T = 4,
    ZONE_Z = 2,
    DAYS_OF_DIGITS = 0x18,
    TIMES_OF_DATETIME = 0xC, /* and others, by the rows of times */
    BARE = 0x33000,
    DAY_LEAST = 6,
    PART_ROOM = 72,
};
_Static_assert((int)DAYS == 32 && (int)TIMES <= 32, "a bit for each");

static pattern_t of_day[DAYS], of_time[TIMES], of_zone[ZONES];
/* The days that have this sign first, after one or two digits, or after more; 0: only digits; 1: the name of a month in front. */
static uint32_t days_with[2][128];
static uint32_t days_of[MARK_POINT]; /* in this order */
char guess_sign_of(const char *pattern) {
    return pattern[strcspn(pattern, "-/. ")];
}

/* Compiles times and zones after a fixed day, since a pattern has to have a day. */
static void compile_parts(const char *before, const char *const *parts, size_t count, pattern_t *patterns) {
    for (size_t i = 0; i < count; i++) {
        char text[PATTERN_LONGEST];
        const int length = snprintf(text, sizeof text, "%s%s", before, parts[i]);
        pattern_compile(text, (size_t)length, &patterns[i]);
    }
}

static void compile(void) {
    compile_parts("", days, DAYS, of_day);
    compile_parts("YYYYMMDD", *times, TIMES, of_time);
    compile_parts("YYYYMMDDhhmm", zones, ZONES, of_zone);
    for (size_t i = 0; i < DAYS; i++) {
        const char *day = days[i];
        const bool named = strstr(day, "MON"), sure = named || strncmp(day, "YYYY", 4) == 0;
        const uint8_t sign = named && *day == 'M' ? 1 : (uint8_t)guess_sign_of(day);
        days_with[strspn(day, "YMDhms") > 2][sign] |= 1u << i;
        days_of[sure ? ORDER_SURE : *day == 'D' ? ORDER_DMY : *day == 'M' ? ORDER_MDY : ORDER_YMD] |= 1u << i;
    }
}

/* The patterns among these that read the text after `before`. *ms: the moment, by the last one. */
static uint32_t read_part(const pattern_t *patterns, uint32_t among, const char *before, const uint8_t *text,
                          size_t length, int64_t *ms) {
    const size_t first = strlen(before);
    uint8_t padded[PART_ROOM] = {0}; /* it is read a little past its end */
    uint32_t found = 0;
    memcpy(padded, before, first);
    memcpy(padded + first, text, length);
    for (uint32_t left = among; left; left &= left - 1) {
        const pattern_t *pattern = &patterns[__builtin_ctz(left)];
        if ((pattern->varies || pattern->length == first + length) &&
            pattern_read(pattern, padded, first + length, ms))
            found |= left & -left;
    }
    return found;
}

/* True from 1900 to 2099: eight digits that are a day of these years are hardly anything else. */
static bool is_of_our_time(int64_t ms) {
    const int64_t day = 86400000;
    return ms >= -25567 * day && ms < 47482 * day;
}

static bool is_date(const readings_t *reads) {
    return reads->days && reads->times && reads->between && reads->zones;
}

static readings_t read_date(const uint8_t *text, size_t length) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const uint8_t *const end = text + length, *const colon = memchr(text, ':', length);
    const uint8_t *day_end = end, *sign = text;
    readings_t reads = {.times = NONE, .between = NONE, .zones = NONE};
    int64_t ms = 0;
    pthread_once(&once, compile);
    if (colon) {
        const uint8_t *hour = colon;
        while (hour > text && colon - hour < 3 && digits_is_one(hour[-1]))
            hour--;
        hour = colon - hour == 3 ? colon + 1 : hour; /* 10/Oct/2000:13:55:36 */
        reads.between = 0;
        for (size_t i = 1; i < sizeof between / sizeof *between; i++) {
            const size_t gap = strlen(between[i]);
            if ((size_t)(hour - text) <= gap || memcmp(hour - gap, between[i], gap) != 0)
                continue;
            reads.between = (uint8_t)(1u << i);
            day_end = hour - gap;
        }
        const uint8_t *at = hour;
        while (at < end && (digits_is_one(*at) || *at == ':' || *at == '.'))
            at++;
        const bool half = end - at >= 3 && *at == ' ' && (at[2] | 0x20) == 'm'; /* AM or PM */
        at += half ? 3 : 0;
        reads.times =
            read_part(of_time, half ? HALF_TIMES : FULL_TIMES, "20000101", hour, (size_t)(at - hour), &ms);
        if (at < end)
            reads.zones = (uint8_t)read_part(of_zone, ALL_ZONES, "200001010000", at, (size_t)(end - at), &ms);
    }
    while (sign < day_end && digits_is_one(*sign))
        sign++;
    const uint8_t key = sign == text ? 1 : sign < day_end ? *sign & 0x7F : 0;
    reads.days = read_part(of_day, days_with[sign - text > 2][key], "", text, (size_t)(day_end - text), &ms);
    if (!is_date(&reads) || ((reads.days & DAYS_OF_DIGITS) && !is_of_our_time(ms)))
        return (readings_t){.days = 0};
    if ((reads.days & 1) && !colon)
        reads.others = READS_DAY | READS_DATETIME;
    else if ((reads.days & 1) && (reads.times & TIMES_OF_DATETIME) &&
             ((reads.zones & NONE) || (reads.between == LETTER_T && (reads.zones & ZONE_Z))))
        reads.others = READS_DATETIME;
    return reads;
}

/* ---- words, and hexadecimal digits ---- */

const char *const guess_pairs[PAIRS][2] =
    {
        {"true", "false"}, {"True", "False"}, {"TRUE", "FALSE"}, {"yes", "no"},  {"Yes", "No"},
        {"YES", "NO"},     {"t", "f"},        {"T", "F"},        {"y", "n"},     {"Y", "N"},
        {"ja", "nein"},    {"Ja", "Nein"},    {"JA", "NEIN"},    {"oui", "non"}, {"Oui", "Non"},
        {"OUI", "NON"},    {"si", "no"},      {"sí", "no"},      {"Sí", "No"},   {"SÍ", "NO"},
        {"sim", "não"},    {"Sim", "Não"},    {"SIM", "NÃO"}}; /* SI and NO are countries, too */

const char *const guess_null_words[] = {"NULL", "null", "None", "Null", "\\N", "NA",
                                        "N/A",  "n/a",  "#N/A", "NaN",  "nan", NULL};

static bool is_word(const char *word, const uint8_t *text, size_t length) {
    return *word == (char)*text && strlen(word) == length && memcmp(word, text, length) == 0;
}

uint32_t guess_pair(const uint8_t *text, size_t length, bool *second) {
    uint32_t found = 0;
    if (!length || length > 5 || *text < 'A' || !strchr("tTfFyYnNjJoOsS", *text))
        return 0;
    for (size_t i = 0; i < 2 * (size_t)PAIRS; i++)
        if (is_word(guess_pairs[i / 2][i % 2], text, length)) {
            *second = i % 2;
            found |= 1u << i / 2;
        }
    return found;
}

bool guess_is_null(const uint8_t *text, size_t length) {
    blanks_trim(&text, &length);
    if (length > 4 || (length && (digits_is_one(*text) || *text == '-')))
        return false;
    for (const char *const *word = guess_null_words; length && *word; word++)
        if (is_word(*word, text, length))
            return true;
    return !length;
}

/* Reads an ObjectId in small letters, as all programs print it, or a UUID. */
static void read_hex(value_t *value, const uint8_t *text, size_t length) {
    const field_t objectid = {.type = TYPE_OBJECTID, .exact = true}, uuid = {.type = TYPE_UUID};
    uint8_t out[TYPES_VALUE + 32], type;
    if (value_read(&(value_text_t){.field = &objectid, .text = text, .length = length}, &type, out))
        value->reads.others |= READS_OBJECTID;
    else if (value_read(&(value_text_t){.field = &uuid, .text = text, .length = length}, &type, out))
        value->reads.others |= READS_UUID;
    for (size_t i = 0; i < length; i++)
        value->any[ANY_LETTERS] |= text[i] >= 'a';
}

static void read_value(value_t *value, const uint8_t *text, size_t length) {
    bool no = false;
    *value = (value_t){.nothing = guess_is_null(text, length)};
    if (value->nothing)
        return;
    /* a date begins with a digit, or as March 4, 2024 */
    if (length >= DAY_LEAST && length < PATTERN_LONGEST &&
        (digits_is_one(*text) || (digits_is_one(text[length - 1]) && memchr(text, ',', length))))
        value->reads = read_date(text, length);
    if (length == 24 || length == 36)
        read_hex(value, text, length);
    value->reads.pairs = guess_pair(text, length, &no);
    value->any[no ? ANY_NO : ANY_YES] = value->reads.pairs;
    blanks_trim(&text, &length);
    read_number(value, text, length);
}

static void read_kept(value_t *value, const uint8_t *text, size_t length) {
    enum { KEPT = 1024 };
    static _Thread_local struct {
        uint64_t text; /* with its length; 0: none */
        value_t value;
    } kept[KEPT]; /* short values, which many columns have again and again */
    uint64_t key = length;
    if (length >= sizeof key || !length) {
        read_value(value, text, length);
        return;
    }
    memcpy((uint8_t *)&key + 1, text, length);
    const size_t at = (key * 0x9E3779B97F4A7C15u) >> 32 & (KEPT - 1);
    if (kept[at].text != key)
        read_value(&kept[at].value, text, length);
    kept[at].text = key;
    *value = kept[at].value;
}

/* ---- columns: counting ---- */

static readings_t in_both(const readings_t *one, const readings_t *other) {
    return (readings_t){.words = {one->words[0] & other->words[0], one->words[1] & other->words[1]}};
}

static bool is_any(const readings_t *reads) {
    return reads->pairs || reads->numbers || reads->others || is_date(reads);
}

bool guess_is_typed(const uint8_t *text, size_t length) {
    value_t value;
    read_kept(&value, text, length);
    return value.nothing || is_any(&value.reads);
}

void guess_column_begin(column_t *column) {
    *column = (column_t){.values = 0};
    memset(&column->all, 0xFF, sizeof column->all);
}

uint32_t guess_column_null(column_t *column, const char *text, size_t length, bool take) {
    size_t at = 0;
    while (at < column->null_count &&
           (strncmp(column->nulls[at], text, length) != 0 || column->nulls[at][length]))
        at++;
    if (at == column->null_count && (!take || at == GUESS_MOST_NULLS || length >= GUESS_NULL_ROOM))
        return 0;
    if (at == column->null_count)
        memcpy(column->nulls[column->null_count++], text, length);
    return 1u << at;
}

/* Counts a value in the class of its readings. */
static void count(column_t *column, const readings_t *reads, const uint8_t *text, size_t length) {
    class_t *classes = column->classes;
    size_t i = 0;
    while (i < column->class_count && memcmp(&classes[i].reads, reads, sizeof *reads) != 0)
        i++;
    if (i == GUESS_CLASSES) {
        i--;
        classes[i].reads = in_both(&classes[i].reads, reads);
    } else if (i == column->class_count) {
        class_t *class = &classes[column->class_count++];
        *class = (class_t){.reads = *reads, .row = column->row};
        class->length = (uint8_t)(length < GUESS_SHOWN ? length : GUESS_SHOWN);
        memcpy(class->first, text, class->length);
    }
    if (++classes[i].values > (i ? classes[i - 1].values : UINT64_MAX)) {
        const class_t more = classes[i];
        classes[i] = classes[i - 1];
        classes[i - 1] = more;
    }
}

void guess_column_add(column_t *column, const uint8_t *text, size_t length) {
    value_t value;
    if (!length) {
        column->blank++;
        return;
    }
    read_kept(&value, text, length);
    column->trailed += text[length - 1] == ' ';
    if (value.nothing && guess_column_null(column, (const char *)text, length, true))
        return;
    count(column, &value.reads, text, length);
    column->all = in_both(&column->all, &value.reads);
    for (size_t i = 0; i < ANYS; i++)
        column->any[i] |= value.any[i];
    column->led += text[0] == ' ';
    size_t trimmed = length;
    column->same_length = !column->values || column->same_length == length ? length : SIZE_MAX;
    blanks_trim(&text, &trimmed);
    column->same_trimmed = !column->values || column->same_trimmed == trimmed ? trimmed : SIZE_MAX;
    column->values++;
}

/* ---- columns: what they are ---- */

/* 212.555.123: if all values have three or four groups of three digits, they are telephone or other codes. */
static bool are_dialled(const column_t *column) {
    return (column->any[ANY_GROUPED] & ~column->any[ANY_FRACTION]) >> MARK_COMMA & 1 &&
           (column->same_trimmed == 11 || column->same_trimmed == 15);
}

/* Notes the decimal marks that the numbers may have: both if all are numbers by either, as 1,234; or by a comma, as 5,6 next to
 * 1.234. */
static void note_marks(const column_t *column, decision_t *is) {
    const uint32_t both = 1u << MARK_POINT | 1u << MARK_COMMA,
                   mark = 1u << (is->comma ? MARK_COMMA : MARK_POINT);
    const bool either =
        is->reads.numbers & POINTS ? is->reads.numbers & COMMAS : column->any[ANY_FRACTION] == both;
    if ((column->any[ANY_FRACTION] | column->any[ANY_GROUPED]) & mark)
        is->orders = (uint8_t)(either ? both : mark);
}

/* Composes a pattern of the first readings. With a day without a leading zero, the hour has none either. */
static void put_pattern(decision_t *is) {
    const char *day = days[__builtin_ctz(is->reads.days)];
    const bool bare = day[0] != day[1] && (is->reads.times & BARE);
    const int time = __builtin_ctz(is->reads.times & (bare ? BARE : ~0u));
    snprintf(is->pattern, sizeof is->pattern, "%s%s%s%s", day, between[__builtin_ctz(is->reads.between)],
             times[time / 3][time % 3], zones[__builtin_ctz(is->reads.zones)]);
    is->kind = TYPE_DATE;
    is->timed = strchr(is->pattern, 'h');
    for (date_order_t order = ORDER_SURE; order < MARK_POINT; order++)
        is->orders |= (uint8_t)((is->reads.days & days_of[order] ? 1u : 0) << order);
    if (is->orders >> ORDER_SURE & 1)
        is->orders = 1u << ORDER_SURE;
}

/* True if the values are days of digits only: such a day is hardly a number. */
static bool is_of_digits(const readings_t *reads) {
    return is_date(reads) && (reads->days & DAYS_OF_DIGITS);
}

/* The first type that reads the values which have these readings in common. */
static decision_t decide(const column_t *column, const readings_t *reads) {
    enum { SURE_ALONE = 7 }; /* true or false; of the other words both must be there */
    decision_t is = {.kind = TYPE_TEXT, .reads = *reads};
    const uint32_t pairs = reads->pairs & (SURE_ALONE | (column->any[ANY_YES] & column->any[ANY_NO]));
    if (!column->values)
        return is;
    if (is_of_digits(reads)) {
        put_pattern(&is);
    } else if (pairs) {
        is.kind = TYPE_BOOLEAN;
        is.pair = (size_t)__builtin_ctz(pairs);
    } else if (reads->numbers) {
        is.comma = !(reads->numbers & POINTS);
        is.kind = number_types[__builtin_ctz(reads->numbers) % NUMBER_TYPES];
        note_marks(column, &is);
    } else if (reads->others & READS_DATETIME) {
        is.kind = TYPE_DATE;
        is.timed = !(reads->others & READS_DAY);
    } else if (is_date(reads)) {
        put_pattern(&is);
    } else if (reads->others & READS_UUID) {
        is.kind = TYPE_UUID;
    } else if (reads->others & READS_OBJECTID && column->any[ANY_LETTERS]) {
        is.kind = TYPE_OBJECTID;
    } else if (!column->kept_blank &&
               (column->led == column->values || (column->trailed && column->same_length != SIZE_MAX))) {
        is.kind = TYPE_TRIMMED;
    }
    return is;
}

decision_t guess_column_decide(const column_t *column) {
    readings_t all = column->all;
    all.numbers &= are_dialled(column) ? POINTS : 0xFF;
    return decide(column, &all);
}

/* The readings among these that the most values share: of the classes that have some in common with one class, and with each
 * other, the largest first. */
static fit_t fit_most(const column_t *column, const readings_t *among) {
    const class_t *classes = column->classes, *const end = classes + column->class_count;
    fit_t most = {.values = 0};
    for (const class_t *first = classes; first < end; first++) {
        fit_t fit = {.reads = in_both(&first->reads, among)};
        for (const class_t *class = classes; class < end && is_any(&fit.reads); class ++) {
            const readings_t both = in_both(&fit.reads, &class->reads);
            if (is_any(&both)) {
                fit.reads = both;
                fit.values += class->values;
                continue;
            }
            fit.misfits += class->values;
            fit.first = fit.first && fit.first->row <= class->row ? fit.first : class;
        }
        most = fit.values > most.values ? fit : most;
    }
    return most;
}

bool guess_column_nearly(const column_t *column, fit_t *fit, decision_t *is) {
    enum { A_MISFIT_IN = 20 };
    *fit = fit_most(column, &(readings_t){.words = {~0ul, ~0ul}});
    if (!fit->misfits || fit->values < fit->misfits * A_MISFIT_IN)
        return false;
    *is = decide(column, &fit->reads);
    return !guess_kind_is_text(is->kind) && !(is->orders & (is->orders - 1));
}

decision_t guess_column_as(const column_t *column, field_type_t kind, uint8_t numbers) {
    readings_t among = {.pairs = kind == TYPE_BOOLEAN ? ~0u : 0};
    if (guess_kind_is_number(kind))
        among.numbers = numbers;
    if (kind == TYPE_DATE)
        among = (readings_t){
            .days = ~0u, .times = ~0u, .between = 0xFF, .zones = 0xFF, .others = READS_DAY | READS_DATETIME};
    const fit_t fit = fit_most(column, &among);
    decision_t is = decide(column, &fit.reads);
    is.kind = kind;
    is.pair = is.reads.pairs ? (size_t)__builtin_ctz(is.reads.pairs) : 0;
    return is;
}

void guess_take_way(const column_t *column, date_order_t way, decision_t *is) {
    is->reads.numbers &= way == MARK_POINT ? POINTS : way == MARK_COMMA ? COMMAS : 0;
    is->reads.days &= way < MARK_POINT ? days_of[way] : 0;
    *is = decide(column, &is->reads);
    is->comma = way == MARK_COMMA; /* also where no value is a number */
}
