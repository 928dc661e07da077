/* documents: copies the documents of a BSON text, block by block: they are checked, and not decoded. Used through `records`. A
 * documents_t belongs to one thread. */
#ifndef TIPPLE_FORMAT_BSON_DOCUMENTS_H
#define TIPPLE_FORMAT_BSON_DOCUMENTS_H

#include "format/record/record.h"

typedef struct documents documents_t;

/* keeps_id: a document keeps an _id of its own, which comes first as a server would put it. NULL: out of memory. */
documents_t *documents_new(bool keeps_id);
void documents_destroy(documents_t *documents);

/* As records_begin. */
void documents_begin(documents_t *documents, const uint8_t *text, uint32_t length, bool with_id,
                     int64_t id_base);

/* As records_next. The line of a record is its number among those of the text, its column the byte in it. */
parsed_t documents_next(documents_t *documents, uint8_t *out, size_t room, record_t *record);

#endif
