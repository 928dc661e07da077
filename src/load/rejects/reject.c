#include "load/rejects/reject.h"
#include "base/log.h"
#include "load/rejects/reject_store.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SAID_ONE_BY_ONE = 5, FIRST_RECORDS = 100, SPELLING_ROOM = 64 * 1024, WORD_ROOM = 3 * 4096 };

struct rejects {
    reject_options_t options;
    pthread_mutex_t lock;
    reject_store_t *store; /* NULL: nothing was rejected yet, or nothing is written */
    uint64_t count, looked_at;
    uint64_t leading; /* of the count: in the first block of options.first, which one thread reads in order */
    uint64_t of_others; /* more than the count: rejects among what was looked at by other loads */
    uint64_t own_records, own_bytes; /* of looked_at, by this load */
    uint64_t to_come;                /* as rejects_to_come */
    bool fits;                       /* the format, as rejects_format_fits was told */
    char *spelling;                  /* of the dialect in a head; as all of this it needs the lock */
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

void rejects_free(rejects_t *rejects) {
    if (!rejects)
        return;
    reject_store_free(rejects->store);
    pthread_mutex_destroy(&rejects->lock);
    free(rejects->spelling);
    free(rejects);
}

/* A file can be made there. */
static bool check_folder(const char *path, err_t *err) {
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    if (!folder)
        return err_memory(err, strlen(path));
    const bool ok = access(folder, W_OK | X_OK) == 0 ||
                    err_set(err, STATUS_USAGE, "--rejects %.500s: nothing can be written into %.500s: %s",
                            path, folder, strerror(errno));
    free(folder);
    return ok;
}

bool rejects_may_use(const char *path, err_t *err) {
    reject_file_t file;
    struct stat status;
    if (!*path)
        return err_set(err, STATUS_USAGE, "the name of the reject file is empty: name a file");
    const bool there = stat(path, &status) == 0;
    if (!there && errno == ENAMETOOLONG)
        return err_set(err, STATUS_USAGE,
                       "--rejects: %.80s... is too long a name for a file: name a shorter one", path);
    if (there && !S_ISREG(status.st_mode))
        return err_set(err, STATUS_USAGE, "--rejects %.500s: is a %s: name a file", path,
                       S_ISDIR(status.st_mode)    ? "folder"
                       : S_ISFIFO(status.st_mode) ? "pipe, which keeps nothing"
                                                  : "device, which keeps nothing");
    if (!reject_file_open_head(&file, path))
        return check_folder(path, err);
    const bool other = reject_file_is_other(&file);
    reject_file_close(&file);
    return !other || reject_store_refuse(path, STATUS_USAGE, err);
}

/* The name by which the catalog knows the input stays the same when a load goes on from another folder. */
static const char *input_of(const reject_t *reject) {
    return reject->file->known_as ? reject->file->known_as : reject->file->input->name;
}

/* What a server says may have several lines. */
static void print_reason(const reject_t *reject, char *out, size_t room) {
    snprintf(out, room, "%s", reject->reason);
    for (char *at = out; *at; at++)
        if (*at == '\n' || *at == '\r')
            *at = ' ';
}

static const char *spell_dialect(rejects_t *rejects, const reject_t *reject) {
    if (!reject->file->dialect ||
        !dialect_print(rejects->options.schema, reject->file->dialect, rejects->spelling, SPELLING_ROOM))
        return "delimiter=2c columns=-";
    return rejects->spelling;
}

static uint64_t dialect_of(const reject_t *reject) {
    return reject->file->dialect ? reject->file->dialect->hash : 0;
}

/* NULL: out of memory. */
static char *print_head(rejects_t *rejects, const reject_t *reject, const reject_identity_t *identity) {
    char reason[400], kept[40] = "", of[40] = "", input[40] = "", *head;
    print_reason(reject, reason, sizeof reason);
    if (reject->kept < reject->length)
        snprintf(kept, sizeof kept, " kept=%" PRIu64, reject->kept);
    if (reject->of && reject->of != identity->hash)
        snprintf(of, sizeof of, " of=%016" PRIx64, reject->of);
    if (reject->file->known_as)
        snprintf(input, sizeof input, " input=%" PRIu32, reject->file->ordinal);
    const int length = asprintf(
        &head,
        "%soffset=%" PRIu64 " line=%" PRIu64 " length=%" PRIu64 "%s hash=%016" PRIx64 "%s dialect=%016" PRIx64
        " field=%s %s%s file=%s -- %s:%" PRIu64 ":%u: %s%s\n",
        reject_store_mark(rejects->store), reject->offset, reject->line, reject->length, kept, identity->hash,
        of, identity->dialect, reject->field ? reject->field : "-", spell_dialect(rejects, reject), input,
        identity->input, reject->file->input->name, reject->line, reject->column, reason,
        kept[0] ? " (only its first bytes are kept here)" : "");
    return length < 0 ? NULL : head;
}

static bool write_entry(rejects_t *rejects, const reject_t *reject, err_t *err) {
    char word[WORD_ROOM];
    reject_print_word(input_of(reject), word, sizeof word);
    const reject_identity_t identity = reject_identity(
        word, reject_identity_ordinal(rejects->options.inputs, reject->file->ordinal), dialect_of(reject),
        reject->offset, reject->length, reject->bytes, (size_t)reject->kept);
    /* the file may have it already, and to find that out no file need be opened for writing where the retried
     * one is the load's own */
    if (reject_store_knows(rejects->store, &identity))
        return true;
    if (!reject_store_open(rejects->store, err))
        return false;
    if (reject_store_knows(rejects->store, &identity))
        return true;
    char *head = print_head(rejects, reject, &identity);
    if (!head)
        return err_memory(err, SPELLING_ROOM);
    struct iovec pieces[] = {
        {head, strlen(head)}, {(void *)reject->bytes, (size_t)reject->kept}, {(void *)"\n", 1}};
    const bool ok = reject_store_append(rejects->store, &identity, pieces, 3, err);
    free(head);
    return ok;
}

static bool keep(rejects_t *rejects, const reject_t *reject, err_t *err) {
    const reject_options_t *options = &rejects->options;
    const reject_store_options_t store = {options->path, options->retried, options->again, options->catalog,
                                          options->inputs};
    if (!rejects->spelling && !(rejects->spelling = malloc(SPELLING_ROOM)))
        return err_memory(err, SPELLING_ROOM);
    if (!rejects->store && !(rejects->store = reject_store_new(&store, err)))
        return false;
    return write_entry(rejects, reject, err);
}

/* All of them may be rejects. */
static bool may_be_all(const reject_options_t *options) {
    return options->most_percent >= 100;
}

/* So many records there will be, as far as is known. Those that were looked at first are not all of them, and the bad
 * ones may stand together: a load that stays below a share in all must not be stopped by it. */
static double in_all(const rejects_t *rejects) {
    const double looked_at = (double)rejects->looked_at;
    if (!rejects->to_come && rejects->looked_at >= 10000)
        return looked_at;
    if (rejects->looked_at < 10000 || rejects->to_come == UINT64_MAX || !rejects->own_bytes)
        return DBL_MAX;
    return looked_at + (double)rejects->to_come * (double)rejects->own_records / (double)rejects->own_bytes;
}

static bool too_many(const rejects_t *rejects, bool at_end) {
    const reject_options_t *options = &rejects->options;
    if (options->most_percent < 0)
        return rejects->count > options->most;
    if (may_be_all(options))
        return false;
    return (double)(rejects->count + rejects->of_others) * 100.0 >
           options->most_percent * (at_end ? (double)rejects->looked_at : in_all(rejects));
}

/* A wrong format is not waited for, unless many rejects were allowed; records that were rejected before say nothing
 * about it. Whether it fits is told by records alone, not by what the server says of their documents. */
static bool all_rejected(const rejects_t *rejects) {
    const reject_options_t *options = &rejects->options;
    return !options->retried && options->most <= REJECT_USUAL_MOST && !may_be_all(options) &&
           !rejects->fits && rejects->leading >= FIRST_RECORDS;
}

/* Other threads reject records meanwhile: how many it were is told by the summary. */
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
                       " records were all rejected; is --format %s the right one for "
                       "these files?%s%s%s If it is, give --max-rejects a number above %d, or "
                       "100%%",
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

bool rejects_add(rejects_t *rejects, const reject_t *reject, err_t *err) {
    pthread_mutex_lock(&rejects->lock);
    bool ok = !rejects->options.write || keep(rejects, reject, err);
    const char *path = rejects_path(rejects);
    if (ok) {
        rejects->count++;
        rejects->leading += reject->file == rejects->options.first && reject->offset < RECORD_ID_BLOCK_BYTES;
        if (rejects->count <= SAID_ONE_BY_ONE)
            log_warn("rejected %s:%" PRIu64 ":%u (offset %" PRIu64 "%s%s): %s", reject->file->input->name,
                     reject->line, reject->column, reject->offset, reject->field ? ", field " : "",
                     reject->field ? reject->field : "", reject->reason);
        else if (rejects->count == SAID_ONE_BY_ONE + 1)
            log_warn("more rejects are not shown here%s%s%s", path ? "; " : "", path ? path : "",
                     path ? " holds them all" : "");
        if (too_many(rejects, false) || all_rejected(rejects))
            ok = say_too_many(rejects, false, err);
    }
    pthread_mutex_unlock(&rejects->lock);
    return ok;
}

void rejects_looked_at(rejects_t *rejects, uint64_t records, uint64_t text_bytes) {
    pthread_mutex_lock(&rejects->lock);
    rejects->looked_at += records;
    rejects->own_records += records;
    rejects->own_bytes += text_bytes;
    pthread_mutex_unlock(&rejects->lock);
}

void rejects_to_come(rejects_t *rejects, uint64_t text_bytes) {
    pthread_mutex_lock(&rejects->lock);
    rejects->to_come = text_bytes;
    pthread_mutex_unlock(&rejects->lock);
}

void rejects_of_others(rejects_t *rejects, uint64_t records, uint64_t rejected) {
    pthread_mutex_lock(&rejects->lock);
    rejects->looked_at += records;
    rejects->of_others += rejected;
    pthread_mutex_unlock(&rejects->lock);
}

void rejects_format_fits(rejects_t *rejects) {
    pthread_mutex_lock(&rejects->lock);
    rejects->fits = true;
    pthread_mutex_unlock(&rejects->lock);
}

bool rejects_check(rejects_t *rejects, err_t *err) {
    pthread_mutex_lock(&rejects->lock);
    bool ok = !too_many(rejects, true) || say_too_many(rejects, true, err);
    pthread_mutex_unlock(&rejects->lock);
    return ok;
}

bool rejects_flush(rejects_t *rejects, err_t *err) {
    pthread_mutex_lock(&rejects->lock);
    bool ok = !rejects->store || reject_store_flush(rejects->store, err);
    pthread_mutex_unlock(&rejects->lock);
    return ok;
}

uint64_t rejects_count(rejects_t *rejects) {
    pthread_mutex_lock(&rejects->lock);
    uint64_t count = rejects->count;
    pthread_mutex_unlock(&rejects->lock);
    return count;
}

const char *rejects_path(const rejects_t *rejects) {
    return rejects->store && rejects->count ? reject_store_path(rejects->store) : NULL;
}
