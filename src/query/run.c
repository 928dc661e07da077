#include "query/run.h"
#include "base/clock.h"
#include "base/conceal.h"
#include "base/host.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "query/measure.h"
#include "server/bson_read.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* clients: one round of one measurement. Several clients, each with a thread and a connection of its own, send until
 * they have sent enough or the time is over. Closed loop: each client sends again when its answer has arrived. Open
 * loop (rate): requests are due at fixed moments; whichever client is free sends the next one, and its latency counts
 * from the moment at which it was due. */

typedef struct {
    uint64_t count;      /* of each client; 0: until the time is over, and one at the least */
    int64_t duration_ns; /* where no count is given */
    double rate;         /* requests a second of all clients; 0: closed loop */
    uint32_t number;     /* of the round: each draws other values */
    bool counts;         /* false: warming up, only failures are kept */
} clients_round_t;

/* A command of the user that runs while something is measured (--while). The shell runs it, in a process group of its own;
 * its stdout goes to stderr, since stdout is for results only. If this process is killed, the shell gets SIGTERM. Main
 * thread: Linux sends that when the thread ends which has started it. */
typedef struct {
    pid_t process; /* 0: none */
    bool ended;    /* it ended by itself */
    int status;    /* as waitpid gives it */
} beside_t;

/* "with status 1", "by signal 9" */
enum { BESIDE_WORDS = 40 };

/* ---- clients ---- */

typedef struct {
    const clients_round_t *round;
    const work_t *work;
    uint64_t due; /* open loop: how many requests the whole round has; 0: as many as the time allows */
    pthread_mutex_t lock;
    pthread_cond_t opened;
    bool open;
    _Atomic uint64_t next;     /* open loop: the next request that is due */
    _Atomic(answer_t *) first; /* keeps the first answer; NULL: somebody has taken it, or none is kept */
    _Atomic bool ends;         /* a client failed */
    int64_t began_ns;
} clients_t;

typedef struct {
    clients_t *crew;
    mongoc_client_t *client;
    pthread_t thread;
    uint64_t chance;
    hist_t hist;
    moments_t per_ms;
    uint64_t returned, empty, failures;
    bson_error_t error;
} sender_t;

static void nap_until(int64_t when_ns) {
    for (int64_t now; (now = clock_now_ns()) < when_ns && !stop_signal();) {
        /* at most so long, to notice signals */
        int64_t left = when_ns - now < 100000000 ? when_ns - now : 100000000;
        struct timespec nap = {.tv_sec = 0, .tv_nsec = left};
        nanosleep(&nap, NULL);
    }
}

/* Sends one request; its latency counts from `due_ns`. */
static bool send_one(sender_t *sender, int64_t due_ns) {
    clients_t *crew = sender->crew;
    const work_t *work = crew->work;
    const request_t *request =
        &work->requests[work->count == 1
                            ? 0
                            : (uint64_t)(((__uint128_t)chance_next(&sender->chance) * work->count) >> 64)];
    answer_t counted = {.keep = false}, *first = atomic_exchange(&crew->first, NULL),
             *answer = first ? first : &counted;
    bool ok = request_send(request, sender->client, answer, &sender->error);
    int64_t took_ns = clock_now_ns() - due_ns;
    if (!ok && stop_signal()) /* interrupted, not failed: what was measured before remains valid */
        return false;
    if (!ok) {
        sender->failures++;
        atomic_store(&crew->ends, true);
        return false;
    }
    double documents =
        isnan(request->documents) ? (double)answer->count : fmin(request->documents, work->all_documents);
    if (isinf(documents) || request->documents < 0) /* all of a view: the number is not known either */
        documents = NAN;
    hist_add(&sender->hist, took_ns);
    moments_add(&sender->per_ms, documents * 1e6 / (double)(took_ns ? took_ns : 1));
    sender->returned += answer->count;
    sender->empty += !answer->count;
    return true;
}

static bool goes_on(const clients_t *crew) {
    return !atomic_load_explicit(&crew->ends, memory_order_relaxed) && !stop_signal();
}

