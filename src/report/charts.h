/* charts: the pictures of a page, as SVG inside it. They are as wide as the screen allows: positions are in percent,
 * and text keeps its size. Each has a title and a description; its figures are in a table beside it. Colours come from
 * the page's style, by class. */
#ifndef TIPPLE_REPORT_CHARTS_H
#define TIPPLE_REPORT_CHARTS_H

#include "report/markup.h"

#include <bson/bson.h>

void charts_lines(markup_t *out, const bson_t *section);
void charts_percentiles(markup_t *out, const bson_t *section);

void charts_timeline(markup_t *out, const bson_t *section);

/* Draws one thin column for each row, for each column of the section that has bars: for sections with too many rows to
 * read one by one. */
void charts_columns(markup_t *out, const bson_t *section);

/* The legend below a picture: what the colours mean. */
enum { CHARTS_STYLES = 6 }; /* of series; with more series, the styles repeat */

#endif
