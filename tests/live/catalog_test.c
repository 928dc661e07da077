/* The catalog's store against a real server: TIPPLE_TEST_URI names it. Each test has a collection of its own
 * in a database of this process, which is dropped at the end. What is expected is written here by hand, or
 * read by commands of this file. It runs in boxes, too, which so are held to what a real server does.
 * needs: replset; nightly on: standalone; boxes: standalone */
#include "base/clock.h"
#include "catalog/store/store_mongo.h"
#include "live_lab.h"

#define MS 1000000ll

/* ---- a lab: a store, and a client that knows nothing of it ---- */

typedef struct {
    server_t *server;
    mongoc_client_t *client, *other;
    store_t *store;
    char name[32];
    err_t err;
} lab_t;

#define OK(lab, call)                                                                                        \
    do {                                                                                                     \
        if (!(call))                                                                                         \
            fail_msg("%s: status %d: %s", #call, (int)(lab)->err.status, (lab)->err.text);                   \
    } while (0)

static lab_t open_lab(const char *collection) {
    char uri[600];
    lab_t lab = {0};
    snprintf(lab.name, sizeof lab.name, "%s", collection);
    lab.server = server_connect(
        &(server_options_t){.uri = live_uri(uri, collection), .patience_ns = 3600000 * MS, .connections = 4},
        &lab.err);
    if (!lab.server || !(lab.client = server_take(lab.server, &lab.err)) ||
        !(lab.other = server_take(lab.server, &lab.err)) ||
        !(lab.store = store_mongo_open(lab.server, lab.client, &lab.err)))
        fail_msg("%s", lab.err.text);
    return lab;
}

static void close_lab(lab_t *lab) {
    store_mongo_close(lab->store);
    server_give(lab->server, lab->other);
    server_give(lab->server, lab->client);
    server_destroy(lab->server);
}

#define LAB_TEST(name, collection) TEST_WITH_LAB(name, *lab = open_lab(collection), close_lab(lab))

static bool run(lab_t *lab, const bson_t *command, bson_t *reply) {
    bson_error_t error;
    const bool ok = mongoc_client_command_simple(lab->other, database, command, NULL, reply, &error);
    if (!ok)
        print_message("%s\n", error.message);
    return ok;
}

static void run_json(lab_t *lab, const char *json) {
    bson_error_t error;
    bson_t *command = bson_new_from_json((const uint8_t *)json, -1, &error);
    assert_non_null(command);
    assert_true(run(lab, command, NULL));
    bson_destroy(command);
}

/* How many documents of NAME.tipple.<which> match. */
static int64_t count_of(lab_t *lab, const char *which, const char *filter) {
    char json[400];
    bson_error_t error;
    bson_t reply;
    bson_iter_t n;
    snprintf(json, sizeof json, "{\"count\": \"%s.tipple.%s\", \"query\": %s}", lab->name, which, filter);
    bson_t *command = bson_new_from_json((const uint8_t *)json, -1, &error);
    assert_non_null(command);
    assert_true(run(lab, command, &reply));
    assert_true(bson_iter_init_find(&n, &reply, "n"));
    const int64_t count = bson_iter_as_int64(&n);
    bson_destroy(&reply);
    bson_destroy(command);
    return count;
}

static load_id_t load_id(uint8_t number) {
    load_id_t id = {{0}};
    memset(id.bytes, number, sizeof id.bytes);
    return id;
}

/* ---- the header ---- */

static void make(lab_t *lab) {
    const catalog_header_t header = {.layout = STORE_LAYOUT, .lane_rule = 1, .generation = 1};
    OK(lab, lab->store->make_header(lab->store, &header, &lab->err));
}

static catalog_header_t header_of(lab_t *lab) {
    catalog_header_t header;
    bool found;
    OK(lab, store_read_header(lab->store, &header, &found, &lab->err));
    assert_true(found);
    return header;
}

static bool change(lab_t *lab, const header_change_t *change) {
    bool changed;
    OK(lab, lab->store->change_header(lab->store, change, &changed, &lab->err));
    return changed;
}

LAB_TEST(header_is_made_once, "made") {
    catalog_header_t header = {
        .layout = 3, .lane_rule = 7, .generation = 3, .next_extent = 5, .next_ordinal = 6, .lease_ms = 1234};
    bool found = true;
    memset(header.uuid, 0xab, sizeof header.uuid);
    catalog_header_t read;
    OK(lab, store_read_header(lab->store, &read, &found, &lab->err));
    assert_false(found);
    assert_false(read.has_entries);
    OK(lab, lab->store->make_header(lab->store, &header, &lab->err));
    header.layout = 99;
    header.lease_ms = 1;
    OK(lab, lab->store->make_header(lab->store, &header, &lab->err)); /* the one that is there stays */
    read = header_of(lab);
    assert_int_equal(read.layout, 3);
    assert_int_equal(read.lane_rule, 7);
    assert_int_equal(read.generation, 3);
    assert_int_equal(read.next_extent, 5);
    assert_int_equal(read.next_ordinal, 6);
    assert_int_equal(read.lease_ms, 1234);
    assert_memory_equal(read.uuid, header.uuid, STORE_UUID);
    assert_null(read.format);
    assert_null(read.format_digest);
    assert_null(read.filter);
    assert_true(load_id_is_nobody(&read.dropping));
    catalog_header_free(&read);
}

LAB_TEST(numbers, "numbers") {
    make(lab);
    header_change_t take = {.kind = HEADER_TAKE_NUMBERS, .generation = 2, .extents = 10, .ordinals = 3};
    assert_false(change(lab, &take)); /* of another generation of the collection */
    take.generation = 1;
    assert_true(change(lab, &take));
    assert_false(change(lab, &take)); /* they were taken */
    take.next_extent = 10;
    assert_false(change(lab, &take)); /* both are believed */
    take.next_extent = 0;
    take.next_ordinal = 3;
    assert_false(change(lab, &take));
    take.next_extent = 10;
    take.extents = 1ull << 32;
    assert_true(change(lab, &take));
    catalog_header_t header = header_of(lab);
    assert_int_equal(header.next_extent, 10 + (1ull << 32));
    assert_int_equal(header.next_ordinal, 6);
    assert_int_equal(header.lease_ms, STORE_LEASE_MS);
    catalog_header_free(&header);
    uint64_t extent, ordinal;
    OK(lab, store_take_numbers(lab->store, 0, 2, 5, &extent, &ordinal, &lab->err));
    assert_int_equal(extent, 10 + (1ull << 32));
    assert_int_equal(ordinal, 6);
    /* numbers of 53 bits, in units of a MiB, and ordinals of 32: no more */
    assert_false(store_take_numbers(lab->store, 0, 1ull << 33, 1, &extent, &ordinal, &lab->err));
    assert_int_equal(lab->err.status, STATUS_USAGE);
    assert_false(store_take_numbers(lab->store, 0, 1, UINT32_MAX - 10, &extent, &ordinal, &lab->err));
    assert_int_equal(lab->err.status, STATUS_USAGE);
    OK(lab, store_take_numbers(lab->store, 0, 1, 1, &extent, &ordinal, &lab->err));
    assert_int_equal(extent, 12 + (1ull << 32));
    assert_int_equal(ordinal, 11);
}

LAB_TEST(bind, "bind") {
    make(lab);
    const header_change_t
        drop = {.kind = HEADER_BEGIN_DROP, .by = load_id(1)},
        cancel = {.kind = HEADER_CANCEL_DROP, .by = load_id(1)},
        bind = {.kind = HEADER_BIND, .generation = 1, .format = "mot", .format_digest = "d1", .filter = ""},
        late = {.kind = HEADER_BIND, .generation = 2, .format = "mot", .format_digest = "d1", .filter = ""},
        other = {
            .kind = HEADER_BIND, .generation = 1, .format = "isd", .format_digest = "d2", .filter = "k==1"};
    assert_true(change(lab, &drop));
    assert_false(change(lab, &bind)); /* someone drops */
    assert_true(change(lab, &cancel));
    assert_false(change(lab, &late)); /* of another generation of the collection */
    assert_true(change(lab, &bind));
    assert_false(change(lab, &other));
    assert_false(change(lab, &bind));
    catalog_header_t header = header_of(lab);
    assert_string_equal(header.format, "mot");
    assert_string_equal(header.format_digest, "d1");
    assert_string_equal(header.filter, "");
    catalog_header_free(&header);
}

LAB_TEST(drop, "drop") {
    make(lab);
    assert_true(change(
        lab, &(header_change_t){.kind = HEADER_TAKE_NUMBERS, .generation = 1, .extents = 4, .ordinals = 2}));
    assert_true(change(lab, &(header_change_t){.kind = HEADER_BIND,
                                               .generation = 1,
                                               .format = "mot",
                                               .format_digest = "d",
                                               .filter = "f",
                                               .id = "a,b",
                                               .existing = "keep",
                                               .format_text = "format: mot"}));
    assert_true(change(lab, &(header_change_t){.kind = HEADER_APPEND, .generation = 1}));
    assert_true(change(lab, &(header_change_t){.kind = HEADER_BEGIN_REPLACING, .by = load_id(3)}));
    assert_false(change(lab, &(header_change_t){.kind = HEADER_END_DROP, .by = load_id(1)})); /* not begun */
    assert_false(
        change(lab, &(header_change_t){.kind = HEADER_BEGIN_DROP, .dropping = load_id(9), .by = load_id(1)}));
    assert_true(change(lab, &(header_change_t){.kind = HEADER_BEGIN_DROP, .by = load_id(1)}));
    assert_false(change(lab, &(header_change_t){.kind = HEADER_BEGIN_DROP, .by = load_id(2)}));
    assert_false(change(lab, &(header_change_t){.kind = HEADER_CANCEL_DROP, .by = load_id(2)}));
    assert_false(change(lab, &(header_change_t){.kind = HEADER_NEW_UUID, .generation = 1}));
    catalog_header_t header = header_of(lab);
    const load_id_t one = load_id(1);
    assert_true(load_id_equal(&header.dropping, &one));
    assert_string_equal(header.id, "a,b");
    assert_string_equal(header.existing, "keep");
    assert_string_equal(header.format_text, "format: mot");
    assert_true(header.appends);
    catalog_header_free(&header);
    /* of one that died: taken over by who has read it */
    assert_true(change(
        lab,
        &(header_change_t){.kind = HEADER_BEGIN_DROP, .dropping = load_id(1), .drops = 1, .by = load_id(2)}));
    header_change_t end = {.kind = HEADER_END_DROP, .by = load_id(1), .generation = 2};
    memset(end.uuid, 7, sizeof end.uuid);
    assert_false(change(lab, &end));
    end.by = load_id(2);
    assert_false(change(lab, &end)); /* someone has taken numbers since they were read */
    end.next_ordinal = 2;
    assert_true(change(lab, &end));
    assert_false(change(lab, &end));
    header = header_of(lab);
    assert_null(header.format);
    assert_null(header.format_digest);
    assert_null(header.filter);
    assert_null(header.id);
    assert_null(header.existing);
    assert_null(header.format_text);
    assert_false(header.appends);
    assert_true(load_id_is_nobody(&header.replacing));
    assert_true(load_id_is_nobody(&header.dropping));
    assert_int_equal(header.generation, 2);
    assert_int_equal(header.next_extent, 4); /* numbers go on */
    assert_int_equal(header.next_ordinal, 2);
    assert_int_equal(header.first_ordinal, 2);
    assert_memory_equal(header.uuid, end.uuid, STORE_UUID);
    catalog_header_free(&header);
}

LAB_TEST(new_uuid, "uuid") {
    make(lab);
    header_change_t other = {.kind = HEADER_NEW_UUID, .generation = 2};
    memset(other.uuid, 5, sizeof other.uuid);
    assert_false(change(lab, &other));
    other.generation = 1;
    assert_true(change(lab, &other));
    assert_false(change(lab, &other)); /* another load has done it */
    assert_true(change(lab, &(header_change_t){.kind = HEADER_SYNC}));
    catalog_header_t header = header_of(lab);
    assert_int_equal(header.generation, 2);
    assert_memory_equal(header.uuid, other.uuid, STORE_UUID);
    catalog_header_free(&header);
}

LAB_TEST(no_header, "headless") {
    assert_false(change(lab, &(header_change_t){.kind = HEADER_SYNC}));
    assert_false(change(lab, &(header_change_t){.kind = HEADER_TAKE_NUMBERS, .extents = 1}));
    assert_int_equal(count_of(lab, "files", "{}"), 0); /* nothing is made by that */
    uint64_t extent, ordinal;
    assert_false(store_take_numbers(lab->store, 0, 1, 1, &extent, &ordinal, &lab->err));
    assert_int_equal(lab->err.status, STATUS_SERVER);
}

/* ---- entries ---- */

static entry_t small_entry(lab_t *lab, uint32_t ordinal) {
    char text[64];
    entry_t entry = {.ordinal = ordinal, .registered_by = load_id(3)};
    snprintf(text, sizeof text, "in/%u.csv", ordinal);
    entry.path = strdup(text);
    snprintf(text, sizeof text, "key/%u", ordinal);
    entry.key = strdup(text);
    entry.kind = strdup("plain");
    OK(lab, entry_add_version(&entry, &(version_t){.size = ordinal + 1, .digest = "d"}, &lab->err));
    OK(lab, entry_add_extent(&entry, (extent_t){ordinal << 20, 0, 1 << 20}, &lab->err));
    OK(lab, entry_make_pieces(&entry, 1, 0, &lab->err));
    return entry;
}

/* How many were added. */
static uint64_t add_all(lab_t *lab, const entry_t *entries, size_t count) {
    const entry_t **list = calloc(count, sizeof *list);
    uint64_t added;
    assert_non_null(list);
    for (size_t i = 0; i < count; i++)
        list[i] = &entries[i];
    OK(lab, lab->store->add_entries(lab->store, list, count, &added, &lab->err));
    free(list);
    return added;
}

static void add_small(lab_t *lab, uint32_t first, uint32_t count) {
    entry_t *entries = calloc(count, sizeof *entries);
    assert_non_null(entries);
    for (uint32_t i = 0; i < count; i++)
        entries[i] = small_entry(lab, first + i);
    assert_int_equal(add_all(lab, entries, count), count);
    for (uint32_t i = 0; i < count; i++)
        entry_free(&entries[i]);
    free(entries);
}

static entries_t read_all(lab_t *lab, const uint32_t *among, size_t count) {
    entries_t entries = {0};
    OK(lab, store_read_all(lab->store, among, count, &entries, &lab->err));
    return entries;
}

/* The only one, a copy. */
static entry_t read_one(lab_t *lab, uint32_t ordinal) {
    entries_t entries = read_all(lab, &ordinal, 1);
    entry_t copy = {0};
    assert_int_equal(entries.count, 1);
    OK(lab, entry_copy(&copy, &entries.entries[0], &lab->err));
    entries_free(&entries);
    return copy;
}

static uint64_t change_many(lab_t *lab, const entry_change_t *changes, size_t count) {
    uint64_t changed;
    OK(lab, lab->store->change_entries(lab->store, changes, count, &changed, &lab->err));
    return changed;
}

static bool change_one(lab_t *lab, entry_change_t it) {
    return change_many(lab, &it, 1) == 1;
}

static counts_t counts_from(uint64_t first) {
    return (counts_t){first, {first + 1, first + 2, first + 3, first + 4, first + 5, first + 6, first + 7}};
}

static void add_run(piece_t *piece, uint64_t from, uint64_t to, uint64_t hash) {
    bool is_new;
    assert_true(done_runs_add(&piece->done, from, to, hash, &is_new) && is_new);
}

static void assert_same_piece(const piece_t *piece, const piece_t *wanted) {
    assert_int_equal(piece->from, wanted->from);
    assert_int_equal(piece->to, wanted->to);
    assert_memory_equal(&piece->owner, &wanted->owner, sizeof wanted->owner);
    assert_int_equal(piece->epoch, wanted->epoch);
    assert_int_equal(piece->generation, wanted->generation);
    assert_int_equal(piece->complete, wanted->complete);
    assert_int_equal(piece->unsafe, wanted->unsafe);
    assert_int_equal(piece->modified_ns, wanted->modified_ns);
    assert_memory_equal(&piece->counts, &wanted->counts, sizeof wanted->counts);
    assert_memory_equal(&piece->tail, &wanted->tail, sizeof wanted->tail);
    assert_int_equal(piece->done.count, wanted->done.count);
    assert_memory_equal(piece->done.runs, wanted->done.runs, wanted->done.count * sizeof *wanted->done.runs);
    assert_int_equal(piece->reject_count, wanted->reject_count);
    assert_memory_equal(piece->rejects, wanted->rejects, wanted->reject_count * sizeof *wanted->rejects);
}

static void assert_same_version(const version_t *version, const version_t *wanted) {
    assert_int_equal(version->number, wanted->number);
    assert_int_equal(version->slot, wanted->slot);
    assert_int_equal(version->size, wanted->size);
    assert_string_equal(version->digest, wanted->digest);
    assert_int_equal(version->modified_ns, wanted->modified_ns);
    assert_memory_equal(&version->torn, &wanted->torn, sizeof wanted->torn);
    assert_int_equal(version->completed_ns, wanted->completed_ns);
}

/* A piece with something in every field, hashes above 2^63 among them. */
static void fill_piece(lab_t *lab, piece_t *piece, uint8_t number) {
    piece->owner = load_id(number);
    piece->epoch = 4000000000u + number;
    piece->generation = 17;
    piece->complete = 2;
    piece->unsafe = true;
    add_run(piece, piece->from, piece->from + 1, 0xffffffffffffffffull);
    add_run(piece, piece->from + 3, piece->from + 40, 0x8000000000000000ull + number);
    add_run(piece, piece->from + 50, piece->from + 51, 0);
    piece->counts = counts_from(1ull << 40);
    piece->tail = (tail_t){piece->from + 60, piece->from + 62, 0xfedcba9876543210ull, counts_from(number)};
    for (uint64_t i = 0; i < 1000; i++)
        OK(lab, piece_add_rejects(piece, &(reject_mark_t){(i + 1) << 30, UINT64_MAX - i}, 1, &lab->err));
}

static const torn_t TORN = {.offset = 1ull << 45, .length = 77, .hash = 0xfffffffffffffff0ull};

LAB_TEST(every_field, "fields") {
    entry_t entry = {.ordinal = 3000000000u, .registered_by = load_id(9)};
    entry.path = strdup("in/caf\xc3\xa9 \\x0a.csv");
    entry.key = strdup("some/key");
    entry.kind = strdup("gzip");
    version_t first = {.size = 1ull << 50,
                       .digest = "0123456789abcdef0123456789abcdef",
                       .modified_ns = -5,
                       .torn = TORN},
              second = {.size = (1ull << 50) + 1, .digest = "", .modified_ns = 1795259727189287781};
    OK(lab, entry_add_version(&entry, &first, &lab->err) && entry_add_version(&entry, &second, &lab->err));
    OK(lab, entry_add_extent(&entry, (extent_t){1ull << 52, 0, 1 << 20}, &lab->err));
    OK(lab, entry_add_extent(&entry, (extent_t){5ull << 20, 1 << 20, 64ull << 30}, &lab->err));
    OK(lab, entry_make_pieces(&entry, 3, 256, &lab->err));
    for (uint8_t i = 0; i < 3; i++)
        fill_piece(lab, &entry.pieces[i], (uint8_t)(i + 1));
    assert_int_equal(add_all(lab, &entry, 1), 1);
    /* fixes come later, one by one */
    const fix_mark_t fixes[] = {{1ull << 30, UINT64_MAX, UINT64_MAX, false, UINT32_MAX},
                                {2ull << 30, UINT64_MAX - 1, UINT64_MAX - 1, true, UINT32_MAX},
                                {3ull << 30, UINT64_MAX - 2, UINT64_MAX - 2, false, UINT32_MAX},
                                {3ull << 30, UINT64_MAX - 2, 5, true, UINT32_MAX}};
    for (size_t i = 0; i < sizeof fixes / sizeof *fixes; i++)
        assert_true(change_one(lab, (entry_change_t){.ordinal = 3000000000u,
                                                     .owner = load_id(1),
                                                     .epoch = 4000000001u,
                                                     .fixes = &fixes[i],
                                                     .fix_count = 1}));

    entry_t read = read_one(lab, 3000000000u);
    assert_string_equal(read.path, entry.path);
    assert_string_equal(read.key, entry.key);
    assert_string_equal(read.kind, entry.kind);
    assert_false(read.removed);
    assert_true(load_id_equal(&read.registered_by, &entry.registered_by));
    assert_int_equal(read.version, 2);
    for (size_t i = 0; i < 2; i++)
        assert_same_version(&read.versions[i], &entry.versions[i]);
    assert_int_equal(read.extent_count, 2);
    assert_memory_equal(read.extents, entry.extents, 2 * sizeof *read.extents);
    assert_int_equal(read.piece_count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_same_piece(&read.pieces[i], &entry.pieces[i]);
    assert_int_equal(read.fix_count, 3);
    for (size_t i = 0; i < 3; i++) {
        const fix_mark_t *fix = &read.fixes[i], *wanted = &fixes[i == 2 ? 3 : i];
        assert_true(fix->offset == wanted->offset && fix->of == wanted->of && fix->hash == wanted->hash);
        assert_int_equal(fix->confirmed, wanted->confirmed);
    }
    assert_int_equal(entry_open_rejects(&read), 3 * 1000 - 3 * 2);
    entry_free(&read);
    entry_free(&entry);
}

/* Far more than fits in a first batch of a cursor, or in a page. */
LAB_TEST(read_6000, "many") {
    enum { COUNT = 6000 };
    make(lab);
    for (uint32_t at = 0; at < COUNT; at += 3000)
        add_small(lab, at, COUNT - at < 3000 ? COUNT - at : 3000);
    entries_t entries = read_all(lab, NULL, 0);
    assert_int_equal(entries.count, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(entries.entries[i].ordinal, i);
        assert_int_equal(entries.entries[i].versions[0].size, i + 1);
    }
    entries_free(&entries);
    uint32_t *odd = calloc(COUNT / 2 + 1, sizeof *odd);
    assert_non_null(odd);
    for (uint32_t i = 0; i < COUNT / 2; i++)
        odd[i] = 2 * i + 1;
    odd[COUNT / 2] = COUNT + 5; /* not there */
    entries = read_all(lab, odd, COUNT / 2 + 1);
    assert_int_equal(entries.count, COUNT / 2);
    for (uint32_t i = 0; i < COUNT / 2; i++)
        assert_int_equal(entries.entries[i].ordinal, 2 * i + 1);
    entries_free(&entries);
    entries = read_all(lab, odd + COUNT / 2, 1);
    assert_int_equal(entries.count, 0);
    entries_free(&entries);
    free(odd);
}

/* Entries of 128 KiB each: a reply holds 16 MB, whatever was asked for. */
LAB_TEST(read_large, "large") {
    enum { LARGE = 160, REJECTS = 8192 };
    for (uint32_t i = 0; i < LARGE; i++) {
        entry_t entry = small_entry(lab, i);
        for (uint64_t j = 0; j < REJECTS; j++)
            OK(lab, piece_add_rejects(&entry.pieces[0], &(reject_mark_t){j, i}, 1, &lab->err));
        assert_int_equal(add_all(lab, &entry, 1), 1);
        entry_free(&entry);
    }
    entries_t entries = read_all(lab, NULL, 0);
    assert_int_equal(entries.count, LARGE);
    for (uint32_t i = 0; i < LARGE; i++) {
        assert_int_equal(entries.entries[i].ordinal, i);
        assert_int_equal(entries.entries[i].pieces[0].reject_count, REJECTS);
    }
    entries_free(&entries);
}

/* One after another, up to the first that is there: by its ordinal, its key, or what it follows. */
LAB_TEST(add_ends, "twice") {
    static const struct {
        uint32_t ordinals[3];      /* in turn */
        const char *key, *follows; /* of the second one; NULL: its own */
        uint32_t there;            /* of the three, afterwards */
    } rows[] = {
        {{20, 4, 21}, NULL, NULL, 1},
        {{30, 31, 32}, "key/7", NULL, 1},
        {{40, 41, 42}, NULL, "after/1", 1},
        {{50, 51, 52}, NULL, "after/50", 3},
    };
    make(lab);
    add_small(lab, 0, 10);
    size_t expected = 10;
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        entry_t entries[3];
        for (size_t i = 0; i < 3; i++)
            entries[i] = small_entry(lab, rows[row].ordinals[i]);
        entries[0].follows = strdup("after/1");
        if (row)
            entries[0].follows[6] = (char)('1' + row);
        if (rows[row].key) {
            free(entries[1].key);
            entries[1].key = strdup(rows[row].key);
        }
        if (rows[row].follows)
            entries[1].follows = strdup(rows[row].follows);
        assert_true((add_all(lab, entries, 3) == 3) == (rows[row].there == 3));
        expected += rows[row].there;
        entries_t read = read_all(lab, NULL, 0);
        assert_int_equal(read.count, expected);
        for (uint32_t i = rows[row].there; i < 3; i++)
            assert_true(rows[row].ordinals[i] < 10 || !entries_find(&read, rows[row].ordinals[i]));
        entries_free(&read);
        assert_int_equal(add_all(lab, entries, 3), 0);
        for (size_t i = 0; i < 3; i++)
            entry_free(&entries[i]);
    }
}

/* In as many commands as they take: where one of the first is there, none of the others is added. */
LAB_TEST(add_ends_in_a_command, "ends") {
    enum { MANY = 2500 };
    make(lab);
    add_small(lab, 0, 1);
    static entry_t entries[MANY];
    for (uint32_t i = 0; i < MANY; i++)
        entries[i] = small_entry(lab, i + 10);
    free(entries[3].key);
    entries[3].key = strdup("key/0");
    assert_true(add_all(lab, entries, MANY) < MANY);
    assert_int_equal(count_of(lab, "files", "{\"pieces\": {\"$exists\": true}}"), 1 + 3);
    for (uint32_t i = 0; i < MANY; i++)
        entry_free(&entries[i]);
}

/* ---- conditional changes ---- */

LAB_TEST(take_and_checkpoint, "take") {
    const load_id_t one = load_id(1), two = load_id(2);
    add_small(lab, 0, 2);
    const entry_change_t take = {.sets_owner = true, .new_owner = one, .new_epoch = 1};
    assert_true(change_one(lab, take));
    assert_false(change_one(lab, take)); /* it has an owner now */
    entry_change_t other = {.owner = one, .epoch = 0, .sets_owner = true, .new_owner = two, .new_epoch = 1};
    assert_false(change_one(lab, other)); /* of an epoch that is over */
    other.owner = two;
    other.epoch = 1;
    assert_false(change_one(lab, other)); /* of another owner */
    other = (entry_change_t){.piece = 1, .sets_owner = true, .new_owner = two, .new_epoch = 1};
    assert_false(change_one(lab, other)); /* there is no such piece */
    other = (entry_change_t){.ordinal = 7, .sets_owner = true, .new_owner = two, .new_epoch = 1};
    assert_false(change_one(lab, other)); /* no such entry */

    piece_t progress = {.to = UINT64_MAX, .generation = 1};
    add_run(&progress, 0, 5, 0xf000000000000001ull);
    progress.counts = counts_from(10);
    const entry_change_t checkpoint = {.owner = one, .epoch = 1, .progress = &progress};
    assert_true(change_one(lab, checkpoint));
    assert_true(change_one(lab, checkpoint)); /* the same again finds the same */
    /* taken over: what the first one writes from now on finds nothing */
    assert_true(change_one(
        lab,
        (entry_change_t){.owner = one, .epoch = 1, .sets_owner = true, .new_owner = two, .new_epoch = 2}));
    assert_false(change_one(lab, checkpoint));
    entry_t read = read_one(lab, 0);
    progress.owner = two;
    progress.epoch = 2;
    assert_same_piece(&read.pieces[0], &progress);
    entry_free(&read);
    /* complete, and let go in the same statement */
    progress.complete = 1;
    assert_true(change_one(lab, (entry_change_t){.owner = two,
                                                 .epoch = 2,
                                                 .version = 1,
                                                 .progress = &progress,
                                                 .sets_owner = true,
                                                 .new_epoch = 2}));
    read = read_one(lab, 0);
    assert_true(load_id_is_nobody(&read.pieces[0].owner));
    assert_int_equal(read.pieces[0].epoch, 2);
    assert_true(entry_is_complete(&read, 1, true));
    entry_free(&read);
    read = read_one(lab, 1); /* nothing of all that was its */
    assert_true(load_id_is_nobody(&read.pieces[0].owner));
    assert_int_equal(read.pieces[0].epoch, 0);
    entry_free(&read);
    piece_free(&progress);
}

LAB_TEST(version_and_extents, "version") {
    const load_id_t one = load_id(1);
    add_small(lab, 0, 3);
    const version_t grown = {.size = 900, .digest = "e", .modified_ns = 5};
    const extent_t extent = {7 << 20, 1 << 20, 2 << 20};
    const piece_t progress = {.to = UINT64_MAX, .generation = 4};
    entry_change_t take = {.version = 2, /* it is 1 */
                           .sets_owner = true,
                           .new_owner = one,
                           .new_epoch = 1,
                           .new_version = &grown,
                           .slot = 1,
                           .new_key = "key/grown",
                           .progress = &progress,
                           .extent = &extent,
                           .extent_at = 1,
                           .no_extent_yet = true};
    assert_false(change_one(lab, take));
    take.version = 1;
    take.extent_at = 0; /* there is one */
    assert_false(change_one(lab, take));
    take.extent_at = 1;
    assert_true(change_one(lab, take));
    take.owner = one;
    take.epoch = 1;
    assert_false(change_one(lab, take)); /* a message that comes twice: version 2 by now */
    entry_t read = read_one(lab, 0);
    assert_int_equal(read.version, 2);
    assert_int_equal(read.versions[0].size, 1);
    assert_int_equal(read.versions[1].size, 900);
    assert_string_equal(read.versions[1].digest, "e");
    assert_string_equal(read.key, "key/grown");
    assert_int_equal(read.extent_count, 2);
    assert_int_equal(read.extents[1].base, 7 << 20);
    assert_int_equal(read.pieces[0].generation, 4);
    assert_int_equal(read.pieces[0].epoch, 1);
    entry_free(&read);
    /* where its last record is torn belongs to the version */
    entry_change_t torn = {.owner = one, .epoch = 1, .version = 1, .torn = &TORN};
    assert_false(change_one(lab, torn));
    torn.version = 2;
    torn.slot = 1;
    assert_true(change_one(lab, torn));
    /* one more extent, by its owner only, and once */
    entry_change_t more = {
        .owner = load_id(2), .epoch = 1, .no_extent_yet = true, .extent = &extent, .extent_at = 2};
    assert_false(change_one(lab, more));
    more.owner = one;
    assert_true(change_one(lab, more));
    assert_false(change_one(lab, more));
    read = read_one(lab, 0);
    assert_int_equal(read.versions[0].torn.length, 0);
    assert_int_equal(read.versions[1].torn.length, TORN.length);
    assert_true(read.versions[1].torn.hash == TORN.hash);
    assert_int_equal(read.extent_count, 3);
    entry_free(&read);
    /* a version that nobody needs gives its place to a new one, and all that is written then goes to its own place */
    take.version = 2;
    take.slot = 0;
    take.no_extent_yet = false;
    take.extent = NULL;
    take.new_epoch = 2;
    take.uncompletes = 0;
    assert_true(change_one(lab, take));
    assert_true(change_one(lab, (entry_change_t){.owner = one,
                                                 .epoch = 2,
                                                 .version = 3,
                                                 .slot = 0,
                                                 .sets_completed = true,
                                                 .completed_ns = 77,
                                                 .progress = &progress}));
    read = read_one(lab, 0);
    assert_int_equal(read.version, 3);
    assert_int_equal(read.version_count, 2);
    assert_int_equal(read.versions[0].number, 2);
    assert_int_equal(read.versions[0].slot, 1);
    assert_int_equal(read.versions[0].torn.length, TORN.length);
    assert_int_equal(read.versions[1].number, 3);
    assert_int_equal(read.versions[1].slot, 0);
    assert_int_equal(read.versions[1].completed_ns, 77);
    assert_int_equal(read.versions[1].torn.length, 0);
    entry_free(&read);
    /* two that have grown come to their ends at the same time */
    char key[20];
    entry_change_t ends[2];
    for (uint32_t i = 0; i < 2; i++) {
        snprintf(key, sizeof key, "key/grown %u", i);
        assert_true(change_one(lab, (entry_change_t){.ordinal = i + 1,
                                                     .version = 1,
                                                     .sets_owner = true,
                                                     .new_owner = one,
                                                     .new_epoch = 1,
                                                     .new_version = &grown,
                                                     .slot = 1,
                                                     .new_key = key}));
        ends[i] = (entry_change_t){.ordinal = i + 1,
                                   .owner = one,
                                   .epoch = 1,
                                   .only_piece = true,
                                   .version = 2,
                                   .slot = 1,
                                   .sets_completed = true,
                                   .completed_ns = 88 + i,
                                   .progress = &progress};
    }
    assert_int_equal(change_many(lab, ends, 2), 2);
    for (uint32_t i = 0; i < 2; i++) {
        read = read_one(lab, i + 1);
        assert_int_equal(read.version_count, 2);
        assert_int_equal(read.versions[0].size, i + 2);
        assert_int_equal(read.versions[1].completed_ns, 88 + i);
        entry_free(&read);
    }
}

LAB_TEST(removed, "removed") {
    const load_id_t one = load_id(1);
    make(lab);
    add_small(lab, 0, 2);
    assert_true(change_one(lab, (entry_change_t){.sets_owner = true, .new_owner = one, .new_epoch = 1}));
    assert_false(change_one(lab, (entry_change_t){.removes = true}));
    assert_true(change_one(lab, (entry_change_t){.owner = one, .epoch = 1, .version = 1, .removes = true}));
    entry_t again = small_entry(lab, 2); /* its key is free: the input is loaded as a new one */
    free(again.key);
    again.key = strdup("key/0");
    assert_int_equal(add_all(lab, &again, 1), 1);
    entry_free(&again);
    entries_t read = read_all(lab, NULL, 0);
    assert_int_equal(read.count, 3);
    assert_true(read.entries[0].removed);
    assert_false(read.entries[1].removed || read.entries[2].removed);
    assert_int_equal(read.entries[0].extent_count, 1); /* never used again */
    assert_string_equal(read.entries[2].key, "key/0");
    entries_free(&read);
}

/* What the server makes of changes, one by one, is what entry_add_fix makes of them. */
LAB_TEST(fixes_of_one_record, "fixes") {
    static const fix_mark_t changes[] = {
        {12, 1, 0xffffffffffffff00ull, false, 0},
        {12, 1, 7, false, 0},
        {12, 1, 7, false, 0},
        {12, 1, FIX_NOTHING, true, 4},
        {13, 1, FIX_NOTHING, true, 4},
        {12, 1, 8, false, 0},
        {13, 1, 9, false, 0},
        {13, 1, 9, true, 4},
        {12, 1, FIX_NOTHING, true, 4},
        {12, 1, 7, true, 4},
        {12, UINT64_MAX, 8, false, 0}, /* another record at the same place */
        {12, UINT64_MAX, 9, true, 4},
        {12, 1, UINT64_MAX, false, 0},
        {12, 1, FIX_NOTHING, true, 4},
    };
    entry_t expected = {0};
    add_small(lab, 0, 1);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        OK(lab, entry_add_fix(&expected, changes[i], &lab->err));
        assert_true(change_one(lab, (entry_change_t){.fixes = &changes[i], .fix_count = 1}));
        entry_t read = read_one(lab, 0);
        assert_int_equal(read.fix_count, expected.fix_count);
        for (size_t j = 0; j < expected.fix_count; j++) {
            const fix_mark_t *fix = &expected.fixes[j];
            assert_true(
                fix->confirmed
                    ? entry_fixes(&read, fix->offset, fix->of, 0).answer &&
                          entry_fixes(&read, fix->offset, fix->of, 0).answer->hash == fix->hash &&
                          (fix->hash == FIX_NOTHING ||
                           entry_fixes(&read, fix->offset, fix->of, 0).answer->generation == fix->generation)
                    : fix_marks_accept(read.fixes, read.fix_count, fix->offset, fix->of, fix->hash));
        }
        entry_free(&read);
    }
    /* and so it is with many at once */
    static const fix_mark_t more[] = {{20, 1, 5, false, 0},
                                      {21, 1, 6, true, 4},
                                      {21, 2, 6, true, 4},
                                      {22, 1, FIX_NOTHING, true, 4},
                                      {12, 1, 7, true, 4}};
    assert_true(change_one(lab, (entry_change_t){.fixes = more, .fix_count = sizeof more / sizeof *more}));
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        OK(lab, entry_add_fix(&expected, more[i], &lab->err));
    entry_t read = read_one(lab, 0);
    assert_int_equal(read.fix_count, expected.fix_count);
    for (size_t i = 1; i < sizeof more / sizeof *more; i++)
        assert_int_equal(entry_fixes(&read, more[i].offset, more[i].of, 0).answer->hash, more[i].hash);
    assert_true(entry_fixes(&read, 20, 1, 0).noted);
    entry_free(&read);
    /* one whose document is gone stays noted */
    assert_true(change_one(lab, (entry_change_t){.fixes = &more[4], .fix_count = 1, .reopens = true}));
    entry_reopen_fix(&expected, &more[4]);
    read = read_one(lab, 0);
    assert_int_equal(read.fix_count, expected.fix_count);
    assert_null(entry_fixes(&read, 12, 1, 0).answer);
    assert_null(entry_fixes(&expected, 12, 1, 0).answer);
    assert_true(fix_marks_accept(read.fixes, read.fix_count, 12, 1, 7));
    assert_non_null(entry_fixes(&read, 12, UINT64_MAX, 0).answer); /* of another record */
    entry_free(&read);
    entry_free(&expected);
}

