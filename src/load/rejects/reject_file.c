#include "load/rejects/reject_file.h"
#include "base/threads.h"
#include "input/magic.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const char reject_first_words[] = MAGIC_REJECT_WORDS;

static const char ANNOUNCEMENT[] = MAGIC_REJECT_MARK, OWNER[] = "# of catalog ",
                  DIGITS[] = "0123456789abcdef", NOTE[] = "torn", FOR_PEOPLE[] = " -- ";
enum { MARK_DIGITS = 8, HEAD_BYTES = 64 * 1024, PASSED = 1 << 20, WORD = 3 * 4096 };

static const char *behind_line(const char *at, const char *end) {
    const char *found = memchr(at, '\n', (size_t)(end - at));
    return found ? found + 1 : end;
}

/* After the text stand POOL_SLACK zeros, in memory of no file: records are read where they are. Before a record stand as many
 * bytes, its head and the mark. */
static bool map_text(reject_file_t *file, int fd, size_t most) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct stat stat;
    if (fstat(fd, &stat) != 0)
        return false;
    if (S_ISDIR(stat.st_mode)) {
        errno = EISDIR;
        return false;
    }
    const size_t size = S_ISREG(stat.st_mode) ? (size_t)stat.st_size : 0;
    file->size = size < most ? size : most;
    file->mapped = ((file->size + POOL_SLACK) / page + 1) * page;
    char *text = mmap(NULL, file->mapped, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text == MAP_FAILED)
        return false;
    file->text = text;
    return !file->size || mmap(text, file->size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) != MAP_FAILED;
}

bool reject_file_is_head(const reject_file_t *file, const char *at, const char *end) {
    size_t length = strlen(file->mark);
    return length && (size_t)(end - at) >= length && memcmp(at, file->mark, length) == 0;
}

static const char *last_line(const char *text, size_t size) {
    const char *before = memrchr(text, '\n', size);
    return before ? before + 1 : text;
}

/* Or the beginning of one, where the file ends in it: it is completed before anything else is written. */
static bool is_note(const reject_file_t *file, const char *head, const char *end) {
    const size_t mark = strlen(file->mark), word = sizeof NOTE - 1, length = (size_t)(end - head);
    return head == end ? file->cut > 0
                       : reject_file_is_head(file, head, end) &&
                             memcmp(head + mark, NOTE, length < mark + word ? length - mark : word) == 0;
}

/* Has all of its words: a record follows. */
static bool is_whole_head(const reject_file_t *file, const char *head, const char *end) {
    return reject_file_is_head(file, head, end) && !is_note(file, head, end) &&
           memmem(head, (size_t)(end - head), FOR_PEOPLE, sizeof FOR_PEOPLE - 1);
}

/* A head of which a kill left only the beginning of its mark looks like a second line of the record before
 * it. */
static void cut_torn_mark(reject_file_t *file) {
    const char *line = last_line(file->text, file->size);
    size_t length = file->size - (size_t)(line - file->text);
    if (line == file->text || !length || length >= strlen(file->mark) ||
        memcmp(line, file->mark, length) != 0 ||
        is_whole_head(file, last_line(file->text, (size_t)(line - 1 - file->text)), line))
        return;
    file->size -= length;
    file->cut = length;
}

static bool is_announcement(const char *at, const char *end) {
    const size_t announced = sizeof ANNOUNCEMENT - 1;
    return (size_t)(end - at) >= announced + MARK_DIGITS && memcmp(at, ANNOUNCEMENT, announced) == 0 &&
           strspn(at + announced, DIGITS) == MARK_DIGITS;
}

/* Lines above the entries. */
static void take_comment(reject_file_t *file, const char *at, const char *end) {
    const size_t owner = sizeof OWNER - 1, own = sizeof file->catalog - 1;
    const size_t left = (size_t)(end - at);
    if (is_announcement(at, end))
        snprintf(file->mark, sizeof file->mark, "#@%.*s ", MARK_DIGITS, at + sizeof ANNOUNCEMENT - 1);
    if (left > owner + own && memcmp(at, OWNER, owner) == 0 && strspn(at + owner, DIGITS) == own)
        snprintf(file->catalog, sizeof file->catalog, "%.*s", (int)own, at + owner);
}

