/* json_marks: what 16 bytes of a text within quotes are, as one bit for each. */
#ifndef TIPPLE_FORMAT_JSON_JSON_MARKS_H
#define TIPPLE_FORMAT_JSON_JSON_MARKS_H

#include <stdint.h>
#include <string.h>

typedef struct {
    uint32_t stop; /* a quote, a backslash, or a control character */
    uint32_t high; /* no ASCII */
} json_marks_t;

#if defined(__SSE2__)
#include <emmintrin.h>

/* Copies them, too. */
__attribute__((always_inline)) static inline json_marks_t json_marks_copy(const uint8_t *at, uint8_t *to) {
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at), low = _mm_set1_epi8(0x1F);
    const __m128i stop = _mm_or_si128(
        _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))),
        _mm_cmpeq_epi8(_mm_min_epu8(bytes, low), bytes));
    _mm_storeu_si128((__m128i *)(void *)to, bytes);
    return (json_marks_t){(uint32_t)_mm_movemask_epi8(stop), (uint32_t)_mm_movemask_epi8(bytes)};
}

#else

__attribute__((always_inline)) static inline json_marks_t json_marks_copy(const uint8_t *at, uint8_t *to) {
    json_marks_t marks = {0, 0};
    for (uint32_t i = 0; i < 16; i++) {
        marks.stop |= (uint32_t)(at[i] == '"' || at[i] == '\\' || at[i] < ' ') << i;
        marks.high |= (uint32_t)(at[i] > 0x7F) << i;
    }
    memcpy(to, at, 16);
    return marks;
}

#endif

/* The same, where nothing is copied. */
__attribute__((always_inline)) static inline json_marks_t json_marks(const uint8_t *at) {
    uint8_t nowhere[16];
    return json_marks_copy(at, nowhere);
}

#endif
