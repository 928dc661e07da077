#include "generate/mot/mot_fleet.h"
#include "generate/shared/calendar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- kinds ---- */

typedef struct {
    char fuel[3];
    int32_t cc, share, from, to;
} engine_t;

typedef struct {
    int32_t test_class, sold, from, to;
    size_t engines;
    engine_t engine[24];
} model_t;

static int32_t miles_a_year(int32_t test_class, const char *fuel) {
    static const uint16_t by_class[MOT_CLASSES] = {7500, 1900, 2600, 2000, 0, 9500, 0, 13500};
    if (by_class[test_class])
        return by_class[test_class];
    return *fuel == 'P' ? 7300 : *fuel == 'D' ? 11000 : *fuel == 'H' ? 10500 : fuel[1] == 'D' ? 12000 : 8800;
}

/* What an engine counts for among those its model was sold with in a year. */
static int64_t weight_in(const mot_fleet_t *fleet, const engine_t *engine, int32_t year) {
    int32_t index = year < 1990 ? 0 : year - 1990;
    if (year < engine->from || year > engine->to)
        return 0;
    int32_t percent = *engine->fuel == 'D'   ? fleet->diesel[index]
                      : *engine->fuel == 'P' ? 100
                                             : fleet->electric[index];
    return engine->share * percent;
}

static void add_kind(mot_fleet_t *fleet, const model_t *model, const engine_t *engine) {
    mot_kind_t *kind = &fleet->kind[fleet->kinds];
    char cc[16] = "";
    if (engine->cc)
        snprintf(cc, sizeof cc, "%d", (int)engine->cc);
    *kind = (mot_kind_t){.fuel = mot_chunk_of(fleet->release, engine->fuel, MOT_FUEL),
                         .cc = mot_chunk_of(fleet->release, cc, MOT_NUMBER),
                         .model = (uint16_t)fleet->models,
                         .miles_a_year = (uint16_t)miles_a_year(model->test_class, engine->fuel),
                         .test_class = (uint8_t)model->test_class};
    for (int32_t age = 0; age <= MOT_OLDEST_AGE; age++) {
        int32_t year = fleet->release->year - age;
        int64_t own = weight_in(fleet, engine, year), all = 0;
        for (size_t i = 0; i < model->engines; i++)
            all += weight_in(fleet, &model->engine[i], year);
        fleet->weights[fleet->kinds][age] = all ? model->sold * own * fleet->tests[age] / all : 0;
    }
    fleet->kinds += fleet->kinds < MOT_KINDS - 1;
}

/* At equal steps through all kinds and ages. */
static void draw_vehicles(mot_fleet_t *fleet) {
    int64_t sum = 0, below = 0, step = 0;
    for (size_t kind = 0; kind < fleet->kinds; kind++)
        for (size_t age = 0; age <= MOT_OLDEST_AGE; age++)
            sum += fleet->weights[kind][age];
    for (size_t kind = 0; kind < fleet->kinds; kind++)
        for (size_t age = 0; age <= MOT_OLDEST_AGE; age++)
            for (below += fleet->weights[kind][age]; (2 * step + 1) * sum < below * 2 * MOT_VEHICLES; step++)
                fleet->vehicle[step] = (mot_vehicle_t){(uint16_t)kind, (uint8_t)age};
}

/* ---- the data file ---- */

static char *without_underscores(char *text) {
    for (char *at = text; (at = strchr(at, '_')); *at = ' ')
        ;
    return text;
}

/* "PE54@1990:1299,1242": a share of the sales, and engines that follow one another, each meeting the next one. */
static void add_engines(model_t *model, char *word) {
    char *list;
    int32_t share = (int32_t)strtol(word + 2, &list, 10), count = 1, i = 0;
    int32_t from = *list == '@' ? (int32_t)strtol(list + 1, &list, 10) : model->from,
            years = model->to - from + 1;
    for (const char *at = list; *at; at++)
        count += *at == ',';
    for (char *one; (one = strsep(&list, ",")) && model->engines < 24; i++) {
        engine_t *engine = &model->engine[model->engines++];
        one += *one == ':';
        *engine = (engine_t){.cc = (int32_t)strtol(one, NULL, 10), .share = share};
        memcpy(engine->fuel, word, 2);
        engine->from = from + i * years / (count + 1);
        engine->to = from + (i + 2) * years / (count + 1) - 1;
    }
}

