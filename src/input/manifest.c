#include "input/manifest.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/log.h"
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
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_NOTES = 20, LONGEST_STREAM_NAME = 255, MOST_KEPT = 64 * 1024 /* of one file */ };

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool add_path(build_t *build, const char *path, bool in_walk);

/* The path as it is shown to people; NULL: out of memory. */
static char *shown(const char *path) {
    char *clean = name_clean(path);
    char *name = clean ? name_join(NULL, NULL, clean, strlen(clean)) : NULL;
    free(clean);
    return name;
}

void build_skip(build_t *build, const char *path, const char *why) {
    size_t skipped = ++build->manifest->skipped;
    char *name = shown(path);
    if (build->quiet) {
        free(name);
        return;
    }
    if (skipped <= MOST_NOTES)
        log_note("skipped %s: %s%s", name ? name : path, why,
                 skipped == MOST_NOTES ? " (further ones are named with -v)" : "");
    else
        log_detail("skipped %s: %s", name ? name : path, why);
    free(name);
}

static seen_t *seen_place(const build_t *build, dev_t device, ino_t inode) {
    uint64_t hash = ((uint64_t)inode ^ (uint64_t)device << 40) * 0x9e3779b97f4a7c15u;
    size_t i = (size_t)(hash >> 20) & (build->seen_room - 1);
    while (build->seen[i].name && (build->seen[i].device != device || build->seen[i].inode != inode))
        i = (i + 1) & (build->seen_room - 1);
    return &build->seen[i];
}

static bool seen_grow(build_t *build) {
    size_t old_room = build->seen_room;
    seen_t *old = build->seen;
    build->seen_room = old_room ? old_room * 2 : 256;
    build->seen = calloc(build->seen_room, sizeof *build->seen);
    if (!build->seen) {
        build->seen = old;
        build->seen_room = old_room;
        err_memory(build->err, 2 * old_room * sizeof *old);
        return false;
    }
    for (size_t i = 0; i < old_room; i++)
        if (old[i].name)
            *seen_place(build, old[i].device, old[i].inode) = old[i];
    free(old);
    return true;
}

/* Notes a file by device and inode; *is_new: it was not noted before. */
static bool meet(build_t *build, const struct stat *status, const char *name, bool *is_new) {
    if ((!build->seen || build->seen_count * 2 >= build->seen_room) && !seen_grow(build))
        return false;
    seen_t *place = seen_place(build, status->st_dev, status->st_ino);
    *is_new = !place->name;
    if (place->name) {
        if (strcmp(place->name, name) == 0)
            log_note("%s is named twice: taken once", name);
        else
            log_note("%s is the same as %s: taken once", name, place->name);
        return true;
    }
    *place = (seen_t){status->st_dev, status->st_ino, strdup(name)};
    build->seen_count++;
    return place->name || err_memory(build->err, strlen(name));
}

input_file_t *build_add(build_t *build, const char *path, char *name) {
    manifest_t *manifest = build->manifest;
    char *own_path = strdup(path);
    if (!own_path || !GROW(manifest->files, build->room, manifest->count + 1, NULL)) {
        free(own_path);
        free(name);
        err_memory(build->err, sizeof(input_file_t));
        return NULL;
    }
    input_file_t *file = &manifest->files[manifest->count++];
    *file = (input_file_t){.path = own_path, .name = name};
    return file;
}

/* Takes the last file out of the list: it is an archive, not an input. */
static const input_file_t *set_aside(build_t *build) {
    manifest_t *manifest = build->manifest;
    size_t bytes = (manifest->archive_count + 1) * sizeof *manifest->archives;
    input_file_t **larger = realloc(manifest->archives, bytes), *archive = malloc(sizeof *archive);
    manifest->archives = larger ? larger : manifest->archives;
    if (!larger || !archive) {
        free(archive);
        err_memory(build->err, bytes);
        return NULL;
    }
    *archive = manifest->files[--manifest->count];
    manifest->archives[manifest->archive_count++] = archive;
    return archive;
}

