/* bson_lab: documents of all types by chance, and what libbson says of their structure. */
#ifndef TIPPLE_TESTS_BSON_LAB_H
#define TIPPLE_TESTS_BSON_LAB_H

#include "base/document.h"
#include "format_lab.h"

/* Elements of all types under short keys; nested documents down to that many levels. */
LAB_UNUSED void lab_fill(bson_t *document, uint64_t *seed, int levels) {
    const uint64_t count = lab_chance(seed, 12);
    for (uint64_t i = 0; i < count; i++) {
        char key[24];
        bson_t inner = BSON_INITIALIZER;
        bson_oid_t oid;
        bson_decimal128_t decimal = {.low = *seed, .high = 0x3040000000000000u};
        const int key_length =
            snprintf(key, sizeof key, "%.*s%d", (int)lab_chance(seed, 18), "some long key here", (int)i);
        bson_oid_init(&oid, NULL);
        if (levels)
            lab_fill(&inner, seed, levels - 1);
        switch (lab_chance(seed, 20)) {
        case 0:
            bson_append_double(document, key, key_length, 1.5);
            break;
        case 1:
            bson_append_utf8(document, key, key_length, "some text\0of it", (int)lab_chance(seed, 16));
            break;
        case 2:
            bson_append_document(document, key, key_length, &inner);
            break;
        case 3:
            bson_append_array(document, key, key_length, &inner);
            break;
        case 4:
            bson_append_binary(document, key, key_length, BSON_SUBTYPE_USER,
                               key_length ? (uint8_t *)key : NULL,
                               (uint32_t)lab_chance(seed, (uint64_t)key_length + 1));
            break;
        case 5:
            bson_append_undefined(document, key, key_length);
            break;
        case 6:
            bson_append_oid(document, key, key_length, &oid);
            break;
        case 7:
            bson_append_bool(document, key, key_length, i % 2);
            break;
        case 8:
            bson_append_date_time(document, key, key_length, (int64_t)*seed);
            break;
        case 9:
            bson_append_null(document, key, key_length);
            break;
        case 10:
            bson_append_regex(document, key, key_length, "^a.*b", "im");
            break;
        case 11:
            bson_append_dbpointer(document, key, key_length, "a.b", &oid);
            break;
        case 12:
            bson_append_code(document, key, key_length, "f()");
            break;
        case 13:
            bson_append_symbol(document, key, key_length, "sym", -1);
            break;
        case 14:
            bson_append_code_with_scope(document, key, key_length, "f()", &inner);
            break;
        case 15:
            bson_append_int32(document, key, key_length, (int32_t)*seed);
            break;
        case 16:
            bson_append_timestamp(document, key, key_length, 1, 2);
            break;
        case 17:
            bson_append_int64(document, key, key_length, (int64_t)*seed);
            break;
        case 18:
            bson_append_decimal128(document, key, key_length, &decimal);
            break;
        default:
            i % 2 ? bson_append_minkey(document, key, key_length)
                  : bson_append_maxkey(document, key, key_length);
        }
        bson_destroy(&inner);
    }
}

/* True if one gets through all elements, and those within them. */
LAB_UNUSED bool lab_iterates(const uint8_t *bytes, uint32_t length) {
    bson_t document;
    bson_iter_t iter;
    if (!bson_init_static(&document, bytes, length) || !bson_iter_init(&iter, &document))
        return false;
    while (element_next(&iter)) {
        const uint8_t *inner = NULL, *code;
        uint32_t inner_length = 0, code_length;
        if (BSON_ITER_HOLDS_DOCUMENT(&iter))
            bson_iter_document(&iter, &inner_length, &inner);
        else if (BSON_ITER_HOLDS_ARRAY(&iter))
            bson_iter_array(&iter, &inner_length, &inner);
        else if (BSON_ITER_HOLDS_CODEWSCOPE(&iter))
            code = (const uint8_t *)bson_iter_codewscope(&iter, &code_length, &inner_length, &inner),
            (void)code;
        else
            continue;
        if (!inner || !lab_iterates(inner, inner_length))
            return false;
    }
    return !iter.err_off;
}

#endif
