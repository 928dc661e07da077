/* The course of a guess (guess_new):
 *
 *     begin          finds the structure by the first piece, and keeps the first record
 *     take_inputs    adds the whole records of the inputs that begin with the same line to their columns
 *     settle         decides line ends, quotes, encoding and header; adds the other inputs (take_inputs again) and decides
 *                    the first three anew; then decides names, --type, order of days, decimal marks and null words
 *
 * Each step may refuse or ask (status 5). guess_write.c writes the result. */
#include "base/chars.h"
#include "format/guess/guess_inner.h"
#include "format/record/dialect.h"
#include "format/values/blanks.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void guess_destroy(guess_t *guess) {
    if (!guess)
        return;
    for (size_t i = 0; guess->columns && i < guess->structure.columns; i++) {
        free(guess->columns[i].text);
        free(guess->columns[i].name);
        free(guess->columns[i].key);
    }
    for (size_t i = 0; guess->types && i < guess->options.type_count; i++)
        type_spec_free(&guess->types[i]);
    free(guess->types);
    free(guess->columns);
    free(guess->first);
    if (guess->split)
        split_free(guess->split);
    free(guess->split);
    free(guess->schema);
    free(guess);
}

bool guess_split_line(guess_t *guess, const guess_line_t *line, err_t *err) {
    return split_record(guess->split, guess->schema, guess->structure.way.delimiter, line->text,
                        line->length) ||
           err_memory(err, line->length);
}

/* Counts a comment that may be a record, and is a reject: see look_at_comment in delimited.c. */
static bool add_comment(guess_t *guess, const guess_line_t *line, bool before, err_t *err) {
    const size_t columns = guess->structure.columns;
    if (!guess_split_line(guess, line, err))
        return false;
    const bool lines = memchr(line->text, '\n', line->length); /* which quotes make, even before a header */
    guess->comments[before && !lines] += lines || (columns > 1 && guess->split->count == columns);
    return true;
}

/* Keeps the first record, which may name the columns, until the others are known. */
static bool keep_first(guess_t *guess, const uint8_t *text, size_t length, bool whole, err_t *err) {
    const structure_t *structure = &guess->structure;
    const uint8_t *at = text + structure->first;
    guess_line_t line = {NULL, 0};
    if (!(guess->columns = calloc(structure->columns, sizeof *guess->columns)))
        return err_memory(err, structure->columns * sizeof *guess->columns);
    for (size_t i = 0; i < structure->columns; i++)
        guess_column_begin(&guess->columns[i].column);
    if (!guess_next(guess->schema, &at, text + length, whole, &line))
        return false;
    if (!(guess->first = malloc(line.length)))
        return err_memory(err, line.length);
    memcpy(guess->first, line.text, line.length);
    guess->first_length = line.length;
    guess->first_line = 1 + lines_count(text, (size_t)(line.text - text));
    return guess_cut_first(guess, err);
}

/* True if the last record of the piece is whole. A text that may go on (options.beginning) counts as whole while it is short. */
static bool is_whole(const guess_t *guess, const guess_piece_t *piece) {
    return piece->ends &&
           !(guess->options.beginning && lines_count(piece->text, piece->length) >= GUESS_LEAST_LINES);
}

/* Refuses a text that would be read with quotes if it went on: it may have been cut off within a text in quotes. */
static bool check_cut_off(const guess_t *guess, const uint8_t *text, size_t length,
                          const structure_said_t *said, err_t *err) {
    structure_t found;
    err_t ignored;
    return said->quote || guess->structure.way.quote ||
           !guess_find_structure(&found, guess->name, text, length, false, said, &ignored) ||
           !found.way.quote ||
           err_set(
               err, STATUS_INPUT,
               "%.1000s: if its quotes enclose texts, it ends within one, where it may have been cut off; "
               "else they are ordinary characters: say which by --with quote=%s or --with quote=none",
               guess->name, guess_options_quote_word(found.way.quote));
}

