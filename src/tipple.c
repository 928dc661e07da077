#include "tipple/tipple.h"
#include "base/chars.h"
#include "base/threads.h"
#include "format/cut/ends.h"
#include "format/record/record.h"
#include "format/records.h"
#include "format/schema/schema.h"
#include "input/file/fault.h"
#include "input/magic.h"
#include "library/library.h"
#include "load/blocks/block.h"
#include "load/plan/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* Frees the format, and says why, if it could not be opened. */
static tipple_format_t *opened(tipple_format_t *format, bool ok, const err_t *err, tipple_error_t *error) {
    if (ok)
        return format;
    library_tell(error, err);
    tipple_format_close(format);
    return NULL;
}

tipple_format_t *tipple_format_open(const char *name, tipple_error_t *error) {
    err_t err;
    library_be_silent();
    if (library_misses(name, "the format's name", error))
        return NULL;
    tipple_format_t *format = calloc(1, sizeof *format);
    const bool ok = ((format && (format->name = strdup(name))) || err_memory(&err, strlen(name))) &&
                    (format->schema = format_open(name, &err));
    return opened(format, ok, &err, error);
}

/* The text becomes a stream that has ended, which is looked at as one that comes from a pipe: no further than GUESS_MOST_BYTES. */
static bool guess(const void *text, size_t length, tipple_format_t *format, err_t *err) {
    static const guess_options_t options_of_guess = {.beginning = true};
    manifest_t manifest = {.count = 0};
    guessed_t guessed = {.yaml = NULL};
    const size_t most = length < 2 * GUESS_MOST_BYTES ? length : 2 * GUESS_MOST_BYTES;
    const int pushed = memfd_create("text", MFD_CLOEXEC);
    const manifest_options_t options = {.quiet = true, .input_name = "the text", .pushed = &pushed};
    const bool ok =
        (pwrite(pushed, text, most, 0) == (ssize_t)most || fault_system(err, options.input_name, errno)) &&
        manifest_build(&manifest, NULL, 0, &options, err) &&
        (format->schema = guess_inputs_open(&manifest, &options_of_guess, &guessed, err));
    format->text = guessed.yaml;
    guessed.yaml = NULL;
    guessed_free(&guessed);
    manifest_free(&manifest);
    close(pushed);
    return ok;
}

tipple_format_t *tipple_format_guess(const void *text, size_t length, tipple_error_t *error) {
    err_t err;
    library_be_silent();
    if (length && library_misses(text, "the text", error))
        return NULL;
    tipple_format_t *format = calloc(1, sizeof *format);
    const bool ok = (format || err_memory(&err, sizeof *format)) && guess(text, length, format, &err);
    return opened(format, ok, &err, error);
}

const char *tipple_format_text(const tipple_format_t *format) {
    return format ? format->text : NULL;
}

void tipple_format_close(tipple_format_t *format) {
    if (!format)
        return;
    schema_destroy(format->schema);
    free(format->name);
    free(format->text);
    free(format);
}

