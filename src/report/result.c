/* The document and its tables: figures are put in here, and become words here alone. */
#include "base/document.h"
#include "base/log.h"
#include "base/numbers.h"
#include "report/inner.h"
#include "server/bson_read.h"

#include <ctype.h>
#include <math.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the document ---- */

static bool put_text(bson_t *to, const char *name, const char *text) {
    char *shown = text ? text_concealed(text) : NULL;
    const bool ok = shown ? BSON_APPEND_UTF8(to, name, shown) : BSON_APPEND_NULL(to, name);
    free(shown);
    return ok;
}

/* A whole number stays whole. */
static bool put_number(bson_t *to, const char *name, double number) {
    char text[NUMBER_ROOM];
    double rounded;
    number_print_digits(text, sizeof text, 9, number);
    number_read(text, strlen(text), &rounded);
    if (!isfinite(number))
        return BSON_APPEND_NULL(to, name);
    return rounded == round(rounded) && fabs(rounded) < 1e15 ? BSON_APPEND_INT64(to, name, llround(rounded))
                                                             : BSON_APPEND_DOUBLE(to, name, rounded);
}

void result_items(bson_t *list, size_t count, result_put_t *put, const void *of) {
    uint32_t items = bson_count_keys(list);
    for (size_t i = 0; i < count; i++) {
        bson_t item = BSON_INITIALIZER;
        char room[16];
        const char *key;
        put(&item, of, i);
        const size_t length = bson_uint32_to_string(items, &key, room, sizeof room);
        if (!bson_empty(&item) && !bson_append_document(list, key, (int)length, &item))
            err_end_without_memory(list->len); /* of 2 GB */
        items += !bson_empty(&item);
        bson_destroy(&item);
    }
}

static bool put_inner(bson_t *to, const result_field_t *field) {
    bson_t inner = BSON_INITIALIZER;
    bool ok;
    if (field->kind == RESULT_LIST) {
        result_items(&inner, (size_t)field->count, field->put, field->of);
        ok = BSON_APPEND_ARRAY(to, field->name, &inner);
    } else {
        field->put(&inner, field->of, (size_t)field->count);
        ok = bson_empty(&inner) ? BSON_APPEND_NULL(to, field->name)
                                : BSON_APPEND_DOCUMENT(to, field->name, &inner);
    }
    bson_destroy(&inner);
    return ok;
}

static bool put_field(bson_t *to, const result_field_t *field) {
    switch (field->kind) {
    case RESULT_COUNT:
        return BSON_APPEND_INT64(to, field->name, field->count);
    case RESULT_FLAG:
        return BSON_APPEND_BOOL(to, field->name, field->count);
    case RESULT_NUMBER:
        return put_number(to, field->name, field->number);
    case RESULT_TEXT:
        return put_text(to, field->name, field->of);
    case RESULT_LIST:
    case RESULT_INNER:
        break;
    }
    return put_inner(to, field);
}

void result_put_fields(bson_t *to, const result_field_t *fields, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!put_field(to, &fields[i]))
            err_end_without_memory(to->len); /* of 2 GB */
}

void result_put_words(bson_t *to, const char *name, const char *words) {
    if (words)
        result_take(to, name, result_fill(to, words));
}

void result_take(bson_t *to, const char *name, char *text) {
    result_put(to, AS_TEXT(name, text));
    free(text);
}

double result_rate(uint64_t count, int64_t ns) {
    return ns > 0 ? round((double)count * 1e9 / (double)ns) : NAN;
}

/* ---- JSON ---- */

static void copy(bson_t *to, bson_iter_t *at) {
    while (bson_iter_next(at)) {
        const char *key = bson_iter_key(at);
        const bool array = BSON_ITER_HOLDS_ARRAY(at),
                   others = strcmp(key, "result") == 0 || strcmp(key, "figures") == 0;
        bson_iter_t inner;
        bson_t copied = BSON_INITIALIZER;
        bool ok = true;
        if (*key == '-')
            continue;
        if (others || (!array && !BSON_ITER_HOLDS_DOCUMENT(at)) || !bson_iter_recurse(at, &inner)) {
            ok = bson_append_iter(to, key, -1, at);
        } else {
            copy(&copied, &inner);
            ok = array ? BSON_APPEND_ARRAY(to, key, &copied) : BSON_APPEND_DOCUMENT(to, key, &copied);
        }
        if (!ok)
            err_end_without_memory(to->len); /* of 2 GB */
        bson_destroy(&copied);
    }
}

