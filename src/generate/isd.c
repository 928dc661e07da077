/* isd: which reports stations send, when, and the records that hold them.
 *
 * The facts isd-reports, which explain their words, become reports of lines of operations: conditions that must hold, then
 * fields to be written. A line of several names is a line for each. A section whose line has no fields gets
 * made-up ones, by the format isd. */
#include "generate/isd.h"
#include "format/format.h"
#include "generate/generate.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STATIONS = 100000, MOST_A_STATION = 150000 };
enum { LINES = 2048, OPERATIONS = 6144, CHOICES = 6144, TEXT = 1 << 14, REPORTS = 64, LETS = 32 };
enum { LINE_LENGTH = 1024 }; /* no line has more of anything */

/* A condition holds when a value, or a random number below 1,000, lies between `low` and `high`. The other operations write
 * fields: a value, a number from a range, one of some texts, the quality of the value before it, or the call sign. */
enum { CHANCE, VALUE, RANGE, CHOICE, QUALITY, CALL };

typedef struct {
    uint8_t kind, width, format, unit;
    uint16_t at;      /* of its value, or first choice */
    uint16_t missing; /* of 1,000 */
    int32_t low, high;
} operation_t;

typedef struct {
    char name[4];
    uint8_t part;
    bool goes_on, otherwise; /* "+"; "else" */
    size_t first, conditions, fields;
} line_t;

/* Drawn by 16 random bits: the first one whose bound is above them. */
typedef struct {
    uint32_t below;
    uint16_t at, length; /* of its text */
} choice_t;

typedef struct {
    const char *name; /* of lines that several reports have */
    size_t first, count;
} lines_t;

typedef struct {
    int32_t minute, last_minute; /* one of them */
    char usual;                  /* quality */
    size_t condition, conditions;
    lines_t lines;
} report_t;

typedef struct {
    uint64_t records, row, station_end; /* the next record, and the first of the next station */
    uint32_t stations, next_station;
    uint64_t stations_key;
    isd_weather_t weather; /* with the station and the time */
    size_t report;         /* the next one of the station in this hour */
    int32_t minute;        /* from which on it may be */
    const report_t *due;
    bool by_file;
    char file[32]; /* its name */
    odd_plan_t odd;

    facts_t stations_file, reports_file;
    schema_t *format; /* isd: what sections there are */
    size_t kind_count, event_count, report_count, let_count, line_count, operation_count, choice_count,
        text_size;
    isd_kind_t kinds[ISD_KINDS];
    isd_event_t events[ISD_EVENTS];
    report_t reports[REPORTS]; /* of a kind: in the order of an hour's minutes */
    lines_t lets[LETS];
    line_t lines[LINES];
    operation_t operations[OPERATIONS];
    choice_t choices[CHOICES];
    uint16_t mixes[128]; /* by quality: its first choice */
    char text[TEXT];
    const char *wrong; /* the first words that were not understood, or found no room */
} isd_t;

enum { HEAD, SECTIONS, REMARKS, ELEMENTS, ORIGINALS };
static const char markers[][4] = {"", "ADD", "REM", "EQD", "QNN"};
enum { LENGTH = 3 }; /* digits before the fields of a remark */

/* How a number is written: a sign before it, which may take a place of its width. */
enum { ALWAYS_SIGNED, UNSIGNED = 4 };
static const char format_names[] = "+-sm";
static const struct {
    char minus, plus;
    bool inside;
} formats[] = {{'-', '+', true}, {'-', 0, true}, {'1', '0', true}, {'M', 0, false}, {0}};

/* (number * times + plus) / by, rounded, and that taken `then` times. */
static const char unit_names[] = " FCWIi";
static const struct {
    int32_t times, plus, by, then;
} units[] = {{1, 0, 1, 1},   {18, 3200, 100, 1},   {1, 0, 10, 1},
             {1, 0, 10, 10}, {10000, 0, 33864, 1}, {100, 0, 254, 1}};

/* ---- writing ---- */

