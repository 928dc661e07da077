/* The sample, cut: first the beginning of one input, by which the structure is found (guess_begin); then all whole records of all
 * inputs, once, into the rows and cells of the sheet (guess_cut). What no delimited text can be is refused. All later chapters
 * read the sheet, and do not change it. */
#include "base/chars.h"
#include "format/cut/ends.h"
#include "format/guess/guess_inner.h"

#include <stdlib.h>
#include <string.h>

enum {
    TRIED_LINES = 200, /* to find the first record of a piece */
    IN_A_ROW = 10,     /* records that have to fit from there on */
    HEAD = 64 * 1024,  /* bytes that show whether it is text */
};

void guess_schema(schema_t *schema, const way_t *way) {
    memset(schema, 0, sizeof *schema);
    schema->delimiters[0] = way->delimiter;
    schema->delimiter_count = 1;
    schema->blanks = way->blanks;
    if (way->wide[0])
        schema->wide = (schema_text_t){way->wide, strlen(way->wide)};
    schema->quote = way->quote;
    schema->guessed = true;
    schema->escape_double = true;
    schema->escape_backslash = way->backslash;
    schema->escape_backslashes = way->backslashes;
    schema->multiline = way->quote != 0;
    schema->surplus_field = -1;
}

bool guess_next(const schema_t *schema, const uint8_t **at, const uint8_t *end, bool last,
                dialect_line_t *line) {
    return dialect_next_line(schema, schema->delimiters[0], at, end, last, line) && line->whole;
}

/* ---- the middle of a text ---- */

/* True if a record begins here, and all after it fit (IN_A_ROW, or fewer at the end). */
static bool fits_from(const schema_t *schema, size_t columns, split_t *split, const uint8_t *at,
                      const uint8_t *end) {
    dialect_line_t line;
    size_t fitting = 0;
    for (; fitting < IN_A_ROW && guess_next(schema, &at, end, false, &line); fitting++)
        if (!split_record(split, schema, schema->delimiters[0], line.text, line.length) ||
            !split_is_sound(split) || split->count != columns)
            return false;
    return fitting > 0;
}

static bool is_edge(const schema_t *schema, uint8_t byte) {
    return byte == (uint8_t)schema->delimiters[0] || byte == '\n' || byte == '\r' ||
           (schema->blanks && byte == ' ');
}

/* True if the text begins within quotes: the first quote closes a field. Lines of a text in quotes may look like records. */
static bool begins_within(const schema_t *schema, const uint8_t *text, const uint8_t *quote,
                          const uint8_t *end) {
    return quote && quote > text && quote + 1 < end && !is_edge(schema, quote[-1]) &&
           is_edge(schema, quote[1]);
}

/* Finds the first record of a piece that begins with some line of a larger text, perhaps within quotes. NULL: none is found.
 * columns: of the records. Overwrites split. */
static const uint8_t *find_middle(const schema_t *schema, size_t columns, split_t *split, const uint8_t *text,
                                  const uint8_t *end) {
    const uint8_t *quote = schema->quote ? memchr(text, schema->quote, (size_t)(end - text)) : NULL,
                  *at = begins_within(schema, text, quote, end) ? quote : text;
    for (size_t i = 0; i < TRIED_LINES && at < end; i++) {
        if (at != quote && fits_from(schema, columns, split, at, end))
            return at;
        const uint8_t *feed = memchr(at, '\n', (size_t)(end - at));
        at = feed ? feed + 1 : end;
    }
    return NULL;
}

/* ---- is it delimited text at all? ---- */

bool guess_is_empty(const uint8_t *text, size_t length) {
    size_t at = lines_bom(text, length);
    while (at < length && (text[at] == '\n' || text[at] == '\r'))
        at++;
    return at == length;
}

/* True if the first line that is not blank begins with a bracket, as XML and lists and objects of JSON, Python and JavaScript do,
 * and holds no other after a comma, as <DATE>,<TIME> does. */
