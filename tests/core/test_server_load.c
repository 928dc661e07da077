/* server_load: how many cores a server has kept busy. The numbers are of a real server (6.0.5), twice under a load. */
#include "server/server.h"
#include "test.h"

#include <math.h>

#define SECOND 1000000000ll

TEST(busy_cores) {
    const server_load_sample_t busy = {5 * SECOND, 9311353}, busier = {5 * SECOND + 326000000, 9881501},
                               silent = {6 * SECOND, NAN};
    assert_true(fabs(server_load_busy_cores(&busy, &busier) - 1.749) < 0.001);
    assert_true(isnan(server_load_busy_cores(&busy, &busy)));
    assert_true(isnan(server_load_busy_cores(&busy, &silent)));
    assert_true(isnan(server_load_busy_cores(&silent, &busier)));
    /* its process was restarted */
    assert_true(isnan(server_load_busy_cores(&(server_load_sample_t){4 * SECOND, 9881501}, &busy)));
}
