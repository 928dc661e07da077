#include "generate/mot/mot_release.h"
#include "base/suggest.h"
#include "generate/shared/calendar.h"

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

const mot_release_t *mot_release_find(const char *name, err_t *err) {
    enum { MOST_RELEASES = 16 };
    const char *all[MOST_RELEASES], *wanted = name ? name : MOT_USUAL_RELEASE;
    char names[256] = "", meant[64] = "";
    size_t count = 0, used = 0;
    for (const mot_release_t *release = mot_releases; release->name && count < MOST_RELEASES; release++) {
        if (strcmp(release->name, wanted) == 0)
            return release;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", count ? ", " : "", release->name);
        all[count++] = release->name;
    }
    const char *nearest = suggest_word(wanted, all, count);
    if (nearest)
        snprintf(meant, sizeof meant, "; did you mean %s?", nearest);
    err_set(err, STATUS_USAGE, "there is no MOT release '%.60s'%s The releases are %s", wanted,
            nearest ? meant : ".", names);
    return NULL;
}

char *mot_put_text(char *to, const mot_release_t *release, const char *text) {
    bool needs = strchr(text, release->delimiter) || strchr(text, '"');
    bool quoted =
        *text && (release->quoting == QUOTING_TEXT || (release->quoting == QUOTING_NEEDED && needs));
    if (quoted)
        *to++ = '"';
    for (; *text; text++) {
        if (quoted && *text == '"')
            *to++ = '\\';
        *to++ = *text;
    }
    if (quoted)
        *to++ = '"';
    *to++ = release->delimiter;
    return to;
}

mot_chunk_t mot_chunk_of(const mot_release_t *release, const char *text, mot_field_t field) {
    /* two letters of the newer files, one of the oldest ones, of which only P and D are known for certain */
    static const char *const others[] = {"HYH", "EDH", "LNN", "GBB", "GDB"};
    char old[] = {*text, '\0'};
    mot_release_t bare = *release;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(others[i], text, 2) == 0)
            *old = others[i][2];
    bare.quoting = field == MOT_NUMBER ? QUOTING_NONE : bare.quoting;
    mot_chunk_t chunk;
    char *end = mot_put_text(chunk.text, &bare, field == MOT_FUEL && release->old_codes ? old : text);
    chunk.length = (uint8_t)(end - chunk.text);
    return chunk;
}

mot_chunk_t mot_date_of(const mot_release_t *release, int32_t year, int32_t day) {
    date_t date = calendar_date(calendar_new_year(year) + day);
    char text[16];
    snprintf(text, sizeof text, "%04u-%02u-%02u", (unsigned)date.year % 10000, (unsigned)date.month % 100,
             (unsigned)date.day % 100);
    return mot_chunk_of(release, text, MOT_TEXT);
}

mot_name_t mot_name_of(const mot_release_t *release, const char *make, const char *model) {
    mot_name_t name;
    name.length = (uint8_t)(mot_put_text(mot_put_text(name.text, release, make), release, model) - name.text);
    return name;
}
