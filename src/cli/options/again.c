#include "cli/options/again.h"
#include "base/conceal.h"
#include "base/text.h"
#include "cli/options/shell_quote.h"
#include "server/server.h"

#include <stdlib.h>
#include <string.h>

void again_keep(again_t *again, const command_t *command, int argc, char **argv) {
    *again = (again_t){.command = command, .words = bson_malloc((size_t)(argc + 1) * sizeof *argv)};
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
    if (uri && address_parse(&address, uri, &ignored))
        address_free(&address); /* its secrets are known now */
    conceal_known(own);
    char *shown = text_concealed(own), *out = bson_strdup(shown);
    bson_free(own);
    free(shown);
    return out;
}

/* The length of "--while", where that option takes a COMMAND, as one of a command's own can; 0: it is another word. */
static size_t command_option(const command_t *command, const char *word) {
    const size_t length = strcspn(word, "=");
    for (const option_t *option = command->options; option->name; option++)
        if (option->argument && strcmp(option->argument, "COMMAND") == 0 &&
            length == strlen(option->name) + 2 && strncmp(word, "--", 2) == 0 &&
            strncmp(word + 2, option->name, length - 2) == 0)
            return length;
    return 0;
}

char *again_line(const again_t *again, const char *uri) {
    text_t line = {.length = 0};
    text_append(&line, "tipple");
    shell_quote_word(&line, again->command->name);
    bool is_command = false;
    for (int i = 0; i < again->count; i++) {
        const size_t name = is_command ? 0 : command_option(again->command, again->words[i]);
        char *word = is_command ? bson_strdup("(not shown)")
                     : name     ? bson_strdup_printf("%.*s=(not shown)", (int)name, again->words[i])
                                : again_conceal(again->words[i], uri);
        is_command = name && !again->words[i][name];
        if (is_command)
            word[name] = '\0';
        shell_quote_word(&line, word);
        bson_free(word);
    }
    return text_take_or_end(&line);
}
