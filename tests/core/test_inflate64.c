/* The Deflate64 decoder: streams of zlib that hold no match of 258 bytes, the one code that means something else in Deflate64;
 * and blocks written here, which have what only Deflate64 has, or what must be refused. (Archives of a real packer are read
 * in test_source.) */
#include "input/decode/decoder.h"
#include "input_lab.h"
#include "test.h"

/* ---------------------------------------------------------------- blocks written here */

typedef struct {
    bytes_t out;
    unsigned bit;
    bytes_t text;
} encoder_t;

static void put(encoder_t *encoder, uint64_t value, unsigned bits) {
    for (; bits; bits--, value >>= 1) {
        if (!encoder->bit)
            bytes_add(&encoder->out, "", 1);
        encoder->out.at[encoder->out.size - 1] |= (uint8_t)((value & 1) << encoder->bit);
        encoder->bit = (encoder->bit + 1) & 7;
    }
}

/* A code has its highest bit first. */
static void put_code(encoder_t *encoder, unsigned code, unsigned bits) {
    for (; bits; bits--)
        put(encoder, code >> (bits - 1) & 1, 1);
}

static void put_literal(encoder_t *encoder, unsigned symbol) {
    if (symbol < 144)
        put_code(encoder, 0x30 + symbol, 8);
    else if (symbol < 256)
        put_code(encoder, 0x190 + symbol - 144, 9);
    else if (symbol < 280)
        put_code(encoder, symbol - 256, 7);
    else
        put_code(encoder, 0xc0 + symbol - 280, 8);
}

static void put_match(encoder_t *encoder, uint32_t length, uint32_t distance) {
    unsigned code = 0, extra = 0;
    uint32_t base = 3;
    if (length > 258) {
        code = 28;
        extra = 16;
    } else {
        for (uint32_t next = 4; code < 27 && length >= next; code++) {
            base = next;
            extra = code + 1 < 8 ? 0 : (code + 1) / 4 - 1;
            next += 1u << extra;
        }
    }
    put_literal(encoder, 257 + code);
    put(encoder, length - base, extra);
    code = 0;
    base = 1;
    extra = 0;
    for (uint32_t next = 2; code < 31 && distance >= next; code++) {
        base = next;
        extra = code + 1 < 4 ? 0 : (code + 1) / 2 - 1;
        next += 1u << extra;
    }
    put_code(encoder, code, 5);
    put(encoder, distance - base, extra);
    for (; length; length--) {
        uint8_t byte = encoder->text.at[encoder->text.size - distance];
        bytes_add(&encoder->text, &byte, 1);
    }
}

static void encoder_free(encoder_t *encoder) {
    free(encoder->out.at);
    free(encoder->text.at);
    free(encoder);
}

/* ---------------------------------------------------------------- running the decoder */

typedef enum { WHOLE, CUT, DAMAGED } result_t;

typedef struct {
    bytes_t text;
    result_t result;
    char why[1000];
    size_t taken;
} outcome_t;

/* Where a feed has its bytes from: at most `piece` at once. */
typedef struct {
    const uint8_t *at;
    size_t left, piece;
} pieces_t;

static ssize_t pull(void *context, void *out, size_t size, TEST_UNUSED err_t *err) {
    pieces_t *pieces = context;
    size = size < pieces->piece ? size : pieces->piece;
    size = size < pieces->left ? size : pieces->left;
    memcpy(out, pieces->at, size);
    pieces->at += size;
    pieces->left -= size;
    return (ssize_t)size;
}