static char *put_number(char *to, const operation_t *field, int64_t number) {
    unsigned width = field->width;
    if (number == ISD_MISSING) {
        memset(to, '9', width);
        if (field->format == ALWAYS_SIGNED)
            *to = '+';
        return to + width;
    }
    if (field->unit)
        number = whole_rounded(number * units[field->unit].times + units[field->unit].plus,
                               units[field->unit].by) *
                 units[field->unit].then;
    char sign = number < 0 ? formats[field->format].minus : formats[field->format].plus;
    if (sign) {
        *to++ = sign;
        width -= formats[field->format].inside;
    }
    return digits_put(to, (uint32_t)llabs(number), width);
}

static char *put_choice(isd_t *isd, uint16_t first, char *to) {
    const choice_t *choice = &isd->choices[first];
    if (choice->below <= 0xffff)
        for (uint64_t bits = chance_next(&isd->weather.chance) & 0xffff; bits >= choice->below;)
            choice++;
    return mempcpy(to, isd->text + choice->at, choice->length);
}

static bool holds(isd_t *isd, size_t first, size_t count) {
    for (const operation_t *at = isd->operations + first, *end = at + count; at < end; at++) {
        int32_t value = at->kind == CHANCE ? isd_below(&isd->weather, 1000) : isd->weather.value[at->at];
        if (value < at->low || value > at->high)
            return false;
    }
    return true;
}

static char *put_fields(isd_t *isd, const line_t *line, char *to) {
    bool missing = false; /* was the value written last? */
    const operation_t *field = isd->operations + line->first + line->conditions, *end = field + line->fields;
    for (; field < end; field++) {
        int32_t number = ISD_MISSING;
        if (field->kind == CHOICE) {
            to = put_choice(isd, field->at, to);
        } else if (field->kind == CALL) {
            to = mempcpy(to, isd->weather.station.call, sizeof isd->weather.station.call);
        } else if (field->kind == QUALITY) {
            *to = '9';
            to = missing ? to + 1
                         : put_choice(isd, isd->mixes[field->at ? field->at : isd->due->usual & 127], to);
        } else {
            if (!field->missing || isd_below(&isd->weather, 1000) >= field->missing)
                number =
                    field->kind == VALUE
                        ? isd->weather.value[field->at]
                        : field->low + isd_below(&isd->weather, (uint32_t)(field->high - field->low) + 1);
            to = put_number(to, field, number);
        }
        missing = field->kind <= RANGE && number == ISD_MISSING;
    }
    return to;
}

static char *put_lines(isd_t *isd, char *to) {
    bool open = false, said = false;
    uint8_t part = HEAD;
    char *remark = NULL; /* the fields of the one that is being written */
    const line_t *line = isd->lines + isd->due->lines.first;
    for (const line_t *end = line + isd->due->lines.count; line < end; line++) {
        bool says = (!line->goes_on || open) && !(line->otherwise && said) &&
                    holds(isd, line->first, line->conditions);
        said = says || (line->otherwise && said);
        open = line->goes_on ? open : says;
        if (!says)
            continue;
        if (!line->goes_on) {
            to = stpcpy(line->part == part ? to : stpcpy(to, markers[line->part]), line->name);
            part = line->part;
            remark = part == REMARKS ? to += LENGTH : NULL;
        }
        to = put_fields(isd, line, to);
        if (remark)
            digits_put(remark - LENGTH, (uint32_t)(to - remark), LENGTH);
    }
    return to;
}

/* ---- reading ---- */

/* Notes the first words of the facts that are a mistake. No input of a user leads here. */
static void refuse(isd_t *isd, const char *words) {
    if (!isd->wrong)
        isd->wrong = strdup(words);
}

#define NAME(name, value) #name,

/* ISD_VALUE_COUNT: there is none of that name. */
static uint16_t value_named(const char *name) {
    static const char *const names[] = {ISD_VALUES(NAME)};
    uint16_t value = 0;
    while (value < ISD_VALUE_COUNT && strcmp(names[value], name) != 0)
        value++;
    return value;
}

/* "2%" or "0.2%", in thousandths. */
static int32_t permille(const char *percent) {
    double number = 0;
    number_read(percent, strlen(percent), &number);
    return (int32_t)(number * 10 + 0.5);
}

