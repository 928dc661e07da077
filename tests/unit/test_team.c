/* team: all are joined, the first failure is kept. */
#include "base/threads/team.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static atomic_uint done;

static void *work(void *context) {
    usleep(1000);
    done += (unsigned)(uintptr_t)context;
    return NULL;
}

static void all_are_joined(void **state) {
    (void)state;
    team_t team;
    err_t err = {.text = "as it was"};
    team_init(&team);
    done = 0;
    for (uintptr_t i = 1; i <= 20; i++)
        assert_true(team_start(&team, work, (void *)i, "", &err));
    assert_int_equal(team.count, 20);
    assert_false(team_failed(&team));
    assert_true(team_join(&team, &err));
    assert_int_equal(done, 210);
    assert_string_equal(err.text, "as it was");
}

static void *fails(void *context) {
    err_t err;
    err_set(&err, STATUS_INPUT, "by a thread");
    team_fail(context, &err);
    return NULL;
}

static void the_first_failure_is_kept(void **state) {
    (void)state;
    team_t team;
    err_t err;
    team_init(&team);
    err_set(&err, STATUS_SERVER, "at first");
    team_fail(&team, &err);
    assert_true(team_failed(&team));
    for (int i = 0; i < 5; i++)
        assert_true(team_start(&team, fails, &team, "", &err));
    assert_false(team_join(&team, &err));
    assert_int_equal(err.status, STATUS_SERVER);
    assert_string_equal(err.text, "at first");
}

static void nobody_is_no_failure(void **state) {
    (void)state;
    team_t team;
    err_t err;
    team_init(&team);
    assert_true(team_join(&team, &err));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_are_joined),
                                       cmocka_unit_test(the_first_failure_is_kept),
                                       cmocka_unit_test(nobody_is_no_failure)};
    return cmocka_run_group_tests_name("team", tests, NULL, NULL);
}
