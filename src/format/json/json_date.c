#include "format/json/json_date.h"
#include "format/values/calendar.h"

enum { DAY = 10, MINUTE = 16, MOST_DECIMALS = 9 }; /* bytes of YYYY-MM-DD, and of YYYY-MM-DDThh:mm */

static const char *const FORM =
    "a date is written like 2024-05-31T23:59:59.123Z or 2024-05-31T23:59:59+01:00";

/* Two digits, less than `below`. */
static bool two(const uint8_t *at, uint32_t below, int64_t *value) {
    const uint32_t tens = (uint32_t)at[0] - '0', ones = (uint32_t)at[1] - '0';
    *value = tens * 10 + ones;
    return tens <= 9 && ones <= 9 && *value < below;
}

/* Z, +hh:mm, +hhmm, or the same with -. */
static bool zone(const uint8_t *at, size_t length, int64_t *offset_ms) {
    int64_t hours, minutes;
    *offset_ms = 0;
    if (length == 1)
        return *at == 'Z';
    if ((length != 5 && length != 6) || (*at != '+' && *at != '-') || (length == 6 && at[3] != ':') ||
        !two(at + 1, 24, &hours) || !two(at + length - 2, 60, &minutes))
        return false;
    *offset_ms = (hours * 60 + minutes) * 60000 * (*at == '-' ? -1 : 1);
    return true;
}

/* The decimals of a second. Returns how many; more than MOST_DECIMALS: something is wrong. *ms is less than 0 if it
 * would lose some. */
static size_t decimals(const uint8_t *at, size_t left, int64_t *ms) {
    size_t count = 0;
    int64_t value = 0;
    bool lost = false;
    for (; count < left && at[count] >= '0' && at[count] <= '9'; count++) {
        if (count < 3)
            value = value * 10 + at[count] - '0';
        else
            lost |= at[count] != '0';
    }
    for (size_t i = count; i < 3; i++)
        value *= 10;
    *ms = lost ? -1 : value;
    return count ? count : MOST_DECIMALS + 1;
}

const char *json_date(const uint8_t *text, size_t length, json_date_form_t form, int64_t *ms) {
    int64_t day, hours, minutes, seconds = 0, fraction = 0, offset;
    if (length < DAY)
        return FORM;
    if (!calendar_iso(text, &day))
        return text[4] == '-' && text[7] == '-' ? "there is no such day" : FORM;
    *ms = day;
    if (length == DAY && form != JSON_DATE_FULL)
        return NULL;
    if (length < MINUTE || text[10] != 'T' || text[13] != ':')
        return FORM;
    if (!two(text + 11, 24, &hours) || !two(text + 14, 60, &minutes))
        return "there is no such time of day";
    size_t at = MINUTE;
    if (at < length && text[at] == ':') {
        if (length - at < 3)
            return FORM;
        if (!two(text + at + 1, 60, &seconds))
            return "there is no such time of day";
        at += 3;
        if (at < length && text[at] == '.') {
            const size_t count = decimals(text + at + 1, length - at - 1, &fraction);
            if (count > MOST_DECIMALS)
                return FORM;
            if (fraction < 0)
                return "a date is kept in milliseconds, and this one has more digits";
            at += 1 + count;
        }
    }
    if (at == length && form == JSON_DATE_NO_ZONE)
        offset = 0;
    else if (at == length || !zone(text + at, length - at, &offset))
        return "a date ends with Z, or with an offset like +01:00";
    *ms = day + (hours * 60 + minutes) * 60000 + seconds * 1000 + fraction - offset;
    return NULL;
}
