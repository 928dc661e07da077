#include "base/log.h"
#include "cli/options/cli.h"
#include "load/forget/forget.h"
#include "report/result.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct {
    const char *uri, *uri_file;
    int64_t patience_ns;
    bool documents, yes, json;
} values_t;

static const option_t options[] = {
    CLI_URI(values_t, uri),
    {.name = "delete",
     .destroys = true,
     .kind = OPTION_FLAG,
     .offset = offsetof(values_t, documents),
     .help = "Remove the documents of the input, too. It asks on a terminal; needs --yes elsewhere. Without "
             "it an input that has "
             "documents is not forgotten."},
    {.name = "yes",
     .destroys = true,
     .letter = 'y',
     .kind = OPTION_FLAG,
     .offset = offsetof(values_t, yes),
     .help = "Do not ask."},
    CLI_PATIENCE(values_t),
    CLI_JSON(values_t),
    {.name = NULL},
};

static const char *said(const values_t *values, const forgotten_t *forgotten) {
    switch (forgotten->outcome) {
    case FORGET_LATE:
        return "had been forgotten before; documents that came after that are removed";
    case FORGET_NOTHING:
        return "had been forgotten before, and nothing of it is there";
    case FORGET_DONE:
        break;
    }
    return !values->documents ? "is forgotten"
           : forgotten->late  ? "is forgotten, and its documents are removed; so are documents that came "
                                "where those of an input of this "
                                "name were that had been forgotten before"
                              : "is forgotten, and its documents are removed";
}

static const result_view_t views[] = {LINE(SHOW_QUIET, NULL, "{-name} {-said}", .each = "-said"), {0}};

static void make_result(bson_t *to, const values_t *values, int count, const forgotten_t *forgotten) {
    static const char *const words[] = {
        [FORGET_DONE] = "forgotten", [FORGET_LATE] = "late", [FORGET_NOTHING] = "nothing"};
    bson_t inputs = BSON_INITIALIZER, outcomes = BSON_INITIALIZER, lines = BSON_INITIALIZER;
    for (int i = 0; i < count; i++) {
        char key[16];
        bson_t line;
        snprintf(key, sizeof key, "%d", i);
        result_put(&inputs, AS_TEXT(key, forgotten[i].name));
        result_put(&outcomes, AS_TEXT(key, words[forgotten[i].outcome]));
        BSON_APPEND_DOCUMENT_BEGIN(&lines, key, &line);
        result_put(&line, AS_TEXT("-name", forgotten[i].name), AS_TEXT("-said", said(values, &forgotten[i])));
        bson_append_document_end(&lines, &line);
    }
    BSON_APPEND_ARRAY(to, "inputs", &inputs);
    BSON_APPEND_ARRAY(to, "outcomes", &outcomes);
    BSON_APPEND_ARRAY(to, "-said", &lines);
    result_put(to, AS_FLAG("deleted", values->documents));
    bson_destroy(&inputs);
    bson_destroy(&outcomes);
    bson_destroy(&lines);
}

static void print(const values_t *values, int count, const forgotten_t *forgotten) {
    result_t *result = result_new("forget");
    result->views = views;
    make_result(&result->document, values, count, forgotten);
    values->json ? result_print_json(result, STATUS_OK) : result_print_text(result);
    result_free(result);
}

static bool confirm(const values_t *values, int count, char *const *names, err_t *err) {
    char question[1200];
    if (!values->documents || values->yes)
        return true;
    snprintf(question, sizeof question, "Remove all documents of %.1000s%s from the collection?", names[0],
             count > 1 ? " and of the other inputs" : "");
    return cli_may_ask("--delete removes documents", err) && cli_ask(question, err);
}

static int run(int argc, char **argv, const command_t *command, err_t *err) {
    values_t values = {.patience_ns = 30000000000};
    int rest, status;
    if (!cli_read(command, argc, argv, &values, &rest, &status, err))
        return status;
    if (!values.uri || !rest)
        return err_set(err, STATUS_USAGE,
                       values.uri ? "name the input that is to be forgotten, as it was loaded, or as `tipple "
                                    "status --inputs` shows it"
                                  : "--uri is missing: the collection that the input was loaded into"),
               STATUS_USAGE;
    if (!confirm(&values, rest, argv, err))
        return (int)err->status;
    const forget_spec_t spec = {.uri = values.uri,
                                .inputs = argv,
                                .input_count = (size_t)rest,
                                .documents = values.documents,
                                .patience_ns = values.patience_ns};
    forgotten_t *forgotten = calloc((size_t)rest, sizeof *forgotten);
    if (!forgotten)
        return err_memory(err, (size_t)rest * sizeof *forgotten), (int)err->status;
    bool ok = forget_run(&spec, forgotten, err);
    if (ok)
        print(&values, rest, forgotten);
    for (int i = 0; i < rest; i++)
        free(forgotten[i].name);
    free(forgotten);
    return ok && cli_flush(err) ? STATUS_OK : (int)err->status;
}

const command_t command_forget = {
    .name = "forget",
    .group = COMMANDS_CHECK,
    .arguments = "INPUT...",
    .about = "take an input out of the catalog, with its documents or without",
    .help = "An input is named as it was for load, or as `tipple status --inputs` shows it. It can "
            "then be loaded again, as if it had never been there. Nothing else is touched. With "
            "--delete it takes a lease (20 seconds) longer, for all inputs together, in which what dead "
            "loads have sent still arrives, and is removed as well. If one of several cannot be "
            "taken out, none is.",
    .examples = "  tipple forget --uri mongodb://HOST/mot.results data/broken.csv --delete --yes",
    .needs_driver = true,
    .options = options,
    .run = run,
};
