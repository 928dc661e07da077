/* Deflate64 (zip method 9), which no packaged library reads. Windows writes it for large files.
 *
 * Deflate64 is deflate with a window of 64 KiB. Distance codes 30 and 31 exist (14 extra bits, up to 65,536), and length
 * code 285 means 3 plus 16 extra bits (up to 65,538) instead of 258.
 *
 * Tokens are decoded into a buffer of three windows and a match. What is new there is given out, and when the buffer is full
 * its last 64 KiB move to its beginning. */
#include "input/decode/decoder.h"

#include <stdlib.h>
#include <string.h>

enum {
    WINDOW = 65536,
    ROOM = 3 * WINDOW, /* a window with more is full; the last match may go beyond */
    LONGEST_MATCH = 65538,
    COPY_SLACK = 16, /* a copy may write this much after its end */
    LONGEST_CODE = 15,
    LITERALS = 288,
    DISTANCES = 32,
    LENGTHS = 19,
    END_OF_BLOCK = 256,
    LAST_LENGTH = 285,
    LEAST = 1024,    /* bytes that the longest header of a block takes, and more */
    TOKEN_MOST = 16, /* bytes that one token may need */
};

/* The next bits of the input find an entry, (symbol + 1) << 4 | length of its code; 0: no code begins so. */
typedef struct {
    unsigned bits; /* of the longest code: the table has 2^bits entries */
    uint16_t entries[1 << LONGEST_CODE];
} table_t;

typedef struct {
    decoder_t decoder;
    enum { STAGE_HEADER, STAGE_STORED, STAGE_CODES, STAGE_END, STAGE_FAULT } stage;
    bool final_block;
    const char *why; /* of STAGE_FAULT: what is damaged; NULL: the bytes end too early */
    uint32_t stored; /* bytes that are left of a stored block */
    uint64_t bits;   /* between two calls: less than a byte */
    unsigned count;
    size_t filled, given; /* of the window */
    table_t literals, distances;
    uint8_t window[ROOM + LONGEST_MATCH + COPY_SLACK];
} inflate64_t;

typedef struct {
    uint64_t bits;
    unsigned count; /* valid bits */
    const uint8_t *at, *end;
    bool last; /* nothing follows `end` */
} reader_t;

/* Afterwards at least 56 bits are valid; after the end they are the feed's slack. */
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

static inline uint32_t take(reader_t *reader, unsigned count) {
    const uint32_t value = (uint32_t)(reader->bits & ((1ull << count) - 1));
    reader->bits >>= count;
    reader->count -= count;
    return value;
}

/* UINT_MAX: it is no code. */
static inline unsigned look_up(reader_t *reader, const table_t *table) {
    const unsigned entry = table->entries[reader->bits & ((1u << table->bits) - 1)];
    take(reader, entry & LONGEST_CODE);
    return (entry >> 4) - 1;
}

/* True if more bits were used than there are. */
static inline bool overdrawn(const reader_t *reader) {
    return reader->at - reader->count / 8 > reader->end;
}

static void refuse(inflate64_t *inflater, const char *why) {
    inflater->stage = STAGE_FAULT;
    inflater->why = why;
}

static unsigned reversed(unsigned code, unsigned length) {
    unsigned out = 0;
    for (; length; length--, code >>= 1)
        out = out << 1 | (code & 1);
    return out;
}

/* Makes the table of a canonical code. False: the code is too full, or has gaps; but it may be empty, or have a single code
 * of one bit (RFC 1951, 3.2.7). */
static bool build(table_t *table, const uint8_t *lengths, unsigned symbols) {
    unsigned code = 0;
    table->bits = 0;
    for (unsigned i = 0; i < symbols; i++)
        table->bits = lengths[i] > table->bits ? lengths[i] : table->bits;
    memset(table->entries, 0, sizeof *table->entries << table->bits);
    for (unsigned length = 1; length <= table->bits; length++, code <<= 1)
        for (unsigned i = 0; i < symbols; i++) {
            if (lengths[i] != length)
                continue;
            const size_t step = (size_t)1 << length, end = (size_t)1 << table->bits;
            for (size_t at = reversed(code++, length); at < end; at += step)
                table->entries[at] = (uint16_t)((i + 1) << 4 | length);
        }
    return code == 2u << table->bits || (table->bits <= 1 && code <= 2);
}

