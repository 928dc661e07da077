/* Tars of every kind, compressed and not: which members they have, what those hold, and what is wrong with bad
 * ones.
 */
#include "input/archive/archive.h"
#include "input/manifest.h"
#include "input_lab.h"
#include "test.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define EACH(i, list)                                                                                        \
    size_t i = 0;                                                                                            \
    i < sizeof(list) / sizeof *(list);                                                                       \
    i++

/* ---------------------------------------------------------------- writing tars */

enum { V7, USTAR, GNU };

typedef struct {
    const char *name, *prefix;
    const void *body;
    size_t size;    /* of the body */
    int64_t stated; /* instead of it in the header; -1: none at all */
    int dialect;    /* V7 unless given */
    char type;      /* '0' unless given; '0' of v7 is NUL */
    bool wide;      /* the size in base 256 */
    bool wrong;     /* checksum */
    bool devices;
    bool with_signs;   /* in the sum of the bytes */
    const char *octal; /* the size's field as it stands */
} header_t;

static void put_header(bytes_t *tar, header_t h) {
    uint8_t block[TAR_BLOCK] = {0};
    uint64_t size = h.stated > 0 ? (uint64_t)h.stated : h.stated < 0 ? 0 : h.size;
    memcpy(block, h.name, strnlen(h.name, 100));
    memcpy(block + 100, "0000644", 8);
    memcpy(block + 108, "0001750", 8);
    memcpy(block + 116, "0001750", 8);
    memcpy(block + 136, "14621231234", 12);
    if (h.octal)
        memcpy(block + 124, h.octal, strnlen(h.octal, 12));
    else if (!h.wide)
        snprintf((char *)block + 124, 12, "%011llo", (unsigned long long)size);
    for (size_t i = 0; h.wide && i < 8; i++)
        block[128 + i] = (uint8_t)(size >> 8 * (7 - i));
    if (h.wide)
        block[124] = 0x80;
    block[156] = (uint8_t)(h.type ? h.type : h.dialect == V7 ? 0 : '0');
    if (h.devices)
        memcpy(block + 329, "0000000\0000000000", 16);
    if (h.dialect == USTAR)
        memcpy(block + 257, "ustar\00000", 8);
    if (h.dialect == GNU)
        memcpy(block + 257, "ustar  ", 8);
    if (h.prefix)
        memcpy(block + 345, h.prefix, strnlen(h.prefix, 155));
    unsigned sum = h.wrong;
    memset(block + 148, ' ', 8);
    for (size_t i = 0; i < sizeof block; i++)
        sum += h.with_signs ? (unsigned)(int8_t)block[i] : block[i];
    snprintf((char *)block + 148, 8, "%06o", sum & 0777777);
    bytes_add(tar, block, sizeof block);
}

static void put_zeros(bytes_t *tar, size_t count) {
    static const uint8_t zeros[TAR_BLOCK * 40];
    bytes_add(tar, zeros, count);
}

static void put(bytes_t *tar, header_t header) {
    put_header(tar, header);
    bytes_add(tar, header.body, header.size);
    put_zeros(tar, -header.size & (TAR_BLOCK - 1));
}

static void put_text(bytes_t *tar, const char *name, const char *text) {
    put(tar, (header_t){.name = name, .body = text, .size = strlen(text), .dialect = USTAR});
}

static void put_pax(bytes_t *tar, char type, const char *text) {
    put(tar,
        (header_t){.name = "PaxHeader", .body = text, .size = strlen(text), .dialect = USTAR, .type = type});
}

/* ---------------------------------------------------------------- expecting */

static bytes_t packed(const bytes_t *tar, int how) {
    bytes_t copy = {0};
    if (how == 1)
        return lab_gzip(tar->at, tar->size);
    if (how == 2)
        return lab_zstd(tar->at, tar->size, false);
    bytes_add(&copy, tar->at, tar->size);
    return copy;
}

