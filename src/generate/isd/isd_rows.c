#include "generate/isd/isd_rows.h"
#include "generate/write/digits.h"
#include "generate/isd/isd_odd.h"
#include "generate/isd/isd_picture.h"
#include "generate/isd/isd_station.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 5, MOST_REPORTS = 40 };

typedef struct {
    const isd_report_t *report;
    isd_picture_t *parts[PARTS]; /* NULL: none */
} program_t;

typedef struct {
    int32_t year, month, day;
} date_t;

struct isd_rows {
    uint64_t records, key;
    uint64_t row, station_end; /* the next record, and the first of the next station */
    uint32_t next_station;
    isd_network_t network;
    isd_station_t station;
    isd_weather_t weather;

    /* the next report of the station */
    size_t slot;
    int32_t days, hour; /* since 1 January 0000, UTC */
    int32_t local_days;
    unsigned since, yearday; /* hours since the weather was looked at */
    date_t date, local;
    uint32_t every_hours; /* where the usual ones are too few for the years */
    const program_t *due;

    bool by_file;
    char file[ISD_ROWS_NAME_SIZE];

    size_t programs;
    program_t program[MOST_REPORTS];
    uint8_t program_of[ISD_KINDS][ISD_SLOTS];
    isd_scene_t scene;
    isd_odd_t odd;
};

/* ---- the calendar ---- */

