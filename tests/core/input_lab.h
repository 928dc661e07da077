/* input_lab: what the tests of src/input share: a folder of their own, files, text, packers and a zip writer.
 */
#ifndef TIPPLE_TESTS_INPUT_LAB_H
#define TIPPLE_TESTS_INPUT_LAB_H

#include "input/manifest.h"
#include "input/source.h"
#include "test.h"

#include <bzlib.h>
#include <dirent.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define LAB_UNUSED __attribute__((unused)) static

/* ---------------------------------------------------------------- bytes */

typedef struct {
    uint8_t *at;
    size_t size, room;
} bytes_t;

LAB_UNUSED void bytes_add(bytes_t *bytes, const void *data, size_t size) {
    if (bytes->size + size > bytes->room) {
        bytes->room = (bytes->size + size) * 2;
        bytes->at = realloc(bytes->at, bytes->room);
        assert_non_null(bytes->at);
    }
    if (size)
        memcpy(bytes->at + bytes->size, data, size);
    bytes->size += size;
}

LAB_UNUSED void bytes_add_all(bytes_t *bytes, bytes_t more) {
    bytes_add(bytes, more.at, more.size);
    free(more.at);
}

LAB_UNUSED void bytes_number(bytes_t *bytes, uint64_t value, size_t size) {
    uint8_t out[8];
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)(value >> 8 * i);
    bytes_add(bytes, out, size);
}

/* ---------------------------------------------------------------- chance and text */

/* splitmix64: the same on every host. */
LAB_UNUSED uint64_t chance(uint64_t *seed, uint64_t below) {
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % below;
}

/* Rows, now and then a long run, and pieces from far back. */
LAB_UNUSED bytes_t lab_text(uint64_t seed, size_t size) {
    static const char *const makes[] = {"FORD", "VAUXHALL", "VOLKSWAGEN", "PEUGEOT", "RENAULT", "TOYOTA"};
    bytes_t text = {0};
    char row[200];
    while (text.size < size) {
        uint64_t what = chance(&seed, 1000);
        if (what < 2) {
            char run[512];
            memset(run, 'A' + (int)chance(&seed, 26), sizeof run);
            for (uint64_t n = 1 + chance(&seed, 180); n; n--)
                bytes_add(&text, run, sizeof run);
        } else if (what < 300 && text.size > 70000) {
            size_t length = 20 + chance(&seed, 3000), back = length + chance(&seed, 65000 - length);
            bytes_t piece = {0};
            bytes_add(&piece, text.at + text.size - back, length);
            bytes_add_all(&text, piece);
        } else {
            /* Drawn one by one: the order of a call's arguments is the compiler's affair. */
            static const unsigned most[5] = {90000000, 12, 28, 200000, 6};
            unsigned number[5];
            for (int i = 0; i < 5; i++)
                number[i] = (unsigned)chance(&seed, most[i]);
            int n =
                snprintf(row, sizeof row, "%zu|%u|2013-%02u-%02u|4|N|P|%u|B|%s|SILVER|P|1598\n",
                         text.size + 7, number[0], number[1] + 1, number[2] + 1, number[3], makes[number[4]]);
            bytes_add(&text, row, (size_t)n);
        }
    }
    text.size = size;
    return text;
}

/* ---------------------------------------------------------------- packers */

/* window_bits: -15 raw, 31 gzip. flush_every: a sync flush (an empty stored block) as parallel packers make
 * it. */
LAB_UNUSED bytes_t lab_deflate(const void *text, size_t size, int window_bits, int level,
                               size_t flush_every) {
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
    bytes_t out = {.room = size + size / 8 + 4096 + (flush_every ? size / flush_every * 8 : 0)};
    out.at = malloc(out.room);
    stream.next_in = (uint8_t *)text;
    stream.next_out = out.at;
    stream.avail_out = (uint32_t)out.room;
    for (size_t done = 0; flush_every && done + flush_every < size; done += flush_every) {
        stream.avail_in = (uint32_t)flush_every;
        assert_int_equal(deflate(&stream, Z_SYNC_FLUSH), Z_OK);
    }
    stream.avail_in = (uint32_t)(size - (size_t)(stream.next_in - (const uint8_t *)text));
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out.size = stream.total_out;
    deflateEnd(&stream);
    return out;
}

LAB_UNUSED bytes_t lab_gzip(const void *text, size_t size) {
    return lab_deflate(text, size, 31, 6, 0);
}

