#include "generate/isd/isd_lines.h"
#include "base/chars/number.h"
#include "format/format.h"
#include "generate/shared/digits.h"
#include "generate/shared/whole.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEAD, SECTIONS, REMARKS, ELEMENTS, ORIGINALS };
static const char markers[][4] = {"", "ADD", "REM", "EQD", "QNN"};
enum { LENGTH = 3 }; /* digits before the fields of a remark */

enum { VALUE, RANGE, CHOICE, QUALITY, CALL };

/* How a number is written: a sign before it, which may take a place of its width. */
enum { ALWAYS_SIGNED, UNSIGNED = 4 };
static const char format_names[] = "+-sm";
static const struct {
    char minus, plus;
    bool inside;
} formats[] = {{'-', '+', true}, {'-', 0, true}, {'1', '0', true}, {'M', 0, false}, {0}};

/* (number * times + plus) / by, rounded, and that taken `then` times. */
static const char conversion_names[] = " FCWIi";
static const struct {
    int32_t times, plus, by, then;
} conversions[] = {{1, 0, 1, 1},   {18, 3200, 100, 1},   {1, 0, 10, 1},
                   {1, 0, 10, 10}, {10000, 0, 33864, 1}, {100, 0, 254, 1}};

enum { MOST_BITS = 0xffff };

#define NAME(name, value) #name,
static const char *const names[] = {ISD_VALUES(NAME)};

/* ---- writing ---- */

static char *put_number(char *to, const isd_field_t *field, int64_t number) {
    unsigned width = field->width;
    if (number == ISD_MISSING) {
        memset(to, '9', width);
        if (field->format == ALWAYS_SIGNED)
            *to = '+';
        return to + width;
    }
    if (field->conversion) {
        number = number * conversions[field->conversion].times + conversions[field->conversion].plus;
        number =
            whole_rounded(number, conversions[field->conversion].by) * conversions[field->conversion].then;
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
    if (choice->below <= MOST_BITS)
        for (uint64_t bits = chance_next(&scene->chance) & MOST_BITS; bits >= choice->below;)
            choice++;
    return mempcpy(to, all->text + choice->at, choice->length);
}

static char *put_field(const isd_lines_t *all, const isd_field_t *field, char usual, isd_scene_t *scene,
                       char *to) {
    bool was_missing = scene->missing;
    scene->missing = false;
    if (field->kind == CHOICE)
        return put_choice(all, field->at, scene, to);
    if (field->kind == CALL)
        return mempcpy(to, scene->call, sizeof scene->call);
    if (field->kind == QUALITY) {
        *to = '9';
        return was_missing ? to + 1
                           : put_choice(all, all->mixes[field->at ? field->at : usual & 127], scene, to);
    }
    int32_t number = field->kind == VALUE ? scene->value[field->at]
                                          : field->low + (int32_t)isd_scene_below(scene, field->span);
    if (field->missing && isd_scene_below(scene, 1000) < field->missing)
        number = ISD_MISSING;
    scene->missing = number == ISD_MISSING;
    return put_number(to, field, number);
}

bool isd_lines_hold(const isd_lines_t *all, isd_span_t conditions, isd_scene_t *scene) {
    const isd_condition_t *at = all->conditions + conditions.first, *end = at + conditions.count;
    for (; at < end; at++) {
        int32_t value =
            at->value == ISD_VALUE_COUNT ? (int32_t)isd_scene_below(scene, 1000) : scene->value[at->value];
        if (value < at->low || value > at->high)
            return false;
    }
    return true;
}

char *isd_lines_put(const isd_lines_t *all, isd_span_t lines, char usual, isd_scene_t *scene, char *to) {
    bool open = false, said = false;
    uint8_t part = HEAD;
    char *remark = NULL; /* the fields of the one that is being written */
    for (const isd_line_t *line = all->lines + lines.first, *end = line + lines.count; line < end; line++) {
        bool says = (!line->goes_on || open) && !(line->otherwise && said) &&
                    isd_lines_hold(all, line->conditions, scene);
        said = says || (line->otherwise && said);
        open = line->goes_on ? open : says;
        if (!says)
            continue;
        if (!line->goes_on) {
            to = stpcpy(line->part == part ? to : stpcpy(to, markers[line->part]), line->name);
            part = line->part;
            remark = part == REMARKS ? to += LENGTH : NULL;
        }
        const isd_field_t *field = all->fields + line->fields.first;
        for (uint16_t i = 0; i < line->fields.count; i++)
            to = put_field(all, &field[i], usual, scene, to);
        if (remark)
            digits_put_into(remark - LENGTH, (uint32_t)(to - remark), LENGTH);
    }
    return to;
}

/* ---- reading ---- */

/* No user can bring that about. */
static void refuse(isd_lines_t *all, const char *word) {
    if (!*all->wrong)
        snprintf(all->wrong, sizeof all->wrong, "%s", word);
}

static bool find_value(const char *name, size_t length, uint16_t *which) {
    for (*which = 0; *which < ISD_VALUE_COUNT; ++*which)
        if (strlen(names[*which]) == length && memcmp(names[*which], name, length) == 0)
            return true;
    return false;
}

/* "2" or "0.2", in thousandths of a hundred. */
static bool read_percent(const char *text, int32_t *permille) {
    double percent = 0;
    const size_t length = number_read(text, strlen(text), &percent);
    *permille = (int32_t)(percent * 10 + 0.5);
    return length && strcmp(text + length, "%") == 0;
}

/* "text*share|text*share"; a share that is not given is 1. Returns the first one. */
static uint16_t read_choices(isd_lines_t *all, const char *from) {
    isd_choice_t *first = all->choices + all->choice_count, *end = all->choices + all->choice_count;
    uint32_t sum = 0;
    for (bool more = true; more; more = *from++ == '|') {
        uint16_t length = (uint16_t)strcspn(from, "*|");
        memcpy(all->text + all->text_size, from, length);
        from += length;
        sum += *from == '*' ? (uint32_t)strtoul(from + 1, (char **)&from, 10) : 1;
        *end++ = (isd_choice_t){.below = sum, .at = (uint16_t)all->text_size, .length = length};
        all->text_size += length;
    }
    if (from[-1])
        refuse(all, from - 1);
    for (isd_choice_t *choice = first; choice < end; choice++)
        choice->below = (uint32_t)(((uint64_t)choice->below << 16) / sum);
    all->choice_count = (size_t)(end - all->choices);
    return (uint16_t)(first - all->choices);
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
        field->conversion = (uint8_t)strcspn(conversion_names, (char[]){word[1], '\0'});
        word += 2;
    }
    word += *word == ':';
    field->format = (uint8_t)strcspn(format_names, (char[]){*word, '\0'});
    word += field->format < UNSIGNED;
    field->width = (uint8_t)(*word++ - '0');
    if (*word == '?' && !read_percent(word + 1, &missing))
        return false;
    field->missing = (uint16_t)missing;
    return field->width >= 1 && field->width <= 8 && conversion_names[field->conversion] &&
           (missing || !*word);
}