LAB_TEST(fix_of_nothing, "fix") {
    add_small(lab, 0, 1);
    const fix_mark_t fix = {.offset = 12, .hash = 0xffffffffffffff00ull};
    assert_false(change_one(lab, (entry_change_t){.ordinal = 1, .fixes = &fix, .fix_count = 1}));
    assert_true(
        change_one(lab, (entry_change_t){.sets_owner = true, .new_owner = load_id(1), .new_epoch = 1}));
    /* only by its owner, of this epoch */
    const load_id_t one = load_id(1);
    assert_false(change_one(lab, (entry_change_t){.fixes = &fix, .fix_count = 1}));
    assert_false(change_one(lab, (entry_change_t){.owner = one, .epoch = 2, .fixes = &fix, .fix_count = 1}));
    assert_true(change_one(lab, (entry_change_t){.owner = one, .epoch = 1, .fixes = &fix, .fix_count = 1}));
    entry_t read = read_one(lab, 0);
    assert_int_equal(read.fix_count, 1);
    assert_true(read.fixes[0].hash == fix.hash);
    assert_false(read.fixes[0].confirmed);
    assert_true(load_id_equal(&read.pieces[0].owner, &one));
    entry_free(&read);
}

/* How often the server was asked to update, and to change documents. */
static int64_t statements_of(lab_t *lab, const char *which, const char *field) {
    bson_t reply, *command = BCON_NEW("serverStatus", BCON_INT32(1));
    bson_iter_t iter, inner;
    char path[64];
    snprintf(path, sizeof path, "%s.%s", which, field);
    assert_true(run(lab, command, &reply));
    assert_true(bson_iter_init(&iter, &reply) && bson_iter_find_descendant(&iter, path, &inner));
    const int64_t count = bson_iter_as_int64(&inner);
    bson_destroy(&reply);
    bson_destroy(command);
    return count;
}

