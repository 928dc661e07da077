/* result: what a command found, once, and shown three ways.
 *
 * A result is one document of figures, and views of it in reading order. --json prints the document. The terminal
 * (text.c) and the page of --report (page.c) walk the views. A view holds no figure of its own: it names figures by their
 * keys, and result.c alone turns a figure into words. So text, JSON and page cannot disagree.
 *
 *     document                              views
 *     { read: 2500, loaded: 2498,           line    "read {read} = loaded {loaded} + ..."
 *       seconds: 0.052,                     figures seconds "took", peak_memory_bytes "peak memory"
 *       shards: [ {name, documents} ] }     table   of the list shards: name, documents, a bar for -share_percent
 *
 * Rules of the document:
 * - A key says its unit: seconds, ..._ms, ..._us, ..._bytes, ..._percent, ..._per_second, ..._cores; anything else counts.
 * - A key that begins with '-' is for views alone; --json leaves it out. Under `result` and `figures` stand words of
 *   others, which stay as they are.
 * - What is not known is NAN or NULL when it is put, null in JSON and "-" for people. Where a list, or a column of it,
 *   holds nothing, it is left out.
 * - Texts are put without secrets (text_concealed). Text and page escape what they print.
 * - Figures are put before the views that name them: a line is filled in when it is added.
 *
 * Words in a view may name figures of the document: {seconds} is "10.7 s"; {files|file} is "1 file" or "12 files";
 * {retries|batch|batches} has its own plural; {files?is|are} is the word alone.
 *
 * One thread, that of the command. If memory is out, the process ends with status 8 and a sentence. */
#ifndef TIPPLE_REPORT_RESULT_H
#define TIPPLE_REPORT_RESULT_H

#include "base/err.h"

#include <bson/bson.h>

typedef struct result_view result_view_t;

typedef struct {
    const char *command; /* "load" */
    bson_t document;
    result_view_t *views;
    size_t count, room;
    /* The head of the page; NULL: not set. */
    char *question, *answer;
    int status;
} result_t;

result_t *result_new(const char *command);
void result_free(result_t *result);

/* ---- figures ---- */

/* Puts the thing at `at` into a document of its own. */
typedef void result_put_t(bson_t *to, const void *of, size_t at);

