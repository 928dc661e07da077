/* team: all are joined, the first failure is kept. */
#include "base/threads.h"
#include "test.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static atomic_uint done;

static void *work(void *context) {
    usleep(1000);
    done += (unsigned)(uintptr_t)context;
    return NULL;
}

TEST(all_are_joined) {
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

TEST(the_first_failure_is_kept) {
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

TEST(nobody_is_no_failure) {
    team_t team;
    err_t err;
    team_init(&team);
    assert_true(team_join(&team, &err));
}
