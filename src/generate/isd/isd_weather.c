#include "generate/isd/isd_weather.h"
#include "generate/shared/whole.h"

#include <stdlib.h>
#include <string.h>

/* Weather as the codes know it; the names are those of isd_values.h. Some events dim the sight only, the others fall. */
typedef struct {
    int32_t ww, wwagain, aw, awagain, au, auagain;
    bool snows;
    int32_t past;
    int32_t sight_low, sight_high; /* of the steps of visibility; the first is the farthest */
    int32_t drops;                 /* at most so many tenths of mm an hour */
    uint32_t warm, mild, cold;     /* shares, by temperature */
} event_t;

/* clang-format off */
static const event_t events[] = {
    /* ww     aw           au           snows past sight drops  warm mild cold */
    {  0,  0,  0,  0,       1,       1, false, 0,  0,  0,   0,   0,  0,  0}, /* nothing */
    { 10,  0, 10,  0,     101,     101, false, 0,  2,  9,   0,  90, 80, 60}, /* mist */
    { 45,  0, 30,  0,     201,     201, false, 4, 12, 15,   0,  10, 20, 14}, /* fog */
    {  5,  0,  5,  0,     701,     701, false, 0,  2,  6,   0,  17, 10,  2}, /* haze */
    { 36,  0, 27,  0,  200301,  200301, false, 3,  0,  3,   0,   0,  0, 26}, /* drifting snow */
    { 38,  0, 29,  0,  300301,  300301, false, 3,  5, 13,   0,   0,  0, 20}, /* blowing snow */
    { 44, 10, 30, 10,     201,     201, false, 4,  3, 10,   0,   6, 12,  4}, /* patches of fog */
    { 61,  0, 61,  0, 1002001,     101, false, 6,  0,  6,  14,  60, 50,  2}, /* light rain */
    { 61, 10, 10, 61, 1002001,     101, false, 6,  4, 10,  22,  30, 34,  2}, /* light rain and mist */
    { 51, 10, 10, 51, 1001001,     101, false, 5,  5, 11,   5,  16, 26,  2}, /* drizzle and mist */
    { 51,  0, 51,  0, 1001001,     101, false, 5,  1,  7,   4,  12, 18,  1}, /* drizzle */
    { 63,  0, 63,  0, 2002001,     101, false, 6,  4,  9,  70,  12, 10,  0}, /* rain */
    { 80,  0, 81,  0, 1802001,     101, false, 8,  0,  6,  30,  20, 12,  0}, /* showers */
    { 95, 61, 95, 63, 2702001,     101, false, 9,  2,  9, 200,  22,  2,  0}, /* thunderstorm */
    { 97, 63, 64, 95, 3702001,     101, false, 9,  9, 14, 250,   4,  0,  0}, /* heavy thunderstorm */
    { 71,  0, 71,  0, 1003001,     101, true,  7,  3, 10,   7,   0,  4, 64}, /* light snow */
    { 71, 10, 10, 71, 1003001,     101, true,  7,  7, 13,   9,   0,  3, 22}, /* light snow and mist */
    { 73,  0, 73,  0, 2003001,     101, true,  7, 11, 15,  20,   0,  1, 10}, /* snow */
    { 71, 38, 71, 27, 1003001,  300301, true,  7,  6, 14,   8,   0,  0, 16}, /* light snow, blowing */
    { 85,  0, 85,  0, 1803001,     101, true,  8,  1,  9,   8,   0,  2, 14}, /* showers of snow */
    { 56,  0, 56,  0, 1601001,     101, false, 5,  4, 10,   3,   0,  0,  6}, /* freezing drizzle */
    { 79, 61, 75, 61, 2005001,     101, false, 7,  4,  9,  12,   0,  1,  3}, /* ice pellets */
};
/* clang-format on */
enum { EVENTS = sizeof events / sizeof *events, FIRST_FALL = 7 };

/* Metres, for 10, 9, 8, 7... miles; hundreds of feet. */
enum { FARTHEST = 16093, HEIGHTS = 38 };
static const int32_t sights[] = {FARTHEST, 14484, 12875, 11265, 9656, 8047, 6437, 4828,
                                 4023,     3219,  2414,  2012,  1609, 1207, 805,  402};
