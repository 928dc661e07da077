#include "format/values/values.h"

#include <string.h>
#include <strings.h>

enum {
    SHORT_YEARS_FROM = 69, /* 69 is 1969, and 68 is 2068 */
    MS_OF_DAY = 86400000,
    MS_OF_HOUR = 3600000,
    MS_OF_MINUTE = 60000,
    NS_OF_MS = 1000000,
    MOST_FRACTION = 9, /* digits: nanoseconds */
};

/* How a part is written. */
enum {
    LITERAL,
    DIGITS,   /* as many as the part is wide */
    NUMBER,   /* a year of two digits, a fraction, or up to `most` digits without a zero in front */
    NAME,     /* of a month: all letters, or as many as the part is wide */
    HALF_DAY, /* AM or PM */
    OFFSET,   /* Z, +hh:mm or +hhmm */
};

/* What a part says of the moment: FRACTION in nanoseconds, ZONE in minutes before UTC. A pattern has each once. */
enum { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, FRACTION, HALF, ZONE, VALUES };

static const char *const months[] = {"January", "February", "March",     "April",   "May",      "June",
                                     "July",    "August",   "September", "October", "November", "December"};

/* A digit of a second by its place, in nanoseconds. */
static const int32_t units[MOST_FRACTION + 1] = {1000000000, 100000000, 10000000, 1000000, 100000,
                                                 10000,      1000,      100,      10,      1};

/* Reads all digits that are there, up to `most`; NULL: fewer than `least`. */
static inline const uint8_t *read_digits(const uint8_t *at, const uint8_t *end, size_t least, size_t most,
                                         int32_t *value) {
    const uint8_t *const first = at, *const last = (size_t)(end - at) < most ? end : at + most;
    int32_t number = 0;
    for (; at < last && digits_is_one(*at); at++)
        number = number * 10 + (*at - '0');
    *value = number;
    return at < first + least ? NULL : at;
}

/* ---- the calendar ---- */

/* The years are counted from March, so that a leap day is the last day of its year, and from 400 years before year 0. */
enum {
    CYCLE_YEARS = 400,
    CYCLE_DAYS = 146097,
    FIRST_DAY = -719468 - CYCLE_DAYS, /* 1 March of the year -400 */
    YEAR_0 = -719528,                 /* the first days of these years */
    YEAR_10000 = YEAR_0 + 25 * CYCLE_DAYS,
};

