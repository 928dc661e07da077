#include "generate/isd/isd_weather.h"
#include "generate/isd/isd_sky.h"

#include <stdlib.h>

/* sin(i * 90 degrees / 64) in 1024ths */
static const int16_t quarter[65] = {0,   25,  50,  75,  100,  125,  150,  175,  200,  224,  249,  273,  297,
                                    321, 345, 369, 392, 415,  438,  460,  483,  505,  526,  548,  569,  590,
                                    610, 630, 650, 669, 688,  706,  724,  742,  759,  775,  792,  807,  822,
                                    837, 851, 865, 878, 891,  903,  915,  926,  936,  946,  955,  964,  972,
                                    980, 987, 993, 999, 1004, 1009, 1013, 1016, 1019, 1021, 1023, 1024, 1024};

/* Of 256ths of a turn. */
static int32_t sine(int32_t turn) {
    uint32_t at = (uint32_t)turn & 255, part = at & 63;
    switch (at >> 6) {
    case 0:
        return quarter[part];
    case 1:
        return quarter[64 - part];
    case 2:
        return -quarter[part];
    default:
        return -quarter[64 - part];
    }
}

static int32_t cosine(int32_t turn) {
    return sine(turn + 64);
}

static int32_t turn_of(int32_t thousandths_of_degrees) {
    return thousandths_of_degrees * 32 / 45000;
}

/* The angle from 0 to 180 degrees, in tenths, whose cosine that is. */
static int32_t tenths_of_cosine(int32_t wanted) {
    int32_t size = abs(wanted), at = 0;
    while (at < 64 && quarter[64 - at] > size)
        at++;
    int32_t angle = at * 225 / 16; /* 900 / 64 */
    return wanted < 0 ? 1800 - angle : angle;
}

static int32_t clamp(int32_t value, int32_t low, int32_t high) {
    return value < low ? low : value > high ? high : value;
}

/* Between -size and size, most often near 0. */
static int32_t noise(isd_scene_t *scene, int32_t size) {
    uint64_t bits = isd_scene_bits(scene);
    int32_t sum = (int32_t)(bits & 0xffff) + (int32_t)(bits >> 16 & 0xffff) - 0xffff;
    return (int32_t)((int64_t)sum * size / 0xffff);
}

static int32_t rounded(int64_t value, int64_t by) {
    return (int32_t)((value < 0 ? value - by / 2 : value + by / 2) / by);
}

static int32_t in_fahrenheit(int32_t tenths) {
    return rounded((int64_t)tenths * 18 + 3200, 100);
}

static int32_t of_fahrenheit(int32_t degrees) {
    return rounded((int64_t)(degrees - 32) * 500, 90);
}

static int32_t in_inches(int32_t tenths_of_hpa) { /* hundredths */
    return rounded((int64_t)tenths_of_hpa * 10000, 33864);
}

/* ---- heat and damp ---- */

static int32_t usual(const isd_climate_t *climate, unsigned yearday, int32_t local_hour) {
    int32_t coldest = climate->latitude < 0 ? 203 : 20;
    int32_t year = -cosine(((int32_t)yearday - coldest) * 256 / 365);
    int32_t day = cosine((local_hour - 15) * 256 / 24);
    return climate->mean + (climate->season * year + climate->daily * day) / 1024;
}

