#include "base/log.h"
#include "base/numbers.h"
#include "cli/each_collection.h"
#include "cli/options/cli.h"
#include "cli/results/results.h"
#include "verify/verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    verify_spec_t spec;
    load_options_t load; /* what it takes of the load's options goes into the spec */
    texts_list_t retry;
    bool json;
    const char *report;
    const again_t *again;
} values_t;

static bool read_sample(void *values, const char *text, err_t *err) {
    const char *end;
    double percent;
    if (!units_number(text, &percent, &end) || (*end && strcmp(end, "%") != 0) ||
        !(percent > 0 && percent <= 100))
        return err_set(err, STATUS_USAGE, "--sample: '%s' is not a share; write it like 10%% or 0.5%%", text);
    ((values_t *)values)->spec.sample_percent = percent;
    return true;
}

#define AT(name) .offset = offsetof(values_t, name)

static const option_t options[] = {
    {.name = "retry",
     .group = GROUP_INPUT,
     .argument = "FILE",
     .kind = OPTION_LIST,
     AT(retry),
     .help = "A reject file that was fixed and loaded: what it describes must be there, too. May be given "
             "several times."},
    {.name = "sample",
     .group = GROUP_COMPARED,
     .argument = "P%",
     .kind = OPTION_CUSTOM,
     .custom = read_sample,
     .help = "Look at this share of the blocks only, the same ones each time. Documents in no such block are "
             "not seen."},
    {.name = "files-only",
     .kind = OPTION_FLAG,
     AT(spec.files_only),
     .help = "Do not look for documents outside of the given files' blocks."},
    {.name = "max-differences",
     .argument = "N",
     .kind = OPTION_COUNT,
     AT(spec.most),
     .most = 1000000,
     .help = "Name so many differences of each kind (default 20). All are counted."},
    CLI_JSON(values_t),
    CLI_REPORT(values_t),
    {.name = NULL},
};

static bool check(values_t *values, int count, err_t *err) {
    verify_spec_t *spec = &values->spec;
    spec->uri = values->load.spec.uri;
    if (!spec->uri)
        return err_set(err, STATUS_USAGE,
                       "--uri is missing: the collection to verify, such as --uri "
                       "mongodb://127.0.0.1/mot.results (or set TIPPLE_URI)");
    if (!count)
        return err_set(err, STATUS_USAGE, "nothing to verify: give the files that were loaded");
    const load_spec_t *load = &values->load.spec;
    spec->filters = values->load.filters.items;
    spec->filter_count = values->load.filters.count;
    spec->format = load->format;
    spec->input_name = load->input_name;
    spec->copies = load->copies;
    spec->threads = load->threads;
    spec->memory = load->memory;
    spec->patience_ns = load->patience_ns;
    spec->retry = values->retry.items;
    spec->retry_count = values->retry.count;
    return !values->report || result_check_page(values->report, err);
}

static int verify_one(void *context, const char *uri, char **inputs, int count, err_t *err) {
    values_t *values = context;
    verify_result_t verify;
    values->spec.uri = uri;
    values->spec.inputs = inputs;
    values->spec.input_count = (size_t)count;
    const bool ok = verify_run(&values->spec, &verify, err);
    int status = ok ? STATUS_OK : (int)err->status;
    const bool began = ok || status == STATUS_DIFFERENT || verify.blocks,
               shown = began && (values->json || status != STATUS_USAGE);
    /* an older page must not stand for a run that failed */
    if (shown || (values->report && status != STATUS_USAGE && verify.differences)) {
        result_t *result = results_verify(&values->spec, &verify, status, err);
        if (values->report)
            status = results_page(result, values->report, values->again, uri, status, err);
        if (shown && values->json)
            result_print_json(result, status);
        else if (shown)
            result_print_text(result);
        result_free(result);
    }
    verify_free_result(&verify);
    return cli_finish(status, err);
}

static int verify(void *data, char **inputs, int count, const again_t *again, err_t *err) {
    values_t *values = data;
    each_collection_t each = {.list = {0}};
    values->again = again;
    if (!check(values, count, err))
        return (int)err->status;
    const char *uri = values->spec.uri;
    const bool ok = each_collection_find(&each, uri, inputs, count, err) &&
                    (!each.list.count || results_no_page(values->report, err));
    const int status =
        ok ? each_collection_run(&each, uri, inputs, count, values->json, verify_one, values, err)
           : (int)err->status;
    each_collection_free(&each);
    return status;
}

static int run(int argc, char **argv, const command_t *command, err_t *err) {
    values_t values = {.json = false};
    verify_spec_init(&values.spec);
    load_options_init(&values.load);
    return results_run(command, argc, argv, &values, verify, err);
}

const command_t command_verify = {
    .name = "verify",
    .group = COMMANDS_CHECK,
    .arguments = "FILE|DIRECTORY|PATTERN|-...",
    .about = "compare a collection with the files that were loaded into it",
    .help = "Reads each file again, makes its documents again, reads those of the collection (as the "
            "majority has them), and compares both byte by byte. Names what is missing, extra, "
            "duplicated (one _id on two shards), changed or unrelated (under an _id that no file can "
            "have given) by file, line and _id. Nothing is written. Exit status 7: something differs.",
    .examples = "  tipple verify orders.csv --uri mongodb://HOST/shop.orders\n"
                "  tipple verify -f mot --uri \"$URI\" data/*.gz --retry mot.results.rejects\n"
                "  tipple verify -f mot --uri \"$URI\" data/*.gz --sample 1%   # a part of it",
    .needs_driver = true,
    .options = options,
    .takes = TAKEN_BY_VERIFY,
    .load_at = offsetof(values_t, load),
    .run = run,
};
