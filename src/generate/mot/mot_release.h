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

typedef enum {
    TEST,
    VEHICLE,
    DATE,
    CLASS,
    TYPE,
    RESULT,
    MILES,
    AREA,
    MAKE,
    MODEL,
    COLOUR,
    FUEL,
    CC,
    FIRST_USE,
    COMPLETED
} mot_column_t;
enum { MOT_COLUMNS = COMPLETED + 1 };

/* By its name; MOT_COLUMNS: there is none. */
unsigned mot_column_of(const char *name);

/* With its delimiter. */
typedef struct {
    char text[47];
    uint8_t length;
} mot_cell_t;

/* A text of the data file as the release writes it: _ is a blank, % a pipe, ~ the letter E with an acute accent in
 * Latin-1, NULL an absent date. */
mot_cell_t mot_cell(const mot_release_t *release, mot_column_t column, const char *text);

/* Writes the names of all columns. */
char *mot_put_header(const mot_release_t *release, char *to);

#endif
