#include "load/plan/guess_inputs.h"
#include "base/chars.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/log.h"
#include "base/threads.h"
#include "format/records.h"
#include "format/schema/schema.h"
#include "input/source.h"
#include "load/plan/check_inputs.h"

#include <bson/bson.h>
#include <stdlib.h>
#include <string.h>

/* ---- the sample ---- */

enum {
    SAMPLE =
        GUESS_MOST_BYTES, /* of the first input: all of it, or its beginning, places in its middle, and its end */
    LEAST_IN_PLACES = 1 << 20, /* a smaller sample is the beginning */
    BEGINNING_OF = 2,          /* a half is the beginning, */
    PLACES = 12,
    PLACE_OF = 32,             /* twelve places are a 32nd each, */
    END_OF = 8,                /* and an eighth is the end */
    OTHERS = 63,               /* other inputs, which share one more SAMPLE, */
    LEAST_OF_OTHER = 32 << 10, /* of each this much at least */
    FIRST = 64 << 10,          /* of a stream, to see its first document; */
    FIRST_OF_FILE = 512 << 10, /* of another input; */
    FIRST_MOST = 16 << 20,     /* where it is longer: no server takes a longer one */
    COUNTED = 256 << 20,       /* so much of a file is read to count its lines */
};

/* A sample of a stream ends when nothing has come for the first of these times, or after the second in all. */
enum { QUIET_MS = 2000 };
#define LONGEST_NS (10 * INT64_C(1000000000))

/* The pieces have POOL_SLACK bytes before and after their texts. */
typedef struct {
    source_kit_t kit;
    guess_sample_t sample;
    size_t room;
    bool passes_bad; /* manifest_t.passes_bad */
} sampling_t;

static guess_piece_t *add_piece(sampling_t *sampling, const input_file_t *file, size_t most, err_t *err) {
    guess_sample_t *sample = &sampling->sample;
    uint8_t *text = calloc(1, most + 2 * (size_t)POOL_SLACK);
    if (!text || !GROW(sample->pieces, sampling->room, sample->count + 1, err)) {
        free(text);
        err_memory(err, most);
        return NULL;
    }
    sample->pieces[sample->count] = (guess_piece_t){
        .text = text + POOL_SLACK, .input = file->name, .dumped = file->kind == INPUT_DUMP, .file = file};
    return &sample->pieces[sample->count++];
}

static void drop_pieces(guess_sample_t *sample, size_t from) {
    while (sample->count > from)
        free((uint8_t *)(uintptr_t)sample->pieces[--sample->count].text - POOL_SLACK);
}

static void sampling_free(sampling_t *sampling) {
    drop_pieces(&sampling->sample, 0);
    free(sampling->sample.pieces);
    source_kit_close(&sampling->kit);
}

/* Fills the piece up to this length. A stream that has gone quiet is not waited for after GUESS_LEAST_LINES, and after more bytes
 * than `known`. */
static bool read_piece(source_t *source, guess_piece_t *piece, size_t length, size_t known, bool is_stream,
                       err_t *err) {
    uint8_t *text = (uint8_t *)(uintptr_t)piece->text;
    const int64_t until = clock_now_ns() + LONGEST_NS;
    ssize_t got;
    do {
        got = source_read(source, text + piece->length, length - piece->length, err);
        piece->length += got > 0 ? (size_t)got : 0;
    } while (is_stream && got > 0 && piece->length < length &&
             ((clock_now_ns() < until && source_waits(source, QUIET_MS)) || piece->length <= known ||
              lines_count(piece->text, piece->length) < GUESS_LEAST_LINES));
    piece->ends = got >= 0 && piece->length < length && (got == 0 || !is_stream);
    /* a fault of a stream stays in the source: the load reports it after the records before it */
    return got >= 0 || (is_stream && piece->length);
}

/* Keeps the bytes that were read of a stream for the load, since a stream is read once. */
static bool leave_stream(const guess_piece_t *piece, input_file_t *file, source_t *source, err_t *err) {
    uint8_t *text = malloc(piece->length + 1);
    if (!text)
        return err_memory(err, piece->length);
    memcpy(text, piece->text, piece->length);
    if (source_leave(source, file, text, piece->length, err))
        return true;
    free(text);
    return false;
}

/* Adds places of a plain file at even distances, and its end. */
static bool add_places(sampling_t *sampling, const input_file_t *file, source_t *source, size_t most,
                       err_t *err) {
    const uint64_t from = most / BEGINNING_OF, end = file->text_bound - most / END_OF;
    for (size_t i = 0; i <= PLACES; i++) {
        const size_t length = most / (i < PLACES ? PLACE_OF : END_OF);
        guess_piece_t *piece = add_piece(sampling, file, length, err);
        const uint64_t offset = from + (end - from) * i / PLACES;
        if (!piece || !source_skip_to(source, offset, err) ||
            !read_piece(source, piece, length, 0, false, err))
            return false;
        piece->offset = offset;
        piece->ends = i == PLACES;
    }
    return true;
}

