/* register: which entry is which input, against a store in memory; and what other loads do between reading
 * and adding. */
#include "catalog/register/register.h"
#include "format/record/record_id.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static err_t err;

/* ---- a store in memory, which gives two entries a time ---- */

typedef struct {
    store_t store;
    catalog_header_t header;
    entries_t entries;
    void (*meanwhile)(void *lab); /* before entries are added, once */
    int added;                    /* commands */
    int read;                     /* replies */
    bool reply_lost;              /* the next entries are added, and nobody says so */
} lab_t;

static bool read_header(store_t *store, catalog_header_t *header, bool *found, err_t *failure) {
    (void)failure;
    *header = ((lab_t *)store)->header;
    store->first_ordinal = header->first_ordinal;
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
    assert_true(!among && !among_count);
    lab->read++;
    size_t room = 2;
    *more = false;
    for (size_t i = 0; i < lab->entries.count; i++) {
        if (lab->entries.entries[i].ordinal < *from)
            continue;
        if (!room--) {
            *from = lab->entries.entries[i].ordinal;
            *more = true;
            return true;
        }
        assert_true(entry_copy(entries_add(entries, failure), &lab->entries.entries[i], failure));
    }
    return true;
}

static bool add_entries(store_t *store, const entry_t *const *entries, size_t count, uint64_t *added,
                        err_t *failure) {
    lab_t *lab = (lab_t *)store;
    lab->added++;
    *added = 0;
    if (lab->meanwhile) {
        void (*meanwhile)(void *) = lab->meanwhile;
        lab->meanwhile = NULL;
        meanwhile(lab);
    }
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
        *added += !lab->reply_lost;
    }
    lab->reply_lost = false;
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

/* Digests are words; what an input begins with is told by the word's first letter. */
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
static size_t asked, looked_into;

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

static bool holds(void *context, const entry_t *entry) {
    (void)context, (void)entry;
    looked_into++;
    return holds_content;
}

static void begin(lab_t *lab) {
    stands_there = STANDS_NONE;
    holds_content = true;
    *lab = (lab_t){.header = {.generation = 7},
                   .store = {.read_header = read_header,
                             .change_header = change_header,
                             .read_entries = read_entries,
                             .add_entries = add_entries,
                             .remove_entries = remove_entries,
                             .change_entries = change_entries}};
}

static void end(lab_t *lab) {
    entries_free(&lab->entries);
}

/* A file of so many bytes that begins with a letter. */
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
    return (wanted_t){
        .name = name, .kind = "stream", .named = named, .extent_units = 1, .ordinals = 1, .pieces = 1};
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
    free(registering.standings);
    return ok;
}

/* The ordinal of the one input's entry; -status where it is refused. */
static char like[512];
static like_t like_how;
static alike_t like_all[LIKE_KINDS]; /* whether there is one, not its path */

static const char *told(const wanted_t *wanted) {
    const like_t how = registration_tells(wanted);
    return how < LIKE_KINDS ? wanted->like[how].path : "";
}

static int one(lab_t *lab, wanted_t wanted, uint8_t load) {
    if (!try(lab, &wanted, 1, load)) {
        answer_free(&wanted);
        return -(int)err.status;
    }
    like_how = registration_tells(&wanted);
    snprintf(like, sizeof like, "%s", told(&wanted));
    memcpy(like_all, wanted.like, sizeof like_all);
    const int ordinal = (int)wanted.entry.ordinal;
    answer_free(&wanted);
    return ordinal;
}

