#include "load/reject.h"
#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { SAID_ONE_BY_ONE = 5, FIRST_RECORDS = 100, MARK_DIGITS = 8 };

struct rejects {
    reject_options_t options;
    pthread_mutex_t lock;
    FILE *file;
    char mark[2 + MARK_DIGITS + 2]; /* "#@1f2e3d4c " */
    bool needs_line_end;            /* the file was left without one */
    uint64_t *known;                /* hashes of the entries that stood in the file before */
    size_t known_count, known_room;
    uint64_t count, looked_at;
    bool documents;
    char *line; /* one entry's first line */
    size_t line_room;
};

rejects_t *rejects_new(const reject_options_t *options, err_t *err) {
    rejects_t *rejects = calloc(1, sizeof *rejects);
    if (!rejects) {
        err_memory(err, sizeof *rejects);
        return NULL;
    }
    rejects->options = *options;
    pthread_mutex_init(&rejects->lock, NULL);
    return rejects;
}

void rejects_free(rejects_t *rejects) {
    if (!rejects)
        return;
    if (rejects->file)
        fclose(rejects->file);
    pthread_mutex_destroy(&rejects->lock);
    free(rejects->known);
    free(rejects->line);
    free(rejects);
}

/* Paths with blanks, percent signs and control characters fit into one word. */
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

static bool read_word(const char *text, char *out, size_t room) {
    size_t used = 0;
    for (; *text && *text != ' ' && *text != '\n'; text++) {
        unsigned byte = (unsigned char)*text;
        if (byte == '%') {
            if (sscanf(text, "%%%2x", &byte) != 1)
                return false;
            text += 2;
        }
        if (used + 1 == room)
            return false;
        out[used++] = (char)byte;
    }
    out[used] = '\0';
    return used > 0;
}

static uint64_t entry_hash(const char *word, uint64_t offset) {
    return XXH3_64bits_withSeed(word, strlen(word), offset);
}

static bool remember(rejects_t *rejects, uint64_t hash) {
    if (rejects->known_count == rejects->known_room) {
        size_t room = rejects->known_room ? rejects->known_room * 2 : 64;
        uint64_t *larger = realloc(rejects->known, room * sizeof *larger);
        if (!larger)
            return false;
        rejects->known = larger;
        rejects->known_room = room;
    }
    rejects->known[rejects->known_count++] = hash;
    return true;
}

