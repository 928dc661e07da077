/* Stations and their weather: called by isd.c, for one station after the other and hour by hour. All in whole numbers, so
 * that it is the same everywhere. */
#include "generate/isd.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- stations ---- */

/* One of the numbers below the limit for each index below it: a step by a prime that does not divide it visits all. */
static int32_t scattered(uint32_t index, int32_t limit, uint64_t key) {
    const uint64_t prime = 100003, all = (uint64_t)limit; /* above all limits */
    return (int32_t)((index * prime + key % all) % all);
}

/* Shares are percent, and lie next to each other; where they begin is random. */
static const isd_kind_t *kind_of(const isd_kind_t *kinds, uint32_t rank, uint32_t stations, uint64_t records,
                                 uint64_t start) {
    int32_t point = (int32_t)((rank * UINT64_C(100) + start % 100) / stations);
    const isd_kind_t *kind = kinds;
    for (; point >= kind->share; kind++)
        point -= kind->share;
    while (isd_years(kind, records) > (uint64_t)(kind->last_year - kind->first_year) + 1)
        kind--;
    return kind;
}

/* Most ids end in 0, as most real ones do; when there are no more of these, the others follow. */
static void name_station(isd_station_t *station, uint32_t rank, uint64_t key) {
    const isd_kind_t *kind = station->kind;
    int32_t usaf = 999999, wban = 99999, tens = (kind->usaf_last - kind->usaf) / 10 + 1;
    if (kind->usaf)
        usaf = kind->usaf + 10 * scattered(rank % (uint32_t)tens, tens, key) + (int32_t)rank / tens % 10;
    if (kind->wban)
        wban = kind->wban + scattered(rank, kind->wban_last - kind->wban + 1, key);
    snprintf(station->ids, sizeof station->ids, "%06u%05u", (unsigned)usaf % 1000000,
             (unsigned)wban % 100000);
    if (strchr(kind->flags, 'A'))
        station->ids[0] = 'A';
    station->usaf = usaf / 10;
    uint64_t letters = chance_bits(station->key, 20);
    for (int i = 0; i < 4; i++, letters /= 26)
        station->call[i] = (char)('A' + letters % 26);
    station->call[4] = ' ';
    if (isupper((unsigned char)*kind->call))
        *station->call = *kind->call;
}

static int32_t between(const isd_station_t *station, uint64_t place, int32_t low, int32_t high) {
    return low + (int32_t)(chance_bits(station->key, place) % (uint32_t)(high - low + 1));
}

/* Warm at the equator, with winters towards the poles, and colder above. Most stations lie low. */
static void place_station(isd_station_t *station) {
    const isd_kind_t *kind = station->kind;
    station->latitude = between(station, 1, kind->south, kind->north);
    station->longitude = between(station, 2, kind->west, kind->east);
    station->elevation = between(station, 3, kind->low, kind->high);
    if (station->elevation > 300)
        station->elevation = 300 + (station->elevation - 300) * between(station, 4, 0, 100) / 100;
    int32_t from_equator = whole_clamp(abs(station->latitude) / 1000, 0, 68);
    bool by_the_sea = station->latitude < 0 || kind->daily < 20;
    station->mean = 265 - from_equator * from_equator * 7 / 100 - station->elevation * 55 / 1000 +
                    between(station, 5, -15, 15);
    station->season = from_equator * (by_the_sea ? 12 : 26) / 10;
    station->daily = kind->daily * between(station, 6, 80, 120) / 100;
    station->damp = kind->damp * between(station, 7, 80, 120) / 100;
    station->wind = kind->wind * between(station, 8, 80, 120) / 100;
    station->zone = whole_rounded(station->longitude, 15000);
}

isd_station_t isd_station_of(const isd_kind_t *kinds, uint32_t number, uint32_t stations, uint64_t records,
                             uint64_t key) {
    uint32_t rank = (uint32_t)scattered(number, (int32_t)stations, chance_bits(key, 2));
    isd_station_t station = {.key = chance_bits(key, 16 + (uint64_t)number)};
    station.kind = kind_of(kinds, rank, stations, records, chance_bits(key, 1));
    name_station(&station, rank, chance_bits(key, 3));
    place_station(&station);
    return station;
}

/* ---- drawing ---- */

/* Metres, for 10, 9, 8, 7... miles; hundreds of feet. */
enum { FARTHEST = 16093, HEIGHTS = 38 };
static const int32_t sights[] = {FARTHEST, 14484, 12875, 11265, 9656, 8047, 6437, 4828,
                                 4023,     3219,  2414,  2012,  1609, 1207, 805,  402};
static const uint8_t heights[HEIGHTS] = {2,  3,  4,  5,  6,  7,   8,   9,   10,  11,  12,  14, 15,
                                         17, 19, 20, 21, 23, 25,  28,  30,  33,  35,  40,  45, 50,
                                         55, 60, 70, 80, 90, 100, 120, 140, 150, 180, 200, 250};

