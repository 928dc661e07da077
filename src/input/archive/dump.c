#include "input/archive/dump.h"
#include "input/archive/dump_list.h"

#include <bson/bson.h>
#include <stdio.h>
#include <string.h>

static const char *text_of(const bson_t *document, const char *key) {
    bson_iter_t iter;
    uint32_t length;
    if (!bson_iter_init_find(&iter, document, key) || !BSON_ITER_HOLDS_UTF8(&iter))
        return NULL;
    const char *text = bson_iter_utf8(&iter, &length);
    return strlen(text) == length ? text : NULL;
}

bool dump_header_read(const uint8_t *document, uint32_t length, dump_header_t *header) {
    bson_t bson;
    bson_iter_t iter;
    if (!bson_init_static(&bson, document, length))
        return false;
    const char *database = text_of(&bson, "db"), *collection = text_of(&bson, "collection"),
               *type = text_of(&bson, "type"), *metadata = text_of(&bson, "metadata");
    if (!database || !collection || !collection[0])
        return false;
    *header = (dump_header_t){.metadata = metadata && metadata[0] ? metadata : NULL};
    snprintf(header->type, sizeof header->type, "%s",
             type                                              ? type
             : header->metadata && dump_list_is_view(metadata) ? "view"
                                                               : "");
    header->ends = bson_iter_init_find(&iter, &bson, "EOF") && bson_iter_as_bool(&iter);
    if (bson_iter_init_find(&iter, &bson, "CRC") && BSON_ITER_HOLDS_INT64(&iter))
        header->crc = (uint64_t)bson_iter_int64(&iter);
    return (size_t)snprintf(header->name, sizeof header->name, "%s.%s", database, collection) <
           sizeof header->name;
}
