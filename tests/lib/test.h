/* test.h: how tests in C are written. A test registers itself, so a file has neither a list of its tests nor a main:
 *
 *     TEST(merges_two_histograms) {
 *         assert_int_equal(...);
 *     }
 *
 * The files of tests/core and tests/box are one program, which runs a file's tests as one group (test_main.c); those of
 * APART (tests/CMakeLists.txt) and of tests/live have a program each. Tests of a file run in the order in which they stand there. TEST_GROUP names functions that run before the first and after
 * the last test of its file, TEST_EACH functions that run around each; NULL for none. */
#ifndef TIPPLE_TESTS_TEST_H
#define TIPPLE_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TEST_UNUSED __attribute__((unused))

/* Long loops divide their rounds by this: sanitizers are ten times slower. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SHARE 10
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TEST_SHARE 10
#endif
#endif
#ifndef TEST_SHARE
#define TEST_SHARE 1
#endif

/* The path of a file of tests/data; it lasts until the next call. */
const char *test_data(const char *name);

void test_register(const char *file, const char *name, CMUnitTestFunction test);
void test_register_group(const char *file, CMFixtureFunction set_up, CMFixtureFunction tear_down);
void test_register_each(const char *file, CMFixtureFunction set_up, CMFixtureFunction tear_down);

#define TEST_AT_START(name, ...)                                                                             \
    __attribute__((constructor)) static void name(void) {                                                    \
        __VA_ARGS__;                                                                                         \
    }                                                                                                        \
    struct test_ends_with_a_semicolon

#define TEST(name)                                                                                           \
    static void test_##name(void **state);                                                                   \
    TEST_AT_START(register_##name, test_register(__BASE_FILE__, #name, test_##name));                        \
    static void test_##name(TEST_UNUSED void **state)

/* A test to which `open` and `close` give a lab_t of its own, *lab. */
#define TEST_WITH_LAB(name, open, close)                                                                     \
    static void in_lab_##name(lab_t *lab);                                                                   \
    TEST(name) {                                                                                             \
        lab_t own, *lab = &own;                                                                              \
        open;                                                                                                \
        in_lab_##name(lab);                                                                                  \
        close;                                                                                               \
    }                                                                                                        \
    static void in_lab_##name(lab_t *lab)

#define TEST_GROUP(set_up, tear_down)                                                                        \
    TEST_AT_START(register_the_group, test_register_group(__BASE_FILE__, set_up, tear_down))

#define TEST_EACH(set_up, tear_down)                                                                         \
    TEST_AT_START(register_each, test_register_each(__BASE_FILE__, set_up, tear_down))

#endif
