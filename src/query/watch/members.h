/* members: the servers behind a target that hold its data: the only server; or every member of a replica set that data
 * can be read from; or those of every shard. Each is asked by a connection of its own. Behind a router, also the
 * routers on this host, for their CPU only. Main thread. */
#ifndef TIPPLE_QUERY_WATCH_MEMBERS_H
#define TIPPLE_QUERY_WATCH_MEMBERS_H

#include "server/server.h"

/* What a server says about itself. */
typedef struct {
    double examined, cached_bytes; /* since it was started; NAN: it does not tell */
    int64_t process;               /* 0: it does not tell */
} member_status_t;

/* From a reply to serverStatus. */
void member_read(const bson_t *reply, member_status_t *status);

typedef struct {
    char name[300];  /* "127.0.0.1:27017" */
    char group[128]; /* its shard; "": there is only one */
    bool holds_data, is_here;
    address_t address;
    mongoc_client_t *client;
} member_t;

typedef struct {
    member_t *items;
    size_t count;
    bool complete; /* there is a member of every group, so counters are complete */
} members_t;

/* Finds the servers and asks each. A server that does not answer, or may not be asked, is left out, and reported once
 * (log_note). False: out of memory. Call members_close in any case. */
bool members_open(members_t *members, server_t *server, mongoc_client_t *client, err_t *err);
void members_close(members_t *members);

/* Asks a member; connects again if it was restarted. False: err says why not. */
bool member_ask(member_t *member, member_status_t *status, err_t *err);

#endif
