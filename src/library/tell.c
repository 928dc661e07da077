#include "library/tell.h"
#include "base/chars.h"
#include "base/conceal.h"
#include "base/log.h"

#include <string.h>

void library_words(char words[LIBRARY_WORDS], const char *text) {
    char concealed[sizeof((err_t *)NULL)->text];
    strncpy(concealed, text, sizeof concealed - 1);
    concealed[sizeof concealed - 1] = '\0';
    conceal(concealed, sizeof concealed);
    escape_lines(words, concealed, strlen(concealed));
}

/* What does not fit is left out, a whole character at a time: a long list of files may be cut. */
static void cut_to(char *to, size_t room, const char *words) {
    size_t length = strlen(words);
    if (length >= room)
        for (length = room - 1; length && ((unsigned char)words[length] & 0xC0) == 0x80;)
            length--;
    memcpy(to, words, length);
    to[length] = '\0';
}

bool library_tell(tipple_error_t *error, const err_t *err) {
    if (!error)
        return false;
    char words[LIBRARY_WORDS];
    error->status = (int)err->status;
    library_words(words, err->text);
    cut_to(error->text, sizeof error->text, words);
    return false;
}

bool library_no_memory(tipple_error_t *error, size_t bytes) {
    err_t err;
    err_memory(&err, bytes);
    return library_tell(error, &err);
}

bool library_misses(const void *given, const char *what, tipple_error_t *error) {
    err_t err;
    if (given)
        return false;
    err_set(&err, STATUS_USAGE, "%s is NULL", what);
    library_tell(error, &err);
    return true;
}

void library_be_silent(void) {
    log_set_level(LOG_SILENT);
}
