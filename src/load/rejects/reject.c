/* Rejects from bottom to top: `reject_known` is the set of rejects that a file has; `reject_store` is the file, which is opened
 * for the first reject that it lacks; `rejects` counts, reports and applies the limits. */
#include "load/rejects/reject.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/log.h"
#include "base/text.h"
#include "load/rejects/reject_file.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <xxhash.h>

/* ---- reject_known ---- */

/* Returns its place, or the free place where it belongs. */
static reject_known_place_t *place_of(const reject_known_t *known, const reject_identity_t *identity) {
    size_t i = (size_t)reject_identity_number(identity) & (known->room - 1);
    while (known->places[i].is.input && !reject_identity_equal(&known->places[i].is, identity))
        i = (i + 1) & (known->room - 1);
    return &known->places[i];
}

static bool grow(reject_known_t *known) {
    reject_known_t larger = *known;
    larger.room = known->room ? known->room * 2 : 64;
    if (!(larger.places = calloc(larger.room, sizeof *larger.places)))
        return false;
    for (size_t i = 0; i < known->room; i++)
        if (known->places[i].is.input)
            *place_of(&larger, &known->places[i].is) = known->places[i];
    free(known->places);
    *known = larger;
    return true;
}

/* Returns the set's own copy of the name. Entries of one input mostly follow one another, so only the last name is compared. */
static const char *keep_name(reject_known_t *known, const char *name) {
    if (known->name_count && strcmp(known->names[known->name_count - 1], name) == 0)
        return known->names[known->name_count - 1];
    if (!GROW(known->names, known->name_room, known->name_count + 1, NULL))
        return NULL;
    char *own = strdup(name);
    if (own)
        known->names[known->name_count++] = own;
    return own;
}

static bool add(reject_known_t *known, const reject_identity_t *identity, uint64_t from) {
    if (2 * known->count >= known->room && !grow(known))
        return false;
    reject_known_place_t *place = place_of(known, identity);
    if (place->is.input) {
        place->from = from < place->from ? from : place->from;
        return true;
    }
    const char *name = keep_name(known, identity->input);
    if (!name)
        return false;
    *place = (reject_known_place_t){*identity, from};
    place->is.input = name;
    known->count++;
    return true;
}

bool reject_known_add(reject_known_t *known, const reject_identity_t *identity) {
    return add(known, identity, 0);
}

bool reject_known_add_gone(reject_known_t *known, const reject_identity_t *identity, uint64_t from) {
    reject_identity_t by_name = *identity;
    by_name.ordinal = UINT64_MAX;
    return add(known, &by_name, from);
}

bool reject_known_has(const reject_known_t *known, const reject_identity_t *identity) {
    return known->count && place_of(known, identity)->is.input != NULL;
}

bool reject_known_has_of(const reject_known_t *known, const reject_identity_t *identity) {
    reject_identity_t by_name = *identity;
    by_name.ordinal = UINT64_MAX;
    return reject_known_has(known, identity) ||
           (reject_known_has(known, &by_name) && place_of(known, &by_name)->from <= identity->ordinal);
}

void reject_known_free(reject_known_t *known) {
    for (size_t i = 0; i < known->name_count; i++)
        free(known->names[i]);
    free(known->names);
    free(known->places);
    *known = (reject_known_t){0};
}

/* ---- reject_store ----
 *
 * The file is locked as long as the load lives. A second load, or a load of another collection (the file names its catalog),
 * takes the next free name: NAME.2, NAME.3 and so on. Entries are only appended, whole ones at a time: the beginning of an
 * entry that could not be written whole is cut off. One thread at a time. */

enum { MOST_NAMES = 1000, MOST_RACES = 100, PATH_ROOM = 4096 };

typedef struct {
    const reject_options_t *options;
    const char *catalog; /* the catalog's own id; "": unknown */
    char path[PATH_ROOM];
    int fd;      /* -1: not opened yet */
    int problem; /* errno of a failed write: later entries would begin in the middle of one */
    bool gone;   /* some of what was written is missing */
    off_t size;  /* the file is at least this long */
    off_t kept;  /* its size when it was opened, or at the last flush */
    char mark[REJECT_MARK];
    reject_known_t known;
    bool own_is_retried;
} reject_store_t;

