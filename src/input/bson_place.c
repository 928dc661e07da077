#include "input/bson_place.h"
#include "format/cut/bson_length.h"

#include <inttypes.h>
#include <stdio.h>

bool bson_place_say(const bson_place_t *place, const uint8_t *text, size_t have, err_t *err) {
    char document[40] = "a document";
    if (place->number)
        snprintf(document, sizeof document, "document %" PRIu64, place->number);
    const uint32_t length = have < 4 ? 0 : bson_length(text);
    if (place->ends)
        return err_set(
            err, STATUS_INPUT,
            "%.1000s ends within %s, which begins at byte %" PRIu64
            ": it was cut off, or is still being written; the documents before that are read. Get the whole "
            "file, and run the command again",
            place->name, document, place->offset);
    if (bson_length_may_be(length))
        return err_set(err, STATUS_INPUT,
                       "%.1000s: %s, at byte %" PRIu64 ", says that it has %" PRIu32
                       " bytes, and does not end with a 0 there: nobody knows where the next one begins. The "
                       "documents before it are read. Get the file again, and run the command again",
                       place->name, document, place->offset, length);
    return err_set(err, STATUS_INPUT,
                   "%.1000s: %s, at byte %" PRIu64 ", says that it has %" PRId32
                   " bytes, and a document has from %d to %d: nobody knows where the next one begins. The "
                   "documents before it are read. Get the file again, and run the command again",
                   place->name, document, place->offset, (int32_t)length, BSON_LENGTH_LEAST,
                   BSON_LENGTH_MOST);
}
