#include "base/chars.h"
#include "base/text.h"
#include "base/threads.h"
#include "format/cut/ends.h"
#include "format/cut/split.h"
#include "format/engine/program.h"
#include "format/records.h"
#include "format/types.h"
#include "format/values/values.h"

#include <math.h>
#include <stdlib.h>

enum { DAY_MS = 86400000, MINUTE_MS = 60000 };

/* An element of a document. type 0: the document has none. */
typedef struct {
    uint8_t type;
    uint32_t key_length;
    const char *key;
    const uint8_t *value;
} element_t;

/* A section, or an entry of another part, as it will stand in the record. */
typedef struct {
    uint32_t kind;     /* its part, and the identifier of a section: pieces are in the order of their kinds */
    uint32_t list;     /* of the program */
    size_t at, length; /* in emit->tail */
} piece_t;

typedef struct {
    const uint8_t *text;
    size_t length;
} value_t;

struct emit {
    const schema_t *schema;
    program_t program;                    /* without a dialect: only its keys count */
    records_t *reader;                    /* reads records back; NULL: the format makes no records again */
    records_place_t again;                /* the document that it makes */
    text_t record;                        /* after POOL_SLACK bytes */
    text_t tail;                          /* the texts of the pieces, or one value */
    element_t values[SCHEMA_MOST_FIELDS]; /* by field of the record, */
    element_t inner[SCHEMA_MOST_FIELDS];  /* and of the section or entry at hand */

    /* of records of fixed width: */
    bool end_of_day;     /* the time is 2400 */
    const char *ids_key; /* where the identifiers of sections are if they are not in their order */
    element_t ids, id;   /* those, and that of the section at hand */
    piece_t *pieces;
    size_t piece_count, piece_room;
    size_t next[SCHEMA_MOST_SECTIONS + SCHEMA_MOST_PARTS]; /* by list: its first piece that is not written */
    int part;                                              /* the last part whose marker is written */
    value_t gap;                                           /* text NULL: it is written, or there is none */
    uint32_t gap_at;
};

/* ---- elements ---- */

/* The document is valid BSON. False: it has no more elements, or one of a type that no format writes; then the rest is left
 * out, and reading back refuses the record. */
static bool next_element(const uint8_t **at, element_t *element) {
    static const struct {
        uint8_t bytes;
        bool counted; /* and as many bytes as its first four say */
    } sizes[] = {[BSON_TYPE_DOUBLE] = {8, false},     [BSON_TYPE_UTF8] = {4, true},
                 [BSON_TYPE_DOCUMENT] = {0, true},    [BSON_TYPE_ARRAY] = {0, true},
                 [BSON_TYPE_BINARY] = {5, true},      [BSON_TYPE_OID] = {12, false},
                 [BSON_TYPE_BOOL] = {1, false},       [BSON_TYPE_DATE_TIME] = {8, false},
                 [BSON_TYPE_INT32] = {4, false},      [BSON_TYPE_INT64] = {8, false},
                 [BSON_TYPE_DECIMAL128] = {16, false}};
    element->type = **at;
    if (!element->type || element->type >= COUNT(sizes))
        return false;
    element->key = (const char *)*at + 1;
    element->key_length = (uint32_t)strlen(element->key);
    element->value = *at + element->key_length + 2;
    const bool counted = sizes[element->type].counted;
    *at = element->value + sizes[element->type].bytes + (counted ? bson_length(element->value) : 0);
    return *at > element->value;
}

/* The bytes of a text, or of what is no text in its encoding. False: it is neither. */
static bool text_of(const element_t *element, value_t *text) {
    const bool binary = element->type == BSON_TYPE_BINARY, is = binary || element->type == BSON_TYPE_UTF8;
    if (is)
        *text = (value_t){element->value + 4 + binary, bson_length(element->value) - !binary};
    return is;
}

/* ---- fields of fixed width ---- */

/* A moment as YYYYMMDD or as hhmm, by the width. */
static uint64_t digits_of_moment(const emit_t *emit, int64_t ms, size_t width) {
    const int64_t time = (ms % DAY_MS + DAY_MS) % DAY_MS / MINUTE_MS;
    date_t date = {0, 0, 0};
    if (width == 4)
        return emit->end_of_day ? 2400 : (uint64_t)(time / 60 * 100 + time % 60);
    calendar_date(ms / DAY_MS - (ms % DAY_MS < 0) - emit->end_of_day, &date);
    return date.year * 10000 + date.month * 100 + date.day;
}

