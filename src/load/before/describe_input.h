/* describe_input: an input of the manifest as the catalog describes it. Used by loads and by verify. */
#ifndef TIPPLE_LOAD_BEFORE_DESCRIBE_INPUT_H
#define TIPPLE_LOAD_BEFORE_DESCRIBE_INPUT_H

#include "catalog/register/register.h"
#include "input/manifest.h"

void describe_input(const input_file_t *input, wanted_t *wanted);
bool describe_may_grow(const input_file_t *input);

/* What the catalog has of these inputs, without writing: *registration is made; the caller frees its entries
 * (register_free) and `wanted`. As catalog_register. */
bool describe_known(store_t *store, const manifest_t *manifest, const char *collection, bool own_ids,
                    registration_t *registration, err_t *err);

/* The archive that was listed last: thousands of entries may be members of one. */
typedef struct {
    char *path;
    manifest_t manifest;
} describe_archive_t;
void describe_archive_free(describe_archive_t *seen);

/* What a registration asks of these inputs and of this host's files. Both stay the caller's, until it asks no more. */
void describe_asked(registration_t *registration, const manifest_t *manifest, describe_archive_t *seen);

#endif
