/* tally: what a load comes to when its threads have ended: the sums of their counters, the shards and
 * routers, and what held it up. */
#include "base/numbers.h"
#include "base/text.h"
#include "input/source.h"
#include "load/job/job.h"

#include <inttypes.h>
#include <stdio.h>

static void take_counters(load_result_t *result, const loader_counters_t *sum) {
    result->counts = sum->counts;
    result->batches = sum->batches;
    result->sent_documents = sum->sent_documents;
    result->bytes_bson = sum->sent_bytes;
    result->retries = sum->retries;
    result->short_batches = sum->short_batches;
    result->bad_values = sum->bad_values;
    result->ambiguous_times = sum->ambiguous_times;
    result->passed_over = sum->passed_over;
    result->unrouted = sum->unrouted;
}

/* Where the loader threads' time went. */
static void find_limit(load_result_t *result, const loader_counters_t *sum) {
    int64_t held_ns = result->throttled_ns * result->threads;
    double total = sum->total_ns > 0 ? (double)sum->total_ns : 1;
    double server = (double)sum->wait_server_ns / total * 100,
           input = (double)sum->wait_input_ns / total * 100, held = (double)held_ns / total * 100;
    const double other = (double)(result->waited_ns * result->threads) / total * 100;
    input = input > other ? input - other : 0; /* nothing came meanwhile */
    const double taken = server + input + held + other, client = taken < 100 ? 100 - taken : 0;
    char waited[UNITS_MAX];
    const loaded_place_t *slowest = &result->shards[0];
    for (size_t i = 1; i < result->shard_count; i++)
        if (result->shards[i].figures.waiting_ns > slowest->figures.waiting_ns)
            slowest = &result->shards[i];
    bool one = result->shard_count > 1 && sum->wait_server_ns &&
               slowest->figures.waiting_ns > 2 * sum->wait_server_ns / (int64_t)result->shard_count;
    if (other >= server && other >= input && other >= client && other >= held && result->waited_ns)
        snprintf(result->limited_by, sizeof result->limited_by, "another load (waited %s %s)",
                 units_time(waited, (double)result->waited_ns / 1e9),
                 result->files_done_by_others ? "until its part was done" : "for its lease");
    else if (held >= server && held >= input && held >= client && held_ns)
        snprintf(result->limited_by, sizeof result->limited_by, "%.110s (%.0f%% of the time)",
                 result->throttled_by, held);
    else if (server >= input && server >= client && one)
        snprintf(result->limited_by, sizeof result->limited_by,
                 "shard %.80s (of all the waiting for shards, %.0f%% was for this one)", slowest->name,
                 100.0 * (double)slowest->figures.waiting_ns / (double)sum->wait_server_ns);
    else if (server >= input && server >= client)
        snprintf(result->limited_by, sizeof result->limited_by,
                 "server %.80s (the loader threads were waiting for it %.0f%% of the time)", result->where,
                 server);
    else if (input >= client)
        snprintf(result->limited_by, sizeof result->limited_by,
                 "input (the loader threads were waiting for it %.0f%% of the time)", input);
    else
        snprintf(result->limited_by, sizeof result->limited_by,
                 "client CPU (%.0f%% of the threads' time went to parsing and encoding)", client);
}

static void set_place(loaded_place_t *place, const char *name, traffic_t *traffic, size_t at) {
    snprintf(place->name, sizeof place->name, "%s", name);
    if (traffic)
        place->figures = traffic_figures(traffic, at);
}

/* One shard that is the server itself, where there are none. */
static void tally_shards(job_t *job) {
    load_result_t *result = job->result;
    load_state_t *loading = &job->loading;
    chunkmap_t *map = loading->route ? route_map(loading->route) : NULL;
    result->shard_count = job_shard_count(job);
    for (size_t i = 0; i < result->shard_count; i++)
        set_place(&result->shards[i], map ? chunkmap_shard_name(map, i) : result->where, loading->shards,
                  map ? i + 1 : i);
    chunkmap_free(map);
}

