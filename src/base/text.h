/* text: memory that grows, and the words that are put together in it.
 *
 * An array is a pointer that begins as NULL, a count, and its room; GROW doubles the room. A text_t is an array of bytes
 * that ends with a NUL, from {0}. Callers need not check for memory at each append: when memory is out, what does not
 * fit is left out, and so is all that follows; text_take then gives nothing out, and says why. Below are the words that
 * several rooms share: the one that a mistyped word means, the names of tipple's own collections, and words that the
 * user may paste into a shell. Nothing here is shared between threads by itself. */
#ifndef TIPPLE_BASE_TEXT_H
#define TIPPLE_BASE_TEXT_H

#include "base/err.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- arrays ---- */

/* One TYPE, all zeros; the caller frees it. For structs with a larger alignment than calloc gives, such as those that
 * contain a bson_t (128 bytes). NULL: out of memory. */
#define ZEROED(type) ((type *)zeroed_memory(alignof(type), sizeof(type)))

static inline void *zeroed_memory(size_t alignment, size_t size) {
    void *memory = aligned_alloc(alignment, size);
    return memory ? memset(memory, 0, size) : NULL;
}

/* For an array, not for a pointer. */
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Makes room for at least `needed` items in the array ITEMS, a pointer that may move and begins as NULL. ROOM is the
 * size_t that counts how many items it has room for. False: memory is out, nothing has changed, and err has the
 * sentence. err may be NULL if the caller has no use for a sentence. */
#define GROW(items, room, needed, err) grow_items(&(items), &(room), (needed), sizeof *(items), (err))

/* Called by GROW when there is too little room. items: the address of the pointer. */
bool grow_beyond(void *items, size_t *room, size_t needed, size_t size, err_t *err);

/* Inline, because there is mostly room enough, and some callers ask for every field. */
static inline bool grow_items(void *items, size_t *room, size_t needed, size_t size, err_t *err) {
    return needed <= *room || grow_beyond(items, room, needed, size, err);
}

/* The first index AT of 0 to COUNT - 1 for which IS_BEFORE, an expression that uses AT, is false; COUNT if it is true
 * for all. Once IS_BEFORE is false for an index, it must be false for all later ones. */
#define SEARCH_FIRST(count, at, is_before)                                                                   \
    ({                                                                                                       \
        size_t search_low = 0, search_high = (count);                                                        \
        while (search_low < search_high) {                                                                   \
            const size_t at = search_low + (search_high - search_low) / 2;                                   \
            if (is_before)                                                                                   \
                search_low = at + 1;                                                                         \
            else                                                                                             \
                search_high = at;                                                                            \
        }                                                                                                    \
        search_low;                                                                                          \
    })

/* ---- texts ---- */

typedef struct {
    char *bytes; /* NULL before the first append; after it, ends with a NUL that length does not count */
    size_t length, room;
    size_t lacking; /* bytes for which there was no memory; 0: nothing is left out */
} text_t;

/* Makes room for `more` bytes and the NUL. False: memory is out, now or at an earlier call. */
bool text_grow(text_t *text, size_t more);

static inline void text_append_bytes(text_t *text, const char *bytes, size_t length) {
    if (text->length + length >= text->room && !text_grow(text, length))
        return;
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

static inline void text_append(text_t *text, const char *words) {
    text_append_bytes(text, words, strlen(words));
}

void text_print(text_t *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_print_list(text_t *text, const char *format, va_list list) __attribute__((format(printf, 2, 0)));

/* If memory was out for a part of the text, it was out for the text: text_take gives nothing out. */
static inline void text_miss(text_t *text, const text_t *part) {
    if (part->lacking)
        text->lacking = part->lacking;
}

/* Gives out the text, which the caller frees; *text is empty afterwards. NULL: memory was out, and err has the
 * sentence. */
char *text_take(text_t *text, err_t *err);

/* The same for code without an err_t: if memory was out, the process ends with status 8 and a sentence. */
char *text_take_or_end(text_t *text);

/* A copy without the passwords (conceal), which the caller frees. If memory is out, the process ends as in
 * text_take_or_end. */
char *text_concealed(const char *words);

/* Frees its memory; it is empty afterwards. */
void text_free(text_t *text);

/* ---- words ---- */

/* The closest of words[0..count), or NULL if none is close enough. */
const char *suggest_word(const char *word, const char *const *words, size_t count);

/* The same as the end of a sentence: "; did you mean 'WORD'?", or nothing. */
typedef struct {
    char text[96];
} suggestion_t;
suggestion_t suggestion(const char *word, const char *const *words, size_t count);

/* The place of an option's text in words[0..count); -1 with the sentence that lists them. */
int choose_word(const char *option, const char *text, const char *const *words, size_t count, err_t *err);

/* ---- names of collections ---- */

/* The names of the collections that tipple itself makes next to a collection of data, NAME: each is NAME and one of
 * these ends. Whoever makes another one adds it here. Any thread. */

#define OWN_FILES ".tipple.files"
#define OWN_LOADS ".tipple.loads"
/* Scratch collections have a dot and an identifier after these. They are loaded into as others are, and have a catalog of
 * their own: */
#define SCRATCH_TUNE  ".tipple.tune"
#define SCRATCH_DRILL ".tipple.drill"

/* Is a collection of this name (without the database) a load's catalog? Then it cannot be loaded into. */
bool own_names_catalog(const char *collection);

/* Is a collection of this name one of tipple's own, a catalog or a scratch collection? */
bool own_names_has(const char *collection);

/* ---- words for a shell ---- */

/* Appends a blank and the word, in quotes if a shell would read it differently without. */
void shell_quote_word(text_t *line, const char *word);
/* Such a word alone, with its blank; to be freed. NULL: out of memory. */
char *shell_quoted(const char *word, err_t *err);
/* value NULL: appends nothing. */
void shell_quote_option(text_t *line, const char *option, const char *value);

#endif
