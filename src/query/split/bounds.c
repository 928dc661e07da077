#include "query/split/bounds.h"
#include "format/record/record_id.h"
#include "server/bson_read.h"
#include "server/chunks/keyorder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAMPLE = 1000 };

/* ---- one _id ---- */

static bool id_of(const bson_t *document, bson_iter_t *id) {
    return bson_iter_init_find(id, document, "_id");
}

static bool is_nan(const bson_iter_t *id) {
    static const uint64_t special = UINT64_C(0x7c00000000000000);
    if (BSON_ITER_HOLDS_DOUBLE(id))
        return isnan(bson_iter_double(id));
    bson_decimal128_t decimal;
    return bson_iter_decimal128(id, &decimal) && (decimal.high & special) == special;
}

/* Can a server compare _ids of this type with a bound, and can there be many different ones? */
static bool can_cut(int rank) {
    static const bson_type_t types[] = {BSON_TYPE_INT64,    BSON_TYPE_UTF8, BSON_TYPE_DOCUMENT,
                                        BSON_TYPE_BINARY,   BSON_TYPE_OID,  BSON_TYPE_DATE_TIME,
                                        BSON_TYPE_TIMESTAMP};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (keyorder_rank(types[i]) == rank)
            return true;
    return false;
}

static bool is_position(const bson_iter_t *id) {
    return BSON_ITER_HOLDS_INT64(id) && bson_iter_int64(id) >= 0;
}

/* ---- choosing ---- */

static bool whole(bounds_t *bounds, const char *why) {
    bounds->ranges = 1;
    snprintf(bounds->why, sizeof bounds->why, "%s", why);
    return false;
}

/* Finds the type of the _ids, and whether they can be cut. */
static bool choose_type(bounds_t *bounds, const bson_t *least, const bson_t *greatest) {
    bson_iter_t first, last;
    if (!id_of(least, &first) || !id_of(greatest, &last))
        return whole(bounds, "the collection is empty");
    bounds->rank = keyorder_rank(bson_iter_type(&first));
    if (bounds->rank != keyorder_rank(bson_iter_type(&last)))
        return whole(bounds, "its _ids are of several types, and a range has _ids of one");
    if (is_nan(&first))
        return whole(bounds, "one of its _ids is not a number (NaN), and is in no range");
    return can_cut(bounds->rank) || whole(bounds, "its _ids are of a type that has no ranges");
}

static void add_cut(bounds_t *bounds, const bson_iter_t *id) {
    char digits[16];
    const char *key;
    bson_uint32_to_string(bounds->ranges - 1, &key, digits, sizeof digits);
    bson_append_iter(&bounds->cuts, key, -1, id);
    bounds->ranges++;
}

/* The first lane of a range. */
static uint32_t lane_at(uint32_t number, uint32_t ranges) {
    return RECORD_ID_LANES * number / ranges;
}

/* Do sampled _ids fall in all equal shares of the lanes as often as chance would have it? */
static bool lanes_are_even(const bson_t *least, const bson_t *greatest, const bson_iter_t *sample,
                           uint32_t ranges) {
    bson_iter_t at = *sample, id;
    bson_t document;
    uint32_t counts[RECORD_ID_LANES] = {0}, count = 0;
    if (ranges > RECORD_ID_LANES || !id_of(least, &id) || !is_position(&id) || !id_of(greatest, &id) ||
        !is_position(&id))
        return false;
    for (; bson_iter_next(&at); count++) {
        if (!bson_read_document(&at, &document) || !id_of(&document, &id) || !is_position(&id))
            return false;
        uint32_t lane = record_id_lane_of(bson_iter_int64(&id)), range = 0;
        while (range + 1 < ranges && lane >= lane_at(range + 1, ranges))
            range++;
        counts[range]++;
    }
    double share = 1.0 / ranges, sigma = sqrt(count * share * (1 - share));
    for (uint32_t range = 0; range < ranges; range++)
        if (fabs(counts[range] - count * share) > 4 * sigma)
            return false;
    return count >= 4 * ranges;
}

static void cut_lanes(bounds_t *bounds, uint32_t ranges) {
    bson_t holder = BSON_INITIALIZER;
    bson_iter_t id;
    char name[16];
    const char *key;
    for (uint32_t range = 1; range < ranges; range++) {
        bson_uint32_to_string(range, &key, name, sizeof name);
        bson_append_int64(&holder, key, -1, record_id_make(lane_at(range, ranges), 0));
    }
    bson_iter_init(&id, &holder);
    while (bson_iter_next(&id))
        add_cut(bounds, &id);
    bson_destroy(&holder);
    bounds->lanes = true;
}

