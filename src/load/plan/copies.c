#include "load/plan/copies.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char mark[] = "!copy-";

bool copies_is_mark(const char *end) {
    const char *digits = end + sizeof mark - 1;
    return strncmp(end, mark, sizeof mark - 1) == 0 && *digits && !digits[strspn(digits, "0123456789")];
}

const char *copies_mark_of(const char *name) {
    const char *end = strrchr(name, mark[0]);
    return end && copies_is_mark(end) ? end : name + strlen(name);
}

bool copies_is_of(const char *input, const char *file) {
    const size_t length = strlen(file);
    return strncmp(input, file, length) == 0 && (!input[length] || copies_is_mark(input + length));
}

/* What is owned is made anew, or left out: what a dump tells of its collection is told once. */
static bool copy_file(input_file_t *to, const input_file_t *from, const char *name, err_t *err) {
    *to = *from;
    to->begun = NULL;
    to->metadata = NULL;
    to->path = strdup(from->path);
    to->name = strdup(name);
    to->collection = from->collection ? strdup(from->collection) : NULL;
    if (to->path && to->name && (!from->collection || to->collection))
        return true;
    manifest_free_file(to);
    return err_memory(err, strlen(from->path));
}

/* Members that follow each other are read in one pass where their archive is the same: a copy has its own. */
static bool copy_archive(manifest_t *manifest, const input_file_t **archive, err_t *err) {
    input_file_t *made = calloc(1, sizeof *made);
    if (!made || !copy_file(made, *archive, (*archive)->name, err)) {
        free(made);
        return made ? false : err_memory(err, sizeof *made);
    }
    manifest->archives[manifest->archive_count++] = made;
    *archive = made;
    return true;
}

static bool add_copy(manifest_t *manifest, size_t number, uint32_t copy, err_t *err) {
    const input_file_t *from = &manifest->files[number];
    input_file_t *to = &manifest->files[manifest->count];
    const size_t bytes = strlen(from->name) + sizeof mark + 10;
    char *name = malloc(bytes);
    if (!name)
        return err_memory(err, bytes);
    snprintf(name, bytes, "%s%s%u", from->name, mark, copy);
    const bool made = copy_file(to, from, name, err);
    free(name);
    if (!made)
        return false;
    manifest->count++;
    if (!from->archive)
        return true;
    if (!number || from->archive != from[-1].archive)
        return copy_archive(manifest, &to->archive, err);
    to->archive = to[-1].archive;
    return true;
}

static bool check(const manifest_t *manifest, bool copied, err_t *err) {
    for (size_t i = 0; i < manifest->count; i++) {
        const input_file_t *file = &manifest->files[i];
        const char *end = strrchr(file->name, '!');
        if (end && copies_is_mark(end))
            return err_set(err, STATUS_USAGE,
                           "%s: names that end in %s are those of copies (--copies): give it another one",
                           file->name, end);
        if (copied && file->kind == INPUT_STREAM)
            return err_set(err, STATUS_USAGE,
                           "--copies: %s is a stream, which can be read only once: give files", file->name);
    }
    return true;
}

bool copies_make(manifest_t *manifest, uint32_t copies, err_t *err) {
    const size_t files = manifest->count;
    if (!check(manifest, copies > 1, err))
        return false;
    if (copies < 2 || !files)
        return true;
    size_t room = files, archive_room = manifest->archive_count;
    if (!GROW(manifest->files, room, files * copies, err) ||
        !GROW(manifest->archives, archive_room, archive_room + files * copies, err))
        return false;
    for (uint32_t copy = 2; copy <= copies; copy++)
        for (size_t i = 0; i < files; i++)
            if (!add_copy(manifest, i, copy, err))
                return false;
    return true;
}
