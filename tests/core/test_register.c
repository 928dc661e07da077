/* register: which entry is which input, against a store in memory. What other loads do between reading and adding is the
 * simulator's. */
#include "catalog/register/register.h"
#include "format/record/record_id.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static err_t err;

/* ---- a store in memory, which gives two entries a time ---- */

typedef struct {
    const char *adds;           /* a file of this name; or NULL */
    bool grows, removes, fails; /* the first entry; it may not be known what was added */
} other_load_t;

typedef struct {
    store_t store;
    catalog_header_t header;
    entries_t entries;
    other_load_t other;    /* comes when entries are added */
    size_t readings, read; /* from the first entry on; entries in all */
} lab_t;

static bool find_header(store_t *store, catalog_header_t *header, bool *found, err_t *failure) {
    (void)failure;
    *header = ((lab_t *)store)->header;
    return *found = true;
}

static bool change_header(store_t *store, const header_change_t *change, bool *changed, err_t *failure) {
    catalog_header_t *header = &((lab_t *)store)->header;
    (void)failure;
    *changed = header->generation == change->generation && header->next_extent == change->next_extent &&
               header->next_ordinal == change->next_ordinal;
    header->next_extent += *changed ? change->extents : 0;
    header->next_ordinal += *changed ? change->ordinals : 0;
    return true;
}

static bool read_entries(store_t *store, uint64_t *from, const uint32_t *among, size_t among_count,
                         entries_t *entries, bool *more, err_t *failure) {
    lab_t *lab = (lab_t *)store;
    size_t room = 2;
    lab->readings += !among && !*from;
    *more = false;
    for (size_t i = 0; i < lab->entries.count; i++) {
        bool is_among = !among;
        for (size_t j = 0; j < among_count; j++)
            is_among |= among[j] == lab->entries.entries[i].ordinal;
        if (lab->entries.entries[i].ordinal < *from || !is_among)
            continue;
        if (!room--) {
            *from = lab->entries.entries[i].ordinal;
            *more = true;
            return true;
        }
        assert_true(entry_copy(entries_add(entries, failure), &lab->entries.entries[i], failure));
        lab->read++;
    }
    return true;
}

/* What another load does in between. */
static void come_between(lab_t *lab, err_t *failure) {
    const other_load_t other = lab->other;
    entry_t *first = lab->entries.entries;
    lab->other = (other_load_t){.adds = NULL};
    if (other.grows)
        assert_true(entry_add_version(first, &(version_t){.size = 99, .digest = "z"}, failure));
    if (other.removes)
        first->removed = true;
    if (other.adds) {
        entry_t *entry = entries_add(&lab->entries, failure);
        const uint32_t ordinal = (uint32_t)lab->entries.count - 1;
        *entry = (entry_t){.ordinal = ordinal, .path = strdup(other.adds), .key = strdup(other.adds)};
        assert_true(asprintf(&entry->follows, "after/%u", ordinal - 1) > 0);
        assert_true(entry_add_version(entry, &(version_t){.size = 7, .digest = "y7"}, failure) &&
                    entry_make_pieces(entry, 1, 0, failure));
        lab->header.next_ordinal++;
    }
}

static bool add_entries(store_t *store, const entry_t *const *entries, size_t count, uint64_t *added,
                        err_t *failure) {
    lab_t *lab = (lab_t *)store;
    *added = 0;
    if (lab->other.fails) {
        lab->other.fails = false;
        return true;
    }
    come_between(lab, failure);
    for (size_t i = 0; i < count; i++) {
        bool there = false;
        for (size_t j = 0; j < lab->entries.count; j++) {
            const entry_t *other = &lab->entries.entries[j];
            there |=
                other->ordinal == entries[i]->ordinal || strcmp(other->key, entries[i]->key) == 0 ||
                (entries[i]->follows && other->follows && strcmp(other->follows, entries[i]->follows) == 0);
        }
        if (there)
            break;
        assert_true(entry_copy(entries_add(&lab->entries, failure), entries[i], failure));
        ++*added;
    }
    return true;
}

static bool remove_entries(store_t *store, uint64_t below, err_t *failure) {
    entries_t *entries = &((lab_t *)store)->entries;
    size_t kept = 0;
    (void)failure;
    for (size_t i = 0; i < entries->count; i++)
        if (entries->entries[i].ordinal < below)
            entry_free(&entries->entries[i]);
        else
            entries->entries[kept++] = entries->entries[i];
    entries->count = kept;
    return true;
}