static void tell_heat(isd_weather_t *w, isd_scene_t *scene, unsigned yearday) {
    const isd_climate_t *climate = &w->climate;
    int32_t *n = scene->number, hour = (n[ISD_N_hour] + climate->zone + 24) % 24;
    w->warmth += noise(scene, 14) - w->warmth / 48;
    w->spread += noise(scene, 16) + (climate->damp - w->spread) / 12;
    if (isd_sky_falls(w->event))
        w->spread -= w->spread / 3;
    w->spread = clamp(w->spread, 0, 260);
    int32_t sunny = cosine((hour - 15) * 256 / 24) * (climate->damp / 2) / 1024;
    int32_t temp = clamp(usual(climate, yearday, hour) + w->warmth, -680, 480);
    int32_t dew = clamp(temp - clamp(w->spread + sunny, 0, 300), -750, 300);
    n[ISD_N_tempf] = in_fahrenheit(temp);
    n[ISD_N_dewf] = in_fahrenheit(dew);
    if (climate->fahrenheit) {
        temp = of_fahrenheit(n[ISD_N_tempf]);
        dew = of_fahrenheit(n[ISD_N_dewf]);
    }
    int32_t apart = temp - dew;
    n[ISD_N_temp] = temp;
    n[ISD_N_dew] = dew;
    n[ISD_N_wet] = temp - apart * 2 / 5;
    n[ISD_N_wetf] = in_fahrenheit(n[ISD_N_wet]);
    n[ISD_N_tempc] = rounded(temp, 10);
    n[ISD_N_dewc] = rounded(dew, 10);
    n[ISD_N_whole] = n[ISD_N_tempc] * 10;
    n[ISD_N_wholedew] = n[ISD_N_dewc] * 10;
    n[ISD_N_rh] = clamp(apart < 120 ? 100 - apart / 2 : 40 - (apart - 120) / 6, 6, 100);
    n[ISD_N_sea] = clamp(climate->mean + climate->season / 2 + noise(scene, 12), -18, 310);
}

static void tell_extremes(isd_weather_t *w, isd_scene_t *scene, bool new_block, bool first) {
    int32_t *n = scene->number, temp = n[ISD_N_temp];
    if (new_block || first) {
        for (size_t i = 0; i + 1 < ISD_WEATHER_BLOCKS; i++)
            w->block[i] = first ? (isd_extremes_t){temp, temp} : w->block[i + 1];
        w->block[ISD_WEATHER_BLOCKS - 1] = (isd_extremes_t){temp, temp};
    }
    isd_extremes_t *block = &w->block[ISD_WEATHER_BLOCKS - 1];
    if (temp > block->high)
        block->high = temp;
    if (temp < block->low)
        block->low = temp;
    isd_extremes_t day = *block, half = *block;
    for (size_t i = ISD_WEATHER_BLOCKS; i-- > 0;) {
        if (w->block[i].high > day.high)
            day.high = w->block[i].high;
        if (w->block[i].low < day.low)
            day.low = w->block[i].low;
        if (i + 2 >= ISD_WEATHER_BLOCKS)
            half = day;
    }
    n[ISD_N_max6] = block->high;
    n[ISD_N_min6] = block->low;
    n[ISD_N_max12] = half.high;
    n[ISD_N_min12] = half.low;
    n[ISD_N_max24] = day.high;
    n[ISD_N_min24] = day.low;
    n[ISD_N_maxf] = in_fahrenheit(day.high);
    n[ISD_N_minf] = in_fahrenheit(day.low);
    n[ISD_N_avg] = (day.high + day.low) / 2;
    n[ISD_N_avgf] = in_fahrenheit(n[ISD_N_avg]);
    n[ISD_N_heat] = clamp(65 - n[ISD_N_avgf], 0, 99);
    n[ISD_N_cool] = clamp(n[ISD_N_avgf] - 65, 0, 99);
}

/* ---- pressure ---- */

/* exp(-elevation / 8434 m) as the first terms of its series */
static int32_t at_elevation(int32_t pressure, int32_t elevation) {
    int64_t x = (int64_t)elevation * 1000000 / 8434;
    int64_t factor = 1000000 - x + x * x / 2000000 - x * x / 1000000 * x / 6000000;
    return (int32_t)(pressure * factor / 1000000);
}

