#include "load/spec/timeline.h"
#include "base/clock.h"

static const int64_t FIRST_EVERY_NS = 100000000;

void timeline_begin(timeline_t *course) {
    *course = (timeline_t){.every_ns = FIRST_EVERY_NS, .origin_ns = clock_now_ns(), .phase = TIMELINE_PHASES};
    timeline_enter(course, TIMELINE_LOOKING);
}

void timeline_enter(timeline_t *course, timeline_phase_t phase) {
    timeline_end(course);
    course->entered_ns = clock_now_ns();
    course->phase = phase;
    if (!course->phases[phase].took_ns)
        course->phases[phase].began_ns = course->entered_ns - course->origin_ns;
    if (course->told.entered)
        course->told.entered(course->told.context, phase);
}

void timeline_end(timeline_t *course) {
    if (course->phase < TIMELINE_PHASES) {
        const int64_t took_ns = clock_now_ns() - course->entered_ns;
        course->phases[course->phase].took_ns += took_ns;
        if (course->visit_count < TIMELINE_MOST_VISITS)
            course->visits[course->visit_count++] =
                (timeline_visit_t){course->phase, {course->entered_ns - course->origin_ns, took_ns}};
    }
    course->phase = TIMELINE_PHASES;
}

/* Every second one goes, and from now on there are half as many. */
static void thin_out(timeline_t *course) {
    for (size_t i = 1; 2 * i < course->point_count; i++)
        course->points[i] = course->points[2 * i];
    course->point_count = (course->point_count + 1) / 2;
    course->every_ns *= 2;
}

void timeline_last_point(timeline_t *course, uint64_t documents, uint64_t bytes) {
    if (course->point_count == TIMELINE_MOST_POINTS)
        thin_out(course);
    course->points[course->point_count++] =
        (timeline_point_t){clock_now_ns() - course->origin_ns, documents, bytes};
}

void timeline_point(timeline_t *course, uint64_t documents, uint64_t bytes) {
    const timeline_point_t *last = course->point_count ? &course->points[course->point_count - 1] : NULL;
    if (!last || clock_now_ns() - course->origin_ns - last->at_ns >= course->every_ns)
        timeline_last_point(course, documents, bytes);
}

const char *timeline_phase_name(timeline_phase_t phase) {
    static const char *const names[TIMELINE_PHASES] = {
        [TIMELINE_LOOKING] = "looking at files, server and catalog",
        [TIMELINE_DROPPING] = "dropping what was there",
        [TIMELINE_CREATING] = "creating the collection",
        [TIMELINE_PLACING] = "placing it over the shards",
        [TIMELINE_LOADING] = "loading",
        [TIMELINE_INDEXES] = "indexes",
        [TIMELINE_CLOSING] = "writing down how the load ended"};
    return names[phase];
}
