/* Entries are read and encoded first (`all`); later they are judged by the catalog, file by file; those that count are sorted by
 * `_id`, and doubles are dropped. */
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

/* ---- which input, and which place in it ---- */

/* Where the record of an entry belongs, as the catalog has it now. */
typedef struct {
    const entry_t *input; /* NULL: there is none */
    bool numbered;        /* it is inside of the input: */
    int64_t id;
    standing_t standing; /* STANDING_UNKNOWN unless it is numbered */
    uint64_t of;         /* of an open record: the hash of its bytes */
} place_t;

static place_t place_in(const entry_t *input, const reject_entry_t *entry) {
    place_t place = {.input = input, .standing = STANDING_UNKNOWN};
    uint64_t number;
    if (!input || !entry_number(input, entry->offset, &number))
        return place;
    place.numbered = true;
    place.id = record_id_make(record_id_lane(input->ordinal, entry->offset), number);
    place.standing =
        standing_of_reject(input, entry->offset, entry->has & REJECT_HAS_OF ? &entry->of : NULL, &place.of);
    return place;
}

static bool has_rejected(const entry_t *input, const reject_entry_t *entry) {
    return !input->removed && strcmp(input->path, entry->input) == 0 && entry->has & REJECT_HAS_OF &&
           place_in(input, entry).standing == STANDING_OPEN;
}

static bool is_of_another(const fixes_t *fixes, const reject_file_t *file) {
    return fixes->options.catalog && strcmp(file->catalog, fixes->options.catalog) != 0;
}

const entry_t *fixes_input(const fixes_t *fixes, const fix_t *fix, const places_t *places) {
    const reject_entry_t *of = fix->entry;
    const entry_t *newest = places_named(places, of->input, false), *fixed = NULL;
    const entries_t *entries = places_entries(places);
    const bool is_known = of->ordinal <= UINT32_MAX,
               is_of_this = is_known && !is_of_another(fixes, fix->file);
    const entry_t *same = is_known ? entries_find(entries, (uint32_t)of->ordinal) : NULL;
    uint64_t from = 0;
    if (is_of_this)
        from = same ? standing_input(same).heirs : of->ordinal;
    if (same &&
        (has_rejected(same, of) || (is_of_this && !same->removed && strcmp(same->path, of->input) == 0)))
        return same;
    if (newest && newest->ordinal < from)
        return NULL;
    for (size_t i = newest ? (size_t)(newest - entries->entries) + 1 : 0; i-- > 0;) {
        const entry_t *input = &entries->entries[i];
        if (input->ordinal < from || !has_rejected(input, of))
            continue;
        if (!entry_fixes(input, of->offset, of->of, 0).answer)
            return input;
        fixed = fixed ? fixed : input;
    }
    return fixed ? fixed : newest;
}

static place_t find_place(const fixes_t *fixes, const fix_t *fix, const places_t *places) {
    return place_in(fixes_input(fixes, fix, places), fix->entry);
}

const entry_t *fixes_open_input(const fixes_t *fixes, const fix_t *fix, const places_t *places) {
    const place_t place = find_place(fixes, fix, places);
    return place.standing == STANDING_OPEN ? place.input : NULL;
}

bad_value_t fixes_bad_value(const schema_t *schema, const entry_t *input) {
    return schema->bad_value_said ? schema->bad_value : entry_bad_value(input, schema->bound);
}

/* ---- what the entries make ---- */

typedef struct {
    const fixes_options_t *options;
    records_t *reader;
    records_place_t *place;
} making_t;

