#include "input/decode/inflate64.h"

#include <stdlib.h>
#include <string.h>

/* An entry of a table, found by the next bits of the input:
 *
 *     31            16 15  13 12      8 7      5 4       0
 *     [ value         |      | extra   | kind   | bits    ]
 *
 * bits: the length of the code, which is dropped. value: the literal; or the base of a length or distance, to which
 * `extra` more bits are added; or, for a LINK, where its second table begins, which `extra` more bits index. */
typedef enum { KIND_NONE, KIND_LITERAL, KIND_MATCH, KIND_END, KIND_LINK } kind_t;
#define ENTRY(value, extra, kind) ((uint32_t)(value) << 16 | (uint32_t)(extra) << 8 | (uint32_t)(kind) << 5)
#define ENTRY_VALUE(entry)        ((entry) >> 16)
#define ENTRY_EXTRA(entry)        ((entry) >> 8 & 31)
#define ENTRY_KIND(entry)         ((kind_t)((entry) >> 5 & 7))
#define ENTRY_BITS(entry)         ((entry)&31)

enum {
    WINDOW = 65536,
    FRESH = 2 * WINDOW, /* how much is decoded between two moves of the window */
    ROOM = WINDOW + FRESH,
    COPY_SLACK = 16, /* a copy may write this much after its end */
    LONGEST_CODE = 15,
    LITERALS = 288,
    DISTANCES = 32,
    LITERAL_BITS = 11,
    DISTANCE_BITS = 8,
    LENGTHS_BITS = 7,
    LITERAL_TABLE = 2400, /* complete codes of these sizes need at most 2,342 and 402 entries */
    DISTANCE_TABLE = 416,
    FAST_TAIL = 16, /* one token reads at most this far */
};

typedef enum { STAGE_HEADER, STAGE_STORED, STAGE_CODES, STAGE_OVER } stage_t;

struct inflate64 {
    stage_t stage;
    bool final_block;
    inflate64_result_t result; /* once STAGE_OVER */
    const char *reason;
    uint32_t stored;          /* bytes that are left of a stored block */
    uint32_t match, distance; /* the rest of a match that did not fit in the window */
    uint64_t bits;            /* between two calls: less than a byte */
    unsigned count;
    size_t filled, given; /* how much of the window */
    uint32_t literals[LITERAL_TABLE], distances[DISTANCE_TABLE];
    uint8_t window[ROOM + COPY_SLACK];
};

typedef struct {
    uint64_t bits;
    unsigned count; /* valid bits */
    const uint8_t *at, *end;
} reader_t;

/* Afterwards at least 56 bits are valid; after the end they are whatever is in the slack. */
static inline void refill(reader_t *reader) {
    uint64_t next;
    memcpy(&next, reader->at, sizeof next);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    next = __builtin_bswap64(next);
#endif
    reader->bits |= next << reader->count;
    reader->at += (63 - reader->count) >> 3;
    reader->count |= 56;
}

static inline void drop(reader_t *reader, unsigned count) {
    reader->bits >>= count;
    reader->count -= count;
}

static inline uint32_t take(reader_t *reader, unsigned count) {
    uint32_t value = (uint32_t)(reader->bits & ((1ull << count) - 1));
    drop(reader, count);
    return value;
}

/* Were more bits used than there are? */
static inline bool overdrawn(const reader_t *reader) {
    return reader->at - reader->count / 8 > reader->end;
}

static void put_back(reader_t *reader) {
    reader->at -= reader->count / 8;
    reader->count &= 7;
    reader->bits &= (1u << reader->count) - 1;
}

static bool over(inflate64_t *inflater, inflate64_result_t result, const char *reason) {
    inflater->stage = STAGE_OVER;
    inflater->result = result;
    inflater->reason = reason;
    return false;
}

