#include "base/log.h"
#include "cli/print/plan_print.h"
#include "cli/report/report_plan.h"
#include "cli/report/reporting.h"
#include "format/format.h"
#include "input/manifest.h"
#include "load/before/guess_inputs.h"

static bool take_sample(plan_values_t *values, char **files, int count, gauge_t *gauge, err_t *err) {
    manifest_options_t options = {.input_name = NULL};
    manifest_t manifest = {.count = 0};
    guessed_t guessed = {.yaml = NULL};
    bool ok = manifest_build(&manifest, files, (size_t)count, &options, err);
    schema_t *schema = !ok              ? NULL
                       : values->format ? format_open(values->format, err)
                                        : guess_inputs_open(&manifest, &values->guess, &guessed, err);
    ok = schema && gauge_take(schema, &manifest, gauge, err);
    guessed_free(&guessed);
    manifest_free(&manifest);
    schema_destroy(schema);
    return ok;
}

/* What the sample says where the command line does not. */
static void fill_from(plan_spec_t *spec, const gauge_t *gauge) {
    if (spec->documents == 0) {
        spec->documents = gauge->all_documents;
        spec->estimated = !gauge->exact;
    }
    if (spec->document_bytes == 0)
        spec->document_bytes = (double)gauge->bson_bytes / (double)gauge->documents;
    if (spec->text_bytes == 0)
        spec->text_bytes = (double)gauge->text_bytes / (double)gauge->documents;
}

static bool check_given(plan_values_t *values, int files, err_t *err) {
    if (!guess_options_check(&values->guess, values->types.items, values->types.count, values->format, err))
        return false;
    if (!files && (values->plan.documents == 0 || values->plan.document_bytes == 0))
        return err_set(err, STATUS_USAGE,
                       "nothing to plan: give a sample of your files, or --documents and "
                       "--document-bytes");
    return true;
}

static bool play(plan_values_t *values, const plan_t *plan, simulate_figures_t figures[SIMULATE_WAYS],
                 err_t *err) {
    simulate_spec_t *spec = &values->simulation;
    double own = plan->own > 0 ? plan->own : plan->common;
    if (!(own > 0))
        return err_set(err, STATUS_USAGE, "nothing to simulate: nothing is known that takes time");
    spec->shards = (uint32_t)values->plan.shards;
    spec->loaders = (uint32_t)values->plan.loaders;
    spec->by_lanes = values->plan.by_lanes;
    spec->own_seconds = own / plan->largest_shard;
    spec->common_seconds = plan->common;
    return simulate_all(spec, figures, err);
}

static int finish(const planned_t *planned, const again_t *again, err_t *err) {
    const plan_values_t *values = planned->values;
    bson_t result = BSON_INITIALIZER;
    int status = STATUS_OK;
    plan_make_result(&result, planned);
    if (values->report)
        status = reporting_end(report_plan(planned, &result), values->report, again, NULL, status, err);
    values->json ? result_print("plan", status, &result) : plan_print(planned);
    bson_destroy(&result);
    return cli_finish(status, err);
}

static int work_out(void *data, char **files, int count, const again_t *again, err_t *err) {
    plan_values_t *values = data;
    gauge_t gauge = {.files = 0};
    if ((values->report && !report_check_path(values->report, err)) || !plan_options_finish(values, err) ||
        !check_given(values, count, err) || (count && !take_sample(values, files, count, &gauge, err)))
        return (int)err->status;
    if (count)
        fill_from(&values->plan, &gauge);
    plan_spec_t spec = values->plan;
    plan_t plan;
    simulate_figures_t figures[SIMULATE_WAYS];
    if (count && spec.stored_ratio == 0)
        spec.stored_ratio = gauge_ratio(&gauge, values->compressor);
    if (!plan_check(&spec, err))
        return (int)err->status;
    plan_fill_in(&spec, values->compressor, count ? gauge_ratio(&gauge, "snappy") : 0);
    plan_work_out(&spec, &plan);
    if (values->simulate && !play(values, &plan, figures, err))
        return (int)err->status;
    const planned_t planned = {values, &spec, &plan, count ? &gauge : NULL,
                               values->simulate ? figures : NULL};
    return finish(&planned, again, err);
}

static int run(int argc, char **argv, const command_t *command, err_t *err) {
    plan_values_t values;
    plan_options_init(&values);
    return reporting_run(command, argc, argv, &values, work_out, err);
}

const command_t command_plan = {
    .name = "plan",
    .group = COMMANDS_SPEED,
    .arguments = "[FILE|DIRECTORY|PATTERN...]",
    .about = "tell how long a load will take, before there is a cluster",
    .help = "Works out, from a sample of your files or from numbers, how long a load takes and what holds it "
            "back, how long indexes take, what is stored, and what it costs. Nothing is connected to. What "
            "you do not know may be left out: it then holds nothing back. What you have measured may be "
            "given, and replaces what was measured elsewhere.",
    .examples =
        "  tipple plan --format mot test_result_2023.csv --shards 4 --disk 300MB --network 10G\n"
        "  tipple plan --documents 2.5g --document-bytes 1600 --shards 100 --router-rate 220k --even\n"
        "  tipple plan -f isd sample.gz --documents 2.5g --shards 1000 --simulate",
    .options = plan_options,
    .run = run,
};
