/* pages: help and man pages. A page is written once, by a walk over the rows of commands and options
 * (cmd_help.c), through a writer for its language (writers.c): text for a terminal, or roff for man. */
#ifndef TIPPLE_CLI_PAGES_PAGES_H
#define TIPPLE_CLI_PAGES_PAGES_H

#include <stdbool.h>

typedef struct {
    bool is_man;
    void (*title)(const char *name, const char *about); /* name: of a command; "": the overview */
    void (*usage)(const char *line);
    void (*heading)(const char *text, bool part); /* part: below another heading */
    /* Running text: `words` are bold where a page can have such, and an empty line begins a paragraph. */
    void (*text)(const char *text);
    void (*lines)(const char *text); /* as they are */
    /* Of a list: words, and what they mean, from this column on where columns count. */
    void (*entry)(const char *words, const char *means, int column);
} writer_t;

extern const writer_t terminal_writer, man_writer;

#endif
