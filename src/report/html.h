/* html: a report's document as one page that needs nothing else: no script, nothing from anywhere. Any
 * document gives a page; of one that is no report, an empty one. Main thread. */
#ifndef TIPPLE_REPORT_HTML_H
#define TIPPLE_REPORT_HTML_H

#include <bson/bson.h>

char *html_print(const bson_t *document, size_t *length); /* free */

#endif
