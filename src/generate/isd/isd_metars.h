/* isd_metars: reports of airports and airfields, with the summaries that some of them send. */
#ifndef TIPPLE_GENERATE_ISD_ISD_METARS_H
#define TIPPLE_GENERATE_ISD_ISD_METARS_H

#include "generate/isd/isd_reports.h"

extern const isd_report_t isd_asos_metar, isd_asos_special, isd_asos_synop_metar, isd_asos_day,
    isd_asos_month;
extern const isd_report_t isd_airport_metar, isd_airport_special, isd_canada_metar, isd_canada_special,
    isd_awos_metar;

#endif
