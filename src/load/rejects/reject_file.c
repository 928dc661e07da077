/* The file is mapped, its mark is found, and its text is split into entries. Their identities tell a load which rejects the
 * file has; rejects_read takes what people made of their records. */
#include "load/rejects/reject_file.h"
#include "base/chars.h"
#include "base/threads.h"
#include "format/cut/ends.h"
#include "format/json/json.h"
#include "input/magic.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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

/* ---- the file ---- */

static const char *behind_line(const char *at, const char *end) {
    const char *found = memchr(at, '\n', (size_t)(end - at));
    return found ? found + 1 : end;
}

/* Maps the text so that records can be read in place: POOL_SLACK zeros follow it, in memory of no file. As many bytes stand
 * before a record: its head and the mark. */
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

/* True if a head or a note begins here, in the text up to `end`. */
static bool reject_file_is_head(const reject_file_t *file, const char *at, const char *end) {
    size_t length = strlen(file->mark);
    return length && (size_t)(end - at) >= length && memcmp(at, file->mark, length) == 0;
}

static const char *last_line(const char *text, size_t size) {
    const char *before = memrchr(text, '\n', size);
    return before ? before + 1 : text;
}

/* True for a note, or the beginning of one at the end of the file, which is completed before anything else is written. */
static bool is_note(const reject_file_t *file, const char *head, const char *end) {
    const size_t mark = strlen(file->mark), word = sizeof NOTE - 1, length = (size_t)(end - head);
    return head == end ? file->cut > 0
                       : reject_file_is_head(file, head, end) &&
                             memcmp(head + mark, NOTE, length < mark + word ? length - mark : word) == 0;
}

/* True if the head has all of its words: a record follows. */
static bool is_whole_head(const reject_file_t *file, const char *head, const char *end) {
    return reject_file_is_head(file, head, end) && !is_note(file, head, end) &&
           memmem(head, (size_t)(end - head), FOR_PEOPLE, sizeof FOR_PEOPLE - 1);
}

/* Cuts off the beginning of a mark that a kill left at the end: it would look like a second line of the record before it. */
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

/* ---- entries ---- */

static const char *next_head(const reject_file_t *file, const char *at, uint64_t *line) {
    const char *end = file->text + file->size;
    for (; at < end && !reject_file_is_head(file, at, end); ++*line)
        at = behind_line(at, end);
    return at;
}

/* Finds in text[from, to), which begins with a line, where a second file was appended to this one. Returns `to` if nowhere. */
static size_t reject_file_joined(const reject_file_t *file, size_t from, size_t to) {
    const char *end = file->text + to;
    for (const char *at = file->text + from; at < end; at = behind_line(at, end))
        if (is_announcement(at, end))
            return (size_t)(at - file->text);
    return to;
}

/* True if a kill left the head: it lacks words, and nothing follows. If a user damages a head, its record stays. */
static bool is_torn_head(const char *head, const char *record, const char *behind) {
    return record == behind && !memmem(head, (size_t)(record - head), FOR_PEOPLE, sizeof FOR_PEOPLE - 1);
}

