#include "format/cut/scan.h"
#include "format/cut/masks.h"

void scan_plain(const uint8_t *text, uint32_t from, uint32_t to, char delimiter, char quote, scan_t *scan) {
    for (uint32_t at = from; at < to; at++) {
        uint8_t byte = text[at];
        scan->high |= byte > 0x7F;
        scan->quotes |= quote && byte == (uint8_t)quote;
        scan->quote_count += quote && byte == (uint8_t)quote;
        if (byte == (uint8_t)delimiter || byte == '\n')
            scan->ends[scan->end_count++] = at;
        if (byte == '\n') {
            scan->row_quotes[scan->row_count] = scan->quote_count;
            scan->rows[scan->row_count++] = (uint32_t)scan->end_count;
        }
    }
}

#if defined(__x86_64__)
MASKS_WIDE static void scan_avx2(const uint8_t *text, uint32_t from, uint32_t to, char delimiter, char quote,
                                 scan_t *scan) {
    const uint64_t with_quotes = quote ? ~0ull : 0;
    for (uint32_t at = from; at < to; at += 64) {
        __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(text + at));
        __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(text + at + 32));
        uint64_t line = masks_same(a, b, '\n');
        masks_t masks = {
            .line = line,
            .end = line | masks_same(a, b, delimiter),
            .quote = masks_same(a, b, quote) & with_quotes,
            .high = masks_high(a, b),
        };
        if (__builtin_expect(to - at < 64, 0))
            masks = masks_below(masks, to - at);
        masks_append(scan, at, masks);
    }
}

static void scan_sse2(const uint8_t *text, uint32_t from, uint32_t to, char delimiter, char quote,
                      scan_t *scan) {
    const __m128i delimiters = _mm_set1_epi8(delimiter), lines = _mm_set1_epi8('\n');
    const __m128i quotes = _mm_set1_epi8(quote ? quote : '\n');
    for (uint32_t at = from; at < to; at += 64) {
        masks_t masks = {0, 0, 0, 0};
        for (int i = 0; i < 4; i++) {
            __m128i a = _mm_loadu_si128((const __m128i *)(const void *)(text + at + 16 * i));
#define MASK(of) ((uint64_t)(uint32_t)_mm_movemask_epi8(of) << (16 * i))
            uint64_t line = MASK(_mm_cmpeq_epi8(a, lines));
            masks.line |= line;
            masks.end |= line | MASK(_mm_cmpeq_epi8(a, delimiters));
            masks.quote |= quote ? MASK(_mm_cmpeq_epi8(a, quotes)) : 0;
            masks.high |= MASK(a);
#undef MASK
        }
        masks_append(scan, at, masks_below(masks, to - at));
    }
}

scan_fn *scan_best(void) {
    return masks_are_wide() ? scan_avx2 : scan_sse2;
}

#else

scan_fn *scan_best(void) {
    return scan_plain;
}

#endif
