#include "format/emit.h"
#include "base/text.h"
#include "base/threads.h"
#include "format/cut/delimiter.h"
#include "format/engine/program.h"
#include "format/types.h"
#include "format/values/calendar.h"

#include <math.h>
#include <stdlib.h>

enum { DAY_MS = 86400000 };

/* A section, or an entry of another part, as it will stand in the record. */
typedef struct {
    uint32_t kind;     /* see kind_of */
    uint32_t taken;    /* of the first piece of a kind: how many of the kind are written */
    size_t at, length; /* in emit->values */
} piece_t;

typedef struct {
    const uint8_t *text;
    size_t length;
} value_t;

typedef struct {
    bson_iter_t at; /* raw NULL: the document has no such value */
} noted_t;

struct emit {
    const schema_t *schema;
    err_t *err; /* of this emit_record. After a failure without a sentence, no record makes the document */
    program_t program;     /* without a dialect: only its keys count */
    records_t *reader;     /* reads records back; NULL: the format makes no records again */
    records_place_t again; /* the document that it makes */
    noted_t *noted;        /* by field: the value of a column or length */
    text_t record;         /* after POOL_SLACK bytes */
    text_t values;         /* of fixed width the pieces; of columns one value in the file's encoding, */
    text_t printed;        /* and in UTF-8 */

    /* of records of fixed width: */
    text_t images; /* the fixed part, and an entry of each list of the program, without values */
    const tail_part_t *sections; /* the part of sections, or NULL */
    const char *ids_key;         /* where the identifiers of sections are if they are not in their order */
    bson_iter_t ids, id;         /* those, and that of the section at hand; raw NULL: the document has none */
    piece_t *pieces;
    size_t piece_count, piece_room;
    int part;    /* the last part whose marker is written */
    value_t gap; /* text NULL: it is written, or there is none */
    uint32_t gap_at;
};

/* ---- values of records of fixed width ---- */

static bool text_of(const bson_iter_t *at, value_t *text) {
    const bson_type_t type = at->raw ? bson_iter_type_unsafe(at) : BSON_TYPE_EOD;
    bson_subtype_t subtype;
    uint32_t length;
    if (type == BSON_TYPE_UTF8) {
        text->text = (const uint8_t *)bson_iter_utf8_unsafe(at, &text->length);
    } else if (type == BSON_TYPE_BINARY) {
        bson_iter_binary(at, &subtype, &length, &text->text);
        text->length = length;
    }
    return type == BSON_TYPE_UTF8 || type == BSON_TYPE_BINARY;
}

static bool refuse_value(emit_t *emit, const field_t *field) {
    return err_set(emit->err, STATUS_INPUT, "'%s' holds a value that the field %s never has", field->key,
                   field->name);
}

/* Writes exactly `width` digits. */
static bool print_digits(uint64_t value, uint8_t *out, size_t width) {
    for (size_t i = width; i-- > 0; value /= 10)
        out[i] = (uint8_t)('0' + value % 10);
    return value == 0;
}

static bool print_number(const field_t *field, bool minus, uint64_t digits, uint8_t *out) {
    const size_t sign = field->sign == SIGN_ALWAYS || (field->sign == SIGN_MINUS && minus);
    if (sign)
        *out = minus ? '-' : '+';
    return (sign || !minus) && print_digits(digits, out + sign, field->width - sign);
}

/* Writes a value at its place in an image. False: the field never has this value. */
static bool print_field(const field_t *field, const bson_iter_t *at, text_t *to, size_t image) {
    uint8_t *out = (uint8_t *)to->bytes + image + field->offset;
    value_t text;
    if (text_of(at, &text)) {
        if (field->counted) {
            const bool fits = print_digits(text.length, out, field->width);
            text_append_bytes(to, (const char *)text.text, text.length);
            return fits;
        }
        if (text.length > field->width || (text.length < field->width && field->type != TYPE_TRIMMED))
            return false;
        if (text.length < field->width)
            memset(out + text.length, ' ', field->width - text.length);
        memcpy(out, text.text, text.length);
        return true;
    }
    if (field->type == TYPE_NUMBER && BSON_ITER_HOLDS_DOUBLE(at)) {
        const double value = bson_iter_double_unsafe(at);
        double digits = fabs(value);
        for (int i = 0; i < field->divide; i++)
            digits *= 10;
        return digits < 1e9 && print_number(field, signbit(value), (uint64_t)(digits + 0.5), out);
    }
    const int64_t by = field->divide < 0 ? 10 : 1, value = bson_iter_as_int64(at) / by;
    return (field->type == TYPE_INT || field->type == TYPE_LENGTH) && BSON_ITER_HOLDS_INT32(at) &&
           print_number(field, value < 0, (uint64_t)llabs(value), out);
}

