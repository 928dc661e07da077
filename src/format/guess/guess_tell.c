/* What is told to people of a guess. */
#include "base/chars.h"
#include "base/numbers.h"
#include "base/text.h"
#include "format/guess/guess_inner.h"
#include "format/schema/schema.h"

#include <stdlib.h>
#include <string.h>

enum { NAMED_COLUMNS = 40, NEARLY_NAMED = 3, RENAMED_NAMED = 8 };

/* Also of what was looked at later. */
static bool ends_empty(const guess_t *guess) {
    const structure_t *structure = &guess->structure;
    const column_t *last = &guess->columns[structure->columns - 1].column;
    return structure->ends_empty && guess->named_here && !last->values && !last->null_count;
}

/* 1,5 below 2,75 may be an edge of a graph, or one number. */
static bool may_be_numbers(const guess_t *guess) {
    const guess_column_t *columns = guess->columns;
    return guess->structure.columns == 2 && guess->structure.way.delimiter == ',' && !guess->header &&
           !guess->named_here && !guess->options.delimiter && !guess->torn.quotes &&
           columns[0].is.kind == KIND_INT && columns[1].is.kind == KIND_INT && !columns[1].told;
}

static void tell_structure(text_t *out, const guess_t *guess, uint64_t text_bytes) {
    const structure_t *structure = &guess->structure;
    const bool named = guess->header || guess->named_here;
    text_append(out, "no --format: read as ");
    if (structure->columns == 1)
        text_append(out, "one column");
    else if (structure->way.blanks)
        text_append(out, "a table, columns divided by blanks");
    else if (structure->way.wide[0])
        text_print(out, "CSV, delimiter '%s'", structure->way.wide);
    else if (structure->way.delimiter == '\t')
        text_append(out, "TSV, delimiter tab");
    else if (structure->way.delimiter == '\x01')
        text_append(out, "CSV, delimiter \\x01");
    else
        text_print(out, "CSV, delimiter '%c'", structure->way.delimiter);
    if (structure->way.quote != '"')
        text_append(out, structure->way.quote ? ", single quotes" : ", no quotes");
    if (structure->way.backslash)
        text_append(out, structure->way.backslashes ? ", escapes by backslash, also of backslashes"
                                                    : ", escapes by backslash");
    if (structure->skip)
        text_print(out, ", %zu line%s before the %s skipped", structure->skip,
                   structure->skip == 1 ? "" : "s", named ? "header" : "first record");
    if (structure->comment)
        text_print(out, ", comments in lines that begin with '%c'", structure->comment);
    if (guess->was_utf16)
        text_append(out, ", UTF-16 made UTF-8");
    if (guess->options.charset)
        text_print(out, ", %s made UTF-8", guess->options.charset);
    if (guess->encoding)
        text_print(out, ", encoding %s",
                   guess->encoding == ENCODING_WINDOWS_1252_NOT_UTF8 ? "windows-1252"
                                                                     : encoding_names[guess->encoding]);
    if (named)
        text_print(out, ", header in line %llu", (unsigned long long)guess->first_line);
    else
        text_append(out, !guess->of_many || guess->options.header || guess_is_told_by_types(guess)
                             ? ", no header"
                             : ", no header (in another file one would be loaded as a record)");
    if (structure->columns > 1)
        text_print(out, ", %zu columns", structure->columns);
    if (ends_empty(guess))
        text_append(out, ", the last of which the header does not name and is empty");
    text_append(out, " (");
    guess_put_share(out, guess, text_bytes);
    if (guess->misfits) {
        char count[UNITS_MAX];
        text_print(out, "; %s of them will be rejected, for another number of fields, or an odd quote or end",
                   units_count(count, guess->misfits));
    }
    if (guess->underlines) {
        char count[UNITS_MAX];
        text_print(out, "; %s of them will be rejected, made of - = _ + only, as lines below names are",
                   units_count(count, guess->underlines));
    }
    if (guess->torn.torn) {
        char count[UNITS_MAX];
        text_print(out,
                   "; %s of them will be rejected, for a text whose lines look like records: multiline: yes "
                   "in a format reads %s",
                   units_count(count, guess->torn.torn), guess->torn.torn == 1 ? "it" : "them");
    }
    const guess_nothing_t *nothing = &guess->nothing;
    if (nothing->told)
        text_print(out, "; %s nothing%s",
                   nothing->backslash && nothing->null ? "\\N and NULL are"
                   : nothing->null                     ? "NULL is"
                                                       : "\\N is",
                   structure->way.quote ? ", also in quotes" : "");
    if (guess->keeps_escapes)
        text_append(out, "; other escapes such as \\t and \\\\ stay as they are");
    if (may_be_numbers(guess))
        text_append(out, "; if each line is one number with a comma: --with delimiter=none");
    if (named && guess->repeated && structure->columns > 1)
        text_append(out, "; the header is there again, and is no row");
    text_append(out, ")");
    if (guess->options.bad_value)
        text_print(out, ", values that do not fit: %s", schema_bad_values[guess->options.bad_value]);
}

