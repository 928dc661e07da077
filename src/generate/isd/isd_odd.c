#include "generate/isd/isd_odd.h"
#include "generate/write/digits.h"
#include "generate/isd/isd_layouts.h"

#include <stdlib.h>
#include <string.h>

enum { FIXED = 105, SECTION_EVERY = 100000 };

typedef struct {
    char *record, *end;
    isd_scene_t *scene;
    uint64_t turn; /* the how-manieth of its kind */
} odd_record_t;

static bool is(const char *at, const char *text) {
    return memcmp(at, text, strlen(text)) == 0;
}

static bool is_at(const odd_record_t *odd, size_t offset, const char *text) {
    return (size_t)(odd->end - odd->record) >= offset + strlen(text) && is(odd->record + offset, text);
}

static bool is_bare(const odd_record_t *odd) {
    return odd->end == odd->record + FIXED;
}

static void put_at(odd_record_t *odd, size_t offset, const char *text) {
    memcpy(odd->record + offset, text, strlen(text));
}

static void append(odd_record_t *odd, const char *text) {
    memcpy(odd->end, text, strlen(text));
    odd->end += strlen(text);
}

static void append_remark(odd_record_t *odd, const char *kind, const char *text) {
    append(odd, kind);
    odd->end = digits_put_last(odd->end, (uint32_t)strlen(text), 3);
    append(odd, text);
}

/* The end of the sections, where the next part begins; and the place for an identifier, or NULL where it is.
 */
static char *find_place(const odd_record_t *odd, const char *id, char **sections_end) {
    char *at = odd->record + FIXED, *place = NULL;
    bool taken = false;
    if (!is_at(odd, FIXED, "ADD")) {
        *sections_end = at;
        return at;
    }
    for (at += 3; at < odd->end && !is(at, "REM") && !is(at, "EQD") && !is(at, "QNN");) {
        int order = memcmp(at, id, 3);
        taken |= order == 0;
        if (order > 0 && !place)
            place = at;
        at += 3 + isd_layout_of(at)->width;
    }
    *sections_end = at;
    return taken ? NULL : place ? place : at;
}

static bool insert_section(odd_record_t *odd, const char *id, const char *body, size_t width) {
    char *sections_end, *place = find_place(odd, id, &sections_end);
    if (!place)
        return false;
    bool marker = !is_at(odd, FIXED, "ADD");
    size_t more = 3 + width + (marker ? 3 : 0);
    memmove(place + more, place, (size_t)(odd->end - place));
    odd->end += more;
    if (marker) {
        for (const char *letter = "ADD"; *letter; letter++)
            *place++ = *letter;
    }
    memcpy(place, id, 3);
    memcpy(place + 3, body, width);
    return true;
}

/* ---- oddities: each returns false when the record is not one for it ---- */

static bool add_section(odd_record_t *odd, const isd_layout_t *layout, const isd_picture_t *picture) {
    char body[64 + ISD_PICTURE_SLACK], id[3];
    memcpy(id, layout->id, 3);
    id[2] = (char)(id[2] + (int)(odd->turn % layout->members));
    isd_picture_put(picture, odd->scene, body);
    return insert_section(odd, id, body, layout->width);
}

/* Beyond the documented AW4. */
static bool more_weather(odd_record_t *odd) {
    char id[4] = "AW1", *end;
    if (is_bare(odd))
        return false;
    for (; id[2] <= (odd->turn & 1 ? '6' : '5'); id[2]++)
        if (find_place(odd, id, &end))
            insert_section(odd, id, id[2] < '3' ? "615" : "905", 3);
    return true;
}

static bool hour_24(odd_record_t *odd) {
    if (!is_at(odd, 23, "0000") || is_at(odd, 21, "01"))
        return false;
    unsigned day = (unsigned)(odd->record[21] - '0') * 10 + (unsigned)(odd->record[22] - '0') - 1;
    odd->record[21] = (char)('0' + day / 10);
    odd->record[22] = (char)('0' + day % 10);
    put_at(odd, 23, "2400");
    return true;
}

