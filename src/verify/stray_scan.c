#include "verify/stray_scan.h"
#include "base/clock.h"
#include "base/stop.h"
#include "base/threads/team.h"
#include "server/collection.h"
#include "verify/gaps.h"
#include "verify/id_hash.h"
#include "verify/stray_ranges.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
    COUNTED_AT_ONCE = 250000, /* takes far less time than a connection may stay silent */
    WORTH_A_GAP = 200,        /* documents: counting them costs as much as asking for a gap */
    TASKS_A_THREAD = 4,
    BATCH = 1000000,
};

/* A given file by its number in the catalog. */
typedef struct {
    uint32_t ordinal;
    const load_file_t *file;
} given_t;

typedef struct search search_t;
typedef struct searcher searcher_t;
typedef bool task_fn(searcher_t *searcher, size_t from_lane, size_t to_lane, err_t *err);

struct search {
    const stray_scan_options_t *options;
    given_t *given; /* by ordinal */
    gaps_t *gaps;   /* between their windows */
    bson_t *others; /* {_id: ...}: where what is no place lies */
    size_t other_count;

    task_fn *look; /* at some lanes */
    size_t tasks;  /* then those of the others */

    pthread_mutex_t lock; /* of what follows */
    size_t next_task;
    stray_scan_t result;
    uint64_t inside; /* documents where verifiers have looked */
    differences_t *differences;
    team_t team;
};

struct searcher {
    search_t *search;
    mongoc_client_t *client;
    mongoc_collection_t *collection;
    mongoc_read_prefs_t *primary;
    bson_t *options; /* of the finds */
    differences_t *found;
    stray_scan_t result; /* of the task at hand */
    uint64_t inside;     /* documents of it where verifiers have looked */
    char doing[300];
};

/* ---- whose place is it? ---- */

static int by_ordinal(const void *a, const void *b) {
    const given_t *left = a, *right = b;
    return (left->ordinal > right->ordinal) - (left->ordinal < right->ordinal);
}

static const load_file_t *given_file(const search_t *search, uint32_t ordinal) {
    given_t key = {.ordinal = ordinal};
    const given_t *found = bsearch(&key, search->given, search->options->file_count, sizeof key, by_ordinal);
    return found ? found->file : NULL;
}

typedef enum {
    COLLECTION_LOOKED_AT,
    PLACE_BEHIND_END,
    PLACE_OF_ANOTHER,
    PLACE_OF_NOBODY,
    PLACE_WRONG_LANE
} whose_t;

/* Not in the extents of any input, not even of one that was removed. */
static bool is_outside(const search_t *search, int64_t id) {
    uint64_t offset;
    return id < 0 || !places_find(search->options->places, record_id_voff(id), &offset);
}

static whose_t whose(const search_t *search, int64_t id, const load_file_t **file, uint64_t *offset) {
    const entry_t *entry = id < 0 ? NULL : places_find(search->options->places, record_id_voff(id), offset);
    if (!entry || entry->removed)
        return PLACE_OF_NOBODY;
    if (record_id_lane(entry->ordinal, *offset) != record_id_lane_of(id))
        return PLACE_WRONG_LANE;
    if (!(*file = given_file(search, entry->ordinal)))
        return PLACE_OF_ANOTHER;
    return *offset / RECORD_ID_BLOCK_BYTES < (*file)->blocks ? COLLECTION_LOOKED_AT : PLACE_BEHIND_END;
}

/* ---- what does not belong there ---- */

static bool tell(searcher_t *searcher, difference_t *difference, const char *why, err_t *err) {
    if (!why || !differences_wants(searcher->found, difference->kind) ||
        difference_say_why(difference, why, err))
        return differences_add(searcher->found, difference, err);
    difference_free(difference);
    return false;
}

