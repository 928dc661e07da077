/* type_spec: what --type says of one column of a guess. A colon within a name or a key is written twice.
 *
 *     NAME:TYPE              its type, by a word of format files
 *     NAME:TYPE(PATTERN)     of dates
 *     NAME:KEY:TYPE          and the key that it is stored under
 *     NAME:KEY:              the key alone */
#ifndef TIPPLE_FORMAT_GUESS_TYPE_SPEC_H
#define TIPPLE_FORMAT_GUESS_TYPE_SPEC_H

#include "format/schema/schema.h"

#define TYPE_SPEC_ANEW                                                                                       \
    "leave the option out, or load into another collection, or start over with --drop, which drops the "     \
    "collection and its catalog"

typedef struct {
    const char *text; /* as it was given */
    char *name;
    char *key;                 /* NULL: as the guess says */
    const schema_type_t *type; /* NULL: the same */
    char *pattern;             /* NULL: what goes with the type */
} type_spec_t;

/* False: a mistake, with status 1. *spec is to be freed in any case. */
bool type_spec_read(const char *text, type_spec_t *spec, err_t *err);
void type_spec_free(type_spec_t *spec);

/* Does a format that is there already read the column like that? If not, the sentence says how it does. what: whose format
 * it is. */
bool type_spec_agrees(const type_spec_t *spec, const schema_t *schema, const char *what, err_t *err);

#endif
