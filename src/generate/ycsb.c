/* ycsb: JSON documents of random texts and skewed numbers, by _id. A document follows from the seed and its _id alone, so
 * any of them can be made without those before it; a longer text begins like a shorter one.
 *
 * Of the numbers few are frequent and many are rare: the number k has a share in proportion to 1 / (k + 1)^0.99, the
 * exponent that the Yahoo cloud serving benchmark made usual. `below` holds the shares of all numbers up to one; it is
 * computed by the four operations alone, and so the same on every machine. Each share is right to 7 digits. */
#include "generate/draw.h"
#include "generate/generate.h"

#include <string.h>

enum { TEXTS = 8, NUMBERS = 8, USUAL_TEXT = 100 };
/* Of the petabyte study; _id, numbers and names take 242 bytes of a document. */
enum { STUDY_DOCUMENT = 147439, STUDY_TEXTS = STUDY_DOCUMENT - 242 };
enum { PAIR_BITS = 12, PAIRS = 1 << PAIR_BITS, PAIRS_A_DRAW = 5 };
enum { VALUES = 1000000, GUIDE = 1 << 16 };

typedef struct {
    uint64_t id, key;
    uint64_t text_bytes; /* of all texts of a document */
    char pair[PAIRS][2]; /* two characters for twelve bits */
    double below[VALUES];
    uint32_t guide[GUIDE + 1];
    shares_t shares; /* of the numbers */
} ycsb_t;

/* ---- numbers ---- */

static void init_numbers(ycsb_t *ycsb) {
    double root = 1, sum = 0; /* k^0.01 */
    for (uint32_t k = 1; k <= VALUES; k++) {
        ycsb->below[k - 1] = sum += root / k;
        /* the next root is larger by exp(0.01 log(1 + 1 / k)): the first terms of both series */
        const double z = 1 / (2.0 * k + 1), square = z * z;
        const double log =
            2 * z * (1 + square * (1 / 3.0 + square * (1 / 5.0 + square * (1 / 7.0 + square / 9))));
        const double power = log / 100;
        root *= 1 + power * (1 + power / 2 * (1 + power / 3));
    }
    ycsb->shares = (shares_t){ycsb->below, ycsb->guide, VALUES, GUIDE};
    shares_guide(&ycsb->shares);
}

/* ---- documents ---- */

static bool check(const generate_t *what, err_t *err) {
    const uint64_t ids = UINT64_C(1) << 63;
    return (what->first <= ids && what->count <= ids - what->first) ||
           err_set(err, STATUS_USAGE, "--rows %llu from --first %llu: the largest id is %lld",
                   (unsigned long long)what->count, (unsigned long long)what->first, (long long)INT64_MAX);
}

static char *begin(void *maker, const generate_t *what, char *to, err_t *err) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    ycsb_t *ycsb = maker;
    (void)err;
    ycsb->id = what->first;
    ycsb->key = chance_bits(what->seed, 2010);
    ycsb->text_bytes = what->study ? STUDY_TEXTS : TEXTS * (what->text_bytes ? what->text_bytes : USUAL_TEXT);
    for (unsigned i = 0; i < PAIRS; i++) {
        ycsb->pair[i][0] = letters[i >> 6];
        ycsb->pair[i][1] = letters[i & 63];
    }
    init_numbers(ycsb);
    return to;
}

/* Writes up to nine bytes more than the text has. */
static char *put_text(const ycsb_t *ycsb, uint64_t key, size_t bytes, char *to) {
    char *end = to + bytes;
    for (uint64_t place = 0; to < end; place++) {
        uint64_t bits = chance_bits(key, place);
        for (unsigned i = 0; i < PAIRS_A_DRAW; i++, to += 2, bits >>= PAIR_BITS)
            memcpy(to, ycsb->pair[bits % PAIRS], 2);
    }
    return end;
}

static char *put_key(char *to, const char *name, unsigned number, const char *after) {
    to = stpcpy(to, name);
    *to++ = (char)('0' + number);
    return stpcpy(to, after);
}

static char *put_row(void *maker, char *to) {
    ycsb_t *ycsb = maker;
    uint64_t key = chance_bits(ycsb->key, ycsb->id);
    to = digits_put(stpcpy(to, "{\"_id\":"), ycsb->id++, 0);
    for (unsigned i = 0; i < TEXTS; i++) {
        to = put_key(to, ",\"field", i, "\":\"");
        to = put_text(ycsb, chance_bits(key, NUMBERS + i), (ycsb->text_bytes + TEXTS - 1 - i) / TEXTS, to);
        *to++ = '"';
    }
    for (unsigned i = 0; i < NUMBERS; i++)
        to = digits_put(put_key(to, ",\"fieldInt", i, "\":"),
                        shares_at(&ycsb->shares, part_of(chance_bits(key, i))), 0);
    return stpcpy(to, "}\n");
}

const generate_kind_t generate_ycsb = {"ycsb", "documents", sizeof(ycsb_t), UINT64_MAX, check,
                                       begin,  put_row,     NULL,           NULL};