bool calendar_days(uint32_t year, uint32_t month, uint32_t day, int32_t *days) {
    static const uint8_t last[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (month - 1 > 11 || day - 1 >= last[month - 1] + (uint32_t)(leap && month == 2))
        return false;
    const uint32_t from_march = (month + 9) % 12, years = year + CYCLE_YEARS - (month < 3);
    *days = (int32_t)(years * 365 + years / 4 - years / 100 + years / 400 + (153 * from_march + 2) / 5 + day -
                      1) +
            FIRST_DAY;
    return true;
}

bool calendar_rare(uint32_t year, uint32_t month, uint32_t day, int64_t *ms) {
    int32_t days;
    if (!calendar_days(year, month, day, &days))
        return false;
    *ms = (int64_t)days * 86400000;
    return true;
}

bool calendar_date(int64_t days, date_t *date) {
    if (days < YEAR_0 || days >= YEAR_10000)
        return false;
    const uint32_t since = (uint32_t)(days - FIRST_DAY), of_cycle = since % CYCLE_DAYS;
    const uint32_t year = (of_cycle - of_cycle / 1460 + of_cycle / 36524 - of_cycle / 146096) / 365;
    const uint32_t of_year = of_cycle - (365 * year + year / 4 - year / 100),
                   from_march = (5 * of_year + 2) / 153;
    *date = (date_t){.year = since / CYCLE_DAYS * CYCLE_YEARS + year + (from_march > 9) - CYCLE_YEARS,
                     .month = (from_march + 2) % 12 + 1,
                     .day = of_year - (153 * from_march + 2) / 5 + 1};
    return true;
}

/* ---- from text ---- */

/* The letters of a month's name that the part has. */
static size_t name_length(const pattern_part_t *part, int32_t month) {
    return part->width == 3 ? 3 : strlen(months[month]);
}

/* In any case. */
static const uint8_t *read_name(const pattern_part_t *part, const uint8_t *at, const uint8_t *end,
                                int32_t *month) {
    for (*month = 1; *month <= 12; ++*month) {
        const size_t length = name_length(part, *month - 1);
        if ((size_t)(end - at) >= length && strncasecmp((const char *)at, months[*month - 1], length) == 0)
            return at + length;
    }
    return NULL;
}

static const uint8_t *read_offset(const uint8_t *at, const uint8_t *end, int32_t *value) {
    int32_t hours, minutes;
    if (at == end || (*at != '+' && *at != '-'))
        return at < end && *at == 'Z' ? at + 1 : NULL;
    const bool minus = *at == '-';
    if (!(at = read_digits(at + 1, end, 2, 2, &hours)))
        return NULL;
    at = read_digits(at + (at < end && *at == ':'), end, 2, 2, &minutes);
    if (!at || hours > 23 || minutes > 59)
        return NULL;
    *value = (hours * 60 + minutes) * (minus ? -1 : 1);
    return at;
}

enum { ISO_PARTS = 11, ISO_BYTES = 19 };

/* Reads YYYY-MM-DD?hh:mm:ss, eight bytes at a time. */
static bool read_iso(const uint8_t *text, uint8_t between, int64_t *ms) {
    uint64_t time = digits_load(text + 11) ^ 0x30303A30303A3030ull; /* hh:mm:ss without '0' and ':' */
    if (text[10] != between || (time & 0x0000FF0000FF0000ull) || !digits_only(time) ||
        !calendar_iso(text, ms))
        return false;
    uint32_t hours = (uint32_t)(time & 0xF) * 10 + (uint32_t)(time >> 8 & 0xF);
    uint32_t minutes = (uint32_t)(time >> 24 & 0xF) * 10 + (uint32_t)(time >> 32 & 0xF);
    uint32_t seconds = (uint32_t)(time >> 48 & 0xF) * 10 + (uint32_t)(time >> 56 & 0xF);
    *ms += (int64_t)(hours * 3600 + minutes * 60 + seconds) * 1000;
    return hours < 24 && minutes < 60 && seconds < 60;
}

bool calendar_moment(const uint8_t *text, size_t length, bool zoned, int64_t *ms) {
    enum { TO_MINUTES = 16 };
    const bool seconds = length >= ISO_BYTES && text[TO_MINUTES] == ':';
    const uint8_t *const end = text + length, *at = text + (seconds ? ISO_BYTES : TO_MINUTES);
    uint8_t iso[ISO_BYTES];
    int32_t fraction = 0, zone = 0;
    if (length < TO_MINUTES)
        return false;
    memcpy(iso, text, TO_MINUTES);
    memcpy(iso + TO_MINUTES, seconds ? text + TO_MINUTES : (const uint8_t *)":00", ISO_BYTES - TO_MINUTES);
    if (!read_iso(iso, 'T', ms))
        return false;
    if (seconds && at < end && *at == '.') {
        const uint8_t *const first = at + 1;
        at = read_digits(first, end, 1, MOST_FRACTION, &fraction);
        fraction *= at ? units[at - first] : 0;
        while (at && at - first >= MOST_FRACTION && at < end && *at == '0')
            at++;
    }
    if (at && (zoned || at < end))
        at = read_offset(at, end, &zone);
    *ms += fraction / NS_OF_MS - zone * MS_OF_MINUTE;
    return at == end && fraction % NS_OF_MS == 0;
}

/* Returns the end of the part; NULL: the text is no such part. */
static inline const uint8_t *read_part(const pattern_part_t *part, const uint8_t *at, const uint8_t *end,
                                       int32_t *values) {
    int32_t *const value = &values[part->what];
    const uint8_t *const first = at;
    switch (part->how) {
    case LITERAL:
        return at < end && *at == part->literal ? at + 1 : NULL;
    case DIGITS:
        return read_digits(at, end, part->width, part->width, value);
    case NAME:
        return read_name(part, at, end, value);
    case HALF_DAY:
        *value = at < end && (*at | 0x20) == 'p';
        return end - at >= 2 && strncasecmp((const char *)at, *value ? "PM" : "AM", 2) == 0 ? at + 2 : NULL;
    case OFFSET:
        at = read_offset(at, end, value);
        return at && *first == '-' && !*value ? NULL : at; /* -00:00 says that the offset is not known */
    default:
        at = read_digits(at, end, part->width, part->most, value);
        if (part->what == YEAR)
            *value += *value < SHORT_YEARS_FROM ? 2000 : 1900;
        if (part->what == FRACTION)
            *value *= units[part->width];
        return at && part->width < part->most && at > first + 1 && *first == '0' ? NULL : at;
    }
}

/* True if the moment is in the years that a pattern can show. */
static bool is_in_range(int64_t ms) {
    return ms >= (int64_t)YEAR_0 * MS_OF_DAY && ms < (int64_t)YEAR_10000 * MS_OF_DAY;
}

/* A whole number, as it is printed. */
static bool read_epoch(int64_t unit, const uint8_t *text, size_t length, int64_t *ms) {
    return length && text[0] != ' ' && text[length - 1] != ' ' && convert_is_exact(text, length) &&
           convert_int(text, length, ms) && !__builtin_mul_overflow(*ms, unit, ms) && is_in_range(*ms);
}

static bool ms_of(const pattern_t *pattern, int32_t *value, int64_t *ms) {
    int32_t days;
    if (pattern->half_days) {
        if (value[HOUR] < 1 || value[HOUR] > 12)
            return false;
        value[HOUR] = value[HOUR] % 12 + (value[HALF] ? 12 : 0);
    }
    if (!calendar_days((uint32_t)value[YEAR], (uint32_t)value[MONTH], (uint32_t)value[DAY], &days) ||
        value[HOUR] > 23 || value[MINUTE] > 59 || value[SECOND] > 59)
        return false;
    *ms = (int64_t)days * MS_OF_DAY + value[HOUR] * MS_OF_HOUR + value[MINUTE] * MS_OF_MINUTE +
          value[SECOND] * 1000;
    return true;
}

zone_times_t pattern_read(const pattern_t *pattern, const uint8_t *text, size_t length, int64_t *ms) {
    zone_times_t times = ZONE_ONCE;
    const uint8_t *at = text, *const end = text + length;
    int32_t values[VALUES] = {0};
    const int first = pattern->iso ? ISO_PARTS : 0;
    if (length != pattern->length && (!pattern->varies || (pattern->iso && length < ISO_BYTES)))
        return ZONE_NEVER;
    if (pattern->epoch)
        return read_epoch(pattern->epoch, text, length, ms) ? ZONE_ONCE : ZONE_NEVER;
    if (pattern->iso && !read_iso(text, pattern->parts[5].literal, ms))
        return ZONE_NEVER;
    at += pattern->iso ? ISO_BYTES : 0;
    for (int i = first; i < pattern->count; i++)
        if (!(at = read_part(&pattern->parts[i], at, end, values)))
            return ZONE_NEVER;
    if (at != end || (!pattern->iso && !ms_of(pattern, values, ms)))
        return ZONE_NEVER;
    if (pattern->zone) {
        times = zone_to_utc(pattern->zone, *ms / 1000, ms);
        *ms *= 1000;
    }
    *ms += (values[FRACTION] + (pattern->rounds ? NS_OF_MS / 2 : 0)) / NS_OF_MS -
           (int64_t)values[ZONE] * MS_OF_MINUTE;
    return is_in_range(*ms) && (pattern->rounds || values[FRACTION] % NS_OF_MS == 0) ? times : ZONE_NEVER;
}

/* ---- to text ---- */

static uint8_t *put_part(uint8_t *out, const pattern_part_t *part, const int32_t *values) {
    const int32_t value = values[part->what];
    switch (part->how) {
    case LITERAL:
        *out = part->literal;
        return out + 1;
    case DIGITS:
        return digits_write(out, part->width, (uint32_t)value);
    case NAME:
        return mempcpy(out, months[value - 1], name_length(part, value - 1));
    case HALF_DAY:
        return mempcpy(out, value ? "PM" : "AM", 2);
    case OFFSET:
        return mempcpy(out, "Z", 1);
    default:
        return digits_write(out, part->width < part->most && value > 9 ? part->most : part->width,
                            (uint32_t)(part->what == FRACTION ? value / units[part->width] : value));
    }
}

size_t pattern_write(const pattern_t *pattern, int64_t ms, uint8_t *out) {
    const int64_t seconds = ms / 1000 - (ms % 1000 < 0),
                  offset = pattern->zone ? zone_to_local(pattern->zone, seconds) - seconds : 0,
                  local = (int64_t)((uint64_t)ms + (uint64_t)offset * 1000),
                  days = local / MS_OF_DAY - (local % MS_OF_DAY < 0);
    uint8_t *at = out;
    int64_t again;
    date_t date;
    if (!calendar_date(days, &date))
        return 0;
    const int32_t rest = (int32_t)(local - days * MS_OF_DAY), hour = rest / MS_OF_HOUR;
    const int32_t value[VALUES] = {
        [YEAR] = (int32_t)date.year,         [MONTH] = (int32_t)date.month,
        [DAY] = (int32_t)date.day,           [HOUR] = pattern->half_days ? (hour + 11) % 12 + 1 : hour,
        [MINUTE] = rest / MS_OF_MINUTE % 60, [SECOND] = rest / 1000 % 60,
        [FRACTION] = rest % 1000 * NS_OF_MS, [HALF] = hour >= 12};
    if (pattern->epoch)
        at += convert_print_int(ms / pattern->epoch, out);
    for (int i = 0; i < pattern->count; i++)
        at = put_part(at, &pattern->parts[i], value);
    /* what the pattern does not show is missing when it is read */
    const size_t length = (size_t)(at - out);
    return pattern_read(pattern, out, length, &again) > ZONE_NEVER && again == ms ? length : 0;
}

/* ---- patterns ---- */

/* The longer ones first. */
static const struct {
    const char *text;
    uint8_t how, what, most;
} words[] = {{"YYYY", DIGITS, YEAR, 4}, {"YY", NUMBER, YEAR, 2},   {"MONTH", NAME, MONTH, 0},
             {"MON", NAME, MONTH, 0},   {"MM", DIGITS, MONTH, 2},  {"M", NUMBER, MONTH, 2},
             {"DD", DIGITS, DAY, 2},    {"D", NUMBER, DAY, 2},     {"hh", DIGITS, HOUR, 2},
             {"h", NUMBER, HOUR, 2},    {"mm", DIGITS, MINUTE, 2}, {"ss", DIGITS, SECOND, 2},
             {"ZZ", OFFSET, ZONE, 0},   {"A", HALF_DAY, HALF, 0}};
enum { WORDS = sizeof words / sizeof *words };

/* Digits of a second: S for each, and after SSS also u for each that is rounded away. */
static uint8_t fraction_at(const char *text, size_t left) {
    uint8_t digits = 0;
    while (digits < left && digits < MOST_FRACTION &&
           text[digits] == (digits >= 3 && text[3] == 'u' ? 'u' : 'S'))
        digits++;
    return digits;
}

/* True if the pattern says from which zone its hours are. */
static bool names_zone(const char *text) {
    const char *const hour = strchr(text, 'h');
    return !hour || strpbrk(hour, "Z+") || strstr(hour, "UTC") || strstr(hour, "GMT");
}

/* The part at the start of a pattern's rest. One letter is a literal if what it means is there already: the second h of
 * "hhhmm", for 14h30. */
static pattern_part_t part_at(const char *text, size_t left, const bool *seen) {
    const uint8_t fraction = fraction_at(text, left);
    if (fraction > 1 || (fraction && !seen[FRACTION]))
        return (pattern_part_t){.how = NUMBER, .what = FRACTION, .width = fraction, .most = fraction};
    for (int i = 0; i < WORDS; i++) {
        const size_t length = strlen(words[i].text);
        if (length <= left && strncmp(text, words[i].text, length) == 0 &&
            !(length == 1 && seen[words[i].what]))
            return (pattern_part_t){
                .how = words[i].how, .what = words[i].what, .width = (uint8_t)length, .most = words[i].most};
    }
    return (pattern_part_t){.how = LITERAL, .width = 1, .literal = (uint8_t)*text};
}

const char *pattern_compile(const char *text, size_t length, pattern_t *pattern) {
    bool seen[VALUES] = {false};
    const pattern_part_t *before = NULL;
    *pattern = (pattern_t){.count = 0};
    if (!length || length >= PATTERN_LONGEST)
        return "it must have 1 to 39 characters";
    pattern->epoch = length == 8 && memcmp(text, "epoch_ms", 8) == 0  ? 1
                     : length == 7 && memcmp(text, "epoch_s", 7) == 0 ? 1000
                                                                      : 0;
    if ((pattern->varies = pattern->epoch))
        return NULL;
    for (size_t at = 0; at < length; at += before->width) {
        const pattern_part_t part = part_at(text + at, length - at, seen);
        if (part.how && seen[part.what])
            return "a part is there twice";
        if (before && before->width < before->most &&
            (part.how == DIGITS || part.how == NUMBER || (!part.how && digits_is_one(part.literal))))
            return "after D, M or h there must be something that is no digit";
        seen[part.what] |= part.how != LITERAL;
        pattern->varies |= part.how > NUMBER || part.width < part.most;
        pattern->rounds |= part.what == FRACTION && text[at + part.width - 1] == 'u';
        pattern->length = (uint8_t)(pattern->length + part.width);
        pattern->parts[pattern->count] = part;
        before = &pattern->parts[pattern->count++];
    }
    pattern->half_days = seen[HALF];
    pattern->local = !seen[ZONE] && !names_zone(text);
    if (!seen[YEAR] || !seen[MONTH] || !seen[DAY])
        return "YYYY, MM and DD are needed, or YY, M, MON or MONTH, and D";
    if ((seen[HALF] && !seen[HOUR]) || (seen[FRACTION] && !seen[SECOND]))
        return "A (AM or PM) needs hh or h, and S (a fraction of a second) needs ss";
    pattern->iso = length >= ISO_BYTES && strncmp(text, "YYYY-MM-DD", 10) == 0 && !pattern->parts[5].how &&
                   strncmp(text + 11, "hh:mm:ss", 8) == 0 && !seen[HALF];
    return NULL;
}
