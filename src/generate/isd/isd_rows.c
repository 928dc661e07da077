#include "generate/generate.h"
#include "base/numbers/units.h"
#include "generate/isd/isd_odd.h"
#include "generate/isd/isd_weather.h"
#include "generate/shared/calendar.h"
#include "generate/shared/whole.h"
#include "generate/shared/digits.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIXED = 105, MOST_A_STATION = 150000 };

typedef struct {
    uint64_t records, row, station_end; /* the next record, and the first of the next station */
    uint32_t next_station;
    isd_network_t network;
    isd_station_t station;
    isd_weather_t weather;

    /* the next report of the station */
    size_t report;
    int32_t minute; /* from which on it may be */
    int32_t day, hour, local_day;
    date_t date, local;
    int32_t since; /* hours since the weather was looked at */
    bool hourly;   /* where the usual hours are too few for the years */
    bool at_24;    /* midnight is 24:00 of the day before */
    const isd_report_t *due;

    bool by_file;
    char file[GENERATE_NAME_SIZE];

    isd_world_t world;
    isd_scene_t scene;
    odd_plan_t odd;
} isd_rows_t;

/* ---- stations ---- */

/* Records a day, in 1024ths. */
static uint64_t a_day(const isd_rows_t *rows) {
    const isd_report_t *report = rows->world.report + rows->station.kind->first;
    uint64_t sum = 0;
    for (const isd_report_t *end = report + rows->station.kind->reports; report < end; report++) {
        int minutes = report->any_minute ? 1 : __builtin_popcountll(report->minutes);
        int hours = rows->hourly ? 24 : __builtin_popcountll(report->hours);
        sum += (report->when == ISD_AT_HOURS ? (uint64_t)(hours * minutes) : 1) * report->share;
    }
    return sum;
}

/* A random time such that all of its records fit into the years of its kind. */
static void begin_at(isd_rows_t *rows, uint64_t records) {
    const isd_kind_t *kind = rows->station.kind;
    uint64_t years = (uint64_t)(kind->last_year - kind->first_year) + 1;
    rows->hourly = false;
    uint64_t days = records * 1024 / a_day(rows) + 1;
    rows->hourly = days > years * 365;
    days = records * 1024 / a_day(rows) + 1;
    uint64_t needed = days / 365 + 1, spare = years > needed ? years - needed : 0;
    int32_t year = kind->first_year + (int32_t)isd_scene_below(&rows->scene, (uint32_t)spare + 1);
    rows->day = calendar_new_year(year);
    if (days < 365)
        rows->day += (int32_t)isd_scene_below(&rows->scene, (uint32_t)(366 - days));
    rows->date = rows->local = calendar_date(rows->day);
    rows->local_day = rows->day;
    rows->at_24 = strchr(kind->flags, 'M');
    rows->hour = rows->at_24; /* its first midnight would be the year's before */
    rows->since = 1;
    rows->report = 0;
    rows->minute = 0;
}

static void enter_station(isd_rows_t *rows) {
    uint32_t number = rows->next_station++;
    uint64_t stations = rows->network.stations;
    uint64_t count = rows->records / stations + (number < rows->records % stations);
    rows->scene = (isd_scene_t){.place = 64};
    isd_station_init(&rows->station, &rows->network, number, &rows->scene);
    rows->scene.key = rows->station.key;
    rows->station_end = rows->row + count;
    begin_at(rows, count);
    isd_weather_init(&rows->weather, &rows->station.climate, &rows->scene);
}

/* ---- when ---- */

static void tell_hour(isd_rows_t *rows) {
    int32_t *n = rows->scene.number, local = rows->hour + rows->station.climate.zone;
    int32_t local_day = rows->day + (local < 0 ? -1 : local > 23);
    if (rows->local_day != local_day)
        rows->local = calendar_date(rows->local_day = local_day);
    n[ISD_N_day] = rows->date.day;
    n[ISD_N_hour] = rows->hour;
    n[ISD_N_lyear] = rows->local.year % 100;
    n[ISD_N_lmonth] = rows->local.month;
    n[ISD_N_lday] = rows->local.day;
    n[ISD_N_lhour] = (local + 24) % 24;
    n[ISD_N_monthhours] = calendar_days_in(rows->local.year, rows->local.month) * 24;
}