/* A load that is started in the folder of its inputs leaves its reject file there, and people may compress it. */
bool build_leave_out_rejects(build_t *build, bool found) {
    input_file_t *file = &build->manifest->files[--build->manifest->count];
    const bool packed = file->kind != INPUT_PLAIN || file->archive;
    if (found)
        build_skip(build, file->name,
                   packed ? "a reject file of tipple; --retry loads what was fixed in it, unpacked"
                          : "a reject file of tipple; --retry loads what was fixed in it");
    else
        magic_refuse_rejects(build->err, file->name, packed);
    manifest_free_file(file);
    return found;
}

/* The scratch holds the whole file, since its digest was made from that. */
static bool keep(build_t *build, input_file_t *file) {
    const uint64_t bytes = file->disk_bytes;
    if (!bytes || bytes > MOST_KEPT || bytes > build->keep_bytes - build->manifest->kept_bytes)
        return true;
    if (!(file->kept = malloc(bytes)))
        return err_memory(build->err, bytes);
    memcpy(file->kept, build->scratch + FEED_BACK, bytes);
    build->manifest->kept_bytes += bytes;
    return true;
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
        ok = keep(build, file);
        file->metadata = dump_folder_metadata(path);
    }
    if (ok && file && as == IDENTIFIED_REJECTS)
        ok = build_leave_out_rejects(build, in_walk);
    if (ok && file && as >= IDENTIFIED_ZIP) {
        const input_file_t *archive = set_aside(build);
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
    bool ok = folder || fault_system(build->err, path, errno);
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
        bool other = true;
        if (ok && inner && dump && !why)
            ok = dump_folder_see(&build->dump, path, names[i], &why, &other, build->err);
        if (ok && !inner)
            ok = err_memory(build->err, strlen(path));
        else if (ok && why && *why)
            build_skip(build, inner, why);
        else if (ok && !why && other)
            ok = add_path(build, inner, true);
        free(inner);
        free(names[i]);
    }
    free(names);
    if (ok && build->manifest->count == before && !dump)
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
    char *name = shown(path);
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
        ok = meet(build, status, name, &is_new);
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

static bool add_pattern(build_t *build, const char *pattern) {
    glob_t found = {.gl_opendir = open_for_glob,
                    .gl_readdir = read_for_glob,
                    .gl_closedir = close_for_glob,
                    .gl_lstat = lstat,
                    .gl_stat = stat};
    unread.problem = 0;
    snprintf(unread.name, sizeof unread.name, "%s", pattern);
    int failed = glob(pattern, GLOB_NOSORT | GLOB_ALTDIRFUNC, NULL, &found);
    if (unread.problem) {
        globfree(&found);
        return fault_system(build->err, unread.name, unread.problem);
    }
    if (failed == GLOB_NOMATCH)
        return err_set(build->err, STATUS_INPUT,
                       "%.1000s: no file matches this pattern; check the folder and the name", pattern);
    if (failed)
        return failed == GLOB_NOSPACE ? err_memory(build->err, 0) : fault_system(build->err, pattern, errno);
    qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, by_name);
    bool ok = true;
    for (size_t i = 0; ok && i < found.gl_pathc; i++)
        ok = add_path(build, found.gl_pathv[i], false);
    globfree(&found);
    return ok;
}

