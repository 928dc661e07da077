/* What S3 wants besides HTTP: keys and settings from all places, requests, refusals, lists. Nothing is sent: what would be
 * is held against a script, which also has the answers. */
#include "input/remote/remote.h"
#include "input/remote/s3.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- the script ---- */

typedef struct {
    const char *asks; /* a part of "METHOD URL|headers|body" */
    unsigned status;  /* 0: nobody answers, or, with a body, not to the end */
    const char *body;
} step_of_script_t;

static const step_of_script_t *script;
static size_t script_length, asked;
static char last_asked[20000];

static void begin_script(const step_of_script_t *steps, size_t length) {
    script = steps;
    script_length = length;
    asked = 0;
}
#define SCRIPT(...)                                                                                          \
    static const step_of_script_t steps[] = {__VA_ARGS__};                                                   \
    begin_script(steps, COUNT(steps))

static void answer_by_script(const char *what, remote_answer_t *answer) {
    snprintf(last_asked, sizeof last_asked, "%s", what);
    *answer = (remote_answer_t){.status = 0};
    if (asked >= script_length)
        fail_msg("nothing more should be asked: %s", what);
    const step_of_script_t *step = &script[asked++];
    if (!strstr(what, step->asks))
        fail_msg("%s is not in %s", step->asks, what);
    answer->status = step->status;
    if (step->body)
        text_append(&answer->body, step->body);
    if (step->body)
        text_append(&answer->headers, "HTTP/1.1 200 OK\n");
    err_set(&answer->why, STATUS_INPUT, "nobody is there");
}

bool __wrap_transport_send(remote_request_t *request, size_t most, remote_answer_t *answer, err_t *err);
bool __wrap_transport_send(remote_request_t *request, size_t most, remote_answer_t *answer, err_t *err) {
    text_t what = {0};
    (void)err;
    assert_true(most >= 4096);
    text_print(&what, "%s %s|%s|%s|%s", request->method, request->url.bytes,
               request->headers.bytes ? request->headers.bytes : "",
               request->body.bytes ? request->body.bytes : "", request->direct ? "direct" : "");
    secret_free_text(&request->url);
    secret_free_text(&request->headers);
    secret_free_text(&request->body);
    answer_by_script(what.bytes, answer);
    text_free(&what);
    return true;
}

bool __wrap_transport_fetch(const remote_place_t *place, uint64_t from, uint64_t to, int64_t patience_ns,
                            size_t most, remote_answer_t *answer, err_t *err);
bool __wrap_transport_fetch(const remote_place_t *place, uint64_t from, uint64_t to, int64_t patience_ns,
                            size_t most, remote_answer_t *answer, err_t *err) {
    remote_request_t request = {.method = NULL};
    (void)patience_ns;
    (void)most;
    assert_true(from == 0 && (to == 0 || to == REMOTE_HEAD));
    if (!place->scheme->prepare(place, &request, err))
        return false;
    answer_by_script(request.url.bytes, answer);
    secret_free_text(&request.url);
    secret_free_text(&request.headers);
    return answer->status == 200 || place->scheme->judge(place, answer, err) != REMOTE_FAIL;
}

/* ---- the clock ---- */

static long later; /* seconds after now */

time_t __real_time(time_t *out);
time_t __wrap_time(time_t *out);
time_t __wrap_time(time_t *out) {
    const time_t now = __real_time(NULL) + later;
    if (out)
        *out = now;
    return now;
}

int __real_clock_gettime(clockid_t id, struct timespec *time);
int __wrap_clock_gettime(clockid_t id, struct timespec *time);
int __wrap_clock_gettime(clockid_t id, struct timespec *time) {
    const int result = __real_clock_gettime(id, time);
    time->tv_sec += later;
    return result;
}

/* ---- the environment ---- */

static s3_key_t key;
static err_t err;

static void write_file(const char *name, const char *text) {
    FILE *file = fopen(name, "we");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Nothing of Amazon's is set, no file is there, and no instance is asked. */
static int set_up(void **state) {
    (void)state;
    extern char **environ;
    char name[128];
    for (size_t i = 0; environ[i];) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(environ[i], "="), environ[i]);
        if (strncmp(name, "AWS_", 4) == 0)
            unsetenv(name);
        else
            i++;
    }
    setenv("HOME", ".", 1);
    setenv("AWS_EC2_METADATA_DISABLED", "true", 1);
    mkdir(".aws", 0700);
    unlink(".aws/credentials");
    unlink(".aws/config");
    begin_script(NULL, 0);
    s3_forget();
    later = 0;
    memset(&key, 'x', sizeof key);
    memset(&err, 0, sizeof err);
    return 0;
}
static int tear_down(void **state) {
    (void)state;
    assert_int_equal(asked, script_length); /* all of the script was asked for */
    return 0;
}
TEST_EACH(set_up, tear_down);

