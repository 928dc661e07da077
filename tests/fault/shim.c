/* shim: what goes wrong below tipple, on request. LD_PRELOADed by tests/fault into tipple alone, never
 * linked.
 *
 *     TIPPLE_SHIM_READ=DEVICE:INODE:FROM:TO   these bytes of that file cannot be read (EIO)
 *     TIPPLE_SHIM_CLOCK=FILE                  16 bytes that the test maps and changes while tipple runs:
 *                                             int64 shift_ns    added to CLOCK_REALTIME
 *                                             int64 stopped     not 0: CLOCK_MONOTONIC stands still */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

/* ---- begin ---- */

__attribute__((constructor)) static void begin(void) {
    const char *read_what = getenv("TIPPLE_SHIM_READ"), *clock_file = getenv("TIPPLE_SHIM_CLOCK");
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
}
