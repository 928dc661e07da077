/* Keys to sign with, and settings, from where Amazon's own programs have them. The first place that has a key decides: if
 * it has one and does not give it out, that is a failure. */
#include "base/clock.h"
#include "base/stop.h"
#include "input/file/fault.h"
#include "input/remote/s3.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

typedef enum { NOT_THERE, FOUND, FAILED, PASSES /* failed, but may be tried again */ } found_t;

/* The variable's text; NULL: it is not set, or empty. */
static const char *variable(const char *name) {
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

static const char *either(const char *first, const char *second) {
    return variable(first) ? variable(first) : variable(second);
}

/* Copies a text; what does not fit is found by is_clean. text NULL: it is empty. */
static void put(char *to, size_t room, const char *text, size_t length) {
    const size_t size = text ? strnlen(text, length < room ? length : room - 1) : 0;
    memcpy(to, text ? text : "", size);
    to[size] = '\0';
}

/* Did the text fit, and may it stand in a line of a request? */
static bool is_clean(const char *text, size_t room) {
    size_t length = 0;
    while ((unsigned char)text[length] > ' ' && text[length] != 0x7F)
        length++;
    return !text[length] && length + 1 < room;
}

/* Waits for something to read, or an end. A process may hang. */
static bool wait_readable(int fd, const char *name, int64_t until_ns, err_t *err) {
    enum { STEP_MS = 100 };
    struct pollfd waits = {.fd = fd, .events = POLLIN};
    while (poll(&waits, 1, STEP_MS) <= 0) {
        if (stop_signal())
            return stop_interrupted(err);
        if (clock_now_ns() > until_ns)
            return err_set(err, STATUS_INPUT,
                           "s3: %s printed no key within 60 s: run its command by hand to see why", name);
    }
    return true;
}

/* The beginning of what comes, not by stdio, which has buffers of its own. NULL: *err says why; otherwise for secret_free. */
static char *read_secret(int fd, const char *name, err_t *err) {
    enum { MOST = 1 << 20 };
    const int64_t until_ns = clock_now_ns() + 60 * INT64_C(1000000000);
    char *text = secret_new(MOST);
    bool ok = text || err_memory(err, MOST);
    ssize_t got = 1;
    for (size_t length = 0; ok && got && length < MOST; length += (size_t)got) {
        ok = wait_readable(fd, name, until_ns, err);
        got = ok ? read(fd, text + length, MOST - length) : 0;
        if (got < 0) {
            ok = fault_system(err, name, errno);
            got = 0;
        }
    }
    if (ok)
        return text;
    secret_free(text);
    return NULL;
}

/* The same for a file. NULL with status 0 of *err: there is none. */
static char *read_file(const char *path, err_t *err) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text = fd < 0 ? NULL : read_secret(fd, path, err);
    if (fd >= 0)
        close(fd);
    else if (errno != ENOENT && errno != ENOTDIR)
        fault_system(err, path, errno);
    return text;
}

/* The first line of a file that must be there, for secret_free. */
static char *read_token(const char *path, err_t *err) {
    char *text = read_file(path, err);
    if (text)
        text[strcspn(text, "\r\n")] = '\0';
    else if (!err->status)
        fault_system(err, path, ENOENT);
    return text;
}

/* ---- profiles ---- */

typedef struct {
    const char *name;           /* of the profile that is wanted */
    char *credentials, *config; /* whole files; NULL: not there */
    char credentials_path[PATH_MAX], config_path[PATH_MAX];
} profiles_t;

static void find_path(const char *name, const char *usual, char path[PATH_MAX]) {
    const char *given = variable(name), *home = variable("HOME");
    snprintf(path, PATH_MAX, "%s%s", given || !home ? "" : home, given ? given : usual);
}

static void close_profiles(profiles_t *profiles) {
    secret_free(profiles->credentials);
    secret_free(profiles->config);
}

static bool open_profiles(profiles_t *profiles, err_t *err) {
    const char *name = either("AWS_PROFILE", "AWS_DEFAULT_PROFILE");
    err->status = STATUS_OK;
    profiles->name = name ? name : "default";
    find_path("AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials", profiles->credentials_path);
    find_path("AWS_CONFIG_FILE", "/.aws/config", profiles->config_path);
    profiles->credentials = read_file(profiles->credentials_path, err);
    profiles->config = err->status ? NULL : read_file(profiles->config_path, err);
    if (err->status)
        close_profiles(profiles);
    return !err->status;
}

