#include "generate/rows.h"
#include "base/numbers.h"
#include "builtin/builtin.h"
#include "format/values/values.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a step does. Up to DATE, those that a mark names, or the first letter after a dot; up to SHARE, those that compute. */
enum { ADD, NOISE, SOME, TIMES, DIVIDED, REST, LEAST, MOST, FLOOR, SINE, DATE, RANGE, CELL, SHARE };
enum { IF = SHARE + 1, ABSENT, PART, LABEL, CHOICE, QUALITY };
static const char marks[] = "+~?*/%><fsd";

/* Of the first condition of a row: that it is the first; the row begins with "else", is "+", begins a part of the record. */
enum { FIRST = 1, OTHERWISE = 2, GOES_ON = 4, BEGINS = 8 };

/* What stands before the parts of a record. */
enum { NONE, SECTION, REMARK, ELEMENT };
static const char *const markers[] = {"", "ADD", "REM", "EQD"};

/* ---- running ---- */

static inline double whole(double number) {
    double near = (double)(int64_t)number;
    return near - (near > number);
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

static inline double compute(rows_t *rows, const step_t *step, double sum) {
    date_t date;
    const double *value = rows->value, operand = step->times * value[step->a] * value[step->b];
    if (step->code == ADD)
        return sum + operand;
    switch (step->code) {
    case RANGE:
        return sum + operand + whole(part_of(chance_next(&rows->random)) * (value[step->at] - operand + 1));
    case CELL:
        return sum + column_at(&rows->column[step->at], operand)->number;
    case SHARE:
        return (double)shares_at(&rows->column[step->at].shares, sum);
    case NOISE:
        return sum + operand * noise(rows);
    case SOME:
        return sum + operand * part_of(chance_next(&rows->random));
    case TIMES:
        return sum * operand;
    case DIVIDED:
        return sum / operand;
    case REST:
        return sum - operand * whole(sum / operand);
    case LEAST:
        return sum > operand ? sum : operand;
    case MOST:
        return sum < operand ? sum : operand;
    case FLOOR:
        return whole(sum);
    case SINE:
        return sine(sum);
    default:
        calendar_date((int64_t)sum, &date);
        return date.year * 10000 + date.month * 100 + date.day;
    }
}

static inline bool holds(rows_t *rows, const step_t *condition) {
    const double value =
        condition->sign ? 100 * part_of(chance_next(&rows->random)) : rows->value[condition->a];
    return value >= condition->times && value < rows->value[condition->at];
}

static inline char *put_phrase(const rows_t *rows, phrase_t phrase, char *to) {
    enum { USUAL = 16 };
    const char *text = rows->text + phrase.at;
    memcpy(to, text, USUAL);
    if (phrase.length > USUAL)
        memcpy(to, text, phrase.length);
    return to + phrase.length;
}

static inline char *put_choice(rows_t *rows, const choice_t *choice, char *to) {
    uint32_t bits = choice->below > 0xffff ? 0 : chance_next(&rows->random) & 0xffff;
    while (bits >= choice->below)
        choice++;
    return put_phrase(rows, choice->text, to);
}

/* 12.5, 12 */
static char *put_decimals(char *to, double value, unsigned places) {
    static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
    const int64_t number = (int64_t)whole(value * powers[places] + 0.5);
    uint64_t digits = (uint64_t)llabs(number);
    for (; places && digits % 10 == 0; places--)
        digits /= 10;
    *to = '-';
    to = digits_put(to + (number < 0), digits / powers[places], 0);
    *to = '.';
    return places ? digits_put(to + 1, digits % powers[places], places) : to;
}

/* Nines where there is no number. */
static inline char *put_number(char *to, const step_t *field, double value) {
    if (field->sign == '.')
        return put_decimals(to, value, field->width);
    int64_t number = isnan(value) ? 99999999 : (int64_t)whole(value + 0.5);
    if (!field->sign)
        return digits_put(to, (uint64_t)llabs(number), field->width);
    *to = (number < 0 ? "-1" : "+0")[field->sign == '!'];
    return digits_put(to + 1, (uint64_t)llabs(number), field->width - 1u);
}

char *rows_run(rows_t *rows, const block_t *block, char *to) {
    enum { LENGTH = 3 }; /* digits before the fields of a remark */
    bool open = false,
         said = false;      /* of the rows before: the last that is not "+", any of this "if" and "else" */
    bool missing = false;   /* the number written last */
    unsigned marker = NONE; /* the one written last */
    char *remark = NULL;    /* the fields of the one that is being written */
    double sum = 0;
    const step_t *end = rows->step + block->end;
    for (const step_t *step = rows->step + block->first; step < end; step++) {
        if (step->code < IF) {
            sum = compute(rows, step, sum);
            if (step->set) {
                rows->value[step->set] = sum;
                sum = 0;
                continue;
            }
            if (!step->puts)
                continue;
            to = put_number(to, step, sum);
            missing = isnan(sum);
            sum = 0;
        } else
            switch (step->code) {
            case IF:
                if (step->row & BEGINS)
                    open = false;
                if ((step->row & GOES_ON && !open) || (step->row & OTHERWISE && said)) {
                    said = said && step->row & OTHERWISE;
                    step += step->skip;
                    continue;
                }
                if (holds(rows, step)) {
                    said = true;
                    continue;
                }
                if (!step->skip)
                    return to;
                said = false;
                step += step->skip;
                continue;
            case PART:
                if (remark)
                    digits_put(remark - LENGTH, (uint64_t)(to - remark), LENGTH);
                if (step->at != marker)
                    to = stpcpy(to, markers[marker = step->at]);
                to = put_phrase(rows, step->after, to);
                remark = marker == REMARK ? to += LENGTH : NULL;
                open = said = true;
                continue;
            case ABSENT:
                missing = (chance_next(&rows->random) & 0xffff) < step->skip;
                if (!missing)
                    continue;
                to = put_number(to, ++step, NAN);
                break;
            case CHOICE:
                to = put_choice(rows, &rows->choice[step->at], to);
                missing = false;
                break;
            case LABEL:
                to = put_phrase(rows, column_at(&rows->column[step->at], rows->value[step->a])->text, to);
                break;
            default:
                *to = '9';
                to = missing ? to + 1
                             : put_choice(
                                   rows, &rows->choice[rows->mix[step->sign ? step->sign : rows->usual]], to);
            }
        to = put_phrase(rows, step->after, to);
        missing = missing && !step->after.length;
    }
    if (remark)
        digits_put(remark - LENGTH, (uint64_t)(to - remark), LENGTH);
    return to;
}

/* ---- reading words ---- */

/* The next word of a line, "" at its end; *line is then the rest. */
static char *next_word(char **line) {
    char *word = *line + strspn(*line, " "), *end = word + strcspn(word, " ");
    *line = end + (*end != '\0');
    *end = '\0';
    return word;
}

/* The index of a name that may be a new one. */
static uint16_t name_of(rows_t *rows, const char *name) {
    uint32_t i = 1;
    while (i <= rows->name_count && strcmp(rows->name[i], name) != 0)
        i++;
    if (i > rows->name_count)
        rows->name[rows->name_count = i] = name;
    return (uint16_t)i;
}

static bool is_number(const char *word) {
    return isdigit((unsigned char)word[*word == '-']);
}

/* 0 if it is none. */
static double number_of(const char *word) {
    double number = 0;
    number_read(word, strlen(word), &number);
    return number;
}

/* Where the number is kept, among the values. */
static uint16_t keep_number(rows_t *rows, double number) {
    rows->value[ROWS_NAMES + rows->number_count] = number;
    return (uint16_t)(ROWS_NAMES + rows->number_count++);
}

static phrase_t phrase_of(const rows_t *rows, char *word) {
    return (phrase_t){(uint32_t)(plain_text(word) - rows->text), (uint32_t)strlen(word)};
}

/* ---- reading steps and conditions ---- */

static step_t *add_step(rows_t *rows, uint8_t code) {
    rows->step[rows->step_count] = (step_t){.code = code, .times = 1};
    return &rows->step[rows->step_count++];
}

/* A mark or none, and "2.5*temp*share", "-temp", or "". */
static step_t *read_step(rows_t *rows, char *word) {
    step_t *step = add_step(rows, ADD);
    char *high = strstr(word, ".."), *inside = strpbrk(word, "[{");
    const char *mark = *word && !islower((unsigned char)*word) ? strchr(marks, word[*word == '.']) : NULL;
    if (high) {
        *high = '\0';
        step->code = RANGE;
        step->at = is_number(high + 2) ? keep_number(rows, number_of(high + 2)) : name_of(rows, high + 2);
    } else if (inside) {
        step->code = *inside == '[' ? CELL : SHARE;
        *inside++ = '\0';
        inside[strcspn(inside, "]}")] = '\0';
        step->at = name_of(rows, word);
        word = inside;
    } else if (mark) {
        step->code = (uint8_t)(mark - marks);
        word += *word == '.' ? strlen(word) : 1u + (word[1] == '=');
    }
    for (char *factor; (factor = strsep(&word, "*"));) {
        bool number = is_number(factor), minus = *factor == '-' && !number;
        step->times *= number ? number_of(factor) : minus ? -1 : 1;
        if (!number && *factor)
            *(step->a ? &step->b : &step->a) = name_of(rows, factor + minus);
    }
    return step;
}

/* "40%", "!calm", "temp<0", "calm"; "" holds. */
static step_t *read_condition(rows_t *rows, char *word) {
    static const double near = 1e-6;
    step_t *step = add_step(rows, IF);
    const bool not = *word == '!';
    char *mark = word + strcspn(word, "<>=");
    const bool below = not || *mark == '<', equal = *mark == '=';
    const double number = *mark ? number_of(mark + 1 + (*mark == '>')) : near;
    *mark = '\0';
    step->sign = strchr(word, '%') ? '%' : '\0';
    step->times = step->sign ? 0 : below ? -INFINITY : number;
    step->at = keep_number(rows, step->sign ? number_of(word)
                                 : below    ? number
                                 : equal    ? number + near
                                            : INFINITY);
    step->a = step->sign || !*word ? 0 : name_of(rows, word + not );
    return step;
}

/* "if six temp<0", "else", or nothing. */
static void read_conditions(rows_t *rows, char *text, unsigned row) {
    row |= strcmp(next_word(&text), "else") == 0 ? OTHERWISE : 0;
    for (char *word = next_word(&text); *word || row & (OTHERWISE | GOES_ON);
         word = next_word(&text), row = 0)
        read_condition(rows, word)->row = (uint8_t)row;
}

/* Lets the conditions from `first` to `end` leave out all steps so far, and the next ones. */
static void leave_out(rows_t *rows, size_t first, size_t end, size_t more) {
    for (; first < end; first++)
        rows->step[first].skip = (uint16_t)(rows->step_count + more - first - 1);
}

/* ---- reading fields and rows ---- */

/* "text*share|text*share" */
static uint16_t read_choices(rows_t *rows, char *from) {
    choice_t *first = &rows->choice[rows->choice_count], *next = first;
    uint64_t sum = 0;
    for (char *one_of; (one_of = strsep(&from, "|")); next++) {
        char *text = strsep(&one_of, "*");
        sum += one_of ? strtoul(one_of, NULL, 10) : 1;
        *next = (choice_t){(uint32_t)sum, phrase_of(rows, text)};
    }
    const uint32_t index = rows->choice_count;
    rows->choice_count += (uint32_t)(next - first);
    while (next-- > first)
        next->below = (uint32_t)(((uint64_t)next->below << 16) / sum);
    return (uint16_t)index;
}

/* "2%temp:+5", "0..9:1" */
static void read_number(rows_t *rows, char *word) {
    char *share = strchr(word, '%'), *shape = word;
    strsep(&shape, ":");
    if (share)
        add_step(rows, ABSENT)->skip = (uint16_t)(number_of(word) * 655.36);
    step_t *field = read_step(rows, share ? share + 1 : word);
    field->puts = true;
    if (!isdigit((unsigned char)*shape))
        field->sign = *shape++;
    field->width = (uint8_t)atoi(shape);
}

static void read_field(rows_t *rows, char *word) {
    step_t *before = &rows->step[rows->step_count - 1];
    const bool name = islower((unsigned char)*word);
    if (*word == 'q')
        add_step(rows, QUALITY)->sign = word[1];
    else if ((name || is_number(word)) && strchr(word, ':'))
        read_number(rows, word);
    else if (name && strchr(word, '['))
        read_step(rows, word)->code = LABEL;
    else if (strchr(word, '|') || before->after.length || before->code == IF || before->code == PART)
        add_step(rows, CHOICE)->at = read_choices(rows, word);
    else
        before->after = phrase_of(rows, word);
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

/* " if layers>=2: okta2:2 q" or " = 3..10 step1", after a name. */
static void read_row(rows_t *rows, char *name, char *after) {
    char *steps = strstr(after, " = "), *fields = steps ? NULL : strstr(after, ": "), *word;
    char *end = steps ? steps : fields ? fields : after + strlen(after);
    char *rest = end + (steps ? 3 : fields ? 1 : 0);
    const size_t first = rows->step_count;
    const bool goes_on = *name == '+';
    *end = '\0';
    read_conditions(rows, after, FIRST | (steps ? 0 : goes_on ? GOES_ON : BEGINS));
    const size_t body = rows->step_count;
    if (!steps && !goes_on) {
        step_t *part = add_step(rows, PART);
        part->at = islower((unsigned char)*name)     ? NONE
                   : isdigit((unsigned char)name[1]) ? ELEMENT
                   : isdigit((unsigned char)name[2]) ? SECTION
                                                     : REMARK;
        part->after = part->at == NONE ? part->after : phrase_of(rows, name);
    }
    while (*(word = next_word(&rest)))
        if (steps)
            read_step(rows, word);
        else
            read_field(rows, word);
    if (steps)
        rows->step[rows->step_count - 1].set = name_of(rows, name);
    else if (!fields)
        add_section(rows, name);
    leave_out(rows, first, body, 0);
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
            rows->text_size += (uint32_t)(length + 2) + (uint32_t)(stpcpy(rest, after) - rest);
            for (char *mark = rest; (mark = strchr(mark, '#')); *mark = digit)
                ;
            read_row(rows, name, rest);
        } while (digit++ < last);
    }
}

