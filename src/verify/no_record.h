/* no_record: is there a record in these inputs at all? Of empty files, and of those that have only a header line, no load
 * ever sends anything, so nobody can ask what it has sent. */
#ifndef TIPPLE_VERIFY_NO_RECORD_H
#define TIPPLE_VERIFY_NO_RECORD_H

#include "format/schema/schema.h"
#include "input/manifest.h"

/* Reads no further than the first record. An input that cannot be read, or does not fit, counts as one that has some. */
bool inputs_hold_no_record(const schema_t *schema, const manifest_t *manifest, uint64_t max_record);

#endif
