#include "input/manifest.h"
#include "input/source.h"

#include <stdlib.h>

/* A byte becomes three at most, as halfwidth letters of Japanese do. */
bool manifest_decode(manifest_t *manifest, const char *encoding) {
    for (input_file_t *file = manifest->files; encoding && file < manifest->files + manifest->count; file++) {
        if (file->encoding)
            continue;
        file->encoding = encoding; /* a file of UTF-16 is refused when it is read */
        file->text_bound *= 3;
        if (file->kind == INPUT_PLAIN)
            file->kind = INPUT_ENCODED;
    }
    return true;
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
