#include "cli/options/load_rows.h"
#include "base/out.h"
#include "base/log.h"
#include "base/numbers/units.h"
#include "verify/verify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    verify_spec_t spec;
    texts_list_t filters, retry;
    bool json;
} values_t;

static bool read_sample(void *values, const char *text, err_t *err) {
    char *end;
    errno = 0;
    double percent = strtod(text, &end);
    if (end == text || errno || (*end && strcmp(end, "%") != 0) || !(percent > 0 && percent <= 100))
        return err_set(err, STATUS_USAGE, "--sample: '%s' is not a share; write it like 10%% or 0.5%%", text);
    ((values_t *)values)->spec.sample_percent = percent;
    return true;
}

#define AT(name) .offset = offsetof(values_t, name)

static const option_t options[] = {
    {.name = "uri",
     .argument = "URI",
     .kind = OPTION_TEXT,
     AT(spec.uri),
     .environment = "TIPPLE_URI",
     .help = "The collection: mongodb://HOST/DATABASE.COLLECTION."},
    {.name = "format",
     .letter = 'f',
     .argument = "NAME",
     .kind = OPTION_TEXT,
     AT(spec.format),
     .environment = "TIPPLE_FORMAT",
     .help = "The format that the files were loaded with."},
    {.name = "threads",
     .letter = 'j',
     .argument = "N",
     .kind = OPTION_COUNT32,
     AT(spec.threads),
     .least = 1,
     .most = LIMITS_MOST_THREADS,
     .help = "Threads that compare, each with a connection of its own (default: twice the CPUs, 4 to 16)."},
    {.name = "retry",
     .argument = "FILE",
     .kind = OPTION_LIST,
     AT(retry),
     .help = "A reject file that was fixed and loaded: what it describes must be there, too. May be given "
             "several times."},
    {.name = "filter",
     .argument = "EXPR",
     .kind = OPTION_LIST,
     AT(filters),
     .help = "The filter of the load. Not needed: the catalog has it."},
    {.name = "sample",
     .argument = "P%",
     .kind = OPTION_CUSTOM,
     .custom = read_sample,
     .help = "Look at this share of the blocks only, the same ones each time. Documents in no such block are "
             "not seen."},
    {.name = "quick",
     .kind = OPTION_FLAG,
     AT(spec.quick),
     .help = "Compare only the number and the bytes of each block's documents: no document is sent. A value "
             "that was changed for another of the same length is not seen, nor are documents of one block "
             "that make "
             "up for each other in number and size."},
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
    LOAD_ROW_MAX_RECORD(values_t, spec.max_record, "As it was for the load (default 16M)."),
    LOAD_ROW_MEMORY(values_t, spec.memory, "Memory for text on its way (default 256M)."),
    {.name = "input-name",
     .argument = "NAME",
     .kind = OPTION_TEXT,
     AT(spec.input_name),
     .help = "The name that stdin had when it was loaded."},
    {.name = "patience",
     .argument = "TIME",
     .kind = OPTION_TIME,
     AT(spec.patience_ns),
     .environment = "TIPPLE_PATIENCE",
     .help = "How long a server may be away (default 30s)."},
    {.name = "json", .kind = OPTION_FLAG, AT(json), .help = "Print the result as JSON."},
    {.name = NULL},
};

static bool check(values_t *values, char **inputs, int count, err_t *err) {
    verify_spec_t *spec = &values->spec;
    if (!spec->uri)
        return err_set(err, STATUS_USAGE,
                       "--uri is missing: the collection to verify, such as --uri "
                       "mongodb://127.0.0.1/mot.results (or set TIPPLE_URI)");
    if (!spec->format)
        return err_set(err, STATUS_USAGE,
                       "--format is missing: the one that the files were loaded with, such as --format mot");
    if (!count)
        return err_set(err, STATUS_USAGE, "nothing to verify: give the files that were loaded");
    spec->inputs = inputs;
    spec->input_count = (size_t)count;
    spec->filters = values->filters.items;
    spec->filter_count = values->filters.count;
    spec->retry = values->retry.items;
    spec->retry_count = values->retry.count;
    return true;
}

