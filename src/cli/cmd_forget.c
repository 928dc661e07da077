#include "cli/cli.h"
#include "load/forget.h"

#include <stdio.h>

typedef struct {
    const char *uri;
    int64_t patience_ns;
    bool documents, json;
} values_t;

static const option_t options[] = {
    CLI_URI(values_t),
    {.name = "delete",
     .kind = OPTION_FLAG,
     .offset = offsetof(values_t, documents),
     .help =
         "Remove the documents of the input, too. Without it an input that has documents is not forgotten."},
    CLI_PATIENCE(values_t),
    CLI_JSON(values_t),
    {.name = NULL},
};

static void print(const values_t *values, int count, char **inputs) {
    if (!values->json) {
        for (int i = 0; i < count; i++)
            printf("%s is forgotten%s\n", inputs[i],
                   values->documents ? ", and its documents are removed" : "");
        return;
    }
    printf("{\"schema\":1,\"command\":\"forget\",\"inputs\":[");
    for (int i = 0; i < count; i++) {
        printf("%s", i ? "," : "");
        cli_print_json_text(inputs[i]);
    }
    printf("],\"deleted\":%s}\n", values->documents ? "true" : "false");
}

static int run(int argc, char **argv, const command_t *command, err_t *err) {
    values_t values = {.patience_ns = 30000000000};
    int rest;
    bool help;
    if (!cli_read(command, argc, argv, &values, &rest, &help, err))
        return (int)err->status;
    if (help)
        return STATUS_OK;
    if (!values.uri || !rest)
        return err_set(err, STATUS_USAGE,
                       values.uri
                           ? "name the input that is to be forgotten, as `tipple status --inputs` shows it"
                           : "--uri is missing: the collection that the input was loaded into"),
               STATUS_USAGE;
    const forget_spec_t spec = {.uri = values.uri,
                                .inputs = argv,
                                .input_count = (size_t)rest,
                                .documents = values.documents,
                                .patience_ns = values.patience_ns};
    if (!forget_run(&spec, err))
        return (int)err->status;
    print(&values, rest, argv);
    return cli_flush(err) ? STATUS_OK : (int)err->status;
}

const command_t command_forget = {
    .name = "forget",
    .arguments = "INPUT...",
    .about = "take an input out of a collection's catalog, with its documents or without any",
    .help = "The input can then be loaded anew, as if it had never been there. Nothing else is touched. With "
            "--delete "
            "it takes\n"
            "a lease (20 seconds) longer, in which what dead loads have sent still arrives, and is removed "
            "as well.",
    .examples = "  tipple forget --uri mongodb://127.0.0.1/mot.results data/broken.csv --delete",
    .needs_driver = true,
    .options = options,
    .run = run,
};
