/* Pushes a CSV file from stdin into a collection, in pieces:
 *     cc push.c -o push $(pkg-config --cflags --libs tipple)
 *     ./push mongodb://127.0.0.1/shop.orders orders < orders.csv
 * The second word is the name by which the stream is known: a run that was killed is completed by the same command. */
#include <signal.h>
#include <stdio.h>
#include <tipple/tipple.h>

static tipple_load_t *load;

static void on_interrupt(int number) {
    (void)number;
    tipple_load_cancel(load);
}

static void on_log(void *context, int level, const char *line) {
    (void)context;
    if (level <= 2)
        fprintf(stderr, "%s\n", line);
}

int main(int argc, char **argv) {
    static char piece[64 * 1024];
    tipple_error_t error = {0, ""};
    size_t length;
    if (argc != 3) {
        fprintf(stderr, "usage: push URI NAME < FILE\n");
        return 1;
    }
    load = tipple_load_new(argv[1], &error);
    int ok = load && tipple_load_set(load, "input-name", argv[2], &error) &&
             tipple_load_on_log(load, on_log, NULL, &error);
    signal(SIGINT, on_interrupt);
    while (ok && (length = fread(piece, 1, sizeof piece, stdin)) > 0)
        ok = tipple_load_push(load, piece, length, &error);
    if (ok && ferror(stdin)) {
        fprintf(stderr,
                "stdin cannot be read\n"); /* the load is not finished: nothing says that it is whole */
        ok = 0;
    } else if (ok) {
        ok = tipple_load_finish(load, &error);
    }
    const tipple_result_t *result = tipple_load_result(load);
    if (result)
        printf("read %llu = loaded %llu + already there %llu + rejected %llu + filtered %llu\n",
               (unsigned long long)result->read, (unsigned long long)result->loaded,
               (unsigned long long)result->already_there, (unsigned long long)result->rejected,
               (unsigned long long)result->filtered);
    if (!ok && error.text[0])
        fprintf(stderr, "%s\n", error.text);
    tipple_load_destroy(load);
    return ok ? error.status : error.status ? error.status : 1;
}
