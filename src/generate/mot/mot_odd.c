#include "generate/mot/mot_odd.h"
#include "base/numbers/chance.h"

#include <string.h>

static void appoint(mot_odd_plan_t *plan, size_t which) {
    mot_appointment_t *appointment = &plan->appointment[which];
    uint64_t every = appointment->oddity.every, key = chance_bits(plan->key, which);
    appointment->next = appointment->group * every + chance_bits(key, appointment->group) % every;
}

static void find_next(mot_odd_plan_t *plan) {
    plan->next = UINT64_MAX;
    for (size_t i = 0; i < plan->appointments; i++)
        if (plan->appointment[i].next < plan->next)
            plan->next = plan->appointment[i].next;
}

static void take(mot_odd_plan_t *plan, const mot_oddity_t *oddities) {
    for (; oddities->kind != ODD_NONE; oddities++) {
        plan->appointment[plan->appointments].oddity = *oddities;
        appoint(plan, plan->appointments++);
    }
}

void mot_odd_init(mot_odd_plan_t *plan, const mot_form_t *form, const mot_fleet_t *fleet, uint64_t key) {
    *plan = (mot_odd_plan_t){.form = form, .fleet = fleet, .key = key};
    for (const mot_oddity_t *const *list = form->release->oddities; *list; list++)
        take(plan, *list);
    find_next(plan);
}

/* One odd row on its way. */
typedef struct {
    const mot_form_t *form;
    const mot_release_t *release;
    const mot_kind_t *kind;
    unsigned day, outcome, test_class;
    uint64_t turn, bits; /* the how-manieth of its kind; random bits of its own */
    mot_car_t *car;
    mot_swap_t *swap;
    bool padded;
} odd_row_t;

static void first_use(odd_row_t *row, mot_chunk_t date) {
    row->swap->first_use = mot_first_use_chunk(row->release, date);
    row->swap->no_first_use = row->swap->first_use.length == 0;
}

static mot_fuel_t rare_fuel(uint64_t bits) {
    static const struct {
        uint8_t fuel, below; /* of 32 */
    } fuels[] = {{FUEL_LP, 11}, {FUEL_GB, 20}, {FUEL_ED, 23}, {FUEL_ST, 25}, {FUEL_OT, 27},
                 {FUEL_GA, 28}, {FUEL_CN, 29}, {FUEL_LN, 30}, {FUEL_GD, 31}, {FUEL_FC, 32}};
    size_t i = 0;
    while (bits % 32 >= fuels[i].below)
        i++;
    return (mot_fuel_t)fuels[i].fuel;
}

static uint8_t colour_named(const char *name) {
    uint8_t i = 0;
    while (strcmp(mot_colours[i].text, name) != 0)
        i++;
    return i;
}

static void special(odd_row_t *row, unsigned kind) {
    size_t from = 0, count = 0;
    while (mot_specials[from].kind != kind)
        from++;
    while (mot_specials[from + count].model && mot_specials[from + count].kind == kind)
        count++;
    size_t index = from + row->turn % count;
    const mot_special_t *special = &mot_specials[index];
    unsigned years = special->to - special->from + 1u;
    row->test_class = special->test_class;
    row->swap->name = &row->form->special[index];
    row->swap->engine = mot_engine_chunk(row->release, special->fuel, special->cc);
    first_use(row, mot_date_chunk(row->release, special->from + (unsigned)(row->bits % years),
                                  row->car->first_day));
    if (kind == SPECIAL_TESTER) {
        row->car->id = MOT_TESTER_ID;
        row->car->colour = colour_named("BEIGE");
        first_use(row, mot_text_chunk(row->release, "2018-09-27"));
    }
    if (kind == SPECIAL_CLASS_0) { /* from before computerisation: dated in 2005 whatever the file's year */
        row->swap->test_date = mot_date_chunk(row->release, 2005, row->day % 365);
        first_use(row, mot_text_chunk(row->release, ""));
    }
}