/* Finds the structure by the first piece. */
static bool begin(guess_t *guess, const guess_piece_t *piece, err_t *err) {
    const size_t bom = lines_bom(piece->text, piece->length);
    const uint8_t *const text = piece->text + bom;
    const size_t length = piece->length - bom;
    const structure_said_t said = {guess->options.header_line, guess->options.quote,
                                   guess->options.delimiter};
    guess->marked = bom > 0;
    guess->bson = guess_is_bson(piece->text, piece->length) ||
                  (piece->ends && !piece->length && (piece->dumped || guess_is_named_bson(guess->name)));
    guess->json = !guess->bson && guess_is_json(piece->text, piece->length);
    if (guess->bson || guess->json)
        return true;
    const bool whole = is_whole(guess, piece);
    if (!guess_is_text(guess->name, piece->text, piece->length, err) ||
        !guess_find_structure(&guess->structure, guess->name, text, length, whole, &said, err) ||
        (whole && !check_cut_off(guess, text, length, &said, err)))
        return false;
    guess->fields = guess->structure.columns;
    guess_schema(guess->schema, &guess->structure.way);
    guess->schema->skip = (uint32_t)guess->structure.skip;
    guess->schema->comment = guess->structure.comment;
    return keep_first(guess, text, length, whole, err);
}

/* ---- values ---- */

/* Notes \t, \n and \\, by which databases write a tab, a line end and a backslash into text without quotes; in quotes, if \" is
 * an escape, a backslash before any sign. */
static void note_escapes(guess_t *guess, const span_t *span) {
    const bool quoted = span->raw_length > span->length && span->length;
    const uint8_t *at = span->text, *const end = at + span->length;
    while (!guess->has_escapes && (!quoted || guess->structure.way.backslash) &&
           (at = memchr(at, '\\', (size_t)(end - at))) && ++at < end)
        guess->has_escapes = *at && (strchr("bfnrtv\\\n", *at) || (quoted && ispunct(*at)));
}

static void add_value(guess_column_t *column, const span_t *span) {
    const bool quoted = span->raw_length > span->length && span->length;
    guess_column_add(&column->column, span->text, span->length);
    column->column.kept_blank |= quoted && (span->text[0] == ' ' || span->text[span->length - 1] == ' ');
}

/* True if a field without quotes holds a CR: the writer may have meant a line end. */
static bool has_cr(const split_t *split) {
    for (size_t i = 0; i < split->count; i++)
        if (split->spans[i].length == split->spans[i].raw_length &&
            memchr(split->spans[i].text, '\r', split->spans[i].length))
            return true;
    return false;
}

/* The column of a field of the input at hand. */
static guess_column_t *column_at(const guess_t *guess, size_t field) {
    return &guess->columns[guess->by_names ? guess->order[field] : field];
}

/* True if the record that is split has as many fields as the header of its input. */
static bool has_all_fields(const guess_t *guess) {
    return guess->split->count == guess->fields && split_is_sound(guess->split);
}

static bool is_hollow(const split_t *split) {
    for (size_t i = 0; i < split->count; i++)
        if (split->spans[i].length)
            return false;
    return true;
}

/* Adds the record that is split. */
static bool add_record(guess_t *guess, const guess_line_t *line, err_t *err) {
    guess->records++;
    guess->with_cr += memchr(line->text, '\r', line->length) && has_cr(guess->split);
    guess->hollow += is_hollow(guess->split);
    const span_t *last = &guess->split->spans[guess->split->count - 1];
    guess->stray_cr |=
        last->length && last->length == last->raw_length && last->text[last->length - 1] == '\r';
    if (!has_all_fields(guess)) {
        guess->misfits++;
        guess->quotes.loose += guess->split->torn > 0;
        guess->quotes.odd += guess->split->torn > 0;
        return true;
    }
    bool torn = false;
    if (!guess_quotes_look(guess, line, &torn, err))
        return false;
    guess->escaped_ends += !torn && split_ends_escaped(line->text, line->length);
    const bool wide = !encoding_is_ascii(line->text, line->length),
               escapes = memchr(line->text, '\\', line->length);
    for (size_t i = 0; !torn && i < guess->split->count; i++) {
        const span_t *span = &guess->split->spans[i];
        add_value(column_at(guess, i), span);
        if (wide)
            guess_look_at_bytes(guess, span->text, span->length);
        if (escapes)
            note_escapes(guess, span);
    }
    return true;
}

