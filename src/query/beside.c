#include "query/beside.h"
#include "base/clock.h"
#include "base/stop.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* After a signal what was measured is still to be told: there may be two commands to wait for. */
static const int64_t PATIENCE_NS = 10000000000, SHORT_PATIENCE_NS = 3000000000;

static void run_shell(const char *command, const sigset_t *blocked) {
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, blocked, NULL);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

/* Told to end, by beside_stop, which tells all of the group, or because the starter was killed: then nobody else does. */
static void on_told(pid_t starter) {
    if (getppid() == starter)
        return;
    signal(SIGTERM, SIG_IGN);
    kill(0, SIGTERM);
}

/* The first process of the group: it waits for the shell, and sees to it that all ends when the starter does. */
static void guard(const char *command, pid_t starter) {
    sigset_t awaited, blocked;
    int status = 0;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGTERM);
    sigaddset(&awaited, SIGCHLD);
    sigprocmask(SIG_BLOCK, &awaited, &blocked);
    setpgid(0, 0);
    signal(SIGCHLD, SIG_DFL); /* where it is ignored, the end of a child is not told */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != starter)
        _exit(127);
    const pid_t shell = fork();
    if (shell == 0)
        run_shell(command, &blocked);
    while (shell > 0 && waitpid(shell, &status, WNOHANG) == 0)
        if (sigwaitinfo(&awaited, NULL) == SIGTERM)
            on_told(starter);
    if (shell > 0 && WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        sigprocmask(SIG_SETMASK, &blocked, NULL);
        raise(WTERMSIG(status));
    }
    _exit(shell > 0 ? WEXITSTATUS(status) : 127);
}

bool beside_start(beside_t *beside, const char *option, const char *command, err_t *err) {
    const pid_t starter = getpid();
    *beside = (beside_t){.process = fork()};
    if (beside->process < 0) {
        beside->process = 0;
        return err_set(err, STATUS_HOST, "the command of %s cannot be started: %s", option, strerror(errno));
    }
    if (beside->process == 0)
        guard(command, starter);
    /* parent and child both do this; it does not matter which is first */
    setpgid(beside->process, beside->process);
    return true;
}

bool beside_runs(beside_t *beside) {
    if (beside->process && !beside->ended &&
        waitpid(beside->process, &beside->status, WNOHANG) == beside->process)
        beside->ended = true;
    return beside->process && !beside->ended;
}

static void nap(void) {
    const struct timespec time = {.tv_nsec = 20000000};
    nanosleep(&time, NULL);
}

/* The shell may end before the processes that it has started. */
void beside_stop(beside_t *beside) {
    const int64_t began = clock_now_ns();
    const pid_t group = beside->process;
    int status;
    if (!group)
        return;
    kill(-group, SIGTERM);
    while (kill(-group, 0) == 0 &&
           clock_now_ns() < began + (stop_signal() ? SHORT_PATIENCE_NS : PATIENCE_NS)) {
        beside_runs(beside); /* collects its status, so that it is no longer a process of the group */
        nap();
    }
    kill(-group, SIGKILL);
    if (!beside->ended)
        waitpid(group, &status, 0);
    beside->process = 0;
}

void beside_describe(int status, char words[BESIDE_WORDS]) {
    if (WIFSIGNALED(status))
        snprintf(words, BESIDE_WORDS, "by signal %d", WTERMSIG(status));
    else
        snprintf(words, BESIDE_WORDS, "with status %d", WEXITSTATUS(status));
}

bool beside_wait(const char *option, const char *command, err_t *err) {
    beside_t beside;
    char words[BESIDE_WORDS];
    if (!beside_start(&beside, option, command, err))
        return false;
    while (beside_runs(&beside) && !stop_signal())
        nap();
    bool ended = beside.ended;
    beside_stop(&beside);
    if (!ended)
        return err_set(err, (status_t)(128 + stop_signal()), "interrupted");
    if (beside.status == 0)
        return true;
    beside_describe(beside.status, words);
    return err_set(err, STATUS_HOST, "the command of %s ended %s", option, words);
}
