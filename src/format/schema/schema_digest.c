#include "format/schema/schema.h"
#include "format/values/hex.h"

#include <string.h>
#include <xxhash.h>

static void digest_bytes(XXH3_state_t *state, const void *bytes, size_t length) {
    uint64_t size = length;
    XXH3_128bits_update(state, &size, sizeof size);
    XXH3_128bits_update(state, bytes, length);
}

static void digest_texts(XXH3_state_t *state, const texts_t *texts) {
    digest_bytes(state, &texts->count, sizeof texts->count);
    for (size_t i = 0; i < texts->count; i++)
        digest_bytes(state, texts->items[i].text, texts->items[i].length);
}

static void digest_field(XXH3_state_t *state, const field_t *field, bool fixed) {
    char kind[] = {(char)field->type, (char)field->divide, (char)field->optional};
    digest_bytes(state, field->key, strlen(field->key));
    digest_bytes(state, kind, sizeof kind);
    digest_texts(state, &field->columns);
    digest_texts(state, &field->nulls);
    digest_texts(state, &field->patterns);
    if (field->point)
        digest_bytes(state, (const char[]){field->point, field->thousands}, 2);
    if (field->exact)
        digest_bytes(state, "exact", 5);
    if (field->no_capitals)
        digest_bytes(state, "no capitals", 11);
    for (int is = 0; field->type == TYPE_BOOLEAN && is < 2; is++)
        digest_texts(state, &field->words[is]);
    if (field->hex)
        digest_bytes(state, "hex", 3);
    if (field->array.length) {
        digest_bytes(state, "array", 5);
        digest_bytes(state, field->array.text, field->array.length);
    }
    if (!fixed)
        return;
    char width[] = {(char)(field->width & 255), (char)(field->width >> 8), (char)field->counted,
                    (char)field->sign};
    digest_bytes(state, width, sizeof width);
    digest_bytes(state, field->is, field->is ? field->width * sizeof *field->is : 0);
}

static void digest_fields(XXH3_state_t *state, const field_t *fields, size_t count) {
    digest_bytes(state, &count, sizeof count);
    for (size_t i = 0; i < count; i++)
        digest_field(state, &fields[i], true);
}

static void digest_made(XXH3_state_t *state, const make_t *made) {
    char kind = (char)made->kind;
    digest_bytes(state, made->field.key, strlen(made->field.key));
    digest_bytes(state, &kind, 1);
    for (size_t i = 0; i < made->from_count; i++) {
        digest_bytes(state, made->from[i].with.text, made->from[i].with.length);
        digest_bytes(state, made->from[i].fields, made->from[i].count * sizeof *made->from[i].fields);
    }
    if (made->kind == MAKE_UTC ||
        (made->kind < MAKE_JOIN && made->field.type == TYPE_TEXT && !made->field.nulls.count))
        return; /* there was no more to say when these formats were new */
    const char change = (char)made->change;
    digest_bytes(state, &change, 1);
    digest_bytes(state, made->text.text, made->text.length);
    digest_field(state, &made->field, false);
}

static void digest_fixed(XXH3_state_t *state, const schema_t *schema) {
    digest_bytes(state, &schema->fixed, sizeof schema->fixed);
    digest_texts(state, &schema->document);
    digest_fields(state, schema->fields, schema->field_count);
    for (size_t i = 0; i < schema->part_count; i++) {
        const tail_part_t *part = &schema->parts[i];
        char traits[] = {(char)part->sections, (char)part->leave_out};
        digest_bytes(state, part->marker.text, part->marker.length);
        digest_bytes(state, traits, sizeof traits);
        digest_bytes(state, part->name, part->name ? strlen(part->name) : 0);
        digest_bytes(state, part->list, part->list ? strlen(part->list) : 0);
        digest_fields(state, part->fields, part->field_count);
    }
    for (size_t i = 0; i < schema->section_count; i++) {
        const section_t *section = &schema->sections[i];
        digest_bytes(state, section->name, strlen(section->name));
        for (size_t j = 0; j < section->id_count; j++)
            digest_bytes(state, &section->ids[j], sizeof section->ids[j]);
        digest_fields(state, section->fields, section->field_count);
    }
}

/* Includes everything that decides which document a record becomes; names and comments do not. */
bool schema_digest(schema_t *schema, err_t *err) {
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return err_memory(err, 576);
    XXH3_128bits_reset(state);
    digest_bytes(state, schema->delimiters, schema->delimiter_count);
    char traits[] = {schema->quote, schema->escape_double, schema->escape_backslash,
                     /* what is refused makes no document */
                     (char)(schema->header == HEADER_REFUSE ? HEADER_NO : schema->header),
                     (char)schema->encoding, (char)schema->surplus_field, (char)schema->surplus_left};
    digest_bytes(state, traits, sizeof traits);
    if (schema->multiline)
        digest_bytes(state, "multiline", 9);
    if (schema->escape_backslashes)
        digest_bytes(state, "backslashes", 11);
    if (schema_is_wide(schema))
        digest_bytes(state, schema->blanks ? "blanks" : schema->wide.text,
                     schema->blanks ? 6 : schema->wide.length);
    if (schema->skip)
        digest_bytes(state, (const char[]){'s', (char)(schema->skip >> 8), (char)schema->skip}, 3);
    if (schema->comment)
        digest_bytes(state, (const char[]){'#', schema->comment}, 2);
    digest_texts(state, &schema->header_words);
    if (schema->header == HEADER_LINE)
        digest_bytes(state, schema->header_line.text, schema->header_line.length);
    for (size_t i = 0; i < schema->field_count; i++)
        digest_field(state, &schema->fields[i], false);
    for (size_t i = 0; i < schema->layout_count; i++)
        digest_bytes(state, schema->layouts[i].fields, schema->layouts[i].count * sizeof(uint16_t));
    for (size_t i = 0; i < schema->made_count; i++)
        digest_made(state, &schema->made[i]);
    if (schema->bad_value) /* the numbers that the words had at first */
        digest_bytes(state, (const char[]){'b', schema->bad_value == BAD_VALUE_NULL ? 1 : 3}, 2);
    if (schema->kind == RECORDS_JSON)
        digest_bytes(state, "json", 4);
    if (schema->kind == RECORDS_BSON)
        digest_bytes(state, "bson", 4);
    if (schema->kind == RECORDS_FIXED)
        digest_fixed(state, schema);
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
    XXH3_freeState(state);
    hex_print(canonical.digest, sizeof canonical.digest, (uint8_t *)schema->digest);
    return true;
}
