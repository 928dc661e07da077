/* mot: MOT test results, in the manner of eight releases of the published files.
 *
 * The rows of mot say what vehicles are like, how their tests are spread, what a row looks like in each release, and which
 * rows are odd. A vehicle follows from its number alone: one that failed waits with its number in a ring until an outcome
 * is a retest, and is drawn again. Rows follow each other from the first day of the year to the last. */
#include "base/text.h"
#include "generate/generate.h"
#include "generate/rows.h"

#include <stdlib.h>
#include <string.h>

/* The release of 2013 has no header, that of 2024 a column more. Quotes: 1 where they are needed, 2 around all texts. */
enum { RELEASES = 8, USUAL_RELEASE = 6, OLDEST = 2013, NEWEST = 2024, COLUMNS = 14 };
static const char *const releases[RELEASES] = {"2013", "2016", "2017-first", "2017",
                                               "2020", "2021", "2023",       "2024"};
static const char bars[] = "11010010", quotes[] = "00001201";

/* What the rows take from here: of the release; the day, ids, kind and age of a vehicle, the day on which it was drawn, and its
 * further miles. And what they give: the date; of a day, the tests of the year until its end; of a test, what it is; how often
 * a kind comes at an age; and the kinds, by a column of theirs. */
enum { YEAR = 1, BARS, QUOTES, DAY, TEST, VEHICLE, KIND, AGE, SINCE, FURTHER };
enum { DATE = FURTHER + 1, UNTIL, RETEST, FAILURE, WEIGHT, SALES };
static const char *const names[] = {"year",   "bars",    "quotes", "day",     "test", "vehicle",
                                    "kind",   "age",     "since",  "further", "date", "until",
                                    "retest", "failure", "weight", "sales",   NULL};

enum { KINDS = 1024, AGES = 61, GUIDE = 1 << 15, RING = 1024 };
enum {
    TEST_IDS = 1999999000, /* the largest ids that were published lie just below these */
    VEHICLE_IDS = 1499999000,
    MOST_ROWS = 1000000000, /* their ids are unique and stay below the largest that was published */
    HEADER_EVERY = 371000,  /* rows of the newest release: 180 headers in 66.9 million were published */
};

typedef struct {
    uint32_t number;
    double since, further;
} vehicle_t;

typedef struct {
    rows_t rows;
    const block_t *test, *row;
    size_t columns, kinds;
    const char *ends; /* of fields: the delimiter, and the end of the line */
    shares_t shares;  /* of all kinds at each age */
    double below[AGES * KINDS];
    uint32_t guide[GUIDE + 1];
    double count, tests; /* of the file; of the year, in the measure of UNTIL */
    uint64_t key, vehicle_key;
    uint32_t made, vehicles, test_ids, vehicle_ids;
    char *row_text, *end; /* of the row at hand */
    /* vehicles that failed and have not come back */
    uint32_t failed, returned;
    vehicle_t ring[RING];
} mot_t;

/* ---- a maker ---- */

/* Its place among all; negative with a sentence: there is none of that name. */
static int release_of(const generate_t *what, err_t *err) {
    return what->release ? choose_word("release", what->release, releases, RELEASES, err) : USUAL_RELEASE;
}

static bool check(const generate_t *what, err_t *err) {
    return release_of(what, err) >= 0;
}

/* How often each kind comes at each age. */
static void weigh(mot_t *mot) {
    const block_t *block = rows_block(&mot->rows, "weigh");
    double *value = mot->rows.value, *below = mot->below, sum = 0;
    for (value[AGE] = 0; value[AGE] < AGES; value[AGE]++)
        for (value[KIND] = 0; value[KIND] < (double)mot->kinds; value[KIND]++) {
            rows_run(&mot->rows, block, NULL);
            *below++ = sum += value[WEIGHT];
        }
    mot->shares = (shares_t){mot->below, mot->guide, AGES * mot->kinds, GUIDE};
    shares_guide(&mot->shares);
}

