/* register: finds which entry of the catalog belongs to which input of a load; new inputs get an entry. An input is
 * recognised by its name, size and digest. Under another folder it is recognised by its last name, size and digest,
 * unless its old path still has a file of that content: then this one is a copy, if it was not recognised under its path
 * before. Of a member of an archive the last name is the archive's, and the member's whole one. An input that is longer than its entry
 * and begins with the same bytes is the old input, grown: under its own name; or under another folder, if its file is
 * nowhere at the old name any more and no other entry fits. A stream is recognised by its whole name; a stream without
 * a name is never recognised. */
#ifndef TIPPLE_CATALOG_REGISTER_REGISTER_H
#define TIPPLE_CATALOG_REGISTER_REGISTER_H

#include "catalog/register/registration.h"

/* Status 5: an input has changed since it was loaded; `refuse` was told of each, and nothing was written. Status 1: a stream has the name of a file. */
bool catalog_register(store_t *store, registration_t *registering, err_t *err);
void register_free(
    registration_t *registering); /* the answers; of entries, those that the caller has not moved out */

#endif
