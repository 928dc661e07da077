#include "format/emit.h"
#include "base/text.h"
#include "base/threads.h"
#include "format/cut/delimiter.h"
#include "format/engine/program.h"
#include "format/types.h"
#include "format/values/calendar.h"

#include <math.h>
#include <stdlib.h>

enum {
    ROOT = 0,
    NO_SLOT = 0,
    SLOT_ID,  /* the identifier in an entry */
    SLOT_IDS, /* those of all sections, in the record's order */
    SLOT_MOMENT,
    SLOT_HOUR24,
    SLOT_GAP_AT,
    SLOT_GAP,
    SLOT_FIELDS, /* one for each field */
    DAY_MS = 86400000,
};

/* A part of a key. Without a slot, a field and an image its value is a subdocument whose keys are below it, or nothing that a
 * record has. */
typedef struct {
    const char *part;
    uint32_t length;
    uint32_t next;        /* the sibling after it; after the last sibling the first one */
    uint32_t child;       /* the last one; ROOT: it has none */
    uint32_t slot;        /* the value is noted */
    const field_t *field; /* the value is written into an image */
    size_t image,
        image_width; /* in emit->images: all fields below it without values. An entry becomes a piece */
    uint8_t kind
        [1 +
         SCHEMA_ID]; /* of an entry: the part of the tail, and of a section its number or first identifier */
} node_t;

/* A section, or an entry of another part, as it will stand in the record. */
typedef struct {
    uint8_t kind[1 + SCHEMA_ID]; /* of its node, with its own identifier */
    uint32_t taken;              /* of the first piece of a kind: how many of the kind are written */
    size_t at, length;           /* in emit->values */
} piece_t;

typedef struct {
    bson_iter_t at; /* raw NULL: the document has no such value */
} slot_t;

typedef struct {
    const uint8_t *text;
    size_t length;
} value_t;

struct emit {
    const schema_t *schema;
    err_t *err;    /* of this emit_record. After a failure without a sentence, no record makes the document */
    node_t *nodes; /* NULL: the format makes no records again */
    size_t node_count, node_room;
    bool lacks_nodes; /* memory was out */
    slot_t *slots;
    text_t record;         /* after POOL_SLACK bytes */
    records_t *reader;     /* reads it back */
    records_place_t again; /* the document that it makes */
    text_t
        values; /* of records of fixed width the pieces; of delimited records one value in the file's encoding, */
    text_t printed; /* and in UTF-8 */

    /* of records of fixed width: */
    text_t images;
    program_t program; /* knows the section of each identifier */
    const make_t *utc; /* what the moment is made of; NULL: there is none */
    bool listed;       /* the identifiers of sections are in a list, not in their entries */
    piece_t *pieces;
    size_t piece_count, piece_room;
    int part;    /* the last part whose marker is written */
    value_t gap; /* text NULL: it is written, or there is none */
    uint32_t gap_at;
};

/* ---- the tree of keys ---- */

/* The sibling with this name, sought from the one after `last` on; ROOT: there is none. */
static inline uint32_t find_node(const node_t *nodes, uint32_t last, const char *part, size_t length) {
    for (uint32_t at = nodes[last].next;; at = nodes[at].next) {
        if (nodes[at].length == length && memcmp(nodes[at].part, part, length) == 0)
            return at;
        if (at == last)
            return ROOT;
    }
}

static uint32_t add_node(emit_t *emit, uint32_t parent, const char *part, size_t length) {
    if (!GROW(emit->nodes, emit->node_room, emit->node_count + 1, NULL)) {
        emit->lacks_nodes = true;
        return ROOT;
    }
    const uint32_t added = (uint32_t)emit->node_count++, last = emit->nodes[parent].child;
    emit->nodes[added] = (node_t){.part = part, .length = (uint32_t)length, .next = added};
    if (last) {
        emit->nodes[added].next = emit->nodes[last].next;
        emit->nodes[last].next = added;
    }
    emit->nodes[parent].child = added;
    return added;
}

/* Adds what is not there yet of a key. Returns the node of its last part. */
static uint32_t add_key(emit_t *emit, uint32_t parent, const char *key, uint32_t slot) {
    for (const char *part = key, *end = key; *end; part = end + 1) {
        end = strchrnul(part, '.');
        const size_t length = (size_t)(end - part);
        const uint32_t found = find_node(emit->nodes, emit->nodes[parent].child, part, length);
        parent = found ? found : add_node(emit, parent, part, length);
    }
    emit->nodes[parent].slot = slot;
    return parent;
}

