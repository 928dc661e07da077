/* isd_values: what there is to tell of an observation: its numbers by name, and how each follows from the weather
 * (isd_weather.c), the time and the station. */
#ifndef TIPPLE_GENERATE_ISD_ISD_VALUES_H
#define TIPPLE_GENERATE_ISD_ISD_VALUES_H

#include "base/numbers/chance.h"

#include <stdbool.h>
#include <stdint.h>

#define ISD_MISSING INT32_MIN

/* clang-format off */
/* Tenths of degC, hPa, m/s and mm where a comment says nothing else. */
#define ISD_VALUES(X)                                                                                        \
    /* the station: its first id, thousandths of degrees, metres */                                          \
    X(usaf, s->usaf) X(latitude, s->latitude) X(longitude, s->longitude) X(elevation, s->elevation)          \
    /* when: UTC, and the same in local time; whether the hour is a third, sixth or twelfth one */           \
    X(day, (int32_t)t->date.day) X(hour, t->hour) X(minute, t->minute)                                       \
    X(lyear, (int32_t)t->local.year % 100) X(lmonth, (int32_t)t->local.month)                                \
    X(lday, (int32_t)t->local.day) X(lhour, isd_local_hour(s, t->hour))                                      \
    X(three, near_hour % 3 == 0) X(six, near_hour % 6 == 0) X(twelve, near_hour % 12 == 0)                   \
    /* temperatures: now, of a wet bulb, the extremes of the last hours; percent of damp */                  \
    X(temp, temp) X(dew, temp - w->apart) X(wet, temp - w->apart * 2 / 5)                                    \
    X(rh, whole_clamp(100 - w->apart / 2, 6, 100)) X(sea, whole_clamp(s->mean + s->season / 2, -18, 310))    \
    X(max6, highest(w->temp, now, 6)) X(max12, highest(w->temp, now, 12)) X(max24, highest(w->temp, now, 24)) \
    X(min6, lowest(w->temp, now, 6)) X(min12, lowest(w->temp, now, 12)) X(min24, lowest(w->temp, now, 24))   \
    /* pressure at sea, at the station, as an altimeter has it; its change, and the code of its tendency */  \
    X(slp, slp) X(stp, at_height(slp, s->height)) X(alt, slp + s->height % 7 - 3)                            \
    X(change3, whole_clamp(abs(slp - w->slp[(now + 21) % 24]), 0, 499))                                      \
    X(change24, whole_clamp(slp - w->slp[(now + 1) % 24], -499, 499))                                        \
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
    X(eights1, w->eights[0]) X(eights2, w->eights[1]) X(eights3, w->eights[2]) X(eights4, w->eights[3])      \
    X(class1, class_of(w, 0)) X(class2, class_of(w, 1)) X(class3, class_of(w, 2)) X(class4, class_of(w, 3))  \
    X(okta1, class_of(w, 0) * 2) X(okta2, class_of(w, 1) * 2) X(okta3, class_of(w, 2) * 2)                   \
    X(okta4, class_of(w, 3) * 2)                                                                             \
    X(base1, base_of(w, 0)) X(base2, base_of(w, 1)) X(base3, base_of(w, 2)) X(base4, base_of(w, 3))          \
    X(genus1, genus_of(w, 0)) X(genus2, genus_of(w, 1)) X(genus3, genus_of(w, 2)) X(genus4, genus_of(w, 3))  \
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
    uint64_t key, place; /* of the next random bits */
    bool missing;        /* the value written last was */
    bool ends_early;     /* behind the sections written last, or without any */
} isd_scene_t;

static inline uint64_t isd_scene_bits(isd_scene_t *scene) {
    return chance_bits(scene->key, scene->place++);
}

/* A number below the limit. */
static inline uint32_t isd_scene_below(isd_scene_t *scene, uint32_t limit) {
    return (uint32_t)((isd_scene_bits(scene) >> 32) * limit >> 32);
}

#endif
