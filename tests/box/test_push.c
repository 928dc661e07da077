/* Records that a program pushes into a load, with a server of this process. */
#include "heard.h"
#include "push_lab.h"
#include "test.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum { ROWS = 5000 };

static tipple_load_t *begin(const lab_t *lab, const char *name) {
    return push_load(lab->uri, "format", "./rows.yaml", "input-name", name, "threads", "2", "rejects",
                     "c.rejects", NULL);
}

/* Pushes these rows, in pieces of this size. */
static void push_all(tipple_load_t *load, int from, int to, size_t piece) {
    size_t length;
    tipple_error_t error;
    char *text = push_rows(from, to, &length);
    if (push_pieces(load, text, length, piece, &error))
        fail_msg("%s", error.text);
    free(text);
}

static void nap(long milliseconds) {
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

/* Pieces of any size, cut anywhere, give the same records as one; what was pushed before is not loaded again. */
TEST(pieces) {
    static const size_t pieces[] = {1, 7, 4096, SIZE_MAX};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        lab_t lab;
        tipple_error_t error;
        lab_open(&lab);
        for (int again = 0; again < 2; again++) {
            tipple_load_t *load = begin(&lab, "rows");
            assert_null(tipple_load_result(load));
            push_all(load, 0, ROWS, pieces[i]);
            push_finish(load, 0);
            push_finish(load, 0);
            assert_false(tipple_load_push(load, "1,x\n", 4, &error));
            assert_int_equal(error.status, 1);
            push_check(load, again ? 0 : ROWS, 0, 0);
            assert_int_equal(tipple_load_result(load)->records_skipped, again ? ROWS : 0);
            assert_string_equal(tipple_load_result(load)->format, "rows");
            tipple_load_destroy(load);
        }
        assert_int_equal(box_count(lab.box, TARGET, NULL), ROWS);
        assert_int_equal(box_count(lab.box, TARGET, "{\"n\": 77, \"w\": \"w77\"}"), 1);
        box_stop(lab.box);
    }
}

/* More than the load keeps: who pushes waits, and all of it arrives. */
LAB_TEST(more_than_there_is_room_for, lab_open(lab)) {
    enum { MANY = 3000, WIDTH = 1000 };
    tipple_error_t error;
    char *text = malloc(MANY * (WIDTH + 16));
    assert_non_null(text);
    size_t length = (size_t)sprintf(text, "n,w\n");
    for (int i = 0; i < MANY; i++)
        length += (size_t)sprintf(text + length, "%d,%*d\n", i, WIDTH, i);
    assert_true(length > 2 << 20);
    tipple_load_t *load = begin(lab, "rows");
    assert_int_equal(push_pieces(load, text, length, 100003, &error), 0);
    push_finish(load, 0);
    push_check(load, MANY, 0, 0);
    tipple_load_destroy(load);
    free(text);
}

/* A rejected record is counted, and its text kept; nothing pushed is an end, too. */
LAB_TEST(rejects_and_nothing, lab_open(lab)) {
    tipple_error_t error;
    unlink("c.rejects");
    tipple_load_t *load = begin(lab, "rejects");
    assert_true(tipple_load_push(load, "n,w\n1,a\n1,b,c\n2", 15, &error));
    assert_true(tipple_load_push(load, NULL, 0, &error));
    assert_null(tipple_load_json(load));
    assert_true(tipple_load_push(load, ",c", 2, &error)); /* no line end: it is a record all the same */
    push_finish(load, 2);
    push_check(load, 2, 0, 1);
    assert_string_equal(tipple_load_result(load)->rejects, "c.rejects");
    assert_non_null(strstr(tipple_load_json(load), "\"status\" : 2, \"read\" : 3, \"loaded\" : 2,"));
    assert_ptr_equal(tipple_load_json(load), tipple_load_json(load));
    assert_int_equal(access("c.rejects", R_OK), 0);
    tipple_load_destroy(load);
    load = begin(lab, "nothing");
    push_finish(load, 0);
    push_check(load, 0, 0, 0);
    tipple_load_destroy(load);
}

