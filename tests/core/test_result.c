/* result: the document, its JSON, figures in words, lines and tables at a terminal. What is expected was written by hand. */
#include "heard.h"
#include "report/inner.h"
#include "server/bson_read.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void prints(bson_t *document, const char *expected) {
    result_t *result = result_new("try", NULL);
    bson_concat(&result->document, document);
    assert_heard(STDOUT_FILENO, expected, result_print_json(result, 7));
    bson_reinit(document);
    result_free(result);
}

#define BEGINS "{ \"schema\" : 1, \"command\" : \"try\", \"status\" : 7"

TEST(fields) {
    bson_t result = BSON_INITIALIZER;
    prints(&result, BEGINS " }\n");
    result_put(&result, AS_COUNT("most", INT64_MAX), AS_COUNT("id", -3), AS_FLAG("yes", 1 == 1),
               AS_TEXT("none", NULL), AS_TEXT("empty", ""));
    prints(&result, BEGINS ", \"most\" : 9223372036854775807, \"id\" : -3, \"yes\" : true, \"none\" : null, "
                           "\"empty\" : \"\" }\n");
}

/* A number has ten digits, and stays whole. */
TEST(numbers) {
    bson_t result = BSON_INITIALIZER;
    result_put(&result, AS_NUMBER("a", 100000), AS_NUMBER("b", 1.0 / 3), AS_NUMBER("c", 12345678901.0),
               AS_NUMBER("d", 1.23456789012e-7), AS_NUMBER("e", -INFINITY), AS_NUMBER("f", 1e40),
               AS_NUMBER("g", NAN), AS_NUMBER("h", -2.0), AS_SECONDS("i", 1345502123));
    prints(&result, BEGINS ", \"a\" : 100000, \"b\" : 0.3333333333, \"c\" : 12345678900, "
                           "\"d\" : 1.23456789e-07, \"e\" : null, \"f\" : 1e+40, \"g\" : null, \"h\" : -2, "
                           "\"i\" : 1.345502 }\n");
    assert_true(isnan(result_rate(3, 0)));
    assert_true(result_rate(3, 1500000000) == 2);
}

/* No secret, no control character, no byte that is not UTF-8. */
TEST(texts) {
    bson_t result = BSON_INITIALIZER;
    result_put(&result, AS_TEXT("of", "a\"\x1b\xC2\x9B\xFF\n mongodb://joe:s3cret@h"));
    prints(&result, BEGINS ", \"of\" : \"a\\\"\\u001b\\u009b\xEF\xBF\xBD\\n mongodb://joe:***@h\" }\n");
}

static void put_odd(bson_t *to, const void *numbers, size_t at) {
    const int number = ((const int *)numbers)[at];
    if (number % 2)
        result_put(to, AS_COUNT("is", number));
}

TEST(inner) {
    static const int numbers[] = {1, 2, 3, 5};
    bson_t result = BSON_INITIALIZER;
    result_put(&result, AS_LIST("odd", 3, put_odd, numbers), AS_LIST("none", 0, put_odd, NULL),
               AS_INNER("first", put_odd, numbers, 0), AS_INNER("second", put_odd, numbers, 1));
    assert_true(bson_read_number(&result, "odd.1.is") == 3);
    prints(&result, BEGINS ", \"odd\" : [ { \"is\" : 1 }, { \"is\" : 3 } ], \"none\" : [  ], "
                           "\"first\" : { \"is\" : 1 }, \"second\" : null }\n");
    result_items(&result, 3, put_odd, numbers);
    result_items(&result, 4, put_odd, numbers);
    assert_int_equal(bson_count_keys(&result), 5);
    assert_true(bson_read_number(&result, "4.is") == 5);
    bson_destroy(&result);
}

static void put_others(bson_t *to, TEST_UNUSED const void *of, TEST_UNUSED size_t at) {
    bson_t inner = BSON_INITIALIZER, list = BSON_INITIALIZER;
    BSON_APPEND_INT32(&inner, "-theirs", 1);
    BSON_APPEND_DOCUMENT(&list, "0", &inner);
    BSON_APPEND_ARRAY(to, "result", &list);
    BSON_APPEND_INT32(to, "-ours", 2);
    bson_destroy(&inner);
    bson_destroy(&list);
}

