/* isd_station: which stations a file has: their kinds in their shares, ids that no two have in common, places
 * and climates. */
#ifndef TIPPLE_GENERATE_ISD_ISD_STATION_H
#define TIPPLE_GENERATE_ISD_ISD_STATION_H

#include "generate/isd/isd_kinds.h"

enum { ISD_MOST_STATIONS = 100000 };

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
    const isd_world_t *world;
    uint64_t key;
    uint32_t stations, first_rank[ISD_KINDS + 1]; /* of a kind */
} isd_network_t;

typedef struct {
    const isd_kind_t *kind;
    uint64_t key;
    char ids[12]; /* both, as they stand in a record */
    isd_climate_t climate;
} isd_station_t;

void isd_network_init(isd_network_t *network, const isd_world_t *world, uint32_t stations, uint64_t key);

/* The scene is told of the station's texts. */
void isd_station_init(isd_station_t *station, const isd_network_t *network, uint32_t number,
                      isd_scene_t *scene);

#endif
