/* mot_form: the fields of a release, written beforehand as they stand in its rows, each with its delimiter. A
 * row is then a handful of copies of fixed size that may write past a field's end, where the next field
 * comes. */
#ifndef TIPPLE_GENERATE_MOT_MOT_FORM_H
#define TIPPLE_GENERATE_MOT_MOT_FORM_H

#include "generate/mot/mot_release.h"

#include <stddef.h>

typedef struct {
    char text[15];
    uint8_t length;
} mot_chunk_t;

typedef struct {
    char text[63];
    uint8_t length;
} mot_name_t;

enum {
    MOT_CLASSES = 8,
    MOT_OUTCOMES = 16,
    MOT_COLOURS = 32,
    MOT_AREAS = 128,
    MOT_SPECIALS = 16,
    MOT_FIRST_YEAR = 1900,
    MOT_YEARS = 128,
    MOT_OPENING_MINUTE = 8 * 60,
    MOT_OPEN_MINUTES = 600,
};

typedef struct {
    const mot_release_t *release;
    mot_chunk_t verdict[MOT_CLASSES][MOT_OUTCOMES]; /* class, type and result */
    mot_chunk_t colour[MOT_COLOURS], area[MOT_AREAS];
    mot_name_t special[MOT_SPECIALS];
    /* a first use date is a year and a day of a common or a leap year; all years and all days are of one
     * length */
    char year[MOT_YEARS][8], day[2][366][8];
    uint8_t year_length, day_length;
    char minute[MOT_OPEN_MINUTES][8]; /* "08:00:" */
    char header[256];
    size_t header_length;
} mot_form_t;

void mot_form_init(mot_form_t *form, const mot_release_t *release);

/* Each writes a field with its delimiter and returns the end. */
char *mot_put_text(char *to, const mot_release_t *release, const char *text);
char *mot_put_date(char *to, const mot_release_t *release, unsigned year, unsigned day);

mot_chunk_t mot_text_chunk(const mot_release_t *release, const char *text);
mot_chunk_t mot_date_chunk(const mot_release_t *release, unsigned year, unsigned day);
mot_chunk_t mot_engine_chunk(const mot_release_t *release, mot_fuel_t fuel, unsigned cc); /* cc 0: empty */
mot_name_t mot_name_chunk(const mot_release_t *release, const char *make, const char *model);

/* As a first use date, which has a delimiter only where another field follows. */
mot_chunk_t mot_first_use_chunk(const mot_release_t *release, mot_chunk_t date);

static inline bool mot_is_leap(unsigned year) {
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

#endif
