/* Command lines that a user can paste into a shell. */
#include "base/conceal.h"
#include "cli/options/cli.h"
#include "server/server.h"

#include <stdlib.h>
#include <string.h>

char *paste_conceal(const char *text, const char *uri) {
    /* a secret may be shorter than its three stars */
    char *own = bson_malloc(strlen(text) + 4);
    address_t address;
    err_t ignored;
    strcpy(own, text);
    if (uri && address_parse(&address, uri, &ignored))
        address_free(&address); /* its secrets are known now */
    conceal_known(own);
    char *shown = text_concealed(own);
    bson_free(own);
    return shown;
}

/* The length of "--while", if the command has such an option and it takes a COMMAND; 0: it is another word. */
static size_t command_option(const command_t *command, const char *word) {
    const size_t length = strcspn(word, "=");
    for (const option_t *option = command->options; option && option->name; option++)
        if (option->argument && strcmp(option->argument, "COMMAND") == 0 &&
            length == strlen(option->name) + 2 && strncmp(word, "--", 2) == 0 &&
            strncmp(word + 2, option->name, length - 2) == 0)
            return length;
    return 0;
}

char *paste_again(const run_t *run, const char *uri) {
    text_t line = {.length = 0};
    text_append(&line, "tipple");
    shell_quote_word(&line, run->command->name);
    bool hidden = false; /* the next word */
    for (int i = 0; i < run->line_count; i++) {
        const char *word = run->line[i];
        const size_t name = hidden ? 0 : command_option(run->command, word);
        text_t shown = {.length = 0};
        if (name && word[name])
            text_print(&shown, "%.*s=(not shown)", (int)name, word);
        char *quoted = hidden         ? text_concealed("(not shown)")
                       : shown.length ? text_take_or_end(&shown)
                                      : paste_conceal(word, uri);
        hidden = name && !word[name];
        shell_quote_word(&line, quoted);
        free(quoted);
    }
    return text_take_or_end(&line);
}

/* A URI with a secret is not shown. */
static void put_uri(text_t *line, const char *uri) {
    address_t address;
    err_t err;
    bool secret = true;
    if (address_parse(&address, uri, &err)) {
        secret = conceal_finds(uri);
        address_free(&address);
    }
    if (secret)
        text_append(line, " --uri \"$TIPPLE_URI\"");
    else
        shell_quote_option(line, "--uri", uri);
}

char *paste_load(const load_spec_t *load, const char *more) {
    text_t line = {.length = 0};
    text_append(&line, "tipple load");
    shell_quote_option(&line, "--format", load->format);
    put_uri(&line, load->uri);
    text_append(&line, more);
    shell_quote_option(&line, "--create", load->create);
    shell_quote_option(&line, "--compressor", load->compressor);
    for (size_t i = 0; i < load->index_count; i++)
        shell_quote_option(&line, "--index", load->indexes[i]);
    shell_quote_option(&line, "--rejects", load->rejects);
    if (!load->format)
        guess_options_quote(&line, &load->guess);
    shell_quote_option(&line, "--shard-key", load->shard_key);
    if (load->direct)
        shell_quote_word(&line, "--direct");
    for (size_t i = 0; i < load->filter_count; i++)
        shell_quote_option(&line, "--filter", load->filters[i]);
    for (size_t i = 0; i < load->input_count; i++)
        shell_quote_word(&line, load->inputs[i]);
    return text_take_or_end(&line);
}
