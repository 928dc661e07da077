/* run: everything is prepared, then measured in turns, then judged. Main thread. */
#include "base/clock.h"
#include "base/conceal.h"
#include "base/host.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "base/text.h"
#include "query/query.h"
#include "server/server.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DEFAULT_REPEATS = 10 };
static const int64_t DEFAULT_DURATION_NS = 5000000000, LATEST_NS = 30000000000, REST_NS = 5000000000;

/* ---- a command of the user that runs while something is measured (--while) ---- */

/* The shell runs it, in a process group of its own; its stdout goes to stderr, since stdout is for results only. */
typedef struct {
    pid_t group; /* 0: none */
    bool ended;  /* by itself */
    int status;  /* as waitpid gives it */
} shell_t;

/* If this process is killed, the shell gets SIGHUP, and ends the whole group. Linux sends that when the thread ends which has
 * started it. No sentence has the text of the command, which may hold a password of any form. */
static bool shell_start(shell_t *shell, const char *command, err_t *err) {
    static const int as_usual[] = {SIGHUP, SIGTERM, SIGPIPE, SIGXFSZ};
    const pid_t starter = getpid();
    text_t script = {.length = 0};
    text_print(&script, "trap 'kill -TERM 0' HUP\n(\n%s\n) & wait $!", command);
    char *words = text_take_or_end(&script);
    *shell = (shell_t){.group = fork()};
    if (shell->group == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGHUP);
        for (size_t i = 0; i < sizeof as_usual / sizeof *as_usual; i++)
            signal(as_usual[i], SIG_DFL);
        dup2(STDERR_FILENO, STDOUT_FILENO);
        if (getppid() == starter)
            execl("/bin/sh", "sh", "-c", words, (char *)NULL);
        _exit(127);
    }
    free(words);
    if (shell->group > 0) {
        setpgid(shell->group, shell->group); /* parent and child both set the group: either may come first */
        return true;
    }
    shell->group = 0;
    return err_set(err, STATUS_HOST, "the command of --while cannot be started: %s", strerror(errno));
}

/* Has the command ended by itself? */
static bool shell_ended(shell_t *shell) {
    shell->ended = shell->ended || waitpid(shell->group, &shell->status, WNOHANG) == shell->group;
    return shell->ended;
}

