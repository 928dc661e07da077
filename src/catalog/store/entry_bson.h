/* entry_bson: an entry as a document of NAME.tipple.files, and back:
 *
 *   {_id: <ordinal>, key, path, follows, kind, registeredBy, removed, heirs, remains, version, outgrown,
 *    names: {<hash of it>: <another path>}, (which new entries do not have)
 *    versions: [{number (only if it is not its slot), size, digest, modified, completed,
 *                torn: {offset, length, hash}}],
 *    extents: [{base, start, length}],
 *    fixes: {<offset>-<hash of the reject>: {hash, confirmed, generation, noted: {<hash>: true}}},
 *    pieces: [{from, owner, epoch, generation, complete, unsafe, done: [[from, to, hash], ...],
 *              read, loaded, already, rejected, filtered, corrected, replaced, kept,
 *              tail: {from, to, hash, read, ...}, rejects: <offset and hash, 8 bytes each, little endian>}]}
 *
 * Hashes and offsets in names have 16 hexadecimal digits. */
#ifndef TIPPLE_CATALOG_STORE_ENTRY_BSON_H
#define TIPPLE_CATALOG_STORE_ENTRY_BSON_H

#include "catalog/store/store.h"

#include <bson/bson.h>

/* Changes the hash of a dialect of a piece with a bad_value of its own, also of one that is not decided: an earlier version of
 * tipple, which would read the records otherwise, takes the input for a changed one then. */
static inline uint64_t entry_dialect_mark(uint32_t bad_value) {
    return bad_value * 0x9E3779B97F4A7C15u;
}

/* Unknown fields and fields of a wrong type are ignored. */
bool entry_from_bson(const bson_t *document, entry_t *entry, err_t *err);
void entry_to_bson(const entry_t *entry, bson_t *to);

/* Parts of an entry, for changes of it. */
const char *entry_index_key(size_t at, char text[16]); /* of a list */
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