/* Adds fields below a node. */
static void add_fields(emit_t *emit, uint32_t parent, const field_t *fields, size_t count) {
    emit->nodes[parent].image = emit->images.length;
    for (size_t i = 0; i < count; i++) {
        const field_t *field = &fields[i];
        const bool noted = !field->width || field->type == TYPE_LENGTH;
        const uint32_t node = add_key(emit, parent, field->key, noted ? SLOT_FIELDS + (uint32_t)i : NO_SLOT);
        emit->nodes[node].field = noted ? NULL : field;
        for (size_t j = 0; j < field->width; j++)
            text_append_bytes(&emit->images, field->nulls.count ? field->nulls.items[0].text + j : " ", 1);
    }
    emit->nodes[parent].image_width = emit->images.length - emit->nodes[parent].image;
}

/* Values of fields that were put together are in the document once. All else that is made says nothing new. */
static void add_made(emit_t *emit, const make_t *made) {
    const field_t *fields = emit->schema->fields;
    const bool fixed = emit->schema->kind == RECORDS_FIXED;
    const uint32_t node =
        add_key(emit, ROOT, made->field.key, made->kind == MAKE_UTC ? SLOT_MOMENT : NO_SLOT);
    for (size_t i = 0; i < 2 && fixed && made->kind == MAKE_POINT; i++) {
        const uint32_t number = add_key(emit, node, i ? "coordinates.0" : "coordinates.1", NO_SLOT);
        emit->nodes[number].field = &fields[made->from[i].fields[0]];
    }
    if (made->kind == MAKE_UTC) {
        add_key(emit, ROOT, "hour24", SLOT_HOUR24);
        emit->utc = made;
    }
}

static void add_sections(emit_t *emit, uint8_t part) {
    const char *list = emit->schema->parts[part].list;
    emit->listed = list;
    add_key(emit, ROOT, list ? list : "order", SLOT_IDS);
    for (size_t i = 0; i < emit->schema->section_count; i++) {
        const section_t *section = &emit->schema->sections[i];
        const uint32_t node = add_key(emit, ROOT, section->name, NO_SLOT);
        if (!list)
            add_key(emit, node, "id", SLOT_ID);
        add_fields(emit, node, section->fields, section->field_count);
        uint8_t *kind = emit->nodes[node].kind;
        *kind++ = part;
        if (list)
            *kind = (uint8_t)i;
        else
            memcpy(kind, section->ids[0].first, SCHEMA_ID);
    }
}

static void add_tail(emit_t *emit) {
    for (uint8_t i = 0; i < emit->schema->part_count; i++) {
        const tail_part_t *part = &emit->schema->parts[i];
        if (part->sections) {
            add_sections(emit, i);
            continue;
        }
        const uint32_t node = add_key(emit, ROOT, part->name, NO_SLOT);
        add_fields(emit, node, part->fields, part->field_count);
        emit->nodes[node].kind[0] = i;
    }
    add_key(emit, ROOT, "unparsed.at", SLOT_GAP_AT);
    add_key(emit, ROOT, "unparsed.text", SLOT_GAP);
}

/* False: out of memory. */
static bool make_tree(emit_t *emit) {
    const schema_t *schema = emit->schema;
    if (!GROW(emit->nodes, emit->node_room, 1, NULL))
        return false;
    emit->nodes[emit->node_count++] = (node_t){.part = ""};
    text_append(&emit->images, "");                     /* which is all of a delimited record's */
    for (size_t i = 0; i < schema->document.count; i++) /* in the order of the document */
        add_node(emit, ROOT, schema->document.items[i].text, schema->document.items[i].length);
    for (size_t i = 0; i < schema->made_count; i++)
        add_made(emit, &schema->made[i]);
    add_fields(emit, ROOT, schema->fields, schema->field_count);
    if (schema->kind == RECORDS_FIXED)
        add_tail(emit);
    return !emit->lacks_nodes && !emit->images.lacking;
}

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

/* Writes a moment as YYYYMMDD and hhmm, without one nothing. */
static bool print_moment(const emit_t *emit, uint8_t *record) {
    const bson_iter_t *moment = &emit->slots[SLOT_MOMENT].at;
    if (!moment->raw || !BSON_ITER_HOLDS_DATE_TIME(moment))
        return true;
    const int64_t ms = bson_iter_date_time(moment), minute = (ms % DAY_MS + DAY_MS) % DAY_MS / 60000;
    const bool end_of_day = emit->slots[SLOT_HOUR24].at.raw != NULL;
    const field_t *day = &emit->schema->fields[emit->utc->from[0].fields[0]];
    const field_t *time = &emit->schema->fields[emit->utc->from[1].fields[0]];
    date_t date;
    return ms % 60000 == 0 && calendar_date(ms / DAY_MS - (ms % DAY_MS < 0) - end_of_day, &date) &&
           print_digits(date.year * 10000 + date.month * 100 + date.day, record + day->offset, day->width) &&
           print_digits(end_of_day ? 2400 : (uint64_t)(minute / 60 * 100 + minute % 60),
                        record + time->offset, time->width);
}

