/* mot: MOT test results, in the manner of eight releases of the published files.
 *
 * A row is an array of cells: texts that are ready to be copied, with the release's quotes and delimiter. The maker
 * has the cells of all models with each of their engines (a kind), and for each step of a random number the kind and age
 * of a vehicle, its colour, its area and the outcome of its test, each as often as its share says. Rows follow each other
 * from the first day of the year to the last. Rows of vehicles that failed wait in a ring until an outcome is a retest,
 * which has all their cells except those of the test. An odd row is one of which some cells are replaced.
 *
 * The data file mot says what vehicles are like, how their tests are spread, and which rows are odd. */
#include "base/text.h"
#include "format/values/calendar.h"
#include "generate/draw.h"
#include "generate/generate.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The release of 2013 has no header and fuels of one letter, that of 2024 a column more. */
enum { RELEASES = 8, USUAL_RELEASE = 6, OLDEST = 2013, NEWEST = 2024 };
static const char *const releases[RELEASES] = {"2013", "2016", "2017-first", "2017",
                                               "2020", "2021", "2023",       "2024"};
static const char delimiters[] = "||,|,,|,";

enum { TEST, VEHICLE, DATE, CLASS, TYPE, RESULT, MILES, AREA, MAKE, MODEL };
enum { COLOUR = MODEL + 1, FUEL, CC, FIRST_USE, COMPLETED, COLUMNS };
static const char *const column_names[COLUMNS] = {
    "test_id",     "vehicle_id",   "test_date",         "test_class_id",  "test_type",
    "test_result", "test_mileage", "postcode_area",     "make",           "model",
    "colour",      "fuel_type",    "cylinder_capacity", "first_use_date", "completed_date"};

/* Numbers that the data file gives by these names: see there. */
enum { DIESEL, ELECTRIC, TESTS, DRIVEN, MILEAGE, MILES_A_YEAR, FIRST_USES, MONTHS, WEEKDAYS, LISTS };
static const char *const list_names[LISTS] = {"diesel", "electric",  "tests",  "driven",  "mileage",
                                              "miles",  "first-use", "months", "weekdays"};

/* A field with its delimiter. */
typedef struct {
    char text[39];
    uint8_t length;
} cell_t;

typedef struct {
    cell_t cell[COLUMNS];
    uint32_t miles;
} row_t;

/* A model with one of its engines, and in which years and with which share of the model's sales it was sold. */
typedef struct {
    row_t row; /* has its cells, and miles a year */
    int32_t share, from, to;
    char burns; /* P petrol, D diesel */
} kind_t;

enum { KINDS = 1024, CHOICES = 128, AGES = 61, DAYS = 366, FAILED_MOST = 1024, RING = 2048 };
/* Each thing is drawn in this many steps of equal probability. */
enum { VEHICLE_STEPS = 1 << 16, STEPS = 4096, MILEAGE_STEPS = 8 /* between two quantiles */ };
enum {
    TEST_IDS = 1999999000, /* the largest ids that were published lie just below these */
    VEHICLE_IDS = 1499999000,
    MOST_ROWS = 1000000000, /* their ids are unique and stay below the largest that was published */
};

typedef struct {
    int32_t year, new_year; /* of the tests, and the number of its first day */
    unsigned columns;
    char delimiter;
    bool quotes_texts, quotes_needed;
    facts_t file;
    int32_t lists[LISTS][AGES];
    size_t kinds;
    kind_t kind[KINDS];
    int64_t weights[KINDS * AGES];          /* of a kind, by age */
    row_t choice[CHOICES];                  /* column by column */
    bool retest[CHOICES], failure[CHOICES]; /* of test types and results */
    int64_t day_begins[DAYS + 1]; /* shares of the tests of the year before each of its days, and in all */
    /* what is drawn at each step */
    uint16_t vehicle_at[VEHICLE_STEPS]; /* kind * AGES + age */
    uint16_t choice_at[COLUMNS][STEPS], first_day_at[STEPS];

    uint64_t rows, made, key;
    uint32_t test_key, vehicle_key, vehicles;
    int32_t days;      /* of the year that have begun */
    bool header;       /* stands before the row */
    row_t *row, today; /* at hand; has the date of the tests */
    odd_plan_t odd;
    /* vehicles that failed and have not come back */
    uint32_t failed_in, failed_out;
    row_t ring[RING];
} mot_t;

/* ---- cells ---- */