/* --- differences
 * ---------------------------------------------------------------------------------------------- */

static void print_changed(const changed_t *changed) {
    if (!changed->field[0])
        out_print("its fields are in another order");
    else if (!changed->stored[0])
        out_print("%s is not there; the file says %s", changed->field, changed->expected);
    else if (!changed->expected[0])
        out_print("it has a field %s, %s, of which the file does not know", changed->field, changed->stored);
    else
        out_print("%s is %s; the file says %s", changed->field, changed->stored, changed->expected);
    if (changed->more)
        out_print(" (and %u more field%s)", changed->more, changed->more == 1 ? "" : "s");
}

/* "a.csv lines 57 to 98 (42 records; offset 4711, _id 4611686018427388021 to ...)" */
static void print_place(const difference_t *difference) {
    char records[UNITS_MAX];
    bool many = difference->last_line > difference->line;
    if (difference->other_id)
        out_print("_id %s", difference->other_id);
    else if (!difference->name)
        out_print("_id %" PRId64, difference->id);
    if (!difference->name)
        return;
    out_print("%s", difference->name);
    if (many)
        out_print(" lines %" PRIu64 " to %" PRIu64, difference->line, difference->last_line);
    else if (difference->line)
        out_print(" line %" PRIu64, difference->line);
    out_print(" (");
    if (difference->records > 1)
        out_print("%s records; ", units_count(records, difference->records));
    out_print("offset %" PRIu64 ", _id %" PRId64, difference->offset, difference->id);
    if (difference->last_id != difference->id)
        out_print(" to %" PRId64, difference->last_id);
    out_print(")");
}

static void print_difference(const difference_t *difference) {
    out_print("%-10s ", difference_names[difference->kind]);
    print_place(difference);
    if (difference->kind == DIFFERENCE_DUPLICATED)
        out_print(": there is another document of this _id");
    if (difference->changed) {
        out_print(difference->kind == DIFFERENCE_DUPLICATED ? ", in which " : ": ");
        print_changed(difference->changed);
    } else if (difference->why) {
        out_print(": %s", difference->why);
    }
    out_print("\n");
}

static void print_differences(const verify_result_t *result) {
    char more[UNITS_MAX];
    for (difference_kind_t kind = 0; kind < DIFFERENCE_KINDS; kind++) {
        size_t count;
        const difference_t *list = differences_of(result->differences, kind, &count);
        uint64_t told = 0, all = differences_count(result->differences, kind);
        for (size_t i = 0; i < count; i++) {
            print_difference(&list[i]);
            told += list[i].records;
        }
        if (told < all)
            out_print("%-10s %s%s more (--max-differences)\n", difference_names[kind], told ? "and " : "",
                      units_count(more, all - told));
    }
}

static void print_json_difference(const difference_t *difference) {
    out_print("{\"kind\":\"%s\",\"file\":", difference_names[difference->kind]);
    if (difference->name)
        out_json(difference->name);
    else
        out_print("null");
    if (difference->name)
        out_print(",\"offset\":%" PRIu64, difference->offset);
    if (difference->line)
        out_print(",\"line\":%" PRIu64 ",\"last_line\":%" PRIu64, difference->line, difference->last_line);
    out_print(",\"documents\":%" PRIu64 ",\"id\":", difference->records);
    if (difference->other_id)
        out_json(difference->other_id);
    else
        out_print("%" PRId64 ",\"last_id\":%" PRId64, difference->id, difference->last_id);
    if (difference->why) {
        out_print(",\"why\":");
        out_json(difference->why);
    }
    if (difference->changed) {
        out_print(",\"field\":");
        out_json(difference->changed->field);
        out_print(",\"stored\":");
        out_json(difference->changed->stored);
        out_print(",\"expected\":");
        out_json(difference->changed->expected);
        out_print(",\"more_fields\":%u", difference->changed->more);
    }
    out_print("}");
}

/* --- results
 * -------------------------------------------------------------------------------------------------- */

static double per_second(uint64_t count, int64_t ns) {
    return ns > 0 ? (double)count * 1e9 / (double)ns : 0;
}

