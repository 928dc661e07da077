/* mot: MOT test results, in the manner of eight releases of the published files.
 *
 * A row is put together from cells: texts that are ready to be copied, with the release's quotes and delimiter. The fleet
 * has the cells of all models with each of their engines (a kind), and for each step of a random number the kind and age
 * of a vehicle, its colour, its area and the outcome of its test, each as often as its share says. Rows follow each other
 * from the first day of the year to the last. Vehicles that failed wait in a ring until an outcome is a retest.
 *
 * The data file mot says what vehicles are like, how their tests are spread, and which rows are odd. */
#include "base/text.h"
#include "format/values/calendar.h"
#include "generate/draw.h"
#include "generate/generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- releases and cells ---- */

typedef enum { QUOTING_NONE, QUOTING_NEEDED, QUOTING_TEXT } quoting_t;

typedef struct {
    const char *name;
    int32_t year;
    char delimiter;
    quoting_t quoting;
    bool oldest;    /* no header, codes of its own, NULL for absent dates */
    bool completed; /* a column more */
} release_t;

enum { RELEASES = 8, USUAL_RELEASE = 6 };
static const release_t releases[RELEASES] = {
    {"2013", 2013, '|', QUOTING_NONE, true, false},        {"2016", 2016, '|', QUOTING_NONE, false, false},
    {"2017-first", 2017, ',', QUOTING_NONE, false, false}, {"2017", 2017, '|', QUOTING_NONE, false, false},
    {"2020", 2020, ',', QUOTING_NEEDED, false, false},     {"2021", 2021, ',', QUOTING_TEXT, false, false},
    {"2023", 2023, '|', QUOTING_NONE, false, false},       {"2024", 2024, ',', QUOTING_NEEDED, false, true},
};

/* NULL with a sentence: there is none of that name. */
static const release_t *find_release(const char *name, err_t *err) {
    const char *all[RELEASES];
    char names[256] = "";
    if (!name)
        return &releases[USUAL_RELEASE];
    for (size_t i = 0; i < RELEASES; i++) {
        all[i] = releases[i].name;
        if (strcmp(all[i], name) == 0)
            return &releases[i];
        strcat(strcat(names, i ? ", " : ""), all[i]);
    }
    err_set(err, STATUS_USAGE, "there is no MOT release '%.60s'; the releases are %s%s", name, names,
            suggestion(name, all, RELEASES).text);
    return NULL;
}

enum { TEST, VEHICLE, DATE, CLASS, TYPE, RESULT, MILES, AREA, MAKE, MODEL };
enum { COLOUR = MODEL + 1, FUEL, CC, FIRST_USE, COMPLETED, COLUMNS };
static const char *const column_names[COLUMNS] = {
    "test_id",     "vehicle_id",   "test_date",         "test_class_id",  "test_type",
    "test_result", "test_mileage", "postcode_area",     "make",           "model",
    "colour",      "fuel_type",    "cylinder_capacity", "first_use_date", "completed_date"};

/* Fields that follow each other, each with its delimiter. */
typedef struct {
    char text[63];
    uint8_t length;
} cell_t;

/* Two letters in the newer files, one in the oldest ones, of which only P and D are known for certain: mostly the first. */
static char old_fuel(const char *fuel) {
    const char *other = *fuel ? strstr("HY=H ED=H LN=N GB=B GD=B", fuel) : NULL;
    return other ? other[3] : *fuel;
}

/* Adds a text of the data file as the release writes it: _ is a blank, % a pipe, ~ the letter E with an acute accent in
 * Latin-1, NULL an absent date. */
static void add_field(cell_t *cell, const release_t *release, unsigned column, const char *text) {
    char *to = cell->text + cell->length, old[] = {old_fuel(text), '\0'};
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
    cell->length = (uint8_t)(to - cell->text);
}

static cell_t cell_of(const release_t *release, unsigned column, const char *text) {
    cell_t cell = {.length = 0};
    add_field(&cell, release, column, text);
    return cell;
}

/* ---- the fleet ---- */

