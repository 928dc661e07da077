/* man_files: the pages of the files that a user writes. */
#ifndef TIPPLE_CLI_PAGES_MAN_FILES_H
#define TIPPLE_CLI_PAGES_MAN_FILES_H

void man_print_formats(void);
void man_print_suites(void);

#endif
