/* A manifest from the arguments of a command. */
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "input/build.h"
#include "input/file/fault.h"
#include "input/file/name.h"
#include "input/identify.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* walk: goes from an argument of the command to the files that it stands for: a file, a folder, a pattern, a stream, an
 * archive. */

static bool add_path(build_t *build, const char *path, bool in_walk);

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool add_regular(build_t *build, const char *path, char *name, bool in_walk) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat status;
    bool ok = fd >= 0 && fstat(fd, &status) == 0;
    if (!ok)
        fault_system(build->err, name, errno);
    identified_t as = IDENTIFIED_FILE;
    input_file_t *file = NULL;
    if (!ok)
        free(name);
    else if ((file = build_add(build, path, name))) {
        file->has_identity = true;
        file->disk_bytes = (uint64_t)status.st_size;
        file->modified_ns = clock_from_timespec(status.st_mtim);
        file->device = status.st_dev;
        file->inode = status.st_ino;
        ok = identify_file(fd, file, &as, &build->peek, build->scratch, build->err);
    }
    if (ok && file && as == IDENTIFIED_FILE) {
        ok = build_keep(build, file) && dump_folder_metadata(path, &file->metadata, build->err);
    }
    if (ok && file && as == IDENTIFIED_REJECTS)
        ok = build_leave_out_rejects(build, in_walk);
    if (ok && file && as >= IDENTIFIED_ZIP) {
        input_file_t *archive = build_set_aside(build);
        ok = archive && (as == IDENTIFIED_ZIP   ? archive_add_zip
                         : as == IDENTIFIED_TAR ? archive_add_tar
                                                : archive_add_dump)(build, fd, archive);
    }
    if (fd >= 0)
        close(fd);
    return ok && file;
}

/* Reads the names of the entries, sorted; after an error, those read before it. */
static bool read_folder(build_t *build, const char *path, char ***names, size_t *count) {
    DIR *folder = opendir(path);
    char **list = NULL;
    size_t n = 0, room = 0;
    bool ok = folder != NULL;
    if (!folder)
        fault_system(build->err, path, errno);
    struct dirent *entry;
    while (ok && (errno = 0, entry = readdir(folder))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        ok = GROW(list, room, n + 1, build->err);
        if (ok && (list[n] = strdup(entry->d_name)))
            n++;
        else if (ok)
            ok = err_memory(build->err, strlen(entry->d_name));
    }
    if (ok && errno)
        ok = fault_system(build->err, path, errno);
    if (folder)
        closedir(folder);
    if (ok && n)
        qsort(list, n, sizeof *list, by_name);
    *names = list;
    *count = n;
    return ok;
}

static char *under(const char *folder, const char *name) {
    size_t length = strlen(folder);
    char *path = malloc(length + strlen(name) + 2);
    if (path)
        stpcpy(stpcpy(stpcpy(path, folder), length && folder[length - 1] == '/' ? "" : "/"), name);
    return path;
}

static bool add_folder(build_t *build, const char *path) {
    char **names;
    size_t count, before = build->manifest->count;
    bool ok = read_folder(build, path, &names, &count);
    const bool dump = dump_folder_is(names, count);
    for (size_t i = 0; i < count; i++) {
        char *inner = ok ? under(path, names[i]) : NULL;
        const char *why = name_reason_to_skip(names[i], strlen(names[i]));
        bool other;
        if (ok && !inner)
            ok = err_memory(build->err, strlen(path));
        else if (ok && why)
            build_skip(build, inner, why);
        else if (ok)
            ok = dump_folder_take(build, dump, inner, &other) && (!other || add_path(build, inner, true));
        free(inner);
        free(names[i]);
    }
    free(names);
    if (ok && build->manifest->count == before && !build->dump.count)
        log_detail("%s holds no file to load", path);
    return ok;
}

static bool add_stream(build_t *build, const char *path, char *name) {
    input_file_t *file = build_add(build, path, name);
    if (file)
        file->kind = INPUT_STREAM;
    return file;
}

