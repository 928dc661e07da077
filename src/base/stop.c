#include "base/stop.h"

#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t caught;

static void on_signal(int number) {
    if (caught && number == SIGINT) {
        signal(SIGINT, SIG_DFL);
        raise(SIGINT);
    }
    caught = number;
}

void stop_install(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_NODEFER};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* a closed stdout is an error of a write, with a sentence */
}

int stop_signal(void) {
    return (int)caught;
}

void stop_die(int number) {
    signal(number, SIG_DFL);
    raise(number);
    _exit(128 + number);
}
