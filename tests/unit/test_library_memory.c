/* The library where memory is out: whichever allocation fails, its host goes on with a sentence, and nothing is printed.
 * The linker puts the functions below before the C library's (see CMakeLists.txt); the driver, a shared library, has
 * its own. */
#include "tipple/tipple.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static long left = -1; /* allocations until one fails; below 0: none does */

static int fails(void) {
    return left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t size) {
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size) {
    return fails() ? NULL : __real_realloc(old, size);
}

enum { SAID_STATUS = 50, NONE_FAILED = 99 };

/* In a process of its own: what a load of this URI says where this allocation fails, as its status. */
static int load_without(const char *uri, long allocation, const char *log) {
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        tipple_error_t error = {.text = ""};
        if (!freopen(log, "w", stderr) || !freopen(log, "w", stdout))
            _exit(1);
        left = allocation;
        tipple_load_t *load = tipple_load_new(uri, &error);
        const int ok = load && tipple_load_set(load, "format", "mot", &error) &&
                       tipple_load_set(load, "input", "/dev/null", &error) &&
                       tipple_load_set(load, "index", "d:1,k:-1", &error) && tipple_load_run(load, &error);
        const int used = left < 0;
        left = -1;
        _exit(ok || !error.text[0] || strstr(error.text, "too long") ? 2
              : used                                                 ? SAID_STATUS + error.status
                                                                     : NONE_FAILED);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_uri(void **state) {
    (void)state;
    char log[] = "/tmp/tipple-memory-XXXXXX";
    const int file = mkstemp(log);
    assert_true(file >= 0);
    int out_of_memory = 0, status = 0;
    for (long allocation = 0; allocation < 20000; allocation++) {
        status = load_without("mongodb://127.0.0.1:1/a.b?directConnection=true&readPreference=bogus",
                              allocation, log);
        if (status == NONE_FAILED)
            break;
        /* 1: of what cannot be told for want of memory, but the URI is faulty all the same */
        if (status != SAID_STATUS + 8 && status != SAID_STATUS + 1)
            fail_msg("allocation %ld: status %d", allocation, status);
        out_of_memory += status == SAID_STATUS + 8;
        assert_int_equal(lseek(file, 0, SEEK_END), 0);
    }
    assert_int_equal(status, NONE_FAILED);
    assert_true(out_of_memory > 2);
    close(file);
    unlink(log);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_uri)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
