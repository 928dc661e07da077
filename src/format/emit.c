#include "format/emit.h"
#include "base/text.h"
#include "base/threads.h"
#include "format/cut/delimiter.h"
#include "format/engine/program.h"
#include "format/record/draft.h"
#include "format/types.h"
#include "format/values/convert.h"
#include "format/values/pattern.h"

#include <math.h>
#include <stdlib.h>

/* emit_fixed: converts a document back to a record of fixed width. */

typedef struct emit_fixed emit_fixed_t;

/* One section of the document while it is converted back. */
typedef struct {
    char id[SCHEMA_ID];
    uint32_t place; /* its position among the document's sections */
    size_t taken;   /* of the first entry of its kind: how many are written */
    const section_t *section;
    bson_iter_t fields; /* of its subdocument */
} entry_t;

struct emit_fixed {
    draft_t *draft;
    program_t program; /* knows each identifier's section */
    entry_t *entries;
    size_t count, room;
    int part; /* the last part whose marker was written */
    struct {
        uint32_t at;
        const uint8_t *text; /* NULL: there is none, or it is written */
        uint32_t length;
    } gap;
};

/* NULL: out of memory */
static emit_fixed_t *emit_fixed_new(draft_t *draft) {
    emit_fixed_t *emit = calloc(1, sizeof *emit);
    if (!emit || !program_compile(draft->schema, NULL, &emit->program)) {
        free(emit);
        return NULL;
    }
    emit->draft = draft;
    return emit;
}

static void emit_fixed_destroy(emit_fixed_t *emit) {
    if (!emit)
        return;
    program_free(&emit->program);
    free(emit->entries);
    free(emit);
}

/* ---- values ---- */

static bool text_of(const bson_iter_t *at, const uint8_t **text, uint32_t *length) {
    bson_subtype_t subtype;
    if (BSON_ITER_HOLDS_UTF8(at))
        *text = (const uint8_t *)bson_iter_utf8(at, length);
    else if (BSON_ITER_HOLDS_BINARY(at))
        bson_iter_binary(at, &subtype, length, text);
    else
        return false;
    return true;
}

/* Prints digits, exactly `width` of them. */
static bool print_digits(uint64_t value, uint8_t *out, size_t width) {
    for (size_t i = width; i-- > 0; value /= 10)
        out[i] = (uint8_t)('0' + value % 10);
    return value == 0;
}

static bool print_number(const field_t *field, bool minus, uint64_t digits, uint8_t *out) {
    size_t sign = field->sign == SIGN_ALWAYS || (field->sign == SIGN_MINUS && minus);
    if (sign)
        *out = minus ? '-' : '+';
    return (sign || !minus) && print_digits(digits, out + sign, field->width - sign);
}

/* Writes the characters of one field. False: the value does not fit in it. */
static bool print_field(const field_t *field, const bson_iter_t *at, uint8_t *out) {
    const uint8_t *text;
    uint32_t length;
    if (text_of(at, &text, &length)) {
        if (length > field->width || (length < field->width && field->type != TYPE_TRIMMED))
            return false;
        memcpy(out, text, length);
        memset(out + length, ' ', field->width - length);
        return true;
    }
    if (BSON_ITER_HOLDS_INT32(at) && (field->type == TYPE_INT || field->type == TYPE_LENGTH)) {
        int64_t value = bson_iter_int32(at), by = field->divide < 0 ? 10 : 1;
        return value % by == 0 && print_number(field, value < 0, (uint64_t)llabs(value / by), out);
    }
    if (BSON_ITER_HOLDS_DOUBLE(at) && field->type == TYPE_NUMBER) {
        double value = bson_iter_double(at), by = 1;
        for (int i = 0; i < field->divide; i++)
            by *= 10;
        double digits = round(fabs(value) * by);
        return digits < 1e9 && print_number(field, signbit(value), (uint64_t)digits, out);
    }
    return false;
}

static bool cannot_print(const field_t *field, err_t *err) {
    return err_set(err, STATUS_INPUT, "'%s' holds a value that the field %s never has", field->key,
                   field->name);
}