/* Lengths: 3-10 have one code each; then there are four codes for each number of extra bits, up to 131-258; and 285. */
static uint32_t literal_entry(unsigned symbol) {
    if (symbol < 256)
        return ENTRY(symbol, 0, KIND_LITERAL);
    if (symbol == 256)
        return ENTRY(0, 0, KIND_END);
    unsigned code = symbol - 257, extra = code < 8 ? 0 : code / 4 - 1;
    if (code == 28)
        return ENTRY(3, 16, KIND_MATCH);
    if (code > 28)
        return ENTRY(0, 0, KIND_NONE);
    return ENTRY(code < 8 ? 3 + code : 3 + ((4 + code % 4) << extra), extra, KIND_MATCH);
}

static uint32_t distance_entry(unsigned code) {
    unsigned extra = code < 4 ? 0 : code / 2 - 1;
    return ENTRY(code < 4 ? 1 + code : 1 + ((2 + code % 2) << extra), extra, KIND_MATCH);
}

static uint32_t length_entry(unsigned symbol) {
    return ENTRY(symbol, 0, KIND_LITERAL);
}

static unsigned reversed(unsigned code, unsigned length) {
    unsigned out = 0;
    for (; length; length--, code >>= 1)
        out = out << 1 | (code & 1);
    return out;
}

/* How many bits the second table of a code of this length needs to hold all codes with its first bits. left: how many
 * codes of each length are not in a table yet. */
static unsigned second_bits(const unsigned left[LONGEST_CODE + 1], unsigned length, unsigned first_bits) {
    unsigned bits = length - first_bits;
    int space = 1 << bits;
    while (first_bits + bits < LONGEST_CODE && (space -= (int)left[first_bits + bits]) > 0) {
        bits++;
        space <<= 1;
    }
    return bits;
}

/* Fills in every index whose low bits are the code. */
static void fill(uint32_t *table, unsigned table_bits, unsigned code, unsigned length, uint32_t entry) {
    for (size_t at = code; at < (size_t)1 << table_bits; at += (size_t)1 << length)
        table[at] = entry | length;
}

/* Makes the table of a canonical code. Refuses codes that are too full, and codes with gaps; but a code may be empty,
 * or have a single code of one bit (RFC 1951, 3.2.7). */
static bool build(uint32_t *table, size_t room, unsigned first_bits, const uint8_t *lengths, unsigned symbols,
                  uint32_t entry_of(unsigned symbol)) {
    unsigned left[LONGEST_CODE + 1] = {0}, next[LONGEST_CODE + 2] = {0}, sorted_at[LONGEST_CODE + 2] = {0};
    uint16_t sorted[LITERALS];
    for (unsigned i = 0; i < symbols; i++)
        left[lengths[i]]++;
    unsigned used = symbols - left[0];
    left[0] = 0;
    unsigned space = 0;
    for (unsigned n = 1; n <= LONGEST_CODE; n++) {
        space += left[n] << (LONGEST_CODE - n);
        next[n + 1] = (next[n] + left[n]) << 1;
        sorted_at[n + 1] = sorted_at[n] + left[n];
    }
    if (space > 1u << LONGEST_CODE || (space < 1u << LONGEST_CODE && used > 1) || (used == 1 && !left[1]))
        return false;
    for (unsigned i = 0; i < symbols; i++)
        if (lengths[i])
            sorted[sorted_at[lengths[i]]++] = (uint16_t)i;

    size_t end = (size_t)1 << first_bits;
    memset(table, 0, end * sizeof *table);
    uint32_t *second = NULL;
    unsigned second_prefix = 0, bits = 0;
    for (unsigned i = 0; i < used; i++) {
        unsigned length = lengths[sorted[i]], code = reversed(next[length]++, length);
        uint32_t entry = entry_of(sorted[i]);
        unsigned prefix = code & ((1u << first_bits) - 1);
        if (length <= first_bits) {
            fill(table, first_bits, code, length, entry);
        } else {
            if (!second || prefix != second_prefix) {
                bits = second_bits(left, length, first_bits);
                if (end + ((size_t)1 << bits) > room)
                    return false;
                second = table + end;
                second_prefix = prefix;
                table[prefix] = ENTRY(end, bits, KIND_LINK) | first_bits;
                end += (size_t)1 << bits;
            }
            fill(second, bits, code >> first_bits, length - first_bits, entry);
        }
        left[length]--;
    }
    return true;
}

