/* isd_scene: what there is to tell about one observation: its numbers and texts by name, and the random bits
 * that its pictures are filled with. */
#ifndef TIPPLE_GENERATE_ISD_ISD_SCENE_H
#define TIPPLE_GENERATE_ISD_ISD_SCENE_H

#include "base/numbers/chance.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define ISD_MISSING INT32_MIN

/* clang-format off */
/* Tenths of degC, hPa, m/s and mm where a comment says nothing else. */
#define ISD_NUMBERS(X)                                                                                       \
    /* when: UTC, and the same in local time; whether the hour is a third, sixth or twelfth one */           \
    X(day) X(hour) X(minute) X(three) X(six) X(twelve) X(lyear) X(lmonth) X(lday) X(lhour) X(monthhours)            \
    /* temperatures: as observed, in whole degC (tenfold), the extremes of the hours before; degree days */  \
    X(temp) X(dew) X(wet) X(whole) X(wholedew) X(rh) X(sea)                                                  \
    X(max6) X(min6) X(max12) X(min12) X(max24) X(min24) X(avg) X(heat) X(cool)                               \
    X(slp) X(stp) X(alt) X(qnh) X(tend) X(tendus) X(change3) X(change24)                                     \
    /* winds: by knots, by whole m/s, by Beaufort's scale; directions in degrees and in tens of them */      \
    X(calm) X(variable) X(gusty) X(swing) X(bearing) X(dir) X(dir10) X(dirlow) X(dirhigh)                    \
    X(knots) X(speed) X(speedms) X(force) X(gustknots) X(gust) X(speedgust)                                  \
    /* sight: m by miles, m by miles of 1600, m, the synoptic code, hundredths of miles */                   \
    X(vis) X(sight) X(metres) X(viscode) X(miles) X(cavok)                                                   \
    /* clouds: layers; cover in oktas, in METAR's classes, and their oktas; heights in m and in 100 ft */    \
    X(layers) X(oktas) X(ceil) X(height) X(low) X(mid) X(high)                                               \
    X(eights1) X(eights2) X(eights3) X(eights4) X(class1) X(class2) X(class3) X(class4)                      \
    X(okta1) X(okta2) X(okta3) X(okta4) X(base1) X(base2) X(base3) X(base4)                                  \
    X(feet1) X(feet2) X(feet3) X(feet4) X(genus1) X(genus2) X(genus3) X(genus4)                              \
    /* weather: whether there is any; codes of present and past weather, by man and by machine */            \
    X(weather) X(past) X(pastagain)                                                                          \
    X(ww) X(wwagain) X(aw) X(awagain) X(element) X(falls) X(snows) X(thunder)                                \
    /* water, as a synoptic group says it, too; snow in cm */                                                \
    X(rain1) X(rain3) X(rain6) X(rain24) X(mm6) X(depth) X(snow24)                                           \
    /* the sun: W/m2, tenths of degrees */                                                                   \
    X(global) X(direct) X(diffuse) X(space) X(zenith) X(azimuth)                                             \
    /* the month so far */                                                                                   \
    X(mrain) X(mmost) X(mmostday) X(mwetdays) X(mmax) X(mmin) X(mheat) X(mcool)

/* Those of the station, then those of the observation. */
#define ISD_TEXTS(X)                                                                                         \
    X(position) X(elevation) X(call) X(icao) X(block)                                                        \
    X(wxus) X(wxint) X(au) X(auagain) X(sm)                                                                  \
    X(cover1) X(cover2) X(cover3) X(cover4) X(cloud1) X(cloud2) X(cloud3) X(cloud4)
/* clang-format on */

#define ISD_NUMBER_ID(name) ISD_N_##name,
#define ISD_TEXT_ID(name)   ISD_T_##name,
typedef enum { ISD_NUMBERS(ISD_NUMBER_ID) ISD_NUMBER_COUNT } isd_number_t;
typedef enum { ISD_TEXTS(ISD_TEXT_ID) ISD_TEXT_COUNT } isd_text_id_t;

typedef struct {
    char text[15];
    uint8_t length;
} isd_text_t;

typedef struct {
    int32_t number[ISD_NUMBER_COUNT];
    isd_text_t text[ISD_TEXT_COUNT];
    uint64_t key, place; /* of the next random bits */
    bool missing;        /* the value before had none */
    uint8_t sequence[26];
    char *remark;
} isd_scene_t;

/* At most 15 characters. */
static inline isd_text_t isd_text(const char *text) {
    isd_text_t made = {.length = (uint8_t)strlen(text)};
    memcpy(made.text, text, made.length);
    return made;
}

static inline uint64_t isd_scene_bits(isd_scene_t *scene) {
    return chance_bits(scene->key, scene->place++);
}

/* A number below the limit. */
static inline uint32_t isd_scene_below(isd_scene_t *scene, uint32_t limit) {
    return (uint32_t)((isd_scene_bits(scene) >> 32) * limit >> 32);
}

/* True in so many of 1024. */
static inline bool isd_scene_happens(isd_scene_t *scene, uint32_t of1024) {
    return (isd_scene_bits(scene) & 1023) < of1024;
}

#endif
