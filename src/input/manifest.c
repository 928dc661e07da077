#include "input/manifest.h"
#include "base/log.h"
#include "input/fault.h"
#include "input/identify.h"
#include "input/name.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_NOTES = 20 };

typedef struct {
    dev_t device;
    ino_t inode;
    char *name; /* NULL: a free place */
} seen_t;

typedef struct {
    manifest_t *manifest;
    size_t room;
    uint8_t *scratch;
    seen_t *seen; /* open addressing, at most half full */
    size_t seen_count, seen_room;
    err_t *err;
} build_t;

/* A zip on the way into the manifest. */
typedef struct {
    build_t *build;
    const char *path, *name;
    int64_t modified_ns;
    bool said_macosx;
    size_t first;
} archive_t;

static bool add_path(build_t *build, const char *path, bool in_walk);

/* The path as people shall read it; NULL: out of memory. */
static char *shown(const char *path) {
    char *clean = name_clean(path);
    char *name = clean ? name_join(NULL, NULL, clean, strlen(clean)) : NULL;
    free(clean);
    return name;
}

/* A folder from a stick may hold thousands of them: the first ones by name, the rest only with -v. */
static void skip(build_t *build, const char *path, const char *why) {
    size_t skipped = ++build->manifest->skipped;
    char *name = shown(path);
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
        return err_memory(build->err, 2 * old_room * sizeof *old);
    }
    for (size_t i = 0; i < old_room; i++)
        if (old[i].name)
            *seen_place(build, old[i].device, old[i].inode) = old[i];
    free(old);
    return true;
}

/* Notes down a file by what it is on the disk; *is_new tells whether it is the first time. */
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

/* Makes a place for one more file, with its path and name; the caller fills in the rest. Takes name over. */
static input_file_t *add_file(build_t *build, const char *path, char *name) {
    manifest_t *manifest = build->manifest;
    char *own_path = strdup(path);
    bool ok = own_path;
    if (ok && manifest->count == build->room) {
        size_t room = build->room ? build->room * 2 : 16;
        input_file_t *larger = realloc(manifest->files, room * sizeof *larger);
        ok = larger;
        if (ok) {
            manifest->files = larger;
            build->room = room;
        }
    }
    if (!ok) {
        free(own_path);
        free(name);
        err_memory(build->err, sizeof(input_file_t));
        return NULL;
    }
    input_file_t *file = &manifest->files[manifest->count++];
    *file = (input_file_t){.path = own_path, .name = name};
    return file;
}

/* Why a member is left out, or NULL. All that lies in a __MACOSX is one thing, named once. */
static const char *reason_to_skip(const zip_entry_t *entry, bool *in_macosx) {
    const char *at = entry->name, *end = entry->name + entry->name_length;
    *in_macosx = false;
    while (at < end) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        size_t length = (size_t)((slash ? slash : end) - at);
        const char *why = name_reason_to_skip(at, length);
        *in_macosx = length == strlen(NAME_MACOSX) && memcmp(at, NAME_MACOSX, length) == 0;
        if (why)
            return why;
        at += length + 1;
    }
    return entry->is_link ? "a symbolic link" : NULL;
}

static void skip_member(archive_t *archive, const char *name, const char *why, bool in_macosx) {
    char *folder = in_macosx ? name_join(archive->name, "!", NAME_MACOSX, strlen(NAME_MACOSX)) : NULL;
    if (!in_macosx || !archive->said_macosx)
        skip(archive->build, folder ? folder : name, why);
    archive->said_macosx |= in_macosx;
    free(folder);
}

