#include "privileges.h"

#include <string.h>
#include <time.h>

enum { KEEP_SECONDS = 5 };

/* Does "" (any) or just this name stand in the field? */
static bool field_covers(const bson_iter_t *resource, const char *key, const char *name) {
    bson_iter_t field;
    if (!bson_iter_recurse(resource, &field) || !bson_iter_find(&field, key) || !BSON_ITER_HOLDS_UTF8(&field))
        return false;
    const char *text = bson_iter_utf8(&field, NULL);
    if (!text[0]) /* any; but these two databases only by name */
        return !name || (strcmp(name, "config") != 0 && strcmp(name, "local") != 0);
    return !name || strcmp(text, name) == 0;
}

static bool resource_covers(const call_t *call, const bson_iter_t *resource) {
    bson_iter_t field, first;
    const char *collection = NULL, *database = call->database;
    char of_namespace[NAME_SIZE];
    if (bson_iter_recurse(resource, &field) &&
        (bson_iter_find(&field, "anyResource") ||
         (bson_iter_recurse(resource, &field) && bson_iter_find(&field, "cluster"))))
        return true;
    if (call_has(call, NULL, &first) && BSON_ITER_HOLDS_UTF8(&first)) {
        collection = bson_iter_utf8(&first, NULL);
        const char *dot = strcmp(database, "admin") == 0 ? strchr(collection, '.') : NULL;
        if (dot && dot - collection < NAME_SIZE) { /* an administration command names the database, too */
            memcpy(of_namespace, collection, (size_t)(dot - collection));
            of_namespace[dot - collection] = '\0';
            database = of_namespace;
            collection = dot + 1;
        }
    }
    return field_covers(resource, "db", database) && field_covers(resource, "collection", collection);
}

static bool list_holds(const bson_iter_t *privilege, const char *action) {
    bson_iter_t actions, item;
    if (!bson_iter_recurse(privilege, &actions) || !bson_iter_find(&actions, "actions") ||
        !bson_iter_recurse(&actions, &item))
        return false;
    while (bson_iter_next(&item))
        if (BSON_ITER_HOLDS_UTF8(&item) && (strcmp(bson_iter_utf8(&item, NULL), action) == 0 ||
                                            strcmp(bson_iter_utf8(&item, NULL), "anyAction") == 0))
            return true;
    return false;
}

static bool is_allowed(const call_t *call, const bson_t *status, const char *action) {
    bson_iter_t iter, list, privilege, resource;
    if (!bson_iter_init(&iter, status) ||
        !bson_iter_find_descendant(&iter, "authInfo.authenticatedUserPrivileges", &list) ||
        !bson_iter_recurse(&list, &privilege))
        return false;
    while (bson_iter_next(&privilege))
        if (list_holds(&privilege, action) && bson_iter_recurse(&privilege, &resource) &&
            bson_iter_find(&resource, "resource") && resource_covers(call, &resource))
            return true;
    return false;
}

/* What the client may do, kept for a few seconds: every batch of an insert comes by here. */
static const bson_t *what_it_may(call_t *call, bool anew) {
    links_t *links = call->links;
    const int64_t now = time(NULL);
    bson_t reply;
    if (links->may && !anew && now - links->may_at < KEEP_SECONDS)
        return links->may;
    bson_t *command = BCON_NEW("connectionStatus", BCON_INT32(1), "showPrivileges", BCON_BOOL(true));
    const bool asked = links_ask_own(links, "admin", command, &reply, call->problem);
    bson_destroy(command);
    if (!asked)
        return NULL;
    if (links->may)
        bson_destroy(links->may);
    links->may = bson_copy(&reply);
    bson_destroy(&reply);
    links->may_at = now;
    return links->may;
}

bool privileges_allow(call_t *call, const char *action) {
    if (!call->links->router->user)
        return true;
    bool allowed = call->links->logged_in;
    for (int anew = 0; allowed && action && anew < 2; anew++) {
        const bson_t *may = what_it_may(call, anew);
        if (!may)
            return false;
        if ((allowed = is_allowed(call, may, action)))
            break;
        allowed = anew == 0; /* perhaps it may since a moment ago */
    }
    return allowed ||
           problem_set(call->problem, CODE_UNAUTHORIZED, "not authorized on %s to execute command %s",
                       call->database, command_name(call->command));
}
