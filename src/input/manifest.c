/* The list of inputs: adds, removes, and says what is left out. */
#include "input/manifest.h"
#include "base/log.h"
#include "base/text.h"
#include "input/build.h"
#include "input/file/name.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST_NOTES = 20 };

input_file_t *build_add(build_t *build, const char *path, char *name) {
    manifest_t *manifest = build->manifest;
    const bool same = name && strcmp(path, name) == 0;
    char *own_path = same || !name ? name : strdup(path);
    if (!own_path || !GROW(manifest->files, build->room, manifest->count + 1, NULL)) {
        free(same ? NULL : own_path);
        free(name);
        err_memory(build->err, sizeof(input_file_t));
        return NULL;
    }
    input_file_t *file = &manifest->files[manifest->count++];
    *file = (input_file_t){.path = own_path, .name = name};
    return file;
}

void build_rename(input_file_t *file, char *name) {
    if (file->name != file->path)
        free(file->name);
    file->name = name;
}

/* ---- the beginnings of texts ---- */

void build_keep_head(build_t *build, input_file_t *file) {
    const input_head_t *head = &build->own.head;
    manifest_t *manifest = build->manifest;
    if (head->bytes && !manifest->heads) {
        void *room = mmap(NULL, build->options->keep, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        manifest->heads = room == MAP_FAILED ? NULL : room;
        manifest->heads_room = manifest->heads ? build->options->keep : 0;
    }
    if (!head->bytes || !manifest->heads || head->length > manifest->heads_room - manifest->heads_used)
        return;
    uint8_t *bytes = memcpy(manifest->heads + manifest->heads_used, head->bytes, head->length);
    file->head = (input_head_t){bytes, head->length, head->whole};
    manifest->heads_used += head->length;
}

enum { STAY = 1 << 20 };

void manifest_forget_heads(manifest_t *manifest) {
    for (size_t i = 0; manifest->heads && i < manifest->count; i++) {
        input_head_t *head = &manifest->files[i].head;
        if (!head->whole || head->bytes + head->length > manifest->heads + STAY)
            *head = (input_head_t){.bytes = NULL};
    }
    if (manifest->heads_used > STAY)
        madvise(manifest->heads + STAY, manifest->heads_room - STAY, MADV_DONTNEED);
}

/* ---- files that were met ---- */

typedef struct {
    uint64_t device, inode;
} seen_t;

static int by_file(const void *a, const void *b) {
    return memcmp(a, b, sizeof(seen_t));
}

bool build_meet(build_t *build, const struct stat *status, const char *name, bool *is_new) {
    seen_t *file = malloc(sizeof *file);
    if (!file)
        return err_memory(build->err, sizeof *file);
    *file = (seen_t){status->st_dev, status->st_ino};
    seen_t *const *seen = tsearch(file, &build->seen, by_file);
    *is_new = seen && *seen == file;
    if (seen && !*is_new)
        log_note("%s was named or found before: taken once", name);
    if (!*is_new)
        free(file);
    return seen || err_memory(build->err, sizeof *file);
}

static void forget(build_t *build, const input_file_t *file) {
    const seen_t key = {file->device, file->inode};
    seen_t *const *seen = tfind(&key, &build->seen, by_file), *found = seen ? *seen : NULL;
    tdelete(&key, &build->seen, by_file);
    free(found);
}

void build_remove(build_t *build, size_t at) {
    manifest_t *manifest = build->manifest;
    input_file_t *file = &manifest->files[at];
    if (!file->member)
        forget(build, file);
    manifest_free_file(file);
    memmove(file, file + 1, (--manifest->count - at) * sizeof *file);
}

input_file_t *build_set_aside(build_t *build) {
    manifest_t *manifest = build->manifest;
    input_file_t *archive = malloc(sizeof *archive);
    if (!archive || !GROW(manifest->archives, build->archive_room, manifest->archive_count + 1, NULL)) {
        free(archive);
        err_memory(build->err, sizeof *archive);
        return NULL;
    }
    *archive = manifest->files[--manifest->count];
    manifest->archives[manifest->archive_count++] = archive;
    return archive;
}

void build_leave_out(build_t *build, size_t from, build_why_fn *why_not) {
    const manifest_t *manifest = build->manifest;
    for (size_t i = from; i < manifest->count;) {
        const char *why = why_not(build, &manifest->files[i]);
        if (!why) {
            i++;
            continue;
        }
        build_skip(build, manifest->files[i].name, why);
        build_remove(build, i);
    }
}

void build_skip(build_t *build, const char *path, const char *why) {
    const size_t skipped = ++build->manifest->skipped;
    char *clean = build->options->quiet ? NULL : name_clean(path);
    if (clean && skipped <= MOST_NOTES)
        log_note("skipped %s: %s%s", clean, why,
                 skipped == MOST_NOTES ? " (further ones are named with -v)" : "");
    else if (clean)
        log_detail("skipped %s: %s", clean, why);
    free(clean);
}

/* A load that is started in the folder of its inputs leaves its reject file there, and people may compress it. */
bool build_leave_out_rejects(build_t *build, bool found) {
    const input_file_t *file = &build->manifest->files[build->manifest->count - 1];
    if (!found)
        return magic_refuse_rejects(build->err, file->name);
    build_skip(build, file->name, "a reject file of tipple; --retry loads what was fixed in it, unpacked");
    build_remove(build, build->manifest->count - 1);
    return true;
}

/* A byte becomes three at most, as halfwidth letters of Japanese do. */
bool manifest_decode(manifest_t *manifest, const char *encoding) {
    for (input_file_t *file = manifest->files; encoding && file < manifest->files + manifest->count; file++) {
        if (file->encoding)
            continue;
        file->encoding = encoding;                  /* a file of UTF-16 is refused when it is read */
        file->head = (input_head_t){.bytes = NULL}; /* it was taken for UTF-8 */
        file->text_bound *= 3;
        if (file->kind == INPUT_PLAIN)
            file->kind = INPUT_ENCODED;
    }
    return true;
}

bool manifest_has_objects(const manifest_t *manifest) {
    size_t at = 0;
    while (at < manifest->count && !manifest->files[at].object)
        at++;
    return at < manifest->count;
}

void manifest_free_file(input_file_t *file) {
    source_close(file->begun);
    build_rename(file, NULL);
    free(file->path);
    free(file->fault);
    remote_forget(file->object);
    free(file->collection);
    free(file->metadata);
}

void manifest_free(manifest_t *manifest) {
    for (size_t i = 0; i < manifest->count; i++)
        manifest_free_file(&manifest->files[i]);
    for (size_t i = 0; i < manifest->archive_count; i++) {
        manifest_free_file(manifest->archives[i]);
        free(manifest->archives[i]);
    }
    if (manifest->heads)
        munmap(manifest->heads, manifest->heads_room);
    free(manifest->files);
    free(manifest->archives);
    *manifest = (manifest_t){0};
}
