/* log: what is said while the command works, and to whom.
 *
 * Messages go to stderr, each line whole; results go to stdout, by out_print and its like alone. What comes from data,
 * servers, names and files does not reach a terminal as it is: its control characters are escaped, and secrets in it are
 * *** (conceal.h).
 *
 * Long work shows how far it is: on a terminal by one line that is overwritten (the bar), elsewhere by a line twice a
 * minute. A step says what the main thread is waiting for; while loads move data, they draw the bar themselves.
 *
 * In a program that runs several loads (the library), a thread works for a caller: the caller hears what the thread says,
 * and may stop it; nothing is printed. A thread without a caller works for the command: it speaks on stderr, and a
 * signal stops it. Any thread may call, except where a section says otherwise. */
#ifndef TIPPLE_BASE_LOG_H
#define TIPPLE_BASE_LOG_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- messages ---- */

typedef enum { LOG_SILENT = -2, LOG_QUIET = -1, LOG_NORMAL = 0, LOG_VERBOSE = 1 } log_level_t;

void log_set_level(log_level_t level);
log_level_t log_level(void);

/* Errors are printed at every level; warnings at every level but LOG_SILENT, which no option sets; notes unless -q is
 * given; details only with -v. */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_detail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* With a warning: a command to paste, on a line of its own, whole and as it is. Its words are our own or quoted
 * (ejson_append_text), so that nothing in it must be escaped or hidden. */
void log_paste(const char *command);

/* ---- how far the work is ---- */

/* How wide the terminal is that stderr goes to, as it is now; 0: none on which a line can be overwritten, or a program
 * reads the result (log_no_bar). */
size_t log_columns(void);
void log_no_bar(void); /* --json: nothing moves on the screen; lines now and then are left */

/* One line that is overwritten by the next (the bar), cut where the terminal ends; NULL wipes it. */
void log_bar(const char *line);

/* A bar at most six times a second, or a line twice a minute. A line need not be built when none is due. now_ns: by
 * clock_now_ns. */
typedef struct {
    int64_t said_ns;
    bool terminal;
} log_progress_t;

log_progress_t log_progress_from(int64_t now_ns);
bool log_progress_is_due(const log_progress_t *progress, int64_t now_ns);
void log_progress_say(log_progress_t *progress, int64_t now_ns, const char *line);
void log_progress_end(log_progress_t *progress); /* wipes the bar */

/* ---- steps ---- */

/* What a step that may take long is doing, with the seconds that it has taken:
 *
 *     step_t step;
 *     step_begin(&step, "building the index %s", name);
 *     ok = build(...);
 *     step_end(&step);
 *
 * Steps may be within steps: the innermost is shown, and nothing while its text is empty. For the command's main thread;
 * what is done for a caller, with -q, or silently, is not shown. */
typedef struct step {
    char text[200];
    int64_t began_ns;
    struct step *outer;
    bool shown; /* it is one that may be shown */
} step_t;

void step_begin(step_t *step, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void step_change(step_t *step, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void step_end(step_t *step);

/* ---- callers ---- */

typedef struct {
    /* Each may be NULL, and becomes NULL, under the lock, when the caller listens no longer. One call at a time. */
    void (*_Atomic hear)(void *context, log_level_t level, const char *line);
    void *hear_context;
    void (*_Atomic progress)(void *context, uint64_t documents, uint64_t bytes);
    void *progress_context;
    int64_t told_ns; /* when the caller last heard of progress */
    pthread_mutex_t lock;
    atomic_bool stops; /* any thread may set it */
} caller_t;

void caller_init(caller_t *caller);
void caller_free(caller_t *caller);

/* The caller of this thread, or NULL. */
caller_t *caller_current(void);
/* The caller must live as long as this thread and all threads that it starts. */
void caller_set(caller_t *caller);

/* Like pthread_create; the new thread has the caller of this thread. */
int caller_start_thread(pthread_t *thread, void *(*work)(void *context), void *context);

/* Reports progress to the caller, five times a second at most; without a caller, to nobody. */
void caller_tell_progress(uint64_t documents, uint64_t bytes);

/* ---- results ---- */

/* As printf. The line ends of the format stay; whatever a %s or %c stands for is shown on one line. Main thread, as for
 * the next two. tests/core/test_stdout.py keeps everything else away from stdout. */
void out_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A text of ours that may hold others' texts: its line ends stay. */
void out_lines(const char *text);

/* Prints bytes unchanged: records, documents, files. */
void out_bytes(const void *bytes, size_t length);

/* The errno of the first failure to write to stdout; 0: there was none. */
extern int out_problem;

#endif
