/* Writes the result of a guess twice in one walk: each fact goes into the format file, and in words into the lines that a first
 * command prints. All is decided before (guess_new in guess.c). */
#include "base/chars.h"
#include "base/document.h"
#include "base/numbers.h"
#include "format/guess/guess_inner.h"
#include "format/json/json.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The lists over all columns, a line for the user each: their types; names that are no good keys; values that are left out;
 * null words that stay text, and columns that are text because of a few values. */
enum { COLUMNS, RENAMED, LEFT_OUT, WORDS, KEPT, LISTS };
static const char *const list_words[LISTS] = {"columns", "renamed", "left out", "null words that are text",
                                              GUESS_KEPT};
#define KEPT_COMMENT "# " GUESS_KEPT ": "
enum { MOST_SHOWN = 1000 }; /* bytes of a list, and the rest of an item */

typedef struct {
    const guess_t *guess;
    bool exact; /* numbers keep all that their texts say */
    text_t yaml, people;
    text_t lists[LISTS];
    size_t shown[LISTS]; /* bytes of its items that are shown; 0: all */
} writer_t;

/* ---- words ---- */

/* Begins an item, which the caller appends to the text that is returned. */
static text_t *list_next(writer_t *to, unsigned which) {
    text_t *list = &to->lists[which];
    if (!to->shown[which] && list->length > MOST_SHOWN)
        to->shown[which] = list->length;
    text_append(list, list->length ? ", " : "");
    return list;
}

/* Appends a line, if the list has an item, and frees it. */
static void list_end(writer_t *to, unsigned which) {
    text_t *list = &to->lists[which];
    const size_t shown = to->shown[which];
    if (list->length)
        text_print(&to->people, "\n%s: %.*s%s", list_words[which], (int)(shown ? shown : list->length),
                   list->bytes, shown ? ", and more" : "");
    text_miss(&to->people, list);
    text_free(list);
}

/* True if YAML takes the text without quotes for a text: letters, digits, _ and dots, and no word or number of YAML. */
static bool is_plain(const char *text) {
    static const char *const meant[] = {"yes", "no", "true", "false", "null", "on", "off", "y", "n", "none"};
    for (size_t i = 0; i < COUNT(meant); i++)
        if (strcasecmp(meant[i], text) == 0)
            return false;
    return *text && !strchr("0123456789.", *text) &&
           !text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789.")];
}

/* Appends `before` and the text as a scalar of YAML, in quotes where it needs them. */
static void put_scalar(text_t *out, const char *before, const char *text) {
    text_append(out, before);
    if (is_plain(text))
        text_append(out, text);
    else
        ejson_append_text(out, text);
}

/* ---- the record ---- */

/* Appends "all 4 rows looked at". */
static void put_share(text_t *out, const guess_t *guess) {
    static const char *const words[] = {
        [RECORDS_DELIMITED] = "row", [RECORDS_JSON] = "object", [RECORDS_BSON] = "document"};
    char count[UNITS_MAX] = "no";
    if (guess->counts.records)
        units_count(count, guess->counts.records);
    text_print(out, "%s%s %s%s looked at", guess->all && guess->counts.records > 1 ? "all " : "", count,
               words[guess->kind], units_s(guess->counts.records));
}

/* True if a column has a type, or numbers, that the user has not given it. */
static bool has_type(const guess_t *guess, bool number) {
    for (size_t i = 0; i < guess->structure.columns; i++) {
        const field_type_t kind = guess->columns[i].is.kind;
        if ((number ? guess_kind_is_number(kind) : !guess_kind_is_text(kind)) &&
            !guess_is_typed_by_user(&guess->columns[i]))
            return true;
    }
    return false;
}

/* Appends the line that names the columns, in UTF-8. */
static void put_header_line(text_t *out, const guess_t *guess) {
    text_t line = {.length = 0};
    encoding_append(&line, guess->encoding, guess->first.text, guess->first.length);
    text_append(&line, "");
    put_scalar(out, ", header_line: ", line.bytes ? line.bytes : "");
    text_miss(out, &line);
    text_free(&line);
}