/* How much of the text must come out of the first `cut` bytes: what zlib gets out of them. window_bits: as above. */
LAB_UNUSED size_t lab_known_text(const uint8_t *compressed, size_t cut, int window_bits) {
    static uint8_t out[100000];
    size_t known = 0;
    z_stream stream = {.next_in = (uint8_t *)compressed, .avail_in = (uint32_t)cut};
    inflateInit2(&stream, window_bits);
    int code = Z_OK;
    while (code == Z_OK && stream.avail_in) {
        stream.next_out = out + known;
        stream.avail_out = (uint32_t)(sizeof out - known);
        code = inflate(&stream, Z_SYNC_FLUSH);
        known = (size_t)(stream.next_out - out);
        if (code == Z_STREAM_END) {
            code = Z_OK;
            inflateReset(&stream);
        }
    }
    inflateEnd(&stream);
    return known;
}

/* stated: whether the frame says how long its text is. */
LAB_UNUSED bytes_t lab_zstd(const void *text, size_t size, bool stated) {
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, stated);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    bytes_t out = {.room = ZSTD_compressBound(size)};
    out.at = malloc(out.room);
    out.size = ZSTD_compress2(context, out.at, out.room, text, size);
    assert_false(ZSTD_isError(out.size));
    ZSTD_freeCCtx(context);
    return out;
}

/* ---------------------------------------------------------------- xz, bzip2 */

LAB_UNUSED bytes_t lab_xz(const void *text, size_t size) {
    bytes_t out = {.room = lzma_stream_buffer_bound(size)};
    out.at = malloc(out.room);
    assert_int_equal(
        lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, text, size, out.at, &out.size, out.room), LZMA_OK);
    return out;
}

LAB_UNUSED bytes_t lab_bzip2(const void *text, size_t size) {
    bytes_t out = {.room = size + size / 100 + 1000};
    unsigned room = (unsigned)out.room;
    out.at = malloc(out.room);
    assert_int_equal(
        BZ2_bzBuffToBuffCompress((char *)out.at, &room, (char *)(uintptr_t)text, (unsigned)size, 1, 0, 0),
        BZ_OK);
    out.size = room;
    return out;
}

/* ---------------------------------------------------------------- zip */

typedef struct {
    const char *name;
    const void *text;
    size_t size;
    uint16_t method; /* 0, 8 and 93 are compressed here */
    uint16_t flags;
    bool is_link;
    int64_t more_stated; /* added to the stated text size */
    uint32_t wrong_crc;  /* added to the CRC */
} member_spec_t;

typedef struct {
    size_t before; /* bytes before the first member, not counted in the offsets */
    int zip64;     /* 2: 64-bit sizes, but a 32-bit offset */
    const char *comment;
    uint16_t disk;
    uint64_t more_entries; /* added to the stated count */
} zip_spec_t;

LAB_UNUSED bytes_t lab_pack(const member_spec_t *member) {
    if (member->method == 8)
        return lab_deflate(member->text, member->size, -15, 6, 0);
    if (member->method == 93)
        return lab_zstd(member->text, member->size, true);
    bytes_t out = {0};
    bytes_add(&out, member->text, member->size);
    return out;
}

