/* From the arguments of a command to the files that they stand for: a file, a folder, a pattern, a stream, an archive. */
#include "base/log.h"
#include "base/text.h"
#include "input/build.h"
#include "input/file/fault.h"
#include "input/file/name.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- files and folders ---- */

/* Takes ownership of name. */
static bool add_regular(build_t *build, const char *path, char *name, bool in_walk) {
    identified_t *known = build->identified;
    magic_is_t is;
    build->identified = NULL;
    origin_t origin = origin_none;
    input_file_t *file = build_add(build, path, name);
    if (!file)
        return false;
    bool ok = known || identify_file(&build->own, path, &origin, file, &is);
    if (known) {
        char *own_path = file->path;
        is = known->is;
        *file = known->file;
        build->own.head = known->head;
        known->file.object = NULL;
        file->path = own_path;
        file->name = name;
    }
    if (ok && file->in_order && !build->options->quiet)
        log_note("%s: its server gives no ranges: it is read in order by one connection, and once more from "
                 "its start after a stop",
                 name);
    if (ok && is == MAGIC_REJECTS)
        ok = build_leave_out_rejects(build, in_walk);
    else if (ok && is >= MAGIC_ZIP)
        ok = (file = build_set_aside(build)) && members_add(build, &origin, file, is);
    else if (ok) {
        build_keep_head(build, file);
        ok = dumps_metadata(path, &file->metadata, build->err);
    }
    origin_close(&origin);
    return ok;
}

static const int64_t PATIENCE_NS = 60 * INT64_C(1000000000);

typedef bool take_fn(build_t *build, const void *context, const char *path);

/* Takes paths in order. Several threads identify the files of a portion before its paths are taken. */
static bool take_each(build_t *build, char *const *paths, size_t count, take_fn *take, const void *context) {
    enum { PORTION = 256, LEAST_FILES = 64, LEAST_OBJECTS = 2 /* a server answers several at once */ };
    identified_t *files = NULL;
    bool ok = true;
    for (size_t from = 0; ok && from < count; from += PORTION) {
        const size_t rest = count - from, portion = rest < PORTION ? rest : PORTION,
                     least = remote_is(paths[from]) ? LEAST_OBJECTS : LEAST_FILES;
        const bool ahead = portion >= least && (files || (files = malloc(PORTION * sizeof *files)));
        ok = !ahead || identify_ahead(&build->own, paths + from, files, portion);
        for (size_t i = 0; ok && i < portion; i++) {
            build->identified = ahead && files[i].known ? &files[i] : NULL;
            ok = take(build, context, paths[from + i]);
        }
        for (size_t i = 0; ahead && i < portion; i++)
            identify_forget(&files[i]);
    }
    build->identified = NULL;
    free(files);
    return ok;
}

