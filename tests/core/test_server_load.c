/* strain: what a server's own words come to. The samples of tests/data/strain are a real server's (6.0.5),
 * idle and twice within a second under a load; the others are made by hand. */
#include "json_lab.h"
#include "server/server_load.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SECOND 1000000000ll

static const server_load_compared_t unknown = {NAN, NAN};

static void read_json(const char *text, int64_t at_ns, server_load_sample_t *sample) {
    bson_t *status = lab_json(text);
    server_load_read(status, at_ns, sample);
    bson_destroy(status);
}

static void read_real(const char *name, int64_t at_ns, server_load_sample_t *sample) {
    char path[100], text[32768];
    snprintf(path, sizeof path, "strain/%s.json", name);
    FILE *file = fopen(test_data(path), "r");
    if (!file)
        fail_msg("%s cannot be read", path);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    read_json(text, at_ns, sample);
}

static void near(double value, double expected) {
    if (!(fabs(value - expected) <= fabs(expected) * 1e-4))
        fail_msg("%.8g instead of %.8g", value, expected);
}

static server_load_t judge(const server_load_sample_t *before, const server_load_sample_t *now) {
    return server_load_judge(before, now, &unknown);
}

TEST(real_numbers) {
    server_load_sample_t idle, busy, busier;
    double reads;
    read_real("idle", 0, &idle);
    read_real("busy", 5 * SECOND, &busy);
    read_real("busier", 5 * SECOND + 326000000, &busier);
    assert_int_equal(busier.at_ns, 5 * SECOND + 326000000);
    near(busier.used, 183945066 / 268435456.0);
    near(busier.dirty, 21519225 / 268435456.0);
    near(busier.updates, 19344362 / 268435456.0);
    near(busier.eviction_us, 395293 + 1069290);
    near(busier.queued, 0);
    near(busier.tickets, 2 / 128.0);
    near(busier.behind_s, 0);
    near(busier.lagged, 0);
    near(busier.syncs, 1255);
    near(busier.sync_us, 1177702);
    near(busier.checkpoint_ms, 7);
    near(server_load_read_us(&busy, &busier, &reads), (9666 - 7178) / 100.0);
    near(reads, 100);
    near(server_load_busy_cores(&busy, &busier), (9881501 - 9311353) / 326000.0);
    assert_true(isnan(server_load_read_us(&idle, &idle, &reads)));
}

TEST(real_judgement) {
    server_load_sample_t idle, later, busy, busier;
    read_real("idle", 0, &idle);
    read_real("idle", SECOND / 2, &later);
    read_real("busy", 5 * SECOND, &busy);
    read_real("busier", 5 * SECOND + 326000000, &busier);
    server_load_t strain = judge(&idle, &later);
    assert_true(strain.pressure == 0);
    assert_string_equal(strain.reason, "");
    strain = judge(&busy, &busier);
    assert_string_equal(strain.reason, "changes fill 7% of the cache");
    assert_true(strain.pressure > 0.8 && strain.pressure < 0.9);
}