/* "station", and of a report "US-airport 1 51 5 if unsettled" */
static void read_block(rows_t *rows, char *rest) {
    block_t *block = &rows->block[rows->block_count++];
    *block = (block_t){.title = next_word(&rest), .first = rows->step_count};
    block->minute = (int32_t)number_of(next_word(&rest));
    block->last_minute = (int32_t)number_of(next_word(&rest));
    block->usual = *next_word(&rest);
    read_conditions(rows, rest, 0);
}

/* "clouds", "clouds if layers>=2" */
static void read_use(rows_t *rows, char *rest) {
    const block_t *block = rows_block(rows, next_word(&rest));
    const size_t first = rows->step_count, length = block->end - block->first;
    read_conditions(rows, rest, FIRST);
    leave_out(rows, first, rows->step_count, length);
    memcpy(rows->step + rows->step_count, rows->step + block->first, length * sizeof *rows->step);
    rows->step_count += (uint32_t)length;
}

/* The names of columns, and all cells row by row; " is the cell above. */
static void read_table(rows_t *rows, char *rest) {
    const size_t columns = (size_t)number_of(next_word(&rest)), first = rows->cell_count;
    column_t *column[ROWS_NAMES];
    for (size_t i = 0; i < columns; i++) {
        column[i] = &rows->column[name_of(rows, next_word(&rest))];
        column[i]->first = &rows->cell[first + i];
        column[i]->columns = columns;
    }
    for (char *word; *(word = next_word(&rest)); rows->cell_count++)
        rows->cell[rows->cell_count] = *word == '"' ? rows->cell[rows->cell_count - columns]
                                                    : (cell_t){number_of(word), phrase_of(rows, word)};
    for (size_t i = 0; i < columns; i++) {
        const size_t height = (rows->cell_count - first) / columns;
        double *below = &rows->below[first + i * height], sum = 0;
        for (size_t row = 0; row < height; row++)
            below[row] = sum += column[i]->first[row * columns].number;
        column[i]->shares = (shares_t){below, column[i]->guide, height, ROWS_GUIDE};
        shares_guide(&column[i]->shares);
    }
}