static void read_field(isd_lines_t *all, char *word, isd_field_t *field) {
    for (char *at = word; (at = strchr(at, '_')); *at = ' ')
        ;
    bool any_text = strchr(word, '|') || !(islower((unsigned char)*word) || strstr(word, ".."));
    if (strcmp(word, "call") == 0)
        *field = (isd_field_t){.kind = CALL};
    else if (*word == 'q' && (!word[1] || !word[2]))
        *field = (isd_field_t){.kind = QUALITY, .at = (uint16_t)(word[1] & 127)};
    else if (any_text)
        *field = (isd_field_t){.kind = CHOICE, .at = read_choices(all, word)};
    else if (!read_number(word, field))
        refuse(all, word);
}

static void read_fields(isd_lines_t *all, char *text, isd_span_t *fields) {
    fields->first = (uint16_t)all->field_count;
    for (char *word; *(word = facts_word(&text));)
        read_field(all, word, &all->fields[all->field_count++]);
    fields->count = (uint16_t)(all->field_count - fields->first);
}

static const section_t *section_of(const schema_t *format, const char *name) {
    for (const section_t *section = format->sections; section < format->sections + format->section_count;
         section++)
        if (section_lists(section, name))
            return section;
    return NULL;
}

/* Heat and pressure as they are, others below a tenth of what the field has room for; mostly there. */
static isd_field_t any_field(const field_t *field) {
    bool sign = field->sign == SIGN_ALWAYS, heat = strcasestr(field->name, "temperature"),
         pressure = strcasestr(field->name, "pressure") || strcasestr(field->name, "altimeter");
    bool quality = field->width == 1 && strcasestr(field->name, "quality");
    isd_field_t any = {
        .kind = RANGE, .width = (uint8_t)field->width, .low = quality, .span = quality ? 1 : 10};
    for (int digits = field->width - sign; digits > 2; digits--)
        any.span *= 10;
    any.format = sign ? ALWAYS_SIGNED : UNSIGNED;
    any.missing = field->nulls.count ? 20 : 0;
    if ((field->type == TYPE_INT || field->type == TYPE_NUMBER) && (heat || pressure)) {
        any.kind = VALUE;
        any.at = heat ? ISD_temp : ISD_alt;
    }
    return any;
}

