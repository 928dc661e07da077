#include "query/suite/accumulate.h"
#include "base/err.h"
#include "base/grow.h"
#include "query/suite/numeric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void accumulate_begin(accumulate_t *sums, const char *field, bool keeps) {
    *sums = (accumulate_t){.field = field, .dotted = strchr(field, '.') != NULL, .keeps = keeps};
}

/* Neumaier's method: whatever the order, the sum is exact to its last digits. */
static void add(accumulate_t *sums, double number) {
    const double sum = sums->sum + number;
    sums->lost += fabs(sums->sum) >= fabs(number) ? (sums->sum - sum) + number : (number - sum) + sums->sum;
    sums->sum = sum;
}

static double sum_of(const accumulate_t *sums) {
    return isfinite(sums->sum) ? sums->sum + sums->lost : sums->sum;
}

/* In the server's order, where NaN is the least number. */
static bool is_below(double one, double other) {
    return isnan(one) ? !isnan(other) : one < other;
}

static void take_number(accumulate_t *sums, double number) {
    if (!sums->count || is_below(number, sums->least))
        sums->least = number;
    if (!sums->count || is_below(sums->greatest, number))
        sums->greatest = number;
    add(sums, number);
    sums->count++;
}

static void keep(accumulate_t *sums, double number) {
    if (!GROW(sums->list, sums->room, sums->listed + 1, NULL))
        err_end_without_memory((sums->listed + 1) * sizeof *sums->list);
    sums->list[sums->listed++] = number;
}

void accumulate_take(accumulate_t *sums, const bson_t *document) {
    bson_iter_t at, inner;
    double number;
    sums->documents++;
    if (!bson_iter_init(&at, document))
        return;
    if (sums->dotted) {
        if (!bson_iter_find_descendant(&at, sums->field, &inner) || !numeric_double(&inner, &number))
            return;
    } else if (!bson_iter_find(&at, sums->field) || !numeric_double(&at, &number)) {
        return;
    }
    if (sums->keeps)
        keep(sums, number);
    else
        take_number(sums, number);
}

static void append_double(bson_t *to, const char *key, double number, bool there) {
    if (there)
        bson_append_double(to, key, -1, number);
    else
        bson_append_null(to, key, -1);
}

void accumulate_result(accumulate_t *sums, bson_t *result) {
    bson_t value;
    for (size_t i = 0; i < sums->listed; i++)
        take_number(sums, sums->list[i]);
    bson_init(result);
    bson_append_int32(result, "_id", -1, 0);
    bson_append_document_begin(result, "value", -1, &value);
    bson_append_int64(&value, "count", -1, (int64_t)sums->count);
    append_double(&value, "max", sums->greatest, sums->count > 0);
    append_double(&value, "min", sums->least, sums->count > 0);
    append_double(&value, "sum", sum_of(sums), true);
    bson_append_document_end(result, &value);
    free(sums->list);
    sums->list = NULL;
    sums->listed = 0;
}