static int by_value(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* The known ones are sorted once, when the file is opened. */
static bool is_known(const rejects_t *rejects, uint64_t hash) {
    return rejects->known_count &&
           bsearch(&hash, rejects->known, rejects->known_count, sizeof hash, by_value) != NULL;
}

/* Behind the end of the line at `at`. */
static const char *behind_line(const char *at, const char *end) {
    const char *found = memchr(at, '\n', (size_t)(end - at));
    return found ? found + 1 : end;
}

static bool whole_file(const char *path, char **text, size_t *size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat stat;
    *size = 0;
    *text = NULL;
    bool ok = fd >= 0 && fstat(fd, &stat) == 0 && (*text = calloc(1, (size_t)stat.st_size + 2 * POOL_SLACK));
    while (ok && *size < (size_t)stat.st_size) {
        ssize_t got = read(fd, *text + *size, (size_t)stat.st_size - *size);
        if (got > 0)
            *size += (size_t)got;
        else if (got == 0)
            break;
        else
            ok = errno == EINTR;
    }
    int problem = errno;
    if (fd >= 0)
        close(fd);
    if (!ok)
        free(*text);
    errno = problem;
    return ok;
}

/* A load that goes on finds what an earlier run has rejected: nothing is written twice, nothing is lost. What
 * a kill cut off in the middle of an entry (no line end, and shorter than the entry says) is cut away, to be
 * written again; *behind is where the file goes on then. */
static bool read_known(rejects_t *rejects, size_t *behind, err_t *err) {
    char *text;
    size_t size;
    *behind = 0;
    if (!whole_file(rejects->options.path, &text, &size))
        return errno == ENOENT ||
               err_set(err, STATUS_HOST, "the reject file %s cannot be read: %s; name another with --rejects",
                       rejects->options.path, strerror(errno));
    const char *end = text + size;
    bool ok = true;
    *behind = size;
    for (const char *at = text; ok && at < end;) {
        const char *next = behind_line(at, end), *after = behind_line(next, end);
        char line[16384], word[3 * 4096];
        snprintf(line, sizeof line, "%.*s", (int)(next - at), at);
        const char *offset = strstr(line, " offset="), *length = strstr(line, " length="),
                   *path = strstr(line, " file=");
        bool entry = strncmp(line, "#@", 2) == 0 && offset && length && path && next[-1] == '\n';
        bool torn = next == end && next[-1] != '\n' && line[0] == '#';
        if (entry && after == end && (next == end || end[-1] != '\n'))
            torn = (size_t)(end - next) < strtoull(length + 8, NULL, 10);
        if (torn) {
            *behind = (size_t)(at - text);
            break;
        }
        if (entry) {
            snprintf(word, sizeof word, "%s", path + 6);
            word[strcspn(word, " \n")] = '\0';
            ok = remember(rejects, entry_hash(word, strtoull(offset + 8, NULL, 10))) || err_memory(err, size);
        }
        at = next;
    }
    if (rejects->known_count)
        qsort(rejects->known, rejects->known_count, sizeof *rejects->known, by_value);
    rejects->needs_line_end = *behind && text[*behind - 1] != '\n';
    free(text);
    return ok;
}

static bool open_file(rejects_t *rejects, err_t *err) {
    size_t behind;
    if (!read_known(rejects, &behind, err))
        return false;
    bool fresh = behind == 0;
    rejects->file = fopen(rejects->options.path, "a");
    /* a device has nothing to cut away */
    if (rejects->file && ftruncate(fileno(rejects->file), (off_t)behind) != 0 && errno != EINVAL) {
        fclose(rejects->file);
        rejects->file = NULL;
    }
    if (!rejects->file)
        return err_set(err, STATUS_HOST,
                       "the reject file %s cannot be written: %s; name another with --rejects",
                       rejects->options.path, strerror(errno));
    uint64_t seed[2] = {(uint64_t)clock_now_ns(), (uint64_t)getpid() << 32 | (uint64_t)clock_wall_ms()};
    snprintf(rejects->mark, sizeof rejects->mark, "#@%08x ",
             (unsigned)(XXH3_64bits(seed, sizeof seed) >> 32));
    if (fresh)
        fprintf(rejects->file,
                "# tipple rejects: mend the line below each #@ line (or delete it to leave the record out), "
                "then run\n"
                "#   tipple load --format %s --uri .../%s --mended %s\n",
                rejects->options.format, rejects->options.target, rejects->options.path);
    if (rejects->needs_line_end)
        fputc('\n', rejects->file);
    /* the mark is announced: only lines that start with an announced mark are entries */
    fprintf(rejects->file, "# marked %s\n", rejects->mark);
    return true;
}

static bool cannot_write(rejects_t *rejects, err_t *err) {
    return err_set(
        err, STATUS_HOST,
        "the reject file %s cannot be written: %s; make room or name another with --rejects, then run the "
        "same command again",
        rejects->options.path, strerror(errno));
}

static bool write_entry(rejects_t *rejects, const reject_t *reject, err_t *err) {
    char word[3 * 4096];
    print_word(reject->file->input->name, word, sizeof word);
    if (is_known(rejects, entry_hash(word, reject->offset)))
        return true;
    if (!rejects->line && !(rejects->line = malloc(rejects->line_room = 64 * 1024)))
        return err_memory(err, 64 * 1024);
    if (!reject->file->dialect ||
        !dialect_print(rejects->options.schema, reject->file->dialect, rejects->line, rejects->line_room))
        strcpy(rejects->line, "delimiter=2c columns=-");
    fprintf(rejects->file,
            "%soffset=%" PRIu64 " line=%" PRIu64 " length=%" PRIu64 " field=%s %s file=%s -- %s:%" PRIu64
            ":%u: %s%s\n",
            rejects->mark, reject->offset, reject->line, reject->length, reject->field ? reject->field : "-",
            rejects->line, word, reject->file->input->name, reject->line, reject->column, reject->reason,
            reject->kept < reject->length ? " (only its first bytes are kept here)" : "");
    fwrite(reject->bytes, 1, reject->kept, rejects->file);
    fputc('\n', rejects->file);
    return !ferror(rejects->file) || cannot_write(rejects, err);
}

static bool too_many(const rejects_t *rejects, bool at_end) {
    const reject_options_t *options = &rejects->options;
    if (options->most_percent < 0)
        return rejects->count > options->most;
    /* a share says little about the first few records */
    if (!at_end && rejects->looked_at < 10000)
        return false;
    return (double)rejects->count * 100.0 > options->most_percent * (double)rejects->looked_at;
}

static bool say_too_many(rejects_t *rejects, err_t *err) {
    if (!rejects->documents && rejects->count >= FIRST_RECORDS)
        return err_set(err, STATUS_TOO_MANY_REJECTED,
                       "stopped: the first %" PRIu64
                       " records were all rejected; is --format %s the right one for "
                       "these files? (%s holds them)",
                       rejects->count, rejects->options.format, rejects->options.path);
    return err_set(err, STATUS_TOO_MANY_REJECTED,
                   "stopped: %" PRIu64
                   " records were rejected, more than --max-rejects allows; look into %s, then "
                   "run the same command again with a higher --max-rejects to go on",
                   rejects->count, rejects->options.path);
}

bool rejects_add(rejects_t *rejects, const reject_t *reject, err_t *err) {
    pthread_mutex_lock(&rejects->lock);
    bool ok = !rejects->options.write ||
              ((rejects->file || open_file(rejects, err)) && write_entry(rejects, reject, err));
    if (ok) {
        rejects->count++;
        if (rejects->count <= SAID_ONE_BY_ONE)
            log_warn("rejected %s:%" PRIu64 ":%u (offset %" PRIu64 "%s%s): %s", reject->file->input->name,
                     reject->line, reject->column, reject->offset, reject->field ? ", field " : "",
                     reject->field ? reject->field : "", reject->reason);
        else if (rejects->count == SAID_ONE_BY_ONE + 1)
            log_warn("more rejects are not shown here; %s holds them all", rejects->options.path);
        if (too_many(rejects, false) || (!rejects->documents && rejects->count >= FIRST_RECORDS))
            ok = say_too_many(rejects, err);
    }
    pthread_mutex_unlock(&rejects->lock);
    return ok;
}

void rejects_looked_at(rejects_t *rejects, uint64_t records, bool documents) {
    pthread_mutex_lock(&rejects->lock);
    rejects->looked_at += records;
    rejects->documents |= documents;
    pthread_mutex_unlock(&rejects->lock);
}

bool rejects_check(rejects_t *rejects, err_t *err) {
    pthread_mutex_lock(&rejects->lock);
    bool ok = !rejects->count || !too_many(rejects, true) || say_too_many(rejects, err);
    pthread_mutex_unlock(&rejects->lock);
    return ok;
}

bool rejects_flush(rejects_t *rejects, err_t *err) {
    pthread_mutex_lock(&rejects->lock);
    bool ok = !rejects->file || (fflush(rejects->file) == 0 && fsync(fileno(rejects->file)) == 0) ||
              errno == EINVAL || cannot_write(rejects, err);
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
    return rejects->options.path;
}

/* --- reading a mended file
 * ---------------------------------------------------------------------------------------- */

typedef struct {
    char marks[256][MARK_DIGITS + 4];
    size_t count;
} marks_t;

static bool is_entry(const marks_t *marks, const char *at, const char *end) {
    for (size_t i = 0; i < marks->count; i++) {
        size_t length = strlen(marks->marks[i]);
        if ((size_t)(end - at) >= length && memcmp(at, marks->marks[i], length) == 0)
            return true;
    }
    return false;
}

static bool read_entry(const char *path, const schema_t *schema, const char *at, const char *end,
                       uint64_t line, mended_t *mended, err_t *err) {
    char *text = strndup(at, (size_t)(end - at));
    if (!text)
        return err_memory(err, (size_t)(end - at));
    const char *offset = strstr(text, " offset="), *delimiter = strstr(text, " delimiter="),
               *file = strstr(text, " file=");
    bool ok = offset && delimiter && file &&
              sscanf(offset, " offset=%" SCNu64 " line=%" SCNu64, &mended->offset, &mended->line) == 2 &&
              dialect_read(schema, delimiter + 1, &mended->dialect) &&
              read_word(file + 6, mended->path, sizeof mended->path);
    free(text);
    mended->at_line = line;
    return ok ||
           err_set(err, STATUS_USAGE,
                   "%s:%" PRIu64 ": this #@ line was changed and says no longer where its record belongs; "
                   "take it from the original reject file (or delete it with its record)",
                   path, line);
}

static bool each_entry(const char *path, const schema_t *schema, const char *text, size_t size,
                       mended_fn *take, void *context, err_t *err) {
    const char *end = text + size;
    marks_t marks = {.count = 0};
    mended_t *mended = malloc(sizeof *mended);
    uint64_t line = 1;
    bool ok = mended != NULL || err_memory(err, sizeof *mended);
    for (const char *at = text; ok && at < end; line++) {
        const char *next = behind_line(at, end);
        if (strncmp(at, "# marked #@", 11) == 0 && next - at >= 11 + MARK_DIGITS && marks.count < 256)
            snprintf(marks.marks[marks.count++], sizeof marks.marks[0], "%.*s ", 2 + MARK_DIGITS, at + 9);
        if (!is_entry(&marks, at, end)) {
            at = next;
            continue;
        }
        ok = read_entry(path, schema, at, next, line, mended, err);
        mended->bytes = (const uint8_t *)next;
        at = next;
        /* the record reaches to the next entry, announcement or the end */
        while (at < end && !is_entry(&marks, at, end) && strncmp(at, "# marked #@", 11) != 0) {
            at = behind_line(at, end);
            line++;
        }
        mended->length = (size_t)(at - (const char *)mended->bytes);
        mended->length -= mended->length && mended->bytes[mended->length - 1] == '\n';
        mended->length -= mended->length && mended->bytes[mended->length - 1] == '\r';
        ok = ok && take(context, mended, err);
    }
    free(mended);
    if (ok && !marks.count)
        return err_set(err, STATUS_USAGE, "%s is not a reject file of tipple: no line says '# marked #@...'",
                       path);
    return ok;
}

bool rejects_read(const char *path, const schema_t *schema, mended_fn *take, void *context, err_t *err) {
    char *text;
    size_t size;
    if (!whole_file(path, &text, &size))
        return err_set(err, STATUS_USAGE, "the mended file %s cannot be read: %s", path, strerror(errno));
    bool ok = each_entry(path, schema, text, size, take, context, err);
    free(text);
    return ok;
}