static void tell_minute(isd_rows_t *rows, int32_t minute) {
    int32_t *n = rows->scene.number, hour = rows->hour + (minute > 44); /* near enough to the next */
    n[ISD_N_minute] = minute;
    n[ISD_N_three] = hour % 3 == 0;
    n[ISD_N_six] = hour % 6 == 0;
    n[ISD_N_twelve] = hour % 12 == 0;
}

static void next_hour(isd_rows_t *rows) {
    rows->report = 0;
    rows->since++;
    if (++rows->hour < 24)
        return;
    rows->hour = 0;
    rows->date = calendar_date(++rows->day);
}

static bool comes_up(const isd_rows_t *rows, const isd_report_t *report) {
    int32_t local = (rows->hour + rows->station.climate.zone + 24) % 24;
    if (report->when == ISD_AT_HOURS)
        return rows->hourly || report->hours >> rows->hour & 1;
    return local == 23;
}

/* Specials are sent when the weather changes. */
static uint32_t share_of(const isd_rows_t *rows, const isd_report_t *report) {
    const int32_t *n = rows->scene.number;
    return !report->any_minute    ? report->share
           : n[ISD_N_weather]     ? report->share * 3u
           : n[ISD_N_layers] == 0 ? report->share / 16u
                                  : report->share / 2u;
}

/* The minute of the report from rows->minute on; 64: there is none, or no more of them. */
static int32_t next_minute(isd_rows_t *rows, const isd_report_t *report) {
    const int32_t *n = rows->scene.number;
    uint64_t left = report->minutes >> rows->minute << rows->minute;
    if (report->when == ISD_AT_MONTH_END && n[ISD_N_lday] * 24 != n[ISD_N_monthhours])
        return 64;
    if (!left || (report->share < 1024 && !isd_scene_happens(&rows->scene, share_of(rows, report))))
        return 64;
    int32_t first = __builtin_ctzll(left);
    if (!report->any_minute)
        return first;
    rows->minute = 63; /* once an hour */
    return first + (int32_t)isd_scene_below(&rows->scene, (uint32_t)(64 - __builtin_clzll(left) - first));
}

/* Goes on to the next report that is due, and tells the scene of its time and weather. */
static void find_due(isd_rows_t *rows) {
    for (;;) {
        const isd_report_t *report = rows->world.report + rows->station.kind->first + rows->report;
        if (rows->report == rows->station.kind->reports) {
            next_hour(rows);
            continue;
        }
        if (comes_up(rows, report)) {
            if (rows->since) {
                tell_hour(rows);
                isd_weather_step(&rows->weather, &rows->scene, rows->since, rows->date.yearday);
                rows->since = 0;
            }
            int32_t minute = next_minute(rows, report);
            if (minute < 64) {
                rows->minute = whole_larger(rows->minute, minute + 1);
                rows->due = report;
                tell_minute(rows, minute);
                return;
            }
        }
        rows->report++;
        rows->minute = 0;
    }
}

/* ---- a record ---- */

/* At 00:00 as that day's, or as 24:00 of the day before. */
static char *put_time(const isd_rows_t *rows, char *to) {
    const int32_t *n = rows->scene.number;
    bool as_24 = rows->at_24 && n[ISD_N_hour] == 0 && n[ISD_N_minute] == 0;
    date_t told = as_24 ? calendar_date(rows->day - 1) : rows->date;
    uint32_t time = as_24 ? 2400 : (uint32_t)(n[ISD_N_hour] * 100 + n[ISD_N_minute]);
    to = digits_put_last(to, (uint32_t)(told.year * 10000 + told.month * 100 + told.day), 8);
    return digits_put_last(to, time, 4);
}

static char *put_record(isd_rows_t *rows, char *to) {
    isd_scene_t *scene = &rows->scene;
    char *record = to, count[8];
    memset(scene->sequence, 0, sizeof scene->sequence);
    memcpy(to + 4, rows->station.ids, sizeof rows->station.ids);
    to = put_time(rows, to + 15);
    for (size_t i = 0; i < ISD_PARTS; i++) {
        size_t length = i ? 3 : 0;
        if (!rows->due->parts[i])
            continue;
        char *end = isd_picture_put(rows->world.pictures, rows->due->parts[i], scene, to + length);
        memcpy(to, &"   ADDREMEQDQNN"[3 * i], length);
        to = end == to + length ? to : end;
    }
    int32_t more = 0;
    if (__builtin_expect(rows->row == rows->odd.next, 0))
        to = isd_odd_apply(&rows->odd, &rows->world, scene, record, to, &more);
    digits_put_last(count, (uint32_t)(to - record - FIXED + more), 4);
    memcpy(record, count, 4);
    rows->row++;
    *to++ = '\n';
    return to;
}