enum { KINDS = 1024, CLASSES = 8, OUTCOMES = 16, COLOURS = 32, AREAS = 128 };
enum { AGES = 61, DAYS = 366, SPREAD_POINTS = 33 };
/* Each thing is drawn in this many steps of equal probability. */
enum { VEHICLE_STEPS = 1 << 16, STEPS = 4096, MILEAGE_STEPS = 256 };

/* A model with one of its engines, and in which years and with which share of the model's sales it was sold. */
typedef struct {
    cell_t model, engine; /* make and model; fuel and capacity */
    int32_t test_class, miles_a_year, share, from, to;
    char burns; /* P petrol, D diesel */
} kind_t;

typedef struct {
    cell_t cell; /* type and result */
    bool retest, failure;
} outcome_t;

/* Numbers that the data file gives by these names: see there. */
enum { DIESEL, ELECTRIC, TESTS, DRIVEN, MILEAGE, FIRST_USES, MONTHS, WEEKDAYS, LISTS };
static const char *const list_names[LISTS] = {"diesel",  "electric",  "tests",  "driven",
                                              "mileage", "first-use", "months", "weekdays"};

typedef struct {
    facts_t file;
    int32_t lists[LISTS][AGES];
    size_t kinds;
    kind_t kind[KINDS];
    int64_t weights[KINDS * AGES]; /* of a kind, by age */
    outcome_t outcome[OUTCOMES];
    cell_t colour[COLOURS], area[AREAS];
    int64_t day_ends[DAYS]; /* shares of the tests of the year until the end of each of its days */
    /* what is drawn at each step */
    uint16_t vehicle_at[VEHICLE_STEPS]; /* kind * AGES + age */
    uint16_t colour_at[STEPS], area_at[STEPS], outcome_at[STEPS], first_day_at[STEPS];
} fleet_t;

/* A vehicle at its test: all that a retest has in common with the test before it. */
typedef struct {
    uint32_t id, mileage;
    uint16_t kind, first_year, first_day; /* the day of the year, from 0 */
    uint8_t colour, area;
} car_t;

enum {
    TEST_IDS = 1999999000, /* the largest ids that were published lie just below these */
    VEHICLE_IDS = 1499999000,
    MOST_ROWS = 1000000000, /* their ids are unique and stay below the largest that was published */
    FAILED_MOST = 1024,
    OPENS = 8 * 60, /* minutes: from eight o'clock, for ten hours */
    OPEN_MINUTES = 600,
};

typedef struct {
    const release_t *release;
    uint64_t rows, row, key;
    uint32_t test_key, vehicle_key, vehicles;
    unsigned day; /* of the year, from 0 */
    cell_t test_date;
    date_t days[2][DAYS]; /* of a common and a leap year */
    /* vehicles that failed and have not come back */
    uint32_t failed_in, failed_out;
    car_t failed[FAILED_MOST];
    fleet_t fleet;
    odd_plan_t odd;
} mot_t;

/* Which of the shares covers each of equal steps. */
static void spread(uint16_t *at, int64_t steps, const int64_t *shares, size_t count) {
    int64_t sum = 0, below = 0, step = 0;
    for (size_t i = 0; i < count; i++)
        sum += shares[i];
    for (size_t i = 0; i < count; i++)
        for (below += shares[i]; step < steps && (2 * step + 1) * sum < below * 2 * steps; step++)
            at[step] = (uint16_t)i;
}

static int32_t miles_a_year(int32_t test_class, const char *fuel) {
    static const uint16_t by_class[CLASSES] = {7500, 1900, 2600, 2000, 0, 9500, 0, 13500};
    if (by_class[test_class])
        return by_class[test_class];
    return *fuel == 'P' ? 7300 : *fuel == 'D' ? 11000 : *fuel == 'H' ? 10500 : fuel[1] == 'D' ? 12000 : 8800;
}

