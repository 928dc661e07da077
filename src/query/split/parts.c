#include "query/split/beyond.h"
#include "query/split/parts_inner.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void add_stage(list_t *list, const bson_iter_t *stage) {
    bson_append_iter(list->list, parts_next_key(list), -1, stage);
}

/* ---- stages ---- */

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

/* A stage's name and value. False: it is not a stage; the server will say so. */
static bool open_stage(reader_t *reader, const bson_iter_t *stage, bson_iter_t *value) {
    bool ok = parts_only_one(stage, value);
    snprintf(reader->name, sizeof reader->name, "%s", ok ? bson_iter_key(value) : "{}");
    return ok || parts_refuse(reader, "it is not a stage");
}

static bool is_lead(reader_t *reader, size_t at, const bson_iter_t *value) {
    const char *beyond =
        at < STAGES && stages[at].traits & FILTER ? beyond_filter(value) : beyond_expression(value);
    if (at == STAGES)
        return parts_refuse(reader, "it is not known to look at one document at a time");
    if (stages[at].traits & NO_FIRST)
        return parts_refuse(reader, "%s", stages[at].why);
    return !beyond || parts_refuse(reader, "%s in it does not depend on the document alone", beyond);
}

/* ---- what follows ---- */

static bool follows(reader_t *reader, const bson_iter_t *stage);

/* {NAME: [stage, ...], ...} */
static bool facet_follows(reader_t *reader, const bson_iter_t *value) {
    bson_iter_t list, stage;
    if (!BSON_ITER_HOLDS_DOCUMENT(value) || !bson_iter_recurse(value, &list))
        return parts_refuse(reader, "it is not a map of lists of stages");
    while (bson_iter_next(&list)) {
        if (!BSON_ITER_HOLDS_ARRAY(&list) || !bson_iter_recurse(&list, &stage))
            return parts_refuse(reader, "'%.80s' in it is not a list of stages", bson_iter_key(&list));
        while (bson_iter_next(&stage))
            if (!follows(reader, &stage))
                return false;
    }
    return true;
}

static bool follows(reader_t *reader, const bson_iter_t *stage) {
    bson_iter_t value;
    if (!open_stage(reader, stage, &value))
        return false;
    size_t at = find_stage(reader->name);
    if (at == STAGES)
        return parts_refuse(reader, "it is not known to look at nothing but what comes before it");
    if (stages[at].traits & NO_AFTER)
        return parts_refuse(reader, "%s", stages[at].why);
    return strcmp(reader->name, "$facet") != 0 || facet_follows(reader, &value);
}

static bool read_pipeline(parts_t *parts, const bson_t *pipeline) {
    reader_t reader = {.parts = parts};
    list_t lead = {.list = &parts->lead}, merge = {.list = &parts->merge};
    bson_iter_t stage, value;
    bool grouped = false, ok = bson_iter_init(&stage, pipeline);
    while (ok && bson_iter_next(&stage)) {
        reader.number++;
        if (!open_stage(&reader, &stage, &value))
            return false;
        size_t at = find_stage(reader.name);
        if (grouped) {
            ok = follows(&reader, &stage);
            add_stage(&merge, &stage);
        } else if (at < STAGES && stages[at].traits & GROUPS) {
            ok = grouped = parts_take_group(&reader, &value, &merge);
        } else {
            ok = is_lead(&reader, at, &value);
            add_stage(&lead, &stage);
        }
    }
    if (ok && !grouped)
        snprintf(parts->why, sizeof parts->why,
                 "it cannot be split: it has no $group that could be put together from parts");
    return ok && grouped;
}

void parts_plan(parts_t *parts, const bson_t *pipeline) {
    *parts = (parts_t){.can = false};
    bson_init(&parts->lead);
    bson_init(&parts->group);
    bson_init(&parts->merge);
    parts->can = read_pipeline(parts, pipeline);
}

void parts_free(parts_t *parts) {
    if (parts->lead.len) {
        bson_destroy(&parts->lead);
        bson_destroy(&parts->group);
        bson_destroy(&parts->merge);
    }
    parts->lead.len = 0;
}

/* ---- pipelines to send ---- */

static void add_all(list_t *list, const bson_t *more) {
    bson_iter_t stage;
    bson_iter_init(&stage, more);
    while (bson_iter_next(&stage))
        add_stage(list, &stage);
}

void parts_pipeline(const parts_t *parts, const bson_iter_t *from, const bson_iter_t *to, uint32_t limit,
                    bson_t *pipeline) {
    list_t list = {.list = pipeline};
    bson_t match = BSON_INITIALIZER, range;
    bson_init(pipeline);
    if (from || to) {
        bson_append_document_begin(&match, "_id", -1, &range);
        if (from)
            bson_append_iter(&range, "$gte", -1, from);
        if (to)
            bson_append_iter(&range, "$lt", -1, to);
        bson_append_document_end(&match, &range);
        parts_add(&list, "$match", &match);
    }
    if (limit) {
        bson_t stage;
        bson_append_document_begin(pipeline, parts_next_key(&list), -1, &stage);
        bson_append_int64(&stage, "$limit", -1, limit);
        bson_append_document_end(pipeline, &stage);
    }
    add_all(&list, &parts->lead);
    bson_append_document(pipeline, parts_next_key(&list), -1, &parts->group);
    bson_destroy(&match);
}

void parts_merge(const parts_t *parts, const bson_t *documents, bson_t *pipeline) {
    list_t list = {.list = pipeline};
    bson_t stage, literal;
    bson_init(pipeline);
    bson_append_document_begin(pipeline, parts_next_key(&list), -1, &stage);
    bson_append_document_begin(&stage, "$documents", -1, &literal);
    /* as a literal: keys such as "$k" are data */
    bson_append_array(&literal, "$literal", -1, documents);
    bson_append_document_end(&stage, &literal);
    bson_append_document_end(pipeline, &stage);
    add_all(&list, &parts->merge);
}

bool parts_overflowed(const bson_t *document) {
    static const double limit = 9223372036854775808.0; /* 2^63 */
    bson_iter_t field;
    bson_iter_init(&field, document);
    while (bson_iter_next(&field)) {
        if (bson_iter_key(&field)[0] != 's' || !BSON_ITER_HOLDS_DOUBLE(&field))
            continue;
        double size = fabs(bson_iter_double(&field));
        if (size >= limit && !isinf(size)) /* an infinite number was no whole number */
            return true;
    }
    return false;
}
