#include "generate/isd/isd_lines.h"
#include "generate/shared/digits.h"
#include "generate/shared/facts.h"
#include "generate/shared/whole.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEAD, SECTIONS, REMARKS, ELEMENTS, ORIGINALS };
static const char markers[][4] = {"", "ADD", "REM", "EQD", "QNN"};

enum { TEXT, VALUE, RANGE, CHOICE, QUALITY, CALL };

/* How a number is written: a sign before it, which may take a place of its width. */
static const struct {
    char name, minus, plus;
    bool inside;
} formats[] = {{'+', '-', '+', true}, {'-', '-', 0, true}, {'s', '1', '0', true}, {'m', 'M', 0, false}, {0}};

/* (number * times + plus) / by, rounded, and that taken `then` times. */
static const struct {
    char name;
    int32_t times, plus, by, then;
} conversions[] = {{0, 1, 0, 1, 1},     {'F', 18, 3200, 100, 1},   {'C', 1, 0, 10, 1},
                   {'W', 1, 0, 10, 10}, {'I', 10000, 0, 33864, 1}, {'i', 100, 0, 254, 1}};

#define NAME(name, value) #name,
static const char *const names[] = {ISD_VALUES(NAME)};

/* ---- writing ---- */

static char *put_number(char *to, const isd_field_t *field, int64_t number) {
    unsigned width = field->width;
    if (number == ISD_MISSING) {
        memset(to, '9', width);
        if (formats[field->format].name == '+')
            *to = '+';
        return to + width;
    }
    if (field->conversion) {
        const int32_t by = conversions[field->conversion].by;
        number = number * conversions[field->conversion].times + conversions[field->conversion].plus;
        number = (int64_t)whole_rounded(number, by) * conversions[field->conversion].then;
    }
    char sign = number < 0 ? formats[field->format].minus : formats[field->format].plus;
    if (sign) {
        *to++ = sign;
        width -= formats[field->format].inside;
    }
    return digits_put_last(to, (uint32_t)llabs(number), width);
}

static char *put_choice(const isd_lines_t *all, uint16_t first, isd_scene_t *scene, char *to) {
    const isd_choice_t *choice = &all->choices[first];
    for (uint64_t bits = isd_scene_bits(scene) & 0xffff; bits >= choice->below;)
        choice++;
    memcpy(to, choice->text, sizeof choice->text);
    return to + choice->length;
}

static char *put_field(const isd_lines_t *all, const isd_field_t *field, char usual, isd_scene_t *scene,
                       char *to) {
    bool was_missing = scene->missing;
    int32_t number = field->low;
    scene->missing = false;
    switch (field->kind) {
    case TEXT:
        return (char *)memcpy(to, all->text + field->at, field->span) + field->span;
    case CALL:
        return (char *)memcpy(to, scene->call, sizeof scene->call) + sizeof scene->call;
    case CHOICE:
        return put_choice(all, field->at, scene, to);
    case QUALITY:
        *to = '9';
        return was_missing ? to + 1
                           : put_choice(all, all->mixes[field->at ? field->at : usual & 127], scene, to);
    case VALUE:
        number = scene->value[field->at];
        break;
    default:
        number += (int32_t)isd_scene_below(scene, field->span);
    }
    if (field->missing && isd_scene_below(scene, 1000) < field->missing)
        number = ISD_MISSING;
    scene->missing = number == ISD_MISSING;
    return put_number(to, field, number);
}

static char *put_fields(const isd_lines_t *all, isd_span_t fields, char usual, isd_scene_t *scene, char *to) {
    for (const isd_field_t *field = all->fields + fields.first, *end = field + fields.count; field < end;
         field++)
        to = put_field(all, field, usual, scene, to);
    return to;
}

bool isd_lines_hold(const isd_lines_t *all, isd_span_t conditions, isd_scene_t *scene) {
    const isd_condition_t *at = all->conditions + conditions.first, *end = at + conditions.count;
    for (bool holds = true; at < end; at++) {
        int32_t value = scene->value[at->value];
        switch (at->relation) {
        case '%':
            holds = (int32_t)isd_scene_below(scene, 1000) < at->number;
            break;
        case '<':
            holds = value < at->number;
            break;
        case '>':
            holds = value > at->number;
            break;
        case 'g':
            holds = value >= at->number;
            break;
        case '=':
            holds = value == at->number;
            break;
        default:
            holds = !value == (at->relation == '!');
        }
        if (!holds)
            return false;
    }
    return true;
}

