#include "load/rejects/reject_read.h"
#include "base/chars.h"
#include "base/threads.h"
#include "format/cut/ends.h"
#include "format/json/json.h"
#include "load/rejects/reject_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

/* Empty lines around a record that a person has edited are nobody's. */
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

/* Only the first bytes of the record are kept, and about as many are there: the others are still missing, whatever the user has
 * made of these. A record that takes the place of the long one is longer, or shorter. */
static bool is_part(const reject_entry_t *entry, const retry_t *retry) {
    uint64_t kept;
    return reject_entry_number(entry, "kept", &kept) && retry->length > kept / 2 && retry->length < kept * 2;
}

/* Where each byte is a character of the format, letters of several bytes: an editor has saved the file so, or a person has typed
 * them. Other pairs may be what they are: what is no character of the encoding was not saved in its place, but U+FFFD was. */
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

/* It may well make a document, but not the record's. */
static const char *refusal_of(const schema_t *schema, const reject_entry_t *entry, const retry_t *retry) {
    if (is_part(entry, retry))
        return "only its first bytes are kept here; put a record of at most 16 MiB into this line of the "
               "reject file, or delete the line to leave the record out";
    if (is_utf8_now(schema, retry))
        return "it is UTF-8 now, but the format has latin1 or windows-1252: save the reject file as that";
    return NULL;
}

/* So it was written, by a load that was killed; or a person has ended the file in a line without its end. Where nothing
 * of the record is there, a person has deleted it. */
static bool is_cut_off(const reject_entry_t *entry) {
    return entry->noted_torn || (entry->torn && entry->raw_length);
}

/* Where an object has taken the place of an array within an array, the comma before it may stand in a line of its own. */
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

/* A row stands there as Extended JSON, which becomes BSON again, with the slack that readers of records need. */
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

/* In text[from, to): its entries would be taken for the text of the entry above them. */
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

/* An entry there is not seen: the mark, by which it is known, comes behind it. */
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

/* Behind the comments stands a #@ line, or a line of a person. A record is not seen there, and the #@ line that it belongs to
 * would count as left out, or would take the record of another one: so they stand where somebody has sorted the file, or the
 * lines behind its comments. Where all of it is sorted, the words by which a file begins are there, too, behind the mark. */
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
