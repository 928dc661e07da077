/* What a list of arguments stands for: files, folders, patterns, streams, archives; and who each file is. */
#include "base/log.h"
#include "input/file/name.h"
#include "input/magic.h"
#include "input_lab.h"
#include "test.h"

#define EACH(i, list)                                                                                        \
    size_t i = 0;                                                                                            \
    i < sizeof(list) / sizeof *(list);                                                                       \
    i++

/* The names of the files, each followed by a space. */
static const char *names_of(const manifest_t *manifest) {
    static char names[4096];
    names[0] = 0;
    for (size_t i = 0; i < manifest->count; i++)
        sprintf(names + strlen(names), "%s ", manifest->files[i].name);
    return names;
}

typedef struct {
    hearing_t heard;
    size_t skipped;
} outcome_t;

/* args end with NULL. */
static outcome_t expect_names(char *const *args, const char *names) {
    outcome_t outcome;
    manifest_t manifest;
    err_t err = {0};
    size_t count = 0;
    while (args[count])
        count++;
    hear_begin(&outcome.heard);
    bool ok = manifest_build(&manifest, args, count, NULL, &err);
    hear_end(&outcome.heard);
    if (!ok)
        fail_msg("%s", err.text);
    assert_string_equal(names_of(&manifest), names);
    outcome.skipped = manifest.skipped;
    manifest_free(&manifest);
    assert_int_equal(manifest.count, 0);
    return outcome;
}

#define NAMES(names, ...) expect_names((char *[]){__VA_ARGS__, NULL}, names)

static void expect_refusal(char *const *args, status_t status, const char *says) {
    manifest_t manifest;
    err_t err = {0};
    hearing_t heard;
    size_t count = 0;
    while (args[count])
        count++;
    hear_begin(&heard);
    bool ok = manifest_build(&manifest, args, count, NULL, &err);
    hear_end(&heard);
    assert_false(ok);
    if (!strstr(err.text, says))
        fail_msg("expected '%s', got '%s'", says, err.text);
    assert_int_equal(err.status, status);
    assert_int_equal(manifest.count, 0);
    assert_null(manifest.files);
}

#define REFUSED(says, ...) expect_refusal((char *[]){__VA_ARGS__, NULL}, STATUS_INPUT, says)

/* ---------------------------------------------------------------- names */

/* However it is packed. */
TEST(packed_reject_files) {
    static const char text[] = MAGIC_REJECT_WORDS ": fix the line\n# marked #@1f2e3d4c\n";
    static const char saved[] = "\xEF\xBB\xBF\n" MAGIC_REJECT_WORDS ": fix the line\n";
    const size_t size = sizeof text - 1;
    const member_spec_t members[] = {{.name = "stored", .text = text, .size = size},
                                     {.name = "a.csv", .text = "a|b\n", .size = 4, .method = 8},
                                     {.name = "deflated", .text = text, .size = size, .method = 8},
                                     {.name = "zstd", .text = text, .size = size, .method = 93},
                                     {.name = "saved", .text = saved, .size = sizeof saved - 1, .method = 8}};
    mkdir("packed", 0755);
    lab_write_all("packed/r.gz", lab_gzip(text, size));
    lab_write_all("packed/r.zst", lab_zstd(text, size, true));
    lab_write_all("packed/r.zip", lab_zip(members, 5, (zip_spec_t){0}));
    outcome_t outcome = NAMES("packed/r.zip!a.csv ", "packed");
    assert_int_equal(outcome.skipped, 6);
    assert_int_equal(times(outcome.heard.text, "a reject file"), 6);
    expect_refusal((char *[]){"packed/r.gz", NULL}, STATUS_USAGE, "unpacked, with --retry");
    expect_refusal((char *[]){"packed/r.zst", NULL}, STATUS_USAGE, "packed/r.zst: is a reject file");
    outcome = NAMES("packed/r.zip!a.csv ", "packed/r.zip");
    assert_int_equal(outcome.skipped, 4);
}