/* "FORD FIESTA 4 1322 1989-2023 PE54:1299,1242 DI7:1399; FOCUS..." */
static void read_make(mot_fleet_t *fleet, char *make, char *rest) {
    make = without_underscores(make);
    for (char *name; *(name = facts_word(&rest)) && fleet->models < MOT_MODELS; fleet->models++) {
        model_t model = {.test_class = facts_number(&rest), .engines = 0};
        model.sold = facts_number(&rest);
        facts_range(&rest, &model.from, &model.to);
        for (char *word; *(word = facts_word(&rest));) {
            char *last = strchr(word, ';');
            if (last)
                *last = '\0';
            add_engines(&model, word);
            if (last)
                break;
        }
        for (size_t i = 0; i < model.engines; i++)
            add_kind(fleet, &model, &model.engine[i]);
        fleet->name[fleet->models] = mot_name_of(fleet->release, make, without_underscores(name));
    }
}

/* The entry that covers each of equal steps, by its share. */
static void spread(uint8_t *at, int64_t steps, const int64_t *shares, size_t count) {
    int64_t sum = 0, below = 0, step = 0;
    for (size_t i = 0; i < count; i++)
        sum += shares[i];
    for (size_t i = 0; i < count; i++)
        for (below += shares[i]; step < steps && (2 * step + 1) * sum < below * 2 * steps; step++)
            at[step] = (uint8_t)i;
}

/* The shares of 2023, or those between them and those of 2013. */
static void read_shares(mot_fleet_t *fleet, char *rest, bool two, mot_chunk_t *chunks, uint8_t *at) {
    int64_t shares[MOT_AREAS], later = fleet->release->year - 2013;
    size_t count = 0;
    for (char *word; *(word = facts_word(&rest)); count++) {
        chunks[count] = mot_chunk_of(fleet->release, without_underscores(word), MOT_TEXT);
        shares[count] = facts_number(&rest);
        if (two)
            shares[count] = shares[count] * (11 - later) + facts_number(&rest) * later;
    }
    spread(at, two ? MOT_COLOUR_STEPS : MOT_STEPS, shares, count);
}

/* "NT/P 55100 RT/P+ 16780" */
static void read_outcomes(mot_fleet_t *fleet, char *rest) {
    int64_t shares[MOT_OUTCOMES];
    size_t count = 0;
    for (char *type; *(type = facts_word(&rest)); count++) {
        char *result = strchr(type, '/'), *plus = strchr(type, '+');
        *result++ = '\0';
        if (plus)
            *plus = '\0';
        mot_outcome_t *outcome = &fleet->outcome[count];
        *outcome = (mot_outcome_t){.retest = plus, .failure = strcmp(result, "F") == 0};
        char *end =
            mot_put_text(mot_put_text(outcome->text.text, fleet->release, type), fleet->release, result);
        outcome->text.length = (uint8_t)(end - outcome->text.text);
        shares[count] = facts_number(&rest);
    }
    spread(fleet->outcome_at, MOT_STEPS, shares, count);
}

static void read_odd(const mot_fleet_t *fleet, odd_plan_t *odd, char *rest) {
    uint64_t every = (uint64_t)facts_number(&rest);
    int32_t from, to;
    facts_range(&rest, &from, &to);
    if (from <= fleet->release->year && fleet->release->year <= to)
        odd_add(odd, every, rest);
}

static bool read_numbers(mot_fleet_t *fleet, const char *word, char *rest) {
    const struct {
        const char *word;
        int32_t *numbers;
        size_t count;
    } lists[] = {{"diesel", fleet->diesel, MOT_FUEL_YEARS},
                 {"electric", fleet->electric, MOT_FUEL_YEARS},
                 {"tests", fleet->tests, MOT_OLDEST_AGE + 1},
                 {"driven", fleet->driven, MOT_OLDEST_AGE + 1},
                 {"mileage", fleet->mileage, MOT_SPREAD_POINTS},
                 {"first-use", fleet->first_use, 12},
                 {"months", fleet->months, 12},
                 {"weekdays", fleet->weekdays, 7}};
    for (size_t list = 0; list < sizeof lists / sizeof *lists; list++) {
        if (strcmp(lists[list].word, word) != 0)
            continue;
        for (size_t i = 0; i < lists[list].count; i++)
            lists[list].numbers[i] = facts_number(&rest);
        return true;
    }
    return false;
}

