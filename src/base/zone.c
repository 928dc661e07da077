#include "base/zone.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Bytes of a header of a file, and of a type of local time; transitions of a file at most; years of a rule: the last transition
 * of a file is in one of the first three. */
enum { HEAD = 44, TYPE = 6, MOST_TIMES = 1200, RULED_YEARS = 404 };

/* Seconds: of an offset from UTC at most, of a year on average, of 400 years, and what no transition is farther from 1970 than: it
 * is before year 0, or after 9999. */
static const int64_t FURTHEST = 93599, YEAR = 31556952, CYCLE = 400 * YEAR, FAR = (int64_t)1 << 40;

struct zone {
    size_t count;
    struct {
        int64_t end;    /* in UTC; the last one has none */
        int32_t offset; /* from UTC */
    } spans[MOST_TIMES + 2 * RULED_YEARS + 3];
    int64_t repeats; /* from this time on a lookup is 400 years earlier; 0: the last offset stays */
};

/* ---- spans ---- */

/* Adds the span that begins at this time, in place of those that begin then or later. */
static void add_span(zone_t *zone, int64_t at, int32_t offset) {
    while (zone->count > 1 && zone->spans[zone->count - 2].end >= at)
        zone->count--;
    if (zone->count && zone->spans[zone->count - 1].offset == offset)
        return;
    if (zone->count)
        zone->spans[zone->count - 1].end = at;
    zone->spans[zone->count++].offset = offset;
}

/* Returns the first span that ends after the time, and subtracts from the time what brings it before `repeats`. */
static inline size_t find_span(const zone_t *zone, bool local, int64_t *at) {
    if (zone->repeats && *at >= zone->repeats)
        *at -= ((*at - zone->repeats) / CYCLE + 1) * CYCLE;
    return SEARCH_FIRST(zone->count - 1, span,
                        zone->spans[span].end + (local ? zone->spans[span].offset : 0) <= *at);
}

zone_times_t zone_to_utc(const zone_t *zone, int64_t local, int64_t *utc) {
    int64_t at = local;
    const size_t span = find_span(zone, true, &at), next = span + 1;
    *utc = local - zone->spans[span].offset;
    if (span && at - zone->spans[span].offset < zone->spans[span - 1].end)
        return ZONE_SKIPPED;
    const bool again = next < zone->count && at - zone->spans[next].offset >= zone->spans[span].end;
    return again ? ZONE_TWICE : ZONE_ONCE;
}

int64_t zone_to_local(const zone_t *zone, int64_t utc) {
    int64_t at = utc;
    return utc + zone->spans[find_span(zone, false, &at)].offset;
}

/* ---- the rule at the end of a file: CET-1CEST,M3.5.0,M10.5.0/3 ---- */

/* A day of each year, or the last such weekday up to it; and what clocks show when they change. */
typedef struct {
    int month, day;    /* month: from 0; day: from 1, and 0 is the last one of the month before */
    int weekday, time; /* weekday -1: any */
} change_t;

/* [+-]h[:mm[:ss]] */
static int time_of(const char *text) {
    int part[3] = {0};
    sscanf(text, "%4d:%2d:%2d", &part[0], &part[1], &part[2]);
    return part[0] * 3600 + (part[1] * 60 + part[2]) * (*text == '-' ? -1 : 1);
}

/* Returns the text after a name such as CET or <+01>. */
static const char *after_name(const char *text) {
    const size_t length = strcspn(text, *text == '<' ? ">" : "+-0123456789");
    return text + length + (text[length] == '>');
}

/* A weekday of a month's week, the last one of which is 5 (M3.5.0); a day of years without a leap day (J60); or a day from 0. */
static bool read_change(const char *text, change_t *change) {
    int first = 0, week = 0, day = 0;
    const bool by_week = *text == 'M', by_date = *text == 'J';
    const int count = sscanf(text + (by_week || by_date), "%3d.%1d.%1d", &first, &week, &day);
    const int march = by_date && first > 59 ? 59 : 0;
    if (by_week)
        *change = (change_t){.month = first - (week < 5), .day = week % 5 * 7, .weekday = day};
    else /* from March on, days count from 1 March: a leap day has no number */
        *change = (change_t){.month = march ? 2 : 0, .day = first - march + !by_date, .weekday = -1};
    change->time = strchr(text, '/') ? time_of(strchr(text, '/') + 1) : 2 * 3600;
    return count == (by_week ? 3 : 1);
}

