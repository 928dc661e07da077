/* json_types: what the modules of src/format/json and their callers both speak of. */
#ifndef TIPPLE_FORMAT_JSON_JSON_TYPES_H
#define TIPPLE_FORMAT_JSON_JSON_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    JSON_MOST_LEVELS = 180,             /* of objects and arrays in each other: what a server stores */
    JSON_MOST_BYTES = 16 * 1024 * 1024, /* of a document */
    JSON_MARGIN = 256,                  /* what it takes of the room behind the document */
};

typedef struct json_value json_value_t;

typedef enum {
    JSON_DOCUMENT,
    JSON_REJECT, /* no document can be made of it: at, field and reason say why */
    JSON_FULL,   /* not enough room: call again with `needed` bytes */
    JSON_MEMORY, /* out of memory */
} json_read_t;

#endif
