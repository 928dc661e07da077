#include "format/delimited/made.h"
#include "format/delimited/delimited_inner.h"
#include "format/record/bsonw.h"
#include "format/record/typed.h"
#include "format/record/words.h"
#include "format/values/hex.h"

#include <openssl/evp.h>

/* Of letters only those of ASCII. False: no memory. */
static bool change(text_change_t how, uint8_t *text, size_t *length) {
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned size;
    for (size_t i = 0; how == TEXT_LOWER && i < *length; i++)
        if (text[i] >= 'A' && text[i] <= 'Z')
            text[i] ^= 0x20;
    if (how != TEXT_SHA256)
        return true;
    if (!EVP_Digest(text, *length, digest, &size, EVP_sha256(), NULL))
        return false;
    *length = hex_print(digest, size, text);
    return true;
}

static void trim(uint8_t *text, size_t *length) {
    size_t blanks = 0;
    while (*length && text[*length - 1] == ' ')
        --*length;
    while (blanks < *length && text[blanks] == ' ')
        blanks++;
    *length -= blanks;
    memmove(text, text + blanks, *length);
}

made_result_t made_finish(const make_t *made, const pattern_t *patterns, uint8_t *type, uint8_t *text,
                          size_t length, uint8_t **end) {
    const field_t *field = &made->field;
    const bool is_text = field->type == TYPE_TEXT || field->type == TYPE_TRIMMED;
    typed_t value;
    if (!change(made->change, text, &length))
        return MADE_FAILED;
    if (field->type == TYPE_TRIMMED)
        trim(text, &length);
    if (field->nulls.count && words_find(&field->nulls, ENCODING_NONE, text, length) >= 0)
        return MADE_NOTHING;
    if (!is_text && typed_convert(field, patterns, ENCODING_NONE, text, length, &value) &&
        !delimited_is_inexact(field, text, length)) {
        *type = value.bson_type;
        memcpy(text - 4, value.bytes, sizeof value.bytes);
        *end = text - 4 + value.size;
        return MADE_VALUE;
    }
    *type = BSON_TYPE_UTF8;
    bsonw_int32(text - 4, (int32_t)length + 1);
    text[length] = 0;
    *end = text + length + 1;
    return is_text ? MADE_VALUE : MADE_BAD;
}