static void run_closed(sender_t *sender) {
    const clients_round_t *round = sender->crew->round;
    for (uint64_t sent = 0; goes_on(sender->crew); sent++) {
        const int64_t now = clock_now_ns();
        const bool enough =
            round->count ? sent >= round->count : sent && now - sender->crew->began_ns >= round->duration_ns;
        if (enough || !send_one(sender, now))
            return;
    }
}

/* Of a round that counts, all that became due in its time is sent, however long that takes. */
static bool is_over(const clients_t *crew, uint64_t number, int64_t after_ns) {
    const clients_round_t *round = crew->round;
    if (round->count)
        return number >= crew->due;
    const int64_t now_ns = round->counts ? after_ns : clock_now_ns() - crew->began_ns;
    return number && (after_ns >= round->duration_ns || now_ns >= round->duration_ns);
}

static void run_open(sender_t *sender) {
    clients_t *crew = sender->crew;
    const double apart_ns = 1e9 / crew->round->rate;
    int64_t next_ns =
        0; /* the round lasts until another request would be due, or it would seem a higher rate */
    while (goes_on(crew)) {
        uint64_t number = atomic_fetch_add(&crew->next, 1);
        int64_t after_ns = (int64_t)((double)number * apart_ns);
        if (is_over(crew, number, after_ns))
            break;
        next_ns = (int64_t)((double)(number + 1) * apart_ns);
        nap_until(crew->began_ns + after_ns);
        if (!goes_on(crew) || !send_one(sender, crew->began_ns + after_ns))
            return;
    }
    nap_until(crew->began_ns + next_ns);
}

