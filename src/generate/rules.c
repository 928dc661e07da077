#include "generate/rules.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Each operation has an operand: a number or value (`from`), or what the stack has on top. The binary ones combine it with
 * the next one there. */
enum { RANGE, TIMES, OVER, PLUS, MINUS, LESS, MORE, AT_LEAST, EQUAL, LEAST, MOST, MODULO };
enum { VALUE = MODULO + 1, FLOOR, SINE, NOISE, DATE, CELL, ROW, CHANCE, BRANCH, JUMP, SET };
enum { WRITE = SET + 1, CHOICE, QUALITY, LINE, SAY, ENDED };

typedef struct {
    char name[8];
    uint8_t code;
    int level; /* of an operator: higher ones bind closer */
} word_t;

/* clang-format off */
static const word_t operators[] = {{"..", RANGE, 4}, {"*", TIMES, 3}, {"/", OVER, 3}, {"+", PLUS, 2}, {"-", MINUS, 2},
                                   {"<", LESS, 1}, {">=", AT_LEAST, 1}, {">", MORE, 1}, {"=", EQUAL, 1}, {"", 0, 0}};
static const word_t functions[] = {{"floor(", FLOOR, 0}, {"sin(", SINE, 0}, {"noise(", NOISE, 0}, {"date(", DATE, 0},
                                   {"min(", LEAST, 0}, {"max(", MOST, 0}, {"mod(", MODULO, 0}, {"", 0, 0}};
/* clang-format on */

static const double zero = 0;

/* ---- running ---- */

static inline double whole(double number) {
    double near = (double)(int64_t)number;
    return near - (near > number);
}

static inline double part(rules_t *rules) {
    return (double)(chance_next(&rules->random) >> 11) / (double)(UINT64_C(1) << 53);
}

/* Bhaskara's approximation of a sine, right to 0.17%. */
static double sine(double degrees) {
    double turn = degrees - 360 * whole(degrees / 360), half = turn < 180 ? turn : turn - 180;
    double x = half * (180 - half), sine = 4 * x / (40500 - x);
    return turn < 180 ? sine : -sine;
}

static double noise(rules_t *rules, double size) {
    uint64_t bits = chance_next(&rules->random);
    return ((double)(bits & 0xffff) + (double)(bits >> 16 & 0xffff) - 0xffff) * size / 0xffff;
}

static double date_of(double days) {
    date_t date;
    calendar_date((int64_t)days, &date);
    return date.year * 10000 + date.month * 100 + date.day;
}

static inline double cell(const rules_t *rules, size_t column, size_t row) {
    return rules->number[rules->name[column].first + row * rules->name[column].step];
}

/* The first row at which the column's shares reach that part of their sum. */
static double row_at(const rules_t *rules, size_t column, double part) {
    const size_t last = rules->name[column].height - 1;
    double sum = 0;
    size_t row = 0;
    for (size_t i = 0; i <= last; i++)
        sum += cell(rules, column, i);
    for (part *= sum; row < last && part >= cell(rules, column, row); row++)
        part -= cell(rules, column, row);
    return (double)row;
}