static const char *reject_entry_word(const reject_entry_t *entry, const char *name, size_t *length) {
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

static bool reject_entry_number(const reject_entry_t *entry, const char *name, uint64_t *value) {
    size_t length;
    const char *word = reject_entry_word(entry, name, &length);
    if (!word || !length || strspn(word, "0123456789") != length)
        return false;
    errno = 0;
    *value = strtoull(word, NULL, 10);
    return errno == 0;
}

/* Reads a hash of 16 hexadecimal digits. */
static bool reject_entry_hash(const reject_entry_t *entry, const char *name, uint64_t *hash) {
    size_t length;
    const char *word = reject_entry_word(entry, name, &length);
    if (!word || length != 16 || strspn(word, "0123456789abcdef") != length)
        return false;
    *hash = strtoull(word, NULL, 16);
    return true;
}

/* True if the record is the beginning of a note's mark: after a kill in a head's words for people and one in the mark of the
 * note, it may even have the record's length. */
static bool is_part_of_mark(const reject_file_t *file, const reject_entry_t *entry) {
    uint64_t hash;
    return entry->raw_length < strlen(file->mark) &&
           memcmp(entry->record, file->mark, entry->raw_length) == 0 &&
           reject_entry_hash(entry, "hash", &hash) &&
           hash != reject_identity_hash(entry->record, entry->raw_length);
}

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

/* True if a head stands above the mark's announcement; *line: its line. */
static bool reject_file_head_above(const reject_file_t *file, uint64_t *line) {
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

/* ---- identities ---- */

/* Reads the identity from the head. False: the head lacks a part. *edited: a user has changed the record, as far as can be
 * known. */
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

/* True if `known`, which was read without inputs, has the entry. */
static bool reject_entry_is_known(const reject_entry_t *entry, const reject_known_t *known) {
    reject_identity_t identity;
    char word[WORD];
    bool edited;
    if (!identify(entry, word, &identity, &edited))
        return false;
    identity.ordinal = UINT64_MAX;
    return reject_known_has(known, &identity);
}

/* ---- continuing a file ---- */

/* True if the last entry was cut off. Where only a whole head is there, a user may have left the record out; after a kill, the
 * record is written once more, and that entry counts. */
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
    /* the note was cut off, or a head in its mark, which then becomes a note */
    if (length < (size_t)noted && memcmp(line, note, length) == 0 &&
        (file->cut || length >= strlen(file->mark)))
        return (size_t)snprintf(out, REJECT_NOTE, "%s", note + length);
    return (size_t)snprintf(out, REJECT_NOTE, "%s%s", length ? "\n" : "", ends_torn(file) ? note : "");
}

/* ---- words ---- */

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

static bool reject_read_word(const char *text, size_t length, char *out, size_t room) {
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

/* ---- the records, as people have fixed them ---- */

enum { PATH_ROOM = 4096 };

static bool is_untouched(const reject_entry_t *entry) {
    uint64_t hash;
    return reject_entry_hash(entry, "hash", &hash) &&
           (reject_identity_hash(entry->record, entry->raw_length) == hash ||
            reject_identity_hash(entry->record, entry->length) == hash);
}

static size_t line_end_at(const retry_t *retry, size_t at) {
    const bool cr = at + 1 < retry->length && retry->bytes[at] == '\r';
    return at + cr < retry->length && retry->bytes[at + cr] == '\n' ? 1 + cr : 0;
}

/* Drops the empty lines of an editor. */
static void drop_empty_lines(const schema_t *schema, retry_t *retry) {
    for (size_t end; (end = line_end_at(retry, 0)) != 0;) {
        retry->bytes += end;
        retry->length -= end;
    }
    const size_t record_end = ends_find(schema, retry->dialect.delimiter, retry->bytes, retry->length, true);
    for (size_t at = record_end; at < retry->length; at++)
        if (retry->bytes[at] != '\n' && retry->bytes[at] != '\r')
            return;
    if (record_end && record_end < retry->length)
        retry->length = record_end - (retry->bytes[record_end - 1] == '\n');
}

/* True if the record is still cut off: only its first bytes were kept, and about as many are here. A record that replaces the
 * long one is shorter, or longer. */
static bool is_part(const reject_entry_t *entry, const retry_t *retry) {
    uint64_t kept;
    return reject_entry_number(entry, "kept", &kept) && retry->length > kept / 2 && retry->length < kept * 2;
}

/* True if an editor has saved a record of single bytes as UTF-8, or a user typed it so: then each character is one of the
 * encoding, or U+FFFD for one that was not read. Others are taken for single bytes. */
static bool is_utf8_now(const schema_t *schema, const retry_t *retry) {
    uint8_t ignored[4];
    if (encoding_keeps_utf8(schema->encoding) || retry->head.untouched ||
        encoding_is_ascii(retry->bytes, retry->length))
        return false;
    for (size_t at = 0, length; at < retry->length; at += length) {
        const uint8_t *const character = retry->bytes + at;
        length = utf8_character(character, retry->length - at);
        if (!length || (encoding_from_utf8(schema->encoding, ignored, character, length) == SIZE_MAX &&
                        (length != 3 || memcmp(character, "\xEF\xBF\xBD", 3) != 0)))
            return false;
    }
    return true;
}

/* Returns why the record is refused although it may make a document; NULL: it is not. */
static const char *refusal_of(const schema_t *schema, const reject_entry_t *entry, const retry_t *retry) {
    if (is_part(entry, retry))
        return "only its first bytes are kept here; put a record of at most 16 MiB into this line of the "
               "reject file, or delete the line to leave the record out";
    if (is_utf8_now(schema, retry))
        return "it is UTF-8 now, but the format has latin1 or windows-1252: save the reject file as that";
    return NULL;
}

/* True if a kill cut the record off, or a user ended the file without a line end. If nothing of the record is there, a user
 * has deleted it. */
static bool is_cut_off(const reject_entry_t *entry) {
    return entry->noted_torn || (entry->torn && entry->raw_length);
}

/* Passes over a comma in a line of its own: the record began with it when it was an array within an array, before it became an
 * object. */
static void pass_comma(const schema_t *schema, retry_t *retry) {
    json_span_t span = {0};
    if (schema->kind != RECORDS_JSON)
        return;
    const size_t end = json_span_find(&span, retry->bytes, retry->length, true);
    if (span.phase != SPAN_BEFORE)
        return;
    retry->bytes += end;
    retry->length -= end;
}

/* Turns the Extended JSON of a row into BSON again, with the slack that readers of records need. */
static bool read_row(retry_t *retry, err_t *err) {
    err_t why = {.status = STATUS_OK};
    char *json = strndup((const char *)retry->bytes, retry->length);
    bson_t *row = json ? json_document(json, false, &why) : NULL;
    const bool memory = json && why.status != STATUS_HOST;
    free(json);
    if (row && (retry->row = calloc(1, row->len + 2 * (size_t)POOL_SLACK))) {
        retry->length = row->len;
        retry->bytes = memcpy(retry->row + POOL_SLACK, bson_get_data(row), row->len);
    }
    if (!row)
        retry->refusal = "it is not one document of Extended JSON: correct this line of the reject file, or "
                         "delete it to leave the row out";
    const bool ok = memory && !row == !retry->row;
    if (row)
        bson_destroy(row);
    return ok || err_memory(err, retry->length);
}

static bool read_entry(const char *path, const schema_t *schema, const reject_entry_t *entry,
                       char path_room[PATH_ROOM], retry_t *retry, err_t *err) {
    size_t length, dialect_length;
    const char *file = reject_entry_word(entry, "file", &length),
               *dialect = reject_entry_word(entry, "delimiter", &dialect_length);
    retry->at = entry->at;
    retry->head.at_line = entry->line;
    retry->bytes = entry->record;
    retry->length = entry->length;
    retry->row = NULL;
    retry->head.cut_off = is_cut_off(entry);
    retry->head.hash = retry->head.read_by = 0;
    retry->head.has_hash = reject_entry_hash(entry, "of", &retry->head.hash) ||
                           reject_entry_hash(entry, "hash", &retry->head.hash);
    reject_entry_hash(entry, "dialect", &retry->head.read_by);
    if (!reject_entry_number(entry, "input", &retry->head.ordinal))
        retry->head.ordinal = UINT64_MAX;
    retry->head.untouched = is_untouched(entry);
    const bool ok =
        (file && dialect && reject_entry_number(entry, "offset", &retry->head.offset) &&
         reject_entry_number(entry, "line", &retry->line) &&
         dialect_read(schema, dialect - strlen("delimiter="), &retry->dialect) &&
         reject_read_word(file, length, path_room, PATH_ROOM)) ||
        err_set(
            err, STATUS_USAGE,
            "%s:%" PRIu64
            ": this #@ line was changed, or was written by a load of another format: it does not say where "
            "its record belongs; take it from the original reject file (or delete it with its record)",
            path, entry->line);
    if (!ok)
        return false;
    retry->head.path = path_room;
    retry->head.dialect = retry->dialect.hash;
    if (!retry->head.untouched && schema->kind != RECORDS_BSON)
        drop_empty_lines(schema, retry);
    retry->refusal = refusal_of(schema, entry, retry);
    pass_comma(schema, retry);
    return !schema->arrow || !retry->length || read_row(retry, err);
}

static bool is_one_record(const char *path, const schema_t *schema, const retry_t *retry, err_t *err) {
    return retry->head.cut_off || !retry->length || (schema->arrow && !retry->row) ||
           ends_find(schema, retry->dialect.delimiter, retry->bytes, retry->length, true) == retry->length ||
           err_set(err, STATUS_USAGE,
                   "%s:%" PRIu64 ": there is more than one %s below this #@ line; there must be one record, "
                   "because it has one position and one _id",
                   path, retry->head.at_line, schema->multiline ? "record" : "line");
}

/* False if a second file begins in text[from, to): its entries would pass for the text of the entry above. */
static bool is_one_file(const char *path, const reject_file_t *file, size_t from, size_t to, err_t *err) {
    const size_t joined = reject_file_joined(file, from, to);
    return joined == to ||
           err_set(err, STATUS_USAGE,
                   "%s:%" PRIu64
                   ": a second reject file begins here ('# marked #@...'), which was put behind the first "
                   "one: take them apart again, and give them to --retry one after the other",
                   path, 1 + lines_count((const uint8_t *)file->text, joined));
}

static bool begins(const reject_file_t *file, const char *bytes) {
    return file->size >= 2 && memcmp(file->text, bytes, 2) == 0;
}

static bool refuse_other(const char *path, const reject_file_t *file, err_t *err) {
    struct stat status;
    const char *what = begins(file, "\xff\xfe") || begins(file, "\xfe\xff")
                           ? "it is UTF-16: save it as UTF-8, or as what its input was"
                       : begins(file, "\x1f\x8b") ? "it is compressed: unpack it first"
                       : stat(path, &status) == 0 && !S_ISREG(status.st_mode)
                           ? "it is a pipe or a device: name a file"
                           : "no line says '# marked #@...'";
    return err_set(err, STATUS_USAGE, "%s is not a reject file of tipple: %s", path, what);
}

/* False if an entry stands above the mark, by which entries are known: it would be missed. */
static bool is_none_above(const char *path, const reject_file_t *file, err_t *err) {
    uint64_t line;
    return !reject_file_head_above(file, &line) ||
           err_set(err, STATUS_USAGE,
                   "%s:%" PRIu64 ": this #@ line stands above the comments of the file; put it, with its "
                   "record, behind the line '# marked %.*s'",
                   path, line, (int)(strlen(file->mark) - 1), file->mark);
}

static bool refuse_order(const char *path, err_t *err) {
    return err_set(err, STATUS_USAGE,
                   "%s: its lines have another order than the load has written them in (was it sorted, or "
                   "was a #@ line deleted?), so nothing says which record belongs to which #@ line: correct "
                   "the original reject file instead",
                   path);
}

/* False if a line of text follows the comments. It is where a record lands when a user sorts the file, or the lines after its
 * comments; the record would be missed, and its #@ line would count as left out, or take another's record. If the whole file was
 * sorted, its first words also follow the mark. */
static bool is_in_order(const char *path, const reject_file_t *file, err_t *err) {
    const char *at = file->text + file->first, *end = file->text + file->size;
    const size_t words = strlen(reject_first_words);
    while (at < end && !reject_file_is_head(file, at, end)) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        const size_t length = line_end ? (size_t)(line_end - at) : (size_t)(end - at);
        if (length >= words && memcmp(at, reject_first_words, words) == 0)
            return is_one_file(path, file, file->first, file->size, err) && refuse_order(path, err);
        if (*at != '#' && strspn(at, " \t\r") < length)
            return refuse_order(path, err);
        at += length + (line_end != NULL);
    }
    return true;
}

bool rejects_read(const char *path, size_t only, const schema_t *schema, retry_fn *take, void *context,
                  err_t *err) {
    reject_file_t file;
    reject_entry_t entry;
    char input[PATH_ROOM];
    if (!reject_file_open(&file, path))
        return err_set(err, err_status_of(errno), "the reject file %s cannot be read: %s", path,
                       strerror(errno));
    retry_t *retry = calloc(1, sizeof *retry);
    reject_known_t known = {0};
    bool ok = retry || err_memory(err, sizeof *retry);
    if (retry) {
        memcpy(retry->head.catalog, file.catalog, sizeof file.catalog);
        retry->file = &file;
    }
    ok = ok && (file.mark[0] || refuse_other(path, &file, err)) && is_none_above(path, &file, err) &&
         is_in_order(path, &file, err);
    size_t at = only && only < file.size ? only : file.first, from = at;
    uint64_t line = file.first_line;
    int more;
    for (; ok && (more = reject_file_next(&file, &at, &line, &entry)) != 0; from = at) {
        if (more < 0)
            ok = err_memory(err, file.size);
        else if (!is_one_file(path, &file, from, is_untouched(&entry) ? entry.at : entry.behind, err))
            ok = false;
        else if (is_cut_off(&entry) && !known.count && !reject_file_known(&file, NULL, false, &known))
            ok = err_memory(err, file.size);
        else if (!is_cut_off(&entry) ||
                 !reject_entry_is_known(&entry, &known)) /* else it was written again */
            ok = read_entry(path, schema, &entry, input, retry, err) &&
                 is_one_record(path, schema, retry, err) && take(context, retry, err);
        free(retry->row);
        retry->row = NULL;
        reject_file_pass(&file, entry.at, entry.behind);
        reject_entry_free(&entry);
        if (only)
            break;
    }
    ok = ok && (only || is_one_file(path, &file, from, file.size, err));
    free(retry);
    reject_known_free(&known);
    reject_file_close(&file);
    return ok;
}
