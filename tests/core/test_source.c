/* Inputs of every kind, read in steps of every size, whole, cut off, damaged and changed while they are read.
 */
#include "base/log.h"
#include "base/stop.h"
#include "input/file/fault.h"
#include "input_lab.h"
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static const size_t steps[] = {1 << 20, 65536, 4099, 257};

#define EACH(i, list)                                                                                        \
    size_t i = 0;                                                                                            \
    i < sizeof(list) / sizeof *(list);                                                                       \
    i++

/* ---------------------------------------------------------------- plain */

TEST(reads_plain_files) {
    bytes_t text = lab_text(1, 300000);
    lab_write("plain.txt", text.at, text.size);
    lab_say("empty.txt", "");
    for (EACH(i, steps))
        expect_reading("plain.txt", steps[i], text.at, text.size, NULL);
    expect_reading("empty.txt", 100, "", 0, NULL);

    manifest_t manifest;
    err_t err;
    uint8_t buffer[100];
    assert_true(lab_manifest(&manifest, &err, "plain.txt"));
    source_t *source = source_open(&manifest.files[0], &err);
    assert_true(source_skip_to(source, 299990, &err));
    assert_int_equal(source_read(source, buffer, 100, &err), 10);
    assert_memory_equal(buffer, text.at + 299990, 10);
    assert_int_equal(source_read(source, buffer, 100, &err), 0);
    assert_true(source_skip_to(source, 7, &err)); /* backwards, and away from the end */
    assert_int_equal(source_read(source, buffer, 100, &err), 100);
    assert_memory_equal(buffer, text.at + 7, 100);
    assert_true(source_skip_to(source, 300000, &err));
    assert_int_equal(source_read(source, buffer, 100, &err), 0);
    assert_false(source_skip_to(source, 300001, &err));
    assert_int_equal(err.status, STATUS_INPUT);
    assert_non_null(strstr(err.text, "plain.txt: ends at byte 300000"));
    source_close(source);
    manifest_free(&manifest);
    free(text.at);
}

typedef enum { GROW, SHRINK, TOUCH } change_t;

