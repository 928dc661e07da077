/* A $group as that of a part, and as the merge of those. */
#include "query/split/beyond.h"
#include "query/split/parts_inner.h"
#include "server/bson_read.h"

#include <stdio.h>
#include <string.h>

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
    bson_append_array_unsafe_begin(&cond, "$cond", -1, &three);
    bson_append_document_begin(&three, "0", -1, &test);
    bson_append_array_unsafe_begin(&test, "$isNumber", -1, &one);
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
    bson_append_array_unsafe_begin(&cond, "$cond", -1, &three);
    bson_append_document_begin(&three, "0", -1, &test);
    bson_append_array_unsafe_begin(&test, "$eq", -1, &two);
    bson_append_utf8(&two, "0", -1, count_path, -1);
    bson_append_int32(&two, "1", -1, 0);
    bson_append_array_end(&test, &two);
    bson_append_document_end(&three, &test);
    bson_append_null(&three, "1", -1);
    bson_append_document_begin(&three, "2", -1, &quotient);
    bson_append_array_unsafe_begin(&quotient, "$divide", -1, &two);
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
    if (!parts_only_one(field, &value))
        return parts_refuse(reader, "'%.80s' in it is not an accumulator", name);
    const char *accumulator = bson_iter_key(&value);
    while (at < ACCUMULATORS && strcmp(accumulators[at].name, accumulator) != 0)
        at++;
    if (at == ACCUMULATORS)
        return parts_refuse(reader, "'%.80s' in it is a %.40s: that of the parts does not tell that of all",
                            name, accumulator);
    if (strlen(name) > NAME - NUMBER)
        return parts_refuse(reader, "the name '%.80s...' in it is too long", name);
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
        bson_append_utf8(&groups->unset_list, parts_next_key(&groups->unset), -1, count, -1);
    }
    groups->count++;
    return true;
}

/* Reads a stage as a $group: {_id: ..., NAME: {...}}, and the stage after it. */
static bool as_group(reader_t *reader, const bson_iter_t *value, bson_t *group, const char **then,
                     bson_t *rest) {
    bson_t inner;
    bool counts = strcmp(reader->name, "$count") == 0;
    *then = NULL;
    if (strcmp(reader->name, "$group") == 0) {
        bson_t stored;
        if (!bson_read_document(value, &stored))
            return parts_refuse(reader, "it is not a map");
        bson_concat(group, &stored);
        return bson_has_field(group, "_id") || parts_refuse(reader, "it has no _id");
    }
    if (counts && (!BSON_ITER_HOLDS_UTF8(value) || !*bson_iter_utf8(value, NULL)))
        return parts_refuse(reader, "it does not name a field");
    if (!counts && !BSON_ITER_HOLDS_DOCUMENT(value) &&
        !(BSON_ITER_HOLDS_UTF8(value) && bson_iter_utf8(value, NULL)[0] == '$'))
        return parts_refuse(reader, "it does not hold an expression");
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
            return parts_refuse(reader, "%s in it does not depend on the document alone", beyond);
        if (strcmp(bson_iter_key(&field), "_id") == 0)
            ok = bson_append_iter(&groups->part, "_id", -1, &field);
        else
            ok = take_field(reader, groups, &field);
    }
    return ok;
}

bool parts_take_group(reader_t *reader, const bson_iter_t *value, list_t *merge) {
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
        parts_add(merge, "$group", &groups.merge);
    }
    if (ok && groups.unset.count) {
        bson_t stage;
        parts_add(merge, "$set", &groups.set);
        bson_append_document_begin(merge->list, parts_next_key(merge), -1, &stage);
        bson_append_array(&stage, "$unset", -1, &groups.unset_list);
        bson_append_document_end(merge->list, &stage);
    }
    if (ok && then)
        parts_add(merge, then, &rest);
    bson_destroy(&groups.part);
    bson_destroy(&groups.merge);
    bson_destroy(&groups.set);
    bson_destroy(&groups.unset_list);
    bson_destroy(&fields);
    bson_destroy(&rest);
    return ok;
}
