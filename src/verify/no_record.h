/* no_record: is there a record in these inputs at all? An empty file has none, and neither has a file with only a header
 * line. A load of such files sends nothing and leaves no catalog, so verify has nothing to compare. */
#ifndef TIPPLE_VERIFY_NO_RECORD_H
#define TIPPLE_VERIFY_NO_RECORD_H

#include "format/schema/schema.h"
#include "input/manifest.h"

/* Reads no further than the first record. An input that cannot be read, or does not fit, counts as one that has some. */
bool inputs_hold_no_record(const schema_t *schema, const manifest_t *manifest, uint64_t max_record);

#endif
