#include "format/fixed/fixed.h"
#include "base/chars.h"
#include "format/fixed/fixed_plan.h"
#include "format/fixed/fixed_walk.h"
#include "format/record/bsonw.h"
#include "format/record/dialect.h"
#include "format/values/calendar.h"
#include "format/values/convert.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* fixed_ops: carries out what a plan says of one part of a record of fixed width, field by field. Inside src/format only. */

typedef struct {
    const fixed_plan_t *plan;
    const uint8_t *record;
    uint32_t length;
    bool high; /* the record holds bytes beyond ASCII */
    uint32_t made;
    uint64_t kept_as_text;
    uint64_t day_text; /* the last record's date as text, and as days since 1970 */
    int32_t day;
} fixed_encoder_t;

/* ---- values ---- */

static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

static inline uint8_t *put_head(const fixed_encoder_t *encoder, uint8_t *out, const fixed_op_t *op) {
    if (__builtin_expect(op->head_size > FIXED_HEAD, 0))
        memcpy(out, encoder->plan->rests[op->rest].long_head, op->head_size);
    else
        memcpy(out, op->head, FIXED_HEAD);
    return out + op->head_size;
}

static inline uint8_t *put_text(fixed_encoder_t *encoder, uint8_t *out, const fixed_op_t *op,
                                const uint8_t *text, size_t length) {
    uint8_t *type = out;
    out = put_head(encoder, out, op);
    *type = 0x02;
    if (__builtin_expect(encoder->high && !utf8_valid(text, length), 0)) {
        *type = 0x05;
        encoder->kept_as_text++;
        return bsonw_binary(out, text, length);
    }
    return bsonw_string(out, text, length);
}

/* The length of a code without the blanks after it, which only text has. */
static inline size_t code_length(const fixed_encoder_t *encoder, const uint8_t *text, size_t width) {
    if (encoder->high && !utf8_valid(text, width))
        return width;
    while (width && text[width - 1] == ' ')
        width--;
    return width;
}

/* Writes a value that is not the number that it should be. */
static uint8_t *put_odd(fixed_encoder_t *encoder, uint8_t *out, const fixed_op_t *op, const uint8_t *text) {
    const uint64_t kept = encoder->kept_as_text;
    out = put_text(encoder, out, op, text, op->width);
    encoder->kept_as_text = kept + 1;
    return out;
}

typedef struct {
    uint32_t digits; /* of at most 8 characters */
    bool minus;
} whole_t;

/* Reads a number that is written exactly as it would be printed; a zero may have a minus only before a point. */
static inline bool read_whole(const fixed_op_t *op, const uint8_t *text, whole_t *whole) {
    uint64_t word = digits_load(text + (op->sign == SIGN_ALWAYS)) ^ 0x3030303030303030ull;
    whole->minus = false;
    if (op->sign != SIGN_NEVER) {
        whole->minus = *text == '-';
        if (op->sign == SIGN_ALWAYS && !whole->minus && *text != '+')
            return false;
        if (op->sign == SIGN_MINUS && whole->minus)
            word &= ~0xFFull; /* treated as a zero */
    }
    word = op->shift < 64 ? word << op->shift : 0;
    whole->digits = digits_value(word);
    return digits_only(word) && op->shift < 64;
}

static inline uint8_t *put_int(fixed_encoder_t *encoder, uint8_t *out, const fixed_op_t *op,
                               const uint8_t *text) {
    whole_t whole;
    if (__builtin_expect(!read_whole(op, text, &whole) || (whole.minus && !whole.digits), 0))
        return put_odd(encoder, out, op, text);
    int32_t value = (int32_t)whole.digits * (op->divide < 0 ? 10 : 1);
    return bsonw_int32(put_head(encoder, out, op), whole.minus ? -value : value);
}

static inline double number_of(const fixed_op_t *op, whole_t whole) {
    double value = (double)(int32_t)whole.digits / powers[op->divide];
    return whole.minus ? -value : value;
}

static inline uint8_t *put_number(fixed_encoder_t *encoder, uint8_t *out, const fixed_op_t *op,
                                  const uint8_t *text) {
    whole_t whole;
    if (__builtin_expect(!read_whole(op, text, &whole), 0))
        return put_odd(encoder, out, op, text);
    return bsonw_double(put_head(encoder, out, op), number_of(op, whole));
}

