/* sim: a simulated world: servers, a catalog, a collection, inputs, and up to four loads that run the
 * production code, in one thread, by one list of choices. See README.md.
 *
 *   content    the inputs             server     what messages do to the catalog and the collection
 *   actor      who runs, and when     sim_store  the catalog's seam   sim_wire  the inserts' seam
 *   program    a load, from its first command to its exit status      pipeline  its feeders and senders
 *   check      what must be true      world      faults, steps, ends */
#ifndef TIPPLE_SIM_SIM_H
#define TIPPLE_SIM_SIM_H

#include "arena_names.h"
#include "catalog/catalog.h"
#include "catalog/register/register.h"
#include "choices.h"
#include "content.h"
#include "coroutine.h"
#include "load/deliver/deliver.h"
#include "load/run/coordinator.h"

enum {
    SIM_LOADS = 4,
    SIM_INPUTS = 3,
    SIM_SHARDS = 2,
    SIM_DOCUMENTS = 256,
    SIM_MESSAGES = 96,
    SIM_BATCH = 8,
    SIM_WORKERS = 2,
    SIM_TASKS = 24,
    SIM_RATE_OF_AGAIN = 125,   /* of one with --reload-missing */
    SIM_RATE_OF_FREE = 90,     /* of the clock of a load that registers all as free */
    PIPELINE_LEAST_PIECES = 2, /* to take at once, */
    PIPELINE_PIECE_BYTES = 1,  /* and no more of them */
    SIM_EVENTS = 64,
    SIM_TICK = 1000, /* nanoseconds of virtual time */
    SIM_LEASE = 10 * SIM_TICK,
    SIM_BEAT = 2 * SIM_TICK,
};

typedef struct world world_t;
typedef struct sim_load sim_load_t;

/* ---- actors ---- */

typedef struct {
    coroutine_t *coroutine;
    sim_load_t *load;
    const char *name;
    void (*function)(void *load);
    bool alive;      /* has begun and not ended */
    bool waits_time; /* until `due` of its load's clock, or until it is woken */
    bool woken;
    int64_t due;
    struct packet *waits_for; /* a reply */
} actor_t;

/* ---- servers ---- */

typedef enum { KIND_STANDALONE, KIND_REPLSET, KIND_SHARDED } topology_t;

typedef struct {
    int64_t id;
    uint32_t document;
    uint8_t shard;
    bool committed; /* a majority has it; of a standalone: it is journaled */
    bool orphan;
    bool late;    /* its message was executed after its sender's death */
    uint32_t old; /* what it was before a replace that is not committed; 0: there was none */
    int64_t at;   /* when it was stored */
} stored_t;

typedef struct {
    stored_t at[SIM_DOCUMENTS];
    uint32_t count;
} documents_stored_t;

typedef struct {
    topology_t topology;
    bool by_id; /* the shard key is `_id` (or there is none) */
    bool flipped;
    uint32_t incarnation; /* of a standalone's process */
    documents_stored_t documents;
    struct {
        bool active;
        documents_stored_t documents;
    } stale[SIM_SHARDS]; /* a primary that does not know yet that it is none */
    uint8_t uuid[STORE_UUID];
    uint32_t uuids; /* given so far */
    bool exists;
    bool has_header;
    catalog_header_t header;
    entries_t entries; /* by ordinal */
    loads_t loads;
    uint32_t pass_code; /* a code that is in no list, for some documents; 0: none now */
} server_t;

typedef enum {
    MESSAGE_READ_HEADER,
    MESSAGE_MAKE_HEADER,
    MESSAGE_CHANGE_HEADER,
    MESSAGE_READ_ENTRIES,
    MESSAGE_ADD_ENTRIES,
    MESSAGE_CHANGE_ENTRIES,
    MESSAGE_REMOVE_ENTRIES,
    MESSAGE_READ_LOADS,
    MESSAGE_ENROLL,
    MESSAGE_BEAT,
    MESSAGE_END,
    MESSAGE_COLLECTION,
    MESSAGE_CREATE,
    MESSAGE_DROP,
    MESSAGE_INSERT,
    MESSAGE_REPLACE,
    MESSAGE_FETCH,
    MESSAGE_REMOVE, /* all documents with some numbers */
    MESSAGE_LOOK,   /* are there any? */
    MESSAGE_KINDS
} message_kind_t;

