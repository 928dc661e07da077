/* generate_lab: what the tests of generated files share: a file in memory, and laws that hold for every kind.
 */
#ifndef TIPPLE_TESTS_GENERATE_LAB_H
#define TIPPLE_TESTS_GENERATE_LAB_H

#include "base/err.h"
#include "base/stop.h"
#include "generate/generate.h"
#include "test.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>
#include <zlib.h>

#define LAB_UNUSED __attribute__((unused)) static

typedef struct {
    char *text; /* ends with a NUL behind its size */
    size_t size;
} file_t;

LAB_UNUSED file_t lab_made(const generate_kind_t *kind, const generate_t *what) {
    int fd = memfd_create("generated", MFD_CLOEXEC);
    assert_true(fd >= 0);
    generate_made_t made = {.bytes = 77};
    err_t err = {.text = ""};
    if (!generate_write(kind, what, fd, &made, &err))
        fail_msg("%s", err.text);
    assert_int_equal(lseek(fd, 0, SEEK_END), made.bytes);
    file_t file = {calloc(1, made.bytes + 1), made.bytes};
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
LAB_UNUSED bool lab_pinned(const generate_kind_t *kind, const generate_t *what, uint64_t digest) {
    file_t once = lab_made(kind, what), again = lab_made(kind, what);
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

/* A maker, with the header in the room. */
LAB_UNUSED void *lab_begin(const generate_kind_t *kind, const generate_t *what, char *room, size_t *header) {
    err_t err = {.text = ""};
    void *maker = calloc(1, kind->size);
    assert_non_null(maker);
    const char *end = kind->begin(maker, what, room, &err);
    if (!end)
        fail_msg("%s", err.text);
    *header = (size_t)(end - room);
    return maker;
}

LAB_UNUSED void lab_end(const generate_kind_t *kind, void *maker) {
    if (kind->end)
        kind->end(maker);
    free(maker);
}

/* The rows to come, one by one, of this file, are what the whole says from there on; returns where they end. */
LAB_UNUSED size_t lab_rows(const generate_kind_t *kind, void *maker, uint64_t count, file_t whole,
                           size_t at) {
    char *room = malloc(GENERATE_ROOM); /* of its own, for sanitizers */
    assert_non_null(room);
    for (char *end; count && (end = kind->put_row(maker, room)); at += (size_t)(end - room), count--) {
        assert_uint_in_range(end - room, 1, whole.size - at);
        assert_memory_equal(whole.text + at, room, (size_t)(end - room));
    }
    free(room);
    return at;
}

/* Rows one by one, behind the header, are what a file says. */
LAB_UNUSED void lab_row_by_row(const generate_kind_t *kind, const generate_t *what, file_t whole) {
    size_t header;
    char *room = malloc(GENERATE_ROOM);
    assert_non_null(room);
    void *maker = lab_begin(kind, what, room, &header);
    assert_memory_equal(whole.text, room, header);
    assert_int_equal(lab_rows(kind, maker, what->count, whole, header), whole.size);
    free(room);
    lab_end(kind, maker);
}

LAB_UNUSED void lab_fails(const generate_kind_t *kind, const generate_t *what, int fd, status_t status,
                          const char *part) {
    generate_made_t made = {.bytes = 77};
    err_t err = {.text = ""};
    assert_false(generate_write(kind, what, fd, &made, &err));
    assert_int_equal(err.status, status);
    if (!strstr(err.text, part))
        fail_msg("'%s' is not in: %s", part, err.text);
    assert_int_equal(made.bytes, 0);
}

/* In a process of its own: the flag of the signal stays up. */
LAB_UNUSED void lab_ends_at_a_signal(const generate_kind_t *kind, int signal, status_t status) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        stop_install();
        raise(signal);
        generate_made_t none;
        err_t err;
        bool ok = generate_write(kind, &(generate_t){.count = 10}, STDOUT_FILENO, &none, &err);
        _exit(!ok && err.status == status && none.bytes == 0 ? 0 : 1);
    }
    int ended;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
}

#endif
