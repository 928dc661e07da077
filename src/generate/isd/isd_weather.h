/* isd_weather: the weather at one station, from hour to hour: slow where weather is slow, daily and yearly where the sun
 * drives it; and what there is to tell of an observation: its numbers by name, and how each follows from the weather, the
 * time and the station. All in integers, so that it is the same everywhere. */
#ifndef TIPPLE_GENERATE_ISD_ISD_WEATHER_H
#define TIPPLE_GENERATE_ISD_ISD_WEATHER_H

#include "base/numbers/chance.h"
#include "format/values/calendar.h"
#include "generate/isd/isd_station.h"

#define ISD_MISSING INT32_MIN

/* clang-format off */
#define LAYER(X, n)                                                                                          \
    X(eights##n, w->eights[(n) - 1]) X(class##n, class_of(w, (n) - 1)) X(okta##n, class_of(w, (n) - 1) * 2)        \
    X(base##n, base_of(w, (n) - 1)) X(genus##n, genus_of(w, (n) - 1))

/* Tenths of degC, hPa, m/s and mm where a comment says nothing else. */
#define ISD_VALUES(X)                                                                                        \
    /* the station: its first id, thousandths of degrees, metres */                                          \
    X(usaf, s->usaf) X(latitude, s->latitude) X(longitude, s->longitude) X(elevation, s->elevation)          \
    /* when: UTC, and the same in local time; whether the hour is a third, sixth or twelfth one */           \
    X(day, (int32_t)t->date.day) X(hour, t->hour) X(minute, t->minute)                                       \
    X(lyear, (int32_t)t->local.year % 100) X(lmonth, (int32_t)t->local.month)                                \
    X(lday, (int32_t)t->local.day) X(lhour, isd_local_hour(s, t->hour))                                      \
    X(three, near_hour % 3 == 0) X(six, near_hour % 6 == 0) X(twelve, near_hour % 12 == 0)                   \
    /* temperatures: now, of a wet bulb, the extremes of the last hours; of the sea */                       \
    X(temp, temp) X(dew, temp - w->apart) X(wet, temp - w->apart * 2 / 5)                                    \
    X(sea, whole_clamp(s->mean + s->season / 2, -18, 310))    \
    X(max6, extreme(w->temp, now, 6, 1)) X(max12, extreme(w->temp, now, 12, 1)) X(max24, extreme(w->temp, now, 24, 1)) \
    X(min6, extreme(w->temp, now, 6, -1)) X(min12, extreme(w->temp, now, 12, -1)) X(min24, extreme(w->temp, now, 24, -1))   \
    /* pressure at sea, at the station, as an altimeter has it; its change, and the code of its tendency */  \
    X(slp, slp) X(stp, at_height(slp, s->elevation)) X(alt, slp + s->elevation % 7 - 3)                            \
    X(change3, whole_clamp(abs(slp - w->slp[(now + 21) % 24]), 0, 499))                                      \
    X(tend, slp < w->slp[(now + 21) % 24] ? 5 + (int32_t)(w->bits & 3) : (int32_t)(w->bits % 5))             \
    /* wind: from where (degrees) */                                                                         \
    X(calm, !w->knots) X(variable, w->knots && w->knots < 7 && (w->bits >> 4 & 15) == 0)                       \
    X(dir, !w->knots ? 0 : w->bearing < 10 ? 360 : w->bearing / 10 * 10) X(knots, w->knots) X(speed, in_metres(w->knots))                           \
    X(gusty, w->gusty) X(gust, in_metres(w->knots + 6 + w->knots / 3))                                       \
    /* sight: metres, and whether it is the farthest one; whether a METAR says CAVOK */                      \
    X(vis, w->vis) X(clear, w->vis == FARTHEST)                                                              \
    X(cavok, w->vis == FARTHEST && !event->ww && (!w->layers || base_of(w, 0) > 1500))                       \
    /* clouds: their layers and eighths in all; of each layer the eighths, as METAR's classes and those in eighths, the \
     * height in metres and the genus; the ceiling; codes of the low, middle and high ones */                \
    X(layers, w->layers) X(oktas, w->oktas)                                                                  \
    LAYER(X, 1) LAYER(X, 2) LAYER(X, 3) LAYER(X, 4)                                                          \
    X(ceil, ceiling(w)) X(low, w->layers && base_of(w, 0) < 2000 ? 1 + (int32_t)(w->bits >> 8 & 7) : 0)      \
    X(mid, w->layers > 1 ? 1 + (int32_t)(w->bits >> 12 & 7) : 0)                                             \
    X(high, w->layers && w->bits >> 16 & 1 ? 1 + (int32_t)(w->bits >> 20 & 7) : 0)                           \
    /* weather: whether there is any, and whether a special report of it is due; what a man calls it (ww) and a machine \
     * (aw), and how a METAR's letters are put (au), each once more for a second thing; the codes of past weather */ \
    X(weather, event->ww != 0) X(unsettled, w->unsettled) X(ww, event->ww) X(wwagain, event->wwagain)        \
    X(aw, event->aw) X(awagain, event->awagain) X(au, event->au) X(auagain, event->auagain)                  \
    X(falls, event->drops > 0) X(snows, event->snows) X(thunder, event->past == 9)                           \
    X(past, w->past[0]) X(pastagain, w->past[1])                                                             \
    /* water of the last hours; snow in cm, lying and new */                                                 \
    X(rain1, w->rain[now]) X(rain3, sum(w->rain, now, 3)) X(rain6, sum(w->rain, now, 6))                     \
    X(rain24, whole_clamp(sum(w->rain, now, 24), 0, 4000))                                                   \
    X(depth, w->depth) X(snow24, event->snows ? 1 + (int32_t)(w->bits >> 24 & 7) : 0)
/* clang-format on */

#define ISD_VALUE_ID(name, value) ISD_##name,
typedef enum { ISD_VALUES(ISD_VALUE_ID) ISD_VALUE_COUNT } isd_value_t;
#undef ISD_VALUE_ID

typedef struct {
    int32_t value[ISD_VALUE_COUNT];
    char call[5];
    uint64_t chance; /* the stream that random bits come from */
    bool missing;    /* the value written last was */
} isd_scene_t;

/* A number below the limit. */
static inline uint32_t isd_scene_below(isd_scene_t *scene, uint32_t limit) {
    return (uint32_t)((chance_next(&scene->chance) >> 32) * limit >> 32);
}

typedef struct {
    int32_t days, hour, minute; /* since 1970; of the day, of the hour */
    date_t date, local;         /* the days in UTC and at the station */
} isd_time_t;

enum { ISD_LAYERS = 4 };

typedef struct {
    isd_station_t station;
    isd_time_t time;
    isd_scene_t scene;
    int32_t pressure, push; /* from the average, in 16ths */
    int32_t warmth, spread, wind, cloud, ground;
    unsigned event;                      /* what falls or dims */
    int32_t left;                        /* hours of it */
    int32_t temp[24], slp[24], rain[24]; /* by the hour of the day, the last 24 hours */
    int32_t apart;                       /* temperature and dew point */
    int32_t knots, bearing, vis, layers, oktas;
    int32_t eights[ISD_LAYERS],
        step[ISD_LAYERS]; /* of the layers: how much they cover, and of their heights */
    int32_t depth, past[2];
    bool gusty, unsettled;
    uint64_t bits; /* at random, of the hour */
} isd_weather_t;

/* Of the station, on from the time; all else is zero but the scene's stream. */
void isd_weather_begin(isd_weather_t *weather);

/* Goes on by an hour, to the time. */
void isd_weather_step(isd_weather_t *weather);

/* Tells the scene of it. */
void isd_weather_tell(isd_weather_t *weather);

#endif