static const uint8_t heights[HEIGHTS] = {2,  3,  4,  5,  6,  7,   8,   9,   10,  11,  12,  14, 15,
                                         17, 19, 20, 21, 23, 25,  28,  30,  33,  35,  40,  45, 50,
                                         55, 60, 70, 80, 90, 100, 120, 140, 150, 180, 200, 250};

static int32_t below(isd_weather_t *w, int32_t limit) {
    return (int32_t)isd_scene_below(&w->scene, (uint32_t)limit);
}

static bool happens(isd_weather_t *w, int32_t of1024) {
    return below(w, 1024) < of1024;
}

/* Between -size and size, most often near 0. */
static int32_t noise(isd_weather_t *w, int32_t size) {
    uint64_t bits = chance_next(&w->scene.chance);
    int32_t sum = (int32_t)(bits & 0xffff) + (int32_t)(bits >> 16 & 0xffff) - 0xffff;
    return (int32_t)((int64_t)sum * size / 0xffff);
}

/* ---- what falls or dims ---- */

static uint32_t share_of(const event_t *event, int32_t temp) {
    return temp > 120 ? event->warm : temp > 10 ? event->mild : event->cold;
}

static unsigned draw_event(isd_weather_t *w, int32_t temp, unsigned from, unsigned to) {
    uint32_t sum = 0;
    for (unsigned i = from; i < to; i++)
        sum += share_of(&events[i], temp);
    uint32_t draw = isd_scene_below(&w->scene, sum);
    for (; draw >= share_of(&events[from], temp); from++)
        draw -= share_of(&events[from], temp);
    return from;
}

/* What goes on or begins, at that temperature; it ends where it has grown too warm or too cold for it. */
static void step_event(isd_weather_t *w) {
    const isd_kind_t *kind = w->station.kind;
    int32_t temp = w->temp[w->time.hour];
    w->cloud += noise(w, 765) + (kind->cloud - w->cloud) / 8; /* mostly clear or overcast */
    w->cloud = whole_clamp(w->cloud, -1200, 2200);
    if (w->left && (!w->event || share_of(&events[w->event], temp))) {
        w->left--;
        return;
    }
    w->event = 0;
    if (w->cloud > 600 && happens(w, kind->wet * (w->cloud - 400) / 1024))
        w->event = draw_event(w, temp, FIRST_FALL, EVENTS);
    else if (happens(w, w->spread < 40 ? kind->hazy : kind->hazy / 3))
        w->event = draw_event(w, temp, 1, FIRST_FALL);
    w->left = below(w, w->event >= FIRST_FALL ? 4 : 3);
}

static void step_water(isd_weather_t *w) {
    const event_t *event = &events[w->event];
    int32_t now = w->time.hour;
    int32_t past = event->past ? event->past : w->cloud > 540 ? 2 : w->cloud > 460 ? 1 : 0;
    w->past[1] = w->past[0] < past ? w->past[0] : past;
    w->past[0] = past;
    w->rain[now] = below(w, event->drops + 1);
    if (event->snows)
        w->depth = whole_clamp(w->depth + 1, 0, 240);
    else if (w->depth && w->temp[now] > 0 && happens(w, 200 + w->temp[now]))
        w->depth--;
}

/* ---- the slow ones: heat, pressure, wind ---- */

static void step_heat(isd_weather_t *w) {
    const isd_station_t *s = &w->station;
    const isd_time_t *time = &w->time;
    int32_t summer = s->latitude < 0 ? 203 : 20,
            yearday = (int32_t)time->date.month * 30 + (int32_t)time->date.day;
    int32_t year = -whole_cosine((yearday - 30 - summer) * 100);
    int32_t day = whole_cosine((isd_local_hour(s, time->hour) - 15) * 1500); /* most at three */
    w->warmth += noise(w, 14) - w->warmth / 48;
    w->spread += noise(w, 16) + (s->damp - w->spread) / 12;
    if (w->event >= FIRST_FALL)
        w->spread -= w->spread / 3;
    w->spread = whole_clamp(w->spread, 0, 260);
    int32_t usual = s->mean + (s->season * year + s->daily * day) / 10000;
    int32_t temp = whole_clamp(usual + w->warmth, -680, 480);
    w->apart = whole_clamp(w->spread + day * s->damp / 20000, 0, 300);
    if (strchr(s->kind->flags, 'F')) { /* read in whole degF */
        temp = whole_rounded(whole_rounded(temp * 9 + 1600, 50) * 50 - 1600, 9);
        w->apart = whole_rounded(whole_rounded(w->apart * 9, 50) * 50, 9);
    }
    w->apart = whole_larger(w->apart, temp - 300);
    w->temp[time->hour] = temp;
}