void result_copy(bson_t *to, const result_t *result) {
    bson_iter_t at;
    if (bson_iter_init(&at, &result->document))
        copy(to, &at);
}

char *result_json(const result_t *result, int status, size_t *length) {
    bson_t whole = BSON_INITIALIZER;
    result_put(&whole, AS_COUNT("schema", 1), AS_TEXT("command", result->command),
               AS_COUNT("status", status));
    result_copy(&whole, result);
    char *json = ejson_print_concealed(&whole, length);
    if (!json)
        err_end_without_memory(whole.len);
    bson_destroy(&whole);
    return json;
}

void result_print_json(const result_t *result, int status) {
    size_t length;
    char *json = result_json(result, status, &length);
    out_bytes(json, length);
    out_print("\n");
    free(json);
}

/* ---- figures in words ---- */

typedef struct {
    /* Of the path to the figure; the first row whose word it has is its unit. Of a SHARE it is the figure's whole key:
     * `others` is a share of a CPU, `records_done_by_others` counts records. */
    const char *word;
    enum { COUNT, TIME, BYTES, BYTES_RATE, RATE, CHANGE, DIGITS, SHARE } how;
    const char *name; /* what words of this key lack without it */
} unit_t;

static bool is_of(const unit_t *unit, const char *framed, const char *key) {
    return unit->how == SHARE ? strcmp(key, unit->word) == 0 : strstr(framed, unit->word) != NULL;
}

static const unit_t *unit_of(const char *path) {
    static const unit_t units[] = {{"_per_ms_", COUNT, ""},
                                   {"_bytes_per_second_", BYTES_RATE, ""},
                                   {"_docs_per_second_", RATE, "docs/s"},
                                   {"_ops_per_second_", RATE, "ops/s"},
                                   {"_per_second_", RATE, "/s"},
                                   {"_bytes_", BYTES, ""},
                                   {"_seconds_", TIME, ""},
                                   {"_ms_", DIGITS, "ms"},
                                   {"_us_", DIGITS, "µs"},
                                   {"_error_percent_", CHANGE, ""},
                                   {"_change_percent_", CHANGE, ""},
                                   {"_percent_", DIGITS, "%"},
                                   {"user", SHARE, "%"}, /* shares of a CPU, from 0 to 1 */
                                   {"sys", SHARE, "%"},
                                   {"iowait", SHARE, "%"},
                                   {"idle", SHARE, "%"},
                                   {"steal", SHARE, "%"},
                                   {"host_busy", SHARE, "%"},
                                   {"others", SHARE, "%"},
                                   {"_cores_", DIGITS, ""},
                                   {"", COUNT, ""}};
    const unit_t *unit = units;
    const char *dot = strrchr(path, '.');
    char framed[96];
    snprintf(framed, sizeof framed, "_%s_", path);
    for (char *at = framed; (at = strpbrk(at, ".-"));)
        *at = '_';
    while (!is_of(unit, framed, dot ? dot + 1 : path))
        unit++;
    return unit;
}

bool figure_is_time(const char *key) {
    return unit_of(key)->how == TIME;
}

const char *figure_unit(const char *key) {
    return unit_of(key)->name;
}

/* Three digits that count; a whole number as it is. */
static void put_digits(text_t *out, double value) {
    const double size = fabs(value) >= 0.0005 ? fabs(value) : 0;
    text_print(out, "%.*f",
               size >= 99.95 || size == round(size) ? 0
               : size >= 9.995                      ? 1
               : size >= 0.9995                     ? 2
                                                    : 3,
               value);
}

static void put_count(text_t *out, double value) {
    const double most = 1e18, size = fabs(value);
    char digits[UNITS_MAX];
    if (size < most && (value == floor(value) || size >= 1000))
        text_print(out, "%s%s", value < 0 ? "-" : "", units_count(digits, (uint64_t)(size + 0.5)));
    else if (size < most)
        put_digits(out, value);
    else
        text_print(out, "%.3g", value);
}

