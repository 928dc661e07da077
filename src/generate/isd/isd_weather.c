#include "generate/isd/isd_weather.h"
#include "generate/isd/isd_sky.h"
#include "generate/shared/whole.h"

#include <stdlib.h>

int32_t isd_weather_noise(isd_scene_t *scene, int32_t size) {
    uint64_t bits = isd_scene_bits(scene);
    int32_t sum = (int32_t)(bits & 0xffff) + (int32_t)(bits >> 16 & 0xffff) - 0xffff;
    return (int32_t)((int64_t)sum * size / 0xffff);
}
#define noise isd_weather_noise

/* ---- heat and damp ---- */

/* The hour's part of the day's swing, in 10000ths: most at three. */
static int32_t warmth_of(int32_t local_hour) {
    return whole_cosine((local_hour - 15) * 1500);
}

static int32_t in_whole_fahrenheit(int32_t tenths) {
    int32_t degrees = whole_rounded((int64_t)tenths * 18 + 3200, 100);
    return whole_rounded((int64_t)(degrees - 32) * 500, 90);
}

static void tell_heat(isd_weather_t *w, isd_scene_t *scene, int32_t yearday) {
    const isd_climate_t *climate = &w->climate;
    int32_t *n = scene->number, day = warmth_of(n[ISD_N_lhour]);
    int32_t year = -whole_cosine((yearday - (climate->latitude < 0 ? 203 : 20)) * 99);
    w->warmth += noise(scene, 14) - w->warmth / 48;
    w->spread += noise(scene, 16) + (climate->damp - w->spread) / 12;
    if (isd_sky_falls(w->event))
        w->spread -= w->spread / 3;
    w->spread = whole_clamp(w->spread, 0, 260);
    int32_t usual = climate->mean + (climate->season * year + climate->daily * day) / 10000;
    int32_t temp = whole_clamp(usual + w->warmth, -680, 480);
    int32_t below = whole_clamp(w->spread + day * climate->damp / 20000, 0, 300);
    int32_t dew = whole_clamp(temp - below, -750, 300);
    if (climate->fahrenheit) {
        temp = in_whole_fahrenheit(temp);
        dew = in_whole_fahrenheit(dew);
    }
    int32_t apart = temp - dew;
    n[ISD_N_temp] = temp;
    n[ISD_N_dew] = dew;
    n[ISD_N_wet] = temp - apart * 2 / 5;
    n[ISD_N_whole] = whole_rounded(temp, 10) * 10;
    n[ISD_N_wholedew] = whole_rounded(dew, 10) * 10;
    n[ISD_N_rh] = whole_clamp(apart < 120 ? 100 - apart / 2 : 40 - (apart - 120) / 6, 6, 100);
    n[ISD_N_sea] = whole_clamp(climate->mean + climate->season / 2 + noise(scene, 12), -18, 310);
}

/* Of the six hours, the twelve and the day. */
static void tell_extremes(isd_weather_t *w, isd_scene_t *scene, bool new_block) {
    int32_t *n = scene->number, temp = n[ISD_N_temp];
    isd_extremes_t all = {temp, temp};
    for (size_t i = 0; i < ISD_WEATHER_BLOCKS && (new_block || !w->begun); i++)
        w->block[i] = i + 1 < ISD_WEATHER_BLOCKS && w->begun ? w->block[i + 1] : all;
    w->begun = true;
    for (size_t i = ISD_WEATHER_BLOCKS; i-- > 0;) {
        static const uint8_t told[ISD_WEATHER_BLOCKS] = {ISD_N_max24, 0, ISD_N_max12, ISD_N_max6};
        isd_extremes_t *block = &w->block[i];
        all = (isd_extremes_t){whole_larger(all.high, block->high), -whole_larger(-all.low, -block->low)};
        if (i == ISD_WEATHER_BLOCKS - 1)
            *block = all;
        if (told[i]) {
            n[told[i]] = all.high;
            n[told[i] + 1] = all.low;
        }
    }
    int32_t avg = (n[ISD_N_max24] + n[ISD_N_min24]) / 2, warmer = whole_rounded(avg * 18 - 3300, 100);
    n[ISD_N_avg] = avg;
    n[ISD_N_heat] = whole_clamp(-warmer, 0, 99); /* from 65 degF */
    n[ISD_N_cool] = whole_clamp(warmer, 0, 99);
}

/* ---- pressure ---- */

/* exp(-elevation / 8434 m) as the first terms of its series */
static int32_t at_elevation(int32_t pressure, int32_t elevation) {
    int64_t x = (int64_t)elevation * 1000000 / 8434;
    int64_t factor = 1000000 - x + x * x / 2000000 - x * x / 1000000 * x / 6000000;
    return (int32_t)(pressure * factor / 1000000);
}

