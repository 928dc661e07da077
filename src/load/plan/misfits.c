#include "load/plan/misfits.h"
#include "base/log.h"
#include "base/text.h"
#include "format/guess/guess.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_MOST = 170
}; /* bytes of a line where many are listed, so that all of them find room in an err_t */

bool misfits_add(misfits_t *misfits, const char *name, const char *reason, size_t input, err_t *err) {
    const misfit_t misfit = {strdup(name), strdup(reason), input, false};
    const bool named = (misfit.name && misfit.reason) || err_memory(err, strlen(reason));
    if (named && GROW(misfits->items, misfits->room, misfits->count + 1, err)) {
        misfits->items[misfits->count++] = misfit;
        return true;
    }
    free(misfit.name);
    free(misfit.reason);
    return false;
}

static int by_input(const void *a, const void *b) {
    const misfit_t *one = a, *other = b;
    return (one->input > other->input) - (one->input < other->input);
}

void misfits_sort(misfits_t *misfits) {
    if (misfits->count)
        qsort(misfits->items, misfits->count, sizeof *misfits->items, by_input);
}

/* The first ones of those that wait, or of the others, a line each. What is too long loses its middle, where folders are.
 * Returns how many there are. */
static size_t list(const misfits_t *misfits, size_t from, bool waits, char *out, size_t room) {
    const int head = LINE_MOST / 3, tail = LINE_MOST - head - 3;
    size_t used = 0, count = 0;
    out[0] = '\0';
    for (size_t i = from; i < misfits->count; i++) {
        const char *reason = misfits->items[i].reason;
        const size_t length = strlen(reason);
        if (misfits->items[i].waits != waits || count++ >= MISFITS_SHOWN)
            continue;
        const int wrote = length <= LINE_MOST || count < 4
                              ? snprintf(out + used, room - used, "\n  %.1000s", reason)
                              : snprintf(out + used, room - used, "\n  %.*s...%s", head, reason,
                                         reason + length - (size_t)tail);
        used += wrote > 0 && (size_t)wrote < room - used ? (size_t)wrote : 0;
    }
    if (count > MISFITS_SHOWN)
        snprintf(out + used, room - used, "\n  ... and %zu more", count - MISFITS_SHOWN);
    return count;
}

bool misfits_is_header(const char *name, const char *reason) {
    const size_t length = strlen(name);
    return strncmp(reason, name, length) == 0 && strncmp(reason + length, ":1:", 3) == 0;
}

/* What the command asks for would be refused by any format. */
static bool is_asked_for(const char *reason) {
    return strstr(reason, ", which --id, the filter") || strstr(reason, " (--new-columns refuse)");
}

bool misfits_refuse(const misfits_t *misfits, size_t files, const char *format, bool may_skip, err_t *err) {
    static const char anew[] = "which guesses anew, or load both anew with a --format that fits both";
    const misfit_t *first = &misfits->items[0];
    const bool header = format && misfits_is_header(first->name, first->reason),
               asked = is_asked_for(first->reason),
               guessed = header && !asked && strcmp(format, GUESS_FORMAT) == 0;
    char lines[sizeof err->text - 700];
    if (files == 1 && (!header || asked))
        return err_set(err, STATUS_INPUT, "%s", first->reason);
    if (files == 1 && guessed)
        return err_set(err, STATUS_INPUT,
                       "%.3000s; it does not fit the format that was guessed from another file, and nothing "
                       "was written: load it into another collection, %s",
                       first->reason, anew);
    if (files == 1)
        return err_set(err, STATUS_INPUT,
                       "%.3000s; it does not fit the format %.80s (`tipple formats` lists the formats), and "
                       "nothing was written",
                       first->reason, format);
    const size_t bad = list(misfits, 0, false, lines, sizeof lines);
    if (!format)
        err_set(err, STATUS_INPUT, "%zu of %zu files cannot be loaded%s; nothing was written%s", bad, files,
                bad < misfits->count ? ", and the others come after it (--existing replace)" : "", lines);
    else
        err_set(err, STATUS_INPUT, "%zu of %zu files %s not fit the format %.80s; nothing was written%s", bad,
                files, bad == 1 ? "does" : "do", format, lines);
    if (guessed && may_skip)
        err_add(err, "\nLoad them into another collection, %s", anew);
    if (may_skip && misfits->count < files)
        err_add(err, "\n%s", MISFITS_REMEDY);
    return false;
}

