#include "tipple/tipple.h"
#include "base/log.h"
#include "base/threads/pool.h"
#include "format/bad_values.h"
#include "format/emit.h"
#include "format/format.h"
#include "format/record/ends.h"
#include "load/blocks/other_header.h"
#include "load/load.h"

#include <mongoc/mongoc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct tipple_format {
    schema_t *schema;
};

struct tipple_reader {
    const schema_t *schema;
    records_t *records;
    emit_t *emit;
    dialect_t dialect;
    shape_t shape;
    uint8_t *text; /* with slack on either side */
    records_place_t place;
    size_t document_length;
    bool cut_off; /* an array of JSON that is not closed */
    err_t ended;  /* why nothing more is read of the text: its status is STATUS_OK where that is not so */
};

static bool tell(tipple_error_t *error, const err_t *err) {
    if (!error)
        return false;
    error->status = (int)err->status;
    memcpy(error->text, err->text, sizeof error->text);
    error->text[sizeof error->text - 1] = '\0'; /* a long list of files may be cut */
    return false;
}

/* A library does not talk: what there is to say is in tipple_error_t. */
static void be_silent(void) {
    log_set_level(LOG_SILENT);
}

static void start_driver(void) {
    mongoc_log_set_handler(NULL, NULL);
    mongoc_init();
}

static bool no_memory(tipple_error_t *error, size_t bytes) {
    err_t err;
    err_memory(&err, bytes);
    return tell(error, &err);
}

static bool is_missing(const void *given, const char *what, tipple_error_t *error) {
    err_t err;
    if (given)
        return false;
    err_set(&err, STATUS_USAGE, "%s is NULL", what);
    tell(error, &err);
    return true;
}

tipple_format_t *tipple_format_open(const char *name, tipple_error_t *error) {
    err_t err;
    be_silent();
    if (is_missing(name, "the format's name", error))
        return NULL;
    tipple_format_t *format = malloc(sizeof *format);
    if (!format) {
        no_memory(error, sizeof *format);
        return NULL;
    }
    if ((format->schema = format_open(name, &err)))
        return format;
    tell(error, &err);
    free(format);
    return NULL;
}

void tipple_format_close(tipple_format_t *format) {
    if (format)
        schema_destroy(format->schema);
    free(format);
}

tipple_reader_t *tipple_reader_new(const tipple_format_t *format, tipple_error_t *error) {
    if (is_missing(format, "the format", error))
        return NULL;
    tipple_reader_t *reader = calloc(1, sizeof *reader);
    if (reader) {
        reader->schema = format->schema;
        reader->records = records_new(format->schema);
        reader->emit = emit_new(format->schema);
    }
    if (reader && reader->records && reader->emit)
        return reader;
    no_memory(error, sizeof *reader);
    tipple_reader_destroy(reader);
    return NULL;
}

void tipple_reader_destroy(tipple_reader_t *reader) {
    if (!reader)
        return;
    records_destroy(reader->records);
    emit_destroy(reader->emit);
    free(reader->text);
    free(reader->place.bytes);
    free(reader);
}

/* Of an array that is not closed only whole records are read, as in a load. */
static size_t find_cut_off(tipple_reader_t *reader, size_t length) {
    const uint8_t *text = reader->text + POOL_SLACK;
    ends_t ends = ends_begin(reader->schema, reader->dialect.delimiter);
    reader->cut_off = false;
    if (!reader->dialect.array)
        return length;
    ends.record = dialect_bom(text, length);
    ends_on(&ends, text, length, true, SIZE_MAX);
    reader->cut_off = !ends_closes(&ends, ends_last_byte(text, length));
    return reader->cut_off && ends.json.phase != SPAN_AFTER ? ends.record : length;
}

bool tipple_reader_begin(tipple_reader_t *reader, const void *text, size_t length, tipple_error_t *error) {
    err_t err;
    if (is_missing(reader, "the reader", error) || (length && is_missing(text, "the text", error)))
        return false;
    if (length > UINT32_MAX / 2) {
        err_set(&err, STATUS_USAGE, "%zu bytes are too many at once; give at most 2 GiB of whole lines",
                length);
        return tell(error, &err);
    }
    dialect_t dialect;
    uint8_t *copy = calloc(1, length + 2 * POOL_SLACK);
    if (!copy)
        return no_memory(error, length);
    if (length)
        memcpy(copy + POOL_SLACK, text, length);
    be_silent();
    if (!dialect_sniff(reader->schema, copy + POOL_SLACK, length, "the text", &dialect, &err)) {
        free(copy);
        return tell(error, &err);
    }
    free(reader->text);
    reader->text = copy;
    reader->dialect = dialect;
    reader->document_length = 0;
    reader->ended = (err_t){.status = STATUS_OK};
    length = find_cut_off(reader, length);
    records_begin(reader->records, &reader->dialect, reader->text + POOL_SLACK, (uint32_t)length, true, false,
                  0);
    return true;
}

