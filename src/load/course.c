#include "load/course.h"
#include "base/clock.h"

static const int64_t FIRST_EVERY_NS = 100000000;

void course_begin(course_t *course) {
    *course = (course_t){.every_ns = FIRST_EVERY_NS, .origin_ns = clock_now_ns(), .phase = COURSE_PHASES};
    course_enter(course, COURSE_LOOKING);
}

void course_enter(course_t *course, course_phase_t phase) {
    course_end(course);
    course->entered_ns = clock_now_ns();
    course->phase = phase;
    if (!course->phases[phase].took_ns)
        course->phases[phase].began_ns = course->entered_ns - course->origin_ns;
    if (course->told.entered)
        course->told.entered(course->told.context, phase);
}

void course_end(course_t *course) {
    if (course->phase < COURSE_PHASES) {
        const int64_t took_ns = clock_now_ns() - course->entered_ns;
        course->phases[course->phase].took_ns += took_ns;
        if (course->visit_count < COURSE_MOST_VISITS)
            course->visits[course->visit_count++] =
                (course_visit_t){course->phase, {course->entered_ns - course->origin_ns, took_ns}};
    }
    course->phase = COURSE_PHASES;
}

/* Every second one goes, and from now on there are half as many. */
static void thin_out(course_t *course) {
    for (size_t i = 1; 2 * i < course->point_count; i++)
        course->points[i] = course->points[2 * i];
    course->point_count = (course->point_count + 1) / 2;
    course->every_ns *= 2;
}

void course_last_point(course_t *course, uint64_t documents, uint64_t bytes) {
    if (course->point_count == COURSE_MOST_POINTS)
        thin_out(course);
    course->points[course->point_count++] =
        (course_point_t){clock_now_ns() - course->origin_ns, documents, bytes};
}

void course_point(course_t *course, uint64_t documents, uint64_t bytes) {
    const course_point_t *last = course->point_count ? &course->points[course->point_count - 1] : NULL;
    if (!last || clock_now_ns() - course->origin_ns - last->at_ns >= course->every_ns)
        course_last_point(course, documents, bytes);
}

const char *course_phase_name(course_phase_t phase) {
    static const char *const names[COURSE_PHASES] = {
        [COURSE_LOOKING] = "looking", [COURSE_DROPPING] = "dropping", [COURSE_CREATING] = "creating",
        [COURSE_PLACING] = "placing", [COURSE_LOADING] = "loading",   [COURSE_INDEXES] = "indexes",
        [COURSE_CLOSING] = "closing"};
    return names[phase];
}
