#include "query/question.h"
#include "query/suite/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

bool question_digest(const query_t *query, const suite_t *suite, const bson_t *params,
                     char digest[QUESTION_DIGEST], err_t *err) {
    const yaml_item_t *const nodes[] = {query->body, query->options, query->draw};
    enum { NODES = sizeof nodes / sizeof *nodes };
    XXH128_canonical_t parts[NODES + 1] = {0};
    const char *collection = query->collection ? query->collection : "";
    bson_t all;
    bool ok = true;
    bson_copy_to(params, &all);
    for (size_t i = 0; query->draw && suite_given(query, i); i++)
        bson_append_null(&all, suite_given(query, i), -1);
    for (size_t i = 0; ok && i < NODES; i++) {
        bson_t filled;
        if (!nodes[i])
            continue;
        ok = i ? value_document(&filled, nodes[i], suite->tree, &all, err)
               : suite_fill(&filled, suite, query, &all, err);
        XXH128_canonicalFromHash(&parts[i], XXH3_128bits(bson_get_data(&filled), filled.len));
        bson_destroy(&filled);
    }
    XXH128_canonicalFromHash(&parts[NODES], XXH3_128bits(collection, strlen(collection)));
    const XXH128_hash_t hash = XXH3_128bits(parts, sizeof parts);
    snprintf(digest, QUESTION_DIGEST, "%016" PRIx64 "%016" PRIx64, hash.high64, hash.low64);
    bson_destroy(&all);
    return ok;
}