/* Writes a moment as YYYYMMDD and hhmm, of which the document's next element says whether it is 2400. */
static bool print_moment(const emit_t *emit, const make_t *made, const bson_iter_t *moment, uint8_t *image) {
    if (!BSON_ITER_HOLDS_DATE_TIME(moment))
        return true;
    bson_iter_t next = *moment;
    const bool end_of_day = bson_iter_next(&next) && strcmp(bson_iter_key_unsafe(&next), "hour24") == 0;
    const int64_t ms = bson_iter_date_time(moment), minute = (ms % DAY_MS + DAY_MS) % DAY_MS / 60000;
    const field_t *day = &emit->schema->fields[made->from[0].fields[0]];
    const field_t *time = &emit->schema->fields[made->from[1].fields[0]];
    date_t date;
    return ms % 60000 == 0 && calendar_date(ms / DAY_MS - (ms % DAY_MS < 0) - end_of_day, &date) &&
           print_digits(date.year * 10000 + date.month * 100 + date.day, image + day->offset, day->width) &&
           print_digits(end_of_day ? 2400 : (uint64_t)(minute / 60 * 100 + minute % 60), image + time->offset,
                        time->width);
}

/* The coordinates of a point, the longitude first, into their two fields. */
static bool print_point(emit_t *emit, const make_t *made, const bson_iter_t *point, text_t *to,
                        size_t image) {
    bson_iter_t inner, number;
    if (!bson_iter_recurse(point, &inner) || !bson_iter_find(&inner, "coordinates") ||
        !bson_iter_recurse(&inner, &number))
        return true;
    for (size_t i = 2; i-- > 0 && bson_iter_next(&number);) {
        const field_t *field = &emit->schema->fields[made->from[i].fields[0]];
        if (field->width && !print_field(field, &number, to, image))
            return refuse_value(emit, field);
    }
    return true;
}

/* ---- the pass over a document ---- */

static bool walk(emit_t *emit, const op_t *first, const op_t *end, bson_iter_t *at, text_t *to, size_t image);

/* Pieces are in the order of their kinds: by part, and sections by identifier, or by number where the document has a list of
 * identifiers. */
static uint32_t kind_of(const emit_t *emit, const uint8_t *id) {
    const uint32_t part = (uint32_t)(emit->sections - emit->schema->parts) << 24;
    if (emit->sections->list)
        return part | program_section(&emit->program, id);
    return part | (uint32_t)id[0] << 16 | (uint32_t)id[1] << 8 | id[2];
}

static bool id_of(const bson_iter_t *at, value_t *id) {
    return text_of(at, id) && id->length == SCHEMA_ID;
}

/* Makes a piece of an entry. */
static bool add_piece(emit_t *emit, const op_t *op, const bson_iter_t *at) {
    const schema_t *schema = emit->schema;
    const bool section = op->code == OP_SECTION;
    const program_list_t *list = section ? &emit->program.sections[op->at] : &emit->program.parts[op->at];
    const size_t width = section ? schema->sections[op->at].width : schema->parts[op->at].width;
    bson_iter_t inner;
    value_t id;
    if (!bson_iter_recurse(at, &inner) ||
        !GROW(emit->pieces, emit->piece_room, emit->piece_count + 1, emit->err))
        return false;
    piece_t *piece = &emit->pieces[emit->piece_count++];
    const uint8_t *first = section ? (const uint8_t *)schema->sections[op->at].ids[0].first : NULL;
    *piece =
        (piece_t){.kind = section ? kind_of(emit, first) : (uint32_t)op->at << 24, .at = emit->values.length};
    emit->id.raw = NULL;
    text_append_bytes(&emit->values, emit->images.bytes + list->image, width);
    if (emit->values.lacking || !walk(emit, list->ops.first, list->ops.end, &inner, &emit->values, piece->at))
        return false;
    piece->length = emit->values.length - piece->at;
    if (section && emit->id.raw && id_of(&emit->id, &id))
        piece->kind = kind_of(emit, id.text);
    return true;
}

