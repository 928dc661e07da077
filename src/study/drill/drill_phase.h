/* drill_phase: the phases of a drill. Those of a load are the phases of timeline.h, in the same order. */
#ifndef TIPPLE_STUDY_DRILL_DRILL_PHASE_H
#define TIPPLE_STUDY_DRILL_DRILL_PHASE_H

typedef enum {
    DRILL_LOOK,
    DRILL_DROP,
    DRILL_CREATE,
    DRILL_PLACE,
    DRILL_LOAD,
    DRILL_INDEXES,
    DRILL_CLOSE,
    DRILL_VERIFY,
    DRILL_QUERY,
    DRILL_PHASES,
} drill_phase_t;

const char *drill_phase_name(drill_phase_t phase); /* "first query" */

#endif
