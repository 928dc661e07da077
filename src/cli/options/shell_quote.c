#include "cli/options/shell_quote.h"
#include "base/conceal.h"
#include "study/scratch.h"

#include <stdlib.h>

/* The scratch collection's without its tail. */
void shell_quote_uri(text_t *line, const char *uri, size_t routers, const char *wire, const char *concern) {
    address_t address;
    err_t err;
    char *own = scratch_uri(uri, SCRATCH_TUNE, routers, wire, concern, &err);
    char *tail = own ? strstr(own, SCRATCH_TUNE) : NULL;
    bool secret = true;
    if (own && address_parse(&address, own, &err)) {
        secret = address.secret_count > 0 || conceal_finds(own);
        address_free(&address);
    }
    if (secret || !tail) {
        text_append(line, " --uri \"$TIPPLE_URI\"");
    } else {
        for (char *next; (next = strstr(tail + 1, SCRATCH_TUNE));)
            tail = next;
        memmove(tail, tail + strlen(SCRATCH_TUNE), strlen(tail + strlen(SCRATCH_TUNE)) + 1);
        shell_quote_option(line, "--uri", own);
    }
    free(own);
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
