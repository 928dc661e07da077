/* deliver, where records replace documents: batches against a made-up server whose replies get lost, and whose messages
 * come late, or twice. What has to be there in the end is what the last record of each `_id` makes. */
#include "load/deliver/ask.h"
#include "load/deliver/deliver.h"
#include "load/read_back/read_back.h"
#include "server/server_errors.h"
#include "test.h"

#include <bson/bson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IDS = 3, MOST = 8, LATE = 64, LEASE = 100, NOTHING = -1, BYTES = 64 };

/* A document is a value under an `_id`: what a message would put there, and what it believes to be there. */
typedef struct {
    int id, value, before; /* before NOTHING: an insert */
} change_t;

typedef struct {
    change_t changes[MOST];
    uint32_t count;
    int64_t sent;
} packet_t;

typedef struct {
    int stored[IDS];
    packet_t late[LATE];
    size_t late_count;
    int64_t now;
    bool quiet;     /* replies are not lost */
    bool waits;     /* the owner waits for late messages */
    bool refuses;   /* the value 9, by a code of documents */
    uint32_t tries; /* in a row */
    uint32_t replaces, inserts;
    write_error_t errors[MOST];
} lab_t;

/* ---- documents ---- */

static uint32_t put(uint8_t *to, int id, int value) {
    bson_t document = BSON_INITIALIZER;
    BSON_APPEND_INT32(&document, "_id", id);
    BSON_APPEND_INT32(&document, "v", value);
    memcpy(to, bson_get_data(&document), document.len);
    const uint32_t length = document.len;
    bson_destroy(&document);
    return length;
}

static int field(const uint8_t *bytes, uint32_t length, const char *name) {
    bson_t document;
    bson_iter_t at;
    assert_true(bson_init_static(&document, bytes, length) && bson_iter_init_find(&at, &document, name));
    return bson_iter_int32(&at);
}

/* ---- the server ---- */

static bool change(lab_t *lab, const change_t *it) {
    if (lab->stored[it->id] != it->before)
        return false;
    lab->stored[it->id] = it->value;
    return true;
}

static void execute(lab_t *lab, const packet_t *packet) {
    for (uint32_t i = 0; i < packet->count; i++)
        if (!lab->refuses || packet->changes[i].value != 9)
            change(lab, &packet->changes[i]);
}

static void come_late(lab_t *lab, size_t which) {
    execute(lab, &lab->late[which]);
    lab->late[which] = lab->late[--lab->late_count];
}

static void let_some_come(lab_t *lab) {
    for (size_t i = lab->late_count; i-- > 0;)
        if (random() % 4 == 0)
            come_late(lab, i);
}

static void answer(lab_t *lab, const packet_t *packet, reply_t *reply) {
    for (uint32_t i = 0; i < packet->count; i++) {
        const bool refused = lab->refuses && packet->changes[i].value == 9;
        if (!refused && change(lab, &packet->changes[i])) {
            reply->inserted++;
        } else if (refused || packet->changes[i].before == NOTHING) {
            write_error_t *error = &lab->errors[reply->error_count++];
            *error = (write_error_t){.index = i, .code = refused ? 121 : CODE_DUPLICATE_KEY};
            snprintf(error->words, sizeof error->words, "words");
        }
    }
    reply->errors = lab->errors;
}

static bool store(lab_t *lab, const message_t *message, const replaced_t *before, reply_t *reply) {
    packet_t packet = {.count = message->count, .sent = lab->now};
    *reply = (reply_t){.kind = REPLY_GIVEN, .words = "words"};
    for (uint32_t i = 0; i < message->count; i++) {
        uint32_t length;
        const uint8_t *document = documents_at(message->all, message_index(message, i), &length);
        packet.changes[i] =
            (change_t){.id = field(document, length, "_id"),
                       .value = field(document, length, "v"),
                       .before = before ? field(before[i].bytes, before[i].length, "v") : NOTHING};
    }
    lab->now++;
    let_some_come(lab);
    const int fate = lab->quiet || ++lab->tries > 6 ? 0 : (int)(random() % 8);
    if (fate < 4 || lab->late_count == LATE) {
        lab->tries = 0;
        answer(lab, &packet, reply);
        if (fate == 3 && reply->inserted) {
            reply->concern_failed = true;
            reply->concern_code = 64;
        }
        return true;
    }
    reply->kind = REPLY_LOST;
    if (fate == 4 || fate == 7)
        execute(lab, &packet);
    if (fate >= 6)
        lab->late[lab->late_count++] = packet; /* 7: it comes twice */
    return true;
}

static bool insert(void *context, const message_t *message, reply_t *reply, err_t *err) {
    lab_t *lab = context;
    (void)err;
    lab->inserts++;
    return store(lab, message, NULL, reply);
}