/* Makes the document under the `_id` of the fix; length 0: there is none. */
static bool encode(const making_t *making, const retry_t *retry, fix_t *fix, err_t *err) {
    const fixes_options_t *options = making->options;
    record_t record = {.needed = retry->length};
    dialect_t dialect = retry->dialect;
    dialect.bad_value = fix->read_as;
    fix->length = 0;
    fix->is.makes = retry->length ? FIX_FAILS : FIX_LEAVES_OUT;
    if (retry->refusal)
        return true;
    records_begin(making->reader, &dialect, retry->bytes, (uint32_t)retry->length, false, true, fix->id);
    const parsed_t parsed = records_next_into(making->reader, making->place, &record, NULL);
    if (parsed == PARSED_MEMORY)
        return err_memory(err, record.needed);
    if (parsed != PARSED_DOCUMENT || record.length > CUTTER_RECORD ||
        record.document_length > options->max_document)
        return true;
    fix->is.makes = FIX_FILTERED;
    if (options->filter && !filter_passes(options->filter, making->place->bytes, record.document_length))
        return true;
    fix->is.makes = FIX_MAKES;
    fix->length = record.document_length;
    fix->is.mark.hash = XXH3_64bits(making->place->bytes, fix->length);
    return true;
}

static bool is_answer(const fix_t *fix, const fix_mark_t *answer) {
    return fix->length && answer && answer->hash == fix->is.mark.hash;
}

/* Makes the document as if the entry counted. For verify, a fixed record is read in the way that makes the document that the
 * catalog knows, if any: a --retry may have had another --on-bad-value than its input. */
static bool make(const fixes_t *fixes, const making_t *making, const retry_t *retry, const places_t *places,
                 fix_t *fix, err_t *err) {
    const reject_entry_t *entry = fix->entry;
    const place_t place = find_place(fixes, fix, places);
    const fix_mark_t *answer = NULL;
    if (!place.numbered)
        return true;
    fix->placed = true;
    fix->id = place.id;
    records_from(making->reader, place.input->path);
    if (fixes->options.only_fixes && place.standing == STANDING_OPEN)
        answer = entry_fixes(place.input, entry->offset, place.of, 0).answer;
    const bad_value_t usual = fixes_bad_value(fixes->options.schema, place.input);
    for (unsigned i = answer ? 1 : BAD_VALUES; retry->length && i <= BAD_VALUES && !is_answer(fix, answer);
         i++) {
        fix->read_as = (usual + i) % BAD_VALUES;
        if (!encode(making, retry, fix, err))
            return false;
    }
    return true;
}

static bool read_entry(const fixes_t *fixes, const making_t *making, const places_t *places, fix_t *fix,
                       err_t *err) {
    retry_t retry;
    bool ok = reject_file_record(fix->file, fix->entry, fixes->options.schema, &retry, err);
    if (ok) {
        fix->spelled = retry.dialect.hash;
        fix->is.makes = retry.length ? FIX_FAILS : FIX_LEAVES_OUT;
        fix->verdict = fix->entry->cut_off ? FIX_CUT_OFF : FIX_COUNTS;
        ok = !places || fix->entry->cut_off || make(fixes, making, &retry, places, fix, err);
    }
    free(retry.row);
    reject_file_pass(fix->file, fix->entry);
    return ok;
}

static bool open_files(fixes_t *fixes, char *const *paths, size_t count, err_t *err) {
    size_t entries = 0;
    if (!(fixes->files = calloc(count + 1, sizeof *fixes->files)))
        return err_memory(err, count * sizeof *fixes->files);
    for (; fixes->file_count < count; fixes->file_count++) {
        reject_file_t *file = &fixes->files[fixes->file_count];
        if (!reject_file_open_fixed(file, paths[fixes->file_count], err))
            return false;
        entries += file->count;
    }
    if (!(fixes->all = calloc(entries + 1, sizeof *fixes->all)))
        return err_memory(err, entries * sizeof *fixes->all);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < fixes->files[i].count; j++)
            fixes->all[fixes->entries++] =
                (fix_t){.file = &fixes->files[i], .entry = &fixes->files[i].entries[j]};
    return true;
}