/* Of a section of which no line says what it holds. */
static void add_any_fields(isd_lines_t *all, const section_t *section, isd_span_t *fields) {
    *fields = (isd_span_t){(uint16_t)all->field_count, (uint16_t)section->field_count};
    for (size_t i = 0; i < section->field_count; i++)
        all->fields[all->field_count++] = any_field(&section->fields[i]);
}

/* "temp<0", "calm" (above 0), "!calm" (0), "40%" */
static bool read_condition(const char *word, isd_condition_t *condition) {
    bool not = *word == '!';
    size_t length = strcspn(word += not, "<>=");
    char relation = word[length], *end = "";
    bool or_equal = strncmp(word + length, ">=", 2) == 0;
    int32_t number, permille;
    if (read_percent(word, &permille)) {
        *condition = (isd_condition_t){.value = ISD_VALUE_COUNT, .high = permille - 1};
        return true;
    }
    number = relation ? (int32_t)strtol(word + length + 1 + or_equal, &end, 10) : !not ;
    condition->low = relation == '<' ? INT32_MIN : number + (relation == '>' && !or_equal);
    condition->high = relation == '<' ? number - 1 : relation == '=' || not ? number : INT32_MAX;
    return find_value(word, length, &condition->value) && !*end;
}

static void read_conditions(isd_lines_t *all, char *text, isd_span_t *conditions) {
    conditions->first = (uint16_t)all->condition_count;
    for (char *word; *(word = facts_word(&text));)
        if (!read_condition(word, &all->conditions[all->condition_count++]))
            refuse(all, word);
    conditions->count = (uint16_t)(all->condition_count - conditions->first);
}

static bool has_room(const isd_lines_t *all) {
    return all->line_count < ISD_LINES && all->condition_count + ISD_LINE_LENGTH / 2 <= ISD_CONDITIONS &&
           all->field_count + ISD_LINE_LENGTH <= ISD_FIELDS &&
           all->choice_count + ISD_LINE_LENGTH <= ISD_CHOICES && all->text_size + ISD_LINE_LENGTH <= ISD_TEXT;
}

static uint8_t part_of(const char *name) {
    if (*name == '+' || islower((unsigned char)*name))
        return HEAD;
    if (strcmp(name, "QNN") == 0)
        return ORIGINALS;
    return isdigit((unsigned char)name[1]) ? ELEMENTS : isdigit((unsigned char)name[2]) ? SECTIONS : REMARKS;
}

/* " if layers>=#: okta#:2 q", behind a name; its digit in place of each #. Without fields it is a section of the format. */
static void add_line(isd_lines_t *all, const char name[4], const char *behind) {
    char text[ISD_LINE_LENGTH], *when = text;
    snprintf(text, sizeof text, "%s", behind);
    for (char *at = text; (at = strchr(at, '#')); *at = name[2])
        ;
    char *colon = strstr(text, ": ");
    if (!has_room(all) || strlen(behind) >= sizeof text)
        return refuse(all, behind);
    if (colon)
        *colon = '\0';
    const char *word = facts_word(&when);
    isd_line_t *line = &all->lines[all->line_count++];
    *line =
        (isd_line_t){.part = part_of(name), .goes_on = *name == '+', .otherwise = strcmp(word, "else") == 0};
    if (line->part != HEAD && line->part != ORIGINALS)
        memcpy(line->name, name, sizeof line->name);
    if (*word && !line->otherwise && strcmp(word, "if") != 0)
        refuse(all, word);
    read_conditions(all, when, &line->conditions);
    const section_t *section = colon ? NULL : section_of(all->format, name);
    if (colon)
        read_fields(all, colon + 2, &line->fields);
    else if (section)
        add_any_fields(all, section, &line->fields);
    else
        refuse(all, name);
}

/* Of each of the names in "GA1-3,GE1". */
void isd_lines_add(isd_lines_t *all, const char *text) {
    const char *behind = text + strcspn(text, " :");
    for (const char *at = text; at < behind; at += strcspn(at, ",") + 1) {
        char name[4] = "";
        for (size_t i = 0; i < 3 && !strchr(", :-", at[i]); i++)
            name[i] = at[i];
        char last = name[2] && at[3] == '-' ? at[4] : name[2];
        do
            add_line(all, name, behind);
        while (name[2]++ < last);
    }
}

