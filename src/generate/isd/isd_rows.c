#include "generate/generate.h"
#include "base/numbers/units.h"
#include "generate/isd/isd_weather.h"
#include "generate/isd/isd_world.h"
#include "generate/shared/digits.h"
#include "generate/shared/whole.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIXED = 105, MOST_A_STATION = 150000 };

typedef struct {
    uint64_t records, row, station_end; /* the next record, and the first of the next station */
    uint32_t stations, next_station;
    uint64_t stations_key;
    isd_station_t station;
    isd_weather_t weather;

    isd_time_t time;
    int32_t year_begins; /* its day */
    size_t report;       /* the next one of the station in this hour */
    int32_t minute;      /* from which on it may be */
    bool hourly;         /* where the usual hours are too few for the years */
    bool at_24;          /* midnight is 24:00 of the day before */
    const isd_report_t *due;

    bool by_file;
    char file[GENERATE_NAME_SIZE];

    isd_world_t world;
    isd_scene_t scene;
    odd_plan_t odd;
} isd_rows_t;

/* ---- when ---- */

/* The dates that belong to the day and hour. */
static void set_dates(isd_time_t *time, const isd_station_t *station) {
    int32_t local = time->hour + station->zone;
    calendar_date(time->days, &time->date);
    calendar_date(time->days + (local < 0 ? -1 : local > 23), &time->local);
}

/* A random time such that all of its records fit into the years of its kind. */
static void begin_at(isd_rows_t *rows, uint64_t records) {
    const isd_kind_t *kind = rows->station.kind;
    uint64_t years = (uint64_t)(kind->last_year - kind->first_year) + 1,
             days = records / (uint64_t)kind->a_day + 1;
    rows->hourly = days > years * 365;
    if (rows->hourly)
        days = records / 24 + 1;
    uint64_t needed = days / 365 + 1, spare = years > needed ? years - needed : 0;
    uint32_t year = (uint32_t)kind->first_year + isd_scene_below(&rows->scene, (uint32_t)spare + 1);
    rows->at_24 = strchr(kind->flags, 'M');
    rows->time = (isd_time_t){.hour = rows->at_24}; /* its first midnight would be the year's before */
    calendar_days(year, 1, 1, &rows->time.days);
    if (days < 365)
        rows->time.days += (int32_t)isd_scene_below(&rows->scene, (uint32_t)(366 - days));
    set_dates(&rows->time, &rows->station);
}

static void enter_station(isd_rows_t *rows) {
    const isd_world_t *world = &rows->world;
    uint32_t number = rows->next_station++;
    uint64_t count = rows->records / rows->stations + (number < rows->records % rows->stations);
    rows->station =
        isd_station_of(world->kinds, world->kind_count, number, rows->stations, rows->stations_key);
    rows->station_end = rows->row + count;
    rows->scene = (isd_scene_t){.place = 64, .key = rows->station.key};
    memcpy(rows->scene.call, rows->station.call, sizeof rows->scene.call);
    begin_at(rows, count);
    rows->report = 0;
    rows->minute = 0;
    isd_weather_begin(&rows->weather, &rows->station, &rows->time, &rows->scene);
}

static void next_hour(isd_rows_t *rows) {
    rows->report = 0;
    rows->minute = 0;
    if (++rows->time.hour == 24) {
        rows->time.hour = 0;
        rows->time.days++;
    }
    set_dates(&rows->time, &rows->station);
    isd_weather_step(&rows->weather, &rows->station, &rows->time, &rows->scene);
}

/* Does the report come up from rows->minute on? Then that is its minute. */
static bool comes_up(isd_rows_t *rows, const isd_report_t *report) {
    int32_t minute = whole_larger(report->minute, rows->minute);
    if (report->any_minute && minute <= report->last_minute)
        minute += (int32_t)isd_scene_below(&rows->scene, (uint32_t)(report->last_minute - minute) + 1);
    else
        minute =
            report->minute + (minute - report->minute + report->every - 1) / report->every * report->every;
    if (minute > report->last_minute || !(rows->hourly || report->hours >> rows->time.hour & 1))
        return false;
    rows->time.minute = minute;
    isd_weather_tell(&rows->weather, &rows->station, &rows->time, &rows->scene);
    return isd_lines_hold(&rows->world.all, report->conditions, &rows->scene);
}

