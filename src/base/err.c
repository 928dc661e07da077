#include "base/err.h"
#include "base/chars.h"
#include "base/conceal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Prints after `used` bytes of the text. */
__attribute__((format(printf, 3, 0))) static void print_at(err_t *err, size_t used, const char *fmt,
                                                           va_list args) {
    vsnprintf(err->text + used, sizeof err->text - used, fmt, args);
    conceal(err->text, sizeof err->text);
    used = strnlen(err->text, used); /* a secret may have begun before */
    escape_line_ends(err->text + used, sizeof err->text - used, fmt);
}

bool err_set(err_t *err, status_t status, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    print_at(err, 0, fmt, args);
    va_end(args);
    err->status = status;
    err->changed = err->again = false;
    return false;
}

bool err_add(err_t *err, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    print_at(err, strlen(err->text), fmt, args);
    va_end(args);
    return false;
}

bool err_where(err_t *err, const char *fmt, ...) {
    char sentence[sizeof err->text];
    memcpy(sentence, err->text, sizeof sentence);
    va_list args;
    va_start(args, fmt);
    print_at(err, 0, fmt, args);
    va_end(args);
    const size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used, ": %.3800s", sentence);
    conceal(err->text, sizeof err->text);
    return false;
}

status_t err_status_of(int error) {
    return error == EINTR                                          ? STATUS_INTERRUPTED
           : error == ENOMEM || error == EMFILE || error == ENFILE ? STATUS_HOST
                                                                   : STATUS_USAGE;
}

void err_after_change(err_t *err) {
    if (err->status == STATUS_USAGE)
        err->status = STATUS_SERVER;
}

bool err_memory(err_t *err, size_t bytes) {
    return err_set(err, STATUS_HOST,
                   "out of memory (%zu bytes were asked for); lower --memory or --threads, then run the same "
                   "command again",
                   bytes);
}

void err_end_without_memory(size_t bytes) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    static const char wipes_bar[] = "\r\033[K";
    while (atomic_flag_test_and_set(&said))
        pause(); /* if another thread is ending the process already */
    err_t err;
    char line[sizeof err.text + 32];
    err_memory(&err, bytes);
    const int length =
        snprintf(line, sizeof line, "%stipple: %s\n", isatty(STDERR_FILENO) ? wipes_bar : "", err.text);
    const ssize_t ignored = write(STDERR_FILENO, line, (size_t)length);
    (void)ignored;
    _exit(STATUS_HOST);
}
