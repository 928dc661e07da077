#include "base/numbers.h"
#include "generate/generate.h"
#include "generate/isd/isd_lines.h"
#include "generate/shared/digits.h"
#include "generate/shared/whole.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a record: its place for a length, ids and time; all that every record has. */
enum { HEAD = 4 + 11 + 12, IDS_AND_YEAR = 11 + 4, FIXED = 105, MOST_A_STATION = 150000 };

typedef struct {
    uint64_t records, row, station_end; /* the next record, and the first of the next station */
    uint32_t stations, next_station;
    uint64_t stations_key;
    isd_weather_t weather; /* with the station and the time */
    size_t report;         /* the next one of the station in this hour */
    int32_t minute;        /* from which on it may be */
    bool hourly;           /* where the usual hours are too few for the years */
    bool at_24;            /* midnight is 24:00 of the day before */
    const isd_report_t *due;
    bool by_file;
    char file[HEAD]; /* ids and time */
    isd_lines_t lines;
    odd_plan_t odd;
} isd_rows_t;

/* ---- when ---- */

/* The dates that belong to the day and hour. */
static void set_dates(isd_time_t *time, int32_t zone) {
    int32_t local = time->hour + zone;
    calendar_date(time->days, &time->date);
    calendar_date(time->days + (local < 0 ? -1 : local > 23), &time->local);
}

/* A random time such that all of its records fit into the years of its kind. */
static void begin_at(isd_rows_t *rows, uint64_t records) {
    isd_weather_t *weather = &rows->weather;
    const isd_kind_t *kind = weather->station.kind;
    uint64_t years = (uint64_t)(kind->last_year - kind->first_year) + 1,
             days = records / (uint64_t)kind->a_day + 1;
    rows->hourly = days > years * 365;
    if (rows->hourly)
        days = records / 24 + 1;
    uint64_t needed = days / 365 + 1, spare = years > needed ? years - needed : 0;
    uint32_t year = (uint32_t)kind->first_year + isd_scene_below(&weather->scene, (uint32_t)spare + 1);
    rows->at_24 = strchr(kind->flags, 'M');
    weather->time = (isd_time_t){.hour = rows->at_24}; /* its first midnight would be the year's before */
    calendar_days(year, 1, 1, &weather->time.days);
    if (days < 365)
        weather->time.days += (int32_t)isd_scene_below(&weather->scene, (uint32_t)(366 - days));
    set_dates(&weather->time, weather->station.zone);
}

static void enter_station(isd_rows_t *rows) {
    const isd_lines_t *lines = &rows->lines;
    isd_weather_t *weather = &rows->weather;
    uint32_t number = rows->next_station++;
    uint64_t count = rows->records / rows->stations + (number < rows->records % rows->stations);
    isd_station_t station =
        isd_station_of(lines->kinds, lines->kind_count, number, rows->stations, rows->stations_key);
    *weather = (isd_weather_t){.station = station, .scene.chance = station.key};
    memcpy(weather->scene.call, station.call, sizeof weather->scene.call);
    rows->station_end = rows->row + count;
    rows->report = 0;
    rows->minute = 0;
    begin_at(rows, count);
    isd_weather_begin(weather);
}

static void next_hour(isd_rows_t *rows) {
    isd_time_t *time = &rows->weather.time;
    rows->report = 0;
    rows->minute = 0;
    time->hour = (time->hour + 1) % 24;
    time->days += !time->hour;
    set_dates(time, rows->weather.station.zone);
    isd_weather_step(&rows->weather);
}

/* Does the report come up from rows->minute on? Then that is its minute. */
static bool comes_up(isd_rows_t *rows, const isd_report_t *report) {
    int32_t minute = whole_larger(report->minute, rows->minute), left = report->last_minute - minute;
    if (!report->every && left > 0)
        minute += (int32_t)isd_scene_below(&rows->weather.scene, (uint32_t)left + 1);
    if (left < 0 || !(rows->hourly || report->hours >> rows->weather.time.hour & 1))
        return false;
    rows->weather.time.minute = minute;
    isd_weather_tell(&rows->weather);
    return isd_lines_hold(&rows->lines, report->conditions, &rows->weather.scene);
}

/* Goes on to the next report that is due. */
static void find_due(isd_rows_t *rows) {
    const isd_kind_t *kind = rows->weather.station.kind;
    while (!rows->due) {
        const isd_report_t *report = rows->lines.reports + kind->first + rows->report;
        if (rows->report == kind->reports)
            next_hour(rows);
        else if (comes_up(rows, report))
            rows->due = report;
        else
            rows->report++;
    }
    rows->minute = rows->weather.time.minute + rows->due->every;
    rows->report += !rows->due->every;
}

