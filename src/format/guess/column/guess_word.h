/* guess_word: what a word with bytes above 7f is, if it is windows-1252. */
#ifndef TIPPLE_FORMAT_GUESS_COLUMN_GUESS_WORD_H
#define TIPPLE_FORMAT_GUESS_COLUMN_GUESS_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef enum {
    WORD_PLAIN, /* nothing: without letters above 7f, or with usual signs, or a short word as they have there */
    WORD_UNSURE,  /* another sign, or a word of two letters at most: counts where no longer word tells */
    WORD_WESTERN, /* as languages of Western Europe have them; so, too: */
    WORD_ACUTE,   /* with one of á é í ó ú æ, which Icelandic has, and Turkish lacks; */
    WORD_THORN,   /* else with one of ð þ ý: Icelandic, or Turkish in its own encoding; */
    WORD_UMLAUT,  /* with ä, which Estonian has, and Hungarian lacks; */
    WORD_TILDE,   /* else with õ, and not õe: Estonian, or Hungarian in its own encoding; */
    WORD_SHORT,   /* three or four letters or signs above 7f and nothing else, as few such words are; */
    WORD_ODD,     /* as none is: see guess_word.c, guess_sign.c */
    WORDS
} guess_word_t;

/* Of a run of letters of ASCII and bytes above 7f; before, after: what is around it, 0 at the text's edges. */
guess_word_t guess_word(const uint8_t *word, size_t length, uint8_t before, uint8_t after);

static inline bool guess_is_among(uint8_t byte, const char *bytes) {
    return byte && strchr(bytes, byte);
}

/* Of windows-1252. */
bool guess_is_letter(uint8_t byte);
uint8_t guess_small(uint8_t byte); /* of a letter */

#endif