static char *put_choice(rules_t *rules, size_t first, char *to) {
    uint32_t bits = rules->choice[first].below > 0xffff ? 0 : chance_next(&rules->random) & 0xffff;
    while (bits >= rules->choice[first].below)
        first++;
    const choice_t *choice = &rules->choice[first];
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
static char *put_number(char *to, const operation_t *field, double value) {
    const bool sign = field->sign == '+';
    if (field->sign == '.')
        return put_decimals(to, value, field->width);
    int64_t number = isnan(value) ? 99999999 : (int64_t)whole(value + 0.5);
    *to = field->sign == 'c' ? (char)number : number < 0 ? '-' : '+';
    if (field->sign == 'c')
        return to + 1;
    return digits_put(to + sign, (uint64_t)llabs(number), field->width - sign);
}

enum { HEAD, SECTIONS, REMARKS, ELEMENTS, ORIGINALS };
static const char markers[][4] = {"", "ADD", "REM", "EQD", "QNN"};
enum { LENGTH = 3 }; /* digits before the fields of a remark */

/* Where a block has come to. */
typedef struct {
    char *to, *remark;        /* the fields of the remark that is being written, or NULL */
    uint8_t part;             /* whose marker stands there */
    bool open, said, missing; /* the line above, or one of those it is an else to; the number written last */
} place_t;

/* False: the line is left out for what lines above it said. */
static inline bool begin_line(place_t *place, const operation_t *line) {
    bool goes_on = line->sign, otherwise = line->flag;
    bool may = (!goes_on || place->open) && !(otherwise && place->said);
    place->said = place->said && otherwise;
    place->open = place->open && goes_on;
    return may;
}

static inline void say(const rules_t *rules, place_t *place, const operation_t *line) {
    place->said = true;
    if (line->sign)
        return;
    place->open = true;
    if (line->width != place->part)
        place->to = stpcpy(place->to, markers[line->width]);
    place->part = line->width;
    memcpy(place->to, rules->text + line->at, 4);
    place->to += strlen(place->to);
    place->remark = place->part == REMARKS ? place->to += LENGTH : NULL;
}

static inline char *put_quality(rules_t *rules, const operation_t *op, const place_t *place) {
    *place->to = '9';
    return place->missing ? place->to + 1
                          : put_choice(rules, rules->mix[op->at ? op->at : (uint8_t)rules->usual], place->to);
}

char *rules_run(rules_t *rules, const block_t *block, char *to) {
    double stack[32], *top = stack;
    place_t place = {.to = to, .part = HEAD};
    const operation_t *op = rules->operation + block->first, *end = rules->operation + block->end;
    for (; op < end; op++) {
        if (op->left)
            *++top = *op->left;
        const double b = *(op->from ? op->from : top);
        top -= !op->from;
        switch (op->code) {
        case RANGE:
            *top += whole(part(rules) * (b - *top + 1));
            break;
        case TIMES:
            *top *= b;
            break;
        case OVER:
            *top /= b;
            break;
        case PLUS:
            *top += b;
            break;
        case MINUS:
            *top -= b;
            break;
        case LESS:
            *top = *top < b;
            break;
        case MORE:
            *top = *top > b;
            break;
        case AT_LEAST:
            *top = *top >= b;
            break;
        case EQUAL:
            *top = *top == b;
            break;
        case LEAST:
            *top = *top < b ? *top : b;
            break;
        case MOST:
            *top = *top > b ? *top : b;
            break;
        case MODULO:
            *top -= b * whole(*top / b);
            break;
        case VALUE:
            *++top = b;
            break;
        case FLOOR:
            *++top = whole(b);
            break;
        case SINE:
            *++top = sine(b);
            break;
        case NOISE:
            *++top = noise(rules, b);
            break;
        case DATE:
            *++top = date_of(b);
            break;
        case CELL:
            *++top = cell(rules, op->at, (size_t)b);
            break;
        case ROW:
            *++top = row_at(rules, op->at, b);
            break;
        case CHANCE:
            *++top = part(rules) < b;
            break;
        case BRANCH:
            if (b == 0 && !op->at) /* the report is not due */
                return NULL;
            op += b == 0 ? op->at : 0;
            break;
        case JUMP:
            op += op->at;
            break;
        case SET:
            rules->value[op->at] = b;
            break;
        case WRITE:
            place.missing = isnan(b);
            place.to = put_number(place.to, op, b);
            break;
        case CHOICE:
            place.to = put_choice(rules, op->at, place.to);
            place.missing = false;
            break;
        case QUALITY:
            place.to = put_quality(rules, op, &place);
            break;
        case LINE:
            op += begin_line(&place, op) ? 0 : op->at;
            break;
        case SAY:
            say(rules, &place, op);
            break;
        case ENDED:
            if (place.remark)
                digits_put(place.remark - LENGTH, (uint64_t)(place.to - place.remark), LENGTH);
            break;
        }
    }
    return place.to;
}

/* ---- reading formulas ---- */

/* Notes the first words that are a mistake. No input of a user leads here. */
static void refuse(rules_t *rules, const char *words) {
    if (!rules->wrong)
        rules->wrong = words;
}

static operation_t *emit(rules_t *rules, uint8_t code) {
    if (rules->operation_count == RULES_OPERATIONS)
        refuse(rules, "too many operations");
    operation_t *op = &rules->operation[rules->operation_count -= !!rules->wrong];
    rules->operation_count++;
    *op = (operation_t){.code = code, .from = &zero};
    return op;
}

/* An operation on what was read since `before`: a mere number or value is its own operand. */
static operation_t *emit_on(rules_t *rules, size_t before, uint8_t code) {
    operation_t *last = &rules->operation[before];
    if (rules->operation_count - before > 1 || last->code != VALUE) {
        last = emit(rules, code);
        last->from = NULL;
    }
    last->code = code;
    return last;
}

/* The last operation takes its left operand by itself if that is a mere number or value: all else since `left`. */
static void join(rules_t *rules, size_t left) {
    operation_t *value = &rules->operation[left];
    if (rules->operation_count - left != 2 || value->code != VALUE || !value[1].from)
        return;
    value[1].left = value->from;
    *value = value[1];
    rules->operation_count--;
}

static void emit_number(rules_t *rules, uint8_t code, double number) {
    double *place = &rules->number[rules->number_count++];
    *place = number;
    emit(rules, code)->from = place;
}

/* How far the next operation lies after this one. */
static uint32_t distance(const rules_t *rules, size_t from) {
    return (uint32_t)(rules->operation_count - from - 1);
}

static bool take(rules_t *rules, const char *word) {
    const char *at = rules->at + strspn(rules->at, " ");
    bool there = strncmp(at, word, strlen(word)) == 0;
    if (there)
        rules->at = at + strlen(word);
    return there;
}

static void expect(rules_t *rules, const char *word) {
    if (!take(rules, word))
        refuse(rules, *rules->at ? rules->at : word);
}

/* RULES_VALUES: there is none of that name. */
static size_t find_name(const rules_t *rules, const char *name, size_t length) {
    for (size_t i = 0; i < rules->name_count; i++)
        if (strncmp(rules->name[i].name, name, length) == 0 && !rules->name[i].name[length])
            return i;
    return RULES_VALUES;
}

/* The name, which may be a new one. */
static name_t *name_of(rules_t *rules, const char *word) {
    size_t i = find_name(rules, word, strlen(word));
    if (i == RULES_VALUES && rules->name_count < RULES_VALUES - 1)
        rules->name[i = rules->name_count++].name = word;
    return &rules->name[i];
}

static const word_t *take_word(rules_t *rules, const word_t *words) {
    while (*words->name && !take(rules, words->name))
        words++;
    return words;
}

static void read_formula(rules_t *rules);

/* A number, perhaps with a % after it. "0..7" begins with 0. */
static bool read_constant(rules_t *rules) {
    size_t length = strspn(rules->at, "0123456789");
    if (rules->at[length] == '.' && isdigit((unsigned char)rules->at[length + 1]))
        length += 1 + strspn(rules->at + length + 1, "0123456789");
    double number;
    if (!length)
        return false;
    number_read(rules->at, length, &number);
    rules->at += length;
    bool chance = take(rules, "%");
    emit_number(rules, chance ? CHANCE : VALUE, chance ? number / 100 : number);
    return true;
}

/* A name and what belongs to it. */
static void read_name(rules_t *rules) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    const char *name = rules->at;
    size_t length = strspn(name, letters), i = find_name(rules, name, length);
    rules->at += length;
    bool row = *rules->at == '{';
    if (i == RULES_VALUES)
        return refuse(rules, name);
    if (rules->name[i].formula) {
        const char *after = rules->at;
        rules->at = rules->name[i].formula;
        read_formula(rules);
        rules->at = after;
    } else if (row || *rules->at == '[') {
        rules->at++;
        size_t before = rules->operation_count;
        read_formula(rules);
        expect(rules, row ? "}" : "]");
        emit_on(rules, before, row ? ROW : CELL)->at = (uint32_t)i;
    } else {
        emit(rules, VALUE)->from = &rules->value[i];
    }
}

