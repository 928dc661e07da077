#include "server/deployment.h"
#include "server/bson_read.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

bool deployment_refuse_standalone(const char *host, err_t *err) {
    return err_set(err, STATUS_USAGE,
                   "a server at %s is a standalone, and the URI names several hosts: name one", host);
}

/* A client of one of the hosts alone; else as the URI says. NULL: none can be made. */
static mongoc_client_t *client_of(const address_t *address, const mongoc_host_list_t *host) {
    enum { PATIENCE_MS = 1000 };
    address_t beside;
    err_t ignored;
    if (!address_beside(address, host->host_and_port, NULL, &beside, &ignored))
        return NULL;
    mongoc_uri_set_option_as_bool(beside.uri, MONGOC_URI_DIRECTCONNECTION, true);
    address_set_waits(beside.uri, PATIENCE_MS);
    mongoc_client_t *client = mongoc_client_new_from_uri(beside.uri);
    address_free(&beside);
    return client;
}

/* ---- replica sets ---- */

/* A copy of what a server of the set says of it; hidden members and aliases are not in it. False: none is known, or there is
 * no set; the copy is empty. */
static bool copy_hello(mongoc_client_t *client, bson_t *hello) {
    size_t count;
    mongoc_server_description_t **known = mongoc_client_get_server_descriptions(client, &count);
    bool found = false;
    for (size_t i = 0; i < count && !found; i++) {
        const bson_t *said = mongoc_server_description_hello_response(known[i]);
        if ((found = bson_has_field(said, "setName")))
            bson_copy_to(said, hello);
    }
    mongoc_server_descriptions_destroy_all(known, count);
    if (!found)
        bson_init(hello);
    return found;
}

static bool names_host(const bson_t *hello, const char *host) {
    static const char *const lists[] = {"hosts", "passives", "arbiters"};
    bson_iter_t list;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (bson_read_list(hello, lists[i], &list))
            for (const char *other; (other = bson_read_next_text(&list));)
                if (strcasecmp(other, host) == 0)
                    return true;
    return false;
}

/* Two sets may have one name, but no member in common. */
static bool have_common_member(const bson_t *hello, const bson_t *other) {
    bson_iter_t list;
    bool common = !bson_read_list(other, "hosts", &list);
    for (const char *host; !common && (host = bson_read_next_text(&list));)
        common = names_host(hello, host);
    return common;
}

static const bson_oid_t *process_of(const bson_t *hello) {
    return bson_read_oid(hello, "topologyVersion.processId");
}

/* Is it one of the servers that the driver has heard of? */
static bool is_known(mongoc_client_t *client, const bson_oid_t *process) {
    size_t count;
    mongoc_server_description_t **known = mongoc_client_get_server_descriptions(client, &count);
    bool found = false;
    for (size_t i = 0; i < count && !found; i++) {
        const bson_oid_t *other = process_of(mongoc_server_description_hello_response(known[i]));
        found = other && bson_oid_equal(other, process);
    }
    mongoc_server_descriptions_destroy_all(known, count);
    return found;
}

/* A member has other names for whom it is reached by another name of its own ("horizons"): then it is the process that tells.
 * The driver hears of the others a moment after the first. */
static bool is_same_set(mongoc_client_t *client, const bson_t *hello, const bson_t *other) {
    enum { LOOKS = 100 };
    const struct timespec nap = {.tv_nsec = 10000000};
    const bson_oid_t *process = process_of(other);
    if (strcmp(bson_read_text(hello, "setName"), bson_read_text(other, "setName")) != 0)
        return false;
    bool same = have_common_member(hello, other);
    for (int i = 0; i < LOOKS && !same && process; i++) {
        same = is_known(client, process);
        if (!same)
            nanosleep(&nap, NULL);
    }
    return same;
}

/* ---- asking ---- */

/* What one of the hosts says. Each is asked by a thread of its own: several that do not answer take no longer than one. */
typedef struct {
    const address_t *address;
    const mongoc_host_list_t *host;
    pthread_t thread;
    bool runs, tells; /* tells: it is a router, and has told its cluster */
    bson_t *hello;    /* NULL: no answer */
    bson_oid_t cluster;
} asked_t;

