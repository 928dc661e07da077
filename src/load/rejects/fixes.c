#include "load/rejects/fixes.h"
#include "base/log.h"
#include "base/text.h"
#include "catalog/ledger/standing.h"
#include "format/record/record_id.h"
#include "format/records.h"
#include "input/cutter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
    NAMED = 3, /* places, in a warning */
    KEPT = 16, /* so many texts are looked at before one more is kept */
};

/* What is kept of an entry: nothing that grows with its record, but to verify. */
typedef struct {
    reject_head_t head; /* its texts are those of the fixes */
    uint64_t bytes;     /* the hash of the record as it is now: to know it again */
    bool left_out;
    bool filtered;
    bool placed; /* its input was known: the following would be its document there */
    int64_t id;
    uint64_t hash;
    uint32_t length;
    uint8_t *document;
    fix_verdict_t verdict;
} seen_t;

struct fixes {
    fixes_options_t options;
    const char *path; /* of the (first) file */
    fix_t *items;
    size_t count, room;
    seen_t *seen; /* all entries, as they were read */
    size_t seen_count, seen_room;
    char **texts; /* that heads point to; entries of one input mostly follow one another */
    size_t text_count, text_room;
    size_t left_open;
};

typedef struct {
    size_t count, used;
    char text[600];
} named_places_t;

typedef struct {
    fixes_t *fixes;
    const places_t *places;
    const ledger_t *held; /* entries of other pieces wait; NULL: none do */
    const fixes_options_t *options;
    const char *path; /* of the reject file at hand */
    records_t *reader;
    records_place_t place;
    /* of that file */
    bool of_another; /* it was written for another collection */
    size_t belong;   /* entries */
    err_t why;       /* of the first one that does not */
    named_places_t closed, not_yet;
} reading_t;

static bool has_rejected(const entry_t *entry, const reject_head_t *retry) {
    uint64_t number, of;
    return !entry->removed && strcmp(entry->path, retry->path) == 0 && retry->has_hash &&
           entry_number(entry, retry->offset, &number) &&
           standing_of_reject(entry, retry->offset, &retry->hash, &of) == STANDING_OPEN;
}

static bool is_of_another(const reject_head_t *retry, const char *catalog) {
    return catalog && strcmp(retry->catalog, catalog) != 0;
}

const entry_t *fixes_input(const places_t *places, const reject_head_t *retry, const char *catalog) {
    const entry_t *newest = places_named(places, retry->path), *fixed = NULL;
    const entries_t *entries = places_entries(places);
    const bool is_known = retry->ordinal <= UINT32_MAX,
               is_of_this = is_known && !is_of_another(retry, catalog);
    const entry_t *same = is_known ? entries_find(entries, (uint32_t)retry->ordinal) : NULL;
    const uint64_t from = !is_of_this ? 0 : same ? standing_input(same).heirs : retry->ordinal;
    if (same && has_rejected(same, retry))
        return same;
    if (same && is_of_this && !same->removed && strcmp(same->path, retry->path) == 0)
        return same;
    if (newest && newest->ordinal < from)
        return NULL;
    for (size_t i = newest ? (size_t)(newest - entries->entries) + 1 : 0; i-- > 0;) {
        const entry_t *entry = &entries->entries[i];
        if (entry->ordinal < from || !has_rejected(entry, retry))
            continue;
        if (!entry_answer(entry, retry->offset, retry->hash))
            return entry;
        fixed = fixed ? fixed : entry;
    }
    return fixed ? fixed : newest;
}

/* ---- which entries count ---- */

/* By which dialect the load has read the record that it rejected; 0: not known. */
static uint64_t read_by(const entry_t *entry, uint64_t offset) {
    for (size_t i = 0; i < entry->piece_count; i++)
        if (piece_reject(&entry->pieces[i], offset))
            return entry->pieces[i].dialect;
    return 0;
}

/* An edited record of another header, or another format, would get its values into the wrong fields. */
static bool is_read_otherwise(const entry_t *entry, const reject_head_t *retry) {
    const uint64_t now = read_by(entry, retry->offset);
    return retry->read_by && retry->read_by != (now ? now : retry->dialect);
}

