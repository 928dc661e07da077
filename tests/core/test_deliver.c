/* deliver: batches against a made-up server, whose every misfortune is in a script. */
#include "load/deliver/deliver.h"
#include "test.h"

#include <bson/bson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 24, MOST_TRIES = 40 };

/* The server. A step of the script is what happens to one message; the last one is repeated:
 *     ok         done, and the reply says so
 *     lost+ lost-  the reply is lost; it was done, or not
 *     unsent     nobody to send to
 *     fail91 fail91+  the command fails with a code; before or after it was done
 *     wce64      done, with a write concern error, which is hidden where nothing was inserted
 *     short      done, and n is one too small
 *     e2=82      done, but that document 2 (of the batch) gets this code; e*=82: all do
 *     e2=82,3=1+  ... both; +: though they are stored
 * stored: a letter for each document of the batch before it begins: '-' none, '=' equal, '!' another; 'o' one
 * that is there and is never shown (an orphan); 'd' another and an equal one, on two shards; 'u': its value
 * is taken in another unique index. */
typedef struct {
    char stored[MOST];
    char steps[MOST_TRIES][32];
    size_t step_count, step;
    uint32_t unseen; /* fetches that do not show what was stored by us: no majority yet */
    uint32_t lost_fetches;
    uint32_t tries_left, all_tries;
    uint32_t messages, sent, fetches, asked, begun;
    char said[200];
    uint32_t count;
    write_error_t errors[MOST];
    documents_t documents;
    uint8_t bytes[4096];
    uint32_t starts[MOST + 1];
} lab_t;

static bool
    pairs; /* documents 0 and 1 are one row that comes twice, so are 2 and 3: the letter of the first counts */

static uint32_t row_of(uint32_t index) {
    return pairs ? index & ~1u : index;
}

static void make_documents(lab_t *lab, uint32_t count) {
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        bson_t document = BSON_INITIALIZER;
        BSON_APPEND_INT64(&document, "_id", 1000 + row_of(i));
        BSON_APPEND_UTF8(&document, "x", "right");
        lab->starts[i] = used;
        memcpy(lab->bytes + used, bson_get_data(&document), document.len);
        used += document.len;
        bson_destroy(&document);
    }
    lab->starts[count] = used;
    lab->count = count;
    lab->documents = (documents_t){.bytes = lab->bytes, .starts = lab->starts, .count = count};
}

static void refuse_one(lab_t *lab, reply_t *reply, uint32_t place, int code, bool other) {
    write_error_t *error = &lab->errors[reply->error_count++];
    *error = (write_error_t){.index = place, .code = code, .other_index = other};
    snprintf(error->words, sizeof error->words, "words of %d", code);
}

/* The code that a step has for a document; 0: none. */
static int code_of(const char *step, uint32_t index) {
    if (*step != 'e')
        return 0;
    for (const char *at = step + 1; *at;) {
        char *end;
        bool all = *at == '*';
        uint32_t which = all ? index : (uint32_t)strtoul(at, &end, 10);
        at = strchr(at, '=') + 1;
        int code = (int)strtol(at, &end, 10);
        if (which == index)
            return code;
        at = *end == ',' ? end + 1 : "";
    }
    return 0;
}

static void execute(lab_t *lab, const message_t *message, const char *step, reply_t *reply) {
    const bool stores = step[strlen(step) - 1] == '+';
    for (uint32_t i = 0; i < message->count; i++) {
        const uint32_t index = message_index(message, i);
        char *stored = &lab->stored[row_of(index)];
        const int code = code_of(step, index);
        if (code) {
            refuse_one(lab, reply, i, code, false);
            *stored = stores ? '=' : *stored;
        } else if (*stored == 'u') {
            refuse_one(lab, reply, i, CODE_DUPLICATE_KEY, true);
        } else if (*stored != '-') {
            refuse_one(lab, reply, i, CODE_DUPLICATE_KEY, false);
        } else {
            *stored = '=';
            reply->inserted++;
        }
    }
    reply->errors = lab->errors;
}

static bool starts_with(const char *text, const char *word) {
    return strncmp(text, word, strlen(word)) == 0;
}

static bool insert(void *context, const message_t *message, reply_t *reply, err_t *err) {
    lab_t *lab = context;
    const char *step = lab->steps[lab->step + 1 < lab->step_count ? lab->step++ : lab->step];
    (void)err;
    *reply = (reply_t){.kind = REPLY_GIVEN, .words = ""};
    lab->messages++;
    lab->sent += message->count;
    if (strcmp(step, "unsent") == 0) {
        reply->kind = REPLY_UNSENT;
        return true;
    }
    if (strcmp(step, "lost-") != 0 && (!starts_with(step, "fail") || step[strlen(step) - 1] == '+'))
        execute(lab, message, step, reply);
    if (starts_with(step, "lost") || starts_with(step, "fail")) {
        *reply = (reply_t){.kind = *step == 'l' ? REPLY_LOST : REPLY_FAILED, .words = "gone"};
        reply->code = *step == 'f' ? atoi(step + 4) : 0;
    } else if (starts_with(step, "wce") && reply->inserted) {
        reply->concern_failed = true;
        reply->concern_code = atoi(step + 3);
    } else if (strcmp(step, "short") == 0 && reply->inserted) {
        reply->inserted--;
    }
    return true;
}

