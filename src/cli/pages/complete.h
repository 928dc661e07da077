/* complete: what can stand at the end of a command line, from the tables that it is read by. */
#ifndef TIPPLE_CLI_PAGES_COMPLETE_H
#define TIPPLE_CLI_PAGES_COMPLETE_H

#include <stddef.h>

/* words: those after `tipple`, at least one; the last one is what has been typed of the word that is looked for.
 * Prints a line for each that can stand there, with what it means after a tab; ":files" if names of files can. */
void complete_words(char **words, size_t count);

#endif
