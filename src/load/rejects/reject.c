/* Rejects are counted and reported here, and the limits applied. */
#include "load/rejects/reject.h"
#include "base/log.h"

#include <float.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAID_ONE_BY_ONE = 5, FIRST_RECORDS = 100 };

struct rejects {
    reject_options_t options;
    pthread_mutex_t lock;   /* of these: */
    reject_writer_t writer; /* not begun while nothing was rejected, or nothing is written */
    uint64_t leading; /* of `count`: in the first block of options.first, which one thread reads in order */

    /* only changed by who has the lock */
    _Atomic uint64_t count;
    /* these only grow, but to_come: whoever reads them while others add sees no more rejects than records */
    _Atomic uint64_t looked_at, of_others;   /* of_others: rejects that other loads counted, not in `count` */
    _Atomic uint64_t own_records, own_bytes; /* of looked_at, by this load */
    _Atomic uint64_t to_come;
    atomic_bool fits; /* see rejects_format_fits */
};

rejects_t *rejects_new(const reject_options_t *options, err_t *err) {
    rejects_t *rejects = calloc(1, sizeof *rejects);
    if (!rejects) {
        err_memory(err, sizeof *rejects);
        return NULL;
    }
    rejects->options = *options;
    rejects->to_come = options->to_come;
    pthread_mutex_init(&rejects->lock, NULL);
    return rejects;
}

void rejects_free(rejects_t *rejects, bool again) {
    if (!rejects)
        return;
    reject_writer_end(&rejects->writer, again);
    pthread_mutex_destroy(&rejects->lock);
    free(rejects);
}

void rejects_looked_at(rejects_t *rejects, uint64_t records, uint64_t text_bytes) {
    rejects->looked_at += records;
    rejects->own_records += records;
    rejects->own_bytes += text_bytes;
}

void rejects_to_come(rejects_t *rejects, uint64_t text_bytes) {
    rejects->to_come = text_bytes;
}

void rejects_of_others(rejects_t *rejects, uint64_t records, uint64_t rejected) {
    rejects->looked_at += records;
    rejects->of_others += rejected;
}

void rejects_format_fits(rejects_t *rejects) {
    rejects->fits = true;
}

/* ---- limits ---- */

static bool may_be_all(double most_percent) {
    return most_percent >= 100;
}

bool rejects_may_be_many(uint64_t most, double most_percent) {
    return most > REJECT_USUAL_MOST || may_be_all(most_percent);
}

/* Estimates the number of records in the end. Bad records may stand together: a load whose share of rejects is small in the end
 * must not stop because the share is large so far. */
static double in_all(const rejects_t *rejects) {
    const double looked_at = (double)rejects->looked_at, to_come = (double)rejects->to_come;
    if (rejects->to_come == 0 && looked_at >= 10000)
        return looked_at;
    if (looked_at < 10000 || rejects->to_come == UINT64_MAX || !rejects->own_bytes)
        return DBL_MAX;
    return looked_at + to_come * (double)rejects->own_records / (double)rejects->own_bytes;
}

static bool too_many(const rejects_t *rejects, bool at_end) {
    const reject_options_t *options = &rejects->options;
    if (options->most_percent < 0)
        return rejects->count > options->most;
    if (may_be_all(options->most_percent))
        return false;
    return (double)(rejects->count + rejects->of_others) * 100.0 >
           options->most_percent * (at_end ? (double)rejects->looked_at : in_all(rejects));
}

/* True if the format seems to be wrong and few rejects were allowed. Retried records say nothing about that; nor does the server:
 * a record that makes a document fits. */
static bool all_rejected(const rejects_t *rejects) {
    const reject_options_t *options = &rejects->options;
    return !options->file.retried && !rejects_may_be_many(options->most, options->most_percent) &&
           !rejects->fits && rejects->leading >= FIRST_RECORDS;
}

