/* Text of another encoding as UTF-8, by iconv: a decoder around the one that unpacks the text. Offsets in sentences are
 * those of the encoded text; everything after this decoder counts bytes of UTF-8. */
#include "input/decode/decoder.h"

#include <errno.h>
#include <iconv.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 96 * 1024, LONGEST = 8 /* bytes of a character in any encoding */ };

typedef struct {
    decoder_t decoder;
    decoder_t *inner;
    const char *encoding; /* NULL: UTF-16 */
    iconv_t convert;
    decode_t done;   /* the last answer of `inner` */
    bool broken;     /* raw[at] begins no character */
    size_t at, have; /* raw[at, have) is still to be converted */
    uint64_t passed; /* bytes before raw */
    size_t given, made;
    uint8_t text[TEXT]; /* text[given, made) is still to be given out */
    uint8_t raw[RECODE_MOST];
    err_t fault; /* of `inner` */
} recode_t;

utf16_order_t decoder_utf16_order(const uint8_t *head, size_t size) {
    size_t nuls[2] = {0, 0};
    size = size < UTF16_SAMPLE ? size : UTF16_SAMPLE;
    if (size >= 2 && head[0] + head[1] == 0xFF + 0xFE)
        return head[0] == 0xFF ? UTF16_LITTLE : head[0] == 0xFE ? UTF16_BIG : UTF16_NONE;
    if (!memchr(head, 0, size))
        return UTF16_NONE;
    for (size_t i = 0; i < size; i++)
        nuls[i % 2] += !head[i];
    for (size_t i = 0; size >= 4 && i < 2; i++)
        if (nuls[i] * 5 > size && nuls[1 - i] * 8 < nuls[i])
            return i ? UTF16_LITTLE : UTF16_BIG;
    return UTF16_NONE;
}

/* Moves what is left to the front, and reads more. */
static void refill(recode_t *recode, feed_t *feed) {
    const size_t left = recode->have - recode->at;
    size_t got;
    memmove(recode->raw, recode->raw + recode->at, left);
    recode->passed += recode->at;
    recode->at = 0;
    recode->done = recode->inner->read(recode->inner, feed, recode->raw + left, RECODE_MOST - left, &got,
                                       &recode->fault);
    recode->have = left + got;
}

/* Makes text of all that is in raw, or of nothing more where its last character is not whole. At the end some
 * conversions give out a character that they held back. */
static void convert(recode_t *recode) {
    char *in = (char *)recode->raw + recode->at, *out = (char *)recode->text;
    size_t left = recode->have - recode->at, room = TEXT;
    recode->broken = iconv(recode->convert, &in, &left, &out, &room) == (size_t)-1 && errno == EILSEQ;
    recode->at = recode->have - left;
    if (!left && recode->done != DECODE_MORE)
        iconv(recode->convert, NULL, NULL, &out, &room);
    recode->given = 0;
    recode->made = TEXT - room;
}

static decode_t refuse(const recode_t *recode, const feed_t *feed, err_t *err) {
    const uint8_t *bytes = recode->raw + recode->at;
    err_set(err, STATUS_INPUT,
            "%.1000s: at byte %llu of its %.40s text is no whole character (%02X%02X); mend the file there, "
            "or get the whole one if it was cut off or is still being written, and run the command again",
            feed->name, (unsigned long long)(recode->passed + recode->at),
            recode->encoding ? recode->encoding : "UTF-16", bytes[0],
            recode->have - recode->at < 2 ? 0 : bytes[1]);
    return DECODE_FAULT;
}

static decode_t recode_read(decoder_t *decoder, feed_t *feed, uint8_t *out, size_t size, size_t *got,
                            err_t *err) {
    recode_t *recode = (recode_t *)decoder;
    *got = 0;
    for (;;) {
        const size_t ready = recode->made - recode->given, n = ready < size - *got ? ready : size - *got;
        memcpy(out + *got, recode->text + recode->given, n);
        recode->given += n;
        *got += n;
        if (*got == size || (*got && feed->stream))
            return DECODE_MORE;
        if (recode->broken)
            return refuse(recode, feed, err);
        if (recode->have - recode->at < LONGEST && recode->done == DECODE_MORE)
            refill(recode, feed);
        convert(recode);
        if (recode->made || recode->broken || recode->done == DECODE_MORE)
            continue;
        if (recode->done == DECODE_FAULT)
            *err = recode->fault;
        else if (recode->have > recode->at && !feed->failed)
            return refuse(recode, feed, err);
        return recode->done;
    }
}

static void recode_close(decoder_t *decoder) {
    recode_t *recode = (recode_t *)decoder;
    recode->inner->close(recode->inner);
    iconv_close(recode->convert);
    free(recode);
}

decoder_t *decoder_recode(decoder_t *inner, const char *encoding, const char *name, const uint8_t *text,
                          size_t size, decode_t done, err_t *err) {
    const bool is_big = decoder_utf16_order(text, size) == UTF16_BIG;
    const char *from = encoding ? encoding : is_big ? "UTF-16BE" : "UTF-16LE";
    recode_t *recode = malloc(sizeof *recode);
    const iconv_t convert = recode ? iconv_open("UTF-8", from) : (iconv_t)-1;
    if (convert == (iconv_t)-1) {
        if (errno == ENOMEM)
            err_memory(err, sizeof *recode);
        else
            err_set(err, STATUS_HOST,
                    "%.1000s: this host cannot read text of %.40s: iconv does not know it. Install its "
                    "conversions (Debian: libc-bin, libc-gconv-modules-extra)",
                    name, from);
        inner->close(inner);
        free(recode);
        return NULL;
    }
    memset(recode, 0, offsetof(recode_t, text));
    recode->decoder = (decoder_t){.read = recode_read, .close = recode_close};
    recode->inner = inner;
    recode->encoding = encoding;
    recode->convert = convert;
    recode->done = done;
    recode->have = size;
    memcpy(recode->raw, text, size);
    if (done == DECODE_FAULT)
        recode->fault = *err;
    return &recode->decoder;
}
