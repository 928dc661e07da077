#include "format/guess/column/guess_column.h"
#include "format/values/blanks.h"
#include "format/values/convert.h"
#include "format/values/hex.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers ---- */

enum {
    POINT_STYLES = 0x55,
    COMMA_STYLES = 0xAA,
    ALL_STYLES = 0xFF,
    NUMBER_MOST = 80, /* bytes of its text */
    SHORT_DIGITS = 15,
};

const style_t guess_styles[STYLES] = {{'.', 0},   {',', 0},   {'.', ','},  {',', '.'},
                                      {'.', ' '}, {',', ' '}, {'.', '\''}, {',', '\''}};

/* The styles in which a number may hold a byte; a sign may stand first, or after the e of an exponent. */
static const uint8_t styles_with[256] = {
    ['0' ... '9'] = ALL_STYLES,  ['e'] = ALL_STYLES, ['E'] = ALL_STYLES, ['.'] = POINT_STYLES | 0x08,
    [','] = COMMA_STYLES | 0x04, [' '] = 0x30,       ['\''] = 0xC0};

/* 192.168.100.101: four groups up to 255 are more likely an address than more than a billion of something. */
static bool is_address(const uint8_t *text, size_t length) {
    unsigned groups = 1, group = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '.') {
            groups++;
            group = 0;
        } else if (!digits_is_one(text[i]) || (group = group * 10 + text[i] - '0') > 255) {
            return false;
        }
    }
    return groups == 4;
}

/* The styles in which the text is the same number as in this one; 0: it is no number, or one that would lose something, such as
 * a zero before other digits. */
static uint8_t read_in_style(value_t *value, size_t style, const uint8_t *text, size_t length) {
    const numeral_t numeral = {guess_styles[style].decimal, guess_styles[style].thousands};
    uint8_t plain[NUMERAL_LONGEST + 8];
    decimal_t decimal = {.count = 0};
    int64_t whole;
    double number = 0;
    size_t size;
    if ((numeral.mark == '.' && is_address(text, length)) ||
        !numeral_read(&numeral, text, length, plain, &size))
        return 0;
    memset(plain + size, 0, 8);
    const bool kept = convert_kept(plain, size, 0, &number), point = memchr(plain, '.', size);
    if (!convert_is_exact(plain, size) ||
        ((!kept || size > DECIMAL_DIGITS) && !decimal_read(plain, size, &decimal)))
        return 0;
    const uint8_t alike = (uint8_t)(size < length ? 1u << style
                                    : point       ? (unsigned)POINT_STYLES << (style & 1)
                                                  : ALL_STYLES);
    value->fraction |= point ? alike : 0;
    value->grouped |= size < length ? alike : 0;
    value->wide |= point || convert_int(plain, size, &whole) ? 0 : alike;
    value->lossy |= kept ? 0 : alike;
    value->huge |= decimal_fits(&decimal) ? 0 : alike;
    return alike;
}

static void read_number(value_t *value, const uint8_t *text, size_t length) {
    uint8_t padded[NUMBER_MOST + 8];
    uint8_t left = length > NUMBER_MOST || !digits_is_one(text[length - 1]) ? 0 : ALL_STYLES;
    const size_t sign = *text == '-';
    uint64_t digits;
    for (size_t i = sign; i < length && left; i++) {
        const bool signs = i > sign && (text[i] == '-' || text[i] == '+') && (text[i - 1] | 0x20) == 'e';
        left &= signs ? ALL_STYLES : styles_with[text[i]];
    }
    if (!left)
        return;
    memcpy(padded, text, length);
    memset(padded + length, 0, 8);
    if (length - sign <= SHORT_DIGITS && (text[sign] != '0' || length == 1) &&
        convert_digits(padded + sign, length - sign, &digits)) {
        value->reads.styles = ALL_STYLES;
        return;
    }
    while (left) {
        const size_t style = (size_t)__builtin_ctz(left);
        const uint8_t alike = read_in_style(value, style, padded, length);
        value->reads.styles |= alike;
        left &= (uint8_t) ~(alike | 1u << style);
    }
}

/* ---- dates ---- */

/* The parts of patterns. Of the parts that read a text the first one is preferred; the first day is the one of the type
 * datetime. */
