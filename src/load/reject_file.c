#include "load/reject_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char ANNOUNCEMENT[] = "# marked #@";
enum { MARK_DIGITS = 8, HEAD_BYTES = 64 * 1024 };

static const char *behind_line(const char *at, const char *end) {
    const char *found = memchr(at, '\n', (size_t)(end - at));
    return found ? found + 1 : end;
}

static bool read_text(reject_file_t *file, int fd, size_t most) {
    struct stat stat;
    if (fstat(fd, &stat) != 0)
        return false;
    if (S_ISDIR(stat.st_mode)) {
        errno = EISDIR;
        return false;
    }
    size_t size = S_ISREG(stat.st_mode) ? (size_t)stat.st_size : 0;
    size = size < most ? size : most;
    if (!(file->text = calloc(1, size + 1)))
        return false;
    while (file->size < size) {
        ssize_t got = read(fd, file->text + file->size, size - file->size);
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR)
            return false;
        file->size += got > 0 ? (size_t)got : 0;
    }
    return true;
}

static bool is_head(const reject_file_t *file, const char *at, const char *end) {
    size_t length = strlen(file->mark);
    return length && (size_t)(end - at) >= length && memcmp(at, file->mark, length) == 0;
}

/* A head of which a kill left only the beginning of its mark looks like a second line of the record before
 * it. */
static void cut_torn_mark(reject_file_t *file) {
    const char *end = file->text + file->size;
    const char *line = memrchr(file->text, '\n', file->size);
    size_t length = line ? (size_t)(end - ++line) : 0;
    if (!length || length >= strlen(file->mark) || memcmp(line, file->mark, length) != 0)
        return;
    const char *before = memrchr(file->text, '\n', (size_t)(line - 1 - file->text));
    if (!is_head(file, before ? before + 1 : file->text, end))
        file->size = (size_t)(line - file->text);
}

static bool open_some(reject_file_t *file, const char *path, size_t most) {
    *file = (reject_file_t){.first_line = 1};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool ok = read_text(file, fd, most);
    int problem = errno;
    close(fd);
    if (!ok) {
        free(file->text);
        file->text = NULL;
        errno = problem;
        return false;
    }
    const char *end = file->text + file->size;
    for (const char *at = file->text; at < end && !file->mark[0];
         at = behind_line(at, end), file->first_line++) {
        size_t announced = sizeof ANNOUNCEMENT - 1;
        if ((size_t)(end - at) >= announced + MARK_DIGITS && memcmp(at, ANNOUNCEMENT, announced) == 0 &&
            strspn(at + announced, "0123456789abcdef") == MARK_DIGITS)
            snprintf(file->mark, sizeof file->mark, "#@%.*s ", MARK_DIGITS, at + announced);
        file->first = (size_t)(behind_line(at, end) - file->text);
    }
    cut_torn_mark(file);
    return true;
}

bool reject_file_open(reject_file_t *file, const char *path) {
    return open_some(file, path, SIZE_MAX);
}

bool reject_file_open_head(reject_file_t *file, const char *path) {
    return open_some(file, path, HEAD_BYTES);
}

void reject_file_close(reject_file_t *file) {
    free(file->text);
    file->text = NULL;
}

int reject_file_next(const reject_file_t *file, size_t *at, uint64_t *line, reject_entry_t *entry) {
    const char *end = file->text + file->size, *head = file->text + *at;
    while (head < end && !is_head(file, head, end)) {
        head = behind_line(head, end);
        ++*line;
    }
    if (head == end)
        return 0;
    const char *record = behind_line(head, end), *behind = record;
    *entry =
        (reject_entry_t){.at = (size_t)(head - file->text), .line = *line, .record = (const uint8_t *)record};
    for (++*line; behind < end && !is_head(file, behind, end); ++*line)
        behind = behind_line(behind, end);
    *at = entry->behind = (size_t)(behind - file->text);
    if (!(entry->head = strndup(head, (size_t)(record - head))))
        return -1;
    size_t length = (size_t)(behind - record);
    bool ended = behind[-1] == '\n';
    uint64_t whole = 0;
    entry->torn = record == end || (behind == end && !ended &&
                                    (!reject_entry_number(entry, "length", &whole) || length < whole));
    length -= length && record[length - 1] == '\n';
    length -= length && record[length - 1] == '\r';
    entry->length = length;
    return 1;
}

void reject_entry_free(reject_entry_t *entry) {
    free(entry->head);
    entry->head = NULL;
}

const char *reject_entry_word(const reject_entry_t *entry, const char *name, size_t *length) {
    size_t n = strlen(name);
    for (const char *at = strchr(entry->head, ' '); at; at = strchr(at + 1, ' ')) {
        if (strncmp(at + 1, "-- ", 3) == 0)
            return NULL; /* words for people from here on */
        if (strncmp(at + 1, name, n) == 0 && at[1 + n] == '=') {
            *length = strcspn(at + n + 2, " \n");
            return at + n + 2;
        }
    }
    return NULL;
}

bool reject_entry_number(const reject_entry_t *entry, const char *name, uint64_t *value) {
    size_t length;
    const char *word = reject_entry_word(entry, name, &length);
    if (!word || !length || strspn(word, "0123456789") != length)
        return false;
    errno = 0;
    *value = strtoull(word, NULL, 10);
    return errno == 0;
}

void reject_print_word(const char *text, char *out, size_t room) {
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

bool reject_read_word(const char *text, size_t length, char *out, size_t room) {
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned byte = (unsigned char)text[i];
        if (byte == '%') {
            if (i + 2 >= length || sscanf(text + i, "%%%2x", &byte) != 1)
                return false;
            i += 2;
        }
        if (used + 1 == room)
            return false;
        out[used++] = (char)byte;
    }
    out[used] = '\0';
    return used > 0;
}