/* One number of an idle server is another: what that says. */
static const struct {
    const char *before, *now; /* a second apart; NULL: nothing before */
    const char *reason;
    double least, most; /* pressure */
} cases[] = {
#define CACHE(numbers) "{\"wiredTiger\": {\"cache\": {\"maximum bytes configured\": 1000, " numbers "}}}"
    {NULL, CACHE("\"tracked dirty bytes in the cache\": 50"), "", 0, 0},
    {NULL, CACHE("\"tracked dirty bytes in the cache\": 105"), "cache 10% dirty", 0.49, 0.51},
    {NULL, CACHE("\"tracked dirty bytes in the cache\": 190"), "cache 19% dirty", 1, 1},
    {NULL, CACHE("\"bytes currently in the cache\": 800"), "", 0, 0},
    {NULL, CACHE("\"bytes currently in the cache\": 930"), "cache 93% full", 1, 1},
    {NULL, CACHE("\"bytes allocated for updates\": 20"), "", 0, 0},
    {NULL, CACHE("\"bytes allocated for updates\": 99"), "changes fill 10% of the cache", 1, 1},
    /* two at once: what presses most */
    {NULL, CACHE("\"bytes currently in the cache\": 830, \"tracked dirty bytes in the cache\": 140"),
     "cache 14% dirty", 0.8, 0.85},
    {NULL, CACHE("\"bytes currently in the cache\": 990, \"tracked dirty bytes in the cache\": 161"),
     "cache 99% full", 1, 1},
    /* a server that tells nothing of its cache, or has none */
    {NULL,
     "{\"wiredTiger\": {\"cache\": {\"maximum bytes configured\": 0, \"bytes currently in the cache\": 9}}}",
     "", 0, 0},
    {NULL, "{}", "", 0, 0},
    {NULL, "{\"wiredTiger\": 5, \"repl\": \"x\", \"globalLock\": {\"currentQueue\": {\"total\": \"many\"}}}",
     "", 0, 0},
    {"{\"wiredTiger\": {\"thread-yield\": {\"application thread time evicting (usecs)\": 500, "
     "\"application thread time waiting for cache (usecs)\": 1000}}}",
     "{\"wiredTiger\": {\"thread-yield\": {\"application thread time evicting (usecs)\": 100500, "
     "\"application thread time waiting for cache (usecs)\": 51000}}}",
     "clients make room in the cache 15% of the time", 0.74, 0.76},
    {"{\"wiredTiger\": {\"cache\": {\"application thread time evicting (usecs)\": 500}}}",
     "{\"wiredTiger\": {\"cache\": {\"application thread time evicting (usecs)\": 300500}}}",
     "clients make room in the cache 30% of the time", 1, 1},
    /* it began anew */
    {"{\"wiredTiger\": {\"cache\": {\"application thread time evicting (usecs)\": 300500}}}",
     "{\"wiredTiger\": {\"cache\": {\"application thread time evicting (usecs)\": 500}}}", "", 0, 0},
    {NULL, "{\"globalLock\": {\"currentQueue\": {\"total\": 1, \"readers\": 1}}}", "", 0, 0},
    {NULL, "{\"globalLock\": {\"currentQueue\": {\"total\": {\"$numberLong\": \"40\"}}}}",
     "40 operations queued", 1, 1},
#define TICKETS(kind, out, total)                                                                            \
    "{\"wiredTiger\": {\"concurrentTransactions\": {\"" kind "\": {\"out\": " out                            \
    ", \"totalTickets\": " total "}}}}"
    {NULL, TICKETS("write", "64", "128"), "", 0, 0},
    {NULL, TICKETS("write", "128", "128"), "100% of the tickets taken", 1, 1},
    {NULL, TICKETS("read", "96", "128"), "75% of the tickets taken", 0.49, 0.51},
    /* a server that makes do with as few as it needs */
    {NULL, TICKETS("write", "8", "8"), "", 0, 0},
#define WRITTEN(own, majority)                                                                               \
    "{\"repl\": {\"lastWrite\": {\"lastWriteDate\": {\"$date\": {\"$numberLong\": \"" own                    \
    "000\"}}, \"majorityWriteDate\": {\"$date\": {\"$numberLong\": \"" majority "000\"}}}}}"
    {NULL, WRITTEN("1795189265", "1795189265"), "", 0, 0},
    {NULL, WRITTEN("1795189265", "1795189264"), "", 0, 0}, /* seconds are all it tells */
    {NULL, WRITTEN("1795189265", "1795189255"), "the majority is 10 s behind", 1, 1},
    {NULL, "{\"flowControl\": {\"isLagged\": true}}", "its flow control holds writes back", 1, 1},
    {NULL, "{\"flowControl\": {\"isLagged\": false}}", "", 0, 0},
#define JOURNAL(syncs, us)                                                                                   \
    "{\"wiredTiger\": {\"log\": {\"log sync operations\": " syncs                                            \
    ", \"log sync time duration (usecs)\": " us "}}}"
    {JOURNAL("10", "5000000"), JOURNAL("20", "5050000"), "", 0, 0},
    {JOURNAL("10", "5000000"), JOURNAL("13", "5600000"), "the journal takes 200 ms to reach the disk", 1, 1},
    {JOURNAL("10", "5000000"), JOURNAL("10", "5000000"), "", 0, 0},
    {NULL, "{\"wiredTiger\": {\"transaction\": {\"transaction checkpoint most recent time (msecs)\": 9000}}}",
     "", 0, 0},
    {NULL,
     "{\"wiredTiger\": {\"transaction\": {\"transaction checkpoint most recent time (msecs)\": 35000}}}",
     "checkpoints take 35 s", 0.49, 0.51},
    {NULL, "{\"wiredTiger\": {\"checkpoint\": {\"most recent time (msecs)\": 61000}}}",
     "checkpoints take 61 s", 1, 1},
};

TEST(each_sign) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        server_load_sample_t before, now;
        read_json(cases[i].before ? cases[i].before : "{}", 7 * SECOND, &before);
        read_json(cases[i].now, 8 * SECOND, &now);
        server_load_t strain = judge(&before, &now);
        if (strcmp(strain.reason, cases[i].reason) != 0 || strain.pressure < cases[i].least ||
            strain.pressure > cases[i].most || strain.sign < 0 || strain.sign >= SERVER_LOAD_SIGNS)
            fail_msg("%s\n is '%s' with %g", cases[i].now, strain.reason, strain.pressure);
    }
}

TEST(comparisons) {
    server_load_sample_t idle;
    read_json("{}", 0, &idle);
    server_load_t strain = server_load_judge(&idle, &idle, &(server_load_compared_t){3.1, NAN});
    assert_string_equal(strain.reason, "reads take 3.1 times as long as usual");
    assert_true(strain.pressure == 1);
    strain = server_load_judge(&idle, &idle, &(server_load_compared_t){1.1, 0.4});
    assert_true(strain.pressure == 0);
    strain = server_load_judge(&idle, &idle, &(server_load_compared_t){NAN, 1.25});
    assert_string_equal(strain.reason, "the load takes 125% of the CPU to spare");
    assert_true(strain.pressure > 0.74 && strain.pressure < 0.76);
    /* what nobody knows presses nobody */
    strain = server_load_judge(&idle, &idle, &(server_load_compared_t){INFINITY, NAN});
    assert_true(strain.pressure == 1);
}

/* Of few cores little, of many most; never nothing, never all. */
TEST(spare) {
    double before = 0;
    for (double cores = 0.1; cores < 300; cores *= 1.3) {
        double share = server_load_spare(cores) / cores;
        assert_true(share >= before - 1e-9 && share > 0.1 && share < 1);
        before = share;
    }
    assert_true(server_load_spare(2) < 0.5);
    assert_true(server_load_spare(64) > 48);
}