tipple_reader_t *tipple_reader_new(const tipple_format_t *format, tipple_error_t *error) {
    if (library_misses(format, "the format", error))
        return NULL;
    tipple_reader_t *reader = calloc(1, sizeof *reader);
    if (reader) {
        reader->schema = format->schema;
        reader->records = records_new(format->schema);
        reader->emit = emit_new(format->schema);
    }
    if (reader && reader->records && reader->emit)
        return reader;
    library_no_memory(error, sizeof *reader);
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

/* After an object, outside of quotes. Within an object there is a colon, a comma or another [ before it. */
static bool may_begin_later(const uint8_t *text, size_t length) {
    const uint8_t *const end = text + length;
    for (const uint8_t *at = text; (at = memchr(at, '[', (size_t)(end - at))); at++) {
        const uint8_t before = ends_last_byte(text, (size_t)(at - text));
        if (before == '}' || before == 0x1E || before == ']')
            return true;
    }
    return false;
}

/* Of an array that is not closed only whole records are read, as in a load. */
static size_t find_cut_off(tipple_reader_t *reader, size_t length) {
    const uint8_t *text = reader->text + POOL_SLACK;
    ends_t ends = ends_begin(reader->schema, reader->dialect.delimiter);
    reader->cut_off = false;
    if (!reader->dialect.array && (reader->schema->kind != RECORDS_JSON || !may_begin_later(text, length)))
        return length;
    ends.record = lines_bom(text, length);
    ends_on(&ends, text, length, true, SIZE_MAX);
    const uint8_t bracket = ends_bracket(&ends, ends_last_byte(text, length));
    reader->cut_off = reader->dialect.array ? bracket != ']' : bracket == '[';
    return reader->cut_off && ends.json.phase != SPAN_AFTER ? ends.record : length;
}

/* A reader says where in the text a record is, so it decodes nothing: what a load would decode makes no records here, or,
 * where no header is wanted, documents of bytes that mean nothing. */
static bool is_plain(const uint8_t *text, size_t length, err_t *err) {
    const magic_t *magic = magic_of(text, length < MAGIC_BYTES ? length : MAGIC_BYTES);
    if (magic->is == MAGIC_TEXT || magic->is == MAGIC_REJECTS)
        return true;
    const bool other_text = strncmp(magic->name, "UTF-", 4) == 0;
    return err_set(err, STATUS_INPUT,
                   "the text: begins as %s%s does, which a reader takes for no text; %s it first. (A load "
                   "takes UTF-16, gzip, zstd, xz and bzip2 as they are)",
                   other_text ? "text of " : "a file of ", magic->name,
                   other_text ? "make UTF-8 of" : "decompress");
}

bool tipple_reader_begin(tipple_reader_t *reader, const void *text, size_t length, tipple_error_t *error) {
    err_t err;
    if (library_misses(reader, "the reader", error) || (length && library_misses(text, "the text", error)))
        return false;
    if (length > UINT32_MAX / 2)
        return library_refuse(error, "these are too many bytes at once; give at most 2 GiB of whole lines");
    if (length && !is_plain(text, length, &err))
        return library_tell(error, &err);
    dialect_t dialect;
    uint8_t *copy = calloc(1, length + 2 * POOL_SLACK);
    if (!copy)
        return library_no_memory(error, length);
    if (length)
        memcpy(copy + POOL_SLACK, text, length);
    library_be_silent();
    if (!dialect_sniff(reader->schema, copy + POOL_SLACK, length, "the text", &dialect, &err)) {
        free(copy);
        return library_tell(error, &err);
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

static int fail(const err_t *err, tipple_error_t *error) {
    library_tell(error, err);
    return -1;
}

int tipple_reader_next(tipple_reader_t *reader, tipple_record_t *record, tipple_error_t *error) {
    record_t got;
    err_t err;
    if (library_misses(reader, "the reader", error) || library_misses(record, "the record", error))
        return -1;
    reader->document_length = 0;
    if (reader->ended.status != STATUS_OK)
        return fail(&reader->ended, error);
    while (reader->text) {
        parsed_t parsed = records_next_into(reader->records, &reader->place, &got, &reader->shape);
        *record =
            (tipple_record_t){.offset = got.offset, .length = got.length, .line = (uint64_t)got.line + 1};
        switch (parsed) {
        case PARSED_END:
            if (!reader->cut_off)
                return 0;
            ends_say_cut_off("the text", &err);
            return fail(&err, error);
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
        case PARSED_OTHER_HEADER: /* nothing after it is read, however often the caller asks */
            other_header_say("the text", record->line, 0, &reader->ended);
            return fail(&reader->ended, error);
        case PARSED_FULL:
        case PARSED_MEMORY:
            break;
        }
        err_memory(&err, got.length);
        return fail(&err, error);
    }
    return 0;
}

bool tipple_reader_emit(tipple_reader_t *reader, const char **text, size_t *length, tipple_error_t *error) {
    err_t err;
    bson_t document;
    const uint8_t *record;
    if (library_misses(reader, "the reader", error) || library_misses(text, "where to put the text", error) ||
        library_misses(length, "where to put the length", error))
        return false;
    if (!reader->document_length ||
        !bson_init_static(&document, reader->place.bytes, reader->document_length))
        return library_refuse(error, "there is no document: the last call gave none");
    reader->shape.carriage = false; /* the caller may put a LF after it */
    if (!emit_record(reader->emit, &reader->dialect, &document, &reader->shape, &record, length, &err))
        return library_tell(error, &err);
    *text = (const char *)record;
    return true;
}
