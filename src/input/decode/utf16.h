/* utf16: text of UTF-16 as UTF-8, whatever it is packed in: a decoder around another one. Places are those in the text that
 * comes out. Nothing is replaced: half of a character is a fault with its place. */
#ifndef TIPPLE_INPUT_DECODE_UTF16_H
#define TIPPLE_INPUT_DECODE_UTF16_H

#include "input/decode/decoder.h"

typedef enum { UTF16_NONE, UTF16_LITTLE, UTF16_BIG } utf16_order_t;

/* Which order of bytes the text has that begins so: by its byte-order mark; without one, where many of each second
 * byte are NUL, and few of the others: as in text of Latin letters. So many bytes at most are looked at. */
enum { UTF16_LOOK_AT = 512 };
utf16_order_t utf16_order(const uint8_t *head, size_t size);

/* Of a file that is no more than that. NULL: memory is out. */
decoder_t *decoder_utf16(void);

/* Around the decoder that has given head[0, size) so far, and whose last answer was `done`, with `fault`. It owns the decoder
 * then. */
decoder_t *decoder_utf16_around(decoder_t *inner, const uint8_t *head, size_t size, decode_t done,
                                const err_t *fault);

#endif
