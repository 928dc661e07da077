/* isd_station: which stations a file has: their kinds in their shares, ids that no two have in common, places
 * and climates. */
#ifndef TIPPLE_GENERATE_ISD_ISD_STATION_H
#define TIPPLE_GENERATE_ISD_ISD_STATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ISD_MOST_STATIONS = 100000, ISD_KINDS = 16 };

/* A line of isd-stations.txt. */
typedef struct {
    const char *name;
    int32_t share, first_year, last_year, usaf, usaf_last, wban, wban_last; /* no ids: 0 */
    int32_t south, north, west, east, low, high;                            /* thousandths of degrees; m */
    int32_t cloud, wet, hazy, damp, wind, still, daily, a_day;
    const char *flags, *call;
    size_t first, reports;
} isd_kind_t;

typedef struct {
    const isd_kind_t *kind;
    uint64_t key;
    char ids[12]; /* both, as they stand in a record */
    char call[8];
    int32_t usaf;                           /* the first 5 digits */
    int32_t latitude, longitude, elevation; /* thousandths of degrees, m */
    int32_t mean, season, daily; /* temperature: of the year, half of its swing, half of the day's */
    int32_t damp, wind;          /* how far the dew point lies below, and the wind, on average */
    int32_t zone;                /* hours before UTC */
} isd_station_t;

/* The one of that number among so many, of these kinds. */
isd_station_t isd_station_of(const isd_kind_t *kinds, size_t kind_count, uint32_t number, uint32_t stations,
                             uint64_t key);

static inline int32_t isd_local_hour(const isd_station_t *station, int32_t hour) {
    return (hour + station->zone + 24) % 24;
}

#endif
