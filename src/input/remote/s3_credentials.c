/* Keys to sign with, and settings, from where Amazon's own programs have them. The first place that has a key decides: if
 * it has one and does not give it out, that is a failure. */
#include "base/clock.h"
#include "base/stop.h"
#include "format/values/values.h"
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
#include <unistd.h>

typedef enum { NOT_THERE, FOUND, FAILED, PASSES /* failed, but may be tried again */ } found_t;

/* The variable's text; NULL: it is not set, or empty. */
static const char *variable(const char *name) {
    const char *text = name ? getenv(name) : NULL;
    return text && *text ? text : NULL;
}

static const char *either(const char *first, const char *second) {
    return variable(first) ? variable(first) : variable(second);
}

/* Copies a text, or nothing; whether it fitted is found by is_clean. */
static void put(char *to, size_t room, const char *text) {
    snprintf(to, room, "%s", text ? text : "");
}

/* Did the text fit, and may it stand in a line of a request? */
static bool is_clean(const char *text, size_t room) {
    size_t length = 0;
    while ((unsigned char)text[length] > ' ' && text[length] != 0x7F)
        length++;
    return !text[length] && length + 1 < room;
}

/* The beginning of what comes, not by stdio, which has buffers of its own. What prints it may hang. NULL: *err says why; otherwise
 * for secret_free. */
static char *read_secret(int fd, const char *name, err_t *err) {
    enum { MOST = 1 << 20, STEP_MS = 100 };
    const int64_t until_ns = clock_now_ns() + 60 * INT64_C(1000000000);
    struct pollfd waits = {.fd = fd, .events = POLLIN};
    char *text = secret_calloc(1, MOST + 1);
    bool ok = text || err_memory(err, MOST);
    ssize_t got = 1;
    for (size_t length = 0; ok && got && length < MOST;) {
        if (poll(&waits, 1, STEP_MS) > 0) {
            got = read(fd, text + length, MOST - length);
            ok = got >= 0 || fault_system(err, name, errno);
            length += ok ? (size_t)got : 0;
        } else if (stop_signal()) {
            ok = stop_interrupted(err);
        } else if (clock_now_ns() > until_ns) {
            ok = err_set(err, STATUS_INPUT,
                         "s3: %s printed no key within 60 s: run its command by hand to see why", name);
        }
    }
    if (ok)
        return text;
    secret_free(text);
    return NULL;
}

/* The same for a file. NULL with status 0 of *err: there is none, and it is not needed. */
static char *read_file(const char *path, bool is_needed, err_t *err) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text = fd < 0 ? NULL : read_secret(fd, path, err);
    if (fd >= 0)
        close(fd);
    else if (is_needed || (errno != ENOENT && errno != ENOTDIR))
        fault_system(err, path, errno);
    return text;
}

/* The first line of a file that must be there, for secret_free. */
static char *read_token(const char *path, err_t *err) {
    char *text = read_file(path, true, err);
    if (text)
        text[strcspn(text, "\r\n")] = '\0';
    return text;
}

/* ---- profiles ---- */

enum { REGION, ENDPOINT, ID, SECRET, TOKEN, ROLE, ROLE_TOKEN, PROCESS, SSO, VALUES };

