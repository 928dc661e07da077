/* isd_others: reports of the airways of old, of climate reference stations, of models and at sea. */
#ifndef TIPPLE_GENERATE_ISD_ISD_OTHERS_H
#define TIPPLE_GENERATE_ISD_ISD_OTHERS_H

#include "generate/isd/isd_reports.h"

extern const isd_report_t isd_airways_hourly, isd_airways_synop, isd_crn_hour, isd_crn_5_minutes;
extern const isd_report_t isd_solar_model, isd_solar_metar, isd_marine_synop, isd_cooperative_rain,
    isd_cooperative_day;

#endif
