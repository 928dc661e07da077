/* commands: what becomes of each command that a client may send. */
#ifndef LABROUTER_COMMANDS_H
#define LABROUTER_COMMANDS_H

#include "call.h"

typedef enum {
    COMMAND_ROUTE,     /* sent on under the name `to` to the mongod that routes, in the router's name */
    COMMAND_PASS,      /* sent on as it is, in the client's own name */
    COMMAND_TRANSLATE, /* carried out by `run` */
    COMMAND_REFUSE,    /* answered by the sentence `to` */
} command_kind_t;

typedef struct {
    const char *name;
    command_kind_t kind;
    const char *to;
    call_run_t run;
    const char *action; /* the privilege that it takes, where the router acts in its own name */
    bool writes;        /* takes a write concern */
    bool reads;         /* may be sent again */
} command_t;

/* NULL: there is no such command. */
const command_t *command_find(const char *name);

/* sharding.c */
bool sharding_renamed(call_t *call);
bool sharding_list_shards(call_t *call);
bool sharding_enable(call_t *call);
bool sharding_shard_collection(call_t *call);
bool sharding_move_chunk(call_t *call);
bool sharding_split(call_t *call);
bool sharding_merge_chunks(call_t *call);

/* collections.c: definitions of collections and indexes */
bool collections_create(call_t *call);
bool collections_drop(call_t *call);
bool collections_drop_database(call_t *call);
bool collections_create_indexes(call_t *call);
bool collections_list_indexes(call_t *call);
bool collections_drop_indexes(call_t *call);
bool collections_modify(call_t *call);
bool collections_list(call_t *call);
bool collections_list_databases(call_t *call);
bool collections_everywhere(call_t *call);
bool collections_fsync(call_t *call);

/* reads.c: reads and writes that have no router's command of their own */
bool reads_count(call_t *call);
bool reads_distinct(call_t *call);
bool reads_explain(call_t *call);
bool reads_find_and_modify(call_t *call);
bool reads_collection_stats(call_t *call);
bool reads_database_stats(call_t *call);
bool reads_at_config(call_t *call);
bool reads_kill_cursors(call_t *call);

#endif
