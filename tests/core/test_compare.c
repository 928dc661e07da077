/* compare: quantiles against the published tables of Student's t, intervals against ones computed by hand and
 * against what they promise of seeded samples; and files of an earlier run, good and bad. */
#include "base/numbers/hist.h"
#include "query/compare.h"
#include "test.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void near(double value, double expected, double within) {
    if (!(fabs(value - expected) <= within))
        fail_msg("%.12g instead of %.12g", value, expected);
}

/* ---- Student's t ---- */

/* As printed in tables, with three decimals. */
TEST(table_of_student) {
    static const struct {
        double freedom, at_95, at_975, at_995;
    } rows[] = {{1, 6.314, 12.706, 63.657},   {2, 2.920, 4.303, 9.925},  {3, 2.353, 3.182, 5.841},
                {4, 2.132, 2.776, 4.604},     {5, 2.015, 2.571, 4.032},  {6, 1.943, 2.447, 3.707},
                {7, 1.895, 2.365, 3.499},     {8, 1.860, 2.306, 3.355},  {9, 1.833, 2.262, 3.250},
                {10, 1.812, 2.228, 3.169},    {15, 1.753, 2.131, 2.947}, {20, 1.725, 2.086, 2.845},
                {30, 1.697, 2.042, 2.750},    {60, 1.671, 2.000, 2.660}, {120, 1.658, 1.980, 2.617},
                {100000, 1.645, 1.960, 2.576}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        near(compare_student(0.95, rows[i].freedom), rows[i].at_95, 0.0006);
        near(compare_student(0.975, rows[i].freedom), rows[i].at_975, 0.0006);
        near(compare_student(0.995, rows[i].freedom), rows[i].at_995, 0.0006);
    }
}

/* Where there is a formula: of one degree tan(pi (p - 1/2)), of two (2p - 1) sqrt(1 / (2p (1 - p))). */
TEST(formulas_of_student) {
    for (double p = 0.55; p < 0.9996; p += 0.0125) {
        double one = tan(M_PI * (p - 0.5)), two = (2 * p - 1) / sqrt(2 * p * (1 - p));
        near(compare_student(p, 1), one, one * 1e-9);
        near(compare_student(p, 2), two, two * 1e-9);
    }
    /* the normal distribution */
    near(compare_student(0.975, 1e5), 1.959963985, 1e-4);
    near(compare_student(0.975, 1e12), 1.959963985, 1e-5);
    near(compare_student(0.975, INFINITY), 1.959963985, 1e-5);
}

/* Degrees that are not whole: between their neighbours, and without a step. */
TEST(student_falls) {
    double before = INFINITY;
    for (double freedom = 1; freedom < 200; freedom *= 1.01) {
        double now = compare_student(0.975, freedom);
        assert_true(now < before);
        assert_true(isinf(before) || now > before * 0.96);
        before = now;
    }
}

/* ---- intervals ---- */

/* By hand: 10 +- 1 of four, then 12 +- 1.5 of nine. Variances of the logarithms 1/400 and 1.5^2/(9 * 144) =
 * 1/576; degrees (1/400 + 1/576)^2 / ((1/400)^2 / 3 + (1/576)^2 / 8) = 7.29428; half the width t * sqrt(1/400
 * + 1/576) = t * 0.0650854. t(7) = 2.36462 and t(8) = 2.30600 hold t between them. */
TEST(by_hand) {
    ratio_t ratio = compare_means((sample_t){4, 10, 1}, (sample_t){9, 12, 1.5});
    near(ratio.times, 1.2, 1e-12);
    near(ratio.low * ratio.high, 1.44, 1e-12);
    double t = log(ratio.high / 1.2) / 0.0650854;
    assert_true(t > 2.30600 && t < 2.36462);
    near(t, compare_student(0.975, 7.29428), 1e-4);
    assert_true(ratio.differs);
    /* the other way round it is the inverse */
    ratio_t back = compare_means((sample_t){9, 12, 1.5}, (sample_t){4, 10, 1});
    near(back.times, 1 / 1.2, 1e-12);
    near(back.low, 1 / ratio.high, 1e-12);
    near(back.high, 1 / ratio.low, 1e-12);
    assert_true(back.differs);
}

