#include "report/load_figures.h"
#include "base/text.h"
#include "format/guess/guess.h"

enum { MOST_COLUMNS = 20 };

/* ---- lists ---- */

typedef struct {
    const load_result_t *load;
    const loaded_place_t *places;
} places_t;

static void put_place(bson_t *to, const void *of, size_t at) {
    const places_t *places = of;
    const load_result_t *load = places->load;
    const loaded_place_t *place = &places->places[at];
    const traffic_figures_t *figures = &place->figures;
    const double moving = (double)(load->moving_ns ? load->moving_ns : 1);
    result_put(
        to, OF(place, name), OF(figures, documents), OF(figures, batches),
        AS_SECONDS("waiting_seconds", figures->waiting_ns), AS_SECONDS("busy_seconds", figures->busy_ns),
        AS_COUNT("most_at_once", figures->most),
        AS_NUMBER("-share_percent", 100 * (double)figures->documents / (double)load->counts.of[FATE_LOADED]),
        AS_NUMBER("-busy_percent", 100 * (double)figures->busy_ns / moving),
        AS_NUMBER("-at_once", (double)figures->waiting_ns / moving));
}

static void put_skipped(bson_t *to, const void *misfits, size_t at) {
    const misfit_t *misfit = (const misfit_t *)misfits + at;
    result_put(to, OF(misfit, name), OF(misfit, reason));
}

/* The columns of one kind of news. */
typedef struct {
    const load_result_t *load;
    column_news_t news;
} columns_t;

static const column_result_t *column_at(const columns_t *columns, size_t at) {
    for (size_t i = 0; i < columns->load->column_count; i++)
        if (columns->load->columns[i].news == columns->news && !at--)
            return &columns->load->columns[i];
    return NULL;
}

static void put_column(bson_t *to, const void *of, size_t at) {
    const column_result_t *column = column_at(of, at);
    result_put(to, OF(column, name), OF(column, file));
    if (column->type)
        result_put(to, AS_TEXT("type", column->type));
    else
        result_put(to, OF(column, files));
}

/* A list for programs, and a line for people. */
static void put_columns(bson_t *to, const load_result_t *load) {
    static const struct {
        const char *list, *line;
    } names[COLUMN_NEWS] = {[COLUMN_ADDED] = {"columns_added", "-columns_added"},
                            [COLUMN_MISSING] = {"columns_missing", "-columns_missing"},
                            [COLUMN_LEFT_OUT] = {"columns_left_out", "-columns_left_out"}};
    for (column_news_t news = COLUMN_ADDED; news < COLUMN_NEWS; news++) {
        const columns_t columns = {load, news};
        const column_result_t *column;
        text_t line = {.length = 0};
        size_t count = 0;
        for (; (column = column_at(&columns, count)); count++)
            if (count < MOST_COLUMNS)
                text_print(&line, "%s%s (%s%s%s)", count ? ", " : "", column->name,
                           column->type ? column->type : "", column->type ? ", " : "", column->file);
        if (count > MOST_COLUMNS)
            text_print(&line, ", and %zu more", count - MOST_COLUMNS);
        result_put(to, AS_LIST(names[news].list, count, put_column, &columns));
        if (count)
            result_take(to, names[news].line, text_take_or_end(&line));
    }
}

static void put_bad_field(bson_t *to, const void *fields, size_t at) {
    const bad_result_t *field = (const bad_result_t *)fields + at;
    result_put(to, AS_TEXT("field", field->name), AS_COUNT("values", field->count),
               AS_TEXT("first", field->places));
}

static void put_index(bson_t *to, const void *indexes, size_t at) {
    const built_index_t *index = (const built_index_t *)indexes + at;
    result_put(to, OF(index, keys), AS_SECONDS("seconds", index->took_ns));
}

result_field_t load_figures_indexes(const load_result_t *load) {
    return (result_field_t)AS_LIST("indexes", load->index_count, put_index, load->indexes);
}

static void put_kept_column(bson_t *to, const void *yaml, size_t at) {
    guess_kept(yaml, at, to);
}

result_field_t load_figures_kept_columns(const char *yaml) {
    return (result_field_t)AS_LIST("guessed_as_text", yaml ? guess_kept(yaml, 0, NULL) : 0, put_kept_column,
                                   yaml);
}

/* ---- figures ---- */

void load_figures(bson_t *to, const load_spec_t *spec, const load_result_t *load) {
    const counts_t *counts = &load->counts;
    const places_t shards = {load, load->shards}, routers = {load, load->routers};
    result_put(
        to, OF(counts, read), AS_COUNT("loaded", counts->of[FATE_LOADED]),
        AS_COUNT("already_there", counts->of[FATE_THERE]), AS_COUNT("rejected", counts->of[FATE_REJECTED]),
        AS_COUNT("filtered", counts->of[FATE_FILTERED]), AS_COUNT("corrected", counts->of[FATE_CORRECTED]),
        AS_COUNT("replaced", counts->of[FATE_REPLACED]), AS_COUNT("kept", counts->of[FATE_KEPT]),
        AS_COUNT_IF("open_rejects", load->knows_rejects, load->open_rejects),
        AS_SECONDS("seconds", load->took_ns),
        AS_NUMBER("docs_per_second", result_rate(counts->of[FATE_LOADED], load->took_ns)),
        OF(load, bytes_read), OF(load, bytes_bson), AS_SECONDS("client_cpu_seconds", load->cpu_ns),
        OF(load, peak_memory_bytes), OF(load, batches), OF(load, retries),
        AS_LIST("shards", load->shard_count, put_place, &shards),
        AS_LIST("routers", load->router_count, put_place, &routers), OF(load, unrouted), OF(load, limited_by),
        AS_SECONDS("throttled_seconds", load->throttled_ns), AS_WORDS("throttled_by", load->throttled_by),
        OF(load, namespace), OF(load, format), OF(load, bytes_text), OF(load, files), OF(load, files_skipped),
        OF(load, records_skipped), OF(load, records_done_by_others),
        AS_COUNT("values_kept_as_text", load->became[BAD_VALUE_TEXT]), OF(load, bad_values),
        OF(load, ambiguous_times),
        AS_TEXT("-ambiguous_first", load->ambiguous_first ? load->ambiguous_first : "in the reject file"),
        AS_COUNT("lines_skipped", load->passed_over.skipped),
        AS_COUNT("comment_lines", load->passed_over.comments), load_figures_kept_columns(load->guessed),
        AS_LIST("bad_fields", load->bad_field_count, put_bad_field, load->bad_fields), OF(load, clustered),
        OF(load, appended), OF(load, threads), OF(load, batch),
        AS_TEXT("rejects", counts->of[FATE_REJECTED] && load->rejects_path[0] ? load->rejects_path : NULL),
        AS_LIST("skipped_files", load->skipped.count, put_skipped, load->skipped.items),
        load_figures_indexes(load), AS_FLAG("dry_run", spec->dry_run));
    put_columns(to, load);
}