/* Appends a value as it stands in a record. What the field is too narrow for is cut, and reading back refuses it. */
static void put_field(const emit_t *emit, const field_t *field, const element_t *element, text_t *to) {
    const size_t width = field->width;
    value_t text = {(const uint8_t *)"", 0};
    bool minus = false;
    uint64_t digits;
    int64_t whole;
    double number;
    if (to->length + width >= to->room && !text_grow(to, width))
        return;
    uint8_t *out = (uint8_t *)to->bytes + to->length;
    to->length += width;
    switch (element->type) {
    case BSON_TYPE_DOUBLE:
        memcpy(&number, element->value, sizeof number);
        minus = signbit(number);
        number = fabs(number) * (field->divide > 0 ? convert_powers[field->divide] : 1);
        digits = number < 1e9 ? (uint64_t)(number + 0.5) : 0;
        break;
    case BSON_TYPE_INT32:
        whole = (int32_t)bson_length(element->value) / (field->divide < 0 ? 10 : 1);
        minus = whole < 0;
        digits = (uint64_t)llabs(whole);
        break;
    case BSON_TYPE_DATE_TIME:
        memcpy(&whole, element->value, sizeof whole);
        digits = digits_of_moment(emit, whole, width);
        break;
    default:
        if (!text_of(element, &text) && field->nulls.count)
            text = (value_t){(const uint8_t *)field->nulls.items[0].text, width};
        digits = text.length;
        if (field->counted)
            break;
        memset(out, ' ', width);
        memcpy(out, text.text, text.length < width ? text.length : width);
        return;
    }
    digits_write(out, width, digits);
    if (field->sign == SIGN_ALWAYS || (field->sign == SIGN_MINUS && minus))
        *out = minus ? '-' : '+';
    text_append_bytes(to, (const char *)text.text, text.length);
}

static void put_fields(const emit_t *emit, const field_t *fields, size_t count, const element_t *values,
                       text_t *to) {
    for (size_t i = 0; i < count; i++)
        put_field(emit, &fields[i], &values[i], to);
}

/* ---- the walk over a document ---- */

static bool walk(emit_t *emit, const op_t *first, const op_t *end, const uint8_t *document,
                 const field_t *fields, element_t *values);

/* Makes a piece of an entry, or of a section. */
static bool add_piece(emit_t *emit, const op_t *op, const element_t *at) {
    const program_list_t *list = &emit->program.lists[op->at];
    value_t id = {(const uint8_t *)"\0\0", SCHEMA_ID};
    if (at->type != BSON_TYPE_DOCUMENT || !GROW(emit->pieces, emit->piece_room, emit->piece_count + 1, NULL))
        return false;
    memset(emit->inner, 0, list->of->field_count * sizeof *emit->inner);
    emit->id.type = 0;
    if (list_has_sections(list))
        id.text = (const uint8_t *)list->of->ids[0].first;
    if (!walk(emit, op + 1, op + op->span, at->value, list->of->fields, emit->inner) ||
        (list_has_sections(list) && text_of(&emit->id, &id) && id.length != SCHEMA_ID))
        return false;
    const uint32_t kind = (uint32_t)(list->part - emit->schema->parts) << 24 | (uint32_t)id.text[0] << 16 |
                          (uint32_t)id.text[1] << 8 | id.text[2];
    const size_t begin = emit->tail.length;
    put_fields(emit, list->of->fields, list->of->field_count, emit->inner, &emit->tail);
    emit->pieces[emit->piece_count++] = (piece_t){kind, op->at, begin, emit->tail.length - begin};
    return true;
}

/* A section or entry alone, or an array of some. */
static bool add_pieces(emit_t *emit, const op_t *op, const element_t *at) {
    const uint8_t *rest = at->value + 4;
    element_t entry;
    emit->next[op->at] = emit->piece_count;
    if (at->type != BSON_TYPE_ARRAY)
        return add_piece(emit, op, at);
    bool ok = true;
    while (ok && next_element(&rest, &entry))
        ok = add_piece(emit, op, &entry);
    return ok;
}

/* Takes a value that was made in place of its fields. Where they stay in the document, too, it says nothing new. The
 * coordinates of a point are an array, the longitude first. */
