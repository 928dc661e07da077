/* json_lab: documents of a unit test, written as extended JSON. */
#ifndef TIPPLE_TESTS_JSON_LAB_H
#define TIPPLE_TESTS_JSON_LAB_H

#include "test.h"

#include <bson/bson.h>

/* To be destroyed. */
__attribute__((unused)) static bson_t *lab_json(const char *text) {
    bson_error_t error;
    bson_t *document = bson_new_from_json((const uint8_t *)text, -1, &error);
    if (!document)
        fail_msg("%s: %s", text, error.message);
    return document;
}

#endif
