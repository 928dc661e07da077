/* isd: weather records of a network of stations.
 *
 *     isd-stations --> kinds --isd_station_of--> a station: ids, place, climate --isd_weather_next, hour by hour--> values
 *     isd-reports  --> reports of each kind: lines of conditions and fields -------------+--------> records (isd.c)
 *
 * A kind of stations says where they are, what their climate is like and which reports they send (facts: isd-stations).
 * The weather at a station goes on from hour to hour: slow where weather is slow, daily and yearly where the sun drives
 * it. The weather of an hour is an array of numbers by name (ISD_VALUES); the lines of a report (facts: isd-reports) use
 * these names and nothing else of the weather. Stations follow each other, each with its records in the order of time. */
#ifndef TIPPLE_GENERATE_ISD_H
#define TIPPLE_GENERATE_ISD_H

#include "generate/draw.h"

enum { ISD_KINDS = 16, ISD_EVENTS = 32 };

/* A line of isd-stations, which explains the columns; numbers stand there in this order. */
typedef struct {
    const char *name, *flags, *call;
    int32_t share, first_year, last_year, usaf, usaf_last, wban, wban_last; /* no ids: 0 */
    int32_t south, north, west, east, low, high;                            /* thousandths of degrees; m */
    int32_t cloud, wet, hazy, damp, wind, still, daily, a_day;
    size_t first, reports; /* its reports */
} isd_kind_t;

/* What falls or dims, by its codes; the names are those of ISD_VALUES. Some events dim the sight only, the others fall.
 * Numbers stand in isd-stations in this order. */
typedef struct {
    int32_t ww, wwagain, aw, awagain, au, auagain;
    int32_t falls, snows;
    int32_t sight_low, sight_high; /* of the steps of visibility; the first is the farthest */
    int32_t drops;                 /* at most this many tenths of mm an hour */
    int32_t warm, mild, cold;      /* shares, by temperature */
} isd_event_t;

typedef struct {
    const isd_kind_t *kind;
    uint64_t key;
    char ids[12]; /* both, as they stand in a record */
    char call[5];
    int32_t usaf;                           /* the first 5 digits */
    int32_t latitude, longitude, elevation; /* thousandths of degrees, m */
    int32_t mean, season, daily; /* temperature: of the year, half of its swing, half of the day's */
    int32_t damp, wind;          /* how far the dew point lies below, and the wind, on average */
    int32_t zone;                /* hours before UTC */
} isd_station_t;

/* The station of that number among `stations`, which sends this many records. Every kind has its share to within one, but a
 * kind whose years are too short for the records gives way to one before it. */
isd_station_t isd_station_of(const isd_kind_t *kinds, uint32_t number, uint32_t stations, uint64_t records,
                             uint64_t key);

/* Years that this many records of a station take. */
static inline uint64_t isd_years(const isd_kind_t *kind, uint64_t records) {
    return records / (uint64_t)kind->a_day / 365 + 1;
}

#define ISD_MISSING INT32_MIN

