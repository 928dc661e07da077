/* A drill from its beginning to its end: what is taken over from the target, the prediction, and the pass of
 * everything. */
#include "study/drill/drill.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "base/text.h"
#include "server/bson_read.h"
#include "server/collection.h"
#include "server/server_errors.h"
#include "study/drill/drill_inner.h"
#include "study/supplies.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const drill_spec_t *spec;
    drill_result_t *result;
    load_spec_t load; /* into the scratch collection, with what was taken over from the target */
    target_settings_t settings;
    struct {
        char **items;
        size_t count, room;
    } indexes;     /* the target's own, as --index takes them */
    char *guessed; /* the format file, without --format; else NULL */
    scratch_t *scratch;
} drilling_t;

/* ---- the target ---- */

/* The index of the `_id` comes with the collection. One that removes documents by their age would remove some of the
 * scratch collection, too. */
static bool take_index(drilling_t *drilling, const bson_t *listed, err_t *err) {
    const char *name = bson_read_text(listed, "name");
    bson_t index = BSON_INITIALIZER;
    if (strcmp(name, "_id_") == 0 || bson_has_field(listed, "clustered"))
        return true;
    if (bson_has_field(listed, "expireAfterSeconds")) {
        log_warn("%s has an index that removes documents by their age, %s: the drill is without it",
                 drilling->result->namespace, name);
        return true;
    }
    if (!GROW(drilling->indexes.items, drilling->indexes.room, drilling->indexes.count + 1, err))
        return false;
    bson_copy_to_excluding_noinit(listed, &index, "v", NULL);
    drilling->indexes.items[drilling->indexes.count++] = ejson_print(&index, true, NULL);
    bson_destroy(&index);
    return true;
}

static bool take_indexes(drilling_t *drilling, server_t *target, mongoc_client_t *client, err_t *err) {
    load_spec_t *load = &drilling->load;
    bson_t reply, index;
    bson_iter_t at;
    if (load->index_count)
        return true;
    bool ok = collection_ask_indexes(target, client, &reply, err) ||
              server_code(&reply) == CODE_NAMESPACE_NOT_FOUND;
    if (ok && bson_read_batch(&reply, &at))
        while (ok && bson_read_next(&at, &index))
            ok = take_index(drilling, &index, err);
    bson_destroy(&reply);
    load->indexes = drilling->indexes.items;
    load->index_count = drilling->indexes.count;
    return ok;
}

/* Takes over what the target has and no option says. */
static bool look_at_target(drilling_t *drilling, err_t *err) {
    const load_spec_t *given = &drilling->spec->load;
    drill_result_t *result = drilling->result;
    const server_options_t options = {.uri = given->uri, .patience_ns = given->patience_ns, .connections = 2};
    server_t *target = server_connect(&options, err);
    mongoc_client_t *client = target ? server_take(target, err) : NULL;
    if (client) {
        snprintf(result->namespace, sizeof result->namespace, "%s", server_namespace(target));
        snprintf(result->where, sizeof result->where, "%s", server_where(target));
        snprintf(result->version, sizeof result->version, "%s", server_facts(target)->version);
    }
    const bool ok = client &&
                    supplies_like_target(target, client, &drilling->load, &drilling->settings, err) &&
                    take_indexes(drilling, target, client, err);
    if (client)
        server_give(target, client);
    server_destroy(target);
    return ok;
}

/* ---- the prediction ---- */

/* Said before the drill begins, so that it is a real prediction. */
static void say_forecast(const drill_result_t *result) {
    char documents[UNITS_MAX], bytes[UNITS_MAX];
    char whole[FORECAST_SPELLED], load[FORECAST_SPELLED], verify[FORECAST_SPELLED];
    const drill_pass_t *pass = &result->pass;
    const drill_sample_t *sample = &result->samples[result->sample_count - 1];
    log_note(
        "drill: predicted for %s%s document%s, %s of BSON: %s from nothing to verified; load %s, verify %s",
        result->exact ? "" : "about ", units_count(documents, (uint64_t)result->all_documents),
        units_s((uint64_t)result->all_documents),
        units_size(bytes, result->all_documents * (double)sample->bytes / (double)sample->documents),
        forecast_spell(whole, &pass->verified), forecast_spell(load, &pass->phases[DRILL_LOAD].predicted),
        forecast_spell(verify, &pass->phases[DRILL_VERIFY].predicted));
}