static bool show(const lab_t *lab, uint32_t index, bool same, found_fn *found, void *finder, err_t *err) {
    bson_t other = BSON_INITIALIZER;
    BSON_APPEND_INT64(&other, "_id", 1000 + index);
    BSON_APPEND_UTF8(&other, "x", "wrong");
    bool ok = same ? found(finder, lab->bytes + lab->starts[index],
                           lab->starts[index + 1] - lab->starts[index], err)
                   : found(finder, bson_get_data(&other), other.len, err);
    bson_destroy(&other);
    return ok;
}

static fetched_t fetch(void *context, const message_t *message, found_fn *found, void *finder, err_t *err) {
    lab_t *lab = context;
    lab->fetches++;
    lab->asked += message->count;
    bool unseen = lab->unseen && lab->unseen--, ok = true;
    /* backwards: the order is nobody's business */
    for (uint32_t i = message->count; ok && i-- > 0;) {
        const uint32_t index = message_index(message, i);
        const char stored = lab->stored[row_of(index)];
        if (lab->lost_fetches && i == message->count / 2) { /* after some were shown */
            lab->lost_fetches--;
            return FETCH_AGAIN;
        }
        if (stored == '!' || stored == 'd')
            ok = show(lab, index, false, found, finder, err);
        if (ok && (stored == '=' || stored == 'd') && !unseen)
            ok = show(lab, index, true, found, finder, err);
    }
    return ok ? FETCHED : FETCH_FAILED;
}

static void begin(void *context) {
    lab_t *lab = context;
    lab->begun++;
    lab->tries_left = lab->all_tries;
}

static bool again(void *context, const trouble_t *trouble, err_t *err) {
    lab_t *lab = context;
    if (lab->tries_left--)
        return true;
    return err_set(err, STATUS_SERVER, "no patience: %s",
                   !trouble         ? "fetch"
                   : trouble->error ? trouble->error->words
                   : trouble->words ? trouble->words
                                    : "reply");
}

static bool refuse(void *context, const trouble_t *trouble, err_t *err) {
    (void)context;
    return err_set(err, STATUS_SERVER, "refused: %s", trouble->error ? trouble->error->words : "reply");
}

static void place(void *context, uint32_t index, char *text, size_t size) {
    (void)context;
    snprintf(text, size, "a.csv:%u", (unsigned)index + 1);
}

typedef struct {
    const char *stored, *script; /* steps, separated by blanks */
    const char *comes_to;        /* for each document: Loaded, There, Reject; or the words of the failure */
    uint32_t messages, sent, fetches;
    uint32_t unseen, lost_fetches;
    uint32_t certain; /* of a failure: documents that count as loaded all the same */
} case_t;

static bool touched;

static bool may_send(void *context, err_t *err) {
    (void)context, (void)err;
    return true;
}

static void open_lab(lab_t *lab, const char *stored, const char *script) {
    *lab = (lab_t){.all_tries = 12};
    make_documents(lab, (uint32_t)strlen(stored));
    memcpy(lab->stored, stored, lab->count);
    for (const char *at = script; *at; at += strcspn(at, " "), at += *at == ' ')
        snprintf(lab->steps[lab->step_count++], sizeof lab->steps[0], "%.*s", (int)strcspn(at, " "), at);
}

static bool run(lab_t *lab, uint32_t max_batch, char *comes_to, uint32_t *stored, err_t *err) {
    const wire_t wire = {.context = lab,
                         .max_document_bytes = 1000,
                         .max_message_bytes = 2000,
                         .max_batch = max_batch,
                         .begin = begin,
                         .insert = insert,
                         .fetch = fetch,
                         .again = again,
                         .refuse = refuse};
    const deliver_owner_t owner = {.place = place, .may_send = may_send};
    deliver_t *it = deliver_new(&wire, &owner, err);
    delivered_t delivered;
    bool ok = deliver(it, &lab->documents, &delivered, err);
    touched = delivered.touched;
    memset(comes_to, 'L', lab->count);
    comes_to[lab->count] = '\0';
    for (size_t i = 0; ok && i < delivered.count; i++) {
        const exception_t *exception = &delivered.exceptions[i];
        assert_true(!i || delivered.exceptions[i - 1].index < exception->index);
        comes_to[exception->index] = exception->fate == FATE_THERE ? 'T' : 'R';
        assert_true(exception->fate == FATE_THERE || exception->reason[0]);
        assert_int_equal(exception->taken, strncmp(exception->reason, "another document", 16) == 0);
    }
    *stored = delivered.stored;
    if (ok)
        assert_int_equal(delivered.stored + delivered.count, lab->count);
    deliver_free(it);
    return ok;
}