/* Writes how many characters follow, only if the record says it wrong. */
static uint8_t *put_length(fixed_encoder_t *encoder, uint8_t *out, const fixed_op_t *op,
                           const uint8_t *text) {
    whole_t whole;
    if (!read_whole(op, text, &whole))
        return put_odd(encoder, out, op, text);
    if (whole.digits == encoder->length - encoder->plan->schema->fixed)
        return out;
    return bsonw_int32(put_head(encoder, out, op), (int32_t)whole.digits);
}

static uint8_t *put_counted(fixed_encoder_t *encoder, uint8_t *out, const fixed_op_t *op,
                            const uint8_t *text) {
    uint32_t length = 0;
    for (size_t i = 0; i < op->width; i++)
        length = length * 10 + (uint32_t)(text[i] - '0');
    return put_text(encoder, out, op, text + op->width, length);
}

/* ---- made keys ---- */

static bool is_absent(const field_t *field, const uint8_t *text) {
    return field->nulls.count && memcmp(field->nulls.items[0].text, text, field->width) == 0;
}

/* The bytes of the field under its own key. */
static size_t value_length(const fixed_encoder_t *encoder, const field_t *field) {
    return field->type == TYPE_TRIMMED ? code_length(encoder, encoder->record + field->offset, field->width)
                                       : field->width;
}

/* Writes the first item that is there, after its prefix. */
static __attribute__((noinline)) uint8_t *put_first(fixed_encoder_t *encoder, uint8_t *out,
                                                    const fixed_op_t *op) {
    const schema_t *schema = encoder->plan->schema;
    const make_t *made = &schema->made[op->made];
    for (size_t i = 0; i < made->from_count; i++) {
        const schema_text_t *with = &made->from[i].with;
        uint8_t *text = put_head(encoder, out, op) + 4, *end = text;
        /* fields that are joined are always there, whatever they contain */
        bool there = made->from[i].count > 1;
        memcpy(end, with->text ? with->text : "", with->length);
        end += with->length;
        for (size_t j = 0; j < made->from[i].count; j++) {
            const field_t *field = &schema->fields[made->from[i].fields[j]];
            there |= !is_absent(field, encoder->record + field->offset);
            memcpy(end, encoder->record + field->offset, field->width);
            end += value_length(encoder, field);
        }
        if (!there)
            continue;
        if (encoder->high && !utf8_valid(text, (size_t)(end - text)))
            return out;
        bsonw_int32(text - 4, (int32_t)(end - text) + 1);
        *end = 0;
        return end + 1;
    }
    return out;
}

/* From YYYYMMDD and hhmm; 2400 is 0000 of the next day. */
static __attribute__((noinline)) uint8_t *put_utc(fixed_encoder_t *encoder, uint8_t *out,
                                                  const fixed_op_t *op) {
    const make_t *made = &encoder->plan->schema->made[op->made];
    const uint8_t *date = encoder->record + encoder->plan->schema->fields[made->from[0].fields[0]].offset;
    const uint8_t *time = encoder->record + encoder->plan->schema->fields[made->from[1].fields[0]].offset;
    uint64_t day_text = digits_load(date), word = day_text ^ 0x3030303030303030ull;
    if (day_text != encoder->day_text) {
        uint32_t digits = digits_value(word);
        if (!digits_only(word) ||
            !calendar_days(digits / 10000, digits / 100 % 100, digits % 100, &encoder->day))
            return out;
        encoder->day_text = day_text;
    }
    word = (digits_load(time) ^ 0x3030303030303030ull) << 32;
    uint32_t hhmm = digits_value(word);
    if (!digits_only(word) || ((hhmm >= 2400 || hhmm % 100 >= 60) && hhmm != 2400))
        return out;
    int64_t minutes = (int64_t)encoder->day * 1440 + hhmm / 100 * 60 + hhmm % 100;
    out = bsonw_int64(put_head(encoder, out, op), minutes * 60000);
    if (hhmm == 2400) {
        memcpy(out, "\x08hour24\0\x01", 9); // NOLINT(bugprone-not-null-terminated-result): BSON
        out += 9;
    }
    encoder->made |= 1u << op->made;
    return out;
}

