/* The fields of commands, and read and write concerns. */
#include "box_inner.h"

#include <string.h>

/* ---- fields ---- */

/* Fields of every command: the database, which is in the call; the session, in which nothing happens, since the driver
 * repeats no write here and begins no transaction; and which members may answer, of which there is one. */
static const char of_all[] = "$db lsid $readPreference readConcern writeConcern";

/* The fields of documents within commands. What is not listed here is content, or is read by who executes it. */
static const struct {
    const char *name, *fields;
} parts[] = {
    {"readConcern", "level"},
    {"writeConcern", "w j wtimeout"}, /* one member, whose memory is its disk: nothing to wait for */
    {"updates", "q u multi upsert"},
    {"deletes", "q limit"},
    {"indexes", "key name unique partialFilterExpression collation"},
    {"clusteredIndex", "key unique"},
    {"collation", "locale strength"},
    {"cursor", "batchSize"},
};

static bool is_among(const char *word, const char *words) {
    const size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static void check_field(const char *command, const bson_iter_t *field);

static void check_part(const char *command, const bson_t *part, const char *name, const char *fields) {
    bson_iter_t each;
    for (bson_iter_init(&each, part); bson_iter_next(&each);) {
        if (!is_among(bson_iter_key(&each), fields))
            box_die("the field '%s' of '%s' is not known here (%s)", bson_iter_key(&each), name, command);
        check_field(command, &each);
    }
}

static void check_field(const char *command, const bson_iter_t *field) {
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        bson_t part;
        bson_iter_t each;
        if (strcmp(parts[i].name, bson_iter_key(field)) != 0)
            continue;
        box_inside(field, &part);
        if (!BSON_ITER_HOLDS_ARRAY(field)) {
            check_part(command, &part, parts[i].name, parts[i].fields);
            continue;
        }
        for (bson_iter_init(&each, &part); bson_iter_next(&each);) {
            bson_t element;
            box_inside(&each, &element);
            check_part(command, &element, parts[i].name, parts[i].fields);
        }
    }
}

static void check_fields(const call_t *call, const char *fields) {
    bson_iter_t each;
    bson_iter_init(&each, call->command);
    bson_iter_next(&each); /* the command itself */
    while (bson_iter_next(&each)) {
        if (strcmp(fields, "*") != 0 && !is_among(bson_iter_key(&each), fields) &&
            !is_among(bson_iter_key(&each), of_all))
            box_die("the field '%s' of the command '%s' is not known here", bson_iter_key(&each), call->name);
        check_field(call->name, &each);
    }
}

/* ---- concerns ---- */

static bool take_read_concern(const call_t *call, const char *fields) {
    bson_t concern;
    box_part(call->command, "readConcern", &concern);
    const char *level = box_text(&concern, "level");
    const bool snapshot = strcmp(level, "snapshot") == 0;
    if (!*level)
        return true;
    if (!is_among(level, "local available majority linearizable snapshot"))
        return box_fail(call->reply, 9, "readConcern.level must be one of those that there are");
    if (strcmp(level, "local") != 0 && !is_among("readConcern", fields))
        return box_fail(call->reply, 72, "the command does not support this readConcern");
    if (snapshot && strcmp(call->name, "count") == 0)
        return box_fail(call->reply, 72, "the command does not support snapshots");
    if (call->box->kind == BOX_STANDALONE && (snapshot || strcmp(level, "linearizable") == 0))
        return box_fail(call->reply, 123, "node needs to be a replica set member to use this readConcern");
    return true;
}

/* What `w` says: members, or a mode. */
static int64_t members_of(const call_t *call, const char **mode) {
    bson_t concern;
    box_part(call->command, "writeConcern", &concern);
    *mode = box_text(&concern, "w");
    return **mode ? 1 : box_number(&concern, "w", 1);
}

static bool take_write_concern(const call_t *call, const char *fields) {
    const char *mode;
    const int64_t members = members_of(call, &mode);
    const bool has_mode = *mode && strcmp(mode, "majority") != 0;
    if (!bson_has_field(call->command, "writeConcern"))
        return true;
    if (!is_among("writeConcern", fields))
        return box_fail(call->reply, 72, "Command does not support writeConcern");
    if (members < 0 || members > 50)
        return box_fail(call->reply, 9, "w has to be a non-negative number and not greater than 50");
    if (call->box->kind == BOX_STANDALONE && (members > 1 || has_mode))
        return box_fail(call->reply, 2, "cannot use this 'w' when a host is not a member of a replica set");
    return true;
}

bool box_begin_command(const call_t *call, const char *fields) {
    check_fields(call, fields);
    return take_read_concern(call, fields) && take_write_concern(call, fields);
}

void box_end_command(const call_t *call) {
    const char *mode;
    const int64_t members = members_of(call, &mode);
    const bool has_mode = *mode && strcmp(mode, "majority") != 0;
    if (!members) { /* w: 0 gets a bare ok */
        bson_reinit(call->reply);
        BSON_APPEND_DOUBLE(call->reply, "ok", 1);
    } else if (box_number(call->reply, "ok", 1) && (members > 1 || has_mode))
        BCON_APPEND(call->reply, "writeConcernError", "{", "code", BCON_INT32(has_mode ? 79 : 100), "errmsg",
                    BCON_UTF8(has_mode
                                  ? "No write concern mode of this name found in replica set configuration"
                                  : "Not enough data-bearing nodes"),
                    "}");
}