static void assert_key(const char *id, const char *secret, const char *token, const char *from) {
    if (!s3_find_key(&key, &err))
        fail_msg("%s", err.text);
    assert_string_equal(key.id, id);
    assert_string_equal(key.secret, secret);
    assert_string_equal(key.token, token);
    if (!strstr(key.from, from))
        fail_msg("%s is not in %s", from, key.from);
}

static void assert_refused(status_t status, const char *words) {
    assert_false(s3_find_key(&key, &err));
    assert_int_equal(err.status, status);
    assert_string_equal(key.secret, "");
    if (!strstr(err.text, words))
        fail_msg("%s is not in %s", words, err.text);
}

/* ---- keys ---- */

TEST(no_key) {
    assert_key("", "", "", "");
}

TEST(key_of_the_environment) {
    write_file(".aws/credentials", "[default]\naws_access_key_id=F\naws_secret_access_key=G\n");
    setenv("AWS_ACCESS_KEY_ID", "I", 1);
    assert_refused(STATUS_INPUT, "AWS_ACCESS_KEY_ID is set without AWS_SECRET_ACCESS_KEY");
    setenv("AWS_SECRET_ACCESS_KEY", "S/+=", 1);
    assert_key("I", "S/+=", "", "the environment (AWS_ACCESS_KEY_ID)");
    assert_int_equal(key.ends, 0);
    setenv("AWS_SESSION_TOKEN", "T", 1);
    assert_key("I", "S/+=", "T", "environment");
    setenv("AWS_SECRET_ACCESS_KEY", "hush\n", 1);
    assert_refused(STATUS_INPUT, "the environment (AWS_ACCESS_KEY_ID) is too long");
    assert_null(strstr(err.text, "hush"));
    unsetenv("AWS_ACCESS_KEY_ID");
    setenv("AWS_SECRET_ACCESS_KEY", "hush", 1);
    assert_refused(STATUS_INPUT, "AWS_SECRET_ACCESS_KEY is set without AWS_ACCESS_KEY_ID");
}

TEST(keys_that_cannot_be_sent) {
    static char printed[9000] = "[default]\ncredential_process = printf '{\"AccessKeyId\": \"I\", "
                                "\"SecretAccessKey\": \"S\", \"Token\": \"";
    const size_t length = strlen(printed);
    strcat(printed, "a\\nb\"}'\n");
    write_file(".aws/config", printed);
    assert_refused(STATUS_INPUT, "is too long");
    memset(printed + length, 'h', 8191); /* one more than fits */
    strcpy(printed + length + 8191, "\"}'\n");
    write_file(".aws/config", printed);
    assert_refused(STATUS_INPUT, "is too long");
    strcpy(printed + length + 8190, "\"}'\n");
    write_file(".aws/config", printed);
    assert_true(s3_find_key(&key, &err));
    assert_int_equal(strlen(key.token), 8190);
}

TEST(key_of_a_profile) {
    write_file(
        ".aws/credentials",
        "# a comment\r\naws_access_key_id = none\r\n[ default ]\r\naws_access_key_id=D\r\n"
        "aws_secret_access_key = E=F \r\n\r\n"
        "[etl]\naws_access_key_id = I\n; aws_secret_access_key = no\n  aws_secret_access_key = nested\n"
        "aws_secret_access_key_old = O\naws_secret_access_key\t=\tS\naws_session_token = T");
    write_file(".aws/config",
               "[default]\nregion = eu-north-1\n[profile etl]\nendpoint_url = http://127.0.0.1:9000/\n"
               "region=eu-west-3\n[profile \"two words\"]\naws_access_key_id = J\n"
               "aws_secret_access_key = K\n[etl2]\naws_access_key_id = L\n");
    assert_key("D", "E=F", "", "profile 'default' of ./.aws/credentials");
    setenv("AWS_PROFILE", "etl", 1);
    assert_key("I", "S", "T", "profile 'etl'");
    setenv("AWS_PROFILE", "two words", 1);
    assert_key("J", "K", "", "profile 'two words' of ./.aws/config");
    setenv("AWS_PROFILE", "etl2", 1); /* without "profile" it is none of a config file */
    assert_refused(STATUS_INPUT, "there is no profile 'etl2' in ./.aws/credentials or ./.aws/config");
    rename(".aws/credentials", "other");
    setenv("AWS_SHARED_CREDENTIALS_FILE", "./other", 1);
    setenv("AWS_DEFAULT_PROFILE", "default", 1);
    unsetenv("AWS_PROFILE");
    assert_key("D", "E=F", "", "profile 'default' of ./other");
    chmod("other", 0);
    if (geteuid() != 0)
        assert_refused(STATUS_INPUT, "./other: may not read");
    unlink("other");
}

