/* Which file a load may write into, how an entry comes into it, and what must be repaired before. */
#include "load/rejects/reject_write.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/log.h"
#include "input/magic.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/uio.h>
#include <unistd.h>
#include <xxhash.h>

enum { MOST_TRIES = 1000, WORD_ROOM = 3 * 4096, NOTE_ROOM = 160 };

static bool cannot(const char *path, const char *what, int error, err_t *err) {
    return err_set(err, STATUS_HOST,
                   "the reject file %s cannot be %s: %s; make room or name another with --rejects, then run "
                   "the same command again",
                   path, what, strerror(error));
}

static bool refuse_other(const char *path, status_t status, err_t *err) {
    return err_set(err, status,
                   "%s is no reject file of tipple, and stays as it is: name another with --rejects, then "
                   "run the same command again",
                   path);
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
    return !other || refuse_other(path, STATUS_USAGE, err);
}

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_retried(const reject_target_t *target, const char *path) {
    struct stat named, retried;
    return target->retried && stat(path, &named) == 0 && stat(target->retried, &retried) == 0 &&
           same_file(&retried, &named);
}

/* ---- appending ---- */

/* Cuts the file back to `whole` bytes: the beginning of an entry would pass for a record that the user edited. A file that
 * another program has changed meanwhile stays as it is. */