TEST(cleans_names) {
    static const char *const paths[][2] = {
        {"a", "a"}, {"./a", "a"}, {"a//b", "a/b"}, {"a/./b/", "a/b"}, {"/a/../b", "/a/../b"}, {"//a", "/a"},
        {"/", "/"}, {".", "."},   {"./", "."},     {"../x", "../x"},  {".//./a.b", "a.b"},    {"", "."}};
    for (EACH(i, paths)) {
        char *clean = name_clean(paths[i][0]);
        assert_string_equal(clean, paths[i][1]);
        free(clean);
    }
    static const char *const texts[][2] = {
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x9a\x97", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x9a\x97"},
        {"caf\xe9", "caf\\xe9"},
        {"a\nb\x1b[1m\x7f", "a\\x0ab\\x1b[1m\\x7f"},
        {"\xc0\xaf", "\\xc0\\xaf"},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
        {"\xe2\x82", "\\xe2\\x82"},
        {"\xc2\x80", "\\xc2\\x80"},
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
        {"dir\\file.csv", "dir\\file.csv"}, /* a backslash stays, except where an escape would be read */
        {"a\\x0ab", "a\\x5cx0ab"},
    };
    for (EACH(i, texts)) {
        char *name = name_join("z.zip", "!", texts[i][0], strlen(texts[i][0]));
        assert_int_equal(memcmp(name, "z.zip!", 6), 0);
        assert_string_equal(name + 6, texts[i][1]);
        free(name);
    }
    lab_say("caf\xe9.csv", "x");
    NAMES("caf\\xe9.csv ", "caf\xe9.csv");
}

/* What a reader makes of a name: the bytes that \xHH says. */
static size_t unescaped(const char *name, char *text) {
    size_t length = 0;
    unsigned byte;
    while (*name) {
        if (name[0] == '\\' && name[1] == 'x' && strspn(name + 2, "0123456789abcdef") >= 2 &&
            sscanf(name + 2, "%2x", &byte) == 1) {
            text[length++] = (char)byte;
            name += 4;
        } else {
            text[length++] = *name++;
        }
    }
    return length;
}

/* Every text of up to five of these bytes comes back as it was, so no two of them have one name. */
TEST(different_files_have_different_names) {
    static const char bytes[] = {'\\', 'x', '5', 'c', '\n', '0', 'a', '\xe9'};
    for (size_t length = 0; length <= 5; length++) {
        size_t count = 1;
        for (size_t i = 0; i < length; i++)
            count *= sizeof bytes;
        for (size_t number = 0; number < count; number++) {
            char text[5], back[5];
            for (size_t i = 0, rest = number; i < length; i++, rest /= sizeof bytes)
                text[i] = bytes[rest % sizeof bytes];
            char *name = name_join(NULL, NULL, text, length);
            assert_int_equal(unescaped(name, back), length);
            assert_memory_equal(back, text, length);
            free(name);
        }
    }
}

TEST(reports_what_may_not_be_read) {
    REFUSED("no file to read", NULL);
    mkdir("locked", 0);
    lab_say("secret", "x");
    chmod("secret", 0);
    if (geteuid() == 0 && seteuid(65534) != 0)
        skip();
    manifest_t manifest;
    err_t folder = {0}, file = {0};
    bool folder_ok = lab_manifest(&manifest, &folder, "locked"),
         file_ok = lab_manifest(&manifest, &file, "secret");
    if (getuid() == 0)
        assert_int_equal(seteuid(0), 0);
    assert_false(folder_ok || file_ok);
    assert_non_null(strstr(folder.text, "locked: this user may"));
    assert_non_null(strstr(file.text, "secret: this user may"));
    assert_int_equal(file.status, STATUS_INPUT);
    chmod("locked", 0700);
}

/* ---------------------------------------------------------------- kinds, bounds, digests */

static input_file_t one(const char *arg) {
    manifest_t manifest;
    err_t err = {0};
    if (!lab_manifest(&manifest, &err, arg))
        fail_msg("%s", err.text);
    assert_int_equal(manifest.count, 1);
    input_file_t file = manifest.files[0];
    manifest_free(&manifest);
    file.path = file.name = NULL;
    return file;
}

static void expect_kind(bytes_t data, input_kind_t kind, uint64_t bound) {
    lab_write("kind.of.gz", data.at, data.size); /* the name means nothing */
    input_file_t file = one("kind.of.gz");
    assert_int_equal(file.kind, kind);
    assert_int_equal(file.text_bound, bound);
    assert_int_equal(file.disk_bytes, data.size);
    assert_true(file.has_identity && file.modified_ns > 0);
    free(data.at);
}

static bytes_t said(const char *text, size_t size) {
    bytes_t bytes = {0};
    bytes_add(&bytes, text, size);
    return bytes;
}

