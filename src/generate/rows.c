#include "generate/rows.h"
#include "base/numbers.h"
#include "format/values/calendar.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a step does: its mark, or + for a step without a mark; the first letter after a dot; or one of these. */
enum { RANGE = 'r', CELL = '[', ROW = '{', CHOICE = '|', QUALITY = 'q' };

static const double one = 1;

/* ---- running ---- */

static inline double whole(double number) {
    double near = (double)(int64_t)number;
    return near - (near > number);
}

static inline double part(rows_t *rows) {
    return (double)(chance_next(&rows->random) >> 11) * (1.0 / (double)(UINT64_C(1) << 53));
}

/* Bhaskara's approximation of a sine, right to 0.17%. */
static double sine(double degrees) {
    double turn = degrees - 360 * whole(degrees / 360), half = turn < 180 ? turn : turn - 180;
    double x = half * (180 - half), sine = 4 * x / (40500 - x);
    return turn < 180 ? sine : -sine;
}

static inline double noise(rows_t *rows) {
    uint64_t bits = chance_next(&rows->random);
    return (double)((int64_t)(bits & 0xffff) + (int64_t)(bits >> 16 & 0xffff) - 0xffff) * (1.0 / 0xffff);
}

static double date_of(double days) {
    date_t date;
    calendar_date((int64_t)days, &date);
    return date.year * 10000 + date.month * 100 + date.day;
}

/* The first row at which the column's shares reach that part of their sum. */
static double row_at(const name_t *column, double part) {
    double sum = 0;
    size_t row = 0;
    for (size_t i = 0; i < column->height; i++)
        sum += column->first[i * column->columns];
    for (part *= sum; row + 1 < column->height && part >= column->first[row * column->columns]; row++)
        part -= column->first[row * column->columns];
    return (double)row;
}

static double mark(rows_t *rows, const step_t *step, double sum, double operand) {
    switch (step->code) {
    case RANGE:
        return sum + operand + whole(part(rows) * (*step->high - operand + 1));
    case CELL:
        return sum + rows->name[step->at].first[(size_t)operand * rows->name[step->at].columns];
    case ROW:
        return row_at(&rows->name[step->at], sum);
    case '~':
        return sum + operand * noise(rows);
    case '?':
        return sum + operand * part(rows);
    case '*':
        return sum * operand;
    case '/':
        return sum / operand;
    case '%':
        return sum - operand * whole(sum / operand);
    case '>':
        return sum > operand ? sum : operand;
    case '<':
        return sum < operand ? sum : operand;
    case 'f':
        return whole(sum);
    case 's':
        return sine(sum);
    default:
        return date_of(sum);
    }
}

static inline double step(rows_t *rows, const step_t *step, double sum) {
    const double operand = step->times * *step->a * *step->b;
    return step->code == '+' ? sum + operand : mark(rows, step, sum, operand);
}

static inline bool holds(rows_t *rows, const row_t *row) {
    for (const condition_t *condition = row->condition; condition < row->condition_end; condition++) {
        double value = condition->value ? *condition->value : 100 * part(rows);
        if (!(value >= condition->low && value < condition->high))
            return false;
    }
    return true;
}

static inline char *put_choice(rows_t *rows, size_t first, char *to) {
    uint32_t bits = rows->choice[first].below > 0xffff ? 0 : chance_next(&rows->random) & 0xffff;
    while (bits >= rows->choice[first].below)
        first++;
    const choice_t *choice = &rows->choice[first];
    if (choice->length > 16)
        return mempcpy(to, choice->text, choice->length);
    return (char *)memcpy(to, choice->text, 16) + choice->length;
}

/* 12.5, 12 */
static char *put_decimals(char *to, double value, unsigned places) {
    static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
    int64_t number = (int64_t)whole(value * powers[places] + 0.5);
    *to = '-';
    to = digits_put(to + (number < 0), (uint64_t)llabs(number) / powers[places], 0);
    uint64_t rest = (uint64_t)llabs(number) % powers[places];
    *to = '.';
    char *end = rest ? digits_put(to + 1, rest, places) : to;
    for (; rest && end[-1] == '0'; end--)
        ;
    return end;
}

/* Nines where there is no number. */
static inline char *put_number(char *to, const step_t *field, double value) {
    if (field->sign == '.')
        return put_decimals(to, value, field->width);
    int64_t number = isnan(value) ? 99999999 : (int64_t)whole(value + 0.5);
    *to = field->sign == 'c' ? (char)number : (number < 0 ? "-1" : "+0")[field->sign == '!'];
    if (field->sign == 'c')
        return to + 1;
    const unsigned sign = field->sign != '\0';
    return digits_put(to + sign, (uint64_t)llabs(number), field->width - sign);
}

