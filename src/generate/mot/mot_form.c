#include "generate/mot/mot_form.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char *const columns[] = {
    "test_id",     "vehicle_id",   "test_date",         "test_class_id",  "test_type",
    "test_result", "test_mileage", "postcode_area",     "make",           "model",
    "colour",      "fuel_type",    "cylinder_capacity", "first_use_date", "completed_date"};
enum { COLUMNS = 15 };

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

/* The day of a year, from 0, as MM-DD. */
static void month_and_day(char out[6], bool leap, unsigned day) {
    static const uint8_t days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    unsigned month = 0;
    for (;; month++) {
        unsigned length = days[month] + (leap && month == 1 ? 1u : 0u);
        if (day < length)
            break;
        day -= length;
    }
    snprintf(out, 6, "%02u-%02u", (month + 1) % 100, (day + 1) % 100);
}

char *mot_put_date(char *to, const mot_release_t *release, unsigned year, unsigned day) {
    char date[16], ending[6];
    month_and_day(ending, mot_is_leap(year), day);
    snprintf(date, sizeof date, "%04u-%s", year % 10000, ending);
    return mot_put_text(to, release, date);
}

mot_chunk_t mot_text_chunk(const mot_release_t *release, const char *text) {
    mot_chunk_t chunk = {.length = 0};
    assert(strlen(text) + 3 <= sizeof chunk.text);
    chunk.length = (uint8_t)(mot_put_text(chunk.text, release, text) - chunk.text);
    return chunk;
}

mot_chunk_t mot_date_chunk(const mot_release_t *release, unsigned year, unsigned day) {
    mot_chunk_t chunk = {.length = 0};
    chunk.length = (uint8_t)(mot_put_date(chunk.text, release, year, day) - chunk.text);
    return chunk;
}

mot_chunk_t mot_engine_chunk(const mot_release_t *release, mot_fuel_t fuel, unsigned cc) {
    const char *const *codes = release->old_codes ? mot_fuel_codes_old : mot_fuel_codes;
    mot_chunk_t chunk = {.length = 0};
    char *end = mot_put_text(chunk.text, release, codes[fuel]);
    if (cc)
        end += snprintf(end, 6, "%u", cc % 100000);
    *end++ = release->delimiter;
    chunk.length = (uint8_t)(end - chunk.text);
    return chunk;
}

mot_name_t mot_name_chunk(const mot_release_t *release, const char *make, const char *model) {
    mot_name_t name = {.length = 0};
    assert(strlen(make) + strlen(model) + 8 <= sizeof name.text);
    char *end = mot_put_text(name.text, release, make);
    end = mot_put_text(end, release, model);
    name.length = (uint8_t)(end - name.text);
    return name;
}

mot_chunk_t mot_first_use_chunk(const mot_release_t *release, mot_chunk_t date) {
    if (!release->completed)
        date.length--;
    return date;
}

static mot_chunk_t verdict_chunk(const mot_release_t *release, unsigned test_class,
                                 const mot_outcome_t *outcome) {
    mot_chunk_t chunk = {.length = 0};
    char *end = chunk.text;
    *end++ = (char)('0' + test_class);
    *end++ = release->delimiter;
    end = mot_put_text(end, release, outcome->type);
    end = mot_put_text(end, release, outcome->result);
    chunk.length = (uint8_t)(end - chunk.text);
    assert(chunk.length <= sizeof chunk.text);
    return chunk;
}

static void init_dates(mot_form_t *form, const mot_release_t *release) {
    unsigned split = release->quoting == QUOTING_TEXT ? 6 : 5; /* behind the year's dash */
    for (unsigned i = 0; i < MOT_YEARS; i++)
        memcpy(form->year[i], mot_date_chunk(release, MOT_FIRST_YEAR + i, 0).text, split);
    for (unsigned leap = 0; leap < 2; leap++) {
        for (unsigned day = 0; day < 365 + leap; day++) {
            mot_chunk_t date = mot_first_use_chunk(release, mot_date_chunk(release, leap ? 2000 : 2001, day));
            form->day_length = (uint8_t)(date.length - split);
            memcpy(form->day[leap][day], date.text + split, form->day_length);
        }
    }
    form->year_length = (uint8_t)split;
    for (unsigned i = 0; i < MOT_OPEN_MINUTES; i++) {
        unsigned minute = MOT_OPENING_MINUTE + i;
        snprintf(form->minute[i], sizeof form->minute[i], "%02u:%02u:", minute / 60 % 24, minute % 60);
    }
}

static void init_header(mot_form_t *form, const mot_release_t *release) {
    size_t last = release->completed ? COLUMNS - 1 : COLUMNS - 2;
    for (size_t i = 0; i <= last; i++)
        form->header_length +=
            (size_t)snprintf(form->header + form->header_length, sizeof form->header - form->header_length,
                             "%s%c", columns[i], i == last ? '\n' : release->delimiter);
}

void mot_form_init(mot_form_t *form, const mot_release_t *release) {
    *form = (mot_form_t){.release = release};
    for (unsigned c = 0; c < MOT_CLASSES; c++)
        for (unsigned o = 0; release->outcomes[o].type; o++)
            form->verdict[c][o] = verdict_chunk(release, c, &release->outcomes[o]);
    for (unsigned i = 0; mot_colours[i].text; i++)
        form->colour[i] = mot_text_chunk(release, mot_colours[i].text);
    for (unsigned i = 0; mot_areas[i].text; i++)
        form->area[i] = mot_text_chunk(release, mot_areas[i].text);
    for (unsigned i = 0; mot_specials[i].model; i++)
        form->special[i] = mot_name_chunk(release, mot_specials[i].make, mot_specials[i].model);
    init_dates(form, release);
    init_header(form, release);
}
