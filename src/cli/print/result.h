/* result: what a command found, as one BSON document: --json prints it; the text and the report take their figures from
 * it. Texts in it are without secrets. Main thread.
 *
 *     result_put(to, AS_COUNT("read", counts->read), AS_SECONDS("seconds", result->took_ns),
 *                AS_LIST("indexes", result->index_count, put_index, result->indexes));
 *     result_print("load", status, to); */
#ifndef TIPPLE_CLI_PRINT_RESULT_H
#define TIPPLE_CLI_PRINT_RESULT_H

#include <bson/bson.h>

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
/* null where it is not known, or there is none. */
#define AS_COUNT_IF(is, known, value)                                                                        \
    { .name = (is), .kind = (known) ? RESULT_COUNT : RESULT_TEXT, .count = (int64_t)(value) }
#define AS_FLAG_IF(is, known, value)                                                                         \
    { .name = (is), .kind = (known) ? RESULT_FLAG : RESULT_TEXT, .count = (value) }
/* So many digits behind the point; what is no number is null. */
#define AS_NUMBER(is, value, some) RESULT_AS(is, NUMBER, .number = (value), .digits = (some))
#define AS_SECONDS(is, ns)         AS_NUMBER(is, (double)(ns) / 1e9, 6)
/* Ten digits in all. */
#define AS_FIGURE(is, value) RESULT_AS(is, FIGURE, .number = (value))
/* NULL is null. */
#define AS_TEXT(is, text) RESULT_AS(is, TEXT, .of = (text))
/* Documents; one into which nothing was put is left out. */
#define AS_LIST(is, items, fill, what)                                                                       \
    RESULT_AS(is, LIST, .count = (int64_t)(items), .put = (fill), .of = (what))
/* A document; null: nothing was put into it. */
#define AS_INNER(is, fill, what, at) RESULT_AS(is, INNER, .count = (int64_t)(at), .put = (fill), .of = (what))

#define result_put(to, ...)                                                                                  \
    result_put_fields(to, (const result_field_t[]){__VA_ARGS__},                                             \
                      sizeof((const result_field_t[]){__VA_ARGS__}) / sizeof(result_field_t))
void result_put_fields(bson_t *to, const result_field_t *fields, size_t count);

/* Puts documents behind those that a list has. */
void result_items(bson_t *list, size_t count, result_put_t *put, const void *of);

/* Borrowed. False: the list has no such document. */
bool result_item(const bson_t *result, const char *list, size_t at, bson_t *item);

/* How many a second; NAN: it took no time. */
double result_rate(uint64_t count, int64_t ns);

/* One line on stdout, that begins with schema, command and status. */
void result_print(const char *command, int status, const bson_t *result);

#endif
