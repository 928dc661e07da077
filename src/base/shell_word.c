#include "base/shell_word.h"

#include <stdio.h>

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