/* The two blocks of zeros, where a test that is about something else has left them out. */
static void put_end(bytes_t *tar) {
    static const uint8_t zeros[TAR_BLOCK];
    if (tar->size % TAR_BLOCK == 0 && memcmp(tar->at + tar->size - TAR_BLOCK, zeros, TAR_BLOCK) != 0)
        put_zeros(tar, 1024);
}

/* Each member as "name=text;", in order. A tar is written plain, as gzip and as zstd. */
static void expect_members(bytes_t tar, const char *expected, const char *note) {
    put_end(&tar);
    for (int how = 0; how < 3; how++) {
        manifest_t manifest;
        hearing_t heard;
        err_t err = {0};
        char found[4096] = "";
        lab_write_all("t", packed(&tar, how));
        hear_begin(&heard);
        bool ok = lab_manifest(&manifest, &err, "t");
        hear_end(&heard);
        if (!ok)
            fail_msg("%d: %s", how, err.text);
        source_kit_t kit = {.looks = false};
        for (size_t i = 0; i < manifest.count; i++) {
            char text[200];
            assert_ptr_equal(strstr(manifest.files[i].name, "t!"), manifest.files[i].name);
            source_t *source = source_open_in(&kit, &manifest.files[i], &err);
            if (!source)
                fail_msg("%s", err.text);
            ssize_t n = source_read(source, text, sizeof text, &err);
            assert_true(n >= 0);
            sprintf(found + strlen(found), "%s=%.*s;", manifest.files[i].name + 2, (int)n, text);
            source_close(source);
        }
        assert_string_equal(found, expected);
        source_kit_close(&kit);
        if (note && !strstr(heard.text, note))
            fail_msg("%d: expected the note '%s', got '%s'", how, note, heard.text);
        if (!note)
            assert_string_equal(heard.text, "");
        manifest_free(&manifest);
    }
    free(tar.at);
}

static void expect_refusal(bytes_t tar, const char *says) {
    for (int how = 0; how < 3; how++) {
        manifest_t manifest;
        hearing_t heard;
        err_t err = {0};
        lab_write_all("t", packed(&tar, how));
        hear_begin(&heard);
        bool ok = lab_manifest(&manifest, &err, "t");
        hear_end(&heard);
        assert_false(ok);
        assert_int_equal(err.status, STATUS_INPUT);
        if (!strstr(err.text, says))
            fail_msg("%d: expected '%s', got '%s'", how, says, err.text);
        assert_null(manifest.files);
    }
    free(tar.at);
}

/* ---------------------------------------------------------------- headers */

