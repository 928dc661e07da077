/* value: the YAML of a suite as BSON, and the value of a BSON number. Plain scalars are null, true, false, int32 (int64 if necessary) or double if they
 * look like it; everything else is text. Maps of Extended JSON ({$date: 2014-01-31}, {$oid: ...}, {$numberLong: "7"})
 * become the values that they mean, and {$param: NAME} becomes the parameter's value. Any thread. */
#ifndef TIPPLE_QUERY_SUITE_VALUE_H
#define TIPPLE_QUERY_SUITE_VALUE_H

#include "base/yaml_tree.h"

#include <bson/bson.h>

/* Appends the node's value. params: name to value; NULL: parameters are not looked up, everything else is checked. An
 * error names its line and column. */
bool value_append(bson_t *to, const char *key, const yaml_item_t *node, const yaml_tree_t *tree,
                  const bson_t *params, err_t *err);

/* A map (or a list, as {"0": ...}) as a document of its own; initialised even if it fails. */
bool value_document(bson_t *document, const yaml_item_t *node, const yaml_tree_t *tree, const bson_t *params,
                    err_t *err);

/* Is every parameter that a node uses among these names? And is everything else in it valid? */
bool value_check(const yaml_item_t *node, const yaml_tree_t *tree, const char *const *names, size_t count,
                 err_t *err);

/* As value_document, with null for each parameter; initialised even if it fails. */
bool value_sketch(bson_t *document, const yaml_item_t *node, const yaml_tree_t *tree,
                  const char *const *names, size_t count, err_t *err);

/* A value as typed (--param NAME=VALUE): YAML, so 5, [1, 2] or {$date: 2014-01-31}. */
bool value_parse(bson_t *to, const char *key, const char *text, err_t *err);

/* The value of a number, whatever its type: 1, 1.0 and the decimal 1.00 are equal. */

/* The nearest double. False: it is not a number, or a decimal that is too large or too small for a double. */
bool numeric_double(const bson_iter_t *at, double *number);
/* A whole number, if it is known exactly: doubles are up to 2^53. */
bool numeric_whole(const bson_iter_t *at, int64_t *whole);

/* ---- the shell's spellings ---- */

/* Values as a shell of MongoDB or YAML itself writes them, which here would be texts: ISODate("..."), /^a/i, 2024-05-01. A
 * query with such a text would find something else than what was meant, without a word. */

/* What to write in the place of a plain scalar: "{$date: ...}"; NULL: it is a text, and nothing else. */
const char *shell_syntax(const char *text);

/* The same of a text as typed for a shell, of which only the beginning is known to belong together: /a, b/ is cut in two by
 * YAML. */
const char *shell_syntax_begins(const char *text);

/* A sentence of the text's length, the text, and what to write instead. */
#define SHELL_SYNTAX_WORDS "'%.*s' would be a text here: write %s, or put it in quotes if it is a text"

#endif
