/* decoder: turns a feed into text. One decoder, one input at a time, one thread.
 *
 *     plain, stream    stored
 *     gzip             gzip( inflate )            members, CRC and length of each
 *     zstd             zstd                       frames
 *     xz               xz                         streams, and the checksums that they have
 *     bzip2            bzip2                      streams, CRC of each
 *     utf-16           utf16( stored )            also around each of the others: utf16.h
 *     dump             dump( )                    the blocks of one collection; CRC
 *     zip member       member( stored | inflate | inflate64 | zstd )     CRC and length
 */
#ifndef TIPPLE_INPUT_DECODE_DECODER_H
#define TIPPLE_INPUT_DECODE_DECODER_H

#include "input/decode/feed.h"
#include "input/file/input_file.h"

typedef enum {
    DECODE_MORE,  /* the buffer is full */
    DECODE_END,   /* the text has ended, perhaps with some bytes in the buffer; only restart may follow */
    DECODE_FAULT, /* *err says why, perhaps with some bytes in the buffer; only restart may follow */
} decode_t;

typedef struct decoder decoder_t;
struct decoder {
    /* Always sets *got. */
    decode_t (*read)(decoder_t *decoder, feed_t *feed, uint8_t *out, size_t size, size_t *got, err_t *err);
    void (*restart)(decoder_t *decoder); /* prepares it for the next gzip member or file; NULL if it cannot */
    void (*close)(decoder_t *decoder);
};

/* Which library inflates: the best one, or, to test hosts without ISA-L, zlib. */
typedef enum { INFLATE_BEST, INFLATE_ZLIB } inflate_engine_t;

/* Each is NULL when memory is out. */
decoder_t *decoder_stored(void);
decoder_t *decoder_inflate(inflate_engine_t engine);
decoder_t *decoder_inflate64(void);
decoder_t *decoder_gzip(inflate_engine_t engine);
decoder_t *decoder_zstd(void);
decoder_t *decoder_xz(void);
decoder_t *decoder_bzip2(void);
/* to_end: a fault is also what is behind the archive, which is known only where the rest of it has been passed. */
decoder_t *decoder_dump(const input_file_t *file, bool to_end);
decoder_t *decoder_zip_member(const input_file_t *file, inflate_engine_t engine);

#endif