static void write_header(writer_t *to) {
    const guess_t *guess = to->guess;
    /* a later header would be refused: it would have no value of that type */
    const bool sure = has_type(guess, false) && !guess->first_misfits && !guess->options.header;
    if (guess->names == NAMES_LINE)
        put_header_line(&to->yaml, guess);
    else
        text_print(&to->yaml, ", header: %s", guess->names == NAMES_HEADER ? "yes" : sure ? "refuse" : "no");
    if (guess->names > NAMES_NONE)
        text_print(&to->people, ", header in line %llu", (unsigned long long)guess->first_line);
    else
        text_append(&to->people, ", no header");
}

static void write_delimiter(writer_t *to) {
    const way_t *way = &to->guess->structure.way;
    const char one[] = {way->delimiter, '\0'}, *sign = way->wide[0] ? way->wide : one,
               *word = guess_delimiter_word(way->blanks ? ' ' : *one);
    text_append(&to->yaml, "record: {delimiter: ");
    if (!way->blanks)
        put_scalar(&to->yaml, "[", sign);
    text_append(&to->yaml, way->blanks ? "blanks" : "]");
    if (to->guess->structure.columns == 1)
        text_append(&to->people, "no --format: read as one column");
    else
        text_print(&to->people, "no --format: read as CSV, delimiter '%s'", way->wide[0] ? sign : word);
}

/* Appends keys that the user sees as they are; `quoted` only to the file. */
static void put_way(text_t *out, const guess_t *guess, bool file) {
    const structure_t *structure = &guess->structure;
    if (structure->way.quote != '"')
        text_print(out, ", quote: %s", structure->way.quote ? "\"'\"" : "none");
    text_append(out, file && guess->unquoted ? ", quoted: needed" : "");
    if (structure->way.backslash)
        text_print(out, ", escape: [double, backslash%s]", structure->way.backslashes ? "es" : "");
    if (structure->skip)
        text_print(out, ", skip: %zu", structure->skip);
    if (structure->comment)
        text_print(out, ", comment: \"%c\"", structure->comment);
}

/* Appends the size of the sample, and which of its lines will not be read as they may seem to be. */
static void show_sample(writer_t *to) {
    const guess_t *guess = to->guess;
    const uint64_t rejects = guess->counts.rejects;
    char count[UNITS_MAX];
    text_append(&to->people, " (");
    put_share(&to->people, guess);
    if (rejects)
        text_print(&to->people, "; at least %s of them will be rejected", units_count(count, rejects));
    if (guess->nothing.backslash || guess->structure.way.backslash) /* as databases write */
        text_append(&to->people, "; other escapes such as \\t and \\\\ stay as they are");
    if (guess->names > NAMES_NONE && guess->counts.repeated && guess->structure.columns > 1)
        text_append(&to->people, "; the header is there again, and is no row");
    text_append(&to->people, ")");
}

static void write_kind(writer_t *to) {
    const bool bson = to->guess->kind == RECORDS_BSON;
    text_print(&to->yaml, "record: {%s: yes%s}\n", bson ? "bson" : "json",
               to->guess->options.validate == GUESS_YES ? ", validate: yes" : "");
    text_print(&to->people, "no --format: read as %s", bson ? "BSON" : "JSON");
}

static void write_record(writer_t *to) {
    const guess_t *guess = to->guess;
    write_delimiter(to);
    put_way(&to->yaml, guess, true);
    put_way(&to->people, guess, false);
    write_header(to);
    text_append(&to->yaml, to->exact ? ", exact: yes" : "");
    const char *encoding = guess->encoding ? encoding_names[guess->encoding] : guess->options.charset;
    text_print(&to->yaml, encoding ? ", encoding: %s}\n" : "}\n%s", encoding ? encoding : "");
    text_print(&to->people, encoding ? ", encoding %s" : "%s", encoding ? encoding : "");
    if (guess->structure.columns > 1)
        text_print(&to->people, ", %zu columns", guess->structure.columns);
}

/* ---- the fields ---- */

static const char *type_of(const decision_t *is) {
    return is->kind == TYPE_DATE && is->timed ? "datetime" : schema_type_name(is->kind);
}

