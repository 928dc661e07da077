/* shim: what goes wrong below tipple, on request. LD_PRELOADed by tests/fault into tipple alone, never
 * linked.
 *
 *     TIPPLE_SHIM_READ=DEVICE:INODE:FROM:TO   these bytes of that file cannot be read (EIO)
 *     TIPPLE_SHIM_CLOCK=FILE                  16 bytes that the test maps and changes while tipple runs:
 *                                             int64 shift_ns    added to CLOCK_REALTIME
 *                                             int64 stopped     not 0: CLOCK_MONOTONIC stands still
 *     TIPPLE_SHIM_SITES=FILE                  at the end: "SITE COUNT" of each place in tipple that allocates
 *     TIPPLE_SHIM_FAIL=SITE:N[:on]            the N-th allocation of this place fails; on: and all after it
 *
 * A place is where a call returns to, counted from where the program was loaded to, and only places in the
 * program itself count: the driver's library ends the process when memory is short, and is left alone. Opened
 * files and folders and new threads are allocations, too. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SHIM __attribute__((visibility("default")))
/* The next library's function, looked up at the first call; two threads find the same. */
#define REAL(result, name, ...)                                                                              \
    static result (*real_##name)(__VA_ARGS__);                                                               \
    if (!real_##name)                                                                                        \
    *(void **)&real_##name = dlsym(RTLD_NEXT, #name)

/* ---- settings ---- */

static struct {
    unsigned long long device, inode;
    off_t from, to;
    bool on;
} unreadable;

static volatile int64_t *clocks; /* shift_ns, stopped */

static struct {
    uintptr_t base, end; /* of the program, once it is known */
    const char *report;
    bool on, from_then_on;
    uintptr_t site;
    uint64_t number;
    atomic_bool has_failed;
} memory;

/* ---- reading ---- */

static bool has_unreadable(int fd, off_t at, off_t end) {
    struct stat status;
    return unreadable.on && at < unreadable.to && end > unreadable.from && fstat(fd, &status) == 0 &&
           status.st_dev == unreadable.device && status.st_ino == unreadable.inode;
}

/* Up to the bad place everything is read. */
static ssize_t read_at(int fd, void *out, size_t size, off_t at, bool moves) {
    const off_t end = at + (off_t)(size < INT32_MAX ? size : INT32_MAX);
    if (has_unreadable(fd, at, end)) {
        if (at >= unreadable.from) {
            errno = EIO;
            return -1;
        }
        size = (size_t)(unreadable.from - at);
    }
    return moves ? syscall(SYS_read, fd, out, size) : syscall(SYS_pread64, fd, out, size, at);
}

SHIM ssize_t pread(int fd, void *out, size_t size, off_t at) {
    return read_at(fd, out, size, at, false);
}

SHIM ssize_t pread64(int fd, void *out, size_t size, off64_t at) {
    return read_at(fd, out, size, at, false);
}

SHIM ssize_t read(int fd, void *out, size_t size) {
    const off_t at = unreadable.on ? lseek(fd, 0, SEEK_CUR) : -1;
    return at < 0 ? syscall(SYS_read, fd, out, size) : read_at(fd, out, size, at, true);
}

/* ---- clocks ---- */

enum { SECOND_NS = 1000000000, LOOK_NS = 20000000 };

static int64_t in_ns(const struct timespec *time) {
    return time->tv_sec * SECOND_NS + time->tv_nsec;
}

static struct timespec as_time(int64_t ns) {
    return (struct timespec){.tv_sec = ns / SECOND_NS, .tv_nsec = ns % SECOND_NS};
}

static int64_t real_ns(clockid_t id) {
    struct timespec time;
    syscall(SYS_clock_gettime, id, &time);
    return in_ns(&time);
}

/* Monotonic time stands while it is stopped, and resumes from there. */
static int64_t monotonic_ns(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int64_t since, lost;
    pthread_mutex_lock(&lock);
    int64_t now = real_ns(CLOCK_MONOTONIC);
    if (clocks[1] && !since)
        since = now;
    if (!clocks[1] && since) {
        lost += now - since;
        since = 0;
    }
    now = (since ? since : now) - lost;
    pthread_mutex_unlock(&lock);
    return now;
}

static int64_t now_ns(clockid_t id) {
    return id == CLOCK_REALTIME    ? real_ns(id) + clocks[0]
           : id == CLOCK_MONOTONIC ? monotonic_ns()
                                   : real_ns(id);
}

SHIM int clock_gettime(clockid_t id, struct timespec *time) {
    if (!clocks)
        return (int)syscall(SYS_clock_gettime, id, time);
    struct timespec real;
    if (syscall(SYS_clock_gettime, id, &real) != 0) /* also for what is wrong with id */
        return -1;
    *time = as_time(id == CLOCK_REALTIME || id == CLOCK_MONOTONIC ? now_ns(id) : in_ns(&real));
    return 0;
}

SHIM int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    const int64_t ns = real_ns(CLOCK_REALTIME) + (clocks ? clocks[0] : 0);
    *time = (struct timeval){.tv_sec = ns / SECOND_NS, .tv_usec = ns % SECOND_NS / 1000};
    return 0;
}

SHIM time_t time(time_t *out) {
    const time_t now = (real_ns(CLOCK_REALTIME) + (clocks ? clocks[0] : 0)) / SECOND_NS;
    if (out)
        *out = now;
    return now;
}

/* Who waits until a time waits by the clock that the test moves, also while it waits: in small pieces. Which
 * of the clocks is meant can be seen, as one counts from 1970 and the other from the machine's start. */
static int wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until) {
    REAL(int, pthread_cond_clockwait, pthread_cond_t *, pthread_mutex_t *, clockid_t,
         const struct timespec *);
    const int64_t due = in_ns(until);
    const bool wall = llabs(due - now_ns(CLOCK_REALTIME)) < llabs(due - now_ns(CLOCK_MONOTONIC));
    for (;;) {
        const int64_t left = due - now_ns(wall ? CLOCK_REALTIME : CLOCK_MONOTONIC);
        if (left <= 0)
            return ETIMEDOUT;
        const struct timespec piece = as_time(real_ns(CLOCK_MONOTONIC) + (left < LOOK_NS ? left : LOOK_NS));
        const int waited = real_pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &piece);
        if (waited != ETIMEDOUT)
            return waited;
    }
}