/* True if the field holds the column's name. */
static bool is_named(const guess_column_t *column, const span_t *span) {
    const uint8_t *text = span->text, *name = (const uint8_t *)column->text;
    size_t length = span->length, name_length = column->length;
    blanks_trim(&text, &length);
    blanks_trim(&name, &name_length);
    return length == name_length && strncasecmp((const char *)text, (const char *)name, length) == 0;
}

/* True if the record that is split is the header again, except for quotes, case and blanks around names. The reader also takes
 * it for a header (dialect_line). */
bool guess_is_named_again(const guess_t *guess) {
    bool same =
        guess->fields > 1 && !guess->first_misfits && column_at(guess, 0)->length && has_all_fields(guess);
    for (size_t i = 0; same && i < guess->split->count; i++)
        same = is_named(column_at(guess, i), &guess->split->spans[i]);
    return same;
}

/* Adds the whole records of a piece. begin: where the first one begins; *done: where the last one ends. */
static bool take_lines(guess_t *guess, const guess_piece_t *piece, const uint8_t *begin, bool last,
                       const uint8_t **done, err_t *err) {
    const uint8_t *const end = piece->text + piece->length, *at = begin;
    bool at_start = piece->begins;
    guess_line_t line;
    while (guess_line(guess->schema, &at, end, last, &line)) {
        if (schema_is_comment(guess->schema, *line.text)) {
            if (!add_comment(guess, &line, at_start, err))
                return false;
            *done = at;
            continue;
        }
        const bool like_first = guess_is_first(guess, &line);
        const size_t bom = lines_bom(line.text, line.length);
        const guess_line_t bare = {line.text + bom, line.length - bom};
        if (!guess_split_line(guess, &bare, err))
            return false;
        if (like_first || (at_start && guess->by_names) || guess_is_named_again(guess)) {
            guess->like_first++;
            guess->repeated += !at_start;
            guess->marked_again |= !at_start && bom;
            at_start = false;
        } else if (guess_is_underline(guess, &line)) {
            guess->records++;
            guess->misfits++;
        } else if ((bom && !guess_split_line(guess, &line, err)) || !add_record(guess, &line, err)) {
            return false;
        }
        *done = at;
    }
    guess->bytes += (uint64_t)(*done - begin);
    return true;
}

/* Where the first record of a piece begins; NULL: none is found. */
static const uint8_t *find_begin(guess_t *guess, const guess_piece_t *piece) {
    const uint8_t *const text = piece->text, *feed = memchr(text, '\n', piece->length);
    structure_t here = guess->structure;
    here.columns = guess->fields;
    return piece->begins ? text + dialect_begin(guess->schema, text, piece->length)
           : feed        ? guess_middle(&here, guess->schema, guess->split, feed + 1, text + piece->length)
                         : NULL;
}

static bool take_piece(guess_t *guess, const guess_piece_t *piece, err_t *err) {
    const bool last = is_whole(guess, piece);
    size_t used = 0;
    guess->scattered |= !piece->begins;
    if (guess->json && piece->begins && !guess_json_take(guess, piece->text, piece->length, last, &used, err))
        return false;
    if (guess->bson && piece->begins)
        guess_bson_take(guess, piece->text, piece->length, &used);
    const bool documents = guess->json || guess->bson;
    const uint8_t *begin = documents ? NULL : find_begin(guess, piece),
                  *done = begin ? begin : piece->text + used;
    if (begin && !take_lines(guess, piece, begin, last, &done, err))
        return false;
    guess->all &= piece->begins && piece->ends && (last || done == piece->text + piece->length);
    return true;
}

/* ---- other inputs ---- */