/* Two and two with the same relative deviation: two degrees, so t = 4.302653; 10 % each: half the width
 * 4.302653 * sqrt(0.01/2 + 0.01/2) = 0.4302653. */
TEST(two_and_two) {
    ratio_t ratio = compare_means((sample_t){2, 5, 0.5}, (sample_t){2, 7, 0.7});
    near(ratio.low, 1.4 * exp(-0.4302653), 1e-6);
    near(ratio.high, 1.4 * exp(0.4302653), 1e-6);
    assert_false(ratio.differs);
    /* all of the noise on one side: that side's degrees only */
    ratio = compare_means((sample_t){2, 5, 0.5}, (sample_t){1000000, 5, 0});
    near(ratio.high, exp(12.706205 * 0.1 / sqrt(2)), 1e-5);
}

TEST(cannot_be_told) {
    static const sample_t good = {5, 10, 1};
    static const sample_t no_mean[] = {{0, NAN, NAN}, {0, 10, 1}, {3, NAN, 1}, {3, 0, 1}, {3, -2, 1}};
    static const sample_t few[] = {{1, 20, NAN}, {1, 20, 0}, {2, 20, NAN}};
    for (size_t i = 0; i < sizeof no_mean / sizeof *no_mean; i++) {
        ratio_t a = compare_means(no_mean[i], good), b = compare_means(good, no_mean[i]);
        assert_true(isnan(a.times) && isnan(a.low) && isnan(a.high) && !a.differs);
        assert_true(isnan(b.times) && isnan(b.low) && isnan(b.high) && !b.differs);
    }
    for (size_t i = 0; i < sizeof few / sizeof *few; i++) {
        ratio_t a = compare_means(few[i], good), b = compare_means(good, few[i]);
        assert_true(a.times == 0.5 && isnan(a.low) && isnan(a.high) && !a.differs);
        assert_true(b.times == 2 && isnan(b.low) && isnan(b.high) && !b.differs);
    }
}

TEST(without_noise) {
    ratio_t same = compare_means((sample_t){3, 7, 0}, (sample_t){3, 7, 0});
    assert_true(same.times == 1 && same.low == 1 && same.high == 1 && !same.differs);
    ratio_t other = compare_means((sample_t){3, 7, 0}, (sample_t){3, 8, 0});
    assert_true(other.low == other.times && other.high == other.times && other.differs);
}

/* ---- what the intervals promise ---- */

static uint64_t drawn;

static double draw(void) { /* between 0 and 1: splitmix64 */
    uint64_t z = drawn += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double draw_normal(void) {
    return sqrt(-2 * log(draw())) * cos(2 * M_PI * draw());
}

typedef struct {
    uint64_t n;
    double mean, sd;
    bool skewed; /* as times are: few are much longer */
} drawn_from_t;

static sample_t draw_sample(const drawn_from_t *from) {
    moments_t moments = {0};
    double spread = sqrt(log(1 + from->sd * from->sd / (from->mean * from->mean)));
    for (uint64_t i = 0; i < from->n; i++)
        moments_add(&moments, from->skewed ? from->mean * exp(spread * draw_normal() - spread * spread / 2)
                                           : from->mean + from->sd * draw_normal());
    return (sample_t){moments.count, moments.mean, moments_sd(&moments)};
}

/* Shares of 4,000 pairs whose interval does not hold 1, and whose interval holds the true ratio. */
static void simulate(drawn_from_t before, drawn_from_t now, double *differ, double *cover) {
    enum { PAIRS = 4000 };
    int differing = 0, covering = 0;
    for (int i = 0; i < PAIRS; i++) {
        ratio_t ratio = compare_means(draw_sample(&before), draw_sample(&now));
        double truth = now.mean / before.mean;
        assert_true(ratio.low <= ratio.times && ratio.times <= ratio.high);
        assert_true(ratio.differs == (ratio.low > 1 || ratio.high < 1));
        differing += ratio.differs;
        covering += ratio.low <= truth && truth <= ratio.high;
    }
    *differ = (double)differing / PAIRS;
    *cover = (double)covering / PAIRS;
}

TEST(equal_ones_are_noise) {
    static const struct {
        drawn_from_t before, now;
        double least; /* Welch's degrees are an approximation: a little short for three beside fifty */
    } pairs[] = {
        {{5, 100, 5, false}, {5, 100, 5, false}, 0.94}, {{20, 100, 30, false}, {20, 100, 30, false}, 0.94},
        {{5, 3, 0.6, true}, {5, 3, 0.6, true}, 0.94},   {{10, 1, 0.02, false}, {10, 1, 0.2, false}, 0.94},
        {{1000, 7, 5, true}, {1000, 7, 5, true}, 0.94}, {{3, 10, 0.5, false}, {50, 10, 0.5, false}, 0.9}};
    drawn = 20240101;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        double differ, cover;
        simulate(pairs[i].before, pairs[i].now, &differ, &cover);
        if (cover < pairs[i].least || cover > 0.98 || fabs(differ - (1 - cover)) > 1e-12)
            fail_msg("pair %zu: %g hold 1, %g differ", i, cover, differ);
    }
}