/* ---- the pass over a document ---- */

static bool walk(emit_t *emit, uint32_t parent, bson_iter_t *at, text_t *to, size_t image);

/* Gives a piece the identifier of its section. False: it is none. */
static bool set_kind(const emit_t *emit, const bson_iter_t *id, uint8_t kind[SCHEMA_ID]) {
    value_t text;
    if (!text_of(id, &text) || text.length != SCHEMA_ID)
        return false;
    memcpy(kind, text.text, SCHEMA_ID);
    if (emit->listed) {
        kind[0] = program_section(&emit->program, text.text);
        kind[1] = kind[2] = 0;
    }
    return true;
}

/* Makes a piece of an entry. */
static bool add_piece(emit_t *emit, uint32_t node, const bson_iter_t *at) {
    const node_t *of = &emit->nodes[node];
    bson_iter_t inner, *id = &emit->slots[SLOT_ID].at;
    if (!GROW(emit->pieces, emit->piece_room, emit->piece_count + 1, emit->err))
        return false;
    piece_t *piece = &emit->pieces[emit->piece_count++];
    *piece = (piece_t){.at = emit->values.length};
    memcpy(piece->kind, of->kind, sizeof piece->kind);
    text_append_bytes(&emit->values, emit->images.bytes + of->image, of->image_width);
    id->raw = NULL;
    const bool ok = !emit->values.lacking && bson_iter_recurse(at, &inner) &&
                    walk(emit, node, &inner, &emit->values, piece->at) &&
                    (!id->raw || set_kind(emit, id, piece->kind + 1));
    piece->length = emit->values.length - piece->at;
    return ok;
}

static bool add_pieces(emit_t *emit, uint32_t node, const bson_iter_t *at) {
    bson_iter_t entries;
    if (!BSON_ITER_HOLDS_ARRAY(at) || !bson_iter_recurse(at, &entries))
        return add_piece(emit, node, at);
    bool ok = true;
    while (ok && bson_iter_next(&entries))
        ok = add_piece(emit, node, &entries);
    return ok;
}

/* Walks the elements of a document or subdocument and the nodes below `parent` together. Fields of fixed width are written
 * into the image that begins at `image` in the text. */
