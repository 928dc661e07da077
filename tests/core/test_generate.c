/* Generated files of all kinds: row by row, packed, and into outputs that are slow, full or gone. What the rows say is checked
 * by tests/oracle; tests/cli/cases/generate-*.case pin files that have passed there. */
#include "base/err.h"
#include "base/stop.h"
#include "generate/generate.h"
#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

typedef struct {
    char *text; /* ends with a NUL after its size */
    size_t size;
} file_t;

static file_t lab_made(const generate_kind_t *kind, const generate_t *what) {
    int fd = memfd_create("generated", MFD_CLOEXEC);
    assert_true(fd >= 0);
    generate_made_t made = {.bytes = 77};
    err_t err = {.text = ""};
    if (!generate_write(kind, what, fd, &made, &err))
        fail_msg("%s", err.text);
    const off_t size = lseek(fd, 0, SEEK_END);
    assert_true(what->gzip || (uint64_t)size == made.bytes);
    file_t file = {calloc(1, (size_t)size + 1), (size_t)size};
    assert_int_equal(pread(fd, file.text, file.size, 0), file.size);
    close(fd);
    return file;
}

static void lab_same(file_t a, file_t b) {
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.text, b.text, a.size);
}

static size_t lab_lines(file_t file) {
    size_t lines = 0;
    for (size_t i = 0; i < file.size; i++)
        lines += file.text[i] == '\n';
    return lines;
}

static void lab_packed(file_t compressed, file_t plain) {
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

/* Rows one by one, after the header, are what a file says. */
static void lab_row_by_row(const generate_kind_t *kind, const generate_t *what, file_t whole) {
    err_t err = {.text = ""};
    char *room = malloc(GENERATE_ROOM); /* of its own, for sanitizers */
    void *maker = calloc(1, kind->size);
    assert_true(room && maker);
    const char *end = kind->begin(maker, what, room, &err);
    if (!end)
        fail_msg("%s", err.text);
    size_t at = 0;
    for (uint64_t left = what->count; end; left--) {
        assert_uint_in_range(end - room, left < what->count, whole.size - at);
        assert_memory_equal(whole.text + at, room, (size_t)(end - room));
        at += (size_t)(end - room);
        end = left ? kind->put_row(maker, room) : NULL;
    }
    assert_int_equal(at, whole.size);
    if (kind->end)
        kind->end(maker);
    free(maker);
    free(room);
}

static file_t made(uint64_t rows, uint64_t seed, const char *release) {
    return lab_made(&generate_mot, &(generate_t){.count = rows, .seed = seed, .release = release});
}

/* Rows one by one, longer than what is written at once; and compressed. */
TEST(goes_row_by_row) {
    static const struct {
        const generate_kind_t *kind;
        generate_t what;
    } rows[] = {
        {&generate_mot, {.count = 3000, .seed = 4}},
        {&generate_isd, {.count = 5000, .seed = UINT64_MAX, .stations = 1000}},
        {&generate_obd, {.count = 5000, .seed = 4}},
        {&generate_ycsb, {.count = 300, .first = 50, .seed = 7, .text_bytes = 33}},
        {&generate_ycsb, {.count = 9, .text_bytes = 100000}},
        {&generate_ycsb, {.count = 9, .study = true}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        generate_t what = rows[i].what;
        file_t whole = lab_made(rows[i].kind, &what);
        lab_row_by_row(rows[i].kind, &what, whole);
        what.gzip = true;
        file_t compressed = lab_made(rows[i].kind, &what);
        lab_packed(compressed, whole);
        free(compressed.text);
        free(whole.text);
    }
}

TEST(repeats_the_header_of_2024) {
    file_t file = made(400000, 5, "2024");
    assert_int_equal(lab_lines(file), 400000 + 2);
    free(file.text);
}

static file_t read_whole(int fd) {
    file_t file = {.size = 0};
    size_t room = 0;
    for (;;) {
        if (room - file.size < 65536)
            assert_non_null(file.text = realloc(file.text, room = 2 * room + 131072));
        ssize_t n = read(fd, file.text + file.size, room - file.size);
        assert_true(n >= 0);
        if (!n)
            return file;
        file.size += (size_t)n;
    }
}

static void *drain(void *fd) {
    static file_t file;
    file = read_whole(*(int *)fd);
    return &file;
}

TEST(waits_for_a_slow_reader) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    pthread_t reader;
    assert_int_equal(pthread_create(&reader, NULL, drain, &ends[0]), 0);
    generate_t what = {.count = 50000, .seed = 8};
    generate_made_t written;
    err_t err;
    assert_true(generate_write(&generate_mot, &what, ends[1], &written, &err));
    close(ends[1]);
    void *got;
    pthread_join(reader, &got);
    close(ends[0]);
    file_t wanted = made(50000, 8, NULL), file = *(file_t *)got;
    lab_same(wanted, file);
    free(wanted.text);
    free(file.text);
}

/* In a process of its own: the flag of the signal stays up. */
TEST(ends_at_a_signal) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        stop_install();
        raise(SIGTERM);
        generate_made_t none;
        err_t err;
        bool ok = generate_write(&generate_mot, &(generate_t){.count = 10}, STDOUT_FILENO, &none, &err);
        _exit(!ok && err.status == STATUS_TERMINATED && none.bytes == 0 ? 0 : 1);
    }
    int ended;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
}
