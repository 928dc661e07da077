#include "load/before/guess_inputs.h"
#include "base/chars.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/text.h"
#include "base/threads.h"
#include "format/record/bad_values.h"
#include "format/records.h"
#include "format/schema/schema.h"
#include "input/source.h"

#include <bson/bson.h>
#include <stdlib.h>
#include <string.h>

/* unfit_values: values at the beginning of an input that are not of the types that a person has named (--type). */

/* Of an array each element is tried. key: what is left of it. */
static bool has_key(bson_iter_t *at, bool array, const char *key) {
    const size_t length = strcspn(key, ".");
    const char *left = array ? key : key + length + (key[length] == '.');
    while (element_next(at)) {
        const char *name = bson_iter_key(at);
        bson_iter_t child;
        if (!array && (strncmp(name, key, length) != 0 || name[length]))
            continue;
        if (!*left || ((BSON_ITER_HOLDS_DOCUMENT(at) || BSON_ITER_HOLDS_ARRAY(at)) &&
                       bson_iter_recurse(at, &child) && has_key(&child, BSON_ITER_HOLDS_ARRAY(at), left)))
            return true;
    }
    return false;
}

/* has[i]: an object has the key of the field i. */
static void note_keys(const schema_t *schema, const uint8_t *document, uint32_t length, bool *has) {
    bson_t object;
    bson_iter_t at;
    if (!bson_init_static(&object, document, length))
        return;
    for (size_t i = 0; i < schema_counted(schema); i++)
        has[i] = has[i] ||
                 (bson_iter_init(&at, &object) && has_key(&at, false, schema_counted_field(schema, i)->name));
}

/* has: NULL unless of objects. False: out of memory. */
static bool read_all(records_t *reader, const schema_t *schema, uint64_t *rows, bool *has) {
    records_place_t place = {NULL, 0};
    parsed_t parsed;
    do {
        record_t record;
        parsed = records_next_into(reader, &place, &record, NULL);
        *rows += parsed == PARSED_DOCUMENT || parsed == PARSED_REJECT;
        if (has && parsed == PARSED_DOCUMENT)
            note_keys(schema, place.bytes, record.document_length, has);
        if (has && parsed == PARSED_REJECT) /* nobody knows what it holds */
            memset(has, true, schema_counted(schema) * sizeof *has);
    } while (parsed != PARSED_END && parsed != PARSED_MEMORY);
    free(place.bytes);
    return parsed == PARSED_END;
}

static void tell(text_t *out, const schema_t *schema, const char *name, const bad_values_t *values,
                 uint64_t rows) {
    static const char *const become[BAD_VALUES] = {[BAD_VALUE_TEXT] = "are kept as text",
                                                   [BAD_VALUE_NULL] = "are stored as null",
                                                   [BAD_VALUE_REJECT] = "make their records rejects"};
    char count[UNITS_MAX];
    text_print(out, "of the first %s %s%s of %s, values do not fit their type:", units_count(count, rows),
               schema_any_fields(schema) ? "object" : "row", rows == 1 ? "" : "s", name);
    const size_t before = out->length;
    for (size_t i = 0; i < schema_counted(schema); i++) {
        const bad_field_t *field = &values->fields[i];
        if (field->count)
            text_print(out, "%s %s %s (line %llu%s)", out->length > before ? "," : "",
                       schema_counted_field(schema, i)->name, units_count(count, field->count),
                       (unsigned long long)field->places[0].line, field->count > 1 ? ", ..." : "");
    }
    text_print(out, "; they %s%s",
               !schema->bad_value && schema_any_fields(schema) ? "stay as they are"
                                                               : become[schema->bad_value],
               schema->bad_value ? "" : " (another choice: --on-bad-value)");
}

