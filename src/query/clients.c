#include "query/clients.h"
#include "base/clock.h"
#include "base/numbers/chance.h"
#include "base/stop.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

static void add_up(const clients_t *crew, const sender_t *sender, const server_t *server,
                   measure_t *measure) {
    if (sender->failures && !measure->failures) {
        snprintf(measure->failure, sizeof measure->failure, "%s", sender->error.message);
        address_conceal(server_address(server), measure->failure);
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

bool clients_run(const clients_round_t *round, measure_t *measure, server_t *server, err_t *err) {
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
            add_up(&crew, senders[i], server, measure);
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

bool beside_start(beside_t *beside, const char *command, err_t *err) {
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

bool beside_runs(beside_t *beside) {
    if (beside->process && !beside->ended &&
        waitpid(beside->process, &beside->status, WNOHANG) == beside->process)
        beside->ended = true;
    return beside->process && !beside->ended;
}

static void nap(void) {
    const struct timespec time = {.tv_nsec = 20000000};
    nanosleep(&time, NULL);
}

/* The shell may end before the processes that it has started. */
void beside_stop(beside_t *beside) {
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

void beside_describe(int status, char words[BESIDE_WORDS]) {
    if (WIFSIGNALED(status))
        snprintf(words, BESIDE_WORDS, "by signal %d", WTERMSIG(status));
    else
        snprintf(words, BESIDE_WORDS, "with status %d", WEXITSTATUS(status));
}