/* Writes the fields of a subdocument by width; a missing field gets its null value. */
static bool print_fields(const field_t *fields, size_t count, const bson_iter_t *subdocument, uint8_t *out,
                         err_t *err) {
    for (size_t i = 0; i < count; i++) {
        const field_t *field = &fields[i];
        bson_iter_t top = *subdocument, at;
        if (field->counted)
            continue;
        memset(out + field->offset, ' ', field->width);
        if (field->nulls.count)
            memcpy(out + field->offset, field->nulls.items[0].text, field->width);
        if (bson_iter_find_descendant(&top, field->key, &at) && !print_field(field, &at, out + field->offset))
            return cannot_print(field, err);
    }
    return true;
}

/* ---- the fixed part ---- */

static bool print_utc(const make_t *made, const bson_t *document, const schema_t *schema, uint8_t *out) {
    bson_iter_t at, flag;
    pattern_t date, time;
    if (!bson_iter_init_find(&at, document, made->field.key) || !BSON_ITER_HOLDS_DATE_TIME(&at))
        return true;                     /* in that case the fields are there as text */
    const int64_t far = 400000000000000; /* ms: years after 9999 and before 0 */
    int64_t ms = bson_iter_date_time(&at);
    if (ms > far || ms < -far)
        return false;
    bool end_of_day = bson_iter_init_find(&flag, document, "hour24");
    pattern_compile("YYYYMMDD", 8, &date);
    pattern_compile("hhmm", 4, &time);
    uint8_t *time_text = out + schema->fields[made->from[1].fields[0]].offset;
    if (end_of_day)
        ms -= 86400000;
    int64_t of_day = ((ms % 86400000) + 86400000) % 86400000;
    if (!pattern_write(&date, ms - of_day, out + schema->fields[made->from[0].fields[0]].offset) ||
        of_day % 60000)
        return false;
    int64_t minutes = end_of_day ? 1440 : of_day / 60000;
    return print_digits((uint64_t)(minutes / 60 * 100 + minutes % 60), time_text, 4);
}

static bool print_point(const make_t *made, const bson_t *document, const schema_t *schema, uint8_t *out) {
    bson_iter_t at, place;
    for (size_t i = 0; i < 2; i++) {
        char key[64];
        const field_t *field = &schema->fields[made->from[i].fields[0]];
        snprintf(key, sizeof key, "%s.coordinates.%d", made->field.key, i == 0);
        if (!bson_iter_init(&at, document) || !bson_iter_find_descendant(&at, key, &place))
            continue; /* in that case the fields are there separately */
        if (!print_field(field, &place, out + field->offset))
            return false;
    }
    return true;
}

static bool print_record(emit_fixed_t *emit, const bson_t *document, err_t *err) {
    const schema_t *schema = emit->draft->schema;
    bson_iter_t top;
    uint8_t *out = emit->draft->bytes;
    if (!bson_iter_init(&top, document) || !print_fields(schema->fields, schema->field_count, &top, out, err))
        return false;
    for (size_t i = 0; i < schema->made_count; i++) {
        const make_t *made = &schema->made[i];
        if ((made->kind == MAKE_UTC && !print_utc(made, document, schema, out)) ||
            (made->kind == MAKE_POINT && !print_point(made, document, schema, out)))
            return cannot_print(&made->field, err);
    }
    return true;
}

/* Writes how many characters follow, unless the document says what the record said. */
static void print_length(emit_fixed_t *emit, const bson_t *document) {
    for (size_t i = 0; i < emit->draft->schema->field_count; i++) {
        const field_t *field = &emit->draft->schema->fields[i];
        bson_iter_t top, at;
        if (field->type == TYPE_LENGTH && bson_iter_init(&top, document) &&
            !bson_iter_find_descendant(&top, field->key, &at))
            print_digits(emit->draft->length - emit->draft->schema->fixed, emit->draft->bytes + field->offset,
                         field->width);
    }
}

