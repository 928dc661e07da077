/* isd_kinds: the kinds of stations with the reports that they send, and what any section looks like: what the data files
 * isd-stations, isd-reports and isd-sections say. */
#ifndef TIPPLE_GENERATE_ISD_ISD_KINDS_H
#define TIPPLE_GENERATE_ISD_ISD_KINDS_H

#include "generate/isd/isd_picture.h"
#include "generate/shared/odd.h"
#include "generate/shared/facts.h"

enum { ISD_KINDS = 16, ISD_REPORTS = 32, ISD_SECTIONS = 96, ISD_PIECES = 64 };
enum { ISD_PARTS = 5, ISD_NO_ELEVATION = 9999 };

typedef struct {
    const char *name, *flags, *call;
    int32_t share, first_year, last_year, usaf, usaf_last, wban, wban_last; /* no ids: 0 */
    int32_t south, north, west, east, low, high;                            /* thousandths of degrees; m */
    int32_t cloud, wet, hazy, damp, wind, still, daily;
    size_t first, reports; /* in the order of an hour's minutes */
} isd_kind_t;

typedef enum { ISD_AT_HOURS, ISD_AT_DAY_END, ISD_AT_MONTH_END } isd_when_t;

typedef struct {
    isd_when_t when;
    uint64_t hours, minutes;        /* bits */
    bool any_minute;                /* one of them, when the weather changes */
    uint32_t share;                 /* of 1024 */
    char usual;                     /* quality */
    isd_picture_t parts[ISD_PARTS]; /* from the source flag on */
} isd_report_t;

typedef struct {
    char id[4];             /* of the first member */
    uint8_t members, width; /* AA1 to AA4: 4; behind the identifier */
    const char *text;
    isd_picture_t picture;
} isd_section_t;

typedef struct {
    size_t kinds, reports, sections, pieces;
    isd_kind_t kind[ISD_KINDS];
    isd_report_t report[ISD_REPORTS];
    isd_section_t section[ISD_SECTIONS]; /* in ascending order */
    const char *piece[ISD_PIECES][2];    /* name and text */
    isd_pictures_t *pictures;
    facts_t sections_file, stations_file, reports_file;
    char text[1 << 14]; /* of the picture at hand */
    size_t length;
} isd_world_t;

/* Into zeroes, with the oddities of records added to the plan; to be cleared after a failure, too. */
bool isd_world_init(isd_world_t *world, odd_plan_t *odd, err_t *err);
void isd_world_clear(isd_world_t *world);

/* By the identifier; members beyond the documented ones, as AW5, have their family's. NULL: there is none. */
const isd_section_t *isd_section_of(const isd_world_t *world, const char id[3]);

#endif