/* Nothing but names. */
static bool change_entries(store_t *store, const entry_change_t *changes, size_t count, uint64_t *changed,
                           err_t *failure) {
    lab_t *lab = (lab_t *)store;
    *changed = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < lab->entries.count; j++)
            if (lab->entries.entries[j].ordinal == changes[i].ordinal) {
                assert_non_null(changes[i].adds_name);
                assert_true(entry_add_name(&lab->entries.entries[j], changes[i].adds_name, failure));
                ++*changed;
            }
    return true;
}

/* Digests are words; what an input begins with is the word's first letter. */
static bool digest_at(const void *context, size_t input, uint64_t size, char digest[33], err_t *failure) {
    const wanted_t *wanted = context;
    (void)failure;
    snprintf(digest, 33, "%c%llu", wanted[input].seen.digest[0], (unsigned long long)size);
    return true;
}

static const char OWN_PATH[] = "what every input is read from";
typedef enum { STANDS_NONE, STANDS_SAME, STANDS_OTHER } stands_t;
static stands_t stands_there; /* under whatever path an entry has */
static bool holds_content;    /* it, where it is another file */
static bool is_link;          /* every path of an entry */
static size_t asked;

static bool file_at(const char *path, file_id_t *file) {
    const bool own = strcmp(path, OWN_PATH) == 0;
    asked++;
    *file = (file_id_t){1, own || stands_there == STANDS_SAME ? 2 : 3, .size = 1};
    return own || stands_there != STANDS_NONE;
}

static bool by_link(const char *path) {
    (void)path;
    return is_link;
}

static bool holds(void *context, const char *path, const entry_t *entry) {
    (void)context, (void)path, (void)entry;
    return holds_content;
}

static void begin(lab_t *lab) {
    stands_there = STANDS_NONE;
    holds_content = true;
    *lab = (lab_t){.header = {.generation = 7},
                   .store = {.find_header = find_header,
                             .change_header = change_header,
                             .read_entries = read_entries,
                             .add_entries = add_entries,
                             .remove_entries = remove_entries,
                             .change_entries = change_entries}};
}

static void end(lab_t *lab) {
    entries_free(&lab->entries);
}

/* A file of that many bytes that begins with a letter. */
static wanted_t file_of(const char *name, char letter, uint64_t size) {
    wanted_t wanted = {.name = name,
                       .kind = "plain",
                       .path = OWN_PATH,
                       .named = true,
                       .may_grow = true,
                       .seen = {.size = size},
                       .extent_units = 1,
                       .ordinals = 1,
                       .pieces = 1};
    snprintf(wanted.seen.digest, sizeof wanted.seen.digest, "%c%llu", letter, (unsigned long long)size);
    return wanted;
}

static wanted_t stream_of(const char *name, bool named) {
    return (wanted_t){.name = name,
                      .kind = "stream",
                      .named = named,
                      .by_name = true,
                      .extent_units = 1,
                      .ordinals = 1,
                      .pieces = 1};
}

static void answer_free(wanted_t *wanted) {
    register_free(&(registration_t){.wanted = wanted, .count = 1});
}

static registration_t registration_of(wanted_t *wanted, size_t count, uint8_t load) {
    return (registration_t){.wanted = wanted,
                            .count = count,
                            .self = {{load}},
                            .digest_at = digest_at,
                            .file_at = file_at,
                            .by_link = by_link,
                            .holds = holds,
                            .context = wanted,
                            .name = "c"};
}

static bool try(lab_t *lab, wanted_t *wanted, size_t count, uint8_t load) {
    registration_t registering = registration_of(wanted, count, load);
    const bool ok = catalog_register(&lab->store, &registering, &err);
    registering.wanted = NULL; /* the caller's */
    register_free(&registering);
    return ok;
}

/* The ordinal of the one input's entry; -status where it is refused. */
static int one(lab_t *lab, wanted_t wanted, uint8_t load) {
    if (!try(lab, &wanted, 1, load)) {
        answer_free(&wanted);
        return -(int)err.status;
    }
    const int ordinal = (int)wanted.entry.ordinal;
    answer_free(&wanted);
    return ordinal;
}

/* ---- */

TEST(known_again) {
    lab_t lab;
    begin(&lab);
    assert_int_equal(one(&lab, file_of("d/a", 'x', 10), 1), 0);
    assert_int_equal(one(&lab, file_of("/d/b", 'y', 10), 1), 1);
    assert_int_equal(one(&lab, file_of("d/c", 'z', 10), 1), 2);
    assert_int_equal(one(&lab, file_of("d/c", 'z', 10), 2), 2); /* past the first reply */
    assert_int_equal(one(&lab, file_of("d/a", 'x', 10), 2), 0);
    assert_int_equal(one(&lab, file_of("/d/b", 'y', 10), 2), 1); /* another folder */
    assert_int_equal(one(&lab, file_of("e/other", 'y', 10), 2), 3);
    assert_int_equal(lab.entries.count, 4);
    assert_int_equal(lab.entries.entries[3].extents[0].base, 3 * RECORD_ID_EXTENT_UNIT);
    assert_int_equal(lab.header.next_extent, 4);
    end(&lab);
}

