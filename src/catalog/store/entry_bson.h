/* entry_bson: an entry as a document of NAME.tipple.files, and back. Any thread.
 *
 *   {_id: <ordinal>, key, path, follows, kind, registeredBy, removed, heirs, remains, version, outgrown,
 *    names: {<its hash>: <another path>}, (only if there are any)
 *    versions: [{number (only if it is not its slot), size, digest, modified, completed,
 *                torn: {offset, length, hash}}],
 *    extents: [{base, start, length}],
 *    fixes: {<offset>-<hash of the reject>: {hash, confirmed, generation, noted: {<hash>: true}}},
 *    pieces: [{from, owner, epoch, generation, complete, unsafe, done: [[from, to, hash], ...],
 *              read, loaded, already, rejected, filtered, corrected, replaced, kept,
 *              tail: {from, to, hash, read, ...}, rejects: <offset and hash, 8 bytes each, little endian>}]}
 *
 * Hashes in keys have 16 hexadecimal digits, offsets are decimal. A field that is 0 or false may be missing. */
#ifndef TIPPLE_CATALOG_STORE_ENTRY_BSON_H
#define TIPPLE_CATALOG_STORE_ENTRY_BSON_H

#include "catalog/store/store.h"

#include <bson/bson.h>

/* ---- tables ---- */

/* A field of a struct, and how a document has it. Tables of them, which end with a row of zeros, read, check and write
 * the struct. */
typedef struct {
    const char *key;
    enum {
        STORED_WHOLE, /* uint64_t, or an int64_t that is not negative */
        STORED_SMALL, /* uint32_t */
        STORED_INT,   /* int32_t that is not negative */
        STORED_HASH,  /* uint64_t or int64_t; uses all 64 bits */
        STORED_BOOL,
        STORED_LOAD, /* load_id_t; null: no load */
        STORED_TEXT, /* char *, which the struct owns */
    } kind;
    size_t at;   /* in the struct */
    bool needed; /* is written even if it is 0, so it is always there */
} stored_t;

/* Reads the fields that come after an iterator; unknown ones are left out. *odd, which begins as "": the key of the
 * first field that tipple would write differently, or has not written at all. False: memory is out. */
bool stored_take(bson_iter_t *fields, const stored_t *table, void *to, const char **odd, err_t *err);

/* Reads a number that we can write back as the server has it: whole, and from 0 to `most`; 0: it is another one. */
bool entry_whole(const bson_iter_t *iter, uint64_t most, uint64_t *number);

/* ---- entries ---- */

/* *odd, as above: such an entry is not to be used. The caller frees *entry in any case. */
bool entry_from_bson(const bson_t *document, entry_t *entry, const char **odd, err_t *err);
void entry_to_bson(const entry_t *entry, bson_t *to);

/* Parts of an entry, for statements that change it. */
const char *entry_index_key(size_t at, char text[16]); /* the key of an array's item */
void entry_append_number(bson_t *to, const char *key, uint64_t value);
void entry_append_owner(bson_t *to, const char *key, const load_id_t *owner);
void entry_append_piece(bson_t *to, const char *key, const piece_t *piece, const load_id_t *owner,
                        uint32_t epoch);
void entry_append_extent(bson_t *to, const char *key, const extent_t *extent);
void entry_append_torn(bson_t *to, const char *key, const torn_t *torn);
void entry_append_version(bson_t *to, const char *key, uint32_t number, uint32_t slot,
                          const version_t *version);

void load_id_to_oid(const load_id_t *id, bson_oid_t *oid);
load_id_t load_id_from_oid(const bson_oid_t *oid);

#endif
