/* format: the parts of format.h, and columns that come and go between the files of a load and those before. A column of the
 * collection is of one of four kinds:
 *
 *   bound      a field of the format that the collection was bound with; its digest covers these alone.
 *   added      an optional field after those. The header of the catalog has a row with its type, the time and the file.
 *   missing    a bound or added field that the header of a file lacks. Nothing is written.
 *   left out   no field, but a row in the header, so that none is added while there are documents without it.
 *
 * plan_take_new_columns decides what becomes of a column that the format lacks (schema_t.new_columns); then the checks of
 * inputs add fields to the schema. When the inputs are registered, one conditional write adds their rows; a load that is not
 * first begins again. When a feeder has read a header, the main thread writes rows of columns that are left out, and the result
 * notes missing ones. */
#include "load/plan/format.h"
#include "base/chars.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/log.h"
#include "base/threads.h"
#include "catalog/catalog.h"
#include "catalog/store/store_mongo.h"
#include "format/guess/guess.h"
#include "format/record/record.h"
#include "format/records.h"
#include "format/schema/schema.h"
#include "input/source.h"
#include "load/plan/inputs.h"
#include "load/plan/peek.h"
#include "load/spec/load_spec.h"
#include "server/cluster.h"

#include <bson/bson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the sample ---- */

enum {
    /* of the first input: all of it, or its beginning, places in its middle, and its end */
    SAMPLE = GUESS_MOST_BYTES,
    LEAST_IN_PLACES = 1 << 20, /* a smaller sample is only the beginning */
    BEGINNING_OF = 2,          /* a half of the sample is the beginning, */
    PLACES = 12,
    PLACE_OF = 32,             /* twelve places are a 32nd each, */
    END_OF = 8,                /* and an eighth is the end */
    OTHERS = 63,               /* other inputs, which share one more SAMPLE, */
    LEAST_OF_OTHER = 32 << 10, /* but have at least this much each */
    FIRST = 64 << 10,          /* of a stream, to see its first document; */
    FIRST_OF_FILE = 512 << 10, /* of another input; */
    FIRST_MOST = 16 << 20,     /* at most: no server takes a longer document */
    COUNTED = 256 << 20,       /* how much of a file is read to count its lines */
};

/* A sample of a stream ends when nothing came for QUIET_MS, or after LONGEST_NS in all. */
enum { QUIET_MS = 2000 };
#define LONGEST_NS (10 * INT64_C(1000000000))

/* The texts of the pieces have POOL_SLACK bytes before and after them. */
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

/* Fills the piece up to this length. A quiet stream is not waited for once it gave GUESS_LEAST_LINES and more bytes than
 * `known`. */
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

/* Keeps the bytes read of a stream for the load, since a stream is read only once. */
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

/* Adds the beginning of an input. *source continues after it; NULL: a stream, which keeps the bytes. */
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
    const bool plain = input_has_places(file),
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
    return sample->count || !manifest->count; /* false: *err says what is wrong with the last input */
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

/* Finds out whether a stream has new columns. Keeps the bytes that are read. */
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

/* ---- `_id`s that the documents bring ---- */

enum { MOST_FILES = 8 };

typedef struct {
    peek_t *peek;
    const schema_t *schema;
    bool *decided, *bring;
} id_search_t;

static bool see_id(void *context, const peeked_t *peeked) {
    const id_search_t *search = context;
    bson_t document;
    bson_iter_t id;
    if (peeked->parsed != PARSED_DOCUMENT)
        return true;
    *search->decided = bson_init_static(&document, peeked->document, peeked->record->document_length);
    *search->bring = *search->decided && element_of(&document, "_id", &id);
    return false;
}

/* Finds the first document of an input (*decided), and whether it has an `_id` (*bring). */
static bool look_for_id(id_search_t *search, const guess_piece_t *piece, err_t *err) {
    dialect_t dialect;
    err_t misfit; /* reported by the checks of inputs */
    return !dialect_sniff(search->schema, piece->text, piece->length, piece->input, &dialect, &misfit) ||
           peek_text(search->peek, &dialect, piece->text, piece->length, true, see_id, search, err) !=
               PEEK_FAULT;
}

