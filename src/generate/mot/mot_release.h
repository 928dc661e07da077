/* mot_release: how the published generations of MOT result files differ, and how their fields are written. */
#ifndef TIPPLE_GENERATE_MOT_MOT_RELEASE_H
#define TIPPLE_GENERATE_MOT_MOT_RELEASE_H

#include "base/err.h"

#include <stdint.h>

typedef enum { QUOTING_NONE, QUOTING_NEEDED, QUOTING_TEXT } mot_quoting_t;

typedef struct {
    const char *name;
    int32_t year;
    char delimiter;
    mot_quoting_t quoting;
    bool header, old_codes, completed;
    const char *absent_date;
} mot_release_t;

extern const mot_release_t mot_releases[]; /* oldest first, up to the first without a name */
#define MOT_USUAL_RELEASE "2023"

/* NULL is the usual one. NULL with a sentence: there is none of that name. */
const mot_release_t *mot_release_find(const char *name, err_t *err);

/* Fields as they stand in a row, each with its delimiter. */
typedef struct {
    char text[15];
    uint8_t length;
} mot_chunk_t;

typedef struct {
    char text[63]; /* make and model */
    uint8_t length;
} mot_name_t;

typedef enum { MOT_TEXT, MOT_NUMBER, MOT_FUEL } mot_field_t;

char *mot_put_text(char *to, const mot_release_t *release, const char *text);
mot_chunk_t mot_chunk_of(const mot_release_t *release, const char *text, mot_field_t field);
mot_chunk_t mot_date_of(const mot_release_t *release, int32_t year, int32_t day); /* of the year, from 0 */
mot_name_t mot_name_of(const mot_release_t *release, const char *make, const char *model);

#endif