TEST(key_of_a_process) {
    write_file("records", "hush"); /* stdin, which no process may read */
    const int records = open("records", O_RDONLY | O_CLOEXEC), before = dup(0);
    dup2(records, 0);
    write_file(
        ".aws/config",
        "[default]\ncredential_process = printf '{\"Version\": 1, \"AccessKeyId\": \"I\", "
        "\"SecretAccessKey\" : "
        "\"S\\\\/S\", \"SessionToken\": \"T\", \"Expiration\": \"2031-02-03T05:05:06.789+01:00\"}'\n"
        "[profile zone]\ncredential_process = cat; printf '{\"AccessKeyId\": \"I\", "
        "\"SecretAccessKey\": \"S\", "
        "\"Expiration\": \"2031-02-03T03:35:06-00:30\"}'\n"
        "[profile late]\ncredential_process = printf '{\"AccessKeyId\": \"I\", \"SecretAccessKey\": \"S\", "
        "\"Expiration\": \"2031-02-03T03:35:06Z or so\"}'\n"
        "[profile bad]\ncredential_process = exit 3\n[profile odd]\ncredential_process = echo hush\n");
    assert_key("I", "S/S", "T", "credential_process of profile 'default'");
    assert_int_equal(key.ends, 1927857906);
    setenv("AWS_PROFILE", "zone", 1);
    assert_key("I", "S", "", "profile 'zone'");
    assert_int_equal(key.ends, 1927857906);
    setenv("AWS_PROFILE", "late", 1);
    assert_refused(STATUS_INPUT,
                   "Expiration of the key from credential_process of profile 'late' is no time");
    setenv("AWS_PROFILE", "bad", 1);
    assert_refused(STATUS_INPUT, "credential_process of profile 'bad' failed");
    setenv("AWS_PROFILE", "odd", 1);
    assert_refused(STATUS_INPUT, "no AccessKeyId");
    assert_null(strstr(err.text, "hush"));
    assert_int_equal(lseek(0, 0, SEEK_CUR), 0);
    dup2(before, 0);
    close(before);
    close(records);
}

TEST(profile_for_amazons_command) {
    write_file(".aws/config", "[profile a]\nsso_account_id = 1\nsso_session = s\n"
                              "[profile b]\nrole_arn = r\nsource_profile = a\n");
    setenv("AWS_PROFILE", "a", 1);
    assert_refused(STATUS_INPUT, "credential_process = aws configure export-credentials --profile a'");
    setenv("AWS_PROFILE", "b", 1);
    assert_refused(STATUS_INPUT, "--profile b'");
}

#define STS_ANSWER                                                                                           \
    "<AssumeRoleWithWebIdentityResponse xmlns=\"x\"><AssumeRoleWithWebIdentityResult><Credentials>"          \
    "<SessionToken>T&amp;T</SessionToken><SecretAccessKey>S</SecretAccessKey>"                               \
    "<Expiration>2031-02-03T04:05:06Z</Expiration><AccessKeyId>I</AccessKeyId></Credentials>"

