#include "generate/isd/isd_lines.h"
#include "base/numbers.h"
#include "format/format.h"
#include "generate/shared/digits.h"
#include "generate/shared/whole.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One of the numbers below the limit for each index below it: a step by a prime that does not divide it visits all. */
static uint32_t spread(uint32_t index, uint32_t limit, uint64_t key) {
    const uint64_t prime = 100003; /* above all limits */
    return (uint32_t)((index * prime + key % limit) % limit);
}

/* The kind of a rank: the shares lie side by side, so often that there is a rank for each station, and every kind has its
 * share to within one; where they begin is random. */
static const isd_kind_t *kind_of(const isd_kind_t *kinds, size_t count, uint32_t rank, uint32_t stations,
                                 uint64_t start) {
    uint64_t sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += (uint64_t)kinds[k].share;
    uint64_t point = (rank * sum + ((start >> 32) * sum >> 32)) / stations;
    while (point >= (uint64_t)kinds->share)
        point -= (uint64_t)kinds++->share;
    return kinds;
}

/* Most ids end in 0, as most real ones do; when there are no more of these, the others follow. */
static uint32_t usaf_of(uint32_t index, const isd_kind_t *kind, uint64_t key) {
    uint32_t tens = (uint32_t)(kind->usaf_last - kind->usaf) / 10 + 1;
    return (uint32_t)kind->usaf + 10 * spread(index % tens, tens, key) + index / tens % 10;
}