static void cut_back(reject_writer_t *writer, off_t whole) {
    struct stat status;
    if (writer->size > whole && fstat(writer->fd, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size == writer->size && ftruncate(writer->fd, whole) == 0)
        writer->size = whole;
}

/* Writes all of it or nothing, also when the disk is full. */
static bool write_all(reject_writer_t *writer, struct iovec *pieces, int count, err_t *err) {
    const off_t whole = writer->size;
    while (count && !writer->problem) {
        ssize_t wrote = writev(writer->fd, pieces, count);
        if (wrote <= 0 && errno != EINTR)
            writer->problem = wrote ? errno : ENOSPC;
        size_t done = wrote > 0 ? (size_t)wrote : 0;
        writer->size += (off_t)done;
        while (count && done >= pieces->iov_len && !writer->problem) {
            done -= pieces++->iov_len;
            count--;
        }
        if (count) {
            pieces->iov_base = (char *)pieces->iov_base + done;
            pieces->iov_len -= done;
        }
    }
    if (!writer->problem)
        return true;
    cut_back(writer, whole);
    return cannot(writer->path, "written", writer->problem, err);
}

/* Makes the beginning of a file: a mark that no record can know, and words for whoever opens the file. A line end in a
 * name or a filter would end their comment. */
static void begin_file(reject_writer_t *writer, text_t *words) {
    const reject_target_t *target = writer->target;
    uint64_t seed[2] = {(uint64_t)clock_now_ns(), (uint64_t)getpid() << 32 | (uint64_t)clock_wall_ms()};
    snprintf(writer->mark, sizeof writer->mark, "#@%08x ", (unsigned)(XXH3_64bits(seed, sizeof seed) >> 32));
    text_print(words,
               "%s: fix the line below each #@ line (or delete it to leave the record out), then run\n"
               "#   tipple load",
               REJECT_FIRST_WORDS);
    for (const char *at = target->again; at && *at; at++)
        text_print(words, "%c", *at == '\r' || *at == '\n' ? ' ' : *at);
    shell_quote_option(words, "--retry", strpbrk(writer->path, "\r\n") ? "FILE" : writer->path);
    if (target->catalog && *target->catalog)
        text_print(words, "\n# of catalog %s", target->catalog);
    text_print(words, "\n# marked %.*s\n", (int)strlen(writer->mark) - 1, writer->mark);
}

/* True if the last entry was cut off. An entry that has only its head counts as cut off, although a user may have deleted the
 * record: after a kill the record is written once more, and that entry counts. */
static bool ends_torn(const reject_file_t *file) {
    const reject_entry_t *last = file->count ? &file->entries[file->count - 1] : NULL;
    return last && last->torn && last->end == file->size &&
           (last->cut_off || file->text[file->size - 1] != '\n');
}

/* Ends what a kill has cut off, so that the next entry begins on a line of its own, and can be read: mostly there is nothing to
 * do. */
static void end_line(const reject_file_t *file, text_t *words) {
    char note[NOTE_ROOM];
    const size_t size = file->size + file->cut;
    const char *before = size ? memrchr(file->text, '\n', size) : NULL,
               *line = before ? before + 1 : file->text;
    const size_t length = (size_t)(file->text + size - line);
    const int noted = snprintf(note, sizeof note,
                               "%s" REJECT_TORN REJECT_FOR_PEOPLE
                               "its load was killed while it wrote the entry above, which may be cut off\n",
                               file->mark);
    /* the note was cut off, or a head in its mark, which then becomes a note */
    if (file->mark[0] && size && length < (size_t)noted && memcmp(line, note, length) == 0 &&
        (file->cut || length >= strlen(file->mark)))
        text_append(words, note + length);
    else
        text_print(words, "%s%s", length ? "\n" : "", file->mark[0] && ends_torn(file) ? note : "");
}

static bool begin(reject_writer_t *writer, const reject_file_t *file, err_t *err) {
    text_t words = {.length = 0};
    text_append(&words, "");
    end_line(file, &words);
    memcpy(writer->mark, file->mark, sizeof writer->mark);
    if (!writer->mark[0])
        begin_file(writer, &words);
    const size_t length = words.length;
    char *all = text_take(&words, err);
    struct iovec piece = {all, length};
    const bool ok = all && (!length || write_all(writer, &piece, 1, err));
    free(all);
    return ok;
}

/* ---- which file ---- */

/* IN_USE, OF_ANOTHER (collection): the load may not write into this file, but perhaps into one of the next name. */
typedef enum { TAKEN, IN_USE, OF_ANOTHER, MOVED_AWAY, FAILED } taking_t;

/* Opens the file, and locks it. What is no regular file, such as /dev/null, belongs to everybody. */
static taking_t lock(reject_writer_t *writer, const char *path, err_t *err) {
    struct stat opened, named;
    writer->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    if (writer->fd < 0 || fstat(writer->fd, &opened) != 0)
        return cannot(path, "written", errno, err), FAILED;
    writer->size = opened.st_size;
    if (!S_ISREG(opened.st_mode))
        return TAKEN;
    while (flock(writer->fd, LOCK_EX | LOCK_NB) != 0)
        if (errno == EWOULDBLOCK)
            return IN_USE;
        else if (errno != EINTR)
            return cannot(path, "locked", errno, err), FAILED;
    /* if it was removed in between, it has no name any more; and it may have grown */
    if (stat(path, &named) != 0 || !same_file(&opened, &named))
        return MOVED_AWAY;
    writer->size = named.st_size;
    return TAKEN;
}

/* Reads what the locked file is, and which rejects it has. */
static taking_t look(reject_writer_t *writer, const char *path, bool is_first, err_t *err) {
    const reject_target_t *target = writer->target;
    reject_file_t file;
    taking_t taking = FAILED;
    if (!reject_file_open(&file, path))
        return cannot(path, "read", errno, err), FAILED;
    snprintf(writer->path, sizeof writer->path, "%s", path);
    if (reject_file_is_other(&file))
        taking = is_first ? (refuse_other(path, STATUS_HOST, err), FAILED) : IN_USE;
    else if (file.mark[0] && strcmp(file.catalog, target->catalog ? target->catalog : "") != 0)
        taking = OF_ANOTHER;
    else if (reject_file_known(&file, &target->inputs, false, &writer->known, err) &&
             begin(writer, &file, err))
        taking = TAKEN;
    writer->kept = writer->size;
    reject_file_close(&file);
    return taking;
}

static taking_t take(reject_writer_t *writer, const char *path, bool is_first, err_t *err) {
    if (is_retried(writer->target, path))
        return IN_USE;
    taking_t taking = lock(writer, path, err);
    if (taking == TAKEN)
        taking = look(writer, path, is_first, err);
    if (taking != TAKEN && writer->fd >= 0) {
        close(writer->fd);
        writer->fd = -1;
    }
    return taking;
}

/* Opens the first file that the load may write into. False: status 8. */
static bool open_file(reject_writer_t *writer, err_t *err) {
    const char *wanted = writer->target->path;
    const char *why = "is another load's; what this one rejects";
    taking_t taking = MOVED_AWAY;
    char path[REJECT_PATH];
    if (writer->own_is_retried)
        why = "stays as it is; what is rejected from now on";
    for (int tries = 0, number = 1; taking != TAKEN && tries < MOST_TRIES; tries++) {
        const int length = number == 1 ? snprintf(path, sizeof path, "%s", wanted)
                                       : snprintf(path, sizeof path, "%s.%d", wanted, number);
        if ((size_t)length >= sizeof path)
            return cannot(wanted, "written", ENAMETOOLONG, err);
        taking = take(writer, path, number == 1, err);
        if (taking == FAILED)
            return false;
        if (taking == OF_ANOTHER && !writer->own_is_retried)
            why = "holds rejects of another collection; what this load rejects";
        if (taking == TAKEN && number > 1)
            log_note("%s %s is kept in %s", wanted, why, path);
        number += taking != MOVED_AWAY;
    }
    return taking == TAKEN || cannot(wanted, "written", EBUSY, err);
}

bool reject_writer_begin(reject_writer_t *writer, const reject_target_t *target, err_t *err) {
    reject_file_t file = {0};
    *writer = (reject_writer_t){.target = target, .fd = -1};
    snprintf(writer->path, sizeof writer->path, "%s", target->path);
    writer->own_is_retried = is_retried(target, target->path);
    const bool ok = !writer->own_is_retried ||
                    ((reject_file_open(&file, target->path) || cannot(target->path, "read", errno, err)) &&
                     reject_file_known(&file, &target->inputs, true, &writer->known, err));
    reject_file_close(&file);
    if (!ok)
        reject_writer_end(writer, false);
    return ok;
}

void reject_writer_end(reject_writer_t *writer, bool back) {
    if (!writer->target)
        return;
    if (back)
        cut_back(writer, writer->kept);
    if (writer->fd >= 0)
        close(writer->fd); /* also releases the lock */
    reject_known_free(&writer->known);
    text_free(&writer->spelling);
    writer->target = NULL;
}

/* ---- an entry ---- */

/* Writes a word of a head: blanks and control characters become %20 and the like. */
static void print_word(const char *text, char *out, size_t room) {
    size_t used = 0;
    for (; *text && used + 4 < room; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte <= ' ' || byte == '%' || byte == 0x7F)
            used += (size_t)snprintf(out + used, room - used, "%%%02x", byte);
        else
            out[used++] = *text;
    }
    out[used] = '\0';
}

