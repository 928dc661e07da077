/* Entries are read and encoded first (`seen`); when all of a file were read, they are judged by the catalog; those that count
 * are sorted by `_id`, and doubles are dropped. */
#include "load/rejects/fixes.h"
#include "base/log.h"
#include "base/text.h"
#include "catalog/store/entry.h"
#include "format/record/record_id.h"
#include "input/cutter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { NAMED = 3 }; /* places, in a warning */

/* What is kept of an entry: nothing grows with its record. */
typedef struct {
    reject_head_t head; /* its path may be shared with the entry before */
    uint64_t bytes;     /* the hash of the record as it is now, to recognise it */
    bool placed;        /* its input was known: the fix has its `_id`, and its document, if any */
    fix_verdict_t verdict;
    fix_t fix; /* it counts if its `entry` is set */
} seen_t;

struct fixes {
    fixes_options_t options;
    const char *path; /* of the file that was read last */
    fix_t **items;    /* those that count */
    size_t count;
    seen_t *seen; /* all entries, as they were read */
    size_t seen_count, seen_room;
    size_t left_open;
};

typedef struct {
    size_t count, used;
    char text[600];
} named_places_t;

typedef struct {
    const fixes_options_t *options;
    fixes_t *fixes;
    const places_t *places;
    records_t *reader;
    records_place_t *place;
    fix_t again; /* for fixes_make */
} reading_t;

/* The entries of one reject file while they are judged. */
typedef struct {
    fixes_t *fixes;
    const places_t *places;
    const ledger_t *held; /* entries of other pieces wait; NULL: none do */
    const char *path;
    bool of_another; /* the file was written for another collection */
    size_t belong;   /* entries of this collection */
    err_t why;       /* why the first other entry is closed */
    named_places_t closed, not_yet;
} judging_t;

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

/* Returns the dialect by which the load read the rejected record; 0: unknown. */
static uint64_t read_by(const entry_t *entry, uint64_t offset) {
    for (size_t i = 0; i < entry->piece_count; i++)
        if (piece_reject(&entry->pieces[i], offset))
            return entry->pieces[i].dialect;
    return 0;
}

/* True if the record was rejected under another header or format: its values would get into the wrong fields. */
static bool is_read_otherwise(const entry_t *entry, const reject_head_t *retry) {
    const uint64_t now = read_by(entry, retry->offset);
    return retry->read_by && retry->read_by != (now ? now : retry->dialect);
}