static void tally_routers(job_t *job) {
    load_result_t *result = job->result;
    const routers_t *routers = &job->loading.routers;
    if (!job->server || server_facts(job->server)->kind != SERVER_ROUTER || job->loading.direct)
        return;
    result->router_count = routers->count ? routers->count : 1;
    for (size_t i = 0; i < result->router_count; i++)
        set_place(&result->routers[i], routers->count ? server_where(routers->servers[i]) : result->where,
                  job->loading.ways, i);
}

/* The pieces and records that other loads have done since this one began. */
static void tally_others(job_t *job) {
    for (size_t i = 0; i < job->ledger.work_count; i++) {
        const work_t *work = &job->ledger.works[i];
        if (work->state != WORK_DONE || !work->by_others)
            continue;
        const counts_t counts = piece_counts(&job->ledger.inputs[work->input].entry.pieces[work->piece]);
        job->result->files_done_by_others++;
        job->result->records_done_by_others += counts.read - work->read_before;
        if (job->loading.rejects)
            rejects_of_others(job->loading.rejects, counts.read - work->read_before,
                              counts.rejected - work->rejected_before);
    }
}

/* "a.csv:17"; far into a large file, whose lines were not counted, "a.csv offset 81604378624". */
static char *places_of(const bad_field_t *field) {
    text_t places = {.length = 0};
    char words[PLACE_MAX];
    err_t ignored;
    for (const bad_place_t *place = field->places; place < field->places + field->place_count; place++) {
        const block_t block = {.file = (load_file_t *)place->input, .lines_from = place->lines_from};
        text_print(&places, "%s%s%s", places.length ? ", " : "", block.file->input->name,
                   place_words(words, block_line(&block, place->line), place->offset));
    }
    return text_take(&places, &ignored);
}

/* Fields with values that do not fit: what cannot be remembered for want of memory is counted all the same. */
static void tally_bad_fields(job_t *job, const bad_values_t *values) {
    load_result_t *result = job->result;
    if (values)
        memcpy(result->became, values->became, sizeof result->became);
    result->bad_binary = values && values->binary;
    result->bad_stay = schema_any_fields(job->schema);
    for (size_t i = 0; values && !job->spec->retry && i < schema_counted(job->schema); i++) {
        const bad_field_t *field = &values->fields[i];
        err_t ignored;
        if (!field->count ||
            !GROW(result->bad_fields, result->bad_field_room, result->bad_field_count + 1, &ignored))
            continue;
        bad_result_t *bad = &result->bad_fields[result->bad_field_count++];
        *bad = (bad_result_t){.count = field->count, .places = places_of(field)};
        snprintf(bad->name, sizeof bad->name, "%s", schema_counted_field(job->schema, i)->name);
    }
    if (values && result->ambiguous_times && !job->spec->retry)
        result->ambiguous_first = places_of(&values->fields[bad_values_twice(values)]);
}

void job_join_loaders(job_t *job) {
    loader_counters_t sum = {.total_ns = 0};
    bad_values_t *bad_values = bad_values_new(job->schema);
    err_t known; /* job_move_data reports it */
    pipeline_join(&job->loading.pipeline, &known);
    for (uint32_t i = 0; i < job->loader_count; i++)
        loader_end(job->loaders[i], &sum, bad_values);
    job->loader_count = 0;
    take_counters(job->result, &sum);
    tally_bad_fields(job, bad_values);
    free(bad_values);
    /* another load may have had the file that was asked for */
    const char *kept_in = job->loading.rejects ? rejects_path(job->loading.rejects) : NULL;
    job->result->rejects_kept = kept_in ? rejects_count(job->loading.rejects) : 0;
    if (!kept_in)
        job->result->rejects_path[0] = '\0';
    else
        snprintf(job->result->rejects_path, sizeof job->result->rejects_path, "%s", kept_in);
    tally_others(job);
    tally_shards(job);
    tally_routers(job);
    job_release(job);
    find_limit(job->result, &sum);
}
