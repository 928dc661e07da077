/* The beginnings of inputs: what is kept of them, files that several threads identify, and first records. That sources which only
 * look give out the same text as others is checked by lab_check_head, in the tests of sources and of tars. */
#include "format/schema/schema.h"
#include "input_lab.h"
#include "load/plan/peek.h"
#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>

static void build(manifest_t *manifest, const char *path, uint64_t keep) {
    err_t err = {.text = ""};
    const manifest_options_t options = {.quiet = true, .keep = keep};
    if (!manifest_build(manifest, (char *[]){(char *)(uintptr_t)path}, 1, &options, &err))
        fail_msg("%s", err.text);
}

static void assert_same_file(const input_file_t *one, const input_file_t *other) {
    assert_string_equal(one->name, other->name);
    assert_string_equal(one->path, other->path);
    assert_int_equal(one->kind, other->kind);
    assert_int_equal(one->disk_bytes, other->disk_bytes);
    assert_int_equal(one->text_bound, other->text_bound);
    assert_int_equal(one->inode, other->inode);
    assert_int_equal(one->cr_lines, other->cr_lines);
    assert_memory_equal(one->digest, other->digest, sizeof one->digest);
    assert_memory_equal(&one->begins, &other->begins, sizeof one->begins);
    assert_int_equal(one->head.length, other->head.length);
    assert_int_equal(one->head.whole, other->head.whole);
    assert_int_equal(!one->head.bytes, !other->head.bytes);
    if (one->head.length)
        assert_memory_equal(one->head.bytes, other->head.bytes, one->head.length);
}

/* Files of a folder, in their order, as if each were named alone. */
TEST(several_at_once) {
    enum { FILES = 600 };
    const member_spec_t members[] = {{.name = "m", .text = "a,b\n1,2\n", .size = 8, .method = 8},
                                     {.name = "n", .text = "a,b\n", .size = 4, .method = 8}};
    manifest_t all;
    size_t at = 0;
    mkdir("d", 0755);
    mkdir("d/0300d", 0755);
    lab_say("d/0300d/inner", "a,b\n");
    mkfifo("d/0200p", 0644);
    for (size_t i = 0; i < FILES; i++) {
        char name[32];
        sprintf(name, "d/%04zu", i);
        bytes_t text = lab_text(i, i % 7 * 1000);
        if (i == 100)
            lab_write_all(name, lab_zip(members, 2, (zip_spec_t){0}));
        else if (i == 500)
            lab_say(name, "# tipple rejects\n");
        else if (i % 3 == 1)
            lab_write_all(name, lab_gzip(text.at, text.size));
        else if (i % 50 == 2)
            lab_say(name, "a,b\r1,2\r");
        else
            lab_write(name, text.at, text.size);
        free(text.at);
    }
    build(&all, "d", 64 << 20);
    assert_int_equal(all.count, FILES + 1); /* two members instead of the zip, the inner file, no rejects */
    for (size_t i = 0; i < FILES; i++) {
        manifest_t one;
        char name[32];
        sprintf(name, "d/%04zu", i);
        if (i == 500)
            continue;
        build(&one, name, 64 << 20);
        for (size_t j = 0; j < one.count; j++)
            assert_same_file(&all.files[at++], &one.files[j]);
        manifest_free(&one);
        if (i == 300)
            assert_string_equal(all.files[at++].name, "d/0300d/inner");
    }
    assert_int_equal(at, all.count);
    manifest_free(&all);
}