static bool add_pieces(emit_t *emit, const op_t *op, const bson_iter_t *at) {
    bson_iter_t entries;
    if (!BSON_ITER_HOLDS_ARRAY(at) || !bson_iter_recurse(at, &entries))
        return add_piece(emit, op, at);
    bool ok = true;
    while (ok && bson_iter_next(&entries))
        ok = add_piece(emit, op, &entries);
    return ok;
}

/* Takes a value that was made in place of its fields. Where they stay in the document, too, it says nothing new. */
static __attribute__((noinline)) bool take_made(emit_t *emit, const make_t *made, const bson_iter_t *at,
                                                text_t *to, size_t image) {
    if (made->kind == MAKE_POINT)
        return print_point(emit, made, at, to, image);
    return made->kind != MAKE_UTC || print_moment(emit, made, at, (uint8_t *)to->bytes + image) ||
           refuse_value(emit, &made->field);
}

/* Takes what the operation has written. */
static bool take(emit_t *emit, const op_t *op, const bson_iter_t *at, text_t *to, size_t image) {
    const op_rest_t *rest = op_rest(&emit->program, op);
    bson_iter_t inner;
    switch (op->code) {
    case OP_OPEN:
        return !bson_iter_recurse(at, &inner) || walk(emit, op + 1, op + op->span - 1, &inner, to, image);
    case OP_SECTION:
    case OP_ENTRIES:
        return add_pieces(emit, op, at);
    case OP_MADE:
        return take_made(emit, rest->made, at, to, image);
    default:
        if (op->width && op->code != OP_LENGTH)
            return print_field(rest->field, at, to, image) || refuse_value(emit, rest->field);
        emit->noted[rest->field - emit->schema->fields].at = *at;
        return true;
    }
}

/* Takes what the reader of fixed width writes by no operation. */
static void take_other(emit_t *emit, bool root, const bson_iter_t *at) {
    const char *key = bson_iter_key_unsafe(at);
    bson_iter_t inner;
    if (!root) {
        if (strcmp(key, "id") == 0)
            emit->id = *at;
    } else if (strcmp(key, emit->ids_key) == 0) {
        emit->ids = *at;
    } else if (strcmp(key, "unparsed") == 0 && bson_iter_recurse(at, &inner)) {
        while (bson_iter_next(&inner))
            if (BSON_ITER_HOLDS_INT32(&inner))
                emit->gap_at = (uint32_t)bson_iter_int32(&inner);
            else
                text_of(&inner, &emit->gap);
    }
}

/* The operation that writes this key, among those from `from` to `end`; NULL: none does. */
static inline const op_t *find_op(const program_t *program, const op_t *from, const op_t *end,
                                  const char *key, size_t length) {
    for (const op_t *op = from; op < end; op += op->span)
        if (op->head_size == length + 2 && memcmp(op_rest(program, op)->key, key, length) == 0)
            return op;
    return NULL;
}

/* Walks the elements of a document or subdocument and the operations of its keys together. Fields of fixed width are written
 * into the image that begins at `image` in the text. */
static bool walk(emit_t *emit, const op_t *first, const op_t *end, bson_iter_t *at, text_t *to,
                 size_t image) {
    const op_t *next = first;
    bool ok = true;
    while (ok && bson_iter_next(at)) {
        const char *key = bson_iter_key_unsafe(at);
        const size_t length = bson_iter_key_len(at);
        const op_t *op = find_op(&emit->program, next, end, key, length);
        if (!op)
            op = find_op(&emit->program, first, next, key, length);
        if (op) {
            ok = take(emit, op, at, to, image);
            next = op + op->span;
        } else {
            take_other(emit, first == emit->program.record.first, at);
        }
    }
    return ok;
}