TEST(reads_headers_of_all_kinds) {
    char long_name[400], prefix[156], expected[1000], pax[500];
    memset(long_name, 'n', sizeof long_name);
    memset(prefix, 'p', 155);
    prefix[155] = long_name[300] = 0;
    long_name[40] = long_name[200] = '/';

    bytes_t tar = {0};
    put(&tar, (header_t){.name = "v7", .body = "old", .size = 3, .devices = true}); /* as GNU tar writes it */
    put(&tar, (header_t){.name = "dir/", .stated = 77777});                         /* a folder of v7 */
    put(&tar, (header_t){.name = "blanks", .body = "12345678", .size = 8, .octal = "         10 "});
    expect_members(tar, "v7=old;blanks=12345678;", NULL);

    tar = (bytes_t){0};
    put(&tar, (header_t){.name = "caf\xe9", .body = "1", .size = 1, .with_signs = true});
    expect_members(tar, "caf\\xe9=1;", NULL);

    tar = (bytes_t){0};
    put(&tar, (header_t){.name = "plain", .body = "1", .size = 1, .dialect = USTAR});
    put(&tar, (header_t){.name = "f", .prefix = "in/side", .body = "2", .size = 1, .dialect = USTAR});
    put(&tar, (header_t){.name = long_name, .prefix = prefix, .body = "3", .size = 1, .dialect = USTAR});
    put(&tar, (header_t){.name = "./a//b/./c", .body = "4", .size = 1, .dialect = USTAR, .type = '7'});
    put(&tar, (header_t){.name = "empty", .dialect = USTAR});
    put(&tar, (header_t){.name = "wide", .body = "5", .size = 1, .dialect = USTAR, .wide = true});
    sprintf(expected, "plain=1;in/side/f=2;%s/%.100s=3;a/b/c=4;empty=;wide=5;", prefix, long_name);
    expect_members(tar, expected, NULL);

    tar = (bytes_t){0};
    put(&tar, (header_t){.name = "gnu", .prefix = "123", .body = "1", .size = 1, .dialect = GNU});
    put(&tar,
        (header_t){.name = "././@LongLink", .body = long_name, .size = 301, .dialect = GNU, .type = 'L'});
    put(&tar, (header_t){.name = "cut", .body = "2", .size = 1, .dialect = GNU});
    put(&tar,
        (header_t){.name = "././@LongLink", .body = long_name, .size = 301, .dialect = GNU, .type = 'L'});
    put(&tar, (header_t){.name = "././@LongLink", .body = "target", .size = 7, .dialect = GNU, .type = 'K'});
    put(&tar, (header_t){.name = "link", .dialect = GNU, .type = '2', .stated = 512});
    put(&tar, (header_t){.name = "label", .dialect = GNU, .type = 'V'});
    put(&tar, (header_t){.name = "after", .body = "3", .size = 1, .dialect = GNU});
    sprintf(expected, "gnu=1;%s=2;after=3;", long_name);
    expect_members(tar, expected, "a symbolic link\n");

    tar = (bytes_t){0};
    put_pax(&tar, 'g', "13 comment=x\n");
    sprintf(pax, "22 mtime=1234567890.5\n%zu path=%s\n", strlen(long_name) + 10, long_name);
    put_pax(&tar, 'x', pax);
    put(&tar, (header_t){.name = "short", .body = "1", .size = 1, .dialect = USTAR});
    put_pax(&tar, 'x', "10 size=3\n");
    put(&tar, (header_t){.name = "sized", .body = "abc", .size = 3, .stated = -1, .dialect = USTAR});
    put(&tar, (header_t){.name = "unsized", .body = "de", .size = 2, .dialect = USTAR});
    put_pax(&tar, 'x', "19 path=caf\xc3\xa9 = =\n\n");
    put(&tar, (header_t){.name = "equal", .dialect = USTAR});
    sprintf(expected, "%s=1;sized=abc;unsized=de;caf\xc3\xa9 = =\\x0a=;", long_name);
    expect_members(tar, expected, NULL);

    tar = (bytes_t){0}; /* global: until something nearer says otherwise */
    put_pax(&tar, 'g', "14 path=every\n");
    put(&tar, (header_t){.name = "own", .body = "1", .size = 1, .dialect = USTAR});
    put_pax(&tar, 'x', "13 path=near\n");
    put(&tar, (header_t){.name = "own", .body = "2", .size = 1, .dialect = USTAR});
    put_pax(&tar, 'g', "8 path=\n");
    put(&tar, (header_t){.name = "own", .body = "3", .size = 1, .dialect = USTAR});
    expect_members(tar, "every=1;near=2;own=3;", NULL);
}

/* As zstd, its first block of 128 KiB takes more than the first 64 KiB of the file. */
TEST(knows_what_hardly_shrinks) {
    bytes_t tar = {0}, text = {0};
    uint64_t seed = 7;
    char row[40], expected[300];
    while (text.size < 400000)
        bytes_add(&text, row,
                  (size_t)sprintf(row, "%016llx\n", (unsigned long long)chance(&seed, UINT64_MAX)));
    put(&tar, (header_t){.name = "ids", .body = (const char *)text.at, .size = text.size, .dialect = USTAR});
    put_text(&tar, "last", "x");
    sprintf(expected, "ids=%.200s;last=x;", (const char *)text.at);
    free(text.at);
    expect_members(tar, expected, NULL);
}

