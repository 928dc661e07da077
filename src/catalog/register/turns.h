/* turns: where later records replace earlier ones, may these inputs be loaded now, in the order of their numbers in the
 * catalog? */
#ifndef TIPPLE_CATALOG_REGISTER_TURNS_H
#define TIPPLE_CATALOG_REGISTER_TURNS_H

#include "catalog/register/registration.h"

/* registering: its answer, with or without entries of new inputs. all: the catalog's entries. False: status 1; something
 * before them is not loaded to its end, or something after them is begun. */
bool turns_check(const registration_t *registering, const entries_t *all, err_t *err);

/* An input that is done, and is known from another folder for the first time, but its file was written at another time: may it be
 * a new one with old content, whose records are to be the newest? Then the path of an input that was loaded since; else NULL. */
const char *turns_since(const registration_t *registering, const wanted_t *wanted, const entries_t *all);

#endif
