/* links: the connections of one thread:
 *
 *     own     in the client's name, to a mongod that routed when the client came: logins, and what it may ask
 * there route   in the router's name, to the mongod that routes now: a router's commands are forbidden to
 * people others  in the router's name, to each primary that a translated command needs */
#ifndef LABROUTER_LINKS_H
#define LABROUTER_LINKS_H

#include "message.h"
#include "router.h"

typedef struct link link_t;

typedef struct {
    router_t *router;
    stream_t *own, *route;
    char own_host[HOST_SIZE], route_host[HOST_SIZE];
    bool logged_in;  /* the client has, on `own` */
    bool login_lost; /* `own` has failed since: the client must come again */
    bson_t *may;     /* what the client may do, as `own` has said at may_at (seconds) */
    int64_t may_at;
    message_t answer;
    link_t *links;
    int32_t request;
} links_t;

void links_clean(links_t *links);

/* Connects them when they are not. */
bool links_own(links_t *links, problem_t *problem);
bool links_route(links_t *links, problem_t *problem);
/* Gives them up: the host has failed, or is no primary any more. */
void links_own_failed(links_t *links);
void links_route_failed(links_t *links);

/* Sends a command (without $db); the reply is a copy, to be destroyed. */
bool links_ask_own(links_t *links, const char *database, const bson_t *command, bson_t *reply,
                   problem_t *problem);
bool links_ask_route(links_t *links, const char *database, const bson_t *command, bson_t *reply,
                     problem_t *problem);

/* Sends a command to the primary of a shard, by its name, or of the config server ("config"). A primary that
 * is none any more is looked for again, for a while. A reply with ok: 0 counts as a reply. */
bool links_ask(links_t *links, const char *place, const char *database, const bson_t *command, bson_t *reply,
               problem_t *problem);
/* The same, but what the server refuses is a problem. */
bool links_ask_ok(links_t *links, const char *place, const char *database, const bson_t *command,
                  bson_t *reply, problem_t *problem);

/* Is there ok: 1? Otherwise the problem is what the reply says. */
bool reply_ok(const bson_t *reply, problem_t *problem);
int reply_code(const bson_t *reply);

#endif
