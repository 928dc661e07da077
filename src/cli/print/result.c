#include "cli/print/result.h"
#include "base/document.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/text.h"
#include "server/bson_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

bool result_item(const bson_t *result, const char *list, size_t at, bson_t *item) {
    char path[64];
    bson_iter_t top, found;
    snprintf(path, sizeof path, "%s.%zu", list, at);
    return bson_iter_init(&top, result) && bson_iter_find_descendant(&top, path, &found) &&
           bson_read_document(&found, item);
}

double result_rate(uint64_t count, int64_t ns) {
    return ns > 0 ? (double)count * 1e9 / (double)ns : NAN;
}

void result_print(const char *command, int status, const bson_t *result) {
    bson_t whole = BSON_INITIALIZER;
    size_t length;
    result_put(&whole, AS_COUNT("schema", 1), AS_TEXT("command", command), AS_COUNT("status", status));
    char *json = bson_concat(&whole, result) ? ejson_print_concealed(&whole, &length) : NULL;
    if (!json)
        err_end_without_memory(result->len); /* of 2 GB */
    out_bytes(json, length);
    out_print("\n");
    free(json);
    bson_destroy(&whole);
}
