/* schema_read: what the readers of a format file's parts share. Inside src/format only. Each function returns false
 * with the sentence in reader->err. */
#ifndef TIPPLE_FORMAT_SCHEMA_SCHEMA_READ_H
#define TIPPLE_FORMAT_SCHEMA_SCHEMA_READ_H

#include "base/text.h"
#include "format/schema/schema.h"
#include "format/schema/schema_keys.h"

typedef struct {
    schema_t *schema;
    const yaml_tree_t *tree; /* the file */
    err_t *err;
    err_t mistakes; /* that were told; one a line */
    size_t mistake_count;
    bool broken[SCHEMA_MOST_FIELDS]; /* fields of the schema that have one: of their types nothing is known */
} reader_t;

/* What was just found is a mistake of the file, and is told with the others: more are looked for. False: it is a failure
 * that ends the reading, such as of memory. */
bool schema_go_on(reader_t *reader);

/* Puts all that were told into reader->err. */
void schema_tell_mistakes(reader_t *reader);

#define TRY(part) ((part) || schema_go_on(reader))

#define COMPLAIN(at, ...) yaml_tree_complain(reader->tree, at, reader->err, __VA_ARGS__)

static inline void *schema_keep(reader_t *reader, size_t bytes) {
    return schema_own(reader->schema, bytes, reader->err);
}

/* Tells all keys of a map that this part of a format file does not have. */
bool schema_only_keys(reader_t *reader, const yaml_item_t *map, keys_part_t part);

bool schema_want(reader_t *reader, const yaml_item_t *node, yaml_item_kind_t kind, const char *expected);

/* False, with the sentence: the node's text is a word of this part that format files had once. */
bool schema_not_gone(reader_t *reader, const yaml_item_t *node, gone_part_t part);

/* Reads a scalar or a list of scalars. */
bool schema_texts(reader_t *reader, const yaml_item_t *node, texts_t *texts);
bool schema_name(reader_t *reader, const yaml_item_t *node, const char **name);
bool schema_key(reader_t *reader, const yaml_item_t *node, const char **key);

bool schema_type(reader_t *reader, const yaml_item_t *node, field_t *field);

/* Reads name, key and type; the caller has filled in the defaults. */
bool schema_field_start(reader_t *reader, const yaml_item_t *node, field_t *field);
bool schema_divide(reader_t *reader, const yaml_item_t *node, field_t *field);

/* Reads `decimal` and `thousands` of a record. */
bool schema_record_numerals(reader_t *reader, const yaml_item_t *node);

/* Reads how the values of a field are written: `pattern`, `nulls`, `true` and `false`, and `decimal` and `thousands`, for
 * which the record's are the usual. */
bool schema_values(reader_t *reader, const yaml_item_t *node, field_t *field);

/* Reads a list of fields into the schema, each by `read`. */
typedef bool schema_field_fn(reader_t *reader, const yaml_item_t *node, field_t *field);
bool schema_fields(reader_t *reader, const yaml_item_t *list, schema_field_fn *read);

/* Does the field's name or key conflict with none of those before it? */
bool schema_fits(reader_t *reader, const field_t *fields, size_t count, const field_t *field);

/* The index of the field with the name in a scalar. */
bool schema_named(reader_t *reader, const yaml_item_t *node, int *index);

/* The words for how a key is made, at most SCHEMA_MOST_MADE; words may be NULL. */
size_t schema_made_words(const char *words[]);

/* Reads `make`: keys made from fields, which must be known already. */
bool schema_read_made(reader_t *reader, const yaml_item_t *list);

/* Reads `on_bad_value`, which not every kind of records has. */
bool schema_read_bad_value(reader_t *reader, const yaml_item_t *root);

/* Reads the parts that make documents: of delimited records, of records of fixed width, and of JSON and BSON. */
bool schema_read_columns(reader_t *reader, const yaml_item_t *root);
bool schema_read_fixed(reader_t *reader, const yaml_item_t *root);
bool schema_is_whole(const yaml_item_t *record);
bool schema_read_whole(reader_t *reader, const yaml_item_t *root);

#endif