bool fixes_read(fixes_t *fixes, char *const *paths, size_t count, const places_t *places,
                const fixes_options_t *options, err_t *err) {
    records_place_t place = {.room = 0};
    const making_t making = {options, records_new(options->schema), &place};
    *fixes = (fixes_t){.options = *options};
    bool ok = (making.reader || err_memory(err, 1)) && open_files(fixes, paths, count, err);
    for (size_t i = 0; ok && i < fixes->entries; i++) {
        ok = read_entry(fixes, &making, places, &fixes->all[i], err);
        if (fixes->all[i].length > fixes->longest)
            fixes->longest = fixes->all[i].length;
    }
    records_destroy(making.reader);
    free(place.bytes);
    return ok;
}

void fixes_free(fixes_t *fixes) {
    for (size_t i = 0; i < fixes->file_count; i++)
        reject_file_close(&fixes->files[i]);
    free(fixes->files);
    free(fixes->items);
    free(fixes->all);
    *fixes = (fixes_t){.count = 0};
}

/* ---- which entries count ---- */

typedef struct {
    size_t count, used;
    char text[600];
} named_places_t;

/* The entries of one reject file while they are judged. */
typedef struct {
    fixes_t *fixes;
    const places_t *places;
    const ledger_t *held; /* entries of other pieces wait; NULL: none do */
    const reject_file_t *file;
    size_t belong; /* entries of this collection */
    err_t why;     /* why the first other entry is closed */
    named_places_t closed, not_yet;
} judging_t;

/* Returns the dialect by which the load read the rejected record; 0: unknown. */
static uint64_t read_by(const entry_t *input, uint64_t offset) {
    for (size_t i = 0; i < input->piece_count; i++)
        if (piece_reject(&input->pieces[i], offset))
            return input->pieces[i].dialect;
    return 0;
}

/* True if the record was rejected under another header or format: its values would get into the wrong fields. */
static bool is_read_otherwise(const fix_t *fix, const entry_t *input) {
    const uint64_t now = read_by(input, fix->entry->offset);
    return fix->entry->dialect && fix->entry->dialect != (now ? now : fix->spelled);
}

/* Judges an entry. err: why it is closed. */
static fix_verdict_t judge(const judging_t *judging, const fix_t *fix, const place_t *place, err_t *err) {
    const char *path = judging->file->path, *name = fix->entry->input;
    const unsigned long long line = fix->entry->at_line, offset = fix->entry->offset;
    const bool open = place->standing == STANDING_OPEN;
    if (!place->input)
        err_set(err, STATUS_USAGE,
                "%s:%llu: the file %s is not in the catalog of %s; was it forgotten, or was the record "
                "rejected by a load into another collection?",
                path, line, name, judging->fixes->options.name);
    else if (!place->numbered)
        err_set(err, STATUS_USAGE,
                "%s:%llu: offset %llu is outside of %s as the catalog has it; was the #@ line changed?", path,
                line, offset, name);
    else if (open && is_read_otherwise(fix, place->input))
        err_set(err, STATUS_USAGE,
                "%s:%llu: %s was loaded again since this record was rejected, by another header or another "
                "format, so its columns may mean other fields now. Take the entry that the last load has "
                "written for it",
                path, line, name);
    else if (open && (!judging->held || ledger_held(judging->held, place->input->ordinal, offset)))
        return FIX_COUNTS;
    else if (open || place->standing == STANDING_NOT_YET)
        return FIX_NOT_YET;
    else
        err_set(err, STATUS_USAGE,
                "%s:%llu: no such record of %s is rejected: the file was loaded again since then, from other "
                "content. Take the reject file of the last load",
                path, line, name);
    return FIX_CLOSED;
}

static void name_place(named_places_t *named, const reject_entry_t *entry) {
    if (named->count++ < NAMED && named->used < sizeof named->text)
        named->used += (size_t)snprintf(named->text + named->used, sizeof named->text - named->used,
                                        "%sline %llu: %.100s at byte %llu", named->used ? "; " : "",
                                        (unsigned long long)entry->at_line, entry->input,
                                        (unsigned long long)entry->offset);
}

