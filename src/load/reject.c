#include "load/reject.h"
#include "base/clock.h"
#include "base/log.h"
#include "load/reject_file.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

enum { SAID_ONE_BY_ONE = 5, FIRST_RECORDS = 100 };

struct rejects {
    reject_options_t options;
    pthread_mutex_t lock;
    FILE *file;
    char mark[REJECT_MARK]; /* "#@1f2e3d4c " */
    bool needs_line_end;    /* the file was left without one */
    uint64_t *known;        /* hashes of the entries that stood in the file before */
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

static uint64_t entry_hash(const char *word, size_t length, uint64_t offset) {
    return XXH3_64bits_withSeed(word, length, offset);
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

static const char FIRST_WORDS[] = "# tipple rejects";

/* Not even the beginning of a reject file, of which a kill may have left a word: somebody's own file, perhaps
 * the input. */
static bool is_foreign(const reject_file_t *file) {
    const size_t words = sizeof FIRST_WORDS - 1;
    return !file->mark[0] && memcmp(file->text, FIRST_WORDS, file->size < words ? file->size : words) != 0;
}

static bool refuse_foreign(const char *path, status_t status, err_t *err) {
    return err_set(
        err, status,
        "%s is no reject file of tipple, and stays as it is: name another with --rejects, then run "
        "the same command again",
        path);
}

bool rejects_may_use(const char *path, err_t *err) {
    reject_file_t file;
    if (!reject_file_open_head(&file, path))
        return true;
    const bool foreign = is_foreign(&file);
    reject_file_close(&file);
    return !foreign || refuse_foreign(path, STATUS_USAGE, err);
}

/* A load that goes on finds what an earlier run has rejected: nothing is written twice, nothing is lost. What
 * a kill cut off in the middle is cut away, to be written again; *behind is where the file goes on then. */
static bool read_known(rejects_t *rejects, size_t *behind, err_t *err) {
    reject_file_t file;
    reject_entry_t entry;
    *behind = 0;
    if (!reject_file_open(&file, rejects->options.path))
        return errno == ENOENT ||
               err_set(err, STATUS_HOST, "the reject file %s cannot be read: %s; name another with --rejects",
                       rejects->options.path, strerror(errno));
    if (is_foreign(&file)) {
        reject_file_close(&file);
        return refuse_foreign(rejects->options.path, STATUS_HOST, err);
    }
    size_t at = file.first;
    uint64_t line = file.first_line;
    bool ok = true;
    int more;
    *behind = file.size;
    memcpy(rejects->mark, file.mark, sizeof rejects->mark);
    while (ok && (more = reject_file_next(&file, &at, &line, &entry)) != 0) {
        uint64_t offset;
        size_t length;
        if (more < 0) {
            ok = err_memory(err, file.size);
            break;
        }
        const char *word = reject_entry_word(&entry, "file", &length);
        if (entry.torn)
            *behind = entry.at;
        else if (entry.length && word && reject_entry_number(&entry, "offset", &offset))
            ok = remember(rejects, entry_hash(word, length, offset)) || err_memory(err, file.size);
        reject_entry_free(&entry);
    }
    if (rejects->known_count)
        qsort(rejects->known, rejects->known_count, sizeof *rejects->known, by_value);
    rejects->needs_line_end = *behind && file.text[*behind - 1] != '\n';
    reject_file_close(&file);
    return ok;
}

static bool open_file(rejects_t *rejects, err_t *err) {
    size_t behind;
    if (!read_known(rejects, &behind, err))
        return false;
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
    if (rejects->needs_line_end)
        fputc('\n', rejects->file);
    if (rejects->mark[0])
        return true;
    uint64_t seed[2] = {(uint64_t)clock_now_ns(), (uint64_t)getpid() << 32 | (uint64_t)clock_wall_ms()};
    snprintf(rejects->mark, sizeof rejects->mark, "#@%08x ",
             (unsigned)(XXH3_64bits(seed, sizeof seed) >> 32));
    fprintf(rejects->file,
            "%s: fix the line below each #@ line (or delete it to leave the record out), then "
            "run\n"
            "#   tipple load --format %s --uri .../%s --retry %s\n"
            "# marked %.*s\n",
            FIRST_WORDS, rejects->options.format, rejects->options.target, rejects->options.path,
            (int)strlen(rejects->mark) - 1, rejects->mark);
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
    char reason[400];
    reject_print_word(reject->file->input->name, word, sizeof word);
    if (is_known(rejects, entry_hash(word, strlen(word), reject->offset)))
        return true;
    snprintf(reason, sizeof reason, "%s", reject->reason);
    for (char *at = reason; *at; at++)
        if (*at == '\n' || *at == '\r')
            *at = ' ';
    if (!rejects->line && !(rejects->line = malloc(rejects->line_room = 64 * 1024)))
        return err_memory(err, 64 * 1024);
    if (!reject->file->dialect ||
        !dialect_print(rejects->options.schema, reject->file->dialect, rejects->line, rejects->line_room))
        strcpy(rejects->line, "delimiter=2c columns=-");
    fprintf(rejects->file,
            "%soffset=%" PRIu64 " line=%" PRIu64 " length=%" PRIu64 " field=%s %s file=%s -- %s:%" PRIu64
            ":%u: %s%s\n",
            rejects->mark, reject->offset, reject->line, reject->length, reject->field ? reject->field : "-",
            rejects->line, word, reject->file->input->name, reject->line, reject->column, reason,
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

/* --- reading a fixed file
 * --------------------------------------------------------------------------------------- */

static bool read_entry(const char *path, const schema_t *schema, const reject_entry_t *entry, retry_t *retry,
                       err_t *err) {
    size_t length, dialect_length;
    const char *file = reject_entry_word(entry, "file", &length),
               *dialect = reject_entry_word(entry, "delimiter", &dialect_length);
    retry->at_line = entry->line;
    retry->bytes = entry->record;
    retry->length = entry->length;
    return (file && dialect && reject_entry_number(entry, "offset", &retry->offset) &&
            reject_entry_number(entry, "line", &retry->line) &&
            dialect_read(schema, dialect - strlen("delimiter="), &retry->dialect) &&
            reject_read_word(file, length, retry->path, sizeof retry->path)) ||
           err_set(err, STATUS_USAGE,
                   "%s:%" PRIu64
                   ": this #@ line was changed and says no longer where its record belongs; take it from "
                   "the original reject file (or delete it with its record)",
                   path, entry->line);
}

bool rejects_read(const char *path, const schema_t *schema, retry_fn *take, void *context, err_t *err) {
    reject_file_t file;
    reject_entry_t entry;
    if (!reject_file_open(&file, path))
        return err_set(err,
                       errno == ENOMEM || errno == EMFILE || errno == ENFILE ? STATUS_HOST : STATUS_USAGE,
                       "the reject file %s cannot be read: %s", path, strerror(errno));
    retry_t *retry = malloc(sizeof *retry);
    bool ok = retry ? true : err_memory(err, sizeof *retry);
    if (ok && !file.mark[0])
        ok = err_set(err, STATUS_USAGE, "%s is not a reject file of tipple: no line says '# marked #@...'",
                     path);
    size_t at = file.first;
    uint64_t line = file.first_line;
    int more;
    while (ok && (more = reject_file_next(&file, &at, &line, &entry)) != 0) {
        ok = more > 0 ? read_entry(path, schema, &entry, retry, err) && take(context, retry, err)
                      : err_memory(err, file.size);
        if (more > 0)
            reject_entry_free(&entry);
    }
    free(retry);
    reject_file_close(&file);
    return ok;
}