/* Begun by somebody. */
static void begin_all(lab_t *lab) {
    for (size_t i = 0; i < lab->entries.count; i++)
        lab->entries.entries[i].pieces[0].epoch = 1;
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

/* Under each path under which it was recognised it is known again, whatever is under the others by now. Its own path goes first. What
 * has other content there is another one, if the content has another place, and else it has changed. */
TEST(known_by_each_name) {
    lab_t lab;
    begin(&lab);
    assert_int_equal(one(&lab, file_of("d/x", 'x', 10), 1), 0);
    begin_all(&lab);
    assert_int_equal(one(&lab, file_of("e/x", 'x', 10), 1), 0); /* moved */
    stands_there = STANDS_OTHER;                                /* and copied back */
    assert_int_equal(one(&lab, file_of("e/x", 'x', 10), 1), 0);
    assert_int_equal(one(&lab, file_of("e/x", 'x', 12), 1), 0);
    assert_int_equal(one(&lab, file_of("d/x", 'x', 10), 1), 0);
    assert_int_equal(one(&lab, file_of("f/x", 'x', 10), 1), 1); /* another copy */
    assert_int_equal(lab.entries.entries[0].name_count, 1);
    for (int turn = 0; turn < 2; turn++) {
        wanted_t both[2];
        both[turn] = file_of("d/x", 'x', 10);
        both[!turn] = file_of("e/x", 'x', 10);
        assert_true(try(&lab, both, 2, 2));
        assert_int_equal(both[turn].entry.ordinal, 0);
        assert_int_equal(both[!turn].entry.ordinal, 2); /* there are two now */
        answer_free(&both[0]);
        answer_free(&both[1]);
    }
    assert_int_equal(one(&lab, file_of("l/x", 'z', 10), 1), 3);
    begin_all(&lab);
    stands_there = STANDS_SAME; /* a link */
    assert_int_equal(one(&lab, file_of("m/y", 'z', 10), 1), 3);
    stands_there = STANDS_NONE; /* of which the first name was removed */
    assert_int_equal(one(&lab, file_of("m/y", 'z', 10), 1), 3);
    /* other content in the only place that it had: changed, as under its own name */
    assert_int_equal(one(&lab, file_of("m/y", 'w', 10), 1), -STATUS_INPUT);
    is_link = true; /* unless a link leads elsewhere now */
    assert_int_equal(one(&lab, file_of("m/y", 'w', 10), 1), 4);
    is_link = false;
    end(&lab);
}

/* The content of one of another name: a new input, of which that is told; not before anything was sent of the other. */
TEST(other_names) {
    lab_t lab;
    begin(&lab);
    assert_int_equal(one(&lab, file_of("a", 'x', 10), 1), 0);
    assert_int_equal(one(&lab, file_of("b", 'x', 10), 2), 1);
    assert_string_equal(like, "");
    lab.entries.entries[0].pieces[0].epoch = 1;
    assert_int_equal(one(&lab, file_of("c", 'x', 10), 2), 2);
    assert_string_equal(like, "a");
    assert_int_equal(one(&lab, file_of("c", 'x', 10), 2), 2); /* it is known by now */
    assert_string_equal(like, "");
    assert_int_equal(one(&lab, file_of("d", 'y', 10), 2), 3);
    assert_string_equal(like, "");
    end(&lab);
}

/* Another folder: moved, another spelling of the path, or a copy. */
TEST(other_folders) {
    lab_t lab;
    begin(&lab);
    assert_int_equal(one(&lab, file_of("d/a", 'x', 10), 1), 0);
    lab.entries.entries[0].pieces[0].epoch = 1;
    assert_int_equal(one(&lab, file_of("e/a", 'x', 10), 2), 0);
    stands_there = STANDS_SAME;
    assert_int_equal(one(&lab, file_of("e/a", 'x', 10), 2), 0);
    assert_int_equal(one(&lab, file_of("e/a", 'x', 20), 2), 0); /* it has grown */
    assert_int_equal(one(&lab, file_of("e/a", 'y', 10), 2), -STATUS_INPUT);
    /* another name of it: the same, grown, changed; a copy of it, and what a link may have led to before, are others */
    assert_int_equal(one(&lab, file_of("/d/b", 'x', 10), 2), 0);
    assert_int_equal(one(&lab, file_of("/d/b", 'x', 20), 2), 0);
    assert_int_equal(one(&lab, file_of("/d/b", 'y', 10), 2), -STATUS_INPUT);
    is_link = true;
    assert_int_equal(one(&lab, file_of("/d/c", 'z', 15), 2), 1);
    assert_string_equal(like, "d/a");
    assert_int_equal(like_how, LIKE_LEADS);
    is_link = false;
    wanted_t copy = file_of("/d/b!copy-2", 'y', 10);
    copy.copy_mark = "!copy-2";
    assert_int_equal(one(&lab, copy, 2), 2);
    stands_there = STANDS_OTHER;
    assert_int_equal(one(&lab, file_of("d/a", 'x', 10), 2), 0); /* in its place */
    assert_int_equal(one(&lab, file_of("g/a", 'x', 10), 2), 3); /* a copy */
    assert_int_equal(one(&lab, file_of("g/a", 'x', 10), 3), 3);
    assert_int_equal(one(&lab, file_of("f/a", 'y', 20), 3), 4);
    end(&lab);
}

/* Renamed and grown, a copy that has grown, or a part of it: another input, of which that is told. */
TEST(renamed_and_grown) {
    static const struct {
        wanted_t now;
        stands_t stands;
        const char *like;
        like_t how;
    } rows[] = {
        {{.name = "log.1", .seen = {.size = 20, .digest = "x20"}}, STANDS_NONE, "log", LIKE_BEGINS},
        {{.name = "log.1", .seen = {.size = 20, .digest = "y20"}}, STANDS_NONE, "", LIKE_KINDS},
        {{.name = "log.1", .seen = {.size = 20, .digest = "x20"}}, STANDS_OTHER, "log", LIKE_BEGINS},
        {{.name = "log.1", .seen = {.size = 5, .digest = "x5"}}, STANDS_NONE, "", LIKE_KINDS},
        {{.name = "log.1", .seen = {.size = 5, .digest = "x5"}}, STANDS_OTHER, "log", LIKE_PART},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lab_t lab;
        begin(&lab);
        assert_int_equal(one(&lab, file_of("log", 'x', 10), 1), 0);
        lab.entries.entries[0].pieces[0].epoch = 1;
        stands_there = rows[i].stands;
        wanted_t now = file_of(rows[i].now.name, 'x', 1);
        now.seen = rows[i].now.seen;
        assert_int_equal(one(&lab, now, 2), 1);
        assert_string_equal(like, rows[i].like);
        assert_int_equal(like_how, rows[i].how);
        end(&lab);
    }
}

/* Of two files of one load, too; of one that has grown; and of the earlier version of one. */
TEST(alike) {
    lab_t lab;
    begin(&lab);
    wanted_t both[] = {file_of("a", 'x', 20), file_of("b", 'x', 10), file_of("c", 'x', 10),
                       file_of("d", 'y', 10)};
    assert_true(try(&lab, both, 4, 1));
    assert_string_equal(told(&both[0]), "b");
    assert_int_equal(registration_tells(&both[0]), LIKE_BEGINS);
    assert_int_equal(both[0].like[LIKE_BEGINS].ordinal, LIKE_NEW);
    assert_string_equal(told(&both[2]), "b");
    assert_int_equal(registration_tells(&both[2]), LIKE_EQUAL);
    assert_string_equal(told(&both[1]), ""); /* the longer one tells */
    assert_true(both[1].like[LIKE_PART].path && both[1].like[LIKE_PART].before);
    assert_string_equal(told(&both[3]), "");
    for (size_t i = 0; i < 4; i++) {
        answer_free(&both[i]);
        lab.entries.entries[i].pieces[0].epoch = 1;
    }
    assert_int_equal(one(&lab, file_of("b", 'x', 20), 2), 1);
    assert_string_equal(like, "a");
    assert_int_equal(like_how, LIKE_EQUAL);
    assert_int_equal(one(&lab, file_of("d", 'y', 12), 2), 3);
    assert_string_equal(like, "");
    assert_true(entry_add_version(&lab.entries.entries[3], &(version_t){.size = 30, .digest = "y30"}, &err));
    assert_int_equal(one(&lab, file_of("e", 'y', 10), 2), 4);
    assert_string_equal(like, "d");
    assert_int_equal(like_how, LIKE_PART);
    end(&lab);
}

/* Copies are meant to be beside what they are copies of, also where that is new and they are not. */
TEST(alike_copies) {
    lab_t lab;
    begin(&lab);
    wanted_t both[] = {file_of("a", 'x', 10), file_of("a!copy-2", 'x', 10)};
    both[1].copy_mark = "!copy-2";
    assert_int_equal(one(&lab, both[1], 1), 0);
    lab.entries.entries[0].pieces[0].epoch = 1;
    assert_true(try(&lab, both, 2, 2));
    assert_int_equal(both[1].entry.ordinal, 0);
    assert_true(!*told(&both[0]) && !*told(&both[1]));
    answer_free(&both[0]);
    answer_free(&both[1]);
    end(&lab);
}

/* All that is known of an input is there, by content and by name; the surest is told. */
TEST(alike_and_packed) {
    for (int before = 0; before < 2; before++) {
        lab_t lab;
        begin(&lab);
        wanted_t all[] = {file_of("a", 'x', 20), file_of("b", 'x', 20), file_of("a.gz", 'z', 7),
                          file_of("c", 'y', 20), file_of("b.gz", 'y', 20)};
        if (before) {
            assert_int_equal(one(&lab, all[0], 1), 0);
            lab.entries.entries[0].pieces[0].epoch = 1;
            stands_there = STANDS_OTHER;
        }
        assert_true(try(&lab, all, 5, 2));
        assert_string_equal(told(&all[1]), "a");
        assert_int_equal(registration_tells(&all[1]), LIKE_EQUAL);
        assert_string_equal(told(&all[2]), "a");
        assert_int_equal(registration_tells(&all[2]), LIKE_PACKED);
        assert_string_equal(told(&all[4]), "c");
        assert_string_equal(all[4].like[LIKE_PACKED].path, "b");
        for (size_t i = 0; i < 5; i++)
            answer_free(&all[i]);
        end(&lab);
    }
}

/* What grows by the same load is compared as it is now, and one that is not loaded to its end is told so. */
TEST(alike_and_growing) {
    lab_t lab;
    begin(&lab);
    assert_int_equal(one(&lab, file_of("a", 'x', 10), 1), 0);
    lab.entries.entries[0].pieces[0].epoch = 1;
    stands_there = STANDS_OTHER;
    wanted_t both[] = {file_of("a", 'x', 20), file_of("b", 'x', 10), file_of("c", 'x', 20)};
    assert_true(try(&lab, both, 3, 2));
    assert_int_equal(registration_tells(&both[0]), LIKE_KINDS); /* it had that before */
    assert_int_equal(registration_tells(&both[1]), LIKE_PART);
    assert_int_equal(registration_tells(&both[2]), LIKE_EQUAL);
    assert_string_equal(told(&both[2]), "a");
    assert_false(both[2].like[LIKE_EQUAL].unfinished);
    for (size_t i = 0; i < 3; i++)
        answer_free(&both[i]);
    for (int complete = 0; complete < 2; complete++) {
        lab.entries.entries[0].pieces[0].complete = complete ? 1 : 0;
        lab.entries.entries[0].pieces[0].counts.read = 5;
        one(&lab, file_of(complete ? "d" : "e", 'x', 10), 3);
        assert_int_equal(like_how, LIKE_EQUAL);
        assert_true(like_all[LIKE_EQUAL].unfinished == !complete);
    }
    end(&lab);
}

/* Of several that are equal the newest entry counts; an earlier version of another one is known as well. */
TEST(alike_to_several) {
    lab_t lab;
    begin(&lab);
    stands_there = STANDS_OTHER;
    assert_int_equal(one(&lab, file_of("a", 'x', 10), 1), 0);
    assert_int_equal(one(&lab, file_of("b", 'x', 10), 1), 1);
    assert_int_equal(one(&lab, file_of("c", 'x', 10), 1), 2);
    for (size_t i = 0; i < 3; i++)
        lab.entries.entries[i].pieces[0].epoch = 1;
    assert_true(entry_add_version(&lab.entries.entries[2], &(version_t){.size = 30, .digest = "x30"}, &err));
    one(&lab, file_of("d", 'x', 10), 2);
    assert_string_equal(like, "b");
    assert_true(like_all[LIKE_PART].path && like_all[LIKE_PART].ordinal == 2);
    end(&lab);
}

/* However many there are, each that is equal to another one is found. */
TEST(many_alike) {
    enum { COUNT = 3000 };
    lab_t lab;
    begin(&lab);
    assert_int_equal(one(&lab, file_of("first", 'x', 10), 1), 0);
    lab.entries.entries[0].pieces[0].epoch = 1;
    wanted_t *wanted = calloc(COUNT, sizeof *wanted);
    char names[COUNT][8];
    for (int i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "%d", i);
        wanted[i] = file_of(names[i], 'y', 100 + (uint64_t)i);
        wanted[i].may_grow = false;
    }
    wanted[COUNT - 1] = file_of("last", 'x', 10);
    registration_t registering = registration_of(wanted, COUNT, 0);
    registering.read_only = true;
    assert_true(catalog_register(&lab.store, &registering, &err));
    assert_string_equal(told(&wanted[COUNT - 1]), "first");
    register_free(&registering);
    free(wanted);
    end(&lab);
}