/* One command on its way. What it asks for belongs to whoever sends it, until it is left alone: then it has
 * copies. */
typedef struct packet {
    message_kind_t kind;
    bool used, executed, copied;
    uint32_t times; /* it may still be executed so often, when nobody waits for it */
    actor_t *waiter;
    uint32_t slot, run; /* of the load that sent it */
    load_id_t load;
    /* asked */
    catalog_header_t *header;
    const header_change_t *header_change;
    const entry_t *const *add;
    const entry_change_t *changes;
    size_t count;
    size_t at;       /* of changes and new entries: the first one that is not executed yet */
    uint64_t number; /* below; beat */
    uint8_t uuid[STORE_UUID];
    int64_t ids[SIM_BATCH];
    uint32_t documents[SIM_BATCH];
    uint32_t old;
    bool safe, by_range;
    uint32_t ordinal, piece, epoch; /* of an insert: by what right it is sent */
    int64_t from_id, to_id;
    uint64_t from_number, to_number;
    uint32_t most; /* of a removal that was cut off in the middle; 0: all */
    /* read: where it goes */
    entries_t *entries;
    loads_t *loads;
    uint64_t *from;
    const uint32_t *among;
    size_t among_count;
    bool *more;
    stored_t *found;
    size_t found_count, found_room;
    /* answered */
    uint64_t changed;
    bool flag;
    int codes[SIM_BATCH];
    bool concern_failed;
    int code; /* of the command */
    uint32_t incarnation;
} packet_t;

/* ---- loads ---- */

typedef struct {
    uint32_t inputs[SIM_INPUTS];
    uint32_t input_count;
    uint32_t host, format;
    bool unsafe, drop, same_collection, other_folder, reload;
    bool forget, documents; /* it is `forget`, of the first input; with --delete */
    bool retry;             /* it is `load --retry`, of what all loads have rejected */
} command_t;

/* What a feeder has to do. */
typedef struct {
    work_t *work;
    uint32_t epoch;
    bool check, compares, used, begun, waits_torn;
    done_runs_t done;
    tail_t tail;
    uint64_t from, to;
    const fix_mark_t *fixes; /* of its input */
    int64_t began_at;
    size_t fix_count;
} task_t;

typedef struct {
    enum { EVENT_BLOCK, EVENT_FED, EVENT_TORN, EVENT_CHECKED } kind;
    work_t *work;
    settled_block_t block;
    reject_mark_t rejects[SIM_BATCH];
    uint64_t end_block;
    uint32_t tail_parts;
    torn_t torn;
    uint32_t incarnation;
} event_t;

typedef enum { LOAD_NONE, LOAD_RUNS, LOAD_ENDED, LOAD_KILLED } load_state_t;

/* An extent that a feeder wants. */
typedef struct {
    bool wanted;
    work_t *work;
    uint64_t offset;
} extend_t;

