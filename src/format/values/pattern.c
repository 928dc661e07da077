#include "format/values/pattern.h"
#include "format/values/calendar.h"
#include "format/values/convert.h"
#include "format/values/digits.h"

#include <string.h>

/* pattern_parts: the parts of date patterns that have no full width, or several spellings. Inside src/format/values only. */

enum {
    PART_SHORT_YEAR = 'y',
    PART_MONTH = 'B', /* January */
    PART_MON = 'b',   /* Jan */
    PART_BARE_MONTH = 'n',
    PART_BARE_DAY = 'd',
    PART_BARE_HOUR = 'H',
    PART_FRACTION = 'F', /* as many digits as the part is wide */
    PART_OFFSET = 'Z',
    PART_HALF_DAY = 'A',
    PART_EPOCH_S = 'e',
    PART_EPOCH_MS = 'E',
};

enum {
    SHORT_YEARS_FROM = 1969, /* 69 is 1969, and 68 is 2068 */
    MS_OF_MINUTE = 60000,
    NANOSECOND_DIGITS = 9,
};
static const int64_t day_ms = 86400000;

static const char *const names[] = {"January", "February", "March",     "April",   "May",      "June",
                                    "July",    "August",   "September", "October", "November", "December"};

/* What a text says, or what a text is to say. */
typedef struct {
    uint32_t year, month, day, hour, minute, second, ns;
    bool afternoon;
    int offset; /* minutes before UTC */
} moment_t;

typedef struct {
    const uint8_t *at, *end;
} rest_t;

/* ---- from text ---- */

static bool take_digits(rest_t *rest, size_t width, uint32_t *value) {
    *value = 0;
    if ((size_t)(rest->end - rest->at) < width)
        return false;
    for (; width; width--) {
        if (!digits_is_one(*rest->at))
            return false;
        *value = *value * 10 + (uint32_t)(*rest->at++ - '0');
    }
    return true;
}

/* One digit or two, without a zero in front. */
static bool take_bare(rest_t *rest, uint32_t *value) {
    const size_t left = (size_t)(rest->end - rest->at);
    if (left && *rest->at == '0' && left > 1 && digits_is_one(rest->at[1]))
        return false;
    return take_digits(rest, left > 1 && digits_is_one(rest->at[1]) ? 2 : 1, value);
}

/* Is it the name, as it is, in capitals or in small letters? */
static bool is_name(const uint8_t *text, const char *name, size_t length) {
    bool same = true, capital = true, small = true;
    for (size_t i = 0; i < length; i++) {
        same &= text[i] == (uint8_t)name[i];
        capital &= text[i] == (uint8_t)(name[i] & ~0x20);
        small &= text[i] == (uint8_t)(name[i] | 0x20);
    }
    return same || capital || small;
}

static size_t length_of(const char *name, char part) {
    return part == PART_MON ? 3 : strlen(name);
}

static bool take_month(rest_t *rest, char part, moment_t *moment) {
    for (uint32_t month = 0; month < 12; month++) {
        const size_t length = length_of(names[month], part);
        if ((size_t)(rest->end - rest->at) < length || !is_name(rest->at, names[month], length))
            continue;
        rest->at += length;
        moment->month = month + 1;
        return true;
    }
    return false;
}

static bool take_half_day(rest_t *rest, moment_t *moment) {
    static const char *const halves[] = {"AM", "PM", "am", "pm"};
    for (unsigned i = 0; i < 4; i++) {
        if (rest->end - rest->at < 2 || memcmp(rest->at, halves[i], 2) != 0)
            continue;
        rest->at += 2;
        moment->afternoon = i & 1;
        return true;
    }
    return false;
}

static bool take_offset(rest_t *rest, moment_t *moment) {
    uint32_t hours, minutes;
    if (rest->at < rest->end && *rest->at == 'Z') {
        rest->at++;
        return true;
    }
    if (rest->at == rest->end || (*rest->at != '+' && *rest->at != '-'))
        return false;
    const bool minus = *rest->at++ == '-';
    if (!take_digits(rest, 2, &hours))
        return false;
    rest->at += rest->at < rest->end && *rest->at == ':';
    if (!take_digits(rest, 2, &minutes) || hours > 23 || minutes > 59)
        return false;
    const int sum = (int)(hours * 60 + minutes);
    moment->offset = minus ? -sum : sum;
    return sum || !minus; /* -00:00 says that the offset is not known */
}