static void tell_pressure(isd_weather_t *w, isd_scene_t *scene, int32_t hours) {
    static const char tendencies[2][3][10] = {
        {"777788665", "444555000", "222233110"},
        {"888866657", "455550000", "333111002"}}; /* US: the other mix */
    int32_t *n = scene->number, hour = n[ISD_N_hour];
    for (int32_t i = 0; i < (hours > 3 ? 3 : hours); i++) {
        w->push += noise(scene, 56) - w->push / 8 - w->pressure / 500;
        w->pressure = whole_clamp(w->pressure + w->push, -7200, 5600);
    }
    int32_t slp = 10147 + w->pressure / 16, change = slp - w->slp[(hour + 21) % 24];
    n[ISD_N_change3] = whole_clamp(abs(change), 0, 499);
    n[ISD_N_change24] = whole_clamp(slp - w->slp[hour], -499, 499);
    for (int32_t i = 0; i < hours && i < 24; i++)
        w->slp[(hour + 24 - i) % 24] = slp;
    uint32_t draw = isd_scene_below(scene, 9), way = change < 0 ? 0 : change == 0 ? 1 : 2;
    n[ISD_N_tend] = tendencies[0][way][draw] - '0';
    n[ISD_N_tendus] = tendencies[1][way][draw] - '0';
    n[ISD_N_slp] = slp;
    n[ISD_N_stp] = at_elevation(slp, w->climate.elevation);
    /* hundredths of inches, back in hPa */
    int32_t inches = whole_rounded((int64_t)(slp + w->climate.elevation % 7 - 3) * 10000, 33864);
    n[ISD_N_alt] = whole_rounded((int64_t)inches * 33864, 10000);
    n[ISD_N_qnh] = slp / 10 * 10;
}

/* ---- wind ---- */

static int32_t speed_of(int32_t knots) {
    return whole_rounded((int64_t)knots * 5144, 1000);
}

static int32_t direction(int32_t degrees) {
    return degrees % 360 ? degrees % 360 : 360;
}

static void tell_wind(isd_weather_t *w, isd_scene_t *scene) {
    static const int16_t beaufort[] = {10, 26, 46, 67, 93, 123, 154, 190, 226, 265, 309};
    int32_t *n = scene->number, force = 0;
    w->wind = whole_clamp(w->wind + noise(scene, 28) - (w->wind - w->climate.wind) / 10, -12, 420);
    w->bearing = (w->bearing + noise(scene, 36) + 360) % 360;
    int32_t knots = whole_rounded((int64_t)whole_clamp(w->wind + noise(scene, 14), 0, 450) * 1944, 10000);
    if (knots < 3)
        knots = isd_scene_happens(scene, (uint32_t)w->climate.still) ? 0 : 3;
    bool variable = knots && knots < 7 && isd_scene_happens(scene, 60);
    int32_t dir = direction(w->bearing / 10 * 10);
    n[ISD_N_bearing] = dir;
    n[ISD_N_calm] = !knots;
    n[ISD_N_variable] = variable;
    n[ISD_N_dir] = knots ? dir : ISD_MISSING;
    n[ISD_N_dir10] = knots ? variable ? 99 : dir / 10 : 0;
    n[ISD_N_swing] = knots && !variable && isd_scene_happens(scene, 250);
    n[ISD_N_dirlow] = direction(dir + 320);
    n[ISD_N_dirhigh] = direction(dir + 40);
    n[ISD_N_knots] = knots;
    n[ISD_N_speed] = speed_of(knots);
    n[ISD_N_speedms] = whole_rounded(n[ISD_N_speed], 10) * 10;
    while (force < 10 && beaufort[force + 1] <= n[ISD_N_speed])
        force++;
    n[ISD_N_force] = knots ? beaufort[force] : 0;
    n[ISD_N_gusty] = knots > 9 && isd_scene_happens(scene, (uint32_t)(knots - 7) * 90);
    n[ISD_N_gustknots] = knots + 5 + knots / 3 + (int32_t)isd_scene_below(scene, 4);
    n[ISD_N_gust] = speed_of(n[ISD_N_gustknots]);
    n[ISD_N_speedgust] = whole_rounded(n[ISD_N_gust], 10) * 10;
}

/* ---- water ---- */

/* Sums belong to the hours up to 00, 03, 06..., inclusive; those of days to those from 06 to 06. */
static bool passes(int32_t hour, int32_t hours, int32_t each, int32_t from) {
    return hours >= each || (hour + 47 - from) / each != (hour + 47 - from - hours) / each;
}