static inline char *put_fields(rows_t *rows, const row_t *row, char *to) {
    bool missing = false; /* the number written last */
    for (const step_t *field = row->step; field < row->step_end; field++) {
        if (field->code == CHOICE) {
            to = put_choice(rows, field->at, to);
            missing = false;
        } else if (field->code == QUALITY) {
            *to = '9';
            to = missing ? to + 1
                         : put_choice(rows, rows->mix[field->at ? field->at : (uint8_t)rows->usual], to);
        } else {
            bool absent = field->absent && (chance_next(&rows->random) & 0xffff) < field->absent;
            const double value = absent ? NAN : step(rows, field, 0);
            missing = isnan(value);
            to = put_number(to, field, value);
        }
    }
    return to;
}

static inline void set_value(rows_t *rows, const row_t *row) {
    double sum = 0;
    for (const step_t *each = row->step; each < row->step_end; each++)
        sum = step(rows, each, sum);
    *row->value = sum;
}

char *rows_run(rows_t *rows, const block_t *block, char *to) {
    enum { LENGTH = 3 }; /* digits before the fields of a remark */
    bool open = false, said = false;
    const char *marker = "";
    char *remark = NULL; /* the fields of the one that is being written */
    for (const row_t *row = rows->row + block->first, *end = rows->row + block->end; row < end; row++) {
        bool says = row->always || ((!row->goes_on || open) && !(row->otherwise && said) && holds(rows, row));
        if (says && row->value)
            set_value(rows, row);
        said = says || (row->otherwise && said);
        open = row->goes_on || row->value ? open : says;
        if (!says)
            row += row->skip;
        if (!says || row->value)
            continue;
        if (!row->goes_on) {
            if (row->marker != marker)
                to = stpcpy(to, marker = row->marker);
            memcpy(to, row->id, sizeof row->id);
            to += row->length;
            remark = *marker == 'R' ? to += LENGTH : NULL;
        }
        to = put_fields(rows, row, to);
        if (remark)
            digits_put(remark - LENGTH, (uint64_t)(to - remark), LENGTH);
    }
    return to;
}

/* ---- reading steps and conditions ---- */

/* The index of a name that may be a new one. */
static size_t name_of(rows_t *rows, const char *name) {
    size_t i = 0;
    while (i < rows->name_count && strcmp(rows->name[i].name, name) != 0)
        i++;
    if (i == rows->name_count)
        rows->name[rows->name_count++].name = name;
    return i;
}

static bool is_number(const char *word) {
    return isdigit((unsigned char)word[*word == '-']);
}

static double number_of(const char *word) {
    double number = 0;
    number_read(word, strlen(word), &number);
    return number;
}

/* Where the number is kept, or the value of a name. */
static const double *value_of(rows_t *rows, const char *word) {
    if (!is_number(word))
        return &rows->value[name_of(rows, word)];
    rows->number[rows->number_count] = number_of(word);
    return &rows->number[rows->number_count++];
}

/* "2.5*temp*share", "-temp", "" */
static void read_product(rows_t *rows, char *word, step_t *step) {
    step->times = 1;
    step->a = step->b = &one;
    for (char *factor; (factor = strsep(&word, "*"));) {
        bool number = is_number(factor), minus = *factor == '-' && !number;
        step->times *= number ? number_of(factor) : minus ? -1 : 1;
        if (!number && *factor)
            *(step->a == &one ? &step->a : &step->b) = value_of(rows, factor + minus);
    }
}

static step_t *read_step(rows_t *rows, char *word) {
    step_t *step = &rows->step[rows->step_count++];
    char *high = strstr(word, ".."), *inside = strpbrk(word, "[{");
    *step = (step_t){.code = '+'};
    if (high) {
        *high = '\0';
        step->code = RANGE;
        step->high = value_of(rows, high + 2);
    } else if (inside) {
        step->code = *inside;
        *inside++ = '\0';
        inside[strcspn(inside, "]}")] = '\0';
        step->at = (uint32_t)name_of(rows, word);
        word = inside;
    } else if (*word == '.') {
        step->code = word[1];
        word += strlen(word);
    } else if (*word && strchr("~?*/%><", *word)) {
        step->code = *word++;
        word += *word == '=';
    }
    read_product(rows, word, step);
    return step;
}

