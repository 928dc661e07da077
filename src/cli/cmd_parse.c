#include "base/chars.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "base/text.h"
#include "base/threads.h"
#include "catalog/register/register.h"
#include "cli/options/cli.h"
#include "format/cut/ends.h"
#include "format/record/record.h"
#include "format/records.h"
#include "format/schema/schema.h"
#include "input/cutter.h"
#include "input/manifest.h"
#include "load/blocks/block.h"
#include "load/plan/format.h"
#include "load/plan/inputs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { AHEAD = 16 << 20 }; /* of an object */

typedef enum { EMIT_JSON, EMIT_RAW, EMIT_BSON, EMIT_NONE } emit_kind_t;

typedef struct {
    load_options_t load;
    bool relaxed, ids;
    uint64_t max_rejects;
    emit_kind_t emit;
} values_t;

static values_t values = {.max_rejects = UINT64_MAX};

static bool read_emit(void *kind, const char *text, err_t *err) {
    static const char *const kinds[] = {
        [EMIT_JSON] = "json", [EMIT_RAW] = "raw", [EMIT_BSON] = "bson", [EMIT_NONE] = "none"};
    int chosen = choose_word("emit", text, kinds, sizeof kinds / sizeof *kinds, err);
    if (chosen >= 0)
        *(emit_kind_t *)kind = (emit_kind_t)chosen;
    return chosen >= 0;
}

static const option_t options[] = {
    OPTION("max-rejects", COUNT, max_rejects, .group = GROUP_MISFITS, .argument = "N",
           .help = "Stop when more records than this are rejected (default: never)."),
    OPTION("emit", CUSTOM, emit, .group = GROUP_RESULT, .argument = "KIND", .offers = "json raw bson none",
           .custom = read_emit,
           .help =
               "What to print: json (canonical extended JSON, one document a line; the default), raw (the "
               "documents as records again), bson (their bytes in a row), none (only count and time)."),
    OPTION("relaxed", FLAG, relaxed, .help = "Print relaxed extended JSON."),
    OPTION("ids", FLAG, ids, .help = "With the _id that each document would have in a new collection."),
    {.name = NULL},
};

typedef struct {
    schema_t *schema;
    filter_t *filter;
    manifest_t manifest;
    source_kit_t kit;
    pool_t *pool;
    records_t *reader;
    emit_t *emitter;
    emitted_t emitted; /* what --emit raw prints */
    records_place_t place;
    uint64_t read, documents, rejected, filtered, text_bytes;
    step_t step;
    uint64_t next_base; /* where a new collection's next extent would start */
    uint64_t next_ordinal;
    bool replaced; /* a text was not UTF-8 */
    /* the file, the cut and the record that are read now */
    const input_file_t *input;
    dialect_t dialect;
    const dialect_t *written; /* by --emit raw */
    const cut_t *cut;
    record_t record;
    shape_t shape;
} parse_t;

static uint64_t line_of(const parse_t *parse) {
    return parse->cut->first_line + parse->record.line;
}

static bool print_json(parse_t *parse, const bson_t *document, err_t *err) {
    size_t length;
    uint64_t replaced;
    char *json = ejson_print_telling(document, values.relaxed, &length, &replaced);
    if (!json)
        return err_set(err, STATUS_INPUT, "a document cannot be shown as JSON");
    if (replaced && !parse->replaced)
        log_warn(
            "%s:%" PRIu64 " (offset %" PRIu64
            "): the first text that is not UTF-8: such bytes are shown as U+FFFD, and loaded as they are",
            parse->input->name, line_of(parse), parse->cut->offset + parse->record.offset);
    parse->replaced |= replaced > 0;
    out_bytes(json, length);
    out_print("\n");
    free(json);
    return true;
}

static void print_raw(void *to, const void *bytes, size_t length) {
    (void)to;
    out_bytes(bytes, length);
}

static bool reject(parse_t *parse, const char *reason, err_t *err) {
    const cut_t *cut = parse->cut;
    parse->rejected++;
    log_warn("rejected %s:%" PRIu64 ":%u (offset %" PRIu64 "): %s", parse->input->name, line_of(parse),
             record_column(&parse->record, cut->in_line), cut->offset + parse->record.offset, reason);
    return parse->rejected <= values.max_rejects ||
           err_set(err, STATUS_TOO_MANY_REJECTED,
                   "stopped: %" PRIu64 " record%s rejected, more than --max-rejects allows", parse->rejected,
                   parse->rejected == 1 ? " was" : "s were");
}