static bool build_fixed(inflate64_t *inflater) {
    uint8_t lengths[LITERALS];
    memset(lengths, 8, 144);
    memset(lengths + 144, 9, 112);
    memset(lengths + 256, 7, 24);
    memset(lengths + 280, 8, 8);
    build(inflater->literals, LITERAL_TABLE, LITERAL_BITS, lengths, LITERALS, literal_entry);
    memset(lengths, 5, DISTANCES);
    return build(inflater->distances, DISTANCE_TABLE, DISTANCE_BITS, lengths, DISTANCES, distance_entry);
}

/* Bits from after the end are also invalid: then the input is cut off. */
static bool refuse(inflate64_t *inflater, const reader_t *reader, const char *reason) {
    return over(inflater, overdrawn(reader) ? INFLATE64_CUT : INFLATE64_DAMAGED, reason);
}

static bool read_dynamic(inflate64_t *inflater, reader_t *reader) {
    static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    static const struct { uint8_t bits, least; } runs[3] = {{2, 3}, {3, 3}, {7, 11}};
    uint8_t code_lengths[19] = {0}, lengths[LITERALS + DISTANCES] = {0};
    uint32_t table[1 << LENGTHS_BITS];
    unsigned literals = 257 + take(reader, 5), distances = 1 + take(reader, 5), codes = 4 + take(reader, 4);
    if (literals > 286)
        return refuse(inflater, reader, "too many length codes");
    for (unsigned i = 0; i < codes; i++) {
        refill(reader);
        code_lengths[order[i]] = (uint8_t)take(reader, 3);
    }
    if (!build(table, 1 << LENGTHS_BITS, LENGTHS_BITS, code_lengths, 19, length_entry))
        return refuse(inflater, reader, "invalid code lengths");
    for (unsigned i = 0; i < literals + distances;) {
        refill(reader);
        if (overdrawn(reader))
            return refuse(inflater, reader, NULL);
        uint32_t entry = table[reader->bits & ((1 << LENGTHS_BITS) - 1)];
        if (ENTRY_KIND(entry) == KIND_NONE)
            return refuse(inflater, reader, "invalid code lengths");
        drop(reader, ENTRY_BITS(entry));
        unsigned symbol = ENTRY_VALUE(entry);
        if (symbol < 16) {
            lengths[i++] = (uint8_t)symbol;
            continue;
        }
        unsigned run = runs[symbol - 16].least + take(reader, runs[symbol - 16].bits);
        if ((symbol == 16 && !i) || i + run > literals + distances)
            return refuse(inflater, reader, "invalid code lengths");
        memset(lengths + i, symbol == 16 ? lengths[i - 1] : 0, run);
        i += run;
    }
    if (!lengths[256] ||
        !build(inflater->literals, LITERAL_TABLE, LITERAL_BITS, lengths, literals, literal_entry) ||
        !build(inflater->distances, DISTANCE_TABLE, DISTANCE_BITS, lengths + literals, distances,
               distance_entry))
        return refuse(inflater, reader, "invalid codes");
    return true;
}

