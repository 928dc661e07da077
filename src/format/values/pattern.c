#include "format/values/pattern.h"
#include "format/values/calendar.h"
#include "format/values/pattern_parts.h"

#include <string.h>

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
    const int64_t day_ms = 86400000;
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
