/* conceal: secrets in texts that leave the process, as ***: what is between USER: and @ of a URI, whatever is around it
 * and even where its end was cut off or it is none that could be used; of the options of a MongoDB URI all but those
 * that are known to be harmless; and the value of password= and its like anywhere. Every sentence, log line, report and
 * JSON text goes through here. Any thread. */
#ifndef TIPPLE_BASE_CONCEAL_H
#define TIPPLE_BASE_CONCEAL_H

#include <stdbool.h>
#include <stddef.h>

/* Changes the text in place. If it becomes too long for `room`, its end is cut off. Returns the text. */
char *conceal(char *text, size_t room);

/* The same of a text whose end was cut off, and perhaps an @ with it: nothing behind USER: of such a URI is shown. `conceal`
 * does so where a text fills its room. */
void conceal_cut_off(char *text);

/* Is there a secret of a URI in it? True of all that `conceal` would change, but for what may as well be a name: the
 * value of password= and its like, and what is behind the colon of a URI that is not MongoDB's and has no @. */
bool conceal_finds(const char *text);

/* How much of one option of a URI ("tls=true") may be shown: all of it, its name and the =, or nothing (0). */
size_t conceal_shown_of_option(const char *option, size_t length);

#endif
