/* conceal: passwords in texts that leave the process, as ***: what is between USER: and @ of a URI, whatever is
 * around it and even where its end was cut off or it is none that could be used, and the value of options such as
 * tlsCertificateKeyFilePassword=. Every sentence, log line, report and JSON text goes through here. Any thread. */
#ifndef TIPPLE_BASE_CONCEAL_H
#define TIPPLE_BASE_CONCEAL_H

#include <stdbool.h>
#include <stddef.h>

/* In place; what has no room any more is cut off at the end. Returns the text. */
char *conceal(char *text, size_t room);

/* Is there a whole URI with a password in it? */
bool conceal_finds(const char *text);

#endif
