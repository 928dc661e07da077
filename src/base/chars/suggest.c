#include "base/chars/suggest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 63 };

/* Edit distance: swapping two neighbours is one edit, case is ignored. */
static size_t distance(const char *a, size_t n, const char *b, size_t m) {
    size_t rows[3][LONGEST + 2];
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *now = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            size_t best = above[j - 1] + (x != y);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                y == tolower((unsigned char)a[i - 2]) && two_above[j - 2] + 1 < best)
                best = two_above[j - 2] + 1;
            now[j] = best;
        }
    }
    return rows[n % 3][m];
}

const char *suggest_word(const char *word, const char *const *words, size_t count) {
    size_t n = strlen(word);
    if (n > LONGEST)
        return NULL;
    const char *best = NULL;
    size_t least = (n + 2) / 3 + 1; /* one letter of three may be wrong: --tls is not --yes */
    for (size_t i = 0; i < count; i++) {
        size_t m = strlen(words[i]);
        if (m > LONGEST)
            continue;
        /* the beginning of a word is close to it, however much is missing */
        size_t d = n >= 2 && m > n && strncmp(word, words[i], n) == 0 ? 1 : distance(word, n, words[i], m);
        /* if two words are equally close, the shorter one: less of it is missing */
        if (d < least || (best && d == least && m < strlen(best))) {
            least = d;
            best = words[i];
        }
    }
    return best;
}

suggestion_t suggestion(const char *word, const char *const *words, size_t count) {
    suggestion_t end = {""};
    const char *near = suggest_word(word, words, count);
    if (near)
        snprintf(end.text, sizeof end.text, "; did you mean '%s'?", near);
    return end;
}