/* Many takes that say the same are one statement; those that fit nothing are left out one by one. */
LAB_TEST(many_takes, "takes") {
    enum { MANY = 12000 };
    const load_id_t one = load_id(1), two = load_id(2);
    for (uint32_t at = 0; at < MANY; at += 3000)
        add_small(lab, at, 3000);
    entry_change_t *changes = calloc(MANY, sizeof *changes);
    assert_non_null(changes);
    for (uint32_t i = 0; i < MANY; i++)
        changes[i] = (entry_change_t){.ordinal = i, .sets_owner = true, .new_owner = one, .new_epoch = 1};
    for (uint32_t i = 0; i < MANY; i += 100) /* 120 are another load's before */
        assert_true(change_one(
            lab, (entry_change_t){.ordinal = i, .sets_owner = true, .new_owner = two, .new_epoch = 1}));
    const int64_t before = statements_of(lab, "opcounters", "update");
    assert_int_equal(change_many(lab, changes, MANY), MANY - MANY / 100);
    const int64_t statements = statements_of(lab, "opcounters", "update") - before;
    assert_true(statements <= 200); /* not one each; others may use the server as well */
    entries_t read = read_all(lab, NULL, 0);
    for (uint32_t i = 0; i < MANY; i++) {
        const piece_t *piece = &read.entries[i].pieces[0];
        assert_true(load_id_equal(&piece->owner, i % 100 ? &one : &two));
        assert_int_equal(piece->epoch, 1);
    }
    entries_free(&read);
    /* mixed: some of another epoch, some with progress, one twice */
    const piece_t progress = {.to = UINT64_MAX, .generation = 3};
    for (uint32_t i = 0; i < MANY; i++) {
        changes[i] = (entry_change_t){
            .ordinal = i, .owner = one, .epoch = 1, .sets_owner = true, .new_owner = two, .new_epoch = 2};
        if (i % 7 == 1)
            changes[i].epoch = 5;
        else if (i % 7 == 3)
            changes[i].progress = &progress;
    }
    for (uint32_t i = 0; i < MANY; i += 200) /* which are still that load's */
        changes[i].owner = two;
    changes[MANY - 1].ordinal = MANY - 2;
    uint64_t wanted = 0;
    bool taken[MANY] = {false};
    for (uint32_t i = 0; i < MANY; i++)
        if ((changes[i].ordinal % 100 || i % 200 == 0) && changes[i].epoch == 1 && !taken[changes[i].ordinal])
            wanted += taken[changes[i].ordinal] = true;
    assert_int_equal(change_many(lab, changes, MANY), wanted);
    read = read_all(lab, NULL, 0);
    for (uint32_t i = 0; i < MANY; i++) {
        const piece_t *piece = &read.entries[i].pieces[0];
        assert_int_equal(piece->epoch, taken[i] ? 2 : 1);
        assert_true(load_id_equal(&piece->owner, taken[i] || i % 100 == 0 ? &two : &one));
        assert_int_equal(piece->generation, taken[i] && i % 7 == 3 ? 3 : 0);
    }
    entries_free(&read);
    /* a piece that was taken before keeps its generation, and does not share a statement with a new one */
    add_small(lab, MANY, 4);
    for (uint32_t i = 0; i < 4; i++)
        changes[i] = (entry_change_t){.ordinal = MANY + i,
                                      .sets_owner = true,
                                      .new_owner = one,
                                      .new_epoch = 1,
                                      .new_generation = i < 2 ? 9 : 0};
    assert_int_equal(change_many(lab, changes, 4), 4);
    for (uint32_t i = 0; i < 4; i++) {
        entry_t entry = read_one(lab, MANY + i);
        assert_int_equal(entry.pieces[0].generation, i < 2 ? 9 : 0);
        entry_free(&entry);
    }
    free(changes);
}

