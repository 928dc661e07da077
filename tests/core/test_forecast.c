/* forecast: lines and intervals against sums that were done by hand, with t from a printed table. */
#include "study/drill/drill.h"
#include "test.h"

#include <math.h>
#include <stdint.h>

#define AT(points, shape, documents) forecast_of(points, sizeof(points) / sizeof *(points), shape, documents)

/* To four digits. */
static void near(double found, double expected) {
    if (!(fabs(found - expected) <= fabs(expected) * 2e-4 + 1e-9))
        fail_msg("%.9g is not %.9g", found, expected);
}

/* Student's t, 97.5 %, from a table. */
static const double T1 = 12.7062, T2 = 4.3027, T3 = 3.1824;

/* 1, 2 and 3 seconds: mean 2, deviation 1; the next one is within 2 +- 4.3027 * sqrt(1 + 1/3). */
TEST(constant) {
    const forecast_point_t points[] = {{10, 1}, {1000, 2}, {10, 3}};
    const forecast_t all = AT(points, FORECAST_CONSTANT, 1e9);
    near(all.mid, 2);
    near(all.high, 2 + T2 * 1.1547);
    near(all.low, 0); /* nothing takes less than nothing */
}

/* 0.5 s and 1 ms a document, exactly: seconds / n is 0.001 + 0.5 / n. */
TEST(exact_line) {
    const forecast_point_t points[] = {{100, 0.6}, {200, 0.7}, {500, 1.0}, {1000, 1.5}};
    const forecast_t all = AT(points, FORECAST_LINE, 1000000);
    near(all.mid, 1000.5);
    near(all.low, all.mid);
    near(all.high, all.mid);
}

/* n     1     2     4     4         z = 1/n    1      0.5    0.25   0.25      mean 0.5
 * s     5     8    12    16         y = s/n    5      4      3      4         mean 4
 * z - mean  0.5  0  -0.25  -0.25;   y - mean   1  0  -1  0
 * Szz = 0.25 + 0.0625 + 0.0625 = 0.375;  Szy = 0.5 + 0.25 = 0.75;  fixed = 2, each = 4 - 2 * 0.5 = 3
 * fitted y: 5, 4, 3.5, 3.5; off: 0, 0, -0.5, 0.5: squares 0.5, freedom 2: deviation 0.5
 * at 10: z = 0.1: s = (3 + 2 * 0.1) * 10 = 32;
 * +- 4.3027 * 0.5 * 10 * sqrt(1 + 1/4 + 0.4^2 / 0.375) = 21.5135 * sqrt(1.676667) = 27.857 */
TEST(line) {
    const forecast_point_t points[] = {{1, 5}, {2, 8}, {4, 12}, {4, 16}};
    const forecast_t all = AT(points, FORECAST_LINE, 10);
    near(all.mid, 32);
    near(all.high - all.mid, T2 * 5 * sqrt(1 + 0.25 + 0.16 / 0.375));
    near(all.high - all.mid, 27.857);
    near(all.low, 32 - 27.857);
}

/* Computed by Python: the normal equations of seconds = a + b * work with weights 1 / work^2 in fractions, the variance
 * of one more measurement from the inverse of their matrix, and t by bisection of the integral of its density. */
TEST(against_normal_equations) {
    const forecast_point_t points[] = {{25000, 0.47},  {50000, 0.68}, {100000, 1.26},
                                       {100000, 1.17}, {50000, 0.73}, {25000, 0.42}};
    const forecast_t line = AT(points, FORECAST_LINE, 5000000), sort = AT(points, FORECAST_SORT, 5000000);
    near(line.low, 36.0668561);
    near(line.mid, 51.6878571);
    near(line.high, 67.3088582);
    near(sort.low, 44.3856583);
    near(sort.mid, 67.2936193);
    near(sort.high, 90.2015804);
}

/* n * log2(n): 2 -> 2, 4 -> 8, 16 -> 64; 0.25 of work and 3 s: exactly 3.5, 5, 19; at 1024: 3 + 2560. Of a
 * line through the same points it would be far less. */
TEST(sort) {
    const forecast_point_t points[] = {{2, 3.5}, {4, 5}, {16, 19}};
    near(AT(points, FORECAST_SORT, 1024).mid, 2563);
    assert_true(AT(points, FORECAST_LINE, 1024).mid < 1500);
}

/* 1 s for 100 and 3 s for 200 would begin at -1 s: through zero instead. Shares 0.01 and 0.015: mean 0.0125,
 * deviation 0.00353553, freedom 1. */
TEST(below_zero) {
    const forecast_point_t points[] = {{100, 1}, {200, 3}};
    const forecast_t all = AT(points, FORECAST_LINE, 1000);
    near(all.mid, 12.5);
    near(all.high, 12.5 + T1 * 3.53553 * sqrt(1.5));
    near(all.low, 0);
}

