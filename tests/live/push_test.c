/* Programs that push are killed, each somewhere else; another one pushes the same again, and every record is there once.
 * needs: replset; nightly on: standalone; quick: yes */
#include "live_lab.h"
#include "push_lab.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum { ROWS = 60000, KILLS = 6, PIECE = 1000 };

static char uri[600];

static void nap(long milliseconds) {
    nanosleep(&(struct timespec){.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000},
              NULL);
}

static tipple_load_t *begin(void) {
    return push_load(uri, "format", "./rows.yaml", "input-name", "rows", "threads", "2", "batch", "100",
                     NULL);
}

/* In a process of its own, slowly enough to be killed in the middle. */
static pid_t push_in_child(const char *text, size_t length) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child)
        return child;
    tipple_error_t error;
    tipple_load_t *load = begin();
    for (size_t at = 0; at < length; at += PIECE) {
        if (!tipple_load_push(load, text + at, length - at < PIECE ? length - at : PIECE, &error))
            _exit(1);
        nap(2);
    }
    nap(60000);
    _exit(0);
}

/* How many documents, and the sum of their numbers. */
static int64_t ask(const char *what) {
    mongoc_collection_t *collection = mongoc_client_get_collection(client, database, "rows");
    bson_t *pipeline = BCON_NEW("0", "{", "$group", "{", "_id", BCON_NULL, "count", "{", "$sum",
                                BCON_INT64(1), "}", "sum", "{", "$sum", "$n", "}", "}", "}");
    mongoc_cursor_t *cursor =
        mongoc_collection_aggregate(collection, MONGOC_QUERY_NONE, pipeline, NULL, NULL);
    const bson_t *answer;
    bson_iter_t at;
    int64_t number = 0;
    if (mongoc_cursor_next(cursor, &answer) && bson_iter_init_find(&at, answer, what))
        number = bson_iter_as_int64(&at);
    mongoc_cursor_destroy(cursor);
    bson_destroy(pipeline);
    mongoc_collection_destroy(collection);
    return number;
}

TEST(killed) {
    size_t length;
    tipple_error_t error;
    char *text = push_rows(0, ROWS, &length);
    push_write_format();
    live_uri(uri, "rows");
    for (int i = 0; i < KILLS; i++) {
        int status;
        const pid_t child = push_in_child(text, length);
        nap(100 + 350 * i);
        while (i + 1 == KILLS && !ask("count")) /* a slow machine may not have come to that yet */
            nap(20);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status)); /* none had ended before */
    }
    tipple_load_t *load = begin();
    assert_int_equal(push_pieces(load, text, length, 64 * 1024, &error), 0);
    push_finish(load, 0);
    const tipple_result_t *result = tipple_load_result(load);
    push_check(load, result->loaded, result->already_there, 0);
    assert_int_equal(result->read + result->records_skipped, ROWS);
    assert_true(result->already_there + result->records_skipped >
                0);                  /* the killed ones had loaded something */
    assert_true(result->loaded > 0); /* and not everything */
    tipple_load_destroy(load);
    assert_int_equal(ask("count"), ROWS);
    assert_int_equal(ask("sum"), (int64_t)ROWS * (ROWS - 1) / 2);
    free(text);
}
