/* append: which `_id`s are looked at before extents are taken, against a search through all of them. */
#include "format/record/record_id.h"
#include "load/target/target.h"
#include "test.h"

#include <stdint.h>

enum { MOST = 12 };

typedef struct {
    uint64_t from, to;
    int64_t ids[MOST];
    size_t count;
    bool taken;
    size_t looks; /* at most that many */
} case_t;

/* The least of them from `least` on. */
static bool find(const case_t *one, int64_t least, int64_t *id) {
    bool any = false;
    for (size_t i = 0; i < one->count; i++)
        if (one->ids[i] >= least && (!any || one->ids[i] < *id)) {
            *id = one->ids[i];
            any = true;
        }
    return any;
}

#define AT(lane, number) ((int64_t)((uint64_t)(lane) << 53 | (number)))

TEST(looks) {
    static const case_t cases[] = {
        {0, 100, {0}, 0, false, 1},
        {0, 100, {5}, 1, true, 1},
        {0, 100, {100}, 1, false, 2},
        {100, 200, {5, 6, 7}, 3, false, 1},
        {100, 200, {5, 6, 7, 199}, 4, true, 1},
        {100, 200, {-1, -150}, 2, false, 1},
        {100, 200, {AT(7, 150)}, 1, true, 1},
        {100, 200, {AT(7, 99), AT(7, 200)}, 2, false, 4},
        {100, 200, {AT(7, 99), AT(7, 100)}, 2, true, 3},
        {100, 200, {AT(1023, 199)}, 1, true, 1},
        {100, 200, {AT(1023, 200)}, 1, false, 1},
        {100, 200, {AT(1023, 50)}, 1, false, 2},
        {0, 1, {INT64_MAX}, 1, false, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        append_look_t look = {.from = cases[i].from, .to = cases[i].to};
        int64_t least, id = 0;
        bool taken = false;
        size_t looks = 0;
        while (!taken && append_next(&look, &least)) {
            looks++;
            if (!find(&cases[i], least, &id))
                break;
            taken = append_found(&look, id);
        }
        assert_int_equal(taken, cases[i].taken);
        assert_uint_in_range(looks, 1, cases[i].looks);
    }
}