static bool is_of_brackets(const uint8_t *text, size_t length) {
    const uint8_t *at = text + json_span_begins(text, length),
                  *feed = memchr(at, '\n', length - (size_t)(at - text));
    const char *const rows[] = {['['] = "],[", ['{'] = "},{", ['<'] = ">,<"};
    const char *row = *at < COUNT(rows) ? rows[*at] : NULL;
    return row && !memmem(at, (size_t)((feed ? feed : text + length) - at), row, 3);
}

/* True if the record holds a CR, and nothing that may be a text in quotes. */
static bool has_cr(const schema_t *schema, const uint8_t *text, size_t length) {
    return text[length - 1] == '\r' || (memchr(text, '\r', length) && !memchr(text, schema->quote, length));
}

bool guess_refuse_cr(const char *name, err_t *err) {
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: lines of it end with CR CR LF, or some with CR alone (byte 0d): make each an LF first (of "
        "CR CR LF: sed 's/\\r*$//'; of CR alone: tr '\\r' '\\n'); if the CRs are parts of values, give "
        "--format",
        name);
}

/* Refuses what is no delimited text: NUL bytes, BSON, arrays of JSON, XML and the like. */
static bool check_text(const char *name, const uint8_t *text, size_t length, err_t *err) {
    const size_t head = length < HEAD ? length : HEAD;
    const char *why =
        memchr(text, 0, head) ? "holds NUL bytes (if it is BSON, its first document is broken)"
        : json_span_begins(text, head) == head ? "holds no record"
        : is_of_brackets(text, head)
            ? "looks like XML, HTML, Python or JavaScript, or like JSON without objects, or with keys in "
              "other quotes than double ones"
            : NULL;
    return !why || err_set(err, STATUS_INPUT, "%.1000s: %s, so its format cannot be guessed; give --format",
                           name, why);
}

const char *guess_shown(char *out, size_t room, const char *text, size_t length) {
    enum { SHOWN = 40 };
    const bool cut = length > SHOWN;
    length = cut ? SHOWN : length;
    while (cut && length && ((uint8_t)text[length] & 0xC0) == 0x80)
        length--;
    return escape_text(out, room, text, length);
}

/* ---- rows ---- */

bool guess_split_line(guess_t *guess, const uint8_t *text, size_t length, err_t *err) {
    return split_record(&guess->split, &guess->schema, guess->schema.delimiters[0], text, length) ||
           err_memory(err, length);
}

/* True if the record that is split has as many fields as the header of its input. */
static bool has_all_fields(const guess_t *guess) {
    return guess->split.count == guess->fields && split_is_sound(&guess->split);
}

/* True if the record that is split, of several lines, is one that looks like several. */
static bool look_at_lines(guess_t *guess, row_t *row, err_t *err) {
    uint32_t torn = 0;
    if (!memchr(row->text, '\n', row->length))
        return true;
    const bool ok = split_torn_lines(&guess->split, &guess->schema, guess->schema.delimiters[0],
                                     guess->structure.columns, row->text, row->length, &torn);
    row->several = torn;
    return ok ? guess_split_line(guess, row->text, row->length, err) : err_memory(err, row->length);
}

/* Adds the record that is split. Texts without their escapes are in memory of the split, which the sheet takes over. */
static bool add_row(guess_t *guess, row_t row, err_t *err) {
    sheet_t *sheet = &guess->sheet;
    const split_t *split = &guess->split;
    const bool names = row.kind == ROW_NAMES;
    /* a line of - = _ + only is a reject under a guessed format */
    const bool fits =
        names || (has_all_fields(guess) &&
                  !dialect_is_underline(&guess->schema, guess->schema.delimiters[0], row.text, row.length));
    row.torn = !fits && split->torn;
    if (fits && !names && !look_at_lines(guess, &row, err))
        return false;
    row.first = sheet->cell_count;
    row.count = fits && !row.several ? guess->structure.columns : 0;
    if (!GROW(sheet->rows, sheet->room, sheet->count + 1, err) ||
        !GROW(sheet->cells, sheet->cell_room, row.first + row.count + 1, err) ||
        !GROW(sheet->texts, sheet->text_room, sheet->text_count + 1, err))
        return false;
    memset(sheet->cells + row.first, 0, row.count * sizeof *sheet->cells);
    bool escapes = false;
    for (size_t i = 0; i < split->count && i < row.count; i++) {
        const span_t *span = &split->spans[i];
        sheet->cells[row.first + (guess->names == NAMES_HEADER ? guess->order[i] : i)] =
            (cell_t){span->text, span->length, span->length != span->raw_length};
        escapes |= span->text < row.text || span->text > row.text + row.length;
    }
    if (escapes) {
        sheet->texts[sheet->text_count++] = guess->split.scratch;
        guess->split.scratch = NULL;
        guess->split.scratch_room = 0;
    }
    sheet->cell_count += row.count;
    sheet->rows[sheet->count++] = row;
    return true;
}