/* No more than is allowed: of a text, and of all. */
TEST(is_kept_within_bounds) {
    static const struct {
        size_t size, kept;
        bool whole;
    } cases[] = {{0, 0, true}, {9, 9, true}, {4095, 4095, true}, {4096, 4096, true}, {4097, 4096, false}};
    manifest_t manifest;
    uint64_t kept = 0;
    mkdir("d", 0755);
    for (size_t i = 0; i < 100; i++) {
        char name[32];
        sprintf(name, "d/%02zu", i);
        bytes_t text = lab_text(i, 3000);
        lab_write(name, text.at, text.size);
        free(text.at);
    }
    build(&manifest, "d", 10000);
    for (size_t i = 0; i < manifest.count; i++)
        kept += manifest.files[i].head.length;
    assert_int_equal(kept, 9000);
    manifest_free(&manifest);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bytes_t text = lab_text(7, cases[i].size);
        lab_write("t", text.at, text.size);
        lab_write_all("t.gz", lab_gzip(text.at, text.size));
        for (size_t how = 0; how < 2; how++) {
            build(&manifest, how ? "t.gz" : "t", 1 << 20);
            const input_head_t *head = &manifest.files[0].head;
            assert_non_null(head->bytes);
            assert_int_equal(head->length, cases[i].kept);
            /* of a packed text of this size, whether more comes is not known */
            assert_int_equal(head->whole, cases[i].whole && !(how && cases[i].size == INPUT_HEAD_MOST));
            manifest_free(&manifest);
        }
        build(&manifest, "t", 0);
        assert_null(manifest.files[0].head.bytes);
        manifest_free(&manifest);
        build(&manifest, "t", 1 << 20);
        manifest_decode(&manifest, "ISO-8859-1"); /* the text is another one then */
        assert_null(manifest.files[0].head.bytes);
        manifest_free(&manifest);
        free(text.at);
    }
}

/* When the others are forgotten, whole texts of the first 1 MiB stay, and are read from there: nothing is opened. */
TEST(small_files_stay) {
    enum { FILES = 1000, SIZE = 3000, STAY = 1 << 20 };
    manifest_t manifest;
    source_kit_t kit = {.looks = false};
    err_t err = {.text = ""};
    uint8_t got[SIZE + 1];
    size_t stay = 0;
    mkdir("d", 0755);
    for (size_t i = 0; i < FILES; i++) {
        char name[32];
        sprintf(name, "d/%04zu", i);
        bytes_t text = lab_text(i, i == 1 ? INPUT_HEAD_MOST + 1 : SIZE);
        lab_write(name, text.at, text.size);
        free(text.at);
    }
    build(&manifest, "d", 64 << 20);
    manifest_forget_heads(&manifest);
    for (size_t i = 0; i < FILES; i++)
        stay += manifest.files[i].head.bytes ? SIZE : 0;
    assert_true(stay <= STAY && stay > STAY - 2 * (INPUT_HEAD_MOST + SIZE));
    assert_non_null(manifest.files[0].head.bytes);
    assert_null(manifest.files[1].head.bytes);
    assert_null(manifest.files[FILES - 1].head.bytes);
    unlink("d/0000");
    source_t *source = source_open_in(&kit, &manifest.files[0], &err);
    assert_non_null(source);
    bytes_t text = lab_text(0, SIZE);
    assert_int_equal(source_read(source, got, sizeof got, &err), SIZE);
    assert_memory_equal(got, text.at, SIZE);
    assert_int_equal(source_read(source, got, sizeof got, &err), 0);
    assert_int_equal(source_disk_bytes(source), SIZE);
    assert_true(source_is_unchanged(source, &err));
    source_close(source);
    free(text.at);
    manifest_free(&manifest);
}

/* The digest of a beginning is the same whether that is kept or read. */
TEST(digests_of_beginnings) {
    manifest_t kept, unkept;
    err_t err;
    bytes_t text = lab_text(1, 9000);
    lab_write("t", text.at, text.size);
    build(&kept, "t", 1 << 20);
    build(&unkept, "t", 0);
    for (uint64_t size = 0; size <= 9000; size += 500) {
        uint64_t one[2], other[2];
        assert_true(manifest_digest_at(&kept.files[0], size, one, &err));
        assert_true(manifest_digest_at(&unkept.files[0], size, other, &err));
        assert_memory_equal(one, other, sizeof one);
    }
    manifest_free(&kept);
    manifest_free(&unkept);
    free(text.at);
}

