#include "base/log.h"
#include "base/text.h"
#include "builtin/builtin.h"
#include "cli/options/cli.h"
#include "format/format.h"
#include "format/schema/schema.h"
#include "load/before/guess_inputs.h"

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
           .help = "Read a format (a name or a file) and list its fields, or say what is wrong with it."),
    OPTION("guess", FLAG, guess,
           .help =
               "Print the format file by which the files FILE... would be read without --format: a start for "
               "one of your own."),
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

/* ---- the fields of a format ---- */

/* As the guess names it. */
static const char *type_of(const field_t *field) {
    const bool timed =
        field->type == TYPE_DATE && field->patterns.count && strchr(field->patterns.items[0].text, 'h');
    return timed ? "datetime" : schema_type_name(field->type);
}

typedef struct {
    const field_t *fields;
    bool fixed;      /* they have places in a record; else they are columns */
    uint32_t before; /* bytes of the part that are before its first field */
} fields_t;

static void put_field(bson_t *to, const void *of, size_t at) {
    const fields_t *list = of;
    const field_t *field = &list->fields[at];
    text_t columns = {.length = 0};
    text_append(&columns, "");
    for (size_t i = 0; i < field->columns.count; i++)
        text_print(&columns, "%s%s", i ? ", " : "", field->columns.items[i].text);
    char *names = text_take_or_end(&columns);
    result_put(
        to, AS_TEXT("field", field->name), AS_COUNT_IF("-at", list->fixed, field->offset + list->before),
        AS_COUNT_IF("-width", list->fixed, field->width), AS_TEXT("-type", type_of(field)),
        AS_TEXT("key", list->fixed ? NULL : field->key), AS_TEXT("-columns", list->fixed ? NULL : names),
        AS_TEXT("-nulls", list->fixed && field->nulls.count ? field->nulls.items[0].text : NULL));
    free(names);
}

static void put_made(bson_t *to, const void *of, size_t at) {
    const field_t *field = &((const schema_t *)of)->made[at].field;
    result_put(to, AS_TEXT("field", field->name), AS_TEXT("key", field->key), AS_TEXT("-type", "made"));
}

static void put_format(bson_t *to, const schema_t *schema) {
    result_put(to, AS_TEXT("format", schema->name), AS_TEXT("about", schema->about));
}

static void put_part(bson_t *to, const void *name, size_t unused) {
    (void)unused;
    result_put(to, AS_TEXT("field", name), AS_TEXT("-type", "part"));
}

static void put_parts(bson_t *list, const schema_t *schema) {
    for (size_t i = 0; i < schema->part_count; i++) {
        const tail_part_t *part = &schema->parts[i];
        const fields_t fields = {part->fields, true, 0};
        result_items(list, 1, put_part, part->marker.text);
        result_items(list, part->field_count, put_field, &fields);
    }
    for (size_t i = 0; i < schema->section_count; i++) {
        const section_t *section = &schema->sections[i];
        const fields_t fields = {section->fields, true, SCHEMA_ID};
        result_items(list, 1, put_part, section->name);
        result_items(list, section->field_count, put_field, &fields);
    }
}

static bool check(result_t *result, err_t *err) {
    schema_t *schema = format_open(values.check, err);
    if (!schema)
        return false;
    const bool fixed = schema->kind == RECORDS_FIXED;
    const fields_t fields = {schema->fields, fixed, 0};
    bson_t list = BSON_INITIALIZER;
    put_format(&result->document, schema);
    result_items(&list, schema->made_count, put_made, schema);
    result_items(&list, schema->field_count, put_field, &fields);
    put_parts(&list, schema);
    BSON_APPEND_ARRAY(&result->document, "fields", &list);
    bson_destroy(&list);
    schema_destroy(schema);
    return true;
}

static const result_view_t views[] = {
    LINE(SHOW_QUIET, "format", "{format}  {about}"),
    TABLE(SHOW_QUIET | SHOW_WHOLE, NULL, "fields", NULL, NULL, COLUMN("field", "field"), COLUMN("-at", "at"),
          COLUMN("-width", "width"), COLUMN("key", "key"), COLUMN("-type", "type"),
          COLUMN("-columns", "columns"), COLUMN("-nulls", "nulls")),
    TABLE(SHOW_QUIET | SHOW_WHOLE, NULL, "-formats", NULL, NULL, COLUMN("format", "format"),
          COLUMN("about", "about")),
    {0}};

/* ---- what is asked ---- */

static void put_builtin(bson_t *to, const void *unused, size_t at) {
    err_t err;
    (void)unused;
    schema_t *schema =
        schema_parse(builtin_formats[at].text, builtin_formats[at].length, builtin_formats[at].name, &err);
    if (!schema) /* core.formats: all can be read */
        err_end_without_memory(builtin_formats[at].length);
    put_format(to, schema);
    schema_destroy(schema);
}

static bool list(result_t *result) {
    size_t count = 0;
    while (builtin_formats[count].name)
        count++;
    result_put(&result->document, AS_LIST("-formats", count, put_builtin, NULL));
    return true;
}

static bool guess(const run_t *run, err_t *err) {
    manifest_t manifest = {.files = NULL};
    guessed_t guessed = {.yaml = NULL};
    if (!run->count)
        return err_set(err, STATUS_USAGE, "--guess needs a file");
    bool ok = manifest_build(&manifest, run->words, (size_t)run->count, NULL, err) &&
              guess_inputs(&manifest, &values.load.spec.guess, &guessed, err);
    if (ok)
        out_bytes(guessed.yaml, strlen(guessed.yaml));
    if (ok && guessed.unfit)
        log_warn("%s", guessed.unfit);
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
    result_t *result = result_new("formats");
    result->views = views;
    const bool ok = values.guess   ? guess(run, err)
                    : values.show  ? show(values.show, err)
                    : values.check ? check(result, err)
                                   : list(result);
    return cli_end(run, result, ok, ok ? STATUS_OK : (int)err->status, err);
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
