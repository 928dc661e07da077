/* describe_input: an input of the manifest as the catalog describes it. Used by loads and by verify. */
#ifndef TIPPLE_LOAD_PLAN_DESCRIBE_INPUT_H
#define TIPPLE_LOAD_PLAN_DESCRIBE_INPUT_H

#include "catalog/register/register.h"
#include "format/schema/schema.h"
#include "input/manifest.h"

void describe_input(const input_file_t *input, wanted_t *wanted);
bool describe_may_grow(const input_file_t *input);

/* What the catalog has of these inputs, without writing: *registration is made; the caller frees its entries
 * (register_free) and `wanted`. As catalog_register. */
bool describe_known(store_t *store, const manifest_t *manifest, const char *collection, bool own_ids,
                    registration_t *registration, err_t *err);

typedef enum { DESCRIBE_NOT_LOOKED, DESCRIBE_NO_RECORDS, DESCRIBE_RECORDS } describe_records_t;

/* What the answers are made from. */
typedef struct {
    const manifest_t *inputs;
    const schema_t *schema;
    describe_records_t *records; /* by input; NULL: at none */
    char *path; /* the archive that was listed last: thousands of entries may be members of one */
    manifest_t members;
} describe_asked_t;
void describe_asked_free(describe_asked_t *asked);

/* What a registration asks of these inputs and of this host's files. schema: of what is in the inputs; NULL: not known. All stay the
 * caller's, until it asks no more. */
void describe_asked(registration_t *registration, const manifest_t *manifest, const schema_t *schema,
                    describe_asked_t *asked);

#endif