/* Is "[NAME]" or "[profile NAME]" what begins here? A config file has the second, except for the usual profile. */
static bool is_section(const char *at, bool in_config, const char *name) {
    static const char kind[] = "profile";
    const size_t length = strlen(name);
    at += 1 + strspn(at + 1, " \t");
    if (in_config && strncmp(at, kind, strlen(kind)) == 0 && isblank((unsigned char)at[strlen(kind)]))
        at += strlen(kind) + strspn(at + strlen(kind), " \t\"'");
    else if (in_config && strcmp(name, "default") != 0)
        return false;
    return strncmp(at, name, length) == 0 && at[length + strspn(at + length, " \t\"'")] == ']';
}

/* Finds "NAME = VALUE" in a profile of a file. NULL: there is none. A name of NULL finds the profile itself. */
static const char *find_in(const char *text, bool in_config, const char *profile, const char *name,
                           size_t *length) {
    bool inside = false;
    for (const char *line = text; line && *line; line += strspn(line, "\r\n")) {
        const char *at = line, *value = at + strcspn(at, "=\r\n"), *end = value + strcspn(value, "\r\n");
        line = end;
        if (*at == '[') {
            inside = is_section(at, in_config, profile);
            if (inside && !name)
                return at;
        }
        /* a line that is indented belongs to the value above it */
        if (!inside || !name || *value != '=' || strncmp(at, name, strlen(name)) != 0 ||
            at + strlen(name) + strspn(at + strlen(name), " \t") != value)
            continue;
        value += 1 + strspn(value + 1, " \t");
        while (end > value && isblank((unsigned char)end[-1]))
            end--;
        *length = (size_t)(end - value);
        return value;
    }
    return NULL;
}

static const char *find_value(const profiles_t *profiles, const char *name, size_t *length) {
    const char *value = find_in(profiles->credentials, false, profiles->name, name, length);
    return value ? value : find_in(profiles->config, true, profiles->name, name, length);
}

/* A new string; NULL: there is no such value, or no memory. */
static char *copy_value(const profiles_t *profiles, const char *name) {
    size_t length;
    const char *value = find_value(profiles, name, &length);
    return value ? strndup(value, length) : NULL;
}

bool s3_find_settings(s3_settings_t *settings, err_t *err) {
    profiles_t profiles;
    const char *region = either("AWS_REGION", "AWS_DEFAULT_REGION"),
               *endpoint = either("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL");
    size_t region_length = region ? strlen(region) : 0, length = endpoint ? strlen(endpoint) : 0;
    if (!open_profiles(&profiles, err))
        return false;
    region = region ? region : find_value(&profiles, "region", &region_length);
    endpoint = endpoint ? endpoint : find_value(&profiles, "endpoint_url", &length);
    while (length && endpoint[length - 1] == '/')
        length--;
    put(settings->region, sizeof settings->region, region, region_length);
    put(settings->endpoint, sizeof settings->endpoint, endpoint, length);
    close_profiles(&profiles);
    if (!*settings->region)
        strcpy(settings->region, "us-east-1");
    if (!is_clean(settings->region, sizeof settings->region))
        return err_set(err, STATUS_INPUT,
                       "s3: the region is too long, or has a blank in it: correct AWS_REGION");
    const char *address = strstr(settings->endpoint, "://");
    if (*settings->endpoint &&
        (strncmp(settings->endpoint, "http", 4) != 0 || !address || strpbrk(address, "@?#") ||
         !is_clean(settings->endpoint, sizeof settings->endpoint)))
        return err_set(
            err, STATUS_INPUT,
            "s3: the endpoint is not the URL of a server: set AWS_ENDPOINT_URL_S3 to https://HOST:PORT");
    return true;
}

/* ---- answers with a key ---- */

/* Seconds since 1970 of 2026-11-30T20:00:00Z, also with a fraction or +01:00; 0: it is none. */
static int64_t read_time(const char *text) {
    struct tm parts = {0};
    int hours = 0, minutes = 0;
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
    if (!rest)
        return 0;
    rest += strspn(rest, ".0123456789");
    sscanf(rest, "%3d:%2d", &hours, &minutes);
    minutes = *rest == '-' ? -minutes : minutes;
    return (int64_t)timegm(&parts) - hours * 3600 - minutes * 60;
}

