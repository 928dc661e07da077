/* dump_folder: a folder that mongodump has written: which of its collections is taken, and what its metadata says. A file of
 * BSON in any folder may be a collection of a dump whose metadata is gone. */
#ifndef TIPPLE_INPUT_DUMP_FOLDER_H
#define TIPPLE_INPUT_DUMP_FOLDER_H

#include "input/archive/dump_list.h"

/* Is there metadata among the names of a folder's files? */
bool dump_folder_is(char *const *names, size_t count);

/* Of the names in an archive, sorted: documents beside which their metadata are; NULL: none. Nobody reads them there. */
const char *dump_folder_packed(char *const *sorted, size_t count);

/* Why a file of a folder, with (is) or without such metadata, is left out, or added to the list, with its path. target:
 * "db.collection", or NULL. *why: a clause, "" if nobody needs to know it; NULL: it was added, or it is no part of a dump
 * (*other). */
bool dump_folder_see(dump_list_t *dump, bool is, const char *folder, const char *name, const char *target,
                     const char **why, bool *other, err_t *err);

/* Is it, by its name, what mongodump made of a collection that is tipple's own? */
bool dump_folder_is_own_file(const char *name);

/* Why a file is left out that mongodump puts beside the folders of databases; NULL: it is none of those. */
const char *dump_folder_beside(const char *name);

/* The one to be taken: the target ("db.collection", or NULL), or the only one, if the target is none that has no documents.
 * NULL: there is none, with the sentence. */
const char *dump_folder_choose(const dump_list_t *dump, const char *argument, const char *target, err_t *err);

/* All of them, behind what is in the list already. */
bool dump_folder_all(dump_list_t *dump, const char *argument, dump_list_t *to, err_t *err);

/* *text: the metadata beside a .bson file, as JSON, which the caller frees; NULL: there is none. False: it is there, and
 * cannot be read. */
bool dump_folder_metadata(const char *path, char **text, err_t *err);

#endif