static bool reject_long(parse_t *parse, err_t *err) {
    parse->record.column = 1;
    return reject(parse, CUTTER_TOO_LONG, err);
}

/* The record's line, with other bytes in its place. */
static emitted_line_t line_with(const parse_t *parse, const uint8_t *text, size_t length) {
    const record_t *record = &parse->record;
    return (emitted_line_t){.text = text,
                            .length = length,
                            .end = parse->cut->buffer.bytes + record->offset + record->length,
                            .end_length = record->line_end};
}

static bool print_document(parse_t *parse, err_t *err) {
    bson_t document;
    const uint8_t *text;
    size_t length;
    if (values.emit == EMIT_NONE)
        return true;
    if (values.emit == EMIT_BSON) {
        out_bytes(parse->place.bytes, parse->record.document_length);
        return true; /* that stdout cannot be written is said at the end of the cut */
    }
    bson_init_static(&document, parse->place.bytes, parse->record.document_length);
    if (values.emit == EMIT_JSON)
        return print_json(parse, &document, err);
    if (!emit_record(parse->emitter, parse->written, &document, &parse->shape, &text, &length, err)) {
        if (err->status == STATUS_HOST)
            return false;
        parse->documents--;
        return reject(parse, "its document cannot be written as a record again", err);
    }
    emitted_line_t line = line_with(parse, text, length);
    line.record = true;
    return emitted_line(&parse->emitted, &line, err);
}

static bool take_record(parse_t *parse, parsed_t parsed, err_t *err) {
    const record_t *record = &parse->record;
    if (parsed != PARSED_DOCUMENT && parsed != PARSED_REJECT && parsed != PARSED_OTHER_HEADER) {
        emitted_line_t line = line_with(parse, parse->cut->buffer.bytes + record->offset, record->length);
        line.passed = parsed == PARSED_COMMENT || parsed == PARSED_SKIPPED;
        return values.emit != EMIT_RAW || emitted_line(&parse->emitted, &line, err);
    }
    if (parsed == PARSED_OTHER_HEADER)
        return other_header_say(parse->input->name, line_of(parse), 0, err);
    parse->read++;
    if (parsed == PARSED_REJECT)
        return reject(parse, record->reason, err);
    if (record->length > CUTTER_RECORD)
        return reject_long(parse, err);
    if (parse->filter && !filter_passes(parse->filter, parse->place.bytes, record->document_length)) {
        parse->filtered++;
        return true;
    }
    parse->documents++;
    return print_document(parse, err);
}

static bool parse_cut(parse_t *parse, const cut_t *cut, uint32_t ordinal, uint64_t base, err_t *err) {
    const bool raw = values.emit == EMIT_RAW;
    const uint8_t *text = cut->buffer.bytes;
    parse->cut = cut;
    parse->record = (record_t){0};
    records_from(parse->reader, parse->input->name);
    records_begin(parse->reader, &parse->dialect, text, cut->length, cut->offset == 0,
                  !raw && (values.ids || values.load.spec.id),
                  record_id_make(record_id_lane(ordinal, cut->offset), base + cut->offset));
    if (raw && cut->offset == 0) {
        parse->written = emitted_begin(&parse->emitted, &parse->dialect, parse->input->name);
        if (lines_bom(text, cut->length))
            emitted_mark(&parse->emitted);
    }
    while (parse->read < values.load.spec.limit) {
        parsed_t parsed =
            records_next_into(parse->reader, &parse->place, &parse->record, raw ? &parse->shape : NULL);
        if (parsed == PARSED_END)
            break;
        if (parsed == PARSED_MEMORY)
            return err_memory(err, parse->record.length);
        if (!take_record(parse, parsed, err))
            return false;
    }
    if (!cut->oversize.length || parse->read >= values.load.spec.limit)
        return true;
    parse->record =
        (record_t){.offset = cut->length, .line = (uint32_t)ends_lines(parse->schema, text, cut->length)};
    parse->read++;
    return reject_long(parse, err);
}

