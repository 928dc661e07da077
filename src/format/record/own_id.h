/* own_id: the `_id` of a document that the data bring, where it is not the record's place: their own `_id`, or the
 * values of some fields (--id). The fields stay in the document, too. */
#ifndef TIPPLE_FORMAT_RECORD_OWN_ID_H
#define TIPPLE_FORMAT_RECORD_OWN_ID_H

#include "format/record/record.h"

/* From now on the documents of this schema get their `_id` from these fields, which are given by their names or keys:
 * "order_id" or "shop,order"; "_id": documents keep their own; "": the place of the record. Before records_new. False:
 * status 1, and what is wrong. */
bool own_id_set(schema_t *schema, const char *fields, err_t *err);

/* Is a shard key's field decided by the `_id`, so that two documents with one `_id` are always on one shard? False: the
 * sentence. */
bool own_id_decides(const own_id_t *id, const char *path, err_t *err);

/* Puts the `_id` that is made of its fields in the place of the one that the document begins with, which is the record's place,
 * and which `room` is for. An `_id` that is kept stays. False: it is none; the record is a reject that says why. */
bool own_id_put(const own_id_t *id, uint8_t *document, size_t room, record_t *record);

#endif
