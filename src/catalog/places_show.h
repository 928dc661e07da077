/* places_show: how a person names one input where its own name may mean several. */
#ifndef TIPPLE_CATALOG_PLACES_SHOW_H
#define TIPPLE_CATALOG_PLACES_SHOW_H

#include "base/text.h"
#include "catalog/places.h"

/* A name by which surely this input, which is not removed, is meant: its own, or else NAME#ORDINAL. */
void places_show(const places_t *places, const entry_t *entry, text_t *out);
/* So all that are there and that may be meant by a name. */
void places_show_meant(const places_t *places, const char *name, text_t *out);

#endif