/* Adds the beginning of an input. *source: where it goes on; NULL: a stream, which keeps these bytes. */
static bool add_beginning(sampling_t *sampling, input_file_t *file, size_t length, size_t known,
                          source_t **source, err_t *err) {
    const bool stream = file->kind == INPUT_STREAM;
    guess_piece_t *piece = add_piece(sampling, file, length, err);
    *source = !piece ? NULL : stream ? source_open(file, err) : source_open_in(&sampling->kit, file, err);
    if (!*source || !read_piece(*source, piece, length, known, stream, err))
        return false;
    piece->begins = true;
    if (stream && !leave_stream(piece, file, *source, err))
        return false;
    *source = stream ? NULL : *source;
    return true;
}

/* Adds at most `most` bytes of an input. */
static bool add_input(sampling_t *sampling, input_file_t *file, size_t most, err_t *err) {
    const bool plain = file->kind == INPUT_PLAIN && !input_is_in_stream(file),
               places = plain && file->text_bound > most && most >= LEAST_IN_PLACES;
    const size_t kept = source_kept(file), length = places ? most / BEGINNING_OF
                                                    : plain && file->text_bound < most
                                                        ? (size_t)file->text_bound + 1
                                                    : kept && kept < most ? kept
                                                                          : most;
    const size_t before = sampling->sample.count;
    source_t *source;
    const bool ok = add_beginning(sampling, file, length, 0, &source, err) &&
                    (!places || add_places(sampling, file, source, most, err));
    source_close(source);
    if (ok || !sampling->passes_bad || err->status != STATUS_INPUT)
        return ok;
    drop_pieces(&sampling->sample, before);
    return true;
}

/* Fills the sample: from the first input that holds a record, and from others at even distances in the list. */
static bool take_sample(sampling_t *sampling, const manifest_t *manifest, err_t *err) {
    guess_sample_t *sample = &sampling->sample;
    size_t from = 0;
    while (from < manifest->count) {
        if (!add_input(sampling, &manifest->files[from++], SAMPLE, err))
            return false;
        const guess_piece_t *piece = sample->count ? &sample->pieces[sample->count - 1] : NULL;
        if (!piece)
            continue;
        if (!piece->ends || !piece->begins || !guess_is_empty(piece->text, piece->length))
            break;
    }
    const size_t rest = manifest->count - from, others = rest < OTHERS ? rest : OTHERS,
                 share = others ? SAMPLE / others : 0;
    sample->every = others == rest;
    for (size_t i = 0; i < others; i++)
        if (!add_input(sampling, &manifest->files[from + i * rest / others],
                       share > LEAST_OF_OTHER ? share : LEAST_OF_OTHER, err))
            return false;
    return sample->count || !manifest->count; /* of none *err says what is wrong with the last */
}

/* ---- a guess ---- */

static bool count_lines(const void *file, uint64_t offset, uint64_t *lines) {
    return offset <= COUNTED && source_lines(file, false, offset, lines);
}

bool guess_inputs(manifest_t *manifest, const guess_options_t *options, guessed_t *guessed, err_t *err) {
    sampling_t sampling = {
        .kit = {.looks = true}, .sample.lines = count_lines, .passes_bad = manifest->passes_bad};
    guess_t *guess = NULL;
    *guessed = (guessed_t){.yaml = NULL};
    const bool ok = manifest_decode(manifest, options->charset) && take_sample(&sampling, manifest, err) &&
                    (guess = guess_new(&sampling.sample, options, err)) &&
                    guess_write(guess, &guessed->yaml, &guessed->lines, err);
    guess_destroy(guess);
    sampling_free(&sampling);
    return ok;
}

void guessed_free(guessed_t *guessed) {
    free(guessed->lines);
    free(guessed->yaml);
    *guessed = (guessed_t){.yaml = NULL};
}

static schema_t *parse_guess(const guessed_t *guessed, err_t *err) {
    return schema_parse_guessed(guessed->yaml, "the guessed format, with each --type", err);
}

bool guess_inputs_checked(manifest_t *manifest, const guess_options_t *options, guessed_t *guessed,
                          err_t *err) {
    schema_t *schema = guess_inputs(manifest, options, guessed, err) ? parse_guess(guessed, err) : NULL;
    const bool ok = schema && check_inputs(schema, manifest, NULL, false, NULL, err);
    schema_destroy(schema);
    return ok;
}

schema_t *guess_inputs_open(manifest_t *manifest, const guess_options_t *options, guessed_t *guessed,
                            err_t *err) {
    schema_t *schema = guess_inputs(manifest, options, guessed, err) ? parse_guess(guessed, err) : NULL;
    for (char *line = guessed->lines, *end; schema && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        (strncmp(line, GUESS_KEPT, strlen(GUESS_KEPT)) == 0 ? log_warn : log_note)("%s", line);
    }
    return schema;
}

