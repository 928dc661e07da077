/* manifest: which files a load reads, in which order, and how each is recognised the next time. Built once by the
 * command's thread, read-only afterwards. */
#ifndef TIPPLE_INPUT_MANIFEST_H
#define TIPPLE_INPUT_MANIFEST_H

#include "base/err.h"
#include "input/archive/archive.h"
#include "input/file/input_file.h"

#include <stdint.h>

typedef struct {
    input_file_t *files;
    size_t count;
    input_file_t **archives; /* tars of which files are members, and zips */
    size_t archive_count;
    /* resource forks, hidden files and reject files: notes named the first twenty, and the rest with -v */
    size_t skipped;
    bool passes_bad; /* a file that cannot be read is passed over here, and is a misfit later */
    size_t without;  /* views and time series of a dump, which were left out */
    uint8_t *heads; /* the bytes of each input_file_t.head; their pages cost no memory before they are used */
    size_t heads_used, heads_room;
} manifest_t;

typedef struct {
    bool quiet; /* no messages about what is left out */
    /* --input-name: the name by which the one stream, or the one file, is recognised; NULL if not given */
    const char *input_name;
    const int *pushed; /* the one input is what this descriptor gives, under that name; or NULL */
    /* "db.collection": what is taken of a dump of several where none is named; or NULL */
    const char *target;
    bool every_collection; /* of a dump is taken, */
    bool lists;            /* or each but the server's own */
    bool keeps_bad; /* an argument or a file that is refused with status 5 is an input with that fault */
    /* Bytes of memory for the beginnings of texts, which sources of a kit that `looks` then give out without opening
     * the file again. 0: none is kept. */
    uint64_t keep;
    int64_t patience_ns; /* for how long a server of objects may not answer; 0: a minute */
} manifest_options_t;

/* args: files, folders (read by name; hidden files and reject files are left out), patterns that the shell left
 * unexpanded, "-". A zip or a tar (compressed or not) is replaced by its members, an archive of
 * mongodump by one of its collections, which may be named: "FILE!db.collection". A file that is named twice is taken
 * once, with a note. Status 1 if a reject file itself is named, compressed or not; one in a folder or an archive is left
 * out. Status 5 if there is no file, a file is missing or cannot be read, or an archive is broken. Nothing has been
 * changed then. A compressed tar must be read once to its end for this; a signal stops that. */
bool manifest_build(manifest_t *manifest, char *const *args, size_t count, const manifest_options_t *options,
                    err_t *err);

/* Where the format names an encoding that iconv knows (else NULL, and nothing happens): the text of all inputs is converted
 * from it to UTF-8. Before they are read; the name must live as long as the manifest. */
bool manifest_decode(manifest_t *manifest, const char *encoding); /* true */

/* Are some of its inputs objects that URLs name? */
bool manifest_has_objects(const manifest_t *manifest);

/* Frees the beginnings that were kept, except those that are whole texts, of the first files: no source may use the others
 * any more. */
void manifest_forget_heads(manifest_t *manifest);

/* The digest that a file on disk (not a member or a stream) would have if it ended after `size` bytes: to find out
 * whether it is an older file that has grown. */
bool manifest_digest_at(const input_file_t *file, uint64_t size, uint64_t digest[2], err_t *err);

/* The digest that the member of a zip or a tar has by this name, or would have by another one. */
void manifest_digest_as(const input_file_t *file, const char *member, uint64_t digest[2]);

void manifest_free_file(input_file_t *file); /* frees what it holds */
void manifest_free(manifest_t *manifest);

#endif