/* The sentence of a load whose first 100 records were all rejected asks for 100%. */
LAB_TEST(all_rejected, lab_open(lab)) {
    enum { MANY = 150 };
    tipple_error_t error;
    tipple_load_t *load = begin(lab, "all rejected");
    assert_false(tipple_load_set(load, "max-rejects", "101%", &error));
    assert_true(tipple_load_set(load, "max-rejects", "100%", &error));
    assert_true(tipple_load_push(load, "n,w\n", 4, &error));
    for (int i = 0; i < MANY; i++)
        assert_true(tipple_load_push(load, "1,b,c\n", 6, &error));
    push_finish(load, 2);
    push_check(load, 0, 0, MANY);
    tipple_load_destroy(load);
}

/* Documents keep their `_id`; what is no whole one is not taken. */
LAB_TEST(documents, lab_open(lab)) {
    tipple_error_t error;
    tipple_load_t *load = push_load(lab->uri, "input-name", "documents", NULL);
    for (int i = 0; i < 1000; i++) {
        bson_t *document = BCON_NEW("_id", BCON_INT32(i), "text", BCON_UTF8("x"));
        if (!tipple_load_push_document(load, bson_get_data(document), document->len, &error))
            fail_msg("%s", error.text);
        assert_false(tipple_load_push_document(load, bson_get_data(document), document->len - 1, &error));
        assert_int_equal(error.status, 1);
        uint8_t longer[200] = {0}; /* and with a byte that follows the document */
        memcpy(longer, bson_get_data(document), document->len);
        assert_false(tipple_load_push_document(load, longer, document->len + 1, &error));
        bson_destroy(document);
    }
    assert_false(tipple_load_push_document(load, "", 0, &error));
    assert_false(tipple_load_push(load, "x", 1, &error));
    assert_non_null(strstr(error.text, "texts or of documents"));
    push_finish(load, 0);
    push_check(load, 1000, 0, 0);
    assert_int_equal(box_count(lab->box, TARGET, "{\"_id\": 999, \"text\": \"x\"}"), 1);
    tipple_load_destroy(load);
    load = begin(lab, "texts");
    assert_false(tipple_load_push_document(load, "\5\0\0\0", 5, &error));
    assert_non_null(strstr(error.text, "not of BSON documents"));
    tipple_load_destroy(load);
}

/* Documents that no server takes are refused in the call; those around them are loaded. */
LAB_TEST(too_large, lab_open(lab)) {
    enum { LARGE = 17 << 20 };
    tipple_error_t error;
    tipple_load_t *load = push_load(lab->uri, "input-name", "large", NULL);
    char *text = malloc(LARGE);
    assert_non_null(text);
    memset(text, 'x', LARGE);
    for (int i = 0; i < 3; i++) {
        bson_t document = BSON_INITIALIZER;
        BSON_APPEND_INT32(&document, "_id", i);
        bson_append_utf8(&document, "text", 4, text, i == 1 ? LARGE : 1);
        const bool taken = tipple_load_push_document(load, bson_get_data(&document), document.len, &error);
        assert_int_equal(taken, i != 1);
        bson_destroy(&document);
        if (taken)
            continue;
        assert_int_equal(error.status, 1);
        assert_non_null(strstr(error.text, "nothing of it was"));
    }
    free(text);
    push_finish(load, 0);
    push_check(load, 2, 0, 0);
    tipple_load_destroy(load);
}

/* A format is guessed of what comes first. */
LAB_TEST(guessed, lab_open(lab)) {
    tipple_load_t *load = push_load(lab->uri, "input-name", "guessed", NULL);
    push_all(load, 0, ROWS, 1000);
    push_finish(load, 0);
    push_check(load, ROWS, 0, 0);
    assert_int_equal(box_count(lab->box, TARGET, "{\"n\": 77, \"w\": \"w77\"}"), 1);
    tipple_load_destroy(load);
}

/* ---- what goes wrong ---- */

/* How many rows were pushed. */
static int push_until_it_fails(tipple_load_t *load, tipple_error_t *error) {
    char row[64];
    int i = 0;
    bool ok = tipple_load_push(load, "n,w\n", 4, error);
    for (; ok && i < 10000000; i++) {
        if (i % 5 == 0)
            nap(1); /* the box has to hold what comes until then */
        ok = tipple_load_push(load, row, (size_t)sprintf(row, "%d,w%d\n", i, i), error);
    }
    assert_false(ok);
    return i;
}