/* err: why it is closed. */
static fix_verdict_t judge(const reading_t *reading, const reject_head_t *retry, const entry_t **entry,
                           uint64_t *of, bool *belongs, err_t *err) {
    const char *path = reading->path;
    const unsigned long long line = retry->at_line;
    uint64_t number;
    *belongs = false;
    if (!(*entry = fixes_input(reading->places, retry, reading->options->catalog))) {
        err_set(err, STATUS_USAGE,
                "%s:%llu: the file %s is not in the catalog of %s; was it forgotten, or was the record "
                "rejected by a load into another collection?",
                path, line, retry->path, reading->options->name);
        return FIX_CLOSED;
    }
    if (!entry_number(*entry, retry->offset, &number)) {
        err_set(err, STATUS_USAGE,
                "%s:%llu: offset %llu is outside of %s as the catalog has it; was the #@ line changed?", path,
                line, (unsigned long long)retry->offset, retry->path);
        return FIX_CLOSED;
    }
    const standing_t standing =
        standing_of_reject(*entry, retry->offset, retry->has_hash ? &retry->hash : NULL, of);
    *belongs = standing != STANDING_UNKNOWN;
    const ledger_t *held = reading->held;
    if (standing == STANDING_OPEN && is_read_otherwise(*entry, retry)) {
        err_set(err, STATUS_USAGE,
                "%s:%llu: %s was loaded again since this record was rejected, by another header or another "
                "format, so its columns may mean other fields now. Take the entry that the last load has "
                "written for it",
                path, line, retry->path);
        return FIX_CLOSED;
    }
    if (standing == STANDING_OPEN)
        return !held || ledger_held(held, (*entry)->ordinal, retry->offset) ? FIX_COUNTS : FIX_NOT_YET;
    if (standing == STANDING_NOT_YET)
        return FIX_NOT_YET;
    err_set(err, STATUS_USAGE,
            "%s:%llu: no such record of %s is rejected: the file was loaded again since then, from other "
            "content. Take the reject file of the last load",
            path, line, retry->path);
    return FIX_CLOSED;
}

static void name_place(named_places_t *named, const reject_head_t *retry) {
    if (named->count++ < NAMED && named->used < sizeof named->text)
        named->used += (size_t)snprintf(named->text + named->used, sizeof named->text - named->used,
                                        "%sline %llu: %.100s at byte %llu", named->used ? "; " : "",
                                        (unsigned long long)retry->at_line, retry->path,
                                        (unsigned long long)retry->offset);
}

static void tell_left_out(const reading_t *reading, const named_places_t *named, const char *why) {
    char more[40] = "";
    if (named->count > NAMED)
        snprintf(more, sizeof more, "; and %zu more", named->count - NAMED);
    if (named->count)
        log_warn("%s: %zu %s left out, %s (%s%s)", reading->path, named->count,
                 named->count == 1 ? "entry is" : "entries are", why, named->text, more);
}

/* ---- what they make ---- */

bad_value_t fixes_bad_value(const schema_t *schema, const entry_t *entry) {
    return schema->bad_value_said ? schema->bad_value : entry_bad_value(entry, schema->bound);
}

/* The document of a record under an `_id`, in reading->place; its length is 0 where there is none. */
static bool encode(reading_t *reading, const retry_t *retry, int64_t id, bad_value_t bad_value,
                   uint32_t *length, bool *filtered, err_t *err) {
    const fixes_options_t *options = reading->options;
    record_t record;
    dialect_t dialect = retry->dialect;
    dialect.bad_value = bad_value;
    *length = 0;
    *filtered = false;
    if (retry->refusal)
        return true;
    const parsed_t parsed = records_one(reading->reader, &dialect, retry->bytes, retry->length, false, id,
                                        &reading->place, &record);
    if (parsed == PARSED_MEMORY)
        return err_memory(err, record.needed);
    if (parsed != PARSED_DOCUMENT || record.length > CUTTER_RECORD ||
        record.document_length > options->max_document)
        return true;
    *filtered =
        options->filter && !filter_passes(options->filter, reading->place.bytes, record.document_length);
    if (!*filtered)
        *length = record.document_length;
    return true;
}

static bool is_answer(const reading_t *reading, const fix_mark_t *answer, uint32_t length) {
    return length && answer && answer->hash == XXH3_64bits(reading->place.bytes, length);
}