/* ---- the tail ---- */

/* Called before each piece: writes the gap if its place is here, then the part's marker if it is not written yet. */
static bool put_before(emit_fixed_t *emit, int part) {
    const schema_t *schema = emit->draft->schema;
    if (emit->gap.text && emit->gap.at == emit->draft->length) {
        if (!draft_put(emit->draft, emit->gap.text, emit->gap.length))
            return false;
        for (int i = emit->part + 1; i < (int)schema->part_count; i++) {
            const schema_text_t *marker = &schema->parts[i].marker;
            if (emit->gap.length >= marker->length &&
                memcmp(emit->gap.text, marker->text, marker->length) == 0) {
                emit->part = i; /* the gap begins with this part's marker */
                break;
            }
        }
        emit->gap.text = NULL;
    }
    if (part <= emit->part)
        return true;
    emit->part = part;
    return draft_put(emit->draft, schema->parts[part].marker.text, schema->parts[part].marker.length);
}

/* Makes room for `width` more characters; the caller fills them in. */
static uint8_t *put_blank(emit_fixed_t *emit, uint32_t width) {
    static const char blanks[] = "                                                                ";
    size_t before = emit->draft->length;
    for (uint32_t left = width, part; left; left -= part) {
        part = left < sizeof blanks - 1 ? left : sizeof blanks - 1;
        if (!draft_put(emit->draft, blanks, part))
            return NULL;
    }
    return emit->draft->bytes + before;
}

static entry_t *add_entry(emit_fixed_t *emit) {
    if (!GROW(emit->entries, emit->room, emit->count + 1, NULL))
        return NULL;
    entry_t *entry = &emit->entries[emit->count];
    *entry = (entry_t){.place = (uint32_t)emit->count};
    emit->count++;
    return entry;
}

static int take_entry(emit_fixed_t *emit, const section_t *section, const bson_iter_t *at) {
    bson_iter_t id;
    entry_t *entry = add_entry(emit);
    if (!entry)
        return -1;
    entry->section = section;
    memcpy(entry->id, section->ids[0].first, SCHEMA_ID);
    if (!BSON_ITER_HOLDS_DOCUMENT(at) || !bson_iter_recurse(at, &entry->fields))
        return 0;
    id = entry->fields;
    if (!bson_iter_find(&id, "id"))
        return 1;
    uint32_t length;
    const uint8_t *text;
    if (!text_of(&id, &text, &length) || length != SCHEMA_ID)
        return 0;
    memcpy(entry->id, text, SCHEMA_ID);
    return 1;
}

/* Collects the document's sections, in their order. 1: done; 0: there is something else among them; -1: out of
 * memory. */
static int take_entries(emit_fixed_t *emit, const bson_t *document) {
    const schema_t *schema = emit->draft->schema;
    emit->count = 0;
    for (size_t i = 0; i < schema->section_count; i++) {
        const section_t *section = &schema->sections[i];
        bson_iter_t at, inner;
        int ok = 1;
        if (!bson_iter_init_find(&at, document, section->name))
            continue;
        if (!BSON_ITER_HOLDS_ARRAY(&at))
            ok = take_entry(emit, section, &at);
        else if (bson_iter_recurse(&at, &inner))
            while (ok > 0 && bson_iter_next(&inner))
                ok = take_entry(emit, section, &inner);
        if (ok <= 0)
            return ok;
    }
    return 1;
}

static int by_id(const void *a, const void *b) {
    const entry_t *one = a, *other = b;
    int order = memcmp(one->id, other->id, SCHEMA_ID);
    return order ? order : one->place < other->place ? -1 : 1;
}

static int put_entry(emit_fixed_t *emit, int part, entry_t *entry, err_t *err) {
    const section_t *section = entry->section;
    if (!put_before(emit, part) || !draft_put(emit->draft, entry->id, SCHEMA_ID))
        return -1;
    uint8_t *out = put_blank(emit, section->width);
    if (!out)
        return -1;
    return print_fields(section->fields, section->field_count, &entry->fields, out, err) ? 1 : -2;
}