/* What is left out was there. */
static void tell_missing(text_t *out, const schema_t *schema, const char *name, const bad_values_t *values,
                         uint64_t rows, const bool *has) {
    char count[UNITS_MAX];
    bool any = false;
    for (size_t i = 0; rows && i < schema_counted(schema); i++) {
        if (has[i] || values->fields[i].count)
            continue;
        if (any)
            text_print(out, ", ");
        else if (out->length)
            text_print(out, ". None has what --type names: ");
        else
            text_print(out, "of the first %s object%s of %s, none has what --type names: ",
                       units_count(count, rows), rows == 1 ? "" : "s", name);
        text_print(out, "%s", schema_counted_field(schema, i)->name);
        any = true;
    }
}

static bool look(const schema_t *schema, const char *name, const uint8_t *text, size_t length,
                 const dialect_t *dialect, char **line, err_t *err) {
    records_t *reader = records_new(schema);
    bool *has = schema_any_fields(schema) ? calloc(schema_counted(schema) + 1, sizeof *has) : NULL;
    uint64_t rows = 0;
    bool ok = (reader && (has || !schema_any_fields(schema))) || err_memory(err, length);
    if (ok) {
        records_begin(reader, dialect, text, (uint32_t)length, true, false, 0);
        records_place(reader, &(bad_place_t){.line = 1});
    }
    ok = ok && (read_all(reader, schema, &rows, has) || err_memory(err, length));
    const bad_values_t *values = ok ? records_bad(reader) : NULL;
    text_t out = {.length = 0};
    if (ok && values->count)
        tell(&out, schema, name, values, rows);
    if (ok && has)
        tell_missing(&out, schema, name, values, rows, has);
    if (ok && out.length)
        ok = (*line = text_take(&out, err)) != NULL;
    free(has);
    records_destroy(reader);
    return ok;
}

/* text[0, length): whole records from the input's beginning, with POOL_SLACK bytes before and after it. *line: what is to be
 * said, which the caller frees; NULL: all values fit. False: out of memory. */
static bool unfit_values_find(const schema_t *schema, const char *name, const uint8_t *text, size_t length,
                              char **line, err_t *err) {
    dialect_t *dialect = malloc(sizeof *dialect);
    *line = NULL;
    if (!dialect)
        return err_memory(err, sizeof *dialect);
    /* a beginning that does not fit is told later */
    const bool ok = !dialect_sniff_again(schema, text, length, dialect) ||
                    look(schema, name, text, length, dialect, line, err);
    free(dialect);
    return ok;
}

enum {
    FIRST = 64 << 10,  /* of a stream, to see its first record */
    WHOLE = 4 << 20,   /* a file of fewer bytes is looked at as a whole */
    PIECE = 256 << 10, /* in the middle of a larger one; at its end four of them */
    PIECES = 14,
    MOST_FILES = 8,
    SETTLED = 8 << 20, /* so much of compressed text is enough if its second half told nothing new */
};

/* A stream is looked at until nothing has come for so long, or so long in all. */
#define IDLE_NS    (2 * INT64_C(1000000000))
#define LONGEST_NS (10 * INT64_C(1000000000))

typedef struct {
    guess_t *guess;
    source_kit_t *kit;
    uint8_t *text; /* WHOLE bytes */
    bool empty;    /* the input that was looked at last holds no record */
    bool begun;    /* the first input was looked at */
    bool all;
    bool beginning;  /* as in guess_options_t */
    bool typed;      /* a person has named types: */
    uint8_t *sample; /* whole records of the first file, with slack around them, to see whether they fit */
    size_t sampled;
} looking_t;

/* How long is enough? next, told: the bytes after which that is looked at again, and what was known then. */
static bool is_settled(const looking_t *looking, uint64_t seen, uint64_t *next, uint64_t *told) {
    if (seen < *next)
        return false;
    const uint64_t now = guess_so_far(looking->guess);
    const bool settled = now == *told;
    *told = now;
    *next *= 2;
    return settled;
}

