#include "base/numbers/chance.h"
#include "generate/generate.h"
#include "generate/shared/digits.h"
#include "generate/ycsb/zipf.h"

#include <stdio.h>
#include <string.h>

enum { TEXTS = 8, NUMBERS = 8, USUAL_TEXT = 100, LONGEST_TEXT = 100000 };
enum { PAIR_BITS = 12, PAIRS = 1 << PAIR_BITS, PAIRS_A_DRAW = 5 };

/* What a row says follows from the seed and its id alone, so any rows can be made without those before them; a longer
 * text begins like a shorter one. */
typedef struct {
    uint64_t id, key;
    size_t text_bytes;
    char pair[PAIRS][2]; /* two characters for twelve bits */
    zipf_t zipf;
} ycsb_t;

static bool check(const generate_t *what, err_t *err) {
    const uint64_t ids = UINT64_C(1) << 63;
    if (what->text_bytes > LONGEST_TEXT)
        return err_set(err, STATUS_USAGE, "--text-bytes %llu: texts have %d bytes at most",
                       (unsigned long long)what->text_bytes, LONGEST_TEXT);
    return (what->first <= ids && what->count <= ids - what->first) ||
           err_set(err, STATUS_USAGE, "--documents %llu from --first %llu: the largest id is %lld",
                   (unsigned long long)what->count, (unsigned long long)what->first, (long long)INT64_MAX);
}

static char *begin(void *maker, const generate_t *what, char *to, err_t *err) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    ycsb_t *rows = maker;
    (void)err;
    rows->id = what->first;
    rows->key = chance_bits(what->seed, 2010);
    rows->text_bytes = what->text_bytes ? (size_t)what->text_bytes : USUAL_TEXT;
    for (unsigned i = 0; i < PAIRS; i++) {
        rows->pair[i][0] = letters[i >> 6];
        rows->pair[i][1] = letters[i & 63];
    }
    zipf_init(&rows->zipf);
    return stpcpy(to, "id,field0,field1,field2,field3,field4,field5,field6,field7,"
                      "zipf0,zipf1,zipf2,zipf3,zipf4,zipf5,zipf6,zipf7\n");
}

/* Writes up to nine bytes more than it says. */
static char *put_text(const ycsb_t *rows, uint64_t key, char *to) {
    char *end = to + rows->text_bytes;
    for (uint64_t place = 0; to < end; place++) {
        uint64_t bits = chance_bits(key, place);
        for (unsigned i = 0; i < PAIRS_A_DRAW; i++, to += 2, bits >>= PAIR_BITS)
            memcpy(to, rows->pair[bits % PAIRS], 2);
    }
    return end;
}

static char *put_row(void *maker, char *to) {
    ycsb_t *rows = maker;
    uint64_t key = chance_bits(rows->key, rows->id);
    to = digits_put_long(to, rows->id++);
    for (unsigned i = 0; i < TEXTS; i++) {
        *to++ = ',';
        to = put_text(rows, chance_bits(key, NUMBERS + i), to);
    }
    for (unsigned i = 0; i < NUMBERS; i++) {
        *to++ = ',';
        to = digits_put(to, zipf_draw(&rows->zipf, chance_bits(key, i)));
    }
    *to++ = '\n';
    return to;
}

const generate_kind_t generate_ycsb = {.name = "ycsb",
                                       .unit = "documents",
                                       .size = sizeof(ycsb_t),
                                       .check = check,
                                       .begin = begin,
                                       .put_row = put_row};
