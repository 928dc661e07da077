/* isd_synops: synoptic reports of land stations, today's and those of a hundred years ago. */
#ifndef TIPPLE_GENERATE_ISD_ISD_SYNOPS_H
#define TIPPLE_GENERATE_ISD_ISD_SYNOPS_H

#include "generate/isd/isd_reports.h"

extern const isd_report_t isd_island_synop, isd_inland_synop, isd_machine_synop, isd_airport_synop,
    isd_asos_synop;
extern const isd_report_t isd_forties_synop, isd_twenties_synop, isd_first_synop;

#endif