TEST(other_ones_are_found) {
    static const struct {
        drawn_from_t before, now;
        double least;
    } pairs[] = {{{5, 100, 5, false}, {5, 120, 6, false}, 0.98},
                 {{5, 100, 5, false}, {5, 80, 4, false}, 0.98},
                 {{10, 100, 10, true}, {10, 120, 12, true}, 0.9},
                 {{100, 100, 50, true}, {100, 120, 60, true}, 0.7}};
    drawn = 7;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        double differ, cover;
        simulate(pairs[i].before, pairs[i].now, &differ, &cover);
        if (differ < pairs[i].least || cover < 0.935 || cover > 0.98)
            fail_msg("pair %zu: %g are found, %g hold the truth", i, differ, cover);
    }
}

/* ---- files ---- */

static const char path[] = "earlier.json";

static bool read_text(const char *text, earlier_list_t *list, err_t *err) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
    return compare_read(path, list, err);
}

#define HEAD "{\"schema\":1,\"command\":\"query\",\"status\":0,\"suite\":\"s\",\"queries\":["

TEST(file) {
    earlier_list_t list;
    err_t err = {.text = ""};
    if (!read_text(HEAD
                   "\n"
                   "{\"name\":\"a\",\"with\":\"\",\"reads\":null,\"clients\":1,\"n\":5,"
                   "\"empty\":4,\"failures\":0,\"mean_ms\":12,\"sd_ms\":0.5,\"result\":[{\"$k\":1,\"x\":{\"$"
                   "date\":\"2014-"
                   "01-01T00:00:00Z\"}}]},\n"
                   "{\"name\":\"a\",\"with\":\"n=10 span=day\",\"reads\":\"secondary\",\"clients\":16,"
                   "\"n\":8000000000,\"failures\":0,\"mean_ms\":0.25,\"sd_ms\":1e-3},\n"
                   "{\"name\":\"a\",\"with\":\"\",\"reads\":null,\"clients\":2,\"n\":1,"
                   "\"empty\":1,\"failures\":0,\"mean_ms\":3,\"sd_ms\":null},\n"
                   "{\"name\":\"b\",\"clients\":1,\"n\":3,\"failures\":2,\"mean_ms\":3,\"sd_ms\":2},\n"
                   "{\"name\":\"b\",\"clients\":2,\"n\":0,\"failures\":0,\"mean_ms\":null,\"sd_ms\":null}\n"
                   "]}\n",
                   &list, &err))
        fail_msg("%s", err.text);
    assert_int_equal(list.count, 5);
    assert_string_equal("s", list.suite);
    assert_string_equal("", list.namespace);
    assert_string_equal("", list.items[0].question);
    const earlier_t *a = compare_find(&list, "a", "", "", 1);
    assert_ptr_equal(a, &list.items[0]);
    assert_true(a->ms.n == 5 && a->ms.mean == 12 && a->ms.sd == 0.5 && !a->nothing);
    a = compare_find(&list, "a", "n=10 span=day", "secondary", 16);
    assert_ptr_equal(a, &list.items[1]);
    assert_true(a->ms.n == 8000000000 && a->ms.mean == 0.25 && a->ms.sd == 0.001);
    a = compare_find(&list, "a", "", "", 2);
    assert_true(a && a->ms.n == 1 && a->ms.mean == 3 && isnan(a->ms.sd) && a->nothing);
    /* failed, or never done: it is there, and has no figure */
    a = compare_find(&list, "b", "", "", 1);
    assert_true(a && isnan(compare_means(a->ms, (sample_t){5, 1, 1}).times));
    a = compare_find(&list, "b", "", "", 2);
    assert_true(a && isnan(compare_means(a->ms, (sample_t){5, 1, 1}).times));
    /* each of the four things must be the same */
    assert_null(compare_find(&list, "c", "", "", 1));
    assert_null(compare_find(&list, "a", "n=10", "", 1));
    assert_null(compare_find(&list, "a", "", "primary", 1));
    assert_null(compare_find(&list, "a", "", "", 3));
    compare_free(&list);
    assert_null(compare_find(&list, "a", "", "", 1));
    assert_true(read_text(HEAD "]}", &list, &err));
    assert_int_equal(list.count, 0);
    compare_free(&list);
    unlink(path);
}

