/* zone: the local time of a time zone, by the system's zone files (TZif, RFC 8536), which the package tzdata installs.
 *
 * A zone is a list of spans in which its clocks keep one offset. The transitions of the file come first; the rule at its end
 * ("CET-1CEST,M3.5.0,M10.5.0/3") is written out for 400 years after them. The calendar, days of the week included, repeats
 * itself every 400 years, so any later time is looked up that many years earlier.
 *
 * Invariants:
 * - Times are whole seconds since 1970, in UTC or as local clocks show them. Leap seconds are not counted.
 * - A zone does not change after zone_read, and any thread may use it. A lookup is a binary search: it reads no file, has no
 *   state, and takes about 100 instructions.
 * - Neighbouring spans have different offsets. Each begins after the one before it.
 * - A file is believed only as far as it was checked: a damaged one is refused, never read past its end. */
#ifndef TIPPLE_BASE_ZONE_H
#define TIPPLE_BASE_ZONE_H

#include <stddef.h>
#include <stdint.h>

typedef struct zone zone_t;

/* Reads a zone from the bytes of its file, which a zero follows, and which it changes. NULL: the file is damaged, or counts leap
 * seconds, or memory is out. The caller frees it by free. */
zone_t *zone_read(char *file, size_t length);

/* How often the clocks showed a local time. ZONE_SKIPPED: never, because they went forward over it. ZONE_NEVER: it is no time at
 * all, which only those who read texts say. */
typedef enum { ZONE_SKIPPED = -1, ZONE_NEVER, ZONE_ONCE, ZONE_TWICE } zone_times_t;

/* *utc: when the clocks showed the local time; the first time of two. At ZONE_SKIPPED it has no meaning. */
zone_times_t zone_to_utc(const zone_t *zone, int64_t local, int64_t *utc);

int64_t zone_to_local(const zone_t *zone, int64_t utc);

#endif
