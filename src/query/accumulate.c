#include "query/accumulate.h"

#include <math.h>
#include <string.h>

void accumulate_begin(accumulate_t *sums, const char *field) {
    *sums = (accumulate_t){.field = field, .dotted = strchr(field, '.') != NULL};
}

static bool number_of(const bson_iter_t *at, double *number) {
    switch (bson_iter_type(at)) {
    case BSON_TYPE_INT32:
        *number = bson_iter_int32(at);
        return true;
    case BSON_TYPE_INT64:
        *number = (double)bson_iter_int64(at);
        return true;
    case BSON_TYPE_DOUBLE:
        *number = bson_iter_double(at);
        return true;
    default:
        return false;
    }
}

void accumulate_take(accumulate_t *sums, const bson_t *document) {
    bson_iter_t at, inner;
    double number;
    sums->documents++;
    if (!bson_iter_init(&at, document))
        return;
    if (sums->dotted) {
        if (!bson_iter_find_descendant(&at, sums->field, &inner) || !number_of(&inner, &number))
            return;
    } else if (!bson_iter_find(&at, sums->field) || !number_of(&at, &number)) {
        return;
    }
    if (!sums->moments.count || number < sums->least)
        sums->least = number;
    if (!sums->moments.count || number > sums->greatest)
        sums->greatest = number;
    sums->sum += number;
    moments_add(&sums->moments, number);
}

static void append_double(bson_t *to, const char *key, double number, bool there) {
    if (there)
        bson_append_double(to, key, -1, number);
    else
        bson_append_null(to, key, -1);
}

void accumulate_result(const accumulate_t *sums, bson_t *result) {
    const moments_t *moments = &sums->moments;
    bool any = moments->count > 0;
    bson_init(result);
    bson_append_int64(result, "count", -1, (int64_t)moments->count);
    append_double(result, "sum", sums->sum, true);
    append_double(result, "min", sums->least, any);
    append_double(result, "max", sums->greatest, any);
    append_double(result, "mean", moments->mean, any);
    append_double(result, "deviation", any ? sqrt(moments->squares / (double)moments->count) : 0, any);
}
