/* A load by the library, as someone else's program makes it: it prints nothing, and neither does the driver. No
 * mongoc_init here: the library starts the driver.  needs: standalone; boxes: standalone; quick: yes */
#include "heard.h"
#include "push_lab.h"

#include <unistd.h>

#include <cmocka.h>

static char uri[1000];

static void test_silent_load(TEST_UNUSED void **state) {
    FILE *rows = fopen("rows.txt", "w");
    assert_non_null(rows);
    fputs("test_id|rfr_id|rfr_type_code|location_id|dangerous_mark|unknown\n1|2|A|7||x\n1|2|3\n", rows);
    fclose(rows);
    tipple_load_t *load =
        push_load(uri, "format", "mot-item", "input", "rows.txt", "rejects", "rejects", "drop", "true", NULL);
    tipple_error_t error;
    static ear_t out, err;
    listen_to(&out, STDOUT_FILENO);
    listen_to(&err, STDERR_FILENO);
    const bool ok = tipple_load_run(load, &error);
    assert_string_equal(heard(&err), "");
    assert_string_equal(heard(&out), "");
    if (!ok)
        fail_msg("%s", error.text);
    assert_int_equal(error.status, 2);
    assert_string_equal(error.text, "");
    push_check(load, 1, 0, 1);
    tipple_load_destroy(load);
}

/* What no command would let through is refused here, too, before anything happens. */
static void test_out_of_range(TEST_UNUSED void **state) {
    static const struct {
        const char *name, *value;
        int status;
    } rows[] = {{"threads", "257", 1}, {"batch", "4000000000", 1}, {"rejects", "", 1},       {"input", "", 5},
                {"format", "", 1},     {"compressor", "lead", 1},  {"shard-key", "none:", 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tipple_error_t error = {.status = 0};
        tipple_load_t *load = push_load(uri, "format", "mot-item", "input", "rows.txt", "drop", "true", NULL);
        const bool set = tipple_load_set(load, rows[i].name, rows[i].value, &error);
        if (set && tipple_load_run(load, &error))
            fail_msg("%s %s was taken", rows[i].name, rows[i].value);
        if (error.status != rows[i].status)
            fail_msg("%s %s: status %d: %s", rows[i].name, rows[i].value, error.status, error.text);
        assert_true(error.text[0]);
        if (set)
            push_check(load, 0, 0, 0);
        tipple_load_destroy(load);
    }
    tipple_error_t error;
    tipple_load_t *load = push_load("", "format", "mot-item", "input", "rows.txt", NULL);
    assert_false(tipple_load_run(load, &error));
    assert_int_equal(error.status, 1);
    tipple_load_destroy(load);
    load = push_load(uri, NULL);
    assert_false(tipple_load_set(load, "polite", "true", &error));
    assert_non_null(strstr(error.text, "max-rate auto"));
    tipple_load_destroy(load);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_silent_load),
                                       cmocka_unit_test(test_out_of_range)};
    const char *server = getenv("TIPPLE_TEST_URI");
    if (!server) {
        puts("TIPPLE_TEST_URI is not set: skipped");
        return 77;
    }
    /* mongodb://HOST/?options */
    const char *path = strchr(strstr(server, "://") + 3, '/');
    const char *options = path ? strchr(path, '?') : NULL;
    snprintf(uri, sizeof uri, "%.*s/tipple_library_%d.items%s",
             (int)(path ? path - server : (long)strlen(server)), server, (int)getpid(),
             options ? options : "");
    return cmocka_run_group_tests_name("library", tests, NULL, NULL);
}
