/* The ledger, where later records replace earlier ones: one piece after the other, in the order of the catalog, whatever
 * the order of the command is. */
#include "catalog/ledger/ledger.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { LEASE = 1000 };

static const load_id_t self = {{1}};
static err_t err;

static bool relate(void *context, const ledger_input_t *input, view_t *view, uint32_t *version,
                   err_t *failure) {
    (void)context, (void)input, (void)failure;
    *view = VIEW_SAME;
    *version = 1;
    return true;
}

static void add(ledger_t *ledger, entries_t *catalog, uint32_t ordinal, size_t pieces, size_t group,
                bool done) {
    entry_t *entry = entries_add(catalog, &err);
    *entry = (entry_t){.ordinal = ordinal, .path = strdup("a"), .key = strdup("k"), .kind = strdup("plain")};
    assert_true(entry_add_version(entry, &(version_t){.size = 1000, .digest = "d", .modified_ns = 50}, &err));
    assert_true(entry_make_pieces(entry, pieces, 4, &err));
    for (size_t i = 0; i < pieces; i++) {
        entry->pieces[i].generation = 1;
        entry->pieces[i].epoch = done;
        entry->pieces[i].complete = done;
        entry->pieces[i].modified_ns = done ? 50 : 0;
    }
    ledger_input_t input = {.seen = {.size = 1000, .digest = "d", .modified_ns = 50},
                            .name = "a",
                            .bytes = 1000,
                            .plain = true,
                            .group = group};
    assert_true(entry_copy(&input.entry, entry, &err));
    assert_true(ledger_add(ledger, &input, &err));
    entry_free(&input.entry);
}

/* Takes what may be taken; for each work its ordinal and piece, as letters and digits. */
static void take(ledger_t *ledger, entries_t *catalog, char *text) {
    take_t *takes;
    size_t count;
    assert_true(ledger_choose(ledger, NULL, 1, 0, &takes, &count, &err));
    *text = '\0';
    for (size_t i = 0; i < count; i++) {
        const entry_change_t *change = &takes[i].change;
        entry_t *entry = (entry_t *)entries_find(catalog, change->ordinal);
        entry->pieces[change->piece].owner = change->new_owner;
        entry->pieces[change->piece].epoch = change->new_epoch;
        *text++ = (char)('a' + change->ordinal);
        *text++ = (char)('0' + change->piece);
        *text = '\0';
    }
    entries_t read = {0};
    for (size_t i = 0; i < catalog->count; i++)
        assert_true(entry_copy(entries_add(&read, &err), &catalog->entries[i], &err));
    assert_true(ledger_begin_reading(ledger, 0, &err) && ledger_read(ledger, &read, &err));
    ledger_taken(ledger, takes, count);
    entries_free(&read);
    takes_free(takes, count);
}

static next_t next_of(const ledger_t *ledger) {
    next_t next;
    const load_seen_t *load;
    assert_true(ledger_next(ledger, &next, &load, &err));
    return next;
}

static void finish(ledger_t *ledger) {
    for (size_t i = 0; i < ledger->work_count; i++)
        if (ledger->works[i].state == WORK_OURS)
            ledger_skip(ledger, &ledger->works[i]);
}

TEST(order) {
    entries_t catalog = {0};
    ledger_t ledger;
    char text[40];
    const ledger_options_t options = {
        .self = self, .generation = 1, .safe = true, .lease_ns = LEASE, .relate = relate};
    ledger_init(&ledger, &options);
    add(&ledger, &catalog, 0, 1, 10, true);
    add(&ledger, &catalog, 1, 2, 11, false);
    add(&ledger, &catalog, 2, 1, 12, false);
    add(&ledger, &catalog, 3, 1, 13, false);
    add(&ledger, &catalog, 4, 1, 13, false);
    assert_true(ledger_put_in_order(&ledger, &err));
    static const char *const expected[] = {"b0", "b1", "c0", "d0e0"};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_int_equal(next_of(&ledger), NEXT_TAKE);
        take(&ledger, &catalog, text);
        assert_string_equal(text, expected[i]);
        assert_int_equal(next_of(&ledger), NEXT_WORK);
        take(&ledger, &catalog, text);
        assert_string_equal(text, "");
        finish(&ledger);
    }
    assert_int_equal(next_of(&ledger), NEXT_END);
    ledger_free(&ledger);
    entries_free(&catalog);
}

TEST(command_order) {
    entries_t first = {0}, second = {0}, all = {0};
    ledger_t ledger;
    char text[40];
    const ledger_options_t options = {
        .self = self, .generation = 1, .safe = true, .lease_ns = LEASE, .relate = relate};
    ledger_init(&ledger, &options);
    add(&ledger, &first, 8, 1, 10, false); /* the newer one is named first */
    add(&ledger, &second, 3, 1, 11, false);
    *entries_add(&all, &err) = second.entries[0];
    *entries_add(&all, &err) = first.entries[0];
    assert_true(ledger_put_in_order(&ledger, &err));
    take(&ledger, &all, text);
    assert_string_equal(text, "d0");
    finish(&ledger);
    take(&ledger, &all, text);
    assert_string_equal(text, "i0");
    ledger_free(&ledger);
    free(first.entries);
    free(second.entries);
    entries_free(&all);
}

/* Where nothing may be registered as taken, a stream is not, either, though it seems to cost nothing. */
TEST(no_portion) {
    const portion_t none = {.least = 0}, one = {.least = 1}, full = {.least = 1, .count = 1};
    assert_false(portion_has_room(&none, 0, 0, 0));
    assert_true(portion_has_room(&one, 0, 0, 10));
    assert_false(portion_has_room(&full, 1, 0, 0));
}