/* To verify, a record that was fixed is read in the way that makes the document that the catalog knows, if there is one: a --retry
 * may have had another --on-bad-value than its input. */
static bool encode_fix(reading_t *reading, const retry_t *retry, const entry_t *entry,
                       const fix_mark_t *answer, int64_t id, uint32_t *length, bool *filtered, err_t *err) {
    const fixes_options_t *options = reading->options;
    const bad_value_t usual = fixes_bad_value(options->schema, entry);
    for (unsigned i = options->only_fixes && answer ? 1 : BAD_VALUES; i <= BAD_VALUES; i++) {
        if (!encode(reading, retry, id, (usual + i) % BAD_VALUES, length, filtered, err))
            return false;
        if (is_answer(reading, answer, *length))
            break;
    }
    return true;
}

/* A text that stays as long as the fixes. NULL: out of memory. */
static const char *keep_text(fixes_t *fixes, const char *text) {
    for (size_t i = fixes->text_count; i-- > 0 && fixes->text_count - i <= KEPT;)
        if (strcmp(fixes->texts[i], text) == 0)
            return fixes->texts[i];
    err_t ignored;
    char *kept = GROW(fixes->texts, fixes->text_room, fixes->text_count + 1, &ignored) ? strdup(text) : NULL;
    if (kept)
        fixes->texts[fixes->text_count++] = kept;
    return kept;
}

/* Its document, as if the entry counted. */
static bool encode_seen(reading_t *reading, const retry_t *retry, seen_t *seen, err_t *err) {
    const entry_t *entry = fixes_input(reading->places, &retry->head, reading->options->catalog);
    const fix_mark_t *answer = NULL;
    uint64_t voff, of;
    if (!entry || retry->head.cut_off || !entry_number(entry, retry->head.offset, &voff))
        return true;
    seen->placed = true;
    seen->id = record_id_make(record_id_lane(entry->ordinal, retry->head.offset), voff);
    records_from(reading->reader, entry->path);
    if (reading->options->only_fixes &&
        standing_of_reject(entry, retry->head.offset, retry->head.has_hash ? &retry->head.hash : NULL, &of) ==
            STANDING_OPEN)
        answer = entry_answer(entry, retry->head.offset, of);
    if (retry->length &&
        !encode_fix(reading, retry, entry, answer, seen->id, &seen->length, &seen->filtered, err))
        return false;
    if (!seen->length)
        return true;
    seen->hash = XXH3_64bits(reading->place.bytes, seen->length);
    if (reading->options->later)
        return true;
    if (!(seen->document = malloc(seen->length)))
        return err_memory(err, seen->length);
    memcpy(seen->document, reading->place.bytes, seen->length);
    return true;
}

static bool add(reading_t *reading, seen_t *seen, const entry_t *entry, uint64_t of, err_t *err) {
    fixes_t *fixes = reading->fixes;
    if (!GROW(fixes->items, fixes->room, fixes->count + 1, err))
        return false;
    const fix_mark_t *answer = entry_answer(entry, seen->head.offset, of);
    const bool loaded = seen->length && answer && answer->hash == seen->hash;
    fixes->items[fixes->count++] = (fix_t){.id = seen->id,
                                           .entry = entry,
                                           .offset = seen->head.offset,
                                           .of = of,
                                           .document = seen->document,
                                           .hash = seen->hash,
                                           .length = seen->length,
                                           .open = !answer,
                                           .loaded = loaded && reading->options->only_fixes,
                                           .left_out = seen->left_out,
                                           .filtered = seen->filtered,
                                           .number = (size_t)(seen - fixes->seen)};
    return true;
}

/* It makes nothing, but another one of its record did: another reject file has that. */
static bool is_of_earlier_try(const seen_t *seen, const fix_mark_t *answer) {
    return answer && answer->hash != FIX_NOTHING && !seen->left_out && !seen->length;
}

