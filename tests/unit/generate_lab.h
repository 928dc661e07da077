/* generate_lab: what the tests of generated files share: a file in memory, and laws that hold for every kind.
 */
#ifndef TIPPLE_TESTS_GENERATE_LAB_H
#define TIPPLE_TESTS_GENERATE_LAB_H

#include "base/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>
#include <zlib.h>

#include <cmocka.h>

#define LAB_UNUSED __attribute__((unused)) static

typedef struct {
    char *text; /* ends with a NUL behind its size */
    size_t size;
} file_t;

typedef bool (*lab_generate_t)(const void *what, int fd, uint64_t *bytes, err_t *err);

LAB_UNUSED file_t lab_made(lab_generate_t generate, const void *what) {
    int fd = memfd_create("generated", MFD_CLOEXEC);
    assert_true(fd >= 0);
    uint64_t bytes = 77;
    err_t err = {.text = ""};
    if (!generate(what, fd, &bytes, &err))
        fail_msg("%s", err.text);
    assert_int_equal(lseek(fd, 0, SEEK_END), bytes);
    file_t file = {calloc(1, bytes + 1), bytes};
    assert_non_null(file.text);
    assert_int_equal(pread(fd, file.text, file.size, 0), file.size);
    close(fd);
    return file;
}

LAB_UNUSED void lab_same(file_t a, file_t b) {
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.text, b.text, a.size);
}

LAB_UNUSED size_t lab_lines(file_t file) {
    size_t lines = 0;
    for (size_t i = 0; i < file.size; i++)
        lines += file.text[i] == '\n';
    return lines;
}

/* The same bytes each time, and these; the right digest is printed when it is another one. */
LAB_UNUSED bool lab_pinned(lab_generate_t generate, const void *what, uint64_t digest) {
    file_t once = lab_made(generate, what), again = lab_made(generate, what);
    lab_same(once, again);
    uint64_t found = XXH3_64bits(once.text, once.size);
    if (found != digest)
        print_error("UINT64_C(0x%016llx)\n", (unsigned long long)found);
    free(once.text);
    free(again.text);
    return found == digest;
}

LAB_UNUSED void lab_packed(file_t compressed, file_t plain) {
    char *text = malloc(plain.size + 1);
    assert_non_null(text);
    z_stream stream = {.next_in = (Bytef *)compressed.text,
                       .avail_in = (uInt)compressed.size,
                       .next_out = (Bytef *)text,
                       .avail_out = (uInt)plain.size + 1};
    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    lab_same((file_t){text, stream.total_out}, plain);
    inflateEnd(&stream);
    free(text);
}

/* What a file of fewer rows says, one of more says, too. */
LAB_UNUSED void lab_head(file_t shorter, file_t longer) {
    assert_true(shorter.size < longer.size);
    assert_memory_equal(shorter.text, longer.text, shorter.size);
}

LAB_UNUSED void lab_fails(lab_generate_t generate, const void *what, int fd, status_t status,
                          const char *part) {
    uint64_t bytes = 77;
    err_t err = {.text = ""};
    assert_false(generate(what, fd, &bytes, &err));
    assert_int_equal(err.status, status);
    if (!strstr(err.text, part))
        fail_msg("'%s' is not in: %s", part, err.text);
    assert_int_equal(bytes, 0);
}

#endif