/* Takes ownership of name. */
static bool add_by_type(build_t *build, const char *path, char *name, mode_t mode, bool in_walk) {
    bool is_stdin = strcmp(path, "-") == 0;
    if (S_ISREG(mode) && !is_stdin)
        return add_regular(build, path, name, in_walk);
    if (!S_ISDIR(mode) && (!S_ISSOCK(mode) || is_stdin))
        return add_stream(build, path, name);
    bool ok = S_ISSOCK(mode) ? fault_system(build->err, name, ENXIO)
              : is_stdin     ? fault_system(build->err, "standard input", EISDIR)
                             : add_folder(build, path);
    free(name);
    return ok;
}

/* Adds a file, folder or pipe that exists. */
static bool add_existing(build_t *build, const char *path, const struct stat *status, bool in_walk) {
    char *name = build_shown(path);
    if (!name)
        return err_memory(build->err, strlen(path));
    bool is_new = true, ok = true;
    const char *last = strrchr(path, '/');
    const char *why = !in_walk || S_ISDIR(status->st_mode) ? NULL
                      : !S_ISREG(status->st_mode)          ? "neither a file nor a folder"
                                                  : name_reason_to_skip_file(last + 1, strlen(last + 1));
    if (why) {
        build_skip(build, name, why);
        is_new = false;
    } else {
        ok = build_meet(build, status, name, &is_new);
    }
    if (ok && is_new)
        return add_by_type(build, path, name, status->st_mode, in_walk);
    free(name);
    return ok;
}

/* glob() treats a folder that it cannot read as empty. The last such folder, and why: */
static _Thread_local struct {
    int problem;
    char name[1024];
} unread;

static void *open_for_glob(const char *path) {
    DIR *folder = opendir(path);
    if (folder || errno == ENOENT || errno == ENOTDIR)
        return folder;
    unread.problem = errno;
    snprintf(unread.name, sizeof unread.name, "%s", path);
    return NULL;
}

static struct dirent *read_for_glob(void *folder) {
    errno = 0;
    struct dirent *entry = readdir(folder);
    if (!entry && errno)
        unread.problem = errno;
    return entry;
}

static void close_for_glob(void *folder) {
    closedir(folder);
}

/* Appends the files that match a pattern without "**". */
static bool match_here(build_t *build, const char *pattern, glob_t *found) {
    unread.problem = 0;
    snprintf(unread.name, sizeof unread.name, "%s", pattern);
    const int failed =
        glob(pattern, GLOB_NOSORT | GLOB_ALTDIRFUNC | (found->gl_pathv ? GLOB_APPEND : 0), NULL, found);
    if (unread.problem)
        return fault_system(build->err, unread.name, unread.problem);
    if (failed && failed != GLOB_NOMATCH)
        return failed == GLOB_NOSPACE ? err_memory(build->err, 0) : fault_system(build->err, pattern, errno);
    return true;
}

static bool match(build_t *build, const char *pattern, glob_t *found);

/* Appends what matches the pattern in a folder ("" or "NAME/") and in all folders below it. Hidden folders and links to
 * folders are left out. */
static bool match_below(build_t *build, const char *folder, const char *pattern, glob_t *found) {
    text_t whole = {.length = 0};
    for (const char *at = folder; *at; at++)
        text_print(&whole, "%s%c", strchr("*?[\\", *at) ? "\\" : "", *at);
    text_append(&whole, pattern);
    char *words = text_take(&whole, build->err);
    char **names = NULL;
    size_t count = 0;
    bool ok =
        words && match(build, words, found) && read_folder(build, *folder ? folder : ".", &names, &count);
    free(words);
    for (size_t i = 0; i < count; i++) {
        struct stat status;
        text_t below = {.length = 0};
        text_print(&below, "%s%s", folder, names[i]);
        const bool is_folder = ok && names[i][0] != '.' && !below.lacking &&
                               lstat(below.bytes, &status) == 0 && S_ISDIR(status.st_mode);
        text_append(&below, "/");
        char *path = ok ? text_take(&below, build->err) : NULL;
        ok = path && (!is_folder || match_below(build, path, pattern, found));
        text_free(&below);
        free(path);
        free(names[i]);
    }
    free(names);
    return ok;
}