/* What is no file may state a size, but has no bytes: where bytes follow, they are no header. */
TEST(refuses_bytes_of_what_is_no_file) {
    static const struct {
        const char *name;
        char type;
        int dialect;
        const char *note;
    } all[] = {
        {"x/", '0', USTAR, NULL},
        {"x/", 0, V7, NULL},
        {"x", '5', USTAR, NULL},
        {"x", '1', USTAR, "a hard link"},
        {"x", '2', GNU, "a symbolic link\n"},
    };
    for (EACH(i, all)) {
        for (int stated = 0; stated < 2; stated++) {
            bytes_t tar = {0};
            put_text(&tar, "a", "first");
            put(&tar, (header_t){.name = all[i].name,
                                 .body = stated ? "" : "a,b\n",
                                 .size = stated ? 0 : 4,
                                 .stated = stated ? 4 : 0,
                                 .type = all[i].type,
                                 .dialect = all[i].dialect});
            put_text(&tar, "b", "second");
            if (stated)
                expect_members(tar, "a=first;b=second;", all[i].note);
            else
                expect_refusal(tar, "checksum");
        }
    }
}

/* ---------------------------------------------------------------- ends */

static bytes_t two_members(void) {
    bytes_t tar = {0};
    put_text(&tar, "a", "first");
    put_text(&tar, "b", "second");
    return tar;
}

TEST(knows_the_end) {
    const char *both = "a=first;b=second;";
    for (int blocks = 1; blocks < 40; blocks += blocks < 3 ? 1 : 12) {
        bytes_t tar = two_members();
        put_zeros(&tar, (size_t)blocks * TAR_BLOCK);
        expect_members(tar, both, NULL);
    }
    expect_refusal(two_members(), "at byte 2048 without the zeros");
    bytes_t tar = two_members(); /* the last padding is missing, in whole or in part */
    tar.size -= 512 - 6;
    expect_refusal(tar, "tar data");
    tar = two_members();
    tar.size -= 100;
    expect_refusal(tar, "tar data");
    tar = two_members(); /* a part of the first block of zeros */
    put_zeros(&tar, 77);
    expect_members(tar, both, NULL);
    tar = two_members();
    put_zeros(&tar, 1024);
    bytes_add(&tar, "garbage", 7);
    expect_refusal(tar, "at byte 3072 is something else");
    tar = two_members();
    put_zeros(&tar, 512 * 30);
    for (int i = 0; i < 2000; i++)
        bytes_add(&tar, "garbage\n", 8);
    expect_refusal(tar, "at byte 17408 is something else");
}

TEST(notices_what_is_cut_off) {
    bytes_t whole = {0};
    put_text(&whole, "a", "");
    static const char body[] = "more than a few bytes, so that there is something to cut";
    put_text(&whole, "b/c", body);
    put_pax(&whole, 'x', "13 path=long\n");
    put_text(&whole, "d", "last");
    assert_int_equal(whole.size, 3584);
    for (size_t size = 513; size <= whole.size; size += 61) {
        bytes_t tar = {0};
        bytes_add(&tar, whole.at, size);
        expect_refusal(tar, "tar data");
    }
    free(whole.at);

    bytes_t tar = {0}; /* a member that is not read is missed as well */
    put_text(&tar, "a", "1");
    put_header(&tar, (header_t){.name = ".hidden", .stated = 100000, .dialect = USTAR});
    put_zeros(&tar, 5000);
    expect_refusal(tar, "tar data");
    tar = (bytes_t){0};
    put_header(&tar, (header_t){.name = "huge", .stated = 1ll << 62, .dialect = USTAR, .wide = true});
    expect_refusal(tar, "tar data");
}

/* ---------------------------------------------------------------- what is refused */