TEST(key_of_a_web_identity) {
    SCRIPT({"POST https://sts.eu-west-1.amazonaws.com/|", 200, STS_ANSWER},
           {"RoleSessionName=me&WebIdentityToken=a.b%2B", 200, STS_ANSWER},
           {"POST http://127.0.0.1:1|", 403,
            "<Error><Code>ExpiredTokenException</Code><Message>Token &lt;old&gt;</Message>"},
           {"Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr",
            200, STS_ANSWER});
    write_file("token", "a.b+\nignored");
    setenv("AWS_REGION", "eu-west-1", 1);
    setenv("AWS_WEB_IDENTITY_TOKEN_FILE", "token", 1);
    assert_key("", "", "", ""); /* a role is missing */
    setenv("AWS_ROLE_ARN", "arn:aws:iam::1:role/r", 1);
    assert_key("I", "S", "T&T", "role arn:aws:iam::1:role/r");
    assert_int_equal(key.ends, 1927857906);
    setenv("AWS_ROLE_SESSION_NAME", "me", 1);
    assert_key("I", "S", "T&T", "role");
    setenv("AWS_ENDPOINT_URL_STS", "http://127.0.0.1:1", 1);
    assert_refused(STATUS_INPUT, "answered 403 ExpiredTokenException");
    unsetenv("AWS_ROLE_ARN");
    unsetenv("AWS_WEB_IDENTITY_TOKEN_FILE");
    write_file(".aws/config",
               "[default]\nrole_arn = arn:aws:iam::1:role/r\nweb_identity_token_file = token\n");
    assert_key("I", "S", "T&T", "role");
    unlink("token");
    assert_refused(STATUS_INPUT, "token: there is no");
}

#define JSON_ANSWER                                                                                          \
    "{\"Code\":\"Success\",\"AccessKeyId\":\"I\",\"SecretAccessKey\":\"S\",\"Token\":\"T\",\n"               \
    "\"Expiration\" : \"2031-02-03T04:05:06Z\",\"RoleArn\":\"the \\\"Token\\\"\"}"

TEST(key_of_a_container) {
    SCRIPT({"GET http://169.254.170.2/v2/x||", 200, JSON_ANSWER},
           {"GET http://[fd00:ec2::23]/v1|Authorization: words\n||direct", 200, JSON_ANSWER},
           {"GET http://localhost:8080/|Authorization: of a file\n|", 200, JSON_ANSWER},
           {"GET https://x/", 404, "no"}, {"GET https://x/", 500, NULL}, {"GET https://x/", 0, NULL},
           {"GET https://x/", 200, JSON_ANSWER});
    setenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/x", 1);
    assert_key("I", "S", "T", "this container's credentials");
    assert_int_equal(key.ends, 1927857906);
    unsetenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://[fd00:ec2::23]/v1", 1);
    setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "words", 1);
    assert_key("I", "S", "T", "container");
    setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://localhost:8080/", 1);
    setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "token", 1);
    write_file("token", "of a file\n");
    assert_key("I", "S", "T", "container");
    setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "https://x/", 1);
    assert_refused(STATUS_INPUT, "answered 404");
    assert_key("I", "S", "T", "container"); /* at the third try */
    unlink("token");
}

TEST(key_of_an_instance) {
    SCRIPT(
        {"PUT http://169.254.169.254/latest/api/token|X-aws-ec2-metadata-token-ttl-seconds: 21600\n||direct",
         0, NULL},
        {"PUT", 0, "to"}, {"PUT", 0, "to"}, {"PUT", 0, "to"},
        {"PUT http://127.0.0.1:1/latest/api/token|", 200, "t o k"},
        {"GET http://127.0.0.1:1/latest/meta-data/iam/security-credentials/|X-aws-ec2-metadata-token: t o "
         "k\n||direct",
         404, "none"},
        {"PUT", 200, "tok"}, {"security-credentials/|", 200, "etl\n"},
        {"GET http://127.0.0.1:1/latest/meta-data/iam/security-credentials/etl|X-aws-ec2-metadata-token: tok",
         200, JSON_ANSWER});
    unsetenv("AWS_EC2_METADATA_DISABLED");
    assert_key("", "", "", ""); /* nobody answers: this is no instance */
    setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1/", 1);
    assert_refused(STATUS_SERVER,
                   "there is no key from this instance: nobody"); /* a part of a token is none */
    assert_key("", "", "", "");                                   /* an instance without a role */
    assert_key("I", "S", "T", "role etl of this instance");
}