/* Settles an entry that does not count. A deleted record needs no fix. */
static void leave_out(judging_t *judging, const fix_t *fix, const place_t *place, const err_t *why) {
    const bool belongs = place->standing != STANDING_UNKNOWN;
    if (fix->verdict == FIX_CLOSED && fix->is.makes == FIX_LEAVES_OUT)
        return;
    if (!belongs && !judging->why.text[0])
        judging->why = *why;
    name_place(fix->verdict == FIX_NOT_YET ? &judging->not_yet : &judging->closed, fix->entry);
}

static bool settle(judging_t *judging, fix_t *fix, err_t *err) {
    fixes_t *fixes = judging->fixes;
    err_t why = {.text = ""};
    fixes->left_open += fix->entry->cut_off;
    if (fix->entry->cut_off)
        return true;
    const place_t place = find_place(fixes, fix, judging->places);
    fix->verdict = judge(judging, fix, &place, &why);
    judging->belong += place.standing != STANDING_UNKNOWN;
    if (fix->verdict != FIX_COUNTS) {
        leave_out(judging, fix, &place, &why);
        return true;
    }
    if (!fix->placed || fix->id != place.id)
        return err_set(err, STATUS_USAGE,
                       "%s: %s was loaded anew while this command waited for it; run the same command again",
                       judging->file->path, fix->entry->input);
    const fix_mark_t *answer = entry_fixes(place.input, fix->entry->offset, place.of, 0).answer;
    const bool of_earlier_try = answer && answer->hash != FIX_NOTHING && fix->is.makes == FIX_FAILS;
    if (fixes->options.only_fixes && (of_earlier_try || (fix->entry->untouched && !answer)))
        return true;
    fix->is.entry = place.input;
    fix->is.mark.offset = fix->entry->offset;
    fix->is.mark.of = place.of;
    fix->open = !answer;
    fix->loaded = fixes->options.only_fixes && is_answer(fix, answer);
    return true;
}

static void tell_left_out(const judging_t *judging, const named_places_t *named, const char *why) {
    char more[40] = "";
    if (named->count > NAMED)
        snprintf(more, sizeof more, "; and %zu more", named->count - NAMED);
    if (named->count)
        log_warn("%s: %zu %s left out, %s (%s%s)", judging->file->path, named->count,
                 named->count == 1 ? "entry is" : "entries are", why, named->text, more);
}

/* Judges the entries of a file, and warns of those that do not count. False also if none belongs to this collection. */
static bool judge_file(judging_t *judging, err_t *err) {
    fixes_t *fixes = judging->fixes;
    const bool of_another = judging->file->count && is_of_another(fixes, judging->file);
    for (size_t i = 0; i < fixes->entries; i++)
        if (fixes->all[i].file == judging->file && !settle(judging, &fixes->all[i], err))
            return false;
    if (judging->why.text[0] && !judging->belong) {
        *err = judging->why;
        return false;
    }
    if (of_another)
        log_warn("%s was written by loads into another collection: what was fixed or left out there counts "
                 "where %s has rejected the same record",
                 judging->file->path, fixes->options.name);
    tell_left_out(judging, &judging->closed,
                  of_another
                      ? "since this collection has not rejected such a record"
                      : "since no such record is rejected any more: its input was forgotten, was loaded "
                        "again from other content or by another header or format, or has grown where "
                        "it ended in the middle of the record");
    tell_left_out(judging, &judging->not_yet,
                  "since the load that rejected the record has not ended; let it end, or run it again, then "
                  "run this command again");
    fixes->left_open += judging->not_yet.count;
    return true;
}

static int weight(const fix_t *fix) {
    return fix->is.makes == FIX_MAKES ? 2 + fix->loaded : fix->is.makes != FIX_LEAVES_OUT;
}

/* Sorts by `_id`. Of one record, the loaded entry comes first, or else the first that makes a document. An entry that leaves a
 * record out comes last, so it does not hide that the record is still wrong. */