/* Copies the text that a name has in JSON, in which no value is an object; "" if there is none. */
static void json_text(const char *json, const char *name, char *out, size_t room) {
    char quoted[32];
    const size_t length = (size_t)snprintf(quoted, sizeof quoted, "\"%s\"", name);
    *out = '\0';
    for (const char *at = json; (at = strstr(at, quoted)); at += length) {
        const char *from = at + length + strspn(at + length, " \t\r\n");
        if (*from != ':' || *(from += 1 + strspn(from + 1, " \t\r\n")) != '"')
            continue;
        size_t size = 0;
        for (from++; *from && *from != '"' && size + 1 < room; from++) {
            from += from[0] == '\\' && from[1]; /* a slash of base64 may be \/ */
            out[size++] = *from;
        }
        out[size] = '\0';
        return;
    }
}

/* Reads a key as processes, containers and instances print it, or STS in XML. */
static found_t read_key(const char *body, s3_key_t *key, const char *from, err_t *err) {
    char ends[64] = "";
    const struct {
        const char *name;
        char *to;
        size_t room;
    } rows[] = {{"AccessKeyId", key->id, sizeof key->id},
                {"SecretAccessKey", key->secret, sizeof key->secret},
                {"SessionToken", key->token, sizeof key->token},
                {"Token", key->token, sizeof key->token},
                {"Expiration", ends, sizeof ends}};
    const bool is_xml = body[strspn(body, " \t\r\n")] == '<';
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (*rows[i].to) /* a token has one of two names */
            continue;
        if (is_xml)
            s3_element(body, rows[i].name, rows[i].to, rows[i].room);
        else
            json_text(body, rows[i].name, rows[i].to, rows[i].room);
    }
    key->ends = read_time(ends);
    snprintf(key->from, sizeof key->from, "%s", from);
    if (*key->id && *key->secret)
        return FOUND;
    err_set(err, STATUS_INPUT, "s3: what came from %s has no AccessKeyId and SecretAccessKey in it", from);
    return FAILED;
}

typedef struct {
    const char *method, *url, *body;
    const char *header, *value; /* value NULL: no header */
    bool direct;                /* what is next to us is never asked through a proxy */
    bool may_be_gone;           /* nobody may be there: one second is enough */
} question_t;

/* The caller frees the answer in any case. */
static found_t ask(const question_t *question, const char *who, remote_answer_t *answer, err_t *err) {
    enum { MOST = 64 * 1024 };
    static const int64_t ANSWER_NS = 5000000000, GONE_NS = 1000000000;
    char code[80], message[300];
    remote_request_t request = {
        .method = question->method, .body = question->body, .direct = question->direct};
    *answer = (remote_answer_t){.status = 0};
    request.whole_ns = question->may_be_gone ? GONE_NS : ANSWER_NS;
    text_append(&request.url, question->url);
    if (question->value)
        text_print(&request.headers, "%s: %s\n", question->header, question->value);
    if (!transport_send(&request, MOST, answer, err))
        return FAILED;
    if (answer->status == 200 && answer->body.length)
        return FOUND;
    s3_element(answer->body.bytes, "Code", code, sizeof code);
    s3_element(answer->body.bytes, "Message", message, sizeof message);
    if (answer->status)
        err_set(err, STATUS_INPUT, "s3: there is no key from %s, which answered %u%s%s%s%s", who,
                answer->status, *code ? " " : "", code, *message ? " " : "", message);
    else
        err_set(err, STATUS_INPUT, "s3: there is no key from %s: %.500s", who, answer->why.text);
    return answer->status && answer->status < 500 ? FAILED : PASSES;
}

static found_t ask_for_key(const question_t *question, const char *who, s3_key_t *key, err_t *err) {
    remote_answer_t answer;
    found_t found = ask(question, who, &answer, err);
    if (found == FOUND)
        found = read_key(answer.body.bytes, key, who, err);
    transport_free_answer(&answer);
    return found;
}

/* The first line of an answer. */
static found_t ask_for_line(const question_t *question, const char *who, char *out, size_t room, err_t *err) {
    remote_answer_t answer;
    const found_t found = ask(question, who, &answer, err);
    snprintf(out, room, "%s", found == FOUND ? answer.body.bytes : "");
    out[strcspn(out, "\r\n")] = '\0';
    transport_free_answer(&answer);
    return found;
}

/* ---- places of keys ---- */

