#include "cli/print/load_figures.h"

#include <math.h>

double load_cpu_us(const load_result_t *result) {
    return result->sent_documents ? (double)result->cpu_ns / 1e3 / (double)result->sent_documents : NAN;
}

load_share_t load_share(const load_result_t *result, const loaded_place_t *place) {
    const traffic_figures_t *figures = &place->figures;
    const double moving = (double)(result->moving_ns ? result->moving_ns : 1);
    return (load_share_t){100 * (double)figures->documents / (double)result->counts.loaded,
                          100 * (double)figures->busy_ns / moving, (double)figures->waiting_ns / moving};
}

static void put_place(bson_t *to, const void *places, size_t at) {
    const loaded_place_t *place = (const loaded_place_t *)places + at;
    const traffic_figures_t *figures = &place->figures;
    result_put(to, AS_TEXT("name", place->name), AS_COUNT("documents", figures->documents),
               AS_COUNT("batches", figures->batches), AS_SECONDS("waiting_seconds", figures->waiting_ns),
               AS_SECONDS("busy_seconds", figures->busy_ns), AS_COUNT("most_at_once", figures->most));
}

static void put_skipped(bson_t *to, const void *misfits, size_t at) {
    const misfit_t *misfit = (const misfit_t *)misfits + at;
    result_put(to, AS_TEXT("name", misfit->name), AS_TEXT("reason", misfit->reason));
}

static void put_bad_field(bson_t *to, const void *fields, size_t at) {
    const bad_result_t *field = (const bad_result_t *)fields + at;
    result_put(to, AS_TEXT("field", field->name), AS_COUNT("values", field->count),
               AS_TEXT("first", field->places));
}

void load_put_index(bson_t *to, const void *indexes, size_t at) {
    const built_index_t *index = (const built_index_t *)indexes + at;
    result_put(to, AS_TEXT("keys", index->keys), AS_SECONDS("seconds", index->took_ns));
}

void load_make_result(bson_t *to, const load_result_t *result) {
    const counts_t *counts = &result->counts;
    const bool rejects = counts->rejected && result->rejects_path[0];
    result_put(to, AS_COUNT("read", counts->read), AS_COUNT("loaded", counts->loaded),
               AS_COUNT("already_there", counts->already_there), AS_COUNT("rejected", counts->rejected),
               AS_COUNT("filtered", counts->filtered), AS_COUNT("corrected", counts->corrected),
               AS_COUNT("replaced", counts->replaced), AS_COUNT("kept", counts->kept),
               AS_COUNT_IF("open_rejects", result->knows_rejects, result->open_rejects),
               AS_SECONDS("seconds", result->took_ns),
               AS_NUMBER("docs_per_second", result_rate(counts->loaded, result->took_ns), 0),
               AS_COUNT("bytes_read", result->bytes_read), AS_COUNT("bytes_bson", result->bytes_bson),
               AS_SECONDS("client_cpu_seconds", result->cpu_ns),
               AS_COUNT("peak_memory_bytes", result->peak_memory_bytes), AS_COUNT("batches", result->batches),
               AS_COUNT("retries", result->retries),
               AS_LIST("shards", result->shard_count, put_place, result->shards),
               AS_LIST("routers", result->router_count, put_place, result->routers),
               AS_COUNT("unrouted", result->unrouted), AS_TEXT("limited_by", result->limited_by),
               AS_SECONDS("throttled_seconds", result->throttled_ns),
               AS_TEXT("throttled_by", result->throttled_by[0] ? result->throttled_by : NULL),
               AS_TEXT("namespace", result->namespace), AS_TEXT("format", result->format),
               AS_COUNT("bytes_text", result->bytes_text), AS_COUNT("files", result->files),
               AS_COUNT("files_skipped", result->files_skipped),
               AS_COUNT("records_skipped", result->records_skipped),
               AS_COUNT("records_done_by_others", result->records_done_by_others),
               AS_COUNT("values_kept_as_text", result->bad_value == BAD_VALUE_TEXT ? result->bad_values : 0),
               AS_COUNT("bad_values", result->bad_values),
               AS_COUNT("lines_skipped", result->passed_over.skipped),
               AS_COUNT("comment_lines", result->passed_over.comments),
               AS_LIST("bad_fields", result->bad_field_count, put_bad_field, result->bad_fields),
               AS_FLAG("clustered", result->clustered), AS_FLAG("appended", result->appended),
               AS_COUNT("threads", result->threads), AS_COUNT("batch", result->batch),
               AS_TEXT("rejects", rejects ? result->rejects_path : NULL),
               AS_LIST("skipped_files", result->skipped.count, put_skipped, result->skipped.items),
               AS_LIST("indexes", result->index_count, load_put_index, result->indexes));
}
