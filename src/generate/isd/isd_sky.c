#include "generate/isd/isd_sky.h"
#include "generate/shared/whole.h"

/* Weather as the codes know it: a METAR's letters (US, elsewhere) and the AU sections without quality; the tables of
 * present weather of manned and automatic stations, twice where two things are told; that of the original observations
 * (`element`). Numbers and texts stand in the order of the scene's. */
typedef struct {
    isd_text_t text[4];            /* wxus, wxint, au, auagain */
    int32_t number[8];             /* ww, wwagain, aw, awagain, element, falls, snows, thunder */
    uint8_t past;                  /* the code of past weather */
    uint8_t sight_low, sight_high; /* of the steps of visibility, the first is the farthest */
    uint8_t drops;                 /* at most so many tenths of mm an hour */
    uint8_t warm, mild, cold;      /* shares */
} event_t;

#define T(letters)                                                                                           \
    { letters, sizeof(letters) - 1 }
#define MIST T("0000101")

/* clang-format off */
static const event_t events[] = {
    /* US, elsewhere, AU and again; ww and again, aw and again, element, falls, snows, thunder; past, sight, drops, shares */
    {{T(""),           T(""),          T("0000001"), T("0000001")}, { 0,  0,  0,  0,    0, 0, 0, 0}, 0,  0,  0,   0,  0,  0,  0},
    /* dims */
    {{T(" BR"),        T(" BR"),       MIST,         MIST        }, {10,  0, 10,  0, 7000, 0, 0, 0}, 0,  2,  9,   0, 90, 80, 60},
    {{T(" FG"),        T(" FG"),       T("0000201"), T("0000201")}, {45,  0, 30,  0, 7000, 0, 0, 0}, 4, 12, 15,   0, 10, 20, 14},
    {{T(" HZ"),        T(" HZ"),       T("0000701"), T("0000701")}, { 5,  0,  5,  0, 8100, 0, 0, 0}, 0,  2,  6,   0, 14,  8,  2},
    {{T(" FU"),        T(" FU"),       T("0000701"), T("0000701")}, { 4,  0,  4,  0, 8100, 0, 0, 0}, 0,  3,  7,   0,  3,  2,  0},
    {{T(""),           T(" DRSN"),     T("0200301"), T("0200301")}, {36,  0, 27,  0,    0, 0, 0, 0}, 3,  0,  3,   0,  0,  0, 26},
    {{T(" BLSN"),      T(" BLSN"),     T("0300301"), T("0300301")}, {38,  0, 29,  0, 8500, 0, 0, 0}, 3,  5, 13,   0,  0,  0, 20},
    {{T(" BCFG"),      T(" MIFG"),     T("0000201"), T("0000201")}, {44, 10, 30, 10, 7000, 0, 0, 0}, 4,  3, 10,   0,  6, 12,  4},
    /* falls */
    {{T(" -RA"),       T(" -RA"),      T("1002001"), MIST        }, {61,  0, 61,  0, 2000, 1, 0, 0}, 6,  0,  6,  14, 60, 50,  2},
    {{T(" -RA BR"),    T(" -RA BR"),   T("1002001"), MIST        }, {61, 10, 10, 61, 2070, 1, 0, 0}, 6,  4, 10,  22, 30, 34,  2},
    {{T(" -DZ BR"),    T(" -DZ BR"),   T("1001001"), MIST        }, {51, 10, 10, 51, 3370, 1, 0, 0}, 5,  5, 11,   5, 16, 26,  2},
    {{T(" -DZ"),       T(" -DZ"),      T("1001001"), MIST        }, {51,  0, 51,  0, 3300, 1, 0, 0}, 5,  1,  7,   4, 12, 18,  1},
    {{T(" RA"),        T(" RA"),       T("2002001"), MIST        }, {63,  0, 63,  0, 2100, 1, 0, 0}, 6,  4,  9,  70, 12, 10,  0},
    {{T(" -SHRA"),     T(" -SHRA"),    T("1802001"), MIST        }, {80,  0, 81,  0, 2300, 1, 0, 0}, 8,  0,  6,  30, 20, 12,  0},
    {{T(" TSRA"),      T(" TSRA"),     T("2702001"), MIST        }, {95, 61, 95, 63, 1200, 1, 0, 1}, 9,  2,  9, 200, 22,  2,  0},
    {{T(" +TSRA BR"),  T(" +TSRA"),    T("3702001"), MIST        }, {97, 63, 64, 95, 1270, 1, 0, 1}, 9,  9, 14, 250,  4,  0,  0},
    {{T(" -SN"),       T(" -SN"),      T("1003001"), MIST        }, {71,  0, 71,  0, 4000, 1, 1, 0}, 7,  3, 10,   7,  0,  4, 64},
    {{T(" -SN BR"),    T(" -SN BR"),   T("1003001"), MIST        }, {71, 10, 10, 71, 4070, 1, 1, 0}, 7,  7, 13,   9,  0,  3, 22},
    {{T(" SN"),        T(" SN"),       T("2003001"), MIST        }, {73,  0, 73,  0, 4100, 1, 1, 0}, 7, 11, 15,  20,  0,  1, 10},
    {{T(" -SN BLSN"),  T(" -SN BLSN"), T("1003001"), T("0300301")}, {71, 38, 71, 27, 4085, 1, 1, 0}, 7,  6, 14,   8,  0,  0, 16},
    {{T(" -SHSN"),     T(" -SHSN"),    T("1803001"), MIST        }, {85,  0, 85,  0, 4300, 1, 1, 0}, 8,  1,  9,   8,  0,  2, 14},
    {{T(" -FZDZ"),     T(" -FZDZ"),    T("1601001"), MIST        }, {56,  0, 56,  0, 3600, 1, 0, 0}, 5,  4, 10,   3,  0,  0,  6},
    {{T(" PL"),        T(" PL"),       T("2005001"), MIST        }, {79, 61, 75, 61, 6000, 1, 0, 0}, 7,  4,  9,  12,  0,  1,  3},
};
/* clang-format on */
enum { EVENTS = sizeof events / sizeof *events, FIRST_FALL = 8 };