TEST(knows_kinds_by_their_bytes) {
    bytes_t text = lab_text(21, 400000), compressed = lab_gzip(text.at, text.size);
    expect_kind(said("", 0), INPUT_PLAIN, 0);
    expect_kind(said("a|b|c\n", 6), INPUT_PLAIN, 6);
    expect_kind(said("PK,NAME\n1,x\n", 12), INPUT_PLAIN, 12);
    expect_kind(said("BZh|MZ\n", 7), INPUT_PLAIN, 7);
    expect_kind(said("# tipple reject", 15), INPUT_PLAIN, 15);
    expect_kind(said("x # marked #@1f2e3d4c\n", 22), INPUT_PLAIN, 22);
    expect_kind(said("#!/bin/sh\n", 10), INPUT_PLAIN, 10);
    expect_kind(said("\x1f", 1), INPUT_PLAIN, 1);
    expect_kind(said("\x1f\x8b", 2), INPUT_GZIP, 2 * 1032);
    expect_kind(compressed, INPUT_GZIP, compressed.size * 1032);

    expect_kind(lab_zstd(text.at, 400000, true), INPUT_ZSTD, 400000);
    expect_kind(lab_zstd("", 0, true), INPUT_ZSTD, 0);
    expect_kind(lab_xz(text.at, 400000), INPUT_XZ, 0);
    expect_kind(lab_xz("", 0), INPUT_XZ, 0);
    expect_kind(lab_bzip2(text.at, 400000), INPUT_BZIP2, 0);
    expect_kind(said("\xff\xfet\0e\0", 6), INPUT_UTF16, 9);
    expect_kind(said("\xfe\xff\0t\0e", 6), INPUT_UTF16, 9);
    expect_kind(said("t\0e\0", 4), INPUT_UTF16, 6);
    expect_kind(said("t\0", 2), INPUT_PLAIN, 2);
    expect_kind(said("te\0xt\0", 6), INPUT_PLAIN, 6);
    expect_kind(said("a\0b\0\0\0\0\0", 8), INPUT_PLAIN, 8);
    expect_kind(lab_zstd(text.at, 400000, false), INPUT_ZSTD, 0);
    compressed = (bytes_t){0}; /* all frames state their size */
    bytes_add(&compressed, "\x50\x2a\x4d\x18\x03\0\0\0abc", 11);
    bytes_add_all(&compressed, lab_zstd(text.at, 70000, true));
    bytes_add_all(&compressed, lab_zstd(text.at, 300, true));
    bytes_add(&compressed, "\x5f\x2a\x4d\x18\0\0\0\0", 8);
    bytes_t cut = said((char *)compressed.at, compressed.size - 1),
            more = said((char *)compressed.at, compressed.size);
    expect_kind(compressed, INPUT_ZSTD, 70300);
    expect_kind(cut, INPUT_ZSTD, 0);
    bytes_add_all(&more, lab_zstd(text.at, 500, false)); /* but the last */
    expect_kind(more, INPUT_ZSTD, 0);
    memset(text.at, 'x', text.size); /* blocks of one repeated byte */
    expect_kind(lab_zstd(text.at, 400000, true), INPUT_ZSTD, 400000);
    free(text.at);
}

/* Other kinds, packers and encodings: the sentence names each, and a program that makes text of it. */
TEST(refuses_other_kinds) {
    static const struct {
        const char *bytes;
        size_t size;
        const char *says;
    } cases[] = {{"PAR1\x15\4\x15", 7, "holds Parquet data"},
                 {"ARROW1\0\0abc", 11, "d.dataset('FILE', format='ipc')"},
                 {"Obj\1\4\x14", 6, "avrocat FILE"},
                 {"SQLite format 3\0abc", 19, "sqlite3 -csv"},
                 {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 8, "libreoffice"},
                 {"7z\xbc\xaf\x27\x1c", 6, "other: holds 7z data"},
                 {"\x04\x22\x4d\x18", 4, "other: holds lz4 data"},
                 {"Rar!\x1a\x07\1\0", 8, "other: holds rar data"},
                 {"\x1f\x9d\x90", 3, "other: holds compress (.Z) data"},
                 {"]\0\0\x80\0", 5, "other: holds lzma data"},
                 {"\xff\xfe\0\0t\0\0\0", 8, "other: holds UTF-32 data"},
                 {"\0\0\xfe\xff\0\0\0t", 8, "other: holds UTF-32 data"}};
    for (EACH(i, cases)) {
        lab_write("other", cases[i].bytes, cases[i].size);
        REFUSED(cases[i].says, "other");
    }
    const member_spec_t members[] = {{.name = "[Content_Types].xml", .text = "<x>", .size = 3},
                                     {.name = "xl/workbook.xml", .text = "<x>", .size = 3}};
    lab_write_all("book.xlsx", lab_zip(members, 2, (zip_spec_t){0}));
    REFUSED("book.xlsx: holds Excel data", "book.xlsx");
}

