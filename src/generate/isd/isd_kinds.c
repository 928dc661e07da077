#include "generate/isd/isd_kinds.h"

#include <stdio.h>
#include <stdlib.h>

const isd_section_t *isd_section_of(const isd_world_t *world, const char id[3]) {
    const isd_section_t *family = NULL;
    for (const isd_section_t *section = world->section; section < world->section + world->sections;
         section++) {
        if (memcmp(section->id, id, 2) != 0)
            continue;
        if (id[2] >= section->id[2] && id[2] < section->id[2] + section->members)
            return section;
        family = section;
    }
    return family;
}

/* ---- the text of a picture, with the pieces that it names put in ---- */

static void add_text(isd_world_t *world, const char *text, size_t length) {
    size_t room = sizeof world->text - 1 - world->length;
    length = length < room ? length : room;
    memcpy(world->text + world->length, text, length);
    world->length += length;
    world->text[world->length] = '\0';
}

static char digit_of(char letter) {
    return letter >= '1' && letter <= '9' ? letter : 0;
}

/* The last piece of that name, or that of "name#" for a name with a digit behind it; "" when there is none. */
static const char *piece_of(const isd_world_t *world, const char *name, size_t length) {
    for (size_t i = world->pieces; i-- > 0;) {
        const char *other = world->piece[i][0];
        if (strlen(other) == length && memcmp(other, name, length - 1) == 0 &&
            (other[length - 1] == name[length - 1] ||
             (other[length - 1] == '#' && digit_of(name[length - 1]))))
            return world->piece[i][1];
    }
    return "";
}

/* A digit takes the place of each #, unless it is 0. */
static void expand(isd_world_t *world, const char *from, char digit) {
    for (; *from; from++) {
        bool piece = strncmp(from, "{@", 2) == 0, section = strncmp(from, "{=", 2) == 0;
        const char *name = from + 2;
        if (!piece && !section) {
            add_text(world, *from == '#' && digit ? &digit : from, 1);
            continue;
        }
        from = strchr(name, '}');
        add_text(world, name, section ? 3 : 0);
        expand(world,
               section ? isd_section_of(world, name)->text : piece_of(world, name, (size_t)(from - name)),
               digit_of(from[-1]));
    }
}

static bool read_picture(isd_world_t *world, char usual, isd_picture_t *picture, err_t *err) {
    world->length = 0;
    return isd_picture_read(world->pictures, world->text, usual, picture, err);
}

/* ---- the data files ---- */

static void read_sections(isd_world_t *world) {
    for (char *rest; (rest = facts_line(&world->sections_file));)
        for (char *id; *(id = facts_word(&rest));) {
            isd_section_t *section = &world->section[world->sections++];
            memcpy(section->id, id, 3);
            section->members = (uint8_t)(id[3] ? id[4] - id[2] + 1 : 1);
            char *text = facts_word(&rest);
            section->text = text;
            for (; (text = strchr(text, '_')); *text = ' ')
                ;
        }
}

/* "0,3,6-9" */
static uint64_t read_bits(char *word) {
    uint64_t bits = 0;
    for (char *one; (one = strsep(&word, ","));) {
        int32_t low, high;
        facts_range(&one, &low, &high);
        for (; low <= high; low++)
            bits |= UINT64_C(1) << low;
    }
    return bits;
}

static isd_report_t *begin_report(isd_world_t *world, char *rest) {
    const char *name = facts_word(&rest);
    isd_kind_t *kind = world->kind;
    isd_report_t *report = &world->report[world->reports];
    while (strcmp(kind->name, name) != 0)
        kind++;
    if (!kind->reports++)
        kind->first = world->reports;
    char *hours = facts_word(&rest), *minutes = facts_word(&rest);
    report->when = *hours == 'D' ? ISD_AT_DAY_END : *hours == 'M' ? ISD_AT_MONTH_END : ISD_AT_HOURS;
    report->hours = report->when == ISD_AT_HOURS ? read_bits(hours) : 0xffffff;
    report->any_minute = *minutes == '~';
    report->minutes = read_bits(minutes + report->any_minute);
    report->share = (uint32_t)facts_number(&rest);
    report->usual = *facts_word(&rest);
    world->reports++;
    return report;
}

