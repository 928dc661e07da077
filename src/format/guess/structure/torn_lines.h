/* torn_lines: finds records of several lines that may be several records. Many exports of tables write quotes as ordinary
 * characters ("Rome, and lines later Brave"). Read with quotes, whole records would vanish in a field, unnoticed. */
#ifndef TIPPLE_FORMAT_GUESS_STRUCTURE_TORN_LINES_H
#define TIPPLE_FORMAT_GUESS_STRUCTURE_TORN_LINES_H

#include "format/cut/split.h"

/* Checks record[0, length), which holds a line end in quotes; its own line end is left out. *torn: if the first and the last line
 * look like records, and nearly all between them, where the field with several lines begins, from 1; else 0. Overwrites split.
 * False: out of memory. */
bool torn_lines(split_t *split, const schema_t *schema, char delimiter, size_t columns, const uint8_t *record,
                size_t length, uint32_t *torn);

#endif