TEST(settings) {
    s3_settings_t settings;
    assert_true(s3_find_settings(&settings, &err));
    assert_string_equal(settings.region, "us-east-1");
    assert_string_equal(settings.endpoint, "");
    write_file(
        ".aws/config",
        "[default]\nregion = eu-west-3\nendpoint_url = https://minio:9000//\ns3 =\n  endpoint_url = no\n");
    assert_true(s3_find_settings(&settings, &err));
    assert_string_equal(settings.region, "eu-west-3");
    assert_string_equal(settings.endpoint, "https://minio:9000");
    setenv("AWS_DEFAULT_REGION", "eu-west-1", 1);
    setenv("AWS_ENDPOINT_URL", "http://one", 1);
    assert_true(s3_find_settings(&settings, &err));
    assert_string_equal(settings.region, "eu-west-1");
    assert_string_equal(settings.endpoint, "http://one");
    setenv("AWS_REGION", "eu-west-2", 1);
    setenv("AWS_ENDPOINT_URL_S3", "http://two/", 1);
    assert_true(s3_find_settings(&settings, &err));
    assert_string_equal(settings.region, "eu-west-2");
    assert_string_equal(settings.endpoint, "http://two");
    static const char *const wrong[] = {"minio:9000", "https://me:hush@minio", "https://minio/?x"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        setenv("AWS_ENDPOINT_URL_S3", wrong[i], 1);
        assert_false(s3_find_settings(&settings, &err));
        assert_int_equal(err.status, STATUS_INPUT);
        assert_null(strstr(err.text, "hush"));
    }
}

/* ---- requests ---- */

static remote_request_t request;

static void prepare(const char *url, const char *query) {
    const remote_place_t place = {.scheme = &remote_s3, .url = url, .shown = url, .query = query};
    secret_free_text(&request.url);
    secret_free_text(&request.headers);
    request = (remote_request_t){.method = NULL};
    if (!remote_s3.prepare(&place, &request, &err))
        fail_msg("%s", err.text);
}

static void assert_url(const char *url, const char *query, const char *expected) {
    prepare(url, query);
    assert_string_equal(request.url.bytes, expected);
}

static remote_next_t judge(unsigned status, const char *headers, const char *body, const char *words) {
    static const remote_place_t place = {.scheme = &remote_s3, .url = "s3://data/a", .shown = "s3://data/a"};
    remote_answer_t answer = {.status = status};
    text_append(&answer.headers, headers);
    text_append(&answer.body, body);
    const remote_next_t next = remote_s3.judge(&place, &answer, &err);
    transport_free_answer(&answer);
    if (!strstr(err.text, words))
        fail_msg("%s is not in %s", words, err.text);
    return next;
}

TEST(addresses) {
    assert_url("s3://data/a/dt=1/b c.csv", NULL,
               "https://data.s3.us-east-1.amazonaws.com/a/dt%3D1/b%20c.csv");
    assert_string_equal(request.headers.bytes ? request.headers.bytes : "", ""); /* not signed */
    assert_url("s3://data", "list-type=2", "https://data.s3.us-east-1.amazonaws.com/?list-type=2");
    assert_url("s3://da.ta//x", NULL, "https://s3.us-east-1.amazonaws.com/da.ta//x");
    assert_url("s3://Data_1/x", NULL, "https://s3.us-east-1.amazonaws.com/Data_1/x");
    setenv("AWS_REGION", "cn-north-1", 1);
    s3_forget();
    assert_url("s3://data/x", NULL, "https://data.s3.cn-north-1.amazonaws.com.cn/x");
    setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9000/", 1);
    s3_forget();
    assert_url("s3://data/x", NULL, "http://127.0.0.1:9000/data/x");
    assert_url("s3://data", "list-type=2", "http://127.0.0.1:9000/data/?list-type=2");
    static const char *const wrong[] = {"s3://", "s3:///key", "s3://evil.org:80/x", "s3://a@b/x",
                                        "s3://a?b/x"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        const remote_place_t place = {.scheme = &remote_s3, .url = wrong[i], .shown = wrong[i]};
        assert_false(remote_s3.prepare(&place, &request, &err));
        assert_int_equal(err.status, STATUS_INPUT);
    }
}

TEST(signed_requests) {
    setenv("AWS_ACCESS_KEY_ID", "I", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "hush", 1);
    prepare("s3://data/a", NULL);
    assert_non_null(strstr(request.headers.bytes, "\nauthorization: AWS4-HMAC-SHA256 Credential=I/"));
    assert_non_null(strstr(request.headers.bytes,
                           "/us-east-1/s3/aws4_request, "
                           "SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature="));
    assert_null(strstr(request.headers.bytes, "hush"));
    setenv("AWS_SESSION_TOKEN", "T", 1);
    s3_forget(); /* the next load has what its environment says */
    prepare("s3://data/a", NULL);
    assert_non_null(strstr(request.headers.bytes, "\nx-amz-security-token: T\n"));
    assert_non_null(strstr(request.headers.bytes, ";x-amz-date;x-amz-security-token, "));
}