/* SIGTERM, ten seconds (after a signal three: what was measured is still to be said), SIGKILL. */
static void shell_stop(shell_t *shell) {
    static const int64_t PATIENCE_NS = 10000000000, SHORT_PATIENCE_NS = 3000000000;
    const int64_t began_ns = clock_now_ns();
    if (!shell->group)
        return;
    kill(-shell->group, SIGTERM);
    /* the shell may end before the processes that it has started */
    while (kill(-shell->group, 0) == 0 &&
           clock_now_ns() < began_ns + (stop_signal() ? SHORT_PATIENCE_NS : PATIENCE_NS)) {
        shell_ended(shell);
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    kill(-shell->group, SIGKILL);
    if (!shell->ended)
        waitpid(shell->group, &shell->status, 0);
}

/* ---- before ---- */

void query_spec_init(query_spec_t *spec) {
    *spec = (query_spec_t){.warmups = SUITE_UNSAID, .patience_ns = LATEST_NS};
}

/* Options that the user did not give are taken from the suite, or else from the program. */
static void settle(query_spec_t *spec, const suite_run_t *run) {
    if (!spec->repeats)
        spec->repeats = run->repeats ? run->repeats : DEFAULT_REPEATS;
    if (spec->warmups == SUITE_UNSAID)
        spec->warmups = run->warmups == SUITE_UNSAID ? 1 : run->warmups;
    if (!spec->duration_ns && !spec->count)
        spec->duration_ns = run->duration_ns;
}

typedef struct {
    query_spec_t *spec;
    query_result_t *result;
    uint64_t coins; /* the state of the coin, which differs from run to run */
    shell_t shell;
    step_t step;
    err_t *err;
} run_t;

/* "6.0.5 replica set, clustered", "6.0.5, 2 shards" */
static void describe(side_t *side) {
    const server_facts_t *facts = server_facts(side->server);
    const uint32_t shards = side->storage.shards;
    char kind[40];
    snprintf(kind, sizeof kind, ", %u shard%s", shards, units_s(shards));
    snprintf(side->configuration, sizeof side->configuration, "%s%s%s", facts->version,
             facts->kind == SERVER_ROUTER       ? kind
             : facts->kind == SERVER_STANDALONE ? " standalone"
                                                : " replica set",
             side->storage.clustered ? ", clustered" : "");
}

static bool connect_side(run_t *run, side_t *side, const char *uri, int64_t reply_ns) {
    const query_spec_t *spec = run->spec;
    const uint32_t connections = works_most_clients(side->suite, spec) + 2;
    const server_options_t options = {.uri = uri,
                                      .patience_ns = spec->patience_ns,
                                      .connections = connections,
                                      .reads = true,
                                      .reply_ns = reply_ns};
    side->uri = uri;
    if (!host_want_descriptors("--clients", connections + 64, run->err) ||
        !(side->server = server_connect(&options, run->err)) ||
        !(side->client = server_take(side->server, run->err)))
        return false;
    snprintf(side->namespace, sizeof side->namespace, "%s", server_namespace(side->server));
    snprintf(side->where, sizeof side->where, "%s", server_where(side->server));
    return true;
}

/* Before, indexes may be made and values drawn, which takes its time. */
static bool limit_replies(run_t *run, side_t *side) {
    server_give(side->server, side->client);
    server_destroy(side->server);
    side->server = NULL;
    side->client = NULL;
    return connect_side(run, side, side->uri, run->spec->timeout_ns);
}

/* The second side has another target, or asks another suite of the same one. */
static bool connect_sides(run_t *run) {
    const query_spec_t *spec = run->spec;
    side_t *sides = run->result->sides;
    const char *against = spec->against;
    const bool target =
        against && strncmp(against, "mongodb", strlen("mongodb")) == 0 && strstr(against, "://");
    if (!connect_side(run, &sides[0], spec->uri, 0))
        return false;
    if (!against)
        return true;
    return ((sides[1].suite = suite_open(target ? spec->suite : against, run->err)) &&
            connect_side(run, &sides[1], target ? against : spec->uri, 0)) ||
           err_where(run->err, "--against");
}

static bool prepare(run_t *run) {
    query_result_t *result = run->result;
    if (!(result->sides[0].suite = suite_open(run->spec->suite, run->err)))
        return false;
    settle(run->spec, &result->sides[0].suite->run);
    bool ok = connect_sides(run) && works_prepare(result, run->spec, run->err);
    for (side_t *side = result->sides; ok && side < result->sides + 2 && side->server; side++)
        ok = ((side->round = ZEROED(hist_t)) || err_memory(run->err, sizeof *side->round)) &&
             watch_storage(side->server, side->client, server_collection(side->server), &side->storage,
                           run->err) &&
             (!run->spec->timeout_ns || limit_replies(run, side));
    return ok;
}

/* ---- rounds ---- */

static clients_round_t round_of(const query_spec_t *spec, const measure_t *measure, uint32_t number,
                                bool counts) {
    const int64_t duration = spec->duration_ns ? spec->duration_ns : DEFAULT_DURATION_NS;
    const bool timed = !spec->count && (measure->work->query->draw || spec->duration_ns);
    return (clients_round_t){.count = spec->count ? spec->count : !timed,
                             .duration_ns = counts ? duration / spec->repeats : duration / 20,
                             .rest_ns = REST_NS / (spec->repeats + spec->warmups),
                             .rate = (double)measure->rate,
                             .poisson = spec->poisson,
                             .timeout_ns = spec->timeout_ns,
                             .number = counts ? number : spec->repeats + number,
                             .counts = counts,
                             .keeps = spec->answers || measure->work->expected};
}

/* Compares the first answer with what is expected. Documents that are not wanted are freed, and so are those beyond 64
 * MB of all answers together. */
static void settle_answer(query_result_t *result, measure_t *measure, bool wanted) {
    enum { MOST_KEPT = 64 << 20 };
    answer_t *answer = &measure->answer;
    uint64_t kept = 0;
    if (measure->work->expected)
        expected_check(measure->work->expected, answer, measure->difference, sizeof measure->difference);
    if (!wanted || !answer->keep) {
        answer_end(answer);
        return;
    }
    expected_digest(answer->documents, measure->digest);
    for (size_t i = 0; i < result->all_count; i++)
        if (result->measures[i].answer.documents)
            kept += result->measures[i].answer.documents->len;
    if (kept > MOST_KEPT)
        answer_drop(answer);
}

static void note_shell(run_t *run) {
    query_result_t *result = run->result;
    if (result->while_ended || !run->shell.group || !shell_ended(&run->shell))
        return;
    const int status = run->shell.status;
    result->while_ended = true;
    result->while_failed = status != 0;
    snprintf(result->while_words, sizeof result->while_words,
             WIFSIGNALED(status) ? "by signal %d" : "with status %d",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* False: the measure is asked no more, and its `failure` says why. */
static bool is_asked(measure_t *measure) {
    const char *gone = measure->work->side->gone;
    char *failure = measure->found->failure;
    if (gone[0] && !failure[0])
        snprintf(failure, sizeof measure->found->failure, "%s", gone);
    return !measure->silent && !gone[0];
}

static bool one_round(run_t *run, measure_t *measure, const clients_round_t *round) {
    const work_t *work = measure->work;
    const bool first = !measure->answered;
    char words[64] = "warming up";
    if (!is_asked(measure))
        return true;
    if (round->counts)
        snprintf(words, sizeof words, "round %zu of %u", measure->round_count + 1, run->spec->repeats);
    step_change(&run->step, "%s: %.80s %.80s", words, work->query->name, work->with);
    if (round->counts)
        watch_start(work->side->watch);
    const bool ok = clients_run(round, measure, run->err);
    if (round->counts)
        watch_stop(work->side->watch, &measure->watched);
    is_asked(measure);
    if (first && measure->answered)
        settle_answer(run->result, measure, run->spec->answers);
    note_shell(run);
    return ok;
}

/* Twins take turns in slices of a closed loop, in the order that a coin says each time: what comes and goes in a fraction of a
 * second meets both. A slice sends one request at least, so a round of slow ones ends when both have had their time. */
static bool share_round(run_t *run, measure_t *measure, const clients_round_t *whole) {
    static const int64_t SLICE_NS = 50000000;
    enum { MOST_SLICES = 16, NUMBERS = 1 << 20 /* more than there are rounds */ };
    const uint64_t fitting = whole->count ? whole->count : (uint64_t)(whole->duration_ns / SLICE_NS),
                   most = fitting < MOST_SLICES ? fitting : MOST_SLICES,
                   slices = whole->counts && most && !(whole->rate > 0) ? most : 1;
    const side_t *sides = run->result->sides;
    clients_round_t slice = *whole;
    bool ok = true, more = true;
    slice.duration_ns = whole->duration_ns / (int64_t)slices;
    for (uint64_t i = 0; ok && more && i < slices && !stop_signal(); i++) {
        measure_t *const twins[] = {measure, measure->baseline};
        const uint64_t first = chance_next(&run->coins) & 1;
        slice.number = whole->number + (uint32_t)i * NUMBERS;
        slice.count = whole->count * (i + 1) / slices - whole->count * i / slices;
        ok = one_round(run, twins[first], &slice) && one_round(run, twins[!first], &slice);
        more =
            whole->count || sides[0].round_ns < whole->duration_ns || sides[1].round_ns < whole->duration_ns;
    }
    return ok;
}

static bool one_turn(run_t *run, measure_t *measure, uint32_t number, bool counts) {
    const clients_round_t round = round_of(run->spec, measure, number, counts);
    measure_t *twin = measure->baseline;
    const bool ok = twin ? share_round(run, measure, &round) : one_round(run, measure, &round);
    if (ok && counts)
        return clients_end_round(&round, measure, run->err) &&
               (!twin || clients_end_round(&round, twin, run->err));
    return ok;
}

static bool rounds(run_t *run, uint32_t count, bool counts) {
    query_result_t *result = run->result;
    for (uint32_t number = 0; number < count; number++)
        for (size_t i = 0; i < result->measure_count; i++) {
            /* each round begins with another measure, so no measure always follows the same one */
            if (!one_turn(run, &result->measures[(i + number) % result->measure_count], number, counts))
                return false;
            if (stop_signal())
                return err_set(run->err, (status_t)(128 + stop_signal()),
                               "interrupted; what is printed was measured until then");
        }
    return true;
}

/* ---- after ---- */

/* If the server explains nothing, the result only lacks these figures. */
static void explain_all(run_t *run) {
    query_result_t *result = run->result;
    bson_error_t error;
    for (size_t i = 0; i < result->work_count && !stop_signal(); i++) {
        work_t *work = &result->works[i];
        if (!work->query->explain || work->side->gone[0] ||
            explained_ask(work->requests, work->side->client, &work->explained, &error))
            continue;
        conceal_known(error.message);
        log_note("%s is not explained: %s", work->query->name, error.message);
    }
}

/* If the command of --while ended before the measures did, they were not made under its load: no bound counts as kept
 * then. */
static void check_bounds(run_t *run, measure_t *measure) {
    query_check_bounds(run->spec, measure);
    if (measure->verdict != VERDICT_KEPT || !run->result->while_ended)
        return;
    text_t missed = {.length = 0};
    text_print(&missed, "--fail-if cannot be judged: the command of --while ended %s before",
               run->result->while_words);
    measure->missed = text_take_or_end(&missed);
    measure->verdict = VERDICT_UNJUDGED;
}

/* Sets the status by the worst verdict on any measure. Bounds are judged of a whole curve. */
static bool judge(run_t *run) {
    static const int rank[] = {[STATUS_MISSED] = 1, [STATUS_SERVER] = 2, [STATUS_DIFFERENT] = 3};
    query_result_t *result = run->result;
    const size_t rates = query_curve_length(run->spec);
    status_t worst = STATUS_OK;
    for (size_t i = 0; i < result->measure_count; i++)
        check_bounds(run, &result->measures[i]);
    for (size_t i = 0; i < result->all_count; i++) {
        const measure_t *measure = &result->measures[i], *first = measure - i % rates;
        const tally_t *found = measure->found;
        const bool missed = query_curve_verdict(run->spec, first) > VERDICT_KEPT;
        const status_t status = measure->difference[0] ? STATUS_DIFFERENT
                                : found->failure[0]    ? STATUS_SERVER
                                : missed               ? STATUS_MISSED
                                                       : STATUS_OK;
        if (rank[status] <= rank[worst])
            continue;
        worst = status;
        char *sentence = status == STATUS_MISSED ? query_curve_sentence(run->spec, first) : NULL;
        err_set(run->err, status, "%s%s%s%s: %s", measure->work->query->name, *measure->work->with ? " " : "",
                measure->work->with, status == STATUS_SERVER ? " failed" : "",
                status == STATUS_DIFFERENT ? measure->difference
                : status == STATUS_SERVER  ? found->failure
                                           : sentence);
        free(sentence);
    }
    if (result->while_failed && rank[worst] < rank[STATUS_SERVER])
        return err_set(run->err, STATUS_MISSED,
                       "the command of --while failed %s before the measurements ended", result->while_words);
    return worst == STATUS_OK;
}

static bool measure_all(run_t *run) {
    const query_spec_t *spec = run->spec;
    query_result_t *result = run->result;
    for (side_t *side = result->sides; side < result->sides + 2 && side->server; side++) {
        if (!(side->watch = watch_open(side->server, side->client, run->err)))
            return false;
        describe(side);
    }
    if (spec->command && !shell_start(&run->shell, spec->command, run->err))
        return false;
    step_begin(&run->step, "%s", "");
    const bool ok = rounds(run, spec->warmups, false) && rounds(run, spec->repeats, true);
    step_end(&run->step);
    if (ok)
        explain_all(run);
    if (result->while_ended)
        log_warn("the command of --while ended %s before the measurements did: they are of times with and "
                 "without it",
                 result->while_words);
    return ok && judge(run);
}

bool query_run(query_spec_t *spec, query_result_t *result, err_t *err) {
    const int64_t began_ns = clock_now_ns();
    *result = (query_result_t){.works = NULL};
    run_t run = {.spec = spec, .result = result, .coins = (uint64_t)began_ns, .err = err};
    const bool ok = prepare(&run) && (spec->explain || measure_all(&run));
    shell_stop(&run.shell);
    for (side_t *side = result->sides; side < result->sides + 2; side++) {
        watch_close(side->watch);
        if (side->client)
            server_give(side->server, side->client);
    }
    result->seconds = (double)(clock_now_ns() - began_ns) / 1e9;
    return ok;
}

void query_free_result(query_result_t *result) {
    works_free(result);
    for (side_t *side = result->sides; side < result->sides + 2; side++) {
        free(side->round);
        suite_close(side->suite);
        server_destroy(side->server);
    }
}
