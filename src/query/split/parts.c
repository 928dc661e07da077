#include "query/split/parts_inner.h"

#include <math.h>
#include <stdio.h>

static void add_stage(list_t *list, const bson_iter_t *stage) {
    bson_append_iter(list->list, parts_next_key(list), -1, stage);
}

static bool read_pipeline(parts_t *parts, const bson_t *pipeline) {
    reader_t reader = {.parts = parts};
    list_t lead = {.list = &parts->lead}, merge = {.list = &parts->merge};
    bson_iter_t stage, value;
    bool grouped = false, ok = bson_iter_init(&stage, pipeline);
    while (ok && bson_iter_next(&stage)) {
        reader.number++;
        if (!parts_open_stage(&reader, &stage, &value))
            return false;
        if (grouped) {
            ok = parts_follows(&reader, &stage);
            add_stage(&merge, &stage);
        } else if (parts_groups(&reader)) {
            ok = grouped = parts_take_group(&reader, &value, &merge);
        } else {
            ok = parts_leads(&reader, &value);
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
