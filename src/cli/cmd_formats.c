#include "base/log.h"
#include "base/text.h"
#include "cli/options/cli.h"
#include "format/schema/schema.h"
#include "load/plan/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    load_options_t load; /* of which it takes what corrects a guess */
    const char *show, *check;
    bool guess;
} values_t;

static values_t values;

static const option_t options[] = {
    OPTION("show", TEXT, show, .group = GROUP_ASKED, .argument = "NAME", .offers = "@formats",
           .help = "Print a built-in format's file: a start for one of your own."),
    OPTION("check", TEXT, check, .argument = "FILE", .offers = "@formats @files",
           .help = "Read a format (a name or a file), and say what is wrong with it."),
    OPTION("guess", FLAG, guess,
           .help = "Print the format by which FILE... would be read without --format: a start for your own."),
    {.name = NULL},
};

static const apart_t apart[] = {
    {"guess", "show check", "reads the files that are named"},
    {"show", "check", "prints a built-in format's file"},
    {.option = NULL},
};

static bool show(const char *name, err_t *err) {
    const builtin_t *builtin = builtin_find(builtin_formats, name);
    schema_t *schema = builtin ? NULL : format_open(name, err);
    if (builtin)
        out_bytes(builtin->text, builtin->length);
    else if (schema)
        err_set(err, STATUS_USAGE, "--show prints built-in formats; %s is a file", name);
    schema_destroy(schema);
    return builtin != NULL;
}

static bool check(err_t *err) {
    schema_t *schema = format_open(values.check, err);
    if (!schema)
        return false;
    out_print("%s  %s\n", schema->name, schema->about);
    schema_destroy(schema);
    return true;
}

/* ---- what is asked ---- */

static bool guess(const run_t *run, err_t *err) {
    manifest_t manifest = {.files = NULL};
    guessed_t guessed = {.yaml = NULL};
    if (!run->count)
        return err_set(err, STATUS_USAGE, "--guess needs a file");
    bool ok = manifest_build(&manifest, run->words, (size_t)run->count, NULL, err) &&
              guess_inputs_checked(&manifest, &values.load.spec.guess, &guessed, err);
    if (ok)
        out_bytes(guessed.yaml, strlen(guessed.yaml));
    guessed_free(&guessed);
    manifest_free(&manifest);
    return ok;
}

static int answer(run_t *run, err_t *err) {
    if (run->count && !values.guess)
        return err_set(err, STATUS_USAGE, "tipple formats takes no '%s'; did you mean --show before it?",
                       run->words[0]),
               STATUS_USAGE;
    if (!values.guess &&
        (values.load.spec.guess.bad_value_given || !load_options_settle(&values.load, "", err)))
        return err_set(err, STATUS_USAGE, "--with, --type and --on-bad-value go with --guess"), STATUS_USAGE;
    if (!load_options_settle(&values.load, NULL, err))
        return STATUS_USAGE;
    if (!values.guess && !values.show && !values.check)
        return cli_list(run, builtin_formats, "format", err);
    const bool ok = values.guess ? guess(run, err) : values.show ? show(values.show, err) : check(err);
    return cli_finish(ok ? STATUS_OK : (int)err->status, err);
}

const command_t command_formats = {
    .name = "formats",
    .group = COMMANDS_LOAD,
    .arguments = "[FILE...]",
    .about = "list, show, check and guess formats",
    .help = "Without an option: the built-in formats, a line each.",
    .examples = "  tipple formats --show mot > my.yaml      # a start for a format of your own\n"
                "  tipple formats --check ./my.yaml\n"
                "  tipple formats --guess my.csv > my.yaml  # a start for any other file",
    .options = options,
    .takes = TAKEN_BY_FORMATS,
    .apart = apart,
    .values = &values,
    .body = answer,
};
