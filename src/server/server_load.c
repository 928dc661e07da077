#include "server/server_load.h"
#include "base/clock.h"
#include "base/text.h"
#include "server/bson_read.h"
#include "server/server_errors.h"

#include <math.h>

bool server_load_status(mongoc_client_t *client, server_load_about_t about, bson_t *reply,
                        bson_error_t *error) {
    static const char *const without[] = {
        "repl",        "opLatencies",  "flowControl",     "globalLock",         "locks",
        "tcmalloc",    "transactions", "network",         "security",           "asserts",
        "mem",         "sharding",     "mirroredReads",   "shardingStatistics", "catalogStats",
        "connections", "indexStats",   "oplogTruncation", "electionMetrics",    "hedgingMetrics"};
    bson_t command = BSON_INITIALIZER;
    mongoc_read_prefs_t *primary = mongoc_read_prefs_new(MONGOC_READ_PRIMARY);
    const bool of_primary = about == SERVER_LOAD_OF_PRIMARY;
    BSON_APPEND_INT32(&command, "serverStatus", 1);
    for (size_t i = 0; i < COUNT(without); i++)
        BSON_APPEND_INT32(&command, without[i], 0);
    if (of_primary)
        BSON_APPEND_INT32(&command, "metrics", 0);
    const bool ok =
        mongoc_client_command_simple(client, "admin", &command, of_primary ? primary : NULL, reply, error);
    mongoc_read_prefs_destroy(primary);
    bson_destroy(&command);
    return ok;
}

const char *server_load_refusal(const bson_error_t *error) {
    return error->domain == MONGOC_ERROR_SERVER && error->code == CODE_UNAUTHORIZED
               ? "this user may not run serverStatus there; the role clusterMonitor would do"
           : error->message[0] ? error->message
                               : "it does not say why";
}

server_load_sample_t server_load_ask(mongoc_client_t *client) {
    bson_t reply;
    server_load_sample_t sample = {.cpu_us = NAN};
    if (server_load_status(client, SERVER_LOAD_OF_PRIMARY, &reply, NULL))
        sample =
            (server_load_sample_t){clock_now_ns(), bson_read_number(&reply, "extra_info.user_time_us") +
                                                       bson_read_number(&reply, "extra_info.system_time_us")};
    bson_destroy(&reply);
    return sample;
}

double server_load_busy_cores(const server_load_sample_t *before, const server_load_sample_t *now) {
    const double took_us = (double)(now->at_ns - before->at_ns) / 1e3;
    /* less than before: the server was restarted */
    return took_us > 0 && now->cpu_us >= before->cpu_us ? (now->cpu_us - before->cpu_us) / took_us : NAN;
}

double server_load_cores(mongoc_client_t *client) {
    bson_t *command = BCON_NEW("hostInfo", BCON_INT32(1)), reply;
    bool ok = mongoc_client_command_simple(client, "admin", command, NULL, &reply, NULL);
    double all = ok ? bson_read_number(&reply, "system.numCores") : NAN,
           own = ok ? bson_read_number(&reply, "system.numCoresAvailableToProcess") : NAN;
    bson_destroy(command);
    bson_destroy(&reply);
    return own > 0 && own < all ? own : all;
}
