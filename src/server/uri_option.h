/* uri_option: which options of a MongoDB URI the driver in use knows. Any other is ignored by it, but for a line in its log:
 * with a misspelled tls=true everything would be sent in the clear. Any thread. */
#ifndef TIPPLE_SERVER_URI_OPTION_H
#define TIPPLE_SERVER_URI_OPTION_H

#include "base/text.h"

#include <stdbool.h>

/* Upper and lower case are the same. */
bool uri_option_is_known(const char *name);

/* May its value be shown? True of the usual ones that hold no secret. */
bool uri_option_is_open(const char *name, size_t length);

/* The option that was meant, of those that are known, as the end of a sentence. */
suggestion_t uri_option_meant(const char *name);

#endif
