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

/* Ignores unknown fields and fields of a wrong type. */
bool entry_from_bson(const bson_t *document, entry_t *entry, err_t *err);
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