/* Appends the keys that say how the values are written. */
static void put_writing(text_t *out, const guess_column_t *column) {
    const decision_t *is = &column->is;
    const bool number = guess_kind_is_number(is->kind);
    const uint32_t mark = 1u << (is->comma ? MARK_COMMA : MARK_POINT);
    if (column->spec && column->spec->pattern)
        put_scalar(out, ", pattern: ", column->spec->pattern);
    else if (*is->pattern)
        text_print(out, strchr(is->pattern, ',') ? ", pattern: \"%s\"" : ", pattern: %s", is->pattern);
    if (number && is->comma)
        text_append(out, ", decimal: \",\"");
    if (number && column->column.any[ANY_GROUPED] & mark)
        text_print(out, ", thousands: \"%c\"", is->comma ? '.' : ',');
    if (is->kind == TYPE_BOOLEAN && is->pair > 2)
        text_print(out, ", true: [\"%s\"], false: [\"%s\"]", guess_pairs[is->pair][0],
                   guess_pairs[is->pair][1]);
}

static void write_type(writer_t *to, text_t *people, const guess_column_t *column) {
    const decision_t *is = &column->is;
    const bool number = guess_kind_is_number(is->kind);
    text_t more = {.length = 0};
    put_writing(&more, column);
    text_print(&to->yaml, " type: %s%s", type_of(is), more.bytes ? more.bytes : "");
    /* otherwise blanks in quotes and capitals of later values would be lost */
    if (guess_is_typed_by_user(column) ? number && to->exact
                                       : is->kind == TYPE_TRIMMED || is->kind == TYPE_OBJECTID ||
                                             (to->guess->kept && number && !to->exact))
        text_print(&to->yaml, ", exact: %s", guess_is_typed_by_user(column) ? "no" : "yes");
    if (is->took_point)
        text_append(&more, ", decimal dot; else --with decimal=,");
    if (strchr(is->pattern, 'u') && !column->spec)
        text_print(&more, ", rounded to milliseconds; else --type %s:text", column->key);
    text_append(&more, column->spec ? ", by --type" : "");
    if (to->guess->seen < GUESS_MOST_PATHS && column >= to->guess->columns + to->guess->seen &&
        strcmp(column->text, "_id") != 0)
        text_append(&more, ", which the first objects lack");
    text_append(&more, column->optional ? ", not in every file" : "");
    text_print(people, " %s", type_of(is));
    if (more.length)
        text_print(people, " (%s)", more.bytes + 2);
    text_miss(&to->yaml, &more);
    text_free(&more);
}

static void write_nulls(writer_t *to, const guess_column_t *column) {
    const text_t *left_out = &to->lists[LEFT_OUT];
    if (column->column.blank)
        text_print(list_next(to, LEFT_OUT), "'' of %s", column->key);
    text_append(&to->yaml, column->is.nulls ? ", nulls: [\"\"" : "");
    for (size_t i = 0; i < column->column.null_count; i++) {
        char shown[4 * GUESS_NULL_ROOM + 3];
        const char *word = column->column.nulls[i];
        const bool is = column->is.nulls >> i & 1;
        snprintf(shown, sizeof shown, "'%s'", word);
        if (is)
            put_scalar(&to->yaml, ", ", word);
        if (is && !(left_out->bytes && strstr(left_out->bytes, shown)))
            text_append(list_next(to, LEFT_OUT), shown);
        if (!is && guess_kind_is_text(column->is.kind))
            text_print(list_next(to, WORDS), "%s of %s", shown, column->key);
    }
    text_append(&to->yaml, column->is.nulls ? "]" : "");
}

/* Appends the option (--type or -t) that gives a column this type, as a shell takes it. */
static void put_spec(text_t *out, const char *option, const char *name, const decision_t *is) {
    text_t spec = {.length = 0};
    for (; *name; name++)
        text_print(&spec, *name == ':' ? "::" : "%c", *name);
    text_print(&spec, *is->pattern ? ":%s(%s)" : ":%s", type_of(is), is->pattern);
    shell_quote_option(out, option, spec.bytes);
    text_free(&spec);
}

/* The line of a record in its input; 0: it is not known. */
static uint64_t find_line(const guess_sample_t *sample, const uint8_t *record) {
    const guess_piece_t *piece = sample->pieces;
    uint64_t before = 0;
    while (record < piece->text || record >= piece->text + piece->length)
        piece++;
    const bool known = piece->begins || (sample->lines && sample->lines(piece->file, piece->offset, &before));
    return known ? before + lines_count(piece->text, (size_t)(record - piece->text)) + 1 : 0;
}