typedef struct {
    const char *text;
    date_order_t order;
    char separator;
} day_t;
static const day_t days[] = {
    {"YYYY-MM-DD", ORDER_SURE, '-'},
    {"YYYY/MM/DD", ORDER_SURE, '/'},
    {"YYYY.MM.DD", ORDER_SURE, '.'},
    {"YYYYMMDD", ORDER_SURE, 0},
    {"YYYYMMDDhhmmss", ORDER_SURE, 0},
    {"DD.MM.YYYY", ORDER_DMY, '.'}, /* with dots the month is never first */
    {"D.M.YYYY", ORDER_DMY, '.'},
    {"DD MON YYYY", ORDER_SURE, ' '},
    {"DD-MON-YYYY", ORDER_SURE, '-'},
    {"D MON YYYY", ORDER_SURE, ' '},
    {"D-MON-YYYY", ORDER_SURE, '-'},
    {"DD-MON-YY", ORDER_SURE, '-'},
    {"D-MON-YY", ORDER_SURE, '-'},
    {"MON D, YYYY", ORDER_SURE, ' '},
    {"MONTH D, YYYY", ORDER_SURE, ' '},
    {"DD/MON/YYYY", ORDER_SURE, '/'},
    {"DD/MM/YYYY", ORDER_DMY, '/'},
    {"MM/DD/YYYY", ORDER_MDY, '/'},
    {"DD-MM-YYYY", ORDER_DMY, '-'},
    {"MM-DD-YYYY", ORDER_MDY, '-'},
    {"D/M/YYYY", ORDER_DMY, '/'},
    {"M/D/YYYY", ORDER_MDY, '/'},
    {"DD/MM/YY", ORDER_DMY, '/'}, /* a year of two digits may be first, too */
    {"MM/DD/YY", ORDER_MDY, '/'},
    {"YY/MM/DD", ORDER_YMD, '/'},
    {"DD.MM.YY", ORDER_DMY, '.'},
    {"YY.MM.DD", ORDER_YMD, '.'},
    {"DD-MM-YY", ORDER_DMY, '-'},
    {"MM-DD-YY", ORDER_MDY, '-'},
    {"YY-MM-DD", ORDER_YMD, '-'},
    {"D/M/YY", ORDER_DMY, '/'},
    {"M/D/YY", ORDER_MDY, '/'},
};
static const char *const between[] = {"", " ", "T", ":", ", "};
static const char *const times[] = {"",
                                    "hh:mm",
                                    "hh:mm:ss",
                                    "hh:mm:ss.SSS",
                                    "hh:mm:ss.S",
                                    "hh:mm:ss.SS",
                                    "hh:mm:ss.SSSSSS",
                                    "hh:mm:ss.SSSSSSS",
                                    "hh:mm:ss.SSSSSSSSS",
                                    "hh:mm:ss.SSSuuu",
                                    "hh:mm:ss.SSSuuuu",
                                    "hh:mm:ss.SSSuuuuuu",
                                    "h:mm",
                                    "h:mm:ss",
                                    "hh:mm A",
                                    "hh:mm:ss A",
                                    "h:mm A",
                                    "h:mm:ss A"};
static const char *const zones[] = {"", "Z", "ZZ", " ZZ", " UTC", "+00"};
enum {
    DAYS = sizeof days / sizeof *days,
    TIMES = sizeof times / sizeof *times,
    ZONES = sizeof zones / sizeof *zones,
    NONE = 1, /* the first one of between, times and zones */
    BLANK = 2,
    LETTER_T = 4,
    COLON = 8,
    COMMA = 16,
    ZONE_Z = 2,
    TIMES_OF_DATETIME = 0xC, /* and others, by the rows of times */
    ROUNDED = 0xE00,
    BARE = 0x33000,
    ALL_ZONES = 0x3E,
    DAY_LEAST = 6,
    TIME_MOST = 18,
    MOST_LEADING = 14,
    PART_ROOM = 72,
};
_Static_assert((int)DAYS <= 32 && (int)TIMES <= 32, "a bit for each");

static pattern_t of_day[DAYS], of_time[TIMES], of_zone[ZONES];
/* The days that begin with this number of digits; those with this character after the digits. */
static uint32_t days_led[MOST_LEADING + 1], days_marked[128];
/* The times of this length. */
static uint32_t times_of[TIME_MOST + 1];

