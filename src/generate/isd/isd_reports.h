/* isd_reports: the reports that stations send, as pictures, and the kinds of stations with their timetables.
 * The shares in the pictures are measured ones, of a published file of such a station. */
#ifndef TIPPLE_GENERATE_ISD_ISD_REPORTS_H
#define TIPPLE_GENERATE_ISD_ISD_REPORTS_H

#include <stdbool.h>
#include <stdint.h>

/* Pictures of a record from its source flag on; what is empty in a record is left out with its marker. */
typedef struct {
    const char *head;      /* up to the end of the mandatory part */
    const char *sections;  /* behind ADD */
    const char *remarks;   /* behind REM */
    const char *elements;  /* behind EQD */
    const char *originals; /* behind QNN */
} isd_report_t;

typedef enum { ISD_AT_HOURS, ISD_AT_DAY_END, ISD_AT_MONTH_END } isd_when_t;

/* In the order of an hour's minutes. */
typedef struct {
    const isd_report_t *report; /* NULL ends a timetable */
    isd_when_t when;
    uint32_t hours;        /* bits of the hours, UTC */
    uint8_t minute, until; /* at a random one between, when there is an until */
    uint16_t share;        /* of 1024 */
} isd_slot_t;

enum { ISD_SLOTS = 14, ISD_NO_ELEVATION = 9999 };

typedef struct {
    const char *name;
    uint16_t share; /* of the stations */
    uint16_t first_year, last_year;
    uint32_t usaf, usaf_last; /* ids; 0: none */
    uint32_t wban, wban_last;
    int32_t south, north, west, east; /* thousandths of degrees */
    int16_t low, high;                /* elevation */
    uint16_t cloud, wet, hazy, damp, wind, still, daily;
    bool fahrenheit, sun, lofty;
    bool lettered;       /* ids like A00017 instead of 690017 */
    bool midnight_is_24; /* of the day before */
    const char *icao;    /* first letters; NULL: no call letters */
    isd_slot_t slots[ISD_SLOTS];
} isd_kind_t;

extern const isd_kind_t isd_kinds[]; /* up to the first without a name */

#endif