static int by_id(const void *a, const void *b) {
    const fix_t *left = *(fix_t *const *)a, *right = *(fix_t *const *)b;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    if (weight(left) != weight(right))
        return weight(left) > weight(right) ? -1 : 1;
    return left < right ? -1 : 1; /* in the order of the files */
}

static bool is_other_document(const fix_t *fix, const fix_t *first) {
    return fix->length && (fix->length != first->length || fix->is.mark.hash != first->is.mark.hash);
}

/* Lists those that count, each record once. */
static bool list_items(fixes_t *fixes, err_t *err) {
    size_t kept = 0;
    if (!(fixes->items = malloc((fixes->entries + 1) * sizeof *fixes->items)))
        return err_memory(err, fixes->entries * sizeof *fixes->items);
    for (size_t i = 0; i < fixes->entries; i++)
        if (fixes->all[i].is.entry)
            fixes->items[fixes->count++] = &fixes->all[i];
    qsort(fixes->items, fixes->count, sizeof *fixes->items, by_id);
    for (size_t i = 0; i < fixes->count; i++) {
        fix_t *fix = fixes->items[i], *first = kept ? fixes->items[kept - 1] : NULL;
        if (first && first->id == fix->id)
            fix->verdict = is_other_document(fix, first) ? FIX_CONTRADICTS : FIX_DOUBLE;
        else
            fixes->items[kept++] = fix;
    }
    fixes->count = kept;
    return true;
}

/* Warns of records of whose documents none of the files has the one that the catalog knows. */
static void tell_other_fixes(const fixes_t *fixes) {
    const fix_t *first = NULL;
    size_t count = 0;
    for (size_t i = fixes->count; i-- > 0;) {
        const fix_t *fix = fixes->items[i];
        if (!fix->length || fix->loaded || fix->open)
            continue;
        first = fix;
        count++;
    }
    if (first)
        log_warn("of %zu fixed record%s (%.100s at byte %llu%s) the catalog knows another document than the "
                 "reject file makes: if a later reject file has it, give both (--retry FILE --retry FILE.2)",
                 count, count == 1 ? "" : "s", first->is.entry->path,
                 (unsigned long long)first->entry->offset, count == 1 ? "" : ", ...");
}

bool fixes_judge(fixes_t *fixes, const places_t *places, const ledger_t *held, err_t *err) {
    for (size_t i = 0; i < fixes->file_count; i++) {
        judging_t judging = {.fixes = fixes, .places = places, .held = held, .file = &fixes->files[i]};
        if (!judge_file(&judging, err))
            return false;
    }
    if (!list_items(fixes, err))
        return false;
    if (fixes->options.only_fixes)
        tell_other_fixes(fixes);
    return true;
}

/* ---- reading a record again ---- */

bool fixes_record(const fixes_t *fixes, const fix_t *fix, retry_t *retry, err_t *err) {
    const bool verifies = fixes->options.only_fixes;
    retry->row = NULL;
    if (reject_file_holds(fix->file, fix->entry))
        return reject_file_record(fix->file, fix->entry, fixes->options.schema, retry, err);
    return err_set(err, verifies ? STATUS_INPUT : STATUS_USAGE, "%s was changed while it was read; %s",
                   fix->file->path, verifies ? "verify again" : "run the same command again");
}

bool fixes_make(const fixes_t *fixes, const fix_t *fix, records_t *reader, records_place_t *place,
                err_t *err) {
    const making_t making = {&fixes->options, reader, place};
    fix_t again = *fix;
    retry_t retry;
    records_from(reader, fix->is.entry->path);
    const bool ok = fixes_record(fixes, fix, &retry, err) && encode(&making, &retry, &again, err);
    free(retry.row);
    reject_file_pass(fix->file, fix->entry);
    return ok;
}

size_t fixes_first(const fixes_t *fixes, int64_t id) {
    return SEARCH_FIRST(fixes->count, i, fixes->items[i]->id < id);
}
