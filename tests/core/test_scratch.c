/* scratch: the URI of the collection for trials, which must be the target's in everything else. */
#include "study/scratch.h"
#include "test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void becomes(const char *uri, size_t routers, const char *wire, const char *expected) {
    err_t err = {.text = ""};
    char *made = scratch_uri(uri, SCRATCH_TUNE, routers, wire, NULL, &err);
    if (!made)
        fail_msg("%s: %s", uri, err.text);
    assert_string_equal(made, expected);
    free(made);
}

static void refused(const char *uri, const char *wire, const char *why) {
    err_t err = {.text = ""};
    char *made = scratch_uri(uri, SCRATCH_TUNE, 0, wire, NULL, &err);
    if (made)
        fail_msg("%s became %s", uri, made);
    assert_int_equal(err.status, STATUS_USAGE);
    if (!strstr(err.text, why))
        fail_msg("'%s' does not speak of '%s'", err.text, why);
}

TEST(names) {
    becomes("mongodb://h/a.b", 0, NULL, "mongodb://h/a.b.tipple.tune");
    becomes("mongodb://h:1/a.b?w=1&tls=false", 0, NULL, "mongodb://h:1/a.b.tipple.tune?w=1&tls=false");
    becomes("mongodb://h/a%2Db.c%20d?", 0, NULL, "mongodb://h/a%2Db.c%20d.tipple.tune");
    becomes("mongodb://u:p%40%2F@h,i/a.b", 0, NULL, "mongodb://u:p%40%2F@h,i/a.b.tipple.tune");
    becomes("mongodb+srv://cluster.example.net/a.b", 0, NULL,
            "mongodb+srv://cluster.example.net/a.b.tipple.tune");
}

TEST(routers) {
    becomes("mongodb://h:1,i:2,j:3/a.b", 1, NULL, "mongodb://h:1/a.b.tipple.tune");
    becomes("mongodb://h:1,i:2,j:3/a.b?w=1", 2, NULL, "mongodb://h:1,i:2/a.b.tipple.tune?w=1");
    becomes("mongodb://h:1,i:2,j:3/a.b", 3, NULL, "mongodb://h:1,i:2,j:3/a.b.tipple.tune");
    becomes("mongodb://u,v:p,q@h:1,i:2/a.b", 1, NULL, "mongodb://u,v:p,q@h:1/a.b.tipple.tune");
}

TEST(wire_compressors) {
    becomes("mongodb://h/a.b", 0, "none", "mongodb://h/a.b.tipple.tune");
    becomes("mongodb://h/a.b", 0, "zlib", "mongodb://h/a.b.tipple.tune?compressors=zlib");
    becomes("mongodb://h/a.b?compressors=zlib", 0, "none", "mongodb://h/a.b.tipple.tune");
    becomes("mongodb://h/a.b?compressors=zlib", 0, NULL, "mongodb://h/a.b.tipple.tune?compressors=zlib");
    becomes("mongodb://h/a.b?w=1&Compressors=snappy&tls=false", 0, "zlib",
            "mongodb://h/a.b.tipple.tune?w=1&tls=false&compressors=zlib");
    refused("mongodb://h/a.b", "lz4", "no wire compressor");
}

static void with_concern(const char *uri, const char *concern, const char *expected) {
    err_t err = {.text = ""};
    char *made = scratch_uri(uri, SCRATCH_TUNE, 0, NULL, concern, &err);
    if (!made)
        fail_msg("%s", err.text);
    assert_string_equal(made, expected);
    free(made);
}

/* Only w is another one; what else the URI says of writes stays. */
TEST(concerns) {
    with_concern("mongodb://h/a.b", "1", "mongodb://h/a.b.tipple.tune?w=1");
    with_concern("mongodb://h/a.b?w=majority&journal=true&wtimeoutMS=5", "2",
                 "mongodb://h/a.b.tipple.tune?journal=true&wtimeoutMS=5&w=2");
    with_concern("mongodb://h/a.b?W=3", "1", "mongodb://h/a.b.tipple.tune?w=1");
    with_concern("mongodb://h/a.b?w=1", NULL, "mongodb://h/a.b.tipple.tune?w=1");
}

TEST(tails) {
    err_t err;
    char *made = scratch_uri("mongodb://h/a.b?w=1", SCRATCH_DRILL, 0, NULL, NULL, &err);
    assert_string_equal(made, "mongodb://h/a.b.tipple.drill?w=1");
    free(made);
}

TEST(refused) {
    char longest[400] = "mongodb://h/a.";
    refused("mongodb://h/a", NULL, "names no collection");
    refused("h/a.b", NULL, "not a MongoDB URI");
    memset(longest + strlen(longest), 'x', 230);
    refused(longest, NULL, ".tipple.tune");
    longest[14 + 220] = '\0'; /* "a." and 220 letters, and the tail: 234 */
    err_t err;
    char *made = scratch_uri(longest, SCRATCH_TUNE, 0, NULL, NULL, &err);
    assert_non_null(made);
    free(made);
}
