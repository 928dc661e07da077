/* guess_options: what a person says of a guess, in the words of the command's options: for the command and the library. */
#ifndef TIPPLE_FORMAT_GUESS_GUESS_OPTIONS_H
#define TIPPLE_FORMAT_GUESS_GUESS_OPTIONS_H

#include "format/guess/guess.h"

/* options: a guess_options_t. False: the text is none of the option's words, the sentence lists them (status 1), and
 * nothing is changed. */
bool guess_options_bad_value(void *options, const char *text, err_t *err);
bool guess_options_with(void *options, const char *text, err_t *err); /* --with: "header=no" */
const char *guess_options_quote_word(char quote);                     /* as --with quote has it; 0: none */

/* Is this what --type can say? False: status 1. */
bool guess_options_type(const char *text, err_t *err);

/* They say nothing to a format that is given, but for --on-bad-value. types: those of --type, put into the options. */
bool guess_options_check(guess_options_t *options, char *const *types, size_t count, const char *format,
                         err_t *err);

#endif