/* "40%", "!calm", "temp<0", "calm" */
static condition_t read_condition(rows_t *rows, char *word) {
    static const double near = 1e-6;
    if (strchr(word, '%'))
        return (condition_t){NULL, 0, number_of(word)};
    const bool not = *word == '!';
    char *mark = word + strcspn(word, "<>=");
    const bool below = not || *mark == '<', equal = *mark == '=';
    const double number = *mark ? number_of(mark + 1 + (*mark == '>')) : near;
    *mark = '\0';
    return (condition_t){&rows->value[name_of(rows, word + not )], below ? -INFINITY : number,
                         below   ? number
                         : equal ? number + near
                                 : INFINITY};
}

/* "if six temp<0", "else", or nothing. */
static void read_conditions(rows_t *rows, char *text, row_t *row) {
    row->condition = rows->condition + rows->condition_count;
    row->always = !*text && !row->goes_on;
    row->otherwise = strcmp(facts_word(&text), "else") == 0;
    for (char *word; *(word = facts_word(&text));)
        rows->condition[rows->condition_count++] = read_condition(rows, word);
    row->condition_end = rows->condition + rows->condition_count;
}

/* ---- reading fields and rows ---- */

/* "text*share|text*share". Returns the first one. */
static uint32_t read_choices(rows_t *rows, char *from) {
    const size_t first = rows->choice_count;
    uint64_t sum = 0;
    for (char *one_of; (one_of = strsep(&from, "|")); rows->choice_count++) {
        const char *text = strsep(&one_of, "*");
        sum += one_of ? strtoul(one_of, NULL, 10) : 1;
        rows->choice[rows->choice_count] = (choice_t){(uint32_t)sum, (uint16_t)strlen(text), text};
    }
    for (size_t i = first; i < rows->choice_count; i++)
        rows->choice[i].below = (uint32_t)(((uint64_t)rows->choice[i].below << 16) / sum);
    return (uint32_t)first;
}

/* "2%temp:+5", "0..9:1" */
static void read_number(rows_t *rows, char *word) {
    char *share = strchr(word, '%'), *shape = word;
    strsep(&shape, ":");
    step_t *field = read_step(rows, share ? share + 1 : word);
    if (share)
        field->absent = (uint16_t)(number_of(word) * 655.36);
    if (!isdigit((unsigned char)*shape))
        field->sign = *shape++;
    field->width = (uint8_t)atoi(shape);
}

static void read_field(rows_t *rows, char *word) {
    for (char *at = word; (at = strchr(at, '_')); *at = ' ')
        ;
    if (*word == 'q')
        rows->step[rows->step_count++] = (step_t){.code = QUALITY, .at = (uint8_t)word[1]};
    else if ((islower((unsigned char)*word) || is_number(word)) && strchr(word, ':'))
        read_number(rows, word);
    else
        rows->step[rows->step_count++] = (step_t){.code = CHOICE, .at = read_choices(rows, word)};
}

/* What the format has room for: numbers below a twentieth of that, "0..4999:+6". */
static void add_section(rows_t *rows, const char *id) {
    static const char *const most[] = {"9", "9", "9", "49", "499", "4999", "49999", "499999", "4999999"};
    const tail_list_t *section = rows->format->sections;
    char word[64];
    while (!section_lists(section, id))
        section++;
    for (const field_t *field = section->fields; field < section->fields + section->field_count; field++) {
        bool sign = field->sign == SIGN_ALWAYS,
             quality = field->width == 1 && strcasestr(field->name, "quality");
        snprintf(word, sizeof word, "%s%s:%s%d", quality ? "1.." : "0..",
                 quality ? "1" : most[(int)field->width - sign], sign ? "+" : "", (int)field->width);
        read_number(rows, word);
    }
}

/* The marker before the rows of that name. */
static const char *marker_of(const char *name) {
    return *name == '+' || islower((unsigned char)*name) ? ""
           : strcmp(name, "QNN") == 0                    ? "QNN"
           : isdigit((unsigned char)name[1])             ? "EQD"
           : isdigit((unsigned char)name[2])             ? "ADD"
                                                         : "REM";
}

/* " if layers>=2: okta2:2 q" or " = 3..10 step1", after a name. */
static void read_row(rows_t *rows, const char *name, char *after) {
    char *steps = strstr(after, " = "), *fields = steps ? NULL : strstr(after, ": "), *word;
    char *end = steps ? steps : fields ? fields : after + strlen(after);
    char *rest = end + (steps ? 3 : fields ? 1 : 0);
    row_t row = {.step = rows->step + rows->step_count, .goes_on = *name == '+', .marker = marker_of(name)};
    *end = '\0';
    read_conditions(rows, after, &row);
    while (*(word = facts_word(&rest)))
        if (steps)
            read_step(rows, word);
        else
            read_field(rows, word);
    if (steps)
        row.value = &rows->value[name_of(rows, name)];
    else if (!fields)
        add_section(rows, name);
    if (*row.marker && *row.marker != 'Q')
        row.length = (uint8_t)(stpcpy(row.id, name) - row.id);
    row.step_end = rows->step + rows->step_count;
    rows->row[rows->row_count++] = row;
}