const char *reject_place(const reject_t *reject, char out[REJECT_PLACE]) {
    place_words(out, reject->line, reject->offset);
    if (reject->line)
        snprintf(out + strlen(out), 12, ":%" PRIu32, reject->column);
    return out;
}

static const char *spell_dialect(reject_writer_t *writer, const reject_t *reject) {
    writer->spelling.length = 0;
    if (!reject->piece->dialect)
        return "delimiter=2c columns=-";
    dialect_print(reject->piece->dialect, &writer->spelling);
    return writer->spelling.bytes;
}

/* The name of its input that the catalog has, which stays the same when a load continues from another folder. */
static const char *input_of(const reject_t *reject) {
    return reject->piece->known_as ? reject->piece->known_as : reject->piece->input->name;
}

/* NULL: out of memory. */
static char *print_head(reject_writer_t *writer, const reject_t *reject, const reject_identity_t *identity) {
    char reason[400], kept[40] = "", of[40] = "", input[40] = "", name[WORD_ROOM], place[REJECT_PLACE], *head;
    snprintf(reason, sizeof reason, "%s", reject->reason);
    for (char *at = reason; *at; at++) /* what a server says may have several lines */
        if (*at == '\n' || *at == '\r')
            *at = ' ';
    if (reject->kept < reject->length)
        snprintf(kept, sizeof kept, " kept=%" PRIu64, reject->kept);
    if (reject->of && reject->of != identity->hash)
        snprintf(of, sizeof of, " of=%016" PRIx64, reject->of);
    if (reject->piece->known_as)
        snprintf(input, sizeof input, " input=%" PRIu32, reject->piece->ordinal);
    print_word(input_of(reject), name, sizeof name);
    const int length =
        asprintf(&head,
                 "%soffset=%" PRIu64 " line=%" PRIu64 " length=%" PRIu64 "%s hash=%016" PRIx64
                 "%s dialect=%016" PRIx64 " field=%s %s%s file=%s" REJECT_FOR_PEOPLE "%s%s: %s%s\n",
                 writer->mark, reject->offset, reject->line, reject->length, kept, identity->hash, of,
                 identity->dialect, reject->field ? reject->field : "-", spell_dialect(writer, reject), input,
                 name, reject->piece->input->name, reject_place(reject, place), reason,
                 kept[0] ? " (only its first bytes are kept here)" : "");
    return length < 0 ? NULL : head;
}