static void tell_pressure(isd_weather_t *w, isd_scene_t *scene, unsigned hours) {
    static const uint8_t rising[] = {2, 2, 2, 2, 3, 3, 1, 1, 0}, falling[] = {7, 7, 7, 7, 8, 8, 6, 6, 5};
    static const uint8_t rising_us[] = {3, 3, 3, 1, 1, 1, 0, 0, 2},
                         falling_us[] = {8, 8, 8, 8, 6, 6, 6, 5, 7};
    int32_t *n = scene->number;
    for (unsigned i = 0; i < (hours > 3 ? 3 : hours); i++) {
        w->push += noise(scene, 56) - w->push / 8 - w->pressure / 500;
        w->pressure = clamp(w->pressure + w->push, -7200, 5600);
    }
    int32_t hour = n[ISD_N_hour], slp = 10147 + w->pressure / 16;
    int32_t before = w->slp[(hour + 21) % 24], yesterday = w->slp[hour];
    for (unsigned i = 0; i < hours && i < 24; i++)
        w->slp[((unsigned)hour + 24 - i) % 24] = slp;
    uint32_t draw = isd_scene_below(scene, 9);
    int32_t change = slp - before;
    n[ISD_N_tend] = change > 0 ? rising[draw] : change < 0 ? falling[draw] : draw < 3 ? 4 : draw < 6 ? 5 : 0;
    n[ISD_N_tendus] = change > 0   ? rising_us[draw]
                      : change < 0 ? falling_us[draw]
                                   : (draw < 1   ? 4
                                      : draw < 5 ? 5
                                                 : 0);
    n[ISD_N_change3] = clamp(abs(change), 0, 499);
    n[ISD_N_change24] = clamp(slp - yesterday, -499, 499);
    n[ISD_N_slp] = slp;
    n[ISD_N_stp] = at_elevation(slp, w->climate.elevation);
    n[ISD_N_inhg] = in_inches(slp + w->climate.elevation % 7 - 3);
    n[ISD_N_alt] = rounded((int64_t)n[ISD_N_inhg] * 33864, 10000);
    n[ISD_N_inhgstp] = in_inches(n[ISD_N_stp]);
    n[ISD_N_inhgslp] = in_inches(slp);
    n[ISD_N_qnhhpa] = slp / 10;
    n[ISD_N_qnh] = slp / 10 * 10;
    n[ISD_N_slpsyn] = slp % 10000;
    n[ISD_N_stpsyn] = n[ISD_N_stp] % 10000;
    n[ISD_N_slp3] = slp % 1000;
}

/* ---- wind ---- */

static void tell_wind(isd_weather_t *w, isd_scene_t *scene) {
    static const int16_t beaufort[] = {0, 10, 26, 46, 67, 93, 123, 154, 190, 226, 265, 309};
    int32_t *n = scene->number;
    w->wind = clamp(w->wind + noise(scene, 28) - (w->wind - w->climate.wind) / 10, -12, 420);
    w->bearing = (w->bearing + noise(scene, 36) + 360) % 360;
    int32_t blowing = clamp(w->wind + noise(scene, 14), 0, 450);
    int32_t knots = rounded((int64_t)blowing * 1944, 10000), force = 0;
    if (knots < 3)
        knots = isd_scene_happens(scene, (uint32_t)w->climate.still) ? 0 : 3;
    bool variable = knots && knots < 7 && isd_scene_happens(scene, 60);
    int32_t dir = w->bearing / 10 * 10;
    dir = dir ? dir : 360;
    n[ISD_N_bearing] = dir;
    n[ISD_N_calm] = !knots;
    n[ISD_N_variable] = variable;
    n[ISD_N_dir] = knots ? dir : ISD_MISSING;
    n[ISD_N_dir10] = knots ? variable ? 99 : dir / 10 : 0;
    n[ISD_N_swing] = knots && !variable && isd_scene_happens(scene, 250);
    n[ISD_N_dirlow] = (dir + 320) % 360 ? (dir + 320) % 360 : 360;
    n[ISD_N_dirhigh] = (dir + 40) % 360 ? (dir + 40) % 360 : 360;
    n[ISD_N_knots] = knots;
    n[ISD_N_speed] = rounded((int64_t)knots * 5144, 1000);
    n[ISD_N_ms] = rounded(n[ISD_N_speed], 10);
    n[ISD_N_speedms] = n[ISD_N_ms] * 10;
    while (force < 11 && beaufort[force + 1] <= n[ISD_N_speed])
        force++;
    n[ISD_N_force] = knots ? beaufort[force ? force : 1] : 0;
    n[ISD_N_mph] = rounded((int64_t)knots * 1151, 1000);
    n[ISD_N_gusty] = knots > 9 && isd_scene_happens(scene, (uint32_t)(knots - 7) * 90);
    n[ISD_N_gustknots] = knots + 5 + knots / 3 + (int32_t)isd_scene_below(scene, 4);
    n[ISD_N_gust] = rounded((int64_t)n[ISD_N_gustknots] * 5144, 1000);
    n[ISD_N_gustms] = rounded(n[ISD_N_gust], 10);
    n[ISD_N_speedgust] = n[ISD_N_gustms] * 10;
    n[ISD_N_gustmph] = rounded((int64_t)n[ISD_N_gustknots] * 1151, 1000);
}