static bool parse_stream(parse_t *parse, source_t *source, uint32_t ordinal, uint64_t base, err_t *err) {
    cutter_t *cutter = cutter_new(source, parse->pool, CUTTER_RECORD, err);
    if (!cutter)
        return false;
    int got = 1;
    bool ok = cutter_begin(cutter, parse->schema, parse->input->name, &parse->dialect, err);
    while (ok && parse->read < values.load.spec.limit) {
        cut_t cut;
        got = cutter_next(cutter, &cut, err);
        if (got <= 0)
            break;
        ok = parse_cut(parse, &cut, ordinal, base, err);
        parse->text_bytes += cut.length;
        pool_give(parse->pool, &cut.buffer);
        parse->cut = NULL;
        if (ok && stop_signal())
            ok = err_set(err, (status_t)(128 + stop_signal()), "interrupted");
        if (ok && out_problem)
            ok = cli_flush(err);
    }
    cutter_destroy(cutter);
    return ok && got >= 0;
}

static bool parse_file(parse_t *parse, const input_file_t *input, err_t *err) {
    source_t *source = source_open_in(&parse->kit, input, err);
    if (!source)
        return false;
    const uint64_t base = parse->next_base;
    const uint32_t ordinal = (uint32_t)parse->next_ordinal;
    parse->input = input;
    parse->next_ordinal += room_ordinals(input);
    parse->next_base += room_units(input) * RECORD_ID_EXTENT_UNIT;
    const bool ok = parse_stream(parse, source, ordinal, base, err);
    source_close(source);
    return ok;
}

static bool open_format(parse_t *parse, err_t *err) {
    const load_spec_t *spec = &values.load.spec;
    guessed_t guessed = {.yaml = NULL};
    parse->schema = spec->format ? format_open(spec->format, err)
                                 : guess_inputs_open(&parse->manifest, &spec->guess, &guessed, err);
    guessed_free(&guessed);
    return parse->schema && manifest_decode(&parse->manifest, parse->schema->charset) &&
           (!spec->guess.bad_value_given || schema_set_bad_value(parse->schema, spec->guess.bad_value, err));
}

static bool parse_all(parse_t *parse, char **args, int count, err_t *err) {
    const load_spec_t *spec = &values.load.spec;
    manifest_t *const manifest = &parse->manifest;
    const bool raw = values.emit == EMIT_RAW;
    if (!manifest_build(manifest, args, (size_t)count, NULL, err) || !open_format(parse, err))
        return false;
    if (raw && spec->id)
        return err_set(err, STATUS_USAGE, "--id: a record has no _id; leave it out with --emit raw");
    if ((raw && !emit_possible(parse->schema, err)) ||
        (spec->id && !own_id_set(parse->schema, spec->id, err)) ||
        (spec->filter_count &&
         !(parse->filter = filter_parse(parse->schema, spec->filters, spec->filter_count, err))) ||
        !check_inputs(parse->schema, manifest, NULL, false, NULL, err))
        return false;
    parse->kit.pace = (remote_pace_t){.ahead = AHEAD, .connections = 4};
    parse->pool = pool_new(1 << 30, CUTTER_BUFFER);
    parse->reader = records_new(parse->schema);
    parse->emitter = raw ? emit_new(parse->schema) : NULL;
    parse->emitted = (emitted_t){.schema = parse->schema, .head = CUTTER_WINDOW, .put = print_raw};
    if (!parse->pool || !parse->reader || (raw && !parse->emitter))
        return err_memory(err, 1);
    bool ok = true;
    for (size_t i = 0; ok && i < manifest->count; i++) {
        step_change(&parse->step, "reading %s", manifest->files[i].name);
        ok = parse_file(parse, &manifest->files[i], err);
    }
    err_t ending; /* what was said first counts */
    return emitted_end(&parse->emitted, ok ? err : &ending) && ok;
}

/* ---- what is said at the end ---- */

/* "kept as text: 3 values (m 2, v 1)"; NULL: every value fits its type. free. */
static char *bad_values(const parse_t *parse) {
    enum { MOST = 5 };
    const bad_values_t *unfit = parse->reader ? records_bad(parse->reader) : NULL;
    const schema_t *schema = parse->schema;
    char count[UNITS_MAX];
    size_t fields = 0;
    text_t line = {.length = 0};
    if (!unfit || !unfit->count || schema->bad_value == BAD_VALUE_REJECT)
        return NULL;
    cli_print_bad_values(&line, schema->bad_value, schema_any_fields(schema), unfit->binary, unfit->count);
    for (size_t i = 0; i < schema_counted(schema); i++)
        if (unfit->fields[i].count && ++fields <= MOST)
            text_print(&line, "%s%s %s", fields > 1 ? ", " : " (", schema_counted_field(schema, i)->name,
                       units_count(count, unfit->fields[i].count));
    text_print(&line, "%s", fields > MOST ? ", ...)" : fields ? ")" : "");
    return text_take_or_end(&line);
}

