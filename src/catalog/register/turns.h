/* turns: where later records replace earlier ones, may these inputs be loaded now, in the order of their numbers in the
 * catalog? */
#ifndef TIPPLE_CATALOG_REGISTER_TURNS_H
#define TIPPLE_CATALOG_REGISTER_TURNS_H

#include "catalog/register/registration.h"

/* registering: its answer, with or without entries of new inputs. all: the catalog's entries. False: status 1; something
 * before them is not loaded to its end, or something after them is begun. */
bool turns_check(const registration_t *registering, const entries_t *all, err_t *err);

#endif