static void read_operand(rules_t *rules) {
    rules->at += strspn(rules->at, " ");
    const size_t before = rules->operation_count;
    const word_t *word;
    if (take(rules, "(")) {
        read_formula(rules);
        expect(rules, ")");
    } else if (take(rules, "-")) {
        read_operand(rules);
        emit_number(rules, TIMES, -1);
    } else if (take(rules, "!")) {
        read_operand(rules);
        emit_number(rules, EQUAL, 0);
    } else if (*(word = take_word(rules, functions))->name) {
        read_formula(rules);
        size_t second = rules->operation_count;
        if (take(rules, ","))
            read_formula(rules);
        emit_on(rules, word->code < VALUE ? second : before, word->code);
        expect(rules, ")");
    } else if (!read_constant(rules)) {
        read_name(rules);
    }
}

static void read_operators(rules_t *rules, int least) {
    const size_t left = rules->operation_count;
    read_operand(rules);
    for (;;) {
        const char *before = rules->at;
        const word_t *word = take_word(rules, operators);
        if (word->level < least) {
            rules->at = before;
            return;
        }
        size_t before_operand = rules->operation_count;
        read_operators(rules, word->level + 1);
        emit_on(rules, before_operand, word->code);
        join(rules, left);
    }
}

static void read_formula(rules_t *rules) {
    size_t before = rules->operation_count;
    read_operators(rules, 1);
    if (!take(rules, "?"))
        return;
    emit_on(rules, before, BRANCH);
    size_t branch = rules->operation_count - 1;
    read_formula(rules);
    expect(rules, ":");
    emit(rules, JUMP);
    size_t jump = rules->operation_count - 1;
    rules->operation[branch].at = distance(rules, branch);
    read_formula(rules);
    rules->operation[jump].at = distance(rules, jump);
}