typedef struct {
    const char *name;
    enum {
        RESULT_COUNT,
        RESULT_FLAG,
        RESULT_NUMBER,
        RESULT_FIGURE,
        RESULT_TEXT,
        RESULT_LIST,
        RESULT_INNER
    } kind;
    int64_t count;
    double number;
    int digits;
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
/* A number with this many decimals. */
#define AS_NUMBER(is, value, decimals) RESULT_AS(is, NUMBER, .number = (value), .digits = (decimals))
#define AS_SECONDS(is, ns)             AS_NUMBER(is, (double)(ns) / 1e9, 6)
/* A number with ten digits in all. */
#define AS_FIGURE(is, value) RESULT_AS(is, FIGURE, .number = (value))
#define AS_TEXT(is, text)    RESULT_AS(is, TEXT, .of = (text))
/* A list of documents, without those into which nothing was put. */
#define AS_LIST(is, items, fill, what)                                                                       \
    RESULT_AS(is, LIST, .count = (int64_t)(items), .put = (fill), .of = (what))
/* A document; null if nothing was put into it. */
#define AS_INNER(is, fill, what, at) RESULT_AS(is, INNER, .count = (int64_t)(at), .put = (fill), .of = (what))

#define result_put(to, ...)                                                                                  \
    result_put_fields(to, (const result_field_t[]){__VA_ARGS__},                                             \
                      sizeof((const result_field_t[]){__VA_ARGS__}) / sizeof(result_field_t))
void result_put_fields(bson_t *to, const result_field_t *fields, size_t count);

/* Appends documents to a list. */
void result_items(bson_t *list, size_t count, result_put_t *put, const void *of);

/* The document at `at` of a list, borrowed. False: the list is shorter. */
bool result_item(const bson_t *document, const char *list, size_t at, bson_t *item);

/* A figure in words, as views show it, without the unit that a column's title says. free. */
char *result_figure(const bson_t *document, const char *path);

/* A count a second; NAN if it took no time. */
double result_rate(uint64_t count, int64_t ns);

/* ---- views ---- */

/* Where a view is shown: at the terminal, with -q too or with -v only, and on the page. CARE: something is to be done. */
enum {
    SHOW_QUIET = 1,
    SHOW_NORMAL = 2,
    SHOW_VERBOSE = 4,
    SHOW_PAGE = 8,
    SHOW_CARE = 16,
    SHOW_ALWAYS = SHOW_QUIET | SHOW_PAGE,
    SHOW_USUAL = SHOW_NORMAL | SHOW_PAGE,
    SHOW_DETAIL = SHOW_VERBOSE | SHOW_PAGE,
};

/* A figure of the document, or of each document of a list, and its name. */
typedef struct {
    const char *key, *title;
    double
        most;   /* of a table on the page: a bar that ends here; BAR_LARGEST: at the column's largest value */
    bool wide;  /* on the page only: the terminal has no room for it */
    bool least; /* of too many rows the terminal shows those that have the least here */
} result_column_t;

#define BAR_LARGEST (-1)
#define COLUMN(is, called, ...)                                                                              \
    { .key = (is), .title = (called), __VA_ARGS__ }

/* The columns and their number. */
#define RESULT_COLUMNS(...)                                                                                  \
    (const result_column_t[]){__VA_ARGS__},                                                                  \
        sizeof((const result_column_t[]){__VA_ARGS__}) / sizeof(result_column_t)

/* The page's title, a question, and its answer: `good`; or, of a run that failed or was interrupted, how and after what
 * time, and then `bad`. Call it after the figures were put. */
void result_answer(result_t *result, const char *question, int status, const err_t *err, const char *good,
                   const char *bad);

/* Did the run fail, or was it interrupted? */
bool result_is_trouble(int status);

void result_line(result_t *result, unsigned shown, const char *words);
/* Each line whose figure `when` is above 0, or true; NULL: in any case. */
typedef struct {
    unsigned shown;
    const char *when, *words;
} result_line_t;
#define result_lines(result, ...)                                                                            \
    result_add_lines(result, (const result_line_t[]){__VA_ARGS__},                                           \
                     sizeof((const result_line_t[]){__VA_ARGS__}) / sizeof(result_line_t))
void result_add_lines(result_t *result, const result_line_t *lines, size_t count);
/* Words that name no figures, and may hold anything. */
void result_words(result_t *result, unsigned shown, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Words, and below them a command to paste, which is never wrapped. */
void result_command(result_t *result, unsigned shown, const char *words, const char *command);
/* Title and note may be NULL. Names and values, without those that are not known. */
void result_figures(result_t *result, unsigned shown, const char *title, const char *note,
                    const result_column_t *columns, size_t count);
/* Nothing is added if the list is empty. */
void result_table(result_t *result, unsigned shown, const char *list, const char *title, const char *note,
                  const result_column_t *columns, size_t count);
/* On the page, a line over time: the first column is x, the second y. `bands` of time is a list of {kind, name,
 * from_seconds, to_seconds}. */
void result_chart(result_t *result, const char *list, const char *title, const char *note, const char *bands,
                  const result_column_t *columns, size_t count);

/* ---- the three ways ---- */

/* The document without what is for views alone: `to` is empty before. */
void result_copy(bson_t *to, const result_t *result);
/* One line on stdout, that begins with schema, command and status. */
void result_print_json(const result_t *result, int status);
/* The views on stdout, at the level of the log (-q, -v), wrapped at the terminal's width. */
void result_print_text(const result_t *result);

/* Can a page be written there? Call it before the work begins. A bad name or folder: status 1. */
bool result_check_page(const char *path, err_t *err);
/* Writes it whole or not at all, and replaces an older page of tipple's. Failure: status 8. */
bool result_write_page(const result_t *result, const char *path, err_t *err);

/* Do both names mean one file, whether it exists or not? */
bool result_is_same_file(const char *one, const char *other);

#endif
