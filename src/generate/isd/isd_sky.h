/* isd_sky: what an observer sees above: clouds in layers, what falls or dims, how far one sees. */
#ifndef TIPPLE_GENERATE_ISD_ISD_SKY_H
#define TIPPLE_GENERATE_ISD_ISD_SKY_H

#include "generate/isd/isd_weather.h"

enum { ISD_SKY_HEIGHTS = 38 };

/* Is it water, of any form? */
bool isd_sky_falls(unsigned event);

/* What goes on or begins in these hours; needs the heat of the hour before. */
void isd_sky_step(isd_weather_t *weather, isd_scene_t *scene, unsigned hours);

/* Needs the heat and the wind of the hour. */
void isd_sky_tell(isd_weather_t *weather, isd_scene_t *scene);

#endif
