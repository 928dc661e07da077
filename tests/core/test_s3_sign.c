/* Signatures of S3 requests: Amazon's published vectors (the test suite of signature version 4, and the examples of the S3
 * reference), and how keys of objects are encoded. */
#include "input/remote/s3.h"
#include "test.h"

#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

/* The key of the test suite, and that of the S3 reference. */
static const s3_key_t of_suite = {.id = "AKIDEXAMPLE", .secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"},
                      of_reference = {.id = "AKIAIOSFODNN7EXAMPLE",
                                      .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};
static const char token[] =
    "AQoDYXdzEPT//////////"
    "wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwth"
    "Ax7mSEI/qkPpKPi/"
    "kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAk"
    "iY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/"
    "oLxBA==";

static char *sign(const s3_signable_t *what, const s3_key_t *key) {
    text_t signature = {0};
    err_t err = {0};
    assert_true(s3_sign(what, key, &signature, &err));
    return text_take_or_end(&signature);
}

static void assert_signature(const s3_signable_t *what, const s3_key_t *key, const char *expected) {
    char *signature = sign(what, key);
    const char *value = strstr(signature, "Signature=");
    assert_non_null(value);
    assert_string_equal(value + strlen("Signature="), expected);
    free(signature);
}

TEST(signs_as_the_test_suite) {
    static const struct {
        const char *method, *path, *query, *signature;
        bool with_token;
    } rows[] = {
        /* get-vanilla, post-vanilla, get-vanilla-query-order-key-case, get-utf8, post-sts-header-before */
        {"GET", "/", "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31", false},
        {"POST", "/", "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b", false},
        {"GET", "/", "Param1=value1&Param2=value2",
         "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500", false},
        {"GET", "/%E1%88%B4", "", "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85", false},
        {"POST", "/", "", "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead", true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *headers[][2] = {{"host", "example.amazonaws.com"},
                                    {"x-amz-date", "20150830T123600Z"},
                                    {"x-amz-security-token", token}};
        const s3_signable_t what = {.method = rows[i].method,
                                    .path = rows[i].path,
                                    .query = rows[i].query,
                                    .headers = headers,
                                    .header_count = rows[i].with_token ? 3 : 2,
                                    .payload = EMPTY,
                                    .region = "us-east-1",
                                    .service = "service",
                                    .time = "20150830T123600Z"};
        assert_signature(&what, &of_suite, rows[i].signature);
    }
}

TEST(signs_as_the_reference_of_s3) {
    static const struct {
        const char *path, *query, *signature;
    } rows[] = {
        {"/", "max-keys=2&prefix=J", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
        {"/", "lifecycle=", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
    };
    const char *headers[][2] = {{"host", "examplebucket.s3.amazonaws.com"},
                                {"x-amz-content-sha256", EMPTY},
                                {"x-amz-date", "20130524T000000Z"}};
    s3_signable_t what = {.method = "GET",
                          .headers = headers,
                          .header_count = COUNT(headers),
                          .payload = EMPTY,
                          .region = "us-east-1",
                          .service = "s3",
                          .time = "20130524T000000Z"};
    for (size_t i = 0; i < COUNT(rows); i++) {
        what.path = rows[i].path;
        what.query = rows[i].query;
        assert_signature(&what, &of_reference, rows[i].signature);
    }
    const char *ranged[][2] = {{"host", "examplebucket.s3.amazonaws.com"},
                               {"range", "bytes=0-9"},
                               {"x-amz-content-sha256", EMPTY},
                               {"x-amz-date", "20130524T000000Z"}};
    what.headers = ranged;
    what.header_count = COUNT(ranged);
    what.path = "/test.txt";
    what.query = "";
    char *whole = sign(&what, &of_reference);
    assert_string_equal(
        whole, "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
               "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
               "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
    free(whole);
}

TEST(encodes_keys) {
    static const struct {
        const char *text, *path, *query;
    } rows[] = {
        {"a/b.csv", "a/b.csv", "a%2Fb.csv"},
        {"dt=2024-05-22/a b+c%3D&?#.csv", "dt%3D2024-05-22/a%20b%2Bc%253D%26%3F%23.csv",
         "dt%3D2024-05-22%2Fa%20b%2Bc%253D%26%3F%23.csv"},
        {"\xc3\xbc~_-.", "%C3%BC~_-.", "%C3%BC~_-."},
        {"\x01\x7f\xff*'()!", "%01%7F%FF%2A%27%28%29%21", "%01%7F%FF%2A%27%28%29%21"},
        {"//a/../b", "//a/../b", "%2F%2Fa%2F..%2Fb"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        text_t path = {0}, query = {0};
        s3_encode(&path, rows[i].text, true);
        s3_encode(&query, rows[i].text, false);
        assert_string_equal(path.bytes, rows[i].path);
        assert_string_equal(query.bytes, rows[i].query);
        text_free(&path);
        text_free(&query);
    }
}