/* Refuses another input that would be read with another quote if it were the first one. */
static bool check_quote(const guess_t *guess, const guess_piece_t *piece, err_t *err) {
    const char quote = guess->structure.way.quote;
    const structure_said_t said = {0, guess->options.quote, guess->options.delimiter};
    const size_t bom = lines_bom(piece->text, piece->length);
    structure_t other;
    err_t ignored;
    return !quote || (!memchr(piece->text, '\'', piece->length) && quote != '\'') ||
           !guess_find_structure(&other, piece->input, piece->text + bom, piece->length - bom, piece->ends,
                                 &said, &ignored) ||
           other.way.quote == quote || !other.way.quote ||
           !memchr(piece->text, other.way.quote, piece->length) ||
           err_set(err, STATUS_INPUT,
                   "%.1000s: by its beginning %c encloses texts, and %c in another input with the same "
                   "columns: one format cannot read both. Load them into a collection each, or give --format",
                   piece->input, quote, other.way.quote);
}

/* Finds the first record of an input, or its header. */
static bool find_line(const guess_t *guess, const guess_piece_t *piece, guess_line_t *line) {
    const uint8_t *at = piece->text + dialect_begin(guess->schema, piece->text, piece->length);
    return guess_next(guess->schema, &at, piece->text + piece->length, piece->ends, line);
}

/* 0: text in columns, 1: JSON, 2: BSON. */
static int kind_of(const guess_piece_t *piece) {
    return guess_is_bson(piece->text, piece->length) ? 2 : guess_is_json(piece->text, piece->length);
}

/* True if the input begins as the first one does. */
static bool is_same(const guess_t *guess, const guess_piece_t *piece) {
    guess_line_t line;
    return guess->json || guess->bson ? kind_of(piece) == (guess->bson ? 2 : 1)
                                      : find_line(guess, piece, &line) && guess_is_first(guess, &line);
}

/* Says why an input cannot be read as the first one. Returns false. */
static bool refuse_other(const guess_t *guess, const guess_piece_t *piece, err_t *err) {
    static const char *const kinds[] = {"text in columns", "JSON", "BSON"};
    return err_set(err, STATUS_INPUT,
                   "%.1000s (%s): its first line %s %.1000s (%s): one format cannot read both, so guess each "
                   "by itself",
                   piece->input, kinds[kind_of(piece)],
                   guess->header ? "does not name most of the columns of" : "is no record like those of",
                   guess->name, kinds[guess->bson ? 2 : guess->json]);
}

/* The column of this name; the number of columns: there is none. Most stand at the same place, so the search begins there. */
static size_t find_named(const guess_t *guess, size_t at, const span_t *span) {
    const size_t count = guess->structure.columns;
    for (size_t i = 0; i < count; i++) {
        const size_t next = (at + i) % count;
        if (is_named(&guess->columns[next], span) && (span->length || !i))
            return next;
    }
    return count;
}

static bool add_column(guess_t *guess, const span_t *span, err_t *err) {
    const size_t count = guess->structure.columns, room = (count + 1) * sizeof *guess->columns;
    guess_column_t *larger = realloc(guess->columns, room);
    char *text = calloc(1, span->length + 1);
    guess->columns = larger ? larger : guess->columns;
    if (!larger || !text) {
        free(text);
        return err_memory(err, room);
    }
    memcpy(text, span->text, span->length);
    larger[count] = (guess_column_t){.text = text, .length = span->length, .optional = true};
    guess_column_begin(&larger[count].column);
    guess->structure.columns++;
    return true;
}

/* Compares the header of another input, which is split, with the columns. *shares: it has most of the names of the shorter
 * header, and none twice. Then its new columns are appended, and columns that it lacks become optional. */