static void *work(void *context) {
    sender_t *sender = context;
    clients_t *crew = sender->crew;
    pthread_mutex_lock(&crew->lock);
    while (!crew->open)
        pthread_cond_wait(&crew->opened, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
    if (crew->round->rate > 0)
        run_open(sender);
    else
        run_closed(sender);
    return NULL;
}

static void add_up(const clients_t *crew, const sender_t *sender, measure_t *measure) {
    if (sender->failures && !measure->failures) {
        snprintf(measure->failure, sizeof measure->failure, "%s", sender->error.message);
        conceal_known(measure->failure);
    }
    measure->failures += sender->failures;
    if (!crew->round->counts)
        return;
    hist_merge(measure->hist, &sender->hist);
    moments_merge(&measure->per_ms, &sender->per_ms);
    measure->returned += sender->returned;
    measure->empty += sender->empty;
}

/* Starts all clients at once. Tells how many were started. */
static bool start_all(clients_t *crew, sender_t **senders, uint32_t count, measure_t *measure,
                      server_t *server, uint32_t *started, err_t *err) {
    bool ok = true;
    for (uint32_t i = 0; i < count; i++) {
        if (!(senders[i] = calloc(1, sizeof **senders)))
            return err_memory(err, sizeof **senders);
        *senders[i] = (sender_t){.crew = crew, .chance = (crew->round->number + 1) * UINT64_C(1000003) + i};
        if (!(senders[i]->client = server_take(server, err)))
            return false;
    }
    if (!measure->answered) {
        answer_begin(&measure->answer, measure->keeps);
        atomic_store(&crew->first, &measure->answer);
    }
    for (*started = 0; ok && *started < count; *started += ok)
        ok = pthread_create(&senders[*started]->thread, NULL, work, senders[*started]) == 0 ||
             err_set(err, STATUS_HOST, "no more than %u threads can be made; ask for fewer --clients",
                     *started);
    pthread_mutex_lock(&crew->lock);
    atomic_store(&crew->ends, !ok);
    crew->began_ns = clock_now_ns();
    crew->open = true;
    pthread_cond_broadcast(&crew->opened);
    pthread_mutex_unlock(&crew->lock);
    return ok;
}

/* Adds what was found to the measurement. A request that fails ends the round, and is counted in the measurement. A
 * stop signal also ends the round. False: a thread or a connection could not be made. */
static bool clients_run(const clients_round_t *round, measure_t *measure, server_t *server, err_t *err) {
    clients_t crew = {.round = round, .work = measure->work, .due = round->count * measure->clients};
    sender_t **senders = calloc(measure->clients, sizeof *senders);
    if (!senders)
        return err_memory(err, measure->clients * sizeof *senders);
    pthread_mutex_init(&crew.lock, NULL);
    pthread_cond_init(&crew.opened, NULL);
    uint32_t started = 0;
    bool asked = !measure->answered;
    bool ok = start_all(&crew, senders, measure->clients, measure, server, &started, err);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(senders[i]->thread, NULL);
    if (ok && round->counts)
        measure->elapsed_ns += clock_now_ns() - crew.began_ns;
    for (uint32_t i = 0; i < measure->clients && senders[i]; i++) {
        if (ok)
            add_up(&crew, senders[i], measure);
        server_give(server, senders[i]->client);
        free(senders[i]);
    }
    if (asked && ok && !measure->failures && !stop_signal())
        measure->answered = true;
    else if (asked)
        answer_end(&measure->answer);
    pthread_cond_destroy(&crew.opened);
    pthread_mutex_destroy(&crew.lock);
    free(senders);
    return ok;
}

/* ---- a command of the user ---- */

/* After a signal what was measured is still to be told: there may be two commands to wait for. */
static const int64_t PATIENCE_NS = 10000000000, SHORT_PATIENCE_NS = 3000000000;

static void run_shell(const char *command, const sigset_t *blocked) {
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, blocked, NULL);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

/* Asked to end: by beside_stop, which signals the whole group, or because the starter was killed and nothing else does. */
static void on_told(pid_t starter) {
    if (getppid() == starter)
        return;
    signal(SIGTERM, SIG_IGN);
    kill(0, SIGTERM);
}

/* The first process of the group: it waits for the shell, and sees to it that all ends when the starter does. */
static void guard(const char *command, pid_t starter) {
    sigset_t awaited, blocked;
    int status = 0;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGTERM);
    sigaddset(&awaited, SIGCHLD);
    sigprocmask(SIG_BLOCK, &awaited, &blocked);
    setpgid(0, 0);
    signal(SIGCHLD, SIG_DFL); /* where it is ignored, the end of a child is not told */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != starter)
        _exit(127);
    const pid_t shell = fork();
    if (shell == 0)
        run_shell(command, &blocked);
    while (shell > 0 && waitpid(shell, &status, WNOHANG) == 0)
        if (sigwaitinfo(&awaited, NULL) == SIGTERM)
            on_told(starter);
    if (shell > 0 && WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        sigprocmask(SIG_SETMASK, &blocked, NULL);
        raise(WTERMSIG(status));
    }
    _exit(shell > 0 ? WEXITSTATUS(status) : 127);
}

/* No sentence has the text of the command, which may hold a password of any form. */
static bool beside_start(beside_t *beside, const char *command, err_t *err) {
    const pid_t starter = getpid();
    *beside = (beside_t){.process = fork()};
    if (beside->process < 0) {
        beside->process = 0;
        return err_set(err, STATUS_HOST, "the command of --while cannot be started: %s", strerror(errno));
    }
    if (beside->process == 0)
        guard(command, starter);
    /* parent and child both do this; it does not matter which is first */
    setpgid(beside->process, beside->process);
    return true;
}

/* Is it still running? Also notes when it has ended. */
static bool beside_runs(beside_t *beside) {
    if (beside->process && !beside->ended &&
        waitpid(beside->process, &beside->status, WNOHANG) == beside->process)
        beside->ended = true;
    return beside->process && !beside->ended;
}

static void nap(void) {
    const struct timespec time = {.tv_nsec = 20000000};
    nanosleep(&time, NULL);
}