/* The weight of an engine among those of its model in a year. */
static int64_t weight_in(const fleet_t *fleet, const kind_t *kind, int32_t year) {
    const int32_t *percents = fleet->lists[kind->burns == 'D' ? DIESEL : ELECTRIC];
    if (year < kind->from || year > kind->to)
        return 0;
    return kind->share * (kind->burns == 'P' ? 100 : percents[year < 1990 ? 0 : year - 1990]);
}

/* "FORD FIESTA 4 1322 PE 54 1299 1989-2011 PE 54 1242 2001-2023 EL 3 2020-2023": class and sales of a model, and its engines. */
static void read_model(mot_t *mot, const char *make, char *rest) {
    const release_t *release = mot->release;
    fleet_t *fleet = &mot->fleet;
    const size_t first = fleet->kinds;
    const char *model = facts_word(&rest);
    const int32_t test_class = facts_number(&rest), sold = facts_number(&rest);
    for (char *fuel; *(fuel = facts_word(&rest)) && fleet->kinds < KINDS;) {
        kind_t *kind = &fleet->kind[fleet->kinds++];
        *kind = (kind_t){.test_class = test_class, .share = facts_number(&rest), .burns = *fuel};
        add_field(&kind->model, release, MAKE, make);
        add_field(&kind->model, release, MODEL, model);
        add_field(&kind->engine, release, FUEL, fuel);
        const char *cc = facts_word(&rest);
        add_field(&kind->engine, release, CC, *cc == '-' ? "" : cc);
        kind->miles_a_year = miles_a_year(test_class, fuel);
        facts_range(&rest, &kind->from, &kind->to);
    }
    for (int32_t age = 0; age < AGES; age++) {
        int64_t all = 0;
        for (size_t k = first; k < fleet->kinds; k++)
            all += weight_in(fleet, &fleet->kind[k], release->year - age);
        for (size_t k = first; all && k < fleet->kinds; k++)
            fleet->weights[k * AGES + (size_t)age] = weight_in(fleet, &fleet->kind[k], release->year - age) *
                                                     sold * fleet->lists[TESTS][age] / all;
    }
}

/* "RT/P+" */
static outcome_t outcome_of(const release_t *release, char *result) {
    outcome_t outcome = {.retest = strchr(result, '+')};
    add_field(&outcome.cell, release, TYPE, strsep(&result, "/"));
    result[strcspn(result, "+")] = '\0';
    add_field(&outcome.cell, release, RESULT, result);
    outcome.failure = strcmp(result, "F") == 0;
    return outcome;
}

/* Texts, each with its share of 2023; colours with those of 2013 and 2023, between which this year's is. */
static void read_shares(mot_t *mot, char *rest, unsigned column, uint16_t *at) {
    fleet_t *fleet = &mot->fleet;
    int64_t shares[AREAS], later = mot->release->year - 2013;
    size_t count = 0;
    for (char *word; *(word = facts_word(&rest)); count++) {
        shares[count] = facts_number(&rest);
        if (column == TYPE)
            fleet->outcome[count] = outcome_of(mot->release, word);
        else
            (column == AREA ? fleet->area : fleet->colour)[count] = cell_of(mot->release, column, word);
        if (column == COLOUR)
            shares[count] = shares[count] * (11 - later) + facts_number(&rest) * later;
    }
    spread(at, STEPS, shares, count);
}

static void read_line(mot_t *mot, char *rest) {
    fleet_t *fleet = &mot->fleet;
    const char *word = facts_word(&rest);
    int32_t from, to;
    size_t list = 0;
    while (list < LISTS && strcmp(list_names[list], word) != 0)
        list++;
    if (list < LISTS) {
        for (size_t i = 0; i < AGES; i++)
            fleet->lists[list][i] = facts_number(&rest);
    } else if (strcmp(word, "colours") == 0) {
        read_shares(mot, rest, COLOUR, fleet->colour_at);
    } else if (strcmp(word, "areas") == 0) {
        read_shares(mot, rest, AREA, fleet->area_at);
    } else if (strcmp(word, mot->release->oldest ? "old" : "new") == 0) {
        read_shares(mot, rest, TYPE, fleet->outcome_at);
    } else if (strcmp(word, "odd") == 0) { /* "2016-2020 100000 test_type=PL; test_result=P" */
        facts_range(&rest, &from, &to);
        if (from <= mot->release->year && mot->release->year <= to)
            odd_add(&mot->odd, rest);
    } else if (strcmp(word, "old") != 0 && strcmp(word, "new") != 0) {
        read_model(mot, word, rest);
    }
}

