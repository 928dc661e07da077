/* describe_input: into which pieces a large file is divided; and may a file have records? */
#include "format/record/record_id.h"
#include "format/schema/schema.h"
#include "input_lab.h"
#include "load/plan/inputs.h"
#include "test.h"

enum { MIB = 1 << 20 };

TEST(pieces) {
    for (uint64_t size = 0; size < 40000ull * MIB; size += 17 * MIB - 1) {
        const input_file_t input = {
            .name = "x", .path = "x", .kind = INPUT_PLAIN, .text_bound = size, .disk_bytes = size};
        wanted_t wanted;
        describe_input(&input, &wanted);
        if (size < 128ull * MIB - RECORD_ID_BLOCK_BYTES)
            assert_int_equal(wanted.pieces, 1);
        if (wanted.pieces == 1)
            continue;
        const uint64_t last = (wanted.pieces - 1) * wanted.piece_blocks * RECORD_ID_BLOCK_BYTES;
        assert_uint_in_range(wanted.pieces, 2, 256);
        if (wanted.piece_blocks * RECORD_ID_BLOCK_BYTES < 64 * MIB || last + 63 * (uint64_t)MIB > size)
            fail_msg("%llu bytes: %zu pieces of %llu blocks, and the last one is too small",
                     (unsigned long long)size, wanted.pieces, (unsigned long long)wanted.piece_blocks);
    }
}

/* A single line is a record where no header is expected, or where it is none; so it is in what is packed. */
TEST(may_hold) {
    static const char fields[] = "fields: [{name: id}, {name: v}]\n";
    static const struct {
        const char *record, *text;
        bool may;
    } cases[] = {
        {"json: yes", "{\"id\": 1}\n", true},
        {"json: yes", "{\"id\": 1}", true},
        {"json: yes", "[]\n", false},
        {"json: yes", " \n", false},
        {"delimiter: [','], header: no", "1,2\n", true},
        {"delimiter: [','], header: no", "1,2", true},
        {"delimiter: [','], header: no", "\n\n", false},
        {"delimiter: [','], header: yes", "id,v\n", false},
        {"delimiter: [','], header: yes", "id,v", false},
        {"delimiter: [','], header: yes", "id,v\n1,2\n", true},
        {"delimiter: [','], header: yes", "id,v\n1,2", true},
        {"delimiter: [','], header: [id]", "id,v\n", false},
        {"delimiter: [','], header: [id]", "1,2\n", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = cases[i].text;
        const size_t size = strlen(text);
        char yaml[200];
        err_t err = {.text = ""};
        const bool json = cases[i].record[0] == 'j';
        snprintf(yaml, sizeof yaml, "format: t\nrecord: {%s}\n%s", cases[i].record, json ? "" : fields);
        schema_t *schema = schema_parse(yaml, strlen(yaml), "t.yaml", &err);
        if (!schema)
            fail_msg("%s", err.text);
        const member_spec_t member = {.name = "m", .text = text, .size = size, .method = 8};
        lab_write("plain", text, size);
        lab_write_all("gzip", lab_gzip(text, size));
        lab_write_all("zstd", lab_zstd(text, size, false));
        lab_write_all("zip", lab_zip(&member, 1, (zip_spec_t){0}));
        char *names[] = {"plain", "gzip", "zstd", "zip"};
        manifest_t manifest;
        registration_t registration = {.count = 4};
        describe_asked_t asked;
        assert_true(manifest_build(&manifest, names, 4, NULL, &err));
        describe_asked(&registration, &manifest, schema, &asked);
        for (size_t j = 0; j < 4; j++)
            if (registration.may_hold(registration.holds_context, j) != cases[i].may)
                fail_msg("'%s' as %s, {%s}", text, names[j], cases[i].record);
        describe_asked_free(&asked);
        manifest_free(&manifest);
        schema_destroy(schema);
    }
}

TEST_EACH(lab_open, lab_close);