static void tell_water(isd_weather_t *w, isd_scene_t *scene, int32_t hours) {
    int32_t *n = scene->number, rain = n[ISD_N_rain1], hour = n[ISD_N_hour];
    w->rain3 = rain + (passes(hour, hours, 3, 0) ? 0 : w->rain3);
    w->rain6 = rain + (passes(hour, hours, 6, 0) ? 0 : w->rain6);
    w->rain24 = passes(hour, hours, 24, 6) ? rain : whole_clamp(w->rain24 + rain, 0, 4000);
    if (n[ISD_N_snows])
        w->depth = whole_clamp(w->depth + 1, 0, 240);
    else if (w->depth && n[ISD_N_temp] > 0 && isd_scene_happens(scene, 200 + (uint32_t)n[ISD_N_temp]))
        w->depth--;
    n[ISD_N_rain3] = w->rain3;
    n[ISD_N_rain6] = w->rain6;
    n[ISD_N_rain24] = w->rain24;
    n[ISD_N_mm6] = w->rain6 > 9 ? w->rain6 / 10 : 990 + w->rain6; /* 990 is a trace, 991 to 999 are tenths */
    n[ISD_N_depth] = w->depth;
    n[ISD_N_snow24] = n[ISD_N_snows] ? 1 + (int32_t)isd_scene_below(scene, 9) : 0;
}

/* ---- the sun ---- */

static void tell_sun(const isd_weather_t *w, isd_scene_t *scene, int32_t yearday) {
    int32_t *n = scene->number, lat = w->climate.latitude / 10;
    int32_t declination = -2344 * whole_cosine((yearday + 10) * 99) / 10000;
    int32_t noon = (n[ISD_N_hour] * 15000 + n[ISD_N_minute] * 250 + w->climate.longitude - 180000) / 10;
    int64_t level = (int64_t)whole_cosine(lat) * whole_cosine(declination) / 10000;
    int32_t up =
        (int32_t)((int64_t)whole_sine(lat) * whole_sine(declination) + level * whole_cosine(noon)) / 10000;
    int32_t zenith = 0, dim = 8 - n[ISD_N_oktas], space = up > 0 ? 1361 * up / 10000 : 0;
    for (int32_t step = 1024; step; step /= 2)
        if (zenith + step <= 1800 && whole_cosine((zenith + step) * 10) > up)
            zenith += step;
    n[ISD_N_zenith] = zenith;
    n[ISD_N_azimuth] = whole_clamp(1800 + noon / 10, 0, 3599);
    n[ISD_N_space] = space;
    n[ISD_N_direct] = up > 400 ? 900 * dim / 8 : 0;
    n[ISD_N_global] = space * 3 / 4 * (dim * 2 + 4) / 20;
    n[ISD_N_diffuse] = n[ISD_N_global] * (n[ISD_N_oktas] + 2) / 12;
}

/* ---- the month ---- */

/* At the end of a local day; the month's first one begins its sums. */
static void tell_month(isd_scene_t *scene) {
    int32_t *n = scene->number, rain = n[ISD_N_rain24];
    bool first = n[ISD_N_lday] == 1;
    if (first)
        n[ISD_N_mrain] = n[ISD_N_mmost] = n[ISD_N_mwetdays] = n[ISD_N_mheat] = n[ISD_N_mcool] = 0;
    if (first || rain > n[ISD_N_mmost]) {
        n[ISD_N_mmost] = rain;
        n[ISD_N_mmostday] = n[ISD_N_lday];
    }
    n[ISD_N_mrain] += rain;
    n[ISD_N_mwetdays] += rain > 0;
    n[ISD_N_mheat] += n[ISD_N_heat];
    n[ISD_N_mcool] += n[ISD_N_cool];
    n[ISD_N_mmax] = first ? n[ISD_N_max24] : whole_larger(n[ISD_N_mmax], n[ISD_N_max24]);
    n[ISD_N_mmin] = first ? n[ISD_N_min24] : -whole_larger(-n[ISD_N_mmin], -n[ISD_N_min24]);
}

void isd_weather_init(isd_weather_t *w, const isd_climate_t *climate, isd_scene_t *scene) {
    *w = (isd_weather_t){
        .climate = *climate, .spread = climate->damp, .wind = climate->wind, .cloud = climate->cloud};
    w->bearing = (int32_t)isd_scene_below(scene, 360);
    w->ground = (int32_t)isd_scene_below(scene, ISD_SKY_HEIGHTS);
    w->pressure = noise(scene, 1600);
    for (size_t i = 0; i < 24; i++)
        w->slp[i] = 10147 + w->pressure / 16;
    scene->number[ISD_N_mmostday] = 1;
}

void isd_weather_step(isd_weather_t *w, isd_scene_t *scene, int32_t hours, int32_t yearday) {
    int32_t *n = scene->number;
    isd_sky_step(w, scene, (unsigned)hours);
    tell_heat(w, scene, yearday);
    tell_extremes(w, scene, passes(n[ISD_N_hour], hours, 6, 0));
    tell_pressure(w, scene, hours);
    tell_wind(w, scene);
    isd_sky_tell(w, scene);
    tell_water(w, scene, hours);
    if (w->climate.sun)
        tell_sun(w, scene, yearday);
    if (n[ISD_N_lhour] == 23)
        tell_month(scene);
}