static bool take_fraction(rest_t *rest, size_t width, moment_t *moment) {
    if (!take_digits(rest, width, &moment->ns))
        return false;
    for (; width < NANOSECOND_DIGITS; width++)
        moment->ns *= 10;
    return moment->ns % 1000000 == 0; /* otherwise digits would be lost */
}

static bool take_part(rest_t *rest, const pattern_t *pattern, int i, moment_t *moment) {
    const size_t width = pattern->widths[i];
    switch (pattern->parts[i]) {
    case 0:
        return rest->at < rest->end && *rest->at++ == (uint8_t)pattern->literals[i];
    case 'Y':
        return take_digits(rest, 4, &moment->year);
    case PART_SHORT_YEAR:
        if (!take_digits(rest, 2, &moment->year))
            return false;
        moment->year += moment->year < SHORT_YEARS_FROM % 100 ? 2000 : 1900;
        return true;
    case 'M':
        return take_digits(rest, 2, &moment->month);
    case PART_BARE_MONTH:
        return take_bare(rest, &moment->month);
    case PART_MON:
    case PART_MONTH:
        return take_month(rest, pattern->parts[i], moment);
    case 'D':
        return take_digits(rest, 2, &moment->day);
    case PART_BARE_DAY:
        return take_bare(rest, &moment->day);
    case 'h':
        return take_digits(rest, 2, &moment->hour);
    case PART_BARE_HOUR:
        return take_bare(rest, &moment->hour);
    case PART_HALF_DAY:
        return take_half_day(rest, moment);
    case 'm':
        return take_digits(rest, 2, &moment->minute);
    case 's':
        return take_digits(rest, 2, &moment->second);
    case PART_OFFSET:
        return take_offset(rest, moment);
    default: /* a fraction */
        return take_fraction(rest, width, moment);
    }
}

/* Is it in the years that a pattern can show? */
static bool is_in_range(int64_t ms) {
    date_t date;
    const int64_t left = ms % day_ms;
    return calendar_date(ms / day_ms - (left < 0), &date);
}

static bool ms_of(const pattern_t *pattern, moment_t *moment, int64_t *ms) {
    int32_t days;
    if (pattern->half_days) {
        if (moment->hour < 1 || moment->hour > 12)
            return false;
        moment->hour = moment->hour % 12 + (moment->afternoon ? 12 : 0);
    }
    if (!calendar_days(moment->year, moment->month, moment->day, &days) || moment->hour > 23 ||
        moment->minute > 59 || moment->second > 59)
        return false;
    *ms = days * day_ms + (int64_t)(moment->hour * 3600 + moment->minute * 60 + moment->second) * 1000 +
          moment->ns / 1000000 - (int64_t)moment->offset * MS_OF_MINUTE;
    return is_in_range(*ms);
}

/* A whole number, as it is printed. */
static bool read_epoch(char part, const uint8_t *text, size_t length, int64_t *ms) {
    uint8_t printed[20];
    int64_t number;
    if (!convert_int(text, length, &number) || convert_print_int(number, printed) != length ||
        memcmp(printed, text, length) != 0)
        return false;
    return !(part == PART_EPOCH_S && __builtin_mul_overflow(number, 1000, &number)) &&
           is_in_range(*ms = number);
}

/* As pattern_read and pattern_write, for a pattern that varies. */
static bool pattern_parts_read(const pattern_t *pattern, const uint8_t *text, size_t length, int64_t *ms) {
    rest_t rest = {text, text + length};
    moment_t moment = {.year = 0};
    if (pattern->parts[0] == PART_EPOCH_S || pattern->parts[0] == PART_EPOCH_MS)
        return read_epoch(pattern->parts[0], text, length, ms);
    for (int i = 0; i < pattern->count; i++)
        if (!take_part(&rest, pattern, i, &moment))
            return false;
    return rest.at == rest.end && ms_of(pattern, &moment, ms);
}

/* ---- to text ---- */

static uint8_t *put_digits(uint8_t *out, size_t width, uint32_t value) {
    for (size_t i = width; i; i--, value /= 10)
        out[i - 1] = (uint8_t)('0' + value % 10);
    return out + width;
}

