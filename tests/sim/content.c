#include "content.h"
#include "catalog/ledger/ledger.h"
#include "load/rejects/fix_item.h"

#include <stdio.h>
#include <string.h>

uint64_t content_offset(const input_t *input, const record_t *record) {
    return record->start * input->unit;
}

uint64_t content_block(const input_t *input, const record_t *record) {
    return content_offset(input, record) / LEDGER_BLOCK_BYTES;
}

uint64_t content_end_block(const content_t *content) {
    return (content->size + LEDGER_BLOCK_BYTES - 1) / LEDGER_BLOCK_BYTES;
}

static uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t z = (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
    return z ^ (z >> 29);
}

uint64_t content_record_hash(const record_t *record) {
    const uint8_t bytes[] = {record->length, record->variant, (uint8_t)record->kind};
    return reject_identity_hash(bytes, sizeof bytes);
}

/* And of where they are. */
static uint64_t placed_hash(const record_t *record) {
    return mix(mix(1, record->start), content_record_hash(record));
}

uint64_t content_block_hash(const input_t *input, const content_t *content, uint32_t from, uint32_t to) {
    uint64_t hash = mix(from < to ? content_block(input, &content->records[from]) : 0, to - from);
    for (uint32_t i = from; i < to; i++)
        hash = mix(hash, placed_hash(&content->records[i]));
    return hash;
}

record_kind_t content_kind(const input_t *input, uint32_t start) {
    const uint64_t number = mix(mix(3, input->odd), start) >> 20;
    return input->odd && number % (input->odd < CONTENT_ODDER ? 6 : 2) == 0
               ? (record_kind_t)(1 + number / 6 % 3)
               : RECORD_GOOD;
}

/* By both ends, as a manifest's. */
void content_digest_at(const input_t *input, const content_t *content, uint64_t size, char digest[33]) {
    uint64_t hash = mix(7, size);
    const record_t *last = NULL;
    if (content->damaged) /* the checksum at the end is that of what it was */
        content = &input->states[content->origin];
    for (uint32_t i = 0; input->kind == INPUT_PACKED && i < content->count; i++)
        if (content_offset(input, &content->records[i]) + content->records[i].length * input->unit <= size)
            hash = mix(hash, placed_hash(&content->records[i]));
    for (uint32_t i = 0; i < content->count; i++)
        if (content_offset(input, &content->records[i]) < size)
            last = &content->records[i];
    if (last) {
        record_t first = content->records[0], end = *last;
        const uint64_t seen = (size - content_offset(input, last) + input->unit - 1) / input->unit;
        const bool ended = size >= content_offset(input, last) + last->length * input->unit;
        if (seen < end.length)
            end.length = (uint8_t)seen;
        hash = mix(hash, ended); /* by a line end, which a longer record does not have there */
        if (last == &content->records[0])
            first = end;
        hash = mix(mix(hash, placed_hash(&first)), placed_hash(&end));
    }
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 16; i++)
        digest[i] = digits[hash >> (4 * i) & 15];
    digest[16] = '\0';
}

void content_seal(input_t *input, content_t *content) {
    const record_t *last = content->count ? &content->records[content->count - 1] : NULL;
    content->size = last ? (uint64_t)(last->start + last->length) * input->unit - content->torn : 0;
    content->modified_ns = ++input->clock;
    content_digest_at(input, content, content->size, content->digest);
}

/* format: the fourth of all bits, so that both formats' documents differ */
uint32_t document_of(const input_t *input, const record_t *record, uint32_t format) {
    return 1u << 23 | input->number << 21 | format << 20 | (uint32_t)record->start << 12 |
           (uint32_t)record->length << 6 | (uint32_t)record->variant;
}

document_parts_t document_parts(uint32_t document) {
    return (document_parts_t){.fix = document >> 24,
                              .input = document >> 21 & 3,
                              .format = document >> 20 & 1,
                              .start = document >> 12 & 255,
                              .length = document >> 6 & 63,
                              .variant = document & 63};
}

const record_t *content_at(const content_t *content, uint32_t start) {
    for (uint32_t i = 0; i < content->count; i++)
        if (content->records[i].start == start)
            return &content->records[i];
    return NULL;
}

bool content_makes(const input_t *input, uint32_t document) {
    const document_parts_t parts = document_parts(document);
    for (uint32_t i = 0; i < input->count; i++) {
        const record_t *record = content_at(&input->states[i], parts.start);
        if (record && record->length == parts.length && record->variant == parts.variant &&
            record->kind == RECORD_GOOD)
            return true;
    }
    return false;
}