static bool add_member(void *context, const zip_entry_t *entry, err_t *err) {
    archive_t *archive = context;
    if (!entry->name_length || entry->name[entry->name_length - 1] == '/')
        return true;
    char *name = name_join(archive->name, "!", entry->name, entry->name_length);
    if (!name)
        return err_memory(err, entry->name_length);
    bool in_macosx, readable = false;
    const char *why = reason_to_skip(entry, &in_macosx);
    if (why)
        skip_member(archive, name, why, in_macosx);
    else
        readable = zip_can_read(entry, name, err);
    if (!readable) {
        free(name);
        return why;
    }
    input_file_t *file = add_file(archive->build, archive->path, name);
    if (!file)
        return false;
    identify_member(entry, file);
    file->modified_ns = archive->modified_ns;
    return true;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A name is half of a member's identity, so it may stand only once. */
static bool members_differ(const archive_t *archive) {
    const manifest_t *manifest = archive->build->manifest;
    size_t count = manifest->count - archive->first;
    if (count < 2)
        return true;
    char **names = malloc(count * sizeof *names);
    if (!names)
        return err_memory(archive->build->err, count * sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = manifest->files[archive->first + i].name;
    qsort(names, count, sizeof *names, by_name);
    const char *twice = NULL;
    for (size_t i = 1; i < count; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            twice = names[i];
    free(names);
    return !twice ||
           err_set(archive->build->err, STATUS_INPUT,
                   "%.1000s: the archive has two members of this name; unpack it and load the unpacked files",
                   twice);
}

static bool add_archive(build_t *build, int fd, input_file_t *file) {
    archive_t archive = {build, file->path, file->name, file->modified_ns, false, build->manifest->count};
    return zip_list(fd, file->disk_bytes, file->name, add_member, &archive, build->err) &&
           members_differ(&archive);
}

static int64_t modified_ns(const struct stat *status) {
    return (int64_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec;
}

static bool add_regular(build_t *build, const char *path, char *name) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat status;
    bool ok = fd >= 0 && fstat(fd, &status) == 0;
    if (!ok)
        fault_system(build->err, name, errno);
    bool is_zip = false;
    input_file_t *file = NULL;
    if (!ok)
        free(name);
    else if ((file = add_file(build, path, name))) {
        file->has_identity = true;
        file->disk_bytes = (uint64_t)status.st_size;
        file->modified_ns = modified_ns(&status);
        ok = identify_file(fd, file, &is_zip, build->scratch, build->err);
    }
    if (ok && file && is_zip) {
        input_file_t archive = *file;
        build->manifest->count--;
        ok = add_archive(build, fd, &archive);
        free(archive.path);
        free(archive.name);
    }
    if (fd >= 0)
        close(fd);
    return ok && file;
}

/* The entries' names, sorted; what was got before an error is there as well. */
static bool read_folder(build_t *build, const char *path, char ***names, size_t *count) {
    DIR *folder = opendir(path);
    char **list = NULL;
    size_t n = 0, room = 0;
    bool ok = folder || fault_system(build->err, path, errno);
    struct dirent *entry;
    while (ok && (errno = 0, entry = readdir(folder))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (n == room) {
            room = room ? room * 2 : 64;
            char **larger = realloc(list, room * sizeof *larger);
            ok = larger || err_memory(build->err, room * sizeof *larger);
            list = larger ? larger : list;
        }
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
    for (size_t i = 0; i < count; i++) {
        char *inner = ok ? under(path, names[i]) : NULL;
        const char *why = name_reason_to_skip(names[i], strlen(names[i]));
        if (ok && !inner)
            ok = err_memory(build->err, strlen(path));
        else if (ok && why)
            skip(build, inner, why);
        else if (ok)
            ok = add_path(build, inner, true);
        free(inner);
        free(names[i]);
    }
    free(names);
    if (ok && build->manifest->count == before)
        log_detail("%s holds no file to load", path);
    return ok;
}

static bool add_stream(build_t *build, const char *path, char *name) {
    input_file_t *file = add_file(build, path, name);
    if (file)
        file->kind = INPUT_STREAM;
    return file;
}

/* Takes name over. */
static bool add_by_type(build_t *build, const char *path, char *name, mode_t mode) {
    bool is_stdin = strcmp(path, "-") == 0;
    if (S_ISREG(mode) && !is_stdin)
        return add_regular(build, path, name);
    if (!S_ISDIR(mode) && (!S_ISSOCK(mode) || is_stdin))
        return add_stream(build, path, name);
    bool ok = S_ISSOCK(mode) ? fault_system(build->err, name, ENXIO)
              : is_stdin     ? fault_system(build->err, "standard input", EISDIR)
                             : add_folder(build, path);
    free(name);
    return ok;
}

/* A file, folder or pipe that exists. */
static bool add_existing(build_t *build, const char *path, const struct stat *status, bool in_walk) {
    char *name = shown(path);
    if (!name)
        return err_memory(build->err, strlen(path));
    bool is_new = true, ok = true;
    if (in_walk && !S_ISREG(status->st_mode) && !S_ISDIR(status->st_mode)) {
        skip(build, name, "neither a file nor a folder");
        is_new = false;
    } else {
        ok = meet(build, status, name, &is_new);
    }
    if (ok && is_new)
        return add_by_type(build, path, name, status->st_mode);
    free(name);
    return ok;
}

static bool add_pattern(build_t *build, const char *pattern) {
    glob_t found = {0};
    int failed = glob(pattern, GLOB_NOSORT, NULL, &found);
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

static bool add_path(build_t *build, const char *path, bool in_walk) {
    struct stat status;
    bool is_stdin = strcmp(path, "-") == 0;
    const char *why = in_walk || is_stdin ? NULL : name_reason_to_skip_path(path);
    if (is_stdin ? fstat(STDIN_FILENO, &status) == 0 : stat(path, &status) == 0) {
        if (!why)
            return add_existing(build, path, &status, in_walk);
        skip(build, path, why);
        return true;
    }
    int error = errno;
    struct stat link;
    if (is_stdin)
        return err_set(build->err, STATUS_INPUT,
                       "standard input is closed, so '-' has nothing to read: pipe something in");
    if (error == ENOENT && lstat(path, &link) == 0)
        return err_set(build->err, STATUS_INPUT,
                       "%.1000s: is a link to a file that does not exist; mend the link or remove it", path);
    if ((error == ENOENT || error == ENOTDIR) && !in_walk && strpbrk(path, "*?["))
        return add_pattern(build, path);
    return fault_system(build->err, *path ? path : "''", error);
}

/* --input-name gives the one stream a name that a later run can recognise. */
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
    char *own = name_join(NULL, NULL, name, strlen(name));
    if (!own)
        return err_memory(err, strlen(name));
    free(stream->name);
    stream->name = own;
    stream->has_identity = true;
    return true;
}

bool manifest_build(manifest_t *manifest, char *const *args, size_t count, const manifest_options_t *options,
                    err_t *err) {
    *manifest = (manifest_t){0};
    build_t build = {.manifest = manifest, .scratch = malloc(IDENTIFY_SCRATCH), .err = err};
    bool ok = build.scratch || err_memory(err, IDENTIFY_SCRATCH);
    for (size_t i = 0; ok && i < count; i++)
        ok = add_path(&build, args[i], false);
    if (ok && !manifest->count)
        ok = err_set(err, STATUS_INPUT,
                     manifest->skipped
                         ? "no file is left to read: all %zu that were found are hidden or resource "
                           "forks; name the files themselves"
                         : "no file to read: name files, folders or '-' for standard input",
                     manifest->skipped);
    if (ok && options && options->input_name)
        ok = name_stream(manifest, options->input_name, err);
    for (size_t i = 0; i < build.seen_room; i++)
        free(build.seen[i].name);
    free(build.seen);
    free(build.scratch);
    if (!ok)
        manifest_free(manifest);
    return ok;
}

void manifest_free(manifest_t *manifest) {
    for (size_t i = 0; i < manifest->count; i++) {
        free(manifest->files[i].path);
        free(manifest->files[i].name);
    }
    free(manifest->files);
    *manifest = (manifest_t){0};
}
