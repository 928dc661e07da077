/* balancer: while a collection is loaded its chunks stay where they are: balancing of this one collection is off.
 * Before a load turns it off it writes that into the catalog, and after it has done so it writes that, too. So the last
 * load, or a later one after a kill, turns it on again. If a person had turned it off, it stays off. The note is about the
 * collection of a UUID, whatever name it has by now, and about no other one that has its name. The balancer of the
 * cluster is never changed. Main thread. */
#ifndef TIPPLE_SERVER_PRESPLIT_BALANCER_H
#define TIPPLE_SERVER_PRESPLIT_BALANCER_H

#include "server/chunks/sharding.h"

/* What the catalog says. */
typedef enum {
    BALANCER_NO_NOTE,
    BALANCER_BEGUN, /* a load was about to turn it off */
    BALANCER_DONE,
} balancer_note_t;

/* Whether the collection is balanced, and who turned that off. */
typedef enum {
    BALANCER_ON,
    BALANCER_OURS,     /* off, by a load */
    BALANCER_PERSONS,  /* off, by a person */
    BALANCER_IN_DOUBT, /* off: by a load that was killed at that moment, or by a person since; it stays off */
} balancer_t;
balancer_t balancer_judge(bool off, balancer_note_t note); /* pure */

/* And under which name it stands now; "": it is not sharded. */
typedef struct {
    balancer_t hold;
    char name[SHARDING_NAME];
} balancer_found_t;

/* Turns balancing of the collection of this UUID off. Call it after the catalog is open. *took: it was on, and is off now.
 * What a load of another collection of this name has noted, and left, is put back before. */
bool balancer_take(server_t *server, mongoc_client_t *client, const uint8_t uuid[16], bool *took, err_t *err);

/* here: of the collection that has the name now; noted (or NULL): of the one that loads have noted, mostly the same. */
bool balancer_look(server_t *server, mongoc_client_t *client, balancer_t *here, balancer_found_t *noted,
                   err_t *err);

/* Restores what was before the loads. took: of this collection, by balancer_take, so that it is ours although somebody has
 * removed the catalog with its note; or NULL. *found: what it was until now. */
bool balancer_release(server_t *server, mongoc_client_t *client, const uint8_t *took, balancer_found_t *found,
                      err_t *err);

/* A person had turned it off, and the collection is about to be dropped: noted in the catalog, whose header is there. */
bool balancer_note_off(server_t *server, mongoc_client_t *client, err_t *err);

/* Is there such a note? */
bool balancer_owes(server_t *server, mongoc_client_t *client, bool *owed, err_t *err);

/* If there is (*owed), turns it off again, and takes the note away. Call it when the collection is sharded again. */
bool balancer_keep_off(server_t *server, mongoc_client_t *client, bool *owed, err_t *err);

#endif