/* Answers, as they are printed: they need not be extended JSON that anybody can read. */
TEST(answers_are_not_read) {
    enum { DEEP = 170 };
    char deep[2 * DEEP + 3] = "";
    for (int i = 0; i < DEEP; i++) {
        deep[i] = '[';
        deep[DEEP + 1 + i] = ']';
    }
    deep[DEEP] = '1';
    const char *const answers[] = {"[{\"v\":{\"$oid\":\"xyz\"}}]",
                                   "[{\"$numberDouble\":\"zz\",\"q\":1}]",
                                   "[{\"$date\":{\"$numberLong\":\"x\"}}]",
                                   "[{\"$binary\":1}]",
                                   "[{\"a\":\"]}\\\"\",\"queries\":[{\"$oid\":1}]},\"\\\\\"]",
                                   "[]",
                                   deep};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        char text[2000];
        earlier_list_t list;
        err_t err = {.text = ""};
        snprintf(
            text, sizeof text,
            "{\"schema\":1,\"command\":\"query\",\"more\":[%s],\"queries\":[{\"name\":\"a\",\"result\":%s,"
            "\"clients\":1,\"n\":5,\"mean_ms\":12},{\"name\":\"b\",\"clients\":1,\"n\":1,\"x\":%s}],"
            "\"suite\":\"s\"}",
            answers[i], answers[i], answers[i]);
        if (!read_text(text, &list, &err))
            fail_msg("%s: %s", answers[i], err.text);
        assert_int_equal(list.count, 2);
        assert_true(list.items[0].ms.n == 5 && list.items[0].ms.mean == 12);
        assert_string_equal("b", list.items[1].name);
        assert_string_equal("s", list.suite);
        compare_free(&list);
    }
    unlink(path);
}

