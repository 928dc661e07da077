#include "cli/options/again.h"
#include "base/conceal.h"
#include "base/text.h"
#include "cli/options/shell_quote.h"
#include "server/address.h"

#include <stdlib.h>
#include <string.h>

void again_keep(again_t *again, const command_t *command, int argc, char **argv) {
    *again = (again_t){.command = command->name, .words = bson_malloc((size_t)(argc + 1) * sizeof *argv)};
    for (; again->count < argc; again->count++)
        again->words[again->count] = argv[again->count];
}

void again_free(again_t *again) {
    bson_free(again->words);
    *again = (again_t){.words = NULL};
}

char *again_conceal(const char *text, const char *uri) {
    /* a secret may be shorter than its three stars */
    char *own = bson_malloc(strlen(text) + 4);
    address_t address;
    err_t ignored;
    strcpy(own, text);
    if (uri && address_parse(&address, uri, &ignored)) {
        address_conceal(&address, own);
        address_free(&address);
    }
    char *shown = text_concealed(own), *out = bson_strdup(shown);
    bson_free(own);
    free(shown);
    return out;
}

char *again_line(const again_t *again, const char *uri) {
    text_t line = {.length = 0};
    text_append(&line, "tipple");
    shell_quote_word(&line, again->command);
    for (int i = 0; i < again->count; i++) {
        char *word = again_conceal(again->words[i], uri);
        shell_quote_word(&line, word);
        bson_free(word);
    }
    return text_take_or_end(&line);
}