/* vis, sight, metres, viscode, miles */
static const struct {
    isd_text_t miles;
    int32_t number[5];
} sights[] = {
    {T("10"), {16093, 16000, 9999, 60, 1000}}, {T("9"), {14484, 14400, 9000, 59, 900}},
    {T("8"), {12875, 12800, 8000, 58, 800}},   {T("7"), {11265, 11200, 8000, 58, 700}},
    {T("6"), {9656, 9600, 7000, 57, 600}},     {T("5"), {8047, 8000, 6000, 56, 500}},
    {T("4"), {6437, 6400, 5000, 50, 400}},     {T("3"), {4828, 4800, 4000, 40, 300}},
    {T("2 1/2"), {4023, 4000, 4000, 40, 250}}, {T("2"), {3219, 3200, 3000, 30, 200}},
    {T("1 1/2"), {2414, 2400, 2000, 20, 150}}, {T("1 1/4"), {2012, 2000, 2000, 20, 125}},
    {T("1"), {1609, 1600, 1500, 15, 100}},     {T("3/4"), {1207, 1200, 1000, 10, 75}},
    {T("1/2"), {805, 800, 800, 8, 50}},        {T("1/4"), {402, 400, 300, 3, 25}},
};

/* hundreds of feet */
static const uint8_t heights[ISD_SKY_HEIGHTS] = {2,  3,  4,  5,  6,  7,   8,   9,   10,  11,  12,  14, 15,
                                                 17, 19, 20, 21, 23, 25,  28,  30,  33,  35,  40,  45, 50,
                                                 55, 60, 70, 80, 90, 100, 120, 140, 150, 180, 200, 250};

/* kinds of clouds by their height: code table of genera, METAR letters */
static const struct {
    uint8_t below, genus;
    isd_text_t letters;
} genera[] = {
    {12, 7, T("ST")}, {20, 6, T("SF")},  {50, 6, T("SC")},  {65, 8, T("CU")},
    {90, 3, T("AC")}, {160, 4, T("AS")}, {190, 2, T("CS")}, {255, 0, T("CI")},
};

