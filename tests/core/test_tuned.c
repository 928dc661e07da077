/* tuned: what a tune found, kept and found again, for its own target only. */
#include "study/tune/tuned.h"
#include "test.h"

#include <mongoc/mongoc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static int make_folder(TEST_UNUSED void **state) {
    strcpy(folder, "tuned-XXXXXX");
    char *here = getcwd(NULL, 0), cache[4096];
    if (!here || !mkdtemp(folder))
        return 1;
    snprintf(cache, sizeof cache, "%s/%s/deep/cache", here, folder);
    setenv("XDG_CACHE_HOME", cache, 1);
    free(here);
    return 0;
}

static int remove_folder(TEST_UNUSED void **state) {
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

static void keep(const char *uri, uint32_t threads) {
    tuned_t tuned = {.namespace = "a.b",
                     .format = "mot",
                     .threads = threads,
                     .batch = threads * 100,
                     .docs_per_second = 1234.5,
                     .when_ms = 1700000000000};
    char path[4096];
    err_t err = {.text = ""};
    if (!tuned_write(uri, &tuned, path, &err))
        fail_msg("%s", err.text);
    assert_int_equal(access(path, R_OK), 0);
}

static void finds(const char *uri, uint32_t threads) {
    tuned_t tuned;
    err_t err;
    const bool found = tuned_read(uri, &tuned, &err);
    assert_int_equal(err.status, STATUS_OK);
    assert_int_equal(found, threads != 0);
    assert_int_equal(tuned.threads, threads);
    if (!found)
        return;
    assert_int_equal(tuned.batch, threads * 100);
    assert_string_equal(tuned.format, "mot");
    assert_true(tuned.docs_per_second == 1234.5 && tuned.when_ms == 1700000000000);
}

TEST(by_target) {
    finds("mongodb://h:1,i:2/a.b", 0);
    keep("mongodb://u:secret@h:1,i:2/a.b?w=1", 4);
    keep("mongodb://h:1,i:2/a.c", 5);
    keep("mongodb://h:1/a.b", 6);
    finds("mongodb://h:1,i:2/a.b", 4); /* options and users do not matter */
    finds("mongodb://h:1,i:2/a.c", 5);
    finds("mongodb://h:1/a.b", 6);
    finds("mongodb://i:2/a.b", 0);
    keep("mongodb://h:1/a.b", 7); /* the last one counts */
    finds("mongodb://h:1/a.b", 7);
    keep("mongodb://h/a.sl%2Fash%20%C3%A9", 8);
    finds("mongodb://h/a.sl%2Fash%20%C3%A9", 8);
}

/* Only what is left to it is taken from the last tune; without one it is the default. */
TEST(chooses) {
    load_spec_t load;
    err_t err;
    load_spec_init(&load);
    keep("mongodb://h/a.chosen", 9);
    load.uri = "mongodb://h/a.chosen";
    load.threads = OPTION_AUTO;
    assert_true(tuned_choose(&load, &err));
    assert_int_equal(load.threads, 9);
    assert_int_equal(load.batch, LOAD_BATCH);
    load.threads = load.batch = OPTION_AUTO;
    assert_true(tuned_choose(&load, &err));
    assert_int_equal(load.batch, 900);
    load.uri = "mongodb://h/a.unknown";
    load.threads = load.batch = OPTION_AUTO;
    assert_true(tuned_choose(&load, &err));
    assert_int_equal(load.threads, 0);
    assert_int_equal(load.batch, LOAD_BATCH);
    load.uri = "mongodb://h";
    load.threads = OPTION_AUTO;
    assert_false(tuned_choose(&load, &err));
    assert_int_equal(err.status, STATUS_USAGE);
}

TEST(without_a_home) {
    tuned_t tuned = {.threads = 1, .batch = 1};
    char path[4096];
    err_t err;
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    assert_false(tuned_write("mongodb://h/a.b", &tuned, path, &err));
    assert_int_equal(err.status, STATUS_HOST);
    setenv("XDG_CACHE_HOME", "/dev/null/none", 1);
    assert_false(tuned_write("mongodb://h/a.b", &tuned, path, &err));
    assert_int_equal(err.status, STATUS_HOST);
    assert_false(tuned_read("mongodb://h/a.b", &tuned, &err)); /* none can be there */
    assert_int_equal(err.status, STATUS_OK);
    assert_false(tuned_read("mongodb://h", &tuned, &err));
    assert_int_equal(err.status, STATUS_USAGE);
}

TEST_GROUP(make_folder, remove_folder);