/* Writes a GeoJSON point if both coordinates are there and in range. */
static __attribute__((noinline)) uint8_t *put_point(fixed_encoder_t *encoder, uint8_t *out,
                                                    const fixed_op_t *op) {
    const make_t *made = &encoder->plan->schema->made[op->made];
    double values[2];
    for (size_t i = 0; i < 2; i++) {
        const field_t *field = &encoder->plan->schema->fields[made->from[i].fields[0]];
        const uint8_t *text = encoder->record + field->offset;
        fixed_op_t number;
        fixed_plan_number(&number, field);
        whole_t whole;
        if (is_absent(field, text) || !read_whole(&number, text, &whole))
            return out;
        values[i] = number_of(&number, whole);
    }
    if (!bsonw_is_on_earth(values[0], values[1]))
        return out;
    encoder->made |= 1u << op->made;
    return bsonw_point(put_head(encoder, out, op), values[0], values[1]);
}

/* ---- ops ---- */

/* A subdocument that is being written. */
typedef struct {
    uint8_t *head, *body;
} group_t;

/* Opens or closes a subdocument; an empty one is removed again. */
static inline uint8_t *put_group(const fixed_encoder_t *encoder, uint8_t *out, const fixed_op_t *op,
                                 group_t **group) {
    if (op->code == FIXED_OPEN) {
        uint8_t *body = put_head(encoder, out, op);
        *(*group)++ = (group_t){out, body};
        return body + 4;
    }
    const group_t *closed = --*group;
    if (out == closed->body + 4) // NOLINT(clang-analyzer-core.UndefinedBinaryOperatorResult)
        return closed->head;
    *out++ = 0;
    bsonw_int32(closed->body, (int32_t)(out - closed->body));
    return out;
}

/* base: where the part begins, from which the ops count. Writes its elements. */
static uint8_t *fixed_ops_run(fixed_encoder_t *encoder, const fixed_ops_t *ops, const uint8_t *base,
                              uint8_t *out) {
    group_t groups[FIXED_DEPTH], *group = groups;
    for (const fixed_op_t *op = ops->ops, *end = ops->end; op < end; op++) {
        const uint8_t *text = base + op->offset;
        uint64_t word = digits_load(text);
        if ((word & op->mask) == op->null_bytes &&
            (op->width <= 8 || is_absent(encoder->plan->rests[op->rest].field, text)))
            continue;
        if (__builtin_expect(op->unless & encoder->made, 0))
            continue;
        switch ((fixed_code_t)op->code) {
        case FIXED_CHARACTER:
            if (__builtin_expect(word & 0x80, 0)) {
                out = put_text(encoder, out, op, text, 1);
                break;
            }
            out = put_head(encoder, out, op);
            bsonw_int64(out, (int64_t)(2 | (word & 0x7F) << 32));
            out += 6;
            break;
        case FIXED_TEXT:
            out = put_text(encoder, out, op, text, op->width);
            break;
        case FIXED_CODE:
            out = put_text(encoder, out, op, text, code_length(encoder, text, op->width));
            break;
        case FIXED_INT:
            out = put_int(encoder, out, op, text);
            break;
        case FIXED_NUMBER:
            out = put_number(encoder, out, op, text);
            break;
        case FIXED_COUNTED:
            out = put_counted(encoder, out, op, text);
            break;
        case FIXED_LENGTH:
            out = put_length(encoder, out, op, text);
            break;
        case FIXED_OPEN:
        case FIXED_CLOSE:
            out = put_group(encoder, out, op, &group);
            break;
        case FIXED_FIRST:
            out = put_first(encoder, out, op);
            break;
        case FIXED_UTC:
            out = put_utc(encoder, out, op);
            break;
        case FIXED_POINT:
            out = put_point(encoder, out, op);
            break;
        }
    }
    return out;
}

/* fixed_encode: converts one record of fixed width, after fixed_walk, to a document. Inside src/format only. */

static uint8_t *put_close(uint8_t *out, uint8_t *body) {
    *out++ = 0;
    bsonw_int32(body, (int32_t)(out - body));
    return out;
}

/* Writes type, key and NUL of an array. Copies of a constant size are the fast ones. */
static inline uint8_t *put_array_head(uint8_t *out, const uint8_t *head, size_t size) {
    if (__builtin_expect(size <= 48, 1))
        memcpy(out, head, 48);
    else
        memcpy(out, head, size);
    return out + size;
}