/* `index` is its number: next to each other where they are of one kind; `shared` the key of all of them. */
static void name_station(isd_station_t *station, uint32_t index, uint64_t shared) {
    const isd_kind_t *kind = station->kind;
    uint32_t usaf = kind->usaf ? usaf_of(index, kind, shared) : 999999, wban = 99999;
    if (kind->wban)
        wban = (uint32_t)kind->wban + spread(index, (uint32_t)(kind->wban_last - kind->wban) + 1, shared);
    snprintf(station->ids, sizeof station->ids, "%06u%05u", usaf % 1000000, wban % 100000);
    if (strchr(kind->flags, 'A'))
        station->ids[0] = 'A';
    station->usaf = (int32_t)usaf / 10;
    bool any = *kind->call == '*';
    int begun = snprintf(station->call, sizeof station->call, "%s", any ? "" : kind->call);
    uint64_t letters = chance_bits(station->key, 20);
    for (int i = begun; i < 5; i++, letters /= 26)
        station->call[i] = i < (any ? 3 : 4) ? (char)('A' + letters % 26) : ' ';
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

isd_station_t isd_station_of(const isd_kind_t *kinds, size_t kind_count, uint32_t number, uint32_t stations,
                             uint64_t key) {
    uint32_t rank = spread(number, stations, chance_bits(key, 2));
    isd_station_t station = {.key = chance_bits(key, 16 + (uint64_t)number)};
    station.kind = kind_of(kinds, kind_count, rank, stations, chance_bits(key, 1));
    name_station(&station, rank, chance_bits(key, 3));
    place_station(&station);
    return station;
}

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

enum { HEAD, SECTIONS, REMARKS, ELEMENTS, ORIGINALS };
static const char markers[][4] = {"", "ADD", "REM", "EQD", "QNN"};
enum { LENGTH = 3 }; /* digits before the fields of a remark */

enum { VALUE, RANGE, CHOICE, QUALITY, CALL };

/* How a number is written: a sign before it, which may take a place of its width. */
enum { ALWAYS_SIGNED, UNSIGNED = 4 };
static const char format_names[] = "+-sm";
static const struct {
    char minus, plus;
    bool inside;
} formats[] = {{'-', '+', true}, {'-', 0, true}, {'1', '0', true}, {'M', 0, false}, {0}};

/* (number * times + plus) / by, rounded, and that taken `then` times. */
static const char conversion_names[] = " FCWIi";
static const struct {
    int32_t times, plus, by, then;
} conversions[] = {{1, 0, 1, 1},   {18, 3200, 100, 1},   {1, 0, 10, 1},
                   {1, 0, 10, 10}, {10000, 0, 33864, 1}, {100, 0, 254, 1}};

enum { MOST_BITS = 0xffff };

#define NAME(name, value) #name,
static const char *const names[] = {ISD_VALUES(NAME)};

/* ---- writing ---- */

static char *put_number(char *to, const isd_field_t *field, int64_t number) {
    unsigned width = field->width;
    if (number == ISD_MISSING) {
        memset(to, '9', width);
        if (field->format == ALWAYS_SIGNED)
            *to = '+';
        return to + width;
    }
    if (field->conversion) {
        number = number * conversions[field->conversion].times + conversions[field->conversion].plus;
        number =
            whole_rounded(number, conversions[field->conversion].by) * conversions[field->conversion].then;
    }
    char sign = number < 0 ? formats[field->format].minus : formats[field->format].plus;
    if (sign) {
        *to++ = sign;
        width -= formats[field->format].inside;
    }
    return digits_put_last(to, (uint32_t)llabs(number), width);
}

static char *put_choice(const isd_lines_t *all, uint16_t first, isd_scene_t *scene, char *to) {
    const isd_choice_t *choice = &all->choices[first];
    if (choice->below <= MOST_BITS)
        for (uint64_t bits = chance_next(&scene->chance) & MOST_BITS; bits >= choice->below;)
            choice++;
    return mempcpy(to, all->text + choice->at, choice->length);
}

static char *put_field(const isd_lines_t *all, const isd_field_t *field, char usual, isd_scene_t *scene,
                       char *to) {
    bool was_missing = scene->missing;
    scene->missing = false;
    if (field->kind == CHOICE)
        return put_choice(all, field->at, scene, to);
    if (field->kind == CALL)
        return mempcpy(to, scene->call, sizeof scene->call);
    if (field->kind == QUALITY) {
        *to = '9';
        return was_missing ? to + 1
                           : put_choice(all, all->mixes[field->at ? field->at : usual & 127], scene, to);
    }
    int32_t number = field->kind == VALUE ? scene->value[field->at]
                                          : field->low + (int32_t)isd_scene_below(scene, field->span);
    if (field->missing && isd_scene_below(scene, 1000) < field->missing)
        number = ISD_MISSING;
    scene->missing = number == ISD_MISSING;
    return put_number(to, field, number);
}

bool isd_lines_hold(const isd_lines_t *all, isd_span_t conditions, isd_scene_t *scene) {
    const isd_condition_t *at = all->conditions + conditions.first, *end = at + conditions.count;
    for (; at < end; at++) {
        int32_t value =
            at->value == ISD_VALUE_COUNT ? (int32_t)isd_scene_below(scene, 1000) : scene->value[at->value];
        if (value < at->low || value > at->high)
            return false;
    }
    return true;
}

char *isd_lines_put(const isd_lines_t *all, isd_span_t lines, char usual, isd_scene_t *scene, char *to) {
    bool open = false, said = false;
    uint8_t part = HEAD;
    char *remark = NULL; /* the fields of the one that is being written */
    for (const isd_line_t *line = all->lines + lines.first, *end = line + lines.count; line < end; line++) {
        bool says = (!line->goes_on || open) && !(line->otherwise && said) &&
                    isd_lines_hold(all, line->conditions, scene);
        said = says || (line->otherwise && said);
        open = line->goes_on ? open : says;
        if (!says)
            continue;
        if (!line->goes_on) {
            to = stpcpy(line->part == part ? to : stpcpy(to, markers[line->part]), line->name);
            part = line->part;
            remark = part == REMARKS ? to += LENGTH : NULL;
        }
        const isd_field_t *field = all->fields + line->fields.first;
        for (uint16_t i = 0; i < line->fields.count; i++)
            to = put_field(all, &field[i], usual, scene, to);
        if (remark)
            digits_put_into(remark - LENGTH, (uint32_t)(to - remark), LENGTH);
    }
    return to;
}

/* ---- reading ---- */

/* No user can bring that about. */
static void refuse(isd_lines_t *all, const char *word) {
    if (!*all->wrong)
        snprintf(all->wrong, sizeof all->wrong, "%s", word);
}

static bool find_value(const char *name, size_t length, uint16_t *which) {
    for (*which = 0; *which < ISD_VALUE_COUNT; ++*which)
        if (strlen(names[*which]) == length && memcmp(names[*which], name, length) == 0)
            return true;
    return false;
}

/* "2" or "0.2", in thousandths of a hundred. */
static bool read_percent(const char *text, int32_t *permille) {
    double percent = 0;
    const size_t length = number_read(text, strlen(text), &percent);
    *permille = (int32_t)(percent * 10 + 0.5);
    return length && strcmp(text + length, "%") == 0;
}

/* "text*share|text*share"; a share that is not given is 1. Returns the first one. */
static uint16_t read_choices(isd_lines_t *all, const char *from) {
    isd_choice_t *first = all->choices + all->choice_count, *end = all->choices + all->choice_count;
    uint32_t sum = 0;
    for (bool more = true; more; more = *from++ == '|') {
        uint16_t length = (uint16_t)strcspn(from, "*|");
        memcpy(all->text + all->text_size, from, length);
        from += length;
        sum += *from == '*' ? (uint32_t)strtoul(from + 1, (char **)&from, 10) : 1;
        *end++ = (isd_choice_t){.below = sum, .at = (uint16_t)all->text_size, .length = length};
        all->text_size += length;
    }
    if (from[-1])
        refuse(all, from - 1);
    for (isd_choice_t *choice = first; choice < end; choice++)
        choice->below = (uint32_t)(((uint64_t)choice->below << 16) / sum);
    all->choice_count = (size_t)(end - all->choices);
    return (uint16_t)(first - all->choices);
}

/* "temp/F:+5?3%" or "0..360:3", or not a number at all: false. */
static bool read_number(const char *word, isd_field_t *field) {
    size_t length = strcspn(word, "/:");
    int low, high, used = 0;
    int32_t missing = 0;
    *field = (isd_field_t){.kind = VALUE};
    if (sscanf(word, "%d..%d%n", &low, &high, &used) == 2 && (size_t)used == length)
        *field = (isd_field_t){.kind = RANGE, .low = low, .span = (uint32_t)(high - low) + 1};
    else if (!find_value(word, length, &field->at))
        return false;
    word += length;
    if (*word == '/') {
        field->conversion = (uint8_t)strcspn(conversion_names, (char[]){word[1], '\0'});
        word += 2;
    }
    word += *word == ':';
    field->format = (uint8_t)strcspn(format_names, (char[]){*word, '\0'});
    word += field->format < UNSIGNED;
    field->width = (uint8_t)(*word++ - '0');
    if (*word == '?' && !read_percent(word + 1, &missing))
        return false;
    field->missing = (uint16_t)missing;
    return field->width >= 1 && field->width <= 8 && conversion_names[field->conversion] &&
           (missing || !*word);
}

static void read_field(isd_lines_t *all, char *word, isd_field_t *field) {
    for (char *at = word; (at = strchr(at, '_')); *at = ' ')
        ;
    bool any_text = strchr(word, '|') || !(islower((unsigned char)*word) || strstr(word, ".."));
    if (strcmp(word, "call") == 0)
        *field = (isd_field_t){.kind = CALL};
    else if (*word == 'q' && (!word[1] || !word[2]))
        *field = (isd_field_t){.kind = QUALITY, .at = (uint16_t)(word[1] & 127)};
    else if (any_text)
        *field = (isd_field_t){.kind = CHOICE, .at = read_choices(all, word)};
    else if (!read_number(word, field))
        refuse(all, word);
}

static void read_fields(isd_lines_t *all, char *text, isd_span_t *fields) {
    fields->first = (uint16_t)all->field_count;
    for (char *word; *(word = facts_word(&text));)
        read_field(all, word, &all->fields[all->field_count++]);
    fields->count = (uint16_t)(all->field_count - fields->first);
}

static const section_t *section_of(const schema_t *format, const char *name) {
    for (const section_t *section = format->sections; section < format->sections + format->section_count;
         section++)
        if (section_lists(section, name))
            return section;
    return NULL;
}

/* Heat and pressure as they are, others below a tenth of what the field has room for; mostly there. */
static isd_field_t any_field(const field_t *field) {
    bool sign = field->sign == SIGN_ALWAYS, heat = strcasestr(field->name, "temperature"),
         pressure = strcasestr(field->name, "pressure") || strcasestr(field->name, "altimeter");
    bool quality = field->width == 1 && strcasestr(field->name, "quality");
    isd_field_t any = {
        .kind = RANGE, .width = (uint8_t)field->width, .low = quality, .span = quality ? 1 : 10};
    for (int digits = field->width - sign; digits > 2; digits--)
        any.span *= 10;
    any.format = sign ? ALWAYS_SIGNED : UNSIGNED;
    any.missing = field->nulls.count ? 20 : 0;
    if ((field->type == TYPE_INT || field->type == TYPE_NUMBER) && (heat || pressure)) {
        any.kind = VALUE;
        any.at = heat ? ISD_temp : ISD_alt;
    }
    return any;
}

/* Of a section of which no line says what it holds. */
static void add_any_fields(isd_lines_t *all, const section_t *section, isd_span_t *fields) {
    *fields = (isd_span_t){(uint16_t)all->field_count, (uint16_t)section->field_count};
    for (size_t i = 0; i < section->field_count; i++)
        all->fields[all->field_count++] = any_field(&section->fields[i]);
}

/* "temp<0", "calm" (above 0), "!calm" (0), "40%" */
static bool read_condition(const char *word, isd_condition_t *condition) {
    bool not = *word == '!';
    size_t length = strcspn(word += not, "<>=");
    char relation = word[length], *end = "";
    bool or_equal = strncmp(word + length, ">=", 2) == 0;
    int32_t number, permille;
    if (read_percent(word, &permille)) {
        *condition = (isd_condition_t){.value = ISD_VALUE_COUNT, .high = permille - 1};
        return true;
    }
    number = relation ? (int32_t)strtol(word + length + 1 + or_equal, &end, 10) : !not ;
    condition->low = relation == '<' ? INT32_MIN : number + (relation == '>' && !or_equal);
    condition->high = relation == '<' ? number - 1 : relation == '=' || not ? number : INT32_MAX;
    return find_value(word, length, &condition->value) && !*end;
}

static void read_conditions(isd_lines_t *all, char *text, isd_span_t *conditions) {
    conditions->first = (uint16_t)all->condition_count;
    for (char *word; *(word = facts_word(&text));)
        if (!read_condition(word, &all->conditions[all->condition_count++]))
            refuse(all, word);
    conditions->count = (uint16_t)(all->condition_count - conditions->first);
}

static bool has_room(const isd_lines_t *all) {
    return all->line_count < ISD_LINES && all->condition_count + ISD_LINE_LENGTH / 2 <= ISD_CONDITIONS &&
           all->field_count + ISD_LINE_LENGTH <= ISD_FIELDS &&
           all->choice_count + ISD_LINE_LENGTH <= ISD_CHOICES && all->text_size + ISD_LINE_LENGTH <= ISD_TEXT;
}

static uint8_t part_of(const char *name) {
    if (*name == '+' || islower((unsigned char)*name))
        return HEAD;
    if (strcmp(name, "QNN") == 0)
        return ORIGINALS;
    return isdigit((unsigned char)name[1]) ? ELEMENTS : isdigit((unsigned char)name[2]) ? SECTIONS : REMARKS;
}

/* " if layers>=#: okta#:2 q", behind a name; its digit in place of each #. Without fields it is a section of the format. */
static void add_line(isd_lines_t *all, const char name[4], const char *behind) {
    char text[ISD_LINE_LENGTH], *when = text;
    snprintf(text, sizeof text, "%s", behind);
    for (char *at = text; (at = strchr(at, '#')); *at = name[2])
        ;
    char *colon = strstr(text, ": ");
    if (!has_room(all) || strlen(behind) >= sizeof text)
        return refuse(all, behind);
    if (colon)
        *colon = '\0';
    const char *word = facts_word(&when);
    isd_line_t *line = &all->lines[all->line_count++];
    *line =
        (isd_line_t){.part = part_of(name), .goes_on = *name == '+', .otherwise = strcmp(word, "else") == 0};
    if (line->part != HEAD && line->part != ORIGINALS)
        memcpy(line->name, name, sizeof line->name);
    if (*word && !line->otherwise && strcmp(word, "if") != 0)
        refuse(all, word);
    read_conditions(all, when, &line->conditions);
    const section_t *section = colon ? NULL : section_of(all->format, name);
    if (colon)
        read_fields(all, colon + 2, &line->fields);
    else if (section)
        add_any_fields(all, section, &line->fields);
    else
        refuse(all, name);
}

/* Of each of the names in "GA1-3,GE1". */
void isd_lines_add(isd_lines_t *all, const char *text) {
    const char *behind = text + strcspn(text, " :");
    for (const char *at = text; at < behind; at += strcspn(at, ",") + 1) {
        char name[4] = "";
        for (size_t i = 0; i < 3 && !strchr(", :-", at[i]); i++)
            name[i] = at[i];
        char last = name[2] && at[3] == '-' ? at[4] : name[2];
        do
            add_line(all, name, behind);
        while (name[2]++ < last);
    }
}

/* ---- the data files ---- */

static void read_kind(isd_lines_t *all, const char *name, char *rest) {
    isd_kind_t *kind = &all->kinds[all->kind_count++];
    kind->name = name;
    kind->share = facts_number(&rest);
    facts_range(&rest, &kind->first_year, &kind->last_year);
    facts_range(&rest, &kind->usaf, &kind->usaf_last);
    facts_range(&rest, &kind->wban, &kind->wban_last);
    for (int32_t *number = &kind->south; number <= &kind->a_day; number++) /* in the order of the columns */
        *number = facts_number(&rest);
    kind->flags = facts_word(&rest);
    kind->call = facts_word(&rest);
}

/* "0,3,6-9" */
static uint32_t read_bits(char *word) {
    uint32_t bits = 0;
    for (char *one; (one = strsep(&word, ","));) {
        int32_t low, high;
        facts_range(&one, &low, &high);
        for (; low <= high; low++)
            bits |= 1u << low;
    }
    return bits;
}

/* "US-airport hours 0-23 minute 5-55/5 quality 1 if unsettled" */
static isd_span_t *begin_report(isd_lines_t *all, char *rest) {
    isd_report_t *report = &all->reports[all->report_count++];
    const char *name = facts_word(&rest);
    isd_kind_t *kind = all->kinds;
    while (kind < all->kinds + all->kind_count && strcmp(kind->name, name) != 0)
        kind++;
    if (kind == all->kinds + all->kind_count)
        refuse(all, name);
    if (!kind->reports++)
        kind->first = all->report_count - 1;
    facts_word(&rest);
    report->hours = read_bits(facts_word(&rest));
    facts_word(&rest);
    char *minutes = facts_word(&rest), *every = strchr(minutes, '/');
    report->every = every ? (int32_t)strtol(every + 1, NULL, 10) : 0;
    facts_range(&minutes, &report->minute, &report->last_minute);
    facts_word(&rest);
    report->usual = *facts_word(&rest);
    facts_word(&rest);
    read_conditions(all, rest, &report->conditions);
    return &report->lines;
}

static void use(isd_lines_t *all, const char *name) {
    size_t let = 0;
    while (let < all->let_count && strcmp(all->lets[let].name, name) != 0)
        let++;
    isd_span_t lines = all->lets[let].lines;
    if (let == all->let_count || lines.count > ISD_LINES - all->line_count)
        return refuse(all, name);
    memcpy(all->lines + all->line_count, all->lines + lines.first, lines.count * sizeof *all->lines);
    all->line_count += lines.count;
}

/* Does the line begin with this word? Then it goes on behind it. */
static bool begins(char **line, const char *word) {
    size_t length = strncmp(*line, word, strlen(word)) == 0 ? strlen(word) : 0;
    *line += length;
    return length;
}

static void read_reports(isd_lines_t *all) {
    isd_span_t none = {0, 0}, *lines = &none; /* of what was begun last */
    for (char *line; (line = facts_line(&all->reports_file));) {
        uint16_t count = (uint16_t)all->line_count;
        if (begins(&line, "let ")) {
            all->lets[all->let_count].name = line;
            lines = &all->lets[all->let_count++].lines;
            lines->first = count;
        } else if (begins(&line, "report ")) {
            lines = begin_report(all, line);
            lines->first = count;
        } else if (begins(&line, "quality ")) {
            all->mixes[*line & 127] = read_choices(all, line + strlen("5: "));
        } else if (begins(&line, "use ")) {
            use(all, line);
        } else {
            isd_lines_add(all, line);
        }
        lines->count = (uint16_t)(all->line_count - lines->first);
    }
}

bool isd_lines_open(isd_lines_t *all, odd_plan_t *odd, err_t *err) {
    if (!facts_open(&all->stations_file, "isd-stations", err) ||
        !facts_open(&all->reports_file, "isd-reports", err) || !(all->format = format_open("isd", err)))
        return false;
    for (char *rest; (rest = facts_line(&all->stations_file));) {
        const char *word = facts_word(&rest);
        if (strcmp(word, "odd") == 0)
            odd_add(odd, rest);
        else
            read_kind(all, word, rest);
    }
    read_reports(all);
    return !*all->wrong || err_set(err, STATUS_USAGE,
                                   "the data of generated weather cannot be understood at '%s'", all->wrong);
}

void isd_lines_close(isd_lines_t *all) {
    free(all->stations_file.text);
    free(all->reports_file.text);
    schema_destroy(all->format);
}