void figure_put(text_t *out, double value, const char *key, bool bare) {
    const unit_t *unit = unit_of(key);
    char words[UNITS_MAX];
    if (strcmp(unit->name, "ms") == 0 && !bare && value >= 999.5) {
        text_append(out, units_time(words, value / 1e3));
        return;
    }
    switch (unit->how) {
    case COUNT:
        put_count(out, value);
        break;
    case TIME:
        text_append(out, units_time(words, value));
        break;
    case BYTES:
    case BYTES_RATE:
        text_print(out, "%s%s", units_size(words, value), unit->how == BYTES_RATE ? "/s" : "");
        break;
    case RATE:
        if (value < 999.5 && value != floor(value))
            put_digits(out, value);
        else
            text_append(out, units_rate(words, value));
        break;
    case CHANGE:
        text_print(out, "%+.0f %%", value);
        break;
    case DIGITS:
        put_digits(out, value);
        break;
    case SHARE:
        put_digits(out, 100 * value);
        break;
    }
    if (!bare && *unit->name)
        text_print(out, "%s%s", *unit->name == '/' ? "" : " ", unit->name);
}

static double number_at(const bson_t *document, const char *path) {
    bson_iter_t at;
    return bson_read_at(document, path, &at) && BSON_ITER_HOLDS_NUMBER(&at) ? bson_iter_as_double(&at) : NAN;
}

char *figure_words(const bson_t *document, const char *path, bool bare) {
    bson_iter_t at;
    text_t out = {.length = 0};
    if (!bson_read_at(document, path, &at))
        return text_take_or_end(&out);
    if (BSON_ITER_HOLDS_UTF8(&at))
        text_append(&out, bson_iter_utf8(&at, NULL));
    else if (BSON_ITER_HOLDS_BOOL(&at))
        text_append(&out, bson_iter_bool(&at) ? "yes" : "no");
    else if (isfinite(number_at(document, path)))
        figure_put(&out, number_at(document, path), path, bare);
    else
        text_append(&out, "-");
    return text_take_or_end(&out);
}

/* ---- words with figures in them ---- */

/* What follows a '{': KEY, KEY|noun, KEY|one|many or KEY?one|many. Returns what follows the '}'. */
static const char *fill_in(text_t *out, const bson_t *document, const char *at) {
    const size_t length = strcspn(at, "|?}");
    const char *end = strchr(at, '}'), *one = at + length + 1;
    char key[96];
    snprintf(key, sizeof key, "%.*s", (int)length, at);
    if (at[length] != '?') {
        char *words = figure_words(document, key, false);
        text_append(out, words);
        free(words);
    }
    if (at[length] == '}')
        return end + 1;
    const bool single = number_at(document, key) == 1;
    const size_t one_length = strcspn(one, "|}");
    const char *many = one[one_length] == '|' ? one + one_length + 1 : NULL;
    text_append(out, at[length] == '?' ? "" : " ");
    if (many && !single)
        text_append_bytes(out, many, (size_t)(end - many));
    else
        text_append_bytes(out, one, one_length);
    text_append(out, many || single ? "" : "s");
    return end + 1;
}

char *result_fill(const bson_t *document, const char *words) {
    text_t out = {.length = 0};
    while (*words) {
        const size_t plain = strcspn(words, "{");
        text_append_bytes(&out, words, plain);
        words += plain;
        if (*words && !strchr(words, '}'))
            text_append_bytes(&out, words++, 1);
        else if (*words)
            words = fill_in(&out, document, words + 1);
    }
    return text_take_or_end(&out);
}

/* ---- the result ---- */

result_t *result_new(const char *command, const result_view_t *views) {
    result_t *result = aligned_alloc(alignof(result_t), sizeof *result); /* as a bson_t wants it */
    if (!result)
        err_end_without_memory(sizeof *result);
    *result = (result_t){.command = command, .views = views};
    bson_init(&result->document);
    return result;
}

void result_free(result_t *result) {
    if (!result)
        return;
    free(result->question);
    free(result->answer);
    bson_destroy(&result->document);
    free(result);
}