/* Sets a cell of the row to a text of the data file, as the release writes it: see there. */
static void set_text(const mot_t *mot, row_t *row, unsigned column, const char *text) {
    const bool bare = column <= VEHICLE || column == CLASS || column == MILES || column == CC;
    const bool needs = mot->quotes_needed && (strchr(text, mot->delimiter) || strchr(text, '"'));
    const bool quoted = *text && !bare && (mot->quotes_texts || needs);
    const size_t longest = column == FUEL && mot->year == OLDEST ? 1 : sizeof row->cell->text;
    char *to = row->cell[column].text;
    if (quoted)
        *to++ = '"';
    for (const char *end = text + longest; *text && text < end; text++) {
        if (quoted && *text == '"')
            *to++ = '\\';
        *to++ = *text == '_' ? ' ' : *text == '%' ? '|' : *text == '~' ? '\xC9' : *text;
    }
    if (quoted)
        *to++ = '"';
    *to++ = mot->delimiter;
    row->cell[column].length = (uint8_t)(to - row->cell[column].text);
}

static inline void set_number(const mot_t *mot, row_t *row, unsigned column, uint32_t number) {
    char *text = row->cell[column].text, *end = digits_put(text, number, 0);
    *end++ = mot->delimiter;
    row->cell[column].length = (uint8_t)(end - text);
}

static void set_date(const mot_t *mot, row_t *row, unsigned column, int32_t day, unsigned second) {
    char text[] = "2024-05-06T08:30:15.000Z";
    date_t date;
    calendar_date(day, &date);
    digits_put(text, date.year, 4);
    digits_put(text + 5, date.month, 2);
    digits_put(text + 8, date.day, 2);
    digits_put(text + 11, second / 3600, 2);
    digits_put(text + 14, second / 60 % 60, 2);
    digits_put(text + 17, second % 60, 2);
    if (column != COMPLETED)
        text[10] = '\0';
    set_text(mot, row, column, text);
}

/* ---- reading the data file ---- */

/* The place of the name; `count`: it is none of them. */
static unsigned find(const char *const *names, unsigned count, const char *name) {
    unsigned i = 0;
    while (i < count && strcmp(names[i], name) != 0)
        i++;
    return i;
}

/* Which of the shares covers each of equal steps. */
static void spread(uint16_t *at, int64_t steps, const int64_t *shares, size_t count) {
    int64_t sum = 0, below = 0, step = 0;
    for (size_t i = 0; i < count; i++)
        sum += shares[i];
    for (size_t i = 0; i < count; i++)
        for (below += shares[i]; step < steps && (2 * step + 1) * sum < below * 2 * steps; step++)
            at[step] = (uint16_t)i;
}

/* The weight of an engine among those of its model in a year. */
static int64_t weight_in(const mot_t *mot, const kind_t *kind, int32_t year) {
    const int32_t *percents = mot->lists[kind->burns == 'D' ? DIESEL : ELECTRIC];
    if (year < kind->from || year > kind->to)
        return 0;
    return kind->share * (kind->burns == 'P' ? 100 : percents[year < 1990 ? 0 : year - 1990]);
}

/* "FORD FIESTA 4 1322 PE 54 1299 1989-2011 PE 54 1242 2001-2023 EL 3 - 2020-2023": class and sales of a model, and its engines. */
static void read_model(mot_t *mot, const char *make, char *rest) {
    enum { BY_FUEL = 4, FUELS = 8 };
    static const char *const fuels[] = {"PE", "DI", "HY", "ED"};
    const size_t first = mot->kinds;
    const char *model = facts_word(&rest), *test_class = facts_word(&rest);
    const unsigned miles = (unsigned)(*test_class - '0');
    const int32_t sold = facts_number(&rest);
    for (char *fuel; *(fuel = facts_word(&rest)) && mot->kinds < KINDS;) {
        kind_t *kind = &mot->kind[mot->kinds++];
        kind->burns = *fuel;
        kind->row.miles =
            (uint32_t)
                mot->lists[MILES_A_YEAR][miles == BY_FUEL ? FUELS + find(fuels, COUNT(fuels), fuel) : miles];
        kind->share = facts_number(&rest);
        const char *capacity = facts_word(&rest);
        set_text(mot, &kind->row, CLASS, test_class);
        set_text(mot, &kind->row, MAKE, make);
        set_text(mot, &kind->row, MODEL, model);
        set_text(mot, &kind->row, FUEL, fuel);
        set_text(mot, &kind->row, CC, capacity + (*capacity == '-'));
        facts_range(&rest, &kind->from, &kind->to);
    }
    for (int32_t age = 0; age < AGES; age++) {
        int64_t all = 0;
        for (size_t k = first; k < mot->kinds; k++)
            all += weight_in(mot, &mot->kind[k], mot->year - age);
        for (size_t k = first; all && k < mot->kinds; k++)
            mot->weights[k * AGES + (size_t)age] =
                weight_in(mot, &mot->kind[k], mot->year - age) * sold * mot->lists[TESTS][age] / all;
    }
}