static void tell_column(text_t *out, const guess_column_t *column) {
    const style_t *style = &guess_styles[column->is.style];
    const uint8_t bit = (uint8_t)(1u << column->is.style);
    text_append(out, column->key);
    char key[4 * 128]; /* of a person, who may type anything */
    if (guess_key(column) != column->key)
        text_print(out, " as %s", escape_text(key, sizeof key, guess_key(column), strlen(guess_key(column))));
    text_print(out, " %s", guess_type_name(column));
    if (guess_pattern_of(column))
        text_print(out, " %s", guess_pattern_of(column));
    const bool number = guess_kind_is_number(column->is.kind);
    const bool comma = number && style->decimal == ',' &&
                       ((column->column.fraction & bit) || !(column->column.grouped & bit));
    if (comma)
        text_append(out, " with decimal comma");
    if (number && style->thousands && (column->column.grouped & bit))
        text_print(out, " %s '%c' for thousands", comma ? "and" : "with", style->thousands);
    if (column->is.rounded && !column->told)
        text_print(out, " (rounded to milliseconds; else: --type %s:text)", column->key);
    if (column->is.took_point)
        text_append(out, " with decimal dot (else: --with decimal=,)");
    if (column->is.kind == KIND_BOOLEAN && column->is.pair > 2)
        text_print(out, " %s/%s", guess_pairs[column->is.pair][0], guess_pairs[column->is.pair][1]);
    if (column->told)
        text_append(out, " (by --type)");
    if (column->optional)
        text_append(out, " (not in every file)");
}

static void tell_columns(text_t *out, const guess_t *guess) {
    text_append(out, "columns: ");
    for (size_t i = 0; i < guess->structure.columns && i < NAMED_COLUMNS; i++) {
        text_append(out, i ? ", " : "");
        tell_column(out, &guess->columns[i]);
    }
    if (guess->structure.columns > NAMED_COLUMNS)
        text_print(out, ", and %zu more", guess->structure.columns - NAMED_COLUMNS);
}

/* Names that are no good keys: they have other characters than letters, digits and _, are empty, or are there twice. */
static void tell_renamed(text_t *out, const guess_t *guess) {
    text_t list = {.length = 0};
    const size_t columns = guess->structure.columns - ends_empty(guess);
    size_t count = 0;
    for (size_t i = 0; (guess->header || guess->named_here) && i < columns; i++) {
        const guess_column_t *column = &guess->columns[i];
        char name[200];
        if (strcmp(column->name, column->key) == 0 || guess_key(column) != column->key ||
            ++count > RENAMED_NAMED)
            continue;
        guess_shown(name, sizeof name, column->name, strlen(column->name));
        text_print(&list, "%s'%s' -> %s", list.length ? ", " : "", name, column->key);
    }
    if (count) {
        text_print(out, "renamed %zu column%s: %s", count, units_s(count), list.bytes ? list.bytes : "");
        if (count > RENAMED_NAMED)
            text_print(out, ", and %zu more", count - RENAMED_NAMED);
    }
    text_free(&list);
}

static void tell_nearly_column(text_t *out, const guess_column_t *column, const guess_column_t *as,
                               const fit_t *fit) {
    char misfits[UNITS_MAX], values[UNITS_MAX], first[2 * GUESS_SHOWN];
    text_t spec = {.length = 0};
    const char *pattern = guess_pattern_of(as);
    text_print(&spec, pattern ? "%s:%s(%s)" : "%s:%s", column->key, guess_type_name(as), pattern);
    text_print(out, "%s%s is %s because of %s of %s values, %s'%s':", out->length ? "; " : "", column->key,
               guess_type_name(column), units_count(misfits, fit->misfits),
               units_count(values, column->column.values), fit->misfits > 1 ? "the first of them " : "",
               guess_shown(first, sizeof first, (const char *)fit->first->first, fit->first->length));
    shell_quote_option(out, "--type", spec.bytes);
    text_append(out, " reads the others");
    text_free(&spec);
}

static void tell_nearly(text_t *out, const guess_t *guess) {
    size_t told = 0;
    for (size_t i = 0; i < guess->structure.columns && told < NEARLY_NAMED; i++) {
        const guess_column_t *column = &guess->columns[i];
        guess_column_t as = {.key = column->key};
        fit_t fit;
        if (column->told || (column->is.kind != KIND_TEXT && column->is.kind != KIND_TRIMMED) ||
            !guess_column_nearly(&column->column, &fit, &as.is))
            continue;
        tell_nearly_column(out, column, &as, &fit);
        told++;
    }
}

static void tell_change(text_t *out, const guess_t *guess, err_t *err) {
    char *name = shell_quoted(guess->once ? "sample" : guess->name, err);
    text_append(out, "to change that: ");
    if (guess->once)
        text_append(out, "save the beginning (... | head -n 10000 > sample), then ");
    text_append(out, "tipple formats --guess");
    guess_options_quote(out, &guess->options);
    text_print(out, "%s > my.yaml, edit my.yaml, and give --format ./my.yaml", name ? name : " FILE");
    free(name);
}

bool guess_tell(const guess_t *guess, uint64_t text_bytes, char *lines[GUESS_LINES], err_t *err) {
    text_t out[GUESS_LINES] = {{.length = 0}};
    bool ok = true;
    if (guess->json || guess->bson) {
        if (guess->bson)
            guess_bson_tell(out, guess);
        else
            guess_json_tell(out, guess);
        if (guess->was_utf16)
            text_append(&out[0], ", UTF-16 made UTF-8");
        if (guess->options.type_count)
            tell_change(&out[4], guess, err);
        text_append(&out[0], " (");
        guess_put_share(&out[0], guess, text_bytes);
        text_append(&out[0], ")");
    } else {
        tell_structure(&out[0], guess, text_bytes);
        tell_columns(&out[1], guess);
        tell_renamed(&out[2], guess);
        tell_nearly(&out[3], guess);
        tell_change(&out[4], guess, err);
    }
    for (size_t i = 0; i < GUESS_LINES; i++) {
        lines[i] = text_take(&out[i], err);
        ok = ok && lines[i];
    }
    for (size_t i = 0; !ok && i < GUESS_LINES; i++) {
        free(lines[i]);
        lines[i] = NULL;
    }
    return ok;
}