/* Names a column that is text because of a few of its values, in a line and in a comment. Texts of documents stay texts. */
static void write_kept_column(writer_t *to, const guess_column_t *column) {
    char misfits[UNITS_MAX], values[UNITS_MAX], first[2 * GUESS_SHOWN], line[24] = "null";
    fit_t fit;
    decision_t is;
    if (to->guess->kind != RECORDS_DELIMITED || column->spec || !guess_kind_is_text(column->is.kind) ||
        !guess_column_nearly(&column->column, &fit, &is))
        return;
    const row_t *row = &to->guess->sheet.rows[fit.first->row];
    const uint64_t number = find_line(to->guess->sample, row->text);
    if (number)
        snprintf(line, sizeof line, "%llu", (unsigned long long)number);
    guess_shown(first, sizeof first, (const char *)fit.first->first, fit.first->length);
    text_t *list = list_next(to, KEPT);
    text_print(list, "%s because of %s of %s values, such as '%s' (%s%s%s):", column->key,
               units_count(misfits, fit.misfits), units_count(values, column->column.values), first,
               row->input, number ? ":" : "", number ? line : "");
    put_spec(list, "--type", column->key, &is);
    text_append(list, " reads the others");
    text_append(&to->yaml, KEPT_COMMENT "{\"column\": ");
    ejson_append_text(&to->yaml, column->key);
    text_print(&to->yaml,
               ", \"type\": \"%s\", \"values\": %llu, \"of\": %llu, \"first\": {\"file\": ", type_of(&is),
               (unsigned long long)fit.misfits, (unsigned long long)column->column.values);
    ejson_append_text(&to->yaml, row->input);
    text_print(&to->yaml, ", \"line\": %s}, \"value\": ", line);
    ejson_append_text(&to->yaml, first);
    text_append(&to->yaml, "}\n");
}

static void write_field(writer_t *to, const guess_column_t *column) {
    const bool renamed = to->guess->names > NAMES_NONE && strcmp(column->name, column->key) != 0;
    const char *const name = column->key ? column->key : column->text;
    const char *const key = column->spec && column->spec->key ? column->spec->key : name;
    text_t *people = list_next(to, COLUMNS);
    char shown[4 * 128]; /* keys may hold any character */
    put_scalar(&to->yaml, "  - {name: ", name);
    text_append(&to->yaml, ",");
    text_append(people, guess_shown(shown, sizeof shown, name, strlen(name)));
    if (key != name) {
        put_scalar(&to->yaml, " key: ", key);
        text_append(&to->yaml, ",");
        text_print(people, " as %s", escape_text(shown, sizeof shown, key, strlen(key)));
    }
    write_type(to, people, column);
    if (to->guess->kind == RECORDS_DELIMITED)
        write_nulls(to, column);
    if (renamed && to->guess->names == NAMES_HEADER)
        put_scalar(&to->yaml, ", column: ", column->name);
    text_append(&to->yaml, column->optional ? ", optional: yes" : "");
    if (to->guess->kept)
        put_scalar(&to->yaml, ", added: ", column->in);
    text_append(&to->yaml, "}\n");
    if (renamed && key == name)
        text_print(list_next(to, RENAMED), "'%s' -> %s",
                   guess_shown(shown, sizeof shown, column->name, strlen(column->name)), column->key);
}

static void write_columns(writer_t *to) {
    const guess_t *guess = to->guess;
    const bool all = guess->kind == RECORDS_DELIMITED; /* of documents those with --type */
    text_append(&to->yaml, all || guess->options.type_count ? "fields:\n" : "");
    for (size_t i = 0; i < guess->structure.columns; i++)
        if (all || guess->columns[i].spec)
            write_field(to, &guess->columns[i]);
    if (guess->counts.hollow)
        text_print(list_next(to, LEFT_OUT), "all of %llu row%s (an empty document each)",
                   (unsigned long long)guess->counts.hollow, units_s(guess->counts.hollow));
    for (unsigned i = 0; i < LISTS; i++)
        list_end(to, i);
}

/* ---- dates in the texts of JSON ---- */

