/* Which stages may stand before the $group, and which after it. */
#include "query/split/beyond.h"
#include "query/split/parts_inner.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef enum {
    NO_FIRST = 1, /* not before the $group */
    NO_AFTER = 2, /* not after it */
    FILTER = 4,
    GROUPS = 8,
} trait_t;

/* A stage that is not in this table is refused everywhere. After the $group every stage is allowed that uses only the
 * $group's output. */
static const struct {
    const char *name;
    unsigned traits;
    const char *why; /* why it is not allowed before the $group */
} stages[] = {
    {"$match", FILTER, NULL},
    {"$project", 0, NULL},
    {"$set", 0, NULL},
    {"$addFields", 0, NULL},
    {"$unset", 0, NULL},
    {"$unwind", 0, NULL},
    {"$replaceRoot", 0, NULL},
    {"$replaceWith", 0, NULL},
    {"$group", GROUPS, NULL},
    {"$count", GROUPS, NULL},
    {"$sortByCount", GROUPS, NULL},
    {"$redact", 0, NULL},
    {"$sort", NO_FIRST, "an order is one of all documents, not of each range's"},
    {"$limit", NO_FIRST, "it counts all documents, not each range's"},
    {"$skip", NO_FIRST, "it counts all documents, not each range's"},
    {"$sample", NO_FIRST, "it draws from all documents, not from each range's"},
    {"$bucket", NO_FIRST, "only $group, $count and $sortByCount are put together from parts"},
    {"$bucketAuto", NO_FIRST, "its buckets are made of all documents, not of each range's"},
    {"$setWindowFields", NO_FIRST, "its windows are of all documents, not of each range's"},
    {"$densify", NO_FIRST, "it fills gaps between all documents, not between each range's"},
    {"$fill", NO_FIRST, "it fills gaps between all documents, not between each range's"},
    {"$facet", NO_FIRST, "it has several results"},
    {"$lookup", NO_FIRST | NO_AFTER, "it reads other documents than the one it is at"},
    {"$graphLookup", NO_FIRST | NO_AFTER, "it reads other documents than the one it is at"},
    {"$unionWith", NO_FIRST | NO_AFTER, "it reads other documents than the one it is at"},
    {"$out", NO_FIRST | NO_AFTER, "it writes"},
    {"$merge", NO_FIRST | NO_AFTER, "it writes"},
};

enum { STAGES = sizeof stages / sizeof *stages };

bool parts_refuse(reader_t *reader, const char *fmt, ...) {
    char because[280];
    va_list args;
    va_start(args, fmt);
    vsnprintf(because, sizeof because, fmt, args);
    va_end(args);
    snprintf(reader->parts->why, sizeof reader->parts->why,
             "stage %u, %s, cannot be split exactly because %s", reader->number, reader->name, because);
    return false;
}

static size_t find_stage(const char *name) {
    size_t at = 0;
    while (at < STAGES && strcmp(stages[at].name, name) != 0)
        at++;
    return at;
}

bool parts_only_one(const bson_iter_t *map, bson_iter_t *one) {
    bson_iter_t more;
    if (!BSON_ITER_HOLDS_DOCUMENT(map) || !bson_iter_recurse(map, one) || !bson_iter_next(one))
        return false;
    more = *one;
    return !bson_iter_next(&more);
}

bool parts_open_stage(reader_t *reader, const bson_iter_t *stage, bson_iter_t *value) {
    bool ok = parts_only_one(stage, value);
    snprintf(reader->name, sizeof reader->name, "%s", ok ? bson_iter_key(value) : "{}");
    return ok || parts_refuse(reader, "it is not a stage");
}

bool parts_groups(const reader_t *reader) {
    const size_t at = find_stage(reader->name);
    return at < STAGES && stages[at].traits & GROUPS;
}

bool parts_leads(reader_t *reader, const bson_iter_t *value) {
    const size_t at = find_stage(reader->name);
    const char *beyond =
        at < STAGES && stages[at].traits & FILTER ? beyond_filter(value) : beyond_expression(value);
    if (at == STAGES)
        return parts_refuse(reader, "it is not known to look at one document at a time");
    if (stages[at].traits & NO_FIRST)
        return parts_refuse(reader, "%s", stages[at].why);
    return !beyond || parts_refuse(reader, "%s in it does not depend on the document alone", beyond);
}

/* {NAME: [stage, ...], ...} */
static bool facet_follows(reader_t *reader, const bson_iter_t *value) {
    bson_iter_t list, stage;
    if (!BSON_ITER_HOLDS_DOCUMENT(value) || !bson_iter_recurse(value, &list))
        return parts_refuse(reader, "it is not a map of lists of stages");
    while (bson_iter_next(&list)) {
        if (!BSON_ITER_HOLDS_ARRAY(&list) || !bson_iter_recurse(&list, &stage))
            return parts_refuse(reader, "'%.80s' in it is not a list of stages", bson_iter_key(&list));
        while (bson_iter_next(&stage))
            if (!parts_follows(reader, &stage))
                return false;
    }
    return true;
}

bool parts_follows(reader_t *reader, const bson_iter_t *stage) {
    bson_iter_t value;
    if (!parts_open_stage(reader, stage, &value))
        return false;
    size_t at = find_stage(reader->name);
    if (at == STAGES)
        return parts_refuse(reader, "it is not known to look at nothing but what comes before it");
    if (stages[at].traits & NO_AFTER)
        return parts_refuse(reader, "%s", stages[at].why);
    return strcmp(reader->name, "$facet") != 0 || facet_follows(reader, &value);
}
