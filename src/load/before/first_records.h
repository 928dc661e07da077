/* first_records: do the first records of the inputs make documents? With a wrong format a drop would take away what is
 * there, and nothing would come in its place. */
#ifndef TIPPLE_LOAD_BEFORE_FIRST_RECORDS_H
#define TIPPLE_LOAD_BEFORE_FIRST_RECORDS_H

#include "format/schema/schema.h"
#include "input/manifest.h"

/* Looks at the beginnings of some of the inputs; not at streams, which can be read only once. limit: the load takes so many
 * records; UINT64_MAX: all. False: each record is rejected, or by `on_bad_value: stop` the load would end there (status 5); or
 * memory is out. */
bool first_records_try(const schema_t *schema, const manifest_t *manifest, uint64_t max_record,
                       uint64_t limit, err_t *err);

#endif