/* "text*share|text*share"; a share that is not given is 1. Returns the first one. */
static uint16_t read_choices(isd_t *isd, char *from) {
    const size_t first = isd->choice_count;
    uint32_t sum = 0;
    for (char *one; (one = strsep(&from, "|")); isd->choice_count++) {
        char *text = strsep(&one, "*");
        size_t length = strlen(text);
        sum += one ? (uint32_t)strtoul(one, NULL, 10) : 1;
        isd->choices[isd->choice_count] =
            (choice_t){.below = sum, .at = (uint16_t)isd->text_size, .length = (uint16_t)length};
        memcpy(isd->text + isd->text_size, text, length);
        isd->text_size += length;
    }
    for (size_t i = first; i < isd->choice_count; i++)
        isd->choices[i].below = (uint32_t)(((uint64_t)isd->choices[i].below << 16) / sum);
    return (uint16_t)first;
}

/* "temp/F:+5?3%" or "0..360:3" */
static void read_number(isd_t *isd, char *word, operation_t *field) {
    char *missing = word, *shape = strsep(&missing, "?"), *unit;
    unit = strsep(&shape, ":");
    strsep(&unit, "/");
    *field = (operation_t){.kind = VALUE, .at = value_named(word), .missing = 0};
    if (missing)
        field->missing = (uint16_t)permille(missing);
    if (sscanf(word, "%d..%d", &field->low, &field->high) == 2)
        field->kind = RANGE;
    if (unit)
        field->unit = (uint8_t)strcspn(unit_names, unit);
    field->format = (uint8_t)strcspn(format_names, shape ? (char[]){*shape, '\0'} : "");
    field->width = (uint8_t)(shape ? shape[field->format < UNSIGNED] - '0' : 0);
    if (field->width - 1u > 7 || !unit_names[field->unit] ||
        (field->kind == VALUE && field->at == ISD_VALUE_COUNT))
        refuse(isd, word);
}

static void read_field(isd_t *isd, char *word, operation_t *field) {
    for (char *at = word; (at = strchr(at, '_')); *at = ' ')
        ;
    bool any_text = strchr(word, '|') || !(islower((unsigned char)*word) || strstr(word, ".."));
    if (strcmp(word, "call") == 0)
        *field = (operation_t){.kind = CALL};
    else if (*word == 'q' && (!word[1] || !word[2]))
        *field = (operation_t){.kind = QUALITY, .at = (uint16_t)(word[1] & 127)};
    else if (any_text)
        *field = (operation_t){.kind = CHOICE, .at = read_choices(isd, word)};
    else
        read_number(isd, word, field);
}

/* "temp<0", "calm" (above 0), "!calm" (0), "40%" */
static void read_condition(isd_t *isd, char *word, operation_t *condition) {
    *condition = (operation_t){.kind = VALUE, .low = 1, .high = INT32_MAX};
    if (strchr(word, '%')) {
        *condition = (operation_t){.kind = CHANCE, .high = permille(word) - 1};
        return;
    }
    if (*word == '!')
        condition->low = condition->high = 0;
    char *name = word + (*word == '!'), *end = name + strcspn(name, "<>="), relation = *end;
    if (relation) {
        bool or_equal = end[1] == '=';
        int32_t number = (int32_t)strtol(end + 1 + or_equal, NULL, 10);
        condition->low = relation == '<' ? INT32_MIN : number + (relation == '>' && !or_equal);
        condition->high = relation == '<' ? number - 1 : relation == '=' ? number : INT32_MAX;
        *end = '\0';
    }
    if ((condition->at = value_named(name)) == ISD_VALUE_COUNT)
        refuse(isd, word);
}

/* Returns how many there are. */
static size_t read_conditions(isd_t *isd, char *text) {
    const size_t first = isd->operation_count;
    for (char *word; *(word = facts_word(&text));)
        read_condition(isd, word, &isd->operations[isd->operation_count++]);
    return isd->operation_count - first;
}

/* Numbers below a twentieth of what the field has room for, of which few are missing. */
static operation_t any_field(const field_t *field) {
    bool sign = field->sign == SIGN_ALWAYS, quality = field->width == 1 && strcasestr(field->name, "quality");
    operation_t any = {
        .kind = RANGE, .width = (uint8_t)field->width, .low = quality, .high = quality ? 1 : 9};
    for (int digits = field->width - sign; digits > 2; digits--)
        any.high = (any.high + 1) * (digits == 3 ? 5 : 10) - 1;
    any.format = sign ? ALWAYS_SIGNED : UNSIGNED;
    any.missing = field->nulls.count ? 20 : 0;
    return any;
}