static bool wrong_count(odd_record_t *odd) {
    return !is_bare(odd);
}

static bool no_ids(odd_record_t *odd) { /* a ship */
    char call[6] = "     ";
    uint64_t bits = isd_scene_bits(odd->scene);
    for (size_t i = 0; i < 4; i++, bits /= 26)
        call[i] = (char)('A' + bits % 26);
    put_at(odd, 4, "99999999999");
    put_at(odd, 41, "FM-13");
    put_at(odd, 51, call);
    return true;
}

static bool wban_alone(odd_record_t *odd) {
    put_at(odd, 4, "999999");
    if (is_at(odd, 10, "99999")) {
        char wban[9];
        digits_put_last(wban, 3000 + isd_scene_below(odd->scene, 91000), 5);
        memcpy(odd->record + 10, wban, 5);
    }
    return true;
}

static bool no_place(odd_record_t *odd) {
    put_at(odd, 28, "+99999+999999");
    if (odd->turn & 1)
        put_at(odd, 46, "+9999");
    return true;
}

static bool rare_type(odd_record_t *odd) {
    static const char *const types[] = {"AERO ", "AUST ", "AUTO ", "BOGUS", "BRAZ ", "COOPS", "CRB  ",
                                        "CRN15", "FM-14", "FM-18", "GREEN", "MESOH", "MESOS", "MESOW",
                                        "MEXIC", "PCP15", "S-S-A", "SA-AU", "SAOSP", "SMARS", "SY-AE",
                                        "SY-AU", "WBO  ", "WNO  ", "99999", "SURF ", "SHEF "};
    put_at(odd, 41, types[odd->turn % (sizeof types / sizeof *types)]);
    return true;
}

static bool rare_source(odd_record_t *odd) {
    static const char flags[] = "12356789ABDEFGHIJKLMNO";
    odd->record[27] = flags[odd->turn % (sizeof flags - 1)];
    return true;
}

static bool rare_quality(odd_record_t *odd) {
    static const char codes[] = "02367ACIMPRU";
    static const uint8_t places[] = {92, 98, 104, 69, 63};
    uint8_t place = places[odd->turn / 12 % sizeof places];
    if (odd->record[place] == '9')
        return false;
    odd->record[place] = codes[odd->turn % 12];
    return true;
}

static bool rare_wind(odd_record_t *odd) {
    static const char types[] = "ABHQRT";
    if (odd->record[64] != 'N')
        return false;
    odd->record[64] = types[odd->turn % 6];
    return true;
}

static bool nothing_observed(odd_record_t *odd) {
    put_at(odd, 60, "999999999999999999999999999+99999+99999999999");
    return true;
}

static bool fixed_part_alone(odd_record_t *odd) {
    odd->end = odd->record + FIXED;
    return true;
}

/* Text that looks like sections: only its length tells where it ends. */
static bool tempting_remark(odd_record_t *odd) {
    char *sections_end;
    find_place(odd, "AA1", &sections_end);
    if (sections_end != odd->end)
        return false;
    append(odd, "REM");
    append_remark(odd, "AWY", "FEW QNNA CI ADDGA1081EQDQ01 KA1?   ");
    if (odd->turn & 1)
        append_remark(odd, "MET", "RMK \"GA1\"; $ MA1=EQDREMSYN003   ");
    return true;
}

static bool element_replaced(odd_record_t *odd) {
    static const char *const entries[] = {"C01+000742APC3  ", "D01      0ADE726", "R01 1/2SM7VIS018",
                                          "P01     03SCCGD2"};
    char *sections_end;
    find_place(odd, "AA1", &sections_end);
    if (sections_end != odd->end)
        return false;
    append(odd, "EQD");
    append(odd, entries[odd->turn % 4]);
    return true;
}

