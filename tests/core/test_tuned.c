/* tuned: what a tune found, kept and found again, for its own target and compressor only. */
#include "base/text.h"
#include "load/spec/options.h"
#include "study/tune/tuned.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static int make_folder(TEST_UNUSED void **state) {
    strcpy(folder, "tuned-XXXXXX");
    char *here = getcwd(NULL, 0), cache[4096];
    if (!here || !mkdtemp(folder))
        return 1;
    snprintf(cache, sizeof cache, "%s/%s/cache", here, folder);
    setenv("XDG_CACHE_HOME", cache, 1);
    free(here);
    return 0;
}

static int remove_folder(TEST_UNUSED void **state) {
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

static bool try_to_keep(const char *uri, uint32_t threads, const char *compressor, uint32_t trials,
                        bool settled, err_t *err) {
    load_spec_t load;
    load_spec_init(&load);
    load.threads = threads;
    load.batch = threads * 100;
    load.compressor = compressor;
    const tuned_found_t found = {&load, "mot", {trials, 1234.5, 1200, 1300}, settled};
    return tuned_keep(uri, &found, err);
}

static void keep(const char *uri, uint32_t threads, const char *compressor) {
    err_t err = {.text = ""};
    if (!try_to_keep(uri, threads, compressor, 5, true, &err))
        fail_msg("%s", err.text);
}

/* threads: 0: no tune is found. */
static void finds(const char *uri, uint32_t threads, const char *compressor) {
    load_spec_t load;
    err_t err;
    load_spec_init(&load);
    load.uri = uri;
    load.compressor = compressor;
    load.threads = load.batch = OPTION_AUTO;
    assert_true(tuned_choose(&load, &err));
    assert_int_equal(load.threads, threads);
    assert_int_equal(load.batch, threads ? threads * 100 : LOAD_BATCH);
}

TEST(by_target) {
    finds("mongodb://h:1,i:2/a.b", 0, NULL);
    keep("mongodb://u:secret@h:1,i:2/a.b?w=1", 4, NULL);
    keep("mongodb://h:1,i:2/a.c", 5, NULL);
    keep("mongodb://h:1/a.b", 6, NULL);
    finds("mongodb://h:1,i:2/a.b", 4, NULL); /* options and users do not matter */
    finds("mongodb://h:1,i:2/a.c", 5, NULL);
    finds("mongodb://h:1/a.b", 6, NULL);
    finds("mongodb://i:2/a.b", 0, NULL);
    keep("mongodb://h:1/a.b", 7, NULL); /* the last one counts */
    finds("mongodb://h:1/a.b", 7, NULL);
    keep("mongodb://h/a.sl%2Fash%20%C3%A9", 8, NULL);
    finds("mongodb://h/a.sl%2Fash%20%C3%A9", 8, NULL);
}

TEST(by_compressor) {
    keep("mongodb://h/a.packed", 2, "zlib");
    finds("mongodb://h/a.packed", 2, "zlib");
    finds("mongodb://h/a.packed", 0, "snappy");
    finds("mongodb://h/a.packed", 0, NULL);
    keep("mongodb://h/a.packed", 3, NULL);
    finds("mongodb://h/a.packed", 2, "zlib");
    finds("mongodb://h/a.packed", 3, NULL);
}

/* One trial is not kept. A tune that is not settled is kept, but not in the place of one that is. */
TEST(settled_only) {
    static const char *const uri = "mongodb://h/a.doubted";
    err_t err;
    assert_false(try_to_keep(uri, 2, NULL, 1, false, &err));
    assert_non_null(strstr(err.text, "once"));
    finds(uri, 0, NULL);
    assert_true(try_to_keep(uri, 2, NULL, 2, false, &err));
    finds(uri, 2, NULL);
    assert_true(try_to_keep(uri, 3, NULL, 2, false, &err));
    finds(uri, 3, NULL);
    keep(uri, 4, NULL);
    assert_false(try_to_keep(uri, 5, NULL, 20, false, &err));
    assert_non_null(strstr(err.text, "4 x 400 stays"));
    finds(uri, 4, NULL);
    assert_true(try_to_keep(uri, 5, "zlib", 20, false, &err)); /* of another compressor none is settled */
    finds(uri, 5, "zlib");
    keep(uri, 6, NULL);
    finds(uri, 6, NULL);
}

/* Lines of versions that did not keep whether a tune was settled are not settled, nor those that called a single setting
 * settled, which have no range. */
TEST(before) {
    static const char *const more[] = {"", "\"trials\": 3, \"settled\": true, "};
    err_t err;
    char path[4096];
    snprintf(path, sizeof path, "%s/tipple/tunes.json", getenv("XDG_CACHE_HOME"));
    for (size_t i = 0; i < COUNT(more); i++) {
        FILE *file = fopen(path, "a");
        assert_non_null(file);
        fprintf(file,
                "{\"target\": \"h:1/a.old\", \"compressor\": \"\", \"threads\": 7, \"batch\": 700, "
                "\"format\": \"mot\", %s"
                "\"docs_per_second\": 5.0, \"when\": {\"$date\": \"2026-11-01T00:00:00Z\"}}\n",
                more[i]);
        fclose(file);
        finds("mongodb://h:1/a.old", 7, NULL);
        assert_true(try_to_keep("mongodb://h:1/a.old", 2, NULL, 2, false, &err));
        finds("mongodb://h:1/a.old", 2, NULL);
    }
}

/* A damaged line is none; those before and after it count. */
TEST(damaged) {
    static const char *const damage[] = {"{", "", "{}",
                                         "{\"target\": \"h/a.hurt\", \"threads\": 0, \"batch\": 5}",
                                         "{\"target\": \"h/a.hurt\", \"threads\": \"4\", \"batch\": 5}"};
    char path[4096];
    keep("mongodb://h/a.hurt", 5, NULL);
    snprintf(path, sizeof path, "%s/tipple/tunes.json", getenv("XDG_CACHE_HOME"));
    for (size_t i = 0; i < COUNT(damage); i++) {
        FILE *file = fopen(path, "a");
        assert_non_null(file);
        fprintf(file, "%s\n", damage[i]);
        fclose(file);
        finds("mongodb://h/a.hurt", 5, NULL);
    }
    keep("mongodb://h/a.hurt", 6, NULL);
    finds("mongodb://h/a.hurt", 6, NULL);
}

/* Only what is left to it is taken from the last tune. */
TEST(chooses) {
    load_spec_t load;
    err_t err;
    load_spec_init(&load);
    keep("mongodb://h/a.chosen", 9, NULL);
    load.uri = "mongodb://h/a.chosen";
    load.threads = OPTION_AUTO;
    assert_true(tuned_choose(&load, &err));
    assert_int_equal(load.threads, 9);
    assert_int_equal(load.batch, LOAD_BATCH);
    load.uri = "mongodb://h";
    load.threads = OPTION_AUTO;
    assert_false(tuned_choose(&load, &err));
    assert_int_equal(err.status, STATUS_USAGE);
}

TEST(without_a_home) {
    static const char *const uri = "mongodb://h/a.b";
    err_t err;
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    assert_false(try_to_keep(uri, 1, NULL, 5, true, &err));
    assert_int_equal(err.status, STATUS_HOST);
    setenv("XDG_CACHE_HOME", "/dev/null/none", 1);
    assert_false(try_to_keep(uri, 1, NULL, 5, true, &err));
    assert_int_equal(err.status, STATUS_HOST);
    finds(uri, 0, NULL); /* none can be there */
}

TEST_GROUP(make_folder, remove_folder);
