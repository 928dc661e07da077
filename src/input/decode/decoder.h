/* decode: turns the bytes of an input into text.
 *
 *     feed  ->  decoder  [->  decoder around it]  ->  text
 *
 * A feed (feed.h) gives the bytes of a disk, a pipe, a member of an archive, or another source. A decoder makes text of
 * them. It may stand around another decoder, which then reads the feed:
 *
 *     plain file, stream    stored
 *     gzip                  inflate by ISA-L, any number of members, each with its CRC and length
 *     zstd, xz, bzip2       the library of that name, any number of frames or streams with the checksums that they have
 *     zip member            member( stored | inflate | inflate64 | zstd ), with its CRC and length; archive/zip.c
 *     dump                  the blocks of one collection, with its CRC; archive/dump.c
 *     UTF-16 and others     recode( any of these ), by iconv
 *
 * Invariants of every decoder:
 * - `read` fills the buffer, except at the end and at a fault; of a stream's text it gives at least one byte. All text before a
 *   fault is given out first.
 * - A decoder takes no bytes after its own end, so the feed's offset is exact.
 * - The answer depends only on the bytes, not on how the feed or the caller divides them.
 *
 * A decoder serves one input and belongs to one thread. */
#ifndef TIPPLE_INPUT_DECODE_DECODER_H
#define TIPPLE_INPUT_DECODE_DECODER_H

#include "input/decode/feed.h"
#include "input/file/input_file.h"

typedef enum {
    DECODE_MORE,  /* the buffer is full; or a stream has no more yet */
    DECODE_END,   /* the text has ended, perhaps with some bytes in the buffer; only close may follow */
    DECODE_FAULT, /* *err says why, perhaps with some bytes in the buffer; only close may follow */
} decode_t;

typedef struct decoder decoder_t;
struct decoder {
    /* Always sets *got. */
    decode_t (*read)(decoder_t *decoder, feed_t *feed, uint8_t *out, size_t size, size_t *got, err_t *err);
    void (*close)(decoder_t *decoder);
};

/* All constructors return NULL when memory is out. A decoder around another one owns it, and closes it even if the
 * constructor fails. */
/* gzip, zstd, xz, bzip2; raw deflate for INPUT_ZIP_MEMBER; the bytes as they are for any other kind */
decoder_t *decoder_of(input_kind_t kind);
decoder_t *decoder_inflate64(void);
void decoder_free(decoder_t *decoder); /* the close of a decoder that holds nothing else */

/* The text of a zip member; checks the length and the CRC that the directory states. */
decoder_t *decoder_zip_member(const input_file_t *file);

/* The documents of file->collection. to_end: reads on to the end of the archive, so that a cut in another
 * collection's block, or what follows the archive, is a fault, too. */
decoder_t *decoder_dump(const input_file_t *file, bool to_end);

/* ---- other encodings ---- */

typedef enum { UTF16_NONE, UTF16_LITTLE, UTF16_BIG } utf16_order_t;

/* The byte order of UTF-16 text: from its byte order mark, or, without one, from the NULs at every second byte, as Latin
 * letters have them. Examines up to UTF16_SAMPLE bytes. */
enum { UTF16_SAMPLE = 512 };
utf16_order_t decoder_utf16_order(const uint8_t *head, size_t size);

enum { RECODE_MOST = 72 * 1024 };

/* Converts the text of another decoder to UTF-8, from what that has given so far on: text[0, size), RECODE_MOST at most, with
 * its last answer, and its sentence in *err if that was DECODE_FAULT. encoding: a name that iconv knows; NULL: UTF-16, whose
 * byte order is found in the text. Bytes that are no character are a fault with their place: nothing is replaced. NULL: *err
 * says why; name: for that sentence. */
decoder_t *decoder_recode(decoder_t *inner, const char *encoding, const char *name, const uint8_t *text,
                          size_t size, decode_t done, err_t *err);

#endif