/* A program may load once more, with another environment. */
TEST(next_load) {
    SCRIPT({"https://data.s3.us-east-1.amazonaws.com/a", 200, NULL},
           {"https://data.s3.eu-west-1.amazonaws.com/?", 404, NULL},
           {"https://data.s3.eu-west-2.amazonaws.com/a", 200, NULL});
    remote_forget(remote_see("s3://data/a", 1, &err));
    setenv("AWS_REGION", "eu-west-1", 1);
    remote_urls_t none = {.count = 0};
    assert_false(remote_list("s3://data/", 1, &none, &err));
    setenv("AWS_REGION", "eu-west-2", 1);
    remote_forget(remote_see("s3://data/a", 1, &err));
}

/* What a client sends as Host is what is signed: the usual port is left out. */
TEST(usual_ports) {
    static const char *const same[][2] = {{"https://minio", "https://minio:443"},
                                          {"http://minio", "http://minio:80"}};
    static const char *const other[][2] = {{"https://minio", "https://minio:80"},
                                           {"http://minio", "http://minio:443"}};
    setenv("AWS_ACCESS_KEY_ID", "I", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "S", 1);
    for (int i = 0; i < 4; i++) {
        char headers[2][600];
        do { /* within one second */
            for (int side = 0; side < 2; side++) {
                setenv("AWS_ENDPOINT_URL", (i < 2 ? same : other)[i % 2][side], 1);
                s3_forget();
                prepare("s3://data/a", NULL);
                snprintf(headers[side], sizeof headers[side], "%s", request.headers.bytes);
            }
        } while (strncmp(strstr(headers[0], "x-amz-date"), strstr(headers[1], "x-amz-date"), 28) != 0);
        assert_int_equal(strcmp(headers[0], headers[1]) == 0, i < 2);
    }
}

static void write_process(const char *id, int64_t seconds) {
    char text[400];
    const time_t ends = time(NULL) + seconds; /* as the clock is now, moved or not */
    struct tm parts;
    strftime(text, sizeof text,
             "{\"AccessKeyId\": \"ID\", \"SecretAccessKey\": \"S\", \"Expiration\": \"%Y-%m-%dT%H:%M:%SZ\"}",
             gmtime_r(&ends, &parts));
    memcpy(strstr(text, "ID"), id, 2);
    write_file("printed", text);
    write_file(".aws/config", "[default]\ncredential_process = cat printed 2>/dev/null\n");
}

static void assert_id(const char *id) {
    char expected[32];
    snprintf(expected, sizeof expected, "Credential=%s/", id);
    prepare("s3://data/a", NULL);
    assert_non_null(strstr(request.headers.bytes, expected));
}

TEST(keys_are_fetched_before_they_end) {
    write_process("I1", 1000);
    assert_id("I1");
    write_process("I2", 2000);
    later = 690; /* it is good for more than five minutes */
    assert_id("I1");
    later = 710;
    assert_id("I2");
    unlink("printed");
    later = 1800; /* no other one is there, and this one is still good */
    assert_id("I2");
    write_process("I3", 1000);
    later = 1805; /* it is looked for every ten seconds */
    assert_id("I2");
    later = 1811;
    assert_id("I3");
    unlink("printed");
    later = 2900;
    const remote_place_t place = {.scheme = &remote_s3, .url = "s3://data/a", .shown = "s3://data/a"};
    assert_false(remote_s3.prepare(&place, &request, &err)); /* it has ended */
    assert_int_equal(err.status, STATUS_INPUT);
    write_process("I4", 1000);
    assert_id("I4");
    unlink("printed");
}

TEST(region_of_a_bucket) {
    prepare("s3://data/a", NULL);
    assert_int_equal(judge(301, "x-amz-bucket-region: eu-west-3\r\n",
                           "<Error><Code>PermanentRedirect</Code></Error>", "301 PermanentRedirect"),
                     REMOTE_ANEW);
    assert_url("s3://data/a", NULL, "https://data.s3.eu-west-3.amazonaws.com/a");
    assert_url("s3://other/a", NULL, "https://other.s3.us-east-1.amazonaws.com/a");
    assert_int_equal(
        judge(400, "", "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region></Error>",
              "400"),
        REMOTE_ANEW);
    assert_url("s3://data/a", NULL, "https://data.s3.eu-west-1.amazonaws.com/a");
    assert_int_equal(judge(301, "x-amz-bucket-region: evil.org/\r\n", "", "301"), REMOTE_FAIL);
    assert_int_equal(judge(403, "x-amz-bucket-region: eu-west-1\r\n", "", "403"), REMOTE_FAIL);
}