/* The rest of a text that can only be read in order. have: bytes of it that were read and not taken yet. */
static bool look_on(looking_t *looking, source_t *source, size_t have, err_t *err) {
    uint64_t told = guess_so_far(looking->guess), next = SETTLED, seen = WHOLE;
    while (seen < GUESS_MOST_BYTES && have < WHOLE) {
        size_t used;
        const ssize_t got = source_read(source, looking->text + have, WHOLE - have, err);
        if (got < 0)
            return false;
        const bool last = (size_t)got < WHOLE - have;
        have += (size_t)got;
        seen += (uint64_t)got;
        if (!guess_take(looking->guess, looking->text, have, GUESS_FROM_NEXT, last, &used, err))
            return false;
        if (last)
            return true;
        memmove(looking->text, looking->text + used, have - used);
        have -= used;
        if (is_settled(looking, seen, &next, &told))
            break;
    }
    looking->all = false;
    return true;
}

/* One place of a large file. */
static bool look_there(looking_t *looking, source_t *source, uint64_t at, size_t want, bool last,
                       err_t *err) {
    size_t used;
    if (!source_skip_to(source, at, err))
        return false;
    const ssize_t got = source_read(source, looking->text, want, err);
    if (got < 0)
        return false;
    const uint8_t *feed = memchr(looking->text, '\n', (size_t)got);
    const size_t from = feed ? (size_t)(feed + 1 - looking->text) : (size_t)got;
    return guess_take(looking->guess, looking->text + from, (size_t)got - from, GUESS_FROM_LINE, last, &used,
                      err);
}

/* Some places behind its first WHOLE bytes, and its end. */
static bool look_around(looking_t *looking, source_t *source, uint64_t size, err_t *err) {
    const uint64_t end = size > WHOLE + 4 * PIECE ? size - 4 * PIECE : WHOLE;
    const uint64_t even = (end - WHOLE) / PIECES, step = even > PIECE ? even : PIECE;
    looking->all = false;
    for (uint64_t at = WHOLE; at + PIECE <= end; at += step)
        if (!look_there(looking, source, at, PIECE, false, err))
            return false;
    return look_there(looking, source, end, (size_t)(size - end), true, err);
}

/* What else there is of a file whose first WHOLE bytes were taken up to `used`. */
static bool look_at_rest(looking_t *looking, const input_file_t *file, source_t *source, size_t used,
                         err_t *err) {
    if (file->kind == INPUT_PLAIN && !input_is_in_stream(file))
        return look_around(looking, source, file->text_bound, err);
    memmove(looking->text, looking->text + used, WHOLE - used);
    return look_on(looking, source, WHOLE - used, err);
}

static bool take_sample(looking_t *looking, const uint8_t *text, size_t length, err_t *err) {
    if (!(looking->sample = calloc(1, length + 2 * (size_t)POOL_SLACK)))
        return err_memory(err, length);
    memcpy(looking->sample + POOL_SLACK, text, length);
    looking->sampled = length;
    return true;
}

static bool look_into(void *context, const input_file_t *file, source_t *source, size_t got, err_t *err) {
    looking_t *looking = context;
    const bool whole = got < WHOLE, first = !looking->begun;
    looking->begun = true;
    size_t used;
    if (!first && !guess_is_same(looking->guess, looking->text, got)) {
        looking->all &= whole && guess_is_empty(looking->text, got); /* whether it fits is told later */
        return true;
    }
    if (file->kind == INPUT_DUMP)
        guess_was_dumped(looking->guess);
    if (first && source_is_utf16(source))
        guess_was_utf16(looking->guess);
    if (first && !guess_begin(looking->guess, looking->text, got, whole, err))
        return false;
    return guess_take(looking->guess, looking->text, got, first ? GUESS_FROM_START : GUESS_FROM_OTHER, whole,
                      &used, err) &&
           (!first || !looking->typed || take_sample(looking, looking->text, used, err)) &&
           (whole || look_at_rest(looking, file, source, used, err));
}

/* A stream is read once: what was read of it is kept for the load. */
static bool leave_stream(const looking_t *looking, input_file_t *file, source_t *source, size_t got,
                         err_t *err) {
    uint8_t *text = malloc(got + 1);
    if (!text)
        return err_memory(err, got);
    memcpy(text, looking->text, got);
    if (source_leave(source, file, text, got, err))
        return true;
    free(text);
    return false;
}