static bool original_alone(odd_record_t *odd) {
    char *sections_end, element[12] = "A11 1 00085";
    find_place(odd, "AA1", &sections_end);
    if (sections_end != odd->end)
        return false;
    element[0] = (char)('A' + odd->turn % 25);
    append(odd, "QNN");
    append(odd, element);
    return true;
}

static const struct {
    bool (*apply)(odd_record_t *odd);
    uint32_t every;
} oddities[] = {
    {wrong_count, 150000},    {hour_24, 60000},          {more_weather, 60000},     {no_ids, 25000},
    {wban_alone, 25000},      {no_place, 40000},         {rare_type, 12000},        {rare_source, 10000},
    {rare_quality, 4000},     {rare_wind, 20000},        {nothing_observed, 30000}, {fixed_part_alone, 30000},
    {tempting_remark, 30000}, {element_replaced, 40000}, {original_alone, 40000},
};
enum { ODDITIES = sizeof oddities / sizeof *oddities };

/* ---- appointments: the layouts', then the oddities' ---- */

static void appoint(isd_odd_t *odd, size_t which) {
    isd_appointment_t *appointment = &odd->appointment[which];
    uint64_t key = chance_bits(odd->key, which);
    appointment->next =
        appointment->group * appointment->every + chance_bits(key, appointment->group) % appointment->every;
}

static void find_next(isd_odd_t *odd) {
    odd->next = UINT64_MAX;
    for (size_t i = 0; i < odd->appointments; i++)
        if (odd->appointment[i].next < odd->next)
            odd->next = odd->appointment[i].next;
}

bool isd_odd_init(isd_odd_t *odd, uint64_t key, err_t *err) {
    *odd = (isd_odd_t){.key = key, .appointments = ISD_LAYOUTS + ODDITIES};
    _Static_assert(ISD_LAYOUTS + ODDITIES <= ISD_APPOINTMENTS, "no room for an oddity");
    odd->sections = calloc(ISD_LAYOUTS, sizeof(isd_picture_t *));
    if (!odd->sections)
        return err_memory(err, ISD_LAYOUTS * sizeof(isd_picture_t *));
    for (size_t i = 0; i < ISD_LAYOUTS; i++)
        if (!(odd->sections[i] = isd_picture_new(isd_layouts[i].picture, err))) {
            isd_odd_clear(odd);
            return false;
        }
    for (size_t i = 0; i < odd->appointments; i++) {
        odd->appointment[i].every = i < ISD_LAYOUTS ? SECTION_EVERY : oddities[i - ISD_LAYOUTS].every;
        appoint(odd, i);
    }
    find_next(odd);
    return true;
}

void isd_odd_clear(isd_odd_t *odd) {
    for (size_t i = 0; odd->sections && i < ISD_LAYOUTS; i++)
        isd_picture_destroy(odd->sections[i]);
    free(odd->sections);
    odd->sections = NULL;
}

char *isd_odd_apply(isd_odd_t *odd, isd_scene_t *scene, char *record, char *end) {
    odd_record_t one = {.record = record, .end = end, .scene = scene};
    uint64_t now = odd->next;
    bool miscounted = false;
    for (size_t i = 0; i < odd->appointments; i++) {
        isd_appointment_t *appointment = &odd->appointment[i];
        if (appointment->next > now)
            continue;
        one.turn = appointment->group;
        bool done = i < ISD_LAYOUTS ? add_section(&one, &isd_layouts[i], odd->sections[i])
                                    : oddities[i - ISD_LAYOUTS].apply(&one);
        if (!done) {
            appointment->next = now + 1;
            continue;
        }
        miscounted |= i >= ISD_LAYOUTS && oddities[i - ISD_LAYOUTS].apply == wrong_count;
        appointment->group++;
        appoint(odd, i);
        if (appointment->next <= now) /* it was put off beyond its group */
            appointment->next = now + 1;
    }
    char count[8];
    digits_put_last(count, (uint32_t)(one.end - record) - FIXED + (miscounted ? 26 : 0), 4);
    memcpy(record, count, 4);
    find_next(odd);
    return one.end;
}
