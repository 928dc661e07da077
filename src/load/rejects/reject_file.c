/* The file is mapped, its mark is found, and its text is split into entries. From these come the set of rejects that the file has,
 * and what people made of the records. */
#include "load/rejects/reject_file.h"
#include "base/chars.h"
#include "base/text.h"
#include "base/threads.h"
#include "format/cut/ends.h"
#include "format/json/json.h"
#include "input/magic.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

static const char ANNOUNCEMENT[] = MAGIC_REJECT_MARK, OWNER[] = "# of catalog ",
                  DIGITS[] = "0123456789abcdef", FOR_PEOPLE[] = REJECT_FOR_PEOPLE;
enum { MARK_DIGITS = 8, HEAD_BYTES = 64 * 1024, PASSED = 1 << 20, PATH_ROOM = 4096 };

/* ---- lines of the text ---- */

static const char *after_line(const char *at, const char *end) {
    const char *found = memchr(at, '\n', (size_t)(end - at));
    return found ? found + 1 : end;
}

static bool begins_with(const char *at, const char *end, const char *words, size_t length) {
    return (size_t)(end - at) >= length && memcmp(at, words, length) == 0;
}

/* True if a head or a note begins here, in the text up to `end`. */
static bool is_head(const reject_file_t *file, const char *at, const char *end) {
    return file->mark[0] && begins_with(at, end, file->mark, strlen(file->mark));
}

/* True for a note, even if it is cut off at the end of the file; it is completed before anything else is written. */
static bool is_note(const reject_file_t *file, const char *head, const char *end) {
    const size_t mark = strlen(file->mark), word = strlen(REJECT_TORN), length = (size_t)(end - head);
    if (head == end)
        return file->cut > 0;
    return is_head(file, head, end) &&
           memcmp(head + mark, REJECT_TORN, length < mark + word ? length - mark : word) == 0;
}

static bool has_words_for_people(const char *head, const char *end) {
    return memmem(head, (size_t)(end - head), FOR_PEOPLE, sizeof FOR_PEOPLE - 1);
}

/* True if a kill left the head: it lacks words, and nothing follows. If a user damages a head, its record stays. */
static bool is_torn_head(const char *head, const char *record, const char *end) {
    return record == end && !has_words_for_people(head, record);
}

static const char *next_head(const reject_file_t *file, const char *at, uint64_t *line) {
    const char *end = file->text + file->size;
    for (; at < end && !is_head(file, at, end); ++*line)
        at = after_line(at, end);
    return at;
}

static bool is_announcement(const char *at, const char *end) {
    const size_t announced = sizeof ANNOUNCEMENT - 1;
    return begins_with(at, end, ANNOUNCEMENT, announced) && (size_t)(end - at) >= announced + MARK_DIGITS &&
           strspn(at + announced, DIGITS) == MARK_DIGITS;
}

/* ---- the heads' words ---- */

/* `has` has the bit of a row's place. */
static const struct {
    const char *name;
    size_t at;
    bool is_hash; /* of 16 hexadecimal digits */
} words[] = {
    {"offset", offsetof(reject_entry_t, offset), false},  {"line", offsetof(reject_entry_t, line), false},
    {"length", offsetof(reject_entry_t, whole), false},   {"kept", offsetof(reject_entry_t, kept), false},
    {"hash", offsetof(reject_entry_t, hash), true},       {"of", offsetof(reject_entry_t, of), true},
    {"dialect", offsetof(reject_entry_t, dialect), true}, {"input", offsetof(reject_entry_t, ordinal), false},
};

static bool read_number(const char *word, size_t length, bool is_hash, uint64_t *value) {
    if (!length || (is_hash && length != 16) || strspn(word, is_hash ? DIGITS : "0123456789") < length)
        return false;
    errno = 0;
    const uint64_t number = strtoull(word, NULL, is_hash ? 16 : 10);
    if (errno == 0)
        *value = number;
    return errno == 0;
}

/* Takes the name of an input, in which blanks and the like are %20 and so on. Entries of one input mostly follow one another, and
 * share it. False: out of memory. */