/* More documents took less: size does not matter. 2, 1.5, 1 and 0.5 s: mean 1.25, deviation 0.6455. */
TEST(falling) {
    const forecast_point_t points[] = {{100, 2}, {200, 1.5}, {300, 1}, {400, 0.5}};
    near(AT(points, FORECAST_LINE, 1e9).mid, 1.25);
    near(AT(points, FORECAST_LINE, 1e9).high, 1.25 + T3 * 0.645497 * sqrt(1.25));
}

/* 1 s and, within 10 %, nothing more: the bigger sample took less by chance. As a constant it is 0.95 to 1.15
 * s for any number of documents, which nobody can know of a thousand times as many. z = 0.01, 0.01, 0.005,
 * 0.005: mean 0.0075, Szz 2.5e-5; y = 0.0105, 0.0115, 0.0050, 0.0045: mean 0.007875; Szy = 0.0025 * (0.022 -
 * 0.0095) = 3.125e-5: fixed 1.25, each -0.0015; off -0.0005, 0.0005, 0.00025, -0.00025: squares 6.25e-7,
 * freedom 2. At 1e5: z = 1e-5, away 0.00749: 1.25 - 150 + 4.3027 * 0.00055902 * 1e5 * sqrt(1.25 + 5.6100e-5
 * / 2.5e-5) */
TEST(fallen_by_chance) {
    const forecast_point_t points[] = {{100, 1.05}, {100, 1.15}, {200, 1.0}, {200, 0.9}};
    const forecast_t all = AT(points, FORECAST_LINE, 1e5), near_by = AT(points, FORECAST_LINE, 200);
    near(all.mid, 1.025);
    near(all.high, 1.25 - 150 + T2 * 0.000559017 * 1e5 * sqrt(1.25 + 0.00749 * 0.00749 / 2.5e-5));
    assert_true(all.high > 100);
    assert_true(near_by.high < 2);
}

/* Of n values in steps of 1 the variance is n * (n + 1) / 12. */
TEST(intervals) {
    static const double t[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706};
    forecast_point_t points[FORECAST_MOST_POINTS];
    for (size_t i = 0; i < FORECAST_MOST_POINTS; i++)
        points[i] = (forecast_point_t){1, 1000 + (double)i};
    for (size_t n = 2; n <= FORECAST_MOST_POINTS; n++) {
        const forecast_t all = forecast_of(points, n, FORECAST_CONSTANT, 1);
        near(all.high - all.mid, t[n - 2] * sqrt((double)(n * (n + 1)) / 12 * (1 + 1 / (double)n)));
    }
}

/* One size: in proportion, since nothing shows what does not grow. 2, 2.2 and 1.8 s for 100. */
TEST(one_size) {
    const forecast_point_t points[] = {{100, 2}, {100, 2.2}, {100, 1.8}};
    near(AT(points, FORECAST_LINE, 400).mid, 8);
    near(AT(points, FORECAST_LINE, 400).high, 8 + T2 * 0.2 * 4 * sqrt(4.0 / 3));
}

/* Two points make a line, and say nothing of how they scatter; one makes a proportion; none makes nothing. */
TEST(too_few) {
    const forecast_point_t points[] = {{100, 2}, {200, 3}};
    forecast_t all = AT(points, FORECAST_LINE, 1000);
    near(all.mid, 11);
    assert_true(isnan(all.low) && isnan(all.high));
    all = forecast_of(points, 1, FORECAST_LINE, 1000);
    near(all.mid, 20);
    assert_true(isnan(all.low));
    all = forecast_of(points, 1, FORECAST_CONSTANT, 1000);
    near(all.mid, 2);
    assert_true(isnan(all.high));
    assert_true(isnan(forecast_of(points, 0, FORECAST_LINE, 1000).mid));
}

/* 10 (7 to 14) and 20 (16 to 23): 30, less 5, more 5. */
TEST(sum) {
    const forecast_t parts[] = {{7, 10, 14}, {NAN, NAN, NAN}, {16, 20, 23}, {NAN, 5, NAN}};
    forecast_t sum = forecast_sum(parts, 3);
    near(sum.mid, 30);
    near(sum.low, 25);
    near(sum.high, 35);
    sum = forecast_sum(parts, 4);
    near(sum.mid, 35);
    assert_true(isnan(sum.low) && isnan(sum.high));
    assert_true(isnan(forecast_sum(parts + 1, 1).mid));
    assert_true(isnan(forecast_sum(parts, 0).mid));
}

TEST(error) {
    near(forecast_error_percent(&(forecast_t){1, 12, 15}, 10), 20);
    near(forecast_error_percent(&(forecast_t){1, 6, 15}, 8), -25);
    assert_true(isnan(forecast_error_percent(&(forecast_t){NAN, NAN, NAN}, 8)));
    assert_true(isnan(forecast_error_percent(&(forecast_t){1, 2, 3}, 0)));
}