/* A stdin that was closed when we were started is open only for writing (main.c). */
static bool stdin_tells(struct stat *status) {
    const int flags = fcntl(STDIN_FILENO, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != O_WRONLY && fstat(STDIN_FILENO, status) == 0;
}

/* "FILE!db.collection", where there is such a file. NULL: it is not that. */
static char *archive_of(const char *path) {
    char *file = strdup(path), *mark = file ? strrchr(file, '!') : NULL;
    struct stat status;
    if (mark) {
        *mark = '\0';
        if (stat(file, &status) == 0 && S_ISREG(status.st_mode))
            return file;
    }
    free(file);
    return NULL;
}

static bool add_member(build_t *build, const char *path, const char *archive) {
    const manifest_t *manifest = build->manifest;
    const size_t count = manifest->count;
    build->member = path + strlen(archive) + 1;
    bool ok = add_path(build, archive, false);
    build->member = NULL;
    if (ok && manifest->count == count)
        ok = err_set(build->err, STATUS_USAGE,
                     "%.1000s: one collection of an archive of mongodump is loaded at a time", path);
    for (size_t i = count; ok && i < manifest->count; i++)
        ok = manifest->files[i].kind == INPUT_DUMP ||
             err_set(build->err, STATUS_INPUT,
                     "%.1000s: only a collection of an archive of mongodump can be named so", path);
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
    char *archive = error == ENOENT && !in_walk ? archive_of(path) : NULL;
    if (archive) {
        const bool added = add_member(build, path, archive);
        free(archive);
        return added;
    }
    if (error == ENOENT && lstat(path, &link) == 0)
        return err_set(build->err, STATUS_INPUT,
                       "%.1000s: is a link to a file that does not exist; repair the link or remove it",
                       path);
    if ((error == ENOENT || error == ENOTDIR) && !in_walk && strpbrk(path, "*?["))
        return add_pattern(build, path);
    return fault_system(build->err, *path ? path : "''", error);
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
    if (strlen(name) > LONGEST_STREAM_NAME)
        return err_set(err, STATUS_USAGE, "--input-name is longer than %d bytes: give a shorter one",
                       LONGEST_STREAM_NAME);
    char *own = name_join(NULL, NULL, name, strlen(name));
    if (!own)
        return err_memory(err, strlen(name));
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

static void leave_out_beside_dump(build_t *build, size_t from) {
    manifest_t *manifest = build->manifest;
    size_t left = from;
    for (size_t i = from; i < manifest->count; i++) {
        const char *why = dump_folder_beside(manifest->files[i].name);
        if (why) {
            build_skip(build, manifest->files[i].name, why);
            manifest_free_file(&manifest->files[i]);
        } else {
            manifest->files[left++] = manifest->files[i];
        }
    }
    manifest->count = left;
}

static bool add_argument(build_t *build, const char *path) {
    const size_t before = build->manifest->count;
    bool ok = add_path(build, path, false);
    if (ok && build->dump.count)
        leave_out_beside_dump(build, before);
    if (ok && build->dump.count) {
        const char *chosen = dump_folder_choose(&build->dump, path, build->target, build->err);
        ok = chosen && add_path(build, chosen, true);
    }
    dump_list_free(&build->dump);
    return ok;
}

bool manifest_build(manifest_t *manifest, char *const *args, size_t count, const manifest_options_t *options,
                    err_t *err) {
    *manifest = (manifest_t){0};
    build_t build = {.manifest = manifest,
                     .scratch = calloc(1, IDENTIFY_SCRATCH),
                     .peek = {.engine = INFLATE_ZLIB},
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
    }
    for (size_t i = 0; ok && i < count; i++)
        ok = add_argument(&build, args[i]);
    if (ok && !manifest->count)
        ok = err_set(err, STATUS_INPUT,
                     manifest->skipped
                         ? "no file is left to read: all %zu that were found are hidden, resource "
                           "forks or reject files; name the files themselves"
                         : "no file to read: name files, folders or '-' for standard input",
                     manifest->skipped);
    if (ok && options && options->input_name)
        ok = name_stream(manifest, options->input_name, err);
    for (size_t i = 0; i < build.seen_room; i++)
        free(build.seen[i].name);
    free(build.seen);
    free(build.scratch);
    source_kit_free(build.kit);
    source_kit_free(build.heads);
    spare_free(&build.peek);
    if (!ok)
        manifest_free(manifest);
    return ok;
}

void manifest_free_file(input_file_t *file) {
    source_close(file->begun);
    free(file->path);
    free(file->name);
    free(file->collection);
    free(file->metadata);
    free(file->kept);
}

void manifest_free(manifest_t *manifest) {
    for (size_t i = 0; i < manifest->count; i++)
        manifest_free_file(&manifest->files[i]);
    for (size_t i = 0; i < manifest->archive_count; i++) {
        manifest_free_file(manifest->archives[i]);
        free(manifest->archives[i]);
    }
    free(manifest->files);
    free(manifest->archives);
    *manifest = (manifest_t){0};
}