/* Compares an entry with a kind: by its identifier, or, if entries have none, by its section. 0: equal; below 0: before
 * it. */
static int compare_kind(const entry_t *entry, const char *id, const section_t *section, bool with_ids) {
    if (with_ids)
        return memcmp(entry->id, id, SCHEMA_ID);
    return entry->section < section ? -1 : entry->section > section;
}

/* The next entry of a kind; the entries are sorted by kind. */
static entry_t *find_entry(emit_fixed_t *emit, const char *id, bool with_ids) {
    uint8_t index = program_section(&emit->program, (const uint8_t *)id);
    if (index == NO_SECTION)
        return NULL;
    const section_t *section = &emit->draft->schema->sections[index];
    const size_t first =
        SEARCH_FIRST(emit->count, i, compare_kind(&emit->entries[i], id, section, with_ids) < 0);
    size_t next = first < emit->count ? first + emit->entries[first].taken : first;
    if (next >= emit->count || compare_kind(&emit->entries[next], id, section, with_ids) != 0)
        return NULL;
    emit->entries[first].taken++;
    memcpy(emit->entries[next].id, id, SCHEMA_ID);
    return &emit->entries[next];
}

static int put_sections(emit_fixed_t *emit, int part, const bson_t *document, err_t *err) {
    const char *list = emit->draft->schema->parts[part].list;
    bson_iter_t at, ids;
    int ok = take_entries(emit, document);
    if (ok <= 0)
        return ok;
    if (emit->count && !list) /* otherwise they are sorted by section */
        qsort(emit->entries, emit->count, sizeof *emit->entries, by_id);
    if (bson_iter_init_find(&at, document, list ? list : "order") && BSON_ITER_HOLDS_ARRAY(&at) &&
        bson_iter_recurse(&at, &ids)) {
        while (ok > 0 && bson_iter_next(&ids)) {
            uint32_t length;
            const uint8_t *id;
            entry_t *entry = NULL;
            if (text_of(&ids, &id, &length) && length == SCHEMA_ID)
                entry = find_entry(emit, (const char *)id, !list);
            ok = entry ? put_entry(emit, part, entry, err) : 0;
        }
        return ok;
    }
    for (size_t i = 0; i < emit->count && ok > 0; i++)
        ok = put_entry(emit, part, &emit->entries[i], err);
    return ok;
}

/* Writes the length and the text of an entry's last field. */
static int put_counted(emit_fixed_t *emit, const tail_part_t *part, size_t start, const bson_iter_t *entry) {
    const field_t *field = &part->fields[part->field_count - 1];
    bson_iter_t top = *entry, at;
    const uint8_t *text;
    uint32_t length;
    if (!field->counted)
        return 1;
    if (!bson_iter_find_descendant(&top, field->key, &at) || !text_of(&at, &text, &length) ||
        !print_digits(length, emit->draft->bytes + start + field->offset, field->width))
        return 0;
    return draft_put(emit->draft, text, length) ? 1 : -1;
}

static int put_repeated(emit_fixed_t *emit, int index, const bson_t *document, err_t *err) {
    const tail_part_t *part = &emit->draft->schema->parts[index];
    bson_iter_t at, entries, entry;
    if (!bson_iter_init_find(&at, document, part->name))
        return 1;
    if (!BSON_ITER_HOLDS_ARRAY(&at) || !bson_iter_recurse(&at, &entries))
        return 0;
    int ok = 1;
    while (ok > 0 && bson_iter_next(&entries)) {
        if (!BSON_ITER_HOLDS_DOCUMENT(&entries) || !bson_iter_recurse(&entries, &entry))
            return 0;
        if (!put_before(emit, index))
            return -1;
        size_t start = emit->draft->length;
        uint8_t *out = put_blank(emit, part->width);
        if (!out)
            return -1;
        if (!print_fields(part->fields, part->field_count, &entry, out, err))
            return -2;
        ok = put_counted(emit, part, start, &entry);
    }
    return ok;
}

