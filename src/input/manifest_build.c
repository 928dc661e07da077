/* A manifest from the arguments of a command. */
#include "input/dump_folder.h"
#include "input/file/name.h"
#include "input/identify.h"
#include "input/walk.h"

#include <stdlib.h>
#include <string.h>

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
    manifest_t *manifest = build->manifest;
    size_t own = 0, left = 0;
    for (size_t i = 0; i < manifest->count; i++)
        own += dump_folder_is_own_file(manifest->files[i].name);
    if (!own || own == manifest->count)
        return;
    for (size_t i = 0; i < manifest->count; i++)
        if (dump_folder_is_own_file(manifest->files[i].name)) {
            build_skip(build, manifest->files[i].name, dump_list_of_tipple);
            manifest_free_file(&manifest->files[i]);
        } else {
            manifest->files[left++] = manifest->files[i];
        }
    manifest->count = left;
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