/* Reads a text that is one formula, and returns where its operations begin. */
static size_t read_whole(rules_t *rules, const char *text) {
    const size_t before = rules->operation_count;
    rules->at = text;
    read_formula(rules);
    if (*rules->at)
        refuse(rules, rules->at);
    return before;
}

/* ---- reading fields and lines ---- */

/* "text*share|text*share". Returns the first one. */
static uint32_t read_choices(rules_t *rules, char *from) {
    const size_t first = rules->choice_count;
    uint64_t sum = 0;
    for (char *one; (one = strsep(&from, "|")) && rules->choice_count < RULES_CHOICES;
         rules->choice_count++) {
        const char *text = strsep(&one, "*");
        sum += one ? strtoul(one, NULL, 10) : 1;
        rules->choice[rules->choice_count] = (choice_t){(uint32_t)sum, (uint16_t)strlen(text), text};
    }
    for (size_t i = first; i < rules->choice_count; i++)
        rules->choice[i].below = (uint32_t)(((uint64_t)rules->choice[i].below << 16) / sum);
    return (uint32_t)first;
}

/* ":+5", of what was read since `before` */
static void read_shape(rules_t *rules, size_t before) {
    expect(rules, ":");
    operation_t *write = emit_on(rules, before, WRITE);
    if (strchr("+.c", *rules->at))
        write->sign = (uint8_t)*rules->at++;
    if (isdigit((unsigned char)*rules->at))
        write->width = (uint8_t)(*rules->at++ - '0');
}

static void read_field(rules_t *rules, char *word) {
    for (char *at = word; (at = strchr(at, '_')); *at = ' ')
        ;
    bool any_text =
        strchr(word, '|') || !(islower((unsigned char)*word) || *word == '(' || strstr(word, ".."));
    if (*word == 'q' && (!word[1] || !word[2])) {
        emit(rules, QUALITY)->at = (uint8_t)word[1];
    } else if (any_text) {
        emit(rules, CHOICE);
        rules->operation[rules->operation_count - 1].at = read_choices(rules, word);
    } else {
        size_t before = rules->operation_count;
        rules->at = word;
        read_formula(rules);
        read_shape(rules, before);
    }
}

