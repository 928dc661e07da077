#include "input/cutter.h"
#include "base/chars.h"
#include "base/err.h"
#include "format/cut/ends.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { SKIP_BYTES = 64 * 1024, KEPT_BYTES = 64 * 1024 };

struct cutter {
    source_t *source;
    pool_t *pool;
    size_t longest;  /* a longer record is skipped */
    buffer_t buffer; /* text that begins with a record's first byte */
    size_t have;
    uint64_t offset, line, lines_from, lines_skipped;
    uint64_t line_at; /* where the line of `offset` begins; of JSON */
    bool ended, faulty, open;
    bool all_read;          /* the source has given all that it has, which may be to be read again */
    const schema_t *schema; /* of records that are no lines: see ends.h; NULL: lines */
    ends_t ends;            /* of the records in the buffer */
    bool array;   /* the text is an array of JSON, or several; or turned out to be one that is not closed */
    uint8_t last; /* the last byte that was read and is no blank */
    err_t fault;
};

cutter_t *cutter_new(source_t *source, pool_t *pool, uint64_t longest, err_t *err) {
    cutter_t *cutter = calloc(1, sizeof *cutter);
    if (!cutter) {
        err_memory(err, sizeof *cutter);
        return NULL;
    }
    cutter->source = source;
    cutter->pool = pool;
    cutter->longest = longest < CUTTER_BUFFER ? CUTTER_BUFFER : (size_t)longest;
    cutter->line = 1;
    return cutter;
}

void cutter_destroy(cutter_t *cutter) {
    if (!cutter)
        return;
    pool_give(cutter->pool, &cutter->buffer);
    free(cutter);
}

/* The last bytes that were read are to be read again. The source keeps them: if a cutter held one buffer of the pool while it
 * waits for the next, it could wait for itself. */
static bool give_back(cutter_t *cutter, const uint8_t *bytes, size_t count, err_t *err) {
    if (!count)
        return true;
    cutter->ended = cutter->faulty = false;
    return source_unread(cutter->source, bytes, count, err);
}

static bool is_json(const cutter_t *cutter) {
    return cutter->schema && cutter->schema->kind == RECORDS_JSON;
}

/* The next bytes of the text. */
static size_t read_text(cutter_t *cutter, uint8_t *to, size_t most) {
    const ssize_t got = source_read(cutter->source, to, most, &cutter->fault);
    const uint8_t last = got > 0 ? ends_last_byte(to, (size_t)got) : 0;
    cutter->last = last ? last : cutter->last;
    cutter->ended = got <= 0;
    cutter->all_read |= cutter->ended;
    cutter->faulty = got < 0;
    return got > 0 ? (size_t)got : 0;
}

/* Reads into the buffer, made as large as `room`, until it holds `want` bytes. A fault is remembered: the text before
 * it is good. */
static bool fill(cutter_t *cutter, size_t room, size_t want, err_t *err) {
    if (!pool_grow(cutter->pool, &cutter->buffer, cutter->have, room))
        return err_memory(err, room);
    while (cutter->have < want && !cutter->ended)
        cutter->have += read_text(cutter, cutter->buffer.bytes + cutter->have, want - cutter->have);
    return true;
}

/* Reads more of a record that has no end yet, up to `most` bytes in all. Its buffer doubles, but text is read in
 * smaller steps: what is read after the record's end is kept in memory outside the budget. */
static bool read_on(cutter_t *cutter, size_t most, err_t *err) {
    size_t room = cutter->buffer.capacity, want = cutter->have + CUTTER_BUFFER;
    if (cutter->have == room)
        room = 2 * cutter->have < most ? 2 * cutter->have : most;
    want = want < room ? want : room;
    return fill(cutter, room, want < most ? want : most, err);
}

static uint64_t count_lines(const cutter_t *cutter, const uint8_t *text, size_t length) {
    return cutter->schema ? ends_lines(cutter->schema, text, length) : lines_count(text, length);
}

static bool is_bson(const cutter_t *cutter) {
    return cutter->schema && cutter->schema->kind == RECORDS_BSON;
}

/* A byte-order mark and lines to skip are before it. */
static size_t first_field(const cutter_t *cutter) {
    return cutter->offset || is_bson(cutter)
               ? 0
               : dialect_begin(cutter->schema, cutter->buffer.bytes, cutter->have);
}

/* Where a document of BSON should begin there is none, or only a part of it: nothing after it can be found. */
static void end_bson(cutter_t *cutter) {
    err_set(&cutter->fault, STATUS_INPUT,
            "%.1000s: at byte %" PRIu64
            " begins no whole document: the file is damaged, was cut off, or is still being written. The "
            "documents before it are read. Get the whole file, and run the command again",
            source_name(cutter->source), cutter->offset + cutter->ends.record);
    cutter->faulty = cutter->ended = true;
    cutter->have = cutter->ends.record;
}