static bool replace(void *context, const message_t *message, const replaced_t *before, reply_t *reply,
                    err_t *err) {
    lab_t *lab = context;
    (void)err;
    lab->replaces++;
    return store(lab, message, before, reply);
}

static fetched_t fetch(void *context, const message_t *message, found_fn *found, void *finder, err_t *err) {
    lab_t *lab = context;
    uint8_t bytes[BYTES];
    let_some_come(lab);
    for (uint32_t i = 0; i < message->count; i++) {
        uint32_t length;
        const uint8_t *document = documents_at(message->all, message_index(message, i), &length);
        const int id = field(document, length, "_id");
        if (lab->stored[id] != NOTHING && !found(finder, bytes, put(bytes, id, lab->stored[id]), err))
            return FETCH_FAILED;
    }
    return FETCHED;
}

static void begin(void *context) {
    (void)context;
}

static bool again(void *context, const trouble_t *trouble, err_t *err) {
    (void)context, (void)trouble, (void)err;
    return true;
}

static bool refuse(void *context, const trouble_t *trouble, err_t *err) {
    (void)context, (void)trouble;
    return err_set(err, STATUS_SERVER, "refused");
}

static int64_t now(void *context) {
    return ((const lab_t *)context)->now;
}

/* Messages that were sent a lease ago have come, or never will. */
static bool outlive(void *context, int64_t since, err_t *err) {
    lab_t *lab = context;
    (void)err;
    if (!lab->waits)
        return true;
    lab->now = lab->now > since + LEASE ? lab->now : since + LEASE;
    for (size_t i = lab->late_count; i-- > 0;)
        if (lab->late[i].sent + LEASE <= lab->now)
            come_late(lab, i);
    return true;
}

/* ---- batches ---- */

typedef struct {
    uint8_t bytes[MOST * BYTES];
    uint32_t starts[MOST + 1];
    documents_t documents;
} made_t;

/* ids: one digit for each document; values: the same. */
static void make(made_t *batch, const char *ids, const char *values) {
    const uint32_t count = (uint32_t)strlen(ids);
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        batch->starts[i] = used;
        used += put(batch->bytes + used, ids[i] - '0', values[i] - '0');
    }
    batch->starts[count] = used;
    batch->documents = (documents_t){.bytes = batch->bytes, .starts = batch->starts, .count = count};
}

static deliver_t *open_lab(lab_t *lab, wire_t *wire, deliver_owner_t *owner, existing_t existing) {
    err_t err;
    *lab = (lab_t){.stored = {NOTHING, NOTHING, NOTHING}, .quiet = true, .waits = true, .now = 1};
    *wire = (wire_t){.context = lab,
                     .max_document_bytes = 1000,
                     .max_message_bytes = 2000,
                     .max_batch = 100,
                     .begin = begin,
                     .insert = insert,
                     .replace = replace,
                     .fetch = fetch,
                     .again = again,
                     .refuse = refuse};
    *owner = (deliver_owner_t){
        .context = lab, .existing = existing, .likeness = loose_hash, .now = now, .outlive = outlive};
    return deliver_new(wire, owner, &err);
}

/* A letter for each document: Loaded, There, Kept, replaced (P), Reject. */
static void come_to(const delivered_t *delivered, uint32_t count, char *text) {
    assert_int_equal(delivered->stored + delivered->count, count);
    memset(text, 'L', count);
    text[count] = '\0';
    for (size_t i = 0; i < delivered->count; i++) {
        const exception_t *exception = &delivered->exceptions[i];
        assert_true(!i || exception[-1].index < exception->index);
        text[exception->index] = "LTRFCPK"[exception->fate];
    }
}

TEST(modes) {
    static const struct {
        existing_t existing;
        int stored[IDS];
        const char *values, *comes_to;
        int then[IDS];
    } cases[] = {
        {EXISTING_REJECT, {1, 2, NOTHING}, "133", "TRL", {1, 2, 3}},
        {EXISTING_KEEP, {1, 2, NOTHING}, "133", "TKL", {1, 2, 3}},
        {EXISTING_REPLACE, {1, 2, NOTHING}, "133", "TPL", {1, 3, 3}},
        {EXISTING_REPLACE, {1, 2, 3}, "456", "PPP", {4, 5, 6}},
        {EXISTING_REPLACE, {1, 2, 3}, "123", "TTT", {1, 2, 3}},
        {EXISTING_REPLACE, {1, 2, 3}, "923", "RTT", {1, 2, 3}},
        {EXISTING_REPLACE, {1, NOTHING, 3}, "994", "RRP", {1, NOTHING, 4}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int first = 0; first < 2; first++) { /* asked before anything is sent, or not */
            lab_t lab;
            wire_t wire;
            deliver_owner_t owner;
            made_t batch;
            delivered_t delivered;
            char text[MOST + 1];
            err_t err = {.text = ""};
            deliver_t *it = open_lab(&lab, &wire, &owner, cases[i].existing);
            lab.refuses = true;
            memcpy(lab.stored, cases[i].stored, sizeof lab.stored);
            make(&batch, "012", cases[i].values);
            batch.documents.may_be_there = first;
            assert_true(deliver(it, &batch.documents, &delivered, &err));
            come_to(&delivered, 3, text);
            assert_string_equal(text, cases[i].comes_to);
            assert_memory_equal(lab.stored, cases[i].then, sizeof lab.stored);
            deliver_free(it);
        }
    }
}