static bool tell_unrelated_id(searcher_t *searcher, const bson_iter_t *id, err_t *err) {
    difference_t difference = {.kind = DIFFERENCE_UNRELATED, .file = DIFFERENCE_NO_FILE, .records = 1};
    return (!differences_wants(searcher->found, DIFFERENCE_UNRELATED) ||
            difference_name_id(&difference, id, err)) &&
           tell(searcher, &difference, NULL, err);
}

static bool take_place(searcher_t *searcher, int64_t id, err_t *err) {
    static const char *const whys[] = {
        [PLACE_BEHIND_END] = "the file ends before",
        [PLACE_OF_NOBODY] = "no file of the catalog has this place",
        [PLACE_WRONG_LANE] = "tipple did not make it: its lane is not that of its place",
    };
    const search_t *search = searcher->search;
    const load_file_t *file = NULL;
    uint64_t offset = 0;
    whose_t who = whose(search, id, &file, &offset);
    if (who == COLLECTION_LOOKED_AT) {
        searcher->inside++;
        return true;
    }
    if (who == PLACE_OF_ANOTHER) {
        searcher->result.others++;
        return true;
    }
    if (search->options->appends && is_outside(search, id)) {
        searcher->result.not_ours++;
        return true;
    }
    difference_t difference = {
        .kind = DIFFERENCE_UNRELATED, .file = DIFFERENCE_NO_FILE, .records = 1, .id = id, .last_id = id};
    if (file) {
        difference.kind = DIFFERENCE_EXTRA;
        difference.file = (size_t)(file - search->options->files);
        difference.name = file->input->name;
        difference.offset = offset;
        difference.behind = offset + 1;
    }
    return tell(searcher, &difference, whys[who], err);
}

/* The integer next to a number that is no 64-bit integer; -1: it has none. */
static int64_t next_to(const bson_iter_t *id) {
    if (!BSON_ITER_HOLDS_NUMBER(id) && !BSON_ITER_HOLDS_DECIMAL128(id))
        return -1;
    long double value = bson_iter_as_double(id);
    bson_decimal128_t decimal;
    char text[BSON_DECIMAL128_STRING];
    if (BSON_ITER_HOLDS_DECIMAL128(id) && bson_iter_decimal128(id, &decimal)) {
        bson_decimal128_to_string(&decimal, text);
        value = strtold(text, NULL);
    }
    return value >= 0 && value < 0x1p63L ? (int64_t)floorl(value) : -1;
}

/* Of a window that was looked at it has been told. */
static bool take_odd_id(searcher_t *searcher, const bson_iter_t *id, err_t *err) {
    const search_t *search = searcher->search;
    const int64_t next = next_to(id);
    const load_file_t *file;
    uint64_t offset;
    if (next >= 0 && whose(search, next, &file, &offset) == COLLECTION_LOOKED_AT) {
        searcher->inside++;
        return true;
    }
    if (!search->options->appends || !is_outside(search, next))
        return tell_unrelated_id(searcher, id, err);
    searcher->result.not_ours++;
    return true;
}

static bool take_own_id(searcher_t *searcher, const bson_t *document, const bson_iter_t *id, err_t *err) {
    const stray_scan_options_t *options = searcher->search->options;
    const verified_ids_t *ids = options->ids;
    const bool awaited = ids->awaited_count &&
                         verified_ids_take(ids, XXH3_64bits(bson_get_data(document), document->len)),
               known = verified_ids_has(ids, id_hash_of(id));
    if (known || awaited) {
        searcher->inside += known;
        return true;
    }
    if (options->all_files && !options->appends)
        return tell_unrelated_id(searcher, id, err);
    ++*(options->all_files ? &searcher->result.not_ours : &searcher->result.others);
    return true;
}

static bool take_id(searcher_t *searcher, const bson_t *document, const bson_iter_t *id, err_t *err) {
    if (searcher->search->options->ids)
        return take_own_id(searcher, document, id, err);
    if (BSON_ITER_HOLDS_INT64(id))
        return take_place(searcher, bson_iter_int64(id), err);
    return take_odd_id(searcher, id, err);
}