TEST(refuses_broken_headers) {
    bytes_t tar = two_members();
    put(&tar, (header_t){.name = "c", .dialect = USTAR, .wrong = true});
    expect_refusal(tar, "near byte 2048 (the checksum");
    tar = (bytes_t){0};
    put(&tar, (header_t){.name = "c", .dialect = USTAR, .wrong = true});
    expect_refusal(tar, "near byte 0 (the checksum");
    static const char *const numbers[] = {"0000000001x", "9", "\xff\xff\xff\xff", "\x80\1", "-1", "\x81"};
    for (EACH(i, numbers)) {
        tar = two_members();
        put(&tar, (header_t){.name = "c", .dialect = USTAR, .octal = numbers[i]});
        expect_refusal(tar, "no number");
    }
    static const char *const descriptions[] = {
        "x",       "5 a=b\n", "999 a=b\n",    "6 a=b\n6 a=b",
        "7 a=b\n", "06 ab\n", "11 size=1x\n", "26 size=9999999999999999999\n",
        "0 =\n"};
    for (EACH(i, descriptions)) {
        tar = two_members();
        put_pax(&tar, 'x', descriptions[i]);
        put_text(&tar, "c", "x");
        expect_refusal(tar, "its tar data is damaged");
    }
    tar = two_members();
    put_header(&tar, (header_t){.name = "c", .stated = 2 << 20, .dialect = USTAR, .type = 'x'});
    expect_refusal(tar, "longer than 1 MB");
}

TEST(refuses_members_that_are_not_read) {
    bytes_t inner = two_members(), tar = {0};
    put(&tar, (header_t){.name = "in.tar", .body = inner.at, .size = inner.size, .dialect = USTAR});
    expect_refusal(tar, "t!in.tar: a tar archive cannot");
    bytes_t zip = lab_zip(&(member_spec_t){.name = "a", .text = "b", .size = 1}, 1, (zip_spec_t){0});
    tar = (bytes_t){0};
    put(&tar, (header_t){.name = "in.zip", .body = zip.at, .size = zip.size, .dialect = USTAR});
    expect_refusal(tar, "t!in.zip: a zip archive cannot");
    tar = two_members();
    put_text(&tar, "c", "\x04\x22\x4d\x18 and so on");
    expect_refusal(tar, "t!c: holds lz4 data");
    tar = two_members();
    put(&tar, (header_t){.name = "holes", .dialect = GNU, .type = 'S'});
    expect_refusal(tar, "t!holes: is a sparse file");
    tar = two_members();
    put_pax(&tar, 'x', "22 GNU.sparse.major=1\n");
    put_text(&tar, "holes", "x");
    expect_refusal(tar, "t!holes: is a sparse file");
    tar = two_members();
    put(&tar, (header_t){.name = "part", .dialect = GNU, .type = 'M'});
    expect_refusal(tar, "t!part: begins in another part");

    /* found out only when it is read: a tar that is compressed once more */
    bytes_t packed_tar = lab_gzip(inner.at, inner.size);
    tar = (bytes_t){0};
    put(&tar, (header_t){.name = "in.tgz", .body = packed_tar.at, .size = packed_tar.size, .dialect = USTAR});
    put_end(&tar);
    lab_write_all("t", tar);
    expect_reading("t", 1000, "", 0, "t!in.tgz: a tar archive cannot");
    free(packed_tar.at);
    free(inner.at);
    free(zip.at);
}

/* What has the mark of a tar, or a checksum by chance, but is text. */
TEST(takes_text_for_text) {
    bytes_t text = lab_text(7, 3000);
    memcpy(text.at + 257, "ustar", 5);
    text.at[262] = 'x';
    lab_write("text", text.at, text.size);
    expect_reading("text", 10000, text.at, text.size, NULL);
    lab_write_all("text.gz", lab_gzip(text.at, text.size));
    expect_reading("text.gz", 10000, text.at, text.size, NULL);
    unsigned sum = 0;
    memset(text.at + 148, ' ', 8);
    for (size_t i = 0; i < 512; i++)
        sum += text.at[i];
    char octal[8];
    snprintf(octal, sizeof octal, "%06o", sum);
    memcpy(text.at + 148, octal, 6);
    lab_write("text", text.at, text.size);
    expect_reading("text", 10000, text.at, text.size, NULL);
    free(text.at);
}

/* ---------------------------------------------------------------- reading members */

enum { SIZES = 12 };
static const size_t sizes[SIZES] = {0, 1, 511, 512, 513, 16383, 16384, 32768, 32769, 65536, 131072, 300001};