/* Of tests by month and weekday, of first uses by month. */
static void init_days(mot_t *mot) {
    fleet_t *fleet = &mot->fleet;
    int64_t first_use[DAYS], until = 0;
    int32_t new_year;
    calendar_days((uint32_t)mot->release->year, 1, 1, &new_year);
    for (int32_t day = 0; day < DAYS; day++) {
        date_t date;
        calendar_date(11323 + day, &mot->days[0][day]); /* 2001 */
        calendar_date(10957 + day, &mot->days[1][day]); /* 2000 */
        calendar_date(new_year + day, &date);
        if (date.year == (uint32_t)mot->release->year)
            until += fleet->lists[MONTHS][date.month - 1] * fleet->lists[WEEKDAYS][(new_year + day + 3) % 7];
        fleet->day_ends[day] = until;
        first_use[day] = fleet->lists[FIRST_USES][date.month - 1];
    }
    spread(fleet->first_day_at, STEPS, first_use, 365);
}

static void enter_day(mot_t *mot) {
    char text[32];
    const date_t *date = &mot->days[mot->release->year % 4 == 0][mot->day];
    snprintf(text, sizeof text, "%d-%02u-%02u", (int)mot->release->year, date->month, date->day);
    mot->test_date = cell_of(mot->release, DATE, text);
}

/* ---- a maker ---- */

static bool check(const generate_t *what, err_t *err) {
    return find_release(what->release, err);
}

static unsigned columns_of(const release_t *release) {
    return release->completed ? COLUMNS : COMPLETED;
}

static char *put_header(const release_t *release, char *to) {
    for (unsigned column = 0; column < columns_of(release); column++) {
        to = stpcpy(to, column_names[column]);
        *to++ = release->delimiter;
    }
    to[-1] = '\n';
    return to;
}

static char *begin(void *maker, const generate_t *what, char *to, err_t *err) {
    mot_t *mot = maker;
    fleet_t *fleet = &mot->fleet;
    mot->release = find_release(what->release, err);
    mot->rows = what->count;
    uint64_t keys = chance_bits(what->seed, (uint64_t)mot->release->year);
    mot->key = chance_bits(keys, 1);
    mot->test_key = (uint32_t)chance_bits(keys, 2);
    mot->vehicle_key = (uint32_t)chance_bits(keys, 3);
    odd_init(&mot->odd, chance_bits(keys, 4));
    if (!facts_open(&fleet->file, "mot", err))
        return NULL;
    for (char *line; (line = facts_line(&fleet->file));)
        read_line(mot, line);
    spread(fleet->vehicle_at, VEHICLE_STEPS, fleet->weights, fleet->kinds * AGES);
    init_days(mot);
    enter_day(mot);
    return mot->release->oldest ? to : put_header(mot->release, to);
}

static void end(void *maker) {
    free(((mot_t *)maker)->fleet.file.text);
}

/* ---- drawing: 128 random bits a row ---- */

typedef struct {
    uint64_t a, b;
} draw_t;

static inline unsigned part(uint64_t bits, unsigned from, unsigned count) {
    return (unsigned)(bits >> from & ((1u << count) - 1));
}

/* In 256ths of its kind's average: between two quantiles. */
static inline unsigned mileage_at(const fleet_t *fleet, unsigned step) {
    enum { PARTS = MILEAGE_STEPS / (SPREAD_POINTS - 1) };
    const int32_t *from = &fleet->lists[MILEAGE][step / PARTS];
    return ((unsigned)from[0] * (PARTS - step % PARTS) + (unsigned)from[1] * (step % PARTS)) / PARTS;
}

