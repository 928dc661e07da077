#include "base/log.h"
#include "base/stop.h"
#include "cli/options/cli.h"
#include "input/remote/remote.h"
#include "server/server.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <mongoc/mongoc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LARGE = 8 << 20 };

extern const command_t command_load, command_verify, command_query, command_status, command_tune,
    command_drill, command_parse, command_formats, command_generate, command_where, command_forget,
    command_completion, command_help;

const command_t *const cli_commands[] = {&command_load,     &command_parse,
                                         &command_formats,  &command_verify,
                                         &command_status,   &command_where,
                                         &command_forget,   &command_tune,
                                         &command_drill,    &command_query,
                                         &command_generate, &command_completion,
                                         &command_help,     NULL};

/* The driver has put its counters into shared memory when it was loaded. Their name goes at once: a process
 * that is killed would leave it there, for a later one of the same number to stumble over. */
static void forget_shared_counters(void) {
    char name[32];
    snprintf(name, sizeof name, "/mongoc-%u", (unsigned)getpid());
    shm_unlink(name);
}

/* A stream that was closed by whoever started us must not become some file's or connection's number. Writing
 * to such a stdout fails, as it should, and so does reading from such a stdin. */
static void fill_closed_streams(void) {
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", fd == 1 ? O_RDONLY : O_WRONLY) < 0)
            _exit(STATUS_HOST);
}

/* The end of the process: what went wrong is said, and a signal is passed on to the shell. */
static int leave(int status, const err_t *err) {
    const bool nothing_wrong =
        status == STATUS_OK || status == STATUS_SOME_REJECTED || status == STATUS_READER_GONE;
    if (err->text[0] && !nothing_wrong)
        log_error("%s", err->text);
    if (status >= 128)
        stop_die(status == STATUS_INTERRUPTED && stop_signal() ? stop_signal() : status - 128);
    server_end_process(status);
    return status;
}

static void *sure(void *memory, size_t bytes) {
    if (!memory && bytes)
        err_end_without_memory(bytes);
    return memory;
}

static void *guarded_malloc(size_t bytes) {
    return sure(malloc(bytes), bytes);
}

static void *guarded_calloc(size_t count, size_t bytes) {
    return sure(calloc(count, bytes), count && bytes ? count * bytes : 0);
}

static void *guarded_realloc(void *old, size_t bytes) {
    return sure(realloc(old, bytes), bytes);
}

static void *guarded_aligned(size_t alignment, size_t bytes) {
    return sure(aligned_alloc(alignment, bytes), bytes);
}

/* What large documents took is given back at once: the allocator would keep it, in each of the threads. What usual batches take
 * is kept. */
static void give_back_large(void) {
    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_TRIM_THRESHOLD, 2 * LARGE);
}

/* When the driver gets no memory it calls abort(); it cannot return a failure. Here the process ends with a sentence and status 8
 * instead. For the catalog this is a kill, which may come at any moment. A library must not decide this for the program that uses
 * it. Called before anything else uses the driver. */
static void guard_driver(void) {
    static const bson_mem_vtable_t guarded = {.malloc = guarded_malloc,
                                              .calloc = guarded_calloc,
                                              .realloc = guarded_realloc,
                                              .free = free,
                                              .aligned_alloc = guarded_aligned};
    bson_mem_set_vtable(&guarded);
}

int main(int argc, char **argv) {
    fill_closed_streams();
    guard_driver();
    give_back_large();
    forget_shared_counters();
    for (int i = 1; i < argc; i++) /* ps shows them */
        remote_hide(argv[i]);
    if (argc < 2) {
        cli_print_help(NULL);
        return STATUS_USAGE;
    }
    const char *word = argv[1];
    err_t err = {.text = ""};
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        word = "help";
    const bool version = strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0;
    if (version) /* tipple help --version */
        word = "help";
    const command_t *command = cli_find_command(word, &err);
    int status = STATUS_USAGE;
    if (command) {
        stop_install();
        if (load_options_find("uri", command->takes)) { /* it talks to a server */
            /* nobody reads the driver's shared counters, and a killed process would leave their file */
            setenv("MONGOC_DISABLE_SHM", "1", 0);
            mongoc_log_set_handler(NULL, NULL);
            mongoc_init();
        }
        const int taken = version ? 1 : 2;
        status = cli_run(command, argc - taken, argv + taken, &err);
    }
    return leave(status, &err);
}
