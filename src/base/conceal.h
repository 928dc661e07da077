/* conceal: secrets in texts that leave the process, as ***. There are two rules.
 *
 * By shape: what looks like a login in any text (between USER: and @ of a URI, whatever stands around the URI, and even
 * where its end was cut off or it is none that could be used), like the options of a MongoDB URI, or like the value of
 * password= and its like. Every sentence, log line, report and JSON text goes through here, because a secret may stand
 * where nobody parses a URI: in a wrong option, in a suite, in a document. The options of a URI that was parsed and has
 * no secret among them are remembered, and stay.
 *
 * By value: the secrets of each URI that was parsed are remembered, and replaced in the words of the driver and of
 * servers and in command lines, which may hold them in any form. Our own words are not searched by value: a user `test`
 * with the password `test` and a database `test` would lose the names of his collections.
 *
 * Any thread may call. */
#ifndef TIPPLE_BASE_CONCEAL_H
#define TIPPLE_BASE_CONCEAL_H

#include <stdbool.h>
#include <stddef.h>

/* Changes the text in place. If it becomes too long for `room`, its end is cut off; if it fills the room, its end was
 * cut off before, and perhaps an @ with it. Returns the text. */
char *conceal(char *text, size_t room);

/* Is there a secret of a URI in it? True of all that `conceal` would change, except what may as well be a name: the
 * value of password= and its like, and what follows the colon of a URI that is not MongoDB's and has no @. */
bool conceal_finds(const char *text);

/* Remembers a secret for conceal_known; and options, without their ?, which conceal leaves as they are. False: memory is
 * out. */
bool conceal_remember(const char *secret, size_t length);
bool conceal_show_options(const char *options);

/* Replaces the secrets that are remembered in words of the driver or a server, in place; those of one or two bytes only
 * within a URI, which `conceal` does. */
void conceal_known(char *text);

#endif