static void step_pressure(isd_weather_t *w) {
    w->push += noise(w, 56) - w->push / 8 - w->pressure / 500;
    w->pressure = whole_clamp(w->pressure + w->push, -7200, 5600);
    w->slp[w->time.hour] = 10147 + w->pressure / 16;
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

static void step_sky(isd_weather_t *w) {
    static const int32_t another[ISD_LAYERS] = {0, 450, 330, 70}; /* above so many layers */
    const event_t *event = &events[w->event];
    int32_t lofty = strchr(w->station.kind->flags, 'L') ? 12 : 0,
            lower = 1; /* layers cover less than those above */
    w->oktas = whole_clamp((w->cloud * 9) >> 10, 0, 8);
    if (w->event >= FIRST_FALL && w->oktas < 5)
        w->oktas = 5 + below(w, 4);
    for (w->layers = w->oktas > 0; w->layers && w->layers < ISD_LAYERS && happens(w, another[w->layers]);)
        w->layers++;
    if (w->layers > 1 && w->oktas < 4)
        w->oktas = 3 + below(w, 6);
    if (happens(w, 256))
        w->ground = lofty + below(w, HEIGHTS - lofty);
    for (int32_t i = 0, at = w->ground; i < ISD_LAYERS; i++) {
        lower = i + 1 >= w->layers ? w->oktas : lower + below(w, w->oktas - lower + 1);
        w->eights[i] = i < w->layers ? lower : 0;
        w->step[i] = at;
        at = whole_clamp(at + 3 + below(w, 8), 0, HEIGHTS - 1);
    }
    int32_t sight = event->sight_low + below(w, event->sight_high - event->sight_low + 1);
    if (!w->event && happens(w, 110))
        sight = 1 + below(w, 3);
    w->vis = sights[sight];
    w->unsettled = w->event || happens(w, w->layers ? 170 : 20);
}

void isd_weather_step(isd_weather_t *w) {
    w->bits = chance_next(&w->scene.chance);
    step_heat(w);
    step_event(w);
    step_water(w);
    step_pressure(w);
    step_wind(w);
    step_sky(w);
}

void isd_weather_begin(isd_weather_t *w) {
    w->spread = w->station.damp;
    w->wind = w->station.wind;
    w->cloud = w->station.kind->cloud;
    w->bearing = below(w, 360);
    w->pressure = noise(w, 1600);
    int32_t begins = w->time.hour;
    for (; w->time.hour < 24; w->time.hour++)
        isd_weather_step(w);
    w->time.hour = begins;
}

/* ---- telling it ---- */

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

/* exp(-height / 8434 m) as the first terms of its series */
static int32_t at_height(int32_t pressure, int32_t height) {
    int64_t x = (int64_t)height * 1000000 / 8434;
    int64_t factor = 1000000 - x + x * x / 2000000 - x * x / 1000000 * x / 6000000;
    return (int32_t)(pressure * factor / 1000000);
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

/* Stratus lies low, cirrus high; what thunders is a cumulonimbus. */
static int32_t genus_of(const isd_weather_t *w, int32_t layer) {
    static const uint8_t genera[] = {7, 7, 6, 6, 8, 3, 4, 0};
    if (layer >= w->layers)
        return ISD_MISSING;
    return layer == 0 && events[w->event].past == 9 ? 9 : genera[w->step[layer] * 8 / HEIGHTS];
}

/* The lowest layer that covers more than half of the sky. */
static int32_t ceiling(const isd_weather_t *w) {
    for (int32_t layer = 0; layer < w->layers; layer++)
        if (class_of(w, layer) > 2)
            return base_of(w, layer);
    return 22000;
}

void isd_weather_tell(isd_weather_t *w) {
    const isd_station_t *s = &w->station;
    const isd_time_t *t = &w->time;
    const event_t *event = &events[w->event];
    int32_t now = t->hour, temp = w->temp[now], slp = w->slp[now], near_hour = now + (t->minute > 44);
#define TELL(name, expression) w->scene.value[ISD_##name] = (int32_t)(expression);
    ISD_VALUES(TELL)
#undef TELL
}