static uint8_t *put_bare(uint8_t *out, uint32_t value) {
    return put_digits(out, value > 9 ? 2 : 1, value);
}

static uint8_t *put_text(uint8_t *out, const char *text, size_t length) {
    return (uint8_t *)memcpy(out, text, length) + length;
}

static uint8_t *put_fraction(uint8_t *out, size_t width, uint32_t ns) {
    for (size_t i = width; i < NANOSECOND_DIGITS; i++)
        ns /= 10;
    return put_digits(out, width, ns);
}

static uint8_t *put_part(uint8_t *out, const pattern_t *pattern, int i, const moment_t *moment) {
    const uint32_t hour = pattern->half_days ? (moment->hour + 11) % 12 + 1 : moment->hour;
    const char part = pattern->parts[i];
    switch (part) {
    case 0:
        *out = (uint8_t)pattern->literals[i];
        return out + 1;
    case 'Y':
        return put_digits(out, 4, moment->year);
    case PART_SHORT_YEAR:
        return put_digits(out, 2, moment->year % 100);
    case 'M':
        return put_digits(out, 2, moment->month);
    case PART_BARE_MONTH:
        return put_bare(out, moment->month);
    case PART_MON:
    case PART_MONTH:
        return put_text(out, names[moment->month - 1], length_of(names[moment->month - 1], part));
    case 'D':
        return put_digits(out, 2, moment->day);
    case PART_BARE_DAY:
        return put_bare(out, moment->day);
    case 'h':
        return put_digits(out, 2, hour);
    case PART_BARE_HOUR:
        return put_bare(out, hour);
    case PART_HALF_DAY:
        return put_text(out, moment->hour < 12 ? "AM" : "PM", 2);
    case 'm':
        return put_digits(out, 2, moment->minute);
    case 's':
        return put_digits(out, 2, moment->second);
    case PART_OFFSET:
        return put_text(out, "Z", 1);
    default: /* a fraction */
        return put_fraction(out, pattern->widths[i], moment->ns);
    }
}

static size_t write_epoch(char part, int64_t ms, uint8_t *out) {
    if (!is_in_range(ms) || (part == PART_EPOCH_S && ms % 1000))
        return 0;
    return convert_print_int(part == PART_EPOCH_S ? ms / 1000 : ms, out);
}

static size_t pattern_parts_write(const pattern_t *pattern, int64_t ms, uint8_t *out) {
    if (pattern->parts[0] == PART_EPOCH_S || pattern->parts[0] == PART_EPOCH_MS)
        return write_epoch(pattern->parts[0], ms, out);
    date_t date;
    int64_t again;
    const int64_t days = ms / day_ms - (ms % day_ms < 0), of_day = ms - days * day_ms;
    if (!calendar_date(days, &date))
        return 0;
    const uint32_t left = (uint32_t)of_day;
    const moment_t moment = {.year = date.year,
                             .month = date.month,
                             .day = date.day,
                             .hour = left / 3600000,
                             .minute = left / 60000 % 60,
                             .second = left / 1000 % 60,
                             .ns = left % 1000 * 1000000};
    uint8_t *at = out;
    for (int i = 0; i < pattern->count; i++)
        at = put_part(at, pattern, i, &moment);
    /* what the pattern does not show is missing when it is read */
    const bool same = pattern_parts_read(pattern, out, (size_t)(at - out), &again) && again == ms;
    return same ? (size_t)(at - out) : 0;
}

/* The longer ones first. `is` is what two parts have in common that cannot both be there. */
static const struct {
    const char *text;
    char part, is;
    uint8_t width;
} parts[] = {{"YYYY", 'Y', 'Y', 4},         {"YY", PART_SHORT_YEAR, 'Y', 2},
             {"MONTH", PART_MONTH, 'M', 5}, {"MON", PART_MON, 'M', 3},
             {"MM", 'M', 'M', 2},           {"M", PART_BARE_MONTH, 'M', 1},
             {"DD", 'D', 'D', 2},           {"D", PART_BARE_DAY, 'D', 1},
             {"hh", 'h', 'h', 2},           {"h", PART_BARE_HOUR, 'h', 1},
             {"mm", 'm', 'm', 2},           {"ss", 's', 's', 2},
             {"ZZ", PART_OFFSET, 'Z', 2},   {"A", PART_HALF_DAY, 'A', 1}};