static outcome_t run(const uint8_t *in, size_t size, size_t piece, size_t step, size_t most_text) {
    outcome_t outcome = {0};
    pieces_t pieces = {size ? in : (const uint8_t *)"", size, piece};
    feed_t feed;
    err_t err = {.text = ""};
    decode_t is;
    size_t made;
    decoder_t *decoder = decoder_inflate64();
    uint8_t *out = lab_guarded(step);
    feed_init(&feed, "x", &(origin_t){.fd = -1, .pull = pull, .context = &pieces}, false, 0, UINT64_MAX);
    feed.most = 1 + size; /* exactly, with the slack, so that a sanitizer sees whoever reads too far */
    do {
        is = decoder->read(decoder, &feed, out, step, &made, &err);
        assert_true(made <= step && (is != DECODE_MORE || made == step));
        bytes_add(&outcome.text, out, made);
    } while (is == DECODE_MORE && outcome.text.size < most_text);
    outcome.result = is != DECODE_FAULT ? WHOLE : strstr(err.text, "in the middle of") ? CUT : DAMAGED;
    outcome.taken = feed_offset(&feed);
    snprintf(outcome.why, sizeof outcome.why, "%s", err.text);
    decoder->close(decoder);
    feed_free(&feed);
    lab_unguard(out, step);
    return outcome;
}

/* Rows that end with their number, so that no match is longer than 250 bytes: runs, copies, and bytes of which some are so
 * rare that their codes are as long as codes may be. */
static bytes_t text_of(uint64_t seed, size_t size) {
    bytes_t text = {0};
    while (text.size < size) {
        uint8_t piece[240];
        const size_t length = chance(&seed, 200), kind = (size_t)chance(&seed, 4);
        const size_t back = text.size > 300 ? 200 + chance(&seed, text.size - 200) : 0;
        for (size_t i = 0; i < length; i++)
            piece[i] = (uint8_t)(kind == 0                 ? 'r'
                                 : kind == 1 && back > 200 ? text.at[text.size - back + i]
                                 : kind == 2               ? chance(&seed, 256)
                                             : (uint64_t)__builtin_ctzll(1u << 20 | chance(&seed, 1u << 20)));
        bytes_add(&text, piece, length + (size_t)sprintf((char *)piece + length, "%08zu", text.size));
    }
    text.size = size;
    return text;
}

static bytes_t stream_of(const bytes_t *text, uint64_t *seed) {
    return lab_deflate(text->at, text->size, -15, (int)chance(seed, 10),
                       chance(seed, 3) ? 0 : 50 + chance(seed, 5000));
}

/* Takes no byte of what follows. */
TEST(decodes_random_streams) {
    for (uint64_t seed = 1; seed <= 400 / TEST_SHARE; seed++) {
        uint64_t chances = seed;
        bytes_t text = text_of(seed, chance(&chances, chance(&chances, 4) ? 3000 : 200000)),
                stream = stream_of(&text, &chances);
        size_t piece = chance(&chances, 2) ? stream.size : 1 + chance(&chances, 3000);
        size_t step = chance(&chances, 2) ? 1 << 18 : 1 + chance(&chances, 70000), size = stream.size;
        bytes_add(&stream, "following bytes", chance(&chances, 16));
        outcome_t outcome = run(stream.at, stream.size, piece, step, SIZE_MAX);
        assert_int_equal(outcome.result, WHOLE);
        assert_int_equal(outcome.taken, size);
        assert_int_equal(outcome.text.size, text.size);
        if (outcome.text.size)
            assert_memory_equal(outcome.text.at, text.at, outcome.text.size);
        free(outcome.text.at);
        free(stream.at);
        free(text.at);
    }
}

TEST(gives_everything_before_a_cut) {
    for (uint64_t seed = 1; seed <= 12; seed++) {
        uint64_t chances = seed;
        bytes_t text = text_of(seed, 1500), stream = stream_of(&text, &chances);
        for (size_t cut = 0; cut < stream.size; cut += TEST_SHARE) {
            outcome_t outcome = run(stream.at, cut, SIZE_MAX, 1 << 17, SIZE_MAX);
            assert_int_equal(outcome.result, CUT);
            assert_int_equal(outcome.text.size, lab_known_text(stream.at, cut, -15));
            if (outcome.text.size)
                assert_memory_equal(outcome.text.at, text.at, outcome.text.size);
            free(outcome.text.at);
        }
        free(stream.at);
        free(text.at);
    }
}