/* ---- asking ---- */

static bool count(searcher_t *searcher, const bson_t *filter, uint64_t *documents, err_t *err) {
    server_t *server = searcher->search->options->server;
    bson_t reply;
    bson_iter_t iter, value;
    bson_t *command = BCON_NEW("aggregate", BCON_UTF8(server_collection(server)), "pipeline", "[", "{",
                               "$match", BCON_DOCUMENT(filter), "}", "{", "$count", BCON_UTF8("n"), "}", "]",
                               "cursor", "{", "}", "readConcern", "{", "level", BCON_UTF8("majority"), "}");
    bool ok = server_command(server, searcher->client, server_database(server), command, false, &reply, err);
    *documents = 0;
    if (ok && bson_iter_init(&iter, &reply) &&
        bson_iter_find_descendant(&iter, "cursor.firstBatch.0.n", &value))
        *documents = (uint64_t)bson_iter_as_int64(&value);
    bson_destroy(&reply);
    bson_destroy(command);
    return ok;
}

/* The `_id`s of a range, one by one. From its start again when the server goes away. */
static bool list(searcher_t *searcher, const bson_t *filter, err_t *err) {
    server_t *server = searcher->search->options->server;
    const stray_scan_t before = searcher->result;
    const uint64_t inside = searcher->inside;
    patience_t patience = server_patience(server);
    differences_t *found = searcher->found, *here = differences_new(searcher->search->options->most);
    bool ok = here != NULL || err_memory(err, 1), again = ok;
    searcher->found = here;
    while (again) {
        const bson_t *document, *reply;
        bson_error_t error;
        bson_iter_t id;
        mongoc_cursor_t *cursor = mongoc_collection_find_with_opts(searcher->collection, filter,
                                                                   searcher->options, searcher->primary);
        while (ok && mongoc_cursor_next(cursor, &document)) {
            searcher->result.documents++;
            ok = !bson_iter_init_find(&id, document, "_id") || take_id(searcher, document, &id, err);
        }
        bool lost = ok && mongoc_cursor_error_document(cursor, &error, &reply);
        again =
            lost && server_again(server, searcher->client, &patience, &error, reply, searcher->doing, err);
        ok = ok && (!lost || again);
        mongoc_cursor_destroy(cursor);
        if (again) {
            searcher->result = before;
            searcher->result.retries += patience.tries;
            searcher->inside = inside;
            differences_clear(here);
        }
    }
    searcher->found = found;
    ok = ok && differences_move(found, here, err);
    differences_free(here);
    return ok;
}

static bool list_between(searcher_t *searcher, uint64_t from, uint64_t to, err_t *err) {
    bson_t filter = BSON_INITIALIZER;
    stray_ranges_between(&filter, from, to);
    bool ok = list(searcher, &filter, err);
    bson_destroy(&filter);
    return ok;
}

/* ---- tasks: some lanes each, then what is no place ---- */

/* Everything in these lanes is counted; where it is more than was seen, it is read. */
static bool count_lanes(searcher_t *searcher, size_t from, size_t to, err_t *err) {
    const uint64_t *lanes = searcher->search->options->lanes;
    bson_t filter = BSON_INITIALIZER;
    uint64_t seen = 0, documents;
    for (size_t lane = from; lane < to; lane++)
        seen += lanes[lane];
    stray_ranges_between(&filter, gaps_lane_start(from), gaps_lane_start(to));
    bool ok = count(searcher, &filter, &documents, err);
    bson_destroy(&filter);
    if (!ok)
        return false;
    if (documents > seen) {
        ok = list_between(searcher, gaps_lane_start(from), gaps_lane_start(to), err);
        documents = searcher->inside;
    } else {
        searcher->result.documents += documents;
    }
    searcher->result.changed += documents > seen ? documents - seen : seen - documents;
    return ok;
}

