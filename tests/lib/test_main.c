/* The main of test programs: runs the tests that were registered (test.h), file by file.
 *
 *   core [NAME ...]    the tests of test_NAME.c, or all of them
 *   core --list        the names
 *
 * The tests of each file run in a process of their own, because some of what they set belongs to the process: the level of
 * the log, handlers of signals, environment variables, the peak of memory. They run with the driver initialized and its
 * log silent, in a folder of their own that is in memory where that is possible, since nothing here tests a disk. */
#include "server/server_inner.h"
#include "test.h"

#include <ftw.h>
#include <mongoc/mongoc.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Under AddressSanitizer a request that cannot be met is answered as it is elsewhere, and is no mistake. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}

enum { MOST_GROUPS = 300, MOST_TESTS = 100, LONGEST_NAME = 60 };

typedef struct {
    char name[LONGEST_NAME];
    CMFixtureFunction set_up, tear_down, each_set_up, each_tear_down;
    struct CMUnitTest tests[MOST_TESTS];
    size_t count;
} group_t;

static group_t groups[MOST_GROUPS];
static size_t group_count;

/* The group of a file .../test_NAME.c, made where it is new. */
static group_t *group_of(const char *file) {
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    char name[LONGEST_NAME];
    snprintf(name, sizeof name, "%s", strncmp(base, "test_", 5) == 0 ? base + 5 : base);
    name[strcspn(name, ".")] = '\0';
    for (size_t i = 0; i < group_count; i++)
        if (strcmp(groups[i].name, name) == 0)
            return &groups[i];
    if (group_count == MOST_GROUPS)
        abort();
    group_t *group = &groups[group_count++];
    memcpy(group->name, name, sizeof name);
    return group;
}

void test_register(const char *file, const char *name, CMUnitTestFunction test) {
    group_t *group = group_of(file);
    if (group->count == MOST_TESTS)
        abort();
    group->tests[group->count++] = (struct CMUnitTest){.name = name, .test_func = test};
}

void test_register_group(const char *file, CMFixtureFunction set_up, CMFixtureFunction tear_down) {
    group_t *group = group_of(file);
    group->set_up = set_up;
    group->tear_down = tear_down;
}

void test_register_each(const char *file, CMFixtureFunction set_up, CMFixtureFunction tear_down) {
    group_t *group = group_of(file);
    group->each_set_up = set_up;
    group->each_tear_down = tear_down;
}

const char *test_data(const char *name) {
    static char path[1000];
    snprintf(path, sizeof path, "%s/tests/data/%s", TEST_ROOT, name);
    return path;
}

/* A tear-down that says no is a failure, which cmocka only prints. */
static group_t *running;
static int tear_downs;

static int tear_down(void **state) {
    const int result = running->tear_down(state);
    tear_downs += result != 0;
    return result;
}

static char scratch[60];
static pid_t self; /* until all tests have ended */

/* A test that exits ends the tests after it. */
static void at_exit(void) {
    if (getpid() == self)
        _exit(3);
}

static void enter_scratch(void) {
    snprintf(scratch, sizeof scratch, "%s/tipple-core-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(scratch) || chdir(scratch) != 0)
        abort();
    setenv("TMPDIR", scratch, 1);
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *where) {
    (void)about, (void)type, (void)where;
    return remove(path);
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const group_t *)a)->name, ((const group_t *)b)->name);
}

/* The exit status. */
static int run_here(group_t *group) {
    for (size_t i = 0; i < group->count; i++) {
        group->tests[i].setup_func = group->each_set_up;
        group->tests[i].teardown_func = group->each_tear_down;
    }
    mongoc_init();
    mongoc_log_set_handler(NULL, NULL);
    enter_scratch();
    self = getpid();
    atexit(at_exit);
    running = group;
    const int failed = _cmocka_run_group_tests(group->name, group->tests, group->count, group->set_up,
                                               group->tear_down ? tear_down : NULL);
    self = 0;
    if (connect_outlived) /* a thread that was on its way when the last load ended, whose server is gone by now */
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    mongoc_cleanup();
    nftw(scratch, remove_one, 20, FTW_DEPTH | FTW_PHYS);
    return failed || tear_downs;
}

static bool passes_apart(char *program, group_t *group) {
    char *arguments[] = {program, group->name, NULL};
    int status;
    pid_t child;
    return posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) == 0 &&
           waitpid(child, &status, 0) == child && status == 0;
}

int main(int argc, char **argv) {
    group_t *wanted[MOST_GROUPS];
    int count = 0, failed = 0;
    qsort(groups, group_count, sizeof *groups, by_name);
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < group_count; i++)
            puts(groups[i].name);
        return 0;
    }
    for (size_t i = 0; i < group_count; i++) {
        bool named = argc == 1;
        for (int word = 1; word < argc; word++)
            named |= strcmp(argv[word], groups[i].name) == 0;
        if (named)
            wanted[count++] = &groups[i];
    }
    if (!count || count < argc - 1) {
        fprintf(stderr, "%s: there is no such test; --list names all\n", argv[0]);
        return 2;
    }
    setenv("TIPPLE_ROOT", TEST_ROOT, 0);
    if (count == 1)
        return run_here(wanted[0]);
    for (int i = 0; i < count; i++)
        if (!passes_apart(argv[0], wanted[i])) {
            fprintf(stderr, "%s %s failed\n", argv[0], wanted[i]->name);
            failed++;
        }
    return failed > 0;
}