/* Texts of a column, each with its share of 2023; colours with those of 2013 and 2023, between which this year's is. */
static void read_shares(mot_t *mot, unsigned column, char *rest) {
    const int64_t later = mot->year - OLDEST;
    int64_t shares[CHOICES];
    size_t count = 0;
    for (char *word; *(word = facts_word(&rest)); count++) {
        const char *text = strsep(&word, "/");
        set_text(mot, &mot->choice[count], column, text);
        shares[count] = facts_number(&rest);
        if (column == COLOUR)
            shares[count] = shares[count] * (11 - later) + facts_number(&rest) * later;
        if (column == TYPE) { /* "RT/P" */
            set_text(mot, &mot->choice[count], RESULT, word);
            mot->retest[count] = *text != 'N';
            mot->failure[count] = strcmp(word, "F") == 0;
        }
    }
    spread(mot->choice_at[column], STEPS, shares, count);
}

static void read_line(mot_t *mot, char *rest) {
    int32_t from = mot->year, to = mot->year;
    if (isdigit((unsigned char)*rest))
        facts_range(&rest, &from, &to);
    const char *word = facts_word(&rest);
    const unsigned list = find(list_names, LISTS, word), column = find(column_names, COLUMNS, word);
    if (mot->year < from || to < mot->year)
        return;
    for (size_t i = 0; list < LISTS && i < AGES; i++)
        mot->lists[list][i] = facts_number(&rest);
    if (column < COLUMNS)
        read_shares(mot, column, rest);
    else if (strcmp(word, "odd") == 0) /* "100000 test_type=PL; test_result=P" */
        odd_add(&mot->odd, rest);
    else if (list == LISTS)
        read_model(mot, word, rest);
}

/* Of tests by month and weekday, of first uses by month. */
static void init_days(mot_t *mot) {
    int64_t first_use[DAYS], until = 0;
    calendar_days((uint32_t)mot->year, 1, 1, &mot->new_year);
    for (int32_t day = 0; day < DAYS; day++) {
        date_t date;
        calendar_date(mot->new_year + day, &date);
        if (date.year == (uint32_t)mot->year)
            until += mot->lists[MONTHS][date.month - 1] * mot->lists[WEEKDAYS][(mot->new_year + day + 3) % 7];
        mot->day_begins[day + 1] = until;
        first_use[day] = mot->lists[FIRST_USES][date.month - 1];
    }
    spread(mot->first_day_at, STEPS, first_use, 365);
}

/* ---- a maker ---- */

/* Its place among all; negative with a sentence: there is none of that name. */
static int release_of(const generate_t *what, err_t *err) {
    return what->release ? choose_word("release", what->release, releases, RELEASES, err) : USUAL_RELEASE;
}

static bool check(const generate_t *what, err_t *err) {
    return release_of(what, err) >= 0;
}

static char *put_header(const mot_t *mot, char *to) {
    for (unsigned column = 0; column < mot->columns; column++) {
        to = stpcpy(to, column_names[column]);
        *to++ = mot->delimiter;
    }
    to[-1] = '\n';
    return to;
}

static char *begin(void *maker, const generate_t *what, char *to, err_t *err) {
    mot_t *mot = maker;
    const int release = release_of(what, err);
    mot->year = (int32_t)strtol(releases[release], NULL, 10);
    mot->columns = mot->year == NEWEST ? COLUMNS : COMPLETED;
    mot->delimiter = delimiters[release];
    mot->quotes_texts = mot->year == 2021;
    mot->quotes_needed = mot->year == 2020 || mot->year == NEWEST;
    mot->rows = what->count;
    const uint64_t keys = chance_bits(what->seed, (uint64_t)mot->year);
    mot->key = chance_bits(keys, 1);
    mot->test_key = (uint32_t)chance_bits(keys, 2);
    mot->vehicle_key = (uint32_t)chance_bits(keys, 3);
    odd_init(&mot->odd, chance_bits(keys, 4));
    if (!facts_open(&mot->file, "mot", err))
        return NULL;
    for (char *line; (line = facts_line(&mot->file));)
        read_line(mot, line);
    spread(mot->vehicle_at, VEHICLE_STEPS, mot->weights, mot->kinds * AGES);
    init_days(mot);
    return mot->year == OLDEST ? to : put_header(mot, to);
}

static void end(void *maker) {
    free(((mot_t *)maker)->file.text);
}

/* ---- rows: 128 random bits each ---- */

static inline unsigned part(uint64_t bits, unsigned from, unsigned count) {
    return (unsigned)(bits >> from & ((1u << count) - 1));
}

/* Copies one of the column's choices. */
static inline void choose(const mot_t *mot, row_t *row, unsigned column, unsigned step) {
    row->cell[column] = mot->choice[mot->choice_at[column][step]].cell[column];
}