static bool find_gap(emit_fixed_t *emit, const bson_t *document) {
    bson_iter_t top, at, text;
    emit->gap.text = NULL;
    if (!bson_iter_init_find(&top, document, "unparsed"))
        return true;
    bson_iter_init(&top, document);
    if (!bson_iter_find_descendant(&top, "unparsed.at", &at) || !BSON_ITER_HOLDS_INT32(&at))
        return false;
    bson_iter_init(&top, document);
    emit->gap.at = (uint32_t)bson_iter_int32(&at);
    return bson_iter_find_descendant(&top, "unparsed.text", &text) &&
           text_of(&text, &emit->gap.text, &emit->gap.length);
}

/* Writes the record into the draft; returns what emit_delimited_record returns. */
static int emit_fixed_record(emit_fixed_t *emit, const bson_t *document, err_t *err) {
    const schema_t *schema = emit->draft->schema;
    emit->draft->length = 0;
    emit->part = -1;
    if (!find_gap(emit, document))
        return 0;
    if (!put_blank(emit, schema->fixed))
        return -1;
    if (!print_record(emit, document, err))
        return -2;
    for (int i = 0; i < (int)schema->part_count; i++) {
        int ok = schema->parts[i].sections ? put_sections(emit, i, document, err)
                                           : put_repeated(emit, i, document, err);
        if (ok <= 0)
            return ok;
    }
    if (!put_before(emit, -1) || !draft_put(emit->draft, "", 0))
        return -1;
    print_length(emit, document);
    return 1;
}

/* emit_delimited: converts a document back to a delimited record. */

typedef struct emit_delimited emit_delimited_t;

typedef struct {
    const uint8_t *text;
    size_t length;
    uint8_t printed[PATTERN_PRINTED];
} value_t;

struct emit_delimited {
    draft_t *draft;
    value_t values[SCHEMA_MOST_FIELDS * 2]; /* by column */
    text_t *wide;      /* by field: the text of a value that is longer than value_t.printed */
    bson_iter_t found; /* the value that was found last: mostly the next one follows it */
};

static void emit_delimited_destroy(emit_delimited_t *emit) {
    if (!emit)
        return;
    for (size_t i = 0; emit->wide && i < emit->draft->schema->field_count; i++)
        text_free(&emit->wide[i]);
    free(emit->wide);
    free(emit);
}

/* NULL: out of memory */
static emit_delimited_t *emit_delimited_new(draft_t *draft) {
    emit_delimited_t *emit = calloc(1, sizeof *emit);
    if (!emit)
        return NULL;
    emit->draft = draft;
    emit->wide = calloc(draft->schema->field_count + 1, sizeof *emit->wide);
    if (emit->wide)
        return emit;
    emit_delimited_destroy(emit);
    return NULL;
}

static bool put_byte(draft_t *out, char byte) {
    return draft_put(out, &byte, 1);
}

/* By the pattern that the record had, or by the next one that can show the moment. */
static bool print_date(const emit_delimited_t *emit, const field_t *field, const shape_t *shape, int64_t ms,
                       value_t *value) {
    const size_t index = (size_t)(field - emit->draft->schema->fields), count = field->patterns.count;
    const size_t first = shape ? shape->choice[index] : 0;
    for (size_t i = 0; i < count; i++)
        if ((value->length = pattern_write(&field->compiled[(first + i) % count], ms, value->printed)))
            return true;
    return false;
}

static bool print_typed(const emit_delimited_t *emit, const field_t *field, const bson_iter_t *at,
                        value_t *value) {
    const size_t index = (size_t)(field - emit->draft->schema->fields);
    text_t *text = &emit->wide[index];
    text->length = text->lacking = 0;
    text_append(text, "");
    if (!value_print(field, at, text) || text->lacking)
        return false;
    value->text = (const uint8_t *)text->bytes;
    value->length = text->length;
    return true;
}