/* What is written down of piece `number`: another one for each. */
static piece_t progress_of(lab_t *lab, uint32_t number) {
    piece_t piece = {.to = UINT64_MAX, .generation = 3, .modified_ns = number, .counts = counts_from(number)};
    add_run(&piece, 0, number + 1, UINT64_MAX - number);
    if (number % 3 == 0)
        piece.tail = (tail_t){number + 1, number + 2, number, counts_from(number)};
    for (uint32_t i = 0; i < number % 4; i++)
        OK(lab, piece_add_rejects(&piece, &(reject_mark_t){i, number}, 1, &lab->err));
    return piece;
}

/* What is written down of many inputs is one statement, too. Each gets its own; one that was taken away, or that has
 * another version or more pieces than is believed, gets nothing. */
LAB_TEST(many_checkpoints, "checkpoints") {
    enum { MANY = 4000, TORN_ONE = 7, STOLEN = 11, NEWER = 13, MORE_PIECES = 17, HALF = 2000 };
    const load_id_t one = load_id(1), two = load_id(2), nobody = {{0}};
    add_small(lab, 0, MANY);
    run_json(lab, "{\"update\": \"checkpoints.tipple.files\", \"updates\": [{\"q\": {}, \"u\": {\"$set\": "
                  "{\"pieces.0.epoch\": {\"$numberLong\": \"1\"}, \"pieces.0.owner\": "
                  "{\"$oid\": \"010101010101010101010101\"}}}, \"multi\": true}]}");
    assert_true(change_one(lab, (entry_change_t){.ordinal = STOLEN,
                                                 .owner = one,
                                                 .epoch = 1,
                                                 .sets_owner = true,
                                                 .new_owner = two,
                                                 .new_epoch = 2}));
    assert_true(change_one(
        lab, (entry_change_t){.ordinal = TORN_ONE, .owner = one, .epoch = 1, .version = 1, .torn = &TORN}));
    run_json(lab, "{\"update\": \"checkpoints.tipple.files\", \"updates\": [{\"q\": {\"_id\": 13}, \"u\": "
                  "{\"$set\": {\"version\": 2, \"versions.1\": {\"size\": 1, \"modified\": 0}}}}, {\"q\": "
                  "{\"_id\": 17}, "
                  "\"u\": {\"$set\": {\"pieces.1\": {\"from\": 5, \"owner\": null, \"epoch\": 0}}}}]}");
    piece_t *pieces = calloc(MANY, sizeof *pieces);
    entry_change_t *changes = calloc(MANY, sizeof *changes);
    assert_true(pieces && changes);
    size_t count = 0, wanted = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        if (i % 5 == 3 || (i > 1000 && i < 1050)) /* others are far, or near */
            continue;
        pieces[i] = progress_of(lab, i);
        changes[count++] = (entry_change_t){.ordinal = i,
                                            .owner = one,
                                            .epoch = 1,
                                            .only_piece = true,
                                            .version = i < HALF ? 1 : 0,
                                            .sets_completed = i < HALF,
                                            .completed_ns = i < HALF ? 1000 + i : 0,
                                            .sets_owner = i < HALF,
                                            .new_epoch = 1,
                                            .progress = &pieces[i]};
        wanted += i != STOLEN && i != NEWER && i != MORE_PIECES;
    }
    const int64_t before = statements_of(lab, "opcounters", "update");
    assert_int_equal(change_many(lab, changes, count), wanted);
    assert_true(statements_of(lab, "opcounters", "update") - before < 100); /* others may use the server */
    entries_t read = read_all(lab, NULL, 0);
    assert_int_equal(read.count, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        const entry_t *entry = &read.entries[i];
        const version_t *version = &entry->versions[0];
        const bool changed = pieces[i].generation && i != STOLEN && i != NEWER && i != MORE_PIECES;
        assert_int_equal(entry->piece_count, i == MORE_PIECES ? 2 : 1);
        pieces[i].owner = i == STOLEN ? two : changed && i < HALF ? nobody : one;
        pieces[i].epoch = i == STOLEN ? 2 : 1;
        if (changed) {
            assert_same_piece(&entry->pieces[0], &pieces[i]);
        } else {
            assert_true(load_id_equal(&entry->pieces[0].owner, &pieces[i].owner));
            assert_int_equal(entry->pieces[0].epoch, pieces[i].epoch);
            assert_int_equal(entry->pieces[0].done.count, 0);
        }
        assert_int_equal(version->completed_ns, changed && i < HALF ? 1000 + i : 0);
        assert_int_equal(version->size, i + 1);
        assert_string_equal(version->digest, "d");
        assert_int_equal(version->torn.length, i == TORN_ONE ? TORN.length : 0);
    }
    entries_free(&read);
    for (uint32_t i = 0; i < MANY; i++)
        piece_free(&pieces[i]);
    free(pieces);
    free(changes);
}