/* Goes on to the next report that is due. */
static void find_due(isd_rows_t *rows) {
    for (;;) {
        const isd_report_t *report = rows->world.reports + rows->station.kind->first + rows->report;
        if (rows->report == rows->station.kind->reports) {
            next_hour(rows);
        } else if (comes_up(rows, report)) {
            rows->due = report;
            bool again = report->every < 60;
            rows->minute = rows->time.minute + again;
            rows->report += !again;
            return;
        } else {
            rows->report++;
        }
    }
}

/* ---- a record ---- */

/* At 00:00 as that day's, or as 24:00 of the day before. */
static char *put_time(const isd_rows_t *rows, char *to) {
    const isd_time_t *time = &rows->time;
    date_t told = time->date;
    bool as_24 = rows->at_24 && !time->hour && !time->minute && calendar_date(time->days - 1, &told);
    to = digits_put_last(to, told.year * 10000 + told.month * 100 + told.day, 8);
    return digits_put_last(to, as_24 ? 2400 : (uint32_t)(time->hour * 100 + time->minute), 4);
}

/* Behind its place for a length; with a section more where *extra is its name. */
static char *put_parts(isd_rows_t *rows, const char **extra, char *record) {
    memcpy(record + 4, rows->station.ids, sizeof rows->station.ids);
    return isd_lines_put(&rows->world.all, rows->due->lines, rows->due->usual, &rows->scene, extra,
                         put_time(rows, record + 15));
}

typedef struct {
    isd_rows_t *rows;
    char *record, *end;
    int32_t more; /* the declared length is to be wrong by */
    bool changed;
} odd_record_t;

/* One change of what is there; false when the record is not one for it. */
static bool change(odd_record_t *odd, const char *place, const char *text) {
    size_t length = strlen(text);
    bool asks = *place == '?' || *place == '!';
    char *at = odd->record + strtoul(place + asks, NULL, 10);
    if (asks)
        return (memcmp(at, text, length) == 0) == (*place == '?');
    if (strcmp(place, "count") == 0)
        odd->more = (int32_t)strtol(text, NULL, 10);
    else if (strcmp(place, "cut") == 0)
        odd->end = odd->record + FIXED;
    else if (strcmp(place, "end") == 0 && odd->rows->scene.ends_early)
        odd->end = memcpy(odd->end, text, length) + length;
    else if (strcmp(place, "end") == 0)
        return false;
    else
        memcpy(at, text, length);
    return true;
}

static bool make_odd(void *row, odd_t *odd) {
    odd_record_t *record = row;
    char place[ODD_WORD], text[ODD_WORD], name[4];
    if (!strchr(odd->text, '=')) { /* "AA14", one of AA1 to AA4 more: the record is made once more */
        const char *extra = memcpy(name, odd->text, sizeof name);
        name[2] = (char)(name[2] + (int)(odd->turn % (uint64_t)(name[3] - name[2] + 1)));
        name[3] = '\0';
        if (record->changed)
            return false;
        record->end = put_parts(record->rows, &extra, record->record);
        return record->changed = !extra;
    }
    for (const char *at = odd->text; odd_change(odd, &at, place, text); record->changed = true)
        if (!change(record, place, text))
            return false;
    return true;
}

static char *put_record(isd_rows_t *rows, char *to) {
    const char *no_extra = NULL;
    char count[8];
    odd_record_t record = {.rows = rows, .record = to, .end = put_parts(rows, &no_extra, to)};
    if (__builtin_expect(rows->row == rows->odd.next, 0))
        odd_apply(&rows->odd, make_odd, &record);
    digits_put_last(count, (uint32_t)(record.end - to - FIXED + record.more), 4);
    memcpy(to, count, 4);
    rows->row++;
    *record.end++ = '\n';
    return record.end;
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
    rows->stations = (uint32_t)stations_of(what);
    rows->stations_key = chance_bits(key, 1);
    return rows;
}

const generate_kind_t generate_isd = {.name = "isd",
                                      .unit = "records",
                                      .check = check,
                                      .begin = begin,
                                      .fill = fill,
                                      .end = destroy,
                                      .next_file = next_file};