/* SIGTERM, ten seconds, SIGKILL. That it had to be stopped is not a failure. A zeroed one is allowed. */
/* The shell may end before the processes that it has started. */
static void beside_stop(beside_t *beside) {
    const int64_t began = clock_now_ns();
    const pid_t group = beside->process;
    int status;
    if (!group)
        return;
    kill(-group, SIGTERM);
    while (kill(-group, 0) == 0 &&
           clock_now_ns() < began + (stop_signal() ? SHORT_PATIENCE_NS : PATIENCE_NS)) {
        beside_runs(beside); /* collects its status, so that it is no longer a process of the group */
        nap();
    }
    kill(-group, SIGKILL);
    if (!beside->ended)
        waitpid(group, &status, 0);
    beside->process = 0;
}

static void beside_describe(int status, char words[BESIDE_WORDS]) {
    if (WIFSIGNALED(status))
        snprintf(words, BESIDE_WORDS, "by signal %d", WTERMSIG(status));
    else
        snprintf(words, BESIDE_WORDS, "with status %d", WEXITSTATUS(status));
}

enum { DEFAULT_REPEATS = 5 };
static const int64_t DEFAULT_DURATION_NS = 5000000000, LATEST_NS = 30000000000;

void query_spec_init(query_spec_t *spec) {
    *spec = (query_spec_t){.warmups = SUITE_UNSAID, .patience_ns = LATEST_NS};
}

/* What nobody chose: by the suite, or else by the program. */
static void settle(query_spec_t *spec, const suite_run_t *run) {
    choices_t *choices = &spec->choices;
    if (!spec->repeats)
        spec->repeats = run->repeats ? run->repeats : DEFAULT_REPEATS;
    if (spec->warmups == SUITE_UNSAID)
        spec->warmups = run->warmups == SUITE_UNSAID ? 1 : run->warmups;
    if (!spec->duration_ns && !spec->count)
        spec->duration_ns = run->duration_ns;
    choices->timed = spec->duration_ns != 0;
    choices->query_clients = !choices->client_choices;
    if (!choices->client_choices) {
        memcpy(choices->clients, run->clients, sizeof run->clients);
        choices->client_choices = run->client_choices;
    }
    if (!choices->reads_choices) {
        memcpy(choices->reads, run->reads, sizeof run->reads);
        choices->reads_choices = run->reads_choices;
    }
    if (!choices->client_choices)
        choices->clients[choices->client_choices++] = 1;
}

typedef struct {
    query_spec_t *spec;
    query_result_t *result;
    mongoc_client_t *client;
    watch_t *watch;
    beside_t beside;
    step_t step;
    bool failed; /* what was measured last */
    err_t *err;
} run_t;

/* ---- before ---- */

/* "6.0.5 replica set, clustered", "6.0.5, 2 shards" */
static void describe(const run_t *run) {
    query_result_t *result = run->result;
    const server_facts_t *facts = server_facts(result->server);
    const watch_storage_t *storage = &result->storage;
    int used = snprintf(result->configuration, sizeof result->configuration, "%s", facts->version);
    size_t room = sizeof result->configuration - (size_t)used;
    if (facts->kind == SERVER_ROUTER)
        snprintf(result->configuration + used, room, ", %u shard%s%s", storage->shards,
                 storage->shards == 1 ? "" : "s", storage->clustered ? ", clustered" : "");
    else
        snprintf(result->configuration + used, room, " %s%s",
                 facts->kind == SERVER_STANDALONE ? "standalone" : "replica set",
                 storage->clustered ? ", clustered" : "");
}

/* Names of fields that are not there find nothing, and nobody says so. */
static void check_format(query_result_t *result, mongoc_client_t *client) {
    const suite_t *suite = result->measures.suite;
    char wanted[200] = "";
    watch_format(result->server, client, result->format);
    result->other_format = suite->formats && result->format[0];
    for (const yaml_item_t *name = suite->formats ? suite->formats->first : NULL; name; name = name->next) {
        const size_t used = strlen(wanted);
        snprintf(wanted + used, sizeof wanted - used, "%s%s", used ? " or " : "", name->text);
        if (strcmp(name->text, result->format) == 0)
            result->other_format = false;
    }
    if (result->other_format)
        log_warn("%s was loaded as format %s, and the suite %s asks documents of format %s: what it looks "
                 "for may not be there",
                 result->namespace, result->format, suite->name, wanted);
}

