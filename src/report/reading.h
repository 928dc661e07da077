/* reading: reads a report's document field by field. What is missing or of another type is read as "", NAN, false or an
 * empty list: any document gives a page. Texts belong to the document. */
#ifndef TIPPLE_REPORT_READING_H
#define TIPPLE_REPORT_READING_H

#include <bson/bson.h>

const char *reading_text(const bson_t *document, const char *name);
double reading_number(const bson_t *document, const char *name);
bool reading_has(const bson_t *document, const char *name);

/* A field that is a document or an array; empty if it is neither. *inner borrows. */
void reading_inner(const bson_t *document, const char *name, bson_t *inner);

/* for (reading_begin(&at, list); reading_next(&at, &item);): the documents or arrays in a list. */
void reading_begin(bson_iter_t *at, const bson_t *list);
bool reading_next(bson_iter_t *at, bson_t *item);

double reading_value(const bson_iter_t *at); /* NAN: not a number */
size_t reading_count(const bson_t *list);

#endif
