#include "generate/mot/mot_fleet.h"
#include "format/values/calendar.h"

#include <stdlib.h>
#include <string.h>

/* Which of the shares covers each of equal steps. */
static void spread(uint16_t *at, int64_t steps, const int64_t *shares, size_t count) {
    int64_t sum = 0, below = 0, step = 0;
    for (size_t i = 0; i < count; i++)
        sum += shares[i];
    for (size_t i = 0; i < count; i++)
        for (below += shares[i]; step < steps && (2 * step + 1) * sum < below * 2 * steps; step++)
            at[step] = (uint16_t)i;
}

/* ---- makes, models, engines ---- */

enum { MOST_ENGINES = 24 };

typedef struct {
    char fuel[3], cc[8];
    int32_t share, from, to;
} engine_t;

typedef struct {
    int32_t test_class, sold, from, to;
    size_t engines;
    engine_t engine[MOST_ENGINES];
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
    return engine->share * (*engine->fuel == 'D'   ? fleet->diesel[index]
                            : *engine->fuel == 'P' ? 100
                                                   : fleet->electric[index]);
}

static void add_kind(mot_fleet_t *fleet, const char *make, const char *name, const model_t *model,
                     const engine_t *engine) {
    int64_t *weights = fleet->weights + fleet->kinds * MOT_AGES;
    fleet->kind[fleet->kinds++] = (mot_kind_t){.make = mot_cell(fleet->release, MAKE, make),
                                               .model = mot_cell(fleet->release, MODEL, name),
                                               .fuel = mot_cell(fleet->release, FUEL, engine->fuel),
                                               .cc = mot_cell(fleet->release, CC, engine->cc),
                                               .test_class = model->test_class,
                                               .miles_a_year = miles_a_year(model->test_class, engine->fuel)};
    for (int32_t age = 0; age < MOT_AGES; age++) {
        int32_t year = fleet->release->year - age;
        int64_t own = weight_in(fleet, engine, year), all = 0;
        for (size_t i = 0; i < model->engines; i++)
            all += weight_in(fleet, &model->engine[i], year);
        weights[age] = all ? model->sold * own * fleet->tests[age] / all : 0;
    }
}

/* "PE54@1990:1299,1242": a share of the sales, and engines that follow one another, each meeting the next one. */
static void add_engines(model_t *model, const char *word) {
    char *list;
    int32_t share = (int32_t)strtol(word + 2, &list, 10), count = 1, i = 0;
    int32_t from = *list == '@' ? (int32_t)strtol(list + 1, &list, 10) : model->from,
            years = model->to - from + 1;
    list += *list == ':';
    for (const char *at = list; *at; at++)
        count += *at == ',';
    for (char *one; (one = strsep(&list, ",")) && model->engines < MOST_ENGINES; i++) {
        engine_t *engine = &model->engine[model->engines++];
        *engine = (engine_t){.share = share,
                             .from = from + i * years / (count + 1),
                             .to = from + (i + 2) * years / (count + 1) - 1};
        memcpy(engine->fuel, word, 2);
        memcpy(engine->cc, one, strnlen(one, sizeof engine->cc - 1));
    }
}

/* "FORD FIESTA 4 1322 1989-2023 PE54:1299,1242 DI7:1399; FOCUS..." */
static void read_make(mot_fleet_t *fleet, const char *make, char *rest) {
    for (char *one; (one = strsep(&rest, ";"));) {
        const char *name = facts_word(&one);
        model_t model = {.test_class = facts_number(&one), .engines = 0};
        model.sold = facts_number(&one);
        facts_range(&one, &model.from, &model.to);
        for (const char *word; *(word = facts_word(&one));)
            add_engines(&model, word);
        for (size_t i = 0; i < model.engines && fleet->kinds < MOT_KINDS; i++)
            add_kind(fleet, make, name, &model, &model.engine[i]);
    }
}

/* ---- the other lines of the data file ---- */

/* Texts, each with its share of 2023, or with those of 2013 and 2023, between which this year's is. */
static void read_shares(mot_fleet_t *fleet, char *rest, mot_column_t column, mot_cell_t *cells,
                        uint16_t *at) {
    int64_t shares[MOT_AREAS], later = fleet->release->year - 2013;
    size_t count = 0;
    for (const char *word; *(word = facts_word(&rest)); count++) {
        cells[count] = mot_cell(fleet->release, column, word);
        shares[count] = facts_number(&rest);
        if (column == COLOUR)
            shares[count] = shares[count] * (11 - later) + facts_number(&rest) * later;
    }
    spread(at, MOT_STEPS, shares, count);
}