static bool happens(isd_weather_t *w, int32_t of1024) {
    return isd_below(w, 1024) < of1024;
}

/* Between -size and size, most often near 0. */
static int32_t noise(isd_weather_t *w, int32_t size) {
    uint64_t bits = chance_next(&w->chance);
    int32_t sum = (int32_t)(bits & 0xffff) + (int32_t)(bits >> 16 & 0xffff) - 0xffff;
    return (int32_t)((int64_t)sum * size / 0xffff);
}

static int32_t local_hour(const isd_weather_t *w) {
    return (w->hour + w->station.zone + 24) % 24;
}

/* ---- what falls or dims ---- */

static int32_t share_of(const isd_event_t *event, int32_t temp) {
    return temp > 120 ? event->warm : temp > 10 ? event->mild : event->cold;
}

/* Draws an event that falls, or one that only dims. */
static const isd_event_t *draw_event(isd_weather_t *w, int32_t falls) {
    const int32_t temp = w->temp[w->hour];
    const isd_event_t *event = w->events + 1, *end = w->events + w->event_count;
    int32_t sum = 0;
    for (const isd_event_t *each = event; each < end; each++)
        sum += each->falls == falls ? share_of(each, temp) : 0;
    for (int32_t draw = isd_below(w, (uint32_t)sum);; event++)
        if (event->falls == falls && (draw -= share_of(event, temp)) < 0)
            return event;
}

/* An event goes on or begins; it ends early if it has become too warm or too cold. */
static void step_event(isd_weather_t *w) {
    const isd_kind_t *kind = w->station.kind;
    w->cloud += noise(w, 765) + (kind->cloud - w->cloud) / 8; /* mostly clear or overcast */
    w->cloud = whole_clamp(w->cloud, -1200, 2200);
    if (w->left && (w->event == w->events || share_of(w->event, w->temp[w->hour]))) {
        w->left--;
        return;
    }
    w->event = w->events;
    if (w->cloud > 600 && happens(w, kind->wet * (w->cloud - 400) / 1024))
        w->event = draw_event(w, 1);
    else if (happens(w, w->spread < 40 ? kind->hazy : kind->hazy / 3))
        w->event = draw_event(w, 0);
    w->left = isd_below(w, w->event->falls ? 4 : 3);
}

static void step_water(isd_weather_t *w) {
    const int32_t now = w->hour, temp = w->temp[now];
    w->rain[now] = isd_below(w, (uint32_t)w->event->drops + 1);
    if (w->event->snows)
        w->depth = whole_clamp(w->depth + 1, 0, 240);
    else if (w->depth && temp > 0 && happens(w, 200 + temp))
        w->depth--;
}

/* ---- the slow ones: heat, pressure, wind ---- */

static int32_t in_whole_fahrenheit(int32_t tenths, int32_t zero) {
    return whole_rounded(whole_rounded(tenths * 9 + zero, 50) * 50 - zero, 9);
}

static void step_heat(isd_weather_t *w) {
    const isd_station_t *s = &w->station;
    int32_t yearday = (int32_t)(w->date.month * 30 + w->date.day);
    int32_t year = -whole_cosine((yearday - (s->latitude < 0 ? 233 : 50)) * 100);
    int32_t day = whole_cosine((local_hour(w) - 15) * 1500); /* most at three */
    w->warmth += noise(w, 14) - w->warmth / 48;
    w->spread += noise(w, 16) + (s->damp - w->spread) / 12;
    w->spread = whole_clamp(w->event->falls ? w->spread * 2 / 3 : w->spread, 0, 260);
    int32_t temp = s->mean + (s->season * year + s->daily * day) / 10000 + w->warmth;
    temp = whole_clamp(temp, -680, 480);
    w->apart = whole_clamp(w->spread + day * s->damp / 20000, 0, 300);
    if (strchr(s->kind->flags, 'F')) {
        temp = in_whole_fahrenheit(temp, 1600);
        w->apart = in_whole_fahrenheit(w->apart, 0);
    }
    w->apart = whole_larger(w->apart, temp - 300);
    w->temp[w->hour] = temp;
}

static void step_pressure(isd_weather_t *w) {
    w->push += noise(w, 56) - w->push / 8 - w->pressure / 500;
    w->pressure = whole_clamp(w->pressure + w->push, -7200, 5600);
    w->slp[w->hour] = 10147 + w->pressure / 16;
}

static void step_wind(isd_weather_t *w) {
    w->wind = whole_clamp(w->wind + noise(w, 28) - (w->wind - w->station.wind) / 10, -12, 420);
    w->bearing = (w->bearing + noise(w, 36) + 360) % 360;
    w->knots = whole_rounded((int64_t)whole_clamp(w->wind + noise(w, 14), 0, 450) * 1944, 10000);
    if (w->knots < 3)
        w->knots = happens(w, w->station.kind->still) ? 0 : 3;
    w->gusty = w->knots > 9 && happens(w, (w->knots - 7) * 90);
}

/* ---- what an observer sees ---- */