/* What lies between the windows of these lanes. Where no window is, a gap goes on into the next lane. */
static bool read_gap(void *context, uint64_t from, uint64_t to, err_t *err) {
    if (stop_signal())
        return err_set(err, (status_t)(128 + stop_signal()), "interrupted");
    return list_between(context, from, to, err);
}

static bool read_gaps(searcher_t *searcher, size_t from, size_t to, err_t *err) {
    for (size_t lane = from; lane < to; lane++)
        searcher->result.documents += searcher->search->options->lanes[lane];
    return gaps_each(searcher->search->gaps, from, to, read_gap, searcher, err);
}

static bool do_task(searcher_t *searcher, size_t task, err_t *err) {
    search_t *search = searcher->search;
    const size_t lanes = search->tasks ? RECORD_ID_LANES / search->tasks : 0, from = task * lanes;
    searcher->result = (stray_scan_t){0};
    searcher->inside = 0;
    if (!(task < search->tasks ? search->look(searcher, from, from + lanes, err)
                               : list(searcher, &search->others[task - search->tasks], err)))
        return false;
    pthread_mutex_lock(&search->lock);
    search->result.documents += searcher->result.documents;
    search->result.others += searcher->result.others;
    search->result.not_ours += searcher->result.not_ours;
    search->result.changed += searcher->result.changed;
    search->result.retries += searcher->result.retries;
    search->inside += searcher->inside;
    bool ok = differences_move(search->differences, searcher->found, err);
    pthread_mutex_unlock(&search->lock);
    return ok;
}

static bool next_task(search_t *search, size_t *task) {
    pthread_mutex_lock(&search->lock);
    bool any = !team_failed(&search->team) && search->next_task < search->tasks + search->other_count;
    *task = search->next_task;
    search->next_task += any;
    pthread_mutex_unlock(&search->lock);
    return any && !stop_signal();
}

static void *work(void *context) {
    searcher_t searcher = {.search = context};
    search_t *search = context;
    server_t *server = search->options->server;
    size_t task;
    err_t err;
    snprintf(searcher.doing, sizeof searcher.doing, "read %s", server_namespace(server));
    searcher.found = differences_new(search->options->most);
    searcher.client = server_take(server, &err);
    if (!searcher.found)
        err_memory(&err, 1);
    bool ok = searcher.found && searcher.client;
    if (ok) {
        searcher.primary = mongoc_read_prefs_new(MONGOC_READ_PRIMARY);
        searcher.collection =
            mongoc_client_get_collection(searcher.client, server_database(server), server_collection(server));
        searcher.options =
            BCON_NEW("batchSize", BCON_INT32(BATCH), "readConcern", "{", "level", BCON_UTF8("majority"), "}");
        if (!search->options->ids || !search->options->ids->awaited_count)
            BCON_APPEND(searcher.options, "projection", "{", "_id", BCON_INT32(1), "}");
        while (ok && next_task(search, &task))
            ok = do_task(&searcher, task, &err);
        mongoc_collection_destroy(searcher.collection);
        mongoc_read_prefs_destroy(searcher.primary);
        bson_destroy(searcher.options);
    }
    if (!ok)
        team_fail(&search->team, &err);
    server_give(server, searcher.client);
    differences_free(searcher.found);
    return NULL;
}

static bool prepare(search_t *search, const stray_scan_options_t *options, err_t *err) {
    search->options = options;
    search->others = options->ids ? stray_ranges_everything(&search->other_count)
                                  : stray_ranges_of_no_place(&search->other_count);
    search->given = malloc((options->file_count + 1) * sizeof *search->given);
    search->gaps = gaps_new(options->files, options->file_count);
    if (!search->others || !search->given || !search->gaps)
        return err_memory(err, options->file_count * sizeof *search->given);
    for (size_t i = 0; i < options->file_count; i++)
        search->given[i] = (given_t){options->files[i].ordinal, &options->files[i]};
    qsort(search->given, options->file_count, sizeof *search->given, by_ordinal);
    return true;
}

