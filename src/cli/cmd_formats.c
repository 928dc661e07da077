#include "base/chars.h"
#include "base/log.h"
#include "base/text.h"
#include "builtin/builtin.h"
#include "cli/options/cli.h"
#include "cli/results/end.h"
#include "format/format.h"
#include "format/schema/schema.h"
#include "load/before/guess_inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *show, *check;
    bool guess;
    load_options_t load;
} values_t;

static const option_t options[] = {
    {.name = "show",
     .group = GROUP_ASKED,
     .argument = "NAME",
     .offers = "@formats",
     .kind = OPTION_TEXT,
     .offset = offsetof(values_t, show),
     .help = "Print a built-in format's file: a start for one of your own."},
    {.name = "check",
     .argument = "FILE",
     .offers = "@formats @files",
     .kind = OPTION_TEXT,
     .offset = offsetof(values_t, check),
     .help = "Read a format (a name or a file) and list its fields, or say what is wrong with it."},
    {.name = "guess",
     .kind = OPTION_FLAG,
     .offset = offsetof(values_t, guess),
     .help = "Print the format file by which the files FILE... would be read without --format: a start for "
             "one of your own."},
    {.name = NULL},
};

static const apart_t apart[] = {
    {"guess", "show check", "reads the files that are named"},
    {"show", "check", "prints a built-in format's file"},
    {.option = NULL},
};

static bool show(const char *name, err_t *err) {
    schema_t *schema = format_open(name, err);
    if (!schema)
        return false;
    schema_destroy(schema);
    for (const builtin_t *builtin = builtin_formats; builtin->name; builtin++) {
        if (strcmp(builtin->name, name) == 0) {
            out_bytes(builtin->text, builtin->length);
            return true;
        }
    }
    return err_set(err, STATUS_USAGE, "--show prints built-in formats; %s is a file", name);
}

typedef struct {
    int name, key;
} widths_t;

static void widen(widths_t *widths, const field_t *field) {
    int name = (int)utf8_columns(field->name), key = (int)utf8_columns(field->key);
    widths->name = name > widths->name ? name : widths->name;
    widths->key = key > widths->key ? key : widths->key;
}

static widths_t widths_of(const schema_t *schema) {
    widths_t widths = {24, 16};
    for (size_t i = 0; i < schema->made_count; i++)
        widen(&widths, &schema->made[i].field);
    for (size_t i = 0; i < schema->field_count && schema->kind != RECORDS_FIXED; i++)
        widen(&widths, &schema->fields[i]);
    return widths;
}

/* As the guess names it. */
static const char *type_of(const field_t *field) {
    const bool timed =
        field->type == TYPE_DATE && field->patterns.count && strchr(field->patterns.items[0].text, 'h');
    return timed ? "datetime" : schema_type_name(field->type);
}

static void check_columns(const schema_t *schema, widths_t widths) {
    out_print("%-*s %-*s %-8s %s\n", widths.name, "field", widths.key, "key", "type", "columns");
    for (size_t i = 0; i < schema->field_count; i++) {
        const field_t *field = &schema->fields[i];
        out_print("%-*s %-*s %-8s", utf8_width(field->name, widths.name), field->name,
                  utf8_width(field->key, widths.key), field->key, type_of(field));
        for (size_t j = 0; j < field->columns.count; j++)
            out_print("%s%s", j ? ", " : " ", field->columns.items[j].text);
        out_print("\n");
    }
}

static void check_widths(const field_t *fields, size_t count, uint32_t behind) {
    for (size_t i = 0; i < count; i++)
        out_print("%6u %5u  %-8s %s%s%s\n", fields[i].offset + behind, fields[i].width, type_of(&fields[i]),
                  fields[i].key, fields[i].nulls.count ? "  nulls: " : "",
                  fields[i].nulls.count ? fields[i].nulls.items[0].text : "");
}

