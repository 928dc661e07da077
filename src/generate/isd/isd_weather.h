/* isd_weather: the weather at one station, from hour to hour: slow where weather is slow, daily and yearly
 * where the sun drives it. All in integers, so that it is the same everywhere. */
#ifndef TIPPLE_GENERATE_ISD_ISD_WEATHER_H
#define TIPPLE_GENERATE_ISD_ISD_WEATHER_H

#include "generate/isd/isd_scene.h"

#include <stddef.h>

enum { ISD_WEATHER_BLOCKS = 4 };

typedef struct {
    int32_t latitude, longitude, elevation; /* thousandths of degrees, m */
    int32_t mean, season, daily; /* temperature: of the year, half of its swing, half of the day's */
    int32_t damp;                /* how far the dew point lies below, on average */
    int32_t wind, still;         /* on average; how often of 1024 a breath of air is none */
    int32_t cloud, wet, hazy;    /* of 1024: clouds on average, precipitation and fog in an hour fit for it */
    int32_t zone;                /* hours before UTC */
    bool fahrenheit;             /* temperatures are read in whole degF */
    bool sun;                    /* radiation is told */
    bool lofty;                  /* clouds are high ones */
} isd_climate_t;

typedef struct {
    int32_t high, low; /* of a quarter of a day */
} isd_extremes_t;

typedef struct {
    isd_climate_t climate;
    int32_t pressure, push; /* from the average, in 16ths */
    int32_t warmth, spread, wind, bearing, cloud, ground;
    unsigned event, left; /* what falls or dims, and its hours to go */
    int32_t past;         /* the code of the hour before */
    int32_t slp[24];      /* at the hours of the day before */
    int32_t depth, rain3, rain6, rain24;
    isd_extremes_t block[ISD_WEATHER_BLOCKS]; /* the current one last */
    int32_t month, day_rain, days, sum_max, sum_min, month_rain, most, most_day, wet_days;
    int32_t max, max_day, min, min_day, heat, cool;
} isd_weather_t;

void isd_weather_init(isd_weather_t *weather, const isd_climate_t *climate, isd_scene_t *scene);

/* Goes on by so many hours to the scene's time, on that day of the year, and tells the scene. */
void isd_weather_step(isd_weather_t *weather, isd_scene_t *scene, unsigned hours, unsigned yearday);

#endif