/* Reads until the first document ends, or the input. */
static bool find_first(sampling_t *sampling, input_file_t *file, id_search_t *search, err_t *err) {
    /* bytes that a guess has kept of a stream are there without waiting */
    const size_t kept = source_kept(file);
    size_t known = 0, most = file->kind != INPUT_STREAM || kept > FIRST_OF_FILE ? FIRST_OF_FILE : kept;
    bool ok = true, more = true;
    for (most = most ? most : FIRST; ok && more && !*search->decided; most *= 2) {
        source_t *source;
        most = most < FIRST_MOST ? most : FIRST_MOST;
        ok = add_beginning(sampling, file, most, known, &source, err) &&
             look_for_id(search, sampling->sample.pieces, err);
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
    id_search_t search = {peek_new(schema, false, err), schema, seen, bring};
    bool ok = search.peek;
    for (size_t i = 0; ok && !*seen && i < manifest->count && i < MOST_FILES; i++)
        ok = find_first(&sampling, &manifest->files[i], &search, err);
    sampling_free(&sampling);
    peek_free(search.peek);
    return ok;
}

/* ---- a format that the catalog keeps ---- */

/* Requires the columns that make the `_id`s of each header. */
static void need_id(schema_t *schema, const char *fields) {
    char path[SCHEMA_WIDEST];
    for (const char *at = fields; at && *at; at += strcspn(at, ","), at += *at == ',') {
        snprintf(path, sizeof path, "%.*s", (int)strcspn(at, ","), at);
        schema_need(schema, path);
    }
}

static bool take_left_out(const catalog_header_t *header, schema_t *schema, err_t *err) {
    schema_text_t *items = schema_own(schema, (header->column_count + 1) * sizeof *items, err);
    schema->left_out = (texts_t){items, 0};
    for (size_t i = 0; items && i < header->column_count; i++) {
        const header_column_t *column = &header->columns[i];
        char *name = *column->type ? NULL : schema_own(schema, strlen(column->name) + 1, err);
        if (name)
            items[schema->left_out.count++] =
                (schema_text_t){strcpy(name, column->name), strlen(column->name)};
    }
    return items;
}

bool kept_format(store_t *store, const char *name, bool must, schema_t **schema, char **text,
                 uint64_t *widened, err_t *err) {
    catalog_header_t header = {0};
    bool found;
    *schema = NULL;
    *text = NULL;
    if (!store_read_header(store, &header, &found, err))
        return false;
    bool ok = true;
    if (found && header.format_text) {
        *schema = schema_parse_guessed(header.format_text, "the format in the catalog", err);
        ok = *schema && take_left_out(&header, *schema, err);
        *widened = header.widened;
        if (ok) {
            need_id(*schema, header.id);
            *text = header.format_text;
            header.format_text = NULL;
        }
    } else if (found && header.format) {
        ok = err_set(
            err, STATUS_USAGE,
            "--format is missing: %s was loaded with --format %s: give the same one; one of your own by the "
            "path of its file, such as --format ./my.yaml",
            name, header.format);
    } else if (must) {
        ok = err_set(err, STATUS_USAGE,
                     "%s has no catalog, so no load has filled it, and there is nothing to load again into; "
                     "check --uri",
                     name);
    }
    catalog_header_free(&header);
    return ok;
}

bool kept_format_agrees(schema_t *schema, const char *text, const guess_options_t *options, const char *whose,
                        const char *name, err_t *err) {
    char kept[320];
    snprintf(kept, sizeof kept, "the format that was kept when %s was first loaded", name);
    return guess_options_agree(options, schema, text, whose ? whose : kept, err) &&
           (!options->bad_value_given || schema_set_bad_value(schema, options->bad_value, err));
}

static bool ask_catalog(const server_options_t *target, const guess_options_t *options, schema_t **schema,
                        char **text, err_t *err) {
    uint64_t widened;
    server_t *server = server_connect(target, err);
    mongoc_client_t *client = server ? server_take(server, err) : NULL;
    store_t *store = client ? store_mongo_open(server, client, err) : NULL;
    const bool ok =
        store && kept_format(store, server_namespace(server), false, schema, text, &widened, err) &&
        (!*schema || kept_format_agrees(*schema, *text, options, NULL, server_namespace(server), err));
    store_mongo_close(store);
    if (client)
        server_give(server, client);
    server_destroy(server);
    return ok;
}

schema_t *kept_format_or_guess(const server_options_t *target, const guess_options_t *options,
                               manifest_t *manifest, char **text, err_t *err) {
    guessed_t guessed = {.yaml = NULL};
    schema_t *schema = NULL;
    *text = NULL;
    if (!ask_catalog(target, options, &schema, text, err)) {
        schema_destroy(schema);
        return NULL;
    }
    if (schema)
        return schema;
    schema = guess_inputs_open(manifest, options, &guessed, err);
    *text = guessed.yaml;
    guessed.yaml = NULL;
    guessed_free(&guessed);
    return schema;
}

bool kept_format_hold(const catalog_header_t *header, const char *name, schema_t *schema, bool fixes,
                      err_t *err) {
    if (!header->format_text || schema->guessed)
        return true;
    schema_t *kept = schema_parse_guessed(header->format_text, "the format in the catalog", err);
    if (!kept)
        return false;
    const char *more = schema->any_lines && !kept->any_lines           ? "without 'multiline: yes'"
                       : kept->quoted_needed && !schema->quoted_needed ? "with 'quoted: needed'"
                                                                       : NULL;
    schema->guessed = true;
    char with[sizeof schema->digest], without[sizeof schema->digest];
    if (schema->field_count > kept->field_count || !schema_digest_of(schema, schema->field_count, with) ||
        !schema_digest_of(kept, schema->field_count, without) || strcmp(with, without) != 0) {
        schema_destroy(kept);
        return err_set(
            err, STATUS_USAGE,
            "%s was loaded with a format that was guessed, and this --format has other columns at its end: "
            "leave --format out, and new columns are added",
            name);
    }
    if (kept->field_count <= schema->field_count)
        schema_destroy(kept);
    else if (!schema_extend(schema, kept, err))
        return false;
    return !more || fixes ||
           err_set(err, STATUS_USAGE,
                   "%s was loaded %s: give this --format with --retry, for the records that were "
                   "rejected, or load all anew with --drop",
                   name, more);
}

static bool is_column_of(const field_t *field, const char *name) {
    for (size_t i = 0; i < field->columns.count; i++)
        if (encoding_same(ENCODING_NONE, field->columns.items[i].text, field->columns.items[i].length,
                          (const uint8_t *)name, strlen(name), true))
            return true;
    return false;
}

/* Refuses a field whose column was left out of a file: the documents of that file lack it. */
static bool check_left_out(const catalog_header_t *header, const char *name, const field_t *field,
                           err_t *err) {
    if (!header->knows_columns)
        return err_set(
            err, STATUS_USAGE,
            "%s was first loaded by an earlier version of tipple, which did not note the columns that it "
            "left "
            "out: so its format gets no new field '%s'. Use the old format file, load into another "
            "collection, or start over with --drop",
            name, field->name);
    for (size_t i = 0; i < header->column_count; i++) {
        const header_column_t *column = &header->columns[i];
        if (*column->type || !is_column_of(field, column->name))
            continue;
        err_set(err, STATUS_INPUT,
                "the format has a field for the column '%s', which was left out when %s%s loaded into %s: ",
                column->name, column->by, column->others ? " and other files were" : " was", name);
        return column->others
                   ? err_add(err, "use the format without the field, or start over with --drop")
                   : err_add(err,
                             "take that file out (tipple forget --delete %s), and load it again, or "
                             "use the format without the field",
                             column->by);
    }
    return true;
}

/* Checks the fields of a --format after the bound ones: first those that came later, in the order of their rows. */
static bool check_added(const catalog_header_t *header, const char *name, schema_t *schema, err_t *err) {
    char digest[sizeof schema->digest];
    size_t at = 0;
    while (at < schema->field_count && !schema->fields[at].added)
        at++;
    for (size_t i = 0; i < header->column_count; i++) {
        const header_column_t *column = &header->columns[i];
        if (!*column->type)
            continue;
        if (at == schema->field_count || !schema_digest_of(schema, ++at, digest) ||
            strcmp(digest, column->digest) != 0)
            return err_set(err, STATUS_USAGE,
                           "the format of %s has got the column '%s' (%s) with %s, and this --format has "
                           "not, or reads it "
                           "otherwise: append the same field to its file",
                           name, column->name, column->type, column->by);
    }
    for (; at < schema->field_count; at++)
        if (!check_left_out(header, name, &schema->fields[at], err))
            return false;
    return true;
}

bool kept_columns(const catalog_header_t *header, const char *name, schema_t *schema, err_t *err) {
    const bool same = header->format_digest && schema_bind(schema, header->format_digest);
    return take_left_out(header, schema, err) &&
           (!same || header->format_text || check_added(header, name, schema, err));
}