static void add_section(isd_t *isd, line_t *line) {
    const section_t *section = isd->format->sections, *end = section + isd->format->section_count;
    while (section < end && !section_lists(section, line->name))
        section++;
    if (section == end)
        return refuse(isd, line->name);
    for (size_t i = 0; i < section->field_count; i++)
        isd->operations[isd->operation_count++] = any_field(&section->fields[i]);
}

static uint8_t part_of(const char *name) {
    if (*name == '+' || islower((unsigned char)*name))
        return HEAD;
    if (strcmp(name, "QNN") == 0)
        return ORIGINALS;
    return isdigit((unsigned char)name[1]) ? ELEMENTS : isdigit((unsigned char)name[2]) ? SECTIONS : REMARKS;
}

/* " if layers>=#: okta#:2 q", after a name; its digit in place of each #. Without fields it is a section of the format. */
static void add_line(isd_t *isd, const char name[4], const char *after) {
    char text[LINE_LENGTH], *when = text, *fields;
    if (isd->line_count == LINES || isd->operation_count + LINE_LENGTH > OPERATIONS ||
        isd->choice_count + LINE_LENGTH > CHOICES || isd->text_size + LINE_LENGTH > TEXT ||
        strlen(after) >= sizeof text)
        return refuse(isd, after);
    strcpy(text, after);
    for (char *at = text; (at = strchr(at, '#')); *at = name[2])
        ;
    if ((fields = strstr(text, ": ")))
        *fields++ = '\0';
    const char *word = facts_word(&when);
    line_t *line = &isd->lines[isd->line_count++];
    *line = (line_t){.part = part_of(name), .goes_on = *name == '+', .otherwise = strcmp(word, "else") == 0};
    if (line->part != HEAD && line->part != ORIGINALS)
        memcpy(line->name, name, sizeof line->name);
    line->first = isd->operation_count;
    line->conditions = read_conditions(isd, when);
    if (!fields)
        add_section(isd, line);
    for (char *field; fields && *(field = facts_word(&fields));)
        read_field(isd, field, &isd->operations[isd->operation_count++]);
    line->fields = isd->operation_count - line->first - line->conditions;
}

/* Of each of the names in "GA1-3,GE1". */
static void add_lines(isd_t *isd, const char *text) {
    const char *after = text + strcspn(text, " :");
    for (const char *at = text; at < after; at += strcspn(at, ",") + 1) {
        char name[4] = "";
        for (size_t i = 0; i < 3 && !strchr(", :-", at[i]); i++)
            name[i] = at[i];
        char last = name[2] && at[3] == '-' ? at[4] : name[2];
        do
            add_line(isd, name, after);
        while (name[2]++ < last);
    }
}

/* "US-airport 1-51 5 if unsettled" */
static lines_t *begin_report(isd_t *isd, char *rest) {
    report_t *report = &isd->reports[isd->report_count++];
    const char *name = facts_word(&rest);
    isd_kind_t *kind = isd->kinds;
    while (kind < isd->kinds + isd->kind_count && strcmp(kind->name, name) != 0)
        kind++;
    if (kind == isd->kinds + isd->kind_count)
        refuse(isd, name);
    if (!kind->reports++)
        kind->first = isd->report_count - 1;
    facts_range(&rest, &report->minute, &report->last_minute);
    report->usual = *facts_word(&rest);
    facts_word(&rest);
    report->condition = isd->operation_count;
    report->conditions = read_conditions(isd, rest);
    return &report->lines;
}

static void use(isd_t *isd, const char *name) {
    const lines_t *let = isd->lets;
    while (let < isd->lets + isd->let_count && strcmp(let->name, name) != 0)
        let++;
    if (let == isd->lets + isd->let_count || let->count > LINES - isd->line_count)
        return refuse(isd, name);
    memcpy(isd->lines + isd->line_count, isd->lines + let->first, let->count * sizeof *isd->lines);
    isd->line_count += let->count;
}

