/* stdout_lab: what a test's own code says on stdout. */
#ifndef TIPPLE_TESTS_STDOUT_LAB_H
#define TIPPLE_TESTS_STDOUT_LAB_H

#include "test.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static int said, before;

static void listen(void) {
    fflush(stdout);
    before = dup(STDOUT_FILENO);
    said = memfd_create("said", MFD_CLOEXEC);
    dup2(said, STDOUT_FILENO);
}

static void heard(const char *expected) {
    char text[1000] = "";
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    assert_true(pread(said, text, sizeof text - 1, 0) >= 0);
    close(said);
    close(before);
    assert_string_equal(text, expected);
}

#endif