/* "NT/P 55100 RT/P+ 16780" */
static void read_outcomes(mot_fleet_t *fleet, char *rest) {
    int64_t shares[MOT_OUTCOMES];
    size_t count = 0;
    for (char *result; *(result = facts_word(&rest)); count++) {
        const char *type = strsep(&result, "/");
        char *plus = strchr(result, '+');
        if (plus)
            *plus = '\0';
        fleet->outcome[count] = (mot_outcome_t){.type = mot_cell(fleet->release, TYPE, type),
                                                .result = mot_cell(fleet->release, RESULT, result),
                                                .retest = plus,
                                                .failure = strcmp(result, "F") == 0};
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
        int64_t *numbers;
        size_t count;
    } lists[] = {{"diesel", fleet->diesel, MOT_FUEL_YEARS},
                 {"electric", fleet->electric, MOT_FUEL_YEARS},
                 {"tests", fleet->tests, MOT_AGES},
                 {"driven", fleet->driven, MOT_AGES},
                 {"first-use", fleet->first_use, 12},
                 {"mileage", fleet->mileage, MOT_SPREAD_POINTS},
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

static void read_line(mot_fleet_t *fleet, char *rest, odd_plan_t *odd) {
    const char *word = facts_word(&rest);
    if (read_numbers(fleet, word, rest))
        return;
    if (strcmp(word, "colours") == 0)
        read_shares(fleet, rest, COLOUR, fleet->colour, fleet->colour_at);
    else if (strcmp(word, "areas") == 0)
        read_shares(fleet, rest, AREA, fleet->area, fleet->area_at);
    else if (strcmp(word, "odd") == 0)
        read_odd(fleet, odd, rest);
    else if (strcmp(word, "old") != 0 && strcmp(word, "new") != 0)
        read_make(fleet, word, rest);
    else if (fleet->release->old_codes == (*word == 'o'))
        read_outcomes(fleet, rest);
}

/* ---- days and mileages ---- */

/* Of tests by month and weekday, of first uses by month. */
static void init_days(mot_fleet_t *fleet) {
    int64_t first_use[MOT_DAYS];
    int32_t new_year;
    calendar_days((uint32_t)fleet->release->year, 1, 1, &new_year);
    for (int32_t day = 0; day < MOT_DAYS; day++) {
        date_t date;
        calendar_date(new_year + day, &date);
        bool next_year = date.year != (uint32_t)fleet->release->year;
        fleet->test_days[day] =
            next_year ? 0 : fleet->months[date.month - 1] * fleet->weekdays[(new_year + day + 3) % 7];
        first_use[day] = next_year ? 0 : fleet->first_use[date.month - 1];
    }
    spread(fleet->first_day_at, MOT_STEPS, first_use, 365);
}

static void init_mileages(mot_fleet_t *fleet) {
    const int64_t steps = MOT_MILEAGE_STEPS / (MOT_SPREAD_POINTS - 1), *points = fleet->mileage;
    for (int32_t i = 0; i < MOT_MILEAGE_STEPS; i++) {
        int64_t at = i / steps, part = i % steps;
        fleet->mileage_at[i] = (uint16_t)((points[at] * (steps - part) + points[at + 1] * part) / steps);
    }
}

bool mot_fleet_init(mot_fleet_t *fleet, const mot_release_t *release, odd_plan_t *odd, err_t *err) {
    fleet->release = release;
    if (!facts_open(&fleet->file, "mot", err))
        return false;
    for (char *line; (line = facts_line(&fleet->file));)
        read_line(fleet, line, odd);
    for (unsigned class = 0; class < MOT_CLASSES; class ++)
        fleet->class[class] = mot_cell(release, CLASS, (char[]){(char)('0' + class), '\0'});
    spread(fleet->vehicle_at, MOT_VEHICLES, fleet->weights, fleet->kinds * MOT_AGES);
    init_days(fleet);
    init_mileages(fleet);
    return true;
}