/* Does it count? */
static bool settle(reading_t *reading, seen_t *seen, err_t *err) {
    const fixes_options_t *options = reading->options;
    const reject_head_t *head = &seen->head;
    const entry_t *entry;
    uint64_t voff, of = 0;
    bool belongs;
    err_t why = {.text = ""};
    reading->fixes->left_open += head->cut_off;
    reading->of_another = is_of_another(head, options->catalog);
    seen->verdict = FIX_CUT_OFF;
    if (head->cut_off)
        return true;
    seen->verdict = judge(reading, head, &entry, &of, &belongs, &why);
    reading->belong += belongs;
    if (seen->verdict != FIX_COUNTS) {
        if (seen->left_out && seen->verdict == FIX_CLOSED) /* nothing was wanted of it */
            return true;
        if (!belongs && !reading->why.text[0])
            reading->why = why;
        name_place(seen->verdict == FIX_NOT_YET ? &reading->not_yet : &reading->closed, head);
        return true;
    }
    entry_number(entry, head->offset, &voff);
    if (!seen->placed || seen->id != record_id_make(record_id_lane(entry->ordinal, head->offset), voff))
        return err_set(err, STATUS_USAGE,
                       "%s: %s was loaded anew while this command waited for it; run the same command again",
                       reading->path, head->path);
    const fix_mark_t *answer = entry_answer(entry, head->offset, of);
    if (options->only_fixes &&
        ((head->untouched && !answer) || (!seen->filtered && is_of_earlier_try(seen, answer))))
        return true;
    return add(reading, seen, entry, of, err);
}

static bool take(void *context, const retry_t *retry, err_t *err) {
    reading_t *reading = context;
    fixes_t *fixes = reading->fixes;
    if (!GROW(fixes->seen, fixes->seen_room, fixes->seen_count + 1, err))
        return false;
    seen_t *seen = &fixes->seen[fixes->seen_count];
    *seen = (seen_t){
        .head = retry->head, .bytes = XXH3_64bits(retry->bytes, retry->length), .left_out = !retry->length};
    seen->head.path = keep_text(fixes, retry->head.path);
    seen->head.catalog = keep_text(fixes, retry->head.catalog);
    if (!seen->head.path || !seen->head.catalog)
        return err_memory(err, strlen(retry->head.path));
    fixes->seen_count++;
    return encode_seen(reading, retry, seen, err) && (reading->options->later || settle(reading, seen, err));
}

/* How much an entry says of its record. */
static int weight(const fix_t *fix) {
    return fix->length ? 2 + fix->loaded : !fix->left_out;
}

/* The one that was loaded, or else the first that makes a document is the one that counts; a record that is still wrong is
 * not left out by another entry. */
static int by_id(const void *a, const void *b) {
    const fix_t *left = a, *right = b;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    if (weight(left) != weight(right))
        return weight(left) > weight(right) ? -1 : 1;
    return left->number < right->number ? -1 : 1;
}

static bool is_other_document(const fix_t *fix, const fix_t *first) {
    return fix->length && (fix->length != first->length || fix->hash != first->hash);
}

static void drop_doubles(fixes_t *fixes) {
    size_t kept = 0;
    for (size_t i = 0; i < fixes->count; i++) {
        fix_t *fix = &fixes->items[i];
        if (kept && fixes->items[kept - 1].id == fix->id) {
            fixes->seen[fix->number].verdict =
                is_other_document(fix, &fixes->items[kept - 1]) ? FIX_CONTRADICTS : FIX_DOUBLE;
        } else {
            fixes->items[kept++] = *fix;
        }
    }
    fixes->count = kept;
}

/* What came of a record is of none of the files. */
static void tell_other_fixes(const fixes_t *fixes) {
    const fix_t *first = NULL;
    size_t count = 0;
    for (size_t i = 0; i < fixes->count; i++) {
        const fix_t *fix = &fixes->items[i];
        if (!fix->length || fix->loaded || fix->open)
            continue;
        first = first ? first : fix;
        count++;
    }
    if (first)
        log_warn("of %zu fixed record%s (%.100s at byte %llu%s) the catalog knows another document than the "
                 "reject file "
                 "makes: if a later reject file has it, give both (--retry FILE --retry FILE.2)",
                 count, count == 1 ? "" : "s", first->entry->path, (unsigned long long)first->offset,
                 count == 1 ? "" : ", ...");
}

