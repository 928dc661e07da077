#include "input/build.h"
#include "base/log.h"
#include "base/text.h"
#include "input/file/name.h"
#include "input/magic.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NOTES = 20, MOST_KEPT = 64 * 1024 /* of one file */ };

char *build_shown(const char *path) {
    char *clean = name_clean(path);
    char *name = clean ? name_join(NULL, NULL, clean, strlen(clean)) : NULL;
    free(clean);
    return name;
}

void build_skip(build_t *build, const char *path, const char *why) {
    size_t skipped = ++build->manifest->skipped;
    char *name = build_shown(path);
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

void build_tell_only(const build_t *build, const char *argument, const dump_list_t *dump) {
    if (build->quiet || !build->target || dump->count != 1 || strcmp(dump->items[0].name, build->target) == 0)
        return;
    char *name = build_shown(argument);
    log_note("%s has one collection, %s: it is taken for %s", name ? name : argument, dump->items[0].name,
             build->target);
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
        if (old[i].name) // NOLINT(clang-analyzer-core.NullDereference): there are none without a list
            *seen_place(build, old[i].device, old[i].inode) = old[i];
    free(old);
    return true;
}

bool build_meet(build_t *build, const struct stat *status, const char *name, bool *is_new) {
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

input_file_t *build_set_aside(build_t *build) {
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
bool build_keep(build_t *build, input_file_t *file) {
    const uint64_t bytes = file->disk_bytes;
    if (!bytes || bytes > MOST_KEPT || bytes > build->keep_bytes - build->manifest->kept_bytes)
        return true;
    if (!(file->kept = malloc(bytes)))
        return err_memory(build->err, bytes);
    memcpy(file->kept, build->scratch + FEED_BACK, bytes);
    build->manifest->kept_bytes += bytes;
    return true;
}

void build_free(build_t *build) {
    for (size_t i = 0; i < build->seen_room; i++)
        free(build->seen[i].name);
    free(build->seen);
    free(build->scratch);
    source_kit_free(build->kit);
    source_kit_free(build->heads);
    spare_free(&build->peek);
}