/* Reads the lengths of both codes, which are packed by a third one: its table stands for a while where that of the
 * distances will be. */
static bool read_lengths(inflate64_t *inflater, reader_t *reader, uint8_t *lengths, unsigned *literals) {
    static const uint8_t order[LENGTHS] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    static const struct { uint8_t bits, least; } runs[3] = {{2, 3}, {3, 3}, {7, 11}};
    uint8_t code_lengths[LENGTHS] = {0};
    *literals = 257 + take(reader, 5);
    const unsigned symbols = *literals + 1 + take(reader, 5), codes = 4 + take(reader, 4);
    for (unsigned i = 0; i < codes; i++) {
        refill(reader);
        code_lengths[order[i]] = (uint8_t)take(reader, 3);
    }
    bool ok = build(&inflater->distances, code_lengths, LENGTHS);
    for (unsigned i = 0, run; ok && i < symbols; i += run) {
        refill(reader);
        const unsigned symbol = look_up(reader, &inflater->distances);
        const bool repeats = symbol >= 16 && symbol < LENGTHS;
        run = repeats ? runs[symbol - 16].least + take(reader, runs[symbol - 16].bits) : 1;
        ok = symbol < LENGTHS && (symbol != 16 || i) && i + run <= symbols && !overdrawn(reader);
        if (ok)
            memset(lengths + i, symbol == 16 ? lengths[i - 1] : repeats ? 0 : (int)symbol, run);
    }
    return ok;
}

/* Reads a block's header, all of which is there or nothing follows. */
static void read_header(inflate64_t *inflater, reader_t *reader) {
    uint8_t lengths[LITERALS + DISTANCES] = {0};
    unsigned literals = LITERALS;
    refill(reader);
    inflater->final_block = take(reader, 1);
    const unsigned type = take(reader, 2);
    inflater->stage = type ? STAGE_CODES : STAGE_STORED;
    if (type == 0) {
        take(reader, reader->count & 7);
        refill(reader);
        inflater->stored = take(reader, 16);
        if ((inflater->stored ^ take(reader, 16)) != 0xffff)
            refuse(inflater, "invalid stored block");
        return;
    }
    if (type == 1)
        for (unsigned i = 0; i < sizeof lengths; i++)
            lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : i < LITERALS ? 8 : 5;
    if (type == 3 || (type == 2 && !read_lengths(inflater, reader, lengths, &literals)) ||
        !lengths[END_OF_BLOCK] || !build(&inflater->literals, lengths, literals) ||
        !build(&inflater->distances, lengths + literals, DISTANCES))
        refuse(inflater, "invalid codes");
}

/* Steps no longer than the distance never read what is not written yet, so a copy may overlap itself. */
static inline void copy_match(uint8_t *to, uint32_t distance, size_t length) {
    const uint8_t *from = to - distance, *stop = to + length;
    if (distance < 16)
        while (to < stop)
            *to++ = *from++;
    else
        for (; to < stop; to += 16, from += 16)
            memcpy(to, from, 16);
}

/* A length or a distance is a base and some more bits. */
static inline uint32_t take_length(reader_t *reader, unsigned code) {
    const unsigned bits = code < 8 ? 0 : code == 28 ? 16 : code / 4 - 1;
    return 3 + (code < 8 ? code : code == 28 ? 0 : (4 + code % 4) << bits) + take(reader, bits);
}

static inline uint32_t take_distance(reader_t *reader, unsigned code) {
    const unsigned bits = code < 4 ? 0 : code / 2 - 1;
    return 1 + (code < 4 ? code : (2 + code % 2) << bits) + take(reader, bits);
}