/* Compiles times and zones after a fixed day, since a pattern has to have a day. */
static void compile_parts(const char *before, const char *const *parts, size_t count, pattern_t *patterns) {
    for (size_t i = 1; i < count; i++) {
        char text[PATTERN_LONGEST];
        const int length = snprintf(text, sizeof text, "%s%s", before, parts[i]);
        pattern_compile(text, (size_t)length, &patterns[i]);
    }
}

static void compile(void) {
    compile_parts("YYYYMMDD", times, TIMES, of_time);
    for (size_t i = 1; i < TIMES; i++) {
        const size_t length = strlen(times[i]) + (strchr(times[i], 'A') != NULL);
        times_of[length] |= 1u << i;
        if (times[i][1] == ':')
            times_of[length + 1] |= 1u << i;
    }
    compile_parts("YYYYMMDDhhmm", zones, ZONES, of_zone);
    for (size_t i = 0; i < DAYS; i++) {
        const char *text = days[i].text;
        const size_t leading = strncmp(text, "MO", 2) == 0 ? 0 : strspn(text, "YMDhms");
        pattern_compile(text, strlen(text), &of_day[i]);
        days_led[leading] |= 1u << i;
        days_led[2] |= leading == 1 ? 1u << i : 0;
        days_marked[(uint8_t)text[leading]] |= 1u << i;
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
        int64_t moment;
        const int i = __builtin_ctz(left);
        if (!pattern_read(&patterns[i], padded, first + length, &moment))
            continue;
        found |= 1u << i;
        *ms = moment;
    }
    return found;
}

/* True from 1900 to 2099: eight digits that are a day of these years are hardly anything else. */
static bool is_of_our_time(int64_t ms) {
    const int64_t day = 86400000;
    return ms >= -25567 * day && ms < 47482 * day; /* 1900 to 2099 */
}

static uint32_t read_day(const uint8_t *text, size_t length) {
    size_t digits = 0;
    int64_t ms = 0;
    while (digits < length && digits < MOST_LEADING && digits_is_one(text[digits]))
        digits++;
    const uint8_t next = digits < length ? text[digits] & 0x7F : 0;
    const uint32_t among = days_led[digits] & (digits ? days_marked[next] : ~0u),
                   found = length < DAY_LEAST ? 0 : read_part(of_day, among, "", text, length, &ms);
    return found && !days[__builtin_ctz(found)].separator && !is_of_our_time(ms) ? 0 : found;
}

/* Reads a time and its zone. text: the hour. */
static bool read_time(readings_t *reads, const uint8_t *text, const uint8_t *end) {
    const uint8_t *at = text;
    int64_t ms;
    while (at < end && (digits_is_one(*at) || *at == ':' || *at == '.'))
        at++;
    at += end - at >= 3 && *at == ' ' && (at[2] | 0x20) == 'm' ? 3 : 0; /* AM or PM */
    const size_t length = (size_t)(at - text);
    const uint32_t among = length <= TIME_MOST ? times_of[length] : 0;
    reads->times = read_part(of_time, among, "20000101", text, length, &ms);
    reads->zones = at == end
                       ? NONE
                       : (uint8_t)read_part(of_zone, ALL_ZONES, "200001010000", at, (size_t)(end - at), &ms);
    return reads->times && reads->zones;
}

static readings_t read_date(const uint8_t *text, size_t length) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const uint8_t *const end = text + length, *const colon = memchr(text, ':', length);
    const uint8_t *time = end;
    size_t gap = colon ? 1 : 0; /* between day and time */
    readings_t reads = {.times = NONE, .between = NONE, .zones = NONE};
    pthread_once(&once, compile);
    if (colon) {
        size_t digits = 0;
        while (digits < 4 && colon - digits > text && digits_is_one(*(colon - digits - 1)))
            digits++;
        time = digits == 4 ? colon + 1 : colon - digits; /* 10/Oct/2000:13:55:36 */
        gap += time - text > 1 && time[-1] == ' ' && time[-2] == ',';
        reads.between = time == text      ? 0
                        : gap > 1         ? COMMA
                        : time[-1] == ' ' ? BLANK
                        : time[-1] == 'T' ? LETTER_T
                        : time[-1] == ':' ? COLON
                                          : 0;
        if (!reads.between || !read_time(&reads, time, end))
            return (readings_t){.days = 0};
    }
    reads.days = read_day(text, (size_t)(time - text) - gap);
    if ((reads.days & 1) &&
        (!colon || ((reads.times & TIMES_OF_DATETIME) &&
                    ((reads.zones & NONE) || (reads.between == LETTER_T && (reads.zones & ZONE_Z))))))
        reads.others = READS_DATETIME;
    return reads.days ? reads : (readings_t){.days = 0};
}