/* Reads a block's header. Needs INFLATE64_LEAST bytes, or the last ones. */
static bool read_block_header(inflate64_t *inflater, reader_t *reader) {
    refill(reader);
    inflater->final_block = take(reader, 1);
    unsigned type = take(reader, 2);
    if (type == 0) {
        drop(reader, reader->count & 7);
        refill(reader);
        uint32_t length = take(reader, 16), check = take(reader, 16);
        if (overdrawn(reader) || (length ^ check) != 0xffff)
            return refuse(inflater, reader, "invalid stored block");
        put_back(reader);
        inflater->stored = length;
        inflater->stage = STAGE_STORED;
        return true;
    }
    if (type == 3)
        return refuse(inflater, reader, "invalid block type");
    if (type == 1 ? !build_fixed(inflater) : !read_dynamic(inflater, reader))
        return false;
    if (overdrawn(reader))
        return refuse(inflater, reader, NULL);
    inflater->stage = STAGE_CODES;
    return true;
}

/* Steps as long as the distance never read what is not written yet, so a copy may overlap itself. */
static inline void copy_match(uint8_t *to, uint32_t distance, size_t length) {
    const uint8_t *from = to - distance, *stop = to + length;
    if (distance >= 16) {
        for (; to < stop; to += 16, from += 16)
            memcpy(to, from, 16);
    } else if (distance >= 8) {
        for (; to < stop; to += 8, from += 8)
            memcpy(to, from, 8);
    } else if (distance == 1) {
        memset(to, *from, length);
    } else {
        while (to < stop)
            *to++ = *from++;
    }
}

static void go_on_with_match(inflate64_t *inflater) {
    size_t room = ROOM - inflater->filled, length = inflater->match < room ? inflater->match : room;
    copy_match(inflater->window + inflater->filled, inflater->distance, length);
    inflater->filled += length;
    inflater->match -= (uint32_t)length;
}

static inline uint32_t look_up(reader_t *reader, const uint32_t *table, unsigned first_bits) {
    uint32_t entry = table[reader->bits & ((1u << first_bits) - 1)];
    if (ENTRY_KIND(entry) == KIND_LINK) {
        drop(reader, ENTRY_BITS(entry));
        entry = table[ENTRY_VALUE(entry) + (reader->bits & ((1u << ENTRY_EXTRA(entry)) - 1))];
    }
    drop(reader, ENTRY_BITS(entry));
    return entry;
}

/* Reads tokens until the window is full, the block ends, or the input is almost used up. With `careful` (only for the
 * very last bytes) every token is checked against the end before it counts. False: the input is used up, or has
 * ended. */
static inline __attribute__((always_inline)) bool read_codes(inflate64_t *inflater, reader_t *shared,
                                                             bool careful) {
    reader_t reader = *shared;
    uint8_t *window = inflater->window;
    size_t filled = inflater->filled;
    bool ok = true;
    while (filled < ROOM) {
        if (!careful && reader.end - reader.at < FAST_TAIL) {
            ok = false;
            break;
        }
        refill(&reader);
        uint32_t entry = look_up(&reader, inflater->literals, LITERAL_BITS);
        if (!careful && ENTRY_KIND(entry) == KIND_LITERAL && filled + 1 < ROOM) {
            window[filled++] = (uint8_t)ENTRY_VALUE(entry);
            entry = look_up(&reader, inflater->literals, LITERAL_BITS);
        }
        if (careful && overdrawn(&reader)) {
            ok = over(inflater, INFLATE64_CUT, NULL);
            break;
        }
        if (ENTRY_KIND(entry) == KIND_LITERAL) {
            window[filled++] = (uint8_t)ENTRY_VALUE(entry);
            continue;
        }
        if (ENTRY_KIND(entry) != KIND_MATCH) {
            if (ENTRY_KIND(entry) == KIND_END)
                inflater->stage = STAGE_HEADER;
            else
                ok = over(inflater, INFLATE64_DAMAGED, "invalid code");
            break;
        }
        uint32_t length = ENTRY_VALUE(entry) + take(&reader, ENTRY_EXTRA(entry));
        refill(&reader);
        entry = look_up(&reader, inflater->distances, DISTANCE_BITS);
        uint32_t distance = ENTRY_VALUE(entry) + take(&reader, ENTRY_EXTRA(entry));
        if (careful && overdrawn(&reader)) {
            ok = over(inflater, INFLATE64_CUT, NULL);
            break;
        }
        if (ENTRY_KIND(entry) != KIND_MATCH || distance > filled) {
            ok = over(inflater, INFLATE64_DAMAGED, "invalid distance");
            break;
        }
        if (length > ROOM - filled) {
            inflater->match = length;
            inflater->distance = distance;
            break;
        }
        copy_match(window + filled, distance, length);
        filled += length;
    }
    inflater->filled = filled;
    *shared = reader;
    return ok;
}

