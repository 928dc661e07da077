/* isd_lines: what the data files isd-stations and isd-reports say: which stations there are, what they send and when, and
 * line by line what that holds. They explain their words. */
#ifndef TIPPLE_GENERATE_ISD_ISD_LINES_H
#define TIPPLE_GENERATE_ISD_ISD_LINES_H

#include "base/numbers.h"
#include "format/schema/schema.h"
#include "format/values/calendar.h"
#include "generate/shared/facts.h"
#include "generate/shared/odd.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* isd_weather: the weather at one station, from hour to hour: slow where weather is slow, daily and yearly where the sun
 * drives it; and what there is to tell of an observation: its numbers by name, and how each follows from the weather, the
 * time and the station. All in integers, so that it is the same everywhere. */

/* isd_station: which stations a file has: their kinds in their shares, ids that no two have in common, places
 * and climates. */

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

enum { ISD_LINES = 2048, ISD_CONDITIONS = 2048, ISD_FIELDS = 4096, ISD_CHOICES = 6144, ISD_TEXT = 1 << 14 };
enum { ISD_LINE_LENGTH = 1024 }; /* no line has more of anything */
enum { ISD_ROOM = 8192 };        /* for what the lines of a report write */
enum { ISD_REPORTS = 32, ISD_LETS = 32 };

typedef struct {
    uint16_t first, count;
} isd_span_t;

typedef struct {
    char name[4];
    uint8_t part;
    bool goes_on, otherwise; /* "+"; "else" */
    isd_span_t conditions, fields;
} isd_line_t;

/* The value lies between these; ISD_VALUE_COUNT stands for a random number below 1,000. */
typedef struct {
    uint16_t value;
    int32_t low, high;
} isd_condition_t;

typedef struct {
    uint8_t kind, width, format, conversion;
    uint16_t at;      /* of its value, or first choice */
    uint16_t missing; /* of 1,000 */
    int32_t low;      /* of a range */
    uint32_t span;
} isd_field_t;

/* Drawn by 16 random bits: the first one whose bound is above them. */
typedef struct {
    uint32_t below;
    uint16_t at, length; /* of its text */
} isd_choice_t;

typedef struct {
    uint32_t hours;                     /* bits */
    int32_t minute, last_minute, every; /* 0: one of them */
    char usual;                         /* quality */
    isd_span_t conditions, lines;
} isd_report_t;

typedef struct {
    size_t kind_count, report_count, let_count, line_count, condition_count, field_count, choice_count,
        text_size;
    isd_kind_t kinds[ISD_KINDS];
    isd_report_t reports[ISD_REPORTS]; /* of a kind: in the order of an hour's minutes */
    struct {
        const char *name;
        isd_span_t lines;
    } lets[ISD_LETS];
    isd_line_t lines[ISD_LINES];
    isd_condition_t conditions[ISD_CONDITIONS];
    isd_field_t fields[ISD_FIELDS];
    isd_choice_t choices[ISD_CHOICES];
    uint16_t mixes[128]; /* by quality: its first choice */
    char text[ISD_TEXT];
    char wrong[64]; /* the first words that were not understood, or found no room */
    facts_t stations_file, reports_file;
    schema_t *format; /* isd: what sections there are */
} isd_lines_t;

/* Into zeroes, with the oddities of records added to the plan; to be closed after a failure, too. */
bool isd_lines_open(isd_lines_t *all, odd_plan_t *odd, err_t *err);
void isd_lines_close(isd_lines_t *all);

/* A line of a report, behind those there are; see `wrong`. */
void isd_lines_add(isd_lines_t *all, const char *text);

bool isd_lines_hold(const isd_lines_t *all, isd_span_t conditions, isd_scene_t *scene);

/* Writes these lines and returns their end; `usual` is the quality that q stands for. */
char *isd_lines_put(const isd_lines_t *all, isd_span_t lines, char usual, isd_scene_t *scene, char *to);

#endif
