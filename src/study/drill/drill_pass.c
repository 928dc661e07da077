/* One run from nothing to the first answer. It calls what the commands call, and takes its times from the load's
 * timeline. */
#include "base/clock.h"
#include "base/log.h"
#include "base/stop.h"
#include "load/spec/progress.h"
#include "query/query.h"
#include "study/drill/drill_inner.h"
#include "verify/verify.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static_assert(DRILL_CLOSE == (int)TIMELINE_CLOSING && DRILL_LOAD == (int)TIMELINE_LOADING &&
                  DRILL_VERIFY == (int)TIMELINE_PHASES,
              "a drill begins with the phases of a load");

typedef struct {
    const load_spec_t *load;
    bool quiet;
    drill_pass_t *pass;
    int64_t origin_ns;
} passing_t;

static const struct {
    const char *name, *doing; /* doing NULL: not worth a line */
} phases[DRILL_PHASES] = {
    [DRILL_LOOK] = {"look", NULL},
    [DRILL_DROP] = {"drop", "dropping what is there"},
    [DRILL_CREATE] = {"create", "creating the collection"},
    [DRILL_PLACE] = {"place", "placing it over the shards"},
    [DRILL_LOAD] = {"load", "loading"},
    [DRILL_INDEXES] = {"indexes", "building the indexes"},
    [DRILL_CLOSE] = {"close", NULL},
    [DRILL_VERIFY] = {"verify", "verifying"},
    [DRILL_QUERY] = {"first query", "asking the first query"},
};

const char *drill_phase_name(drill_phase_t phase) {
    return phases[phase].name;
}

static void enter(passing_t *passing, drill_phase_t phase) {
    drill_span_t *span = &passing->pass->phases[phase];
    const char *doing = phases[phase].doing;
    if (doing)
        passing->pass->doing = doing;
    if (span->came)
        return;
    span->came = true;
    span->began_ns = clock_now_ns() - passing->origin_ns;
    if (doing && !passing->quiet)
        log_note("drill: %s", doing);
}

static void leave(passing_t *passing, drill_phase_t phase) {
    drill_span_t *span = &passing->pass->phases[phase];
    span->took_ns = clock_now_ns() - passing->origin_ns - span->began_ns;
}

static void entered(void *context, timeline_phase_t phase) {
    enter(context, (drill_phase_t)phase);
}

/* If a signal came, the sentence is about the drill, not about the part that was running. A difference is kept, and the
 * drill goes on. */
static bool ended(const passing_t *passing, bool ok, err_t *err) {
    drill_pass_t *pass = passing->pass;
    if (stop_signal())
        return err_set(err, (status_t)(128 + stop_signal()), "interrupted while %s", pass->doing);
    if (ok)
        return true;
    if (err->status != STATUS_DIFFERENT)
        return err_where(err, "while %s", pass->doing);
    if (!pass->difference[0])
        snprintf(pass->difference, sizeof pass->difference, "%.*s", (int)sizeof pass->difference - 1,
                 err->text);
    return true;
}

static bool load(passing_t *passing, err_t *err) {
    drill_pass_t *pass = passing->pass;
    load_spec_t spec = *passing->load;
    spec.drop = spec.trial = true;
    spec.listener = (timeline_listener_t){entered, passing};
    enter(passing, DRILL_LOOK);
    const bool ok = load_run(&spec, &pass->load, err);
    load_result_free(&pass->load);
    for (drill_phase_t i = 0; i < DRILL_VERIFY; i++)
        pass->phases[i].took_ns = pass->load.course.took_ns[i];
    return ended(passing, ok, err);
}

static bool verify(passing_t *passing, err_t *err) {
    drill_pass_t *pass = passing->pass;
    verify_spec_t spec;
    verify_result_t result;
    verify_spec_init(&spec);
    spec.load = *passing->load;
    enter(passing, DRILL_VERIFY);
    const bool ok = verify_run(&spec, &result, err);
    leave(passing, DRILL_VERIFY);
    pass->documents = result.counts.seen;
    if (!ok && err->status == STATUS_DIFFERENT)
        pass->wrong = differences_total(result.differences);
    verify_free_result(&result);
    return ended(passing, ok, err);
}

/* ---- the first query ---- */

/* Splits SUITE:NAME; the folders of a path may contain colons. */
static bool split(const char *query, char suite[1024], char name[256]) {
    const char *colon = strrchr(query, ':');
    if (!colon || colon == query || !colon[1] || colon - query >= 1024 || strlen(colon + 1) >= 256)
        return false;
    snprintf(suite, 1024, "%.*s", (int)(colon - query), query);
    strcpy(name, colon + 1);
    return true;
}

bool drill_check_query(const char *query, err_t *err) {
    char suite[1024], name[256];
    if (!query)
        return true;
    if (!split(query, suite, name))
        return err_set(err, STATUS_USAGE, "--query: '%.200s' is not SUITE:NAME, such as mot:greenness",
                       query);
    suite_t *opened = suite_open(suite, err);
    const bool ok =
        opened && (suite_knows(opened, name) ||
                   err_set(err, STATUS_USAGE,
                           "--query: the suite %.200s has no query '%.200s'; `tipple query --show SUITE` "
                           "prints them",
                           suite, name));
    suite_close(opened);
    return ok;
}

/* Once, of a server whose caches are as verify left them. */
static bool ask(passing_t *passing, const char *query, err_t *err) {
    drill_pass_t *pass = passing->pass;
    char suite[1024] = "[{$limit: 1}]", name[256], *names[] = {name};
    query_spec_t spec;
    query_result_t result;
    query_spec_init(&spec);
    spec.uri = passing->load->uri;
    spec.suite = suite;
    spec.patience_ns = passing->load->patience_ns;
    spec.repeats = 1;
    spec.warmups = 0;
    spec.count = 1;
    spec.clients[spec.client_choices++] = 1;
    spec.one = true;
    if (query && split(query, suite, name)) {
        spec.queries = names;
        spec.query_count = 1;
    }
    enter(passing, DRILL_QUERY);
    metrics_phase(drill_phase_name(DRILL_QUERY));
    const bool ok = query_run(&spec, &result, err);
    leave(passing, DRILL_QUERY);
    if (result.measure_count) {
        pass->query_seconds = result.measures[0].found->latency.moments.mean / 1e9;
        pass->query_returned = result.measures[0].found->returned;
    }
    query_free_result(&result);
    return ended(passing, ok, err);
}

bool drill_pass(const load_spec_t *load_spec, const char *query, bool quiet, drill_pass_t *pass, err_t *err) {
    passing_t passing = {load_spec, quiet, pass, clock_now_ns()};
    const log_level_t level = log_level();
    pass->doing = "looking around";
    pass->query_seconds = NAN;
    if (quiet && level != LOG_VERBOSE)
        log_set_level(LOG_SILENT);
    bool ok = load(&passing, err) && verify(&passing, err);
    pass->verified_ns = clock_now_ns() - passing.origin_ns;
    ok = ok && ask(&passing, query, err);
    log_set_level(level);
    pass->took_ns = clock_now_ns() - passing.origin_ns;
    pass->finished = ok;
    return ok;
}