static bool predict(drilling_t *drilling, err_t *err) {
    const drill_spec_t *spec = drilling->spec;
    if (spec->no_predict)
        return true;
    if (!rehearsal_run(spec, &drilling->load, drilling->scratch, drilling->result, err))
        return stop_signal() ? false : err_where(err, "in a sample");
    say_forecast(drilling->result);
    return true;
}

/* ---- the drill itself ---- */

static bool run_all(drilling_t *drilling, err_t *err) {
    drill_pass_t *pass = &drilling->result->pass;
    load_spec_t load = drilling->load;
    load.limit = UINT64_MAX;
    load.counts_rejects = !load.rejects;
    drilling->result->drilled = true;
    scratch_checkpoint(drilling->scratch);
    const bool ok = drill_pass(&load, drilling->spec->query, false, pass, err);
    if (load.counts_rejects && pass->load.counts.rejected)
        log_warn("the rejects of this drill are not kept: --rejects FILE keeps them");
    return ok && (!pass->difference[0] || err_set(err, STATUS_DIFFERENT, "%s", pass->difference));
}

static bool find_format(drilling_t *drilling, err_t *err) {
    schema_t *schema = supplies_find_format(&drilling->spec->load, "a drill reads again what it has loaded",
                                            &drilling->guessed, err);
    if (schema)
        snprintf(drilling->result->format, sizeof drilling->result->format, "%s", schema->name);
    schema_destroy(schema);
    drilling->load.guessed = drilling->guessed;
    return schema != NULL;
}

static bool drill(drilling_t *drilling, err_t *err) {
    const drill_spec_t *spec = drilling->spec;
    drill_result_t *result = drilling->result;
    if (!find_format(drilling, err) || !look_at_target(drilling, err) ||
        !(drilling->scratch = scratch_open(spec->load.uri, SCRATCH_DRILL, spec->load.patience_ns, err)))
        return false;
    drilling->load.uri = scratch_place(drilling->scratch);
    snprintf(result->collection, sizeof result->collection, "%s",
             server_namespace(scratch_server(drilling->scratch)));
    return predict(drilling, err) && (spec->predict_only || run_all(drilling, err));
}

static bool close_all(drilling_t *drilling, bool ok, err_t *err) {
    err_t closing;
    const bool closed = scratch_close(drilling->scratch, &closing);
    if (!closed && ok)
        *err = closing;
    else if (!closed)
        log_warn("%s", closing.text);
    while (drilling->indexes.count)
        free(drilling->indexes.items[--drilling->indexes.count]);
    free(drilling->indexes.items);
    free(drilling->settings.create);
    free(drilling->guessed);
    return ok && closed;
}

bool drill_run(const drill_spec_t *spec, drill_result_t *result, err_t *err) {
    const forecast_t unknown = {NAN, NAN, NAN};
    drilling_t drilling = {.spec = spec, .result = result, .load = spec->load};
    const int64_t began = clock_now_ns();
    memset(result, 0, sizeof *result);
    result->all_documents = result->pass.query_seconds = NAN;
    result->pass.predicted = result->pass.verified = unknown;
    for (drill_phase_t phase = 0; phase < DRILL_PHASES; phase++)
        result->pass.phases[phase].predicted = unknown;
    *err = (err_t){.status = STATUS_OK};
    bool ok = drill(&drilling, err);
    ok = close_all(&drilling, ok, err);
    if (ok) /* tries that failed on the way are no failure */
        *err = (err_t){.status = result->pass.load.counts.rejected ? STATUS_SOME_REJECTED : STATUS_OK};
    result->took_ns = clock_now_ns() - began;
    return ok;
}

forecast_t drill_predicted(const drill_result_t *drills, size_t count) {
    forecast_t sum = {0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        const forecast_t parts[] = {sum, drills[i].pass.verified};
        if (isnan(parts[1].mid))
            return parts[1];
        sum = forecast_sum(parts, 2);
    }
    return sum;
}

double drill_measured(const drill_result_t *drills, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += drills[i].pass.finished ? (double)drills[i].pass.verified_ns / 1e9 : NAN;
    return sum;
}

double drill_needs(const drill_result_t *drills, size_t count) {
    const double measured = drill_measured(drills, count);
    const forecast_t predicted = drill_predicted(drills, count);
    return !isnan(measured) ? measured : isnan(predicted.high) ? predicted.mid : predicted.high;
}
