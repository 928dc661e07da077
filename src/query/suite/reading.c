#include "query/suite/reading.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Where a stage contains pipelines. */
typedef enum { NOWHERE, IN_PIPELINE, IN_EACH } inside_t;

static const struct {
    const char *name;
    inside_t inside;
} stages[] = {
    {"$addFields", NOWHERE},  {"$bucket", NOWHERE},          {"$bucketAuto", NOWHERE},
    {"$collStats", NOWHERE},  {"$count", NOWHERE},           {"$densify", NOWHERE},
    {"$documents", NOWHERE},  {"$facet", IN_EACH},           {"$fill", NOWHERE},
    {"$geoNear", NOWHERE},    {"$graphLookup", NOWHERE},     {"$group", NOWHERE},
    {"$indexStats", NOWHERE}, {"$limit", NOWHERE},           {"$lookup", IN_PIPELINE},
    {"$match", NOWHERE},      {"$planCacheStats", NOWHERE},  {"$project", NOWHERE},
    {"$redact", NOWHERE},     {"$replaceRoot", NOWHERE},     {"$replaceWith", NOWHERE},
    {"$sample", NOWHERE},     {"$search", NOWHERE},          {"$searchMeta", NOWHERE},
    {"$set", NOWHERE},        {"$setWindowFields", NOWHERE}, {"$skip", NOWHERE},
    {"$sort", NOWHERE},       {"$sortByCount", NOWHERE},     {"$unionWith", IN_PIPELINE},
    {"$unset", NOWHERE},      {"$unwind", NOWHERE},          {"$vectorSearch", NOWHERE},
};

enum { DEEPEST = 32, WHY = 400 };

typedef struct {
    bool known;
    char why[WHY];
} look_t;

static bool __attribute__((format(printf, 2, 3))) refuse(look_t *look, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vsnprintf(look->why, sizeof look->why, fmt, args);
    va_end(args);
    return false;
}

static bool is_unknown(const look_t *look, const bson_iter_t *at) {
    return !look->known && BSON_ITER_HOLDS_NULL(at);
}

static bool look_at_pipeline(look_t *look, const bson_iter_t *at, int depth);

static bool look_inside(look_t *look, const bson_iter_t *stage, inside_t inside, int depth) {
    bson_iter_t field;
    if (BSON_ITER_HOLDS_ARRAY(stage))
        return refuse(look, "%s has a map", bson_iter_key(stage));
    if (!BSON_ITER_HOLDS_DOCUMENT(stage)) /* {$unionWith: NAME} */
        return true;
    bson_iter_recurse(stage, &field);
    while (bson_iter_next(&field))
        if ((inside == IN_EACH || strcmp(bson_iter_key(&field), "pipeline") == 0) &&
            !look_at_pipeline(look, &field, depth + 1))
            return false;
    return true;
}

static bool look_at_stage(look_t *look, const bson_iter_t *at, int depth) {
    bson_iter_t stage, other;
    if (is_unknown(look, at))
        return true;
    bool one = BSON_ITER_HOLDS_DOCUMENT(at) && bson_iter_recurse(at, &stage) && bson_iter_next(&stage);
    if (one) {
        other = stage;
        one = bson_iter_key(&stage)[0] == '$' && !bson_iter_next(&other);
    }
    if (!one)
        return refuse(look, "a stage is a map with one key, such as {$match: {...}}");
    const char *name = bson_iter_key(&stage);
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        if (strcmp(stages[i].name, name) == 0)
            return stages[i].inside == NOWHERE || look_inside(look, &stage, stages[i].inside, depth);
    if (strcmp(name, "$out") == 0 || strcmp(name, "$merge") == 0)
        return refuse(look, "a timed query does not write; leave %s out", name);
    return refuse(look,
                  "'%.60s' is not among the stages that are known to read only, and a timed query does not "
                  "write; leave it out",
                  name);
}

static bool look_at_pipeline(look_t *look, const bson_iter_t *at, int depth) {
    bson_iter_t stage;
    if (is_unknown(look, at))
        return true;
    if (depth > DEEPEST)
        return refuse(look, "more than %d pipelines in each other", DEEPEST);
    if (!BSON_ITER_HOLDS_ARRAY(at))
        return refuse(look, "'%.60s' is a pipeline here: a list of stages", bson_iter_key(at));
    bson_iter_recurse(at, &stage);
    while (bson_iter_next(&stage))
        if (!look_at_stage(look, &stage, depth))
            return false;
    return true;
}

bool reading_check(const bson_t *pipeline, bool known, const yaml_tree_t *tree, const yaml_item_t *list,
                   err_t *err) {
    look_t look = {.known = known};
    bson_iter_t stage;
    const yaml_item_t *node = list->first;
    bool ok = bson_iter_init(&stage, pipeline);
    while (ok && bson_iter_next(&stage)) {
        if (!look_at_stage(&look, &stage, 0))
            return yaml_tree_complain(tree, node ? node : list, err, "%s", look.why);
        node = node ? node->next : NULL;
    }
    return ok || yaml_tree_complain(tree, list, err, "a list of stages was expected here");
}
