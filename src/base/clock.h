/* clock: elapsed time and used CPU, in nanoseconds. */
#ifndef TIPPLE_BASE_CLOCK_H
#define TIPPLE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_from_timespec(struct timespec time) {
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static inline struct timespec clock_to_timespec(int64_t ns) {
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

static inline int64_t clock_ns(clockid_t id) {
    struct timespec time;
    clock_gettime(id, &time);
    return clock_from_timespec(time);
}

/* Monotonic: for durations. */
static inline int64_t clock_now_ns(void) {
    return clock_ns(CLOCK_MONOTONIC);
}

/* Monotonic too, but it also counts while the machine sleeps: for how long others have not heard from this process. */
static inline int64_t clock_awake_or_not_ns(void) {
    return clock_ns(CLOCK_BOOTTIME);
}

/* user + sys of the whole process. */
static inline int64_t clock_process_cpu_ns(void) {
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Milliseconds since 1970: for records of when something happened, never for durations. */
static inline int64_t clock_wall_ms(void) {
    return clock_ns(CLOCK_REALTIME) / 1000000;
}

#endif