/* ---- words, and hexadecimal digits ---- */

const char *const guess_pairs[PAIRS][2] =
    {
        {"true", "false"}, {"True", "False"}, {"TRUE", "FALSE"}, {"yes", "no"},  {"Yes", "No"},
        {"YES", "NO"},     {"t", "f"},        {"T", "F"},        {"y", "n"},     {"Y", "N"},
        {"ja", "nein"},    {"Ja", "Nein"},    {"JA", "NEIN"},    {"oui", "non"}, {"Oui", "Non"},
        {"OUI", "NON"},    {"si", "no"},      {"sí", "no"},      {"Sí", "No"},   {"SÍ", "NO"},
        {"sim", "não"},    {"Sim", "Não"},    {"SIM", "NÃO"}}; /* SI and NO are countries, too */

uint32_t guess_pair(const uint8_t *text, size_t length, bool *second) {
    uint32_t found = 0;
    if (!length || length > 5 || !strchr("tTfFyYnNjJoOsS", *text))
        return 0;
    for (size_t i = 0; i < PAIRS; i++)
        for (size_t j = 0; j < 2; j++)
            if (*guess_pairs[i][j] == (char)*text && strlen(guess_pairs[i][j]) == length &&
                memcmp(guess_pairs[i][j], text, length) == 0) {
                *second = j;
                found |= 1u << i;
            }
    return found;
}

/* Reads an ObjectId in small letters, as all programs print it, or a UUID. */
static uint8_t read_hex(const uint8_t *text, size_t length, bool *letters) {
    uint8_t bytes[HEX_UUID];
    bool capital;
    if (length == HEX_UUID_TEXT)
        return hex_read_uuid(text, length, bytes, &capital) ? READS_UUID : 0;
    if (length != 2 * HEX_OBJECTID || !hex_read(text, length, bytes, &capital) || capital)
        return 0;
    for (size_t i = 0; i < length; i++)
        *letters |= text[i] >= 'a';
    return READS_OBJECTID;
}

const char *const guess_null_words[] = {"NULL", "null", "None", "Null", "\\N", "NA",
                                        "N/A",  "n/a",  "#N/A", "NaN",  "nan", NULL};

bool guess_is_null(const uint8_t *text, size_t length) {
    blanks_trim(&text, &length);
    if (length > 4 || (length && (digits_is_one(*text) || *text == '-')))
        return false;
    for (const char *const *word = guess_null_words; length && *word; word++)
        if (**word == (char)*text && strlen(*word) == length && memcmp(*word, text, length) == 0)
            return true;
    return !length;
}

/* True for digits only, perhaps after a plus sign: a code or a telephone number, if they are no number. */
static bool is_code(const uint8_t *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (!digits_is_one(text[i]) && (i || text[i] != '+'))
            return false;
    return true;
}

void guess_read(value_t *value, const uint8_t *text, size_t length) {
    *value = (value_t){.nothing = guess_is_null(text, length)};
    if (value->nothing)
        return;
    /* a date begins with a digit, or as March 4, 2024 */
    if (length >= DAY_LEAST && length < PATTERN_LONGEST &&
        (digits_is_one(*text) || (digits_is_one(text[length - 1]) && memchr(text, ',', length)))) {
        value->reads = read_date(text, length);
        value->timed = value->reads.others && value->reads.between != NONE;
    }
    if (length == 2 * HEX_OBJECTID || length == HEX_UUID_TEXT)
        value->reads.others |= read_hex(text, length, &value->letters);
    value->reads.pairs = guess_pair(text, length, &value->second);
    blanks_trim(&text, &length);
    read_number(value, text, length);
    value->code = !value->reads.styles && is_code(text, length);
}