/* Where a record goes on. */
typedef struct {
    char *at, *remark; /* the fields of the remark that is being written */
    int part;
} place_t;

static void end_remark(place_t *place) {
    char length[8];
    if (place->remark) {
        digits_put_last(length, (uint32_t)(place->at - place->remark), 3);
        memcpy(place->remark - 3, length, 3);
    }
    place->remark = NULL;
}

static void begin(place_t *place, int part, const char *name) {
    end_remark(place);
    if (place->part != part)
        place->at = stpcpy(place->at, markers[part]);
    place->part = part;
    if (part == HEAD || part == ORIGINALS)
        return;
    place->at = stpcpy(place->at, name);
    if (part == REMARKS)
        place->remark = place->at += 3;
}

/* ---- sections of which no line says what they hold ---- */

const section_t *isd_section_of(const schema_t *format, const char *name) {
    const section_t *family = NULL;
    for (const section_t *section = format->sections; section < format->sections + format->section_count;
         section++) {
        if (section_lists(section, name))
            return section;
        if (memcmp(section->ids[0].first, name, 2) == 0)
            family = section;
    }
    return family;
}

/* Heat and pressure as they are, other numbers below a tenth of what the field has room for. */
static uint64_t any_number(const field_t *field, unsigned digits, isd_scene_t *scene) {
    if (strcasestr(field->name, "temperature"))
        return (uint64_t)abs(scene->value[ISD_temp]);
    if (strcasestr(field->name, "pressure") || strcasestr(field->name, "altimeter"))
        return (uint64_t)scene->value[ISD_alt];
    uint64_t limit = 10;
    for (; digits > 2; digits--)
        limit *= 10;
    return isd_scene_below(scene, (uint32_t)limit);
}

static char *put_any(const field_t *field, isd_scene_t *scene, char *to) {
    bool is_number = field->type == TYPE_INT || field->type == TYPE_NUMBER, sign = field->sign == SIGN_ALWAYS;
    bool is_quality = field->width == 1 && strcasestr(field->name, "quality");
    if (field->nulls.count && isd_scene_below(scene, 100) < 2)
        return memcpy(to, field->nulls.items[0].text, field->width) + field->width;
    if (sign)
        *to++ = '+';
    uint64_t number = is_quality  ? 1
                      : is_number ? any_number(field, field->width - (unsigned)sign, scene)
                                  : isd_scene_below(scene, 1000000);
    return digits_put_last(to, (uint32_t)number, field->width - (unsigned)sign);
}

static char *put_section(const section_t *section, isd_scene_t *scene, char *to) {
    for (const field_t *field = section->fields; field < section->fields + section->field_count; field++)
        to = put_any(field, scene, to);
    return to;
}

/* ---- writing a record ---- */

static void put_extra(const isd_lines_t *all, place_t *place, isd_scene_t *scene, const char **extra) {
    begin(place, SECTIONS, *extra);
    place->at = put_section(isd_section_of(all->format, *extra), scene, place->at);
    *extra = NULL;
}

char *isd_lines_put(const isd_lines_t *all, isd_span_t lines, char usual, isd_scene_t *scene,
                    const char **extra, char *to) {
    place_t place = {.at = to, .part = HEAD};
    bool open = false, said = false, taken = false;
    for (const isd_line_t *line = all->lines + lines.first, *end = line + lines.count; line < end; line++) {
        bool says = (!line->goes_on || open) && !(line->otherwise && said) &&
                    isd_lines_hold(all, line->conditions, scene);
        said = says || (line->otherwise && said);
        open = line->goes_on ? open : says;
        if (!says)
            continue;
        if (!line->goes_on) {
            int order = line->part == SECTIONS && *extra ? strcmp(line->name, *extra) : line->part - SECTIONS;
            taken |= line->part == SECTIONS && *extra && order == 0;
            if (*extra && order > 0 && !taken)
                put_extra(all, &place, scene, extra);
            begin(&place, line->part, line->name);
        }
        place.at = line->section ? put_section(line->section, scene, place.at)
                                 : put_fields(all, line->fields, usual, scene, place.at);
    }
    if (*extra && !taken)
        put_extra(all, &place, scene, extra);
    end_remark(&place);
    scene->ends_early = place.part <= SECTIONS;
    return place.at;
}

