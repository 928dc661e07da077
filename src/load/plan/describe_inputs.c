/* describe_inputs: describes inputs to the catalog, and answers what a registration asks of them and of files of this host. */
#include "base/clock.h"
#include "catalog/register/register.h"
#include "format/cut/ends.h"
#include "format/record/dialect.h"
#include "format/record/record_id.h"
#include "input/manifest.h"
#include "load/plan/inputs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A large plain file is divided into pieces of 64 MiB, or larger ones if those were too many for one entry. */
enum { PIECE_BLOCKS = 256, MOST_PIECES = 256 };

static void print_digest(const input_file_t *input, const uint64_t digest[2], char out[33]) {
    out[0] = '\0';
    if (input->has_identity && input->kind != INPUT_STREAM)
        snprintf(out, 33, "%016llx%016llx", (unsigned long long)digest[0], (unsigned long long)digest[1]);
}

static bool digest_of(const input_file_t *input, uint64_t size, char digest[33], err_t *err) {
    uint64_t value[2];
    if (!manifest_digest_at(input, size, value, err))
        return false;
    print_digest(input, value, digest);
    return true;
}

enum { LONGEST_PATH = 4096 };

/* Finds the file of a name, even the name of a member (ARCHIVE!MEMBER) or a copy: cuts `path` to the file. */
static bool find_file(const char *name, char path[LONGEST_PATH], struct stat *there, bool *member) {
    *member = false;
    if ((size_t)snprintf(path, LONGEST_PATH, "%s", name) >= LONGEST_PATH)
        return false;
    while (stat(path, there) != 0) {
        char *end = strrchr(path, '!');
        if (!end)
            return false;
        *member |= !copies_is_mark(end);
        *end = '\0';
    }
    return S_ISREG(there->st_mode);
}

static bool file_at(const char *path, file_id_t *file) {
    char name[LONGEST_PATH];
    struct stat there;
    bool member;
    if (!find_file(path, name, &there, &member))
        return false;
    *file = (file_id_t){.device = there.st_dev,
                        .inode = there.st_ino,
                        .size = (uint64_t)there.st_size,
                        .modified_ns = clock_from_timespec(there.st_mtim),
                        .copy = copies_mark_of(path),
                        .member = member ? path + strlen(name) + 1 : NULL};
    return true;
}

static bool is_by_link(const char *path) {
    char name[LONGEST_PATH];
    struct stat there;
    bool found = false;
    if ((size_t)snprintf(name, sizeof name, "%s", path) >= sizeof name)
        return false;
    for (char *end = name + 1; !found && *name; end++)
        if (!*end || *end == '/') {
            const char kept = *end;
            *end = '\0';
            found = lstat(name, &there) == 0 && S_ISLNK(there.st_mode);
            if (!kept)
                break;
            *end = kept;
        }
    return found;
}

/* True if the file has the content of a version of the entry, or has grown from the newest one. */
static bool file_holds(const char *path, uint64_t size, const entry_t *entry) {
    const input_file_t file = {.path = (char *)path, .name = (char *)path, .has_identity = true};
    err_t ignored;
    char digest[33];
    for (size_t i = entry->version_count; i-- > 0;) {
        const version_t *version = &entry->versions[i];
        const bool newest = version == entry_newest(entry);
        if ((version->size == size || (newest && version->size < size)) &&
            digest_of(&file, version->size, digest, &ignored) && strcmp(digest, version->digest) == 0)
            return true;
    }
    return false;
}

static void forget_archive(describe_asked_t *asked) {
    manifest_free(&asked->members);
    free(asked->path);
    asked->members = (manifest_t){0};
    asked->path = NULL;
}

static bool list_archive(describe_asked_t *asked, const char *path) {
    const manifest_options_t options = {.quiet = true, .every_collection = true};
    err_t ignored;
    if (asked->path && strcmp(asked->path, path) == 0)
        return true;
    forget_archive(asked);
    if (!(asked->path = strdup(path)))
        return false;
    if (!manifest_build(&asked->members, &asked->path, 1, &options, &ignored))
        asked->members = (manifest_t){0}; /* no members */
    return true;
}

static bool member_holds(describe_asked_t *asked, const char *path, const char *name, const entry_t *entry) {
    if (!list_archive(asked, path))
        return false;
    for (size_t i = 0; i < asked->members.count; i++) {
        const input_file_t *file = &asked->members.files[i];
        char digest[33];
        print_digest(file, file->digest, digest);
        if (copies_is_of(name, file->name) && entry_version_of(entry, file->disk_bytes, digest))
            return true;
    }
    return false;
}

static bool holds(void *context, const char *name, const entry_t *entry) {
    char path[LONGEST_PATH];
    struct stat is;
    bool member;
    if (!find_file(name, path, &is, &member))
        return false;
    return member ? member_holds(context, path, name, entry) : file_holds(path, (uint64_t)is.st_size, entry);
}

void describe_asked_free(describe_asked_t *asked) {
    forget_archive(asked);
    peek_free(asked->peek);
    asked->peek = NULL;
    free(asked->records);
    asked->records = NULL;
}

