/* result: what a command found, once, and shown three ways.
 *
 * A result is one document of figures, and views of it in reading order. --json prints the document. The terminal
 * (text.c) and the page of --report (page.c) walk the views. A view holds no figure of its own: it names figures by their
 * keys, and result.c alone turns a figure into words. So text, JSON and page cannot disagree.
 *
 *     document                              views, a static table of the command
 *     { read: 2500, loaded: 2498,           a line    "read {read} = loaded {loaded} + ..."
 *       shards: [ {name, documents} ],      a table   of the list shards: name, documents, a bar for -share_percent
 *       indexes: [ {keys, seconds} ] }      each      of indexes, a line "index {keys} built in {seconds}"
 *
 * Rules of the document:
 * - A key says its unit: seconds, ..._ms, ..._us, ..._bytes, ..._percent, ..._per_second, ..._cores; a share of a CPU
 *   is from 0 to 1 (result.c has the words of all units, which may stand anywhere in a path, and the whole keys of the
 *   shares); anything else counts.
 * - A key that begins with '-' is for views alone; --json leaves it out. Under `result` and `figures` stand words of
 *   others, which stay as they are.
 * - What is not known is NAN or NULL when it is put, null in JSON and "-" for people.
 * - Texts are put without secrets (text_concealed). Text and page escape what they print.
 *
 * Words in a view may name figures: {seconds} is "10.7 s"; {files|file} is "1 file" or "12 files";
 * {retries|batch|batches} has its own plural; {files?is|are} is the word alone.
 *
 * The page needs no view for a single figure: it ends with all of them under their names.
 *
 * One thread, that of the command. If memory is out, the process ends with status 8 and a sentence. */
#ifndef TIPPLE_REPORT_RESULT_H
#define TIPPLE_REPORT_RESULT_H

#include "base/err.h"

#include <bson/bson.h>
#include <math.h>

/* ---- views ---- */

/* Where a view is shown: at the terminal, with -q too or with -v only, and on the page. CARE: something is to be done.
 * WHOLE: all rows of a table, however many. */
enum {
    SHOW_QUIET = 1,
    SHOW_NORMAL = 2,
    SHOW_VERBOSE = 4,
    SHOW_PAGE = 8,
    SHOW_CARE = 16,
    SHOW_WHOLE = 32,
    SHOW_ALWAYS = SHOW_QUIET | SHOW_PAGE,
    SHOW_USUAL = SHOW_NORMAL | SHOW_PAGE,
    SHOW_DETAIL = SHOW_VERBOSE | SHOW_PAGE,
};

/* A figure of each document of a list. A column in which nothing is known is left out. */
typedef struct {
    const char *key, *title;
    double most; /* on the page: a bar that ends here; BAR_LARGEST: at the column's largest value */
    bool wide;   /* on the page only: the terminal has no room for it */
    bool dashed; /* of a chart: another line of the same unit as that of y */
} result_column_t;

#define BAR_LARGEST (-1)

/* A line, or with `list` a table, or with `bands` a chart, which is on the page only: its first column is x, its second
 * y. A table leaves out rows in which nothing but the first column is known, and is left out if it has no rows. */
typedef struct {
    unsigned shown;
    /* only if this figure is above 0, or true, or a text or list that is not empty; "!KEY": only if not */
    const char *when;
    const char *words;   /* of a table or chart: a note on the page, or NULL */
    const char *command; /* of a line: a text to paste below it, which is never wrapped */
    const char *each;    /* once for each document of this list, whose figures are meant then */
    const char *list, *title;
    const char *whole; /* of a table: names its last row, the figures of the document that has the list */
    const char *bands; /* a list of {-from_seconds, -to_seconds}; "": a chart without bands */
    const result_column_t *columns;
} result_view_t;

#define COLUMN(is, called, ...)                                                                              \
    { .key = (is), .title = (called), __VA_ARGS__ }
#define LINE(where, if_this, said, ...)                                                                      \
    { .shown = (where), .when = (if_this), .words = (said), __VA_ARGS__ }
#define RESULT_LIST(of, called, note, ...)                                                                   \
    .list = (of), .title = (called), .words = (note), .columns = (const result_column_t[]) {                 \
        __VA_ARGS__, {                                                                                       \
            .key = NULL                                                                                      \
        }                                                                                                    \
    }
#define TABLE(where, if_this, ...)                                                                           \
    { .shown = (where), .when = (if_this), RESULT_LIST(__VA_ARGS__) }
/* Of each document of a list (NULL: of the result), its parts, and then the document itself, which is called `total`. */
#define PARTS(where, of_each, total, ...)                                                                    \
    { .shown = (where), .each = (of_each), .whole = (total), RESULT_LIST(__VA_ARGS__) }
#define CHART(of, with_bands, ...)                                                                           \
    { .shown = SHOW_PAGE, .bands = (with_bands), RESULT_LIST(of, __VA_ARGS__) }
/* One for each document of a list, which has the list of points. */
#define CHARTS(of_each, ...)                                                                                 \
    { .shown = SHOW_PAGE, .bands = "", .each = (of_each), RESULT_LIST(__VA_ARGS__) }

/* ---- the result ---- */