/* ---- more columns ---- */

/* Has a stream new columns? What is read of it is kept. */
static bool look_at_stream(sampling_t *sampling, input_file_t *file, const schema_t *schema, bool *fresh,
                           err_t *err) {
    const bool ok = add_input(sampling, file, SAMPLE, err);
    const guess_piece_t *piece = sampling->sample.pieces;
    *fresh = ok && sampling->sample.count && check_inputs_is_fresh(schema, piece->text, piece->length);
    drop_pieces(&sampling->sample, 0);
    return ok;
}

bool guess_inputs_widen(manifest_t *manifest, size_t from, size_t to, bool *fresh,
                        const guess_options_t *options, schema_t *schema, char **yaml, bool *more,
                        err_t *err) {
    sampling_t sampling = {
        .kit = {.looks = true}, .sample.lines = count_lines, .passes_bad = manifest->passes_bad};
    size_t count = 0, seen = 0;
    char *wider = NULL;
    bool ok = true;
    for (size_t i = from; ok && i < to; i++) {
        input_file_t *file = &manifest->files[i];
        if (fresh[i] && file->kind == INPUT_STREAM)
            ok = look_at_stream(&sampling, file, schema, &fresh[i], err);
        file->widens |= fresh[i];
        count += fresh[i];
    }
    const size_t every = count / (OTHERS + 1) + 1, share = SAMPLE * every / (count ? count : 1);
    for (size_t i = from; ok && i < to; i++)
        if (fresh[i] && seen++ % every == 0)
            ok = add_input(&sampling, &manifest->files[i], share > LEAST_OF_OTHER ? share : LEAST_OF_OTHER,
                           err);
    if (ok && sampling.sample.count &&
        (ok = guess_widen(schema, *yaml, &sampling.sample, options, &wider, err))) {
        schema_t *with = schema_parse_guessed(wider, "the guessed format, with its new columns", err);
        *more |= with && with->field_count > schema->field_count;
        ok = with && schema_extend(schema, with, err);
        free(*yaml);
        *yaml = wider;
    }
    sampling_free(&sampling);
    return ok;
}

/* ---- their own _id ---- */

enum { MOST_FILES = 8 };

/* The first document of an input decides. *decided: it has one. */
static bool look_for_id(const schema_t *schema, const guess_piece_t *piece, bool *decided, bool *bring,
                        err_t *err) {
    dialect_t dialect;
    record_t record;
    parsed_t parsed;
    err_t misfit; /* the checks of inputs report it */
    records_place_t place = {NULL, 0};
    if (!dialect_sniff(schema, piece->text, piece->length, piece->input, &dialect, &misfit))
        return true;
    records_t *records = records_new(schema);
    if (!records)
        return err_memory(err, sizeof record);
    records_begin(records, &dialect, piece->text, (uint32_t)piece->length, true, false, 0);
    do
        parsed = records_next_into(records, &place, &record, NULL);
    while (parsed != PARSED_DOCUMENT && parsed != PARSED_END && parsed != PARSED_MEMORY);
    if (parsed == PARSED_DOCUMENT) {
        bson_t document;
        bson_iter_t id;
        *decided = bson_init_static(&document, place.bytes, record.document_length);
        *bring = *decided && element_of(&document, "_id", &id);
    }
    records_destroy(records);
    free(place.bytes);
    return parsed != PARSED_MEMORY || err_memory(err, record.length);
}

/* Reads on until the first document ends, or the input. */
static bool find_first(sampling_t *sampling, input_file_t *file, const schema_t *schema, bool *decided,
                       bool *bring, err_t *err) {
    /* what a guess has kept of a stream is there without waiting */
    const size_t kept = source_kept(file);
    size_t known = 0, most = file->kind != INPUT_STREAM || kept > FIRST_OF_FILE ? FIRST_OF_FILE : kept;
    bool ok = true, more = true;
    for (most = most ? most : FIRST; ok && more && !*decided; most *= 2) {
        source_t *source;
        most = most < FIRST_MOST ? most : FIRST_MOST;
        ok = add_beginning(sampling, file, most, known, &source, err) &&
             look_for_id(schema, sampling->sample.pieces, decided, bring, err);
        source_close(source);
        more = ok && !sampling->sample.pieces->ends && most < FIRST_MOST;
        known = ok ? sampling->sample.pieces->length : 0;
        drop_pieces(&sampling->sample, 0);
    }
    return ok;
}

bool guess_inputs_bring_id(const manifest_t *manifest, const schema_t *schema, bool *seen, bool *bring,
                           err_t *err) {
    sampling_t sampling = {.kit = {.looks = true}};
    bool ok = true;
    for (size_t i = 0; ok && !*seen && i < manifest->count && i < MOST_FILES; i++)
        ok = find_first(&sampling, &manifest->files[i], schema, seen, bring, err);
    sampling_free(&sampling);
    return ok;
}