/* Another load adds entries while this one does: what is new is read, and all only where that is not enough. */
TEST(reads_on) {
    static const struct {
        const char *what;
        other_load_t other;
        size_t readings, read; /* the first reading has three entries; the next ones the matched entry, too */
        uint32_t ordinal;      /* of the new input, which may be what the other load has added */
    } cases[] = {
        {"nothing happens", {.adds = NULL}, 1, 3, 3},
        {"another file", {.adds = "d/x"}, 1, 3 + 1 + 1, 5},
        {"the same file", {.adds = "7/y7/0/new"}, 1, 3 + 1 + 1, 3},
        {"another file, and a known one grows", {.adds = "d/x", .grows = true}, 2, 3 + 1 + 4, 5},
        {"another file, and a known one is removed", {.adds = "d/x", .removes = true}, 2, 3 + 1 + 4, 6},
        {"a reply is lost", {.fails = true}, 2, 3 + 1 + 3, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_t lab;
        begin(&lab);
        assert_int_equal(one(&lab, file_of("d/a", 'x', 10), 1), 0);
        assert_int_equal(one(&lab, file_of("d/b", 'y', 10), 1), 1);
        assert_int_equal(one(&lab, file_of("d/c", 'z', 10), 1), 2);
        lab.readings = lab.read = 0;
        lab.other = cases[i].other;
        wanted_t wanted[] = {file_of("d/a", 'x', 10), file_of("7/y7/0/new", 'y', 7)};
        const bool ok = try(&lab, wanted, 2, 2);
        if (!ok || lab.readings != cases[i].readings || lab.read != cases[i].read)
            fail_msg("%s: %s; read %zu times, %zu entries", cases[i].what, ok ? "ok" : err.text, lab.readings,
                     lab.read);
        assert_int_equal(wanted[0].entry.ordinal, cases[i].other.removes ? 5 : 0);
        assert_int_equal(wanted[1].entry.ordinal, cases[i].ordinal);
        answer_free(&wanted[0]);
        answer_free(&wanted[1]);
        end(&lab);
    }
}

/* Another folder: moved, another spelling of the path, or a copy. */
TEST(other_folders) {
    lab_t lab;
    begin(&lab);
    assert_int_equal(one(&lab, file_of("d/a", 'x', 10), 1), 0);
    lab.entries.entries[0].pieces[0].epoch = 1;
    assert_int_equal(one(&lab, file_of("e/a", 'x', 10), 2), 0);
    stands_there = STANDS_SAME;
    assert_int_equal(one(&lab, file_of("e/a", 'x', 20), 2), 0); /* it has grown */
    assert_int_equal(one(&lab, file_of("e/a", 'y', 10), 2), -STATUS_INPUT);
    /* another name of it: the same, grown, changed; a copy of it, and what a link may have led to before, are others */
    assert_int_equal(one(&lab, file_of("/d/b", 'x', 10), 2), 0);
    assert_int_equal(one(&lab, file_of("/d/b", 'x', 20), 2), 0);
    assert_int_equal(one(&lab, file_of("/d/b", 'y', 10), 2), -STATUS_INPUT);
    is_link = true;
    assert_int_equal(one(&lab, file_of("/d/c", 'z', 15), 2), 1);
    is_link = false;
    wanted_t copy = file_of("/d/b!copy-2", 'y', 10);
    copy.copy_mark = "!copy-2";
    assert_int_equal(one(&lab, copy, 2), 2);
    stands_there = STANDS_OTHER;
    assert_int_equal(one(&lab, file_of("d/a", 'x', 10), 2), 0); /* in its place */
    assert_int_equal(one(&lab, file_of("g/a", 'x', 10), 2), 3); /* a copy */
    assert_int_equal(one(&lab, file_of("f/a", 'y', 20), 3), 4);
    end(&lab);
}

/* A file that begins with one file that is gone is that file, grown; one that begins with two of them is a new one. */
TEST(two_are_gone) {
    lab_t lab;
    begin(&lab);
    stands_there = STANDS_OTHER;
    assert_int_equal(one(&lab, file_of("1/a", 'x', 10), 1), 0);
    assert_int_equal(one(&lab, file_of("2/a", 'x', 20), 1), 1);
    lab.entries.entries[0].pieces[0].epoch = lab.entries.entries[1].pieces[0].epoch = 1; /* begun */
    stands_there = STANDS_NONE;
    assert_int_equal(one(&lab, file_of("3/a", 'x', 15), 2), 0);
    wanted_t longer = file_of("4/a", 'x', 30);
    assert_true(try(&lab, &longer, 1, 2));
    assert_int_equal(longer.entry.ordinal, 2);
    assert_int_equal(longer.resembles, 2);
    assert_false(longer.moved);
    answer_free(&longer);
    end(&lab);
}

/* Many of one last name: each path is looked at once, not once for each pair. */
TEST(one_last_name) {
    lab_t lab;
    begin(&lab);
    stands_there = STANDS_OTHER;
    wanted_t first[] = {file_of("1/a", 'x', 10), file_of("2/a", 'x', 20), file_of("3/a", 'x', 30)};
    wanted_t others[] = {file_of("4/a", 'y', 40), file_of("5/a", 'y', 50), file_of("6/a", 'y', 60)};
    assert_true(try(&lab, first, 3, 1));
    asked = 0;
    assert_true(try(&lab, others, 3, 1));
    assert_int_equal(asked, 6);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(first[i].entry.ordinal, i);
        assert_int_equal(others[i].entry.ordinal, 3 + i);
        answer_free(&first[i]);
        answer_free(&others[i]);
    }
    end(&lab);
}