struct sim_load {
    world_t *world;
    uint32_t slot, run;
    load_id_t id;
    command_t command;
    load_state_t state;
    bool suspended, disturbed, opened, again;
    uint64_t began, registered,
        wrote; /* the steps at which it began, registered last, and changed the catalog's entries last */
    int64_t began_at;
    bool turned_out[SIM_INPUTS]; /* to be another content, while it was read */
    int64_t beats_stop_until;    /* in virtual time */
    int64_t may_jump_from;
    int64_t last_beat; /* when one was executed; -1: never */
    int64_t clock_at, clock_then;
    uint32_t rate; /* of its clock, in percent */
    actor_t main, heart, workers[SIM_WORKERS];
    struct {
        store_t store;
        sim_load_t *load;
    } store;
    const content_t *seen[SIM_INPUTS];
    uint64_t beats;
    atomic_ullong own_beats;
    catalog_t catalog, coordinating; /* the second waits as the coordinator does */
    catalog_settings_t settings;
    uint32_t generation;
    ledger_t ledger;
    registration_t registration;
    bool has_ledger, bound, binding, told_to_stop, failed, flushing;
    err_t error; /* of a feeder or sender */
    task_t tasks[SIM_TASKS];
    event_t events[SIM_EVENTS];
    uint32_t event_count, incarnation; /* of the server, as last heard */
    extend_t extend;
    bool changed;
    status_t status;
    err_t err;
    uint32_t drops_seen, drops_seen_before; /* of the collection, at its last command and at the one before */
    counts_t counts;
};

/* What a load that ended with 0 or 2 said is there. */
typedef struct {
    uint32_t input, format, ordinal;
    const content_t *content;
    uint32_t rejected; /* a bit a record, as the catalog had it then */
    uint32_t slot, run;
} claim_t;

/* An entry of the reject file that all loads write. */
typedef struct {
    uint32_t input;
    char path[40];
    record_t record;
    uint64_t offset, hash;
} rejected_t;

/* What a --retry that ended with 0 said is there. */
typedef struct {
    uint32_t ordinal;
    uint64_t offset, of;
    bool document; /* else the record is left out */
    uint32_t slot, run;
} answered_t;

enum { SIM_REJECTED = 64, SIM_ANSWERED = 128 };

enum { SIM_CLAIMS = 48, SIM_GRANTS = 256, SIM_BURIALS = 32 };

/* A take that was made. */
typedef struct {
    uint32_t ordinal, piece, epoch;
    load_id_t load;
} grant_t;

/* An input that was taken out of the catalog. */
typedef struct {
    uint32_t ordinal;
    uint64_t buried; /* the step */
    uint64_t noted;  /* the step at which the catalog came to say that documents may remain */
    int64_t at;
    bool documents; /* they are to be removed */
} burial_t;

/* How bad a day it is: each in a thousand steps (or calls). */
typedef struct {
    uint32_t delay, lose, doubled, change_actor, pass_time, suspend, kill, stop_beats, jump, concern,
        stray_duplicate, code, commit_late, failover, crash, migrate, grow, edit, restart, person, terminate,
        clean, garble, unacknowledged, between;
} rates_t;

struct world {
    choices_t *choices;
    bool trace, calm;
    uint32_t small; /* of an exhaustive search: so many blocks has its one input; 0: a world like any other */
    int64_t now;
    uint64_t steps, sent; /* messages */
    rates_t rates;
    server_t server;
    input_t inputs[SIM_INPUTS];
    uint32_t input_count;
    sim_load_t loads[SIM_LOADS];
    uint32_t load_count;
    command_t commands[SIM_LOADS];
    uint32_t runs[SIM_LOADS];
    bool content_with[SIM_LOADS]; /* the slot's command has ended as it should */
    uint32_t rests_after[SIM_LOADS];
    int64_t rests_until[SIM_LOADS]; /* before its command is given again */
    uint32_t next_load;
    packet_t messages[SIM_MESSAGES];
    uint32_t message_count; /* no used one from here on */
    uint32_t pending;       /* of those that nobody waits for, or are not executed */
    actor_t *current;
    claim_t claims[SIM_CLAIMS];
    uint32_t claim_count;
    grant_t grants[SIM_GRANTS];
    uint32_t grant_count;
    bool showed_replaced; /* an old primary has shown a document that was corrected since */
    burial_t burials[SIM_BURIALS];
    uint32_t burial_count;
    rejected_t rejected[SIM_REJECTED];
    uint32_t rejected_count;
    answered_t answered[SIM_ANSWERED];
    uint32_t answered_count;
    uint32_t drops;   /* of the collection */
    bool retries;     /* rejected records are fixed */
    bool restores;    /* the collection becomes what it was earlier */
    bool empties;     /* documents are removed by somebody else, until a load with --reload-missing */
    uint64_t emptied; /* the last step at which that was done; 0: never */
    bool first_alone; /* the others begin when the first command has ended as it should */
    bool slow;        /* messages that are under way stay there for long */
    bool removals, jumps,
        overtakes; /* inputs are removed; clocks jump; what is late comes between a look and a take */
    bool dirty;    /* something that is checked has changed */
    bool lost_unsafe;
    bool failed;
    char what[64]; /* the name of what does not hold */
    char why[600]; /* and how */
};