typedef struct {
    const char *command; /* "load" */
    bson_t document;
    const result_view_t *views; /* static; the last one is shown nowhere. NULL: none */
    /* The head of the page; NULL: not set. */
    char *question, *answer;
    int status;
} result_t;

result_t *result_new(const char *command, const result_view_t *views);
void result_free(result_t *result);

/* Did the run fail, or was it interrupted? */
bool result_is_trouble(int status);

/* The page's title, a question, and its answer: `good`; or, of a run that failed or was interrupted, its sentence, and
 * then `bad`. Call it after the figures were put. */
void result_answer(result_t *result, const char *question, int status, const err_t *err, const char *good,
                   const char *bad);

/* ---- figures ---- */

/* Puts the thing at `at` into a document of its own. */
typedef void result_put_t(bson_t *to, const void *of, size_t at);

typedef struct {
    const char *name;
    enum { RESULT_COUNT, RESULT_FLAG, RESULT_NUMBER, RESULT_TEXT, RESULT_LIST, RESULT_INNER } kind;
    int64_t count;
    double number;
    const void *of; /* a text, or what `put` knows */
    result_put_t *put;
} result_field_t;

#define RESULT_AS(is, what, ...)                                                                             \
    { .name = is, .kind = RESULT_##what, __VA_ARGS__ }
#define AS_COUNT(is, value) RESULT_AS(is, COUNT, .count = (int64_t)(value))
#define AS_FLAG(is, value)  RESULT_AS(is, FLAG, .count = (value))
/* null if it is not known. */
#define AS_COUNT_IF(is, known, value)                                                                        \
    { .name = (is), .kind = (known) ? RESULT_COUNT : RESULT_TEXT, .count = (int64_t)(value) }
#define AS_FLAG_IF(is, known, value)                                                                         \
    { .name = (is), .kind = (known) ? RESULT_FLAG : RESULT_TEXT, .count = (value) }
/* A number with ten digits. */
#define AS_NUMBER(is, value) RESULT_AS(is, NUMBER, .number = (value))
/* With microseconds. */
#define AS_SECONDS(is, ns) AS_NUMBER(is, round((double)(ns) / 1e3) / 1e6)
#define AS_TEXT(is, text)  RESULT_AS(is, TEXT, .of = (text))
/* null if it is empty. */
#define AS_WORDS(is, text) RESULT_AS(is, TEXT, .of = (text)[0] ? (text) : NULL)
/* A list of documents, without those into which nothing was put. */
#define AS_LIST(is, items, fill, what)                                                                       \
    RESULT_AS(is, LIST, .count = (int64_t)(items), .put = (fill), .of = (what))
/* A document; null if nothing was put into it. */
#define AS_INNER(is, fill, what, at) RESULT_AS(is, INNER, .count = (int64_t)(at), .put = (fill), .of = (what))

/* A member of a struct, under its own name: a flag, a number, a text or a count, as its type says. */
#define OF(what, member)                                                                                     \
    _Generic((what)->member,                                                                                 \
        bool: result_of_flag,                                                                                \
        double: result_of_number,                                                                            \
        char *: result_of_text,                                                                              \
        const char *: result_of_text,                                                                        \
        default: result_of_count)(#member, (what)->member)
static inline result_field_t result_of_count(const char *name, uint64_t count) {
    return (result_field_t)AS_COUNT(name, count);
}
static inline result_field_t result_of_flag(const char *name, bool flag) {
    return (result_field_t)AS_FLAG(name, flag);
}
static inline result_field_t result_of_number(const char *name, double number) {
    return (result_field_t)AS_NUMBER(name, number);
}
static inline result_field_t result_of_text(const char *name, const char *text) {
    return (result_field_t)AS_TEXT(name, text);
}

#define result_put(to, ...)                                                                                  \
    result_put_fields(to, (const result_field_t[]){__VA_ARGS__},                                             \
                      sizeof((const result_field_t[]){__VA_ARGS__}) / sizeof(result_field_t))
void result_put_fields(bson_t *to, const result_field_t *fields, size_t count);

/* Words with figures of the document filled in. free. */
char *result_fill(const bson_t *document, const char *words);
/* Puts them; NULL: nothing. */
void result_put_words(bson_t *to, const char *name, const char *words);
/* Puts a text, which is freed; NULL: null. */
void result_take(bson_t *to, const char *name, char *text);

/* Appends documents to a list. */
void result_items(bson_t *list, size_t count, result_put_t *put, const void *of);

/* A whole count a second; NAN if it took no time. */
double result_rate(uint64_t count, int64_t ns);

/* ---- the three ways ---- */

/* The document without what is for views alone: `to` is empty before. */
void result_copy(bson_t *to, const result_t *result);
/* The object that begins with schema, command and status, on one line. free. */
char *result_json(const result_t *result, int status, size_t *length);
void result_print_json(const result_t *result, int status);
/* The views on stdout, at the level of the log (-q, -v), wrapped at the terminal's width. */
void result_print_text(const result_t *result);

/* Can a page be written there? Call it before the work begins. A bad name or folder: status 1. */
bool result_check_page(const char *path, err_t *err);
/* Writes it whole or not at all, and replaces an older page of tipple's. Failure: status 8. */
bool result_write_page(const result_t *result, const char *path, err_t *err);

#endif