TEST(broken_files) {
    static const struct {
        const char *text, *says;
    } files[] = {
        {"", "is nothing in it"},
        {"   \n", "earlier.json is not what"},
        {"query,with,reads\n", "earlier.json is not what"},
        {HEAD, "earlier.json is not what"},
        {HEAD "{\"name\":\"a\"", "earlier.json is not what"},
        {HEAD "{\"name\":\"a\",\"clients\":1,\"n\":1,\"result\":[{\"b\":1}", "earlier.json is not what"},
        {HEAD "{\"name\":\"a\",\"clients\":1,\"n\":1,\"result\":[{\"b\":\"", "earlier.json is not what"},
        {HEAD "{\"name\":\"a\",\"clients\":1,\"n\":1,\"result\":\"\\", "earlier.json is not what"},
        {"[1]", "say which command"},
        {"{}", "say which command"},
        {"{\"schema\":1,\"command\":\"load\"}", "of `tipple load`"},
        {"{\"command\":\"query\",\"queries\":[]}", "which schema"},
        {"{\"schema\":2,\"command\":\"query\",\"queries\":[]}", "schema 2"},
        {"{\"schema\":\"1\",\"command\":\"query\",\"queries\":[]}", "which schema"},
        {"{\"schema\":1,\"command\":\"query\"}", "no list 'queries'"},
        {"{\"schema\":1,\"command\":\"query\",\"queries\":{}}", "no list 'queries'"},
        {HEAD "7]}", "number 1 of its 'queries'"},
        {HEAD "{\"name\":\"a\",\"clients\":1,\"n\":1},{\"clients\":1,\"n\":1}]}", "number 2 .*'name'"},
        {HEAD "{\"name\":7,\"clients\":1,\"n\":1}]}", "'name'"},
        {HEAD "{\"name\":\"a\",\"with\":[],\"clients\":1,\"n\":1}]}", "'with'"},
        {HEAD "{\"name\":\"a\",\"n\":1}]}", "'clients'"},
        {HEAD "{\"name\":\"a\",\"clients\":0,\"n\":1}]}", "'clients'"},
        {HEAD "{\"name\":\"a\",\"clients\":1e300,\"n\":1}]}", "'clients'"},
        {HEAD "{\"name\":\"a\",\"clients\":1.7,\"n\":1}]}", "'clients'"},
        {HEAD "{\"name\":\"a\",\"clients\":1,\"n\":1.5}]}", "'n'"},
        {HEAD "{\"name\":\"a\",\"clients\":1,\"n\":1,\"mean_ms\":-1}]}", "'mean_ms'"},
        {HEAD "{\"name\":\"a\",\"clients\":1,\"n\":1,\"mean_ms\":1e308}]}", "'mean_ms'"},
        {HEAD "{\"name\":\"a\",\"clients\":1,\"n\":1,\"mean_ms\":1e-300}]}", "'mean_ms'"},
        {HEAD "{\"name\":\"a\",\"clients\":1,\"n\":1,\"mean_ms\":1,\"sd_ms\":-1}]}", "'sd_ms'"},
        {HEAD "{\"name\":\"a\",\"clients\":1}]}", "'n'"},
        {HEAD "{\"name\":\"a\",\"clients\":1,\"n\":-1}]}", "'n'"},
        {HEAD "{\"name\":\"a\",\"clients\":1,\"n\":1,\"mean_ms\":\"3\"}]}", "'mean_ms'"},
        {HEAD "]} {\"schema\":1}", "something follows"},
        {HEAD "]} garbage", "earlier.json is not what"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        earlier_list_t list;
        err_t err = {.text = ""};
        assert_false(read_text(files[i].text, &list, &err));
        assert_int_equal(err.status, STATUS_USAGE);
        assert_true(list.items == NULL && list.count == 0);
        const char *rest = err.text;
        char says[100], *part, *saved;
        snprintf(says, sizeof says, "%s", files[i].says);
        for (part = strtok_r(says, "*", &saved); part; part = strtok_r(NULL, "*", &saved)) {
            part[strlen(part) - (part[strlen(part) - 1] == '.')] = '\0';
            rest = strstr(rest, part);
            if (!rest)
                fail_msg("'%s' says '%s', and nothing of '%s'", files[i].text, err.text, files[i].says);
        }
        assert_non_null(strstr(err.text, path));
        assert_null(strchr(err.text, '\n'));
    }
    unlink(path);
}

TEST(deep_file) {
    enum { DEEP = 5000 };
    static char text[DEEP * 8 + 200];
    earlier_list_t list;
    err_t err = {.text = ""};
    size_t used = (size_t)sprintf(text, "%s", HEAD "{\"result\":");
    memset(text + used, '[', DEEP);
    memset(text + used + DEEP, ']', DEEP);
    strcpy(text + used + 2 * DEEP, "}]}");
    assert_false(read_text(text, &list, &err));
    assert_int_equal(err.status, STATUS_USAGE);
    unlink(path);
}

TEST(files_that_cannot_be_read) {
    earlier_list_t list;
    err_t err = {.text = ""};
    assert_false(compare_read("no/such/file.json", &list, &err));
    assert_int_equal(err.status, STATUS_USAGE);
    assert_non_null(strstr(err.text, "no/such/file.json cannot be read"));
    assert_false(compare_read(".", &list, &err));
    assert_int_equal(err.status, STATUS_USAGE);
    assert_non_null(strstr(err.text, "cannot be read: Is a directory"));
    /* endless, and huge */
    assert_false(compare_read("/dev/zero", &list, &err));
    assert_int_equal(err.status, STATUS_USAGE);
    assert_non_null(strstr(err.text, "/dev/zero is larger than 64 MB"));
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0666);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, 100 << 20), 0);
    close(fd);
    assert_false(compare_read(path, &list, &err));
    assert_int_equal(err.status, STATUS_USAGE);
    assert_non_null(strstr(err.text, "earlier.json is larger than 64 MB"));
    unlink(path);
}
