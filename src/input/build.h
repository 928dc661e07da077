/* build: a manifest while it is built, for the files of this folder only.
 *
 * Each argument is walked by one recursion: a pattern gives paths, a folder gives the files in it, an archive gives its members,
 * and a file or a stream is an input. Every input is added at the end of manifest->files; whatever proves not to be one is taken
 * out again: an archive (its members point to it from manifest->archives), a reject file, a collection of a dump that is not
 * chosen.
 *
 *     walk.c      arguments, patterns, folders, files
 *     identify.c  what a file is: kind, digest, the most text that it can hold
 *     members.c   the members of a zip or a tar, and the collections of an archive of mongodump
 *     dumps.c     which inputs are collections of a dump (input_file_t.collection), and which one of them is taken
 *     manifest.c  the list itself, and what is noted when something is left out
 *
 * All of it belongs to the one thread that builds. */
#ifndef TIPPLE_INPUT_BUILD_H
#define TIPPLE_INPUT_BUILD_H

#include "input/archive/archive.h"
#include "input/magic.h"
#include "input/manifest.h"
#include "input/source.h"

#include <dirent.h>
#include <sys/stat.h>

/* What one thread identifies files with. */
typedef struct {
    source_kit_t kit; /* reads compressed archives, and the first bytes of what else is compressed */
    uint8_t text[INPUT_HEAD_MOST]; /* of the last of the latter */
    input_head_t head;   /* of the last file, in memory that stays valid until the next one; or none */
    uint64_t keep;       /* manifest_options_t.keep */
    int64_t patience_ns; /* for objects */
    err_t *err;
} identifier_t;

/* A file that another thread has identified. */
typedef struct {
    input_file_t file; /* without its names */
    magic_is_t is;
    bool known; /* false: it could not be read, or is no file */
    input_head_t head;
    uint8_t text[INPUT_HEAD_MOST];
} identified_t;

typedef struct {
    manifest_t *manifest;
    const manifest_options_t *options;
    size_t room;
    size_t archive_room;
    identifier_t own;
    identified_t *identified; /* the file that is added next, if another thread has identified it; or NULL */
    void *seen;               /* a tree (tsearch) of the files and folders that were met */
    const char *member;       /* the collection of an archive that the argument at hand names, or NULL */
    bool several;             /* an argument is a folder or a pattern, which may stand for several files */
    bool unsure;              /* of the argument at hand: some files are BSON without metadata, in folders */
    const char *why_none;     /* of the same: why the wanted collection has no documents; or NULL */
    err_t *err;
} build_t;

/* ---- manifest.c ---- */

/* Adds a place for one more file; the caller fills in the rest. The name is taken over; NULL: memory was out. */
input_file_t *build_add(build_t *build, const char *path, char *name);

/* Takes the name over. */
void build_rename(input_file_t *file, char *name);

/* The file keeps the head of what was identified last, if there is room. */
void build_keep_head(build_t *build, input_file_t *file);

/* Notes a file or folder by device and inode; *is_new: it was not noted before. */
bool build_meet(build_t *build, const struct stat *status, const char *name, bool *is_new);

/* Removes a file, which may then be named again. */
void build_remove(build_t *build, size_t at);

/* Takes the last one out of the list: it is an archive, not an input. */
input_file_t *build_set_aside(build_t *build);

/* Removes files from a place on; why_not says why one is left out, or NULL. */
typedef const char *build_why_fn(const build_t *build, const input_file_t *file);
void build_leave_out(build_t *build, size_t from, build_why_fn *why_not);

/* Reports that a file is left out. A folder may contain thousands of them: only the first ones are named, the rest only
 * with -v. */
void build_skip(build_t *build, const char *path, const char *why);

/* For a reject file as the last file: it is left out if it was found; if it was named, that may be a mistake. */
bool build_leave_out_rejects(build_t *build, bool found);

/* ---- walk.c ---- */

/* Adds what is under a path. in_walk: it was found, not named. */
bool walk_path(build_t *build, const char *path, bool in_walk);

/* ---- identify.c ---- */

/* Opens a regular file, once, and sets all that identifies it, and by->head. *is: what it is, or what is in it if that
 * is compressed, and an archive or a reject file. The caller closes the origin, also after a failure. path: also the
 * URL of an object, which is seen. */
bool identify_file(identifier_t *by, const char *path, origin_t *origin, input_file_t *file, magic_is_t *is);

/* What stands for an object where files are distinguished by device and inode. */
struct stat identify_object(const char *url);
struct stat identify_status(const input_file_t *file); /* the same of a file that was identified */

/* Identifies the files under these paths, in several threads. Those that it cannot identify are not `known`. False: a server of
 * objects cannot be reached, as *like->err says. */
bool identify_ahead(const identifier_t *like, char *const *paths, identified_t *files, size_t count);
void identify_forget(identified_t *one); /* unless it was taken */

/* *is: what the text of a compressed file or member begins as; text where it cannot be read. Where that is UTF-16, the bound is
 * raised. Sets by->head. origin: of the file that it is in. False: this host is short of something. */
bool identify_text(identifier_t *by, const origin_t *origin, input_file_t *file, magic_is_t *is);

/* Sets kind, ends of lines, text bound and by->head by the first bytes of a file or of a tar's member. origin: of that file or
 * tar; of a compressed tar none. */
bool identify_head(identifier_t *by, const origin_t *origin, input_file_t *file, const uint8_t *head,
                   size_t size, magic_place_t place, magic_is_t *is);

/* All but its digest. */
void identify_zip_member(const archive_entry_t *entry, input_file_t *file);

/* ---- members.c ---- */

/* Adds what an archive holds, which was set aside. */
bool members_add(build_t *build, const origin_t *origin, input_file_t *archive, magic_is_t is);

/* ---- dumps.c ---- */

/* True if there is metadata of mongodump among the names of a folder's files. */
bool dumps_are_in(struct dirent *const *names, int count);

/* Adds a file of a folder, if it is an input. is_dump: dumps_are_in of its folder. */
bool dumps_take(build_t *build, bool is_dump, const char *path);

/* True if there are both documents and metadata of mongodump among these files. */
bool dumps_are_packed(const input_file_t *files, size_t count);

/* Notes that a collection of a dump (name: of its member or file; collection: "db.collection") has no documents there. */
void dumps_note_none(build_t *build, const char *name, const char *collection, const char *why);

/* Of an argument's collections, which are files from a place on, in folders or in one archive: leaves only the one that is to
 * be taken, if not all are: the one that is named, the target, or the only one, unless the target is one without documents. */
bool dumps_choose(build_t *build, size_t from, bool in_archive, const char *argument);

/* Why a file is left out: its name is that of a collection that tipple itself keeps. NULL: it is not. */
const char *dumps_own(const build_t *build, const input_file_t *file);

/* *text: the metadata next to a .bson file, as JSON, which the caller frees; NULL: there is none. False: it is there, and
 * cannot be read. */
bool dumps_metadata(const char *path, char **text, err_t *err);

#endif
