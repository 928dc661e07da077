/* isd_world: what the data files isd-stations and isd-reports say. */
#ifndef TIPPLE_GENERATE_ISD_ISD_WORLD_H
#define TIPPLE_GENERATE_ISD_ISD_WORLD_H

#include "generate/isd/isd_lines.h"
#include "generate/isd/isd_station.h"
#include "generate/shared/facts.h"
#include "generate/shared/odd.h"

enum { ISD_REPORTS = 32, ISD_LETS = 32, ISD_SECTIONS = 128 };

typedef struct {
    uint32_t hours; /* bits */
    int32_t minute, last_minute, every;
    bool any_minute; /* one of them */
    char usual;      /* quality */
    isd_span_t conditions, lines;
} isd_report_t;

typedef struct {
    size_t kind_count, report_count, let_count;
    isd_kind_t kinds[ISD_KINDS];
    isd_report_t reports[ISD_REPORTS]; /* of a kind: in the order of an hour's minutes */
    struct {
        const char *name;
        isd_span_t lines;
    } lets[ISD_LETS];
    isd_lines_t all;
    facts_t stations_file, reports_file;
    schema_t *format;
    char names[ISD_SECTIONS][5]; /* of each kind of section the first and the last digit: AA14 */
} isd_world_t;

/* Into zeroes, with the oddities of records added to the plan; to be cleared after a failure, too. */
bool isd_world_init(isd_world_t *world, odd_plan_t *odd, err_t *err);
void isd_world_clear(isd_world_t *world);

#endif