static void list_dates(text_t *lines, const guess_t *guess) {
    bool any = false;
    for (size_t i = 0; i < guess->structure.columns; i++) {
        guess_column_t *column = &guess->columns[i];
        column->is = guess_column_decide(&column->column);
        if (column->is.kind != TYPE_DATE || __builtin_popcount(column->is.orders) > 1 || column->spec)
            continue;
        text_append(lines, any ? "" : "\ntexts stay texts; these options make dates of those that are:");
        put_spec(lines, "-t", column->text, &column->is);
        any = true;
    }
}

/* ---- more columns ---- */

bool guess_write_added(const guess_t *guess, const char *yaml, char **wider, err_t *err) {
    writer_t to = {.guess = guess, .exact = guess->kept->exact};
    text_t out = {.length = 0}, types = out;
    for (size_t i = guess->decided; i < guess->structure.columns; i++) {
        if (guess_leaves_out(guess, &guess->columns[i]))
            continue;
        write_field(&to, &guess->columns[i]);
        write_kept_column(&to, &guess->columns[i]);
    }
    type_spec_name(&types, guess->types, guess->options.type_count);
    const char *named = strstr(yaml, "\n# with "), *after = strchr(named ? named + 1 : yaml, '\n') + !named;
    text_append_bytes(&out, yaml, (size_t)(after - yaml));
    if (types.length)
        text_print(&out, named ? "%s" : "# with%s\n", types.bytes);
    text_print(&out, "%s%s", after, to.yaml.length ? to.yaml.bytes : "");
    for (unsigned i = 0; i < LISTS; i++)
        list_end(&to, i);
    text_miss(&out, &types);
    text_miss(&out, &to.yaml);
    text_free(&types);
    text_free(&to.yaml);
    text_free(&to.people);
    return (*wider = text_take(&out, err)) != NULL;
}

/* ---- all of it ---- */

bool guess_write(const guess_t *guess, char **yaml, char **lines, err_t *err) {
    const bool documents = guess->kind != RECORDS_DELIMITED;
    const char *bad = guess->options.bad_value ? schema_bad_values[guess->options.bad_value] : NULL;
    writer_t to = {.guess = guess, .exact = has_type(guess, true)};
    text_t about = {.length = 0};
    text_print(&about, "guessed from %s", guess->name);
    text_append(&to.yaml, "# Guessed by tipple, ");
    put_share(&to.yaml, guess);
    text_append(&to.yaml, ".\n");
    guess_options_name(&to.yaml, &guess->options);
    for (size_t i = 0; i < guess->structure.columns; i++)
        write_kept_column(&to, &guess->columns[i]);
    put_scalar(&to.yaml, "format: " GUESS_FORMAT "\nabout: ", about.bytes ? about.bytes : "");
    text_append(&to.yaml, "\n");
    to.yaml.lacking += about.lacking;
    text_free(&about);
    if (documents)
        write_kind(&to);
    else
        write_record(&to);
    show_sample(&to);
    if (guess->options.timezone) {
        put_scalar(&to.yaml, "timezone: ", guess->options.timezone);
        text_append(&to.yaml, "\n");
        text_print(&to.people, ", local time of %s", guess->options.timezone);
    }
    text_print(&to.yaml, bad ? "on_bad_value: %s\n" : "%s", bad ? bad : "");
    text_print(&to.people, bad ? ", values that do not fit: %s" : "%s", bad ? bad : "");
    write_columns(&to);
    if (documents)
        list_dates(&to.people, guess);
    if (!documents || guess->options.type_count) {
        text_append(&to.people, "\nto change that: tipple formats --guess");
        guess_options_quote(&to.people, &guess->options);
        shell_quote_word(&to.people, guess->name);
        text_append(&to.people, " > my.yaml, edit my.yaml, and give --format ./my.yaml");
    }
    text_append(&to.people, "\n");
    *yaml = text_take(&to.yaml, err);
    *lines = text_take(&to.people, err);
    return *yaml && *lines;
}

size_t guess_kept(const char *yaml, size_t wanted, bson_t *to) {
    size_t count = 0;
    for (err_t ignored; (yaml = strstr(yaml, "\n" KEPT_COMMENT)); count++) {
        yaml += strlen("\n" KEPT_COMMENT);
        char *line = to && count == wanted ? strndup(yaml, strcspn(yaml, "\n")) : NULL;
        bson_t *kept = line ? json_document(line, false, &ignored) : NULL;
        if (kept) {
            bson_concat(to, kept);
            bson_destroy(kept);
        }
        free(line);
    }
    return count;
}