/* ---- the tail of a record of fixed width ---- */

/* Called before each piece: adds the gap if its place is here, then the marker of the piece's part if it is not written. */
static void put_before(emit_t *emit, int part) {
    const schema_t *schema = emit->schema;
    if (emit->gap.text && emit->gap_at == emit->record.length - POOL_SLACK) {
        text_append_bytes(&emit->record, (const char *)emit->gap.text, emit->gap.length);
        for (int i = emit->part + 1; i < (int)schema->part_count; i++) {
            const schema_text_t *marker = &schema->parts[i].marker;
            if (emit->gap.length < marker->length ||
                memcmp(emit->gap.text, marker->text, marker->length) != 0)
                continue;
            emit->part = i; /* the gap begins with this part's marker */
            break;
        }
        emit->gap.text = NULL;
    }
    if (part <= emit->part)
        return;
    emit->part = part;
    text_append_bytes(&emit->record, schema->parts[part].marker.text, schema->parts[part].marker.length);
}

static int by_kind(const void *a, const void *b) {
    const piece_t *one = a, *other = b;
    return one->kind != other->kind ? (one->kind > other->kind) - (one->kind < other->kind)
                                    : (one->at > other->at) - (one->at < other->at);
}

/* The next piece of a kind; NULL: all are written. */
static const piece_t *next_piece(emit_t *emit, uint32_t kind) {
    piece_t *const pieces = emit->pieces;
    const size_t count = emit->piece_count;
    const size_t first = SEARCH_FIRST(count, i, pieces[i].kind < kind);
    const size_t next = first < count ? first + pieces[first].taken : count;
    if (next >= count || pieces[next].kind != kind)
        return NULL;
    pieces[first].taken++;
    return &pieces[next];
}

/* Adds the pieces: part by part, sections in the order that the document says, or in that of their identifiers. */
static bool put_pieces(emit_t *emit) {
    bson_iter_t *order = &emit->ids, ids;
    const bool ordered = order->raw && BSON_ITER_HOLDS_ARRAY(order) && bson_iter_recurse(order, &ids);
    bool sorted = true;
    for (size_t i = 1; i < emit->piece_count; i++)
        sorted &= emit->pieces[i - 1].kind <= emit->pieces[i].kind;
    if (!sorted)
        qsort(emit->pieces, emit->piece_count, sizeof *emit->pieces, by_kind);
    for (size_t i = 0; i < emit->piece_count; i++) {
        const piece_t *piece = &emit->pieces[i];
        const uint32_t part = piece->kind >> 24;
        const uint8_t own[] = {(uint8_t)(piece->kind >> 16), (uint8_t)(piece->kind >> 8),
                               (uint8_t)piece->kind};
        const bool section = emit->schema->parts[part].sections;
        value_t id = {own, SCHEMA_ID};
        if (section && ordered &&
            !(bson_iter_next(&ids) && id_of(&ids, &id) && (piece = next_piece(emit, kind_of(emit, id.text)))))
            return false;
        put_before(emit, (int)part);
        text_append_bytes(&emit->record, (const char *)id.text, section ? SCHEMA_ID : 0);
        text_append_bytes(&emit->record, emit->values.bytes + piece->at, piece->length);
    }
    put_before(emit, -1);
    return true;
}

/* Adds to the fixed part, which the pass has written, all that follows it, and its length. */
static bool put_tail(emit_t *emit) {
    const schema_t *schema = emit->schema;
    emit->part = -1;
    if (!put_pieces(emit))
        return false;
    for (size_t i = 0; i < schema->field_count; i++) {
        const field_t *field = &schema->fields[i];
        const bson_iter_t *length = &emit->noted[i].at;
        if (field->type == TYPE_LENGTH && !length->raw)
            print_digits(emit->record.length - POOL_SLACK - schema->fixed,
                         (uint8_t *)emit->record.bytes + POOL_SLACK + field->offset, field->width);
        else if (field->type == TYPE_LENGTH && !print_field(field, length, &emit->record, POOL_SLACK))
            return refuse_value(emit, field);
    }
    return true;
}

