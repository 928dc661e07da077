/* out: the one way of texts to stdout, as log.h is to stderr. What comes from data, servers, names and files does not
 * reach a terminal as it is: its control characters are escaped, and secrets in it are ***. Main thread.
 * tests/core/test_stdout.py holds everybody else to it. */
#ifndef TIPPLE_BASE_OUT_H
#define TIPPLE_BASE_OUT_H

#include <stddef.h>

/* As printf, without %n and %p; whatever a %s or %c stands for is shown on one line. */
void out_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A text of ours that may hold theirs: its line ends stay. */
void out_lines(const char *text);

/* What somebody asked for as it is: records, documents, files. */
void out_bytes(const void *bytes, size_t length);

#endif
