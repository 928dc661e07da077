#include "cli/again.h"
#include "cli/paste.h"
#include "target/address.h"

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

/* "://USER:PASSWORD@", wherever it stands: of another server than the target, as in --while. */
static void conceal_others(const char *text, bson_string_t *out) {
    for (const char *next; (next = strstr(text, "://")); text = next) {
        next += 3;
        const size_t authority = strcspn(next, "/ \t\n'\"");
        const char *at = memrchr(next, '@', authority);
        const char *colon = at ? memchr(next, ':', (size_t)(at - next)) : NULL;
        if (colon) {
            bson_string_append_printf(out, "%.*s:***", (int)(colon - text), text);
            next = at;
        } else {
            bson_string_append_printf(out, "%.*s", (int)(next - text), text);
        }
    }
    bson_string_append(out, text);
}

char *again_conceal(const char *text, const char *uri) {
    bson_string_t *out = bson_string_new(NULL);
    char *own = bson_malloc(strlen(text) + 4);
    address_t address;
    err_t ignored;
    strcpy(own, text);
    if (uri && address_parse(&address, uri, &ignored)) {
        address_conceal(&address, own);
        address_free(&address);
    }
    conceal_others(own, out);
    bson_free(own);
    return bson_string_free(out, false);
}

char *again_line(const again_t *again, const char *uri) {
    bson_string_t *line = bson_string_new("tipple");
    paste_word(line, again->command);
    for (int i = 0; i < again->count; i++) {
        char *word = again_conceal(again->words[i], uri);
        paste_word(line, word);
        bson_free(word);
    }
    return bson_string_free(line, false);
}