/* A load that slept while others dropped the collection adds entries with numbers from before. */
LAB_TEST(left, "left") {
    make(lab);
    assert_true(change(lab, &(header_change_t){.kind = HEADER_TAKE_NUMBERS, .generation = 1, .ordinals = 5}));
    assert_true(change(lab, &(header_change_t){.kind = HEADER_BEGIN_DROP, .by = load_id(1)}));
    assert_true(change(
        lab,
        &(header_change_t){.kind = HEADER_END_DROP, .by = load_id(1), .next_ordinal = 5, .generation = 2}));
    assert_true(change(
        lab,
        &(header_change_t){.kind = HEADER_TAKE_NUMBERS, .generation = 2, .next_ordinal = 5, .ordinals = 2}));
    add_small(lab, 3, 3); /* 3, 4 and 5 */
    catalog_header_t header = header_of(lab);
    catalog_header_free(&header);
    entries_t read = read_all(lab, NULL, 0);
    assert_int_equal(read.count, 1);
    assert_int_equal(read.entries[0].ordinal, 5);
    entries_free(&read);
    /* a user has written what no drop writes: all that was loaded would be loaded again */
    run_json(lab, "{\"update\": \"left.tipple.files\", \"updates\": [{\"q\": {\"_id\": \"catalog\"}, "
                  "\"u\": {\"$set\": {\"firstOrdinal\": 8}}}]}");
    bool found;
    assert_false(store_read_header(lab->store, &header, &found, &lab->err));
    assert_non_null(strstr(lab->err.text, "'firstOrdinal'"));
}

