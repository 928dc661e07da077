#include "report/report.h"
#include "base/clock.h"
#include "base/text.h"
#include "report/file.h"
#include "report/html.h"
#include "report/json.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>

const char *const report_kinds[REPORT_KINDS] = {
    [REPORT_FIGURES] = "figures", [REPORT_TABLE] = "table",       [REPORT_BARS] = "bars",
    [REPORT_LINES] = "lines",     [REPORT_TIMELINE] = "timeline", [REPORT_PERCENTILES] = "percentiles",
    [REPORT_TEXT] = "text"};

/* An array that is being built. If memory is out, libbson ends the process. */
typedef struct {
    bson_t items;
    uint32_t count;
} list_t;

/* The arrays of a section, by their names in the document. */
typedef enum { ITEMS, COLUMNS, ROWS, SERIES, BANDS, LISTS } list_name_t;
static const char *const list_names[LISTS] = {"items", "columns", "rows", "series", "bands"};

struct report {
    bson_t document; /* the finished document; empty until report_document */
    char *command, *when, *target, *where, *title, *sentence;
    int status;
    bson_t settings;
    list_t sections;
    bool is_open;
    bson_t section;
    list_t lists[LISTS];
    list_t inner; /* cells of the current row, or points of the current series */
    char *series; /* its name; NULL: there is no series, or it is a row */
    bool in_row;
};

/* ---- values ---- */

/* Every text of a report goes through here or through `set`, or its secrets are hidden already. */
static void append_text(bson_t *to, const char *name, const char *text) {
    char *shown = text_concealed(text);
    BSON_APPEND_UTF8(to, name, shown);
    free(shown);
}

static void append_number(bson_t *to, const char *name, double number) {
    if (isfinite(number))
        BSON_APPEND_DOUBLE(to, name, number);
    else
        BSON_APPEND_NULL(to, name);
}

/* The next key. The macros that append evaluate a key twice, so it needs a place of its own. */
static const char *next_key(list_t *list, char room[16]) {
    const char *key;
    bson_uint32_to_string(list->count++, &key, room, 16);
    return key;
}

static void add_document(list_t *list, const bson_t *item) {
    char room[16];
    const char *key = next_key(list, room);
    BSON_APPEND_DOCUMENT(&list->items, key, item);
}

static void add_number(list_t *list, double number) {
    char room[16];
    append_number(&list->items, next_key(list, room), number);
}

static void add_text(list_t *list, const char *text) {
    char room[16];
    const char *key = next_key(list, room);
    append_text(&list->items, key, text ? text : "");
}

static void clear(list_t *list) {
    bson_reinit(&list->items);
    list->count = 0;
}

static void set(char **field, const char *text) {
    char *shown = text_concealed(text ? text : "");
    bson_free(*field);
    *field = bson_strdup(shown);
    free(shown);
}

/* ---- life ---- */

report_t *report_new(const char *command) {
    report_t *report = bson_malloc0(sizeof *report);
    const time_t now = (time_t)(clock_wall_ms() / 1000);
    struct tm utc;
    char when[32] = "";
    bson_init(&report->document);
    bson_init(&report->settings);
    bson_init(&report->section);
    bson_init(&report->sections.items);
    bson_init(&report->inner.items);
    for (size_t i = 0; i < LISTS; i++)
        bson_init(&report->lists[i].items);
    if (gmtime_r(&now, &utc))
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    set(&report->command, command);
    set(&report->when, when);
    set(&report->sentence, "");
    report_head(report, "", "", command);
    return report;
}

void report_free(report_t *report) {
    if (!report)
        return;
    char *const texts[] = {report->command, report->when,     report->target, report->where,
                           report->title,   report->sentence, report->series};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        bson_free(texts[i]);
    bson_destroy(&report->document);
    bson_destroy(&report->settings);
    bson_destroy(&report->section);
    bson_destroy(&report->sections.items);
    bson_destroy(&report->inner.items);
    for (size_t i = 0; i < LISTS; i++)
        bson_destroy(&report->lists[i].items);
    bson_free(report);
}