static bool begins(char **line, const char *word) {
    const size_t length = strlen(word);
    const bool same = strncmp(*line, word, length) == 0;
    *line += same ? length : 0;
    return same;
}

static void read_line(rows_t *rows, char *line) {
    if (begins(&line, "when ")) {
        const bool now = holds(rows, read_condition(rows, next_word(&line)));
        rows->step_count--;
        if (now)
            read_line(rows, line);
        return;
    }
    if (begins(&line, "let ") || begins(&line, "report "))
        read_block(rows, line);
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
        rows->block[rows->block_count - 1].end = rows->step_count;
}

bool rows_read(rows_t *rows, const char *name, const char *const *names, err_t *err) {
    const builtin_t *file = builtin_find(builtin_generate, name);
    char *next = memcpy(rows->text, file->text, file->length);
    rows->text_size = (uint32_t)file->length + 1;
    rows->value[0] = 1;
    for (; *names; names++)
        name_of(rows, *names);
    if (!(rows->format = format_open(name, err)))
        return false;
    for (char *at = next; (at = strstr(at, "\n ")); *at = ' ')
        ;
    for (char *line; (line = strsep(&next, "\n"));)
        if (*line && *line != '#')
            read_line(rows, line);
    return true;
}

char *rows_header(const rows_t *rows, size_t columns, char delimiter, char *to) {
    for (size_t i = 0; i < columns; i++) {
        to = stpcpy(to, rows->format->fields[i].columns.items->text);
        *to++ = delimiter;
    }
    to[-1] = '\n';
    return to;
}

void rows_end(void *maker) {
    schema_destroy(((rows_t *)maker)->format);
}

const block_t *rows_block(const rows_t *rows, const char *title) {
    const block_t *block = rows->block;
    while (strcmp(block->title, title) != 0)
        block++;
    return block;
}
