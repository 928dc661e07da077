/* box: a small MongoDB server in a test's own process. It speaks the wire protocol on loopback, so that the driver and
 * all code above it are the real ones, and keeps documents in memory. tests/live/contract_test.c says what it does.
 * A command, a field, an operator or a type that it does not know ends the test with a line that names it.
 *
 *     box_t *box = box_start(BOX_STANDALONE);
 *     box_fault(box, &(box_fault_t){.command = "insert", .does = true});   the reply to the next insert is lost
 *     load_run(... box_uri(box, "d.c", uri) ...)
 *     assert_int_equal(box_count(box, "d.c", "{\"k\": 7}"), 1);
 *     box_stop(box);
 *
 * All functions may be called by any thread. JSON is MongoDB's extended JSON. */
#ifndef TIPPLE_TESTS_BOX_H
#define TIPPLE_TESTS_BOX_H

#include <bson/bson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    BOX_STANDALONE,
    BOX_REPLICA_SET, /* its primary and only member */
    BOX_ROUTER,      /* of a cluster of two shards, s0 and s1 */
} box_kind_t;
typedef struct box box_t;

enum { BOX_URI = 256 };

box_t *box_start(box_kind_t kind);
void box_stop(box_t *box);
/* mongodb://127.0.0.1:PORT/NAMESPACE, with a heartbeat every 500 ms, so that the driver soon finds a lost server again. */
const char *box_uri(const box_t *box, const char *namespace, char uri[BOX_URI]);

/* ---- what is there, as "database.collection"; filter NULL: everything ---- */

size_t box_count(box_t *box, const char *namespace, const char *filter);
/* The only one that matches, to be destroyed; none or several end the test. */
bson_t *box_one(box_t *box, const char *namespace, const char *filter);

/* ---- what someone else does meanwhile ---- */

void box_insert(box_t *box, const char *namespace, const char *document);
void box_update(box_t *box, const char *namespace, const char *filter,
                const char *update); /* all that match */
void box_delete(box_t *box, const char *namespace, const char *filter);
void box_drop(box_t *box, const char *namespace);
/* Closes all connections and comes back with another process id. */
void box_restart(box_t *box);
/* From now on documents that match are refused with this code, as a validator does (121). */
void box_refuse(box_t *box, const char *namespace, const char *filter, int code);

/* ---- what goes wrong ---- */

typedef struct {
    const char *command;    /* "insert" */
    const char *collection; /* without the database; NULL: any */
    uint32_t after, times;  /* `after` such commands pass; then `times` of them (0: one) meet the fault */
    bool does;              /* the command is executed; only its reply is lost or changed */
    /* JSON: the answer, or, with `does`, what is added to it. NULL: the connection is closed instead. */
    const char *reply;
    bool only_watches; /* nothing goes wrong: `hook` is called before the command is done */
    void (*hook)(void *context);
    void *context;
} box_fault_t;

/* Replies: an error; and, to a command that is done, a failed write concern. */
#define BOX_ERROR(code, words) "{\"ok\": 0, \"code\": " #code ", \"errmsg\": \"" words "\"}"
#define BOX_CONCERN_ERROR(code, words)                                                                       \
    "{\"writeConcernError\": {\"code\": " #code ", \"errmsg\": \"" words "\"}}"

/* Texts must last as long as the box. */
void box_fault(box_t *box, const box_fault_t *fault);
/* `after` such commands pass; before each of the next `times` the hook is called. */
void box_watch(box_t *box, const char *command, const char *collection, uint32_t after, uint32_t times,
               void (*hook)(void *context), void *context);
/* `after` such commands pass; the next `times` are refused as "not authorized". */
void box_deny(box_t *box, const char *command, const char *collection, uint32_t after, uint32_t times);
void box_end_faults(box_t *box);

/* ---- what was asked ---- */

size_t box_asked(box_t *box, const char *command, const char *collection);
/* True if the last such command was sent, and matches the filter. */
bool box_last_was(box_t *box, const char *command, const char *collection, const char *filter);

/* What it says of itself: fields of buildInfo, hello or dbStats. */
void box_say(box_t *box, const char *command, const char *fields);

#endif
