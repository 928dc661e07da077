/* inflate64: a decoder of Deflate64 (zip method 9), which no packaged library reads. Windows writes it for large files.
 *
 * Deflate64 is deflate with a window of 64 KiB. Distance codes 30 and 31 exist (14 extra bits, up to 65,536), and
 * length code 285 means 3 plus 16 extra bits (up to 65,538) instead of 258.
 *
 * Belongs to one thread. Safe for any input. */
#ifndef TIPPLE_INPUT_DECODE_INFLATE64_H
#define TIPPLE_INPUT_DECODE_INFLATE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    INFLATE64_LEAST = 1024, /* input bytes that a call needs to make progress, unless they are the last */
    INFLATE64_SLACK = 64,   /* readable bytes after the input */
};

typedef enum {
    INFLATE64_FULL,   /* the output is full */
    INFLATE64_HUNGRY, /* more input is needed */
    INFLATE64_END,
    INFLATE64_CUT,     /* the input ended too early */
    INFLATE64_DAMAGED, /* inflate64_reason says why */
} inflate64_result_t;

typedef struct inflate64 inflate64_t;

inflate64_t *inflate64_new(void); /* NULL: out of memory */
void inflate64_destroy(inflate64_t *inflater);

/* Reads in[0, in_size) (`last`: nothing follows) and sets how many bytes it has taken. Writes up to out_size bytes and
 * sets how many it has written. Everything that was decoded before a fault or the end is given out first. */
inflate64_result_t inflate64_run(inflate64_t *inflater, const uint8_t *in, size_t in_size, bool last,
                                 size_t *taken, uint8_t *out, size_t out_size, size_t *made);

const char *inflate64_reason(const inflate64_t *inflater);

#endif
