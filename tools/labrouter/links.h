/* links: the connections of one thread: one to the mongod that routes, in the client's own name, and one to
 * each primary that a translated command needs, in the router's. */
#ifndef LABROUTER_LINKS_H
#define LABROUTER_LINKS_H

#include "message.h"
#include "router.h"

typedef struct link link_t;

typedef struct {
    router_t *router;
    stream_t *own;
    char own_host[HOST_SIZE];
    bool logged_in; /* the client has, on `own` */
    message_t answer;
    link_t *links;
    int32_t request;
} links_t;

void links_clean(links_t *links);

/* Connects `own` to the mongod that routes now, when it is not. */
bool links_own(links_t *links, problem_t *problem);
/* Gives it up: its host has failed, or is no primary any more. */
void links_own_failed(links_t *links);

/* Sends a command (without $db) in the client's own name; the reply is a copy, to be destroyed. */
bool links_ask_own(links_t *links, const char *database, const bson_t *command, bson_t *reply,
                   problem_t *problem);

/* Sends a command to the primary of a shard, by its name, or of the config server ("config"). A primary that
 * is none any more is looked for again, for a while. A reply with ok: 0 counts as a reply. */
bool links_ask(links_t *links, const char *place, const char *database, const bson_t *command, bson_t *reply,
               problem_t *problem);
/* The same, but what the server refuses is a problem. */
bool links_ask_ok(links_t *links, const char *place, const char *database, const bson_t *command,
                  bson_t *reply, problem_t *problem);
/* Sends a command in the router's own name to the mongod that routes. */
bool links_ask_via(links_t *links, const char *database, const bson_t *command, bson_t *reply,
                   problem_t *problem);

/* Is there ok: 1? Otherwise the problem is what the reply says. */
bool reply_ok(const bson_t *reply, problem_t *problem);
int reply_code(const bson_t *reply);

#endif