void guess_free_sheet(guess_t *guess) {
    sheet_t *sheet = &guess->sheet;
    for (size_t i = 0; i < sheet->text_count; i++)
        free(sheet->texts[i]);
    free(sheet->texts);
    free(sheet->cells);
    free(sheet->rows);
}

/* ---- columns ---- */

bool guess_add_column(guess_t *guess, const char *text, size_t length, const char *in, err_t *err) {
    const size_t at = guess->structure.columns;
    char *copy = calloc(1, length + 1);
    if (!copy || !GROW(guess->columns, guess->column_room, at + 1, NULL)) {
        free(copy);
        return err_memory(err, (at + 1) * sizeof *guess->columns);
    }
    memcpy(copy, text, length);
    guess->columns[at] = (guess_column_t){.text = copy, .length = length, .optional = in != NULL, .in = in};
    guess_column_begin(&guess->columns[at].column);
    guess->structure.columns++;
    return true;
}

/* Counts the values of a column anew, and decides its type. */
static void decide_column(guess_t *guess, size_t index) {
    column_t *column = &guess->columns[index].column;
    guess_column_begin(column);
    for (size_t i = 0; i < guess->sheet.count; i++) {
        const row_t *row = &guess->sheet.rows[i];
        const cell_t *cell = guess_is_record(guess, row) ? guess_cell(guess, row, index) : NULL;
        if (!cell)
            continue;
        column->row = i;
        guess_column_add(column, cell->text, cell->length);
        column->kept_blank |=
            cell->enclosed && cell->length && (cell->text[0] == ' ' || cell->text[cell->length - 1] == ' ');
    }
    guess->columns[index].is = guess_column_decide(column);
}

void guess_decide(guess_t *guess) {
    counts_t counts = {0};
    for (size_t i = 0; i < guess->sheet.count; i++) {
        const row_t *row = &guess->sheet.rows[i];
        const bool again = row->kind == ROW_AGAIN;
        counts.repeated += again;
        counts.marked_again |= again && row->marked;
        if (!guess_is_record(guess, row))
            continue;
        size_t empty = 0;
        while (empty < row->count && !guess->sheet.cells[row->first + empty].length)
            empty++;
        counts.records++;
        counts.with_cr += has_cr(&guess->schema, row->text, row->length);
        counts.rejects += !row->count;
        counts.hollow += row->count && empty == row->count;
    }
    guess->counts = counts;
    for (size_t i = guess->decided; i < guess->structure.columns; i++)
        decide_column(guess, i);
}

/* ---- the first record ---- */

/* True if the last record of the piece is whole. A text that may go on (options.beginning) counts as whole while it is short. */
static bool is_whole(const guess_t *guess, const guess_piece_t *piece) {
    return piece->ends &&
           !(guess->options.beginning && lines_count(piece->text, piece->length) >= GUESS_LEAST_LINES);
}

/* The quote by which an input would be read; 0: none. */
static char quote_of(const guess_t *guess, const guess_piece_t *piece, bool whole) {
    structure_t found;
    err_t ignored;
    return guess_find_structure(&found, piece->input, piece->text, piece->length, whole, &guess->options,
                                &ignored)
               ? found.way.quote
               : 0;
}

