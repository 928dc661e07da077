/* typed_query: a query as it was typed, a pipeline in [...] or a filter in {...}, made into a suite of this one query. It may be
 * compact, as a shell takes it: {balance:{$gt:9000}}. Places in messages are those of what was typed. Any thread. */
#ifndef TIPPLE_QUERY_SUITE_TYPED_QUERY_H
#define TIPPLE_QUERY_SUITE_TYPED_QUERY_H

#include "base/text.h"
#include "base/yaml_tree.h"

#include <stdbool.h>

#define TYPED_QUERY_BLANKS " \t\r\n"

/* Is it no name of a suite, but a query itself: '[PIPELINE]', '{FILTER}'? */
static inline bool typed_query_is(const char *text) {
    text += strspn(text, TYPED_QUERY_BLANKS);
    return *text == '[' || *text == '{';
}

/* The text of a suite, and where each of its characters was typed. */
typedef struct {
    text_t text;
    yaml_place_t *places;
    size_t count, room;
} typed_query_t;

/* False: status 1 with the place of a bracket or quote that has no other, of what stands behind the query, or of what only
 * a shell reads. Call typed_query_free in any case. */
bool typed_query_read(typed_query_t *typed, const char *query, const char *name, err_t *err);
void typed_query_free(typed_query_t *typed);

#endif