static int at_end(const tipple_reader_t *reader, tipple_error_t *error) {
    err_t err;
    if (!reader->cut_off)
        return 0;
    ends_say_cut_off("the text", &err);
    tell(error, &err);
    return -1;
}

/* What must not be passed over: nothing behind it is read, however often somebody asks. */
static bool must_end(tipple_reader_t *reader, parsed_t parsed, const record_t *got) {
    const uint64_t line = (uint64_t)got->line + 1;
    if (parsed == PARSED_OTHER_HEADER)
        other_header_say("the text", line, &reader->ended);
    else if (parsed == PARSED_REJECT && records_must_stop(reader->records))
        bad_values_stop("the text", line, got, &reader->ended);
    return reader->ended.status != STATUS_OK;
}

static int tell_end(const tipple_reader_t *reader, tipple_error_t *error) {
    tell(error, &reader->ended);
    return -1;
}

int tipple_reader_next(tipple_reader_t *reader, tipple_record_t *record, tipple_error_t *error) {
    record_t got;
    if (is_missing(reader, "the reader", error) || is_missing(record, "the record", error))
        return -1;
    reader->document_length = 0;
    if (reader->ended.status != STATUS_OK)
        return tell_end(reader, error);
    while (reader->text) {
        parsed_t parsed = records_next_into(reader->records, &reader->place, &got, &reader->shape);
        *record =
            (tipple_record_t){.offset = got.offset, .length = got.length, .line = (uint64_t)got.line + 1};
        if (must_end(reader, parsed, &got))
            return tell_end(reader, error);
        switch (parsed) {
        case PARSED_END:
            return at_end(reader, error);
        case PARSED_HEADER:
        case PARSED_BLANK:
        case PARSED_COMMENT:
        case PARSED_SKIPPED:
            continue;
        case PARSED_REJECT:
            record->reason = got.reason;
            record->column = got.column;
            return 1;
        case PARSED_DOCUMENT:
            record->document = reader->place.bytes;
            record->document_length = reader->document_length = got.document_length;
            return 1;
        case PARSED_OTHER_HEADER:
        case PARSED_FULL:
        case PARSED_MEMORY:
            break;
        }
        no_memory(error, got.length);
        return -1;
    }
    return 0;
}

bool tipple_reader_emit(tipple_reader_t *reader, const char **text, size_t *length, tipple_error_t *error) {
    err_t err;
    bson_t document;
    const uint8_t *record;
    if (is_missing(reader, "the reader", error) || is_missing(text, "where to put the text", error) ||
        is_missing(length, "where to put the length", error))
        return false;
    if (!reader->document_length ||
        !bson_init_static(&document, reader->place.bytes, reader->document_length)) {
        err_set(&err, STATUS_USAGE, "there is no document: the last call gave none");
        return tell(error, &err);
    }
    if (!emit_record(reader->emit, &reader->dialect, &document, &reader->shape, &record, length, &err))
        return tell(error, &err);
    *text = (const char *)record;
    return true;
}

static bool has_inputs(const tipple_load_t *load, tipple_error_t *error) {
    for (size_t i = 0; i < load->input_count; i++)
        if (is_missing(load->inputs, "the list of the load's inputs", error) ||
            is_missing(load->inputs[i], "an input of the load", error))
            return false;
    return true;
}

bool tipple_load(const tipple_load_t *load, tipple_loaded_t *loaded, tipple_error_t *error) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    load_spec_t spec;
    err_t err;
    if (loaded)
        *loaded = (tipple_loaded_t){.read = 0};
    if (is_missing(load, "the load", error) || is_missing(load->uri, "the load's uri", error) ||
        is_missing(load->format, "the load's format", error) || !has_inputs(load, error))
        return false;
    pthread_once(&once, start_driver);
    be_silent();
    load_result_t *result = calloc(1, sizeof *result);
    if (!result)
        return no_memory(error, sizeof *result);
    load_spec_init(&spec);
    spec.uri = load->uri;
    spec.format = load->format;
    spec.inputs = (char *const *)load->inputs;
    spec.input_count = load->input_count;
    spec.threads = load->threads;
    spec.batch = load->batch ? load->batch : spec.batch;
    spec.rejects = load->rejects;
    spec.drop = load->drop;
    bool ok = load_run(&spec, result, &err);
    tell(error, &err);
    if (ok && error) /* what went wrong was overcome */
        error->text[0] = '\0';
    const counts_t *counts = &result->counts;
    if (loaded)
        *loaded = (tipple_loaded_t){counts->read,     counts->loaded,   counts->already_there,
                                    counts->rejected, counts->filtered, (double)result->took_ns / 1e9};
    load_result_free(result);
    free(result);
    return ok;
}
