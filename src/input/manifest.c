#include "input/manifest.h"
#include "input/source.h"

#include <stdlib.h>

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