static bool copy_stored(inflate64_t *inflater, reader_t *reader, bool last) {
    size_t n = inflater->stored, have = (size_t)(reader->end - reader->at), room = ROOM - inflater->filled;
    n = n < have ? n : have;
    n = n < room ? n : room;
    memcpy(inflater->window + inflater->filled, reader->at, n);
    reader->at += n;
    inflater->filled += n;
    inflater->stored -= (uint32_t)n;
    if (!inflater->stored)
        inflater->stage = STAGE_HEADER;
    else if (n == have && last)
        return over(inflater, INFLATE64_CUT, NULL);
    return !inflater->stored || n == room;
}

/* Fills the window. False: the input is used up, or has ended. */
static bool decode(inflate64_t *inflater, reader_t *reader, bool last) {
    bool ok = true;
    while (ok && inflater->filled < ROOM) {
        if (inflater->match) {
            go_on_with_match(inflater);
        } else if (inflater->stage == STAGE_STORED) {
            ok = copy_stored(inflater, reader, last);
        } else if (inflater->stage == STAGE_CODES) {
            ok = read_codes(inflater, reader, false);
            if (!ok && last && inflater->stage == STAGE_CODES)
                ok = read_codes(inflater, reader, true);
        } else if (inflater->stage == STAGE_OVER) {
            ok = false;
        } else if (inflater->final_block) {
            ok = over(inflater, INFLATE64_END, NULL);
        } else {
            put_back(reader);
            ok = last || reader->end - reader->at >= INFLATE64_LEAST;
            ok = ok && read_block_header(inflater, reader);
        }
    }
    put_back(reader);
    return ok;
}

inflate64_result_t inflate64_run(inflate64_t *inflater, const uint8_t *in, size_t in_size, bool last,
                                 size_t *taken, uint8_t *out, size_t out_size, size_t *made) {
    reader_t reader = {inflater->bits, inflater->count, in, in + in_size};
    bool more = true;
    *made = 0;
    for (;;) {
        size_t n = inflater->filled - inflater->given;
        n = n < out_size - *made ? n : out_size - *made;
        if (n)
            memcpy(out + *made, inflater->window + inflater->given, n);
        inflater->given += n;
        *made += n;
        if (*made == out_size || !more)
            break;
        if (inflater->filled == ROOM) {
            memmove(inflater->window, inflater->window + ROOM - WINDOW, WINDOW);
            inflater->filled = inflater->given = WINDOW;
        }
        more = decode(inflater, &reader, last);
    }
    inflater->bits = reader.bits;
    inflater->count = reader.count;
    *taken = (size_t)((reader.at < reader.end ? reader.at : reader.end) - in);
    if (inflater->given < inflater->filled || more)
        return INFLATE64_FULL;
    return inflater->stage == STAGE_OVER ? inflater->result : INFLATE64_HUNGRY;
}

inflate64_t *inflate64_new(void) {
    inflate64_t *inflater = malloc(sizeof *inflater);
    if (inflater)
        memset(inflater, 0, offsetof(inflate64_t, literals));
    return inflater;
}

void inflate64_destroy(inflate64_t *inflater) {
    free(inflater);
}

const char *inflate64_reason(const inflate64_t *inflater) {
    return inflater->reason ? inflater->reason : "invalid data";
}