LAB_UNUSED bytes_t lab_zip(const member_spec_t *members, size_t count, zip_spec_t spec) {
    bytes_t zip = {0}, directory = {0};
    for (size_t i = 0; i < spec.before; i++)
        bytes_add(&zip, i == 0 ? "#" : i == 1 ? "!" : "-", 1);
    for (size_t i = 0; i < count; i++) {
        const member_spec_t *m = &members[i];
        bytes_t compressed = lab_pack(m);
        uint64_t offset = zip.size - spec.before, stated = (uint64_t)((int64_t)m->size + m->more_stated);
        uint32_t crc = (uint32_t)crc32_z(0, m->text, m->size) + m->wrong_crc;
        for (int in_directory = 0; in_directory < 2; in_directory++) {
            bytes_t *out = in_directory ? &directory : &zip;
            bool wide = spec.zip64 && in_directory, far = wide && spec.zip64 < 2;
            bytes_number(out, in_directory ? 0x02014b50 : 0x04034b50, 4);
            if (in_directory)
                bytes_number(out, 3 << 8 | 45, 2);
            bytes_number(out, 45, 2);
            bytes_number(out, m->flags, 2);
            bytes_number(out, m->method, 2);
            bytes_number(out, 0, 4);
            bytes_number(out, crc, 4);
            bytes_number(out, wide ? UINT32_MAX : compressed.size, 4);
            bytes_number(out, wide ? UINT32_MAX : stated, 4);
            bytes_number(out, strlen(m->name), 2);
            bytes_number(out, 5 + (far ? 28 : wide ? 20 : 0), 2);
            if (in_directory) {
                bytes_number(out, 4, 2); /* comment */
                bytes_number(out, 0, 4);
                bytes_number(out, (uint64_t)(m->is_link ? S_IFLNK : S_IFREG) << 16, 4);
                bytes_number(out, far ? UINT32_MAX : offset, 4);
            }
            bytes_add(out, m->name, strlen(m->name));
            bytes_add(out, "UT\1\0\3", 5);
            if (wide) {
                bytes_number(out, 1, 2);
                bytes_number(out, far ? 24 : 16, 2);
                bytes_number(out, stated, 8);
                bytes_number(out, compressed.size, 8);
                bytes_number(out, offset, far ? 8 : 0);
            }
            if (in_directory)
                bytes_add(out, "note", 4);
        }
        bytes_add_all(&zip, compressed);
    }
    uint64_t offset = zip.size - spec.before, bytes = directory.size, entries = count + spec.more_entries;
    bytes_add_all(&zip, directory);
    if (spec.zip64) {
        uint64_t place = zip.size - spec.before;
        bytes_number(&zip, 0x06064b50, 4);
        bytes_number(&zip, 44, 8);
        bytes_number(&zip, 45 | 45 << 16, 4);
        bytes_number(&zip, spec.disk, 4);
        bytes_number(&zip, spec.disk, 4);
        bytes_number(&zip, entries, 8);
        bytes_number(&zip, entries, 8);
        bytes_number(&zip, bytes, 8);
        bytes_number(&zip, offset, 8);
        bytes_number(&zip, 0x07064b50, 4);
        bytes_number(&zip, 0, 4);
        bytes_number(&zip, place, 8);
        bytes_number(&zip, 1, 4);
    }
    const char *comment = spec.comment ? spec.comment : "";
    bytes_number(&zip, 0x06054b50, 4);
    bytes_number(&zip, spec.zip64 ? 0xffff : spec.disk, 2);
    bytes_number(&zip, spec.zip64 ? 0xffff : spec.disk, 2);
    bytes_number(&zip, spec.zip64 ? 0xffff : entries, 2);
    bytes_number(&zip, spec.zip64 ? 0xffff : entries, 2);
    bytes_number(&zip, spec.zip64 ? UINT32_MAX : bytes, 4);
    bytes_number(&zip, spec.zip64 ? UINT32_MAX : offset, 4);
    bytes_number(&zip, strlen(comment), 2);
    bytes_add(&zip, comment, strlen(comment));
    return zip;
}

/* ---------------------------------------------------------------- a folder of our own */

static char lab_folder[512];

LAB_UNUSED int lab_open(TEST_UNUSED void **state) {
    const char *where = getenv("TMPDIR");
    snprintf(lab_folder, sizeof lab_folder, "%s/tipple-input-XXXXXX", where ? where : "/tmp");
    return mkdtemp(lab_folder) && chdir(lab_folder) == 0 ? 0 : -1;
}

LAB_UNUSED void lab_remove(const char *path) {
    DIR *folder = opendir(path);
    struct dirent *entry;
    char inner[1024];
    while (folder && (entry = readdir(folder))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        struct stat status;
        if (lstat(inner, &status) == 0 && S_ISDIR(status.st_mode))
            lab_remove(inner);
        else
            unlink(inner);
    }
    if (folder)
        closedir(folder);
    rmdir(path);
}

LAB_UNUSED int lab_close(TEST_UNUSED void **state) {
    if (chdir("/") == 0)
        lab_remove(lab_folder);
    return 0;
}

/* A new file, not the old one cut to nothing: some file systems write such a one to the disk at once. */
LAB_UNUSED void lab_write(const char *name, const void *data, size_t size) {
    unlink(name);
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0644);
    assert_true(fd >= 0);
    for (size_t done = 0; done < size;) {
        ssize_t n = write(fd, (const char *)data + done, size - done);
        assert_true(n > 0);
        done += (size_t)n;
    }
    close(fd);
}

LAB_UNUSED void lab_write_all(const char *name, bytes_t bytes) {
    lab_write(name, bytes.at, bytes.size);
    free(bytes.at);
}

LAB_UNUSED void lab_say(const char *name, const char *text) {
    lab_write(name, text, strlen(text));
}

/* What a function says on stderr. */
typedef struct {
    int saved, memory;
    char text[16384];
} hearing_t;

LAB_UNUSED void hear_begin(hearing_t *hearing) {
    fflush(stderr);
    hearing->saved = dup(STDERR_FILENO);
    hearing->memory = memfd_create("stderr", 0);
    dup2(hearing->memory, STDERR_FILENO);
}

LAB_UNUSED const char *hear_end(hearing_t *hearing) {
    fflush(stderr);
    dup2(hearing->saved, STDERR_FILENO);
    close(hearing->saved);
    ssize_t n = pread(hearing->memory, hearing->text, sizeof hearing->text - 1, 0);
    hearing->text[n > 0 ? n : 0] = 0;
    close(hearing->memory);
    return hearing->text;
}

LAB_UNUSED size_t times(const char *text, const char *word) {
    size_t n = 0;
    for (; (text = strstr(text, word)); text += strlen(word))
        n++;
    return n;
}