static void take_made(emit_t *emit, const make_t *made, const element_t *at) {
    const uint8_t *rest = at->value + 4, *numbers;
    element_t inner;
    if (made->kind == MAKE_UTC)
        emit->values[made->from[0].fields[0]] = emit->values[made->from[1].fields[0]] = *at;
    if (made->kind != MAKE_POINT || !emit->schema->fixed || at->type != BSON_TYPE_DOCUMENT)
        return;
    while (next_element(&rest, &inner)) {
        numbers = inner.value + 4;
        for (size_t i = 2; inner.type == BSON_TYPE_ARRAY && i-- > 0;)
            if (!next_element(&numbers, &emit->values[made->from[i].fields[0]]))
                break;
    }
}

/* Takes what the reader of fixed width writes by no operation. */
static void take_other(emit_t *emit, bool root, const element_t *at) {
    const uint8_t *rest = at->value + 4;
    element_t inner;
    if (!root) {
        if (strcmp(at->key, "id") == 0)
            emit->id = *at;
    } else if (strcmp(at->key, emit->ids_key) == 0) {
        emit->ids = *at;
    } else if (strcmp(at->key, "hour24") == 0) {
        emit->end_of_day = true;
    } else if (strcmp(at->key, "unparsed") == 0 && at->type == BSON_TYPE_DOCUMENT) {
        while (next_element(&rest, &inner))
            if (inner.type == BSON_TYPE_INT32)
                emit->gap_at = bson_length(inner.value);
            else
                text_of(&inner, &emit->gap);
    }
}

/* The operation that writes this key, among those from `from` to `end`; NULL: none does. */
static inline const op_t *find_op(const program_t *program, const op_t *from, const op_t *end,
                                  const element_t *at) {
    for (const op_t *op = from; op < end; op += op->span)
        if (op->head_size == at->key_length + 2 &&
            memcmp(op_rest(program, op)->key, at->key, at->key_length) == 0)
            return op;
    return NULL;
}

/* Walks the elements of a document or subdocument and the operations of its keys together, and notes the values of the fields. */
static bool walk(emit_t *emit, const op_t *first, const op_t *end, const uint8_t *document,
                 const field_t *fields, element_t *values) {
    const uint8_t *rest = document + 4;
    const op_t *next = first, *op;
    element_t at;
    bool ok = true;
    while (ok && next_element(&rest, &at)) {
        if (!(op = find_op(&emit->program, next, end, &at)) &&
            !(op = find_op(&emit->program, first, next, &at))) {
            take_other(emit, values == emit->values, &at);
            continue;
        }
        next = op + op->span;
        if (op->code == OP_LIST)
            ok = add_pieces(emit, op, &at);
        else if (op->code == OP_MADE)
            take_made(emit, op_rest(&emit->program, op)->made, &at);
        else if (op->code != OP_OPEN)
            values[op_rest(&emit->program, op)->field - fields] = at;
        else
            ok = at.type == BSON_TYPE_DOCUMENT && walk(emit, op + 1, next - 1, at.value, fields, values);
    }
    return ok;
}

/* ---- records of fixed width ---- */

