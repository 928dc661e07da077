/* made_by: which record has made a document? It may forget, and is never wrong. */
#include "load/deliver/made_by.h"
#include "test.h"

#include <pthread.h>

static char files[8];

static made_place_t place_of(uint64_t hash) {
    return (made_place_t){.file = &files[hash % 8], .line = hash % 3 ? hash : 0, .offset = hash * 7};
}

/* True: it knows the place. Another one than the right one is a failure. */
static bool knows(const made_by_t *made, uint64_t hash) {
    const made_place_t right = place_of(hash);
    made_place_t place;
    if (!made_by_find(made, hash, &place))
        return false;
    assert_ptr_equal(place.file, right.file);
    assert_int_equal(place.line, right.line);
    assert_int_equal(place.offset, right.offset);
    return true;
}

static void note(made_by_t *made, uint64_t hash) {
    const made_place_t place = place_of(hash);
    made_by_note(made, hash, &place);
}

TEST(forgets) {
    made_by_t *made = made_by_new(1000);
    assert_false(knows(made, 0));
    assert_false(knows(made, 5));
    note(made, 0);
    note(made, 5);
    assert_true(knows(made, 0));
    assert_true(knows(made, 5));
    for (uint64_t hash = 6; hash < 1000; hash++)
        note(made, hash);
    assert_false(knows(made, 5));
    assert_true(knows(made, 999));
    made_by_free(made);
    made_by_free(NULL);
}

TEST(least) {
    made_by_t *made = made_by_new(0);
    note(made, 77);
    assert_true(knows(made, 77));
    note(made, 78);
    assert_false(knows(made, 77));
    assert_true(knows(made, 78));
    made_by_free(made);
}

static void *write_all(void *made) {
    for (uint64_t hash = 1; hash < 50000; hash++)
        note(made, hash);
    return NULL;
}

/* Slots that two threads write at once are never told as a third record's. */
TEST(threads) {
    pthread_t threads[2];
    made_by_t *made = made_by_new(200);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_all, made), 0);
    for (uint64_t hash = 1; hash < 50000; hash++)
        knows(made, hash);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_true(knows(made, 49999));
    made_by_free(made);
}
