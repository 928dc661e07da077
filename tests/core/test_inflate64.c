/* The Deflate64 decoder against an encoder of its own that uses every freedom of the format: random complete
 * codes of up to 15 bits, every length and distance code, stored and fixed blocks. (Archives of a real packer
 * are read in test_source.) */
#include "input/decode/decoder.h"
#include "input_lab.h"
#include "test.h"

/* ---------------------------------------------------------------- an encoder */

typedef struct {
    bytes_t out;
    unsigned bit;
    bytes_t text;
    size_t ends; /* tokens noted so far */
    struct {
        size_t bits, text; /* after this bit of input, this much text is known */
    } end[20000];
} encoder_t;

static void put(encoder_t *encoder, uint64_t value, unsigned bits) {
    for (; bits; bits--, value >>= 1) {
        if (!encoder->bit)
            bytes_add(&encoder->out, "", 1);
        encoder->out.at[encoder->out.size - 1] |= (uint8_t)((value & 1) << encoder->bit);
        encoder->bit = (encoder->bit + 1) & 7;
    }
}

static void note_end(encoder_t *encoder) {
    if (encoder->ends == 20000)
        encoder->ends--;
    encoder->end[encoder->ends].bits = encoder->out.size * 8 - (encoder->bit ? 8 - encoder->bit : 0);
    encoder->end[encoder->ends++].text = encoder->text.size;
}

/* Random lengths of a complete code: leaves of a tree that is split at random, no deeper than `deepest`. */
static void random_code(uint64_t *seed, uint8_t *lengths, unsigned symbols, unsigned deepest) {
    unsigned count = 2;
    lengths[0] = lengths[1] = 1;
    while (count < symbols) {
        unsigned leaf = (unsigned)chance(seed, chance(seed, 3) ? count : 1 + count / 4);
        if (lengths[leaf] >= deepest)
            leaf = (unsigned)chance(seed, count);
        if (lengths[leaf] < deepest)
            lengths[count++] = ++lengths[leaf];
    }
    for (unsigned i = symbols - 1; i; i--) {
        unsigned j = (unsigned)chance(seed, i + 1);
        uint8_t length = lengths[i];
        lengths[i] = lengths[j];
        lengths[j] = length;
    }
}

typedef struct {
    uint8_t lengths[320];
    uint16_t codes[320]; /* first bit lowest */
} code_t;

static void assign(code_t *code, unsigned symbols) {
    unsigned next = 0;
    for (unsigned length = 1; length <= 15; length++, next <<= 1) {
        for (unsigned i = 0; i < symbols; i++) {
            if (code->lengths[i] != length)
                continue;
            unsigned reversed = 0;
            for (unsigned b = 0; b < length; b++)
                reversed |= (next >> b & 1) << (length - 1 - b);
            code->codes[i] = (uint16_t)reversed;
            next++;
        }
    }
}

static void put_code(encoder_t *encoder, const code_t *code, unsigned symbol) {
    put(encoder, code->codes[symbol], code->lengths[symbol]);
}

static void put_match(encoder_t *encoder, const code_t *literals, const code_t *distances, uint32_t length,
                      uint32_t distance) {
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
    put_code(encoder, literals, 257 + code);
    put(encoder, length - base, extra);
    code = 0;
    base = 1;
    extra = 0;
    for (uint32_t next = 2; code < 31 && distance >= next; code++) {
        base = next;
        extra = code + 1 < 4 ? 0 : (code + 1) / 2 - 1;
        next += 1u << extra;
    }
    put_code(encoder, distances, code);
    put(encoder, distance - base, extra);
    for (; length; length--) {
        uint8_t byte = encoder->text.at[encoder->text.size - distance];
        bytes_add(&encoder->text, &byte, 1);
    }
}

static void put_tokens(encoder_t *encoder, uint64_t *seed, const code_t *literals, const code_t *distances,
                       size_t tokens) {
    for (; tokens; tokens--) {
        size_t known = encoder->text.size < 65536 ? encoder->text.size : 65536;
        if (known && chance(seed, 3) == 0) {
            uint32_t length = 3 + (uint32_t)chance(seed, chance(seed, 40) ? 256 : 65536);
            uint32_t distance = 1 + (uint32_t)chance(seed, chance(seed, 2) ? known : known < 40 ? known : 40);
            put_match(encoder, literals, distances, length, distance);
        } else {
            uint8_t byte = (uint8_t)chance(seed, 256);
            put_code(encoder, literals, byte);
            bytes_add(&encoder->text, &byte, 1);
        }
        note_end(encoder);
    }
    put_code(encoder, literals, 256);
}

