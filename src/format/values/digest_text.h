/* digest_text: the digest of a text, as hexadecimal digits. */
#ifndef TIPPLE_FORMAT_VALUES_DIGEST_TEXT_H
#define TIPPLE_FORMAT_VALUES_DIGEST_TEXT_H

#include <stddef.h>
#include <stdint.h>

typedef enum { DIGEST_MD5, DIGEST_SHA256, DIGEST_XXH3 } digest_text_t;

enum { DIGEST_TEXT_MOST = 64 };

/* Returns how many digits it wrote: 32, or 64 of SHA-256. 0: memory is out, or the host's OpenSSL does not give it. */
size_t digest_text(digest_text_t digest, const uint8_t *text, size_t length, uint8_t out[DIGEST_TEXT_MOST]);

#endif