/* ---------------------------------------------------------------- manifests and reading */

LAB_UNUSED bool lab_manifest(manifest_t *manifest, err_t *err, const char *arg) {
    char *args[] = {(char *)arg};
    const manifest_options_t options = {.keep = 64 << 20};
    return manifest_build(manifest, args, 1, &options, err);
}

/* A buffer that ends where nothing can be written, for whoever writes too far. */
LAB_UNUSED uint8_t *lab_guarded(size_t size) {
    size_t page = 4096, room = (size + page - 1) / page * page;
    uint8_t *map = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(map != MAP_FAILED);
    assert_int_equal(mprotect(map + room, page, PROT_NONE), 0);
    return map + room - size;
}

LAB_UNUSED void lab_unguard(uint8_t *buffer, size_t size) {
    uintptr_t start = (uintptr_t)buffer / 4096 * 4096;
    munmap((void *)start, (size + 4095) / 4096 * 4096 + 4096);
}

typedef struct {
    bytes_t text;
    bool faulty;
    err_t err;
} reading_t;

/* Checks what is kept of the beginning of a text, and that a source that only looks gives out the same text. */
LAB_UNUSED void lab_check_head(const input_file_t *file, const bytes_t *text, size_t step) {
    source_kit_t kit = {.looks = true};
    bytes_t seen = {0};
    err_t err;
    ssize_t n;
    if (!file->head.bytes)
        return;
    assert_in_range(file->head.length, 0, INPUT_HEAD_MOST);
    assert_true(file->head.length <= text->size && file->head.whole == (file->head.length == text->size));
    if (file->head.length)
        assert_memory_equal(file->head.bytes, text->at, file->head.length);
    source_t *source = source_open_in(&kit, file, &err);
    uint8_t *buffer = lab_guarded(step);
    while ((n = source_read(source, buffer, step, &err)) > 0)
        bytes_add(&seen, buffer, (size_t)n);
    assert_int_equal(n, 0);
    assert_int_equal(seen.size, text->size);
    if (seen.size)
        assert_memory_equal(seen.at, text->at, seen.size);
    source_close(source);
    source_kit_close(&kit);
    lab_unguard(buffer, step);
    free(seen.at);
}

/* All of a file in steps of `step` bytes; checks that only the last step is short. */
LAB_UNUSED reading_t lab_read_file(const input_file_t *file, size_t step) {
    reading_t reading = {0};
    source_t *source = source_open(file, &reading.err);
    if (!source) {
        reading.faulty = true;
        return reading;
    }
    uint8_t *buffer = lab_guarded(step);
    ssize_t n, last = (ssize_t)step;
    while ((n = source_read(source, buffer, step, &reading.err)) > 0) {
        assert_true(last == (ssize_t)step || file->kind == INPUT_STREAM);
        bytes_add(&reading.text, buffer, (size_t)n);
        last = n;
    }
    reading.faulty = n < 0;
    if (reading.faulty) {
        err_t again = {0};
        assert_int_equal(source_read(source, buffer, step, &again), -1);
        assert_string_equal(again.text, reading.err.text);
    } else {
        assert_int_equal(source_read(source, buffer, step, &reading.err), 0);
        lab_check_head(file, &reading.text, step);
    }
    source_close(source);
    lab_unguard(buffer, step);
    return reading;
}

/* The one file that this argument stands for. */
LAB_UNUSED reading_t lab_read(const char *arg, size_t step) {
    manifest_t manifest;
    reading_t reading = {0};
    if (!lab_manifest(&manifest, &reading.err, arg)) {
        reading.faulty = true;
        return reading;
    }
    assert_int_equal(manifest.count, 1);
    reading = lab_read_file(&manifest.files[0], step);
    manifest_free(&manifest);
    return reading;
}

LAB_UNUSED void assert_text(const reading_t *reading, const void *text, size_t size) {
    if (reading->text.size != size)
        fail_msg("%zu bytes instead of %zu%s%s", reading->text.size, size, reading->faulty ? ": " : "",
                 reading->faulty ? reading->err.text : "");
    if (size)
        assert_memory_equal(reading->text.at, text, size);
}

/* Reads and expects exactly this text, and no fault (says NULL) or one that says this. */
LAB_UNUSED void expect_reading(const char *arg, size_t step, const void *text, size_t size,
                               const char *says) {
    reading_t reading = lab_read(arg, step);
    assert_text(&reading, text, size);
    if (reading.faulty != (says != NULL) || (says && !strstr(reading.err.text, says)))
        fail_msg("expected '%s', got '%s'", says ? says : "no fault",
                 reading.faulty ? reading.err.text : "no fault");
    free(reading.text.at);
}

#endif