/* Reads tokens until the window is full, the block ends, or the bytes are almost used up. */
static void read_codes(inflate64_t *inflater, reader_t *shared) {
    reader_t reader = *shared;
    uint8_t *window = inflater->window;
    size_t filled = inflater->filled;
    while (filled < ROOM && inflater->stage == STAGE_CODES &&
           (reader.last || reader.end - reader.at >= TOKEN_MOST)) {
        refill(&reader);
        const unsigned symbol = look_up(&reader, &inflater->literals);
        if (symbol < END_OF_BLOCK) {
            if (overdrawn(&reader))
                break;
            window[filled++] = (uint8_t)symbol;
        } else if (symbol == END_OF_BLOCK) {
            inflater->stage = STAGE_HEADER;
        } else if (symbol > LAST_LENGTH) {
            refuse(inflater, "invalid code");
        } else {
            const uint32_t length = take_length(&reader, symbol - END_OF_BLOCK - 1);
            refill(&reader);
            const unsigned code = look_up(&reader, &inflater->distances);
            const uint32_t distance = code >= DISTANCES ? UINT32_MAX : take_distance(&reader, code);
            if (overdrawn(&reader))
                break;
            if (distance > filled) {
                refuse(inflater, "invalid distance");
            } else {
                copy_match(window + filled, distance, length);
                filled += length;
            }
        }
    }
    inflater->filled = filled;
    *shared = reader;
}

static void copy_stored(inflate64_t *inflater, reader_t *reader) {
    const size_t have = (size_t)(reader->end - reader->at), room = ROOM - inflater->filled;
    size_t n = inflater->stored < have ? inflater->stored : have;
    n = n < room ? n : room;
    memcpy(inflater->window + inflater->filled, reader->at, n);
    reader->at += n;
    inflater->filled += n;
    inflater->stored -= (uint32_t)n;
    if (!inflater->stored)
        inflater->stage = STAGE_HEADER;
    else if (n == have && reader->last)
        refuse(inflater, NULL);
}

/* Goes on with the header or the block at hand, as far as the window and the bytes that are there allow. Bits from after
 * the end make no sense: then the input is cut off. */
static void read_on(inflate64_t *inflater, feed_t *feed) {
    static const uint8_t nothing[FEED_SLACK];
    const size_t have = feed_want(feed, LEAST);
    const uint8_t *from = have ? feed_bytes(feed) : nothing;
    reader_t reader = {inflater->bits, inflater->count, from, from + have, have < LEAST};
    if (inflater->filled >= ROOM) {
        memmove(inflater->window, inflater->window + inflater->filled - WINDOW, WINDOW);
        inflater->filled = inflater->given = WINDOW;
    }
    if (inflater->stage == STAGE_STORED)
        copy_stored(inflater, &reader);
    else if (inflater->stage == STAGE_CODES)
        read_codes(inflater, &reader);
    else if (inflater->final_block)
        inflater->stage = STAGE_END;
    else
        read_header(inflater, &reader);
    if (overdrawn(&reader))
        refuse(inflater, NULL);
    reader.at -= reader.count / 8;
    inflater->count = reader.count & 7;
    inflater->bits = reader.bits & ((1u << inflater->count) - 1);
    feed_take(feed, (size_t)((reader.at < reader.end ? reader.at : reader.end) - from));
}

static decode_t inflate64_read(decoder_t *decoder, feed_t *feed, uint8_t *out, size_t size, size_t *got,
                               err_t *err) {
    inflate64_t *inflater = (inflate64_t *)decoder;
    for (*got = 0;; read_on(inflater, feed)) {
        const size_t ready = inflater->filled - inflater->given,
                     n = ready < size - *got ? ready : size - *got;
        memcpy(out + *got, inflater->window + inflater->given, n);
        inflater->given += n;
        *got += n;
        if (*got == size)
            return DECODE_MORE;
        if (inflater->stage == STAGE_END)
            return DECODE_END;
        if (inflater->stage == STAGE_FAULT) {
            feed_damaged(feed, inflater->why, err);
            return DECODE_FAULT;
        }
    }
}

decoder_t *decoder_inflate64(void) {
    inflate64_t *inflater = malloc(sizeof *inflater);
    if (!inflater)
        return NULL;
    memset(inflater, 0, offsetof(inflate64_t, literals));
    inflater->decoder = (decoder_t){.read = inflate64_read, .close = decoder_free};
    return &inflater->decoder;
}