static inline car_t new_car(mot_t *mot, draw_t draw) {
    const fleet_t *fleet = &mot->fleet;
    unsigned vehicle = fleet->vehicle_at[part(draw.a, 48, 16)];
    unsigned kind = vehicle / AGES, age = vehicle % AGES;
    unsigned miles_a_year =
        (unsigned)fleet->kind[kind].miles_a_year * mileage_at(fleet, part(draw.b, 36, 8)) / 256u;
    /* half of the tests are made when they fall due, in the month before the anniversary of first use */
    bool when_due = part(draw.a, 4, 1);
    unsigned due = (mot->day + part(draw.a, 17, 5)) % 365;
    return (car_t){
        .id = whole_scatter(mot->vehicles++, mot->vehicle_key, VEHICLE_IDS) + 1,
        .mileage = miles_a_year * (unsigned)fleet->lists[DRIVEN][age] / 64 + part(draw.a, 32, 12),
        .kind = (uint16_t)kind,
        .first_day = when_due ? (uint16_t)due : fleet->first_day_at[part(draw.a, 5, 12)],
        .first_year = (uint16_t)((unsigned)mot->release->year - age),
        .colour = (uint8_t)fleet->colour_at[part(draw.b, 0, 12)],
        .area = (uint8_t)fleet->area_at[part(draw.b, 12, 12)],
    };
}

/* The vehicle of a test: one that failed, for a retest while there are some; else a new one. */
static inline car_t draw_car(mot_t *mot, draw_t draw, const outcome_t *outcome) {
    car_t car;
    if (outcome->retest && mot->failed_out != mot->failed_in) {
        car = mot->failed[mot->failed_out++ % FAILED_MOST];
        car.mileage += part(draw.a, 32, 4);
    } else {
        car = new_car(mot, draw);
    }
    if (outcome->failure && mot->failed_in - mot->failed_out < FAILED_MOST)
        mot->failed[mot->failed_in++ % FAILED_MOST] = car;
    return car;
}

/* ---- writing: copies of fixed size that may write past a field's end, where the next field comes ---- */

static inline char *put_cell(char *to, const cell_t *cell) {
    memcpy(to, cell->text, 16);
    if (cell->length > 16)
        memcpy(to + 16, cell->text + 16, sizeof cell->text - 16);
    return to + cell->length;
}

static inline char *put_number(char *to, uint32_t number, char delimiter) {
    to = digits_put(to, number, 0);
    *to++ = delimiter;
    return to;
}

/* 2024-05-06 or 23:59:59 */
static inline char *put_parts(char *to, const unsigned parts[3], char between) {
    for (unsigned i = 0; i < 3; i++) {
        to = digits_put(to, parts[i], between == '-' && i == 0 ? 4 : 2);
        *to++ = between;
    }
    return to - 1;
}

static inline char *put_first_use(const mot_t *mot, const car_t *car, char *to) {
    const date_t *date = &mot->days[car->first_year % 4 == 0][car->first_day];
    bool quoted = mot->release->quoting == QUOTING_TEXT;
    *to = '"';
    to = put_parts(to + quoted, (unsigned[]){car->first_year, date->month, date->day}, '-');
    *to = '"';
    to[quoted] = mot->release->delimiter;
    return to + quoted + 1;
}

/* "2024-05-06T08:30:15.000Z" */
static char *put_completed(const mot_t *mot, draw_t draw, char *to) {
    unsigned minute = OPENS + part(draw.b, 54, 10) * OPEN_MINUTES / 1024;
    to = put_cell(to, &mot->test_date);
    to[-1] = 'T';
    to = put_parts(to, (unsigned[]){minute / 60, minute % 60, part(draw.a, 22, 10) * 60 / 1024}, ':');
    to = stpcpy(to, ".000Z");
    *to++ = mot->release->delimiter;
    return to;
}