#define TRACE(world, ...)                                                                                    \
    do {                                                                                                     \
        if (__builtin_expect((world)->trace, 0))                                                             \
            sim_trace((world), __VA_ARGS__);                                                                 \
    } while (0)
void sim_trace(const world_t *world, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Something that must be true is not. */
void sim_fail(world_t *world, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- actor.c ---- */

int64_t load_clock(const sim_load_t *load);
void actor_start(actor_t *actor, sim_load_t *load, const char *name, void (*function)(void *));
/* Others may run before it goes on. */
void actor_pause(world_t *world);
/* Until the load's clock has gone on so far, or until it is woken. */
void actor_sleep(world_t *world, int64_t most_ns);
void actor_wake(actor_t *actor);
bool actor_is_ready(const actor_t *actor);

/* ---- server.c ---- */

void server_begin(world_t *world);
/* What the message does, now. A command that names several entries is executed entry by entry: it may stop after any of
 * them, and goes on when it is executed again. */
void server_execute(world_t *world, packet_t *message);
bool server_has_executed(const packet_t *message);
uint8_t server_shard_of(const server_t *server, int64_t id, uint32_t document);
void server_commit(world_t *world, uint32_t shard);
void server_fail_over(world_t *world, uint32_t shard);
void server_crash(world_t *world);
void server_migrate(world_t *world);
void server_drop(world_t *world);
void server_restore(world_t *world);
void server_empty(world_t *world);
void server_clean(world_t *world); /* of loads that are gone */

/* ---- messages.c ---- */

/* Sends it from the actor that runs, and waits for its reply; false: none came, and whatever it does may have
 * happened, or may still happen. *message is the sender's. */
bool message_send(sim_load_t *load, packet_t *message, uint32_t tries);
void message_execute(world_t *world, packet_t *message);
/* One that is under way, by its place among them. */
packet_t *message_under_way(world_t *world, uint32_t at);
void message_forget_waiters(world_t *world, const sim_load_t *load);

/* ---- sim_store.c, sim_wire.c ---- */

void sim_store_make(sim_load_t *load);
bool sim_enroll(sim_load_t *load, err_t *err);
bool sim_end(sim_load_t *load, err_t *err);
bool sim_create(sim_load_t *load, err_t *err);
bool sim_drop(sim_load_t *load, const uint8_t uuid[STORE_UUID], err_t *err);
bool sim_look(void *load, const entry_t *entry, bool *any, err_t *err);
bool sim_remove(void *load, const entry_t *entry, err_t *err);

enum { BSON_BYTES = 27 };
typedef struct {
    wire_t wire;
    sim_load_t *load;
    int64_t ids[SIM_BATCH];
    uint32_t documents[SIM_BATCH];
    uint32_t patience, incarnation;
    uint32_t ordinal, piece, epoch;
    write_error_t errors[SIM_BATCH];
} sim_wire_t;
void sim_wire_make(sim_wire_t *wire, sim_load_t *load);
void sim_bson(uint8_t *to, int64_t id, uint32_t document);
/* What the majority has in this range of `_id`s, through the router; false: no answer. */
bool sim_fetch_range(sim_wire_t *wire, int64_t from, int64_t to, stored_t *found, size_t room, size_t *count);
/* One replace, conditional on all old bytes. *done: it matched. */
bool sim_replace(sim_wire_t *wire, int64_t id, uint32_t old, uint32_t document, bool *done);

/* ---- program.c, pipeline.c, retry.c ---- */

void program_start(world_t *world, uint32_t slot);
void program_kill(world_t *world, sim_load_t *load);
void pipeline_worker(void *load);
coordinator_t pipeline_coordinator(sim_load_t *load);
/* The catalog says what is in the collection before anything is. */
bool pipeline_bind(sim_load_t *load);
/* Others can see that it is alive. */
bool program_begin(sim_load_t *load, err_t *err);
/* status: 2, if some are still rejected. */
bool retry_run(sim_load_t *load, status_t *status, err_t *err);
uint64_t sim_bson_hash(int64_t id, uint32_t document);

/* ---- check.c ---- */

void check_now(world_t *world);
void check_end(world_t *world);
void check_take(world_t *world, const entry_change_t *change, const piece_t *before);
void check_added(world_t *world, const packet_t *message, const entry_t *entry);
void check_progress(world_t *world, const packet_t *message, const entry_t *before,
                    const entry_change_t *change);
void check_gone(world_t *world, const entry_t *entry);
void check_right(world_t *world, const packet_t *message);
void check_new_uuid(world_t *world, const packet_t *message);
void check_drop(world_t *world, const packet_t *message);
void check_insert(world_t *world, const packet_t *message, int64_t id, uint32_t document);
/* How many rejected records its ledger counts that are not fixed. */
uint64_t check_open_rejects(const sim_load_t *load);
void check_said(world_t *world, sim_load_t *load);
void check_noted(world_t *world, const entry_t *entry);
void check_burial(world_t *world, const entry_t *entry, const entry_change_t *change);
void check_removed(world_t *world, const stored_t *one);
void check_finished(world_t *world, const sim_load_t *load);
void check_fix(world_t *world, const packet_t *message, int64_t id, uint32_t document, bool late);
void check_counts(world_t *world, const entry_t *entry, const rejected_t *rejected);
void check_rejected_again(world_t *world, const task_t *task, uint32_t ordinal, uint64_t offset, uint64_t of);
void check_answered(world_t *world, const sim_load_t *load, const entry_t *entry, uint64_t offset,
                    uint64_t of, bool says, bool document);

/* ---- world.c ---- */

/* True: everything held. */
bool world_run(world_t *world, choices_t *choices, bool trace, uint32_t loads, uint32_t small);
bool is_nothing_wrong_with(const world_t *world, uint32_t slot, const sim_load_t *load);

/* ---- exhaustive.c: all worlds of a small kind (README.md, "All small worlds") ---- */

typedef struct {
    const char *name;
    uint32_t loads, blocks;
    int switches, faults;
    bool quick; /* some seconds */
} exhaustive_case_t;

extern const exhaustive_case_t exhaustive_cases[]; /* the last one has no name */

typedef enum { EXHAUSTIVE_ALL, EXHAUSTIVE_LATE, EXHAUSTIVE_WRONG } exhaustive_end_t;
exhaustive_end_t exhaustive_run(world_t *world, choices_t *choices, const exhaustive_case_t *is,
                                double most_seconds, double (*seconds)(void), uint64_t *count);

/* ---- shrink.c: makes a world that goes wrong small, by zeros in its choices, and keeps it in a file ---- */

typedef struct {
    uint8_t *bytes; /* by malloc; after the last one there are only zeros */
    size_t count;
} script_t;

/* How many worlds it took. */
size_t shrink(world_t *world, choices_t *choices, script_t *script, uint32_t loads, uint32_t small);
/* A text: "loads N", "small 0" (or a number of blocks), "wrong WHAT", then "at PLACE VALUE" for each choice that is not zero. */
bool script_save(const script_t *script, const char *path, uint32_t loads, uint32_t small, const char *what);
bool script_read(script_t *script, const char *path, uint32_t *loads, uint32_t *small);

#endif
