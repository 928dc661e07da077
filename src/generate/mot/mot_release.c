#include "generate/mot/mot_release.h"
#include "base/suggest.h"

#include <stdio.h>
#include <string.h>

const mot_release_t mot_releases[] = {
    {"2013", 2013, '|', QUOTING_NONE, false, true, false, "NULL"},
    {"2016", 2016, '|', QUOTING_NONE, true, false, false, ""},
    {"2017-first", 2017, ',', QUOTING_NONE, true, false, false, ""},
    {"2017", 2017, '|', QUOTING_NONE, true, false, false, ""},
    {"2020", 2020, ',', QUOTING_NEEDED, true, false, false, ""},
    {"2021", 2021, ',', QUOTING_TEXT, true, false, false, ""},
    {"2023", 2023, '|', QUOTING_NONE, true, false, false, ""},
    {"2024", 2024, ',', QUOTING_NEEDED, true, false, true, ""},
    {.name = NULL},
};

static const char *const columns[MOT_COLUMNS] = {
    "test_id",     "vehicle_id",   "test_date",         "test_class_id",  "test_type",
    "test_result", "test_mileage", "postcode_area",     "make",           "model",
    "colour",      "fuel_type",    "cylinder_capacity", "first_use_date", "completed_date"};

const mot_release_t *mot_release_find(const char *name, err_t *err) {
    enum { MOST_RELEASES = 16 };
    const char *all[MOST_RELEASES], *wanted = name ? name : MOT_USUAL_RELEASE;
    char names[256] = "";
    size_t count = 0, used = 0;
    for (const mot_release_t *release = mot_releases; release->name && count < MOST_RELEASES; release++) {
        if (strcmp(release->name, wanted) == 0)
            return release;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", count ? ", " : "", release->name);
        all[count++] = release->name;
    }
    const char *near = suggest_word(wanted, all, count);
    err_set(err, STATUS_USAGE, "there is no MOT release '%.60s'%s%s%s The releases are %s", wanted,
            near ? "; did you mean " : ".", near ? near : "", near ? "?" : "", names);
    return NULL;
}

unsigned mot_column_of(const char *name) {
    unsigned column = 0;
    while (column < MOT_COLUMNS && strcmp(columns[column], name) != 0)
        column++;
    return column;
}

char *mot_put_header(const mot_release_t *release, char *to) {
    for (unsigned column = 0; column < (release->completed ? MOT_COLUMNS : COMPLETED); column++) {
        to = stpcpy(to, columns[column]);
        *to++ = release->delimiter;
    }
    to[-1] = '\n';
    return to;
}

/* Two letters in the newer files, one in the oldest ones, of which only P and D are known for certain. */
static char old_fuel(const char *fuel) {
    static const char *const others[] = {"HYH", "EDH", "LNN", "GBB", "GDB"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(others[i], fuel, 2) == 0)
            return others[i][2];
    return *fuel;
}

mot_cell_t mot_cell(const mot_release_t *release, mot_column_t column, const char *text) {
    mot_cell_t cell;
    char *to = cell.text, old[] = {old_fuel(text), '\0'};
    bool bare = column <= VEHICLE || column == CLASS || column == MILES || column == CC;
    bool needs = strchr(text, release->delimiter) || strchr(text, '"');
    if (strcmp(text, "NULL") == 0)
        text = release->absent_date;
    if (column == FUEL && release->old_codes)
        text = old;
    bool quoted =
        *text && !bare && (release->quoting == QUOTING_TEXT || (release->quoting == QUOTING_NEEDED && needs));
    if (quoted)
        *to++ = '"';
    for (; *text; text++) {
        if (quoted && *text == '"')
            *to++ = '\\';
        *to++ = *text == '_' ? ' ' : *text == '%' ? '|' : *text == '~' ? '\xC9' : *text;
    }
    if (quoted)
        *to++ = '"';
    *to++ = release->delimiter;
    cell.length = (uint8_t)(to - cell.text);
    return cell;
}