/* Called before each piece: adds the gap if its place is here, then the marker of the piece's part if it is not written. */
static void put_before(emit_t *emit, int part) {
    const schema_t *schema = emit->schema;
    if (emit->gap.text && emit->gap_at == emit->record.length - POOL_SLACK) {
        text_append_bytes(&emit->record, (const char *)emit->gap.text, emit->gap.length);
        for (int i = (int)schema->part_count - 1, opened = emit->part; i > opened; i--) {
            const schema_text_t *marker = &schema->parts[i].marker;
            if (emit->gap.length >= marker->length &&
                memcmp(emit->gap.text, marker->text, marker->length) == 0)
                emit->part = i; /* the gap begins with this part's marker */
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

/* The next piece of the section with this identifier; NULL: there is none. */
static const piece_t *next_piece(emit_t *emit, const value_t *id) {
    const uint8_t section = program_section(&emit->program, id->text);
    const size_t next = section == NO_SECTION ? emit->piece_count : emit->next[section]++;
    return next < emit->piece_count && emit->pieces[next].list == section ? &emit->pieces[next] : NULL;
}

/* Adds to the fixed part all that follows it, part by part: sections in the order that the document says, or in that of their
 * identifiers. */
static bool put_tail(emit_t *emit) {
    const bool ordered = emit->ids.type == BSON_TYPE_ARRAY;
    const uint8_t *ids = ordered ? emit->ids.value + 4 : NULL;
    element_t next;
    emit->part = -1;
    if (!ordered && emit->piece_count)
        qsort(emit->pieces, emit->piece_count, sizeof *emit->pieces, by_kind);
    for (size_t i = 0; i < emit->piece_count; i++) {
        const piece_t *piece = &emit->pieces[i];
        const bool section = list_has_sections(&emit->program.lists[piece->list]);
        const uint8_t own[] = {(uint8_t)(piece->kind >> 16), (uint8_t)(piece->kind >> 8),
                               (uint8_t)piece->kind};
        value_t id = {own, section ? SCHEMA_ID : 0};
        if (section && ordered &&
            (!next_element(&ids, &next) || !text_of(&next, &id) || id.length != SCHEMA_ID ||
             !(piece = next_piece(emit, &id))))
            return false;
        put_before(emit, (int)(piece->kind >> 24));
        text_append_bytes(&emit->record, (const char *)id.text, id.length);
        text_append_bytes(&emit->record, emit->tail.bytes + piece->at, piece->length);
    }
    put_before(emit, -1);
    return true;
}

static bool put_fixed(emit_t *emit) {
    const schema_t *schema = emit->schema;
    put_fields(emit, schema->fields, schema->field_count, emit->values, &emit->record);
    if (!put_tail(emit) || emit->record.lacking)
        return false;
    for (size_t i = 0; i < schema->field_count; i++) {
        const field_t *field = &schema->fields[i];
        if (field->type == TYPE_LENGTH && !emit->values[i].type)
            digits_write((uint8_t *)emit->record.bytes + POOL_SLACK + field->offset, field->width,
                         emit->record.length - POOL_SLACK - schema->fixed);
    }
    return true;
}

/* ---- delimited records ---- */

/* Prints a value in UTF-8. choice: which of the date patterns the record had. */
static bool print(emit_t *emit, const bson_t *document, const field_t *field, const element_t *element,
                  uint8_t choice) {
    const uint8_t *bytes = bson_get_data(document);
    const uint32_t offset = (uint32_t)((const uint8_t *)element->key - 1 - bytes);
    bson_iter_t at;
    field_t chosen;
    if (choice && choice < field->patterns.count) {
        chosen = *field;
        chosen.compiled += choice;
        chosen.patterns.count -= choice;
        field = &chosen;
    }
    return bson_iter_init_from_data_at_offset(&at, bytes, document->len, offset, element->key_length) &&
           value_print(field, &at, &emit->tail);
}

/* The text of a field as the file has it, before quotes and escapes. */
static bool find_value(emit_t *emit, const bson_t *document, size_t index, uint8_t choice, value_t *value) {
    const field_t *field = &emit->schema->fields[index];
    const element_t *element = &emit->values[index];
    const encoding_t encoding = emit->schema->encoding;
    emit->tail.length = 0;
    if (!element->type && field->nulls.count) {
        const schema_text_t *null = &field->nulls.items[choice];
        *value = (value_t){(const uint8_t *)null->text, null->length};
    } else if (element->type == BSON_TYPE_UTF8) {
        text_of(element, value);
    } else if (!element->type || print(emit, document, field, element, choice)) {
        *value = (value_t){(const uint8_t *)emit->tail.bytes, emit->tail.length};
    } else {
        return text_of(element, value); /* bytes that are no text */
    }
    if (encoding_keeps_utf8(encoding))
        return true;
    if (!emit->tail.length) /* what is encoded is never longer, so it takes the place of its text */
        text_append_bytes(&emit->tail, (const char *)value->text, value->length);
    uint8_t *encoded = (uint8_t *)emit->tail.bytes;
    *value = (value_t){encoded, encoding_from_utf8(encoding, encoded, encoded, emit->tail.length)};
    return value->length != SIZE_MAX;
}

/* Adds a value in quotes. A quote in it is doubled, or escaped by a backslash. */
static void put_quoted(emit_t *emit, const value_t *value, bool backslash) {
    const schema_t *schema = emit->schema;
    text_t *record = &emit->record;
    text_append_bytes(record, &schema->quote, 1);
    for (size_t i = 0; i < value->length; i++) {
        const char byte = (char)value->text[i];
        if (byte == schema->quote)
            text_append_bytes(record, backslash ? "\\" : &schema->quote, 1);
        else if (schema->escape_backslashes && byte == '\\')
            text_append_bytes(record, "\\", 1);
        text_append_bytes(record, &byte, 1);
    }
    text_append_bytes(record, &schema->quote, 1);
}

/* bare: the record had no quotes. Then quotes are a part of its values, and delimiters are in the surplus. */
static bool needs_quotes(const schema_t *schema, const dialect_t *dialect, size_t column,
                         const value_t *value, bool bare) {
    const uint16_t index = dialect->field_of[column];
    if (!schema->quote || !value->length)
        return schema->quote && dialect->columns == 1;
    const uint8_t first = value->text[0], last = value->text[value->length - 1];
    const bool surplus = bare && dialect->surplus_column == (int)column;
    return (!surplus && delimiter_find(schema, dialect->delimiter, value->text, value->length, 0)) ||
           (!bare && memchr(value->text, schema->quote, value->length)) ||
           (schema->multiline && memchr(value->text, '\n', value->length)) ||
           (index != DIALECT_NO_FIELD && schema->fields[index].type == TYPE_TRIMMED &&
            schema->fields[index].exact && (first == ' ' || last == ' ')) ||
           (column == 0 && schema_is_comment(schema, first)) ||
           (column + 1u == dialect->columns && last == '\r');
}

static bool put_row(emit_t *emit, const dialect_t *dialect, const bson_t *document, const shape_t *shape) {
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
        if (field != DIALECT_NO_FIELD && !find_value(emit, document, field, shape->choice[field], &value))
            return false;
        if (needs_quotes(schema, dialect, i, &value, !shape->quoted))
            put_quoted(emit, &value, backslash);
        else
            text_append_bytes(record, (const char *)value.text, value.length);
    }
    return true;
}

/* ---- records of both kinds ---- */

/* True if the record makes the document. It is read in front of the line end that it has in its file: in front of LF alone a
 * CR at the end of the record would belong to the line end. */
static bool reads_back(emit_t *emit, const dialect_t *dialect, const bson_t *document, size_t length,
                       bool carriage) {
    static const char after[2 + POOL_SLACK] = "\r\n";
    const size_t end = 1 + carriage;
    record_t record;
    text_append_bytes(&emit->record, after + 2 - end, end + POOL_SLACK);
    if (emit->record.lacking)
        return false;
    records_begin(emit->reader, dialect, (const uint8_t *)emit->record.bytes + POOL_SLACK,
                  (uint32_t)(length + end), false, false, 0);
    const parsed_t parsed = records_next_into(emit->reader, &emit->again, &record, NULL);
    if (parsed == PARSED_MEMORY)
        emit->record.lacking = length;
    return parsed == PARSED_DOCUMENT && record.length == length && record.document_length == document->len &&
           memcmp(emit->again.bytes, bson_get_data(document), document->len) == 0;
}

bool emit_record(emit_t *emit, const dialect_t *dialect, const bson_t *document, const shape_t *shape,
                 const uint8_t **record, size_t *length, err_t *err) {
    static const char before[POOL_SLACK];
    text_t *const texts[] = {&emit->record, &emit->tail};
    const schema_t *schema = emit->schema;
    if (!emit->reader)
        return emit_possible(schema, err);
    memset(emit->values, 0, schema->field_count * sizeof *emit->values);
    emit->ids.type = 0;
    emit->end_of_day = false;
    emit->gap = (value_t){NULL, 0};
    emit->piece_count = emit->tail.length = emit->record.length = 0;
    text_append_bytes(&emit->record, before, sizeof before);
    bool same = walk(emit, emit->program.record.first, emit->program.end, bson_get_data(document),
                     schema->fields, emit->values) &&
                (schema->fixed ? put_fixed(emit) : put_row(emit, dialect, document, shape));
    *length = emit->record.length - POOL_SLACK;
    same = same && reads_back(emit, dialect, document, *length, shape->carriage);
    for (size_t i = 0; i < COUNT(texts); i++)
        if (texts[i]->lacking) {
            text_free(texts[i]);
            return err_memory(err, *length);
        }
    *record = (const uint8_t *)emit->record.bytes + POOL_SLACK;
    return same || err_set(err, STATUS_INPUT, "no record of the format %s makes this document", schema->name);
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
    emit->ids_key = "order";
    text_append(&emit->tail, ""); /* so that it has bytes */
    for (size_t i = 0; i < schema->part_count; i++)
        if (schema->parts[i].list)
            emit->ids_key = schema->parts[i].list;
    if (emit->reader && !emit->tail.lacking && program_compile(schema, NULL, &emit->program))
        return emit;
    emit_destroy(emit);
    return NULL;
}

void emit_destroy(emit_t *emit) {
    if (!emit)
        return;
    text_free(&emit->record);
    text_free(&emit->tail);
    records_destroy(emit->reader);
    program_free(&emit->program);
    free(emit->again.bytes);
    free(emit->pieces);
    free(emit);
}

bool emit_possible(const schema_t *schema, err_t *err) {
    bool lost = schema_any_fields(schema) || schema->bad_value == BAD_VALUE_NULL || schema->blanks ||
                schema_tells_place(schema);
    for (size_t i = 0; i < schema->field_count; i++)
        lost |= schema->fields[i].type == TYPE_JSON;
    for (size_t i = 0; i < schema->part_count; i++)
        lost |= schema->parts[i].leave_out;
    return !lost ||
           err_set(err, STATUS_USAGE,
                   "documents of the format %s cannot be written as records: they are of JSON or BSON, or "
                   "they do not keep all of a record (blanks, on_bad_value: null, leaveOut, fields of the "
                   "type json, names of files); --emit json or bson prints them",
                   schema->name);
}

const dialect_t *emitted_begin(emitted_t *emitted, const dialect_t *of, const char *input) {
    emitted->later = emitted->lines > 0;
    if (!emitted->later) {
        emitted->dialect = *of;
        emitted->kept.length = 0;
        emitted->open = false;
    }
    emitted->other = emitted->dialect.hash == of->hash ? NULL : input;
    return emitted->other ? of : &emitted->dialect;
}

/* True if a reader of the new file finds its dialect. */
static bool check_head(const emitted_t *emitted, err_t *err) {
    const dialect_t *is = &emitted->dialect;
    const text_t *kept = &emitted->kept;
    dialect_t again;
    if (emitted->certain || emitted->schema->kind != RECORDS_DELIMITED || !emitted->lines)
        return true;
    if (!dialect_sniff(emitted->schema, (const uint8_t *)kept->bytes, kept->length, "the new file", &again,
                       err))
        return false;
    return (again.header == is->header && again.hash == is->hash) ||
           err_set(
               err, STATUS_INPUT,
               "the records cannot be printed: the delimiter and the columns of a file are found from its "
               "first lines, and the columns of the new file would be %u with the delimiter '%c' instead of "
               "%u with '%c'; take a format that has only this delimiter and these columns",
               again.columns, again.delimiter, is->columns, is->delimiter);
}

bool emitted_end(emitted_t *emitted, err_t *err) {
    text_t *kept = &emitted->kept;
    if (kept->lacking)
        return err_memory(err, kept->lacking);
    emitted->certain = check_head(emitted, err);
    if (emitted->certain && kept->length) {
        emitted->put(emitted->to, kept->bytes, kept->length);
        kept->length = 0;
    }
    return emitted->certain;
}

void emitted_mark(emitted_t *emitted) {
    if (!emitted->certain && !emitted->kept.length)
        text_append_bytes(&emitted->kept, "\xEF\xBB\xBF", 3);
}

bool emitted_line(emitted_t *emitted, const emitted_line_t *line, err_t *err) {
    text_t *kept = &emitted->kept;
    if (emitted->later && !line->record)
        return true;
    if (emitted->later && emitted->other)
        return err_set(err, STATUS_INPUT,
                       "%s has another delimiter or other columns than the inputs before it, and a file of "
                       "records has only one of each: print its records by themselves",
                       emitted->other);
    if (!line->passed && lines_bom(line->text, line->length))
        emitted_mark(emitted); /* else the file would lose the first bytes of the line */
    if (emitted->open)
        text_append_bytes(kept, "\n", 1);
    text_append_bytes(kept, (const char *)line->text, line->length);
    text_append_bytes(kept, (const char *)line->end, line->end_length);
    emitted->open = !line->end_length || line->end[line->end_length - 1] != '\n';
    emitted->lines += !line->passed && line->length;
    return (!emitted->certain &&
            (!emitted->lines || (emitted->lines < DIALECT_SAMPLE_LINES && kept->length < emitted->head))) ||
           emitted_end(emitted, err);
}