/* A text as the format's encoding has it, where that keeps no UTF-8. */
static bool encode_text(const emit_delimited_t *emit, const field_t *field, value_t *value, err_t *err) {
    const encoding_t encoding = emit->draft->schema->encoding;
    text_t text = {.length = 0};
    if (encoding_keeps_utf8(encoding))
        return true;
    if (!text_grow(&text, value->length + 1))
        return err_memory(err, value->length);
    const size_t length = encoding_from_utf8(encoding, (uint8_t *)text.bytes, value->text, value->length);
    text_t *kept = &emit->wide[field - emit->draft->schema->fields];
    text_free(kept); /* which the value may have been in */
    *kept = text;
    value->text = (const uint8_t *)text.bytes;
    value->length = length;
    return length != SIZE_MAX ||
           err_set(err, STATUS_INPUT, "the text of '%s' cannot be written in the format's encoding, %s",
                   field->key, encoding_names[encoding]);
}

static bool find_value(emit_delimited_t *emit, const field_t *field, const bson_t *document,
                       bson_iter_t *at) {
    bson_iter_t next = emit->found, top;
    if (bson_iter_next(&next) && strcmp(bson_iter_key(&next), field->key) == 0)
        *at = top = next;
    else if (!bson_iter_init(&top, document) || !bson_iter_find_descendant(&top, field->key, at))
        return false;
    emit->found = top;
    return true;
}

/* The text of one column in UTF-8, before quotes and escapes; *bytes: it is none, but bytes. */
static bool print_text(emit_delimited_t *emit, const field_t *field, const bson_t *document,
                       const shape_t *shape, value_t *value, bool *bytes, err_t *err) {
    bson_iter_t at;
    *value = (value_t){.text = value->printed};
    *bytes = false;
    if (!find_value(emit, field, document, &at)) {
        const size_t choice = shape ? shape->choice[field - emit->draft->schema->fields] : 0;
        if (field->nulls.count) {
            const schema_text_t *null = &field->nulls.items[choice < field->nulls.count ? choice : 0];
            value->text = (const uint8_t *)null->text;
            value->length = null->length;
        }
        return true;
    }
    uint32_t length;
    bson_subtype_t subtype;
    if (BSON_ITER_HOLDS_UTF8(&at)) {
        value->text = (const uint8_t *)bson_iter_utf8(&at, &length);
        value->length = length;
        return true;
    }
    if (BSON_ITER_HOLDS_DATE_TIME(&at))
        return print_date(emit, field, shape, bson_iter_date_time(&at), value) ||
               err_set(err, STATUS_INPUT, "the date in '%s' cannot be written by any pattern of the field",
                       field->key);
    if (print_typed(emit, field, &at, value))
        return true;
    const size_t lacking = emit->wide[field - emit->draft->schema->fields].lacking;
    if (lacking)
        return err_memory(err, lacking);
    if (BSON_ITER_HOLDS_BINARY(&at)) {
        bson_iter_binary(&at, &subtype, &length, &value->text);
        value->length = length;
        return *bytes = true;
    }
    return err_set(err, STATUS_INPUT,
                   BSON_ITER_HOLDS_DECIMAL128(&at)
                       ? "the value of '%s' cannot be written as the field %s writes it"
                       : "'%s' holds a value of a type that the field %s never has",
                   field->key, field->name);
}

/* The same as the file has it. */
static bool print_value(emit_delimited_t *emit, const field_t *field, const bson_t *document,
                        const shape_t *shape, value_t *value, err_t *err) {
    bool bytes;
    return print_text(emit, field, document, shape, value, &bytes, err) &&
           (bytes || encode_text(emit, field, value, err));
}

/* In quotes. A quote in the text is escaped by a backslash, or doubled; but after a backslash, with which a doubled one would
 * be read as an escaped one. */
