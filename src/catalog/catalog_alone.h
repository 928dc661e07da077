/* catalog_alone: loads that must not work beside others: with --drop, and with --existing replace. */
#ifndef TIPPLE_CATALOG_CATALOG_ALONE_H
#define TIPPLE_CATALOG_CATALOG_ALONE_H

#include "catalog/catalog.h"

/* Waits until each other load (or only this one) has ended or is known to be dead. Refused while one is alive, which is
 * one whose beat rises, but not within patience_ns because of one that has loaded nothing. why: a part of the sentence. */
bool catalog_wait_for_loads(store_t *store, const char *name, const catalog_drop_t *drop,
                            const load_id_t *only, int64_t patience_ns, const char *why, err_t *err);

#endif
