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

/* See register_holds_fn; context: a describe_archive_t. */
bool describe_holds(void *context, const entry_t *entry);
/* See register_file_fn, register_records_fn, register_digest_fn, register_digest_as_fn. */
bool describe_file_at(const char *path, file_id_t *file);
bool describe_is_by_link(const char *path);
bool describe_may_hold_records(const input_file_t *input);
bool describe_digest_at(const input_file_t *input, uint64_t size, char digest[33], err_t *err);
void describe_digest_as(const input_file_t *input, const char *member, char digest[33]);

#endif