/* ---- a record ---- */

/* At 00:00 as that day's, or as 24:00 of the day before. */
static void put_ids_and_time(const isd_rows_t *rows, char *to) {
    const isd_time_t *time = &rows->weather.time;
    date_t told = time->date;
    bool as_24 = rows->at_24 && !time->hour && !time->minute && calendar_date(time->days - 1, &told);
    to = mempcpy(to, rows->weather.station.ids, sizeof rows->weather.station.ids - 1);
    to = digits_put_last(to, told.year * 10000 + told.month * 100 + told.day, 8);
    digits_put_last(to, as_24 ? 2400 : (uint32_t)(time->hour * 100 + time->minute), 4);
}

/* From which byte on it is to hold what. */
static bool change(void *record, char asks, const char *place, const char *text) {
    char *there = (char *)record + strtoul(place, NULL, 10);
    if (asks)
        return (strncmp(there, text, strlen(text)) == 0) == (asks == '?');
    memcpy(there, text, strlen(text));
    return true;
}

/* Is there a next record? */
static bool look_ahead(isd_rows_t *rows) {
    if (!rows->due && rows->row < rows->records) {
        if (rows->row == rows->station_end)
            enter_station(rows);
        find_due(rows);
    }
    return rows->due;
}

/* The ids and the year are those of the file. */
static bool next_file(void *maker, char *name) {
    isd_rows_t *rows = maker;
    rows->by_file = look_ahead(rows);
    if (!rows->by_file)
        return false;
    put_ids_and_time(rows, rows->file);
    snprintf(name, GENERATE_NAME_SIZE, "%.6s-%.5s-%.4s", rows->file, rows->file + 6, rows->file + 11);
    return true;
}

static char *put_row(void *maker, char *to) {
    isd_rows_t *rows = maker;
    if (!look_ahead(rows))
        return NULL;
    put_ids_and_time(rows, to + 4);
    if (rows->by_file && memcmp(to + 4, rows->file, IDS_AND_YEAR) != 0)
        return NULL;
    char *end =
        isd_lines_put(&rows->lines, rows->due->lines, rows->due->usual, &rows->weather.scene, to + HEAD);
    digits_put_into(to, (uint32_t)(end - to - FIXED), 4);
    if (__builtin_expect(rows->row == rows->odd.next, 0))
        odd_apply(&rows->odd, change, to);
    rows->row++;
    rows->due = NULL;
    *end++ = '\n';
    return end;
}

static void end(void *maker) {
    isd_lines_close(&((isd_rows_t *)maker)->lines);
}

static uint64_t stations_of(const generate_t *what) {
    uint64_t usual = what->count < GENERATE_ISD_STATIONS ? what->count : GENERATE_ISD_STATIONS;
    return what->stations ? what->stations : usual;
}

static bool check(const generate_t *what, err_t *err) {
    char some[UNITS_MAX], most[UNITS_MAX], each[UNITS_MAX], enough[UNITS_MAX];
    uint64_t stations = stations_of(what), needed = what->count / MOST_A_STATION + 1;
    if (stations > ISD_MOST_STATIONS || needed > ISD_MOST_STATIONS)
        return err_set(
            err, STATUS_USAGE,
            "--stations %llu, --rows %llu: at most %s stations have ids of their own, and each sends "
            "at most %s records; make several files",
            (unsigned long long)stations, (unsigned long long)what->count,
            units_count(most, ISD_MOST_STATIONS), units_count(each, MOST_A_STATION));
    if (stations > what->count)
        return err_set(err, STATUS_USAGE, "%s stations cannot send %s records: each sends at least one",
                       units_count(some, stations), units_count(each, what->count));
    return what->count <= stations * MOST_A_STATION ||
           err_set(err, STATUS_USAGE,
                   "%s records are too many for %s stations, which send at most %s each; say --stations %s "
                   "or more",
                   units_count(some, what->count), units_count(most, stations),
                   units_count(each, MOST_A_STATION), units_count(enough, needed));
}

static char *begin(void *maker, const generate_t *what, char *to, err_t *err) {
    isd_rows_t *rows = maker;
    uint64_t key = chance_bits(what->seed, 1901);
    rows->records = what->count;
    odd_init(&rows->odd, chance_bits(key, 2));
    rows->stations = (uint32_t)stations_of(what);
    rows->stations_key = chance_bits(key, 1);
    return isd_lines_open(&rows->lines, &rows->odd, err) ? to : NULL;
}

const generate_kind_t generate_isd = {"isd",   "records", sizeof(isd_rows_t), UINT64_MAX, check, begin,
                                      put_row, end,       next_file};
