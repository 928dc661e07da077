#include "library/tell.h"
#include "base/log.h"

#include <string.h>

bool library_tell(tipple_error_t *error, const err_t *err) {
    if (!error)
        return false;
    error->status = (int)err->status;
    memcpy(error->text, err->text, sizeof error->text);
    error->text[sizeof error->text - 1] = '\0'; /* a long list of files may be cut */
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
