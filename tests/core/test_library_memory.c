/* The library where memory is out: whichever allocation fails, its host goes on with a sentence, and nothing is printed.
 * The linker puts the functions below before the C library's (see CMakeLists.txt); the driver, a shared library, has
 * its own. */
#include "test.h"
#include "tipple/tipple.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

TEST(uri) {
    char log[] = "/tmp/tipple-memory-XXXXXX";
    const int file = mkstemp(log);
    assert_true(file >= 0);
    int out_of_memory = 0, status = 0;
    for (long allocation = 0; allocation < 20000; allocation += TEST_SHARE) {
        status = load_without("mongodb://127.0.0.1:1/a.b?directConnection=true&readPreference=bogus",
                              allocation, log);
        if (status == NONE_FAILED)
            break;
        /* 1: of what cannot be reported for want of memory, but the URI is faulty all the same */
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

/* A record that cannot be written for want of memory is not one that cannot be written at all. */
TEST(emit) {
    static const char yaml[] =
        "format: f\nrecord: {delimiter: [\",\"], header: no, encoding: latin1}\nfields: "
        "[{name: a}, {name: b}, {name: c, type: binary}]\n",
                      row[] = "x;y;\xe9,caf\xe9,AQID\n";
    char path[] = "/tmp/tipple-memory-XXXXXX.yaml";
    tipple_error_t error;
    tipple_record_t record;
    const char *text;
    size_t length, failed = 0;
    const int file = mkstemps(path, 5);
    assert_true(file >= 0 && write(file, yaml, sizeof yaml - 1) == (ssize_t)(sizeof yaml - 1));
    close(file);
    tipple_format_t *format = tipple_format_open(path, &error);
    tipple_reader_t *reader = NULL;
    bool emitted = false;
    for (long allocation = 0; allocation < 100 && !emitted; allocation++) {
        reader = tipple_reader_new(format, &error); /* one that was used has its room */
        assert_true(tipple_reader_begin(reader, row, sizeof row - 1, &error));
        assert_int_equal(tipple_reader_next(reader, &record, &error), 1);
        left = allocation;
        emitted = tipple_reader_emit(reader, &text, &length, &error);
        left = -1;
        if (emitted)
            assert_memory_equal(text, row, length);
        else if (error.status != TIPPLE_HOST)
            fail_msg("allocation %ld: status %d, %s", allocation, error.status, error.text);
        failed += !emitted;
        tipple_reader_destroy(reader);
    }
    assert_true(emitted && failed > 4);
    tipple_format_close(format);
    unlink(path);
}