static bool same_digest(input_file_t a, input_file_t b) {
    return a.digest[0] == b.digest[0] && a.digest[1] == b.digest[1];
}

TEST(digests_both_ends) {
    static const size_t sizes[] = {1, 1000, 65536, 65537, 100000, 131072, 131073, 400000};
    for (EACH(i, sizes)) {
        bytes_t text = lab_text(23, sizes[i]);
        lab_write("digest", text.at, text.size);
        input_file_t first = one("digest");
        rename("digest", "moved");
        assert_true(same_digest(first, one("moved")));
        const size_t places[] = {0, sizes[i] / 2, sizes[i] - 1};
        for (EACH(p, places)) {
            text.at[places[p]] ^= 1;
            lab_write("digest", text.at, text.size);
            bool is_seen = places[p] < 65536 || sizes[i] - places[p] <= 65536;
            assert_int_equal(same_digest(first, one("digest")), !is_seen);
            text.at[places[p]] ^= 1;
        }
        bytes_add(&text, "x", 1);
        lab_write_all("digest", text);
        assert_false(same_digest(first, one("digest")));
    }
}

/* The text of an encoded file is never longer than its bound: halfwidth letters become three bytes each. */
TEST(bound_of_encoded) {
    manifest_t manifest;
    err_t err;
    lab_write("kana", "\xb1\xb2\xb3\xb4", 4);
    assert_true(lab_manifest(&manifest, &err, "kana") && manifest_decode(&manifest, "SHIFT_JIS"));
    reading_t reading = lab_read_file(&manifest.files[0], 100);
    assert_int_equal(reading.text.size, 12);
    assert_true(!reading.faulty && manifest.files[0].text_bound >= 12);
    free(reading.text.at);
    manifest_free(&manifest);
}

/* ---------------------------------------------------------------- archives */

static void expect_zip(bytes_t zip, const char *names) {
    lab_write_all("the.zip", zip);
    NAMES(names, "the.zip");
}

TEST(reads_directories_of_archives) {
    const member_spec_t members[] = {
        {.name = "2013/", .text = ""},
        {.name = "2013/test result.txt", .text = "abc", .size = 3, .method = 8},
        {.name = "2013/b\xc3\xa9.txt", .text = "xyz", .size = 3, .flags = 1 << 11},
        {.name = "caf\xe9", .text = "xyz", .size = 3, .method = 93},
    };
    const char *names = "the.zip!2013/test result.txt the.zip!2013/b\xc3\xa9.txt the.zip!caf\\xe9 ";
    char comment[60001];
    memset(comment, 'P', 60000);
    comment[60000] = 0;
    memcpy(comment + 500, "PK\5\6 this is none", 17);
    for (int zip64 = 0; zip64 < 3; zip64++) {
        expect_zip(lab_zip(members, 4, (zip_spec_t){.zip64 = zip64}), names);
        expect_zip(lab_zip(members, 4, (zip_spec_t){.zip64 = zip64, .comment = "a comment"}), names);
        expect_zip(lab_zip(members, 4, (zip_spec_t){.zip64 = zip64, .comment = comment}), names);
        expect_zip(lab_zip(members, 4, (zip_spec_t){.zip64 = zip64, .before = 70000}), names);
        expect_zip(lab_zip(members, 4, (zip_spec_t){.zip64 = zip64, .before = 70000, .comment = comment}),
                   names);
    }
    bytes_t zip = lab_zip(members, 4, (zip_spec_t){0});
    bytes_add(&zip, "\0\0\0", 3);
    lab_write("the.zip", zip.at, zip.size);
    outcome_t outcome = NAMES(names, "the.zip");
    assert_string_equal(outcome.heard.text, "");
    bytes_add(&zip, "trailing bytes", 14);
    lab_write_all("the.zip", zip);
    REFUSED("something follows its end", "the.zip");

    manifest_t manifest;
    err_t err;
    lab_write_all("the.zip", lab_zip(members, 4, (zip_spec_t){.before = 100}));
    assert_true(lab_manifest(&manifest, &err, "the.zip"));
    input_file_t *file = &manifest.files[0];
    assert_int_equal(file->kind, INPUT_ZIP_MEMBER);
    assert_int_equal(file->zip.method, 8);
    assert_int_equal(file->zip.text_bytes, 3);
    assert_int_equal(file->text_bound, 3);
    assert_true(file->has_identity && file->modified_ns > 0);
    assert_string_equal(file->path, "the.zip");
    assert_false(same_digest(file[0], file[1]));
    input_file_t before = file[0], stored = file[1];
    manifest_free(&manifest);
    member_spec_t edited[4];
    memcpy(edited, members, sizeof edited);
    edited[2].text = "xyw";
    lab_write_all("the.zip",
                  lab_zip(edited, 4, (zip_spec_t){0})); /* the same member elsewhere, and another one */
    assert_true(lab_manifest(&manifest, &err, "the.zip"));
    assert_true(same_digest(before, manifest.files[0]));
    assert_false(same_digest(stored, manifest.files[1]));
    manifest_free(&manifest);
}