static inline void draw_vehicle(mot_t *mot, row_t *row, uint64_t a, uint64_t b) {
    const unsigned vehicle = mot->vehicle_at[part(a, 48, 16)], age = vehicle % AGES;
    /* the mileage in 256ths of its kind's average: between two quantiles */
    const unsigned step = part(b, 36, 8), beyond = step % MILEAGE_STEPS;
    const int32_t *quantile = &mot->lists[MILEAGE][step / MILEAGE_STEPS];
    const unsigned share =
        ((unsigned)quantile[0] * (MILEAGE_STEPS - beyond) + (unsigned)quantile[1] * beyond) / MILEAGE_STEPS;
    /* half of the tests are made when they fall due, in the month before the anniversary of first use */
    const int32_t due = (mot->days - 1 + (int32_t)part(a, 17, 5)) % 365;
    int32_t first_use;
    calendar_days((uint32_t)mot->year - age, 1, 1, &first_use);
    first_use += part(a, 4, 1) ? due : mot->first_day_at[part(a, 5, 12)];
    const row_t *kind = &mot->kind[vehicle / AGES].row;
    memcpy(&row->cell[MAKE], &kind->cell[MAKE], (CC + 1 - MAKE) * sizeof *kind->cell);
    row->cell[CLASS] = kind->cell[CLASS];
    row->miles = kind->miles * share / 256u * (unsigned)mot->lists[DRIVEN][age] / 64 + part(a, 32, 12);
    set_number(mot, row, VEHICLE, whole_scatter(mot->vehicles++, mot->vehicle_key, VEHICLE_IDS) + 1);
    choose(mot, row, AREA, part(b, 12, 12));
    choose(mot, row, COLOUR, part(b, 0, 12));
    set_date(mot, row, FIRST_USE, first_use, 0);
}

/* Tests are made from eight o'clock, for ten hours. */
static inline void draw_test(mot_t *mot, row_t *row, uint64_t a, uint64_t b) {
    const unsigned minute = 8 * 60 + part(b, 54, 10) * 600 / 1024, second = part(a, 22, 10) * 60 / 1024;
    set_number(mot, row, TEST, whole_scatter((uint32_t)mot->made, mot->test_key, TEST_IDS) + 1);
    row->cell[DATE] = mot->today.cell[DATE];
    set_number(mot, row, MILES, row->miles);
    if (mot->columns == COLUMNS)
        set_date(mot, row, COMPLETED, mot->new_year + mot->days - 1, 60 * minute + second);
}

/* Changes or checks a cell of the row at hand: see odd_change_t. */
static bool change(void *maker, char asks, const char *place, const char *text) {
    mot_t *mot = maker;
    const unsigned column = find(column_names, COLUMNS, place);
    if (column == COLUMNS)
        return mot->header = true;
    row_t row;
    set_text(mot, asks ? &row : mot->row, column, text);
    return !asks || row.cell[column].length != mot->row->cell[column].length;
}

/* A new row comes into the next place of the ring, and stays there if its vehicle failed. An odd row always has a vehicle of
 * its own: its oddity must not look like a change from test to test. */
static char *put_row(void *maker, char *to) {
    mot_t *mot = maker;
    const bool odd = mot->made == mot->odd.next;
    const int64_t *begins = mot->day_begins;
    while (mot->made * (uint64_t)begins[DAYS] >= mot->rows * (uint64_t)begins[mot->days])
        set_date(mot, &mot->today, DATE, mot->new_year + mot->days++, 0);
    const uint64_t a = chance_bits(mot->key, 2 * mot->made), b = chance_bits(mot->key, 2 * mot->made + 1);
    const unsigned outcome = mot->choice_at[TYPE][part(b, 24, 12)];
    row_t *next = &mot->ring[mot->failed_in % RING], *row = next;
    if (mot->retest[outcome] && mot->failed_out != mot->failed_in && !odd) {
        row = &mot->ring[mot->failed_out++ % RING];
        row->miles += part(a, 32, 4);
    } else {
        draw_vehicle(mot, row, a, b);
    }
    draw_test(mot, row, a, b);
    row->cell[TYPE] = mot->choice[outcome].cell[TYPE];
    row->cell[RESULT] = mot->choice[outcome].cell[RESULT];
    mot->row = row;
    mot->header = false;
    if (odd)
        odd_apply(&mot->odd, change, mot);
    if (mot->header)
        to = put_header(mot, to);
    for (const cell_t *cell = row->cell; cell < row->cell + mot->columns; cell++)
        to = (char *)memcpy(to, cell->text, sizeof cell->text) + cell->length;
    if (mot->failure[outcome] && mot->failed_in - mot->failed_out < FAILED_MOST && !odd) {
        mot->failed_in++;
        if (row != next)
            *next = *row;
    }
    mot->made++;
    to[-1] = '\n';
    return to;
}

const generate_kind_t generate_mot = {"mot", "rows",  sizeof(mot_t), MOST_ROWS, check,
                                      begin, put_row, end,           NULL};
