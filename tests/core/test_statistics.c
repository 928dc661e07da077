/* Statistics: means, deviations, intervals and quantiles beside references that share nothing with the code: numbers
 * computed with forty digits by mpmath (quantiles by halving its incomplete beta function), sums of two passes in
 * long doubles, and sorted samples. */
#include "base/numbers.h"
#include "query/hist.h"
#include "study/student.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void near(double value, double expected, double within, const char *what, double of) {
    if (!(fabs(value - expected) <= within * fabs(expected)))
        fail_msg("%s of %g: %.17g instead of %.17g", what, of, value, expected);
}

TEST(quantiles_of_student) {
    static const double at[] = {0.84, 0.95, 0.975, 0.9975, 0.9995};
    static const struct {
        double freedom, t[5];
    } rows[] = {
        {1, {1.818993247281066, 6.313751514675043, 12.7062047361747, 127.3213364688721, 636.6192487687196}},
        {2, {1.311578474677781, 2.919985580353726, 4.302652729749464, 14.08904727555529, 31.59905457644362}},
        {3, {1.188928636477017, 2.353363434801824, 3.18244630528371, 7.453318505150625, 12.92397863668748}},
        {3.5, {1.157247495337729, 2.222433493649602, 2.94008863798273, 6.309203871699792, 10.20482863165588}},
        {4, {1.134396637974047, 2.13184678632665, 2.776445105197794, 5.597568367075459, 8.610301581379275}},
        {5, {1.103668272956062, 2.015048373333024, 2.570581835636316, 4.773340604855522, 6.86882662588111}},
        {7.29428,
         {1.067020558398908, 1.883141989252989, 2.345422053488252, 3.964131921068569, 5.285455501063306}},
        {10, {1.046422610497965, 1.812461122811676, 2.228138851986275, 3.581406202090656, 4.586893858702636}},
        {30, {1.011215745392433, 1.697260886593958, 2.042272456301238, 3.029798223648243, 3.645958635042022}},
        {100, {0.9994273166257914, 1.66023432608534, 1.983971518523552, 2.870651523836538, 3.39049131116423}},
        {999,
         {0.9949531052588131, 1.646380345427536, 1.96234146113345, 2.813284123745299, 3.300292440398735}},
        {1000.5,
         {0.9949523624283235, 1.64637805436103, 1.962337892459348, 2.813274733560451, 3.300277759796532}},
        {5000,
         {0.9945567892113744, 1.645158437596971, 1.960438551706508, 2.808280526738663, 3.292473723370851}},
        {99999,
         {0.9944628280925361, 1.644868864937351, 1.959987707771845, 2.807096082461891, 3.290624032384918}},
        {1000000,
         {0.9944583776908758, 1.64485515072204, 1.959966356814107, 2.807039999577637, 3.290536461248691}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < sizeof at / sizeof *at; k++)
            near(student_quantile(at[k], rows[i].freedom), rows[i].t[k], 1e-6, "t", rows[i].freedom);
}

static int by_size(const void *a, const void *b) {
    const double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* As numpy's linear rule, in long doubles. */
static double linear(const double *sorted, uint64_t count, uint64_t thousandths) {
    const uint64_t place = thousandths * (count - 1), at = place / 1000, part = place % 1000;
    const double next = sorted[at + (at + 1 < count)];
    return (double)(((long double)sorted[at] * (1000 - part) + (long double)next * part) / 1000);
}

TEST(samples) {
    static const uint64_t counts[] = {1, 2, 3, 5, 7, 10, 20, 99, 100, 101, 1000, 10000, 99999, 100000};
    static const uint64_t shares[] = {1, 7, 70, 250, 500, 550, 900, 950, 980, 990, 995, 998, 999, 1000};
    static const double offsets[] = {0, 1e6, 3e12};
    double *values = malloc(100000 * sizeof *values);
    hist_t *halves = malloc(2 * sizeof *halves);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t k = 0; k < sizeof offsets / sizeof *offsets; k++) {
            const uint64_t count = counts[i];
            uint64_t drawn = 7 + i;
            long double sum = 0, squares = 0;
            memset(halves, 0, 2 * sizeof *halves);
            for (uint64_t at = 0; at < count; at++) {
                /* some are much longer than most */
                const double one = (double)(chance_next(&drawn) >> 11) * 0x1p-53;
                values[at] = floor(offsets[k] + 1e5 / (0.001 + one));
                sum += values[at];
                hist_add(&halves[at % 3 == 0], (int64_t)values[at]);
            }
            const long double mean = sum / (long double)count;
            for (uint64_t at = 0; at < count; at++)
                squares += (values[at] - mean) * (values[at] - mean);
            hist_merge(&halves[0], &halves[1]);
            const hist_t *hist = &halves[0];
            assert_true(hist->moments.count == count);
            near(hist->moments.mean, (double)mean, 1e-12, "the mean", (double)count);
            if (count == 1)
                assert_true(isnan(moments_sd(&hist->moments)));
            else
                near(moments_sd(&hist->moments), (double)sqrtl(squares / (long double)(count - 1)), 1e-9,
                     "the deviation", (double)count);
            qsort(values, count, sizeof *values, by_size);
            for (size_t share = 0; share < sizeof shares / sizeof *shares; share++) {
                const double quantile = hist_quantile_ns(hist, (double)shares[share] / 1000);
                near(quantile, linear(values, count, shares[share]), count <= HIST_FEW ? 1e-9 : 0.004,
                     "a quantile", (double)count);
            }
        }
    free(values);
    free(halves);
}
