#include "generate/isd/isd_odd.h"

#include <stdlib.h>

enum { FIXED = 105 };

typedef struct {
    char *record, *end;
    const isd_world_t *world;
    isd_scene_t *scene;
    int32_t more;
} odd_record_t;

static bool is(const char *at, const char *text) {
    return memcmp(at, text, strlen(text)) == 0;
}

/* The end of the sections, where the next part begins; and the place for an identifier, or NULL where it is. */
static char *find_place(const odd_record_t *odd, const char *id, char **sections_end) {
    char *at = odd->record + FIXED, *place = NULL;
    bool taken = false;
    if (at < odd->end && is(at, "ADD")) {
        for (at += 3; at < odd->end && !is(at, "REM") && !is(at, "EQD") && !is(at, "QNN");) {
            int order = memcmp(at, id, 3);
            taken |= order == 0;
            if (order > 0 && !place)
                place = at;
            at += 3 + isd_section_of(odd->world, at)->width;
        }
    }
    *sections_end = at;
    return taken ? NULL : place ? place : at;
}

static void insert(odd_record_t *odd, char *place, const char *text, size_t length) {
    memmove(place + length, place, (size_t)(odd->end - place));
    memcpy(place, text, length);
    odd->end += length;
}

/* The section and its identifier; false where it is already. */
static bool insert_section(odd_record_t *odd, const char *section, size_t length) {
    char *sections_end, *place = find_place(odd, section, &sections_end);
    if (!place)
        return false;
    insert(odd, place, section, length);
    if (sections_end == odd->record + FIXED) /* there was none */
        insert(odd, place, "ADD", 3);
    return true;
}

static bool add_section(odd_record_t *odd, const char *id, uint64_t turn) {
    const isd_section_t *section = isd_section_of(odd->world, id);
    char text[128 + ISD_PICTURE_SLACK];
    memcpy(text, id, 3);
    text[2] = (char)(text[2] + (int)(turn % section->members));
    char *end = isd_picture_put(odd->world->pictures, section->picture, odd->scene, text + 3);
    return insert_section(odd, text, (size_t)(end - text));
}

/* One change of what is there; false when the record is not one for it. */
static bool change(odd_record_t *odd, const char *place, const char *text) {
    char *sections_end;
    bool asks = *place == '?' || *place == '!', fits;
    char *at = odd->record + strtoul(place + asks, NULL, 10);
    if (asks)
        return is(at, text) == (*place == '?');
    switch (*place) {
    case 'c': /* count, cut */
        if (place[1] == 'u')
            odd->end = odd->record + FIXED;
        else
            odd->more = (int32_t)strtol(text, NULL, 10);
        return place[1] == 'u' || odd->end > odd->record + FIXED;
    case 'e': /* end */
        find_place(odd, "AA1", &sections_end);
        fits = sections_end == odd->end;
        insert(odd, odd->end, text, fits ? strlen(text) : 0);
        return fits;
    default:
        memcpy(at, text, strlen(text));
        return true;
    }
}

static bool apply(void *row, odd_t *odd) {
    odd_record_t *record = row;
    char place[ODD_WORD], text[ODD_WORD];
    if (strlen(odd->text) == 3)
        return add_section(record, odd->text, odd->turn);
    for (const char *at = odd->text; odd_change(odd, &at, place, text);)
        if (!change(record, place, text))
            return false;
    return true;
}

char *isd_odd_apply(odd_plan_t *odd, const isd_world_t *world, isd_scene_t *scene, char *record, char *end,
                    int32_t *more) {
    odd_record_t one = {.record = record, .end = end, .world = world, .scene = scene};
    odd_apply(odd, apply, &one);
    *more = one.more;
    return one.end;
}