/* Other threads reject records meanwhile, so the summary says how many there were. */
static bool say_too_many(rejects_t *rejects, bool at_end, err_t *err) {
    const reject_options_t *options = &rejects->options;
    const char *path = rejects_path(rejects), *look = path ? " look into " : "";
    char most[40];
    if (options->most_percent < 0)
        snprintf(most, sizeof most, "%" PRIu64, options->most);
    else
        snprintf(most, sizeof most, "%g%%", options->most_percent);
    if (all_rejected(rejects))
        return err_set(err, STATUS_TOO_MANY_REJECTED,
                       "stopped: the first %" PRIu64
                       " records were all rejected; is --format %s the right one for these files?%s%s%s If "
                       "it is, give --max-rejects a number above %d, or 100%%",
                       rejects->leading, options->format ? options->format : "(none)", path ? " (" : "",
                       path ? path : "", path ? " holds them)" : "", REJECT_USUAL_MOST);
    if (at_end)
        return err_set(err, STATUS_TOO_MANY_REJECTED,
                       "in the end %" PRIu64 " of %" PRIu64
                       " records are rejected, more than --max-rejects %s allows%s%s%s",
                       rejects->count + rejects->of_others, rejects->looked_at, most, path ? ";" : "", look,
                       path ? path : "");
    return err_set(err, STATUS_TOO_MANY_REJECTED,
                   "stopped: more records were rejected than --max-rejects %s allows;%s%s%s run the same "
                   "command again with a higher --max-rejects to go on",
                   most, look, path ? path : "", path ? ", then" : "");
}

/* ---- one more ---- */

static bool write_one(rejects_t *rejects, const reject_t *reject, err_t *err) {
    return !rejects->options.write ||
           ((rejects->writer.target || reject_writer_begin(&rejects->writer, &rejects->options.file, err)) &&
            reject_writer_add(&rejects->writer, reject, err));
}

static void report(const rejects_t *rejects, const reject_t *reject) {
    const char *path = rejects_path(rejects);
    char place[REJECT_PLACE];
    if (rejects->count <= SAID_ONE_BY_ONE)
        log_warn("rejected %s%s (offset %" PRIu64 "%s%s): %s", reject->piece->input->name,
                 reject_place(reject, place), reject->offset, reject->field ? ", field " : "",
                 reject->field ? reject->field : "", reject->reason);
    else if (rejects->count == SAID_ONE_BY_ONE + 1)
        log_warn("more rejects are not shown here%s%s%s", path ? "; " : "", path ? path : "",
                 path ? " holds them all" : "");
}

bool rejects_add(rejects_t *rejects, const reject_t *reject, err_t *err) {
    pthread_mutex_lock(&rejects->lock);
    bool ok = write_one(rejects, reject, err);
    if (ok) {
        rejects->count++;
        rejects->leading += reject->piece == rejects->options.first && reject->offset < RECORD_ID_BLOCK_BYTES;
        report(rejects, reject);
        if (too_many(rejects, false) || all_rejected(rejects))
            ok = say_too_many(rejects, false, err);
    }
    pthread_mutex_unlock(&rejects->lock);
    return ok;
}

bool rejects_check(rejects_t *rejects, err_t *err) {
    pthread_mutex_lock(&rejects->lock);
    bool ok = !too_many(rejects, true) || say_too_many(rejects, true, err);
    pthread_mutex_unlock(&rejects->lock);
    return ok;
}

bool rejects_flush(rejects_t *rejects, err_t *err) {
    pthread_mutex_lock(&rejects->lock);
    bool ok = !rejects->writer.target || reject_writer_flush(&rejects->writer, err);
    pthread_mutex_unlock(&rejects->lock);
    return ok;
}

uint64_t rejects_count(const rejects_t *rejects) {
    return rejects->count;
}

const char *rejects_path(const rejects_t *rejects) {
    return rejects->writer.target && rejects->count ? rejects->writer.path : NULL;
}