/* What is to be made of the first bytes of an input, which are in looking->text. */
typedef bool beginning_fn(void *context, const input_file_t *file, source_t *source, size_t got, err_t *err);

/* Reads so many of them, and leaves a stream for its reader. */
static bool read_beginning(looking_t *looking, input_file_t *file, size_t want, beginning_fn *take,
                           void *context, err_t *err) {
    const bool stream = file->kind == INPUT_STREAM;
    source_t *source = stream ? source_open(file, err) : source_open_in(looking->kit, file, err);
    if (!source)
        return false;
    const ssize_t got = source_read(source, looking->text, want, err);
    bool ok = got >= 0 && take(context, file, source, (size_t)got, err);
    if (ok && stream) {
        ok = leave_stream(looking, file, source, (size_t)got, err);
        source = ok ? NULL : source;
    }
    source_close(source);
    return ok;
}

/* ---- streams ---- */

/* A stream is read once: all that is read of it stays in memory, for the load. */
typedef struct {
    looking_t *looking;
    source_t *source;
    uint8_t *text;
    size_t have, room, used;
    bool ended, idle;
} stream_t;

/* One more piece. */
static bool read_stream(stream_t *stream, err_t *err) {
    if (!GROW(stream->text, stream->room, stream->have + WHOLE, err))
        return false;
    const ssize_t got = source_read(stream->source, stream->text + stream->have, WHOLE, err);
    if (got < 0)
        return false;
    stream->have += (size_t)got;
    stream->idle = source_is_idle(stream->source);
    stream->ended = !stream->idle && got < WHOLE;
    return true;
}

/* A pipe that has gone quiet is not waited for, if it has given some lines. */
static bool read_first(stream_t *stream, err_t *err) {
    bool ok;
    do {
        source_hurry(stream->source, IDLE_NS, clock_now_ns() + LONGEST_NS);
        ok = read_stream(stream, err);
    } while (ok && stream->idle && lines_count(stream->text, stream->have) < GUESS_LEAST_LINES);
    return ok;
}

/* Bytes of a last record that may be cut off. */
static size_t cut_off(const stream_t *stream) {
    const looking_t *looking = stream->looking;
    if (!stream->ended || !looking->beginning || !guess_is_of_lines(looking->guess) ||
        lines_count(stream->text, stream->have) < GUESS_LEAST_LINES)
        return 0;
    const size_t line = guess_cut_line(stream->text, stream->have), begun = guess_cut_off(looking->guess);
    return line > begun ? line : begun;
}

static bool take_stream(stream_t *stream, guess_from_t from, err_t *err) {
    const size_t open = cut_off(stream);
    size_t used;
    const bool ok = guess_take(stream->looking->guess, stream->text + stream->used,
                               stream->have - open - stream->used, from, stream->ended, &used, err);
    stream->looking->all &= !open;
    stream->used += ok ? used : 0;
    return ok;
}

static bool look_into_stream(stream_t *stream, err_t *err) {
    looking_t *looking = stream->looking;
    if (!read_first(stream, err))
        return false;
    const bool first = !looking->begun;
    looking->begun = true;
    if (!first && !guess_is_same(looking->guess, stream->text, stream->have)) {
        looking->all = false;
        return true;
    }
    if (first && source_is_utf16(stream->source))
        guess_was_utf16(looking->guess);
    if (first && !guess_begin(looking->guess, stream->text, stream->have, stream->ended, err))
        return false;
    if (!take_stream(stream, first ? GUESS_FROM_START : GUESS_FROM_OTHER, err) ||
        (first && looking->typed && !take_sample(looking, stream->text, stream->used, err)))
        return false;
    uint64_t told = guess_so_far(looking->guess), next = SETTLED;
    while (!stream->ended && !stream->idle && stream->have < GUESS_MOST_BYTES &&
           !is_settled(looking, stream->have, &next, &told))
        if (!read_stream(stream, err) || !take_stream(stream, GUESS_FROM_NEXT, err))
            return false;
    looking->all = looking->all && stream->ended;
    return true;
}