/* "**" between slashes stands for any number of folders, none included. */
static bool match(build_t *build, const char *pattern, glob_t *found) {
    const char *deep = strstr(pattern, "**/");
    while (deep && deep != pattern && deep[-1] != '/')
        deep = strstr(deep + 1, "**/");
    if (!deep)
        return match_here(build, pattern, found);
    char *before = strndup(pattern, (size_t)(deep - pattern));
    glob_t folders = {.gl_opendir = open_for_glob,
                      .gl_readdir = read_for_glob,
                      .gl_closedir = close_for_glob,
                      .gl_lstat = lstat,
                      .gl_stat = stat};
    bool ok = before || err_memory(build->err, strlen(pattern));
    if (ok && *before)
        ok = match_here(build, before, &folders);
    else if (ok)
        ok = match_below(build, "", deep + 3, found);
    for (size_t i = 0; ok && i < folders.gl_pathc; i++)
        ok = match_below(build, folders.gl_pathv[i], deep + 3, found);
    globfree(&folders);
    free(before);
    return ok;
}

static bool add_pattern(build_t *build, const char *pattern) {
    glob_t found = {.gl_opendir = open_for_glob,
                    .gl_readdir = read_for_glob,
                    .gl_closedir = close_for_glob,
                    .gl_lstat = lstat,
                    .gl_stat = stat};
    bool ok = match(build, pattern, &found);
    if (ok && !found.gl_pathc)
        ok = err_set(build->err, STATUS_INPUT,
                     "%.1000s: no file matches this pattern; check the folder and the name", pattern);
    if (ok)
        qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, by_name);
    for (size_t i = 0; ok && i < found.gl_pathc; i++)
        ok = add_path(build, found.gl_pathv[i], false);
    globfree(&found);
    return ok;
}

/* A URL is refused with the pipe that reads it. False: it is none. */
static bool refuse_url(build_t *build, const char *path) {
    static const struct {
        const char *scheme, *before, *after;
    } readers[] = {{"https://", "curl -sSL", ""},       {"http://", "curl -sSL", ""},
                   {"ftp://", "curl -sSL", ""},         {"s3://", "aws s3 cp", " -"},
                   {"gs://", "gcloud storage cat", ""}, {"file://", "cat", ""}};
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        if (strncmp(path, readers[i].scheme, strlen(readers[i].scheme)) != 0)
            continue;
        text_t line = {.length = 0};
        shell_quote_word(&line, strcmp(readers[i].scheme, "file://") == 0 ? path + strlen("file://") : path);
        char *word = text_take(&line, build->err);
        if (word)
            err_set(
                build->err, STATUS_INPUT,
                "%.1000s: URLs are not read; pipe it in: %s%.2000s%s | tipple load --input-name NAME ... -",
                path, readers[i].before, word, readers[i].after);
        free(word);
        return true;
    }
    return false;
}

