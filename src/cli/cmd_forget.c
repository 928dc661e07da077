#include "cli/options/cli.h"
#include "load/forget/forget.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct {
    load_options_t load; /* of which it takes URI and patience */
    bool documents;
} values_t;

static values_t values;

static const option_t options[] = {
    OPTION("delete", FLAG, documents, .group = GROUP_COLLECTION, .destroys = true,
           .help = "Remove the documents of the input, too. It asks on a terminal; needs --yes elsewhere. "
                   "Without it an input that has documents is not forgotten."),
    {.name = NULL},
};

static const struct {
    const char *word, *said;
} outcomes[] = {
    [FORGET_DONE] = {"forgotten", "is forgotten"},
    [FORGET_LATE] = {"late", "had been forgotten before; documents that came after that are removed"},
    [FORGET_NOTHING] = {"nothing", "had been forgotten before, and nothing of it is there"},
};

static const result_view_t views[] = {LINE(SHOW_QUIET, NULL, "{-name} {-said}", .each = "-inputs"), {0}};

static void put_said(bson_t *to, const void *forgotten, size_t at) {
    const forgotten_t *one = (const forgotten_t *)forgotten + at;
    const bool removed = values.documents && one->outcome == FORGET_DONE;
    result_put(to, AS_TEXT("-name", one->name),
               AS_TEXT("-said", removed ? "is forgotten, and its documents are removed"
                                        : outcomes[one->outcome].said));
}

static int show(const run_t *run, const forgotten_t *forgotten, err_t *err) {
    result_t *result = result_new("forget", views);
    bson_t names = BSON_INITIALIZER, words = BSON_INITIALIZER;
    for (int i = 0; i < run->count; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        result_put(&names, AS_TEXT(key, forgotten[i].name));
        result_put(&words, AS_TEXT(key, outcomes[forgotten[i].outcome].word));
    }
    BSON_APPEND_ARRAY(&result->document, "inputs", &names);
    BSON_APPEND_ARRAY(&result->document, "outcomes", &words);
    result_put(&result->document, AS_FLAG("deleted", values.documents),
               AS_LIST("-inputs", run->count, put_said, forgotten));
    bson_destroy(&names);
    bson_destroy(&words);
    return cli_end(run, result, true, STATUS_OK, err);
}

static bool confirm(const run_t *run, err_t *err) {
    char question[1200];
    snprintf(question, sizeof question, "Remove all documents of %.1000s%s from the collection?",
             run->words[0], run->count > 1 ? " and of the other inputs" : "");
    return !values.documents || cli_confirm(run, "--delete removes documents", question, err);
}

static int forget(run_t *run, err_t *err) {
    const size_t count = (size_t)run->count;
    if (!cli_has_uri(run, "the collection that the input was loaded into", err))
        return STATUS_USAGE;
    if (!count)
        return err_set(err, STATUS_USAGE,
                       "name the input to forget, as it was loaded, or as `tipple status --inputs` shows it"),
               STATUS_USAGE;
    if (!confirm(run, err))
        return (int)err->status;
    const forget_spec_t spec = {.uri = values.load.spec.uri,
                                .inputs = run->words,
                                .input_count = count,
                                .documents = values.documents,
                                .patience_ns = values.load.spec.patience_ns};
    forgotten_t *forgotten = calloc(count, sizeof *forgotten);
    if (!forgotten)
        return err_memory(err, count * sizeof *forgotten), (int)err->status;
    const int status = forget_run(&spec, forgotten, err) ? show(run, forgotten, err) : (int)err->status;
    for (size_t i = 0; i < count; i++)
        free(forgotten[i].name);
    free(forgotten);
    return status;
}

const command_t command_forget = {
    .name = "forget",
    .group = COMMANDS_CHECK,
    .arguments = "INPUT...",
    .about = "take an input out of the catalog, with its documents or without",
    .help = "An input is named as it was for load, or as `tipple status --inputs` shows it. It can then be "
            "loaded again, as if it had never been there. Nothing else is touched. With --delete it takes a "
            "lease (20 seconds) longer, for all inputs together, in which what dead loads have sent still "
            "arrives, and is removed as well. If one of several cannot be taken out, none is.",
    .examples = "  tipple forget --uri mongodb://HOST/mot.results data/broken.csv --delete --yes",
    .options = options,
    .takes = TAKEN_BY_ASKING,
    .with = WITH_JSON | WITH_YES,
    .values = &values,
    .body = forget,
};
