#include "server/deployment.h"
#include "base/stop.h"
#include "server/bson_read.h"

#include <string.h>
#include <strings.h>

bool deployment_refuse_standalone(const char *host, err_t *err) {
    return err_set(err, STATUS_USAGE,
                   "a server at %s is a standalone, and the URI names several hosts: name one", host);
}

/* A client of one of the hosts alone; else as the URI says. NULL: none can be made. */
static mongoc_client_t *client_of(const address_t *address, const mongoc_host_list_t *host) {
    enum { PATIENCE_MS = 1000 };
    static const char *const waits[] = {MONGOC_URI_CONNECTTIMEOUTMS, MONGOC_URI_SERVERSELECTIONTIMEOUTMS,
                                        MONGOC_URI_SOCKETTIMEOUTMS};
    address_t beside;
    err_t ignored;
    if (!address_beside(address, host->host_and_port, NULL, &beside, &ignored))
        return NULL;
    mongoc_uri_set_option_as_bool(beside.uri, MONGOC_URI_DIRECTCONNECTION, true);
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        mongoc_uri_set_option_as_int32(beside.uri, waits[i], PATIENCE_MS);
    mongoc_client_t *client = mongoc_client_new_from_uri(beside.uri);
    address_free(&beside);
    return client;
}

/* ---- replica sets ---- */

/* A copy of what a server of the set says of it; hidden members and aliases are not in it. */
static void copy_hello(mongoc_client_t *client, bson_t *hello) {
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
}

/* The next host of a list in a hello. */
static const char *next_host(bson_iter_t *list) {
    while (bson_iter_next(list))
        if (BSON_ITER_HOLDS_UTF8(list))
            return bson_iter_utf8(list, NULL);
    return NULL;
}

static bool open_list(const bson_t *hello, const char *name, bson_iter_t *list) {
    bson_iter_t at;
    return bson_iter_init_find(&at, hello, name) && BSON_ITER_HOLDS_ARRAY(&at) &&
           bson_iter_recurse(&at, list);
}

static bool names_host(const bson_t *hello, const char *host) {
    static const char *const lists[] = {"hosts", "passives", "arbiters"};
    bson_iter_t list;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (open_list(hello, lists[i], &list))
            for (const char *other; (other = next_host(&list));)
                if (strcasecmp(other, host) == 0)
                    return true;
    return false;
}

/* Two sets may have one name, but no member in common. */
static bool is_same_set(const bson_t *hello, const bson_t *other) {
    bson_iter_t list;
    if (strcmp(bson_read_text(hello, "setName"), bson_read_text(other, "setName")) != 0)
        return false;
    bool same = !open_list(other, "hosts", &list);
    for (const char *host; !same && (host = next_host(&list));)
        same = names_host(hello, host);
    return same;
}

/* Does this host surely not belong to the set that says this hello, or, if it names none, to a cluster as a router? What is
 * neither a router nor a member of a set is dropped by the driver. */
static bool is_foreign(const address_t *address, const mongoc_host_list_t *host, const bson_t *hello) {
    bson_error_t error;
    bool foreign = false;
    mongoc_client_t *client = client_of(address, host);
    /* without a login: a foreign server may not know the user */
    mongoc_server_description_t *server =
        client ? mongoc_client_select_server(client, false, NULL, &error) : NULL;
    if (server) {
        const bson_t *said = mongoc_server_description_hello_response(server);
        if (bson_has_field(said, "setName"))
            foreign = !is_same_set(hello, said);
        else
            foreign =
                bson_has_field(hello, "setName") && strcmp(bson_read_text(said, "msg"), "isdbgrid") == 0;
        mongoc_server_description_destroy(server);
    }
    if (client)
        mongoc_client_destroy(client);
    return foreign;
}

/* ---- clusters ---- */

/* False: this router does not tell. */
static bool read_cluster(const address_t *address, const mongoc_host_list_t *host, bson_oid_t *id) {
    mongoc_client_t *client = client_of(address, host);
    if (!client)
        return false;
    bson_t reply;
    bson_error_t error;
    bson_iter_t at, found;
    bson_t *find = BCON_NEW("find", "version", "limit", BCON_INT32(1));
    bool told = mongoc_client_command_simple(client, "config", find, NULL, &reply, &error) &&
                bson_iter_init(&at, &reply) &&
                bson_iter_find_descendant(&at, "cursor.firstBatch.0.clusterId", &found) &&
                BSON_ITER_HOLDS_OID(&found);
    if (told)
        bson_oid_copy(bson_iter_oid(&found), id);
    bson_destroy(&reply);
    bson_destroy(find);
    mongoc_client_destroy(client);
    return told;
}

bool deployment_is_one(const address_t *address, server_kind_t kind, mongoc_client_t *client, err_t *err) {
    const mongoc_host_list_t *host = mongoc_uri_get_hosts(address->uri);
    bson_t hello;
    bson_oid_t first, id;
    bool ok = true, knows_first = false;
    if (!host || !host->next || mongoc_uri_get_srv_hostname(address->uri))
        return true;
    if (kind == SERVER_STANDALONE)
        return deployment_refuse_standalone(address->hosts, err);
    copy_hello(client, &hello);
    for (; ok && host && !stop_signal(); host = host->next) {
        if (names_host(&hello, host->host_and_port))
            continue;
        if (is_foreign(address, host, &hello)) {
            ok = false;
        } else if (kind == SERVER_ROUTER && read_cluster(address, host, &id)) {
            ok = !knows_first || bson_oid_equal(&first, &id);
            first = knows_first ? first : id;
            knows_first = true;
        }
        if (!ok)
            err_set(err, STATUS_USAGE,
                    "the server at %s is no %s as the other hosts of the URI: name the %s alone",
                    host->host_and_port,
                    kind == SERVER_ROUTER ? "router of the same cluster" : "member of the same replica set",
                    kind == SERVER_ROUTER ? "routers of one cluster" : "members of one set");
    }
    bson_destroy(&hello);
    return ok;
}
