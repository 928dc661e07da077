#include "query/suite/unordered.h"
#include "base/bson/element.h"
#include "base/stop.h"
#include "query/suite/numeric.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Servers nest at most 200 deep; what is deeper is compared byte by byte. */
enum { DEEPEST = 250, FEW = 64, NONE = -1 };

/* ---- sketches ---- */

/* What documents that are the same have in common: the shape is equal, and the weights differ by a billionth at most,
 * and by rounding. */
typedef struct {
    XXH128_hash_t shape;
    long double
        weight; /* of all finite numbers, the sum of how far they are from zero, each times a factor of its place */
} sketch_t;

static void add_shape(sketch_t *to, uint64_t place, XXH128_hash_t what) {
    const uint64_t parts[] = {place, what.low64, what.high64};
    const XXH128_hash_t one = XXH3_128bits(parts, sizeof parts);
    to->shape.low64 += one.low64;
    to->shape.high64 += one.high64;
}

static XXH128_hash_t hash_of(const bson_iter_t *at) {
    bson_t holder = BSON_INITIALIZER;
    element_append(&holder, "", at);
    const XXH128_hash_t hash = XXH3_128bits(bson_get_data(&holder), holder.len);
    bson_destroy(&holder);
    return hash;
}

static void sketch(sketch_t *to, bson_iter_t *at, uint64_t place, bool list, int depth);

static void sketch_value(sketch_t *to, const bson_iter_t *at, uint64_t place, int depth) {
    double number;
    bson_iter_t inner;
    char text[NUMERIC_EXACT];
    const bool map = BSON_ITER_HOLDS_DOCUMENT(at);
    if (numeric_double(at, &number)) {
        snprintf(text, sizeof text, "%s",
                 isnan(number)   ? "NaN"
                 : isinf(number) ? number > 0 ? "+" : "-"
                                 : "number");
        add_shape(to, place, XXH3_128bits(text, strlen(text)));
        if (isfinite(number))
            to->weight += fabsl((long double)number) * (1 + (long double)(place >> 32) / 4294967296);
    } else if (numeric_exact(at, text)) { /* a number that no double can hold */
        add_shape(to, place, XXH3_128bits(text, strlen(text)));
    } else if (depth < DEEPEST && (map || BSON_ITER_HOLDS_ARRAY(at)) && bson_iter_recurse(at, &inner)) {
        add_shape(to, place, XXH3_128bits(map ? "{" : "[", 1));
        sketch(to, &inner, place, !map, depth + 1);
    } else {
        add_shape(to, place, hash_of(at));
    }
}

static void sketch(sketch_t *to, bson_iter_t *at, uint64_t place, bool list, int depth) {
    for (uint64_t number = 1; bson_iter_next(at); number++)
        sketch_value(to, at,
                     list ? XXH3_64bits_withSeed(&number, sizeof number, place)
                          : XXH3_64bits_withSeed(bson_iter_key(at), bson_iter_key_len(at), ~place),
                     depth);
}

/* ---- what is left, in order ---- */

/* Numbers 0 to count - 1, of which some are gone: the next one that is there, on either side, in nearly constant time. */
typedef struct {
    int64_t *up, *down; /* each with a place more at either end */
} left_t;

static void left_begin(left_t *left, int64_t count) {
    left->up = bson_malloc((size_t)(count + 2) * sizeof *left->up);
    left->down = bson_malloc((size_t)(count + 2) * sizeof *left->down);
    for (int64_t i = 0; i < count + 2; i++)
        left->up[i] = left->down[i] = i;
}

static void left_end(left_t *left) {
    bson_free(left->up);
    bson_free(left->down);
}

static int64_t follow(int64_t *next, int64_t at) {
    for (; next[at] != at; at = next[at])
        next[at] = next[next[at]];
    return at;
}

/* The first one from there on; count: none. */
static int64_t left_above(const left_t *left, int64_t at) {
    return follow(left->up, at + 1) - 1;
}

/* The last one up to there; -1: none. */
static int64_t left_below(const left_t *left, int64_t at) {
    return follow(left->down, at + 1) - 1;
}

static void left_take(left_t *left, int64_t at) {
    left->up[at + 1] = at + 2;
    left->down[at + 1] = at;
}

/* ---- matching ---- */

typedef struct {
    sketch_t sketch;
    const uint8_t *bytes;
    uint32_t length;
    int64_t match;  /* of a found one: the wanted one that has it, or NONE */
    int64_t before; /* of a found one: that from whose owner it was reached, or NONE */
} one_t;

typedef struct {
    one_t *wanted, *found; /* found: sorted by their sketches */
    int64_t count, found_count;
    left_t free; /* of those found */
    int64_t *queue;
    unordered_same_fn *same;
    uint64_t steps;
    bool stopped;
} matching_t;

static int by_sketch(const void *a, const void *b) {
    const sketch_t *one = &((const one_t *)a)->sketch, *other = &((const one_t *)b)->sketch;
    const int shape = XXH128_cmp(&one->shape, &other->shape);
    return shape ? shape : (one->weight > other->weight) - (one->weight < other->weight);
}