/* What the environment and profiles may say that counts here: variables, the first of which wins, and the line of a profile. */
static const struct {
    const char *line, *variable, *other;
} names[VALUES] = {
    {"region", "AWS_REGION", "AWS_DEFAULT_REGION"},
    {"endpoint_url", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"},
    {"aws_access_key_id", "AWS_ACCESS_KEY_ID", NULL},
    {"aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", NULL},
    {"aws_session_token", "AWS_SESSION_TOKEN", NULL},
    {"role_arn", "AWS_ROLE_ARN", NULL},
    {"web_identity_token_file", "AWS_WEB_IDENTITY_TOKEN_FILE", NULL},
    {"credential_process", NULL, NULL},
    {"sso_account_id", NULL, NULL},
};

typedef struct {
    const char *variable, *usual; /* its path, and its path below HOME */
    bool in_config;
} profile_file_t;

static const profile_file_t profile_files[] = {{"AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials", false},
                                               {"AWS_CONFIG_FILE", "/.aws/config", true}};

typedef struct {
    const char *name; /* of the profile that is wanted */
    char paths[COUNT(profile_files)][PATH_MAX];
    char *texts[COUNT(profile_files)]; /* whole files; NULL: not there */
    const char *home;                  /* the path of the first file that has the profile; NULL: none */
    const char *values[VALUES]; /* in the texts: the value from the first file that has the line; or NULL */
} profile_t;

/* True if "[NAME]" or "[profile NAME]" begins here. A config file has the second, except for the usual profile. */
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

/* Takes the values of the profile from a file: ends each in its text. A line that is indented belongs to the value above it. */
static void take_values(profile_t *profile, size_t file) {
    bool inside = false;
    char *rest = profile->texts[file];
    for (char *line; (line = strsep(&rest, "\r\n"));) {
        if (*line == '[') {
            inside = is_section(line, profile_files[file].in_config, profile->name);
            profile->home = inside && !profile->home ? profile->paths[file] : profile->home;
        }
        char *name_end = line + strcspn(line, " \t="), *value = name_end + strspn(name_end, " \t");
        if (!inside || *value != '=')
            continue;
        value += 1 + strspn(value + 1, " \t");
        for (char *end = strchr(value, '\0'); end > value && isblank((unsigned char)end[-1]); end--)
            end[-1] = '\0';
        *name_end = '\0';
        for (size_t i = 0; i < VALUES; i++)
            if (!profile->values[i] && strcmp(line, names[i].line) == 0)
                profile->values[i] = value;
    }
}

static void close_profile(profile_t *profile) {
    for (size_t i = 0; i < COUNT(profile_files); i++)
        secret_free(profile->texts[i]);
}

static bool open_profile(profile_t *profile, err_t *err) {
    const char *name = either("AWS_PROFILE", "AWS_DEFAULT_PROFILE"), *home = variable("HOME");
    *profile = (profile_t){.name = name ? name : "default"};
    err->status = STATUS_OK;
    for (size_t i = 0; i < COUNT(profile_files) && !err->status; i++) {
        const char *given = variable(profile_files[i].variable);
        snprintf(profile->paths[i], PATH_MAX, "%s%s", given || !home ? "" : home,
                 given ? given : profile_files[i].usual);
        profile->texts[i] = read_file(profile->paths[i], false, err);
        take_values(profile, i);
    }
    if (err->status)
        close_profile(profile);
    return !err->status;
}

bool s3_find_settings(s3_settings_t *settings, err_t *err) {
    profile_t profile;
    const char *region = either(names[REGION].variable, names[REGION].other),
               *endpoint = either(names[ENDPOINT].variable, names[ENDPOINT].other);
    if (!open_profile(&profile, err))
        return false;
    put(settings->region, sizeof settings->region, region ? region : profile.values[REGION]);
    put(settings->endpoint, sizeof settings->endpoint, endpoint ? endpoint : profile.values[ENDPOINT]);
    close_profile(&profile);
    for (char *end = strchr(settings->endpoint, '\0'); end > settings->endpoint && end[-1] == '/'; end--)
        end[-1] = '\0';
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

/* Seconds since 1970 of 2026-11-30T20:00:00Z, also with a fraction, which is cut out, or +01:00; 0: it is none. */
static int64_t read_time(char *text) {
    char *fraction = text + strcspn(text, "."), *zone = fraction + strspn(fraction, ".0123456789");
    int64_t ms;
    memmove(fraction, zone, strlen(zone) + 1);
    return calendar_moment((const uint8_t *)text, strlen(text), false, &ms) ? ms / 1000 : 0;
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
    for (size_t i = 0; i < COUNT(rows); i++)
        if (!*rows[i].to) /* a token has one of two names */
            s3_element(body, rows[i].name, rows[i].to, rows[i].room);
    snprintf(key->from, sizeof key->from, "%s", from);
    if (*ends && !(key->ends = read_time(ends)))
        err_set(err, STATUS_INPUT, "s3: the Expiration of the key from %s is no time (%s)", from, ends);
    else if (*key->id && *key->secret)
        return FOUND;
    else
        err_set(err, STATUS_INPUT, "s3: what came from %s has no AccessKeyId and SecretAccessKey in it",
                from);
    return FAILED;
}

/* How long an answer may take; and where the service may not exist. */
static const int64_t ANSWER_NS = 5000000000, GONE_NS = 1000000000;

/* Sends a question, and gets all of its answer, which the caller frees in any case. A service whose answer is begun and
 * not ended does exist: STATUS_SERVER. */
static found_t ask(remote_request_t *request, const char *who, remote_answer_t *answer, err_t *err) {
    enum { MOST = 64 * 1024 };
    char code[80];
    if (!transport_send(request, MOST, answer, err))
        return FAILED;
    if (answer->status == 200 && answer->body.length)
        return FOUND;
    s3_element(answer->body.bytes, "Code", code, sizeof code);
    if (answer->status)
        err_set(err, STATUS_INPUT, "s3: there is no key from %s, which answered %u%s%s", who, answer->status,
                *code ? " " : "", code);
    else
        err_set(err, answer->headers.length ? STATUS_SERVER : STATUS_INPUT,
                "s3: there is no key from %s: %.500s", who, answer->why.text);
    return answer->status && answer->status < 500 ? FAILED : PASSES;
}

static found_t ask_key(remote_request_t *request, const char *who, s3_key_t *key, err_t *err) {
    remote_answer_t answer = {.status = 0};
    found_t found = ask(request, who, &answer, err);
    if (found == FOUND)
        found = read_key(answer.body.bytes, key, who, err);
    transport_free_answer(&answer);
    return found;
}

/* ---- places of keys ---- */

/* The key of a role, which the security token service (STS) gives for the token in a file. */
static found_t by_web_identity(const char *file, const char *role, s3_key_t *key, err_t *err) {
    s3_settings_t settings;
    remote_request_t request = {.method = "POST", .whole_ns = ANSWER_NS};
    text_t *body = &request.body;
    char who[300];
    const char *endpoint = either("AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL"),
               *session = variable("AWS_ROLE_SESSION_NAME");
    char *token = s3_find_settings(&settings, err) ? read_token(file, err) : NULL;
    if (!token)
        return FAILED;
    text_grow(body, 4 * strlen(token) + 8192); /* now, since what grows later leaves a copy of the token */
    text_append(body, "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=");
    s3_encode(body, role, false);
    text_append(body, "&RoleSessionName=");
    s3_encode(body, session ? session : "tipple", false);
    text_append(body, "&WebIdentityToken=");
    s3_encode(body, token, false);
    secret_free(token);
    if (endpoint)
        text_append(&request.url, endpoint);
    else
        text_print(&request.url, "https://sts.%s.amazonaws.com/", settings.region);
    snprintf(who, sizeof who, "role %.250s", role);
    return ask_key(&request, who, key, err);
}

/* What the environment or a profile says: a key, or a role and the file of its token. In a profile the role wins. */
static found_t by_values(const char *const *values, bool is_profile, s3_key_t *key, err_t *err) {
    if (values[ID] && values[SECRET] && !(is_profile && values[ROLE])) {
        put(key->id, sizeof key->id, values[ID]);
        put(key->secret, sizeof key->secret, values[SECRET]);
        put(key->token, sizeof key->token, values[TOKEN]);
        return FOUND;
    }
    return values[ROLE] && values[ROLE_TOKEN] ? by_web_identity(values[ROLE_TOKEN], values[ROLE], key, err)
                                              : NOT_THERE;
}

static found_t from_environment(s3_key_t *key, err_t *err) {
    const char *values[VALUES];
    for (size_t i = 0; i < VALUES; i++)
        values[i] = either(names[i].variable, names[i].other);
    if (!values[ID] != !values[SECRET]) {
        err_set(err, STATUS_INPUT, "s3: %s is set without %s: set both of them, or neither",
                names[values[ID] ? ID : SECRET].variable, names[values[ID] ? SECRET : ID].variable);
        return FAILED;
    }
    put(key->from, sizeof key->from, "the environment (AWS_ACCESS_KEY_ID)");
    return by_values(values, false, key, err);
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

static found_t by_profile(const profile_t *profile, s3_key_t *key, err_t *err) {
    const char *name = profile->name, *const *values = profile->values;
    char who[200];
    snprintf(key->from, sizeof key->from, "profile '%.60s' of %.200s", name,
             profile->home ? profile->home : "");
    const found_t found = by_values(values, true, key, err);
    if (found != NOT_THERE)
        return found;
    if (values[PROCESS]) {
        snprintf(who, sizeof who, "credential_process of profile '%.60s'", name);
        return by_process(values[PROCESS], who, key, err);
    }
    if (values[ROLE] || values[SSO])
        err_set(err, STATUS_INPUT,
                "s3: the key of profile '%.60s' comes by SSO or by a role of another profile: add a "
                "profile to %.300s with the line 'credential_process = aws configure "
                "export-credentials --profile %.60s', and name that one in AWS_PROFILE",
                name, profile->paths[1], name);
    else if (!profile->home && strcmp(name, "default") != 0)
        err_set(err, STATUS_INPUT, "s3: there is no profile '%.60s' in %.300s or %.300s: correct AWS_PROFILE",
                name, profile->paths[0], profile->paths[1]);
    else
        return NOT_THERE;
    return FAILED;
}

static found_t from_profile(s3_key_t *key, err_t *err) {
    profile_t profile;
    if (!open_profile(&profile, err))
        return FAILED;
    const found_t found = by_profile(&profile, key, err);
    close_profile(&profile);
    return found;
}

static found_t from_container(s3_key_t *key, err_t *err) {
    const char *relative = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"),
               *whole = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI"),
               *file = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
    char *token = NULL;
    remote_request_t request = {.method = "GET", .direct = true, .whole_ns = ANSWER_NS};
    if (!relative && !whole)
        return NOT_THERE;
    if (file && !(token = read_token(file, err)))
        return FAILED;
    const char *authorization = token ? token : variable("AWS_CONTAINER_AUTHORIZATION_TOKEN");
    text_print(&request.url, "%s%s", relative ? "http://169.254.170.2" : "", relative ? relative : whole);
    if (authorization)
        text_print(&request.headers, "Authorization: %s\n", authorization);
    secret_free(token);
    return ask_key(&request, "this container's credentials", key, err);
}

/* Asks version 2 of the metadata service for a token, with that for the name of a role, and with both for its key. Elsewhere than
 * on Amazon's instances nobody is there. */
static found_t from_instance(s3_key_t *key, err_t *err) {
    enum { OF_TOKEN, OF_ROLE, OF_KEY };
    const char *disabled = variable("AWS_EC2_METADATA_DISABLED"),
               *named = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT"),
               *endpoint = named ? named : "http://169.254.169.254",
               *slash = endpoint[strlen(endpoint) - 1] == '/' ? "" : "/";
    char lines[OF_KEY][512] = {"", ""}, who[200] = "this instance";
    const bool is_disabled = disabled && strcasecmp(disabled, "true") == 0;
    found_t found = is_disabled ? NOT_THERE : FOUND;
    for (size_t step = OF_TOKEN; found == FOUND && step <= OF_KEY; step++) {
        const bool first = step == OF_TOKEN;
        remote_answer_t answer = {.status = 0};
        remote_request_t request = {
            .method = first ? "PUT" : "GET", .direct = true, .whole_ns = step < OF_KEY ? GONE_NS : ANSWER_NS};
        text_print(&request.url, "%s%slatest/%s%s", endpoint, slash,
                   first ? "api/token" : "meta-data/iam/security-credentials/", lines[OF_ROLE]);
        text_print(&request.headers, "X-aws-ec2-metadata-token%s%s\n", first ? "-ttl-seconds: 21600" : ": ",
                   lines[OF_TOKEN]);
        if (step == OF_KEY)
            snprintf(who, sizeof who, "role %.100s of this instance", lines[OF_ROLE]);
        found = ask(&request, who, &answer, err);
        if (found == FOUND && step == OF_KEY)
            found = read_key(answer.body.bytes, key, who, err);
        else if (found == FOUND)
            snprintf(lines[step], sizeof lines[step], "%.*s", (int)strcspn(answer.body.bytes, "\r\n"),
                     answer.body.bytes);
        else if (step < OF_KEY && err->status == STATUS_INPUT)
            found = NOT_THERE;
        transport_free_answer(&answer);
    }
    explicit_bzero(lines, sizeof lines);
    return found;
}

bool s3_find_key(s3_key_t *key, err_t *err) {
    enum { TRIES = 3 };
    static found_t (*const places[])(s3_key_t *, err_t *) = {from_environment, from_profile, from_container,
                                                             from_instance};
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
