/* heard: what a test's own code says on one of its streams. */
#ifndef TIPPLE_TESTS_HEARD_H
#define TIPPLE_TESTS_HEARD_H

#include "test.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct {
    int stream, kept, memory;
    char text[1 << 18];
} ear_t;

TEST_UNUSED static void listen_to(ear_t *ear, int stream) {
    fflush(NULL);
    ear->stream = stream;
    ear->kept = dup(stream);
    ear->memory = memfd_create("said", MFD_CLOEXEC);
    dup2(ear->memory, stream);
}

/* All that was said; the stream is again what it was before. */
TEST_UNUSED static const char *heard(ear_t *ear) {
    fflush(NULL);
    dup2(ear->kept, ear->stream);
    const ssize_t length = pread(ear->memory, ear->text, sizeof ear->text - 1, 0);
    close(ear->kept);
    close(ear->memory);
    ear->text[length > 0 ? length : 0] = '\0';
    return ear->text;
}

/* What the call says there, to the byte. */
#define assert_heard(stream, expected, call)                                                                 \
    do {                                                                                                     \
        static ear_t ear_;                                                                                   \
        listen_to(&ear_, stream);                                                                            \
        call;                                                                                                \
        assert_string_equal(heard(&ear_), expected);                                                         \
    } while (0)

#endif