/* A member of an archive has the archive's last name and its own whole one: another archive's is another one. */
TEST(members) {
    static const struct {
        const char *name, *last_name;
        int is;
    } rows[] = {{"feb.zip!d/r", "feb.zip!d/r", 1},
                {"old/jan.zip!d/r", "jan.zip!d/r", 0},
                {"xjan.zip!d/r", "xjan.zip!d/r", 1},
                {"old/jan.zip!r", "jan.zip!r", 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lab_t lab;
        begin(&lab);
        wanted_t first = file_of("in/jan.zip!d/r", 'x', 10);
        first.last_name = "jan.zip!d/r";
        first.of_archive = true;
        assert_int_equal(one(&lab, first, 1), 0);
        lab.entries.entries[0].pieces[0].epoch = 1;
        wanted_t now = first;
        now.name = rows[i].name;
        now.last_name = rows[i].last_name;
        if (one(&lab, now, 2) != rows[i].is)
            fail_msg("%s", now.name);
        assert_int_equal(like_how, rows[i].is ? LIKE_EQUAL : LIKE_KINDS);
        end(&lab);
    }
}

/* A name that is no whole path was another folder's file: its documents stay. An emptied file is none of the empty ones. */
TEST(whose_name) {
    lab_t lab;
    begin(&lab);
    assert_int_equal(one(&lab, file_of("a", 'x', 10), 1), 0);
    assert_int_equal(one(&lab, file_of("/f/a", 'y', 10), 1), 1);
    lab.entries.entries[0].pieces[0].epoch = lab.entries.entries[1].pieces[0].epoch = 1;
    stands_there = STANDS_SAME;
    for (int reload = 0; reload < 2; reload++) {
        wanted_t now = file_of("a", 'z', 12);
        now.reload = reload;
        assert_int_equal(one(&lab, now, 2), -STATUS_INPUT);
        assert_non_null(strstr(err.text, "/f/a"));
    }
    wanted_t whole = file_of("/f/a", 'z', 12);
    whole.reload = true;
    assert_int_equal(one(&lab, whole, 2), 1);
    stands_there = STANDS_NONE;
    assert_int_equal(one(&lab, file_of("e/log", '0', 0), 2), 2);
    assert_int_equal(one(&lab, file_of("d/log", 'x', 30), 2), 3);
    lab.entries.entries[3].pieces[0].epoch = 1;
    lab.entries.entries[2].pieces[0].epoch = 0;
    assert_int_equal(one(&lab, file_of("d/log", '0', 0), 2), -STATUS_INPUT);
    end(&lab);
}

/* Another folder, and longer: the old one, if only one could be it, and nothing stands where that was. */
TEST(moved_and_grown) {
    static const struct {
        uint64_t first, second; /* bytes of d/a and e/a, which are loaded; 0: it is not */
        uint64_t read;          /* records of each, which is complete; 0: it was begun, and no more */
        bool complete;
        stands_t stands;
        wanted_t now[2]; /* the second may be none */
        int is[2];       /* these entries */
    } rows[] = {
        {10, 0, 0, false, STANDS_NONE, {{.name = "f/a", .seen = {.size = 20, .digest = "x20"}}}, {0}},
        {10, 0, 5, true, STANDS_NONE, {{.name = "a", .seen = {.size = 11, .digest = "x11"}}}, {0}},
        /* another name, other content, or shorter */
        {10, 0, 5, true, STANDS_NONE, {{.name = "f/b", .seen = {.size = 20, .digest = "x20"}}}, {1}},
        {10, 0, 5, true, STANDS_NONE, {{.name = "f/a", .seen = {.size = 20, .digest = "y20"}}}, {1}},
        {10, 0, 5, true, STANDS_NONE, {{.name = "f/a", .seen = {.size = 9, .digest = "x9"}}}, {1}},
        /* nothing was in it, but for a header line */
        {10, 0, 0, true, STANDS_NONE, {{.name = "f/a", .seen = {.size = 20, .digest = "x20"}}}, {1}},
        /* another file is there: it is a copy that has grown */
        {10, 0, 5, true, STANDS_OTHER, {{.name = "f/a", .seen = {.size = 20, .digest = "x20"}}}, {1}},
        /* and so it is where the old one is loaded, too */
        {10,
         0,
         5,
         true,
         STANDS_NONE,
         {{.name = "f/a", .seen = {.size = 20, .digest = "x20"}},
          {.name = "d/a", .seen = {.size = 10, .digest = "x10"}}},
         {1, 0}},
        /* two could be it; of one it is the same */
        {10, 15, 5, true, STANDS_NONE, {{.name = "f/a", .seen = {.size = 20, .digest = "x20"}}}, {2}},
        {10, 20, 5, true, STANDS_NONE, {{.name = "f/a", .seen = {.size = 20, .digest = "x20"}}}, {1}},
        /* what has only moved comes before what has grown, too */
        {10,
         0,
         5,
         true,
         STANDS_NONE,
         {{.name = "f/a", .seen = {.size = 20, .digest = "x20"}},
          {.name = "g/a", .seen = {.size = 10, .digest = "x10"}}},
         {1, 0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lab_t lab;
        begin(&lab);
        assert_int_equal(one(&lab, file_of("d/a", 'x', rows[i].first), 1), 0);
        stands_there = STANDS_OTHER; /* so that it is not the first one */
        if (rows[i].second)
            assert_int_equal(one(&lab, file_of("e/a", 'x', rows[i].second), 1), 1);
        stands_there = rows[i].stands;
        begin_all(&lab);
        for (size_t j = 0; rows[i].complete && j < lab.entries.count; j++) {
            lab.entries.entries[j].pieces[0].complete = 1;
            lab.entries.entries[j].pieces[0].counts.read = rows[i].read;
        }
        const size_t count = rows[i].now[1].name ? 2 : 1;
        wanted_t now[2];
        for (size_t j = 0; j < count; j++) {
            now[j] = file_of(rows[i].now[j].name, 'x', 1);
            now[j].seen = rows[i].now[j].seen;
        }
        assert_true(try(&lab, now, count, 2));
        for (size_t j = 0; j < count; j++) {
            if ((int)now[j].entry.ordinal != rows[i].is[j])
                fail_msg("row %zu: %s is entry %u", i, now[j].name, now[j].entry.ordinal);
            answer_free(&now[j]);
        }
        end(&lab);
    }
}

/* A file was moved, and another one has its name now: each is what it is, whichever is given first. */
TEST(moved_and_followed) {
    static const struct {
        bool known, reload, first; /* in its new place, by a load before; and the new one is given first */
        char letter; /* what the new one begins with: with 'x' it is the old one, and that a copy */
    } rows[] = {{false, false, false, 'y'}, {false, false, true, 'y'},  {true, false, true, 'y'},
                {true, true, true, 'y'},    {false, false, false, 'x'}, {false, false, true, 'x'}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lab_t lab;
        begin(&lab);
        assert_int_equal(one(&lab, file_of("day", 'x', 10), 1), 0);
        begin_all(&lab);
        if (rows[i].known)
            assert_int_equal(one(&lab, file_of("old/day", 'x', 10), 1), 0);
        stands_there = STANDS_OTHER;
        holds_content = rows[i].letter == 'x';
        const size_t new = rows[i].first ? 0 : 1;
        wanted_t wanted[2];
        wanted[new] = file_of("day", rows[i].letter, 20);
        wanted[!new] = file_of("old/day", 'x', 10);
        wanted[0].reload = wanted[1].reload = rows[i].reload;
        if (!try(&lab, wanted, 2, 2))
            fail_msg("row %zu: %s", i, err.text);
        assert_int_equal(wanted[new].entry.ordinal, !holds_content);
        assert_int_equal(wanted[!new].entry.ordinal, holds_content);
        assert_false(wanted[0].changed || wanted[1].changed);
        for (size_t j = 0; j < 2; j++)
            answer_free(&wanted[j]);
        end(&lab);
    }
    /* alone it is refused, and told how it would be known */
    lab_t lab;
    begin(&lab);
    assert_int_equal(one(&lab, file_of("day", 'x', 10), 1), 0);
    begin_all(&lab);
    assert_int_equal(one(&lab, file_of("day", 'y', 20), 2), -STATUS_INPUT);
    assert_non_null(strstr(err.text, "in the same command"));
    end(&lab);
}

/* A path is read in the folder that the command is given in: what stands there may be any other file. */
TEST(path_of_another_folder) {
    for (int grown = 0; grown < 2; grown++) {
        lab_t lab;
        begin(&lab);
        assert_int_equal(one(&lab, file_of("a", 'x', 10), 1), 0);
        lab.entries.entries[0].pieces[0].epoch = lab.entries.entries[0].pieces[0].complete = 1;
        lab.entries.entries[0].pieces[0].counts.read = 5;
        stands_there = STANDS_OTHER;
        holds_content = false;
        looked_into = 0;
        assert_int_equal(one(&lab, file_of("../d/a", 'x', grown ? 20 : 10), 2), 0);
        assert_int_equal(looked_into, 1);
        assert_int_equal(one(&lab, file_of("../d/a", 'y', 30), 2), -STATUS_INPUT); /* not any more */
        holds_content = true;
        assert_int_equal(one(&lab, file_of("../d/a", 'y', 30), 2), 1); /* that is somewhere else */
        assert_int_equal(one(&lab, file_of("../e/a", 'x', grown ? 20 : 10), 2), 2);
        end(&lab);
    }
}

/* A new file of a name that many have: they are not read where the file system says that they are what they were. */
TEST(not_read_again) {
    lab_t lab;
    begin(&lab);
    stands_there = STANDS_OTHER;
    for (int i = 0; i < 5; i++) {
        char name[20];
        snprintf(name, sizeof name, "%d/a", i);
        assert_int_equal(one(&lab, file_of(name, (char)('b' + i), 1), 1), i);
        lab.entries.entries[i].pieces[0].epoch = 1;
    }
    looked_into = 0;
    assert_int_equal(one(&lab, file_of("here/a", 'a', 20), 1), 5);
    assert_int_equal(looked_into, 0);
    end(&lab);
}

/* So many files of one name are gone that it says nothing: nobody reads the beginning of a new one for each of them. */
TEST(many_gone) {
    for (int more = 0; more < 2; more++) {
        lab_t lab;
        begin(&lab);
        stands_there = STANDS_OTHER;
        for (int i = 0; i < 15 + more; i++) {
            char name[20];
            snprintf(name, sizeof name, "%d/a", i);
            assert_int_equal(one(&lab, file_of(name, (char)('b' + i), 10), 1), i);
        }
        assert_int_equal(one(&lab, file_of("here/a", 'a', 10), 1), 15 + more);
        begin_all(&lab);
        stands_there = STANDS_NONE;
        assert_int_equal(one(&lab, file_of("there/a", 'a', 20), 1), more ? 17 : 15);
        end(&lab);
    }
}

/* The first portion of what is new is registered as taken, a group as a whole; of what is there nothing is touched. */
TEST(first_portion_is_taken) {
    static const struct {
        portion_t portion;
        const char *taken; /* by piece: of a; of b, which has two; of c and d, which are one group; of e */
    } rows[] = {
        {{0}, "- -- - - -"},
        {{.least = 1}, "1 -- - - -"},
        {{.least = 2}, "1 1- - - -"},
        {{.least = 4}, "1 11 1 1 -"},
        {{.most_bytes = 1}, "1 -- - - -"},
        {{.most_bytes = 26}, "1 11 - - -"},
        {{.most_bytes = 31}, "1 11 1 1 -"},
        {{.least = 9}, "1 11 1 1 1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lab_t lab;
        begin(&lab);
        assert_int_equal(one(&lab, file_of("d/old", 'o', 10), 1), 0);
        wanted_t wanted[] = {file_of("d/old", 'o', 10), file_of("d/a", 'a', 10), file_of("d/b", 'b', 20),
                             file_of("d/c", 'c', 10),   file_of("d/d", 'd', 10), file_of("d/e", 'e', 10)};
        for (size_t j = 0; j < 6; j++) {
            wanted[j].bytes = wanted[j].seen.size;
            wanted[j].group = j == 4 ? 3 : j;
        }
        wanted[2].pieces = 2;
        wanted[2].piece_blocks = 1;
        registration_t registering = registration_of(wanted, 6, 2);
        registering.generation = 7;
        registering.portion = rows[i].portion;
        char taken[16] = "";
        assert_true(catalog_register(&lab.store, &registering, &err));
        assert_int_equal(wanted[0].entry.pieces[0].epoch, 0);
        for (size_t j = 1; j < 6; j++) {
            for (size_t k = 0; k < wanted[j].entry.piece_count; k++) {
                const piece_t *piece = &wanted[j].entry.pieces[k];
                assert_int_equal(piece->owner.bytes[0], piece->epoch ? 2 : 0);
                assert_int_equal(piece->generation, piece->epoch ? 7 : 0);
                strcat(taken, piece->epoch ? "1" : "-");
            }
            strcat(taken, j < 5 ? " " : "");
        }
        assert_string_equal(taken, rows[i].taken);
        register_free(&registering);
        end(&lab);
    }
}

/* What was added without a doubt is not read again; where the reply was lost, or somebody was first, it is. */
TEST(read_again_in_doubt) {
    for (int lost = 0; lost < 2; lost++) {
        lab_t lab;
        begin(&lab);
        wanted_t wanted[] = {file_of("d/a", 'a', 10), file_of("d/b", 'b', 10), file_of("d/c", 'c', 10)};
        wanted[1].group = 1;
        wanted[2].group = 2;
        registration_t registering = registration_of(wanted, 3, 2);
        registering.generation = 7;
        registering.portion = (portion_t){.least = 2};
        lab.reply_lost = lost;
        assert_true(catalog_register(&lab.store, &registering, &err));
        assert_int_equal(lab.read, lost ? 3 : 1); /* three entries are two replies */
        assert_int_equal(lab.added, 1);
        assert_int_equal(registering.entries, 3);
        for (uint32_t i = 0; i < 3; i++) {
            assert_int_equal(wanted[i].entry.ordinal, i);
            assert_int_equal(wanted[i].entry.pieces[0].epoch, i < 2);
            assert_string_equal(wanted[i].entry.key, wanted[i].key);
        }
        register_free(&registering);
        end(&lab);
    }
}

static void drop_and_make(void *context) {
    lab_t *lab = context;
    lab->header.first_ordinal = lab->header.next_ordinal;
    lab->header.generation++;
}

/* A load that slept while another one dropped the collection adds nothing to the catalog of the new one. Or it has added its
 * entries, which nobody reads: it must not load them. */
TEST(dropped_meanwhile) {
    static const struct {
        uint32_t generation;
        void (*meanwhile)(void *);
        const char *says;
        int added;
    } rows[] = {{6, NULL, "was dropped and made", 0}, {7, drop_and_make, "another load has dropped", 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lab_t lab;
        begin(&lab);
        wanted_t wanted[] = {file_of("d/a", 'a', 10)};
        registration_t registering = registration_of(wanted, 1, 2);
        registering.generation = rows[i].generation;
        lab.meanwhile = rows[i].meanwhile;
        assert_false(catalog_register(&lab.store, &registering, &err));
        assert_int_equal(err.status, STATUS_SERVER);
        assert_non_null(strstr(err.text, rows[i].says));
        assert_int_equal(lab.added, rows[i].added);
        register_free(&registering);
        end(&lab);
    }
}

/* One that had its numbers before the drop may add entries after it. They are nobody's: the same file is loaded anew, whether
 * its entry would have the same key or not. */
TEST(left_behind) {
    for (int same = 0; same < 2; same++) {
        lab_t lab;
        begin(&lab);
        assert_int_equal(one(&lab, file_of("d/a", 'a', 10), 1), 0);
        assert_int_equal(one(&lab, file_of("d/b", 'b', 10), 1), 1);
        if (!same)
            lab.entries.entries[0].follows[6] = '7'; /* nothing of it is in the way */
        lab.store.first_ordinal = lab.header.first_ordinal = 2;
        lab.header.generation++;
        assert_int_equal(one(&lab, same ? file_of("d/a", 'a', 10) : file_of("d/a", 'a', 12), 2),
                         same ? 3 : 2);
        assert_int_equal(lab.entries.count, same ? 1 : 3);
        assert_int_equal(one(&lab, same ? file_of("d/a", 'a', 10) : file_of("d/a", 'a', 12), 3),
                         same ? 3 : 2);
        end(&lab);
    }
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

TEST(streams) {
    lab_t lab;
    begin(&lab);
    assert_int_equal(one(&lab, stream_of("a/x", true), 1), 0);
    assert_int_equal(one(&lab, stream_of("b/x", true), 1), 1); /* its whole name is its identity */
    assert_int_equal(one(&lab, stream_of("a/x", true), 2), 0);
    assert_int_equal(one(&lab, stream_of("-", false), 2), 2);
    assert_int_equal(one(&lab, stream_of("-", false), 3), 3);
    end(&lab);
}

TEST(copies) {
    lab_t lab;
    begin(&lab);
    wanted_t wanted[] = {file_of("d/a", 'x', 10), file_of("e/a", 'x', 10), file_of("f/a", 'x', 10)};
    assert_true(try(&lab, wanted, 3, 1));
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(wanted[i].entry.ordinal, i);
        answer_free(&wanted[i]);
    }
    /* again, in another order and from other folders: each has one of them */
    wanted_t others[] = {file_of("f/a", 'x', 10), file_of("g/a", 'x', 10), file_of("h/a", 'x', 10)};
    assert_true(try(&lab, others, 3, 2));
    assert_int_equal(others[0].entry.ordinal, 2);
    assert_int_equal(others[1].entry.ordinal + others[2].entry.ordinal, 1);
    for (size_t i = 0; i < 3; i++)
        answer_free(&others[i]);
    assert_int_equal(lab.entries.count, 3);
    end(&lab);
}

/* ---- races ---- */

static void same_first(void *lab) {
    assert_int_equal(one(lab, file_of("a", 'x', 10), 9), 1);
}

static void grown_first(void *lab) {
    assert_int_equal(one(lab, file_of("a", 'x', 20), 9), 1);
}

static void shorter_first(void *lab) {
    assert_int_equal(one(lab, file_of("a", 'x', 5), 9), 1);
}

/* The same file, by another name of it. */
static void other_name_first(void *lab) {
    assert_int_equal(one(lab, file_of("link", 'x', 10), 9), 1);
}

TEST(races) {
    static const struct {
        void (*meanwhile)(void *);
        int entry;
    } rows[] = {{same_first, 1}, {shorter_first, 1}, {grown_first, -STATUS_INPUT}, {other_name_first, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lab_t lab;
        begin(&lab);
        stands_there = STANDS_SAME;
        lab.meanwhile = rows[i].meanwhile;
        assert_int_equal(one(&lab, file_of("a", 'x', 10), 1), rows[i].entry);
        assert_int_equal(lab.entries.count, 1); /* never two of one file */
        end(&lab);
    }
}
