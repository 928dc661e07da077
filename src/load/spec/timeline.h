/* timeline: how a load went: when each of its phases began and how long it took, and how far it had come at
 * moments between. It has a fixed size: of a long load it keeps as many moments as a picture can show. Main thread. */
#ifndef TIPPLE_LOAD_SPEC_TIMELINE_H
#define TIPPLE_LOAD_SPEC_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

/* In the order in which they come. */
typedef enum {
    TIMELINE_LOOKING, /* at files, server and catalog; also between the others */
    TIMELINE_DROPPING,
    TIMELINE_CREATING,
    TIMELINE_PLACING, /* ranges of the key over the shards, and the map of them */
    TIMELINE_LOADING,
    TIMELINE_INDEXES,
    TIMELINE_CLOSING, /* balancing as it was, the run's entry in the catalog */
    TIMELINE_PHASES,
} timeline_phase_t;

enum { TIMELINE_MOST_POINTS = 512, TIMELINE_MOST_VISITS = 16 };

/* All moments are counted from timeline_begin. */
typedef struct {
    int64_t began_ns, took_ns; /* a phase that did not come took nothing */
} timeline_span_t;

typedef struct {
    timeline_phase_t phase;
    timeline_span_t span;
} timeline_visit_t;

typedef struct {
    int64_t at_ns;
    uint64_t documents, bytes; /* loaded or already there; read from disk */
} timeline_point_t;

/* Who is told when a phase is entered; entered NULL: nobody. */
typedef struct {
    void (*entered)(void *context, timeline_phase_t phase);
    void *context;
} timeline_told_t;

typedef struct {
    timeline_span_t phases[TIMELINE_PHASES];       /* since it first began; the sum of its visits */
    timeline_visit_t visits[TIMELINE_MOST_VISITS]; /* one after the other; the last ones are dropped */
    size_t visit_count;
    timeline_point_t points[TIMELINE_MOST_POINTS]; /* of the loading phase */
    size_t point_count;
    int64_t every_ns; /* between points, at least */
    int64_t origin_ns, entered_ns;
    timeline_phase_t phase; /* the one that goes on; TIMELINE_PHASES: none */
    timeline_told_t told;
} timeline_t;

void timeline_begin(timeline_t *course); /* in TIMELINE_LOOKING */
void timeline_enter(timeline_t *course, timeline_phase_t phase);
void timeline_end(timeline_t *course);

/* Where it stands; dropped if the last point is too near. The last one of all is kept in any case. */
void timeline_point(timeline_t *course, uint64_t documents, uint64_t bytes);
void timeline_last_point(timeline_t *course, uint64_t documents, uint64_t bytes);

const char *timeline_phase_name(timeline_phase_t phase); /* "loading" */

#endif
