/* report: what a command found, as one document for people and programs: a head (what, when, which target, one
 * sentence), sections in reading order, and the settings that repeat the run. docs/reports.md describes the document;
 * json.h and html.h print it. It knows nothing of loads or queries.
 *
 *     report_t *report = report_new("load");
 *     report_head(report, "mot.results", "127.0.0.1:27017", "tipple load");
 *     report_say(report, STATUS_OK, "loaded %s documents in %s", ...);
 *     report_begin(report, REPORT_FIGURES, "Result", NULL);
 *     report_figure(report, "loaded", 6521004, "documents");
 *     report_end(report);
 *     ok = report_write(report, "load.html", err);
 *     report_free(report);
 *
 * Texts are copied without passwords, and may contain anything: the printers escape them. A number that is not known is
 * NAN, and null in the document. Main thread. */
#ifndef TIPPLE_REPORT_REPORT_H
#define TIPPLE_REPORT_REPORT_H

#include "base/err.h"

#include <bson/bson.h>

enum { REPORT_SCHEMA = 1 };

typedef enum {
    REPORT_FIGURES,     /* names and values */
    REPORT_TABLE,       /* columns and rows */
    REPORT_BARS,        /* a table whose columns can be drawn as bars */
    REPORT_LINES,       /* series over time, with bands of time */
    REPORT_PERCENTILES, /* series of latencies: x is a percentile, 0 to 100 */
    REPORT_TIMELINE,    /* phases, one after the other, with what was predicted for them */
    REPORT_TEXT,        /* lines of text, such as a command to paste */
    REPORT_KINDS,
} report_kind_t;

extern const char *const report_kinds[REPORT_KINDS]; /* "figures" */

/* Units: "documents", "records", "batches", "files" and other nouns are counts. "bytes", "s", "ms", "us", "%" (0 to
 * 100), "cores", and any of them followed by "/s", are printed as people write them. "" is a plain number. */

typedef struct report report_t;

report_t *report_new(const char *command); /* with version and time */
void report_free(report_t *report);        /* NULL is allowed */

/* ---- the head ---- */

/* target: "mot.results"; where: its hosts, without passwords. */
void report_head(report_t *report, const char *target, const char *where, const char *title);
/* The result in one sentence. For a run that failed or was interrupted, the sentence says so. */
void report_say(report_t *report, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- settings; "again" is the command line that repeats the run ---- */

void report_set_text(report_t *report, const char *name, const char *text); /* NULL text: left out */
void report_set_number(report_t *report, const char *name, double number);
void report_set_flag(report_t *report, const char *name, bool flag);

/* ---- sections: begin, fill, end, one at a time. note: a sentence below the title, or NULL ---- */

void report_begin(report_t *report, report_kind_t kind, const char *title, const char *note);
void report_end(report_t *report);

/* for figures */
void report_figure(report_t *report, const char *name, double value, const char *unit);
void report_figure_text(report_t *report, const char *name, const char *text);

/* For tables and bars: first the columns; then, row by row, one cell for each column. A bar's scale ends at `most`; if
 * that is 0, at the largest value in its column. */
void report_column(report_t *report, const char *name, const char *unit);
void report_bar_column(report_t *report, const char *name, const char *unit, double most);
void report_row(report_t *report);
void report_number(report_t *report, double number);
void report_word(report_t *report, const char *text); /* NULL: empty */
void report_shown(report_t *report,
                  const char *text); /* one whose secrets are hidden: JSON (ejson_print_concealed) */

/* For lines and percentiles: the axes; then, series by series, its points with growing x. A band covers a part of the x
 * axis: of kind "phase" (phases follow each other), or another kind, such as "checkpoint". */
void report_axes(report_t *report, const char *x, const char *x_unit, const char *y, const char *y_unit);
void report_series(report_t *report, const char *name);
void report_point(report_t *report, double x, double y);
void report_band(report_t *report, const char *kind, const char *name, double from, double to);

/* for timelines; seconds, and NAN if not known: a phase that was not predicted, or did not happen */
typedef struct {
    const char *name;
    double began, took;
    double predicted, low, high;
} report_phase_t;
void report_phase(report_t *report, const report_phase_t *phase);

/* for texts */
void report_line(report_t *report, const char *text);

/* ---- the end ---- */

/* The document so far; it belongs to the report. No section may be open. */
const bson_t *report_document(report_t *report);

/* Can a report be written there? Call it before the work begins. A bad name or folder: status 1. */
bool report_check_path(const char *path, err_t *err);

/* Writes FILE.json or FILE.html, by its name, completely or not at all. An existing report is replaced. Failure: status
 * 8. */
bool report_write(report_t *report, const char *path, err_t *err);

#endif