/* ---- reading ---- */

static bool not_understood(const char *text, err_t *err) {
    return err_set(err, STATUS_USAGE, "the data of generated weather cannot be understood at '%.40s'", text);
}

static bool find_value(const char *name, size_t length, uint16_t *which) {
    for (*which = 0; *which < ISD_VALUE_COUNT; ++*which)
        if (strlen(names[*which]) == length && memcmp(names[*which], name, length) == 0)
            return true;
    return false;
}

/* "2" or "0.2", in thousandths of a hundred. */
static bool read_percent(const char *text, int32_t *permille) {
    char *end;
    *permille = (int32_t)(strtod(text, &end) * 10 + 0.5);
    return end > text && end[0] == '%' && !end[1];
}

/* "text*share|text*share"; a share that is not given is 1. */
static bool read_choices(isd_lines_t *all, const char *from, uint16_t *at) {
    size_t first = all->choice_count;
    uint32_t sum = 0;
    for (bool more = true; more; more = *from++ == '|') {
        size_t length = strcspn(from, "*|");
        if (all->choice_count == ISD_CHOICES || length > sizeof all->choices->text)
            return false;
        isd_choice_t *choice = &all->choices[all->choice_count++];
        choice->length = (uint8_t)length;
        memcpy(choice->text, from, length);
        from += length;
        sum += *from == '*' ? (uint32_t)strtoul(from + 1, (char **)&from, 10) : 1;
        choice->below = sum;
    }
    for (size_t i = first; i < all->choice_count; i++)
        all->choices[i].below = (uint32_t)(((uint64_t)all->choices[i].below << 16) / sum);
    *at = (uint16_t)first;
    return from[-1] == '\0';
}

static bool read_text(isd_lines_t *all, const char *word, isd_field_t *field) {
    size_t length = strlen(word);
    if (length > sizeof all->text - all->text_size || islower((unsigned char)*word) || strstr(word, ".."))
        return false;
    *field = (isd_field_t){.kind = TEXT, .at = (uint16_t)all->text_size, .span = (uint32_t)length};
    memcpy(all->text + all->text_size, word, length);
    all->text_size += length;
    return true;
}

/* "temp/F:+5?3%" or "0..360:3", or not a number at all: false. */
static bool read_number(const char *word, isd_field_t *field) {
    size_t length = strcspn(word, "/:");
    int low, high, used = 0;
    int32_t missing = 0;
    *field = (isd_field_t){.kind = VALUE};
    if (sscanf(word, "%d..%d%n", &low, &high, &used) == 2 && (size_t)used == length)
        *field = (isd_field_t){.kind = RANGE, .low = low, .span = (uint32_t)(high - low) + 1};
    else if (!find_value(word, length, &field->at))
        return false;
    word += length;
    if (*word == '/') {
        while (conversions[++field->conversion].name != word[1])
            if (field->conversion == sizeof conversions / sizeof *conversions - 1)
                return false;
        word += 2;
    }
    word += *word == ':';
    while (formats[field->format].name && formats[field->format].name != *word)
        field->format++;
    word += formats[field->format].name != 0;
    field->width = (uint8_t)(*word++ - '0');
    if (*word == '?' && !read_percent(word + 1, &missing))
        return false;
    field->missing = (uint16_t)missing;
    return field->width >= 1 && field->width <= 8 && (missing || !*word);
}

static bool read_field(isd_lines_t *all, char *word, isd_field_t *field) {
    for (char *at = word; (at = strchr(at, '_')); *at = ' ')
        ;
    if (strchr(word, '|')) {
        *field = (isd_field_t){.kind = CHOICE};
        return read_choices(all, word, &field->at);
    }
    if (strcmp(word, "call") == 0)
        *field = (isd_field_t){.kind = CALL};
    else if (*word == 'q' && (!word[1] || !word[2]))
        *field = (isd_field_t){.kind = QUALITY, .at = (uint16_t)(word[1] & 127)};
    else
        return read_number(word, field) || read_text(all, word, field);
    return true;
}