/* Writes type and key of an element of an array. */
static inline uint8_t *put_place(uint8_t *out, uint8_t type, uint32_t place) {
    *out++ = type;
    if (__builtin_expect(place < 10, 1)) {
        *out++ = (uint8_t)('0' + place);
    } else {
        uint8_t digits[10];
        size_t count = 0;
        for (; place; place /= 10)
            digits[count++] = (uint8_t)('0' + place % 10);
        while (count)
            *out++ = digits[--count];
    }
    *out++ = 0;
    return out;
}

static inline uint8_t *put_id(uint8_t *out, const uint8_t *id) {
    memcpy(out, "\x02id\0\x04\0\0\0AA1", 12);
    memcpy(out + 8, id, SCHEMA_ID);
    return out + 12;
}

typedef struct {
    const fixed_walk_t *walk;
    bool with_ids;
    uint64_t written[4]; /* sections that are written already, if they are not side by side */
} sections_t;

/* Writes all sections of the kind of the section at `first`; *next is after those that follow it directly. */
static uint8_t *put_family(fixed_encoder_t *encoder, const sections_t *sections, size_t first, size_t *next,
                           uint8_t *out) {
    const fixed_walk_t *walk = sections->walk;
    const fixed_found_t *found = walk->sections;
    const fixed_section_t *planned = &encoder->plan->sections[found[first].section];
    const char *listed = planned->section->ids[0].first;
    size_t end = first + 1, last = walk->section_count;
    while (end < last && found[end].section == found[first].section)
        end++;
    *next = end;
    if (walk->together)
        last = end;
    bool repeated = end - first > 1;
    for (size_t i = end; i < last && !repeated; i++)
        repeated = found[i].section == found[first].section;
    bool array = planned->several || repeated;
    uint8_t *body = put_array_head(out, planned->head, planned->head_size);
    *out = array ? 0x04 : 0x03;
    out = body + (array ? 4 : 0);
    uint32_t place = 0;
    for (size_t i = first; i < last; i++) {
        if (found[i].section != found[first].section)
            continue;
        const uint8_t *id = encoder->record + found[i].at;
        if (array)
            out = put_place(out, 0x03, place++);
        uint8_t *entry = out;
        out += 4;
        if (sections->with_ids && (planned->several || memcmp(id, listed, SCHEMA_ID) != 0))
            out = put_id(out, id);
        out = fixed_ops_run(encoder, &planned->ops, id + SCHEMA_ID, out);
        out = put_close(out, entry);
    }
    return array ? put_close(out, body) : out;
}

static uint8_t *put_ids(const fixed_encoder_t *encoder, const fixed_walk_t *walk, const char *key,
                        uint8_t *out) {
    *out++ = 0x04;
    out = (uint8_t *)stpcpy((char *)out, key) + 1;
    uint8_t *body = out;
    out += 4;
    for (size_t i = 0; i < walk->section_count; i++) {
        out = put_place(out, 0x02, (uint32_t)i);
        out = bsonw_int32(out, SCHEMA_ID + 1);
        memcpy(out, encoder->record + walk->sections[i].at, SCHEMA_ID);
        out += SCHEMA_ID;
        *out++ = 0;
    }
    return put_close(out, body);
}

static uint8_t *put_sections(fixed_encoder_t *encoder, const tail_part_t *part, const fixed_walk_t *walk,
                             uint8_t *out) {
    sections_t sections = {.walk = walk, .with_ids = !part->list};
    if (part->list && walk->section_count)
        out = put_ids(encoder, walk, part->list, out);
    for (size_t i = 0; i < walk->section_count;) {
        uint8_t section = walk->sections[i].section;
        uint64_t *written = &sections.written[section >> 6], bit = 1ull << (section & 63);
        if (!walk->together && *written & bit) {
            i++;
            continue;
        }
        *written |= bit;
        out = put_family(encoder, &sections, i, &i, out);
    }
    return out;
}