static bool take_input(reject_file_t *file, const char *word, size_t length, reject_entry_t *entry) {
    const char *last = file->count ? file->entries[file->count - 1].input : NULL;
    char name[PATH_ROOM];
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned byte = (unsigned char)word[i];
        const bool coded = byte == '%';
        if ((coded && (i + 2 >= length || sscanf(word + i, "%%%2x", &byte) != 1)) || used + 1 == sizeof name)
            return true;
        i += coded ? 2 : 0;
        name[used++] = (char)byte;
    }
    name[used] = '\0';
    if (used)
        entry->input = last && strcmp(last, name) == 0 ? last : strdup(name);
    return !used || entry->input;
}

/* head: NUL-terminated. */
static bool take_words(reject_file_t *file, const char *head, reject_entry_t *entry) {
    entry->ordinal = UINT64_MAX;
    for (const char *at = strchr(head, ' '); at && strncmp(at, FOR_PEOPLE, sizeof FOR_PEOPLE - 1) != 0;
         at = strchr(at + 1, ' ')) {
        const size_t name = strcspn(at + 1, "= \n");
        if (at[1 + name] != '=')
            continue;
        const size_t length = strcspn(at + 2 + name, " \n");
        for (size_t i = 0; i < COUNT(words); i++)
            if (strlen(words[i].name) == name && memcmp(at + 1, words[i].name, name) == 0 &&
                read_number(at + 2 + name, length, words[i].is_hash,
                            (uint64_t *)(void *)((char *)entry + words[i].at)))
                entry->has |= 1u << i;
        if (name == 4 && memcmp(at + 1, "file", name) == 0 && !entry->input &&
            !take_input(file, at + 2 + name, length, entry))
            return false;
    }
    if (!(entry->has & REJECT_HAS_KEPT))
        entry->kept = entry->has & REJECT_HAS_LENGTH ? entry->whole : UINT64_MAX;
    if (!(entry->has & REJECT_HAS_OF) && entry->has & REJECT_HAS_HASH) {
        entry->of = entry->hash;
        entry->has |= REJECT_HAS_OF;
    }
    return true;
}

/* ---- entries ---- */

static const char *pass_torn_heads(const reject_file_t *file, const char *head) {
    const char *end = file->text + file->size;
    uint64_t ignored = 0;
    while (head < end) {
        const char *record = after_line(head, end), *next = next_head(file, record, &ignored);
        if (!is_torn_head(head, record, next))
            break;
        head = next;
    }
    return head;
}

/* Sees what has become of the record. A beginning of the mark of a note may have the record's length: after a kill in a head's
 * words for people, and one in the mark of the note. */
static void see_record(const reject_file_t *file, reject_entry_t *entry) {
    const char *record = file->text + entry->record, *after = file->text + entry->end,
               *end = file->text + file->size;
    const bool ended = record < after && after[-1] == '\n';
    const size_t whole = entry->end - entry->record - ended;
    const uint64_t hash = reject_identity_hash(record, whole);
    entry->length = whole - (whole && record[whole - 1] == '\r'); /* which an editor may have added */
    entry->now = entry->length == whole ? hash : reject_identity_hash(record, entry->length);
    entry->untouched = entry->has & REJECT_HAS_HASH && (hash == entry->hash || entry->now == entry->hash);
    const bool is_of_mark = whole < strlen(file->mark) && memcmp(record, file->mark, whole) == 0 &&
                            entry->has & REJECT_HAS_HASH && hash != entry->hash,
               cut = whole < entry->kept || is_of_mark, noted = cut && is_note(file, after, end);
    entry->torn = noted || (cut && !ended && (whole ? after : pass_torn_heads(file, after)) == end);
    entry->cut_off = noted || (entry->torn && whole);
}

static bool add_entry(reject_file_t *file, const char *head, const char *record, const char *end,
                      uint64_t line) {
    if (!GROW(file->entries, file->room, file->count + 1, NULL))
        return false;
    reject_entry_t *entry = &file->entries[file->count];
    *entry = (reject_entry_t){.at = (size_t)(head - file->text),
                              .record = (size_t)(record - file->text),
                              .end = (size_t)(end - file->text),
                              .at_line = line};
    char *words_of = strndup(head, (size_t)(record - head));
    const bool ok = words_of && take_words(file, words_of, entry);
    free(words_of);
    file->count++;
    see_record(file, entry);
    reject_file_pass(file, entry);
    return ok;
}