static found_t from_environment(s3_key_t *key, err_t *err) {
    const char *id = variable("AWS_ACCESS_KEY_ID"), *secret = variable("AWS_SECRET_ACCESS_KEY"),
               *token = variable("AWS_SESSION_TOKEN");
    if (!id && !secret)
        return NOT_THERE;
    if (!id || !secret) {
        err_set(err, STATUS_INPUT, "s3: %s is set without %s: set both of them, or neither",
                id ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY",
                id ? "AWS_SECRET_ACCESS_KEY" : "AWS_ACCESS_KEY_ID");
        return FAILED;
    }
    put(key->from, sizeof key->from, "the environment (AWS_ACCESS_KEY_ID)", sizeof key->from);
    put(key->id, sizeof key->id, id, sizeof key->id);
    put(key->secret, sizeof key->secret, secret, sizeof key->secret);
    put(key->token, sizeof key->token, token, sizeof key->token);
    return FOUND;
}

/* The key of a role, which the security token service (STS) gives for the token in a file. */
static found_t by_web_identity(const char *file, const char *role, const char *session, s3_key_t *key,
                               err_t *err) {
    s3_settings_t settings;
    text_t body = {0};
    char url[600], who[300];
    const char *endpoint = either("AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL");
    char *token = s3_find_settings(&settings, err) ? read_token(file, err) : NULL;
    if (!token)
        return FAILED;
    text_grow(&body, 4 * strlen(token) + 8192); /* now, since what grows later leaves a copy of the token */
    text_append(&body, "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=");
    s3_encode(&body, role, false);
    text_append(&body, "&RoleSessionName=");
    s3_encode(&body, session ? session : "tipple", false);
    text_append(&body, "&WebIdentityToken=");
    s3_encode(&body, token, false);
    secret_free(token);
    if (endpoint)
        snprintf(url, sizeof url, "%s", endpoint);
    else
        snprintf(url, sizeof url, "https://sts.%s.amazonaws.com/", settings.region);
    snprintf(who, sizeof who, "role %.250s", role);
    const question_t question = {.method = "POST", .url = url, .body = body.bytes};
    found_t found = FAILED;
    if (body.lacking)
        err_memory(err, body.lacking);
    else
        found = ask_for_key(&question, who, key, err);
    secret_free_text(&body);
    return found;
}

static found_t from_web_identity(s3_key_t *key, err_t *err) {
    const char *file = variable("AWS_WEB_IDENTITY_TOKEN_FILE"), *role = variable("AWS_ROLE_ARN");
    return file && role ? by_web_identity(file, role, variable("AWS_ROLE_SESSION_NAME"), key, err)
                        : NOT_THERE;
}

static found_t by_process(const char *command, const char *who, s3_key_t *key, err_t *err) {
    text_t line = {0};
    text_print(&line, "exec </dev/null\n%s", command); /* stdin may have records */
    FILE *process = line.lacking ? NULL : popen(line.bytes, "re");
    char *printed = process ? read_secret(fileno(process), who, err) : NULL;
    found_t found = FAILED;
    if (!process || (printed && pclose(process) > 0)) /* the end of one that hangs is not waited for */
        err_set(err, STATUS_INPUT, "s3: %s failed: run its command by hand to see why", who);
    else if (printed)
        found = read_key(printed, key, who, err);
    secret_free(printed);
    text_free(&line);
    return found;
}

static found_t from_opened(const profiles_t *profiles, s3_key_t *key, err_t *err) {
    size_t id_length, secret_length, length, token_length = 0;
    const char *name = profiles->name, *id = find_value(profiles, "aws_access_key_id", &id_length),
               *secret = find_value(profiles, "aws_secret_access_key", &secret_length),
               *token = find_value(profiles, "aws_session_token", &token_length);
    char *role = copy_value(profiles, "role_arn"), *file = copy_value(profiles, "web_identity_token_file"),
         *process = copy_value(profiles, "credential_process"), who[200];
    found_t found = NOT_THERE;
    const bool in_first = find_in(profiles->credentials, false, name, NULL, &length),
               in_second = find_in(profiles->config, true, name, NULL, &length),
               needs_command = role || find_value(profiles, "sso_account_id", &length);
    if (role && file) {
        found = by_web_identity(file, role, NULL, key, err);
    } else if (id && secret && !role) {
        snprintf(key->from, sizeof key->from, "profile '%.60s' of %.200s", name,
                 in_first ? profiles->credentials_path : profiles->config_path);
        put(key->id, sizeof key->id, id, id_length);
        put(key->secret, sizeof key->secret, secret, secret_length);
        put(key->token, sizeof key->token, token, token_length);
        found = FOUND;
    } else if (process) {
        snprintf(who, sizeof who, "credential_process of profile '%.60s'", name);
        found = by_process(process, who, key, err);
    } else if (needs_command || (!in_first && !in_second && strcmp(name, "default") != 0)) {
        found = FAILED;
        if (needs_command)
            err_set(err, STATUS_INPUT,
                    "s3: the key of profile '%.60s' comes by SSO or by a role of another profile: add a "
                    "profile to %.300s with the line 'credential_process = aws configure "
                    "export-credentials --profile %.60s', and name that one in AWS_PROFILE",
                    name, profiles->config_path, name);
        else
            err_set(err, STATUS_INPUT,
                    "s3: there is no profile '%.60s' in %.300s or %.300s: correct AWS_PROFILE", name,
                    profiles->credentials_path, profiles->config_path);
    }
    free(role);
    free(file);
    free(process);
    return found;
}

