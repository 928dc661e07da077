/* suite_keys: the keys of a suite, by the part of it in which they stand, as tipple-suites(5) tells them.
 * tests/cli/cases/help-suite-keys.case holds them to what suites are read by. */
#ifndef TIPPLE_CLI_PAGES_SUITE_KEYS_H
#define TIPPLE_CLI_PAGES_SUITE_KEYS_H

enum { SUITE_PARTS = 10, SUITE_KEYS_MOST = 16 };

typedef struct {
    const char *title;
    struct {
        const char *key, *is;
    } keys[SUITE_KEYS_MOST]; /* up to a NULL, if there are fewer */
} suite_keys_t;

extern const suite_keys_t suite_keys[SUITE_PARTS];

#endif
