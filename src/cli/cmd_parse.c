#include "base/chars.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "base/text.h"
#include "base/threads.h"
#include "catalog/register/room.h"
#include "cli/options/cli.h"
#include "format/cut/ends.h"
#include "format/emit.h"
#include "format/emitted.h"
#include "format/filter.h"
#include "format/format.h"
#include "format/record/own_id.h"
#include "format/schema/schema_bad_value.h"
#include "input/cutter.h"
#include "input/magic.h"
#include "input/manifest.h"
#include "load/before/check_inputs.h"
#include "load/before/guess_inputs.h"
#include "load/blocks/other_header.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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
               "documents as records again), bson (the documents' bytes, one after the other), none (only "
               "count and time)."),
    OPTION("relaxed", FLAG, relaxed, .help = "Print relaxed extended JSON."),
    OPTION("ids", FLAG, ids, .help = "With the _id that each document would have in a new collection."),
    {.name = NULL},
};

typedef struct {
    schema_t *schema;
    filter_t *filter;
    manifest_t manifest;
    source_kit_t *kit;
    pool_t *pool;
    records_t *reader;
    emit_t *emitter;
    records_place_t place;
    uint64_t read, documents, rejected, filtered, text_bytes, bson_bytes;
    step_t step;
    uint64_t next_base; /* where a new collection's next extent would start */
    uint64_t next_ordinal;
    emitted_t *emitted; /* what --emit raw prints */
    bool replaced;      /* a text was not UTF-8 */
} parse_t;

/* A file's own position in what is parsed. */
typedef struct {
    const input_file_t *input;
    dialect_t *dialect;
    const dialect_t *written; /* by --emit raw */
    uint32_t ordinal;
    uint64_t base;
} file_t;

