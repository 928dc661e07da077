#include "load/plan/sample.h"
#include "base/text.h"
#include "base/threads.h"
#include "format/cut/bson_span.h"
#include "format/cut/bson_walk.h"
#include "format/records.h"
#include "input/manifest.h"
#include "input/source.h"

#include <stdlib.h>
#include <string.h>

/* So many records in all. Neighbours may be alike, so a plain file, where every place costs the same, is
 * looked at in many places; a compressed one has to be read up to the last of them. */
enum { RECORDS = 2048, MOST_FILES = 32, LEAST_PLACES = 16, STEP = 4 << 20 };

/* What is read at a place; the first one of a file must tell its dialect, too. */
enum { FIRST_PIECE = 64 * 1024, PIECE = 8 * 1024 };

typedef struct {
    const schema_t *schema;
    const shardkey_t *key;
    records_t *records;
    hashed_t *hashed;
    dialect_t dialect;
    uint8_t *text; /* FIRST_PIECE bytes, with slack on either side */
    records_place_t place;
    source_kit_t kit; /* so that a compressed tar is read once for all of its members */
    size_t files, most_of_a_piece;
    sample_t *sample;
    size_t slots;
    bson_t values;
} sampler_t;

static bool keep(sampler_t *sampler) {
    sample_t *sample = sampler->sample;
    return GROW(sample->keys, sampler->slots, sample->count + 1, NULL) &&
           (sample->keys[sample->count] = bson_copy(&sampler->values)) && ++sample->count;
}

/* Some records of a piece of whole lines. */
static bool take_piece(sampler_t *sampler, const uint8_t *text, uint32_t length, bool file_start) {
    record_t record;
    size_t taken = 0;
    records_begin(sampler->records, &sampler->dialect, text, length, file_start, sampler->schema->id != NULL,
                  0);
    while (taken < sampler->most_of_a_piece) {
        parsed_t parsed = records_next_into(sampler->records, &sampler->place, &record, NULL);
        if (parsed == PARSED_END)
            return true;
        if (parsed == PARSED_MEMORY)
            return false;
        if (parsed != PARSED_DOCUMENT)
            continue;
        taken++;
        if (shardkey_of(sampler->key, sampler->hashed, sampler->place.bytes, record.document_length,
                        &sampler->values) &&
            !keep(sampler))
            return false;
    }
    return true;
}

size_t sample_find_document(const uint8_t *text, size_t length) {
    enum { IN_A_ROW = 3 };
    bool lies;
    bson_walk_t walk;
    for (size_t at = 0, next, document; at < length; at++) {
        int whole = 0;
        for (next = at;
             whole < IN_A_ROW && (document = bson_span_find(text + next, length - next, &lies)) != 0 &&
             bson_walk(text + next, (uint32_t)document, false, &walk);
             next += document)
            whole++;
        if (whole == IN_A_ROW)
            return at;
    }
    return length;
}

/* One place of a file: the whole lines of the piece that is read there. false: out of memory; *more: the file
 * goes on behind it, as far as can be seen. */
static bool look_at(sampler_t *sampler, const input_file_t *file, source_t *source, uint64_t offset,
                    bool *more) {
    err_t ignored;
    const ssize_t piece = offset ? PIECE : FIRST_PIECE;
    uint8_t *text = sampler->text + POOL_SLACK, *first = text;
    *more = false;
    if (offset && !source_skip_to(source, offset, &ignored))
        return true;
    ssize_t got = source_read(source, text, (size_t)piece, &ignored);
    if (got <= 0)
        return true;
    const bool bson = sampler->schema->kind == RECORDS_BSON;
    if (offset && bson)
        first += sample_find_document(text, (size_t)got);
    else if (offset && (first = memchr(text, '\n', (size_t)got)))
        first++;
    uint8_t *last = bson ? NULL : memrchr(text, '\n', (size_t)got);
    uint8_t *end = got < piece || !last ? text + got : last + 1;
    if (!first || first >= end)
        return true;
    memset(text + got, 0, POOL_SLACK);
    if (!offset && !dialect_sniff(sampler->schema, first, (size_t)(end - first), file->name,
                                  &sampler->dialect, &ignored))
        return true;
    *more = got == piece;
    return take_piece(sampler, first, (uint32_t)(end - first), offset == 0);
}

static bool look_into(sampler_t *sampler, const input_file_t *file) {
    err_t ignored;
    source_t *source = source_open_in(&sampler->kit, file, &ignored);
    bool ok = true, more = source != NULL, anywhere = file->kind == INPUT_PLAIN && !input_is_in_stream(file);
    uint64_t places = anywhere ? RECORDS / sampler->files : LEAST_PLACES;
    uint64_t step = anywhere ? file->text_bound / places : STEP;
    if (step < PIECE && anywhere) {
        places = file->text_bound / PIECE + 1;
        step = PIECE;
    }
    sampler->most_of_a_piece = (size_t)(RECORDS / sampler->files / places) + 1;
    for (uint64_t place = 0; ok && more && place < places; place++)
        ok = look_at(sampler, file, source, place * step, &more);
    if (source)
        source_close(source);
    return ok;
}

bool sample_take(const schema_t *schema, const manifest_t *manifest, const shardkey_t *key, sample_t *sample,
                 err_t *err) {
    sampler_t sampler = {.schema = schema, .key = key, .sample = sample, .kit = {.looks = true}};
    *sample = (sample_t){NULL, 0};
    bson_init(&sampler.values);
    sampler.records = records_new(schema);
    sampler.hashed = hashed_new();
    sampler.text = calloc(1, FIRST_PIECE + 2 * POOL_SLACK);
    bool ok = sampler.records && sampler.hashed && sampler.text;
    size_t files = sampler.files = manifest->count < MOST_FILES ? manifest->count : MOST_FILES;
    for (size_t i = 0; ok && i < files; i++) {
        const input_file_t *file = &manifest->files[i * manifest->count / files];
        if (file->kind != INPUT_STREAM)
            ok = look_into(&sampler, file);
    }
    records_destroy(sampler.records);
    hashed_destroy(sampler.hashed);
    bson_destroy(&sampler.values);
    free(sampler.text);
    free(sampler.place.bytes);
    source_kit_close(&sampler.kit);
    if (!ok)
        sample_free(sample);
    return ok || err_memory(err, FIRST_PIECE);
}

void sample_free(sample_t *sample) {
    for (size_t i = 0; i < sample->count; i++)
        bson_destroy(sample->keys[i]);
    free(sample->keys);
    *sample = (sample_t){NULL, 0};
}