/* What is for views alone is left out at any depth, and words of others stay. */
TEST(views_alone) {
    bson_t result = BSON_INITIALIZER;
    result_put(&result, AS_COUNT("-a", 1), AS_COUNT("b", 2), AS_LIST("list", 1, put_others, NULL));
    prints(&result, BEGINS ", \"b\" : 2, \"list\" : [ { \"result\" : [ { \"-theirs\" : 1 } ] } ] }\n");
    bson_destroy(&result);
}

/* ---- words ---- */

static void fills(const bson_t *document, const char *words, const char *expected) {
    char *filled = result_fill(document, words);
    assert_string_equal(expected, filled);
    free(filled);
}

TEST(words) {
    static const struct {
        double value;
        const char *key, *words, *bare;
    } cases[] = {
        {6521004, "documents", "6,521,004", "6,521,004"},
        {350123, "docs_per_second", "350k docs/s", "350k"},
        {412e6, "-read_bytes_per_second", "412 MB/s", "412 MB/s"},
        {1.3e9, "bytes_read", "1.30 GB", "1.30 GB"},
        {10.74, "seconds", "10.7 s", "10.7 s"},
        {192, "-seconds", "3:12", "3:12"},
        {0.0051, "seconds", "5.10 ms", "5.10 ms"},
        {1.7345, "client_cpu_us_per_doc", "1.73 µs", "1.73"},
        {47.31, "p50_ms", "47.3 ms", "47.3"},
        {9.75, "p50_ms", "9.75 ms", "9.75"},
        {1640, "ms", "1.6 s", "1640"},
        {93.04, "share_percent", "93.0 %", "93.0"},
        {0.25, "beside.user", "25 %", "25"},
        {10.74, "seconds.load", "10.7 s", "10.7 s"},
        {12.4, "error_percent", "+12 %", "+12 %"},
        {1.5, "server_cores", "1.50", "1.50"},
        {NAN, "documents", "-", "-"},
        {0.001, "seconds", "1 ms", "1 ms"},
        {12345.6, "docs_per_ms", "12,346", "12,346"},
        {1e300, "count", "1e+300", "1e+300"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *dot = strchr(cases[i].key, '.'), *key = dot ? dot + 1 : cases[i].key;
        bson_t inner = BSON_INITIALIZER, document = BSON_INITIALIZER;
        char line[100];
        result_put(&inner, AS_NUMBER(key, cases[i].value));
        bson_append_document(&document, cases[i].key, (int)(key - cases[i].key) - (dot != NULL), &inner);
        char *bare = figure_words(dot ? &document : &inner, cases[i].key, true);
        assert_string_equal(cases[i].bare, bare);
        snprintf(line, sizeof line, "{%s}", cases[i].key);
        fills(dot ? &document : &inner, line, cases[i].words);
        free(bare);
        bson_destroy(&inner);
        bson_destroy(&document);
    }
}

/* Every figure that a command has, by its key, as words show 3 of its unit, and a column of a page; test_result_keys.py sees
 * to it that none is missing. Text and page have the same words of it. */
static const struct {
    const char *words, *bare, *keys;
} units[] = {
    {"3", "3",
     "-all_files -at_once -batch_documents -count -cpu_ns -documents -fixed -kept_rejects -left_out "
     "-measurements -more "
     "-not_retried -other_files -removals -removed_ranges -removed_tags -requests "
     "-short_batches -skipped "
     "-trials already_there ambiguous_times as_expected asked bad_values batch batches blocks "
     "-ratio blocks_looked_at "
     "checkpoints chunks clients close comment_lines corrected differences documents documents_examined "
     "documents_in_collection documents_not_ours documents_of_other_files dropped empty expected failures "
     "files "
     "highest_rate files_complete files_in_catalog files_skipped files_unfinished filtered fixed "
     "fixed_not_loaded "
     "fixed_not_looked_for high id kept keys_examined last_id last_line late line lines_skipped loaded "
     "loads_running "
     "low more_fields most_at_once n ns offset open_rejects other_zones p50_ratio p99_ratio query_returned "
     "rate read "
     "records records_done_by_others records_skipped rejected replaced retries returned rounds "
     "shards skipped "
     "threads timeouts too_small trials undecided unrouted untried values values_kept_as_text verified "
     "zone_tags "
     "zones "
     "docs_per_ms docs_per_ms_sd client_cores server_cores"},
    {"3.0 s", "3.0 s",
     "-from_seconds -later_seconds -needed_seconds began_seconds budget_seconds busy_seconds "
     "client_cpu_seconds over_time_seconds query_seconds seconds throttled_seconds timeout_seconds "
     "verified_seconds waiting_seconds "
     "within_seconds"},
    {"3 ms", "3",
     "-now_ms -slowest_ms -then_ms lag_max_ms lag_mean_ms max_ms mean_ms min_ms ms ms_of_a_shard p50_ms "
     "p95_ms p999_ms p99_ms "
     "sd_ms "
     "then_p50_ms then_p99_ms"},
    {"3 µs", "3", "-cpu_us client_cpu_us_per_doc"},
    {"3 B", "3 B",
     "bytes bytes_bson bytes_encoded bytes_into_cache bytes_per_document bytes_read bytes_stored bytes_text "
     "data_bytes_on_disk index_bytes_on_disk peak_memory_bytes"},
    {"3 B/s", "3 B/s", "-read_bytes_per_second -sent_bytes_per_second -text_bytes_per_second"},
    {"3 docs/s", "3", "docs_per_second"},
    {"3 ops/s", "3", "ops_per_second"},
    {"3/s", "3", "-records_per_second"},
    {"3 %", "3",
     "-busy_percent -empty_percent -looked_percent -nearly_percent -share_percent -surely_percent "
     "sample_percent"},
    {"+3 %", "+3 %", "error_percent"},
    {"300 %", "300", "host_busy idle iowait others steal sys user"}, /* shares of a CPU */
};

static void check_unit(const char *key, const char *words, const char *bare) {
    result_t *result = result_new("try", NULL);
    size_t length;
    char *column, *page, shown[200];
    result_put(&result->document, AS_NUMBER(key, 3));
    snprintf(shown, sizeof shown, "%s: {%s}", key, key);
    char *line = result_fill(&result->document, shown);
    snprintf(shown, sizeof shown, "%s: %s", key, words);
    assert_string_equal(shown, line);
    assert_string_equal(bare, column = figure_words(&result->document, key, true));
    result_answer(result, "How much?", 0, NULL, "So much.", "");
    page = page_print(result, &length);
    snprintf(shown, sizeof shown, "<dt>%s</dt><dd>%s</dd>", key, words);
    assert_true(*key == '-' || strstr(page, shown));
    free(line);
    free(column);
    free(page);
    result_free(result);
}

TEST(units) {
    char key[64];
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        for (const char *at = units[i].keys; *at; at += strcspn(at, " "), at += *at == ' ') {
            snprintf(key, sizeof key, "%.*s", (int)strcspn(at, " "), at);
            check_unit(key, units[i].words, units[i].bare);
        }
}

TEST(numbers_of_things) {
    bson_t document = BSON_INITIALIZER;
    result_put(&document, AS_COUNT("one", 1), AS_COUNT("two", 2000), AS_TEXT("odd", "{two|a} 100 %s"),
               AS_FLAG("flag", true), AS_COUNT("zero", 0));
    fills(&document, "{one|file} and {two|file}, {one|batch|batches} and {two|batch|batches}, {zero|file}",
          "1 file and 2,000 files, 1 batch and 2,000 batches, 0 files");
    fills(&document, "{one?is|are} {two?is|are}{one?|, all}{two?|, all} {flag} {odd}{no}.",
          "is are, all yes {two|a} 100 %s.");
    result_put_words(&document, "-words", "{one|file} {odd} {");
    fills(&document, "{-words}", "1 file {two|a} 100 %s {");
    bson_destroy(&document);
}

/* ---- at a terminal ---- */

static void put_place(bson_t *to, const void *of, size_t at) {
    result_put(to, AS_TEXT("name", at ? "b" : "a long name"), AS_COUNT("documents", 1000 * (at + 1)),
               AS_TEXT("none", NULL), AS_NUMBER("share_percent", at ? NAN : 62.5),
               AS_TEXT("why", at ? "slow" : NULL));
    (void)of;
}

static const result_view_t places[] = {
    LINE(SHOW_QUIET, NULL,
         "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"),
    LINE(SHOW_QUIET, NULL, "then:", .command = "-command"),
    TABLE(SHOW_QUIET, NULL, "places", "Places of {one}", NULL, COLUMN("name", "place"),
          COLUMN("documents", "documents"), COLUMN("none", "nothing"),
          COLUMN("documents", "wide", .wide = true), COLUMN("share_percent", "share %"),
          COLUMN("why", "why {one}")),
    TABLE(SHOW_QUIET, NULL, "empty", "Empty", NULL, COLUMN("name", "place")),
    TABLE(SHOW_QUIET, NULL, "places", "Nothing known", NULL, COLUMN("name", "place"), COLUMN("none", "none")),
    LINE(SHOW_VERBOSE, NULL, "not said"),
    LINE(SHOW_QUIET, "one", "the end of {name}", .each = "places"),
    LINE(SHOW_QUIET, "why", "the end of {name}: {why}", .each = "places"),
    LINE(SHOW_QUIET, "empty", "not said"),
    LINE(SHOW_QUIET, "!one", "not said"),
    LINE(SHOW_QUIET, "zero", "not said"),
    LINE(SHOW_QUIET, "!zero", "the end"),
    {0}};

static void print_places(const char *expected) {
    result_t *result = result_new("try", NULL);
    result_put(&result->document, AS_LIST("places", 2, put_place, NULL), AS_LIST("empty", 0, put_place, NULL),
               AS_TEXT("one", "one"), AS_COUNT("zero", 0), AS_FLAG("no", false),
               AS_TEXT("-command", "tipple load --a-very-long-option-that-is-not-wrapped 'x y' a.csv b.csv "
                                   "c.csv"));
    result->views = places;
    assert_heard(STDOUT_FILENO, expected, result_print_text(result));
    result_free(result);
}

/* Columns in which nothing is known are left out; so are rows of which only the first column is, and tables without
 * rows. A line is said if its figure holds. */
TEST(text) {
    for (int narrow = 0; narrow < 2; narrow++) { /* nobody has a terminal of five columns */
        unsetenv("COLUMNS");
        if (narrow)
            setenv("COLUMNS", "5", 1);
        print_places(
            "one two three four five six seven eight nine ten eleven twelve thirteen fourteen\n    fifteen\n"
            "then:\ntipple load --a-very-long-option-that-is-not-wrapped 'x y' a.csv b.csv c.csv\n"
            "\nPlaces of one\nplace        documents  share %  why one\n"
            "a long name      1,000     62.5\nb                2,000        -  slow\n"
            "\nthe end of b: slow\nthe end\n");
    }
    unsetenv("COLUMNS");
}

/* A table that is too wide comes in bands. */
TEST(narrow) {
    setenv("COLUMNS", "32", 1);
    print_places(
        "one two three four five six\n    seven eight nine ten eleven\n    twelve thirteen fourteen\n"
        "    fifteen\nthen:\n"
        "tipple load --a-very-long-option-that-is-not-wrapped 'x y' a.csv b.csv c.csv\n\nPlaces of one\n"
        "place        documents  share %\na long name      1,000     62.5\nb                2,000        -\n"
        "place        why one\na long name\nb            slow\n\nthe end of b: slow\nthe end\n");
    unsetenv("COLUMNS");
}

static void put_shard(bson_t *to, TEST_UNUSED const void *of, size_t at) {
    result_put(to, AS_COUNT("name", at), AS_COUNT("documents", (at * 7 + 3) % 30));
}

static const result_view_t shards[] = {
    TABLE(SHOW_QUIET, NULL, "shards", NULL, NULL, COLUMN("name", "shard"), COLUMN("documents", "documents")),
    {0}};

static void print_shards(size_t count, const char *end) {
    result_t *result = result_new("try", NULL);
    result_put(&result->document, AS_LIST("shards", count, put_shard, NULL));
    char expected[600];
    size_t used = (size_t)snprintf(expected, sizeof expected, "shard  documents\n");
    for (int at = 0; at < 24; at++)
        used +=
            (size_t)snprintf(expected + used, sizeof expected - used, "%5d  %9d\n", at, (at * 7 + 3) % 30);
    snprintf(expected + used, sizeof expected - used, "%s", end);
    result->views = shards;
    assert_heard(STDOUT_FILENO, expected, result_print_text(result));
    result_free(result);
}

TEST(many_rows) {
    print_shards(24, "");
    print_shards(25, "and 1 more (all of them: --json)\n");
    print_shards(30, "and 6 more (all of them: --json)\n");
}