/* Members of many sizes, compressed in three ways, with their texts. */
static bytes_t big_tar(uint64_t seed, bytes_t texts[3 * SIZES]) {
    bytes_t tar = {0};
    for (size_t i = 0; i < 3 * SIZES; i++) {
        texts[i] = lab_text(seed + i, sizes[i % SIZES]);
        bytes_t body = packed(&texts[i], (int)(i / SIZES));
        char name[40];
        sprintf(name, "%zu/%zu", i / SIZES, i % SIZES);
        put(&tar, (header_t){.name = name, .body = body.at, .size = body.size, .dialect = USTAR});
        free(body.at);
    }
    put_zeros(&tar, 10240);
    return tar;
}

/* Returns how many bytes on disk that took. */
static uint64_t expect_whole(source_kit_t *kit, const input_file_t *file, const bytes_t *text) {
    err_t err = {0};
    uint8_t *got = malloc(400000);
    lab_check_head(file, text, 5000);
    source_t *source = source_open_in(kit, file, &err);
    if (!source)
        fail_msg("%s", err.text);
    ssize_t n = source_read(source, got, 400000, &err);
    if (n != (ssize_t)text->size)
        fail_msg("%s: %zd instead of %zu: %s", file->name, n, text->size, err.text);
    assert_true(!n || memcmp(got, text->at, (size_t)n) == 0);
    assert_int_equal(source_read(source, got, 1, &err), 0);
    const uint64_t disk = source_disk_bytes(source);
    assert_true(input_is_in_stream(file) || disk == file->disk_bytes);
    source_close(source);
    free(got);
    return disk;
}

TEST(reads_members_in_any_order) {
    bytes_t texts[3 * SIZES], tar = big_tar(100, texts);
    for (int how = 0; how < 3; how++) {
        manifest_t manifest;
        err_t err = {0};
        put_end(&tar);
        lab_write_all("big.tar", packed(&tar, how));
        assert_true(lab_manifest(&manifest, &err, "big.tar"));
        assert_int_equal(manifest.count, 3 * SIZES);
        source_kit_t kit = {.looks = false};
        for (size_t i = 0; i < 3 * SIZES; i++) {
            const input_file_t *file = &manifest.files[i];
            assert_int_equal(file->kind, i / SIZES == 1   ? INPUT_GZIP
                                         : i / SIZES == 2 ? INPUT_ZSTD
                                                          : INPUT_PLAIN);
            assert_true(file->text_bound >= texts[i].size && file->has_identity);
            assert_true(input_is_in_stream(file) == (how > 0));
            expect_whole(&kit, file, &texts[i]);
        }
        uint64_t seed = 5;
        for (int n = 0; n < 30; n++) { /* back and forth, and without a kit */
            size_t i = chance(&seed, 3 * SIZES);
            expect_whole(&kit, &manifest.files[i], &texts[i]);
            reading_t reading = lab_read_file(&manifest.files[i], 10007);
            assert_text(&reading, texts[i].at, texts[i].size);
            free(reading.text.at);
        }
        source_kit_close(&kit);
        manifest_free(&manifest);
    }
    for (size_t i = 0; i < 3 * SIZES; i++)
        free(texts[i].at);
    free(tar.at);
}

/* The members of a compressed tar come out of one pass: the kit's stream only goes on. */
TEST(reads_a_stream_once) {
    bytes_t texts[3 * SIZES], tar = big_tar(200, texts);
    manifest_t manifest;
    err_t err = {0};
    put_end(&tar);
    lab_write_all("once.tgz", packed(&tar, 1));
    assert_true(lab_manifest(&manifest, &err, "once.tgz"));
    source_kit_t kit = {.looks = false};
    const source_t *stream = NULL;
    uint64_t read = 0, disk = 0, shares = 0;
    for (size_t i = 0; i < manifest.count; i++)
        shares += input_disk_share(&manifest.files[i]);
    assert_uint_in_range(shares, manifest.archives[0]->disk_bytes / 2, manifest.archives[0]->disk_bytes);
    for (size_t i = 0; i < manifest.count; i += i % 5 ? 1 : 2) {
        disk += expect_whole(&kit, &manifest.files[i], &texts[i]);
        assert_int_equal(disk, source_disk_bytes(kit.archive));
        assert_true(!stream || stream == kit.archive);
        stream = kit.archive;
        assert_true(source_disk_bytes(stream) >= read);
        read = source_disk_bytes(stream);
    }
    source_close(source_open_in(&kit, &manifest.files[3], &err)); /* one that is given up half way */
    expect_whole(&kit, &manifest.files[4], &texts[4]);
    source_kit_close(&kit);
    manifest_free(&manifest);
    for (size_t i = 0; i < 3 * SIZES; i++)
        free(texts[i].at);
    free(tar.at);
}