static bool prepare(run_t *run) {
    query_spec_t *spec = run->spec;
    query_result_t *result = run->result;
    suite_t *suite = suite_open(spec->suite, run->err);
    if (!suite)
        return false;
    result->measures.suite = suite;
    settle(spec, &suite->run);
    uint32_t connections = measure_connections(suite, &spec->choices);
    const server_options_t options = {
        .uri = spec->uri, .patience_ns = spec->patience_ns, .connections = connections, .reads = true};
    if (!host_want_descriptors("--clients", connections + 64, run->err) ||
        !(result->server = server_connect(&options, run->err)) ||
        !(run->client = server_take(result->server, run->err)))
        return false;
    snprintf(result->namespace, sizeof result->namespace, "%s", server_namespace(result->server));
    snprintf(result->where, sizeof result->where, "%s", server_where(result->server));
    bool ok =
        measure_prepare(&result->measures, suite, result->server, run->client, &spec->choices, run->err) &&
        watch_storage(result->server, run->client, server_collection(result->server), &result->storage,
                      run->err);
    if (ok && result->storage.hidden)
        log_note(
            "this user may not run collStats on %s: its size on disk has no figure; the role read would do",
            result->namespace);
    return ok;
}

/* ---- rounds ---- */

static clients_round_t round_of(const query_spec_t *spec, const measure_t *measure, uint32_t number,
                                bool counts) {
    int64_t duration = spec->duration_ns ? spec->duration_ns : DEFAULT_DURATION_NS;
    bool timed = measure->timed && !spec->count;
    return (clients_round_t){.count = spec->count ? spec->count
                                      : timed     ? 0
                                                  : 1,
                             .duration_ns = !timed   ? 0
                                            : counts ? duration / spec->repeats
                                                     : duration / 20,
                             .rate = (double)spec->rate,
                             .number = number,
                             .counts = counts};
}

static void tell_round(run_t *run, const measure_t *measure, uint32_t number, bool counts) {
    char round[64] = "warming up";
    if (counts)
        snprintf(round, sizeof round, "round %u of %u", number + 1, run->spec->repeats);
    step_change(&run->step, "%s: %.80s %.80s", round, measure->work->query->name, measure->work->with);
}

/* The driver looks a second later at the soonest for a server whose connection broke, and until then says of each request
 * why it broke. What is measured next has nothing to do with that: it waits until the servers that it reads from answer. If
 * they do not, its own requests say why. */
static void wait_after_failure(run_t *run, const measure_t *measure) {
    server_t *server = run->result->server;
    const mongoc_read_prefs_t *prefs = measure->work->requests->prefs;
    bson_t *ping = BCON_NEW("ping", BCON_INT32(1));
    patience_t patience = server_patience(server);
    bson_error_t error;
    err_t ignored;
    prefs = prefs ? prefs : mongoc_client_get_read_prefs(run->client);
    bool answers, again;
    do {
        answers = mongoc_client_command_simple(run->client, "admin", ping, prefs, NULL, &error);
        again = !answers && server_again(server, run->client, &patience, &error, NULL,
                                         "see whether the server answers", &ignored);
    } while (again);
    bson_destroy(ping);
}

static bool one_round(run_t *run, measure_t *measure, uint32_t number, bool counts) {
    const clients_round_t round = round_of(run->spec, measure, number, counts);
    if (measure->failures) /* no figure can be computed for it any more */
        return true;
    if (run->failed)
        wait_after_failure(run, measure);
    tell_round(run, measure, number, counts);
    if (counts)
        watch_start(run->watch);
    const bool first = !measure->answered;
    bool ok = clients_run(&round, measure, run->result->server, run->err);
    run->failed = measure->failures != 0;
    if (counts)
        watch_stop(run->watch, &measure->watched);
    if (first && measure->answered)
        measure_settle(&run->result->measures, measure, run->spec->choices.answers);
    if (run->beside.process && !beside_runs(&run->beside) && !run->result->beside_ended) {
        run->result->beside_ended = true;
        beside_describe(run->beside.status, run->result->beside_words);
    }
    return ok;
}

