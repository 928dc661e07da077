/* A load by the library, as somebody else's program makes it: it prints nothing, and neither does the driver. No
 * mongoc_init here: the library starts the driver; in a box, too.  needs: standalone */
#include "tipple/tipple.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static char uri[1000];

static void test_silent_load(void **state) {
    (void)state;
    FILE *rows = fopen("rows.txt", "w");
    assert_non_null(rows);
    fputs("test_id|rfr_id|rfr_type_code|location_id|dangerous_mark|unknown\n1|2|A|7||x\n1|2|3\n", rows);
    fclose(rows);
    const char *const inputs[] = {"rows.txt"};
    const tipple_load_t load = {.uri = uri,
                                .format = "mot-item",
                                .inputs = inputs,
                                .input_count = 1,
                                .rejects = "rejects",
                                .drop = true};
    tipple_loaded_t loaded;
    tipple_error_t error;
    fflush(NULL);
    const int said = memfd_create("said", MFD_CLOEXEC), out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
    dup2(said, STDOUT_FILENO);
    dup2(said, STDERR_FILENO);
    const bool ok = tipple_load(&load, &loaded, &error);
    fflush(NULL);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    char text[4000] = "";
    assert_true(pread(said, text, sizeof text - 1, 0) >= 0);
    if (!ok)
        fail_msg("%s", error.text);
    assert_string_equal(text, "");
    assert_int_equal(error.status, 2);
    assert_string_equal(error.text, "");
    assert_int_equal(loaded.loaded, 1);
    assert_int_equal(loaded.rejected, 1);
}

/* What must be there is asked for in a sentence. */
static void test_nothing_given(void **state) {
    (void)state;
    const char *const inputs[] = {"rows.txt"};
    const tipple_load_t loads[] = {{.format = "mot-item", .inputs = inputs, .input_count = 1},
                                   {.uri = uri, .inputs = inputs, .input_count = 1}};
    for (size_t i = 0; i < 2; i++) {
        tipple_loaded_t loaded = {.read = 7};
        tipple_error_t error;
        assert_false(tipple_load(&loads[i], &loaded, &error));
        assert_int_equal(error.status, 1);
        assert_non_null(strstr(error.text, "is NULL"));
        assert_int_equal(loaded.read, 0);
    }
    tipple_error_t error;
    assert_null(tipple_format_open(NULL, &error));
    assert_int_equal(error.status, 1);
}

/* What no command would let through is refused here, too, before anything happens. */
static void test_out_of_range(void **state) {
    (void)state;
    const char *const inputs[] = {"rows.txt"}, *const nothing[] = {""};
    const tipple_load_t good = {.uri = uri, .format = "mot-item", .inputs = inputs, .input_count = 1};
    tipple_load_t loads[] = {good, good, good, good, good, good};
    loads[0].threads = 257;
    loads[1].batch = 4000000000u;
    loads[2].rejects = "";
    loads[3].inputs = nothing;
    loads[4].uri = "";
    loads[5].format = "";
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        tipple_loaded_t loaded;
        tipple_error_t error = {.status = 0};
        if (tipple_load(&loads[i], &loaded, &error))
            fail_msg("%zu was taken", i);
        if (error.status != 1 && !(i == 3 && error.status == 5))
            fail_msg("%zu: status %d: %s", i, error.status, error.text);
        assert_true(error.text[0]);
        assert_int_equal(loaded.read, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_silent_load),
                                       cmocka_unit_test(test_nothing_given),
                                       cmocka_unit_test(test_out_of_range)};
    const char *server = getenv("TIPPLE_TEST_URI");
    if (!server) {
        puts("TIPPLE_TEST_URI is not set: skipped");
        return 77;
    }
    /* mongodb://HOST/?options */
    const char *behind = strchr(strstr(server, "://") + 3, '/');
    const char *options = behind ? strchr(behind, '?') : NULL;
    snprintf(uri, sizeof uri, "%.*s/tipple_library_%d.items%s",
             (int)(behind ? behind - server : (long)strlen(server)), server, (int)getpid(),
             options ? options : "");
    return cmocka_run_group_tests_name("library", tests, NULL, NULL);
}