static void apply(odd_row_t *row, const mot_oddity_t *oddity) {
    const mot_release_t *release = row->release;
    mot_swap_t *swap = row->swap;
    uint64_t bits = row->bits;
    mot_fuel_t fuel = (mot_fuel_t)row->kind->fuel;
    unsigned cc = row->kind->cc;
    switch (oddity->kind) {
    case ODD_NONE:
        break;
    case ODD_HEADER_AGAIN:
        swap->header = true;
        break;
    case ODD_OUTCOME:
        row->outcome = oddity->detail;
        break;
    case ODD_SPECIAL:
        special(row, oddity->detail);
        break;
    case ODD_EMPTY_MILEAGE:
        swap->no_mileage = true;
        break;
    case ODD_ZERO_MILEAGE:
        row->car->mileage = 0;
        break;
    case ODD_FILLER_MILEAGE:
        row->car->mileage = 999999;
        break;
    case ODD_HUGE_MILEAGE: /* a digit too many, as typed: 9xx,xxx */
        row->car->mileage = 900000 + (uint32_t)(bits % 99999);
        break;
    case ODD_EMPTY_CC:
        swap->engine = mot_engine_chunk(release, fuel, 0);
        break;
    case ODD_FILLER_CC:
        if (cc)
            swap->engine = mot_engine_chunk(release, fuel, 99999);
        break;
    case ODD_HUGE_CC:
        if (cc)
            swap->engine = mot_engine_chunk(release, fuel, 20000 + (unsigned)(bits % 30000));
        break;
    case ODD_RARE_FUEL:
        swap->engine = mot_engine_chunk(release, rare_fuel(bits), cc);
        break;
    case ODD_STRAY_AREA:
        swap->area = mot_text_chunk(release, "MM");
        break;
    case ODD_FIRST_USE_1971:
        first_use(row, mot_date_chunk(release, 1971, 0));
        break;
    case ODD_FIRST_USE_ABSENT:
        first_use(row, mot_text_chunk(release, release->absent_date));
        break;
    case ODD_FIRST_USE_AHEAD:
        first_use(row,
                  mot_date_chunk(release, release->year + 1u + (unsigned)(bits % 20), row->car->first_day));
        break;
    case ODD_FIRST_USE_YEAR_4:
        first_use(row, mot_text_chunk(release, row->turn & 1 ? "4-02-20" : "0004-02-20"));
        break;
    case ODD_TEST_DATE_ABSENT:
        swap->test_date = mot_text_chunk(release, release->absent_date);
        break;
    case ODD_PADDED_CLASS:
        row->padded = true;
        break;
    case ODD_COMPLETED_ABSENT:
        swap->no_completed = true;
        break;
    }
}

void mot_odd_apply(mot_odd_plan_t *plan, unsigned day, unsigned outcome, mot_car_t *car, mot_swap_t *swap) {
    const mot_kind_t *kind = &plan->fleet->kind[car->kind];
    odd_row_t row = {.form = plan->form,
                     .release = plan->form->release,
                     .kind = kind,
                     .day = day,
                     .outcome = outcome,
                     .test_class = kind->test_class,
                     .car = car,
                     .swap = swap};
    uint64_t now = plan->next;
    *swap = (mot_swap_t){.name = NULL};
    for (size_t i = 0; i < plan->appointments; i++) {
        mot_appointment_t *appointment = &plan->appointment[i];
        if (appointment->next != now)
            continue;
        row.turn = appointment->group;
        row.bits = chance_bits(chance_bits(plan->key, i + MOT_ODDITIES), appointment->group);
        apply(&row, &appointment->oddity);
        appointment->group++;
        appoint(plan, i);
    }
    swap->verdict = plan->form->verdict[row.test_class][row.outcome];
    if (row.padded && swap->verdict.length < sizeof swap->verdict.text) {
        memmove(swap->verdict.text + 2, swap->verdict.text + 1, swap->verdict.length - 1u);
        swap->verdict.text[1] = ' ';
        swap->verdict.length++;
    }
    find_next(plan);
}