/* ---- water ---- */

static void tell_water(isd_weather_t *w, isd_scene_t *scene, bool new_third, bool new_block, bool new_day) {
    int32_t *n = scene->number, rain = n[ISD_N_rain1];
    w->rain3 = new_third ? rain : w->rain3 + rain;
    w->rain6 = new_block ? rain : w->rain6 + rain;
    w->rain24 = new_day ? rain : clamp(w->rain24 + rain, 0, 4000);
    if (n[ISD_N_snows])
        w->depth = clamp(w->depth + 1, 0, 240);
    else if (w->depth && n[ISD_N_temp] > 0 && isd_scene_happens(scene, 200 + (uint32_t)n[ISD_N_temp]))
        w->depth--;
    n[ISD_N_rain3] = w->rain3;
    n[ISD_N_rain6] = w->rain6;
    n[ISD_N_rain24] = w->rain24;
    /* what a synoptic group says of mm: 990 is a trace, 991 to 999 are tenths */
    n[ISD_N_mm6] = w->rain6 > 9 ? w->rain6 / 10 : 990 + w->rain6;
    n[ISD_N_mm24] = w->rain24 > 9 ? w->rain24 / 10 : 990 + w->rain24;
    n[ISD_N_inches1] = rounded((int64_t)rain * 100, 254);
    n[ISD_N_inches6] = rounded((int64_t)w->rain6 * 100, 254);
    n[ISD_N_inches24] = rounded((int64_t)w->rain24 * 100, 254);
    n[ISD_N_depth] = w->depth;
    n[ISD_N_depthin] = rounded((int64_t)w->depth * 100, 254);
    n[ISD_N_snow24] = n[ISD_N_snows] ? 1 + (int32_t)isd_scene_below(scene, 9) : 0;
}

/* ---- the sun ---- */

static void tell_sun(const isd_weather_t *w, isd_scene_t *scene, unsigned yearday) {
    int32_t *n = scene->number, tilt = -16667 * cosine(((int32_t)yearday + 10) * 256 / 365) / 711;
    int32_t lat = turn_of(w->climate.latitude), declination = turn_of(tilt);
    int32_t noon = n[ISD_N_hour] * 15 * 1000 + n[ISD_N_minute] * 250 + w->climate.longitude - 180000;
    int32_t up =
        (sine(lat) * sine(declination) + cosine(lat) * cosine(declination) / 1024 * cosine(turn_of(noon))) /
        1024;
    n[ISD_N_zenith] = tenths_of_cosine(clamp(up, -1024, 1024));
    n[ISD_N_azimuth] = clamp(1800 + noon / 100, 0, 3599);
    n[ISD_N_space] = up > 0 ? 1361 * up / 1024 : 0;
    int32_t clear = n[ISD_N_space] * 3 / 4, dim = 8 - n[ISD_N_oktas];
    n[ISD_N_direct] = up > 40 ? 900 * dim / 8 : 0;
    n[ISD_N_global] = clear * (dim * 2 + 4) / 20;
    n[ISD_N_diffuse] = n[ISD_N_global] * (n[ISD_N_oktas] + 2) / 12;
}

/* ---- the month ---- */

static void forget_month(isd_weather_t *w) {
    w->days = w->sum_max = w->sum_min = w->month_rain = w->most = w->wet_days = w->heat = w->cool = 0;
    w->most_day = w->max_day = w->min_day = 1;
    w->max = -999;
    w->min = 999;
}