/* ---- days and mileages ---- */

/* The end of each day of a year, by the shares of its month and weekday; the last one is all. */
static void sum_days(const int32_t months[12], const int32_t *weekdays, int32_t year, uint64_t sums[366]) {
    int32_t first = calendar_new_year(year), weekday = (first + 3) % 7;
    uint64_t sum = 0;
    for (int32_t day = 0; day < 366; sums[day++] = sum) {
        date_t date = calendar_date(first + day);
        if (date.year == year)
            sum +=
                (uint64_t)months[date.month - 1] * (uint64_t)(weekdays ? weekdays[(weekday + day) % 7] : 1);
    }
}

static void init_days(mot_fleet_t *fleet) {
    uint64_t sums[366];
    sum_days(fleet->months, fleet->weekdays, fleet->release->year, fleet->tests_until);
    sum_days(fleet->first_use, NULL, 2001, sums);
    for (unsigned step = 0, day = 0; step < MOT_DAY_STEPS; step++) {
        while (sums[day] * 2 * MOT_DAY_STEPS <= sums[365] * (2 * step + 1))
            day++;
        fleet->first_day_at[step] = (uint16_t)day;
    }
    for (unsigned i = 0; i < MOT_OPEN_MINUTES; i++)
        snprintf(fleet->minute[i], sizeof fleet->minute[i], "%02u:%02u:", (8 + i / 60) % 100, i % 60);
    unsigned split = fleet->release->quoting == QUOTING_TEXT ? 6 : 5; /* behind the year's dash */
    fleet->year_length = (uint8_t)split;
    for (int32_t i = 0; i < MOT_YEARS; i++) {
        memcpy(fleet->year[i], mot_date_of(fleet->release, MOT_FIRST_YEAR + i, 0).text, 8);
        fleet->is_leap[i] = calendar_is_leap(MOT_FIRST_YEAR + i);
    }
    for (int32_t leap = 0; leap < 2; leap++)
        for (int32_t day = 0; day < 365 + leap; day++) {
            mot_chunk_t date = mot_date_of(fleet->release, leap ? 2000 : 2001, day);
            fleet->day_length = (uint8_t)(date.length - split);
            memcpy(fleet->day[leap][day], date.text + split, 8);
        }
}

static void init_mileages(mot_fleet_t *fleet) {
    const int32_t steps = MOT_MILEAGE_STEPS / (MOT_SPREAD_POINTS - 1), *spread = fleet->mileage;
    for (int32_t i = 0; i < MOT_MILEAGE_STEPS; i++) {
        int32_t at = i / steps, part = i % steps;
        fleet->mileage_at[i] = (uint16_t)((spread[at] * (steps - part) + spread[at + 1] * part) / steps);
    }
}

bool mot_fleet_init(mot_fleet_t *fleet, const mot_release_t *release, odd_plan_t *odd, err_t *err) {
    fleet->release = release;
    if (!facts_open(&fleet->file, "mot", err))
        return false;
    for (char *rest; (rest = facts_line(&fleet->file));) {
        char *word = facts_word(&rest);
        if (read_numbers(fleet, word, rest))
            continue;
        if (strcmp(word, "colours") == 0)
            read_shares(fleet, rest, true, fleet->colour, fleet->colour_at);
        else if (strcmp(word, "areas") == 0)
            read_shares(fleet, rest, false, fleet->area, fleet->area_at);
        else if (strcmp(word, "odd") == 0)
            read_odd(fleet, odd, rest);
        else if (strcmp(word, "old") != 0 && strcmp(word, "new") != 0)
            read_make(fleet, word, rest);
        else if (release->old_codes == (*word == 'o'))
            read_outcomes(fleet, rest);
    }
    for (unsigned class = 0; class < MOT_CLASSES; class ++)
        fleet->class[class] = mot_chunk_of(release, (char[]){(char)('0' + class), '\0'}, MOT_NUMBER);
    draw_vehicles(fleet);
    init_days(fleet);
    init_mileages(fleet);
    return true;
}
