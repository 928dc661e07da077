#include "query/split/parts.h"
#include "query/split/beyond.h"
#include "server/bson_read.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER = 16 };

/* "7": the key of the list's next element */
typedef struct {
    bson_t *list;
    uint32_t count;
    char digits[NUMBER];
} list_t;

static const char *next_key(list_t *list) {
    const char *key;
    bson_uint32_to_string(list->count++, &key, list->digits, sizeof list->digits);
    return key;
}

static void add_stage(list_t *list, const bson_iter_t *stage) {
    bson_append_iter(list->list, next_key(list), -1, stage);
}

/* {NAME: value} */
static void add_made(list_t *list, const char *name, const bson_t *value) {
    bson_t stage;
    bson_append_document_begin(list->list, next_key(list), -1, &stage);
    bson_append_document(&stage, name, -1, value);
    bson_append_document_end(list->list, &stage);
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

typedef struct {
    parts_t *parts;
    uint32_t number; /* of the stage, from 1 */
    char name[64];
} reader_t;

static bool __attribute__((format(printf, 2, 3))) refuse(reader_t *reader, const char *fmt, ...) {
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

/* The only item of a map: a stage, or an accumulator. */
static bool only_one(const bson_iter_t *map, bson_iter_t *one) {
    bson_iter_t more;
    if (!BSON_ITER_HOLDS_DOCUMENT(map) || !bson_iter_recurse(map, one) || !bson_iter_next(one))
        return false;
    more = *one;
    return !bson_iter_next(&more);
}

/* A stage's name and value. False: it is not a stage; the server will say so. */
static bool open_stage(reader_t *reader, const bson_iter_t *stage, bson_iter_t *value) {
    bool ok = only_one(stage, value);
    snprintf(reader->name, sizeof reader->name, "%s", ok ? bson_iter_key(value) : "{}");
    return ok || refuse(reader, "it is not a stage");
}

static bool is_lead(reader_t *reader, size_t at, const bson_iter_t *value) {
    const char *beyond =
        at < STAGES && stages[at].traits & FILTER ? beyond_filter(value) : beyond_expression(value);
    if (at == STAGES)
        return refuse(reader, "it is not known to look at one document at a time");
    if (stages[at].traits & NO_FIRST)
        return refuse(reader, "%s", stages[at].why);
    return !beyond || refuse(reader, "%s in it does not depend on the document alone", beyond);
}

/* ---- what follows ---- */

static bool follows(reader_t *reader, const bson_iter_t *stage);

/* {NAME: [stage, ...], ...} */
static bool facet_follows(reader_t *reader, const bson_iter_t *value) {
    bson_iter_t list, stage;
    if (!BSON_ITER_HOLDS_DOCUMENT(value) || !bson_iter_recurse(value, &list))
        return refuse(reader, "it is not a map of lists of stages");
    while (bson_iter_next(&list)) {
        if (!BSON_ITER_HOLDS_ARRAY(&list) || !bson_iter_recurse(&list, &stage))
            return refuse(reader, "'%.80s' in it is not a list of stages", bson_iter_key(&list));
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
        return refuse(reader, "it is not known to look at nothing but what comes before it");
    if (stages[at].traits & NO_AFTER)
        return refuse(reader, "%s", stages[at].why);
    return strcmp(reader->name, "$facet") != 0 || facet_follows(reader, &value);
}

/* ---- accumulators ---- */

typedef enum { SUM, COUNT, LEAST_OR_GREATEST, AVERAGE } merging_t;

static const struct {
    const char *name;
    merging_t merging;
} accumulators[] = {{"$sum", SUM},
                    {"$count", COUNT},
                    {"$min", LEAST_OR_GREATEST},
                    {"$max", LEAST_OR_GREATEST},
                    {"$avg", AVERAGE}};

enum { ACCUMULATORS = sizeof accumulators / sizeof *accumulators, NAME = 160 };

/* What is built from a $group: the fields of a part, those of the merge, and the stage after it that makes averages
 * from sums and counts. */
typedef struct {
    bson_t part, merge, set;
    list_t unset;
    bson_t unset_list;
    const bson_t *fields; /* the original $group */
    uint32_t count;
} groups_t;

/* {NAME: {ACCUMULATOR: "$FIELD"}} */
static void merge_field(bson_t *merge, const char *name, const char *accumulator, const char *field) {
    char path[NUMBER + 1];
    bson_t inner;
    snprintf(path, sizeof path, "$%s", field);
    bson_append_document_begin(merge, name, -1, &inner);
    bson_append_utf8(&inner, accumulator, -1, path, -1);
    bson_append_document_end(merge, &inner);
}

static void part_field(bson_t *part, const char *field, const char *accumulator, const bson_iter_t *value) {
    bson_t inner;
    bson_append_document_begin(part, field, -1, &inner);
    bson_append_iter(&inner, accumulator, -1, value);
    bson_append_document_end(part, &inner);
}

/* {FIELD: {$sum: {$cond: [{$isNumber: [value]}, 1, 0]}}} */
static void part_count(bson_t *part, const char *field, const bson_iter_t *value) {
    bson_t sum, cond, three, test, one;
    bson_append_document_begin(part, field, -1, &sum);
    bson_append_document_begin(&sum, "$sum", -1, &cond);
    bson_append_array_begin(&cond, "$cond", -1, &three);
    bson_append_document_begin(&three, "0", -1, &test);
    bson_append_array_begin(&test, "$isNumber", -1, &one);
    bson_append_iter(&one, "0", -1, value);
    bson_append_array_end(&test, &one);
    bson_append_document_end(&three, &test);
    bson_append_int32(&three, "1", -1, 1);
    bson_append_int32(&three, "2", -1, 0);
    bson_append_array_end(&cond, &three);
    bson_append_document_end(&sum, &cond);
    bson_append_document_end(part, &sum);
}

/* {NAME: {$cond: [{$eq: ["$COUNT", 0]}, null, {$divide: ["$NAME", "$COUNT"]}]}}: set under the same name, so that
 * fields keep their order. */
static void set_average(bson_t *set, const char *name, const char *count) {
    char sum_path[NAME + 1], count_path[NAME + 1];
    bson_t cond, three, test, two, quotient;
    snprintf(sum_path, sizeof sum_path, "$%s", name);
    snprintf(count_path, sizeof count_path, "$%s", count);
    bson_append_document_begin(set, name, -1, &cond);
    bson_append_array_begin(&cond, "$cond", -1, &three);
    bson_append_document_begin(&three, "0", -1, &test);
    bson_append_array_begin(&test, "$eq", -1, &two);
    bson_append_utf8(&two, "0", -1, count_path, -1);
    bson_append_int32(&two, "1", -1, 0);
    bson_append_array_end(&test, &two);
    bson_append_document_end(&three, &test);
    bson_append_null(&three, "1", -1);
    bson_append_document_begin(&three, "2", -1, &quotient);
    bson_append_array_begin(&quotient, "$divide", -1, &two);
    bson_append_utf8(&two, "0", -1, sum_path, -1);
    bson_append_utf8(&two, "1", -1, count_path, -1);
    bson_append_array_end(&quotient, &two);
    bson_append_document_end(&three, &quotient);
    bson_append_array_end(&cond, &three);
    bson_append_document_end(set, &cond);
}

static bool is_whole_constant(const bson_iter_t *value) {
    bson_iter_t literal;
    if (BSON_ITER_HOLDS_DOCUMENT(value))
        return bson_iter_recurse(value, &literal) && bson_iter_find(&literal, "$literal") &&
               BSON_ITER_HOLDS_INT(&literal);
    return BSON_ITER_HOLDS_INT(value);
}

/* NAME: {$sum: "$m"} */
static bool take_field(reader_t *reader, groups_t *groups, const bson_iter_t *field) {
    const char *name = bson_iter_key(field);
    bson_iter_t value;
    size_t at = 0;
    if (!only_one(field, &value))
        return refuse(reader, "'%.80s' in it is not an accumulator", name);
    const char *accumulator = bson_iter_key(&value);
    while (at < ACCUMULATORS && strcmp(accumulators[at].name, accumulator) != 0)
        at++;
    if (at == ACCUMULATORS)
        return refuse(reader, "'%.80s' in it is a %.40s: that of the parts does not tell that of all", name,
                      accumulator);
    if (strlen(name) > NAME - NUMBER)
        return refuse(reader, "the name '%.80s...' in it is too long", name);
    merging_t merging = accumulators[at].merging;
    char own[NUMBER], count[NAME];
    snprintf(own, sizeof own, "%c%u",
             merging == COUNT               ? 'n'
             : merging == LEAST_OR_GREATEST ? 'm'
                                            : 's',
             groups->count);
    reader->parts->rounds |= merging == AVERAGE || (merging == SUM && !is_whole_constant(&value));
    part_field(&groups->part, own, merging == AVERAGE ? "$sum" : accumulator, &value);
    merge_field(&groups->merge, name, merging == LEAST_OR_GREATEST ? accumulator : "$sum", own);
    if (merging == AVERAGE) {
        own[0] = 'n';
        part_count(&groups->part, own, &value);
        /* in the merge it is among the pipeline's own names, so it must differ from them */
        for (int used = snprintf(count, sizeof count, "%s", own);
             used < NAME - NUMBER && bson_has_field(groups->fields, count);)
            used += snprintf(count + used, sizeof count - (size_t)used, "_");
        merge_field(&groups->merge, count, "$sum", own);
        set_average(&groups->set, name, count);
        bson_append_utf8(&groups->unset_list, next_key(&groups->unset), -1, count, -1);
    }
    groups->count++;
    return true;
}

/* ---- the $group ---- */

/* Reads a stage as a $group: {_id: ..., NAME: {...}}, and the stage after it. */
static bool as_group(reader_t *reader, const bson_iter_t *value, bson_t *group, const char **then,
                     bson_t *rest) {
    bson_t inner;
    bool counts = strcmp(reader->name, "$count") == 0;
    *then = NULL;
    if (strcmp(reader->name, "$group") == 0) {
        bson_t stored;
        if (!bson_read_document(value, &stored))
            return refuse(reader, "it is not a map");
        bson_concat(group, &stored);
        return bson_has_field(group, "_id") || refuse(reader, "it has no _id");
    }
    if (counts && (!BSON_ITER_HOLDS_UTF8(value) || !*bson_iter_utf8(value, NULL)))
        return refuse(reader, "it does not name a field");
    if (!counts && !BSON_ITER_HOLDS_DOCUMENT(value) &&
        !(BSON_ITER_HOLDS_UTF8(value) && bson_iter_utf8(value, NULL)[0] == '$'))
        return refuse(reader, "it does not hold an expression");
    if (counts)
        bson_append_null(group, "_id", -1);
    else
        bson_append_iter(group, "_id", -1, value);
    bson_append_document_begin(group, counts ? bson_iter_utf8(value, NULL) : "count", -1, &inner);
    bson_append_int32(&inner, "$sum", -1, 1);
    bson_append_document_end(group, &inner);
    *then = counts ? "$project" : "$sort";
    bson_append_int32(rest, counts ? "_id" : "count", -1, counts ? 0 : -1);
    return true;
}

static bool take_fields(reader_t *reader, groups_t *groups) {
    bson_iter_t field;
    bson_append_utf8(&groups->merge, "_id", -1, "$_id", -1);
    bool ok = bson_iter_init(&field, groups->fields);
    while (ok && bson_iter_next(&field)) {
        const char *beyond = beyond_expression(&field);
        if (beyond)
            return refuse(reader, "%s in it does not depend on the document alone", beyond);
        if (strcmp(bson_iter_key(&field), "_id") == 0)
            ok = bson_append_iter(&groups->part, "_id", -1, &field);
        else
            ok = take_field(reader, groups, &field);
    }
    return ok;
}

static bool take_group(reader_t *reader, const bson_iter_t *value, list_t *merge) {
    bson_t fields = BSON_INITIALIZER, rest = BSON_INITIALIZER;
    groups_t groups = {.fields = &fields, .count = 0};
    const char *then;
    bson_init(&groups.part);
    bson_init(&groups.merge);
    bson_init(&groups.set);
    bson_init(&groups.unset_list);
    groups.unset.list = &groups.unset_list;
    bool ok = as_group(reader, value, &fields, &then, &rest) && take_fields(reader, &groups);
    if (ok) {
        bson_append_document(&reader->parts->group, "$group", -1, &groups.part);
        add_made(merge, "$group", &groups.merge);
    }
    if (ok && groups.unset.count) {
        bson_t stage;
        add_made(merge, "$set", &groups.set);
        bson_append_document_begin(merge->list, next_key(merge), -1, &stage);
        bson_append_array(&stage, "$unset", -1, &groups.unset_list);
        bson_append_document_end(merge->list, &stage);
    }
    if (ok && then)
        add_made(merge, then, &rest);
    bson_destroy(&groups.part);
    bson_destroy(&groups.merge);
    bson_destroy(&groups.set);
    bson_destroy(&groups.unset_list);
    bson_destroy(&fields);
    bson_destroy(&rest);
    return ok;
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
            ok = grouped = take_group(&reader, &value, &merge);
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
        add_made(&list, "$match", &match);
    }
    if (limit) {
        bson_t stage;
        bson_append_document_begin(pipeline, next_key(&list), -1, &stage);
        bson_append_int64(&stage, "$limit", -1, limit);
        bson_append_document_end(pipeline, &stage);
    }
    add_all(&list, &parts->lead);
    bson_append_document(pipeline, next_key(&list), -1, &parts->group);
    bson_destroy(&match);
}

void parts_merge(const parts_t *parts, const bson_t *documents, bson_t *pipeline) {
    list_t list = {.list = pipeline};
    bson_t stage, literal;
    bson_init(pipeline);
    bson_append_document_begin(pipeline, next_key(&list), -1, &stage);
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