LAB_TEST(remove_entries, "below") {
    make(lab);
    add_small(lab, 0, 20);
    OK(lab, lab->store->remove_entries(lab->store, 15, &lab->err));
    entries_t read = read_all(lab, NULL, 0);
    assert_int_equal(read.count, 5);
    assert_int_equal(read.entries[0].ordinal, 15);
    entries_free(&read);
    enum { ASKED = 20000 }; /* more than one question is for: none of the first is there */
    uint32_t among[ASKED + 1];
    for (uint32_t i = 0; i < ASKED; i++)
        among[i] = 100 + i;
    among[ASKED] = 30000;
    add_small(lab, 30000, 1);
    read = read_all(lab, among, ASKED + 1);
    assert_int_equal(read.count, 1);
    assert_int_equal(read.entries[0].ordinal, 30000);
    entries_free(&read);
    catalog_header_t header = header_of(lab);
    catalog_header_free(&header);
    /* without a header entries are seen all the same */
    run_json(
        lab,
        "{\"delete\": \"below.tipple.files\", \"deletes\": [{\"q\": {\"_id\": \"catalog\"}, \"limit\": 1}]}");
    bool found;
    OK(lab, store_read_header(lab->store, &header, &found, &lab->err));
    assert_false(found);
    assert_true(header.has_entries);
}

