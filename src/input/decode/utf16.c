#include "input/decode/utf16.h"
#include "base/chars.h"

#include <stdlib.h>
#include <string.h>

enum { RAW = 64 * 1024, LONGEST = 4 /* bytes of a character, before and after */ };

typedef struct {
    decoder_t decoder;
    decoder_t *inner;
    utf16_order_t order; /* UTF16_NONE: nothing was read yet */
    decode_t done;       /* what `inner` has said last */
    uint8_t *raw;        /* raw[at, have) is still to be converted */
    size_t at, have, room;
    uint64_t passed;                       /* bytes before raw */
    uint8_t character[LONGEST];            /* one for which there was no room, */
    size_t character_at, character_length; /* and what is left of it */
    err_t fault;                           /* of `inner` */
} utf16_t;

utf16_order_t utf16_order(const uint8_t *head, size_t size) {
    size_t nuls[2] = {0, 0};
    size = size < UTF16_LOOK_AT ? size : UTF16_LOOK_AT;
    if (size >= 2 && head[0] + head[1] == 0xFF + 0xFE)
        return head[0] == 0xFF ? UTF16_LITTLE : head[0] == 0xFE ? UTF16_BIG : UTF16_NONE;
    for (size_t i = 0; i < size; i++)
        nuls[i % 2] += !head[i];
    for (size_t i = 0; size >= 4 && i < 2; i++)
        if (nuls[i] * 5 > size && nuls[1 - i] * 8 < nuls[i])
            return i ? UTF16_LITTLE : UTF16_BIG;
    return UTF16_NONE;
}

/* Moves what is left to the front, and reads more. */
static void refill(utf16_t *utf16, feed_t *feed) {
    const size_t left = utf16->have - utf16->at;
    size_t got = 0;
    memmove(utf16->raw, utf16->raw + utf16->at, left);
    utf16->passed += utf16->at;
    utf16->at = 0;
    utf16->have = left;
    if (utf16->done == DECODE_MORE)
        utf16->done = utf16->inner->read(utf16->inner, feed, utf16->raw + left, utf16->room - left, &got,
                                         &utf16->fault);
    utf16->have += got;
    if (!utf16->order)
        utf16->order = utf16_order(utf16->raw, utf16->have);
}

static uint32_t unit(const utf16_t *utf16, size_t at) {
    const uint8_t *bytes = utf16->raw + at;
    return utf16->order == UTF16_BIG ? (uint32_t)bytes[0] << 8 | bytes[1]
                                     : (uint32_t)bytes[1] << 8 | bytes[0];
}

static bool is_high(uint32_t of) {
    return of >= 0xD800 && of < 0xDC00;
}

static bool is_low(uint32_t of) {
    return of >= 0xDC00 && of < 0xE000;
}

/* The next character, of which all bytes are there, and its bytes. 0: half of one. */
static size_t take(const utf16_t *utf16, uint32_t *character) {
    const uint32_t first = unit(utf16, utf16->at);
    *character = first;
    if (!is_high(first))
        return is_low(first) ? 0 : 2;
    if (utf16->have - utf16->at < 4)
        return 0;
    const uint32_t second = unit(utf16, utf16->at + 2);
    *character = 0x10000 + ((first - 0xD800) << 10 | (second - 0xDC00));
    return is_low(second) ? 4 : 0;
}

static decode_t refuse_half(const utf16_t *utf16, feed_t *feed, err_t *err) {
    const unsigned long long at = utf16->passed + utf16->at;
    if (utf16->have - utf16->at == 1)
        err_set(
            err, STATUS_INPUT,
            "%.1000s: its UTF-16 text has an odd byte at its end (byte %llu): it was cut off, or is still "
            "being written; everything before that was read. Get the whole file, and run the command again",
            feed->name, at);
    else
        err_set(
            err, STATUS_INPUT,
            "%.1000s: at byte %llu of its UTF-16 text is half of a character (%04X), which no UTF-8 can say; "
            "everything before that was read. Mend the file there, and run the command again",
            feed->name, at, unit(utf16, utf16->at));
    feed->damaged = true;
    return DECODE_FAULT;
}

static void put_pending(utf16_t *utf16, uint8_t *out, size_t size, size_t *got) {
    const size_t left = utf16->character_length - utf16->character_at,
                 count = left < size - *got ? left : size - *got;
    memcpy(out + *got, utf16->character + utf16->character_at, count);
    utf16->character_at += count;
    *got += count;
}

/* All that is in raw and has room. False: half of a character. */
static bool convert(utf16_t *utf16, uint8_t *out, size_t size, size_t *got) {
    while (utf16->have - utf16->at >= 4 || (utf16->done != DECODE_MORE && utf16->have - utf16->at >= 2)) {
        uint32_t character;
        if (*got == size)
            return true;
        const size_t bytes = take(utf16, &character);
        if (!bytes)
            return false;
        utf16->at += bytes;
        if (size - *got >= LONGEST) {
            *got += utf8_put(out + *got, character);
            continue;
        }
        utf16->character_length = utf8_put(utf16->character, character);
        utf16->character_at = 0;
        put_pending(utf16, out, size, got);
    }
    return true;
}

static decode_t utf16_read(decoder_t *decoder, feed_t *feed, uint8_t *out, size_t size, size_t *got,
                           err_t *err) {
    utf16_t *utf16 = (utf16_t *)decoder;
    *got = 0;
    put_pending(utf16, out, size, got);
    while (*got < size) {
        if (utf16->have - utf16->at < 4 && utf16->done == DECODE_MORE)
            refill(utf16, feed);
        if (!convert(utf16, out, size, got))
            return refuse_half(utf16, feed, err);
        if (*got == size || utf16->done == DECODE_MORE || utf16->have - utf16->at >= 2)
            continue;
        if (utf16->done == DECODE_FAULT)
            *err = utf16->fault;
        else if (utf16->have > utf16->at && !feed->failed)
            return refuse_half(utf16, feed, err);
        return utf16->done;
    }
    return DECODE_MORE;
}

static void utf16_close(decoder_t *decoder) {
    utf16_t *utf16 = (utf16_t *)decoder;
    utf16->inner->close(utf16->inner);
    free(utf16->raw);
    free(utf16);
}

decoder_t *decoder_utf16_around(decoder_t *inner, const uint8_t *head, size_t size, decode_t done,
                                const err_t *fault) {
    utf16_t *utf16 = calloc(1, sizeof *utf16);
    const size_t room = size > RAW ? size : RAW;
    if (!utf16 || !(utf16->raw = malloc(room))) {
        free(utf16);
        return NULL;
    }
    utf16->decoder = (decoder_t){.read = utf16_read, .close = utf16_close};
    utf16->inner = inner;
    utf16->done = done;
    utf16->room = room;
    utf16->have = size;
    if (size)
        memcpy(utf16->raw, head, size);
    utf16->order = utf16_order(head, size);
    if (done == DECODE_FAULT)
        utf16->fault = *fault;
    return &utf16->decoder;
}

decoder_t *decoder_utf16(void) {
    decoder_t *stored = decoder_stored();
    decoder_t *utf16 = stored ? decoder_utf16_around(stored, NULL, 0, DECODE_MORE, NULL) : NULL;
    if (stored && !utf16)
        stored->close(stored);
    return utf16;
}