/* At the end of a local day. */
static void end_day(isd_weather_t *w, isd_scene_t *scene, int32_t day) {
    const int32_t *n = scene->number;
    w->days++;
    w->sum_max += n[ISD_N_max24];
    w->sum_min += n[ISD_N_min24];
    w->month_rain += n[ISD_N_rain24];
    w->wet_days += n[ISD_N_rain24] > 0;
    w->heat += n[ISD_N_heat];
    w->cool += n[ISD_N_cool];
    if (n[ISD_N_rain24] > w->most) {
        w->most = n[ISD_N_rain24];
        w->most_day = day;
    }
    if (n[ISD_N_max24] > w->max) {
        w->max = n[ISD_N_max24];
        w->max_day = day;
    }
    if (n[ISD_N_min24] < w->min) {
        w->min = n[ISD_N_min24];
        w->min_day = day;
    }
}

static void tell_month(const isd_weather_t *w, isd_scene_t *scene) {
    int32_t *n = scene->number, days = w->days ? w->days : 1;
    bool some = w->days > 0;
    n[ISD_N_mrain] = w->month_rain;
    n[ISD_N_mrainin] = rounded((int64_t)w->month_rain * 100, 254);
    n[ISD_N_mmost] = w->most;
    n[ISD_N_mmostin] = rounded((int64_t)w->most * 100, 254);
    n[ISD_N_mmostday] = w->most_day;
    n[ISD_N_mwetdays] = w->wet_days;
    n[ISD_N_mmax] = some ? w->max : n[ISD_N_max24];
    n[ISD_N_mmaxday] = w->max_day;
    n[ISD_N_mmin] = some ? w->min : n[ISD_N_min24];
    n[ISD_N_mminday] = w->min_day;
    n[ISD_N_mmaxf] = in_fahrenheit(n[ISD_N_mmax]);
    n[ISD_N_mminf] = in_fahrenheit(n[ISD_N_mmin]);
    n[ISD_N_mavgmax] = some ? w->sum_max / days * 10 : n[ISD_N_max24] * 10; /* hundredths */
    n[ISD_N_mavgmin] = some ? w->sum_min / days * 10 : n[ISD_N_min24] * 10;
    n[ISD_N_mavg] = (n[ISD_N_mavgmax] + n[ISD_N_mavgmin]) / 2;
    n[ISD_N_mheat] = w->heat;
    n[ISD_N_mcool] = w->cool;
}

void isd_weather_init(isd_weather_t *w, const isd_climate_t *climate, isd_scene_t *scene) {
    *w = (isd_weather_t){
        .climate = *climate, .spread = climate->damp, .wind = climate->wind, .cloud = climate->cloud};
    w->bearing = (int32_t)isd_scene_below(scene, 360);
    w->ground = (int32_t)isd_scene_below(scene, ISD_SKY_HEIGHTS);
    w->pressure = noise(scene, 1600);
    for (size_t i = 0; i < 24; i++)
        w->slp[i] = 10147 + w->pressure / 16;
    forget_month(w);
}

void isd_weather_step(isd_weather_t *w, isd_scene_t *scene, unsigned hours, unsigned yearday) {
    int32_t *n = scene->number, hour = n[ISD_N_hour], before = hour - (int32_t)hours;
    /* a sum belongs to the hours up to 00, 03, 06..., inclusive */
    bool new_third = (hour + 23) / 3 != (before + 23) / 3 || hours > 23;
    bool new_block = (hour + 23) / 6 != (before + 23) / 6 || hours > 23;
    bool new_day = hours > 23 || (hour + 41) / 24 != (before + 41) / 24; /* from 06 to 06 */
    bool first = !w->month;
    isd_sky_step(w, scene, hours);
    tell_heat(w, scene, yearday);
    tell_extremes(w, scene, new_block, first);
    tell_pressure(w, scene, hours);
    tell_wind(w, scene);
    isd_sky_tell(w, scene);
    tell_water(w, scene, new_third, new_block, new_day);
    if (w->climate.sun)
        tell_sun(w, scene, yearday);
    if (n[ISD_N_lhour] == 23)
        end_day(w, scene, n[ISD_N_lday]);
    if (n[ISD_N_lhour] == 23 || n[ISD_N_lhour] == 0)
        tell_month(w, scene);
    if (n[ISD_N_lmonth] != w->month && n[ISD_N_lhour] != 23) {
        w->month = n[ISD_N_lmonth];
        forget_month(w);
    }
}
