/* dialect_inner: what the modules of dialect share. */
#ifndef TIPPLE_FORMAT_RECORD_DIALECT_INNER_H
#define TIPPLE_FORMAT_RECORD_DIALECT_INNER_H

#include "format/cut/split.h"
#include "format/record/dialect.h"

/* ---- dialect_columns.c ---- */

/* Of no columns, and with a serial of its own. */
void dialect_start(dialect_t *dialect);
void dialect_clear_columns(dialect_t *dialect);
void dialect_set_column(const schema_t *schema, dialect_t *dialect, size_t column, size_t field);
void dialect_use_layout(const schema_t *schema, dialect_t *dialect, const layout_t *layout);
uint64_t dialect_hash_of(const schema_t *schema, const dialect_t *dialect);

/* ---- dialect_header.c ---- */

typedef struct {
    const uint8_t *text;
    size_t length;   /* without its end */
    uint64_t number; /* of a first line, from 1 */
} dialect_text_t;

/* Finds the header's columns by their names; the dialect's delimiter is known. False: it does not fit the format. */
bool dialect_read_header(const schema_t *schema, split_t *split, const dialect_text_t *line, const char *name,
                         dialect_t *dialect, err_t *err);

/* Is it the format's header_line? The columns are known. False: it is not, with the sentence. */
bool dialect_is_header_line(const schema_t *schema, const dialect_text_t *line, const char *name, err_t *err);

/* Where no file has a header: this first line seems to be one, since none of its values is of its column's type. False:
 * it does, with the sentence; the columns are known. */
bool dialect_is_no_header(const schema_t *schema, split_t *split, const dialect_text_t *line,
                          const char *name, const dialect_t *dialect, err_t *err);

/* Columns that the format does not know are left out, with one line that names them. */
void dialect_warn_unknown(const schema_t *schema, const split_t *split, const dialect_t *dialect,
                          const char *name, uint64_t number);

/* ---- dialect_line.c ---- */

/* Does the line start with one of the header words, bare or in quotes? The byte behind it is its delimiter. */
bool dialect_starts_with_word(const schema_t *schema, const uint8_t *line, size_t length, char *delimiter);

/* Is the text this word, as a file in the format's encoding spells it? any_case: but for capital letters of ASCII. */
bool dialect_is_word(const schema_t *schema, const schema_text_t *word, const uint8_t *text, size_t length,
                     bool any_case);

/* The field of the column of this name; -1: the format does not know it. */
int dialect_field_of_column(const schema_t *schema, const span_t *span);

/* How many columns of the line have a field? */
size_t dialect_columns_known(const schema_t *schema, const split_t *split);

#endif