static bool print_json(parse_t *parse, const file_t *file, const cut_t *cut, const record_t *record,
                       const bson_t *document, err_t *err) {
    size_t length;
    uint64_t replaced;
    char *json = ejson_print_telling(document, values.relaxed, &length, &replaced);
    if (!json)
        return err_set(err, STATUS_INPUT, "a document cannot be shown as JSON");
    if (replaced && !parse->replaced)
        log_warn("%s:%" PRIu64 " (offset %" PRIu64 "): the first text that is not UTF-8: U+FFFD is shown for "
                 "each byte that is none; a load stores the bytes as they are",
                 file->input->name, cut->first_line + record->line, cut->offset + record->offset);
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

/* Behind lines that are left out a record may stand that begins as other files do. */
static bool may_begin(const uint8_t *text, size_t length, err_t *err) {
    const char *name;
    const magic_t magic = magic_of(text, length, &name);
    return magic == MAGIC_TEXT || magic == MAGIC_PROGRAM ||
           err_set(err, STATUS_INPUT,
                   "the records cannot be printed: the first of them begins as %s does, and the new file "
                   "would be taken for that",
                   magic == MAGIC_UTF16     ? "text of UTF-16"
                   : magic == MAGIC_REJECTS ? "a reject file of tipple"
                                            : name);
}

static bool reject(parse_t *parse, const file_t *file, const cut_t *cut, const record_t *record,
                   const char *reason, err_t *err) {
    parse->rejected++;
    log_warn("rejected %s:%" PRIu64 ":%u (offset %" PRIu64 "): %s", file->input->name,
             cut->first_line + record->line, record_column(record, cut->in_line),
             cut->offset + record->offset, reason);
    if (parse->rejected <= values.max_rejects)
        return true;
    return err_set(err, STATUS_TOO_MANY_REJECTED,
                   "stopped: %" PRIu64 " record%s rejected, more than --max-rejects allows", parse->rejected,
                   parse->rejected == 1 ? " was" : "s were");
}

static bool reject_long(parse_t *parse, const file_t *file, const cut_t *cut, record_t *record, err_t *err) {
    record->column = 1;
    return reject(parse, file, cut, record, CUTTER_TOO_LONG, err);
}

static bool print_document(parse_t *parse, const file_t *file, const cut_t *cut, const record_t *record,
                           const shape_t *shape, err_t *err) {
    bson_t document;
    if (values.emit == EMIT_NONE)
        return true;
    if (values.emit == EMIT_BSON) {
        out_bytes(parse->place.bytes, record->document_length);
        return true; /* what cannot be written is told at the end of the cut */
    }
    bson_init_static(&document, parse->place.bytes, record->document_length);
    if (values.emit == EMIT_JSON)
        return print_json(parse, file, cut, record, &document, err);
    const uint8_t *text;
    size_t length;
    if (!emit_record(parse->emitter, file->written, &document, shape, &text, &length, err)) {
        if (err->status == STATUS_HOST)
            return false;
        parse->documents--;
        return reject(parse, file, cut, record, "its document cannot be written as a record again", err);
    }
    const emitted_line_t line = {.text = text,
                                 .length = length,
                                 .end = cut->buffer.bytes + record->offset + record->length,
                                 .end_length = record->line_end,
                                 .record = true};
    return emitted_line(parse->emitted, &line, err);
}

static bool take_record(parse_t *parse, const file_t *file, const cut_t *cut, record_t *record,
                        parsed_t parsed, const shape_t *shape, err_t *err) {
    const uint8_t *text = cut->buffer.bytes + record->offset;
    if (parsed != PARSED_DOCUMENT && parsed != PARSED_REJECT && parsed != PARSED_OTHER_HEADER) {
        const emitted_line_t line = {.text = text,
                                     .length = record->length,
                                     .end = text + record->length,
                                     .end_length = record->line_end,
                                     .comment = parsed == PARSED_COMMENT,
                                     .skipped = parsed == PARSED_SKIPPED};
        return values.emit != EMIT_RAW || emitted_line(parse->emitted, &line, err);
    }
    if (parsed == PARSED_OTHER_HEADER)
        return other_header_say(file->input->name, cut->first_line + record->line, err);
    parse->read++;
    if (parsed == PARSED_REJECT)
        return reject(parse, file, cut, record, record->reason, err);
    if (record->length > CUTTER_RECORD)
        return reject_long(parse, file, cut, record, err);
    if (parse->filter && !filter_passes(parse->filter, parse->place.bytes, record->document_length)) {
        parse->filtered++;
        return true;
    }
    parse->documents++;
    parse->bson_bytes += record->document_length;
    return print_document(parse, file, cut, record, shape, err);
}

static bool parse_cut(parse_t *parse, file_t *file, const cut_t *cut, err_t *err) {
    record_t record = {0};
    shape_t shape;
    bool raw = values.emit == EMIT_RAW;
    int64_t id_base = record_id_make(record_id_lane(file->ordinal, cut->offset), file->base + cut->offset);
    records_from(parse->reader, file->input->name);
    records_begin(parse->reader, file->dialect, cut->buffer.bytes, cut->length, cut->offset == 0,
                  values.ids || values.load.spec.id, id_base);
    if (raw && cut->offset == 0) {
        file->written = emitted_begin(parse->emitted, file->dialect, file->input->name);
        if (lines_bom(cut->buffer.bytes, cut->length))
            emitted_mark(parse->emitted);
    }
    while (parse->read < values.load.spec.limit) {
        parsed_t parsed = records_next_into(parse->reader, &parse->place, &record, raw ? &shape : NULL);
        if (parsed == PARSED_END)
            break;
        if (parsed == PARSED_MEMORY)
            return err_memory(err, record.length);
        if (!take_record(parse, file, cut, &record, parsed, &shape, err))
            return false;
    }
    if (cut->oversize.length && parse->read < values.load.spec.limit) {
        record = (record_t){.offset = cut->length,
                            .line = (uint32_t)ends_lines(parse->schema, cut->buffer.bytes, cut->length)};
        parse->read++;
        return reject_long(parse, file, cut, &record, err);
    }
    return true;
}

static bool parse_stream(parse_t *parse, file_t *file, source_t *source, err_t *err) {
    cutter_t *cutter = cutter_new(source, parse->pool, CUTTER_RECORD, err);
    if (!cutter)
        return false;
    int got = 1;
    bool ok = cutter_begin(cutter, parse->schema, file->input->name, file->dialect, err);
    while (ok && parse->read < values.load.spec.limit) {
        cut_t cut;
        got = cutter_next(cutter, &cut, err);
        if (got <= 0)
            break;
        ok = parse_cut(parse, file, &cut, err);
        parse->text_bytes += cut.length;
        pool_give(parse->pool, &cut.buffer);
        if (ok && stop_signal())
            ok = err_set(err, (status_t)(128 + stop_signal()), "interrupted");
        if (ok && out_problem)
            ok = cli_flush(err);
    }
    cutter_destroy(cutter);
    return ok && got >= 0;
}

static bool parse_file(parse_t *parse, const input_file_t *input, err_t *err) {
    source_t *source = source_open_in(parse->kit, input, err);
    if (!source)
        return false;
    file_t file = {.input = input,
                   .dialect = malloc(sizeof *file.dialect),
                   .ordinal = (uint32_t)parse->next_ordinal,
                   .base = parse->next_base};
    parse->next_ordinal += room_ordinals(input);
    parse->next_base += room_units(input) * RECORD_ID_EXTENT_UNIT;
    bool ok = file.dialect ? parse_stream(parse, &file, source, err) : err_memory(err, sizeof *file.dialect);
    source_close(source);
    free(file.dialect);
    return ok;
}

static bool open_format(parse_t *parse, err_t *err) {
    guessed_t guessed = {.yaml = NULL};
    parse->schema = values.load.spec.format
                        ? format_open(values.load.spec.format, err)
                        : guess_inputs_open(&parse->manifest, &values.load.spec.guess, &guessed, err);
    guessed_free(&guessed);
    return parse->schema && (!values.load.spec.guess.bad_value_given ||
                             schema_set_bad_value(parse->schema, values.load.spec.guess.bad_value, err));
}

static bool parse_all(parse_t *parse, char **args, int count, err_t *err) {
    manifest_t *const manifest = &parse->manifest;
    if (!values.load.spec.format && !manifest_build(manifest, args, (size_t)count, NULL, err))
        return false;
    if (!open_format(parse, err))
        return false;
    if (values.emit == EMIT_RAW && !emit_possible(parse->schema, err))
        return false;
    if (values.emit == EMIT_RAW && values.load.spec.id)
        return err_set(err, STATUS_USAGE, "--id: a record has no _id; leave it out with --emit raw");
    if (values.load.spec.id && !own_id_set(parse->schema, values.load.spec.id, err))
        return false;
    if (values.load.filters.count && !(parse->filter = filter_parse(parse->schema, values.load.filters.items,
                                                                    values.load.filters.count, err)))
        return false;
    if ((values.load.spec.format && !manifest_build(manifest, args, (size_t)count, NULL, err)) ||
        !check_inputs(parse->schema, manifest, false, NULL, err))
        return false;
    parse->kit = source_kit_new();
    parse->pool = pool_new(1 << 30, CUTTER_BUFFER);
    parse->reader = records_new(parse->schema);
    parse->emitter = emit_new(parse->schema);
    parse->emitted = emitted_new(parse->schema, CUTTER_WINDOW, print_raw, NULL);
    if (!parse->kit || !parse->pool || !parse->reader || !parse->emitter || !parse->emitted)
        return err_memory(err, 1);
    emitted_ask(parse->emitted, may_begin);
    bool ok = true;
    for (size_t i = 0; ok && i < manifest->count; i++) {
        step_change(&parse->step, "reading %s", manifest->files[i].name);
        ok = parse_file(parse, &manifest->files[i], err);
    }
    err_t ending;
    if (!emitted_end(parse->emitted, &ending) && ok) {
        *err = ending;
        ok = false;
    }
    return ok;
}

/* ---- what is said at the end ---- */

/* "kept as text: 3 values (m 2, v 1)"; NULL: every value fits its type. free. */
static char *bad_values(const parse_t *parse) {
    enum { MOST = 5 };
    const uint64_t all = parse->reader ? records_bad_values(parse->reader) : 0;
    const schema_t *schema = parse->schema;
    char count[UNITS_MAX];
    size_t fields = 0;
    text_t line = {.length = 0};
    if (!all || schema->bad_value == BAD_VALUE_REJECT)
        return NULL;
    schema_tell_bad(&line, schema->bad_value, schema_any_fields(schema), all);
    for (size_t i = 0; i < schema_counted(schema); i++) {
        const uint64_t of_field = records_bad_of(parse->reader, i);
        if (of_field && fields == MOST) {
            text_print(&line, ", ...");
            break;
        }
        if (of_field)
            text_print(&line, "%s%s %s", fields++ ? ", " : " (", schema_counted_field(schema, i)->name,
                       units_count(count, of_field));
    }
    text_print(&line, "%s", fields ? ")" : "");
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
    char *bad = bad_values(parse);
    const bool none = values.emit == EMIT_NONE;
    const passed_over_t passed = parse->reader ? records_passed_over(parse->reader) : (passed_over_t){0};
    result_t *result = result_new("parse");
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
    result->views = views;
    return cli_end(run, result, none, status, err);
}

static int parse_inputs(run_t *run, err_t *err) {
    static char output[1 << 18];
    parse_t parse = {.schema = NULL};
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
    emitted_destroy(parse.emitted);
    emit_destroy(parse.emitter);
    records_destroy(parse.reader);
    pool_destroy(parse.pool);
    source_kit_free(parse.kit);
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
    .help = "Reads the same inputs as `tipple load` and prints the documents instead of loading them, "
            "in order. Records that no document can be made of are named on stderr, and the exit "
            "status is 2. Without --format it is guessed, and told on stderr.",
    .examples = "  tipple parse my.csv | head -3                            # as it is guessed\n"
                "  tipple parse -f mot test_result_2023.csv | head -3\n"
                "  tipple parse -f mot --emit raw big.zip > again.csv       # as records again\n"
                "  tipple parse -f ./my.yaml --emit none my.csv             # count and time",
    .options = options,
    .takes = TAKEN_BY_PARSE,
    .values = &values,
    .body = parse_inputs,
};
