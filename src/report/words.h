/* words: what words on a page mean, for somebody who reads one for the first time. */
#ifndef TIPPLE_REPORT_WORDS_H
#define TIPPLE_REPORT_WORDS_H

#include "report/markup.h"

#include <bson/bson.h>

/* Those that are somewhere in the document, as a section; nothing if none is. */
void words_put(markup_t *out, const bson_t *document);

#endif