/* The load fails while records are pushed: each later call says why, and the same pushed again completes it. */
LAB_TEST(failure_in_the_middle, lab_open(lab)) {
    tipple_error_t error, again;
    box_fault(lab->box, &(box_fault_t){.command = "insert",
                                       .collection = "c",
                                       .after = 2,
                                       .times = UINT32_MAX,
                                       .reply = BOX_ERROR(13, "not yours")});
    tipple_load_t *load = begin(lab, "rows");
    const int rows = push_until_it_fails(load, &error);
    assert_int_equal(error.status, 4);
    assert_non_null(tipple_load_result(load));
    assert_int_equal(tipple_load_result(load)->status, 4);
    assert_string_equal(tipple_load_result(load)->sentence, error.text);
    assert_false(tipple_load_push(load, "1,x\n", 4, &again));
    assert_string_equal(again.text, error.text);
    assert_false(tipple_load_finish(load, &again));
    assert_string_equal(again.text, error.text);
    tipple_load_destroy(load);
    box_end_faults(lab->box);
    load = begin(lab, "rows");
    push_all(load, 0, rows, 999);
    push_finish(load, 0);
    push_check(load, tipple_load_result(load)->loaded, tipple_load_result(load)->already_there, 0);
    assert_int_equal(tipple_load_result(load)->read + tipple_load_result(load)->records_skipped, rows);
    assert_int_equal(box_count(lab->box, TARGET, NULL), rows);
    tipple_load_destroy(load);
}

/* Other records under the same name are noticed, not loaded. */
LAB_TEST(other_records, lab_open(lab)) {
    tipple_error_t error;
    size_t length;
    for (int i = 0; i < 2; i++) {
        char *text = push_rows(i, i + ROWS, &length);
        tipple_load_t *load = begin(lab, "rows");
        push_pieces(load, text, length, 5000, &error);
        push_finish(load, i ? 5 : 0);
        tipple_load_destroy(load);
        free(text);
    }
    assert_int_equal(box_count(lab->box, TARGET, NULL), ROWS);
}

TEST(refused) {
    static const struct {
        const char *name, *value, *says;
    } wrong[] = {{"thread", "2", "did you mean 'threads'"},
                 {"threads", "many", "not a whole number"},
                 {"threads", "4294967296", "out of range"},
                 {"drop", "maybe", "neither true nor false"},
                 {"existing", "", "none of reject"},
                 {"patience", "long", "not a time"},
                 {"memory", "-1", "not a size"},
                 {"max-rate", "x", "documents a second"},
                 {"input-name", "mongodb://joe:hunter2@h/d.c", "--input-name holds a password"},
                 {"input", "mongodb:/joe:hunter2@h/d.c", "--input holds a password"},
                 {"type", "mongodb://joe:hunter2@h/d.c", "--type holds a password"}};
    tipple_error_t error;
    tipple_load_t *load = tipple_load_new("mongodb://127.0.0.1:1/d.c", &error);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(tipple_load_set(load, wrong[i].name, wrong[i].value, &error));
        assert_int_equal(error.status, 1);
        if (!strstr(error.text, wrong[i].says) || strstr(error.text, "hunter2"))
            fail_msg("%s: %s", wrong[i].name, error.text);
    }
    assert_false(tipple_load_push(load, "x", 1, &error));
    assert_non_null(strstr(error.text, "set input-name"));
    assert_false(tipple_load_finish(load, &error));
    assert_false(tipple_load_run(load, &error));
    assert_non_null(strstr(error.text, "nothing to load"));
    assert_true(tipple_load_set(load, "input-name", "x", &error));
    assert_true(tipple_load_set(load, "reload-changed", "true", &error));
    assert_false(tipple_load_push(load, "x", 1, &error));
    assert_true(tipple_load_set(load, "reload-changed", "false", &error));
    assert_true(tipple_load_set(load, "limit", "5", &error));
    assert_false(tipple_load_push(load, "x", 1, &error));
    assert_true(tipple_load_set(load, "input", "a.csv", &error));
    assert_false(tipple_load_push(load, "x", 1, &error));
    assert_non_null(strstr(error.text, "has inputs"));
    assert_null(tipple_load_result(load));
    tipple_load_destroy(load);
}

/* ---- cancel ---- */

