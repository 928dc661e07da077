/* isd_weather: the weather at one station, from hour to hour: slow where weather is slow, daily and yearly
 * where the sun drives it. All in integers, so that it is the same everywhere. */
#ifndef TIPPLE_GENERATE_ISD_ISD_WEATHER_H
#define TIPPLE_GENERATE_ISD_ISD_WEATHER_H

#include "generate/isd/isd_station.h"

enum { ISD_WEATHER_BLOCKS = 4 };

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
    bool begun;
} isd_weather_t;

void isd_weather_init(isd_weather_t *weather, const isd_climate_t *climate, isd_scene_t *scene);

/* Goes on by so many hours to the scene's time, on that day of the year, and tells the scene. */
void isd_weather_step(isd_weather_t *weather, isd_scene_t *scene, int32_t hours, int32_t yearday);

/* Between -size and size, most often near 0. */
int32_t isd_weather_noise(isd_scene_t *scene, int32_t size);

#endif
