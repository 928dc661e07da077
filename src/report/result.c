/* The document and its views: figures are put in here, and become words here alone. */
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

static bool put_number(bson_t *to, const char *name, double number, int digits) {
    const double scale = pow(10, digits), most = 1e15; /* of digits, all are true */
    if (!isfinite(number))
        return BSON_APPEND_NULL(to, name);
    if (digits == 0 && fabs(number) < most)
        return BSON_APPEND_INT64(to, name, llround(number));
    return BSON_APPEND_DOUBLE(to, name, fabs(number) < most / scale ? round(number * scale) / scale : number);
}

static bool put_figure(bson_t *to, const char *name, double number) {
    char text[NUMBER_ROOM];
    double figure;
    number_print_digits(text, sizeof text, 9, number);
    number_read(text, strlen(text), &figure);
    if (isfinite(figure) && figure != round(figure))
        return BSON_APPEND_DOUBLE(to, name, figure);
    return put_number(to, name, figure, 0);
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
        return put_number(to, field->name, field->number, field->digits);
    case RESULT_FIGURE:
        return put_figure(to, field->name, field->number);
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

bool result_item(const bson_t *document, const char *list, size_t at, bson_t *item) {
    char path[64];
    bson_iter_t top, found;
    snprintf(path, sizeof path, "%s.%zu", list, at);
    return bson_iter_init(&top, document) && bson_iter_find_descendant(&top, path, &found) &&
           bson_read_document(&found, item);
}

double result_rate(uint64_t count, int64_t ns) {
    return ns > 0 ? (double)count * 1e9 / (double)ns : NAN;
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

void result_print_json(const result_t *result, int status) {
    bson_t whole = BSON_INITIALIZER;
    size_t length;
    result_put(&whole, AS_COUNT("schema", 1), AS_TEXT("command", result->command),
               AS_COUNT("status", status));
    result_copy(&whole, result);
    char *json = ejson_print_concealed(&whole, &length);
    if (!json)
        err_end_without_memory(whole.len);
    out_bytes(json, length);
    out_print("\n");
    free(json);
    bson_destroy(&whole);
}

/* ---- figures in words ---- */

typedef enum { COUNT, SECONDS, MS, US, BYTES, BYTES_RATE, RATE, PERCENT, CHANGE, SHARE, CORES } unit_t;

/* Of the first of these words that a key has. */
static unit_t unit_of(const char *path) {
    static const struct {
        const char *word;
        unit_t unit;
    } units[] = {{"_per_ms_", COUNT},
                 {"_bytes_per_second_", BYTES_RATE},
                 {"_per_second_", RATE},
                 {"_bytes_", BYTES},
                 {"_seconds_", SECONDS},
                 {"_ms_", MS},
                 {"_us_", US},
                 {"_error_percent_", CHANGE},
                 {"_change_percent_", CHANGE},
                 {"_percent_", PERCENT},
                 {"_user_", SHARE}, /* shares of a CPU, from 0 to 1 */
                 {"_sys_", SHARE},
                 {"_iowait_", SHARE},
                 {"_idle_", SHARE},
                 {"_host_busy_", SHARE},
                 {"_network_", SHARE},
                 {"_cores_", CORES}};
    const char *dot = strrchr(path, '.'), *key = dot ? dot + 1 : path;
    char framed[96];
    snprintf(framed, sizeof framed, "_%s_", key + (*key == '-'));
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strstr(framed, units[i].word))
            return units[i].unit;
    return COUNT;
}

bool figure_is_time(const char *key) {
    return unit_of(key) == SECONDS;
}

/* docs_per_second: "docs/s" */
static const char *rate_word(const char *key) {
    static const char *const words[][2] = {{"docs_", "docs/s"}, {"ops_", "ops/s"}, {"records_", "records/s"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(key, words[i][0]))
            return words[i][1];
    return "/s";
}

const char *figure_unit(const char *key) {
    switch (unit_of(key)) {
    case MS:
        return "ms";
    case US:
        return "µs";
    case RATE:
        return rate_word(key);
    case PERCENT:
    case SHARE:
        return "%";
    case COUNT:
    case SECONDS:
    case BYTES:
    case BYTES_RATE:
    case CHANGE:
    case CORES:
        break;
    }
    return "";
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

static void put_time(text_t *out, double seconds) {
    char words[UNITS_MAX];
    if (fabs(seconds) >= 0.01 || seconds == 0) {
        text_append(out, units_seconds(words, seconds));
        return;
    }
    put_digits(out, seconds * 1e3);
    text_append(out, " ms");
}

static void put_number_words(text_t *out, double value, const char *path, bool bare) {
    char words[UNITS_MAX];
    const unit_t unit = unit_of(path);
    switch (unit) {
    case COUNT:
        put_count(out, value);
        break;
    case SECONDS:
        put_time(out, value);
        break;
    case MS:
        if (!bare && value >= 999.5)
            put_time(out, value / 1e3);
        else
            put_digits(out, value);
        bare = bare || value >= 999.5;
        break;
    case US:
        put_digits(out, value);
        break;
    case BYTES:
    case BYTES_RATE:
        text_print(out, "%s%s", units_bytes(words, value), unit == BYTES_RATE ? "/s" : "");
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
    case PERCENT:
    case SHARE:
        value *= unit == SHARE ? 100 : 1;
        text_print(out, "%.*f", fabs(value) >= 99.95 || value == round(value) ? 0 : 1, value);
        break;
    case CORES:
        text_print(out, "%.2f", value);
        break;
    }
    const char *more = bare ? "" : figure_unit(path);
    text_print(out, "%s%s", *more && *more != '/' ? " " : "", more);
}

static bool find(const bson_t *document, const char *path, bson_iter_t *at) {
    bson_iter_t top;
    return bson_iter_init(&top, document) && bson_iter_find_descendant(&top, path, at);
}

static double number_at(const bson_t *document, const char *path) {
    bson_iter_t at;
    return find(document, path, &at) && BSON_ITER_HOLDS_NUMBER(&at) ? bson_iter_as_double(&at) : NAN;
}

char *figure_words(const bson_t *document, const char *path, bool bare) {
    bson_iter_t at;
    text_t out = {.length = 0};
    text_append(&out, "");
    if (!find(document, path, &at))
        return text_take_or_end(&out);
    if (BSON_ITER_HOLDS_UTF8(&at))
        text_append(&out, bson_iter_utf8(&at, NULL));
    else if (BSON_ITER_HOLDS_BOOL(&at))
        text_append(&out, bson_iter_bool(&at) ? "yes" : "no");
    else if (isfinite(number_at(document, path)))
        put_number_words(&out, number_at(document, path), path, bare);
    else
        text_append(&out, "-");
    return text_take_or_end(&out);
}

char *result_figure(const bson_t *document, const char *path) {
    return figure_words(document, path, true);
}

const char *figure_short(char out[FIGURE_ROOM], double value, const char *key) {
    static const char *const steps[] = {"", "k", "M", "G", "T"};
    const bool bytes = unit_of(key) == BYTES || unit_of(key) == BYTES_RATE;
    const long whole = fabs(value) < 1e9 ? (long)(value + 0.5) : 0;
    size_t step = 0;
    if (figure_is_time(key) && value >= 60 && value < 1e9) {
        snprintf(out, FIGURE_ROOM,
                 value < 3600      ? "%ld:%02ld"
                 : whole / 60 % 60 ? "%ld h %02ld"
                                   : "%ld h",
                 whole / (value < 3600 ? 60 : 3600), value < 3600 ? whole % 60 : whole / 60 % 60);
        return out;
    }
    if (figure_is_time(key)) {
        snprintf(out, FIGURE_ROOM,
                 value == 0             ? "0"
                 : fabs(value) < 0.9995 ? "%.6g ms"
                                        : "%.6g s",
                 value * (fabs(value) < 0.9995 ? 1e3 : 1));
        return out;
    }
    for (; fabs(value) >= 999.9995 && step + 1 < sizeof steps / sizeof *steps; step++)
        value /= 1000;
    snprintf(out, FIGURE_ROOM, "%.6g%s%s%s", value, bytes ? " " : "", steps[step], bytes ? "B" : "");
    return out;
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

static char *filled(const result_t *result, const char *words) {
    text_t out = {.length = 0};
    text_append(&out, "");
    while (*words) {
        const size_t plain = strcspn(words, "{");
        text_append_bytes(&out, words, plain);
        words += plain;
        if (*words)
            words = fill_in(&out, &result->document, words + 1);
    }
    return text_take_or_end(&out);
}

/* ---- life ---- */

result_t *result_new(const char *command) {
    result_t *result = aligned_alloc(alignof(result_t), sizeof *result); /* as a bson_t wants it */
    if (!result)
        err_end_without_memory(sizeof *result);
    *result = (result_t){.command = command};
    bson_init(&result->document);
    return result;
}

void result_free(result_t *result) {
    if (!result)
        return;
    for (size_t i = 0; i < result->count; i++) {
        result_view_t *view = &result->views[i];
        char *const texts[] = {view->words, view->command, view->title, view->note, view->list, view->bands};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            free(texts[k]);
        for (size_t k = 0; k < view->count; k++) {
            free(view->columns[k].key);
            free(view->columns[k].title);
        }
        bson_free(view->columns);
    }
    bson_free(result->views);
    free(result->question);
    free(result->answer);
    bson_destroy(&result->document);
    free(result);
}

/* ---- views ---- */

static result_view_t *add(result_t *result, view_kind_t kind, unsigned shown) {
    if (result->count == result->room) {
        result->room = result->room ? 2 * result->room : 16;
        result->views = bson_realloc(result->views, result->room * sizeof *result->views);
    }
    result_view_t *view = &result->views[result->count++];
    *view = (result_view_t){.kind = kind, .shown = shown};
    return view;
}

static char *kept(const char *text) {
    return text ? text_concealed(text) : NULL;
}

void result_line(result_t *result, unsigned shown, const char *words) {
    add(result, VIEW_LINE, shown)->words = filled(result, words);
}

void result_add_lines(result_t *result, const result_line_t *lines, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!lines[i].when || bson_read_number(&result->document, lines[i].when) > 0)
            result_line(result, lines[i].shown, lines[i].words);
}

void result_words(result_t *result, unsigned shown, const char *format, ...) {
    text_t words = {.length = 0};
    va_list list;
    va_start(list, format);
    text_print_list(&words, format, list);
    va_end(list);
    char *text = text_take_or_end(&words);
    add(result, VIEW_LINE, shown)->words = kept(text);
    free(text);
}

void result_command(result_t *result, unsigned shown, const char *words, const char *command) {
    result_view_t *view = add(result, VIEW_COMMAND, shown);
    view->words = filled(result, words);
    view->command = kept(command);
}

static result_view_t *add_table(result_t *result, view_kind_t kind, unsigned shown, const char *title,
                                const char *note, const result_column_t *columns, size_t count) {
    result_view_t *view = add(result, kind, shown);
    view->title = kept(title ? title : "");
    view->note = note ? filled(result, note) : NULL;
    view->columns = bson_malloc0((count + 1) * sizeof *view->columns);
    for (; view->count < count; view->count++)
        view->columns[view->count] =
            (view_column_t){kept(columns[view->count].key), kept(columns[view->count].title),
                            columns[view->count].most, columns[view->count].wide, columns[view->count].least};
    return view;
}

void result_figures(result_t *result, unsigned shown, const char *title, const char *note,
                    const result_column_t *columns, size_t count) {
    add_table(result, VIEW_FIGURES, shown, title, note, columns, count);
}

void result_table(result_t *result, unsigned shown, const char *list, const char *title, const char *note,
                  const result_column_t *columns, size_t count) {
    bson_t first;
    if (result_item(&result->document, list, 0, &first))
        add_table(result, VIEW_TABLE, shown, title, note, columns, count)->list = kept(list);
}

void result_chart(result_t *result, const char *list, const char *title, const char *note, const char *bands,
                  const result_column_t *columns, size_t count) {
    result_view_t *view = add_table(result, VIEW_CHART, SHOW_PAGE, title, note, columns, count);
    view->list = kept(list);
    view->bands = kept(bands);
}

/* ---- the head ---- */

bool result_is_trouble(int status) {
    return status != STATUS_OK && status != STATUS_SOME_REJECTED;
}

void result_answer(result_t *result, const char *question, int status, const err_t *err, const char *good,
                   const char *bad) {
    static const char begins[] = "interrupted";
    const bool interrupted =
        status == STATUS_INTERRUPTED || status == STATUS_TERMINATED || status == STATUS_HUNG_UP;
    const char *why = err->text;
    text_t words = {.length = 0};
    if (interrupted && strncmp(why, begins, strlen(begins)) == 0)
        why += strlen(begins) + strspn(why + strlen(begins), "; ");
    if (result_is_trouble(status)) {
        char *took =
                 figure_words(&result->document,
                              bson_has_field(&result->document, "seconds") ? "seconds" : "-seconds", false),
             *cause = text_concealed(why);
        text_print(&words, "%s after %s%s%s", interrupted ? "Interrupted" : "Failed", took,
                   !*cause       ? ""
                   : interrupted ? "; "
                                 : ": ",
                   cause);
        free(took);
        free(cause);
    }
    char *rest = filled(result, result_is_trouble(status) ? bad : good);
    if (!words.length)
        *rest = (char)toupper((unsigned char)*rest);
    text_print(&words, "%s%s.", words.length && *rest ? "; " : "", rest);
    free(rest);
    result->question = filled(result, question);
    result->answer = text_take_or_end(&words);
    result->status = status;
}

/* ---- tables ---- */

table_t table_make(const result_t *result, const result_view_t *view) {
    table_t table = {.view = view, .columns = view->count};
    bson_iter_t list;
    bson_t row;
    size_t room = 0;
    table.used = bson_malloc0(view->count + 1);
    table.numbers = bson_malloc0(view->count + 1);
    memset(table.numbers, true, view->count);
    if (!bson_read_list(&result->document, view->list, &list))
        return table;
    for (; bson_read_next(&list, &row); table.rows++) {
        if (table.rows == room) {
            room = room ? 2 * room : 16;
            table.cells = bson_realloc(table.cells, room * view->count * sizeof *table.cells);
        }
        for (size_t i = 0; i < view->count; i++) {
            cell_t *cell = &table.cells[table.rows * view->count + i];
            *cell = (cell_t){figure_words(&row, view->columns[i].key, true),
                             number_at(&row, view->columns[i].key)};
            const bool known = *cell->words && strcmp(cell->words, "-") != 0;
            table.used[i] = table.used[i] || known;
            table.numbers[i] = table.numbers[i] && (!known || !isnan(cell->number));
        }
    }
    /* where nothing is known a text is empty, and a number is "-" */
    for (size_t i = 0; i < table.rows * view->count; i++) {
        cell_t *cell = &table.cells[i];
        if (*cell->words && strcmp(cell->words, "-") != 0)
            continue;
        free(cell->words);
        cell->words = text_concealed(table.numbers[i % view->count] ? "-" : "");
    }
    return table;
}

void table_free(table_t *table) {
    for (size_t i = 0; i < table->rows * table->columns; i++)
        free(table->cells[i].words);
    bson_free(table->cells);
    bson_free(table->used);
    bson_free(table->numbers);
}