enum { PARTS = sizeof parts / sizeof *parts, MOST_FRACTION = 9 };

typedef struct {
    char part, is;
    size_t width; /* in the pattern */
} found_t;

/* The part at the start of a pattern's rest; part 0: a literal. One letter is none if what it means is there already: the
 * second h of "hhhmm", for 14h30. */
static found_t part_at(const char *text, size_t left, const bool *seen) {
    size_t digits = 0;
    while (digits < left && digits < MOST_FRACTION && text[digits] == 'S')
        digits++;
    if (digits && !(digits == 1 && seen['S']))
        return (found_t){digits == 3 ? 'S' : digits == 6 ? 'U' : PART_FRACTION, 'S', digits};
    for (int i = 0; i < PARTS; i++) {
        const size_t length = strlen(parts[i].text);
        if (length <= left && strncmp(text, parts[i].text, length) == 0 &&
            !(length == 1 && seen[(int)parts[i].is]))
            return (found_t){parts[i].part, parts[i].is, length};
    }
    return (found_t){0, 0, 1};
}

static bool is_usual(char part) {
    return !part || strchr("YMDhmsSU", part);
}

static bool is_bare(char part) {
    return part == PART_BARE_MONTH || part == PART_BARE_DAY || part == PART_BARE_HOUR;
}

/* A digit after a part without a full width would belong to it. */
static bool runs_on(const pattern_t *pattern) {
    for (uint8_t i = 0; i + 1 < pattern->count; i++) {
        const char next = pattern->parts[i + 1];
        const bool digit =
            next ? next != PART_MON && next != PART_MONTH && next != PART_HALF_DAY && next != PART_OFFSET
                 : pattern->literals[i + 1] >= '0' && pattern->literals[i + 1] <= '9';
        if (is_bare(pattern->parts[i]) && digit)
            return true;
    }
    return false;
}

static const char *compile_epoch(char part, pattern_t *pattern) {
    pattern->parts[pattern->count++] = part;
    pattern->varies = true;
    return NULL;
}

const char *pattern_compile(const char *text, size_t length, pattern_t *pattern) {
    *pattern = (pattern_t){0};
    if (!length || length >= PATTERN_LONGEST)
        return "it must have 1 to 39 characters";
    if (length == 7 && memcmp(text, "epoch_s", length) == 0)
        return compile_epoch(PART_EPOCH_S, pattern);
    if (length == 8 && memcmp(text, "epoch_ms", length) == 0)
        return compile_epoch(PART_EPOCH_MS, pattern);
    bool seen[128] = {false};
    for (size_t at = 0; at < length;) {
        const found_t found = part_at(text + at, length - at, seen);
        if (found.part && seen[(int)found.is])
            return "a part is there twice";
        if (!found.part && (text[at] & 0x80))
            return "only ASCII can be between the parts";
        seen[(int)found.is] = true;
        pattern->varies |= !is_usual(found.part);
        pattern->parts[pattern->count] = found.part;
        pattern->widths[pattern->count] = (uint8_t)found.width;
        pattern->literals[pattern->count++] = text[at];
        pattern->length = (uint8_t)(pattern->length + found.width);
        at += found.width;
    }
    pattern->half_days = seen['A'];
    if (!seen['Y'] || !seen['M'] || !seen['D'])
        return "YYYY, MM and DD are needed, or YY, M, MON or MONTH, and D";
    if (seen['A'] && !seen['h'])
        return "A is AM or PM: hh or h is needed";
    if (seen['S'] && !seen['s'])
        return "S is a fraction of a second: ss is needed";
    if (runs_on(pattern))
        return "after D, M or h there must be something that is no digit";
    pattern->iso = length >= 19 && strncmp(text, "YYYY-MM-DD", 10) == 0 && !pattern->parts[5] &&
                   strncmp(text + 11, "hh:mm:ss", 8) == 0 && !pattern->varies;
    return NULL;
}

enum { ISO_PARTS = 11, ISO_BYTES = 19 };