static void read_reports(isd_t *isd) {
    lines_t none = {.count = 0}, *lines = &none; /* of what was begun last */
    for (char *line; (line = facts_line(&isd->reports_file));) {
        char *rest = line + strcspn(line, " ");
        bool lets = strncmp(line, "let ", 4) == 0, reports = strncmp(line, "report ", 7) == 0;
        if (lets || reports) {
            lines = lets ? &isd->lets[isd->let_count++] : begin_report(isd, rest);
            lines->name = rest + 1;
            lines->first = isd->line_count;
        } else if (strncmp(line, "quality ", 8) == 0) { /* "quality 5: 5*9935|1*34" */
            isd->mixes[rest[1] & 127] = read_choices(isd, rest + 4);
        } else if (strncmp(line, "use ", 4) == 0) {
            use(isd, rest + 1);
        } else {
            add_lines(isd, line);
        }
        lines->count = isd->line_count - lines->first;
    }
}

static void read_stations(isd_t *isd) {
    for (char *rest; (rest = facts_line(&isd->stations_file));) {
        const char *word = facts_word(&rest);
        if (strcmp(word, "odd") == 0) {
            odd_add(&isd->odd, rest);
        } else if (strcmp(word, "event") == 0) {
            isd_event_t *event = &isd->events[isd->event_count++];
            for (int32_t *number = &event->ww; number <= &event->cold; number++)
                *number = facts_number(&rest);
        } else {
            isd_kind_t *kind = &isd->kinds[isd->kind_count++];
            *kind = (isd_kind_t){.name = word, .flags = facts_word(&rest), .call = facts_word(&rest)};
            for (int32_t *number = &kind->share; number <= &kind->a_day; number++)
                *number = facts_number(&rest);
        }
    }
}

/* ---- when ---- */

/* Begins at a random time such that all records of the station fit into the years of its kind. */
static void begin_at(isd_weather_t *weather, uint64_t records) {
    const isd_kind_t *kind = weather->station.kind;
    uint64_t days = records / (uint64_t)kind->a_day + 1;
    int32_t spare = kind->last_year - kind->first_year + 1 - (int32_t)isd_years(kind, records);
    int32_t year = kind->first_year + isd_below(weather, (uint32_t)spare + 1);
    calendar_days((uint32_t)year, 1, 1, &weather->days);
    if (days < 365)
        weather->days += isd_below(weather, (uint32_t)(366 - days));
    weather->hour = strchr(kind->flags, 'M') != NULL; /* its first midnight would belong to the year before */
}

static void enter_station(isd_t *isd) {
    uint32_t number = isd->next_station++;
    uint64_t count = isd->records / isd->stations + (number < isd->records % isd->stations);
    isd->weather = (isd_weather_t){.events = isd->events, .event_count = isd->event_count};
    isd->weather.station = isd_station_of(isd->kinds, number, isd->stations, count, isd->stations_key);
    isd->weather.chance = isd->weather.station.key;
    isd->station_end = isd->row + count;
    isd->report = 0;
    isd->minute = 0;
    begin_at(&isd->weather, count);
    isd_weather_begin(&isd->weather);
}

/* True if the report comes up from isd->minute on; then the weather has its minute. */
static bool comes_up(isd_t *isd, const report_t *report) {
    int32_t minute = whole_larger(report->minute, isd->minute), left = report->last_minute - minute;
    if (left < 0)
        return false;
    isd_weather_minute(&isd->weather, minute + isd_below(&isd->weather, (uint32_t)left + 1));
    return holds(isd, report->condition, report->conditions);
}

/* Goes on to the next report that is due; false after the last record. */
static bool find_due(isd_t *isd) {
    if (isd->due || isd->row == isd->records)
        return isd->due;
    if (isd->row == isd->station_end)
        enter_station(isd);
    const isd_kind_t *kind = isd->weather.station.kind;
    while (!isd->due) {
        const report_t *report = isd->reports + kind->first + isd->report;
        if (isd->report == kind->reports) {
            isd_weather_next(&isd->weather);
            isd->report = 0;
            isd->minute = 0;
            continue;
        }
        if (comes_up(isd, report))
            isd->due = report;
        isd->report++;
    }
    isd->minute = isd->weather.value[ISD_minute];
    return true;
}

/* ---- a record ---- */

/* Bytes of a record: its place for a length, ids and time; all that every record has. */
enum { LEAD = 4 + 11 + 12, IDS_AND_YEAR = 11 + 4, FIXED = 105 };