TEST(refusals) {
    assert_int_equal(judge(403, "",
                           "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>",
                           "s3://data/a: S3 answered 403 AccessDenied to a request without a key"),
                     REMOTE_FAIL);
    assert_int_equal(err.status, STATUS_INPUT);
    setenv("AWS_ACCESS_KEY_ID", "I", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "hush/key", 1);
    setenv("AWS_SESSION_TOKEN", "hush.token", 1);
    prepare("s3://data/a", NULL);
    assert_int_equal(judge(403, "", "<Error><Code>AccessDenied</Code></Error>",
                           "with the key of the environment (AWS_ACCESS_KEY_ID): allow s3:GetObject"),
                     REMOTE_FAIL);
    assert_int_equal(judge(404, "", "<Code>NoSuchKey</Code>", "a prefix has a / at its end"), REMOTE_FAIL);
    assert_int_equal(judge(404, "", "<Code>NoSuchBucket</Code>", "AWS_ENDPOINT_URL_S3"), REMOTE_FAIL);
    assert_int_equal(judge(403, "", "<Code>InvalidObjectState</Code>", "archived"), REMOTE_FAIL);
    assert_int_equal(judge(418, "", "", "answered 418 to"), REMOTE_FAIL);
    static const char *const of_key[] = {"ExpiredToken", "InvalidToken", "InvalidAccessKeyId",
                                         "SignatureDoesNotMatch"};
    for (size_t i = 0; i < COUNT(of_key); i++) {
        char body[200];
        snprintf(body, sizeof body, "<Error><Code>%s</Code><Message>not %s</Message></Error>", of_key[i],
                 i % 2 ? "hush.token" : "hush/key");
        assert_int_equal(judge(400, "", body, of_key[i]), REMOTE_ANEW);
        assert_null(strstr(err.text, "hush"));
    }
    assert_int_equal(judge(503, "", "<Code>SlowDown</Code>", "503"), REMOTE_AGAIN);
    assert_int_equal(judge(400, "", "<Code>RequestTimeout</Code>", "RequestTimeout"), REMOTE_AGAIN);
}

/* ---- lists ---- */

static bool list(const char *url, const char *expected) {
    remote_urls_t found = {.count = 0};
    text_t urls = {0};
    const bool ok = remote_list(url, 1, &found, &err);
    for (size_t i = 0; i < found.count; i++)
        text_print(&urls, "%s\n", found.urls[i]);
    assert_string_equal(urls.bytes ? urls.bytes : "", expected);
    remote_free_urls(&found);
    text_free(&urls);
    return ok;
}

#define PAGE(rest)                                                                                           \
    "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">" rest       \
    "</ListBucketResult>"
#define OBJECT(key) "<Contents><Key>" key "</Key><LastModified>x</LastModified><Size>5</Size></Contents>"

TEST(which_urls_are_lists) {
    static const char *const lists[] = {"s3://b",       "s3://b/",    "s3://b/p/",
                                        "s3://b/*.csv", "s3://b/a?c", "s3://b/[ab]"},
                             *const objects[] = {"s3://b/a", "s3://b/p/a.csv"};
    for (size_t i = 0; i < COUNT(lists); i++)
        assert_true(remote_is_several(lists[i]));
    for (size_t i = 0; i < COUNT(objects); i++)
        assert_false(remote_is_several(objects[i]));
}

TEST(list_of_a_prefix) {
    SCRIPT(
        {"https://data.s3.us-east-1.amazonaws.com/?encoding-type=url&list-type=2&prefix=p%2F", 200,
         PAGE("<Name>data</Name><Prefix>p/</Prefix><KeyCount>3</KeyCount><MaxKeys>1000</MaxKeys>"
              "<IsTruncated>true</IsTruncated><NextContinuationToken>a+b/c=</NextContinuationToken>" OBJECT(
                  "p/") OBJECT("p/a&amp;b+&#x26;&#252;&quot;%41.csv") OBJECT("p/x/y.csv"))},
        {"?continuation-token=a%2Bb%2Fc%3D&encoding-type=url&list-type=2&prefix=p%2F", 200,
         PAGE("<IsTruncated>false</IsTruncated>" OBJECT("p/z"))});
    assert_true(
        list("s3://data/p/", "s3://data/p/a&b+&\xc3\xbc\"%41.csv\ns3://data/p/x/y.csv\ns3://data/p/z\n"));
}

