/* books: the documents behind a catalog, in and out of BSON, and what the parts of the catalog share. Only
 * catalog.c, catalog_files.c, extents.c and hold.c include this. */
#ifndef TIPPLE_TARGET_BOOKS_H
#define TIPPLE_TARGET_BOOKS_H

#include "target/catalog.h"
#include "target/position.h"

#define BOOKS_HEADER "catalog" /* _id of the one document that is not a file */
enum { BOOKS_DUPLICATE_KEY = 11000, BOOKS_STATEMENTS = 1000, BOOKS_COMMAND_BYTES = 8 << 20 };

struct catalog {
    server_t *server;
    mongoc_client_t *client;
    place_t place;
    char files[280]; /* the collection, without the database */
    bool read_only, starts;
    uint64_t next_extent, next_ordinal; /* as last read: MiB, files */
    bson_oid_t owner;                   /* the load that writes; all zeros: none yet */
    char process[25];
    char *filter; /* of the header */
    catalog_file_t **owned;
    size_t owned_count, owned_room;
};

/* A file's document, with what makes it the same file next time. */
typedef struct {
    catalog_file_t *file;
    uint64_t size;
    char digest[33]; /* hex; "" when the file has no identity */
    bool started, taken;
} book_t;

/* A file that belongs to the catalog; NULL with err. */
catalog_file_t *books_new_file(catalog_t *catalog, err_t *err);
bool books_add_extent(catalog_file_t *file, extent_t extent, err_t *err);

bool books_read_document(catalog_t *catalog, const bson_t *document, book_t *book, err_t *err);

/* {base, start, length}, under `key`. */
void books_append_extent(bson_t *to, const char *key, const extent_t *extent);
/* done, counts, blocks and complete of a part, as fields of `to`, whose names begin with `prefix`. */
void books_append_progress(bson_t *to, const char *prefix, const catalog_part_t *part, bool complete,
                           uint64_t blocks);
/* Where a part's fields stand in its file's document: "" or "parts.3." */
enum { BOOKS_PREFIX = 32 };
void books_prefix(const catalog_file_t *file, size_t part, char prefix[BOOKS_PREFIX]);

/* As many parts as a new file of this kind and size has; 0: it has no room. */
bool books_make_parts(catalog_file_t *file, size_t count, uint64_t windows, err_t *err);

/* All files, by ordinal. */
bool books_read_files(catalog_t *catalog, book_t **books, size_t *count, err_t *err);

/* Adds to the counters of extents and ordinals, and returns where they stood; overflow is refused. */
bool books_take(catalog_t *catalog, uint64_t extent_units, uint64_t ordinals, uint64_t *first_unit,
                uint64_t *first_ordinal, err_t *err);

/* Runs an update command with these statements ([{q, u, ...}]); all of them must match a document each, or
 * `expected` documents together. */
bool books_update(catalog_t *catalog, const bson_t *statements, uint64_t expected, err_t *err);
/* The same; how many did match is told. */
bool books_try_update(catalog_t *catalog, const bson_t *statements, uint64_t *matched, err_t *err);

/* Somebody has taken documents of the books away: always false. */
bool books_vanished(const catalog_t *catalog, err_t *err);

/* The documents of these files ({_id: {$in: ...}}); the caller frees *books, not what they hold. */
bool books_read_some(catalog_t *catalog, const bson_t *ordinals, book_t **books, size_t *count, err_t *err);

/* What a name is in the books: bytes that are not UTF-8 are spelled \xHH. Free it. */
char *books_name(const char *name);

#endif