/* Reads the first ISO_BYTES of an iso pattern, eight bytes at a time. */
static bool read_iso(const pattern_t *pattern, const uint8_t *text, int64_t *ms) {
    uint64_t time = digits_load(text + 11) ^ 0x30303A30303A3030ull; /* hh:mm:ss without '0' and ':' */
    if (text[10] != (uint8_t)pattern->literals[5] || (time & 0x0000FF0000FF0000ull) || !digits_only(time) ||
        !calendar_iso(text, ms))
        return false;
    uint32_t hours = (uint32_t)(time & 0xF) * 10 + (uint32_t)(time >> 8 & 0xF);
    uint32_t minutes = (uint32_t)(time >> 24 & 0xF) * 10 + (uint32_t)(time >> 32 & 0xF);
    uint32_t seconds = (uint32_t)(time >> 48 & 0xF) * 10 + (uint32_t)(time >> 56 & 0xF);
    *ms += (int64_t)(hours * 3600 + minutes * 60 + seconds) * 1000;
    return hours < 24 && minutes < 60 && seconds < 60;
}

/* Reads the parts from `first` on into value. */
static bool read_parts(const pattern_t *pattern, int first, const uint8_t *text, uint32_t value[128]) {
    for (int i = first; i < pattern->count; i++) {
        char part = pattern->parts[i];
        if (!part) {
            if (*text++ != (uint8_t)pattern->literals[i])
                return false;
            continue;
        }
        uint32_t number = 0;
        for (uint8_t left = pattern->widths[i]; left; left--, text++) {
            uint32_t digit = (uint32_t)*text - '0';
            if (digit > 9)
                return false;
            number = number * 10 + digit;
        }
        value[(int)part] = number;
    }
    /* microseconds are accepted only if no digit is lost */
    return value['U'] % 1000 == 0;
}

bool pattern_read(const pattern_t *pattern, const uint8_t *text, size_t length, int64_t *ms) {
    uint32_t value[128];
    if (__builtin_expect(pattern->varies, 0))
        return pattern_parts_read(pattern, text, length, ms);
    value['h'] = value['m'] = value['s'] = value['S'] = value['U'] = 0;
    if (length != pattern->length)
        return false;
    if (pattern->iso) {
        if (!read_iso(pattern, text, ms) || !read_parts(pattern, ISO_PARTS, text + ISO_BYTES, value))
            return false;
        *ms += value['S'] + value['U'] / 1000;
        return true;
    }
    value['Y'] = value['M'] = value['D'] = 0;
    if (!read_parts(pattern, 0, text, value))
        return false;
    int32_t days;
    if (!calendar_days(value['Y'], value['M'], value['D'], &days))
        return false;
    if (value['h'] > 23 || value['m'] > 59 || value['s'] > 59)
        return false;
    const int64_t seconds = (int64_t)days * 86400 + value['h'] * 3600 + value['m'] * 60 + value['s'];
    *ms = seconds * 1000 + value['S'] + value['U'] / 1000;
    return true;
}

size_t pattern_write(const pattern_t *pattern, int64_t ms, uint8_t *out) {
    if (pattern->varies)
        return pattern_parts_write(pattern, ms, out);
    int64_t days = ms / day_ms, left = ms % day_ms;
    if (left < 0) {
        left += day_ms;
        days--;
    }
    uint32_t rest = (uint32_t)left;
    date_t date;
    if (!calendar_date(days, &date))
        return 0;
    uint32_t value[128];
    value['Y'] = date.year;
    value['M'] = date.month;
    value['D'] = date.day;
    value['h'] = rest / 3600000;
    value['m'] = rest / 60000 % 60;
    value['s'] = rest / 1000 % 60;
    value['S'] = rest % 1000;
    value['U'] = rest % 1000 * 1000;
    bool shown[128] = {false};
    for (int i = 0; i < pattern->count; i++) {
        char part = pattern->parts[i];
        shown[(int)part] = true;
        if (!part) {
            *out++ = (uint8_t)pattern->literals[i];
            continue;
        }
        uint32_t number = value[(int)part];
        for (int digit = pattern->widths[i] - 1; digit >= 0; digit--, number /= 10)
            out[digit] = (uint8_t)('0' + number % 10);
        out += pattern->widths[i];
    }
    const bool all = (shown['h'] || !value['h']) && (shown['m'] || !value['m']) &&
                     (shown['s'] || !value['s']) && (shown['S'] || shown['U'] || !value['S']);
    return all ? pattern->length : 0;
}
