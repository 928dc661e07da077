#include "query/split/beyond.h"

#include <string.h>

/* Random numbers, scripts (which may keep something from one document for the next), and what only other stages or an
 * index know about a document. */
static const char *const operators[] = {"$rand", "$function",   "$accumulator", "$createObjectId",
                                        "$meta", "$sampleRate", "$where",       "$text",
                                        "$near", "$nearSphere", "$currentDate", NULL};

/* The time at which a command came differs from part to part. */
static const char *const variables[] = {"$$NOW", "$$CLUSTER_TIME", "$$SEARCH_META", NULL};

static const char *operator_of(const char *key) {
    for (const char *const *name = operators; key[0] == '$' && *name; name++)
        if (strcmp(*name, key) == 0)
            return *name;
    return NULL;
}

static const char *variable_of(const bson_iter_t *value) {
    const char *text = bson_iter_utf8(value, NULL);
    for (const char *const *name = variables; text[0] == '$' && *name; name++) {
        size_t length = strlen(*name);
        if (strncmp(text, *name, length) == 0 && (!text[length] || text[length] == '.'))
            return *name;
    }
    return NULL;
}

static const char *look(const bson_iter_t *value, bool expression) {
    bson_iter_t inner;
    const char *found = NULL;
    if (expression && BSON_ITER_HOLDS_UTF8(value))
        return variable_of(value);
    if ((!BSON_ITER_HOLDS_DOCUMENT(value) && !BSON_ITER_HOLDS_ARRAY(value)) ||
        !bson_iter_recurse(value, &inner))
        return NULL;
    while (!found && bson_iter_next(&inner)) {
        const char *key = bson_iter_key(&inner);
        if (expression && (strcmp(key, "$literal") == 0 || strcmp(key, "$const") == 0))
            continue;
        found = operator_of(key);
        if (!found)
            found = look(&inner, expression || strcmp(key, "$expr") == 0);
    }
    return found;
}

const char *beyond_expression(const bson_iter_t *value) {
    return look(value, true);
}

const char *beyond_filter(const bson_iter_t *filter) {
    return look(filter, false);
}