static void change_file(const char *name, change_t change) {
    struct timespec times_now[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    struct stat status;
    assert_int_equal(stat(name, &status), 0);
    if (change == SHRINK)
        assert_int_equal(truncate(name, status.st_size / 2), 0);
    else if (change == GROW)
        assert_int_equal(truncate(name, status.st_size + 10), 0);
    if (change == TOUCH)
        assert_int_equal(utimensat(AT_FDCWD, name, times_now, 0), 0);
    else
        assert_int_equal(utimensat(AT_FDCWD, name, (struct timespec[]){status.st_atim, status.st_mtim}, 0),
                         0);
}

/* Half is read, then the file changes. */
static void expect_change(const char *name, change_t change) {
    manifest_t manifest;
    err_t err = {0};
    static uint8_t buffer[400000];
    assert_true(lab_manifest(&manifest, &err, name));
    source_t *source = source_open(&manifest.files[0], &err);
    assert_non_null(source);
    assert_int_equal(source_read(source, buffer, 100000, &err), 100000);
    change_file(name, change);
    ssize_t n;
    while ((n = source_read(source, buffer, sizeof buffer, &err)) > 0)
        ;
    assert_int_equal(n, -1);
    assert_int_equal(err.status, STATUS_INPUT);
    assert_non_null(strstr(err.text, "changed while"));
    source_close(source);
    assert_null(source_open(&manifest.files[0], &err)); /* and at the begin */
    assert_non_null(strstr(err.text, "changed while"));
    manifest_free(&manifest);
}

TEST(notices_changes) {
    bytes_t text = lab_text(2, 3000000), gzip = lab_gzip(text.at, text.size);
    lab_write("change.txt", text.at, text.size);
    expect_change("change.txt", GROW);
    expect_change("change.txt", SHRINK);
    expect_change("change.txt", TOUCH);
    lab_write("change.gz", gzip.at, gzip.size);
    expect_change("change.gz", GROW);
    lab_write("change.gz", gzip.at, gzip.size);
    expect_change("change.gz", SHRINK);
    lab_write("change.gz", gzip.at, gzip.size);
    expect_change("change.gz", TOUCH);
    lab_write_all("change.zip",
                  lab_zip(&(member_spec_t){.name = "a", .text = text.at, .size = text.size, .method = 8}, 1,
                          (zip_spec_t){0}));
    expect_change("change.zip", TOUCH);
    free(text.at);
    free(gzip.at);
}

/* After the inputs were listed, and before they are read: of the same size and time, or not even a file. */
TEST(notices_others_in_place) {
    bytes_t text = lab_text(2, 1000);
    lab_write("mine.txt", text.at, text.size);
    for (int fifo = 0; fifo < 2; fifo++) {
        manifest_t manifest;
        err_t err = {0};
        struct stat status;
        assert_true(lab_manifest(&manifest, &err, "mine.txt"));
        assert_int_equal(stat("mine.txt", &status), 0);
        if (fifo) {
            assert_int_equal(mkfifo("other", 0600), 0);
        } else {
            text.at[500] ^= 1;
            lab_write("other", text.at, text.size);
        }
        assert_int_equal(utimensat(AT_FDCWD, "other", (struct timespec[]){status.st_atim, status.st_mtim}, 0),
                         0);
        assert_int_equal(rename("other", "mine.txt"), 0);
        assert_null(source_open(&manifest.files[0], &err));
        assert_int_equal(err.status, STATUS_INPUT);
        assert_non_null(strstr(err.text, "changed while"));
        manifest_free(&manifest);
    }
    free(text.at);
}

/* ---------------------------------------------------------------- gzip */

static void expect_gzip(bytes_t compressed, const void *text, size_t size, const char *says) {
    lab_write_all("test.gz", compressed);
    for (EACH(i, steps))
        expect_reading("test.gz", steps[i], text, size, says);
}

/* Its header has a checksum. */
static void add_gzip_with_name(bytes_t *to, const void *text, size_t size, size_t name_length) {
    bytes_t plain = lab_gzip(text, size);
    static uint8_t header[10000];
    memset(header, 'n', sizeof header);
    memcpy(header, plain.at, 10);
    header[3] = 1 << 1 | 1 << 3; /* FHCRC, FNAME */
    header[10 + name_length] = 0;
    const unsigned long sum = crc32(0, header, (unsigned)(11 + name_length));
    bytes_add(to, header, 11 + name_length);
    bytes_add(to, (uint8_t[]){(uint8_t)sum, (uint8_t)(sum >> 8)}, 2);
    bytes_add(to, plain.at + 10, plain.size - 10);
    free(plain.at);
}

TEST(reads_gzip) {
    bytes_t text = lab_text(3, 700000), compressed = {0};
    expect_gzip(lab_gzip(text.at, text.size), text.at, text.size, NULL);
    expect_gzip(lab_gzip("", 0), "", 0, NULL);
    expect_gzip(lab_deflate(text.at, text.size, 31, 0, 0), text.at, text.size, NULL);
    expect_gzip(lab_deflate(text.at, text.size, 31, 9, 131072), text.at, text.size, NULL);
    expect_gzip(lab_deflate(text.at, 5000, 31, 6, 7), text.at, 5000, NULL);

    /* members of every size, empty ones among them */
    uint64_t seed = 3;
    for (size_t at = 0; at < text.size;) {
        size_t n = chance(&seed, 4) ? chance(&seed, 5000) : chance(&seed, 90000) * chance(&seed, 2);
        n = n < text.size - at ? n : text.size - at;
        bytes_add_all(&compressed, lab_gzip(text.at + at, n));
        at += n;
    }
    expect_gzip(compressed, text.at, text.size, NULL);

    /* thousands of tiny ones */
    compressed = (bytes_t){0};
    for (size_t at = 0; at < 6000; at += 3)
        bytes_add_all(&compressed, lab_gzip(text.at + at, 3));
    expect_gzip(compressed, text.at, 6000, NULL);

    /* the same with checksums of their headers, some of which lie across two reads; and a long name */
    compressed = (bytes_t){0};
    for (size_t at = 0; at < 60000; at += 6)
        add_gzip_with_name(&compressed, text.at + at, 6, at ? 40 : 9000);
    expect_gzip(compressed, text.at, 60000, NULL);
    free(text.at);
}

TEST(reads_all_before_a_cut) {
    bytes_t text = lab_text(6, 1000), compressed = lab_gzip(text.at, 400);
    size_t first = compressed.size;
    bytes_add_all(&compressed, lab_deflate(text.at + 400, 600, 31, 1, 170));
    for (size_t cut = 3; cut < compressed.size; cut++) {
        lab_write("cut.gz", compressed.at, cut);
        size_t known = lab_known_text(compressed.at, cut, 31);
        reading_t reading = lab_read("cut.gz", cut % 3 ? 1 << 16 : 100);
        /* ISA-L looks up to three letters up at once, and drops all of them where one is cut. */
        assert_uint_in_range(reading.text.size, known - (known > 2 ? 2 : 0), known);
        if (known)
            assert_memory_equal(reading.text.at, text.at, reading.text.size);
        assert_int_equal(reading.faulty, cut != first);
        if (reading.faulty)
            assert_non_null(strstr(reading.err.text, "the middle of its gzip"));
        free(reading.text.at);
    }
    expect_gzip(compressed, text.at, 1000, NULL);
    free(text.at);
}

TEST(skips_in_packed_files) {
    bytes_t text = lab_text(8, 500000);
    lab_write_all("skip.gz", lab_gzip(text.at, text.size));
    manifest_t manifest;
    err_t err;
    uint8_t buffer[1000];
    assert_true(lab_manifest(&manifest, &err, "skip.gz"));
    source_t *source = source_open(&manifest.files[0], &err);
    assert_true(source_skip_to(source, 0, &err));
    assert_true(source_skip_to(source, 333333, &err));
    assert_int_equal(source_read(source, buffer, 1000, &err), 1000);
    assert_memory_equal(buffer, text.at + 333333, 1000);
    assert_false(source_skip_to(source, 5, &err));
    assert_true(source_skip_to(source, 500000, &err));
    assert_int_equal(source_read(source, buffer, 1000, &err), 0);
    assert_int_equal(source_disk_bytes(source), manifest.files[0].disk_bytes);
    assert_false(source_skip_to(source, 500001, &err));
    assert_non_null(strstr(err.text, "ends at byte 500000"));
    source_close(source);
    manifest_free(&manifest);
    free(text.at);
}

/* ---------------------------------------------------------------- gzip, xz, bzip2, zstd */

typedef struct {
    const char *name;
    bytes_t (*pack)(const void *text, size_t size), (*pack_otherwise)(const void *text, size_t size);
    bytes_t before, between; /* may be before the first stream; between two, and after the last one */
    size_t mark, next_mark;  /* in that many bytes, the file's kind and a next stream are recognised */
} packer_t;

static bytes_t zstd_stated(const void *text, size_t size) {
    return lab_zstd(text, size, true);
}

static bytes_t zstd_not_stated(const void *text, size_t size) {
    return lab_zstd(text, size, false);
}

static uint8_t skippable[] = "\x5a\x2a\x4d\x18\x05\0\0\0hello";

static const packer_t packers[] = {
    {"gzip", lab_gzip, lab_gzip, {.size = 0}, {.at = (uint8_t *)"\0\0\0", .size = 3}, 10, 0},
    {"xz", lab_xz, lab_xz, {.size = 0}, {.at = (uint8_t *)"\0\0\0\0\0\0\0", .size = 8}, 12, 6},
    {"bzip2", lab_bzip2, lab_bzip2, {.size = 0}, {.size = 0}, 12, 6},
    {"zstd",
     zstd_stated,
     zstd_not_stated,
     {.at = skippable, .size = 13},
     {.at = skippable, .size = 13},
     4,
     0},
};

TEST(reads_packed) {
    for (EACH(p, packers)) {
        char what[80];
        const packer_t *const packer = &packers[p];
        bytes_t text = lab_text(9, 400000), compressed = {0};
        bytes_add(&compressed, packer->before.at, packer->before.size);
        bytes_add_all(&compressed, packer->pack(text.at, 250000));
        bytes_add(&compressed, packer->between.at, packer->between.size);
        bytes_add_all(&compressed, packer->pack("", 0));
        bytes_add_all(&compressed, packer->pack_otherwise(text.at + 250000, 150000));
        bytes_add(&compressed, packer->between.at, packer->between.size);
        lab_write("test.packed", compressed.at, compressed.size);
        for (EACH(i, steps))
            expect_reading("test.packed", steps[i], text.at, text.size, NULL);
        snprintf(what, sizeof what, "what follows the %s data at byte %zu ", packer->name, compressed.size);
        bytes_add(&compressed, "garbage", 7);
        lab_write("test.packed", compressed.at, compressed.size);
        expect_reading("test.packed", 10000, text.at, text.size, what);
        free(compressed.at);
        free(text.at);
    }
}

TEST(reads_packed_before_a_cut) {
    for (EACH(p, packers)) {
        char what[80];
        const packer_t *const packer = &packers[p];
        snprintf(what, sizeof what, "the middle of its %s", packer->name);
        bytes_t text = lab_text(10, 800), compressed = packer->pack(text.at, 500);
        const size_t first = compressed.size;
        bytes_add_all(&compressed, packer->pack_otherwise(text.at + 500, 300));
        for (size_t cut = packer->mark; cut < compressed.size; cut += TEST_SHARE) {
            const bool within_mark = cut > first && cut < first + packer->next_mark;
            lab_write("cut.packed", compressed.at, cut);
            reading_t reading = lab_read("cut.packed", 500);
            assert_int_equal(reading.faulty, cut != first);
            assert_true(reading.text.size >= (cut >= first ? 500 : 0) && reading.text.size <= 800);
            if (reading.text.size)
                assert_memory_equal(reading.text.at, text.at, reading.text.size);
            if (reading.faulty && !within_mark)
                assert_non_null(strstr(reading.err.text, what));
            free(reading.text.at);
        }
        for (size_t bit = 8 * packer->mark; bit < compressed.size * 8; bit += TEST_SHARE) {
            compressed.at[bit / 8] ^= (uint8_t)(1 << bit % 8);
            lab_write("flip.packed", compressed.at, compressed.size);
            reading_t reading = lab_read("flip.packed", 4096);
            if (!reading.faulty)
                assert_text(&reading, text.at, text.size);
            free(reading.text.at);
            compressed.at[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        free(compressed.at);
        free(text.at);
    }
}

/* A gzip may be followed by any number of zeros, an .xz only by a multiple of four, and the others by none. */
TEST(knows_how_streams_are_padded) {
    bytes_t (*const pack[])(const void *text, size_t size) = {lab_gzip, lab_xz, lab_bzip2, zstd_stated};
    static const char *const says[] = {NULL, "no multiple of four", "what follows the bzip2",
                                       "what follows the zstd"};
    bytes_t text = lab_text(10, 500);
    for (size_t i = 0; i < 4; i++)
        for (size_t zeros = 0; zeros <= 8; zeros++) {
            const bool well = !zeros || i == 0 || (i == 1 && zeros % 4 == 0);
            bytes_t packed = pack[i](text.at, 250);
            bytes_add(&packed, "\0\0\0\0\0\0\0", zeros);
            if (chance(&(uint64_t){zeros}, 2))
                bytes_add_all(&packed, pack[i](text.at + 250, 250));
            lab_write_all("padded", packed);
            expect_reading("padded", 100, text.at, well && chance(&(uint64_t){zeros}, 2) ? 500 : 250,
                           well ? NULL : says[i]);
        }
    free(text.at);
}

/* ---------------------------------------------------------------- UTF-16 */

/* Nothing is replaced: what is no character is reported, with its place, and so is what is cut off. */
TEST(tells_halves_of_utf16) {
    static const struct {
        const char *bytes;
        size_t size;
        const char *text, *fault;
    } rows[] = {
        {"\377\376", 2, "\357\273\277", NULL},
        {"\377\376a\0\075\330\0\336", 8, "\357\273\277a\360\237\230\200", NULL},
        {"\377\376a\0b", 5, "\357\273\277a", "byte 4 of its UTF-16"},
        {"\377\376a\0\075\330", 6, "\357\273\277a", "byte 4 of its UTF-16"},
        {"\377\376a\0\075\330b\0", 8, "\357\273\277a", "no whole character (3DD8)"},
        {"\377\376\0\336b\0", 6, "\357\273\277", "byte 2 of its UTF-16"},
        {"\376\377\0a\330\075\330\075\336\0", 10, "\357\273\277a", "byte 4 of its UTF-16"},
    };
    for (EACH(i, rows)) {
        bytes_t zipped = lab_gzip(rows[i].bytes, rows[i].size);
        lab_write("half.csv", rows[i].bytes, rows[i].size);
        lab_write("half.gz", zipped.at, zipped.size);
        for (size_t step = 2; step < 12; step++)
            expect_reading("half.csv", step, (const uint8_t *)rows[i].text, strlen(rows[i].text),
                           rows[i].fault);
        expect_reading("half.gz", 4096, (const uint8_t *)rows[i].text, strlen(rows[i].text), rows[i].fault);
        free(zipped.at);
    }
}

/* ---------------------------------------------------------------- zip */

static const uint16_t methods[] = {0, 8, 93};

TEST(reads_zip_members) {
    bytes_t text = lab_text(11, 300000);
    member_spec_t members[6] = {0};
    for (size_t i = 0; i < 6; i++) {
        static const char *const names[] = {"a.txt", "b c.txt", "d/é.txt", "e", "f", "g"};
        members[i] = (member_spec_t){
            .name = names[i], .text = text.at, .size = i < 3 ? 300000 : 0, .method = methods[i % 3]};
    }
    lab_write_all("test.zip", lab_zip(members, 6, (zip_spec_t){0}));
    manifest_t manifest;
    err_t err;
    assert_true(lab_manifest(&manifest, &err, "test.zip"));
    assert_int_equal(manifest.count, 6);
    for (size_t i = 0; i < 6; i++) {
        reading_t reading = lab_read_file(&manifest.files[i], steps[i % 4]);
        assert_false(reading.faulty);
        assert_text(&reading, text.at, members[i].size);
        free(reading.text.at);
    }
    manifest_free(&manifest);
    free(text.at);
}

TEST(reads_deflate64_of_a_real_packer) {
    bytes_t text = lab_text(64, 900000);
    manifest_t manifest;
    err_t err;
    assert_true(lab_manifest(&manifest, &err, test_data("input/deflate64.zip")));
    size_t found = 0;
    for (size_t i = 0; i < manifest.count; i++) {
        if (manifest.files[i].zip.method != 9)
            continue;
        assert_string_equal(strchr(manifest.files[i].name, '!'), "!données 2013/rows.txt");
        for (EACH(s, steps)) {
            reading_t reading = lab_read_file(&manifest.files[i], steps[s]);
            assert_false(reading.faulty);
            assert_text(&reading, text.at, text.size);
            free(reading.text.at);
        }
        found++;
    }
    assert_int_equal(found, 1);
    manifest_free(&manifest);
    free(text.at);
}

TEST(notices_lies_in_a_zip) {
    bytes_t text = lab_text(12, 50000);
    for (EACH(m, methods)) {
        member_spec_t member = {.name = "a.txt", .text = text.at, .size = text.size, .method = methods[m]};
        member.wrong_crc = 1;
        lab_write_all("lie.zip", lab_zip(&member, 1, (zip_spec_t){0}));
        expect_reading("lie.zip", 9999, text.at, 50000, "length or checksum");
        member.wrong_crc = 0;
        member.more_stated = 1;
        lab_write_all("lie.zip", lab_zip(&member, 1, (zip_spec_t){0}));
        expect_reading("lie.zip", 9999, text.at, 50000, "length or checksum");
        member.more_stated = -49000;
        lab_write_all("lie.zip", lab_zip(&member, 1, (zip_spec_t){0}));
        expect_reading("lie.zip", 9999, text.at, 1000, "holds more text");
    }
    free(text.at);
}

/* ---------------------------------------------------------------- compressed in compressed */

TEST(refuses_what_is_packed_twice) {
    bytes_t text = lab_text(13, 5000), inner = lab_gzip(text.at, text.size);
    lab_write_all("twice.gz", lab_gzip(inner.at, inner.size));
    expect_reading("twice.gz", 10000, "", 0, "twice.gz: holds gzip data");
    lab_write_all("inner.zip",
                  lab_zip(&(member_spec_t){.name = "a.gz", .text = inner.at, .size = inner.size, .method = 8},
                          1, (zip_spec_t){0}));
    expect_reading("inner.zip", 10000, "", 0, "inner.zip!a.gz: holds gzip data");
    memcpy(text.at + 257, "ustar", 6);
    lab_write_all("inner.zip",
                  lab_zip(&(member_spec_t){.name = "a.tar", .text = text.at, .size = text.size, .method = 8},
                          1, (zip_spec_t){0}));
    expect_reading("inner.zip", 10000, "", 0, "inner.zip!a.tar: a tar archive cannot");
    free(inner.at);
    free(text.at);
}

/* ---------------------------------------------------------------- streams */

/* A child that writes to a FIFO, in pieces and with pauses at first. */
static pid_t write_slowly(const char *fifo, bytes_t data) {
    pid_t child = fork();
    if (child)
        return child;
    int fd = open(fifo, O_WRONLY);
    for (size_t at = 0, n = 1; at < data.size; at += n, n = n * 2 < 60000 ? n * 2 : 60000) {
        n = n < data.size - at ? n : data.size - at;
        if (write(fd, data.at + at, n) != (ssize_t)n)
            _exit(1);
        if (at < 200)
            nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    _exit(0);
}

static void expect_stream(bytes_t data, const void *text, size_t size, const char *says) {
    int status;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    pid_t child = write_slowly("pipe", data);
    expect_reading("pipe", 70000, text, size, says);
    waitpid(child, &status, 0);
    unlink("pipe");

    lab_write_all("stdin.data", data);
    int saved = dup(STDIN_FILENO), fd = open("stdin.data", O_RDONLY);
    dup2(fd, STDIN_FILENO);
    close(fd);
    expect_reading("-", 70000, text, size, says);
    dup2(saved, STDIN_FILENO);
    close(saved);
}

TEST(reads_streams) {
    signal(SIGPIPE, SIG_IGN);
    bytes_t text = lab_text(14, 400000), copy = {0};
    bytes_add(&copy, text.at, text.size);
    expect_stream(copy, text.at, text.size, NULL);
    expect_stream(lab_gzip(text.at, text.size), text.at, text.size, NULL);
    expect_stream(lab_bzip2(text.at, text.size), text.at, text.size, NULL); /* its mark comes in two pieces */
    expect_stream((bytes_t){0}, "", 0, NULL);
    copy = (bytes_t){0};
    bytes_add(&copy, "a", 1);
    expect_stream(copy, "a", 1, NULL);
    bytes_t cut = lab_gzip(text.at, 20);
    cut.size -= 3;
    expect_stream(cut, text.at, 20, "the middle of its gzip");
    expect_stream(lab_zip(&(member_spec_t){.name = "a", .text = "b", .size = 1}, 1, (zip_spec_t){0}), "", 0,
                  ": a zip archive");
    memcpy(text.at + 257, "ustar", 6);
    expect_stream(lab_gzip(text.at, 2000), "", 0, ": a tar archive");
    expect_stream(lab_deflate("\x04\x22\x4d\x18 twice", 10, 31, 6, 0), "", 0, "holds lz4 data");
    free(text.at);
}

/* A wait for a pipe into which nobody writes ends soon after a signal. */
TEST(stops_waiting) {
    assert_int_equal(mkfifo("silent", 0600), 0);
    int ready[2], status;
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (!child) {
        manifest_t manifest;
        err_t err = {0};
        stop_install();
        if (!lab_manifest(&manifest, &err, "silent"))
            _exit(10);
        source_t *source = source_open(&manifest.files[0], &err);
        if (!source || write(ready[1], "r", 1) != 1)
            _exit(11);
        ssize_t n = source_read(source, &byte, 1, &err);
        _exit(n == -1 && err.status == STATUS_TERMINATED &&
                      strstr(err.text, "interrupted while waiting for silent")
                  ? 0
                  : 12);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    kill(child, SIGTERM);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    close(ready[0]);
    close(ready[1]);
}

/* ---------------------------------------------------------------- the system says no */

TEST(explains_system_errors) {
    err_t err;
    input_file_t missing = {.path = "missing.txt", .name = "missing.txt"};
    assert_null(source_open(&missing, &err));
    assert_int_equal(err.status, STATUS_INPUT);
    assert_non_null(strstr(err.text, "missing.txt: there is no"));

    static const struct {
        int error;
        status_t status;
        const char *says;
    } cases[] = {{EACCES, STATUS_INPUT, "may not read it"}, {EIO, STATUS_INPUT, "the disk could not"},
                 {EISDIR, STATUS_INPUT, "is a folder"},     {EMFILE, STATUS_HOST, "ulimit -n"},
                 {ENFILE, STATUS_HOST, "fs.file-max"},      {EDOM, STATUS_INPUT, "cannot be read: "}};
    for (EACH(i, cases)) {
        assert_false(fault_system(&err, "a name", cases[i].error));
        assert_int_equal(err.status, cases[i].status);
        assert_non_null(strstr(err.text, cases[i].says));
        assert_ptr_equal(strstr(err.text, "a name: "), err.text);
    }
}

/* ---------------------------------------------------------------- damage of all kinds */

static bytes_t damaged(const bytes_t *whole, uint64_t *seed) {
    bytes_t copy = {0};
    bytes_add(&copy, whole->at, whole->size);
    for (uint64_t n = 1 + chance(seed, 6); n; n--) {
        size_t at = chance(seed, copy.size);
        switch (chance(seed, 5)) {
        case 0:
            copy.at[at] = (uint8_t)chance(seed, 256);
            break;
        case 1:
            copy.at[at] ^= (uint8_t)(1 << chance(seed, 8));
            break;
        case 2:
            copy.at[at] = chance(seed, 2) ? 0xff : 0;
            break;
        case 3:
            copy.size = at + 1;
            break;
        default: { /* a piece from elsewhere */
            size_t length = chance(seed, 40), from = chance(seed, copy.size);
            length = length < copy.size - at ? length : copy.size - at;
            length = length < copy.size - from ? length : copy.size - from;
            memmove(copy.at + at, copy.at + from, length);
        }
        }
    }
    return copy;
}

/* Whatever comes out: it ends, it is not more than promised, and a fault has a sentence. */
TEST(survives_damage) {
    bytes_t text = lab_text(15, 4000), whole[4] = {0};
    log_level_t level = log_level();
    log_set_level(LOG_QUIET);
    bytes_add_all(&whole[0], lab_gzip(text.at, 1500));
    bytes_add_all(&whole[0], lab_deflate(text.at + 1500, 2500, 31, 6, 300));
    bytes_add_all(&whole[1], lab_zstd(text.at, 2000, true));
    bytes_add(&whole[1], skippable, 13);
    bytes_add_all(&whole[1], lab_zstd(text.at + 2000, 2000, false));
    for (size_t i = 0; i < 2; i++) {
        member_spec_t members[3] = {0};
        for (size_t m = 0; m < 3; m++)
            members[m] =
                (member_spec_t){(const char *[]){"a", "b/c", "d"}[m], text.at, 1500, methods[m], 0, 0, 0, 0};
        whole[2 + i] =
            lab_zip(members, 3, (zip_spec_t){.zip64 = i == 1, .before = 20 * i, .comment = "a comment"});
    }
    uint64_t seed = 15;
    for (int i = 0; i < 1600 / TEST_SHARE; i++) {
        manifest_t manifest;
        err_t err = {0};
        lab_write_all("damage", damaged(&whole[i % 4], &seed));
        if (!lab_manifest(&manifest, &err, "damage")) {
            assert_int_equal(err.status, STATUS_INPUT);
            assert_true(strlen(err.text) > 20);
            continue;
        }
        for (size_t f = 0; f < manifest.count; f++) {
            const input_file_t *file = &manifest.files[f];
            reading_t reading = lab_read_file(file, 1 + chance(&seed, 9000));
            assert_true(!file->text_bound || reading.text.size <= file->text_bound);
            assert_true(!reading.faulty ||
                        (reading.err.status == STATUS_INPUT && strlen(reading.err.text) > 20));
            free(reading.text.at);
        }
        manifest_free(&manifest);
    }
    for (size_t i = 0; i < 4; i++)
        free(whole[i].at);
    free(text.at);
    log_set_level(level);
}

TEST_GROUP(lab_open, lab_close);