/* The place after the first record end at or after `from`; 0: there is none yet. */
static size_t record_end(cutter_t *cutter, size_t from) {
    const uint8_t *text = cutter->buffer.bytes;
    ends_t *ends = &cutter->ends;
    if (!cutter->schema) {
        const uint8_t *found = from < cutter->have ? memchr(text + from, '\n', cutter->have - from) : NULL;
        return found ? (size_t)(found - text) + 1 : 0;
    }
    if (!ends->at)
        ends->at = ends->record = first_field(cutter);
    ends->array = cutter->array;
    if (ends_on(ends, text, cutter->have, cutter->ended, from + 1))
        return ends->record;
    if (is_bson(cutter) && (ends->lies || (cutter->ended && !cutter->faulty && ends->record < cutter->have)))
        end_bson(cutter);
    return 0;
}

static size_t last_record_end(const cutter_t *cutter) {
    if (cutter->schema)
        return cutter->ends.record > first_field(cutter) ? cutter->ends.record : 0;
    const uint8_t *found = memrchr(cutter->buffer.bytes, '\n', cutter->have);
    return found ? (size_t)(found - cutter->buffer.bytes) + 1 : 0;
}

/* The text ends within its last record, or within quotes: as nothing follows it, the lines after such a quote are records,
 * and the first one that begins at or after `from` begins where this says. */
static size_t end_open(cutter_t *cutter, size_t from) {
    const ends_t *ends = &cutter->ends;
    size_t end = cutter->schema ? ends->record : cutter->have;
    cutter->open = true;
    while (end < from && end < cutter->have)
        end +=
            ends_find(cutter->schema, ends->delimiter, cutter->buffer.bytes + end, cutter->have - end, true);
    return end;
}

/* Nothing follows this text: a file that was cut off must not look like a whole one. An array may also begin after
 * objects. */
static void want_closed_array(cutter_t *cutter) {
    const uint8_t bracket = ends_bracket(&cutter->ends, cutter->last);
    const bool open = cutter->array ? bracket != ']' : bracket == '[' || bracket == ENDS_PERHAPS;
    if (!is_json(cutter) || cutter->faulty || !open)
        return;
    cutter->array = cutter->faulty = true;
    ends_say_cut_off(source_name(cutter->source), &cutter->fault);
}

/* The end of a record that is too long to be kept, in text that goes on from what is held of it. */
static bool finds_end(cutter_t *cutter, const uint8_t *text, size_t length, size_t *end) {
    if (is_json(cutter)) {
        const size_t found = json_span_find(&cutter->ends.json, text, length, false);
        *end = found ? found : length - json_span_forget(&cutter->ends.json, length);
        return found != 0;
    }
    const uint8_t *found = memchr(text, '\n', length);
    *end = found ? (size_t)(found - text) + 1 : length;
    return found != NULL;
}

/* Reads to the end of the record at `start`; keeps only its first bytes. Of JSON, the last bytes that are held are searched
 * again with what follows them. */
static bool skip_record(cutter_t *cutter, size_t start, cut_t *cut, err_t *err) {
    uint8_t skipped[SKIP_BYTES];
    XXH3_state_t *hash = XXH3_createState();
    size_t again = is_json(cutter) ? json_span_forget(&cutter->ends.json, cutter->have - start) : 0;
    const size_t held = cutter->have - again;
    bool ok = true, found = false;
    if (!hash)
        return err_memory(err, SKIP_BYTES);
    XXH3_64bits_reset(hash);
    XXH3_64bits_update(hash, cutter->buffer.bytes, held);
    cutter->lines_skipped = lines_count(cutter->buffer.bytes + start, held - start);
    memcpy(skipped, cutter->buffer.bytes + held, again);
    cut->oversize.length = held - start;
    cut->oversize.held = (uint32_t)cut->oversize.length;
    cut->oversize.kept = (uint32_t)(cut->oversize.length < KEPT_BYTES ? cut->oversize.length : KEPT_BYTES);
    while (!found && (again || !cutter->ended)) {
        const size_t more = cutter->ended ? 0 : read_text(cutter, skipped + again, SKIP_BYTES - again),
                     got = again + more;
        size_t taken;
        found = finds_end(cutter, skipped, got, &taken);
        if (!found && cutter->ended)
            taken = got;
        cut->oversize.length += taken;
        cutter->lines_skipped += lines_count(skipped, taken);
        XXH3_64bits_update(hash, skipped, taken);
        again = got - taken;
        if (found)
            ok = give_back(cutter, skipped + taken, again, err);
        else
            memmove(skipped, skipped + taken, again);
    }
    cut->oversize.hash = XXH3_64bits_digest(hash);
    XXH3_freeState(hash);
    cutter->have = start;
    return ok;
}