void misfits_warn(const misfits_t *misfits, size_t from, size_t files) {
    err_t err;
    char lines[sizeof err.text - 200];
    const size_t bad = list(misfits, from, false, lines, sizeof lines);
    if (bad)
        log_warn("%zu of %zu files %s skipped%s", bad, files, bad == 1 ? "is" : "are", lines);
    const size_t waiting = list(misfits, from, true, lines, sizeof lines);
    if (waiting)
        log_warn("%zu of %zu files %s: --existing replace loads files in their order%s", waiting, files,
                 waiting == 1 ? "waits" : "wait", lines);
}

bool misfits_add_waiting(misfits_t *misfits, const char *name, const char *other, size_t input, err_t *err) {
    err_t why;
    err_set(&why, STATUS_INPUT, "%.1000s waits for %.1000s, which comes before it and was skipped", name,
            other);
    if (!misfits_add(misfits, name, why.text, input, err))
        return false;
    misfits->items[misfits->count - 1].waits = true;
    return true;
}

/* Those that are left move together; archives are no files, and stay. */
static void take_out(manifest_t *manifest, const misfits_t *misfits) {
    size_t left = 0, misfit = 0;
    for (size_t i = 0; i < manifest->count; i++) {
        if (misfit < misfits->count && misfits->items[misfit].input == i) {
            manifest_free_file(&manifest->files[i]);
            misfit++;
        } else {
            manifest->files[left++] = manifest->files[i];
        }
    }
    manifest->count = left;
}

bool misfits_move(misfits_t *misfits, misfits_t *to, err_t *err) {
    if (!GROW(to->items, to->room, to->count + misfits->count, err))
        return false;
    for (size_t i = 0; i < misfits->count; i++)
        to->items[to->count++] = misfits->items[i];
    misfits->count = 0;
    return true;
}

bool misfits_take_out(misfits_t *misfits, manifest_t *manifest, bool skip, misfits_t *skipped,
                      const char *format, err_t *err) {
    if (!misfits->count)
        return true;
    if (!skip)
        return misfits_refuse(misfits, manifest->count, format, skipped, err);
    const size_t files = manifest->count + skipped->count, from = skipped->count;
    if (!from || misfits->items[0].input < skipped->after)
        skipped->after = misfits->items[0].input;
    take_out(manifest, misfits);
    if (!misfits_move(misfits, skipped, err))
        return false;
    if (!manifest->count)
        return misfits_refuse(skipped, files, from ? NULL : format, true, err);
    misfits_warn(skipped, from, files);
    return true;
}

bool misfits_let_wait(manifest_t *manifest, misfits_t *skipped, err_t *err) {
    misfits_t waiting = {.items = NULL};
    bool ok = true;
    for (size_t i = skipped->after; ok && skipped->count && i < manifest->count; i++)
        ok = misfits_add_waiting(&waiting, manifest->files[i].name, skipped->items[0].name, i, err);
    ok = ok && misfits_take_out(&waiting, manifest, true, skipped, NULL, err);
    misfits_free(&waiting);
    return ok;
}

void misfits_free(misfits_t *misfits) {
    for (size_t i = 0; i < misfits->count; i++) {
        free(misfits->items[i].name);
        free(misfits->items[i].reason);
    }
    free(misfits->items);
    *misfits = (misfits_t){.items = NULL};
}