static void fixed_codes(code_t *literals, code_t *distances) {
    for (unsigned i = 0; i < 288; i++)
        literals->lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    memset(distances->lengths, 5, 32);
    assign(literals, 288);
    assign(distances, 32);
}

static void put_dynamic_header(encoder_t *encoder, uint64_t *seed, code_t *literals, code_t *distances) {
    static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    code_t codes = {0};
    random_code(seed, literals->lengths, 286, 15);
    random_code(seed, distances->lengths, 32, 15);
    random_code(seed, codes.lengths, 19, 7);
    assign(literals, 286);
    assign(distances, 32);
    assign(&codes, 19);
    put(encoder, 286 - 257, 5);
    put(encoder, 31, 5);
    put(encoder, 15, 4);
    for (int i = 0; i < 19; i++)
        put(encoder, codes.lengths[order[i]], 3);
    uint8_t all[318];
    memcpy(all, literals->lengths, 286);
    memcpy(all + 286, distances->lengths, 32);
    for (unsigned i = 0; i < 318;) {
        unsigned run = 1;
        while (i + run < 318 && all[i + run] == all[i] && run < 7)
            run++;
        put_code(encoder, &codes, all[i]);
        if (run >= 4) { /* the length itself, then 3 to 6 repeats */
            put_code(encoder, &codes, 16);
            put(encoder, run - 1 - 3, 2);
            i += run;
        } else {
            i++;
        }
    }
}

static void put_stored(encoder_t *encoder, uint64_t *seed, size_t length) {
    put(encoder, 0, 2);
    if (encoder->bit)
        put(encoder, 0, 8 - encoder->bit);
    put(encoder, length, 16);
    put(encoder, ~length & 0xffff, 16);
    for (size_t i = 0; i < length; i++) {
        uint8_t byte = (uint8_t)chance(seed, 256);
        put(encoder, byte, 8);
        bytes_add(&encoder->text, &byte, 1);
        note_end(encoder);
    }
}