static int is_entry(const struct dirent *entry) {
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static bool take_entry(build_t *build, const void *is_dump, const char *path) {
    const char *why = name_reason_to_skip(strrchr(path, '/') + 1, NULL, true, false);
    if (!why)
        return dumps_take(build, *(const bool *)is_dump, path);
    build_skip(build, path, why);
    return true;
}

static bool add_folder(build_t *build, const char *path) {
    struct dirent **names = NULL;
    const int found = scandir(path, &names, is_entry, alphasort);
    const size_t count = found < 0 ? 0 : (size_t)found;
    const char *slash = path[strlen(path) - 1] == '/' ? "" : "/";
    char **paths = calloc(count + 1, sizeof *paths);
    bool ok = (found >= 0 || fault_system(build->err, path, errno)) &&
              (paths || err_memory(build->err, count * sizeof *paths));
    build->several = true;
    for (size_t i = 0; ok && i < count; i++) {
        if (asprintf(&paths[i], "%s%s%s", path, slash, names[i]->d_name) < 0)
            paths[i] = NULL;
        ok = paths[i] || err_memory(build->err, PATH_MAX);
        ok = ok && (strlen(paths[i]) < PATH_MAX || fault_system(build->err, path, ENAMETOOLONG));
    }
    const bool is_dump = ok && dumps_are_in(names, found);
    ok = ok && take_each(build, paths, count, take_entry, &is_dump);
    for (size_t i = 0; i < count; i++) {
        free(names[i]);
        free(paths ? paths[i] : NULL);
    }
    free(paths);
    free(names);
    return ok;
}

/* Takes ownership of name. */
static input_file_t *add_stream(build_t *build, const char *path, char *name) {
    input_file_t *file = build_add(build, path, name);
    if (file)
        file->kind = INPUT_STREAM;
    return file;
}

static char *clean_name(const char *path) {
    char *clean = name_clean(path), *name = clean ? name_join(NULL, NULL, clean, strlen(clean)) : NULL;
    free(clean);
    return name;
}

/* Adds a file, folder or pipe that exists. */
static bool add_existing(build_t *build, const char *path, const struct stat *status, bool in_walk) {
    const bool is_stdin = strcmp(path, "-") == 0, is_file = S_ISREG(status->st_mode) && !is_stdin;
    const char *last = strrchr(path, '/');
    const char *why = is_stdin                   ? NULL
                      : !in_walk                 ? name_reason_to_skip(path, NULL, false, true)
                      : S_ISDIR(status->st_mode) ? NULL
                      : !is_file                 ? "neither a file nor a folder"
                                                 : name_reason_to_skip(last + 1, NULL, true, true);
    char *name = clean_name(path);
    bool is_new = false, ok = name || err_memory(build->err, strlen(path));
    if (ok && why)
        build_skip(build, name, why);
    else if (ok)
        ok = build_meet(build, status, name, &is_new);
    if (is_new && is_file)
        return add_regular(build, path, name, in_walk);
    if (is_new && S_ISDIR(status->st_mode))
        ok = is_stdin ? fault_system(build->err, "standard input", EISDIR) : add_folder(build, path);
    else if (is_new && S_ISSOCK(status->st_mode) && !is_stdin)
        ok = fault_system(build->err, name, ENXIO);
    else if (is_new)
        return add_stream(build, path, name);
    free(name);
    return ok;
}

/* ---- patterns ---- */

/* How many parts of a path, or of a pattern, are "." or "..", there perhaps as "\." */
static size_t dots(const char *path) {
    size_t count = 0;
    for (size_t length; *path; path += length + strspn(path + length, "/")) {
        length = strcspn(path, "/");
        count += length && (length <= 2 || *path == '\\') && strspn(path, ".\\") == length;
    }
    return count;
}

static bool take_found(build_t *build, const void *pattern, const char *path) {
    return dots(path) > dots(pattern) || walk_path(build, path, false);
}

/* Adds what the system finds, by name, but no "." and ".." that a ".*" has found. "**", which some shells know, would find less
 * than is meant. */
static bool add_pattern(build_t *build, const char *pattern) {
    glob_t found = {.gl_pathc = 0};
    bool any = false;
    build->several = true;
    errno = 0; /* glob takes a folder of which the rest cannot be read for a shorter one */
    const int result = strstr(pattern, "**") ? GLOB_NOMATCH : glob(pattern, GLOB_ERR, NULL, &found);
    bool ok = result == GLOB_ABORTED || errno == EIO
                  ? fault_system(build->err, pattern, errno)
                  : result != GLOB_NOSPACE || err_memory(build->err, sizeof found);
    ok = ok && take_each(build, found.gl_pathv, found.gl_pathc, take_found, pattern);
    for (size_t i = 0; i < found.gl_pathc; i++)
        any |= dots(found.gl_pathv[i]) <= dots(pattern);
    globfree(&found);
    return ok &&
           (any ||
            err_set(build->err, STATUS_INPUT,
                    "%.1000s: no file matches this pattern; check the folder and the name%s", pattern,
                    strstr(pattern, "**") ? " (there is no '**': a folder is read with all that is below it)"
                                          : ""));
}

/* ---- arguments ---- */

/* A stdin that was closed when we were started is open only for writing (main.c). */
static bool stdin_tells(struct stat *status) {
    const int flags = fcntl(STDIN_FILENO, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != O_WRONLY && fstat(STDIN_FILENO, status) == 0;
}

static bool add_member(build_t *build, const char *path, const char *archive) {
    const manifest_t *manifest = build->manifest;
    const size_t count = manifest->count;
    build->member = path + strlen(archive) + 1;
    bool ok = walk_path(build, archive, false);
    if (ok && (manifest->count == count || manifest->files[count].kind != INPUT_DUMP))
        ok = err_set(
            build->err, STATUS_INPUT,
            "%.1000s: only a collection of an archive of mongodump is named after a '!', one at a time. "
            "Members of a zip or a tar are taken together, by the name of the archive; or one is piped in: "
            "unzip -p or tar -xOf ARCHIVE MEMBER | tipple load --input-name NAME -; a later load of the "
            "archive loads that member again",
            path);
    build->member = NULL;
    return ok;
}

/* ---- URLs ---- */

static bool take_object(build_t *build, const void *none, const char *url) {
    (void)none;
    return walk_path(build, url, true);
}

/* Adds all objects of a prefix or a pattern. */
static bool add_objects(build_t *build, const char *url) {
    remote_urls_t found = {.count = 0};
    build->several = true;
    const bool ok = remote_list(url, build->own.patience_ns, &found, build->err) &&
                    take_each(build, found.urls, found.count, take_object, NULL);
    remote_free_urls(&found);
    return ok;
}

static bool add_url(build_t *build, const char *url, bool in_walk) {
    if (!in_walk && remote_is_several(url))
        return add_objects(build, url);
    char *shown = remote_shown(url, build->err), *name = shown ? clean_name(shown) : NULL;
    const char *why = name ? name_reason_to_skip(strrchr(shown, '/') + 1, NULL, in_walk, true) : NULL;
    bool is_new = false, ok = name;
    if (ok && why) {
        build_skip(build, name, why);
    } else if (ok) {
        const struct stat status = identify_object(shown);
        ok = build_meet(build, &status, name, &is_new);
    }
    if (is_new)
        ok = add_regular(build, shown, name, in_walk);
    else
        free(name);
    free(shown);
    return ok;
}

/* What is named after the last '!' may be a collection of an archive of mongodump, unless there is an object of the whole name. */
static bool add_url_or_member(build_t *build, const char *url, bool in_walk) {
    const size_t from = build->manifest->count;
    const bool added = add_url(build, url, in_walk);
    const char *cut = added || in_walk ? NULL : strrchr(url, '!');
    char *archive = cut && build->err->status == STATUS_INPUT ? strndup(url, (size_t)(cut - url)) : NULL;
    while (archive && build->manifest->count > from)
        build_remove(build, build->manifest->count - 1);
    const err_t why = *build->err;
    const bool ok = archive ? add_member(build, url, archive) : added;
    if (!ok && build->manifest->count > from && build->manifest->files[from].fault)
        *build->err = why; /* there is no such archive either */
    free(archive);
    return ok;
}

/* A query may be a signature, so it is not shown. With pipefail the pipe fails if the fetch does: for half of a file, and
 * for a page that says that there is no such file. */
static bool refuse_url(const char *url, err_t *err) {
    static const struct {
        const char *scheme, *instead, *fetch;
    } rows[] = {{"gs://",
                 "name it s3://BUCKET/OBJECT, with AWS_ENDPOINT_URL_S3=https://storage.googleapis.com and an "
                 "HMAC key; or ",
                 "gcloud storage cat"},
                {"az://",
                 "give its https URL with a SAS, https://ACCOUNT.blob.core.windows.net/CONTAINER/NAME?SAS",
                 NULL},
                {"", "", "curl -f -sSL"}};
    size_t row = 0;
    text_t advice = {.length = 0}, line = {.length = 0}, shown = {.length = 0};
    text_print(&shown, "%.*s%s", (int)strcspn(url, "?"), url, strchr(url, '?') ? "?..." : "");
    char *name = text_take(&shown, err);
    if (!name)
        return false;
    while (strncmp(url, rows[row].scheme, strlen(rows[row].scheme)) != 0)
        row++;
    text_append(&advice, rows[row].instead);
    if (rows[row].fetch) {
        text_append(&line, rows[row].fetch);
        shell_quote_word(&line, name);
        text_append(&line, " | tipple load --input-name NAME --uri URI -");
        text_append(&advice, "pipe it in: bash -o pipefail -c");
        shell_quote_word(&advice, line.bytes ? line.bytes : "");
        text_miss(&advice, &line);
    }
    char *whole = text_take(&advice, err);
    if (whole)
        err_set(err, STATUS_INPUT, "%.1000s: URLs of this kind are not read: %.2500s", name, whole);
    free(name);
    free(whole);
    text_free(&line);
    return false;
}

static bool walk(build_t *build, const char *path, bool in_walk) {
    struct stat status;
    const bool is_stdin = strcmp(path, "-") == 0;
    if (remote_is(path))
        return add_url_or_member(build, path, in_walk);
    if (build->identified)
        status = identify_status(&build->identified->file);
    if (build->identified || (is_stdin ? stdin_tells(&status) : stat(path, &status) == 0))
        return add_existing(build, path, &status, in_walk);
    const int error = errno;
    if (is_stdin)
        return fault_system(build->err, "standard input", EBADF);
    char *archive = in_walk ? NULL : strdup(path);
    const bool is_member = archive && name_cut_to_file(archive),
               added = is_member && add_member(build, path, archive);
    free(archive);
    if (is_member)
        return added;
    if (!in_walk && strstr(path, "://"))
        return refuse_url(path, build->err);
    if ((error == ENOENT || error == ENOTDIR) && !in_walk && strpbrk(path, "*?["))
        return add_pattern(build, path);
    return fault_system(build->err, *path ? path : "''", error);
}

/* Instead of what was added of it until then. */
static bool keep_bad(build_t *build, const char *path, size_t from) {
    manifest_t *manifest = build->manifest;
    while (manifest->count > from)
        build_remove(build, manifest->count - 1);
    char *shown =
        remote_is(path) ? remote_shown(path, build->err) : strdup(path); /* without what a URL hides */
    input_file_t *file = shown ? build_add(build, shown, clean_name(shown)) : NULL;
    free(shown);
    if (!file || !(file->fault = strdup(build->err->text)))
        return err_memory(build->err, sizeof(err_t));
    *build->err = (err_t){.status = STATUS_OK};
    return true;
}

bool walk_path(build_t *build, const char *path, bool in_walk) {
    const size_t from = build->manifest->count;
    return walk(build, path, in_walk) ||
           (build->options->keeps_bad && build->err->status == STATUS_INPUT && keep_bad(build, path, from));
}

/* --input-name gives the one stream, or the one file, a name by which a later run can recognise it. */
static bool name_input(build_t *build, const char *given) {
    const manifest_t *manifest = build->manifest;
    input_file_t *named = manifest->count == 1 && !build->several ? manifest->files : NULL;
    size_t streams = 0;
    bool taken = false;
    char *name = name_join(NULL, NULL, given, strlen(given));
    if (!name)
        return err_memory(build->err, strlen(given));
    for (size_t i = 0; i < manifest->count; i++) {
        const bool is_stream = manifest->files[i].kind == INPUT_STREAM;
        named = is_stream ? &manifest->files[i] : named;
        streams += is_stream;
        taken |= !is_stream && strcmp(manifest->files[i].name, name) == 0;
    }
    const char *why = NULL;
    if (!named || streams > 1)
        why = "names one stream (standard input or a pipe) or one file; here are several, or a folder or a "
              "pattern: load each alone, with a name of its own";
    else if (taken && streams)
        why = "is the name of a file that is to be loaded: give the stream another one";
    if (why) {
        free(name);
        return err_set(build->err, STATUS_USAGE, "--input-name %.300s: %s", given, why);
    }
    build_rename(named, name);
    named->member = 0;
    named->by_name = !streams;
    return named->has_identity = true;
}

/* A pattern such as shop/orders* names the catalogs of a dumped collection, too. One that is named alone is meant. */
static void leave_out_own_files(build_t *build) {
    const manifest_t *manifest = build->manifest;
    size_t own = 0;
    for (size_t i = 0; i < manifest->count; i++)
        own += dumps_own(build, &manifest->files[i]) != NULL;
    if (own < manifest->count)
        build_leave_out(build, 0, dumps_own);
}

static bool take_argument(build_t *build, const void *none, const char *argument) {
    const size_t from = build->manifest->count;
    (void)none;
    build->unsure = false;
    build->why_none = NULL;
    return walk_path(build, argument, false) && dumps_choose(build, from, false, argument);
}

static bool add_all(build_t *build, char *const *args, size_t count) {
    const manifest_t *manifest = build->manifest;
    const manifest_options_t *options = build->options;
    bool ok = take_each(build, args, count, take_argument, NULL);
    if (ok)
        leave_out_own_files(build);
    if (ok && options->pushed) {
        input_file_t *stream = add_stream(build, "-", strdup("-"));
        ok = stream;
        if (stream)
            stream->pushed = options->pushed;
    }
    if (ok && !manifest->count)
        ok = err_set(build->err, STATUS_INPUT,
                     "no file to read: name files, folders or '-' for standard input (hidden files, resource "
                     "forks and reject files one by one)");
    return ok && (!options->input_name || name_input(build, options->input_name));
}

bool manifest_build(manifest_t *manifest, char *const *args, size_t count, const manifest_options_t *options,
                    err_t *err) {
    build_t build = {.manifest = manifest,
                     .options = options ? options : &(manifest_options_t){.quiet = false},
                     .own = {.kit = {.looks = true}, .err = err},
                     .err = err};
    build.own.keep = build.options->keep;
    build.own.patience_ns = build.options->patience_ns ? build.options->patience_ns : PATIENCE_NS;
    *manifest = (manifest_t){0};
    const bool ok = add_all(&build, args, count);
    tdestroy(build.seen, free);
    source_kit_close(&build.own.kit);
    if (!ok)
        manifest_free(manifest);
    return ok;
}
