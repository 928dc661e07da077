/* format: formats by name and by path, and what is said of those that are not there. */
#include "format/format.h"
#include "format_lab.h"
#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[200];

static int set_up(TEST_UNUSED void **state) {
    const char *root = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.150s/test_format.XXXXXX", root ? root : "/tmp");
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static int tear_down(TEST_UNUSED void **state) {
    static const char *const names[] = {"my.yaml", "my.yml", "bad.yaml", "large.yaml", "mot", "closed.yaml"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(names[i]);
    rmdir("a.yaml");
    return chdir("/") == 0 ? rmdir(folder) : -1;
}

static void write_file(const char *name, const char *text) {
    FILE *file = fopen(name, "w");
    LAB_MUST(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void refuse(const char *name, const char *says) {
    err_t err = {.text = ""};
    schema_t *schema = format_open(name, &err);
    if (schema)
        fail_msg("%s is taken", name);
    assert_int_equal(err.status, STATUS_USAGE);
    if (!strstr(err.text, says))
        fail_msg("%s: %s", name, err.text);
}

static void expect(const char *name, const char *format) {
    err_t err = {.text = ""};
    schema_t *schema = format_open(name, &err);
    if (!schema)
        fail_msg("%s: %s", name, err.text);
    assert_string_equal(schema->name, format);
    schema_destroy(schema);
}

TEST(builtin) {
    expect("mot", "mot");
    expect("mot-long", "mot-long");
    expect("mot-item", "mot-item");
    refuse("mto", "'mot'");
    refuse("mot_item", "'mot-item'");
    refuse("MOT", "'mot'");
    refuse("xyzzy", "tipple formats");
    refuse("", "");
    write_file("mot", "format: mine\nrecord: {delimiter: \",\"}\nfields: [{name: a}]\n");
    expect("mot", "mot"); /* a file of that name is not meant */
    expect("./mot", "mine");
}

TEST(files) {
    static const char good[] = "format: mine\nrecord: {delimiter: \",\"}\nfields: [{name: a}]\n";
    char path[300];
    write_file("my.yaml", good);
    write_file("my.yml", good);
    write_file("bad.yaml", "format: mine\nrecord: {delimiter: \",\"}\nfields: [{nam: a}]\n");
    expect("my.yaml", "mine");
    expect("./my.yaml", "mine");
    expect("my.yml", "mine");
    snprintf(path, sizeof path, "%s/my.yaml", folder);
    expect(path, "mine");
    refuse("bad.yaml", "bad.yaml:3:11: ");
    refuse("./bad.yaml", "./bad.yaml:3:11: ");
    refuse("nothing.yaml", "nothing.yaml");
    refuse("no/where.yaml", "No such file");
    LAB_MUST(mkdir("a.yaml", 0755) == 0);
    refuse("a.yaml", "a.yaml");
    refuse(".", "");
    refuse("./", "./");
}

TEST(large_file) {
    FILE *file = fopen("large.yaml", "w");
    LAB_MUST(file);
    for (int i = 0; i < (5 << 20) / 64; i++)
        fputs("# a comment of sixty-four bytes, the line end among them ......\n", file);
    LAB_MUST(fclose(file) == 0);
    refuse("large.yaml", "large");
}

TEST_GROUP(set_up, tear_down);
