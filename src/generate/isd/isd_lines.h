/* isd_lines: what the data files isd-stations and isd-reports say: which stations there are, what they send and when, and
 * line by line what that holds. They explain their words. */
#ifndef TIPPLE_GENERATE_ISD_ISD_LINES_H
#define TIPPLE_GENERATE_ISD_ISD_LINES_H

#include "format/schema/schema.h"
#include "generate/isd/isd_weather.h"
#include "generate/shared/facts.h"
#include "generate/shared/odd.h"

enum { ISD_LINES = 2048, ISD_CONDITIONS = 2048, ISD_FIELDS = 4096, ISD_CHOICES = 6144, ISD_TEXT = 1 << 14 };
enum { ISD_LINE_LENGTH = 1024 }; /* no line has more of anything */
enum { ISD_ROOM = 8192 };        /* for what the lines of a report write */
enum { ISD_REPORTS = 32, ISD_LETS = 32 };

typedef struct {
    uint16_t first, count;
} isd_span_t;

typedef struct {
    char name[4];
    uint8_t part;
    bool goes_on, otherwise; /* "+"; "else" */
    isd_span_t conditions, fields;
} isd_line_t;

/* The value lies between these; ISD_VALUE_COUNT stands for a random number below 1,000. */
typedef struct {
    uint16_t value;
    int32_t low, high;
} isd_condition_t;

typedef struct {
    uint8_t kind, width, format, conversion;
    uint16_t at;      /* of its value, or first choice */
    uint16_t missing; /* of 1,000 */
    int32_t low;      /* of a range */
    uint32_t span;
} isd_field_t;

/* Drawn by 16 random bits: the first one whose bound is above them. */
typedef struct {
    uint32_t below;
    uint16_t at, length; /* of its text */
} isd_choice_t;

typedef struct {
    uint32_t hours;                     /* bits */
    int32_t minute, last_minute, every; /* 0: one of them */
    char usual;                         /* quality */
    isd_span_t conditions, lines;
} isd_report_t;

typedef struct {
    size_t kind_count, report_count, let_count, line_count, condition_count, field_count, choice_count,
        text_size;
    isd_kind_t kinds[ISD_KINDS];
    isd_report_t reports[ISD_REPORTS]; /* of a kind: in the order of an hour's minutes */
    struct {
        const char *name;
        isd_span_t lines;
    } lets[ISD_LETS];
    isd_line_t lines[ISD_LINES];
    isd_condition_t conditions[ISD_CONDITIONS];
    isd_field_t fields[ISD_FIELDS];
    isd_choice_t choices[ISD_CHOICES];
    uint16_t mixes[128]; /* by quality: its first choice */
    char text[ISD_TEXT];
    char wrong[64]; /* the first words that were not understood, or found no room */
    facts_t stations_file, reports_file;
    schema_t *format; /* isd: what sections there are */
} isd_lines_t;

/* Into zeroes, with the oddities of records added to the plan; to be closed after a failure, too. */
bool isd_lines_open(isd_lines_t *all, odd_plan_t *odd, err_t *err);
void isd_lines_close(isd_lines_t *all);

/* A line of a report, behind those there are; see `wrong`. */
void isd_lines_add(isd_lines_t *all, const char *text);

bool isd_lines_hold(const isd_lines_t *all, isd_span_t conditions, isd_scene_t *scene);

/* Writes these lines and returns their end; `usual` is the quality that q stands for. */
char *isd_lines_put(const isd_lines_t *all, isd_span_t lines, char usual, isd_scene_t *scene, char *to);

#endif
