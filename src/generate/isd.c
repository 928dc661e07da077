/* isd: weather records of a network of stations, which follow each other, each with its records in the order of time.
 *
 * The rows of isd say what stations there are, how their weather goes on from hour to hour, and which reports they send in
 * which minute of an hour. */
#include "generate/generate.h"
#include "generate/rows.h"

#include <stdio.h>
#include <string.h>

enum { MOST_STATIONS = 100000, MOST_A_STATION = 150000 };

/* What the rows take from here: a station's number among all, how many records it has; the minute of a report. And what they
 * give: the station's kind, and the names of all kinds, a column. */
enum { NUMBER = 1, STATIONS, RECORDS, MINUTE, KIND, STATION };
static const char *const names[] = {"number", "stations", "records", "minute", "kind", "station", NULL};

typedef struct {
    rows_t rows;
    uint64_t key, records, row, station_end; /* the next record, and the first of the next station */
    uint32_t stations, next_station;
    const block_t *first, *report; /* the station's first one in an hour, and the next one */
    int32_t minute;                /* from which on it may be */
    const block_t *hour;
    char ids[15]; /* and year, of the record written last */
} isd_t;

static void next_hour(isd_t *isd) {
    isd->report = isd->first;
    isd->minute = 0;
    rows_run(&isd->rows, isd->hour, NULL);
}

/* Runs through the day before, so that the last hours have values. */
static void enter_station(isd_t *isd) {
    rows_t *rows = &isd->rows;
    uint32_t number = isd->next_station++;
    uint64_t count = isd->records / isd->stations + (number < isd->records % isd->stations);
    rows->random = chance_bits(isd->key, 16 + (uint64_t)number);
    rows->value[NUMBER] = number;
    rows->value[RECORDS] = (double)count;
    isd->station_end = isd->row + count;
    rows_run(rows, rows_block(rows, "station"), NULL);
    for (int hour = 0; hour < 24; hour++)
        next_hour(isd);
    isd->first = isd->report =
        rows_block(rows, rows->text + column_at(&rows->column[STATION], rows->value[KIND])->text.at);
}

/* Writes the next report that is due, in this hour or a later one. */
static char *put_report(isd_t *isd, char *to) {
    rows_t *rows = &isd->rows;
    for (;; next_hour(isd))
        while (isd->report->title && strcmp(isd->report->title, isd->first->title) == 0) {
            const block_t *block = isd->report++;
            int32_t minute = block->minute > isd->minute ? block->minute : isd->minute;
            const int32_t left = block->last_minute - minute;
            if (left < 0)
                continue;
            minute += (int32_t)(chance_next(&rows->random) % (uint32_t)(left + 1));
            rows->value[MINUTE] = minute;
            rows->usual = block->usual;
            char *end = rows_run(rows, block, to);
            if (end == to)
                continue;
            isd->minute = minute;
            return end;
        }
}

/* Changes the text at an offset (place), or checks it: see odd_change_t. */
static bool change(void *record, char asks, const char *place, const char *text) {
    char *there = (char *)record + strtoul(place, NULL, 10);
    if (asks)
        return (strncmp(there, text, strlen(text)) == 0) == (asks == '?');
    memcpy(there, text, strlen(text));
    return true;
}

static char *put_row(void *maker, char *to) {
    enum { LENGTH = 4, FIXED = 105 };
    isd_t *isd = maker;
    if (isd->row == isd->station_end)
        enter_station(isd);
    char *end = put_report(isd, to);
    digits_put(to, (uint32_t)(end - to - FIXED), LENGTH);
    memcpy(isd->ids, to + LENGTH, sizeof isd->ids);
    if (isd->row++ == isd->rows.odd.next)
        odd_apply(&isd->rows.odd, change, to);
    *end++ = '\n';
    return end;
}

static void name_file(const void *maker, char *name) {
    const char *ids = ((const isd_t *)maker)->ids;
    snprintf(name, GENERATE_NAME_SIZE, "%.6s-%.5s-%.4s", ids, ids + 6, ids + 11);
}

static uint64_t stations_of(const generate_t *what) {
    uint64_t usual = what->count < GENERATE_ISD_STATIONS ? what->count : GENERATE_ISD_STATIONS;
    return what->stations ? what->stations : usual;
}

static bool check(const generate_t *what, err_t *err) {
    char records[UNITS_MAX], some[UNITS_MAX], most[UNITS_MAX], each[UNITS_MAX];
    uint64_t stations = stations_of(what);
    if (stations <= MOST_STATIONS && stations <= what->count && what->count <= stations * MOST_A_STATION)
        return true;
    return err_set(err, STATUS_USAGE,
                   "%s records cannot come from %s stations: at most %s stations have ids of their own, and "
                   "each sends 1 to %s records; change --stations or --rows, or make several files",
                   units_count(records, what->count), units_count(some, stations),
                   units_count(most, MOST_STATIONS), units_count(each, MOST_A_STATION));
}

static char *begin(void *maker, const generate_t *what, char *to, err_t *err) {
    isd_t *isd = maker;
    uint64_t key = chance_bits(what->seed, 1901);
    isd->records = what->count;
    isd->stations = (uint32_t)stations_of(what);
    isd->key = chance_bits(key, 1);
    isd->rows.odd.key = chance_bits(key, 2);
    if (!rows_read(&isd->rows, "isd", names, err))
        return NULL;
    isd->hour = rows_block(&isd->rows, "hour");
    isd->rows.random = isd->key;
    isd->rows.value[STATIONS] = isd->stations;
    rows_run(&isd->rows, rows_block(&isd->rows, "network"), NULL);
    return to;
}

const generate_kind_t generate_isd = {"isd", "records", sizeof(isd_t), UINT64_MAX, check,
                                      begin, put_row,   rows_end,      name_file};
