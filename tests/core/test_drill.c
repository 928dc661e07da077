/* drill: which first query is taken, and what drills need together. */
#include "study/drill/drill.h"
#include "test.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

TEST(first_query) {
    static const struct {
        const char *query, *why; /* why NULL: it is taken */
    } cases[] = {
        {NULL, NULL},
        {"mot:by-make", NULL},
        {"isd:station-latency", NULL},
        {"mott:greenness", "did you mean 'mot'"},
        {"mot:nothing", "has no query 'nothing'"},
        {"mot", "is not SUITE:NAME"},
        {"mot:", "is not SUITE:NAME"},
        {":x", "is not SUITE:NAME"},
        {"./none:a.yaml/b.yaml:x", "none:a.yaml/b.yaml"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_t err = {.text = ""};
        assert_int_equal(drill_check_query(cases[i].query, &err), !cases[i].why);
        if (cases[i].why && (err.status != STATUS_USAGE || !strstr(err.text, cases[i].why)))
            fail_msg("'%s' does not speak of '%s'", err.text, cases[i].why);
    }
}

/* Of two drills; measured 0: they did not come to their ends. */
TEST(needs) {
    static const struct {
        double measured[2];
        forecast_t verified[2];
        double needs;
    } cases[] = {
        {{10, 5}, {{3, 5, 6}, {3, 5, 6}}, 15},         {{10, 5}, {{NAN, NAN, NAN}, {NAN, NAN, NAN}}, 15},
        {{10, 0}, {{7, 10, 13}, {16, 20, 24}}, 35}, /* 30, and the root of 9 + 16 */
        {{0, 0}, {{7, 10, 13}, {NAN, 20, NAN}}, 30},   {{0, 0}, {{NAN, NAN, NAN}, {16, 20, 24}}, NAN},
        {{0, 0}, {{7, 10, 13}, {NAN, NAN, NAN}}, NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static drill_result_t drills[2];
        for (size_t k = 0; k < 2; k++) {
            drills[k].pass.finished = cases[i].measured[k] > 0;
            drills[k].pass.verified_ns = (int64_t)(cases[i].measured[k] * 1e9);
            drills[k].pass.verified = cases[i].verified[k];
        }
        const double needs = drill_needs(drills, 2);
        if (needs != cases[i].needs && !(isnan(needs) && isnan(cases[i].needs)))
            fail_msg("case %zu: %g is not %g", i, needs, cases[i].needs);
    }
}
