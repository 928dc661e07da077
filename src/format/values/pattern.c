#include "format/values/pattern.h"
#include "format/values/calendar.h"

#include <string.h>

static const struct {
    const char *text;
    char part;
    uint8_t width;
} parts[] = {{"YYYY", 'Y', 4}, {"MM", 'M', 2}, {"DD", 'D', 2},     {"hh", 'h', 2},
             {"mm", 'm', 2},   {"ss", 's', 2}, {"SSSSSS", 'U', 6}, {"SSS", 'S', 3}};
enum { PARTS = sizeof parts / sizeof *parts };

const char *pattern_compile(const char *text, size_t length, pattern_t *pattern) {
    *pattern = (pattern_t){0};
    if (!length || length >= PATTERN_LONGEST)
        return "it must have 1 to 39 characters";
    bool seen[128] = {false};
    for (size_t at = 0; at < length;) {
        char part = 0;
        uint8_t width = 1;
        for (int i = 0; i < PARTS && !part; i++) {
            if (strncmp(text + at, parts[i].text, strlen(parts[i].text)) == 0) {
                part = parts[i].part;
                width = parts[i].width;
            }
        }
        bool fraction = part == 'S' || part == 'U';
        if (part && (seen[(int)part] || (fraction && (seen['S'] || seen['U']))))
            return "a part is there twice";
        if (!part && (text[at] & 0x80))
            return "only ASCII can be between the parts";
        seen[(int)part] = true;
        pattern->parts[pattern->count] = part;
        pattern->widths[pattern->count] = width;
        pattern->literals[pattern->count++] = text[at];
        pattern->length = (uint8_t)(pattern->length + width);
        at += width;
    }
    if (!seen['Y'] || !seen['M'] || !seen['D'])
        return "YYYY, MM and DD are needed";
    pattern->iso = length >= 19 && strncmp(text, "YYYY-MM-DD", 10) == 0 && !pattern->parts[5] &&
                   strncmp(text + 11, "hh:mm:ss", 8) == 0;
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
    value['h'] = value['m'] = value['s'] = value['S'] = value['U'] = 0;
    if (length != pattern->length)
        return false;
    if (pattern->iso) {
        if (!read_iso(pattern, text, ms) || !read_parts(pattern, ISO_PARTS, text + ISO_BYTES, value))
            return false;
        *ms += value['S'] + value['U'] / 1000;
        return true;
    }
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

bool pattern_write(const pattern_t *pattern, int64_t ms, uint8_t *out) {
    const int64_t day_ms = 86400000;
    int64_t days = ms / day_ms, left = ms % day_ms;
    if (left < 0) {
        left += day_ms;
        days--;
    }
    uint32_t rest = (uint32_t)left;
    date_t date;
    if (!calendar_date(days, &date))
        return false;
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
    return (shown['h'] || !value['h']) && (shown['m'] || !value['m']) && (shown['s'] || !value['s']) &&
           (shown['S'] || shown['U'] || !value['S']);
}