typedef struct {
    tipple_load_t *load;
    _Atomic uint64_t documents, calls;
    atomic_bool cancels;
} watch_t;

static void on_progress(void *context, uint64_t documents, uint64_t bytes) {
    watch_t *watch = context;
    (void)bytes;
    watch->documents = documents;
    watch->calls++;
    if (watch->cancels && documents)
        tipple_load_cancel(watch->load);
}

/* A callback cancels: pushes fail then, and the same again completes the load. */
LAB_TEST(cancel_by_callback, lab_open(lab)) {
    tipple_error_t error;
    watch_t watch = {.load = begin(lab, "rows"), .cancels = true};
    assert_true(tipple_load_on_progress(watch.load, on_progress, &watch, &error));
    const int rows = push_until_it_fails(watch.load, &error) + 1000;
    assert_int_equal(error.status, 130);
    assert_non_null(strstr(error.text, "cancelled"));
    assert_false(tipple_load_on_progress(watch.load, on_progress, &watch, &error));
    const tipple_result_t *result = tipple_load_result(watch.load);
    push_check(watch.load, result->loaded, 0, 0);
    assert_true(watch.documents && watch.calls && box_count(lab->box, TARGET, NULL));
    tipple_load_destroy(watch.load);
    tipple_load_t *load = begin(lab, "rows");
    push_all(load, 0, rows, 65536);
    push_finish(load, 0);
    assert_int_equal(tipple_load_result(load)->read + tipple_load_result(load)->records_skipped, rows);
    assert_int_equal(box_count(lab->box, TARGET, NULL), rows);
    tipple_load_destroy(load);
}

static void *cancel_soon(void *load) {
    nap(200);
    tipple_load_cancel(load);
    return NULL;
}

/* Another thread cancels while this one waits in finish, for a server that is away. */
TEST(cancel_by_thread) {
    pthread_t thread;
    tipple_error_t error;
    push_write_format();
    tipple_load_t *load = push_load("mongodb://127.0.0.1:1/d.c", "format", "./rows.yaml", "input-name", "x",
                                    "patience", "20s", NULL);
    assert_true(tipple_load_push(load, "n,w\n1,a\n", 8, &error));
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, load), 0);
    push_finish(load, 130);
    pthread_join(thread, NULL);
    push_check(load, 0, 0, 0);
    tipple_load_destroy(load);
}

/* A load that is destroyed in the middle is none that was finished: its last line is not a whole record. */
LAB_TEST(destroyed, lab_open(lab)) {
    tipple_error_t error;
    size_t length;
    char *text = push_rows(0, 3, &length);
    for (size_t cut = 0; cut < length; cut += 3) {
        tipple_load_t *load = begin(lab, "rows");
        assert_true(tipple_load_push(load, text, cut, &error));
        nap(20);
        tipple_load_destroy(load);
        assert_int_equal(box_count(lab->box, "d.c.tipple.files", "{\"pieces.0.complete\": 1}"), 0);
    }
    tipple_load_t *load = begin(lab, "rows");
    assert_true(tipple_load_push(load, text, length, &error));
    push_finish(load, 0);
    assert_int_equal(box_count(lab->box, TARGET, NULL), 3);
    tipple_load_destroy(load);
    tipple_load_destroy(NULL);
    free(text);
}

/* ---- several at once ---- */

typedef struct {
    char uri[BOX_URI];
    const char *name;
    int from, rows;
    bool cancelled;
    _Atomic int heard;
} many_t;

static void hear(void *context, int level, const char *line) {
    many_t *one = context;
    assert_true(level >= 0 && level <= 3);
    assert_null(strchr(line, '\n'));
    one->heard++;
}

static void *load_one(void *context) {
    many_t *one = context;
    tipple_error_t error;
    size_t length;
    char *text = push_rows(one->from, one->from + one->rows, &length);
    tipple_load_t *load =
        push_load(one->uri, "format", "./rows.yaml", "input-name", one->name, "threads", "2", NULL);
    assert_true(tipple_load_on_log(load, hear, one, &error));
    if (one->cancelled)
        tipple_load_cancel(load);
    push_pieces(load, text, length, 333, &error);
    push_finish(load, one->cancelled ? 130 : 0);
    push_check(load, one->cancelled ? 0 : (uint64_t)one->rows, 0, 0);
    tipple_load_destroy(load);
    free(text);
    return NULL;
}