/* All cells end with the delimiter, the last one too. */
static inline char *put_test(const mot_t *mot, const car_t *car, const outcome_t *outcome, draw_t draw,
                             char *to) {
    const fleet_t *fleet = &mot->fleet;
    const kind_t *kind = &fleet->kind[car->kind];
    char delimiter = mot->release->delimiter;
    to = put_number(to, whole_scatter((uint32_t)mot->row, mot->test_key, TEST_IDS) + 1, delimiter);
    to = put_number(to, car->id, delimiter);
    to = put_cell(to, &mot->test_date);
    to = put_number(to, (uint32_t)kind->test_class, delimiter);
    to = put_cell(to, &outcome->cell);
    to = put_number(to, car->mileage, delimiter);
    to = put_cell(to, &fleet->area[car->area]);
    to = put_cell(to, &kind->model);
    to = put_cell(to, &fleet->colour[car->colour]);
    to = put_cell(to, &kind->engine);
    to = put_first_use(mot, car, to);
    return mot->release->completed ? put_completed(mot, draw, to) : to;
}

/* ---- rows ---- */

typedef struct {
    const release_t *release;
    char *from, *end; /* of the row, which may grow */
    bool header;      /* before the row */
} odd_row_t;

/* The begin of a column, which is the end of the one before it. A model may hold delimiters, so the columns after it are
 * counted from the end. */
static char *column_at(const odd_row_t *row, unsigned column) {
    const char delimiter = row->release->delimiter;
    char *at = column <= MODEL ? row->from : row->end;
    for (unsigned i = 0; column <= MODEL && i < column; i++)
        at = strchr(at, delimiter) + 1;
    for (unsigned i = column; column > MODEL && i < columns_of(row->release); i++)
        at = (char *)memrchr(row->from, delimiter, (size_t)(at - 1 - row->from)) + 1;
    return at;
}

/* Changes or checks the column named by place: see odd_change_t. */
static bool change(void *of, char asks, const char *place, const char *text) {
    odd_row_t *row = of;
    unsigned column = 0;
    while (column < COLUMNS && strcmp(column_names[column], place) != 0)
        column++;
    if (column == COLUMNS)
        return row->header = true;
    const cell_t cell = cell_of(row->release, column, text);
    char *at = column_at(row, column), *end = column_at(row, column + 1);
    if (asks)
        return end - at != cell.length;
    memmove(at + cell.length, end, (size_t)(row->end - end));
    memcpy(at, cell.text, cell.length);
    row->end += cell.length - (end - at);
    return true;
}

/* An odd row always has a vehicle of its own: its oddity must not look like a change from test to test. */
static __attribute__((noinline)) char *put_odd_row(mot_t *mot, draw_t draw, const outcome_t *outcome,
                                                   char *to) {
    const car_t car = new_car(mot, draw);
    odd_row_t row = {.release = mot->release, .from = put_header(mot->release, to)};
    row.end = put_test(mot, &car, outcome, draw, row.from);
    odd_apply(&mot->odd, change, &row);
    if (row.header)
        return row.end;
    memmove(to, row.from, (size_t)(row.end - row.from));
    return row.end - (row.from - to);
}

static char *put_row(void *maker, char *to) {
    mot_t *mot = maker;
    const int64_t *ends = mot->fleet.day_ends;
    for (; mot->row * (uint64_t)ends[DAYS - 1] >= mot->rows * (uint64_t)ends[mot->day]; enter_day(mot))
        mot->day++;
    const draw_t draw = {chance_bits(mot->key, 2 * mot->row), chance_bits(mot->key, 2 * mot->row + 1)};
    const outcome_t *outcome = &mot->fleet.outcome[mot->fleet.outcome_at[part(draw.b, 24, 12)]];
    if (mot->row == mot->odd.next) {
        to = put_odd_row(mot, draw, outcome, to);
    } else {
        const car_t car = draw_car(mot, draw, outcome);
        to = put_test(mot, &car, outcome, draw, to);
    }
    mot->row++;
    to[-1] = '\n';
    return to;
}

const generate_kind_t generate_mot = {"mot", "rows",  sizeof(mot_t), MOST_ROWS, check,
                                      begin, put_row, end,           NULL};
