/* entry_bson: an entry as a document of NAME.tipple.files, and back:
 *
 *   {_id: <ordinal>, key, path, follows, kind, registeredBy, removed, remains, version, outgrown,
 *    versions: [{size, digest, modified, completed, torn: {offset, length, hash}}],
 *    extents: [{base, start, length}],
 *    fixes: {<offset>-<hash of the reject>: {hash, confirmed, generation, noted: {<hash>: true}}}, # 16 hexadecimal digits
 *    pieces: [{from, owner, epoch, generation, complete, unsafe, done: [[from, to, hash], ...],
 *              read, loaded, already, rejected, filtered, corrected,
 *              tail: {from, to, hash, read, ...}, rejects: <offset and hash, 8 bytes each, little endian>}]}
 */
#ifndef TIPPLE_CATALOG_ENTRY_BSON_H
#define TIPPLE_CATALOG_ENTRY_BSON_H

#include "catalog/store.h"

#include <bson/bson.h>

/* Unknown fields and wrong types are passed over. */
bool entry_from_bson(const bson_t *document, entry_t *entry, err_t *err);
void entry_to_bson(const entry_t *entry, bson_t *to);

/* The statement {q, u, multi} of an update command. `among`: the same change for several entries. */
void entry_change_to_bson(const entry_change_t *change, const uint32_t *among, size_t among_count,
                          bson_t *to);

void load_id_to_oid(const load_id_t *id, bson_oid_t *oid);
load_id_t load_id_from_oid(const bson_oid_t *oid);

#endif
