#include "base/log.h"
#include "base/numbers.h"
#include "cli/options/cli.h"
#include "cli/results/results.h"
#include "verify/verify.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    load_options_t load; /* what it takes of the load's options goes into the spec */
    verify_spec_t spec;
    texts_list_t retry;
} values_t;

static values_t values;

static bool read_sample(void *percents, const char *text, err_t *err) {
    const char *end;
    double percent;
    if (!units_number(text, &percent, &end) || (*end && strcmp(end, "%") != 0) ||
        !(percent > 0 && percent <= 100))
        return err_set(err, STATUS_USAGE, "--sample: '%s' is not a share; write it like 10%% or 0.5%%", text);
    *(double *)percents = percent;
    return true;
}

static const option_t options[] = {
    OPTION("retry", LIST, retry, .group = GROUP_INPUT, .argument = "FILE",
           .help = "A reject file that was fixed and loaded: its records must be there, too. Repeatable."),
    OPTION("sample", CUSTOM, spec.sample_percent, .group = GROUP_COMPARED, .argument = "P%",
           .custom = read_sample, .typed = true,
           .help = "Compare only this share of the blocks, always the same. Other documents are not seen."),
    OPTION("files-only", FLAG, spec.files_only, .typed = true,
           .help = "Do not look for documents outside of the given files' blocks."),
    OPTION("max-differences", COUNT, spec.most, .argument = "N", .most = 1000000,
           .help = "Name N differences of each kind (default 20). All are counted."),
    {.name = NULL},
};

static int verify_one(const run_t *run, const char *uri, char **inputs, int count, err_t *err) {
    verify_result_t verify;
    verify_spec_t *spec = &values.spec;
    spec->load = values.load.spec;
    spec->load.uri = uri;
    spec->load.inputs = inputs;
    spec->load.input_count = (size_t)count;
    spec->retry = values.retry.items;
    spec->retry_count = values.retry.count;
    const bool ok = verify_run(spec, &verify, err);
    int status = ok ? STATUS_OK : (int)err->status;
    const bool began = ok || status == STATUS_DIFFERENT || verify.blocks;
    if (verify.differences) /* an older page must not stand for a run that failed */
        status = cli_end(run, results_verify(spec, &verify, status, err),
                         began && (run->json || status != STATUS_USAGE), status, err);
    verify_free_result(&verify);
    return status;
}

static int verify(run_t *run, err_t *err) {
    return cli_takes_inputs(run, "the collection to verify", err)
               ? each_collection(run, NULL, verify_one, err)
               : (int)err->status;
}

static void init(void) {
    verify_spec_init(&values.spec);
}

const command_t command_verify = {
    .name = "verify",
    .group = COMMANDS_CHECK,
    .arguments = "FILE|DIRECTORY|PATTERN|-...",
    .about = "compare a collection with the files that were loaded into it",
    .help = "Reads each file again, makes its documents again, reads those of the collection (as the "
            "majority has them), and compares both byte by byte. Names what is missing, extra, duplicated "
            "(one _id on two shards), changed or unrelated (under an _id that no file can have given) by "
            "file, line and _id. Nothing is written. Exit status 7: something differs.",
    .examples = "  tipple verify orders.csv --uri mongodb://HOST/shop.orders\n"
                "  tipple verify -f mot --uri \"$URI\" data/*.gz --retry mot.results.rejects\n"
                "  tipple verify -f mot --uri \"$URI\" data/*.gz --sample 1%   # a part of it",
    .options = options,
    .takes = TAKEN_BY_VERIFY,
    .with = WITH_JSON | WITH_REPORT | WITH_METRICS,
    .values = &values,
    .init = init,
    .body = verify,
};