/* True if the text would be read with quotes if it went on: it may have been cut off within a text in quotes. */
static bool is_cut_off(const guess_t *guess, const guess_piece_t *piece) {
    return !guess->options.quote && !guess->schema.quote && quote_of(guess, piece, false);
}

/* True for x.bson, x.bson.gz, a.tar!x.bson. */
static bool is_named_bson(const char *name) {
    const char *end = strstr(name, ".bson");
    return end && (!end[5] || (end[5] == '.' && !strpbrk(end, "/!")));
}

/* Makes the field the name of its column. In a line below other names it follows the name above it, or that of the group: the
 * nearest one on the left. */
static bool add_name(guess_t *guess, size_t at, const span_t *span, err_t *err) {
    guess_column_t *column = &guess->columns[at], *group = column;
    while (group > guess->columns && !group->length)
        group--;
    text_t text = {.length = 0};
    text_append_bytes(&text, group->text, group->length);
    text_append(&text, group->length ? " " : "");
    text_append_bytes(&text, (const char *)span->text, span->length);
    free(column->text);
    column->length = text.length;
    column->text = text_take(&text, err);
    return column->text != NULL;
}

/* Takes the first record, or a line of names above it: names of groups stand in front of those below them. */
static bool take_names(guess_t *guess, const dialect_line_t *line, err_t *err) {
    structure_t *structure = &guess->structure;
    split_t *split = &guess->split;
    guess->first = (row_t){.text = line->text, .length = line->length, .input = guess->name};
    if (!guess_split_line(guess, line->text, line->length, err))
        return false;
    if (split->count == structure->columns)
        structure->odd_header = structure->unsure_names = false;
    guess->first_misfits = split->count != structure->columns || !split_is_sound(split);
    const size_t shift = structure->odd_header;
    for (size_t i = structure->columns; i-- > shift;)
        if (i - shift < split->count && split->spans[i - shift].length &&
            !add_name(guess, i, &split->spans[i - shift], err))
            return false;
    return add_row(guess, guess->first, err);
}

bool guess_begin(guess_t *guess, err_t *err) {
    const guess_piece_t *const piece = guess->head;
    const uint8_t *const text = piece->text;
    structure_t *structure = &guess->structure;
    guess->marked = lines_bom(text, piece->length) > 0;
    guess->kind = piece->ends && !piece->length && (piece->dumped || is_named_bson(guess->name))
                      ? RECORDS_BSON
                      : guess_kind_of(text, piece->length);
    if (guess->kind != RECORDS_DELIMITED)
        return true;
    const bool whole = is_whole(guess, piece);
    if (!check_text(guess->name, text, piece->length, err) ||
        !guess_find_structure(structure, guess->name, text, piece->length, whole, &guess->options, err))
        return false;
    guess_schema(&guess->schema, &structure->way);
    guess->cut_off = whole && is_cut_off(guess, piece);
    guess->schema.skip = (uint32_t)structure->skip;
    guess->schema.comment = structure->comment;
    guess->fields = structure->columns;
    structure->columns = 0;
    while (structure->columns < guess->fields)
        if (!guess_add_column(guess, "", 0, NULL, err))
            return false;
    const uint8_t *at = text + structure->names;
    dialect_line_t line;
    do
        if (!guess_next(&guess->schema, &at, text + piece->length, whole, &line) ||
            !take_names(guess, &line, err))
            return false;
    while (line.text < text + structure->first);
    guess->first_line = 1 + lines_count(text, (size_t)(line.text - text));
    return !has_cr(&guess->schema, line.text, line.length) || guess_refuse_cr(guess->name, err);
}

/* ---- the inputs ---- */

/* The column of a field of the input at hand. */
static const guess_column_t *column_at(const guess_t *guess, size_t field) {
    return &guess->columns[guess->names == NAMES_HEADER ? guess->order[field] : field];
}

/* True if the text is the first record. */
static bool is_first(const guess_t *guess, const uint8_t *text, size_t length) {
    return length == guess->first.length && memcmp(text, guess->first.text, length) == 0;
}

