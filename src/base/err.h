/* err: one failure. Whoever detects it describes it once, and the command prints it once.
 *
 * A function that can fail is `bool f(..., err_t *err)`: false means that *err holds a sentence (what happened, where,
 * what to do) and the exit status. err may not be NULL. An err_t needs no freeing. */
#ifndef TIPPLE_BASE_ERR_H
#define TIPPLE_BASE_ERR_H

#include <stdbool.h>
#include <stddef.h>

/* The exit statuses of every command; docs/automate.md prints this table. */
typedef enum {
    STATUS_OK = 0,
    STATUS_USAGE = 1,             /* refused: mostly nothing was touched */
    STATUS_SOME_REJECTED = 2,     /* done, but some records were rejected, or files skipped */
    STATUS_TOO_MANY_REJECTED = 3, /* stopped at --max-rejects */
    STATUS_SERVER = 4,            /* the server refused or vanished for longer than --patience */
    STATUS_INPUT = 5,     /* an input cannot be read, is damaged, has changed, or does not fit its format */
    STATUS_MISSED = 6,    /* a threshold that was asked for was missed */
    STATUS_DIFFERENT = 7, /* verify, drill or an expected result: a difference was found */
    STATUS_HOST = 8,      /* this host: memory, disk full, stdout closed, descriptors */
    STATUS_HUNG_UP = 129,
    STATUS_INTERRUPTED = 130,
    STATUS_READER_GONE =
        141, /* of stdout, such as head: tipple ends by SIGPIPE and says nothing, as other filters do */
    STATUS_TERMINATED = 143,
} status_t;

typedef struct {
    status_t status;
    bool changed, again; /* an input has changed since it was listed; or this command is to begin again */
    char text[4000];     /* one sentence; where several things are named, more lines after it */
} err_t;

/* Describes the failure, without passwords; always returns false, so that `return err_set(...)` reads well. */
bool err_set(err_t *err, status_t status, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts more after a sentence that is already there, as far as there is room; always returns false. */
bool err_add(err_t *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Puts "WHERE: " before a sentence that is already there; always returns false. */
bool err_where(err_t *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The status when a settings file cannot be opened or read, by errno. */
status_t err_status_of(int error);

/* For a refusal after the first change: "nothing was touched" is no longer true, so its status becomes that of a server
 * that refused in the middle. */
void err_after_change(err_t *err);

/* Sets the sentence for an allocation that failed. */
bool err_memory(err_t *err, size_t bytes);

/* Says that sentence and ends the process with its status. For code that cannot return a failure; any thread. Nothing
 * is flushed and no exit handler runs, since other threads are still at work. */
_Noreturn void err_end_without_memory(size_t bytes);

#endif
