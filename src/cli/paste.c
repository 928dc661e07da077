#include "cli/paste.h"

#include <string.h>

void paste_word(bson_string_t *line, const char *word) {
    const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:=,+@%";
    bson_string_append(line, " ");
    if (*word && strspn(word, plain) == strlen(word)) {
        bson_string_append(line, word);
        return;
    }
    bson_string_append(line, "'");
    for (; *word; word++)
        if (*word == '\'')
            bson_string_append(line, "'\\''");
        else
            bson_string_append_c(line, *word);
    bson_string_append(line, "'");
}

void paste_option(bson_string_t *line, const char *option, const char *value) {
    paste_word(line, option);
    paste_word(line, value);
}
