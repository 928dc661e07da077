#include "session.h"
#include "commands.h"
#include "privileges.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MOST_TRIES = 10 };

typedef struct {
    router_t *router;
    stream_t *client;
    int32_t number;
    links_t links;
    message_t message;
    fault_t fault;
} session_t;

static void wait_ms(int64_t ms) {
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* ---- replies ---- */

/* What a fault does to a reply; false: the connection is to be closed now. */
static bool reply_may_go(const session_t *session) {
    if (session->fault.kind == FAULT_DELAY_REPLY)
        wait_ms(session->fault.ms);
    return session->fault.kind != FAULT_LOSE_REPLY;
}

/* Takes the reply over. false: the connection is to be closed. */
static bool answer(session_t *session, bson_t *reply) {
    const bool cut = session->fault.kind == FAULT_CUT;
    const bool sent =
        (session->message.flags & FLAG_MORE_TO_COME) ||
        (reply_may_go(session) && message_answer(&session->message, session->client, reply, cut));
    bson_destroy(reply);
    return sent && !cut;
}

static const char *code_name(int code) {
    static const struct {
        int code;
        const char *name;
    } NAMES[] = {
        {CODE_UNREACHABLE, "HostUnreachable"},
        {CODE_FAILED_TO_PARSE, "FailedToParse"},
        {CODE_UNAUTHORIZED, "Unauthorized"},
        {CODE_NO_SUCH_NAMESPACE, "NamespaceNotFound"},
        {CODE_NO_SUCH_COMMAND, "CommandNotFound"},
        {CODE_INVALID_OPTIONS, "InvalidOptions"},
        {CODE_NOT_SUPPORTED, "CommandNotSupported"},
        {CODE_NOT_SHARDED, "NamespaceNotSharded"},
        {CODE_NO_PRIMARY, "FailedToSatisfyReadPreference"},
        {CODE_NOT_PRIMARY, "NotWritablePrimary"},
    };
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (NAMES[i].code == code)
            return NAMES[i].name;
    return NULL;
}

static bool answer_problem(session_t *session, const problem_t *problem) {
    char number[32];
    const char *name = problem->name[0] ? problem->name : code_name(problem->code);
    bson_t reply = BSON_INITIALIZER;
    snprintf(number, sizeof number, "Location%d", problem->code);
    bson_append_double(&reply, "ok", -1, 0);
    bson_append_utf8(&reply, "errmsg", -1, problem->text, -1);
    bson_append_int32(&reply, "code", -1, problem->code);
    bson_append_utf8(&reply, "codeName", -1, name ? name : number, -1);
    return answer(session, &reply);
}

/* ---- what the router says of itself ---- */

/* A login that begins within the hello is the business of the mongod that routes. */
static void add_login(session_t *session, bson_t *reply) {
    static const char *const KEYS[] = {"saslSupportedMechs", "speculativeAuthenticate"};
    bson_t ask = BSON_INITIALIZER, said;
    bson_iter_t iter;
    problem_t problem;
    bson_append_int32(&ask, "hello", -1, 1);
    for (size_t i = 0; i < 2; i++)
        if (bson_iter_init_find(&iter, &session->message.command, KEYS[i]))
            bson_append_iter(&ask, KEYS[i], -1, &iter);
    if (bson_count_keys(&ask) > 1 && links_ask_own(&session->links, "admin", &ask, &said, &problem)) {
        for (size_t i = 0; i < 2; i++)
            if (bson_iter_init_find(&iter, &said, KEYS[i]))
                bson_append_iter(reply, KEYS[i], -1, &iter);
        bson_destroy(&said);
    }
    bson_destroy(&ask);
}

static bool do_hello(session_t *session) {
    bson_t reply;
    router_hello(session->router, &session->message.command, session->number, &reply);
    add_login(session, &reply);
    return answer(session, &reply);
}

static bool do_labrouter(session_t *session) {
    faults_t *faults = &session->router->faults;
    bson_t reply = BSON_INITIALIZER, document;
    bson_iter_t iter;
    problem_t problem;
    fault_t fault;
    char via[HOST_SIZE] = "";
    if (bson_iter_init_find(&iter, &session->message.command, "clear") && bson_iter_as_bool(&iter))
        faults_clear(faults);
    if (bson_iter_init_find(&iter, &session->message.command, "fault") && BSON_ITER_HOLDS_DOCUMENT(&iter)) {
        const uint8_t *data;
        uint32_t size;
        bson_iter_document(&iter, &size, &data);
        bson_init_static(&document, data, size);
        if (!fault_from_bson(&document, &fault, &problem) || !faults_add(faults, &fault, &problem))
            return answer_problem(session, &problem);
    }
    pthread_mutex_lock(&session->router->lock);
    memcpy(via, session->router->host, sizeof via);
    pthread_mutex_unlock(&session->router->lock);
    bson_append_utf8(&reply, "via", -1, via, -1);
    faults_report(faults, &reply);
    bson_append_double(&reply, "ok", -1, 1);
    return answer(session, &reply);
}

/* ---- sending on ---- */

static bool is_one_of(int code, const int *codes) {
    while (*codes && *codes != code)
        codes++;
    return code && *codes;
}

static const int STALE[] = {13388 /* StaleConfig */, 249 /* StaleDbVersion */, 150 /* StaleEpoch */, 0};
static const int NOT_TAKEN[] = {CODE_NOT_PRIMARY, 13435 /* NotPrimaryNoSecondaryOk */, 0};
static const int BROKEN_OFF[] = {91 /* ShutdownInProgress */, 189 /* PrimarySteppedDown */, 11600, 11602, 0};

/* The mongod that routes has learnt of other versions than it knew: what it knew is thrown away. */
static void flush_routes(session_t *session) {
    bson_t reply, *command = BCON_NEW("flushRouterConfig", BCON_INT32(1));
    problem_t problem;
    if (links_ask_route(&session->links, "admin", command, &reply, &problem))
        bson_destroy(&reply);
    bson_destroy(command);
}

static bool pass_reply(session_t *session) {
    const bool cut = session->fault.kind == FAULT_CUT;
    return reply_may_go(session) && message_pass(&session->links.answer, session->client, cut) && !cut;
}

/* A mongos gives every write the cluster's own concern when it has none; a mongod does not when it routes. */
static bool has_concern(const message_t *message) {
    bson_iter_t iter;
    return bson_iter_init_find(&iter, &message->command, "writeConcern");
}

/* Sends the message once and reads the reply, if there is to be one. */
static bool try_route(session_t *session, const command_t *command, problem_t *problem) {
    links_t *links = &session->links;
    bson_t more = BSON_INITIALIZER;
    if (!links_route(links, problem))
        return false;
    if (command->writes && !has_concern(&session->message))
        BCON_APPEND(&more, "writeConcern", "{", "w", "majority", "}");
    const bool sent = message_forward(&session->message, links->route, command->to, true, &more);
    bson_destroy(&more);
    if (sent && ((session->message.flags & FLAG_MORE_TO_COME) || message_read(&links->answer, links->route)))
        return true;
    links_route_failed(links);
    return problem_set(problem, CODE_UNREACHABLE, "the connection to %s was lost before it replied",
                       links->route_host);
}

static bool do_route(session_t *session, const command_t *command) {
    problem_t problem;
    for (int attempt = 1;; attempt++) {
        const bool last = attempt == MOST_TRIES;
        if (!try_route(session, command, &problem)) {
            if (command->reads && !last && problem.code == CODE_UNREACHABLE)
                continue;
            return answer_problem(session, &problem);
        }
        if (session->message.flags & FLAG_MORE_TO_COME)
            return true;
        const int code = reply_code(&session->links.answer.command);
        if (!last && is_one_of(code, STALE)) {
            flush_routes(session);
            wait_ms(attempt > 1 ? 50 : 0);
        } else if (!last && (is_one_of(code, NOT_TAKEN) || (command->reads && is_one_of(code, BROKEN_OFF)))) {
            links_route_failed(&session->links);
            wait_ms(100);
        } else {
            return pass_reply(session);
        }
    }
}

/* Was the client let in just now? */
static void note_login(session_t *session, const char *name) {
    bson_iter_t iter;
    if (strncmp(name, "sasl", 4) == 0 && bson_iter_init_find(&iter, &session->links.answer.command, "done"))
        session->links.logged_in |= bson_iter_as_bool(&iter);
    else if (strcmp(name, "logout") == 0)
        session->links.logged_in = false;
    else
        return;
    session->links.may_at = 0;
}

static bool do_pass(session_t *session, const command_t *command) {
    links_t *links = &session->links;
    problem_t problem;
    for (int attempt = 1; attempt < MOST_TRIES; attempt++) {
        if (!links_own(links, &problem))
            break;
        if (message_forward(&session->message, links->own, command->to, false, NULL) &&
            ((session->message.flags & FLAG_MORE_TO_COME) || message_read(&links->answer, links->own))) {
            note_login(session, command->name);
            return (session->message.flags & FLAG_MORE_TO_COME) || pass_reply(session);
        }
        links_own_failed(links);
        problem_set(&problem, CODE_UNREACHABLE, "the connection to %s was lost before it replied",
                    links->own_host);
    }
    return answer_problem(session, &problem);
}

/* ---- carrying out ---- */

/* Would the mongod that routes end itself? */
static bool is_deadly(const message_t *message) {
    bson_iter_t iter, stage;
    return bson_iter_init(&iter, &message->command) &&
           bson_iter_find_descendant(&iter, "pipeline.0.$changeStream", &stage);
}

static bool do_command(session_t *session, const command_t *command, const char *database) {
    bson_t reply;
    problem_t problem;
    call_t call = {&session->links, database, &session->message.command, &reply, &problem};
    if (command->kind == COMMAND_REFUSE)
        problem_set(&problem, CODE_NOT_SUPPORTED, "%s: %s", command->name, command->to);
    else if (command->kind == COMMAND_PASS)
        return do_pass(session, command);
    else if (command->kind == COMMAND_TRANSLATE && session->message.has_sequences)
        problem_set(&problem, CODE_NOT_SUPPORTED, "this router takes %s only in one piece", command->name);
    else if (is_deadly(&session->message))
        problem_set(&problem, CODE_NOT_SUPPORTED, "change streams do not work through this router");
    else if (privileges_allow(&call, command->action)) {
        if (command->kind == COMMAND_ROUTE)
            return do_route(session, command);
        if (command->run(&call))
            return answer(session, &reply);
    }
    return answer_problem(session, &problem);
}

static const char *database_of(const message_t *message) {
    bson_iter_t iter;
    if (bson_iter_init_find(&iter, &message->command, "$db") && BSON_ITER_HOLDS_UTF8(&iter))
        return bson_iter_utf8(&iter, NULL);
    return "admin";
}

static bool is_hello(const char *name) {
    return strcmp(name, "hello") == 0 || strcasecmp(name, "isMaster") == 0;
}

static bool dispatch(session_t *session) {
    const message_t *message = &session->message;
    const char *name = command_name(&message->command);
    bson_iter_t iter;
    problem_t problem;
    session->fault = faults_take(&session->router->faults, name);
    if (session->fault.kind == FAULT_DROP)
        return false;
    if (session->fault.kind == FAULT_DELAY)
        wait_ms(session->fault.ms);
    if (session->fault.kind == FAULT_NOT_PRIMARY)
        problem_set(&problem, CODE_NOT_PRIMARY, "not primary (a fault that was asked for)");
    else if (is_hello(name))
        return do_hello(session);
    else if (message->legacy)
        return false; /* OP_QUERY is for the first hello alone */
    else if (strcmp(name, "labrouter") == 0)
        return do_labrouter(session);
    else if (bson_iter_init_find(&iter, &message->command, "autocommit") ||
             bson_iter_init_find(&iter, &message->command, "startTransaction"))
        problem_set(&problem, CODE_NOT_SUPPORTED, "transactions do not work through this router");
    else {
        const command_t *command = command_find(name);
        if (command)
            return do_command(session, command, database_of(message));
        problem_set(&problem, CODE_NO_SUCH_COMMAND, "no such command: '%s' (this router knows of none)",
                    name);
    }
    return answer_problem(session, &problem);
}

void session_serve(router_t *router, stream_t *client, int32_t number) {
    session_t session = {.router = router, .client = client, .number = number, .links = {.router = router}};
    faults_connection(&router->faults, 1);
    while (message_read(&session.message, client) && dispatch(&session) && !session.links.login_lost)
        ;
    faults_connection(&router->faults, -1);
    message_clean(&session.message);
    links_clean(&session.links);
}