/* True if the field holds the column's name. Those of a kept format are UTF-8, others as in the text. */
static bool is_named(const guess_t *guess, const guess_column_t *column, const span_t *span) {
    const uint8_t *text = span->text, *name = (const uint8_t *)column->text;
    size_t length = span->length, name_length = column->length;
    const encoding_t encoding = column < guess->columns + guess->decided ? guess->encoding : ENCODING_NONE;
    blanks_trim(&text, &length);
    blanks_trim(&name, &name_length);
    return encoding_same(encoding, (const char *)name, name_length, text, length, true);
}

/* True if the record that is split is the header again, except for quotes, case and blanks around names. The reader also takes
 * it for a header (dialect_line). */
static bool is_named_again(const guess_t *guess) {
    bool same =
        guess->fields > 1 && !guess->first_misfits && column_at(guess, 0)->length && has_all_fields(guess);
    for (size_t i = 0; same && i < guess->split.count; i++)
        same = is_named(guess, column_at(guess, i), &guess->split.spans[i]);
    return same;
}

/* Adds the whole records of a piece, the first of which begins at `at`. */
static bool take_lines(guess_t *guess, const guess_piece_t *piece, const uint8_t *at, bool last, err_t *err) {
    bool at_start = piece->begins;
    dialect_line_t line;
    while (guess_next(&guess->schema, &at, piece->text + piece->length, last, &line)) {
        const size_t bom = lines_bom(line.text, line.length); /* of a file that was appended to another one */
        row_t row = {.text = line.text + bom,
                     .length = line.length - bom,
                     .input = piece->input,
                     .kind = at_start ? ROW_FIRST : ROW_AGAIN,
                     .marked = bom};
        if (!guess_split_line(guess, row.text, row.length, err))
            return false;
        if (is_first(guess, row.text, row.length) || (at_start && guess->names == NAMES_HEADER) ||
            is_named_again(guess)) {
            at_start = false;
        } else {
            row.kind = ROW_RECORD;
            row.text = line.text;
            row.length = line.length;
            if (bom && !guess_split_line(guess, row.text, row.length, err))
                return false;
        }
        if (!add_row(guess, row, err))
            return false;
    }
    return true;
}

static bool take_piece(guess_t *guess, const guess_piece_t *piece, err_t *err) {
    const bool last = is_whole(guess, piece);
    guess->all &= piece->begins && last;
    if (guess->kind != RECORDS_DELIMITED)
        return !piece->begins || guess_take_documents(guess, piece->text, piece->length, last, err);
    const uint8_t *const text = piece->text, *const feed = memchr(text, '\n', piece->length);
    const uint8_t *begin =
        piece->begins ? text + dialect_begin(&guess->schema, text, piece->length)
        : feed ? find_middle(&guess->schema, guess->fields, &guess->split, feed + 1, text + piece->length)
               : NULL;
    return !begin || take_lines(guess, piece, begin, last, err);
}

/* Refuses another input that would be read with another quote if it were the first one. */
static bool check_quote(const guess_t *guess, const guess_piece_t *piece, err_t *err) {
    const char quote = guess->schema.quote;
    const bool may = quote && (quote == '\'' || memchr(piece->text, '\'', piece->length));
    const char other = may ? quote_of(guess, piece, piece->ends) : 0;
    return !other || other == quote || !memchr(piece->text, other, piece->length) ||
           err_set(err, STATUS_INPUT,
                   "%.1000s: by its beginning %c encloses texts, and %c in another input with the same "
                   "columns: one format cannot read both. Load them into a collection each, or give --format",
                   piece->input, quote, other);
}

/* The column of this name; the number of columns: there is none. Most stand at the same place, so the search begins there. */
static size_t find_named(const guess_t *guess, size_t at, const span_t *span) {
    const size_t count = guess->structure.columns;
    for (size_t i = 0; i < count; i++) {
        const size_t next = (at + i) % count;
        if (is_named(guess, &guess->columns[next], span) && (span->length || !i))
            return next;
    }
    return count;
}