static schema_t *schema_of(const char *text) {
    err_t err = {.text = ""};
    schema_t *schema = schema_parse(text, strlen(text), "t.yaml", &err);
    if (!schema)
        fail_msg("%s", err.text);
    return schema;
}

/* Two files that begin alike, as far as both are that long. */
TEST(beginnings_alike) {
    static const struct {
        input_begins_t one, other;
        bool may;
    } cases[] = {{{{0, 0}}, {{5, 6}}, true},
                 {{{5, 0}}, {{5, 6}}, true},
                 {{{5, 6}}, {{5, 6}}, true},
                 {{{5, 6}}, {{5, 7}}, false},
                 {{{4, 0}}, {{5, 6}}, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(input_may_begin_alike(&cases[i].one, &cases[i].other), cases[i].may);
}

/* A record anywhere is one, if only blank lines come before it. */
TEST(any_record) {
    schema_t *schema = schema_of("format: t\nrecord: {delimiter: [','], header: no}\n"
                                 "fields: [{name: a}, {name: b}]\n");
    for (size_t blank = 0; blank < 600000; blank = 2 * blank + 3000)
        for (int has = 0; has < 2; has++)
            for (uint64_t keep = 0; keep < 2; keep++) {
                manifest_t manifest;
                err_t err;
                bytes_t text = {0};
                for (size_t i = 0; i < blank; i++)
                    bytes_add(&text, "\n", 1);
                bytes_add(&text, "1,2\n", has ? 4 : 0);
                lab_write("t", text.at, text.size);
                build(&manifest, "t", keep << 20);
                peek_t *peek = peek_new(schema, false, &err);
                assert_int_equal(peek_records(peek, &manifest.files[0]), has);
                peek_free(peek);
                manifest_free(&manifest);
                free(text.at);
            }
    schema_destroy(schema);
}

/* One document among the first records is enough; with a limit, among those that the load takes. */
TEST(first_records) {
    static const struct {
        const char *one, *two;
        uint64_t limit;
        const char *says; /* NULL: nothing */
    } cases[] = {
        {"1,2\n2,2\n", "3,2\n", UINT64_MAX, NULL},  {"x\n", "3,2\n", UINT64_MAX, NULL},
        {"x\ny\n1,2\n", "z\n", UINT64_MAX, NULL},   {"x\ny\n", "z\n", UINT64_MAX, "d/1:1:2: "},
        {"x\ny\n", "z\n", UINT64_MAX, "(3) makes"}, {"x\ny\n", "z\n", UINT64_MAX, "Nothing was touched: "},
        {"x\ny\n", "3,2\n", 3, "looked at (2)"},    {"x\ny\n1,2\n", "3,2\n", 2, "looked at (2)"},
        {"x\ny\n1,2\n", "3,2\n", 3, NULL},          {"", "", UINT64_MAX, NULL},
        {"", "x\n", UINT64_MAX, "d/2:1:2: "},
    };
    schema_t *schema = schema_of("format: t\nrecord: {delimiter: [','], header: no}\n"
                                 "fields: [{name: a}, {name: b}]\n");
    mkdir("d", 0755);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint64_t keep = 0; keep < 2; keep++) {
            manifest_t manifest;
            err_t err = {.text = ""};
            lab_say("d/1", cases[i].one);
            lab_say("d/2", cases[i].two);
            build(&manifest, "d", keep << 20);
            const bool ok = peek_try(schema, &manifest, cases[i].limit, "touched", &err);
            if (ok != !cases[i].says || (!ok && !strstr(err.text, cases[i].says)))
                fail_msg("case %zu: '%s'", i, err.text);
            if (!ok)
                assert_int_equal(err.status, STATUS_INPUT);
            manifest_free(&manifest);
        }
    schema_destroy(schema);
}

TEST_EACH(lab_open, lab_close);
