#include "generate/ycsb/ycsb_rows.h"
#include "base/numbers/chance.h"
#include "generate/write/digits.h"
#include "generate/ycsb/zipf.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAIR_BITS = 12, PAIRS = 1 << PAIR_BITS, PAIRS_A_DRAW = 5 };

struct ycsb_rows {
    uint64_t id, end, key;
    size_t text_bytes;
    bool header_due;
    char pair[PAIRS][2]; /* two characters for twelve bits */
    zipf_t zipf;
};

ycsb_rows_t *ycsb_rows_new(uint64_t first, uint64_t documents, uint64_t text_bytes, uint64_t seed,
                           err_t *err) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    ycsb_rows_t *rows = calloc(1, sizeof *rows);
    if (!rows)
        return err_memory(err, sizeof *rows), NULL;
    rows->id = first;
    rows->end = first + documents;
    rows->key = chance_bits(seed, 2010);
    rows->text_bytes = (size_t)text_bytes;
    rows->header_due = true;
    for (unsigned i = 0; i < PAIRS; i++) {
        rows->pair[i][0] = letters[i >> 6];
        rows->pair[i][1] = letters[i & 63];
    }
    zipf_init(&rows->zipf);
    return rows;
}

void ycsb_rows_destroy(void *rows) {
    free(rows);
}

static char *put_header(char *to) {
    to = stpcpy(to, "id");
    for (unsigned i = 0; i < YCSB_TEXTS; i++)
        to += sprintf(to, ",field%u", i);
    for (unsigned i = 0; i < YCSB_NUMBERS; i++)
        to += sprintf(to, ",zipf%u", i);
    *to++ = '\n';
    return to;
}

static char *put_id(char *to, uint64_t id) {
    const uint32_t eight = 100000000;
    if (id < eight)
        return digits_put(to, (uint32_t)id);
    to = put_id(to, id / eight);
    return digits_put_last(to, (uint32_t)(id % eight), 8);
}

/* Writes up to nine bytes more than it says. */
static char *put_text(const ycsb_rows_t *rows, uint64_t key, char *to) {
    char *end = to + rows->text_bytes;
    for (uint64_t place = 0; to < end; place++) {
        uint64_t bits = chance_bits(key, place);
        for (unsigned i = 0; i < PAIRS_A_DRAW; i++, to += 2, bits >>= PAIR_BITS)
            memcpy(to, rows->pair[bits % PAIRS], 2);
    }
    return end;
}

static char *put_row(const ycsb_rows_t *rows, char *to) {
    uint64_t key = chance_bits(rows->key, rows->id);
    to = put_id(to, rows->id);
    for (unsigned i = 0; i < YCSB_TEXTS; i++) {
        *to++ = ',';
        to = put_text(rows, chance_bits(key, YCSB_NUMBERS + i), to);
    }
    for (unsigned i = 0; i < YCSB_NUMBERS; i++) {
        *to++ = ',';
        to = digits_put(to, zipf_draw(&rows->zipf, chance_bits(key, i)));
    }
    *to++ = '\n';
    return to;
}

size_t ycsb_rows_fill(void *maker, char *to, size_t room) {
    ycsb_rows_t *rows = maker;
    char *start = to, *last = to + room - YCSB_ROWS_LEAST_ROOM(rows->text_bytes);
    if (rows->header_due) {
        to = put_header(to);
        rows->header_due = false;
    }
    for (; rows->id < rows->end && to <= last; rows->id++)
        to = put_row(rows, to);
    return (size_t)(to - start);
}