/* "ADD rain A" is "[rain?A]", and "ADD - A" is A; the lines of a part stand together. */
static bool read_reports(isd_world_t *world, err_t *err) {
    static const char *const parts[ISD_PARTS] = {"head", "ADD", "REM", "EQD", "QNN"};
    isd_report_t *report = world->report; /* the last one that was begun */
    size_t part = 0, last = 0;
    for (char *rest; (rest = facts_line(&world->reports_file));) {
        const char *word = facts_word(&rest);
        if (strcmp(word, "let") == 0) {
            world->piece[world->pieces][0] = facts_word(&rest);
            world->piece[world->pieces++][1] = rest;
            continue;
        }
        for (part = 0; part < ISD_PARTS && strcmp(word, parts[part]) != 0;)
            part++;
        if (part != last && world->length && !read_picture(world, report->usual, &report->parts[last], err))
            return false;
        last = part;
        if (part == ISD_PARTS) {
            report = begin_report(world, rest);
            continue;
        }
        char open[64];
        const char *condition = facts_word(&rest);
        bool always = *condition == '-';
        add_text(world, open, always ? 0 : (size_t)snprintf(open, sizeof open, "[%s?", condition));
        expand(world, rest, 0);
        add_text(world, "]", !always);
    }
    return read_picture(world, report->usual, &report->parts[last], err);
}

static void read_kind(isd_world_t *world, const char *name, char *rest) {
    isd_kind_t *kind = &world->kind[world->kinds++];
    kind->name = name;
    kind->share = facts_number(&rest);
    facts_range(&rest, &kind->first_year, &kind->last_year);
    facts_range(&rest, &kind->usaf, &kind->usaf_last);
    facts_range(&rest, &kind->wban, &kind->wban_last);
    for (int32_t *number = &kind->south; number <= &kind->daily; number++) /* in the order of the columns */
        *number = facts_number(&rest);
    kind->flags = facts_word(&rest);
    kind->call = facts_word(&rest);
}

/* Every kind of section comes up once in so many records, at least. */
enum { SECTION_EVERY = 100000 };

static bool make_sections(isd_world_t *world, odd_plan_t *odd, err_t *err) {
    isd_scene_t scene = {.key = 1, .text[ISD_T_au] = isd_text("0000101")};
    char body[128];
    for (isd_section_t *section = world->section; section < world->section + world->sections; section++) {
        expand(world, section->text, '1');
        if (!read_picture(world, '1', &section->picture, err))
            return false;
        section->width = (uint8_t)(isd_picture_put(world->pictures, section->picture, &scene, body) - body);
        odd_add(odd, SECTION_EVERY, section->id);
    }
    return true;
}

bool isd_world_init(isd_world_t *world, odd_plan_t *odd, err_t *err) {
    world->pictures = isd_pictures_new(err);
    if (!world->pictures || !facts_open(&world->sections_file, "isd-sections", err) ||
        !facts_open(&world->stations_file, "isd-stations", err) ||
        !facts_open(&world->reports_file, "isd-reports", err))
        return false;
    for (char *rest; (rest = facts_line(&world->stations_file));) {
        const char *word = facts_word(&rest);
        if (strcmp(word, "odd") == 0)
            odd_read(odd, rest);
        else
            read_kind(world, word, rest);
    }
    read_sections(world);
    return read_reports(world, err) && make_sections(world, odd, err);
}

void isd_world_clear(isd_world_t *world) {
    free(world->pictures);
    free(world->sections_file.text);
    free(world->stations_file.text);
    free(world->reports_file.text);
}