/* ---- head and settings ---- */

void report_head(report_t *report, const char *target, const char *where, const char *title) {
    set(&report->target, target);
    set(&report->where, where);
    set(&report->title, title);
}

void report_say(report_t *report, int status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *sentence = bson_strdupv_printf(format, args);
    va_end(args);
    set(&report->sentence, sentence);
    bson_free(sentence);
    report->status = status;
}

void report_set_text(report_t *report, const char *name, const char *text) {
    if (text)
        append_text(&report->settings, name, text);
}

void report_set_number(report_t *report, const char *name, double number) {
    append_number(&report->settings, name, number);
}

void report_set_flag(report_t *report, const char *name, bool flag) {
    BSON_APPEND_BOOL(&report->settings, name, flag);
}

/* ---- sections ---- */

void report_begin(report_t *report, report_kind_t kind, const char *title, const char *note) {
    assert(!report->is_open);
    report->is_open = true;
    bson_reinit(&report->section);
    BSON_APPEND_UTF8(&report->section, "kind", report_kinds[kind]);
    append_text(&report->section, "title", title);
    if (note)
        append_text(&report->section, "note", note);
}

/* Adds the current row or series to its list. */
static void end_inner(report_t *report) {
    char room[16];
    bson_t series;
    if (report->in_row) {
        list_t *rows = &report->lists[ROWS];
        const char *key = next_key(rows, room);
        BSON_APPEND_ARRAY(&rows->items, key, &report->inner.items);
    } else if (report->series) {
        bson_init(&series);
        append_text(&series, "name", report->series);
        BSON_APPEND_ARRAY(&series, "points", &report->inner.items);
        add_document(&report->lists[SERIES], &series);
        bson_destroy(&series);
    }
    bson_free(report->series);
    report->series = NULL;
    report->in_row = false;
    clear(&report->inner);
}

void report_end(report_t *report) {
    assert(report->is_open);
    end_inner(report);
    for (size_t i = 0; i < LISTS; i++) {
        if (report->lists[i].count)
            BSON_APPEND_ARRAY(&report->section, list_names[i], &report->lists[i].items);
        clear(&report->lists[i]);
    }
    add_document(&report->sections, &report->section);
    report->is_open = false;
}

void report_figure(report_t *report, const char *name, double value, const char *unit) {
    bson_t item = BSON_INITIALIZER;
    append_text(&item, "name", name);
    append_number(&item, "value", value);
    BSON_APPEND_UTF8(&item, "unit", unit);
    add_document(&report->lists[ITEMS], &item);
    bson_destroy(&item);
}

void report_figure_text(report_t *report, const char *name, const char *text) {
    bson_t item = BSON_INITIALIZER;
    append_text(&item, "name", name);
    append_text(&item, "value", text);
    add_document(&report->lists[ITEMS], &item);
    bson_destroy(&item);
}

static void add_column(report_t *report, const char *name, const char *unit, bool bar, double most) {
    bson_t item = BSON_INITIALIZER;
    append_text(&item, "name", name);
    BSON_APPEND_UTF8(&item, "unit", unit);
    if (bar)
        append_number(&item, "most", most);
    add_document(&report->lists[COLUMNS], &item);
    bson_destroy(&item);
}

void report_column(report_t *report, const char *name, const char *unit) {
    add_column(report, name, unit, false, 0);
}

void report_bar_column(report_t *report, const char *name, const char *unit, double most) {
    add_column(report, name, unit, true, most);
}

void report_row(report_t *report) {
    end_inner(report);
    report->in_row = true;
}

void report_number(report_t *report, double number) {
    add_number(&report->inner, number);
}

void report_word(report_t *report, const char *text) {
    add_text(&report->inner, text);
}

void report_shown(report_t *report, const char *text) {
    char room[16];
    const char *key = next_key(&report->inner, room);
    BSON_APPEND_UTF8(&report->inner.items, key, text);
}