static size_t power_of_two(uint64_t least) {
    size_t power = 1;
    while (power < RECORD_ID_LANES && power < least)
        power *= 2;
    return power;
}

/* Has `look` done for all lanes, and looks at what is no place. */
static bool search_all(search_t *search, task_fn *look, uint64_t tasks, err_t *err) {
    err_t problem;
    search->look = look;
    search->tasks = look ? power_of_two(tasks) : 0;
    search->next_task = 0;
    search->result = (stray_scan_t){.retries = search->result.retries};
    search->inside = 0;
    differences_clear(search->differences);
    size_t useful = search->tasks + search->other_count;
    useful = useful < search->options->threads ? useful : search->options->threads;
    team_init(&search->team);
    while (search->team.count < useful &&
           team_start(&search->team, work, search, "lower --threads", &problem))
        ;
    if (!search->team.count)
        team_fail(&search->team, &problem);
    return team_join(&search->team, err);
}

/* What the server keeps for itself; with orphans, or after a crash, it is another number. */
static bool kept_count(const search_t *search, uint64_t *documents, err_t *err) {
    server_t *server = search->options->server;
    collection_t place;
    mongoc_client_t *client = server_take(server, err);
    bool ok = client && collection_look(server, client, &place, err);
    server_give(server, client);
    *documents = ok ? place.count : 0;
    return ok;
}

static bool count_all(search_t *search, uint64_t *documents, err_t *err) {
    bson_t all = BSON_INITIALIZER;
    searcher_t searcher = {.search = search};
    searcher.client = server_take(search->options->server, err);
    const bool ok = searcher.client && count(&searcher, &all, documents, err);
    server_give(search->options->server, searcher.client);
    return ok;
}

static bool look_at_ids(search_t *search, err_t *err) {
    const verified_ids_t *ids = search->options->ids;
    uint64_t kept;
    if (!ids->awaited_count) {
        /* counted one by one: what the server knows without counting is wrong after a crash */
        if (!count_all(search, &kept, err))
            return false;
        search->result.documents = kept;
        if (kept == ids->count)
            return true;
    }
    if (!search_all(search, NULL, 0, err))
        return false;
    if (search->inside < ids->count && !stop_signal())
        search->result.changed = ids->count - search->inside;
    return stop_signal() || verified_ids_tell_missing(ids, search->differences, err);
}

static bool look(search_t *search, err_t *err) {
    const stray_scan_options_t *options = search->options;
    uint64_t kept;
    if (options->ids)
        return look_at_ids(search, err);
    if (options->estimate / WORTH_A_GAP >= gaps_windows(search->gaps)) {
        if (!search_all(search, read_gaps, (uint64_t)options->threads * TASKS_A_THREAD, err) ||
            !kept_count(search, &kept, err))
            return false;
        if (kept == search->result.documents || stop_signal())
            return true;
    }
    return search_all(search, count_lanes, options->estimate / COUNTED_AT_ONCE, err);
}

bool stray_scan_look(const stray_scan_options_t *options, differences_t *differences, stray_scan_t *result,
                     err_t *err) {
    search_t search = {.differences = differences_new(options->most)};
    pthread_mutex_init(&search.lock, NULL);
    bool ok = search.differences ? prepare(&search, options, err) : err_memory(err, 1);
    ok = ok && look(&search, err) && differences_move(differences, search.differences, err);
    *result = search.result;
    for (size_t i = 0; search.others && i < search.other_count; i++)
        bson_destroy(&search.others[i]);
    free(search.others);
    free(search.given);
    gaps_free(search.gaps);
    differences_free(search.differences);
    pthread_mutex_destroy(&search.lock);
    return ok;
}