bool describe_may_grow(const input_file_t *input) {
    return input->has_identity && !input->archive &&
           (input->kind == INPUT_PLAIN || input_kind_is_compressed(input->kind));
}

enum { PACKED_LEAST = 256 };

/* True if an input may hold records. Opens a packed input only if it is small enough to be empty, and no member of a compressed
 * tar, which would all be read. */
static bool may_hold_records(describe_asked_t *asked, const input_file_t *input) {
    err_t ignored;
    const bool packed = input->kind != INPUT_PLAIN;
    if (!asked->schema || input_is_in_stream(input) || (packed && input->disk_bytes >= PACKED_LEAST))
        return input->disk_bytes;
    if (!asked->peek && !(asked->peek = peek_new(asked->schema, false, &ignored)))
        return true;
    return peek_records(asked->peek, input);
}

static const char *last_name_of(const input_file_t *input) {
    const char *end = input->name + (input->member ? input->member : strlen(input->name));
    while (end > input->name && end[-1] != '/')
        end--;
    return end;
}

void describe_input(const input_file_t *input, wanted_t *wanted) {
    const uint64_t blocks = input->text_bound / RECORD_ID_BLOCK_BYTES + 1;
    const bool seekable = input_has_places(input);
    uint64_t pieces = seekable ? blocks / PIECE_BLOCKS : 0;
    *wanted = (wanted_t){.name = input->name,
                         .kind = input->encoding ? input->encoding : input_kind_name(input->kind),
                         .last_name = last_name_of(input),
                         .path = input->by_name   ? NULL
                                 : input->archive ? input->archive->path
                                                  : input->path,
                         .copy_mark = copies_mark_of(input->name),
                         .named = input->has_identity,
                         .by_name = input->by_name || input->kind == INPUT_STREAM,
                         .of_archive = !input->by_name && (input->kind == INPUT_ZIP_MEMBER ||
                                                           (input->archive && input->kind != INPUT_DUMP)),
                         .may_grow = describe_may_grow(input),
                         .seen = {.size = input->kind == INPUT_STREAM ? 0 : input->disk_bytes,
                                  .modified_ns = input->modified_ns},
                         .begins = input->begins,
                         .extent_units = room_units(input),
                         .ordinals = room_ordinals(input),
                         .pieces = 1};
    print_digest(input, input->digest, wanted->seen.digest);
    if (input->text_bound)
        wanted->text_end = wanted->extent_units * RECORD_ID_EXTENT_UNIT;
    if (pieces >= 2) {
        pieces = pieces < MOST_PIECES ? pieces : MOST_PIECES;
        wanted->pieces = (size_t)pieces;
        wanted->piece_blocks = blocks / pieces; /* the last piece takes the rest and is never small: */
        _Static_assert(
            PIECE_BLOCKS * RECORD_ID_BLOCK_BYTES > 2 * ENDS_MOST,
            "the quote that a file ends within is in its last piece, which is read again when it grows");
    }
}

static bool digest_at(const void *context, size_t number, uint64_t size, char digest[33], err_t *err) {
    return digest_of(&((const manifest_t *)context)->files[number], size, digest, err);
}

static void digest_as(const void *context, size_t number, const char *member, char digest[33]) {
    const input_file_t *input = &((const manifest_t *)context)->files[number];
    uint64_t value[2];
    manifest_digest_as(input, member, value);
    print_digest(input, value, digest);
}

/* Keeps each answer: an input may be compared with thousands of others. */
static bool may_hold(void *context, size_t number) {
    describe_asked_t *asked = context;
    const size_t count = asked->inputs->count;
    if (!asked->records && !(asked->records = calloc(count, sizeof *asked->records)))
        return true;
    if (asked->records[number] == DESCRIBE_NOT_LOOKED)
        asked->records[number] =
            may_hold_records(asked, &asked->inputs->files[number]) ? DESCRIBE_RECORDS : DESCRIBE_NO_RECORDS;
    return asked->records[number] == DESCRIBE_RECORDS;
}

void describe_asked(registration_t *registration, const manifest_t *manifest, const schema_t *schema,
                    describe_asked_t *asked) {
    *asked = (describe_asked_t){.inputs = manifest, .schema = schema};
    registration->digest_at = digest_at;
    registration->digest_as = digest_as;
    registration->may_hold = may_hold;
    registration->file_at = file_at;
    registration->by_link = is_by_link;
    registration->holds = holds;
    registration->context = manifest;
    registration->holds_context = asked;
}

bool describe_known(store_t *store, const manifest_t *manifest, const char *collection, bool own_ids,
                    registration_t *registration, err_t *err) {
    describe_asked_t asked;
    *registration =
        (registration_t){.count = manifest->count, .read_only = true, .own_ids = own_ids, .name = collection};
    if (!(registration->wanted = calloc(registration->count + 1, sizeof *registration->wanted)))
        return err_memory(err, registration->count * sizeof *registration->wanted);
    for (size_t i = 0; i < registration->count; i++)
        describe_input(&manifest->files[i], &registration->wanted[i]);
    describe_asked(registration, manifest, NULL, &asked);
    const bool ok = catalog_register(store, registration, err);
    describe_asked_free(&asked);
    return ok;
}
