#include "base/clock.h"
#include "base/document.h"
#include "base/stop.h"
#include "server/collection.h"
#include "server/server.h"
#include "verify/stray/stray_scan_inner.h"

#include <bson/bson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* stray_ranges: filters for ranges of `_id`s. */

/* [from, to) */
static void stray_ranges_between(bson_t *filter, uint64_t from, uint64_t to) {
    const bool all = to > INT64_MAX;
    BCON_APPEND(filter, "_id", "{", "$gte", BCON_INT64((int64_t)from), all ? "$lte" : "$lt",
                BCON_INT64(all ? INT64_MAX : (int64_t)to), "}");
}

/* Arrays of filters, each to be destroyed, and the array freed; NULL: out of memory. What is no 64-bit integer from 0 on, in
 * several ranges; and everything, in one. */
/* Ranges of one type each: such a comparison is answered from the index, or (clustered) from the one end of
 * the collection, while "not a number" would look at every document. */
static bson_t *stray_ranges_of_no_place(size_t *count_out) {
    static const uint8_t nothing[1] = {0};
    bson_t *others = aligned_alloc(_Alignof(bson_t), 16 * sizeof *others);
    bson_oid_t lowest;
    bson_t empty = BSON_INITIALIZER;
    size_t n = 0;
    if (!others)
        return NULL;
    memset(&lowest, 0, sizeof lowest);
#define RANGE(...)                                                                                           \
    do {                                                                                                     \
        bson_init(&others[n]);                                                                               \
        BCON_APPEND(&others[n++], "_id", __VA_ARGS__);                                                       \
    } while (0)
    RANGE(BCON_MINKEY);
    RANGE(BCON_NULL);
    RANGE(BCON_DOUBLE(NAN));
    RANGE("{", "$lt", BCON_INT64(0), "}");
    RANGE("{", "$gt", BCON_INT64(INT64_MAX), "}");
    RANGE("{", "$gte", BCON_UTF8(""), "}");
    RANGE("{", "$gte", BCON_DOCUMENT(&empty), "}");
    RANGE("{", "$gte", BCON_BIN(BSON_SUBTYPE_BINARY, nothing, 0), "}");
    RANGE("{", "$gte", BCON_OID(&lowest), "}");
    RANGE("{", "$gte", BCON_BOOL(false), "}");
    RANGE("{", "$gte", BCON_DATE_TIME(INT64_MIN), "}");
    RANGE("{", "$gte", BCON_TIMESTAMP(0, 0), "}");
    RANGE("{", "$gte", BCON_DBPOINTER("", &lowest), "}");
    RANGE("{", "$gte", BCON_CODE(""), "}");
    RANGE("{", "$gte", BCON_CODEWSCOPE("", &empty), "}");
    RANGE(BCON_MAXKEY);
#undef RANGE
    bson_destroy(&empty);
    *count_out = n;
    return others;
}

static bson_t *stray_ranges_everything(size_t *count) {
    bson_t *all = aligned_alloc(_Alignof(bson_t), sizeof *all);
    if (all)
        bson_init(all);
    *count = all != NULL;
    return all;
}

enum {
    COUNTED_AT_ONCE = 250000, /* takes far less time than a connection may stay silent */
    WORTH_A_GAP = 200,        /* documents: counting them costs as much as asking for a gap */
    TASKS_A_THREAD = 4,
    BATCH = 1000000,
};

/* ---- asking ---- */

static bool count(searcher_t *searcher, const bson_t *filter, uint64_t *documents, err_t *err) {
    server_t *server = searcher->search->options->server;
    return collection_count(server, searcher->client, server_collection(server), filter, documents, err);
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
        command_cursor_t cursor;
        command_cursor_find(&cursor, searcher->client, server_database(server), server_collection(server),
                            filter, searcher->options, searcher->primary);
        while (ok && command_cursor_next(&cursor, &document)) {
            searcher->result.documents++;
            ok = !element_of(document, "_id", &id) || stray_take_id(searcher, document, &id, err);
        }
        bool lost = ok && command_cursor_failed(&cursor, &error, &reply);
        again =
            lost && server_again(server, searcher->client, &patience, &error, reply, searcher->doing, err);
        ok = ok && (!lost || again);
        command_cursor_end(&cursor);
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
        searcher.options =
            BCON_NEW("batchSize", BCON_INT32(BATCH), "readConcern", "{", "level", BCON_UTF8("majority"), "}");
        if (!search->options->ids || !search->options->ids->awaited_count)
            BCON_APPEND(searcher.options, "projection", "{", "_id", BCON_INT32(1), "}");
        while (ok && next_task(search, &task))
            ok = do_task(&searcher, task, &err);
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
    qsort(search->given, options->file_count, sizeof *search->given, stray_by_ordinal);
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
    searcher_t searcher = {.search = search};
    searcher.client = server_take(search->options->server, err);
    const bool ok = searcher.client && count(&searcher, NULL, documents, err);
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