static bool add_names(guess_t *guess, bool *shares, err_t *err) {
    const split_t *split = guess->split;
    const size_t before = guess->structure.columns, fewer = before < split->count ? before : split->count;
    size_t known = 0;
    bool fits = split_is_sound(split) && before + split->count <= SCHEMA_MOST_FIELDS;
    for (size_t i = 0; i < before; i++)
        guess->columns[i].here = false;
    for (size_t i = 0; fits && i < split->count; i++) {
        const size_t column = find_named(guess, i, &split->spans[i]);
        if (column == guess->structure.columns && !add_column(guess, &split->spans[i], err))
            return false;
        fits = !guess->columns[column].here;
        guess->columns[column].here = true;
        guess->order[i] = (uint16_t)column;
        known += column < before;
    }
    *shares = fits && 2 * known > fewer;
    for (size_t i = 0; *shares && i < before; i++)
        guess->columns[i].optional |= !guess->columns[i].here;
    while (!*shares && guess->structure.columns > before)
        free(guess->columns[--guess->structure.columns].text);
    return true;
}

/* True if the first record of another input, which is split, fits a first input without a header: it has a value of a type
 * where a header would have none, or all columns are text. */
static bool is_record(const guess_t *guess) {
    const split_t *split = guess->split;
    bool typed = false, none = true;
    for (size_t i = 0; i < split->count && i < guess->structure.columns; i++) {
        const kind_t kind = guess->columns[i].is.kind;
        const bool text = guess_kind_is_text(kind);
        none &= text;
        typed |=
            !text && split->spans[i].length && guess_is_typed(split->spans[i].text, split->spans[i].length);
    }
    return split->count == guess->structure.columns && split_is_sound(split) && (typed || none);
}

/* Decides on an input that begins with another line than the first one. *takes: the line is a header
 * that shares names with the first one or, if there is no header, a record. */
static bool adopt(guess_t *guess, const guess_piece_t *piece, bool *takes, err_t *err) {
    guess_line_t line;
    *takes = false;
    if (guess->json || guess->bson || guess->named_here || !find_line(guess, piece, &line))
        return true;
    if (!guess_split_line(guess, &line, err))
        return false;
    *takes = is_record(guess);
    guess->by_names = guess->header;
    guess->fields = guess->split->count;
    return !guess->header || add_names(guess, takes, err);
}

/* Begins another input. others: this is the pass over inputs that begin with another line than the first one. *takes: the
 * pieces of the input are read in this pass. */
static bool begin_other(guess_t *guess, const guess_piece_t *piece, bool others, bool *takes, err_t *err) {
    const bool empty = piece->ends && guess_is_empty(piece->text, piece->length),
               same = !empty && is_same(guess, piece);
    *takes = false;
    guess->others |= !same && !empty;
    if (same == others || empty)
        return true;
    *takes = same;
    if (!same && !adopt(guess, piece, takes, err))
        return false;
    if (*takes)
        return guess->json || guess->bson || check_quote(guess, piece, err);
    guess->all = false;
    return guess->options.mixed || refuse_other(guess, piece, err);
}

static bool take_inputs(guess_t *guess, const guess_sample_t *sample, bool others, err_t *err) {
    const guess_piece_t *const first = guess_first_piece(sample);
    bool takes = false;
    for (const guess_piece_t *piece = first; piece < sample->pieces + sample->count; piece++) {
        guess->here = piece->input;
        takes = piece == first ? !others : takes;
        if (piece != first && piece->begins && !begin_other(guess, piece, others, &takes, err))
            return false;
        if (takes && !take_piece(guess, piece, err))
            return false;
    }
    guess->here = guess->name;
    guess->by_names = false;
    return true;
}

/* ---- decisions ---- */

static void decide_columns(guess_t *guess) {
    for (size_t i = 0; i < guess->structure.columns; i++)
        guess->columns[i].is = guess_column_decide(&guess->columns[i].column);
}

/* Adds the first record and all lines that are the same: without a header they are records. After a header of one column the
 * repeated ones are values. */