static void cut_sample(bounds_t *bounds, const bson_iter_t *sample, uint32_t ranges) {
    bson_iter_t at = *sample, id;
    bson_t document;
    uint64_t count = 0, number = 0;
    while (bson_iter_next(&at))
        count++;
    at = *sample;
    for (uint32_t range = 1; bson_iter_next(&at); number++) {
        if (range >= ranges || !number || number < count * range / ranges ||
            !bson_read_document(&at, &document) || !id_of(&document, &id))
            continue;
        add_cut(bounds, &id);
        while (range < ranges && count * range / ranges <= number)
            range++;
    }
    if (bounds->ranges == 1)
        whole(bounds, "it has too few documents to be cut into ranges");
}

void bounds_choose(bounds_t *bounds, const bson_t *least, const bson_t *greatest, const bson_iter_t *sample,
                   uint32_t ranges) {
    *bounds = (bounds_t){.ranges = 1};
    bson_init(&bounds->cuts);
    if (!choose_type(bounds, least, greatest))
        return;
    if (lanes_are_even(least, greatest, sample, ranges))
        cut_lanes(bounds, ranges);
    else
        cut_sample(bounds, sample, ranges);
}

void bounds_free(bounds_t *bounds) {
    if (bounds->cuts.len)
        bson_destroy(&bounds->cuts);
    bounds->cuts.len = 0;
}

bool bounds_hold(const bounds_t *bounds, const bson_t *least, const bson_t *greatest) {
    bson_iter_t first, last;
    if (!id_of(least, &first) || !id_of(greatest, &last))
        return true; /* there are no documents */
    return keyorder_rank(bson_iter_type(&first)) == bounds->rank && !is_nan(&first) &&
           keyorder_rank(bson_iter_type(&last)) == bounds->rank;
}

bool bounds_at(const bounds_t *bounds, uint32_t number, bson_iter_t *bound) {
    char digits[16];
    const char *key;
    if (!number || number >= bounds->ranges)
        return false;
    bson_uint32_to_string(number - 1, &key, digits, sizeof digits);
    return bson_iter_init_find(bound, &bounds->cuts, key);
}

/* ---- asking ---- */

bool bounds_sample(mongoc_client_t *client, const request_t *request, bson_t *reply, bson_error_t *error) {
    bson_t *command = BCON_NEW("aggregate", BCON_UTF8(request->collection), "pipeline", "[", /**/
                               "{", "$sample", "{", "size", BCON_INT32(SAMPLE), "}", "}",    /**/
                               "{", "$group", "{", "_id", BCON_UTF8("$_id"), "}", "}",       /**/
                               "{", "$sort", "{", "_id", BCON_INT32(1), "}", "}", "]",       /**/
                               "cursor", "{", "batchSize", BCON_INT32(SAMPLE), "}");
    bool ok = ask_command(client, request, command, NULL, reply, error);
    bson_destroy(command);
    return ok;
}

bool bounds_find(bounds_t *bounds, mongoc_client_t *client, const request_t *request, uint32_t ranges,
                 bson_error_t *error) {
    bson_t least = BSON_INITIALIZER, greatest = BSON_INITIALIZER, sampled = BSON_INITIALIZER;
    bson_iter_t sample;
    *bounds = (bounds_t){.ranges = 1};
    bool ok = ask_end(client, request, false, NULL, &least, error) &&
              ask_end(client, request, true, NULL, &greatest, error);
    bool drawn = ok && bounds_sample(client, request, &sampled, error);
    /* a random cursor fails if it meets the same few documents again and again */
    ok = ok && (drawn || error->domain == MONGOC_ERROR_SERVER);
    if (ok) {
        ask_batch(client, request, &sampled, &sample);
        bounds_choose(bounds, &least, &greatest, &sample, ranges);
    }
    if (ok && !drawn && bounds->ranges == 1)
        snprintf(bounds->why, sizeof bounds->why, "its _ids could not be sampled: %.150s", error->message);
    bson_destroy(&least);
    bson_destroy(&greatest);
    bson_destroy(&sampled);
    return ok;
}
