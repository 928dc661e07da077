/* build: a manifest while it is built: files are added, met twice, left out or set aside. walk.c goes through arguments and
 * folders, members.c and members_dump.c through what archives hold. */
#ifndef TIPPLE_INPUT_BUILD_H
#define TIPPLE_INPUT_BUILD_H

#include "input/archive/archive.h"
#include "input/decode/decoder.h"
#include "input/manifest.h"
#include "input/source.h"

#include <sys/stat.h>

typedef struct {
    dev_t device;
    ino_t inode;
    char *name; /* NULL: the slot is free */
} seen_t;

typedef struct {
    manifest_t *manifest;
    size_t room;
    uint8_t *scratch;
    bool quiet;               /* see manifest_options_t, */
    uint64_t keep_bytes;      /* too */
    spare_t peek;             /* for the first bytes of compressed files */
    source_kit_t *kit;        /* for compressed tars */
    const char *member;       /* the collection of a dump that the argument at hand names, or NULL */
    const char *target;       /* the collection that is loaded: chosen where none is named; or NULL */
    dump_list_t dump;         /* below the argument at hand */
    bool every_collection;    /* see manifest_options_t, */
    dump_list_t *collections; /* too */
    source_kit_t *heads;      /* for the first bytes of other archives' members */
    seen_t *seen;             /* open addressing, at most half full */
    size_t seen_count, seen_room;
    err_t *err;
} build_t;

/* Adds a place for one more file, with its path and name; the caller fills in the rest. Takes ownership of name. */
input_file_t *build_add(build_t *build, const char *path, char *name);

/* Takes the last one out of the list: it is an archive, not an input. */
input_file_t *build_set_aside(build_t *build);

/* Keeps the bytes of a small file, all of which are in the scratch. */
bool build_keep(build_t *build, input_file_t *file);

/* Notes a file by device and inode; *is_new: it was not noted before. */
bool build_meet(build_t *build, const struct stat *status, const char *name, bool *is_new);

/* Tells where the only collection of a dump is taken, and the URI names another one. */
void build_tell_only(const build_t *build, const char *argument, const dump_list_t *dump);

/* The path as it is shown to people; NULL: out of memory. */
char *build_shown(const char *path);

/* Reports that a file is left out. A folder may contain thousands of them: only the first ones are named, the rest only
 * with -v. */
void build_skip(build_t *build, const char *path, const char *why);

/* For a reject file as the last file: it is left out if it was found; if it was named, that may be a mistake. */
bool build_leave_out_rejects(build_t *build, bool found);

void build_free(build_t *build); /* all but the manifest */

/* Adds the members of an archive in its place. The members of a tar point to it. */
bool archive_add_zip(build_t *build, int fd, input_file_t *zip);
bool archive_add_tar(build_t *build, int fd, input_file_t *tar);

/* Adds one collection of an archive of mongodump. */
bool archive_add_dump(build_t *build, int fd, input_file_t *dump);

/* ---- dump_folder.c: folders that mongodump has written ---- */

/* True if there is metadata among the names of a folder's files. */
bool dump_folder_is(char *const *names, size_t count);

/* Of the sorted names in a zip or tar: documents next to their metadata; NULL: none. */
const char *dump_folder_packed(char *const *sorted, size_t count);

/* Takes a file of a folder into build->dump, or skips it with a note. is_dump: dump_folder_is of the folder; else only
 * files of BSON are taken. *other: neither was done; it is no part of a dump. */
bool dump_folder_take(build_t *build, bool is_dump, const char *path, bool *other);

/* Why a file of an input is left out: mongodump puts it next to the folders of databases; or by its name it is a
 * collection that tipple itself keeps. NULL: neither. */
const char *dump_folder_beside(const char *name);
const char *dump_folder_own(const char *name);

/* Of build->dump: moves all to build->collections; or finds the one to be taken (*chosen, a path): the target, or the only
 * one, unless the target is one without documents. */
bool dump_folder_list(build_t *build, const char *argument);
bool dump_folder_choose(build_t *build, const char *argument, const char **chosen);

/* *text: the metadata next to a .bson file, as JSON, which the caller frees; NULL: there is none. False: it is there, and
 * cannot be read. */
bool dump_folder_metadata(const char *path, char **text, err_t *err);

#endif