static bool open_some(reject_file_t *file, const char *path, size_t most) {
    *file = (reject_file_t){.first_line = 1};
    const int fd = (int)TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (fd < 0)
        return false;
    bool ok = map_text(file, fd, most);
    int problem = errno;
    close(fd);
    if (!ok) {
        reject_file_close(file);
        errno = problem;
        return false;
    }
    const char *end = file->text + file->size;
    for (const char *at = file->text; at < end && !file->mark[0];
         at = behind_line(at, end), file->first_line++) {
        take_comment(file, at, end);
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
    if (file->text)
        munmap((void *)file->text, file->mapped);
    file->text = NULL;
}

void reject_file_pass(const reject_file_t *file, size_t from, size_t to) {
    from -= from % PASSED;
    to -= to % PASSED;
    if (to > from)
        madvise((void *)(file->text + from), to - from, MADV_DONTNEED);
}

bool reject_file_is_other(const reject_file_t *file) {
    const size_t words = strlen(reject_first_words);
    return !file->mark[0] &&
           memcmp(file->text, reject_first_words, file->size < words ? file->size : words) != 0;
}

/* --- entries ---------------------------------------------------------------------------------------- */

static const char *next_head(const reject_file_t *file, const char *at, uint64_t *line) {
    const char *end = file->text + file->size;
    for (; at < end && !reject_file_is_head(file, at, end); ++*line)
        at = behind_line(at, end);
    return at;
}

size_t reject_file_joined(const reject_file_t *file, size_t from, size_t to) {
    const char *end = file->text + to;
    for (const char *at = file->text + from; at < end; at = behind_line(at, end))
        if (is_announcement(at, end))
            return (size_t)(at - file->text);
    return to;
}

/* Nothing below it, and not all of its words: a kill has left it. A person who damages a head leaves the
 * record, which is missed. */
static bool is_torn_head(const char *head, const char *record, const char *behind) {
    return record == behind && !memmem(head, (size_t)(record - head), FOR_PEOPLE, sizeof FOR_PEOPLE - 1);
}

bool reject_entry_hash(const reject_entry_t *entry, const char *name, uint64_t *hash) {
    size_t length;
    const char *word = reject_entry_word(entry, name, &length);
    if (!word || length != 16 || strspn(word, "0123456789abcdef") != length)
        return false;
    *hash = strtoull(word, NULL, 16);
    return true;
}

/* Killed twice: first in a head's words for people, then in the mark of the note about it, which looks like
 * the record now and may even have its length. */
static bool is_part_of_mark(const reject_file_t *file, const reject_entry_t *entry) {
    uint64_t hash;
    return entry->raw_length < strlen(file->mark) &&
           memcmp(entry->record, file->mark, entry->raw_length) == 0 &&
           reject_entry_hash(entry, "hash", &hash) &&
           hash != reject_identity_hash(entry->record, entry->raw_length);
}

/* Behind heads that kills have left. */
static const char *pass_torn_heads(const reject_file_t *file, const char *head) {
    const char *end = file->text + file->size;
    uint64_t ignored = 0;
    while (head < end) {
        const char *record = behind_line(head, end), *behind = next_head(file, record, &ignored);
        if (!is_torn_head(head, record, behind))
            break;
        head = behind;
    }
    return head;
}

bool reject_file_head_above(const reject_file_t *file, uint64_t *line) {
    *line = 1;
    return next_head(file, file->text, line) < file->text + file->first;
}

static void see_whether_torn(const reject_file_t *file, const char *behind, reject_entry_t *entry) {
    const char *end = file->text + file->size;
    uint64_t whole;
    const bool ended = (const char *)entry->record < behind && behind[-1] == '\n';
    if (!reject_entry_number(entry, "kept", &whole) && !reject_entry_number(entry, "length", &whole))
        whole = UINT64_MAX;
    const bool cut = entry->raw_length < whole || is_part_of_mark(file, entry);
    entry->noted_torn = cut && is_note(file, behind, end);
    entry->torn = entry->noted_torn ||
                  (cut && !ended && (entry->raw_length ? behind : pass_torn_heads(file, behind)) == end);
}

int reject_file_next(const reject_file_t *file, size_t *at, uint64_t *line, reject_entry_t *entry) {
    const char *end = file->text + file->size, *head, *record, *behind = file->text + *at;
    uint64_t head_line;
    do {
        if ((head = next_head(file, behind, line)) == end)
            return 0;
        record = behind_line(head, end);
        head_line = (*line)++;
        behind = next_head(file, record, line);
    } while (is_note(file, head, end) || is_torn_head(head, record, behind));
    *at = (size_t)(behind - file->text);
    *entry = (reject_entry_t){.at = (size_t)(head - file->text),
                              .behind = *at,
                              .line = head_line,
                              .record = (const uint8_t *)record};
    if (!(entry->head = strndup(head, (size_t)(record - head))))
        return -1;
    size_t length = (size_t)(behind - record);
    length -= length && record[length - 1] == '\n';
    entry->raw_length = length;
    length -= length && record[length - 1] == '\r';
    entry->length = length;
    see_whether_torn(file, behind, entry);
    return 1;
}

void reject_entry_free(reject_entry_t *entry) {
    free(entry->head);
}

const char *reject_entry_word(const reject_entry_t *entry, const char *name, size_t *length) {
    size_t n = strlen(name);
    for (const char *at = strchr(entry->head, ' '); at; at = strchr(at + 1, ' ')) {
        if (strncmp(at, FOR_PEOPLE, sizeof FOR_PEOPLE - 1) == 0)
            return NULL;
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

/* --- identities ------------------------------------------------------------------------------------- */

/* False: the head does not say. *edited: a person has changed the record, as far as can be known. */
static bool identify(const reject_entry_t *entry, char word[WORD], reject_identity_t *identity,
                     bool *edited) {
    size_t length;
    const char *input = reject_entry_word(entry, "file", &length);
    if (!input || length >= WORD || !reject_entry_number(entry, "offset", &identity->offset) ||
        !reject_entry_number(entry, "length", &identity->length) ||
        !reject_entry_hash(entry, "hash", &identity->hash) ||
        !reject_entry_hash(entry, "dialect", &identity->dialect))
        return false;
    if (!reject_entry_number(entry, "input", &identity->ordinal))
        identity->ordinal = UINT64_MAX;
    memcpy(word, input, length);
    word[length] = '\0';
    identity->input = word;
    *edited = identity->hash != reject_identity_hash(entry->record, entry->raw_length);
    return true;
}

static bool add_known(reject_known_t *known, const reject_inputs_t *inputs,
                      const reject_identity_t *identity) {
    const uint64_t ordinal = identity->ordinal;
    if (ordinal == UINT64_MAX || !inputs)
        return reject_known_add_gone(known, identity, 0);
    return reject_identity_ordinal(inputs, ordinal) == ordinal
               ? reject_known_add(known, identity)
               : reject_known_add_gone(known, identity, reject_identity_heirs(inputs, ordinal));
}

bool reject_file_known(const reject_file_t *file, const reject_inputs_t *inputs, bool as_read,
                       reject_known_t *known) {
    size_t at = file->first;
    uint64_t line = file->first_line;
    reject_entry_t entry;
    char word[WORD];
    bool ok = true;
    for (int more; ok && (more = reject_file_next(file, &at, &line, &entry)) != 0;) {
        reject_identity_t identity;
        bool edited;
        if (more < 0)
            return false;
        if (!entry.torn && identify(&entry, word, &identity, &edited)) {
            ok = add_known(known, inputs, &identity);
            if (ok && as_read && !edited) {
                identity = reject_identity(word, identity.ordinal, identity.dialect, identity.offset,
                                           entry.length, entry.record, entry.length);
                ok = add_known(known, inputs, &identity);
            }
        }
        reject_file_pass(file, entry.at, entry.behind);
        reject_entry_free(&entry);
    }
    return ok;
}

bool reject_entry_is_known(const reject_entry_t *entry, const reject_known_t *known) {
    reject_identity_t identity;
    char word[WORD];
    bool edited;
    if (!identify(entry, word, &identity, &edited))
        return false;
    identity.ordinal = UINT64_MAX;
    return reject_known_has(known, &identity);
}

/* --- going on --------------------------------------------------------------------------------------- */

/* The last entry is followed by nothing else, and it was cut off. Where its head is whole and nothing of its record is
 * there, a person may have left it out; if it was a kill, the record is written once more, and that entry counts. */
static bool ends_torn(const reject_file_t *file) {
    size_t at = file->first;
    uint64_t line = file->first_line;
    reject_entry_t entry;
    bool torn = false;
    while (reject_file_next(file, &at, &line, &entry) > 0) {
        const bool in_head = !entry.raw_length && file->text[file->size - 1] != '\n';
        torn = entry.torn && (entry.raw_length || in_head) && entry.behind == file->size;
        reject_file_pass(file, entry.at, entry.behind);
        reject_entry_free(&entry);
    }
    return torn;
}

size_t reject_file_resume(const reject_file_t *file, char out[REJECT_NOTE]) {
    char note[REJECT_NOTE];
    const size_t size = file->size + file->cut;
    if (!size)
        return 0;
    const char *line = last_line(file->text, size);
    const size_t length = size - (size_t)(line - file->text);
    if (!file->mark[0])
        return (size_t)snprintf(out, REJECT_NOTE, "%s", length ? "\n" : "");
    const int noted = snprintf(
        note, sizeof note, "%s%s%sits load was killed while it wrote the entry above, which may be cut off\n",
        file->mark, NOTE, FOR_PEOPLE);
    /* the note itself was cut off, or a head in its mark, which becomes a note */
    if (length < (size_t)noted && memcmp(line, note, length) == 0 &&
        (file->cut || length >= strlen(file->mark)))
        return (size_t)snprintf(out, REJECT_NOTE, "%s", note + length);
    return (size_t)snprintf(out, REJECT_NOTE, "%s%s", length ? "\n" : "", ends_torn(file) ? note : "");
}

/* --- words ------------------------------------------------------------------------------------------ */

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
