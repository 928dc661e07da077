#include "commands.h"

#include <string.h>

#define ROUTE(name_, to_, action_, ...)                                                                      \
    { .name = name_, .kind = COMMAND_ROUTE, .to = to_, .action = action_, __VA_ARGS__ }
#define PASS(name_)                                                                                          \
    { .name = name_, .kind = COMMAND_PASS, .to = name_, .reads = true }
#define OWN(name_, run_, action_)                                                                            \
    { .name = name_, .kind = COMMAND_TRANSLATE, .run = run_, .action = action_ }
#define REFUSE(name_, why_)                                                                                  \
    { .name = name_, .kind = COMMAND_REFUSE, .to = why_ }

static const char NO_TRANSACTIONS[] = "transactions do not work through this router";
static const char NOT_HERE[] = "this router is made for tests of loading and does not have it";

static const command_t COMMANDS[] = {
    ROUTE("insert", "clusterInsert", "insert", .writes = true),
    ROUTE("update", "clusterUpdate", "update", .writes = true),
    ROUTE("delete", "clusterDelete", "remove", .writes = true),
    ROUTE("find", "clusterFind", "find", .reads = true),
    ROUTE("aggregate", "clusterAggregate", "find", .reads = false), /* it may write */
    ROUTE("getMore", "clusterGetMore", NULL, .reads = false),
    ROUTE("flushRouterConfig", "flushRouterConfig", "flushRouterConfig", .reads = true),

    OWN("count", reads_count, "find"),
    OWN("distinct", reads_distinct, "find"),
    OWN("explain", reads_explain, "find"),
    OWN("killCursors", reads_kill_cursors, NULL),
    OWN("findAndModify", reads_find_and_modify, "update"),
    OWN("findandmodify", reads_find_and_modify, "update"),
    OWN("collStats", reads_collection_stats, "collStats"),
    OWN("collstats", reads_collection_stats, "collStats"),
    OWN("fsync", collections_fsync, "fsync"),
    OWN("dbStats", reads_database_stats, "dbStats"),
    OWN("dbstats", reads_database_stats, "dbStats"),
    OWN("getDefaultRWConcern", reads_at_config, "getDefaultRWConcern"),
    OWN("setDefaultRWConcern", reads_at_config, "setDefaultRWConcern"),

    OWN("enableSharding", sharding_enable, "enableSharding"),
    OWN("shardCollection", sharding_shard_collection, "enableSharding"),
    OWN("split", sharding_split, "splitChunk"),
    OWN("mergeChunks", sharding_merge_chunks, "splitChunk"),
    OWN("moveChunk", sharding_move_chunk, "moveChunk"),
    OWN("moveRange", sharding_renamed, "moveChunk"),
    OWN("addShard", sharding_renamed, "addShard"),
    OWN("addshard", sharding_renamed, "addShard"),
    OWN("listShards", sharding_list_shards, "listShards"),
    OWN("addShardToZone", sharding_renamed, "enableSharding"),
    OWN("removeShardFromZone", sharding_renamed, "enableSharding"),
    OWN("updateZoneKeyRange", sharding_renamed, "enableSharding"),
    OWN("configureCollectionBalancing", sharding_renamed, "enableSharding"),
    OWN("clearJumboFlag", sharding_renamed, "clearJumboFlag"),
    OWN("balancerStart", sharding_renamed, "update"),
    OWN("balancerStop", sharding_renamed, "update"),
    OWN("balancerStatus", sharding_renamed, "find"),
    OWN("balancerCollectionStatus", sharding_renamed, "enableSharding"),

    OWN("create", collections_create, "createCollection"),
    OWN("drop", collections_drop, "dropCollection"),
    OWN("dropDatabase", collections_drop_database, "dropDatabase"),
    OWN("createIndexes", collections_create_indexes, "createIndex"),
    OWN("listIndexes", collections_list_indexes, "listIndexes"),
    OWN("dropIndexes", collections_drop_indexes, "dropIndex"),
    OWN("deleteIndexes", collections_drop_indexes, "dropIndex"),
    OWN("collMod", collections_modify, "collMod"),
    OWN("listCollections", collections_list, "listCollections"),
    OWN("listDatabases", collections_list_databases, "listDatabases"),
    OWN("createUser", collections_everywhere, "createUser"),
    OWN("updateUser", collections_everywhere, "changePassword"),
    OWN("dropUser", collections_everywhere, "dropUser"),
    OWN("dropAllUsersFromDatabase", collections_everywhere, "dropUser"),
    OWN("grantRolesToUser", collections_everywhere, "grantRole"),
    OWN("revokeRolesFromUser", collections_everywhere, "revokeRole"),
    OWN("createRole", collections_everywhere, "createRole"),
    OWN("updateRole", collections_everywhere, "grantRole"),
    OWN("dropRole", collections_everywhere, "dropRole"),
    OWN("setParameter", collections_everywhere, "setParameter"),

    PASS("ping"),
    PASS("buildInfo"),
    PASS("buildinfo"),
    PASS("serverStatus"),
    PASS("connectionStatus"),
    PASS("getParameter"),
    PASS("getCmdLineOpts"),
    PASS("getLog"),
    PASS("hostInfo"),
    PASS("listCommands"),
    PASS("whatsmyuri"),
    PASS("getShardMap"),
    PASS("getShardVersion"),
    PASS("usersInfo"),
    PASS("rolesInfo"),
    PASS("currentOp"),
    PASS("killOp"),
    PASS("startSession"),
    PASS("refreshSessions"),
    PASS("endSessions"),
    PASS("killSessions"),
    PASS("killAllSessions"),
    PASS("saslStart"),
    PASS("saslContinue"),
    PASS("authenticate"),
    PASS("logout"),

    REFUSE("commitTransaction", NO_TRANSACTIONS),
    REFUSE("abortTransaction", NO_TRANSACTIONS),
    REFUSE("removeShard", "this router does not take shards away"),
    REFUSE("movePrimary", NOT_HERE),
    REFUSE("reshardCollection", NOT_HERE),
    REFUSE("refineCollectionShardKey", NOT_HERE),
    REFUSE("renameCollection", NOT_HERE),
    REFUSE("mapReduce", NOT_HERE),
    REFUSE("convertToCapped", NOT_HERE),
    REFUSE("validate", NOT_HERE),
    REFUSE("compact", NOT_HERE),
    REFUSE("setFeatureCompatibilityVersion", NOT_HERE),
    REFUSE("shutdown", "end this router with SIGTERM"),
};

const command_t *command_find(const char *name) {
    for (size_t i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++)
        if (strcmp(COMMANDS[i].name, name) == 0)
            return &COMMANDS[i];
    return NULL;
}
