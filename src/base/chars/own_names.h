/* own_names: the names of the collections that tipple itself makes next to a collection of data, NAME: each is NAME and one of
 * these ends. Whoever makes another one adds it here. Any thread. */
#ifndef TIPPLE_BASE_CHARS_OWN_NAMES_H
#define TIPPLE_BASE_CHARS_OWN_NAMES_H

#include <stdbool.h>

#define OWN_FILES ".tipple.files"
#define OWN_LOADS ".tipple.loads"
#define OWN_TRY   ".tipple.try" /* there for a moment */
/* Scratch collections have a dot and an identifier after these. They are loaded into as others are, and have a catalog of
 * their own: */
#define SCRATCH_TUNE  ".tipple.tune"
#define SCRATCH_DRILL ".tipple.drill"

/* What is kept in a collection of this name (without the database), for people, such as "a load's catalog"; NULL: it is one
 * that can be loaded into. */
const char *own_names_kept(const char *collection);

/* Is it one of tipple's own, kept or scratch? */
bool own_names_has(const char *collection);

#endif