/* "if six temp<0", "else", or nothing; true: "else". */
static bool read_conditions(rules_t *rules, char *text) {
    bool otherwise = strcmp(facts_word(&text), "else") == 0;
    for (const char *word; *(word = facts_word(&text));)
        emit_on(rules, read_whole(rules, word), BRANCH);
    return otherwise;
}

/* Numbers below a twentieth of what the field has room for. */
static void emit_any(rules_t *rules, const field_t *field) {
    bool sign = field->sign == SIGN_ALWAYS, quality = field->width == 1 && strcasestr(field->name, "quality");
    double high = quality ? 1 : 9;
    for (int digits = field->width - sign; digits > 2; digits--)
        high = (high + 1) * (digits == 3 ? 5 : 10) - 1;
    emit_number(rules, VALUE, quality);
    emit_number(rules, RANGE, high);
    operation_t *shape = emit_on(rules, rules->operation_count - 1, WRITE);
    shape->width = (uint8_t)field->width;
    shape->sign = sign ? '+' : 0;
}

static void emit_section(rules_t *rules, const char *id) {
    const section_t *section = rules->format->sections, *end = section + rules->format->section_count;
    while (section < end && !section_lists(section, id))
        section++;
    if (section == end)
        return refuse(rules, id);
    for (size_t i = 0; i < section->field_count; i++)
        emit_any(rules, &section->fields[i]);
}

static uint8_t part_of(const char *name) {
    if (*name == '+' || islower((unsigned char)*name))
        return HEAD;
    if (strcmp(name, "QNN") == 0)
        return ORIGINALS;
    return isdigit((unsigned char)name[1]) ? ELEMENTS : isdigit((unsigned char)name[2]) ? SECTIONS : REMARKS;
}

/* " if layers>=2: okta2:2 q", after a name. */
static void read_text(rules_t *rules, const char *name, char *after) {
    const size_t line = rules->operation_count;
    const bool goes_on = *name == '+';
    const uint8_t part = part_of(name);
    char *fields = strstr(after, ": ");
    if (fields)
        *fields++ = '\0';
    emit(rules, LINE);
    bool otherwise = read_conditions(rules, after);
    rules->operation[line].flag = otherwise;
    rules->operation[line].sign = goes_on;
    operation_t *say = emit(rules, SAY);
    say->sign = goes_on;
    say->width = part;
    say->at = (uint32_t)((part == HEAD || part == ORIGINALS ? name + strlen(name) : name) - rules->text);
    if (!fields)
        emit_section(rules, name);
    for (char *field; fields && *(field = facts_word(&fields));)
        read_field(rules, field);
    if (part == REMARKS || goes_on)
        emit(rules, ENDED);
    for (size_t i = line; i < rules->operation_count; i++) {
        operation_t *op = &rules->operation[i];
        if ((op->code == LINE || op->code == BRANCH) && !op->at)
            op->at = distance(rules, i);
    }
}

static void read_line(rules_t *rules, const char *name, char *after) {
    if (strncmp(after, " := ", 4) == 0) {
        name_of(rules, name)->formula = after + 4;
    } else if (strncmp(after, " = ", 3) == 0) {
        size_t before = read_whole(rules, after + 3);
        emit_on(rules, before, SET)->at = (uint32_t)(name_of(rules, name) - rules->name);
    } else {
        read_text(rules, name, after);
    }
}

