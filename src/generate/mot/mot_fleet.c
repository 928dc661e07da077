#include "generate/mot/mot_fleet.h"
#include "base/text.h"
#include "format/values/calendar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- releases ---- */

const mot_release_t mot_releases[MOT_RELEASES] = {
    {"2013", 2013, '|', QUOTING_NONE, true, false},        {"2016", 2016, '|', QUOTING_NONE, false, false},
    {"2017-first", 2017, ',', QUOTING_NONE, false, false}, {"2017", 2017, '|', QUOTING_NONE, false, false},
    {"2020", 2020, ',', QUOTING_NEEDED, false, false},     {"2021", 2021, ',', QUOTING_TEXT, false, false},
    {"2023", 2023, '|', QUOTING_NONE, false, false},       {"2024", 2024, ',', QUOTING_NEEDED, false, true},
};

const mot_release_t *mot_release_find(const char *name, err_t *err) {
    const char *all[MOT_RELEASES], *wanted = name ? name : MOT_USUAL_RELEASE;
    char names[256] = "";
    for (size_t i = 0; i < MOT_RELEASES; i++) {
        all[i] = mot_releases[i].name;
        if (strcmp(all[i], wanted) == 0)
            return &mot_releases[i];
        strcat(strcat(names, i ? ", " : ""), all[i]);
    }
    err_set(err, STATUS_USAGE, "there is no MOT release '%.60s'; the releases are %s%s", wanted, names,
            suggestion(wanted, all, MOT_RELEASES).text);
    return NULL;
}

/* Two letters in the newer files, one in the oldest ones, of which only P and D are known for certain: mostly the first. */
static char old_fuel(const char *fuel) {
    const char *other = *fuel ? strstr("HY=H ED=H LN=N GB=B GD=B", fuel) : NULL;
    return other ? other[3] : *fuel;
}

mot_cell_t mot_cell(const mot_release_t *release, mot_column_t column, const char *text) {
    mot_cell_t cell;
    char *to = cell.text, old[] = {old_fuel(text), '\0'};
    bool bare = column <= VEHICLE || column == CLASS || column == MILES || column == CC;
    bool needs = strchr(text, release->delimiter) || strchr(text, '"');
    if (strcmp(text, "NULL") == 0)
        text = release->oldest ? "NULL" : "";
    if (column == FUEL && release->oldest)
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

/* ---- makes, models, engines ---- */

/* Which of the shares covers each of equal steps. */
static void spread(uint16_t *at, int64_t steps, const int64_t *shares, size_t count) {
    int64_t sum = 0, below = 0, step = 0;
    for (size_t i = 0; i < count; i++)
        sum += shares[i];
    for (size_t i = 0; i < count; i++)
        for (below += shares[i]; step < steps && (2 * step + 1) * sum < below * 2 * steps; step++)
            at[step] = (uint16_t)i;
}

enum { MOST_ENGINES = 24 };

typedef struct {
    const char *fuel, *cc;
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
    const int64_t *percents = fleet->lists[*engine->fuel == 'D' ? DIESEL : ELECTRIC];
    if (year < engine->from || year > engine->to)
        return 0;
    return engine->share * (*engine->fuel == 'P' ? 100 : percents[year < 1990 ? 0 : year - 1990]);
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
        weights[age] = all ? model->sold * own * fleet->lists[TESTS][age] / all : 0;
    }
}

/* "PE54@1990:1299,1242": a share of the sales, and engines that follow one another, each meeting the next one. */
static void add_engines(model_t *model, char *word) {
    char *list;
    int32_t share = (int32_t)strtol(word + 2, &list, 10), count = 1, i = 0;
    int32_t from = *list == '@' ? (int32_t)strtol(list + 1, &list, 10) : model->from,
            years = model->to - from + 1;
    list += *list == ':';
    word[2] = '\0';
    for (const char *at = list; *at; at++)
        count += *at == ',';
    for (char *one; (one = strsep(&list, ",")) && model->engines < MOST_ENGINES; i++)
        model->engine[model->engines++] = (engine_t){.fuel = word,
                                                     .cc = one,
                                                     .share = share,
                                                     .from = from + i * years / (count + 1),
                                                     .to = from + (i + 2) * years / (count + 1) - 1};
}

