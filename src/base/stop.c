#include "base/stop.h"
#include "base/caller.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Lock-free, so a signal handler may touch it; atomic, because other threads read it. */
static atomic_int caught;

static atomic_bool goes_on, hangs_up;

static atomic_llong first_ms; /* when the first signal came */

static long long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void on_signal(int number) {
    if (!caught) {
        first_ms = now_ms();
        alarm(hangs_up ? STOP_REPLY_SECONDS : STOP_GRACE_SECONDS);
    } else if (number == SIGINT && now_ms() - first_ms >= STOP_AGAIN_MS) {
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

static void on_grace_over(int number) {
    static const char resumes[] = "tipple: interrupted, and what was under way did not end in time; "
                                  "the same command resumes from here\n";
    static const char begins_anew[] =
        "tipple: interrupted, and what was under way did not end in time; run the same command again\n";
    (void)number;
    if (hangs_up && now_ms() - first_ms < (STOP_GRACE_SECONDS - STOP_REPLY_SECONDS) * 1000LL) {
        hang_up();
        alarm(STOP_REPLY_SECONDS);
        return;
    }
    say(goes_on ? resumes : begins_anew);
    signal(caught, SIG_DFL);
    raise(caught);
}

/* The driver ends the process where a reply breaks its rules. */
static void on_abort(int number) {
    say("tipple: the MongoDB driver, or tipple itself, met what must not be, and ended it: its line is "
        "above; ");
    say(goes_on ? "what was loaded stays, and the same command resumes from here\n"
                : "run the same command again\n");
    signal(number, SIG_DFL);
    raise(number);
}

void stop_goes_on(void) {
    goes_on = true;
}

void stop_hangs_up(void) {
    hangs_up = true;
}

void stop_install(void) {
    struct sigaction before, action = {.sa_handler = on_signal, .sa_flags = SA_NODEFER};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, NULL, &before);
    if (before.sa_handler != SIG_IGN) /* nohup */
        sigaction(SIGHUP, &action, NULL);
    struct sigaction grace = {.sa_handler = on_grace_over, .sa_flags = SA_NODEFER};
    sigemptyset(&grace.sa_mask);
    sigaction(SIGALRM, &grace, NULL);
    struct sigaction aborted = {.sa_handler = on_abort, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&aborted.sa_mask);
    sigaction(SIGABRT, &aborted, NULL);
    signal(SIGPIPE, SIG_IGN); /* writing to a closed stdout is an error, with a sentence */
    signal(SIGXFSZ, SIG_IGN); /* so is reaching the limit of file size (ulimit -f) */
}

int stop_signal(void) {
    const caller_t *caller = caller_current();
    return caller && caller->stops ? SIGINT : caught;
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
    const struct timespec pause = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000};
    nanosleep(&pause, NULL);
    return !stop_signal() || stop_interrupted(err);
}

void stop_die(int number) {
    signal(number, SIG_DFL);
    raise(number);
    _exit(128 + number);
}