/* The names that lines of a report may use, and how each number follows from the weather. */
/* clang-format off */
#define ISD_LAYER(X, n)                                                                                      \
    X(eights##n, w->eights[(n) - 1]) X(class##n, class_of(w, (n) - 1)) X(okta##n, class_of(w, (n) - 1) * 2)  \
    X(base##n, base_of(w, (n) - 1)) X(genus##n, (n) > w->layers ? ISD_MISSING : w->step[(n) - 1] / 5)

/* Tenths of degC, hPa, m/s and mm where a comment says nothing else. */
#define ISD_VALUES(X)                                                                                        \
    /* the station: its first id, thousandths of degrees, metres */                                          \
    X(usaf, s->usaf) X(latitude, s->latitude) X(longitude, s->longitude) X(elevation, s->elevation)          \
    /* when: UTC, and the same in local time; whether the hour is a third, sixth or twelfth one */           \
    X(day, w->date.day) X(hour, now) X(minute, 0) X(lyear, w->local.year % 100) X(lmonth, w->local.month)    \
    X(lday, w->local.day) X(lhour, local_hour(w)) X(three, 0) X(six, 0) X(twelve, 0)                         \
    /* temperatures: now, and the extremes of the last hours; of the sea */                                  \
    X(temp, temp) X(dew, temp - w->apart) X(sea, whole_clamp(s->mean + s->season / 2, -18, 310))             \
    X(max6, extreme(w->temp, now, 6, 1)) X(max12, extreme(w->temp, now, 12, 1))                              \
    X(max24, extreme(w->temp, now, 24, 1)) X(min6, extreme(w->temp, now, 6, -1))                             \
    X(min12, extreme(w->temp, now, 12, -1)) X(min24, extreme(w->temp, now, 24, -1))                          \
    /* pressure at sea, at the station, as an altimeter has it; its change, and the code of its tendency */  \
    X(slp, slp) X(stp, at_height(slp, s->elevation)) X(alt, slp + s->elevation % 7 - 3)                      \
    X(change3, whole_clamp(abs(slp - before), 0, 499))                                                       \
    X(tend, slp < before ? 5 + (w->bits & 3) : w->bits % 5)                                                  \
    /* wind: from where (degrees) */                                                                         \
    X(calm, !w->knots) X(variable, w->knots && w->knots < 7 && (w->bits >> 4 & 15) == 0)                     \
    X(dir, !w->knots ? 0 : w->bearing < 10 ? 360 : w->bearing / 10 * 10)                                     \
    X(knots, w->knots) X(speed, in_metres(w->knots))                                                         \
    X(gusty, w->gusty) X(gust, in_metres(w->knots + 6 + w->knots / 3))                                       \
    /* sight: metres, and whether it is the farthest one; whether a METAR says CAVOK */                      \
    X(vis, w->vis) X(clear, w->vis == FARTHEST)                                                              \
    X(cavok, w->vis == FARTHEST && !event->ww && (!w->layers || base_of(w, 0) > 1500))                       \
    /* clouds: their layers and eighths in all; of each layer the eighths, as METAR's classes and those in   \
     * eighths, the height in metres and the genus; the ceiling */                                           \
    X(layers, w->layers) X(oktas, w->oktas)                                                                  \
    ISD_LAYER(X, 1) ISD_LAYER(X, 2) ISD_LAYER(X, 3) ISD_LAYER(X, 4) X(ceil, ceiling(w))                      \
    /* weather: whether there is any, and whether a special report of it is due; codes of an observer (ww)   \
     * and a machine (aw), and how a METAR's letters are put (au), each once more for a second thing */      \
    X(weather, event->ww != 0) X(unsettled, w->unsettled) X(ww, event->ww) X(wwagain, event->wwagain)        \
    X(aw, event->aw) X(awagain, event->awagain) X(au, event->au) X(auagain, event->auagain)                  \
    X(falls, event->falls) X(snows, event->snows) X(thunder, event->drops >= 200)                            \
    /* water of the last hours; snow in cm, lying and new */                                                 \
    X(rain1, w->rain[now]) X(rain3, sum(w->rain, now, 3)) X(rain6, sum(w->rain, now, 6))                     \
    X(rain24, whole_clamp(sum(w->rain, now, 24), 0, 4000))                                                   \
    X(depth, w->depth) X(snow24, event->snows ? 1 + (w->bits >> 24 & 7) : 0)
/* clang-format on */

#define ISD_VALUE_ID(name, value) ISD_##name,
typedef enum { ISD_VALUES(ISD_VALUE_ID) ISD_VALUE_COUNT } isd_value_t;
#undef ISD_VALUE_ID

enum { ISD_LAYERS = 4 };

typedef struct {
    isd_station_t station;
    const isd_event_t *events; /* the first one is no weather */
    size_t event_count;
    uint64_t chance;    /* the stream that random bits come from */
    int32_t days, hour; /* since 1970; of the day */
    date_t date, local; /* the days in UTC and at the station */
    int32_t value[ISD_VALUE_COUNT];
    int32_t pressure, push; /* from the average, in 16ths */
    int32_t warmth, spread, wind, cloud, ground;
    const isd_event_t *event;
    int32_t left;                        /* hours of it */
    int32_t temp[24], slp[24], rain[24]; /* by the hour of the day, the last 24 hours */
    int32_t apart;                       /* temperature and dew point */
    int32_t knots, bearing, vis, layers, oktas;
    int32_t eights[ISD_LAYERS],
        step[ISD_LAYERS]; /* of the layers: how much they cover, and of their heights */
    int32_t depth;
    bool gusty, unsettled;
    uint64_t bits; /* at random, of the hour */
} isd_weather_t;

/* A number below the limit. */
static inline int32_t isd_below(isd_weather_t *weather, uint32_t limit) {
    return (int32_t)((chance_next(&weather->chance) >> 32) * limit >> 32);
}

/* Begins the weather of a station. Station, time, stream and events are set; all else is zero. */
void isd_weather_begin(isd_weather_t *weather);

/* Goes on to the next hour. */
void isd_weather_next(isd_weather_t *weather);

/* Sets the values of that minute of the hour. */
void isd_weather_minute(isd_weather_t *weather, int32_t minute);

#endif