static bool walk(emit_t *emit, uint32_t parent, bson_iter_t *at, text_t *to, size_t image) {
    uint32_t last = emit->nodes[parent].child;
    bool ok = true;
    while (ok && bson_iter_next(at)) {
        const char *key = bson_iter_key_unsafe(at);
        const uint32_t found = find_node(emit->nodes, last, key, bson_iter_key_len(at));
        const node_t *node = &emit->nodes[found];
        bson_iter_t inner;
        if (found == ROOT)
            continue;
        last = found;
        if (node->slot)
            emit->slots[node->slot].at = *at;
        else if (node->field)
            ok = print_field(node->field, at, to, image) || refuse_value(emit, node->field);
        else if (node->image_width)
            ok = add_pieces(emit, found, at);
        else if (bson_iter_recurse(at, &inner))
            ok = walk(emit, found, &inner, to, image);
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
    const int order = memcmp(one->kind, other->kind, sizeof one->kind);
    return order ? order : one->at < other->at ? -1 : 1;
}

/* The next piece of a kind; NULL: all are written. */
static const piece_t *next_piece(emit_t *emit, const uint8_t kind[1 + SCHEMA_ID]) {
    piece_t *const pieces = emit->pieces;
    const size_t count = emit->piece_count;
    const size_t first = SEARCH_FIRST(count, i, memcmp(pieces[i].kind, kind, sizeof pieces[i].kind) < 0);
    const size_t next = first < count ? first + pieces[first].taken : count;
    if (next >= count || memcmp(pieces[next].kind, kind, sizeof pieces[next].kind) != 0)
        return NULL;
    pieces[first].taken++;
    return &pieces[next];
}

/* Adds the pieces: part by part, sections in the order that the document says, or in that of their identifiers. */
static bool put_pieces(emit_t *emit) {
    const bson_iter_t *order = &emit->slots[SLOT_IDS].at;
    bson_iter_t ids;
    const bool ordered = order->raw && BSON_ITER_HOLDS_ARRAY(order) && bson_iter_recurse(order, &ids);
    bool sorted = true;
    for (size_t i = 1; i < emit->piece_count; i++)
        sorted &= by_kind(&emit->pieces[i - 1], &emit->pieces[i]) < 0;
    if (!sorted)
        qsort(emit->pieces, emit->piece_count, sizeof *emit->pieces, by_kind);
    for (size_t i = 0; i < emit->piece_count; i++) {
        const piece_t *piece = &emit->pieces[i];
        const int part = piece->kind[0];
        const bool section = emit->schema->parts[part].sections;
        value_t id = {piece->kind + 1, SCHEMA_ID};
        if (section && ordered) {
            uint8_t kind[1 + SCHEMA_ID] = {(uint8_t)part};
            if (!bson_iter_next(&ids) || !set_kind(emit, &ids, kind + 1) || !text_of(&ids, &id) ||
                !(piece = next_piece(emit, kind)))
                return false;
        }
        put_before(emit, part);
        text_append_bytes(&emit->record, (const char *)id.text, section ? SCHEMA_ID : 0);
        text_append_bytes(&emit->record, emit->values.bytes + piece->at, piece->length);
    }
    put_before(emit, -1);
    return true;
}

/* Adds to the fixed part, which the pass has written, all that follows it, and its length. */
static bool put_tail(emit_t *emit) {
    const schema_t *schema = emit->schema;
    const bson_iter_t *gap_at = &emit->slots[SLOT_GAP_AT].at;
    if (!print_moment(emit, (uint8_t *)emit->record.bytes + POOL_SLACK))
        return refuse_value(emit, &emit->utc->field);
    if (!text_of(&emit->slots[SLOT_GAP].at, &emit->gap))
        emit->gap.text = NULL;
    emit->gap_at =
        gap_at->raw && BSON_ITER_HOLDS_INT32(gap_at) ? (uint32_t)bson_iter_int32(gap_at) : UINT32_MAX;
    emit->part = -1;
    if (!put_pieces(emit))
        return false;
    for (size_t i = 0; i < schema->field_count; i++) {
        const field_t *field = &schema->fields[i];
        const bson_iter_t *length = &emit->slots[SLOT_FIELDS + i].at;
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
    const bson_iter_t *at = &emit->slots[SLOT_FIELDS + index].at;
    text_t *printed = &emit->printed, *encoded = &emit->values;
    printed->length = 0;
    text_append(printed, "");
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
    bson_iter_t first;
    record_t record;
    text_append_bytes(&emit->record, after, sizeof after);
    if (emit->record.lacking)
        return false;
    const bool with_id = bson_iter_init(&first, document) && bson_iter_next(&first) &&
                         strcmp(bson_iter_key(&first), "_id") == 0 && BSON_ITER_HOLDS_INT64(&first);
    records_begin(emit->reader, dialect, (const uint8_t *)emit->record.bytes + POOL_SLACK,
                  (uint32_t)length + 2, false, with_id, with_id ? bson_iter_int64(&first) : 0);
    const parsed_t parsed = records_next_into(emit->reader, &emit->again, &record, NULL);
    if (parsed == PARSED_MEMORY)
        return err_memory(emit->err, length);
    return parsed == PARSED_DOCUMENT && record.length == length && record.document_length == document->len &&
           memcmp(emit->again.bytes, bson_get_data(document), document->len) == 0;
}

bool emit_record(emit_t *emit, const dialect_t *dialect, const bson_t *document, const shape_t *shape,
                 const uint8_t **record, size_t *length, err_t *err) {
    static const char before[POOL_SLACK];
    static const shape_t usual = {.quoted = true};
    const schema_t *schema = emit->schema;
    const bool fixed = schema->kind == RECORDS_FIXED;
    bson_iter_t at;
    if (!emit->nodes)
        return emit_possible(schema, err);
    emit->err = err;
    err->text[0] = '\0';
    for (size_t i = 0; i < SLOT_FIELDS + schema->field_count; i++)
        emit->slots[i].at.raw = NULL;
    emit->piece_count = emit->values.length = emit->record.length = 0;
    text_append_bytes(&emit->record, before, sizeof before);
    text_append_bytes(&emit->record, emit->images.bytes, emit->nodes[ROOT].image_width);
    bool same = !emit->record.lacking && bson_iter_init(&at, document) &&
                walk(emit, ROOT, &at, &emit->record, POOL_SLACK) &&
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

emit_t *emit_new(const schema_t *schema) {
    const size_t slots = SLOT_FIELDS + schema->field_count;
    emit_t *emit = calloc(1, sizeof *emit);
    err_t ignored;
    if (!emit)
        return NULL;
    emit->schema = schema;
    emit->reader = records_new(schema);
    emit->slots = zeroed_memory(alignof(slot_t), slots * sizeof *emit->slots);
    if (emit->reader && emit->slots && (!emit_possible(schema, &ignored) || make_tree(emit)) &&
        (schema->kind != RECORDS_FIXED || program_compile(schema, NULL, &emit->program)))
        return emit;
    emit_destroy(emit);
    return NULL;
}

void emit_destroy(emit_t *emit) {
    if (!emit)
        return;
    text_free(&emit->record);
    text_free(&emit->printed);
    text_free(&emit->images);
    text_free(&emit->values);
    records_destroy(emit->reader);
    program_free(&emit->program);
    free(emit->again.bytes);
    free(emit->nodes);
    free(emit->slots);
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