static bool add_like_first(guess_t *guess, err_t *err) {
    const bool named = guess->header || guess->named_here, one = guess->structure.columns == 1;
    if (guess->like_first <= (named && one) || (named && !one))
        return true;
    guess->records += guess->like_first - named;
    const guess_line_t first = {guess->first, guess->first_length};
    if (guess->first_misfits || guess_is_underline(guess, &first)) {
        guess->misfits += guess->like_first;
        return true;
    }
    guess->escaped_ends +=
        split_ends_escaped(guess->first, guess->first_length) * (guess->like_first - named);
    if (!guess_split_line(guess, &first, err))
        return false;
    for (size_t i = 0; i < guess->split->count; i++)
        note_escapes(guess, &guess->split->spans[i]);
    for (size_t i = 0; i < guess->structure.columns; i++) {
        guess_column_t *column = &guess->columns[i];
        guess_column_add(&column->column, (const uint8_t *)column->text, column->length);
    }
    decide_columns(guess);
    return true;
}

/* Refuses CRs in the first line or in most of the others: there many records would be read as one. */
static bool find_cr(guess_t *guess, err_t *err) {
    const guess_line_t first = {guess->first, guess->first_length};
    if (guess->stray_cr || guess->first[guess->first_length - 1] == '\r')
        return guess_refuse_cr(guess->name, err);
    if (!guess_split_line(guess, &first, err))
        return false;
    return (!has_cr(guess->split) && 2 * guess->with_cr <= guess->records) ||
           guess_refuse_cr(guess->name, err);
}

/* Decides what takes all records: line ends, quotes, encoding. */
static bool settle_text(guess_t *guess, err_t *err) {
    if (!find_cr(guess, err))
        return false;
    decide_columns(guess);
    return guess_find_quotes(guess, err) && guess_find_encoding(guess, err) && guess_read_names(guess, err);
}

static bool settle(guess_t *guess, const guess_sample_t *sample, err_t *err) {
    if (guess->options.validate && !guess->bson)
        return err_set(err, STATUS_USAGE,
                       "%.1000s: is no BSON, and --with validate is for BSON: leave it out%s", guess->name,
                       guess->json ? "; JSON is always validated" : "");
    const bool documents = guess->json || guess->bson;
    if (!documents && (!settle_text(guess, err) || !guess_find_header(guess, sample, err)))
        return false;
    if (guess->others && (!take_inputs(guess, sample, true, err) || (!documents && !settle_text(guess, err))))
        return false;
    if (documents)
        return guess_check_documents(guess, err);
    const bool named = guess->header || guess->named_here; /* before a header no line is a record */
    const uint64_t rejects = guess->comments[false] + (named ? 0 : guess->comments[true]);
    guess->records += rejects;
    guess->misfits += rejects;
    if (!add_like_first(guess, err) || !guess_name_columns(guess, err) || !guess_tell_types(guess, err) ||
        !guess_settle_ways(guess, err))
        return false;
    guess_settle_nulls(guess);
    return true;
}

/* ---- a guess ---- */

const guess_piece_t *guess_first_piece(const guess_sample_t *sample) {
    const guess_piece_t *piece = sample->pieces, *const end = piece + sample->count;
    while (piece < end && piece->ends && guess_is_empty(piece->text, piece->length))
        piece++;
    return piece < end ? piece : sample->pieces;
}

guess_t *guess_new(const guess_sample_t *sample, const guess_options_t *options, err_t *err) {
    const guess_piece_t *const first = guess_first_piece(sample);
    guess_t *guess = calloc(1, sizeof *guess);
    bool ok = (guess && (guess->schema = calloc(1, sizeof *guess->schema)) &&
               (guess->split = calloc(1, sizeof *guess->split))) ||
              err_memory(err, sizeof *guess);
    if (ok) {
        guess->name = guess->here = first->input;
        guess->options = *options;
        guess->once = first->once;
        guess->was_utf16 = first->utf16;
        guess->of_many = sample->several;
        guess->all = sample->every;
        ok = guess_read_types(guess, err) && begin(guess, first, err) &&
             take_inputs(guess, sample, false, err) && settle(guess, sample, err);
    }
    if (ok)
        return guess;
    guess_destroy(guess);
    return NULL;
}