static void print_json(const verify_result_t *result, const values_t *values, int status) {
    out_print("{\"schema\":1,\"command\":\"verify\",\"status\":%d,\"documents\":%" PRIu64
              ",\"as_expected\":%" PRIu64,
              status, result->documents, result->same);
    for (difference_kind_t kind = 0; kind < DIFFERENCE_KINDS; kind++)
        out_print(",\"%s\":%" PRIu64, difference_names[kind], differences_count(result->differences, kind));
    out_print(",\"expected\":%" PRIu64 ",\"read\":%" PRIu64 ",\"rejected\":%" PRIu64 ",\"filtered\":%" PRIu64
              ",\"fixed\":%" PRIu64 ",\"files\":%" PRIu64 ",\"files_unfinished\":%" PRIu64
              ",\"files_in_catalog\":%" PRIu64,
              result->expected, result->records, result->rejected, result->filtered, result->fixed,
              result->files, result->unfinished_files, result->catalog_files);
    if (result->counted)
        out_print(",\"documents_in_collection\":%" PRIu64 ",\"documents_of_other_files\":%" PRIu64
                  ",\"changed_meanwhile\":%" PRIu64,
                  result->all_documents, result->other_documents, result->changed);
    else
        out_print(
            ",\"documents_in_collection\":null,\"documents_of_other_files\":null,\"changed_meanwhile\":null");
    out_print(",\"quick\":%s,\"sample_percent\":%g,\"blocks\":%" PRIu64 ",\"blocks_looked_at\":%" PRIu64,
              values->spec.quick ? "true" : "false", values->spec.sample_percent, result->blocks,
              result->blocks_looked_at);
    out_print(",\"seconds\":%.6f,\"docs_per_second\":%.0f,\"bytes_read\":%" PRIu64 ",\"bytes_text\":%" PRIu64
              ",\"bytes_encoded\":%" PRIu64 ",\"bytes_stored\":%" PRIu64
              ",\"client_cpu_seconds\":%.6f,\"peak_memory_bytes\":%" PRIu64 ",\"retries\":%" PRIu64
              ",\"threads\":%u,\"namespace\":",
              (double)result->took_ns / 1e9, per_second(result->documents, result->took_ns),
              result->bytes_read, result->bytes_text, result->bytes_encoded, result->bytes_stored,
              (double)result->cpu_ns / 1e9, result->peak_memory_bytes, result->retries, result->threads);
    out_json(result->namespace);
    out_print(",\"format\":");
    out_json(result->format);
    out_print(",\"filter\":");
    out_json(result->filter);
    out_print(",\"differences\":[");
    bool first = true;
    for (difference_kind_t kind = 0; kind < DIFFERENCE_KINDS; kind++) {
        size_t count;
        const difference_t *list = differences_of(result->differences, kind, &count);
        for (size_t i = 0; i < count; i++, first = false) {
            out_print(first ? "\n" : ",\n");
            print_json_difference(&list[i]);
        }
    }
    out_print("]}\n");
}

static void print_counts(const verify_result_t *result, const values_t *values) {
    char number[UNITS_MAX], files[UNITS_MAX], took[UNITS_MAX], rate[UNITS_MAX], in[UNITS_MAX];
    bool quick = values->spec.quick, first = true;
    out_print("verified %s documents of %s file%s:", units_count(number, result->same),
              units_count(files, result->files), result->files == 1 ? "" : "s");
    for (difference_kind_t kind = 0; kind < DIFFERENCE_KINDS; kind++) {
        uint64_t found = differences_count(result->differences, kind);
        bool meant = kind == DIFFERENCE_UNEQUAL                                 ? quick
                     : kind == DIFFERENCE_UNRELATED || kind == DIFFERENCE_EXTRA ? true
                                                                                : !quick;
        if (!meant)
            continue;
        out_print("%s %s %s%s", first ? "" : ",", found ? units_count(number, found) : "none",
                  difference_names[kind],
                  kind != DIFFERENCE_UNEQUAL ? ""
                  : found == 1               ? " block"
                                             : " blocks");
        first = false;
    }
    out_print("      %s   %s docs/s   %s/s in\n", units_time(took, result->took_ns),
              units_rate(rate, per_second(result->documents, result->took_ns)),
              units_size(in, (uint64_t)per_second(result->bytes_read, result->took_ns)));
}