/* ---- delimited records ---- */

static bool print_date(const field_t *field, const bson_iter_t *at, uint8_t choice, text_t *text) {
    uint8_t printed[PATTERN_PRINTED];
    if (!BSON_ITER_HOLDS_DATE_TIME(at) || choice >= field->patterns.count)
        return false;
    const size_t length = pattern_write(&field->compiled[choice], bson_iter_date_time(at), printed);
    text_append_bytes(text, (const char *)printed, length);
    return length > 0;
}

/* The text of a field as the file has it, before quotes and escapes. */
static bool print_value(emit_t *emit, size_t index, uint8_t choice, value_t *value) {
    const field_t *field = &emit->schema->fields[index];
    const encoding_t encoding = emit->schema->encoding;
    const bson_iter_t *at = &emit->noted[index].at;
    text_t *printed = &emit->printed, *encoded = &emit->values;
    printed->length = 0;
    if (!at->raw && field->nulls.count) {
        const schema_text_t *null = &field->nulls.items[choice < field->nulls.count ? choice : 0];
        text_append_bytes(printed, null->text, null->length);
    } else if (at->raw && !print_date(field, at, choice, printed) && !value_print(field, at, printed)) {
        return text_of(at, value) || refuse_value(emit, field); /* bytes that are no text */
    }
    *value = (value_t){(const uint8_t *)printed->bytes, printed->length};
    if (encoding_keeps_utf8(encoding) || printed->lacking)
        return !printed->lacking;
    encoded->length = 0;
    if (value->length >= encoded->room && !text_grow(encoded, value->length))
        return false;
    const size_t length = encoding_from_utf8(encoding, (uint8_t *)encoded->bytes, value->text, value->length);
    *value = (value_t){(const uint8_t *)encoded->bytes, length};
    return length != SIZE_MAX;
}

/* Adds a value in quotes. A quote in it is doubled, or escaped by a backslash: always after a backslash that would
 * otherwise escape the first of two. */
static void put_quoted(emit_t *emit, const value_t *value, bool backslash) {
    const schema_t *schema = emit->schema;
    text_t *record = &emit->record;
    char before = 0;
    text_append_bytes(record, &schema->quote, 1);
    for (size_t i = 0; i < value->length; i++) {
        const char byte = (char)value->text[i];
        const bool after = schema->escape_backslash && !schema->escape_backslashes && before == '\\';
        if (schema->escape_backslashes && byte == '\\')
            text_append_bytes(record, "\\", 1);
        if (byte == schema->quote)
            text_append_bytes(record, backslash || after ? "\\" : &schema->quote, 1);
        text_append_bytes(record, &byte, 1);
        before = byte;
    }
    text_append_bytes(record, &schema->quote, 1);
}

/* True if the value holds the delimiter, or ends with the beginning of it. */
static bool meets_delimiter(const schema_t *schema, char delimiter, const value_t *value) {
    const schema_text_t *wide = &schema->wide;
    for (size_t begun = 1; begun < wide->length && begun <= value->length; begun++)
        if (memcmp(value->text + value->length - begun, wide->text, begun) == 0)
            return true;
    return delimiter_find(schema, delimiter, value->text, value->length, 0) != NULL;
}

/* bare: the record had no quotes. Then quotes are a part of its values, and delimiters are in the surplus. */
static bool needs_quotes(const schema_t *schema, const dialect_t *dialect, size_t column,
                         const value_t *value, bool bare) {
    const uint16_t index = dialect->field_of[column];
    if (!schema->quote || !value->length)
        return schema->quote && dialect->columns == 1;
    const uint8_t first = value->text[0], last = value->text[value->length - 1];
    const bool surplus = bare && dialect->surplus_column == (int)column;
    return (!surplus && meets_delimiter(schema, dialect->delimiter, value)) ||
           (!bare && memchr(value->text, schema->quote, value->length)) ||
           (schema->multiline && memchr(value->text, '\n', value->length)) ||
           (index != DIALECT_NO_FIELD && schema->fields[index].type == TYPE_TRIMMED &&
            schema->fields[index].exact && (first == ' ' || last == ' ')) ||
           (column == 0 && schema_is_comment(schema, first)) ||
           (column + 1u == dialect->columns && last == '\r');
}

