#include "generate/rows.h"
#include "base/numbers.h"
#include "format/values/calendar.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a step does; the first ones are named by a mark before its operand. */
enum { RANGE, CELL, ROW, CHOICE, QUALITY, NOISE, PART, TIMES, OVER, REST, LEAST, MOST };
enum { ROUND = MOST + 1, FLOOR, SIZE, SINE, DATE, PLUS };

static const struct {
    char mark[8];
    uint8_t code;
} marks[] = {{"~", NOISE},   {"?", PART},     {"*", TIMES},      {"/", OVER},       {"%", REST},
             {">=", LEAST},  {"<=", MOST},    {".round", ROUND}, {".floor", FLOOR}, {".abs", SIZE},
             {".sin", SINE}, {".date", DATE}, {"", PLUS}};

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
static double row_at(const name_t *column, const double *shares, double part) {
    double sum = 0;
    size_t row = 0;
    for (size_t i = 0; i < column->height; i++)
        sum += shares[i * column->columns];
    for (part *= sum; row + 1 < column->height && part >= shares[row * column->columns]; row++)
        part -= shares[row * column->columns];
    return (double)row;
}

static double mark(rows_t *rows, const step_t *step, double sum, double operand) {
    switch (step->code) {
    case RANGE:
        return sum + operand + whole(part(rows) * (*step->from - operand + 1));
    case CELL:
        return sum + step->from[(size_t)operand * rows->name[step->at].columns];
    case ROW:
        return row_at(&rows->name[step->at], step->from, sum);
    case NOISE:
        return sum + operand * noise(rows);
    case PART:
        return sum + operand * part(rows);
    case TIMES:
        return sum * operand;
    case OVER:
        return sum / operand;
    case REST:
        return sum - operand * whole(sum / operand);
    case LEAST:
        return sum > operand ? sum : operand;
    case MOST:
        return sum < operand ? sum : operand;
    case ROUND:
        return whole(sum + 0.5);
    case FLOOR:
        return whole(sum);
    case SIZE:
        return sum < 0 ? -sum : sum;
    case SINE:
        return sine(sum);
    default:
        return date_of(sum);
    }
}

static inline double step(rows_t *rows, const step_t *step, double sum) {
    const double operand = step->times * *step->a * *step->b;
    return step->code == PLUS ? sum + operand : mark(rows, step, sum, operand);
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
    memcpy(to, choice->text, 16);
    return to + choice->length;
}

/* 12.5, 12 */
static char *put_decimals(char *to, double value, unsigned places) {
    static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
    int64_t number = (int64_t)whole(value * powers[places] + 0.5);
    *to = '-';
    to = digits_put(to + (number < 0), (uint64_t)llabs(number) / powers[places], 0);
    uint64_t rest = (uint64_t)llabs(number) % powers[places];
    if (!rest)
        return to;
    *to++ = '.';
    for (to = digits_put(to, rest, places); to[-1] == '0'; to--)
        ;
    return to;
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

enum { HEAD, SECTIONS, REMARKS, ELEMENTS, ORIGINALS };
static const char markers[][4] = {"", "ADD", "REM", "EQD", "QNN"};
enum { LENGTH = 3 }; /* digits before the fields of a remark */

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
    bool open = false, said = false;
    uint8_t part = HEAD;
    char *remark = NULL; /* the fields of the one that is being written */
    if (!holds(rows, &block->due))
        return NULL;
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
            if (row->part != part)
                to = stpcpy(to, markers[part = row->part]);
            memcpy(to, row->id, sizeof row->id);
            to += row->length;
            remark = part == REMARKS ? to += LENGTH : NULL;
        }
        to = put_fields(rows, row, to);
        if (remark)
            digits_put(remark - LENGTH, (uint64_t)(to - remark), LENGTH);
    }
    return to;
}

/* ---- reading steps and conditions ---- */

/* Notes the first words that are a mistake. No input of a user leads here. */
static void refuse(rows_t *rows, const char *words) {
    if (!rows->wrong)
        rows->wrong = words;
}

/* ROWS_VALUES: there is none of that name. */
static size_t find_name(const rows_t *rows, const char *name) {
    size_t i = 0;
    while (i < rows->name_count && strcmp(rows->name[i].name, name) != 0)
        i++;
    return i < rows->name_count ? i : ROWS_VALUES;
}

/* The index of a name that may be a new one. */
static size_t name_of(rows_t *rows, const char *name) {
    size_t i = find_name(rows, name);
    if (i == ROWS_VALUES)
        rows->name[i = rows->name_count++] = (name_t){.name = name};
    return i;
}