static bool split(reject_file_t *file) {
    const char *end = file->text + file->size;
    uint64_t line = file->first_line;
    if (!file->mark[0])
        return true;
    for (const char *head = next_head(file, file->text + file->first, &line); head < end;) {
        const char *record = after_line(head, end);
        const uint64_t head_line = line++;
        const char *next = next_head(file, record, &line);
        if (!is_note(file, head, end) && !is_torn_head(head, record, next) &&
            !add_entry(file, head, record, next, head_line))
            return false;
        head = next;
    }
    return true;
}

/* ---- the file ---- */

/* Maps the text so that records can be read in place: POOL_SLACK zeros follow it, in memory of no file. As many bytes stand
 * before a record: its head and the mark. */
static bool map_text(reject_file_t *file, int fd, size_t most) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (fstat(fd, &file->opened) != 0)
        return false;
    if (S_ISDIR(file->opened.st_mode)) {
        errno = EISDIR;
        return false;
    }
    const size_t size = S_ISREG(file->opened.st_mode) ? (size_t)file->opened.st_size : 0;
    file->size = size < most ? size : most;
    file->mapped = ((file->size + POOL_SLACK) / page + 1) * page;
    char *text = mmap(NULL, file->mapped, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text == MAP_FAILED)
        return false;
    file->text = text;
    return !file->size || mmap(text, file->size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) != MAP_FAILED;
}

static const char *last_line(const char *text, size_t size) {
    const char *before = memrchr(text, '\n', size);
    return before ? before + 1 : text;
}

/* Cuts off the beginning of a mark that a kill left at the end: it would look like a second line of the record before it. */
static void cut_torn_mark(reject_file_t *file) {
    const char *line = last_line(file->text, file->size), *end = file->text + file->size;
    const size_t length = (size_t)(end - line);
    if (line == file->text || !length || length >= strlen(file->mark) ||
        memcmp(line, file->mark, length) != 0)
        return;
    const char *above = last_line(file->text, (size_t)(line - 1 - file->text));
    if (is_head(file, above, line) && !is_note(file, above, line) && has_words_for_people(above, line))
        return; /* a record */
    file->size -= length;
    file->cut = length;
}

static void take_comment(reject_file_t *file, const char *at, const char *end) {
    const size_t owner = sizeof OWNER - 1, own = sizeof file->catalog - 1;
    if (is_announcement(at, end))
        snprintf(file->mark, sizeof file->mark, "#@%.*s ", MARK_DIGITS, at + sizeof ANNOUNCEMENT - 1);
    if ((size_t)(end - at) > owner + own && begins_with(at, end, OWNER, owner) &&
        strspn(at + owner, DIGITS) == own)
        snprintf(file->catalog, sizeof file->catalog, "%.*s", (int)own, at + owner);
}

static bool open_some(reject_file_t *file, const char *path, size_t most) {
    *file = (reject_file_t){.path = path, .first_line = 1};
    const int fd = (int)TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (fd < 0)
        return false;
    const bool ok = map_text(file, fd, most);
    const int problem = errno;
    close(fd);
    if (!ok) {
        reject_file_close(file);
        errno = problem;
        return false;
    }
    const char *end = file->text + file->size;
    for (const char *at = file->text; at < end && !file->mark[0];
         at = after_line(at, end), file->first_line++) {
        take_comment(file, at, end);
        file->first = (size_t)(after_line(at, end) - file->text);
    }
    cut_torn_mark(file);
    return true;
}

bool reject_file_open(reject_file_t *file, const char *path) {
    if (!open_some(file, path, SIZE_MAX))
        return false;
    if (split(file))
        return true;
    reject_file_close(file);
    errno = ENOMEM;
    return false;
}

bool reject_file_open_head(reject_file_t *file, const char *path) {
    return open_some(file, path, HEAD_BYTES);
}

void reject_file_close(reject_file_t *file) {
    for (size_t i = 0; i < file->count; i++)
        if (!i || file->entries[i].input != file->entries[i - 1].input)
            free((char *)file->entries[i].input);
    free(file->entries);
    if (file->text)
        munmap((void *)file->text, file->mapped);
    *file = (reject_file_t){0};
}

void reject_file_pass(const reject_file_t *file, const reject_entry_t *entry) {
    const size_t from = entry->at - entry->at % PASSED, to = entry->end - entry->end % PASSED;
    if (to > from)
        madvise((void *)(file->text + from), to - from, MADV_DONTNEED);
}