/* Midnight is 00:00 of the day, or 24:00 of the day before. */
static void put_ids_and_time(const isd_t *isd, char *to) {
    const isd_weather_t *weather = &isd->weather;
    date_t date = weather->date;
    int32_t clock = weather->hour * 100 + weather->value[ISD_minute];
    if (!clock && strchr(weather->station.kind->flags, 'M') && calendar_date(weather->days - 1, &date))
        clock = 2400;
    to = mempcpy(to, weather->station.ids, sizeof weather->station.ids - 1);
    to = digits_put(to, date.year * 10000 + date.month * 100 + date.day, 8);
    digits_put(to, (uint32_t)clock, 4);
}

/* Changes the text at an offset (place), or checks it: see odd_change_t. */
static bool change(void *record, char asks, const char *place, const char *text) {
    char *there = (char *)record + strtoul(place, NULL, 10);
    if (asks)
        return (strncmp(there, text, strlen(text)) == 0) == (asks == '?');
    memcpy(there, text, strlen(text));
    return true;
}

/* The ids and the year are those of the file. */
static bool next_file(void *maker, char *name) {
    isd_t *isd = maker;
    isd->by_file = find_due(isd);
    if (!isd->by_file)
        return false;
    put_ids_and_time(isd, isd->file);
    snprintf(name, GENERATE_NAME_SIZE, "%.6s-%.5s-%.4s", isd->file, isd->file + 6, isd->file + 11);
    return true;
}

static char *put_row(void *maker, char *to) {
    isd_t *isd = maker;
    if (!find_due(isd))
        return NULL;
    put_ids_and_time(isd, to + 4);
    if (isd->by_file && memcmp(to + 4, isd->file, IDS_AND_YEAR) != 0)
        return NULL;
    char *end = put_lines(isd, to + LEAD);
    digits_put(to, (uint32_t)(end - to - FIXED), 4);
    if (__builtin_expect(isd->row == isd->odd.next, 0))
        odd_apply(&isd->odd, change, to);
    isd->row++;
    isd->due = NULL;
    *end++ = '\n';
    return end;
}

/* ---- a maker ---- */

static uint64_t stations_of(const generate_t *what) {
    uint64_t usual = what->count < GENERATE_ISD_STATIONS ? what->count : GENERATE_ISD_STATIONS;
    return what->stations ? what->stations : usual;
}

static bool check(const generate_t *what, err_t *err) {
    char records[UNITS_MAX], some[UNITS_MAX], most[UNITS_MAX], each[UNITS_MAX];
    uint64_t stations = stations_of(what);
    if (stations <= MOST_STATIONS && stations <= what->count && what->count <= stations * MOST_A_STATION)
        return true;
    return err_set(err, STATUS_USAGE,
                   "%s records cannot come from %s stations: at most %s stations have ids of their own, and "
                   "each sends 1 to %s records; change --stations or --rows, or make several files",
                   units_count(records, what->count), units_count(some, stations),
                   units_count(most, MOST_STATIONS), units_count(each, MOST_A_STATION));
}

static char *begin(void *maker, const generate_t *what, char *to, err_t *err) {
    isd_t *isd = maker;
    uint64_t key = chance_bits(what->seed, 1901);
    isd->records = what->count;
    odd_init(&isd->odd, chance_bits(key, 2));
    isd->stations = (uint32_t)stations_of(what);
    isd->stations_key = chance_bits(key, 1);
    if (!facts_open(&isd->stations_file, "isd-stations", err) ||
        !facts_open(&isd->reports_file, "isd-reports", err) || !(isd->format = format_open("isd", err)))
        return NULL;
    read_stations(isd);
    read_reports(isd);
    if (!isd->wrong)
        return to;
    err_set(err, STATUS_USAGE, "the data of generated weather cannot be understood at '%s'", isd->wrong);
    return NULL;
}

static void end(void *maker) {
    isd_t *isd = maker;
    free(isd->stations_file.text);
    free(isd->reports_file.text);
    free((char *)isd->wrong);
    schema_destroy(isd->format);
}

const generate_kind_t generate_isd = {"isd", "records", sizeof(isd_t), UINT64_MAX, check,
                                      begin, put_row,   end,           next_file};
