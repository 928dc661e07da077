#include "load/spec/retry_options.h"
#include "base/text.h"
#include "server/server.h"

#include <stdlib.h>

char *retry_options(const load_spec_t *spec, const char *namespace, err_t *err) {
    text_t line = {.length = 0};
    char *uri = address_to_paste(spec->uri, namespace, err);
    if (!uri)
        return NULL;
    shell_quote_option(&line, "--format", spec->format);
    shell_quote_option(&line, "--on-bad-value", load_spec_bad_value(spec));
    for (size_t i = 0; i < spec->filter_count; i++)
        shell_quote_option(&line, "--filter", spec->filters[i]);
    shell_quote_option(&line, "--uri", uri);
    free(uri);
    return text_take(&line, err);
}