static int64_t change_at(const change_t *change, int year) {
    struct tm day = {.tm_year = year - 1900, .tm_mon = change->month, .tm_mday = change->day};
    timegm(&day);
    if (change->weekday >= 0)
        day.tm_mday -= (day.tm_wday - change->weekday + 7) % 7;
    return timegm(&day) + change->time;
}

/* Writes out what the rule says of the years after `last`, the last transition of the file. */
static bool add_rule(zone_t *zone, char *rule, int64_t last) {
    char *const begin = strchr(rule, ','), *const end = begin ? strchr(begin + 1, ',') : NULL;
    const int about = (int)(1970 + last / YEAR) - 1, first = about < -1 ? -1 : about;
    change_t changes[2]; /* to daylight saving time, and back */
    if (!end)
        return !begin; /* the last offset stays */
    *begin = *end = '\0';
    const char *const usual = after_name(rule), *const other =
                                                    after_name(usual + strspn(usual, "+-:0123456789"));
    const int offsets[] = {-time_of(usual), *other ? -time_of(other) : 3600 - time_of(usual)};
    if (!read_change(begin + 1, &changes[0]) || !read_change(end + 1, &changes[1]))
        return false;
    for (int year = first; year <= first + RULED_YEARS; year++) {
        const int64_t at[] = {change_at(&changes[0], year) - offsets[0],
                              change_at(&changes[1], year) - offsets[1]};
        for (int i = 0; i < 2; i++) {
            const int which = i ^ (at[0] > at[1]);
            if (at[which] > last)
                add_span(zone, at[which], offsets[!which]);
        }
    }
    zone->repeats = change_at(&(change_t){.day = 1, .weekday = -1}, first + RULED_YEARS);
    return true;
}

/* ---- files ---- */

static int64_t number_at(const uint8_t *at, size_t bytes) {
    int64_t number = (int8_t)*at;
    for (size_t i = 1; i < bytes; i++)
        number = number * 256 + at[i];
    return number;
}

/* Reads a block, whose times have this number of bytes, and moves *at past it. False: it is damaged, or counts leap seconds. */
static bool read_block(zone_t *zone, const uint8_t **at, const uint8_t *end, size_t bytes, int64_t *last) {
    const uint64_t sizes[] = {1, 1, bytes + 4, bytes + 1, TYPE, 1};
    const uint8_t *const head = *at, *const times = head + HEAD;
    uint64_t counts[COUNT(sizes)], length = HEAD;
    if (end - head < HEAD || memcmp(head, "TZif", 4) != 0)
        return false;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        counts[i] = (uint32_t)number_at(times - 4 * (COUNT(sizes) - i), 4);
        length += counts[i] * sizes[i];
    }
    if (length > (uint64_t)(end - head) || counts[3] > MOST_TIMES || counts[2])
        return false;
    const uint8_t *const kinds = times + counts[3] * bytes, *const types = kinds + counts[3];
    zone->count = 0;
    for (size_t i = 0; i <= counts[3]; i++) {
        const uint64_t kind = i ? kinds[i - 1] : 0;
        const int64_t offset = kind < counts[4] ? number_at(types + kind * TYPE, 4) : INT64_MAX,
                      time = i ? number_at(times + (i - 1) * bytes, bytes) : -FAR;
        if (offset < -FURTHEST || offset > FURTHEST)
            return false;
        *last = time < -FAR ? -FAR : time > FAR ? FAR : time;
        add_span(zone, *last, (int32_t)offset);
    }
    *at = head + length;
    return true;
}

zone_t *zone_read(char *file, size_t length) {
    zone_t *const zone = calloc(1, sizeof *zone);
    const uint8_t *at = (const uint8_t *)file, *const end = at + length;
    int64_t last;
    bool ok = zone && read_block(zone, &at, end, 4, &last);
    if (ok && file[4] >= '2')
        ok = read_block(zone, &at, end, 8, &last) && at < end && end[-1] == '\n' &&
             add_rule(zone, file + length - (end - at) + 1, last);
    if (ok)
        return zone;
    free(zone);
    return NULL;
}
