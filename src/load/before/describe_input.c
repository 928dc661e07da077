#include "load/before/describe_input.h"
#include "input/manifest.h"
#include "catalog/record_id/record_id.h"
#include "catalog/record_id/room.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* A large plain file is divided into pieces of so many blocks (64 MiB), or larger ones where they would be
 * too many for one entry. */
enum { PIECE_BLOCKS = 256, MOST_PIECES = 256 };

static void print_digest(const input_file_t *input, const uint64_t digest[2], char out[33]) {
    out[0] = '\0';
    if (input->has_identity && input->kind != INPUT_STREAM)
        snprintf(out, 33, "%016llx%016llx", (unsigned long long)digest[0], (unsigned long long)digest[1]);
}

bool describe_digest_at(const input_file_t *input, uint64_t size, char digest[33], err_t *err) {
    uint64_t value[2];
    if (!manifest_digest_at(input, size, value, err))
        return false;
    print_digest(input, value, digest);
    return true;
}

/* A member is ARCHIVE!MEMBER; its archive is what stands there. */
bool describe_file_at(const char *path, file_id_t *file) {
    char name[4096];
    struct stat there;
    if ((size_t)snprintf(name, sizeof name, "%s", path) >= sizeof name)
        return false;
    while (stat(name, &there) != 0) {
        char *member = strrchr(name, '!');
        if (!member)
            return false;
        *member = '\0';
    }
    *file = (file_id_t){there.st_dev, there.st_ino};
    return S_ISREG(there.st_mode);
}

bool describe_may_grow(const input_file_t *input) {
    return input->has_identity && !input->archive &&
           (input->kind == INPUT_PLAIN || input->kind == INPUT_GZIP || input->kind == INPUT_ZSTD);
}

void describe_input(const input_file_t *input, wanted_t *wanted) {
    static const char *const kinds[] = {"plain", "gzip", "zstd", "zip", "stream"};
    const uint64_t blocks = input->text_bound / RECORD_ID_BLOCK_BYTES + 1;
    const bool seekable = input->kind == INPUT_PLAIN && !input_is_in_stream(input);
    uint64_t pieces = seekable ? blocks / PIECE_BLOCKS : 0;
    *wanted = (wanted_t){.name = input->name,
                         .kind = kinds[input->kind],
                         .path = input->archive ? input->archive->path : input->path,
                         .named = input->has_identity,
                         .may_grow = describe_may_grow(input),
                         .seen = {.size = input->kind == INPUT_STREAM ? 0 : input->disk_bytes,
                                  .modified_ns = input->modified_ns},
                         .extent_units = room_units(input),
                         .ordinals = room_ordinals(input),
                         .pieces = 1};
    print_digest(input, input->digest, wanted->seen.digest);
    if (input->text_bound)
        wanted->text_end = wanted->extent_units * RECORD_ID_EXTENT_UNIT;
    if (pieces >= 2) {
        pieces = pieces < MOST_PIECES ? pieces : MOST_PIECES;
        wanted->pieces = (size_t)pieces;
        wanted->piece_blocks = (blocks + pieces - 1) / pieces;
    }
}