static encoder_t *encode(uint64_t seed, unsigned blocks, size_t most_tokens) {
    encoder_t *encoder = calloc(1, sizeof *encoder);
    for (unsigned i = 0; i < blocks; i++) {
        put(encoder, i + 1 == blocks, 1);
        unsigned type = (unsigned)chance(&seed, 5);
        code_t literals = {0}, distances = {0};
        if (type == 0) {
            put_stored(encoder, &seed, chance(&seed, most_tokens < 60000 ? most_tokens : 60000));
            continue;
        }
        put(encoder, type == 1 ? 1 : 2, 2);
        if (type == 1)
            fixed_codes(&literals, &distances);
        else
            put_dynamic_header(encoder, &seed, &literals, &distances);
        put_tokens(encoder, &seed, &literals, &distances, chance(&seed, most_tokens));
    }
    return encoder;
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
    feed_init_pull(&feed, "x", pull, &pieces, 0, UINT64_MAX);
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

/* Takes no byte of what follows. */
TEST(decodes_random_streams) {
    for (uint64_t seed = 1; seed <= 400 / TEST_SHARE; seed++) {
        uint64_t chances = seed;
        encoder_t *encoder = encode(seed, 1 + (unsigned)chance(&chances, 9), 1 + chance(&chances, 3000));
        size_t piece = chance(&chances, 2) ? encoder->out.size : 1 + chance(&chances, 3000);
        size_t step = chance(&chances, 2) ? 1 << 18 : 1 + chance(&chances, 70000), size = encoder->out.size;
        bytes_add(&encoder->out, "following bytes", chance(&chances, 16));
        outcome_t outcome = run(encoder->out.at, encoder->out.size, piece, step, SIZE_MAX);
        assert_int_equal(outcome.result, WHOLE);
        assert_int_equal(outcome.taken, size);
        assert_int_equal(outcome.text.size, encoder->text.size);
        if (outcome.text.size)
            assert_memory_equal(outcome.text.at, encoder->text.at, outcome.text.size);
        free(outcome.text.at);
        encoder_free(encoder);
    }
}

TEST(gives_everything_before_a_cut) {
    for (uint64_t seed = 1; seed <= 12; seed++) {
        encoder_t *encoder = encode(seed, 3, 120);
        assert_true(encoder->ends < 19000);
        for (size_t cut = 0, token = 0; cut < encoder->out.size; cut += TEST_SHARE) {
            outcome_t outcome = run(encoder->out.at, cut, SIZE_MAX, 1 << 17, SIZE_MAX);
            while (token < encoder->ends && encoder->end[token].bits <= cut * 8)
                token++;
            size_t known = token ? encoder->end[token - 1].text : 0;
            assert_int_equal(outcome.result, CUT);
            assert_int_equal(outcome.text.size, known);
            if (known)
                assert_memory_equal(outcome.text.at, encoder->text.at, known);
            free(outcome.text.at);
        }
        encoder_free(encoder);
    }
}

TEST(survives_damage) {
    uint64_t seed = 99;
    for (int stream = 0; stream < 40 / TEST_SHARE; stream++) {
        encoder_t *encoder = encode((uint64_t)stream + 1000, 1 + (unsigned)chance(&seed, 4), 300);
        for (int i = 0; i < 150 && encoder->out.size; i++) {
            bytes_t copy = {0};
            bytes_add(&copy, encoder->out.at, encoder->out.size);
            for (uint64_t n = 1 + chance(&seed, 4); n; n--) {
                size_t at = chance(&seed, chance(&seed, 2) ? copy.size : copy.size < 90 ? copy.size : 90);
                if (chance(&seed, 2))
                    copy.at[at] ^= (uint8_t)(1 << chance(&seed, 8));
                else
                    copy.at[at] = (uint8_t)chance(&seed, 256);
            }
            outcome_t outcome =
                run(copy.at, copy.size, 1 + chance(&seed, 4000), 1 + chance(&seed, 70000), 1 << 20);
            free(outcome.text.at);
            free(copy.at);
        }
        encoder_free(encoder);
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

static encoder_t *fixed_block(code_t *literals, code_t *distances) {
    encoder_t *encoder = calloc(1, sizeof *encoder);
    put(encoder, 1, 1);
    put(encoder, 1, 2);
    fixed_codes(literals, distances);
    return encoder;
}

TEST(refuses_nonsense) {
    code_t literals = {0}, distances = {0};
    encoder_t *encoder = fixed_block(&literals, &distances); /* a distance to before the begin */
    for (int i = 0; i < 3; i++)
        put_code(encoder, &literals, 'x');
    bytes_add(&encoder->text, "xxx", 3);
    put_code(encoder, &literals, 257);
    put_code(encoder, &distances, 3);
    expect_damaged(encoder, "invalid distance");

    encoder = fixed_block(&literals, &distances); /* length code 286 */
    put_code(encoder, &literals, 286);
    expect_damaged(encoder, "invalid code");

    encoder = calloc(1, sizeof *encoder);
    put(encoder, 1 | 3 << 1, 3);
    expect_damaged(encoder, "invalid block type");

    encoder = calloc(1, sizeof *encoder);
    put(encoder, 1, 8);
    put(encoder, 5 | 5 << 16, 32);
    expect_damaged(encoder, "invalid stored block");

    encoder = calloc(1, sizeof *encoder); /* 287 length codes */
    put(encoder, 1 | 2 << 1, 3);
    put(encoder, 30, 5);
    expect_damaged(encoder, "too many length codes");

    encoder = calloc(1, sizeof *encoder); /* three codes of one bit */
    put(encoder, 1 | 2 << 1, 3);
    put(encoder, 0, 14);
    put(encoder, 1 | 1 << 3 | 1 << 6, 12);
    expect_damaged(encoder, "invalid code lengths");

    encoder = calloc(1, sizeof *encoder); /* 258 zero lengths: no end of block */
    put(encoder, 1 | 2 << 1, 3);
    put(encoder, 0, 14);
    put(encoder, 1 << 6 | 1 << 9, 12); /* code lengths 18 (code 1) and 0 (code 0) */
    put(encoder, 1, 1);
    put(encoder, 127, 7);
    put(encoder, 1, 1);
    put(encoder, 258 - 138 - 11, 7);
    expect_damaged(encoder, "invalid codes");
}

TEST(reads_the_extremes) {
    code_t literals = {0}, distances = {0};
    encoder_t *encoder = fixed_block(&literals, &distances);
    put_code(encoder, &literals, 'a');
    put_code(encoder, &literals, 'b');
    bytes_add(&encoder->text, "ab", 2);
    for (int i = 0; i < 9; i++)
        put_match(encoder, &literals, &distances, 65538, 2);
    put_match(encoder, &literals, &distances, 65538, 65536);
    put_match(encoder, &literals, &distances, 3, 65536);
    put_match(encoder, &literals, &distances, 258, 49152);
    put_match(encoder, &literals, &distances, 259, 32769);
    put_code(encoder, &literals, 256);
    for (size_t step = 1000; step < 1 << 20; step *= 7) {
        outcome_t outcome = run(encoder->out.at, encoder->out.size, SIZE_MAX, step, SIZE_MAX);
        assert_int_equal(outcome.result, WHOLE);
        assert_int_equal(outcome.text.size, encoder->text.size);
        assert_memory_equal(outcome.text.at, encoder->text.at, outcome.text.size);
        free(outcome.text.at);
    }
    encoder_free(encoder);
}
