#include "base/text.h"
#include "base/conceal.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- arrays that grow ---- */

enum { FIRST_ITEMS = 4 };

bool grow_beyond(void *items, size_t *room, size_t needed, size_t size, err_t *err) {
    size_t more = *room ? 2 * *room : FIRST_ITEMS;
    more = more < needed ? needed : more;
    void *now;
    memcpy(&now, items, sizeof now); /* a pointer of any type */
    void *larger = realloc(now, more * size);
    if (!larger)
        return err && err_memory(err, more * size);
    memcpy(items, &larger, sizeof larger);
    *room = more;
    return true;
}

/* ---- texts that grow ---- */

enum { FIRST_ROOM = 256 };

/* Memory is out: from now on nothing is appended. With no room left, every append comes to text_grow. */
static bool give_up(text_t *text, size_t lacking) {
    text->lacking = lacking;
    text->room = 0;
    return false;
}

bool text_grow(text_t *text, size_t more) {
    if (text->lacking)
        return false;
    const size_t room = 2 * (text->length + more) + FIRST_ROOM;
    char *larger = realloc(text->bytes, room);
    if (!larger)
        return give_up(text, room);
    larger[text->length] = '\0';
    text->bytes = larger;
    text->room = room;
    return true;
}

void text_print(text_t *text, const char *format, ...) {
    va_list list;
    va_start(list, format);
    text_print_list(text, format, list);
    va_end(list);
}

void text_print_list(text_t *text, const char *format, va_list list) {
    va_list again;
    va_copy(again, list);
    const int length = vsnprintf(NULL, 0, format, list);
    if (length < 0)
        give_up(text, FIRST_ROOM);
    else if (text->length + (size_t)length < text->room || text_grow(text, (size_t)length)) {
        vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

char *text_take(text_t *text, err_t *err) {
    text_append(text, ""); /* an empty text is a text, too */
    const text_t taken = *text;
    *text = (text_t){.bytes = NULL};
    if (!taken.lacking)
        return taken.bytes;
    free(taken.bytes);
    err_memory(err, taken.lacking);
    return NULL;
}

char *text_take_or_end(text_t *text) {
    err_t err;
    text_append(text, "");
    if (text->lacking)
        err_end_without_memory(text->lacking);
    return text_take(text, &err);
}

char *text_concealed(const char *words) {
    text_t text = {0};
    /* *** makes each password at most two bytes longer, and something stands before each */
    if (!text_grow(&text, 2 * strlen(words) + sizeof "***"))
        /* a text that may hold a password must not be shown unchanged */
        err_end_without_memory(text.lacking);
    strcpy(text.bytes, words);
    return conceal(text.bytes, text.room);
}

void text_free(text_t *text) {
    free(text->bytes);
    *text = (text_t){.bytes = NULL};
}

/* ---- the word that was meant ---- */

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
        /* of two words that are equally close, the shorter one wins */
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

/* ---- one of a few words ---- */

int choose_word(const char *option, const char *text, const char *const *words, size_t count, err_t *err) {
    char known[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i], text) == 0)
            return (int)i;
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", words[i]);
    }
    err_set(err, STATUS_USAGE, "--%s: '%s' is not one of %s", option, text, known);
    return -1;
}

/* ---- names of collections ---- */

static bool ends(const char *collection, const char *end) {
    const size_t length = strlen(collection), from = strlen(end);
    return length >= from && strcmp(collection + length - from, end) == 0;
}

bool own_names_catalog(const char *collection) {
    return ends(collection, OWN_FILES) || ends(collection, OWN_LOADS);
}

bool own_names_has(const char *collection) {
    return own_names_catalog(collection) || strstr(collection, SCRATCH_TUNE) ||
           strstr(collection, SCRATCH_DRILL);
}

/* ---- words for a shell ---- */

void shell_quote_word(text_t *line, const char *word) {
    const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:=,+@%";
    text_append(line, " ");
    if (*word && strspn(word, plain) == strlen(word)) {
        text_append(line, word);
        return;
    }
    text_append(line, "'");
    for (; *word; word++)
        if (*word == '\'')
            text_append(line, "'\\''");
        else
            text_append_bytes(line, word, 1);
    text_append(line, "'");
}

char *shell_quoted(const char *word, err_t *err) {
    text_t line = {.length = 0};
    shell_quote_word(&line, word);
    return text_take(&line, err);
}

void shell_quote_option(text_t *line, const char *option, const char *value) {
    if (!value)
        return;
    shell_quote_word(line, option);
    shell_quote_word(line, value);
}