TEST(list_with_encoded_keys) {
    SCRIPT(
        {"prefix=", 200, PAGE("<EncodingType>url</EncodingType>" OBJECT("a+b%2Bc%0Ad%") OBJECT("%C3%BC/e"))});
    assert_true(list("s3://data", "s3://data/a b+c\nd%\ns3://data/\xc3\xbc/e\n"));
}

TEST(list_of_a_pattern) {
    SCRIPT({"?delimiter=%2F&encoding-type=url&list-type=2&prefix=p%2Fa", 200,
            PAGE(OBJECT("p/a.csv") OBJECT("p/a.csv.gz") OBJECT("p/a/b.csv") OBJECT("p/ab.csv"))},
           {"/?encoding-type=url&list-type=2&prefix=p%2F", 200,
            PAGE(OBJECT("p/d=1/a.csv") OBJECT("p/d=1/e/a.csv") OBJECT("p/d=2/b.txt") OBJECT("p/d=2/.b.csv"))},
           {"prefix=a", 200, PAGE(OBJECT("a*") OBJECT("ab"))});
    assert_true(list("s3://data/p/a*.csv", "s3://data/p/a.csv\ns3://data/p/ab.csv\n"));
    assert_true(list("s3://data/p/d=?/*.csv", "s3://data/p/d=1/a.csv\n"));
    assert_true(list("s3://data/a[*]", "s3://data/a*\n"));
}

TEST(lists_that_fail) {
    SCRIPT({"prefix=p%2F", 200, PAGE("<KeyCount>0</KeyCount>")}, {"prefix=p%2F", 200, PAGE(OBJECT("p/"))},
           {"prefix=p%2F", 200, PAGE(OBJECT("p/b"))}, {"prefix=p%2F", 200, "<html>"},
           {"prefix=p%2F", 200, ""}, {"prefix=p%2F", 200, PAGE("<IsTruncated>true</IsTruncated>")},
           {"prefix=p%2F", 200,
            PAGE("<IsTruncated>true</IsTruncated><NextContinuationToken>n</NextContinuationToken>")},
           {"continuation-token=n", 200,
            PAGE("<IsTruncated>true</IsTruncated><NextContinuationToken>n</NextContinuationToken>")},
           {"prefix=p%2F", 403, "<Error><Code>AccessDenied</Code></Error>"});
    static const struct {
        const char *url, *words;
    } rows[] = {{"s3://data/p/", "no object of"},   {"s3://data/p/", "no object of"},
                {"s3://data/p/*a", "no object of"}, {"s3://data/p/", "no list of S3"},
                {"s3://data/p/", "no list of S3"},  {"s3://data/p/", "no list of S3"},
                {"s3://data/p/", "no list of S3"},  {"s3://data/p/", "AWS_PROFILE"},
                {"s3://data_+", "name of a bucket"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_false(list(rows[i].url, ""));
        assert_int_equal(err.status, STATUS_INPUT);
        if (!strstr(err.text, rows[i].words))
            fail_msg("%s is not in %s", rows[i].words, err.text);
    }
}

TEST(elements_of_xml) {
    static const char xml[] = "<A><Key>one</Key><KeyCount>2</KeyCount><Empty></Empty><Next "
                              "a=\"1\">&lt;two&gt;&#0;&x&#xg;</Next><Open>z";
    char text[32];
    assert_true(s3_element(xml, "Key", text, sizeof text) && strcmp(text, "one") == 0);
    assert_true(s3_element(xml, "KeyCount", text, sizeof text) && strcmp(text, "2") == 0);
    assert_true(s3_element(xml, "Empty", text, sizeof text) && *text == '\0');
    assert_true(s3_element(xml, "Next", text, sizeof text));
    assert_string_equal(text, "<two>&#0;&x&#xg;");
    static const char *const none[] = {"Open", "None", "Nex", "x"};
    for (size_t i = 0; i < COUNT(none); i++)
        assert_false(s3_element(xml, none[i], text, sizeof text) || *text);
    assert_false(s3_element(NULL, "Key", text, sizeof text) || *text);
    assert_false(s3_element("<Key", "Key", text, sizeof text) || *text);
    for (size_t room = 1; room + 1 < sizeof text; room++) {
        char small[32] = "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz";
        s3_element(xml, "Next", small, room);
        assert_true(strlen(small) < room);
        assert_int_equal(small[room], 'z');
    }
}
