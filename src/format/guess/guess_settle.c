/* Decides between the readings of a column that its own values leave open: by the other columns, or by the options. */
#include "format/guess/guess_inner.h"
#include "format/values/hex.h"

#include <stdio.h>
#include <string.h>

static bool is_one(unsigned bits) {
    return bits && !(bits & (bits - 1));
}

static bool refuse_days(const guess_t *guess, const guess_column_t *column, err_t *err) {
    static const char *const words[ORDERS] = {[ORDER_DMY] = "dmy", [ORDER_MDY] = "mdy", [ORDER_YMD] = "ymd"};
    char name[200], patterns[200] = "", options[60] = "";
    size_t at = 0, used = 0;
    for (unsigned i = ORDER_DMY, left = column->is.orders; i < ORDERS; i++) {
        if (!(left >> i & 1))
            continue;
        left &= ~(1u << i);
        decision_t is = column->is;
        guess_take_order(&is, i);
        const char *between = !at ? "" : left ? ", " : " or ";
        at += (size_t)snprintf(patterns + at, sizeof patterns - at, "%s%s", between, is.pattern);
        used +=
            (size_t)snprintf(options + used, sizeof options - used, "%s--with dates=%s", between, words[i]);
    }
    guess_shown(name, sizeof name, column->key, strlen(column->key));
    err_set(err, STATUS_INPUT,
            "%.1000s: the dates of column '%s' are %s: all that were looked at are days %s way; say which "
            "by %s",
            guess->name, name, patterns, __builtin_popcount(column->is.orders) > 2 ? "any" : "either",
            options);
    if (column->is.separator == '.')
        err_add(err, "; or, if they are times as DB2 writes them, or versions, give --type '%s:text'", name);
    return false;
}

/* The orders of day and month of columns with this separator that leave no doubt; or the one of --with dates. */
static unsigned told_orders(const guess_t *guess, char separator) {
    static const unsigned said[] = {
        [GUESS_DMY] = 1u << ORDER_DMY, [GUESS_MDY] = 1u << ORDER_MDY, [GUESS_YMD] = 1u << ORDER_YMD};
    unsigned told = said[guess->options.dates];
    for (size_t i = 0; !guess->options.dates && i < guess->structure.columns; i++) {
        const decision_t *is = &guess->columns[i].is;
        told |= is->kind == KIND_DATE && is_one(is->orders) && is->separator == separator ? is->orders : 0;
    }
    return told;
}

bool guess_settle_days(guess_t *guess, err_t *err) {
    for (size_t i = 0; i < guess->structure.columns; i++) {
        guess_column_t *column = &guess->columns[i];
        if (column->is.kind != KIND_DATE || !column->is.orders || is_one(column->is.orders))
            continue;
        const unsigned told = column->is.orders & told_orders(guess, column->is.separator);
        if (!is_one(told))
            return refuse_days(guess, column, err);
        guess_take_order(&column->is, (date_order_t)__builtin_ctz(told));
    }
    return true;
}

/* True if --type makes numbers of a column in which no value has a mark: a later value may have one. */
static bool lacks_mark(const guess_column_t *column) {
    const column_t *values = &column->column;
    const kind_t kind = column->is.kind;
    return column->told && column->told->type && (kind == KIND_NUMBER || kind == KIND_DECIMAL) &&
           !((values->fraction | values->grouped) >> column->is.style & 1);
}

/* True if the column shows that this is the decimal mark: by a fraction, or by the other mark between thousands. */
static bool has_mark(const column_t *column, const decision_t *is, char mark) {
    const char thousands = guess_styles[is->style].thousands;
    const bool tells = (column->fraction >> is->style & 1) ||
                       ((thousands == '.' || thousands == ',') && column->grouped >> is->style & 1);
    return guess_kind_is_number(is->kind) && !is->unsure_decimal && tells &&
           guess_styles[is->style].decimal == mark;
}

/* Reads the column's numbers in the first style with this decimal mark. */
static void take_mark(guess_column_t *column, char mark) {
    const kind_t kind = column->is.kind;
    size_t style = 0;
    while (style < STYLES && (guess_styles[style].decimal != mark || !(column->is.reads.styles >> style & 1)))
        style++;
    if (style == STYLES)
        column->is.style = mark == ','; /* no value is a number */
    guess_take_style(&column->column, style, &column->is);
    column->is.kind = column->told && column->told->type ? kind : column->is.kind;
}

/* True if the comma in a column's numbers may stand between two numbers: "1,5" in quotes, where commas divide and other columns
 * have 1.5; where --with says that blanks divide; below a name that has a comma, too. */
static bool may_be_pairs(const guess_t *guess, const guess_column_t *column, bool point) {
    const structure_t *structure = &guess->structure;
    return !column->told && has_mark(&column->column, &column->is, ',') &&
           ((point && way_delimiter(&structure->way).text[0] == ',') ||
            (structure->way.blanks && guess->options.delimiter) ||
            ((guess->header || guess->named_here) && strchr(column->name, ',')));
}

