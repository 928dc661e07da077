#include "format/values/digest_text.h"
#include "format/values/hex.h"

#include <openssl/evp.h>
#include <xxhash.h>

size_t digest_text(digest_text_t digest, const uint8_t *text, size_t length, uint8_t out[DIGEST_TEXT_MOST]) {
    uint8_t bytes[EVP_MAX_MD_SIZE];
    unsigned size = sizeof(XXH128_canonical_t);
    if (digest == DIGEST_XXH3) {
        const XXH128_hash_t hash = XXH3_128bits(text, length);
        XXH128_canonicalFromHash((XXH128_canonical_t *)(void *)bytes, hash);
    } else if (!EVP_Digest(text, length, bytes, &size, digest == DIGEST_MD5 ? EVP_md5() : EVP_sha256(),
                           NULL)) {
        return 0;
    }
    return hex_print(bytes, size, false, out);
}
