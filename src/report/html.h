/* html: a report's document as one page that needs no other file: no script, and nothing from the network. Any document
 * gives a page; one that is not a report gives an empty page. Main thread. */
#ifndef TIPPLE_REPORT_HTML_H
#define TIPPLE_REPORT_HTML_H

#include <bson/bson.h>

char *html_print(const bson_t *document, size_t *length); /* the caller frees it */

#endif