/* True if the field may name a new column: that of a kept format by a text in its encoding. */
static bool may_name(const guess_t *guess, const span_t *span) {
    return !guess->kept || (span->length && (encoding_converts(guess->encoding, span->text, span->length) ||
                                             utf8_valid(span->text, span->length)));
}

/* Compares the header of another input, which is split, with the columns. *shares: it has most of the names of the shorter
 * header, and none twice. Then its new columns are appended, and columns that it lacks become optional. */
static bool add_names(guess_t *guess, const char *input, bool *shares, err_t *err) {
    const split_t *split = &guess->split;
    const size_t before = guess->structure.columns, fewer = before < split->count ? before : split->count;
    bool fits = split_is_sound(split), has[SCHEMA_MOST_FIELDS] = {false};
    size_t known = 0;
    for (size_t i = 0; fits && i < split->count; i++) {
        const span_t *span = &split->spans[i];
        const size_t column = find_named(guess, i, span);
        const bool is_new = column == guess->structure.columns;
        fits = column < SCHEMA_MOST_FIELDS && !has[column] && (!is_new || may_name(guess, span));
        if (!fits)
            break;
        if (is_new && !guess_add_column(guess, (const char *)span->text, span->length, input, err))
            return false;
        has[column] = true;
        guess->order[i] = (uint16_t)column;
        known += column < before;
    }
    *shares = fits && 2 * known > fewer;
    for (size_t i = 0; *shares && i < before; i++)
        guess->columns[i].optional |= !has[i];
    while (!*shares && guess->structure.columns > before)
        free(guess->columns[--guess->structure.columns].text);
    return true;
}

/* True if the first record of another input, which is split, fits a first input without a header: a number or date stands in a
 * column with a type, or all columns are text. */
static bool is_record(const guess_t *guess) {
    const split_t *split = &guess->split;
    bool typed = false, none = true;
    for (size_t i = 0; i < split->count && i < guess->structure.columns; i++) {
        const bool text = guess_kind_is_text(guess->columns[i].is.kind);
        none &= text;
        typed |= !text && guess_is_number_or_date(&split->spans[i]);
    }
    return split->count == guess->structure.columns && split_is_sound(split) && (typed || none);
}

/* Begins another input. *takes: it is read like the first one, or its first line is a header that shares names with the first
 * one or, if there is no header, a record. Other inputs are left out, and refused when they are checked. */
static bool begin_other(guess_t *guess, const guess_piece_t *piece, bool *takes, err_t *err) {
    const bool delimited = guess->kind == RECORDS_DELIMITED;
    const uint8_t *at = piece->text + dialect_begin(&guess->schema, piece->text, piece->length);
    dialect_line_t line;
    *takes = !delimited && guess_kind_of(piece->text, piece->length) == guess->kind;
    if (delimited && guess_next(&guess->schema, &at, piece->text + piece->length, piece->ends, &line)) {
        if (!guess_split_line(guess, line.text, line.length, err))
            return false;
        *takes = guess->names > NAMES_NONE ? is_first(guess, line.text, line.length) : is_record(guess);
        guess->fields = guess->split.count;
        if ((guess->names == NAMES_HEADER && !add_names(guess, piece->input, takes, err)) ||
            (*takes && !check_quote(guess, piece, err)))
            return false;
    }
    guess->all &= *takes;
    guess->others |= *takes;
    return true;
}

/* Adds the pieces of the input that decides, or those of all others. */
bool guess_cut(guess_t *guess, bool others, err_t *err) {
    const guess_piece_t *piece = guess->sample->pieces, *const end = piece + guess->sample->count;
    bool takes = false, of_first = false;
    for (; piece < end; piece++) {
        of_first = piece->begins ? piece == guess->head : of_first;
        if (of_first == others || (piece->ends && guess_is_empty(piece->text, piece->length)))
            continue;
        takes |= of_first;
        if (others && piece->begins && !begin_other(guess, piece, &takes, err))
            return false;
        if (takes && !take_piece(guess, piece, err))
            return false;
    }
    guess->fields = guess->structure.columns;
    return true;
}
