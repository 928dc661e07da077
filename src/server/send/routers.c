#include "server/send/routers.h"
#include "base/log.h"
#include "base/stop.h"

static const int64_t PATIENCE_NS = 1000000000;

void routers_open(server_t *server, uint32_t connections, routers_t *routers) {
    const mongoc_uri_t *uri = server_address(server)->uri;
    const mongoc_host_list_t *hosts = mongoc_uri_get_hosts(uri);
    err_t err;
    *routers = (routers_t){.count = 0};
    if (server_facts(server)->kind != SERVER_ROUTER || mongoc_uri_get_srv_hostname(uri) || !hosts ||
        !hosts->next)
        return;
    for (; hosts && routers->count < ROUTERS_MOST && !stop_signal(); hosts = hosts->next) {
        server_t *router = server_beside(server, hosts->host_and_port, NULL, connections, PATIENCE_NS, &err);
        if (router)
            routers->servers[routers->count++] = router;
        else
            log_note("the router %s is left out: %s", hosts->host_and_port, err.text);
    }
    if (routers->count < 2)
        routers_close(routers);
}

void routers_close(routers_t *routers) {
    while (routers->count)
        server_destroy(routers->servers[--routers->count]);
}