static void check(const case_t *cases, size_t count, uint32_t max_batch) {
    for (size_t i = 0; i < count; i++) {
        const case_t *one = &cases[i];
        lab_t lab;
        char comes_to[MOST + 1];
        uint32_t stored;
        err_t err = {.text = ""};
        open_lab(&lab, one->stored, one->script);
        lab.unseen = one->unseen;
        lab.lost_fetches = one->lost_fetches;
        if (!run(&lab, max_batch, comes_to, &stored, &err)) {
            if (stored != one->certain)
                fail_msg("%s, %s: %u are certain", one->stored, one->script, (unsigned)stored);
            for (uint32_t j = 0; j < lab.count; j++) /* nothing that has come is passed over */
                if (lab.stored[j] == '=' && one->stored[j] == '-' && !stored && !touched)
                    fail_msg("%s, %s: document %u is there", one->stored, one->script, (unsigned)j);
            if (touched && (strcmp(one->script, "unsent") == 0 || strcmp(one->script, "fail13") == 0))
                fail_msg("%s, %s: nothing has come", one->stored, one->script);
            if (!strstr(err.text, one->comes_to) || err.status != STATUS_SERVER)
                fail_msg("%s, %s: ended with: %s", one->stored, one->script, err.text);
        } else if (strcmp(comes_to, one->comes_to) != 0) {
            fail_msg("%s, %s: '%s', not '%s'", one->stored, one->script, comes_to, one->comes_to);
        } else {
            for (uint32_t j = 0; j < lab.count; j++) /* nothing counts that is not there */
                if (comes_to[j] != 'R' && !strchr("=d", lab.stored[row_of(j)]))
                    fail_msg("%s, %s: document %u is not there", one->stored, one->script, (unsigned)j);
        }
        if (one->messages &&
            (lab.messages != one->messages || lab.sent != one->sent || lab.fetches != one->fetches))
            fail_msg("%s, %s: %u messages of %u documents, %u fetches", one->stored, one->script,
                     (unsigned)lab.messages, (unsigned)lab.sent, (unsigned)lab.fetches);
    }
}

#define CHECK(cases, max_batch) check(cases, sizeof(cases) / sizeof *(cases), max_batch)

TEST(plain) {
    static const case_t cases[] = {
        {"-----", "ok", "LLLLL", .messages = 1, .sent = 5, .fetches = 0},
        {"-", "ok", "L", .messages = 1, .sent = 1, .fetches = 0},
        {"-=-!-", "ok", "LTLRL", .messages = 1, .sent = 5, .fetches = 1},
        {"=====", "ok", "TTTTT", .messages = 1, .sent = 5, .fetches = 1},
        {"!!!!!", "ok", "RRRRR", .messages = 1, .sent = 5, .fetches = 1},
        {"-d!d=", "ok", "LTRTT", .messages = 1, .sent = 5, .fetches = 1},
        {"-u---", "ok", "LRLLL", .messages = 1, .sent = 5, .fetches = 0},
        {"-----", "e1=121", "LRLLL", .messages = 1, .sent = 5, .fetches = 0},
        {"-----", "e1=121,3=52", "LRLRL", .messages = 1, .sent = 5, .fetches = 0},
    };
    CHECK(cases, 100);
}

