#include "links.h"
#include "login.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CONNECT_MS = 5000, MOST_HOSTS = 16 };

struct link {
    link_t *next;
    stream_t *stream;
    char place[HOST_SIZE], host[HOST_SIZE];
};

static void link_close(links_t *links, link_t *link) {
    for (link_t **at = &links->links; *at; at = &(*at)->next)
        if (*at == link) {
            *at = link->next;
            break;
        }
    stream_destroy(link->stream);
    free(link);
}

void links_clean(links_t *links) {
    while (links->links)
        link_close(links, links->links);
    stream_destroy(links->own);
    stream_destroy(links->route);
    if (links->may)
        bson_destroy(links->may);
    message_clean(&links->answer);
}

/* ---- replies ---- */

int reply_code(const bson_t *reply) {
    bson_iter_t iter;
    if (bson_iter_init_find(&iter, reply, "ok") && bson_iter_as_bool(&iter))
        return 0;
    return bson_iter_init_find(&iter, reply, "code") && BSON_ITER_HOLDS_INT32(&iter) ? bson_iter_int32(&iter)
                                                                                     : 8;
}

bool reply_ok(const bson_t *reply, problem_t *problem) {
    bson_iter_t iter;
    const int code = reply_code(reply);
    if (!code)
        return true;
    const bool has_text = bson_iter_init_find(&iter, reply, "errmsg") && BSON_ITER_HOLDS_UTF8(&iter);
    return problem_set(problem, code, "%s",
                       has_text ? bson_iter_utf8(&iter, NULL) : "the server gives no reason");
}

/* ---- talking ---- */

static bool exchange(links_t *links, stream_t *stream, const char *host, const char *database,
                     const bson_t *command, bson_t *reply, problem_t *problem) {
    bson_t *whole = bson_copy(command);
    bson_append_utf8(whole, "$db", -1, database, -1);
    const bool done = message_send(stream, ++links->request, whole) && message_read(&links->answer, stream);
    bson_destroy(whole);
    if (!done)
        return problem_set(problem, CODE_UNREACHABLE, "the connection to %s was lost", host);
    bson_copy_to(&links->answer.command, reply);
    return true;
}

typedef struct {
    links_t *links;
    stream_t *stream;
    const char *host;
} talk_t;

static bool ask_for_login(void *context, const char *database, bson_t *command, bson_t *reply,
                          problem_t *problem) {
    const talk_t *talk = context;
    return exchange(talk->links, talk->stream, talk->host, database, command, reply, problem);
}

/* A connection in the router's name. */
static stream_t *connect_and_login(links_t *links, const char *host, problem_t *problem) {
    const router_t *router = links->router;
    stream_t *stream = stream_connect(host, router->tls, CONNECT_MS, problem);
    if (stream && router->user &&
        !login(ask_for_login, &(talk_t){links, stream, host}, router->user, router->password, problem)) {
        stream_destroy(stream);
        return NULL;
    }
    return stream;
}

/* ---- to the mongod that routes ---- */

bool links_own(links_t *links, problem_t *problem) {
    if (links->own && !stream_is_quiet(links->own))
        links_own_failed(links);
    if (links->login_lost)
        return problem_set(problem, CODE_UNREACHABLE,
                           "the mongod at which the client had logged in has gone");
    for (int attempt = 0; !links->own && attempt < 4; attempt++) {
        char host[HOST_SIZE];
        if (!router_via(links->router, attempt ? links->own_host : NULL, host, problem))
            return false;
        memcpy(links->own_host, host, sizeof host);
        links->own = stream_connect(host, links->router->tls, CONNECT_MS, problem);
    }
    return links->own != NULL;
}

void links_own_failed(links_t *links) {
    stream_destroy(links->own);
    links->own = NULL;
    links->login_lost |= links->logged_in;
    links->logged_in = false;
}

bool links_route(links_t *links, problem_t *problem) {
    char host[HOST_SIZE];
    if (links->route && !stream_is_quiet(links->route))
        links_route_failed(links);
    for (int attempt = 0; attempt < 4; attempt++) {
        if (!router_via(links->router, attempt ? links->route_host : NULL, host, problem))
            return false;
        if (links->route && strcmp(host, links->route_host) == 0)
            return true;
        stream_destroy(links->route);
        memcpy(links->route_host, host, sizeof host);
        links->route = connect_and_login(links, host, problem);
        if (links->route || problem->code == CODE_LOGIN_FAILED)
            break;
    }
    return links->route != NULL;
}

void links_route_failed(links_t *links) {
    char host[HOST_SIZE];
    problem_t problem;
    stream_destroy(links->route);
    links->route = NULL;
    router_via(links->router, links->route_host, host, &problem);
}