/* ---- loads ---- */

static load_id_t enroll(lab_t *lab) {
    load_id_t id;
    bson_t *fields = BCON_NEW("command", BCON_UTF8("test"), "threads", BCON_INT32(3));
    OK(lab, store_mongo_enroll(lab->store, &id, fields, &lab->err));
    bson_destroy(fields);
    return id;
}

static void beat(lab_t *lab, const load_id_t *id, uint64_t number, uint64_t documents) {
    OK(lab, lab->store->beat(lab->store, id, number, documents, &lab->err));
}

static loads_t read_loads(lab_t *lab) {
    loads_t loads = {0};
    OK(lab, lab->store->read_loads(lab->store, &loads, &lab->err));
    return loads;
}

static const load_seen_t *find_load(const loads_t *loads, const load_id_t *id) {
    for (size_t i = 0; i < loads->count; i++)
        if (load_id_equal(&loads->loads[i].id, id))
            return &loads->loads[i];
    return NULL;
}

LAB_TEST(beats, "beats") {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    const load_id_t one = enroll(lab), two = enroll(lab), unknown = load_id(77);
    assert_false(load_id_equal(&one, &two));
    loads_t loads = read_loads(lab);
    assert_int_equal(loads.count, 2);
    const load_seen_t *load = find_load(&loads, &one);
    assert_non_null(load);
    assert_int_equal(load->beat, 1); /* alive from now on */
    assert_int_equal(load->documents, 0);
    assert_int_equal(load->process, getpid());
    assert_int_equal(strncmp(load->host, host, sizeof load->host - 1), 0);
    assert_false(load->ended);
    assert_uint_in_range(load->started_ms, clock_wall_ms() - 600000, clock_wall_ms() + 1000);
    loads_free(&loads);

    beat(lab, &one, 5, 1000);
    beat(lab, &one, 3, 900);   /* one that came late lowers nothing */
    beat(lab, &unknown, 9, 0); /* and one of nobody adds nobody */
    loads = read_loads(lab);
    assert_int_equal(loads.count, 2);
    assert_int_equal(find_load(&loads, &one)->beat, 5);
    assert_int_equal(find_load(&loads, &one)->documents, 1000);
    assert_int_equal(find_load(&loads, &two)->beat, 1);
    loads_free(&loads);

    bson_t *fields = BCON_NEW("status", BCON_INT32(2), "error", BCON_UTF8(""));
    OK(lab, store_mongo_end(lab->store, &one, fields, &lab->err));
    bson_destroy(fields);
    beat(lab, &one, 50, 5000); /* it has ended: a late beat does not wake it */
    loads = read_loads(lab);
    assert_int_equal(loads.count, 1);
    assert_non_null(find_load(&loads, &two));
    loads_free(&loads);
    assert_int_equal(
        count_of(lab, "loads", "{\"beat\": 5, \"status\": 2, \"threads\": 3, \"command\": \"test\"}"), 1);
}