static bool put_row(emit_t *emit, const dialect_t *dialect, const shape_t *shape) {
    const schema_t *schema = emit->schema;
    text_t *record = &emit->record;
    const bool backslash = schema->escape_backslash && (!schema->escape_double || shape->backslash);
    for (size_t i = 0; i < dialect->columns; i++) {
        const uint16_t field = dialect->field_of[i];
        value_t value = {(const uint8_t *)"", 0};
        if (i && schema->wide.length)
            text_append_bytes(record, schema->wide.text, schema->wide.length);
        else if (i)
            text_append_bytes(record, &dialect->delimiter, 1);
        if (field != DIALECT_NO_FIELD && !print_value(emit, field, shape->choice[field], &value))
            return false;
        if (needs_quotes(schema, dialect, i, &value, !shape->quoted))
            put_quoted(emit, &value, backslash);
        else
            text_append_bytes(record, (const char *)value.text, value.length);
    }
    return true;
}

/* ---- records of both kinds ---- */

/* True if the record makes the document. It is read in front of CR LF, so that a CR at its own end stays its own. */
static bool reads_back(emit_t *emit, const dialect_t *dialect, const bson_t *document, size_t length) {
    static const char after[2 + POOL_SLACK] = "\r\n";
    const uint8_t *bytes = bson_get_data(document);
    int64_t id = 0;
    record_t record;
    text_append_bytes(&emit->record, after, sizeof after);
    if (emit->record.lacking)
        return false;
    const bool with_id = document->len >= 18 && memcmp(bytes + 4, "\x12_id", 5) == 0;
    if (with_id)
        memcpy(&id, bytes + 9, sizeof id);
    records_begin(emit->reader, dialect, (const uint8_t *)emit->record.bytes + POOL_SLACK,
                  (uint32_t)length + 2, false, with_id, id);
    const parsed_t parsed = records_next_into(emit->reader, &emit->again, &record, NULL);
    if (parsed == PARSED_MEMORY)
        return err_memory(emit->err, length);
    return parsed == PARSED_DOCUMENT && record.length == length && record.document_length == document->len &&
           memcmp(emit->again.bytes, bytes, document->len) == 0;
}

bool emit_record(emit_t *emit, const dialect_t *dialect, const bson_t *document, const shape_t *shape,
                 const uint8_t **record, size_t *length, err_t *err) {
    static const char before[POOL_SLACK];
    static const shape_t usual = {.quoted = true};
    const schema_t *schema = emit->schema;
    const bool fixed = schema->kind == RECORDS_FIXED;
    bson_iter_t at;
    if (!emit->reader)
        return emit_possible(schema, err);
    emit->err = err;
    err->text[0] = '\0';
    for (size_t i = 0; i < schema->field_count; i++)
        emit->noted[i].at.raw = NULL;
    emit->ids.raw = NULL;
    emit->gap = (value_t){NULL, 0};
    emit->gap_at = UINT32_MAX;
    emit->piece_count = emit->values.length = emit->record.length = 0;
    text_append(&emit->printed, ""); /* so that it has bytes */
    text_append_bytes(&emit->record, before, sizeof before);
    text_append_bytes(&emit->record, emit->images.bytes, schema->fixed);
    bool same = !emit->record.lacking && bson_iter_init(&at, document) &&
                walk(emit, emit->program.record.first, emit->program.end, &at, &emit->record, POOL_SLACK) &&
                (fixed ? put_tail(emit) : put_row(emit, dialect, shape ? shape : &usual));
    *length = emit->record.length - POOL_SLACK;
    same = same && reads_back(emit, dialect, document, *length);
    if (emit->record.lacking || emit->values.lacking || emit->printed.lacking) {
        text_free(&emit->record);
        text_free(&emit->values);
        text_free(&emit->printed);
        return err_memory(err, *length);
    }
    *record = (const uint8_t *)emit->record.bytes + POOL_SLACK;
    if (!same && !err->text[0])
        err_set(err, STATUS_INPUT,
                fixed ? "the values of this document cannot be written as a record of this format"
                      : "the values of this document cannot be written with the delimiter and quotes of "
                        "this file");
    return same;
}

