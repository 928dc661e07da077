#include "base/clock.h"
#include "base/log.h"
#include "base/stop.h"
#include "load/spec/progress.h"
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
    const drill_result_t *result;
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

/* Would a user name this phase? */
static bool matters(const passing_t *passing, drill_phase_t phase) {
    return phases[phase].doing && (phase != DRILL_PLACE || passing->result->cluster);
}

static void enter(passing_t *passing, drill_phase_t phase) {
    drill_span_t *span = &passing->pass->phases[phase];
    const bool again = span->came;
    if (!again)
        span->began_ns = clock_now_ns() - passing->origin_ns;
    span->came = true;
    if (matters(passing, phase) || passing->pass->reached == DRILL_PHASES)
        passing->pass->reached = phase;
    if (!again && matters(passing, phase) && !passing->quiet)
        log_note("drill: %s", phases[phase].doing);
}

static void leave(passing_t *passing, drill_phase_t phase) {
    drill_span_t *span = &passing->pass->phases[phase];
    span->took_ns = clock_now_ns() - passing->origin_ns - span->began_ns;
}

static void entered(void *context, timeline_phase_t phase) {
    enter(context, (drill_phase_t)phase);
}

/* If a signal came, the sentence is about the drill, not about the part that was running. */
static bool failed(const passing_t *passing, err_t *err) {
    const drill_phase_t reached = passing->pass->reached;
    const char *doing =
        reached < DRILL_PHASES && phases[reached].doing ? phases[reached].doing : "looking around";
    if (stop_signal())
        return err_set(err, (status_t)(128 + stop_signal()), "interrupted while %s", doing);
    return err_where(err, "while %s", doing);
}

static bool load(passing_t *passing, err_t *err) {
    drill_pass_t *pass = passing->pass;
    load_spec_t spec = *passing->load;
    spec.drop = true;
    spec.told = (timeline_told_t){entered, passing};
    enter(passing, DRILL_LOOK);
    const bool ok = load_run(&spec, &pass->load, err);
    load_result_free(&pass->load);
    for (drill_phase_t i = 0; i < DRILL_VERIFY; i++)
        pass->phases[i].took_ns = pass->load.course.phases[i].took_ns;
    if (ok && stop_signal())
        return failed(passing, err);
    pass->loaded = ok;
    return ok || failed(passing, err);
}

static uint64_t count_wrong(const verify_result_t *result) {
    uint64_t wrong = result->changed;
    for (difference_kind_t kind = 0; kind < DIFFERENCE_KINDS; kind++)
        wrong += differences_count(result->differences, kind);
    return wrong;
}

static void keep_difference(drill_pass_t *pass, const err_t *err) {
    if (!pass->difference[0])
        snprintf(pass->difference, sizeof pass->difference, "%.*s", (int)sizeof pass->difference - 1,
                 err->text);
}

static bool verify(passing_t *passing, err_t *err) {
    const load_spec_t *load = passing->load;
    drill_pass_t *pass = passing->pass;
    verify_spec_t spec;
    verify_result_t result;
    verify_spec_init(&spec);
    spec.load = *load;
    enter(passing, DRILL_VERIFY);
    bool ok = verify_run(&spec, &result, err);
    leave(passing, DRILL_VERIFY);
    pass->documents = result.documents;
    if (!ok && err->status == STATUS_DIFFERENT) {
        pass->wrong = count_wrong(&result);
        keep_difference(pass, err);
        ok = true;
    }
    verify_free_result(&result);
    return ok || failed(passing, err);
}

static bool ask(passing_t *passing, err_t *err) {
    const load_spec_t *load = passing->load;
    drill_pass_t *pass = passing->pass;
    enter(passing, DRILL_QUERY);
    metrics_phase(drill_phase_name(DRILL_QUERY));
    bool ok = first_query_ask(&passing->result->query, load->uri, load->patience_ns, &pass->answer, err);
    leave(passing, DRILL_QUERY);
    if (!ok && err->status == STATUS_DIFFERENT) {
        keep_difference(pass, err);
        ok = true;
    }
    return ok || failed(passing, err);
}

bool drill_pass(const drill_result_t *result, const load_spec_t *load_spec, bool quiet, drill_pass_t *pass,
                err_t *err) {
    passing_t passing = {result, load_spec, quiet, pass, clock_now_ns()};
    const log_level_t level = log_level();
    pass->reached = DRILL_PHASES;
    pass->answer.seconds = NAN;
    if (quiet && level != LOG_VERBOSE)
        log_set_level(LOG_SILENT);
    bool ok = load(&passing, err);
    ok = ok && verify(&passing, err);
    pass->verified_ns = clock_now_ns() - passing.origin_ns;
    ok = ok && ask(&passing, err);
    log_set_level(level);
    pass->took_ns = clock_now_ns() - passing.origin_ns;
    pass->finished = ok;
    return ok;
}
