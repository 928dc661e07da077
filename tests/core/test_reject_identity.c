/* reject_identity, reject_known: which rejected records are the same one, by tables. */
#include "load/rejects/reject_file.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const char *input;
    uint64_t offset, length;
    const char *kept;
    uint64_t ordinal;
} line_t;

static reject_identity_t identity_of(const line_t *record) {
    return reject_identity(record->input, record->ordinal, 7, record->offset, record->length,
                           reject_identity_hash(record->kept, strlen(record->kept)));
}

static reject_identity_t of_input(const char *input, uint64_t ordinal, uint64_t offset) {
    return reject_identity(input, ordinal, 7, offset, 5, 5);
}

/* Each differs from each other one in something that makes it another record. */
static const line_t different[] = {
    {"a.csv", 0, 8, "march|ab", 0}, /* */
    {"a.csv", 0, 8, "april|AB", 0}, /* the same place, other bytes */
    {"a.csv", 0, 8, "march|aB", 0}, /* one bit */
    {"a.csv", 0, 9, "march|ab", 0}, /* only its first bytes are kept */
    {"a.csv", 1, 8, "march|ab", 0}, /* the same bytes elsewhere */
    {"a.csv", 0, 8, "march|ab", 1}, /* another file of that name */
    {"b.csv", 0, 8, "march|ab", 0}, /* and elsewhere */
    {"x/a.csv", 0, 8, "march|ab", 0},
    {"a.csv", 1ull << 32, 8, "march|ab", 0},
    {"a.csv", UINT64_MAX, 8, "march|ab", 0},
    {"a.csv", 0, 0, "", 0},
    {"a.csv", 8, 0, "", 0},
    {"", 0, 8, "march|ab", 0},
};
enum { DIFFERENT = sizeof different / sizeof *different };

/* What is in files of today must be known tomorrow: XXH3 with 64 bits, as its authors publish it for these.
 */
TEST(hash_is_fixed) {
    assert_int_equal(reject_identity_hash("", 0), 0x2d06800538d394c2ull);
    assert_int_equal(reject_identity_hash("abc", 3), 0x78af5f94892f3950ull);
}

TEST(known) {
    reject_known_t known = {0};
    for (size_t i = 0; i < DIFFERENT; i++) {
        reject_identity_t identity = identity_of(&different[i]);
        assert_false(reject_known_has(&known, &identity));
        for (int twice = 0; twice < 2; twice++)
            assert_true(reject_known_add(&known, &identity, 0, NULL));
        assert_int_equal(known.count, i + 1);
        for (size_t j = 0; j < DIFFERENT; j++) {
            reject_identity_t other = identity_of(&different[j]);
            assert_int_equal(reject_known_has(&known, &other), j <= i);
        }
    }
    reject_known_free(&known);
    assert_int_equal(known.count, 0);
}

/* An entry of an input that is gone is one of inputs that came after it; those before have entries of their own. */
TEST(known_of_gone) {
    reject_known_t known = {0};
    const reject_identity_t gone = of_input("a.csv", UINT64_MAX, 0);
    assert_true(reject_known_add(&known, &gone, 4, NULL));
    for (uint64_t ordinal = 0; ordinal < 9; ordinal++) {
        const reject_identity_t one = of_input("a.csv", ordinal, 0), other = of_input("b.csv", ordinal, 0);
        if (reject_known_has(&known, &one) != (ordinal >= 4))
            fail_msg("%u", (unsigned)ordinal);
        assert_false(reject_known_has(&known, &other));
    }
    assert_true(reject_known_has(&known, &gone));
    assert_true(reject_known_add(&known, &gone, 2, NULL) && reject_known_add(&known, &gone, 6, NULL));
    const reject_identity_t second = of_input("a.csv", 2, 0), first = of_input("a.csv", 1, 0);
    assert_true(reject_known_has(&known, &second) && !reject_known_has(&known, &first));
    assert_int_equal(known.count, 1);
    reject_known_free(&known);
}

/* More than the table begins with, of names in turns that are gone meanwhile. */
TEST(known_many) {
    enum { MANY = 5000 };
    reject_known_t known = {0};
    char name[32];
    for (uint64_t i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "file %llu", (unsigned long long)i % 3);
        reject_identity_t identity = of_input(name, 0, i / 3);
        assert_true(reject_known_add(&known, &identity, 0, NULL));
    }
    for (uint64_t i = 0; i < 2 * MANY; i++) {
        snprintf(name, sizeof name, "file %llu", (unsigned long long)i % 3);
        reject_identity_t identity = of_input(name, 0, i / 3);
        assert_int_equal(reject_known_has(&known, &identity), i < MANY);
    }
    assert_int_equal(known.count, MANY);
    reject_known_free(&known);
}