bool reject_file_is_other(const reject_file_t *file) {
    const size_t first = strlen(REJECT_FIRST_WORDS);
    return !file->mark[0] &&
           memcmp(file->text, REJECT_FIRST_WORDS, file->size < first ? file->size : first) != 0;
}

bool reject_file_holds(const reject_file_t *file, const reject_entry_t *entry) {
    struct stat now;
    return stat(file->path, &now) == 0 && now.st_dev == file->opened.st_dev &&
           now.st_ino == file->opened.st_ino && now.st_size >= file->opened.st_size &&
           reject_identity_hash(file->text + entry->record, entry->length) == entry->now;
}

/* ---- which rejects a file has ---- */

typedef struct {
    reject_identity_t is;
    uint64_t from; /* only for inputs from this ordinal on */
} place_t;

static int compare_places(const void *a, const void *b) {
    return memcmp(a, b, sizeof(reject_identity_t));
}

bool reject_known_add(reject_known_t *known, const reject_identity_t *identity, uint64_t from, err_t *err) {
    place_t *place = malloc(sizeof *place), **at = NULL;
    if (place) {
        *place = (place_t){*identity, from};
        at = (place_t **)tsearch(place, &known->places, compare_places);
    }
    if (at && *at == place) {
        known->count++;
        return true;
    }
    if (at && (*at)->from > from)
        (*at)->from = from;
    free(place);
    return at || err_memory(err, sizeof *place);
}

static const place_t *find_known(const reject_known_t *known, const reject_identity_t *identity) {
    place_t *const *at = (place_t *const *)tfind(identity, &known->places, compare_places);
    return at ? *at : NULL;
}

bool reject_known_has(const reject_known_t *known, const reject_identity_t *identity) {
    reject_identity_t by_name = *identity;
    by_name.ordinal = UINT64_MAX;
    const place_t *of_gone = find_known(known, &by_name);
    return find_known(known, identity) || (of_gone && of_gone->from <= identity->ordinal);
}

void reject_known_free(reject_known_t *known) {
    tdestroy(known->places, free);
    *known = (reject_known_t){0};
}

/* Returns the input of this ordinal. NULL: none, or it was dropped. */
static const standing_input_t *find_input(const reject_inputs_t *inputs, uint64_t ordinal) {
    const size_t at = SEARCH_FIRST(inputs->count, i, inputs->inputs[i].ordinal < ordinal);
    return at < inputs->count && inputs->inputs[at].ordinal == ordinal ? &inputs->inputs[at] : NULL;
}

uint64_t reject_inputs_ordinal(const reject_inputs_t *inputs, uint64_t ordinal) {
    const standing_input_t *input = find_input(inputs, ordinal);
    return input && !input->removed ? ordinal : UINT64_MAX;
}

/* False: the head lacks a part of the identity. */
static bool identify(const reject_entry_t *entry, reject_identity_t *identity) {
    const uint32_t needed = REJECT_HAS_OFFSET | REJECT_HAS_LENGTH | REJECT_HAS_HASH | REJECT_HAS_DIALECT;
    if (!entry->input || (entry->has & needed) != needed)
        return false;
    *identity = reject_identity(entry->input, entry->ordinal, entry->dialect, entry->offset, entry->whole,
                                entry->hash);
    return true;
}

/* An input that is gone may be any that came after it. */
static bool add_known(reject_known_t *known, const reject_inputs_t *inputs, reject_identity_t identity,
                      err_t *err) {
    const standing_input_t *input = find_input(inputs, identity.ordinal);
    uint64_t from = 0;
    if (!input || input->removed) {
        if (inputs->inputs && identity.ordinal != UINT64_MAX)
            from = input ? input->heirs : identity.ordinal;
        identity.ordinal = UINT64_MAX;
    }
    return reject_known_add(known, &identity, from, err);
}

bool reject_file_known(const reject_file_t *file, const reject_inputs_t *inputs, bool as_read,
                       reject_known_t *known, err_t *err) {
    for (size_t i = 0; i < file->count; i++) {
        const reject_entry_t *entry = &file->entries[i];
        reject_identity_t identity;
        if (entry->torn || !identify(entry, &identity))
            continue;
        if (!add_known(known, inputs, identity, err))
            return false;
        identity.length = entry->length;
        identity.hash = entry->now;
        if (as_read && entry->untouched && !add_known(known, inputs, identity, err))
            return false;
    }
    return true;
}

/* ---- opening a file for --retry ---- */