/* Whether a cut is the last one is known only when the source says that it has no more. */
static bool look_ahead(cutter_t *cutter, err_t *err) {
    uint8_t bytes[4096];
    if (cutter->ended)
        return true;
    const size_t got = read_text(cutter, bytes, sizeof bytes);
    return give_back(cutter, bytes, got, err);
}

/* Finds the line in which the record after this cut begins. Only records of JSON need not begin one. */
static void follow_line(cutter_t *cutter, size_t length, uint64_t skipped) {
    const bool may_go_on = is_json(cutter) && !skipped;
    const uint8_t *text = cutter->buffer.bytes, *end = may_go_on ? memrchr(text, '\n', length) : NULL;
    if (end)
        cutter->line_at = cutter->offset + (uint64_t)(end + 1 - text);
    else if (!may_go_on)
        cutter->line_at = cutter->offset + length + skipped;
}

static bool hand_over(cutter_t *cutter, size_t end, cut_t *cut, err_t *err) {
    bool skipped = cut->oversize.length > 0;
    if (!skipped && !give_back(cutter, cutter->buffer.bytes + end, cutter->have - end, err))
        return false;
    if (!look_ahead(cutter, err))
        return false;
    if (cutter->ended)
        want_closed_array(cutter);
    if (!skipped) /* the slack after the text must be zeros, whatever was there before */
        memset(cutter->buffer.bytes + end, 0, POOL_SLACK);
    if (cutter->ended) /* a small file must not hold the memory that a large one needs */
        pool_shrink(cutter->pool, &cutter->buffer, end + cut->oversize.held);
    cut->buffer = cutter->buffer;
    cut->length = (uint32_t)end;
    cut->offset = cutter->offset;
    cut->first_line = cutter->line;
    cut->lines_from = cutter->lines_from;
    cut->in_line = cutter->offset - cutter->line_at;
    follow_line(cutter, end, cut->oversize.length);
    cutter->line += count_lines(cutter, cut->buffer.bytes, end) + (skipped ? cutter->lines_skipped : 0);
    cutter->offset += end + cut->oversize.length;
    cut->next_offset = cutter->offset;
    cutter->buffer = (buffer_t){NULL, 0};
    cutter->have = 0;
    cut->open = cutter->open;
    cut->last = cutter->ended && !cutter->faulty;
    cut->broken |= cutter->array && cutter->faulty && cutter->ended;
    return true;
}

static bool take_buffer(cutter_t *cutter, err_t *err) {
    if (!pool_take(cutter->pool, CUTTER_BUFFER, &cutter->buffer))
        return err_memory(err, CUTTER_BUFFER);
    cutter->have = 0;
    if (cutter->schema) {
        const uint8_t bracket = cutter_bracket(cutter);
        cutter->ends = ends_begin(cutter->schema, cutter->ends.delimiter);
        cutter->ends.bracket = bracket;
    }
    return true;
}

/* Goes on at this byte of the text; what was read from another place is dropped. */
static bool move_to(cutter_t *cutter, uint64_t offset, err_t *err) {
    pool_give(cutter->pool, &cutter->buffer);
    cutter->have = 0;
    cutter->ended = cutter->all_read = cutter->faulty = false;
    cutter->offset = cutter->lines_from = cutter->line_at = offset;
    cutter->line = 1;
    return source_skip_to(cutter->source, offset, err);
}

bool cutter_seek(cutter_t *cutter, uint64_t window, uint64_t before, err_t *err) {
    /* a record that begins at the window's first byte follows a line end before the window */
    uint64_t at = window * CUTTER_WINDOW - 1;
    int passed = 1;
    cut_t cut;
    /* where each line is not a record, the place of the next one depends on all before it */
    while (cutter->schema && passed > 0 && cutter->offset < window * CUTTER_WINDOW &&
           cutter->offset / CUTTER_WINDOW < before)
        if ((passed = cutter_next(cutter, &cut, err)) > 0)
            pool_give(cutter->pool, &cut.buffer);
    if (cutter->schema)
        return passed >= 0;
    if (!window || at < cutter->offset + cutter->have || cutter->all_read)
        return true;
    uint8_t text[SKIP_BYTES], *end = NULL;
    bool ok = move_to(cutter, at, err);
    while (ok && !end && !cutter->ended) {
        if (at / CUTTER_WINDOW >= before) {
            cutter->ended = true;
            break;
        }
        const size_t got = read_text(cutter, text, SKIP_BYTES);
        end = got ? memchr(text, '\n', got) : NULL;
        at += end ? (uint64_t)(end - text) + 1 : got;
        if (end)
            ok = give_back(cutter, end + 1, got - (size_t)(end + 1 - text), err);
    }
    cutter->offset = cutter->lines_from = cutter->line_at = at;
    return ok && look_ahead(cutter, err);
}