static void refuse_zip(bytes_t zip, const char *says) {
    lab_write_all("bad.zip", zip);
    REFUSED(says, "bad.zip");
}

TEST(refuses_bad_archives) {
    member_spec_t members[2] = {{.name = "a.txt", .text = "abc", .size = 3},
                                {.name = "b", .text = "xyz", .size = 3}};
    members[0].flags = 1;
    refuse_zip(lab_zip(members, 1, (zip_spec_t){0}), "bad.zip!a.txt: is encrypted");
    members[0].flags = 0;
    members[0].method = 14;
    refuse_zip(lab_zip(members, 1, (zip_spec_t){0}), "by a method (14) other");
    members[0].method = 0;
    refuse_zip(lab_zip(members, 2, (zip_spec_t){.disk = 1}), "is one part");
    refuse_zip(lab_zip(members, 2, (zip_spec_t){.disk = 1, .zip64 = true}), "is one part");
    bytes_t part =
        lab_zip(members, 2, (zip_spec_t){.disk = 1, .before = 20}); /* the last one begins anywhere */
    memcpy(part.at, "of a member", 11);
    refuse_zip(part, "is one part");
    refuse_zip(lab_zip(members, 2, (zip_spec_t){.more_entries = 1}), "as many entries");
    refuse_zip(lab_zip(members, 2, (zip_spec_t){.more_entries = 1, .zip64 = true}), "as many entries");
    refuse_zip(lab_zip(members, 0, (zip_spec_t){0}), "no file to read");
    members[1].name = "a.txt";
    refuse_zip(lab_zip(members, 2, (zip_spec_t){0}), "bad.zip!a.txt: the archive has two");
    members[1].name = "b/"; /* a folder has no bytes */
    refuse_zip(lab_zip(members, 2, (zip_spec_t){0}), "bad.zip!b/: is encrypted, ");
    members[1].name = "";
    refuse_zip(lab_zip(members, 2, (zip_spec_t){0}), "bad.zip!: is encrypted, ");
    members[1].name = "b";

    bytes_t zip = lab_zip(members, 2, (zip_spec_t){0});
    size_t directory = zip.size - 22 - 2 * (46 + 5 + 4) - 6;
    for (size_t cut = 4; cut < zip.size; cut++)
        refuse_zip(said((char *)zip.at, cut), "archive is broken (");
    static const struct {
        size_t place, size;
        uint64_t value;
        const char *says;
    } cases[] = {
        {0, 4, 0, "makes no sense"},           {28, 2, 60000, "makes no sense"},
        {20, 4, 100000, "makes no sense"},     {42, 4, 100000, "makes no sense"},
        {42, 4, UINT32_MAX, "makes no sense"},
    };
    for (EACH(i, cases)) {
        bytes_t bad = said((char *)zip.at, zip.size);
        for (size_t n = 0; n < cases[i].size; n++)
            bad.at[directory + cases[i].place + n] = (uint8_t)(cases[i].value >> 8 * n);
        refuse_zip(bad, cases[i].says);
    }
    bytes_t bad = said((char *)zip.at, zip.size);
    memset(bad.at + bad.size - 10, 0xff, 4); /* the directory's size */
    refuse_zip(bad, "not inside the file");
    free(zip.at);
}

/* As `cat` makes them: the directory at the end names the members of the last one alone. */
TEST(refuses_joined_zips) {
    const member_spec_t one = {.name = "a.txt", .text = "abc", .size = 3},
                        other = {.name = "b.txt", .text = "xyz", .size = 3};
    for (int last = 0; last < 3; last++) {
        /* one member; zip64, after a program; none */
        const zip_spec_t spec = {.zip64 = last == 1, .before = last == 1 ? 90 : 0};
        bytes_t joined = lab_zip(&one, 1, (zip_spec_t){0});
        bytes_add_all(&joined, lab_zip(&other, last < 2, spec));
        refuse_zip(joined, "another zip archive");
    }
}

TEST_GROUP(lab_open, lab_close);