/* A row for each of the names in "GA1-3,GE1". */
static void read_rows(rows_t *rows, char *line) {
    const char *after = line + strcspn(line, " :");
    for (const char *at = line; at < after; at += strcspn(at, ",") + 1) {
        size_t length = strcspn(at, "-, :");
        char last = at[length] == '-' ? at[length + 1] : at[length - 1], digit = at[length - 1];
        do {
            char *name = rows->text + rows->text_size, *rest = name + length + 1;
            memcpy(name, at, length);
            name[length - 1] = digit;
            rows->text_size += length + 2 + (size_t)(stpcpy(rest, after) - rest);
            for (char *mark = rest; (mark = strchr(mark, '#')); *mark = digit)
                ;
            read_row(rows, name, rest);
        } while (digit++ < last);
    }
}

/* A row that leaves out others where its conditions do not hold. */
static void add_condition(rows_t *rows, char *conditions, size_t skip) {
    row_t row = {.value = &rows->unused, .skip = skip};
    read_conditions(rows, conditions, &row);
    if (!row.always)
        rows->row[rows->row_count++] = row;
}

/* "station", and of a report "US-airport 1-51 5 if unsettled" */
static void read_block(rows_t *rows, char *rest, bool report) {
    block_t *block = &rows->block[rows->block_count++];
    *block = (block_t){.title = rest, .first = rows->row_count};
    if (!report)
        return;
    block->sender = name_of(rows, facts_word(&rest));
    facts_range(&rest, &block->minute, &block->last_minute);
    block->usual = *facts_word(&rest);
    add_condition(rows, rest, ROWS_MOST);
}

/* "clouds", "clouds if layers>=2" */
static void read_use(rows_t *rows, char *rest) {
    const block_t *block = rows_block(rows, facts_word(&rest));
    add_condition(rows, rest, block->end - block->first);
    for (size_t i = block->first; i < block->end; i++)
        rows->row[rows->row_count++] = rows->row[i];
}

/* The columns' names, and all numbers row by row. */
static void read_table(rows_t *rows, char *rest) {
    const size_t height = (size_t)facts_number(&rest), columns = (size_t)facts_number(&rest);
    const double *first = &rows->number[rows->number_count];
    for (size_t i = 0; i < columns; i++) {
        name_t *column = &rows->name[name_of(rows, facts_word(&rest))];
        *column = (name_t){column->name, first + i, columns, height};
    }
    for (const char *word; *(word = facts_word(&rest));)
        if (is_number(word))
            value_of(rows, word);
        else
            rows->value[name_of(rows, word)] =
                (double)((size_t)(&rows->number[rows->number_count] - first) / columns);
}

static bool begins(char **line, const char *word) {
    const size_t length = strlen(word);
    const bool same = strncmp(*line, word, length) == 0;
    *line += same ? length : 0;
    return same;
}

static void read_line(rows_t *rows, char *line) {
    if (begins(&line, "let "))
        read_block(rows, line, false);
    else if (begins(&line, "report "))
        read_block(rows, line, true);
    else if (begins(&line, "use "))
        read_use(rows, line);
    else if (begins(&line, "table "))
        read_table(rows, line);
    else if (begins(&line, "quality ")) /* "5: 5*9935|1*34" */
        rows->mix[line[0] & 127] = read_choices(rows, line + 3);
    else if (begins(&line, "odd "))
        odd_add(&rows->odd, line);
    else
        read_rows(rows, line);
    if (rows->block_count)
        rows->block[rows->block_count - 1].end = rows->row_count;
}

bool rows_read(rows_t *rows, const char *name, const char *const *names, err_t *err) {
    if (!facts_open(&rows->file, name, err) || !(rows->format = format_open(name, err)))
        return false;
    for (; *names; names++)
        name_of(rows, *names);
    for (char *line; (line = facts_line(&rows->file));)
        read_line(rows, line);
    return true;
}

void rows_end(void *maker) {
    rows_t *rows = maker;
    free(rows->file.text);
    schema_destroy(rows->format);
}

const block_t *rows_block(const rows_t *rows, const char *title) {
    const block_t *block = rows->block;
    while (strcmp(block->title, title) != 0)
        block++;
    return block;
}