SHIM int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                                const struct timespec *restrict until) {
    static int (*real)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    if (!real) { /* not the one of another kind of conditions, which is kept for programs of old */
        void *found = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
        *(void **)&real = found ? found : dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    }
    return clocks ? wait_until(condition, mutex, until) : real(condition, mutex, until);
}

/* ---- memory ---- */

enum { MOST_SITES = 4096 };

static struct {
    _Atomic uintptr_t site;
    _Atomic uint64_t count;
} sites[MOST_SITES];

static uint64_t count_call(uintptr_t site) {
    for (size_t i = site % MOST_SITES;; i = (i + 1) % MOST_SITES) {
        uintptr_t there = 0;
        if (sites[i].site == site || atomic_compare_exchange_strong(&sites[i].site, &there, site) ||
            there == site)
            return ++sites[i].count;
    }
}

/* Is this the allocation that fails? */
static bool fails(const void *caller) {
    const uintptr_t at = (uintptr_t)caller;
    if ((!memory.on && !memory.report) || at < memory.base || at >= memory.end)
        return false;
    const uint64_t number = count_call(at - memory.base);
    if (memory.on && ((at - memory.base == memory.site && number == memory.number) ||
                      (memory.from_then_on && memory.has_failed))) {
        memory.has_failed = true;
        errno = ENOMEM;
        return true;
    }
    return false;
}

#define CALLER __builtin_return_address(0)

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

SHIM void *malloc(size_t size) {
    return fails(CALLER) ? NULL : __libc_malloc(size);
}

SHIM void *calloc(size_t count, size_t size) {
    return fails(CALLER) ? NULL : __libc_calloc(count, size);
}

SHIM void *realloc(void *old, size_t size) {
    return fails(CALLER) ? NULL : __libc_realloc(old, size);
}

SHIM void *aligned_alloc(size_t alignment, size_t size) {
    return fails(CALLER) ? NULL : __libc_memalign(alignment, size);
}

SHIM char *strdup(const char *text) {
    const size_t size = strlen(text) + 1;
    char *copy = fails(CALLER) ? NULL : __libc_malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

SHIM char *strndup(const char *text, size_t most) {
    const size_t length = strnlen(text, most);
    char *copy = fails(CALLER) ? NULL : __libc_calloc(1, length + 1);
    return copy ? memcpy(copy, text, length) : NULL;
}

SHIM FILE *fopen(const char *restrict path, const char *restrict mode) {
    REAL(FILE *, fopen, const char *, const char *);
    return fails(CALLER) ? NULL : real_fopen(path, mode);
}

SHIM DIR *opendir(const char *path) {
    REAL(DIR *, opendir, const char *);
    return fails(CALLER) ? NULL : real_opendir(path);
}

SHIM int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                        void *(*run)(void *), void *restrict context) {
    REAL(int, pthread_create, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    return fails(CALLER) ? EAGAIN : real_pthread_create(thread, attributes, run, context);
}

/* ---- begin and end ---- */

static int look_at_program(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size, (void)context;
    memory.base = info->dlpi_addr;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && memory.base + part->p_vaddr + part->p_memsz > memory.end)
            memory.end = memory.base + part->p_vaddr + part->p_memsz;
    }
    return 1; /* the program is the first */
}

__attribute__((constructor)) static void begin(void) {
    const char *read_what = getenv("TIPPLE_SHIM_READ"), *clock_file = getenv("TIPPLE_SHIM_CLOCK"),
               *fail_what = getenv("TIPPLE_SHIM_FAIL");
    long long from, to;
    if (read_what &&
        sscanf(read_what, "%llu:%llu:%lld:%lld", &unreadable.device, &unreadable.inode, &from, &to) == 4) {
        unreadable.from = from;
        unreadable.to = to;
        unreadable.on = true;
    }
    if (clock_file) {
        const int fd = open(clock_file, O_RDONLY | O_CLOEXEC);
        void *map = mmap(NULL, 2 * sizeof *clocks, PROT_READ, MAP_SHARED, fd, 0);
        close(fd);
        if (map == MAP_FAILED)
            abort();
        clocks = map;
    }
    dl_iterate_phdr(look_at_program, NULL);
    char more[4] = "";
    if (fail_what &&
        sscanf(fail_what, "%" SCNuPTR ":%" SCNu64 ":%3s", &memory.site, &memory.number, more) >= 2) {
        memory.from_then_on = strcmp(more, "on") == 0;
        memory.on = true;
    }
    memory.report = getenv("TIPPLE_SHIM_SITES");
}

__attribute__((destructor)) static void end(void) {
    const int fd = memory.report ? open(memory.report, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
    for (size_t i = 0; fd >= 0 && i < MOST_SITES; i++)
        if (sites[i].count)
            dprintf(fd, "%" PRIuPTR " %" PRIu64 "\n", (uintptr_t)sites[i].site, (uint64_t)sites[i].count);
    if (fd >= 0)
        close(fd);
}
