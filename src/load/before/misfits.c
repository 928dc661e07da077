#include "load/before/misfits.h"
#include "base/log.h"
#include "format/guess/guess.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_MOST = 170
}; /* bytes of a line where many are listed, so that all of them find room in an err_t */

bool misfits_add(misfits_t *misfits, const char *name, const char *reason, size_t input, err_t *err) {
    const size_t bytes = (misfits->count + 1) * sizeof *misfits->items;
    misfit_t *larger = realloc(misfits->items, bytes);
    misfit_t misfit = {strdup(name), strdup(reason), input};
    misfits->items = larger ? larger : misfits->items;
    if (larger && misfit.name && misfit.reason) {
        misfits->items[misfits->count++] = misfit;
        return true;
    }
    free(misfit.name);
    free(misfit.reason);
    return err_memory(err, bytes);
}

static int by_input(const void *a, const void *b) {
    const misfit_t *one = a, *other = b;
    return (one->input > other->input) - (one->input < other->input);
}

void misfits_sort(misfits_t *misfits) {
    if (misfits->count)
        qsort(misfits->items, misfits->count, sizeof *misfits->items, by_input);
}

/* The first ones, a line each. What is too long loses its middle, where folders are. */
static void list(const misfits_t *misfits, char *out, size_t room) {
    const size_t shown = misfits->count < MISFITS_SHOWN ? misfits->count : MISFITS_SHOWN;
    const int head = LINE_MOST / 3, tail = LINE_MOST - head - 3;
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < shown; i++) {
        const char *reason = misfits->items[i].reason;
        const size_t length = strlen(reason);
        const int wrote = length <= LINE_MOST || shown < 4
                              ? snprintf(out + used, room - used, "\n  %.1000s", reason)
                              : snprintf(out + used, room - used, "\n  %.*s...%s", head, reason,
                                         reason + length - (size_t)tail);
        used += wrote > 0 && (size_t)wrote < room - used ? (size_t)wrote : 0;
    }
    if (shown < misfits->count)
        snprintf(out + used, room - used, "\n  ... and %zu more", misfits->count - shown);
}

bool misfits_is_header(const char *name, const char *reason) {
    const size_t length = strlen(name);
    return strncmp(reason, name, length) == 0 && strncmp(reason + length, ":1:", 3) == 0;
}

bool misfits_refuse(const misfits_t *misfits, size_t files, const char *format, err_t *err) {
    const misfit_t *first = &misfits->items[0];
    char lines[sizeof err->text - 200];
    if (files == 1 && !misfits_is_header(first->name, first->reason))
        return err_set(err, STATUS_INPUT, "%s", first->reason);
    if (files == 1 && strcmp(format, GUESS_FORMAT) == 0)
        return err_set(
            err, STATUS_INPUT,
            "%.3000s; it does not fit the format that was guessed from another file, and nothing was "
            "written: load it into another collection, which guesses anew, or load both anew with a --format "
            "that fits both",
            first->reason);
    if (files == 1)
        return err_set(err, STATUS_INPUT,
                       "%.3000s; it does not fit the format %.80s (`tipple formats` lists the formats), and "
                       "nothing was written",
                       first->reason, format);
    list(misfits, lines, sizeof lines);
    return err_set(err, STATUS_INPUT, "%zu of %zu files %s not fit the format %.80s; nothing was written%s",
                   misfits->count, files, misfits->count == 1 ? "does" : "do", format, lines);
}

void misfits_warn(const misfits_t *misfits, size_t files, const char *format) {
    err_t err;
    char lines[sizeof err.text - 200];
    list(misfits, lines, sizeof lines);
    log_warn("%zu of %zu files %s not fit the format %.80s and %s skipped%s", misfits->count, files,
             misfits->count == 1 ? "does" : "do", format, misfits->count == 1 ? "is" : "are", lines);
}

void misfits_free(misfits_t *misfits) {
    for (size_t i = 0; i < misfits->count; i++) {
        free(misfits->items[i].name);
        free(misfits->items[i].reason);
    }
    free(misfits->items);
    *misfits = (misfits_t){NULL, 0};
}
