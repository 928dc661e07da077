/* scratch: the URI of the collection for trials, which must be the target's in everything else. */
#include "study/study.h"
#include "test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void becomes(const char *uri, const char *expected) {
    err_t err = {.text = ""};
    char *made = study_place(uri, SCRATCH_TUNE, &err);
    if (!made)
        fail_msg("%s: %s", uri, err.text);
    assert_string_equal(made, expected);
    free(made);
}

static void refused(const char *uri, const char *why) {
    err_t err = {.text = ""};
    char *made = study_place(uri, SCRATCH_TUNE, &err);
    if (made)
        fail_msg("%s became %s", uri, made);
    assert_int_equal(err.status, STATUS_USAGE);
    if (!strstr(err.text, why))
        fail_msg("'%s' does not speak of '%s'", err.text, why);
}

TEST(names) {
    becomes("mongodb://h/a.b", "mongodb://h/a.b.tipple.tune");
    becomes("mongodb://h:1/a.b?w=1&tls=false", "mongodb://h:1/a.b.tipple.tune?w=1&tls=false");
    becomes("mongodb://h/a%2Db.c%20d?", "mongodb://h/a%2Db.c%20d.tipple.tune");
    becomes("mongodb://u:p%40%2F@h,i/a.b", "mongodb://u:p%40%2F@h,i/a.b.tipple.tune");
    becomes("mongodb+srv://cluster.example.net/a.b", "mongodb+srv://cluster.example.net/a.b.tipple.tune");
}

TEST(refused) {
    refused("mongodb://h/a", "names no collection");
    refused("h/a.b", "not a MongoDB URI");
}
