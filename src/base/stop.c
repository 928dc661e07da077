#include "base/stop.h"
#include "base/clock.h"
#include "base/log.h"

#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Lock-free, so a signal handler may touch it; atomic, because other threads read it. */
static atomic_int caught;

static atomic_bool goes_on, hangs_up;

static atomic_llong first_ns; /* when the first signal came */

static const int64_t SECOND = 1000000000, AGAIN_NS = STOP_AGAIN_MS * (int64_t)1000000;

static void on_signal(int number) {
    if (!caught) {
        first_ns = clock_now_ns();
        alarm(hangs_up ? STOP_REPLY_SECONDS : STOP_GRACE_SECONDS);
    } else if (number == SIGINT && clock_now_ns() - first_ns >= AGAIN_NS) {
        signal(SIGINT, SIG_DFL);
        raise(SIGINT);
    }
    caught = number;
}

/* Calls nothing that a handler may not call. */
static void hang_up(void) {
    enum { MOST = 4096 };
    for (int file = STDERR_FILENO + 1; file < MOST; file++) {
        struct sockaddr_storage peer;
        socklen_t size = sizeof peer;
        if (getpeername(file, (struct sockaddr *)&peer, &size) == 0)
            shutdown(file, SHUT_RDWR);
    }
}

static void say(const char *sentence) {
    const ssize_t written = write(STDERR_FILENO, sentence, strlen(sentence));
    (void)written;
}

static void end_by(int number) {
    signal(number, SIG_DFL);
    raise(number);
}

static void on_grace_over(int number) {
    (void)number;
    if (hangs_up && clock_now_ns() - first_ns < (STOP_GRACE_SECONDS - STOP_REPLY_SECONDS) * SECOND) {
        hang_up();
        alarm(STOP_REPLY_SECONDS);
        return;
    }
    say("tipple: interrupted, and what was under way did not end in time; ");
    say(goes_on ? "the same command resumes from here\n" : "run the same command again\n");
    end_by(caught);
}

/* The driver ends the process where a reply breaks its rules. */
static void on_abort(int number) {
    say("tipple: the MongoDB driver, or tipple itself, met what must not be, and ended it: its line is "
        "above; ");
    say(goes_on ? "what was loaded stays, and the same command resumes from here\n"
                : "run the same command again\n");
    end_by(number);
}

void stop_goes_on(void) {
    goes_on = true;
}

void stop_hangs_up(void) {
    hangs_up = true;
}

static void handle(int number, void (*handler)(int), int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

void stop_install(void) {
    struct sigaction before;
    handle(SIGINT, on_signal, SA_NODEFER);
    handle(SIGTERM, on_signal, SA_NODEFER);
    sigaction(SIGHUP, NULL, &before);
    if (before.sa_handler != SIG_IGN) /* nohup */
        handle(SIGHUP, on_signal, SA_NODEFER);
    handle(SIGALRM, on_grace_over, SA_NODEFER);
    handle(SIGABRT, on_abort, (int)SA_RESETHAND);
    signal(SIGPIPE, SIG_IGN); /* writing to a closed stdout is an error, with a sentence */
    signal(SIGXFSZ, SIG_IGN); /* so is reaching the limit of file size (ulimit -f) */
}

int stop_signal(void) {
    const caller_t *caller = caller_current();
    return caller && caller->stops ? SIGINT : caught;
}

int64_t stop_came_ns(void) {
    return first_ns;
}

bool stop_interrupted(err_t *err) {
    if (caller_current())
        return err_set(err, STATUS_INTERRUPTED, "cancelled; the same load, begun again, goes on from here");
    return err_set(err,
                   caught == SIGTERM  ? STATUS_TERMINATED
                   : caught == SIGHUP ? STATUS_HUNG_UP
                                      : STATUS_INTERRUPTED,
                   "interrupted; the same command resumes from here");
}

bool stop_nap(int milliseconds, err_t *err) {
    const struct timespec pause = clock_to_timespec(milliseconds * (int64_t)1000000);
    nanosleep(&pause, NULL);
    return !stop_signal() || stop_interrupted(err);
}

void stop_die(int number) {
    end_by(number);
    _exit(128 + number);
}
