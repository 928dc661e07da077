/* isd_lines: what records hold, line by line, as data files say it: isd-reports.txt explains the words. */
#ifndef TIPPLE_GENERATE_ISD_ISD_LINES_H
#define TIPPLE_GENERATE_ISD_ISD_LINES_H

#include "base/err.h"
#include "format/schema/schema.h"
#include "generate/isd/isd_values.h"

enum { ISD_LINES = 1024, ISD_CONDITIONS = 1024, ISD_FIELDS = 4096, ISD_CHOICES = 2048 };
enum { ISD_ROOM = 8192 }; /* for what the lines of a report write */

typedef struct {
    uint16_t first, count;
} isd_span_t;

typedef struct {
    char name[4];
    uint8_t part;
    bool goes_on, otherwise; /* "+"; "else" */
    isd_span_t conditions, fields;
    const section_t *section; /* NULL: the fields say what it holds */
} isd_line_t;

typedef struct {
    uint16_t value;
    char relation; /* '%': in `number` of 1,000; '!': it is 0; 0: it is not; '<', '>', '=', and 'g' for >= */
    int32_t number;
} isd_condition_t;

typedef struct {
    uint8_t kind, width, format, conversion;
    uint16_t at;      /* of its value, text, or first choice */
    uint16_t missing; /* of 1,000 */
    int32_t low;      /* of a range */
    uint32_t span;    /* of a range, or a text's length */
} isd_field_t;

/* Drawn by 16 random bits: the first one whose bound is above them. */
typedef struct {
    uint32_t below;
    uint8_t length;
    char text[15];
} isd_choice_t;

typedef struct {
    size_t line_count, condition_count, field_count, choice_count, text_size;
    const schema_t *format; /* isd: what sections there are */
    isd_line_t lines[ISD_LINES];
    isd_condition_t conditions[ISD_CONDITIONS];
    isd_field_t fields[ISD_FIELDS];
    isd_choice_t choices[ISD_CHOICES];
    uint16_t mixes[128]; /* by quality: its first choice */
    char text[1 << 14];
} isd_lines_t;

/* These read from data files. False with a sentence: it is not understood, or there is no room (which no user can bring
 * about). The text is changed. */

/* A line of a report. */
bool isd_lines_add(isd_lines_t *all, char *text, err_t *err);

/* "rain6>0 40%" */
bool isd_lines_conditions(isd_lines_t *all, char *text, isd_span_t *conditions, err_t *err);

/* "quality 5: 5*9935|1*34" */
bool isd_lines_add_quality(isd_lines_t *all, char *text, err_t *err);

/* By its name; members beyond the documented ones, as AW5, have their family's. NULL: there is none. */
const section_t *isd_section_of(const schema_t *format, const char *name);

bool isd_lines_hold(const isd_lines_t *all, isd_span_t conditions, isd_scene_t *scene);

/* Writes these lines and returns their end; `usual` is the quality that q stands for. Where *extra is the name of a
 * section, it is written at its place, too, unless it is there already: then *extra remains. */
char *isd_lines_put(const isd_lines_t *all, isd_span_t lines, char usual, isd_scene_t *scene,
                    const char **extra, char *to);

#endif