static bool write_entry(reject_writer_t *writer, const reject_t *reject, err_t *err) {
    const active_piece_t *piece = reject->piece;
    const reject_identity_t identity =
        reject_identity(input_of(reject), reject_inputs_ordinal(&writer->target->inputs, piece->ordinal),
                        piece->dialect ? piece->dialect->hash : 0, reject->offset, reject->length,
                        reject_identity_hash(reject->bytes, (size_t)reject->kept));
    /* where the retried file is the load's own, no file need be opened for writing to see that it has this reject */
    if (reject_known_has(&writer->known, &identity))
        return true;
    if (writer->fd < 0) {
        if (!open_file(writer, err))
            return false;
        if (reject_known_has(&writer->known, &identity))
            return true;
    }
    char *head = print_head(writer, reject, &identity);
    const bool whole = head && !writer->spelling.lacking;
    struct iovec pieces[] = {
        {head, whole ? strlen(head) : 0}, {(void *)reject->bytes, (size_t)reject->kept}, {(void *)"\n", 1}};
    const bool ok = whole ? write_all(writer, pieces, 3, err) : err_memory(err, writer->spelling.lacking);
    free(head);
    return ok && reject_known_add(&writer->known, &identity, 0, err);
}

/* Writes a row of Arrow as Extended JSON, as if the user had edited its bytes: the head has the hash of these, too. Bytes from a
 * reject file that are no BSON stay as they are. */
static bool write_row(reject_writer_t *writer, const reject_t *reject, err_t *err) {
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
    const bool ok = write_entry(writer, &row, err);
    bson_free(json);
    return ok;
}

bool reject_writer_add(reject_writer_t *writer, const reject_t *reject, err_t *err) {
    return (writer->target->schema->arrow ? write_row : write_entry)(writer, reject, err);
}

/* True if its name is another file's now, or the file is shorter than what was written. */
static bool is_gone(const reject_writer_t *writer) {
    struct stat opened, named;
    if (writer->fd < 0 || fstat(writer->fd, &opened) != 0 || !S_ISREG(opened.st_mode))
        return false;
    return stat(writer->path, &named) != 0 || !same_file(&opened, &named) || opened.st_size < writer->size;
}

bool reject_writer_flush(reject_writer_t *writer, err_t *err) {
    writer->gone |= is_gone(writer);
    writer->kept = writer->size; /* written down from here on */
    if (writer->problem)
        return cannot(writer->path, "written", writer->problem, err);
    if (writer->gone)
        return err_set(err, STATUS_HOST,
                       "the reject file %s was removed, replaced or cut off while it was "
                       "written: run the same command again, which goes on with the file that is there, or "
                       "makes one; what was rejected before is not written again",
                       writer->path);
    return writer->fd < 0 || fsync(writer->fd) == 0 || errno == EINVAL ||
           cannot(writer->path, "written", errno, err);
}