static bool read_fields(isd_lines_t *all, char *text, isd_span_t *fields, err_t *err) {
    fields->first = (uint16_t)all->field_count;
    for (char *word; *(word = facts_word(&text));)
        if (all->field_count == ISD_FIELDS || !read_field(all, word, &all->fields[all->field_count++]))
            return not_understood(word, err);
    fields->count = (uint16_t)(all->field_count - fields->first);
    return true;
}

static bool read_condition(const char *word, isd_condition_t *condition) {
    bool not = *word == '!';
    *condition = (isd_condition_t){.relation = '%'};
    if (read_percent(word, &condition->number))
        return true;
    size_t length = strcspn(word + not, "<>=");
    condition->relation = not ? '!' : word[length];
    word += not +length;
    if (*word && word[1] == '=')
        condition->relation = *word++ == '>' ? 'g' : '?';
    if (*word)
        condition->number = (int32_t)strtol(word + 1, (char **)&word, 10);
    return !*word && condition->relation != '?';
}

bool isd_lines_conditions(isd_lines_t *all, char *text, isd_span_t *conditions, err_t *err) {
    conditions->first = (uint16_t)all->condition_count;
    for (char *word; *(word = facts_word(&text));) {
        isd_condition_t *condition = &all->conditions[all->condition_count++];
        bool not = *word == '!';
        if (all->condition_count == ISD_CONDITIONS || !read_condition(word, condition) ||
            (condition->relation != '%' &&
             !find_value(word + not, strcspn(word + not, "<>="), &condition->value)))
            return not_understood(word, err);
    }
    conditions->count = (uint16_t)(all->condition_count - conditions->first);
    return true;
}

static uint8_t part_of(const char *name) {
    if (strcmp(name, "head") == 0)
        return HEAD;
    if (strcmp(name, "QNN") == 0)
        return ORIGINALS;
    return isdigit((unsigned char)name[1]) ? ELEMENTS : isdigit((unsigned char)name[2]) ? SECTIONS : REMARKS;
}

/* The line of one name, with its digit in place of each #. Without fields it is a section of the format. */
static bool add_line(isd_lines_t *all, const char *name, char digit, const char *when, const char *holds,
                     err_t *err) {
    char conditions[128], fields[1024], *at;
    isd_line_t *line = &all->lines[all->line_count++];
    *line = (isd_line_t){.goes_on = *name == '+', .part = *name == '+' ? HEAD : part_of(name)};
    memcpy(line->name, name, strnlen(name, 3));
    if (digit)
        line->name[2] = digit;
    snprintf(conditions, sizeof conditions, "%s", when);
    snprintf(fields, sizeof fields, "%s", holds ? holds : "");
    for (at = conditions; (at = strchr(at, '#')); *at = digit)
        ;
    for (at = fields; (at = strchr(at, '#')); *at = digit)
        ;
    char *rest = conditions;
    const char *word = facts_word(&rest);
    line->otherwise = strcmp(word, "else") == 0;
    line->section = holds ? NULL : isd_section_of(all->format, line->name);
    if (all->line_count == ISD_LINES || (*word && !line->otherwise && strcmp(word, "if") != 0) ||
        (!holds && !line->section))
        return not_understood(name, err);
    return isd_lines_conditions(all, rest, &line->conditions, err) &&
           read_fields(all, fields, &line->fields, err);
}

/* Behind the ": ", or NULL where there is none; the text then ends there. */
static char *cut_fields(char *text) {
    char *colon = strstr(text, ": ");
    if (colon)
        *colon = '\0';
    return colon ? colon + 2 : NULL;
}

/* The next of "GA1-3,GE1": its last digit, or 0 where there is no "-". */
static char last_digit(const char *name) {
    return strlen(name) == 5 && name[3] == '-' ? name[4] : 0;
}

bool isd_lines_add(isd_lines_t *all, char *text, err_t *err) {
    char *fields = cut_fields(text), *list = facts_word(&text);
    for (char *name; (name = strsep(&list, ","));) {
        char last = last_digit(name), digit = last ? name[2] : '\0';
        do
            if (!add_line(all, name, digit, text, fields, err))
                return false;
        while (digit++ < last);
    }
    return true;
}

bool isd_lines_add_quality(isd_lines_t *all, char *text, err_t *err) {
    char *mix = cut_fields(text);
    return (mix && read_choices(all, mix, &all->mixes[*text & 127])) || not_understood(text, err);
}