TEST(skips_within_members) {
    bytes_t text = lab_text(3, 100000), tar = {0};
    put_text(&tar, "before", "x");
    put(&tar, (header_t){.name = "text", .body = text.at, .size = text.size, .dialect = USTAR});
    put_text(&tar, "after", "y");
    for (int how = 0; how < 3; how++) {
        manifest_t manifest;
        err_t err = {0};
        uint8_t bytes[200];
        put_end(&tar);
        lab_write_all("skip", packed(&tar, how));
        assert_true(lab_manifest(&manifest, &err, "skip"));
        source_t *source = source_open(&manifest.files[1], &err);
        assert_true(source_skip_to(source, 77777, &err));
        assert_int_equal(source_read(source, bytes, 10, &err), 10);
        assert_memory_equal(bytes, text.at + 77777, 10);
        assert_true(source_skip_to(source, 99990, &err));
        assert_int_equal(source_read(source, bytes, 200, &err), 10);
        assert_memory_equal(bytes, text.at + 99990, 10);
        assert_int_equal(source_read(source, bytes, 200, &err), 0);
        source_close(source);
        source = source_open(&manifest.files[1], &err);
        assert_false(source_skip_to(source, 100001, &err));
        assert_non_null(strstr(err.text, "skip!text: ends at byte 100000"));
        source_close(source);
        manifest_free(&manifest);
    }
    free(text.at);
    free(tar.at);
}

/* ---------------------------------------------------------------- identity and change */

static bool same_digest(input_file_t a, input_file_t b) {
    return a.digest[0] == b.digest[0] && a.digest[1] == b.digest[1];
}

/* The second member, after another one and another header. */
static input_file_t second(const char *name, const bytes_t *text, int how, bool other) {
    bytes_t tar = {0};
    put_text(&tar, "first", other ? "another one that is longer" : "x");
    put(&tar, (header_t){.name = name, .body = text->at, .size = text->size, .dialect = other ? GNU : USTAR});
    manifest_t manifest;
    err_t err = {0};
    put_end(&tar);
    lab_write_all("digest", packed(&tar, how));
    assert_true(lab_manifest(&manifest, &err, "digest"));
    input_file_t file = manifest.files[1];
    manifest_free(&manifest);
    free(tar.at);
    return file;
}

TEST(digests_members) {
    static const size_t lengths[] = {1, 1000, 16384, 16385, 32768, 32769, 100000};
    for (EACH(i, lengths)) {
        bytes_t text = lab_text(23, lengths[i]);
        for (int how = 0; how < 3; how++) {
            input_file_t file = second("name", &text, how, false);
            assert_true(same_digest(file, second("name", &text, how, true)));
            assert_false(same_digest(file, second("other", &text, how, false)));
            const size_t places[] = {0, lengths[i] / 2, lengths[i] - 1};
            for (EACH(p, places)) {
                text.at[places[p]] ^= 1;
                bool is_seen = how > 0 || places[p] < 16384 || lengths[i] - places[p] <= 16384;
                assert_int_equal(same_digest(file, second("name", &text, how, false)), !is_seen);
                text.at[places[p]] ^= 1;
            }
            text.size--;
            assert_false(same_digest(file, second("name", &text, how, false)));
            text.size++;
        }
        free(text.at);
    }
}

TEST_GROUP(lab_open, lab_close);
