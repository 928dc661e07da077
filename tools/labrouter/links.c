#include "links.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "login.h"

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
    const bool told = bson_iter_init_find(&iter, reply, "errmsg") && BSON_ITER_HOLDS_UTF8(&iter);
    return problem_set(problem, code, "%s",
                       told ? bson_iter_utf8(&iter, NULL) : "the server gives no reason");
}

/* ---- the client's own ---- */

bool links_own(links_t *links, problem_t *problem) {
    char host[HOST_SIZE];
    if (links->own && !stream_is_quiet(links->own))
        links_own_failed(links);
    for (int attempt = 0; !links->own; attempt++) {
        if (!router_via(links->router, attempt ? links->own_host : NULL, host, problem))
            return false;
        snprintf(links->own_host, sizeof links->own_host, "%s", host);
        links->own = stream_connect(host, links->router->tls, CONNECT_MS, problem);
        links->logged_in = false;
        if (!links->own && attempt == 3)
            return false;
    }
    return true;
}

void links_own_failed(links_t *links) {
    char host[HOST_SIZE];
    problem_t problem;
    stream_destroy(links->own);
    links->own = NULL;
    router_via(links->router, links->own_host, host, &problem);
}

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

bool links_ask_own(links_t *links, const char *database, const bson_t *command, bson_t *reply,
                   problem_t *problem) {
    if (!links_own(links, problem))
        return false;
    if (exchange(links, links->own, links->own_host, database, command, reply, problem))
        return true;
    links_own_failed(links);
    return false;
}

/* ---- the router's own ---- */

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

static link_t *link_open(links_t *links, const char *place, const char *host, problem_t *problem) {
    const router_t *router = links->router;
    stream_t *stream = stream_connect(host, router->tls, CONNECT_MS, problem);
    if (!stream)
        return NULL;
    if (router->user &&
        !login(ask_for_login, &(talk_t){links, stream, host}, router->user, router->password, problem)) {
        stream_destroy(stream);
        return NULL;
    }
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

bool links_ask_via(links_t *links, const char *database, const bson_t *command, bson_t *reply,
                   problem_t *problem) {
    char host[HOST_SIZE];
    if (!router_via(links->router, NULL, host, problem))
        return false;
    link_t *link = link_find(links, host);
    if (!link && !(link = link_open(links, host, host, problem)))
        return false;
    if (exchange(links, link->stream, host, database, command, reply, problem))
        return true;
    link_close(links, link);
    return false;
}