/* "FORD FIESTA 4 1322 1989-2023 PE54:1299,1242 DI7:1399; FOCUS..." */
static void read_make(mot_fleet_t *fleet, const char *make, char *rest) {
    for (char *one; (one = strsep(&rest, ";"));) {
        const char *name = facts_word(&one);
        model_t model = {.test_class = facts_number(&one), .engines = 0};
        model.sold = facts_number(&one);
        facts_range(&one, &model.from, &model.to);
        for (char *word; *(word = facts_word(&one));)
            add_engines(&model, word);
        for (size_t i = 0; i < model.engines && fleet->kinds < MOT_KINDS; i++)
            add_kind(fleet, make, name, &model, &model.engine[i]);
    }
}

/* ---- the other lines of the data file ---- */

/* "RT/P+" */
static mot_outcome_t outcome_of(const mot_release_t *release, char *result) {
    const char *type = strsep(&result, "/"), *plus = strchr(result, '+');
    result[strcspn(result, "+")] = '\0';
    return (mot_outcome_t){.type = mot_cell(release, TYPE, type),
                           .result = mot_cell(release, RESULT, result),
                           .retest = plus,
                           .failure = strcmp(result, "F") == 0};
}

/* Texts, each with its share of 2023; colours with those of 2013 and 2023, between which this year's is. */
static void read_shares(mot_fleet_t *fleet, char *rest, mot_column_t column, uint16_t *at) {
    int64_t shares[MOT_AREAS], later = fleet->release->year - 2013;
    size_t count = 0;
    for (char *word; *(word = facts_word(&rest)); count++) {
        shares[count] = facts_number(&rest);
        if (column == TYPE)
            fleet->outcome[count] = outcome_of(fleet->release, word);
        else
            (column == AREA ? fleet->area : fleet->colour)[count] = mot_cell(fleet->release, column, word);
        if (column == COLOUR)
            shares[count] = shares[count] * (11 - later) + facts_number(&rest) * later;
    }
    spread(at, MOT_STEPS, shares, count);
}

/* "2016-2020 100000 test_type=PL; test_result=P" */
static void read_odd(const mot_fleet_t *fleet, odd_plan_t *odd, char *rest) {
    int32_t from, to;
    facts_range(&rest, &from, &to);
    if (from <= fleet->release->year && fleet->release->year <= to)
        odd_add(odd, rest);
}

static bool read_numbers(mot_fleet_t *fleet, const char *word, char *rest) {
    static const char *const names[MOT_LISTS] = {"diesel",  "electric",  "tests",  "driven",
                                                 "mileage", "first-use", "months", "weekdays"};
    size_t list = 0;
    while (list < MOT_LISTS && strcmp(names[list], word) != 0)
        list++;
    for (size_t i = 0; list < MOT_LISTS && i < MOT_AGES; i++)
        fleet->lists[list][i] = facts_number(&rest);
    return list < MOT_LISTS;
}

static void read_line(mot_fleet_t *fleet, char *rest, odd_plan_t *odd) {
    const char *word = facts_word(&rest);
    if (read_numbers(fleet, word, rest))
        return;
    if (strcmp(word, "colours") == 0)
        read_shares(fleet, rest, COLOUR, fleet->colour_at);
    else if (strcmp(word, "areas") == 0)
        read_shares(fleet, rest, AREA, fleet->area_at);
    else if (strcmp(word, "odd") == 0)
        read_odd(fleet, odd, rest);
    else if (strcmp(word, "old") != 0 && strcmp(word, "new") != 0)
        read_make(fleet, word, rest);
    else if (fleet->release->oldest == (*word == 'o'))
        read_shares(fleet, rest, TYPE, fleet->outcome_at);
}

/* ---- days ---- */

/* Of tests by month and weekday, of first uses by month. */
static void init_days(mot_fleet_t *fleet) {
    int64_t first_use[MOT_DAYS], until = 0;
    int32_t new_year;
    calendar_days((uint32_t)fleet->release->year, 1, 1, &new_year);
    for (int32_t day = 0; day < MOT_DAYS; day++) {
        date_t date;
        calendar_date(new_year + day, &date);
        if (date.year == (uint32_t)fleet->release->year)
            until += fleet->lists[MONTHS][date.month - 1] * fleet->lists[WEEKDAYS][(new_year + day + 3) % 7];
        fleet->day_ends[day] = until;
        first_use[day] = fleet->lists[FIRST_USES][date.month - 1];
    }
    spread(fleet->first_day_at, MOT_STEPS, first_use, 365);
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
    return true;
}
