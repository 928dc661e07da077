/* dump_list: the collections of which a dump of mongodump holds documents, be it an archive or a folder. */
#ifndef TIPPLE_INPUT_ARCHIVE_DUMP_LIST_H
#define TIPPLE_INPUT_ARCHIVE_DUMP_LIST_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Begins as {0}. */
typedef struct {
    struct {
        char *name; /* "db.collection" */
        char *with; /* the owner's: of an archive its metadata, of a folder the path of its file; or NULL */
    } * items;
    size_t count, room;
    bool
        unsure; /* some are files without metadata beside them: each is a collection, or they are parts of one */
    const char *why_target_empty; /* of a folder: why the wanted one has no documents; or NULL */
} dump_list_t;
void dump_list_free(dump_list_t *list);

/* Takes ownership of name and with; name may be NULL where memory was out. */
bool dump_list_add(dump_list_t *list, char *name, char *with, err_t *err);

/* Takes it out, if it is there; the others may change places. */
void dump_list_remove(dump_list_t *list, const char *name);

/* Where it is; list->count: nowhere. */
size_t dump_list_find(const dump_list_t *list, const char *name);

/* "a, b and 3 more", which the caller frees. */
char *dump_list_names(const dump_list_t *list, err_t *err);

/* Of the metadata: is it a view? Those of older mongodumps have no type. */
bool dump_list_is_view(const char *metadata);

/* Why a dump has no documents of a collection of this type, as its metadata names it; NULL: it has them. A clause. */
const char *dump_list_why_empty(const char *type);

/* Why one is left out: it is */
extern const char *const dump_list_of_server, *const dump_list_of_tipple;
/* which a name like "admin.c", "config.c" or "db.system.c" tells; or it is tipple's own, and not the one that is wanted (or
 * NULL). NULL: it is data. */
const char *dump_list_why_left_out(const char *name, const char *wanted);

#endif