static void check_fixed(const schema_t *schema) {
    out_print("    at width  type     key\n");
    check_widths(schema->fields, schema->field_count, 0);
    for (size_t i = 0; i < schema->part_count; i++) {
        const tail_part_t *part = &schema->parts[i];
        out_print("%s %s%s\n", part->marker.text, part->sections ? "sections" : part->name,
                  part->leave_out ? "  left out" : "");
        check_widths(part->fields, part->field_count, 0);
    }
    for (size_t i = 0; i < schema->section_count; i++) {
        const section_t *section = &schema->sections[i];
        for (size_t j = 0; j < section->id_count; j++)
            out_print("%s%.3s-%c", j ? ", " : "", section->ids[j].first, section->ids[j].last_digit);
        out_print(" %s\n", section->name);
        check_widths(section->fields, section->field_count, SCHEMA_ID);
    }
}

static void check_all(const schema_t *schema) {
    out_print("%s  %s\n", schema->name, schema->about);
    widths_t widths = widths_of(schema);
    for (size_t i = 0; i < schema->made_count; i++) {
        const field_t *field = &schema->made[i].field;
        out_print("%-*s %-*s made\n", utf8_width(field->name, widths.name), field->name,
                  utf8_width(field->key, widths.key), field->key);
    }
    if (schema->kind == RECORDS_FIXED)
        check_fixed(schema);
    else if (schema->field_count)
        check_columns(schema, widths);
}

static bool check(const char *name, err_t *err) {
    schema_t *schema = format_open(name, err);
    if (!schema)
        return false;
    check_all(schema);
    schema_destroy(schema);
    return true;
}

static bool list(err_t *err) {
    for (const builtin_t *builtin = builtin_formats; builtin->name; builtin++) {
        schema_t *schema = schema_parse(builtin->text, builtin->length, builtin->name, err);
        if (!schema)
            return false;
        out_print("%-12s %s\n", schema->name, schema->about);
        schema_destroy(schema);
    }
    return true;
}

static bool guess(const values_t *values, char **files, int count, err_t *err) {
    manifest_t manifest = {.files = NULL};
    manifest_options_t reading = {.input_name = NULL};
    guessed_t guessed = {.yaml = NULL};
    if (!count)
        return err_set(err, STATUS_USAGE, "--guess needs a file");
    bool ok = manifest_build(&manifest, files, (size_t)count, &reading, err) &&
              guess_inputs(&manifest, &values->load.spec.guess, &guessed, err);
    if (ok)
        out_bytes(guessed.yaml, strlen(guessed.yaml));
    if (ok && guessed.unfit)
        log_warn("%s", guessed.unfit);
    guessed_free(&guessed);
    manifest_free(&manifest);
    return ok;
}

static int refuse_word(const char *word, err_t *err) {
    text_t line = {.length = 0};
    shell_quote_option(&line, "--show", word);
    char *meant = text_take_or_end(&line);
    err_set(err, STATUS_USAGE, "tipple formats takes no '%s'; did you mean%s?", word, meant);
    free(meant);
    return STATUS_USAGE;
}

static int answer(void *context, char **words, int count, const again_t *again, err_t *err) {
    values_t *values = context;
    guess_options_t *guessing = &values->load.spec.guess;
    (void)again;
    if (count && !values->guess)
        return refuse_word(words[0], err);
    if (!values->guess && (guessing->bad_value_given || !load_options_settle(&values->load, "", err)))
        return err_set(err, STATUS_USAGE, "--with, --type and --on-bad-value go with --guess"), STATUS_USAGE;
    if (!load_options_settle(&values->load, NULL, err))
        return STATUS_USAGE;
    bool ok = values->guess   ? guess(values, words, count, err)
              : values->show  ? show(values->show, err)
              : values->check ? check(values->check, err)
                              : list(err);
    return ok && cli_flush(err) ? STATUS_OK : (int)err->status;
}

static int run(int argc, char **argv, const command_t *command, err_t *err) {
    values_t values = {.guess = false};
    load_options_init(&values.load);
    return results_run(command, argc, argv, &values, answer, err);
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
    .load_at = offsetof(values_t, load),
    .apart = apart,
    .run = run,
};
