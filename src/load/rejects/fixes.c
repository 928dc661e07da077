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

enum { NAMED = 3 }; /* places, in a warning */

typedef struct {
    uint64_t at_line, hash; /* of its line in the reject file, and its bytes: to know it again */
    fix_verdict_t verdict;
} judged_t;

struct fixes {
    fix_t *items;
    size_t count, room;
    judged_t *judged; /* all entries, as they were read */
    size_t judged_count, judged_room;
    size_t left_open;
};

typedef struct {
    size_t count, used;
    char text[600];
} named_places_t;

typedef struct {
    fixes_t *fixes;
    const places_t *places;
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

static bool has_rejected(const entry_t *entry, const retry_t *retry) {
    uint64_t number, of;
    return !entry->removed && strcmp(entry->path, retry->path) == 0 && retry->has_hash &&
           entry_number(entry, retry->offset, &number) &&
           standing_of_reject(entry, retry->offset, &retry->hash, &of) == STANDING_OPEN;
}

static bool is_of_another(const retry_t *retry, const char *catalog) {
    return catalog && strcmp(retry->catalog, catalog) != 0;
}

const entry_t *fixes_input(const places_t *places, const retry_t *retry, const char *catalog) {
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

static bool add_judged(fixes_t *fixes, const retry_t *retry, fix_verdict_t verdict, err_t *err) {
    if (!GROW(fixes->judged, fixes->judged_room, fixes->judged_count + 1, err))
        return false;
    fixes->judged[fixes->judged_count++] =
        (judged_t){retry->at_line, XXH3_64bits(retry->bytes, retry->length), verdict};
    return true;
}

/* By which dialect the load has read the record that it rejected; 0: not known. */
static uint64_t read_by(const entry_t *entry, uint64_t offset) {
    for (size_t i = 0; i < entry->piece_count; i++)
        if (piece_reject(&entry->pieces[i], offset))
            return entry->pieces[i].dialect;
    return 0;
}

/* An edited record of another header, or another format, would get its values into the wrong fields. */
static bool is_read_otherwise(const entry_t *entry, const retry_t *retry) {
    const uint64_t now = read_by(entry, retry->offset);
    return retry->read_by && retry->read_by != (now ? now : retry->dialect.hash);
}

/* err: why it is closed. */
static fix_verdict_t judge(const reading_t *reading, const retry_t *retry, const entry_t **entry,
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
    const ledger_t *held = reading->options->held;
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

static void name_place(named_places_t *named, const retry_t *retry) {
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

static bool add(reading_t *reading, const retry_t *retry, const entry_t *entry, uint64_t of, int64_t id,
                uint32_t length, bool filtered, err_t *err) {
    fixes_t *fixes = reading->fixes;
    if (!GROW(fixes->items, fixes->room, fixes->count + 1, err))
        return false;
    const fix_mark_t *answer = entry_answer(entry, retry->offset, of);
    const bool loaded = is_answer(reading, answer, length);
    fix_t fix = {.id = id,
                 .entry = entry,
                 .offset = retry->offset,
                 .of = of,
                 .line = retry->line,
                 .length = length,
                 .open = !answer,
                 .loaded = loaded && reading->options->only_fixes,
                 .left_out = !retry->length,
                 .filtered = filtered,
                 .number = fixes->judged_count - 1};
    if (length && !(fix.document = malloc(length)))
        return err_memory(err, length);
    if (length)
        memcpy(fix.document, reading->place.bytes, length);
    fixes->items[fixes->count++] = fix;
    return true;
}

/* It makes nothing, but another one of its record did: another reject file has that. */
static bool is_of_earlier_try(const retry_t *retry, const fix_mark_t *answer, uint32_t length) {
    return answer && answer->hash != FIX_NOTHING && retry->length && !length;
}

static bool take(void *context, const retry_t *retry, err_t *err) {
    reading_t *reading = context;
    const fixes_options_t *options = reading->options;
    const entry_t *entry;
    uint64_t voff, of = 0;
    uint32_t length = 0;
    bool filtered = false, belongs;
    err_t why = {.text = ""};
    reading->fixes->left_open += retry->cut_off;
    reading->of_another = is_of_another(retry, options->catalog);
    if (retry->cut_off)
        return add_judged(reading->fixes, retry, FIX_CUT_OFF, err);
    const fix_verdict_t verdict = judge(reading, retry, &entry, &of, &belongs, &why);
    reading->belong += belongs;
    if (!add_judged(reading->fixes, retry, verdict, err))
        return false;
    if (verdict != FIX_COUNTS) {
        if (!retry->length && verdict == FIX_CLOSED) /* nothing was wanted of it */
            return true;
        if (!belongs && !reading->why.text[0])
            reading->why = why;
        name_place(verdict == FIX_NOT_YET ? &reading->not_yet : &reading->closed, retry);
        return true;
    }
    const fix_mark_t *answer = entry_answer(entry, retry->offset, of);
    if (options->only_fixes && retry->untouched && !answer)
        return true;
    entry_number(entry, retry->offset, &voff);
    const int64_t id = record_id_make(record_id_lane(entry->ordinal, retry->offset), voff);
    records_from(reading->reader, entry->path);
    if (retry->length && !encode_fix(reading, retry, entry, answer, id, &length, &filtered, err))
        return false;
    return (options->only_fixes && !filtered && is_of_earlier_try(retry, answer, length)) ||
           add(reading, retry, entry, of, id, length, filtered, err);
}

/* How much an entry says of its record. */
static int weight(const fix_t *fix) {
    return fix->document ? 2 + fix->loaded : !fix->left_out;
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
    return fix->document &&
           (fix->length != first->length || memcmp(fix->document, first->document, fix->length) != 0);
}

static void drop_doubles(fixes_t *fixes) {
    size_t kept = 0;
    for (size_t i = 0; i < fixes->count; i++) {
        fix_t *fix = &fixes->items[i];
        if (kept && fixes->items[kept - 1].id == fix->id) {
            fixes->judged[fix->number].verdict =
                is_other_document(fix, &fixes->items[kept - 1]) ? FIX_CONTRADICTS : FIX_DOUBLE;
            free(fix->document);
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
        if (!fix->document || fix->loaded || fix->open)
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

static bool read_file(reading_t *reading, err_t *err) {
    reading->belong = 0;
    reading->of_another = false;
    reading->why.text[0] = '\0';
    reading->closed = reading->not_yet = (named_places_t){.count = 0};
    if (!rejects_read(reading->path, reading->options->schema, take, reading, err))
        return false;
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

fixes_t *fixes_read(char *const *paths, size_t count, const places_t *places, const fixes_options_t *options,
                    err_t *err) {
    reading_t reading = {.places = places, .options = options};
    reading.fixes = calloc(1, sizeof *reading.fixes);
    reading.reader = records_new(options->schema);
    bool ok = (reading.fixes && reading.reader) || err_memory(err, 1);
    for (size_t i = 0; ok && i < count; i++) {
        reading.path = paths[i];
        ok = read_file(&reading, err);
    }
    records_destroy(reading.reader);
    free(reading.place.bytes);
    if (!ok || !reading.fixes) {
        fixes_free(reading.fixes);
        return NULL;
    }
    if (reading.fixes->count)
        qsort(reading.fixes->items, reading.fixes->count, sizeof *reading.fixes->items, by_id);
    drop_doubles(reading.fixes);
    if (options->only_fixes)
        tell_other_fixes(reading.fixes);
    return reading.fixes;
}

void fixes_free(fixes_t *fixes) {
    if (!fixes)
        return;
    for (size_t i = 0; i < fixes->count; i++)
        free(fixes->items[i].document);
    free(fixes->items);
    free(fixes->judged);
    free(fixes);
}

bool fixes_verdict(const fixes_t *fixes, size_t number, const retry_t *retry, fix_verdict_t *verdict) {
    *verdict = FIX_NOT_YET; /* a load has added it since */
    if (number >= fixes->judged_count)
        return true;
    const judged_t *judged = &fixes->judged[number];
    *verdict = judged->verdict;
    if (judged->at_line != retry->at_line)
        return false;
    /* of what waits for its load, not all may have been written when it was read */
    return judged->verdict == FIX_NOT_YET || judged->hash == XXH3_64bits(retry->bytes, retry->length);
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