static int64_t take_all(bson_iter_t at, one_t **all) {
    int64_t count = 0;
    size_t room = 0;
    for (*all = NULL; bson_iter_next(&at); count++) {
        if ((size_t)count == room)
            *all = bson_realloc(*all, (room = room ? 2 * room : FEW) * sizeof **all);
        one_t *one = &(*all)[count];
        bson_iter_t fields;
        *one = (one_t){.match = NONE, .before = NONE};
        bson_iter_document(&at, &one->length, &one->bytes);
        if (bson_iter_init_from_data(&fields, one->bytes, one->length))
            sketch(&one->sketch, &fields, 0, false, 0);
    }
    return count;
}

static bool is_same(matching_t *matching, const one_t *wanted, const one_t *found) {
    bson_iter_t one, other;
    matching->stopped = matching->stopped || (++matching->steps % FEW == 0 && stop_signal());
    return bson_iter_init_from_data(&one, wanted->bytes, wanted->length) &&
           bson_iter_init_from_data(&other, found->bytes, found->length) && matching->same(&one, &other);
}

/* So near that they can be the same: a billionth, and what sums of millions of numbers are rounded by. */
static bool is_near(const one_t *one, const one_t *other) {
    const long double a = one->sketch.weight, b = other->sketch.weight;
    return XXH128_isEqual(one->sketch.shape, other->sketch.shape) && fabsl(a - b) <= 1.001e-9L * fmaxl(a, b);
}

/* Where in `found` one would stand. */
static int64_t place_of(const matching_t *matching, const one_t *one) {
    int64_t from = 0, to = matching->found_count;
    while (from < to) {
        const int64_t middle = (from + to) / 2;
        if (by_sketch(&matching->found[middle], one) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* The next one of `left` that is the same as the wanted one, from the nearest on, on both sides; NONE: no more. *up and
 * *down: how far was looked. */
static int64_t nearest_same(matching_t *matching, const one_t *wanted, const left_t *left, int64_t *up,
                            int64_t *down) {
    const one_t *found = matching->found;
    for (bool above = true, below = true; (above || below) && !matching->stopped;) {
        if (above) {
            *up = left_above(left, *up);
            above = *up < matching->found_count && is_near(wanted, &found[*up]);
            if (above && is_same(matching, wanted, &found[*up]))
                return *up;
            *up += above;
        }
        if (below) {
            *down = left_below(left, *down);
            below = *down >= 0 && is_near(wanted, &found[*down]);
            if (below && is_same(matching, wanted, &found[*down]))
                return *down;
            *down -= below;
        }
    }
    return NONE;
}

static bool take_free(matching_t *matching, int64_t number) {
    int64_t up = place_of(matching, &matching->wanted[number]), down = up - 1;
    const int64_t at = nearest_same(matching, &matching->wanted[number], &matching->free, &up, &down);
    if (at == NONE)
        return false;
    matching->found[at].match = number;
    left_take(&matching->free, at);
    return true;
}

/* Along the way by which `last` was reached, each found one goes to the next wanted one. */
static void hand_on(matching_t *matching, int64_t number, int64_t last) {
    one_t *found = matching->found;
    left_take(&matching->free, last);
    for (int64_t at = last; at != NONE; at = found[at].before)
        found[at].match = found[at].before == NONE ? number : found[found[at].before].match;
}

/* All that is the same as the wanted one is taken: can one who has it take another one? If there is no such way, no
 * matching of all exists. */
static bool take_from_others(matching_t *matching, int64_t number) {
    left_t unseen;
    int64_t first = 0, last = 0, before = NONE, wanted = number;
    bool done = false;
    left_begin(&unseen, matching->found_count);
    while (!done && !matching->stopped) {
        int64_t up = place_of(matching, &matching->wanted[wanted]), down = up - 1, at;
        while (!done &&
               (at = nearest_same(matching, &matching->wanted[wanted], &unseen, &up, &down)) != NONE) {
            left_take(&unseen, at);
            matching->found[at].before = before;
            matching->queue[last++] = at;
            if ((done = matching->found[at].match == NONE))
                hand_on(matching, number, at);
        }
        if (first == last)
            break;
        before = matching->queue[first++];
        wanted = matching->found[before].match;
    }
    left_end(&unseen);
    return done;
}

bool unordered_misses(bson_iter_t *wanted, const bson_t *found, unordered_same_fn *same) {
    matching_t matching = {.same = same};
    bson_iter_t at;
    bool misses = false;
    matching.count = take_all(*wanted, &matching.wanted);
    if (bson_iter_init(&at, found))
        matching.found_count = take_all(at, &matching.found);
    if (matching.found_count)
        qsort(matching.found, (size_t)matching.found_count, sizeof *matching.found, by_sketch);
    left_begin(&matching.free, matching.found_count);
    matching.queue = bson_malloc((size_t)(matching.found_count + 1) * sizeof *matching.queue);
    for (int64_t i = 0; i < matching.count && !misses && !matching.stopped; i++) {
        bson_iter_next(wanted);
        misses = !take_free(&matching, i) && !take_from_others(&matching, i) && !matching.stopped;
    }
    left_end(&matching.free);
    bson_free(matching.queue);
    bson_free(matching.wanted);
    bson_free(matching.found);
    return misses;
}