bool isd_sky_falls(unsigned event) {
    return events[event].number[5];
}

static unsigned draw_event(isd_scene_t *scene, unsigned from, unsigned to) {
    int32_t temp = scene->number[ISD_N_temp];
    uint32_t sum = 0;
#define SHARE(i) (temp > 120 ? events[i].warm : temp > 10 ? events[i].mild : events[i].cold)
    for (unsigned i = from; i < to; i++)
        sum += SHARE(i);
    uint32_t draw = isd_scene_below(scene, sum);
    unsigned i = from;
    for (; draw >= SHARE(i); i++)
        draw -= SHARE(i);
#undef SHARE
    return i;
}

void isd_sky_step(isd_weather_t *w, isd_scene_t *scene, unsigned hours) {
    const isd_climate_t *climate = &w->climate;
    uint64_t bits = isd_scene_bits(scene);
    int32_t drift = (int32_t)(bits & 255) + (int32_t)(bits >> 8 & 255) - 255, lofty = climate->lofty ? 12 : 0;
    w->cloud += drift * 3 + (climate->cloud - w->cloud) / 8; /* mostly clear or overcast */
    w->cloud = whole_clamp(w->cloud, -1200, 2200);
    if ((bits >> 16 & 3) == 0)
        w->ground = lofty + (int32_t)((bits >> 32) * (uint64_t)(ISD_SKY_HEIGHTS - lofty) >> 32);
    w->left = w->left > hours ? w->left - hours : 0;
    if (w->left)
        return;
    w->event = 0;
    if (w->cloud > 600 && isd_scene_happens(scene, (uint32_t)(climate->wet * (w->cloud - 400) / 1024)))
        w->event = draw_event(scene, FIRST_FALL, EVENTS);
    else if (isd_scene_happens(scene, (uint32_t)(w->spread < 40 ? climate->hazy : climate->hazy / 3)))
        w->event = draw_event(scene, 1, FIRST_FALL);
    w->left = 1 + (unsigned)(bits >> 24 & 7) / (isd_sky_falls(w->event) ? 2 : 3);
}

static void tell_layer(isd_scene_t *scene, int32_t layer, int32_t eights, int32_t feet) {
    static const uint8_t class_of[] = {0, 1, 1, 2, 2, 3, 3, 3, 4}, okta_of[] = {0, 2, 4, 7, 8};
    static const isd_text_t covers[] = {T("CLR"), T("FEW"), T("SCT"), T("BKN"), T("OVC")};
    int32_t *n = scene->number, metres = (feet * 30480 + 500) / 1000, class = class_of[eights];
    unsigned genus = 0;
    while (feet > genera[genus].below)
        genus++;
    n[ISD_N_eights1 + layer] = eights;
    n[ISD_N_class1 + layer] = class;
    n[ISD_N_okta1 + layer] = okta_of[class];
    n[ISD_N_base1 + layer] = eights ? metres : ISD_MISSING;
    n[ISD_N_feet1 + layer] = feet;
    n[ISD_N_genus1 + layer] = layer == 0 && n[ISD_N_thunder] ? 9 : genera[genus].genus;
    scene->text[ISD_T_cover1 + layer] = covers[class];
    scene->text[ISD_T_cloud1 + layer] = genera[genus].letters;
    if (class > 2 && n[ISD_N_ceil] == 22000)
        n[ISD_N_ceil] = metres;
}