static bool interrupted(const run_t *run) {
    int number = stop_signal();
    if (number)
        err_set(run->err, (status_t)(128 + number), "interrupted; what is printed was measured until then");
    return number != 0;
}

static bool rounds(run_t *run, uint32_t count, bool counts) {
    measures_t *list = &run->result->measures;
    for (uint32_t number = 0; number < count; number++)
        for (size_t i = 0; i < list->count; i++)
            /* each round begins with another one, so none always follows the same one */
            if (!one_round(run, &list->items[(i + number) % list->count], number, counts) || interrupted(run))
                return false;
    return true;
}

/* ---- after ---- */

/* Without it there is less to tell, and nothing else. */
static void explain_all(run_t *run) {
    measures_t *list = &run->result->measures;
    bson_error_t error;
    for (size_t i = 0; i < list->work_count && !stop_signal(); i++) {
        work_t *work = &list->works[i];
        if (!work->query->explain || explained_ask(work->requests, run->client, &work->explained, &error))
            continue;
        conceal_known(error.message);
        log_note("%s is not explained: %s", work->query->name, error.message);
    }
}

static void count_nothing(query_result_t *result) {
    for (size_t i = 0; i < result->measures.count; i++)
        result->nothing += measure_of_nothing(&result->measures.items[i]);
}

static bool judge(run_t *run) {
    query_result_t *result = run->result;
    const measure_t *first = NULL;
    for (size_t i = 0; i < result->measures.count; i++) {
        measure_t *measure = &result->measures.items[i];
        if (measure->failures)
            measure->difference[0] = '\0';
        result->failed += measure->failures != 0;
        result->different += measure->difference[0] != 0;
        if (!first || (measure->difference[0] && !first->difference[0]) ||
            (!first->failures && !first->difference[0]))
            first = measure;
    }
    if (!first)
        return true;
    if (result->different)
        return err_set(run->err, STATUS_DIFFERENT, "%s%s%s: %s", first->work->query->name,
                       first->work->with[0] ? " " : "", first->work->with, first->difference);
    if (result->failed)
        return err_set(run->err, STATUS_SERVER, "%s%s%s failed: %s", first->work->query->name,
                       first->work->with[0] ? " " : "", first->work->with, first->failure);
    return true;
}

static bool measure_all(run_t *run) {
    const query_spec_t *spec = run->spec;
    query_result_t *result = run->result;
    if (!(run->watch = watch_open(result->server, run->client, run->err)))
        return false;
    describe(run);
    result->load_seconds = watch_load_seconds(result->server, run->client);
    check_format(result, run->client);
    if (spec->beside && !beside_start(&run->beside, spec->beside, run->err))
        return false;
    step_begin(&run->step, "%s", "");
    bool ok = rounds(run, spec->warmups, false) && rounds(run, spec->repeats, true);
    step_end(&run->step);
    if (ok)
        explain_all(run);
    if (result->beside_ended)
        log_warn("the command of --while ended %s before the measurements did: they are of times with and "
                 "without it",
                 result->beside_words);
    count_nothing(result);
    return ok && judge(run);
}

bool query_run(query_spec_t *spec, query_result_t *result, err_t *err) {
    *result = (query_result_t){.load_seconds = NAN};
    run_t run = {.spec = spec, .result = result, .err = err};
    const int64_t began_ns = clock_now_ns();
    bool ok = prepare(&run) && (spec->explain || measure_all(&run));
    beside_stop(&run.beside);
    watch_close(run.watch);
    if (run.client)
        server_give(result->server, run.client);
    result->seconds = (double)(clock_now_ns() - began_ns) / 1e9;
    return ok;
}

