/* course: phases that add up, and points that stay as many as there is room for. */
#include "base/clock.h"
#include "load/spec/progress.h"
#include "test.h"

#include <time.h>

static void pause_ms(int ms) {
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL);
}

TEST(phases) {
    timeline_t course;
    int64_t began = clock_now_ns();
    timeline_begin(&course);
    pause_ms(3);
    timeline_enter(&course, TIMELINE_LOADING);
    pause_ms(2);
    timeline_enter(&course, TIMELINE_LOOKING);
    pause_ms(4);
    timeline_end(&course);
    int64_t whole = clock_now_ns() - began, sum = 0;
    for (int i = 0; i < TIMELINE_PHASES; i++)
        sum += course.took_ns[i];
    assert_true(sum >= 9000000 && sum <= whole);
    assert_true(course.took_ns[TIMELINE_LOOKING] >= 7000000);
    assert_true(course.visits[1].began_ns >= course.visits[0].began_ns + 3000000);
    assert_true(course.took_ns[TIMELINE_LOADING] >= 2000000);
    assert_int_equal(course.took_ns[TIMELINE_INDEXES], 0);
    static const timeline_phase_t came[] = {TIMELINE_LOOKING, TIMELINE_LOADING, TIMELINE_LOOKING};
    assert_int_equal(course.visit_count, 3);
    for (size_t i = 0; i < 3; i++) {
        const timeline_visit_t *visit = &course.visits[i], *before = &course.visits[i ? i - 1 : 0];
        assert_int_equal(course.visits[i].phase, came[i]);
        assert_true(!i || visit->began_ns >= before->began_ns + before->took_ns);
        sum -= visit->took_ns;
    }
    assert_int_equal(sum, 0);
    pause_ms(1);
    timeline_end(&course); /* there is none any more */
    assert_int_equal(course.visit_count, 3);
}

TEST(near_points) {
    timeline_t course;
    timeline_begin(&course);
    course.every_ns = INT64_MAX;
    timeline_point(&course, 0, 0);
    for (uint64_t i = 1; i < 10; i++)
        timeline_point(&course, i, 10 * i);
    assert_int_equal(course.point_count, 1);
    timeline_last_point(&course, 9, 90);
    assert_int_equal(course.point_count, 2);
    assert_int_equal(course.points[1].documents, 9);
    assert_int_equal(course.points[1].bytes, 90);
    course.every_ns = 1;
    pause_ms(1);
    timeline_point(&course, 11, 110);
    assert_int_equal(course.point_count, 3);
}

TEST(many_points) {
    timeline_t course;
    timeline_begin(&course);
    const int64_t every = course.every_ns;
    for (uint64_t i = 0; i <= 512; i++)
        timeline_last_point(&course, i, 2 * i);
    assert_int_equal(course.point_count, 257);
    assert_true(course.every_ns == 2 * every);
    for (size_t i = 0; i < 256; i++)
        assert_int_equal(course.points[i].documents, 2 * i);
    assert_int_equal(course.points[256].documents, 512);
    for (size_t i = 1; i < course.point_count; i++)
        assert_true(course.points[i].at_ns >= course.points[i - 1].at_ns);
}