/* Rows of three keys, in batches that hold no key twice. Values come back: so a message that is late would do harm. */
static bool survives(unsigned seed, bool waits) {
    lab_t lab;
    wire_t wire;
    deliver_owner_t owner;
    err_t err = {.text = ""};
    int last[IDS] = {NOTHING, NOTHING, NOTHING};
    deliver_t *it = open_lab(&lab, &wire, &owner, EXISTING_REPLACE);
    srandom(seed);
    lab.quiet = false;
    lab.waits = waits;
    for (int i = 0; i < IDS; i++)
        lab.stored[i] = last[i] = (int)(random() % 3) - 1;
    for (int round = 0; round < 12; round++) {
        char ids[MOST] = "", values[MOST] = "", text[MOST + 1];
        made_t batch;
        delivered_t delivered;
        for (int id = 0; id < IDS; id++)
            if (random() % 2) {
                const size_t at = strlen(ids);
                ids[at] = (char)('0' + id);
                values[at] = (char)('0' + random() % 2);
                last[id] = values[at] - '0';
            }
        make(&batch, ids, values);
        batch.documents.may_be_there = random() % 2;
        if (!batch.documents.count)
            continue;
        if (!deliver(it, &batch.documents, &delivered, &err))
            fail_msg("seed %u: %s", seed, err.text);
        come_to(&delivered, batch.documents.count, text);
        assert_null(strpbrk(text, "RK"));
        for (size_t i = 0; waits && ids[i]; i++)
            if (lab.stored[ids[i] - '0'] != values[i] - '0')
                fail_msg("seed %u: '%s' of '%s' is not there: %s", seed, values, ids, text);
    }
    while (lab.late_count)
        come_late(&lab, (size_t)random() % lab.late_count);
    deliver_free(it);
    return memcmp(last, lab.stored, sizeof last) == 0;
}

static uint64_t hash(const char *json) {
    bson_error_t problem;
    bson_t *document = bson_new_from_json((const uint8_t *)json, -1, &problem);
    assert_non_null(document);
    const uint64_t found = loose_hash(bson_get_data(document), document->len);
    bson_destroy(document);
    return found;
}

/* What a server's comparison takes for equal, tried on 6.0.5, must share its hash. */
TEST(likeness) {
    static const char *const same[][2] = {
        {"{\"_id\": 1, \"v\": 1}", "{\"_id\": 1, \"v\": {\"$numberDouble\": \"1.0\"}}"},
        {"{\"v\": {\"$numberLong\": \"1\"}}", "{\"v\": {\"$numberDecimal\": \"1.00\"}}"},
        {"{\"v\": 0}", "{\"v\": {\"$numberDouble\": \"-0.0\"}}"},
        {"{\"v\": \"a\"}", "{\"v\": {\"$symbol\": \"a\"}}"},
        {"{\"v\": {\"w\": [1, 2]}}", "{\"v\": {\"w\": [1, {\"$numberDouble\": \"2.0\"}]}}"},
        {"{\"v\": {\"$numberDouble\": \"NaN\"}}", "{\"v\": {\"$numberDecimal\": \"NaN\"}}"},
    };
    static const char *const other[][2] = {
        {"{\"v\": 1}", "{\"v\": 2}"},
        {"{\"v\": 1}", "{\"w\": 1}"},
        {"{\"v\": \"1\"}", "{\"v\": 1}"},
        {"{\"v\": true}", "{\"v\": false}"},
        {"{\"v\": 1, \"w\": 2}", "{\"w\": 2, \"v\": 1}"},
        {"{\"v\": {\"$oid\": \"000000000000000000000001\"}}",
         "{\"v\": {\"$oid\": \"000000000000000000000002\"}}"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_true(hash(same[i][0]) == hash(same[i][1]));
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        assert_true(hash(other[i][0]) != hash(other[i][1]));
}

TEST(late) {
    unsigned harmed = 0;
    for (unsigned seed = 0; seed < 20000 / TEST_SHARE; seed++) {
        if (!survives(seed, true))
            fail_msg("seed %u: another document than the last one is there", seed);
        harmed += seed < 2000 && !survives(seed, false);
    }
    assert_true(harmed > 0); /* the messages of this lab can do harm */
}
