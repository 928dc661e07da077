#include "verify/stray/stray_ranges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void stray_ranges_between(bson_t *filter, uint64_t from, uint64_t to) {
    bson_t range;
    BSON_APPEND_DOCUMENT_BEGIN(filter, "_id", &range);
    BSON_APPEND_INT64(&range, "$gte", (int64_t)from);
    if (to > INT64_MAX)
        BSON_APPEND_INT64(&range, "$lte", INT64_MAX);
    else
        BSON_APPEND_INT64(&range, "$lt", (int64_t)to);
    bson_append_document_end(filter, &range);
}

/* Ranges of one type each: such a comparison is answered from the index, or (clustered) from the one end of
 * the collection, while "not a number" would look at every document. */
bson_t *stray_ranges_of_no_place(size_t *count_out) {
    static const uint8_t nothing[1] = {0};
    bson_t *others = aligned_alloc(_Alignof(bson_t), 16 * sizeof *others);
    bson_oid_t lowest;
    bson_t empty = BSON_INITIALIZER;
    size_t n = 0;
    if (!others)
        return NULL;
    memset(&lowest, 0, sizeof lowest);
#define RANGE(...)                                                                                           \
    do {                                                                                                     \
        bson_init(&others[n]);                                                                               \
        BCON_APPEND(&others[n++], "_id", __VA_ARGS__);                                                       \
    } while (0)
    RANGE(BCON_MINKEY);
    RANGE(BCON_NULL);
    RANGE(BCON_DOUBLE(NAN));
    RANGE("{", "$lt", BCON_INT64(0), "}");
    RANGE("{", "$gt", BCON_INT64(INT64_MAX), "}");
    RANGE("{", "$gte", BCON_UTF8(""), "}");
    RANGE("{", "$gte", BCON_DOCUMENT(&empty), "}");
    RANGE("{", "$gte", BCON_BIN(BSON_SUBTYPE_BINARY, nothing, 0), "}");
    RANGE("{", "$gte", BCON_OID(&lowest), "}");
    RANGE("{", "$gte", BCON_BOOL(false), "}");
    RANGE("{", "$gte", BCON_DATE_TIME(INT64_MIN), "}");
    RANGE("{", "$gte", BCON_TIMESTAMP(0, 0), "}");
    RANGE("{", "$gte", BCON_DBPOINTER("", &lowest), "}");
    RANGE("{", "$gte", BCON_CODE(""), "}");
    RANGE("{", "$gte", BCON_CODEWSCOPE("", &empty), "}");
    RANGE(BCON_MAXKEY);
#undef RANGE
    bson_destroy(&empty);
    *count_out = n;
    return others;
}

bson_t *stray_ranges_everything(size_t *count) {
    bson_t *all = aligned_alloc(_Alignof(bson_t), sizeof *all);
    if (all)
        bson_init(all);
    *count = all != NULL;
    return all;
}
