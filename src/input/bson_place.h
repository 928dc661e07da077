/* bson_place: the sentence for the place where a BSON text cannot be read on. */
#ifndef TIPPLE_INPUT_BSON_PLACE_H
#define TIPPLE_INPUT_BSON_PLACE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *name;
    uint64_t offset, number; /* number: of the document, from 1; 0: not known */
    bool ends;               /* the text ends in it; else it is none */
} bson_place_t;

/* text[0, have) is what there is of the document. Always false, with status 5. */
bool bson_place_say(const bson_place_t *place, const uint8_t *text, size_t have, err_t *err);

#endif