static bool put_quoted(emit_delimited_t *emit, const value_t *value, bool backslash) {
    const schema_t *schema = emit->draft->schema;
    const char quote = schema->quote;
    if (!put_byte(emit->draft, quote))
        return false;
    for (size_t i = 0; i < value->length; i++) {
        const bool after =
            schema->escape_backslash && !schema->escape_backslashes && i > 0 && value->text[i - 1] == '\\';
        if (schema->escape_backslashes && value->text[i] == '\\' && !put_byte(emit->draft, '\\'))
            return false;
        if (value->text[i] == (uint8_t)quote && !put_byte(emit->draft, backslash || after ? '\\' : quote))
            return false;
        if (!put_byte(emit->draft, (char)value->text[i]))
            return false;
    }
    return put_byte(emit->draft, quote);
}

/* Does it contain the delimiter, or end with the beginning of it? */
static bool meets_delimiter(const schema_t *schema, const dialect_t *dialect, const value_t *value) {
    const schema_text_t *wide = &schema->wide;
    for (size_t begun = 1; begun < wide->length && begun <= value->length; begun++)
        if (memcmp(value->text + value->length - begun, wide->text, begun) == 0)
            return true;
    return delimiter_find(schema, dialect->delimiter, value->text, value->length, 0) != NULL;
}

/* Is it a text that loses its blanks but in quotes? */
static bool loses_blanks(const schema_t *schema, const dialect_t *dialect, size_t column,
                         const value_t *value) {
    const uint16_t index = dialect->field_of[column];
    return index != DIALECT_NO_FIELD && schema->fields[index].type == TYPE_TRIMMED &&
           schema->fields[index].exact && value->length &&
           (value->text[0] == ' ' || value->text[value->length - 1] == ' ');
}

/* Does the field need quotes? In a record that had none (bare), quotes are a part of the text, and so are delimiters in the
 * surplus. */
static bool needs_quotes(const emit_delimited_t *emit, const dialect_t *dialect, size_t column, bool bare) {
    const schema_t *schema = emit->draft->schema;
    const value_t *value = &emit->values[column];
    if (!schema->quote)
        return false;
    if (!value->length)
        return dialect->columns == 1;
    return (!(bare && dialect->surplus_column == (int)column) && meets_delimiter(schema, dialect, value)) ||
           (!bare && memchr(value->text, schema->quote, value->length)) ||
           loses_blanks(schema, dialect, column, value) ||
           (schema->multiline && memchr(value->text, '\n', value->length)) ||
           (!column && schema_is_comment(schema, *value->text)) ||
           (column + 1u == dialect->columns && value->text[value->length - 1] == '\r');
}

static bool put_delimiter(draft_t *draft, const dialect_t *dialect) {
    const schema_text_t *wide = &draft->schema->wide;
    return wide->length ? draft_put(draft, wide->text, wide->length) : put_byte(draft, dialect->delimiter);
}

static bool write_row(emit_delimited_t *emit, const dialect_t *dialect, const shape_t *shape) {
    const schema_t *schema = emit->draft->schema;
    const bool backslash =
        schema->escape_backslash && (!schema->escape_double || (shape && shape->backslash));
    emit->draft->length = 0;
    for (size_t i = 0; i < dialect->columns; i++) {
        const value_t *value = &emit->values[i];
        if (i && !put_delimiter(emit->draft, dialect))
            return false;
        if (!(needs_quotes(emit, dialect, i, shape && !shape->quoted)
                  ? put_quoted(emit, value, backslash)
                  : draft_put(emit->draft, value->text, value->length)))
            return false;
    }
    return draft_put(emit->draft, "", 0); /* of a row without a byte, too */
}

/* Writes the record into the draft. 1: done; -1: out of memory; -2: err says what is wrong. */
static int emit_delimited_record(emit_delimited_t *emit, const dialect_t *dialect, const bson_t *document,
                                 const shape_t *shape, err_t *err) {
    value_t *values = emit->values;
    bson_iter_init(&emit->found, document);
    for (size_t i = 0; i < dialect->columns; i++) {
        uint16_t field = dialect->field_of[i];
        values[i] = (value_t){.text = values[i].printed};
        if (field != DIALECT_NO_FIELD &&
            !print_value(emit, &emit->draft->schema->fields[field], document, shape, &values[i], err))
            return -2;
    }
    return write_row(emit, dialect, shape) ? 1 : -1;
}

