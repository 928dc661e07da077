/* Command lines that a user can paste into a shell. */
#include "base/conceal.h"
#include "cli/options/cli.h"
#include "server/server.h"

#include <stdlib.h>

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