static void print_summary(const verify_result_t *result, const values_t *values) {
    const verify_spec_t *spec = &values->spec;
    char a[UNITS_MAX], b[UNITS_MAX], c[UNITS_MAX], d[UNITS_MAX];
    print_differences(result);
    print_counts(result, values);
    if (log_level() < LOG_NORMAL)
        return;
    if (result->rejected || result->filtered || result->fixed)
        out_print("of %s records read: %s rejected and %s filtered (not expected), %s fixed (expected)\n",
                  units_count(a, result->records), units_count(b, result->rejected),
                  units_count(c, result->filtered), units_count(d, result->fixed));
    if (spec->sample_percent < 100)
        out_print("a sample: %s of %s blocks were looked at, and nothing else\n",
                  units_count(a, result->blocks_looked_at), units_count(b, result->blocks));
    if (spec->quick)
        out_print(
            "quick: only the number and the bytes of each block's documents were compared; a value that was "
            "changed for another of the same length is not seen, nor are documents of one block that make up "
            "for "
            "each other in number and size\n");
    if (result->other_documents)
        out_print("not looked at: %s documents of %s other file%s in the catalog\n",
                  units_count(a, result->other_documents),
                  units_count(b, result->catalog_files - result->files),
                  result->catalog_files - result->files == 1 ? "" : "s");
    if (result->changed)
        out_print("changed meanwhile: %s documents came or went after they had been looked at\n",
                  units_count(a, result->changed));
    if (!result->counted && spec->sample_percent == 100)
        out_print("documents that belong to no file were not looked for\n");
    if (differences_count(result->differences, DIFFERENCE_MISSING))
        out_print(
            "missing: a record that the server refused when it was loaded is missing as well; the reject "
            "file of the load has it\n");
    if (result->retries)
        out_print("looked %s times again, because the server was away\n", units_count(a, result->retries));
    if (result->documents)
        out_print("client CPU %.2f us a doc      peak memory %s\n",
                  (double)result->cpu_ns / 1e3 / (double)result->documents,
                  units_size(a, result->peak_memory_bytes));
}

static int run(int argc, char **argv, const command_t *command, err_t *err) {
    values_t values = {.json = false};
    verify_result_t result;
    int rest;
    bool help;
    verify_spec_init(&values.spec);
    if (!cli_read(command, argc, argv, &values, &rest, &help, err))
        return (int)err->status;
    if (help)
        return STATUS_OK;
    if (!check(&values, argv, rest, err))
        return (int)err->status;
    bool ok = verify_run(&values.spec, &result, err);
    int status = ok ? STATUS_OK : (int)err->status;
    bool began = ok || status == STATUS_DIFFERENT || result.blocks;
    if (began && values.json)
        print_json(&result, &values, status);
    else if (began && status != STATUS_USAGE)
        print_summary(&result, &values);
    verify_free_result(&result);
    return cli_finish(status, err);
}

const command_t command_verify = {
    .name = "verify",
    .arguments = "FILE|DIRECTORY|PATTERN|-...",
    .about = "compare a collection with the files that were loaded into it",
    .help =
        "Reads each file again, makes its documents again, reads those of the collection (as the majority "
        "has them), and\n"
        "compares both byte by byte. Names what is missing, extra, duplicated (one _id on two shards), "
        "changed or unrelated\n"
        "(under an _id that no file can have given) by file, line and _id. Nothing is written. Exit status "
        "7: something\n"
        "differs.",
    .examples =
        "  tipple verify --format mot --uri \"$URI\" data/*.gz\n"
        "  tipple verify -f mot --uri \"$URI\" data/*.gz --retry mot.results.rejects   # after fixing\n"
        "  tipple verify -f mot --uri \"$URI\" data/*.gz --sample 1%                    # a first look",
    .needs_driver = true,
    .options = options,
    .run = run,
};
