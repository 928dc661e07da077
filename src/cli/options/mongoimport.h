/* mongoimport: the command line of a `tipple load` that does what a command line of mongoimport asks for. */
#ifndef TIPPLE_CLI_OPTIONS_MONGOIMPORT_H
#define TIPPLE_CLI_OPTIONS_MONGOIMPORT_H

/* The words after the command's name, as they were typed. To be freed; no password is in it. NULL: nothing there is
 * mongoimport's alone, or something there is not known here. */
char *mongoimport_as_load(int argc, char **argv);

#endif
