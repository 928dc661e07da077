#include "base/chars.h"
#include "format/guess/guess_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KEY = 100 /* bytes; a number may be put behind it */ };

static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c & 0x80);
}

/* Letters, digits and single underscores; with `dots`, also single dots. */
static char *make_key(const char *name, bool dots) {
    const size_t length = strlen(name);
    char *key = calloc(1, length + 16);
    size_t used = 0;
    if (!key)
        return NULL;
    for (size_t i = 0; i < length && used < MOST_KEY; i++) {
        const bool dot = dots && name[i] == '.';
        if (is_plain(name[i]))
            key[used++] = name[i];
        else if (dot && used && key[used - 1] == '_')
            key[used - 1] = '.';
        else if (used && key[used - 1] != '_' && key[used - 1] != '.')
            key[used++] = dot ? '.' : '_';
    }
    while (used && !utf8_valid((const uint8_t *)key, used))
        used--; /* a character was torn */
    while (used && (key[used - 1] == '_' || key[used - 1] == '.'))
        used--;
    key[used] = '\0';
    return key;
}

bool guess_keys_collide(const char *one, const char *other) {
    const size_t a = strlen(one), b = strlen(other), shorter = a < b ? a : b;
    return strncmp(one, other, shorter) == 0 && (a == b || (a < b ? other : one)[shorter] == '.');
}

/* The column before this one whose key does not go with it; NULL: there is none. */
static guess_column_t *find_taken(const guess_t *guess, size_t before, const char *key) {
    for (size_t i = 0; i < before; i++)
        if (guess_keys_collide(guess->columns[i].key, key))
            return &guess->columns[i];
    return NULL;
}

/* Puts a number behind its key: the next one where others have the same, since thousands may have one name. */
static bool make_numbered(guess_t *guess, size_t at, guess_column_t *taken, err_t *err) {
    guess_column_t *column = &guess->columns[at];
    const size_t length = strlen(column->key);
    char *longer = calloc(1, length + 24);
    if (!longer)
        return err_memory(err, length);
    const bool same = strcmp(taken->key, column->key) == 0;
    size_t number = same && taken->numbered ? taken->numbered : 1;
    do
        snprintf(longer, length + 24, "%s_%zu", column->key, ++number);
    while (find_taken(guess, at, longer));
    taken->numbered = same ? number : taken->numbered;
    free(column->key);
    column->key = longer;
    return true;
}

static bool make_unique(guess_t *guess, size_t at, err_t *err) {
    guess_column_t *column = &guess->columns[at], *taken;
    column->numbered = 0;
    if (!column->key[0])
        snprintf(column->key, 16, "column_%u", (unsigned)at % 1000 + 1);
    while ((taken = find_taken(guess, at, column->key))) {
        char *dot = strchr(column->key, '.');
        if (!dot)
            return make_numbered(guess, at, taken, err);
        *dot = '_';
    }
    return true;
}

/* In UTF-8, without the blanks around it. */
static char *read_name(const guess_column_t *column, encoding_t encoding) {
    const char *text = column->text;
    size_t length = column->length;
    while (length && text[length - 1] == ' ')
        length--;
    while (length && *text == ' ')
        text++, length--;
    char *name = calloc(1, ENCODING_MOST_BYTES * length + 1);
    if (name && encoding_converts(encoding, (const uint8_t *)text, length))
        encoding_to_utf8(encoding, (uint8_t *)name, (const uint8_t *)text, length);
    else if (name)
        memcpy(name, text, length);
    return name;
}

/* The keys are made when it is known whether these are names. */
bool guess_name_columns(guess_t *guess, err_t *err) {
    const bool named = guess->header || guess->named_here;
    for (size_t i = 0; i < guess->structure.columns; i++) {
        guess_column_t *column = &guess->columns[i];
        free(column->key);
        if (!(column->key = make_key(named ? column->name : "", guess->options.nested)))
            return err_memory(err, MOST_KEY);
        if (strcmp(column->key, "_id") == 0)
            memmove(column->key, column->key + 1, strlen(column->key));
        if (!make_unique(guess, i, err))
            return false;
    }
    return true;
}

bool guess_read_names(guess_t *guess, err_t *err) {
    for (size_t i = 0; i < guess->structure.columns; i++) {
        guess_column_t *column = &guess->columns[i];
        free(column->name);
        if (!(column->name = read_name(column, guess->encoding)))
            return err_memory(err, column->length);
    }
    return true;
}