static void append_axis(bson_t *to, const char *key, const char *name, const char *unit) {
    bson_t axis;
    BSON_APPEND_DOCUMENT_BEGIN(to, key, &axis);
    append_text(&axis, "name", name);
    BSON_APPEND_UTF8(&axis, "unit", unit);
    bson_append_document_end(to, &axis);
}

void report_axes(report_t *report, const char *x, const char *x_unit, const char *y, const char *y_unit) {
    append_axis(&report->section, "x", x, x_unit);
    append_axis(&report->section, "y", y, y_unit);
}

void report_series(report_t *report, const char *name) {
    end_inner(report);
    report->series = bson_strdup(name);
}

void report_point(report_t *report, double x, double y) {
    list_t point = {.count = 0};
    char room[16];
    bson_init(&point.items);
    add_number(&point, x);
    add_number(&point, y);
    const char *key = next_key(&report->inner, room);
    BSON_APPEND_ARRAY(&report->inner.items, key, &point.items);
    bson_destroy(&point.items);
}

void report_band(report_t *report, const char *kind, const char *name, double from, double to) {
    bson_t item = BSON_INITIALIZER;
    BSON_APPEND_UTF8(&item, "kind", kind);
    append_text(&item, "name", name);
    append_number(&item, "from", from);
    append_number(&item, "to", to);
    add_document(&report->lists[BANDS], &item);
    bson_destroy(&item);
}

void report_phase(report_t *report, const report_phase_t *phase) {
    bson_t item = BSON_INITIALIZER;
    append_text(&item, "name", phase->name);
    append_number(&item, "began", phase->began);
    append_number(&item, "took", phase->took);
    append_number(&item, "predicted", phase->predicted);
    append_number(&item, "low", phase->low);
    append_number(&item, "high", phase->high);
    add_document(&report->lists[ITEMS], &item);
    bson_destroy(&item);
}

void report_line(report_t *report, const char *text) {
    add_text(&report->lists[ITEMS], text);
}

/* ---- the end ---- */

const bson_t *report_document(report_t *report) {
    bson_t *document = &report->document;
    assert(!report->is_open);
    bson_reinit(document);
    BSON_APPEND_INT32(document, "tipple_report", REPORT_SCHEMA);
    BSON_APPEND_UTF8(document, "command", report->command);
    BSON_APPEND_UTF8(document, "version", TIPPLE_VERSION);
    BSON_APPEND_UTF8(document, "when", report->when);
    BSON_APPEND_UTF8(document, "target", report->target);
    BSON_APPEND_UTF8(document, "where", report->where);
    BSON_APPEND_UTF8(document, "title", report->title);
    BSON_APPEND_INT32(document, "status", report->status);
    BSON_APPEND_UTF8(document, "sentence", report->sentence);
    BSON_APPEND_DOCUMENT(document, "settings", &report->settings);
    BSON_APPEND_ARRAY(document, "sections", &report->sections.items);
    return document;
}

static bool is_html(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && (strcasecmp(dot, ".html") == 0 || strcasecmp(dot, ".htm") == 0);
}

static bool is_json(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, ".json") == 0;
}

bool report_check_path(const char *path, err_t *err) {
    if (!is_html(path) && !is_json(path))
        return err_set(err, STATUS_USAGE,
                       "--report: '%s' is neither a page for people nor one for programs; name a file that "
                       "ends with .html or .json",
                       path);
    struct stat found;
    if (lstat(path, &found) != 0 && errno == ENAMETOOLONG)
        return err_set(err, STATUS_USAGE,
                       "--report: %.80s... is too long a name for a file: name a shorter one", path);
    return file_check(path, err);
}

bool report_write(report_t *report, const char *path, err_t *err) {
    const bson_t *document = report_document(report);
    size_t length;
    char *text = is_json(path) ? json_print(document, &length) : html_print(document, &length);
    const bool ok = file_write(path, text, length, err);
    free(text);
    return ok;
}