/* A line for each of the names in "GA1-3,GE1". */
static void read_lines(rules_t *rules, char *line) {
    const char *after = line + strcspn(line, " :");
    for (const char *at = line; at < after; at += strcspn(at, ",") + 1) {
        size_t length = strcspn(at, "-, :");
        char last = at[length] == '-' ? at[length + 1] : at[length - 1], digit = at[length - 1];
        do {
            char *name = rules->text + rules->text_size, *rest = name + length + 1;
            if (rules->text_size + strlen(line) + 2 > sizeof rules->text)
                return refuse(rules, line);
            memcpy(name, at, length);
            name[length - 1] = digit;
            rules->text_size += length + 2 + (size_t)(stpcpy(rest, after) - rest);
            for (char *mark = rest; (mark = strchr(mark, '#')); *mark = digit)
                ;
            read_line(rules, name, rest);
        } while (digit++ < last);
    }
}

static void read_block(rules_t *rules, char *title) {
    rules->block[rules->block_count++] = (block_t){.title = title, .first = rules->operation_count};
}

/* "US-airport 1-51 5 if unsettled" */
static void read_report(rules_t *rules, char *rest) {
    block_t *block = &rules->block[rules->block_count];
    read_block(rules, rest);
    block->sender = rules_name(rules, facts_word(&rest));
    facts_range(&rest, &block->minute, &block->last_minute);
    block->usual = *facts_word(&rest);
    read_conditions(rules, rest);
}

static void read_use(rules_t *rules, char *title) {
    const block_t *block = rules_block(rules, title);
    for (size_t i = block->first; i < block->end; i++)
        *emit(rules, 0) = rules->operation[i];
}

/* Columns' names, and all numbers row by row. */
static void read_table(rules_t *rules, char *rest) {
    const size_t columns = (size_t)facts_number(&rest), first = rules->number_count;
    const size_t first_name = rules->name_count;
    for (size_t i = 0; i < columns; i++)
        name_of(rules, facts_word(&rest));
    for (const char *word; *(word = facts_word(&rest)) && rules->number_count < RULES_NUMBERS;) {
        if (isalpha((unsigned char)*word))
            rules->own[name_of(rules, word) - rules->name] =
                (double)((rules->number_count - first) / columns);
        else
            number_read(word, strlen(word), &rules->number[rules->number_count++]);
    }
    for (size_t i = 0; i < columns; i++) {
        name_t *column = &rules->name[first_name + i];
        *column = (name_t){column->name, NULL, first + i, columns, (rules->number_count - first) / columns};
    }
}

/* "5: 5*9935|1*34" */
static void read_quality(rules_t *rules, char *rest) {
    rules->mix[rest[0] & 127] = (uint16_t)read_choices(rules, rest + 3);
}

static void read_odd(rules_t *rules, char *rest) {
    odd_add(&rules->odd, rest);
}

static const struct {
    const char *word;
    void (*read)(rules_t *rules, char *rest);
} readers[] = {{"let ", read_block},   {"report ", read_report},   {"use ", read_use},
               {"table ", read_table}, {"quality ", read_quality}, {"odd ", read_odd},
               {"", read_lines}};

bool rules_read(rules_t *rules, const char *name, const char *const *names, err_t *err) {
    if (!facts_open(&rules->file, name, err) || !(rules->format = format_open(name, err)))
        return false;
    rules->value = rules->own;
    for (; *names; names++)
        name_of(rules, *names);
    for (char *line; (line = facts_line(&rules->file)) && !rules->wrong;) {
        size_t i = 0;
        while (strncmp(line, readers[i].word, strlen(readers[i].word)) != 0)
            i++;
        readers[i].read(rules, line + strlen(readers[i].word));
        if (rules->block_count)
            rules->block[rules->block_count - 1].end = rules->operation_count;
    }
    return !rules->wrong ||
           err_set(err, STATUS_USAGE, "the rules of %s cannot be understood at '%s'", name, rules->wrong);
}

void rules_end(rules_t *rules) {
    free(rules->file.text);
    schema_destroy(rules->format);
}

const block_t *rules_block(const rules_t *rules, const char *title) {
    const block_t *block = rules->block;
    while (strcmp(block->title, title) != 0)
        block++;
    return block;
}

size_t rules_name(const rules_t *rules, const char *name) {
    return find_name(rules, name, strlen(name));
}