static uint8_t *put_entries(fixed_encoder_t *encoder, size_t index, const fixed_walk_t *walk, uint8_t *out) {
    const fixed_part_t *part = &encoder->plan->parts[index];
    uint32_t at = walk->parts[index].from, to = walk->parts[index].to, place = 0;
    uint8_t *head = out, *body = put_array_head(out, part->head, part->head_size);
    out = body + 4;
    while (at < to) {
        if (at == walk->gap && walk->gap_end) {
            at = walk->gap_end;
            continue;
        }
        out = put_place(out, 0x03, place++);
        uint8_t *entry = out;
        out = fixed_ops_run(encoder, &part->ops, encoder->record + at, out + 4);
        out = put_close(out, entry);
        at = part->counted_width ? fixed_walk_entry(part, encoder->record, at, encoder->length)
                                 : at + part->width;
    }
    return place ? put_close(out, body) : head;
}

static uint8_t *put_unparsed(const fixed_encoder_t *encoder, const fixed_walk_t *walk, uint8_t *out) {
    const uint8_t *text = encoder->record + walk->gap;
    size_t length = walk->gap_end - walk->gap;
    memcpy(out, "\x03unparsed", 10);
    uint8_t *body = out += 10;
    memcpy(out + 4,
           "\x10"
           "at",
           4);
    out = bsonw_int32(out + 8, (int32_t)walk->gap);
    memcpy(out, "\x02text", 6);
    if (encoder->high && !utf8_valid(text, length)) {
        *out = 0x05;
        out = bsonw_binary(out + 6, text, length);
    } else {
        out = bsonw_int32(out + 6, (int32_t)length + 1);
        memcpy(out, text, length);
        out += length;
        *out++ = 0;
    }
    return put_close(out, body);
}

/* Writes the elements of the document, without its length and end. It takes at most walk->worst bytes plus those of the
 * plan. */
static uint8_t *fixed_encode(fixed_encoder_t *encoder, const fixed_walk_t *walk, uint8_t *out) {
    const schema_t *schema = encoder->plan->schema;
    bool listed = false;
    encoder->made = 0;
    out = fixed_ops_run(encoder, &encoder->plan->record, encoder->record, out);
    for (size_t i = 0; i < schema->part_count; i++) {
        const tail_part_t *part = &schema->parts[i];
        listed |= part->list || (part->sections && part->leave_out);
        if (walk->parts[i].from == walk->parts[i].to || part->leave_out)
            continue;
        out = part->sections ? put_sections(encoder, part, walk, out) : put_entries(encoder, i, walk, out);
    }
    if (!walk->ascending && !listed)
        out = put_ids(encoder, walk, "order", out);
    return walk->gap_end ? put_unparsed(encoder, walk, out) : out;
}

struct fixed {
    const schema_t *schema;
    fixed_plan_t plan;
    fixed_walk_t walk;
    fixed_encoder_t encoder;
    const uint8_t *text;
    uint32_t length, at, line;
    bool with_id;
    int64_t id_base;
    char reason[200];
};

fixed_t *fixed_new(const schema_t *schema) {
    fixed_t *fixed = calloc(1, sizeof *fixed);
    if (!fixed || !fixed_plan_compile(schema, &fixed->plan)) {
        free(fixed);
        return NULL;
    }
    fixed->schema = schema;
    fixed->encoder.plan = &fixed->plan;
    memcpy(&fixed->encoder.day_text, "19700101", 8); /* the date of day 0: valid before any record was read */
    return fixed;
}

void fixed_destroy(fixed_t *fixed) {
    if (!fixed)
        return;
    fixed_plan_free(&fixed->plan);
    fixed_walk_free(&fixed->walk);
    free(fixed);
}

uint64_t fixed_odd(const fixed_t *fixed) {
    return fixed->encoder.kept_as_text;
}

void fixed_begin(fixed_t *fixed, const uint8_t *text, uint32_t length, bool file_start, bool with_id,
                 int64_t id_base) {
    fixed->text = text;
    fixed->length = length;
    fixed->at = file_start ? (uint32_t)lines_bom(text, length) : 0;
    fixed->line = 0;
    fixed->with_id = with_id;
    fixed->id_base = id_base;
}

static bool holds_high(const uint8_t *text, size_t length) {
    uint64_t bits = 0;
    size_t i = 0;
    for (; i + 32 <= length; i += 32)
        bits |= digits_load(text + i) | digits_load(text + i + 8) | digits_load(text + i + 16) |
                digits_load(text + i + 24);
    for (; i < length; i++)
        bits |= text[i];
    return bits & 0x8080808080808080ull;
}

