/* gaps: windows and gaps together are all _ids, and each window is where the feeder puts it. */
#include "test.h"
#include "verify/stray_scan.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 200000 };

typedef struct {
    uint64_t (*gaps)[2];
    size_t count, stop_at;
} lab_t;

static bool take(void *context, uint64_t from, uint64_t to, err_t *err) {
    lab_t *lab = context;
    assert_true((from < to || from == 0 || to == 1ull << 63) && lab->count < MOST);
    assert_true(!lab->count || lab->gaps[lab->count - 1][1] <= from);
    lab->gaps[lab->count][0] = from;
    lab->gaps[lab->count++][1] = to;
    return lab->count != lab->stop_at || err_set(err, STATUS_HOST, "enough");
}

/* Extents of whole MiB, one after the other or with holes, as the catalog gives them. */
typedef struct {
    active_piece_t piece;
    extent_t extents[3];
} made_t;

static uint64_t make(made_t *made, uint32_t ordinal, uint64_t base, const uint64_t *units, size_t count,
                     uint64_t windows) {
    uint64_t start = 0;
    *made = (made_t){.piece = {.ordinal = ordinal, .extent_count = count, .blocks = windows}};
    for (size_t i = 0; i < count; i++) {
        made->extents[i] =
            (extent_t){.base = base, .start = start, .length = units[i] * RECORD_ID_EXTENT_UNIT};
        start += made->extents[i].length;
        base += made->extents[i].length + (i % 2) * RECORD_ID_EXTENT_UNIT;
    }
    return base;
}

static int by_start(const void *a, const void *b) {
    const int64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static void check(made_t *made, size_t files, size_t tasks) {
    active_piece_t *list = calloc(files + 1, sizeof *list);
    int64_t *windows = malloc(MOST * sizeof *windows);
    lab_t lab = {.gaps = malloc(MOST * sizeof *lab.gaps)};
    size_t count = 0;
    err_t err;
    for (size_t i = 0; i < files; i++) {
        made[i].piece.extents = made[i].extents;
        list[i] = made[i].piece;
        for (uint64_t window = 0; window < made[i].piece.blocks; window++) {
            uint64_t voff, offset = window * RECORD_ID_BLOCK_BYTES;
            if (active_piece_number(&made[i].piece, offset, &voff))
                windows[count++] = record_id_make(record_id_lane(made[i].piece.ordinal, offset), voff);
        }
    }
    qsort(windows, count, sizeof *windows, by_start);
    gaps_t *gaps = gaps_new(list, files);
    assert_non_null(gaps);
    size_t lanes = RECORD_ID_LANES / tasks;
    for (size_t task = 0; task < tasks; task++)
        assert_true(gaps_each(gaps, task * lanes, (task + 1) * lanes, take, &lab, &err));
    /* they take turns, and leave nothing out */
    uint64_t at = 0;
    for (size_t i = 0, j = 0; i < count || j < lab.count;) {
        if (j < lab.count && lab.gaps[j][0] == at) {
            at = lab.gaps[j++][1];
            continue;
        }
        assert_true(i < count);
        assert_true((uint64_t)windows[i] == at);
        at = (uint64_t)windows[i++] + RECORD_ID_BLOCK_BYTES;
    }
    assert_true(at == 1ull << 63);
    assert_true(lab.gaps[0][0] == 0 && lab.gaps[lab.count - 1][1] == at);
    assert_true(lab.count <= count + tasks);
    gaps_free(gaps);
    free(list);
    free(windows);
    free(lab.gaps);
}

TEST(by_hand) {
    made_t made[3];
    check(made, 0, 1);
    check(made, 0, 64);
    uint64_t next = make(&made[0], 0, 0, (uint64_t[]){1}, 1, 1);
    check(made, 1, 1);
    next = make(&made[1], 1, next, (uint64_t[]){1}, 1, 4);
    check(made, 2, 16);
    make(&made[2], 5, next, (uint64_t[]){2}, 1, 0); /* no text */
    check(made, 3, 1024);
}

TEST(many) {
    srandom(3);
    for (int round = 0; round < 30; round++) {
        enum { FILES = 40 };
        made_t made[FILES];
        uint64_t next = (uint64_t)(random() % 3) * RECORD_ID_EXTENT_UNIT;
        uint32_t ordinal = 0;
        for (size_t i = 0; i < FILES; i++) {
            uint64_t units[3] = {1 + (uint64_t)(random() % 700), 1 + (uint64_t)(random() % 5), 1};
            size_t extents = 1 + (size_t)(random() % 3);
            uint64_t room = 0;
            for (size_t j = 0; j < extents; j++)
                room += units[j] * (RECORD_ID_EXTENT_UNIT / RECORD_ID_BLOCK_BYTES);
            uint64_t windows = random() % 3 ? (uint64_t)random() % (room + 1) : random() % 2 ? room : 1;
            ordinal += 1 + (uint32_t)(random() % 1500);
            next = make(&made[i], ordinal, next, units, extents, windows);
        }
        check(made, FILES, 1u << (random() % 11));
    }
}

TEST(stop) {
    made_t made;
    err_t err;
    make(&made, 7, 0, (uint64_t[]){4}, 1, 9);
    made.piece.extents = made.extents;
    gaps_t *gaps = gaps_new(&made.piece, 1);
    lab_t lab = {.gaps = malloc(MOST * sizeof *lab.gaps), .stop_at = 3};
    assert_false(gaps_each(gaps, 0, RECORD_ID_LANES, take, &lab, &err));
    assert_int_equal(lab.count, 3);
    gaps_free(gaps);
    gaps_free(NULL);
    free(lab.gaps);
}
