/* isd_station: which stations a file has: their kinds in their shares, ids that no two have in common, places
 * and climates. */
#ifndef TIPPLE_GENERATE_ISD_ISD_STATION_H
#define TIPPLE_GENERATE_ISD_ISD_STATION_H

#include "generate/isd/isd_reports.h"
#include "generate/isd/isd_weather.h"

enum { ISD_KINDS = 16, ISD_MOST_STATIONS = 100000 };

typedef struct {
    uint32_t stations;
    uint64_t key;
    uint32_t step;                      /* spreads the kinds over the file */
    uint32_t first_rank[ISD_KINDS + 1]; /* of a kind */
} isd_network_t;

typedef struct {
    const isd_kind_t *kind;
    uint64_t key;
    char ids[12]; /* both, as they stand in a record */
    isd_climate_t climate;
    isd_text_t position, elevation, call, icao, block;
} isd_station_t;

void isd_network_init(isd_network_t *network, uint32_t stations, uint64_t key);
void isd_station_init(isd_station_t *station, const isd_network_t *network, uint32_t number);

#endif
