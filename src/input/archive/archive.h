/* archive: what several files are packed in, and how each of them is found: tar, zip, and what mongodump writes.
 *
 * An archive is no input itself: the manifest takes its members, or one collection of it, in its place (members.c). Here is
 * how their places are found, and how a zip's member and a dump's collection become text again (decoder.h).
 *
 * tar: headers one after the other, from a feed, so also from within a compressed file. Old v7 tars, ustar, GNU (long names,
 * large numbers) and pax are known. Folders, and headers that only describe others, are not shown.
 *
 *     header 512   body, padded to 512   header   body   …   two blocks of zeros   [zeros]
 *
 * zip: a directory at the end, which says where each member's data is. zip64, comments, and data before the first member
 * (self-extractors) are known.
 *
 *     [data before]  member  member  …  directory  [zip64 end, its locator]  end  [comment]
 *
 * An archive of mongodump (`--archive`) is one file in which the collections take turns; -1 is four bytes ff:
 *
 *     6d e2 99 81   facts  {db, collection, metadata, type}...  -1       the list of what it holds
 *     {db, collection, EOF: false, CRC: 0}  documents...  -1             a block: some documents of one collection
 *     {db, collection, EOF: true, CRC}  -1                               its end; the CRC-64 is of all its documents
 *
 * Each collection of the list has an end, also a view and a time series.
 *
 * A folder of mongodump has a folder of each database, and there NAME.bson (or .bson.gz) and NAME.metadata.json (or
 * .json.gz) of each collection. Metadata is JSON: options, indexes, the collection's name, and its type.
 *
 * Both dumps come down to collections, which are inputs. One is taken: the one that the argument or the URI names, or the
 * only one. A load whose URI names no collection lists them, and loads each by itself. The server's own collections,
 * tipple's catalogs, and views and time series, of which a dump holds no documents, are left out of the list with a note.
 *
 * An archive that is cut off, broken or divided, or that another one follows, is an error with status 5 and its place. Tars
 * and lists belong to one thread; zip_* may be called from any. */
#ifndef TIPPLE_INPUT_ARCHIVE_ARCHIVE_H
#define TIPPLE_INPUT_ARCHIVE_ARCHIVE_H

#include "input/decode/feed.h"
#include "input/file/input_file.h"

#include <stdint.h>

typedef struct {
    const char *name; /* of a zip's not terminated; of a tar's not cleaned, and valid until the next call */
    size_t length;
    /* a clause that says what it is, if it is not a file (a link, for example); NULL: a file */
    const char *no_file;
    uint64_t from, size; /* its bytes in the archive */
    uint16_t flags;      /* of a zip's; as is where its text is described */
    zip_place_t place;
} archive_entry_t;

typedef bool archive_visit_t(void *context, const archive_entry_t *entry, err_t *err);

/* ---- tar ---- */

enum { TAR_BLOCK = 512 };

/* Does a tar begin with these TAR_BLOCK bytes? */
bool tar_begins(const uint8_t *block);

/* Calls `visit` for each entry of the tar with which the feed begins; it may read on, up to the end of the entry. False: the
 * tar is cut off, broken, or contains something that cannot be read, status 5. */
bool tar_list(feed_t *feed, archive_visit_t *visit, void *context, err_t *err);

/* ---- zip ---- */

enum { ZIP_STORED = 0, ZIP_DEFLATE = 8, ZIP_DEFLATE64 = 9, ZIP_ZSTD = 93 };

/* Calls `visit` for every entry, in the order of the directory. A broken or divided archive is an error, status 5,
 * and so are several in one file. */
bool zip_list(const origin_t *origin, uint64_t size, const char *name, archive_visit_t *visit, void *context,
              err_t *err);

/* Can the member be decoded? If not, the sentence says why. */
bool zip_can_read(const archive_entry_t *entry, const char *member_name, err_t *err);

/* ---- dumps: collections ---- */

/* Reasons to leave a collection out, as clauses. dump_why_left_out finds the first by names like "admin.c", "config.c" or
 * "db.system.c", the second by names of tipple's own collections, except the wanted one (or NULL). NULL: it is data. */
extern const char *const dump_of_server, *const dump_of_tipple;
const char *dump_why_left_out(const char *name, const char *wanted);

/* ---- dumps: metadata ---- */

typedef struct {
    char name[256];        /* of the collection, without its database; "": not known */
    const char *why_empty; /* a clause: why a dump has no documents of it; NULL: it has */
    bool capped;
    bool has_indexes; /* mongodump always writes this key */
} dump_metadata_t;

/* json: NULL, or no JSON, says nothing. type: what the list of an archive calls it; or NULL. False: memory is out. */
bool dump_metadata_read(const char *json, const char *type, dump_metadata_t *metadata, err_t *err);

/* ---- dumps: archives; decoder_dump reads the documents of a collection ---- */

#define DUMP_MAGIC "\x6d\xe2\x99\x81"
enum { DUMP_MAGIC_BYTES = sizeof DUMP_MAGIC - 1, DUMP_NAME = 512 /* a namespace has 255 bytes at most */ };
static const uint32_t dump_terminator = 0xffffffff;

typedef struct {
    char name[DUMP_NAME]; /* "db.collection"; of what belongs to no database ".collection" */
    bool ends;            /* EOF */
    uint64_t crc;
    const char *type, *metadata; /* within the document; NULL: none */
} dump_header_t;

/* Reads the document that describes a collection or begins a block. False: it is another one. */
bool dump_header_read(const uint8_t *document, uint32_t length, dump_header_t *header);

/* Reads the list with which an archive begins, and calls `visit` for each of its collections. Where the feed fails, the sentence
 * is feed->fault, else *err. */
typedef bool dump_visit_t(void *context, const dump_header_t *header, err_t *err);
bool dump_read_list(feed_t *feed, dump_visit_t *visit, void *context, err_t *err);

#endif