bool cutter_start_at(cutter_t *cutter, uint64_t offset, uint8_t bracket, err_t *err) {
    cutter->ends.bracket = bracket;
    return offset == cutter->offset || (move_to(cutter, offset, err) && look_ahead(cutter, err));
}

uint8_t cutter_bracket(const cutter_t *cutter) {
    return ends_bracket(&cutter->ends, 0);
}

uint64_t cutter_offset(const cutter_t *cutter) {
    return cutter->offset;
}

void cutter_read_as(cutter_t *cutter, const schema_t *schema, const dialect_t *dialect) {
    if (!schema->multiline)
        return;
    cutter->schema = schema;
    cutter->array = dialect->array;
    cutter->ends = ends_begin(schema, dialect->delimiter);
    if (cutter->longest <= ENDS_MOST) /* where a line begins follows from the last quote that counts */
        cutter->longest = ENDS_MOST + 1;
    if (schema->kind == RECORDS_BSON && cutter->longest < BSON_LENGTH_MOST)
        cutter->longest = BSON_LENGTH_MOST;
}

bool cutter_begin(cutter_t *cutter, const schema_t *schema, const char *name, dialect_t *dialect,
                  err_t *err) {
    dialect_head_t head;
    if (!cutter_look(cutter, schema, &head, err) || !dialect_sniff_head(schema, &head, name, dialect, err))
        return false;
    cutter_read_as(cutter, schema, dialect);
    return true;
}

bool cutter_look(cutter_t *cutter, const schema_t *schema, dialect_head_t *head, err_t *err) {
    if ((!cutter->buffer.bytes && !take_buffer(cutter, err)) ||
        !fill(cutter, CUTTER_BUFFER, CUTTER_BUFFER, err))
        return false;
    const size_t end = record_end(cutter, CUTTER_WINDOW - 1);
    const bool more = !cutter->ended || cutter->faulty || end;
    const size_t length = end ? end : more ? last_record_end(cutter) : cutter->have;
    if (cutter->faulty && !length &&
        (!cutter->have || (schema->kind != RECORDS_BSON && schema->kind != RECORDS_JSON))) {
        *err = cutter->fault;
        return false;
    }
    *head = (dialect_head_t){.text = cutter->buffer.bytes,
                             .length = length,
                             .begun = cutter->have - length,
                             .more = more,
                             .utf16 = source_is_utf16(cutter->source)};
    return true;
}

int cutter_next(cutter_t *cutter, cut_t *cut, err_t *err) {
    const size_t inside = (size_t)(CUTTER_WINDOW - cutter->offset % CUTTER_WINDOW),
                 usual = inside + (CUTTER_BUFFER - CUTTER_WINDOW);
    size_t end = 0, start = 0;
    *cut = (cut_t){.length = 0};
    if (!cutter->ended || cutter->have) {
        if ((!cutter->buffer.bytes && !take_buffer(cutter, err)) || !fill(cutter, usual, usual, err))
            return pool_closed(cutter->pool) ? 0 : -1;
        end = record_end(cutter, inside - 1);
        start = end ? 0 : last_record_end(cutter);
    }
    while (!end && !cutter->ended && !cut->oversize.length) {
        const size_t most = start + cutter->longest + 1, searched = cutter->have;
        if (cutter->have >= most) {
            if (!skip_record(cutter, start, cut, err))
                return -1;
            end = start;
        } else {
            if (!read_on(cutter, most, err))
                return pool_closed(cutter->pool) ? 0 : -1;
            end = record_end(cutter, cutter->schema ? inside - 1 : searched);
            if (!end && cutter->schema) /* a quote that nothing closes: the lines after it are records */
                start = last_record_end(cutter);
        }
    }
    /* the file ends here; a fault may have cut off its last record */
    if (!end && !cut->oversize.length && cutter->buffer.bytes) {
        want_closed_array(cutter);
        end = !cutter->faulty ? end_open(cutter, inside)
              : cutter->ends.json.phase == SPAN_AFTER /* an object is whole, whatever would follow it */
                  ? cutter->have
                  : last_record_end(cutter);
        cut->broken = cutter->faulty;
        if (cutter->faulty)
            cutter->have = end;
    }
    if (end || cut->oversize.length)
        return hand_over(cutter, end, cut, err) ? 1 : -1;
    if (cutter->faulty)
        *err = cutter->fault;
    return cutter->faulty ? -1 : 0;
}