static const result_view_t views[] = {
    LINE(SHOW_QUIET, NULL,
         "read {read} = documents {documents} + rejected {rejected} + filtered {filtered}      {seconds}   "
         "{-records_per_second}   {-text_bytes_per_second}   CPU {-cpu_ns} ns a record"),
    LINE(SHOW_QUIET, "-passed_over",
         "no records: {lines_skipped|line} skipped, {comment_lines|comment line}"),
    {0}};

/* With --emit none the counts are what was asked for. The documents of another one may be read by a program, so what
 * matters to the user goes to the log. */
static int end(const run_t *run, const parse_t *parse, int64_t took_ns, int64_t cpu_ns, int status,
               err_t *err) {
    char *bad = bad_values(parse), count[UNITS_MAX];
    const bool none = values.emit == EMIT_NONE;
    const bad_values_t *unfit = parse->reader ? records_bad(parse->reader) : NULL;
    const uint64_t twice = unfit ? unfit->fields[bad_values_twice(unfit)].count : 0;
    const passed_over_t passed = parse->reader ? records_passed_over(parse->reader) : (passed_over_t){0};
    result_t *result = result_new("parse", views);
    result_put(&result->document, AS_COUNT("read", parse->read), AS_COUNT("documents", parse->documents),
               AS_COUNT("rejected", parse->rejected), AS_COUNT("filtered", parse->filtered),
               AS_COUNT("lines_skipped", passed.skipped), AS_COUNT("comment_lines", passed.comments),
               AS_FLAG("-passed_over", passed.skipped || passed.comments), AS_SECONDS("seconds", took_ns),
               AS_NUMBER("-records_per_second", result_rate(parse->read, took_ns)),
               AS_NUMBER("-text_bytes_per_second", result_rate(parse->text_bytes, took_ns)),
               AS_NUMBER("-cpu_ns", (double)cpu_ns / (double)(parse->read ? parse->read : 1)));
    if (bad)
        log_note("%s", bad);
    free(bad);
    if (twice)
        log_warn("%s local time%s that the clocks showed twice, taken as the first of the two",
                 units_count(count, twice), units_s(twice));
    return cli_end(run, result, none, status, err);
}

static int parse_inputs(run_t *run, err_t *err) {
    static char output[1 << 18];
    static parse_t parse;
    if (!cli_takes_inputs(run, NULL, err))
        return (int)err->status;
    setvbuf(stdout, output, _IOFBF, sizeof output);
    const int64_t started = clock_now_ns(), cpu = clock_process_cpu_ns();
    if (!isatty(STDOUT_FILENO)) /* records move there themselves */
        step_begin(&parse.step, "looking at the files");
    const bool ok = parse_all(&parse, run->words, run->count, err);
    step_end(&parse.step);
    int status = ok ? parse.rejected ? STATUS_SOME_REJECTED : STATUS_OK : (int)err->status;
    if (ok || parse.read)
        status = end(run, &parse, clock_now_ns() - started, clock_process_cpu_ns() - cpu, status, err);
    free(parse.place.bytes);
    text_free(&parse.emitted.kept);
    emit_destroy(parse.emitter);
    records_destroy(parse.reader);
    pool_destroy(parse.pool);
    source_kit_close(&parse.kit);
    manifest_free(&parse.manifest);
    filter_free(parse.filter);
    schema_destroy(parse.schema);
    return status;
}

const command_t command_parse = {
    .name = "parse",
    .group = COMMANDS_LOAD,
    .arguments = "FILE|DIRECTORY|PATTERN|-...",
    .about = "turn records into documents and print them",
    .help = "Reads the same inputs as `tipple load` and prints the documents instead of loading them, in "
            "order. Records that no document can be made of are named on stderr, and the exit status is 2. "
            "Without --format it is guessed, and the guess is named on stderr.",
    .examples = "  tipple parse my.csv | head -3                            # as it is guessed\n"
                "  tipple parse -f mot test_result_2023.csv | head -3\n"
                "  tipple parse -f mot --emit raw big.zip > again.csv       # as records again\n"
                "  tipple parse -f ./my.yaml --emit none my.csv             # count and time",
    .options = options,
    .takes = TAKEN_BY_PARSE,
    .values = &values,
    .body = parse_inputs,
};
