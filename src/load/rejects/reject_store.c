#include "load/rejects/reject_store.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/shell_word.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { MOST_NAMES = 1000, MOST_RACES = 100, PATH_ROOM = 4096 };

struct reject_store {
    reject_store_options_t options;
    char path[PATH_ROOM];
    int fd;      /* -1: not opened yet */
    int problem; /* errno of a write that failed: what follows it would stand in the middle of an entry */
    bool gone;   /* what was written is no longer all there */
    off_t size;  /* so long it is at least */
    char mark[REJECT_MARK];
    reject_known_t known;
    bool own_is_retried;
};

static bool cannot(const char *path, const char *what, int error, err_t *err) {
    return err_set(err, STATUS_HOST,
                   "the reject file %s cannot be %s: %s; make room or name another with --rejects, then run "
                   "the same command again",
                   path, what, strerror(error));
}

/* --- opening ---------------------------------------------------------------------------------------- */

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_retried(const reject_store_t *store, const struct stat *status) {
    struct stat retried;
    return store->options.retried && stat(store->options.retried, &retried) == 0 &&
           same_file(&retried, status);
}

reject_store_t *reject_store_new(const reject_store_options_t *options, err_t *err) {
    reject_store_t *store = calloc(1, sizeof *store);
    if (!store) {
        err_memory(err, sizeof *store);
        return NULL;
    }
    store->options = *options;
    store->options.catalog = options->catalog ? options->catalog : "";
    store->fd = -1;
    snprintf(store->path, sizeof store->path, "%s", options->path);
    struct stat status;
    store->own_is_retried = stat(options->path, &status) == 0 && is_retried(store, &status);
    reject_file_t file = {0};
    bool ok = !store->own_is_retried || reject_file_open(&file, options->path) ||
              cannot(options->path, "read", errno, err);
    ok = ok &&
         (!store->own_is_retried || reject_file_known(&file, store->options.inputs, true, &store->known) ||
          err_memory(err, file.size));
    reject_file_close(&file);
    if (ok)
        return store;
    reject_store_free(store);
    return NULL;
}

void reject_store_free(reject_store_t *store) {
    if (!store)
        return;
    if (store->fd >= 0)
        close(store->fd);
    reject_known_free(&store->known);
    free(store);
}

static void close_file(reject_store_t *store) {
    close(store->fd);
    store->fd = -1;
}

/* IN_USE, OF_ANOTHER (collection): not this load's to write into; the next name may be. */
typedef enum { TAKEN, IN_USE, OF_ANOTHER, MOVED_AWAY, FAILED } taking_t;

/* Locks what was opened. Files that are none, such as /dev/null, belong to everybody. */
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
    /* somebody may have removed it in between: it would have no name any more */
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

bool reject_store_refuse(const char *path, status_t status, err_t *err) {
    return err_set(
        err, status,
        "%s is no reject file of tipple, and stays as it is: name another with --rejects, then run "
        "the same command again",
        path);
}

/* Of what could not be written whole, its beginning would pass for what a person has made of it. A file that somebody
 * else has changed meanwhile stays as it is. */
static void cut_back(reject_store_t *store, off_t whole) {
    struct stat status;
    if (store->size > whole && fstat(store->fd, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size == store->size && ftruncate(store->fd, whole) == 0)
        store->size = whole;
}

/* All of it or nothing, also when the disk is full. */
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

/* A mark that no record can know, and words for the person who opens the file. A line end in a name or a filter would end
 * their comment. */
static char *make_beginning(reject_store_t *store, err_t *err) {
    uint64_t seed[2] = {(uint64_t)clock_now_ns(), (uint64_t)getpid() << 32 | (uint64_t)clock_wall_ms()};
    text_t words = {.length = 0};
    snprintf(store->mark, sizeof store->mark, "#@%08x ", (unsigned)(XXH3_64bits(seed, sizeof seed) >> 32));
    text_print(&words,
               "%s: fix the line below each #@ line (or delete it to leave the record out), then run\n"
               "#   tipple load",
               reject_first_words);
    for (const char *at = store->options.again; at && *at; at++)
        text_print(&words, "%c", *at == '\r' || *at == '\n' ? ' ' : *at);
    shell_quote_option(&words, "--retry", strpbrk(store->path, "\r\n") ? "FILE" : store->path);
    if (*store->options.catalog)
        text_print(&words, "\n# of catalog %s", store->options.catalog);
    text_print(&words, "\n# marked %.*s\n", (int)strlen(store->mark) - 1, store->mark);
    return text_take(&words, err);
}

/* What a kill cut off is ended, so that the next entry begins on a line of its own. */
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

/* TAKEN: it is this load's from now on. */
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
    } else if (ok && file.mark[0] && strcmp(file.catalog, store->options.catalog) != 0) {
        taking = OF_ANOTHER;
    } else if (ok) {
        ok = (reject_file_known(&file, store->options.inputs, false, &store->known) ||
              err_memory(err, file.size)) &&
             begin(store, &file, err);
    }
    reject_file_close(&file);
    if (!ok || taking != TAKEN)
        close_file(store);
    return ok ? taking : FAILED;
}

bool reject_store_open(reject_store_t *store, err_t *err) {
    const char *wanted = store->options.path;
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
        if (taking == TAKEN && number > 1 && store->own_is_retried)
            log_note("%s stays as it is; what is rejected from now on is kept in %s", wanted, path);
        else if (taking == TAKEN && of_another)
            log_note("%s holds rejects of another collection; what this load rejects is kept in %s", wanted,
                     path);
        else if (taking == TAKEN && number > 1)
            log_note("%s is another load's; what this one rejects is kept in %s", wanted, path);
    }
    return taking == TAKEN || (taking != FAILED && cannot(wanted, "written", EBUSY, err));
}

/* --- using ------------------------------------------------------------------------------------------ */

bool reject_store_knows(const reject_store_t *store, const reject_identity_t *identity) {
    return reject_known_has_of(&store->known, identity);
}

const char *reject_store_mark(const reject_store_t *store) {
    return store->mark;
}

bool reject_store_append(reject_store_t *store, const reject_identity_t *identity, struct iovec *pieces,
                         int count, err_t *err) {
    return write_all(store, pieces, count, err) &&
           (reject_known_add(&store->known, identity) || err_memory(err, sizeof *identity));
}

/* Has its name become another file's, or is it shorter than what was written? */
static bool is_gone(const reject_store_t *store) {
    struct stat opened, named;
    if (store->fd < 0 || fstat(store->fd, &opened) != 0 || !S_ISREG(opened.st_mode))
        return false;
    return stat(store->path, &named) != 0 || !same_file(&opened, &named) || opened.st_size < store->size;
}

bool reject_store_flush(reject_store_t *store, err_t *err) {
    store->gone |= is_gone(store);
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

const char *reject_store_path(const reject_store_t *store) {
    return store->path;
}