struct emit {
    draft_t draft;
    records_t *reader;           /* reads records back */
    records_place_t again;       /* the document that they give */
    emit_delimited_t *delimited; /* one of these two is used */
    emit_fixed_t *fixed;
};

/* 1: the record reads back as the document; 0: it does not; -1: out of memory. After CR LF, before which a CR stays its
 * own: only in quotes, or in a file of such line ends, a record ends with one. */
static int reads_back(emit_t *emit, const dialect_t *dialect, const bson_t *document) {
    draft_t *draft = &emit->draft;
    bson_iter_t first;
    record_t record;
    const size_t length = draft->length;
    if (!draft->schema->multiline && memchr(draft->bytes, '\n', length))
        return 0;
    if (!draft_put(draft, "\r\n", 2))
        return -1;
    draft->length = length;
    memset(draft->bytes + length + 2, 0, POOL_SLACK);
    const bool with_id = bson_iter_init_find(&first, document, "_id") && BSON_ITER_HOLDS_INT64(&first);
    records_begin(emit->reader, dialect, draft->bytes, (uint32_t)length + 2, false, with_id,
                  with_id ? bson_iter_int64(&first) : 0);
    const parsed_t parsed = records_next_into(emit->reader, &emit->again, &record, NULL);
    if (parsed == PARSED_MEMORY)
        return -1;
    return parsed == PARSED_DOCUMENT && record.length == length && record.document_length == document->len &&
           memcmp(emit->again.bytes, bson_get_data(document), document->len) == 0;
}

emit_t *emit_new(const schema_t *schema) {
    emit_t *emit = calloc(1, sizeof *emit);
    if (!emit)
        return NULL;
    emit->draft.schema = schema;
    emit->reader = records_new(schema);
    if (schema->kind == RECORDS_FIXED)
        emit->fixed = emit_fixed_new(&emit->draft);
    else if (schema->kind == RECORDS_DELIMITED)
        emit->delimited = emit_delimited_new(&emit->draft);
    if (emit->reader && (emit->fixed || emit->delimited || schema_any_fields(schema)))
        return emit;
    emit_destroy(emit);
    return NULL;
}

void emit_destroy(emit_t *emit) {
    if (!emit)
        return;
    free(emit->draft.base);
    free(emit->again.bytes);
    records_destroy(emit->reader);
    emit_delimited_destroy(emit->delimited);
    emit_fixed_destroy(emit->fixed);
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

bool emit_record(emit_t *emit, const dialect_t *dialect, const bson_t *document, const shape_t *shape,
                 const uint8_t **record, size_t *length, err_t *err) {
    if (!emit_possible(emit->draft.schema, err))
        return false;
    int same = emit->fixed ? emit_fixed_record(emit->fixed, document, err)
                           : emit_delimited_record(emit->delimited, dialect, document, shape, err);
    if (same == 1)
        same = reads_back(emit, dialect, document);
    if (same == -1)
        return err_memory(err, emit->draft.length);
    if (same == -2)
        return false;
    *record = emit->draft.bytes;
    *length = emit->draft.length;
    if (same)
        return true;
    return err_set(err, STATUS_INPUT,
                   emit->fixed ? "the values of this document cannot be written as a record of this format"
                               : "the values of this document cannot be written with the delimiter and "
                                 "quotes of this file");
}

bool draft_put(draft_t *draft, const void *bytes, size_t length) {
    if (draft->length + length + POOL_SLACK > draft->room) {
        size_t room = 2 * (draft->length + length) + 4 * POOL_SLACK;
        uint8_t *larger = realloc(draft->base, POOL_SLACK + room);
        if (!larger)
            return false;
        memset(larger, 0, POOL_SLACK);
        draft->base = larger;
        draft->bytes = larger + POOL_SLACK;
        draft->room = room;
    }
    memcpy(draft->bytes + draft->length, bytes, length);
    draft->length += length;
    return true;
}