static bool cannot(const char *path, const char *what, int error, err_t *err) {
    return err_set(err, STATUS_HOST,
                   "the reject file %s cannot be %s: %s; make room or name another with --rejects, then run "
                   "the same command again",
                   path, what, strerror(error));
}

/* ---- opening the file ---- */

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_retried(const reject_store_t *store, const struct stat *status) {
    struct stat retried;
    return store->options->retried && stat(store->options->retried, &retried) == 0 &&
           same_file(&retried, status);
}

/* Cuts the file back to `whole` bytes: the beginning of an entry would pass for a record that the user edited. A file that
 * another program has changed meanwhile stays as it is. */
static void cut_back(reject_store_t *store, off_t whole) {
    struct stat status;
    if (store->size > whole && fstat(store->fd, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size == store->size && ftruncate(store->fd, whole) == 0)
        store->size = whole;
}

/* Also releases the lock. NULL is allowed. */
static void reject_store_free(reject_store_t *store, bool again) {
    if (!store)
        return;
    if (again)
        cut_back(store, store->kept);
    if (store->fd >= 0)
        close(store->fd);
    reject_known_free(&store->known);
    free(store);
}

/* Opens no file for writing yet. If the retried file is the load's own, reads which rejects it holds. NULL: status 8. */
static reject_store_t *reject_store_new(const reject_options_t *options, err_t *err) {
    reject_store_t *store = calloc(1, sizeof *store);
    if (!store) {
        err_memory(err, sizeof *store);
        return NULL;
    }
    store->options = options;
    store->catalog = options->catalog ? options->catalog : "";
    store->fd = -1;
    snprintf(store->path, sizeof store->path, "%s", options->path);
    struct stat status;
    store->own_is_retried = stat(options->path, &status) == 0 && is_retried(store, &status);
    reject_file_t file = {0};
    bool ok = true;
    if (store->own_is_retried)
        ok = (reject_file_open(&file, options->path) || cannot(options->path, "read", errno, err)) &&
             (reject_file_known(&file, options->inputs, true, &store->known) || err_memory(err, file.size));
    reject_file_close(&file);
    if (ok)
        return store;
    reject_store_free(store, false);
    return NULL;
}

static void close_file(reject_store_t *store) {
    close(store->fd);
    store->fd = -1;
}

/* IN_USE, OF_ANOTHER (collection): the load may not write into this file, but perhaps into one of the next name. */
typedef enum { TAKEN, IN_USE, OF_ANOTHER, MOVED_AWAY, FAILED } taking_t;

/* Locks the opened file. What is no regular file, such as /dev/null, belongs to everybody. */
static taking_t lock(reject_store_t *store, const char *path, err_t *err) {
    struct stat opened, named;
    if (fstat(store->fd, &opened) != 0)
        return cannot(path, "written", errno, err), FAILED;
    if (is_retried(store, &opened))
        return IN_USE;
    if (!S_ISREG(opened.st_mode))
        return TAKEN;
    while (flock(store->fd, LOCK_EX | LOCK_NB) != 0)
        if (errno == EWOULDBLOCK)
            return IN_USE;
        else if (errno != EINTR)
            return cannot(path, "locked", errno, err), FAILED;
    /* if it was removed in between, it has no name any more */
    return stat(path, &named) == 0 && same_file(&opened, &named) ? TAKEN : MOVED_AWAY;
}

static taking_t try_path(reject_store_t *store, const char *path, err_t *err) {
    struct stat status;
    if (stat(path, &status) == 0 && is_retried(store, &status))
        return IN_USE;
    taking_t taking = MOVED_AWAY;
    for (int race = 0; taking == MOVED_AWAY && race < MOST_RACES; race++) {
        store->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
        if (store->fd < 0)
            return cannot(path, "written", errno, err), FAILED;
        taking = lock(store, path, err);
        if (taking != TAKEN)
            close_file(store);
    }
    if (taking == MOVED_AWAY)
        return cannot(path, "written", ESTALE, err), FAILED;
    return taking;
}

static bool reject_store_refuse(const char *path, status_t status, err_t *err) {
    return err_set(err, status,
                   "%s is no reject file of tipple, and stays as it is: name another with --rejects, then "
                   "run the same command again",
                   path);
}

/* Writes all of it or nothing, also when the disk is full. */
static bool write_all(reject_store_t *store, struct iovec *pieces, int count, err_t *err) {
    const off_t whole = store->size;
    while (count && !store->problem) {
        ssize_t wrote = writev(store->fd, pieces, count);
        if (wrote <= 0 && errno != EINTR)
            store->problem = wrote ? errno : ENOSPC;
        size_t done = wrote > 0 ? (size_t)wrote : 0;
        store->size += (off_t)done;
        while (count && done >= pieces->iov_len && !store->problem) {
            done -= pieces++->iov_len;
            count--;
        }
        if (count) {
            pieces->iov_base = (char *)pieces->iov_base + done;
            pieces->iov_len -= done;
        }
    }
    if (!store->problem)
        return true;
    cut_back(store, whole);
    return cannot(store->path, "written", store->problem, err);
}

/* Makes the beginning of a file: a mark that no record can know, and words for the person who opens the file. A line end in a
 * name or a filter would end their comment. */
static char *make_beginning(reject_store_t *store, err_t *err) {
    uint64_t seed[2] = {(uint64_t)clock_now_ns(), (uint64_t)getpid() << 32 | (uint64_t)clock_wall_ms()};
    text_t words = {.length = 0};
    snprintf(store->mark, sizeof store->mark, "#@%08x ", (unsigned)(XXH3_64bits(seed, sizeof seed) >> 32));
    text_print(&words,
               "%s: fix the line below each #@ line (or delete it to leave the record out), then run\n"
               "#   tipple load",
               reject_first_words);
    for (const char *at = store->options->again; at && *at; at++)
        text_print(&words, "%c", *at == '\r' || *at == '\n' ? ' ' : *at);
    shell_quote_option(&words, "--retry", strpbrk(store->path, "\r\n") ? "FILE" : store->path);
    if (*store->catalog)
        text_print(&words, "\n# of catalog %s", store->catalog);
    text_print(&words, "\n# marked %.*s\n", (int)strlen(store->mark) - 1, store->mark);
    return text_take(&words, err);
}

/* Ends what a kill cut off, so that the next entry begins on a line of its own; and begins a new file. */
static bool begin(reject_store_t *store, const reject_file_t *file, err_t *err) {
    char resume[REJECT_NOTE], *words = NULL;
    struct iovec pieces[] = {{resume, reject_file_resume(file, resume)}, {NULL, 0}};
    memcpy(store->mark, file->mark, sizeof store->mark);
    if (!store->mark[0]) {
        if (!(words = make_beginning(store, err)))
            return false;
        pieces[1] = (struct iovec){words, strlen(words)};
    }
    const bool ok = (!pieces[0].iov_len && !pieces[1].iov_len) || write_all(store, pieces, 2, err);
    free(words);
    return ok;
}

static taking_t take(reject_store_t *store, const char *path, bool is_first, err_t *err) {
    reject_file_t file = {0};
    taking_t taking = try_path(store, path, err);
    struct stat opened;
    if (taking != TAKEN)
        return taking;
    store->size = fstat(store->fd, &opened) == 0 ? opened.st_size : 0;
    snprintf(store->path, sizeof store->path, "%s", path);
    bool ok = reject_file_open(&file, path) || cannot(path, "read", errno, err);
    if (ok && reject_file_is_other(&file)) {
        taking = is_first ? FAILED : IN_USE;
        ok = !is_first || reject_store_refuse(path, STATUS_HOST, err);
    } else if (ok && file.mark[0] && strcmp(file.catalog, store->catalog) != 0) {
        taking = OF_ANOTHER;
    } else if (ok) {
        ok = (reject_file_known(&file, store->options->inputs, false, &store->known) ||
              err_memory(err, file.size)) &&
             begin(store, &file, err);
    }
    store->kept = store->size;
    reject_file_close(&file);
    if (!ok || taking != TAKEN)
        close_file(store);
    return ok ? taking : FAILED;
}

/* Opens the first file that the load may write into, and reads which rejects it holds. False: status 8. The second call does
 * nothing. */
static bool reject_store_open(reject_store_t *store, err_t *err) {
    const char *wanted = store->options->path;
    taking_t taking = store->fd >= 0 ? TAKEN : IN_USE;
    bool of_another = false;
    char path[PATH_ROOM];
    for (int number = 1; (taking == IN_USE || taking == OF_ANOTHER) && number <= MOST_NAMES; number++) {
        const int length = number == 1 ? snprintf(path, sizeof path, "%s", wanted)
                                       : snprintf(path, sizeof path, "%s.%d", wanted, number);
        if ((size_t)length >= sizeof path)
            return cannot(wanted, "written", ENAMETOOLONG, err);
        taking = take(store, path, number == 1, err);
        of_another |= taking == OF_ANOTHER;
        if (taking == TAKEN && number > 1)
            log_note("%s %s is kept in %s", wanted,
                     store->own_is_retried ? "stays as it is; what is rejected from now on"
                     : of_another          ? "holds rejects of another collection; what this load rejects"
                                           : "is another load's; what this one rejects",
                     path);
    }
    return taking == TAKEN || (taking != FAILED && cannot(wanted, "written", EBUSY, err));
}

/* ---- using the file ---- */

/* True if its name is another file's now, or the file is shorter than what was written. */
static bool is_gone(const reject_store_t *store) {
    struct stat opened, named;
    if (store->fd < 0 || fstat(store->fd, &opened) != 0 || !S_ISREG(opened.st_mode))
        return false;
    return stat(store->path, &named) != 0 || !same_file(&opened, &named) || opened.st_size < store->size;
}

static bool reject_store_flush(reject_store_t *store, err_t *err) {
    store->gone |= is_gone(store);
    store->kept = store->size; /* written down from here on */
    if (store->problem)
        return cannot(store->path, "written", store->problem, err);
    if (store->gone)
        return err_set(err, STATUS_HOST,
                       "the reject file %s was removed, replaced or cut off by somebody while it was "
                       "written: run the same command again, which goes on with the file that is there, or "
                       "makes one; what was rejected before is not written again",
                       store->path);
    return store->fd < 0 || fsync(store->fd) == 0 || errno == EINVAL ||
           cannot(store->path, "written", errno, err);
}

/* ---- rejects ---- */

enum { SAID_ONE_BY_ONE = 5, FIRST_RECORDS = 100, WORD_ROOM = 3 * 4096 };

struct rejects {
    reject_options_t options;
    pthread_mutex_t lock;
    reject_store_t *store; /* NULL: nothing was rejected yet, or nothing is written */
    uint64_t count, looked_at;
    uint64_t leading;   /* of `count`: in the first block of options.first, which one thread reads in order */
    uint64_t of_others; /* rejects that other loads counted, not in `count` */
    uint64_t own_records, own_bytes; /* of looked_at, by this load */
    uint64_t to_come;
    bool fits;       /* see rejects_format_fits */
    text_t spelling; /* of the dialect in a head; needs the lock, like all of this */
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
    reject_store_free(rejects->store, again);
    pthread_mutex_destroy(&rejects->lock);
    text_free(&rejects->spelling);
    free(rejects);
}

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

/* Copies the reason into one line: what a server says may have several. */
static void print_reason(const reject_t *reject, char *out, size_t room) {
    snprintf(out, room, "%s", reject->reason);
    for (char *at = out; *at; at++)
        if (*at == '\n' || *at == '\r')
            *at = ' ';
}

/* Adds the column if the line is known. */
static const char *print_place(const reject_t *reject, char out[PLACE_MAX + 12]) {
    place_words(out, reject->line, reject->offset);
    if (reject->line)
        snprintf(out + strlen(out), 12, ":%" PRIu32, reject->column);
    return out;
}

static const char *spell_dialect(rejects_t *rejects, const reject_t *reject) {
    rejects->spelling.length = 0;
    if (!reject->file->dialect)
        return "delimiter=2c columns=-";
    dialect_print(reject->file->dialect, &rejects->spelling);
    return rejects->spelling.bytes;
}

/* NULL: out of memory. */
static char *print_head(rejects_t *rejects, const reject_t *reject, const reject_identity_t *identity) {
    char reason[400], kept[40] = "", of[40] = "", input[40] = "", place[PLACE_MAX + 12], *head;
    print_reason(reject, reason, sizeof reason);
    if (reject->kept < reject->length)
        snprintf(kept, sizeof kept, " kept=%" PRIu64, reject->kept);
    if (reject->of && reject->of != identity->hash)
        snprintf(of, sizeof of, " of=%016" PRIx64, reject->of);
    if (reject->file->known_as)
        snprintf(input, sizeof input, " input=%" PRIu32, reject->file->ordinal);
    const int length =
        asprintf(&head,
                 "%soffset=%" PRIu64 " line=%" PRIu64 " length=%" PRIu64 "%s hash=%016" PRIx64
                 "%s dialect=%016" PRIx64 " field=%s %s%s file=%s -- %s%s: %s%s\n",
                 rejects->store->mark, reject->offset, reject->line, reject->length, kept, identity->hash, of,
                 identity->dialect, reject->field ? reject->field : "-", spell_dialect(rejects, reject),
                 input, identity->input, reject->file->input->name, print_place(reject, place), reason,
                 kept[0] ? " (only its first bytes are kept here)" : "");
    return length < 0 ? NULL : head;
}

static bool write_entry(rejects_t *rejects, const reject_t *reject, err_t *err) {
    if (!rejects->store && !(rejects->store = reject_store_new(&rejects->options, err)))
        return false;
    reject_store_t *store = rejects->store;
    const load_file_t *file = reject->file;
    char word[WORD_ROOM];
    /* the catalog's name of the input stays the same when a load continues from another folder */
    reject_print_word(file->known_as ? file->known_as : file->input->name, word, sizeof word);
    const reject_identity_t identity =
        reject_identity(word, reject_identity_ordinal(rejects->options.inputs, file->ordinal),
                        file->dialect ? file->dialect->hash : 0, reject->offset, reject->length,
                        reject->bytes, (size_t)reject->kept);
    /* where the retried file is the load's own, no file need be opened for writing to see that it has this reject */
    if (reject_known_has_of(&store->known, &identity))
        return true;
    if (!reject_store_open(store, err))
        return false;
    if (reject_known_has_of(&store->known, &identity))
        return true;
    char *head = print_head(rejects, reject, &identity);
    const bool whole = head && !rejects->spelling.lacking;
    struct iovec pieces[] = {
        {head, whole ? strlen(head) : 0}, {(void *)reject->bytes, (size_t)reject->kept}, {(void *)"\n", 1}};
    const bool ok = whole ? write_all(store, pieces, 3, err) : err_memory(err, rejects->spelling.lacking);
    free(head);
    return ok && (reject_known_add(&store->known, &identity) || err_memory(err, sizeof identity));
}

static bool may_be_all(const reject_options_t *options) {
    return options->most_percent >= 100;
}

/* Estimates the number of records in the end. Bad records may stand together: a load whose share of rejects is small in the end
 * must not stop because the share is large so far. */
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

/* True if the format seems to be wrong and few rejects were allowed. Retried records say nothing about that; nor does the server:
 * a record that makes a document fits. */
static bool all_rejected(const rejects_t *rejects) {
    const reject_options_t *options = &rejects->options;
    return !options->retried && options->most <= REJECT_USUAL_MOST && !may_be_all(options) &&
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

/* Writes a row as Extended JSON, as if the user had edited its bytes: the head has the hash of these, too. Bytes from a reject
 * file that are no BSON stay as they are. */
static bool write_row(rejects_t *rejects, const reject_t *reject, err_t *err) {
    bson_t document;
    size_t length;
    char *json = bson_init_static(&document, reject->bytes, (size_t)reject->kept)
                     ? ejson_print(&document, false, &length)
                     : NULL;
    reject_t row = *reject;
    if (json) {
        row.bytes = (const uint8_t *)json;
        row.length = row.kept = length;
        row.of = reject->of ? reject->of : reject_identity_hash(reject->bytes, (size_t)reject->kept);
    }
    const bool ok = write_entry(rejects, &row, err);
    bson_free(json);
    return ok;
}

bool rejects_add(rejects_t *rejects, const reject_t *reject, err_t *err) {
    char place[PLACE_MAX + 12];
    pthread_mutex_lock(&rejects->lock);
    bool ok = !rejects->options.write ||
              (rejects->options.schema->arrow ? write_row : write_entry)(rejects, reject, err);
    const char *path = rejects_path(rejects);
    if (ok) {
        rejects->count++;
        rejects->leading += reject->file == rejects->options.first && reject->offset < RECORD_ID_BLOCK_BYTES;
        if (rejects->count <= SAID_ONE_BY_ONE)
            log_warn("rejected %s%s (offset %" PRIu64 "%s%s): %s", reject->file->input->name,
                     print_place(reject, place), reject->offset, reject->field ? ", field " : "",
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
    return rejects->store && rejects->count ? rejects->store->path : NULL;
}