static char *begin(void *maker, const generate_t *what, char *to, err_t *err) {
    mot_t *mot = maker;
    double *value = mot->rows.value;
    const int release = release_of(what, err);
    const uint64_t year = strtoull(releases[release], NULL, 10), keys = chance_bits(what->seed, year);
    mot->count = (double)what->count;
    mot->columns = year == NEWEST ? COLUMNS + 1 : COLUMNS;
    mot->ends = bars[release] == '1' ? "|\n" : ",\n";
    mot->key = chance_bits(keys, 1);
    mot->vehicle_key = chance_bits(keys, 2);
    mot->test_ids = (uint32_t)chance_bits(keys, 3);
    mot->vehicle_ids = (uint32_t)chance_bits(keys, 4);
    mot->rows.odd.key = chance_bits(keys, 5);
    value[YEAR] = (double)year;
    value[BARS] = bars[release] - '0';
    value[QUOTES] = quotes[release] - '0';
    if (!rows_read(&mot->rows, "mot", names, err))
        return NULL;
    mot->kinds = mot->rows.column[SALES].shares.count;
    mot->test = rows_block(&mot->rows, "test");
    mot->row = rows_block(&mot->rows, "row");
    weigh(mot);
    rows_run(&mot->rows, rows_block(&mot->rows, "year"), NULL);
    for (double date = 0; date < value[YEAR] * 10000 + 1231; date = value[DATE])
        rows_run(&mot->rows, rows_block(&mot->rows, "day"), NULL);
    mot->tests = value[UNTIL];
    rows_run(&mot->rows, rows_block(&mot->rows, "year"), NULL);
    return year == OLDEST ? to : rows_header(&mot->rows, mot->columns, *mot->ends, to);
}

/* ---- rows ---- */

/* Maps each x below the limit to another number below the limit: a permutation of the 31-bit numbers, repeated until the
 * result is below the limit. */
static inline uint32_t scatter(uint32_t x, uint32_t key, uint32_t limit) {
    const uint32_t bits31 = 0x7fffffff;
    do {
        x = ((x ^ x >> 16) * 0x7feb352du ^ key) & bits31;
        x = ((x ^ x >> 15) * 0x846ca68bu) & bits31;
        x ^= x >> 16;
    } while (x >= limit);
    return x;
}

/* Changes a field of the row at hand, inside its quotes, or asks whether it has a text: see odd_change_t. */
static bool change(void *maker, char asks, const char *place, const char *text) {
    mot_t *mot = maker;
    char *from = mot->row_text;
    for (const field_t *field = mot->rows.format->fields; strcmp(field->columns.items->text, place) != 0;
         field++)
        from = strchr(from, *mot->ends) + 1;
    size_t length = strcspn(from, mot->ends);
    const size_t size = strlen(text);
    if (asks)
        return length > 0;
    if (*from == '"' && size) {
        from++;
        length -= 2;
    }
    memmove(from + size, from + length, (size_t)(mot->end - from) - length);
    memcpy(from, text, size);
    mot->end += (ptrdiff_t)size - (ptrdiff_t)length;
    return true;
}

/* An odd row always has a vehicle of its own: its oddity must not look like a change from test to test. */
static char *put_row(void *maker, char *to) {
    mot_t *mot = maker;
    rows_t *rows = &mot->rows;
    double *value = rows->value;
    const bool odd = mot->made == rows->odd.next;
    while (mot->made * mot->tests >= mot->count * value[UNTIL])
        rows_run(rows, rows_block(rows, "day"), NULL);
    rows->random = chance_bits(mot->key, mot->made);
    rows_run(rows, mot->test, NULL);
    vehicle_t vehicle = {mot->vehicles, value[DAY], 0};
    if (value[RETEST] > 0 && mot->returned != mot->failed && !odd)
        vehicle = mot->ring[mot->returned++ % RING];
    else
        mot->vehicles++;
    value[TEST] = scatter(mot->made++, mot->test_ids, TEST_IDS) + 1;
    value[VEHICLE] = scatter(vehicle.number, mot->vehicle_ids, VEHICLE_IDS) + 1;
    value[SINCE] = vehicle.since;
    value[FURTHER] = vehicle.further;
    const uint64_t kind = chance_bits(mot->vehicle_key, vehicle.number);
    const size_t at = shares_at(&mot->shares, part_of(kind));
    value[AGE] = (double)(at / mot->kinds);
    value[KIND] = (double)(at % mot->kinds);
    rows->random = ~kind;
    if (value[YEAR] == NEWEST && mot->made % HEADER_EVERY == 0)
        to = rows_header(rows, mot->columns, *mot->ends, to);
    mot->row_text = to;
    mot->end = rows_run(rows, mot->row, to);
    *mot->end++ = '\n';
    if (odd)
        odd_apply(&rows->odd, change, mot);
    if (value[FAILURE] > 0 && mot->failed - mot->returned < RING && !odd) {
        vehicle.further += (double)(kind & 15);
        mot->ring[mot->failed++ % RING] = vehicle;
    }
    return mot->end;
}

const generate_kind_t generate_mot = {"mot", "rows",  sizeof(mot_t), MOST_ROWS, check,
                                      begin, put_row, rows_end,      NULL};