/* Adds the text of fields that have no values. Returns where it begins. */
static size_t add_image(emit_t *emit, const field_t *fields, size_t count) {
    const size_t at = emit->images.length;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < fields[i].width; j++)
            text_append_bytes(&emit->images, fields[i].nulls.count ? fields[i].nulls.items[0].text + j : " ",
                              1);
    return at;
}

static void add_images(emit_t *emit) {
    const schema_t *schema = emit->schema;
    text_append(&emit->images, "");
    add_image(emit, schema->fields, schema->field_count);
    for (size_t i = 0; i < schema->part_count; i++)
        emit->program.parts[i].image = add_image(emit, schema->parts[i].fields, schema->parts[i].field_count);
    for (size_t i = 0; i < schema->section_count; i++)
        emit->program.sections[i].image =
            add_image(emit, schema->sections[i].fields, schema->sections[i].field_count);
}

emit_t *emit_new(const schema_t *schema) {
    emit_t *emit = ZEROED(emit_t);
    err_t ignored;
    if (!emit)
        return NULL;
    emit->schema = schema;
    if (!emit_possible(schema, &ignored))
        return emit;
    emit->reader = records_new(schema);
    emit->noted = zeroed_memory(alignof(noted_t), (schema->field_count + 1) * sizeof *emit->noted);
    emit->ids_key = "order";
    for (size_t i = 0; i < schema->part_count; i++)
        if (schema->parts[i].sections) {
            emit->sections = &schema->parts[i];
            emit->ids_key = emit->sections->list ? emit->sections->list : "order";
        }
    if (emit->reader && emit->noted && program_compile(schema, NULL, &emit->program)) {
        add_images(emit);
        if (!emit->images.lacking)
            return emit;
    }
    emit_destroy(emit);
    return NULL;
}

void emit_destroy(emit_t *emit) {
    if (!emit)
        return;
    text_free(&emit->record);
    text_free(&emit->printed);
    text_free(&emit->values);
    text_free(&emit->images);
    records_destroy(emit->reader);
    program_free(&emit->program);
    free(emit->again.bytes);
    free(emit->noted);
    free(emit->pieces);
    free(emit);
}

bool emit_possible(const schema_t *schema, err_t *err) {
    if (schema->kind == RECORDS_JSON)
        return err_set(err, STATUS_USAGE,
                       "records of JSON are not written again byte for byte; --emit json prints the "
                       "documents as JSON");
    if (schema->bad_value == BAD_VALUE_NULL)
        return err_set(err, STATUS_USAGE,
                       "by 'on_bad_value: null' the format %s does not keep values that do not fit, so its "
                       "documents make no records again; text keeps them",
                       schema->name);
    if (schema->blanks)
        return err_set(
            err, STATUS_USAGE,
            "how many blanks divide the columns of the format %s is not kept, so its documents make no "
            "records again",
            schema->name);
    if (schema->kind == RECORDS_BSON)
        return err_set(err, STATUS_USAGE,
                       "--emit raw is for records of text; --emit bson prints BSON documents as they are");
    if (schema_tells_place(schema))
        return err_set(
            err, STATUS_USAGE,
            "documents of the format %s name the file of their records, so that records written again would "
            "make others; leave that out of 'make' to get records again",
            schema->name);
    for (size_t i = 0; i < schema->field_count; i++)
        if (schema->fields[i].type == TYPE_JSON)
            return err_set(
                err, STATUS_USAGE,
                "the field %s of the format %s is a text of JSON, of which the document does not tell how "
                "it was written; give it the type text to get records again",
                schema->fields[i].name, schema->name);
    for (size_t i = 0; i < schema->part_count; i++)
        if (schema->parts[i].leave_out)
            return err_set(err, STATUS_USAGE,
                           "the format %s leaves out what comes after %s, so its documents make no records "
                           "again; take a format that keeps everything",
                           schema->name, schema->parts[i].marker.text);
    return true;
}
