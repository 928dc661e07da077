/* isd_weather: the weather at one station, from hour to hour: slow where weather is slow, daily and yearly
 * where the sun drives it. All in integers, so that it is the same everywhere. */
#ifndef TIPPLE_GENERATE_ISD_ISD_WEATHER_H
#define TIPPLE_GENERATE_ISD_ISD_WEATHER_H

#include "format/values/calendar.h"
#include "generate/isd/isd_station.h"
#include "generate/isd/isd_values.h"

typedef struct {
    int32_t days, hour, minute; /* since 1970; of the day, of the hour */
    date_t date, local;         /* the days in UTC and at the station */
} isd_time_t;

enum { ISD_LAYERS = 4 };

typedef struct {
    int32_t pressure, push; /* from the average, in 16ths */
    int32_t warmth, spread, wind, cloud, ground;
    unsigned event, left;                /* what falls or dims, and its hours to go */
    int32_t temp[24], slp[24], rain[24]; /* by the hour of the day, the last 24 hours */
    int32_t apart;                       /* temperature and dew point */
    int32_t knots, bearing, vis, layers, oktas, eights[ISD_LAYERS],
        step[ISD_LAYERS]; /* of the layers' heights */
    int32_t depth, past[2];
    bool gusty, unsettled;
    uint64_t bits; /* at random, of the hour */
} isd_weather_t;

void isd_weather_begin(isd_weather_t *weather, const isd_station_t *station, const isd_time_t *time,
                       isd_scene_t *scene);

/* Goes on by an hour, to that time. */
void isd_weather_step(isd_weather_t *weather, const isd_station_t *station, const isd_time_t *time,
                      isd_scene_t *scene);

/* Tells the scene of it. */
void isd_weather_tell(const isd_weather_t *weather, const isd_station_t *station, const isd_time_t *time,
                      isd_scene_t *scene);

#endif