/* ---- columns: counting ---- */

/* A bit for each reading that counts by itself: see PAIRS_ABROAD. */
static const readings_t usual = {.days = ~0u,
                                 .times = ~0u,
                                 .pairs = (1u << PAIRS_ABROAD) - 1,
                                 .between = 0xFF,
                                 .zones = 0xFF,
                                 .styles = ALL_STYLES,
                                 .others = 0xFF};

static readings_t in_both(const readings_t *one, const readings_t *other) {
    return (readings_t){.words = {one->words[0] & other->words[0], one->words[1] & other->words[1]}};
}

static bool is_date(const readings_t *reads) {
    return reads->days && reads->times && reads->between && reads->zones;
}

static bool is_any(const readings_t *reads) {
    return reads->pairs || reads->styles || reads->others || is_date(reads);
}

bool guess_is_of_type(const value_t *value) {
    const readings_t reads = in_both(&value->reads, &usual);
    return is_any(&reads);
}

void guess_column_begin(column_t *column) {
    *column = (column_t){.values = 0};
    memset(&column->all, 0xFF, sizeof column->all);
}

/* The place of a null value of the column; null_count: it has none like this. */
static size_t find_null(const column_t *column, const uint8_t *text, size_t length) {
    size_t at = 0;
    while (at < column->null_count &&
           (column->nulls[at].length != length || memcmp(column->nulls[at].bytes, text, length) != 0))
        at++;
    return at;
}

/* Adds a null value to the column. False: it is a new one, and there are `most` already, or it is too long. */
static bool put_null(column_t *column, const uint8_t *text, size_t length, size_t most) {
    const size_t at = find_null(column, text, length);
    if (at < column->null_count)
        return true;
    if (at >= most || length > GUESS_NULL_ROOM)
        return false;
    column->nulls[at].length = (uint8_t)length;
    memcpy(column->nulls[at].bytes, text, length);
    column->null_count++;
    return true;
}

uint32_t guess_column_find_null(const column_t *column, const char *word) {
    const size_t at = find_null(column, (const uint8_t *)word, strlen(word));
    return at < column->null_count ? 1u << at : 0;
}

uint32_t guess_column_take_null(column_t *column, const char *word) {
    put_null(column, (const uint8_t *)word, strlen(word), GUESS_MOST_NULLS + GUESS_OTHER_NULLS);
    return guess_column_find_null(column, word);
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
        *class = (class_t){.reads = *reads, .at = column->values};
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
    guess_read(&value, text, length);
    column->trailed += text[length - 1] == ' ';
    if (value.nothing) {
        column->many_nulls |= !put_null(column, text, length, GUESS_MOST_NULLS);
        return;
    }
    count(column, &value.reads, text, length);
    column->all = in_both(&column->all, &value.reads);
    column->yes |= value.second ? 0 : value.reads.pairs;
    column->no |= value.second ? value.reads.pairs : 0;
    column->fraction |= value.fraction;
    column->grouped |= value.grouped;
    column->divided |= value.reads.styles & POINT_STYLES ? 0 : value.grouped;
    column->wide |= value.wide;
    column->lossy |= value.lossy;
    column->huge |= value.huge;
    column->timed |= value.timed;
    column->letters |= value.letters;
    column->codes += value.code;
    const uint8_t *trimmed_text = text;
    size_t trimmed = length;
    blanks_trim(&trimmed_text, &trimmed);
    column->same_length = !column->values || column->same_length == length ? length : SIZE_MAX;
    column->same_trimmed = !column->values || column->same_trimmed == trimmed ? trimmed : SIZE_MAX;
    column->values++;
    column->led += text[0] == ' ';
}

/* ---- columns: what they are ---- */

bool guess_kind_is_number(kind_t kind) {
    return kind == KIND_INT || kind == KIND_LONG || kind == KIND_NUMBER || kind == KIND_DECIMAL;
}

bool guess_kind_is_text(kind_t kind) {
    return kind == KIND_TEXT || kind == KIND_TRIMMED;
}

bool guess_kind_is_date(kind_t kind) {
    return kind == KIND_DATE || kind == KIND_DAY || kind == KIND_DATETIME;
}