/* Judges an entry. err: why it is closed. */
static fix_verdict_t judge(const judging_t *judging, const reject_head_t *retry, const entry_t **entry,
                           uint64_t *of, bool *belongs, err_t *err) {
    const char *path = judging->path;
    const unsigned long long line = retry->at_line;
    uint64_t number;
    *belongs = false;
    if (!(*entry = fixes_input(judging->places, retry, judging->fixes->options.catalog))) {
        err_set(err, STATUS_USAGE,
                "%s:%llu: the file %s is not in the catalog of %s; was it forgotten, or was the record "
                "rejected by a load into another collection?",
                path, line, retry->path, judging->fixes->options.name);
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
    const ledger_t *held = judging->held;
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

static void tell_left_out(const judging_t *judging, const named_places_t *named, const char *why) {
    char more[40] = "";
    if (named->count > NAMED)
        snprintf(more, sizeof more, "; and %zu more", named->count - NAMED);
    if (named->count)
        log_warn("%s: %zu %s left out, %s (%s%s)", judging->path, named->count,
                 named->count == 1 ? "entry is" : "entries are", why, named->text, more);
}

/* ---- what they make ---- */

bad_value_t fixes_bad_value(const schema_t *schema, const entry_t *entry) {
    return schema->bad_value_said ? schema->bad_value : entry_bad_value(entry, schema->bound);
}

/* Makes the document under the `_id` of the fix; length 0: there is none. */
static bool encode(reading_t *reading, const retry_t *retry, fix_t *fix, err_t *err) {
    const fixes_options_t *options = reading->options;
    record_t record = {.needed = retry->length};
    dialect_t dialect = retry->dialect;
    dialect.bad_value = fix->read_as;
    fix->length = 0;
    fix->filtered = false;
    if (retry->refusal)
        return true;
    records_begin(reading->reader, &dialect, retry->bytes, (uint32_t)retry->length, false, true, fix->id);
    const parsed_t parsed = records_next_into(reading->reader, reading->place, &record, NULL);
    if (parsed == PARSED_MEMORY)
        return err_memory(err, record.needed);
    if (parsed != PARSED_DOCUMENT || record.length > CUTTER_RECORD ||
        record.document_length > options->max_document)
        return true;
    fix->filtered =
        options->filter && !filter_passes(options->filter, reading->place->bytes, record.document_length);
    fix->length = fix->filtered ? 0 : record.document_length;
    fix->hash = XXH3_64bits(reading->place->bytes, fix->length);
    return true;
}

static bool is_answer(const fix_t *fix, const fix_mark_t *answer) {
    return fix->length && answer && answer->hash == fix->hash;
}

/* Makes the document as if the entry counted. For verify, a fixed record is read in the way that makes the document that the
 * catalog knows, if any: a --retry may have had another --on-bad-value than its input. */
static bool encode_seen(reading_t *reading, const retry_t *retry, seen_t *seen, err_t *err) {
    const fixes_options_t *options = reading->options;
    const reject_head_t *head = &retry->head;
    const entry_t *entry = fixes_input(reading->places, head, options->catalog);
    const fix_mark_t *answer = NULL;
    fix_t *fix = &seen->fix;
    uint64_t voff, of;
    if (!entry || head->cut_off || !entry_number(entry, head->offset, &voff))
        return true;
    seen->placed = true;
    fix->id = record_id_make(record_id_lane(entry->ordinal, head->offset), voff);
    records_from(reading->reader, entry->path);
    if (options->only_fixes &&
        standing_of_reject(entry, head->offset, head->has_hash ? &head->hash : NULL, &of) == STANDING_OPEN)
        answer = entry_answer(entry, head->offset, of);
    const bad_value_t usual = fixes_bad_value(options->schema, entry);
    for (unsigned i = answer ? 1 : BAD_VALUES; retry->length && i <= BAD_VALUES && !is_answer(fix, answer);
         i++) {
        fix->read_as = (usual + i) % BAD_VALUES;
        if (!encode(reading, retry, fix, err))
            return false;
    }
    return true;
}

/* True if the entry makes nothing, but an entry of another file did. */
static bool is_of_earlier_try(const fix_t *fix, const fix_mark_t *answer) {
    return answer && answer->hash != FIX_NOTHING && !fix->left_out && !fix->length;
}

static bool settle(judging_t *judging, seen_t *seen, err_t *err) {
    const fixes_options_t *options = &judging->fixes->options;
    const reject_head_t *head = &seen->head;
    fix_t *fix = &seen->fix;
    const entry_t *entry;
    uint64_t voff, of = 0;
    bool belongs;
    err_t why = {.text = ""};
    judging->fixes->left_open += head->cut_off;
    judging->of_another = is_of_another(head, options->catalog);
    seen->verdict = FIX_CUT_OFF;
    if (head->cut_off)
        return true;
    seen->verdict = judge(judging, head, &entry, &of, &belongs, &why);
    judging->belong += belongs;
    if (seen->verdict != FIX_COUNTS) {
        if (fix->left_out && seen->verdict == FIX_CLOSED) /* a deleted record needs no fix */
            return true;
        if (!belongs && !judging->why.text[0])
            judging->why = why;
        name_place(seen->verdict == FIX_NOT_YET ? &judging->not_yet : &judging->closed, head);
        return true;
    }
    entry_number(entry, head->offset, &voff);
    if (!seen->placed || fix->id != record_id_make(record_id_lane(entry->ordinal, head->offset), voff))
        return err_set(err, STATUS_USAGE,
                       "%s: %s was loaded anew while this command waited for it; run the same command again",
                       judging->path, head->path);
    const fix_mark_t *answer = entry_answer(entry, head->offset, of);
    if (options->only_fixes &&
        ((head->untouched && !answer) || (!fix->filtered && is_of_earlier_try(fix, answer))))
        return true;
    fix->entry = entry;
    fix->of = of;
    fix->open = !answer;
    fix->loaded = options->only_fixes && is_answer(fix, answer);
    return true;
}

static bool take(void *context, const retry_t *retry, err_t *err) {
    reading_t *reading = context;
    fixes_t *fixes = reading->fixes;
    const size_t number = fixes->seen_count;
    if (!GROW(fixes->seen, fixes->seen_room, number + 1, err))
        return false;
    seen_t *seen = &fixes->seen[fixes->seen_count++];
    const char *path = number ? seen[-1].head.path : "";
    *seen = (seen_t){.head = retry->head,
                     .bytes = XXH3_64bits(retry->bytes, retry->length),
                     .fix = {.offset = retry->head.offset,
                             .file = fixes->path,
                             .at = retry->at,
                             .left_out = !retry->length,
                             .number = number}};
    seen->head.path = number && strcmp(path, retry->head.path) == 0 ? path : strdup(retry->head.path);
    if (!seen->head.path)
        return err_memory(err, strlen(retry->head.path));
    return encode_seen(reading, retry, seen, err);
}

static int weight(const fix_t *fix) {
    return fix->length ? 2 + fix->loaded : !fix->left_out;
}

/* Sorts by `_id`. Of one record, the loaded entry comes first, or else the first that makes a document. An entry that leaves a
 * record out comes last, so it does not hide that the record is still wrong. */
static int by_id(const void *a, const void *b) {
    const fix_t *left = *(fix_t *const *)a, *right = *(fix_t *const *)b;
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
        fix_t *fix = fixes->items[i], *first = kept ? fixes->items[kept - 1] : NULL;
        if (first && first->id == fix->id)
            fixes->seen[fix->number].verdict = is_other_document(fix, first) ? FIX_CONTRADICTS : FIX_DOUBLE;
        else
            fixes->items[kept++] = fix;
    }
    fixes->count = kept;
}

/* Warns of records of whose documents none of the files has the one that the catalog knows. */
static void tell_other_fixes(const fixes_t *fixes) {
    const fix_t *first = NULL;
    size_t count = 0;
    for (size_t i = 0; i < fixes->count; i++) {
        const fix_t *fix = fixes->items[i];
        if (!fix->length || fix->loaded || fix->open)
            continue;
        first = first ? first : fix;
        count++;
    }
    if (first)
        log_warn("of %zu fixed record%s (%.100s at byte %llu%s) the catalog knows another document than the "
                 "reject file makes: if a later reject file has it, give both (--retry FILE --retry FILE.2)",
                 count, count == 1 ? "" : "s", first->entry->path, (unsigned long long)first->offset,
                 count == 1 ? "" : ", ...");
}

/* Warns of entries of the file that do not count; false if none belongs to this collection. */
static bool tell_file(judging_t *judging, err_t *err) {
    if (judging->why.text[0] && !judging->belong) {
        *err = judging->why;
        return false;
    }
    if (judging->of_another)
        log_warn("%s was written by loads into another collection: what was fixed or left out there counts "
                 "where %s has rejected the same record",
                 judging->path, judging->fixes->options.name);
    tell_left_out(judging, &judging->closed,
                  judging->of_another ? "since this collection has not rejected such a record"
                                      : "since no such record is rejected any more: its input was forgotten, "
                                        "was loaded again from other content or by another header or format, "
                                        "or has grown where it ended in the middle of the record");
    tell_left_out(judging, &judging->not_yet,
                  "since the load that rejected the record has not ended; let it end, or run it again, then "
                  "run this command again");
    judging->fixes->left_open += judging->not_yet.count;
    return true;
}

/* Judges the entries from `from` on, which are of one file. */
static bool judge_file(fixes_t *fixes, const char *path, size_t from, const places_t *places,
                       const ledger_t *held, err_t *err) {
    judging_t judging = {.fixes = fixes, .places = places, .held = held, .path = path};
    for (size_t i = from; i < fixes->seen_count; i++)
        if (!settle(&judging, &fixes->seen[i], err))
            return false;
    return tell_file(&judging, err);
}

static bool finish(fixes_t *fixes, err_t *err) {
    if (!(fixes->items = malloc((fixes->seen_count + 1) * sizeof *fixes->items)))
        return err_memory(err, fixes->seen_count * sizeof *fixes->items);
    for (size_t i = 0; i < fixes->seen_count; i++)
        if (fixes->seen[i].fix.entry)
            fixes->items[fixes->count++] = &fixes->seen[i].fix;
    qsort(fixes->items, fixes->count, sizeof *fixes->items, by_id);
    drop_doubles(fixes);
    if (fixes->options.only_fixes)
        tell_other_fixes(fixes);
    return true;
}

fixes_t *fixes_read(char *const *paths, size_t count, const places_t *places, const fixes_options_t *options,
                    err_t *err) {
    fixes_t *fixes = calloc(1, sizeof *fixes);
    records_place_t place = {.room = 0};
    reading_t reading = {.options = options,
                         .fixes = fixes,
                         .places = places,
                         .reader = records_new(options->schema),
                         .place = &place};
    bool ok = (fixes && reading.reader) || err_memory(err, 1);
    if (ok)
        *fixes = (fixes_t){.options = *options};
    for (size_t i = 0; ok && i < count; i++) {
        const size_t from = fixes->seen_count;
        fixes->path = paths[i];
        ok = rejects_read(paths[i], 0, options->schema, take, &reading, err) &&
             (options->later || judge_file(fixes, paths[i], from, places, NULL, err));
    }
    ok = ok && (options->later || finish(fixes, err));
    records_destroy(reading.reader);
    free(place.bytes);
    if (ok)
        return fixes;
    fixes_free(fixes);
    return NULL;
}

static bool make(void *context, const retry_t *retry, err_t *err) {
    reading_t *reading = context;
    return encode(reading, retry, &reading->again, err);
}

bool fixes_make(const fixes_t *fixes, const fix_t *fix, records_t *reader, records_place_t *place,
                err_t *err) {
    reading_t reading = {.options = &fixes->options,
                         .reader = reader,
                         .place = place,
                         .again = {.id = fix->id, .read_as = fix->read_as}};
    records_from(reader, fix->entry->path);
    if (!rejects_read(fix->file, fix->at, fixes->options.schema, make, &reading, err))
        return false;
    return (reading.again.length == fix->length && reading.again.hash == fix->hash) ||
           err_set(err, STATUS_INPUT, "%s was changed while it was read; verify again", fix->file);
}

bool fixes_judge(fixes_t *fixes, const places_t *places, const ledger_t *held, err_t *err) {
    return judge_file(fixes, fixes->path, 0, places, held, err) && finish(fixes, err);
}

void fixes_free(fixes_t *fixes) {
    if (!fixes)
        return;
    for (size_t i = 0; i < fixes->seen_count; i++) {
        const seen_t *seen = &fixes->seen[i];
        if (!i || seen->head.path != seen[-1].head.path)
            free((char *)seen->head.path);
    }
    free(fixes->items);
    free(fixes->seen);
    free(fixes);
}

bool fixes_verdict(const fixes_t *fixes, size_t number, const retry_t *retry, fix_verdict_t *verdict) {
    *verdict = FIX_NOT_YET; /* if a load has added it since */
    if (number >= fixes->seen_count)
        return true;
    const seen_t *seen = &fixes->seen[number];
    *verdict = seen->verdict;
    if (seen->head.at_line != retry->head.at_line)
        return false;
    /* an entry that waits for its load may not have been complete when it was read */
    return seen->verdict == FIX_NOT_YET || seen->bytes == XXH3_64bits(retry->bytes, retry->length);
}

size_t fixes_entries(const fixes_t *fixes) {
    return fixes->seen_count;
}

const reject_head_t *fixes_head(const fixes_t *fixes, size_t number) {
    return &fixes->seen[number].head;
}

uint32_t fixes_longest(const fixes_t *fixes) {
    uint32_t longest = 0;
    for (size_t i = 0; i < fixes->seen_count; i++)
        longest = fixes->seen[i].fix.length > longest ? fixes->seen[i].fix.length : longest;
    return longest;
}

size_t fixes_left_open(const fixes_t *fixes) {
    return fixes->left_open;
}

size_t fixes_count(const fixes_t *fixes) {
    return fixes->count;
}

const fix_t *fixes_at(const fixes_t *fixes, size_t at) {
    return fixes->items[at];
}

size_t fixes_first(const fixes_t *fixes, int64_t id) {
    return SEARCH_FIRST(fixes->count, i, fixes->items[i]->id < id);
}