/* The file that the due record belongs to. */
static void name_file(const isd_rows_t *rows, char name[GENERATE_NAME_SIZE]) {
    char time[24];
    put_time(rows, time);
    snprintf(name, GENERATE_NAME_SIZE, "%.6s-%.5s-%.4s", rows->station.ids, rows->station.ids + 6, time);
}

static bool look_ahead(isd_rows_t *rows) {
    if (rows->due)
        return true;
    if (rows->row == rows->records)
        return false;
    if (rows->row == rows->station_end)
        enter_station(rows);
    find_due(rows);
    return true;
}

static bool next_file(void *maker, char *name) {
    isd_rows_t *rows = maker;
    rows->by_file = true;
    if (!look_ahead(rows))
        return false;
    name_file(rows, rows->file);
    memcpy(name, rows->file, GENERATE_NAME_SIZE);
    return true;
}

static size_t fill(void *maker, char *to, size_t room) {
    isd_rows_t *rows = maker;
    char *start = to, *last = to + room - GENERATE_LEAST_ROOM, name[GENERATE_NAME_SIZE];
    while (to <= last && look_ahead(rows)) {
        if (rows->by_file) {
            name_file(rows, name);
            if (strcmp(name, rows->file) != 0)
                break;
        }
        to = put_record(rows, to);
        rows->due = NULL;
    }
    return (size_t)(to - start);
}

static void destroy(void *maker) {
    isd_rows_t *rows = maker;
    if (rows)
        isd_world_clear(&rows->world);
    free(rows);
}

static uint64_t stations_of(const generate_t *what) {
    if (what->stations)
        return what->stations;
    return what->count < GENERATE_ISD_STATIONS ? what->count : GENERATE_ISD_STATIONS;
}

static bool check(const generate_t *what, err_t *err) {
    char some[UNITS_MAX], most[UNITS_MAX], each[UNITS_MAX], enough[UNITS_MAX];
    uint64_t stations = stations_of(what), needed = what->count / MOST_A_STATION + 1;
    units_count(most, ISD_MOST_STATIONS);
    if (stations > ISD_MOST_STATIONS)
        return err_set(err, STATUS_USAGE, "--stations %llu: at most %s stations have ids of their own",
                       (unsigned long long)stations, most);
    if (stations > what->count)
        return err_set(err, STATUS_USAGE, "%s stations cannot send %s records: each sends at least one",
                       units_count(some, stations), units_count(each, what->count));
    if (what->count <= stations * MOST_A_STATION)
        return true;
    if (needed > ISD_MOST_STATIONS)
        return err_set(err, STATUS_USAGE,
                       "--records %llu: that is more than %s stations send; make several files",
                       (unsigned long long)what->count, most);
    return err_set(
        err, STATUS_USAGE,
        "%s records are too many for %s stations, which send at most %s each; say --stations %s or more",
        units_count(some, what->count), units_count(most, stations), units_count(each, MOST_A_STATION),
        units_count(enough, needed));
}

static void *begin(const generate_t *what, err_t *err) {
    isd_rows_t *rows = calloc(1, sizeof *rows);
    uint64_t key = chance_bits(what->seed, 1901);
    if (!rows)
        return err_memory(err, sizeof *rows), NULL;
    rows->records = what->count;
    odd_init(&rows->odd, chance_bits(key, 2));
    if (!isd_world_init(&rows->world, &rows->odd, err))
        return destroy(rows), NULL;
    if (what->count)
        isd_network_init(&rows->network, &rows->world, (uint32_t)stations_of(what), chance_bits(key, 1));
    return rows;
}

const generate_kind_t generate_isd = {.name = "isd",
                                      .unit = "records",
                                      .check = check,
                                      .begin = begin,
                                      .fill = fill,
                                      .end = destroy,
                                      .next_file = next_file};
