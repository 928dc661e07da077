#include "verify/stray/gaps.h"

#include <stdlib.h>

/* Windows of a file whose places follow one another. */
typedef struct {
    uint64_t base;     /* voff of the first one */
    uint64_t from, to; /* in the file */
    uint32_t ordinal;
} span_t;

struct gaps {
    span_t *spans; /* by base */
    size_t count;
};

static int by_base(const void *a, const void *b) {
    const span_t *left = a, *right = b;
    return (left->base > right->base) - (left->base < right->base);
}

/* Extent by extent; windows never lie across the end of one. */
static void add_file(gaps_t *gaps, const load_file_t *file) {
    for (size_t i = 0; i < file->extent_count; i++) {
        const extent_t *extent = &file->extents[i];
        uint64_t from = extent->start / RECORD_ID_BLOCK_BYTES,
                 to = (extent->start + extent->length) / RECORD_ID_BLOCK_BYTES;
        to = to < file->blocks ? to : file->blocks;
        if (from >= to)
            continue;
        gaps->spans[gaps->count++] =
            (span_t){.base = extent->base, .from = from, .to = to, .ordinal = file->ordinal};
    }
}

gaps_t *gaps_new(const load_file_t *files, size_t count) {
    size_t extents = 0;
    gaps_t *gaps = calloc(1, sizeof *gaps);
    for (size_t i = 0; i < count; i++)
        extents += files[i].extent_count;
    if (!gaps || !(gaps->spans = malloc((extents + 1) * sizeof *gaps->spans))) {
        free(gaps);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        add_file(gaps, &files[i]);
    qsort(gaps->spans, gaps->count, sizeof *gaps->spans, by_base);
    return gaps;
}

void gaps_free(gaps_t *gaps) {
    if (!gaps)
        return;
    free(gaps->spans);
    free(gaps);
}

bool gaps_each(const gaps_t *gaps, size_t from_lane, size_t to_lane, gaps_fn *take, void *context,
               err_t *err) {
    uint64_t at = gaps_lane_start(from_lane), end = gaps_lane_start(to_lane);
    for (size_t lane = from_lane; lane < to_lane; lane++) {
        /* the reversal is its own inverse: this is ordinal + window, modulo the lanes, of what has this lane */
        uint64_t sum = record_id_lane((uint32_t)lane, 0);
        for (size_t i = 0; i < gaps->count; i++) {
            const span_t *span = &gaps->spans[i];
            uint64_t window = span->from + (sum - span->ordinal - span->from) % RECORD_ID_LANES;
            for (; window < span->to; window += RECORD_ID_LANES) {
                uint64_t first =
                    gaps_lane_start(lane) + span->base + (window - span->from) * RECORD_ID_BLOCK_BYTES;
                if ((at < first || !first) && !take(context, at, first, err))
                    return false;
                at = first + RECORD_ID_BLOCK_BYTES;
            }
        }
    }
    return (at >= end && to_lane < RECORD_ID_LANES) || take(context, at, end, err);
}