static void tell_layers(const isd_weather_t *w, isd_scene_t *scene) {
    int32_t *n = scene->number, oktas = whole_clamp((w->cloud * 9) >> 10, 0, 8);
    if (w->event >= FIRST_FALL && oktas < 5)
        oktas = 5 + (int32_t)isd_scene_below(scene, 4);
    int32_t layers = oktas ? 1 : 0, at = w->ground, lower = 1; /* layers cover less than those above */
    if (layers && isd_scene_happens(scene, 450))
        layers += isd_scene_happens(scene, 330) ? isd_scene_happens(scene, 70) ? 3 : 2 : 1;
    if (layers > 1 && oktas < 4)
        oktas = 3 + (int32_t)isd_scene_below(scene, 6);
    n[ISD_N_layers] = layers;
    n[ISD_N_oktas] = oktas;
    n[ISD_N_ceil] = 22000;
    for (int32_t i = 0; i < 4; i++) {
        lower =
            i + 1 >= layers ? oktas : lower + (int32_t)isd_scene_below(scene, (uint32_t)(oktas - lower) + 1);
        tell_layer(scene, i, i < layers ? lower : 0, heights[at]);
        at = whole_clamp(at + 3 + (int32_t)isd_scene_below(scene, 8), 0, ISD_SKY_HEIGHTS - 1);
    }
}

/* The synoptic codes: height of the lowest cloud, and the kinds of low, middle and high clouds. */
static void tell_codes(isd_scene_t *scene) {
    static const uint8_t lowest[] = {2, 4, 7, 10, 20, 33, 50, 66, 82};
    static const uint8_t lows[] = {5, 5, 5, 5, 7, 1, 2, 8, 6, 4}, mids[] = {7, 7, 3, 4, 2, 1, 5, 6},
                         highs[] = {1, 1, 2, 8, 7, 3, 4, 6};
    int32_t *n = scene->number, feet = n[ISD_N_feet1], code = 0;
    uint64_t bits = isd_scene_bits(scene);
    bool cloudy = n[ISD_N_layers] > 0, low = cloudy && feet < 66;
    while (code < 9 && lowest[code] <= feet)
        code++;
    n[ISD_N_height] = cloudy ? code : 9;
    n[ISD_N_low] = low ? lows[bits % 10] : 0;
    n[ISD_N_mid] = n[ISD_N_layers] > 1 || (cloudy && !low && feet < 190) ? mids[bits >> 8 & 7] : 0;
    n[ISD_N_high] = cloudy && (bits >> 16 & 3) == 0 ? highs[bits >> 24 & 7] : 0;
}

static void tell_sight(isd_scene_t *scene, const event_t *event) {
    int32_t *n = scene->number;
    uint32_t sight = 0;
    if (event != events)
        sight = event->sight_low + isd_scene_below(scene, event->sight_high - event->sight_low + 1u);
    else if (isd_scene_happens(scene, 110))
        sight = 1 + isd_scene_below(scene, 3);
    memcpy(&n[ISD_N_vis], sights[sight].number, sizeof sights->number);
    n[ISD_N_cavok] = event == events && !sight && (!n[ISD_N_layers] || n[ISD_N_base1] > 1500);
    scene->text[ISD_T_sm] = sights[sight].miles;
}

void isd_sky_tell(isd_weather_t *w, isd_scene_t *scene) {
    int32_t *n = scene->number;
    if (isd_sky_falls(w->event) && events[w->event].number[6] != (n[ISD_N_temp] < 8) &&
        events[w->event].past != 5)
        w->event = draw_event(scene, FIRST_FALL, EVENTS); /* it has grown warmer or colder */
    const event_t *event = &events[w->event];
    int32_t past = event->past ? event->past : w->cloud > 540 ? 2 : w->cloud > 460 ? 1 : 0;
    n[ISD_N_past] = whole_larger(past, w->past); /* the greater one is told first */
    n[ISD_N_pastagain] = past > w->past ? w->past : past;
    w->past = past;
    n[ISD_N_weather] = w->event != 0;
    memcpy(&n[ISD_N_ww], event->number, sizeof event->number);
    memcpy(&scene->text[ISD_T_wxus], event->text, sizeof event->text);
    n[ISD_N_rain1] = n[ISD_N_falls] ? (int32_t)isd_scene_below(scene, event->drops + 1u) : 0;
    tell_layers(w, scene);
    tell_codes(scene);
    tell_sight(scene, event);
}