static bool is_leap(int32_t year) {
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int32_t days_before(int32_t year) { /* of 1 January, since that of the year 0 */
    int32_t past = year - 1;
    return year * 365 + past / 4 - past / 100 + past / 400 + 1;
}

static int32_t days_in(int32_t year, int32_t month) {
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

static void next_day(date_t *date) {
    if (++date->day <= days_in(date->year, date->month))
        return;
    date->day = 1;
    if (++date->month <= 12)
        return;
    date->month = 1;
    date->year++;
}

static void day_before(date_t *date) {
    if (--date->day)
        return;
    if (!--date->month) {
        date->month = 12;
        date->year--;
    }
    date->day = days_in(date->year, date->month);
}

static date_t date_of(int32_t year, int32_t yearday) {
    date_t date = {year, 1, 1};
    while (yearday >= days_in(date.year, date.month))
        yearday -= days_in(date.year, date.month++);
    date.day = yearday + 1;
    return date;
}

/* ---- stations ---- */

/* Records a day, in 1024ths, when all hours in `hours` of a slot count. */
static uint32_t a_day(const isd_kind_t *kind, uint32_t every_hours) {
    uint32_t sum = 0;
    for (const isd_slot_t *slot = kind->slots; slot->report; slot++)
        sum += slot->when == ISD_AT_HOURS
                   ? (uint32_t)__builtin_popcount(every_hours ? every_hours : slot->hours) * slot->share
               : slot->when == ISD_AT_DAY_END ? 1024u
                                              : 34u;
    return sum ? sum : 1;
}

/* A random time such that all of its records fit into the years of its kind. */
static void begin_at(isd_rows_t *rows, uint64_t records) {
    const isd_kind_t *kind = rows->station.kind;
    uint32_t years = kind->last_year - kind->first_year + 1u;
    rows->every_hours = 0;
    uint64_t days = records * 1024 / a_day(kind, 0) + 1;
    if (days > years * 365) {
        rows->every_hours = 0xffffff;
        days = records * 1024 / a_day(kind, rows->every_hours) + 1;
    }
    uint64_t needed = days / 365 + 1, spare = years > needed ? years - needed : 0;
    int32_t year = kind->first_year + (int32_t)isd_scene_below(&rows->scene, (uint32_t)spare + 1);
    rows->yearday = days < 365 ? isd_scene_below(&rows->scene, (uint32_t)(366 - days)) : 0;
    rows->date = date_of(year, (int32_t)rows->yearday);
    rows->days = days_before(year) + (int32_t)rows->yearday;
    rows->hour = 0;
    rows->since = 1;
    rows->slot = 0;
    rows->local = rows->date;
    rows->local_days = rows->days;
}

static void enter_station(isd_rows_t *rows) {
    uint32_t number = rows->next_station++;
    uint64_t stations = rows->network.stations, each = rows->records / stations,
             more = rows->records % stations;
    uint64_t count = each + (number < more);
    isd_scene_t *scene = &rows->scene;
    isd_station_t *station = &rows->station;
    isd_station_init(station, &rows->network, number);
    memset(scene, 0, sizeof *scene);
    scene->key = station->key;
    scene->place = 64;
    scene->text[ISD_T_position] = station->position;
    scene->text[ISD_T_elevation] = station->elevation;
    scene->text[ISD_T_call] = station->call;
    scene->text[ISD_T_icao] = station->icao;
    scene->text[ISD_T_block] = station->block;
    rows->station_end = rows->row + count;
    begin_at(rows, count);
    if (station->kind->midnight_is_24) /* its first midnight would be the year's before */
        rows->hour = 1;
    isd_weather_init(&rows->weather, &station->climate, scene);
}

/* ---- when ---- */

static void tell_hour(isd_rows_t *rows) {
    int32_t *n = rows->scene.number, local = rows->hour + rows->station.climate.zone;
    int32_t local_days = rows->days + (local < 0 ? -1 : local > 23);
    for (; rows->local_days < local_days; rows->local_days++)
        next_day(&rows->local);
    for (; rows->local_days > local_days; rows->local_days--)
        day_before(&rows->local);
    n[ISD_N_year] = rows->date.year;
    n[ISD_N_month] = rows->date.month;
    n[ISD_N_day] = rows->date.day;
    n[ISD_N_hour] = rows->hour;
    n[ISD_N_lyear] = rows->local.year % 100;
    n[ISD_N_lmonth] = rows->local.month;
    n[ISD_N_lday] = rows->local.day;
    n[ISD_N_lhour] = (local + 24) % 24;
    n[ISD_N_monthday] = days_in(rows->local.year, rows->local.month);
    n[ISD_N_monthhours] = n[ISD_N_monthday] * 24;
}

static void tell_minute(isd_rows_t *rows, int32_t minute) {
    int32_t *n = rows->scene.number, hour = rows->hour + (minute > 44); /* near enough to the next */
    n[ISD_N_minute] = minute;
    n[ISD_N_three] = hour % 3 == 0;
    n[ISD_N_six] = hour % 6 == 0;
    n[ISD_N_twelve] = hour % 12 == 0;
}

static void next_hour(isd_rows_t *rows) {
    rows->slot = 0;
    rows->since++;
    if (++rows->hour < 24)
        return;
    rows->hour = 0;
    rows->days++;
    rows->yearday++;
    next_day(&rows->date);
    if (rows->date.month == 1 && rows->date.day == 1)
        rows->yearday = 0;
}

static bool comes_up(const isd_rows_t *rows, const isd_slot_t *slot) {
    if (slot->when == ISD_AT_HOURS)
        return (rows->every_hours ? rows->every_hours : slot->hours) >> rows->hour & 1;
    int32_t local = (rows->hour + rows->station.climate.zone + 48) % 24;
    return local == 23;
}

/* Specials are sent when the weather changes. */
static uint32_t share_of(const isd_rows_t *rows, const isd_slot_t *slot) {
    const int32_t *n = rows->scene.number;
    return !slot->until           ? slot->share
           : n[ISD_N_weather]     ? slot->share * 3u
           : n[ISD_N_layers] == 0 ? slot->share / 16u
                                  : slot->share / 2u;
}

/* Goes on to the next report that is due, and tells the scene of its time and weather. */
static void find_due(isd_rows_t *rows) {
    const isd_slot_t *slots = rows->station.kind->slots, *slot;
    size_t kind = (size_t)(rows->station.kind - isd_kinds);
    isd_scene_t *scene = &rows->scene;
    for (;;) {
        slot = &slots[rows->slot];
        if (!slot->report) {
            next_hour(rows);
            continue;
        }
        rows->slot++;
        if (!comes_up(rows, slot))
            continue;
        if (rows->since) {
            tell_hour(rows);
            isd_weather_step(&rows->weather, scene, rows->since, rows->yearday);
            rows->since = 0;
        }
        if (slot->when == ISD_AT_MONTH_END && scene->number[ISD_N_lday] != scene->number[ISD_N_monthday])
            continue;
        if (slot->share >= 1024 || isd_scene_happens(scene, share_of(rows, slot)))
            break;
    }
    int32_t minute = slot->minute;
    if (slot->until)
        minute += (int32_t)isd_scene_below(scene, slot->until - slot->minute + 1u);
    tell_minute(rows, minute);
    rows->due = &rows->program[rows->program_of[kind][slot - slots]];
}

/* ---- a record ---- */

static const char *const markers[PARTS] = {"", "ADD", "REM", "EQD", "QNN"};

/* At 00:00 as that day's, or as 24:00 of the day before. */
static char *put_time(const isd_rows_t *rows, char *to, date_t *told) {
    const int32_t *n = rows->scene.number;
    *told = rows->date;
    uint32_t time = (uint32_t)(n[ISD_N_hour] * 100 + n[ISD_N_minute]);
    if (rows->station.kind->midnight_is_24 && !time) {
        day_before(told);
        time = 2400;
    }
    to = digits_put_last(to, (uint32_t)(told->year * 10000 + told->month * 100 + told->day), 8);
    return digits_put_last(to, time, 4);
}

static char *put_record(isd_rows_t *rows, char *to) {
    isd_scene_t *scene = &rows->scene;
    const program_t *program = rows->due;
    char *record = to;
    date_t told;
    memset(scene->sequence, 0, sizeof scene->sequence);
    memcpy(to + 4, rows->station.ids, sizeof rows->station.ids);
    to = put_time(rows, to + 15, &told);
    to = isd_picture_put(program->parts[0], scene, to);
    for (size_t i = 1; i < PARTS; i++) {
        if (!program->parts[i])
            continue;
        char *begun = to + 3, *end;
        memcpy(to, markers[i], 3);
        end = isd_picture_put(program->parts[i], scene, begun);
        to = end == begun ? to : end;
    }
    char count[8];
    digits_put_last(count, (uint32_t)(to - record) - 105, 4);
    memcpy(record, count, 4);
    if (__builtin_expect(rows->row == rows->odd.next, 0))
        to = isd_odd_apply(&rows->odd, scene, record, to);
    rows->row++;
    *to++ = '\n';
    return to;
}

/* The file that the due record belongs to. */
static void name_file(const isd_rows_t *rows, char name[ISD_ROWS_NAME_SIZE]) {
    date_t told;
    char time[24];
    put_time(rows, time, &told);
    snprintf(name, ISD_ROWS_NAME_SIZE, "%.6s-%.5s-%04d", rows->station.ids, rows->station.ids + 6,
             (int)told.year);
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

bool isd_rows_next_file(isd_rows_t *rows, char name[ISD_ROWS_NAME_SIZE]) {
    rows->by_file = true;
    if (!look_ahead(rows))
        return false;
    name_file(rows, rows->file);
    memcpy(name, rows->file, ISD_ROWS_NAME_SIZE);
    return true;
}

size_t isd_rows_fill(isd_rows_t *rows, char *to, size_t room) {
    char *start = to, *last = to + room - ISD_ROWS_LEAST_ROOM, name[ISD_ROWS_NAME_SIZE];
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

/* ---- setting up ---- */

static bool add_program(isd_rows_t *rows, const isd_report_t *report, uint8_t *which, err_t *err) {
    const char *texts[PARTS] = {report->head, report->sections, report->remarks, report->elements,
                                report->originals};
    for (*which = 0; *which < rows->programs; ++*which)
        if (rows->program[*which].report == report)
            return true;
    program_t *program = &rows->program[rows->programs++];
    program->report = report;
    for (size_t i = 0; i < PARTS; i++)
        if (texts[i] && !(program->parts[i] = isd_picture_new(texts[i], err)))
            return false;
    return true;
}

static bool add_programs(isd_rows_t *rows, err_t *err) {
    for (size_t k = 0; isd_kinds[k].name; k++)
        for (size_t s = 0; isd_kinds[k].slots[s].report; s++)
            if (!add_program(rows, isd_kinds[k].slots[s].report, &rows->program_of[k][s], err))
                return false;
    return true;
}

isd_rows_t *isd_rows_new(uint64_t records, uint32_t stations, uint64_t seed, err_t *err) {
    isd_rows_t *rows = calloc(1, sizeof *rows);
    if (!rows) {
        err_memory(err, sizeof *rows);
        return NULL;
    }
    rows->records = records;
    rows->key = chance_bits(seed, 1901);
    if (stations)
        isd_network_init(&rows->network, stations, chance_bits(rows->key, 1));
    if (add_programs(rows, err) && isd_odd_init(&rows->odd, chance_bits(rows->key, 2), err))
        return rows;
    isd_rows_destroy(rows);
    return NULL;
}

void isd_rows_destroy(isd_rows_t *rows) {
    if (!rows)
        return;
    for (size_t i = 0; i < rows->programs; i++)
        for (size_t p = 0; p < PARTS; p++)
            isd_picture_destroy(rows->program[i].parts[p]);
    isd_odd_clear(&rows->odd);
    free(rows);
}