/* False: this router does not tell. */
static bool read_cluster(mongoc_client_t *client, bson_oid_t *id) {
    bson_t reply, *find = BCON_NEW("find", "version", "limit", BCON_INT32(1));
    bson_error_t error;
    const bson_oid_t *told = NULL;
    if (mongoc_client_command_simple(client, "config", find, NULL, &reply, &error))
        told = bson_read_oid(&reply, "cursor.firstBatch.0.clusterId");
    if (told)
        *id = *told;
    bson_destroy(&reply);
    bson_destroy(find);
    return told;
}

static bool is_router(const bson_t *hello) {
    return !bson_has_field(hello, "setName") && strcmp(bson_read_text(hello, "msg"), "isdbgrid") == 0;
}

static void *ask(void *context) {
    asked_t *asked = context;
    bson_error_t error;
    mongoc_client_t *client = client_of(asked->address, asked->host);
    /* without a login: a foreign server may not know the user */
    mongoc_server_description_t *server =
        client ? mongoc_client_select_server(client, false, NULL, &error) : NULL;
    if (server) {
        asked->hello = bson_copy(mongoc_server_description_hello_response(server));
        asked->tells = is_router(asked->hello) && read_cluster(client, &asked->cluster);
        mongoc_server_description_destroy(server);
    }
    if (client)
        mongoc_client_destroy(client);
    return NULL;
}

/* Those that the set does not name itself. To be freed; NULL: memory is out. */
static asked_t *ask_others(const address_t *address, const bson_t *hello, size_t *count) {
    const mongoc_host_list_t *host = mongoc_uri_get_hosts(address->uri);
    size_t most = 1;
    *count = 0;
    for (; host->next; host = host->next)
        most++;
    asked_t *others = calloc(most, sizeof *others);
    for (host = mongoc_uri_get_hosts(address->uri); others && host; host = host->next)
        if (!names_host(hello, host->host_and_port))
            others[(*count)++] = (asked_t){.address = address, .host = host};
    for (size_t i = 0; i < *count; i++)
        others[i].runs = pthread_create(&others[i].thread, NULL, ask, &others[i]) == 0;
    for (size_t i = 0; i < *count; i++)
        if (others[i].runs)
            pthread_join(others[i].thread, NULL);
        else
            ask(&others[i]);
    return others;
}

/* Does this host surely not belong to the set that says this hello, or, if it names none, to a cluster as a router? What is
 * neither a router nor a member of a set is dropped by the driver. */
static bool is_foreign(mongoc_client_t *client, const asked_t *asked, const bson_t *hello) {
    if (!asked->hello)
        return false;
    return bson_has_field(asked->hello, "setName")
               ? !is_same_set(client, hello, asked->hello)
               : bson_has_field(hello, "setName") && is_router(asked->hello);
}

/* client: the driver's own. */
static bool belong_together(mongoc_client_t *client, const asked_t *others, size_t count, const bson_t *hello,
                            server_kind_t kind, err_t *err) {
    const asked_t *teller = NULL;
    for (size_t i = 0; i < count; i++) {
        const asked_t *other = &others[i];
        if (is_foreign(client, other, hello) ||
            (teller && other->tells && !bson_oid_equal(&teller->cluster, &other->cluster)))
            return err_set(err, STATUS_USAGE,
                           "the server at %s is no %s as the other hosts of the URI: name the %s alone",
                           other->host->host_and_port,
                           kind == SERVER_ROUTER ? "router of the same cluster"
                                                 : "member of the same replica set",
                           kind == SERVER_ROUTER ? "routers of one cluster" : "members of one set");
        if (!teller && other->tells)
            teller = other;
    }
    return true;
}

bool deployment_is_one(const address_t *address, server_kind_t kind, mongoc_client_t *client, err_t *err) {
    const mongoc_host_list_t *host = mongoc_uri_get_hosts(address->uri);
    bson_t hello;
    size_t count;
    if (!host || !host->next || mongoc_uri_get_srv_hostname(address->uri))
        return true;
    if (kind == SERVER_STANDALONE)
        return deployment_refuse_standalone(address->hosts, err);
    if (!copy_hello(client, &hello) && kind == SERVER_REPLICA_SET)
        return true; /* all were lost behind the first answer: nothing is left to compare with */
    asked_t *others = ask_others(address, &hello, &count);
    const bool ok =
        others ? belong_together(client, others, count, &hello, kind, err) : err_memory(err, sizeof *others);
    for (size_t i = 0; others && i < count; i++)
        if (others[i].hello)
            bson_destroy(others[i].hello);
    free(others);
    bson_destroy(&hello);
    return ok;
}