static bool look_at_stream(looking_t *looking, input_file_t *file, err_t *err) {
    stream_t stream = {.looking = looking, .source = source_open(file, err)};
    if (stream.source && look_into_stream(&stream, err)) {
        source_hurry(stream.source, 0, 0);
        if (source_leave(stream.source, file, stream.text, stream.have, err))
            return true;
    }
    source_close(stream.source);
    free(stream.text);
    return false;
}

static bool look_at_file(looking_t *looking, input_file_t *file, err_t *err) {
    guess_input(looking->guess, file->name);
    return file->kind == INPUT_STREAM ? look_at_stream(looking, file, err)
                                      : read_beginning(looking, file, WHOLE, look_into, looking, err);
}

static bool note_empty(void *context, const input_file_t *file, source_t *source, size_t got, err_t *err) {
    looking_t *looking = context;
    (void)file;
    (void)source;
    (void)err;
    looking->empty = got < FIRST && guess_is_empty(looking->text, got);
    return true;
}

/* The first input that holds a record, or the first of all if none does. A stream is not asked: it is read once. */
static bool find_first(looking_t *looking, manifest_t *manifest, size_t *first, err_t *err) {
    for (size_t i = 0; i < manifest->count; i++) {
        input_file_t *file = &manifest->files[i];
        looking->empty = false;
        if (file->kind != INPUT_STREAM && !read_beginning(looking, file, FIRST, note_empty, looking, err))
            return false;
        if (!looking->empty) {
            *first = i;
            return true;
        }
    }
    *first = 0;
    return true;
}

static bool look_at_all(looking_t *looking, manifest_t *manifest, size_t first, err_t *err) {
    const size_t rest = manifest->count - first, files = rest < MOST_FILES ? rest : MOST_FILES;
    looking->all = files == rest;
    if (manifest->count > 1)
        guess_is_of_many(looking->guess);
    for (size_t i = 0; i < files; i++)
        if (!look_at_file(looking, &manifest->files[first + i * rest / files], err))
            return false;
    if (looking->all)
        guess_saw_all(looking->guess);
    return guess_end(looking->guess, err);
}

static uint64_t text_bytes(const manifest_t *manifest) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < manifest->count; i++) {
        if (manifest->files[i].kind != INPUT_PLAIN)
            return 0;
        bytes += manifest->files[i].text_bound;
    }
    return bytes;
}

static schema_t *parse_guess(const guessed_t *guessed, err_t *err) {
    return schema_parse_guessed(guessed->yaml, "the guessed format", err);
}

static bool find_unfit(const looking_t *looking, const char *name, guessed_t *guessed, err_t *err) {
    if (!looking->sample)
        return true;
    schema_t *schema = parse_guess(guessed, err);
    const bool ok = schema && unfit_values_find(schema, name, looking->sample + POOL_SLACK, looking->sampled,
                                                &guessed->unfit, err);
    schema_destroy(schema);
    return ok;
}

static bool guess_all(looking_t *looking, manifest_t *manifest, const guess_options_t *options,
                      guessed_t *guessed, err_t *err) {
    size_t first;
    if (!find_first(looking, manifest, &first, err))
        return false;
    const char *name = manifest->files[first].name;
    if (!(looking->guess = guess_new(name, options, err)))
        return false;
    if (manifest->files[first].kind == INPUT_STREAM)
        guess_reads_once(looking->guess);
    return look_at_all(looking, manifest, first, err) && (guessed->yaml = guess_yaml(looking->guess, err)) &&
           guess_tell(looking->guess, text_bytes(manifest), guessed->lines, err) &&
           find_unfit(looking, name, guessed, err);
}

bool guess_inputs(manifest_t *manifest, const guess_options_t *options, guessed_t *guessed, err_t *err) {
    looking_t looking = {.kit = source_kit_new_to_look(),
                         .text = malloc(WHOLE),
                         .beginning = options->beginning,
                         .typed = options->type_count > 0};
    *guessed = (guessed_t){.yaml = NULL};
    bool ok = (looking.kit && looking.text) || err_memory(err, WHOLE);
    ok = ok && manifest_decode(manifest, options->charset) &&
         guess_all(&looking, manifest, options, guessed, err);
    guess_destroy(looking.guess);
    source_kit_free(looking.kit);
    free(looking.text);
    free(looking.sample);
    return ok;
}

