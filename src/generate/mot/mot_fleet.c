#include "generate/mot/mot_fleet.h"

#include <stdlib.h>

static unsigned miles_a_year(unsigned test_class, mot_fuel_t fuel) {
    static const uint16_t by_class[8] = {7500, 1900, 2600, 2000, 0, 9500, 0, 13500};
    static const uint16_t by_fuel[FUELS] = {
        [FUEL_PE] = 7300, [FUEL_DI] = 11000, [FUEL_HY] = 10500, [FUEL_ED] = 12000, [FUEL_EL] = 8800};
    return by_class[test_class] ? by_class[test_class] : by_fuel[fuel];
}

/* What an engine counts for among those its model was sold with in a year. */
static uint64_t weight_in(const mot_engine_t *engine, unsigned year) {
    static const unsigned first = MOT_FUEL_YEAR_FIRST;
    if (year < engine->from || year > engine->to)
        return 0;
    unsigned index = year < first ? 0 : year - first;
    if (engine->fuel == FUEL_DI)
        return (uint64_t)engine->share * mot_diesel_percent[index];
    if (engine->fuel == FUEL_PE)
        return (uint64_t)engine->share * 100;
    return (uint64_t)engine->share * mot_electric_percent[index];
}

/* Fills tests[age] and returns their sum. */
static uint64_t tests_of(const mot_model_t *model, const mot_engine_t *engine, unsigned test_year,
                         uint64_t tests[MOT_OLDEST_AGE + 1]) {
    uint64_t sum = 0;
    for (unsigned age = 0; age <= MOT_OLDEST_AGE; age++) {
        unsigned year = test_year - age;
        tests[age] = 0;
        if (year < model->from || year > model->to)
            continue;
        uint64_t all = 0;
        for (const mot_engine_t *other = model->engines; other < model->engines + MOT_ENGINES && other->share;
             other++)
            all += weight_in(other, year);
        if (all)
            tests[age] = model->sold * weight_in(engine, year) * mot_tests_at_age[age] / all;
        sum += tests[age];
    }
    return sum;
}

static void fill_ages(uint8_t ages[MOT_AGES], const uint64_t tests[MOT_OLDEST_AGE + 1], uint64_t sum) {
    unsigned age = 0;
    uint64_t below = tests[0];
    for (unsigned i = 0; i < MOT_AGES; i++) {
        while (below * 2 * MOT_AGES <= sum * (2 * i + 1))
            below += tests[++age];
        ages[i] = (uint8_t)age;
    }
}

/* Vose's alias method in integers: every slot holds the same weight, its own kind's and one other's. */
static void fill_slots(mot_slot_t *slots, uint64_t *weights, size_t count, uint16_t *small, uint16_t *large) {
    uint64_t sum = 0, shares = 0;
    for (size_t i = 0; i < count; i++)
        sum += weights[i];
    while (sum >> 32) { /* room for the scaling below */
        sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += weights[i] >>= 1;
    }
    for (size_t i = 0; i < count; i++)
        shares += weights[i] = (weights[i] << 31) / sum;
    uint64_t full = shares / count + 1;
    size_t smalls = 0, larges = 0;
    for (size_t i = 0; i < count; i++) {
        slots[i] = (mot_slot_t){UINT32_MAX, (uint16_t)i};
        if (weights[i] < full)
            small[smalls++] = (uint16_t)i;
        else
            large[larges++] = (uint16_t)i;
    }
    while (smalls && larges) {
        uint16_t little = small[--smalls], big = large[larges - 1];
        slots[little] = (mot_slot_t){(uint32_t)((weights[little] << 32) / full), big};
        weights[big] -= full - weights[little];
        if (weights[big] < full) {
            larges--;
            small[smalls++] = big;
        }
    }
}

bool mot_fleet_init(mot_fleet_t *fleet, const mot_release_t *release) {
    size_t models = 0;
    while (mot_models[models].make)
        models++;
    size_t most = models * MOT_ENGINES;
    *fleet = (mot_fleet_t){.kinds = 0};
    fleet->slots = calloc(most, sizeof *fleet->slots);
    fleet->kind = calloc(most, sizeof *fleet->kind);
    fleet->ages = calloc(most, sizeof *fleet->ages);
    fleet->name = calloc(models, sizeof *fleet->name);
    uint64_t *weights = calloc(most, sizeof *weights);
    uint16_t *lists = calloc(2 * most, sizeof *lists);
    bool done = fleet->slots && fleet->kind && fleet->ages && fleet->name && weights && lists;
    for (size_t m = 0; done && m < models; m++) {
        const mot_model_t *model = &mot_models[m];
        fleet->name[m] = mot_name_chunk(release, model->make, model->model);
        for (const mot_engine_t *engine = model->engines;
             engine < model->engines + MOT_ENGINES && engine->share; engine++) {
            uint64_t tests[MOT_OLDEST_AGE + 1];
            uint64_t sum = tests_of(model, engine, release->year, tests);
            if (!sum)
                continue;
            size_t k = fleet->kinds++;
            weights[k] = sum;
            fill_ages(fleet->ages[k], tests, sum);
            fleet->kind[k] =
                (mot_kind_t){.engine = mot_engine_chunk(release, engine->fuel, engine->cc),
                             .name = (uint16_t)m,
                             .miles_a_year = (uint16_t)miles_a_year(model->test_class, engine->fuel),
                             .cc = engine->cc,
                             .test_class = model->test_class,
                             .fuel = (uint8_t)engine->fuel};
        }
    }
    if (done)
        fill_slots(fleet->slots, weights, fleet->kinds, lists, lists + most);
    free(weights);
    free(lists);
    if (!done)
        mot_fleet_clear(fleet);
    return done;
}

void mot_fleet_clear(mot_fleet_t *fleet) {
    free(fleet->slots);
    free(fleet->kind);
    free(fleet->ages);
    free(fleet->name);
    *fleet = (mot_fleet_t){.kinds = 0};
}