bool result_is_trouble(int status) {
    return status != STATUS_OK && status != STATUS_SOME_REJECTED;
}

void result_answer(result_t *result, const char *question, int status, const err_t *err, const char *good,
                   const char *bad) {
    const bool trouble = result_is_trouble(status);
    char *why = text_concealed(trouble ? err->text : ""),
         *rest = result_fill(&result->document, trouble ? bad : good);
    text_t words = {.length = 0};
    text_print(&words, "%s%s%s%s.", trouble && strncmp(why, "interrupted", 11) != 0 ? "Failed: " : "", why,
               *why && *rest ? "; " : "", rest);
    free(why);
    free(rest);
    result->question = result_fill(&result->document, question);
    result->answer = text_take_or_end(&words);
    *result->answer = (char)toupper((unsigned char)*result->answer);
    result->status = status;
}

/* ---- views ---- */

static bool holds(const bson_t *document, const char *path) {
    bson_iter_t at, inner;
    if (!path)
        return true;
    if (*path == '!')
        return !holds(document, path + 1);
    if (!bson_read_at(document, path, &at))
        return false;
    if (bson_iter_recurse(&at, &inner))
        return bson_iter_next(&inner);
    return BSON_ITER_HOLDS_UTF8(&at) ? *bson_iter_utf8(&at, NULL) : bson_read_number(document, path) > 0;
}

void view_show(const result_t *result, const result_view_t *view, show_view_t *show, void *to) {
    bson_iter_t list;
    bson_t item;
    if (!view->each && holds(&result->document, view->when))
        show(to, &result->document, view);
    if (view->each && bson_read_list(&result->document, view->each, &list))
        while (bson_read_next(&list, &item))
            if (holds(&item, view->when))
                show(to, &item, view);
}

/* ---- tables ---- */

static void drop_row(table_t *table) {
    table->rows--;
    for (size_t i = 0; i < table->columns; i++)
        free(table->cells[table->rows * table->columns + i].words);
}

/* name: stands in the first cell; NULL: what the item has there. */
static void add_row(table_t *table, const bson_t *item, const char *name) {
    const size_t from = table->rows++ * table->columns;
    size_t known = 0;
    table->cells = bson_realloc(table->cells, table->rows * table->columns * sizeof *table->cells);
    for (size_t i = 0; i < table->columns; i++) {
        const char *key = table->heads[i].column->key;
        cell_t *cell = &table->cells[from + i];
        *cell = i || !name ? (cell_t){figure_words(item, key, true), number_at(item, key)}
                           : (cell_t){text_concealed(name), NAN};
        known += i && figure_known(cell->words);
    }
    if (!known && table->columns > 1)
        drop_row(table);
}

table_t table_make(const bson_t *document, const result_view_t *view) {
    table_t table = {.heads = NULL};
    bson_iter_t list;
    bson_t item;
    for (const result_column_t *column = view->columns; column->key; column++) {
        table.heads = bson_realloc(table.heads, ++table.columns * sizeof *table.heads);
        table.heads[table.columns - 1] =
            (head_t){.column = column, .title = result_fill(document, column->title), .numbers = true};
    }
    if (bson_read_list(document, view->list, &list))
        while (bson_read_next(&list, &item))
            add_row(&table, &item, NULL);
    if (view->whole)
        add_row(&table, document, view->whole);
    for (size_t i = 0; i < table.rows * table.columns; i++) {
        head_t *head = &table.heads[i % table.columns];
        const bool known = figure_known(table.cells[i].words);
        head->used |= known;
        head->numbers &= !known || !isnan(table.cells[i].number);
    }
    for (size_t i = 0; i < table.rows * table.columns; i++) {
        char **words = &table.cells[i].words;
        if (!figure_known(*words)) { /* a text is empty then, and a number is "-" */
            free(*words);
            *words = text_concealed(table.heads[i % table.columns].numbers ? "-" : "");
        }
    }
    return table;
}

void table_free(table_t *table) {
    while (table->rows)
        drop_row(table);
    for (size_t i = 0; i < table->columns; i++)
        free(table->heads[i].title);
    bson_free(table->heads);
    bson_free(table->cells);
}
