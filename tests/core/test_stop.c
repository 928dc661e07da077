/* stop: the first signal asks, a SIGINT a second later ends at once, and the end is the signal's own. Each is tried
 * in a process of its own. */
#include "base/stop.h"
#include "heard.h"
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GOOD = 42, BAD = 43 };

typedef int life_t(void);

static int run(life_t *life) {
    pid_t child = fork();
    if (child == 0) {
        stop_install();
        _exit(life());
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

static void is_good(life_t *life) {
    const int status = run(life);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), GOOD);
}

static void dies_of(int signal, life_t *life) {
    const int status = run(life);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), signal);
}

static int asks_once(void) {
    if (stop_signal() != 0)
        return BAD;
    raise(SIGINT);
    return stop_signal() == SIGINT ? GOOD : BAD;
}

static int asks_by_term(void) {
    raise(SIGTERM);
    raise(SIGTERM); /* asked twice is asked */
    return stop_signal() == SIGTERM ? GOOD : BAD;
}

TEST(first_signal_asks) {
    is_good(asks_once);
    is_good(asks_by_term);
}

static int interrupted_at_once(void) {
    raise(SIGINT);
    raise(SIGINT);
    return stop_signal() == SIGINT ? GOOD : BAD;
}

static int interrupted_twice(void) {
    raise(SIGINT);
    usleep((STOP_AGAIN_MS + 50) * 1000);
    raise(SIGINT);
    return BAD;
}

static int terminated_then_interrupted(void) {
    raise(SIGTERM);
    raise(SIGINT);
    return stop_signal() ? GOOD : BAD; /* one SIGINT alone may also still be the asking one */
}

TEST(second_interrupt_ends) {
    is_good(interrupted_at_once); /* as by timeout(1), which asks the process and its group */
    dies_of(SIGINT, interrupted_twice);
    const int status = run(terminated_then_interrupted);
    assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGINT : WEXITSTATUS(status) == GOOD);
}

static int dies_of_int(void) {
    stop_die(SIGINT);
    return BAD;
}

static int dies_of_term(void) {
    raise(SIGTERM);
    stop_die(SIGTERM);
    return BAD;
}

TEST(die) {
    dies_of(SIGINT, dies_of_int);
    dies_of(SIGTERM, dies_of_term);
}

/* A reader that goes away is an error of the write, not the end of the process. */
static int writes_into_nothing(void) {
    int ends[2];
    if (pipe(ends) != 0)
        return BAD;
    close(ends[0]);
    return write(ends[1], "x", 1) == -1 && errno == EPIPE ? GOOD : BAD;
}

TEST(broken_pipe) {
    is_good(writes_into_nothing);
}

/* A read that waits is cut short by the signal: nobody waits for ever. */
static int waits_for_input(void) {
    int ends[2];
    char byte;
    if (pipe(ends) != 0)
        return BAD;
    alarm(600);
    pid_t parent = getpid();
    if (fork() == 0) {
        do /* once more where the first signal was quicker than the read */
            usleep(100000);
        while (getppid() == parent && kill(parent, SIGTERM) == 0);
        _exit(0);
    }
    return read(ends[0], &byte, 1) == -1 && errno == EINTR && stop_signal() == SIGTERM ? GOOD : BAD;
}

TEST(wakes_a_read) {
    is_good(waits_for_input);
}

/* The driver's way to say that a reply breaks its rules: the user reads what to do. */
static int ends_of_abort(void) {
    abort();
    return BAD;
}

TEST(abort) {
    static ear_t ear;
    listen_to(&ear, STDERR_FILENO);
    const int status = run(ends_of_abort);
    assert_non_null(strstr(heard(&ear), "the same command"));
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}
