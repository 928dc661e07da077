/* The documents by _id: shares of the skewed numbers by the formula, each document by its _id alone, the same bytes for
 * the same wish. What the documents say is checked by tests/oracle/test_ycsb_rows.py; the digests below pin files
 * that it has passed. */
#include "base/numbers.h"
#include "generate/generate.h"
#include "generate/ycsb/zipf.h"
#include "generate_lab.h"
#include "test.h"

#include <math.h>
#include <stdio.h>

enum { TEXTS = 8 };

static file_t made(generate_t what) {
    return lab_made(&generate_ycsb, &what);
}

/* ---- skewed numbers ---- */

static zipf_t zipf;

static int make_table(TEST_UNUSED void **state) {
    zipf_init(&zipf);
    return 0;
}

TEST(has_the_shares_of_the_formula) {
    const long double sum = (long double)zipf.below[ZIPF_VALUES - 1];
    long double all = 0, below = 0;
    for (int k = ZIPF_VALUES; k; k--)
        all += powl(k, -0.99L);
    for (int k = 1; k <= ZIPF_VALUES; k++) {
        long double share = ((long double)zipf.below[k - 1] - below) / sum;
        if (fabsl(share * all / powl(k, -0.99L) - 1) > 1e-7L)
            fail_msg("the share of %d is %Lg of what it should be", k - 1, share * all / powl(k, -0.99L));
        below = (long double)zipf.below[k - 1];
    }
}

/* The study found 17,000 in 30,747 of 7,170,648,489 documents. */
TEST(has_the_share_that_the_study_found) {
    const long double all = (long double)zipf.below[ZIPF_VALUES - 1];
    const long double share = (long double)(zipf.below[17000] - zipf.below[16999]) / all;
    assert_true(fabsl(share * 7170648489.0L / 30747 - 1) < 0.02L);
    assert_true(zipf.below[16000] > zipf.below[15999]);
}

TEST(draws_what_the_table_says) {
    assert_int_equal(zipf_draw(&zipf, 0), 0);
    assert_int_equal(zipf_draw(&zipf, UINT64_MAX), ZIPF_VALUES - 1);
    const long double sum = (long double)zipf.below[ZIPF_VALUES - 1];
    for (uint64_t i = 0; i < 100000 / TEST_SHARE; i++) {
        const uint64_t random = chance_bits(8, i);
        const uint32_t k = zipf_draw(&zipf, random);
        const long double at = (long double)random / 0x1p64L * sum;
        assert_true(at < (long double)zipf.below[k] + 1);
        assert_true(!k || at >= (long double)zipf.below[k - 1] - 1);
    }
}

/* ---- documents ---- */

/* The line of an id, without its end. */
static char *line_of(file_t file, uint64_t id) {
    char start[32];
    snprintf(start, sizeof start, "{\"_id\":%llu,", (unsigned long long)id);
    char *at = strstr(file.text, start);
    assert_non_null(at);
    return strndup(at, strcspn(at, "\n"));
}

TEST(makes_a_row_without_the_others) {
    file_t many = made((generate_t){.count = 3000, .seed = 5});
    file_t few = made((generate_t){.count = 2000, .seed = 5});
    lab_head(few, many);
    for (uint64_t id = 0; id < 3000; id += 271) {
        file_t one = made((generate_t){.count = 1, .first = id, .seed = 5});
        char *alone = line_of(one, id), *among = line_of(many, id);
        assert_string_equal(alone, among);
        free(alone);
        free(among);
        free(one.text);
    }
    free(many.text);
    free(few.text);
}

TEST(writes_ids_of_every_length) {
    static const uint64_t first[] = {0,           9,          99999995,          100000000,    999999999999,
                                     10000000000, 4294967290, 9999999999999998u, INT64_MAX - 3};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        file_t file = made((generate_t){.count = 4, .first = first[i], .seed = 1, .text_bytes = 1});
        const char *at = file.text;
        for (uint64_t id = first[i]; id < first[i] + 4; id++) {
            char wanted[32];
            int length = snprintf(wanted, sizeof wanted, "{\"_id\":%llu,", (unsigned long long)id);
            assert_memory_equal(at, wanted, (size_t)length);
            at = strchr(at, '\n');
            assert_non_null(at);
            at++;
        }
        free(file.text);
    }
}

TEST(begins_a_long_text_like_a_short_one) {
    for (uint64_t bytes = 1; bytes < 70; bytes += 3) {
        file_t longer = made((generate_t){.count = 2, .seed = 6, .text_bytes = bytes + 1});
        file_t shorter = made((generate_t){.count = 2, .seed = 6, .text_bytes = bytes});
        char *a = line_of(longer, 1), *b = line_of(shorter, 1);
        assert_int_equal(strlen(a), strlen(b) + TEXTS);
        for (size_t i = 0; i < TEXTS; i++) {
            char name[16];
            const int before = snprintf(name, sizeof name, "\"field%zu\":\"", i);
            const char *text_a = strstr(a, name) + before, *text_b = strstr(b, name) + before;
            assert_memory_equal(text_a, text_b, bytes);
            assert_int_equal(text_a[bytes + 1], '"');
            assert_int_equal(text_b[bytes], '"');
        }
        free(a);
        free(b);
        free(longer.text);
        free(shorter.text);
    }
}

TEST_GROUP(make_table, NULL);
