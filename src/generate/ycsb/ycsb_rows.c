#include "base/numbers.h"
#include "generate/generate.h"
#include "generate/shared/digits.h"
#include "generate/ycsb/zipf.h"

#include <stdio.h>
#include <string.h>

enum { TEXTS = 8, NUMBERS = 8, USUAL_TEXT = 100, LONGEST_TEXT = 100000 };
/* Of the petabyte study; _id, numbers and names take 242 bytes of it, and five of the texts one more than the others. */
enum { STUDY_DOCUMENT = 147439, STUDY_TEXTS = STUDY_DOCUMENT - 242 };
enum { PAIR_BITS = 12, PAIRS = 1 << PAIR_BITS, PAIRS_A_DRAW = 5 };

/* What a document says follows from the seed and its id alone, so any of them can be made without those before it; a
 * longer text begins like a shorter one. */
typedef struct {
    uint64_t id, key;
    size_t text_bytes, longer_texts; /* the first so many texts have one byte more */
    char pair[PAIRS][2];             /* two characters for twelve bits */
    zipf_t zipf;
} ycsb_t;

static bool check(const generate_t *what, err_t *err) {
    const uint64_t ids = UINT64_C(1) << 63;
    if (what->study && what->text_bytes)
        return err_set(err, STATUS_USAGE,
                       "--study and --text-bytes both say how long texts are; give one of them");
    if (what->text_bytes > LONGEST_TEXT)
        return err_set(err, STATUS_USAGE, "--text-bytes %llu: texts have %d bytes at most",
                       (unsigned long long)what->text_bytes, LONGEST_TEXT);
    return (what->first <= ids && what->count <= ids - what->first) ||
           err_set(err, STATUS_USAGE, "--rows %llu from --first %llu: the largest id is %lld",
                   (unsigned long long)what->count, (unsigned long long)what->first, (long long)INT64_MAX);
}

static char *begin(void *maker, const generate_t *what, char *to, err_t *err) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    ycsb_t *rows = maker;
    (void)err;
    rows->id = what->first;
    rows->key = chance_bits(what->seed, 2010);
    rows->text_bytes = what->study        ? STUDY_TEXTS / TEXTS
                       : what->text_bytes ? (size_t)what->text_bytes
                                          : USUAL_TEXT;
    rows->longer_texts = what->study ? STUDY_TEXTS % TEXTS : 0;
    for (unsigned i = 0; i < PAIRS; i++) {
        rows->pair[i][0] = letters[i >> 6];
        rows->pair[i][1] = letters[i & 63];
    }
    zipf_init(&rows->zipf);
    return to;
}

/* Writes up to nine bytes more than it says. */
static char *put_text(const ycsb_t *rows, uint64_t key, size_t bytes, char *to) {
    char *end = to + bytes;
    for (uint64_t place = 0; to < end; place++) {
        uint64_t bits = chance_bits(key, place);
        for (unsigned i = 0; i < PAIRS_A_DRAW; i++, to += 2, bits >>= PAIR_BITS)
            memcpy(to, rows->pair[bits % PAIRS], 2);
    }
    return end;
}

static char *put_key(char *to, const char *name, unsigned number, const char *behind) {
    to = stpcpy(to, name);
    *to++ = (char)('0' + number);
    return stpcpy(to, behind);
}

static char *put_row(void *maker, char *to) {
    ycsb_t *rows = maker;
    uint64_t key = chance_bits(rows->key, rows->id);
    to = digits_put_long(stpcpy(to, "{\"_id\":"), rows->id++);
    for (unsigned i = 0; i < TEXTS; i++) {
        to = put_key(to, ",\"field", i, "\":\"");
        to = put_text(rows, chance_bits(key, NUMBERS + i), rows->text_bytes + (i < rows->longer_texts), to);
        *to++ = '"';
    }
    for (unsigned i = 0; i < NUMBERS; i++)
        to = digits_put(put_key(to, ",\"fieldInt", i, "\":"), zipf_draw(&rows->zipf, chance_bits(key, i)));
    return stpcpy(to, "}\n");
}

const generate_kind_t generate_ycsb = {"ycsb", "documents", sizeof(ycsb_t), UINT64_MAX, check,
                                       begin,  put_row,     NULL,           NULL};