void query_free_result(query_result_t *result) {
    suite_t *suite = result->measures.suite;
    measure_free(&result->measures);
    suite_close(suite);
    server_destroy(result->server);
}

bool query_tells(const measure_t *measure, double share) {
    double n = (double)measure->hist->moments.count;
    return !measure->failures && n >= 2 && n * (1 - share) >= 1;
}

/* ---- an earlier run ---- */

static bool broken(const char *path, const char *what, err_t *err) {
    return err_set(err, STATUS_USAGE, "--compare: %s is not what `tipple query --json` printed: %.*s", path,
                   (int)strcspn(what, "\n"), what);
}

static bool check_head(const char *path, const bson_t *then, err_t *err) {
    bson_iter_t queries;
    if (strcmp(bson_read_text(then, "command"), "query") != 0)
        return broken(path, "its 'command' is not query", err);
    if (bson_read_number(then, "schema") != 1)
        return broken(path, "its 'schema' is not 1", err);
    return bson_read_list(then, "queries", &queries) || broken(path, "it has no list 'queries'", err);
}

bool compare_read(const char *path, bson_t *then, err_t *err) {
    bson_error_t error;
    bson_t more = BSON_INITIALIZER;
    bson_json_reader_t *reader = bson_json_reader_new_from_file(path, &error);
    if (!reader)
        return err_set(err, STATUS_USAGE, "--compare: %s cannot be read: %s", path, error.message);
    const int found = bson_json_reader_read(reader, then, &error);
    bool ok = found > 0 || broken(path, found ? error.message : "the file is empty", err);
    ok = ok && (bson_json_reader_read(reader, &more, &error) == 0 ||
                broken(path, "something follows after the result", err));
    bson_json_reader_destroy(reader);
    bson_destroy(&more);
    return ok && check_head(path, then, err);
}

void compare_warn(const bson_t *then, const char *path, const char *suite, const char *namespace) {
    if (strcmp(bson_read_text(then, "suite"), suite) != 0)
        log_warn("--compare: %s is of the suite %s, and this is %s", path, bson_read_text(then, "suite"),
                 suite);
    if (strcmp(bson_read_text(then, "namespace"), namespace) != 0)
        log_warn("--compare: %s is of the collection %s, and this is %s", path,
                 bson_read_text(then, "namespace"), namespace);
}

static bool is_same(const bson_t *entry, const measure_t *measure) {
    const work_t *work = measure->work;
    return bson_read_number(entry, "clients") == measure->clients &&
           strcmp(bson_read_text(entry, "name"), work->query->name) == 0 &&
           strcmp(bson_read_text(entry, "with"), work->with) == 0 &&
           strcmp(bson_read_text(entry, "reads"), work->reads ? work->reads : "") == 0;
}

/* Returns why the figures of then and now cannot be compared; NULL: they can. */
static const char *find_obstacle(const bson_t *entry, const measure_t *measure) {
    const double empty = bson_read_number(entry, "empty");
    if (measure->failures)
        return "failed now";
    if (bson_read_number(entry, "failures") > 0)
        return "failed then";
    if (strcmp(bson_read_text(entry, "question"), measure->work->question) != 0)
        return "another question";
    return (empty > 0 && empty == bson_read_number(entry, "n")) != measure_of_nothing(measure)
               ? "another answer"
               : NULL;
}

bool compare_find(const bson_t *then, const measure_t *measure, compared_t *compared) {
    bson_iter_t entries;
    bson_t entry;
    const bool some = bson_read_list(then, "queries", &entries);
    bool found = false;
    *compared = (compared_t){NAN, NAN, "new"};
    while (some && !found && bson_iter_next(&entries))
        found = bson_read_document(&entries, &entry) && is_same(&entry, measure);
    if (found)
        *compared = (compared_t){bson_read_number(&entry, "p50_ms"), bson_read_number(&entry, "p99_ms"),
                                 find_obstacle(&entry, measure)};
    return found;
}