/* 601 234 567, 212.555.123: if all values have three or four groups of three digits, they are telephone or other codes. */
static bool are_dialled(const column_t *column, size_t at) {
    const style_t *style = &guess_styles[at];
    return (column->grouped >> at & 1) && !(column->fraction >> at & 1) &&
           (style->thousands == '.' || style->thousands == ' ') &&
           (column->same_trimmed == 11 || column->same_trimmed == 15);
}

bool guess_take_style(const column_t *column, size_t style, decision_t *is) {
    const uint8_t bit = (uint8_t)(1u << style);
    if (!(is->reads.styles & bit) || are_dialled(column, style))
        return false;
    is->style = style;
    is->kind = !((column->fraction | column->wide) & bit) ? KIND_INT
               : !(column->lossy & bit)                   ? KIND_NUMBER
               : !(column->huge & bit)                    ? KIND_DECIMAL
                                                          : KIND_TEXT;
    return is->kind != KIND_TEXT;
}

/* Notes that a mark may be the decimal one or the one of thousands, as in 1,234; and in 1.234 next to 5,6, where no number has
 * both marks. */
static void doubt_decimal(const column_t *column, decision_t *is) {
    const style_t *style = &guess_styles[is->style];
    for (size_t i = 0; i < STYLES && (column->fraction >> is->style & 1); i++) {
        if (guess_styles[i].thousands != style->decimal || !(is->reads.styles & column->grouped & 1u << i))
            continue;
        is->unsure_decimal = true;
        is->either_way |= (column->fraction >> i & 1) != 0;
    }
    if (style->thousands == '.' && (column->fraction & column->grouped & ~column->divided) >> is->style & 1)
        is->unsure_decimal = true;
}

static bool decide_any_number(const column_t *column, decision_t *is) {
    for (size_t i = 0; i < STYLES; i++)
        if (guess_take_style(column, i, is)) {
            doubt_decimal(column, is);
            return true;
        }
    return false;
}

/* Composes a pattern of the first readings. With a day without a leading zero, the hour has none either. */
static void put_pattern(decision_t *is) {
    const day_t *day = &days[__builtin_ctz(is->reads.days)];
    const bool bare = day->text[0] != day->text[1] && (is->reads.times & BARE);
    const int time = __builtin_ctz(is->reads.times & (bare ? BARE : ~0u));
    snprintf(is->pattern, sizeof is->pattern, "%s%s%s%s", day->text,
             between[__builtin_ctz(is->reads.between)], times[time], zones[__builtin_ctz(is->reads.zones)]);
    is->kind = KIND_DATE;
    is->rounded = ROUNDED >> time & 1;
    is->separator = day->separator;
    is->orders = 0;
    for (uint32_t left = is->reads.days; left; left &= left - 1)
        is->orders |= (uint8_t)(1u << days[__builtin_ctz(left)].order);
    if (is->orders >> ORDER_SURE & 1)
        is->orders = 1u << ORDER_SURE;
}

static bool decide_date(const column_t *column, decision_t *is) {
    if (is->reads.others & READS_DATETIME)
        is->kind = column->timed ? KIND_DATETIME : KIND_DAY;
    else if (is_date(&is->reads))
        put_pattern(is);
    return is->kind != KIND_TEXT;
}

static bool decide_pair(const column_t *column, decision_t *is) {
    enum { SURE_ALONE = 3 }; /* true or false; of the other words both must be there */
    const uint32_t pairs = is->reads.pairs & usual.pairs;
    is->pair = pairs ? (size_t)__builtin_ctz(pairs) : 0;
    if (!pairs || (is->pair >= SURE_ALONE && !(column->yes & column->no & pairs)))
        return false;
    is->kind = KIND_BOOLEAN;
    return true;
}

static bool decide_hex(const column_t *column, decision_t *is) {
    is->kind = (is->reads.others & READS_OBJECTID) && column->letters ? KIND_OBJECTID
               : is->reads.others & READS_UUID                        ? KIND_UUID
                                                                      : KIND_TEXT;
    return is->kind != KIND_TEXT;
}

/* True if the first reading as a day has no separators: such a day is hardly a number. */
static bool is_of_digits(const readings_t *reads) {
    return is_date(reads) && !days[__builtin_ctz(reads->days)].separator;
}