static size_t running(lab_t *lab, const load_id_t *but, int64_t lease_ms) {
    size_t count;
    OK(lab, running_others(lab->store, but, lease_ms, &count, &lab->err));
    return count;
}

/* Of another host, whose processes nobody here can ask for. */
LAB_TEST(silent_loads, "silent") {
    const load_id_t one = enroll(lab), two = enroll(lab);
    assert_int_equal(running(lab, NULL, 600000), 2);
    assert_int_equal(running(lab, &one, 600000), 1);
    run_json(
        lab,
        "{\"update\": \"silent.tipple.loads\", \"updates\": [{\"q\": {}, \"multi\": true, \"u\":"
        " [{\"$set\": {\"processes\": \"elsewhere\", \"seen\": {\"$subtract\": [\"$seen\", 3600000]}}}]}]}");
    loads_t loads = read_loads(lab);
    assert_int_equal(loads.count, 2);
    assert_uint_in_range(loads.loads[0].silent_ms, 3600000, 4200000);
    assert_false(loads.loads[0].ended); /* nothing is decided by it */
    loads_free(&loads);
    assert_int_equal(running(lab, NULL, 600000), 0);
    beat(lab, &two, 2, 0);
    assert_int_equal(running(lab, NULL, 600000), 1);
    assert_int_equal(running(lab, &two, 600000), 0);
}

LAB_TEST(many_loads, "crowd") {
    enum { MANY = 3000, ENDED = 500 };
    for (int at = 0; at < MANY + ENDED; at += 500) {
        bson_t command = BSON_INITIALIZER, documents, document;
        char key[16];
        BSON_APPEND_UTF8(&command, "insert", "crowd.tipple.loads");
        BSON_APPEND_ARRAY_UNSAFE_BEGIN(&command, "documents", &documents);
        for (int i = 0; i < 500; i++) {
            snprintf(key, sizeof key, "%d", i);
            BSON_APPEND_DOCUMENT_BEGIN(&documents, key, &document);
            BSON_APPEND_INT64(&document, "beat", at + i + 1);
            BSON_APPEND_UTF8(&document, "host", "elsewhere");
            if (at == 1000)
                BSON_APPEND_DATE_TIME(&document, "ended", 1);
            bson_append_document_end(&documents, &document);
        }
        bson_append_array_end(&command, &documents);
        assert_true(run(lab, &command, NULL));
        bson_destroy(&command);
    }
    loads_t loads = read_loads(lab);
    assert_int_equal(loads.count, MANY);
    uint64_t sum = 0;
    for (size_t i = 0; i < loads.count; i++)
        sum += loads.loads[i].beat;
    uint64_t wanted = 0;
    for (uint64_t i = 0; i < MANY + ENDED; i++)
        wanted += i / 500 == 2 ? 0 : i + 1;
    assert_int_equal(sum, wanted); /* each once */
    loads_free(&loads);
}