static bool settle_pairs(guess_t *guess, bool point, bool said, err_t *err) {
    for (size_t i = 0; i < guess->structure.columns; i++) {
        guess_column_t *column = &guess->columns[i];
        char name[200];
        if (!may_be_pairs(guess, column, point) || (said && !point))
            continue;
        guess_shown(name, sizeof name, column->key, strlen(column->key));
        if (!said)
            return err_set(
                err, STATUS_INPUT,
                "%.1000s: the values of column '%s' are numbers with a decimal comma, or two "
                "numbers each%s; give --type '%s:number' if they are numbers, else --with decimal=. or "
                "--type '%s:text'",
                guess->name, name, point ? ": other columns have a decimal dot" : "", name, name);
        column->is = guess_column_as(&column->column, KIND_TEXT, 0);
    }
    return true;
}

/* True if a date such as 31.12.2021 shows a country with a decimal comma. */
static bool has_dotted_days(const guess_t *guess) {
    bool dotted = false;
    for (size_t i = 0; i < guess->structure.columns; i++)
        dotted |= guess->columns[i].is.kind == KIND_DATE && guess->columns[i].is.separator == '.';
    return dotted;
}

/* Makes booleans of ja and nein, in a file with decimal commas or the day first. */
static void settle_words(guess_t *guess, bool comma) {
    for (size_t i = 0; i < guess->structure.columns; i++)
        comma |= guess->columns[i].is.kind == KIND_DATE && guess->columns[i].is.orders == 1u << ORDER_DMY;
    for (size_t i = 0; comma && i < guess->structure.columns; i++) {
        guess_column_t *column = &guess->columns[i];
        const column_t *values = &column->column;
        const uint32_t pairs = values->all.pairs & values->yes & values->no;
        if (column->is.kind != KIND_TEXT || (column->told && column->told->type) || !values->values ||
            values->many_nulls || !pairs)
            continue;
        column->is = guess_column_as(values, KIND_BOOLEAN, 0);
        column->is.pair = (size_t)__builtin_ctz(pairs);
    }
}

bool guess_settle_marks(guess_t *guess, err_t *err) {
    bool point = guess->options.decimal == '.', comma = guess->options.decimal == ',';
    const bool said = point || comma;
    for (size_t i = 0; !said && i < guess->structure.columns; i++) {
        point |= has_mark(&guess->columns[i].column, &guess->columns[i].is, '.');
        comma |= has_mark(&guess->columns[i].column, &guess->columns[i].is, ',');
    }
    if (!settle_pairs(guess, point, said, err))
        return false;
    const bool dotted = has_dotted_days(guess);
    for (size_t i = 0; i < guess->structure.columns; i++) {
        guess_column_t *column = &guess->columns[i];
        const char mark = guess_styles[column->is.style].decimal;
        if (lacks_mark(column) && comma && !point)
            take_mark(column, ','); /* as in the other columns */
        if (!guess_kind_is_number(column->is.kind) || !column->is.unsure_decimal)
            continue;
        if (dotted && guess_styles[column->is.style].thousands == '.') { /* 1.500 next to 19,99 */
            column->is.unsure_decimal = false;
            continue;
        }
        if (point == comma && (mark == ',' || point || column->is.either_way || dotted ||
                               guess->structure.way.delimiter == ';')) {
            char name[200];
            guess_shown(name, sizeof name, column->key, strlen(column->key));
            return err_set(
                err, STATUS_INPUT,
                "%.1000s: the %s in the numbers of column '%s' may be the decimal mark, or the one of "
                "thousands%s; say what the decimal mark is by --with decimal=, or --with decimal=.",
                guess->name, mark == ',' ? "comma" : "dot", name, point ? ": other columns have either" : "");
        }
        column->is.took_point = !point && !comma;
        if (point != comma)
            take_mark(column, point ? '.' : ',');
        column->is.unsure_decimal = false;
    }
    settle_words(guess, comma);
    return true;
}

/* Adds the null words that are also base64: a later one would become binary data. */
static void take_words_of_base64(guess_column_t *column) {
    uint8_t bytes[GUESS_NULL_ROOM];
    for (const char *const *word = guess_null_words; *word && column->column.null_count < GUESS_MOST_NULLS;
         word++)
        if (base64_read((const uint8_t *)*word, strlen(*word), bytes))
            column->is.nulls |= guess_column_take_null(&column->column, *word);
}

void guess_settle_nulls(guess_t *guess) {
    guess_nothing_t *nothing = &guess->nothing;
    for (size_t i = 0; i < guess->structure.columns; i++) {
        const guess_column_t *column = &guess->columns[i];
        const uint32_t null = guess_column_find_null(&column->column, "NULL");
        nothing->backslash |= guess_column_find_null(&column->column, "\\N") != 0;
        nothing->null |= null && (guess_kind_is_text(column->is.kind) ? !column->column.values
                                                                      : (column->is.nulls & null) != 0);
    }
    for (size_t i = 0; i < guess->structure.columns; i++) {
        guess_column_t *column = &guess->columns[i];
        if (nothing->backslash)
            column->is.nulls |= guess_column_take_null(&column->column, "\\N");
        if (nothing->null)
            column->is.nulls |= guess_column_take_null(&column->column, "NULL");
        if (column->is.kind == KIND_BINARY)
            take_words_of_base64(column);
    }
    guess->keeps_escapes = guess->has_escapes && (nothing->backslash || guess->structure.way.backslash);
    guess->misfits += nothing->backslash ? guess->escaped_ends : 0;
}
