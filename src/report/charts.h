/* charts: the pictures of a page, as SVG within it. They are as wide as the screen lets them: what is drawn
 * has places in percent, and text keeps its size. Each has a title and a description; its figures stand in a
 * table beside it. Colours come from the page's style, by class. */
#ifndef TIPPLE_REPORT_CHARTS_H
#define TIPPLE_REPORT_CHARTS_H

#include "report/markup.h"

#include <bson/bson.h>

void charts_lines(markup_t *out, const bson_t *section);
void charts_percentiles(markup_t *out, const bson_t *section);
void charts_heat(markup_t *out, const bson_t *section);
void charts_timeline(markup_t *out, const bson_t *section);

/* One thin column a row, for each column of the section that has bars: where there are too many rows to look
 * at one by one. */
void charts_columns(markup_t *out, const bson_t *section);

/* Below a picture with them: what the colours mean. */
enum { CHARTS_STYLES = 6 }; /* of series; more of them begin again */

#endif