static found_t from_profile(s3_key_t *key, err_t *err) {
    profiles_t profiles;
    if (!open_profiles(&profiles, err))
        return FAILED;
    const found_t found = from_opened(&profiles, key, err);
    close_profiles(&profiles);
    return found;
}

static found_t from_container(s3_key_t *key, err_t *err) {
    const char *relative = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"),
               *whole = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI"),
               *file = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
    char url[2048], *token = NULL;
    if (!relative && !whole)
        return NOT_THERE;
    snprintf(url, sizeof url, "%s%s", relative ? "http://169.254.170.2" : "", relative ? relative : whole);
    if (file && !(token = read_token(file, err)))
        return FAILED;
    const question_t question = {.method = "GET",
                                 .url = url,
                                 .header = "Authorization",
                                 .value = token ? token : variable("AWS_CONTAINER_AUTHORIZATION_TOKEN"),
                                 .direct = true};
    const found_t found = ask_for_key(&question, "this container's credentials", key, err);
    secret_free(token);
    return found;
}

/* Asks version 2 of the metadata service. Elsewhere than on Amazon's instances nobody is there. */
static found_t from_instance(s3_key_t *key, err_t *err) {
    const char *disabled = variable("AWS_EC2_METADATA_DISABLED"),
               *endpoint = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    char base[512], url[1024], token[512], role[128], who[200];
    if (disabled && strcasecmp(disabled, "true") == 0)
        return NOT_THERE;
    snprintf(base, sizeof base, "%s", endpoint ? endpoint : "http://169.254.169.254");
    base[strlen(base) - (base[strlen(base) - 1] == '/')] = '\0';
    snprintf(url, sizeof url, "%s/latest/api/token", base);
    question_t question = {.method = "PUT",
                           .url = url,
                           .header = "X-aws-ec2-metadata-token-ttl-seconds",
                           .value = "21600",
                           .direct = true,
                           .may_be_gone = true};
    found_t found = ask_for_line(&question, "this instance", token, sizeof token, err);
    if (found == FOUND) {
        snprintf(url, sizeof url, "%s/latest/meta-data/iam/security-credentials/", base);
        question.method = "GET";
        question.header = "X-aws-ec2-metadata-token";
        question.value = token;
        found = ask_for_line(&question, "this instance", role, sizeof role, err);
    }
    if (found == FOUND) {
        snprintf(who, sizeof who, "role %.100s of this instance", role);
        strncat(url, role, sizeof url - strlen(url) - 1);
        question.may_be_gone = false;
        found = ask_for_key(&question, who, key, err);
    } else if (err->status == STATUS_INPUT) {
        found = NOT_THERE;
    }
    explicit_bzero(token, sizeof token);
    return found;
}

bool s3_find_key(s3_key_t *key, err_t *err) {
    enum { TRIES = 3 };
    static found_t (*const places[])(s3_key_t *, err_t *) = {from_environment, from_web_identity,
                                                             from_profile, from_container, from_instance};
    found_t found = PASSES;
    for (int i = 0; found == PASSES && i < TRIES; i++) {
        found = NOT_THERE;
        for (size_t place = 0; found == NOT_THERE && place < COUNT(places); place++) {
            explicit_bzero(key, sizeof *key);
            err->status = STATUS_OK;
            found = places[place](key, err);
        }
    }
    if (found == FOUND && !(is_clean(key->id, sizeof key->id) && is_clean(key->secret, sizeof key->secret) &&
                            is_clean(key->token, sizeof key->token))) {
        err_set(err, STATUS_INPUT,
                "s3: the key of %s is too long, or has a blank or a line end in it: correct it", key->from);
        found = FAILED;
    }
    if (found != FOUND)
        explicit_bzero(key, sizeof *key);
    return found == FOUND || found == NOT_THERE;
}
