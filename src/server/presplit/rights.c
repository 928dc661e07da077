#include "server/bson_read.h"
#include "server/cluster.h"
#include "server/server_errors.h"

#include <string.h>

/* Of a resource: "" stands for every name there. */
static bool covers(const bson_t *resource, const char *field, const char *name, size_t length) {
    bson_iter_t at;
    if (!bson_iter_init_find(&at, resource, field) || !BSON_ITER_HOLDS_UTF8(&at))
        return false;
    const char *has = bson_iter_utf8(&at, NULL);
    return !*has || (strlen(has) == length && memcmp(has, name, length) == 0);
}

/* namespace NULL: the cluster. */
static bool is_of(const bson_t *resource, const char *namespace) {
    bson_iter_t at;
    if (bson_iter_init_find(&at, resource, "anyResource"))
        return bson_iter_as_bool(&at);
    if (!namespace)
        return bson_read_true(resource, "cluster");
    const char *dot = strchr(namespace, '.');
    return dot && covers(resource, "db", namespace, (size_t)(dot - namespace)) &&
           covers(resource, "collection", dot + 1, strlen(dot + 1));
}

static bool has_action(const bson_t *privilege, const char *action) {
    bson_iter_t actions;
    if (!bson_read_list(privilege, "actions", &actions))
        return false;
    for (const char *each; (each = bson_read_next_text(&actions));)
        if (strcmp(each, action) == 0 || strcmp(each, "anyAction") == 0)
            return true;
    return false;
}

static bool may(const bson_iter_t *privileges, const char *action, const char *namespace) {
    bson_iter_t each;
    bson_t privilege, resource;
    if (!bson_iter_recurse(privileges, &each))
        return false;
    while (bson_read_next(&each, &privilege))
        if (bson_read_field(&privilege, "resource", &resource) && is_of(&resource, namespace) &&
            has_action(&privilege, action))
            return true;
    return false;
}

/* What servers ask for: shardCollection, the right on the collection itself (that on the cluster is another one); zones, the one on
 * the cluster, or to write the cluster's settings. */
bool rights_to_shard(const bson_t *status, const char *namespace) {
    bson_iter_t top, users, any, privileges;
    if (!bson_iter_init(&top, status) ||
        !bson_iter_find_descendant(&top, "authInfo.authenticatedUsers", &users) ||
        !BSON_ITER_HOLDS_ARRAY(&users) || !bson_iter_recurse(&users, &any) || !bson_iter_next(&any))
        return true;
    if (!bson_iter_init(&top, status) ||
        !bson_iter_find_descendant(&top, "authInfo.authenticatedUserPrivileges", &privileges) ||
        !BSON_ITER_HOLDS_ARRAY(&privileges))
        return true;
    return may(&privileges, "enableSharding", namespace) &&
           (may(&privileges, "enableSharding", NULL) ||
            (may(&privileges, "update", "config.shards") && may(&privileges, "update", "config.tags")));
}

/* Servers that do not know the command do not tell. Any other failure is no answer: a load could drop what it then may not shard. */
bool rights_check(server_t *server, mongoc_client_t *client, err_t *err) {
    bson_t status, *command = BCON_NEW("connectionStatus", BCON_INT32(1), "showPrivileges", BCON_BOOL(true));
    bool can = server_command(server, client, "admin", command, false, &status, err);
    if (!can)
        can = server_code(&status) == CODE_COMMAND_NOT_FOUND;
    else if (!rights_to_shard(&status, server_namespace(server)))
        can = err_set(err, STATUS_USAGE,
                      "this user may not shard %s: the role clusterManager has what it takes; with "
                      "--shard-key none the collection stays on one shard. Nothing was touched",
                      server_namespace(server));
    bson_destroy(command);
    bson_destroy(&status);
    return can;
}