/* The type of values that have these readings in common. */
static decision_t decide(const column_t *column, const readings_t *reads) {
    decision_t is = {.kind = KIND_TEXT, .reads = *reads, .nulls = (1u << column->null_count) - 1};
    if (column->values && !column->many_nulls &&
        ((is_of_digits(reads) && decide_date(column, &is)) || decide_pair(column, &is) ||
         decide_any_number(column, &is) || decide_date(column, &is) || decide_hex(column, &is)))
        return is;
    const bool padded = column->led == column->values || (column->trailed && column->same_length != SIZE_MAX);
    return (decision_t){.kind = column->values && !column->kept_blank && padded ? KIND_TRIMMED : KIND_TEXT,
                        .reads = *reads};
}

decision_t guess_column_decide(const column_t *column) {
    return decide(column, &column->all);
}

/* Adds up the classes that have readings in common with the class at `first` and with each other, the largest first. */
static fit_t fit_with(const column_t *column, size_t first, const readings_t *among) {
    const class_t *classes = column->classes;
    fit_t fit = {.reads = in_both(&classes[first].reads, among)};
    if (!is_any(&fit.reads))
        return fit;
    for (size_t i = 0; i < column->class_count; i++) {
        const readings_t both = in_both(&fit.reads, &classes[i].reads);
        if (is_any(&both)) {
            fit.reads = both;
            fit.values += classes[i].values;
            continue;
        }
        fit.misfits += classes[i].values;
        fit.first = fit.first && fit.first->at < classes[i].at ? fit.first : &classes[i];
    }
    return fit;
}

/* The readings among these that the most values share. */
static fit_t fit_most(const column_t *column, const readings_t *among) {
    fit_t most = {.values = 0};
    for (size_t i = 0; i < column->class_count; i++) {
        const fit_t fit = fit_with(column, i, among);
        most = fit.values > most.values ? fit : most;
    }
    return most;
}

bool guess_column_nearly(const column_t *column, fit_t *fit, decision_t *is) {
    enum { A_MISFIT_IN = 20 };
    *fit = fit_most(column, &usual);
    if (!fit->misfits || fit->values < fit->misfits * A_MISFIT_IN)
        return false;
    *is = decide(column, &fit->reads);
    return !guess_kind_is_text(is->kind) && !is->unsure_decimal && !(is->orders & (is->orders - 1)) &&
           !(column->codes && (guess_kind_is_number(is->kind) || is_of_digits(&is->reads)));
}

decision_t guess_column_as(const column_t *column, kind_t kind, char decimal) {
    decision_t is = {.kind = kind, .nulls = (1u << column->null_count) - 1};
    readings_t among = {.pairs = kind == KIND_BOOLEAN ? ~0u : 0};
    if (guess_kind_is_number(kind))
        among.styles = ALL_STYLES;
    if (kind == KIND_DAY || kind == KIND_DATETIME) {
        among = usual;
        among.pairs = among.styles = 0;
        among.others = READS_DATETIME;
    }
    fit_t fit = fit_most(column, &among);
    if (decimal && among.styles && fit.misfits) { /* if numbers have either mark, those with this one */
        among.styles = decimal == '.' ? POINT_STYLES : COMMA_STYLES;
        const fit_t said = fit_most(column, &among);
        fit = said.values ? said : fit;
    }
    is.reads = fit.reads;
    if (kind == KIND_BOOLEAN && is.reads.pairs)
        is.pair = (size_t)__builtin_ctz(is.reads.pairs);
    if (is.reads.styles) {
        is.style = (size_t)__builtin_ctz(is.reads.styles);
        doubt_decimal(column, &is);
    }
    if (is_date(&is.reads) && !is.reads.others)
        put_pattern(&is);
    if (guess_kind_is_text(kind))
        is.nulls = 0;
    if (kind == KIND_JSON) /* null is a value of JSON */
        is.nulls &= ~guess_column_find_null(column, "null");
    return is;
}

void guess_take_order(decision_t *is, date_order_t order) {
    for (uint32_t left = is->reads.days; left; left &= left - 1)
        if (days[__builtin_ctz(left)].order != order)
            is->reads.days &= ~(left & -left);
    put_pattern(is);
}