TEST(survives_damage) {
    uint64_t seed = 99;
    for (uint64_t i = 0; i < 40 / TEST_SHARE; i++) {
        bytes_t text = text_of(i, chance(&seed, 2000)), stream = stream_of(&text, &seed);
        for (int n = 0; n < 150; n++) {
            bytes_t copy = {0};
            bytes_add(&copy, stream.at, stream.size);
            for (uint64_t changes = 1 + chance(&seed, 4); changes; changes--) {
                size_t at = chance(&seed, chance(&seed, 2) || copy.size < 90 ? copy.size : 90);
                copy.at[at] =
                    (uint8_t)(chance(&seed, 2) ? copy.at[at] ^ 1u << chance(&seed, 8) : chance(&seed, 256));
            }
            outcome_t outcome =
                run(copy.at, copy.size, 1 + chance(&seed, 4000), 1 + chance(&seed, 70000), 1 << 20);
            free(outcome.text.at);
            free(copy.at);
        }
        free(stream.at);
        free(text.at);
    }
}

/* ---------------------------------------------------------------- what must be refused */

static void expect_damaged(encoder_t *encoder, const char *reason) {
    for (int i = 0; i < 8; i++)
        put(encoder, 0, 8);
    outcome_t outcome = run(encoder->out.at, encoder->out.size, SIZE_MAX, 65536, 1 << 20);
    assert_int_equal(outcome.result, DAMAGED);
    assert_non_null(strstr(outcome.why, reason));
    assert_int_equal(outcome.text.size, encoder->text.size);
    free(outcome.text.at);
    encoder_free(encoder);
}

static encoder_t *block(unsigned type) {
    encoder_t *encoder = calloc(1, sizeof *encoder);
    put(encoder, 1, 1);
    put(encoder, type, 2);
    return encoder;
}

TEST(refuses_nonsense) {
    encoder_t *encoder = block(1); /* a distance to before the begin */
    for (int i = 0; i < 3; i++)
        put_literal(encoder, 'x');
    bytes_add(&encoder->text, "xxx", 3);
    put_literal(encoder, 257);
    put_code(encoder, 3, 5);
    expect_damaged(encoder, "invalid distance");

    encoder = block(1); /* length code 286 */
    put_literal(encoder, 286);
    expect_damaged(encoder, "invalid code");

    expect_damaged(block(3), "invalid codes");

    encoder = block(0);
    put(encoder, 0, 5);
    put(encoder, 5 | 5 << 16, 32);
    expect_damaged(encoder, "invalid stored block");

    encoder = block(2); /* three codes of one bit */
    put(encoder, 0, 14);
    put(encoder, 1 | 1 << 3 | 1 << 6, 12);
    expect_damaged(encoder, "invalid codes");

    encoder = block(2); /* 258 zero lengths: no end of block */
    put(encoder, 0, 14);
    put(encoder, 1 << 6 | 1 << 9, 12); /* code lengths 18 (code 1) and 0 (code 0) */
    put(encoder, 1, 1);
    put(encoder, 127, 7);
    put(encoder, 1, 1);
    put(encoder, 258 - 138 - 11, 7);
    expect_damaged(encoder, "invalid codes");
}

TEST(reads_the_extremes) {
    encoder_t *encoder = block(1);
    put_literal(encoder, 'a');
    put_literal(encoder, 'b');
    bytes_add(&encoder->text, "ab", 2);
    for (int i = 0; i < 9; i++)
        put_match(encoder, 65538, 2);
    put_match(encoder, 65538, 65536);
    put_match(encoder, 3, 65536);
    put_match(encoder, 258, 49152);
    put_match(encoder, 259, 32769);
    put_literal(encoder, 256);
    for (size_t step = 1000; step < 1 << 20; step *= 7) {
        outcome_t outcome = run(encoder->out.at, encoder->out.size, SIZE_MAX, step, SIZE_MAX);
        assert_int_equal(outcome.result, WHOLE);
        assert_int_equal(outcome.text.size, encoder->text.size);
        assert_memory_equal(outcome.text.at, encoder->text.at, outcome.text.size);
        free(outcome.text.at);
    }
    encoder_free(encoder);
}