/* Who listens no longer hears nothing more, however long the load goes on. */
LAB_TEST(listens_no_longer, lab_open(lab)) {
    tipple_error_t error;
    many_t one = {.heard = 0};
    watch_t watch = {.load = begin(lab, "rows")};
    assert_true(tipple_load_on_progress(watch.load, on_progress, &watch, &error));
    assert_true(tipple_load_on_log(watch.load, hear, &one, &error));
    push_all(watch.load, 0, ROWS, 65536);
    while (!watch.calls || !one.heard)
        nap(10);
    assert_true(tipple_load_on_progress(watch.load, NULL, NULL, &error));
    assert_true(tipple_load_on_log(watch.load, NULL, NULL, &error));
    const uint64_t calls = watch.calls;
    const int lines = one.heard;
    nap(300); /* longer than progress is apart */
    assert_true(tipple_load_push(watch.load, "1,b,c\n", 6, &error));
    push_finish(watch.load, 2);
    assert_int_equal(watch.calls, calls);
    assert_int_equal(one.heard, lines);
    tipple_load_destroy(watch.load);
}

/* Two into one collection, one into another, and one that is cancelled: nobody stops, or hears, another's. */
LAB_TEST(at_once, lab_open(lab)) {
    enum { LOADS = 4 };
    many_t loads[LOADS] = {{.name = "a", .from = 0, .rows = ROWS},
                           {.name = "b", .from = ROWS, .rows = ROWS},
                           {.name = "a", .from = 0, .rows = ROWS},
                           {.name = "c", .from = 0, .rows = ROWS, .cancelled = true}};
    pthread_t threads[LOADS];
    for (int i = 0; i < LOADS; i++) {
        box_uri(lab->box, i == 2 ? "d.other" : TARGET, loads[i].uri);
        assert_int_equal(pthread_create(&threads[i], NULL, load_one, &loads[i]), 0);
    }
    for (int i = 0; i < LOADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(box_count(lab->box, TARGET, NULL), 2 * ROWS);
    assert_int_equal(box_count(lab->box, "d.other", NULL), ROWS);
    assert_true(loads[0].heard && loads[1].heard && loads[2].heard);
}

/* ---- a host's own ---- */

/* Handlers and stderr are the host's, and a signal is handled by a thread of the host, however long it takes. */
static pthread_t host;
static atomic_int elsewhere, signals;

static void on_signal(int number) {
    (void)number;
    signals++;
    elsewhere += !pthread_equal(pthread_self(), host);
}

TEST(host) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGALRM, SIGUSR1};
    enum { NUMBERS = sizeof numbers / sizeof *numbers };
    lab_t lab;
    tipple_error_t error;
    size_t length;
    struct sigaction before[NUMBERS];
    sigset_t all, usual;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &usual); /* in the box, too */
    lab_open(&lab);
    pthread_sigmask(SIG_SETMASK, &usual, NULL);
    host = pthread_self();
    for (int i = 0; i < NUMBERS; i++)
        sigaction(numbers[i], &(struct sigaction){.sa_handler = on_signal, .sa_flags = SA_RESTART},
                  &before[i]);
    static ear_t out, err;
    listen_to(&out, STDOUT_FILENO);
    listen_to(&err, STDERR_FILENO);
    char *text = push_rows(0, ROWS, &length);
    tipple_load_t *load = begin(&lab, "rows");
    size_t left = push_pieces(load, text, length / 2, 100, &error);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    for (int i = 0; i < NUMBERS; i++)
        kill(getpid(), numbers[i]);
    left += push_pieces(load, text + length / 2, length - length / 2, 100, &error);
    const bool ok = tipple_load_finish(load, &error);
    pthread_sigmask(SIG_SETMASK, &usual, NULL);
    assert_string_equal(heard(&err), "");
    assert_string_equal(heard(&out), "");
    for (int i = 0; i < NUMBERS; i++) {
        struct sigaction now;
        sigaction(numbers[i], &before[i], &now);
        assert_ptr_equal(now.sa_handler, on_signal);
    }
    assert_true(ok && !left);
    assert_int_equal(signals, NUMBERS);
    assert_int_equal(elsewhere, 0);
    tipple_load_destroy(load);
    free(text);
    box_stop(lab.box);
}