TEST(lost_replies) {
    static const case_t cases[] = {
        {"-----", "lost+ ok", "LLLLL", .messages = 2, .sent = 10, .fetches = 1},
        {"-----", "lost- ok", "LLLLL", .messages = 2, .sent = 10, .fetches = 0},
        {"-----", "lost+ lost+ ok", "LLLLL", .messages = 3, .sent = 15, .fetches = 1},
        {"-----", "lost- lost+ ok", "LLLLL", .messages = 3, .sent = 15, .fetches = 1},
        {"-----", "unsent unsent ok", "LLLLL", .messages = 3, .sent = 15, .fetches = 0},
        /* a lost reply makes nothing of another document that was there: finding 8 */
        {"-!--=", "lost+ ok", "LRLLL", .messages = 2, .sent = 10, .fetches = 1},
        {"-!--=", "lost- ok", "LRLLL", .messages = 2, .sent = 10, .fetches = 1},
        /* where nothing was sent, nothing is ours */
        {"-!--=", "unsent ok", "LRLLT", .messages = 2, .sent = 10, .fetches = 1},
        {"----", "fail91+ ok", "LLLL", .messages = 2, .sent = 8, .fetches = 1},
        {"----", "fail91 ok", "LLLL", .messages = 2, .sent = 8, .fetches = 0},
        {"----", "fail4711 fail1 fail2 ok", "LLLL", .messages = 4, .sent = 16, .fetches = 0},
        {"----", "short ok", "LLLL", .messages = 2, .sent = 8, .fetches = 1},
        {"-u--", "lost- ok", "LRLL", .messages = 2, .sent = 8, .fetches = 1},
        /* refused the second time, and there by the first: somebody has just made a validator */
        {"---", "lost+ e*=121", "LLL", .messages = 2, .sent = 6, .fetches = 1},
        {"---", "lost- e*=121", "RRR", .messages = 2, .sent = 6, .fetches = 1},
        {"---", "lost-", "no patience: reply", .messages = 0},
        {"---", "unsent", "no patience: reply", .messages = 0},
    };
    CHECK(cases, 100);
}

/* The same row twice, where the `_id`s are the data's own: it is stored once, and counts as loaded once. */
TEST(rows_that_come_twice) {
    static const case_t cases[] = {
        {"------", "ok", "LTLTLT", .messages = 1, .sent = 6, .fetches = 1},
        {"------", "lost+ ok", "LTLTLT", .messages = 2, .sent = 12, .fetches = 1},
        {"------", "lost- ok", "LTLTLT", .messages = 2, .sent = 12, .fetches = 1},
        {"------", "lost- lost+ ok", "LTLTLT", .messages = 3, .sent = 18, .fetches = 1},
        {"------", "wce64 ok", "LTLTLT", .messages = 0},
        {"!---", "lost+ ok", "RRLT", .messages = 2, .sent = 8, .fetches = 1},
    };
    pairs = true;
    CHECK(cases, 100);
    pairs = false;
}

/* What is lost of one message says nothing of the others. */
TEST(several_messages) {
    static const case_t cases[] = {
        {"------", "ok", "LLLLLL", .messages = 3, .sent = 6, .fetches = 0},
        {"-----", "ok", "LLLLL", .messages = 3, .sent = 5, .fetches = 0},
        {"=-----", "ok lost+ ok", "TLLLLL", .messages = 4, .sent = 8, .fetches = 2},
        {"=-=-=-", "lost+ ok lost+ ok", "LLLLTL", .messages = 5, .sent = 10, .fetches = 3},
        {"=-=-=-", "ok ok lost- ok", "TLTLLL", .messages = 4, .sent = 8, .fetches = 3},
        {"------", "ok e2=82 ok", "LLLLLL", .messages = 4, .sent = 7, .fetches = 0},
        {"------", "ok ok lost-", "no patience", .certain = 4},
        {"------", "ok wce64 e4=13", "refused: words of 13", .certain = 5},
    };
    CHECK(cases, 2);
}

TEST(too_large) {
    lab_t lab;
    char comes_to[MOST + 1];
    err_t err;
    open_lab(&lab, "---", "ok");
    const wire_t wire = {.context = &lab,
                         .max_document_bytes = lab.starts[1] + 10,
                         .max_message_bytes = 2 * lab.starts[1],
                         .max_batch = 10,
                         .begin = begin,
                         .insert = insert,
                         .fetch = fetch,
                         .again = again,
                         .refuse = refuse};
    deliver_t *it = deliver_new(&wire, NULL, &err);
    delivered_t delivered;
    assert_true(deliver(it, &lab.documents, &delivered, &err));
    assert_int_equal(lab.messages, 2); /* of two, and of one */
    assert_int_equal(delivered.count, 0);
    /* the second one grows over the limit */
    bson_t large = BSON_INITIALIZER;
    BSON_APPEND_INT64(&large, "_id", 1001);
    BSON_APPEND_UTF8(&large, "x", "much longer than the others are");
    const uint32_t last = lab.starts[3] - lab.starts[2];
    memmove(lab.bytes + lab.starts[1] + large.len, lab.bytes + lab.starts[2], last);
    memcpy(lab.bytes + lab.starts[1], bson_get_data(&large), large.len);
    lab.starts[2] = lab.starts[1] + large.len;
    lab.starts[3] = lab.starts[2] + last;
    memset(lab.stored, '-', 3);
    bson_destroy(&large);
    assert_true(deliver(it, &lab.documents, &delivered, &err));
    assert_int_equal(delivered.count, 1);
    assert_int_equal(delivered.exceptions[0].index, 1);
    assert_non_null(strstr(delivered.exceptions[0].reason, "server takes up to"));
    assert_string_equal(lab.stored, "=-=");
    deliver_free(it);
    (void)comes_to;
}
