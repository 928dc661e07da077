/* reading: a report's document, field by field, by whoever prints it. What is missing or of another type is
 * "", NAN, false or an empty list: a page is made of any document. Texts are the document's own. */
#ifndef TIPPLE_REPORT_READING_H
#define TIPPLE_REPORT_READING_H

#include <bson/bson.h>

const char *reading_text(const bson_t *document, const char *name);
double reading_number(const bson_t *document, const char *name);
bool reading_flag(const bson_t *document, const char *name);
bool reading_has(const bson_t *document, const char *name);

/* A field that is a document or an array; an empty one where it is neither. *inner borrows. */
void reading_inner(const bson_t *document, const char *name, bson_t *inner);

/* for (reading_begin(&at, list); reading_next(&at, &item);): the documents or arrays in a list. */
void reading_begin(bson_iter_t *at, const bson_t *list);
bool reading_next(bson_iter_t *at, bson_t *item);

double reading_value(const bson_iter_t *at); /* NAN */
size_t reading_count(const bson_t *list);

#endif