static bool refuse_other(const reject_file_t *file, err_t *err) {
    const char *at = file->text, *end = at + file->size, *what = "no line says '# marked #@...'";
    struct stat status;
    if (begins_with(at, end, "\xff\xfe", 2) || begins_with(at, end, "\xfe\xff", 2))
        what = "it is UTF-16: save it as UTF-8, or as what its input was";
    else if (begins_with(at, end, "\x1f\x8b", 2))
        what = "it is compressed: unpack it first";
    else if (stat(file->path, &status) == 0 && !S_ISREG(status.st_mode))
        what = "it is a pipe or a device: name a file";
    return err_set(err, STATUS_USAGE, "%s is not a reject file of tipple: %s", file->path, what);
}

static uint64_t line_of(const reject_file_t *file, const char *at) {
    return 1 + lines_count((const uint8_t *)file->text, (size_t)(at - file->text));
}

/* True for a comment or a blank line. Any other line between the comments and the first head is a record that a user's sort has
 * moved: the record would be missed, and its #@ line would count as left out, or take another's record. If the whole file was
 * sorted, its first words also follow the mark. */
static bool is_comment(const char *at, const char *next) {
    const size_t length = (size_t)(next - at) - (next[-1] == '\n');
    return !begins_with(at, next, REJECT_FIRST_WORDS, strlen(REJECT_FIRST_WORDS)) &&
           (*at == '#' || strspn(at, " \t\r") >= length);
}

/* Checks each line but those of records that are as they were written, whatever they look like. An entry above the mark, by which
 * entries are known, would be missed; those of a second file would pass for the text of the entry above. */
static bool is_in_order(const reject_file_t *file, err_t *err) {
    const char *at = file->text, *end = at + file->size, *first = at + file->first;
    size_t begun = 0; /* entries that began so far */
    bool in_comments = true, ok = true;
    while (at < end) {
        const bool head = is_head(file, at, end);
        const char *next = after_line(at, end);
        if (head && at < first)
            return err_set(err, STATUS_USAGE,
                           "%s:%" PRIu64 ": this #@ line stands above the comments of the file; put it, with "
                           "its record, after the line '# marked %.*s'",
                           file->path, line_of(file, at), (int)(strlen(file->mark) - 1), file->mark);
        if (at >= first && is_announcement(at, end))
            return err_set(err, STATUS_USAGE,
                           "%s:%" PRIu64 ": a second reject file begins here ('# marked #@...'), which was "
                           "put after the first one: take them apart again, and give them to --retry one "
                           "after the other",
                           file->path, line_of(file, at));
        in_comments = in_comments && !head;
        ok = ok && (!in_comments || at < first || is_comment(at, next));
        if (begun < file->count && at == file->text + file->entries[begun].at) {
            const reject_entry_t *entry = &file->entries[begun++];
            next = entry->untouched ? file->text + entry->end : next;
        }
        at = next;
        if (begun && at >= file->text + file->entries[begun - 1].end)
            reject_file_pass(file, &file->entries[begun - 1]);
    }
    return ok || err_set(err, STATUS_USAGE,
                         "%s: its lines have another order than the load has written them in (was it "
                         "sorted, or was a #@ line deleted?), so nothing says which record belongs to which "
                         "#@ line: correct the original reject file instead",
                         file->path);
}

static bool is_repeated(const reject_file_t *file, const reject_entry_t *entry) {
    reject_identity_t lost, other;
    bool repeated = false;
    if (!entry->cut_off || !identify(entry, &lost))
        return false;
    for (size_t i = 0; !repeated && i < file->count; i++)
        if (!file->entries[i].torn && identify(&file->entries[i], &other)) {
            other.ordinal = lost.ordinal; /* a later load may have registered the input anew */
            repeated = memcmp(&other, &lost, sizeof other) == 0;
        }
    return repeated;
}

/* Drops the entries that were cut off by a kill and written again by the next load. */
static void drop_repeated(reject_file_t *file) {
    size_t kept = 0;
    for (size_t i = 0; i < file->count; i++)
        if (!is_repeated(file, &file->entries[i]))
            file->entries[kept++] = file->entries[i];
    file->count = kept;
}