/* How many characters follow the fixed part, as the record says; 0 if it does not say. */
static uint64_t announced(const fixed_t *fixed, const uint8_t *record) {
    for (size_t i = 0; i < fixed->schema->field_count; i++) {
        const field_t *field = &fixed->schema->fields[i];
        uint64_t count;
        if (field->type == TYPE_LENGTH)
            return convert_digits(record + field->offset, field->width, &count) ? count : 0;
    }
    return 0;
}

/* Does the record end too early: within its fixed part, or where the file was cut off? */
static bool is_short(fixed_t *fixed, bool ends_file, record_t *record) {
    const schema_t *schema = fixed->schema;
    const uint8_t *text = fixed->text + record->offset;
    if (record->length < schema->fixed) {
        snprintf(fixed->reason, sizeof fixed->reason,
                 "it has %u characters; a record of the format %s has at least %u", record->length,
                 schema->name, schema->fixed);
    } else if (ends_file && announced(fixed, text) > record->length - schema->fixed) {
        snprintf(
            fixed->reason, sizeof fixed->reason,
            "it was cut short: it announces %llu characters after the first %u, and the file ends after %u",
            (unsigned long long)announced(fixed, text), schema->fixed, record->length - schema->fixed);
    } else {
        return false;
    }
    record->reason = fixed->reason;
    record->column = record->length + 1;
    record->field = NULL;
    return true;
}

/* Widths count bytes. The record's writer counted characters instead if the fixed part contains a character of several
 * bytes, and what follows the fixed part is unknown to the format: it is the end of the fixed part. */
static bool is_shifted(fixed_t *fixed, record_t *record) {
    const uint8_t *text = fixed->text + record->offset;
    const uint32_t width = fixed->schema->fixed;
    size_t at = 0, length = 0;
    if (fixed->walk.gap != width || fixed->walk.gap_end <= width)
        return false;
    for (; at < width && length < 2; at += length < 2)
        length = utf8_character(text + at, record->length - at);
    if (length < 2)
        return false;
    snprintf(
        fixed->reason, sizeof fixed->reason,
        "a character of %zu bytes (UTF-8) has moved what comes after it: the widths of the format %s count "
        "bytes; have the file written with one byte a character (Latin-1)",
        length, fixed->schema->name);
    record->reason = fixed->reason;
    record->column = (uint32_t)at + 1;
    record->field = NULL;
    return true;
}

parsed_t fixed_next(fixed_t *fixed, uint8_t *out, size_t room, record_t *record) {
    if (fixed->at >= fixed->length)
        return PARSED_END;
    const uint8_t *text = fixed->text + fixed->at;
    uint32_t rest = fixed->length - fixed->at;
    const uint8_t *stop = memchr(text, '\n', rest);
    uint32_t whole = stop ? (uint32_t)(stop - text) + 1 : rest;
    uint32_t length = whole - (stop != NULL);
    length -= length && text[length - 1] == '\r';
    *record = (record_t){
        .offset = fixed->at, .length = length, .line = fixed->line, .line_end = (uint8_t)(whole - length)};
    if (!length || is_short(fixed, !stop, record)) {
        fixed->at += whole;
        fixed->line++;
        return length ? PARSED_REJECT : PARSED_BLANK;
    }
    if (!fixed_walk(&fixed->plan, text, length, &fixed->walk))
        return PARSED_MEMORY;
    record->needed = 64 + (size_t)fixed->plan.record.worst + fixed->walk.worst;
    const bool large = record->needed > RECORD_MOST_NEEDED;
    if (room < record->needed && !large)
        return PARSED_FULL;
    fixed->at += whole;
    fixed->line++;
    if (large)
        return record_refuse_large(record);
    fixed_encoder_t *encoder = &fixed->encoder;
    encoder->record = text;
    encoder->length = length;
    encoder->high = holds_high(text, length);
    if (__builtin_expect(encoder->high, 0) && is_shifted(fixed, record))
        return PARSED_REJECT;
    uint8_t *at = out + 4;
    if (fixed->with_id) {
        memcpy(at, "\x12_id", 5);
        at = bsonw_int64(at + 5, fixed->id_base + record->offset);
    }
    at = fixed_encode(encoder, &fixed->walk, at);
    *at++ = 0;
    bsonw_int32(out, (int32_t)(at - out));
    record->document_length = (uint32_t)(at - out);
    assert(record->document_length <= record->needed);
    return PARSED_DOCUMENT;
}