bool links_ask_own(links_t *links, const char *database, const bson_t *command, bson_t *reply,
                   problem_t *problem) {
    if (!links_own(links, problem))
        return false;
    if (exchange(links, links->own, links->own_host, database, command, reply, problem))
        return true;
    links_own_failed(links);
    return false;
}

bool links_ask_route(links_t *links, const char *database, const bson_t *command, bson_t *reply,
                     problem_t *problem) {
    if (!links_route(links, problem))
        return false;
    if (exchange(links, links->route, links->route_host, database, command, reply, problem))
        return true;
    links_route_failed(links);
    return false;
}

/* ---- to config server and shards ---- */

static link_t *link_open(links_t *links, const char *place, const char *host, problem_t *problem) {
    stream_t *stream = connect_and_login(links, host, problem);
    if (!stream)
        return NULL;
    link_t *link = calloc(1, sizeof *link);
    link->stream = stream;
    snprintf(link->place, sizeof link->place, "%s", place);
    snprintf(link->host, sizeof link->host, "%s", host);
    link->next = links->links;
    links->links = link;
    return link;
}

/* The connection that is there already, unless its server has closed it. */
static link_t *link_find(links_t *links, const char *place) {
    link_t *link = links->links;
    while (link && strcmp(link->place, place) != 0)
        link = link->next;
    if (!link || stream_is_quiet(link->stream))
        return link;
    link_close(links, link);
    return NULL;
}

/* The members of a shard, which the config server knows as "set/host,host". */
static bool shard_hosts(links_t *links, const char *shard, char *list, problem_t *problem) {
    bson_t reply;
    bson_iter_t iter, found;
    bson_t *command = BCON_NEW("find", "shards", "filter", "{", "_id", BCON_UTF8(shard), "}", "limit",
                               BCON_INT32(1), "singleBatch", BCON_BOOL(true));
    bool ok = links_ask_ok(links, "config", "config", command, &reply, problem);
    bson_destroy(command);
    if (!ok)
        return false;
    ok = bson_iter_init(&iter, &reply) &&
         bson_iter_find_descendant(&iter, "cursor.firstBatch.0.host", &found) && BSON_ITER_HOLDS_UTF8(&found);
    if (ok) {
        const char *host = bson_iter_utf8(&found, NULL), *slash = strchr(host, '/');
        snprintf(list, HOST_SIZE * 4, "%s", slash ? slash + 1 : host);
    } else {
        problem_set(problem, 70, "there is no shard %s", shard);
    }
    bson_destroy(&reply);
    return ok;
}

static bool try_hosts(links_t *links, const char *place, char **hosts, link_t **link, problem_t *problem) {
    for (; *hosts; hosts++)
        if (router_probe(links->router, *hosts, NULL) && (*link = link_open(links, place, *hosts, problem)))
            return true;
    return false;
}

static link_t *link_get(links_t *links, const char *place, problem_t *problem) {
    const struct timespec pause = {.tv_nsec = 100000000};
    link_t *link = link_find(links, place);
    char list[HOST_SIZE * 4], *hosts[MOST_HOSTS + 1] = {NULL}, *rest = list;
    if (link)
        return link;
    if (strcmp(place, "config") != 0) {
        if (!shard_hosts(links, place, list, problem))
            return NULL;
        for (int i = 0; rest && i < MOST_HOSTS; i++)
            hosts[i] = strsep(&rest, ",");
    }
    problem_set(problem, CODE_NO_PRIMARY, "%s has had no primary for %d seconds", place, PATIENCE_MS / 1000);
    for (int waited = 0; waited < PATIENCE_MS; waited += 100) {
        if (try_hosts(links, place, hosts[0] ? hosts : links->router->config, &link, problem))
            return link;
        if (problem->code == CODE_LOGIN_FAILED)
            break;
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static bool lost_its_place(int code) {
    return code == CODE_NOT_PRIMARY || code == 13435 /* NotPrimaryNoSecondaryOk */;
}

bool links_ask(links_t *links, const char *place, const char *database, const bson_t *command, bson_t *reply,
               problem_t *problem) {
    for (int attempt = 0;; attempt++) {
        link_t *link = link_get(links, place, problem);
        if (!link)
            return false;
        if (!exchange(links, link->stream, link->host, database, command, reply, problem)) {
            link_close(links, link);
            return false; /* perhaps it was done: nobody but the caller can know whether to ask again */
        }
        if (!lost_its_place(reply_code(reply)) || attempt == 3)
            return true;
        bson_destroy(reply);
        link_close(links, link);
    }
}

bool links_ask_ok(links_t *links, const char *place, const char *database, const bson_t *command,
                  bson_t *reply, problem_t *problem) {
    if (!links_ask(links, place, database, command, reply, problem))
        return false;
    if (reply_ok(reply, problem))
        return true;
    bson_destroy(reply);
    return false;
}
