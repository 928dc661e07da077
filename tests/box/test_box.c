/* The box ends a test that asks for something unknown. tests/live/contract_test.c holds the rest to real servers. */
#include "box/box.h"
#include "test.h"

#include <mongoc/mongoc.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Sends a command to a box; the process ends as the box wants. */
_Noreturn static void ask(const char *json) {
    char uri[BOX_URI];
    bson_error_t error;
    bson_t *command = bson_new_from_json((const uint8_t *)json, -1, &error);
    box_t *box = box_start(BOX_REPLICA_SET);
    mongoc_client_t *client = mongoc_client_new(box_uri(box, "", uri));
    mongoc_client_command_simple(client, "d", command, NULL, NULL, &error);
    _exit(0);
}

static void expect_end(const char *json, const char *words) {
    char said[500] = "";
    int status;
    FILE *file = tmpfile();
    assert_non_null(file);
    const pid_t child = fork();
    if (child == 0) {
        dup2(fileno(file), STDERR_FILENO);
        ask(json);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(pread(fileno(file), said, sizeof said - 1, 0) >= 0);
    fclose(file);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT || !strstr(said, words))
        fail_msg("%s: status %d, '%s'", json, status, said);
}

TEST(unknown_things) {
    static const struct {
        const char *command, *words;
    } cases[] = {
        {"{\"explain\": 1}", "the command 'explain'"},
        {"{\"find\": \"c\", \"skip\": 1}", "the field 'skip' of the command 'find'"},
        {"{\"insert\": \"c\", \"documents\": [{}], \"txnNumber\": {\"$numberLong\": \"1\"}}", "'txnNumber'"},
        {"{\"find\": \"c\", \"readConcern\": {\"afterClusterTime\": 1}}",
         "the field 'afterClusterTime' of 'readConcern'"},
        {"{\"insert\": \"c\", \"documents\": [{}], \"writeConcern\": {\"w\": 1, \"fsync\": true}}",
         "'fsync' of 'writeConcern'"},
        {"{\"update\": \"c\", \"updates\": [{\"q\": {}, \"u\": {}, \"hint\": \"k\"}]}",
         "'hint' of 'updates'"},
        {"{\"delete\": \"c\", \"deletes\": [{\"q\": {}, \"limit\": 0}, {\"q\": {}, \"collation\": {}}]}",
         "'collation' of 'deletes'"},
        {"{\"createIndexes\": \"c\", \"indexes\": [{\"key\": {\"a\": 1}, \"name\": \"a\", \"sparse\": "
         "true}]}",
         "'sparse' of 'indexes'"},
        {"{\"createIndexes\": \"c\", \"indexes\": [{\"key\": {\"a\": \"2dsphere\"}, \"name\": \"a\"}]}",
         "indexes of the type 2dsphere"},
        {"{\"aggregate\": \"c\", \"pipeline\": [], \"cursor\": {\"a\": 1}}", "'a' of 'cursor'"},
        {"{\"create\": \"c\", \"collation\": {\"locale\": \"en\", \"numericOrdering\": true}}",
         "'numericOrdering' of 'collation'"},
        {"{\"create\": \"c\", \"collation\": {\"locale\": \"de\"}}", "of collations"},
        {"{\"create\": \"c\", \"clusteredIndex\": {\"name\": \"i\"}}", "'name' of 'clusteredIndex'"},
        {"{\"aggregate\": \"c\", \"pipeline\": [{\"$out\": \"b\"}], \"cursor\": {}}", "the stage $out"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_end(cases[i].command, cases[i].words);
}
