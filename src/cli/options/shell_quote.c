#include "cli/options/shell_quote.h"
#include "base/conceal.h"
#include "server/server.h"

void shell_quote_uri(text_t *line, const char *uri) {
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

void shell_quote_rest(text_t *line, const load_spec_t *load, bool direct) {
    if (!load->format)
        guess_options_quote(line, &load->guess);
    if (load->shard_key)
        shell_quote_option(line, "--shard-key", load->shard_key);
    if (direct)
        shell_quote_word(line, "--direct");
    for (size_t i = 0; i < load->filter_count; i++)
        shell_quote_option(line, "--filter", load->filters[i]);
    for (size_t i = 0; i < load->input_count; i++)
        shell_quote_word(line, load->inputs[i]);
}