/* Layers cover more the higher they are. */
static void step_sky(isd_weather_t *w) {
    static const int32_t another[ISD_LAYERS] = {0, 450, 330, 70}; /* above this many layers */
    const int32_t lowest_step = strchr(w->station.kind->flags, 'L') ? 12 : 0;
    w->oktas = whole_clamp((w->cloud * 9) >> 10, 0, 8);
    if (w->event->falls && w->oktas < 5)
        w->oktas = 5 + isd_below(w, 4);
    for (w->layers = w->oktas > 0; w->layers && w->layers < ISD_LAYERS && happens(w, another[w->layers]);)
        w->layers++;
    if (w->layers > 1 && w->oktas < 4)
        w->oktas = 3 + isd_below(w, 6);
    if (happens(w, 256))
        w->ground = lowest_step + isd_below(w, (uint32_t)(HEIGHTS - lowest_step));
    for (int32_t i = 0, at = w->ground, lower = 1; i < ISD_LAYERS; i++) {
        lower = i + 1 >= w->layers ? w->oktas : lower + isd_below(w, (uint32_t)(w->oktas - lower + 1));
        w->eights[i] = i < w->layers ? lower : 0;
        w->step[i] = at;
        at = whole_clamp(at + 3 + isd_below(w, 8), 0, HEIGHTS - 1);
    }
    int32_t low = w->event->sight_low, sight = low + isd_below(w, (uint32_t)(w->event->sight_high - low + 1));
    if (w->event == w->events && happens(w, 110))
        sight = 1 + isd_below(w, 3);
    w->vis = sights[sight];
    w->unsettled = w->event != w->events || happens(w, w->layers ? 170 : 20);
}

/* ---- values ---- */

/* The highest of the last hours; with the sign -1 the lowest. */
static int32_t extreme(const int32_t by_hour[24], int32_t now, int32_t hours, int32_t sign) {
    int32_t most = by_hour[now] * sign;
    for (int32_t i = 1; i < hours; i++)
        most = whole_larger(most, by_hour[(now - i + 24) % 24] * sign);
    return most * sign;
}

static int32_t sum(const int32_t by_hour[24], int32_t now, int32_t hours) {
    int32_t all = 0;
    for (int32_t i = 0; i < hours; i++)
        all += by_hour[(now - i + 24) % 24];
    return all;
}

/* The first terms of exp(-height / 8434 m). */
static int32_t at_height(int32_t pressure, int32_t height) {
    int32_t lower = pressure * height / 8434;
    return pressure - lower + lower * height / 8434 / 2 - lower * height / 8434 * height / 8434 / 6;
}

static int32_t in_metres(int32_t knots) {
    return whole_rounded((int64_t)knots * 5144, 1000);
}

static int32_t base_of(const isd_weather_t *w, int32_t layer) {
    return layer < w->layers ? whole_rounded(heights[w->step[layer]] * 3048, 100) : ISD_MISSING;
}

static int32_t class_of(const isd_weather_t *w, int32_t layer) {
    static const uint8_t classes[] = {0, 1, 1, 2, 2, 3, 3, 3, 4};
    return classes[w->eights[layer]];
}

/* The lowest layer that covers more than half of the sky. */
static int32_t ceiling(const isd_weather_t *w) {
    for (int32_t layer = 0; layer < w->layers; layer++)
        if (class_of(w, layer) > 2)
            return base_of(w, layer);
    return 22000;
}

#define SET(name, expression) w->value[ISD_##name] = (int32_t)(expression);

static void step_values(isd_weather_t *w) {
    const isd_station_t *s = &w->station;
    const isd_event_t *event = w->event;
    const int32_t now = w->hour, temp = w->temp[now], slp = w->slp[now], before = w->slp[(now + 21) % 24];
    ISD_VALUES(SET)
}

void isd_weather_minute(isd_weather_t *w, int32_t minute) {
    int32_t near_hour = w->hour + (minute > 44);
    SET(minute, minute)
    SET(three, near_hour % 3 == 0)
    SET(six, near_hour % 6 == 0)
    SET(twelve, near_hour % 12 == 0)
}

void isd_weather_next(isd_weather_t *w) {
    w->hour = (w->hour + 1) % 24;
    w->days += !w->hour;
    int32_t local = w->hour + w->station.zone;
    calendar_date(w->days, &w->date);
    calendar_date(w->days + (local < 0 ? -1 : local > 23), &w->local);
    w->bits = chance_next(&w->chance);
    step_heat(w);
    step_event(w);
    step_water(w);
    step_pressure(w);
    step_wind(w);
    step_sky(w);
    step_values(w);
}

/* Runs through the day before, so that the last hours have values. */
void isd_weather_begin(isd_weather_t *w) {
    w->spread = w->station.damp;
    w->wind = w->station.wind;
    w->cloud = w->station.kind->cloud;
    w->event = w->events;
    w->bearing = isd_below(w, 360);
    w->pressure = noise(w, 1600);
    w->days--;
    for (int hour = 0; hour < 24; hour++)
        isd_weather_next(w);
}
