/* unordered: which lists hold the same documents is found out here by trying all orders; long lists are made so that
 * looking through all of one for each of the other would take minutes. */
#include "query/suite/expected.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 6, FIELDS = 2 };

static void begin(bson_t *filled, bson_t *values) {
    bson_init(filled);
    bson_append_bool(filled, "unordered", -1, true);
    bson_append_array_unsafe_begin(filled, "values", -1, values);
}

static void put(bson_t *values, uint32_t number, const bson_t *document) {
    char digits[16];
    const char *key;
    bson_uint32_to_string(number, &key, digits, sizeof digits);
    bson_append_document(values, key, -1, document);
}

/* ---- few documents, all orders ---- */

/* Neighbours are equal, and others are not: 1, 1 + 0.7e-9, 1 + 1.4e-9, ... */
static double number_of(int step) {
    return 1 + 0.7e-9 * step;
}

static bool equal(const int *one, const int *other) {
    return abs(one[0] - other[0]) <= 1 && abs(one[1] - other[1]) <= 1;
}

static bool any_order(int wanted[][FIELDS], int found[][FIELDS], int count, unsigned taken) {
    if (!count)
        return true;
    for (int i = 0; i < MOST; i++)
        if (!(taken & 1U << i) && equal(wanted[count - 1], found[i]) &&
            any_order(wanted, found, count - 1, taken | 1U << i))
            return true;
    return false;
}

TEST(few) {
    int fit = 0;
    srand(7);
    for (int round = 0; round < 4000; round++) {
        static const char *const names[] = {"a", "b"};
        int steps[2][MOST][FIELDS];
        bson_t filled, values;
        char difference[600];
        answer_t answer;
        begin(&filled, &values);
        answer_begin(&answer, true);
        for (int i = 0; i < 2 * MOST; i++) {
            const bool wants = i < MOST;
            bson_t document = BSON_INITIALIZER;
            for (int k = 0; k < FIELDS; k++) {
                const int field = wants ? k : FIELDS - 1 - k; /* in another order */
                const int step = steps[wants][i % MOST][field] = field ? rand() % 2 : rand() % 6;
                bson_append_double(&document, names[field], -1, number_of(step));
            }
            if (wants)
                put(&values, (uint32_t)i, &document);
            else
                answer_take(&answer, &document);
            bson_destroy(&document);
        }
        bson_append_array_end(&filled, &values);
        expected_check(&filled, &answer, difference, sizeof difference);
        const bool fits = any_order(steps[true], steps[false], MOST, 0);
        if (fits != !difference[0])
            fail_msg("round %d: '%s'", round, difference);
        fit += fits;
        answer_end(&answer);
        bson_destroy(&filled);
    }
    assert_uint_in_range(fit, 400, 3600);
}

/* ---- many ---- */

enum { MANY = 60000 };

enum { ALIKE, REVERSED, NEAR };

static int64_t value_of(int kind, int number) {
    return kind == ALIKE ? 1 : kind == NEAR ? 1000000000000 + number : number;
}

static void put_many(int kind, bool found, int odd, bson_t *values, answer_t *answer) {
    for (int i = 0; i < MANY; i++) {
        bson_t document = BSON_INITIALIZER;
        const int number = found ? MANY - 1 - i : i;
        bson_append_int64(&document, "n", -1, found && i == odd ? -1 : value_of(kind, number));
        if (found)
            answer_take(answer, &document);
        else
            put(values, (uint32_t)i, &document);
        bson_destroy(&document);
    }
}

TEST(many) {
    for (int kind = ALIKE; kind <= NEAR; kind++)
        for (int odd = -1; odd < MANY; odd += MANY) { /* none; the last one that is wanted */
            bson_t filled, values;
            char difference[600];
            answer_t answer;
            const clock_t before = clock();
            begin(&filled, &values);
            answer_begin(&answer, true);
            put_many(kind, false, odd, &values, &answer);
            put_many(kind, true, odd, &values, &answer);
            bson_append_array_end(&filled, &values);
            expected_check(&filled, &answer, difference, sizeof difference);
            assert_int_equal(odd < 0, !difference[0]);
            if (odd >= 0)
                assert_non_null(strstr(difference, "is not there"));
            if (clock() - before > 20 * (clock_t)CLOCKS_PER_SEC)
                fail_msg("%d, %d: %.1f s", kind, odd, (double)(clock() - before) / CLOCKS_PER_SEC);
            answer_end(&answer);
            bson_destroy(&filled);
        }
}

/* One document of many fields. */
TEST(wide) {
    bson_t filled, values, document = BSON_INITIALIZER;
    char difference[600], name[16];
    answer_t answer;
    const clock_t before = clock();
    for (int i = 0; i < 200000; i++) {
        snprintf(name, sizeof name, "f%d", i);
        bson_append_int32(&document, name, -1, i);
    }
    begin(&filled, &values);
    put(&values, 0, &document);
    bson_append_array_end(&filled, &values);
    answer_begin(&answer, true);
    answer_take(&answer, &document);
    expected_check(&filled, &answer, difference, sizeof difference);
    assert_string_equal("", difference);
    if (clock() - before > 20 * (clock_t)CLOCKS_PER_SEC)
        fail_msg("%.1f s", (double)(clock() - before) / CLOCKS_PER_SEC);
    answer_end(&answer);
    bson_destroy(&filled);
    bson_destroy(&document);
}
