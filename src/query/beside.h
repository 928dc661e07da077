/* beside: a command of the user that runs while something is measured (--while). The shell runs it, in a process group of its own; its stdout goes to stderr, since stdout is for results only. If this process is killed,
 * the shell gets SIGTERM. Main thread: Linux sends that when the thread ends which has started it. */
#ifndef TIPPLE_QUERY_BESIDE_H
#define TIPPLE_QUERY_BESIDE_H

#include "base/err.h"

#include <sys/types.h>

typedef struct {
    pid_t process; /* 0: none */
    bool ended;    /* it ended by itself */
    int status;    /* as waitpid gives it */
} beside_t;

/* option: "--while": what the sentence calls the command. Its text, which may hold a password of any form, is in none. */
bool beside_start(beside_t *beside, const char *option, const char *command, err_t *err);

/* Is it still running? Also notes when it has ended. */
bool beside_runs(beside_t *beside);

/* SIGTERM, ten seconds, SIGKILL. That it had to be stopped is not a failure. A zeroed one is allowed. */
void beside_stop(beside_t *beside);

/* Runs a command to its end. If it exits with a status other than 0, this fails with status 8 and a sentence. A stop
 * signal ends it. */
bool beside_wait(const char *option, const char *command, err_t *err);

/* "with status 1", "by signal 9" */
enum { BESIDE_WORDS = 40 };
void beside_describe(int status, char words[BESIDE_WORDS]);

#endif
