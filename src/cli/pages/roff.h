/* roff: texts of ours in the language of man pages. */
#ifndef TIPPLE_CLI_PAGES_ROFF_H
#define TIPPLE_CLI_PAGES_ROFF_H

/* "formats", 5, "..." begin tipple-formats(5); a name of "" begins tipple(1). */
void roff_title(const char *name, int section, const char *about);

/* Running text: what is between `` is bold, and an empty line begins a paragraph. */
void roff_text(const char *text);
/* Lines as they are. */
void roff_lines(const char *text);

/* An entry of a list: its words, bold up to a blank within each, then what they mean. */
void roff_entry(const char *words, const char *means);

#endif