bool reject_file_open_fixed(reject_file_t *file, const char *path, err_t *err) {
    if (!reject_file_open(file, path))
        return err_set(err, err_status_of(errno), "the reject file %s cannot be read: %s", path,
                       strerror(errno));
    if ((!file->mark[0] && !refuse_other(file, err)) || !is_in_order(file, err)) {
        reject_file_close(file);
        return false;
    }
    drop_repeated(file);
    return true;
}

/* ---- the records, as people have fixed them ---- */

static size_t line_end_at(const retry_t *retry, size_t at) {
    const bool cr = at + 1 < retry->length && retry->bytes[at] == '\r';
    return at + cr < retry->length && retry->bytes[at + cr] == '\n' ? 1 + cr : 0;
}

static size_t record_end(const schema_t *schema, const retry_t *retry) {
    return ends_find(schema, retry->dialect.delimiter, retry->bytes, retry->length, true);
}

/* Drops the empty lines of an editor. */
static void drop_empty_lines(const schema_t *schema, retry_t *retry) {
    for (size_t end; (end = line_end_at(retry, 0)) != 0;) {
        retry->bytes += end;
        retry->length -= end;
    }
    const size_t end = record_end(schema, retry);
    for (size_t at = end; at < retry->length; at++)
        if (retry->bytes[at] != '\n' && retry->bytes[at] != '\r')
            return;
    if (end && end < retry->length)
        retry->length = end - (retry->bytes[end - 1] == '\n');
}

/* True if the record is still cut off: only its first bytes were kept, and about as many are here. A record that replaces the
 * long one is shorter, or longer. */
static bool is_part(const retry_t *retry) {
    const uint64_t kept = retry->entry->kept;
    return retry->entry->has & REJECT_HAS_KEPT && retry->length > kept / 2 && retry->length < kept * 2;
}

/* True if an editor has saved a record of single bytes as UTF-8, or a user typed it so: then each character is one of the
 * encoding, or U+FFFD for one that was not read. Others are taken for single bytes. */
static bool is_utf8_now(const schema_t *schema, const retry_t *retry) {
    uint8_t ignored[4];
    if (encoding_keeps_utf8(schema->encoding) || retry->entry->untouched ||
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

/* Reads the dialect from the head's text. */
static bool read_dialect(const reject_file_t *file, const reject_entry_t *entry, const schema_t *schema,
                         dialect_t *dialect) {
    char *head = strndup(file->text + entry->at, entry->record - entry->at),
         *people = head ? strstr(head, FOR_PEOPLE) : NULL,
         *spelled = head ? strstr(head, " delimiter=") : NULL;
    const bool ok = spelled && (!people || spelled < people) && dialect_read(schema, spelled + 1, dialect);
    free(head);
    return ok;
}

bool reject_file_record(const reject_file_t *file, const reject_entry_t *entry, const schema_t *schema,
                        retry_t *retry, err_t *err) {
    const uint32_t needed = REJECT_HAS_OFFSET | REJECT_HAS_LINE;
    retry->entry = entry;
    retry->bytes = (const uint8_t *)file->text + entry->record;
    retry->length = entry->length;
    retry->row = NULL;
    retry->refusal = NULL;
    if (!entry->input || (entry->has & needed) != needed ||
        !read_dialect(file, entry, schema, &retry->dialect))
        return err_set(
            err, STATUS_USAGE,
            "%s:%" PRIu64
            ": this #@ line was changed, or was written by a load of another format: it does not say where "
            "its record belongs; take it from the original reject file (or delete it with its record)",
            file->path, entry->at_line);
    if (!entry->untouched && schema->kind != RECORDS_BSON)
        drop_empty_lines(schema, retry);
    if (is_part(retry))
        retry->refusal = "only its first bytes are kept here; put a record of at most 16 MiB into this line "
                         "of the reject file, or delete the line to leave the record out";
    else if (is_utf8_now(schema, retry))
        retry->refusal =
            "it is UTF-8 now, but the format has latin1 or windows-1252: save the reject file as that";
    pass_comma(schema, retry);
    if (schema->arrow && retry->length && !read_row(retry, err))
        return false;
    return entry->cut_off || !retry->length || (schema->arrow && !retry->row) ||
           record_end(schema, retry) == retry->length ||
           err_set(err, STATUS_USAGE,
                   "%s:%" PRIu64 ": there is more than one %s below this #@ line; there must be one record, "
                   "because it has one position and one _id",
                   file->path, entry->at_line, schema->multiline ? "record" : "line");
}