static const double *value_of(rows_t *rows, const char *name) {
    size_t i = find_name(rows, name);
    if (i == ROWS_VALUES)
        refuse(rows, name);
    return &rows->value[i % ROWS_VALUES];
}

static bool is_number(const char *word) {
    return isdigit((unsigned char)word[*word == '-']);
}

static double number_of(const char *word) {
    double number = 0;
    number_read(word, strlen(word), &number);
    return number;
}

static const double *keep_number(rows_t *rows, double number) {
    double *kept = &rows->number[rows->number_count++];
    *kept = number;
    return kept;
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
    size_t mark = 0;
    if (high) {
        *high = '\0';
        high += 2;
        *step = (step_t){.code = RANGE};
        step->from = is_number(high) ? keep_number(rows, number_of(high)) : value_of(rows, high);
    } else if (inside) {
        *step = (step_t){.code = *inside == '[' ? CELL : ROW};
        *inside++ = '\0';
        inside[strcspn(inside, "]}")] = '\0';
        value_of(rows, word);
        step->at = (uint32_t)find_name(rows, word);
        step->from = &rows->number[rows->name[step->at].first];
        word = inside;
    } else {
        while (strncmp(word, marks[mark].mark, strlen(marks[mark].mark)) != 0)
            mark++;
        *step = (step_t){.code = marks[mark].code};
        word += strlen(marks[mark].mark);
    }
    read_product(rows, word, step);
    return step;
}

/* "40%", "!calm", "temp<0", "calm" */
static condition_t read_condition(rows_t *rows, char *word) {
    static const double near = 1e-6;
    if (strchr(word, '%'))
        return (condition_t){NULL, 0, number_of(word)};
    if (*word == '!')
        return (condition_t){value_of(rows, word + 1), -INFINITY, near};
    char *end = word + strcspn(word, "<>="), relation = *end;
    bool or_equal = relation && end[1] == '=';
    double number = relation ? number_of(end + 1 + or_equal) : 0;
    *end = '\0';
    return (condition_t){value_of(rows, word),
                         relation == '<'               ? -INFINITY
                         : relation == '=' || or_equal ? number
                                                       : number + near,
                         relation == '<'   ? number
                         : relation == '=' ? number + near
                                           : INFINITY};
}

/* "if six temp<0", "else", or nothing. */
static void read_conditions(rows_t *rows, char *text, row_t *row) {
    row->condition = rows->condition + rows->condition_count;
    row->always = !*text;
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
    if (!shape)
        return refuse(rows, word);
    if (share)
        field->absent = (uint16_t)(number_of(word) * 655.36);
    if (!isdigit((unsigned char)*shape))
        field->sign = *shape++;
    field->width = (uint8_t)atoi(shape);
}

static void read_field(rows_t *rows, char *word) {
    for (char *at = word; (at = strchr(at, '_')); *at = ' ')
        ;
    bool given = isdigit((unsigned char)*word) && strchr(word, ':') && strpbrk(word, "*%");
    bool number = given || islower((unsigned char)*word) || strstr(word, "..");
    if (*word == 'q' && (!word[1] || !word[2]))
        rows->step[rows->step_count++] = (step_t){.code = QUALITY, .at = (uint8_t)word[1]};
    else if (number && !strchr(word, '|'))
        read_number(rows, word);
    else
        rows->step[rows->step_count++] = (step_t){.code = CHOICE, .at = read_choices(rows, word)};
}

/* Numbers below a twentieth of what the field has room for: "0..4999:+6". */
static void add_any(rows_t *rows, const field_t *field) {
    bool sign = field->sign == SIGN_ALWAYS, quality = field->width == 1 && strcasestr(field->name, "quality");
    const int digits = (int)field->width - sign, nines = digits > 2 ? digits - 2 : 0;
    char word[64];
    snprintf(word, sizeof word, "%d..%c%.*s:%s%d", quality,
             nines     ? '4'
             : quality ? '1'
                       : '9',
             nines, "99999999", sign ? "+" : "", (int)field->width);
    read_number(rows, word);
}

static void add_section(rows_t *rows, const char *id) {
    const tail_list_t *section = rows->format->sections, *end = section + rows->format->section_count;
    while (section < end && !section_lists(section, id))
        section++;
    if (section == end)
        return refuse(rows, id);
    for (size_t i = 0; i < section->field_count; i++)
        add_any(rows, &section->fields[i]);
}

static uint8_t part_of(const char *name) {
    if (*name == '+' || islower((unsigned char)*name))
        return HEAD;
    if (strcmp(name, "QNN") == 0)
        return ORIGINALS;
    return isdigit((unsigned char)name[1]) ? ELEMENTS : isdigit((unsigned char)name[2]) ? SECTIONS : REMARKS;
}

