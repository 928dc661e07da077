#include "query/suite/accumulate.h"
#include "query/suite/numeric.h"

#include <math.h>
#include <string.h>

void accumulate_begin(accumulate_t *sums, const char *field) {
    *sums = (accumulate_t){.field = field, .dotted = strchr(field, '.') != NULL};
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
    if (!sums->moments.count || is_below(number, sums->least))
        sums->least = number;
    if (!sums->moments.count || is_below(sums->greatest, number))
        sums->greatest = number;
    add(sums, number);
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
    append_double(result, "sum", sum_of(sums), true);
    append_double(result, "min", sums->least, any);
    append_double(result, "max", sums->greatest, any);
    append_double(result, "mean", sum_of(sums) / (double)moments->count, any);
    append_double(result, "deviation", any ? sqrt(moments->squares / (double)moments->count) : 0, any);
}