/* A stream has its name for itself. */
TEST(one_name) {
    lab_t lab;
    begin(&lab);
    assert_int_equal(one(&lab, file_of("a", 'x', 10), 1), 0);
    assert_int_equal(one(&lab, stream_of("a", true), 1), -STATUS_USAGE);
    assert_int_equal(one(&lab, stream_of("b", true), 1), 1);
    assert_int_equal(one(&lab, file_of("b", 'x', 10), 1), -STATUS_USAGE);
    assert_int_equal(one(&lab, file_of("/d/b", 'x', 10), 1), 2);
    assert_int_equal(one(&lab, stream_of("-", false), 1), 3); /* nobody knows it by that */
    end(&lab);
}

TEST(grown_or_changed) {
    lab_t lab;
    begin(&lab);
    assert_int_equal(one(&lab, file_of("a", 'x', 10), 1), 0);
    lab.entries.entries[0].pieces[0].epoch = 1;               /* begun */
    assert_int_equal(one(&lab, file_of("a", 'x', 20), 2), 0); /* longer, and begins alike */
    assert_int_equal(one(&lab, file_of("a", 'y', 20), 2), -STATUS_INPUT);
    assert_non_null(strstr(err.text, "has changed since"));
    assert_int_equal(one(&lab, file_of("a", 'x', 5), 2), -STATUS_INPUT); /* seen before it grew */
    assert_non_null(strstr(err.text, "has grown since"));
    wanted_t shorter = file_of("a", 'x', 5);
    shorter.reload = true;
    assert_false(try(&lab, &shorter, 1, 2));
    assert_int_equal(one(&lab, file_of("a", 'y', 10), 2), -STATUS_INPUT);
    lab.entries.entries[0].pieces[0].epoch =
        0; /* two entries of one path would be loaded twice, begun or not */
    assert_int_equal(one(&lab, file_of("a", 'y', 20), 2), -STATUS_INPUT);
    assert_non_null(strstr(err.text, "nothing of it was"));
    wanted_t again = file_of("a", 'y', 20);
    again.reload = true;
    assert_true(try(&lab, &again, 1, 2));
    assert_true(again.changed && again.unread);
    answer_free(&again);
    lab.entries.entries[0].removed = true; /* nothing of it is ever used again */
    assert_int_equal(one(&lab, file_of("a", 'y', 20), 2), 1);
    assert_int_equal(lab.entries.count, 2);
    /* an earlier version is known, too */
    assert_true(entry_add_version(&lab.entries.entries[1], &(version_t){.size = 30, .digest = "y30"}, &err));
    assert_int_equal(one(&lab, file_of("a", 'y', 20), 3), 1);
    assert_int_equal(one(&lab, file_of("a", 'y', 40), 3), 1);
    /* the longer one is gone, and was not loaded to its end */
    wanted_t back = file_of("a", 'y', 20);
    back.reload = true;
    assert_true(try(&lab, &back, 1, 3));
    assert_true(back.changed);
    answer_free(&back);
    lab.entries.entries[1].pieces[0].complete = 2;
    assert_true(try(&lab, &back, 1, 3));
    assert_false(back.changed);
    answer_free(&back);
    end(&lab);
}
