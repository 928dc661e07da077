/* Signatures of S3 requests: Amazon's published vectors (the test suite of signature version 4, and the examples of the S3
 * reference), and how keys of objects are encoded. */
#include "input/remote/s3.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

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

/* The second that this text of the time zone UTC means. */
static time_t at(const char *text) {
    struct tm parts = {0};
    assert_non_null(strptime(text, "%Y-%m-%d %H:%M", &parts));
    return timegm(&parts);
}

static void assert_signature(const char *method, const char *url, const char *service, time_t now,
                             const s3_key_t *key, const char *names, const char *signature) {
    char expected[400];
    remote_request_t request = {.method = method};
    err_t err = {0};
    text_append(&request.url, url);
    assert_true(s3_sign(&request, "us-east-1", service, now, key, &err));
    snprintf(expected, sizeof expected, "/us-east-1/%s/aws4_request, SignedHeaders=%s, Signature=%s\n",
             service, names, signature);
    if (!strstr(request.headers.bytes, expected))
        fail_msg("%s%s is not in %s", url, expected, request.headers.bytes);
    secret_free_text(&request.url);
    secret_free_text(&request.headers);
}

TEST(signs_as_the_test_suite) {
    static const struct {
        const char *method, *url, *signature;
        bool with_token;
    } rows[] = {
        /* get-vanilla, post-vanilla, get-vanilla-query-order-key-case, get-utf8, post-sts-header-before */
        {"GET", "/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31", false},
        {"POST", "/", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b", false},
        {"GET", "/?Param1=value1&Param2=value2",
         "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500", false},
        {"GET", "/%E1%88%B4", "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85", false},
        {"POST", "/", "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead", true},
    };
    static const char *const bases[] = {"https://example.amazonaws.com", "https://example.amazonaws.com:443",
                                        "http://example.amazonaws.com", "http://example.amazonaws.com:80"};
    for (size_t i = 0; i < COUNT(rows); i++) {
        char url[100];
        s3_key_t key = of_suite;
        strcpy(key.token, rows[i].with_token ? token : "");
        snprintf(url, sizeof url, "%s%s", bases[i % COUNT(bases)], rows[i].url);
        assert_signature(rows[i].method, url, "service", at("2015-08-30 12:36"), &key,
                         rows[i].with_token ? "host;x-amz-date;x-amz-security-token" : "host;x-amz-date",
                         rows[i].signature);
    }
}

TEST(signs_as_the_reference_of_s3) {
    static const struct {
        const char *query, *signature;
    } rows[] = {
        {"max-keys=2&prefix=J", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
        {"lifecycle=", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char url[100];
        snprintf(url, sizeof url, "https://examplebucket.s3.amazonaws.com/?%s", rows[i].query);
        assert_signature(NULL, url, "s3", at("2013-05-24 00:00"), &of_reference,
                         "host;x-amz-content-sha256;x-amz-date", rows[i].signature);
    }
}

TEST(what_is_sent_besides) {
    remote_request_t request = {.method = NULL};
    s3_key_t key = of_reference;
    err_t err = {0};
    strcpy(key.token, "T");
    text_append(&request.url, "http://127.0.0.1:9000/data/a");
    text_append(&request.headers, "Range: bytes=0-9\n");
    assert_true(s3_sign(&request, "eu-west-3", "s3", at("2013-05-24 00:00"), &key, &err));
    const char *expected =
        "Range: bytes=0-9\nx-amz-content-sha256: "
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n"
        "x-amz-date: 20130524T000000Z\nx-amz-security-token: T\nauthorization: AWS4-HMAC-SHA256 "
        "Credential=AKIAIOSFODNN7EXAMPLE/20130524/eu-west-3/s3/aws4_request, ";
    assert_memory_equal(request.headers.bytes, expected, strlen(expected));
    secret_free_text(&request.url);
    secret_free_text(&request.headers);
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