/* A stdin that was closed when we were started is open only for writing (main.c). */
static bool stdin_tells(struct stat *status) {
    const int flags = fcntl(STDIN_FILENO, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != O_WRONLY && fstat(STDIN_FILENO, status) == 0;
}

/* Of "FILE!db.collection" the longest that is a file: either name may hold a '!'. NULL: it is not that. */
static char *archive_of(const char *path) {
    char *file = strdup(path);
    struct stat status;
    for (char *mark; file && (mark = strrchr(file, '!'));) {
        *mark = '\0';
        if (stat(file, &status) == 0 && S_ISREG(status.st_mode))
            return file;
    }
    free(file);
    return NULL;
}

/* "FILE!MEMBER", which is no collection of a dump: of an archive the way out is to pipe the member in. */
static bool refuse_member(const build_t *build, const char *path, const char *archive,
                          const input_file_t *file) {
    const bool zip = file->kind == INPUT_ZIP_MEMBER;
    text_t line = {.length = 0};
    shell_quote_word(&line, archive);
    shell_quote_word(&line,
                     build->member[0] && !(zip && strpbrk(build->member, "[*?")) ? build->member : "MEMBER");
    char *words = text_take(&line, build->err);
    if (!words)
        return false;
    if (zip || file->archive)
        err_set(
            build->err, STATUS_INPUT,
            "%.1000s: a member of an archive is not taken alone, only with all the others, by the name of "
            "the "
            "archive; or pipe it in (%s%.2000s | tipple load --input-name NAME -), and a later load of the "
            "archive loads it again",
            path, zip ? "unzip -p" : "tar -xOf", words);
    else
        err_set(build->err, STATUS_INPUT,
                "%.1000s: there is no such file, and %.1000s is no archive: behind the ! stands a collection "
                "of an "
                "archive of mongodump",
                path, archive);
    free(words);
    return false;
}

static bool add_member(build_t *build, const char *path, const char *archive) {
    const manifest_t *manifest = build->manifest;
    const size_t count = manifest->count;
    build->member = path + strlen(archive) + 1;
    bool ok = add_path(build, archive, false);
    if (ok && manifest->count == count)
        ok = err_set(build->err, STATUS_USAGE,
                     "%.1000s: one collection of an archive of mongodump is loaded at a time", path);
    for (size_t i = count; ok && i < manifest->count; i++)
        ok =
            manifest->files[i].kind == INPUT_DUMP || refuse_member(build, path, archive, &manifest->files[i]);
    build->member = NULL;
    return ok;
}

static bool add_path(build_t *build, const char *path, bool in_walk) {
    struct stat status;
    bool is_stdin = strcmp(path, "-") == 0;
    const char *why = in_walk || is_stdin ? NULL : name_reason_to_skip_path(path);
    if (is_stdin ? stdin_tells(&status) : stat(path, &status) == 0) {
        if (!why)
            return add_existing(build, path, &status, in_walk);
        build_skip(build, path, why);
        return true;
    }
    int error = errno;
    struct stat link;
    if (is_stdin)
        return err_set(build->err, STATUS_INPUT,
                       "standard input is closed, so '-' has nothing to read: pipe something in");
    char *archive = (error == ENOENT || error == ENAMETOOLONG) && !in_walk ? archive_of(path) : NULL;
    if (archive) {
        const bool added = add_member(build, path, archive);
        free(archive);
        return added;
    }
    if (error == ENOENT && lstat(path, &link) == 0)
        return err_set(build->err, STATUS_INPUT,
                       "%.1000s: is a link to a file that does not exist; repair the link or remove it",
                       path);
    if (!in_walk && refuse_url(build, path))
        return false;
    if ((error == ENOENT || error == ENOTDIR) && !in_walk && strpbrk(path, "*?["))
        return add_pattern(build, path);
    return fault_system(build->err, *path ? path : "''", error);
}

/* Of the files from a place on. why: a reason to leave one out, or NULL. */
static void leave_out(build_t *build, size_t from, const char *why_of(const char *name)) {
    manifest_t *manifest = build->manifest;
    size_t left = from;
    for (size_t i = from; i < manifest->count; i++) {
        const char *why = why_of(manifest->files[i].name);
        if (why) {
            build_skip(build, manifest->files[i].name, why);
            manifest_free_file(&manifest->files[i]);
        } else {
            manifest->files[left++] = manifest->files[i];
        }
    }
    manifest->count = left;
}

/* What is the server's is told by the folder's name, which a person may have given: one collection of it is taken, and so are
 * files that may be parts of one. */
static void leave_out_of_dump(build_t *build) {
    dump_list_t *dump = &build->dump;
    for (size_t i = 0; i < dump->count;) {
        const char *why = dump_why_left_out(dump->items[i].name, build->target);
        if (why && (why != dump_of_server || (build->collections && !dump->unsure))) {
            build_skip(build, dump->items[i].with, why);
            dump_list_remove(dump, i);
        } else {
            i++;
        }
    }
}

static bool walk_argument(build_t *build, const char *path) {
    const size_t before = build->manifest->count;
    bool ok = add_path(build, path, false);
    if (ok && build->dump.count)
        leave_out(build, before, dump_folder_beside);
    if (ok)
        leave_out_of_dump(build);
    if (ok && build->dump.count && build->collections) {
        ok = dump_folder_list(build, path);
    } else if (ok && build->dump.count) {
        const char *chosen;
        ok = dump_folder_choose(build, path, &chosen);
        if (ok)
            build_tell_only(build, path, &build->dump);
        ok = ok && add_path(build, chosen, true);
    }
    dump_list_free(&build->dump);
    return ok;
}

enum { LONGEST_STREAM_NAME = 255 };

static char *name_of_stream(const char *name, err_t *err) {
    if (strlen(name) > LONGEST_STREAM_NAME) {
        err_set(err, STATUS_USAGE, "--input-name is longer than %d bytes: give a shorter one",
                LONGEST_STREAM_NAME);
        return NULL;
    }
    char *own = name_join(NULL, NULL, name, strlen(name));
    if (!own)
        err_memory(err, strlen(name));
    return own;
}

static bool add_pushed(build_t *build, const manifest_options_t *options) {
    char *name = name_of_stream(options->input_name, build->err);
    input_file_t *stream = name ? build_add(build, "-", name) : NULL;
    if (!stream)
        return false;
    stream->kind = INPUT_STREAM;
    stream->has_identity = true;
    stream->pushed = options->pushed;
    return true;
}

/* --input-name gives the one stream a name by which a later run can recognise it. */
static bool name_stream(manifest_t *manifest, const char *name, err_t *err) {
    input_file_t *stream = NULL;
    for (size_t i = 0; i < manifest->count; i++) {
        if (manifest->files[i].kind != INPUT_STREAM)
            continue;
        if (stream)
            return err_set(
                err, STATUS_USAGE,
                "--input-name can name one stream, but there are several (%.500s and %.500s): load them one "
                "by one",
                stream->name, manifest->files[i].name);
        stream = &manifest->files[i];
    }
    if (!stream)
        return err_set(
            err, STATUS_USAGE,
            "--input-name is for standard input or a pipe, but all inputs are files, which have names");
    char *own = name_of_stream(name, err);
    if (!own)
        return false;
    for (size_t i = 0; i < manifest->count; i++)
        if (&manifest->files[i] != stream && strcmp(manifest->files[i].name, own) == 0) {
            free(own);
            return err_set(
                err, STATUS_USAGE,
                "--input-name %.300s is the name of a file that is to be loaded: give the stream another "
                "one",
                name);
        }
    free(stream->name);
    stream->name = own;
    stream->has_identity = true;
    return true;
}

/* A pattern such as shop/orders* names the catalogs of a dumped collection, too. One that is named alone is meant. */
static void leave_out_own_files(build_t *build) {
    const manifest_t *manifest = build->manifest;
    size_t own = 0;
    for (size_t i = 0; i < manifest->count; i++)
        own += dump_folder_own(manifest->files[i].name) != NULL;
    if (own < manifest->count)
        leave_out(build, 0, dump_folder_own);
}

bool manifest_build(manifest_t *manifest, char *const *args, size_t count, const manifest_options_t *options,
                    err_t *err) {
    *manifest = (manifest_t){0};
    build_t build = {.manifest = manifest,
                     .scratch = calloc(1, IDENTIFY_SCRATCH),
                     .kit = source_kit_new(),
                     .heads = source_kit_new(),
                     .err = err};
    bool ok = (build.scratch && build.kit && build.heads) || err_memory(err, IDENTIFY_SCRATCH);
    if (ok)
        source_kit_peek(build.heads);
    if (options) {
        build.keep_bytes = options->keep_bytes;
        build.quiet = options->quiet;
        build.target = options->target;
        build.every_collection = options->every_collection;
        build.collections = options->collections;
    }
    for (size_t i = 0; ok && i < count; i++)
        ok = walk_argument(&build, args[i]);
    if (ok)
        leave_out_own_files(&build);
    if (ok && options && options->pushed)
        ok = add_pushed(&build, options);
    else if (ok && !manifest->count && !(build.collections && build.collections->count))
        ok = err_set(
            err, STATUS_INPUT,
            manifest->skipped
                ? "no file is left to read: all %zu that were found are passed over, as said above; hidden "
                  "files, resource forks and reject files are read if you name the files themselves"
                : "no file to read: name files, folders or '-' for standard input",
            manifest->skipped);
    if (ok && options && options->input_name && !options->pushed)
        ok = name_stream(manifest, options->input_name, err);
    build_free(&build);
    if (!ok)
        manifest_free(manifest);
    return ok;
}
