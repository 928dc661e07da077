/* JSON and BSON as suites of others test them (tests/data/json/suite.txt); and texts in memory that are one document. */
#include "format/cut/ends.h"
#include "format/types.h"
#include "json_value_lab.h"
#include "test.h"

static bool is_taken(const char *before, const char *text, size_t length, const char *after) {
    char whole[600];
    json_value_t *json = values_new();
    const size_t from = strlen(before);
    LAB_MUST(json && from + length + strlen(after) < sizeof whole);
    strcpy(whole, before);
    memcpy(whole + from, text, length);
    strcpy(whole + from + length, after);
    lab_json_t one = lab_json_read(json, whole, from + length + strlen(after));
    const bool taken = one.read == PARSED_DOCUMENT;
    LAB_MUST(!taken || lab_valid_json(&one));
    lab_json_free(&one);
    values_free(json);
    return taken;
}

/* The document of these elements, written in hexadecimal digits. */
static bool is_whole(const char *elements) {
    uint8_t bytes[200] = {0};
    uint32_t length = 4;
    unsigned byte;
    bson_walk_t walk;
    for (; sscanf(elements, "%2x", &byte) == 1; elements += 2)
        bytes[length++] = (uint8_t)byte;
    bytes[0] = (uint8_t)++length;
    return bson_walk(bytes, length, true, &walk);
}

TEST(suite) {
    char path[1000], line[1000];
    size_t lines = 0;
    const char *const root = getenv("TIPPLE_ROOT");
    snprintf(path, sizeof path, "%s/tests/data/json/suite.txt", root ? root : ".");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        char *const text = line + 2;
        const size_t length = lab_plain(text);
        if (*line == '#')
            continue;
        lines++;
        const bool is = strchr("bB", *line) ? is_whole(text)
                        : *line == 'd'      ? is_taken("", text, length, "")
                                            : is_taken("{\"a\":", text, length, "}");
        if (is != (strchr("yYb", *line) != NULL))
            fail_msg("%c %s", *line, text);
    }
    fclose(file);
    assert_true(lines > 400);
}

/* ---- texts in memory ---- */

static void refused(const char *text, const char *why) {
    err_t err;
    assert_null(json_document(text, true, &err));
    assert_int_equal(err.status, STATUS_USAGE);
    assert_non_null(strstr(err.text, why));
}

TEST(none) {
    refused("{\"a\": ", "at byte 6");
    refused("{\"o\": {\"v\": {\"$oid\": \"7\"}}}", "at byte 22");
}

/* Each byte of a text may become several of BSON. */
TEST(long) {
    enum { ITEMS = 100000 };
    char *text = malloc(3 * ITEMS + 10);
    size_t length = (size_t)sprintf(text, "{\"a\":[0");
    for (int i = 1; i < ITEMS; i++)
        length += (size_t)sprintf(text + length, ",0");
    strcpy(text + length, "]}");
    err_t err;
    bson_iter_t at, item;
    int count = 0;
    bson_t *document = json_document(text, true, &err);
    assert_non_null(document);
    assert_true(bson_iter_init_find(&at, document, "a") && bson_iter_recurse(&at, &item));
    while (bson_iter_next(&item))
        count++;
    assert_int_equal(count, ITEMS);
    bson_destroy(document);
    free(text);
}
