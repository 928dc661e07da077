/* course: how a load went: when each of its phases began and how long it took, and how far it had come at
 * moments between. Bounded: a long load is remembered as closely as a picture of it can show. Main thread. */
#ifndef TIPPLE_LOAD_COURSE_H
#define TIPPLE_LOAD_COURSE_H

#include <stddef.h>
#include <stdint.h>

/* In the order in which they come. */
typedef enum {
    COURSE_LOOKING, /* at files, server and catalog; also between the others */
    COURSE_DROPPING,
    COURSE_CREATING,
    COURSE_PLACING, /* ranges of the key over the shards, and the map of them */
    COURSE_LOADING,
    COURSE_INDEXES,
    COURSE_CLOSING, /* balancing as it was, the run's entry in the catalog */
    COURSE_PHASES,
} course_phase_t;

enum { COURSE_MOST_POINTS = 512, COURSE_MOST_VISITS = 16 };

/* All moments are counted from course_begin. */
typedef struct {
    int64_t began_ns, took_ns; /* a phase that did not come took nothing */
} course_span_t;

typedef struct {
    course_phase_t phase;
    course_span_t span;
} course_visit_t;

typedef struct {
    int64_t at_ns;
    uint64_t documents, bytes; /* loaded or already there; read from disk */
} course_point_t;

/* Who is told when a phase is entered; entered NULL: nobody. */
typedef struct {
    void (*entered)(void *context, course_phase_t phase);
    void *context;
} course_told_t;

typedef struct {
    course_span_t phases[COURSE_PHASES];       /* since it first began; the sum of its visits */
    course_visit_t visits[COURSE_MOST_VISITS]; /* one after the other; the last ones are dropped */
    size_t visit_count;
    course_point_t points[COURSE_MOST_POINTS]; /* of the loading phase */
    size_t point_count;
    int64_t every_ns; /* between points, at least */
    int64_t origin_ns, entered_ns;
    course_phase_t phase; /* the one that goes on; COURSE_PHASES: none */
    course_told_t told;
} course_t;

void course_begin(course_t *course); /* in COURSE_LOOKING */
void course_enter(course_t *course, course_phase_t phase);
void course_end(course_t *course);

/* Where it stands; dropped if the last point is too near. The last one of all is kept in any case. */
void course_point(course_t *course, uint64_t documents, uint64_t bytes);
void course_last_point(course_t *course, uint64_t documents, uint64_t bytes);

const char *course_phase_name(course_phase_t phase); /* "loading" */

#endif