/* ---- the data files ---- */

static void read_kind(isd_lines_t *all, const char *name, char *rest) {
    isd_kind_t *kind = &all->kinds[all->kind_count++];
    kind->name = name;
    kind->share = facts_number(&rest);
    facts_range(&rest, &kind->first_year, &kind->last_year);
    facts_range(&rest, &kind->usaf, &kind->usaf_last);
    facts_range(&rest, &kind->wban, &kind->wban_last);
    for (int32_t *number = &kind->south; number <= &kind->a_day; number++) /* in the order of the columns */
        *number = facts_number(&rest);
    kind->flags = facts_word(&rest);
    kind->call = facts_word(&rest);
}

/* "0,3,6-9" */
static uint32_t read_bits(char *word) {
    uint32_t bits = 0;
    for (char *one; (one = strsep(&word, ","));) {
        int32_t low, high;
        facts_range(&one, &low, &high);
        for (; low <= high; low++)
            bits |= 1u << low;
    }
    return bits;
}

/* "US-airport hours 0-23 minute 5-55/5 quality 1 if unsettled" */
static isd_span_t *begin_report(isd_lines_t *all, char *rest) {
    isd_report_t *report = &all->reports[all->report_count++];
    const char *name = facts_word(&rest);
    isd_kind_t *kind = all->kinds;
    while (kind < all->kinds + all->kind_count && strcmp(kind->name, name) != 0)
        kind++;
    if (kind == all->kinds + all->kind_count)
        refuse(all, name);
    if (!kind->reports++)
        kind->first = all->report_count - 1;
    facts_word(&rest);
    report->hours = read_bits(facts_word(&rest));
    facts_word(&rest);
    char *minutes = facts_word(&rest), *every = strchr(minutes, '/');
    report->every = every ? (int32_t)strtol(every + 1, NULL, 10) : 0;
    facts_range(&minutes, &report->minute, &report->last_minute);
    facts_word(&rest);
    report->usual = *facts_word(&rest);
    facts_word(&rest);
    read_conditions(all, rest, &report->conditions);
    return &report->lines;
}

static void use(isd_lines_t *all, const char *name) {
    size_t let = 0;
    while (let < all->let_count && strcmp(all->lets[let].name, name) != 0)
        let++;
    isd_span_t lines = all->lets[let].lines;
    if (let == all->let_count || lines.count > ISD_LINES - all->line_count)
        return refuse(all, name);
    memcpy(all->lines + all->line_count, all->lines + lines.first, lines.count * sizeof *all->lines);
    all->line_count += lines.count;
}

/* Does the line begin with this word? Then it goes on behind it. */
static bool begins(char **line, const char *word) {
    size_t length = strncmp(*line, word, strlen(word)) == 0 ? strlen(word) : 0;
    *line += length;
    return length;
}

static void read_reports(isd_lines_t *all) {
    isd_span_t none = {0, 0}, *lines = &none; /* of what was begun last */
    for (char *line; (line = facts_line(&all->reports_file));) {
        uint16_t count = (uint16_t)all->line_count;
        if (begins(&line, "let ")) {
            all->lets[all->let_count].name = line;
            lines = &all->lets[all->let_count++].lines;
            lines->first = count;
        } else if (begins(&line, "report ")) {
            lines = begin_report(all, line);
            lines->first = count;
        } else if (begins(&line, "quality ")) {
            all->mixes[*line & 127] = read_choices(all, line + strlen("5: "));
        } else if (begins(&line, "use ")) {
            use(all, line);
        } else {
            isd_lines_add(all, line);
        }
        lines->count = (uint16_t)(all->line_count - lines->first);
    }
}

bool isd_lines_open(isd_lines_t *all, odd_plan_t *odd, err_t *err) {
    if (!facts_open(&all->stations_file, "isd-stations", err) ||
        !facts_open(&all->reports_file, "isd-reports", err) || !(all->format = format_open("isd", err)))
        return false;
    for (char *rest; (rest = facts_line(&all->stations_file));) {
        const char *word = facts_word(&rest);
        if (strcmp(word, "odd") == 0)
            odd_add(odd, rest);
        else
            read_kind(all, word, rest);
    }
    read_reports(all);
    return !*all->wrong || err_set(err, STATUS_USAGE,
                                   "the data of generated weather cannot be understood at '%s'", all->wrong);
}

void isd_lines_close(isd_lines_t *all) {
    free(all->stations_file.text);
    free(all->reports_file.text);
    schema_destroy(all->format);
}