/* Of the file at hand, when all of its entries were judged. */
static bool tell_file(reading_t *reading, err_t *err) {
    if (reading->why.text[0] && !reading->belong) {
        *err = reading->why;
        return false;
    }
    if (reading->of_another)
        log_warn("%s was written by loads into another collection: what was fixed or left out there counts "
                 "where %s has rejected the same record",
                 reading->path, reading->options->name);
    tell_left_out(
        reading, &reading->closed,
        reading->of_another
            ? "since this collection has not rejected such a record"
            : "since no such record is rejected any more: its input was forgotten, was loaded again from "
              "other content or by another header or format, or has grown where it ended in the middle "
              "of the record");
    tell_left_out(reading, &reading->not_yet,
                  "since the load that rejected the record has not ended; let it end, or run it again, "
                  "then run this command again");
    reading->fixes->left_open += reading->not_yet.count;
    return true;
}

static void finish(fixes_t *fixes) {
    if (fixes->count)
        qsort(fixes->items, fixes->count, sizeof *fixes->items, by_id);
    drop_doubles(fixes);
    if (fixes->options.only_fixes)
        tell_other_fixes(fixes);
}

fixes_t *fixes_read(char *const *paths, size_t count, const places_t *places, const fixes_options_t *options,
                    err_t *err) {
    fixes_t *fixes = calloc(1, sizeof *fixes);
    records_t *reader = records_new(options->schema);
    bool ok = (fixes && reader) || err_memory(err, 1);
    reading_t reading = {.fixes = fixes, .places = places, .options = options, .reader = reader};
    for (size_t i = 0; ok && i < count; i++) {
        reading = (reading_t){.fixes = fixes,
                              .places = places,
                              .options = options,
                              .path = paths[i],
                              .reader = reader,
                              .place = reading.place};
        ok = rejects_read(paths[i], options->schema, take, &reading, err) &&
             (options->later || tell_file(&reading, err));
    }
    records_destroy(reader);
    free(reading.place.bytes);
    if (!ok) {
        fixes_free(fixes);
        return NULL;
    }
    fixes->options = *options;
    fixes->path = *paths;
    if (!options->later)
        finish(fixes);
    return fixes;
}

bool fixes_judge(fixes_t *fixes, const places_t *places, const ledger_t *held, err_t *err) {
    reading_t reading = {
        .fixes = fixes, .places = places, .held = held, .options = &fixes->options, .path = fixes->path};
    for (size_t i = 0; i < fixes->seen_count; i++)
        if (!settle(&reading, &fixes->seen[i], err))
            return false;
    if (!tell_file(&reading, err))
        return false;
    finish(fixes);
    return true;
}

void fixes_free(fixes_t *fixes) {
    if (!fixes)
        return;
    for (size_t i = 0; i < fixes->seen_count; i++)
        free(fixes->seen[i].document);
    for (size_t i = 0; i < fixes->text_count; i++)
        free(fixes->texts[i]);
    free(fixes->texts);
    free(fixes->items);
    free(fixes->seen);
    free(fixes);
}

bool fixes_verdict(const fixes_t *fixes, size_t number, const retry_t *retry, fix_verdict_t *verdict) {
    *verdict = FIX_NOT_YET; /* a load has added it since */
    if (number >= fixes->seen_count)
        return true;
    const seen_t *seen = &fixes->seen[number];
    *verdict = seen->verdict;
    if (seen->head.at_line != retry->head.at_line)
        return false;
    /* of what waits for its load, not all may have been written when it was read */
    return seen->verdict == FIX_NOT_YET || seen->bytes == XXH3_64bits(retry->bytes, retry->length);
}

size_t fixes_entries(const fixes_t *fixes) {
    return fixes->seen_count;
}

const reject_head_t *fixes_head(const fixes_t *fixes, size_t number) {
    return &fixes->seen[number].head;
}

size_t fixes_left_open(const fixes_t *fixes) {
    return fixes->left_open;
}

size_t fixes_count(const fixes_t *fixes) {
    return fixes->count;
}

const fix_t *fixes_at(const fixes_t *fixes, size_t at) {
    return &fixes->items[at];
}

size_t fixes_first(const fixes_t *fixes, int64_t id) {
    return SEARCH_FIRST(fixes->count, i, fixes->items[i].id < id);
}