/* " if layers>=2: okta2:2 q" or " = 3..10 step1", after a name. */
static void read_row(rows_t *rows, const char *name, char *after) {
    char *steps = strstr(after, " = "), *fields = steps ? NULL : strstr(after, ": "), *word;
    row_t row = {.step = rows->step + rows->step_count, .goes_on = *name == '+', .part = part_of(name)};
    *(steps ? steps : fields ? fields : after + strlen(after)) = '\0';
    read_conditions(rows, after, &row);
    row.always = row.always && !row.goes_on;
    for (char *rest = steps ? steps + 3 : NULL; rest && *(word = facts_word(&rest));)
        read_step(rows, word);
    for (char *rest = fields ? fields + 1 : NULL; rest && *(word = facts_word(&rest));)
        read_field(rows, word);
    if (steps)
        row.value = &rows->value[name_of(rows, name)];
    else if (!fields)
        add_section(rows, name);
    if (row.part != HEAD && row.part != ORIGINALS)
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

static void read_block(rows_t *rows, char *title) {
    rows->block[rows->block_count++] = (block_t){.title = title, .first = rows->row_count};
}

/* "US-airport 1-51 5 if unsettled" */
static void read_report(rows_t *rows, char *rest) {
    block_t *block = &rows->block[rows->block_count];
    read_block(rows, rest);
    block->sender = name_of(rows, facts_word(&rest));
    facts_range(&rest, &block->minute, &block->last_minute);
    block->usual = *facts_word(&rest);
    read_conditions(rows, rest, &block->due);
}

/* "clouds", "clouds if layers>1" */
static void read_use(rows_t *rows, char *rest) {
    const block_t *block = rows_block(rows, facts_word(&rest));
    row_t row = {.value = &rows->value[ROWS_VALUES - 1], .skip = block->end - block->first};
    read_conditions(rows, rest, &row);
    if (!row.always)
        rows->row[rows->row_count++] = row;
    for (size_t i = block->first; i < block->end; i++)
        rows->row[rows->row_count++] = rows->row[i];
}

/* Columns' names, and all numbers row by row. */
static void read_table(rows_t *rows, char *rest) {
    const size_t columns = (size_t)facts_number(&rest), first = rows->number_count;
    const size_t first_name = rows->name_count;
    for (size_t i = 0; i < columns; i++)
        name_of(rows, facts_word(&rest));
    for (const char *word; *(word = facts_word(&rest));) {
        if (is_number(word))
            keep_number(rows, number_of(word));
        else
            rows->value[name_of(rows, word)] = (double)((rows->number_count - first) / columns);
    }
    for (size_t i = 0; i < columns; i++) {
        name_t *column = &rows->name[first_name + i];
        *column = (name_t){column->name, first + i, columns, (rows->number_count - first) / columns};
    }
}

/* "5: 5*9935|1*34" */
static void read_quality(rows_t *rows, char *rest) {
    rows->mix[rest[0] & 127] = (uint16_t)read_choices(rows, rest + 3);
}

static void read_odd(rows_t *rows, char *rest) {
    odd_add(&rows->odd, rest);
}

static const struct {
    const char *word;
    void (*read)(rows_t *rows, char *rest);
} readers[] = {{"let ", read_block},   {"report ", read_report},   {"use ", read_use},
               {"table ", read_table}, {"quality ", read_quality}, {"odd ", read_odd},
               {"", read_rows}};

bool rows_read(rows_t *rows, const char *name, const char *const *names, err_t *err) {
    if (!facts_open(&rows->file, name, err) || !(rows->format = format_open(name, err)))
        return false;
    for (; *names; names++)
        name_of(rows, *names);
    for (char *line; (line = facts_line(&rows->file)) && !rows->wrong;) {
        size_t i = 0;
        while (strncmp(line, readers[i].word, strlen(readers[i].word)) != 0)
            i++;
        readers[i].read(rows, line + strlen(readers[i].word));
        if (rows->block_count)
            rows->block[rows->block_count - 1].end = rows->row_count;
    }
    return !rows->wrong ||
           err_set(err, STATUS_USAGE, "the rows of %s cannot be understood at '%s'", name, rows->wrong);
}

void rows_end(rows_t *rows) {
    free(rows->file.text);
    schema_destroy(rows->format);
}

const block_t *rows_block(const rows_t *rows, const char *title) {
    const block_t *block = rows->block;
    while (strcmp(block->title, title) != 0)
        block++;
    return block;
}
