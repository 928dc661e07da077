#include "generate/isd/isd_world.h"
#include "format/format.h"

#include <stdlib.h>
#include <string.h>

enum { SECTION_EVERY = 100000 };

static void read_kind(isd_world_t *world, const char *name, char *rest) {
    isd_kind_t *kind = &world->kinds[world->kind_count++];
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
static bool begin_report(isd_world_t *world, char *rest, err_t *err) {
    isd_report_t *report = &world->reports[world->report_count++];
    const char *name = facts_word(&rest);
    isd_kind_t *kind = world->kinds;
    while (strcmp(kind->name, name) != 0)
        if (++kind == world->kinds + world->kind_count)
            return err_set(err, STATUS_USAGE, "there is no kind of stations '%s'", name);
    if (!kind->reports++)
        kind->first = world->report_count - 1;
    facts_word(&rest);
    report->hours = read_bits(facts_word(&rest));
    facts_word(&rest);
    char *minutes = facts_word(&rest), *every = strchr(minutes, '/');
    report->every = every ? (int32_t)strtol(every + 1, NULL, 10) : 60;
    facts_range(&minutes, &report->minute, &report->last_minute);
    report->any_minute = !every && report->last_minute > report->minute;
    facts_word(&rest);
    report->usual = *facts_word(&rest);
    facts_word(&rest);
    report->lines.first = (uint16_t)world->all.line_count;
    return isd_lines_conditions(&world->all, rest, &report->conditions, err);
}

static bool use(isd_world_t *world, const char *name, err_t *err) {
    isd_lines_t *all = &world->all;
    for (size_t i = 0; i < world->let_count; i++) {
        isd_span_t lines = world->lets[i].lines;
        if (strcmp(world->lets[i].name, name) != 0 || lines.count > ISD_LINES - all->line_count)
            continue;
        memcpy(all->lines + all->line_count, all->lines + lines.first, lines.count * sizeof *all->lines);
        all->line_count += lines.count;
        return true;
    }
    return err_set(err, STATUS_USAGE, "there are no lines '%s'", name);
}

static bool read_reports(isd_world_t *world, err_t *err) {
    isd_lines_t *all = &world->all;
    isd_span_t *lines = NULL; /* of what was begun last */
    for (char *line; (line = facts_line(&world->reports_file));) {
        char *rest = line;
        bool report = strncmp(line, "report ", 7) == 0, let = strncmp(line, "let ", 4) == 0, ok = true;
        if (strncmp(line, "quality ", 8) == 0)
            ok = isd_lines_add_quality(all, line + 8, err);
        else if (strncmp(line, "use ", 4) == 0)
            ok = use(world, line + 4, err);
        else if (!report && !let)
            ok = isd_lines_add(all, line, err);
        else
            facts_word(&rest);
        if (let) {
            world->lets[world->let_count].name = facts_word(&rest);
            lines = &world->lets[world->let_count++].lines;
            lines->first = (uint16_t)all->line_count;
        } else if (report) {
            ok = begin_report(world, rest, err);
            lines = &world->reports[world->report_count - 1].lines;
        }
        if (!ok)
            return false;
        if (lines)
            lines->count = (uint16_t)(all->line_count - lines->first);
    }
    return true;
}

/* Every kind of section comes up once in so many records, at least. */
static void add_sections(isd_world_t *world, odd_plan_t *odd) {
    size_t count = 0;
    for (const section_t *section = world->format->sections, *end = section + world->format->section_count;
         section < end; section++)
        for (size_t i = 0; i < section->id_count && count < ISD_SECTIONS; i++, count++) {
            char *name = memcpy(world->names[count], section->ids[i].first, SCHEMA_ID);
            name[SCHEMA_ID] = section->ids[i].last_digit;
            odd_add(odd, SECTION_EVERY, name);
        }
}

bool isd_world_init(isd_world_t *world, odd_plan_t *odd, err_t *err) {
    if (!facts_open(&world->stations_file, "isd-stations", err) ||
        !facts_open(&world->reports_file, "isd-reports", err) || !(world->format = format_open("isd", err)))
        return false;
    for (char *rest; (rest = facts_line(&world->stations_file));) {
        const char *word = facts_word(&rest);
        if (strcmp(word, "odd") == 0)
            odd_read(odd, rest);
        else
            read_kind(world, word, rest);
    }
    add_sections(world, odd);
    world->all.format = world->format;
    return read_reports(world, err);
}

void isd_world_clear(isd_world_t *world) {
    free(world->stations_file.text);
    free(world->reports_file.text);
    schema_destroy(world->format);
}
