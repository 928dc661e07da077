/* push_lab: what tests of pushed loads share: handles of the library, and rows of the format `rows` as text. */
#ifndef TIPPLE_TESTS_PUSH_LAB_H
#define TIPPLE_TESTS_PUSH_LAB_H

#include "box/box.h"
#include "test.h"
#include "tipple/tipple.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUSH_UNUSED __attribute__((unused))

PUSH_UNUSED static void push_write_format(void) {
    FILE *file = fopen("rows.yaml", "w");
    assert_non_null(file);
    fputs("format: rows\nabout: numbers and words\nrecord: {delimiter: [\",\"], header: yes}\n"
          "fields:\n  - {name: n, type: int}\n  - {name: w}\n",
          file);
    fclose(file);
}

/* Loads into a server of this process. */
#define TARGET "d.c"

typedef struct {
    box_t *box;
    char uri[BOX_URI];
} lab_t;

PUSH_UNUSED static void lab_open(lab_t *lab) {
    lab->box = box_start(BOX_STANDALONE);
    box_uri(lab->box, TARGET, lab->uri);
    push_write_format();
}

#define LAB_TEST(name, open) TEST_WITH_LAB(name, open, box_stop(lab->box))

/* Options by pairs: name, value, ..., NULL. */
PUSH_UNUSED static tipple_load_t *push_load(const char *uri, ...) {
    tipple_error_t error;
    tipple_load_t *load = tipple_load_new(uri, &error);
    assert_non_null(load);
    va_list words;
    va_start(words, uri);
    for (const char *name; (name = va_arg(words, const char *));) {
        const char *value = va_arg(words, const char *);
        if (!tipple_load_set(load, name, value, &error))
            fail_msg("%s: %s", name, error.text);
    }
    va_end(words);
    return load;
}

/* n,w: a header and rows; to be freed */
PUSH_UNUSED static char *push_rows(int from, int to, size_t *length) {
    char *text = malloc(16 + (size_t)(to - from) * 32);
    assert_non_null(text);
    int used = sprintf(text, "n,w\n");
    for (int i = from; i < to; i++)
        used += sprintf(text + used, "%d,w%d\n", i, i);
    *length = (size_t)used;
    return text;
}

/* In pieces of this size; what is left when a push failed. */
PUSH_UNUSED static size_t push_pieces(tipple_load_t *load, const char *text, size_t length, size_t piece,
                                      tipple_error_t *error) {
    while (length) {
        const size_t size = piece < length ? piece : length;
        if (!tipple_load_push(load, text, size, error))
            break;
        text += size;
        length -= size;
    }
    return length;
}

PUSH_UNUSED static void push_finish(tipple_load_t *load, int status) {
    tipple_error_t error;
    const bool ok = tipple_load_finish(load, &error);
    if (error.status != status || ok != (status == 0 || status == 2))
        fail_msg("status %d: %s", error.status, error.text);
}

PUSH_UNUSED static void push_check(const tipple_load_t *load, uint64_t loaded, uint64_t already,
                                   uint64_t rejected) {
    const tipple_result_t *result = tipple_load_result(load);
    assert_non_null(result);
    assert_int_equal(result->read,
                     result->loaded + result->already_there + result->rejected + result->filtered);
    assert_int_equal(result->loaded, loaded);
    assert_int_equal(result->already_there, already);
    assert_int_equal(result->rejected, rejected);
}

#endif