void guessed_free(guessed_t *guessed) {
    for (size_t i = 0; i < GUESS_LINES; i++)
        free(guessed->lines[i]);
    free(guessed->yaml);
    free(guessed->unfit);
    *guessed = (guessed_t){.yaml = NULL};
}

schema_t *guess_inputs_open(manifest_t *manifest, const guess_options_t *options, guessed_t *guessed,
                            err_t *err) {
    if (!guess_inputs(manifest, options, guessed, err))
        return NULL;
    for (size_t i = 0; i < GUESS_LINES; i++)
        if (*guessed->lines[i])
            log_note("%s", guessed->lines[i]);
    if (guessed->unfit)
        log_warn("%s", guessed->unfit);
    return parse_guess(guessed, err);
}

/* ---- their own _id ---- */

typedef struct {
    const schema_t *schema;
    records_t *records;
    records_place_t place;
    looking_t looking; /* its text has room around it */
    bool decided, bring;
} id_look_t;

static bool decide(void *context, const input_file_t *file, source_t *source, size_t length, err_t *err) {
    id_look_t *look = context;
    dialect_t dialect;
    record_t record;
    parsed_t parsed;
    err_t misfit; /* the checks of inputs tell it */
    (void)source;
    if (!dialect_sniff(look->schema, look->looking.text, length, file->name, &dialect, &misfit))
        return true;
    memset(look->looking.text + length, 0, POOL_SLACK);
    records_begin(look->records, &dialect, look->looking.text, (uint32_t)length, true, false, 0);
    do
        parsed = records_next_into(look->records, &look->place, &record, NULL);
    while (parsed != PARSED_DOCUMENT && parsed != PARSED_END && parsed != PARSED_MEMORY);
    if (parsed == PARSED_MEMORY)
        return err_memory(err, record.length);
    if (parsed == PARSED_DOCUMENT) {
        bson_t document;
        bson_iter_t id;
        look->decided = bson_init_static(&document, look->place.bytes, record.document_length);
        look->bring = look->decided && element_of(&document, "_id", &id);
    }
    return true;
}

static bool look_for_id(id_look_t *look, input_file_t *file, err_t *err) {
    /* nobody waits for more of a stream than its first records, and not at all where a guess has kept these */
    const size_t kept = source_kept(file), first = file->kind == INPUT_STREAM ? FIRST : WHOLE,
                 want = !kept          ? first
                        : kept < WHOLE ? kept
                                       : WHOLE;
    return read_beginning(&look->looking, file, want, decide, look, err);
}

static bool look_at_beginnings(id_look_t *look, const manifest_t *manifest, err_t *err) {
    const size_t files = manifest->count < MOST_FILES ? manifest->count : MOST_FILES;
    bool ok = true;
    for (size_t i = 0; ok && !look->decided && i < files; i++)
        ok = look_for_id(look, &manifest->files[i], err);
    return ok;
}

bool guess_inputs_bring_id(const manifest_t *manifest, const schema_t *schema, bool *bring, err_t *err) {
    uint8_t *room = calloc(1, WHOLE + 2 * (size_t)POOL_SLACK);
    id_look_t look = {
        .schema = schema, .records = records_new(schema), .looking = {.kit = source_kit_new_to_look()}};
    bool ok;
    if (!room || !look.records || !look.looking.kit) {
        ok = err_memory(err, WHOLE);
    } else {
        look.looking.text = room + POOL_SLACK;
        ok = look_at_beginnings(&look, manifest, err);
    }
    *bring = look.bring || !look.decided; /* then both kinds are taken */
    records_destroy(look.records);
    source_kit_free(look.looking.kit);
    free(look.place.bytes);
    free(room);
    return ok;
}
